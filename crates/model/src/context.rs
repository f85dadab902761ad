//! What a plan is for and within which limits: goal, assumptions, constraints, calendar, preferences.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::{Date, Time, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::task::is_default;
use super::{OffsetDateTime, PatternSpec, StrategyProfile};

/// A day of the week. A week starts on Monday.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Weekday {
    #[serde(alias = "monday")]
    Mon,
    #[serde(alias = "tuesday")]
    Tue,
    #[serde(alias = "wednesday")]
    Wed,
    #[serde(alias = "thursday")]
    Thu,
    #[serde(alias = "friday")]
    Fri,
    #[serde(alias = "saturday")]
    Sat,
    #[serde(alias = "sunday")]
    Sun,
}

impl Weekday {
    pub const ALL: [Self; 7] =
        [Self::Mon, Self::Tue, Self::Wed, Self::Thu, Self::Fri, Self::Sat, Self::Sun];

    /// The weekday of `date`.
    pub fn from_date(date: Date) -> Self {
        date.weekday().into()
    }

    /// Days since Monday.
    pub fn days_since_monday(self) -> i8 {
        self as i8
    }
}

impl From<jiff::civil::Weekday> for Weekday {
    fn from(day: jiff::civil::Weekday) -> Self {
        Self::ALL[day.to_monday_zero_offset().rem_euclid(7) as usize]
    }
}

/// A span of local time within one day, half-open. An end of 00:00 is midnight at the end of the day.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct LocalTimeInterval {
    #[schemars(with = "String")]
    pub start: Time,
    #[schemars(with = "String")]
    pub end: Time,
}

impl LocalTimeInterval {
    pub fn new(start: Time, end: Time) -> Self {
        Self { start, end }
    }

    /// Minutes on a day without a clock change; 0 if the end does not come after the start.
    pub fn duration_minutes(self) -> u32 {
        let of = |at: Time| {
            u32::from(at.hour().unsigned_abs()) * 60 + u32::from(at.minute().unsigned_abs())
        };
        let end = if self.end == Time::midnight() { 24 * 60 } else { of(self.end) };
        end.saturating_sub(of(self.start))
    }
}

/// Spans of local time for each day of the week.
pub type WeeklyHours = BTreeMap<Weekday, Vec<LocalTimeInterval>>;

/// When work may happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanCalendar {
    /// An IANA id.
    pub tz: String,
    #[serde(default = "default_working_hours")]
    pub working: WeeklyHours,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(with = "BTreeSet<String>")]
    pub days_off: BTreeSet<Date>,
    /// Replaces the hours of single dates, days off included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, Vec<LocalTimeInterval>>")]
    pub extra_working: BTreeMap<Date, Vec<LocalTimeInterval>>,
    /// The two-letter code of the country the person lives in, if they said so: it decides seasons and holidays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

impl PlanCalendar {
    /// Monday to Friday, 09:00 to 17:00.
    pub fn new(tz: impl Into<String>) -> Self {
        Self {
            tz: tz.into(),
            working: default_working_hours(),
            days_off: BTreeSet::new(),
            extra_working: BTreeMap::new(),
            country: None,
        }
    }

    /// The working hours of a day; none on a day off.
    pub fn hours_on(&self, date: Date) -> &[LocalTimeInterval] {
        match self.extra_working.get(&date) {
            Some(extra) => extra,
            None if self.days_off.contains(&date) => &[],
            None => self.working.get(&Weekday::from_date(date)).map_or(&[], Vec::as_slice),
        }
    }

    /// Whether a day has working hours.
    pub fn has_hours_on(&self, date: Date) -> bool {
        !self.hours_on(date).is_empty()
    }

    /// Working minutes of an ordinary week.
    pub fn weekly_minutes(&self) -> u32 {
        self.working.values().flatten().map(|interval| interval.duration_minutes()).sum()
    }
}

/// Joins intervals that touch or overlap. One that ends at midnight ends last.
fn merge_intervals(intervals: &mut Vec<LocalTimeInterval>) {
    intervals.retain(|interval| interval.duration_minutes() > 0);
    intervals.sort_unstable_by_key(|interval| interval.start);
    let mut merged: Vec<LocalTimeInterval> = Vec::with_capacity(intervals.len());
    for interval in intervals.drain(..) {
        match merged.last_mut() {
            Some(last) if last.end == Time::midnight() => {}
            Some(last) if interval.start <= last.end => {
                let is_later = interval.end == Time::midnight() || interval.end > last.end;
                last.end = if is_later { interval.end } else { last.end };
            }
            _ => merged.push(interval),
        }
    }
    *intervals = merged;
}

