//! A stored fold, so that seeking is one checkpoint plus a few records.
//!
//! It holds what is small; the plan is named by its place in the journal and read from there.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::plan_slice::{ApprovalRecord, RevisionHead};
use super::{
    AgentSlice, BreakerSlice, DeskSlice, ModelWaits, PlanSlice, PlanningSlice, RequestSlice,
    RunSlice, SessionSlice, SessionState, SessionTotals, TaskRow, TaskTable, WorktreeSlice,
};
use planwright_model::event::{Event, PlanEvent, Record};
use planwright_model::permission::PermissionRule;
use planwright_model::{Plan, Seq};

/// The layout of checkpoints. One of another version is ignored: the journal has everything.
const VERSION: u32 = 2;

/// A stored fold, read back.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Checkpoint {
    version: u32,
    seq: Seq,
    at: Option<Timestamp>,
    session: SessionSlice,
    #[serde(default)]
    planning: PlanningSlice,
    revisions: Vec<RevisionHead>,
    approval: Option<ApprovalRecord>,
    abandoned: bool,
    requests: RequestSlice,
    tasks: Vec<TaskRow>,
    run: RunSlice,
    breakers: BreakerSlice,
    #[serde(default)]
    agents: AgentSlice,
    #[serde(default)]
    worktrees: WorktreeSlice,
    #[serde(default)]
    desk: DeskSlice,
    #[serde(default)]
    waits: ModelWaits,
    #[serde(default)]
    grants: Vec<PermissionRule>,
    totals: SessionTotals,
}

/// The same fields on their way to the disk. Nothing is copied: with ten thousand tasks a copy costs as much as writing.
#[derive(Serialize)]
struct CheckpointFields<'a> {
    version: u32,
    seq: Seq,
    at: Option<Timestamp>,
    session: &'a SessionSlice,
    planning: &'a PlanningSlice,
    revisions: &'a [RevisionHead],
    approval: Option<&'a ApprovalRecord>,
    abandoned: bool,
    requests: &'a RequestSlice,
    tasks: &'a [TaskRow],
    run: &'a RunSlice,
    breakers: &'a BreakerSlice,
    agents: &'a AgentSlice,
    worktrees: &'a WorktreeSlice,
    desk: &'a DeskSlice,
    waits: &'a ModelWaits,
    grants: &'a [PermissionRule],
    totals: SessionTotals,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("checkpoint is of version {found}, this program writes {VERSION}")]
    OtherVersion { found: u32 },
    #[error("checkpoint is not readable")]
    Unreadable(#[from] serde_json::Error),
    #[error("checkpoint refers to event {0}, which holds no plan")]
    PlanMissing(Seq),
}

impl Checkpoint {
    /// Stores a fold.
    pub fn encode_state(state: &SessionState) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&CheckpointFields {
            version: VERSION,
            seq: state.seq,
            at: state.at,
            session: &state.session,
            planning: &state.planning,
            revisions: &state.plan.revisions,
            approval: state.plan.approval.as_ref(),
            abandoned: state.plan.abandoned,
            requests: &state.requests,
            tasks: state.tasks.rows(),
            run: &state.run,
            breakers: &state.breakers,
            agents: &state.agents,
            worktrees: &state.worktrees,
            desk: &state.desk,
            waits: &state.waits,
            grants: &state.grants,
            totals: state.totals,
        })
    }

    pub fn seq(&self) -> Seq {
        self.seq
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, CheckpointError> {
        #[derive(Deserialize)]
        struct CheckpointHeader {
            version: u32,
        }
        let CheckpointHeader { version } = serde_json::from_slice(bytes)?;
        if version != VERSION {
            return Err(CheckpointError::OtherVersion { found: version });
        }
        Ok(serde_json::from_slice(bytes)?)
    }

    /// Gives the fold back; `read` fetches the record that holds the plan.
    pub fn restore_state(
        self,
        read: impl FnOnce(Seq) -> Option<Record>,
    ) -> Result<SessionState, CheckpointError> {
        self.restore_state_sharing(None, read)
    }

    /// The same, sharing what follows from the plan with another moment of the session where it has the same plan.
    pub fn restore_state_sharing(
        self,
        other: Option<&SessionState>,
        read: impl FnOnce(Seq) -> Option<Record>,
    ) -> Result<SessionState, CheckpointError> {
        let mut plan = PlanSlice {
            current: None,
            revisions: self.revisions,
            approval: self.approval,
            abandoned: self.abandoned,
        };
        let known = other.filter(|other| {
            plan.current_seq().is_some() && other.plan.current_seq() == plan.current_seq()
        });
        let tasks = if let (Some(known), Some(_)) = (known, plan.current_seq()) {
            plan.current.clone_from(&known.plan.current);
            TaskTable::from_rows_sharing(self.tasks, &known.tasks)
        } else if let Some(seq) = plan.current_seq() {
            let record = read(seq).ok_or(CheckpointError::PlanMissing(seq))?;
            let Event::Plan(event @ PlanEvent::Proposed { plan: proposed, .. }) = &record.event
            else {
                return Err(CheckpointError::PlanMissing(seq));
            };
            let heads = std::mem::take(&mut plan.revisions);
            plan.apply(event, &record);
            plan.revisions = heads;
            TaskTable::from_rows(self.tasks, proposed)
        } else {
            TaskTable::from_rows(self.tasks, &Plan::default())
        };
        Ok(SessionState {
            seq: self.seq,
            at: self.at,
            session: self.session,
            planning: self.planning,
            plan,
            requests: self.requests,
            tasks,
            run: self.run,
            breakers: self.breakers,
            agents: self.agents,
            worktrees: self.worktrees,
            desk: self.desk,
            waits: self.waits,
            grants: self.grants,
            totals: self.totals,
        })
    }
}
