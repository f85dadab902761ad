//! What follows when the work of a task in its own copy is done: its changes are looked at, then applied, asked about, or
//! there are none. Only then is the task done.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{DeferredAction, Driver};
use crate::worktree_runner::WorktreeAction;
use planwright_model::event::{AgentEvent, ApprovalEvent, DiscardCause, TaskEvent, WorktreeEvent};
use planwright_model::request::RequestDetail;
use planwright_model::requests::{
    ChangeReview, change_review_request, files_with_conflict_markers,
};
use planwright_model::{
    Autonomy, CallId, Category, ExecutionFailure, Request, RequestKind, TaskId,
};
use planwright_state::agent_progress::CHANGES_UNDONE;
use planwright_state::{TaskWorktree, WorkspaceCheck, WorktreePhase};

/// Jobs with copies are no calls of an agent; their numbers are beyond those.
const FIRST_WORKTREE_STEP: u32 = u32::MAX / 2;

/// Whether a call is a job with the copy of a task, which the journal knows by what came of it.
pub(super) fn is_worktree_job(call: &CallId) -> bool {
    call.step > FIRST_WORKTREE_STEP
}

/// Where the review of a task's changes stands.
#[derive(Clone, PartialEq)]
pub(super) enum ReviewProgress {
    /// The task has no copy, or nothing waits in it.
    NotNeeded,
    /// Something is under way or waits for the person.
    Waiting,
    /// The changes are in the workspace; the work took this long.
    Over { elapsed_ms: u64 },
    /// There is nothing to apply any more: the person had it undone, or no agent has a result.
    Failed { failure: ExecutionFailure, elapsed_ms: u64 },
}

impl Driver {
    /// Takes the next step of a review.
    pub(super) fn continue_review(&mut self, call: &CallId, elapsed_ms: u64) -> ReviewProgress {
        let id = &call.task;
        if self.state.tasks.position(id).is_some_and(|task| self.state.awaits_pick(task)) {
            return self.continue_pick(call);
        }
        if !self.state.agents.has_handed_in(id, call.attempt) {
            return ReviewProgress::NotNeeded;
        }
        let Some(copy) = self.state.worktrees.get(id).cloned() else {
            self.conclude_task(call);
            return ReviewProgress::NotNeeded;
        };
        if self.closing.is_some() {
            return ReviewProgress::Waiting;
        }
        match copy.phase {
            WorktreePhase::Open => {
                // Earlier attempts in the same copy are part of the work.
                let elapsed_ms = copy.elapsed_ms.saturating_add(elapsed_ms);
                self.start_worktree_job(id, WorktreeAction::Review { elapsed_ms });
            }
            WorktreePhase::Proposed if self.waiting_pick(id).is_some() => {
                return self.hold_candidate(call, &copy);
            }
            WorktreePhase::Proposed => return self.decide_review(call, &copy),
            WorktreePhase::Applying if self.applying.contains(id) => {
                let error = Some("it was interrupted".to_owned());
                let (task, conflicts) = (id.clone(), Vec::new());
                self.record(WorktreeEvent::ApplyFailed { task, conflicts, error });
                return self.continue_review(call, elapsed_ms);
            }
            WorktreePhase::Applying => self.start_apply(id),
            WorktreePhase::Applied => return self.review_applied(call, &copy),
            // The workspace is being restored; what follows is known then.
            WorktreePhase::Undoing => {}
            WorktreePhase::Undone => {
                let message = "its checks failed in the workspace, and its changes were undone";
                let failure = ExecutionFailure::new(CHANGES_UNDONE, Category::Critical, message);
                return ReviewProgress::Failed { failure, elapsed_ms: copy.elapsed_ms };
            }
            WorktreePhase::Discarded => {
                self.conclude_task(call);
                return ReviewProgress::Over { elapsed_ms: copy.elapsed_ms };
            }
        }
        ReviewProgress::Waiting
    }

    /// Applies the changes of a task. One task at a time: what was checked about the workspace must not change meanwhile.
    fn start_apply(&mut self, id: &TaskId) {
        if self.applying.is_empty() && self.applied_checks.is_empty() {
            self.applying.insert(id.clone());
            self.start_worktree_job(id, WorktreeAction::Apply);
        } else if !self.waiting_applies.contains(id) {
            self.waiting_applies.push_back(id.clone());
        }
    }

    /// Lets the next task apply its changes.
    fn free_workspace(&mut self, id: &TaskId) {
        if self.applying.remove(id)
            && let Some(next) = self.waiting_applies.pop_front()
        {
            self.resume_review(&next);
        }
    }

