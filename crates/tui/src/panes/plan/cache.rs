//! Rows, times and orders of the plan, kept beside the screen.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::gantt::{GanttAxis, GanttScale};
use super::outline_columns::OutlineColumns;
use super::outline_lines::{
    EditorPlace, OutlineLine, OutlineSource, RowDetailKind, RowDetailLevel, changed_rows,
    command_beside, detail_texts, outline_lines,
};
use super::rows::PlanTreeRows;
use super::times::{BarMeasure, ChartOffsets, PlannedRow, PlannedSpan, dated_rows, scheduled_rows};
use super::{PlanView, table, window};
use crate::panes::graph::TaskGroups;
use crate::panes::timeline::{RunBars, ran_order};
use crate::plan_text::{
    DaySpan, DraftComparison, PlanRowChange, PlanRowKind, PlanTextRow, compare_rows, file_deadline,
    file_task_times, plan_rows,
};
use crate::ui_state::ViewUi;
use planwright_model::event::PlanSketch;
use planwright_model::{
    Digest, LeverChange, PlanCalendar, PlanOutline, Roadmap, Schedule, ScheduleRelaxation, Seq,
    TaskId,
};
use planwright_state::SessionState;

/// What everything was worked out from. Drafts are shared, so that the same draft is the same place in memory.
#[derive(Clone, Debug, Default)]
struct PlanCacheKey {
    hash: Option<Digest>,
    sketch: Option<Arc<PlanSketch>>,
    outline: Option<Arc<PlanOutline>>,
    roadmap: Option<Arc<Roadmap>>,
    schedule: Option<Arc<Schedule>>,
    /// Changes with remarks and locks.
    visible: Option<Timestamp>,
    /// Remarks on lines of a submitted plan, and how many of them are settled.
    line_comments: (usize, usize),
}

fn count_line_comments(state: &SessionState) -> (usize, usize) {
    let comments = &state.desk.line_comments;
    (comments.len(), comments.iter().filter(|comment| comment.outcome.is_some()).count())
}

impl PlanCacheKey {
    fn from_state(state: &SessionState) -> Self {
        Self {
            hash: state.plan.current.as_ref().map(|revision| revision.hash.clone()),
            sketch: state.planning.sketch.clone(),
            outline: state.planning.outline.clone(),
            roadmap: state.planning.roadmap.clone(),
            schedule: state.planning.schedule.clone(),
            visible: state.planning.last_visible,
            line_comments: count_line_comments(state),
        }
    }

    fn matches_state(&self, state: &SessionState) -> bool {
        fn is_same_draft<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
            match (one, other) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                (None, None) => true,
                _ => false,
            }
        }
        let planning = &state.planning;
        self.hash.as_ref() == state.plan.current.as_ref().map(|revision| &revision.hash)
            && self.visible == planning.last_visible
            && self.line_comments == count_line_comments(state)
            && is_same_draft(self.sketch.as_ref(), planning.sketch.as_ref())
            && is_same_draft(self.outline.as_ref(), planning.outline.as_ref())
            && is_same_draft(self.roadmap.as_ref(), planning.roadmap.as_ref())
            && is_same_draft(self.schedule.as_ref(), planning.schedule.as_ref())
    }
}

/// What the list views are drawn from.
#[derive(Debug, Default)]
pub(crate) struct PlanCache {
    source: Option<PlanCacheKey>,
    pub(crate) rows: PlanTreeRows,
    /// The groups that the graph may fold.
    pub(crate) groups: TaskGroups,
    /// What each row says, in the order of the rows.
    pub(crate) text: Vec<PlanTextRow>,
    /// How the rows differ from the draft before, while that is asked about.
    pub(crate) changes: Option<DraftComparison>,
    compared: Option<ComparedDraft>,
    /// The rows as they are, while the dates of a way out of a late plan are shown.
    before_lever: Option<Vec<PlanTextRow>>,
    editor: Option<EditorPlace>,
    /// The lines of the outline, of which some are on the screen.
    pub(crate) lines: Vec<OutlineLine>,
    pub(crate) columns: OutlineColumns,
    pub(crate) level: RowDetailLevel,
    outlined: Option<OutlineKey>,
    pub(crate) offsets: ChartOffsets,
    /// When each row is planned, and from which moment on that holds.
    pub(crate) planned: Vec<PlannedRow>,
    planned_from: Option<Timestamp>,
    pub(crate) deadline: Option<Timestamp>,
    /// The rows of the view in its order, without what is folded.
    pub(crate) shown: Vec<usize>,
    order: Option<RowOrderKey>,
    /// The first of them on the screen.
    pub(crate) top: usize,
    pub(crate) axis: Option<GanttAxis>,
    /// What really ran when, and the moment and event it is about.
    pub(crate) bars: RunBars,
    bars_for: Option<(Seq, Timestamp)>,
    /// The scales that the zoom key turns through.
    pub(crate) scales: Vec<GanttScale>,
}

