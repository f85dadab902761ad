//! Changes to hours and dates, and how they are applied to a context.

use jiff::ToSpan as _;
use jiff::civil::{Date, Time, time};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use planwright_model::{
    Assumption, AssumptionOrigin, LocalTimeInterval, OffsetDateTime, PlanCalendar, PlanContext,
    PlanPerson, Weekday,
};
use planwright_schedule::calendar;
use planwright_text::dates::{format_date, format_date_range, format_time_range};
use planwright_text::units::{format_counted, format_planned};

use crate::working_slots::{WorkingSlot, describe_slots, slot_hours};

/// A part of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DayPart {
    Morning,
    Afternoon,
    Evening,
}

impl DayPart {
    /// Returns the time span.
    pub fn interval(self) -> LocalTimeInterval {
        let (from, to) = match self {
            Self::Morning => (6, 12),
            Self::Afternoon => (12, 18),
            Self::Evening => (18, 22),
        };
        LocalTimeInterval::new(time(from, 0, 0, 0), time(to, 0, 0, 0))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Morning => "morning",
            Self::Afternoon => "afternoon",
            Self::Evening => "evening",
        }
    }
}

/// One change to the limits of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", content = "value", rename_all = "snake_case")]
pub enum ContextChange {
    WeeklyMinutes(u32),
    /// The maximum per day.
    DailyMinutes(u32),
    Start(Date),
    /// The last day; it ends with the working day.
    Deadline(Date),
    HorizonWeeks(u16),
    /// Both days included.
    DaysOff {
        from: Date,
        to: Date,
    },
    NotOn(Vec<Weekday>),
    OnlyOn(Vec<Weekday>),
    AlsoOn(Vec<Weekday>),
    OnlyDuring(DayPart),
    NotDuring(DayPart),
    /// Preferred, but not exclusive.
    Prefer(DayPart),
    WorkBetween(LocalTimeInterval),
    /// The most that may be spent.
    Budget {
        amount: u64,
        /// A code such as `EUR`; none if the person named no currency.
        currency: Option<String>,
    },
    /// Only at these times of the week, which replace the working hours.
    OnlyAt(Vec<WorkingSlot>),
    /// Somebody else works on it, and has this much time a week.
    Person {
        name: String,
        weekly_minutes: Option<u32>,
    },
}

/// The maximum number of days off in one change.
const MAX_DAYS_OFF: usize = 400;

/// Applies a change to a context. Values stated by the person are no longer listed as assumptions.
pub fn apply_context_change(context: &mut PlanContext, change: &ContextChange) {
    match change {
        ContextChange::WeeklyMinutes(minutes) => {
            context.constraints.weekly_minutes = Some(*minutes);
            record_stated_value(context, "weekly_minutes", minutes.to_string());
        }
        ContextChange::DailyMinutes(minutes) => {
            context.constraints.max_daily_minutes = *minutes;
            context.constraints.hard.insert("max_daily_minutes".to_owned());
            record_stated_value(context, "max_daily_minutes", minutes.to_string());
        }
        ContextChange::Start(date) => {
            context.constraints.start = *date;
            record_stated_value(context, "start", date.to_string());
        }
        ContextChange::Deadline(date) => set_deadline(context, *date),
        ContextChange::HorizonWeeks(weeks) => set_horizon(context, *weeks),
        ContextChange::DaysOff { from, to } => {
            let days = from.series(1.day()).take_while(|day| day <= to).take(MAX_DAYS_OFF);
            for day in days {
                context.calendar.days_off.insert(day);
                context.calendar.extra_working.remove(&day);
            }
        }
        ContextChange::NotOn(days) => {
            keep_opened_days(context, |day| !days.contains(&day));
            map_working_hours(
                context,
                |day, hours| if days.contains(&day) { Vec::new() } else { hours },
            );
        }
        ContextChange::OnlyOn(days) => {
            keep_opened_days(context, |day| days.contains(&day));
            add_working_days(&mut context.calendar, days);
            map_working_hours(
                context,
                |day, hours| if days.contains(&day) { hours } else { Vec::new() },
            );
        }
        ContextChange::AlsoOn(days) => {
            add_working_days(&mut context.calendar, days);
            map_working_hours(context, |_, hours| hours);
        }
        ContextChange::OnlyDuring(part) => {
            map_working_hours(context, |_, hours| clip_hours(&hours, part.interval()));
        }
        ContextChange::NotDuring(part) => {
            map_working_hours(context, |_, hours| exclude_hours(&hours, part.interval()));
        }
        ContextChange::Prefer(part) => {
            let days = context.calendar.working.iter().filter(|(_, hours)| !hours.is_empty());
            context.user_prefs.preferred_windows =
                days.map(|(day, _)| (*day, vec![part.interval()])).collect();
        }
        ContextChange::WorkBetween(interval) => {
            let set = |hours: Vec<LocalTimeInterval>| {
                if hours.is_empty() { hours } else { vec![*interval] }
            };
            map_working_hours(context, |_, hours| set(hours));
        }
        ContextChange::Budget { amount, currency } => {
            let text = describe_budget(*amount, currency.as_deref());
            context.constraints.budget_text = Some(text.clone());
            record_stated_value(context, "budget", text);
        }
        ContextChange::Person { name, weekly_minutes } => {
            set_person(context, name, *weekly_minutes);
        }
        ContextChange::OnlyAt(slots) => {
            let week = slot_hours(&context.calendar, slots);
            keep_opened_days(context, |day| week.get(&day).is_some_and(|list| !list.is_empty()));
            map_working_hours(context, |day, _| week.get(&day).cloned().unwrap_or_default());
        }
    }
}

