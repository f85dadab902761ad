//! The planning controller: one table of transitions that the engine, the tests, the documentation and `graph
//! --controller` share.
//!
//! Everything here is pure. A stage's work ends in an [`Outcome`]; [`advance`] looks it up and says where the
//! conversation goes and what that changes. Whether a limit is reached is decided here too, before a state is entered.

mod outcome;
pub mod picture;
mod reply;
mod table;
#[cfg(test)]
mod tests;
mod view;

pub use outcome::{Outcome, stage_outcome};
pub use reply::{Reply, parse_reply, read_scope, scope_of};
pub use table::{Guard, ROWS, Row, RowEffect, Source, Target};
pub use view::{View, asks};

use planwright_model::{EscalateReason, PauseKind, Place, PlanEffect, PlanState, Stage};

/// Where an outcome leads.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// The row of the table that decided.
    pub row: &'static str,
    pub from: Place,
    pub outcome: Outcome,
    pub to: Place,
    pub effects: Vec<PlanEffect>,
    /// Where a pause leads back to.
    pub resume: Option<Place>,
    pub reason: Option<EscalateReason>,
}

/// Looks an outcome up. `None` means that it makes no sense in this place.
pub fn advance(view: &View<'_>, outcome: Outcome) -> Option<Transition> {
    let row = ROWS.iter().find(|row| row.applies(view, outcome))?;
    let to = row.target(view);
    let resume = resume_of(view, row, to);
    let effects = row.effects.iter().map(|effect| effect.resolve(view)).collect();
    let reason = reason_of(to, row, outcome);
    let moved = Transition { row: row.id, from: view.place, outcome, to, effects, resume, reason };
    Some(held_at_cap(view, moved))
}

/// A state is not entered past a limit; the conversation pauses in front of it.
fn held_at_cap(view: &View<'_>, moved: Transition) -> Transition {
    let begins_anew = moved.effects.contains(&PlanEffect::NewSegment);
    if begins_anew || !moved.to.state.works() {
        return moved;
    }
    let out_of_time = view.silent_sec >= view.limits.wall_time_sec
        || view.segment_sec >= view.limits.segment_max_sec;
    let out_of_turns = moved.to.state.turns() && view.counters.turns >= view.limits.turn_limit;
    let reason = if out_of_time {
        EscalateReason::CapWallTime
    } else if out_of_turns {
        EscalateReason::CapTurns
    } else {
        return moved;
    };
    Transition {
        to: Place::paused(PauseKind::Cap),
        resume: Some(moved.to),
        reason: Some(reason),
        ..moved
    }
}

/// The stage whose draft a pause leads back to.
fn resume_of(view: &View<'_>, row: &Row, to: Place) -> Option<Place> {
    if to.state != PlanState::NeedsClarification {
        return None;
    }
    let stays = row.to == Target::Stay;
    match to.pause {
        _ if stays => view.resume,
        Some(PauseKind::Validation | PauseKind::LowConfidence) => {
            let stage = row.blamed.or_else(|| view.place.state.stage()).unwrap_or(Stage::Outline);
            Some(Place::at(stage.draft()))
        }
        Some(PauseKind::Cap) if view.place.state.works() => Some(view.place),
        Some(PauseKind::Cap) => match view.scope {
            Some(scope) => Some(Place::at(scope.draft())),
            None => view.resume.or(Some(Place::at(PlanState::DraftOutline))),
        },
        Some(PauseKind::Budget | PauseKind::Model) => Some(view.place),
        Some(PauseKind::Rfc) => Some(Place::at(PlanState::DraftOutline)),
        Some(PauseKind::Questions | PauseKind::Goal) => Some(Place::at(PlanState::CollectContext)),
        Some(PauseKind::Approval) => view.place.target.map(Place::seeking),
        None => None,
    }
}

fn reason_of(to: Place, row: &Row, outcome: Outcome) -> Option<EscalateReason> {
    if row.to == Target::Stay {
        return (outcome == Outcome::Continue).then_some(EscalateReason::CapContinues);
    }
    Some(match (to.state, to.pause) {
        (PlanState::Aborted, _) => match outcome {
            Outcome::FatalError | Outcome::ToolError => EscalateReason::ToolError,
            _ => EscalateReason::UserCancelled,
        },
        (PlanState::NeedsSchedEscalation, _) => EscalateReason::Infeasible,
        (_, Some(PauseKind::Questions)) => EscalateReason::Questions,
        (_, Some(PauseKind::Goal)) => EscalateReason::GoalMissing,
        (_, Some(PauseKind::LowConfidence)) => EscalateReason::LowConfidence,
        (_, Some(PauseKind::Validation)) => EscalateReason::Validation,
        (_, Some(PauseKind::Approval)) => EscalateReason::NoResponse,
        (_, Some(PauseKind::Budget)) => EscalateReason::Budget,
        (_, Some(PauseKind::Model)) => EscalateReason::ToolError,
        (_, Some(PauseKind::Cap)) => match outcome {
            Outcome::WallTime => EscalateReason::CapWallTime,
            Outcome::Continue => EscalateReason::CapContinues,
            Outcome::UseRelaxation | Outcome::UseStructuralRelaxation => {
                EscalateReason::CapEscalations
            }
            _ => EscalateReason::CapRevisions,
        },
        // The name of the subtype is filled in by whoever knows it.
        (_, Some(PauseKind::Rfc)) => EscalateReason::PatternRfc(String::new()),
        _ => return None,
    })
}
