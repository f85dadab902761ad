//! Change requests about the order: first, last, before, after, swapped, or under another phase.

use planwright_model::{LinkKind, PlanEdit, PlanNode};

use super::ClauseContext;
use super::open_reason::{ClauseReading, OpenReason, first_reading};
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix};

const MOVE_VERBS: [&str; 8] = ["move", "shift", "put", "place", "bring", "pull", "push", "drag"];

type Edits = Result<Vec<PlanEdit>, OpenReason>;

/// Parses a change request that moves rows.
pub(super) fn parse_moves(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    first_reading([parse_swap(context, text), parse_ends(context, text), parse_move(context, text)])
}

/// "swap X and Y", "switch the order of X and Y", "X and Y should change places".
fn parse_swap(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const VERBS: [&str; 8] = [
        "swap the order of",
        "switch the order of",
        "reverse the order of",
        "reverse",
        "swap",
        "switch",
        "exchange",
        "interchange",
    ];
    const ENDS: [&str; 6] = [
        "should change places",
        "change places",
        "should be swapped",
        "should swap places",
        "swap places",
        "the other way around",
    ];
    let rest = strip_phrase_prefix(text, &VERBS).or_else(|| {
        let rest = strip_phrase_suffix(text, &ENDS)?;
        Some(strip_phrase_prefix(rest, &["let", "do"]).unwrap_or(rest))
    })?;
    let rest = strip_phrase_suffix(rest, &["around", "round"]).unwrap_or(rest);
    let found = match context.finder.find_all(rest) {
        Ok(found) => found,
        Err(why) => return Some(Err(why)),
    };
    match found.as_slice() {
        [first, second] => Some(swap_nodes(context, first, second)),
        _ => Some(Err(OpenReason::because("name the two that change places"))),
    }
}

fn swap_nodes(context: &ClauseContext<'_>, one: &PlanNode, other: &PlanNode) -> Edits {
    let finder = &context.finder;
    let order: Vec<&PlanNode> = finder.tree.subtree(finder.root);
    let at = |node: &PlanNode| order.iter().position(|found| found.id == node.id);
    let (first, second) = if at(one) < at(other) { (one, other) } else { (other, one) };
    if first.id == second.id || finder.tree.is_ancestor(&first.id, &second.id) {
        return Err(OpenReason::because("one of them holds the other"));
    }
    if finder.is_container(first) != finder.is_container(second) {
        return Err(OpenReason::because("a phase and a task can't change places"));
    }
    let (Some(parent), Some(other_parent)) = (&first.parent_id, &second.parent_id) else {
        return Err(OpenReason::because("the goal itself has no other place"));
    };
    let (Some(from), Some(to)) = (lane_place(context, first), lane_place(context, second)) else {
        return Err(OpenReason::NothingMarked);
    };
    let mut edits = context.unlink_contradictions(second, first);
    let to_node = |node: &PlanNode, parent: &planwright_model::TaskId, position: u16| {
        PlanEdit::Move { node: node.id.clone(), parent: parent.clone(), position }
    };
    if parent == other_parent && first.stream == second.stream {
        edits.push(to_node(second, parent, from));
        // Neighbors have changed places with the first move already.
        edits.extend((to > from + 1).then(|| to_node(first, parent, to)));
    } else {
        edits.extend([to_node(first, other_parent, to), to_node(second, parent, from)]);
    }
    Ok(edits)
}

/// Returns the place of a node among the siblings of its lane.
fn lane_place(context: &ClauseContext<'_>, node: &PlanNode) -> Option<u16> {
    let parent = node.parent_id.as_ref()?;
    let mut lane = context.finder.tree.children(parent).filter(|other| other.stream == node.stream);
    u16::try_from(lane.position(|other| other.id == node.id)?).ok()
}

