//! From moments to columns of the chart, and the labels above them. Pure.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

use crate::panes::plan::times::PlannedSpan;
use planwright_model::PlanCalendar;
use planwright_text::dates::format_date;

/// How much time a column stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GanttScale {
    /// One column is so many seconds.
    Seconds(u32),
    /// Two columns are a day.
    Day,
    /// One column is a day.
    ShortDay,
    /// Four columns are a week.
    Week,
    /// Six columns are a month.
    Month,
}

/// Columns finer than a day, in seconds.
const FINE: [u32; 15] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl GanttScale {
    /// The finest scale on which a span fits into so many columns. Plans by the calendar are never finer than days.
    pub(crate) fn finest_fitting(
        span: PlannedSpan,
        zone: &TimeZone,
        columns: usize,
        calendar: bool,
    ) -> Self {
        let fine = FINE.iter().map(|seconds| Self::Seconds(*seconds)).filter(|_| !calendar);
        fine.chain([Self::Day, Self::ShortDay, Self::Week])
            .find(|scale| {
                let axis = GanttAxis::new(*scale, span.start, zone.clone());
                axis.column_range(span).1 <= columns as i64
            })
            .unwrap_or(Self::Month)
    }

    /// What the zoom key turns through: what fits, then finer or coarser ones.
    pub(crate) fn zoom_choices(fitting: Self) -> Vec<Self> {
        let mut scales = vec![fitting];
        if let Self::Seconds(seconds) = fitting {
            let finer = FINE.iter().rev().find(|fine| **fine * 3 < seconds).copied();
            scales.extend(finer.map(Self::Seconds));
        }
        scales.extend(
            [Self::Day, Self::ShortDay, Self::Week, Self::Month]
                .into_iter()
                .filter(|scale| *scale != fitting),
        );
        scales
    }

    /// The word for it in the rule.
    pub(crate) fn unit_text(self) -> String {
        match self {
            Self::Seconds(seconds) => {
                let time = std::time::Duration::from_secs(seconds.into());
                format!("{} a column", planwright_text::units::format_elapsed(time))
            }
            Self::Day | Self::ShortDay => "days".to_owned(),
            Self::Week => "weeks".to_owned(),
            Self::Month => "months".to_owned(),
        }
    }

    /// How many columns one step to the side takes.
    pub(crate) fn step_columns(self) -> i64 {
        match self {
            Self::Seconds(_) => 10,
            Self::Day => 2,
            Self::ShortDay => 7,
            Self::Week => 4,
            Self::Month => 6,
        }
    }
}

/// A label and the column it starts at.
pub(crate) type AxisLabel = (i64, String);

/// Where moments fall. Column 0 is the start of the first unit.
#[derive(Clone, Debug)]
pub(crate) struct GanttAxis {
    pub(crate) scale: GanttScale,
    zone: TimeZone,
    origin: Timestamp,
    first: Date,
    /// The hours of the person, where they are known.
    hours: Option<PlanCalendar>,
}

impl GanttAxis {
    pub(crate) fn new(scale: GanttScale, start: Timestamp, zone: TimeZone) -> Self {
        let day = start.to_zoned(zone.clone()).date();
        let (origin, first) = match scale {
            GanttScale::Seconds(seconds) => {
                let step = i64::from(seconds) * scale.step_columns();
                let local = start.as_second() + i64::from(zone.to_offset(start).seconds());
                let aligned = start.as_second() - local.rem_euclid(step);
                (Timestamp::from_second(aligned).unwrap_or(start), day)
            }
            GanttScale::Day | GanttScale::ShortDay | GanttScale::Week => (start, week_start(day)),
            GanttScale::Month => (start, day.first_of_month()),
        };
        Self { scale, zone, origin, first, hours: None }
    }

    /// The same with the hours of the person, which say what a day off is.
    pub(crate) fn with_hours(self, hours: Option<PlanCalendar>) -> Self {
        Self { hours, ..self }
    }

