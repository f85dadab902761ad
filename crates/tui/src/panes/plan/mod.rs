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
pub(crate) use rows::Rows;
pub(crate) use table::Column;
pub(crate) use window::{moved, row_at};

use super::graph::{self, GraphPane};
use crate::areas::SizeClass;
use crate::context::{Pane, PaneContext};
use crate::glyphs::task_glyph;
use crate::theme::Role;
use crate::ui_state::Focus;
use crate::widgets::{Line, piece, rule};
use planwright_state::{SessionState, TaskStatus};

/// A way to look at the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum View {
    #[default]
    Graph,
    Outline,
    Gantt,
    Table,
}

impl View {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Outline => "outline",
            Self::Gantt => "Gantt",
            Self::Table => "table",
        }
    }

    /// Rows above the list: labels of columns or of time.
    pub(crate) fn heading(self) -> u16 {
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
        if cx.ui.view.kind == View::Graph || cx.plan.rows.all.is_empty() {
            return GraphPane.render(area, buf, cx);
        }
        draw_rule(area, buf, cx);
        let body = graph::body(area, cx.class);
        match cx.ui.view.kind {
            View::Graph => {}
            View::Outline => outline::draw(body, buf, cx),
            View::Gantt => gantt::draw(body, buf, cx),
            View::Table => table::draw(body, buf, cx),
        }
        graph::draw_selection(area, buf, cx);
    }
}

fn draw_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if cx.class == SizeClass::Small {
        return;
    }
    let (kind, style) = cx.rule(Focus::Graph);
    if cx.class.has_tabs() {
        return rule(buf, area, kind, style, &[], &[]);
    }
    let name = format!("{} · {}", cx.ui.view.kind.word(), summary(cx));
    rule(buf, area, kind, style, &[piece(name, style)], &[piece(facts(cx), style)]);
}

/// How the view looks at the plan, as the rule and the tab row say it.
pub(crate) fn summary(cx: &PaneContext<'_>) -> String {
    let how = match cx.ui.view.kind {
        View::Graph => return graph::summary(cx),
        View::Outline => {
            let folded = cx.ui.view.folded.len();
            if folded == 0 { "all open".to_owned() } else { format!("{folded} folded") }
        }
        View::Gantt => gantt::summary(cx),
        View::Table => format!("by {}", cx.ui.view.sort.word()),
    };
    let past = if cx.mode.is_past() { " · as it was" } else { "" };
    format!("{how}{past}")
}

fn facts(cx: &PaneContext<'_>) -> String {
    match cx.ui.view.kind {
        View::Gantt => gantt::facts(cx),
        _ => graph::facts(cx),
    }
}

/// What stands for a row, and its role.
pub(super) fn row_glyph(row: usize, rows: &Rows, state: &SessionState) -> (char, Role) {
    if let Some(task) = rows.all[row].task.filter(|task| *task < state.tasks.len()) {
        return task_glyph(state, task);
    }
    match rows.status(row, &state.tasks) {
        TaskStatus::Pending | TaskStatus::Skipped(_) => ('·', Role::Waiting),
        TaskStatus::Running => ('►', Role::Running),
        TaskStatus::Yours => ('@', Role::Yours),
        TaskStatus::Done => ('✓', Role::Done),
        TaskStatus::Failed => ('✗', Role::Failed),
    }
}

/// Writes the marks of a node: `*` for one that the next wish is about, `#` for one that stays as it is.
pub(super) fn put_marks(line: &mut Line<'_>, id: &planwright_model::TaskId, cx: &PaneContext<'_>) {
    if cx.ui.marks.contains(id) {
        line.put("*", cx.theme.bold(Role::Focus));
    } else if cx.state.planning.locked.contains(id) {
        line.put("#", cx.style(Role::Warn));
    } else {
        line.skip(1);
    }
}

/// Fills the cells of a selected row.
pub(super) fn highlight(row: usize, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let id = &cx.plan.rows.all[row].id;
    if cx.ui.graph.selected.as_ref() == Some(id) {
        buf.set_style(area, cx.style(Role::Selection));
    }
}

/// Says how many rows are out of sight, at the right end of the last row.
pub(super) fn more(body: Rect, shown: usize, total: usize, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if shown >= total || body.height == 0 {
        return;
    }
    let last = Rect { y: body.bottom() - 1, height: 1, ..body };
    let text = format!(" {shown} of {total} ");
    Line::new(buf, last).right(&[piece(text, cx.style(Role::Dim))]);
}
