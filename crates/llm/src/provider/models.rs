//! Opens models: settings, keys, gates and prices put together.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;

use super::{Kind, ModelRole, OFFLINE, OllamaProbe, ProviderDef, RECORDED, Registry, RoleOptions};
use crate::cost::{Ledger, Price, PriceTable, Pricing, Rates};
use crate::keys::{self, Secret};
use crate::notebook::Notebook;
use crate::protocol::{Dialogue, ProtocolChoice};
use crate::recorded::{Recorded, Recording};
use crate::settings::LimitSettings;
use crate::settings::ModelSettings;
use crate::transport::{Connection, Endpoint, Gate, Limits, RetryPolicy, is_local};
use crate::{
    Capability, JsonSupport, LanguageModel, ModelError, ModelInfo, anthropic, ollama, openai,
};
use planwright_model::breaker::BreakerSettings;
use planwright_model::{Category, Digest};
use planwright_text::Redactor;

/// A server on this machine answers a question about itself in this time, or is not there.
const PROBE: Duration = Duration::from_millis(200);

/// All models that can be opened in this process. One per process, so that gates are shared.
#[derive(Debug)]
pub struct Models {
    settings: ModelSettings,
    registry: Registry,
    notebook: Arc<dyn Notebook>,
    gates: Mutex<BTreeMap<String, Arc<Gate>>>,
    loaded: Mutex<BTreeMap<String, Secret>>,
    /// Recordings that are being played, so that all roles hear one and the same.
    tapes: Mutex<BTreeMap<String, Arc<Recorded>>>,
    limits: Limits,
    retry: RetryPolicy,
}

impl Models {
    pub fn new(settings: ModelSettings, notebook: Arc<dyn Notebook>) -> Self {
        Self {
            registry: Registry::new(&settings),
            limits: limits(&settings.limits.value),
            retry: retry(&settings.limits.value),
            settings,
            notebook,
            gates: Mutex::default(),
            loaded: Mutex::default(),
            tapes: Mutex::default(),
        }
    }

    /// Sets limits finer than whole seconds.
    pub fn with_limits(self, limits: Limits, retry: RetryPolicy) -> Self {
        Self { limits, retry, ..self }
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    pub fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    /// What models cost. The table is read when somebody asks: most sessions without a model never do.
    pub fn prices(&self) -> &PriceTable {
        static BUILT_IN: LazyLock<PriceTable> = LazyLock::new(PriceTable::built_in);
        &BUILT_IN
    }

    /// Covers every key that was loaded so far. Load keys before anything is written.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.secrets().iter().map(Secret::expose))
    }

    /// Every key that was loaded so far.
    pub fn secrets(&self) -> Vec<Secret> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Loads the key of a provider, if it has one, so that the redactor knows it.
    pub async fn load_key(&self, provider: &ProviderDef) -> Result<Option<Secret>, ModelError> {
        if let Some(known) =
            self.loaded.lock().unwrap_or_else(PoisonError::into_inner).get(&provider.name)
        {
            return Ok(Some(known.clone()));
        }
        let key = keys::load(provider, |name| std::env::var(name).ok()).await?;
        if let Some(key) = &key {
            self.loaded
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(provider.name.clone(), key.clone());
        }
        Ok(key)
    }

    /// Whether a local Ollama answers, and with which models.
    pub async fn probe_ollama(&self) -> OllamaProbe {
        let Some(provider) = self.registry.find("ollama") else { return OllamaProbe::Absent };
        let Ok(mut endpoint) = self.endpoint(&provider, None) else { return OllamaProbe::Absent };
        (endpoint.limits.connect, endpoint.limits.first_byte, endpoint.limits.idle) =
            (PROBE, PROBE, PROBE);
        match tokio::time::timeout(PROBE, ollama::installed_models(endpoint)).await {
            Ok(Ok(models)) => OllamaProbe::Present(models),
            _ => OllamaProbe::Absent,
        }
    }

    /// Opens a model of a provider by name, address or `recorded:FILE`. `offline` has no model to open.
    pub async fn open(
        &self,
        provider: &str,
        model: Option<&str>,
    ) -> Result<Arc<dyn LanguageModel>, ModelError> {
        let opened = match provider.strip_prefix(RECORDED).and_then(|rest| rest.strip_prefix(':')) {
            Some(file) => self.tape(file)?,
            None => self.open_live(provider, model).await?,
        };
        match &self.settings.record.value {
            Some(file) => Ok(Arc::new(Recording::to(opened, Path::new(file), self.redactor())?)),
            None => Ok(opened),
        }
    }