/// Adds somebody to the plan, or changes the time that they have.
fn set_person(context: &mut PlanContext, name: &str, weekly_minutes: Option<u32>) {
    let known = |person: &&mut PlanPerson| person.name.eq_ignore_ascii_case(name);
    match context.people.iter_mut().find(known) {
        Some(person) => person.weekly_minutes = weekly_minutes.or(person.weekly_minutes),
        None => context.people.push(PlanPerson { weekly_minutes, ..PlanPerson::new(name) }),
    }
}

/// Returns whether two contexts limit a plan in the same way, whoever said so.
pub fn has_same_limits(one: &PlanContext, other: &PlanContext) -> bool {
    (&one.constraints, &one.calendar, &one.user_prefs, &one.people)
        == (&other.constraints, &other.calendar, &other.user_prefs, &other.people)
}

/// Records a value as stated by the person.
fn record_stated_value(context: &mut PlanContext, key: &str, value: String) {
    context.assumptions.retain(|found| found.key != key);
    let origin = AssumptionOrigin::User;
    context.assumptions.push(Assumption { key: key.to_owned(), value, origin, question: None });
}

fn set_deadline(context: &mut PlanContext, date: Date) {
    let calendar = &context.calendar;
    let zone = calendar::find_zone(&calendar.tz).unwrap_or(TimeZone::UTC);
    let own = calendar
        .extra_working
        .get(&date)
        .or_else(|| calendar.working.get(&Weekday::from_date(date)));
    let last = |hours: &Vec<LocalTimeInterval>| hours.last().map(|interval| interval.end);
    // A day without hours ends when the latest of the others does.
    let end = own.and_then(last).or_else(|| calendar.working.values().filter_map(last).max());
    let local = date.to_datetime(end.unwrap_or(time(17, 0, 0, 0)));
    let at = calendar::resolve_local(local, &zone);
    context.constraints.deadline = Some(OffsetDateTime::in_zone(at, &zone));
    context.constraints.horizon_weeks = None;
    context.assumptions.retain(|found| found.key != "horizon_weeks");
    record_stated_value(context, "deadline", date.to_string());
}

/// Moves the deadline; without one it sets the horizon.
fn set_horizon(context: &mut PlanContext, weeks: u16) {
    let days = i64::from(weeks) * 7 - 1;
    match context.constraints.start.checked_add(days.days()) {
        Ok(last) if context.constraints.deadline.is_some() => set_deadline(context, last),
        _ => {
            context.constraints.horizon_weeks = Some(weeks);
            record_stated_value(context, "horizon_weeks", weeks.to_string());
        }
    }
}

/// Gives days without hours those of the first working day.
fn add_working_days(calendar: &mut PlanCalendar, days: &[Weekday]) {
    let usual = calendar.working.values().find(|hours| !hours.is_empty()).cloned();
    let office = || vec![LocalTimeInterval::new(time(9, 0, 0, 0), time(17, 0, 0, 0))];
    let usual = usual.unwrap_or_else(office);
    for day in days {
        let hours = calendar.working.entry(*day).or_default();
        if hours.is_empty() {
            hours.clone_from(&usual);
        }
    }
}

/// Days that were opened because time is short are closed again where the person does not work.
fn keep_opened_days(context: &mut PlanContext, works_on: impl Fn(Weekday) -> bool) {
    context.calendar.extra_working.retain(|day, _| works_on(Weekday::from_date(*day)));
}

fn map_working_hours(
    context: &mut PlanContext,
    hours: impl Fn(Weekday, Vec<LocalTimeInterval>) -> Vec<LocalTimeInterval>,
) {
    let mut working = std::mem::take(&mut context.calendar.working);
    context.calendar.working = Weekday::ALL
        .into_iter()
        .map(|day| (day, hours(day, working.remove(&day).unwrap_or_default())))
        .filter(|(_, list)| !list.is_empty())
        .collect();
    let stated = crate::offline::describe_working_hours(&context.calendar);
    record_stated_value(context, "working", stated);
}

