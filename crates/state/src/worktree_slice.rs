//! The copies of the workspace that tasks work in: how far each is, and what it would change.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use planwright_model::event::{AgentEvent, DiscardCause, WorktreeEvent};
use planwright_model::{AppliedFile, ApplyConflict, ChangeProposal, TaskId, WorktreeOverlap};

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

    /// Keeps which files the tools of a task wrote.
    pub(super) fn apply_agent(&mut self, event: &AgentEvent) {
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
        let Some(copy) = self.0.get_mut(event.task_id()) else { return false };
        copy.apply(event)
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
            WorktreeEvent::ApplyIntended { files, .. } => {
                self.files.clone_from(files);
                (&[Phase::Applying], Phase::Applying)
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
                (&[Phase::Open], Phase::Open)
            }
            WorktreeEvent::Discarded { cause, .. } => {
                if *cause == DiscardCause::NoChanges {
                    self.edited.clear();
                }
                (&[Phase::Open, Phase::Proposed], Phase::Discarded)
            }
            WorktreeEvent::UndoRequested { .. } => {
                self.clear_trouble();
                (&[Phase::Applied], Phase::Undoing)
            }
            WorktreeEvent::Undone { .. } => (&[Phase::Undoing], Phase::Undone),
            WorktreeEvent::UndoFailed { conflicts, .. } => {
                self.conflicts.clone_from(conflicts);
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
        let conflict = ApplyConflict { path: "f".into(), why: "changed".into() };
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
