//! Every tool: that it works, that wrong arguments are named, that limits are enforced.

use serde_json::{Value, json};

use crate::builtin;
use crate::fixture::Fixture;
use planwright_model::permission::{PermissionRule, RuleMatcher};

fn writes() -> [PermissionRule; 3] {
    ["file.write", "file.edit", "skill.generator"]
        .map(|tool| PermissionRule::allow(tool, RuleMatcher::Any))
}

/// A rule that lets exactly this command run although tests have no sandbox.
fn runs(tool: &str, command: &str) -> PermissionRule {
    let rule = PermissionRule::allow(tool, RuleMatcher::Command { command: command.into() });
    PermissionRule { unsandboxed: true, ..rule }
}

#[test]
fn every_tool_has_a_schema_a_profile_and_a_wire_name() {
    let registry = builtin::builtin_registry();
    let profiles = crate::affinity::ToolProfiles::built_in();
    let described = registry.describe_tools(&crate::ToolFilter::default());
    assert_eq!(described.len(), if cfg!(feature = "web") { 21 } else { 18 });
    for tool in described {
        assert_eq!(tool.schema["type"], "object", "{}", tool.name);
        assert!(!tool.schema.to_string().contains("$ref"), "{}", tool.name);
        assert!(profiles.get(&tool.name).is_some(), "{} has no profile", tool.name);
        assert!(
            tool.wire_name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'),
            "{}",
            tool.wire_name
        );
        assert_eq!(registry.get(&tool.wire_name).unwrap().meta().name, tool.name);
    }
    assert_eq!(registry.get("code_navigator").unwrap().meta().name, "code.navigate");
}

#[tokio::test]
async fn file_read() {
    let fixture = Fixture::new();
    fixture.file("a.txt", "one\n\ttwo\nthree\n");
    let complete = fixture.call("file.read", json!({"path": "a.txt"})).await.result;
    assert_eq!(complete.data["text"], "one\n\ttwo\nthree\n", "tabs stay, so that edits fit");
    let part = fixture
        .call("file.read", json!({"path": "a.txt", "start_line": 2, "end_line": 2}))
        .await
        .result;
    assert_eq!(
        (part.data["text"].as_str(), part.data["total_lines"].as_u64()),
        (Some("\ttwo\n"), Some(3))
    );
    assert_eq!(
        fixture.code("file.read", json!({"path": "a.txt", "start_line": 9})).await,
        "bad_args"
    );
    assert_eq!(
        fixture.code("file.read", json!({"path": "a.txt", "start_line": 3, "end_line": 2})).await,
        "bad_args"
    );
    assert_eq!(fixture.code("file.read", json!({})).await, "bad_args");
    assert_eq!(fixture.code("file.read", json!({"path": "missing"})).await, "not_found");
    assert_eq!(fixture.code("file.read", json!({"path": "../x"})).await, "outside_workspace");
    std::fs::write(fixture.root().join("binary"), [0, 159, 146, 150]).unwrap();
    assert_eq!(fixture.code("file.read", json!({"path": "binary"})).await, "not_text");
    fixture.file("empty", "");
    assert!(fixture.call("file.read", json!({"path": "empty"})).await.result.ok);
}

#[tokio::test]
async fn file_read_respects_its_limit() {
    let fixture = Fixture::with(|parts| parts.settings.model_output_bytes = 100);
    fixture.file("long", &"0123456789\n".repeat(50));
    let read = fixture.call("file.read", json!({"path": "long"})).await.result;
    assert!(read.data["text"].as_str().unwrap().len() <= 100 && read.data["truncated"] == true);
    fixture.file("line", &"é".repeat(500));
    let read = fixture.call("file.read", json!({"path": "line"})).await.result;
    assert!(read.ok && read.data["text"].as_str().unwrap().chars().all(|c| c == 'é'));
}

#[tokio::test]
async fn file_write() {
    let fixture = Fixture::new();
    fixture.allow(writes());
    let created =
        fixture.call("file.write", json!({"path": "x/new.txt", "content": "hello\n"})).await.result;
    assert!(
        created.ok
            && created.data["created"] == true
            && created.data["diff"].as_str().unwrap().contains("+hello")
    );
    assert_eq!(fixture.text("x/new.txt"), "hello\n");
    assert!(
        fixture
            .call("file.write", json!({"path": "x/new.txt", "content": "bye\n"}))
            .await
            .result
            .ok
    );
    assert_eq!(fixture.text("x/new.txt"), "bye\n");
    assert_eq!(fixture.code("file.write", json!({"path": "x"})).await, "bad_args");
    assert_eq!(fixture.code("file.write", json!({"path": "x", "content": ""})).await, "not_a_file");
    assert_eq!(
        fixture.code("file.write", json!({"path": "/etc/x", "content": ""})).await,
        "outside_workspace"
    );
    let huge = "x".repeat(17 << 20);
    assert_eq!(
        fixture.code("file.write", json!({"path": "huge", "content": huge})).await,
        "too_large"
    );
}

