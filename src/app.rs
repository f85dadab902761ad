//! The composition root: settings, store, engine and screens put together.

pub mod appearance;
pub mod forks;
mod gate_options;
pub mod inbox;
mod models;
mod new_session;
pub mod options;
pub mod planning;
mod secrets;
pub mod session_actions;
pub mod today;

pub use models::SessionModels;
use new_session::{create_session, require_events};
pub(crate) use secrets::environment_secrets;
use options::SharedArgs;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use crate::config::{self, ConfigError, JobLimit, ProjectConfig, ProjectStanding, Settings};
use crate::console::{CliProblem, StdoutWriter};
use planwright_engine::resume::{ResumeMode, end_leftover_processes, resume_events};
use planwright_engine::tool_services;
use planwright_engine::{
    self as engine, EngineFeatures, EngineOptions, SessionChannel, SessionHandle, ShellRunner,
};
use planwright_files::{self as files, FileLimit};
use planwright_llm::model_capability_cache::{
    FileCapabilityCache, MemoryCapabilityCache, ModelCapabilityCache,
};
use planwright_llm::provider::{KeyObserver, ModelFactory, ProviderRegistry};
use planwright_model::event::{
    ApprovalEvent, Command, Event, FORMAT, PlanEvent, Record, RunEvent, SessionEvent,
};
use planwright_model::setting::SettingOrigin;
use planwright_model::{
    GraphFacts, NormalizationChange, Plan, PolicyOverride, RequestId, Seq, SessionId,
};
use planwright_plan::confidence::{ConfidenceSettings, ConfidenceWeights};
use planwright_state::SessionState;
use planwright_state::replay::History;
use planwright_store::journal_source::JournalSource;
use planwright_store::{FindError, OpenMode, Store, StoreError};
use planwright_tools::Workspace;
use planwright_tui::{self as tui, ColorDepth, KeyOverrides, Theme, UiSettings};

/// The name and version that sessions remember.
pub const PROGRAM: &str = concat!("planwright ", env!("CARGO_PKG_VERSION"));

/// A plan that was read and resolved, ready to become a session.
#[derive(Debug)]
pub struct ReadyPlan {
    pub plan: Plan,
    pub facts: GraphFacts,
    pub normalization: Vec<NormalizationChange>,
    /// The file it came from, as the person named it.
    pub file: Option<String>,
}

/// How a saved session is taken up.
#[derive(Debug)]
pub struct ResumeOptions<'a> {
    pub mode: ResumeMode,
    /// Another workspace than its own, if the person names one.
    pub workspace: Option<&'a Path>,
    pub interactive: bool,
    /// What a screen shows of it already, and how that screen reaches it.
    pub shown: Option<(Arc<SessionState>, SessionChannel)>,
}

impl ResumeOptions<'_> {
    /// To be looked at; nothing starts before the person says so.
    pub fn view_only() -> Self {
        Self { mode: ResumeMode::View, workspace: None, interactive: true, shown: None }
    }
}

/// Settings without a store, for commands that need none.
#[derive(Clone, Debug)]
pub struct App {
    pub settings: Settings,
    pub config_path: PathBuf,
    /// The settings of the project, once a workspace is known.
    pub project: Option<ProjectStanding>,
    data_dir: Option<PathBuf>,
    no_color: bool,
}

impl App {
    /// Reads the settings; the command line goes last.
    pub fn settings_only(shared: &SharedArgs) -> anyhow::Result<Self> {
        let config_path = shared.config.clone().or_else(config::config_file).unwrap_or_default();
        let settings =
            Settings::load(&config_path, shared.config.is_some()).map_err(config_problem)?;
        Self::from_parts(settings, config_path, shared)
    }

    /// The built-in settings, for whoever must go on although the config cannot be read.
    pub fn without_config(shared: &SharedArgs) -> anyhow::Result<Self> {
        let config_path = shared.config.clone().or_else(config::config_file).unwrap_or_default();
        Self::from_parts(Settings::default(), config_path, shared)
    }

