//! Calls at work: what they report, how they end, and what their end means for the tasks.

use std::sync::Arc;

use tokio::task::JoinError;

use super::applied_checks::is_applied_check;
use super::worktrees::{ReviewProgress, is_worktree_job};
use super::{Driver, TURN, panic_text};
use crate::coordinator;
use crate::worktree_runner::WorktreeAction;
use planwright_agents::HANDED_OVER;
use planwright_model::event::{CallEvent, CallOutcome, SessionEvent, TaskEvent};
use planwright_model::{CallId, Category, ExecutionFailure, SkipReason, TaskNode};
use planwright_state::TaskWorktree;
use planwright_tools::{
    AttemptEvent, AttemptEventSink, AttemptOutcome, AttemptReport, TaskAttempt,
};

impl Driver {
    /// Handles a worker's end and those of all others that have ended, each after its last report.
    pub(super) fn on_worker_ends(&mut self, first: Result<(tokio::task::Id, ()), JoinError>) {
        let mut next = Some(first);
        while let Some(ended) = next {
            self.drain_reports();
            self.on_worker_end(ended);
            next = self.workers.try_join_next_with_id();
        }
    }

    pub(super) fn drain_reports(&mut self) {
        for _ in 0..TURN {
            match self.reports.try_recv() {
                Ok((call, report)) => self.on_report(&call, report),
                Err(_) => return,
            }
        }
    }

    pub(super) fn on_report(&mut self, call: &CallId, report: AttemptReport) {
        if !self.running.contains_key(call) && !self.leftover_calls.contains_key(call) {
            let what = format!("a report about {call}, which is already settled, was refused");
            self.record(SessionEvent::AnomalyNoted { what });
            return;
        }
        let call = call.clone();
        match report {
            AttemptReport::Event(AttemptEvent::Spawned { pid, started_ticks }) => {
                self.record(CallEvent::Spawned { call, pid, started_ticks });
            }
            AttemptReport::Event(AttemptEvent::Output { stream, text }) => {
                self.capture_output(&call, stream, &text);
                self.keep_check_output(&call, &text);
                if self.options.features.react_tracing {
                    self.record(CallEvent::Output { call, stream, text });
                }
            }
            AttemptReport::Event(AttemptEvent::Results { results, reused }) => {
                self.results.insert(call, (results, reused));
            }
            AttemptReport::Event(AttemptEvent::Ready) => {
                let CallId { task, attempt, .. } = call;
                self.record(TaskEvent::Ready { task, attempt });
            }
            AttemptReport::Event(AttemptEvent::Spooled { stream, range, text }) => {
                self.capture_output(&call, stream, &text);
                self.keep_check_output(&call, &text);
                if self.options.features.react_tracing {
                    self.record(CallEvent::spooled(call, stream, range, &text));
                }
            }
            AttemptReport::Ended(ended) => self.on_attempt_ended(&call, ended),
        }
    }

    fn on_attempt_ended(&mut self, call: &CallId, ended: AttemptOutcome) {
        let AttemptOutcome { mut outcome, elapsed, output_bytes, dropped_bytes, usage } = ended;
        self.record_results(call, &mut outcome);
        if matches!(&outcome, CallOutcome::Errored { failure } if failure.code == "rate_limited") {
            self.rate_limited += 1;
        }
        let elapsed_ms = elapsed.as_millis() as u64;
        // An agent's attempt is no call of its own; its calls were journaled one by one.
        if call.step > 0 && !is_worktree_job(call) {
            self.record(CallEvent::Concluded {
                call: call.clone(),
                outcome: outcome.clone(),
                elapsed_ms,
                output_bytes,
                dropped_bytes,
                usage,
            });
        }
        self.running.remove(call);
        if self.silent_calls.remove(call) {
            return;
        }
        if is_worktree_job(call) {
            return self.resume_review(&call.task);
        }
        if is_applied_check(call) {
            return self.on_applied_check_ended(call, &outcome);
        }
        if !self.end_service(call, &outcome, elapsed_ms) && !self.continue_checks(call, &outcome) {
            self.end_attempt(call, &outcome, elapsed_ms);
        }
    }

    /// What the last report of an attempt leads to: its questions are withdrawn and its task is settled.
    pub(super) fn end_attempt(&mut self, call: &CallId, outcome: &CallOutcome, elapsed_ms: u64) {
        self.withdraw_attempt_requests(call);
        self.apply_verdict(call, coordinator::judge_outcome(outcome), outcome, elapsed_ms);
    }

    /// A worker that ended without a last report has panicked; that fails its task and nothing else.
    pub(super) fn on_worker_end(&mut self, ended: Result<(tokio::task::Id, ()), JoinError>) {
        let (id, message) = match ended {
            Ok((id, ())) => (id, "the task ended without saying how".to_owned()),
            Err(error) => (error.id(), panic_message(error)),
        };
        let Some(call) = self.worker_calls.remove(&id) else { return };
        if self.running.remove(&call).is_none() {
            return;
        }
        let outcome = CallOutcome::CouldNotStart { message: message.clone() };
        if !is_worktree_job(&call) {
            self.record(CallEvent::concluded_without_output(call.clone(), outcome.clone()));
        }
        if is_applied_check(&call) {
            return self.on_applied_check_ended(&call, &outcome);
        }
        let failure = ExecutionFailure::new("internal_error", Category::Critical, message);
        self.apply_verdict(&call, Err(failure), &outcome, 0);
    }

