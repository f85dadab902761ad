//! The words of a goal as kinds are matched against them: what the goal does counts more than what it says beside.
//!
//! "Move to Halle, we have a cat and a piano" is a move and no piano lesson; "renew my passport before we fly to
//! Canada" is paperwork and no trip.

use super::super::goal::Goal;
use super::substance;
use crate::calendar_names::WEEKDAYS;

/// The factor of words that only say what the thing is about or good for, or how things are.
pub(super) const ASIDE_FACTOR: f64 = 0.5;
/// The factor of what stands behind the object of the goal: "learn Italian for a trip", "a fire drill at school".
const BEHIND_FACTOR: f64 = 0.6;

/// A word of the goal as kinds are matched against it.
pub(super) struct GoalTerm {
    pub(super) text: String,
    /// 1, or less for what stands aside of the goal itself.
    pub(super) factor: f64,
    /// Whether it says something about the kind of plan.
    pub(super) telling: bool,
    /// Whether it only says when.
    pub(super) is_time: bool,
}

/// Words after which the goal says what it is about, or what for.
const ASIDE: [&str; 9] =
    ["about", "because", "so", "without", "while", "regarding", "although", "unless", "instead"];

/// Words after which a goal that has its object says when or why: "before our old one fails inspection".
const ASIDE_BEHIND: [&str; 7] = ["before", "until", "since", "when", "once", "who", "if"];

/// Words that lead to what stands behind the object.
const BEHIND: [&str; 7] = ["for", "at", "of", "during", "after", "from", "near"];

/// Splits a goal into terms; `verb` is the place of the verb that decides.
pub(super) fn goal_terms(goal: &Goal, verb: usize) -> Vec<GoalTerm> {
    let mut factor: f64 = 1.0;
    let mut has_object = false;
    let mut terms: Vec<GoalTerm> = Vec::new();
    let listed = goal.cadence.as_ref().is_some_and(|cadence| !cadence.on.is_empty());
    for (place, word) in goal.folded_words().iter().enumerate() {
        if place == 0 && opens_with_remark(goal) {
            factor = ASIDE_FACTOR;
        } else if goal.is_clause_start(place) && place > 0 && !has_object {
            factor = 1.0;
        } else if has_object && goal.is_clause_start(place) {
            factor = if is_remark(goal, place) || is_wish(goal, place) {
                ASIDE_FACTOR
            } else {
                factor.max(BEHIND_FACTOR)
            };
        }
        let before =
            place.checked_sub(1).and_then(|at| terms.get(at)).map(|term| term.text.as_str());
        let acted = before.is_some_and(is_action_noun);
        if leads_behind(goal, place) && has_object && !(word == "of" && acted) {
            factor = factor.min(BEHIND_FACTOR);
        } else if word == "and" && factor > ASIDE_FACTOR {
            factor = 1.0;
        }
        let telling = factor >= 1.0 && substance::is_telling(goal, word);
        has_object |= telling && place > verb;
        // "Wed" in a list of days is no wedding.
        let text = if listed && word.len() == 3 { weekday_word(word) } else { word };
        let is_time = goal.is_time_word(place);
        terms.push(GoalTerm { text: text.to_owned(), factor, telling, is_time });
        let aside =
            ASIDE.contains(&word.as_str()) || (has_object && ASIDE_BEHIND.contains(&word.as_str()));
        if aside {
            factor = ASIDE_FACTOR;
        }
    }
    // "go to Japan" is a trip, though it does not say so.
    if goal.is_journey() && terms.iter().all(|term| term.text != "trip") {
        let text = "trip".to_owned();
        terms.push(GoalTerm { text, factor: 1.0, telling: false, is_time: false });
    }
    terms
}

/// Returns whether a word leads to what stands behind the object: "for a trip", "on my trip".
fn leads_behind(goal: &Goal, place: usize) -> bool {
    let words = goal.folded_words();
    let own = words.get(place + 1).is_some_and(|next| next == "my" || next == "our");
    BEHIND.contains(&words[place].as_str()) || (words[place] == "on" && own)
}

