//! Decodes how tasks are run: shell, variables, directory, retries, and what the plan states for all of them.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use super::command_options;
use super::decoder::{FieldNames, PlanFileDecoder, as_number};
use super::duration;
use super::task::{self, LocatedTask};
use super::value_tree::{TreeValue, ValuePath, ValueTree, escape_for_message};
use planwright_model::{RetryCause, RunCondition, RunKind, SecretSource, TaskRetryPolicy};

pub(super) const WHEN: &[(&str, RunCondition)] = &[
    ("success", RunCondition::Success),
    ("failed", RunCondition::Failed),
    ("always", RunCondition::Always),
];
const CAUSES: &[(&str, RetryCause)] =
    &[("exit", RetryCause::Exit), ("timeout", RetryCause::Timeout), ("signal", RetryCause::Signal)];

/// The fields of `[defaults]`: what commands have that state nothing else.
pub(super) const DEFAULT_FIELDS: &[FieldNames] = &[
    ("shell", &[]),
    ("env", &[]),
    ("env_file", &[]),
    ("pass_env", &[]),
    ("secrets", &[]),
    ("cwd", &[]),
    ("timeout", &[]),
    ("retries", &[]),
    ("sandbox", &[]),
    ("pool", &[]),
    ("on", &[]),
];

/// The shell of commands that name none, from version 2 of the format on: they stop at the first error, and at a variable
/// that is not set. Files of version 1 keep `sh -c`.
pub(super) const STRICT_SHELL: [&str; 2] = ["sh", "-euc"];

/// Gives the commands that name no shell, neither themselves nor for all, the one of their version.
pub(super) fn apply_strict_shell(placed: &mut [LocatedTask]) {
    for placed in placed {
        let task = &mut placed.task;
        if matches!(task.run, RunKind::Shell(_)) && task.shell.is_empty() {
            task.shell = STRICT_SHELL.map(str::to_owned).to_vec();
        }
    }
}

pub(super) const RETRY_FIELDS: &[FieldNames] =
    &[("max", &[]), ("backoff", &[]), ("factor", &[]), ("max_delay", &[]), ("on", &[])];

/// How many further attempts there may be.
const MAX_RETRIES: i64 = 100;
/// The longest wait between two attempts, in seconds.
const MAX_WAIT: i64 = 7 * 86_400;

/// Where variables of all commands come from.
struct CommandSources {
    files: Option<Vec<String>>,
    passed: Option<Vec<String>>,
    secrets: Option<BTreeMap<String, SecretSource>>,
}

impl CommandSources {
    /// A task adds secrets, and replaces files and names.
    fn apply(&self, placed: &mut LocatedTask) {
        let (own_files, own_passed) = (placed.states("env_file"), placed.states("pass_env"));
        let options = &mut placed.task.options;
        if let Some(files) = self.files.as_ref().filter(|_| !own_files) {
            options.env_files.clone_from(files);
        }
        if let Some(passed) = self.passed.as_ref().filter(|_| !own_passed) {
            options.pass_env.clone_from(passed);
        }
        for (name, source) in self.secrets.iter().flatten() {
            options.secrets.entry(name.clone()).or_insert_with(|| source.clone());
        }
    }
}

