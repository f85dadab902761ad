//! A stage of planning that is not sure enough, breaks rules, or got nothing usable from the model.

use super::{abandon_choice, cause_sentence, idea_details, ideas_choice, new_request};
use crate::request::RequestDetail;
use crate::{
    Choice, ChoiceAction, Confidence, Request, RequestId, RequestKind, Stage, StageAssessment,
};

/// How many findings a card names.
const FINDINGS_SHOWN: usize = 3;

/// A stage whose draft is not good enough.
#[derive(Clone, Copy, Debug)]
pub struct StageTrouble<'a> {
    pub stage: Stage,
    pub assessment: Option<&'a StageAssessment>,
    /// What went wrong, where more is known than the assessment.
    pub trouble: Option<&'a str>,
    /// Ideas that were offered.
    pub ideas: &'a [String],
    /// Whether the session already drafts without a model.
    pub is_offline: bool,
}

/// A model that could not draft a stage.
#[derive(Clone, Copy, Debug)]
pub struct ModelFailure<'a> {
    pub stage: Stage,
    /// The provider or model that drafts.
    pub drafter: &'a str,
    pub why: &'a str,
    /// Whether there is a draft that could be edited.
    pub has_draft: bool,
}

/// A stage is not sure enough of its result.
pub fn low_confidence_request(id: RequestId, trouble: &StageTrouble<'_>) -> Request {
    let stage = trouble.stage;
    let mut asked = new_request(
        id,
        RequestKind::LowConfidence { stage },
        format!("The {} is a guess in places. How should planning continue?", stage.as_str()),
        "Nothing in it is wrong, but too much was assumed.",
    );
    asked.details.extend(confidence_detail(trouble.assessment));
    asked.details.extend(idea_details(trouble.ideas));
    asked.choices = trouble_choices(trouble.is_offline);
    asked.choices.push(ideas_choice());
    asked
}

/// A stage breaks rules and could not be repaired.
pub fn validation_request(id: RequestId, trouble: &StageTrouble<'_>) -> Request {
    let stage = trouble.stage;
    let mut asked = new_request(
        id,
        RequestKind::Validation { stage },
        format!("The {} has errors. What should change?", stage.as_str()),
        trouble.trouble.unwrap_or("It was fixed and drafted again, and still has errors."),
    );
    for finding in format_findings(trouble.assessment) {
        asked.details.push(RequestDetail::new("Error", finding));
    }
    asked.details.extend(confidence_detail(trouble.assessment));
    asked.choices = trouble_choices(trouble.is_offline);
    asked
}

/// The model that drafts failed. Nothing is drafted without it unless the person says so.
pub fn model_failure_request(id: RequestId, failure: &ModelFailure<'_>) -> Request {
    let ModelFailure { stage, drafter, why, has_draft } = *failure;
    let question =
        format!("{drafter} could not draft the {}. How should planning continue?", stage.as_str());
    let mut asked =
        new_request(id, RequestKind::ModelTrouble { stage }, question, cause_sentence(why));
    asked.choices = vec![
        Choice::new(ChoiceAction::TryAgain, "retry", "the model is asked again"),
        Choice::new(
            ChoiceAction::GoOffline,
            "use the built-in planner",
            "it drafts the rest without a model",
        ),
    ];
    if has_draft {
        asked.choices.push(Choice::new(
            ChoiceAction::Reply,
            "say what to change",
            "the model is asked again with your words",
        ));
        asked.choices.push(edit_best_choice());
    }
    asked.choices.push(abandon_choice());
    asked
}

fn edit_best_choice() -> Choice {
    Choice::new(ChoiceAction::Edit, "edit", "change the best draft so far yourself")
}

fn trouble_choices(is_offline: bool) -> Vec<Choice> {
    let mut choices = vec![
        Choice::new(
            ChoiceAction::Reply,
            "say what to change",
            "the draft is made again with your words",
        ),
        Choice::new(ChoiceAction::TryAgain, "retry", "it is drafted again"),
    ];
    if !is_offline {
        choices.push(Choice::new(
            ChoiceAction::GoOffline,
            "use the built-in planner",
            "it drafts this part without a model",
        ));
    }
    choices.push(edit_best_choice());
    choices.push(abandon_choice());
    choices
}

/// The first broken rules of a stage, each with what would repair it.
pub fn format_findings(assessment: Option<&StageAssessment>) -> Vec<String> {
    assessment
        .into_iter()
        .flat_map(|assessment| &assessment.violations)
        .take(FINDINGS_SHOWN)
        .map(|found| format!("{} {}", found.message, found.suggested_fix))
        .collect()
}

/// How sure a stage is of its result, in a word.
pub fn describe_confidence(confidence: &Confidence) -> &'static str {
    match confidence.value {
        value if value >= 0.85 => "sure",
        value if value >= 0.70 => "fairly sure",
        value if value >= 0.50 => "unsure: parts of it are guesses",
        _ => "low: most of it is a guess",
    }
}

pub(super) fn confidence_detail(assessment: Option<&StageAssessment>) -> Option<RequestDetail> {
    let confidence = &assessment?.confidence;
    Some(RequestDetail::new("Confidence", describe_confidence(confidence)))
}