/// "do X first", "start with X", "X comes last", "move X to the end".
fn parse_ends(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const FIRST_OPENINGS: [&str; 6] =
        ["start with", "begin with", "first do", "first of all do", "prioritize", "start out with"];
    const LAST_OPENINGS: [&str; 4] = ["end with", "finish with", "close with", "leave for last"];
    const FIRST_ENDS: [&str; 20] = [
        "must be done first",
        "should be done first",
        "has to be done first",
        "to the very start",
        "to the start",
        "to the front",
        "to the beginning",
        "to the top",
        "at the start",
        "at the beginning",
        "at the top",
        "should come first",
        "comes first",
        "goes first",
        "should be first",
        "must be first",
        "has to be first",
        "is first",
        "before everything else",
        "first",
    ];
    const LAST_ENDS: [&str; 13] = [
        "to the very end",
        "to the end",
        "to the back",
        "to the bottom",
        "at the end",
        "should come last",
        "comes last",
        "goes last",
        "should be last",
        "after everything else",
        "until last",
        "for last",
        "last",
    ];
    let first = strip_phrase_prefix(text, &FIRST_OPENINGS)
        .map(|rest| strip_phrase_suffix(rest, &["first"]).unwrap_or(rest))
        .or_else(|| strip_phrase_suffix(text, &FIRST_ENDS));
    if let Some(rest) = first.filter(|rest| !rest.is_empty()) {
        let rest = strip_move_verb(rest);
        return Some(context.finder.find_one(rest).and_then(|node| move_to_start(context, node)));
    }
    let last = strip_phrase_prefix(text, &LAST_OPENINGS)
        .or_else(|| strip_phrase_suffix(text, &LAST_ENDS))
        .filter(|rest| !rest.is_empty())?;
    let rest = strip_move_verb(last);
    Some(context.finder.find_one(rest).and_then(|node| move_to_end(context, node)))
}

fn strip_move_verb(text: &str) -> &str {
    const DOING: [&str; 8] = ["do", "make", "have", "let", "schedule", "tackle", "work on", "keep"];
    strip_phrase_prefix(text, &MOVE_VERBS)
        .or_else(|| strip_phrase_prefix(text, &DOING))
        .unwrap_or(text)
}

fn move_to_start(context: &ClauseContext<'_>, node: &PlanNode) -> Edits {
    let finder = &context.finder;
    let already = || OpenReason::AlreadySo(format!("\"{}\" is first already", node.title));
    let mut edits = context.unlink_needs(node);
    if finder.is_container(node) {
        let parent = node.parent_id.clone().ok_or_else(already)?;
        if lane_place(context, node) == Some(0) {
            return Err(already());
        }
        edits.push(PlanEdit::Move { node: node.id.clone(), parent, position: 0 });
        return Ok(edits);
    }
    let first = finder.work_leaves(finder.root).into_iter().next().ok_or_else(already)?;
    if first.id == node.id {
        return Err(already());
    }
    edits.push(move_beside(context, node, first, 0).ok_or_else(already)?);
    Ok(edits)
}

fn move_to_end(context: &ClauseContext<'_>, node: &PlanNode) -> Edits {
    let finder = &context.finder;
    let already = || OpenReason::AlreadySo(format!("\"{}\" is last already", node.title));
    let mut edits = context.unlink_dependents(node);
    let parent = if finder.is_container(node) {
        node.parent_id.clone()
    } else {
        let last = finder.work_leaves(finder.root).into_iter().last().ok_or_else(already)?;
        if last.id == node.id {
            return Err(already());
        }
        last.parent_id.clone()
    };
    let parent = parent.ok_or_else(already)?;
    edits.push(PlanEdit::Move { node: node.id.clone(), parent, position: u16::MAX });
    Ok(edits)
}

/// "move X before Y", "move X after Y", "move X to the start of P", "move X to P".
fn parse_move(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    let rest = strip_phrase_prefix(text, &MOVE_VERBS)?;
    let beside = |words: &[&str], before: bool| {
        let behind = strip_phrase_prefix(rest, words).map(|other| ("this", other));
        let cuts = split_at_words(rest, words).into_iter().chain(behind);
        first_reading(cuts.map(|(node, other)| {
            let nodes = (context.finder.find_one(node), context.finder.find_one(other));
            Some(match nodes {
                (Ok(node), Ok(other)) if before => place_before(context, node, other),
                (Ok(node), Ok(other)) => place_after(context, node, other),
                (Err(why), _) | (_, Err(why)) => Err(why),
            })
        }))
    };
    first_reading([
        beside(
            &["right before", "just before", "before", "ahead of", "in front of", "above"],
            true,
        ),
        beside(&["right after", "just after", "after", "behind", "below"], false),
        parse_move_under(context, rest),
    ])
}