    fn from_parts(
        mut settings: Settings,
        config_path: PathBuf,
        shared: &SharedArgs,
    ) -> anyhow::Result<Self> {
        settings.theme.override_with(shared.theme.clone(), || {
            SettingOrigin::CommandLine("--theme".to_owned())
        });
        settings
            .jobs
            .override_with(shared.jobs, || SettingOrigin::CommandLine("--jobs".to_owned()));
        gate_options::overlay_gate(shared, &mut settings.agents.gate)?;
        let models = &mut settings.models;
        let flag = |name: &str| SettingOrigin::CommandLine(name.to_owned());
        models.provider.override_with(shared.provider.clone(), || flag("--provider"));
        models.model.override_with(shared.model.clone().map(Some), || flag("--model"));
        let record = shared.record.as_ref().map(|path| path.to_string_lossy().into_owned());
        models.record.override_with(record.map(Some), || flag("--record"));
        let no_color =
            shared.no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let data_dir = shared.data_dir.clone().or_else(config::data_dir);
        let app = Self { settings, config_path, project: None, data_dir, no_color };
        app.cover_log();
        Ok(app)
    }

    /// The same with the settings of the project in a workspace, as far as they count. What was trusted is in the store.
    pub fn in_workspace(&self, workspace: &Path, store: Option<&Store>) -> anyhow::Result<Self> {
        let mut app = self.clone();
        let Some(project) = ProjectConfig::find(workspace)? else { return Ok(app) };
        let approved = store.map(|store| store.tool_pin_hash(&project.trust_name())).transpose()?;
        let trusted = approved.flatten().is_some_and(|hash| hash == project.hash.as_str());
        app.project = Some(project.apply(&mut app.settings, trusted)?);
        Ok(app)
    }

    /// What the settings of the project ask for and do not get, in one line.
    pub fn project_notice(&self) -> Option<String> {
        let standing = self.project.as_ref().filter(|standing| !standing.left_out.is_empty())?;
        let names: Vec<&str> = standing.left_out.iter().map(|row| row.name.as_str()).collect();
        Some(format!(
            "{} is not trusted, left out: {}; `planwright config trust` takes it over",
            standing.config.path.display(),
            names.join(", ")
        ))
    }

    /// Finds mistakes in theme and keys before anything is written, and flags that make no sense on a screen.
    pub fn check_screen(&self, shared: &SharedArgs) -> anyhow::Result<()> {
        if shared.headless {
            return Ok(());
        }
        if shared.json {
            return Err(CliProblem::usage("--json prints events, and a screen does not")
                .with_remedy("add --headless")
                .into());
        }
        let settings = self.ui_settings()?;
        tui::check_keys(&settings.keys)?;
        Ok(())
    }

    /// Opens the store, making it if need be.
    pub fn open_store(&self) -> anyhow::Result<Store> {
        Ok(Store::open(self.require_data_dir()?, OpenMode::ReadWrite)?)
    }

    /// Opens the store for reading. `None` when there is none yet.
    pub fn read_store(&self) -> anyhow::Result<Option<Store>> {
        match Store::open(self.require_data_dir()?, OpenMode::ReadOnly) {
            Ok(store) => Ok(Some(store)),
            Err(StoreError::Missing { .. }) => Ok(None),
            // Written by an earlier version: opening it for writing brings it up to date.
            Err(StoreError::Older { .. }) => Ok(Some(self.open_store()?)),
            Err(error) => Err(error.into()),
        }
    }

    /// The directory of the store.
    pub fn require_data_dir(&self) -> anyhow::Result<&Path> {
        self.data_dir.as_deref().ok_or_else(|| {
            CliProblem::usage("there is no home directory to keep sessions in")
                .with_remedy("name one with --data-dir")
                .into()
        })
    }

    /// The directory of the store, unless there is no home to keep it in.
    pub fn data_dir(&self) -> Option<&Path> {
        self.data_dir.as_deref()
    }

