//! The composition root: settings, store, engine and screens put together.

mod appearance;
pub(crate) mod calendars;
pub(crate) mod desk;
pub(crate) mod exports;
mod fact_changes;
pub(crate) mod forks;
mod gate_options;
pub(crate) mod home;
pub(crate) mod inbox;
mod installed_agents;
mod leftover_output;
mod models;
mod new_session;
pub(crate) mod options;
mod other_plans;
pub(crate) mod otlp_feed;
pub(crate) mod own_agents;
mod own_time_items;
mod plan_secrets;
mod plan_session;
pub(crate) mod planning;
pub(crate) mod replay_film;
mod resume_session;
mod run_notices;
mod saved_sessions;
mod screen_terminal;
mod secrets;
pub(crate) mod session_actions;
mod settings_store;
pub(crate) mod spare_reader;
mod themes;
pub(crate) mod today;
pub(crate) mod toolbox;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{self, ConfigError, JobLimit, ProjectConfig, ProjectStanding, Settings};
use crate::console::{CliProblem, StdoutWriter};
pub use models::OFFLINE_HELP;
pub(crate) use models::SessionModels;
use new_session::require_events;
use options::SharedArgs;
pub(crate) use plan_secrets::PlanSecrets;
pub(crate) use plan_session::ReadyPlan;
use planwright_engine::{self as engine, EngineFeatures, EngineOptions};
use planwright_files::{self as files, FileLimit};
use planwright_llm::model_capability_cache::{
    FileCapabilityCache, MemoryCapabilityCache, ModelCapabilityCache,
};
use planwright_llm::provider::{KeyObserver, ModelFactory, ProviderRegistry, apply_environment};
use planwright_model::SessionId;
use planwright_model::event::{Event, RunEvent, SessionEvent};
use planwright_model::setting::SettingOrigin;
use planwright_plan::confidence::{ConfidenceSettings, ConfidenceWeights};
use planwright_spool::SpoolDirectory;
use planwright_state::SessionState;
use planwright_store::{OpenMode, Store, StoreError};
use planwright_text::{LearnedSecrets, Redactor};
use planwright_tools::machine_pools::MachinePools;
use planwright_tools::{LocalProcessExecutor, ResultStore, TaskCache};
use planwright_tui::{self as tui, UiSettings};
pub(crate) use resume_session::ResumeOptions;
pub(crate) use saved_sessions::{
    find_session, follow_session, session_history, unknown_event_error, unknown_session_error,
    watch_note,
};
pub(crate) use themes::{color_depth, utf8_locale};

/// Settings without a store, for commands that need none.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub settings: Settings,
    pub config_path: PathBuf,
    /// The settings of the project, once a workspace is known.
    pub project: Option<ProjectStanding>,
    data_dir: Option<PathBuf>,
    no_color: bool,
    /// Whether a screen is shown, whose terminal commands may borrow.
    has_screen: bool,
    /// Secrets that turn up while a plan runs. Everything of this process that redacts knows them.
    learned_secrets: LearnedSecrets,
    /// Secrets of the plan that is about to run.
    plan_secrets: PlanSecrets,
    /// Whether commands run although nothing has changed.
    pub(crate) ignore_cache: bool,
}

impl App {
    /// Reads the settings; the command line goes last.
    pub(crate) fn settings_only(shared: &SharedArgs) -> anyhow::Result<Self> {
        let config_path = shared.config.clone().or_else(config::config_file).unwrap_or_default();
        let mut settings =
            Settings::load(&config_path, shared.config.is_some()).map_err(config_problem)?;
        apply_environment(&mut settings.models, |name| std::env::var(name).ok());
        Self::from_parts(settings, config_path, shared)
    }

