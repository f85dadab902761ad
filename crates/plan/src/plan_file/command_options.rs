//! Decodes what a command may see and share: files of variables, secrets, inputs, and whether it is a service.

use std::collections::BTreeMap;

use super::decoder::{FieldNames, PlanFileDecoder};
use super::results::{check_inside, decode_patterns};
use super::run_settings::is_variable_name;
use super::value_tree::{TreeValue, ValuePath, ValueTree, escape_for_message};
use planwright_model::{SecretSource, ServiceCheck, StopSignal, TaskService};
use planwright_text::nearest_name;

/// The fields of `service`.
pub(super) const SERVICE_FIELDS: &[FieldNames] = &[("ready", &[]), ("stop", &[])];

const SIGNALS: &[(&str, StopSignal)] = &[
    ("SIGTERM", StopSignal::Terminate),
    ("SIGINT", StopSignal::Interrupt),
    ("SIGQUIT", StopSignal::Quit),
    ("SIGHUP", StopSignal::HangUp),
    ("SIGKILL", StopSignal::Kill),
];

/// What `on` says for this machine, where the plan states another executor for all commands.
const THIS_MACHINE: &str = "here";

/// Decodes the name of an executor. One that nobody set up would only be noticed when its task starts.
pub(super) fn decode_executor(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<String> {
    let name = super::task::decode_line(decoder, tree, path)?;
    if name == THIS_MACHINE {
        return Some(String::new());
    }
    let Some(known) = decoder.executors else { return Some(name) };
    if known.contains(&name) {
        return Some(name);
    }
    let shown = escape_for_message(&name);
    let message = format!("names an executor that is not set up, \"{shown}\"");
    let near = nearest_name(&name, known.iter().map(String::as_str));
    let near = near.map(|near| format!("Did you mean \"{near}\"? ")).unwrap_or_default();
    let fix = match known {
        [] => format!("Add [executors.{shown}] with `launch` to the config, or remove `on`."),
        known => format!("{near}Set up are {}.", known.join(", ")),
    };
    decoder.report_bad_value(tree, path, message, fix);
    None
}

/// Decodes the name of a file of variables, or a list of them.
pub(super) fn decode_env_files(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<Vec<String>> {
    if let TreeValue::Text(text) = &tree.value {
        return check_inside(decoder, tree, path, text).map(|file| vec![file]);
    }
    decode_patterns(decoder, tree, path)
}

/// Decodes names of variables.
pub(super) fn decode_pass_env(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for (index, item) in decoder.read_list(tree, path)?.iter().enumerate() {
        let path = ValuePath::Item(&path, index);
        let name = decoder.read_text(item, path)?;
        if check_name(decoder, item, path, name) {
            names.push(name.to_owned());
        }
    }
    Some(names)
}

fn check_name(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    name: &str,
) -> bool {
    let is_name = is_variable_name(name);
    if !is_name {
        let fix = "Write a name of letters, digits and `_` that does not begin with PLANWRIGHT_.";
        decoder.report_bad_value(tree, path, "is not a name of a variable", fix);
    }
    is_name
}

/// Decodes secrets: names of variables, or a table from names to where their values come from.
pub(super) fn decode_secrets(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<BTreeMap<String, SecretSource>> {
    if matches!(tree.value, TreeValue::List(_)) {
        let names = decode_pass_env(decoder, tree, path)?;
        return Some(
            names.into_iter().map(|name| (name.clone(), SecretSource::Variable(name))).collect(),
        );
    }
    let mut secrets = BTreeMap::new();
    for entry in decoder.read_table(tree, path)? {
        let path = ValuePath::Field(&path, &entry.key);
        if check_name(decoder, &entry.tree, path, &entry.key)
            && let Some(source) = decode_source(decoder, &entry.tree, path)
        {
            secrets.insert(entry.key.clone(), source);
        }
    }
    Some(secrets)
}

/// Where a secret comes from. Its value is nothing for a file that people share.
fn decode_source(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<SecretSource> {
    const FIX: &str = "Write \"env:NAME\" or { command = [\"pass\", \"show\", \"NAME\"] }; a value does not belong in a plan file.";
    match &tree.value {
        TreeValue::Text(text) => match text.strip_prefix("env:") {
            Some(name) if is_variable_name(name) => Some(SecretSource::Variable(name.to_owned())),
            _ => {
                decoder.report_bad_value(
                    tree,
                    path,
                    "does not name where the secret comes from",
                    FIX,
                );
                None
            }
        },
        TreeValue::Table(entries) if entries.len() == 1 && entries[0].key == "command" => {
            let own = ValuePath::Field(&path, "command");
            super::run_settings::decode_shell(decoder, &entries[0].tree, own)
                .map(SecretSource::Command)
        }
        _ => {
            decoder.report_bad_value(tree, path, "does not name where the secret comes from", FIX);
            None
        }
    }
}

/// Decodes how a service is known to be ready and how it is ended.
pub(super) fn decode_service(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<TaskService> {
    const FIX: &str = "Write a command that succeeds once it is ready, or the number of a port.";
    let fields = decoder.read_fields(tree, path, SERVICE_FIELDS)?;
    let Some(entry) = fields.get("ready") else {
        decoder.report_bad_value(tree, path, "lacks `ready`", FIX);
        return None;
    };
    let own = ValuePath::Field(&path, "ready");
    let ready = match &entry.tree.value {
        TreeValue::Text(command) if !command.trim().is_empty() && !command.contains('\0') => {
            ServiceCheck::Command(command.clone())
        }
        TreeValue::Integer(_) => {
            let port = decoder.read_integer(&entry.tree, own, 1..=i64::from(u16::MAX))?;
            ServiceCheck::Port(port as u16)
        }
        _ => {
            decoder.report_bad_value(&entry.tree, own, "is no command and no port", FIX);
            return None;
        }
    };
    let stop = match fields.get("stop") {
        Some(entry) => {
            decoder.read_choice(&entry.tree, ValuePath::Field(&path, "stop"), SIGNALS)?
        }
        None => StopSignal::Terminate,
    };
    Some(TaskService { ready, stop })
}
