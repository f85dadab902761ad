//! Exit criteria of commands: after a command succeeded, each criterion is checked by a call of its own. The checks were
//! approved with the plan, and repeating one is safe.

use std::path::PathBuf;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{DeferredAction, Driver};
use crate::CallDurability;
use crate::coordinator::criteria::{
    CheckProgress, check_progress, criterion_failure, outdated_failure,
};
use crate::coordinator::values::computed_variables;
use planwright_drafting::executor::criteria::{
    criterion_trigger, describe_criterion, evaluate_local_criteria,
};
use planwright_model::event::{CallEvent, CallOutcome, OutputStream, RepeatClass, RiskClass};
use planwright_model::task::CriterionEffect;
use planwright_model::{CallId, Category, Digest, ExecutionFailure, ExitCriterion};
use planwright_state::check_step;
use planwright_state::trace::outcome_text;
use planwright_tools::{AttemptWork, TaskAttempt, TaskRef};

/// How much of a command's output is kept for criteria that look into it.
const MAX_CAPTURED: usize = 1024 * 1024;

impl Driver {
    /// Keeps what a command prints where a criterion will look into it.
    pub(super) fn capture_output(&mut self, call: &CallId, stream: OutputStream, text: &str) {
        let node = self.state.tasks.position(&call.task).and_then(|task| self.task_node(task));
        let is_read = node.is_some_and(|node| {
            node.has_checks() && node.exit_criteria.iter().any(reads_output) && call.step == 1
        });
        if is_read && stream == OutputStream::Stdout {
            let kept = self.captured.entry(call.task.clone()).or_default();
            if kept.len() + text.len() <= MAX_CAPTURED {
                kept.push_str(text);
            }
        }
    }

    /// Goes on with the checks of a task after its command or one of them has ended. `false` if it has none to make.
    pub(super) fn continue_checks(&mut self, call: &CallId, outcome: &CallOutcome) -> bool {
        let Some(task) = self.state.tasks.position(&call.task) else { return false };
        if self.state.tasks.row(task).checks.is_none() || *outcome == CallOutcome::Cancelled {
            self.captured.remove(&call.task);
            return false;
        }
        if call.step == 1 {
            self.check_output(task, call);
        }
        self.advance_checks(task);
        true
    }

    /// Makes the next check of a task, or settles it.
    pub(super) fn advance_checks(&mut self, task: usize) {
        let current = self.state.plan.current.as_ref();
        let Some(node) = current.and_then(|current| TaskRef::new(&current.plan, task)) else {
            return;
        };
        let row = self.state.tasks.row(task);
        let Some(checks) = row.checks.as_deref() else { return };
        let (attempt, elapsed_ms) = (row.attempt, checks.elapsed_ms);
        let how = row.last_outcome.as_ref().map(finding_text);
        let call = |step| CallId { task: node.id.clone(), attempt, step };
        let ended = CallOutcome::Exited { code: 0 };
        match check_progress(&node.exit_criteria, &checks.findings) {
            CheckProgress::Next(at) => self.start_check(task, &node, at, call(check_step(at))),
            CheckProgress::Met => {
                self.up_to_date.remove(&node.id);
                self.options.executor.confirm_attempt(self.journal.session(), &call(1));
                self.apply_verdict(&call(1), Ok(()), &ended, elapsed_ms);
            }
            CheckProgress::Failed(at) => {
                let mut failure = criterion_failure(&node.exit_criteria[at], how.as_deref());
                if self.up_to_date.remove(&node.id) {
                    failure = outdated_failure(&failure);
                }
                self.apply_verdict(&call(1), Err(failure), &ended, elapsed_ms);
            }
        }
    }

