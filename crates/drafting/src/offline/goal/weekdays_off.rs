//! Days of the week on which nobody works: "not on Mondays", "no Sundays", "except Fridays".

use planwright_model::Weekday;

use super::words::GoalWords;
use crate::working_slots::read_slot_words;

/// Finds the days of the week without work, and marks the words as read.
pub(super) fn find_weekdays_off(words: &mut GoalWords<'_>) -> Vec<Weekday> {
    for index in 0..words.len() {
        let Some((days, end)) = weekdays_off_at(words, index) else { continue };
        let led = index > 0
            && words.is_any_of(index - 1, &["but", "and"])
            && !words.clause_starts_at(index);
        words.mark_used(index - usize::from(led)..end);
        return days;
    }
    Vec::new()
}

fn weekdays_off_at(words: &GoalWords<'_>, index: usize) -> Option<(Vec<Weekday>, usize)> {
    let next = match words.text_at(index) {
        "not" | "never" | "except" | "without" => {
            words.skip_fillers(index + 1, &["on", "for", "working", "the"])
        }
        "no" => words.skip_fillers(index + 1, &["work", "on"]),
        _ => return None,
    };
    let texts: Vec<&str> = (next..words.len())
        .map(|place| words.text_at(place))
        .take_while(|text| !text.is_empty())
        .collect();
    let found = read_slot_words(&texts)?;
    // "not in the evenings" leaves the days as they are.
    let whole = found.slots.iter().all(|slot| slot.part.is_none() && !slot.days.is_empty());
    let mut days: Vec<Weekday> = found.slots.into_iter().flat_map(|slot| slot.days).collect();
    days.sort_unstable();
    days.dedup();
    (whole && days.len() < 7).then_some((days, next + found.words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_work_are_read_and_days_with_work_are_not() {
        let read = |text: &str| find_weekdays_off(&mut GoalWords::new(text));
        assert_eq!(read("train for a race, not on Mondays"), [Weekday::Mon]);
        assert_eq!(read("learn Greek, but not on weekends"), [Weekday::Sat, Weekday::Sun]);
        assert_eq!(read("write a novel, no Sundays and Fridays"), [Weekday::Fri, Weekday::Sun]);
        assert_eq!(read("practice every day except Sunday"), [Weekday::Sun]);
        for text in ["gym on Mondays", "not in the evenings", "learn Greek on weekends"] {
            assert_eq!(read(text), [], "{text}");
        }
    }
}
