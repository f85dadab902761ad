//! Refuses secrets that are written into a plan file where a run would use them.

use super::PlanFileInputs;
use super::decoder::PlanFileDecoder;
use super::value_tree::{TreeValue, ValuePath, ValueTree};

/// What takes part in a run: of the plan, and of a task. Titles and descriptions are only read, and covered when they are.
const PLAN_FIELDS: [&str; 4] = ["vars", "params", "defaults", "notify"];
const TASK_FIELDS: [&str; 10] = [
    "run",
    "env",
    "shell",
    "cwd",
    "exit_criteria",
    "criteria",
    "service",
    "secrets",
    "matrix",
    "pass_env",
];

/// Reports every text with a secret in it, at its place.
pub(super) fn refuse_secret_values(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    inputs: &PlanFileInputs<'_>,
) {
    let TreeValue::Table(entries) = &tree.value else { return };
    for entry in entries {
        let path = ValuePath::Field(&ValuePath::Root, &entry.key);
        match entry.key.as_str() {
            "tasks" | "nodes" => check_tasks(decoder, &entry.tree, path, inputs),
            name if PLAN_FIELDS.contains(&name) => {
                check_texts(decoder, &entry.tree, path, inputs);
            }
            _ => {}
        }
    }
}

/// Tasks are a list, or a table by id.
fn check_tasks(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    inputs: &PlanFileInputs<'_>,
) {
    let mut check = |task: &ValueTree, path: ValuePath<'_>| {
        let TreeValue::Table(fields) = &task.value else { return };
        for field in fields.iter().filter(|field| TASK_FIELDS.contains(&field.key.as_str())) {
            check_texts(decoder, &field.tree, ValuePath::Field(&path, &field.key), inputs);
        }
    };
    match &tree.value {
        TreeValue::List(tasks) => {
            for (index, task) in tasks.iter().enumerate() {
                check(task, ValuePath::Item(&path, index));
            }
        }
        TreeValue::Table(tasks) => {
            for task in tasks {
                check(&task.tree, ValuePath::Field(&path, &task.key));
            }
        }
        _ => {}
    }
}

fn check_texts(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    inputs: &PlanFileInputs<'_>,
) {
    match &tree.value {
        TreeValue::Text(text) => {
            if let Some((problem, fix)) = (inputs.find_secret)(text) {
                decoder.report_bad_value(tree, path, problem, fix);
            }
        }
        TreeValue::List(items) => {
            for (index, item) in items.iter().enumerate() {
                check_texts(decoder, item, ValuePath::Item(&path, index), inputs);
            }
        }
        TreeValue::Table(entries) => {
            for entry in entries {
                check_texts(decoder, &entry.tree, ValuePath::Field(&path, &entry.key), inputs);
            }
        }
        _ => {}
    }
}
