//! Works on the copies of the workspace that tasks have: makes one for an attempt, looks at it afterwards, applies its
//! changes, takes them back. Whoever carries a task out, the built-in agent or another one, gets its copy here.

use std::sync::Arc;

use planwright_agents::WorktreeNotice;
use planwright_model::event::{DiscardCause, WorktreeEvent};
use planwright_model::request::RequestDetail;
use planwright_model::{
    AppliedFile, ApplyConflict, Category, Digest, ExecutionFailure, TaskId, WorktreeOverlap,
};
use planwright_state::TaskWorktree;
use planwright_text::Redactor;
use planwright_tools::Workspace;
use planwright_tools::worktree::{ApplyPlan, Worktree, WorktreeDirectory, WorktreeError};

use super::agent_port::AgentPort;

/// What is done with the copy of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeAction {
    /// Finds out what the task changed.
    Review { elapsed_ms: u64 },
    /// Applies the changes, or completes what was begun.
    Apply,
    /// Restores the files that were applied.
    Undo,
    /// Deletes what only a copy that is still worked in needs.
    RemoveTrees,
    /// Deletes the copy.
    Remove,
}

/// The copies of a session and the workspace they are copies of.
#[derive(Clone, Debug)]
pub struct WorktreeRunner {
    pub directory: WorktreeDirectory,
    pub workspace: Arc<Workspace>,
    pub redactor: Redactor,
    /// Where what happens to copies is recorded.
    pub port: AgentPort,
}

/// The copy that an attempt works in.
#[derive(Clone, Debug)]
pub(crate) struct OpenedWorktree {
    pub(crate) workspace: Arc<Workspace>,
    /// What git ignores and the copy lacks.
    pub(crate) left_out: Vec<String>,
    /// Files whose conflicts the task has to resolve.
    pub(crate) conflicts: Vec<String>,
}

impl OpenedWorktree {
    /// What the agent is told about where it works.
    pub(crate) fn describe(&self, copies: &WorktreeRunner) -> WorktreeNotice {
        WorktreeNotice {
            workspace: copies.workspace.root().display().to_string(),
            left_out: self.left_out.clone(),
            conflicts: self.conflicts.clone(),
        }
    }
}

impl WorktreeRunner {
    /// The copy for an attempt: the one that the task has, or a new one.
    pub(crate) async fn open_for_attempt(
        &self,
        (task, attempt): (&TaskId, u32),
        known: Option<TaskWorktree>,
        overlaps: Vec<WorktreeOverlap>,
    ) -> Result<OpenedWorktree, ExecutionFailure> {
        let opened = match known {
            Some(copy) if self.directory.worktree(&copy.directory).exists() => {
                self.reopen(task, copy).await
            }
            known => {
                // Somebody deleted it; what was in it cannot be had any more.
                if known.is_some() {
                    let (task, cause) = (task.clone(), DiscardCause::Lost);
                    self.port.record(WorktreeEvent::Discarded { task, cause });
                }
                self.create((task, attempt), overlaps).await
            }
        };
        opened.map_err(|error| {
            let message = self.redactor.redact(&error.to_string()).into_owned();
            ExecutionFailure::new("worktree_failed", Category::Critical, message)
        })
    }

    async fn create(
        &self,
        (task, attempt): (&TaskId, u32),
        overlaps: Vec<WorktreeOverlap>,
    ) -> Result<OpenedWorktree, WorktreeError> {
        let name = worktree_name(task, attempt);
        let (copies, root) = (self.directory.clone(), self.workspace.root().to_owned());
        let own = name.clone();
        let (copy, report) = run_blocking(move || copies.create(&own, &root)).await?;
        self.port.record(WorktreeEvent::Opened {
            task: task.clone(),
            directory: name,
            files: report.files,
            left_out: report.left_out.clone(),
            overlaps,
        });
        self.locate(&copy, report.left_out, Vec::new())
    }

    async fn reopen(
        &self,
        task: &TaskId,
        known: TaskWorktree,
    ) -> Result<OpenedWorktree, WorktreeError> {
        let copy = self.directory.worktree(&known.directory);
        let mut conflicts = Vec::new();
        if known.merge {
            let (own, root) = (copy.clone(), self.workspace.root().to_owned());
            let merged = run_blocking(move || own.merge_workspace(&root)).await?;
            conflicts.clone_from(&merged.conflicts);
            self.port.record(WorktreeEvent::Merged {
                task: task.clone(),
                files: merged.files,
                conflicts: merged.conflicts,
            });
        }
        self.locate(&copy, known.left_out, conflicts)
    }

    fn locate(
        &self,
        copy: &Worktree,
        left_out: Vec<String>,
        conflicts: Vec<String>,
    ) -> Result<OpenedWorktree, WorktreeError> {
        let refused =
            |error: planwright_tools::ToolError| WorktreeError::Refused { message: error.message };
        let workspace = self.workspace.relocate(&copy.files()).map_err(refused)?;
        Ok(OpenedWorktree { workspace: Arc::new(workspace), left_out, conflicts })
    }

