//! The copies of the workspace that tasks work in: how far each is, and what it would change.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use planwright_model::event::{AgentEvent, DiscardCause, WorktreeEvent};
use planwright_model::{
    AppliedFile, ApplyConflict, ChangeProposal, FailedCheck, TaskId, WorktreeOverlap,
};

/// How far a task's own copy is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorktreePhase {
    /// The task works in it.
    #[default]
    Open,
    /// The work is done and was looked at.
    Proposed,
    /// The changes are being written to the workspace.
    Applying,
    Applied,
    /// The workspace is being restored.
    Undoing,
    Undone,
    Discarded,
}

/// What exit criteria say about the workspace once the changes of a task are applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", content = "failures", rename_all = "snake_case")]
pub enum WorkspaceCheck {
    #[default]
    NotMade,
    Passed,
    Failed(Vec<FailedCheck>),
    /// They fail, and the person keeps the changes.
    Accepted,
}

/// A task's own copy of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskWorktree {
    /// Below the directory of the session's copies.
    pub directory: String,
    pub phase: WorktreePhase,
    /// What git ignores and was not copied.
    pub left_out: Vec<String>,
    pub overlaps: Vec<WorktreeOverlap>,
    pub proposal: Option<ChangeProposal>,
    /// How long the work took.
    pub elapsed_ms: u64,
    /// The files that applying writes, once that is decided.
    pub files: Vec<AppliedFile>,
    /// What stood in the way of the last try to apply or to undo.
    pub conflicts: Vec<ApplyConflict>,
    pub error: Option<String>,
    /// What the person asked to be different, until the agent continues.
    pub hint: Option<String>,
    /// The workspace is to be merged into the copy before the agent continues.
    pub merge: bool,
    /// Files that tools of the task wrote.
    pub edited: BTreeSet<String>,
    /// The agent handed in with its exit criteria checked and met.
    pub criteria_met: bool,
    /// The workspace was no longer what the copy began with when the changes were applied.
    pub moved: bool,
    /// Tasks whose changes reached the workspace after the copy was made and are not in it.
    pub applied_meanwhile: BTreeSet<TaskId>,
    /// What the criteria say about the workspace with the changes.
    pub check: WorkspaceCheck,
    /// Once the changes are undone, the agent continues in the copy.
    pub retry: bool,
}

impl TaskWorktree {
    /// Whether the copy is there and its changes are neither applied nor given up.
    pub fn is_pending(&self) -> bool {
        matches!(
            self.phase,
            WorktreePhase::Open | WorktreePhase::Proposed | WorktreePhase::Applying
        )
    }

    /// Whether its changes are in the workspace.
    pub fn is_applied(&self) -> bool {
        matches!(self.phase, WorktreePhase::Applied | WorktreePhase::Undoing)
    }

    /// The files it is known to change.
    fn changed_files(&self) -> BTreeSet<&str> {
        let proposed = self.proposal.iter().flat_map(|proposal| &proposal.files);
        proposed
            .map(|file| file.path.as_str())
            .chain(self.edited.iter().map(String::as_str))
            .collect()
    }
}

/// The copies of a session, by task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorktreeSlice(BTreeMap<TaskId, TaskWorktree>);

impl WorktreeSlice {
    pub fn get(&self, task: &TaskId) -> Option<&TaskWorktree> {
        self.0.get(task)
    }

    /// The copy that a task works in or whose changes wait.
    pub fn pending(&self, task: &TaskId) -> Option<&TaskWorktree> {
        self.get(task).filter(|copy| copy.is_pending())
    }

    /// The tasks that work in a copy or whose changes wait.
    pub fn pending_tasks(&self) -> impl Iterator<Item = &TaskId> {
        self.0.iter().filter(|(_, copy)| copy.is_pending()).map(|(task, _)| task)
    }

    /// Whether what an earlier attempt of a task changed is gone.
    pub fn is_given_up(&self, task: &TaskId) -> bool {
        let gone = [WorktreePhase::Discarded, WorktreePhase::Undone];
        let had_changes = |copy: &TaskWorktree| {
            copy.proposal.as_ref().is_some_and(|proposal| !proposal.files.is_empty())
        };
        self.get(task).is_some_and(|copy| gone.contains(&copy.phase) && had_changes(copy))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&TaskId, &TaskWorktree)> {
        self.0.iter()
    }

