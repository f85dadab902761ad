//! Opening what models and agents need: the provider that is used and why, the books, the tools, the kit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use super::App;
use planwright_agents::clock::wall_clock;
use planwright_agents::{AgentKit, AgentLimits, AgentSubtasks, Assets, SubtaskParts};
use planwright_drafting::gate::{Forced, GatePolicy, Overrides};
use planwright_engine::planner::{ModelDesk, Prompts};
use planwright_engine::tool_services::{self, Known, StoreServices};
use planwright_engine::{AgentRunner, EngineOptions, Inlet, Port, ProfilesOf, ShellRunner, port};
use planwright_llm::cost::{Ceiling, Ledger, Spender};
use planwright_llm::protocol::Dialogue;
use planwright_llm::provider::{
    Choice, Consent, ModelRole, Models, OFFLINE, OllamaProbe, RoleOptions, Situation, choose,
};
use planwright_model::event::SessionEvent;
use planwright_model::gate::GateThresholds;
use planwright_model::{Cap, MicroDollars, SessionId};
use planwright_state::SessionState;
use planwright_store::Store;
use planwright_store::replay_spending::{self as spending, Spending};
use planwright_text::Redactor;
use planwright_tools::affinity::Profiles;
use planwright_tools::offline::OfflineSubtasks;
use planwright_tools::sandbox::Sandbox;
use planwright_tools::{Parts, Permits, Registry, Services, Toolbox, Workspace};

/// Which model drafts and works in a session.
#[derive(Debug)]
pub struct Drafter {
    /// `offline`, or provider and model.
    pub name: String,
    pub provider: String,
    pub why: String,
    /// A key was found that may be used once the person says so.
    pub ask: Option<Consent>,
    models: Models,
    ledger: Arc<Ledger>,
    /// Limits that the person moved earlier in this session.
    raised: BTreeMap<Cap, Option<u64>>,
    next_ask: Arc<AtomicU32>,
}

impl App {
    /// Chooses the provider of a session and opens its books.
    pub fn drafter(&self, state: &SessionState, interactive: bool) -> Drafter {
        let models = self.models();
        let env: BTreeSet<String> = std::env::vars_os()
            .filter(|(_, value)| !value.is_empty())
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        let situation = Situation {
            settings: models.settings(),
            registry: models.registry(),
            env: &env,
            ollama: &OllamaProbe::NotAsked,
            interactive,
        };
        let Choice { provider, why, ask, .. } = choose(&situation);
        let ledger = self.ledger(state);
        let raised = state.run.raised.clone();
        let next_ask = Arc::new(AtomicU32::new(state.totals.asks));
        let name = ask.as_ref().map_or_else(|| provider.clone(), |ask| ask.provider.clone());
        Drafter { name, provider, why, ask, models, ledger, raised, next_ask }
    }

    /// The numbers that agents work by.
    pub(super) fn agent_limits(&self) -> AgentLimits {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let agents = &self.settings.agents;
        AgentLimits {
            loops: small(agents.loops.value),
            lookups_per_step: small(agents.lookups_per_step.value),
            ..AgentLimits::of(&self.settings.limits())
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
            overrides: Overrides {
                decision: overrides.decision.as_deref().map(|decision| match decision {
                    "force_exit" => Forced::ForceExit,
                    _ => Forced::ForceFull,
                }),
                signals: overrides.signals.clone(),
            },
        }
    }

    fn ledger(&self, state: &SessionState) -> Arc<Ledger> {
        let ledger = Ledger::new();
        let dollars = |amount: f64| MicroDollars::from_dollars(amount).0;
        let models = &self.settings.models;
        ledger.limit(Ceiling::Session, Some(dollars(self.settings.budget_per_session_usd.value)));
        ledger.limit(Ceiling::Day, Some(dollars(models.daily_budget_usd.value)));
        ledger.limit(Ceiling::Turn, Some(dollars(models.soft_budget_per_turn_usd.value)));
        ledger.limit(Ceiling::Tokens, Some(self.settings.run_token_limit.value));
        ledger.carry(Ceiling::Session, state.totals.cost.0);
        ledger.carry(Ceiling::Tokens, state.totals.tokens);
        ledger
    }
}

impl Drafter {
    /// Whether nothing is asked of a model, now or after consent.
    pub fn is_offline(&self) -> bool {
        self.provider == OFFLINE && self.ask.is_none()
    }

    /// Counts what was spent today towards the daily cap, by other sessions and by this one before it was taken up.
    fn carry_day(&self, store: &Store) -> anyhow::Result<()> {
        let zone = crate::config::time_zone();
        let since = spending::day_start(jiff::Timestamp::now(), &zone);
        let spent = Spending::since(since).total(&store.reader()?)?;
        self.ledger.carry(Ceiling::Day, spent.0);
        for (cap, to) in &self.raised {
            self.ledger.raise(*cap, *to);
        }
        Ok(())
    }

    /// Covers what the program knows to be secret, the keys that were loaded included.
    fn redactor(&self, app: &App) -> Redactor {
        let loaded = self.models.secrets();
        let loaded = loaded.iter().map(|key| key.expose().to_owned());
        app.redactor_with(loaded)
    }

