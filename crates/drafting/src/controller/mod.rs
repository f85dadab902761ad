//! The planning controller: one table of transitions shared by the engine, the tests, the documentation and `graph
//! --controller`.
//!
//! Everything here is pure. A stage's work ends in a [`ControllerOutcome`]; [`resolve_transition`] looks it up and
//! returns where the conversation continues and what that changes. Limits are also checked here, before a state is
//! entered.

pub mod diagram;
mod outcome;
mod reply;
#[cfg(test)]
mod tests;
mod transition_context;
mod transition_table;

pub use outcome::{ControllerOutcome, stage_outcome};
pub use reply::{UserReply, detect_change_stage, parse_reply, resolve_change_stage};
pub use transition_context::{TransitionContext, requires_approval};
pub use transition_table::{
    ROWS, TransitionEffect, TransitionGuard, TransitionRow, TransitionSource, TransitionTarget,
};

use planwright_model::{
    EscalationReason, PauseKind, PlanEffect, PlanState, PlanningPosition, Stage,
};

/// The result of an outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerTransition {
    /// The row of the table that decided.
    pub row: &'static str,
    pub from: PlanningPosition,
    pub outcome: ControllerOutcome,
    pub to: PlanningPosition,
    pub effects: Vec<PlanEffect>,
    /// The position that a pause returns to.
    pub resume: Option<PlanningPosition>,
    pub reason: Option<EscalationReason>,
}

/// Looks up an outcome. `None` means that it is not valid at this position.
pub fn resolve_transition(
    view: &TransitionContext<'_>,
    outcome: ControllerOutcome,
) -> Option<ControllerTransition> {
    let row = ROWS.iter().find(|row| row.is_applicable(view, outcome))?;
    let to = row.resolve_target(view);
    let resume = resume_target(view, row, to);
    let effects = row.effects.iter().map(|effect| effect.resolve(view)).collect();
    let reason = escalation_reason(to, row, outcome);
    let moved = ControllerTransition {
        row: row.id,
        from: view.place,
        outcome,
        to,
        effects,
        resume,
        reason,
    };
    Some(pause_at_limit(view, moved))
}

/// A state is not entered past a limit; the conversation pauses before it.
fn pause_at_limit(
    view: &TransitionContext<'_>,
    moved: ControllerTransition,
) -> ControllerTransition {
    let begins_anew = moved.effects.contains(&PlanEffect::NewSegment);
    if begins_anew || !moved.to.state.is_working() {
        return moved;
    }
    let out_of_time = view.segment_sec >= view.limits.segment_max_sec;
    let out_of_turns = moved.to.state.costs_turn() && view.counters.turns >= view.limits.turn_limit;
    let reason = if out_of_time {
        EscalationReason::CapWallTime
    } else if out_of_turns {
        EscalationReason::CapTurns
    } else {
        return moved;
    };
    ControllerTransition {
        to: PlanningPosition::paused_for(PauseKind::Cap),
        resume: Some(moved.to),
        reason: Some(reason),
        ..moved
    }
}

/// Returns the stage whose draft a pause returns to.
fn resume_target(
    view: &TransitionContext<'_>,
    row: &TransitionRow,
    to: PlanningPosition,
) -> Option<PlanningPosition> {
    if to.state != PlanState::NeedsClarification {
        return None;
    }
    let stays = row.to == TransitionTarget::Stay;
    match to.pause {
        _ if stays => view.resume,
        Some(PauseKind::Validation | PauseKind::LowConfidence) => {
            let stage = row.blamed.or_else(|| view.place.state.stage()).unwrap_or(Stage::Outline);
            Some(PlanningPosition::from_state(stage.draft_state()))
        }
        Some(PauseKind::Cap) if view.place.state.is_working() => Some(view.place),
        Some(PauseKind::Cap) => match view.scope {
            Some(scope) => Some(PlanningPosition::from_state(scope.draft_state())),
            None => view.resume.or(Some(PlanningPosition::from_state(PlanState::DraftOutline))),
        },
        Some(PauseKind::Budget | PauseKind::Model) => Some(view.place),
        Some(PauseKind::Rfc) => Some(PlanningPosition::from_state(PlanState::DraftOutline)),
        Some(PauseKind::Questions) if view.place.state.drafted_stage().is_some() => {
            Some(view.place)
        }
        Some(PauseKind::Questions | PauseKind::Goal) => {
            Some(PlanningPosition::from_state(PlanState::CollectContext))
        }
        Some(PauseKind::Approval) => view.place.target.map(PlanningPosition::seeking_approval),
        None => None,
    }
}

fn escalation_reason(
    to: PlanningPosition,
    row: &TransitionRow,
    outcome: ControllerOutcome,
) -> Option<EscalationReason> {
    if row.to == TransitionTarget::Stay {
        return (outcome == ControllerOutcome::Continue).then_some(EscalationReason::CapContinues);
    }
    Some(match (to.state, to.pause) {
        (PlanState::Aborted, _) => match outcome {
            ControllerOutcome::FatalError | ControllerOutcome::ToolError => {
                EscalationReason::ToolError
            }
            _ => EscalationReason::UserCancelled,
        },
        (PlanState::NeedsSchedEscalation, _) => EscalationReason::Infeasible,
        (_, Some(PauseKind::Questions)) => EscalationReason::Questions,
        (_, Some(PauseKind::Goal)) => EscalationReason::GoalMissing,
        (_, Some(PauseKind::LowConfidence)) => EscalationReason::LowConfidence,
        (_, Some(PauseKind::Validation)) => EscalationReason::Validation,
        (_, Some(PauseKind::Approval)) => EscalationReason::NoResponse,
        (_, Some(PauseKind::Budget)) => EscalationReason::Budget,
        (_, Some(PauseKind::Model)) => EscalationReason::ToolError,
        (_, Some(PauseKind::Cap)) => match outcome {
            ControllerOutcome::WallTime => EscalationReason::CapWallTime,
            ControllerOutcome::Continue => EscalationReason::CapContinues,
            ControllerOutcome::UseRelaxation | ControllerOutcome::UseStructuralRelaxation => {
                EscalationReason::CapEscalations
            }
            _ => EscalationReason::CapRevisions,
        },
        // The caller fills in the name of the subtype.
        (_, Some(PauseKind::Rfc)) => EscalationReason::PatternRfc(String::new()),
        _ => return None,
    })
}
