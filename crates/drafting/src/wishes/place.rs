//! Nodes by their place: "the last phase", "the second task of Launch", "phase 3", "the first two steps".

use planwright_model::{PlanNode, TaskId};

use super::find::{Finder, words};
use super::phrase::parted;

const ORDINALS: [&str; 10] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const NUMBERS: [&str; 11] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// What is counted.
#[derive(Clone, Copy)]
enum Kind {
    Phase,
    Task,
    Milestone,
}

/// Where in the row the nodes stand, counted from one end or the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    FromStart(usize),
    FromEnd(usize),
    Firsts(usize),
    Lasts(usize),
}

/// The nodes that a phrase means by their place. `None` if it says no place; empty if there is no such place.
pub(super) fn nodes<'a>(finder: &Finder<'a>, phrase: &str) -> Option<Vec<&'a PlanNode>> {
    let (counted, within) = match parted(phrase, &["of", "in"]).into_iter().next() {
        Some((counted, within)) => (counted, Some(within)),
        None => (phrase, None),
    };
    let (place, kind) = read(&words(counted))?;
    let within = match within {
        Some(name) => match finder.container(name) {
            Some(node) => node.id.clone(),
            None => return Some(Vec::new()),
        },
        None => finder.root.clone(),
    };
    let row = row(finder, kind, &within);
    let found = match place {
        Place::FromStart(at) => row.get(at).copied().into_iter().collect(),
        Place::FromEnd(at) => row.iter().rev().nth(at).copied().into_iter().collect(),
        Place::Firsts(count) if count <= row.len() => row[..count].to_vec(),
        Place::Lasts(count) if count <= row.len() => row[row.len() - count..].to_vec(),
        _ => Vec::new(),
    };
    Some(found)
}

fn row<'a>(finder: &Finder<'a>, kind: Kind, within: &TaskId) -> Vec<&'a PlanNode> {
    let tree = &finder.tree;
    match kind {
        Kind::Phase => tree.children(within).filter(|node| finder.holds(node)).collect(),
        Kind::Task | Kind::Milestone => {
            let milestones = matches!(kind, Kind::Milestone);
            let below = tree.subtree(within).into_iter();
            below.filter(|node| tree.is_leaf(&node.id) && node.milestone == milestones).collect()
        }
    }
}

/// Reads words such as "last phase", "second to last task", "phase 3", "first two step".
fn read(words: &[String]) -> Option<(Place, Kind)> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let place = match words.as_slice() {
        [noun, number] if kind(noun).is_some() => {
            return Some((Place::FromStart(count(number)?.checked_sub(1)?), kind(noun)?));
        }
        ["last" | "final", number, _] => Place::Lasts(count(number)?),
        ["first", number, _] => Place::Firsts(count(number)?),
        ["second" | "next", "to", "last", _] | ["penultimate", _] => Place::FromEnd(1),
        ["last" | "final", _] => Place::FromEnd(0),
        [which, _] => Place::FromStart(ordinal(which)?),
        _ => return None,
    };
    Some((place, kind(words.last()?)?))
}

fn kind(noun: &str) -> Option<Kind> {
    Some(match noun {
        "phase" | "stage" | "part" => Kind::Phase,
        "task" | "step" => Kind::Task,
        "milestone" => Kind::Milestone,
        _ => return None,
    })
}

fn ordinal(word: &str) -> Option<usize> {
    let named = ORDINALS.iter().position(|name| *name == word);
    let digits = || {
        let number = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end))?;
        number.parse::<usize>().ok()?.checked_sub(1)
    };
    named.or_else(digits)
}

fn count(word: &str) -> Option<usize> {
    let named = NUMBERS.iter().position(|name| *name == word);
    named.or_else(|| word.parse().ok())
}

/// Whether a word tells a place, so that it is no misspelt word of a title.
pub(super) fn tells(word: &str) -> bool {
    ordinal(word).is_some() || ["last", "final", "next", "penultimate"].contains(&word)
}
