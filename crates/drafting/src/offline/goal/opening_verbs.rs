//! Verbs at the start of a goal: they say what is done, and are not part of the name of the thing.

use super::amount::parse_number;
use super::words::GoalWords;

/// Words after a verb that belong to it: "put up", "throw away", "get rid of".
pub(super) const PARTICLES: [&str; 11] =
    ["up", "out", "off", "down", "away", "back", "over", "rid", "of", "for", "together"];

/// Words that are only verbs.
const VERBS: [&str; 72] = [
    "add",
    "adopt",
    "analyse",
    "analyze",
    "apply",
    "arrange",
    "assemble",
    "attend",
    "automate",
    "cancel",
    "celebrate",
    "choose",
    "connect",
    "convince",
    "coordinate",
    "debug",
    "decide",
    "declutter",
    "decorate",
    "deploy",
    "digitise",
    "digitize",
    "figure",
    "find",
    "fix",
    "hand",
    "hang",
    "hire",
    "install",
    "introduce",
    "investigate",
    "invite",
    "merge",
    "modernise",
    "modernize",
    "mount",
    "mow",
    "negotiate",
    "onboard",
    "overhaul",
    "pay",
    "pick",
    "predict",
    "proofread",
    "protect",
    "provision",
    "put",
    "recruit",
    "redesign",
    "reduce",
    "refactor",
    "register",
    "renew",
    "renovate",
    "repair",
    "replace",
    "reschedule",
    "restructure",
    "return",
    "schedule",
    "secure",
    "sell",
    "send",
    "simplify",
    "solve",
    "speed",
    "submit",
    "teach",
    "throw",
    "tidy",
    "translate",
    "wash",
];

/// Words that are verbs before a determiner or a particle, and otherwise part of a name: "test the app", "test suite".
const VERBS_OR_NOUNS: [&str; 48] = [
    "back", "bake", "book", "brew", "call", "check", "clean", "clear", "cook", "cut", "design",
    "document", "draft", "edit", "email", "feed", "file", "host", "list", "look", "map", "market",
    "measure", "order", "pack", "paint", "plan", "plant", "print", "record", "rent", "research",
    "review", "scan", "ship", "sign", "sort", "split", "stock", "switch", "test", "turn", "update",
    "upgrade", "walk", "water", "wire", "work",
];

const DETERMINERS: [&str; 16] = [
    "a", "an", "the", "my", "our", "your", "their", "his", "her", "this", "these", "all", "some",
    "new", "more", "enough",
];

/// Returns whether the word at `index` is the verb of the goal.
pub(super) fn is_opening_verb(words: &GoalWords<'_>, index: usize) -> bool {
    if words.is_any_of(index, &VERBS) {
        return true;
    }
    let particle =
        words.is_any_of(index + 1, &["up", "out", "off", "down", "away", "rid", "together"]);
    let determined = words.is_any_of(index + 1, &DETERMINERS)
        || parse_number(words.text_at(index + 1)).is_some();
    let phrasal = words.is_any_of(index, &["take", "get", "put", "throw"]) && particle;
    phrasal || (words.is_any_of(index, &VERBS_OR_NOUNS) && (determined || particle))
}
