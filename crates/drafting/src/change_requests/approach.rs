//! Change requests about the entire plan: leaner, more thorough, or one of the options by its name.

use crate::offline::PlanApproach;

use super::phrase::{strip_phrase_prefix, strip_phrase_suffix};

const LEANER: [&str; 30] = [
    "shorter",
    "leaner",
    "lean",
    "smaller",
    "simpler",
    "lighter",
    "less work",
    "less effort",
    "less ambitious",
    "shorten it",
    "shorten the plan",
    "simplify it",
    "simplify the plan",
    "simplify",
    "trim it",
    "trim the plan",
    "cut it down",
    "slim it down",
    "scale it down",
    "reduce the effort",
    "reduce the scope",
    "too long",
    "it is too long",
    "it's too long",
    "too much work",
    "it is too much work",
    "it's too much work",
    "it is too much",
    "it's too much",
    "too big",
];
const FULLER: [&str; 8] = [
    "more thorough",
    "thorough",
    "more careful",
    "more complete",
    "more checks",
    "add checks",
    "add more checks",
    "with more checks",
];

/// Parses a change request about the entire plan.
pub(super) fn parse_approach(text: &str) -> Option<PlanApproach> {
    const OPENINGS: [&str; 8] = [
        "make it",
        "make the plan",
        "make this plan",
        "make this",
        "keep it",
        "i want it",
        "it should be",
        "the plan should be",
    ];
    let text = strip_phrase_prefix(text, &OPENINGS).unwrap_or(text);
    let text =
        strip_phrase_prefix(text, &["a bit", "a little", "much"]).unwrap_or(text).to_lowercase();
    if LEANER.contains(&text.as_str()) {
        return Some(PlanApproach::Lean);
    }
    if FULLER.contains(&text.as_str()) {
        return Some(PlanApproach::Thorough);
    }
    let named =
        strip_phrase_prefix(&text, &["take the", "use the", "pick the", "choose the", "the"])?;
    let named = strip_phrase_suffix(named, &["option", "way", "plan", "one", "variant"])?;
    PlanApproach::ALL.into_iter().find(|approach| approach.id() == named)
}
