//! Change requests about nodes and links: rename, remove, order.

use planwright_model::{PlanEdit, PlanNode};

use super::ClauseContext;
use super::additions::{parse_add, parse_errand};
use super::assignments::parse_assignments;
use super::buffer::parse_buffer;
use super::estimates::parse_estimates;
use super::moves::{link_nodes, parse_moves, place_after, place_before};
use super::open_reason::{ClauseReading, OpenReason, first_reading};
use super::parts::parse_parts;
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix, strip_quotes};

/// Parses a change request about nodes or links.
pub(super) fn parse_edits(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    type EditParser = fn(&ClauseContext<'_>, &str) -> ClauseReading<Vec<PlanEdit>>;
    const PARSERS: [EditParser; 11] = [
        parse_rename,
        parse_unlink,
        parse_estimates,
        parse_parts,
        parse_remove,
        parse_buffer,
        parse_add,
        parse_moves,
        parse_assignments,
        parse_order,
        parse_errand,
    ];
    first_reading(PARSERS.iter().map(|parse| parse(context, text)))
}

/// "rename X to Y", "call X Y" if Y is quoted, "call it Y", "X should be called Y".
fn parse_rename(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const VERBS: [&str; 8] = [
        "change the title of",
        "change the name of",
        "rename",
        "retitle",
        "reword",
        "call",
        "name",
        "title",
    ];
    const CALLED: [&str; 5] =
        ["should be called", "should be named", "is now called", "is called", "should read"];
    let to = |(node, title): (&str, &str)| {
        let title = strip_quotes(title);
        if title.is_empty() {
            return None;
        }
        let edit =
            |node: &PlanNode| PlanEdit::Rename { node: node.id.clone(), title: title.to_owned() };
        Some(context.finder.find_one(node).map(|node| vec![edit(node)]))
    };
    let called = split_at_words(text, &CALLED).into_iter().map(to);
    if let Some(found) = first_reading(called) {
        return Some(found);
    }
    let rest = strip_phrase_prefix(text, &VERBS)?;
    if let Some(title) = strip_phrase_prefix(rest, &["to", "as"]) {
        return to(("", title));
    }
    let named = split_at_words(rest, &["to", "as", "into"]).into_iter().map(to);
    let quoted = rest.find(['"', '“']).filter(|at| *at > 0).map(|at| (&rest[..at], &rest[at..]));
    let it = strip_phrase_prefix(rest, &["it", "this"]).map(|title| ("it", title));
    first_reading(named.chain(quoted.map(to)).chain(it.map(to)))
}

fn parse_remove(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const VERBS: [&str; 24] = [
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
        "scrap",
        "omit",
        "ditch",
        "kill",
        "strike",
        "throw out",
        "cross out",
        "forget about",
        "forget",
        "we don't need",
        "i don't need",
        "we do not need",
        "i do not need",
        "no need for",
    ];
    const ENDS: [&str; 6] =
        ["is not needed", "isn't needed", "are not needed", "can go", "is unnecessary", "must go"];
    let parted = || {
        let rest = strip_phrase_prefix(text, &["leave", "take", "cut", "throw"])?;
        strip_phrase_suffix(rest, &["out", "away", "off the list", "off"])
    };
    let rest = parted()
        .or_else(|| strip_phrase_prefix(text, &VERBS))
        .or_else(|| strip_phrase_suffix(text, &ENDS))?;
    let rest = strip_phrase_suffix(
        rest,
        &["from the plan", "entirely", "completely", "altogether", "anymore", "any more"],
    )
    .unwrap_or(rest);
    let root = |node: &&PlanNode| node.id == *context.finder.root;
    Some(context.finder.find_all(rest).and_then(|nodes| {
        if nodes.iter().any(root) {
            return Err(OpenReason::because("the goal itself can't be removed"));
        }
        Ok(nodes.into_iter().map(|node| PlanEdit::Remove { node: node.id.clone() }).collect())
    }))
}

/// "X after Y", "X before Y", "X depends on Y", "X needs Y", "first X, then Y".
fn parse_order(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const NEEDING: [&str; 6] =
        ["depends on", "depend on", "needs", "requires", "waits for", "is blocked by"];
    const SOONER: [&str; 9] = [
        "should come before",
        "comes before",
        "goes before",
        "must be done before",
        "has to be done before",
        "must precede",
        "precedes",
        "is needed for",
        "before",
    ];
    const LATER: [&str; 26] = [
        "can only start after",
        "can't start before",
        "cannot start before",
        "can't start until",
        "cannot start until",
        "can't start without",
        "cannot start without",
        "only after",
        "should come after",
        "comes after",
        "goes after",
        "not before",
        "depends on",
        "depend on",
        "waits for",
        "should wait for",
        "has to wait for",
        "must wait for",
        "is blocked by",
        "relies on",
        "requires",
        "follows",
        "needs",
        "need",
        "once",
        "after",
    ];
    const DOING: [&str; 6] = ["do", "start", "begin", "schedule", "have", "for"];
    let text = strip_phrase_prefix(text, &DOING).unwrap_or(text);
    let pair = |first: &str, second: &str| {
        order_pair(context, first, second, (OrderSubject::First, false))
    };
    if let Some(first) = strip_phrase_prefix(text, &["after"]) {
        return pair(first, "");
    }
    if let Some(second) = strip_phrase_prefix(text, &["before"]) {
        return pair("", second);
    }
    if let Some(rest) = strip_phrase_prefix(text, &["first"]) {
        let cuts = split_at_words(rest, &["and then", "then"]);
        return first_reading(cuts.into_iter().map(|(a, b)| pair(a, b)));
    }
    let needs = split_at_words(text, &NEEDING).into_iter();
    let needs = needs.map(|(second, first)| {
        let own = ["i", "we", "you", "it", "this"].contains(&second.to_lowercase().as_str());
        order_pair(context, first, second, (OrderSubject::Second, !own))
    });
    let later = split_at_words(text, &LATER)
        .into_iter()
        .map(|(second, first)| order_pair(context, first, second, (OrderSubject::Second, false)));
    let sooner =
        split_at_words(text, &SOONER).into_iter().map(|(first, second)| pair(first, second));
    first_reading(later.chain(sooner).chain(needs))
}

/// Which of two tasks a sentence is about: the one that moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OrderSubject {
    First,
    Second,
}