    /// The built-in settings, for whoever must go on although the config cannot be read.
    pub(crate) fn without_config(shared: &SharedArgs) -> anyhow::Result<Self> {
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
        config::use_time_zone(settings.me.time_zone.value.as_deref());
        let (plan_secrets, ignore_cache) = (PlanSecrets::default(), false);
        let app = Self {
            settings,
            config_path,
            project: None,
            data_dir,
            no_color,
            has_screen: !shared.headless && !shared.plain,
            learned_secrets: LearnedSecrets::default(),
            plan_secrets,
            ignore_cache,
        };
        crate::diagnostics::share_learned_secrets(&app.learned_secrets);
        app.cover_log();
        Ok(app)
    }

    /// The same with the settings of the project in a workspace, as far as they count. What was trusted is in the store.
    pub(crate) fn in_workspace(
        &self,
        workspace: &Path,
        store: Option<&Store>,
    ) -> anyhow::Result<Self> {
        let mut app = self.clone();
        let Some(project) = ProjectConfig::find(workspace)? else { return Ok(app) };
        let approved = store.map(|store| store.tool_pin_hash(&project.trust_name())).transpose()?;
        let trusted = approved.flatten().is_some_and(|hash| hash == project.hash.as_str());
        app.project = Some(project.apply(&mut app.settings, trusted)?);
        app.cover_log();
        Ok(app)
    }

    /// What the settings of the project ask for and do not get, in one line.
    pub(crate) fn project_notice(&self) -> Option<String> {
        let standing = self.project.as_ref().filter(|standing| !standing.left_out.is_empty())?;
        let names: Vec<&str> = standing.left_out.iter().map(|row| row.name.as_str()).collect();
        Some(format!(
            "{} is not trusted, left out: {}; `planwright config trust` takes it over",
            standing.config.path.display(),
            names.join(", ")
        ))
    }

