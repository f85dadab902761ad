//! The kinds of plan that a person can choose from, in plain words.

use serde::{Deserialize, Serialize};

use crate::{
    Choice, ChoiceAction, PatternChoice, PatternSpec, PatternType, PlanQuestion, QuestionChoice,
};

/// The key of the question about the kind of plan.
pub const KIND_QUESTION: &str = "kind";
/// The answer that no kind is right: the person writes the steps.
pub const SOMETHING_ELSE: &str = "something else";

/// A kind of plan that is offered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OfferedKind {
    pub pattern: PatternSpec,
    /// What such a plan consists of.
    pub content: String,
}

/// The kinds that were offered before plans were drafted from blueprints, in the order of their list.
const BROAD_KINDS: [(PatternType, &str, &str); 9] = [
    (
        PatternType::RecurringCycle,
        "habit",
        "something small several times a week, with a weekly check",
    ),
    (PatternType::ProgressiveAccumulationArc, "training_arc", "weeks that build up to a date"),
    (PatternType::MilestoneProject, "generic", "phases with a result at the end"),
    (PatternType::MilestoneProject, "event", "a date, a place, guests"),
    (
        PatternType::ProgressiveAccumulationArc,
        "learning_arc",
        "learn something step by step, with practice",
    ),
    (PatternType::MilestoneProject, "writing", "research, outline, draft, revise"),
    (PatternType::MilestoneProject, "build", "design, build, test, ship"),
    (PatternType::MilestoneProject, "launch", "prepare, find readers or users, announce"),
    (PatternType::MilestoneProject, "purchase", "compare, decide, carry out"),
];

/// The kinds that a choice of the person's counts in: those that fit the goal, or else the broad ones.
pub fn offered_kinds(choice: Option<&PatternChoice>) -> Vec<OfferedKind> {
    match choice {
        Some(choice) if !choice.others.is_empty() => choice.others.clone(),
        _ => BROAD_KINDS
            .into_iter()
            .map(|(pattern, subtype, content)| OfferedKind {
                pattern: PatternSpec::with_subtype(pattern, subtype),
                content: content.to_owned(),
            })
            .collect(),
    }
}

/// The kinds other than the one shown, as choices.
pub(super) fn kind_choices(choice: Option<&PatternChoice>) -> Vec<Choice> {
    let shown = choice.map(|choice| &choice.pattern);
    let differs =
        |kind: &OfferedKind| shown.is_none_or(|shown| !shown.is_same_pattern(&kind.pattern));
    (1u8..)
        .zip(offered_kinds(choice))
        .filter(|(_, kind)| differs(kind))
        .map(|(number, kind)| {
            let label = kind.pattern.kind_noun();
            Choice::new(ChoiceAction::PickKind(number), &label, kind.content)
        })
        .collect()
}

/// The question about the kind of plan. `assumed` is the kind that is taken if nobody answers; none if nobody can say.
pub fn kind_question(kinds: &[OfferedKind], assumed: Option<&PatternSpec>) -> PlanQuestion {
    let mut choices: Vec<QuestionChoice> = kinds
        .iter()
        .filter(|kind| !kind.pattern.is_own_steps())
        .map(|kind| {
            let taken = assumed.is_some_and(|assumed| assumed.is_same_pattern(&kind.pattern));
            let effect = if taken {
                format!("{}; assumed if you skip", kind.content)
            } else {
                kind.content.clone()
            };
            QuestionChoice { answer: kind.pattern.kind_label(), effect }
        })
        .collect();
    choices.push(QuestionChoice {
        answer: SOMETHING_ELSE.to_owned(),
        effect: "you write the steps, and they get dates".to_owned(),
    });
    PlanQuestion {
        key: KIND_QUESTION.to_owned(),
        text: "What kind of plan is this?".to_owned(),
        assumed: assumed.map(PatternSpec::kind_label).unwrap_or_default(),
        changes: "The kind decides the phases.".to_owned(),
        choices,
    }
}
