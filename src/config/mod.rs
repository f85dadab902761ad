//! Layered settings: built-in value, config file, environment, command line. Each value knows where it came from.

pub(crate) mod agents;
mod change;
mod consent;
mod edit;
pub(crate) mod executors;
mod file;
pub(crate) mod me;
mod own_agents;
mod paths;
pub(crate) mod planning;
mod project;
mod rules;
pub(crate) mod tool_settings;
mod tools;
mod zone;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(crate) use agents::AgentSettings;
pub(crate) use change::{change_setting, replace_config};
pub(crate) use consent::remember_consent;
pub(crate) use file::ConfigError;
#[cfg(test)]
pub(crate) use file::known_names;
pub(crate) use me::MeSettings;
pub(crate) use own_agents::{OwnAgentConfig, OwnAgentsConfig, turn_agent_off, turn_agent_on};
pub use paths::config_file;
pub(crate) use paths::data_dir;
pub(crate) use planning::PlanningSettings;
pub(crate) use planwright_llm::settings::ModelSettings;
pub(crate) use planwright_model::setting::{SettingOrigin, SourcedSetting};
pub(crate) use project::{PROJECT_FILE, ProjectConfig, ProjectStanding};
pub(crate) use rules::{add_rule, remove_rule};
use serde::Serialize;
pub(crate) use tools::{McpConfig, PermissionConfig, ToolsConfig};
pub(crate) use zone::{time_zone, use_time_zone};

use planwright_files::{self as files, FileLimit};
use planwright_model::{ExecutionLimits, MicroDollars, PlanLimits, RunCapSettings, TaskBudget};

/// How many tasks may run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobLimit {
    Fixed(u32),
    /// Follows load, breakers and rate limits.
    Auto,
}

impl JobLimit {
    /// The number a run begins with.
    pub fn initial(self) -> u32 {
        match self {
            Self::Fixed(jobs) => jobs,
            Self::Auto => {
                let processors = std::thread::available_parallelism();
                processors.map_or(1, |count| u32::try_from(count.get()).unwrap_or(3).min(3))
            }
        }
    }
}

impl std::str::FromStr for JobLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        text.parse()
            .ok()
            .filter(|jobs| (1..=64).contains(jobs))
            .map(Self::Fixed)
            .ok_or_else(|| "a number from 1 to 64, or auto".to_owned())
    }
}

