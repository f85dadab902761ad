//! Inserts the words of a goal into the texts of a blueprint.

use std::collections::BTreeMap;

use planwright_model::{AssumptionOrigin, PlanContext, PlanNode};
use planwright_text::{dates, units};

use super::blueprint::{Blueprint, TextPiece, TopicPack, split_placeholders};
use super::facts;
use super::goal::{CadencePeriod, Goal, GoalMoney, GoalPhrase, GoalPhraseKind};
use super::instance::PhaseTopic;

/// The values of a blueprint's placeholders. One that is missing is not known.
#[derive(Clone, Debug)]
pub(super) struct BlueprintWording {
    values: BTreeMap<String, String>,
    /// What the person answered to the questions of the file, in lower case.
    answers: Vec<String>,
    /// The names of the values that the goal or an answer states.
    stated: Vec<String>,
}

impl BlueprintWording {
    pub(super) fn new(
        goal: &Goal,
        context: &PlanContext,
        file: &Blueprint,
        pack: Option<&TopicPack>,
    ) -> Self {
        let mut wording = Self { values: BTreeMap::new(), answers: Vec::new(), stated: Vec::new() };
        let subject = goal.subject.name.clone();
        let it = match &file.noun {
            Some(noun) => noun.get_ref().clone(),
            None if goal.subject.definite.is_empty() => "it".to_owned(),
            None => goal.subject.definite.clone(),
        };
        wording.set("It", capitalize_first(&it));
        wording.set("it", it);
        let project = pack.map(|pack| pack.project.clone());
        wording.set("project", project.unwrap_or_else(|| "something of your own".to_owned()));
        wording.set("thing", produced_noun(goal));
        wording.set("period", period_noun(goal, file));
        wording.set("subject", subject);
        wording.set("goal", goal_sentence(goal));
        wording.set_stated("from", goal.from.clone());
        wording.set_stated("to", goal.to.clone());
        wording.set_stated("place", goal.quantities.place.clone());
        let inside = goal.quantities.place.as_ref().map(|place| format!("in {place}"));
        wording.set_stated("in place", inside);
        let plain = |money: &GoalMoney| GoalMoney { is_budget: false, ..money.clone() }.to_string();
        let budget = goal.quantities.money.as_ref().map(plain);
        wording.set_stated("budget", budget);
        wording.set_stated("monthly", monthly_amount(goal, context));
        wording.set_stated("target", goal.target.clone());
        wording.set_stated("people", goal.quantities.people.as_ref().map(|p| p.count.to_string()));
        wording.add_answers(context, file);
        wording
    }

    /// Adds counts, the day and the answers to the questions of the file.
    fn add_answers(&mut self, context: &PlanContext, file: &Blueprint) {
        for name in file.counts.keys() {
            let value = super::instance::count_value(context, file, name);
            self.set(name, units::format_count(value.into()));
        }
        for question in &file.questions {
            let key = question.key.get_ref();
            if let Some(known) = context.find_assumption(key) {
                self.answers.push(known.value.to_lowercase());
                if !file.counts.contains_key(key) {
                    self.set(key, known.value.clone());
                }
            }
        }
        for known in &context.assumptions {
            if known.origin != AssumptionOrigin::Template {
                self.stated.push(known.key.clone());
            }
        }
        let day = context.find_assumption(facts::DAY).and_then(|found| found.value.parse().ok());
        if let Some(day) = day {
            self.set("day", dates::format_date(day, context.constraints.start));
        }
    }

    fn set(&mut self, name: &str, value: String) {
        self.values.insert(name.to_owned(), value);
    }

