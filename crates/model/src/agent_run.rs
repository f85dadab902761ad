//! Which agent does a task: the built-in one, or one of the person's own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who does a task of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRun {
    /// The name of one of the person's own agents; empty means the built-in agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub with: String,
}

impl AgentRun {
    /// The built-in agent.
    pub const BUILT_IN: Self = Self { with: String::new() };

    /// One of the person's own agents, by its name.
    pub fn with_agent(name: impl Into<String>) -> Self {
        Self { with: name.into() }
    }

    /// The person's own agent that does the task, if one does.
    pub fn own_agent(&self) -> Option<&str> {
        (!self.with.is_empty()).then_some(self.with.as_str())
    }

    /// Whether the built-in agent does it.
    pub fn is_built_in(&self) -> bool {
        self.with.is_empty()
    }
}
