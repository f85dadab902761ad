//! The first day of a plan: "starting today", "start next Monday", "from January on".

use jiff::civil::Date;

use super::dates::{self, DateContext, DateReading};
use super::words::GoalWords;
use crate::change_requests::parse_first_day;

/// The longest date phrase, in words.
const MAX_DATE_WORDS: usize = 4;

/// Verbs of looking for something that begins on a day, rather than of work that does.
pub(super) const FINDING: [&str; 12] = [
    "hire",
    "find",
    "rent",
    "book",
    "need",
    "search",
    "searching",
    "looking",
    "look",
    "recruit",
    "lease",
    "sublet",
];

/// Verbs of receiving people, who begin on a day of their own.
pub(super) const RECEIVING: [&str; 4] = ["onboard", "onboarding", "welcome", "induct"];

/// Things that begin on a day of their own, rather than the work for them.
const BEGINNING: [&str; 26] = [
    "class",
    "classes",
    "workshop",
    "evenings",
    "sessions",
    "visiting",
    "visit",
    "visits",
    "guests",
    "stay",
    "staying",
    "stays",
    "vacation",
    "holiday",
    "holidays",
    "trip",
    "camp",
    "festival",
    "exhibition",
    "conference",
    "market",
    "away",
    "booked",
    "cruise",
    "honeymoon",
    "tour",
];

/// Returns whether what stands before a place begins on a day of its own. Whoever takes a class only goes there.
pub(super) fn has_own_start(words: &GoalWords<'_>, index: usize) -> bool {
    words.contains_word(0..index, &BEGINNING)
        && !words
            .contains_word(0..index, &["take", "attend", "learn", "study", "train", "practice"])
}

/// Returns whether "start" at a place is a noun with a date of its own: "the school start on 23 August".
fn is_noun(words: &GoalWords<'_>, index: usize) -> bool {
    const BEFORE_VERB: [&str; 12] =
        ["and", "to", "i", "we", "can", "will", "should", "must", "then", "it", "please", "let's"];
    words.is_any_of(index, &["start", "begin"])
        && index > 0
        && !words.clause_starts_at(index)
        && !words.text_at(index - 1).is_empty()
        && !words.is_any_of(index - 1, &BEFORE_VERB)
}

/// Returns the day after a holiday or a date, if one stands there: "after New Year", "after Easter".
fn day_after(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<(Date, usize)> {
    let index = words.skip_fillers(index, &["the"]);
    let found = dates::named_holiday(words, index, at)
        .or_else(|| dates::calendar_date(words, index, at))?;
    let DateReading::Day(day) = found.reading else { return None };
    let next = day.tomorrow().ok().filter(|next| *next > at.today)?;
    words.clause_starts_at(found.end).then_some((next, found.end))
}

/// What a goal says about its first day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StatedStart {
    On(Date),
    /// A day that has passed, with its words.
    Passed {
        day: Date,
        typed: String,
    },
}

/// Finds the day on which work should start, and marks the words as read.
pub(super) fn find_start(words: &mut GoalWords<'_>, at: DateContext) -> Option<StatedStart> {
    let today = at.today;
    for index in 0..words.len() {
        let received = words.contains_word(0..index, &RECEIVING);
        let from = match words.text_at(index) {
            _ if is_noun(words, index) || received => continue,
            // "a nanny starting in March" is found before March; a class that starts in January is prepared before.
            "starting" | "from" | "beginning" if has_own_start(words, index) => continue,
            // "a nanny from March" is found before March.
            "starting" | "from" if words.contains_word(0..index, &FINDING) => continue,
            "starting" | "start" | "beginning" | "begin" => {
                words.skip_fillers(index + 1, &["on", "in", "from", "the"])
            }
            "from" => words.skip_fillers(index + 1, &["the"]),
            "as" if words.phrase_starts_at(index, "as of") => index + 2,
            "after" => {
                let Some((day, end)) = day_after(words, index + 1, at) else { continue };
                words.mark_used(index..end);
                return Some(StatedStart::On(day));
            }
            _ => continue,
        };
        let leads = words.is_any_of(index, &["from", "as"]);
        for count in (1..=MAX_DATE_WORDS).rev() {
            let end = from + count;
            let apart = (from + 1..end).any(|place| words.clause_starts_at(place));
            let missing = (from..end).any(|place| words.text_at(place).is_empty());
            if end > words.len() || missing || apart && leads {
                continue;
            }
            let found = parse_first_day(words.typed_text(from..end), today);
            // "from 3 to 10 March" are the days of the thing itself.
            let ranges = leads
                && (words.is_any_of(end, &["to", "until", "till", "through", "and"])
                    || words.is_dash_before(end));
            // Its month alone would be another day.
            if found.is_some() && ranges {
                break;
            }
            let Some(day) = found.filter(|day| *day >= today) else { continue };
            // A day without its year is the next one; with a year that is over, it has passed.
            let year =
                words.text_at(end).parse::<i16>().ok().filter(|year| (1900..=2200).contains(year));
            let passed = year.filter(|_| !apart).and_then(|year| {
                Date::new(year, day.month(), day.day()).ok().filter(|day| *day < today)
            });
            let end = if passed.is_some() { end + 1 } else { end };
            let typed = words.typed_text(index..end).to_owned();
            let end = words.skip_fillers(end, &["on", "onwards", "onward"]);
            words.mark_used(index..end);
            return Some(match passed {
                Some(day) => StatedStart::Passed { day, typed },
                None => StatedStart::On(day),
            });
        }
    }
    None
}
