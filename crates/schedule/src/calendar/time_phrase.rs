//! Times as people write them: `tomorrow`, `14:30`, `fri 9:00`, `+2h`, `2026-06-12 09:00`.

use jiff::civil::{Date, Time, Weekday};
use jiff::{Span, Zoned};

/// Parses a time phrase relative to `now`. A day without a time gets the `usual` one; a time that has passed today
/// means tomorrow.
pub fn parse_when(text: &str, now: &Zoned, usual: Time) -> Option<Zoned> {
    let text = text.trim().to_lowercase();
    let text = text.strip_prefix("in ").map_or_else(|| text.clone(), |rest| format!("+{rest}"));
    if text == "now" {
        return Some(now.clone());
    }
    if let Some(span) = text.strip_prefix('+') {
        return now.checked_add(parse_span(span)?).ok();
    }
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "at").collect();
    let (day, time) = match words.as_slice() {
        [one] => match parse_time(one) {
            Some(time) => (None, Some(time)),
            None => (Some(*one), None),
        },
        ["next", "week"] => (Some("next week"), None),
        ["next", day] => (Some(*day), None),
        [day, time] | ["next", day, time] => (Some(*day), Some(parse_time(time)?)),
        _ => return None,
    };
    let today = now.date();
    let date = match day {
        Some(day) => parse_date(day, today)?,
        None => today,
    };
    let at = date.to_datetime(time.unwrap_or(usual)).to_zoned(now.time_zone().clone()).ok()?;
    if day.is_none() && at <= *now {
        return at.checked_add(Span::new().days(1)).ok();
    }
    Some(at)
}

fn parse_date(word: &str, today: Date) -> Option<Date> {
    let later = |days: i64| today.checked_add(Span::new().days(days)).ok();
    match word {
        "today" => return Some(today),
        "tomorrow" | "tom" => return later(1),
        "next week" => return later(7),
        _ => {}
    }
    if let Ok(date) = word.parse::<Date>() {
        return Some(date);
    }
    let weekday = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ]
    .into_iter()
    .find(|(name, _)| word.len() >= 3 && name.starts_with(word))?
    .1;
    (1..=7).filter_map(later).find(|date| date.weekday() == weekday)
}

fn parse_time(word: &str) -> Option<Time> {
    let (hour, minute) = word.split_once(':')?;
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

/// Parses `90m`, `2h`, `1h30m`, `3d`, `1 week`; a bare number is in minutes.
fn parse_span(text: &str) -> Option<Span> {
    let mut minutes: i64 = 0;
    let mut digits = String::new();
    let mut unit = String::new();
    let mut add = |digits: &mut String, unit: &mut String| -> Option<()> {
        let figure: i64 = digits.parse().ok()?;
        let scale = match unit.trim() {
            "" | "m" | "min" | "mins" | "minute" | "minutes" => 1,
            "h" | "hour" | "hours" => 60,
            "d" | "day" | "days" => 24 * 60,
            "w" | "wk" | "week" | "weeks" => 7 * 24 * 60,
            _ => return None,
        };
        minutes = minutes.checked_add(figure.checked_mul(scale)?)?;
        digits.clear();
        unit.clear();
        Some(())
    };
    for letter in text.chars().filter(|letter| !letter.is_whitespace()) {
        if letter.is_ascii_digit() {
            if !unit.is_empty() {
                add(&mut digits, &mut unit)?;
            }
            digits.push(letter);
        } else {
            unit.push(letter);
        }
    }
    add(&mut digits, &mut unit)?;
    (minutes > 0 && minutes <= 10 * 366 * 24 * 60).then(|| Span::new().minutes(minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_common_time_phrases() {
        let now: Zoned = "2026-06-08T14:24:00+02:00[Europe/Berlin]".parse().unwrap();
        let usual = jiff::civil::time(9, 0, 0, 0);
        for (text, expected) in [
            ("now", "2026-06-08T14:24"),
            ("tomorrow", "2026-06-09T09:00"),
            ("tomorrow at 17:30", "2026-06-09T17:30"),
            ("16:00", "2026-06-08T16:00"),
            ("9:15", "2026-06-09T09:15"),
            ("fri", "2026-06-12T09:00"),
            ("next monday 8:00", "2026-06-15T08:00"),
            ("next week", "2026-06-15T09:00"),
            ("2026-07-01", "2026-07-01T09:00"),
            ("2026-07-01 10:30", "2026-07-01T10:30"),
            ("+90", "2026-06-08T15:54"),
            ("+1h30m", "2026-06-08T15:54"),
            ("in 2 hours", "2026-06-08T16:24"),
            ("+3d", "2026-06-11T14:24"),
        ] {
            let at = parse_when(text, &now, usual).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(at.strftime("%Y-%m-%dT%H:%M").to_string(), expected, "{text}");
        }
        for wrong in ["", "soon", "25:00", "+", "+2x", "fri sat sun", "mo", "+99999999999999d"] {
            assert!(parse_when(wrong, &now, usual).is_none(), "{wrong}");
        }
    }
}
