//! Change requests about days without work: weekdays, single dates, spans, vacations.

use jiff::civil::Date;

use super::amounts::parse_weekdays;
use super::context_change::ContextChange;
use super::dates::{
    is_lone_weekday, looks_like_date, no_such_day, parse_date_range, parse_day_span,
};
use super::open_reason::{ClauseReading, OpenReason};
use super::phrase::{strip_phrase_prefix, strip_phrase_suffix};

/// Words that say that somebody is not there, longest first.
const AWAY: [&str; 43] = [
    "i will be on vacation",
    "i'll be on vacation",
    "i am on vacation",
    "i'm on vacation",
    "we are on vacation",
    "i will be on holiday",
    "i'll be on holiday",
    "i am on holiday",
    "i'm on holiday",
    "we are on holiday",
    "i go on vacation",
    "i will be away",
    "i'll be away",
    "we are away",
    "i am away",
    "i'm away",
    "i am off",
    "i'm off",
    "i am out",
    "i'm out",
    "i am gone",
    "i'm gone",
    "i am not available",
    "i'm not available",
    "i am unavailable",
    "i am busy",
    "i'm busy",
    "i am traveling",
    "i'm traveling",
    "i am not there",
    "i can't work",
    "i cannot work",
    "i don't work",
    "i do not work",
    "on vacation",
    "vacation",
    "holidays",
    "holiday",
    "no work",
    "days off",
    "out of office",
    "away",
    "off",
];
/// Words that keep days free of work.
const NONE_ON: [&str; 16] = [
    "do not plan anything",
    "don't plan anything",
    "don't schedule anything",
    "plan nothing",
    "nothing",
    "never",
    "not",
    "keep",
    "skip",
    "take",
    "i take",
    "i have",
    "leave",
    "leave out",
    "without",
    "no",
];
const ENDS: [&str; 17] = [
    "is a holiday",
    "are a holiday",
    "is a day off",
    "are days off",
    "is my vacation",
    "are vacation",
    "is off",
    "are off",
    "is free",
    "are free",
    "free",
    "off",
    "don't work for me",
    "doesn't work for me",
    "are not possible",
    "is not possible",
    "are taken",
];

/// Parses days without work.
pub(super) fn parse_days_off(text: &str, today: Date) -> ClauseReading<ContextChange> {
    let away = strip_phrase_prefix(text, &AWAY);
    let refused = strip_phrase_prefix(text, &NONE_ON);
    let ended = strip_phrase_suffix(text, &ENDS);
    // "keep Fridays", "take January 3" and "skip next week" need more than a verb to be about days without work.
    let weak = ["keep", "take", "i take", "i have", "leave"];
    let is_weak = strip_phrase_prefix(text, &weak).is_some() && ended.is_none();
    let rest = away.or(refused.filter(|_| !is_weak)).or(ended)?;
    let rest = strip_phrase_suffix(rest, &ENDS).unwrap_or(rest);
    let rest =
        strip_phrase_prefix(rest, &["i take", "take", "i have", "keep", "leave"]).unwrap_or(rest);
    let rest = rest.trim_start_matches([':', ',', ' ']);
    let rest = strip_phrase_prefix(rest, &["on any", "on", "for", "during", "at"]).unwrap_or(rest);
    if let Some(days) = parse_weekdays(rest) {
        return Some(Ok(ContextChange::NotOn(days)));
    }
    if is_lone_weekday(rest) {
        let text = format!("say \"next {rest}\" or \"{rest}s\": one of them, or all");
        return Some(Err(OpenReason::because(text)));
    }
    let span = parse_date_range(rest, today).or_else(|| parse_day_span(rest, today));
    let Some((from, to)) = span else {
        return looks_like_date(rest).then(|| Err(no_such_day(rest)));
    };
    if to < today {
        return Some(Err(OpenReason::because("these days are over")));
    }
    Some(Ok(ContextChange::DaysOff { from: from.max(today), to }))
}