/// Which draft rows are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ComparedDraft {
    /// The one that was proposed by this event.
    Proposed(Seq),
    /// The one with this number.
    Number(u32),
    /// The draft itself, whose dates are shown as this relaxation would make them.
    Lever(u8),
}

/// What the lines of the outline were made for.
#[derive(Clone, Debug, PartialEq)]
struct OutlineKey {
    width: usize,
    level: RowDetailLevel,
    selected: Option<usize>,
    editor: Option<EditorPlace>,
    order: RowOrderKey,
    today: jiff::civil::Date,
}

/// What the order of the rows was made for.
#[derive(Clone, Debug, PartialEq)]
struct RowOrderKey {
    view: PlanView,
    /// Folded rows change it in the tree, records in a sorted table.
    folded: usize,
    /// Only what changed is shown.
    changed: bool,
    sort: Option<(table::TableColumn, Seq)>,
}

impl PlanCache {
    /// Works plan and drafts out unless they are at hand.
    pub(crate) fn update_rows(&mut self, state: &SessionState, zone: &TimeZone) {
        if self.source.as_ref().is_some_and(|source| source.matches_state(state)) {
            return;
        }
        *self = Self {
            source: Some(PlanCacheKey::from_state(state)),
            top: self.top,
            ..Self::default()
        };
        let revision = state.plan.current.as_deref();
        let plan = revision.map(|revision| &*revision.plan);
        let drafted =
            state.planning.roadmap.as_ref().map(|roadmap| (&roadmap.nodes, &roadmap.root_id));
        let outlined =
            state.planning.outline.as_ref().map(|outline| (&outline.nodes, &outline.root_id));
        let sketched =
            state.planning.sketch.as_ref().map(|sketch| (&sketch.nodes, &sketch.root_id));
        // Estimates are in the roadmap; before there is one, the outline has to do.
        self.rows = match (drafted.or(outlined).or(sketched), revision) {
            (Some((nodes, root)), _) => PlanTreeRows::from_outline(nodes, root, plan),
            (None, Some(revision)) => {
                PlanTreeRows::from_plan(&revision.plan, &revision.facts.execution_order)
            }
            (None, None) => PlanTreeRows::default(),
        };
        self.groups = TaskGroups::from_rows(&self.rows);
        self.text = plan_rows(state, zone);
        if let Some(revision) = revision {
            self.offsets = ChartOffsets::from_plan(&revision.plan, &revision.facts);
        }
        let planning = &state.planning;
        if let (Some(schedule), Some(roadmap), Some(context)) =
            (&planning.schedule, &planning.roadmap, &planning.context)
        {
            self.planned = scheduled_rows(&self.rows, schedule, roadmap, context);
            self.deadline = context.constraints.deadline.map(|deadline| deadline.at);
            self.offsets.measure = BarMeasure::Schedule;
        } else {
            self.use_file_dates(state, zone);
        }
    }

    /// Puts the tasks of a plan file where its calendar has them.
    fn use_file_dates(&mut self, state: &SessionState, zone: &TimeZone) {
        let times = file_task_times(state, zone);
        if times.is_empty() {
            return;
        }
        let dated = self.offsets.planned_rows(&self.rows, Timestamp::UNIX_EPOCH);
        self.planned = dated_rows(&self.rows, dated, &times);
        self.deadline = file_deadline(state, zone);
        self.offsets.measure = BarMeasure::Schedule;
    }

    /// Whether a row has this id, be it a task or what holds tasks.
    pub(crate) fn contains_node(&self, id: &TaskId) -> bool {
        self.rows.position(id).is_some()
    }

