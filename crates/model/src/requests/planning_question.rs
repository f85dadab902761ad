//! What planning asks before it drafts: missing facts, the goal, and new subtypes or patterns.

use super::{abandon_choice, ideas_choice, new_request};
use crate::request::RequestDetail;
use crate::{Choice, ChoiceAction, PlanQuestion, Request, RequestId, RequestKind};

/// Facts that are missing.
pub fn questions_request(id: RequestId, questions: &[PlanQuestion]) -> Request {
    let question = match questions {
        [only] => only.text.clone(),
        _ => format!("{} questions before the draft", questions.len()),
    };
    let mut asked = new_request(
        id,
        RequestKind::Questions { questions: questions.to_vec() },
        question,
        "the answer changes how large the plan is; what you skip is assumed and listed",
    );
    if questions.len() > 1 {
        for (number, question) in (1..).zip(questions) {
            let label = format!("{number}");
            asked.details.push(RequestDetail::new(&label, question.text.clone()));
        }
    }
    for question in questions {
        let text = format!("{}: {}", question.key, question.assumed);
        asked.details.push(RequestDetail::new("assumed", text));
    }
    asked.choices = vec![
        Choice::new(ChoiceAction::Reply, "answer", "the draft uses what you say"),
        Choice::new(ChoiceAction::SkipQuestions, "skip", "the assumed values are used and listed"),
        ideas_choice(),
        abandon_choice(),
    ];
    asked
}

/// There is no goal yet.
pub fn goal_request(id: RequestId) -> Request {
    let (question, why) = ("What do you want to get done?", "there is no goal yet");
    let mut asked = new_request(id, RequestKind::Goal, question, why);
    asked.choices = vec![
        Choice::new(ChoiceAction::Reply, "say the goal", "planning begins with it"),
        abandon_choice(),
    ];
    asked
}

/// Whether a new subtype may be used.
pub fn subtype_rfc_request(id: RequestId, subtype: &str, nearest: &str, reason: &str) -> Request {
    let kind = RequestKind::Rfc {
        subtype: subtype.to_owned(),
        nearest: nearest.to_owned(),
        pattern: false,
    };
    let question = format!("Use the new subtype \"{subtype}\"?");
    let mut asked = new_request(id, kind, question, format!("nearest known pattern: {nearest}"));
    asked.details.push(RequestDetail::new("reason", reason));
    asked.choices = vec![
        Choice::new(
            ChoiceAction::Approve,
            "approve",
            format!("{subtype} joins your list of subtypes"),
        ),
        Choice::new(ChoiceAction::Decline, "decline", format!("the plan follows {nearest}")),
        Choice::new(
            ChoiceAction::RequestChanges,
            "propose changes",
            "say what the subtype should be",
        ),
        abandon_choice(),
    ];
    asked
}

/// A whole new pattern: it is recorded for whoever writes templates, and this plan uses the nearest one there is.
pub fn pattern_rfc_request(id: RequestId, name: &str, nearest: &str, reason: &str) -> Request {
    let kind =
        RequestKind::Rfc { subtype: name.to_owned(), nearest: nearest.to_owned(), pattern: true };
    let question = format!("Record the new pattern \"{name}\"?");
    let mut asked =
        new_request(id, kind, question, format!("this plan follows {nearest} either way"));
    asked.details.push(RequestDetail::new("reason", reason));
    asked.choices = vec![
        Choice::new(ChoiceAction::Approve, "approve", "recorded for a template to be written"),
        Choice::new(ChoiceAction::Decline, "decline", "nothing is recorded"),
        abandon_choice(),
    ];
    asked
}
