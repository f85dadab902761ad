//! What stands in for servers in a build without the client: each is listed, and none can be reached.

use std::convert::Infallible;

use super::McpServerReport;
use crate::registry::ToolRegistry;
use crate::settings::McpServerSettings;
use crate::tool::{ToolError, ToolErrorCode};

/// A server of the person's config, by its name alone.
#[derive(Debug)]
pub struct McpServerHandle {
    name: String,
}

impl McpServerHandle {
    pub fn new(name: &str, _config: McpServerSettings) -> Self {
        Self { name: name.to_owned() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    #[expect(clippy::unused_async, reason = "the same signature as with the client")]
    pub(super) async fn list_tools(&self) -> Result<Infallible, ToolError> {
        Err(ToolError::new(
            ToolErrorCode::ServerUnavailable,
            "this build has no MCP client; rebuild with --features mcp",
        ))
    }

    #[expect(clippy::unused_self, reason = "the same signature as with the client")]
    pub(super) fn is_outdated(&self) -> bool {
        false
    }

    #[expect(clippy::unused_async, reason = "the same signature as with the client")]
    pub async fn stop(&self) {}
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the same signature as with the client")]
pub(super) fn add_server_tools(
    _server: &McpServerHandle,
    tools: &Infallible,
    _registry: &mut ToolRegistry,
) -> McpServerReport {
    match *tools {}
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;
    use crate::mcp::McpServers;
    use crate::settings::McpTransport;

    #[tokio::test]
    async fn a_server_that_is_not_built_in_is_reported_with_the_feature() {
        let transport =
            McpTransport::Http { url: "http://127.0.0.1:9".to_owned(), token_variable: None };
        let time_limit = Duration::from_secs(1);
        let settings = McpServerSettings { transport, effects: BTreeMap::new(), time_limit };
        let servers = McpServers::new(&BTreeMap::from([("far".to_owned(), settings)]));
        let mut registry = ToolRegistry::default();
        let report = McpServerReport {
            server: "far".to_owned(),
            outcome: Err("this build has no MCP client; rebuild with --features mcp".to_owned()),
            left_out: Vec::new(),
        };
        assert_eq!(servers.register_tools(&mut registry).await, [report]);
        assert_eq!(registry.names().count(), 0);
    }
}
