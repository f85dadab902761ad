//! The dates of a goal: which of them is the end of the work, and which the day of the thing itself.
//!
//! A goal may name several. The last "by" is the end; a day that has another date beside it counts only if both can
//! be meant of the whole plan. What is not taken stays unread, so that it is listed as such.

use std::ops::Range;

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::cadence::CadencePeriod;
use super::date_spans;
use super::dates::{self, DateContext, DateDoubt, DateMatch, DateReading};
use super::foreign_dates::UNTIL;
use super::holiday_things;
use super::start::{FINDING, RECEIVING, has_own_start};
use super::words::GoalWords;
use super::{Goal, GoalDay, GoalPhrase, GoalPhraseKind, day_parts};
use planwright_text::dates::format_date;

/// The word that introduces a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateTrigger {
    /// The end of the work; the day itself is included.
    By,
    /// The end of the work; the day itself is excluded.
    Before,
    /// The day on which the thing itself happens.
    Day,
}

impl DateTrigger {
    fn last_day(self, date: Date) -> Date {
        match self {
            Self::By | Self::Day => date,
            Self::Before => date.checked_sub(1.day()).unwrap_or(date),
        }
    }
}

/// A date of a goal that can be planned for.
#[derive(Clone, Debug)]
struct StatedDate {
    is_day: bool,
    from: Date,
    to: Date,
    doubt: Option<DateDoubt>,
    words: Range<usize>,
}

/// Nouns of what happens on a day: the date right after one is the day of the plan.
const EVENT_NOUNS: [&str; 20] = [
    "wedding",
    "party",
    "race",
    "marathon",
    "exam",
    "test",
    "talk",
    "interview",
    "conference",
    "trip",
    "flight",
    "birthday",
    "move",
    "launch",
    "opening",
    "concert",
    "festival",
    "ceremony",
    "graduation",
    "anniversary",
];

/// Words after a day of the week that say when on that day.
const DAY_PARTS: [&str; 8] =
    ["morning", "mornings", "afternoon", "afternoons", "evening", "evenings", "night", "nights"];

/// What somebody goes on.
const JOURNEYS: [&str; 8] =
    ["trip", "vacation", "holiday", "holidays", "honeymoon", "journey", "exchange", "travels"];
/// Verbs of planning the journey itself.
const ARRANGING: [&str; 6] = ["plan", "organize", "organise", "book", "arrange", "planning"];

/// Returns whether the time at `index` is that of a journey for which something else is done: "learn Italian for our trip
/// in April", "sublet the apartment while I am abroad in May".
fn is_time_of_journey(words: &GoalWords<'_>, index: usize) -> bool {
    let word = |back: usize| index.checked_sub(back);
    let is = |back: usize, any: &[&str]| word(back).is_some_and(|at| words.is_any_of(at, any));
    let for_trip = is(1, &JOURNEYS) && is(2, &["our", "my", "the", "a"]) && is(3, &["for"]);
    let in_place = for_journey_in_place(words, index);
    let abroad = is(1, &["abroad", "traveling", "travelling", "gone"])
        && (2..=4).any(|back| is(back, &["while"]));
    (for_trip || in_place || abroad) && !words.is_any_of(0, &ARRANGING)
}

/// Returns whether the place of a journey stands before its time: "for a two-week holiday in Tuscany in June".
fn for_journey_in_place(words: &GoalWords<'_>, index: usize) -> bool {
    let start = words.clause_start(index.saturating_sub(1));
    // What stands there may have been read as a place or a length.
    let is = |place: usize, any: &[&str]| words.contains_word(place..place + 1, any);
    let Some(journey) = (start..index).rev().find(|place| is(*place, &JOURNEYS)) else {
        return false;
    };
    let led = words.contains_word(start.max(journey.saturating_sub(4))..journey, &["for"]);
    let placed = is(journey + 1, &["in", "to", "through", "around"]);
    led && placed && index - journey <= MOST_PLACE_WORDS && words.is_capitalized(journey + 2)
}

/// The words of a place with what leads to it: "to the south of France".
const MOST_PLACE_WORDS: usize = 7;

