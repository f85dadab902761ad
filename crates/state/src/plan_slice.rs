//! The plan: its current revision, the ones before it, and the approval that execution needs.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use planwright_model::event::{PlanEvent, Record};
use planwright_model::requests::ProposedPlan;
use planwright_model::{Actor, Digest, GraphFacts, NormalizationChange, Plan, Seq};

/// The current revision, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRevision {
    pub revision: u32,
    pub hash: Digest,
    pub plan: Arc<Plan>,
    pub facts: Arc<GraphFacts>,
    pub normalization: Vec<NormalizationChange>,
}

impl PlanRevision {
    /// What a request for its approval shows.
    pub fn as_proposed_plan(&self) -> ProposedPlan<'_> {
        ProposedPlan {
            hash: &self.hash,
            revision: self.revision,
            facts: &self.facts,
            normalization: &self.normalization,
        }
    }
}

/// What is remembered of every revision; the rest is read from the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RevisionHead {
    pub revision: u32,
    pub hash: Digest,
    pub seq: Seq,
    pub at: Timestamp,
    pub tasks: u32,
}

/// An approval record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    pub hash: Digest,
    pub by: Actor,
    pub at: Timestamp,
}

/// The plan and its history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanSlice {
    pub current: Option<Arc<PlanRevision>>,
    pub revisions: Vec<RevisionHead>,
    pub approval: Option<ApprovalRecord>,
    pub abandoned: bool,
}

impl PlanSlice {
    pub(super) fn apply(&mut self, event: &PlanEvent, record: &Record) -> bool {
        match event {
            PlanEvent::Proposed { revision, hash, plan, facts, normalization } => {
                self.current = Some(Arc::new(PlanRevision {
                    revision: *revision,
                    hash: hash.clone(),
                    plan: plan.clone(),
                    facts: facts.clone(),
                    normalization: normalization.clone(),
                }));
                self.revisions.push(RevisionHead {
                    revision: *revision,
                    hash: hash.clone(),
                    seq: record.seq,
                    at: record.at,
                    tasks: plan.tasks.len() as u32,
                });
                true
            }
            PlanEvent::Approved { hash, by } => {
                self.record_approval(hash, *by, record.at);
                self.is_approved()
            }
            PlanEvent::ApprovalCarried { from_hash, to_hash, .. } => match &mut self.approval {
                Some(approval) if approval.hash == *from_hash => {
                    approval.hash = to_hash.clone();
                    self.is_approved()
                }
                _ => false,
            },
            PlanEvent::Abandoned { .. } => {
                self.abandoned = true;
                true
            }
            PlanEvent::Restored { .. } => std::mem::take(&mut self.abandoned),
        }
    }

    pub fn record_approval(&mut self, hash: &Digest, by: Actor, at: Timestamp) {
        self.approval = Some(ApprovalRecord { hash: hash.clone(), by, at });
    }

    /// Whether the approval names the current revision.
    pub fn is_approved(&self) -> bool {
        match (&self.current, &self.approval) {
            (Some(current), Some(approval)) => current.hash == approval.hash,
            _ => false,
        }
    }

    /// Where the current revision stands in the journal.
    pub(super) fn current_seq(&self) -> Option<Seq> {
        self.revisions.last().map(|head| head.seq)
    }
}
