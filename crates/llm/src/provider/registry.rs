//! The providers known by name: built-in ones with the user's changes, and the user's own.

use serde::{Deserialize, Serialize};

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
    Ollama,
}

impl ProviderKind {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "openai" => Some(Self::OpenAi),
            "anthropic" => Some(Self::Anthropic),
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
    /// The variable that contains its key.
    pub key_env: Option<String>,
    /// The command that prints its key.
    pub key_cmd: Option<String>,
    pub headers: Vec<(String, String)>,
    pub model: Option<String>,
    pub context_window: Option<u32>,
    pub concurrency: u32,
    pub stream: bool,
    /// Its models are known to support tools and schemas.
    pub full: bool,
    /// The original provider whose API the others imitate.
    pub hosted: bool,
    /// The user's answer to "may this key be used?".
    pub consent: Option<bool>,
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
    key_env: Option<String>,
    model: Option<String>,
    context_window: Option<u32>,
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
        let file: ProviderListFile = toml::from_str(BUILT_IN)
            .expect("the built-in list of providers is well formed, which a test checks");
        let mut providers: Vec<ProviderDef> =
            file.provider.into_iter().map(provider_from_row).collect();
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
        self.providers.iter().filter_map(|provider| provider.key_env.clone()).collect()
    }
}

fn default_provider(name: &str) -> ProviderDef {
    ProviderDef {
        name: name.to_owned(),
        kind: ProviderKind::OpenAi,
        base_url: None,
        key_env: None,
        key_cmd: None,
        headers: Vec::new(),
        model: None,
        context_window: None,
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
        key_env: row.key_env,
        model: row.model,
        context_window: row.context_window,
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
    replace(&mut provider.key_env, &own.api_key_env);
    replace(&mut provider.key_cmd, &own.api_key_cmd);
    provider.headers.extend(own.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
    provider.concurrency = own.concurrency.unwrap_or(provider.concurrency);
    provider.stream = own.stream.unwrap_or(provider.stream);
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
}
