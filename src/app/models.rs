//! Opening what models and agents need: the provider that is used and why, the ledger, the tools, the services.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use super::App;
use super::toolbox::ToolboxOptions;
use crate::config::tool_settings::{mcp_servers, permission_rules};
use crate::console::CliProblem;
use crate::diagnostics::leave_out_quotes;
use planwright_agents::clock::wall_clock;
use planwright_agents::{
    AgentAssets, AgentLimits, AgentServices, AgentSubtaskRunner, SubtaskParts,
};
use planwright_drafting::gate::{ForcedGateDecision, GatePolicy, GatePolicyOverrides};
use planwright_engine::planner::{LookOnlyHost, ModelClient, PlanningPrompts, PlanningWorkspace};
use planwright_engine::tool_services::KnownTools;
use planwright_engine::{
    AgentPort, BuiltInAgentExecutor, EngineOptions, ToolProfileLookup, open_agent_port,
};
use planwright_llm::cost::{BudgetCeiling, Ledger, SpendingPurpose};
use planwright_llm::protocol::ModelDialogue;
use planwright_llm::provider::{
    KeyConsent, ModelFactory, ModelRole, OFFLINE, OllamaProbe, ProviderChoice, ProviderContext,
    RoleOptions, choose_provider,
};
use planwright_model::event::SessionEvent;
use planwright_model::gate::GateThresholds;
use planwright_model::{MicroDollars, RunCap, SessionId};
use planwright_state::SessionState;
use planwright_store::Store;
use planwright_store::spending::{self as spending, SpendingTotals};
use planwright_text::Redactor;
use planwright_tools::affinity::ToolProfiles;
use planwright_tools::builtin::builtin_registry;
use planwright_tools::mcp::McpServers;
use planwright_tools::{ToolRegistry, Toolbox};

/// Which model drafts and works in a session.
#[derive(Debug)]
pub(crate) struct SessionModels {
    /// `offline`, or provider and model.
    pub name: String,
    pub provider: String,
    pub why: String,
    /// A key was found that may be used once the person says so.
    pub ask: Option<KeyConsent>,
    models: ModelFactory,
    ledger: Arc<Ledger>,
    /// Limits that the person moved earlier in this session.
    raised: BTreeMap<RunCap, Option<u64>>,
    next_ask: Arc<AtomicU32>,
    /// Locked while an ask gets its number and is recorded, so that asks are recorded in the order of their numbers.
    asking: Arc<Mutex<()>>,
}

impl App {
    /// Chooses the provider of a session and opens its ledger.
    pub(crate) fn select_models(&self, state: &SessionState, interactive: bool) -> SessionModels {
        let models = self.models();
        let env: BTreeSet<String> = std::env::vars_os()
            .filter(|(_, value)| !value.is_empty())
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        let situation = ProviderContext {
            settings: models.settings(),
            registry: models.registry(),
            env: &env,
            ollama: &OllamaProbe::NotAsked,
            interactive,
        };
        let ProviderChoice { provider, why, ask, .. } = choose_provider(&situation);
        tracing::info!(provider, why, "provider chosen");
        let ledger = self.open_ledger(state);
        let raised = state.run.raised.clone();
        let next_ask = Arc::new(AtomicU32::new(state.totals.asks));
        let name = ask.as_ref().map_or_else(|| provider.clone(), |ask| ask.provider.clone());
        let asking = Arc::default();
        SessionModels { name, provider, why, ask, models, ledger, raised, next_ask, asking }
    }

    /// The numbers that agents work by.
    pub(super) fn agent_limits(&self) -> AgentLimits {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let agents = &self.settings.agents;
        AgentLimits {
            loops: small(agents.loops.value),
            lookups_per_step: small(agents.lookups_per_step.value),
            ..AgentLimits::from_limits(&self.settings.limits())
        }
    }

