//! What planning asks when something is used up: a limit of the conversation, the budget, or the time of the plan.

use std::collections::BTreeSet;

use super::{abandon_choice, new_request};
use crate::request::RequestDetail;
use crate::{
    Choice, ChoiceAction, EscalationReason, Request, RequestId, RequestKind, RunCap, Schedule,
};

/// A limit of the conversation in words, and the name it has in the configuration.
pub fn describe_planning_cap(reason: Option<&EscalationReason>) -> (&'static str, &'static str) {
    match reason {
        Some(EscalationReason::CapTurns) => ("the turns of this round are used up", "turn_limit"),
        Some(EscalationReason::CapWallTime) => {
            ("nothing has happened for too long", "wall_time_sec")
        }
        Some(EscalationReason::CapRevisions) => {
            ("the plan was revised as often as the limit allows", "revision_limit")
        }
        Some(EscalationReason::CapEscalations) => {
            ("it was relaxed as often as the limit allows", "escalation_round_limit")
        }
        Some(EscalationReason::CapContinues) => {
            ("it was continued as often as the limit allows", "continue_limit")
        }
        _ => ("a limit of the conversation is reached", "limit"),
    }
}

/// Whether planning continues past a limit of the conversation.
pub fn planning_cap_request(id: RequestId, reason: Option<&EscalationReason>) -> Request {
    let (words, name) = describe_planning_cap(reason);
    let reason = reason.cloned().unwrap_or(EscalationReason::CapTurns);
    let mut asked = new_request(
        id,
        RequestKind::PlanningCap { reason, cap: None },
        "Go on past the limit?",
        format!("{words} ({name}); the best draft so far is kept"),
    );
    asked.choices = vec![
        Choice::new(ChoiceAction::GoOn, "go on", "the counter starts again"),
        Choice::new(ChoiceAction::Edit, "edit by hand", "change the draft yourself"),
        Choice::new(ChoiceAction::KeepAndStop, "keep the plan and stop", "resume later"),
        abandon_choice(),
    ];
    asked
}

/// Whether the budget of planning is raised.
pub fn budget_request(id: RequestId, why: Option<&str>, cap: Option<RunCap>) -> Request {
    let mut asked = new_request(
        id,
        RequestKind::PlanningCap { reason: EscalationReason::Budget, cap },
        "The budget is reached. How should it go on?",
        why.unwrap_or("the next call would exceed it"),
    );
    asked.choices = vec![
        Choice::new(
            ChoiceAction::RaiseOnce,
            "raise once",
            "goes on a little further, then asks again",
        ),
        Choice::new(
            ChoiceAction::RaiseForSession,
            "raise for the session",
            "no limit until this session ends",
        ),
        Choice::new(ChoiceAction::GoOffline, "go on offline", "the built-in planner takes over"),
        Choice::new(ChoiceAction::Abandon, "stop", "what was drafted stays readable"),
    ];
    asked
}

/// The plan does not fit; the choices name what would help. `hard` names the constraints that the person fixed.
pub fn escalation_request(
    id: RequestId,
    schedule: Option<&Schedule>,
    hard: &BTreeSet<String>,
) -> Request {
    let relaxations = schedule.map(|schedule| schedule.relaxations.as_slice()).unwrap_or_default();
    let question = "The plan does not fit. What gives way?";
    let mut asked = new_request(id, RequestKind::Escalation, question, describe_misfit(schedule));
    for (number, relaxation) in (1u8..).zip(relaxations) {
        asked.choices.push(Choice::new(
            ChoiceAction::UseRelaxation(number),
            &format!("use {number}"),
            relaxation.summary.clone(),
        ));
    }
    if relaxations.is_empty() {
        let names: Vec<&str> = hard.iter().map(String::as_str).collect();
        asked.details.push(RequestDetail::new("fixed by you", names.join(", ")));
    }
    asked.choices.push(Choice::new(
        ChoiceAction::AcceptLate,
        "accept late",
        "the deadline becomes soft",
    ));
    asked.choices.push(Choice::new(
        ChoiceAction::RequestChanges,
        "propose changes",
        "say what should be different",
    ));
    asked.choices.push(abandon_choice());
    asked
}

fn describe_misfit(schedule: Option<&Schedule>) -> String {
    let late = schedule.map_or(0, |schedule| schedule.lateness_minutes);
    let unplaced: u32 =
        schedule.map_or(0, |schedule| schedule.unplaced.iter().map(|left| left.minutes).sum());
    match (late, unplaced) {
        (0, 0) => "it does not fit".to_owned(),
        (0, minutes) => format!("{minutes} minutes fit nowhere before the end"),
        (late, _) => format!("it would end {} working hours late", late.div_ceil(60)),
    }
}