    fn tape(&self, file: &str) -> Result<Arc<Recorded>, ModelError> {
        let mut tapes = self.tapes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(playing) = tapes.get(file) {
            return Ok(Arc::clone(playing));
        }
        let tape = Arc::new(Recorded::open(Path::new(file), self.redactor())?);
        tapes.insert(file.to_owned(), Arc::clone(&tape));
        Ok(tape)
    }

    async fn open_live(
        &self,
        name: &str,
        model: Option<&str>,
    ) -> Result<Arc<dyn LanguageModel>, ModelError> {
        let provider = self.find(name)?;
        let key = self.load_key(&provider).await?;
        let endpoint = self.endpoint(&provider, key.as_ref())?;
        let model = match model.map(str::to_owned).or_else(|| provider.model.clone()) {
            Some(model) => model,
            None => self.first_model(&provider, endpoint.clone()).await?,
        };
        let url = Url::parse(&endpoint.base_url).ok();
        let mut info = ModelInfo {
            provider: provider.name.clone(),
            model,
            host: url.as_ref().map(host).unwrap_or_default(),
            local: url.as_ref().is_some_and(is_local),
            context_window: provider.context_window,
            capability: provider.full.then_some(Capability::FULL),
        };
        match provider.kind {
            Kind::OpenAi => {
                let dialect = if provider.hosted {
                    openai::Dialect::HOSTED
                } else {
                    openai::Dialect::COMPATIBLE
                };
                let dialect = if provider.stream { dialect } else { dialect.without_stream() };
                openai::open(info, endpoint, dialect)
            }
            Kind::Anthropic => {
                // Every model of this interface calls tools; there is nothing to find out.
                info.capability =
                    Some(Capability { json: JsonSupport::Schema, ..Capability::FULL });
                anthropic::open(info, endpoint, provider.stream)
            }
            Kind::Ollama => {
                let (capability, window) =
                    ollama::describe(endpoint.clone(), &info.model).await.unwrap_or_default();
                info.capability = info.capability.or(capability);
                info.context_window = info.context_window.or(window);
                ollama::open(info, endpoint, provider.stream)
            }
        }
    }

    /// A model with its protocol, its price and the books it is charged to.
    pub async fn dialogue(
        &self,
        provider: &str,
        role: ModelRole,
        ledger: Arc<Ledger>,
    ) -> Result<Dialogue, ModelError> {
        let options = RoleOptions::of(&self.settings, role);
        let provider_name = options.provider.as_deref().unwrap_or(provider);
        let main = self.settings.model.value.as_deref().filter(|_| options.provider.is_none());
        let model = self.open(provider_name, options.model.as_deref().or(main)).await?;
        Ok(self.talk_to(model, ledger).asked_as(options.manner()))
    }

    /// Wraps a model that is open already.
    pub fn talk_to(&self, model: Arc<dyn LanguageModel>, ledger: Arc<Ledger>) -> Dialogue {
        let pricing = self.pricing(model.info());
        let choice: ProtocolChoice = self.settings.protocol.value.parse().unwrap_or_default();
        Dialogue::new(model)
            .protocol(choice)
            .priced(pricing, ledger)
            .noting(Arc::clone(&self.notebook))
    }

    /// What a model costs: the person's own price, nothing if it runs here, else the table.
    pub fn pricing(&self, info: &ModelInfo) -> Pricing {
        if let Some(own) = self.settings.prices.get(&info.model) {
            let own = own.value;
            let rates = Rates::from_dollars(own.input, own.output, own.cached, own.cache_write);
            return Pricing::Known(Price::flat(rates));
        }
        if info.local {
            return Pricing::Free;
        }
        self.prices().price(&info.provider, &info.model).map_or(Pricing::Unknown, Pricing::Known)
    }

    /// What a cached answer of a role depends on besides the question.
    pub fn cache_key(&self, info: &ModelInfo, role: ModelRole) -> Digest {
        let options =
            serde_json::to_value(RoleOptions::of(&self.settings, role)).unwrap_or_default();
        let parts = serde_json::json!({
            "provider": info.provider, "host": info.host, "model": info.model, "role": options,
        });
        Digest::of_json(&parts)
    }