    /// Variables that hold the keys of model providers. Commands never see them.
    pub(crate) fn key_variables(&self) -> Vec<String> {
        ProviderRegistry::new(&self.settings.models).key_variables()
    }

    /// The models that can be opened, with what was found out about them before.
    pub fn models(&self) -> ModelFactory {
        let notebook: Arc<dyn ModelCapabilityCache> = match &self.data_dir {
            Some(dir) => Arc::new(FileCapabilityCache::new(dir.join(FileCapabilityCache::FILE))),
            None => Arc::new(MemoryCapabilityCache::default()),
        };
        ModelFactory::new(self.settings.models.clone(), notebook).with_key_observer(KeyObserver(
            Arc::new(|key| crate::diagnostics::add_secrets([key.expose().to_owned()])),
        ))
    }

    /// The person's own prompts, by the name of the built-in one they replace.
    fn custom_prompts(&self) -> Vec<(String, String)> {
        let dir = self.config_dir().join("prompts");
        // Most people have no such directory.
        let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                let path = entry.path();
                let name = path.file_stem()?.to_str()?.to_owned();
                (path.extension()? == "md").then_some(())?;
                let text = files::read_text(&path, FileLimit::PROMPT).inspect_err(|error| {
                    tracing::warn!(path = %path.display(), %error, "a prompt is left out");
                });
                Some((name, text.ok()?))
            })
            .collect()
    }

    fn engine_options(&self) -> EngineOptions {
        let without = self.key_variables();
        let features = EngineFeatures {
            task_graphs: self.settings.enable_task_graphs.value,
            react_tracing: self.settings.enable_react_tracing.value,
            tool_affinity: self.settings.enable_tool_affinity.value,
        };
        EngineOptions {
            jobs: self.settings.jobs.value.initial(),
            clock: engine::wall_clock(),
            runner: Arc::new(
                ShellRunner::new(self.redactor(), without)
                    .with_settings(crate::config::tool_settings::tool_settings(&self.settings)),
            ),
            features,
            durability: engine::CallDurability::default(),
            caps: self.settings.caps(),
            redactor: self.redactor(),
            adapt_jobs: self.settings.jobs.value == JobLimit::Auto,
            planner: None,
            agent_receiver: None,
            ledger: None,
            save_decision: Arc::new(|_| {}),
        }
    }

    /// Makes a session of a plan and starts working on it: the plan is proposed and its approval asked for.
    pub async fn start_plan(
        &self,
        store: &Store,
        ready: ReadyPlan,
        workspace: &Path,
        policy: &PolicyOverride,
        interactive: bool,
    ) -> anyhow::Result<SessionHandle> {
        let this = &self.in_workspace(workspace, Some(store))?;
        let id = SessionId::from_uuid(uuid::Uuid::now_v7());
        let workspace = workspace.to_string_lossy().into_owned();
        let mut options = this.engine_options();
        options.save_decision = this.decision_saver(store);
        if needs_agents(&ready.plan) {
            let drafter = this.select_models(&SessionState::default(), interactive);
            drafter.equip_session(this, store, &id, Path::new(&workspace), &mut options).await?;
        }
        let mut first = first_plan_events(ready, workspace)?;
        first.extend(this.policy_event(store, policy)?);
        first.extend(this.changed_limits_event(&SessionState::default()));
        first.extend(this.project_notice_event());
        create_session(store, id, first, options)
    }

    /// Takes up a saved session, and says what its state was.
    pub async fn resume_session(
        &self,
        store: &Store,
        id: &SessionId,
        taking: ResumeOptions<'_>,
    ) -> anyhow::Result<(SessionHandle, Arc<SessionState>)> {
        let ResumeOptions { mode, workspace, interactive, shown } = taking;
        let info = store.session_info(id)?;
        require_events(&info)?;
        if let Some(source) = info.imported {
            return Err(CliProblem::failed(format!(
                "session {} was imported from {source}, and nothing in it was approved here",
                id.short_id()
            ))
            .with_remedy(format!(
                "planwright fork {} makes one of your own to review and run",
                id.short_id()
            ))
            .into());
        }
        let journal = store.acquire_session(id)?;
        let (state, line) = match shown {
            Some((state, line)) if state.seq == journal.head() => (state, line),
            shown => {
                let state = session_history(store, id)?.state_at(journal.head())?;
                let line = shown.map_or_else(|| SessionChannel::new(state.seq), |(_, line)| line);
                (state, line)
            }
        };
        let mut leftovers = end_leftover_processes(id, &state);
        let place = workspace.unwrap_or(Path::new(&state.session.workspace));
        let this = &self.in_workspace(place, Some(store))?;
        let forbidden = tool_services::forbidden_paths(this.data_dir(), &this.config_path);
        match Workspace::open(place, &this.settings.tools.roots, &forbidden) {
            Ok(open) => leftovers.verify_files(&state, &open),
            Err(error) => tracing::warn!(%error, "files of the session cannot be verified"),
        }
        let mut options = this.engine_options();
        let drafter = this.select_models(&state, interactive);
        if state.planning.begun {
            let mut planner = this.build_planner(store, id, Vec::new())?;
            planner.model = drafter.planner_client(this).await?;
            options.planner = Some(Arc::new(planner));
        }
        options.save_decision = this.decision_saver(store);
        let plan = state.plan.current.as_deref();
        if state.planning.begun || plan.is_some_and(|plan| needs_agents(&plan.plan)) {
            drafter.equip_session(this, store, id, place, &mut options).await?;
        }
        let mut first = resume_events(&state, &leftovers, mode, options.jobs, PROGRAM);
        first.extend(this.changed_limits_event(&state));
        first.extend(this.project_notice_event());
        match workspace {
            Some(workspace) => {
                let workspace = workspace.to_string_lossy().into_owned();
                first.insert(1, SessionEvent::WorkspaceMoved { workspace }.into());
            }
            None if !Path::new(&state.session.workspace).is_dir() => {
                return Err(CliProblem::failed(format!(
                    "the workspace {} of session {} is not there",
                    state.session.workspace,
                    id.short_id()
                ))
                .with_remedy("put it back, or name another one with --workspace")
                .into());
            }
            None => {}
        }
        let handle =
            engine::start_on_channel(line, journal, SessionState::clone(&state), first, options);
        inbox::forward_answers(store, &handle);
        Ok((handle, state))
    }

    /// Says what the settings of the project do not get.
    fn project_notice_event(&self) -> Option<Event> {
        self.project_notice().map(|what| SessionEvent::AnomalyNoted { what }.into())
    }

    /// Says which numbers a session works by from now on, where they differ from those it has.
    fn changed_limits_event(&self, state: &SessionState) -> Option<Event> {
        let limits = self.settings.limits();
        (limits != state.run.limits).then(|| RunEvent::LimitsSet { limits }.into())
    }

    /// How planning judges its own results.
    pub fn confidence_settings(&self) -> ConfidenceSettings {
        let weight = |part: &str| {
            self.settings.confidence_weights.value.get(part).copied().unwrap_or_default()
        };
        ConfidenceSettings {
            confidence_continue: self.settings.confidence_continue.value,
            confidence_escalate: self.settings.confidence_escalate.value,
            confidence_weights: ConfidenceWeights {
                self_score: weight("self_score"),
                rules: weight("rules"),
                heuristics: weight("heuristics"),
                offline_rules: weight("offline_rules"),
                offline_heuristics: weight("offline_heuristics"),
            },
        }
    }

    /// What the screens need to know.
    pub fn ui_settings(&self) -> anyhow::Result<UiSettings> {
        let name = if self.no_color { "mono" } else { self.settings.theme.value.as_str() };
        let theme = self.load_theme(name)?;
        let keys = self
            .settings
            .keys
            .iter()
            .map(|(action, key)| (action.clone(), key.value.clone()))
            .collect();
        Ok(UiSettings {
            theme,
            keys: KeyOverrides(keys),
            ascii: self.settings.ascii.value || !utf8_locale(),
            reduced_motion: self.settings.reduced_motion.value
                || std::env::var_os("PLANWRIGHT_REDUCED_MOTION")
                    .is_some_and(|value| !value.is_empty() && value != "0"),
            color: if self.no_color { ColorDepth::None } else { color_depth() },
            session_budget: planwright_model::MicroDollars::from_dollars(
                self.settings.budget_per_session_usd.value,
            ),
            now: Timestamp::now,
            time_zone: crate::config::time_zone(),
            changes: None,
        })
    }

    /// A theme of the person's own goes before a built-in one of the same name.
    fn load_theme(&self, name: &str) -> anyhow::Result<Theme> {
        let own = self.theme_file(name);
        if own.symlink_metadata().is_ok() {
            let text = files::read_text(&own, FileLimit::THEME)
                .with_context(|| format!("reading {}", own.display()))?;
            return Theme::parse(name, &text).with_context(|| format!("in {}", own.display()));
        }
        Theme::built_in(name).ok_or_else(|| {
            let names = self.theme_names();
            let near = planwright_text::nearest_name(name, names.iter().map(String::as_str));
            let remedy = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            CliProblem::usage(format!("there is no theme `{name}`")).with_remedy(remedy).into()
        })
    }

    /// Where a theme of the person's own would be.
    fn theme_file(&self, name: &str) -> PathBuf {
        self.themes_dir().join(format!("{name}.toml"))
    }

    fn themes_dir(&self) -> PathBuf {
        self.config_dir().join("themes")
    }

    /// Where the person's own themes, templates and topic packs are.
    pub fn config_dir(&self) -> &Path {
        self.config_path.parent().unwrap_or(Path::new(""))
    }

    /// All themes, built-in ones first.
    pub fn theme_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Theme::BUILT_IN.into_iter().map(str::to_owned).collect();
        // Most people have no such directory.
        let mut own: Vec<String> = std::fs::read_dir(self.themes_dir())
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let path = entry.path();
                (path.extension()? == "toml")
                    .then(|| path.file_stem()?.to_str().map(str::to_owned))
                    .flatten()
            })
            .filter(|name| !names.contains(name))
            .collect();
        own.sort();
        names.extend(own);
        names
    }
}