    /// The model that drafts plans, if one does.
    pub async fn desk(&self, app: &App) -> anyhow::Result<Option<Arc<ModelDesk>>> {
        if self.is_offline() {
            return Ok(None);
        }
        let dialogue = self.open(ModelRole::Planner).await?;
        let options = RoleOptions::of(self.models.settings(), ModelRole::Planner);
        Ok(Some(Arc::new(ModelDesk {
            dialogue,
            prompts: Arc::new(Prompts::default().with(app.own_prompts())),
            redactor: self.redactor(app),
            next_ask: Arc::clone(&self.next_ask),
            temperature: options.temperature,
            max_output_tokens: options.max_output_tokens,
        })))
    }

    async fn open(&self, role: ModelRole) -> anyhow::Result<Dialogue> {
        let provider = self.ask.as_ref().map_or(&self.provider, |ask| &ask.provider);
        self.models.dialogue(provider, role, Arc::clone(&self.ledger)).await.map_err(|error| {
            let problem = match error.code.as_str() {
                "unknown_provider" => crate::cli::Problem::usage(error.message),
                _ => crate::cli::Problem::failed(error.message),
            };
            problem.remedy(error.next_step).into()
        })
    }

    /// Equips a session to carry out tasks of agents.
    pub async fn equip(
        &self,
        app: &App,
        store: &Store,
        session: &SessionId,
        workspace: &std::path::Path,
        options: &mut EngineOptions,
    ) -> anyhow::Result<()> {
        self.carry_day(store)?;
        options.ledger = Some(Arc::clone(&self.ledger));
        let (own, inlet): (Port, Inlet) = port(
            session.clone(),
            crate::config::tool_settings::rules(&app.settings),
            wall_clock(),
            options.keep.clone(),
        );
        let places = tool_services::forbidden(app.data_dir(), &app.config_path);
        // A workspace that is not there is told when something needs it.
        let Ok(workspace) = Workspace::open(workspace, &app.settings.tools.roots, &places) else {
            return Ok(());
        };
        let registry = planwright_tools::builtin::registry();
        // Mistakes in the person's own profiles are told at once, not at the first task.
        Known::of(&registry, app.config_dir(), None)?;
        let services = StoreServices::new(store);
        let limits = app.agent_limits();
        let (executor, planner, judge, summarizer) = if self.is_offline() {
            let offline = || Arc::new(Dialogue::new(planwright_agents::offline_model()));
            (offline(), offline(), offline(), offline())
        } else {
            let open = async |role| -> anyhow::Result<_> {
                Ok(Arc::new(self.open(role).await?.spent_by(Spender::Execution)))
            };
            (
                open(ModelRole::Executor).await?,
                open(ModelRole::Planner).await?,
                open(ModelRole::Judge).await?,
                open(ModelRole::Summarizer).await?,
            )
        };
        let (assets, troubles) = Assets::load(app.config_dir());
        for trouble in troubles {
            own.say(SessionEvent::AnomalyNoted { what: trouble.clone() });
        }
        let asking = Arc::new(Mutex::new(()));
        let subtasks = Arc::new(AgentSubtasks::new(SubtaskParts {
            dialogue: Arc::clone(&executor),
            prompts: Arc::clone(&assets.prompts),
            recipes: Arc::clone(&assets.recipes),
            clock: wall_clock(),
            next_ask: Arc::clone(&self.next_ask),
            asking: Arc::clone(&asking),
            say: Arc::new({
                let own = own.clone();
                move |event| own.say(event)
            }),
        }));
        let toolbox = Toolbox::new(Parts {
            registry,
            servers: crate::config::tool_settings::servers(&app.settings),
            workspace: Arc::new(workspace),
            settings: crate::config::tool_settings::tool_settings(&app.settings),
            sandbox: Sandbox::of_this_program(),
            services: Services {
                memory: Some(services.clone()),
                pins: Some(services.clone()),
                todo: Some(Arc::new({
                    let (services, scope) = (services.clone(), session.to_string());
                    move || services.todo(&scope)
                })),
                subtasks: Some(if self.is_offline() {
                    Arc::new(OfflineSubtasks)
                } else {
                    subtasks.clone()
                }),
                edges: if self.is_offline() { None } else { Some(subtasks) },
            },
            permits: Permits::new(options.jobs as usize),
            redactor: self.redactor(app),
            bracket: Arc::new(own.clone()),
            session: session.to_string(),
        });
        let kit = AgentKit {
            dialogue: executor,
            planner,
            judge,
            summarizer,
            toolbox,
            types: assets.types,
            prompts: assets.prompts,
            recipes: assets.recipes,
            limits,
            reasoning_mode: app.settings.agents.reasoning_mode.value,
            gate: app.gate_policy(),
            clock: wall_clock(),
            next_ask: Arc::clone(&self.next_ask),
            asking,
        };
        options.runner = Arc::new(AgentRunner {
            shell: ShellRunner::new(app.redactor(), app.key_variables())
                .with_settings(crate::config::tool_settings::tool_settings(&app.settings)),
            kit,
            port: own,
            profiles: profiles(app, store),
        });
        options.inlet = Some(inlet);
        Ok(())
    }
}

/// What is known about tools when a task begins, with everything that calls taught up to then.
fn profiles(app: &App, store: &Store) -> ProfilesOf {
    let (config_dir, store) = (app.config_dir().to_owned(), store.clone());
    Arc::new(move |registry: &Registry| {
        let reader = store.reader().ok();
        let known = Known::of(registry, &config_dir, reader.as_ref());
        known.map_or_else(|_| Profiles::built_in(), |known| known.profiles)
    })
}
