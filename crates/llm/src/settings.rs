//! Settings for models: provider, model per role, limits and prices. The rest of this crate interprets them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{ModelApi, ModelEffort};
use planwright_model::ProfileChoice;
use planwright_model::setting::SourcedSetting;

/// The settings of one role; unset fields use the role's defaults and the main model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RoleSettings {
    pub provider: Option<String>,
    pub model: Option<String>,
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u32>,
    /// `auto`, `large` or `small`; unset, the one for all models.
    pub profile: Option<ProfileChoice>,
    /// Unset, the one for all models.
    pub effort: Option<ModelEffort>,
}

/// A provider defined by the user, or changes to a built-in one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProviderSettings {
    /// The API it implements: `openai`, `anthropic`, `gemini` or `ollama`.
    pub kind: Option<String>,
    pub base_url: Option<String>,
    pub model: Option<String>,
    /// The variable that contains its key.
    pub api_key_env: Option<String>,
    /// A command that prints its key.
    pub api_key_cmd: Option<String>,
    #[serde(serialize_with = "serialize_header_names")]
    pub headers: BTreeMap<String, String>,
    /// Concurrent requests.
    pub concurrency: Option<u32>,
    pub stream: Option<bool>,
    pub context_window: Option<u32>,
    /// For kind `openai`: chat completions or the Responses API.
    pub api: Option<ModelApi>,
    /// The user's answer to "may this key be used?".
    pub consent: Option<bool>,
}

/// Serializes only the names: header values may contain tokens, and settings are displayed.
fn serialize_header_names<S: serde::Serializer>(
    headers: &BTreeMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(headers.keys())
}

/// Limits of exchanges with models beside their time, in seconds and counts; unset fields use built-in values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LimitSettings {
    pub connect_sec: Option<u64>,
    pub retries: Option<u64>,
    pub retry_after_max_sec: Option<u64>,
    pub answer_mb: Option<u64>,
}

/// A setting under a name that was replaced by another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplacedSetting {
    pub name: String,
    pub by: String,
    pub line: usize,
}

impl ReplacedSetting {
    /// Says it in a line.
    pub fn describe(&self) -> String {
        format!("line {}: `{}` is now `{}`", self.line, self.name, self.by)
    }
}

/// A price set by the user, in dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PriceSettings {
    pub input: f64,
    pub output: f64,
    pub cached: Option<f64>,
    pub cache_write: Option<f64>,
}

/// All settings for models.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelSettings {
    /// `auto`, `offline`, a name of a provider, a URL, or `recorded:FILE`.
    pub provider: SourcedSetting<String>,
    pub model: SourcedSetting<Option<String>>,
    /// `auto`, `tools`, `json` or `text`.
    pub protocol: SourcedSetting<String>,
    /// How agents work with the model: `large` in one open conversation, `small` in strict steps.
    pub profile: SourcedSetting<ProfileChoice>,
    /// How much models think; unset leaves it to the provider.
    pub effort: SourcedSetting<Option<ModelEffort>>,
    /// Seconds that one call may take.
    pub model_call_limit_sec: SourcedSetting<u64>,
    /// Minutes that a provider which fails is waited for.
    pub outage_wait_min: SourcedSetting<u64>,
    /// Writes every exchange to this file.
    pub record: SourcedSetting<Option<String>>,
    pub daily_budget_usd: SourcedSetting<f64>,
    pub soft_budget_per_turn_usd: SourcedSetting<f64>,
    /// Plans offline when a budget is exhausted or the model fails, instead of asking.
    pub offline_fallback: SourcedSetting<bool>,
    pub roles: BTreeMap<String, SourcedSetting<RoleSettings>>,
    pub providers: BTreeMap<String, SourcedSetting<ProviderSettings>>,
    pub limits: SourcedSetting<LimitSettings>,
    pub prices: BTreeMap<String, SourcedSetting<PriceSettings>>,
    /// Settings under old names, which were read and should be renamed.
    pub replaced: Vec<ReplacedSetting>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            provider: SourcedSetting::built_in("auto".to_owned()),
            model: SourcedSetting::built_in(None),
            protocol: SourcedSetting::built_in("auto".to_owned()),
            profile: SourcedSetting::built_in(ProfileChoice::Auto),
            effort: SourcedSetting::built_in(None),
            model_call_limit_sec: SourcedSetting::built_in(600),
            outage_wait_min: SourcedSetting::built_in(30),
            record: SourcedSetting::built_in(None),
            daily_budget_usd: SourcedSetting::built_in(5.0),
            soft_budget_per_turn_usd: SourcedSetting::built_in(1.0),
            offline_fallback: SourcedSetting::built_in(false),
            roles: BTreeMap::new(),
            providers: BTreeMap::new(),
            limits: SourcedSetting::built_in(LimitSettings::default()),
            prices: BTreeMap::new(),
            replaced: Vec::new(),
        }
    }
}
