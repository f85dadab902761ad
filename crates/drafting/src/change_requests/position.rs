//! Nodes by their position: "the last phase", "the second task of Launch", "phase 3", "the first two steps".

use planwright_model::{PlanNode, TaskId};

use super::node_finder::{NodeFinder, normalize_words};
use super::phrase::split_at_words;

const ORDINALS: [&str; 10] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const NUMBERS: [&str; 11] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// The kind of node that is counted.
#[derive(Clone, Copy)]
enum CountedNodeKind {
    Phase,
    Task,
    Milestone,
}

/// The position of the nodes in their sequence, counted from either end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OrdinalPosition {
    FromStart(usize),
    FromEnd(usize),
    Firsts(usize),
    Lasts(usize),
}

/// Returns the nodes that a phrase refers to by position. `None` if it contains no position; empty if there is no such
/// position.
pub(super) fn find_by_position<'a>(
    finder: &NodeFinder<'a>,
    phrase: &str,
) -> Option<Vec<&'a PlanNode>> {
    let (counted, within) = match split_at_words(phrase, &["of", "in"]).into_iter().next() {
        Some((counted, within)) => (counted, Some(within)),
        None => (phrase, None),
    };
    let (place, kind) = parse_position(&normalize_words(counted))?;
    let within = match within {
        Some(name) => match finder.find_container(name) {
            Some(node) => node.id.clone(),
            None => return Some(Vec::new()),
        },
        None => finder.root.clone(),
    };
    let row = candidate_nodes(finder, kind, &within);
    let found = match place {
        OrdinalPosition::FromStart(at) => row.get(at).copied().into_iter().collect(),
        OrdinalPosition::FromEnd(at) => row.iter().rev().nth(at).copied().into_iter().collect(),
        OrdinalPosition::Firsts(count) if count <= row.len() => row[..count].to_vec(),
        OrdinalPosition::Lasts(count) if count <= row.len() => row[row.len() - count..].to_vec(),
        _ => Vec::new(),
    };
    Some(found)
}

fn candidate_nodes<'a>(
    finder: &NodeFinder<'a>,
    kind: CountedNodeKind,
    within: &TaskId,
) -> Vec<&'a PlanNode> {
    let tree = &finder.tree;
    match kind {
        CountedNodeKind::Phase => {
            tree.children(within).filter(|node| finder.is_container(node)).collect()
        }
        CountedNodeKind::Task | CountedNodeKind::Milestone => {
            let milestones = matches!(kind, CountedNodeKind::Milestone);
            let below = tree.subtree(within).into_iter();
            below.filter(|node| tree.is_leaf(&node.id) && node.milestone == milestones).collect()
        }
    }
}

/// Parses words such as "last phase", "second to last task", "phase 3", "first two step".
fn parse_position(words: &[String]) -> Option<(OrdinalPosition, CountedNodeKind)> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let place = match words.as_slice() {
        [noun, number] if parse_node_kind(noun).is_some() => {
            return Some((
                OrdinalPosition::FromStart(parse_count(number)?.checked_sub(1)?),
                parse_node_kind(noun)?,
            ));
        }
        ["last" | "final", number, _] => OrdinalPosition::Lasts(parse_count(number)?),
        ["first", number, _] => OrdinalPosition::Firsts(parse_count(number)?),
        ["second" | "next", "to", "last", _] | ["penultimate", _] => OrdinalPosition::FromEnd(1),
        ["last" | "final", _] => OrdinalPosition::FromEnd(0),
        [which, _] => OrdinalPosition::FromStart(parse_ordinal(which)?),
        _ => return None,
    };
    Some((place, parse_node_kind(words.last()?)?))
}

fn parse_node_kind(noun: &str) -> Option<CountedNodeKind> {
    Some(match noun {
        "phase" | "stage" | "part" => CountedNodeKind::Phase,
        "task" | "step" => CountedNodeKind::Task,
        "milestone" => CountedNodeKind::Milestone,
        _ => return None,
    })
}

fn parse_ordinal(word: &str) -> Option<usize> {
    let named = ORDINALS.iter().position(|name| *name == word);
    let digits = || {
        let number = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end))?;
        number.parse::<usize>().ok()?.checked_sub(1)
    };
    named.or_else(digits)
}

fn parse_count(word: &str) -> Option<usize> {
    let named = NUMBERS.iter().position(|name| *name == word);
    named.or_else(|| word.parse().ok())
}

/// Returns whether a word describes a position, so that it is not a misspelled word of a title.
pub(super) fn is_position_word(word: &str) -> bool {
    parse_ordinal(word).is_some() || ["last", "final", "next", "penultimate"].contains(&word)
}
