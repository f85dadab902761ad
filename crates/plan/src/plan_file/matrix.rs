//! Tasks with a matrix: one task for each combination of its values.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::MAX_TASKS;
use super::decoder::PlanFileDecoder;
use super::task::LocatedTask;
use super::template::{PlanValue, decode_value, is_reference_name};
use super::value_tree::{TreeEntry, TreeValue, ValuePath, ValueTree};
use planwright_model::TaskId;

/// The most tasks that one matrix makes.
const MAX_CELLS: usize = 1000;

/// The values of one combination, by name.
pub(super) type MatrixCell = BTreeMap<String, PlanValue>;

/// A task as the file has it, or one that a matrix made of it.
pub(super) struct TaskSource<'t> {
    /// Which task of the file it is, from 0.
    pub(super) index: usize,
    /// Its key, where the tasks are a table.
    pub(super) key: Option<&'t str>,
    pub(super) tree: Cow<'t, ValueTree>,
    pub(super) cell: MatrixCell,
    /// The id of the task whose matrix made it.
    pub(super) origin: Option<TaskId>,
}

/// Makes the tasks of all matrices.
pub(super) fn expand_matrices<'t>(
    decoder: &mut PlanFileDecoder<'_>,
    named: Vec<(Option<&'t str>, &'t ValueTree)>,
    path: ValuePath<'_>,
) -> Vec<TaskSource<'t>> {
    let mut sources = Vec::with_capacity(named.len());
    for (index, (key, tree)) in named.into_iter().enumerate() {
        let Some(matrix) = find_field(tree, "matrix") else {
            let (tree, cell) = (Cow::Borrowed(tree), MatrixCell::new());
            sources.push(TaskSource { index, key, tree, cell, origin: None });
            continue;
        };
        let path = ValuePath::Item(&path, index);
        let Some(base) = base_id(tree, key) else {
            let message = "has a matrix and no id";
            decoder.report_bad_value(tree, path, message, "Add an `id`, such as \"test\".");
            continue;
        };
        let own = ValuePath::Field(&path, "matrix");
        for (values, cell) in decode_cells(decoder, &matrix.tree, own) {
            let id = format!("{base}[{}]", values.join(","));
            let tree = Cow::Owned(cell_tree(tree, &base, &id));
            let origin = Some(TaskId::from(base.as_str()));
            sources.push(TaskSource { index, key: None, tree, cell, origin });
        }
        if sources.len() > MAX_TASKS {
            break;
        }
    }
    sources
}

fn find_field<'t>(tree: &'t ValueTree, name: &str) -> Option<&'t TreeEntry> {
    match &tree.value {
        TreeValue::Table(entries) => entries.iter().find(|entry| entry.key == name),
        _ => None,
    }
}

fn base_id(tree: &ValueTree, key: Option<&str>) -> Option<String> {
    match find_field(tree, "id").map(|entry| &entry.tree.value) {
        Some(TreeValue::Text(id)) => Some(id.clone()),
        _ => key.map(str::to_owned),
    }
}

/// The task of one combination: its id, and the group of all of them.
fn cell_tree(tree: &ValueTree, base: &str, id: &str) -> ValueTree {
    let TreeValue::Table(entries) = &tree.value else { return tree.clone() };
    let mut entries = entries.clone();
    let place = find_field(tree, "id").map_or(tree.span.clone(), |entry| entry.tree.span.clone());
    entries.retain(|entry| entry.key != "id" && entry.key != "matrix");
    let mut add = |name: &str, text: &str| {
        let value = ValueTree { span: place.clone(), value: TreeValue::Text(text.to_owned()) };
        let key_span = place.clone();
        entries.push(TreeEntry { key: name.to_owned(), key_span, tree: value });
    };
    add("id", id);
    if find_field(tree, "group").is_none() {
        add("group", base);
    }
    ValueTree { span: tree.span.clone(), value: TreeValue::Table(entries) }
}

