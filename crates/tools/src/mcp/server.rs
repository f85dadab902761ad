//! A server that is connected on demand, dropped when it hangs, and not called while its breaker is open.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as PlainMutex, PoisonError};
use std::time::Instant;

use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject};
use rmcp::service::ServiceError;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::connection::{McpConnection, clean_server_text, unavailable_error};
use super::line_limit::ConnectionFault;
use crate::settings::McpServerSettings;
use crate::tool::{ToolError, ToolErrorCode};
use planwright_model::breaker::{BreakerAdmission, BreakerOutcome, CircuitBreaker};
use planwright_model::{Category, Digest};

/// A server of the user's config.
#[derive(Debug)]
pub struct McpServerHandle {
    name: String,
    pub(super) config: McpServerSettings,
    connection: Mutex<Option<McpConnection>>,
    breaker: PlainMutex<CircuitBreaker>,
    /// The server announced that its tools changed, and they have not been listed since.
    changed: Arc<AtomicBool>,
    /// A tool turned out to differ from the one that was registered.
    outdated: AtomicBool,
    begun: Instant,
}

impl McpServerHandle {
    pub fn new(name: &str, config: McpServerSettings) -> Self {
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

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn check_breaker(&self) -> Result<(), ToolError> {
        let now = self.elapsed_ms();
        let admission = self.breaker.lock().unwrap_or_else(PoisonError::into_inner).admit_call(now);
        match admission {
            BreakerAdmission::Allowed | BreakerAdmission::Probe => Ok(()),
            BreakerAdmission::Refused { retry_in_ms } => Err(ToolError::new(
                ToolErrorCode::BreakerOpen,
                format!(
                    "{} failed too often; try again in {} s",
                    self.name,
                    retry_in_ms.div_ceil(1000)
                ),
            )),
        }
    }

    /// Records the outcome in the breaker. A failure reported by a tool is not a failure of the server.
    fn record_outcome<T>(&self, outcome: &Result<T, ToolError>) {
        let counted = match outcome {
            Err(error)
                if matches!(
                    error.code,
                    ToolErrorCode::ServerUnavailable | ToolErrorCode::Timeout
                ) =>
            {
                BreakerOutcome::Error(Category::Critical)
            }
            _ => BreakerOutcome::Success,
        };
        let now = self.elapsed_ms();
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner).record_outcome(counted, now);
    }

    async fn run_within_limit<T>(
        &self,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let limit = self.config.time_limit;
        let outcome = tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
            let seconds = limit.as_secs();
            Err(ToolError::new(
                ToolErrorCode::Timeout,
                format!("{} did not answer within {seconds} s", self.name),
            ))
        });
        self.record_outcome(&outcome);
        if outcome.as_ref().is_err_and(|error| {
            matches!(error.code, ToolErrorCode::ServerUnavailable | ToolErrorCode::Timeout)
        }) {
            // A server that hangs or dropped the connection is started again next time.
            self.stop().await;
        }
        outcome
    }

    /// The tools it offers now.
    pub(super) async fn list_tools(&self) -> Result<Vec<rmcp::model::Tool>, ToolError> {
        self.check_breaker()?;
        self.run_within_limit(async {
            let mut guard = self.connection.lock().await;
            let connection = self.ensure_connected(&mut guard).await?;
            connection.refresh_if_changed(&self.name).await?;
            self.outdated.store(false, Ordering::Relaxed);
            Ok(connection.tools.clone())
        })
        .await
    }

    /// Whether its tools have changed since they were last listed.
    pub(super) fn is_outdated(&self) -> bool {
        self.outdated.load(Ordering::Relaxed) || self.changed.load(Ordering::Relaxed)
    }

    async fn ensure_connected<'c>(
        &self,
        slot: &'c mut Option<McpConnection>,
    ) -> Result<&'c mut McpConnection, ToolError> {
        if slot.as_ref().is_none_or(|connection| !connection.is_open()) {
            if let Some(broken) = slot.take() {
                broken.close().await;
            }
            *slot =
                Some(McpConnection::open(&self.name, &self.config.transport, &self.changed).await?);
        }
        slot.as_mut()
            .ok_or_else(|| ToolError::new(ToolErrorCode::ServerUnavailable, "the server is gone"))
    }

    /// Calls a tool that must still be the one that was checked.
    pub(super) async fn call_tool(
        &self,
        tool: &str,
        hash: &Digest,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, ToolError> {
        self.check_breaker()?;
        let work = self.run_within_limit(async {
            let (peer, fault) = {
                let mut guard = self.connection.lock().await;
                let connection = self.ensure_connected(&mut guard).await?;
                connection.refresh_if_changed(&self.name).await?;
                if connection.tool_hash(tool) != Some(hash) {
                    self.outdated.store(true, Ordering::Relaxed);
                    return Err(ToolError::new(
                        ToolErrorCode::ChangedMeanwhile,
                        format!("{} changed what {tool} is; it must be looked at again", self.name),
                    ));
                }
                (connection.service.peer().clone(), connection.fault())
            };
            let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
            peer.call_tool(params).await.map_err(|error| self.call_error(&error, &fault))
        });
        tokio::select! {
            outcome = work => outcome,
            () = cancel.cancelled() => Err(ToolError::new(ToolErrorCode::Cancelled, "the task was cancelled")),
        }
    }

    fn call_error(&self, error: &ServiceError, fault: &ConnectionFault) -> ToolError {
        match (error, fault.get()) {
            (ServiceError::McpError(error), None) => {
                let message = clean_server_text(&error.message);
                ToolError::new(ToolErrorCode::Reported, format!("{}: {message}", self.name))
            }
            (_, Some(fault)) => unavailable_error(format!("{}: {fault}", self.name)),
            (other, None) => unavailable_error(format!("{} broke off: {other}", self.name)),
        }
    }

    pub async fn stop(&self) {
        let connection = self.connection.lock().await.take();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }
}
