//! The row of tabs on terminals that show one pane at a time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::pane_context::{Pane, PaneContext};
use crate::panes::plan::PlanView;
use crate::panes::{graph, plan, trace};
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, styled_piece};

/// The row of tabs.
pub(crate) struct TabRow;

/// What a tab leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TabTarget {
    /// The plan, looked at this way.
    View(PlanView),
    Pane(PaneFocus),
}

impl TabRow {
    /// The tab whose name covers a column.
    pub(crate) fn tab_at(
        column: u16,
        view: PlanView,
        trace: usize,
        open: usize,
        past: bool,
    ) -> Option<TabTarget> {
        let mut from = 1;
        for (target, name) in tab_names(view, trace, open, past) {
            // Brackets and the gap after a name belong to it, so that a click need not be exact.
            let to = from + name.len() as u16 + 2;
            if (from..to).contains(&column) {
                return Some(target);
            }
            from = to;
        }
        None
    }
}

/// The tabs from left to right. In the past a card has one only while there is one, and the files have theirs.
fn tab_names(view: PlanView, trace: usize, open: usize, past: bool) -> Vec<(TabTarget, String)> {
    let drawn = if view == PlanView::Outline { PlanView::Graph } else { view };
    let tab = |view: PlanView| (TabTarget::View(view), view.name().to_owned());
    let pane = |focus, name: String| (TabTarget::Pane(focus), name);
    let mut names = vec![
        tab(drawn),
        tab(PlanView::Outline),
        pane(PaneFocus::Trace, format!("activity {trace}")),
        pane(PaneFocus::Output, "output".to_owned()),
    ];
    if past {
        names.push(pane(PaneFocus::Files, "files".to_owned()));
    }
    if open > 0 {
        names.push(pane(PaneFocus::Approval, format!("needs you {open}")));
    }
    names
}

/// Whether the pane behind a tab has the focus. The plan keeps its tab while what stands below it has it.
fn is_open_tab(target: TabTarget, cx: &PaneContext<'_>) -> bool {
    let on_plan = matches!(cx.ui.focus, PaneFocus::Graph | PaneFocus::Running | PaneFocus::Scrub);
    match target {
        TabTarget::View(view) => on_plan && view == cx.ui.view.kind,
        TabTarget::Pane(focus) => cx.ui.focus == focus,
    }
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
            PaneFocus::Graph | PaneFocus::Running | PaneFocus::Scrub => {
                let summary = Some(plan::plan_summary(cx)).filter(|text| !text.is_empty());
                summary.or_else(|| graph::expected_end(cx)).unwrap_or_default()
            }
            PaneFocus::Approval | PaneFocus::Output => String::new(),
        };
        let mut line = ScreenLine::new(buf, area);
        line.skip(1);
        for (target, name) in tab_names(cx.ui.view.kind, cx.trace.total, open, cx.mode.is_past()) {
            let asks = target == TabTarget::Pane(PaneFocus::Approval) && open > 0;
            let style = cx.style(if asks { ThemeRole::Asks } else { ThemeRole::Text });
            if is_open_tab(target, cx) {
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