#[tokio::test]
async fn file_edit() {
    let fixture = Fixture::new();
    fixture.allow(writes());
    fixture.file("a.rs", "fn a() {\n    one();\n    two();\n    one();\n}\n");
    let edit = |old: &str, new: &str| json!({"path": "a.rs", "old": old, "new": new});
    let done = fixture.call("file.edit", edit("two();", "three();")).await.result;
    let diff = done.data["diff"].as_str().unwrap();
    assert!(diff.contains("-    two();") && diff.contains("+    three();"), "{diff}");
    assert_eq!(fixture.code("file.edit", edit("one();", "x")).await, "no_match");
    assert_eq!(fixture.code("file.edit", edit("nine", "x")).await, "no_match");
    let near = fixture
        .call("file.edit", edit("one();\n  three();", "x"))
        .await
        .result
        .to_failure()
        .unwrap();
    assert!(near.message.contains("line 2 begins alike"), "{}", near.message);
    let mut all = edit("one();", "uno();");
    all["replace_all"] = json!(true);
    assert!(fixture.call("file.edit", all).await.result.ok);
    assert_eq!(fixture.text("a.rs").matches("uno").count(), 2);
    assert_eq!(fixture.code("file.edit", edit("", "x")).await, "bad_args");
}

#[tokio::test]
async fn file_list_and_glob() {
    let fixture = Fixture::new();
    for path in ["src/a.rs", "src/deep/b.rs", "c.txt", "target/out.rs", ".hidden/d.rs"] {
        fixture.file(path, "x");
    }
    fixture.file(".gitignore", "target/\n");
    let list = fixture.call("file.list", json!({})).await.result;
    assert_eq!(list.data["count"], 5);
    assert_eq!(fixture.code("file.list", json!({"path": "c.txt"})).await, "not_found");
    let found = fixture.call("glob", json!({"pattern": "**/*.rs"})).await.result;
    assert_eq!(found.data["files"], json!(["src/a.rs", "src/deep/b.rs"]));
    let below = fixture.call("glob", json!({"pattern": "*.rs", "path": "src"})).await.result;
    assert_eq!(below.data["files"], json!(["src/a.rs"]));
    let hidden = fixture.call("glob", json!({"pattern": "**/d.rs", "hidden": true})).await.result;
    assert_eq!(hidden.data["count"], 1);
    assert_eq!(fixture.code("glob", json!({"pattern": "a[", "path": "."})).await, "bad_args");
    assert_eq!(
        fixture.code("glob", json!({"pattern": "*", "path": "../"})).await,
        "outside_workspace"
    );
}

#[tokio::test]
async fn grep() {
    let fixture = Fixture::new();
    fixture.file("a.rs", "let x = 1;\nlet Y = 2;\nend\n");
    fixture.file("b.txt", "let z\n");
    fixture.file("skip.rs", "let no\n");
    fixture.file(".gitignore", "skip.rs\n");
    std::fs::write(fixture.root().join("bin"), b"let \0").unwrap();
    let found =
        fixture.call("grep", json!({"pattern": "^let [xyz]", "ignore_case": true})).await.result;
    assert_eq!(
        found.data["lines"],
        json!(["a.rs:1: let x = 1;", "a.rs:2: let Y = 2;", "b.txt:1: let z"])
    );
    let only = fixture.call("grep", json!({"pattern": "let", "glob": "*.txt"})).await.result;
    assert_eq!(only.data["matches"], 1);
    let context =
        fixture.call("grep", json!({"pattern": "Y", "path": "a.rs", "context": 1})).await.result;
    assert_eq!(context.data["lines"].as_array().unwrap().len(), 3);
    let limited = fixture.call("grep", json!({"pattern": "let", "limit": 1})).await.result;
    assert!(limited.data["matches"] == 1 && limited.data["truncated"] == true);
    assert_eq!(fixture.code("grep", json!({"pattern": "("})).await, "bad_args");
    fixture.file("long.txt", &"match ".repeat(500));
    let long = fixture.call("grep", json!({"pattern": "match", "path": "long.txt"})).await.result;
    assert!(long.data["lines"][0].as_str().unwrap().chars().count() < 450);
}

