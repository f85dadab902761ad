//! Agents of the person's own, as a session knows them: what each is and may do, and the session that one opened for a
//! task.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AgentProduct, agent_title};

/// Whether an agent asks before it runs a command, by what was seen of it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AskingHabit {
    /// It asked when it was tested.
    Asks,
    /// It ran a command without asking when it was tested.
    DoesNotAsk,
    /// Nobody has tested it.
    #[default]
    Untested,
}

impl AskingHabit {
    /// How it stands on a card.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Asks => "asks before commands",
            Self::DoesNotAsk => "does not ask: confined",
            Self::Untested => "not tested: confined",
        }
    }
}

/// How far the network of an agent is limited.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AgentNetwork {
    /// It has a network of its own, and the only way out leads to the listed hosts.
    Hosts,
    /// Only ports are limited: this system does not permit a network of its own.
    Ports,
    /// Nothing confines it here.
    #[default]
    Open,
}

/// An agent of the person's own, as the settings and its last test describe it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AgentDescription {
    /// Its name in the settings and in plans.
    pub name: String,
    pub product: AgentProduct,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default)]
    pub asks: AskingHabit,
    /// When it was last tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested_at: Option<Timestamp>,
    /// Hosts that it may reach, with the port where it is not 443.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    #[serde(default)]
    pub network: AgentNetwork,
    /// Why it cannot be used now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl AgentDescription {
    /// What it is called on screens.
    pub fn title(&self) -> &str {
        self.product.title().unwrap_or_else(|| agent_title(&self.name))
    }

    /// The same with its version, as far as that is known.
    pub fn title_with_version(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.title()),
            None => self.title().to_owned(),
        }
    }

    /// What it may reach, in words.
    pub fn describe_network(&self) -> String {
        match (self.network, self.hosts.as_slice()) {
            (AgentNetwork::Hosts, []) => "no host".to_owned(),
            (AgentNetwork::Hosts, hosts) => format!("{} only", hosts.join(", ")),
            (AgentNetwork::Ports, _) => "any host (network not limited by host)".to_owned(),
            (AgentNetwork::Open, _) => "any host (network not limited)".to_owned(),
        }
    }
}

/// A session that an agent of the person's own opened for a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AgentSession {
    /// The agent by its name in the settings.
    pub agent: String,
    /// What it is called on screens.
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default)]
    pub asks: AskingHabit,
    #[serde(default)]
    pub network: AgentNetwork,
    /// The agent's own name for the session.
    pub id: String,
    /// The agent can load it in another process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub can_load: bool,
    /// It was opened earlier and loaded now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loaded: bool,
}

/// How far an agent is with an item of its own list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentTodoStatus {
    Open,
    UnderWay,
    Done,
}

/// An item of an agent's own to-do list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AgentTodo {
    pub text: String,
    pub status: AgentTodoStatus,
}
