//! Points of a blueprint for the words of a goal, for what was read from it, and for example goals that are alike.

use std::ops::Range;

use planwright_model::PatternType;

use super::super::blueprint::{Blueprint, TemplateLibrary};
use super::super::goal::Goal;
use super::example_model::ExampleRanking;
use super::goal_terms::{ASIDE_FACTOR, GoalTerm, goal_terms};
use super::main_verb::MainVerb;

/// The points from which on match words are certain; more do not outweigh the examples.
const FULL_POINTS: f64 = 10.0;
/// The points that examples add to the kind that they fit best.
const EXAMPLE_POINTS: f64 = 8.5;
/// The points at which a score ends.
const CERTAIN_POINTS: f64 = 14.0;
/// The factor of the person's own blueprints: who wrote one for a word wants it used.
const OWN_FACTOR: f64 = 2.0;
/// What remains of the points of a kind that does something else than the goal's verb.
const OTHER_VERB_FACTOR: f64 = 0.5;

/// What remains of the points of a kind if the goal has none of the words that it needs.
const MISSING_NEED_FACTOR: f64 = 0.3;

/// What points above certainty count: several sure words still tell two kinds apart.
const SURPLUS: f64 = 0.1;

/// What remains of the points of a kind that a word of the goal rules out, and of what examples add: they know the word too.
const RULED_OUT_FACTOR: f64 = 0.1;
const RULED_OUT_SUPPORT: f64 = 0.7;

/// What remains of a score if the kind knows none of the goal's telling words.
const UNKNOWN_FACTOR: f64 = 0.7;

/// A blueprint with its points.
#[derive(Clone, Debug)]
pub(super) struct ScoredKind<'a> {
    pub(super) file: &'a Blueprint,
    /// For match words and for what was read. Not limited, so that two certain kinds can still be compared.
    pub(super) points: f64,
    /// For examples that are alike.
    pub(super) support: f64,
    pub(super) reasons: Vec<String>,
    /// The share of the goal's telling words that are words of the kind.
    pub(super) coverage: f64,
    /// Whether one of its words stands in what the goal itself does, not in what it says beside.
    pub(super) is_central: bool,
    /// Whether a whole phrase of the goal names the kind, whatever its verb is: "paycheck to paycheck".
    is_named: bool,
    /// Whether the person wrote it.
    is_own: bool,
}

impl<'a> ScoredKind<'a> {
    /// A kind that no match word leads to.
    fn without_words(file: &'a Blueprint) -> Self {
        Self {
            file,
            points: 0.0,
            support: 0.0,
            reasons: Vec::new(),
            coverage: 0.0,
            is_central: true,
            is_named: false,
            is_own: false,
        }
    }

    /// The points for words and examples together. Below certainty, words that the kind does not know speak against it:
    /// "polish the silver" is not about a language.
    pub(super) fn total(&self) -> f64 {
        let known = UNKNOWN_FACTOR + (1.0 - UNKNOWN_FACTOR) * self.coverage;
        let words = match self.points {
            // Whoever wrote a kind has no examples for it.
            points if self.is_own => points,
            points if points < FULL_POINTS => points * known,
            points => FULL_POINTS + (points - FULL_POINTS) * SURPLUS,
        };
        words + self.support
    }

    /// From 0 to 1, rounded to three places.
    pub(super) fn score(&self) -> f64 {
        let share = (self.total() / CERTAIN_POINTS).clamp(0.0, 1.0);
        (share * 1000.0).round() / 1000.0
    }
}

/// Words that may stand between the parts of a phrase.
const FILLERS: [&str; 13] =
    ["a", "an", "the", "my", "our", "your", "their", "his", "her", "this", "new", "some", "own"];

/// Days that speak for a small kind beside a word of its own.
const NEAR_DAYS: [&str; 3] = ["today", "tonight", "tomorrow"];

/// Scores every blueprint that at least one word of the goal or an example leads to.
pub(super) fn score_kinds<'a>(
    goal: &Goal,
    library: &'a TemplateLibrary,
    examples: &ExampleRanking,
) -> Vec<ScoredKind<'a>> {
    let verb = MainVerb::find(goal);
    let terms = goal_terms(goal, verb.place);
    let own = library.own_blueprints().len();
    library
        .all_blueprints()
        .enumerate()
        .filter_map(|(place, file)| {
            let support =
                if place < own { 0.0 } else { examples.support(&file.name) * EXAMPLE_POINTS };
            let by_words = score_words(&terms, file);
            if by_words.is_none() && support <= 0.0 {
                return None;
            }
            let mut found = by_words.unwrap_or_else(|| ScoredKind::without_words(file));
            found.support = support;
            if support > EXAMPLE_POINTS / 2.0 {
                found.is_central = true;
                found.reasons.push("examples of it are alike".to_owned());
            }
            add_reading(goal, &mut found);
            if is_ruled_out(&terms, file) {
                found.points *= RULED_OUT_FACTOR;
                found.support *= RULED_OUT_SUPPORT;
            }
            if !file.needs.is_empty() && !has_any(&terms, &file.needs) {
                found.points *= MISSING_NEED_FACTOR;
                found.reasons.push("the goal does not say that it is wanted".to_owned());
            }
            if !found.is_named && verb.contradicts(file) {
                found.points *= OTHER_VERB_FACTOR;
                found.reasons.push("the goal does something else with it".to_owned());
            }
            if place < own {
                found.points *= OWN_FACTOR;
                found.is_own = true;
            }
            Some(found)
        })
        .collect()
}

