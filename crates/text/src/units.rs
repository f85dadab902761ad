//! Number formats for screens: one function per unit, so that a figure is formatted the same everywhere.
//!
//! All of them round half up; none depends on a locale. Callers pad columns (see [`super::pad_left`]).

use std::fmt::Write as _;
use std::time::Duration;

const MINUTE: u64 = 60;
const TEN_MINUTES: u64 = 10 * MINUTE;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;
const YEAR: u64 = 365 * DAY;

/// Formats measured time with at most two units: `320 ms`, `1.4 s`, `38 s`, `9 min 41 s`, `25 min`, `1 h 6 min`,
/// `2 d 4 h`. Rounds down, so that a clock never runs ahead.
pub fn format_elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 if time.as_millis() > 0 => format!("{} ms", time.as_millis()),
        0 => "0 s".to_owned(),
        1..10 => match time.subsec_millis() / 100 {
            0 => format!("{seconds} s"),
            tenths => format!("{seconds}.{tenths} s"),
        },
        10..MINUTE => format!("{seconds} s"),
        MINUTE..TEN_MINUTES => join_units((seconds / MINUTE, "min"), (seconds % MINUTE, "s")),
        TEN_MINUTES..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => join_units((seconds / HOUR, "h"), (seconds % HOUR / MINUTE, "min")),
        _ => join_units((seconds / DAY, "d"), (seconds % DAY / HOUR, "h")),
    }
}

/// Formats measured time for a clock that ticks once a second: like [`format_elapsed`], without parts of a second.
pub fn format_clock(time: Duration) -> String {
    format_elapsed(Duration::from_secs(time.as_secs()))
}

/// Formats the change between two measured times, given in milliseconds: `+3 min 20 s`, `-320 ms`.
pub fn format_elapsed_change(millis: i64) -> String {
    with_sign(millis, format_elapsed(Duration::from_millis(millis.unsigned_abs())))
}

/// Formats an estimate: `about 6 min`, `about 1 h 30 min`. Never zero, since every task takes some time.
pub fn format_estimate(minutes: u64) -> String {
    format!("about {}", format_planned(minutes.max(1)))
}

/// Formats work in hours, never in days: `24 min`, `1 h 30 min`, `2 h`, `48 h 45 min`.
pub fn format_planned(minutes: u64) -> String {
    match (minutes / 60, minutes % 60) {
        (0, _) => format!("{minutes} min"),
        (hours, 0) => format!("{} h", format_count(hours)),
        (hours, minutes) => format!("{} h {minutes} min", format_count(hours)),
    }
}

/// Formats a span of the calendar in words: `25 min`, `1 h 6 min`, `2 d 4 h`. For work use [`format_planned`].
pub fn format_span(minutes: u64) -> String {
    format_clock(Duration::from_secs(minutes.saturating_mul(MINUTE)))
}

/// Formats a count with its noun: `1 task`, `3 tasks`, `1,204 steps`.
pub fn format_counted(number: usize, thing: &str) -> String {
    let number = number as u64;
    if number == 1 { format!("1 {thing}") } else { format!("{} {thing}s", format_count(number)) }
}

/// Formats a range of planned durations: `24 – 38 min`, `45 min – 2 h`; equal ends become one value.
pub fn format_planned_range(low: u64, high: u64) -> String {
    format_range(&format_planned(low), &format_planned(high))
}

/// Joins the two ends of a range: `24 – 38 min`. A unit that both ends share appears once, unless an end has two;
/// equal ends become one value.
pub fn format_range(from: &str, to: &str) -> String {
    match (from.rsplit_once(' '), to.rsplit_once(' ')) {
        _ if from == to => from.to_owned(),
        (Some((number, unit)), Some((other_number, other)))
            if unit == other && !number.contains(' ') && !other_number.contains(' ') =>
        {
            format!("{number} – {to}")
        }
        _ => format!("{from} – {to}"),
    }
}

