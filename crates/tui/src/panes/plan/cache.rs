//! Rows, times and orders of the plan, kept beside the screen.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::gantt::{GanttAxis, GanttScale};
use super::rows::PlanTreeRows;
use super::times::{BarMeasure, ChartOffsets, PlannedRow, PlannedSpan, scheduled_rows};
use super::{PlanView, table, window};
use crate::ui_state::ViewUi;
use planwright_model::{Digest, PlanOutline, Roadmap, Schedule, Seq, TaskId};
use planwright_state::SessionState;

/// What everything was worked out from. Drafts are shared, so that the same draft is the same place in memory.
#[derive(Clone, Debug, Default)]
struct PlanCacheKey {
    hash: Option<Digest>,
    outline: Option<Arc<PlanOutline>>,
    roadmap: Option<Arc<Roadmap>>,
    schedule: Option<Arc<Schedule>>,
}

impl PlanCacheKey {
    fn from_state(state: &SessionState) -> Self {
        Self {
            hash: state.plan.current.as_ref().map(|revision| revision.hash.clone()),
            outline: state.planning.outline.clone(),
            roadmap: state.planning.roadmap.clone(),
            schedule: state.planning.schedule.clone(),
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
    /// The scales that the zoom key turns through.
    pub(crate) scales: Vec<GanttScale>,
}

/// What the order of the rows was made for.
#[derive(Debug, PartialEq)]
struct RowOrderKey {
    view: PlanView,
    /// Folded rows change it in the tree, records in a sorted table.
    folded: usize,
    sort: Option<(table::TableColumn, Seq)>,
}

impl PlanCache {
    /// Works plan and drafts out unless they are at hand.
    pub(crate) fn update_rows(&mut self, state: &SessionState) {
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
        // Estimates are in the roadmap; before there is one, the outline has to do.
        self.rows = match (drafted.or(outlined), revision) {
            (Some((nodes, root)), _) => PlanTreeRows::from_outline(nodes, root, plan),
            (None, Some(revision)) => {
                PlanTreeRows::from_plan(&revision.plan, &revision.facts.execution_order)
            }
            (None, None) => PlanTreeRows::default(),
        };
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
        }
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
        let legend = usize::from(view == PlanView::Gantt);
        (self.shown.len() + usize::from(view.heading_rows()) + legend).clamp(1, 4096) as u16
    }

    /// Settles which rows the view has, in its order.
    pub(crate) fn update_order(&mut self, state: &SessionState, ui: &ViewUi) {
        let sort = (ui.kind == PlanView::Table).then_some((ui.sort, state.seq));
        let order = RowOrderKey { view: ui.kind, folded: ui.folds, sort };
        if self.order.as_ref() == Some(&order) && !self.shown.is_empty() {
            return;
        }
        self.shown = match ui.kind {
            PlanView::Table => table::sorted_rows(&self.rows, &self.offsets, state, ui.sort),
            PlanView::Graph | PlanView::Outline | PlanView::Gantt => {
                self.rows.visible_rows(|id| ui.folded.contains(id))
            }
        };
        self.order = Some(order);
    }

    /// Settles which rows are on the screen.
    pub(crate) fn update_window(
        &mut self,
        selected: Option<&TaskId>,
        view: PlanView,
        height: u16,
        top: &mut usize,
    ) {
        let room = usize::from(height.saturating_sub(view.heading_rows()));
        let selected = selected.and_then(|id| self.row_position(id));
        *top = window::scrolled_top(*top, selected, room, self.shown.len());
        self.top = *top;
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
        self.axis = Some(GanttAxis::new(scale, span.start, zone.clone()));
    }

    /// From the first moment that is planned or happened to the last.
    fn time_span(&self, state: &SessionState, start: Timestamp, now: Timestamp) -> PlannedSpan {
        let last =
            self.planned.iter().filter_map(|planned| planned.slack_end().or(planned.end())).max();
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
