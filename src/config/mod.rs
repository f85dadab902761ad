//! Layered settings: built-in value, config file, environment, command line. Each value knows where it came from.

pub mod agents;
mod consent;
mod file;
mod paths;
pub mod planning;
mod project;
pub mod tool_settings;
mod tools;
mod zone;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub use agents::AgentSettings;
pub use consent::remember_consent;
pub use file::{ConfigError, known_names};
pub use paths::{config_file, data_dir};
pub use planning::PlanningSettings;
pub use planwright_llm::settings::ModelSettings;
pub use planwright_model::setting::{SettingOrigin, Sourced};
pub use project::{PROJECT_FILE, ProjectConfig, ProjectStanding};
use serde::Serialize;
pub use tools::{McpConfig, PermissionConfig, ToolsConfig};
pub use zone::time_zone;

use planwright_files::{self as files, FileLimit};
use planwright_model::{Caps, Limits, MicroDollars, PlanLimits};

/// How many tasks may run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jobs {
    Fixed(u32),
    /// Follows load, breakers and rate limits.
    Auto,
}

impl Jobs {
    /// The number a run begins with.
    pub fn initial(self) -> u32 {
        match self {
            Self::Fixed(jobs) => jobs,
            Self::Auto => 3,
        }
    }
}

impl std::str::FromStr for Jobs {
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

impl Serialize for Jobs {
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
    pub theme: Sourced<String>,
    /// Draws with plain ASCII.
    pub ascii: Sourced<bool>,
    /// Nothing on a screen moves by itself more often than needed.
    pub reduced_motion: Sourced<bool>,
    /// How many tasks may run at once.
    pub jobs: Sourced<Jobs>,
    /// Minutes after which a run is held and asks; none unless set.
    pub run_wall_time_min: Sourced<Option<u64>>,
    /// Tokens after which a run is held and asks.
    pub run_token_limit: Sourced<u64>,
    /// Dollars after which a session is held and asks.
    pub budget_per_session_usd: Sourced<f64>,
    /// Off runs the tasks one after another in the planner's order.
    pub enable_task_graphs: Sourced<bool>,
    /// Off journals no output of calls, only how they ended.
    pub enable_react_tracing: Sourced<bool>,
    /// Off leaves affinity out of the order in which ready tasks start.
    pub enable_tool_affinity: Sourced<bool>,
    /// Your name in the threads of planning; the login name unless set.
    pub user_id: Sourced<Option<String>>,
    /// Limits of planning, and how the person wants to be talked to.
    pub planning: PlanningSettings,
    /// Providers, models, limits and prices.
    pub models: ModelSettings,
    /// How agents think, and the gate.
    pub agents: AgentSettings,
    /// How many errors in a row open a tool's breaker.
    pub breaker_threshold: Sourced<u64>,
    /// How long an open breaker refuses calls.
    pub breaker_cooldown_sec: Sourced<u64>,
    /// How often a task may think and act before it must answer.
    pub react_max_iterations: Sourced<u64>,
    /// How much of a nested result the model reads.
    pub result_char_limit: Sourced<u64>,
    /// How often the planner may be asked again about one task.
    pub planner_rounds: Sourced<u64>,
    pub token_budget_buffer: Sourced<u64>,
    pub token_budget_factor: Sourced<u64>,
    /// How many requests to models one attempt at a task may make.
    pub agent_max_requests_per_task: Sourced<u64>,
    /// From here on a stage of planning goes on by itself.
    pub confidence_continue: Sourced<f64>,
    /// Below this a stage of planning asks the person.
    pub confidence_escalate: Sourced<f64>,
    /// How much each part of a confidence counts.
    pub confidence_weights: Sourced<BTreeMap<String, f64>>,
    /// Keys by the name of their action.
    pub keys: BTreeMap<String, Sourced<String>>,
    pub tools: ToolsConfig,
    /// The person's own rules, in the order of the file.
    pub permissions: Vec<PermissionConfig>,
    /// Servers of tools by name.
    pub mcp: BTreeMap<String, McpConfig>,
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
        let limits = Limits::default();
        Self {
            theme: Sourced::built_in("dark".to_owned()),
            ascii: Sourced::built_in(false),
            reduced_motion: Sourced::built_in(false),
            jobs: Sourced::built_in(Jobs::Fixed(3)),
            run_wall_time_min: Sourced::built_in(None),
            run_token_limit: Sourced::built_in(2_000_000),
            budget_per_session_usd: Sourced::built_in(2.0),
            enable_task_graphs: Sourced::built_in(true),
            enable_react_tracing: Sourced::built_in(true),
            enable_tool_affinity: Sourced::built_in(true),
            user_id: Sourced::built_in(None),
            planning: PlanningSettings::default(),
            models: ModelSettings::default(),
            agents: AgentSettings::default(),
            breaker_threshold: Sourced::built_in(limits.breaker_threshold.into()),
            breaker_cooldown_sec: Sourced::built_in(limits.breaker_cooldown_sec),
            react_max_iterations: Sourced::built_in(limits.react_max_iterations.into()),
            result_char_limit: Sourced::built_in(limits.result_char_limit.into()),
            planner_rounds: Sourced::built_in(limits.planner_rounds.into()),
            token_budget_buffer: Sourced::built_in(limits.token_budget_buffer),
            token_budget_factor: Sourced::built_in(limits.token_budget_factor),
            agent_max_requests_per_task: Sourced::built_in(
                limits.agent_max_requests_per_task.into(),
            ),
            confidence_continue: Sourced::built_in(0.70),
            confidence_escalate: Sourced::built_in(0.40),
            confidence_weights: Sourced::built_in(
                CONFIDENCE_WEIGHTS.map(|(name, weight)| (name.to_owned(), weight)).into(),
            ),
            keys: BTreeMap::new(),
            tools: ToolsConfig::default(),
            permissions: Vec::new(),
            mcp: BTreeMap::new(),
            from_project: BTreeSet::new(),
        }
    }
}

