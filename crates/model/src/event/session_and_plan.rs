//! Facts about the session itself, its plan, and the questions put to the person.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::CommandRefusal;
use crate::{
    Actor, AgentDescription, Answer, Digest, GraphFacts, NormalizationChange, Plan, Request,
    RequestId, Seq,
};

/// Why a process stopped writing to a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum CloseReason {
    /// The person quit.
    Quit,
    /// Nothing was left to do.
    Finished,
    /// Something waits for the person, and nobody can answer in this process.
    NeedsPerson,
    /// A signal asked the process to end.
    Signal { signal: String },
}

/// Facts about the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionEvent {
    /// The first event of every session.
    Created {
        format: u32,
        program: String,
        title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        goal: Option<String>,
        workspace: String,
        /// The plan file it was made from, as the person named it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan_file: Option<String>,
    },
    /// This session goes on from another one. What was approved and asked there counts no more.
    Forked {
        parent: String,
        at: Seq,
        /// How many results are taken over, and how many tasks run.
        reuses: u32,
        reruns: u32,
        /// The other one came from elsewhere: nothing in it but its plan counts here, and every call is asked about.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        imported: bool,
    },
    /// A process took the lease and goes on.
    Opened { program: String, pid: u32 },
    /// The process that held the lease let go of it in good order.
    Closed(CloseReason),
    /// The person named another directory for the tasks to run in.
    WorkspaceMoved { workspace: String },
    /// Something that should not happen did, and was survived.
    AnomalyNoted { what: String },
    /// The person's own agents that tasks may be given to, as the settings and their last tests describe them.
    AgentsDescribed { agents: Vec<AgentDescription> },
}

impl SessionEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Created { .. } => "session.created",
            Self::Forked { .. } => "session.forked",
            Self::Opened { .. } => "session.opened",
            Self::Closed(_) => "session.closed",
            Self::WorkspaceMoved { .. } => "session.workspace_moved",
            Self::AnomalyNoted { .. } => "session.anomaly_noted",
            Self::AgentsDescribed { .. } => "session.agents_described",
        }
    }
}

/// Facts about the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanEvent {
    /// A revision of the plan exists. It may not run before it is approved by its hash.
    Proposed {
        revision: u32,
        hash: Digest,
        plan: Arc<Plan>,
        facts: Arc<GraphFacts>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        normalization: Vec<NormalizationChange>,
    },
    /// The approval record that execution needs.
    Approved { hash: Digest, by: Actor },
    /// A revision that only narrows the approved one needs no new approval.
    ApprovalCarried { from_hash: Digest, to_hash: Digest, why: String },
    /// The person gave the plan up; it stays readable.
    Abandoned { by: Actor },
    /// A discarded plan was opened again.
    Restored { by: Actor },
}

impl PlanEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Proposed { .. } => "plan.proposed",
            Self::Approved { .. } => "plan.approved",
            Self::ApprovalCarried { .. } => "plan.approval_carried",
            Self::Abandoned { .. } => "plan.abandoned",
            Self::Restored { .. } => "plan.restored",
        }
    }
}

/// Facts about questions and answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApprovalEvent {
    Asked {
        request: Arc<Request>,
    },
    Answered {
        id: RequestId,
        answer: Answer,
        by: Actor,
    },
    /// The open request has more to say or to offer: ideas, or why an answer could not be read. It stays open.
    Amended {
        request: Arc<Request>,
    },
    /// The question no longer makes sense.
    Withdrawn {
        id: RequestId,
        why: String,
    },
    /// A command that could not be carried out, and why.
    Refused {
        command: String,
        why: CommandRefusal,
    },
}

impl ApprovalEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Asked { .. } => "approval.asked",
            Self::Answered { .. } => "approval.answered",
            Self::Amended { .. } => "approval.amended",
            Self::Withdrawn { .. } => "approval.withdrawn",
            Self::Refused { .. } => "approval.refused",
        }
    }
}
