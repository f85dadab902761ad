//! What is assumed without an answer, in the words of its question: `12 guests`, `the party is at home`.

use jiff::civil::Date;

use super::{describe_assumption, describe_setting};
use crate::{Assumption, PlanQuestion};
use planwright_text::clean_line;
use planwright_text::dates::format_date;
use planwright_text::units::format_count;

/// Questions of the planner itself, whose values have words of their own.
const OWN_QUESTIONS: [&str; 8] = [
    "weekly_minutes",
    "horizon_weeks",
    "occurrence_minutes",
    "daily_minutes",
    "cadence",
    "at_local",
    "day",
    "kind",
];

/// Keys that a question of a blueprint can't have, because the planner keeps values of its own under them.
pub const RESERVED_QUESTION_KEYS: [&str; 12] = [
    "weekly_minutes",
    "horizon_weeks",
    "occurrence_minutes",
    "daily_minutes",
    "max_daily_minutes",
    "cadence",
    "at_local",
    "day",
    "kind",
    "start",
    "tz",
    "working",
];

impl PlanQuestion {
    /// What is assumed without an answer, short enough to stand in a sentence: `6 h a week`, `12 guests`, `at home`.
    pub fn assumed_words(&self) -> String {
        match self.assumed_day() {
            Some(day) => day.strftime("%a %-d %b %Y").to_string(),
            None => self.assumed_value_words(),
        }
    }

    /// The same for whoever reads it today: a day of this year has no year.
    pub fn assumed_words_on(&self, today: Date) -> String {
        match self.assumed_day() {
            Some(day) => format_date(day, today),
            None => self.assumed_value_words(),
        }
    }

    /// What the answer changes, and what stands in for it, for whoever reads it today.
    pub fn describe_reason(&self, today: Date) -> String {
        let gap = if self.changes.is_empty() { "" } else { " " };
        match self.assumed.as_str() {
            "" => self.changes.clone(),
            _ => {
                format!("{}{gap}Without an answer: {}.", self.changes, self.assumed_words_on(today))
            }
        }
    }

    fn assumed_day(&self) -> Option<Date> {
        self.assumed.parse::<Date>().ok().filter(|_| self.key == "day")
    }

    fn assumed_value_words(&self) -> String {
        if self.key == super::KIND_QUESTION {
            return clean_line(self.assumed.trim()).into_owned();
        }
        if OWN_QUESTIONS.contains(&self.key.as_str()) {
            return describe_setting(&self.key, &self.assumed);
        }
        count_words(&self.key, &self.text, &self.assumed)
            .unwrap_or_else(|| clean_line(self.assumed.trim()).into_owned())
    }
}

impl Assumption {
    /// What is assumed, as somebody would say it to whoever reads it today. An answer is told as a statement.
    pub fn describe(&self, today: Date) -> String {
        self.answer_words().unwrap_or_else(|| describe_assumption(&self.key, &self.value, today))
    }

    /// The same for a text that is kept and read on another day.
    pub fn describe_kept(&self) -> String {
        self.answer_words().unwrap_or_else(|| describe_setting(&self.key, &self.value))
    }

    /// The value in the words of its question, if it stands in for an answer.
    fn answer_words(&self) -> Option<String> {
        let question =
            self.question.as_deref().filter(|_| !OWN_QUESTIONS.contains(&self.key.as_str()))?;
        let counted = count_words(&self.key, question, &self.value);
        let answer = clean_line(self.value.trim());
        counted.or_else(|| Some(state_answer(&clean_line(question), &answer)))
    }
}

/// Writes a phrase as it stands inside a sentence; a name keeps its capital.
fn lower_phrase(answer: &str) -> String {
    const PHRASES: [&str; 12] =
        ["Every", "At", "In", "On", "Once", "Twice", "By", "About", "From", "With", "Yes", "No"];
    match answer.split_whitespace().next() {
        Some(first) if PHRASES.contains(&first) => {
            let mut letters = answer.chars();
            let first = letters.next().map(|first| first.to_lowercase().to_string());
            format!("{}{}", first.unwrap_or_default(), letters.as_str())
        }
        _ => answer.to_owned(),
    }
}