/// One row of `config show`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
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
            Ok(text) => file::apply(&text, path, &mut settings)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => {}
            Err(source) => return Err(ConfigError::Unreadable { path: path.to_owned(), source }),
        }
        Ok(settings)
    }

    /// The limits a run begins with.
    pub fn caps(&self) -> Caps {
        Caps {
            wall_time_min: self.run_wall_time_min.value,
            tokens: self.run_token_limit.value,
            session_cost: MicroDollars::from_dollars(self.budget_per_session_usd.value),
        }
    }

    /// The numbers that execution works by.
    pub fn limits(&self) -> Limits {
        let small = |setting: &Sourced<u64>| u32::try_from(setting.value).unwrap_or(u32::MAX);
        Limits {
            breaker_threshold: small(&self.breaker_threshold),
            breaker_cooldown_sec: self.breaker_cooldown_sec.value,
            react_max_iterations: small(&self.react_max_iterations),
            result_char_limit: small(&self.result_char_limit),
            planner_rounds: small(&self.planner_rounds),
            token_budget_buffer: self.token_budget_buffer.value,
            token_budget_factor: self.token_budget_factor.value,
            agent_max_requests_per_task: small(&self.agent_max_requests_per_task),
        }
    }

    /// All values with their origin, by name.
    pub fn rows(&self) -> Vec<Row> {
        fn row<T: Serialize>(name: &str, sourced: &Sourced<T>) -> Row {
            Row {
                name: name.to_owned(),
                value: serde_json::to_value(&sourced.value).unwrap_or_default(),
                origin: sourced.origin.to_string(),
            }
        }
        let mut rows = vec![
            row("theme", &self.theme),
            row("ascii", &self.ascii),
            row("reduced_motion", &self.reduced_motion),
            row("jobs", &self.jobs),
            row("run_wall_time_min", &self.run_wall_time_min),
            row("run_token_limit", &self.run_token_limit),
            row("budget_per_session_usd", &self.budget_per_session_usd),
            row("enable_task_graphs", &self.enable_task_graphs),
            row("enable_react_tracing", &self.enable_react_tracing),
            row("enable_tool_affinity", &self.enable_tool_affinity),
            row("user_id", &self.user_id),
            row("breaker_threshold", &self.breaker_threshold),
            row("breaker_cooldown_sec", &self.breaker_cooldown_sec),
            row("react_max_iterations", &self.react_max_iterations),
            row("result_char_limit", &self.result_char_limit),
            row("planner_rounds", &self.planner_rounds),
            row("token_budget_buffer", &self.token_budget_buffer),
            row("token_budget_factor", &self.token_budget_factor),
            row("agent_max_requests_per_task", &self.agent_max_requests_per_task),
            row("confidence_continue", &self.confidence_continue),
            row("confidence_escalate", &self.confidence_escalate),
            row("confidence_weights", &self.confidence_weights),
        ];
        let agents = &self.agents;
        rows.extend([
            row("reasoning_mode", &agents.reasoning_mode),
            row("loops", &agents.loops),
            row("lookups_per_step", &agents.lookups_per_step),
            row("gate_policy_enabled", &agents.gate.policy_enabled),
            row("gate_retrieval_overlap_threshold", &agents.gate.retrieval_overlap_threshold),
            row("gate_nli_conflict_threshold", &agents.gate.nli_conflict_threshold),
            row("gate_complexity_threshold", &agents.gate.complexity_threshold),
            row("gate_user_overrides", &agents.gate.user_overrides),
        ]);
        let planning = &self.planning;
        rows.extend([
            row("turn_limit", &planning.turn_limit),
            row("retry_limit_per_stage", &planning.retry_limit_per_stage),
            row("clarify_round_limit", &planning.clarify_round_limit),
            row("continue_limit", &planning.continue_limit),
            row("unparsed_limit", &planning.unparsed_limit),
            row("revision_limit", &planning.revision_limit),
            row("escalation_round_limit", &planning.escalation_round_limit),
            row("wall_time_sec", &planning.wall_time_sec),
            row("segment_max_sec", &planning.segment_max_sec),
            row("allow_new_subtype_proposals", &planning.allow_new_subtype_proposals),
            row("require_rfc_for_new_subtype", &planning.require_rfc_for_new_subtype),
            row("policy", &planning.policy),
        ]);
        let models = &self.models;
        rows.extend([
            row("provider", &models.provider),
            row("model", &models.model),
            row("protocol", &models.protocol),
            row("record", &models.record),
            row("daily_budget_usd", &models.daily_budget_usd),
            row("soft_budget_per_turn_usd", &models.soft_budget_per_turn_usd),
            row("offline_fallback", &models.offline_fallback),
            row("limits", &models.limits),
        ]);
        rows.extend(models.roles.iter().map(|(name, role)| row(&format!("models.{name}"), role)));
        rows.extend(
            models.providers.iter().map(|(name, own)| row(&format!("providers.{name}"), own)),
        );
        rows.extend(
            models.prices.iter().map(|(name, price)| row(&format!("prices.{name}"), price)),
        );
        rows.extend(self.keys.iter().map(|(name, key)| row(&format!("keys.{name}"), key)));
        rows.extend(tools::rows(self));
        rows
    }
}
