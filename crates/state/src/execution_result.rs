//! What a run came to: the traces of its attempts and the result of the whole, folded from its records.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::decision_log::{DecisionLog, DecisionLogEntry};
use super::trace::{TraceEntry, outcome_text};
use super::{SessionState, TaskStatus};
use planwright_model::event::{
    AgentEvent, CallEvent, CallOutcome, Event, Record, SessionEvent, TaskEvent,
};
use planwright_model::{ReActStep, ReActTrace, StepAction, StepMetadata, TaskId};

/// The result of a run, as the contracts name it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionResult {
    /// Whether all tasks completed.
    pub success: bool,
    pub completed_tasks: BTreeSet<TaskId>,
    pub failed_tasks: BTreeSet<TaskId>,
    /// Why each skipped task was skipped.
    pub skipped_tasks: BTreeMap<TaskId, String>,
    /// Seconds from the first start to the last end, without the time the run waited for the person.
    pub execution_time: f64,
    pub react_traces: Vec<ReActTrace>,
    /// Completed tasks among those that ran.
    #[serde(default)]
    pub success_rate: f64,
    /// The mean time of an attempt, in milliseconds.
    #[serde(default)]
    pub average_task_time_ms: f64,
    /// The mean confidence of each attempt's observations, by the id of its trace.
    #[serde(default)]
    pub trace_confidence: BTreeMap<String, f64>,
    pub execution_log: Vec<String>,
    /// What planner and coordinator decided, and why.
    #[serde(default)]
    pub react_log: Vec<DecisionLogEntry>,
}

impl ExecutionResult {
    /// Completed tasks among those that ran; 0 if none did.
    pub fn success_rate(&self) -> f64 {
        let ran = self.completed_tasks.len() + self.failed_tasks.len();
        if ran == 0 { 0.0 } else { self.completed_tasks.len() as f64 / ran as f64 }
    }

    /// The mean time of an attempt, in milliseconds; 0 if there was none.
    pub fn average_task_time(&self) -> f64 {
        if self.react_traces.is_empty() {
            return 0.0;
        }
        let sum: f64 = self.react_traces.iter().map(|trace| trace.execution_time_ms).sum();
        sum / self.react_traces.len() as f64
    }

    /// Folds a session's records.
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut folding = ExecutionResultFold::default();
        records.into_iter().for_each(|record| folding.apply(record));
        folding.into_result()
    }
}

/// An attempt that has not ended yet.
struct OpenAttempt {
    began: Timestamp,
    affinity_delta: f64,
    trace: ReActTrace,
    /// An agent tells its steps itself; its calls are among them.
    by_agent: bool,
}

#[derive(Default)]
struct ExecutionResultFold {
    state: SessionState,
    open: BTreeMap<TaskId, OpenAttempt>,
    done: Vec<ReActTrace>,
    log: Vec<String>,
    decisions: DecisionLog,
}

impl ExecutionResultFold {
    fn apply(&mut self, record: &Record) {
        self.decisions.observe_before(&self.state, record);
        self.state.apply(record);
        self.decisions.observe_after(&self.state, record);
        match &record.event {
            Event::Task(event) => self.apply_task(event, record.at),
            Event::Call(event) => self.apply_call(event, record.at),
            Event::Agent(event) => self.apply_agent(event),
            Event::Run(_) | Event::Plan(_) | Event::Session(SessionEvent::AnomalyNoted { .. }) => {}
            _ => return,
        }
        if let Some(entry) = TraceEntry::from_record(record)
            .filter(|_| !matches!(record.event, Event::Call(_) | Event::Agent(_)))
        {
            let task = entry.task.map(|task| format!("{task} ")).unwrap_or_default();
            self.log.push(format!("{task}{}: {}", entry.kind.label(), entry.text));
        }
    }