    /// Other tasks under way that change files which `names` accepts.
    pub fn overlaps(&self, own: &TaskId, names: impl Fn(&str) -> bool) -> Vec<WorktreeOverlap> {
        let others = self.0.iter().filter(|(task, copy)| *task != own && copy.is_pending());
        let overlap = others.filter_map(|(task, copy)| {
            let files: Vec<String> = copy
                .changed_files()
                .into_iter()
                .filter(|path| names(path))
                .map(str::to_owned)
                .collect();
            (!files.is_empty()).then(|| WorktreeOverlap { task: task.clone(), files })
        });
        overlap.collect()
    }

    /// Other tasks under way that change the same files as a task.
    pub fn proposal_overlaps(&self, own: &TaskId) -> Vec<WorktreeOverlap> {
        let Some(copy) = self.get(own) else { return Vec::new() };
        let files = copy.changed_files();
        self.overlaps(own, |path| files.contains(path))
    }

    /// A fork has no copies: they belong to the session that made them.
    pub(super) fn reset_for_fork(&mut self) {
        self.0.clear();
    }

    /// Keeps which files the tools of a task wrote, and whether it met its criteria.
    pub(super) fn apply_agent(&mut self, event: &AgentEvent) {
        // The copy of the try that was picked is that of the task from now on.
        if let AgentEvent::CandidatePicked { task, candidate, .. } = event {
            if let Some(mut copy) = self.0.remove(candidate) {
                // The work so far is that of the try.
                copy.elapsed_ms = 0;
                self.0.insert(task.clone(), copy);
            }
            return;
        }
        if let AgentEvent::HandedIn { task, criteria_met, .. } = event
            && let Some(copy) = self.0.get_mut(task)
        {
            copy.criteria_met = *criteria_met;
        }
        let AgentEvent::Observed { task, step, .. } = event else { return };
        let Some(copy) = self.0.get_mut(task) else { return };
        let data = step.tool_output.as_ref().and_then(|output| output.get("data"));
        let text = |name: &str| data.and_then(|data| data.get(name)?.as_str());
        if let (Some(path), Some(_)) = (text("path"), text("file_hash")) {
            copy.edited.insert(path.to_owned());
        }
    }

    /// Folds an event. False if it makes no sense here.
    pub(super) fn apply(&mut self, event: &WorktreeEvent) -> bool {
        if let WorktreeEvent::Opened { task, directory, left_out, overlaps, .. } = event {
            let opened = TaskWorktree {
                directory: directory.clone(),
                left_out: left_out.clone(),
                overlaps: overlaps.clone(),
                ..TaskWorktree::default()
            };
            let before = self.0.insert(task.clone(), opened);
            return before.is_none_or(|before| !before.is_pending());
        }
        self.note_neighbor(event);
        let Some(copy) = self.0.get_mut(event.task_id()) else { return false };
        copy.apply(event)
    }

    /// What reaches the workspace or leaves it again is not what the other copies began with.
    fn note_neighbor(&mut self, event: &WorktreeEvent) {
        let own = event.task_id();
        let others = self.0.iter_mut().filter(|(task, _)| *task != own).map(|(_, copy)| copy);
        match event {
            WorktreeEvent::Applied { task } => {
                for copy in others.filter(|copy| copy.is_pending()) {
                    copy.applied_meanwhile.insert(task.clone());
                }
            }
            WorktreeEvent::Undone { task } => {
                for copy in others {
                    copy.applied_meanwhile.remove(task);
                }
            }
            _ => {}
        }
    }

    /// A task whose applied changes fail their checks in the workspace, with nothing decided about it.
    pub fn failing_check(&self, except: &TaskId) -> Option<&TaskId> {
        let fails = |copy: &TaskWorktree| {
            copy.phase == WorktreePhase::Applied && matches!(copy.check, WorkspaceCheck::Failed(_))
        };
        self.0.iter().find(|(task, copy)| *task != except && fails(copy)).map(|(task, _)| task)
    }
}

