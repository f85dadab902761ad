//! Outputs of other tasks in commands and variables. A command reads them as variables, so that no output is ever part
//! of what the shell parses, and what is approved is what runs.

use std::collections::{BTreeMap, BTreeSet};

use super::shell_quoting::{ShellLexer, read_variable};
use super::{TemplatePiece, TemplateReference, has_template, split_template};
use crate::plan_file::decoder::PlanFileDecoder;
use crate::plan_file::task::LocatedTask;
use planwright_model::{ExitCriterion, RunKind, Severity, TaskId, ValuePart, Violation};
use planwright_text::nearest_name;

/// What begins the name of a variable that holds an output.
const PREFIX: &str = "PLANWRIGHT_OUT_";

/// Which outputs tasks have, and which tasks come before each.
struct OutputIndex {
    outputs: BTreeMap<TaskId, BTreeSet<String>>,
    links: BTreeMap<TaskId, Vec<TaskId>>,
}

impl OutputIndex {
    fn new(placed: &[LocatedTask]) -> Self {
        let outputs = placed.iter().map(|placed| {
            (placed.task.id.clone(), placed.task.options.outputs.keys().cloned().collect())
        });
        let links = placed.iter().map(|placed| {
            let on = placed.links.iter().filter(|(link, _)| link.blocks_execution());
            (placed.task.id.clone(), on.map(|(link, _)| link.task.clone()).collect())
        });
        Self { outputs: outputs.collect(), links: links.collect() }
    }

    fn comes_before(&self, task: &TaskId, other: &TaskId) -> bool {
        let (mut stack, mut seen) = (vec![other], BTreeSet::new());
        while let Some(next) = stack.pop() {
            for before in self.links.get(next).into_iter().flatten() {
                if before == task {
                    return true;
                }
                if seen.insert(before) {
                    stack.push(before);
                }
            }
        }
        false
    }

    /// What is wrong with a reference, and what to write instead.
    fn find_fault(&self, reader: &TaskId, task: &TaskId, name: &str) -> Option<(String, String)> {
        let Some(outputs) = self.outputs.get(task) else {
            let near = nearest_name(task.as_str(), self.outputs.keys().map(TaskId::as_str));
            let fix = near.map_or_else(
                || "Write the id of a task of the plan.".to_owned(),
                |near| format!("Did you mean `{near}`?"),
            );
            return Some((format!("refers to the task `{task}`, which is not there"), fix));
        };
        if !outputs.contains(name) {
            let fix = match nearest_name(name, outputs.iter().map(String::as_str)) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => format!("Add outputs = {{ {name} = \"last_line\" }} to `{task}`."),
            };
            return Some((format!("refers to `{name}`, which is no output of `{task}`"), fix));
        }
        if !self.comes_before(task, reader) {
            let fix = format!("Add `{task}` to its `depends_on`.");
            return Some((format!("uses an output of `{task}` but does not depend on it"), fix));
        }
        None
    }
}

/// Checks a reference to an output from elsewhere, such as a condition.
pub(in crate::plan_file) fn check_output_reference(
    placed: &[LocatedTask],
    reader: &TaskId,
    task: &TaskId,
    name: &str,
) -> Option<(String, String)> {
    OutputIndex::new(placed).find_fault(reader, task, name)
}

/// Turns references to outputs into variables, and reports those that nothing will meet.
pub(in crate::plan_file) fn bind_outputs(
    decoder: &mut PlanFileDecoder<'_>,
    placed: &mut [LocatedTask],
) {
    let is_concerned = |placed: &LocatedTask| {
        let command = matches!(&placed.task.run, RunKind::Shell(command) if has_template(command));
        let check = |criterion: &ExitCriterion| matches!(criterion, ExitCriterion::Command { command, .. } if has_template(command));
        command
            || placed.task.env.values().any(|value| has_template(value))
            || placed.task.exit_criteria.iter().any(check)
    };
    if !placed.iter().any(is_concerned) {
        return;
    }
    let index = OutputIndex::new(placed);
    for placed in placed.iter_mut().filter(|placed| is_concerned(placed)) {
        for (field, message, fix) in bind_task(placed, &index) {
            let message = format!("`{}` {message}", placed.task.id);
            let violation = Violation::new("bad_value", Severity::Fatal, message, fix);
            let violation = violation.with_nodes([placed.task.id.clone()]);
            decoder.report_violation(violation, placed.place(field));
        }
    }
}

