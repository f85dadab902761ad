//! The row of tabs on terminals that show one pane at a time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::context::{Pane, PaneContext};
use crate::panes::plan::View;
use crate::panes::{approval, plan, trace};
use crate::theme::Role;
use crate::ui_state::Focus;
use crate::widgets::{Line, piece};

/// The row of tabs.
pub(crate) struct TabRow;

impl TabRow {
    /// The tab whose name covers a column.
    pub(crate) fn at(column: u16, view: View, trace: usize, open: usize) -> Option<Focus> {
        let mut from = 1;
        for (focus, name) in names(view, trace, open) {
            // Brackets and the gap after a name belong to it, so that a click need not be exact.
            let to = from + name.len() as u16 + 2;
            if (from..to).contains(&column) {
                return Some(focus);
            }
            from = to;
        }
        None
    }
}

fn names(view: View, trace: usize, open: usize) -> [(Focus, String); 3] {
    [
        (Focus::Graph, view.word().to_owned()),
        (Focus::Trace, format!("trace {trace}")),
        (Focus::Approval, format!("approval {open}")),
    ]
}

impl Pane for TabRow {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let open = approval::cards(cx.state);
        let dim = cx.style(Role::Dim);
        let facts = match cx.ui.focus {
            Focus::Trace => trace::summary(cx),
            Focus::Graph | Focus::Running => plan::summary(cx),
            Focus::Approval => String::new(),
        };
        let mut line = Line::new(buf, area);
        line.skip(1);
        for (focus, name) in names(cx.ui.view.kind, cx.trace.total, open) {
            let asks = focus == Focus::Approval && open > 0;
            let style = cx.style(if asks { Role::Asks } else { Role::Text });
            if cx.ui.focus == focus || focus == Focus::Graph && cx.ui.focus == Focus::Running {
                line.put(&format!("[{name}]"), style.add_modifier(Modifier::REVERSED));
            } else {
                line.put(&name, style);
            }
            line.skip(2);
        }
        // Tabs are never cut; what does not fit beside them is left out.
        line.right(&[piece(facts, dim), piece(" ", dim)]);
    }
}