impl Goal {
    /// "a weekly meeting on Sunday evenings" is every Sunday, and not the next one.
    pub(super) fn take_day_of_rhythm(&mut self, words: &mut GoalWords<'_>) {
        let Some(cadence) = self.cadence.as_mut() else { return };
        let weekly = cadence.every == CadencePeriod::Week && cadence.on.is_empty();
        let (Some(GoalDay::On(_)), true, None) = (self.day, weekly, self.deadline) else { return };
        let named = |phrase: &&mut GoalPhrase| {
            let text = phrase.text.to_lowercase();
            let parts: Vec<&str> = text.split(' ').collect();
            phrase.kind == GoalPhraseKind::Day
                && matches!(parts.as_slice(), ["on", day] if dates::parse_weekday(day).is_some())
        };
        let Some(phrase) = self.phrases.iter_mut().find(named) else { return };
        let day = phrase.text.rsplit(' ').next().map(str::to_lowercase).unwrap_or_default();
        cadence.on.extend(dates::parse_weekday(&day));
        phrase.kind = GoalPhraseKind::Rhythm;
        self.day = None;
        let end = phrase.span.end;
        let next = (0..words.len())
            .find(|place| self.word_spans.get(*place).is_some_and(|span| span.start >= end));
        if let Some(part) = next.filter(|part| words.is_any_of(*part, &DAY_PARTS)) {
            words.mark_used(part..part + 1);
        }
    }

    /// Reads the end of the work and the day of the thing itself.
    pub(super) fn read_dates(&mut self, words: &mut GoalWords<'_>, at: DateContext) {
        let found = self.find_dates(words, at);
        let end = found.iter().filter(|date| !date.is_day).max_by_key(|date| date.to).cloned();
        let exact = found.iter().find(|date| date.is_day && date.from == date.to);
        let day = exact.or_else(|| found.iter().find(|date| date.is_day)).cloned();
        let (end, day) = settle_pair(words, end, day);
        let taken: Vec<StatedDate> = end.into_iter().chain(day).collect();
        for date in &taken {
            self.take_date(words, at, date);
        }
        for left in
            found.into_iter().filter(|date| taken.iter().all(|known| known.words != date.words))
        {
            // It is a date all the same, and not what the goal is about.
            self.unread.push(words.unread_words(left.words.clone()));
            words.mark_used(left.words);
        }
        if self.last_day().is_none() {
            self.read_holiday_thing(words, at);
        }
        // "the quarterly review on 10 December" is one of them.
        let once = matches!(self.day, Some(GoalDay::On(_)));
        let named =
            words.contains_word(0..words.len(), &["quarterly", "annual", "yearly", "monthly"]);
        if once && named && self.cadence.as_ref().is_some_and(|found| found.on.is_empty()) {
            self.cadence = None;
            self.phrases.retain(|phrase| phrase.kind != GoalPhraseKind::Rhythm);
        }
        // "by 5 pm" without a day is today.
        if self.due_time.is_some() && self.last_day().is_none() {
            self.deadline = Some(at.today);
        }
        self.at_local = self.at_local.map(|time| day_parts::settle_hour(words, time));
    }

    /// Finds every date that can be planned for; the others are reported.
    fn find_dates(&mut self, words: &mut GoalWords<'_>, at: DateContext) -> Vec<StatedDate> {
        let mut all = Vec::new();
        let mut index = 0;
        while index < words.len() {
            let Some((trigger, found)) = date_phrase_at(words, index, at) else {
                index += 1;
                continue;
            };
            let range = index..found.end;
            index = found.end.max(index + 1);
            let (from, to) = match found.reading {
                DateReading::Impossible(why) => {
                    words.mark_used(range);
                    self.refuse_date(format!("{why}; no date was taken from it"));
                    continue;
                }
                DateReading::Day(date) => (date, trigger.last_day(date)),
                DateReading::Span { from, to } => (from, to),
            };
            let typed = words.typed_text(range.clone()).to_owned();
            if !self.is_plannable(to, at.today, &typed) {
                words.mark_used(range);
                continue;
            }
            let is_day = trigger == DateTrigger::Day;
            all.push(StatedDate { is_day, from, to, doubt: found.doubt, words: range });
        }
        all
    }

    fn take_date(&mut self, words: &mut GoalWords<'_>, at: DateContext, date: &StatedDate) {
        let mut range = date.words.clone();
        if let Some((part, end)) = day_parts::part_of_date(words, range.start, range.end) {
            self.day_part = Some(part);
            range.end = end;
        }
        if let Some(remark) = remark_before(words, range.start) {
            range.start = remark.start;
            self.ends_before_day |= remark.ends_before && date.is_day;
        }
        let typed = words.typed_text(range.clone()).to_owned();
        let is_span = date.is_day && date.from != date.to;
        if is_span && is_time_of_journey(words, range.start) {
            // What a journey needs is there before it.
            self.phrases.push(GoalPhrase::new(GoalPhraseKind::Deadline, words, range.clone()));
            words.mark_used(range);
            self.deadline = date.from.yesterday().ok();
            return;
        }
        let kind = if date.is_day { GoalPhraseKind::Day } else { GoalPhraseKind::Deadline };
        self.phrases.push(GoalPhrase::new(kind, words, range.clone()));
        words.mark_used(range);
        match (date.is_day, date.from == date.to) {
            (true, true) => self.day = Some(GoalDay::On(date.to)),
            (true, false) => {
                self.day = Some(GoalDay::Within { from: date.from, to: date.to });
                self.read_named_days(&typed, date);
            }
            (false, _) => self.deadline = Some(date.to),
        }
        match date.doubt {
            Some(DateDoubt::Season) => self.season = Some(at.region.season_words()),
            Some(DateDoubt::NextWeekday) => {
                let day = format_date(date.to, at.today);
                self.assumed_dates.push(format!("\"{typed}\" is {day}"));
            }
            None => {}
        }
    }

