//! Replaces templates in the tree of a file: everything that is known before a run.

use std::collections::BTreeMap;

use super::shell_quoting::{ShellLexer, quote_value};
use super::{
    PlanValue, PlanValues, TemplatePiece, TemplateReference, has_template, split_template,
};
use crate::plan_file::PlanFileInputs;
use crate::plan_file::conditions::expand_condition;
use crate::plan_file::decoder::PlanFileDecoder;
use crate::plan_file::run_settings::is_variable_name;
use crate::plan_file::value_tree::{
    TreeEntry, TreeValue, ValuePath, ValueTree, escape_for_message,
};
use planwright_model::{Severity, Violation};
use planwright_text::nearest_name;

/// The values that templates may refer to.
#[derive(Clone)]
pub(in crate::plan_file) struct TemplateScope<'i> {
    pub(in crate::plan_file) values: PlanValues,
    /// The cell of a matrix.
    pub(in crate::plan_file) cell: BTreeMap<String, PlanValue>,
    pub(in crate::plan_file) inputs: &'i PlanFileInputs<'i>,
}

impl<'i> TemplateScope<'i> {
    pub(in crate::plan_file) fn new(values: PlanValues, inputs: &'i PlanFileInputs<'i>) -> Self {
        Self { values, cell: BTreeMap::new(), inputs }
    }

    /// The value of a reference, or what is wrong with it and what to write instead. Outputs have none yet.
    pub(in crate::plan_file) fn resolve(
        &self,
        reference: &TemplateReference,
    ) -> Result<PlanValue, (String, String)> {
        let find = |values: &BTreeMap<String, PlanValue>, name: &str, what: &str, place: &str| {
            values.get(name).cloned().ok_or_else(|| {
                let fix = match nearest_name(name, values.keys().map(String::as_str)) {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => format!("Declare it under {place}."),
                };
                (format!("refers to the {what} `{name}`, which is not declared"), fix)
            })
        };
        match reference {
            TemplateReference::Variable(name) => {
                find(&self.values.variables, name, "variable", "[vars]")
            }
            TemplateReference::Parameter(name) => {
                find(&self.values.parameters, name, "parameter", "[params]")
            }
            TemplateReference::Matrix(name) => {
                find(&self.cell, name, "matrix value", "`matrix` of the task")
            }
            TemplateReference::Environment(name) => match (self.inputs.env)(name) {
                Some(value) => Ok(PlanValue::Text(value)),
                None if !self.inputs.needs_all => Ok(PlanValue::Text(format!("<{name}>"))),
                None => Err((
                    format!("refers to the environment variable {name}, which is not set"),
                    format!("Set {name}, or use a parameter with a default."),
                )),
            },
            TemplateReference::Output { .. } => Err((
                "refers to an output, which is known only while the plan runs".to_owned(),
                "Use outputs in commands, in `env` and in `when`.".to_owned(),
            )),
        }
    }
}

/// What a text is for, which decides how values are put into it.
#[derive(Clone, Copy)]
enum TextUse<'s> {
    Plain,
    /// A command for this shell.
    Command(&'s [String]),
    /// The value of a variable, which may contain outputs.
    Environment,
}

/// Replaces templates in what the plan itself states.
pub(in crate::plan_file) fn expand_plan(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &mut ValueTree,
    scope: &TemplateScope<'_>,
) {
    let TreeValue::Table(entries) = &mut tree.value else { return };
    for entry in entries {
        let is_later =
            ["vars", "params", "tasks", "nodes", "include"].contains(&entry.key.as_str());
        if !is_later {
            let path = ValuePath::Field(&ValuePath::Root, &entry.key);
            let use_ = if entry.key == "defaults" { TextUse::Environment } else { TextUse::Plain };
            expand_tree(decoder, &mut entry.tree, path, use_, scope);
        }
    }
}

/// Replaces templates in a task. `shell` is the program that its commands are given to, unless it states its own.
pub(in crate::plan_file) fn expand_task(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &mut ValueTree,
    path: ValuePath<'_>,
    shell: &[String],
    scope: &TemplateScope<'_>,
) {
    let TreeValue::Table(entries) = &mut tree.value else { return };
    let own = entries.iter().find(|entry| entry.key == "shell").map(|entry| words(&entry.tree));
    let shell = own.as_deref().unwrap_or(shell).to_vec();
    for entry in entries {
        let path = ValuePath::Field(&path, &entry.key);
        match entry.key.as_str() {
            // Conditions have a language of their own, and anything may be in metadata.
            "metadata" => {}
            "when" => expand_condition(decoder, &mut entry.tree, path, scope),
            "env" => expand_tree(decoder, &mut entry.tree, path, TextUse::Environment, scope),
            "run" | "exit_criteria" | "criteria" | "service" => {
                expand_commands(decoder, &mut entry.tree, path, &shell, scope);
            }
            _ => expand_tree(decoder, &mut entry.tree, path, TextUse::Plain, scope),
        }
    }
}