impl Serialize for JobLimit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(jobs) => serializer.serialize_u32(*jobs),
            Self::Auto => serializer.serialize_str("auto"),
        }
    }
}

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    pub theme: SourcedSetting<String>,
    /// Draws with plain ASCII.
    pub ascii: SourcedSetting<bool>,
    /// Nothing on a screen moves by itself more often than needed.
    pub reduced_motion: SourcedSetting<bool>,
    /// How many tasks may run at once.
    pub jobs: SourcedSetting<JobLimit>,
    /// Minutes after which a run is held and asks; none unless set.
    pub run_wall_time_min: SourcedSetting<Option<u64>>,
    /// Tokens after which a run is held and asks.
    pub run_token_limit: SourcedSetting<u64>,
    /// Megabytes of output that are kept of one attempt.
    pub output_cap_mb: SourcedSetting<u64>,
    /// Dollars after which a session is held and asks.
    pub budget_per_session_usd: SourcedSetting<f64>,
    /// Off runs the tasks one after another in the planner's order.
    pub enable_task_graphs: SourcedSetting<bool>,
    /// Off journals no output of calls, only how they ended.
    pub enable_react_tracing: SourcedSetting<bool>,
    /// Off leaves affinity out of the order in which ready tasks start.
    pub enable_tool_affinity: SourcedSetting<bool>,
    /// Your name in the threads of planning; the login name unless set.
    pub user_id: SourcedSetting<Option<String>>,
    /// The person's own time.
    pub me: MeSettings,
    /// Limits of planning, and how the person wants to be talked to.
    pub planning: PlanningSettings,
    /// Providers, models, limits and prices.
    pub models: ModelSettings,
    /// How agents think, and the gate.
    pub agents: AgentSettings,
    /// How many errors in a row open a tool's breaker.
    pub breaker_threshold: SourcedSetting<u64>,
    /// How long an open breaker refuses calls.
    pub breaker_cooldown_sec: SourcedSetting<u64>,
    /// How often a task may think and act before the person is asked. Unset, an open conversation has more turns than
    /// strict steps have.
    pub react_max_iterations: SourcedSetting<u64>,
    /// Tokens that an agent may use for one task before the person is asked.
    pub task_token_limit: SourcedSetting<u64>,
    /// Dollars that one task may cost before the person is asked.
    pub task_budget_usd: SourcedSetting<f64>,
    /// Minutes that an agent may work on one task before the person is asked.
    pub task_wall_time_min: SourcedSetting<u64>,
    /// How much of a nested result the model reads.
    pub result_char_limit: SourcedSetting<u64>,
    /// How often the planner may be asked again about one task.
    pub planner_rounds: SourcedSetting<u64>,
    pub token_budget_buffer: SourcedSetting<u64>,
    pub token_budget_factor: SourcedSetting<u64>,
    /// How many requests to models one attempt at a task may make.
    pub agent_max_requests_per_task: SourcedSetting<u64>,
    /// Agents that write work in a copy of the workspace, and their changes are applied afterwards.
    pub worktrees: SourcedSetting<bool>,
    /// The command that is started when an agent of another program submits a plan or asks something.
    pub desk_notify: SourcedSetting<Vec<String>>,
    /// From here on a stage of planning goes on by itself.
    pub confidence_continue: SourcedSetting<f64>,
    /// Below this a stage of planning asks the person.
    pub confidence_escalate: SourcedSetting<f64>,
    /// How much each part of a confidence counts.
    pub confidence_weights: SourcedSetting<BTreeMap<String, f64>>,
    /// Keys by the name of their action.
    pub keys: BTreeMap<String, SourcedSetting<String>>,
    pub tools: ToolsConfig,
    /// The person's own rules, in the order of the file.
    pub permissions: Vec<PermissionConfig>,
    /// Servers of tools by name.
    pub mcp: BTreeMap<String, McpConfig>,
    /// The person's own agents, and which of them does what nobody was named for.
    pub own_agents: OwnAgentsConfig,
    /// Other places where commands run.
    pub(crate) executors: executors::ExecutorsConfig,
    /// Names of what the settings of the project changed.
    pub from_project: BTreeSet<String>,
}

/// The parts of a confidence and how much each counts; without a model the last two count alone.
const CONFIDENCE_WEIGHTS: [(&str, f64); 5] = [
    ("self_score", 0.50),
    ("rules", 0.30),
    ("heuristics", 0.20),
    ("offline_rules", 0.60),
    ("offline_heuristics", 0.40),
];

impl Default for Settings {
    fn default() -> Self {
        let limits = ExecutionLimits::default();
        Self {
            theme: SourcedSetting::built_in("dark".to_owned()),
            ascii: SourcedSetting::built_in(false),
            reduced_motion: SourcedSetting::built_in(false),
            jobs: SourcedSetting::built_in(JobLimit::Fixed(3)),
            run_wall_time_min: SourcedSetting::built_in(None),
            run_token_limit: SourcedSetting::built_in(2_000_000),
            output_cap_mb: SourcedSetting::built_in(planwright_spool::DEFAULT_CAP / (1024 * 1024)),
            budget_per_session_usd: SourcedSetting::built_in(2.0),
            enable_task_graphs: SourcedSetting::built_in(true),
            enable_react_tracing: SourcedSetting::built_in(true),
            enable_tool_affinity: SourcedSetting::built_in(true),
            user_id: SourcedSetting::built_in(None),
            me: MeSettings::default(),
            planning: PlanningSettings::default(),
            models: ModelSettings::default(),
            agents: AgentSettings::default(),
            breaker_threshold: SourcedSetting::built_in(limits.breaker_threshold.into()),
            breaker_cooldown_sec: SourcedSetting::built_in(limits.breaker_cooldown_sec),
            react_max_iterations: SourcedSetting::built_in(limits.react_max_iterations.into()),
            task_token_limit: SourcedSetting::built_in(limits.task_budget.tokens),
            task_budget_usd: SourcedSetting::built_in(2.0),
            task_wall_time_min: SourcedSetting::built_in(limits.task_budget.wall_time_min),
            result_char_limit: SourcedSetting::built_in(limits.result_char_limit.into()),
            planner_rounds: SourcedSetting::built_in(limits.planner_rounds.into()),
            token_budget_buffer: SourcedSetting::built_in(limits.token_budget_buffer),
            token_budget_factor: SourcedSetting::built_in(limits.token_budget_factor),
            agent_max_requests_per_task: SourcedSetting::built_in(
                limits.agent_max_requests_per_task.into(),
            ),
            worktrees: SourcedSetting::built_in(true),
            desk_notify: SourcedSetting::built_in(Vec::new()),
            confidence_continue: SourcedSetting::built_in(0.70),
            confidence_escalate: SourcedSetting::built_in(0.40),
            confidence_weights: SourcedSetting::built_in(
                CONFIDENCE_WEIGHTS.map(|(name, weight)| (name.to_owned(), weight)).into(),
            ),
            keys: BTreeMap::new(),
            tools: ToolsConfig::default(),
            permissions: Vec::new(),
            mcp: BTreeMap::new(),
            own_agents: OwnAgentsConfig::default(),
            executors: executors::ExecutorsConfig::default(),
            from_project: BTreeSet::new(),
        }
    }
}

