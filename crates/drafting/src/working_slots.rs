//! Times of the week in words, as goals, answers and change requests name them: "weekends", "Tuesday and Thursday
//! evenings", "evenings and Saturdays".

use serde::{Deserialize, Serialize};

use planwright_model::{LocalTimeInterval, PlanCalendar, Weekday, WeeklyHours};

use crate::change_requests::DayPart;

/// Days of the week, and the part of those days that is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingSlot {
    /// Empty means every day that has working hours.
    pub days: Vec<Weekday>,
    /// None means the whole day.
    pub part: Option<DayPart>,
}

/// Slots and the number of words that name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlotMatch {
    pub(crate) slots: Vec<WorkingSlot>,
    pub(crate) words: usize,
}

const WEEKDAYS: [Weekday; 5] =
    [Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri];
const WEEKEND: [Weekday; 2] = [Weekday::Sat, Weekday::Sun];

/// A word that names days or a part of the day.
enum SlotWord {
    Days { days: &'static [Weekday], plural: bool },
    Part { part: DayPart, plural: bool },
}

fn read_slot_word(word: &str) -> Option<SlotWord> {
    let plural = word.ends_with('s') && word.len() > 3;
    let days = |days| Some(SlotWord::Days { days, plural });
    let part = |part| Some(SlotWord::Part { part, plural });
    match word.strip_suffix('s').unwrap_or(word) {
        "monday" | "mon" => days(&WEEKDAYS[..1]),
        "tuesday" | "tue" => days(&WEEKDAYS[1..2]),
        "wednesday" | "wed" => days(&WEEKDAYS[2..3]),
        "thursday" | "thu" => days(&WEEKDAYS[3..4]),
        "friday" | "fri" => days(&WEEKDAYS[4..]),
        "saturday" | "sat" => days(&WEEKEND[..1]),
        "sunday" | "sun" => days(&WEEKEND[1..]),
        "weekend" => days(&WEEKEND),
        "weekday" | "workday" => days(&WEEKDAYS),
        "morning" => part(DayPart::Morning),
        "afternoon" => part(DayPart::Afternoon),
        "evening" | "night" => part(DayPart::Evening),
        _ => None,
    }
}

/// Reads the slots that the words start with. A single day without a plural, an "every" or a part of the day may mean
/// the next such day and is not a slot.
pub(crate) fn read_slots(words: &[&str]) -> Option<SlotMatch> {
    let (found, recurs) = read_slot_run(words)?;
    recurs.then_some(found)
}

/// Reads the slots that the words start with where only times of the week can be meant: "Saturday" is every Saturday.
pub(crate) fn read_slot_words(words: &[&str]) -> Option<SlotMatch> {
    read_slot_run(words).map(|(found, _)| found)
}

/// Reads slots, and whether the words themselves say that they recur.
fn read_slot_run(words: &[&str]) -> Option<(SlotMatch, bool)> {
    let mut slots = Vec::new();
    let mut pending: Vec<Weekday> = Vec::new();
    let mut recurs = false;
    let mut at = 0;
    let mut end = 0;
    while let Some(word) = words.get(at) {
        match read_slot_word(word) {
            Some(SlotWord::Days { days, plural }) => {
                // "Saturdays and evenings": the plural closes what came before.
                if recurs && !plural {
                    flush_days(&mut slots, &mut pending);
                }
                pending.extend(days);
                recurs |= plural || days.len() > 1;
                end = at + 1;
            }
            Some(SlotWord::Part { part, plural }) => {
                // "evenings and Saturdays", "Saturdays and evenings": an own slot, unless it follows its days.
                let follows_days = at > 0 && read_slot_word(words[at - 1]).is_some();
                if !follows_days {
                    flush_days(&mut slots, &mut pending);
                }
                recurs |= plural || !pending.is_empty();
                slots.push(WorkingSlot { days: take_days(&mut pending), part: Some(part) });
                end = at + 1;
            }
            None if end > 0 && matches!(*word, "and" | "or" | "plus" | "on" | "every" | "the") => {}
            None => break,
        }
        at += 1;
    }
    let many = pending.len() > 1;
    flush_days(&mut slots, &mut pending);
    (end > 0).then_some((SlotMatch { slots, words: end }, recurs || many))
}

fn take_days(pending: &mut Vec<Weekday>) -> Vec<Weekday> {
    let mut days = std::mem::take(pending);
    days.sort_unstable();
    days.dedup();
    days
}

fn flush_days(slots: &mut Vec<WorkingSlot>, pending: &mut Vec<Weekday>) {
    if !pending.is_empty() {
        slots.push(WorkingSlot { days: take_days(pending), part: None });
    }
}

/// Returns the hours that the slots leave of a calendar. Days without hours get those of the first working day.
pub(crate) fn slot_hours(calendar: &PlanCalendar, slots: &[WorkingSlot]) -> WeeklyHours {
    let usual = calendar.working.values().find(|hours| !hours.is_empty()).cloned();
    let office = || vec![PlanCalendar::new("UTC").working[&Weekday::Mon][0]];
    let usual = usual.unwrap_or_else(office);
    let has_hours = |day: &Weekday| calendar.working.get(day).is_some_and(|list| !list.is_empty());
    let mut week: WeeklyHours = Weekday::ALL.into_iter().map(|day| (day, Vec::new())).collect();
    for slot in slots {
        let days: Vec<Weekday> = if slot.days.is_empty() {
            Weekday::ALL.into_iter().filter(has_hours).collect()
        } else {
            slot.days.clone()
        };
        for day in days {
            let own = calendar.working.get(&day).filter(|hours| !hours.is_empty());
            let hours = match slot.part {
                Some(part) => vec![part.interval()],
                None => own.unwrap_or(&usual).clone(),
            };
            week.entry(day).or_default().extend(hours);
        }
    }
    for hours in week.values_mut() {
        merge_intervals(hours);
    }
    week
}

pub(crate) fn merge_intervals(hours: &mut Vec<LocalTimeInterval>) {
    hours.sort_unstable();
    let mut merged: Vec<LocalTimeInterval> = Vec::new();
    for next in hours.drain(..) {
        match merged.last_mut() {
            Some(last) if next.start <= last.end => last.end = last.end.max(next.end),
            _ => merged.push(next),
        }
    }
    *hours = merged;
}

/// Returns the slots in words: "evenings and Saturdays".
pub fn describe_slots(slots: &[WorkingSlot]) -> String {
    let texts: Vec<String> = slots.iter().map(describe_slot).collect();
    join_words(&texts)
}

fn describe_slot(slot: &WorkingSlot) -> String {
    let part = slot.part.map(|part| match part {
        DayPart::Morning => "mornings",
        DayPart::Afternoon => "afternoons",
        DayPart::Evening => "evenings",
    });
    let days = match slot.days.as_slice() {
        [] => return part.unwrap_or("working days").to_owned(),
        days if days == WEEKEND => "weekend".to_owned(),
        days if days == WEEKDAYS => "weekday".to_owned(),
        days => join_words(&days.iter().map(|day| day_name(*day).to_owned()).collect::<Vec<_>>()),
    };
    match part {
        Some(part) => format!("{days} {part}"),
        None => days.split(' ').map(plural_day).collect::<Vec<_>>().join(" "),
    }
}

fn plural_day(word: &str) -> String {
    match word.strip_suffix(',') {
        Some(day) => format!("{day}s,"),
        None if word == "and" => word.to_owned(),
        None => format!("{word}s"),
    }
}

pub(crate) fn day_name(day: Weekday) -> &'static str {
    const NAMES: [&str; 7] =
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    NAMES[day.days_since_monday() as usize]
}

