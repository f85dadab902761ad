//! Change requests that say a fact of the goal otherwise: other numbers of people, another place, budget, length or day.
//!
//! The goal with the new words in it is read again, so that everything a blueprint makes of the fact follows.

use crate::fact_reading::read_goal_facts;
use crate::offline::Goal;
use crate::offline::goal::{GoalMoney, GoalPhrase, GoalPhraseKind};
use planwright_model::FactReading;
use planwright_text::units::format_count;

use super::ClauseContext;
use super::amounts::parse_number;
use super::budget::parse_budget;
use super::context_change::ContextChange;
use super::dates::parse_day_span;
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix};
use super::stems::stem_word;

/// The goal with one of its facts said in other words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalRestatement {
    /// The whole goal, with the new words.
    pub goal: String,
    /// The words that the goal had before, if it had any for it.
    pub before: Option<String>,
    /// The new words.
    pub words: String,
    /// What the goal says now and did not say before.
    pub readings: Vec<FactReading>,
}

impl GoalRestatement {
    /// What changes, in words.
    pub fn describe(&self) -> String {
        match &self.before {
            Some(before) => format!("{} instead of {before}", self.words),
            None => self.words.clone(),
        }
    }
}

/// Parses a request that says a fact of the goal otherwise.
pub(super) fn parse_restatement(
    context: &ClauseContext<'_>,
    text: &str,
) -> Option<GoalRestatement> {
    let pattern = context.limits.pattern.as_ref()?;
    if pattern.is_own_steps() || context.finder.has_marked_nodes() {
        return None;
    }
    let text = strip_contrast(text);
    restate_money(context, text)
        .or_else(|| restate_count(context, text))
        .or_else(|| restate_length(context, text))
        .or_else(|| restate_place(context, text))
        .or_else(|| restate_day(context, text))
        .filter(|restated| restated.goal != context.limits.goal_text)
        .map(|restated| context.with_readings(restated))
}

impl ClauseContext<'_> {
    /// Adds what the new words say that the goal did not say before.
    fn with_readings(&self, restated: GoalRestatement) -> GoalRestatement {
        let said: Vec<_> =
            read_goal_facts(self.goal()).into_iter().filter_map(|fact| fact.reading).collect();
        let again = read_goal_facts(&self.parse_goal(&restated.goal));
        let new = again.into_iter().filter_map(|fact| fact.reading);
        GoalRestatement {
            readings: new.filter(|reading| !said.contains(reading)).collect(),
            ..restated
        }
    }
}

/// Removes what the new words stand against: "15 people instead of 12", "in Porto, not Lisbon".
fn strip_contrast(text: &str) -> &str {
    let cuts = split_at_words(text, &["instead of", "rather than", "not", "and not"]);
    let kept = cuts.into_iter().next().map_or(text, |(kept, _)| kept);
    strip_phrase_suffix(kept, &["now", "in total", "in all", "altogether", "instead"])
        .unwrap_or(kept)
}

/// "raise the budget to 12k", "the budget is 300 euros".
fn restate_money(context: &ClauseContext<'_>, text: &str) -> Option<GoalRestatement> {
    let ContextChange::Budget { amount, currency } = parse_budget(text, context.today)? else {
        return None;
    };
    // The budget of a part is not the plan's: "budget 2000 euros for the venue".
    if !split_at_words(text, &["for"]).is_empty() {
        return None;
    }
    let goal = context.goal();
    let known = goal.quantities.money.as_ref().and_then(GoalMoney::currency_code);
    let currency = currency.or_else(|| known.map(str::to_owned));
    let currency = currency.map(|code| format!(" {code}")).unwrap_or_default();
    let words = format!("budget {}{currency}", format_count(amount));
    let Some(money) = &goal.quantities.money else {
        return Some(append_words(context, words));
    };
    if !money.is_budget {
        return None;
    }
    let with = |phrase: &GoalPhrase| {
        let lower = phrase.text.to_lowercase();
        let lead = ["with a ", "on a ", "a "].into_iter().find(|lead| lower.starts_with(lead));
        match lead {
            Some(lead) => format!("{lead}budget of {}{currency}", format_count(amount)),
            None => words.clone(),
        }
    };
    replace_phrase(context, |kind| kind == GoalPhraseKind::Money, with)
}