    fn set_stated(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.stated.push(name.to_owned());
            self.set(name, value);
        }
    }

    /// Returns the same values with a topic and its number.
    pub(super) fn with_topic(&self, topic: &PhaseTopic, number: usize) -> Self {
        let mut worded = self.clone();
        worded.set("topic", topic.name.clone());
        worded.set("study", topic.study.clone());
        worded.set("studied_when", topic.studied_when.clone());
        worded.set("practice", topic.practice.clone());
        worded.set("practised_when", topic.practised_when.clone());
        worded.set("n", number.to_string());
        worded
    }

    /// Returns the same values with one batch of a count.
    pub(super) fn with_batch(&self, number: u32, from: u32, to: u32) -> Self {
        let mut worded = self.clone();
        worded.set("n", number.to_string());
        worded.set("from", units::format_count(from.into()));
        worded.set("to", units::format_count(to.into()));
        worded.set("batch", units::format_count(u64::from(to + 1 - from)));
        worded
    }

    /// Returns whether the goal states something: a value by its name, or a word in quotes; 'pool|beach' is either.
    pub(super) fn is_stated(&self, condition: &str, goal: &Goal) -> bool {
        let quoted = condition.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        match quoted {
            Some(words) => words.split('|').any(|word| {
                goal.contains_any(&[word]) || self.answers.iter().any(|said| said.contains(word))
            }),
            None => self.stated.iter().any(|name| name == condition),
        }
    }

    /// Fills a text. Values are never searched for placeholders, so that braces in a goal stay as they are.
    pub(super) fn fill_text(&self, template: &str) -> String {
        let mut out = String::with_capacity(template.len());
        for piece in split_placeholders(template) {
            match piece {
                TextPiece::Plain(text) => out.push_str(text),
                TextPiece::Value { name, fallback } => {
                    let fixed = name.strip_prefix("count:");
                    let known = self.values.get(name).map(String::as_str).or(fixed);
                    match known.or(fallback) {
                        Some(words) => out.push_str(words),
                        // A place that is not stated leaves no gap.
                        None => out.truncate(out.trim_end_matches(' ').len()),
                    }
                }
            }
        }
        tidy_spaces(&out)
    }

    /// Returns whether a value is known.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns the goal in its own words, without its times.
    pub(super) fn goal_words(&self) -> String {
        self.values.get("goal").cloned().unwrap_or_default()
    }

    /// Fills the values that are wanted, and leaves the other placeholders as they are.
    pub(super) fn fill_some(&self, template: &str, wanted: impl Fn(&str) -> bool) -> String {
        let mut out = String::with_capacity(template.len());
        for piece in split_placeholders(template) {
            match piece {
                TextPiece::Plain(text) => out.push_str(text),
                TextPiece::Value { name, fallback } if wanted(name) => {
                    match self.values.get(name).map(String::as_str).or(fallback) {
                        Some(words) => out.push_str(words),
                        None => out.truncate(out.trim_end_matches(' ').len()),
                    }
                }
                TextPiece::Value { name, fallback: Some(words) } => {
                    out.extend(["{", name, "|", words, "}"]);
                }
                TextPiece::Value { name, fallback: None } => out.extend(["{", name, "}"]),
            }
        }
        tidy_spaces(&out)
    }

    /// Fills a title, within the maximum length of titles.
    pub(super) fn fill_title(&self, template: &str) -> String {
        fit_title(&capitalize_first(&self.fill_text(template)))
    }
}

/// Returns a title that is cut if it is too long, and never empty.
pub(super) fn fit_title(text: &str) -> String {
    match text.char_indices().nth(PlanNode::MAX_TITLE_CHARS) {
        Some(_) => text.chars().take(PlanNode::MAX_TITLE_CHARS - 1).chain(['…']).collect(),
        None if text.is_empty() => "Do it".to_owned(),
        None => text.to_owned(),
    }
}

/// The characters of a title that a goal may fill.
const GOAL_TITLE_CHARS: usize = 60;

