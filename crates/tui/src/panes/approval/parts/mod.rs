//! What a card shows beside question and evidence: drafts, confidence, what changed, comments.

pub(super) mod changes;
pub(super) mod comments;
pub(super) mod confidence;
pub(super) mod drafts;
