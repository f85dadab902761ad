//! Change requests about nodes and links: estimate, rename, remove, add, move, order.

use planwright_model::{LinkKind, PlanEdit, PlanNode, TaskId};

use super::ClauseContext;
use super::amounts::parse_minutes;
use super::assignments::parse_assignments;
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix, strip_quotes};

/// Parses a change request about nodes or links.
pub(super) fn parse_edits(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    parse_rename(context, text)
        .or_else(|| parse_unlink(context, text))
        .or_else(|| parse_remove(context, text))
        .or_else(|| parse_add(context, text))
        .or_else(|| parse_move(context, text))
        .or_else(|| parse_assignments(context, text))
        .or_else(|| parse_estimate(context, text))
        .or_else(|| parse_order(context, text))
}

/// "rename X to Y", "call X Y" if Y is quoted, "call it Y".
fn parse_rename(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    let rest = strip_phrase_prefix(text, &["rename", "retitle", "call", "name"])?;
    let to = |(node, title): (&str, &str)| {
        let title = strip_quotes(title);
        let node = context.finder.find_one(node).filter(|_| !title.is_empty())?;
        Some(vec![PlanEdit::Rename { node: node.id.clone(), title: title.to_owned() }])
    };
    if let Some(title) = strip_phrase_prefix(rest, &["to", "as"]) {
        return to(("", title));
    }
    let named = split_at_words(rest, &["to", "as", "into"]).into_iter().find_map(to);
    let quoted = || {
        let at = rest.find(['"', '“'])?;
        to((&rest[..at], &rest[at..])).filter(|_| at > 0)
    };
    let it = || to(("it", strip_phrase_prefix(rest, &["it", "this"])?));
    named.or_else(quoted).or_else(it)
}

fn parse_remove(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    const VERBS: [&str; 10] = [
        "remove",
        "delete",
        "drop",
        "leave out",
        "take out",
        "cut out",
        "cut",
        "get rid of",
        "skip",
        "without",
    ];
    let parted =
        || strip_phrase_suffix(strip_phrase_prefix(text, &["leave", "take", "cut"])?, &["out"]);
    let nodes = context.finder.find_all(strip_phrase_prefix(text, &VERBS).or_else(parted)?)?;
    Some(nodes.into_iter().map(|node| PlanEdit::Remove { node: node.id.clone() }).collect())
}

/// "add T to P", with "(2 hours)" or "taking 2 hours" after the title or at the end.
fn parse_add(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    const FILLERS: [&str; 9] = [
        "a task called",
        "a step called",
        "a task named",
        "a task",
        "a step",
        "another task",
        "the task",
        "task",
        "step",
    ];
    let rest = strip_phrase_prefix(text, &["add", "include", "insert"])?;
    let rest = strip_phrase_prefix(rest, &FILLERS).filter(|rest| !rest.is_empty()).unwrap_or(rest);
    let (rest, timed) = split_minutes(rest);
    let node = |title: &str, parent: &PlanNode, minutes: Option<u32>| {
        let title = strip_quotes(title);
        let edit = PlanEdit::Add { parent: parent.id.clone(), title: title.to_owned(), minutes };
        (!title.is_empty()).then(|| vec![edit])
    };
    // The last "to" names the parent: earlier ones may belong to the title.
    for (title, parent) in
        split_at_words(rest, &["to", "under", "in", "into", "below"]).into_iter().rev()
    {
        let (title, inner) = split_minutes(title);
        let found =
            context.finder.find_container(parent).or_else(|| context.finder.find_one(parent));
        if let Some(parent) = found {
            return node(title, parent, timed.or(inner));
        }
    }
    let marked = context.finder.find_one("this")?;
    let holds = !context.finder.tree.is_leaf(&marked.id) || marked.node_type.is_container();
    let parent = if holds { Some(marked) } else { context.finder.tree.parent(marked) };
    node(rest, parent?, timed)
}

/// Splits an amount of time off the end of a phrase.
fn split_minutes(text: &str) -> (&str, Option<u32>) {
    if let Some((title, amount)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('('))
        && let Some(found) = parse_minutes(amount)
    {
        return (title.trim(), Some(found));
    }
    let taking = split_at_words(text, &["taking", "which takes", "that takes", "of", "for", "at"]);
    let found =
        taking.into_iter().find_map(|(title, amount)| Some((title, parse_minutes(amount)?)));
    found.map_or((text, None), |(title, minutes)| (title, Some(minutes)))
}

fn parse_move(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    let rest = strip_phrase_prefix(text, &["move", "shift", "put"])?;
    let beside = |(node, other): (&str, &str), offset: u16| {
        let (node, other) = (context.finder.find_one(node)?, context.finder.find_one(other)?);
        move_beside(context, node, other, offset).map(|edit| vec![edit])
    };
    let cuts = |word: &str, offset: u16| {
        let behind = strip_phrase_prefix(rest, &[word]).map(|other| ("this", other));
        split_at_words(rest, &[word]).into_iter().chain(behind).find_map(|cut| beside(cut, offset))
    };
    if let Some(found) =
        cuts("before", 0).or_else(|| cuts("after", 1)).or_else(|| cuts("behind", 1))
    {
        return Some(found);
    }
    let to = [
        "to the start of",
        "to the beginning of",
        "to the top of",
        "to the end of",
        "to",
        "into",
        "under",
        "below",
        "in",
    ];
    to.iter().find_map(|word| {
        let first = ["start", "beginning", "top"].iter().any(|place| word.contains(place));
        let alone = strip_phrase_prefix(rest, &[word]).map(|parent| ("this", parent));
        split_at_words(rest, &[word]).into_iter().chain(alone).find_map(|(nodes, parent)| {
            let parent = context.finder.find_container(parent)?;
            let position = if first { 0 } else { u16::MAX };
            let to = |node: &PlanNode| PlanEdit::Move {
                node: node.id.clone(),
                parent: parent.id.clone(),
                position,
            };
            Some(context.finder.find_all(nodes)?.into_iter().map(to).collect())
        })
    })
}