pub(crate) fn join_words(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, usize)> {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        read_slots(&words).map(|found| (describe_slots(&found.slots), found.words))
    }

    #[test]
    fn slots_are_read_and_written_in_the_same_words() {
        for text in [
            "weekends",
            "evenings",
            "evenings and Saturdays",
            "Tuesday and Thursday evenings",
            "Mondays and Wednesdays",
            "weekday mornings",
            "weekend afternoons",
        ] {
            let count = text.split(' ').count();
            assert_eq!(read(text), Some((text.to_owned(), count)), "{text}");
        }
        assert_eq!(
            read("Tue and Thu evening, Sundays").unwrap().0,
            "Tuesday and Thursday evenings and Sundays"
        );
        assert_eq!(read("Saturdays and evenings").unwrap().0, "Saturdays and evenings");
    }

    #[test]
    fn a_single_day_is_not_a_slot() {
        assert_eq!(read("Friday"), None);
        assert_eq!(read("morning"), None);
        assert_eq!(read("the report"), None);
    }

    #[test]
    fn evenings_and_saturdays_are_hours_of_a_week() {
        let words = ["evenings", "and", "saturdays"];
        let slots = read_slots(&words).unwrap().slots;
        let week = slot_hours(&PlanCalendar::new("UTC"), &slots);
        assert_eq!(week[&Weekday::Mon], [DayPart::Evening.interval()]);
        assert_eq!(week[&Weekday::Sat].len(), 1);
        assert_eq!(week[&Weekday::Sat][0].duration_minutes(), 480);
        assert!(week[&Weekday::Sun].is_empty());
    }
}
