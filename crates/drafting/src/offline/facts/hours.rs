//! The hours of a plan: those that the goal states, and those that are assumed for the rest.

use planwright_model::{
    Assumption, AssumptionOrigin, PatternType, PlanCalendar, PlanContext, Weekday,
};

use super::super::blueprint::{Blueprint, BlueprintSizing};
use super::super::goal::Goal;
use super::super::{span, usual_hours};
use super::answers::move_remarks_last;
use super::{LEVEL, WEEKLY, add_assumption};
use crate::change_requests::{ContextChange, apply_context_change};
use crate::fact_reading::beside_sessions;
use crate::own_hours::describe_weekly_hours;
use crate::working_slots::{WorkingSlot, join_words};
use planwright_plan::sizing;

/// Assumes hours that suffice for the work, if the person states none. They decide dates, never the effort.
pub(in super::super) fn fill_hours(
    context: &mut PlanContext,
    file: &Blueprint,
    needed: u32,
    total: u32,
) {
    let limits = &mut context.constraints;
    if let (Some(stated), Some(all)) =
        (limits.weekly_minutes, limits.all_plans_weekly_minutes.as_mut())
    {
        *all = stated.max(*all);
    }
    if !file.is_routine() && context.constraints.weekly_minutes.is_none() {
        // Weeks of training do not begin on Mondays, so a week of the calendar may hold parts of two.
        let rhythm = file.weekly.as_ref().map_or(0, |weekly| *weekly.get_ref());
        let rhythm = match file.sizing {
            BlueprintSizing::Training => rhythm + rhythm / 3,
            BlueprintSizing::Tasks => rhythm,
        };
        // Rounds that wait for a holiday share a week with the next one.
        let spare = if file.cycles.is_empty() { needed / 5 } else { needed / 2 };
        let roomy = needed.saturating_add(spare);
        let least = total.clamp(60, LEAST_WEEKLY);
        let pace = file.pace.unwrap_or(0);
        let minutes = rhythm.max(roomy).max(least).max(pace).div_ceil(60) * 60;
        let minutes = minutes.min(span::weekly_capacity(context).max(60));
        if let Some(own) = own_weekly_minutes(context).filter(|own| *own <= minutes) {
            context.constraints.weekly_minutes = Some(own);
            let (key, value) = (WEEKLY.to_owned(), own.to_string());
            let origin = AssumptionOrigin::Memory;
            context.assumptions.push(Assumption { key, value, origin, question: None });
        } else {
            context.constraints.weekly_minutes = Some(minutes);
            // Something small is not worth a question.
            let asks = !file.small && needed > 120;
            let question = asks.then(|| "How many hours a week can you give it?".to_owned());
            add_assumption(context, WEEKLY, &minutes.to_string(), question);
        }
    }
    if !file.is_routine() {
        raise_daily_limit(context, 0);
    }
    move_remarks_last(context, file);
    if file.pattern == PatternType::ProgressiveAccumulationArc {
        add_assumption(context, LEVEL, "beginner", None);
    }
}

/// Raises the assumed hours by an hour a week. Returns whether that was possible.
pub(in super::super) fn raise_hours(context: &mut PlanContext) -> bool {
    let most = span::weekly_capacity(context);
    let Some(found) = context
        .assumptions
        .iter_mut()
        .find(|found| found.key == WEEKLY && found.origin == AssumptionOrigin::Template)
    else {
        return false;
    };
    let now = context.constraints.weekly_minutes.unwrap_or(0);
    if now + 60 > most {
        return false;
    }
    let raised = now + 60;
    context.constraints.weekly_minutes = Some(raised);
    found.value = raised.to_string();
    true
}

/// The hours a week that are assumed at least for anything that is not small.
pub(in super::super) const LEAST_WEEKLY: u32 = 300;