    /// When something small skips ceremony.
    pub(super) fn gate_policy(&self) -> GatePolicy {
        let gate = &self.settings.agents.gate;
        let overrides = &gate.user_overrides.value;
        GatePolicy {
            enabled: gate.policy_enabled.value,
            thresholds: GateThresholds {
                overlap: gate.retrieval_overlap_threshold.value,
                conflict: gate.nli_conflict_threshold.value,
                complexity: gate.complexity_threshold.value,
            },
            overrides: GatePolicyOverrides {
                decision: overrides.decision.as_deref().map(|decision| match decision {
                    "force_exit" => ForcedGateDecision::ForceExit,
                    _ => ForcedGateDecision::ForceFull,
                }),
                signals: overrides.signals.clone(),
            },
        }
    }

    fn open_ledger(&self, state: &SessionState) -> Arc<Ledger> {
        let ledger = Ledger::new();
        let dollars = |amount: f64| MicroDollars::from_dollars(amount).0;
        let models = &self.settings.models;
        ledger.set_limit(
            BudgetCeiling::Session,
            Some(dollars(self.settings.budget_per_session_usd.value)),
        );
        ledger.set_limit(BudgetCeiling::Day, Some(dollars(models.daily_budget_usd.value)));
        ledger.set_limit(BudgetCeiling::Turn, Some(dollars(models.soft_budget_per_turn_usd.value)));
        ledger.set_limit(BudgetCeiling::Tokens, Some(self.settings.run_token_limit.value));
        ledger.set_spent(BudgetCeiling::Session, state.totals.cost.0);
        ledger.set_spent(BudgetCeiling::Tokens, state.totals.tokens);
        ledger
    }
}

impl SessionModels {
    /// Whether nothing is asked of a model, now or after consent.
    pub(crate) fn is_offline(&self) -> bool {
        self.provider == OFFLINE && self.ask.is_none()
    }

    /// Counts what was spent today towards the daily cap, by other sessions and by this one before it was taken up.
    fn load_daily_spend(&self, store: &Store) -> anyhow::Result<()> {
        let zone = crate::config::time_zone();
        let since = spending::day_start(jiff::Timestamp::now(), &zone);
        let spent = SpendingTotals::starting_at(since).update_total(&store.reader()?)?;
        self.ledger.set_spent(BudgetCeiling::Day, spent.0);
        for (cap, to) in &self.raised {
            self.ledger.raise_limit(*cap, *to);
        }
        Ok(())
    }

    /// Covers what the program knows to be secret, the keys that were loaded included.
    fn redactor(&self, app: &App) -> Redactor {
        let loaded = self.models.loaded_keys();
        let loaded = loaded.iter().map(|key| key.expose().to_owned());
        app.redactor_with(loaded)
    }

    /// The model that drafts plans, if one does.
    pub(crate) async fn planner_client(
        &self,
        app: &App,
        store: &Store,
        workspace: &Path,
    ) -> anyhow::Result<Option<Arc<ModelClient>>> {
        if self.is_offline() {
            return Ok(None);
        }
        let dialogue = self.open_dialogue(ModelRole::Planner).await?;
        let options = RoleOptions::from_settings(self.models.settings(), ModelRole::Planner);
        Ok(Some(Arc::new(ModelClient {
            dialogue,
            prompts: Arc::new(PlanningPrompts::default().with_overrides(app.custom_prompts())),
            redactor: self.redactor(app),
            next_ask: Arc::clone(&self.next_ask),
            temperature: options.temperature,
            max_output_tokens: options.max_output_tokens,
            workspace: self.planning_workspace(app, store, workspace),
        })))
    }

    /// What the model that plans may look at. A workspace that cannot be opened is planned without.
    fn planning_workspace(
        &self,
        app: &App,
        store: &Store,
        workspace: &Path,
    ) -> Option<PlanningWorkspace> {
        let workspace = app
            .open_workspace(workspace)
            .inspect_err(|error| tracing::warn!(%error, "planning cannot look at the workspace"))
            .ok()?;
        let options = ToolboxOptions {
            registry: builtin_registry(),
            servers: McpServers::default(),
            workspace,
            call_host: LookOnlyHost::shared(),
            todo_scope: "planning".to_owned(),
            session: "planning".to_owned(),
            jobs: app.settings.jobs.value.initial(),
            redactor: self.redactor(app),
            subtasks: None,
        };
        Some(PlanningWorkspace::new(app.build_toolbox(store, options)))
    }

