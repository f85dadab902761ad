//! Rhythms that describe something instead of asking for it: "the server crashes every night, find out why".

use super::words::GoalWords;

/// Verbs and states of something that is broken.
const TROUBLE: [&str; 22] = [
    "fails",
    "fail",
    "failing",
    "failed",
    "crashes",
    "crash",
    "crashing",
    "hangs",
    "dies",
    "leaks",
    "drops",
    "freezes",
    "restarts",
    "reboots",
    "wakes",
    "flaky",
    "broken",
    "stuck",
    "cpu",
    "errors",
    "error",
    "overheats",
];
/// Words that ask for the cause of something.
const CAUSE: [&str; 6] = ["why", "debug", "investigate", "diagnose", "troubleshoot", "cause"];
/// Words that start a description.
const RELATIVE: [&str; 6] = ["that", "which", "who", "because", "since", "when"];

/// Returns whether the rhythm at `index` belongs to a description: of trouble in its own clause, of what another clause
/// wants fixed, or of something with a relative clause.
pub(super) fn is_described(words: &GoalWords<'_>, index: usize) -> bool {
    let start = words.clause_start(index);
    let end = (index + 1..words.len())
        .find(|place| words.clause_starts_at(*place))
        .unwrap_or(words.len());
    words.contains_word(start..index, &TROUBLE)
        || words.contains_word(start..index, &RELATIVE)
        || words.contains_word(0..start, &CAUSE)
        || words.contains_word(end..words.len(), &CAUSE)
}
