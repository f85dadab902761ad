//! Tasks that several agents try. What each brings is held back until all have ended; then one result is picked, and
//! the task goes on as if that agent alone had done it.

use std::sync::Arc;

use super::Driver;
use super::worktrees::{ReviewProgress, is_worktree_job};
use crate::controller::candidates::{can_be_picked, pick_events};
use crate::worktree_runner::WorktreeAction;
use planwright_model::event::{ApprovalEvent, CallOutcome, DiscardCause, WorktreeEvent};
use planwright_model::request::RequestDetail;
use planwright_model::requests::{
    CandidateComparison, TriedCandidate, candidate_choice_request, files_with_conflict_markers,
};
use planwright_model::{
    CallId, Category, ChangeProposal, ExecutionFailure, Request, RequestId, RequestKind, RunKind,
    SkipReason, TaskId,
};
use planwright_state::{TaskStatus, TaskWorktree};

impl Driver {
    /// The task that waits for the result of a try, if nothing is picked yet.
    pub(super) fn waiting_pick(&self, candidate: &TaskId) -> Option<TaskId> {
        let node = self.task_node(self.state.tasks.position(candidate)?)?;
        let pick = node.run.candidate_of()?;
        let row = self.state.tasks.get(pick)?;
        let node = self.task_node(self.state.tasks.position(pick)?)?;
        let waits = node.run.is_pick()
            && !row.status.is_settled()
            && self.state.agents.picked(pick).is_none();
        waits.then(|| pick.clone())
    }

    /// Why all tries at a task were skipped, if they were: then the task is skipped as well, and has not failed.
    pub(super) fn skip_reason_of_tries(&self, task: usize) -> Option<SkipReason> {
        self.task_node(task).filter(|node| node.run.is_pick())?;
        let tries = self.state.candidates(self.state.tasks.id(task));
        let reason = |task| match self.state.tasks.row(task).status {
            TaskStatus::Skipped(reason) => Some(reason),
            _ => None,
        };
        let reasons: Option<Vec<SkipReason>> = tries.map(reason).collect();
        reasons?.first().copied()
    }

    /// Whether a task is a try at one that needs no result any more: it was skipped, or another result was picked. What
    /// such a try changed is for the person to decide, whatever the policy is.
    pub(super) fn is_needless_try(&self, task: &TaskId) -> bool {
        let node = self.state.tasks.position(task).and_then(|task| self.task_node(task));
        node.is_some_and(|node| node.run.candidate_of().is_some())
            && self.waiting_pick(task).is_none()
    }

    /// A try is over with its changes in its copy. One that changed nothing gives its copy up.
    pub(super) fn hold_candidate(&mut self, call: &CallId, copy: &TaskWorktree) -> ReviewProgress {
        let is_empty =
            |proposal: &ChangeProposal| proposal.files.is_empty() && proposal.left_out.is_empty();
        if copy.proposal.as_ref().is_none_or(is_empty) {
            let (task, cause) = (call.task.clone(), DiscardCause::NoChanges);
            self.record(WorktreeEvent::Discarded { task, cause });
            self.start_silent_job(&call.task, WorktreeAction::Remove);
        }
        ReviewProgress::Over { elapsed_ms: copy.elapsed_ms }
    }

    /// Takes the next step towards a result: waits for the tries, compares them, and asks which one is taken.
    pub(super) fn continue_pick(&mut self, call: &CallId) -> ReviewProgress {
        let id = &call.task;
        if self.closing.is_some() {
            return ReviewProgress::Waiting;
        }
        let tries: Vec<usize> = self.state.candidates(id).collect();
        if tries.iter().any(|task| !self.state.tasks.row(*task).status.is_settled()) {
            self.picks.insert(id.clone());
            return ReviewProgress::Waiting;
        }
        let ids: Vec<TaskId> =
            tries.iter().map(|task| self.state.tasks.id(*task).clone()).collect();
        let finished: Vec<&TaskId> = ids.iter().filter(|id| self.has_result(id)).collect();
        if finished.is_empty() {
            return ReviewProgress::Failed { failure: self.no_result(&ids), elapsed_ms: 0 };
        }
        if self.open_choice(id).is_some() {
            return ReviewProgress::Waiting;
        }
        let uncompared: Vec<&TaskId> =
            finished.iter().copied().filter(|id| !self.reviews.contains_key(*id)).collect();
        if !uncompared.is_empty() {
            for id in uncompared {
                self.compare_candidate(id);
            }
            return ReviewProgress::Waiting;
        }
        let Some(candidate) = self.picked_by_policy(id, &finished) else {
            self.ask_pick(call, &ids);
            return ReviewProgress::Waiting;
        };
        let candidate = candidate.clone();
        self.pick_by_policy(call, &candidate)
    }

