//! What planning asks when something is used up: a limit of the conversation, the budget, or the time of the plan.

use std::collections::BTreeSet;

use planwright_text::dates::format_date;
use planwright_text::units::format_planned;

use super::{abandon_choice, cause_sentence, new_request};
use crate::request::RequestDetail;
use crate::{
    Choice, ChoiceAction, EscalationReason, Request, RequestId, RequestKind, RunCap, Schedule,
    ScheduleRelaxation,
};

/// A limit of the conversation in words, and the name it has in the configuration.
pub fn describe_planning_cap(reason: Option<&EscalationReason>) -> (&'static str, &'static str) {
    match reason {
        Some(EscalationReason::CapTurns) => ("The turns of this round are used up", "turn_limit"),
        Some(EscalationReason::CapWallTime) => {
            ("Planning has worked for as long as the limit allows", "segment_max_sec")
        }
        Some(EscalationReason::CapRevisions) => {
            ("The plan was revised as often as the limit allows", "revision_limit")
        }
        Some(EscalationReason::CapEscalations) => {
            ("The plan was relaxed as often as the limit allows", "escalation_round_limit")
        }
        Some(EscalationReason::CapContinues) => {
            ("Planning was continued as often as the limit allows", "continue_limit")
        }
        _ => ("A limit of the conversation is reached", "limit"),
    }
}

/// Whether planning continues past a limit of the conversation.
pub fn planning_cap_request(id: RequestId, reason: Option<&EscalationReason>) -> Request {
    let (words, _) = describe_planning_cap(reason);
    let reason = reason.cloned().unwrap_or(EscalationReason::CapTurns);
    let mut asked = new_request(
        id,
        RequestKind::PlanningCap { reason, cap: None },
        "Continue past the limit?",
        format!("{words}. The best draft so far is kept."),
    );
    asked.choices = vec![
        Choice::new(ChoiceAction::GoOn, "continue", "the count starts again"),
        Choice::new(ChoiceAction::Edit, "edit by hand", "change the draft yourself"),
        Choice::new(ChoiceAction::KeepAndStop, "keep the draft and stop", "you can resume later"),
        abandon_choice(),
    ];
    asked
}

/// Whether the budget of planning is raised.
pub fn budget_request(id: RequestId, why: Option<&str>, cap: Option<RunCap>) -> Request {
    let mut asked = new_request(
        id,
        RequestKind::PlanningCap { reason: EscalationReason::Budget, cap },
        "Raise the spending limit?",
        cause_sentence(why.unwrap_or("The next call would exceed it.")),
    );
    asked.choices = vec![
        Choice::new(ChoiceAction::RaiseOnce, "raise once", "a little further, then it asks again"),
        Choice::new(
            ChoiceAction::RaiseForSession,
            "raise for this plan",
            "no limit until this plan is done",
        ),
        Choice::new(
            ChoiceAction::GoOffline,
            "continue without paid calls",
            "the built-in planner drafts the rest",
        ),
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
    let fits_nowhere = schedule
        .is_some_and(|schedule| schedule.lateness_minutes == 0 && schedule.unplaced.is_empty());
    let question = if fits_nowhere {
        "The plan does not fit before its dates. What should change?"
    } else {
        "The plan ends too late. What should change?"
    };
    let mut asked = new_request(id, RequestKind::Escalation, question, describe_misfit(schedule));
    for (number, relaxation) in (1u8..).zip(relaxations) {
        asked.choices.push(Choice::new(
            ChoiceAction::UseRelaxation(number),
            &relaxation.summary,
            describe_relaxed_end(relaxation),
        ));
    }
    if relaxations.is_empty() {
        let names: Vec<String> = hard.iter().map(|name| name.replace('_', " ")).collect();
        asked.details.push(RequestDetail::new("Fixed by you", names.join(", ")));
    }
    asked.choices.push(Choice::new(
        ChoiceAction::AcceptLate,
        "keep it as it is",
        "the plan is shown as late",
    ));
    asked.choices.push(Choice::new(
        ChoiceAction::RequestChanges,
        "request changes",
        "say what should be different",
    ));
    asked.choices.push(abandon_choice());
    asked
}

/// When the plan would end with a change.
fn describe_relaxed_end(relaxation: &ScheduleRelaxation) -> String {
    match relaxation.finish {
        Some(finish) => {
            let day = finish.local_date();
            format!("the plan then ends {}", format_date(day, day))
        }
        None => "the plan is dated again".to_owned(),
    }
}

/// The day on which a schedule ends.
fn describe_end(schedule: &Schedule) -> Option<String> {
    let end = schedule.finish_time()?.local_date();
    Some(format_date(end, schedule.horizon_start.local_date()))
}

fn describe_misfit(schedule: Option<&Schedule>) -> String {
    let late = schedule.map_or(0, |schedule| schedule.lateness_minutes);
    let unplaced: u32 =
        schedule.map_or(0, |schedule| schedule.unplaced.iter().map(|left| left.minutes).sum());
    match (late, unplaced) {
        (0, 0) => "The plan does not fit into your hours.".to_owned(),
        (0, minutes) => {
            format!("{} of work fits nowhere before the end.", format_planned(minutes.into()))
        }
        (_, _) => match schedule.and_then(describe_end) {
            Some(end) => format!("It would end {end}, after the deadline."),
            None => "It would end after the deadline.".to_owned(),
        },
    }
}
