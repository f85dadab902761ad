//! The trait every adapter implements.

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{AnswerDelta, GenerateRequest, GeneratedAnswer, ModelError};

/// How far a server goes in holding an answer to a schema.
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
    /// Calls tools of its own accord.
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

/// Which model this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The provider's name as the settings know it.
    pub provider: String,
    pub model: String,
    /// Where it is, host and port; empty for models without a server.
    pub host: String,
    /// Runs on this machine or the local network and costs nothing.
    pub local: bool,
    pub context_window: Option<u32>,
    /// What is known without asking; `None` is to be found out with [`protocol`](super::protocol).
    pub capability: Option<ModelCapability>,
}

/// Where pieces of an answer go while it arrives.
pub type DeltaSink<'a> = &'a (dyn Fn(AnswerDelta) + Send + Sync);

/// A sink for callers that wait for the whole answer.
pub fn ignore_deltas(_: AnswerDelta) {}

/// A model that can be asked. The answer is complete or an error; cancelling ends the request at once.
pub trait LanguageModel: Send + Sync + fmt::Debug {
    fn info(&self) -> &ModelInfo;

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>>;
}
