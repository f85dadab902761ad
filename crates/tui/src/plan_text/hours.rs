//! Weekly hours in words: `Tue and Thu 19:00 – 20:30, Sat 10:00 – 13:00`.

use planwright_model::{LocalTimeInterval, Weekday, WeeklyHours};
use planwright_text::dates::format_time_range;

/// Says when somebody works. Days with the same hours stand together; three or more in a row become a range.
pub fn describe_weekly_hours(hours: &WeeklyHours) -> String {
    let mut groups: Vec<(&[LocalTimeInterval], Vec<Weekday>)> = Vec::new();
    for (day, times) in hours.iter().filter(|(_, times)| !times.is_empty()) {
        match groups.iter_mut().find(|(known, _)| *known == times.as_slice()) {
            Some((_, days)) => days.push(*day),
            None => groups.push((times, vec![*day])),
        }
    }
    let texts: Vec<String> = groups
        .iter()
        .map(|(times, days)| {
            let times: Vec<String> =
                times.iter().map(|time| format_time_range(time.start, time.end)).collect();
            format!("{} {}", describe_days(days), times.join(" and "))
        })
        .collect();
    texts.join(", ")
}

fn describe_days(days: &[Weekday]) -> String {
    let in_a_row =
        days.windows(2).all(|pair| pair[1].days_since_monday() == pair[0].days_since_monday() + 1);
    match days {
        [first, .., last] if in_a_row && days.len() > 2 => format!("{first:?} – {last:?}"),
        [rest @ .., last] if !rest.is_empty() => {
            let names: Vec<String> = rest.iter().map(|day| format!("{day:?}")).collect();
            format!("{} and {last:?}", names.join(", "))
        }
        [only] => format!("{only:?}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::time;

    #[test]
    fn days_with_the_same_hours_stand_together() {
        let day = |from, to| vec![LocalTimeInterval::new(time(from, 0, 0, 0), time(to, 0, 0, 0))];
        let hours: WeeklyHours =
            [(Weekday::Tue, day(19, 21)), (Weekday::Thu, day(19, 21)), (Weekday::Sat, day(10, 13))]
                .into();
        assert_eq!(describe_weekly_hours(&hours), "Tue and Thu 19:00 – 21:00, Sat 10:00 – 13:00");
        let week: WeeklyHours =
            Weekday::ALL.into_iter().take(5).map(|weekday| (weekday, day(9, 17))).collect();
        assert_eq!(describe_weekly_hours(&week), "Mon – Fri 09:00 – 17:00");
        assert_eq!(describe_weekly_hours(&WeeklyHours::new()), "");
    }
}