/// "make it 15 people", "we are 15 now", "there will be 90 guests".
fn restate_count(context: &ClauseContext<'_>, text: &str) -> Option<GoalRestatement> {
    let rest = strip_subject(context, text)?;
    let rest = strip_phrase_prefix(rest, &["for", "about", "with"]).unwrap_or(rest);
    let mut words = rest.split_whitespace();
    let (number, noun) = (words.next()?, words.collect::<Vec<_>>().join(" "));
    let amount = parse_number(&number.to_lowercase())?;
    let is_whole = amount.fract() == 0.0 && (1.0..=1e6).contains(&amount);
    let one_word = !noun.contains(' ') && noun.chars().all(char::is_alphabetic);
    let named = !noun.is_empty() || is_about_us(text);
    if !is_whole || !one_word || !named || is_time_unit(&noun) {
        return None;
    }
    let goal = context.goal();
    let stem = stem_word(&noun.to_lowercase());
    let same = |known: &str| {
        stem == stem_word(known)
            || (noun.is_empty() && known == "people")
            || are_people(known, &noun)
    };
    let at = goal.counts.iter().position(|count| same(&count.noun));
    if let Some(at) = at {
        let noun = if noun.is_empty() { goal.counts[at].noun.clone() } else { noun };
        return replace_phrase(
            context,
            |kind| kind == GoalPhraseKind::Count(at),
            |phrase| restate_number(&phrase.text, number, &noun),
        );
    }
    let assumed = context.limits.assumptions.iter().any(|known| same(&known.key));
    assumed.then(|| append_words(context, format!("for {number} {noun}").trim().to_owned()))
}

/// Puts another number into a phrase: "for 12 people", "a 40-person".
fn restate_number(phrase: &str, number: &str, noun: &str) -> String {
    let counted = |word: &str| {
        let head = word.split('-').next().unwrap_or(word);
        parse_number(&head.to_lowercase()).is_some()
    };
    let words: Vec<String> = phrase
        .split(' ')
        .map(|word| match word.split_once('-') {
            Some((_, tail)) if counted(word) => format!("{number}-{tail}"),
            _ if counted(word) => number.to_owned(),
            _ => word.to_owned(),
        })
        .collect();
    if words.join(" ") == phrase { format!("{number} {noun}") } else { words.join(" ") }
}

/// "the offsite takes 3 days", "make it a 3-day offsite", "stay for two weeks".
fn restate_length(context: &ClauseContext<'_>, text: &str) -> Option<GoalRestatement> {
    let rest = strip_subject(context, text)?;
    let rest =
        strip_phrase_prefix(rest, &["takes", "lasts", "is", "should take", "should last", "for"])
            .unwrap_or(rest);
    let rest = strip_phrase_suffix(rest, &["long"]).unwrap_or(rest);
    let rest = strip_phrase_prefix(rest, &["a", "an"]).unwrap_or(rest).replace('-', " ");
    let mut words = rest.split_whitespace();
    let (number, unit) = (words.next()?, words.next()?);
    let is_days = ["day", "days", "night", "nights"].contains(&unit.to_lowercase().as_str());
    let known = words.all(|word| context.is_event_noun(word));
    if !is_days || !known || parse_number(&number.to_lowercase()).is_none() {
        return None;
    }
    let goal = context.goal();
    let assumed = context.limits.assumptions.iter().any(|known| known.key == "days");
    let new = format!("for {number} {}s", unit.trim_end_matches('s'));
    if goal.event_days.is_some() {
        let is_length = |kind| matches!(kind, GoalPhraseKind::Stay | GoalPhraseKind::Count(_));
        let with = |phrase: &GoalPhrase| {
            if phrase.text.contains('-') {
                restate_number(&phrase.text, number, unit)
            } else {
                new.clone()
            }
        };
        return replace_phrase_with(context, is_length, |phrase| phrase.text.contains("day"), with);
    }
    assumed.then(|| append_words(context, new))
}

/// Languages, which stand where places do: "do it in English".
const LANGUAGES: [&str; 14] = [
    "English",
    "Spanish",
    "French",
    "German",
    "Italian",
    "Portuguese",
    "Dutch",
    "Polish",
    "Russian",
    "Japanese",
    "Chinese",
    "Arabic",
    "Turkish",
    "Greek",
];

/// "it should be in Porto", "move it to Porto".
fn restate_place(context: &ClauseContext<'_>, text: &str) -> Option<GoalRestatement> {
    let goal = context.goal();
    let before = goal.quantities.place.as_deref()?;
    let rest = strip_subject(context, text).filter(|_| !is_about_us(text))?;
    let place = strip_phrase_prefix(rest, &["in", "at", "to"])?;
    let is_name = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    let named = (1..=3).contains(&place.split(' ').count()) && place.split(' ').all(is_name);
    let is_person = context.limits.people.iter().any(|person| person.name == place);
    let is_other = is_person || LANGUAGES.contains(&place);
    if !named || is_other || parse_day_span(place, context.today).is_some() {
        return None;
    }
    let phrase = goal.phrases().iter().find(|phrase| phrase.kind == GoalPhraseKind::Place)?;
    let within = phrase.text.find(before)?;
    let at = phrase.span.start + within;
    let (head, tail) = (goal.text.get(..at)?, goal.text.get(at + before.len()..)?);
    let goal = format!("{head}{place}{tail}");
    let (before, words) = (Some(before.to_owned()), place.to_owned());
    Some(GoalRestatement { goal, before, words, readings: Vec::new() })
}