/// Applies what the plan states for all commands to those that state nothing else. Variables are added to.
pub(super) fn apply_defaults(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    placed: &mut [LocatedTask],
) {
    let path = ValuePath::Field(&ValuePath::Root, "defaults");
    let Some(fields) = decoder.read_fields(tree, path, DEFAULT_FIELDS) else { return };
    let at = |name: &str| fields.get(name).map(|entry| &entry.tree);
    let own = |name: &'static str| ValuePath::Field(&path, name);
    let shell = at("shell").and_then(|tree| decode_shell(decoder, tree, own("shell")));
    let env = at("env").and_then(|tree| decode_env(decoder, tree, own("env")));
    let cwd = at("cwd").and_then(|tree| decode_cwd(decoder, tree, own("cwd")));
    let timeout =
        at("timeout").and_then(|tree| task::decode_timeout(decoder, tree, own("timeout")));
    let retries = at("retries").and_then(|tree| decode_retries(decoder, tree, own("retries")));
    let sandbox =
        at("sandbox").and_then(|tree| decoder.read_choice(tree, own("sandbox"), task::SANDBOX));
    let pool = at("pool").and_then(|tree| {
        Some((task::decode_line(decoder, tree, own("pool"))?, 1, tree.span.start))
    });
    let executor =
        at("on").and_then(|tree| command_options::decode_executor(decoder, tree, own("on")));
    let sources = CommandSources {
        files: at("env_file")
            .and_then(|tree| command_options::decode_env_files(decoder, tree, own("env_file"))),
        passed: at("pass_env")
            .and_then(|tree| command_options::decode_pass_env(decoder, tree, own("pass_env"))),
        secrets: at("secrets")
            .and_then(|tree| command_options::decode_secrets(decoder, tree, own("secrets"))),
    };
    for placed in placed.iter_mut().filter(|one| matches!(one.task.run, RunKind::Shell(_))) {
        let states = |field| placed.places.contains_key(field);
        let (own_shell, own_cwd) = (states("shell"), states("cwd"));
        let (own_timeout, own_retries) = (states("timeout"), states("retries"));
        let (own_sandbox, own_executor) = (states("sandbox"), states("on"));
        if let Some(pool) = pool.as_ref().filter(|_| !states("pool") && !states("resources")) {
            placed.task.resources.insert(pool.0.clone(), pool.1);
            placed.resources.push(pool.clone());
        }
        sources.apply(placed);
        let task = &mut placed.task;
        if let Some(name) = executor.as_ref().filter(|_| !own_executor) {
            task.options.executor.clone_from(name);
        }
        if let Some(sandbox) = sandbox.filter(|_| !own_sandbox) {
            task.sandbox = sandbox;
        }
        for (name, value) in env.iter().flatten() {
            task.env.entry(name.clone()).or_insert_with(|| value.clone());
        }
        if let Some(shell) = shell.as_ref().filter(|_| !own_shell) {
            task.shell.clone_from(shell);
        }
        if let Some(cwd) = cwd.as_ref().filter(|_| !own_cwd) {
            task.cwd.clone_from(cwd);
        }
        if let Some(seconds) = timeout.filter(|_| !own_timeout) {
            task.timeout_seconds = Some(seconds as u64);
        }
        if let Some(retries) = retries.as_ref().filter(|_| !own_retries) {
            task.retries = Some(retries.clone());
        }
    }
}

/// Decodes the program that commands are given to.
pub(super) fn decode_shell(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<Vec<String>> {
    if let TreeValue::Text(text) = &tree.value {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        if let ["sh" | "bash" | "dash" | "ksh" | "zsh"] = words.as_slice() {
            words.push("-euc");
        }
        let fix = format!("Write a list: {}.", escape_for_message(&format!("{words:?}")));
        decoder.report_bad_value(tree, path, "must be a list, not text", fix);
        return None;
    }
    let items = decoder.read_list(tree, path)?;
    let mut words = Vec::new();
    for (index, item) in items.iter().enumerate() {
        words.push(decoder.read_text(item, ValuePath::Item(&path, index))?.to_owned());
    }
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        let fix = "Write a program and its arguments, such as [\"bash\", \"-euc\"].";
        decoder.report_bad_value(tree, path, "names no program", fix);
        return None;
    }
    Some(words)
}

/// Whether a variable may have this name.
pub(super) fn is_variable_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !name.starts_with("PLANWRIGHT_")
}

