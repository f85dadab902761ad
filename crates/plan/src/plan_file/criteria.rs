//! Decodes exit criteria: plain text, typed tables, or the older form with one criterion a key.

use super::decoder::{Decoder, FieldNames};
use super::tree::{Entry, Path, Tree, Value, shown};
use crate::graph::lists::Separators;
use planwright_model::task::CriterionOn;
use planwright_model::{ExitCriterion, TaskId};
use planwright_text::nearest;

const KINDS: [&str; 5] = ["text", "file_exists", "command", "json_path", "judged"];
const ON: &[(&str, CriterionOn)] =
    &[("success", CriterionOn::Success), ("failure", CriterionOn::Failure)];

pub(super) fn decode(
    decoder: &mut Decoder<'_>,
    tree: &Tree,
    path: Path<'_>,
    task: &TaskId,
) -> Vec<ExitCriterion> {
    match &tree.value {
        Value::Text(text) => {
            let items = decoder.split(text, path, Separators::Plain, task);
            items.into_iter().map(plain).collect()
        }
        Value::Table(entries) => table(decoder, tree, entries, path),
        _ => {
            let items = decoder.list(tree, path).unwrap_or_default();
            let mut criteria = Vec::new();
            for (index, item) in items.iter().enumerate() {
                let path = Path::Item(&path, index);
                if let Value::Table(entries) = &item.value {
                    criteria.extend(table(decoder, item, entries, path));
                } else {
                    let text = decoder.text(item, path).unwrap_or_default().trim();
                    criteria.extend((!text.is_empty()).then(|| plain(text.to_owned())));
                }
            }
            criteria
        }
    }
}

fn plain(text: String) -> ExitCriterion {
    ExitCriterion::Text { text, on: CriterionOn::Success }
}

fn table(
    decoder: &mut Decoder<'_>,
    tree: &Tree,
    entries: &[Entry],
    path: Path<'_>,
) -> Vec<ExitCriterion> {
    let Some(kind) = entries.iter().find(|entry| entry.key == "kind") else {
        return entries.iter().map(|entry| plain(key_and_value(entry))).collect();
    };
    let kind_path = Path::Field(&path, "kind");
    let Some(name) = decoder.text(&kind.tree, kind_path) else { return Vec::new() };
    if let Some(fields) = fields_of(name) {
        typed(decoder, tree, path, name, fields).into_iter().collect()
    } else {
        let fix = match nearest(name, KINDS) {
            Some(near) => format!("Did you mean \"{near}\"?"),
            None => format!("Write one of {}.", KINDS.join(", ")),
        };
        decoder.bad(&kind.tree, kind_path, format!("cannot be \"{}\"", shown(name)), fix);
        Vec::new()
    }
}

fn fields_of(kind: &str) -> Option<&'static [FieldNames]> {
    Some(match kind {
        "text" | "judged" => &[("kind", &[]), ("text", &[]), ("on", &[])],
        "file_exists" => &[("kind", &[]), ("path", &[]), ("on", &[])],
        "command" => &[("kind", &[]), ("command", &[]), ("on", &[])],
        "json_path" => &[("kind", &[]), ("path", &[]), ("equals", &[]), ("on", &[])],
        _ => return None,
    })
}

fn typed(
    decoder: &mut Decoder<'_>,
    tree: &Tree,
    path: Path<'_>,
    kind: &str,
    known: &[FieldNames],
) -> Option<ExitCriterion> {
    let fields = decoder.fields(tree, path, known)?;
    for (name, _) in known.iter().filter(|(name, _)| *name != "on") {
        if !fields.contains_key(name) {
            let message = format!("lacks `{name}`, which a {kind} criterion needs");
            decoder.bad(tree, path, message, format!("Add `{name}`."));
            return None;
        }
    }
    let on = match fields.get("on") {
        Some(entry) => decoder.choice(&entry.tree, Path::Field(&path, "on"), ON)?,
        None => CriterionOn::Success,
    };
    let mut text = |name: &str| {
        let text = decoder.text(&fields.get(name)?.tree, Path::Field(&path, name))?;
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

fn key_and_value(entry: &Entry) -> String {
    match &entry.tree.value {
        Value::Text(text) => format!("{}={text}", entry.key),
        _ => format!("{}={}", entry.key, entry.tree.to_json()),
    }
}
