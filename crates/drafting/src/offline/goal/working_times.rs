//! Times of the week that a goal limits the work to: "weekends only", "in the evenings", a clause of its own such as
//! ", evenings and Saturdays".

use std::ops::Range;

use planwright_model::Weekday;

use super::amount::{ArticlePolicy, parse_amount};
use super::words::GoalWords;
use crate::change_requests::DayPart;
use crate::working_slots::{SlotMatch, WorkingSlot, read_slots};

/// Finds the only times at which work may happen, and marks the words as read. "Every" and "each" name how often
/// something happens, and are left to the cadence.
pub(super) fn find_working_times(words: &mut GoalWords<'_>) -> Vec<WorkingSlot> {
    for index in 0..words.len() {
        let Some((slots, end)) = working_times_at(words, index) else { continue };
        words.mark_used(index..end);
        return slots;
    }
    find_job(words)
}

/// Hours that are stated for certain days of every week: "2 hours on Saturday and Sunday".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimedDays {
    /// The words of the amount, and those of the days.
    pub(super) amount: Range<usize>,
    pub(super) days: Range<usize>,
    /// Of each of the days.
    pub(super) minutes: u32,
    pub(super) slots: Vec<WorkingSlot>,
}

/// Finds hours that are stated for certain days of every week.
pub(super) fn find_timed_days(words: &GoalWords<'_>) -> Option<TimedDays> {
    (0..words.len()).find_map(|index| {
        let amount = parse_amount(words, index, ArticlePolicy::CountsAsOne)?;
        let minutes = amount.count * amount.unit.in_minutes()?;
        let first = words.skip_fillers(amount.end, &["on", "both", "the"]);
        let SlotMatch { slots, words: count } = slots_at(words, first)?;
        let has_days = slots.iter().all(|slot| !slot.days.is_empty());
        let possible = (1.0..=24.0 * 60.0).contains(&minutes);
        let joined = !(amount.end..=first).any(|place| words.clause_starts_at(place));
        (has_days && possible && joined).then(|| TimedDays {
            amount: index..amount.end,
            days: amount.end..first + count,
            minutes: minutes.round() as u32,
            slots,
        })
    })
}

/// Finds the part of the day of minutes that are stated for each day: "one hour every weekday morning".
pub(super) fn find_daily_part(words: &mut GoalWords<'_>) -> Vec<WorkingSlot> {
    for index in 1..words.len() {
        let part = match words.text_at(index) {
            "morning" | "mornings" => DayPart::Morning,
            "afternoon" | "afternoons" => DayPart::Afternoon,
            "evening" | "evenings" | "night" | "nights" => DayPart::Evening,
            _ => continue,
        };
        // The words before it have been read as the minutes.
        let Some(before) = words.get(index - 1).filter(|word| word.used) else { continue };
        let weekday = matches!(before.text.as_str(), "weekday" | "workday" | "day");
        if !weekday {
            continue;
        }
        let working = [Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri];
        let days = if before.text == "day" { Vec::new() } else { working.to_vec() };
        words.mark_used(index..index + 1);
        return vec![WorkingSlot { days, part: Some(part) }];
    }
    Vec::new()
}

/// What people say who have a job: the evenings and weekends are left.
const JOBS: [&str; 9] = [
    "next to my job",
    "besides my job",
    "beside my job",
    "alongside my job",
    "next to work",
    "work full time",
    "working full time",
    "work full-time",
    "after work",
];

/// Finds words about a job, which leave the evenings and the weekend.
fn find_job(words: &mut GoalWords<'_>) -> Vec<WorkingSlot> {
    for index in 0..words.len() {
        let Some(phrase) = JOBS.iter().find(|phrase| words.phrase_starts_at(index, phrase)) else {
            continue;
        };
        let mut start = index;
        while start > 0
            && words.is_any_of(start - 1, &["i", "we", "both", "all", "and"])
            && !words.clause_starts_at(start)
        {
            start -= 1;
        }
        words.mark_used(start..index + phrase.split(' ').count());
        let evenings = WorkingSlot { days: Vec::new(), part: Some(DayPart::Evening) };
        let weekend = vec![Weekday::Sat, Weekday::Sun];
        return vec![evenings, WorkingSlot { days: weekend, part: None }];
    }
    Vec::new()
}

