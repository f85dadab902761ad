//! Decodes exit criteria: plain text, typed tables, or the older form with one criterion per key.

use super::decoder::{FieldNames, PlanFileDecoder};
use super::value_tree::{TreeEntry, TreeValue, ValuePath, ValueTree, escape_for_message};
use crate::graph::text_lists::ListSeparators;
use planwright_model::task::CriterionEffect;
use planwright_model::{ExitCriterion, TaskId};
use planwright_text::nearest_name;

const KINDS: [&str; 5] = ["text", "file_exists", "command", "json_path", "judged"];
const ON: &[(&str, CriterionEffect)] =
    &[("success", CriterionEffect::Success), ("failure", CriterionEffect::Failure)];

pub(super) fn decode_criteria(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    task: &TaskId,
) -> Vec<ExitCriterion> {
    match &tree.value {
        TreeValue::Text(text) => {
            let items = decoder.split_text(text, path, ListSeparators::Plain, task);
            items.into_iter().map(text_criterion).collect()
        }
        TreeValue::Table(entries) => decode_criterion_table(decoder, tree, entries, path),
        _ => {
            let items = decoder.read_list(tree, path).unwrap_or_default();
            let mut criteria = Vec::new();
            for (index, item) in items.iter().enumerate() {
                let path = ValuePath::Item(&path, index);
                if let TreeValue::Table(entries) = &item.value {
                    criteria.extend(decode_criterion_table(decoder, item, entries, path));
                } else {
                    let text = decoder.read_text(item, path).unwrap_or_default().trim();
                    criteria.extend((!text.is_empty()).then(|| text_criterion(text.to_owned())));
                }
            }
            criteria
        }
    }
}

fn text_criterion(text: String) -> ExitCriterion {
    ExitCriterion::Text { text, on: CriterionEffect::Success }
}

fn decode_criterion_table(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    entries: &[TreeEntry],
    path: ValuePath<'_>,
) -> Vec<ExitCriterion> {
    let Some(kind) = entries.iter().find(|entry| entry.key == "kind") else {
        return entries.iter().map(|entry| text_criterion(key_and_value(entry))).collect();
    };
    let kind_path = ValuePath::Field(&path, "kind");
    let Some(name) = decoder.read_text(&kind.tree, kind_path) else { return Vec::new() };
    if let Some(fields) = criterion_fields(name) {
        decode_typed_criterion(decoder, tree, path, name, fields).into_iter().collect()
    } else {
        let fix = match nearest_name(name, KINDS) {
            Some(near) => format!("Did you mean \"{near}\"?"),
            None => format!("Write one of {}.", KINDS.join(", ")),
        };
        decoder.report_bad_value(
            &kind.tree,
            kind_path,
            format!("cannot be \"{}\"", escape_for_message(name)),
            fix,
        );
        Vec::new()
    }
}

fn criterion_fields(kind: &str) -> Option<&'static [FieldNames]> {
    Some(match kind {
        "text" | "judged" => &[("kind", &[]), ("text", &[]), ("on", &[])],
        "file_exists" => &[("kind", &[]), ("path", &[]), ("on", &[])],
        "command" => &[("kind", &[]), ("command", &[]), ("on", &[])],
        "json_path" => &[("kind", &[]), ("path", &[]), ("equals", &[]), ("on", &[])],
        _ => return None,
    })
}

fn decode_typed_criterion(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    kind: &str,
    known: &[FieldNames],
) -> Option<ExitCriterion> {
    let fields = decoder.read_fields(tree, path, known)?;
    for (name, _) in known.iter().filter(|(name, _)| *name != "on") {
        if !fields.contains_key(name) {
            let message = format!("lacks `{name}`, which a {kind} criterion needs");
            decoder.report_bad_value(tree, path, message, format!("Add `{name}`."));
            return None;
        }
    }
    let on = match fields.get("on") {
        Some(entry) => decoder.read_choice(&entry.tree, ValuePath::Field(&path, "on"), ON)?,
        None => CriterionEffect::Success,
    };
    let mut text = |name: &str| {
        let text = decoder.read_text(&fields.get(name)?.tree, ValuePath::Field(&path, name))?;
        Some(text.to_owned())
    };
    Some(match kind {
        "text" => ExitCriterion::Text { text: text("text")?, on },
        "judged" => ExitCriterion::Judged { text: text("text")?, on },
        "file_exists" => ExitCriterion::FileExists { path: text("path")?, on },
        "command" => ExitCriterion::Command { command: text("command")?, on },
        _ => ExitCriterion::JsonPath {
            path: text("path")?,
            equals: fields.get("equals")?.tree.to_json(),
            on,
        },
    })
}

fn key_and_value(entry: &TreeEntry) -> String {
    match &entry.tree.value {
        TreeValue::Text(text) => format!("{}={text}", entry.key),
        _ => format!("{}={}", entry.key, entry.tree.to_json()),
    }
}
