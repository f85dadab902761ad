//! The connection to an agent: requests to it, what it sends, and why it ended.
//!
//! The library keeps requests and answers together; everything that the agent sends by itself arrives here untyped and
//! in order, because an agent may send what no version of the library knows.

use std::time::Duration;

use agent_client_protocol::v1::{ConnectionTo, Dispatch, Responder};
use agent_client_protocol::{Agent, Client, Error, Lines, UntypedMessage};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::own_agent::FileReading;

use super::bounded_lines::{LineBounds, LineReport, read_lines};

/// Something that an agent sent by itself.
#[derive(Debug)]
pub(crate) enum AgentMessage {
    Notification { method: String, params: Value },
    Request { method: String, params: Value, reply: AgentReply },
}

/// The way to answer a request of an agent. Dropped, it answers with an error.
#[derive(Debug)]
pub(crate) struct AgentReply(Box<Responder<Value>>);

impl AgentReply {
    pub(crate) fn send(self, result: Value) {
        // An agent that is gone needs no answer.
        let _ = self.0.respond(result);
    }

    pub(crate) fn refuse(self, code: i32, message: &str) {
        let _ = self.0.respond_with_error(Error::new(code, message));
    }
}

/// The code of a request for a method that nobody knows.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// The code of a request that cannot be met.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// The code of a file that is not there.
pub(crate) const NOT_FOUND: i32 = -32002;
/// The code of an answer of an agent that is not signed in.
pub(crate) const AUTH_REQUIRED: i32 = -32000;

/// Why a request to an agent failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    /// The agent says so.
    #[error("{message}")]
    Refused { code: i32, message: String },
    #[error("it did not answer within {} s", seconds)]
    NoAnswer { seconds: u64 },
    /// The connection is over.
    #[error("{why}")]
    Closed { why: String },
}

/// A connection to an agent.
#[derive(Debug)]
pub(crate) struct AcpConnection {
    agent: ConnectionTo<Agent>,
    report: LineReport,
    closing: Option<oneshot::Sender<()>>,
    driver: JoinHandle<()>,
}