fn working_times_at(words: &GoalWords<'_>, index: usize) -> Option<(Vec<WorkingSlot>, usize)> {
    if words.is_any_of(index, &["every", "each", "and", "or"]) {
        return None;
    }
    if index > 0 && words.is_any_of(index - 1, &["every", "each"]) {
        return None;
    }
    let limits = ["only", "just", "mostly", "mainly", "usually", "preferably"];
    let first = words.skip_fillers(index, &limits);
    let led = words.skip_fillers(first, &["on", "in", "during", "the", "work", "working"]);
    let SlotMatch { slots, words: count } = slots_at(words, led)?;
    let mut end = led + count;
    let closes = words.is_any_of(end, &["only"]);
    end += usize::from(closes);
    let only = closes || first > index;
    // "in the evenings" says when, "on weekends" may as well say how often.
    let in_parts = led > first && words.is_any_of(first, &["in", "during"]);
    let own_clause = words.clause_starts_at(index) && words.clause_starts_at(end);
    // ", Saturday evening" is one evening, and not every one.
    let one_day = matches!(slots.as_slice(), [slot] if slot.days.len() == 1)
        && !words.text_at(led + count - 1).ends_with('s');
    let own_clause = own_clause && !one_day;
    let timed = slots.iter().any(|slot| slot.part.is_some() || is_weekend(slot));
    (only || in_parts || (own_clause && timed && index > 0)).then_some((slots, end))
}

fn is_weekend(slot: &WorkingSlot) -> bool {
    slot.days.len() == 2 && slot.part.is_none() && slot.days[0].days_since_monday() == 5
}

fn slots_at(words: &GoalWords<'_>, index: usize) -> Option<SlotMatch> {
    let texts: Vec<&str> = (index..words.len())
        .map(|place| words.text_at(place))
        .take_while(|text| !text.is_empty())
        .collect();
    read_slots(&texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::working_slots::describe_slots;

    fn read(text: &str) -> String {
        describe_slots(&find_working_times(&mut GoalWords::new(text)))
    }

    #[test]
    fn times_are_read_where_the_goal_limits_the_work_to_them() {
        assert_eq!(read("learn piano, weekends only"), "weekends");
        assert_eq!(read("renovate the bathroom only on weekends"), "weekends");
        assert_eq!(read("learn piano evenings only"), "evenings");
        assert_eq!(read("write a novel in the evenings"), "evenings");
        assert_eq!(
            read("launch a newsletter in 6 weeks, evenings and Saturdays"),
            "evenings and Saturdays"
        );
        assert_eq!(
            read("learn Greek, Tuesday and Thursday evenings"),
            "Tuesday and Thursday evenings"
        );
        assert_eq!(read("adopt a dog, we both work full time"), "evenings and weekends");
        assert_eq!(
            read("finish my thesis, 12 hours a week next to my job"),
            "evenings and weekends"
        );
        let slots = find_working_times(&mut GoalWords::new("paint, evenings"));
        assert_eq!(slots, [WorkingSlot { days: Vec::new(), part: Some(DayPart::Evening) }]);
    }

    #[test]
    fn hours_of_certain_days_are_read_with_their_days() {
        let read = |text: &str| {
            let found = find_timed_days(&GoalWords::new(text))?;
            Some((found.minutes, describe_slots(&found.slots)))
        };
        let weekend = Some((120, "weekends".to_owned()));
        assert_eq!(read("repaint the shed, 2 hours on Saturday and Sunday"), weekend);
        assert_eq!(read("repaint the shed, 2 hours on weekends"), weekend);
        assert_eq!(
            read("learn chess, 30 minutes on Mondays and Thursdays"),
            Some((30, "Mondays and Thursdays".to_owned()))
        );
        assert_eq!(read("call mum for 2 hours on Saturday"), None, "one Saturday");
        assert_eq!(read("run 2 hours, Mondays and Thursdays are free"), None);
    }

    #[test]
    fn how_often_something_happens_is_not_a_limit() {
        assert_eq!(read("meditate every morning"), "");
        assert_eq!(read("gym on Mondays and Thursdays"), "");
        assert_eq!(read("go hiking on weekends"), "");
        assert_eq!(read("call mum every Saturday and Sunday"), "");
    }
}
