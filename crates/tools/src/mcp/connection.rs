//! One connection to a server: started or reached, greeted, and asked for its tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{NotificationContext, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ServiceExt};

use super::definition::hash_of;
use super::line_limit::{ConnectionFault, LONGEST_MESSAGE, LineLimit};
use super::listing::{LIST_LIMITS, ListFailure, list_tools};
use super::process::ServerProcess;
use crate::limit;
use crate::settings::McpReach;
use crate::tool::{Code, ToolError};
use planwright_model::Digest;

/// Our side of the protocol: a name, and no abilities that a server could ask for.
pub(super) struct Ours {
    changed: Arc<AtomicBool>,
}

impl ClientHandler for Ours {
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

pub(super) struct Connection {
    pub(super) service: RunningService<RoleClient, Ours>,
    pub(super) tools: Vec<rmcp::model::Tool>,
    /// What each tool is now, by its own name.
    hashes: BTreeMap<String, Digest>,
    changed: Arc<AtomicBool>,
    /// Why we ended it, if we did.
    fault: ConnectionFault,
    /// Ends when the connection does.
    process: Option<ServerProcess>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("tools", &self.hashes.keys()).finish_non_exhaustive()
    }
}

/// How long closing a connection may take.
const CLOSING: Duration = Duration::from_secs(1);
/// How much of an error a server sent is shown.
const LONGEST_ERROR: usize = 500;

/// The words are partly those of the server.
pub(super) fn unavailable(what: impl std::fmt::Display) -> ToolError {
    ToolError::new(Code::ServerUnavailable, foreign_words(&what.to_string()))
}

/// What a server said, as it may be shown in an error: one line, of limited length, without control characters.
pub(super) fn foreign_words(said: &str) -> String {
    limit::cut(&planwright_text::clean_line(&limit::cut(said, LONGEST_ERROR)), LONGEST_ERROR)
}

impl Connection {
    /// `changed` is raised when the server says that its tools are others now.
    pub(super) async fn open(
        name: &str,
        reach: &McpReach,
        changed: &Arc<AtomicBool>,
    ) -> Result<Self, ToolError> {
        let ours = Ours { changed: Arc::clone(changed) };
        let fault = ConnectionFault::default();
        let greeting = |error: rmcp::service::ClientInitializeError| {
            // The SDK names its own types before it comes to the point.
            let said = error.to_string();
            let said = said.split_once("] error: ").map_or(said.as_str(), |(_, point)| point);
            let said = fault.get().map_or(said, String::as_str);
            unavailable(format!("the server {name} does not answer as one should: {said}"))
        };
        let (service, process) = match reach {
            McpReach::Process { command, environment, set } => {
                let (process, output, input) =
                    ServerProcess::start(name, command, environment, set)?;
                let output = LineLimit::new(output, LONGEST_MESSAGE, Arc::clone(&fault));
                (ours.serve((output, input)).await.map_err(greeting)?, Some(process))
            }
            McpReach::Http { url, token_variable } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                if let Some(variable) = token_variable {
                    let token = std::env::var(variable).map_err(|_| {
                        unavailable(format!("{name}: the variable {variable} is not set"))
                    })?;
                    config = config.auth_header(token);
                }
                let transport = StreamableHttpClientTransport::from_config(config);
                (ours.serve(transport).await.map_err(greeting)?, None)
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
        connection.list(name).await?;
        Ok(connection)
    }

    async fn list(&mut self, name: &str) -> Result<(), ToolError> {
        self.changed.store(false, Ordering::Relaxed);
        self.tools = list_tools(self.service.peer(), LIST_LIMITS).await.map_err(|failure| {
            let why = match failure {
                ListFailure::Service(error) => self.reason(&error),
                ListFailure::Refused(why) => why,
            };
            unavailable(format!("the tools of {name} cannot be listed: {why}"))
        })?;
        self.hashes =
            self.tools.iter().map(|tool| (tool.name.to_string(), hash_of(tool))).collect();
        Ok(())
    }

    /// Why we ended the connection, if we did.
    pub(super) fn fault(&self) -> ConnectionFault {
        Arc::clone(&self.fault)
    }

    fn reason(&self, error: &dyn std::fmt::Display) -> String {
        self.fault.get().cloned().unwrap_or_else(|| error.to_string())
    }

    /// Ends the connection, and the server if it was started for it.
    pub(super) async fn end(self) {
        let Self { service, process, .. } = self;
        // A server that does not read keeps the last message waiting; its process is ended all the same.
        let _ = tokio::time::timeout(CLOSING, service.cancel()).await;
        if let Some(process) = process {
            process.end().await;
        }
    }

    /// Lists the tools anew if the server said that they changed.
    pub(super) async fn refresh(&mut self, name: &str) -> Result<(), ToolError> {
        if self.changed.load(Ordering::Relaxed) { self.list(name).await } else { Ok(()) }
    }

    pub(super) fn hash(&self, tool: &str) -> Option<&Digest> {
        self.hashes.get(tool)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }
}
