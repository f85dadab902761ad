//! The hours of a plan of which nobody stated when it happens: office hours for work, evenings and weekends for the rest.

use jiff::civil::time;

use planwright_model::{
    AssumptionOrigin, LocalTimeInterval, PlanCalendar, PlanContext, PreferredTime, Weekday,
    WeeklyHours,
};

use super::blueprint::{Blueprint, BlueprintPreference, BlueprintSizing};
use super::facts;
use super::goal::Goal;
use super::instance::has_office_errands;
use planwright_text::units;

/// Families of what people do outside of their job, where a blueprint has no preference of its own. Their errands to
/// offices, shops and trades are in office hours all the same.
const PRIVATE_FAMILIES: [&str; 13] = [
    "habit",
    "health",
    "household",
    "family",
    "pets",
    "trip",
    "training",
    "learning",
    "creative",
    "finance",
    "exam",
    "renovation",
    "paperwork",
];

/// Returns whether a kind belongs to private life.
pub(super) fn is_private(file: &Blueprint) -> bool {
    match file.prefer {
        BlueprintPreference::OfficeHours => false,
        BlueprintPreference::Any => PRIVATE_FAMILIES.contains(&file.family.as_str()),
        _ => true,
    }
}

/// Words of work beside a job, for which evenings and weekends are left.
const SIDE_WORK: [&str; 7] = [
    "side business",
    "side project",
    "side hustle",
    "side job",
    "hobby project",
    "in my spare time",
    "in my free time",
];

/// Nobody trains or paints a fence in office hours: without stated hours, what is private has the evenings, or the
/// mornings, and the weekend.
pub(super) fn assume_usual_hours(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
    let stated = |found: &planwright_model::Assumption| found.origin != AssumptionOrigin::Template;
    let own_hours = context.find_assumption("working").is_some_and(stated);
    let beside = SIDE_WORK.iter().any(|words| goal.contains_phrase(words));
    if own_hours || !goal.working_times.is_empty() || !(is_private(file) || beside) {
        return;
    }
    let errands = if has_office_errands(file) { OfficeErrands::Some } else { OfficeErrands::None };
    context.calendar.working = private_week(file.prefer.to_preferred_time(), file.sizing, errands);
}

/// Whether a private plan has something to do that is only possible in office hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OfficeErrands {
    None,
    Some,
}

/// Returns when the rest of a private plan is best done if its assumed hours include some for errands to offices:
/// somebody takes off an hour for the bank, not for a run.
pub(super) fn time_beside_errands(
    file: &Blueprint,
    calendar: &PlanCalendar,
) -> Option<PreferredTime> {
    let prefer = file.prefer.to_preferred_time();
    let has_errand_hours = is_private(file)
        && calendar.working == private_week(prefer, file.sizing, OfficeErrands::Some);
    has_errand_hours.then(|| prefer.unwrap_or(PreferredTime::EveningsAndWeekends))
}

/// Returns whether the hours of a plan are those that are assumed for private life.
pub(super) fn has_usual_hours(context: &PlanContext) -> bool {
    let times = [Some(PreferredTime::Mornings), None];
    let sizes = [BlueprintSizing::Training, BlueprintSizing::Tasks];
    let errands = [OfficeErrands::None, OfficeErrands::Some];
    let mut weeks = times.into_iter().flat_map(|time| {
        sizes.into_iter().flat_map(move |sizing| {
            errands.into_iter().map(move |errands| private_week(time, sizing, errands))
        })
    });
    weeks.any(|week| week == context.calendar.working)
}

/// A context in which a plan has more room, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomierContext {
    pub context: PlanContext,
    /// What changed, as a sentence.
    pub summary: String,
}

/// Returns contexts with more room for a plan that does not fit beside the person's other plans, the smallest change
/// first. Only what is assumed gives way: longer evenings, then more weeks, then both.
pub fn roomier_contexts(context: &PlanContext) -> Vec<RoomierContext> {
    let assumed = |key: &str| {
        context.find_assumption(key).is_some_and(|found| found.origin == AssumptionOrigin::Template)
    };
    let wide = (assumed("working") && has_usual_hours(context)).then(|| widen_hours(context));
    let can_last = context.constraints.deadline.is_none() && assumed(facts::HORIZON);
    let weeks = context.constraints.horizon_weeks.filter(|_| can_last);
    let mut found: Vec<RoomierContext> = wide.iter().map(describe_wide).collect();
    let last = wide.as_ref().unwrap_or(context);
    for times in [3, 4, 6, 8] {
        let Some(weeks) = weeks.map(|weeks| (weeks * times / 2).max(weeks + 2)) else { break };
        let mut longer = last.clone();
        if facts::lengthen_span(&mut longer, weeks) {
            let span = units::format_counted(weeks.into(), "week");
            let summary = format!("Your other plans leave little room, so this one has {span}.");
            found.push(RoomierContext { context: longer, summary });
        }
    }
    found
}

fn describe_wide(context: &PlanContext) -> RoomierContext {
    let hours = facts::describe_hours(&context.calendar);
    let summary = format!("Your other plans leave little room, so this one may use {hours}.");
    RoomierContext { context: context.clone(), summary }
}

/// Makes assumed evenings and weekends longer.
fn widen_hours(context: &PlanContext) -> PlanContext {
    let mut wide = context.clone();
    for (day, hours) in &mut wide.calendar.working {
        let weekend = matches!(day, Weekday::Sat | Weekday::Sun);
        let (from, to) = if weekend { (8, 20) } else { (17, 23) };
        let evening = LocalTimeInterval::new(time(from, 0, 0, 0), time(to, 0, 0, 0));
        hours.retain(|span| span.end <= evening.start);
        hours.push(evening);
    }
    let value = facts::describe_hours(&wide.calendar);
    for found in wide.assumptions.iter_mut().filter(|found| found.key == "working") {
        found.value.clone_from(&value);
    }
    wide
}

fn private_week(
    prefer: Option<PreferredTime>,
    sizing: BlueprintSizing,
    errands: OfficeErrands,
) -> WeeklyHours {
    let hours = |from, to| vec![LocalTimeInterval::new(time(from, 0, 0, 0), time(to, 0, 0, 0))];
    let on = |day: Weekday| match (day, sizing) {
        (Weekday::Sat | Weekday::Sun, BlueprintSizing::Training) => hours(9, 14),
        (Weekday::Sat | Weekday::Sun, BlueprintSizing::Tasks) => hours(10, 17),
        _ => {
            // The evening is for what the morning does not hold. Offices and trades are gone by then; somebody has to
            // be there before.
            let morning = prefer == Some(PreferredTime::Mornings);
            let spans = [
                (morning, hours(7, 9)),
                (errands == OfficeErrands::Some, hours(15, 17)),
                (true, hours(18, 21)),
            ];
            spans.into_iter().filter(|(used, _)| *used).flat_map(|(_, span)| span).collect()
        }
    };
    Weekday::ALL.into_iter().map(|day| (day, on(day))).collect()
}
