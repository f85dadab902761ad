//! Exit criteria after changes were applied. What an agent checked in its own copy need not hold in the workspace once
//! others changed it too, so the criteria of the task, and of those applied since its copy was made, are checked there
//! again before the task is done. The checks were approved with the plan, and repeating one is safe: a run of them that
//! is cut off begins anew.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::checks::check_intent;
use super::{DeferredAction, Driver};
use planwright_drafting::executor::criteria::{criterion_trigger, describe_criterion};
use planwright_model::event::{ApprovalEvent, CallOutcome, WorktreeEvent};
use planwright_model::requests::{AppliedCheckReview, applied_check_request};
use planwright_model::task::CriterionEffect;
use planwright_model::{CallId, ExitCriterion, FailedCheck, Request, RequestKind, TaskId};
use planwright_state::trace::outcome_text;
use planwright_state::{TaskWorktree, WorkspaceCheck};
use planwright_tools::text_limit::last_chars;
use planwright_tools::{AttemptWork, TaskAttempt, TaskRef};

/// The numbers of these checks are beyond those of an agent's calls.
const FIRST_CHECK: u32 = u32::MAX / 4;
const LAST_CHECK: u32 = u32::MAX / 2;
/// How much of what a check prints is kept for the card and for the agent.
const KEPT_OUTPUT: usize = 4_000;

/// Whether a call checks a criterion after changes were applied.
pub(super) fn is_applied_check(call: &CallId) -> bool {
    (FIRST_CHECK..LAST_CHECK).contains(&call.step)
}

/// A criterion that is checked in the workspace.
#[derive(Clone, Debug)]
struct DueCheck {
    /// The task whose criterion it is.
    task: TaskId,
    criterion: ExitCriterion,
}

/// The checks of one task's applied changes.
#[derive(Debug)]
pub(super) struct AppliedCheckRun {
    attempt: u32,
    /// The one under way and those that follow.
    due: VecDeque<DueCheck>,
    made: u32,
    failures: Vec<FailedCheck>,
    /// The end of what the one under way printed.
    output: String,
}

impl Driver {
    /// Begins to check the criteria that may have come apart. False if there are none.
    pub(super) fn start_applied_checks(&mut self, call: &CallId, copy: &TaskWorktree) -> bool {
        if self.applied_checks.contains_key(&call.task) {
            return true;
        }
        let due = self.due_checks(&call.task, copy);
        if due.is_empty() {
            return false;
        }
        let run = AppliedCheckRun {
            attempt: call.attempt,
            due,
            made: 0,
            failures: Vec::new(),
            output: String::new(),
        };
        // A task that was resumed here has the workspace to itself as well.
        self.applying.insert(call.task.clone());
        self.applied_checks.insert(call.task.clone(), run);
        self.continue_applied_checks(&call.task);
        true
    }

    fn due_checks(&self, own: &TaskId, copy: &TaskWorktree) -> VecDeque<DueCheck> {
        let mut due: VecDeque<DueCheck> = VecDeque::new();
        if !copy.moved || !copy.criteria_met {
            return due;
        }
        let held = |task: &&TaskId| {
            self.state.worktrees.get(task).is_some_and(|other| {
                let settled =
                    matches!(other.check, WorkspaceCheck::NotMade | WorkspaceCheck::Passed);
                other.is_applied() && other.criteria_met && settled
            })
        };
        let others = copy.applied_meanwhile.iter().filter(held);
        for task in std::iter::once(own).chain(others) {
            let node = self.state.tasks.position(task).and_then(|task| self.task_node(task));
            for criterion in node.iter().flat_map(|node| &node.exit_criteria) {
                let repeatable = matches!(
                    criterion,
                    ExitCriterion::Command { .. } | ExitCriterion::FileExists { .. }
                );
                if repeatable && !due.iter().any(|known| known.criterion == *criterion) {
                    due.push_back(DueCheck { task: task.clone(), criterion: criterion.clone() });
                }
            }
        }
        due
    }