/// Whether a task states a condition.
pub(in crate::plan_file) fn has_condition(tree: &ValueTree) -> bool {
    let is_condition =
        |entry: &TreeEntry| entry.key == "when" && matches!(entry.tree.value, TreeValue::Table(_));
    matches!(&tree.value, TreeValue::Table(entries) if entries.iter().any(is_condition))
}

/// The program that commands are given to, by `[defaults]`.
pub(in crate::plan_file) fn default_shell(tree: &ValueTree) -> Vec<String> {
    let TreeValue::Table(entries) = &tree.value else { return Vec::new() };
    let shell = entries.iter().find(|entry| entry.key == "shell");
    shell.map(|entry| words(&entry.tree)).unwrap_or_default()
}

/// The texts of a list.
fn words(tree: &ValueTree) -> Vec<String> {
    let text = |item: &ValueTree| match &item.value {
        TreeValue::Text(text) => Some(text.clone()),
        _ => None,
    };
    match &tree.value {
        TreeValue::List(items) => items.iter().filter_map(text).collect(),
        _ => Vec::new(),
    }
}

/// Replaces templates where commands are beside other texts.
fn expand_commands(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &mut ValueTree,
    path: ValuePath<'_>,
    shell: &[String],
    scope: &TemplateScope<'_>,
) {
    match &mut tree.value {
        TreeValue::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                expand_commands(decoder, item, ValuePath::Item(&path, index), shell, scope);
            }
        }
        TreeValue::Table(entries) => {
            for entry in entries {
                let path = ValuePath::Field(&path, &entry.key);
                let is_command = ["shell", "command", "ready"].contains(&entry.key.as_str());
                let use_ = if is_command { TextUse::Command(shell) } else { TextUse::Plain };
                expand_tree(decoder, &mut entry.tree, path, use_, scope);
            }
        }
        _ => expand_tree(decoder, tree, path, TextUse::Plain, scope),
    }
}

fn expand_tree(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &mut ValueTree,
    path: ValuePath<'_>,
    use_: TextUse<'_>,
    scope: &TemplateScope<'_>,
) {
    match &mut tree.value {
        TreeValue::Text(_) => expand_text_for(decoder, tree, path, use_, scope),
        TreeValue::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                expand_tree(decoder, item, ValuePath::Item(&path, index), use_, scope);
            }
        }
        TreeValue::Table(entries) => {
            for entry in entries {
                let path = ValuePath::Field(&path, &entry.key);
                expand_tree(decoder, &mut entry.tree, path, use_, scope);
            }
        }
        _ => {}
    }
}

/// Replaces templates in a text that is no command.
pub(in crate::plan_file) fn expand_text(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &mut ValueTree,
    path: ValuePath<'_>,
    scope: &TemplateScope<'_>,
) {
    expand_text_for(decoder, tree, path, TextUse::Plain, scope);
}

fn expand_text_for(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &mut ValueTree,
    path: ValuePath<'_>,
    use_: TextUse<'_>,
    scope: &TemplateScope<'_>,
) {
    let TreeValue::Text(text) = &tree.value else { return };
    if !has_template(text) {
        return;
    }
    let text = text.clone();
    // A value that is all of a text keeps its type: timeout = "${{ params.limit }}".
    if let (TextUse::Plain, [TemplatePiece::Reference(body)]) = (use_, &*split_template(&text))
        && let Some(Ok(value)) = TemplateReference::parse(body).map(|it| scope.resolve(&it))
    {
        tree.value = match value {
            PlanValue::Text(text) => TreeValue::Text(text),
            PlanValue::Integer(number) => TreeValue::Integer(number),
            PlanValue::Boolean(value) => TreeValue::Bool(value),
        };
        return;
    }
    let expanded = expand_pieces(&text, use_, scope);
    match expanded {
        Ok((text, unknown)) => {
            tree.value = TreeValue::Text(text);
            if let Some(body) = unknown {
                report_unknown(decoder, tree, path, &body, scope);
            }
        }
        Err((message, fix)) => decoder.report_bad_value(tree, path, message, fix),
    }
}

