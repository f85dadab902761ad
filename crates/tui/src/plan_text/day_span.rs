//! The days on which something is planned.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use planwright_text::dates::{format_date, format_date_range, format_short_date};

/// From the first day to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaySpan {
    pub first: Date,
    pub last: Date,
}

impl DaySpan {
    /// The days that a stretch of time touches; an end at midnight does not touch the day that begins then.
    pub fn from_stretch(start: Timestamp, end: Timestamp, zone: &TimeZone) -> Self {
        let day = |at: Timestamp| at.to_zoned(zone.clone()).date();
        let last = end.checked_sub(jiff::Span::new().seconds(1)).unwrap_or(end).max(start);
        Self { first: day(start), last: day(last) }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    /// Its last day alone.
    #[must_use]
    pub fn end_day(self) -> Self {
        Self { first: self.last, ..self }
    }

    /// `Thu 19 Nov`, `Tue 1 – Thu 3 Dec`, `Sat 28 Nov – Thu 10 Dec`.
    pub fn text(self, today: Date) -> String {
        format_date_range(self.first, self.last, today)
    }

    /// The first day without its weekday, for narrow columns: `19 Nov`.
    pub fn short_text(self) -> String {
        self.first.strftime("%-d %b").to_string()
    }

    /// What became of it: `Thu 19 → Sat 21 Nov`, `Tue 1 – Thu 3 Dec → Sun 29 Nov – Sat 5 Dec`. The month of the old
    /// days is left out where all of them are in one.
    pub fn change_text(self, now: Self, today: Date) -> String {
        let month = |date: Date| (date.year(), date.month());
        let one_month =
            [self.first, self.last, now.last].iter().all(|day| month(*day) == month(now.first));
        let was = match (one_month, self.first == self.last) {
            (true, true) => format_short_date(self.first),
            (true, false) => {
                format!("{} – {}", format_short_date(self.first), format_short_date(self.last))
            }
            (false, _) => self.text(today),
        };
        format!("{was} → {}", now.text(today))
    }

    /// The same without weekdays, for narrow columns: `19 → 21 Nov`, `1 – 3 Dec → 29 Nov – 5 Dec`.
    pub fn short_change_text(self, now: Self) -> String {
        let month = |date: Date| (date.year(), date.month());
        let one_month =
            [self.first, self.last, now.last].iter().all(|day| month(*day) == month(now.first));
        let was = if one_month { self.short_days() } else { self.short_range() };
        format!("{was} → {}", now.short_range())
    }

    fn short_days(self) -> String {
        if self.first == self.last {
            self.first.day().to_string()
        } else {
            format!("{} – {}", self.first.day(), self.last.day())
        }
    }

    /// All days without their weekdays: `19 Nov`, `1 – 3 Dec`, `28 Nov – 10 Dec`.
    pub fn short_range(self) -> String {
        let month = |date: Date| (date.year(), date.month());
        let last = self.last.strftime("%-d %b");
        match (self.first == self.last, month(self.first) == month(self.last)) {
            (true, _) => last.to_string(),
            (false, true) => format!("{} – {last}", self.first.day()),
            (false, false) => format!("{} – {last}", self.first.strftime("%-d %b")),
        }
    }
}

/// What became of a last day: `Sat 19 Dec → Sun 20 Dec`.
pub(super) fn day_change_text(was: Date, now: Date, today: Date) -> String {
    format!("{} → {}", format_date(was, today), format_date(now, today))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    const TODAY: Date = date(2026, 11, 17);

    fn span(first: (i8, i8), last: (i8, i8)) -> DaySpan {
        DaySpan { first: date(2026, first.0, first.1), last: date(2026, last.0, last.1) }
    }

    #[test]
    fn a_moved_span_names_its_month_as_seldom_as_it_can() {
        let change = |was: DaySpan, now: DaySpan| was.change_text(now, TODAY);
        assert_eq!(
            change(span((11, 19), (11, 19)), span((11, 21), (11, 21))),
            "Thu 19 → Sat 21 Nov"
        );
        assert_eq!(
            change(span((12, 1), (12, 3)), span((11, 29), (12, 5))),
            "Tue 1 – Thu 3 Dec → Sun 29 Nov – Sat 5 Dec"
        );
        assert_eq!(
            span((12, 1), (12, 3)).short_change_text(span((11, 29), (12, 5))),
            "1 – 3 Dec → 29 Nov – 5 Dec"
        );
        assert_eq!(
            span((11, 24), (11, 28)).short_change_text(span((11, 22), (11, 28))),
            "24 – 28 → 22 – 28 Nov"
        );
    }

    #[test]
    fn midnight_ends_the_day_before() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let days = DaySpan::from_stretch(
            at("2026-11-19T19:00:00Z"),
            at("2026-11-20T00:00:00Z"),
            &TimeZone::UTC,
        );
        assert_eq!(days, span((11, 19), (11, 19)));
    }
}
