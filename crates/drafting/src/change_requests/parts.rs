//! Change requests that make several tasks of one, or one of several.

use planwright_model::{PlanEdit, PlanNode, SplitPart};

use super::ClauseContext;
use super::additions::{new_title, split_minutes};
use super::amounts::parse_number;
use super::open_reason::{ClauseReading, OpenReason, first_reading};
use super::phrase::{
    decapitalize, split_at_words, strip_phrase_prefix, strip_phrase_suffix, strip_quotes,
};

/// Parses a change request that splits or merges tasks.
pub(super) fn parse_parts(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    first_reading([parse_split(context, text), parse_merge(context, text)])
}

/// "split X into A, B and C", "divide X into two", "make two tasks of X: A and B".
fn parse_split(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const VERBS: [&str; 9] = [
        "split up",
        "split",
        "break up",
        "break down",
        "break",
        "divide up",
        "divide",
        "separate",
        "cut up",
    ];
    let rest = strip_phrase_prefix(text, &VERBS)?;
    let halves =
        strip_phrase_suffix(rest, &["in half", "in two", "in halves"]).map(|node| (node, "two"));
    let cuts = split_at_words(rest, &["up into", "into", "in", ":"]).into_iter().chain(halves);
    first_reading(cuts.map(|(node, parts)| {
        let found = context.finder.find_one(node);
        Some(found.and_then(|node| {
            let into = split_parts(node, parts);
            if into.len() < 2 {
                return Err(OpenReason::because("name at least two parts"));
            }
            Ok(vec![PlanEdit::Split { node: node.id.clone(), into }])
        }))
    }))
}

/// Returns the parts that are named, or as many as are asked for.
fn split_parts(node: &PlanNode, text: &str) -> Vec<SplitPart> {
    let counted =
        strip_phrase_suffix(text, &["equal parts", "parts", "tasks", "steps", "pieces", "halves"]);
    let number = parse_number(&counted.unwrap_or(text).trim().to_lowercase());
    if let Some(number) = number.filter(|number| (2.0..=20.0).contains(number)) {
        let count = number as usize;
        let part = |at: usize| SplitPart {
            title: format!("{} (part {at} of {count})", node.title),
            minutes: None,
        };
        return (1..=count).map(part).collect();
    }
    let rest = strip_phrase_prefix(text, &["the parts", "parts", "tasks", "steps"]).unwrap_or(text);
    rest.split(',')
        .flat_map(|part| part.split(" and "))
        .map(|part| strip_phrase_prefix(part, &["and", "then"]).unwrap_or(part).trim())
        .filter(|part| !strip_quotes(part).is_empty())
        .map(|part| {
            let (title, minutes) = split_minutes(part);
            SplitPart { title: new_title(title), minutes }
        })
        .collect()
}

/// "merge X and Y", "merge X and Y into Z", "make one task of X and Y", "X and Y should be one task".
fn parse_merge(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const VERBS: [&str; 10] = [
        "merge",
        "combine",
        "join together",
        "join",
        "put together",
        "make one task of",
        "make one task out of",
        "make one of",
        "unite",
        "fuse",
    ];
    const ENDS: [&str; 7] = [
        "should be one task",
        "should be one",
        "are one task",
        "can be one task",
        "are the same task",
        "into one task",
        "into one",
    ];
    let rest = strip_phrase_prefix(text, &VERBS).or_else(|| strip_phrase_suffix(text, &ENDS))?;
    let rest = strip_phrase_suffix(rest, &ENDS).unwrap_or(rest);
    let merge = |nodes: &str, title: Option<&str>| {
        let found = context.finder.find_all(nodes)?;
        if found.len() < 2 {
            return Err(OpenReason::because("name at least two tasks"));
        }
        let into =
            title.map_or_else(|| joined_title(&found), |title| strip_quotes(title).to_owned());
        let nodes = found.iter().map(|node| node.id.clone()).collect();
        Ok(vec![PlanEdit::Merge { nodes, into }])
    };
    let named = split_at_words(rest, &["into", "as", "to"]).into_iter();
    first_reading(
        named.map(|(nodes, title)| merge(nodes, Some(title))).chain([merge(rest, None)]).map(Some),
    )
}

/// Returns a title for several tasks: both, where that is short enough, or else the first.
fn joined_title(nodes: &[&PlanNode]) -> String {
    let mut title = nodes.first().map(|node| node.title.clone()).unwrap_or_default();
    for node in nodes.iter().skip(1) {
        let longer = format!("{title} and {}", decapitalize(&node.title));
        if longer.chars().count() > PlanNode::MAX_TITLE_CHARS {
            break;
        }
        title = longer;
    }
    title
}
