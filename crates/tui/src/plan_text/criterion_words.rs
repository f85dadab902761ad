//! What a task's criteria say, in words.

use planwright_model::ExitCriterion;
use planwright_model::task::CriterionEffect;

/// What it means when a criterion is met.
fn criterion_effect(criterion: &ExitCriterion) -> CriterionEffect {
    match criterion {
        ExitCriterion::Text { on, .. }
        | ExitCriterion::FileExists { on, .. }
        | ExitCriterion::Command { on, .. }
        | ExitCriterion::JsonPath { on, .. }
        | ExitCriterion::Judged { on, .. } => *on,
    }
}

fn criterion_words(criterion: &ExitCriterion) -> String {
    match criterion {
        ExitCriterion::Text { text, .. } | ExitCriterion::Judged { text, .. } => text.clone(),
        ExitCriterion::FileExists { path, .. } => format!("{path} exists"),
        ExitCriterion::Command { command, .. } => format!("{command} succeeds"),
        ExitCriterion::JsonPath { path, equals, .. } => format!("{path} is {equals}"),
    }
}

/// The criteria that make a task done, or those that make it failed.
pub(crate) fn criteria_words(
    criteria: &[ExitCriterion],
    effect: CriterionEffect,
) -> impl Iterator<Item = String> {
    criteria.iter().filter(move |one| criterion_effect(one) == effect).map(criterion_words)
}