/// Whether a plan has tasks that only an agent can do.
fn needs_agents(plan: &Plan) -> bool {
    plan.tasks.iter().any(|task| matches!(task.run, planwright_model::RunKind::Agent {}))
}

/// A config file that was named and is not there is a mistake in the command; one with wrong content is a failure.
fn config_problem(error: ConfigError) -> anyhow::Error {
    match &error {
        ConfigError::Unreadable { source, .. } => CliProblem::usage(format!("{error}: {source}"))
            .with_remedy("check the path given with --config")
            .into(),
        _ => error.into(),
    }
}

/// The first events of a session made from a plan.
fn first_plan_events(ready: ReadyPlan, workspace: String) -> anyhow::Result<Vec<Event>> {
    let mut events: Vec<Event> = vec![
        SessionEvent::Created {
            format: FORMAT,
            program: PROGRAM.to_owned(),
            title: ready.plan.title.clone(),
            goal: ready.plan.goal.clone(),
            workspace,
            plan_file: ready.file,
        }
        .into(),
        SessionEvent::Opened { program: PROGRAM.to_owned(), pid: std::process::id() }.into(),
        PlanEvent::Proposed {
            revision: 1,
            hash: ready.plan.digest().context("hashing the plan")?,
            plan: Arc::new(ready.plan),
            facts: Arc::new(ready.facts),
            normalization: ready.normalization,
        }
        .into(),
    ];
    let mut state = SessionState::default();
    for event in &events {
        state.apply(&Record::new(state.seq.next(), Timestamp::UNIX_EPOCH, event.clone()));
    }
    if let Some(current) = &state.plan.current {
        let request = engine::controller::requests::final_plan_request(RequestId(1), current);
        events.push(ApprovalEvent::Asked { request: Arc::new(request) }.into());
    }
    Ok(events)
}