    async fn open_dialogue(&self, role: ModelRole) -> anyhow::Result<ModelDialogue> {
        let provider = self.ask.as_ref().map_or(&self.provider, |ask| &ask.provider);
        self.models.open_dialogue(provider, role, Arc::clone(&self.ledger)).await.map_err(|error| {
            let problem = match error.code.as_str() {
                "unknown_provider" => CliProblem::usage(error.message),
                _ => CliProblem::failed(error.message),
            };
            problem.with_remedy(error.next_step).into()
        })
    }

    /// Equips a session to carry out tasks of agents.
    pub(crate) async fn equip_session(
        &self,
        app: &App,
        store: &Store,
        session: &SessionId,
        workspace: &Path,
        options: &mut EngineOptions,
    ) -> anyhow::Result<()> {
        self.load_daily_spend(store)?;
        options.ledger = Some(Arc::clone(&self.ledger));
        let place = workspace;
        // A workspace that is not there is told when something needs it.
        let workspace = match app.open_workspace(workspace) {
            Ok(workspace) => workspace,
            Err(error) => {
                tracing::warn!(%error, "the session has no agents: its workspace cannot be opened");
                return Ok(());
            }
        };
        let registry = builtin_registry();
        // Mistakes in the person's own profiles are told at once, not at the first task.
        KnownTools::load(&registry, app.config_dir(), None)?;
        let (port, receiver) = open_agent_port(
            session.clone(),
            permission_rules(&app.settings),
            wall_clock(),
            options.save_decision.clone(),
        );
        let worktrees = app.worktree_runner(session, place, self.redactor(app), &port);
        options.worktrees.clone_from(&worktrees);
        let dialogues = self.open_agent_dialogues().await?;
        let assets = load_assets(app, &port);
        let toolbox = app.build_toolbox(
            store,
            ToolboxOptions {
                registry,
                servers: mcp_servers(&app.settings),
                workspace,
                call_host: Arc::new(port.clone()),
                todo_scope: session.to_string(),
                session: session.to_string(),
                jobs: options.jobs,
                redactor: self.redactor(app),
                subtasks: self.subtask_runner(&dialogues.executor, &assets, &port),
            },
        );
        options.executor = Arc::new(BuiltInAgentExecutor {
            uses_affinity: options.features.tool_affinity,
            processes: app.process_executor(options.redactor.clone()),
            services: self.agent_services(app, dialogues, assets, toolbox, &port),
            port,
            profiles: profile_lookup(app, store),
            worktrees,
            own_agents: Arc::new(app.own_agents()),
        });
        options.agent_receiver = Some(receiver);
        Ok(())
    }

    /// The models of agents by what they are asked for; offline, one that gives the built-in answers.
    async fn open_agent_dialogues(&self) -> anyhow::Result<AgentDialogues> {
        if self.is_offline() {
            let offline = || Arc::new(ModelDialogue::new(planwright_agents::offline_model()));
            return Ok(AgentDialogues {
                executor: offline(),
                planner: offline(),
                judge: offline(),
                summarizer: offline(),
            });
        }
        let open = async |role| -> anyhow::Result<_> {
            Ok(Arc::new(self.open_dialogue(role).await?.with_purpose(SpendingPurpose::Execution)))
        };
        Ok(AgentDialogues {
            executor: open(ModelRole::Executor).await?,
            planner: open(ModelRole::Planner).await?,
            judge: open(ModelRole::Judge).await?,
            summarizer: open(ModelRole::Summarizer).await?,
        })
    }

    /// Has the model of agents work on subtasks of tools. Offline there is none.
    fn subtask_runner(
        &self,
        executor: &Arc<ModelDialogue>,
        assets: &AgentAssets,
        port: &AgentPort,
    ) -> Option<Arc<AgentSubtaskRunner>> {
        if self.is_offline() {
            return None;
        }
        let port = port.clone();
        Some(Arc::new(AgentSubtaskRunner::new(SubtaskParts {
            dialogue: Arc::clone(executor),
            prompts: Arc::clone(&assets.prompts),
            recipes: Arc::clone(&assets.recipes),
            clock: wall_clock(),
            next_ask: Arc::clone(&self.next_ask),
            asking: Arc::clone(&self.asking),
            emit: Arc::new(move |event| port.record(event)),
        })))
    }

