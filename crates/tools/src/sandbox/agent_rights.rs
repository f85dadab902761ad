//! What an agent of the person's own may do beyond a single command: sessions and Unix sockets of its own, as much address
//! space as its runtime reserves, and a way to the hosts of its model.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The rights of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRights {
    pub network: AgentNetworkRights,
    /// Directories in which it sees only what it may read or write, because sockets of other programs are in them.
    pub hidden: Vec<PathBuf>,
}

/// How an agent reaches its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentNetworkRights {
    /// A network of its own. What listens in it on these ports of 127.0.0.1 is handed over through a socket, to whoever
    /// started the agent; nothing else leads out.
    Own { handover: PathBuf, ports: Vec<u16> },
    /// The network of the machine, with TCP to these ports only.
    Ports { connect: Vec<u16> },
}

impl AgentRights {
    /// Whether it has a network of its own.
    pub fn has_own_network(&self) -> bool {
        matches!(self.network, AgentNetworkRights::Own { .. })
    }
}
