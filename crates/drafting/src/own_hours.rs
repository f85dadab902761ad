//! The hours of a person's week as they write and read them: `Tue and Thu 19:00 – 20:30, Sat 10:00 – 13:00`, or in
//! words such as "evenings and Saturdays".

use jiff::civil::{Time, time};

use planwright_model::{LocalTimeInterval, PlanCalendar, Weekday, WeeklyHours};
use planwright_text::dates::format_time_range;

use crate::change_requests::DayPart;
use crate::working_slots::{WorkingSlot, merge_intervals, read_slot_words};

/// What can be written, for messages.
pub const HOURS_EXAMPLE: &str =
    "such as \"Tue and Thu evening, Sundays\" or \"Mon-Fri 19:00-21:00\"";

/// Reads the hours of a week. `Err` names the part that was not understood.
pub fn parse_own_hours(text: &str) -> Result<WeeklyHours, String> {
    let plain = text.to_lowercase().replace(['–', '—'], "-").replace(" to ", " - ");
    let mut week = WeeklyHours::new();
    let parts: Vec<&str> =
        plain.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()).collect();
    // Days alone before a comma belong to what follows: "Tue, Thu 19:00-20:30".
    let mut waiting = String::new();
    for (at, part) in parts.iter().enumerate() {
        let joined = format!("{waiting}{part}");
        if at + 1 < parts.len() && is_bare_days(part) {
            waiting = format!("{joined} and ");
            continue;
        }
        waiting.clear();
        if joined.contains(|c: char| c.is_ascii_digit()) {
            add_timed_days(&joined, &mut week)?;
        } else if let Some(slots) = read_own_slots(&joined) {
            add_slots(&slots, &mut week);
        } else if let Some(days) = read_days(&joined).filter(|days| !days.is_empty()) {
            add_slots(&[WorkingSlot { days, part: None }], &mut week);
        } else {
            return Err(format!("\"{part}\" was not understood"));
        }
    }
    for hours in week.values_mut() {
        merge_intervals(hours);
    }
    week.retain(|_, hours| !hours.is_empty());
    if week.is_empty() { Err("no hours were named".to_owned()) } else { Ok(week) }
}

/// Whether a part names single days and no hours: not "Saturdays", which is complete.
fn is_bare_days(part: &str) -> bool {
    let bare = |word: &str| word == "and" || (!word.ends_with("days") && read_day(word).is_some());
    part.split_whitespace().all(bare)
}

/// Reads `Tue and Thu 19:00 - 20:30 and 21:00 - 22:00`.
fn add_timed_days(text: &str, week: &mut WeeklyHours) -> Result<(), String> {
    let fault = || format!("\"{}\" was not understood", text.trim());
    let at = text.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let (days, times) = text.split_at(at);
    let days = days.trim().trim_end_matches(" from").trim_end_matches(" at").trim_end_matches(':');
    let days = if days.is_empty() {
        Weekday::ALL[..5].to_vec()
    } else {
        read_days(days).ok_or_else(fault)?
    };
    let spans =
        times.split(" and ").map(read_span).collect::<Option<Vec<_>>>().ok_or_else(fault)?;
    for span in &spans {
        if span.duration_minutes() == 0 {
            return Err(format!("\"{}\" ends before it starts", times.trim()));
        }
    }
    for day in days {
        week.entry(day).or_default().extend(&spans);
    }
    Ok(())
}

/// Reads `19:00 - 20:30`, `9-17` or `7 pm - 9 pm`.
fn read_span(text: &str) -> Option<LocalTimeInterval> {
    let (from, to) = text.split_once('-')?;
    let (start, end) = (read_time(from)?, read_time(to)?);
    Some(LocalTimeInterval::new(start, end))
}

