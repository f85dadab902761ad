//! What an adapter's decoder is to the transport.

use serde_json::Value;

use super::body::WireEvent;
use crate::{DeltaSink, GeneratedAnswer};

/// What a decoder says about one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecodeProgress {
    /// The answer grew; the idle limit begins anew.
    Progress,
    /// A sign of life that says nothing; the idle limit runs on.
    KeepAlive,
    /// Nothing more will come.
    Done,
}

/// Why an answer could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DecodeFault {
    NotJson(String),
    Shape(String),
    /// The server itself broke off, in the middle of a stream.
    Server {
        message: String,
        kind: String,
    },
    /// The stream ended before the server said that the answer is complete.
    Truncated,
    /// Nothing came at all.
    Empty,
}

/// Puts an answer together from its pieces, in the format of one provider.
pub(crate) trait AnswerDecoder: Send {
    /// Takes the next event of a stream.
    fn decode_event(
        &mut self,
        event: &WireEvent,
        deltas: DeltaSink<'_>,
    ) -> Result<DecodeProgress, DecodeFault>;

    /// Takes an answer that came in one piece.
    fn decode_complete(&mut self, answer: &Value) -> Result<(), DecodeFault>;

    /// Gives the answer, if it is complete.
    fn finish(self: Box<Self>) -> Result<GeneratedAnswer, DecodeFault>;
}

/// Parses the JSON of an event.
pub(crate) fn parse_json(data: &str) -> Result<Value, DecodeFault> {
    serde_json::from_str(data).map_err(|_| DecodeFault::NotJson(data.to_owned()))
}

/// The error a server put into an answer, if it did.
pub(crate) fn find_server_error(value: &Value) -> Option<DecodeFault> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    let field = |name: &str| error.get(name).and_then(Value::as_str);
    let message = error.as_str().or_else(|| field("message"));
    Some(DecodeFault::Server {
        message: message.map_or_else(|| error.to_string(), str::to_owned),
        kind: field("type").or_else(|| field("code")).unwrap_or_default().to_owned(),
    })
}