    /// "from 9 to 11 April" names both days, so it takes three.
    fn read_named_days(&mut self, typed: &str, date: &StatedDate) {
        let numbers = typed
            .split(|letter: char| !letter.is_ascii_digit())
            .filter(|part| (1..=2).contains(&part.len()))
            .count();
        let days = date.from.until(date.to).map_or(0, |span| span.get_days()) + 1;
        if numbers >= 2 && (2..=21).contains(&days) {
            self.event_days = u16::try_from(days).ok();
        }
    }

    /// Reads a holiday that is part of the thing itself: "a New Year's Eve party", "Christmas presents". The words stay
    /// part of its name.
    fn read_holiday_thing(&mut self, words: &GoalWords<'_>, at: DateContext) {
        let Some(found) = holiday_things::find_holiday_thing(words, at) else { return };
        let typed = words.typed_text(found.words.clone()).to_owned();
        let day = format_date(found.holiday, at.today);
        let kind = if found.is_end {
            self.deadline = Some(found.days.1);
            GoalPhraseKind::Deadline
        } else {
            let (from, to) = found.days;
            let day = if from == to { GoalDay::On(to) } else { GoalDay::Within { from, to } };
            self.day = Some(day);
            GoalPhraseKind::Day
        };
        self.phrases.push(GoalPhrase::new(kind, words, found.words));
        self.assumed_dates.push(format!("\"{typed}\" is {day}"));
    }

    fn refuse_date(&mut self, why: String) {
        self.unusable_dates.push(why.clone());
        self.notes.push(why);
    }

    /// Returns whether a date can be planned for; one that has passed or is too far away is reported.
    fn is_plannable(&mut self, date: Date, today: Date, typed: &str) -> bool {
        if date < today {
            let day = format_date(date, today);
            self.refuse_date(format!(
                "\"{typed}\" is {day}, which has passed; no date was taken, name a later day"
            ));
            return false;
        }
        let weeks = today.until(date).map_or(i32::MAX, |span| span.get_days() / 7);
        if weeks > i32::from(super::MAX_WEEKS) {
            self.refuse_date(format!("\"{typed}\" is more than ten years away; no date was taken, plan a nearer part first"));
            return false;
        }
        true
    }
}

/// A remark that a date belongs to: "we fly on 6 February", "it expires on the 30th".
struct DateRemark {
    start: usize,
    /// Whether everything else is done before that day.
    ends_before: bool,
}

/// Verbs of what must be over or ready before somebody leaves or something ends.
const ENDING: [&str; 17] = [
    "fly", "flying", "leave", "leaving", "depart", "travel", "expires", "expire", "ends", "closes",
    "runs", "out", "off", "go", "away", "retires", "lapses",
];
/// Verbs that say nothing more than that something happens on a day.
const HAPPENING: [&str; 14] = [
    "is", "starts", "begins", "arrives", "comes", "opens", "takes", "place", "happens", "turns",
    "are", "was", "it's", "which",
];

/// Returns the remark whose last words stand right before a date, if it is a clause of its own.
fn remark_before(words: &GoalWords<'_>, index: usize) -> Option<DateRemark> {
    let start = words.clause_start(index.checked_sub(1)?);
    let inner = start..index;
    let opened = words.contains_word(
        start..start + 1,
        &["we", "i", "it", "they", "he", "she", "which", "that", "who", "it's"],
    );
    let verbs = |place: usize| {
        words.is_any_of(place, &ENDING)
            || words.is_any_of(place, &HAPPENING)
            || words.is_any_of(place, &["will", "be", "to", "have"])
    };
    let plain = inner.len() <= 4 && inner.clone().skip(1).all(verbs);
    (start > 0 && opened && inner.len() > 1 && plain).then(|| DateRemark {
        start,
        ends_before: inner.clone().any(|place| words.is_any_of(place, &ENDING)),
    })
}

/// Returns the dates that can be meant of the whole plan together. Of an end before the day one is about a part: the
/// date that comes first in the goal counts, unless an event stands before the day. A window before the end is about a
/// part as well: "the theory test next month, the license by summer".
fn settle_pair(
    words: &GoalWords<'_>,
    end: Option<StatedDate>,
    day: Option<StatedDate>,
) -> (Option<StatedDate>, Option<StatedDate>) {
    let (Some(by), Some(on)) = (&end, &day) else { return (end, day) };
    if by.to < on.from {
        let before = on.words.start.checked_sub(1);
        let event = before.is_some_and(|place| words.is_any_of(place, &EVENT_NOUNS));
        let day_counts = event || on.words.start < by.words.start;
        return if day_counts { (None, day) } else { (end, None) };
    }
    if on.to < by.to && on.from < on.to {
        return (end, None);
    }
    (end, day)
}

