//! Opens models from settings, keys, gates and prices.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::provider_choice::RECORDED;
use super::{ModelRole, OFFLINE, ProviderDef, ProviderRegistry, RoleOptions};
use crate::api_keys::{self, Secret};
use crate::cost::{Ledger, ModelPricing, Price, TokenRates};
use crate::exchange_limits::{ExchangeLimits, RetryPolicy};
use crate::model_capability_cache::ModelCapabilityCache;
use crate::protocol::{ModelDialogue, ProtocolChoice};
use crate::recorded::{RecordedModel, RecordingModel};
use crate::settings::ModelSettings;
#[cfg(feature = "providers")]
use crate::transport::ProviderGate;
use crate::{LanguageModel, ModelError, ModelInfo, ModelTable};
use planwright_model::{Category, Digest};
use planwright_text::{LearnedSecrets, Redactor};

/// Opens all models of this process. There is one factory per process, so that gates are shared.
#[derive(Debug)]
pub struct ModelFactory {
    settings: ModelSettings,
    pub(super) registry: ProviderRegistry,
    capability_cache: Arc<dyn ModelCapabilityCache>,
    #[cfg(feature = "providers")]
    pub(super) gates: Mutex<BTreeMap<String, Arc<ProviderGate>>>,
    loaded: Mutex<BTreeMap<String, Secret>>,
    /// Recordings being played, so that all roles share one playback position.
    cassettes: Mutex<BTreeMap<String, Arc<RecordedModel>>>,
    pub(super) limits: ExchangeLimits,
    #[cfg_attr(
        not(feature = "providers"),
        expect(dead_code, reason = "only requests are retried")
    )]
    pub(super) retry: RetryPolicy,
    key_observer: KeyObserver,
    learned: LearnedSecrets,
}

/// Hears of every key the moment it is loaded, so that it can be covered before anything is written.
#[derive(Clone)]
pub struct KeyObserver(pub Arc<dyn Fn(&Secret) + Send + Sync>);

impl Default for KeyObserver {
    fn default() -> Self {
        Self(Arc::new(|_| {}))
    }
}

impl std::fmt::Debug for KeyObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyObserver").finish_non_exhaustive()
    }
}

impl ModelFactory {
    pub fn new(settings: ModelSettings, cache: Arc<dyn ModelCapabilityCache>) -> Self {
        Self {
            registry: ProviderRegistry::new(&settings),
            limits: limits_from_settings(&settings),
            retry: retry_from_settings(&settings),
            settings,
            capability_cache: cache,
            #[cfg(feature = "providers")]
            gates: Mutex::default(),
            loaded: Mutex::default(),
            cassettes: Mutex::default(),
            key_observer: KeyObserver::default(),
            learned: LearnedSecrets::default(),
        }
    }

    /// Secrets that turn up later. What goes to a recording or comes back as an error does not show them.
    pub fn with_learned_secrets(self, learned: LearnedSecrets) -> Self {
        Self { learned, ..self }
    }

    pub fn with_key_observer(self, key_observer: KeyObserver) -> Self {
        Self { key_observer, ..self }
    }

    /// Sets limits finer than whole seconds.
    pub fn with_limits(self, limits: ExchangeLimits, retry: RetryPolicy) -> Self {
        Self { limits, retry, ..self }
    }

    pub fn registry(&self) -> &ProviderRegistry {
        &self.registry
    }

