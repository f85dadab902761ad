//! Chooses the provider and explains why: a pure function of the settings, the environment, a probe and past answers.

use std::collections::BTreeSet;

use serde::Serialize;

use super::ProviderRegistry;
use crate::settings::ModelSettings;

/// The provider that needs no model.
pub const OFFLINE: &str = "offline";

/// Plays back a file: `recorded:FILE`.
pub(crate) const RECORDED: &str = "recorded";

/// Providers that are selected when their key is in the environment, in order of preference.
const FOUND_BY_KEY: [&str; 3] = ["anthropic", "openai", "gemini"];

/// The result of probing for a local server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OllamaProbe {
    NotAsked,
    Absent,
    /// The server responds and has these models.
    Present(Vec<String>),
}

/// Everything the choice depends on.
#[derive(Clone, Copy, Debug)]
pub struct ProviderContext<'a> {
    pub settings: &'a ModelSettings,
    pub registry: &'a ProviderRegistry,
    /// Names of variables that are set and not empty.
    pub env: &'a BTreeSet<String>,
    pub ollama: &'a OllamaProbe,
    /// Whether a user is present to answer questions.
    pub interactive: bool,
}

/// A key that was found and may be used once the user agrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyConsent {
    pub provider: String,
    pub variable: String,
}

/// The chosen provider and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProviderChoice {
    /// A provider's name, `offline`, an address, or `recorded:FILE`.
    pub provider: String,
    pub why: String,
    /// Providers that were considered first, and why they were not chosen.
    pub passed_over: Vec<(String, String)>,
    /// Ask for this consent first; `provider` is in use until it is given.
    pub ask: Option<KeyConsent>,
}

/// Chooses a provider.
pub fn choose_provider(context: &ProviderContext<'_>) -> ProviderChoice {
    let named = &context.settings.provider;
    let choice = |provider: &str, why: String| ProviderChoice {
        provider: provider.to_owned(),
        why,
        passed_over: Vec::new(),
        ask: None,
    };
    if named.value != "auto" {
        return choice(&named.value, format!("named by {}", named.origin));
    }
    if !context.interactive {
        let why = "no provider is named, and without a screen none is used of its own accord";
        return choice(OFFLINE, why.to_owned());
    }
    if cfg!(not(feature = "providers")) {
        return choice(OFFLINE, "this build has no network providers".to_owned());
    }
    let mut passed_over = Vec::new();
    for name in FOUND_BY_KEY {
        let Some(provider) = context.registry.find_provider(name) else { continue };
        let found = provider.key_variables().find(|name| context.env.contains(*name));
        let Some(variable) = found.map(str::to_owned) else {
            let wanted = provider.key_env.unwrap_or_default();
            passed_over.push((name.to_owned(), format!("{wanted} is not set")));
            continue;
        };
        match provider.consent {
            Some(true) => {
                let why = format!("{variable} is set and you said that it may be used");
                return ProviderChoice { passed_over, ..choice(name, why) };
            }
            Some(false) => {
                passed_over
                    .push((name.to_owned(), "you said that its key is not to be used".to_owned()));
            }
            None => {
                let why =
                    format!("{variable} is set, and you have not said yet whether it may be used");
                let ask = Some(KeyConsent { provider: name.to_owned(), variable });
                return ProviderChoice { passed_over, ask, ..choice(OFFLINE, why) };
            }
        }
    }
    match context.ollama {
        OllamaProbe::Present(models) if !models.is_empty() => {
            let why = format!("a local server answers and has {}", models[0]);
            return ProviderChoice { passed_over, ..choice("ollama", why) };
        }
        OllamaProbe::Present(_) => {
            passed_over.push(("ollama".to_owned(), "it answers but has no model".to_owned()));
        }
        OllamaProbe::Absent => {
            passed_over
                .push(("ollama".to_owned(), "no server answers on its usual port".to_owned()));
        }
        OllamaProbe::NotAsked => {
            passed_over.push(("ollama".to_owned(), "it was not asked yet".to_owned()));
        }
    }
    ProviderChoice { passed_over, ..choice(OFFLINE, "no other provider was found".to_owned()) }
}

#[cfg(feature = "providers")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ProviderSettings;
    use planwright_model::setting::{SettingOrigin, SourcedSetting};

    struct Case {
        settings: ModelSettings,
        env: BTreeSet<String>,
        ollama: OllamaProbe,
        interactive: bool,
    }

    fn case() -> Case {
        Case {
            settings: ModelSettings::default(),
            env: BTreeSet::new(),
            ollama: OllamaProbe::Absent,
            interactive: true,
        }
    }

    impl Case {
        fn keys(mut self, names: &[&str]) -> Self {
            self.env = names.iter().map(|name| (*name).to_owned()).collect();
            self
        }

        fn consent(mut self, provider: &str, consent: bool) -> Self {
            let value = ProviderSettings { consent: Some(consent), ..Default::default() };
            self.settings
                .providers
                .insert(provider.into(), SourcedSetting { value, origin: SettingOrigin::BuiltIn });
            self
        }

        fn choose(&self) -> ProviderChoice {
            let registry = ProviderRegistry::new(&self.settings);
            choose_provider(&ProviderContext {
                settings: &self.settings,
                registry: &registry,
                env: &self.env,
                ollama: &self.ollama,
                interactive: self.interactive,
            })
        }
    }

    #[test]
    fn a_named_provider_always_wins() {
        for interactive in [true, false] {
            let mut case = case().keys(&["ANTHROPIC_API_KEY"]).consent("anthropic", true);
            case.interactive = interactive;
            case.settings.provider = SourcedSetting {
                value: "openai".into(),
                origin: SettingOrigin::CommandLine("--provider".into()),
            };
            let choice = case.choose();
            assert_eq!(
                (choice.provider.as_str(), choice.why.as_str()),
                ("openai", "named by command line, --provider")
            );
        }
    }

    #[test]
    fn a_key_is_used_only_with_consent_and_consent_is_requested_once() {
        let found = case().keys(&["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);
        let choice = found.choose();
        assert_eq!(choice.provider, OFFLINE);
        assert_eq!(choice.ask.unwrap().provider, "anthropic");
        let allowed = case().keys(&["ANTHROPIC_API_KEY"]).consent("anthropic", true).choose();
        assert_eq!((allowed.provider.as_str(), allowed.ask), ("anthropic", None));
        let denied = case()
            .keys(&["ANTHROPIC_API_KEY", "OPENAI_API_KEY"])
            .consent("anthropic", false)
            .choose();
        assert_eq!(denied.ask.unwrap().provider, "openai");
        assert_eq!(denied.passed_over[0].1, "you said that its key is not to be used");
    }

    #[test]
    fn a_local_server_comes_after_keys_and_offline_last() {
        let mut local = case();
        local.ollama = OllamaProbe::Present(vec!["llama3.2".into()]);
        assert_eq!(local.choose().provider, "ollama");
        local.ollama = OllamaProbe::Present(Vec::new());
        assert_eq!(local.choose().provider, OFFLINE);
        assert_eq!(case().choose().provider, OFFLINE);
    }

    #[test]
    fn without_a_screen_no_provider_is_selected_automatically() {
        let mut headless = case().keys(&["ANTHROPIC_API_KEY"]).consent("anthropic", true);
        headless.ollama = OllamaProbe::Present(vec!["m".into()]);
        headless.interactive = false;
        let choice = headless.choose();
        assert_eq!((choice.provider.as_str(), choice.ask), (OFFLINE, None));
    }
}