/// Sends a command to a session. One that has ended takes none any more; whoever waits for its end learns why.
pub(crate) async fn send_command(commands: &mpsc::Sender<Command>, command: Command) {
    let name = command.name();
    if commands.send(command).await.is_err() {
        tracing::debug!(command = name, "a command came after the end of the session");
    }
}

/// The past of a saved session.
pub fn session_history(store: &Store, id: &SessionId) -> anyhow::Result<History> {
    Ok(History::new(JournalSource::new(store.reader()?, id.clone())))
}

/// Finds the session a person named.
pub fn find_session(store: &Store, name: &str) -> anyhow::Result<SessionId> {
    match store.find_session(name) {
        Ok(id) => Ok(id),
        Err(FindError::None { name }) => Err(unknown_session_error(&name)),
        Err(FindError::Several { name, matches }) => {
            let ids: Vec<&str> = matches.iter().map(SessionId::as_str).collect();
            Err(CliProblem::usage(format!("{} sessions begin with `{name}`", ids.len()))
                .with_remedy(format!("name more of the id: {}", ids.join(", ")))
                .into())
        }
        Err(FindError::Store(error)) => Err(error.into()),
    }
}

/// The answer to a name that no session has.
pub fn unknown_session_error(name: &str) -> anyhow::Error {
    let problem = if name == "last" {
        CliProblem::usage("there is no saved session yet")
            .with_remedy("planwright \"your goal\" or planwright run plan.toml makes one")
    } else {
        CliProblem::usage(format!("no session begins with `{name}`"))
            .with_remedy("planwright sessions list shows what there is")
    };
    problem.into()
}