    /// The changes are in the workspace: the task is done if its criteria are met there as well.
    fn review_applied(&mut self, call: &CallId, copy: &TaskWorktree) -> ReviewProgress {
        let id = &call.task;
        match &copy.check {
            WorkspaceCheck::NotMade if self.start_applied_checks(call, copy) => {
                return ReviewProgress::Waiting;
            }
            WorkspaceCheck::Failed(failures) => {
                self.ask_about_check(call, copy, failures);
                self.free_workspace(id);
                return ReviewProgress::Waiting;
            }
            WorkspaceCheck::NotMade | WorkspaceCheck::Passed | WorkspaceCheck::Accepted => {}
        }
        self.start_silent_job(id, WorktreeAction::RemoveTrees);
        self.conclude_task(call);
        self.free_workspace(id);
        // Picking a result is no work, and 0 would stand for a time that nobody measured.
        ReviewProgress::Over { elapsed_ms: copy.elapsed_ms.max(1) }
    }

    /// The changes are known: there are none, the policy applies them, or the person is asked.
    fn decide_review(&mut self, call: &CallId, copy: &TaskWorktree) -> ReviewProgress {
        let id = &call.task;
        self.free_workspace(id);
        let Some(diffs) = self.reviews.remove(id) else {
            let asks = |request: &Request| matches!(&request.kind, RequestKind::ChangeReview { task, .. } if task == id);
            if !self.state.requests.open.values().any(|open| asks(&open.request)) {
                let elapsed_ms = copy.elapsed_ms;
                self.start_worktree_job(id, WorktreeAction::Review { elapsed_ms });
            }
            return ReviewProgress::Waiting;
        };
        let proposal = copy.proposal.clone().unwrap_or_default();
        if proposal.files.is_empty() && proposal.left_out.is_empty() {
            let (task, cause) = (id.clone(), DiscardCause::NoChanges);
            self.record(WorktreeEvent::Discarded { task, cause });
            self.start_silent_job(id, WorktreeAction::Remove);
            self.conclude_task(call);
            return ReviewProgress::Over { elapsed_ms: copy.elapsed_ms };
        }
        let is_merged = files_with_conflict_markers(&diffs).is_empty();
        if is_merged && self.may_apply_alone(id, copy) && !self.is_needless_try(id) {
            self.record(WorktreeEvent::ApplyRequested { task: id.clone(), by: None });
            self.start_apply(id);
        } else {
            self.ask_review(call, copy, &diffs);
        }
        ReviewProgress::Waiting
    }

    /// Whether the policy applies changes without asking: autonomy is high, the task's own criteria were checked and are
    /// met, and nothing about the changes is out of the ordinary.
    pub(super) fn may_apply_alone(&self, task: &TaskId, copy: &TaskWorktree) -> bool {
        let is_met = self
            .state
            .agents
            .get(task)
            .and_then(|progress| progress.handed_in.as_ref())
            .is_some_and(|work| work.criteria_met);
        let proposal = copy.proposal.as_ref();
        let is_plain = proposal.is_some_and(|proposal| {
            proposal.left_out.is_empty() && !proposal.files.iter().any(|file| file.protected)
        });
        self.state.planning.interaction_policy().autonomy == Autonomy::High
            && is_met
            && is_plain
            && copy.conflicts.is_empty()
            && copy.error.is_none()
            // Nothing is added by itself to a workspace whose checks fail.
            && self.state.worktrees.failing_check(task).is_none()
    }

    fn ask_review(&mut self, call: &CallId, copy: &TaskWorktree, diffs: &[RequestDetail]) {
        let Some(task) = self.state.tasks.position(&call.task) else { return };
        let Some(node) = self.task_node(task).cloned() else { return };
        let handed_in =
            self.state.agents.get(&call.task).and_then(|progress| progress.handed_in.clone());
        let dependents = self.dependent_titles(task);
        let failing = self.state.worktrees.failing_check(&call.task);
        let failing = failing.map(|other| self.state.title_by_id(other).to_owned());
        let overlaps = self.state.worktrees.proposal_overlaps(&call.task).into_iter();
        let overlaps: Vec<(String, Vec<String>)> = overlaps
            .map(|overlap| (self.state.title_by_id(&overlap.task).to_owned(), overlap.files))
            .collect();
        let review = ChangeReview {
            task: &node,
            attempt: call.attempt,
            proposal: &copy.proposal.clone().unwrap_or_default(),
            diffs,
            summary: handed_in.as_ref().map_or("", |work| work.answer.as_str()),
            criteria_met: handed_in.as_ref().is_some_and(|work| work.criteria_met),
            left_out: &copy.left_out,
            overlaps: &overlaps,
            conflicts: &copy.conflicts,
            error: copy.error.as_deref(),
            failing: failing.as_deref(),
            dependents: &dependents,
        };
        let request = change_review_request(self.state.requests.next_id(), &review);
        self.record(ApprovalEvent::Asked { request: Arc::new(request) });
    }

