//! Change requests about how long tasks take: an amount, a share, more or less, one task or all of them.

use planwright_model::{NodeStatus, PlanEdit, PlanNode};

use super::ClauseContext;
use super::amounts::{parse_minutes, parse_number};
use super::open_reason::{ClauseReading, OpenReason, first_reading};
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix};

/// How an estimate changes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum EstimateChange {
    Times(f64),
    Plus(i64),
}

impl EstimateChange {
    /// Applies it in steps of 5 minutes; no task takes less than 5 minutes because of it.
    fn apply_to(self, minutes: u32) -> u32 {
        let exact = match self {
            Self::Times(factor) => f64::from(minutes) * factor,
            Self::Plus(more) => f64::from(minutes) + more as f64,
        };
        let rounded =
            if minutes.is_multiple_of(5) { (exact / 5.0).round() * 5.0 } else { exact.round() };
        rounded.clamp(5.0, 1e6) as u32
    }
}

/// Parses a change request about estimates, relative ones first: "half as long" is no amount.
pub(super) fn parse_estimates(
    context: &ClauseContext<'_>,
    text: &str,
) -> ClauseReading<Vec<PlanEdit>> {
    first_reading([parse_relative(context, text), parse_absolute(context, text)])
}

/// Words for every task of the plan.
const EVERYTHING: [&str; 16] = [
    "all estimates",
    "all the estimates",
    "the estimates",
    "every estimate",
    "estimates",
    "everything",
    "all tasks",
    "all the tasks",
    "every task",
    "each task",
    "all of them",
    "all times",
    "all durations",
    "the times",
    "the whole plan",
    "all",
];

/// "double all estimates", "make the research half as long", "X takes 20% longer", "an hour more for X".
fn parse_relative(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    let (nodes, change) =
        split_factor_verb(text).or_else(|| split_longer(text)).or_else(|| split_more(text))?;
    Some(scale_estimates(context, nodes, change))
}

/// "double X", "halve X", "cut X in half", "increase X by 20%", "multiply X by 3", "add an hour to X".
fn split_factor_verb(text: &str) -> Option<(&str, EstimateChange)> {
    let verbs: [(&[&str], f64); 4] = [
        (&["double the time for", "double the time of", "double"], 2.0),
        (&["triple"], 3.0),
        (&["quadruple"], 4.0),
        (&["halve the time for", "halve the time of", "halve", "half"], 0.5),
    ];
    for (verb, factor) in verbs {
        if let Some(nodes) = strip_phrase_prefix(text, verb) {
            return Some((nodes, EstimateChange::Times(factor)));
        }
    }
    if let Some(rest) = strip_phrase_prefix(text, &["cut", "split", "reduce", "shorten"])
        && let Some(nodes) = strip_phrase_suffix(rest, &["in half", "by half"])
    {
        let meant = strip_phrase_prefix(text, &["split"]).is_none();
        return meant.then_some((nodes, EstimateChange::Times(0.5)));
    }
    if let Some(rest) = strip_phrase_prefix(text, &["add"]) {
        let cuts = split_at_words(rest, &["to", "for"]);
        return cuts.into_iter().find_map(|(amount, nodes)| {
            let amount = strip_phrase_suffix(amount, &["more"]).unwrap_or(amount);
            Some((nodes, EstimateChange::Plus(parse_minutes(amount)?.into())))
        });
    }
    let grow = ["increase", "raise", "extend", "lengthen"];
    let shrink = ["reduce", "decrease", "shorten", "cut", "lower"];
    let (rest, sign) = strip_phrase_prefix(text, &grow)
        .map(|rest| (rest, 1.0))
        .or_else(|| strip_phrase_prefix(text, &shrink).map(|rest| (rest, -1.0)))
        .or_else(|| strip_phrase_prefix(text, &["multiply"]).map(|rest| (rest, 0.0)))?;
    split_at_words(rest, &["by"]).into_iter().find_map(|(nodes, amount)| {
        let nodes = strip_phrase_prefix(nodes, &["the time for", "the time of"]).unwrap_or(nodes);
        if sign == 0.0 {
            let factor = parse_factor(amount)?;
            return Some((nodes, EstimateChange::Times(factor)));
        }
        Some((nodes, parse_difference(amount, sign)?))
    })
}

