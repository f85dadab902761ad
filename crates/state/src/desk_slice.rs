//! The approval desk in a session: which agent submits plans to it, what the person decided, and what the agent reported.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{RunPhase, SessionState};
use planwright_model::event::{ApprovalEvent, DeskEvent, PlanEvent};
use planwright_model::{
    Answer, ChoiceAction, CommentOutcome, Digest, LineComment, PlanSubmission, Request, RequestId,
    RequestKind, SubmittingAgent, TaskId,
};

/// What the person decided about a revision, in place of approving it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum DeskRefusal {
    /// Something should be different.
    Changes {
        text: String,
        /// The nodes that it is limited to.
        nodes: Vec<TaskId>,
    },
    /// The plan is not wanted.
    Rejected { reason: String },
}

/// A refusal with the revision it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionRefusal {
    pub revision: u32,
    pub at: Timestamp,
    pub refusal: DeskRefusal,
}

/// An answer to something that the agent asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeskAnswer {
    /// What was asked, so that the same question finds its answer.
    pub kind: RequestKind,
    pub question: String,
    pub action: ChoiceAction,
    /// What the person typed or picked.
    pub text: String,
}

/// Where a submitted plan stands with the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeskDecision<'a> {
    /// There is no plan, or the person has not decided.
    Pending,
    Approved {
        hash: &'a Digest,
        /// The person has Planwright carry it out.
        runs_here: bool,
    },
    Changes {
        text: &'a str,
        nodes: &'a [TaskId],
    },
    Rejected {
        reason: &'a str,
    },
}

/// How many answers are kept; an agent that asks more has read the oldest.
const MAX_ANSWERS: usize = 256;

/// What the desk keeps. Empty in every session that is not a ticket.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeskSlice {
    /// The agent that opened the session; none if it is not a ticket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<SubmittingAgent>,
    /// The text of the last revision that the agent handed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission: Option<Arc<PlanSubmission>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub line_comments: Vec<LineComment>,
    /// The last decision that was not an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<RevisionRefusal>,
    /// Answers to what the agent asked, by request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<RequestId, DeskAnswer>,
    /// The last revision whose decision the agent has read, and the number of that decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_revision: Option<u32>,
    /// Every id that a node of a revision had.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub used_ids: BTreeSet<TaskId>,
    /// How many reports there were.
    pub reports: u32,
    /// When the agent last did something here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
}

impl DeskSlice {
    /// Whether another program's agent opened the session.
    pub fn is_ticket(&self) -> bool {
        self.agent.is_some()
    }

    /// The name of the agent, for sentences.
    pub fn agent_name(&self) -> &str {
        match &self.agent {
            Some(agent) if !agent.name.is_empty() => &agent.name,
            _ => "The agent",
        }
    }

    /// The id that the next comment gets; comments on nodes are counted with those on lines.
    pub fn next_comment_id(&self, node_comments: &[planwright_model::Comment]) -> u32 {
        let on_lines = self.line_comments.iter().map(|comment| comment.id);
        let on_nodes = node_comments.iter().map(|comment| comment.id);
        on_lines.chain(on_nodes).max().unwrap_or(0) + 1
    }

    pub(super) fn apply(&mut self, event: &DeskEvent, at: Timestamp) -> bool {
        match event {
            DeskEvent::Opened { agent } => {
                let first = self.agent.is_none();
                self.agent = Some(agent.clone());
                self.last_seen = Some(at);
                return first;
            }
            DeskEvent::Submitted { submission } => {
                self.submission = Some(Arc::clone(submission));
                self.last_seen = Some(at);
            }
            DeskEvent::LineCommented { comment } => self.line_comments.push(comment.clone()),
            DeskEvent::LineCommentSettled { id, outcome } => return self.settle(*id, outcome),
            DeskEvent::DecisionRead { revision } => {
                self.read_revision = Some(*revision);
                self.last_seen = Some(at);
            }
            DeskEvent::Reported { .. } => {
                self.reports += 1;
                self.last_seen = Some(at);
            }
        }
        self.is_ticket()
    }

