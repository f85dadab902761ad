//! How often and at which time of day something of a kind happens.

use jiff::ToSpan as _;
use jiff::civil::Time;

use planwright_model::{PatternType, PlanContext, PreferredTime, Weekday};

use super::super::blueprint::{Blueprint, BlueprintRepeatUnit};
use super::super::goal::{CadencePeriod, Goal, GoalCadence};
use super::super::usual_hours;
use super::{AT, CADENCE, OCCURRENCE, add_assumption};

pub(super) fn fill_cadence(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
    if matches!(file.pattern, PatternType::RecurringCycle | PatternType::HybridProjectCycle)
        && goal.cadence.is_none()
        && goal.per_period.is_none()
        && !goal.is_daily
    {
        let words = goal_cadence(goal, file).describe();
        add_assumption(context, CADENCE, &words, Some("How often?".to_owned()));
    }
    if let Some(time) = default_time_of_day(context, goal, file) {
        let time = time.strftime("%H:%M").to_string();
        add_assumption(context, AT, &time, Some("At what time of day?".to_owned()));
    }
    let stated = file.cycles.iter().flat_map(|cycle| &cycle.tasks).find(|task| task.stated);
    if let Some(effort) = stated.and_then(|task| task.effort.as_ref())
        && goal.occurrence_minutes.is_none()
    {
        let minutes = effort.get_ref().likely();
        let question = "How many minutes does it take each time?".to_owned();
        add_assumption(context, OCCURRENCE, &minutes.to_string(), Some(question));
    }
}

/// Returns the time of day of a routine that names a part of the day, or days without working hours: every day includes
/// weekends.
pub(in super::super) fn default_time_of_day(
    context: &PlanContext,
    goal: &Goal,
    file: &Blueprint,
) -> Option<Time> {
    let free = file.cycles.first().is_some_and(|cycle| cycle.at_time.is_none());
    if file.pattern != PatternType::RecurringCycle || goal.at_local.is_some() {
        return None;
    }
    let stated = part_of_day(&context.goal_text);
    if stated.is_some() || !free {
        return stated;
    }
    let working = &context.calendar.working;
    let first = working.values().flatten().map(|hours| hours.start).min();
    let has_hours = |day: &Weekday| working.get(day).is_some_and(|hours| !hours.is_empty());
    let cadence = goal_cadence(goal, file);
    let evening = file.prefer.to_preferred_time() == Some(PreferredTime::Evenings);
    match cadence.every {
        // Evenings begin later than weekends do; a habit has one time.
        CadencePeriod::Day if usual_hours::has_usual_hours(context) => {
            Some(Time::constant(if evening { 20 } else { 8 }, 0, 0, 0))
        }
        // The time before working hours is free.
        CadencePeriod::Day if !Weekday::ALL.iter().all(has_hours) => {
            first.map(|first| first.checked_sub(1.hour()).unwrap_or(first))
        }
        CadencePeriod::Day => None,
        _ => first.filter(|_| cadence.on.iter().any(|day| !has_hours(&Weekday::from(*day)))),
    }
}

/// Returns the approximate time of a part of the day.
fn part_of_day(text: &str) -> Option<Time> {
    let hour = text.split(|c: char| !c.is_alphabetic()).find_map(|word| {
        Some(match word.to_lowercase().as_str() {
            "morning" | "mornings" | "breakfast" => 8,
            "noon" | "midday" | "lunch" | "lunchtime" => 12,
            "afternoon" | "afternoons" => 15,
            "evening" | "evenings" | "dinner" => 19,
            "night" | "nights" | "nightly" | "bedtime" => 21,
            _ => return None,
        })
    });
    Time::new(hour?, 0, 0, 0).ok()
}

/// Returns how often a routine or a round occurs.
pub(in super::super) fn goal_cadence(goal: &Goal, file: &Blueprint) -> GoalCadence {
    let per_period = goal.per_period.as_ref().map(|found| found.period.clone());
    let fallback = match file.pattern {
        // "10 minutes a day".
        PatternType::RecurringCycle if goal.is_daily => GoalCadence::once_per(CadencePeriod::Day),
        _ => usual_cadence(file),
    };
    match file.pattern {
        PatternType::HybridProjectCycle => per_period.or_else(|| goal.cadence.clone()),
        _ => goal.cadence.clone().or(per_period),
    }
    .unwrap_or(fallback)
}

/// Returns the rhythm of a kind: its own, or what is usual for its subtype.
fn usual_cadence(file: &Blueprint) -> GoalCadence {
    let (count, period) = match (file.rhythm, file.subtype.get_ref().as_str()) {
        (Some(rhythm), _) => (rhythm.count, rhythm_period(rhythm.unit)),
        (None, "sprint_cadence") => (2, CadencePeriod::Week),
        (None, "project_per_period") => (1, CadencePeriod::Month),
        (None, _) => (1, CadencePeriod::Week),
    };
    GoalCadence { interval: count, ..GoalCadence::once_per(period) }
}

fn rhythm_period(unit: BlueprintRepeatUnit) -> CadencePeriod {
    match unit {
        BlueprintRepeatUnit::Day => CadencePeriod::Day,
        BlueprintRepeatUnit::Cadence | BlueprintRepeatUnit::Week => CadencePeriod::Week,
        BlueprintRepeatUnit::Period | BlueprintRepeatUnit::Month => CadencePeriod::Month,
        BlueprintRepeatUnit::Quarter => CadencePeriod::Quarter,
        BlueprintRepeatUnit::Year => CadencePeriod::Year,
    }
}