fn read_time(text: &str) -> Option<Time> {
    let text = text.trim();
    let (digits, later) = match text.strip_suffix("pm") {
        Some(rest) => (rest.trim(), 12),
        None => (text.strip_suffix("am").unwrap_or(text).trim(), 0),
    };
    let (hour, minute) = digits.split_once([':', '.']).unwrap_or((digits, "0"));
    let hour: i8 = hour.parse().ok()?;
    let hour = if later == 12 && hour < 12 { hour + 12 } else { hour };
    // Midnight at the end of a day is written as 24:00.
    Time::new(if hour == 24 { 0 } else { hour }, minute.parse().ok()?, 0, 0).ok()
}

/// Reads `mon - fri`, `tue and thu`, `weekends`.
fn read_days(text: &str) -> Option<Vec<Weekday>> {
    let mut days = Vec::new();
    for part in text.split(" and ").flat_map(|part| part.split(['&', '/'])).map(str::trim) {
        let part = part.strip_suffix(" and").unwrap_or(part).trim();
        if part.is_empty() || part == "and" {
            continue;
        }
        if let Some((first, last)) = part.split_once('-') {
            let (first, last) = (read_day(first)?, read_day(last)?);
            let (first, last) = (first.days_since_monday(), last.days_since_monday());
            let in_range = |day: &Weekday| {
                let at = day.days_since_monday();
                if first <= last { first <= at && at <= last } else { at >= first || at <= last }
            };
            days.extend(Weekday::ALL.into_iter().filter(in_range));
            continue;
        }
        for word in part.split_whitespace() {
            match word.trim_end_matches('s') {
                "weekend" => days.extend(&Weekday::ALL[5..]),
                "weekday" | "workday" => days.extend(&Weekday::ALL[..5]),
                "daily" => days.extend(Weekday::ALL),
                "on" | "every" | "the" => {}
                word => days.push(read_day(word)?),
            }
        }
    }
    days.sort_unstable();
    days.dedup();
    Some(days)
}

fn read_day(word: &str) -> Option<Weekday> {
    const NAMES: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let word = word.trim().trim_end_matches('.').trim_end_matches('s');
    let fits = |name: &&str| word.len() >= 3 && name.starts_with(word) || *name == word;
    NAMES.iter().position(fits).map(|at| Weekday::ALL[at])
}

/// Reads words such as `tue and thu evening` or `evenings and saturdays`; all of them must be understood.
fn read_own_slots(text: &str) -> Option<Vec<WorkingSlot>> {
    let words: Vec<&str> =
        text.split_whitespace().filter(|word| !matches!(*word, "only" | "just")).collect();
    let found = read_slot_words(&words)?;
    (found.words == words.len()).then_some(found.slots)
}

/// Adds slots of time for one's own plans. They are shorter than the whole of an evening or a Saturday.
fn add_slots(slots: &[WorkingSlot], week: &mut WeeklyHours) {
    for slot in slots {
        let days: &[Weekday] =
            if slot.days.is_empty() { &Weekday::ALL[..5] } else { slot.days.as_slice() };
        for day in days {
            let weekend = matches!(day, Weekday::Sat | Weekday::Sun);
            let (from, to) = match slot.part {
                Some(DayPart::Morning) | None if weekend => (10, 13),
                Some(DayPart::Morning) => (9, 12),
                Some(DayPart::Afternoon) => (13, 17),
                Some(DayPart::Evening) => (19, 21),
                None => (9, 17),
            };
            let hours = LocalTimeInterval::new(time(from, 0, 0, 0), time(to, 0, 0, 0));
            week.entry(*day).or_default().push(hours);
        }
    }
}

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

/// Says the same in fewer words, for narrow screens: `Tue and Thu evening, Sat morning`. Hours that no part of the day
/// stands for are written out.
pub fn describe_hours_briefly(hours: &WeeklyHours) -> String {
    let mut groups: Vec<(&str, Vec<Weekday>)> = Vec::new();
    for (day, times) in hours.iter().filter(|(_, times)| !times.is_empty()) {
        let Some(part) = day_part(times) else { return describe_weekly_hours(hours) };
        match groups.iter_mut().find(|(known, _)| *known == part) {
            Some((_, days)) => days.push(*day),
            None => groups.push((part, vec![*day])),
        }
    }
    let texts: Vec<String> =
        groups.iter().map(|(part, days)| format!("{} {part}", describe_days(days))).collect();
    texts.join(", ")
}

