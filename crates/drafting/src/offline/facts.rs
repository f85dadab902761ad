//! Fills in the stated and missing facts of a goal, and lists every value that the person did not state.

use jiff::ToSpan as _;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use planwright_model::{
    Assumption, AssumptionOrigin, OffsetDateTime, PatternType, PlanCalendar, PlanContext,
    QuestionChoice, Weekday,
};

use super::choices;
use super::goal::{CadencePeriod, CalendarRegion, Goal, GoalCadence, GoalParseContext};
use super::pattern::QUICK;
use super::template::{PeriodSlot, Template, TemplateSizing};
use crate::change_requests::{ContextChange, apply_context_change};
use crate::own_hours::describe_weekly_hours;
use planwright_plan::sizing::{self, HoursOrigin};

pub(super) const HORIZON: &str = "horizon_weeks";
pub(super) const WEEKLY: &str = "weekly_minutes";
pub(super) const OCCURRENCE: &str = "occurrence_minutes";
pub(super) const CADENCE: &str = "cadence";
pub(super) const LEVEL: &str = "level";
pub(super) const AT: &str = "at_local";

/// Facts that a person would be asked for, those with the largest effect first: effort, then dates.
const ASKED: [&str; 6] = [HORIZON, WEEKLY, OCCURRENCE, CADENCE, LEVEL, AT];

/// A missing fact, with the value assumed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextQuestion {
    pub key: String,
    pub text: String,
    pub assumed: String,
    /// Answers to choose from.
    pub choices: Vec<QuestionChoice>,
}

/// Parses the goal of a context as of its first day.
pub(super) fn read_goal(context: &PlanContext, today: Date) -> Goal {
    let days = context.calendar.working.values().filter(|hours| !hours.is_empty()).count() as u16;
    let region = CalendarRegion::from_time_zone(&context.calendar.tz);
    let today = GoalParseContext::new(today, days.max(1)).in_region(region);
    Goal::parse(&context.goal_text, today)
}

/// Returns the open questions of a context, most important first.
pub fn open_questions(context: &PlanContext) -> Vec<ContextQuestion> {
    let open = |key: &&str| {
        context.find_assumption(key).filter(|found| found.origin == AssumptionOrigin::Template)
    };
    let questions = ASKED.iter().filter_map(open);
    questions
        .filter_map(|found| {
            let text = found.question.clone()?;
            let (key, assumed) = (found.key.clone(), found.value.clone());
            let choices = choices::question_choices(context, &key, &assumed);
            Some(ContextQuestion { key, text, assumed, choices })
        })
        .collect()
}

/// Fills the context from the goal and the template. Values that a template filled in before are recomputed.
pub(super) fn fill_context(
    mut context: PlanContext,
    goal: &Goal,
    template: &Template,
    notes: &mut Vec<String>,
) -> PlanContext {
    clear_assumed(&mut context);
    fill_stated_times(&mut context, goal);
    fill_deadline(&mut context, goal, template, notes);
    fill_hours(&mut context, goal, template);
    fill_cadence(&mut context, goal, template);
    if template.pattern == PatternType::ProgressiveAccumulationArc {
        let question = format!("How far are you with this already: {}?", goal.subject.name);
        add_assumption(&mut context, LEVEL, "beginner", Some(question));
    }
    let start = context.constraints.start.to_string();
    add_assumption(&mut context, "start", &start, None);
    let zone = context.calendar.tz.clone();
    add_assumption(&mut context, "tz", &zone, None);
    let hours = describe_hours(&context.calendar);
    add_assumption(&mut context, "working", &hours, None);
    context
}

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
    context.assumptions.retain(|assumption| assumption.origin != AssumptionOrigin::Template);
}