/// Whoever runs on Tuesdays and Sundays runs in the evening on Tuesdays.
fn private_slots(slot: &WorkingSlot, private: bool) -> Vec<WorkingSlot> {
    let weekend = |day: &Weekday| matches!(day, Weekday::Sat | Weekday::Sun);
    if !private || slot.part.is_some() || slot.days.is_empty() || slot.days.iter().all(weekend) {
        return vec![slot.clone()];
    }
    let (free, working): (Vec<Weekday>, Vec<Weekday>) =
        slot.days.iter().partition(|day| weekend(day));
    let evening = Some(crate::change_requests::DayPart::Evening);
    let slots =
        [WorkingSlot { days: working, part: evening }, WorkingSlot { days: free, part: None }];
    slots.into_iter().filter(|slot| !slot.days.is_empty()).collect()
}

/// Takes start and working times from the goal, unless the person stated others since, and keeps what else it states.
pub(super) fn fill_stated_times(context: &mut PlanContext, goal: &Goal, file: Option<&Blueprint>) {
    if let Some(start) = goal.start
        && context.find_assumption("start").is_none()
    {
        apply_context_change(context, &ContextChange::Start(start));
    }
    // The goal counts for more than the person's usual hours.
    let stated = |found: &Assumption| found.origin == AssumptionOrigin::User;
    if !goal.working_times.is_empty() && !context.find_assumption("working").is_some_and(stated) {
        let private = file.is_some_and(usual_hours::is_private);
        let slots = goal.working_times.iter().flat_map(|slot| private_slots(slot, private));
        apply_context_change(context, &ContextChange::OnlyAt(slots.collect()));
    }
    if !goal.weekdays_off.is_empty() {
        apply_context_change(context, &ContextChange::NotOn(goal.weekdays_off.clone()));
    }
    let quantities = &goal.quantities;
    let companions = Some(join_words(&goal.companions)).filter(|names| !names.is_empty());
    let stated = [
        ("companions", companions),
        ("people", quantities.people.as_ref().map(ToString::to_string)),
        ("budget", quantities.money.as_ref().map(ToString::to_string)),
        ("place", quantities.place.clone()),
    ];
    for (key, value) in stated {
        let Some(value) = value.filter(|_| context.find_assumption(key).is_none()) else {
            continue;
        };
        let origin = AssumptionOrigin::User;
        context.assumptions.push(Assumption { key: key.to_owned(), value, origin, question: None });
    }
    for (from, to) in &goal.absences {
        apply_context_change(context, &ContextChange::DaysOff { from: *from, to: *to });
    }
    if !goal.assumed_dates.is_empty() {
        add_assumption(context, "date", &goal.assumed_dates.join(", "), None);
    }
    if let Some(season) = goal.season {
        add_assumption(context, "season", season, None);
    }
}

/// A course on "Mon, Wed & Fri" has these days; a routine has them as its rhythm.
pub(super) fn fill_stated_weekdays(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
    let days = goal.cadence.as_ref().map(|cadence| cadence.on.as_slice()).unwrap_or_default();
    let stated = |found: &Assumption| found.origin == AssumptionOrigin::User;
    // "twice a week" names no days.
    let days = if goal.names_weekdays() { days } else { &[] };
    if file.pattern != PatternType::ProgressiveAccumulationArc
        || days.is_empty()
        || !goal.working_times.is_empty()
        || context.find_assumption("working").is_some_and(stated)
    {
        return;
    }
    let private = usual_hours::is_private(file);
    let slot = WorkingSlot {
        days: days.iter().map(|day| Weekday::from(*day)).collect(),
        part: private.then_some(crate::change_requests::DayPart::Evening),
    };
    apply_context_change(context, &ContextChange::OnlyAt(vec![slot]));
}

