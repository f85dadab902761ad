//! One connection to a server: started or reached, greeted, and asked for its tools.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{NotificationContext, RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ServiceExt};

use super::tool::hash_of;
use crate::model::Digest;
use crate::tools::process::{CALL_VARIABLE, GroupGuard};
use crate::tools::sandbox::{Homes, PrivateDirectory, environment};
use crate::tools::settings::McpReach;
use crate::tools::tool::{Code, ToolError};

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
    /// Go when the connection goes.
    _group: Option<GroupGuard>,
    _private: Option<PrivateDirectory>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("tools", &self.hashes.keys()).finish_non_exhaustive()
    }
}

fn unavailable(what: impl std::fmt::Display) -> ToolError {
    ToolError::new(Code::ServerUnavailable, what.to_string())
}

impl Connection {
    /// `changed` is raised when the server says that its tools are others now.
    pub(super) async fn open(
        name: &str,
        reach: &McpReach,
        changed: &Arc<AtomicBool>,
    ) -> Result<Self, ToolError> {
        let ours = Ours { changed: Arc::clone(changed) };
        let greeting = |error: rmcp::service::ClientInitializeError| {
            // The SDK names its own types before it comes to the point.
            let said = error.to_string();
            let said = said.split_once("] error: ").map_or(said.as_str(), |(_, point)| point);
            unavailable(format!("the server {name} does not answer as one should: {said}"))
        };
        let (service, group, private) = match reach {
            McpReach::Process { command, environment, set } => {
                let private = PrivateDirectory::make()
                    .map_err(|error| unavailable(format!("making a private directory: {error}")))?;
                let process = start(name, command, environment, set, &private)?;
                let group = process.id().map(GroupGuard);
                (ours.serve(process).await.map_err(greeting)?, group, Some(private))
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
                (ours.serve(transport).await.map_err(greeting)?, None, None)
            }
        };
        let mut connection = Self {
            service,
            tools: Vec::new(),
            hashes: BTreeMap::new(),
            changed: Arc::clone(changed),
            _group: group,
            _private: private,
        };
        connection.list(name).await?;
        Ok(connection)
    }

    async fn list(&mut self, name: &str) -> Result<(), ToolError> {
        self.changed.store(false, Ordering::Relaxed);
        self.tools = self
            .service
            .list_all_tools()
            .await
            .map_err(|error| unavailable(format!("{name} does not list its tools: {error}")))?;
        self.hashes =
            self.tools.iter().map(|tool| (tool.name.to_string(), hash_of(tool))).collect();
        Ok(())
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

/// Starts a server with a cleared environment, plus what its config names.
fn start(
    name: &str,
    command: &[String],
    listed: &[String],
    set: &BTreeMap<String, String>,
    private: &PrivateDirectory,
) -> Result<TokioChildProcess, ToolError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(unavailable(format!("{name} has no command")));
    };
    let person: BTreeMap<String, String> = std::env::vars().collect();
    let homes = Homes::find(&person);
    let mut built = environment::build(&person, listed, private.path(), &homes.variables);
    // A server is the person's choice: a name in its config means the person's own value.
    built.extend(listed.iter().filter_map(|name| Some((name.clone(), person.get(name)?.clone()))));
    built.extend(set.clone());
    let mut process = tokio::process::Command::new(program);
    process
        .args(arguments)
        .env_clear()
        .envs(built)
        .env(CALL_VARIABLE, format!("mcp/{name}"))
        .process_group(0);
    let (process, _) = TokioChildProcess::builder(process)
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| unavailable(format!("{name} does not start ({program}): {error}")))?;
    Ok(process)
}