    /// The column a moment falls into.
    pub(crate) fn column_at(&self, at: Timestamp) -> i64 {
        if let GanttScale::Seconds(seconds) = self.scale {
            let passed = at.as_second() - self.origin.as_second();
            return passed.div_euclid(i64::from(seconds));
        }
        let at = at.to_zoned(self.zone.clone());
        let days = days_between(self.first, at.date());
        match self.scale {
            GanttScale::Day | GanttScale::Seconds(_) => days * 2 + i64::from(at.hour() >= 12),
            GanttScale::ShortDay => days,
            GanttScale::Week => (days * 4).div_euclid(7),
            GanttScale::Month => {
                let date = at.date();
                let months = i64::from(date.year() - self.first.year()) * 12
                    + i64::from(date.month() - self.first.month());
                months * 6 + i64::from(date.day() - 1) * 6 / i64::from(date.days_in_month())
            }
        }
    }

    /// First column and the one after the last; nothing is shorter than a column.
    pub(crate) fn column_range(&self, span: PlannedSpan) -> (i64, i64) {
        let first = self.column_at(span.start);
        let last = span.end.checked_sub(SignedDuration::from_nanos(1)).unwrap_or(span.end);
        (first, (self.column_at(last) + 1).max(first + 1))
    }

    /// Whether a column is a day off: one that the calendar leaves out, or a weekend day without hours.
    pub(crate) fn is_day_off(&self, column: i64) -> bool {
        match self.scale {
            GanttScale::Day => self.is_date_off(column.div_euclid(2)),
            GanttScale::ShortDay => self.is_date_off(column),
            // Of four columns the last one is the weekend.
            GanttScale::Week => {
                let monday = column.div_euclid(4) * 7;
                column.rem_euclid(4) == 3 && (5..7).all(|day| self.is_date_off(monday + day))
            }
            GanttScale::Seconds(_) | GanttScale::Month => false,
        }
    }

    fn is_date_off(&self, days: i64) -> bool {
        let Some(date) = self.date_after(days) else { return false };
        let weekend = matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday);
        match &self.hours {
            Some(hours) => (weekend || hours.days_off.contains(&date)) && !hours.has_hours_on(date),
            None => weekend,
        }
    }

    /// The labels of both rows above the chart that begin within these columns.
    pub(crate) fn visible_labels(&self, from: i64, to: i64) -> (Vec<AxisLabel>, Vec<AxisLabel>) {
        match self.scale {
            GanttScale::Seconds(seconds) => self.clock_labels(seconds, from, to),
            GanttScale::Day => self.day_labels(from, to),
            GanttScale::ShortDay => self.week_labels(7, from, to),
            GanttScale::Week => self.week_labels(4, from, to),
            GanttScale::Month => self.month_labels(from, to),
        }
    }

    fn clock_labels(&self, seconds: u32, from: i64, to: i64) -> (Vec<AxisLabel>, Vec<AxisLabel>) {
        let step = self.scale.step_columns();
        let first = from.div_euclid(step) * step;
        let mut days: Vec<AxisLabel> = Vec::new();
        let mut times = Vec::new();
        let mut shown: Option<Date> = None;
        for column in (first..to).step_by(step as usize) {
            let Ok(at) =
                Timestamp::from_second(self.origin.as_second() + column * i64::from(seconds))
            else {
                continue;
            };
            let at = at.to_zoned(self.zone.clone());
            if column >= from {
                let second =
                    if seconds < 6 { format!(":{:02}", at.second()) } else { String::new() };
                times.push((column, format!("{:02}:{:02}{second}", at.hour(), at.minute())));
            }
            if shown != Some(at.date()) {
                shown = Some(at.date());
                days.push((column.max(from), format_date(at.date(), self.first)));
            }
        }
        (drop_overlapping(days), times)
    }

    fn day_labels(&self, from: i64, to: i64) -> (Vec<AxisLabel>, Vec<AxisLabel>) {
        let (mut weeks, mut days) = (Vec::new(), Vec::new());
        for column in from..to {
            if column.rem_euclid(2) != 0 {
                continue;
            }
            let Some(date) = self.date_after(column.div_euclid(2)) else { continue };
            if date.weekday() == Weekday::Monday {
                weeks.push((column, format!("{} {}", date.day(), month_name(date))));
            }
            days.push((column, weekday_name(date)[..1].to_owned()));
        }
        (weeks, days)
    }

    /// A label for each week, which is so many columns wide.
    fn week_labels(&self, wide: i64, from: i64, to: i64) -> (Vec<AxisLabel>, Vec<AxisLabel>) {
        let (mut months, mut weeks) = (Vec::new(), Vec::new());
        let mut shown = 0;
        for column in (from..to).filter(|column| column.rem_euclid(wide) == 0) {
            let Some(date) = self.date_after(column.div_euclid(wide) * 7) else { continue };
            weeks.push((column, date.day().to_string()));
            if date.month() != shown {
                shown = date.month();
                months.push((column, month_name(date).to_owned()));
            }
        }
        (drop_overlapping(months), weeks)
    }

    fn month_labels(&self, from: i64, to: i64) -> (Vec<AxisLabel>, Vec<AxisLabel>) {
        let (mut years, mut months) = (Vec::new(), Vec::new());
        let mut shown = i16::MIN;
        for column in (from..to).filter(|column| column.rem_euclid(6) == 0) {
            let Ok(date) = self.first.checked_add(column.div_euclid(6).months()) else { continue };
            months.push((column, month_name(date)[..3].to_owned()));
            if date.year() != shown {
                shown = date.year();
                years.push((column, date.year().to_string()));
            }
        }
        (years, months)
    }

    fn date_after(&self, days: i64) -> Option<Date> {
        self.first.checked_add(days.days()).ok()
    }
}

