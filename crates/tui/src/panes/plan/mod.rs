//! The plan in four views of the same data: graph, outline tree, Gantt chart, table. One selection, one set of marks.
//!
//! Rows, times and orders are worked out once for each revision and kept beside the screen; a frame costs what is on it.

mod cache;
pub(crate) mod gantt;
mod outline;
mod rows;
mod table;
mod times;
mod window;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(crate) use cache::PlanCache;
pub(crate) use rows::PlanTreeRows;
pub(crate) use table::TableColumn;
pub(crate) use window::{offset_selection, row_id_at};

use super::graph::{self, GraphPane};
use crate::glyphs::task_glyph;
use crate::pane_context::{Pane, PaneContext};
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, draw_pane_rule, styled_piece};
use planwright_state::{SessionState, TaskStatus};

/// A way to look at the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum PlanView {
    #[default]
    Graph,
    Outline,
    Gantt,
    Table,
}

impl PlanView {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Outline => "outline",
            Self::Gantt => "Gantt",
            Self::Table => "table",
        }
    }

    /// Rows above the list: labels of columns or of time.
    pub(crate) fn heading_rows(self) -> u16 {
        match self {
            Self::Graph | Self::Outline => 0,
            Self::Gantt => 2,
            Self::Table => 1,
        }
    }
}

/// The pane that shows the plan, whichever view is on.
pub(crate) struct PlanPane;

impl Pane for PlanPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        if cx.ui.view.kind == PlanView::Graph || cx.plan.rows.all.is_empty() {
            return GraphPane.render(area, buf, cx);
        }
        draw_rule(area, buf, cx);
        let body = graph::graph_body(area, cx.class);
        match cx.ui.view.kind {
            PlanView::Graph => {}
            PlanView::Outline => outline::draw_outline(body, buf, cx),
            PlanView::Gantt => gantt::draw_gantt(body, buf, cx),
            PlanView::Table => table::draw_table(body, buf, cx),
        }
        graph::draw_selection(area, buf, cx);
    }
}

fn draw_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if cx.class == SizeClass::Small {
        return;
    }
    let (kind, style) = cx.rule_style(PaneFocus::Graph);
    if cx.class.has_tabs() {
        return draw_pane_rule(buf, area, kind, style, &[], &[]);
    }
    let name = format!("{} · {}", cx.ui.view.kind.name(), plan_summary(cx));
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(name, style)],
        &[styled_piece(plan_facts(cx), style)],
    );
}

/// How the view looks at the plan, as the rule and the tab row say it.
pub(crate) fn plan_summary(cx: &PaneContext<'_>) -> String {
    let how = match cx.ui.view.kind {
        PlanView::Graph => return graph::graph_summary(cx),
        PlanView::Outline => {
            let folded = cx.ui.view.folded.len();
            if folded == 0 { "all open".to_owned() } else { format!("{folded} folded") }
        }
        PlanView::Gantt => gantt::gantt_summary(cx),
        PlanView::Table => format!("by {}", cx.ui.view.sort.heading()),
    };
    let past = if cx.mode.is_past() { " · as it was" } else { "" };
    format!("{how}{past}")
}

fn plan_facts(cx: &PaneContext<'_>) -> String {
    match cx.ui.view.kind {
        PlanView::Gantt => gantt::gantt_facts(cx),
        _ => graph::graph_facts(cx),
    }
}

/// What stands for a row, and its role.
pub(super) fn row_glyph(
    row: usize,
    rows: &PlanTreeRows,
    state: &SessionState,
) -> (char, ThemeRole) {
    if let Some(task) = rows.all[row].task.filter(|task| *task < state.tasks.len()) {
        return task_glyph(state, task);
    }
    match rows.row_status(row, &state.tasks) {
        TaskStatus::Pending | TaskStatus::Skipped(_) => ('·', ThemeRole::Waiting),
        TaskStatus::Running => ('►', ThemeRole::Running),
        TaskStatus::Yours => ('@', ThemeRole::Yours),
        TaskStatus::Done => ('✓', ThemeRole::Done),
        TaskStatus::Failed => ('✗', ThemeRole::Failed),
    }
}

/// Writes the marks of a node: `*` for one that the next request is about, `#` for one that stays as it is.
pub(super) fn put_marks(
    line: &mut ScreenLine<'_>,
    id: &planwright_model::TaskId,
    cx: &PaneContext<'_>,
) {
    if cx.ui.marks.contains(id) {
        line.put("*", cx.theme.bold_style(ThemeRole::Focus));
    } else if cx.state.planning.locked.contains(id) {
        line.put("#", cx.style(ThemeRole::Warn));
    } else {
        line.skip(1);
    }
}

/// Fills the cells of a selected row.
pub(super) fn highlight_selected(row: usize, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let id = &cx.plan.rows.all[row].id;
    if cx.ui.graph.selected.as_ref() == Some(id) {
        buf.set_style(area, cx.style(ThemeRole::Selection));
    }
}

/// Says how many rows are out of sight, at the right end of the last row.
pub(super) fn draw_row_count(
    body: Rect,
    shown: usize,
    total: usize,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    if shown >= total || body.height == 0 {
        return;
    }
    let last = Rect { y: body.bottom() - 1, height: 1, ..body };
    let text = format!(" {shown} of {total} ");
    ScreenLine::new(buf, last).put_right(&[styled_piece(text, cx.style(ThemeRole::Dim))]);
}
