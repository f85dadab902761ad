//! Fills in the stated and missing facts of a goal, and lists every value that the person did not state.

use jiff::ToSpan as _;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use planwright_model::{
    Assumption, AssumptionOrigin, OffsetDateTime, PatternType, PlanCalendar, PlanContext,
    PreferredTime, Weekday,
};

use super::blueprint::{Blueprint, BlueprintQuestion, BlueprintRepeatUnit, BlueprintSizing};
use super::goal::{CadencePeriod, CalendarRegion, Goal, GoalCadence, GoalDay, GoalParseContext};
use super::kind::is_form_of;
use super::{fitting_choices, plan_day, span, stated_days, usual_hours};
use crate::change_requests::{ContextChange, apply_context_change};
use crate::fact_reading::beside_sessions;
use crate::own_hours::describe_weekly_hours;
use crate::working_slots::{WorkingSlot, join_words};
use planwright_plan::sizing;

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

/// Assumes hours that suffice for the work, if the person states none. They decide dates, never the effort.
pub(super) fn fill_hours(context: &mut PlanContext, file: &Blueprint, needed: u32, total: u32) {
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
pub(super) fn raise_hours(context: &mut PlanContext) -> bool {
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

/// Returns whether more weeks change nothing but dates: nobody stated them, and no day or rhythm depends on them.
pub(super) fn can_lengthen_span(context: &PlanContext, file: &Blueprint) -> bool {
    let assumed = context
        .find_assumption(HORIZON)
        .is_some_and(|found| found.origin == AssumptionOrigin::Template);
    assumed && !file.is_routine() && file.day.is_none() && file.weekly.is_none()
}

/// Lengthens a span that nobody stated. Returns whether it was assumed.
pub(super) fn lengthen_span(context: &mut PlanContext, weeks: u16) -> bool {
    let assumed = |found: &&mut Assumption| {
        found.key == HORIZON && found.origin == AssumptionOrigin::Template
    };
    let Some(found) = context.assumptions.iter_mut().find(assumed) else { return false };
    context.constraints.horizon_weeks = Some(weeks);
    found.value = weeks.to_string();
    true
}

/// The hours a week that are assumed at least for anything that is not small.
pub(super) const LEAST_WEEKLY: u32 = 300;

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
fn fill_stated_times(context: &mut PlanContext, goal: &Goal, file: Option<&Blueprint>) {
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
fn fill_stated_weekdays(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
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
fn fill_stated_hours(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
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
pub(super) fn daily_minutes(goal: &Goal, file: &Blueprint) -> Option<u32> {
    let course = file.pattern == PatternType::ProgressiveAccumulationArc
        && file.sizing == BlueprintSizing::Tasks;
    let on_days = goal.cadence.as_ref().is_some_and(|rhythm| !rhythm.on.is_empty());
    let sessions = goal.occurrence_minutes.filter(|_| (goal.is_daily || on_days) && course);
    goal.day_minutes.or(sessions).map(|minutes| minutes.max(SHORTEST_SESSION))
}

fn fill_dates(context: &mut PlanContext, goal: &Goal, file: &Blueprint, notes: &mut Vec<String>) {
    let weeks = *file.weeks.get_ref();
    let end = goal.deadline.or(match (&file.day, goal.day) {
        (None, Some(day)) if goal.ends_before_day => {
            Some(super::instance::add_days(day.last_day(), -1))
        }
        (None, Some(day)) => Some(day.last_day()),
        _ => None,
    });
    let limits = &mut context.constraints;
    if let (None, Some(date)) = (limits.deadline, end) {
        let end = working_day_end(&context.calendar, date, notes);
        limits.deadline = Some(match goal.due_time {
            Some(time) => at_time_of_day(end, date, time),
            None if has_evening_times(file) => {
                at_time_of_day(end, date, Time::constant(23, 0, 0, 0)).max(end)
            }
            None => end,
        });
    }
    // Where a day decides the length, the weeks of an earlier draft do not.
    let fixed = context.assumptions.iter().any(|known| known.key == HORIZON);
    let before = limits.horizon_weeks.filter(|_| fixed || file.day.is_none());
    limits.horizon_weeks = before.or(goal.horizon_weeks).map(|weeks| weeks.max(1));
    if file.day.is_some() {
        fill_day(context, goal, file);
        return;
    }
    let limits = &context.constraints;
    if limits.deadline.is_none() && limits.horizon_weeks.is_none() {
        let assumed = span::stretched_weeks(context, file)
            .or_else(|| weeks_of_rounds(goal, file))
            .unwrap_or(weeks);
        context.constraints.horizon_weeks = Some(assumed);
        // A routine has no end, and a small task is not worth a question.
        let asks =
            !file.is_routine() && !file.small && span::stretched_weeks(context, file).is_none();
        let question = asks.then(|| "By when should it be done?".to_owned());
        add_assumption(context, HORIZON, &assumed.to_string(), question);
    }
}

/// Fills in the day of the thing itself. Without a deadline the plan ends two weeks after it, for what follows.
fn fill_day(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
    let start = context.constraints.start;
    let known = context.find_assumption(DAY).and_then(|found| found.value.parse::<Date>().ok());
    let stated = known.or(match goal.day {
        Some(GoalDay::On(day)) => Some(day),
        _ => None,
    });
    let day = if let Some(day) = stated {
        set_stated(context, DAY, &day.to_string());
        day
    } else {
        let day = plan_day::assume_day(goal, file, context);
        let asks = file.day_question.as_ref().map(|text| text.get_ref().clone());
        add_assumption(context, DAY, &day.to_string(), asks);
        day
    };
    if context.constraints.deadline.is_none() {
        let until = super::instance::days_between(start, day) + 1;
        let weeks = u16::try_from(until.div_ceil(7)).unwrap_or(u16::MAX);
        let lasts = super::instance::event_length(goal, context, file) - 1;
        let lasts = u16::try_from(lasts.div_ceil(7)).unwrap_or(0);
        let after = weeks.saturating_add(follow_up_weeks(file)).saturating_add(lasts).max(1);
        // Stated weeks hold what follows as well, except the rest after a race.
        let stated = goal.horizon_weeks.filter(|_| file.sizing == BlueprintSizing::Tasks);
        context.constraints.horizon_weeks = Some(stated.map_or(after, |stated| stated.max(weeks)));
    }
}

/// Lets a plan go on until its last task, if that comes long after its day. Returns whether that changed anything.
pub(super) fn extend_past_day(
    context: &mut PlanContext,
    goal: &Goal,
    file: &Blueprint,
    days: f64,
) -> bool {
    if goal.horizon_weeks.is_some() && file.sizing == BlueprintSizing::Tasks {
        return false;
    }
    let limits = &mut context.constraints;
    let Some(weeks) =
        limits.horizon_weeks.filter(|_| file.day.is_some() && limits.deadline.is_none())
    else {
        return false;
    };
    let needed = (days / 7.0).ceil().clamp(0.0, 520.0) as u16;
    let stretched = needed > weeks;
    limits.horizon_weeks = Some(weeks.max(needed));
    stretched
}

/// Returns the weeks that a plan goes on after its day, for thanks, payments and rest.
fn follow_up_weeks(file: &Blueprint) -> u16 {
    let tasks = file.all_tasks();
    let dates = tasks.iter().flat_map(|task| [&task.at, &task.by, &task.until]).flatten();
    let last = dates.map(|date| date.get_ref().days).max().unwrap_or(0);
    let main =
        tasks.iter().rposition(|task| task.at.as_ref().is_some_and(|at| at.get_ref().days == 0));
    let follows = main.is_some_and(|main| main + 1 < tasks.len());
    match u16::try_from(last) {
        Ok(days @ 1..) => days.div_ceil(7) + 1,
        _ if follows => 1,
        _ => 0,
    }
}

/// Takes counts from the goal, and assumes the others.
fn fill_counts(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
    let asked = |name: &str| file.questions.iter().find(|question| question.key.get_ref() == name);
    let listed = file.questions.iter().map(|question| question.key.get_ref().as_str());
    let others = file.counts.keys().map(String::as_str).filter(|name| asked(name).is_none());
    let names: Vec<&str> =
        listed.filter(|name| file.counts.contains_key(*name)).chain(others).collect();
    for name in names {
        let Some(count) = file.counts.get(name) else { continue };
        if let Some(amount) = stated_count(goal, name, &count.words) {
            set_stated(context, name, &amount.to_string());
            continue;
        }
        if let Some(amount) = travelers(goal, file, &count.words) {
            set_stated(context, name, &amount.to_string());
            continue;
        }
        let assumed = asked(name)
            .and_then(|question| question.default.trim().parse().ok())
            .unwrap_or(count.default);
        let question = asked(name).map(|question| question.text.clone());
        add_assumption(context, name, &assumed.to_string(), question);
    }
}

/// Returns how many people travel if the goal names the others: "with Ben and Ana" are three, "with three friends" four.
fn travelers(goal: &Goal, file: &Blueprint, words: &[String]) -> Option<u32> {
    let people = words.iter().any(|word| word == "person" || word == "people");
    if file.family != "trip" || !people || goal.companions.is_empty() {
        return None;
    }
    let others: Option<u32> = goal.companions.iter().map(|name| count_people(name)).sum();
    Some(others? + 1)
}

/// Returns how many people a name stands for; nothing for a family or for friends without a number.
fn count_people(name: &str) -> Option<u32> {
    let words: Vec<String> = name.to_lowercase().split(' ').map(str::to_owned).collect();
    let number = words.iter().find_map(|word| {
        let digits = word.parse::<u32>().ok();
        digits.or_else(|| crate::number_names::parse_number_word(word).map(|number| number as u32))
    });
    let last = words.last().map_or("", String::as_str);
    match (number, last) {
        (Some(number), _) => Some(number),
        (None, "parents" | "in-laws" | "grandparents" | "twins") => Some(2),
        (None, "family" | "children") => None,
        (None, last) if last.ends_with('s') => None,
        _ => Some(1),
    }
}

/// Returns the number that the goal states for one of the nouns.
fn stated_count(goal: &Goal, name: &str, words: &[String]) -> Option<u32> {
    let singular = name.strip_suffix('s').unwrap_or(name);
    // "a 20 minute talk": its length is how many minutes it has.
    if singular == "minute"
        && let Some(minutes) = goal.occurrence_minutes
    {
        return Some(minutes);
    }
    if let Some(days) = goal.event_days.map(u32::from) {
        match singular {
            "day" => return Some(days),
            // The last day has no night.
            "night" => return Some(days.saturating_sub(1).max(1)),
            _ => {}
        }
    }
    // "two adults and three kids" are five travelers.
    if let Some(people) = goal.quantities.people.as_ref().filter(|_| counts_people(words)) {
        return Some(people.count);
    }
    let found = goal.counts.iter().find(|count| is_counted_as(&count.noun, name, words));
    found.map(|count| count.amount).or_else(|| converted_count(goal, singular))
}

/// Returns whether a kind counts people with one of its counts, whoever they are.
fn counts_people(words: &[String]) -> bool {
    const PEOPLE: [&str; 6] = ["person", "people", "guest", "participant", "traveler", "attendee"];
    words.iter().any(|word| PEOPLE.contains(&word.as_str()))
}

/// The words on a page.
const WORDS_PER_PAGE: u32 = 300;

/// Returns a count that the goal states in another measure: ten pages are about 3,000 words.
fn converted_count(goal: &Goal, singular: &str) -> Option<u32> {
    let stated = |noun: &str| goal.counts.iter().find(|count| count.noun == noun);
    match singular {
        "word" => Some(stated("page")?.amount.saturating_mul(WORDS_PER_PAGE)),
        "page" => Some(stated("word")?.amount.div_ceil(WORDS_PER_PAGE)),
        _ => None,
    }
}

/// Returns whether a noun of the goal is what a kind counts under a name.
fn is_counted_as(noun: &str, name: &str, words: &[String]) -> bool {
    noun == name
        || name.strip_suffix('s') == Some(noun)
        || words.iter().any(|word| {
            noun == word
                || noun.ends_with(&format!(" {word}"))
                // A microservice is a service.
                || (word.len() > 4 && noun.ends_with(word.as_str()))
                || word.ends_with(&format!(" {noun}"))
        })
}

/// Returns whether a kind counts what a noun of the goal names.
pub(crate) fn counts_noun(file: &Blueprint, noun: &str) -> bool {
    let converts = |name: &str| {
        matches!((name, noun), ("word" | "words", "page") | ("page" | "pages", "word"))
    };
    file.counts
        .iter()
        .any(|(name, count)| is_counted_as(noun, name, &count.words) || converts(name))
}

/// Returns how many rounds of what is made again and again the goal asks for: "8 episodes", "a series of 12 posts".
pub(super) fn stated_rounds(goal: &Goal, file: &Blueprint) -> Option<u32> {
    if file.pattern != PatternType::HybridProjectCycle {
        return None;
    }
    let made = |noun: &str| super::goal::is_produced(noun.rsplit(' ').next().unwrap_or(noun));
    let count = goal.counts.iter().find(|count| made(&count.noun) && count.amount > 1)?;
    // "two posts a week" is a rhythm, and read as such.
    goal.per_period.as_ref().is_none_or(|period| !period.made).then_some(count.amount.min(200))
}

/// Returns the weeks that the stated rounds take.
fn weeks_of_rounds(goal: &Goal, file: &Blueprint) -> Option<u16> {
    let rounds = stated_rounds(goal, file)?;
    let cadence = goal_cadence(goal, file);
    let weeks = cadence.every.in_weeks() * f64::from(cadence.interval) * f64::from(rounds);
    let setup = file.tasks.iter().filter(|task| task.role == planwright_model::Role::Setup);
    let minutes: u32 =
        setup.filter_map(|task| task.effort.as_ref()).map(|own| own.get_ref().likely()).sum();
    let before = f64::from(minutes) / f64::from(LEAST_WEEKLY);
    Some((weeks + before).ceil().clamp(1.0, 520.0) as u16 + 1)
}

/// Lists the questions of the file that are remarks, with what is assumed for them.
fn fill_remarks(context: &mut PlanContext, goal: &Goal, file: &Blueprint, notes: &mut Vec<String>) {
    for question in &file.questions {
        let key = question.key.get_ref();
        if file.counts.contains_key(key) || question.default.trim().is_empty() {
            continue;
        }
        settle_answer(context, question, notes);
        if let Some(choice) = stated_choice(goal, &question.choices) {
            set_stated(context, key, choice);
            continue;
        }
        let fitting = fitting_choices::find_fitting_choice(
            context,
            goal,
            &question.choices,
            &question.default,
        );
        let assumed = fitting.unwrap_or(&question.default);
        add_assumption(context, key, assumed, Some(question.text.clone()));
    }
}

/// Takes the choice that an answer in other words means: "we rent a room" is "a rented room". An answer that means none
/// of them decides nothing, so what is assumed without one applies, and the plan says so.
fn settle_answer(context: &mut PlanContext, question: &BlueprintQuestion, notes: &mut Vec<String>) {
    let key = question.key.get_ref();
    let stated = |found: &&mut Assumption| {
        found.key == *key && found.origin == AssumptionOrigin::User && !question.choices.is_empty()
    };
    let Some(found) = context.assumptions.iter_mut().find(stated) else { return };
    let answer = found.value.trim().to_lowercase();
    let same = |choice: &&String| choice.to_lowercase() == answer;
    if question.choices.iter().any(|choice| same(&choice)) || answer == question.default {
        return;
    }
    if let Some(choice) = meant_choice(&answer, &question.choices) {
        choice.clone_into(&mut found.value);
        return;
    }
    notes.push(format!(
        "\"{}\" is none of the answers to \"{}\" ({}); \"{}\" is assumed.",
        found.value,
        question.text,
        question.choices.join(", "),
        question.default
    ));
    found.value.clone_from(&question.default);
    found.origin = AssumptionOrigin::Template;
}

/// Returns the choice that shares the most words with an answer, if one does.
fn meant_choice<'a>(answer: &str, choices: &'a [String]) -> Option<&'a str> {
    let stems = |text: &str| -> Vec<String> {
        text.to_lowercase()
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty() && !LINK_WORDS.contains(word))
            .map(|word| word.chars().take(4).collect())
            .collect()
    };
    let own = stems(answer);
    let shared = |choice: &str| stems(choice).iter().filter(|stem| own.contains(stem)).count();
    let most = choices.iter().map(|choice| shared(choice)).max().filter(|most| *most > 0)?;
    let mut best = choices.iter().filter(|choice| shared(choice) == most);
    let first = best.next()?;
    best.next().is_none().then_some(first.as_str())
}

/// Questions about details come after the one about the hours.
fn move_remarks_last(context: &mut PlanContext, file: &Blueprint) {
    let is_remark = |known: &Assumption| {
        known.origin == AssumptionOrigin::Template
            && !file.counts.contains_key(&known.key)
            && file.questions.iter().any(|question| *question.key.get_ref() == known.key)
    };
    let (remarks, mut others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut context.assumptions).into_iter().partition(is_remark);
    others.extend(remarks);
    context.assumptions = others;
}

/// Answers that mean nothing outside of their question.
const BARE_ANSWERS: [&str; 14] = [
    "yes",
    "no",
    "none",
    "some",
    "both",
    "mixed",
    "either",
    "good",
    "more",
    "nothing",
    "nobody",
    "everything",
    "i do",
    "you",
];

/// Words of an answer that carry nothing: "from an app store" is said by "app store".
const LINK_WORDS: [&str; 22] = [
    "a", "an", "the", "from", "with", "by", "at", "in", "on", "to", "of", "my", "our", "we", "it",
    "they", "is", "are", "as", "and", "or", "for",
];

/// Words that stand in goals for other reasons than to answer a question.
const COMMON_WORDS: [&str; 12] = [
    "day", "days", "week", "weeks", "weekend", "hour", "minutes", "month", "year", "time",
    "people", "team",
];

/// Returns whether the goal has all words of an answer that carry something.
fn states_choice(goal: &Goal, choice: &str) -> bool {
    let words: Vec<&str> = choice
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty() && !LINK_WORDS.contains(word))
        .collect();
    let is_telling = |word: &&str| {
        word.chars().count() > 2 && word.parse::<u32>().is_err() && !COMMON_WORDS.contains(word)
    };
    words.iter().any(is_telling)
        && words.iter().all(|word| goal.folded_words().iter().any(|own| is_same_word(own, word)))
        && !matches!(words.as_slice(), [word] if is_part_of_name(goal, word))
}

/// Returns whether two words are forms of one: "bed" and "beds".
fn is_same_word(one: &str, other: &str) -> bool {
    is_form_of(one, other) || is_form_of(other, one)
}

/// Returns whether a word of the goal only belongs to the noun after it: "our new office manager" is no office.
fn is_part_of_name(goal: &Goal, word: &str) -> bool {
    let all = goal.folded_words();
    let names = |place: usize| {
        let next = all.get(place + 1).filter(|_| !goal.is_clause_start(place + 1));
        next.is_some_and(|next| {
            !LINK_WORDS.contains(&next.as_str())
                && !COMMON_WORDS.contains(&next.as_str())
                && next.chars().all(char::is_alphabetic)
                && next.chars().count() > 3
                && !["this", "next", "before", "until", "without", "within", "only", "starting"]
                    .contains(&next.as_str())
        })
    };
    let mut places = (0..all.len()).filter(|place| all[*place] == word).peekable();
    places.peek().is_some() && places.all(names)
}

/// Returns the only choice whose words stand in the goal; of two that overlap, the longer.
fn stated_choice<'a>(goal: &Goal, choices: &'a [String]) -> Option<&'a str> {
    let mut found: Vec<&str> = choices
        .iter()
        .map(String::as_str)
        .filter(|choice| {
            let lower = choice.to_lowercase();
            !BARE_ANSWERS.contains(&lower.as_str()) && states_choice(goal, &lower)
        })
        .collect();
    found.sort_by_key(|choice| std::cmp::Reverse(choice.len()));
    let (first, rest) = found.split_first()?;
    let inside = |other: &&str| first.to_lowercase().contains(&other.to_lowercase());
    rest.iter().all(inside).then_some(*first)
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