/// Moves a node next to another: 0 before it, 1 after it.
fn move_beside(
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

fn parse_estimate(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    const VERBS: [&str; 12] = [
        "will take",
        "should take",
        "would take",
        "might take",
        "takes",
        "take",
        "needs",
        "need",
        "should be",
        "is",
        "are",
        "lasts",
    ];
    let set = |nodes: &str, amount: &str| {
        let minutes = parse_minutes(amount)?;
        let edit = |node: &PlanNode| PlanEdit::SetEstimate { node: node.id.clone(), minutes };
        Some(context.finder.find_all(nodes)?.into_iter().map(edit).collect())
    };
    if let Some(rest) =
        strip_phrase_prefix(text, &["set", "estimate", "re-estimate", "change", "make", "give"])
    {
        let cuts = split_at_words(rest, &["to", "at", "as", "with"]);
        if let Some(found) = cuts.into_iter().find_map(|(nodes, amount)| set(nodes, amount)) {
            return Some(found);
        }
        // "give it 2 hours": the amount starts with its number.
        let amount = |(at, _): (usize, char)| set(&rest[..at], &rest[at..]);
        if let Some(found) =
            rest.char_indices().filter(|(_, c)| c.is_ascii_digit()).find_map(amount)
        {
            return Some(found);
        }
    }
    if let Some(amount) = strip_phrase_prefix(text, &VERBS) {
        return set("", amount);
    }
    let found =
        split_at_words(text, &VERBS).into_iter().find_map(|(nodes, amount)| set(nodes, amount));
    found
        .or_else(|| text.split_once(": ").and_then(|(nodes, amount)| set(nodes, amount)))
        .or_else(|| set("", text))
}

/// "X after Y", "X before Y", "X depends on Y", "first X, then Y".
fn parse_order(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    const SOONER: [&str; 5] = ["comes before", "goes before", "before", "must precede", "precedes"];
    const LATER: [&str; 9] = [
        "only after",
        "comes after",
        "goes after",
        "after",
        "depends on",
        "waits for",
        "should wait for",
        "has to wait for",
        "follows",
    ];
    let text =
        strip_phrase_prefix(text, &["do", "start", "begin", "schedule", "have"]).unwrap_or(text);
    let pair = |first: &str, second: &str| {
        let (first, second) = (context.finder.find_one(first)?, context.finder.find_one(second)?);
        link_or_reorder(context, first, second).map(|edit| vec![edit])
    };
    if let Some(first) = strip_phrase_prefix(text, &["after"]) {
        return pair(first, "");
    }
    if let Some(second) = strip_phrase_prefix(text, &["before"]) {
        return pair("", second);
    }
    if let Some(rest) = strip_phrase_prefix(text, &["first"]) {
        return split_at_words(rest, &["and then", "then"])
            .into_iter()
            .find_map(|(a, b)| pair(a, b));
    }
    let later =
        split_at_words(text, &LATER).into_iter().find_map(|(second, first)| pair(first, second));
    later.or_else(|| {
        split_at_words(text, &SOONER).into_iter().find_map(|(first, second)| pair(first, second))
    })
}

/// Siblings in the wrong order are swapped, since their chain would contradict a link; all others are linked.
fn link_or_reorder(
    context: &ClauseContext<'_>,
    first: &PlanNode,
    second: &PlanNode,
) -> Option<PlanEdit> {
    if first.id == second.id {
        return None;
    }
    let tree = &context.finder.tree;
    let lane = |node: &PlanNode| (node.parent_id.clone(), node.stream.clone());
    if lane(first) == lane(second) {
        let parent = second.parent_id.as_ref()?;
        let place = |id: &TaskId| tree.children(parent).position(|node| node.id == *id);
        if place(&first.id) > place(&second.id) {
            return move_beside(context, second, first, 1);
        }
    }
    let (from, to) = (first.id.clone(), second.id.clone());
    Some(PlanEdit::Link { from, to, kind: LinkKind::FS, lag_minutes: 0 })
}

/// "unlink X from Y", "X does not depend on Y", "remove the link from X to Y".
fn parse_unlink(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    const FREE: [&str; 5] = [
        "does not depend on",
        "doesn't depend on",
        "need not wait for",
        "does not wait for",
        "doesn't have to wait for",
    ];
    const LINK: [&str; 6] = [
        "remove the link between",
        "remove the link from",
        "delete the link from",
        "drop the link from",
        "remove the link",
        "unlink",
    ];
    let cut = |a: &str, b: &str| {
        let (a, b) = (context.finder.find_one(a)?, context.finder.find_one(b)?);
        let links = &context.roadmap?.dependencies;
        let between = |from: &PlanNode, to: &PlanNode| {
            let found = links.iter().any(|link| link.from == from.id && link.to == to.id);
            found.then(|| PlanEdit::Unlink { from: from.id.clone(), to: to.id.clone() })
        };
        between(a, b).or_else(|| between(b, a)).map(|edit| vec![edit])
    };
    if let Some(rest) = strip_phrase_prefix(text, &LINK) {
        return split_at_words(rest, &["and", "to", "from"])
            .into_iter()
            .find_map(|(a, b)| cut(a, b));
    }
    let text = strip_phrase_suffix(text, &["any more", "anymore"]).unwrap_or(text);
    split_at_words(text, &FREE).into_iter().find_map(|(to, from)| cut(from, to))
}