    fn agent_services(
        &self,
        app: &App,
        dialogues: AgentDialogues,
        assets: AgentAssets,
        toolbox: Toolbox,
        port: &AgentPort,
    ) -> AgentServices {
        AgentServices {
            person: Arc::new(port.clone()),
            dialogue: dialogues.executor,
            planner: dialogues.planner,
            judge: dialogues.judge,
            summarizer: dialogues.summarizer,
            toolbox,
            types: assets.types,
            prompts: assets.prompts,
            recipes: assets.recipes,
            limits: app.agent_limits(),
            reasoning_mode: app.settings.agents.reasoning_mode.value,
            gate: app.gate_policy(),
            clock: wall_clock(),
            next_ask: Arc::clone(&self.next_ask),
            asking: Arc::clone(&self.asking),
        }
    }
}

/// The models of agents, by what they are asked for.
struct AgentDialogues {
    executor: Arc<ModelDialogue>,
    planner: Arc<ModelDialogue>,
    judge: Arc<ModelDialogue>,
    summarizer: Arc<ModelDialogue>,
}

/// Prompts, recipes and agent types, with the person's own. What is wrong with those is recorded in the session.
fn load_assets(app: &App, port: &AgentPort) -> AgentAssets {
    let (assets, problems) = AgentAssets::load(app.config_dir());
    for what in problems {
        port.record(SessionEvent::AnomalyNoted { what });
    }
    assets
}

/// What is known about tools when a task begins, with everything that calls taught up to then.
fn profile_lookup(app: &App, store: &Store) -> ToolProfileLookup {
    let (config_dir, store) = (app.config_dir().to_owned(), store.clone());
    Arc::new(move |registry: &ToolRegistry| {
        let reader = store
            .reader()
            .inspect_err(|error| tracing::warn!(%error, "what calls taught cannot be read"))
            .ok();
        match KnownTools::load(registry, &config_dir, reader.as_ref()) {
            Ok(known) => known.profiles,
            Err(error) => {
                let error = leave_out_quotes(&format!("{error:#}"));
                tracing::warn!(error, "tool profiles cannot be read, the built-in ones are used");
                ToolProfiles::built_in()
            }
        }
    })
}

/// What the first start says about planning without a model.
pub const OFFLINE_HELP: [&str; 2] = [
    "The built-in planner drafts. It needs no account and sends nothing anywhere.",
    "For a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY, start Ollama, or run planwright config init.",
];

/// Who drafts, for the header of home.
pub(crate) fn provider_line(drafter: &SessionModels) -> String {
    if drafter.is_offline() {
        return "built-in planner · free, works offline".to_owned();
    }
    match &drafter.ask {
        Some(ask) => format!("built-in planner; {} is set", ask.variable),
        None => drafter.name.clone(),
    }
}

/// Who drafts and how to change it, in sentences, for the first start.
pub(crate) fn provider_help(drafter: &SessionModels) -> Vec<String> {
    if let Some(ask) = &drafter.ask {
        return vec![
            format!(
                "{} is set. Nothing was sent to {}; the first plan asks whether to use it.",
                ask.variable, ask.provider
            ),
            "Until you say yes the built-in planner drafts.".to_owned(),
        ];
    }
    if !drafter.is_offline() {
        return vec![
            format!("{} drafts, because {}.", drafter.name, drafter.why),
            "To plan without a model: --provider offline.".to_owned(),
        ];
    }
    let found = super::installed_agents::find_installed_agents();
    if found.is_empty() {
        return OFFLINE_HELP.map(str::to_owned).to_vec();
    }
    let found = format!("Found: {}. None is used until you turn it on.", found.join(", "));
    vec![OFFLINE_HELP[0].to_owned(), found]
}