/// Returns the goal in its own words, without its dates, hours and rhythms, as a title: "Email the landlord".
fn goal_sentence(goal: &Goal) -> String {
    let is_time = |phrase: &&GoalPhrase| {
        !matches!(
            phrase.kind,
            GoalPhraseKind::Count(_)
                | GoalPhraseKind::Place
                | GoalPhraseKind::Direction
                | GoalPhraseKind::Given
                | GoalPhraseKind::Target
        )
    };
    let mut rest = goal.text.clone();
    // From the end on, so that the places of the others stay.
    let mut spans: Vec<_> =
        goal.phrases().iter().filter(is_time).map(|phrase| phrase.span.clone()).collect();
    spans.sort_by_key(|span| std::cmp::Reverse(span.start));
    for span in spans {
        if rest.is_char_boundary(span.start) && rest.is_char_boundary(span.end) {
            rest.replace_range(span, "");
        }
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let ends =
        |word: &&str| !["by", "on", "at", "in", "for", "until", "before", "and"].contains(word);
    let last = words.iter().rposition(ends).map_or(0, |last| last + 1);
    let sentence = tidy_spaces(&words[..last].join(" "));
    let sentence = sentence.trim_matches([',', '.', ';', ' ']);
    capitalize_first(&cut_at_word(sentence, GOAL_TITLE_CHARS))
}

/// Returns the beginning of a text, cut between words.
pub(super) fn cut_at_word(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let start = &text[..end];
    let whole = start.rsplit_once(' ').map_or(start, |(whole, _)| whole);
    format!("{}…", whole.trim_end_matches([',', ' ']))
}

/// Returns the amount a month that adds up to the stated sum by the last day, rounded up to tens.
fn monthly_amount(goal: &Goal, context: &PlanContext) -> Option<String> {
    let money = goal.quantities.money.as_ref()?;
    // "300 euros a month" is the amount itself.
    if money.every == Some(CadencePeriod::Month) {
        return Some(GoalMoney { every: None, is_budget: false, ..money.clone() }.to_string());
    }
    let last = context.constraints.deadline.map(planwright_model::OffsetDateTime::local_date)?;
    let days = super::instance::days_between(context.constraints.start, last);
    let months = (f64::from(days) / DAYS_PER_MONTH).floor().max(1.0);
    let amount = ((money.amount as f64 / months / 10.0).ceil() * 10.0) as u64;
    Some(GoalMoney { amount, is_budget: false, ..money.clone() }.to_string())
}

const DAYS_PER_MONTH: f64 = 30.44;

/// Joins what a missing value left apart: two spaces, or a space before a comma.
fn tidy_spaces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, ',' | '.' | ';') {
            out.truncate(out.trim_end_matches(' ').len());
        }
        if letter != ' ' || !out.ends_with(' ') {
            out.push(letter);
        }
    }
    out.trim().to_owned()
}

pub(super) fn capitalize_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

fn period_noun(goal: &Goal, file: &Blueprint) -> String {
    let period = facts::goal_cadence(goal, file);
    match period.interval {
        1 => period.every.name().to_owned(),
        count => format!("{count} {}s", period.every.name()),
    }
}

/// Returns the noun for one product: "issue" of a newsletter, or the thing that the goal counts.
fn produced_noun(goal: &Goal) -> String {
    if let Some(found) = goal.per_period.as_ref().filter(|found| found.made) {
        return if found.count == 1 {
            found.noun.clone()
        } else {
            format!("{} {}", found.count, found.noun)
        };
    }
    let pairs = [
        ("newsletter", "issue"),
        ("podcast", "episode"),
        ("blog", "post"),
        ("series", "part"),
        ("video", "video"),
    ];
    let named = pairs.iter().find(|(word, _)| goal.contains_any(&[*word])).map(|(_, thing)| *thing);
    named.unwrap_or("part").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::GoalParseContext;

    #[test]
    fn the_goal_is_a_title_without_its_times() {
        let today = GoalParseContext::new(jiff::civil::date(2026, 11, 17), 5);
        let title = |text: &str| goal_sentence(&Goal::parse(text, today));
        assert_eq!(title("do the laundry today"), "Do the laundry");
        assert_eq!(
            title("email the landlord about the broken heater by tomorrow"),
            "Email the landlord about the broken heater"
        );
        let long = "call everybody who ever lent me a book and ask whether they want it back";
        assert_eq!(title(long), "Call everybody who ever lent me a book and ask whether they…");
    }
}
