//! The first day of a plan: "starting today", "start next Monday", "from January on".

use jiff::civil::Date;

use super::words::GoalWords;
use crate::change_requests::parse_first_day;

/// The longest date phrase, in words.
const MAX_DATE_WORDS: usize = 4;

/// Finds the day on which work should start, and marks the words as read. A day that has passed is not one.
pub(super) fn find_start(words: &mut GoalWords<'_>, today: Date) -> Option<Date> {
    for index in 0..words.len() {
        let from = match words.text_at(index) {
            "starting" | "start" | "beginning" | "begin" => {
                words.skip_fillers(index + 1, &["on", "in", "from", "the"])
            }
            _ => continue,
        };
        for count in (1..=MAX_DATE_WORDS).rev() {
            let end = from + count;
            if end > words.len() || (from..end).any(|place| words.text_at(place).is_empty()) {
                continue;
            }
            let found = parse_first_day(words.typed_text(from..end), today);
            if let Some(date) = found.filter(|date| *date >= today) {
                words.mark_used(index..end);
                return Some(date);
            }
        }
    }
    None
}
