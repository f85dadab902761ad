//! Where the time of a run went: slowest tasks and tools, waiting of every kind, and the chain that decided its length.

mod agent_times;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

pub use agent_times::AgentShare;

use super::SessionState;
use planwright_model::event::{AgentEvent, ApprovalEvent, CallEvent, Event, Record, TaskEvent};
use planwright_model::{CallId, RequestId, TaskId};

/// How many entries a list of the slowest has.
const MAX_SLOWEST_ENTRIES: usize = 10;

/// A name and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimeShare {
    pub name: String,
    pub ms: u64,
    pub count: u32,
}

/// Where the time of a run went, in milliseconds. Sums may exceed the run, since tasks run side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunProfile {
    pub run_ms: u64,
    pub model_ms: u64,
    pub tool_ms: u64,
    /// Between being ready and being started.
    pub queue_ms: u64,
    /// Between questions and answers.
    pub approval_ms: u64,
    /// From the first attempt of a task to its last.
    pub retry_ms: u64,
    pub slowest_tasks: Vec<TimeShare>,
    pub slowest_tools: Vec<TimeShare>,
    /// Tasks of agents: what they waited for, and what the engine took.
    pub agents: Vec<AgentShare>,
    /// From the task that ended last back along what each waited for longest.
    pub critical_path: Vec<TimeShare>,
}

impl RunProfile {
    /// Folds a session's records.
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut folding = RunProfileFold::default();
        records.into_iter().for_each(|record| folding.apply(record));
        folding.into_profile()
    }
}

#[derive(Default)]
struct TaskTime {
    first_start: Option<Timestamp>,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    ms: u64,
    attempts: u32,
}

#[derive(Default)]
struct RunProfileFold {
    state: SessionState,
    profile: RunProfile,
    tasks: BTreeMap<TaskId, TaskTime>,
    tools: BTreeMap<String, (u64, u32)>,
    calls: BTreeMap<CallId, String>,
    asked: BTreeMap<RequestId, Timestamp>,
    agents: agent_times::AgentTimesFold,
}

impl RunProfileFold {
    fn apply(&mut self, record: &Record) {
        self.state.apply(record);
        self.agents.apply(record);
        let at = record.at;
        match &record.event {
            Event::Task(event) => self.apply_task(event, at),
            Event::Call(CallEvent::Intended { call, tool, .. }) => {
                self.calls.insert(call.clone(), tool.clone());
            }
            Event::Call(CallEvent::Concluded { call, elapsed_ms, .. }) => {
                if let Some(tool) = self.calls.remove(call) {
                    let (ms, count) = self.tools.entry(tool).or_default();
                    *ms += elapsed_ms;
                    *count += 1;
                    self.profile.tool_ms += elapsed_ms;
                }
            }
            Event::Agent(AgentEvent::ModelAnswered { elapsed_ms, .. }) => {
                self.profile.model_ms += elapsed_ms;
            }
            Event::Approval(ApprovalEvent::Asked { request }) => {
                self.asked.insert(request.id, at);
            }
            Event::Approval(
                ApprovalEvent::Answered { id, .. } | ApprovalEvent::Withdrawn { id, .. },
            ) => {
                if let Some(since) = self.asked.remove(id) {
                    self.profile.approval_ms += elapsed_millis(since, at);
                }
            }
            _ => {}
        }
    }

    fn apply_task(&mut self, event: &TaskEvent, at: Timestamp) {
        let time = self.tasks.entry(event.task_id().clone()).or_default();
        match event {
            TaskEvent::Started { .. } => {
                time.first_start.get_or_insert(at);
                time.started = Some(at);
                time.attempts += 1;
            }
            TaskEvent::AwaitingClose { .. }
            | TaskEvent::Completed { .. }
            | TaskEvent::Failed { .. } => {
                if let Some(started) = time.started.take() {
                    time.ms += elapsed_millis(started, at);
                    time.ended = Some(at);
                    if let (true, Some(first)) = (time.attempts > 1, time.first_start) {
                        self.profile.retry_ms += elapsed_millis(first, started);
                    }
                }
            }
            _ => {}
        }
    }

    fn into_profile(mut self) -> RunProfile {
        let ended = self.state.run.finished_at.or(self.state.at).unwrap_or_default();
        self.profile.run_ms = self.state.run.worked_ms(ended);
        self.profile.queue_ms = self.total_queue_ms();
        self.profile.critical_path = self.critical_path();
        self.profile.slowest_tasks = slowest_shares(
            self.tasks.iter().map(|(id, time)| (id.to_string(), (time.ms, time.attempts))),
        );
        self.profile.slowest_tools = slowest_shares(self.tools.into_iter());
        self.profile.agents = self.agents.into_shares();
        self.profile
    }

    /// When everything a task waits for had ended; the start of the run for one that waits for nothing.
    fn ready_at(&self, task: usize) -> Option<Timestamp> {
        let ends = self.state.tasks.dependencies(task).filter_map(|on| self.task_ended_at(on));
        ends.max().or(self.state.run.started_at)
    }

    fn task_ended_at(&self, task: usize) -> Option<Timestamp> {
        self.tasks.get(self.state.tasks.id(task))?.ended
    }

    fn total_queue_ms(&self) -> u64 {
        (0..self.state.tasks.len())
            .filter_map(|task| {
                let started = self.tasks.get(self.state.tasks.id(task))?.first_start?;
                Some(elapsed_millis(self.ready_at(task)?, started))
            })
            .sum()
    }

    fn critical_path(&self) -> Vec<TimeShare> {
        let all = 0..self.state.tasks.len();
        let last = all
            .filter(|task| self.task_ended_at(*task).is_some())
            .max_by_key(|task| self.task_ended_at(*task));
        let mut path = Vec::new();
        let mut at = last;
        while let Some(task) = at {
            let id = self.state.tasks.id(task);
            let (ms, count) = self.tasks.get(id).map_or((0, 0), |time| (time.ms, time.attempts));
            path.push(TimeShare { name: id.to_string(), ms, count });
            let waited =
                self.state.tasks.dependencies(task).filter(|on| self.task_ended_at(*on).is_some());
            // A loop cannot be approved, but an imported journal may claim one.
            at = waited
                .max_by_key(|on| self.task_ended_at(*on))
                .filter(|_| path.len() <= self.tasks.len());
        }
        path.reverse();
        path
    }
}

fn slowest_shares(times: impl Iterator<Item = (String, (u64, u32))>) -> Vec<TimeShare> {
    let mut shares: Vec<TimeShare> =
        times.map(|(name, (ms, count))| TimeShare { name, ms, count }).collect();
    shares.sort_by(|a, b| (b.ms, &a.name).cmp(&(a.ms, &b.name)));
    shares.truncate(MAX_SLOWEST_ENTRIES);
    shares
}

fn elapsed_millis(from: Timestamp, to: Timestamp) -> u64 {
    to.duration_since(from).as_millis().try_into().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use planwright_model::event::arbitrary::journal;

    proptest! {
        #[test]
        fn any_journal_has_a_profile(records in journal(80)) {
            let profile = RunProfile::from_records(&records);
            prop_assert!(profile.slowest_tasks.len() <= MAX_SLOWEST_ENTRIES);
            prop_assert!(profile.slowest_tasks.is_sorted_by(|a, b| a.ms >= b.ms));
        }
    }
}
