//! `test.run`: runs the tests of the workspace with the detected runner.

use std::time::Duration;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{parse_args, quote_word, shell_run};
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::text_limit;
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use crate::workspace::Workspace;

/// The part of failing output that is passed to another attempt.
const TAIL: usize = 1500;

#[derive(Deserialize, JsonSchema)]
struct TestRunArgs {
    /// Run only tests whose name contains this
    filter: Option<String>,
    /// Seconds after which they are ended
    #[schemars(range(min = 1))]
    timeout_seconds: Option<u64>,
}

pub(super) struct TestRunTool(ToolMeta);

impl TestRunTool {
    pub(super) fn new() -> Self {
        let about = "Run the tests of the workspace with what is there: cargo, nextest, npm, pytest, unittest, go, gradle, make, or the configured command.";
        let meta = ToolMeta::built_in::<TestRunArgs>("test.run", ToolEffect::Execute, about);
        Self(meta.with_time_limit(Duration::from_secs(6 * 3600)).with_products(&["test_result"]))
    }
}

impl Tool for TestRunTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: TestRunArgs = parse_args(args)?;
        let toolbox = &context.toolbox;
        let runner = match &toolbox.settings().test_command {
            Some(command) => TestRunnerCommand { name: "configured", command: command.clone(), before_filter: " " },
            None => detect_runner(toolbox.workspace()).ok_or_else(|| {
                ToolError::new(
                    ToolErrorCode::NotConfigured,
                    "no tests were found: there is no Cargo.toml, package.json with a test script, Python tests, go.mod, build.gradle or Makefile with `test:`; set test_command in the config",
                )
            })?,
        };
        let mut resolved = ResolvedCall::new(ToolEffect::Execute, args.clone())
            .with_path(toolbox.workspace().resolve_touched(".")?);
        resolved.command = Some(match parsed.filter.filter(|filter| !filter.trim().is_empty()) {
            Some(filter) => {
                format!("{}{}{}", runner.command, runner.before_filter, quote_word(&filter))
            }
            None => runner.command,
        });
        resolved.preview = Some(format!("runner: {}", runner.name));
        Ok(resolved)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            // The arguments were read once before, when the call was prepared.
            let requested = parse_args::<TestRunArgs>(&resolved.args)
                .ok()
                .and_then(|parsed| parsed.timeout_seconds);
            let most = context.toolbox.settings().command_time;
            let limit = requested.map_or(most, |seconds| Duration::from_secs(seconds).min(most));
            match shell_run::run_confined(resolved, context, limit).await {
                Ok(ran) => build_answer(ran, resolved, context),
                Err(error) => error.into(),
            }
        })
    }
}

fn build_answer(
    ran: shell_run::CompletedCommand,
    resolved: &ResolvedCall,
    context: &ToolContext,
) -> ToolAnswer {
    let passed = shell_run::check_status(&ran.collected.outcome).is_ok();
    let tail = text_limit::last_chars(&ran.collected.output, TAIL).to_owned();
    let mut answer = ran.into_answer(context, |outcome| {
        shell_run::check_status(outcome).err().map(|error| match error.code {
            ToolErrorCode::ExitStatus => {
                ToolError::new(ToolErrorCode::TestsFailed, "the tests failed")
            }
            _ => error,
        })
    });
    let data = &mut answer.result.data;
    data.insert("command".to_owned(), json!(resolved.command));
    data.insert("passed".to_owned(), json!(passed));
    if !passed {
        data.insert("tail".to_owned(), json!(tail));
    }
    answer
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TestRunnerCommand {
    name: &'static str,
    command: String,
    before_filter: &'static str,
}

/// Detects the test runner. In a project with several, the order decides.
fn detect_runner(workspace: &Workspace) -> Option<TestRunnerCommand> {
    // Most projects have only one of these files.
    let text = |path: &str| {
        let bytes = workspace.read(path, 1024 * 1024).ok()?;
        String::from_utf8(bytes).ok()
    };
    let runner = |name, command: &str, before_filter| {
        Some(TestRunnerCommand { name, command: command.to_owned(), before_filter })
    };
    if text("Cargo.toml").is_some() {
        // Only a project that has set it up can be expected to have it.
        if text(".config/nextest.toml").is_some() {
            return runner("nextest", "cargo nextest run", " ");
        }
        return runner("cargo", "cargo test", " ");
    }
    let package = text("package.json").and_then(|text| serde_json::from_str::<Value>(&text).ok());
    if package.is_some_and(|package| package["scripts"]["test"].is_string()) {
        return runner("npm", "npm test --silent", " -- ");
    }
    let python =
        ["pytest.ini", "conftest.py", "tests/conftest.py"].iter().any(|name| text(name).is_some())
            || text("pyproject.toml").is_some_and(|text| text.contains("pytest"))
            || text("setup.cfg").is_some_and(|text| text.contains("[tool:pytest]"));
    if python {
        return runner("pytest", "python3 -m pytest -q", " -k ");
    }
    if let Some(directory) = python_test_directory(workspace) {
        return match unittest_command(workspace, directory) {
            Some(command) => runner("unittest", &command, " -k "),
            None => runner("pytest", "python3 -m pytest -q", " -k "),
        };
    }
    if text("go.mod").is_some() {
        return runner("go", "go test ./...", " -run ");
    }
    if text("build.gradle").or_else(|| text("build.gradle.kts")).is_some() {
        let wrapper = text("gradlew").is_some();
        let command = if wrapper { "./gradlew test" } else { "gradle test" };
        return runner("gradle", command, " --tests ");
    }
    let make = text("Makefile").or_else(|| text("makefile"));
    if make.is_some_and(|text| text.lines().any(|line| line.starts_with("test:"))) {
        return runner("make", "make test", " TEST=");
    }
    None
}

/// The directory with the Python tests, if there are any.
fn python_test_directory(workspace: &Workspace) -> Option<&'static str> {
    [".", "tests", "test"].into_iter().find(|directory| {
        workspace
            .list_directory(directory)
            .is_ok_and(|entries| entries.iter().any(|entry| is_python_test(&entry.name)))
    })
}

