//! Recurring dates, expanded in local time so that 09:00 stays 09:00 across a clock change.

use jiff::civil::{Date, Weekday};

use super::zone::{monday_of, plus_days};
use planwright_model::{Recurrence, RecurrenceByDay, RecurrenceFrequency};

/// The maximum number of dates of one rule: daily for a little over ten years.
pub(crate) const MAX_OCCURRENCES: usize = 4_000;

/// How often a rule recurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecurrenceInterval {
    Days(u32),
    Weeks(u32),
    Months(u32),
}

/// A day inside a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecurrenceRuleDay {
    /// Every occurrence of this weekday.
    Each(i8),
    /// The nth occurrence of this weekday in a month, from its end if negative.
    Nth(i8, i8),
    /// A day of the month; if the month is shorter, its last day.
    Date(i8),
}

impl RecurrenceRuleDay {
    /// Returns every occurrence of this weekday.
    pub fn each_weekday(weekday: Weekday) -> Self {
        Self::Each(weekday.to_monday_zero_offset())
    }

    /// Returns the nth occurrence of this weekday in a month.
    pub fn nth_weekday(nth: i8, weekday: Weekday) -> Self {
        Self::Nth(nth, weekday.to_monday_zero_offset())
    }
}

/// A recurrence rule, independent of serialized names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecurrenceRule {
    pub every: RecurrenceInterval,
    /// Empty means the day of the first date.
    pub days: Vec<RecurrenceRuleDay>,
    pub count: Option<u32>,
    /// The first date, inclusive.
    pub from: Option<Date>,
    /// The last date, inclusive.
    pub until: Option<Date>,
}

impl From<&Recurrence> for RecurrenceRule {
    fn from(recurrence: &Recurrence) -> Self {
        let step = u32::from(recurrence.interval.max(1));
        let every = match recurrence.freq {
            RecurrenceFrequency::Daily => RecurrenceInterval::Days(step),
            RecurrenceFrequency::Weekly => RecurrenceInterval::Weeks(step),
            RecurrenceFrequency::Monthly => RecurrenceInterval::Months(step),
            RecurrenceFrequency::Quarterly => RecurrenceInterval::Months(step * 3),
            RecurrenceFrequency::Yearly => RecurrenceInterval::Months(step * 12),
        };
        let day = |day: &RecurrenceByDay| match (day, every) {
            (RecurrenceByDay::MonthDay(day), _) => {
                RecurrenceRuleDay::Date(i8::try_from(*day).unwrap_or(31))
            }
            // "Monthly on a Friday" means once a month, on the first Friday.
            (RecurrenceByDay::Weekday(day), RecurrenceInterval::Months(_)) => {
                RecurrenceRuleDay::Nth(1, day.days_since_monday())
            }
            (RecurrenceByDay::Weekday(day), _) => RecurrenceRuleDay::Each(day.days_since_monday()),
        };
        let days = recurrence.by_day.iter().map(day).collect();
        Self {
            every,
            days,
            count: recurrence.count,
            from: recurrence.from,
            until: recurrence.until,
        }
    }
}

impl RecurrenceRule {
    /// Returns the dates of the rule from `first` to `last`, both inclusive. `first` anchors the periods and is
    /// included only if it matches the rule.
    pub fn dates_between(&self, first: Date, last: Date) -> Vec<Date> {
        let first = self.from.map_or(first, |from| from.max(first));
        let last = self.until.map_or(last, |until| until.min(last));
        let limit = self.count.map_or(MAX_OCCURRENCES, |count| count as usize);
        let mut dates = Vec::new();
        for period in 0.. {
            let start = self.period_start(first, period);
            if start > last || start == Date::MAX || dates.len() >= limit.min(MAX_OCCURRENCES) {
                break;
            }
            let mut days = self.period_days(start, first);
            days.sort_unstable();
            days.dedup();
            dates.extend(days.into_iter().filter(|date| (first..=last).contains(date)));
        }
        dates.truncate(limit.min(MAX_OCCURRENCES));
        dates
    }

    fn period_start(&self, first: Date, period: i64) -> Date {
        match self.every {
            RecurrenceInterval::Days(step) => {
                plus_days(first, period.saturating_mul(i64::from(step.max(1))))
            }
            RecurrenceInterval::Weeks(step) => {
                plus_days(monday_of(first), period.saturating_mul(7 * i64::from(step.max(1))))
            }
            RecurrenceInterval::Months(step) => {
                plus_months(first, period.saturating_mul(i64::from(step.max(1))))
            }
        }
    }

    fn period_days(&self, start: Date, first: Date) -> Vec<Date> {
        match self.every {
            RecurrenceInterval::Days(_) => {
                let fits =
                    self.days.is_empty() || self.days.iter().any(|day| day.matches_date(start));
                fits.then_some(start).into_iter().collect()
            }
            RecurrenceInterval::Weeks(_) if self.days.is_empty() => {
                vec![plus_days(start, i64::from(first.weekday().to_monday_zero_offset()))]
            }
            RecurrenceInterval::Weeks(_) => {
                let week = (0..7).map(|day| plus_days(start, day));
                week.filter(|date| self.days.iter().any(|day| day.matches_date(*date))).collect()
            }
            RecurrenceInterval::Months(_) if self.days.is_empty() => {
                vec![RecurrenceRuleDay::clamped_to_month(start, first.day())]
            }
            RecurrenceInterval::Months(_) => {
                let month = (0..i64::from(start.days_in_month())).map(|day| plus_days(start, day));
                month.filter(|date| self.days.iter().any(|day| day.matches_date(*date))).collect()
            }
        }
    }
}

impl RecurrenceRuleDay {
    fn matches_date(self, date: Date) -> bool {
        let weekday = date.weekday().to_monday_zero_offset();
        match self {
            Self::Each(wanted) => weekday == wanted,
            Self::Nth(nth, wanted) if nth < 0 => {
                weekday == wanted && (date.days_in_month() - date.day()) / 7 == -(nth + 1)
            }
            Self::Nth(nth, wanted) => {
                weekday == wanted && (date.day() - 1) / 7 == nth.saturating_sub(1)
            }
            Self::Date(day) => date == Self::clamped_to_month(date, day),
        }
    }

    fn clamped_to_month(month: Date, day: i8) -> Date {
        let last = month.days_in_month();
        Date::new(month.year(), month.month(), day.clamp(1, last)).unwrap_or(month)
    }
}

/// Returns the first day of the month that is this many months after the month of `date`.
fn plus_months(date: Date, months: i64) -> Date {
    let index = i64::from(date.year()) * 12 + i64::from(date.month()) - 1;
    let index = index.saturating_add(months);
    let year = i16::try_from(index.div_euclid(12)).unwrap_or(i16::MAX);
    Date::new(year, index.rem_euclid(12) as i8 + 1, 1).unwrap_or(Date::MAX)
}