/// Returns whether something of a kind repeats at a time of day, which may be after the working hours.
fn has_evening_times(file: &Blueprint) -> bool {
    file.cycles.iter().any(|cycle| cycle.at_time.is_some())
        || file.all_tasks().iter().any(|task| task.every.is_some() && task.at_time.is_some())
}

/// Returns a time of a day, in the offset that its working day ends in.
fn at_time_of_day(end: OffsetDateTime, date: Date, time: Time) -> OffsetDateTime {
    let local = end.offset.to_datetime(end.at);
    let wanted = date.to_datetime(time);
    let minutes = local.until(wanted).ok().and_then(|span| span.total(jiff::Unit::Minute).ok());
    end.plus_minutes(minutes.map_or(0, |minutes| minutes as i64))
}

/// Returns when the last working day of the week ends.
pub(super) fn working_week_end(calendar: &PlanCalendar) -> Option<Time> {
    let day = last_working_day(calendar)?;
    calendar.working.get(&day)?.last().map(|interval| interval.end)
}

pub(super) fn last_working_day(calendar: &PlanCalendar) -> Option<Weekday> {
    calendar.working.iter().rev().find(|(_, hours)| !hours.is_empty()).map(|(day, _)| *day)
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
pub(super) fn raise_daily_limit(context: &mut PlanContext, before_dates: u32) {
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

fn fill_cadence(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
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
pub(super) fn default_time_of_day(
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
pub(super) fn goal_cadence(goal: &Goal, file: &Blueprint) -> GoalCadence {
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

/// Describes the working hours of an ordinary week.
pub(crate) fn describe_hours(calendar: &PlanCalendar) -> String {
    describe_weekly_hours(&calendar.working)
}
