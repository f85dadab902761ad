//! One connection to a server: starts or reaches it, performs the handshake, and lists its tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{NotificationContext, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ServiceExt};

use super::definition::definition_hash;
use super::line_limit::{ConnectionFault, LONGEST_MESSAGE, LineLimit};
use super::listing::{LIST_LIMITS, ToolListFailure, list_tools};
use super::process::McpServerProcess;
use crate::settings::McpTransport;
use crate::text_limit;
use crate::tool::{ToolError, ToolErrorCode};
use planwright_model::Digest;

/// Our side of the protocol: a name, and no capabilities that a server could use.
pub(super) struct McpClient {
    changed: Arc<AtomicBool>,
}

impl ClientHandler for McpClient {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("planwright", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
    }

    fn on_tool_list_changed(
        &self,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.changed.store(true, Ordering::Relaxed);
        std::future::ready(())
    }
}

pub(super) struct McpConnection {
    pub(super) service: RunningService<RoleClient, McpClient>,
    pub(super) tools: Vec<rmcp::model::Tool>,
    /// The hash of each tool's current definition, by the server's name for it.
    hashes: BTreeMap<String, Digest>,
    changed: Arc<AtomicBool>,
    /// Why we closed the connection, if we did.
    fault: ConnectionFault,
    /// Ends together with the connection.
    process: Option<McpServerProcess>,
}

impl std::fmt::Debug for McpConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpConnection").field("tools", &self.hashes.keys()).finish_non_exhaustive()
    }
}

/// How long closing a connection may take.
const CLOSING: Duration = Duration::from_secs(1);
/// How much of a server's error message is shown.
const LONGEST_ERROR: usize = 500;

/// The message contains text from the server.
pub(super) fn unavailable_error(subject: impl std::fmt::Display) -> ToolError {
    ToolError::new(ToolErrorCode::ServerUnavailable, clean_server_text(&subject.to_string()))
}

/// Text from a server as it may appear in an error: one line, limited length, no control characters.
pub(super) fn clean_server_text(text: &str) -> String {
    text_limit::truncate_chars(
        &planwright_text::clean_line(&text_limit::truncate_chars(text, LONGEST_ERROR)),
        LONGEST_ERROR,
    )
}

impl McpConnection {
    /// `changed` is set when the server announces that its tools have changed.
    pub(super) async fn open(
        name: &str,
        reach: &McpTransport,
        changed: &Arc<AtomicBool>,
    ) -> Result<Self, ToolError> {
        let client = McpClient { changed: Arc::clone(changed) };
        let fault = ConnectionFault::default();
        let greeting = |error: rmcp::service::ClientInitializeError| {
            // The SDK prefixes the message with the names of its own types.
            let message = error.to_string();
            let message =
                message.split_once("] error: ").map_or(message.as_str(), |(_, point)| point);
            let message = fault.get().map_or(message, String::as_str);
            unavailable_error(format!("the server {name} does not answer as one should: {message}"))
        };
        let (service, process) = match reach {
            McpTransport::Process { command, environment, set } => {
                let (process, output, input) =
                    McpServerProcess::start(name, command, environment, set)?;
                let output = LineLimit::new(output, LONGEST_MESSAGE, Arc::clone(&fault));
                (client.serve((output, input)).await.map_err(greeting)?, Some(process))
            }
            McpTransport::Http { url, token_variable } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                if let Some(variable) = token_variable {
                    let token = std::env::var(variable).map_err(|_| {
                        unavailable_error(format!("{name}: the variable {variable} is not set"))
                    })?;
                    config = config.auth_header(token);
                }
                let transport = StreamableHttpClientTransport::from_config(config);
                (client.serve(transport).await.map_err(greeting)?, None)
            }
        };
        let mut connection = Self {
            service,
            tools: Vec::new(),
            hashes: BTreeMap::new(),
            changed: Arc::clone(changed),
            fault,
            process,
        };
        connection.load_tools(name).await?;
        Ok(connection)
    }

    async fn load_tools(&mut self, name: &str) -> Result<(), ToolError> {
        self.changed.store(false, Ordering::Relaxed);
        self.tools = list_tools(self.service.peer(), LIST_LIMITS).await.map_err(|failure| {
            let reason = match failure {
                ToolListFailure::Service(error) => self.failure_reason(&error),
                ToolListFailure::Refused(reason) => reason,
            };
            unavailable_error(format!("the tools of {name} cannot be listed: {reason}"))
        })?;
        self.hashes =
            self.tools.iter().map(|tool| (tool.name.to_string(), definition_hash(tool))).collect();
        Ok(())
    }

    /// Why we closed the connection, if we did.
    pub(super) fn fault(&self) -> ConnectionFault {
        Arc::clone(&self.fault)
    }

    fn failure_reason(&self, error: &dyn std::fmt::Display) -> String {
        self.fault.get().cloned().unwrap_or_else(|| error.to_string())
    }

    /// Closes the connection, and stops the server if it was started for it.
    pub(super) async fn close(self) {
        let Self { service, process, .. } = self;
        // A server that does not read blocks the last message; its process is stopped anyway.
        let _ = tokio::time::timeout(CLOSING, service.cancel()).await;
        if let Some(process) = process {
            process.shut_down().await;
        }
    }

    /// Lists the tools again if the server announced a change.
    pub(super) async fn refresh_if_changed(&mut self, name: &str) -> Result<(), ToolError> {
        if self.changed.load(Ordering::Relaxed) { self.load_tools(name).await } else { Ok(()) }
    }

    pub(super) fn tool_hash(&self, tool: &str) -> Option<&Digest> {
        self.hashes.get(tool)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }
}