impl TaskWorktree {
    fn apply(&mut self, event: &WorktreeEvent) -> bool {
        use WorktreePhase as Phase;
        let (allowed, next): (&[Phase], Phase) = match event {
            WorktreeEvent::Opened { .. } => return false,
            WorktreeEvent::Proposed { proposal, elapsed_ms, .. } => {
                self.proposal = Some((**proposal).clone());
                self.elapsed_ms = *elapsed_ms;
                (&[Phase::Open, Phase::Proposed], Phase::Proposed)
            }
            WorktreeEvent::ApplyRequested { .. } => {
                self.clear_trouble();
                (&[Phase::Proposed], Phase::Applying)
            }
            WorktreeEvent::ApplyIntended { files, moved, .. } => {
                self.files.clone_from(files);
                (self.moved, self.check) = (*moved, WorkspaceCheck::NotMade);
                (&[Phase::Applying], Phase::Applying)
            }
            WorktreeEvent::Checked { failures, .. } => {
                self.check = match failures.as_slice() {
                    [] => WorkspaceCheck::Passed,
                    failures => WorkspaceCheck::Failed(failures.to_vec()),
                };
                (&[Phase::Applied], Phase::Applied)
            }
            WorktreeEvent::CheckAccepted { .. } => {
                self.check = WorkspaceCheck::Accepted;
                (&[Phase::Applied], Phase::Applied)
            }
            WorktreeEvent::Applied { .. } => (&[Phase::Applying], Phase::Applied),
            WorktreeEvent::ApplyFailed { conflicts, error, .. } => {
                self.files.clear();
                (self.conflicts, self.error) = (conflicts.clone(), error.clone());
                (&[Phase::Applying], Phase::Proposed)
            }
            WorktreeEvent::ChangesRequested { text, merge, .. } => {
                self.clear_trouble();
                (self.hint, self.merge) = (Some(text.clone()), *merge);
                (&[Phase::Proposed], Phase::Open)
            }
            WorktreeEvent::Merged { .. } => {
                self.merge = false;
                self.applied_meanwhile.clear();
                (&[Phase::Open], Phase::Open)
            }
            WorktreeEvent::Discarded { cause, .. } => {
                if *cause == DiscardCause::NoChanges {
                    self.edited.clear();
                }
                (&[Phase::Open, Phase::Proposed], Phase::Discarded)
            }
            WorktreeEvent::UndoRequested { retry, .. } => {
                self.clear_trouble();
                (self.hint, self.retry) = (retry.clone(), retry.is_some());
                (&[Phase::Applied], Phase::Undoing)
            }
            // The agent continues with what others brought meanwhile.
            WorktreeEvent::Undone { .. } if self.retry => {
                (self.retry, self.merge) = (false, true);
                self.files.clear();
                self.check = WorkspaceCheck::NotMade;
                (&[Phase::Undoing], Phase::Open)
            }
            WorktreeEvent::Undone { .. } => (&[Phase::Undoing], Phase::Undone),
            WorktreeEvent::UndoFailed { conflicts, .. } => {
                self.conflicts.clone_from(conflicts);
                (self.retry, self.hint) = (false, None);
                (&[Phase::Undoing], Phase::Applied)
            }
        };
        let sensible = allowed.contains(&self.phase);
        self.phase = next;
        sensible
    }

