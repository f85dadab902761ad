//! Where the time of agents' tasks went: waiting for models, tools and the person, and what is left for the engine.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::elapsed_millis;
use planwright_model::event::{AgentEvent, ApprovalEvent, CallEvent, Event, Record, TaskEvent};
use planwright_model::{CallId, RequestId, TaskId};

/// The time of one task of an agent, in milliseconds. The parts add up to the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentShare {
    pub task: String,
    pub ms: u64,
    pub model_ms: u64,
    pub tool_ms: u64,
    pub person_ms: u64,
    /// What nobody was waited for: prompts, rules and the journal.
    pub engine_ms: u64,
}

#[derive(Default)]
struct AgentTaskTimes {
    started: Option<Timestamp>,
    by_agent: bool,
    share: AgentShare,
}

/// Folds the waits of tasks. What runs within a call of a task is part of that call.
#[derive(Default)]
pub(super) struct AgentTimesFold {
    tasks: BTreeMap<TaskId, AgentTaskTimes>,
    asks: BTreeMap<u32, (TaskId, Timestamp)>,
    calls: BTreeMap<CallId, Timestamp>,
    questions: BTreeMap<RequestId, (TaskId, Timestamp)>,
}

impl AgentTimesFold {
    pub(super) fn apply(&mut self, record: &Record) {
        let at = record.at;
        match &record.event {
            Event::Task(event) => self.apply_task(event, at),
            Event::Agent(AgentEvent::ModelAsked { task: Some(task), ask, .. }) => {
                if let Some(times) = self.tasks.get_mut(task) {
                    times.by_agent = true;
                    self.asks.insert(*ask, (task.clone(), at));
                }
            }
            Event::Agent(
                AgentEvent::ModelAnswered { ask, .. } | AgentEvent::ModelFailed { ask, .. },
            ) => {
                if let Some((task, since)) = self.asks.remove(ask) {
                    self.add_wait(&task, |share| share.model_ms += elapsed_millis(since, at));
                }
            }
            Event::Call(CallEvent::Intended { call, .. }) => {
                self.calls.insert(call.clone(), at);
            }
            Event::Call(CallEvent::Concluded { call, .. }) => {
                if let Some(since) = self.calls.remove(call) {
                    self.add_wait(&call.task, |share| share.tool_ms += elapsed_millis(since, at));
                }
            }
            Event::Approval(ApprovalEvent::Asked { request }) => {
                if let Some(task) = &request.task {
                    self.questions.insert(request.id, (task.clone(), at));
                }
            }
            Event::Approval(
                ApprovalEvent::Answered { id, .. } | ApprovalEvent::Withdrawn { id, .. },
            ) => {
                if let Some((task, since)) = self.questions.remove(id) {
                    self.add_wait(&task, |share| share.person_ms += elapsed_millis(since, at));
                }
            }
            _ => {}
        }
    }

    fn apply_task(&mut self, event: &TaskEvent, at: Timestamp) {
        let times = self.tasks.entry(event.task_id().clone()).or_default();
        match event {
            TaskEvent::Started { .. } => times.started = Some(at),
            TaskEvent::Held { .. } | TaskEvent::ResultsKept { .. } | TaskEvent::Ready { .. } => {}
            TaskEvent::AwaitingClose { .. }
            | TaskEvent::Completed { .. }
            | TaskEvent::Failed { .. } => {
                if let Some(started) = times.started.take() {
                    times.share.ms += elapsed_millis(started, at);
                }
            }
            // An attempt that was interrupted has no end that could be measured.
            _ => times.started = None,
        }
    }

    fn add_wait(&mut self, task: &TaskId, add: impl FnOnce(&mut AgentShare)) {
        let running = self.tasks.get_mut(task).filter(|times| times.started.is_some());
        if let Some(times) = running {
            add(&mut times.share);
        }
    }

    pub(super) fn into_shares(self) -> Vec<AgentShare> {
        let done = self.tasks.into_iter().filter(|(_, times)| times.by_agent && times.share.ms > 0);
        done.map(|(task, times)| {
            let share = times.share;
            let waited = share.model_ms + share.tool_ms + share.person_ms;
            AgentShare {
                task: task.to_string(),
                engine_ms: share.ms.saturating_sub(waited),
                ..share
            }
        })
        .collect()
    }
}
