//! The quantities of a goal: people, things, pages and rounds.

use planwright_model::{PatternType, PlanContext};

use super::super::blueprint::Blueprint;
use super::super::goal::Goal;
use super::hours::LEAST_WEEKLY;
use super::rhythm::goal_cadence;
use super::{add_assumption, set_stated};

/// Takes counts from the goal, and assumes the others.
pub(super) fn fill_counts(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
    let asked = |name: &str| file.questions.iter().find(|question| question.key.get_ref() == name);
    let listed = file.questions.iter().map(|question| question.key.get_ref().as_str());
    let others = file.counts.keys().map(String::as_str).filter(|name| asked(name).is_none());
    let names: Vec<&str> =
        listed.filter(|name| file.counts.contains_key(*name)).chain(others).collect();
    for name in names {
        let Some(count) = file.counts.get(name) else { continue };
        if let Some(amount) = stated_count(goal, name, &count.words) {
            set_stated(context, name, &amount.to_string());
            continue;
        }
        if let Some(amount) = travelers(goal, file, &count.words) {
            set_stated(context, name, &amount.to_string());
            continue;
        }
        let assumed = asked(name)
            .and_then(|question| question.default.trim().parse().ok())
            .unwrap_or(count.default);
        let question = asked(name).map(|question| question.text.clone());
        add_assumption(context, name, &assumed.to_string(), question);
    }
}

/// Returns how many people travel if the goal names the others: "with Ben and Ana" are three, "with three friends" four.
fn travelers(goal: &Goal, file: &Blueprint, words: &[String]) -> Option<u32> {
    let people = words.iter().any(|word| word == "person" || word == "people");
    if file.family != "trip" || !people || goal.companions.is_empty() {
        return None;
    }
    let others: Option<u32> = goal.companions.iter().map(|name| count_people(name)).sum();
    Some(others? + 1)
}

/// Returns how many people a name stands for; nothing for a family or for friends without a number.
fn count_people(name: &str) -> Option<u32> {
    let words: Vec<String> = name.to_lowercase().split(' ').map(str::to_owned).collect();
    let number = words.iter().find_map(|word| {
        let digits = word.parse::<u32>().ok();
        digits.or_else(|| crate::number_names::parse_number_word(word).map(|number| number as u32))
    });
    let last = words.last().map_or("", String::as_str);
    match (number, last) {
        (Some(number), _) => Some(number),
        (None, "parents" | "in-laws" | "grandparents" | "twins") => Some(2),
        (None, "family" | "children") => None,
        (None, last) if last.ends_with('s') => None,
        _ => Some(1),
    }
}

/// Returns the number that the goal states for one of the nouns.
fn stated_count(goal: &Goal, name: &str, words: &[String]) -> Option<u32> {
    let singular = name.strip_suffix('s').unwrap_or(name);
    // "a 20 minute talk": its length is how many minutes it has.
    if singular == "minute"
        && let Some(minutes) = goal.occurrence_minutes
    {
        return Some(minutes);
    }
    if let Some(days) = goal.event_days.map(u32::from) {
        match singular {
            "day" => return Some(days),
            // The last day has no night.
            "night" => return Some(days.saturating_sub(1).max(1)),
            _ => {}
        }
    }
    // "two adults and three kids" are five travelers.
    if let Some(people) = goal.quantities.people.as_ref().filter(|_| counts_people(words)) {
        return Some(people.count);
    }
    let found = goal.counts.iter().find(|count| is_counted_as(&count.noun, name, words));
    let named = || (singular == "room").then(|| named_rooms(goal)).flatten();
    found.map(|count| count.amount).or_else(|| converted_count(goal, singular)).or_else(named)
}

/// The rooms of a home by their names.
const ROOMS: [&str; 16] = [
    "bedroom",
    "kitchen",
    "bathroom",
    "hallway",
    "hall",
    "corridor",
    "basement",
    "attic",
    "garage",
    "nursery",
    "study",
    "office",
    "living",
    "dining",
    "staircase",
    "landing",
];

