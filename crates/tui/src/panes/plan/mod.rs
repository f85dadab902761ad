//! The plan in four views of the same data: graph, outline tree, Gantt chart, table. One selection, one set of marks.
//!
//! Rows, times and orders are worked out once for each revision and kept beside the screen; a frame costs what is on it.

mod cache;
pub(crate) mod gantt;
pub(crate) mod outline;
mod outline_columns;
mod outline_lines;
mod outline_when;
mod rows;
mod table;
mod task_pane;
mod times;
mod window;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(crate) use cache::{ComparedDraft, PlanCache};
pub(crate) use outline_columns::OutlineColumns;
pub(crate) use outline_lines::{EditorPlace, OutlineLine, RowDetailKind, RowDetailLevel};
pub(crate) use rows::PlanTreeRows;
pub(crate) use table::TableColumn;
pub(crate) use task_pane::SelectedTaskPane;
pub(crate) use window::{offset_selection, row_id_at};

use super::approval::planning_wait;
use super::graph::{self, GraphPane};
use super::timeline;
use crate::glyphs::task_glyph;
use crate::keymap::KeyAction;
use crate::pane_context::{Pane, PaneContext};
use crate::plan_text::{PlanRowKind, is_group_row};
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{RuleKind, ScreenLine, draw_pane_rule, styled_piece};
use planwright_state::{SessionState, TaskStatus};

/// A way to look at the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum PlanView {
    #[default]
    Graph,
    Outline,
    Gantt,
    /// What really ran when.
    Timeline,
    Table,
}

impl PlanView {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Outline => "plan",
            Self::Gantt => "calendar",
            Self::Timeline => "timeline",
            Self::Table => "table",
        }
    }

    /// Rows above the list: labels of columns or of time.
    pub(crate) fn heading_rows(self) -> u16 {
        match self {
            Self::Graph | Self::Outline => 0,
            Self::Gantt => 2,
            Self::Timeline | Self::Table => 1,
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
        if cx.ui.view.kind == PlanView::Outline {
            return outline::draw_outline(area, buf, cx);
        }
        let body = graph::graph_body(area, &cx.areas);
        match cx.ui.view.kind {
            PlanView::Graph | PlanView::Outline => {}
            PlanView::Gantt => gantt::draw_gantt(body, buf, cx),
            PlanView::Timeline => timeline::draw_timeline(body, buf, cx),
            PlanView::Table => table::draw_table(body, buf, cx),
        }
        // While a plan is made, what its signs mean says more than the links of a row.
        if cx.ui.view.kind == PlanView::Gantt && cx.planning && !gantt::has_room_below(body, cx) {
            let last = Rect { y: body.bottom(), height: area.bottom() - body.bottom(), ..area };
            return gantt::draw_legend(last, buf, cx);
        }
        graph::draw_selection(area, buf, cx);
    }
}

fn draw_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule_style(PaneFocus::Graph);
    if cx.ui.view.kind == PlanView::Outline {
        let name = styled_piece(outline_name(cx), style);
        let facts = styled_piece(outline_facts(area, cx), style);
        return draw_pane_rule(buf, area, kind, style, &[name], &[facts]);
    }
    // The tab says what the rule would.
    if !cx.areas.tabs.is_empty() {
        return;
    }
    let name = match plan_summary(cx) {
        how if how.is_empty() => cx.ui.view.kind.name().to_owned(),
        how => format!("{} · {how}", cx.ui.view.kind.name()),
    };
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(name, style)],
        &[styled_piece(plan_facts(area, cx), style)],
    );
}

/// `plan`, and which draft against which while they are compared.
fn outline_name(cx: &PaneContext<'_>) -> String {
    if let Some(editor) = &cx.ui.row_editor {
        return crate::row_editor::editor_title(editor).to_owned();
    }
    let past = if cx.mode.is_past() { " · as it was" } else { "" };
    if is_sketch(cx.state) {
        return format!("plan · a sketch, with what is assumed{past}");
    }
    let (draft, before) = draft_numbers(cx.state);
    match &cx.plan.changes {
        Some(_) if cx.plan.shows_lever() => "plan · with the dates of the row below".to_owned(),
        Some(_) if before > 0 && before < draft => {
            format!("plan · draft {draft} against draft {before}{past}")
        }
        Some(_) if draft > 0 => format!("plan · draft {draft}, changed by you{past}"),
        Some(_) => format!("plan · against the draft before{past}"),
        None => format!("plan{past}"),
    }
}

/// Whether only a sketch of the plan is there: the rows that it would have without an answer to what is asked.
pub(crate) fn is_sketch(state: &SessionState) -> bool {
    state.planning.outline.is_none() && state.planning.sketch.is_some()
}

/// The numbers of the draft and of the one it is compared with; 0 where there is none.
pub(crate) fn draft_numbers(state: &SessionState) -> (u32, u32) {
    let draft = state.draft_number().max(1);
    if state.planning.begun {
        return (draft, state.planning.compared.as_ref().map_or(0, |before| before.number));
    }
    (draft, draft - 1)
}