/// Formats a token count for columns: `312`, `18.4k`, `148k`, `1.2M`.
pub fn format_tokens(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..99_950 => format!("{}k", format_tenths(tokens, 1_000)),
        99_950..999_500 => format!("{}k", round_to_unit(tokens, 1_000)),
        _ => format!("{}M", format_tenths(tokens, 1_000_000)),
    }
}

/// Formats a token count for headers, without decimals below a million: `312`, `61k`, `148k`, `1.2M`.
pub fn format_whole_tokens(count: u64) -> String {
    match count {
        1_000..99_950 => format!("{}k", round_to_unit(count, 1_000)),
        _ => format_tokens(count),
    }
}

/// Formats the change between two token counts, always in thousands: `-0.3k`, `+14k`.
pub fn format_tokens_change(change: i64) -> String {
    let size = change.unsigned_abs();
    let figure = match size {
        0..9_950 => format!("{}k", format_tenths(size, 1_000)),
        _ => format_whole_tokens(size),
    };
    with_sign(change, figure)
}

/// Formats money given in millionths of a dollar: `$0.62`, `$1,204.50`.
pub fn format_money(micros: u64) -> String {
    let cents = round_to_unit(micros, 10_000);
    format!("${}.{:02}", format_count(cents / 100), cents % 100)
}

/// Formats the change between two amounts in millionths of a dollar: `+$0.05`, `-$0.15`, and `$0.00` for none.
pub fn format_money_change(micros: i64) -> String {
    let figure = format_money(micros.unsigned_abs());
    if figure == "$0.00" { figure } else { with_sign(micros, figure) }
}

/// Formats a size in decimal units: `312 B`, `4.2 kB`, `118 kB`, `25 MB`.
pub fn format_bytes(size: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    for (unit, name) in UNITS {
        // A size that would round to a thousand of the smaller unit is already shown in this one.
        if size >= unit - unit / 2_000 {
            let figure = if size < unit * 9 + unit / 20 * 19 {
                format_tenths(size, unit)
            } else {
                format_count(round_to_unit(size, unit))
            };
            return format!("{figure} {name}");
        }
    }
    format!("{size} B")
}

/// Formats an integer with thousands separators: `1,204`.
pub fn format_count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a fraction as a percentage: `31 %`. Shows `0 %` for an empty total, and at most `99 %` until it is complete.
pub fn format_percent(part: u64, total: u64) -> String {
    if total == 0 {
        return "0 %".to_owned();
    }
    let (part_wide, total_wide) = (u128::from(part), u128::from(total));
    let figure = (part_wide * 200 + total_wide) / (total_wide * 2);
    let figure = if part < total { figure.min(99) } else { figure };
    format!("{figure} %")
}

/// Formats an age: `now`, `14 min`, `2 h`, `3 d`, `6 wk`, `2 y`. Rounds down, as ages do.
pub fn format_age(time: Duration) -> String {
    let seconds = time.as_secs();
    let (figure, unit) = match seconds {
        0..MINUTE => return "now".to_owned(),
        MINUTE..HOUR => (seconds / MINUTE, "min"),
        HOUR..DAY => (seconds / HOUR, "h"),
        _ if seconds < 2 * WEEK => (seconds / DAY, "d"),
        _ if seconds < 2 * YEAR => (seconds / WEEK, "wk"),
        _ => (seconds / YEAR, "y"),
    };
    format!("{figure} {unit}")
}

/// Formats how long ago something was: `now`, `14 min ago`, `3 d ago`.
pub fn format_ago(time: Duration) -> String {
    match format_age(time) {
        age if age == "now" => age,
        age => format!("{age} ago"),
    }
}

/// Formats a part of a number of things for a sentence: `3 of 11`.
pub fn format_part(part: usize, total: usize) -> String {
    format!("{} of {}", format_count(part as u64), format_count(total as u64))
}

/// Formats money spent and its limit, both in millionths of a dollar: `$0.62 of $2.00`.
pub fn format_money_part(spent: u64, limit: u64) -> String {
    format!("{} of {}", format_money(spent), format_money(limit))
}