/// Decodes variables. Numbers and truth values become text.
pub(super) fn decode_env(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<BTreeMap<String, String>> {
    let mut variables = BTreeMap::new();
    for entry in decoder.read_table(tree, path)? {
        let path = ValuePath::Field(&path, &entry.key);
        if !is_variable_name(&entry.key) {
            let fix =
                "Write a name of letters, digits and `_` that does not begin with PLANWRIGHT_.";
            decoder.report_bad_value(&entry.tree, path, "is not a name of a variable", fix);
            continue;
        }
        let value = match &entry.tree.value {
            TreeValue::Integer(number) => number.to_string(),
            TreeValue::Bool(value) => value.to_string(),
            _ => decoder.read_text(&entry.tree, path)?.to_owned(),
        };
        if value.contains('\0') {
            decoder.report_bad_value(&entry.tree, path, "contains a zero byte", "Remove it.");
            continue;
        }
        variables.insert(entry.key.clone(), value);
    }
    Some(variables)
}

/// Decodes a directory, which must be inside the workspace.
pub(super) fn decode_cwd(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<String> {
    let text = decoder.read_text(tree, path)?;
    let is_inside = Path::new(text)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if text.trim().is_empty() || text.contains('\0') || !is_inside {
        let message =
            format!("is \"{}\", which is not inside the workspace", escape_for_message(text));
        let fix = "Write a directory below the workspace, such as \"web\", without `..`.";
        decoder.report_bad_value(tree, path, message, fix);
        return None;
    }
    Some(text.to_owned())
}

/// Decodes how often a command is tried again: a number, or a table.
pub(super) fn decode_retries(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<TaskRetryPolicy> {
    if !matches!(tree.value, TreeValue::Table(_)) {
        let max = decoder.read_integer(tree, path, 0..=MAX_RETRIES)?;
        return Some(TaskRetryPolicy::with_max(max as u32));
    }
    let fields = decoder.read_fields(tree, path, RETRY_FIELDS)?;
    let at = |name: &str| fields.get(name).map(|entry| &entry.tree);
    let own = |name: &'static str| ValuePath::Field(&path, name);
    let Some(max) = at("max") else {
        decoder.report_bad_value(tree, path, "lacks `max`", "Add `max`, such as max = 2.");
        return None;
    };
    let max = decoder.read_integer(max, own("max"), 0..=MAX_RETRIES)?;
    let mut policy = TaskRetryPolicy::with_max(max as u32);
    let mut read_wait = |name: &'static str| -> Option<Option<u64>> {
        let Some(tree) = at(name) else { return Some(None) };
        let allowed = ("0 to 7 days", "Write seconds as a number, or \"10s\", \"2m\" or \"1h\".");
        let read = duration::parse_seconds;
        let wait = task::decode_bounded_span(decoder, tree, own(name), read, 0..=MAX_WAIT, allowed);
        wait.map(|seconds| Some(seconds as u64))
    };
    let (backoff, limit) = (read_wait("backoff")?, read_wait("max_delay")?);
    policy.backoff = backoff.unwrap_or(policy.backoff);
    if let (Some(most), Some(tree)) = (limit, at("max_delay"))
        && most < policy.backoff
    {
        let message = format!("is shorter than the first wait of {} s", policy.backoff);
        let fix = "Raise `max_delay`, or lower `backoff`.";
        decoder.report_bad_value(tree, own("max_delay"), message, fix);
        return None;
    }
    policy.max_delay = limit.unwrap_or(policy.max_delay.max(policy.backoff));
    if let Some(tree) = at("factor") {
        let factor = as_number(tree).filter(|factor| (1.0..=10.0).contains(factor));
        let Some(factor) = factor else {
            let fix = "Write a number from 1 to 10.";
            decoder.report_bad_value(tree, own("factor"), "is out of range", fix);
            return None;
        };
        policy.factor = factor;
    }
    if let Some(tree) = at("on") {
        policy.on.clear();
        for (index, item) in decoder.read_list(tree, own("on"))?.iter().enumerate() {
            let place = own("on");
            policy.on.insert(decoder.read_choice(item, ValuePath::Item(&place, index), CAUSES)?);
        }
        if policy.on.is_empty() {
            let fix =
                "Write one of \"exit\", \"timeout\", \"signal\", or remove `on` for all of them.";
            decoder.report_bad_value(tree, own("on"), "names no cause", fix);
            return None;
        }
    }
    Some(policy)
}