fn date_phrase_at(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<(DateTrigger, DateMatch)> {
    let (trigger, next) = match words.text_at(index) {
        "by" | "until" | "till" | "til" | "deadline" => (DateTrigger::By, index + 1),
        text if UNTIL.contains(&text) => {
            let next = words.skip_fillers(index + 1, &["zum", "el", "le", "il", "al", "o", "den"]);
            let found = dates::calendar_date(words, next, at)?;
            return Some((DateTrigger::By, found));
        }
        "due" => (DateTrigger::By, words.skip_fillers(index + 1, &["by", "on"])),
        // "our lease ends April 30", "the contract runs out in March".
        "ends" | "end" | "expires" | "expire" | "closes" | "close" if is_contract(words, index) => {
            (DateTrigger::By, words.skip_fillers(index + 1, &["on", "in", "at"]))
        }
        "before" | "befor" => (DateTrigger::Before, index + 1),
        "no" if words.phrase_starts_at(index, "no later than") => (DateTrigger::By, index + 3),
        "starting" | "joining" | "from" | "start" | "starts"
            if words.contains_word(0..index, &RECEIVING) =>
        {
            let next = words.skip_fillers(index + 1, &["on"]);
            return Some((DateTrigger::Day, dates::calendar_date(words, next, at)?));
        }
        "from" | "starting" | "beginning"
            if has_own_start(words, index) && dates::date_range(words, index + 1, at).is_none() =>
        {
            let next = words.skip_fillers(index + 1, &["on", "the"]);
            return Some((DateTrigger::Day, dates::calendar_date(words, next, at)?));
        }
        "from" | "starting"
            if words.contains_word(0..index, &FINDING)
                && dates::date_range(words, index + 1, at).is_none() =>
        {
            (DateTrigger::Before, words.skip_fillers(index + 1, &["on", "in"]))
        }
        _ => {
            let bare = dates::bare_date(words, index, at)?;
            let trigger = if bare.is_end { DateTrigger::By } else { DateTrigger::Day };
            return Some((trigger, bare.found));
        }
    };
    let next = words.skip_fillers(next, &["about", "around", "roughly", "is", "latest"]);
    let found = dates::parse_date_at(words, next, at).or_else(|| {
        let own = words.is_any_of(next, &["my", "our", "the", "his", "her", "their"]);
        let leads = trigger == DateTrigger::Before
            || (trigger == DateTrigger::By && own && words.is_any_of(index, &["by"]));
        leads.then(|| date_of_event(words, next, at))?
    })?;
    Some((trigger, found))
}

/// Returns whether what ends is a contract of the person or a time to apply, which everything has to be done before.
fn is_contract(words: &GoalWords<'_>, index: usize) -> bool {
    const CONTRACTS: [&str; 26] = [
        "lease",
        "contract",
        "notice",
        "visa",
        "permit",
        "passport",
        "license",
        "warranty",
        "insurance",
        "offer",
        "rent",
        "sublet",
        "membership",
        "subscription",
        "grant",
        "funding",
        "leave",
        "registration",
        "registrations",
        "comments",
        "application",
        "applications",
        "submissions",
        "entries",
        "enrollment",
        "nominations",
    ];
    let start = words.clause_start(index);
    words.contains_word(start..index, &CONTRACTS)
}

/// How many words may name what happens on a date: "before my parental leave on 2027-02-01".
const MAX_EVENT_WORDS: usize = 6;

/// Parses "parental leave on 2027-02-01" after "before".
fn date_of_event(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    for place in index + 1..=index + MAX_EVENT_WORDS {
        // A place between them has been read.
        let inside = words.get(place).is_some() && !words.clause_starts_at(place);
        if !inside {
            return None;
        }
        if words.is_any_of(place, &["on", "in", "starts", "begins"]) {
            let next = words.skip_fillers(place + 1, &["on", "in"]);
            // "before I go on holiday on December 18": the date stands after the second "on".
            if let Some(found) = dates::parse_date_at(words, next, at) {
                return Some(found);
            }
            // "before our trip in May": on the last day of April at the latest, as its day is not known.
            let span =
                date_spans::span_in(words, next, at).filter(|_| words.is_any_of(place, &["in"]));
            if let Some(DateMatch { reading: DateReading::Span { from, .. }, end, .. }) = span
                && from > at.today
            {
                return Some(DateMatch::from_day(from, end));
            }
        }
    }
    None
}
