//! What planning asks before it drafts: missing facts, the goal, and new subtypes or patterns.

use std::fmt::Write as _;

use super::{KIND_QUESTION, abandon_choice, ideas_choice, new_request};
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
        match questions {
            [only] => why_asked(only),
            _ => "What you skip is assumed and listed.".to_owned(),
        },
    );
    if questions.len() > 1 {
        for (number, question) in (1..).zip(questions) {
            let label = format!("{number}");
            asked.details.push(RequestDetail::new(&label, question.text.clone()));
        }
    }
    for question in questions.iter().filter(|question| !question.assumed.is_empty()) {
        asked.details.push(RequestDetail::new("If skipped", question.assumed_words()));
    }
    asked.choices = vec![Choice::new(ChoiceAction::Reply, "answer", "the draft uses your answer")];
    // What nobody can assume cannot be skipped.
    if questions.iter().all(|question| !question.assumed.is_empty()) {
        asked.choices.push(Choice::new(
            ChoiceAction::SkipQuestions,
            "skip",
            "the plan assumes a value and says so",
        ));
    }
    asked.choices.extend([ideas_choice(), abandon_choice()]);
    asked
}

/// What the answer changes, and what stands in for it.
fn why_asked(question: &PlanQuestion) -> String {
    if question.key == KIND_QUESTION {
        return "No kind fits well, so a draft would be a guess. Which of these is closest?"
            .to_owned();
    }
    let mut why = question.changes.clone();
    if !question.assumed.is_empty() {
        let gap = if why.is_empty() { "" } else { " " };
        let _ = write!(why, "{gap}Without an answer: {}.", question.assumed_words());
    }
    why
}

/// The beginning of a goal, for a question about it.
pub fn shorten_goal(goal: &str) -> String {
    const MAX_CHARS: usize = 40;
    match goal.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", goal[..end].trim_end()),
        None => goal.to_owned(),
    }
}

/// The characters of a goal from which on the built-in planner asks for a sentence instead of guessing.
const LONG_GOAL_CHARS: usize = 1000;

/// Whether a goal is a page rather than a sentence.
pub fn is_long_goal(goal: &str) -> bool {
    goal.chars().nth(LONG_GOAL_CHARS).is_some()
}

/// There is no goal yet, or one that says too little or too much.
pub fn goal_request(id: RequestId, unclear: &str) -> Request {
    let (question, why) = if unclear.is_empty() {
        ("What do you want to get done?".to_owned(), "There is no goal yet.".to_owned())
    } else if is_long_goal(unclear) {
        (
            "What is the goal in one sentence?".to_owned(),
            "The text is too long to read without a model. Details can follow as change requests."
                .to_owned(),
        )
    } else {
        (
            format!("What should be different when \"{}\" is done?", shorten_goal(unclear)),
            "The goal says too little to plan. One sentence is enough, such as \"run 5 km by June\"."
                .to_owned(),
        )
    };
    let mut asked = new_request(id, RequestKind::Goal, question, why);
    asked.choices = vec![
        Choice::new(ChoiceAction::Reply, "type the goal", "planning starts with it"),
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
    let question = format!("Keep \"{}\" as a kind of plan?", subtype.replace('_', " "));
    let mut asked = new_request(
        id,
        kind,
        question,
        format!("It is not a known kind. The nearest one is {nearest}."),
    );
    asked.details.push(RequestDetail::new("Reason", reason));
    asked.choices = vec![
        Choice::new(
            ChoiceAction::Approve,
            "keep it",
            "this plan uses it, and it joins your kinds of plans",
        ),
        Choice::new(
            ChoiceAction::Decline,
            "no, use the nearest",
            format!("the plan is drafted as {nearest}"),
        ),
        Choice::new(ChoiceAction::RequestChanges, "request changes", "say what kind of plan it is"),
        abandon_choice(),
    ];
    asked
}

/// A whole new pattern: it is recorded for whoever writes templates, and this plan uses the nearest one there is.
pub fn pattern_rfc_request(id: RequestId, name: &str, nearest: &str, reason: &str) -> Request {
    let kind =
        RequestKind::Rfc { subtype: name.to_owned(), nearest: nearest.to_owned(), pattern: true };
    let question = format!("Suggest \"{}\" as a new kind of plan?", name.replace('_', " "));
    let mut asked =
        new_request(id, kind, question, format!("This plan is drafted as {nearest} either way."));
    asked.details.push(RequestDetail::new("Reason", reason));
    asked.choices = vec![
        Choice::new(
            ChoiceAction::Approve,
            "suggest it",
            "it is noted for a template to be written",
        ),
        Choice::new(ChoiceAction::Decline, "no", "nothing is noted"),
        abandon_choice(),
    ];
    asked
}
