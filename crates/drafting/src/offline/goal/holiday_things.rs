//! Holidays as part of what a goal is about: a "New Year's Eve party" is on that day, "Christmas presents" are there
//! before it.

use std::ops::Range;

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::dates::{self, DateContext, DateReading};
use super::words::GoalWords;

/// A holiday in the name of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HolidayThing {
    pub(super) holiday: Date,
    /// The days on which the thing happens, or the last of which ends the work.
    pub(super) days: (Date, Date),
    /// Whether the work ends before the holiday.
    pub(super) is_end: bool,
    pub(super) words: Range<usize>,
}

/// What happens on the holiday itself.
const MEALS: [&str; 14] = [
    "party",
    "dinner",
    "brunch",
    "lunch",
    "breakfast",
    "celebration",
    "bash",
    "gathering",
    "potluck",
    "feast",
    "get-together",
    "barbecue",
    "bbq",
    "date",
];
/// What has to be there before it.
const GOODS: [&str; 22] = [
    "present",
    "presents",
    "gift",
    "gifts",
    "cards",
    "card",
    "shopping",
    "cookies",
    "baking",
    "decorations",
    "decoration",
    "lights",
    "costume",
    "costumes",
    "tree",
    "newsletter",
    "campaign",
    "sale",
    "promotion",
    "deals",
    "market",
    "concert",
];
/// Verbs before a holiday that is itself what is planned: "host Thanksgiving".
const HOSTING: [&str; 6] = ["host", "hosting", "celebrate", "celebrating", "cook", "throw"];

/// Finds the first such holiday.
pub(super) fn find_holiday_thing(words: &GoalWords<'_>, at: DateContext) -> Option<HolidayThing> {
    (0..words.len()).find_map(|index| {
        let found = dates::named_holiday(words, index, at)?;
        let DateReading::Day(holiday) = found.reading else { return None };
        let range = index..found.end;
        let next = words.skip_fillers(found.end, &["day", "family", "office", "team", "company"]);
        let christmas = words.is_any_of(index, &["christmas", "xmas"]) && found.end == index + 1;
        let hosted = index > 0 && words.is_any_of(index - 1, &HOSTING);
        if christmas && words.is_any_of(next, &["party", "bash", "celebration", "gathering"]) {
            return christmas_party(holiday, range, at);
        }
        if words.is_any_of(next, &MEALS) || hosted {
            let days = (holiday, holiday);
            return Some(HolidayThing { holiday, days, is_end: false, words: range });
        }
        let last = holiday.yesterday().ok().filter(|last| *last >= at.today)?;
        words.is_any_of(next, &GOODS).then_some(HolidayThing {
            holiday,
            days: (last, last),
            is_end: true,
            words: range,
        })
    })
}

/// A Christmas party is in the weeks before Christmas.
fn christmas_party(holiday: Date, range: Range<usize>, at: DateContext) -> Option<HolidayThing> {
    let from = holiday.checked_sub(18.days()).ok()?.max(at.today);
    let to = holiday.checked_sub(3.days()).ok()?.max(at.today);
    Some(HolidayThing { holiday, days: (from, to), is_end: false, words: range })
}