/// What is wrong with a field: its name, the message and the remedy.
type FieldFault = (&'static str, String, String);

fn bind_task(placed: &mut LocatedTask, index: &OutputIndex) -> Vec<FieldFault> {
    let mut faults = Vec::new();
    let mut binder = OutputBinder { index, reader: placed.task.id.clone(), names: BTreeMap::new() };
    let task = &mut placed.task;
    let shell = task.shell.clone();
    if let RunKind::Shell(command) = &mut task.run {
        match binder.bind_command(command, &shell) {
            Ok(bound) => *command = bound,
            Err((message, fix)) => faults.push(("run", message, fix)),
        }
    }
    for criterion in &mut task.exit_criteria {
        if let ExitCriterion::Command { command, .. } = criterion {
            match binder.bind_command(command, &shell) {
                Ok(bound) => *command = bound,
                Err((message, fix)) => faults.push(("exit_criteria", message, fix)),
            }
        }
    }
    let mut computed = BTreeMap::new();
    task.env.retain(|name, value| match binder.bind_value(value) {
        Ok(parts) => match parts.as_slice() {
            [] => true,
            [ValuePart::Text(text)] => {
                value.clone_from(text);
                true
            }
            _ => {
                computed.insert(name.clone(), parts);
                false
            }
        },
        Err((message, fix)) => {
            faults.push(("env", message, fix));
            true
        }
    });
    computed.extend(
        binder
            .names
            .into_iter()
            .map(|((task, name), variable)| (variable, vec![ValuePart::Output { task, name }])),
    );
    task.options.computed_env = computed;
    faults
}

struct OutputBinder<'i> {
    index: &'i OutputIndex,
    reader: TaskId,
    /// The variable of each output that commands read.
    names: BTreeMap<(TaskId, String), String>,
}

impl OutputBinder<'_> {
    fn check(&self, task: &TaskId, name: &str) -> Result<(), (String, String)> {
        self.index.find_fault(&self.reader, task, name).map_or(Ok(()), Err)
    }

    fn bind_command(
        &mut self,
        command: &str,
        shell: &[String],
    ) -> Result<String, (String, String)> {
        let (mut lexer, mut out) = (ShellLexer::new(shell, command), String::new());
        for piece in split_template(command) {
            let start = out.len();
            match piece {
                TemplatePiece::Text(text) | TemplatePiece::Unclosed(text) => out.push_str(text),
                TemplatePiece::Escape => out.push_str("${{"),
                TemplatePiece::Reference(body) => {
                    let Some(TemplateReference::Output { task, name }) =
                        TemplateReference::parse(body)
                    else {
                        out.extend(["${{", body, "}}"]);
                        continue;
                    };
                    self.check(&task, &name)?;
                    let variable = self.variable_for(task, name);
                    let Some(text) = read_variable(&variable, lexer.context()) else {
                        let message = "uses an output where it cannot be quoted safely".to_owned();
                        let fix = "Put it into a variable with `env`, and use that.".to_owned();
                        return Err((message, fix));
                    };
                    out.push_str(&text);
                    lexer.pass_value();
                    continue;
                }
            }
            lexer.read(&out[start..]);
        }
        Ok(out)
    }

    /// The parts of a variable's value; none where there is nothing to put together.
    fn bind_value(&self, value: &str) -> Result<Vec<ValuePart>, (String, String)> {
        if !has_template(value) {
            return Ok(Vec::new());
        }
        let mut parts: Vec<ValuePart> = Vec::new();
        let push_text = |parts: &mut Vec<ValuePart>, text: &str| match parts.last_mut() {
            Some(ValuePart::Text(last)) => last.push_str(text),
            _ => parts.push(ValuePart::Text(text.to_owned())),
        };
        for piece in split_template(value) {
            match piece {
                TemplatePiece::Text(text) | TemplatePiece::Unclosed(text) => {
                    push_text(&mut parts, text);
                }
                TemplatePiece::Escape => push_text(&mut parts, "${{"),
                TemplatePiece::Reference(body) => match TemplateReference::parse(body) {
                    Some(TemplateReference::Output { task, name }) => {
                        self.check(&task, &name)?;
                        parts.push(ValuePart::Output { task, name });
                    }
                    _ => push_text(&mut parts, &format!("${{{{{body}}}}}")),
                },
            }
        }
        Ok(parts)
    }

    /// The variable of an output, which no other output has.
    fn variable_for(&mut self, task: TaskId, name: String) -> String {
        if let Some(known) = self.names.get(&(task.clone(), name.clone())) {
            return known.clone();
        }
        let plain = |text: &str| -> String {
            let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            text.chars().map(letter).collect()
        };
        let base = format!("{PREFIX}{}_{}", plain(task.as_str()), plain(&name));
        let mut variable = base.clone();
        let mut number = 2;
        while self.names.values().any(|taken| *taken == variable) {
            variable = format!("{base}_{number}");
            number += 1;
        }
        self.names.insert((task, name), variable.clone());
        variable
    }
}
