//! Files that a plan file includes: their tasks, variables and resources become part of it.
//!
//! The texts of all files are put together, so that every value has one position; whoever reports it says in which file.

use super::value_tree::{TreeEntry, TreeValue, ValueTree};
use super::{MAX_BYTES, PlanFileFormat, PlanFileInputs, json, toml};

/// What an included file may have.
const FIELDS: [&str; 4] = ["tasks", "vars", "resources", "pools"];
const MAX_INCLUDES: usize = 50;

/// Where the text of an included file begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextSegment {
    pub(super) name: String,
    pub(super) start: usize,
}

/// The texts of a file and of all that it includes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JoinedText {
    pub(super) text: String,
    pub(super) segments: Vec<TextSegment>,
}

/// What is wrong with an include: message, remedy and position.
pub(super) type IncludeFault = (String, String, usize);

/// Adds what a file includes to its tree.
pub(super) fn merge_includes(
    tree: &mut ValueTree,
    text: &str,
    inputs: &PlanFileInputs<'_>,
) -> (JoinedText, Vec<IncludeFault>) {
    let mut joined = JoinedText { text: text.to_owned(), segments: Vec::new() };
    let mut faults = Vec::new();
    for (name, at) in included_names(tree, &mut faults) {
        let read = (inputs.include)(&name);
        let own = match read {
            Ok(own) if joined.text.len() + own.len() < MAX_BYTES as usize => own,
            Ok(_) => {
                let message = format!("`include` makes the plan larger than {MAX_BYTES} bytes");
                faults.push((message, "Include less.".to_owned(), at));
                continue;
            }
            Err(why) => {
                let message = format!("`include` names {name}, which cannot be read: {why}");
                let fix = "Write a path seen from the plan file, below its directory.".to_owned();
                faults.push((message, fix, at));
                continue;
            }
        };
        joined.text.push('\n');
        let start = joined.text.len();
        joined.segments.push(TextSegment { name: name.clone(), start });
        joined.text.push_str(&own);
        match parse_included(&name, &own, start) {
            Ok(part) => merge_tree(tree, part, &mut faults),
            Err(found) => faults.extend(found),
        }
    }
    (joined, faults)
}

/// The names of the files, with their positions.
fn included_names(tree: &ValueTree, faults: &mut Vec<IncludeFault>) -> Vec<(String, usize)> {
    let TreeValue::Table(entries) = &tree.value else { return Vec::new() };
    let Some(entry) = entries.iter().find(|entry| entry.key == "include") else {
        return Vec::new();
    };
    let mut report = |tree: &ValueTree, message: &str| {
        let fix = "Write a list of files, such as [\"lib.toml\"].".to_owned();
        faults.push((message.to_owned(), fix, tree.span.start));
    };
    let TreeValue::List(items) = &entry.tree.value else {
        report(&entry.tree, "`include` must be a list");
        return Vec::new();
    };
    if items.len() > MAX_INCLUDES {
        report(&entry.tree, "`include` has more than 50 files");
        return Vec::new();
    }
    let mut names = Vec::new();
    for item in items {
        match &item.value {
            TreeValue::Text(name) if !name.trim().is_empty() => {
                names.push((name.clone(), item.span.start));
            }
            _ => report(item, "`include` must be a list of texts"),
        }
    }
    names
}

fn parse_included(name: &str, text: &str, start: usize) -> Result<ValueTree, Vec<IncludeFault>> {
    let parsed = match PlanFileFormat::detect(name, text) {
        PlanFileFormat::Json => json::parse_json(text).map_err(|error| vec![error]),
        PlanFileFormat::Toml => toml::parse_toml(text),
        PlanFileFormat::Markdown => {
            let message = format!("{name} is a checklist, which cannot be included");
            return Err(vec![(message, "Include TOML or JSON.".to_owned(), start)]);
        }
    };
    let mut tree = parsed.map_err(|errors| {
        let fix = "Correct the syntax at this place.".to_owned();
        let fault = |error: json::SyntaxError| {
            (format!("not valid: {}", error.message), fix.clone(), start + error.at)
        };
        errors.into_iter().map(fault).collect::<Vec<_>>()
    })?;
    shift_tree(&mut tree, start);
    Ok(tree)
}

fn shift_tree(tree: &mut ValueTree, by: usize) {
    tree.span = tree.span.start + by..tree.span.end + by;
    match &mut tree.value {
        TreeValue::List(items) => items.iter_mut().for_each(|item| shift_tree(item, by)),
        TreeValue::Table(entries) => {
            for entry in entries {
                entry.key_span = entry.key_span.start + by..entry.key_span.end + by;
                shift_tree(&mut entry.tree, by);
            }
        }
        _ => {}
    }
}

/// Adds the fields of an included file. What the including file states itself goes first.
fn merge_tree(tree: &mut ValueTree, part: ValueTree, faults: &mut Vec<IncludeFault>) {
    let (TreeValue::Table(own), at) = (&mut tree.value, part.span.start) else { return };
    let TreeValue::Table(entries) = part.value else {
        let fix = "Write [[tasks]], [vars] or [resources] in it.".to_owned();
        faults.push(("an included file must be a table".to_owned(), fix, at));
        return;
    };
    for mut entry in entries {
        if entry.key == "nodes" {
            "tasks".clone_into(&mut entry.key);
        }
        if !FIELDS.contains(&entry.key.as_str()) {
            let message = format!("`{}` cannot be in an included file", entry.key);
            let fix = format!("Keep {} there, and the rest in the plan itself.", FIELDS.join(", "));
            faults.push((message, fix, entry.key_span.start));
            continue;
        }
        let same = |known: &&mut TreeEntry| {
            known.key == entry.key || (entry.key == "tasks" && known.key == "nodes")
        };
        match own.iter_mut().find(same) {
            None => own.push(entry),
            Some(known) if entry.key == "tasks" => merge_tasks(&mut known.tree, entry.tree),
            Some(known) => merge_table(&mut known.tree, entry.tree),
        }
    }
}

fn merge_table(known: &mut ValueTree, part: ValueTree) {
    if let (TreeValue::Table(own), TreeValue::Table(entries)) = (&mut known.value, part.value) {
        for entry in entries {
            if !own.iter().any(|known| known.key == entry.key) {
                own.push(entry);
            }
        }
    }
}

/// Tasks become one list, whichever way each file writes them.
fn merge_tasks(known: &mut ValueTree, part: ValueTree) {
    let mut tasks = task_list(std::mem::replace(&mut known.value, TreeValue::Null));
    tasks.extend(task_list(part.value));
    known.value = TreeValue::List(tasks);
}

fn task_list(value: TreeValue) -> Vec<ValueTree> {
    match value {
        TreeValue::List(items) => items,
        TreeValue::Table(entries) => entries.into_iter().map(named_task).collect(),
        _ => Vec::new(),
    }
}

/// A task of a table, with its key as its id.
fn named_task(entry: TreeEntry) -> ValueTree {
    let TreeEntry { key, key_span, mut tree } = entry;
    if let TreeValue::Table(fields) = &mut tree.value
        && !fields.iter().any(|field| field.key == "id")
    {
        let id = ValueTree { span: key_span.clone(), value: TreeValue::Text(key) };
        fields.push(TreeEntry { key: "id".to_owned(), key_span, tree: id });
    }
    tree
}
