//! The interface between the transport and an adapter's decoder.

use serde_json::Value;

use super::body::WireEvent;
use crate::{DeltaSink, GeneratedAnswer};

/// What one event meant to a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecodeProgress {
    /// The answer grew.
    Progress,
    /// The server is alive but sent nothing of the answer.
    KeepAlive,
    /// The answer is complete.
    Done,
}

/// Why an answer could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DecodeFault {
    NotJson(String),
    Shape(String),
    /// The server reported an error in the middle of a stream.
    Server {
        message: String,
        kind: String,
    },
    /// The stream ended before the server marked the answer as complete.
    Truncated,
    /// The response was empty.
    Empty,
}

/// Assembles an answer from its events, in the format of one provider.
pub(crate) trait AnswerDecoder: Send {
    /// Processes the next event of a stream.
    fn decode_event(
        &mut self,
        event: &WireEvent,
        deltas: DeltaSink<'_>,
    ) -> Result<DecodeProgress, DecodeFault>;

    /// Processes an answer that was not streamed.
    fn decode_complete(&mut self, answer: &Value) -> Result<(), DecodeFault>;

    /// Returns the answer if it is complete.
    fn finish(self: Box<Self>) -> Result<GeneratedAnswer, DecodeFault>;
}

/// Parses the JSON of an event.
pub(crate) fn parse_json(data: &str) -> Result<Value, DecodeFault> {
    serde_json::from_str(data).map_err(|_| DecodeFault::NotJson(data.to_owned()))
}

/// The error a server embedded in an answer, if any.
pub(crate) fn find_server_error(value: &Value) -> Option<DecodeFault> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    let field = |name: &str| error.get(name).and_then(Value::as_str);
    let message = error.as_str().or_else(|| field("message"));
    Some(DecodeFault::Server {
        message: message.map_or_else(|| error.to_string(), str::to_owned),
        kind: field("type").or_else(|| field("code")).unwrap_or_default().to_owned(),
    })
}
