//! What a card shows beside question and evidence: the kind of plan, and how sure the planner is.

pub(super) mod confidence;
pub(super) mod drafts;