/// The text with its values, and the first template that a plan file does not know.
fn expand_pieces(
    text: &str,
    use_: TextUse<'_>,
    scope: &TemplateScope<'_>,
) -> Result<(String, Option<String>), (String, String)> {
    let shell = match use_ {
        TextUse::Command(shell) => shell,
        TextUse::Plain | TextUse::Environment => &[],
    };
    let (mut lexer, mut out, mut unknown) = (ShellLexer::new(shell, text), String::new(), None);
    for piece in split_template(text) {
        let start = out.len();
        match piece {
            TemplatePiece::Text(text) => out.push_str(text),
            // Outputs are looked for later in commands and variables, and then their escapes are removed as well.
            TemplatePiece::Escape if matches!(use_, TextUse::Plain) => out.push_str("${{"),
            TemplatePiece::Escape => out.push_str("$${{"),
            TemplatePiece::Unclosed(rest) => {
                unknown.get_or_insert_with(|| rest.to_owned());
                out.push_str(rest);
            }
            TemplatePiece::Reference(body) => {
                let whole = format!("${{{{{body}}}}}");
                match TemplateReference::parse(body) {
                    None => {
                        unknown.get_or_insert_with(|| whole.clone());
                        out.push_str(&whole);
                    }
                    Some(TemplateReference::Output { .. }) if !matches!(use_, TextUse::Plain) => {
                        out.push_str(&whole);
                    }
                    Some(reference) => {
                        let value = scope.resolve(&reference)?.to_string();
                        out.push_str(&insert_value(body.trim(), &value, use_, &lexer)?);
                        lexer.pass_value();
                        continue;
                    }
                }
            }
        }
        lexer.read(&out[start..]);
    }
    Ok((out, unknown))
}

fn insert_value(
    name: &str,
    value: &str,
    use_: TextUse<'_>,
    lexer: &ShellLexer,
) -> Result<String, (String, String)> {
    if has_template(value) {
        let fix = "Change the value: it would be read as a template again.".to_owned();
        return Err((format!("refers to `{name}`, whose value contains {}", "${{"), fix));
    }
    match use_ {
        TextUse::Plain | TextUse::Environment => Ok(value.to_owned()),
        TextUse::Command(_) => quote_value(value, lexer.context()).ok_or_else(|| {
            let message = format!("uses `{name}` where its value cannot be quoted safely");
            let fix = format!(
                "Put it into a variable, env = {{ VALUE = \"${{{{ {name} }}}}\" }}, and write \"$VALUE\"."
            );
            (message, fix)
        }),
    }
}

/// What to write instead of a template of another program.
fn unknown_template_fix(body: &str) -> String {
    let inside = body.trim_start_matches("${{").trim_end_matches("}}").trim();
    match inside.split_once('.') {
        Some(("secrets", name)) if is_variable_name(name) => {
            format!("Add secrets = [\"{name}\"] to the task, and write \"${name}\" in its command.")
        }
        Some(("tasks", rest)) if rest.ends_with(".status") || rest.ends_with(".exit_code") => {
            "Only conditions know how a task ended: when = { if = \"tasks.ID.status == 'failed'\", on = \"always\" }."
                .to_owned()
        }
        Some((runner @ ("github" | "runner"), name)) if is_variable_name(name) => {
            let variable = format!("{runner}_{name}").to_uppercase();
            format!("Write {} env.{variable} }}}}.", "${{")
        }
        _ => "Write vars, params, env, matrix or tasks.ID.outputs and a name; $${{ stands for ${{."
            .to_owned(),
    }
}

/// Files that declare nothing for templates are older than they are: braces stay as they were written.
fn report_unknown(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    body: &str,
    scope: &TemplateScope<'_>,
) {
    let shown = escape_for_message(body);
    let fix = unknown_template_fix(body);
    if scope.values.is_declared || !scope.cell.is_empty() {
        decoder.report_bad_value(
            tree,
            path,
            format!("contains `{shown}`, which refers to nothing"),
            fix,
        );
    } else {
        let message = format!("`{path}` contains `{shown}`, which is left as it is written");
        let violation = Violation::new("unknown_template", Severity::Warning, message, fix);
        decoder.report_violation(violation, tree.span.start);
    }
}