    /// Does one thing with a copy and records what came of it.
    pub(crate) async fn run_action(
        &self,
        (task, attempt): (&TaskId, u32),
        known: &TaskWorktree,
        action: WorktreeAction,
    ) {
        let copy = self.directory.worktree(&known.directory);
        match action {
            WorktreeAction::Review { elapsed_ms } => {
                self.review((task, attempt), copy, elapsed_ms).await;
            }
            WorktreeAction::Apply => {
                let outcome = self.apply(task, copy, known).await;
                self.port.record(outcome);
            }
            WorktreeAction::Undo => {
                let (workspace, files) = (Arc::clone(&self.workspace), known.files.clone());
                let undone = run_blocking(move || copy.undo(&files, &workspace)).await;
                let task = task.clone();
                self.port.record(match undone {
                    Ok(()) => WorktreeEvent::Undone { task },
                    Err(conflicts) => WorktreeEvent::UndoFailed { task, conflicts },
                });
            }
            WorktreeAction::Remove | WorktreeAction::RemoveTrees => {
                let whole = action == WorktreeAction::Remove;
                let remove = move || if whole { copy.remove() } else { copy.remove_trees() };
                if let Err(error) = run_blocking(remove).await {
                    tracing::warn!(%error, "the copy of a task cannot be deleted");
                }
            }
        }
        self.port.flush().await;
    }

    async fn review(&self, (task, attempt): (&TaskId, u32), copy: Worktree, elapsed_ms: u64) {
        let (root, redactor) = (self.workspace.root().to_owned(), self.redactor.clone());
        let compared = run_blocking(move || {
            copy.changes(&root).map(|changes| (changes.proposal(), changes.shown_diffs(&redactor)))
        });
        let (proposal, diffs) = match compared.await {
            Ok((proposal, diffs)) => {
                let detail = |(name, text): (String, String)| RequestDetail::new(&name, text);
                (proposal, diffs.into_iter().map(detail).collect())
            }
            // The person sees why nothing can be applied, and can discard it or have the agent work on.
            Err(error) => {
                let what = self.redactor.redact(&error.to_string()).into_owned();
                let left_out = vec![what];
                (planwright_model::ChangeProposal { files: Vec::new(), left_out }, Vec::new())
            }
        };
        let proposed = WorktreeEvent::Proposed {
            task: task.clone(),
            attempt,
            proposal: Box::new(proposal),
            elapsed_ms,
        };
        self.port.propose_changes(proposed, diffs);
    }

    /// Writes the changes to the workspace once what is about to be written is durable.
    async fn apply(&self, task: &TaskId, copy: Worktree, known: &TaskWorktree) -> WorktreeEvent {
        let failed = |error: String| WorktreeEvent::ApplyFailed {
            task: task.clone(),
            conflicts: Vec::new(),
            error: Some(self.redactor.redact(&error).into_owned()),
        };
        let (files, moved) = if known.files.is_empty() {
            match self.plan_files(&copy).await {
                Ok((Ok(files), moved)) => (files, moved),
                Ok((Err(conflicts), _)) => {
                    let (task, conflicts) = (task.clone(), self.redact_conflicts(conflicts));
                    return WorktreeEvent::ApplyFailed { task, conflicts, error: None };
                }
                Err(error) => return failed(error.to_string()),
            }
        } else {
            (known.files.clone(), known.moved)
        };
        let intent =
            WorktreeEvent::ApplyIntended { task: task.clone(), files: files.clone(), moved };
        if let Err(error) = self.port.commit_worktree(intent).await {
            return failed(error);
        }
        let workspace = Arc::clone(&self.workspace);
        let task = task.clone();
        match run_blocking(move || copy.apply(&files, &workspace)).await {
            Ok(()) => WorktreeEvent::Applied { task },
            Err(conflicts) => WorktreeEvent::ApplyFailed { task, conflicts, error: None },
        }
    }

    /// What applying writes or what stands in its way, and whether the workspace is no longer what the copy began with.
    async fn plan_files(
        &self,
        copy: &Worktree,
    ) -> Result<(Result<Vec<AppliedFile>, Vec<ApplyConflict>>, bool), WorktreeError> {
        let (workspace, copy) = (Arc::clone(&self.workspace), copy.clone());
        run_blocking(move || {
            let moved = copy.has_workspace_moved(workspace.root())?;
            let planned = match copy.plan_apply(&workspace)? {
                ApplyPlan::Ready(edits) => Ok(copy.save_plan(&edits)?),
                ApplyPlan::Conflicts(conflicts) => Err(conflicts),
            };
            Ok((planned, moved))
        })
        .await
    }

    fn redact_conflicts(&self, mut conflicts: Vec<ApplyConflict>) -> Vec<ApplyConflict> {
        for hunk in conflicts.iter_mut().flat_map(|conflict| &mut conflict.hunks) {
            *hunk = self.redactor.redact(hunk).into_owned();
        }
        conflicts
    }
}

/// The name of a copy: readable, and never that of another task or attempt.
fn worktree_name(task: &TaskId, attempt: u32) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let readable: String = task.as_str().chars().take(40).map(plain).collect();
    let digest = Digest::from_json(&serde_json::json!(task.as_str()));
    format!("{readable}-{}-{attempt}", &digest.as_str()[..8])
}

async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
