//! Fills in the stated and missing facts of a goal, and lists every value that the person did not state.

mod answers;
mod counts;
mod days;
mod hours;
mod rhythm;

use jiff::civil::Date;

use planwright_model::{Assumption, AssumptionOrigin, PlanCalendar, PlanContext};

use super::blueprint::Blueprint;
use super::goal::{CalendarRegion, Goal, GoalParseContext};
use super::{span, stated_days, usual_hours};
use answers::fill_remarks;
pub(crate) use counts::counts_noun;
use counts::fill_counts;
pub(super) use counts::stated_rounds;
use days::{at_time_of_day, fill_dates, working_day_end};
pub(super) use days::{can_lengthen_span, extend_past_day, lengthen_span};
pub(crate) use hours::describe_hours;
pub(super) use hours::{LEAST_WEEKLY, daily_minutes, fill_hours, raise_daily_limit, raise_hours};
use hours::{fill_stated_hours, fill_stated_times, fill_stated_weekdays};
use rhythm::fill_cadence;
pub(super) use rhythm::{default_time_of_day, goal_cadence};

pub(super) const HORIZON: &str = "horizon_weeks";
pub(super) const WEEKLY: &str = "weekly_minutes";
pub(super) const OCCURRENCE: &str = "occurrence_minutes";
pub(super) const CADENCE: &str = "cadence";
pub(super) const LEVEL: &str = "level";
pub(super) const AT: &str = "at_local";

/// The day of the thing itself.
pub(super) const DAY: &str = "day";

/// Parses the goal of a context as of its first day.
pub(super) fn read_goal(context: &PlanContext, today: Date) -> Goal {
    let days = context.calendar.working.values().filter(|hours| !hours.is_empty()).count() as u16;
    let region = CalendarRegion::from_calendar(&context.calendar);
    let today = GoalParseContext::new(today, days.max(1)).in_region(region);
    Goal::parse(&context.goal_text, today)
}

/// Fills the dates, counts and rhythms of the context from the goal and the blueprint. Values that a blueprint filled
/// in before are recomputed.
pub(super) fn fill_context(
    mut context: PlanContext,
    goal: &Goal,
    file: &Blueprint,
    notes: &mut Vec<String>,
) -> PlanContext {
    clear_assumed(&mut context);
    fill_stated_times(&mut context, goal, Some(file));
    fill_stated_weekdays(&mut context, goal, file);
    usual_hours::assume_usual_hours(&mut context, goal, file);
    stated_days::open_stated_days(&mut context, goal, Some(file));
    stated_days::start_with_window(&mut context, goal, file);
    fill_stated_hours(&mut context, goal, file);
    fill_dates(&mut context, goal, file, notes);
    stated_days::fill_days_off(&mut context, goal, file);
    fill_counts(&mut context, goal, file);
    fill_cadence(&mut context, goal, file);
    fill_remarks(&mut context, goal, file, notes);
    let start = context.constraints.start.to_string();
    add_assumption(&mut context, "start", &start, None);
    let zone = context.calendar.tz.clone();
    add_assumption(&mut context, "tz", &zone, None);
    let hours = describe_hours(&context.calendar);
    add_assumption(&mut context, "working", &hours, None);
    context
}

/// Fills the context of a plan without a blueprint: what the goal states, and eight weeks if it states no end.
pub(super) fn fill_plain_context(
    mut context: PlanContext,
    goal: &Goal,
    notes: &mut Vec<String>,
) -> PlanContext {
    clear_assumed(&mut context);
    fill_stated_times(&mut context, goal, None);
    stated_days::open_stated_days(&mut context, goal, None);
    let limits = &mut context.constraints;
    if let (None, Some(date)) = (limits.deadline, goal.last_day()) {
        let end = working_day_end(&context.calendar, date, notes);
        let at = goal.due_time.map(|time| at_time_of_day(end, date, time));
        limits.deadline = Some(at.unwrap_or(end));
    }
    limits.weekly_minutes = limits.weekly_minutes.or(goal.weekly_minutes);
    limits.horizon_weeks = limits.horizon_weeks.or(goal.horizon_weeks);
    if limits.deadline.is_none() && limits.horizon_weeks.is_none() {
        limits.horizon_weeks = Some(PLAIN_WEEKS);
        add_assumption(&mut context, HORIZON, &PLAIN_WEEKS.to_string(), None);
    }
    if context.constraints.weekly_minutes.is_none() {
        let minutes = (2 * LEAST_WEEKLY).min(span::weekly_capacity(&context).max(60));
        context.constraints.weekly_minutes = Some(minutes);
        add_assumption(&mut context, WEEKLY, &minutes.to_string(), None);
    }
    let zone = context.calendar.tz.clone();
    add_assumption(&mut context, "tz", &zone, None);
    context
}

/// The weeks that a plan of the person's own steps has if the goal states none.
const PLAIN_WEEKS: u16 = 8;

fn clear_assumed(context: &mut PlanContext) {
    let assumed = |context: &PlanContext, key: &str| {
        context.find_assumption(key).is_some_and(|found| found.origin == AssumptionOrigin::Template)
    };
    if assumed(context, HORIZON) {
        context.constraints.horizon_weeks = None;
    }
    if assumed(context, WEEKLY) {
        context.constraints.weekly_minutes = None;
    }
    if assumed(context, "working") && usual_hours::has_usual_hours(context) {
        context.calendar.working = PlanCalendar::new("UTC").working;
    }
    stated_days::clear_assumed_days(context);
    context.assumptions.retain(|assumption| assumption.origin != AssumptionOrigin::Template);
}

pub(super) fn add_assumption(
    context: &mut PlanContext,
    key: &str,
    value: &str,
    question: Option<String>,
) {
    if context.find_assumption(key).is_none() {
        let origin = AssumptionOrigin::Template;
        context.assumptions.push(Assumption {
            key: key.to_owned(),
            value: value.to_owned(),
            origin,
            question,
        });
    }
}

/// Keeps a value that the person stated.
fn set_stated(context: &mut PlanContext, key: &str, value: &str) {
    if context.find_assumption(key).is_none() {
        context.assumptions.push(Assumption {
            key: key.to_owned(),
            value: value.to_owned(),
            origin: AssumptionOrigin::User,
            question: None,
        });
    }
}
