//! Date formats for screens: one function per kind, so that a day is written the same everywhere.
//!
//! A date is `Tue 17 Nov`; the year follows only when it is another one than the reader's. Every function takes the
//! reader's day as an argument, since this crate has no clock.

use jiff::civil::{Date, DateTime, Time};

/// How near a day must be to be said in words beside its date.
const NEAR_DAYS: i32 = 6;

/// Formats a date: `Tue 17 Nov`, and `Mon 4 Jan 2027` when it is not in the year of `today`.
pub fn format_date(date: Date, today: Date) -> String {
    let form = if date.year() == today.year() { "%a %-d %b" } else { "%a %-d %b %Y" };
    date.strftime(form).to_string()
}

/// Formats a date for narrow columns, where the month is plain from the rows around it: `Sat 14`.
pub fn format_short_date(date: Date) -> String {
    date.strftime("%a %-d").to_string()
}

/// Formats a time of day: `14:22`.
pub fn format_time(time: Time) -> String {
    time.strftime("%H:%M").to_string()
}

/// Formats a moment: `Tue 17 Nov 14:22`.
pub fn format_date_time(moment: DateTime, today: Date) -> String {
    format!("{} {}", format_date(moment.date(), today), format_time(moment.time()))
}

/// Formats a moment by what is enough to find it: `14:22` on the day of `today`, else `Tue 17 Nov 14:22`.
pub fn format_near_date_time(moment: DateTime, today: Date) -> String {
    if moment.date() == today {
        format_time(moment.time())
    } else {
        format_date_time(moment, today)
    }
}

/// Formats a span of days: `Tue 17 Nov`, `Tue 1 – Thu 3 Dec`, `Sat 28 Nov – Thu 10 Dec`.
pub fn format_date_range(from: Date, to: Date, today: Date) -> String {
    if from == to {
        return format_date(from, today);
    }
    let end = format_date(to, today);
    let start = match (from.year() == to.year(), from.month() == to.month()) {
        (true, true) => format_short_date(from),
        (true, false) => from.strftime("%a %-d %b").to_string(),
        (false, _) => format_date(from, today),
    };
    format!("{start} – {end}")
}

/// Formats a span of time: `13:30 – 15:00`.
pub fn format_time_range(from: Time, to: Time) -> String {
    format!("{} – {}", format_time(from), format_time(to))
}

/// Formats from when to when something is planned: `Tue 17 Nov 13:30 – 15:00`, or two moments over midnight.
pub fn format_date_time_range(from: DateTime, to: DateTime, today: Date) -> String {
    if from.date() == to.date() {
        let times = format_time_range(from.time(), to.time());
        return format!("{} {times}", format_date(from.date(), today));
    }
    format!("{} – {}", format_date_time(from, today), format_date_time(to, today))
}

/// Says how far away a near day is: `today`, `tomorrow`, `in 3 days`, `yesterday`, `3 days ago`; `None` beyond a week.
pub fn describe_near_date(date: Date, today: Date) -> Option<String> {
    let days = today.until(date).ok()?.get_days();
    match days {
        0 => Some("today".to_owned()),
        1 => Some("tomorrow".to_owned()),
        -1 => Some("yesterday".to_owned()),
        2..=NEAR_DAYS => Some(format!("in {days} days")),
        days if (-NEAR_DAYS..0).contains(&days) => Some(format!("{} days ago", -days)),
        _ => None,
    }
}

/// Formats a date with how near it is: `Fri 20 Nov, in 3 days`, `Sat 19 Dec`.
pub fn format_date_and_distance(date: Date, today: Date) -> String {
    let shown = format_date(date, today);
    match describe_near_date(date, today) {
        Some(near) => format!("{shown}, {near}"),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{date, time};

    const TODAY: Date = date(2026, 11, 17);

    #[test]
    fn the_year_stands_only_where_it_is_another_one() {
        assert_eq!(format_date(TODAY, TODAY), "Tue 17 Nov");
        assert_eq!(format_date(date(2027, 1, 4), TODAY), "Mon 4 Jan 2027");
        assert_eq!(format_short_date(date(2026, 11, 14)), "Sat 14");
        assert_eq!(format_date_time(TODAY.at(9, 5, 59, 0), TODAY), "Tue 17 Nov 09:05");
        assert_eq!(format_near_date_time(TODAY.at(9, 5, 0, 0), TODAY), "09:05");
        assert_eq!(
            format_near_date_time(TODAY.at(9, 5, 0, 0), date(2026, 11, 18)),
            "Tue 17 Nov 09:05"
        );
    }

    #[test]
    fn a_range_names_its_month_and_year_once() {
        let range = |from, to| format_date_range(from, to, TODAY);
        assert_eq!(range(TODAY, TODAY), "Tue 17 Nov");
        assert_eq!(range(date(2026, 12, 1), date(2026, 12, 3)), "Tue 1 – Thu 3 Dec");
        assert_eq!(range(date(2026, 11, 28), date(2026, 12, 10)), "Sat 28 Nov – Thu 10 Dec");
        assert_eq!(range(date(2026, 12, 28), date(2027, 1, 10)), "Mon 28 Dec – Sun 10 Jan 2027");
        assert_eq!(range(date(2027, 1, 4), date(2027, 2, 1)), "Mon 4 Jan – Mon 1 Feb 2027");
        assert_eq!(format_time_range(time(13, 30, 0, 0), time(15, 0, 0, 0)), "13:30 – 15:00");
        let (from, to) = (TODAY.at(13, 30, 0, 0), TODAY.at(15, 0, 0, 0));
        assert_eq!(format_date_time_range(from, to, TODAY), "Tue 17 Nov 13:30 – 15:00");
        let next = date(2026, 11, 18).at(1, 0, 0, 0);
        assert_eq!(
            format_date_time_range(from, next, TODAY),
            "Tue 17 Nov 13:30 – Wed 18 Nov 01:00"
        );
    }

    #[test]
    fn a_near_day_is_said_in_words() {
        let near = |day: i8| describe_near_date(date(2026, 11, day), TODAY);
        let shown = [17, 18, 20, 23, 16, 14].map(|day| near(day).unwrap());
        assert_eq!(
            shown,
            ["today", "tomorrow", "in 3 days", "in 6 days", "yesterday", "3 days ago"]
        );
        assert_eq!([near(24), near(10)], [None, None]);
        assert_eq!(format_date_and_distance(date(2026, 11, 20), TODAY), "Fri 20 Nov, in 3 days");
        assert_eq!(format_date_and_distance(date(2026, 12, 19), TODAY), "Sat 19 Dec");
    }
}