fn parse_move_under(context: &ClauseContext<'_>, rest: &str) -> ClauseReading<Vec<PlanEdit>> {
    const TO: [&str; 8] = [
        "to the start of",
        "to the beginning of",
        "to the top of",
        "to the end of",
        "into",
        "under",
        "to",
        "in",
    ];
    first_reading(TO.iter().flat_map(|word| {
        let first = ["start", "beginning", "top"].iter().any(|place| word.contains(place));
        let alone = strip_phrase_prefix(rest, &[word]).map(|parent| ("this", parent));
        let cuts: Vec<(&str, &str)> =
            split_at_words(rest, &[word]).into_iter().chain(alone).collect();
        cuts.into_iter().map(move |(nodes, parent)| {
            let parent = context.finder.find_container(parent).ok()?;
            let position = if first { 0 } else { u16::MAX };
            let to = |node: &PlanNode| PlanEdit::Move {
                node: node.id.clone(),
                parent: parent.id.clone(),
                position,
            };
            Some(context.finder.find_all(nodes).map(|nodes| nodes.into_iter().map(to).collect()))
        })
    }))
}

/// Puts a node before another, so that it is done first.
pub(super) fn place_before(
    context: &ClauseContext<'_>,
    node: &PlanNode,
    other: &PlanNode,
) -> Edits {
    require_apart(context, node, other)?;
    if context.comes_before(node, other) {
        let text = format!("\"{}\" already comes before \"{}\"", node.title, other.title);
        return Err(OpenReason::AlreadySo(text));
    }
    reorder(context, (node, other), (node, other), 0)
}

/// Puts a node after another, so that it is done later.
pub(super) fn place_after(context: &ClauseContext<'_>, node: &PlanNode, other: &PlanNode) -> Edits {
    require_apart(context, node, other)?;
    if context.comes_before(other, node) {
        let text = format!("\"{}\" already comes after \"{}\"", node.title, other.title);
        return Err(OpenReason::AlreadySo(text));
    }
    reorder(context, (other, node), (node, other), 1)
}

fn require_apart(
    context: &ClauseContext<'_>,
    node: &PlanNode,
    other: &PlanNode,
) -> Result<(), OpenReason> {
    let tree = &context.finder.tree;
    let related = node.id == other.id
        || tree.is_ancestor(&node.id, &other.id)
        || tree.is_ancestor(&other.id, &node.id);
    if related {
        let text = format!("\"{}\" and \"{}\" hold each other", node.title, other.title);
        return Err(OpenReason::because(text));
    }
    Ok(())
}

/// Moves a node beside another where rows decide the order, and links them where links do.
fn reorder(
    context: &ClauseContext<'_>,
    (first, second): (&PlanNode, &PlanNode),
    (node, other): (&PlanNode, &PlanNode),
    offset: u16,
) -> Edits {
    let mut edits = context.unlink_contradictions(first, second);
    let beside = neighbor(context, node, other, offset);
    let contradicts = context.comes_before(second, first);
    if !contradicts && context.roadmap.is_some() {
        // Nothing orders them yet, or only in part: a link is enough, and no row has to move.
        edits.push(link_nodes(first, second));
        return Ok(edits);
    }
    let moved = move_beside(context, node, beside, offset);
    edits.push(moved.ok_or_else(|| OpenReason::because("there is no such place"))?);
    Ok(edits)
}

/// Returns the row that a node is put beside: a task goes into a phase, a phase beside the phase of a task.
fn neighbor<'a>(
    context: &ClauseContext<'a>,
    node: &PlanNode,
    other: &'a PlanNode,
    offset: u16,
) -> &'a PlanNode {
    let finder = &context.finder;
    match (finder.is_container(node), finder.is_container(other)) {
        (false, true) => {
            let leaves = finder.work_leaves(&other.id);
            let found = if offset == 0 { leaves.first() } else { leaves.last() };
            found.copied().unwrap_or(other)
        }
        (true, false) => {
            let above = finder.tree.ancestors(&other.id);
            above.into_iter().find(|found| found.parent_id == node.parent_id).unwrap_or(other)
        }
        _ => other,
    }
}

pub(super) fn link_nodes(first: &PlanNode, second: &PlanNode) -> PlanEdit {
    let (from, to) = (first.id.clone(), second.id.clone());
    PlanEdit::Link { from, to, kind: LinkKind::FS, lag_minutes: 0 }
}

/// Moves a node next to another: 0 before it, 1 after it.
pub(super) fn move_beside(
    context: &ClauseContext<'_>,
    node: &PlanNode,
    other: &PlanNode,
    offset: u16,
) -> Option<PlanEdit> {
    let parent = other.parent_id.clone().filter(|_| node.id != other.id)?;
    let lane = context.finder.tree.children(&parent).filter(|found| found.stream == other.stream);
    let place = lane.filter(|found| found.id != node.id).position(|found| found.id == other.id)?;
    let position = u16::try_from(place).ok()?.checked_add(offset)?;
    Some(PlanEdit::Move { node: node.id.clone(), parent, position })
}