/// One row of `config show`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingRow {
    pub name: String,
    pub value: serde_json::Value,
    pub origin: String,
}

impl Settings {
    /// The limits of planning conversations.
    pub fn plan_limits(&self) -> PlanLimits {
        self.planning.limits()
    }

    /// Reads the config file over the built-in values. A file that is not there changes nothing, unless it was named.
    pub fn load(path: &Path, named: bool) -> Result<Self, ConfigError> {
        let mut settings = Self::default();
        match files::read_text(path, FileLimit::CONFIG) {
            Ok(text) => file::apply_config(&text, path, &mut settings)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => {}
            Err(source) => return Err(ConfigError::Unreadable { path: path.to_owned(), source }),
        }
        Ok(settings)
    }

    /// The limits a run begins with.
    pub fn caps(&self) -> RunCapSettings {
        RunCapSettings {
            wall_time_min: self.run_wall_time_min.value,
            tokens: self.run_token_limit.value,
            session_cost: MicroDollars::from_dollars(self.budget_per_session_usd.value),
        }
    }

    /// The numbers that execution works by.
    pub fn limits(&self) -> ExecutionLimits {
        let small =
            |setting: &SourcedSetting<u64>| u32::try_from(setting.value).unwrap_or(u32::MAX);
        ExecutionLimits {
            breaker_threshold: small(&self.breaker_threshold),
            breaker_cooldown_sec: self.breaker_cooldown_sec.value,
            react_max_iterations: small(&self.react_max_iterations),
            task_budget: TaskBudget {
                turns: match self.react_max_iterations.origin {
                    SettingOrigin::BuiltIn => TaskBudget::default().turns,
                    _ => small(&self.react_max_iterations),
                },
                tokens: self.task_token_limit.value,
                cost: MicroDollars::from_dollars(self.task_budget_usd.value),
                wall_time_min: self.task_wall_time_min.value,
            },
            result_char_limit: small(&self.result_char_limit),
            planner_rounds: small(&self.planner_rounds),
            token_budget_buffer: self.token_budget_buffer.value,
            token_budget_factor: self.token_budget_factor.value,
            agent_max_requests_per_task: small(&self.agent_max_requests_per_task),
        }
    }

