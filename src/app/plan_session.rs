//! Making a session of a plan that was read from a file: it is proposed, and its approval asked for.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;

use super::App;
use super::new_session::{SessionBuilder, new_session_id};
use planwright_engine::SessionHandle;
use planwright_model::event::{ApprovalEvent, Event, PlanEvent, Record};
use planwright_model::requests::final_plan_request;
use planwright_model::{GraphFacts, NormalizationChange, Plan, PolicyOverride, RequestId, RunKind};
use planwright_state::SessionState;
use planwright_store::Store;

/// A plan that was read and resolved, ready to become a session.
#[derive(Debug)]
pub(crate) struct ReadyPlan {
    pub plan: Plan,
    pub facts: GraphFacts,
    pub normalization: Vec<NormalizationChange>,
    /// The file it came from, as the person named it.
    pub file: Option<String>,
}

impl App {
    /// Makes a session of a plan and starts working on it: the plan is proposed and its approval asked for.
    pub(crate) async fn start_plan(
        &self,
        store: &Store,
        ready: ReadyPlan,
        workspace: &Path,
        policy: &PolicyOverride,
        interactive: bool,
    ) -> anyhow::Result<SessionHandle> {
        let app = self.with_plan_secrets(&ready.plan, workspace)?;
        let mut ready = ready;
        app.assign_default_agent(&mut ready.plan);
        let mut session = SessionBuilder::new(&app, store, new_session_id(), workspace)?;
        if needs_agents(&ready.plan) {
            let models = session.app.select_models(&SessionState::default(), interactive);
            session.equip(&models).await?;
        }
        let (title, goal) = (ready.plan.title.clone(), ready.plan.goal.clone());
        let mut first = session.created_events(title, goal, ready.file.clone());
        first.extend(session.app.agents_event(&SessionState::default()));
        propose_plan(&mut first, ready)?;
        first.extend(session.app.policy_event(store, policy)?);
        first.extend(session.app.changed_limits_event(&SessionState::default()));
        first.extend(session.app.project_notice_event());
        session.create(first)
    }
}

/// Whether a plan has tasks that only an agent can do.
pub(super) fn needs_agents(plan: &Plan) -> bool {
    plan.tasks.iter().any(|task| matches!(task.run, RunKind::Agent(_)))
}

/// Adds the proposal of a plan to the first events of its session, and the request to approve it.
fn propose_plan(events: &mut Vec<Event>, ready: ReadyPlan) -> anyhow::Result<()> {
    let proposed = PlanEvent::Proposed {
        revision: 1,
        hash: ready.plan.digest().context("hashing the plan")?,
        plan: Arc::new(ready.plan),
        facts: Arc::new(ready.facts),
        normalization: ready.normalization,
    };
    events.push(proposed.into());
    let mut state = SessionState::default();
    for event in events.iter() {
        state.apply(&Record::new(state.seq.next(), Timestamp::UNIX_EPOCH, event.clone()));
    }
    if let Some(current) = &state.plan.current {
        let request = final_plan_request(RequestId(1), &current.as_proposed_plan());
        events.push(ApprovalEvent::Asked { request: Arc::new(request) }.into());
    }
    Ok(())
}
