//! Events and state are typed: untyped JSON stands only where the data is somebody else's, and each such file is listed
//! here with the reason.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files that may name `serde_json::Value`, or pick a field of it by its name, and whose data it is.
const ALLOWED: &[(&str, &str)] = &[
    ("model/src/requests/call_in_doubt.rs", "arguments of a tool"),
    ("model/src/requests/tool_permission.rs", "arguments of a tool"),
    ("model/src/agent_conversation.rs", "schema of a tool as it was offered"),
    (
        "model/src/agent_decision.rs",
        "arguments of a tool; a decision of another version is kept as text",
    ),
    ("model/src/agent_work.rs", "arguments of a tool"),
    ("state/src/replay/file_changes.rs", "arguments and result of a tool"),
    ("model/src/digest.rs", "hashes any JSON"),
    ("model/src/event/agent.rs", "arguments of a call that a model asked for"),
    ("model/src/event/call.rs", "arguments of a tool"),
    ("model/src/event/schema.rs", "the JSON schema of the events, which is JSON itself"),
    ("model/src/event/schema_check.rs", "checks JSON of any shape against a schema, for tests"),
    ("model/src/reasoning.rs", "reasoning as its provider wants it back"),
    ("model/src/step.rs", "arguments and result of a tool"),
    ("model/src/step_metadata.rs", "metadata in traces of other programs"),
    (
        "model/src/task.rs",
        "metadata that the author of a plan wrote; the expected result of a tool",
    ),
    ("model/src/task_state.rs", "results of tools"),
    ("model/src/tool_result.rs", "result of a tool"),
    ("state/src/agent_conversation.rs", "arguments of a call that a model asked for"),
    ("state/src/agent_progress.rs", "arguments and result of a tool"),
    (
        "state/src/replay/compare/compared_run.rs",
        "lists which fields of a task differ, by their names in the plan",
    ),
    ("state/src/replay/fork.rs", "result of a tool"),
    ("state/src/task_table.rs", "the command among the arguments of a tool"),
    ("state/src/trace.rs", "the command among the arguments of a tool"),
    ("state/src/worktree_slice.rs", "the result of a tool, for the file that it wrote"),
];

fn crates_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn source_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The lines of a file that are neither comments nor items for tests.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut in_test_item = false;
    text.lines().filter(move |line| {
        if *line == "#[cfg(test)]" {
            in_test_item = true;
        } else if in_test_item {
            // An item ends in the first column, or on the line it began on.
            let begins = !line.starts_with([' ', '#', '/', '}']) && !line.is_empty();
            in_test_item = !(line.starts_with('}') || (begins && line.ends_with(';')));
        } else {
            return !line.trim_start().starts_with("//");
        }
        false
    })
}

fn names_value(line: &str) -> bool {
    let is_word = |found: char| found.is_alphanumeric() || found == '_';
    // `Value` is also what a strategy or a visitor calls its result.
    let own = ["Strategy<Value =", "type Value ="].iter().any(|other| line.contains(other));
    !own && line.split(|found: char| !is_word(found)).any(|word| word == "Value")
}

fn picks_by_name(line: &str) -> bool {
    [".get(\"", ".pointer(", ".get_mut(\""].iter().any(|pick| line.contains(pick))
}

fn files_with_untyped_json() -> BTreeSet<String> {
    let mut files = Vec::new();
    for dir in ["model/src", "state/src"] {
        source_files(&crates_dir().join(dir), &mut files);
    }
    assert!(files.len() > 60, "the sources moved");
    files.retain(|path| {
        let test = path.file_stem().is_some_and(|name| name == "tests" || name == "kept_rows");
        let text = fs::read_to_string(path).unwrap();
        !test && code_lines(&text).any(|line| names_value(line) || picks_by_name(line))
    });
    let relative = |path: &PathBuf| {
        path.strip_prefix(crates_dir()).unwrap().to_string_lossy().replace('\\', "/")
    };
    files.iter().map(relative).collect()
}

#[test]
fn untyped_json_stands_only_where_the_data_is_foreign() {
    let allowed: BTreeSet<String> = ALLOWED.iter().map(|(file, _)| (*file).to_owned()).collect();
    let found = files_with_untyped_json();
    let new: Vec<&String> = found.difference(&allowed).collect();
    assert!(new.is_empty(), "untyped JSON in {new:?}: type it, or list the file with a reason");
    let stale: Vec<&String> = allowed.difference(&found).collect();
    assert!(stale.is_empty(), "{stale:?} need no exception any more");
}

#[test]
fn the_search_finds_what_it_is_for() {
    for line in [
        "use serde_json::Value;",
        "pub grants: Vec<serde_json::Value>,",
        "metadata: Map<String, Value>,",
    ] {
        assert!(names_value(line), "{line}");
    }
    for line in ["fn plan() -> impl Strategy<Value = Plan> {", "raw: &'a RawValue,"] {
        assert!(!names_value(line), "{line}");
    }
    assert!(picks_by_name(r#"decision.get("should_escalate")"#));
    let text = "use a;\n// a Value\n#[cfg(test)]\nmod rows;\nlet b;\n#[cfg(test)]\nmod tests {\n    \
                use serde_json::Value;\n}\nlet c;";
    assert_eq!(code_lines(text).collect::<Vec<_>>(), ["use a;", "let b;", "let c;"]);
}
