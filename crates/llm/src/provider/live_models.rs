//! Opens models of providers that are reached over the network, on this machine or elsewhere.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;

use super::model_factory::bad_setting_error;
use super::{ModelFactory, OllamaProbe, ProviderDef, ProviderKind};
use crate::api_keys::Secret;
use crate::transport::{ProviderConnection, ProviderEndpoint, ProviderGate, is_local};
use crate::{
    LanguageModel, ModelApi, ModelCapability, ModelError, ModelFacts, ModelInfo, ModelTable,
    ToolCallQuality, anthropic, gemini, ollama, openai,
};
use planwright_model::breaker::BreakerSettings;

/// How long a server on this machine may take to describe itself before it is treated as absent.
const PROBE: Duration = Duration::from_millis(200);

impl ModelFactory {
    /// Whether a local Ollama answers, and with which models.
    pub async fn probe_ollama(&self) -> OllamaProbe {
        let Some(provider) = self.registry.find_provider("ollama") else {
            return OllamaProbe::Absent;
        };
        // An address that cannot be used is reported once the provider is chosen.
        let Ok(mut endpoint) = self.provider_endpoint(&provider, None) else {
            return OllamaProbe::Absent;
        };
        (endpoint.limits.connect, endpoint.limits.call) = (PROBE, PROBE);
        match tokio::time::timeout(PROBE, ollama::installed_models(endpoint)).await {
            Ok(Ok(models)) => OllamaProbe::Present(models),
            // Most machines have none, which is not an error.
            _ => OllamaProbe::Absent,
        }
    }

    pub(super) async fn open_live_model(
        &self,
        name: &str,
        model: Option<&str>,
    ) -> Result<Arc<dyn LanguageModel>, ModelError> {
        let provider = self.find_provider(name)?;
        let key = self.load_key(&provider).await?;
        let endpoint = self.provider_endpoint(&provider, key.as_ref())?;
        let model = match model.map(str::to_owned).or_else(|| provider.model.clone()) {
            Some(model) => model,
            None => self.first_model(&provider, endpoint.clone()).await?,
        };
        // A wrong address is refused when the connection is made, below.
        let url = Url::parse(&endpoint.base_url).ok();
        let facts = ModelTable::built_in().find_facts(&model).cloned().unwrap_or_default();
        let mut info = ModelInfo {
            provider: provider.name.clone(),
            model,
            host: url.as_ref().map(host_and_port).unwrap_or_default(),
            local: url.as_ref().is_some_and(is_local),
            context_window: provider.context_window.or(facts.window),
            capability: provider.full.then_some(ModelCapability::FULL),
            facts,
        };
        match provider.kind {
            ProviderKind::OpenAi if uses_responses(&provider, &info.facts) => {
                openai::open_responses_model(info, endpoint, provider.stream)
            }
            ProviderKind::OpenAi => {
                let dialect = if provider.hosted {
                    openai::OpenAiDialect::HOSTED
                } else {
                    openai::OpenAiDialect::COMPATIBLE
                };
                let dialect = if provider.stream { dialect } else { dialect.without_stream() };
                openai::open_model(info, endpoint, dialect)
            }
            // Every model of these interfaces calls tools; there is nothing to find out.
            ProviderKind::Anthropic => {
                info.capability = Some(ModelCapability::FULL);
                info.facts.tools.get_or_insert(ToolCallQuality::Strong);
                anthropic::open_model(info, endpoint, provider.stream)
            }
            ProviderKind::Gemini => {
                info.capability = Some(ModelCapability::FULL);
                info.facts.tools.get_or_insert(ToolCallQuality::Strong);
                gemini::open_model(info, endpoint, provider.stream)
            }
            ProviderKind::Ollama => {
                let described = ollama::describe_model(endpoint.clone(), &info.model).await;
                // An older server cannot describe its models; what they can do is found out by asking.
                let described = described.unwrap_or_else(|error| {
                    tracing::debug!(code = %error.code, "the server does not describe the model");
                    ollama::OllamaDescription::default()
                });
                info.capability = info.capability.or(described.capability);
                // The window of the copy that is installed, not of the model at its maker's.
                info.context_window =
                    provider.context_window.or(described.window).or(info.context_window);
                described.complete_facts(&mut info.facts);
                ollama::open_model(info, endpoint, provider.stream)
            }
        }
    }

    fn provider_endpoint(
        &self,
        provider: &ProviderDef,
        key: Option<&Secret>,
    ) -> Result<ProviderEndpoint, ModelError> {
        let name = &provider.name;
        let Some(base_url) = provider.base_url.clone() else {
            let next = format!(
                "set base_url under [providers.{name}], or name the address with --provider"
            );
            return Err(bad_setting_error(name, &format!("{name} has no address"), &next));
        };
        let mut headers: Vec<(String, Secret)> = provider
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), Secret::new(value.as_str())))
            .collect();
        match (provider.kind, key) {
            (ProviderKind::Anthropic, key) => {
                headers.push(("anthropic-version".to_owned(), Secret::new(anthropic::VERSION)));
                headers.extend(key.map(|key| ("x-api-key".to_owned(), key.clone())));
            }
            (ProviderKind::Gemini, Some(key)) => {
                headers.push(("x-goog-api-key".to_owned(), key.clone()));
            }
            (_, Some(key)) => {
                let bearer = Secret::new(format!("Bearer {}", key.expose()));
                headers.push(("authorization".to_owned(), bearer));
            }
            (_, None) => {}
        }
        Ok(ProviderEndpoint {
            provider: name.clone(),
            base_url,
            headers,
            limits: self.limits,
            retry: self.retry,
            gate: self.provider_gate(provider),
            redactor: self.redactor(),
        })
    }

    fn provider_gate(&self, provider: &ProviderDef) -> Arc<ProviderGate> {
        let key = format!("{} {}", provider.name, provider.base_url.as_deref().unwrap_or_default());
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = gates.entry(key).or_insert_with(|| {
            ProviderGate::new(provider.concurrency as usize, BreakerSettings::default())
        });
        Arc::clone(gate)
    }

    /// The model a server offers first, for those who named none.
    async fn first_model(
        &self,
        provider: &ProviderDef,
        endpoint: ProviderEndpoint,
    ) -> Result<String, ModelError> {
        let first = match provider.kind {
            ProviderKind::Ollama => ollama::installed_models(endpoint).await?.into_iter().next(),
            ProviderKind::Gemini => {
                let connection = ProviderConnection::open(endpoint)?;
                let answer = connection.fetch_json("/v1beta/models", None).await?;
                let name = answer.pointer("/models/0/name").and_then(Value::as_str);
                name.map(|name| name.trim_start_matches("models/").to_owned())
            }
            ProviderKind::OpenAi | ProviderKind::Anthropic => {
                let answer =
                    ProviderConnection::open(endpoint)?.fetch_json("/models", None).await?;
                answer.pointer("/data/0/id").and_then(Value::as_str).map(str::to_owned)
            }
        };
        first.ok_or_else(|| {
            let what = format!("{} offers no model", provider.name);
            bad_setting_error(&provider.name, &what, "name one with --model")
        })
    }
}

/// Whether a model is asked by the Responses API: as the settings say, otherwise at `OpenAI` itself by what the table
/// says, for new models too.
fn uses_responses(provider: &ProviderDef, facts: &ModelFacts) -> bool {
    match provider.api {
        Some(api) => api == ModelApi::Responses,
        None => provider.hosted && (facts.label.is_none() || facts.api == ModelApi::Responses),
    }
}

fn host_and_port(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
