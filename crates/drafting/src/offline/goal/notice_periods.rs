//! Time that somebody else has set: "I got the letter on November 16 and have 14 days", "we have two weeks to object".

use std::ops::Range;

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::amount::{self, ArticlePolicy, TimeUnit};
use super::dates::{self, DateContext, DateReading};
use super::words::GoalWords;
use super::{Goal, GoalPhrase, GoalPhraseKind};

/// Verbs of what has come from others; its day has passed.
const RECEIVED: [&str; 8] =
    ["got", "received", "came", "arrived", "dated", "issued", "delivered", "notified"];
/// Words after a length of time that make it something else than the time there is.
const OTHER_TIME: [&str; 9] =
    ["a", "per", "of", "off", "each", "every", "vacation", "holiday", "experience"];
/// The words between a verb and its date: "got the second letter on".
const MOST_WORDS: usize = 6;
/// What came longer ago is not what a time counts from.
const LONGEST_AGO: i32 = 120;

/// What a goal says about a time that others have set.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NoticePeriod {
    /// The last day, and the words that state it.
    Ends(Date, Range<usize>),
    /// Only the day on which something came; when it ends is not stated.
    Came(Range<usize>),
}

impl Goal {
    /// Reads the last day that others have set. The day on which something came is none of the plan's own.
    pub(super) fn read_notice_period(&mut self, words: &mut GoalWords<'_>, at: DateContext) {
        match find_notice_period(words, at) {
            Some(NoticePeriod::Ends(last, range)) => {
                let kind = GoalPhraseKind::Deadline;
                self.phrases.push(GoalPhrase::new(kind, words, range.clone()));
                words.mark_used(range);
                self.deadline = Some(last);
            }
            Some(NoticePeriod::Came(range)) => {
                self.unread.push(words.unread_words(range.clone()));
                words.mark_used(range);
            }
            None => {}
        }
    }
}

/// Finds the last day of such a time.
fn find_notice_period(words: &GoalWords<'_>, at: DateContext) -> Option<NoticePeriod> {
    let received = (0..words.len()).find_map(|index| received_at(words, index, at));
    let period = (0..words.len()).find_map(|index| period_at(words, index, received.is_some()));
    match (received, period) {
        (received, Some((days, range))) => {
            let first = received.as_ref().map_or(at.today, |(day, _)| *day);
            let last = first.checked_add(days.days()).ok().filter(|last| *last >= at.today)?;
            let start = received.map_or(range.start, |(_, came)| came.start.min(range.start));
            Some(NoticePeriod::Ends(last, start..range.end))
        }
        (Some((_, range)), None) => Some(NoticePeriod::Came(range)),
        (None, None) => None,
    }
}

/// Returns the day on which something came, with its words.
fn received_at(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<(Date, Range<usize>)> {
    if !words.is_any_of(index, &RECEIVED) {
        return None;
    }
    let places = index + 1..=index + MOST_WORDS;
    let open = |place: &usize| *place == index + 1 || !words.clause_starts_at(*place);
    places.take_while(open).find_map(|place| {
        let found = dates::calendar_date(words, place, at)?;
        let DateReading::Day(day) = found.reading else { return None };
        let day = if day > at.today { day.checked_sub(1.year()).ok()? } else { day };
        let ago = day.until(at.today).ok()?.get_days();
        (0..=LONGEST_AGO).contains(&ago).then_some((day, index..found.end))
    })
}

/// Returns the days of "have 14 days", or of "within two weeks" of something that came, with their words.
fn period_at(words: &GoalWords<'_>, index: usize, counts: bool) -> Option<(i32, Range<usize>)> {
    let has = words.is_any_of(index, &["have", "has"]);
    let within = counts && words.is_any_of(index, &["within", "in"]);
    if !(has || within) {
        return None;
    }
    let next = words.skip_fillers(index + 1, &["only", "just", "about"]);
    let found = amount::parse_amount(words, next, ArticlePolicy::CountsAsOne)?;
    let long = matches!(found.unit, TimeUnit::Day | TimeUnit::Week | TimeUnit::Month);
    if !long || words.is_any_of(found.end, &OTHER_TIME) {
        return None;
    }
    let days = (found.unit.in_weeks()? * 7.0 * found.count).round();
    let end = words.skip_fillers(found.end, &["left", "time"]);
    (1.0..=730.0).contains(&days).then_some((days as i32, index..end))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::super::GoalParseContext;
    use super::Goal;

    fn last_day(text: &str) -> Option<jiff::civil::Date> {
        Goal::parse(text, GoalParseContext::new(date(2026, 11, 19), 5)).last_day()
    }

    #[test]
    fn a_time_that_others_set_counts_from_what_came() {
        let goal = "appeal against my fine, I got the letter on November 16 and have 14 days";
        assert_eq!(last_day(goal), Some(date(2026, 11, 30)));
        let goal = "object to the tax assessment dated 2 November within a month";
        assert_eq!(last_day(goal), Some(date(2026, 12, 2)));
        assert_eq!(last_day("object to the bill, we have two weeks"), Some(date(2026, 12, 3)));
    }

    #[test]
    fn a_day_that_something_came_is_not_a_day_of_the_plan() {
        assert_eq!(last_day("answer the letter that came on November 2"), None);
        assert_eq!(last_day("learn Greek, I have 3 days a week"), None);
        assert_eq!(last_day("plan a trip, we have 2 weeks of vacation"), None);
    }
}