    /// All values with their origin, by name.
    pub fn rows(&self) -> Vec<SettingRow> {
        fn setting_row<T: Serialize>(name: &str, sourced: &SourcedSetting<T>) -> SettingRow {
            SettingRow {
                name: name.to_owned(),
                value: serde_json::to_value(&sourced.value).unwrap_or_default(),
                origin: sourced.origin.to_string(),
            }
        }
        let mut rows = vec![
            setting_row("theme", &self.theme),
            setting_row("ascii", &self.ascii),
            setting_row("reduced_motion", &self.reduced_motion),
            setting_row("jobs", &self.jobs),
            setting_row("run_wall_time_min", &self.run_wall_time_min),
            setting_row("run_token_limit", &self.run_token_limit),
            setting_row("output_cap_mb", &self.output_cap_mb),
            setting_row("budget_per_session_usd", &self.budget_per_session_usd),
            setting_row("enable_task_graphs", &self.enable_task_graphs),
            setting_row("enable_react_tracing", &self.enable_react_tracing),
            setting_row("enable_tool_affinity", &self.enable_tool_affinity),
            setting_row("user_id", &self.user_id),
            setting_row("breaker_threshold", &self.breaker_threshold),
            setting_row("breaker_cooldown_sec", &self.breaker_cooldown_sec),
            setting_row("react_max_iterations", &self.react_max_iterations),
            setting_row("task_token_limit", &self.task_token_limit),
            setting_row("task_budget_usd", &self.task_budget_usd),
            setting_row("task_wall_time_min", &self.task_wall_time_min),
            setting_row("result_char_limit", &self.result_char_limit),
            setting_row("planner_rounds", &self.planner_rounds),
            setting_row("token_budget_buffer", &self.token_budget_buffer),
            setting_row("token_budget_factor", &self.token_budget_factor),
            setting_row("agent_max_requests_per_task", &self.agent_max_requests_per_task),
            setting_row("worktrees", &self.worktrees),
            setting_row("desk_notify", &self.desk_notify),
            setting_row("confidence_continue", &self.confidence_continue),
            setting_row("confidence_escalate", &self.confidence_escalate),
            setting_row("confidence_weights", &self.confidence_weights),
        ];
        let me = &self.me;
        rows.extend([
            setting_row("me.hours", &me.hours),
            setting_row("me.hours_a_week", &me.hours_a_week),
            setting_row("me.days_off", &me.days_off),
            setting_row("me.country", &me.country),
            setting_row("me.time_zone", &me.time_zone),
            setting_row("me.strategy", &me.strategy),
            setting_row("me.calendars", &me.calendars),
        ]);
        let agents = &self.agents;
        rows.extend([
            setting_row("reasoning_mode", &agents.reasoning_mode),
            setting_row("loops", &agents.loops),
            setting_row("lookups_per_step", &agents.lookups_per_step),
            setting_row("gate_policy_enabled", &agents.gate.policy_enabled),
            setting_row(
                "gate_retrieval_overlap_threshold",
                &agents.gate.retrieval_overlap_threshold,
            ),
            setting_row("gate_nli_conflict_threshold", &agents.gate.nli_conflict_threshold),
            setting_row("gate_complexity_threshold", &agents.gate.complexity_threshold),
            setting_row("gate_user_overrides", &agents.gate.user_overrides),
        ]);
        let planning = &self.planning;
        rows.extend([
            setting_row("turn_limit", &planning.turn_limit),
            setting_row("retry_limit_per_stage", &planning.retry_limit_per_stage),
            setting_row("clarify_round_limit", &planning.clarify_round_limit),
            setting_row("continue_limit", &planning.continue_limit),
            setting_row("unparsed_limit", &planning.unparsed_limit),
            setting_row("revision_limit", &planning.revision_limit),
            setting_row("escalation_round_limit", &planning.escalation_round_limit),
            setting_row("segment_max_sec", &planning.segment_max_sec),
            setting_row("allow_new_subtype_proposals", &planning.allow_new_subtype_proposals),
            setting_row("require_rfc_for_new_subtype", &planning.require_rfc_for_new_subtype),
            setting_row("policy", &planning.policy),
        ]);
        let models = &self.models;
        rows.extend([
            setting_row("provider", &models.provider),
            setting_row("model", &models.model),
            setting_row("protocol", &models.protocol),
            setting_row("profile", &models.profile),
            setting_row("effort", &models.effort),
            setting_row("model_call_limit_sec", &models.model_call_limit_sec),
            setting_row("outage_wait_min", &models.outage_wait_min),
            setting_row("record", &models.record),
            setting_row("daily_budget_usd", &models.daily_budget_usd),
            setting_row("soft_budget_per_turn_usd", &models.soft_budget_per_turn_usd),
            setting_row("offline_fallback", &models.offline_fallback),
            setting_row("limits", &models.limits),
        ]);
        rows.extend(
            models.roles.iter().map(|(name, role)| setting_row(&format!("models.{name}"), role)),
        );
        rows.extend(
            models
                .providers
                .iter()
                .map(|(name, own)| setting_row(&format!("providers.{name}"), own)),
        );
        rows.extend(
            models.prices.iter().map(|(name, price)| setting_row(&format!("prices.{name}"), price)),
        );
        rows.extend(self.keys.iter().map(|(name, key)| setting_row(&format!("keys.{name}"), key)));
        rows.extend(tools::tool_rows(self));
        rows.extend(own_agents::own_agent_rows(self));
        rows.extend(executors::executor_rows(self));
        rows
    }
}