/// The part of the day in which all hours lie.
fn day_part(times: &[LocalTimeInterval]) -> Option<&'static str> {
    let start = times.first()?.start;
    let end = times.last()?.end;
    let parts = [("morning", 5, 13), ("afternoon", 12, 18), ("evening", 17, 24)];
    let within = |from: i8, to: i8| {
        let until = if end == Time::midnight() { 24 * 60 } else { minute_of_day(end) };
        minute_of_day(start) >= i16::from(from) * 60 && until <= i16::from(to) * 60
    };
    parts.into_iter().find(|(_, from, to)| within(*from, *to)).map(|(name, ..)| name)
}

fn minute_of_day(at: Time) -> i16 {
    i16::from(at.hour()) * 60 + i16::from(at.minute())
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

/// The hours of somebody who named none: weekdays from 09:00 to 17:00.
pub fn default_weekly_hours() -> WeeklyHours {
    PlanCalendar::new("UTC").working
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        parse_own_hours(text).map_or_else(|why| why, |hours| describe_weekly_hours(&hours))
    }

    #[test]
    fn hours_are_read_in_words_and_exactly() {
        for (text, expected) in [
            ("weekdays", "Mon – Fri 09:00 – 17:00"),
            ("evenings and Saturdays", "Mon – Fri 19:00 – 21:00, Sat 10:00 – 13:00"),
            ("Tue and Thu evening, Sundays", "Tue and Thu 19:00 – 21:00, Sun 10:00 – 13:00"),
            ("weekends", "Sat and Sun 10:00 – 13:00"),
            ("Mon-Fri 9-17", "Mon – Fri 09:00 – 17:00"),
            (
                "Tue, Thu 19:00 – 20:30, Sat 10:00 – 13:00",
                "Tue and Thu 19:00 – 20:30, Sat 10:00 – 13:00",
            ),
            ("Fri 22:00-24:00", "Fri 22:00 – 00:00"),
            ("Mon 7 pm - 9 pm", "Mon 19:00 – 21:00"),
            ("Wed 08:00 - 09:00 and 18:00 - 19:00", "Wed 08:00 – 09:00 and 18:00 – 19:00"),
            ("Sat to Mon 10:00 to 12:00", "Mon, Sat and Sun 10:00 – 12:00"),
            ("Saturday", "Sat 10:00 – 13:00"),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["weekdays", "evenings and Saturdays", "Wed 8-9 and 18-19, Sun 10-24"] {
            let hours = parse_own_hours(text).unwrap();
            assert_eq!(parse_own_hours(&describe_weekly_hours(&hours)), Ok(hours), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert_eq!(said("whenever"), "\"whenever\" was not understood");
        assert_eq!(said("Mon 25-26"), "\"mon 25-26\" was not understood");
        assert_eq!(said("Mon 17-9"), "\"17-9\" ends before it starts");
        assert_eq!(said(" , "), "no hours were named");
        assert!(parse_own_hours(&"evening ".repeat(10_000)).is_ok());
    }

    #[test]
    fn parts_of_the_day_are_shorter_to_read() {
        let brief = |text: &str| describe_hours_briefly(&parse_own_hours(text).unwrap());
        assert_eq!(brief("Tue, Thu 19:00-20:30, Sat 10-13"), "Tue and Thu evening, Sat morning");
        assert_eq!(brief("weekdays"), "Mon – Fri 09:00 – 17:00");
        assert_eq!(describe_weekly_hours(&WeeklyHours::new()), "");
    }
}
