//! The verb that says what a goal does, and the kinds that do something else.
//!
//! A noun alone does not decide: "replace the brake pads" is about a car and buys none. A kind that lists verbs of its
//! own, and none that does what the goal does, loses half of its points.

use super::super::blueprint::Blueprint;
use super::super::goal::Goal;

/// Verbs that do the same, in their base form.
const VERB_FAMILIES: [&[&str]; 12] = [
    &[
        "fix",
        "repair",
        "replace",
        "mend",
        "patch",
        "restore",
        "unclog",
        "service",
        "renew",
        "exchange",
        "install",
        "refurbish",
    ],
    &["buy", "purchase", "order", "adopt", "lease", "afford", "acquire", "shop"],
    &["sell", "donate", "cancel", "return", "rehome", "dispose", "discard", "terminate", "end"],
    &["reclaim", "refund", "claim", "dispute", "contest", "appeal", "object"],
    &["stop", "prevent", "quit", "avoid", "overcome"],
    &["learn", "study", "practice", "practise", "memorize", "master", "improve", "speak", "play"],
    &["teach", "train", "coach", "tutor", "explain"],
    &["clean", "wash", "tidy", "declutter", "sort", "scrub", "clear", "empty"],
    &["cook", "bake", "brew"],
    &["insure", "measure", "photograph", "film", "draw", "translate"],
    &[
        "organize",
        "organise",
        "host",
        "hold",
        "throw",
        "celebrate",
        "arrange",
        "coordinate",
        "plan",
    ],
    &["migrate", "switch", "transfer", "port", "convert", "move"],
];

/// Verbs that a kind may list, and that say too little where a goal begins with them.
const BROAD_VERBS: [&str; 9] =
    ["launch", "start", "found", "create", "build", "make", "open", "set", "write"];

/// Words before the verb: "I want to", "help me".
const OPENERS: [&str; 40] = [
    "i", "we", "i'd", "we'd", "want", "would", "like", "love", "need", "have", "has", "to", "help",
    "me", "us", "please", "how", "let's", "let", "finally", "plan", "try", "trying", "must",
    "should", "will", "going", "my", "goal", "is", "i'm", "we're", "figure", "out", "can", "how",
    "do", "want", "a", "again",
];

/// The verb of a goal that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MainVerb {
    /// Its place in the words of the goal.
    pub(super) place: usize,
    family: Option<&'static [&'static str]>,
}

impl MainVerb {
    /// Finds the first word that is not an opener, and what it does.
    pub(super) fn find(goal: &Goal) -> Self {
        let words = goal.folded_words();
        let place = words.iter().position(|word| !OPENERS.contains(&word.as_str())).unwrap_or(0);
        let first = words.get(place).map_or("", String::as_str);
        // "plan" opens any goal, and people switch to anything.
        let family = VERB_FAMILIES.into_iter().find(|family| family.contains(&first));
        let family = family.filter(|_| !["plan", "move", "switch", "convert"].contains(&first));
        // "get my deposit back", "get rid of the sofa".
        let gets = first == "get" || first == "getting";
        let near = |word: &str| words.iter().skip(place).take(5).any(|own| own == word);
        let family = match gets {
            true if near("back") && words.get(place + 1).is_some_and(|next| next != "back") => {
                Some(VERB_FAMILIES[3])
            }
            true if near("rid") => Some(VERB_FAMILIES[2]),
            _ => family,
        };
        Self { place, family }
    }

    /// Returns whether a kind does something else than the goal: it lists verbs, and none of this one's family.
    pub(super) fn contradicts(&self, file: &Blueprint) -> bool {
        let Some(family) = self.family else { return false };
        let words = || file.match_words.get_ref().keys().flat_map(|phrase| phrase.split(' '));
        let lists = |family: &[&str]| words().any(|word| family.contains(&word));
        !lists(family) && (VERB_FAMILIES.into_iter().any(lists) || lists(&BROAD_VERBS))
    }
}