#[tokio::test]
async fn code_navigate() {
    let fixture = Fixture::new();
    fixture.file("src/lib.rs", "pub struct Plan;\nimpl Plan {\n    pub fn run(&self) {}\n}\n");
    fixture.file("src/main.py", "def main():\n    Plan().run()\n");
    let outline = fixture
        .call("code.navigate", json!({"action": "outline", "path": "src/lib.rs"}))
        .await
        .result;
    assert_eq!(outline.data["symbols"], json!(["1: struct Plan", "2: impl Plan", "3:   fn run"]));
    let found = fixture
        .call("code_navigator", json!({"action": "definition", "name": "Plan::run"}))
        .await
        .result;
    assert_eq!(found.data["definitions"], json!(["src/lib.rs:3: fn pub fn run(&self) {}"]));
    let used =
        fixture.call("code.navigate", json!({"action": "references", "name": "run"})).await.result;
    assert_eq!(used.data["count"], 2);
    assert_eq!(fixture.code("code.navigate", json!({"action": "definition"})).await, "bad_args");
    fixture.file("x.txt", "y");
    assert_eq!(
        fixture.code("code.navigate", json!({"action": "outline", "path": "x.txt"})).await,
        "bad_args"
    );
}

#[tokio::test]
async fn shell_run() {
    let fixture = Fixture::new();
    let command =
        "echo out; echo err >&2; pwd; echo \"$HOME|$PLANWRIGHT_CALL_ID|${CARGO_PKG_NAME-unset}\"";
    fixture.allow([
        runs("shell.run", command),
        runs("shell.run", "exit 3"),
        runs("shell.run", "sleep 60"),
        runs("shell.run", "yes"),
    ]);
    let ran = fixture.call("shell.run", json!({"command": command})).await.result;
    let output = ran.data["output"].as_str().unwrap();
    assert!(output.contains("out\n") && output.contains("err\n"), "{output}");
    assert!(output.contains("/home|test-") && output.contains("/t/1/1|unset"), "{output}");
    assert!(ran.explanations.iter().any(|line| line.contains("unconfined")));
    let failed = fixture.call("shell.run", json!({"command": "exit 3"})).await.result;
    assert_eq!(
        (failed.to_failure().unwrap().code.as_str(), &failed.data["exit_code"]),
        ("exit_status", &json!(3))
    );
    assert_eq!(
        fixture.code("shell.run", json!({"command": "sleep 60", "timeout_seconds": 1})).await,
        "timeout"
    );
    assert_eq!(fixture.code("shell.run", json!({"command": " "})).await, "bad_args");
    assert_eq!(
        fixture.code("shell.run", json!({"command": "x", "directory": ".."})).await,
        "outside_workspace"
    );
    assert_eq!(fixture.code("shell.run", json!({"command": "not allowed"})).await, "needs_person");
    let endless =
        fixture.call("shell.run", json!({"command": "yes", "timeout_seconds": 1})).await.result;
    assert_eq!(endless.to_failure().unwrap().code, "timeout");
    assert!(endless.data["output"].as_str().unwrap().len() <= 1024 * 1024 + 200);
}

#[tokio::test]
async fn a_command_that_changes_protected_files_stops_the_run() {
    let fixture = Fixture::new();
    fixture.file(".git/config", "[core]\n");
    // A line that names the files would ask; the effect of a script is only visible afterward.
    let script = "echo evil >> .git/config; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit";
    fixture.file("change.sh", script);
    let command = "sh change.sh";
    fixture.allow([runs("shell.run", command)]);
    let finished = fixture.call("shell.run", json!({"command": command})).await;
    assert_eq!(finished.result.to_failure().unwrap().code, "protected_changed");
    assert_eq!(finished.protected_changes, [".git/config", ".git/hooks/pre-commit"]);
}

#[tokio::test]
async fn test_run() {
    let fixture = Fixture::new();
    assert_eq!(fixture.code("test.run", json!({})).await, "not_configured");
    fixture.file("Makefile", "test:\n\t@echo checking; test -f ok\n");
    fixture.allow([runs("test.run", "make test")]);
    let red = fixture.call("test.run", json!({})).await.result;
    assert_eq!(red.to_failure().unwrap().code, "tests_failed");
    assert!(red.data["tail"].as_str().unwrap().contains("checking") && red.data["passed"] == false);
    fixture.file("ok", "");
    let green = fixture.call("test.run", json!({})).await.result;
    assert!(green.ok && green.data["passed"] == true && green.data["command"] == "make test");
}