    fn apply_task(&mut self, event: &TaskEvent, at: Timestamp) {
        match event {
            TaskEvent::Started { task, attempt, affinity_delta, .. } => {
                let trace = ReActTrace {
                    trace_id: format!("{task}_{}_{attempt}", at.as_millisecond()),
                    task_id: task.clone(),
                    steps: Vec::new(),
                    final_answer: None,
                    total_tokens_used: 0,
                    execution_time_ms: 0.0,
                    success: false,
                    error_message: None,
                };
                let (began, affinity_delta) = (at, *affinity_delta);
                let open = OpenAttempt { began, affinity_delta, trace, by_agent: false };
                self.open.insert(task.clone(), open);
            }
            TaskEvent::Completed { task, .. } => self.close_attempt(task, at, Ok(())),
            TaskEvent::Failed { task, failure, .. } => {
                self.close_attempt(task, at, Err(failure.message.clone()));
            }
            TaskEvent::Reset { task, why } => self.close_attempt(task, at, Err(why.clone())),
            TaskEvent::Held { .. }
            | TaskEvent::AwaitingClose { .. }
            | TaskEvent::ResultsKept { .. }
            | TaskEvent::Ready { .. }
            | TaskEvent::Skipped { .. }
            | TaskEvent::HandedOver { .. }
            | TaskEvent::OccurrenceSettled { .. }
            | TaskEvent::Reopened { .. }
            | TaskEvent::Noted { .. } => {}
        }
    }

    fn close_attempt(&mut self, task: &TaskId, at: Timestamp, outcome: Result<(), String>) {
        let Some(OpenAttempt { began, mut trace, .. }) = self.open.remove(task) else { return };
        trace.execution_time_ms = at.duration_since(began).as_millis_f64();
        trace.success = outcome.is_ok();
        trace.error_message = outcome.err();
        self.done.push(trace);
    }

    /// The steps of an agent, as it told them.
    fn apply_agent(&mut self, event: &AgentEvent) {
        let mut standing = match event {
            AgentEvent::Acted { task, .. } => Some(self.graph_standing(task)),
            _ => None,
        };
        let Some(open) = event.task_id().and_then(|task| self.open.get_mut(task)) else { return };
        open.by_agent = true;
        let trace = &mut open.trace;
        match event {
            AgentEvent::Thought { step, .. } => trace.steps.push((**step).clone()),
            AgentEvent::Acted { step, .. } => {
                let mut step = (**step).clone();
                if let Some((depth, unlocked)) = standing.take() {
                    step.metadata.task_depth = Some(depth);
                    step.metadata.unlock_events = Some(unlocked);
                }
                step.metadata.work = None;
                trace.steps.push(step);
            }
            AgentEvent::Observed { step, .. } => {
                if let Some(action) = trace.steps.iter_mut().rfind(|step| step.is_action_step()) {
                    action.confidence_score = step.confidence_score;
                }
                trace.steps.push((**step).clone());
            }
            AgentEvent::ModelAnswered { tokens, .. } | AgentEvent::ModelFailed { tokens, .. } => {
                trace.total_tokens_used = trace.total_tokens_used.saturating_add(*tokens);
            }
            AgentEvent::Concluded { answer, tokens, .. } => {
                trace.final_answer = Some(answer.clone());
                trace.total_tokens_used = trace.total_tokens_used.max(*tokens);
            }
            _ => {}
        }
    }

    fn apply_call(&mut self, event: &CallEvent, at: Timestamp) {
        let task = &event.call_id().task;
        let metadata = self.step_metadata(event);
        let Some(OpenAttempt { trace, by_agent: false, .. }) = self.open.get_mut(task) else {
            return;
        };
        let acting = trace.steps.iter().rfind(|step| step.is_action_step());
        let tool_used = acting.and_then(|step| step.tool_used.clone());
        let step = |action, content: String| ReActStep {
            timestamp: at,
            task_id: task.clone(),
            action,
            content,
            tool_used,
            tool_input: None,
            tool_output: None,
            confidence_score: None,
            metadata,
        };
        match event {
            CallEvent::Intended { tool, input, .. } => trace.steps.push(ReActStep {
                tool_used: Some(tool.clone()),
                tool_input: Some(input.clone()),
                ..step(StepAction::Action, tool.clone())
            }),
            CallEvent::Spawned { .. } => {}
            CallEvent::Output { text, .. } | CallEvent::Spooled { tail: text, .. } => {
                trace.steps.push(step(StepAction::Observation, text.clone()));
            }
            CallEvent::Concluded { outcome, usage, .. } => {
                trace.total_tokens_used = trace.total_tokens_used.saturating_add(usage.tokens);
                let confidence = Some(outcome_confidence(outcome));
                // The score of an observation is also the score of the action that caused it.
                if let Some(action) = trace.steps.iter_mut().rfind(|step| step.is_action_step()) {
                    action.confidence_score = confidence;
                }
                trace.steps.push(ReActStep {
                    confidence_score: confidence,
                    tool_output: Some(json!({ "outcome": outcome })),
                    ..step(StepAction::Observation, outcome_text(outcome))
                });
            }
        }
    }