/// Turns a question and its answer into a statement: `it will appear every two weeks` for "How often will it appear?".
/// A question without such a form becomes the label of its answer.
fn state_answer(question: &str, answer: &str) -> String {
    let asked = question.trim_end_matches(['?', '.', ' ']);
    let answer = &lower_phrase(answer);
    let words: Vec<&str> = asked.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let rest = |from: usize| words[from..].join(" ");
    match lower.as_slice() {
        [
            "how",
            "often",
            verb @ ("will" | "should" | "can"),
            who @ ("it" | "you" | "they"),
            _,
            ..,
        ] => {
            format!("{who} {verb} {} {answer}", rest(4))
        }
        [
            "where" | "when",
            verb @ ("will" | "should" | "can"),
            who @ ("it" | "you" | "they"),
            _,
            ..,
        ] => {
            format!("{who} {verb} {} {answer}", rest(3))
        }
        ["where" | "when", "do", who @ ("you" | "they"), _, ..] => {
            format!("{who} {} {answer}", rest(3))
        }
        ["where" | "when", verb @ ("is" | "are"), _, ..] => {
            format!("{} {verb} {answer}", rest(2))
        }
        _ => {
            let mut letters = asked.chars();
            let first = letters.next().map(|first| first.to_lowercase().to_string());
            format!("{}{}: {answer}", first.unwrap_or_default(), letters.as_str())
        }
    }
}

/// Words that end the noun of "How many lessons will it have?".
const AFTER_THE_NOUN: [&str; 34] = [
    "are", "is", "do", "does", "did", "will", "would", "should", "could", "can", "may", "must",
    "have", "has", "take", "takes", "come", "comes", "move", "moves", "travel", "eat", "change",
    "work", "need", "matter", "build", "hurt", "at", "in", "on", "on-call", "without", "already",
];

/// Returns a number with its noun: the one that the question counts, or else the one that the key names.
fn count_words(key: &str, question: &str, value: &str) -> Option<String> {
    let amount: u64 = value.trim().parse().ok()?;
    let noun = counted_noun(question).unwrap_or_else(|| key.replace('_', " "));
    let noun = if amount == 1 { singular_noun(&noun) } else { noun };
    Some(format!("{} {}", format_count(amount), clean_line(&noun)))
}

/// Returns the noun of a question that begins with "How many" or has it behind one or two words.
fn counted_noun(question: &str) -> Option<String> {
    let lower = question.to_lowercase();
    let start = lower.find("how many ")? + "how many ".len();
    let words = question.get(start..)?.split_whitespace();
    let ends = |word: &&str| !AFTER_THE_NOUN.contains(&word.to_lowercase().as_str());
    let mut noun: Vec<&str> = Vec::new();
    for word in words.take_while(ends) {
        noun.push(word.trim_end_matches(['?', ',', '.']));
        if word.ends_with(['?', ',', '.']) {
            break;
        }
    }
    (!noun.is_empty()).then(|| noun.join(" "))
}

/// Returns a plural noun in the singular: "lessons or modules" becomes "lesson or module", "kinds of pages" "kind of
/// pages".
fn singular_noun(noun: &str) -> String {
    let (head, rest) = match noun.split_once(" of ") {
        Some((head, rest)) => (head, format!(" of {rest}")),
        None => (noun, String::new()),
    };
    let singular = |word: &str| match word {
        "people" => "person".to_owned(),
        "children" => "child".to_owned(),
        _ => match word.strip_suffix("ies") {
            Some(stem) => format!("{stem}y"),
            None if word.ends_with("ss") => word.to_owned(),
            None => word.strip_suffix('s').unwrap_or(word).to_owned(),
        },
    };
    let words: Vec<String> = head.split(' ').map(singular).collect();
    words.join(" ") + &rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AssumptionOrigin;

    #[test]
    fn an_assumed_answer_reads_as_a_person_would_say_it() {
        let said = [
            ("guests", "How many guests do you expect?", "12"),
            ("rooms", "How many rooms, without kitchen and bath?", "1"),
            ("schools", "To how many schools do you want to apply?", "5"),
            ("kinds", "How many kinds of vegetables do you want to grow?", "1"),
            ("pages", "How long should it be?", "1500"),
            ("where", "Where is the party?", "at home"),
            ("rhythm", "How often will it appear?", "Every two weeks"),
            ("level", "Which target applies?", "WCAG AA"),
            ("weekly_minutes", "How many hours a week can you give it?", "600"),
            ("day", "On which day is the wedding?", "2027-06-12"),
        ]
        .map(|(key, question, value)| {
            let assumption = Assumption {
                key: key.to_owned(),
                value: value.to_owned(),
                origin: AssumptionOrigin::Template,
                question: Some(question.to_owned()),
            };
            assumption.describe(jiff::civil::date(2026, 11, 17))
        });
        let expected = [
            "12 guests",
            "1 room",
            "5 schools",
            "1 kind of vegetables",
            "1,500 pages",
            "the party is at home",
            "it will appear every two weeks",
            "which target applies: WCAG AA",
            "10 h a week",
            "the day is Sat 12 Jun 2027",
        ];
        assert_eq!(said, expected);
    }
}
