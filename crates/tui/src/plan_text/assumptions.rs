//! What a plan takes for granted, in words.

use jiff::civil::Date;

use planwright_model::{Assumption, AssumptionOrigin, PlanContext};
use planwright_state::PlanningSlice;

/// Everything assumed that nobody stated or answered, the most telling first; the zone of the clock is not among it.
pub fn describe_assumptions(
    planning: &PlanningSlice,
    context: &PlanContext,
    today: Date,
) -> Vec<String> {
    // What the person keeps in their settings is theirs, not assumed.
    let stated = |found: &&Assumption| {
        found.origin == AssumptionOrigin::Template
            && found.key != "tz"
            && !planning.answers.contains_key(&found.key)
    };
    let assumed = context.assumptions.iter().filter(stated);
    let mut words: Vec<String> = assumed.map(|found| found.describe(today)).collect();
    // In a row of values a question with its answer reads best at the end.
    words.sort_by_key(|words| words.contains('?'));
    // What the drafter says that the whole plan rests on, in its own words.
    let rests_on = planning.plan_assumptions().iter();
    words.extend(
        rests_on.map(|text| {
            planwright_text::clean_line(text.trim().trim_end_matches('.')).into_owned()
        }),
    );
    words
}
