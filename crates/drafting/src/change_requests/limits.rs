//! Change requests about hours and dates.

use jiff::civil::Date;

use planwright_model::Weekday;

use super::ClauseContext;
use super::amounts::{
    parse_date, parse_first_day, parse_interval, parse_minutes, parse_weekdays, parse_weeks,
};
use super::context_change::{ContextChange, DayPart};
use crate::working_slots::read_slots;

use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix};

/// Parses a change request about hours or dates.
pub(super) fn parse_limits(context: &ClauseContext<'_>, text: &str) -> Option<Vec<ContextChange>> {
    let found = parse_hours(context, text)
        .or_else(|| parse_start(context, text))
        .or_else(|| parse_end(context, text))
        .or_else(|| parse_days_off(context, text))
        .or_else(|| parse_working_days(text))
        .or_else(|| parse_day_times(text))
        .or_else(|| parse_slot_times(text));
    found.map(|change| vec![change])
}

/// Parses a limit to days or times of the week.
pub(super) fn parse_times(text: &str, today: Date) -> Option<ContextChange> {
    parse_weekly_days_off(text, today)
        .or_else(|| parse_working_days(text))
        .or_else(|| parse_day_times(text))
        .or_else(|| parse_slot_times(text))
}

fn parse_weekly_days_off(text: &str, today: Date) -> Option<ContextChange> {
    let found = parse_days_off_on(text, today)?;
    matches!(found, ContextChange::NotOn(_)).then_some(found)
}

/// Words that may precede an amount of hours.
const HAVING: [&str; 14] = [
    "i only have",
    "i have",
    "i've got",
    "we have",
    "i can give it",
    "i can spend",
    "i can work",
    "there are",
    "plan with",
    "plan for",
    "spend",
    "work",
    "use",
    "with",
];
const AT_MOST: [&str; 7] =
    ["at most", "no more than", "not more than", "max", "maximum", "up to", "never more than"];

/// "4 hours a week", "at most 2 hours a day", "an hour a day".
fn parse_hours(context: &ClauseContext<'_>, text: &str) -> Option<ContextChange> {
    let text = strip_phrase_prefix(text, &HAVING).unwrap_or(text);
    let text = strip_phrase_prefix(text, &["only", "just", "about"]).unwrap_or(text);
    let capped = strip_phrase_prefix(text, &AT_MOST);
    let text = capped.unwrap_or(text);
    let text =
        strip_phrase_suffix(text, &["for it", "for this", "only", "at most"]).unwrap_or(text);
    if let Some(amount) =
        strip_phrase_suffix(text, &["a week", "per week", "each week", "every week", "weekly"])
    {
        return parse_minutes(amount).map(ContextChange::WeeklyMinutes);
    }
    let amount =
        strip_phrase_suffix(text, &["a day", "per day", "each day", "every day", "daily"])?;
    let minutes = parse_minutes(amount).filter(|minutes| *minutes <= 24 * 60)?;
    Some(match capped {
        Some(_) => ContextChange::DailyMinutes(minutes),
        None => ContextChange::WeeklyMinutes(minutes * context.working_days.max(1)),
    })
}

fn parse_start(context: &ClauseContext<'_>, text: &str) -> Option<ContextChange> {
    let rest = strip_phrase_prefix(
        text,
        &["start date is", "start date", "start", "begin", "starting", "beginning"],
    )?;
    let rest = strip_phrase_prefix(rest, &["it", "the plan", "work"]).unwrap_or(rest);
    let rest = strip_phrase_prefix(rest, &["on", "at", "in", "from", "only on", "not before"])
        .unwrap_or(rest);
    parse_first_day(rest, context.today).map(ContextChange::Start)
}

/// A deadline, or a duration.
fn parse_end(context: &ClauseContext<'_>, text: &str) -> Option<ContextChange> {
    const ENDING: [&str; 16] = [
        "finish it",
        "finish",
        "be done",
        "be ready",
        "it must be done",
        "it should be done",
        "it has to be done",
        "must be done",
        "should be done",
        "done",
        "ready",
        "end",
        "complete it",
        "complete",
        "have it done",
        "deliver",
    ];
    const DEADLINE: [&str; 5] =
        ["the deadline is", "deadline is", "set the deadline to", "the deadline", "deadline"];
    const SPAN: [&str; 10] = [
        "spread it over",
        "spread over",
        "stretch it to",
        "make it",
        "take",
        "in",
        "over",
        "within",
        "for",
        "it may take",
    ];
    if let Some(rest) = strip_phrase_prefix(text, &DEADLINE) {
        let rest = strip_phrase_prefix(rest, &["on", "by", "to"]).unwrap_or(rest);
        return parse_date(rest, context.today).map(ContextChange::Deadline);
    }
    let ending = strip_phrase_prefix(text, &ENDING);
    let rest = ending.unwrap_or(text);
    if let Some(day) = strip_phrase_prefix(rest, &["by", "until", "no later than", "at the latest"])
    {
        return parse_date(day, context.today).map(ContextChange::Deadline);
    }
    if let Some(day) = strip_phrase_prefix(rest, &["on"]).filter(|_| ending.is_some()) {
        return parse_date(day, context.today).map(ContextChange::Deadline);
    }
    if ending.is_some() && strip_phrase_prefix(rest, &["before"]).is_some() {
        return parse_date(rest, context.today).map(ContextChange::Deadline);
    }
    strip_phrase_prefix(rest, &SPAN).and_then(parse_weeks).map(ContextChange::HorizonWeeks)
}

/// Days without work: weekdays, single dates, spans of dates.
fn parse_days_off(context: &ClauseContext<'_>, text: &str) -> Option<ContextChange> {
    parse_days_off_on(text, context.today)
}

