//! Change requests about hours and dates.

use jiff::ToSpan as _;
use jiff::civil::Date;

use planwright_model::Weekday;

use super::ClauseContext;
use super::amounts::{parse_date, parse_interval, parse_minutes, parse_weekdays, parse_weeks};
use super::budget;
use super::context_change::{ContextChange, DayPart};
use super::dates::{looks_like_date, no_such_day, parse_day_span, parse_days};
use super::days_off::parse_days_off;
use super::open_reason::{ClauseReading, OpenReason, first_reading};
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix};
use super::stated_hours as own_hours;
use crate::working_slots::read_slots;

/// Parses a change request about hours or dates.
pub(super) fn parse_limits(
    context: &ClauseContext<'_>,
    text: &str,
) -> ClauseReading<Vec<ContextChange>> {
    if let Some(hours) = own_hours::parse_stated_hours(text) {
        return Some(Ok(hours));
    }
    let found = first_reading([
        budget::parse_budget(text, context.today).map(Ok),
        parse_hours(context, text).map(Ok),
        parse_start(context, text),
        parse_end(context, text),
        parse_days_off(text, context.today),
        parse_working_days(text).map(Ok),
        parse_day_times(text).map(Ok),
        parse_slot_times(text).map(Ok),
    ]);
    found.map(|change| change.map(|change| vec![change]))
}

/// Parses a limit to days or times of the week.
pub(super) fn parse_times(text: &str, today: Date) -> Option<ContextChange> {
    parse_weekly_days_off(text, today)
        .or_else(|| parse_working_days(text))
        .or_else(|| parse_day_times(text))
        .or_else(|| parse_slot_times(text))
}

fn parse_weekly_days_off(text: &str, today: Date) -> Option<ContextChange> {
    let found = parse_days_off(text, today)?.ok()?;
    matches!(found, ContextChange::NotOn(_)).then_some(found)
}

