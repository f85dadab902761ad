//! The tools of a session: the built-in ones from the start, those of servers when they are first needed.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Mutex;

use super::mcp::{McpServerReport, McpServers};
use super::registry::ToolRegistry;

/// A registry that grows when servers are connected, and changes when their tools do.
#[derive(Debug)]
pub(super) struct ToolCatalog {
    registry: RwLock<Arc<ToolRegistry>>,
    servers: McpServers,
    /// Held while servers are connected, so that two tasks that begin at once connect them only once.
    connected: Mutex<bool>,
}

impl ToolCatalog {
    pub(super) fn new(registry: ToolRegistry, servers: McpServers) -> Self {
        Self { registry: RwLock::new(Arc::new(registry)), servers, connected: Mutex::new(false) }
    }

    pub(super) fn registry(&self) -> Arc<ToolRegistry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn replace_registry(&self, registry: ToolRegistry) {
        *self.registry.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(registry);
    }

    pub(super) fn has_server_for(&self, tool: &str) -> bool {
        self.servers.server_for(tool).is_some()
    }

    /// Connects to the servers and adds their tools on the first call. Later calls return no reports.
    pub(super) async fn connect_servers(&self) -> Vec<McpServerReport> {
        let mut reached = self.connected.lock().await;
        if *reached {
            return Vec::new();
        }
        let mut registry = ToolRegistry::clone(&self.registry());
        let reports = self.servers.register_tools(&mut registry).await;
        self.replace_registry(registry);
        *reached = true;
        reports
    }

    /// Lists the tools of a tool's server again if they are no longer those that were registered, so that a call is
    /// decided on the current definition.
    pub(super) async fn refresh_outdated(&self, tool: &str) {
        let registry = self.registry();
        let Some(name) = registry.get(tool).map(|tool| tool.meta().name.clone()) else { return };
        if !self.servers.is_outdated(&name) {
            return;
        }
        let _asking = self.connected.lock().await;
        let mut registry = ToolRegistry::clone(&self.registry());
        if self.servers.refresh_server(&name, &mut registry).await {
            self.replace_registry(registry);
        }
    }

    pub(super) async fn stop_servers(&self) {
        self.servers.stop_all().await;
    }
}