fn parse_factor(text: &str) -> Option<f64> {
    parse_number(&text.trim().to_lowercase()).filter(|factor| (0.01..=100.0).contains(factor))
}

/// "20%", "20 percent", "half", "2 hours".
fn parse_difference(text: &str, sign: f64) -> Option<EstimateChange> {
    let lower = text.trim().to_lowercase();
    let percent = lower.strip_suffix('%').or_else(|| lower.strip_suffix("percent"));
    if let Some(percent) = percent {
        let share: f64 = percent.trim().parse().ok()?;
        let factor = 1.0 + sign * share / 100.0;
        return (0.01..=100.0).contains(&factor).then_some(EstimateChange::Times(factor));
    }
    match lower.as_str() {
        "half" => Some(EstimateChange::Times(1.0 + sign * 0.5)),
        "a third" | "one third" => Some(EstimateChange::Times(1.0 + sign / 3.0)),
        "a quarter" => Some(EstimateChange::Times(1.0 + sign * 0.25)),
        _ => Some(EstimateChange::Plus((f64::from(parse_minutes(&lower)?) * sign) as i64)),
    }
}

/// "X takes twice as long", "make X half as long", "X is half an hour longer".
fn split_longer(text: &str) -> Option<(&str, EstimateChange)> {
    let factors: [(&[&str], f64); 5] = [
        (&["half as long", "half the time", "half as much time", "half that", "half as much"], 0.5),
        (
            &[
                "twice as long",
                "double the time",
                "twice the time",
                "twice as much time",
                "two times as long",
                "twice that",
                "2x",
            ],
            2.0,
        ),
        (&["three times as long", "thrice as long", "triple the time", "3x"], 3.0),
        (&["four times as long", "4x"], 4.0),
        (&["one and a half times as long", "1.5 times as long", "half as long again"], 1.5),
    ];
    for (ends, factor) in factors.into_iter().rev() {
        if let Some(rest) = strip_phrase_suffix(text, ends) {
            return Some((strip_taking(rest), EstimateChange::Times(factor)));
        }
    }
    let (rest, sign) = strip_phrase_suffix(text, &["longer", "more", "more time"])
        .map(|rest| (rest, 1.0))
        .or_else(|| {
            strip_phrase_suffix(text, &["shorter", "less", "less time"]).map(|rest| (rest, -1.0))
        })?;
    // The amount is the longest end that reads as one.
    rest.char_indices().filter(|(_, c)| *c == ' ').find_map(|(at, _)| {
        let change = parse_difference(&rest[at..], sign)?;
        Some((strip_taking(&rest[..at]), change))
    })
}

/// "an hour more for X", "30 minutes less for X".
fn split_more(text: &str) -> Option<(&str, EstimateChange)> {
    // Without an amount, half as much again, or a third less.
    let some_more = ["more time for", "more time on", "give more time to", "i need more time for"];
    if let Some(nodes) = strip_phrase_prefix(text, &some_more) {
        return Some((nodes, EstimateChange::Times(1.5)));
    }
    let some_less = ["less time for", "less time on", "give less time to", "i need less time for"];
    if let Some(nodes) = strip_phrase_prefix(text, &some_less) {
        return Some((nodes, EstimateChange::Times(2.0 / 3.0)));
    }
    let rest = strip_phrase_prefix(text, &["give", "plan", "allow"]).unwrap_or(text);
    split_at_words(rest, &["for", "on", "to"]).into_iter().find_map(|(amount, nodes)| {
        let (amount, sign) = strip_phrase_suffix(amount, &["more", "longer", "extra"])
            .map(|amount| (amount, 1.0))
            .or_else(|| strip_phrase_suffix(amount, &["less"]).map(|amount| (amount, -1.0)))?;
        Some((nodes, parse_difference(amount, sign)?))
    })
}