    /// Starts the next check, or says what came of them all.
    fn continue_applied_checks(&mut self, task: &TaskId) {
        let Some(run) = self.applied_checks.get(task) else { return };
        let (attempt, made) = (run.attempt, run.made);
        let Some(next) = run.due.front().cloned() else {
            let Some(run) = self.applied_checks.remove(task) else { return };
            let (task, failures) = (task.clone(), run.failures);
            self.record(WorktreeEvent::Checked { task: task.clone(), attempt, failures });
            return self.resume_review(&task);
        };
        let position = self.state.tasks.position(task);
        let current = self.state.plan.current.as_ref();
        let node = position.zip(current).and_then(|(at, current)| TaskRef::new(&current.plan, at));
        let Some(node) = node else { return };
        let work = match &next.criterion {
            ExitCriterion::Command { command, .. } => {
                if let Some(why) = self.permission_reason(&node, command) {
                    let outcome = format!("not run: {}", why.describe());
                    return self.settle_check(task, Some(outcome));
                }
                AttemptWork::CheckCommand(command.clone())
            }
            ExitCriterion::FileExists { path, .. } => AttemptWork::CheckFile(path.clone()),
            _ => return self.settle_check(task, None),
        };
        let call = CallId { task: task.clone(), attempt, step: FIRST_CHECK + made };
        self.record(check_intent(&call, &next.criterion));
        self.running.insert(call.clone(), CancellationToken::new());
        let attempt = TaskAttempt {
            session: self.journal.session().clone(),
            call,
            task: node,
            work,
            workspace: PathBuf::from(&self.state.session.workspace),
            // As the agent's own commands are.
            confined: true,
            variables: Vec::new(),
        };
        self.starts.push(DeferredAction::Attempt(Box::new(attempt)));
    }

    /// Keeps the end of what a check prints.
    pub(super) fn keep_check_output(&mut self, call: &CallId, text: &str) {
        if !is_applied_check(call) {
            return;
        }
        if let Some(run) = self.applied_checks.get_mut(&call.task) {
            run.output.push_str(text);
            if run.output.len() > 4 * KEPT_OUTPUT {
                run.output = last_chars(&run.output, KEPT_OUTPUT).to_owned();
            }
        }
    }

    /// A check ended: the next one follows.
    pub(super) fn on_applied_check_ended(&mut self, call: &CallId, outcome: &CallOutcome) {
        if self.closing.is_some() {
            // Whoever takes the session up makes the checks again.
            self.applied_checks.remove(&call.task);
            return;
        }
        let Some(next) = self.applied_checks.get(&call.task).and_then(|run| run.due.front()) else {
            return;
        };
        let wanted = criterion_trigger(&next.criterion) == CriterionEffect::Success;
        let succeeded = *outcome == (CallOutcome::Exited { code: 0 });
        let ended = matches!(outcome, CallOutcome::Exited { .. });
        let failed = if ended { succeeded != wanted } else { true };
        self.settle_check(&call.task, failed.then(|| outcome_text(outcome)));
    }

    /// Takes down what came of the check under way, and goes on.
    fn settle_check(&mut self, task: &TaskId, failure: Option<String>) {
        let Some(run) = self.applied_checks.get_mut(task) else { return };
        let output = std::mem::take(&mut run.output);
        run.made += 1;
        let Some(check) = run.due.pop_front() else { return };
        if let Some(outcome) = failure {
            let named = match &check.criterion {
                ExitCriterion::Command { command, .. } => command.clone(),
                other => describe_criterion(other),
            };
            let output = last_chars(output.trim_end(), KEPT_OUTPUT).to_owned();
            run.failures.push(FailedCheck { task: check.task, check: named, outcome, output });
        }
        self.continue_applied_checks(task);
    }

    /// Asks what becomes of changes with which checks fail.
    pub(super) fn ask_about_check(
        &mut self,
        call: &CallId,
        copy: &TaskWorktree,
        failures: &[FailedCheck],
    ) {
        let id = &call.task;
        let asks = |request: &Request| matches!(&request.kind, RequestKind::AppliedCheck { task, .. } if task == id);
        if self.state.requests.open.values().any(|open| asks(&open.request)) {
            return;
        }
        let Some(task) = self.state.tasks.position(id) else { return };
        let Some(node) = self.task_node(task).cloned() else { return };
        let title = |task: &TaskId| self.state.title_by_id(task).to_owned();
        let meanwhile: Vec<String> = copy.applied_meanwhile.iter().map(title).collect();
        let review = AppliedCheckReview {
            task: &node,
            attempt: call.attempt,
            failures,
            changes: copy
                .proposal
                .as_ref()
                .map(planwright_model::ChangeProposal::describe)
                .unwrap_or_default(),
            meanwhile: &meanwhile,
            conflicts: &copy.conflicts,
            dependents: &self.dependent_titles(task),
        };
        let request = applied_check_request(self.state.requests.next_id(), &review);
        self.record(ApprovalEvent::Asked { request: Arc::new(request) });
    }
}
