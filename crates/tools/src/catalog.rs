//! The tools of a session: our own from the start, those of servers once somebody needs them.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Mutex;

use super::mcp::{ServerReport, Servers};
use super::registry::Registry;

/// A registry that grows when servers are reached, and changes when they do.
#[derive(Debug)]
pub(super) struct Catalog {
    registry: RwLock<Arc<Registry>>,
    servers: Servers,
    /// Held while servers are asked, so that two tasks that begin at once ask them once.
    reached: Mutex<bool>,
}

impl Catalog {
    pub(super) fn new(registry: Registry, servers: Servers) -> Self {
        Self { registry: RwLock::new(Arc::new(registry)), servers, reached: Mutex::new(false) }
    }

    pub(super) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn replace(&self, registry: Registry) {
        *self.registry.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(registry);
    }

    pub(super) fn has_server_of(&self, tool: &str) -> bool {
        self.servers.of(tool).is_some()
    }

    /// Connects to the servers and adds their tools, the first time it is asked. Later there is nothing to report.
    pub(super) async fn reach(&self) -> Vec<ServerReport> {
        let mut reached = self.reached.lock().await;
        if *reached {
            return Vec::new();
        }
        let mut registry = Registry::clone(&self.registry());
        let reports = self.servers.register(&mut registry).await;
        self.replace(registry);
        *reached = true;
        reports
    }

    /// Looks again at the server of a tool if its tools are no longer what was registered, so that a call is decided on
    /// what the tool is now.
    pub(super) async fn catch_up(&self, tool: &str) {
        let registry = self.registry();
        let Some(name) = registry.get(tool).map(|tool| tool.meta().name.clone()) else { return };
        if !self.servers.is_outdated(&name) {
            return;
        }
        let _asking = self.reached.lock().await;
        let mut registry = Registry::clone(&self.registry());
        if self.servers.refresh(&name, &mut registry).await {
            self.replace(registry);
        }
    }

    pub(super) async fn stop(&self) {
        self.servers.stop().await;
    }
}
