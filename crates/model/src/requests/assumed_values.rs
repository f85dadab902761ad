//! Values that a plan assumes, in words instead of the names and units they are stored under.

use planwright_text::units::{format_counted, format_planned};

/// Says what is assumed, such as `10 h a week` for `weekly_minutes` of 600. What has no words of its own keeps its
/// name with spaces.
pub fn describe_assumption(key: &str, value: &str) -> String {
    let number = value.trim().parse::<u64>().ok();
    match (key, number) {
        ("weekly_minutes", Some(minutes)) => format!("{} a week", format_planned(minutes)),
        ("occurrence_minutes", Some(minutes)) => format!("{} each time", format_planned(minutes)),
        ("daily_minutes", Some(minutes)) => format!("{} a day", format_planned(minutes)),
        ("hours_per_week", Some(hours)) => format!("{} a week", format_planned(hours * 60)),
        ("horizon_weeks", Some(weeks)) => format_counted(weeks as usize, "week"),
        ("start", _) => format!("it starts {value}"),
        ("working", _) => format!("your hours are {value}"),
        ("date" | "season", _) => value.to_owned(),
        ("tz", _) => format!("times are in {value}"),
        ("at_local", _) => format!("at {value}"),
        ("kind", _) => format!("it is {value}"),
        ("day", _) => format!("the day is {value}"),
        ("cadence", _) => value.replace('_', " "),
        ("level", _) => format!("your level: {}", value.replace('_', " ")),
        _ => match key.strip_suffix("_minutes").zip(number) {
            Some((name, minutes)) => {
                format!("{}: {}", name.replace('_', " "), format_planned(minutes))
            }
            None => format!("{}: {value}", key.replace('_', " ")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assumption_is_said_in_words() {
        let said = [
            ("weekly_minutes", "600"),
            ("occurrence_minutes", "90"),
            ("horizon_weeks", "6"),
            ("level", "beginner"),
            ("at_local", "09:00"),
            ("min_block_minutes", "30"),
            ("home_town", "Lisbon"),
        ]
        .map(|(key, value)| describe_assumption(key, value));
        let expected = [
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