    /// Where a row stands in the order of the view.
    pub(crate) fn row_position(&self, id: &TaskId) -> Option<usize> {
        let row = self.rows.position(id)?;
        self.shown.iter().position(|shown| *shown == row)
    }

    /// Rows that the view would like to have.
    pub(crate) fn preferred_height(&self, view: PlanView) -> u16 {
        let legend = match view {
            PlanView::Gantt => 1,
            PlanView::Timeline => 2,
            PlanView::Graph | PlanView::Outline | PlanView::Table => 0,
        };
        (self.shown.len() + usize::from(view.heading_rows()) + legend).clamp(1, 4096) as u16
    }

    /// Settles which rows the view has, in its order.
    pub(crate) fn update_order(&mut self, state: &SessionState, ui: &ViewUi) {
        let moves = matches!(ui.kind, PlanView::Table | PlanView::Timeline);
        let sort = moves.then_some((ui.sort, state.seq));
        let changed = ui.hides_unchanged && self.changes.is_some();
        let order = RowOrderKey { view: ui.kind, folded: ui.folds, changed, sort };
        if self.order.as_ref() == Some(&order) && !self.shown.is_empty() {
            return;
        }
        self.shown = match ui.kind {
            PlanView::Table => table::sorted_rows(&self.rows, &self.offsets, state, ui.sort),
            PlanView::Timeline => {
                let task =
                    |row: usize| self.rows.all[row].task.filter(|task| *task < state.tasks.len());
                let mut found: Vec<(usize, usize)> =
                    (0..self.rows.all.len()).filter_map(|row| Some((row, task(row)?))).collect();
                ran_order(state, &mut found);
                found.into_iter().map(|(row, _)| row).collect()
            }
            PlanView::Graph | PlanView::Outline | PlanView::Gantt => {
                self.rows.visible_rows(|id| ui.folded.contains(id))
            }
        };
        if let Some(changes) = self.changes.as_ref().filter(|_| changed) {
            self.shown = changed_rows(&self.text, changes, &self.shown);
        }
        self.order = Some(order);
    }

    /// Whether the rows are compared with a draft already.
    pub(crate) fn is_compared_with(&self, draft: &ComparedDraft) -> bool {
        self.compared.as_ref() == Some(draft)
    }

    /// Compares the rows with those of another draft; with none forgets them.
    pub(crate) fn compare_with(&mut self, before: Option<(ComparedDraft, &[PlanTextRow])>) {
        let draft = before.as_ref().map(|(draft, _)| draft.clone());
        if self.compared == draft {
            return;
        }
        self.compared = draft;
        self.changes = before.map(|(_, rows)| compare_rows(rows, &self.text));
        self.changes.take_if(|changes| changes.total() == 0);
        self.order = None;
        self.outlined = None;
    }

    /// Shows the dates that a relaxation would lead to, against those of the draft; with none shows the draft.
    pub(crate) fn show_lever(&mut self, lever: Option<(u8, &ScheduleRelaxation)>, zone: &TimeZone) {
        let wanted = lever.map(|(number, _)| ComparedDraft::Lever(number));
        let shown = self.compared.clone().filter(|_| self.before_lever.is_some());
        if shown == wanted {
            return;
        }
        if let Some(text) = self.before_lever.take() {
            self.text = text;
            self.compare_with(None);
        }
        let Some((number, relaxation)) = lever else { return };
        let before = self.text.clone();
        self.text = relaxed_rows(&before, &self.rows, relaxation, zone);
        self.compare_with(Some((ComparedDraft::Lever(number), &before)));
        let dropped = dropped_nodes(relaxation);
        if let Some(changes) = &mut self.changes {
            changes.kinds.extend(dropped.map(|node| (node.clone(), PlanRowChange::Removed)));
        }
        self.before_lever = Some(before);
    }

    /// Whether the dates are those that a relaxation would lead to.
    pub(crate) fn shows_lever(&self) -> bool {
        self.before_lever.is_some()
    }

