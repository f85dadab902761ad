//! Rows, times and orders of the plan, kept beside the screen.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::gantt::{Axis, Scale};
use super::rows::Rows;
use super::times::{Measure, Offsets, Planned, Stretch, scheduled};
use super::{View, table, window};
use crate::ui_state::ViewUi;
use planwright_model::{Digest, PlanOutline, Roadmap, Schedule, Seq, TaskId};
use planwright_state::SessionState;

/// What everything was worked out from. Drafts are shared, so that the same draft is the same place in memory.
#[derive(Clone, Debug, Default)]
struct Source {
    hash: Option<Digest>,
    outline: Option<Arc<PlanOutline>>,
    roadmap: Option<Arc<Roadmap>>,
    schedule: Option<Arc<Schedule>>,
}

impl Source {
    fn of(state: &SessionState) -> Self {
        Self {
            hash: state.plan.current.as_ref().map(|revision| revision.hash.clone()),
            outline: state.planning.outline.clone(),
            roadmap: state.planning.roadmap.clone(),
            schedule: state.planning.schedule.clone(),
        }
    }

    fn is(&self, state: &SessionState) -> bool {
        fn same<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
            match (one, other) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                (None, None) => true,
                _ => false,
            }
        }
        let planning = &state.planning;
        self.hash.as_ref() == state.plan.current.as_ref().map(|revision| &revision.hash)
            && same(self.outline.as_ref(), planning.outline.as_ref())
            && same(self.roadmap.as_ref(), planning.roadmap.as_ref())
            && same(self.schedule.as_ref(), planning.schedule.as_ref())
    }
}

/// What the list views are drawn from.
#[derive(Debug, Default)]
pub(crate) struct PlanCache {
    source: Option<Source>,
    pub(crate) rows: Rows,
    pub(crate) offsets: Offsets,
    /// When each row is planned, and from which moment on that holds.
    pub(crate) planned: Vec<Planned>,
    planned_from: Option<Timestamp>,
    pub(crate) deadline: Option<Timestamp>,
    /// The rows of the view in its order, without what is folded.
    pub(crate) shown: Vec<usize>,
    order: Option<Order>,
    /// The first of them on the screen.
    pub(crate) top: usize,
    pub(crate) axis: Option<Axis>,
    /// The scales that the zoom key turns through.
    pub(crate) scales: Vec<Scale>,
}

/// What the order of the rows was made for.
#[derive(Debug, PartialEq)]
struct Order {
    view: View,
    /// Folded rows change it in the tree, records in a sorted table.
    folded: usize,
    sort: Option<(table::Column, Seq)>,
}

impl PlanCache {
    /// Works plan and drafts out unless they are at hand.
    pub(crate) fn place(&mut self, state: &SessionState) {
        if self.source.as_ref().is_some_and(|source| source.is(state)) {
            return;
        }
        *self = Self { source: Some(Source::of(state)), top: self.top, ..Self::default() };
        let revision = state.plan.current.as_deref();
        let plan = revision.map(|revision| &*revision.plan);
        let drafted =
            state.planning.roadmap.as_ref().map(|roadmap| (&roadmap.nodes, &roadmap.root_id));
        let outlined =
            state.planning.outline.as_ref().map(|outline| (&outline.nodes, &outline.root_id));
        // Estimates are in the roadmap; before there is one, the outline has to do.
        self.rows = match (drafted.or(outlined), revision) {
            (Some((nodes, root)), _) => Rows::of_outline(nodes, root, plan),
            (None, Some(revision)) => {
                Rows::of_plan(&revision.plan, &revision.facts.execution_order)
            }
            (None, None) => Rows::default(),
        };
        if let Some(revision) = revision {
            self.offsets = Offsets::of(&revision.plan, &revision.facts);
        }
        let planning = &state.planning;
        if let (Some(schedule), Some(roadmap), Some(context)) =
            (&planning.schedule, &planning.roadmap, &planning.context)
        {
            self.planned = scheduled(&self.rows, schedule, roadmap, context);
            self.deadline = context.constraints.deadline.map(|deadline| deadline.at);
            self.offsets.measure = Measure::Schedule;
        }
    }

    /// Whether a row has this id, be it a task or what holds tasks.
    pub(crate) fn contains(&self, id: &TaskId) -> bool {
        self.rows.position(id).is_some()
    }

    /// Where a row stands in the order of the view.
    pub(crate) fn place_of(&self, id: &TaskId) -> Option<usize> {
        let row = self.rows.position(id)?;
        self.shown.iter().position(|shown| *shown == row)
    }

    /// Rows that the view would like to have.
    pub(crate) fn height(&self, view: View) -> u16 {
        let legend = usize::from(view == View::Gantt);
        (self.shown.len() + usize::from(view.heading()) + legend).clamp(1, 4096) as u16
    }

    /// Settles which rows the view has, in its order.
    pub(crate) fn arrange(&mut self, state: &SessionState, ui: &ViewUi) {
        let sort = (ui.kind == View::Table).then_some((ui.sort, state.seq));
        let order = Order { view: ui.kind, folded: ui.folds, sort };
        if self.order.as_ref() == Some(&order) && !self.shown.is_empty() {
            return;
        }
        self.shown = match ui.kind {
            View::Table => table::sorted(&self.rows, &self.offsets, state, ui.sort),
            View::Graph | View::Outline | View::Gantt => {
                self.rows.visible(|id| ui.folded.contains(id))
            }
        };
        self.order = Some(order);
    }

    /// Settles which rows are on the screen.
    pub(crate) fn look(
        &mut self,
        selected: Option<&TaskId>,
        view: View,
        height: u16,
        top: &mut usize,
    ) {
        let room = usize::from(height.saturating_sub(view.heading()));
        let selected = selected.and_then(|id| self.place_of(id));
        *top = window::settled(*top, selected, room, self.shown.len());
        self.top = *top;
    }

    /// Settles the time axis of the chart.
    pub(crate) fn measure(
        &mut self,
        state: &SessionState,
        now: Timestamp,
        zone: &TimeZone,
        ui: &ViewUi,
        columns: usize,
    ) {
        let start = state.run.started_at.or(state.at).unwrap_or(now);
        if self.offsets.measure != Measure::Schedule && self.planned_from != Some(start) {
            self.planned = self.offsets.planned(&self.rows, start);
            self.planned_from = Some(start);
        }
        let span = self.span(state, start, now);
        let calendar = self.offsets.measure == Measure::Schedule;
        let fitting = Scale::fitting(span, zone, columns, calendar);
        self.scales = Scale::choices(fitting);
        let scale = self.scales[ui.zoom % self.scales.len()];
        self.axis = Some(Axis::new(scale, span.start, zone.clone()));
    }

    /// From the first moment that is planned or happened to the last.
    fn span(&self, state: &SessionState, start: Timestamp, now: Timestamp) -> Stretch {
        let last =
            self.planned.iter().filter_map(|planned| planned.latest().or(planned.end())).max();
        let first = self.planned.iter().filter_map(Planned::start).min();
        let mut span = Stretch { start: first.unwrap_or(start), end: last.unwrap_or(start) };
        for (_, row) in state.tasks.iter() {
            if let Some(started) = row.started_at {
                span.start = span.start.min(started);
                span.end = span.end.max(row.finished_at.unwrap_or(now));
            }
        }
        span
    }
}
