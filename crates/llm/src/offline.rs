//! A stand-in for a model: its answers come from a rule, so that everything works without network and key.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{
    AnswerDelta, DeltaSink, FinishReason, GenerateRequest, GeneratedAnswer, LanguageModel,
    ModelCapability, ModelError, ModelFacts, ModelInfo, RawToolCall, TokenUsage, ToolCall,
};

/// The answer of a rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfflineAnswer {
    pub text: String,
    pub calls: Vec<ToolCall>,
}

/// Decides what to answer. The same request always gets the same answer.
pub type OfflinePolicy =
    Arc<dyn Fn(&GenerateRequest) -> Result<OfflineAnswer, ModelError> + Send + Sync>;

/// The offline model: a policy behind the same trait as every other model.
#[derive(Clone)]
pub struct OfflineModel {
    info: ModelInfo,
    policy: OfflinePolicy,
}

impl OfflineModel {
    /// `name` identifies the policy in traces.
    pub fn new(name: &str, policy: OfflinePolicy) -> Self {
        let info = ModelInfo {
            provider: super::provider::OFFLINE.to_owned(),
            model: name.to_owned(),
            host: String::new(),
            local: true,
            context_window: None,
            capability: Some(ModelCapability::FULL),
            facts: ModelFacts::default(),
        };
        Self { info, policy }
    }
}

impl fmt::Debug for OfflineModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfflineModel").field("policy", &self.info.model).finish_non_exhaustive()
    }
}

impl LanguageModel for OfflineModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>> {
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(ModelError::cancelled(&self.info.provider));
            }
            let OfflineAnswer { text, calls } = (self.policy)(request)?;
            if !text.is_empty() {
                deltas(AnswerDelta::Text { text: text.clone() });
            }
            let finish =
                if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
            let tool_calls = calls.into_iter().map(|call| RawToolCall {
                id: call.id,
                name: call.name,
                arguments: call.arguments.to_string(),
            });
            Ok(GeneratedAnswer {
                text,
                tool_calls: tool_calls.collect(),
                usage: TokenUsage::from_counts(0, 0),
                reasoning: Vec::new(),
                finish,
                model: self.info.model.clone(),
                spent_on_retries: TokenUsage::default(),
            })
        })
    }
}