fn default_working_hours() -> WeeklyHours {
    let day = LocalTimeInterval::new(time(9, 0, 0, 0), time(17, 0, 0, 0));
    Weekday::ALL.into_iter().take(5).map(|weekday| (weekday, vec![day])).collect()
}

/// Where an assumed value came from.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AssumptionOrigin {
    User,
    Memory,
    Template,
}

/// A value that the plan rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assumption {
    pub key: String,
    pub value: String,
    pub origin: AssumptionOrigin,
    /// How the person would be asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

/// The limits of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanConstraints {
    /// The first day; tomorrow unless the person says otherwise.
    #[schemars(with = "String")]
    pub start: Date,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<OffsetDateTime>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon_weeks: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weekly_minutes: Option<u32>,
    /// The minutes a week for all of the person's plans together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_plans_weekly_minutes: Option<u32>,
    #[serde(default = "default_daily_minutes")]
    pub max_daily_minutes: u32,
    #[serde(default = "default_parallel_phases")]
    pub max_parallel_phases: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_text: Option<String>,
    /// Keys of the constraints that the person called fixed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub hard: BTreeSet<String>,
}

impl PlanConstraints {
    /// No limits but the default daily minutes and parallel phases.
    pub fn starting_on(start: Date) -> Self {
        Self {
            start,
            deadline: None,
            horizon_weeks: None,
            weekly_minutes: None,
            all_plans_weekly_minutes: None,
            max_daily_minutes: default_daily_minutes(),
            max_parallel_phases: default_parallel_phases(),
            budget_text: None,
            hard: BTreeSet::new(),
        }
    }
}

fn default_daily_minutes() -> u32 {
    240
}
fn default_parallel_phases() -> u16 {
    2
}

/// How the person likes to work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UserPrefs {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub preferred_windows: WeeklyHours,
    pub min_block_minutes: u32,
    pub max_block_minutes: u32,
    pub break_minutes: u32,
}

impl Default for UserPrefs {
    fn default() -> Self {
        Self {
            preferred_windows: WeeklyHours::new(),
            min_block_minutes: 30,
            max_block_minutes: 120,
            break_minutes: 10,
        }
    }
}

/// What a plan is for and within which limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanContext {
    /// As typed, trimmed, 1 to 2000 characters.
    pub goal_text: String,
    #[serde(default)]
    pub strategy_profile: StrategyProfile,
    /// Mirrors the session's selected pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternSpec>,
    /// Every value that the person did not state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Assumption>,
    pub constraints: PlanConstraints,
    pub calendar: PlanCalendar,
    #[serde(default, skip_serializing_if = "is_default")]
    pub user_prefs: UserPrefs,
    /// Who else works on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<PlanPerson>,
    /// Days on which the person is away while others work, besides everybody's days off.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(with = "BTreeSet<String>")]
    pub own_days_off: BTreeSet<Date>,
}

/// Somebody who works on a plan besides the person. Tasks name them as their owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanPerson {
    pub name: String,
    /// The most that they work on the plan in a week; none is not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weekly_minutes: Option<u32>,
    /// Days on which they do not work on it, besides everybody's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(with = "BTreeSet<String>")]
    pub days_off: BTreeSet<Date>,
    /// Days of the week on which they never work on it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub weekdays_off: BTreeSet<Weekday>,
    /// The hours at which they work on it, if they are others than the person's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hours: WeeklyHours,
}

impl PlanPerson {
    /// Somebody whose time is not limited.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            weekly_minutes: None,
            days_off: BTreeSet::new(),
            weekdays_off: BTreeSet::new(),
            hours: WeeklyHours::new(),
        }
    }
}

impl PlanContext {
    /// The longest goal, in characters.
    pub const MAX_GOAL_CHARS: usize = 2000;

    /// A context with defaults for everything but the goal, the first day and the zone.
    pub fn new(goal_text: impl AsRef<str>, start: Date, tz: impl Into<String>) -> Self {
        Self {
            goal_text: goal_text.as_ref().trim().to_owned(),
            strategy_profile: StrategyProfile::default(),
            pattern: None,
            assumptions: Vec::new(),
            constraints: PlanConstraints::starting_on(start),
            calendar: PlanCalendar::new(tz),
            user_prefs: UserPrefs::default(),
            people: Vec::new(),
            own_days_off: BTreeSet::new(),
        }
    }

    /// Somebody else who works on it, by name.
    pub fn find_person(&self, name: &str) -> Option<&PlanPerson> {
        self.people.iter().find(|person| person.name.eq_ignore_ascii_case(name.trim()))
    }