fn add_assumption(context: &mut PlanContext, key: &str, value: &str, question: Option<String>) {
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

/// Takes start and working times from the goal, unless the person stated others since, and keeps what else it states.
fn fill_stated_times(context: &mut PlanContext, goal: &Goal) {
    if let Some(start) = goal.start
        && context.find_assumption("start").is_none()
    {
        apply_context_change(context, &ContextChange::Start(start));
    }
    // The goal counts for more than the person's usual hours.
    let stated = |found: &Assumption| found.origin == AssumptionOrigin::User;
    if !goal.working_times.is_empty() && !context.find_assumption("working").is_some_and(stated) {
        apply_context_change(context, &ContextChange::OnlyAt(goal.working_times.clone()));
    }
    let quantities = &goal.quantities;
    let stated = [
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

fn fill_deadline(
    context: &mut PlanContext,
    goal: &Goal,
    template: &Template,
    notes: &mut Vec<String>,
) {
    let limits = &mut context.constraints;
    if limits.deadline.is_none()
        && let Some(date) = goal.last_day()
    {
        limits.deadline = Some(working_day_end(&context.calendar, date, notes));
    }
    limits.horizon_weeks = limits.horizon_weeks.or(goal.horizon_weeks).map(|weeks| weeks.max(1));
    if limits.deadline.is_none() && limits.horizon_weeks.is_none() {
        limits.horizon_weeks = Some(template.weeks);
        // A routine has no end and a small task is not worth a question.
        let asks = template.sizing != TemplateSizing::ByTasks && template.subtype != QUICK;
        let question = format!("By when should it be done? ({} weeks are assumed)", template.weeks);
        add_assumption(context, HORIZON, &template.weeks.to_string(), asks.then_some(question));
    }
}

/// Returns the end of the working day; a day without hours ends when the others do.
fn working_day_end(calendar: &PlanCalendar, date: Date, notes: &mut Vec<String>) -> OffsetDateTime {
    let zone = TimeZone::get(&calendar.tz).unwrap_or_else(|_| {
        notes.push(format!(
            "the time zone \"{}\" does not exist; UTC was used, name one such as Europe/Berlin",
            calendar.tz
        ));
        TimeZone::UTC
    });
    let hours = calendar
        .extra_working
        .get(&date)
        .or_else(|| calendar.working.get(&Weekday::from_date(date)));
    let end = hours
        .and_then(|hours| hours.last())
        .map(|interval| interval.end)
        .or_else(|| working_week_end(calendar));
    let local = date.to_datetime(end.unwrap_or(Time::constant(17, 0, 0, 0)));
    let at = zone.to_ambiguous_timestamp(local).compatible().unwrap_or(jiff::Timestamp::MAX);
    OffsetDateTime::in_zone(at, &zone)
}

/// Returns when the last working day of the week ends.
pub(super) fn working_week_end(calendar: &PlanCalendar) -> Option<Time> {
    let day = last_working_day(calendar)?;
    calendar.working.get(&day)?.last().map(|interval| interval.end)
}

pub(super) fn last_working_day(calendar: &PlanCalendar) -> Option<Weekday> {
    calendar.working.iter().rev().find(|(_, hours)| !hours.is_empty()).map(|(day, _)| *day)
}

fn fill_hours(context: &mut PlanContext, goal: &Goal, template: &Template) {
    if template.sizing == TemplateSizing::ByTasks || template.total_minutes.is_some() {
        return;
    }
    let by_rhythm = || {
        let times = goal.cadence.as_ref()?.per_week();
        Some((f64::from(goal.occurrence_minutes?) * times).round() as u32)
    };
    let limits = &mut context.constraints;
    limits.weekly_minutes = limits
        .weekly_minutes
        .or(goal.weekly_minutes)
        .or_else(by_rhythm)
        .filter(|minutes| *minutes > 0);
    if let (Some(stated), Some(all)) =
        (limits.weekly_minutes, limits.all_plans_weekly_minutes.as_mut())
    {
        *all = stated.max(*all);
    }
    if limits.weekly_minutes.is_none() {
        let minutes = template.weekly_minutes.unwrap_or(300);
        if let Some(own) = own_weekly_minutes(context).filter(|own| *own <= minutes) {
            context.constraints.weekly_minutes = Some(own);
            let (key, value, origin) =
                (WEEKLY.to_owned(), own.to_string(), AssumptionOrigin::Memory);
            context.assumptions.push(Assumption { key, value, origin, question: None });
            return raise_daily_limit(context);
        }
        context.constraints.weekly_minutes = Some(minutes);
        let question = format!(
            "How many hours a week can you give it? ({} are assumed)",
            format_hours(minutes)
        );
        add_assumption(context, WEEKLY, &minutes.to_string(), Some(question));
    }
    raise_daily_limit(context);
}

/// The minutes a week that the person has for plans of their own, where they ever said it.
fn own_weekly_minutes(context: &PlanContext) -> Option<u32> {
    let kept = |found: &Assumption| found.origin == AssumptionOrigin::Memory;
    let hours = context.find_assumption("working").is_some_and(kept);
    let by_hours = hours.then(|| context.calendar.weekly_minutes());
    context.constraints.all_plans_weekly_minutes.into_iter().chain(by_hours).min()
}

/// Hours that the person states must fit into the days, so the daily limit is raised for them.
fn raise_daily_limit(context: &mut PlanContext) {
    let days = context.calendar.working.values().filter(|hours| !hours.is_empty()).count() as u32;
    let limits = &mut context.constraints;
    let needed = limits
        .weekly_minutes
        .unwrap_or(0)
        .div_ceil(days.max(1))
        .div_ceil(sizing::EFFORT_UNIT_MINUTES)
        * sizing::EFFORT_UNIT_MINUTES;
    if needed > limits.max_daily_minutes && !limits.hard.contains("max_daily_minutes") {
        limits.max_daily_minutes = needed;
        add_assumption(context, "max_daily_minutes", &needed.to_string(), None);
    }
}

fn format_hours(minutes: u32) -> String {
    if minutes.is_multiple_of(60) {
        (minutes / 60).to_string()
    } else {
        format!("{:.1}", f64::from(minutes) / 60.0)
    }
}

fn fill_cadence(context: &mut PlanContext, goal: &Goal, template: &Template) {
    if matches!(template.pattern, PatternType::RecurringCycle | PatternType::HybridProjectCycle)
        && goal.cadence.is_none()
        && goal.per_period.is_none()
    {
        let words = goal_cadence(goal, template).describe();
        add_assumption(context, CADENCE, &words, Some(format!("How often? ({words} is assumed)")));
    }
    if let Some(time) = default_time_of_day(context, goal, template) {
        let time = time.strftime("%H:%M").to_string();
        let question = format!("At what time of day? ({time} is assumed)");
        add_assumption(context, AT, &time, Some(question));
    }
    let stated = template.cycles.iter().flat_map(|cycle| &cycle.tasks).find(|task| task.stated);
    if let Some(minutes) = stated.and_then(|task| task.minutes)
        && goal.occurrence_minutes.is_none()
    {
        let question = format!("How many minutes does it take each time? ({minutes} are assumed)");
        add_assumption(context, OCCURRENCE, &minutes.to_string(), Some(question));
    }
}

/// Returns the time of day of a routine that names a part of the day, or days without working hours: every day includes
/// weekends.
pub(super) fn default_time_of_day(
    context: &PlanContext,
    goal: &Goal,
    template: &Template,
) -> Option<Time> {
    let free = template.cycles.iter().any(|cycle| cycle.when == PeriodSlot::Any);
    if template.pattern != PatternType::RecurringCycle || goal.at_local.is_some() || !free {
        return None;
    }
    let working = &context.calendar.working;
    let first = working.values().flatten().map(|hours| hours.start).min();
    let has_hours = |day: &Weekday| working.get(day).is_some_and(|hours| !hours.is_empty());
    let cadence = goal_cadence(goal, template);
    let assumed = match cadence.every {
        // The time before working hours is free.
        CadencePeriod::Day if !Weekday::ALL.iter().all(has_hours) => {
            first.map(|first| first.checked_sub(1.hour()).unwrap_or(first))
        }
        CadencePeriod::Day => None,
        _ => first.filter(|_| cadence.on.iter().any(|day| !has_hours(&Weekday::from(*day)))),
    };
    part_of_day(&context.goal_text).or(assumed)
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
pub(super) fn goal_cadence(goal: &Goal, template: &Template) -> GoalCadence {
    let per_period = goal.per_period.as_ref().map(|found| found.period.clone());
    let fallback = match template.pattern {
        PatternType::HybridProjectCycle => GoalCadence::once_per(CadencePeriod::Month),
        _ => GoalCadence::once_per(CadencePeriod::Week),
    };
    match template.pattern {
        PatternType::HybridProjectCycle => per_period.or_else(|| goal.cadence.clone()),
        _ => goal.cadence.clone().or(per_period),
    }
    .unwrap_or(fallback)
}

/// Describes the working hours of an ordinary week.
pub(crate) fn describe_hours(calendar: &PlanCalendar) -> String {
    describe_weekly_hours(&calendar.working)
}

/// The length and capacity of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlanSize {
    pub(super) days: u32,
    pub(super) weekly_minutes: u32,
    /// The minutes that the calendar and the limits allow over the entire horizon.
    pub(super) capacity: u32,
    pub(super) effort: u32,
}

impl PlanSize {
    pub(super) fn weeks(&self) -> u16 {
        u16::try_from(self.days.div_ceil(7)).unwrap_or(u16::MAX).max(1)
    }
}

/// Computes the size of a filled context.
pub(super) fn measure_plan(context: &PlanContext, goal: &Goal, template: &Template) -> PlanSize {
    let limits = &context.constraints;
    let days = horizon_days(context, template);
    let hours = match context.find_assumption(WEEKLY) {
        Some(found) if found.origin == AssumptionOrigin::Template => HoursOrigin::Assumed,
        _ => HoursOrigin::Stated,
    };
    let room = weekly_capacity(context);
    let weekly_minutes = limits.weekly_minutes.unwrap_or(room);
    let capacity = u64::from(days) * u64::from(weekly_minutes.min(room)) / 7;
    let effort = match template.total_minutes {
        Some(minutes) => sizing::round_down_to_unit(
            goal.occurrence_minutes.unwrap_or(minutes).max(2 * sizing::EFFORT_UNIT_MINUTES),
        ),
        None => sizing::planned_effort(
            days,
            weekly_minutes,
            hours,
            context.strategy_profile.target_utilization,
        ),
    };
    PlanSize { days, weekly_minutes, capacity: u32::try_from(capacity).unwrap_or(u32::MAX), effort }
}

fn horizon_days(context: &PlanContext, template: &Template) -> u32 {
    let limits = &context.constraints;
    if let Some(deadline) = limits.deadline {
        let last = deadline.local_date().checked_add(1.day()).unwrap_or(Date::MAX);
        let days = limits.start.until(last).map_or(0, |span| span.get_days());
        return u32::try_from(days).unwrap_or(0).max(1);
    }
    u32::from(limits.horizon_weeks.unwrap_or(template.weeks)) * 7
}

/// Returns the minutes of an ordinary week that hours and daily limit allow.
fn weekly_capacity(context: &PlanContext) -> u32 {
    let most = context.constraints.max_daily_minutes;
    let day = |hours: &Vec<planwright_model::LocalTimeInterval>| {
        hours.iter().map(|span| span.duration_minutes()).sum::<u32>().min(most)
    };
    context.calendar.working.values().map(day).sum()
}