/// All combinations in the order in which they are written, with their values as text.
fn decode_cells(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Vec<(Vec<String>, MatrixCell)> {
    let mut cells: Vec<(Vec<String>, MatrixCell)> = vec![(Vec::new(), MatrixCell::new())];
    let mut axes: BTreeMap<String, Vec<PlanValue>> = BTreeMap::new();
    let entries = decoder.read_table(tree, path).unwrap_or_default();
    for entry in entries.iter().filter(|entry| entry.key != "exclude") {
        let Some(values) = decode_axis(decoder, entry, path) else { return Vec::new() };
        if cells.len() * values.len() > MAX_CELLS {
            let message = format!("makes more than {MAX_CELLS} tasks");
            decoder.report_bad_value(tree, path, message, "Remove values, or split the task.");
            return Vec::new();
        }
        let combined = cells.iter().flat_map(|(words, cell)| {
            values.iter().map(|value| {
                let words = words.iter().cloned().chain([value.to_string()]).collect();
                let mut cell = cell.clone();
                cell.insert(entry.key.clone(), value.clone());
                (words, cell)
            })
        });
        cells = combined.collect();
        axes.insert(entry.key.clone(), values);
    }
    if axes.is_empty() {
        let fix = "Write names with lists of values, such as { os = [\"linux\", \"macos\"] }.";
        decoder.report_bad_value(tree, path, "has no values", fix);
        return Vec::new();
    }
    if let Some(exclude) = entries.iter().find(|entry| entry.key == "exclude") {
        let excluded = decode_exclusions(decoder, &exclude.tree, path, &axes);
        cells.retain(|(_, cell)| !excluded.iter().any(|except| is_covered(cell, except)));
        if cells.is_empty() {
            let own = ValuePath::Field(&path, "exclude");
            let fix = "Remove an entry of `exclude`.";
            decoder.report_bad_value(&exclude.tree, own, "leaves no combination", fix);
        }
    }
    cells
}

/// What other programs write to add single combinations.
fn holds_tables(tree: &ValueTree) -> bool {
    let TreeValue::List(items) = &tree.value else { return false };
    items.iter().any(|item| matches!(item.value, TreeValue::Table(_)))
}

fn decode_axis(
    decoder: &mut PlanFileDecoder<'_>,
    entry: &TreeEntry,
    path: ValuePath<'_>,
) -> Option<Vec<PlanValue>> {
    let path = ValuePath::Field(&path, &entry.key);
    if entry.key == "include" && holds_tables(&entry.tree) {
        let fix = "List all values, and leave combinations out with `exclude`.";
        decoder.report_bad_value(&entry.tree, path, "cannot add combinations", fix);
        return None;
    }
    if !is_reference_name(&entry.key) {
        let fix = "Write a name of letters, digits, `_` and `-`.";
        decoder.report_bad_value(&entry.tree, path, "cannot be referred to by that name", fix);
        return None;
    }
    let mut values: Vec<PlanValue> = Vec::new();
    let mut words = BTreeSet::new();
    for (index, item) in decoder.read_list(&entry.tree, path)?.iter().enumerate() {
        let path = ValuePath::Item(&path, index);
        let value = decode_value(decoder, item, path)?;
        let word = value.to_string();
        if word.is_empty() || word.contains([',', '[', ']']) || !words.insert(word) {
            let fix = "Write each value once, without commas and brackets.";
            decoder.report_bad_value(item, path, "cannot be part of an id", fix);
            return None;
        }
        values.push(value);
    }
    if values.is_empty() {
        decoder.report_bad_value(&entry.tree, path, "has no values", "Add a value.");
        return None;
    }
    Some(values)
}

/// The combinations that are left out, each by some of its values.
fn decode_exclusions(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    axes: &BTreeMap<String, Vec<PlanValue>>,
) -> Vec<MatrixCell> {
    let path = ValuePath::Field(&path, "exclude");
    let mut found = Vec::new();
    for (index, item) in decoder.read_list(tree, path).unwrap_or_default().iter().enumerate() {
        let path = ValuePath::Item(&path, index);
        let mut except = MatrixCell::new();
        for entry in decoder.read_table(item, path).unwrap_or_default() {
            let path = ValuePath::Field(&path, &entry.key);
            let Some(value) = decode_value(decoder, &entry.tree, path) else { continue };
            if axes.get(&entry.key).is_none_or(|values| !values.contains(&value)) {
                let fix = "Write a name and a value of the matrix.";
                decoder.report_bad_value(&entry.tree, path, "is not in the matrix", fix);
                continue;
            }
            except.insert(entry.key.clone(), value);
        }
        // An empty one would leave out everything; what is wrong with it was reported.
        found.extend((!except.is_empty()).then_some(except));
    }
    found
}

fn is_covered(cell: &MatrixCell, except: &MatrixCell) -> bool {
    except.iter().all(|(name, value)| cell.get(name) == Some(value))
}

/// Whoever depends on a task with a matrix depends on all that it made.
pub(super) fn link_matrices(placed: &mut [LocatedTask], origins: &[(TaskId, TaskId)]) {
    if origins.is_empty() {
        return;
    }
    let mut made: BTreeMap<&TaskId, Vec<&TaskId>> = BTreeMap::new();
    for (base, id) in origins {
        made.entry(base).or_default().push(id);
    }
    for placed in placed {
        let links = std::mem::take(&mut placed.links);
        for (link, at) in links {
            match made.get(&link.task) {
                Some(ids) => {
                    for id in ids {
                        let mut link = link.clone();
                        link.task = (*id).clone();
                        placed.links.push((link, at));
                    }
                }
                None => placed.links.push((link, at)),
            }
        }
        placed.task.dependencies = placed.links.iter().map(|(link, _)| link.clone()).collect();
    }
}
