//! Decodes `when`: a word, or a table with a condition.

use super::decoder::{FieldNames, PlanFileDecoder};
use super::run_settings::WHEN;
use super::task::LocatedTask;
use super::template::{PlanValue, TemplateReference, TemplateScope, check_output_reference};
use super::value_tree::{TreeValue, ValuePath, ValueTree, escape_for_message};
use crate::condition::{ConditionReference, RunExpression, TaskFact};
use planwright_model::{RunCondition, RunKind, Severity, Violation};

/// The fields of `when` as a table.
pub(super) const WHEN_FIELDS: &[FieldNames] = &[("if", &[]), ("on", &[])];

const FIX: &str =
    "Write a condition such as \"params.deploy and tasks.build.outputs.kind == 'full'\".";

const BARE_NAMES: &str =
    "Write names without braces, such as \"params.deploy and vars.kind == 'full'\".";

/// On which end a task runs, and on which further condition.
pub(super) fn decode_when(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<(RunCondition, String)> {
    if let TreeValue::Text(text) = &tree.value
        && text.contains([' ', '.', '('])
    {
        let message = format!("cannot be \"{}\"", escape_for_message(text));
        let fix = match text.trim().trim_start_matches("${{").trim_end_matches("}}").trim() {
            "always()" => "Write when = \"always\".",
            "failure()" => "Write when = \"failed\".",
            "success()" => "Write when = \"success\".",
            _ => "Write when = { if = \"…\" }.",
        };
        decoder.report_bad_value(tree, path, message, fix);
        return None;
    }
    if !matches!(tree.value, TreeValue::Table(_)) {
        return decoder.read_choice(tree, path, WHEN).map(|when| (when, String::new()));
    }
    let fields = decoder.read_fields(tree, path, WHEN_FIELDS)?;
    let at = |name: &str| fields.get(name).map(|entry| &entry.tree);
    let on = match at("on") {
        Some(tree) => decoder.read_choice(tree, ValuePath::Field(&path, "on"), WHEN)?,
        None => RunCondition::Success,
    };
    let Some(condition) = at("if") else {
        decoder.report_bad_value(tree, path, "lacks `if`", FIX);
        return None;
    };
    let text = decoder.read_text(condition, ValuePath::Field(&path, "if"))?;
    Some((on, text.to_owned()))
}

/// Reads the condition of a task and replaces what is known by now. What is wrong with it is reported at its place.
pub(super) fn expand_condition(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &mut ValueTree,
    path: ValuePath<'_>,
    scope: &TemplateScope<'_>,
) {
    let TreeValue::Table(entries) = &mut tree.value else { return };
    let Some(entry) = entries.iter_mut().find(|entry| entry.key == "if") else { return };
    let path = ValuePath::Field(&path, "if");
    let TreeValue::Text(text) = &entry.tree.value else { return };
    let stated = text.trim();
    // People who know it from elsewhere write braces around it.
    let inner = stated.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}"));
    let resolve = |name: &str| match TemplateReference::parse(name) {
        // Whether one is set is what such a condition asks.
        Some(TemplateReference::Environment(name)) => {
            Ok(PlanValue::Text((scope.inputs.env)(&name).unwrap_or_default()))
        }
        Some(reference) => scope.resolve(&reference),
        None => Err((format!("does not know `{name}`"), FIX.to_owned())),
    };
    let mut fault = None;
    match RunExpression::parse(inner.unwrap_or(text)) {
        Err(error) => {
            let at = if inner.is_none() {
                entry.tree.span.start + 1 + error.at
            } else {
                entry.tree.span.start
            };
            let fix = if text.contains("${{") { BARE_NAMES } else { FIX };
            fault = Some((error.message, fix.to_owned(), at));
        }
        Ok(mut condition) => {
            let checked = condition.replace_stated(resolve).and_then(|()| {
                condition.check_types().map_err(|message| (message, FIX.to_owned()))
            });
            match checked {
                Ok(()) => entry.tree.value = TreeValue::Text(condition.to_string()),
                Err((message, fix)) => fault = Some((message, fix, entry.tree.span.start)),
            }
        }
    }
    if let Some((message, fix, at)) = fault {
        let message = format!("`{path}` {message}");
        decoder.report_violation(Violation::new("bad_value", Severity::Fatal, message, fix), at);
        // What was reported once is not looked at again.
        entry.tree.value = TreeValue::Text("true".to_owned());
    }
}

/// Reports conditions that refer to what they cannot know.
pub(super) fn check_conditions(decoder: &mut PlanFileDecoder<'_>, placed: &[LocatedTask]) {
    for one in placed.iter().filter(|one| !one.task.options.run_if.is_empty()) {
        let Ok(condition) = RunExpression::parse(&one.task.options.run_if) else { continue };
        for reference in condition.references() {
            let ConditionReference::Task { task, fact } = reference else { continue };
            if let Some((message, fix)) = find_fault(placed, one, task, fact) {
                let message = format!("the condition of `{}` {message}", one.task.id);
                let violation = Violation::new("bad_value", Severity::Fatal, message, fix);
                let violation = violation.with_nodes([one.task.id.clone()]);
                decoder.report_violation(violation, one.place("when"));
            }
        }
    }
}

fn find_fault(
    placed: &[LocatedTask],
    reader: &LocatedTask,
    task: &planwright_model::TaskId,
    fact: &TaskFact,
) -> Option<(String, String)> {
    if let TaskFact::Output(name) = fact {
        return check_output_reference(placed, &reader.task.id, task, name);
    }
    let Some(other) = placed.iter().find(|other| other.task.id == *task) else {
        let fix = "Write the id of a task that it depends on.".to_owned();
        return Some((format!("refers to the task `{task}`, which is not there"), fix));
    };
    if !reader.links.iter().any(|(link, _)| link.task == *task) {
        let fix = format!("Add `{task}` to its `depends_on`.");
        return Some((format!("refers to `{task}`, but it does not depend on it"), fix));
    }
    if *fact == TaskFact::ExitCode && !matches!(other.task.run, RunKind::Shell(_)) {
        let fix = "Compare its status with 'done', 'failed' or 'skipped'.".to_owned();
        return Some((format!("refers to the exit code of `{task}`, which runs no command"), fix));
    }
    if reader.task.when == RunCondition::Success && !other.task.continue_on_error {
        let fix = "Add on = \"always\" beside `if`.".to_owned();
        let message = format!("asks how `{task}` ended, but it runs only after its success");
        return Some((message, fix));
    }
    None
}