    /// Finds mistakes in theme and keys before anything is written, and flags that make no sense on a screen.
    pub(crate) fn check_screen(&self, shared: &SharedArgs) -> anyhow::Result<()> {
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
    pub(crate) fn open_store(&self) -> anyhow::Result<Store> {
        let opened = Store::open(self.require_data_dir()?, OpenMode::ReadWrite);
        // Nothing ran and nothing failed: the directory that was named cannot be used. A disk that fails or is full is
        // another matter.
        let failing =
            [rustix::io::Errno::IO, rustix::io::Errno::NOSPC].map(rustix::io::Errno::raw_os_error);
        let is_failing = |source: &std::io::Error| {
            source.raw_os_error().is_some_and(|code| failing.contains(&code))
        };
        opened.map_err(|error| match &error {
            StoreError::CannotCreate { source, .. } if !is_failing(source) => {
                let what = format!("{error}: {source}");
                anyhow::Error::from(CliProblem::usage(what).with_remedy(error.hint()))
            }
            _ => error.into(),
        })
    }

    /// Opens the store for reading. `None` when there is none yet.
    pub(crate) fn read_store(&self) -> anyhow::Result<Option<Store>> {
        match Store::open(self.require_data_dir()?, OpenMode::ReadOnly) {
            Ok(store) => Ok(Some(store)),
            Err(StoreError::Missing { .. }) => Ok(None),
            // Written by an earlier version: opening it for writing brings it up to date.
            Err(StoreError::Older { .. }) => Ok(Some(self.open_store()?)),
            Err(error) => Err(error.into()),
        }
    }

    /// The directory of the store.
    pub(crate) fn require_data_dir(&self) -> anyhow::Result<&Path> {
        self.data_dir.as_deref().ok_or_else(|| {
            CliProblem::usage("there is no home directory to keep sessions in")
                .with_remedy("name one with --data-dir")
                .into()
        })
    }

    /// The directory of the store, unless there is no home to keep it in.
    pub(crate) fn data_dir(&self) -> Option<&Path> {
        self.data_dir.as_deref()
    }

    /// Variables that hold the keys of model providers. Commands never see them.
    pub(crate) fn key_variables(&self) -> Vec<String> {
        ProviderRegistry::new(&self.settings.models).key_variables()
    }

    /// The models that can be opened, with what was found out about them before.
    pub(crate) fn models(&self) -> ModelFactory {
        let cache: Arc<dyn ModelCapabilityCache> = match &self.data_dir {
            Some(dir) => Arc::new(FileCapabilityCache::new(dir.join(FileCapabilityCache::FILE))),
            None => Arc::new(MemoryCapabilityCache::default()),
        };
        let observer =
            KeyObserver(Arc::new(|key| crate::diagnostics::add_secrets([key.expose().to_owned()])));
        ModelFactory::new(self.settings.models.clone(), cache)
            .with_key_observer(observer)
            .with_learned_secrets(self.learned_secrets.clone())
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

    /// Runs the commands of tasks. They never see the keys of model providers, unless their plan passes them on.
    fn process_executor(&self, redactor: Redactor) -> LocalProcessExecutor {
        let executor = LocalProcessExecutor::new(redactor, self.key_variables())
            .with_settings(config::tool_settings::tool_settings(&self.settings))
            .with_launchers(config::executors::command_launchers(&self.settings))
            .with_secrets(Vec::clone(&self.plan_secrets.values));
        let executor = if self.has_screen {
            executor.with_terminal(Arc::new(screen_terminal::ScreenTerminal))
        } else {
            executor
        };
        let Some(data_dir) = &self.data_dir else { return executor };
        let cache = (!self.ignore_cache).then(|| TaskCache::new(data_dir.join("cache")));
        let executor = executor.with_results(ResultStore::new(data_dir.join("artifacts")), cache);
        if !self.settings.enable_react_tracing.value {
            return executor;
        }
        let cap = self.settings.output_cap_mb.value.saturating_mul(1024 * 1024);
        executor
            .with_spools(SpoolDirectory::in_data_dir(data_dir), cap)
            .with_spare_reader(spare_reader::spare_reader())
    }

    /// Removes what the attempts of a session kept.
    pub(crate) fn remove_results(&self, session: &SessionId) -> std::io::Result<()> {
        let Some(data_dir) = &self.data_dir else { return Ok(()) };
        ResultStore::new(data_dir.join("artifacts")).remove_session(session)
    }

    fn notice_starter(&self) -> Arc<dyn Fn(&engine::RunNotice) + Send + Sync> {
        let without = self.key_variables();
        Arc::new(move |notice| run_notices::start_notice_command(notice, &without))
    }

    fn engine_options(&self) -> EngineOptions {
        let features = EngineFeatures {
            task_graphs: self.settings.enable_task_graphs.value,
            react_tracing: self.settings.enable_react_tracing.value,
            tool_affinity: self.settings.enable_tool_affinity.value,
        };
        let redactor = self.redactor();
        EngineOptions {
            jobs: self.settings.jobs.value.initial(),
            clock: engine::wall_clock(),
            executor: Arc::new(self.process_executor(redactor.clone())),
            features,
            durability: engine::CallDurability::default(),
            caps: self.settings.caps(),
            redactor,
            adapt_jobs: self.settings.jobs.value == JobLimit::Auto,
            planner: None,
            default_agent: self.settings.own_agents.default.clone(),
            other_plans: None,
            agent_receiver: None,
            worktrees: None,
            ledger: None,
            save_decision: Arc::new(|_| {}),
            machine_pools: self.data_dir.as_ref().map(|dir| MachinePools::new(dir.join("pools"))),
            notify: self.notice_starter(),
        }
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
    pub(crate) fn confidence_settings(&self) -> ConfidenceSettings {
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

    /// Where the person's own themes, templates and topic packs are.
    pub(crate) fn config_dir(&self) -> &Path {
        self.config_path.parent().unwrap_or(Path::new(""))
    }
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

/// Runs the screen of a session and prints its summary once the terminal is restored.
pub(crate) async fn show_session(
    view: tui::SessionView,
    settings: &UiSettings,
) -> anyhow::Result<tui::SessionExit> {
    let exit = tui::run_session(view, settings).await?;
    if !exit.summary.is_empty() {
        StdoutWriter::new().write_lines(&exit.summary)?;
    }
    Ok(exit)
}
