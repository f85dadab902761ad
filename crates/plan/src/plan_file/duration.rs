//! Durations as people write them: `2h`, `1d`, `1h 30m`, `-30m`, or a bare number.

/// How long a day is. Working days have eight hours and five of them make a week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DayLength {
    Working,
    Elapsed,
}

impl DayLength {
    fn minutes(self) -> f64 {
        match self {
            Self::Working => 480.0,
            Self::Elapsed => 1440.0,
        }
    }

    fn week_minutes(self) -> f64 {
        match self {
            Self::Working => 2400.0,
            Self::Elapsed => 10080.0,
        }
    }
}

/// Parses a duration in minutes. A bare number is in minutes; the result must be an integer.
pub(super) fn parse_minutes(text: &str, day: DayLength) -> Option<i64> {
    sum_parts(text, |unit| match unit {
        "" | "m" | "min" => Some(1.0),
        "h" => Some(60.0),
        "d" => Some(day.minutes()),
        "w" => Some(day.week_minutes()),
        _ => None,
    })
}

/// Parses a duration in seconds. A bare number is in seconds; a day has 24 hours.
pub(super) fn parse_seconds(text: &str) -> Option<i64> {
    sum_parts(text, |unit| match unit {
        "" | "s" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        "d" => Some(86_400.0),
        _ => None,
    })
}

/// Adds up parts such as `1h` and `30m`; one leading sign applies to all.
fn sum_parts(text: &str, scale: impl Fn(&str) -> Option<f64>) -> Option<i64> {
    let text = text.trim();
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut total = 0.0;
    let mut parts = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let after = &rest[digits..];
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let unit = &after[..letters];
        if unit.is_empty() && parts > 0 {
            return None;
        }
        total += rest[..digits].parse::<f64>().ok()? * scale(unit)?;
        parts += 1;
        rest = after[letters..].trim_start();
    }
    let total = sign * total;
    // A third of an hour is an integer in minutes, though not in binary.
    let rounded = total.round();
    (parts > 0 && (total - rounded).abs() < 1e-6 && rounded.abs() < 1e12).then_some(rounded as i64)
}

/// Writes minutes with the largest unit that divides them.
pub(super) fn write_minutes(minutes: i64, day: DayLength) -> String {
    let units =
        [("w", day.week_minutes() as i64), ("d", day.minutes() as i64), ("h", 60), ("m", 1)];
    write_amount(minutes, &units)
}

/// Writes seconds with the largest unit that divides them.
pub(super) fn write_seconds(seconds: u64) -> String {
    match i64::try_from(seconds) {
        Ok(seconds) => write_amount(seconds, &[("h", 3600), ("m", 60), ("s", 1)]),
        Err(_) => format!("{seconds}s"),
    }
}

fn write_amount(amount: i64, units: &[(&str, i64)]) -> String {
    let fitting = units.iter().find(|(_, size)| amount != 0 && amount % size == 0);
    let (unit, size) = fitting.copied().unwrap_or(("m", 1));
    format!("{}{unit}", amount / size)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn units_use_working_or_elapsed_days() {
        assert_eq!(parse_minutes("2h", DayLength::Working), Some(120));
        assert_eq!(parse_minutes("1d", DayLength::Working), Some(480));
        assert_eq!(parse_minutes("1w", DayLength::Working), Some(2400));
        assert_eq!(parse_minutes("1d", DayLength::Elapsed), Some(1440));
        assert_eq!(parse_minutes("1h 30m", DayLength::Working), Some(90));
        assert_eq!(parse_minutes("1.5h", DayLength::Working), Some(90));
        assert_eq!(parse_minutes("-30m", DayLength::Working), Some(-30));
        assert_eq!(parse_minutes("45", DayLength::Working), Some(45));
        assert_eq!(parse_seconds("90s"), Some(90));
        assert_eq!(parse_seconds("5m"), Some(300));
    }

    #[test]
    fn rejects_invalid_durations() {
        for text in ["", "-", "h", "2 fortnights", "1h 30", "0.3m", "1..5h", "--1h", "90s", "9e9h"]
        {
            assert_eq!(parse_minutes(text, DayLength::Working), None, "{text}");
        }
        assert_eq!(parse_minutes(&"9".repeat(400), DayLength::Working), None);
    }

    proptest! {
        #[test]
        fn written_durations_read_back(amount in -90_000i64..90_000) {
            for day in [DayLength::Working, DayLength::Elapsed] {
                prop_assert_eq!(parse_minutes(&write_minutes(amount, day), day), Some(amount));
            }
            prop_assert_eq!(parse_seconds(&write_seconds(amount.unsigned_abs())), Some(amount.abs()));
        }
    }
}
