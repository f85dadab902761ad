//! Wishes about hours and dates.

use planwright_model::Weekday;

use super::Ground;
use super::amounts::{date, first_day, interval, minutes, weekdays, weeks};
use super::change::{ContextChange, DayPart};
use super::phrase::{after, before, parted};

/// Reads a wish about hours or dates.
pub(super) fn read(ground: &Ground<'_>, text: &str) -> Option<Vec<ContextChange>> {
    let found = hours(ground, text)
        .or_else(|| start(ground, text))
        .or_else(|| end(ground, text))
        .or_else(|| free(ground, text))
        .or_else(|| days(text))
        .or_else(|| times(text));
    found.map(|change| vec![change])
}

/// What may stand before an amount of hours.
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
fn hours(ground: &Ground<'_>, text: &str) -> Option<ContextChange> {
    let text = after(text, &HAVING).unwrap_or(text);
    let text = after(text, &["only", "just", "about"]).unwrap_or(text);
    let capped = after(text, &AT_MOST);
    let text = capped.unwrap_or(text);
    let text = before(text, &["for it", "for this", "only", "at most"]).unwrap_or(text);
    if let Some(amount) = before(text, &["a week", "per week", "each week", "every week", "weekly"])
    {
        return minutes(amount).map(ContextChange::WeeklyMinutes);
    }
    let amount = before(text, &["a day", "per day", "each day", "every day", "daily"])?;
    let minutes = minutes(amount).filter(|minutes| *minutes <= 24 * 60)?;
    Some(match capped {
        Some(_) => ContextChange::DailyMinutes(minutes),
        None => ContextChange::WeeklyMinutes(minutes * ground.working_days.max(1)),
    })
}

fn start(ground: &Ground<'_>, text: &str) -> Option<ContextChange> {
    let rest =
        after(text, &["start date is", "start date", "start", "begin", "starting", "beginning"])?;
    let rest = after(rest, &["it", "the plan", "work"]).unwrap_or(rest);
    let rest = after(rest, &["on", "at", "in", "from", "only on", "not before"]).unwrap_or(rest);
    first_day(rest, ground.today).map(ContextChange::Start)
}

/// A deadline, or how long it may take.
fn end(ground: &Ground<'_>, text: &str) -> Option<ContextChange> {
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
    if let Some(rest) = after(text, &DEADLINE) {
        let rest = after(rest, &["on", "by", "to"]).unwrap_or(rest);
        return date(rest, ground.today).map(ContextChange::Deadline);
    }
    let ending = after(text, &ENDING);
    let rest = ending.unwrap_or(text);
    if let Some(day) = after(rest, &["by", "until", "no later than", "at the latest"]) {
        return date(day, ground.today).map(ContextChange::Deadline);
    }
    if let Some(day) = after(rest, &["on"]).filter(|_| ending.is_some()) {
        return date(day, ground.today).map(ContextChange::Deadline);
    }
    if ending.is_some() && after(rest, &["before"]).is_some() {
        return date(rest, ground.today).map(ContextChange::Deadline);
    }
    after(rest, &SPAN).and_then(weeks).map(ContextChange::HorizonWeeks)
}

/// Days without work: weekdays, single dates, spans of dates.
fn free(ground: &Ground<'_>, text: &str) -> Option<ContextChange> {
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
    let day = |text: &str| date(text, ground.today);
    if let Some(rest) = after(text, &AWAY) {
        let rest = after(rest, &["from", "between"]).unwrap_or(rest);
        let span = parted(rest, &["to", "until", "till", "and", "through"])
            .into_iter()
            .find_map(|(from, to)| Some((day(from)?, day(to)?)))
            .filter(|(from, to)| from <= to);
        if let Some((from, to)) = span {
            return Some(ContextChange::DaysOff { from, to });
        }
    }
    let rest = after(text, &NONE_ON)
        .or_else(|| before(text, &["off", "free", "is a holiday", "is free", "are free"]))?;
    let rest = before(rest, &["free", "off"]).unwrap_or(rest);
    let rest = after(rest, &["on"]).unwrap_or(rest);
    if let Some(days) = weekdays(rest) {
        return Some(ContextChange::NotOn(days));
    }
    // A weekday alone could be the next one or every one.
    let vague = rest.split_whitespace().count() == 1 && rest.chars().all(char::is_alphabetic);
    let from = day(rest).filter(|_| !vague)?;
    Some(ContextChange::DaysOff { from, to: from })
}

/// On which days of the week work happens.
fn days(text: &str) -> Option<ContextChange> {
    let also = after(text, &["also on", "work on", "also"])
        .filter(|_| after(text, &["also"]).is_some())
        .or_else(|| before(text, &["too", "as well", "are fine", "are fine too"]));
    if let Some(days) = also.and_then(|text| weekdays(after(text, &["on"]).unwrap_or(text))) {
        return Some(ContextChange::AlsoOn(days));
    }
    let only = after(text, &["only on", "work only on", "only", "just on"])
        .or_else(|| before(text, &["only"]).map(|text| after(text, &["on"]).unwrap_or(text)))?;
    weekdays(only).filter(|days: &Vec<Weekday>| !days.is_empty()).map(ContextChange::OnlyOn)
}

/// At which times of the day work happens.
fn times(text: &str) -> Option<ContextChange> {
    let only = after(text, &["only", "work only"]).or_else(|| before(text, &["only"]));
    if let Some(part) = only.and_then(day_part) {
        return Some(ContextChange::OnlyDuring(part));
    }
    if let Some(part) = after(text, &["not", "never", "no"]).and_then(day_part) {
        return Some(ContextChange::NotDuring(part));
    }
    let liked = after(text, &["preferably", "i prefer", "prefer", "rather", "work"])
        .or_else(|| before(text, &["if possible", "preferred"]))
        .or_else(|| after(text, &["in the"]).map(|_| text));
    if let Some(part) = liked.and_then(day_part) {
        return Some(ContextChange::Prefer(part));
    }
    let bare = only.unwrap_or(text);
    let bare = after(bare, &["work"]).unwrap_or(bare);
    let (between, word) = match (after(bare, &["between"]), after(bare, &["from"])) {
        (Some(rest), _) => (rest, ["and"]),
        (_, Some(rest)) => (rest, ["to"]),
        _ => return None,
    };
    let (from, to) = parted(between, &word).into_iter().next()?;
    interval(from, to).map(ContextChange::WorkBetween)
}

fn day_part(text: &str) -> Option<DayPart> {
    let text = after(text, &["in the", "in", "during the", "on"]).unwrap_or(text);
    Some(match text.trim().to_lowercase().as_str() {
        "morning" | "mornings" => DayPart::Morning,
        "afternoon" | "afternoons" => DayPart::Afternoon,
        "evening" | "evenings" => DayPart::Evening,
        _ => return None,
    })
}