/// The command for tests that need nothing but Python itself; none where one of them uses pytest.
fn unittest_command(workspace: &Workspace, directory: &str) -> Option<String> {
    let names: Vec<String> = workspace
        .list_directory(directory)
        .ok()?
        .into_iter()
        .map(|entry| entry.name)
        .filter(|name| is_python_test(name))
        .collect();
    let texts: Vec<String> = names
        .iter()
        .filter_map(|name| workspace.read(&format!("{directory}/{name}"), 1024 * 1024).ok())
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .collect();
    let plain = texts.iter().any(|text| text.contains("unittest"))
        && !texts.iter().any(|text| text.contains("pytest"));
    let start = match directory {
        "." => String::new(),
        other => {
            // A package is imported from above it.
            let package = workspace.read(&format!("{other}/__init__.py"), 1024 * 1024).is_ok();
            format!(" -s {other}{}", if package { " -t ." } else { "" })
        }
    };
    plain.then(|| format!("python3 -m unittest discover{start}"))
}

fn is_python_test(name: &str) -> bool {
    matches!(name, "test.py" | "tests.py")
        || name
            .strip_prefix("test_")
            .is_some_and(|rest| rest.rsplit_once('.').is_some_and(|(_, end)| end == "py"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(files: &[(&str, &str)]) -> Option<&'static str> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        detect_runner(&Workspace::open(directory.path(), &[], &[]).unwrap())
            .map(|runner| runner.name)
    }

    #[test]
    fn the_runner_is_detected_from_existing_files() {
        assert_eq!(detected(&[("Cargo.toml", ""), ("Makefile", "test:\n")]), Some("cargo"));
        assert_eq!(detected(&[("package.json", r#"{"scripts":{"test":"x"}}"#)]), Some("npm"));
        assert_eq!(detected(&[("package.json", "{}")]), None);
        assert_eq!(detected(&[("test_a.py", "")]), Some("pytest"));
        let plain = "import unittest\nclass A(unittest.TestCase): pass\n";
        assert_eq!(detected(&[("tests/test_a.py", plain)]), Some("unittest"));
        assert_eq!(detected(&[("test.py", plain)]), Some("unittest"));
        assert_eq!(
            detected(&[("test_a.py", plain), ("test_b.py", "import pytest")]),
            Some("pytest")
        );
        let nextest = [("Cargo.toml", ""), (".config/nextest.toml", "")];
        assert_eq!(detected(&nextest), Some("nextest"));
        assert_eq!(detected(&[("build.gradle.kts", "")]), Some("gradle"));
        assert_eq!(detected(&[("go.mod", "module x")]), Some("go"));
        assert_eq!(detected(&[("Makefile", "all:\n\ntest: all\n")]), Some("make"));
        assert_eq!(detected(&[("Makefile", "all:\n")]), None);
    }

    #[test]
    fn a_filter_is_always_quoted_as_one_word() {
        assert_eq!(quote_word("a'; rm -rf / #"), r"'a'\''; rm -rf / #'");
    }
}
