//! Who does a task: a command, a person, the built-in agent or agents of the person's own.

use super::candidates::MOST_CANDIDATES;
use super::decoder::{FieldNames, PlanFileDecoder};
use super::value_tree::{TreeValue, ValuePath, ValueTree};
use planwright_model::{AgentRun, RunKind};
use planwright_text::nearest_name;

/// The fields of `agent`.
pub(super) const AGENT_FIELDS: &[FieldNames] = &[("with", &[]), ("best_of", &[])];

pub(super) fn decode_run(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<RunKind> {
    const FIX: &str = "Write { shell = \"…\" }, { agent = {} } or { human = {} }.";
    let entry = match &tree.value {
        TreeValue::Table(entries) if entries.len() == 1 => &entries[0],
        _ => {
            decoder.report_bad_value(tree, path, "must name exactly one way to run the task", FIX);
            return None;
        }
    };
    let inner = ValuePath::Field(&path, &entry.key);
    match entry.key.as_str() {
        "shell" => decode_command(decoder, &entry.tree, inner),
        "agent" => decode_agent(decoder, &entry.tree, inner).map(RunKind::Agent),
        "human" => {
            if !decoder.read_table(&entry.tree, inner)?.is_empty() {
                let fix = "Write human = {}.";
                decoder.report_bad_value(&entry.tree, inner, "takes no settings", fix);
                return None;
            }
            Some(RunKind::Human {})
        }
        _ => {
            decoder.report_bad_value(tree, path, "names no known way to run the task", FIX);
            None
        }
    }
}

fn decode_command(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<RunKind> {
    if matches!(tree.value, TreeValue::List(_)) {
        let fix = "Write all lines as one text, between \"\"\" and \"\"\".";
        decoder.report_bad_value(tree, path, "must be text, not a list", fix);
        return None;
    }
    let command = decoder.read_text(tree, path)?;
    if command.trim().is_empty() || command.contains('\0') {
        decoder.report_bad_value(tree, path, "is not a command", "Write the command to run.");
        return None;
    }
    Some(RunKind::Shell(command.to_owned()))
}

fn decode_agent(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<AgentRun> {
    let fields = decoder.read_fields(tree, path, AGENT_FIELDS)?;
    let mut run = AgentRun::default();
    if let Some(entry) = fields.get("with") {
        let path = ValuePath::Field(&path, &entry.key);
        let name = decoder.read_text(&entry.tree, path)?;
        check_name(decoder, &entry.tree, path, name)?;
        name.clone_into(&mut run.with);
    }
    if let Some(entry) = fields.get("best_of") {
        let path = ValuePath::Field(&path, &entry.key);
        if !run.with.is_empty() {
            let fix = "Keep `with` for one agent, or `best_of` for several.";
            decoder.report_bad_value(&entry.tree, path, "stands beside `with`", fix);
            return None;
        }
        run.best_of = decode_candidates(decoder, &entry.tree, path)?;
    }
    Some(run)
}

/// The agents that each try a task. One that is named twice tries it twice.
fn decode_candidates(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<Vec<String>> {
    let TreeValue::List(items) = &tree.value else {
        let fix = "Write best_of = [\"claude\", \"codex\"].";
        decoder.report_bad_value(tree, path, "must be a list of agents", fix);
        return None;
    };
    let mut names = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let path = ValuePath::Item(&path, at);
        let name = decoder.read_text(item, path)?;
        check_name(decoder, item, path, name)?;
        names.push(name.to_owned());
    }
    if !(2..=MOST_CANDIDATES).contains(&names.len()) {
        let message = format!("must name 2 to {MOST_CANDIDATES} agents");
        let fix = "For one agent, write with = \"…\" instead.";
        decoder.report_bad_value(tree, path, message, fix);
        return None;
    }
    Some(names)
}

/// An agent that nobody knows would only be noticed when its task starts.
fn check_name(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    name: &str,
) -> Option<()> {
    let Some(known) = decoder.agents else { return Some(()) };
    if known.iter().any(|agent| agent == name) {
        return Some(());
    }
    let shown = super::escape_for_message(name);
    let message = format!("names an agent that is not set up, \"{shown}\"");
    let near = nearest_name(name, known.iter().map(String::as_str));
    let near = near.map(|near| format!("Did you mean \"{near}\"? ")).unwrap_or_default();
    let fix = match known {
        [] => "Run `planwright agents list` to see what is installed and how to turn it on.".into(),
        known => format!(
            "{near}Set up are {}. `planwright agents list` shows what else is installed.",
            known.join(", ")
        ),
    };
    decoder.report_bad_value(tree, path, message, fix);
    None
}
