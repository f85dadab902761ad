//! A change that a person makes to a plan by hand.

use serde::{Deserialize, Serialize};

use super::{LinkKind, TaskId};

/// Who does a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskAssignee {
    Human,
    Agent,
    Shell,
}

/// One change. Its result is checked by the grammar before it counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case")]
pub enum PlanEdit {
    Rename {
        node: TaskId,
        title: String,
    },
    SetDoneWhen {
        node: TaskId,
        done_when: String,
    },
    SetEstimate {
        node: TaskId,
        minutes: u32,
    },
    SetDoer {
        node: TaskId,
        doer: TaskAssignee,
        command: Option<String>,
    },
    Add {
        parent: TaskId,
        title: String,
        minutes: Option<u32>,
    },
    Remove {
        node: TaskId,
    },
    /// Under another parent, or to another place among its siblings.
    Move {
        node: TaskId,
        parent: TaskId,
        position: u16,
    },
    Link {
        from: TaskId,
        to: TaskId,
        kind: LinkKind,
        lag_minutes: i32,
    },
    Unlink {
        from: TaskId,
        to: TaskId,
    },
}

impl PlanEdit {
    /// The nodes it changes, which must not be locked.
    pub fn affected_nodes(&self) -> Vec<&TaskId> {
        match self {
            Self::Rename { node, .. }
            | Self::SetDoneWhen { node, .. }
            | Self::SetEstimate { node, .. }
            | Self::SetDoer { node, .. }
            | Self::Remove { node }
            | Self::Move { node, .. } => vec![node],
            Self::Add { .. } => Vec::new(),
            Self::Link { to, .. } | Self::Unlink { to, .. } => vec![to],
        }
    }
}