/// The answer to the number of an event that a session does not have.
pub fn unknown_event_error(id: &SessionId, head: Seq, number: u64) -> anyhow::Error {
    CliProblem::usage(format!("session {} has events 1 to {head}, not {number}", id.short_id()))
        .with_remedy(format!("planwright replay {} shows them with their numbers", id.short_id()))
        .into()
}

/// Follows a session that another process may write: the number of its last durable event, looked at four times a second.
pub fn follow_session(store: &Store, id: &SessionId) -> anyhow::Result<watch::Receiver<Seq>> {
    let (sender, receiver) = watch::channel(store.session_info(id)?.head);
    if store.lease_holder(id)?.is_none() {
        // Nobody writes it: a saved run costs nothing while it is looked at.
        return Ok(receiver);
    }
    let mut watch_rows = store.reader()?.watch_session(id.clone());
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(std::time::Duration::from_millis(250));
        while !sender.is_closed() {
            ticks.tick().await;
            match watch_rows.poll_head() {
                Ok(Some(head)) => {
                    sender.send_replace(head);
                }
                Ok(None) => {}
                // The screen keeps what it shows; the log tells why it does not move any more.
                Err(error) => {
                    tracing::error!(%error, "following the session ended");
                    return;
                }
            }
        }
    });
    Ok(receiver)
}

/// How many colours the terminal says it has.
pub(crate) fn color_depth() -> ColorDepth {
    let says = |name: &str, word: &str| std::env::var(name).is_ok_and(|value| value.contains(word));
    if says("COLORTERM", "truecolor") || says("COLORTERM", "24bit") || says("TERM", "direct") {
        ColorDepth::True
    } else {
        ColorDepth::Sixteen
    }
}

pub(crate) fn utf8_locale() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    match set {
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        }
        // Nothing set is common in containers, whose terminals all the same speak UTF-8.
        None => true,
    }
}

/// Runs the screen of a session and prints its summary once the terminal is restored.
pub async fn show_session(
    view: tui::SessionView,
    settings: &UiSettings,
) -> anyhow::Result<tui::SessionExit> {
    let exit = tui::run_session(view, settings).await?;
    if !exit.summary.is_empty() {
        StdoutWriter::new().write_lines(&exit.summary)?;
    }
    Ok(exit)
}