    /// Finds out at once what only the output of the command can tell.
    fn check_output(&mut self, task: usize, command: &CallId) {
        let printed = self.captured.remove(&command.task).unwrap_or_default();
        let Some(node) = self.task_node(task) else { return };
        let output: Option<Value> = serde_json::from_str(printed.trim()).ok();
        let outputs: Vec<&Value> = output.iter().collect();
        let findings = evaluate_local_criteria(&node.exit_criteria, |_| false, &outputs);
        let read: Vec<(usize, ExitCriterion)> = (node.exit_criteria.iter().cloned().enumerate())
            .filter(|(_, criterion)| reads_output(criterion))
            .collect();
        for (at, criterion) in read {
            let call = CallId { step: check_step(at), ..command.clone() };
            // Only an attempt that met its criteria is used again, and its output is not there any more.
            let is_known = self.up_to_date.contains(&command.task);
            let outcome = if is_known {
                let is_met = criterion_trigger(&criterion) == CriterionEffect::Success;
                CallOutcome::Exited { code: i32::from(!is_met) }
            } else {
                output_finding(output.is_some(), findings.get(&at).copied())
            };
            let is_met = outcome == CallOutcome::Exited { code: 0 };
            self.record(check_intent(&call, &criterion));
            self.record(CallEvent::concluded_without_output(call, outcome));
            // The first that is not as it should be decides, and what is said is about that one.
            if is_met != (criterion_trigger(&criterion) == CriterionEffect::Success) {
                return;
            }
        }
    }

    fn start_check(&mut self, task: usize, node: &TaskRef, at: usize, call: CallId) {
        let criterion = &node.exit_criteria[at];
        let work = match criterion {
            ExitCriterion::Command { command, .. } => {
                if !self.is_permitted(task, node, &call, command) {
                    return;
                }
                AttemptWork::CheckCommand(command.clone())
            }
            ExitCriterion::FileExists { path, .. } => AttemptWork::CheckFile(path.clone()),
            // What the output says was found out when the command ended; a session of another version may lack it.
            ExitCriterion::JsonPath { .. }
            | ExitCriterion::Text { .. }
            | ExitCriterion::Judged { .. } => {
                self.record(check_intent(&call, criterion));
                let outcome = CallOutcome::Exited { code: 1 };
                self.record(CallEvent::concluded_without_output(call, outcome));
                return self.advance_checks(task);
            }
        };
        self.record(check_intent(&call, criterion));
        self.running.insert(call.clone(), CancellationToken::new());
        let attempt = TaskAttempt {
            session: self.journal.session().clone(),
            call,
            task: node.clone(),
            work,
            workspace: PathBuf::from(&self.state.session.workspace),
            confined: self.is_confined(node),
            // A check sees what its command saw; what was missing has failed the command.
            variables: computed_variables(&self.state, node).unwrap_or_default(),
        };
        if self.options.durability == CallDurability::Grouped {
            self.early.push(attempt);
        } else {
            self.starts.push(DeferredAction::Attempt(Box::new(attempt)));
        }
    }

    /// Goes on with checks that an answer or the end of another process has held up.
    pub(super) fn resume_checks(&mut self) {
        for task in std::mem::take(&mut self.unchecked) {
            let row = self.state.tasks.row(task);
            if row.checks.is_some() && row.call.is_none() {
                self.advance_checks(task);
            }
        }
    }

    /// Whether the checks of a task wait for somebody to go on with them.
    pub(super) fn has_open_checks(&self, task: usize) -> bool {
        let row = self.state.tasks.row(task);
        row.checks.is_some() && row.call.is_none()
    }
}

/// How a check ended, in words.
fn finding_text(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Errored { failure } => failure.message.clone(),
        other => outcome_text(other),
    }
}

/// What a look into the output of a command found. Where there was nothing to look at, that is said.
fn output_finding(is_json: bool, found: Option<bool>) -> CallOutcome {
    let message = match (is_json, found) {
        (_, Some(found)) => return CallOutcome::Exited { code: i32::from(!found) },
        (true, None) => "what it printed has no such field",
        (false, None) => "what it printed to standard output is not one JSON value",
    };
    let failure = ExecutionFailure::new("criteria_unmet", Category::Critical, message);
    CallOutcome::Errored { failure }
}

fn reads_output(criterion: &ExitCriterion) -> bool {
    matches!(criterion, ExitCriterion::JsonPath { .. })
}

pub(super) fn check_intent(call: &CallId, criterion: &ExitCriterion) -> CallEvent {
    let (input, class) = match criterion {
        ExitCriterion::Command { command, .. } => {
            (json!({ "command": command }), RiskClass::Execute)
        }
        other => (json!({ "criterion": describe_criterion(other) }), RiskClass::Read),
    };
    CallEvent::Intended {
        call: call.clone(),
        tool: "check".to_owned(),
        version: "1".to_owned(),
        input_hash: Digest::from_json(&input),
        input,
        class,
        repeat: RepeatClass::Safe,
        file: None,
    }
}
