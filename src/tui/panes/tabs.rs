//! The row of tabs on terminals that show one pane at a time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::tui::context::{Pane, PaneContext};
use crate::tui::panes::{graph, trace};
use crate::tui::theme::Role;
use crate::tui::ui_state::Focus;
use crate::tui::widgets::{Line, piece};

/// The row of tabs.
pub(crate) struct TabRow;

impl Pane for TabRow {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let open = cx.state.requests.open.len();
        let tabs = [
            (Focus::Graph, "graph".to_owned(), Role::Text),
            (Focus::Trace, format!("trace {}", cx.trace.total), Role::Text),
            (
                Focus::Approval,
                format!("approval {open}"),
                if open > 0 { Role::Asks } else { Role::Text },
            ),
        ];
        let dim = cx.style(Role::Dim);
        let facts = match cx.ui.focus {
            Focus::Trace => trace::summary(cx),
            Focus::Graph | Focus::Running => graph::summary(cx),
            Focus::Approval => String::new(),
        };
        let mut line = Line::new(buf, area);
        line.right(&[piece(facts, dim), piece(" ", dim)]).skip(1);
        for (focus, name, role) in tabs {
            let style = cx.style(role);
            if cx.ui.focus == focus || focus == Focus::Graph && cx.ui.focus == Focus::Running {
                line.put(&format!("[{name}]"), style.add_modifier(Modifier::REVERSED));
            } else {
                line.put(&name, style);
            }
            line.skip(2);
        }
    }
}