    /// Ends a task's attempt after its call ended.
    pub(super) fn apply_verdict(
        &mut self,
        call: &CallId,
        verdict: Result<(), ExecutionFailure>,
        outcome: &CallOutcome,
        elapsed_ms: u64,
    ) {
        // Ended because this process is leaving: whether to run it again is for the next one to find out.
        if self.closing.is_some() && *outcome == CallOutcome::Cancelled {
            return;
        }
        let Some(task) = self.state.tasks.position(&call.task) else { return };
        let attempt = call.attempt;
        let (mut elapsed_ms, mut verdict) = (elapsed_ms, verdict);
        if verdict.is_ok() && call.step == 0 {
            match self.continue_review(call, elapsed_ms) {
                ReviewProgress::NotNeeded => {}
                ReviewProgress::Waiting => return,
                ReviewProgress::Over { elapsed_ms: worked } => elapsed_ms = worked,
                ReviewProgress::Failed { failure, elapsed_ms: worked } => {
                    (verdict, elapsed_ms) = (Err(failure), worked);
                }
            }
        }
        match verdict {
            Ok(()) if self.state.close_hold(task, (self.options.clock)()).is_some() => {
                let id = call.task.clone();
                self.record(TaskEvent::AwaitingClose { task: id, attempt, elapsed_ms });
                self.closable.push(task);
            }
            Ok(()) => {
                let completed = TaskEvent::completed(call.task.clone(), attempt, elapsed_ms);
                self.record_completion(task, completed);
            }
            Err(failure) if failure.code == "cap_reached" => self.pause_for_budget(call, &failure),
            Err(failure) if failure.code == HANDED_OVER => {
                self.record(TaskEvent::HandedOver { task: call.task.clone() });
            }
            Err(failure) => {
                let failure = self.name_abort_cause(call, failure);
                let node = self.task_node(task);
                let retry_in_ms = node
                    .and_then(|node| coordinator::next_attempt_delay_ms(node, &failure, attempt));
                let tolerated = node.is_some_and(|node| node.continue_on_error);
                let gone = retry_in_ms.is_none() && !tolerated;
                self.record(TaskEvent::Failed {
                    task: call.task.clone(),
                    attempt,
                    elapsed_ms,
                    failure,
                    retry_in_ms,
                });
                if gone {
                    self.skip_after_failure(task);
                }
            }
        }
    }

    pub(super) fn record_completion(&mut self, task: usize, completed: TaskEvent) {
        self.record(completed);
        self.revive_dependents(task);
    }

    pub(super) fn revive_dependents(&mut self, task: usize) {
        for revived in coordinator::revivable_dependents(&self.state.tasks, task) {
            let task = self.state.tasks.id(revived).clone();
            self.record(TaskEvent::Reset { task, why: "what it needs is done now".to_owned() });
        }
    }

    pub(super) fn skip_after_failure(&mut self, task: usize) {
        for event in coordinator::skips_after_failure(&self.state, task) {
            self.record(event);
        }
        let failure = self.state.tasks.row(task).failure.clone();
        // Who knows what the rest of the run would do with hooks and settings that nobody looked at.
        let tampered = failure.is_some_and(|failure| failure.code == "protected_changed");
        let fails_fast =
            self.state.plan.current.as_ref().is_some_and(|current| current.plan.fail_fast);
        if tampered || fails_fast || self.task_node(task).is_some_and(TaskNode::aborts_on_failure) {
            for event in coordinator::skips_of_pending(&self.state, SkipReason::Aborted) {
                self.record(event);
            }
            self.abort_running(task);
        }
    }

    /// Ends what runs because a task failed. Services end by themselves when nobody needs them any more.
    fn abort_running(&mut self, failed: usize) {
        let cause = self.state.tasks.id(failed);
        for (call, cancel) in &self.running {
            let is_service =
                self.state.tasks.position(&call.task).is_some_and(|it| self.services.contains(&it));
            if !is_service {
                self.aborted.insert(call.clone(), cause.clone());
                cancel.cancel();
            }
        }
    }

    /// Why an attempt was cancelled that nobody asked to stop.
    fn name_abort_cause(&mut self, call: &CallId, failure: ExecutionFailure) -> ExecutionFailure {
        match self.aborted.remove(call) {
            Some(cause) if failure.code == "cancelled" => {
                let title = self.state.title_by_id(&cause);
                let message = format!("cancelled because {title} failed");
                ExecutionFailure { message, ..failure }
            }
            _ => failure,
        }
    }

    pub(super) fn start_attempt(&mut self, attempt: TaskAttempt) {
        let Some(cancel) = self.running.get(&attempt.call).cloned() else { return };
        let call = attempt.call.clone();
        let events = AttemptEventSink::new(call.clone(), self.reports_in.clone());
        let executor = Arc::clone(&self.options.executor);
        let worker = self.workers.spawn(async move {
            let outcome = executor.start(attempt, events.clone(), cancel).await;
            events.finish(outcome).await;
        });
        self.worker_calls.insert(worker.id(), call);
    }
}

impl Driver {
    /// Does something with the copy of a task, beside the attempts.
    pub(super) fn start_worktree_action(
        &mut self,
        call: CallId,
        action: WorktreeAction,
        copy: TaskWorktree,
    ) {
        let events = AttemptEventSink::new(call.clone(), self.reports_in.clone());
        let (copies, own) = (self.options.worktrees.clone(), call.clone());
        let worker = self.workers.spawn(async move {
            if let Some(copies) = copies {
                copies.run_action((&own.task, own.attempt), &copy, action).await;
            }
            events.finish(AttemptOutcome::without_output(CallOutcome::Exited { code: 0 })).await;
        });
        self.worker_calls.insert(worker.id(), call);
    }
}

pub(super) fn panic_message(error: JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "the task was aborted".to_owned() };
    format!("the task panicked: {}", panic_text(&*panic))
}
