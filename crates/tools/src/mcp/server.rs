//! A server that is connected to when needed, given up on when it hangs, and left alone while its breaker is open.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as PlainMutex, PoisonError};
use std::time::Instant;

use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject};
use rmcp::service::ServiceError;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, foreign_words, unavailable};
use super::line_limit::ConnectionFault;
use crate::settings::McpServer;
use crate::tool::{Code, ToolError};
use planwright_model::breaker::{Admission, Breaker, CallOutcome};
use planwright_model::{Category, Digest};

/// A server of the person's config.
#[derive(Debug)]
pub struct Server {
    name: String,
    pub(super) config: McpServer,
    connection: Mutex<Option<Connection>>,
    breaker: PlainMutex<Breaker>,
    /// The server said that its tools changed, and they were not listed since.
    changed: Arc<AtomicBool>,
    /// A tool turned out to be another than the one that was registered.
    outdated: AtomicBool,
    begun: Instant,
}

impl Server {
    pub fn new(name: &str, config: McpServer) -> Self {
        Self {
            name: name.to_owned(),
            config,
            connection: Mutex::new(None),
            breaker: PlainMutex::default(),
            changed: Arc::default(),
            outdated: AtomicBool::new(false),
            begun: Instant::now(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn admit(&self) -> Result<(), ToolError> {
        let now = self.now();
        let admission = self.breaker.lock().unwrap_or_else(PoisonError::into_inner).admit(now);
        match admission {
            Admission::Allowed | Admission::Probe => Ok(()),
            Admission::Refused { retry_in_ms } => Err(ToolError::new(
                Code::BreakerOpen,
                format!(
                    "{} failed too often; try again in {} s",
                    self.name,
                    retry_in_ms.div_ceil(1000)
                ),
            )),
        }
    }

    /// Counts how it went. What a tool says about its own work is no fault of the server.
    fn record<T>(&self, outcome: &Result<T, ToolError>) {
        let counted = match outcome {
            Err(error) if matches!(error.code, Code::ServerUnavailable | Code::Timeout) => {
                CallOutcome::Error(Category::Critical)
            }
            _ => CallOutcome::Success,
        };
        let now = self.now();
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner).record(counted, now);
    }

    async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let limit = self.config.time_limit;
        let outcome = tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
            let seconds = limit.as_secs();
            Err(ToolError::new(
                Code::Timeout,
                format!("{} did not answer within {seconds} s", self.name),
            ))
        });
        self.record(&outcome);
        if outcome
            .as_ref()
            .is_err_and(|error| matches!(error.code, Code::ServerUnavailable | Code::Timeout))
        {
            // A server that hangs or broke off is started anew next time.
            self.stop().await;
        }
        outcome
    }

    /// The tools it offers now.
    pub(super) async fn tools(&self) -> Result<Vec<rmcp::model::Tool>, ToolError> {
        self.admit()?;
        self.within(async {
            let mut guard = self.connection.lock().await;
            let connection = self.connected(&mut guard).await?;
            connection.refresh(&self.name).await?;
            self.outdated.store(false, Ordering::Relaxed);
            Ok(connection.tools.clone())
        })
        .await
    }

    /// Whether its tools are no longer what they were when they were listed last.
    pub(super) fn is_outdated(&self) -> bool {
        self.outdated.load(Ordering::Relaxed) || self.changed.load(Ordering::Relaxed)
    }

    async fn connected<'c>(
        &self,
        slot: &'c mut Option<Connection>,
    ) -> Result<&'c mut Connection, ToolError> {
        if slot.as_ref().is_none_or(|connection| !connection.is_open()) {
            if let Some(broken) = slot.take() {
                broken.end().await;
            }
            *slot = Some(Connection::open(&self.name, &self.config.reach, &self.changed).await?);
        }
        slot.as_mut().ok_or_else(|| ToolError::new(Code::ServerUnavailable, "the server is gone"))
    }

    /// Calls a tool that must still be what it was when it was looked at.
    pub(super) async fn call(
        &self,
        tool: &str,
        hash: &Digest,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, ToolError> {
        self.admit()?;
        let work = self.within(async {
            let (peer, fault) = {
                let mut guard = self.connection.lock().await;
                let connection = self.connected(&mut guard).await?;
                connection.refresh(&self.name).await?;
                if connection.hash(tool) != Some(hash) {
                    self.outdated.store(true, Ordering::Relaxed);
                    return Err(ToolError::new(
                        Code::ChangedMeanwhile,
                        format!("{} changed what {tool} is; it must be looked at again", self.name),
                    ));
                }
                (connection.service.peer().clone(), connection.fault())
            };
            let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
            peer.call_tool(params).await.map_err(|error| self.failed(&error, &fault))
        });
        tokio::select! {
            outcome = work => outcome,
            () = cancel.cancelled() => Err(ToolError::new(Code::Cancelled, "the task was cancelled")),
        }
    }

    fn failed(&self, error: &ServiceError, fault: &ConnectionFault) -> ToolError {
        match (error, fault.get()) {
            (ServiceError::McpError(error), None) => {
                let said = foreign_words(&error.message);
                ToolError::new(Code::Reported, format!("{}: {said}", self.name))
            }
            (_, Some(fault)) => unavailable(format!("{}: {fault}", self.name)),
            (other, None) => unavailable(format!("{} broke off: {other}", self.name)),
        }
    }

    pub async fn stop(&self) {
        let connection = self.connection.lock().await.take();
        if let Some(connection) = connection {
            connection.end().await;
        }
    }
}
