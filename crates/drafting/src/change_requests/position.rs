//! Nodes by their position: "the last phase", "the second task of Launch", "phase 3", "the first two steps", "tasks 2 and
//! 3", "the second and third phase".

use planwright_model::{PlanNode, TaskId};

use super::node_finder::{NodeFinder, is_point};
use super::phrase::split_at_words;
use crate::number_names::parse_number_word;

const ORDINALS: [&str; 10] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

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
    let (places, kind) = parse_positions(&position_words(counted))?;
    let within = match within.filter(|name| !is_whole_plan(name)) {
        Some(name) => match finder.find_container(name) {
            Ok(node) => node.id.clone(),
            Err(_) => return Some(Vec::new()),
        },
        None => finder.root.clone(),
    };
    let row = candidate_nodes(finder, kind, &within);
    let mut found = Vec::new();
    for place in places {
        let nodes = nodes_at(&row, place);
        if nodes.is_empty() {
            return Some(Vec::new());
        }
        found.extend(nodes);
    }
    Some(found)
}

fn is_whole_plan(name: &str) -> bool {
    ["the plan", "plan", "the list", "the whole plan"].contains(&name.to_lowercase().as_str())
}

fn nodes_at<'a>(row: &[&'a PlanNode], place: OrdinalPosition) -> Vec<&'a PlanNode> {
    match place {
        OrdinalPosition::FromStart(at) => row.get(at).copied().into_iter().collect(),
        OrdinalPosition::FromEnd(at) => row.iter().rev().nth(at).copied().into_iter().collect(),
        OrdinalPosition::Firsts(count) if count <= row.len() => row[..count].to_vec(),
        OrdinalPosition::Lasts(count) if count <= row.len() => row[row.len() - count..].to_vec(),
        _ => Vec::new(),
    }
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
        CountedNodeKind::Task => finder.work_leaves(within),
        CountedNodeKind::Milestone => {
            let below = tree.subtree(within).into_iter();
            below.filter(|node| tree.is_leaf(&node.id) && is_point(node)).collect()
        }
    }
}

/// The words of a phrase without articles and conjunctions; "2-4" is two numbers with "to" between them.
fn position_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut words = Vec::new();
    for word in lower.split([' ', ',']) {
        let word = word.trim_matches(['"', '.', '#', '“', '”']);
        if ["", "the", "a", "and", "&", "with", "number", "very"].contains(&word) {
            continue;
        }
        match word.split_once(['-', '–']) {
            Some((from, to)) if parse_count(from).is_some() && parse_count(to).is_some() => {
                words.extend([from.to_owned(), "to".to_owned(), to.to_owned()]);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Parses words such as "last phase", "second to last task", "phase 3", "first two steps", "tasks 2 3".
fn parse_positions(words: &[String]) -> Option<(Vec<OrdinalPosition>, CountedNodeKind)> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some((noun, numbers)) = words.split_first()
        && let Some(kind) = parse_node_kind(noun)
    {
        return parse_numbers(noun, numbers).map(|places| (places, kind));
    }
    let (noun, which) = words.split_last()?;
    let kind = parse_node_kind(noun)?;
    let place = match which {
        ["last" | "final", number] if parse_count(number).is_some() => {
            OrdinalPosition::Lasts(parse_count(number)?)
        }
        ["first", number] if parse_count(number).is_some() => {
            OrdinalPosition::Firsts(parse_count(number)?)
        }
        ["second" | "next", "to", "last"] | ["penultimate"] => OrdinalPosition::FromEnd(1),
        [] => return None,
        several => {
            let places: Option<Vec<_>> = several.iter().map(|word| parse_place(word)).collect();
            return Some((places?, kind));
        }
    };
    Some((vec![place], kind))
}

/// Parses what follows "task" or "phases": numbers, with "phase" between them or a range.
fn parse_numbers(noun: &str, words: &[&str]) -> Option<Vec<OrdinalPosition>> {
    let noun = noun.trim_end_matches('s');
    let words: Vec<&str> =
        words.iter().copied().filter(|word| word.trim_end_matches('s') != noun).collect();
    if let [from, "to" | "through" | "until", to] = words.as_slice() {
        let (from, to) = (parse_count(from)?, parse_count(to)?);
        let in_order = 0 < from && from < to && to < 1000;
        return in_order
            .then(|| (from..=to).map(|at| OrdinalPosition::FromStart(at - 1)).collect());
    }
    let place = |word: &&str| Some(OrdinalPosition::FromStart(parse_count(word)?.checked_sub(1)?));
    let places: Vec<OrdinalPosition> = words.iter().map(place).collect::<Option<_>>()?;
    (!places.is_empty()).then_some(places)
}

fn parse_place(word: &str) -> Option<OrdinalPosition> {
    match word {
        "last" | "final" => Some(OrdinalPosition::FromEnd(0)),
        word => parse_ordinal(word).map(OrdinalPosition::FromStart),
    }
}

fn parse_node_kind(noun: &str) -> Option<CountedNodeKind> {
    Some(match noun.strip_suffix('s').unwrap_or(noun) {
        "phase" | "stage" | "part" => CountedNodeKind::Phase,
        "task" | "step" | "item" => CountedNodeKind::Task,
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
    let named = parse_number_word(word).map(|number| number as usize);
    named.or_else(|| word.parse().ok())
}

/// Returns whether a word describes a position, so that it is not a misspelled word of a title.
pub(super) fn is_position_word(word: &str) -> bool {
    parse_ordinal(word).is_some() || ["last", "final", "next", "penultimate"].contains(&word)
}
