//! Decodes what a task depends on.

use super::decoder::{Decoder, FieldNames, whole};
use super::duration::{self, Day};
use super::task::check_id;
use super::tree::{Path, Tree, Value};
use crate::graph::lists::Separators;
use planwright_model::{LagBasis, Link, LinkKind, LinkOrigin, Severity, TaskId, Violation};

/// The fields of a link that is written as a table.
pub(super) const LINK_FIELDS: &[FieldNames] =
    &[("task", &[]), ("kind", &[]), ("lag", &["lag_minutes"]), ("lag_basis", &[]), ("origin", &[])];

/// The longest lag or lead, in minutes.
pub(crate) const MAX_LAG: i64 = 86_400;

const KINDS: &[(&str, LinkKind)] = &[
    ("FS", LinkKind::FS),
    ("SS", LinkKind::SS),
    ("FF", LinkKind::FF),
    ("SF", LinkKind::SF),
    ("fs", LinkKind::FS),
    ("ss", LinkKind::SS),
    ("ff", LinkKind::FF),
    ("sf", LinkKind::SF),
    ("finish_to_start", LinkKind::FS),
    ("start_to_start", LinkKind::SS),
    ("finish_to_finish", LinkKind::FF),
    ("start_to_finish", LinkKind::SF),
];
const BASES: &[(&str, LagBasis)] =
    &[("working", LagBasis::Working), ("elapsed", LagBasis::Elapsed)];
const ORIGINS: &[(&str, LinkOrigin)] = &[
    ("system", LinkOrigin::System),
    ("user_feedback", LinkOrigin::UserFeedback),
    ("ai_adaptation", LinkOrigin::AiAdaptation),
    ("inferred", LinkOrigin::Inferred),
];

/// Decodes a list of links, each with its place.
pub(super) fn decode(
    decoder: &mut Decoder<'_>,
    tree: &Tree,
    path: Path<'_>,
    task: &TaskId,
) -> Vec<(Link, usize)> {
    if let Value::Text(text) = &tree.value {
        let ids = decoder.split(text, path, Separators::Plain, task);
        return ids
            .iter()
            .map(|id| (Link::finish_to_start(id.as_str()), tree.span.start))
            .collect();
    }
    let items = decoder.list(tree, path).unwrap_or_default();
    let mut links = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = Path::Item(&path, index);
        let link = match &item.value {
            Value::Text(id) if id.trim().is_empty() => continue,
            Value::Text(id) => {
                check_id(decoder, id, item, path).map(|()| Link::finish_to_start(id.as_str()))
            }
            Value::Table(_) => table(decoder, item, path),
            _ => {
                let fix = "Write the task's id, or { task = \"…\", kind = \"SS\", lag = \"1d\" }.";
                decoder.bad(item, path, format!("must be a link, not {}", item.kind()), fix);
                None
            }
        };
        links.extend(link.map(|link| (link, item.span.start)));
    }
    links
}

fn table(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>) -> Option<Link> {
    let fields = decoder.fields(tree, path, LINK_FIELDS)?;
    let Some(entry) = fields.get("task") else {
        decoder.bad(tree, path, "names no task", "Add task = \"…\" with the id it waits for.");
        return None;
    };
    let task_path = Path::Field(&path, "task");
    let id = decoder.text(&entry.tree, task_path)?;
    check_id(decoder, id, &entry.tree, task_path)?;
    let mut link = Link::finish_to_start(id);
    let word = |name: &str| fields.get(name).map(|entry| &entry.tree);
    if let Some(tree) = word("kind") {
        link.kind = decoder.choice(tree, Path::Field(&path, "kind"), KINDS).unwrap_or_default();
    }
    if let Some(tree) = word("lag_basis") {
        let path = Path::Field(&path, "lag_basis");
        link.lag_basis = decoder.choice(tree, path, BASES).unwrap_or_default();
    }
    if let Some(tree) = word("origin") {
        link.origin =
            decoder.choice(tree, Path::Field(&path, "origin"), ORIGINS).unwrap_or_default();
    }
    if let Some(entry) = fields.get("lag") {
        let path = Path::Field(&path, &entry.key);
        link.lag_minutes = lag(decoder, &entry.tree, path, link.lag_basis).unwrap_or(0);
    }
    Some(link)
}

fn lag(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>, basis: LagBasis) -> Option<i32> {
    let day = match basis {
        LagBasis::Working => Day::Working,
        LagBasis::Elapsed => Day::Elapsed,
    };
    let amount = match &tree.value {
        Value::Text(text) => duration::minutes(text, day),
        _ => whole(tree),
    };
    match amount {
        Some(amount) if amount.abs() <= MAX_LAG => Some(amount as i32),
        Some(amount) => {
            let message = format!("`{path}` is {amount} minutes, an impossible offset");
            let fix = format!("Keep it between -{MAX_LAG} and {MAX_LAG} minutes.");
            let violation = Violation::new("G303", Severity::Repairable, message, fix);
            decoder.report(violation, tree.span.start);
            None
        }
        None => {
            let fix =
                "Write minutes as a number, or \"30m\", \"2h\", \"1d\"; a minus makes it a lead.";
            decoder.bad(tree, path, "is not a lag", fix);
            None
        }
    }
}
