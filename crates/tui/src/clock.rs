//! Times as screens show them: local and in 24 hours. The formats of dates and durations are those of the text crate.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use planwright_text::{dates, units};

/// The time of day, `14:16:51`.
pub(crate) fn format_time_of_day(at: Timestamp, zone: &TimeZone) -> String {
    let at = at.to_zoned(zone.clone());
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

/// The day and the time of day, `Mon 8 Jun 14:08`, with the year if it is not the year of `now`.
pub(crate) fn format_day_and_time(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    dates::format_date_time(at.to_zoned(zone.clone()).datetime(), local_date(now, zone))
}

/// The day of a moment where the reader is.
pub(crate) fn local_date(at: Timestamp, zone: &TimeZone) -> jiff::civil::Date {
    at.to_zoned(zone.clone()).date()
}

/// How long it took from one moment to another; zero if the clock was set back.
pub(crate) fn duration_between(from: Timestamp, to: Timestamp) -> Duration {
    to.duration_since(from).try_into().unwrap_or(Duration::ZERO)
}

/// The same in words: `3 min 2 s`, without parts of a second.
pub(crate) fn format_elapsed_between(from: Timestamp, to: Timestamp) -> String {
    units::format_clock(duration_between(from, to))
}

/// A moment so much later, or the last one there is.
pub(crate) fn add_duration(at: Timestamp, time: Duration) -> Timestamp {
    at.checked_add(time).unwrap_or(Timestamp::MAX)
}

/// Reads `14:20` or `14:20:05` as a moment on the day of `day`.
pub(crate) fn parse_time_of_day(text: &str, day: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let mut parts = text.split(':').map(|part| part.trim().parse::<i8>().ok());
    let hour = parts.next()??;
    let minute = parts.next()??;
    let second = parts.next().unwrap_or(Some(0))?;
    let time = jiff::civil::Time::new(hour, minute, second, 0).ok()?;
    let day = day.to_zoned(zone.clone()).date();
    day.to_datetime(time).to_zoned(zone.clone()).ok().map(|at| at.timestamp())
}

/// Reads a span such as `6m`, `6 min`, `1 h 30 min` or `45s`; a bare number counts minutes.
pub(crate) fn parse_span(text: &str) -> Option<Duration> {
    let text = text.replace(char::is_whitespace, "").replace("min", "m");
    let mut seconds = 0_u64;
    let mut digits = String::new();
    for letter in text.trim().chars() {
        let unit = match letter {
            digit if digit.is_ascii_digit() => {
                digits.push(digit);
                continue;
            }
            'h' => 3600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        seconds = seconds.checked_add(digits.parse::<u64>().ok()?.checked_mul(unit)?)?;
        digits.clear();
    }
    if !digits.is_empty() {
        seconds = seconds.checked_add(digits.parse::<u64>().ok()?.checked_mul(60)?)?;
    }
    (!text.trim().is_empty()).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_on_the_day_of_the_run() {
        let day: Timestamp = "2026-06-08T14:08:23Z".parse().unwrap();
        let zone = TimeZone::UTC;
        let at = parse_time_of_day("14:20", day, &zone).unwrap();
        assert_eq!(format_time_of_day(at, &zone), "14:20:00");
        assert_eq!(
            parse_time_of_day("14:20:05", day, &zone)
                .map(|at| format_time_of_day(at, &zone))
                .unwrap(),
            "14:20:05"
        );
        for wrong in ["", "x", "25:00", "14", "14:61"] {
            assert_eq!(parse_time_of_day(wrong, day, &zone), None, "{wrong}");
        }
    }

    #[test]
    fn spans_are_read_by_unit() {
        assert_eq!(parse_span("6m"), Some(Duration::from_mins(6)));
        assert_eq!(parse_span("1h30m"), Some(Duration::from_mins(90)));
        assert_eq!(parse_span("45s"), Some(Duration::from_secs(45)));
        assert_eq!(parse_span("6 min"), Some(Duration::from_mins(6)));
        assert_eq!(parse_span(" 1 h 30 min"), Some(Duration::from_mins(90)));
        assert_eq!(parse_span("6"), Some(Duration::from_mins(6)));
        assert_eq!(parse_span("6x"), None);
        assert_eq!(parse_span(""), None);
        assert_eq!(parse_span("99999999999999999999h"), None);
    }
}