    fn find(&self, name: &str) -> Result<ProviderDef, ModelError> {
        if name == OFFLINE {
            let what = "the offline planner has no model to ask";
            return Err(wrong(name, what, "name a provider with --provider or in the config"));
        }
        self.registry.find(name).ok_or_else(|| {
            let near = planwright_text::nearest(name, self.registry.names());
            let next = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!("there are {}", self.registry.names().collect::<Vec<_>>().join(", "))
                }
            };
            let what = format!("there is no provider `{name}`");
            ModelError::new(name, "unknown_provider", Category::Critical, what, next)
        })
    }

    fn endpoint(
        &self,
        provider: &ProviderDef,
        key: Option<&Secret>,
    ) -> Result<Endpoint, ModelError> {
        let name = &provider.name;
        let Some(base_url) = provider.base_url.clone() else {
            let next = format!(
                "set base_url under [providers.{name}], or name the address with --provider"
            );
            return Err(wrong(name, &format!("{name} has no address"), &next));
        };
        let mut headers: Vec<(String, Secret)> = provider
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), Secret::new(value.as_str())))
            .collect();
        match (provider.kind, key) {
            (Kind::Anthropic, key) => {
                headers.push(("anthropic-version".to_owned(), Secret::new(anthropic::VERSION)));
                headers.extend(key.map(|key| ("x-api-key".to_owned(), key.clone())));
            }
            (_, Some(key)) => {
                let bearer = Secret::new(format!("Bearer {}", key.expose()));
                headers.push(("authorization".to_owned(), bearer));
            }
            (_, None) => {}
        }
        Ok(Endpoint {
            provider: name.clone(),
            base_url,
            headers,
            limits: self.limits,
            retry: self.retry,
            gate: self.gate(provider),
            redactor: self.redactor(),
        })
    }

    fn gate(&self, provider: &ProviderDef) -> Arc<Gate> {
        let key = format!("{} {}", provider.name, provider.base_url.as_deref().unwrap_or_default());
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = gates.entry(key).or_insert_with(|| {
            Gate::new(provider.concurrency as usize, BreakerSettings::default())
        });
        Arc::clone(gate)
    }

    /// The time limits that hold, for those who show them.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The model a server offers first, for those who named none.
    async fn first_model(
        &self,
        provider: &ProviderDef,
        endpoint: Endpoint,
    ) -> Result<String, ModelError> {
        let first = match provider.kind {
            Kind::Ollama => ollama::installed_models(endpoint).await?.into_iter().next(),
            Kind::OpenAi | Kind::Anthropic => {
                let answer = Connection::open(endpoint)?.fetch("/models", None).await?;
                answer.pointer("/data/0/id").and_then(Value::as_str).map(str::to_owned)
            }
        };
        first.ok_or_else(|| {
            let what = format!("{} offers no model", provider.name);
            wrong(&provider.name, &what, "name one with --model")
        })
    }
}

fn limits(own: &LimitSettings) -> Limits {
    let built_in = Limits::default();
    let seconds = |own: Option<u64>, built_in| own.map_or(built_in, Duration::from_secs);
    Limits {
        connect: seconds(own.connect_sec, built_in.connect),
        first_byte: seconds(own.first_byte_sec, built_in.first_byte),
        idle: seconds(own.idle_sec, built_in.idle),
        total: seconds(own.total_sec, built_in.total),
        answer_bytes: own.answer_mb.map_or(built_in.answer_bytes, |mb| (mb.min(64) as usize) << 20),
        line_bytes: built_in.line_bytes,
    }
}

fn retry(own: &LimitSettings) -> RetryPolicy {
    let built_in = RetryPolicy::default();
    let retries = own.retries.map_or(built_in.retries, |retries| retries.min(10) as u32);
    RetryPolicy {
        retries,
        retries_after_silence: built_in.retries_after_silence.min(retries),
        longest_retry_after: own
            .retry_after_max_sec
            .map_or(built_in.longest_retry_after, Duration::from_secs),
        ..built_in
    }
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn wrong(provider: &str, what: &str, next: &str) -> ModelError {
    ModelError::new(provider, "bad_setting", Category::Critical, what, next)
}
