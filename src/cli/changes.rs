//! `planwright changes`: what agents changed in their copies of the workspace, and undoing it.

use clap::Args;
use serde_json::json;

use super::guard::require_person;
use super::session::{block_on, open_session};
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::{self, App};
use planwright_model::event::Command;
use planwright_model::{Actor, ChangeProposal, SessionId, TaskId};
use planwright_state::{SessionState, TaskWorktree, WorktreePhase};
use planwright_text::clean_line;

#[derive(Debug, Args)]
pub(crate) struct ChangesArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// Undo the changes that this task applied to the workspace
    #[arg(long, value_name = "TASK")]
    undo: Option<String>,
}

pub(super) fn execute_changes(shared: &SharedArgs, args: &ChangesArgs) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let (store, id) = open_session(&app, &args.session)?;
    let Some(task) = args.undo.as_deref().map(TaskId::from) else {
        let mut history = app::session_history(&store, &id)?;
        let head = history.head_seq()?;
        return list_changes(shared, &app, &id, &*history.state_at(head)?);
    };
    require_person("undo changes")?;
    if store.lease_holder(&id)?.is_some() {
        return Err(CliProblem::failed("another process works on this session")
            .with_remedy("undo it on its screen")
            .into());
    }
    let command = Command::UndoChanges { task: task.clone(), by: Actor::Person };
    let state = block_on(app.undo_changes(&store, &id, command))?;
    report_undo(&state, &task)
}

fn report_undo(state: &SessionState, task: &TaskId) -> anyhow::Result<CliExit> {
    let copy = state.worktrees.get(task);
    if copy.is_some_and(|copy| copy.phase == WorktreePhase::Undone) {
        let figures = copy.and_then(|copy| copy.proposal.as_ref()).map(ChangeProposal::describe);
        StdoutWriter::new().write_line(&format!("Undone: {}", figures.unwrap_or_default()))?;
        return Ok(CliExit::Success);
    }
    let conflicts = copy.into_iter().flat_map(|copy| &copy.conflicts);
    let files: Vec<String> =
        conflicts.map(|conflict| format!("{}: {}", conflict.path, conflict.why)).collect();
    Err(CliProblem::failed(format!("nothing was undone. {}", files.join("; ")))
        .with_remedy("restore these files first, or change them by hand")
        .into())
}

fn phase_words(phase: WorktreePhase) -> &'static str {
    match phase {
        WorktreePhase::Open => "in its copy, not handed in",
        WorktreePhase::Proposed => "waits for you",
        WorktreePhase::Applying => "being applied",
        WorktreePhase::Applied => "applied",
        WorktreePhase::Undoing => "being undone",
        WorktreePhase::Undone => "undone",
        WorktreePhase::Discarded => "discarded",
    }
}

fn list_changes(
    shared: &SharedArgs,
    app: &App,
    id: &SessionId,
    state: &SessionState,
) -> anyhow::Result<CliExit> {
    let directory = app.worktree_directory(id);
    let place = |copy: &TaskWorktree| {
        let kept = copy.is_pending().then_some(directory.as_ref()).flatten()?;
        Some(kept.worktree(&copy.directory).files().display().to_string())
    };
    let mut out = StdoutWriter::new();
    if shared.json {
        let rows = state.worktrees.iter().map(|(task, copy)| {
            json!({
                "task": task,
                "state": copy.phase,
                "changes": copy.proposal,
                "directory": place(copy),
                "conflicts": copy.conflicts,
            })
        });
        out.write_line(&json!(rows.collect::<Vec<_>>()).to_string())?;
        return Ok(CliExit::Success);
    }
    for (task, copy) in state.worktrees.iter() {
        let title = clean_line(state.title_by_id(task)).into_owned();
        let figures = copy.proposal.as_ref().map(ChangeProposal::describe);
        let figures = figures.map(|figures| format!(", {figures}")).unwrap_or_default();
        out.write_line(&format!("{task}  {title}: {}{figures}", phase_words(copy.phase)))?;
        if let Some(place) = place(copy) {
            out.write_line(&format!("  in {place}"))?;
        }
    }
    if state.worktrees.iter().next().is_none() {
        out.write_line("No agent of this session worked in a copy of the workspace.")?;
    }
    Ok(CliExit::Success)
}
