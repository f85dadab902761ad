//! Resuming a saved session: what its process left behind is ended, its state is read, and the engine goes on with it.

use std::path::Path;
use std::sync::Arc;

use super::leftover_output::LeftoverOutput;
use super::new_session::{SessionBuilder, require_events};
use super::plan_session::needs_agents;
use super::{App, inbox, session_history};
use crate::console::CliProblem;
use crate::console::PROGRAM;
use planwright_engine::resume::{ResumeMode, RunLeftovers, end_leftover_processes, resume_events};
use planwright_engine::{self as engine, SessionChannel, SessionHandle};
use planwright_model::SessionId;
use planwright_model::event::{Event, SessionEvent};
use planwright_spool::SpoolDirectory;
use planwright_state::SessionState;
use planwright_store::{Journal, SessionInfo, Store};
use planwright_tools::process;

/// How a saved session is resumed.
#[derive(Debug)]
pub(crate) struct ResumeOptions<'a> {
    pub mode: ResumeMode,
    /// Another workspace than its own, if the person names one.
    pub workspace: Option<&'a Path>,
    pub interactive: bool,
    /// What a screen shows of it already, and how that screen reaches it.
    pub shown: Option<(Arc<SessionState>, SessionChannel)>,
}

impl ResumeOptions<'_> {
    /// To be looked at; nothing starts before the person says so.
    pub(crate) fn view_only() -> Self {
        Self { mode: ResumeMode::View, workspace: None, interactive: true, shown: None }
    }
}

impl App {
    /// Resumes a saved session, and gives the state it was in.
    pub(crate) async fn resume_session(
        &self,
        store: &Store,
        id: &SessionId,
        resume: ResumeOptions<'_>,
    ) -> anyhow::Result<(SessionHandle, Arc<SessionState>)> {
        let ResumeOptions { mode, workspace, interactive, shown } = resume;
        let info = store.session_info(id)?;
        require_events(&info)?;
        refuse_import(&info)?;
        let journal = store.acquire_session(id)?;
        let (state, channel) = current_state(store, &journal, id, shown)?;
        let mut leftovers = end_leftover_processes(id, &state);
        let spools = store.reader()?.output_spools();
        let printed = LeftoverOutput::read(&spools, id, &state);
        remove_dead_pipes(&spools, id, &state, &leftovers);
        leftovers.printed = printed.last_lines;
        let place = workspace.unwrap_or(Path::new(&state.session.workspace));
        let app = match &state.plan.current {
            Some(current) => self.with_plan_secrets(&current.plan, place).or_else(|error| {
                // A session that is only looked at needs none; a task that needs one says what is missing.
                tracing::warn!(%error, "a secret of the plan has no value");
                anyhow::Ok(self.clone())
            })?,
            None => self.clone(),
        };
        let mut session = SessionBuilder::new(&app, store, id.clone(), place)?;
        match session.app.open_workspace(place) {
            Ok(open) => {
                let copies = session.app.worktree_directory(id);
                leftovers.verify_files(&state, &open, copies.as_ref());
            }
            Err(error) => tracing::warn!(%error, "files of the session cannot be verified"),
        }
        session.equip_resumed(&state, interactive).await?;
        let SessionBuilder { app, options, .. } = session;
        let mut first = resume_events(&state, &leftovers, mode, options.jobs, PROGRAM);
        // The opening comes first, then what nobody could journal before it.
        first.splice(1..1, printed.events);
        first.extend(app.agents_event(&state));
        first.extend(app.changed_limits_event(&state));
        first.extend(app.project_notice_event());
        match workspace {
            Some(workspace) => first.insert(1, workspace_moved(workspace)),
            None => require_workspace(&state, id)?,
        }
        let begun = SessionState::clone(&state);
        let mut handle = engine::start_on_channel(channel, journal, begun, first, options);
        inbox::forward_answers(store, &mut handle);
        Ok((handle, state))
    }
}

impl SessionBuilder<'_> {
    /// Adds the planner and what agents need, where the session has a use for them.
    async fn equip_resumed(
        &mut self,
        state: &SessionState,
        interactive: bool,
    ) -> anyhow::Result<()> {
        let models = self.app.select_models(state, interactive);
        if state.planning.begun {
            let mut planner =
                self.app.build_planner(self.store, &self.id, self.app.calendar_files(None))?;
            planner.model = models.planner_client(&self.app, self.store, self.workspace).await?;
            self.options.other_plans = Some(self.app.other_plans(self.store, &self.id));
            self.options.planner = Some(Arc::new(planner));
        }
        let plan = state.plan.current.as_deref();
        if state.planning.begun || plan.is_some_and(|plan| needs_agents(&plan.plan)) {
            self.equip(&models).await?;
        }
        Ok(())
    }
}

/// Commands that have ended need their pipes no more; those that are still running print into them.
fn remove_dead_pipes(
    spools: &SpoolDirectory,
    id: &SessionId,
    state: &SessionState,
    leftovers: &RunLeftovers,
) {
    for (task, row) in state.tasks.iter() {
        let is_alive = leftovers.alive.get(task).is_some_and(|alive| !alive.is_empty());
        if let Some(open) = row.call.as_deref().filter(|_| row.is_at_work() && !is_alive) {
            process::remove_dead_pipes(spools, id, &open.call);
        }
    }
}

fn refuse_import(info: &SessionInfo) -> anyhow::Result<()> {
    let Some(source) = &info.imported else { return Ok(()) };
    let id = info.id.short_id();
    Err(CliProblem::failed(format!(
        "session {id} was imported from {source}, and nothing in it was approved here"
    ))
    .with_remedy(format!("planwright fork {id} makes one of your own to review and run"))
    .into())
}

/// The state at the end of the journal, and the channel to whoever shows it. What a screen folded already is used again,
/// unless somebody wrote to the session in between.
fn current_state(
    store: &Store,
    journal: &Journal,
    id: &SessionId,
    shown: Option<(Arc<SessionState>, SessionChannel)>,
) -> anyhow::Result<(Arc<SessionState>, SessionChannel)> {
    match shown {
        Some((state, channel)) if state.seq == journal.head() => Ok((state, channel)),
        shown => {
            let state = session_history(store, id)?.state_at(journal.head())?;
            let channel = shown.map(|(_, channel)| channel);
            let channel = channel.unwrap_or_else(|| SessionChannel::new(state.seq));
            Ok((state, channel))
        }
    }
}

fn workspace_moved(workspace: &Path) -> Event {
    let workspace = workspace.to_string_lossy().into_owned();
    SessionEvent::WorkspaceMoved { workspace }.into()
}

fn require_workspace(state: &SessionState, id: &SessionId) -> anyhow::Result<()> {
    let workspace = &state.session.workspace;
    if Path::new(workspace).is_dir() {
        return Ok(());
    }
    let id = id.short_id();
    Err(CliProblem::failed(format!("the workspace {workspace} of session {id} is not there"))
        .with_remedy("put it back, or name another one with --workspace")
        .into())
}
