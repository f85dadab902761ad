//! Decodes what a command leaves behind: outputs for other tasks, and artifacts.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use super::decoder::PlanFileDecoder;
use super::template::is_reference_name;
use super::value_tree::{ValuePath, ValueTree, escape_for_message};
use planwright_model::TaskOutputSource;

/// How many outputs and patterns a task may have.
const MAX_RESULTS: usize = 100;

/// Decodes outputs by name.
pub(super) fn decode_outputs(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<BTreeMap<String, TaskOutputSource>> {
    let mut outputs = BTreeMap::new();
    let entries = decoder.read_table(tree, path)?;
    if entries.len() > MAX_RESULTS {
        let message = format!("has more than {MAX_RESULTS} entries");
        decoder.report_bad_value(tree, path, message, "Write a file with all of them.");
        return None;
    }
    for entry in entries {
        let path = ValuePath::Field(&path, &entry.key);
        if !is_reference_name(&entry.key) {
            let fix = "Write a name of letters, digits, `_` and `-`.";
            decoder.report_bad_value(&entry.tree, path, "cannot be referred to by that name", fix);
            continue;
        }
        let text = decoder.read_text(&entry.tree, path)?;
        let source = match text.split_once(':') {
            None if text == "last_line" => Some(TaskOutputSource::LastLine),
            None if text == "key" => Some(TaskOutputSource::Key(entry.key.clone())),
            Some(("key", key)) if !key.trim().is_empty() && !key.contains(['=', '\n']) => {
                Some(TaskOutputSource::Key(key.trim().to_owned()))
            }
            Some(("file", file)) => {
                let Some(file) = check_inside(decoder, &entry.tree, path, file) else { continue };
                Some(TaskOutputSource::File(file))
            }
            _ => None,
        };
        if let Some(source) = source {
            outputs.insert(entry.key.clone(), source);
            continue;
        }
        let message = format!("cannot be \"{}\"", escape_for_message(text));
        let fix = "Write \"last_line\", \"key\", \"key:NAME\" or \"file:PATH\".";
        decoder.report_bad_value(&entry.tree, path, message, fix);
    }
    Some(outputs)
}

/// Decodes patterns of files in the workspace.
pub(super) fn decode_patterns(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<Vec<String>> {
    let items = decoder.read_list(tree, path)?;
    let mut patterns = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = ValuePath::Item(&path, index);
        let text = decoder.read_text(item, path)?;
        let Some(pattern) = check_inside(decoder, item, path, text) else { continue };
        if let Err(error) = globset::Glob::new(&pattern) {
            let message = format!("is not a pattern: {}", error.kind());
            let fix = "Write a pattern such as \"dist/**\"; \\ before a letter means that letter.";
            decoder.report_bad_value(item, path, message, fix);
            continue;
        }
        patterns.push(pattern);
    }
    if patterns.len() > MAX_RESULTS {
        let message = format!("has more than {MAX_RESULTS} entries");
        decoder.report_bad_value(tree, path, message, "Write wider patterns, such as \"dist/**\".");
        return None;
    }
    Some(patterns)
}

/// Returns a path or pattern that stays inside the workspace; anything else is reported.
pub(super) fn check_inside(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    text: &str,
) -> Option<String> {
    let is_inside = Path::new(text)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if text.trim().is_empty() || text.contains(['\0', '\n']) || !is_inside {
        let shown = escape_for_message(text);
        let message = format!("is \"{shown}\", which is not inside the workspace");
        let fix = "Write a path below the workspace, such as \"dist/app.tar.gz\", without `..`.";
        decoder.report_bad_value(tree, path, message, fix);
        return None;
    }
    Some(text.to_owned())
}
