//! What a plan takes for granted, in words.

use jiff::civil::Date;

use planwright_model::{Assumption, AssumptionOrigin, PlanContext};
use planwright_state::PlanningSlice;
use planwright_text::dates::format_date;
use planwright_text::{clean_line, units};

/// One assumed value: `6 h a week`, `8 weeks`, `your hours are Mon – Fri 09:00 – 17:00`.
pub fn describe_assumption(key: &str, value: &str, today: Date) -> String {
    let minutes = value.parse::<u64>().ok();
    let value = clean_line(value);
    match (key, minutes) {
        ("weekly_minutes", Some(minutes)) => format!("{} a week", units::format_planned(minutes)),
        ("max_daily_minutes", Some(minutes)) => {
            format!("at most {} a day", units::format_planned(minutes))
        }
        ("occurrence_minutes", Some(minutes)) => {
            format!("{} each time", units::format_planned(minutes))
        }
        ("horizon_weeks", Some(weeks)) => units::format_counted(weeks as usize, "week"),
        ("start", _) => match value.parse::<Date>() {
            Ok(day) => format!("it starts {}", format_date(day, today)),
            Err(_) => format!("it starts {value}"),
        },
        ("working", _) => format!("your hours are {value}"),
        ("tz", _) => format!("times are in {value}"),
        ("at_local", _) => format!("at {value}"),
        ("cadence" | "recurrence" | "date" | "season", _) => value.into_owned(),
        ("level", _) => format!("you are a {value}"),
        _ => format!("{} is {value}", key.replace('_', " ")),
    }
}

/// Everything assumed that nobody stated or answered, the most telling first; the zone of the clock is not among it.
pub fn describe_assumptions(
    planning: &PlanningSlice,
    context: &PlanContext,
    today: Date,
) -> Vec<String> {
    // What the person keeps in their settings is theirs, not assumed.
    let stated = |found: &&Assumption| {
        found.origin == AssumptionOrigin::Template
            && found.key != "tz"
            && !planning.answers.contains_key(&found.key)
    };
    let assumed = context.assumptions.iter().filter(stated);
    assumed.map(|found| describe_assumption(&found.key, &found.value, today)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_name_and_no_bare_minutes_are_said() {
        let today = jiff::civil::date(2026, 11, 17);
        let said = |key, value| describe_assumption(key, value, today);
        assert_eq!(said("weekly_minutes", "600"), "10 h a week");
        assert_eq!(said("horizon_weeks", "8"), "8 weeks");
        assert_eq!(said("start", "2026-11-18"), "it starts Wed 18 Nov");
        assert_eq!(said("team_size", "3"), "team size is 3");
    }
}
