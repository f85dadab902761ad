//! The run as a whole.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{PauseCause, RunCounts, RunEvent};
use crate::model::Cap;

/// Where the run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunPhase {
    #[default]
    Idle,
    Running,
    Paused,
    /// A process went away with work left.
    Interrupted,
    Finished {
        success: bool,
    },
}

/// The run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSlice {
    pub phase: RunPhase,
    pub jobs: u32,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub pause: Option<PauseCause>,
    /// Limits that were moved in this session; `None` is lifted.
    pub raised: BTreeMap<Cap, Option<u64>>,
    pub counts: RunCounts,
}

impl RunSlice {
    pub(super) fn apply(&mut self, event: &RunEvent, at: Timestamp) -> bool {
        match event {
            RunEvent::Started { jobs, .. } => {
                self.phase = RunPhase::Running;
                self.jobs = *jobs;
                self.started_at.get_or_insert(at);
                self.finished_at = None;
                self.pause = None;
            }
            RunEvent::Paused(cause) => {
                self.pause = Some(cause.clone());
                return self.turn(RunPhase::Running, RunPhase::Paused);
            }
            RunEvent::Continued => {
                self.pause = None;
                return self.turn(RunPhase::Paused, RunPhase::Running);
            }
            RunEvent::CapRaised { cap, to } => {
                self.raised.insert(*cap, *to);
            }
            RunEvent::JobsChanged { to, .. } => self.jobs = *to,
            RunEvent::Interrupted { .. } => self.phase = RunPhase::Interrupted,
            RunEvent::Finished { success, counts, .. } => {
                self.phase = RunPhase::Finished { success: *success };
                self.counts = *counts;
                self.finished_at = Some(at);
            }
        }
        true
    }

    fn turn(&mut self, from: RunPhase, to: RunPhase) -> bool {
        let sensible = self.phase == from;
        if sensible {
            self.phase = to;
        }
        sensible
    }

    /// Whether work is going on or held, so that leaving has to be asked about.
    pub fn is_active(&self) -> bool {
        matches!(self.phase, RunPhase::Running | RunPhase::Paused)
    }
}
