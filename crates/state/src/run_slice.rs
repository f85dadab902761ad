//! The run as a whole.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use planwright_model::event::{PauseCause, RunCounts, RunEvent};
use planwright_model::{ExecutionLimits, RunCap};

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
    /// When it was paused, while it is.
    #[serde(default)]
    pub paused_at: Option<Timestamp>,
    /// When it was interrupted, until it starts again; if its process left without a word, when that was last heard of.
    #[serde(default)]
    pub stopped_at: Option<Timestamp>,
    /// Limits that were moved in this session; `None` is lifted.
    pub raised: BTreeMap<RunCap, Option<u64>>,
    pub counts: RunCounts,
    /// Tasks of agents wait; what needs no model goes on.
    #[serde(default)]
    pub offline: bool,
    #[serde(default)]
    pub limits: ExecutionLimits,
    /// It failed, and the person put it aside.
    #[serde(default)]
    pub dismissed: bool,
    /// Milliseconds of work before `busy_since`; waiting for the person is no work.
    #[serde(default)]
    worked_ms: u64,
    /// Since when work has been going on without a pause.
    #[serde(default)]
    busy_since: Option<Timestamp>,
    /// Milliseconds in which no process was there, from the start of the run on.
    #[serde(default)]
    pub away_ms: u64,
}

impl RunSlice {
    pub(super) fn apply(&mut self, event: &RunEvent, at: Timestamp) -> bool {
        match event {
            RunEvent::Started { jobs, .. } => {
                self.phase = RunPhase::Running;
                self.dismissed = false;
                self.jobs = *jobs;
                self.started_at.get_or_insert(at);
                self.finished_at = None;
                self.stopped_at = None;
                self.pause = None;
                self.paused_at = None;
                self.offline = false;
            }
            RunEvent::Paused(cause) => {
                self.pause = Some(cause.clone());
                self.paused_at = Some(at);
                return self.change_phase(RunPhase::Running, RunPhase::Paused);
            }
            RunEvent::Continued => {
                self.pause = None;
                self.paused_at = None;
                return self.change_phase(RunPhase::Paused, RunPhase::Running);
            }
            RunEvent::CapRaised { cap, to } => {
                self.raised.insert(*cap, *to);
            }
            RunEvent::OfflineSet { on } => self.offline = *on,
            RunEvent::LimitsSet { limits } => self.limits = *limits,
            RunEvent::JobsChanged { to, .. } => self.jobs = *to,
            // The breakers are kept by themselves.
            RunEvent::BreakerChanged { .. } => {}
            RunEvent::Dismissed { on } => self.dismissed = *on,
            RunEvent::Interrupted { .. } => {
                self.phase = RunPhase::Interrupted;
                self.stopped_at.get_or_insert(at);
            }
            RunEvent::Finished { success, counts, .. } => {
                self.phase = RunPhase::Finished { success: *success };
                self.counts = *counts;
                self.finished_at = Some(at);
            }
        }
        true
    }

    fn change_phase(&mut self, from: RunPhase, to: RunPhase) -> bool {
        let sensible = self.phase == from;
        if sensible {
            self.phase = to;
        }
        sensible
    }

    /// Keeps the time of work: what passes while nothing can be done without the person does not count.
    pub(super) fn track_work(&mut self, waits_for_person: bool, at: Timestamp) {
        let busy = self.phase == RunPhase::Running && !waits_for_person;
        match (busy, self.busy_since) {
            (true, None) => self.busy_since = Some(at),
            (false, Some(since)) => {
                self.worked_ms = self.worked_ms.saturating_add(elapsed_millis(since, at));
                self.busy_since = None;
            }
            _ => {}
        }
    }

    /// The process that worked has left without a word, the last time at `last`, and the next one came at `back`: what
    /// lies between is neither work nor waiting for the person.
    pub(super) fn add_unattended(&mut self, last: Timestamp, back: Timestamp) {
        if self.started_at.is_some() && self.finished_at.is_none() {
            self.stopped_at.get_or_insert(last);
            self.away_ms = self.away_ms.saturating_add(elapsed_millis(last, back));
        }
        if let Some(since) = self.busy_since.take() {
            self.worked_ms = self.worked_ms.saturating_add(elapsed_millis(since, last));
        }
    }

    /// How long the run has worked up to `now`, without the time it waited for the person or for a process.
    pub fn worked_ms(&self, now: Timestamp) -> u64 {
        let going_on = self.busy_since.map_or(0, |since| elapsed_millis(since, now));
        self.worked_ms.saturating_add(going_on)
    }

    /// A run that has not begun, by the same numbers.
    pub(super) fn reset_for_fork(&self) -> Self {
        Self { limits: self.limits, ..Self::default() }
    }

    /// Whether work is going on or held, so that leaving has to be asked about.
    pub fn is_active(&self) -> bool {
        matches!(self.phase, RunPhase::Running | RunPhase::Paused)
    }
}

fn elapsed_millis(from: Timestamp, to: Timestamp) -> u64 {
    to.duration_since(from).as_millis().try_into().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn waiting_for_the_person_is_no_work() {
        let mut run = RunSlice { phase: RunPhase::Running, ..RunSlice::default() };
        run.track_work(false, at(10));
        assert_eq!(run.worked_ms(at(12)), 2_000);
        run.track_work(true, at(13));
        assert_eq!(run.worked_ms(at(100)), 3_000);
        run.track_work(false, at(100));
        run.phase = RunPhase::Paused;
        run.track_work(false, at(101));
        assert_eq!(run.worked_ms(at(500)), 4_000);
    }
}