impl AcpConnection {
    /// Opens a connection over the pipes of an agent. What the agent sends by itself arrives at the receiver.
    pub(crate) async fn open(
        output: impl AsyncRead + Send + Unpin + 'static,
        input: impl AsyncWrite + Send + Unpin + 'static,
        bounds: LineBounds,
    ) -> Result<(Self, mpsc::UnboundedReceiver<AgentMessage>), RequestError> {
        let report = LineReport::default();
        let lines = read_lines(output, bounds, report.clone());
        let writer = futures_util::sink::unfold(input, |mut input, line: String| async move {
            input.write_all(line.as_bytes()).await?;
            input.write_all(b"\n").await?;
            input.flush().await?;
            Ok::<_, std::io::Error>(input)
        });
        // The pace of the lines bounds how fast it fills.
        let (sender, receiver) = mpsc::unbounded_channel();
        let (opened, connected) = oneshot::channel();
        let (closing, closed) = oneshot::channel::<()>();
        let driver = tokio::spawn(async move {
            let served = Client
                .v1()
                .name("planwright")
                .on_receive_dispatch(
                    async move |message: Dispatch<UntypedMessage, UntypedMessage>, _| {
                        forward(message, &sender)
                    },
                    agent_client_protocol::on_receive_dispatch!(),
                )
                .connect_with(Lines::new(writer, lines), async move |agent| {
                    // Nobody waits any more only if the attempt was cancelled meanwhile.
                    let _ = opened.send(agent);
                    // Dropped or sent, the connection is to end.
                    let _ = closed.await;
                    Ok(())
                })
                .await;
            if let Err(error) = served {
                tracing::debug!(code = %i32::from(error.code), "the connection to an agent ended");
            }
        });
        let why = || RequestError::Closed { why: closed_reason(&report) };
        let agent = connected.await.map_err(|_| why())?;
        Ok((Self { agent, report, closing: Some(closing), driver }, receiver))
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, RequestError> {
        let message = UntypedMessage { method: method.to_owned(), params };
        let sent = self.agent.send_request(message);
        let answered = tokio::select! {
            answered = sent.block_task() => answered,
            _ = self.agent.terminated() => {
                return Err(RequestError::Closed { why: closed_reason(&self.report) });
            }
        };
        answered.map_err(|error| self.request_error(&error))
    }

    /// The same for an answer that must come soon.
    pub(crate) async fn request_within(
        &self,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, RequestError> {
        let answered = tokio::time::timeout(limit, self.request(method, params)).await;
        answered.unwrap_or_else(|_| Err(RequestError::NoAnswer { seconds: limit.as_secs() }))
    }

    /// Sends what needs no answer.
    pub(crate) fn notify(&self, method: &str, params: Value) {
        let message = UntypedMessage { method: method.to_owned(), params };
        // An agent that is gone needs to be told nothing.
        let _ = self.agent.send_notification(message);
    }

    /// What became of the lines that the agent wrote.
    pub(crate) fn report(&self) -> &LineReport {
        &self.report
    }

    /// Closes the connection, and with it the agent's input.
    pub(crate) fn close(&mut self) {
        drop(self.closing.take());
        self.driver.abort();
    }

    fn request_error(&self, error: &Error) -> RequestError {
        let is_closed = self.agent.is_incoming_closed() || self.agent.termination().is_some();
        if is_closed || self.report.fault().is_some() {
            return RequestError::Closed { why: closed_reason(&self.report) };
        }
        let code = i32::from(error.code);
        let mut message = planwright_text::clean_line(&error.message).into_owned();
        let more = error.data.as_ref().and_then(error_detail);
        if let Some(more) = more.filter(|more| !message.contains(more.as_str())) {
            message = format!("{message}: {more}");
        }
        let message = planwright_tools::text_limit::truncate_chars(&message, 500);
        RequestError::Refused { code, message }
    }
}

impl Drop for AcpConnection {
    fn drop(&mut self) {
        self.close();
    }
}

/// What an error says beside its message, if that is text.
fn error_detail(data: &Value) -> Option<String> {
    let text = match data {
        Value::String(text) => Some(text.as_str()),
        Value::Object(fields) => ["details", "message", "error", "reason"]
            .iter()
            .find_map(|name| fields.get(*name)?.as_str()),
        _ => None,
    };
    text.map(|text| planwright_text::clean_line(text).into_owned())
}

fn closed_reason(report: &LineReport) -> String {
    report.fault().map_or_else(|| "it ended".to_owned(), |why| format!("{why}; it was ended"))
}

/// Hands a message on; answers go to whoever asked.
fn forward(
    message: Dispatch<UntypedMessage, UntypedMessage>,
    sender: &mpsc::UnboundedSender<AgentMessage>,
) -> Result<(), Error> {
    let message = match message {
        Dispatch::Request(request, responder) => {
            let (method, params) = request.into_parts();
            AgentMessage::Request { method, params, reply: AgentReply(Box::new(responder)) }
        }
        Dispatch::Notification(notification) => {
            let (method, params) = notification.into_parts();
            AgentMessage::Notification { method, params }
        }
        Dispatch::Response(result, router) => return router.route_with_result(result),
    };
    // Nobody listens any more: a request is answered with an error when it is dropped.
    let _ = sender.send(message);
    Ok(())
}

/// What we are and can do, as an agent is told.
pub(crate) fn initialize_params(reading: FileReading) -> Value {
    json!({
        "protocolVersion": 1,
        "clientInfo": { "name": "planwright", "title": "Planwright", "version": env!("CARGO_PKG_VERSION") },
        "clientCapabilities": {
            "fs": { "readTextFile": reading == FileReading::ThroughUs, "writeTextFile": true },
            "terminal": true,
        },
    })
}
