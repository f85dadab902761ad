use crate::model::*;
use std::collections::BTreeSet;
#[derive(Clone, Debug, thiserror::Error)]
pub enum EditError {
    #[error("locked")]
    Locked { node: TaskId },
    #[error("rule")]
    BreaksRule { rule: String, message: String },
    #[error("{0}")]
    Other(String),
}
pub struct Edited {
    pub outline: PlanOutline,
    pub roadmap: Option<Roadmap>,
    pub action: AdaptationAction,
    pub node_ids: Vec<TaskId>,
    pub reason: String,
}
pub fn apply(
    _o: &PlanOutline,
    _r: Option<&Roadmap>,
    _e: &PlanEdit,
    _l: &BTreeSet<TaskId>,
) -> Result<Edited, EditError> {
    Err(EditError::Other("stub".into()))
}