    pub fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    /// What is known about models by name.
    pub fn model_table(&self) -> &'static ModelTable {
        ModelTable::built_in()
    }

    /// Covers every key loaded so far. Load keys before anything is written.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.loaded_keys().iter().map(Secret::expose)).sharing(&self.learned)
    }

    /// Every key loaded so far.
    pub fn loaded_keys(&self) -> Vec<Secret> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Loads the key of a provider, if it has one, and registers it with the redactor.
    pub(crate) async fn load_key(
        &self,
        provider: &ProviderDef,
    ) -> Result<Option<Secret>, ModelError> {
        if let Some(known) =
            self.loaded.lock().unwrap_or_else(PoisonError::into_inner).get(&provider.name)
        {
            return Ok(Some(known.clone()));
        }
        let key = api_keys::load_key(provider, |name| std::env::var(name).ok()).await?;
        if let Some(key) = &key {
            self.key_observer.0(key);
            self.loaded
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(provider.name.clone(), key.clone());
        }
        Ok(key)
    }

    /// Opens a model of a provider by name, address or `recorded:FILE`. `offline` has no model to open.
    pub async fn open_model(
        &self,
        provider: &str,
        model: Option<&str>,
    ) -> Result<Arc<dyn LanguageModel>, ModelError> {
        let opened = match provider.strip_prefix(RECORDED).and_then(|rest| rest.strip_prefix(':')) {
            Some(file) => self.recorded_model(file)?,
            None => self.open_live_model(provider, model).await?,
        };
        match &self.settings.record.value {
            Some(file) => {
                Ok(Arc::new(RecordingModel::record_to(opened, Path::new(file), self.redactor())?))
            }
            None => Ok(opened),
        }
    }

    fn recorded_model(&self, file: &str) -> Result<Arc<RecordedModel>, ModelError> {
        let mut open_cassettes = self.cassettes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(playing) = open_cassettes.get(file) {
            return Ok(Arc::clone(playing));
        }
        let recorded = Arc::new(RecordedModel::open(Path::new(file), self.redactor())?);
        open_cassettes.insert(file.to_owned(), Arc::clone(&recorded));
        Ok(recorded)
    }

    /// Opens a model with its protocol, its price and the ledger it is charged to.
    pub async fn open_dialogue(
        &self,
        provider: &str,
        role: ModelRole,
        ledger: Arc<Ledger>,
    ) -> Result<ModelDialogue, ModelError> {
        let options = RoleOptions::from_settings(&self.settings, role);
        let provider_name = options.provider.as_deref().unwrap_or(provider);
        let main = self.settings.model.value.as_deref().filter(|_| options.provider.is_none());
        let model = self.open_model(provider_name, options.model.as_deref().or(main)).await?;
        let own = self.settings.roles.get(role.name()).map(|own| &own.value);
        let profile = own.and_then(|own| own.profile).unwrap_or(self.settings.profile.value);
        let effort = own.and_then(|own| own.effort).or(self.settings.effort.value);
        let dialogue = self.wrap_model(model, ledger).with_profile(profile).with_effort(effort);
        Ok(dialogue.with_request_defaults(options.request_defaults()))
    }

    /// Wraps a model that is already open.
    pub fn wrap_model(&self, model: Arc<dyn LanguageModel>, ledger: Arc<Ledger>) -> ModelDialogue {
        let pricing = self.model_pricing(model.info());
        // The config refused anything else when it was read.
        let choice: ProtocolChoice = self.settings.protocol.value.parse().unwrap_or_default();
        ModelDialogue::new(model)
            .with_protocol(choice)
            .with_profile(self.settings.profile.value)
            .with_effort(self.settings.effort.value)
            .with_pricing(pricing, ledger)
            .with_capability_cache(Arc::clone(&self.capability_cache))
    }

    /// The price of a model: the user's own, zero if it runs locally, otherwise from the table.
    pub fn model_pricing(&self, info: &ModelInfo) -> ModelPricing {
        if let Some(own) = self.settings.prices.get(&info.model) {
            let own = own.value;
            let rates =
                TokenRates::from_dollars(own.input, own.output, own.cached, own.cache_write);
            return ModelPricing::Known(Price::flat(rates));
        }
        if info.local {
            return ModelPricing::Free;
        }
        self.model_table()
            .find_price(&info.provider, &info.model)
            .map_or(ModelPricing::Unknown, ModelPricing::Known)
    }

    /// Everything a cached answer of a role depends on besides the question.
    pub fn cache_key(&self, info: &ModelInfo, role: ModelRole) -> Digest {
        let options = serde_json::to_value(RoleOptions::from_settings(&self.settings, role))
            .unwrap_or_default();
        let parts = serde_json::json!({
            "provider": info.provider, "host": info.host, "model": info.model, "role": options,
        });
        Digest::from_json(&parts)
    }

    pub(super) fn find_provider(&self, name: &str) -> Result<ProviderDef, ModelError> {
        if name == OFFLINE {
            let message = "the offline planner has no model to ask";
            return Err(bad_setting_error(
                name,
                message,
                "name a provider with --provider or in the config",
            ));
        }
        self.registry.find_provider(name).ok_or_else(|| {
            let near = planwright_text::nearest_name(name, self.registry.provider_names());
            let next = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!(
                        "there are {}",
                        self.registry.provider_names().collect::<Vec<_>>().join(", ")
                    )
                }
            };
            let message = format!("there is no provider `{name}`");
            ModelError::new(name, "unknown_provider", Category::Critical, message, next)
        })
    }

    /// The time limits that hold, for those who show them.
    pub fn limits(&self) -> ExchangeLimits {
        self.limits
    }
}

fn limits_from_settings(settings: &ModelSettings) -> ExchangeLimits {
    let (own, built_in) = (&settings.limits.value, ExchangeLimits::default());
    ExchangeLimits {
        connect: own.connect_sec.map_or(built_in.connect, Duration::from_secs),
        call: Duration::from_secs(settings.model_call_limit_sec.value),
        answer_bytes: own.answer_mb.map_or(built_in.answer_bytes, |mb| (mb.min(64) as usize) << 20),
        line_bytes: built_in.line_bytes,
    }
}

fn retry_from_settings(settings: &ModelSettings) -> RetryPolicy {
    let (own, built_in) = (&settings.limits.value, RetryPolicy::default());
    let minutes = settings.outage_wait_min.value;
    RetryPolicy {
        retries: own.retries.map_or(built_in.retries, |retries| retries.min(10) as u32),
        outage_wait: Duration::from_secs(minutes.saturating_mul(60)),
        longest_retry_after: own
            .retry_after_max_sec
            .map_or(built_in.longest_retry_after, Duration::from_secs),
        ..built_in
    }
}

pub(super) fn bad_setting_error(provider: &str, what: &str, next: &str) -> ModelError {
    ModelError::new(provider, "bad_setting", Category::Critical, what, next)
}
