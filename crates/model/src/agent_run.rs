//! Which agent does a task: the built-in one, one of the person's own, or several that each try it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{TaskId, agent_title};

/// Who does a task of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRun {
    /// The name of one of the person's own agents; empty means the built-in agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub with: String,
    /// The agents that each try the task in a copy of their own. The task itself picks one of their results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub best_of: Vec<String>,
    /// The task that this one is a try of. Its changes are held back until one of the tries is picked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate_of: Option<TaskId>,
}

impl AgentRun {
    /// The built-in agent.
    pub const BUILT_IN: Self =
        Self { with: String::new(), best_of: Vec::new(), candidate_of: None };

    /// One of the person's own agents, by its name.
    pub fn with_agent(name: impl Into<String>) -> Self {
        Self { with: name.into(), ..Self::BUILT_IN }
    }

    /// Several agents that each try the task.
    pub fn pick_from(best_of: Vec<String>) -> Self {
        Self { best_of, ..Self::BUILT_IN }
    }

    /// The person's own agent that does the task, if one does.
    pub fn own_agent(&self) -> Option<&str> {
        (!self.with.is_empty()).then_some(self.with.as_str())
    }

    /// Whether the built-in agent does it.
    pub fn is_built_in(&self) -> bool {
        self.with.is_empty() && self.best_of.is_empty()
    }

    /// Whether it picks one of several results instead of working itself.
    pub fn is_pick(&self) -> bool {
        !self.best_of.is_empty()
    }

    /// Who does it, in a word or two: `Claude Code`, `agent`, `your pick`.
    pub fn worker_title(&self) -> &str {
        match self.own_agent() {
            _ if self.is_pick() => "your pick",
            Some(name) => agent_title(name),
            None => "agent",
        }
    }
}