/// Returns how many rooms a goal names, if there are several: "the living room and the hallway" are two.
fn named_rooms(goal: &Goal) -> Option<u32> {
    let words = goal.folded_words();
    let named = words.iter().enumerate().filter(|(place, word)| {
        let open = !matches!(word.as_str(), "living" | "dining")
            || words.get(place + 1).is_some_and(|next| next == "room");
        open && ROOMS.contains(&word.as_str())
    });
    u32::try_from(named.count()).ok().filter(|count| *count > 1)
}

/// Returns whether a kind counts people with one of its counts, whoever they are.
fn counts_people(words: &[String]) -> bool {
    const PEOPLE: [&str; 6] = ["person", "people", "guest", "participant", "traveler", "attendee"];
    words.iter().any(|word| PEOPLE.contains(&word.as_str()))
}

/// The words on a page.
const WORDS_PER_PAGE: u32 = 300;

/// Returns a count that the goal states in another measure: ten pages are about 3,000 words.
fn converted_count(goal: &Goal, singular: &str) -> Option<u32> {
    let stated = |noun: &str| goal.counts.iter().find(|count| count.noun == noun);
    match singular {
        "word" => Some(stated("page")?.amount.saturating_mul(WORDS_PER_PAGE)),
        "page" => Some(stated("word")?.amount.div_ceil(WORDS_PER_PAGE)),
        _ => None,
    }
}

/// Returns whether a noun of the goal is what a kind counts under a name.
fn is_counted_as(noun: &str, name: &str, words: &[String]) -> bool {
    noun == name
        || name.strip_suffix('s') == Some(noun)
        || words.iter().any(|word| {
            noun == word
                || noun.ends_with(&format!(" {word}"))
                // A microservice is a service.
                || (word.len() > 4 && noun.ends_with(word.as_str()))
                || word.ends_with(&format!(" {noun}"))
        })
}

/// Returns whether a kind counts what a noun of the goal names.
pub(crate) fn counts_noun(file: &Blueprint, noun: &str) -> bool {
    let converts = |name: &str| {
        matches!((name, noun), ("word" | "words", "page") | ("page" | "pages", "word"))
    };
    file.counts
        .iter()
        .any(|(name, count)| is_counted_as(noun, name, &count.words) || converts(name))
}

/// Returns how many rounds of what is made again and again the goal asks for: "8 episodes", "a series of 12 posts".
pub(in super::super) fn stated_rounds(goal: &Goal, file: &Blueprint) -> Option<u32> {
    if file.pattern != PatternType::HybridProjectCycle {
        return None;
    }
    let made =
        |noun: &str| super::super::goal::is_produced(noun.rsplit(' ').next().unwrap_or(noun));
    let count = goal.counts.iter().find(|count| made(&count.noun) && count.amount > 1)?;
    // "two posts a week" is a rhythm, and read as such.
    goal.per_period.as_ref().is_none_or(|period| !period.made).then_some(count.amount.min(200))
}

/// Returns the weeks that the stated rounds take.
pub(super) fn weeks_of_rounds(goal: &Goal, file: &Blueprint) -> Option<u16> {
    let rounds = stated_rounds(goal, file)?;
    let cadence = goal_cadence(goal, file);
    let weeks = cadence.every.in_weeks() * f64::from(cadence.interval) * f64::from(rounds);
    let setup = file.tasks.iter().filter(|task| task.role == planwright_model::Role::Setup);
    let minutes: u32 =
        setup.filter_map(|task| task.effort.as_ref()).map(|own| own.get_ref().likely()).sum();
    let before = f64::from(minutes) / f64::from(LEAST_WEEKLY);
    Some((weeks + before).ceil().clamp(1.0, 520.0) as u16 + 1)
}