/// Returns whether the goal has a word that rules a kind out, besides those that say when: "weekends only" is no
/// weekend.
fn is_ruled_out(terms: &[GoalTerm], file: &Blueprint) -> bool {
    let meant = |place: Range<usize>| !terms[place].iter().all(|term| term.is_time);
    file.not.iter().any(|phrase| find_phrase(terms, phrase).is_some_and(meant))
}

/// Returns where a phrase occurs. Articles of the goal may stand between the words of the phrase.
fn find_phrase(terms: &[GoalTerm], phrase: &str) -> Option<Range<usize>> {
    (0..terms.len()).find_map(|start| {
        let mut at = start;
        let found = phrase.split(' ').enumerate().all(|(place, part)| {
            let filler =
                |at: usize| terms.get(at).is_some_and(|term| FILLERS.contains(&term.text.as_str()));
            while place > 0 && filler(at) && terms.get(at).is_some_and(|term| term.text != part) {
                at += 1;
            }
            let fits = terms.get(at).is_some_and(|term| is_form_of(&term.text, part));
            at += 1;
            fits
        });
        found.then_some(start..at)
    })
}

fn has_any(terms: &[GoalTerm], phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| find_phrase(terms, phrase).is_some())
}

/// Adds up the weights of all words and phrases of a kind that occur in the goal.
fn score_words<'a>(terms: &[GoalTerm], file: &'a Blueprint) -> Option<ScoredKind<'a>> {
    let (mut points, mut soon, mut reasons) = (0.0, 0.0, Vec::new());
    let mut known = vec![false; terms.len()];
    let (mut is_named, mut is_central) = (false, false);
    for (phrase, weight) in file.match_words.get_ref() {
        if let Some(place) = find_phrase(terms, phrase) {
            let factor = terms[place.start].factor;
            is_named |= *weight >= 8 && factor >= 1.0 && phrase.split(' ').count() > 2;
            is_central |= factor > ASIDE_FACTOR;
            let weight = f64::from(*weight) * factor;
            if NEAR_DAYS.contains(&phrase.as_str()) {
                soon += weight;
            } else {
                points += weight;
            }
            known[place].iter_mut().for_each(|known| *known = true);
            reasons.push(format!("\"{phrase}\" is a word of it"));
        }
    }
    let telling = terms.iter().zip(&known).filter(|(term, known)| term.telling || **known);
    let (all, hit) =
        telling.fold((0, 0), |(all, hit), (_, known)| (all + 1, hit + i32::from(*known)));
    let coverage = if all == 0 { 1.0 } else { f64::from(hit) / f64::from(all) };
    // A day alone leads to no kind.
    points += if points > 0.0 { soon } else { 0.0 };
    (points > 0.0).then_some(ScoredKind {
        points,
        reasons,
        coverage,
        is_central,
        is_named,
        ..ScoredKind::without_words(file)
    })
}

/// Words of goals that go on and on, and still lead somewhere.
const LEARNING: [&str; 14] = [
    "learn", "improve", "practice", "practise", "study", "train", "training", "course", "lesson",
    "lessons", "better", "master", "prepare", "lose",
];

