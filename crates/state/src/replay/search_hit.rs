//! A step that a search over all sessions found.

use jiff::Timestamp;
use serde::Serialize;

use planwright_model::{Seq, SessionId, TaskId};

/// A step that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchHit {
    pub session: SessionId,
    pub seq: Seq,
    pub at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    pub kind: &'static str,
    pub text: String,
}
