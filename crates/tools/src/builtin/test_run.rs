//! `test.run`: the tests of the workspace, by whatever runs them there.

use std::time::Duration;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{read, shell};
use crate::context::ToolContext;
use crate::limit;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::tool::{Answer, Code, Tool, ToolError};
use crate::workspace::Workspace;

/// The part of failing output that a further attempt is given.
const TAIL: usize = 1500;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Only tests whose name holds this
    filter: Option<String>,
    /// Seconds after which they are ended
    #[schemars(range(min = 1))]
    timeout_seconds: Option<u64>,
}

pub(super) struct TestRun(ToolMeta);

impl TestRun {
    pub(super) fn new() -> Self {
        let about =
            "Run the tests of the workspace: cargo, npm, pytest, go or make, whichever is there.";
        let meta = ToolMeta::built_in::<Args>("test.run", Effect::Execute, about);
        Self(meta.within(Duration::from_secs(6 * 3600)).makes(&["test_result"]))
    }
}

impl Tool for TestRun {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        let toolbox = &context.toolbox;
        let runner = match &toolbox.settings().test_command {
            Some(command) => Runner { name: "configured", command: command.clone(), before_filter: " " },
            None => detect(toolbox.workspace()).ok_or_else(|| {
                ToolError::new(
                    Code::NotConfigured,
                    "no tests were found: there is no Cargo.toml, package.json with a test script, pytest, go.mod or Makefile with `test:`; set test_command in the config",
                )
            })?,
        };
        let mut resolved =
            Resolved::new(Effect::Execute, args.clone()).touching(toolbox.workspace().touch(".")?);
        resolved.command = Some(match wanted.filter.filter(|filter| !filter.trim().is_empty()) {
            Some(filter) => {
                format!("{}{}{}", runner.command, runner.before_filter, quoted(&filter))
            }
            None => runner.command,
        });
        resolved.preview = Some(format!("runner: {}", runner.name));
        Ok(resolved)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let wanted =
                read::<Args>(&resolved.args).ok().and_then(|wanted| wanted.timeout_seconds);
            let most = context.toolbox.settings().command_time;
            let limit = wanted.map_or(most, |seconds| Duration::from_secs(seconds).min(most));
            match shell::run(resolved, context, limit).await {
                Ok(ran) => answer(ran, resolved, context),
                Err(error) => error.into(),
            }
        })
    }
}

fn answer(ran: shell::Ran, resolved: &Resolved, context: &ToolContext) -> Answer {
    let passed = shell::status(&ran.collected.outcome).is_ok();
    let tail = limit::tail(&ran.collected.output, TAIL).to_owned();
    let mut answer = ran.answer(context, |outcome| {
        shell::status(outcome).err().map(|error| match error.code {
            Code::ExitStatus => ToolError::new(Code::TestsFailed, "the tests failed"),
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
struct Runner {
    name: &'static str,
    command: String,
    before_filter: &'static str,
}

/// Finds out how tests are run, in the order in which a project with several is best understood.
fn detect(workspace: &Workspace) -> Option<Runner> {
    let text = |path: &str| {
        let bytes = workspace.read(path, 1024 * 1024).ok()?;
        String::from_utf8(bytes).ok()
    };
    let runner = |name, command: &str, before_filter| {
        Some(Runner { name, command: command.to_owned(), before_filter })
    };
    if text("Cargo.toml").is_some() {
        return runner("cargo", "cargo test", " ");
    }
    let package = text("package.json").and_then(|text| serde_json::from_str::<Value>(&text).ok());
    if package.is_some_and(|package| package["scripts"]["test"].is_string()) {
        return runner("npm", "npm test --silent", " -- ");
    }
    let python =
        ["pytest.ini", "conftest.py", "tests/conftest.py"].iter().any(|name| text(name).is_some())
            || text("pyproject.toml").is_some_and(|text| text.contains("pytest"))
            || text("setup.cfg").is_some_and(|text| text.contains("[tool:pytest]"))
            || has_python_tests(workspace);
    if python {
        return runner("pytest", "python3 -m pytest -q", " -k ");
    }
    if text("go.mod").is_some() {
        return runner("go", "go test ./...", " -run ");
    }
    let make = text("Makefile").or_else(|| text("makefile"));
    if make.is_some_and(|text| text.lines().any(|line| line.starts_with("test:"))) {
        return runner("make", "make test", " TEST=");
    }
    None
}

fn has_python_tests(workspace: &Workspace) -> bool {
    [".", "tests", "test"].iter().any(|directory| {
        workspace
            .list(directory)
            .is_ok_and(|entries| entries.iter().any(|entry| is_python_test(&entry.name)))
    })
}

fn is_python_test(name: &str) -> bool {
    name.strip_prefix("test_")
        .is_some_and(|rest| rest.rsplit_once('.').is_some_and(|(_, end)| end == "py"))
}

/// One word for the shell, whatever it holds.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(files: &[(&str, &str)]) -> Option<&'static str> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        detect(&Workspace::open(directory.path(), &[], &[]).unwrap()).map(|runner| runner.name)
    }

    #[test]
    fn the_runner_is_found_by_what_is_there() {
        assert_eq!(detected(&[("Cargo.toml", ""), ("Makefile", "test:\n")]), Some("cargo"));
        assert_eq!(detected(&[("package.json", r#"{"scripts":{"test":"x"}}"#)]), Some("npm"));
        assert_eq!(detected(&[("package.json", "{}")]), None);
        assert_eq!(detected(&[("test_a.py", "")]), Some("pytest"));
        assert_eq!(detected(&[("go.mod", "module x")]), Some("go"));
        assert_eq!(detected(&[("Makefile", "all:\n\ntest: all\n")]), Some("make"));
        assert_eq!(detected(&[("Makefile", "all:\n")]), None);
    }

    #[test]
    fn a_filter_is_one_word_whatever_it_holds() {
        assert_eq!(quoted("a'; rm -rf / #"), r"'a'\''; rm -rf / #'");
    }
}