/// Reads an order. Unless the verb says that it is one, at least one of the names must be known: "before" and "after"
/// stand in many sentences.
fn order_pair(
    context: &ClauseContext<'_>,
    first: &str,
    second: &str,
    (subject, strong): (OrderSubject, bool),
) -> ClauseReading<Vec<PlanEdit>> {
    const DONE: [&str; 4] = ["is done", "is finished", "is ready", "are done"];
    let bare = |text: &'_ str| {
        let text = strip_phrase_suffix(text, &DONE).unwrap_or(text).to_owned();
        strip_phrase_prefix(&text, &["the"]).map(str::to_owned).unwrap_or(text)
    };
    let (first, second) = (bare(first), bare(second));
    match (context.finder.find_one(&first), context.finder.find_one(&second)) {
        (Ok(first), Ok(second)) => Some(link_or_reorder(context, first, second, subject)),
        (Ok(_), Err(why)) | (Err(why), Ok(_)) => Some(Err(why)),
        (Err(why @ OpenReason::Several { .. }), _) | (_, Err(why @ OpenReason::Several { .. })) => {
            Some(Err(why))
        }
        (_, Err(why @ OpenReason::NoMatch { .. })) if strong => Some(Err(why)),
        _ => None,
    }
}

/// Rows in the wrong order are moved, since their order would contradict a link; all others are linked.
fn link_or_reorder(
    context: &ClauseContext<'_>,
    first: &PlanNode,
    second: &PlanNode,
    subject: OrderSubject,
) -> Result<Vec<PlanEdit>, OpenReason> {
    if first.id == second.id {
        return Err(OpenReason::because("both names mean the same task"));
    }
    if context.comes_before(second, first) {
        return match subject {
            OrderSubject::First => place_before(context, first, second),
            OrderSubject::Second => place_after(context, second, first),
        };
    }
    Ok(vec![link_nodes(first, second)])
}

/// "unlink X from Y", "X does not depend on Y", "remove the link from X to Y".
fn parse_unlink(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const FREE: [&str; 9] = [
        "does not depend on",
        "doesn't depend on",
        "need not wait for",
        "does not wait for",
        "does not need to wait for",
        "doesn't need to wait for",
        "doesn't have to wait for",
        "does not need",
        "doesn't need",
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
        let links = &context.roadmap?.dependencies;
        let found = context.finder.find_one(a).and_then(|a| Ok((a, context.finder.find_one(b)?)));
        Some(found.and_then(|(a, b)| {
            let between = |from: &PlanNode, to: &PlanNode| {
                let found = links.iter().any(|link| link.from == from.id && link.to == to.id);
                found.then(|| PlanEdit::Unlink { from: from.id.clone(), to: to.id.clone() })
            };
            let edit = between(a, b).or_else(|| between(b, a));
            edit.map(|edit| vec![edit]).ok_or_else(|| {
                let text = format!("no link ties \"{}\" to \"{}\"", a.title, b.title);
                OpenReason::AlreadySo(text)
            })
        }))
    };
    if let Some(rest) = strip_phrase_prefix(text, &LINK) {
        let cuts = split_at_words(rest, &["and", "to", "from"]);
        return first_reading(cuts.into_iter().map(|(a, b)| cut(a, b)));
    }
    let text = strip_phrase_suffix(text, &["any more", "anymore"]).unwrap_or(text);
    first_reading(split_at_words(text, &FREE).into_iter().map(|(to, from)| cut(from, to)))
}