/// Words that open a remark about how things are: "we have a cat", "it's late already".
const REMARK_OPENERS: [&str; 26] = [
    "i",
    "we",
    "he",
    "she",
    "they",
    "it",
    "it's",
    "i'm",
    "i've",
    "we're",
    "we've",
    "he's",
    "she's",
    "they're",
    "there",
    "there's",
    "currently",
    "now",
    "right",
    "but",
    "since",
    "because",
    "i’m",
    "we’re",
    "it’s",
    "so",
];
/// Words of a remark that begins with a noun: "my sister lives abroad", "doctor said 150/95", "the lease ends".
const REMARK_VERBS: [&str; 20] = [
    "is", "are", "was", "were", "has", "had", "said", "says", "lives", "ends", "starts", "wants",
    "works", "retires", "fails", "expires", "left", "died", "lost", "uses",
];
/// Words that turn a remark into what is to be done: "the roof leaks, we need to fix it".
const AIMS: [&str; 8] = ["want", "wants", "need", "needs", "must", "should", "help", "please"];

/// Returns whether the clause that starts at a place says how things are, and not what is to be done.
fn is_remark(goal: &Goal, place: usize) -> bool {
    let words = goal.folded_words();
    let end = (place + 1..words.len()).find(|at| goal.is_clause_start(*at)).unwrap_or(words.len());
    let clause = &words[place..end];
    let contains = |any: &[&str]| clause.iter().any(|word| any.contains(&word.as_str()));
    let opened = REMARK_OPENERS.contains(&clause[0].as_str());
    let named = clause.iter().take(5).any(|word| REMARK_VERBS.contains(&word.as_str()));
    (opened || named) && !contains(&AIMS)
}

/// Returns whether a goal says how things are before it says what is to be done: "our lease ends in April, find a
/// bigger place".
fn opens_with_remark(goal: &Goal) -> bool {
    let words = goal.folded_words();
    let next = (1..words.len()).find(|at| goal.is_clause_start(*at));
    next.is_some_and(|next| is_remark(goal, 0) && is_command(&words[next]))
}

/// Returns whether a clause behind a command wishes for something beside it: "redo the kitchen, we need to keep cooking".
fn is_wish(goal: &Goal, place: usize) -> bool {
    let words = goal.folded_words();
    is_command(&words[0]) && REMARK_OPENERS.contains(&words[place].as_str())
}

fn is_command(word: &str) -> bool {
    COMMANDS.contains(&word)
}

/// Verbs that a goal begins with.
const COMMANDS: [&str; 84] = [
    "add",
    "adopt",
    "apply",
    "arrange",
    "ask",
    "book",
    "bring",
    "build",
    "buy",
    "call",
    "cancel",
    "change",
    "choose",
    "clean",
    "clear",
    "convert",
    "cook",
    "create",
    "cut",
    "declutter",
    "digitize",
    "do",
    "file",
    "find",
    "finish",
    "fix",
    "get",
    "give",
    "grow",
    "hand",
    "hire",
    "host",
    "implement",
    "improve",
    "install",
    "introduce",
    "launch",
    "learn",
    "lose",
    "make",
    "migrate",
    "move",
    "negotiate",
    "onboard",
    "open",
    "organise",
    "organize",
    "paint",
    "pass",
    "pay",
    "plan",
    "plant",
    "prepare",
    "present",
    "publish",
    "put",
    "quit",
    "read",
    "record",
    "redo",
    "reduce",
    "register",
    "remodel",
    "renew",
    "renovate",
    "rent",
    "repair",
    "replace",
    "run",
    "save",
    "sell",
    "set",
    "ship",
    "sort",
    "start",
    "stop",
    "study",
    "submit",
    "switch",
    "take",
    "teach",
    "train",
    "upgrade",
    "write",
];

/// Returns whether a noun is an action, so that its object follows "of": "the renovation of the bathroom".
fn is_action_noun(word: &str) -> bool {
    const ACTIONS: [&str; 12] = [
        "purchase", "sale", "review", "move", "repair", "launch", "release", "rewrite", "upgrade",
        "change", "overhaul", "cleanup",
    ];
    ["tion", "ment", "ing", "sion", "ance"].iter().any(|tail| word.ends_with(tail))
        || ACTIONS.contains(&word)
        || ["rid", "out", "care", "pair", "set", "series", "team", "round", "couple"]
            .contains(&word)
}

/// Returns the weekday of an abbreviation, or the word itself.
fn weekday_word(word: &str) -> &str {
    let named = WEEKDAYS.iter().find(|name| name.starts_with(word));
    named.copied().unwrap_or(word)
}
