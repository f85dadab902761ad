//! A new session that goes on from a moment of another: what it takes over and what it does again.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use crate::event::{Event, PlanEvent, SessionEvent, TaskEvent};
use crate::model::{GraphFacts, Normalization, Plan, Seq, SessionId, TaskId};
use crate::planning::content_key::content_keys;
use crate::state::{PlanRevision, SessionState, TaskStatus};

/// What a fork would do, stated before it starts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForkPlan {
    pub parent: SessionId,
    pub at: Seq,
    /// Tasks whose results are taken over.
    pub reuses: Vec<TaskId>,
    /// Tasks that run, again or for the first time.
    pub reruns: Vec<TaskId>,
    /// The revision that the person has to approve; approvals are not inherited.
    #[serde(skip)]
    pub revision: Arc<PlanRevision>,
    /// The first events of the fork, but for the question whether to run it.
    #[serde(skip)]
    pub events: Vec<Event>,
}

/// Why a moment cannot be forked from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    #[error("there is no plan yet at event {0}")]
    NoPlan(Seq),
    #[error("the plan cannot be hashed")]
    Hash,
}

/// A plan that takes the place of the one at the fork point.
#[derive(Clone, Debug)]
pub struct NewPlan {
    pub plan: Plan,
    pub facts: GraphFacts,
    pub normalization: Vec<Normalization>,
}

impl ForkPlan {
    /// Works out what a fork after `state` takes over. A task is reused where it was done and does the same after the
    /// same, told by its content key; everything else is done again. `imported` says that the session came from elsewhere.
    pub fn new(
        parent: &SessionId,
        state: &SessionState,
        imported: bool,
        new_plan: Option<NewPlan>,
    ) -> Result<Self, ForkError> {
        let old = state.plan.current.as_ref().ok_or(ForkError::NoPlan(state.seq))?;
        let old_keys = content_keys(&old.plan, &old.facts);
        let met: HashMap<&TaskId, usize> = (0..state.tasks.len())
            .filter(|task| state.tasks.row(*task).status.counts_as_met())
            .map(|task| (state.tasks.id(task), task))
            .collect();
        let revision = match new_plan {
            Some(new) => Arc::new(PlanRevision {
                revision: old.revision + 1,
                hash: new.plan.digest().map_err(|_| ForkError::Hash)?,
                plan: Arc::new(new.plan),
                facts: Arc::new(new.facts),
                normalization: new.normalization,
            }),
            None => Arc::clone(old),
        };
        let keys = content_keys(&revision.plan, &revision.facts);
        let (mut reuses, mut reruns) = (Vec::new(), Vec::new());
        for (task, key) in revision.plan.tasks.iter().zip(&keys) {
            // Results are kept by id, so that a task under another name starts over.
            let same = met.get(&task.id).is_some_and(|old| old_keys.get(*old) == Some(key));
            if same { reuses.push(task.id.clone()) } else { reruns.push(task.id.clone()) }
        }
        let mut plan = Self {
            parent: parent.clone(),
            at: state.seq,
            reuses,
            reruns,
            revision,
            events: Vec::new(),
        };
        plan.events = plan.first_events(state, imported, old);
        Ok(plan)
    }

    fn first_events(
        &self,
        state: &SessionState,
        imported: bool,
        old: &Arc<PlanRevision>,
    ) -> Vec<Event> {
        let mut events: Vec<Event> = vec![
            SessionEvent::Forked {
                parent: self.parent.to_string(),
                at: self.at,
                reuses: self.reuses.len() as u32,
                reruns: self.reruns.len() as u32,
                imported,
            }
            .into(),
        ];
        if !Arc::ptr_eq(&self.revision, old) {
            events.push(
                PlanEvent::Proposed {
                    revision: self.revision.revision,
                    hash: self.revision.hash.clone(),
                    plan: Arc::clone(&self.revision.plan),
                    facts: Arc::clone(&self.revision.facts),
                    normalization: self.revision.normalization.clone(),
                }
                .into(),
            );
        }
        let settled = |task: &&TaskId| {
            state.tasks.get(task).is_some_and(|row| row.status != TaskStatus::Pending)
        };
        events.extend(self.reruns.iter().filter(settled).map(|task| {
            let why = "it is done again in this fork".to_owned();
            TaskEvent::Reset { task: task.clone(), why }.into()
        }));
        events
    }

    /// One sentence that says what would happen.
    pub fn words(&self) -> String {
        let total = self.reruns.len() + self.reuses.len();
        let noun = if total == 1 { "task" } else { "tasks" };
        format!("re-runs {} of {total} {noun}, reuses {}", self.reruns.len(), self.reuses.len())
    }
}
