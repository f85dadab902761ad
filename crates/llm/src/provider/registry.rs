//! The providers known by name: built-in ones with the user's changes, and the user's own.

use serde::{Deserialize, Serialize};

use crate::ModelApi;
use planwright_model::setting::{SettingOrigin, SourcedSetting};

use crate::settings::ModelSettings;
use crate::settings::ProviderSettings;

const BUILT_IN: &str = include_str!("../../../../assets/providers.toml");

/// Concurrent requests when the settings give no number.
const DEFAULT_CONCURRENCY: u32 = 4;

/// The API a provider implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    #[serde(rename = "openai")]
    OpenAi,
    Anthropic,
    Gemini,
    Ollama,
}

impl ProviderKind {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "openai" => Some(Self::OpenAi),
            "anthropic" => Some(Self::Anthropic),
            "gemini" => Some(Self::Gemini),
            "ollama" => Some(Self::Ollama),
            _ => None,
        }
    }
}

/// The definition of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProviderDef {
    pub name: String,
    pub kind: ProviderKind,
    pub base_url: Option<String>,
    /// The variable that changes its address.
    pub base_url_env: Option<String>,
    /// The variable that contains its key.
    pub key_env: Option<String>,
    /// Other variables that may contain it.
    pub key_env_also: Vec<String>,
    /// The command that prints its key.
    pub key_cmd: Option<String>,
    pub headers: Vec<(String, String)>,
    pub model: Option<String>,
    pub context_window: Option<u32>,
    /// Which interface of its kind is used; `None` leaves it to the model.
    pub api: Option<ModelApi>,
    pub concurrency: u32,
    pub stream: bool,
    /// Its models are known to support tools and schemas.
    pub full: bool,
    /// The original provider whose API the others imitate.
    pub hosted: bool,
    /// The user's answer to "may this key be used?".
    pub consent: Option<bool>,
}