/// Formats a confidence without its leading zero: `.838` in planning (three digits), `.92` on steps (two digits).
pub fn format_confidence(value: f64, digits: usize) -> String {
    let value = if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(out, "{value:.digits$}");
    match out.strip_prefix("0.") {
        Some(decimals) => format!(".{decimals}"),
        None => out,
    }
}

fn round_to_unit(value: u64, unit: u64) -> u64 {
    value / unit + u64::from(value % unit >= unit.div_ceil(2))
}

/// Formats with one decimal, omitted when it is zero.
fn format_tenths(value: u64, unit: u64) -> String {
    let tenths = round_to_unit(value, unit / 10);
    match tenths % 10 {
        0 => format_count(tenths / 10),
        decimal => format!("{}.{decimal}", format_count(tenths / 10)),
    }
}

/// Joins two units and leaves out the second when it is zero.
fn join_units(first: (u64, &str), second: (u64, &str)) -> String {
    match second {
        (0, _) => format!("{} {}", format_count(first.0), first.1),
        (count, unit) => format!("{} {} {count} {unit}", format_count(first.0), first.1),
    }
}

fn with_sign(change: i64, figure: String) -> String {
    match change {
        0 => figure,
        1.. => format!("+{figure}"),
        _ => format!("-{figure}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn elapsed_has_at_most_two_units() {
        let shown = [0, 320, 999, 1_000, 1_449, 9_999, 10_400, 38_000, 60_000, 182_000, 581_000]
            .map(|ms| format_elapsed(Duration::from_millis(ms)));
        let expected = [
            "0 s",
            "320 ms",
            "999 ms",
            "1 s",
            "1.4 s",
            "9.9 s",
            "10 s",
            "38 s",
            "1 min",
            "3 min 2 s",
            "9 min 41 s",
        ];
        assert_eq!(shown, expected);
        let shown = [600, 1_500, 3_599, 3_600, 3_960, 86_399, 86_400, 187_200, 86_400_000]
            .map(|s| format_elapsed(seconds(s)));
        let expected = [
            "10 min",
            "25 min",
            "59 min",
            "1 h",
            "1 h 6 min",
            "23 h 59 min",
            "1 d",
            "2 d 4 h",
            "1,000 d",
        ];
        assert_eq!(shown, expected);
        assert_eq!(
            [200_000, -320, 0].map(format_elapsed_change),
            ["+3 min 20 s", "-320 ms", "0 s"]
        );
        assert_eq!(format_clock(Duration::from_millis(1_449)), "1 s");
        assert_eq!(format_clock(Duration::from_millis(320)), "0 s");
        assert_eq!([25, 66, 3_120].map(format_span), ["25 min", "1 h 6 min", "2 d 4 h"]);
    }

    #[test]
    fn work_is_counted_in_hours_and_never_in_days() {
        let shown = [0, 24, 60, 90, 120, 150, 480, 1_005, 3_450].map(format_planned);
        assert_eq!(
            shown,
            [
                "0 min",
                "24 min",
                "1 h",
                "1 h 30 min",
                "2 h",
                "2 h 30 min",
                "8 h",
                "16 h 45 min",
                "57 h 30 min"
            ]
        );
        assert_eq!(format_planned_range(24, 38), "24 – 38 min");
        assert_eq!(format_planned_range(45, 120), "45 min – 2 h");
        assert_eq!(format_planned_range(24, 24), "24 min");
        assert_eq!(format_planned_range(120, 240), "2 – 4 h");
        assert_eq!(format_planned_range(150, 165), "2 h 30 min – 2 h 45 min");
        assert_eq!(format_range("$0.06", "$0.15"), "$0.06 – $0.15");
        assert_eq!(
            [0, 6, 90, 240].map(format_estimate),
            ["about 1 min", "about 6 min", "about 1 h 30 min", "about 4 h"]
        );
    }

    #[test]
    fn tokens_shorten_with_size() {
        let shown = [
            0, 312, 999, 1_000, 9_700, 18_449, 99_949, 99_950, 148_200, 999_499, 999_500, 1_240_000,
        ];
        assert_eq!(
            shown.map(format_tokens),
            [
                "0", "312", "999", "1k", "9.7k", "18.4k", "99.9k", "100k", "148k", "999k", "1M",
                "1.2M"
            ]
        );
        assert_eq!(
            [312, 61_400, 148_000, 2_000_000].map(format_whole_tokens),
            ["312", "61k", "148k", "2M"]
        );
        assert_eq!(
            [-300, 14_100, -44_000, 0].map(format_tokens_change),
            ["-0.3k", "+14k", "-44k", "0k"]
        );
    }

    #[test]
    fn money_is_rounded_to_cents() {
        let shown = [0, 4_999, 5_000, 620_000, 1_999_999, 1_204_500_000].map(format_money);
        assert_eq!(shown, ["$0.00", "$0.00", "$0.01", "$0.62", "$2.00", "$1,204.50"]);
        assert_eq!([50_000, -150_000, -10].map(format_money_change), ["+$0.05", "-$0.15", "$0.00"]);
    }

    #[test]
    fn bytes_are_decimal() {
        let shown =
            [0, 312, 999, 1_000, 4_190, 9_949, 9_950, 118_000, 999_400, 999_600, 25_000_000]
                .map(format_bytes);
        let expected = [
            "0 B", "312 B", "999 B", "1 kB", "4.2 kB", "9.9 kB", "10 kB", "118 kB", "999 kB",
            "1 MB", "25 MB",
        ];
        assert_eq!(shown, expected);
        assert_eq!(format_bytes(u64::MAX), "18,446,744 TB");
    }

    #[test]
    fn counts_and_percentages() {
        assert_eq!(
            [0, 12, 999, 1_204, 1_234_567].map(format_count),
            ["0", "12", "999", "1,204", "1,234,567"]
        );
        assert_eq!(format_percent(610, 800), "76 %");
        assert_eq!(format_percent(31, 100), "31 %");
        assert_eq!(format_percent(999, 1_000), "99 %");
        assert_eq!(format_percent(3, 3), "100 %");
        assert_eq!(format_percent(3, 2), "150 %");
        assert_eq!(format_percent(0, 0), "0 %");
    }

    #[test]
    fn ages_get_coarser() {
        let shown = [0, 59, 60, 840, 7_200, 86_400, 259_200, 1_209_600, 3_628_800, 63_072_000]
            .map(|s| format_age(seconds(s)));
        assert_eq!(
            shown,
            ["now", "now", "1 min", "14 min", "2 h", "1 d", "3 d", "2 wk", "6 wk", "2 y"]
        );
        assert_eq!([0, 7_200].map(|s| format_ago(seconds(s))), ["now", "2 h ago"]);
        assert_eq!(format_part(3, 1_204), "3 of 1,204");
        assert_eq!(format_money_part(620_000, 2_000_000), "$0.62 of $2.00");
    }

    #[test]
    fn confidence_has_no_leading_zero() {
        assert_eq!(format_confidence(0.838, 3), ".838");
        assert_eq!(format_confidence(0.92, 2), ".92");
        assert_eq!(format_confidence(0.999, 2), "1.00");
        assert_eq!(format_confidence(f64::NAN, 2), ".00");
    }

    proptest! {
        #[test]
        fn no_figure_panics(value: u64, other: u64, change: i64, ratio: f64) {
            let time = Duration::from_secs(value);
            let shown = [
                format_elapsed(time), format_clock(time), format_span(value), format_age(time), format_ago(time), format_estimate(value), format_planned(value), format_planned_range(value, other),
                format_tokens(value), format_whole_tokens(value), format_money(value), format_bytes(value), format_count(value), format_percent(value, other),
                format_elapsed_change(change), format_tokens_change(change), format_money_change(change), format_confidence(ratio, 2),
            ];
            prop_assert!(shown.iter().all(|figure| !figure.is_empty()));
        }
    }
}
