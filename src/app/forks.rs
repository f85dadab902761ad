//! Forks: what one would take over, worked out against the files as they are now, and the making of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;

use super::session_history;
use crate::console::CliProblem;
use planwright_engine as engine;
use planwright_model::event::{ApprovalEvent, Event, FORMAT, SessionEvent};
use planwright_model::requests::final_plan_request;
use planwright_model::{RunKind, Seq, SessionId, TaskId};
use planwright_state::replay::History;
use planwright_state::replay::fork::{ForkPlan, ReplacementPlan, written_files};
use planwright_state::{SessionState, TaskStatus};
use planwright_store::{ForkPoint, NewSession, Store};
use planwright_tools::workspace::{LARGEST, Workspace};

/// A fork that could be made.
#[derive(Debug)]
pub(crate) struct PlannedFork {
    pub plan: ForkPlan,
    /// The state it goes on from.
    state: Arc<SessionState>,
    /// Where its tasks run.
    workspace: PathBuf,
}

/// Works out what a fork after an event would do again. Nothing is written.
pub(crate) fn plan_fork(
    store: &Store,
    id: &SessionId,
    at: Option<Seq>,
    new_plan: Option<ReplacementPlan>,
) -> anyhow::Result<PlannedFork> {
    let mut past = session_history(store, id)?;
    let head = past.head_seq()?;
    let at = at.unwrap_or(head);
    if at == Seq::START || at > head {
        return Err(super::unknown_event_error(id, head, at.0));
    }
    let state = past.state_at(at)?;
    let imported = state.session.foreign || store.session_info(id)?.imported.is_some();
    let own = Path::new(&state.session.workspace);
    // Tasks run where the person is now, not where the author of an imported trace was.
    let workspace = if imported || !own.is_dir() {
        std::env::current_dir().context("finding the current directory")?
    } else {
        own.to_path_buf()
    };
    let changed = changed_files(&mut past, &state, &workspace)?;
    let plan = ForkPlan::new(id, &state, new_plan, &changed).map_err(|error| {
        CliProblem::failed(error.to_string()).with_remedy("choose a later event with --at")
    })?;
    let plan = if imported { plan.mark_imported() } else { plan };
    Ok(PlannedFork { plan, state, workspace })
}

/// The tasks that are done and left a file which now holds something else, each with the first such file.
fn changed_files(
    past: &mut History,
    state: &SessionState,
    workspace: &Path,
) -> anyhow::Result<BTreeMap<TaskId, String>> {
    let Some(current) = &state.plan.current else { return Ok(BTreeMap::new()) };
    let is_done =
        |id: &TaskId| state.tasks.get(id).is_some_and(|row| row.status == TaskStatus::Done);
    let by_agent = |run: &RunKind| matches!(run, RunKind::Agent(_));
    // Only agents say what they wrote, so that a run of commands need not be read through.
    if !current.plan.tasks.iter().any(|task| by_agent(&task.run) && is_done(&task.id)) {
        return Ok(BTreeMap::new());
    }
    let files = written_files(past, state.seq)?;
    if files.is_empty() {
        return Ok(BTreeMap::new());
    }
    let place = Workspace::open(workspace, &[], &[]);
    // What cannot be read counts as changed, and the person is told.
    let holds = |path: &str, hash: &str| {
        let place = place.as_ref().ok()?;
        let now = place.hash_file(path, LARGEST).ok()??;
        Some(now.as_str() == hash)
    };
    let changed = files.into_iter().filter(|(path, (_, hash))| holds(path, hash) != Some(true));
    let mut by_task = BTreeMap::new();
    for (path, (task, _)) in changed {
        by_task.entry(task).or_insert(path);
    }
    Ok(by_task)
}

/// Makes the fork: what it takes over is read from its parent, its own first events say what it does.
pub(crate) fn create_fork(store: &Store, fork: &PlannedFork) -> anyhow::Result<SessionId> {
    let PlannedFork { plan, state, workspace } = fork;
    let id = SessionId::from_uuid(uuid::Uuid::now_v7());
    let now = Timestamp::now().max(state.at.unwrap_or_default());
    let mut events = plan.events.clone();
    let fold = |events: &[Event]| {
        engine::first_batch(&id, SessionState::clone(state), events.to_vec(), now)
    };
    let (after, _) = fold(&events)?;
    if workspace.as_path() != Path::new(&after.session.workspace) {
        let workspace = workspace.to_string_lossy().into_owned();
        events.push(SessionEvent::WorkspaceMoved { workspace }.into());
    }
    let request = final_plan_request(after.requests.next_id(), &plan.revision.as_proposed_plan());
    events.push(ApprovalEvent::Asked { request: Arc::new(request) }.into());
    let (_, batch) = fold(&events)?;
    let new = NewSession {
        id: id.clone(),
        created_at: now,
        format: FORMAT,
        parent: Some(ForkPoint { session: plan.parent.clone(), seq: plan.at }),
        summary: batch.summary.clone().unwrap_or_default(),
    };
    store.begin_session(new, batch)?.release()?;
    Ok(id)
}
