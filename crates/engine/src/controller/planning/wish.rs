//! Wishes that need no open question: policy, comments, locks, edits by hand, and changes to a plan that is complete.

use std::sync::Arc;

use jiff::Timestamp;

use super::answer::{scope, wishes};
use super::{Draft, advance_draft};
use crate::Keep;
use crate::controller::{Decided, Decision, Effect};
use planwright_drafting::controller::Outcome;
use planwright_drafting::gate::{self, GatePolicy};
use planwright_model::event::{AgentEvent, PlanningEvent, Refusal};
use planwright_model::gate::GateSignals;
use planwright_model::{
    Actor, AdaptationLogEntry, Comment, GateWhen, Origin, PlanEdit, PlanState, PolicyOverride,
    Stage, TaskId,
};
use planwright_plan::edit as edits;
use planwright_state::SessionState;

/// Changes how the person is talked to; works in every session, with and without a conversation.
pub(in super::super) fn set_policy(set: &PolicyOverride, save: bool, by: Actor) -> Decision {
    let decision = Decision::of(PlanningEvent::PolicySet { set: set.clone(), saved: save, by });
    if save { decision.then(Effect::Keep(Keep::Policy(set.clone()))) } else { decision }
}

/// Says when something small skips ceremony; what the gate saw before is judged again by it.
pub(in super::super) fn set_gate(state: &SessionState, when: GateWhen) -> Decision {
    let standing = state.planning.gate.clone();
    let standing = standing.unwrap_or_else(|| {
        gate::decide(&GatePolicy::default(), GateSignals::default(), gate::LOOPS, None)
    });
    let decision = gate::decide_again(&standing, when);
    let decision = serde_json::to_value(decision).unwrap_or_default();
    Decision::of(AgentEvent::Gated { decision })
}

fn node_exists(state: &SessionState, node: &TaskId) -> Result<(), Refusal> {
    let known =
        state.planning.outline.as_deref().is_some_and(|outline| outline.node(node).is_some())
            || state.tasks.position(node).is_some();
    if known { Ok(()) } else { Err(Refusal::UnknownTask { task: node.clone() }) }
}

pub(in super::super) fn comment(state: &SessionState, node: &TaskId, text: &str) -> Decided {
    node_exists(state, node)?;
    let text = text.trim();
    if text.is_empty() {
        return Err(Refusal::OutOfRange { what: "a comment needs words".to_owned() });
    }
    let talk = &state.planning;
    Ok(Decision::of(PlanningEvent::Commented {
        comment: Comment {
            id: talk.comments.last().map_or(1, |last| last.id + 1),
            node: node.clone(),
            text: text.to_owned(),
            version: talk.outline.as_deref().map_or(1, |outline| outline.version),
            outcome: None,
        },
    }))
}

pub(in super::super) fn lock(state: &SessionState, node: &TaskId, on: bool) -> Decided {
    node_exists(state, node)?;
    if state.planning.locked.contains(node) == on {
        let what = format!("{node} is {} already", if on { "locked" } else { "not locked" });
        return Err(Refusal::OutOfRange { what });
    }
    Ok(Decision::of(if on {
        PlanningEvent::NodeLocked { node: node.clone() }
    } else {
        PlanningEvent::NodeUnlocked { node: node.clone() }
    }))
}

/// Changes the plan by hand. The result is checked again and asked about again; no revision is counted.
pub(in super::super) fn edit(state: &SessionState, edit: &PlanEdit, now: Timestamp) -> Decided {
    let talk = &state.planning;
    let outline = talk.outline.as_deref().ok_or(Refusal::NoPlan)?;
    let edited =
        edits::apply(outline, talk.roadmap.as_deref(), edit, &talk.locked).map_err(refusal)?;
    let mut draft = Draft::on(state, now);
    let entry = AdaptationLogEntry {
        id: format!("a{}", talk.adaptation_log.len() + 1),
        timestamp: now,
        node_ids: edited.node_ids.clone(),
        action: edited.action,
        reason: edited.reason.clone(),
        origin: Origin::UserFeedback,
        strategy_applied: None,
        portfolio_impact: None,
        from_version: outline.version,
        to_version: edited.outline.version,
    };
    draft.say(PlanningEvent::Adapted { entry });
    draft.say(PlanningEvent::Edited {
        edit: edit.clone(),
        outline: Arc::new(edited.outline),
        roadmap: edited.roadmap.map(Arc::new),
    });
    Ok(reconsider(draft))
}

fn refusal(error: edits::EditError) -> Refusal {
    match error {
        edits::EditError::Locked { node, .. } => Refusal::Locked { node },
        edits::EditError::BreaksRule { rule, message } => Refusal::BreaksRule { rule, message },
        other => Refusal::OutOfRange { what: other.to_string() },
    }
}

/// Takes the last change of the draft back, by hand or by a wish, or makes it again.
pub(in super::super) fn undo(state: &SessionState, again: bool, now: Timestamp) -> Decided {
    let talk = &state.planning;
    let possible = if again { &talk.redo } else { &talk.undo };
    if talk.works() {
        let what = "the next draft is being made; once it is here it can be taken back".to_owned();
        return Err(Refusal::OutOfRange { what });
    }
    if possible.is_empty() {
        let what = if again { "nothing to make again" } else { "nothing to take back" };
        return Err(Refusal::OutOfRange { what: what.to_owned() });
    }
    let mut draft = Draft::on(state, now);
    draft.say(PlanningEvent::Undone { again });
    Ok(reconsider(draft))
}

/// Has the changed draft checked again, where the conversation waits for the person.
fn reconsider(mut draft: Draft<'_>) -> Decision {
    let waits = !draft.talk().place.state.works();
    if waits {
        advance_draft(&mut draft, Outcome::Edited, None);
    }
    Decision { events: draft.events, effects: Vec::new() }
}

/// Re-enters planning for a plan that is complete or running; what is finished stays.
pub(in super::super) fn request_changes(
    state: &SessionState,
    text: &str,
    nodes: &[TaskId],
    stage: Option<Stage>,
    now: Timestamp,
) -> Decided {
    if state.planning.place.state != PlanState::Complete || !state.planning.begun {
        let what = "changes are asked for in the open request".to_owned();
        return Err(Refusal::OutOfRange { what });
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(Refusal::OutOfRange { what: "say what should be different".to_owned() });
    }
    let mut draft = Draft::on(state, now);
    let finished: Vec<TaskId> = state
        .tasks
        .iter()
        .filter(|(id, row)| row.status.is_settled() && !state.planning.locked.contains(*id))
        .map(|(id, _)| id.clone())
        .collect();
    for node in finished {
        draft.say(PlanningEvent::NodeLocked { node });
    }
    wishes(&mut draft, text, nodes);
    let scope = scope(&draft, text, stage);
    advance_draft(&mut draft, Outcome::Revise, Some(scope));
    Ok(Decision { events: draft.events, effects: Vec::new() })
}

/// Gives planning up.
pub(in super::super) fn abandon(state: &SessionState, by: Actor, now: Timestamp) -> Decided {
    if !state.planning.begun || state.planning.is_over() {
        return Err(Refusal::NoPlan);
    }
    let mut draft = Draft::on(state, now);
    if state.plan.current.is_some() {
        draft.say(planwright_model::event::PlanEvent::Abandoned { by });
    }
    advance_draft(&mut draft, Outcome::Cancel, None);
    Ok(Decision { events: draft.events, effects: vec![Effect::CancelStage] })
}
