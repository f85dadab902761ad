//! Decodes the dependencies of a task.

use super::decoder::{FieldNames, PlanFileDecoder, as_whole_number};
use super::duration::{self, DayLength};
use super::task::check_id;
use super::value_tree::{TreeValue, ValuePath, ValueTree};
use crate::graph::text_lists::ListSeparators;
use planwright_model::{LagBasis, LinkKind, LinkOrigin, Severity, TaskId, TaskLink, Violation};

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

/// Decodes a list of links, each with its position.
pub(super) fn decode_links(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    task: &TaskId,
) -> Vec<(TaskLink, usize)> {
    if let TreeValue::Text(text) = &tree.value {
        let ids = decoder.split_text(text, path, ListSeparators::Plain, task);
        return ids
            .iter()
            .map(|id| (TaskLink::finish_to_start(id.as_str()), tree.span.start))
            .collect();
    }
    let items = decoder.read_list(tree, path).unwrap_or_default();
    let mut links = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = ValuePath::Item(&path, index);
        let link = match &item.value {
            TreeValue::Text(id) if id.trim().is_empty() => continue,
            TreeValue::Text(id) => {
                check_id(decoder, id, item, path).map(|()| TaskLink::finish_to_start(id.as_str()))
            }
            TreeValue::Table(_) => decode_link_table(decoder, item, path),
            _ => {
                let fix = "Write the task's id, or { task = \"…\", kind = \"SS\", lag = \"1d\" }.";
                decoder.report_bad_value(
                    item,
                    path,
                    format!("must be a link, not {}", item.kind()),
                    fix,
                );
                None
            }
        };
        links.extend(link.map(|link| (link, item.span.start)));
    }
    links
}

fn decode_link_table(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<TaskLink> {
    let fields = decoder.read_fields(tree, path, LINK_FIELDS)?;
    let Some(entry) = fields.get("task") else {
        decoder.report_bad_value(
            tree,
            path,
            "names no task",
            "Add task = \"…\" with the id it waits for.",
        );
        return None;
    };
    let task_path = ValuePath::Field(&path, "task");
    let id = decoder.read_text(&entry.tree, task_path)?;
    check_id(decoder, id, &entry.tree, task_path)?;
    let mut link = TaskLink::finish_to_start(id);
    let word = |name: &str| fields.get(name).map(|entry| &entry.tree);
    if let Some(tree) = word("kind") {
        link.kind =
            decoder.read_choice(tree, ValuePath::Field(&path, "kind"), KINDS).unwrap_or_default();
    }
    if let Some(tree) = word("lag_basis") {
        let path = ValuePath::Field(&path, "lag_basis");
        link.lag_basis = decoder.read_choice(tree, path, BASES).unwrap_or_default();
    }
    if let Some(tree) = word("origin") {
        link.origin = decoder
            .read_choice(tree, ValuePath::Field(&path, "origin"), ORIGINS)
            .unwrap_or_default();
    }
    if let Some(entry) = fields.get("lag") {
        let path = ValuePath::Field(&path, &entry.key);
        link.lag_minutes = decode_lag(decoder, &entry.tree, path, link.lag_basis).unwrap_or(0);
    }
    Some(link)
}

fn decode_lag(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    basis: LagBasis,
) -> Option<i32> {
    let day = match basis {
        LagBasis::Working => DayLength::Working,
        LagBasis::Elapsed => DayLength::Elapsed,
    };
    let amount = match &tree.value {
        TreeValue::Text(text) => duration::parse_minutes(text, day),
        _ => as_whole_number(tree),
    };
    match amount {
        Some(amount) if amount.abs() <= MAX_LAG => Some(amount as i32),
        Some(amount) => {
            let message = format!("`{path}` is {amount} minutes, an impossible offset");
            let fix = format!("Keep it between -{MAX_LAG} and {MAX_LAG} minutes.");
            let violation = Violation::new("G303", Severity::Repairable, message, fix);
            decoder.report_violation(violation, tree.span.start);
            None
        }
        None => {
            let fix = "Write whole minutes as a number, or \"30m\", \"2h\", \"1d\"; a minus makes it a lead.";
            decoder.report_bad_value(tree, path, "is not a lag", fix);
            None
        }
    }
}
