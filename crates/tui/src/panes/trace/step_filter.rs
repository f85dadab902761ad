//! Which steps there are to show: all of them, those of one task, of some kinds, of one part of the agents' loops.

use super::kind_filter::TraceKindFilter;
use crate::ui_state::TraceUi;
use planwright_model::PrdvPhase;
use planwright_model::{Seq, TaskId};
use planwright_state::replay::{History, RecordSourceError};
use planwright_state::timeline::{Timeline, TimelineStep};
use planwright_state::trace::{TraceEntryKind, prdv_phase};

/// How many steps are read in one go, where a step must be read to know whether it passes.
const MAX_READS_PER_UPDATE: usize = 2_000;

/// The positions of the steps that pass, extended as the session grows.
#[derive(Debug, Default)]
pub(super) struct StepFilter {
    task: Option<TaskId>,
    kinds: TraceKindFilter,
    role: Option<PrdvPhase>,
    positions: Vec<u32>,
    scanned: usize,
}

impl StepFilter {
    /// Takes in what is new. Another request starts over. Where steps have to be read it may stay
    /// [behind](Self::is_behind), so that keys stay quick.
    pub(super) fn update(
        &mut self,
        ui: &TraceUi,
        timeline: &Timeline,
        history: &mut History,
    ) -> Result<(), RecordSourceError> {
        let same = self.task == ui.only && self.kinds == ui.kinds && self.role == ui.role;
        if !same || self.scanned > timeline.len() {
            let (task, kinds, role) = (ui.only.clone(), ui.kinds, ui.role);
            *self = Self { task, kinds, role, ..Self::default() };
        }
        if !self.is_active() {
            return Ok(());
        }
        let mut read = 0;
        let from = self.scanned;
        for (position, step) in timeline.steps_of(self.task.as_ref(), from) {
            if !self.kinds.includes(step.kind) {
                continue;
            }
            let passes = match self.role {
                None => true,
                Some(_) if !is_agent_step(step.kind) => false,
                Some(role) => {
                    read += 1;
                    let record = history.record_at(step.seq)?;
                    record.is_some_and(|record| prdv_phase(&record.event) == Some(role))
                }
            };
            if passes {
                self.positions.push(position as u32);
            }
            if read >= MAX_READS_PER_UPDATE {
                self.scanned = position + 1;
                return Ok(());
            }
        }
        self.scanned = timeline.len();
        Ok(())
    }

    /// Whether there are steps that have not been looked at.
    pub(super) fn is_behind(&self, timeline: &Timeline) -> bool {
        self.is_active() && self.scanned < timeline.len()
    }

    fn is_active(&self) -> bool {
        self.task.is_some() || self.kinds != TraceKindFilter::All || self.role.is_some()
    }

    /// How many steps there are to show.
    pub(super) fn len(&self, timeline: &Timeline) -> usize {
        if self.is_active() { self.positions.len() } else { timeline.len() }
    }

    /// One of them.
    pub(super) fn step_at(&self, index: usize, timeline: &Timeline) -> Option<TimelineStep> {
        let position = if self.is_active() { *self.positions.get(index)? as usize } else { index };
        timeline.step_at(position)
    }

    /// How many of them are at or before an event.
    pub(super) fn steps_up_to(&self, seq: Seq, timeline: &Timeline) -> usize {
        let steps = timeline.steps_up_to(seq);
        if self.is_active() {
            self.positions.partition_point(|position| (*position as usize) < steps)
        } else {
            steps
        }
    }
}

/// Whether agents say steps of this kind, so that they have a part of a loop.
fn is_agent_step(kind: TraceEntryKind) -> bool {
    matches!(kind, TraceEntryKind::Thought | TraceEntryKind::Action | TraceEntryKind::Observed)
}
