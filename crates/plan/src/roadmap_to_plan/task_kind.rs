//! Infers the kind of an agent's task from its text.

use planwright_model::task::DEFAULT_TYPE;
use planwright_model::{PlanNode, TaskNode};

const CODE: [&str; 20] = [
    "code",
    "function",
    "module",
    "script",
    "test",
    "tests",
    "program",
    "crate",
    "class",
    "api",
    "parser",
    "file",
    "files",
    "bug",
    "compile",
    "refactor",
    "repository",
    "endpoint",
    "library",
    "command-line",
];
const CHANGES: [&str; 8] =
    ["edit", "fix", "refactor", "patch", "debug", "port", "update", "change"];
const READS: [&str; 2] = ["read", "understand"];
const MAKES: [&str; 6] = ["write", "create", "implement", "build", "add", "make"];
const LOOKS: [&str; 8] =
    ["research", "investigate", "search", "survey", "compare", "explore", "find", "look"];

/// Fills in type, role and expected tokens. What the text does not determine stays generic.
pub(super) fn fill_task_kind(task: &mut TaskNode, leaf: &PlanNode) {
    let (kind, role, tokens) = match kind_from_title(&leaf.title) {
        "code_modify" => ("code_modify", "coder", 6_000),
        "code_create" => ("code_create", "coder", 8_000),
        "research" => ("research", "researcher", 6_000),
        other => (other, "worker", 3_000),
    };
    kind.clone_into(&mut task.task_type);
    let role = if leaf.role.is_retrospective() && role == "worker" { "reviewer" } else { role };
    role.clone_into(&mut task.agent_role);
    task.estimated_tokens = tokens;
}

/// The type of the task that an agent does for a leaf: the one that was drafted, or else what the title indicates.
pub fn task_type_of(leaf: &PlanNode) -> &str {
    if leaf.task_type.is_empty() { kind_from_title(&leaf.title) } else { &leaf.task_type }
}

/// Returns the task type that a title indicates; the first verb decides.
fn kind_from_title(title: &str) -> &'static str {
    let lower = title.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | '/')))
        .filter(|word| !word.is_empty())
        .collect();
    let says = |list: &[&str]| words.first().is_some_and(|word| list.contains(word));
    let about_code = words.iter().any(|word| CODE.contains(word) || is_source_file(word));
    if says(&LOOKS) {
        // "find the bug" is not research.
        return if about_code { "code_modify" } else { "research" };
    }
    if about_code && (says(&CHANGES) || says(&READS)) {
        "code_modify"
    } else if about_code && says(&MAKES) {
        "code_create"
    } else if says(&["fix", "edit", "refactor", "debug", "patch"]) {
        "code_modify"
    } else {
        DEFAULT_TYPE
    }
}

fn is_source_file(word: &str) -> bool {
    let endings = [".rs", ".py", ".js", ".ts", ".go", ".c", ".toml", ".json", ".md", ".sh"];
    endings.iter().any(|ending| word.len() > ending.len() && word.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_verb_determines_the_type() {
        for (title, kind) in [
            ("Fix the failing test", "code_modify"),
            ("Edit src/main.rs", "code_modify"),
            ("Read the parser module", "code_modify"),
            ("Write a function that parses dates", "code_create"),
            ("Create the command-line program", "code_create"),
            ("Research three printers", "research"),
            ("Find out who prints newsletters", "research"),
            ("Find the bug in the parser", "code_modify"),
            ("Write the landing page", "generic"),
            ("Read the book", "generic"),
            ("", "generic"),
        ] {
            assert_eq!(kind_from_title(title), kind, "{title}");
        }
    }
}