    fn clear_trouble(&mut self) {
        self.conflicts.clear();
        self.error = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::{ProposedFile, ProposedFileKind};

    fn opened(task: &str) -> WorktreeEvent {
        WorktreeEvent::Opened {
            task: task.into(),
            directory: "x".into(),
            files: 1,
            left_out: Vec::new(),
            overlaps: Vec::new(),
        }
    }

    fn proposed(task: &str, path: &str) -> WorktreeEvent {
        let file = ProposedFile {
            path: path.into(),
            change: ProposedFileKind::Modified,
            added: 1,
            removed: 1,
            protected: false,
        };
        let proposal = ChangeProposal { files: vec![file], left_out: Vec::new() };
        WorktreeEvent::Proposed {
            task: task.into(),
            attempt: 1,
            proposal: Box::new(proposal),
            elapsed_ms: 5,
        }
    }

    #[test]
    fn a_failed_apply_leads_back_to_the_proposal_and_a_second_can_succeed() {
        let mut slice = WorktreeSlice::default();
        let task: TaskId = "a".into();
        let request = || WorktreeEvent::ApplyRequested { task: "a".into(), by: None };
        let conflict = ApplyConflict::new("f", "changed");
        let events = [
            opened("a"),
            proposed("a", "f"),
            request(),
            WorktreeEvent::ApplyFailed {
                task: task.clone(),
                conflicts: vec![conflict.clone()],
                error: None,
            },
        ];
        assert!(events.iter().all(|event| slice.apply(event)));
        let copy = slice.pending(&task).unwrap();
        assert_eq!((copy.phase, &copy.conflicts[..]), (WorktreePhase::Proposed, &[conflict][..]));
        assert!(slice.apply(&request()));
        assert!(slice.apply(&WorktreeEvent::Applied { task: task.clone() }));
        assert!(slice.get(&task).unwrap().is_applied() && slice.pending(&task).is_none());
        assert!(!slice.apply(&WorktreeEvent::Applied { task }), "twice makes no sense");
    }

    #[test]
    fn changes_that_fail_their_checks_stay_undecided_until_they_go_back_to_the_agent() {
        let mut slice = WorktreeSlice::default();
        let (a, b): (TaskId, TaskId) = ("a".into(), "b".into());
        let request =
            |task: &TaskId| WorktreeEvent::ApplyRequested { task: task.clone(), by: None };
        let intended = |task: &TaskId, moved| WorktreeEvent::ApplyIntended {
            task: task.clone(),
            files: Vec::new(),
            moved,
        };
        let applied = |task: &TaskId| WorktreeEvent::Applied { task: task.clone() };
        let failure = FailedCheck {
            task: b.clone(),
            check: "make test".into(),
            outcome: "exit 2".into(),
            output: String::new(),
        };
        let events = [
            opened("a"),
            opened("b"),
            proposed("a", "f"),
            request(&a),
            intended(&a, false),
            applied(&a),
            proposed("b", "g"),
            request(&b),
            intended(&b, true),
            applied(&b),
            WorktreeEvent::Checked { task: b.clone(), attempt: 1, failures: vec![failure.clone()] },
        ];
        assert!(events.iter().all(|event| slice.apply(event)));
        let copy = slice.get(&b).unwrap();
        assert_eq!(copy.applied_meanwhile.iter().collect::<Vec<_>>(), [&a]);
        assert!(copy.moved && !slice.get(&a).unwrap().moved);
        assert_eq!(copy.check, WorkspaceCheck::Failed(vec![failure]));
        assert_eq!((slice.failing_check(&a), slice.failing_check(&b)), (Some(&b), None));
        let by = planwright_model::Actor::Person;
        let retry = Some("make test fails".to_owned());
        assert!(slice.apply(&WorktreeEvent::UndoRequested { task: b.clone(), by, retry }));
        assert!(slice.apply(&WorktreeEvent::Undone { task: b.clone() }));
        let copy = slice.pending(&b).unwrap();
        assert!(copy.merge && copy.files.is_empty() && copy.check == WorkspaceCheck::NotMade);
        assert_eq!(copy.hint.as_deref(), Some("make test fails"));
        assert_eq!(slice.failing_check(&a), None);
    }

    #[test]
    fn tasks_under_way_that_change_the_same_file_are_found() {
        let mut slice = WorktreeSlice::default();
        for event in
            [opened("a"), proposed("a", "src/lib.rs"), opened("b"), proposed("b", "src/lib.rs")]
        {
            assert!(slice.apply(&event));
        }
        let found = slice.proposal_overlaps(&"b".into());
        assert_eq!((found.len(), found[0].task.as_str()), (1, "a"));
        assert!(slice.overlaps(&"c".into(), |path| path == "README.md").is_empty());
        slice.apply(&WorktreeEvent::Discarded { task: "a".into(), cause: DiscardCause::Person });
        assert!(slice.proposal_overlaps(&"b".into()).is_empty());
    }
}