/// An end at midnight is treated as the end of the day.
fn interval_bounds(interval: LocalTimeInterval) -> (Time, Time) {
    let end = if interval.end == Time::midnight() { Time::MAX } else { interval.end };
    (interval.start, end)
}

/// Returns the hours inside a span; if there are none the span itself, since the person asked for exactly that.
fn clip_hours(hours: &[LocalTimeInterval], span: LocalTimeInterval) -> Vec<LocalTimeInterval> {
    let cut = |own: &LocalTimeInterval| {
        let ((start, end), (from, to)) = (interval_bounds(*own), interval_bounds(span));
        let cut =
            LocalTimeInterval::new(start.max(from), if to < end { span.end } else { own.end });
        (start.max(from) < end.min(to)).then_some(cut)
    };
    let found: Vec<LocalTimeInterval> = hours.iter().filter_map(cut).collect();
    if found.is_empty() && !hours.is_empty() { vec![span] } else { found }
}

fn exclude_hours(hours: &[LocalTimeInterval], span: LocalTimeInterval) -> Vec<LocalTimeInterval> {
    let parts = hours.iter().flat_map(|own| {
        let ((start, end), (from, to)) = (interval_bounds(*own), interval_bounds(span));
        if end <= from || to <= start {
            return vec![*own];
        }
        let before = (start < from).then(|| LocalTimeInterval::new(own.start, span.start));
        let after = (to < end).then(|| LocalTimeInterval::new(span.end, own.end));
        before.into_iter().chain(after).collect()
    });
    parts.collect()
}

impl ContextChange {
    /// Whether it takes days or times of the week away, so that tasks may have to move.
    pub(super) fn limits_times(&self) -> bool {
        match self {
            Self::DaysOff { .. }
            | Self::NotOn(_)
            | Self::OnlyOn(_)
            | Self::OnlyDuring(_)
            | Self::NotDuring(_)
            | Self::WorkBetween(_)
            | Self::OnlyAt(_) => true,
            Self::WeeklyMinutes(_)
            | Self::DailyMinutes(_)
            | Self::Start(_)
            | Self::Deadline(_)
            | Self::HorizonWeeks(_)
            | Self::AlsoOn(_)
            | Self::Prefer(_)
            | Self::Budget { .. }
            | Self::Person { .. } => false,
        }
    }

    /// What changes, in words.
    pub fn describe(&self, today: Date) -> String {
        let names = |days: &[Weekday]| describe_days(days);
        let time = |minutes: u32| format_planned(minutes.into());
        match self {
            Self::WeeklyMinutes(minutes) => format!("{} a week", time(*minutes)),
            Self::DailyMinutes(minutes) => format!("at most {} a day", time(*minutes)),
            Self::Start(date) => format!("start on {}", format_date(*date, today)),
            Self::Deadline(date) => format!("finish by {}", format_date(*date, today)),
            Self::HorizonWeeks(weeks) => {
                format!("within {}", format_counted(usize::from(*weeks), "week"))
            }
            Self::DaysOff { from, to } if from == to => {
                format!("no work on {}", format_date(*from, today))
            }
            Self::DaysOff { from, to } => {
                format!("no work {}", format_date_range(*from, *to, today))
            }
            Self::NotOn(days) => format!("not on {}", names(days)),
            Self::OnlyOn(days) => format!("only on {}", names(days)),
            Self::AlsoOn(days) => format!("also on {}", names(days)),
            Self::OnlyDuring(part) => format!("only in the {}", part.name()),
            Self::NotDuring(part) => format!("not in the {}", part.name()),
            Self::Prefer(part) => format!("rather in the {}", part.name()),
            Self::OnlyAt(slots) => format!("only {}", describe_slots(slots)),
            Self::Person { name, weekly_minutes: Some(minutes) } => {
                format!("{name} works on it too, up to {} a week", time(*minutes))
            }
            Self::Person { name, weekly_minutes: None } => format!("{name} works on it too"),
            Self::Budget { amount, currency } => {
                format!("at most {} is spent", describe_budget(*amount, currency.as_deref()))
            }
            Self::WorkBetween(span) => {
                format!("only {}", format_time_range(span.start, span.end))
            }
        }
    }
}

/// `300 EUR`.
fn describe_budget(amount: u64, currency: Option<&str>) -> String {
    let amount = planwright_text::units::format_count(amount);
    currency.map_or(amount.clone(), |currency| format!("{amount} {currency}"))
}

/// Days of the week in words: "Saturdays and Sundays".
fn describe_days(days: &[Weekday]) -> String {
    const NAMES: [&str; 7] =
        ["Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"];
    let named: Vec<&str> = Weekday::ALL
        .iter()
        .zip(NAMES)
        .filter(|(day, _)| days.contains(day))
        .map(|(_, name)| name)
        .collect();
    match named.split_last() {
        _ if *days == Weekday::ALL[5..] => "weekends".to_owned(),
        _ if *days == Weekday::ALL[..5] => "weekdays".to_owned(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
