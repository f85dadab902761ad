//! Going back to the schedule from before late tasks were planned again or a task was moved by hand.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::PlanningSlice;
use planwright_model::Schedule;
use planwright_model::catch_up::TaskOccurrence;

/// What an adaptation that is a move by hand is marked with.
pub const MOVED_BY_HAND: &str = "moved_by_hand";
/// How a block was moved that is out of the way of another plan of the person's now.
pub const MOVED_FOR_OTHER_PLAN: &str = "moved_for_other_plan";

/// The most schedules that are kept to go back to.
const KEPT_SCHEDULES: usize = 20;

/// A catch-up that can be undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CatchUpUndo {
    /// The schedule from before.
    pub schedule: Option<Arc<Schedule>>,
    /// What was skipped.
    pub skipped: Vec<TaskOccurrence>,
    /// Whether its own schedule is in; a later one ends the chance to undo it.
    pub applied: bool,
}

impl PlanningSlice {
    /// Keeps the schedule as it is now, before another one replaces it.
    pub(crate) fn keep_schedule(&mut self, skipped: Vec<TaskOccurrence>) {
        if let Some(before) = self.catch_up.take().filter(|before| before.applied) {
            if self.earlier_schedules.len() >= KEPT_SCHEDULES {
                self.earlier_schedules.remove(0);
            }
            self.earlier_schedules.push(before);
        }
        let schedule = self.schedule.clone();
        self.catch_up = Some(CatchUpUndo { schedule, skipped, applied: false });
    }

    /// Takes notice of a new schedule: that of the change itself, one from before, or another one, after which there is
    /// nothing to go back to.
    pub(crate) fn follow_schedule(&mut self) {
        if std::mem::take(&mut self.schedule_goes_back) {
            return;
        }
        match &mut self.catch_up {
            Some(undo) if !undo.applied => undo.applied = true,
            _ => {
                self.catch_up = None;
                self.earlier_schedules.clear();
            }
        }
    }
}
