//! Number formats for screens: one function per unit, so that a figure is formatted the same everywhere.
//!
//! All of them round half up; none depends on a locale. Callers pad columns (see [`super::pad_left`]).

use std::fmt::Write as _;
use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;
const YEAR: u64 = 365 * DAY;

/// Formats measured time: `0m48s`, `3m02s`, `1h04m`, and `4d04h` from one hundred hours on.
pub fn format_elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < HOUR {
        format!("{}m{:02}s", seconds / MINUTE, seconds % MINUTE)
    } else if seconds < 100 * HOUR {
        format!("{}h{:02}m", seconds / HOUR, seconds % HOUR / MINUTE)
    } else {
        format!("{}d{:02}h", seconds / DAY, seconds % DAY / HOUR)
    }
}

/// Formats the change between two measured times, given in seconds: `+3m20s`, `-0m04s`.
pub fn format_elapsed_change(seconds: i64) -> String {
    with_sign(seconds, format_elapsed(Duration::from_secs(seconds.unsigned_abs())))
}

/// Formats an estimate for a task box: `~6m`, `~90m`, `~4h`, `~5d`. Never zero, since every task takes some time.
pub fn format_estimate(minutes: u64) -> String {
    match minutes {
        0..100 => format!("~{}m", minutes.max(1)),
        100..6_000 => format!("~{}h", round_to_unit(minutes, 60)),
        _ => format!("~{}d", round_to_unit(minutes, 1_440)),
    }
}

/// Formats a planned duration: `24 min`, `90 min`, `2 h`, `48 h 45 min`.
pub fn format_planned(minutes: u64) -> String {
    match (minutes / 60, minutes % 60) {
        (0 | 1, _) => format!("{minutes} min"),
        (hours, 0) => format!("{} h", format_count(hours)),
        (hours, minutes) => format!("{} h {minutes} min", format_count(hours)),
    }
}

/// Formats a count with its noun: `1 task`, `3 tasks`, `1,204 steps`.
pub fn format_counted(number: usize, thing: &str) -> String {
    let number = number as u64;
    if number == 1 { format!("1 {thing}") } else { format!("{} {thing}s", format_count(number)) }
}

/// Formats a range of planned durations: `24 to 38 min`, `90 min to 2 h`; equal ends become one value.
pub fn format_planned_range(low: u64, high: u64) -> String {
    let (from, to) = (format_planned(low), format_planned(high));
    match (from.rsplit_once(' '), to.rsplit_once(' ')) {
        _ if from == to => from,
        // A unit that both ends share appears once, unless an end has two.
        (Some((number, unit)), Some((other_number, other)))
            if unit == other && !number.contains(' ') && !other_number.contains(' ') =>
        {
            format!("{number} to {to}")
        }
        _ => format!("{from} to {to}"),
    }
}

/// Formats working time for columns that must share one unit: `435 min`, `1,005 min`.
pub fn format_working_minutes(minutes: u64) -> String {
    format!("{} min", format_count(minutes))
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
    fn elapsed_keeps_two_units() {
        let shown = [0, 48, 182, 848, 3_599, 3_600, 3_840, 359_999, 360_000]
            .map(|s| format_elapsed(seconds(s)));
        assert_eq!(
            shown,
            ["0m00s", "0m48s", "3m02s", "14m08s", "59m59s", "1h00m", "1h04m", "99h59m", "4d04h"]
        );
        assert_eq!([200, -4, 0].map(format_elapsed_change), ["+3m20s", "-0m04s", "0m00s"]);
    }

    #[test]
    fn planned_durations_use_hours_from_two_on() {
        let shown = [0, 24, 60, 90, 120, 150, 480, 1_005].map(format_planned);
        assert_eq!(
            shown,
            ["0 min", "24 min", "60 min", "90 min", "2 h", "2 h 30 min", "8 h", "16 h 45 min"]
        );
        assert_eq!(format_planned_range(24, 38), "24 to 38 min");
        assert_eq!(format_planned_range(90, 120), "90 min to 2 h");
        assert_eq!(format_planned_range(24, 24), "24 min");
        assert_eq!(format_planned_range(120, 240), "2 to 4 h");
        assert_eq!(format_planned_range(150, 165), "2 h 30 min to 2 h 45 min");
        assert_eq!(
            [0, 6, 90, 240, 7_200].map(format_estimate),
            ["~1m", "~6m", "~90m", "~4h", "~5d"]
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
                format_elapsed(time), format_age(time), format_estimate(value), format_planned(value), format_planned_range(value, other),
                format_tokens(value), format_whole_tokens(value), format_money(value), format_bytes(value), format_count(value), format_percent(value, other),
                format_elapsed_change(change), format_tokens_change(change), format_money_change(change), format_confidence(ratio, 2),
            ];
            prop_assert!(shown.iter().all(|figure| !figure.is_empty()));
        }
    }
}
