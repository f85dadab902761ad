//! The requests Planwright asks, with their texts and choices: one file per family.
//!
//! Every constructor is a pure function of plain data. Whoever asks derives that data from a session, a tool call or the
//! configuration; the words are the same for the engine, the screens, `--plain`, `answer` and tests.

mod agent_question;
mod answer_words;
mod applied_check;
mod assumed_values;
mod call_in_doubt;
mod candidate_choice;
mod change_review;
mod command_permission;
mod draft_approval;
mod earlier_words;
mod kind_choice;
mod own_agent;
mod plan_approval;
mod planning_limit;
mod planning_question;
mod planning_trouble;
mod provider_consent;
mod run_cap;
#[cfg(any(test, feature = "fixtures"))]
pub mod samples;
mod submitted_plan;
mod task_limit;
#[cfg(test)]
mod tests;
mod tool_permission;

pub use agent_question::{AgentInquiry, PartialWork, agent_question_request, partly_done_request};
pub use answer_words::RESERVED_QUESTION_KEYS;
pub use applied_check::{AppliedCheckReview, applied_check_request};
use assumed_values::describe_setting;
pub use assumed_values::{describe_assumption, describe_question_key};
pub use call_in_doubt::{CallEvidence, CallInDoubt, InDoubtAction, in_doubt_request};
pub use candidate_choice::{
    CandidateComparison, TriedCandidate, candidate_choice_request, parse_numbered_words,
};
pub use change_review::{ChangeReview, change_review_request, files_with_conflict_markers};
pub use command_permission::{
    CommandAskReason, CommandPlacement, CommandQuestion, command_request,
};
pub use draft_approval::{DraftEvidence, describe_option_difference, draft_request};
pub use earlier_words::action_by_earlier_word;
pub use kind_choice::{KIND_QUESTION, OfferedKind, SOMETHING_ELSE, kind_question, offered_kinds};
pub use own_agent::{agent_silent_request, session_lost_request};
pub use plan_approval::{
    ProposedPlan, final_plan_request, planned_request, unchanged_plan_request, widening_detail,
};
pub use planning_limit::{
    budget_request, describe_planning_cap, escalation_request, planning_cap_request,
};
pub use planning_question::{
    goal_request, is_long_goal, pattern_rfc_request, questions_request, shorten_goal,
    subtype_rfc_request,
};
pub use planning_trouble::{
    ModelFailure, StageTrouble, describe_confidence, format_findings, low_confidence_request,
    model_failure_request, validation_request,
};
pub use provider_consent::consent_request;
pub use run_cap::{OfflineOutlook, ReachedCap, TaskSpending, cap_request, with_cap_amount};
pub use submitted_plan::{
    DeskPermissionQuestion, DeskQuestionInWords, desk_permission_request, desk_question_request,
    submitted_plan_request,
};
pub use task_limit::task_limit_request;
pub use tool_permission::{AskReason, ToolCallQuestion, permission_request};

use super::request::RequestDetail;
use super::{Choice, ChoiceAction, Request, RequestId, RequestKind};

/// A request without evidence and choices; its constructor adds them.
/// What happened, as a sentence, without the advice behind it: on a card the choices are the advice.
fn cause_sentence(why: &str) -> String {
    let cause = ["; raise the limit", "; try again"]
        .iter()
        .find_map(|advice| why.split_once(advice))
        .map_or(why, |(cause, _)| cause)
        .trim_end_matches('.');
    // The name of a model stays as it is written.
    match cause.strip_prefix("the ") {
        Some(rest) => format!("The {rest}."),
        None => format!("{cause}."),
    }
}

fn new_request(
    id: RequestId,
    kind: RequestKind,
    question: impl Into<String>,
    why: impl Into<String>,
) -> Request {
    Request {
        id,
        kind,
        question: question.into(),
        why: why.into(),
        verbatim: Vec::new(),
        details: Vec::new(),
        choices: Vec::new(),
        task: None,
        ideas: Vec::new(),
        unread: None,
    }
}

/// Ends planning; offered on every request of planning but the one about money, which words it as *stop*.
fn abandon_choice() -> Choice {
    Choice::new(ChoiceAction::Abandon, "discard", "asks first, can be undone")
}

fn ideas_choice() -> Choice {
    Choice::new(ChoiceAction::Ideas, "ideas", "other ways to begin; asks again")
}

/// Ideas that were offered, as rows of a card.
fn idea_details(ideas: &[String]) -> impl Iterator<Item = RequestDetail> {
    ideas.iter().map(|idea| RequestDetail::new("Idea", idea.clone()))
}

/// How to continue without a task, or not at all.
fn skip_or_stop_choices(dependents: usize) -> [Choice; 3] {
    [
        Choice::new(
            ChoiceAction::SkipAlone,
            "skip this task",
            "what needs it continues without it",
        ),
        Choice::new(
            ChoiceAction::SkipWithDependents,
            "skip it and what needs it",
            match dependents {
                1 => "1 task is skipped with it".to_owned(),
                _ => format!("{dependents} tasks are skipped with it"),
            },
        ),
        Choice::new(
            ChoiceAction::Stop,
            "stop the run",
            "nothing new starts; the question stays open",
        ),
    ]
}