/// Removes the verbs around the name of what takes longer.
fn strip_taking(text: &str) -> &str {
    const ENDS: [&str; 15] = [
        "should take",
        "will take",
        "would take",
        "might take",
        "takes",
        "take",
        "should be",
        "needs",
        "need",
        "is",
        "are",
        "lasts",
        "for",
        "only",
        "about",
    ];
    let mut text = strip_phrase_prefix(text, &["make", "let", "give", "plan"]).unwrap_or(text);
    while let Some(rest) = strip_phrase_suffix(text, &ENDS) {
        text = rest;
    }
    text
}

fn scale_estimates(
    context: &ClauseContext<'_>,
    nodes: &str,
    change: EstimateChange,
) -> Result<Vec<PlanEdit>, OpenReason> {
    let finder = &context.finder;
    let lower = nodes.trim().to_lowercase();
    let found: Vec<&PlanNode> = if EVERYTHING.contains(&lower.as_str()) {
        finder.tree.get(finder.root).into_iter().collect()
    } else {
        finder.find_all(nodes)?
    };
    let mut edits = Vec::new();
    for node in found {
        let leaves = finder.work_leaves(&node.id);
        if let (EstimateChange::Plus(more), true) = (change, finder.is_container(node)) {
            // An hour more for a phase is an hour in all.
            let all = i64::from(finder.tree.total_minutes(&node.id)) + more;
            let minutes = u32::try_from(all.max(5)).unwrap_or(u32::MAX);
            edits.push(PlanEdit::SetEstimate { node: node.id.clone(), minutes });
            continue;
        }
        for leaf in leaves.iter().filter(|leaf| leaf.status != NodeStatus::Done) {
            let Some(before) = leaf.estimate_minutes.filter(|minutes| *minutes > 0) else {
                continue;
            };
            let minutes = change.apply_to(before);
            if minutes != before {
                edits.push(PlanEdit::SetEstimate { node: leaf.id.clone(), minutes });
            }
        }
    }
    if edits.is_empty() {
        return Err(OpenReason::because("it has no estimate that would change"));
    }
    Ok(edits)
}

/// "X takes 3 hours", "set X to 2 h", "X: 30 min", "30 minutes for X".
fn parse_absolute(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const VERBS: [&str; 17] = [
        "will take",
        "should take",
        "would take",
        "might take",
        "should only take",
        "only takes",
        "takes",
        "take",
        "needs",
        "need",
        "should be",
        "will be",
        "is",
        "are",
        "lasts",
        "can be done in",
        "=",
    ];
    let set = |nodes: &str, amount: &str| {
        let minutes = parse_minutes(amount)?;
        let edit = |node: &PlanNode| PlanEdit::SetEstimate { node: node.id.clone(), minutes };
        let found = context.finder.find_all(nodes);
        Some(found.map(|nodes| nodes.into_iter().map(edit).collect()))
    };
    if let Some(rest) = strip_phrase_prefix(
        text,
        &[
            "set",
            "estimate",
            "re-estimate",
            "change",
            "make",
            "give",
            "plan",
            "allow",
            "shorten",
            "reduce",
            "extend",
        ],
    ) {
        let cuts = split_at_words(rest, &["to", "at", "as", "with"]);
        let found = first_reading(cuts.into_iter().map(|(nodes, amount)| set(nodes, amount)));
        // "give it 2 hours", "make X an hour": the amount is the longest end that reads as one.
        let ends = rest.char_indices().filter(|(_, c)| *c == ' ');
        let found = found.or_else(|| {
            ends.map(|(at, _)| set(&rest[..at], &rest[at..])).find(Option::is_some).flatten()
        });
        let fors = split_at_words(rest, &["for"]);
        let found = found
            .or_else(|| first_reading(fors.into_iter().map(|(amount, nodes)| set(nodes, amount))));
        if found.is_some() {
            return found;
        }
    }
    if let Some(amount) = strip_phrase_prefix(text, &VERBS) {
        return set("", amount);
    }
    let cuts = split_at_words(text, &VERBS);
    let colon = text.split_once(": ");
    let fors = split_at_words(text, &["for"]);
    first_reading(
        cuts.into_iter()
            .chain(colon)
            .map(|(nodes, amount)| set(nodes, amount))
            .chain(fors.into_iter().map(|(amount, nodes)| set(nodes, amount)))
            .chain([set("", text).filter(|_| context.finder.has_marked_nodes())]),
    )
}
