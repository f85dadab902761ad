//! Tools of other programs, through the Model Context Protocol.
//!
//! A server is started or connected when its tools are first needed. Its tools are registered as `mcp.<server>.<tool>`
//! and ask for permission, unless the user's config declares their effect; what a server claims about itself never
//! lowers a risk. An approval is stored as a hash of description and arguments, and any change asks again. Sampling and
//! elicitation are not offered.
//!
//! The client is behind the feature `mcp`. Without it a server of the config is reported as one that cannot be reached.

#[cfg(feature = "mcp")]
mod connection;
mod definition;
#[cfg(feature = "mcp")]
mod line_limit;
#[cfg(feature = "mcp")]
mod listing;
#[cfg(not(feature = "mcp"))]
mod not_built_in;
#[cfg(feature = "mcp")]
mod process;
#[cfg(feature = "mcp")]
mod server;
#[cfg(feature = "mcp")]
mod tool;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;

#[cfg(feature = "mcp")]
pub use definition::definition_hash;
pub use definition::{EarlierApproval, ToolDefinition};
#[cfg(not(feature = "mcp"))]
pub use not_built_in::McpServerHandle;
#[cfg(not(feature = "mcp"))]
use not_built_in::add_server_tools;
#[cfg(feature = "mcp")]
pub use server::McpServerHandle;

use super::registry::ToolRegistry;
use super::settings::McpServerSettings;

/// The servers of the user's config.
#[derive(Clone, Debug, Default)]
pub struct McpServers(BTreeMap<String, Arc<McpServerHandle>>);

/// The result of connecting to one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerReport {
    pub server: String,
    /// Names of its tools, or why there are none.
    pub outcome: Result<Vec<String>, String>,
    /// Tools that were excluded, and why.
    pub left_out: Vec<String>,
}

impl McpServers {
    pub fn new(servers: &BTreeMap<String, McpServerSettings>) -> Self {
        let handles = servers.iter().map(|(name, config)| {
            (name.clone(), Arc::new(McpServerHandle::new(name, config.clone())))
        });
        Self(handles.collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Only the server that a tool's name belongs to, if any.
    pub fn only_server_for(&self, tool: &str) -> Self {
        let of_tool = |name: &&String| {
            tool.strip_prefix("mcp.")
                .and_then(|rest| rest.strip_prefix(name.as_str()))
                .is_some_and(|rest| rest.starts_with('.'))
        };
        Self(
            self.0
                .iter()
                .filter(|(name, _)| of_tool(name))
                .map(|(name, server)| (name.clone(), Arc::clone(server)))
                .collect(),
        )
    }

    /// Connects to all servers at once and adds their tools. A server that does not respond is reported; this is not
    /// fatal.
    ///
    /// First stops leftover servers of Planwright processes that have ended.
    pub async fn register_tools(&self, registry: &mut ToolRegistry) -> Vec<McpServerReport> {
        #[cfg(feature = "mcp")]
        if !self.0.is_empty() {
            process::end_orphans().await;
        }
        let listed = join_all(
            self.0.values().map(|server| async move { (server, server.list_tools().await) }),
        )
        .await;
        listed
            .into_iter()
            .map(|(server, tools)| match tools {
                Ok(tools) => add_server_tools(server, &tools, registry),
                Err(error) => McpServerReport {
                    server: server.name().to_owned(),
                    outcome: Err(error.message),
                    left_out: Vec::new(),
                },
            })
            .collect()
    }

    /// The server that a tool's name belongs to.
    pub(super) fn server_for(&self, tool: &str) -> Option<&Arc<McpServerHandle>> {
        let server = tool.strip_prefix("mcp.")?.split_once('.')?.0;
        self.0.get(server)
    }

    /// Whether the server of a tool now has other tools than those that were registered.
    pub(super) fn is_outdated(&self, tool: &str) -> bool {
        self.server_for(tool).is_some_and(|server| server.is_outdated())
    }

    /// Replaces the tools of one server with its current ones. Returns false if it does not list them.
    pub(super) async fn refresh_server(&self, tool: &str, registry: &mut ToolRegistry) -> bool {
        let Some(server) = self.server_for(tool) else { return false };
        let Ok(tools) = server.list_tools().await else {
            // The error may hold what the server said.
            tracing::warn!(server = server.name(), "the server does not list its tools");
            return false;
        };
        registry.remove_with_prefix(&format!("mcp.{}.", server.name()));
        add_server_tools(server, &tools, registry);
        true
    }

    /// Stops the servers that were started.
    pub async fn stop_all(&self) {
        join_all(self.0.values().map(|server| server.stop())).await;
    }
}

/// Adds the tools of a server; those that do not fit are excluded and reported.
#[cfg(feature = "mcp")]
fn add_server_tools(
    server: &Arc<McpServerHandle>,
    tools: &[rmcp::model::Tool],
    registry: &mut ToolRegistry,
) -> McpServerReport {
    let (mut names, mut left_out) = (Vec::new(), Vec::new());
    for found in tools {
        let fitted = tool::McpTool::new(server, found).and_then(|tool| {
            let name = super::tool::Tool::meta(&tool).name.clone();
            registry.register(Arc::new(tool)).map(|()| name)
        });
        match fitted {
            Ok(name) => names.push(name),
            Err(reason) => left_out.push(reason),
        }
    }
    McpServerReport { server: server.name().to_owned(), outcome: Ok(names), left_out }
}