impl ProviderDef {
    /// The variables that may contain its key, in order.
    pub(crate) fn key_variables(&self) -> impl Iterator<Item = &str> {
        self.key_env.iter().chain(&self.key_env_also).map(String::as_str)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderListFile {
    provider: Vec<ProviderRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderRow {
    name: String,
    kind: ProviderKind,
    base_url: Option<String>,
    base_url_env: Option<String>,
    key_env: Option<String>,
    #[serde(default)]
    key_env_also: Vec<String>,
    model: Option<String>,
    concurrency: Option<u32>,
    #[serde(default)]
    full: bool,
    #[serde(default)]
    hosted: bool,
}

/// All providers by name.
#[derive(Clone, Debug)]
pub struct ProviderRegistry {
    providers: Vec<ProviderDef>,
}

impl ProviderRegistry {
    pub fn new(settings: &ModelSettings) -> Self {
        let mut providers = built_in_providers();
        for (name, own) in &settings.providers {
            let at = providers.iter().position(|provider| provider.name == *name);
            let at = at.unwrap_or_else(|| {
                providers.push(default_provider(name));
                providers.len() - 1
            });
            apply_settings(&mut providers[at], &own.value);
        }
        Self { providers }
    }

    /// Finds a provider by name, or treats an address as an OpenAI-compatible one.
    pub(crate) fn find_provider(&self, name: &str) -> Option<ProviderDef> {
        if name.starts_with("http://") || name.starts_with("https://") {
            let provider = default_provider("openai-compatible");
            return Some(ProviderDef { base_url: Some(name.to_owned()), ..provider });
        }
        self.providers.iter().find(|provider| provider.name == name).cloned()
    }

    pub(crate) fn provider_names(&self) -> impl Iterator<Item = &str> {
        self.providers.iter().map(|provider| provider.name.as_str())
    }

    /// Every variable that may contain a key.
    pub fn key_variables(&self) -> Vec<String> {
        let names = self.providers.iter().flat_map(ProviderDef::key_variables);
        names.map(str::to_owned).collect()
    }
}

fn built_in_providers() -> Vec<ProviderDef> {
    let file: ProviderListFile = toml::from_str(BUILT_IN)
        .expect("the built-in list of providers is well formed, which a test checks");
    file.provider.into_iter().map(provider_from_row).collect()
}

/// Takes addresses of providers from the usual variables, such as `OPENAI_BASE_URL`. The config file goes before them.
pub fn apply_environment(settings: &mut ModelSettings, env: impl Fn(&str) -> Option<String>) {
    for provider in built_in_providers() {
        let Some(variable) = provider.base_url_env.clone() else { continue };
        let value = env(&variable).map(|value| value.trim().to_owned());
        let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
        let base_url = address_from_variable(provider.kind, &value);
        if Some(&base_url) == provider.base_url.as_ref() {
            continue;
        }
        let origin = SettingOrigin::Environment(variable);
        let own = settings
            .providers
            .entry(provider.name)
            .or_insert_with(|| SourcedSetting { value: ProviderSettings::default(), origin });
        own.value.base_url.get_or_insert(base_url);
    }
}

/// An address as other programs read the same variable: Ollama's may lack scheme and port and may be the address it
/// listens on; Anthropic's often ends in the version that we append.
fn address_from_variable(kind: ProviderKind, value: &str) -> String {
    let value = value.trim_end_matches('/');
    match kind {
        ProviderKind::Ollama => {
            let (scheme, host) = value.split_once("://").unwrap_or(("http", value));
            let host = host.replace("0.0.0.0", "127.0.0.1");
            let host = if host.starts_with(':') { format!("127.0.0.1{host}") } else { host };
            let has_port = host.rsplit(']').next().is_some_and(|end| end.contains(':'));
            let port = if has_port || value.contains("://") { "" } else { ":11434" };
            format!("{scheme}://{host}{port}")
        }
        ProviderKind::Anthropic => value.trim_end_matches("/v1").to_owned(),
        ProviderKind::Gemini => value.trim_end_matches("/v1beta").to_owned(),
        ProviderKind::OpenAi => value.to_owned(),
    }
}

fn default_provider(name: &str) -> ProviderDef {
    ProviderDef {
        name: name.to_owned(),
        kind: ProviderKind::OpenAi,
        base_url: None,
        base_url_env: None,
        key_env: None,
        key_env_also: Vec::new(),
        key_cmd: None,
        headers: Vec::new(),
        model: None,
        context_window: None,
        api: None,
        concurrency: DEFAULT_CONCURRENCY,
        stream: true,
        full: false,
        hosted: false,
        consent: None,
    }
}

fn provider_from_row(row: ProviderRow) -> ProviderDef {
    ProviderDef {
        kind: row.kind,
        base_url: row.base_url,
        base_url_env: row.base_url_env,
        key_env: row.key_env,
        key_env_also: row.key_env_also,
        model: row.model,
        concurrency: row.concurrency.unwrap_or(DEFAULT_CONCURRENCY),
        full: row.full,
        hosted: row.hosted,
        ..default_provider(&row.name)
    }
}

fn apply_settings(provider: &mut ProviderDef, own: &ProviderSettings) {
    if let Some(kind) = own.kind.as_deref().and_then(ProviderKind::parse) {
        provider.kind = kind;
    }
    if own.base_url.is_some() {
        // A different address is a different server: facts about the old one do not apply.
        provider.base_url.clone_from(&own.base_url);
        (provider.full, provider.hosted) = (false, false);
    }
    let replace = |slot: &mut Option<String>, own: &Option<String>| {
        if own.is_some() {
            slot.clone_from(own);
        }
    };
    replace(&mut provider.model, &own.model);
    if own.api_key_env.is_some() {
        provider.key_env_also.clear();
    }
    replace(&mut provider.key_env, &own.api_key_env);
    replace(&mut provider.key_cmd, &own.api_key_cmd);
    provider.headers.extend(own.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
    provider.concurrency = own.concurrency.unwrap_or(provider.concurrency);
    provider.stream = own.stream.unwrap_or(provider.stream);
    provider.api = own.api.or(provider.api);
    provider.context_window = own.context_window.or(provider.context_window);
    provider.consent = own.consent.or(provider.consent);
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::setting::{SettingOrigin, SourcedSetting};

    #[test]
    fn built_in_providers_can_be_changed_and_others_added() {
        let mut settings = ModelSettings::default();
        let mut add = |name: &str, value: ProviderSettings| {
            settings
                .providers
                .insert(name.into(), SourcedSetting { value, origin: SettingOrigin::BuiltIn });
        };
        add(
            "openai",
            ProviderSettings {
                base_url: Some("https://proxy.test/v1".into()),
                ..Default::default()
            },
        );
        add("mine", ProviderSettings { api_key_env: Some("MY_KEY".into()), ..Default::default() });
        let registry = ProviderRegistry::new(&settings);
        let openai = registry.find_provider("openai").unwrap();
        assert!(!openai.hosted && !openai.full, "another address is another server");
        assert_eq!(openai.key_env.as_deref(), Some("OPENAI_API_KEY"));
        assert_eq!(registry.find_provider("mine").unwrap().kind, ProviderKind::OpenAi);
        assert!(registry.key_variables().contains(&"MY_KEY".to_owned()));
        assert!(registry.find_provider("anthropic").unwrap().full);
        assert_eq!(
            registry.find_provider("http://127.0.0.1:1/v1").unwrap().name,
            "openai-compatible"
        );
        assert_eq!(registry.find_provider("nobody"), None);
    }

    #[test]
    fn the_usual_variables_change_addresses_unless_the_config_does() {
        let mut settings = ModelSettings::default();
        let own =
            ProviderSettings { base_url: Some("https://mine.test".into()), ..Default::default() };
        settings.providers.insert(
            "anthropic".into(),
            SourcedSetting { value: own, origin: SettingOrigin::BuiltIn },
        );
        apply_environment(&mut settings, |name| {
            Some(match name {
                "OPENAI_BASE_URL" => "https://proxy.test/v1/".to_owned(),
                "ANTHROPIC_BASE_URL" => "https://other.test/v1".to_owned(),
                "OLLAMA_HOST" => "0.0.0.0".to_owned(),
                _ => return None,
            })
        });
        let registry = ProviderRegistry::new(&settings);
        let address = |name: &str| registry.find_provider(name).unwrap().base_url.unwrap();
        assert_eq!(address("openai"), "https://proxy.test/v1");
        assert!(!registry.find_provider("openai").unwrap().hosted, "another server");
        assert_eq!(address("anthropic"), "https://mine.test", "the config goes before");
        assert_eq!(address("ollama"), "http://127.0.0.1:11434");
        assert_eq!(address("gemini"), "https://generativelanguage.googleapis.com");
        assert_eq!(settings.providers["openai"].origin.to_string(), "environment, OPENAI_BASE_URL");
        let keys: Vec<String> = registry.key_variables();
        assert!(keys.contains(&"GEMINI_API_KEY".to_owned()));
        assert!(keys.contains(&"GOOGLE_API_KEY".to_owned()));
    }

    #[test]
    fn the_address_of_a_variable_is_read_as_its_owner_reads_it() {
        for (value, address) in [
            ("localhost", "http://localhost:11434"),
            ("127.0.0.1:5000", "http://127.0.0.1:5000"),
            (":5000", "http://127.0.0.1:5000"),
            ("https://ollama.test", "https://ollama.test"),
            ("[::1]", "http://[::1]:11434"),
            ("http://box:80/", "http://box:80"),
        ] {
            assert_eq!(address_from_variable(ProviderKind::Ollama, value), address);
        }
        let other = address_from_variable(ProviderKind::Anthropic, "https://a.test/v1/");
        assert_eq!(other, "https://a.test");
    }
}
