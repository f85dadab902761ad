//! Wishes about the plan as a whole: leaner, more thorough, or one of the options by its name.

use crate::offline::Way;

use super::phrase::{after, before};

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

/// Reads a wish about the whole plan.
pub(super) fn read(text: &str) -> Option<Way> {
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
    let text = after(text, &OPENINGS).unwrap_or(text);
    let text = after(text, &["a bit", "a little", "much"]).unwrap_or(text).to_lowercase();
    if LEANER.contains(&text.as_str()) {
        return Some(Way::Lean);
    }
    if FULLER.contains(&text.as_str()) {
        return Some(Way::Thorough);
    }
    let named = after(&text, &["take the", "use the", "pick the", "choose the", "the"])?;
    let named = before(named, &["option", "way", "plan", "one", "variant"])?;
    Way::ALL.into_iter().find(|way| way.id() == named)
}
