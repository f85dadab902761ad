//! Values that a plan assumes, in words instead of the names and units they are stored under.

use jiff::civil::Date;

use planwright_text::clean_line;
use planwright_text::dates::format_date;
use planwright_text::units::{format_counted, format_planned};

/// Says what is assumed to whoever reads it today, such as `10 h a week` for `weekly_minutes` of 600.
pub fn describe_assumption(key: &str, value: &str, today: Date) -> String {
    match (key, value.trim().parse::<Date>()) {
        ("start", Ok(day)) => format!("it starts {}", format_date(day, today)),
        ("day", Ok(day)) => format!("the day is {}", format_date(day, today)),
        _ => describe_setting(key, value),
    }
}

/// The same for a text that is kept and read on another day: a date has its year. What has no words of its own keeps
/// its name with spaces.
pub(super) fn describe_setting(key: &str, value: &str) -> String {
    if let ("start" | "day", Ok(day)) = (key, value.trim().parse::<Date>()) {
        let lead = if key == "start" { "it starts" } else { "the day is" };
        return format!("{lead} {}", day.strftime("%a %-d %b %Y"));
    }
    let value = &*clean_line(value.trim());
    let number = value.parse::<u64>().ok();
    match (key, number) {
        ("weekly_minutes", Some(minutes)) => format!("{} a week", format_planned(minutes)),
        ("occurrence_minutes", Some(minutes)) => format!("{} each time", format_planned(minutes)),
        ("daily_minutes", Some(minutes)) => format!("{} a day", format_planned(minutes)),
        ("max_daily_minutes", Some(minutes)) => {
            format!("at most {} a day", format_planned(minutes))
        }
        ("hours_per_week", Some(hours)) => format!("{} a week", format_planned(hours * 60)),
        ("horizon_weeks", Some(weeks)) => format_counted(weeks as usize, "week"),
        ("start", _) => format!("it starts {value}"),
        ("working", _) => format!("your hours are {value}"),
        ("date" | "season", _) => value.to_owned(),
        ("opened_days", _) => format!("time is short, so it may use {value}"),
        ("days_off" | "holidays", _) => format!("no work on {value}"),
        ("tz", _) => format!("times are in {value}"),
        ("companions", _) => format!("with {value}"),
        ("at_local", _) => format!("at {value}"),
        ("kind", _) => format!("it is {value}"),
        ("day", _) => format!("the day is {value}"),
        ("cadence" | "recurrence", _) => value.replace('_', " "),
        ("level", _) => format!("your level: {}", value.replace('_', " ")),
        _ => match key.strip_suffix("_minutes").zip(number) {
            Some((name, minutes)) => {
                format!("{}: {}", name.replace('_', " "), format_planned(minutes))
            }
            None => format!("{}: {value}", key.replace('_', " ")),
        },
    }
}

/// What a question is about, such as `hours a week` for `weekly_minutes`.
pub fn describe_question_key(key: &str) -> String {
    match key {
        "weekly_minutes" | "hours_per_week" => "hours a week".to_owned(),
        "daily_minutes" | "max_daily_minutes" => "hours a day".to_owned(),
        "occurrence_minutes" => "time each".to_owned(),
        "horizon_weeks" => "end".to_owned(),
        "cadence" | "recurrence" => "rhythm".to_owned(),
        "at_local" => "time of day".to_owned(),
        "working" => "your hours".to_owned(),
        "tz" => "time zone".to_owned(),
        key => key.strip_suffix("_minutes").unwrap_or(key).replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assumption_is_said_in_words() {
        let today = jiff::civil::date(2026, 11, 17);
        let said = [
            ("start", "2026-11-18"),
            ("max_daily_minutes", "150"),
            ("weekly_minutes", "600"),
            ("occurrence_minutes", "90"),
            ("horizon_weeks", "6"),
            ("level", "beginner"),
            ("at_local", "09:00"),
            ("min_block_minutes", "30"),
            ("home_town", "Lisbon"),
        ]
        .map(|(key, value)| describe_assumption(key, value, today));
        let expected = [
            "it starts Wed 18 Nov",
            "at most 2 h 30 min a day",
            "10 h a week",
            "1 h 30 min each time",
            "6 weeks",
            "your level: beginner",
            "at 09:00",
            "min block: 30 min",
            "home town: Lisbon",
        ];
        assert_eq!(said, expected);
    }
}