    /// Settles the lines of the outline in a width.
    pub(crate) fn update_outline(
        &mut self,
        width: usize,
        level: RowDetailLevel,
        selected: Option<&TaskId>,
        editor: Option<EditorPlace>,
        today: jiff::civil::Date,
    ) {
        // Elsewhere the cursor changes nothing of the lines, which a plan of a thousand rows has too many of to make for
        // every key.
        let selected = selected.filter(|_| level == RowDetailLevel::Selected);
        let selected = selected.and_then(|id| self.rows.position(id));
        let Some(order) = self.order.clone() else { return };
        let key = OutlineKey { width, level, selected, editor, order, today };
        if self.outlined.as_ref() == Some(&key) {
            return;
        }
        self.outlined = Some(key);
        self.level = level;
        self.editor = editor;
        self.columns = OutlineColumns::fit(width, &self.text, self.changes.as_ref(), today);
        self.lines = outline_lines(self.outline_source(width), &self.shown, selected);
    }

    /// What the lines are drawn from.
    pub(crate) fn outline_source(&self, width: usize) -> OutlineSource<'_> {
        OutlineSource {
            text: &self.text,
            changes: self.changes.as_ref(),
            columns: self.columns,
            width,
            level: self.level,
            editor: self.editor,
        }
    }

    /// Settles which lines of the outline are on the screen: those of the selected row are.
    pub(crate) fn update_outline_window(
        &mut self,
        selected: Option<&TaskId>,
        room: usize,
        top: &mut usize,
    ) {
        let row = selected.and_then(|id| self.rows.position(id));
        let of_row = |line: &&OutlineLine| line.row() == row;
        let first = row.and_then(|_| self.lines.iter().position(|line| of_row(&line)));
        if let Some(first) = first {
            let count = self.lines[first..].iter().take_while(of_row).count();
            let last = first + count.min(room.max(1)) - 1;
            *top = window::scrolled_top(*top, Some(last), room, self.lines.len());
            *top = (*top).min(first);
        }
        // An open editor is in sight whatever else is.
        let editor = |line: &OutlineLine| matches!(line, OutlineLine::Editor { .. });
        if let Some(at) = self.lines.iter().rposition(editor) {
            *top = window::scrolled_top(*top, Some(at), room, self.lines.len());
        }
        *top = window::scrolled_top(*top, None, room, self.lines.len());
        self.top = *top;
    }

    /// The lines of commands that are on the screen: the row and the number of the line.
    pub(crate) fn command_lines_on_screen(
        &self,
        width: usize,
        room: usize,
    ) -> Vec<(TaskId, usize)> {
        let source = self.outline_source(width);
        let id = |row: usize| self.text.get(row).map(|text| text.id.clone());
        let seen = |line: &OutlineLine| match *line {
            OutlineLine::Detail { row, kind: RowDetailKind::Command, part } => {
                Some((id(row)?, part))
            }
            // Those of checks are counted after the lines of the command.
            OutlineLine::Detail { row, kind: RowDetailKind::Check(at), part } => {
                let before = lines_before_check(source, self.text.get(row)?, at);
                Some((id(row)?, before + part))
            }
            OutlineLine::Row(row) => {
                command_beside(source, self.text.get(row)?)?;
                Some((id(row)?, 0))
            }
            _ => None,
        };
        self.lines.iter().skip(self.top).take(room).filter_map(seen).collect()
    }

    /// How many lines the commands of a row take.
    pub(crate) fn command_line_count(&self, width: usize, id: &TaskId) -> usize {
        let text = self.rows.position(id).and_then(|row| self.text.get(row));
        let source = self.outline_source(width);
        text.map_or(0, |text| lines_before_check(source, text, text.checks.len()))
    }

    /// The first and last row on the screen, counted from 1, and how many there are.
    pub(crate) fn rows_on_screen(&self, room: usize) -> (usize, usize, usize) {
        let is_row = |line: &&OutlineLine| {
            matches!(line, OutlineLine::Row(_) | OutlineLine::Removed { part: 0, .. })
        };
        let before = self.lines.iter().take(self.top).filter(is_row).count();
        let shown = self.lines.iter().skip(self.top).take(room).filter(is_row).count();
        (before + 1, before + shown, self.lines.iter().filter(is_row).count())
    }

    /// Settles which rows are on the screen.
    pub(crate) fn update_window(
        &mut self,
        selected: Option<&TaskId>,
        view: PlanView,
        height: u16,
        top: &mut usize,
    ) {
        let below = if view == PlanView::Timeline { 2 } else { 0 };
        let room = usize::from(height.saturating_sub(view.heading_rows() + below));
        let selected = selected.and_then(|id| self.row_position(id));
        *top = window::scrolled_top(*top, selected, room, self.shown.len());
        self.top = *top;
    }

    /// Works out what ran when, unless it is at hand.
    pub(crate) fn update_bars(&mut self, state: &SessionState, now: Timestamp) {
        if self.bars_for != Some((state.seq, now)) {
            self.bars = RunBars::from_state(state, now);
            self.bars_for = Some((state.seq, now));
        }
    }

    /// Settles the time axis of the chart.
    pub(crate) fn update_axis(
        &mut self,
        state: &SessionState,
        now: Timestamp,
        zone: &TimeZone,
        ui: &ViewUi,
        columns: usize,
    ) {
        let start = state.run.started_at.or(state.at).unwrap_or(now);
        if self.offsets.measure != BarMeasure::Schedule && self.planned_from != Some(start) {
            self.planned = self.offsets.planned_rows(&self.rows, start);
            self.planned_from = Some(start);
        }
        let span = self.time_span(state, start, now);
        let calendar = self.offsets.measure == BarMeasure::Schedule;
        let fitting = GanttScale::finest_fitting(span, zone, columns, calendar);
        self.scales = GanttScale::zoom_choices(fitting);
        let scale = self.scales[ui.zoom % self.scales.len()];
        let axis = GanttAxis::new(scale, span.start, zone.clone());
        self.axis = Some(axis.with_hours(plan_hours(state)));
    }

    /// From the first moment that is planned or happened to the last.
    fn time_span(&self, state: &SessionState, start: Timestamp, now: Timestamp) -> PlannedSpan {
        let last = self.planned.iter().filter_map(PlannedRow::end).max();
        let first = self.planned.iter().filter_map(PlannedRow::start).min();
        let mut span = PlannedSpan { start: first.unwrap_or(start), end: last.unwrap_or(start) };
        for (_, row) in state.tasks.iter() {
            if let Some(started) = row.started_at {
                span.start = span.start.min(started);
                span.end = span.end.max(row.finished_at.unwrap_or(now));
            }
        }
        span
    }
}