    /// Titles of the tasks that need a task.
    pub(super) fn dependent_titles(&self, task: usize) -> Vec<String> {
        let dependents = self.state.tasks.dependents(task);
        dependents.map(|dependent| self.state.task_title(dependent).to_owned()).collect()
    }

    /// What was handed in is the result of the task from now on.
    fn conclude_task(&mut self, call: &CallId) {
        let progress = self.state.agents.get(&call.task);
        let Some((progress, work)) = progress.and_then(|own| Some((own, own.handed_in.as_ref()?)))
        else {
            return;
        };
        self.record(AgentEvent::Concluded {
            task: call.task.clone(),
            attempt: call.attempt,
            answer: work.answer.clone(),
            tokens: progress.tokens,
        });
    }

    /// Continues the review of a task after the person answered.
    pub(super) fn resume_review(&mut self, task: &TaskId) {
        let Some(row) = self.state.tasks.get(task) else { return };
        let (attempt, is_settled) = (row.attempt, row.status.is_settled());
        // What a try changed is known again.
        if let Some(pick) = self.waiting_pick(task).filter(|_| is_settled) {
            return self.resume_pick(&pick);
        }
        if self.state.tasks.position(task).is_some_and(|task| self.state.awaits_pick(task)) {
            return self.resume_pick(task);
        }
        let call = CallId { task: task.clone(), attempt, step: 0 };
        if !self.state.agents.has_handed_in(task, attempt) {
            // Its changes went back to the agent, who continues.
            let why = "its checks failed in the workspace".to_owned();
            return self.record(TaskEvent::Reset { task: task.clone(), why });
        }
        if !self.running.contains_key(&call) {
            let elapsed_ms = self.state.worktrees.get(task).map_or(0, |copy| copy.elapsed_ms);
            self.end_attempt(
                &call,
                &planwright_model::event::CallOutcome::Exited { code: 0 },
                elapsed_ms,
            );
        }
    }

    /// Completes undoing that another process began.
    pub(super) fn resume_undos(&mut self) {
        let undoing: Vec<TaskId> = self
            .state
            .worktrees
            .iter()
            .filter(|(_, copy)| copy.phase == WorktreePhase::Undoing)
            .map(|(task, _)| task.clone())
            .collect();
        for task in undoing {
            self.start_undo(&task);
        }
    }

    /// Restores the files of a task. One that is not done yet goes on afterwards.
    pub(super) fn start_undo(&mut self, task: &TaskId) {
        let is_done = self.state.tasks.get(task).is_none_or(|row| row.status.is_settled());
        if is_done {
            self.start_silent_job(task, WorktreeAction::Undo);
        } else {
            self.start_worktree_job(task, WorktreeAction::Undo);
        }
    }

    /// Starts something after which the task goes no further.
    pub(super) fn start_silent_job(&mut self, task: &TaskId, action: WorktreeAction) {
        if let Some(call) = self.start_worktree_job(task, action) {
            self.silent_calls.insert(call);
        }
    }

    pub(super) fn start_worktree_job(
        &mut self,
        task: &TaskId,
        action: WorktreeAction,
    ) -> Option<CallId> {
        let position = self.state.tasks.position(task)?;
        let copy = self.state.worktrees.get(task)?.clone();
        let attempt = self.state.tasks.row(position).attempt;
        // Each job has a number of its own, so that the end of one is never taken for that of the next.
        self.worktree_jobs += 1;
        let step = FIRST_WORKTREE_STEP.saturating_add(self.worktree_jobs);
        let call = CallId { task: task.clone(), attempt, step };
        self.running.insert(call.clone(), CancellationToken::new());
        let start = DeferredAction::Worktree(call.clone(), action, Box::new(copy));
        self.starts.push(start);
        Some(call)
    }
}

/// Whether a task names a file: by its path, or by its name alone.
pub(super) fn names_file(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    let stands_alone = |word: &str| {
        text.match_indices(word).any(|(at, _)| {
            !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
        })
    };
    stands_alone(path) || (name.contains('.') && stands_alone(name))
}

#[cfg(test)]
mod tests {
    use super::names_file;

    #[test]
    fn a_file_is_named_by_its_path_or_its_name() {
        assert!(names_file("Fix the parser in src/lexer.rs.", "src/lexer.rs"));
        assert!(names_file("Fix lexer.rs", "src/lexer.rs"));
        assert!(!names_file("Fix my-lexer.rs", "src/lexer.rs"));
        assert!(!names_file("Write the Makefile target", "src/Make"));
    }
}