    fn settle(&mut self, id: u32, outcome: &CommentOutcome) -> bool {
        let Some(comment) = self.line_comments.iter_mut().find(|comment| comment.id == id) else {
            return false;
        };
        comment.outcome = Some(outcome.clone());
        true
    }

    /// Keeps what became of a revision and of questions. Comes before the request is closed.
    pub(super) fn record_answer(&mut self, asked: &Request, answer: &Answer, at: Timestamp) {
        if !self.is_ticket() {
            return;
        }
        let text = answer.text.clone().unwrap_or_default();
        match &asked.kind {
            RequestKind::FinalPlan { revision, .. } => {
                let refusal = match answer.action {
                    ChoiceAction::RequestChanges => {
                        DeskRefusal::Changes { text, nodes: answer.nodes.clone() }
                    }
                    ChoiceAction::Deny => DeskRefusal::Rejected { reason: text },
                    _ => return,
                };
                self.read_revision = None;
                self.refusal = Some(RevisionRefusal { revision: *revision, at, refusal });
            }
            kind @ (RequestKind::DeskQuestion { .. } | RequestKind::DeskPermission { .. }) => {
                let picked = asked.choices.iter().find(|choice| choice.action == answer.action);
                let words = match answer.action {
                    ChoiceAction::PickOption(_) => picked.map(|choice| choice.label.clone()),
                    _ => None,
                };
                let answer = DeskAnswer {
                    kind: kind.clone(),
                    question: asked.question.clone(),
                    action: answer.action,
                    text: words.unwrap_or(text),
                };
                self.answers.insert(asked.id, answer);
                if self.answers.len() > MAX_ANSWERS {
                    self.answers.pop_first();
                }
            }
            _ => {}
        }
    }
}

impl SessionState {
    /// Keeps what plans and answers mean for the desk; called before the slices they belong to change.
    pub(super) fn apply_to_desk(&mut self, event: &planwright_model::event::Event, at: Timestamp) {
        use planwright_model::event::Event;
        match event {
            Event::Plan(PlanEvent::Proposed { plan, .. }) if self.desk.is_ticket() => {
                self.desk.used_ids.extend(plan.tasks.iter().map(|task| task.id.clone()));
                self.desk.read_revision = None;
            }
            Event::Plan(PlanEvent::Approved { .. } | PlanEvent::Restored { .. }) => {
                self.desk.read_revision = None;
            }
            Event::Approval(ApprovalEvent::Answered { id, answer, .. }) => {
                if let Some(open) = self.requests.open.get(id) {
                    self.desk.record_answer(&Arc::clone(&open.request), answer, at);
                }
            }
            _ => {}
        }
    }

    /// Where the submitted plan stands. Only the approval record of its hash approves it.
    pub fn desk_decision(&self) -> DeskDecision<'_> {
        let Some(current) = &self.plan.current else { return DeskDecision::Pending };
        let refusal = self.desk.refusal.as_ref().filter(|past| past.revision == current.revision);
        if self.plan.abandoned {
            let reason = refusal.map_or("", |past| match &past.refusal {
                DeskRefusal::Rejected { reason } => reason.as_str(),
                DeskRefusal::Changes { .. } => "",
            });
            return DeskDecision::Rejected { reason };
        }
        if self.plan.is_approved() {
            return DeskDecision::Approved { hash: &current.hash, runs_here: self.runs_here() };
        }
        let open = self.requests.open.values();
        let asked = open.map(|open| &open.request.kind).any(|kind| {
            matches!(kind, RequestKind::FinalPlan { revision, .. } if *revision == current.revision)
        });
        match refusal.map(|past| &past.refusal) {
            Some(DeskRefusal::Changes { text, nodes }) if !asked => {
                DeskDecision::Changes { text, nodes }
            }
            _ => DeskDecision::Pending,
        }
    }

    /// Whether Planwright itself carries the plan out.
    pub fn runs_here(&self) -> bool {
        self.run.phase != RunPhase::Idle
    }

    /// Whether another program's agent carries out the approved plan.
    pub fn is_carried_out_elsewhere(&self) -> bool {
        self.desk.is_ticket() && self.is_runnable() && !self.runs_here()
    }
}