/// Takes the hours that the goal states: a week's, or those of a rhythm.
pub(super) fn fill_stated_hours(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
    // A routine takes the time of its tasks.
    if file.is_routine() {
        return;
    }
    // Sessions of a stated length leave time for what is not a session.
    let by_rhythm = || {
        let times = goal.cadence.as_ref()?.per_week();
        let sessions = (f64::from(goal.occurrence_minutes?) * times).round() as u32;
        Some(beside_sessions(sessions))
    };
    // In private life every day has its minutes, the weekend too. A course fits all of itself into them.
    let course = file.pattern == PatternType::ProgressiveAccumulationArc;
    let every_day = goal
        .occurrence_minutes
        .filter(|_| goal.is_daily && usual_hours::is_private(file) && goal.working_times.is_empty())
        .map(|minutes| minutes * 7)
        .map(|sessions| if course { sessions } else { beside_sessions(sessions) });
    let limits = &mut context.constraints;
    limits.weekly_minutes = limits
        .weekly_minutes
        .or(every_day)
        .or(goal.weekly_minutes)
        .or_else(by_rhythm)
        .filter(|minutes| *minutes > 0);
    if let Some(most) = daily_minutes(goal, file) {
        let limits = &mut context.constraints;
        // Repeated sessions may meet on a day.
        let meets = file.all_tasks().iter().filter(|task| task.every.is_some()).count() > 1;
        limits.max_daily_minutes =
            if meets && goal.day_minutes.is_none() { most + most / 2 } else { most };
        limits.hard.insert("max_daily_minutes".to_owned());
        let blocks = &mut context.user_prefs;
        blocks.min_block_minutes = blocks.min_block_minutes.min(SHORTEST_PIECE);
        blocks.max_block_minutes = most;
    }
}

/// The shortest piece of work of a day with few minutes: what is left beside word cards.
const SHORTEST_PIECE: u32 = 10;

/// The shortest session that something can be learned in.
const SHORTEST_SESSION: u32 = 15;

/// Returns the minutes of each day that the goal states for a course: "20 minutes a day" are not two hours on Mondays,
/// and "an hour every Sunday" is not two.
pub(in super::super) fn daily_minutes(goal: &Goal, file: &Blueprint) -> Option<u32> {
    let course = file.pattern == PatternType::ProgressiveAccumulationArc
        && file.sizing == BlueprintSizing::Tasks;
    let on_days = goal.cadence.as_ref().is_some_and(|rhythm| !rhythm.on.is_empty());
    let sessions = goal.occurrence_minutes.filter(|_| (goal.is_daily || on_days) && course);
    goal.day_minutes.or(sessions).map(|minutes| minutes.max(SHORTEST_SESSION))
}

/// The minutes a week that the person has for plans of their own, where they ever said it.
fn own_weekly_minutes(context: &PlanContext) -> Option<u32> {
    let kept = |found: &Assumption| found.origin == AssumptionOrigin::Memory;
    let hours = context.find_assumption("working").is_some_and(kept);
    let by_hours = hours.then(|| context.calendar.weekly_minutes());
    context.constraints.all_plans_weekly_minutes.into_iter().chain(by_hours).min()
}

/// Hours that the person states must fit into the days, and work into the days before its date, so the daily limit is
/// raised for them, up to the hours of a day.
pub(in super::super) fn raise_daily_limit(context: &mut PlanContext, before_dates: u32) {
    let opened = context.calendar.extra_working.values();
    let lengths = context
        .calendar
        .working
        .values()
        .chain(opened)
        .map(|hours| hours.iter().map(|span| span.duration_minutes()).sum::<u32>());
    let before_dates = before_dates.min(lengths.max().unwrap_or(0));
    let days = context.calendar.working.values().filter(|hours| !hours.is_empty()).count() as u32;
    let limits = &mut context.constraints;
    let needed = limits
        .weekly_minutes
        .unwrap_or(0)
        .div_ceil(days.max(1))
        .max(before_dates)
        .div_ceil(sizing::EFFORT_UNIT_MINUTES)
        * sizing::EFFORT_UNIT_MINUTES;
    if needed > limits.max_daily_minutes && !limits.hard.contains("max_daily_minutes") {
        limits.max_daily_minutes = needed;
        context.assumptions.retain(|known| known.key != "max_daily_minutes");
        add_assumption(context, "max_daily_minutes", &needed.to_string(), None);
    }
}

/// Describes the working hours of an ordinary week.
pub(crate) fn describe_hours(calendar: &PlanCalendar) -> String {
    describe_weekly_hours(&calendar.working)
}
