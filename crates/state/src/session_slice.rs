//! The session itself: what it is about, and which process works on it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use planwright_model::AgentDescription;
use planwright_model::event::{CloseReason, SessionEvent};

/// What the session is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionSlice {
    pub title: String,
    pub goal: Option<String>,
    pub workspace: String,
    pub plan_file: Option<String>,
    /// It goes on from a session that came from elsewhere.
    #[serde(default)]
    pub foreign: bool,
    pub created_at: Option<Timestamp>,
    /// How often a process took it up.
    pub openings: u32,
    /// Milliseconds between the last word of one process and the first of the next.
    #[serde(default)]
    pub absent_ms: u64,
    /// Set while no process works on it.
    pub closed: Option<CloseReason>,
    /// The last thing that should not have happened.
    pub last_anomaly: Option<String>,
    /// The person's own agents that tasks may be given to, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, AgentDescription>,
}

impl SessionSlice {
    pub(super) fn apply(&mut self, event: &SessionEvent, at: Timestamp) -> bool {
        match event {
            SessionEvent::Created { title, goal, workspace, plan_file, .. } => {
                let first = self.created_at.is_none();
                if first {
                    self.title.clone_from(title);
                    self.goal.clone_from(goal);
                    self.workspace.clone_from(workspace);
                    self.plan_file.clone_from(plan_file);
                    self.created_at = Some(at);
                }
                return first;
            }
            SessionEvent::Forked { imported, .. } => {
                self.closed = None;
                self.foreign |= imported;
            }
            SessionEvent::Opened { .. } => {
                self.openings += 1;
                self.closed = None;
            }
            SessionEvent::Closed(reason) => self.closed = Some(reason.clone()),
            SessionEvent::WorkspaceMoved { workspace } => self.workspace.clone_from(workspace),
            SessionEvent::AgentsDescribed { agents } => {
                self.agents =
                    agents.iter().map(|agent| (agent.name.clone(), agent.clone())).collect();
            }
            SessionEvent::AnomalyNoted { what } => {
                self.last_anomaly = Some(what.clone());
                return false;
            }
        }
        true
    }
}