#[tokio::test]
async fn a_configured_test_command_overrides_detection() {
    let fixture = Fixture::with(|parts| parts.settings.test_command = Some("true".into()));
    fixture.allow([runs("test.run", "true"), runs("test.run", "true 'a b'")]);
    assert!(fixture.call("test.run", json!({})).await.result.ok);
    assert!(fixture.call("test.run", json!({"filter": "a b"})).await.result.ok);
}

#[tokio::test]
async fn memory_requires_a_store_and_is_saved_with_the_outcome() {
    let fixture = Fixture::new();
    assert_eq!(fixture.code("memory.search", json!({"query": "x"})).await, "not_configured");
    assert!(
        fixture.call("memory.save", json!({"text": "likes tea", "key": "drink"})).await.result.ok
    );
    let writes = fixture.script.writes.lock().unwrap().clone();
    assert!(
        matches!(&writes[0], crate::StoreWrite::Memory { key: Some(key), .. } if key == "drink")
    );
    assert_eq!(fixture.code("memory.save", json!({"text": ""})).await, "bad_args");
    let policy = json!({"text": "x", "key": "interaction_policy"});
    assert_eq!(fixture.code("memory.save", policy).await, "refused");
    assert_eq!(
        fixture.code("memory.save", json!({"text": "hunter2-the-loaded-key"})).await,
        "secret_in_arguments"
    );
}

#[tokio::test]
async fn manage_todo_list() {
    let fixture = Fixture::new();
    let act = |args: Value| fixture.call("manage_todo_list", args);
    let added = act(json!({"action": "add", "items": ["one", "two"], "node": "p1"})).await.result;
    assert_eq!(added.data["total"], 2);
    assert!(act(json!({"action": "update", "id": 1, "status": "in_progress"})).await.result.ok);
    let busy = act(json!({"action": "update", "id": 2, "status": "in_progress"})).await.result;
    assert!(busy.to_failure().unwrap().message.contains("item 1 is in progress"));
    let done = act(json!({"action": "complete", "id": 1})).await.result;
    assert_eq!(done.data["done"], 1);
    assert_eq!(act(json!({"action": "list"})).await.result.data["items"][0]["node"], "p1");
    assert_eq!(fixture.code("manage_todo_list", json!({"action": "fly"})).await, "bad_args");
    assert_eq!(fixture.code("manage_todo_list", json!({"action": "complete"})).await, "bad_args");
}

#[tokio::test]
async fn skill_generator() {
    let fixture = Fixture::new();
    fixture.allow(writes());
    let args =
        json!({"name": "tidy-up", "description": "Tidies: up", "source": "# Steps\n1. Tidy."});
    let created = fixture.call("skill.generator", args).await.result;
    assert!(created.ok && created.data["verified"] == true);
    builtin::check_skill(&fixture.text("skills/tidy-up/SKILL.md")).unwrap();
    assert_eq!(
        fixture
            .code("skill.generator", json!({"name": "../x", "description": "d", "source": "s"}))
            .await,
        "bad_args"
    );
    assert_eq!(
        fixture.code("skill.generator", json!({"name": "x", "description": "d"})).await,
        "bad_args"
    );
}

#[test]
fn names_of_web_tools_are_known_in_every_build() {
    let registry = builtin::builtin_registry();
    for name in ["web.fetch", "web.search", "internet.research"] {
        assert!(builtin::is_known_builtin(&registry, name), "{name}");
        assert_eq!(registry.get(name).is_some(), builtin::missing_feature_text(name).is_none());
    }
    assert!(!builtin::is_known_builtin(&registry, "web.post"));
}

#[cfg(not(feature = "web"))]
#[tokio::test]
async fn a_web_tool_that_is_not_built_in_is_refused_with_the_feature() {
    let failed = Fixture::new().call("web.fetch", json!({"url": "http://127.0.0.1:9"})).await;
    let failed = failed.result.to_failure().unwrap();
    assert_eq!(failed.code, "unknown_tool");
    assert_eq!(failed.message, "this build has no web tools; rebuild with --features web");
}

#[cfg(feature = "web")]
#[tokio::test]
async fn web_search_reports_that_it_is_not_configured() {
    let fixture = Fixture::new();
    for tool in ["web.search", "internet.research"] {
        let failed = fixture.call(tool, json!({"query": "x"})).await.result.to_failure().unwrap();
        assert_eq!(failed.code, "not_configured");
        assert!(failed.message.contains("search_endpoint"), "{}", failed.message);
    }
}