/// Words that may precede an amount of hours.
const HAVING: [&str; 20] = [
    "i only have",
    "i can only give it",
    "i can only spend",
    "i can only work",
    "i have time for",
    "my limit is",
    "my budget is",
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
const AT_MOST: [&str; 10] = [
    "at most",
    "no more than",
    "not more than",
    "never more than",
    "don't plan more than",
    "limit it to",
    "max.",
    "maximum",
    "max",
    "up to",
];

/// "4 hours a week", "at most 2 hours a day", "an hour a day".
fn parse_hours(context: &ClauseContext<'_>, text: &str) -> Option<ContextChange> {
    let text = strip_phrase_prefix(text, &HAVING).unwrap_or(text);
    let text = strip_phrase_prefix(text, &["only", "just", "about"]).unwrap_or(text);
    let capped = strip_phrase_prefix(text, &AT_MOST);
    let text = capped.unwrap_or(text);
    let text = strip_phrase_suffix(text, &["for it", "for this", "on it", "only"]).unwrap_or(text);
    let tail = strip_phrase_suffix(text, &["at most", "max", "maximum"]);
    let (text, capped) = (tail.unwrap_or(text), capped.or(tail));
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

/// A day before which no work happens: "start next Wednesday", "nothing before January".
fn parse_start(context: &ClauseContext<'_>, text: &str) -> ClauseReading<ContextChange> {
    const AT: [&str; 9] =
        ["no earlier than", "only on", "only in", "not before", "only", "on", "at", "in", "from"];
    const STARTING: [&str; 12] = [
        "start date is",
        "the start date is",
        "start date",
        "i can start",
        "i can begin",
        "i want to start",
        "we start",
        "start",
        "begin",
        "starting",
        "beginning",
        "kick off",
    ];
    const REFUSING: [&str; 14] = [
        "i can't start before",
        "i cannot start before",
        "i can't begin before",
        "i can't start until",
        "i can only start",
        "don't start before",
        "do not start before",
        "don't start until",
        "nothing before",
        "nothing until",
        "no work before",
        "no work until",
        "not before",
        "not until",
    ];
    let rest =
        strip_phrase_prefix(text, &REFUSING).or_else(|| strip_phrase_prefix(text, &STARTING))?;
    let rest = strip_phrase_prefix(rest, &["it", "the plan", "work", "everything"]).unwrap_or(rest);
    let rest = strip_phrase_prefix(rest, &AT).unwrap_or(rest);
    let lower = rest.to_lowercase();
    let is_end = lower.split_whitespace().any(|word| word == "end" || word == "before");
    let Some((day, _)) = parse_day_span(rest, context.today).filter(|_| !is_end) else {
        return looks_like_date(rest).then(|| Err(no_such_day(rest)));
    };
    if day < context.today {
        return Some(Err(OpenReason::because(format!("{day} is in the past"))));
    }
    Some(Ok(ContextChange::Start(day)))
}

/// A deadline, or a duration.
fn parse_end(context: &ClauseContext<'_>, text: &str) -> ClauseReading<ContextChange> {
    const ENDING: [&str; 28] = [
        "i want to be done",
        "i want it done",
        "i want to finish it",
        "i want to finish",
        "i need to be done",
        "i need it done",
        "i need it",
        "finish everything",
        "finish the plan",
        "finish it",
        "finish",
        "be done",
        "be ready",
        "it must be done",
        "it should be done",
        "it has to be done",
        "it must be finished",
        "everything must be done",
        "must be done",
        "should be done",
        "have it done",
        "get it done",
        "done",
        "ready",
        "end",
        "complete it",
        "complete",
        "deliver",
    ];
    const DEADLINE: [&str; 8] = [
        "the deadline is",
        "deadline is",
        "set the deadline to",
        "move the deadline to",
        "make the deadline",
        "the deadline",
        "deadline",
        "the end date is",
    ];
    if let Some(shift) = parse_shift(context, text) {
        return Some(shift);
    }
    let text = strip_phrase_suffix(text, &["at the latest"]).unwrap_or(text);
    if let Some(rest) = strip_phrase_prefix(text, &DEADLINE) {
        let rest = strip_phrase_prefix(rest, &["on", "by", "to"]).unwrap_or(rest);
        return parse_deadline(context, rest);
    }
    let ending = strip_phrase_prefix(text, &ENDING);
    let rest = ending.unwrap_or(text);
    if let Some(day) = strip_phrase_prefix(rest, &["by", "until", "no later than", "at the latest"])
    {
        return parse_deadline(context, day);
    }
    if let Some(day) = strip_phrase_prefix(rest, &["on"]).filter(|_| ending.is_some()) {
        return parse_deadline(context, day);
    }
    if ending.is_some() && strip_phrase_prefix(rest, &["before"]).is_some() {
        return parse_deadline(context, rest);
    }
    parse_span(text, rest).map(Ok)
}

/// Parses the last day. A date that does not exist or is over is named.
fn parse_deadline(context: &ClauseContext<'_>, text: &str) -> ClauseReading<ContextChange> {
    match parse_date(text, context.today) {
        Some(day) => Some(future_deadline(context, day)),
        None => looks_like_date(text).then(|| Err(no_such_day(text))),
    }
}

fn future_deadline(context: &ClauseContext<'_>, day: Date) -> Result<ContextChange, OpenReason> {
    if day < context.today {
        return Err(OpenReason::because(format!("{day} is in the past")));
    }
    Ok(ContextChange::Deadline(day))
}

/// "make it 4 weeks", "in 8 weeks", "fit it into two months".
fn parse_span(text: &str, rest: &str) -> Option<ContextChange> {
    const SPAN: [&str; 27] = [
        "spread it over",
        "spread over",
        "spread it out over",
        "stretch it to",
        "stretch it over",
        "extend it to",
        "compress it to",
        "compress it into",
        "shorten it to",
        "cut it to",
        "fit it into",
        "do it in",
        "do it within",
        "the plan should take",
        "it should take",
        "it may take",
        "it can take",
        "it takes",
        "i have",
        "we have",
        "make it",
        "make the plan",
        "take",
        "in",
        "over",
        "within",
        "for",
    ];
    let text = strip_phrase_suffix(text, &["in total", "in all", "overall", "for it", "long"])
        .unwrap_or(text);
    let weeks = |rest: &str| strip_phrase_prefix(rest, &SPAN).and_then(parse_weeks);
    weeks(rest).or_else(|| weeks(text)).map(ContextChange::HorizonWeeks)
}

/// "finish two weeks earlier", "I need another week", "move the end by 3 days".
fn parse_shift(context: &ClauseContext<'_>, text: &str) -> ClauseReading<ContextChange> {
    const MOVING: [&str; 17] = [
        "finish it",
        "finish",
        "end it",
        "end",
        "be done",
        "i want to finish",
        "i want to be done",
        "move the deadline",
        "move the end",
        "shift the end",
        "the deadline is",
        "the end is",
        "make it",
        "complete it",
        "let it end",
        "it can end",
        "it may end",
    ];
    let rest = strip_phrase_prefix(text, &MOVING);
    let amount = rest.unwrap_or(text);
    let earlier =
        strip_phrase_suffix(amount, &["earlier", "sooner", "shorter", "faster", "forward"]);
    let later = strip_phrase_suffix(amount, &["later", "longer", "back"]);
    let (amount, sign) = match (earlier, later) {
        (Some(amount), _) => (amount, -1),
        (_, Some(amount)) => (amount, 1),
        _ => {
            const MORE: [&str; 8] = [
                "i need another",
                "give me another",
                "give it another",
                "allow another",
                "another",
                "i need",
                "give me",
                "extend it by",
            ];
            let rest = strip_phrase_prefix(text, &MORE)?;
            let more = strip_phrase_suffix(rest, &["more", "more time"]);
            let implied = strip_phrase_prefix(text, &MORE[..5]).is_some()
                || strip_phrase_prefix(text, &MORE[7..]).is_some();
            (more.or_else(|| implied.then_some(rest))?, 1)
        }
    };
    let amount = strip_phrase_prefix(amount, &["by", "about"]).unwrap_or(amount).to_lowercase();
    let one_week = format!("one {amount}");
    let days = parse_days(&amount).or_else(|| parse_days(&one_week))?;
    let Some(end) = context.current_end(sign) else {
        let text = "the plan has no end yet; say \"finish by …\"";
        return Some(Err(OpenReason::because(text)));
    };
    let day = end.checked_add((sign * days).days()).ok()?;
    Some(future_deadline(context, day))
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
    const CLOSING: [&str; 4] = ["only", "is all i have", "are all i have", "and nothing else"];
    const LIMITING: [&str; 15] = [
        "i can only work",
        "i can only do it",
        "i can only do this",
        "i can only do",
        "i only have time",
        "i only have",
        "i can work only",
        "my time is limited to",
        "limit it to",
        "i only work",
        "work only",
        "only work",
        "only",
        "just",
        "plan it for",
    ];
    let limited = strip_phrase_prefix(text, &LIMITING);
    let closed = strip_phrase_suffix(limited.unwrap_or(text), &CLOSING);
    let rest = closed.or(limited)?;
    let rest = strip_phrase_prefix(rest, &["work", "time"]).unwrap_or(rest);
    let rest =
        strip_phrase_prefix(rest, &["on it", "on this", "for it", "for this"]).unwrap_or(rest);
    let rest = strip_phrase_prefix(rest, &["on the", "on", "in the", "during the", "in", "the"])
        .unwrap_or(rest);
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
