//! What stands in for network providers in a build without them: nothing is found, and opening one is refused.

use std::sync::Arc;

use super::{ModelFactory, OllamaProbe};
use crate::{LanguageModel, ModelError};
use planwright_model::Category;

impl ModelFactory {
    /// No server is asked, because none could be used.
    #[expect(clippy::unused_async, reason = "the same signature as with network providers")]
    pub async fn probe_ollama(&self) -> OllamaProbe {
        OllamaProbe::Absent
    }

    /// Refuses a provider that exists; one that does not is reported as in any other build.
    #[expect(clippy::unused_async, reason = "the same signature as with network providers")]
    pub(super) async fn open_live_model(
        &self,
        name: &str,
        _model: Option<&str>,
    ) -> Result<Arc<dyn LanguageModel>, ModelError> {
        let provider = self.find_provider(name)?;
        Err(ModelError::new(
            &provider.name,
            "not_built_in",
            Category::Critical,
            "this build has no network providers",
            "rebuild with --features providers",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_capability_cache::MemoryCapabilityCache;
    use crate::settings::ModelSettings;

    #[tokio::test]
    async fn a_provider_that_is_not_built_in_is_refused_with_the_feature() {
        let cache = Arc::new(MemoryCapabilityCache::default());
        let factory = ModelFactory::new(ModelSettings::default(), cache);
        for provider in ["openai", "anthropic", "ollama", "http://127.0.0.1:9/v1"] {
            let error = factory.open_model(provider, None).await.err().unwrap();
            assert_eq!(error.code, "not_built_in");
            assert_eq!(error.message, "this build has no network providers");
            assert_eq!(error.next_step, "rebuild with --features providers");
        }
        assert_eq!(factory.open_model("opnai", None).await.err().unwrap().code, "unknown_provider");
        assert_eq!(factory.probe_ollama().await, OllamaProbe::Absent);
    }
}