    /// What the contract asks for beside a step; the unlocked tasks are those whose dependencies hold at that moment.
    fn step_metadata(&self, event: &CallEvent) -> StepMetadata {
        let iteration = Some(event.call_id().step);
        let mut metadata = StepMetadata { iteration, ..StepMetadata::default() };
        let CallEvent::Intended { call, .. } = event else { return metadata };
        let (depth, unlocked) = self.graph_standing(&call.task);
        metadata.task_depth = Some(depth);
        metadata.unlock_events = Some(unlocked);
        let delta = self.open.get(&call.task).map_or(0.0, |open| open.affinity_delta);
        metadata.affinity_delta = Some(delta);
        metadata
    }

    /// Where a task stands in the graph while it acts: its depth, and the tasks that may start.
    fn graph_standing(&self, task: &TaskId) -> (u32, Vec<TaskId>) {
        let depth = self.state.tasks.position(task).and_then(|task| {
            self.state
                .plan
                .current
                .as_ref()
                .and_then(|current| current.facts.depth.get(task).copied())
        });
        (depth.unwrap_or(0), self.state.unlocked_tasks().into_iter().cloned().collect())
    }

    fn into_result(mut self) -> ExecutionResult {
        for (_, open) in std::mem::take(&mut self.open) {
            self.done.push(open.trace);
        }
        let mut result = ExecutionResult {
            success: !self.state.tasks.is_empty()
                && self.state.tasks.status_counts().done
                    == self.state.tasks.status_counts().total(),
            react_traces: self.done,
            execution_log: self.log,
            react_log: self.decisions.entries,
            ..ExecutionResult::default()
        };
        for (id, row) in self.state.tasks.iter() {
            match row.status {
                TaskStatus::Done => {
                    result.completed_tasks.insert(id.clone());
                }
                TaskStatus::Failed => {
                    result.failed_tasks.insert(id.clone());
                }
                TaskStatus::Skipped(reason) => {
                    result.skipped_tasks.insert(id.clone(), reason.as_str().to_owned());
                }
                _ => {}
            }
        }
        result.success_rate = result.success_rate();
        result.average_task_time_ms = result.average_task_time();
        let confidence =
            |trace: &ReActTrace| (trace.trace_id.clone(), trace.calculate_confidence());
        result.trace_confidence = result.react_traces.iter().map(confidence).collect();
        let ended = self.state.run.finished_at.or(self.state.at).unwrap_or_default();
        result.execution_time = self.state.run.worked_ms(ended) as f64 / 1e3;
        result
    }
}

/// How sure one can be of what a call did: its exit code says it.
fn outcome_confidence(outcome: &CallOutcome) -> f64 {
    match outcome {
        CallOutcome::Exited { code: 0 } | CallOutcome::Verified => 1.0,
        CallOutcome::SaidToHaveHappened => 0.5,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use planwright_model::event::arbitrary::journal;

    proptest! {
        #[test]
        fn any_journal_has_a_result(records in journal(60)) {
            let result = ExecutionResult::from_records(&records);
            let state = SessionState::from_records(&records);
            prop_assert_eq!(result.completed_tasks.len() as u32, state.tasks.status_counts().done);
            prop_assert!((0.0..=1.0).contains(&result.success_rate()));
            prop_assert!(result.average_task_time() >= 0.0);
            let json = serde_json::to_string(&result).unwrap();
            prop_assert_eq!(serde_json::from_str::<ExecutionResult>(&json).unwrap(), result);
        }
    }

    #[test]
    fn nothing_run_is_no_success() {
        let result = ExecutionResult::from_records(&[]);
        assert!(!result.success);
        assert!(result.success_rate().abs() < f64::EPSILON);
    }
}
