//! The row of tabs on terminals that show one pane at a time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::pane_context::{Pane, PaneContext};
use crate::panes::plan::PlanView;
use crate::panes::{plan, trace};
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, styled_piece};

/// The row of tabs.
pub(crate) struct TabRow;

impl TabRow {
    /// The tab whose name covers a column.
    pub(crate) fn tab_at(
        column: u16,
        view: PlanView,
        trace: usize,
        open: usize,
        past: bool,
    ) -> Option<PaneFocus> {
        let mut from = 1;
        for (focus, name) in tab_names(view, trace, open, past) {
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

/// The tabs from left to right. In the past a card has one only while there is one, and the files have theirs.
fn tab_names(view: PlanView, trace: usize, open: usize, past: bool) -> Vec<(PaneFocus, String)> {
    let mut names = vec![
        (PaneFocus::Graph, view.name().to_owned()),
        (PaneFocus::Trace, format!("activity {trace}")),
        (PaneFocus::Output, "output".to_owned()),
    ];
    if past {
        names.push((PaneFocus::Files, "files".to_owned()));
    }
    if open > 0 {
        names.push((PaneFocus::Approval, format!("needs you {open}")));
    }
    names
}

impl Pane for TabRow {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let open = cx.needs.items.len();
        let dim = cx.style(ThemeRole::Dim);
        let facts = match cx.ui.focus {
            // The header of the past has no room for how far the run was.
            PaneFocus::Files => progress_text(cx),
            PaneFocus::Trace => trace::trace_summary(cx),
            PaneFocus::Graph | PaneFocus::Running | PaneFocus::Scrub => plan::plan_summary(cx),
            PaneFocus::Approval | PaneFocus::Output => String::new(),
        };
        let mut line = ScreenLine::new(buf, area);
        line.skip(1);
        for (focus, name) in tab_names(cx.ui.view.kind, cx.trace.total, open, cx.mode.is_past()) {
            let asks = focus == PaneFocus::Approval && open > 0;
            let style = cx.style(if asks { ThemeRole::Asks } else { ThemeRole::Text });
            if cx.ui.focus == focus
                || focus == PaneFocus::Graph
                    && matches!(cx.ui.focus, PaneFocus::Running | PaneFocus::Scrub)
            {
                line.put(&format!("[{name}]"), style.add_modifier(Modifier::REVERSED));
            } else {
                line.put(&name, style);
            }
            line.skip(2);
        }
        // Tabs are never cut; what does not fit beside them is left out.
        line.put_right(&[styled_piece(facts, dim), styled_piece(" ", dim)]);
    }
}

/// How far the run was at the moment that is shown, and what it had cost.
fn progress_text(cx: &PaneContext<'_>) -> String {
    let counts = cx.state.tasks.work_counts();
    let cost = cx.state.totals.cost;
    let cost = if cost.0 > 0 { format!("   {cost}") } else { String::new() };
    format!("{}/{} done{cost}", counts.done, counts.total())
}