/// Adds what was read from the goal: a rhythm, a direction, counts, hours, a day.
fn add_reading(goal: &Goal, found: &mut ScoredKind<'_>) {
    let (file, by_words) = (found.file, found.points);
    let mut add = |points: f64, reason: &str| {
        found.points = (found.points + points).max(0.0);
        found.reasons.push(reason.to_owned());
    };
    let made = goal.per_period.as_ref().is_some_and(|period| period.made);
    let rhythm = goal.cadence.is_some() || goal.per_period.is_some();
    match file.pattern {
        PatternType::RecurringCycle if rhythm && !made => add(3.0, "it has a rhythm"),
        PatternType::HybridProjectCycle if made => add(4.0, "something is made every time"),
        PatternType::HybridProjectCycle if rhythm => add(1.0, "it has a rhythm"),
        // Nobody gives a party four times a week.
        PatternType::MilestoneProject if rhythm && is_single_event(goal, file) => {
            add(-5.0, "it repeats, and this kind happens once");
        }
        PatternType::MilestoneProject if rhythm => add(-3.0, "it repeats, and this kind does not"),
        PatternType::ProgressiveAccumulationArc if rhythm && !goal.contains_any(&LEARNING) => {
            add(-by_words / 2.0, "it repeats, and nobody learns something");
            found.support /= 2.0;
        }
        _ => {}
    }
    if goal.from.is_some() && goal.to.is_some() {
        match file.subtype.get_ref().as_str() {
            _ if file.from_to => add(3.0, "it goes from one thing to another"),
            "migration" => add(2.0, "it goes from one thing to another"),
            _ => {}
        }
    }
    let counted = file
        .counts
        .values()
        .any(|count| goal.counts.iter().any(|found| count.words.contains(&found.noun)));
    if counted {
        add(1.5, "it counts the same things");
    }
    if goal.weekly_minutes.is_some() && file.weekly.is_some() {
        add(1.0, "it has hours a week");
    }
    let lasts = file.counts.contains_key("days") || file.counts.contains_key("nights");
    if goal.event_days.is_some_and(|days| days > 1) && lasts {
        add(2.0, "it takes several days");
    }
    if goal.day.is_some() && file.day.is_some() {
        add(1.0, "it has a day");
    }
}

/// Returns whether a kind is one event, and the goal names no day for it.
fn is_single_event(goal: &Goal, file: &Blueprint) -> bool {
    file.subtype.get_ref() == "event" && file.day.is_some() && goal.last_day().is_none()
}

/// Returns whether a word is one of the words that lead to a kind.
pub fn is_match_word(word: &str, file: &Blueprint) -> bool {
    let words = file.match_words.get_ref();
    words.keys().flat_map(|phrase| phrase.split(' ')).any(|part| is_form_of(word, part))
}

/// Returns whether a word is a form of another: the same, its plural, with -s, -ed or -ing, or its British spelling.
pub(in super::super) fn is_form_of(word: &str, base: &str) -> bool {
    if word == base {
        return true;
    }
    // What differs from the start on is no form: nearly all pairs end here.
    if word.as_bytes().first() != base.as_bytes().first() || base.len() < 3 {
        return base.len() == 2 && word.strip_suffix('s') == Some(base);
    }
    let spelled = american(word);
    let word = spelled.as_deref().unwrap_or(word);
    if word == base {
        return true;
    }
    let stem = base.strip_suffix('e').unwrap_or(base);
    if let Some(tail) = word.strip_prefix(base)
        && matches!(tail, "s" | "es" | "ing" | "ed" | "'s" | "’s")
    {
        return true;
    }
    if stem != base
        && let Some(tail) = word.strip_prefix(stem)
    {
        return matches!(tail, "es" | "ing" | "ed");
    }
    // "party" and "parties"; "plan" and "planning".
    if let Some(stem) = base.strip_suffix('y')
        && word.strip_prefix(stem).is_some_and(|tail| matches!(tail, "ies" | "ied"))
    {
        return true;
    }
    let last = base.chars().next_back();
    word.strip_prefix(base).is_some_and(|tail| {
        let doubled = tail.chars().next() == last;
        doubled && matches!(tail.get(1..), Some("ing" | "ed"))
    })
}

/// Returns the American spelling of a word in -ise, -our or -yse.
fn american(word: &str) -> Option<String> {
    const PAIRS: [(&str, &str); 8] = [
        ("organis", "organiz"),
        ("optimis", "optimiz"),
        ("modernis", "moderniz"),
        ("analys", "analyz"),
        ("practis", "practic"),
        ("licence", "license"),
        ("programme", "program"),
        ("colour", "color"),
    ];
    let (british, american) = PAIRS.iter().find(|(british, _)| word.contains(british))?;
    // "analysis" is spelled alike on both sides.
    (word != "analysis" && word != "analyst").then(|| word.replacen(british, american, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_match_and_other_words_do_not() {
        for (word, base) in [
            ("weddings", "wedding"),
            ("running", "run"),
            ("parties", "party"),
            ("migrating", "migrate"),
            ("organising", "organize"),
            ("planned", "plan"),
            ("boxes", "box"),
            ("vms", "vm"),
            ("organised", "organize"),
        ] {
            assert!(is_form_of(word, base), "{word} {base}");
        }
        for (word, base) in
            [("runner", "run"), ("planet", "plan"), ("partial", "party"), ("carpet", "car")]
        {
            assert!(!is_form_of(word, base), "{word} {base}");
        }
    }
}
