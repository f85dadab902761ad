//! The questions put to the person, open and answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use planwright_model::event::{ApprovalEvent, CommandRefusal};
use planwright_model::{Actor, ChoiceAction, Request, RequestId, RequestKind};

/// A request that waits for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenRequest {
    pub request: Arc<Request>,
    pub asked_at: Timestamp,
}

/// What is remembered of an answered request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnsweredRequest {
    pub id: RequestId,
    pub kind: RequestKind,
    pub action: ChoiceAction,
    pub by: Actor,
    pub at: Timestamp,
}

/// Open requests, oldest first, and the answered ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestSlice {
    pub open: BTreeMap<RequestId, OpenRequest>,
    pub answered: Vec<AnsweredRequest>,
    /// The number the next request gets.
    asked: u32,
    pub last_refusal: Option<(String, CommandRefusal)>,
}

impl RequestSlice {
    pub(super) fn apply(&mut self, event: &ApprovalEvent, at: Timestamp) -> bool {
        match event {
            ApprovalEvent::Asked { request } => {
                self.asked = self.asked.max(request.id.0);
                let asked = OpenRequest { request: request.clone(), asked_at: at };
                // An agent that was taken up again puts the same question again.
                self.open
                    .insert(request.id, asked)
                    .is_none_or(|before| before.request.is_same_question(request))
            }
            ApprovalEvent::Answered { id, answer, by } => {
                let Some(open) = self.open.remove(id) else { return false };
                self.answered.push(AnsweredRequest {
                    id: *id,
                    kind: open.request.kind.clone(),
                    action: answer.action,
                    by: *by,
                    at,
                });
                true
            }
            ApprovalEvent::Amended { request } => match self.open.get_mut(&request.id) {
                Some(open) => {
                    open.request = request.clone();
                    true
                }
                None => false,
            },
            ApprovalEvent::Withdrawn { id, .. } => self.open.remove(id).is_some(),
            ApprovalEvent::Refused { command, why } => {
                self.last_refusal = Some((command.clone(), why.clone()));
                true
            }
        }
    }

    /// The id for a request that is about to be asked.
    pub fn next_id(&self) -> RequestId {
        RequestId(self.asked + 1)
    }

    /// The request that waits longest.
    pub fn oldest_open(&self) -> Option<&OpenRequest> {
        self.open.values().next()
    }
}