/// "the wedding is on 19 June", "move the offsite to the last week of March".
fn restate_day(context: &ClauseContext<'_>, text: &str) -> Option<GoalRestatement> {
    context.blueprint()?.day.as_ref()?;
    let rest = strip_subject(context, text).filter(|_| !is_about_us(text))?;
    let rest = strip_phrase_prefix(rest, &["happens", "takes place", "starts"]).unwrap_or(rest);
    let day = strip_phrase_prefix(rest, &["on", "in", "to", "for"]).unwrap_or(rest);
    let (from, to) = parse_day_span(day, context.today)?;
    if to < context.today {
        return None;
    }
    let words = if from == to { format!("on {from}") } else { format!("in {day}") };
    let goal = context.goal();
    if goal.day.is_some() {
        return replace_phrase(context, |kind| kind == GoalPhraseKind::Day, |_| words.clone());
    }
    Some(append_words(context, words))
}

/// Returns what is said about the thing that the goal is about. `None` unless it is what the words are about.
fn strip_subject<'t>(context: &ClauseContext<'_>, text: &'t str) -> Option<&'t str> {
    const OPENINGS: [&str; 25] = [
        "make it",
        "make that",
        "change it to",
        "change that to",
        "move it",
        "postpone it",
        "hold it",
        "have it",
        "do it",
        "plan it",
        "plan",
        "plan for",
        "it should be",
        "it must be",
        "it has to be",
        "it will be",
        "it takes",
        "it lasts",
        "it is",
        "it's",
        "there are",
        "there will be",
        "we are",
        "we're",
        "we will be",
    ];
    const BEING: [&str; 8] =
        ["should be", "must be", "has to be", "will be", "is", "takes", "lasts", "should take"];
    if let Some(rest) = strip_phrase_prefix(text, &OPENINGS) {
        return Some(rest);
    }
    let text =
        strip_phrase_prefix(text, &["move", "postpone", "hold", "have", "shift"]).unwrap_or(text);
    let named = strip_phrase_prefix(text, &["the event", "the date", "the day"]).or_else(|| {
        let text = strip_phrase_prefix(text, &["the", "our", "my"]).unwrap_or(text);
        let (noun, rest) = text.split_once(' ')?;
        context.is_event_noun(noun).then_some(rest)
    })?;
    Some(strip_phrase_prefix(named, &BEING).unwrap_or(named))
}

/// "We are 15" counts people; "we are in Porto" is not where the event is.
fn is_about_us(text: &str) -> bool {
    strip_phrase_prefix(text, &["we are", "we're", "we will be"]).is_some()
}

fn is_time_unit(noun: &str) -> bool {
    const UNITS: [&str; 12] = [
        "minute", "minutes", "min", "hour", "hours", "h", "day", "days", "week", "weeks", "month",
        "months",
    ];
    UNITS.contains(&noun.to_lowercase().as_str())
}

/// Words for people count each other: "15 guests" instead of "12 people".
fn are_people(known: &str, noun: &str) -> bool {
    const PEOPLE: [&str; 8] =
        ["person", "people", "guest", "participant", "attendee", "friend", "colleague", "visitor"];
    let is_one = |word: &str| {
        let word = word.to_lowercase();
        PEOPLE.contains(&word.trim_end_matches('s'))
    };
    is_one(known) && is_one(noun)
}

fn append_words(context: &ClauseContext<'_>, words: String) -> GoalRestatement {
    let goal = format!("{}, {words}", context.limits.goal_text.trim_end_matches(['.', ' ']));
    GoalRestatement { goal, before: None, words, readings: Vec::new() }
}

fn replace_phrase(
    context: &ClauseContext<'_>,
    is_kind: impl Fn(GoalPhraseKind) -> bool,
    with: impl Fn(&GoalPhrase) -> String,
) -> Option<GoalRestatement> {
    replace_phrase_with(context, is_kind, |_| true, with)
}

/// Replaces the phrase of a kind in the goal.
fn replace_phrase_with(
    context: &ClauseContext<'_>,
    is_kind: impl Fn(GoalPhraseKind) -> bool,
    is_meant: impl Fn(&GoalPhrase) -> bool,
    with: impl Fn(&GoalPhrase) -> String,
) -> Option<GoalRestatement> {
    let goal: &Goal = context.goal();
    let phrase = goal.phrases().iter().find(|phrase| is_kind(phrase.kind) && is_meant(phrase))?;
    let words = with(phrase);
    let (head, tail) = (goal.text.get(..phrase.span.start)?, goal.text.get(phrase.span.end..)?);
    let before = Some(phrase.text.clone());
    let goal = format!("{head}{words}{tail}");
    Some(GoalRestatement { goal, before, words, readings: Vec::new() })
}
