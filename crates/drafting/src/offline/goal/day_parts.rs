//! The part of a day that a goal names with its day: "tonight", "tomorrow morning", "on Friday evening".

use jiff::civil::Time;

use super::words::GoalWords;
use crate::change_requests::DayPart;

/// Returns the part of a day that a single word names.
pub(super) fn part_named(text: &str) -> Option<DayPart> {
    Some(match text {
        "morning" => DayPart::Morning,
        "afternoon" => DayPart::Afternoon,
        "evening" | "night" | "tonight" => DayPart::Evening,
        _ => return None,
    })
}

/// Returns the part of a day of the date phrase from `start` to `end`, and the index after it.
pub(super) fn part_of_date(
    words: &GoalWords<'_>,
    start: usize,
    end: usize,
) -> Option<(DayPart, usize)> {
    if let Some(part) = part_named(words.text_at(end - 1)).filter(|_| end > start) {
        return Some((part, end));
    }
    if words.clause_starts_at(end) {
        return None;
    }
    let place = words.skip_fillers(end, &["in", "the"]);
    part_named(words.text_at(place)).map(|part| (part, place + 1))
}

/// Words that make a bare hour one of the second half of the day: "dinner at 7".
const LATE_WORDS: [&str; 8] =
    ["tonight", "evening", "evenings", "night", "nightly", "dinner", "afternoon", "afternoons"];

/// Returns the time that an hour without "am" or "pm" means.
pub(super) fn settle_hour(words: &GoalWords<'_>, time: Time) -> Time {
    let late = words.contains_word(0..words.len(), &LATE_WORDS);
    let stated = words.contains_word(0..words.len(), &["am", "pm"]);
    if late && !stated && (1..12).contains(&time.hour()) {
        return Time::new(time.hour() + 12, time.minute(), 0, 0).unwrap_or(time);
    }
    time
}