/// When work may happen: by the conversation, or by the calendar of a plan file.
fn plan_hours(state: &SessionState) -> Option<PlanCalendar> {
    let drafted = state.planning.context.as_deref().map(|context| context.calendar.clone());
    drafted.or_else(|| {
        let plan = &state.plan.current.as_deref()?.plan;
        plan.calendar.as_ref().map(|stated| stated.hours.clone())
    })
}

/// The tasks that a relaxation leaves out.
fn dropped_nodes(relaxation: &ScheduleRelaxation) -> impl Iterator<Item = &TaskId> {
    relaxation.changes.iter().flat_map(|change| match change {
        LeverChange::DropOptional { node_ids, .. } => node_ids.as_slice(),
        _ => &[],
    })
}

/// The rows with the dates of a relaxation. What holds others spans what it holds.
fn relaxed_rows(
    before: &[PlanTextRow],
    tree: &PlanTreeRows,
    relaxation: &ScheduleRelaxation,
    zone: &TimeZone,
) -> Vec<PlanTextRow> {
    let mut rows = before.to_vec();
    for row in &mut rows {
        let dates = relaxation.dates.iter().find(|dates| dates.node == row.id);
        if let Some(dates) = dates {
            row.days = Some(DaySpan::from_stretch(dates.start.at, dates.end.at, zone));
        } else if row.kind == PlanRowKind::Task {
            row.days = None;
        }
    }
    for at in 0..rows.len().min(tree.all.len()) {
        let held = rows[at + 1..tree.all[at].end.min(rows.len())].iter();
        let days = held.filter_map(|row| row.days);
        let span = days.reduce(|one, other| DaySpan {
            first: one.first.min(other.first),
            last: one.last.max(other.last),
        });
        rows[at].days = span.or(rows[at].days);
    }
    rows
}
/// How many lines stand before a check of a row: those of its command and of the checks before it.
fn lines_before_check(source: OutlineSource<'_>, row: &PlanTextRow, check: usize) -> usize {
    let lines = |kind| detail_texts(source, row, kind).len();
    let own = match (&row.command, command_beside(source, row)) {
        (None, _) => 0,
        (Some(_), Some(_)) => 1,
        (Some(_), None) => lines(RowDetailKind::Command),
    };
    own + (0..check).map(|at| lines(RowDetailKind::Check(at))).sum::<usize>()
}