    fn has_result(&self, candidate: &TaskId) -> bool {
        let is_done =
            self.state.tasks.get(candidate).is_some_and(|row| row.status == TaskStatus::Done);
        is_done && self.state.worktrees.pending(candidate).is_some_and(can_be_picked)
    }

    /// The open question which result is taken.
    fn open_choice(&self, pick: &TaskId) -> Option<RequestId> {
        let asks = |request: &Request| matches!(&request.kind, RequestKind::CandidateChoice { task, .. } if task == pick);
        let open = self.state.requests.open.values().find(|open| asks(&open.request))?;
        Some(open.request.id)
    }

    /// Finds out what a try changed, where that is no longer known.
    fn compare_candidate(&mut self, candidate: &TaskId) {
        let at_it = |call: &CallId| call.task == *candidate && is_worktree_job(call);
        if self.running.keys().any(at_it) {
            return;
        }
        let elapsed_ms = self.state.worktrees.get(candidate).map_or(0, |copy| copy.elapsed_ms);
        self.start_worktree_job(candidate, WorktreeAction::Review { elapsed_ms });
    }

    /// The only result that meets its exit criteria, where autonomy is high and nothing about it is out of the ordinary.
    fn picked_by_policy<'t>(&self, pick: &TaskId, finished: &[&'t TaskId]) -> Option<&'t TaskId> {
        let has_criteria = self
            .state
            .tasks
            .position(pick)
            .and_then(|task| self.task_node(task))
            .is_some_and(|node| !node.exit_criteria.is_empty());
        let meets =
            |id: &&&TaskId| self.state.worktrees.get(id).is_some_and(|copy| copy.criteria_met);
        let mut met = finished.iter().filter(meets);
        let (Some(only), None) = (met.next(), met.next()) else { return None };
        let copy = self.state.worktrees.get(only)?;
        let diffs = self.reviews.get(*only).map(Vec::as_slice).unwrap_or_default();
        let is_merged = files_with_conflict_markers(diffs).is_empty();
        (has_criteria && is_merged && self.may_apply_alone(only, copy)).then_some(*only)
    }

    fn pick_by_policy(&mut self, call: &CallId, candidate: &TaskId) -> ReviewProgress {
        let picked = pick_events(&self.state, &call.task, candidate, None);
        picked.events.into_iter().for_each(|event| self.record(event));
        for loser in &picked.given_up {
            self.reviews.remove(loser);
            self.start_silent_job(loser, WorktreeAction::Remove);
        }
        self.reviews.remove(candidate);
        self.continue_review(call, 0)
    }

    fn ask_pick(&mut self, call: &CallId, candidates: &[TaskId]) {
        let Some(task) = self.state.tasks.position(&call.task) else { return };
        let Some(node) = self.task_node(task).cloned() else { return };
        let diffs: Vec<Vec<RequestDetail>> =
            candidates.iter().map(|id| self.reviews.remove(id).unwrap_or_default()).collect();
        let proposals: Vec<Option<ChangeProposal>> = candidates
            .iter()
            .map(|id| {
                self.state.worktrees.pending(id).filter(|_| self.has_result(id))?.proposal.clone()
            })
            .collect();
        let dependents = self.dependent_titles(task);
        let tried: Vec<TriedCandidate<'_>> = candidates
            .iter()
            .enumerate()
            .map(|(at, id)| {
                self.tried_candidate(candidates, at, id, (proposals[at].as_ref(), &diffs[at]))
            })
            .collect();
        let compared = CandidateComparison {
            task: &node,
            attempt: call.attempt,
            candidates: &tried,
            dependents: &dependents,
        };
        let request = candidate_choice_request(self.state.requests.next_id(), &compared);
        self.record(ApprovalEvent::Asked { request: Arc::new(request) });
    }

    fn tried_candidate<'a>(
        &'a self,
        all: &[TaskId],
        at: usize,
        id: &'a TaskId,
        (proposal, diffs): (Option<&'a ChangeProposal>, &'a [RequestDetail]),
    ) -> TriedCandidate<'a> {
        let title = |id: &TaskId| {
            let node = self.state.tasks.position(id).and_then(|task| self.task_node(task));
            node.map_or("agent", |node| match &node.run {
                RunKind::Agent(run) => run.worker_title(),
                _ => "agent",
            })
        };
        let own = title(id);
        let earlier = all[..at].iter().filter(|other| title(other) == own).count();
        let progress = self.state.agents.get(id);
        let handed_in = progress.and_then(|progress| progress.handed_in.as_ref());
        let copy = self.state.worktrees.get(id);
        let row = self.state.tasks.get(id);
        let worked = row.and_then(|row| row.elapsed_ms(self.state.at.unwrap_or_default()));
        TriedCandidate {
            task: id,
            title: match earlier {
                0 => own.to_owned(),
                earlier => format!("{own}, try {}", earlier + 1),
            },
            proposal,
            diffs,
            summary: handed_in.map_or("", |work| work.answer.as_str()),
            criteria_met: copy.is_some_and(|copy| copy.criteria_met),
            elapsed_ms: proposal.and(copy).map(|copy| copy.elapsed_ms).or(worked).unwrap_or(0),
            tokens: progress.map_or(0, |progress| progress.tokens),
            unavailable: proposal.is_none().then(|| self.why_no_result(id)),
        }
    }

    fn why_no_result(&self, candidate: &TaskId) -> String {
        let Some(row) = self.state.tasks.get(candidate) else { return "is gone".to_owned() };
        let left_out = self.state.worktrees.pending(candidate).and_then(|copy| {
            let left_out = &copy.proposal.as_ref()?.left_out;
            (!left_out.is_empty()).then(|| left_out.join(", "))
        });
        match (row.status, &row.failure) {
            (TaskStatus::Done, _) => match left_out {
                Some(what) => format!("changed nothing that can be applied: {what}"),
                None => "changed nothing".to_owned(),
            },
            (TaskStatus::Failed, Some(failure)) => format!("did not finish: {}", failure.message),
            (TaskStatus::Skipped(_), _) => "was skipped".to_owned(),
            _ => "did not finish".to_owned(),
        }
    }

    /// Nothing can be picked, and why.
    fn no_result(&self, candidates: &[TaskId]) -> ExecutionFailure {
        let reason =
            |id: &TaskId| format!("{}: {}", self.state.title_by_id(id), self.why_no_result(id));
        let reasons: Vec<String> = candidates.iter().map(reason).collect();
        let message = format!("no agent has a result. {}", reasons.join("; "));
        ExecutionFailure::new("no_result", Category::Critical, message)
    }

    /// Goes on with a task whose tries may all be over.
    pub(super) fn resume_pick(&mut self, pick: &TaskId) {
        let Some(task) = self.state.tasks.position(pick) else { return };
        if !self.state.awaits_pick(task) {
            return;
        }
        let attempt = self.state.tasks.row(task).attempt;
        let call = CallId { task: pick.clone(), attempt, step: 0 };
        if !self.running.contains_key(&call) {
            self.end_attempt(&call, &CallOutcome::Exited { code: 0 }, 0);
        }
    }

    /// Looks again at the tasks whose tries were at work. A question about results of which one is worked on again is
    /// taken back: it is asked anew when that is over.
    pub(super) fn resume_picks(&mut self) {
        for (id, pick) in self.outdated_choices() {
            let why = "one of the agents works on its result again".to_owned();
            self.record(ApprovalEvent::Withdrawn { id, why });
            self.picks.insert(pick);
        }
        for pick in std::mem::take(&mut self.picks) {
            self.resume_pick(&pick);
        }
    }

    fn outdated_choices(&self) -> Vec<(RequestId, TaskId)> {
        let open = self.state.requests.open.values().filter_map(|open| match &open.request.kind {
            RequestKind::CandidateChoice { task, .. } => Some((open.request.id, task)),
            _ => None,
        });
        let is_outdated = |pick: &TaskId| {
            let mut tries = self.state.candidates(pick);
            tries.any(|task| !self.state.tasks.row(task).status.is_settled())
        };
        open.filter(|(_, pick)| is_outdated(pick)).map(|(id, pick)| (id, pick.clone())).collect()
    }
}
