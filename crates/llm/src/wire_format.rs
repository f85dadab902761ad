//! What the adapters of all providers share: one model behind HTTP in one wire format, with a dialect that starts from
//! what is known about the model and is corrected by refusals.
//!
//! A format says how a request is written, how an answer is read and what a refusal teaches. Everything else is here.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::tool_names::ToolNameMap;
use super::transport::{
    AnswerDecoder, FailedAttempt, HttpModel, ProviderAdapter, ProviderConnection, ProviderEndpoint,
    WireRequest,
};
use super::{GenerateRequest, LanguageModel, ModelError, ModelFacts, ModelInfo, ToolSpec};

/// The format of one interface.
pub(crate) trait WireFormat: fmt::Debug + Send + Sync + 'static {
    /// What a server is known to accept.
    type Dialect: Copy + fmt::Debug + Send;

    fn build_request(
        &self,
        shape: &RequestShape<'_, Self::Dialect>,
        request: &GenerateRequest,
    ) -> WireRequest;

    fn new_decoder(
        &self,
        model: &str,
        names: ToolNameMap,
        request: &GenerateRequest,
    ) -> Box<dyn AnswerDecoder>;

    /// Adjusts to a refusal. Returns `true` if the next attempt will differ.
    fn adjust_to_refusal(
        dialect: &mut Self::Dialect,
        broken: &FailedAttempt,
        request: &GenerateRequest,
    ) -> bool;

    /// An attempt was answered; an adjustment that was being tried may stay.
    fn confirm_trial(_dialect: &mut Self::Dialect) {}
}

/// Everything besides the request that decides what it looks like on the wire.
#[derive(Debug)]
pub(crate) struct RequestShape<'a, D> {
    pub(crate) model: &'a str,
    pub(crate) facts: &'a ModelFacts,
    pub(crate) dialect: D,
    pub(crate) streamed: bool,
}

#[derive(Debug)]
struct FormatAdapter<F: WireFormat> {
    format: F,
    model: String,
    facts: ModelFacts,
    stream: bool,
    dialect: Mutex<F::Dialect>,
}

/// Opens a model that is talked to in a format.
pub(crate) fn open_in_format<F: WireFormat>(
    format: F,
    dialect: F::Dialect,
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    stream: bool,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let adapter = FormatAdapter {
        format,
        model: info.model.clone(),
        facts: info.facts.clone(),
        stream,
        dialect: Mutex::new(dialect),
    };
    Ok(Arc::new(HttpModel { info, adapter, connection: ProviderConnection::open(endpoint)? }))
}

impl<F: WireFormat> FormatAdapter<F> {
    fn dialect(&self) -> MutexGuard<'_, F::Dialect> {
        self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: WireFormat> ProviderAdapter for FormatAdapter<F> {
    fn build_request(&self, request: &GenerateRequest) -> WireRequest {
        let shape = RequestShape {
            model: &self.model,
            facts: &self.facts,
            dialect: *self.dialect(),
            streamed: request.stream && self.stream,
        };
        self.format.build_request(&shape, request)
    }

    fn new_decoder(&self, request: &GenerateRequest) -> Box<dyn AnswerDecoder> {
        self.format.new_decoder(&self.model, ToolNameMap::from_request(request), request)
    }

    fn adjust_to_failure(&self, broken: &FailedAttempt, request: &GenerateRequest) -> bool {
        F::adjust_to_refusal(&mut self.dialect(), broken, request)
    }

    fn note_success(&self) {
        F::confirm_trial(&mut self.dialect());
    }
}

/// Gives something up that a server refused. Returns `true` if it was asked for until now.
pub(crate) fn switch_off(field: &mut bool) -> bool {
    std::mem::replace(field, false)
}

/// The text of a refusal that may be about a field of the request, in lower case; another failure teaches nothing.
pub(crate) fn refusal_text(broken: &FailedAttempt) -> Option<String> {
    (broken.status == Some(400)).then(|| broken.error.message.to_ascii_lowercase())
}

/// A tool as the interfaces that call it a function describe it.
pub(crate) fn function_tool(tool: &ToolSpec, names: &ToolNameMap) -> Value {
    let function = json!({
        "name": names.wire_name(&tool.name),
        "description": tool.description,
        "parameters": tool.schema,
    });
    json!({"type": "function", "function": function})
}

/// Adds parts to the turns of a conversation in which the roles alternate.
pub(crate) fn push_turn(
    turns: &mut Vec<(&'static str, Vec<Value>)>,
    role: &'static str,
    parts: Vec<Value>,
) {
    match turns.last_mut() {
        _ if parts.is_empty() => {}
        Some((last, content)) if *last == role => content.extend(parts),
        _ => turns.push((role, parts)),
    }
}