fn days_between(from: Date, to: Date) -> i64 {
    to.duration_since(from).as_hours() / 24
}

fn week_start(date: Date) -> Date {
    let back = i64::from(date.weekday().to_monday_zero_offset());
    date.checked_sub(back.days()).unwrap_or(date)
}

/// Drops labels that would run into the one before.
fn drop_overlapping(labels: Vec<AxisLabel>) -> Vec<AxisLabel> {
    let mut free = i64::MIN;
    let fits = |(at, text): &AxisLabel| {
        let fits = *at >= free;
        if fits {
            free = at + text.len() as i64 + 1;
        }
        fits
    };
    labels.into_iter().filter(fits).collect()
}

fn month_name(date: Date) -> &'static str {
    MONTHS[usize::from(date.month().unsigned_abs()) - 1]
}

fn weekday_name(date: Date) -> &'static str {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        [date.weekday().to_monday_zero_offset().unsigned_abs() as usize]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn berlin() -> TimeZone {
        TimeZone::get("Europe/Berlin").unwrap()
    }

    #[test]
    fn a_day_is_two_columns_and_a_week_starts_on_monday() {
        // Thursday, 11 June 2026.
        let axis = GanttAxis::new(GanttScale::Day, at("2026-06-11T08:00:00Z"), berlin());
        assert_eq!(axis.column_at(at("2026-06-08T00:00:00+02:00")), 0);
        assert_eq!(axis.column_at(at("2026-06-11T08:00:00Z")), 6);
        assert_eq!(axis.column_at(at("2026-06-11T13:00:00+02:00")), 7);
        assert!(axis.is_day_off(10) && axis.is_day_off(13) && !axis.is_day_off(14));
        let (weeks, days) = axis.visible_labels(0, 28);
        assert_eq!(weeks, [(0, "8 June".to_owned()), (14, "15 June".to_owned())]);
        let letters: String = days.iter().map(|(_, letter)| letter.as_str()).collect();
        assert_eq!(letters, "MTWTFSSMTWTFSS");
    }

    #[test]
    fn a_saturday_with_hours_is_no_day_off_and_a_holiday_is_one() {
        let mut hours = PlanCalendar::new("Europe/Berlin");
        let saturday = hours.working.values().next().cloned().unwrap();
        hours.working.insert(planwright_model::Weekday::Sat, saturday);
        hours.days_off.insert(jiff::civil::date(2026, 6, 12));
        let axis = |scale| {
            GanttAxis::new(scale, at("2026-06-11T08:00:00Z"), berlin())
                .with_hours(Some(hours.clone()))
        };
        let days = axis(GanttScale::Day);
        let off: Vec<i64> = (0..14).filter(|column| days.is_day_off(*column)).collect();
        assert_eq!(off, [8, 9, 12, 13], "Friday is a holiday, Sunday is free");
        assert!(!axis(GanttScale::Week).is_day_off(3));
    }

    #[test]
    fn weeks_and_months_have_their_columns() {
        let axis = GanttAxis::new(GanttScale::Week, at("2026-06-11T08:00:00Z"), TimeZone::UTC);
        assert_eq!(axis.column_at(at("2026-06-15T00:00:00Z")), 4);
        assert_eq!(axis.visible_labels(0, 12).0, [(0, "June".to_owned())]);
        let axis = GanttAxis::new(GanttScale::Month, at("2026-06-11T08:00:00Z"), TimeZone::UTC);
        assert_eq!(axis.column_at(at("2026-07-01T00:00:00Z")), 6);
        assert_eq!(axis.column_at(at("2026-12-31T23:59:59Z")), 41);
        let (years, months) = axis.visible_labels(0, 48);
        assert_eq!(years, [(0, "2026".to_owned()), (42, "2027".to_owned())]);
        assert_eq!(months[1], (6, "Jul".to_owned()));
    }

    #[test]
    fn the_scale_is_the_finest_that_fits() {
        let start = at("2026-06-08T14:00:00Z");
        let span = |minutes: i64| PlannedSpan {
            start,
            end: start.checked_add(SignedDuration::from_mins(minutes)).unwrap(),
        };
        let fitting = |minutes, calendar| {
            GanttScale::finest_fitting(span(minutes), &TimeZone::UTC, 80, calendar)
        };
        assert_eq!(fitting(24, false), GanttScale::Seconds(30));
        assert_eq!(fitting(24, true), GanttScale::Day);
        assert_eq!(fitting(60 * 24 * 30, true), GanttScale::Day);
        assert_eq!(fitting(60 * 24 * 100, true), GanttScale::Week);
        assert_eq!(fitting(60 * 24 * 400, true), GanttScale::Month);
    }

    #[test]
    fn times_of_day_stand_at_round_columns() {
        let axis =
            GanttAxis::new(GanttScale::Seconds(30), at("2026-06-08T14:12:10Z"), TimeZone::UTC);
        let (days, times) = axis.visible_labels(0, 30);
        assert_eq!(days, [(0, "Mon 8 Jun".to_owned())]);
        let words: Vec<&str> = times.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(words, ["14:10", "14:15", "14:20"]);
    }

    proptest! {
        #[test]
        fn later_is_never_further_left(a in 0..40_000_000_i64, b in 0..40_000_000_i64, scale in 0..5_usize) {
            let scale = [GanttScale::Seconds(30), GanttScale::Seconds(3600), GanttScale::Day, GanttScale::Week, GanttScale::Month][scale];
            let moment = |second: i64| Timestamp::from_second(1_780_000_000 + second).unwrap();
            let axis = GanttAxis::new(scale, moment(0), berlin());
            let (first, second) = (a.min(b), a.max(b));
            prop_assert!(axis.column_at(moment(first)) <= axis.column_at(moment(second)));
            let (from, to) = axis.column_range(PlannedSpan { start: moment(first), end: moment(second) });
            prop_assert!(from < to && from >= 0);
        }
    }
}
