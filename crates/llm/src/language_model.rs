//! The trait every adapter implements.

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{AnswerDelta, GenerateRequest, GeneratedAnswer, ModelError, ModelFacts};

/// How strictly a server can constrain an answer to a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonSupport {
    #[default]
    None,
    /// Any JSON object.
    Object,
    /// The schema itself.
    Schema,
}

/// What a model can do beyond plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCapability {
    /// The model calls tools natively.
    pub tools: bool,
    pub json: JsonSupport,
    pub streaming: bool,
}

impl ModelCapability {
    pub const FULL: Self = Self { tools: true, json: JsonSupport::Schema, streaming: true };
    pub const TEXT: Self = Self { tools: false, json: JsonSupport::None, streaming: true };
}

impl fmt::Display for ModelCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |yes: bool| if yes { "yes" } else { "no" };
        write!(
            f,
            "tools {}, JSON schema {}, streaming {}",
            word(self.tools),
            word(self.json == JsonSupport::Schema),
            word(self.streaming)
        )
    }
}

/// Identifies a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The provider's name in the settings.
    pub provider: String,
    pub model: String,
    /// Host and port; empty for models without a server.
    pub host: String,
    /// Runs on this machine or the local network and costs nothing.
    pub local: bool,
    pub context_window: Option<u32>,
    /// What is known without asking the model; `None` means that [`protocol`](super::protocol) has to detect it.
    pub capability: Option<ModelCapability>,
    /// What the table of models says.
    #[serde(default)]
    pub facts: ModelFacts,
}

impl ModelInfo {
    /// The name on screens.
    pub fn label(&self) -> &str {
        self.facts.label.as_deref().unwrap_or(&self.model)
    }
}

/// Receives the pieces of an answer as they arrive.
pub type DeltaSink<'a> = &'a (dyn Fn(AnswerDelta) + Send + Sync);

/// A sink for callers that only need the complete answer.
pub fn ignore_deltas(_: AnswerDelta) {}

/// A model that can be asked. It returns a complete answer or an error; cancellation ends the request immediately.
pub trait LanguageModel: Send + Sync + fmt::Debug {
    fn info(&self) -> &ModelInfo;

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>>;
}