fn parse_days_off_on(text: &str, today: Date) -> Option<ContextChange> {
    const NONE_ON: [&str; 16] = [
        "no work on",
        "nothing on",
        "not on",
        "never on",
        "i can't work on",
        "i cannot work on",
        "i can't on",
        "i am away on",
        "i'm away on",
        "away on",
        "day off on",
        "holiday on",
        "off on",
        "keep",
        "no",
        "not",
    ];
    const AWAY: [&str; 10] = [
        "no work",
        "nothing",
        "i am away",
        "i'm away",
        "away",
        "holiday",
        "holidays",
        "vacation",
        "on vacation",
        "off",
    ];
    let day = |text: &str| parse_date(text, today);
    if let Some(rest) = strip_phrase_prefix(text, &AWAY) {
        let rest = strip_phrase_prefix(rest, &["from", "between"]).unwrap_or(rest);
        let span = split_at_words(rest, &["to", "until", "till", "and", "through"])
            .into_iter()
            .find_map(|(from, to)| Some((day(from)?, day(to)?)))
            .filter(|(from, to)| from <= to);
        if let Some((from, to)) = span {
            return Some(ContextChange::DaysOff { from, to });
        }
    }
    let rest = strip_phrase_prefix(text, &NONE_ON).or_else(|| {
        strip_phrase_suffix(text, &["off", "free", "is a holiday", "is free", "are free"])
    })?;
    let rest = strip_phrase_suffix(rest, &["free", "off"]).unwrap_or(rest);
    let rest = strip_phrase_prefix(rest, &["on"]).unwrap_or(rest);
    if let Some(days) = parse_weekdays(rest) {
        return Some(ContextChange::NotOn(days));
    }
    // A weekday alone could mean the next one or every one.
    let vague = rest.split_whitespace().count() == 1 && rest.chars().all(char::is_alphabetic);
    let from = day(rest).filter(|_| !vague)?;
    Some(ContextChange::DaysOff { from, to: from })
}

/// Parses the days of the week on which work happens.
fn parse_working_days(text: &str) -> Option<ContextChange> {
    let also = strip_phrase_prefix(text, &["also on", "work on", "also"])
        .filter(|_| strip_phrase_prefix(text, &["also"]).is_some())
        .or_else(|| strip_phrase_suffix(text, &["too", "as well", "are fine", "are fine too"]));
    if let Some(days) =
        also.and_then(|text| parse_weekdays(strip_phrase_prefix(text, &["on"]).unwrap_or(text)))
    {
        return Some(ContextChange::AlsoOn(days));
    }
    let only = strip_phrase_prefix(text, &["only on", "work only on", "only", "just on"]).or_else(
        || {
            strip_phrase_suffix(text, &["only"])
                .map(|text| strip_phrase_prefix(text, &["on"]).unwrap_or(text))
        },
    )?;
    parse_weekdays(only).filter(|days: &Vec<Weekday>| !days.is_empty()).map(ContextChange::OnlyOn)
}

/// Parses the times of day at which work happens.
fn parse_day_times(text: &str) -> Option<ContextChange> {
    let only = strip_phrase_prefix(text, &["only", "work only"])
        .or_else(|| strip_phrase_suffix(text, &["only"]));
    if let Some(part) = only.and_then(parse_day_part) {
        return Some(ContextChange::OnlyDuring(part));
    }
    if let Some(part) = strip_phrase_prefix(text, &["not", "never", "no"]).and_then(parse_day_part)
    {
        return Some(ContextChange::NotDuring(part));
    }
    let liked = strip_phrase_prefix(text, &["preferably", "i prefer", "prefer", "rather", "work"])
        .or_else(|| strip_phrase_suffix(text, &["if possible", "preferred"]))
        .or_else(|| strip_phrase_prefix(text, &["in the"]).map(|_| text));
    if let Some(part) = liked.and_then(parse_day_part) {
        return Some(ContextChange::Prefer(part));
    }
    let bare = only.unwrap_or(text);
    let bare = strip_phrase_prefix(bare, &["work"]).unwrap_or(bare);
    let (between, word) =
        match (strip_phrase_prefix(bare, &["between"]), strip_phrase_prefix(bare, &["from"])) {
            (Some(rest), _) => (rest, ["and"]),
            (_, Some(rest)) => (rest, ["to"]),
            _ => return None,
        };
    let (from, to) = split_at_words(between, &word).into_iter().next()?;
    parse_interval(from, to).map(ContextChange::WorkBetween)
}

/// Times of the week that the work is limited to: "only evenings and Saturdays", "I can only work on weekends".
fn parse_slot_times(text: &str) -> Option<ContextChange> {
    const LIMITING: [&str; 9] = [
        "i can only work",
        "i can only do it",
        "i only have time",
        "i only work",
        "work only",
        "only work",
        "only",
        "just",
        "plan it for",
    ];
    let limited = strip_phrase_prefix(text, &LIMITING);
    let closed = strip_phrase_suffix(limited.unwrap_or(text), &["only"]);
    let rest = closed.or(limited)?;
    let rest = strip_phrase_prefix(rest, &["on", "in the", "during the", "in"]).unwrap_or(rest);
    let lower = rest.to_lowercase();
    let words: Vec<&str> = lower.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let found = read_slots(&words)?;
    (found.words == words.len()).then_some(ContextChange::OnlyAt(found.slots))
}

fn parse_day_part(text: &str) -> Option<DayPart> {
    let text = strip_phrase_prefix(text, &["in the", "in", "during the", "on"]).unwrap_or(text);
    Some(match text.trim().to_lowercase().as_str() {
        "morning" | "mornings" => DayPart::Morning,
        "afternoon" | "afternoons" => DayPart::Afternoon,
        "evening" | "evenings" => DayPart::Evening,
        _ => return None,
    })
}