/// How many tasks there are, which rows of them are on the screen, and how to look at them otherwise.
fn outline_facts(area: Rect, cx: &PaneContext<'_>) -> String {
    if cx.ui.row_editor.is_some() {
        return format!("draft {}, unsaved", draft_numbers(cx.state).0);
    }
    let body = outline::outline_body(area);
    let room = usize::from(body.height - outline::heading_rows(body));
    let (first, last, all) = cx.plan.rows_on_screen(room);
    let rows = (last < all || first > 1).then(|| format!("rows {first} – {last} of {all}"));
    let wide = area.width >= 100;
    if let Some(changes) = &cx.plan.changes {
        let order = outline_lines::change_order(&cx.plan.text, changes);
        let selected = cx.ui.graph.selected.as_ref();
        let at = order.iter().position(|id| Some(id) == selected);
        let change = match at {
            Some(at) => format!("change {} of {}", at + 1, order.len()),
            None => changes.total_text(),
        };
        let hide =
            if cx.ui.view.hides_unchanged { "= shows all rows" } else { "= hides unchanged rows" };
        let more = rows.or_else(|| wide.then(|| hide.to_owned()));
        return [Some(change), more].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    }
    let is = |kind| cx.plan.text.iter().filter(|row| row.kind == kind).count();
    let tasks = planwright_text::units::format_counted(is(PlanRowKind::Task), "task");
    let mut phases = cx
        .plan
        .text
        .iter()
        .filter(|row| row.kind == PlanRowKind::Phase && row.depth == 0)
        .peekable();
    let of_file = phases.peek().is_some_and(|row| is_group_row(&row.id));
    let word = if of_file { "group" } else { "phase" };
    let phases = Some(phases.count()).filter(|count| *count > 0 && wide);
    let phases = phases.map(|count| planwright_text::units::format_counted(count, word));
    let counts: Vec<String> = [Some(tasks), phases].into_iter().flatten().collect();
    let key = |action| cx.keymap.key_hint(action);
    let has_views = wide && cx.areas.side_graph.is_empty() && !is_sketch(cx.state);
    let views = has_views.then(|| {
        format!("{} graph  {} calendar", key(KeyAction::ViewGraph), key(KeyAction::ViewGantt))
    });
    let parts = [Some(counts.join(", ")), rows.or(views)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// How the view looks at the plan, as the rule and the tab row say it.
pub(crate) fn plan_summary(cx: &PaneContext<'_>) -> String {
    let how = match cx.ui.view.kind {
        PlanView::Graph => return graph::graph_summary(cx),
        PlanView::Outline => {
            let folded = cx.ui.view.folded.len();
            if folded == 0 { String::new() } else { format!("{folded} folded") }
        }
        PlanView::Gantt => gantt::gantt_summary(cx),
        PlanView::Timeline => String::new(),
        PlanView::Table => format!("by {}", cx.ui.view.sort.heading()),
    };
    match (how.is_empty(), cx.mode.is_past()) {
        (true, true) => "as it was".to_owned(),
        (false, true) => format!("{how} · as it was"),
        (_, false) => how,
    }
}

fn plan_facts(area: Rect, cx: &PaneContext<'_>) -> String {
    match cx.ui.view.kind {
        PlanView::Gantt => gantt::gantt_facts(area, cx),
        PlanView::Timeline => timeline::timeline_facts(&cx.plan.bars),
        _ => graph::graph_facts(cx),
    }
}

/// The activity while a plan is decided on: one rule that says what was done and how long it took.
pub(crate) fn draw_activity_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let style = cx.style(ThemeRole::Rule);
    let kind = RuleKind { focus: false, past: cx.mode.is_past() };
    let planning = &cx.state.planning;
    let end = if planning.is_working() { planning.last_visible } else { planning.drafted_at };
    let time = match (planning.segment_began, end) {
        (Some(from), Some(to)) if from <= to => {
            let took = crate::clock::duration_between(from, to);
            format!(" in {}", planwright_text::units::format_elapsed(took))
        }
        _ => String::new(),
    };
    let done = match planning.is_working() {
        _ if !planning.begun => "checked",
        _ if is_sketch(cx.state) => "read and sketched",
        true => "drafting",
        false => "drafted and checked",
    };
    let steps = planwright_text::units::format_counted(cx.trace.total, "step");
    // While a model is waited for, that is what happens.
    let name = match planning_wait(cx) {
        Some(wait) => format!("activity · {}", wait.describe(cx.now)),
        None => format!("activity · {done}{time}, {steps}"),
    };
    let opens = format!("{} opens", cx.keymap.key_hint(KeyAction::FocusNext));
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(name, style)],
        &[styled_piece(opens, style)],
    );
}

/// What stands for a row, and its role.
pub(crate) fn row_glyph(
    row: usize,
    rows: &PlanTreeRows,
    state: &SessionState,
) -> (char, ThemeRole) {
    // A point that is not reached yet has its own shape.
    if rows.all[row].milestone
        && !rows.is_group(row)
        && rows.row_status(row, &state.tasks) == TaskStatus::Pending
    {
        return ('◊', ThemeRole::Text);
    }
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
pub(crate) fn highlight_selected(row: usize, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
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