    /// The same to change them; whoever is not known yet joins the plan.
    pub fn person_mut(&mut self, name: &str) -> &mut PlanPerson {
        let name = name.trim();
        let known = self.people.iter().position(|one| one.name.eq_ignore_ascii_case(name));
        let place = known.unwrap_or_else(|| {
            self.people.push(PlanPerson::new(name));
            self.people.len() - 1
        });
        &mut self.people[place]
    }

    /// The calendar with the hours of everybody who works on it, the person included.
    pub fn shared_calendar(&self) -> Cow<'_, PlanCalendar> {
        let weeks: Vec<&WeeklyHours> = self
            .people
            .iter()
            .map(|person| &person.hours)
            .filter(|hours| !hours.is_empty())
            .collect();
        if weeks.is_empty() {
            return Cow::Borrowed(&self.calendar);
        }
        let mut shared = self.calendar.clone();
        for week in weeks {
            for (day, hours) in week {
                shared.working.entry(*day).or_default().extend(hours);
            }
            for (date, hours) in &mut shared.extra_working {
                hours.extend(week.get(&Weekday::from_date(*date)).into_iter().flatten());
            }
        }
        shared.working.values_mut().for_each(merge_intervals);
        shared.extra_working.values_mut().for_each(merge_intervals);
        Cow::Owned(shared)
    }

    /// The assumption about `key`.
    pub fn find_assumption(&self, key: &str) -> Option<&Assumption> {
        self.assumptions.iter().find(|assumption| assumption.key == key)
    }

    /// The number of weeks that the person gave, and the last day of them.
    pub fn stated_weeks(&self) -> Option<(u16, Date)> {
        let is_stated = self
            .find_assumption("horizon_weeks")
            .is_none_or(|found| found.origin == AssumptionOrigin::User);
        let weeks = self.constraints.horizon_weeks.filter(|_| is_stated)?;
        let days = jiff::Span::new().days(i64::from(weeks) * 7 - 1);
        Some((weeks, self.constraints.start.saturating_add(days)))
    }

    /// The last day that the person gave: a deadline, or the end of a number of weeks.
    pub fn stated_last_day(&self) -> Option<Date> {
        let deadline = self.constraints.deadline.map(OffsetDateTime::local_date);
        deadline.or_else(|| self.stated_weeks().map(|(_, end)| end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_round_trips_and_fills_in_its_defaults() {
        let context =
            PlanContext::new(" learn Rust ", jiff::civil::date(2026, 6, 8), "Europe/Berlin");
        let json = serde_json::to_string(&context).unwrap();
        assert_eq!(serde_json::from_str::<PlanContext>(&json).unwrap(), context);
        let small = r#"{"goal_text":"learn Rust","constraints":{"start":"2026-06-08"},"calendar":{"tz":"Europe/Berlin"}}"#;
        assert_eq!(serde_json::from_str::<PlanContext>(small).unwrap(), context);
        assert_eq!(context.calendar.weekly_minutes(), 2400);
    }

    #[test]
    fn the_shared_calendar_has_the_hours_of_everybody() {
        let mut context = PlanContext::new("x", jiff::civil::date(2026, 6, 8), "UTC");
        assert!(matches!(context.shared_calendar(), Cow::Borrowed(_)));
        let hours = |from, to| LocalTimeInterval::new(time(from, 0, 0, 0), time(to, 0, 0, 0));
        let ben = context.person_mut("Ben");
        ben.hours.insert(Weekday::Mon, vec![hours(8, 12), hours(20, 0)]);
        ben.hours.insert(Weekday::Sat, vec![hours(8, 12)]);
        let shared = context.shared_calendar();
        assert_eq!(shared.working[&Weekday::Mon], [hours(8, 17), hours(20, 0)]);
        assert_eq!(shared.working[&Weekday::Tue], [hours(9, 17)]);
        assert_eq!(shared.working[&Weekday::Sat], [hours(8, 12)]);
    }

    #[test]
    fn an_interval_may_end_at_midnight() {
        assert_eq!(
            LocalTimeInterval::new(time(22, 0, 0, 0), Time::midnight()).duration_minutes(),
            120
        );
        assert_eq!(
            LocalTimeInterval::new(time(9, 0, 0, 0), time(8, 0, 0, 0)).duration_minutes(),
            0
        );
    }

    #[test]
    fn weekdays_follow_the_calendar() {
        assert_eq!(Weekday::from_date(jiff::civil::date(2026, 6, 5)), Weekday::Fri);
        assert_eq!(Weekday::Fri.days_since_monday(), 4);
    }
}
