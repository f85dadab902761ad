//! Calling a tool: the order of steps, the answers, the limits.

use crate::verify_write;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::PermissionAnswer;
use super::context::{HeldPermit, PermitPool, ToolContext};
use super::fixture::{Fixture, registry_with};
use super::meta::{ResolvedCall, ToolEffect, ToolMeta};
use super::tool::{StoreWrite, Tool, ToolAnswer, ToolError};
use super::{ToolFilter, WriteVerification};
use planwright_model::ToolResult;
use planwright_model::permission::{GrantBasis, PermissionRule, PermissionVerdict, RuleMatcher};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A tool that behaves as the test specifies.
struct Fake {
    meta: ToolMeta,
    act: fn(&ToolContext) -> ToolResult,
}

impl Fake {
    fn tool(name: &str, effect: ToolEffect, act: fn(&ToolContext) -> ToolResult) -> Arc<dyn Tool> {
        Arc::new(Self { meta: ToolMeta::built_in::<Nothing>(name, effect, "fake"), act })
    }
}

impl Tool for Fake {
    fn meta(&self) -> &ToolMeta {
        &self.meta
    }

    fn resolve(&self, args: &Value, _: &ToolContext) -> Result<ResolvedCall, ToolError> {
        Ok(ResolvedCall::new(self.meta.effect, args.clone()))
    }

    fn call<'a>(
        &'a self,
        _: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move { (self.act)(context).into() })
    }
}

fn deny(reason: &str) -> PermissionAnswer {
    PermissionAnswer::Deny { reason: reason.into() }
}

#[tokio::test]
async fn the_intent_comes_before_and_the_outcome_after() {
    let fixture = Fixture::new();
    fixture.file("a", "x");
    fixture.call("file.read", json!({"path": "a"})).await;
    assert_eq!(fixture.script.log(), ["intend file.read", "conclude file.read true"]);
}

#[tokio::test]
async fn nothing_starts_before_its_intent_is_durable() {
    let fixture = Fixture::new();
    fixture.allow([PermissionRule::allow("file.write", RuleMatcher::Any)]);
    *fixture.script.intents_fail.lock().unwrap() = true;
    assert_eq!(
        fixture.code("file.write", json!({"path": "a", "content": "x"})).await,
        "not_journaled"
    );
    assert!(!fixture.root().join("a").exists());
}

#[tokio::test]
async fn an_answer_once_is_bound_to_what_was_shown() {
    let fixture = Fixture::new();
    fixture.file("a", "old");
    let path = fixture.root().join("a");
    *fixture.script.while_asking.lock().unwrap() =
        Some(Box::new(move || std::fs::write(path, "newer").unwrap()));
    fixture.answer([PermissionAnswer::Once, PermissionAnswer::Once]);
    let finished = fixture.call("file.write", json!({"path": "a", "content": "mine"})).await;
    assert!(finished.result.ok);
    assert_eq!(finished.verdict, Some(PermissionVerdict::Allow { because: GrantBasis::Person }));
    assert_eq!(fixture.script.log().iter().filter(|line| line.starts_with("ask")).count(), 2);
}

#[tokio::test]
async fn a_reason_reaches_the_agent_and_the_same_call_denied_twice_stops_the_task() {
    let fixture = Fixture::new();
    fixture.answer([deny("not on a Friday"), deny("I said no")]);
    let args = json!({"path": "a", "content": "x"});
    let first = fixture.call("file.write", args.clone()).await.result.to_failure().unwrap();
    assert_eq!((first.code.as_str(), first.message.contains("not on a Friday")), ("denied", true));
    assert_eq!(fixture.code("file.write", args.clone()).await, "stopped");
    fixture.answer([PermissionAnswer::Stop]);
    assert_eq!(fixture.code("file.write", json!({"path": "b", "content": "x"})).await, "stopped");
    assert_eq!(
        fixture.code("file.write", json!({"path": "c", "content": "x"})).await,
        "needs_person"
    );
}

#[tokio::test]
async fn a_task_stopped_by_the_user_ends_while_others_have_every_permit() {
    let fixture = Fixture::with(|parts| parts.permits = PermitPool::new(1));
    fixture.answer([PermissionAnswer::Stop]);
    let mut call = fixture.a_call("file.write", json!({"path": "a", "content": "x"}));
    let permits = fixture.toolbox.permits().clone();
    call.held = HeldPermit::new(permits.acquire().await);
    // The next one in the queue gets the permit as soon as it is released, and keeps it.
    let mut other = Box::pin(permits.acquire());
    assert!((&mut other).now_or_never().is_none());
    let ended = tokio::time::timeout(Duration::from_secs(30), fixture.toolbox.invoke(call));
    let ended = ended.await.expect("it does not wait for the permit of another");
    assert!(!ended.result.ok);
    drop(other.await);
    assert_eq!(permits.available(), 1);
}

#[tokio::test]
async fn a_secret_in_arguments_is_refused_before_the_intent() {
    let fixture = Fixture::new();
    fixture.allow([PermissionRule::allow("file.write", RuleMatcher::Any)]);
    let args = json!({"path": "a", "content": "key = hunter2-the-loaded-key"});
    let failed = fixture.call("file.write", args).await.result.to_failure().unwrap();
    assert_eq!(failed.code, "secret_in_arguments");
    assert!(failed.message.contains("content") && !failed.message.contains("hunter2"));
    let args = json!({"path": "a", "content": "key = p4ss\"word-of-the-shop"});
    let failed = fixture.call("file.write", args).await.result.to_failure().unwrap();
    assert_eq!(failed.code, "secret_in_arguments");
    assert!(failed.message.contains("$SHOP_PASSWORD"), "{}", failed.message);
    assert!(!failed.message.contains("p4ss"), "{}", failed.message);
    assert!(fixture.script.log().is_empty());
}

#[tokio::test]
async fn results_are_redacted_before_anyone_reads_them() {
    let fixture = Fixture::new();
    fixture.file("a", "the key is hunter2-the-loaded-key\n");
    let read = fixture.call("file.read", json!({"path": "a"})).await.result;
    let text = read.data["text"].as_str().unwrap();
    assert!(text.contains("[redacted:loaded_key]") && !text.contains("hunter2"));
}

#[tokio::test]
async fn the_same_call_a_fourth_time_in_a_row_asks() {
    let fixture = Fixture::new();
    fixture.file("a", "x");
    for _ in 0..3 {
        assert!(fixture.call("file.read", json!({"path": "a"})).await.result.ok);
    }
    assert_eq!(fixture.code("file.read", json!({"path": "a"})).await, "needs_person");
    fixture.file("b", "x");
    assert!(fixture.call("file.read", json!({"path": "b"})).await.result.ok);
    assert!(fixture.call("file.read", json!({"path": "a"})).await.result.ok);
}

#[tokio::test]
async fn a_panic_fails_its_call_and_nothing_else() {
    let fixture = Fixture::with(|parts| {
        parts.registry =
            registry_with([Fake::tool("boom", ToolEffect::Look, |_| panic!("as the test asked"))]);
    });
    assert_eq!(fixture.code("boom", json!({})).await, "internal_error");
    fixture.file("a", "x");
    assert!(fixture.call("file.read", json!({"path": "a"})).await.result.ok);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_stopped() {
    struct Slow(ToolMeta);
    impl Tool for Slow {
        fn meta(&self) -> &ToolMeta {
            &self.0
        }
        fn resolve(&self, args: &Value, _: &ToolContext) -> Result<ResolvedCall, ToolError> {
            Ok(ResolvedCall::new(ToolEffect::Look, args.clone()))
        }
        fn call<'a>(
            &'a self,
            _: &'a ResolvedCall,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, ToolAnswer> {
            Box::pin(std::future::pending())
        }
    }
    let meta = ToolMeta::built_in::<Nothing>("slow", ToolEffect::Look, "waits")
        .with_time_limit(Duration::from_secs(7));
    let fixture = Fixture::with(|parts| {
        parts.registry = registry_with([Arc::new(Slow(meta)) as Arc<dyn Tool>]);
    });
    assert_eq!(fixture.code("slow", json!({})).await, "timeout");
    let call = fixture.a_call("slow", json!({}));
    call.cancel.cancel();
    let failed = fixture.toolbox.invoke(call).await.result.to_failure().unwrap();
    assert_eq!(failed.code, "cancelled");
}

#[tokio::test]
async fn unknown_tools_fields_and_prerequisites_are_named() {
    let fixture = Fixture::with(|parts| {
        let mut meta = ToolMeta::built_in::<Nothing>("second", ToolEffect::Look, "x");
        meta.prerequisites.push("first".into());
        let act = |_: &ToolContext| ToolResult::success(json!({}));
        parts.registry = registry_with([Arc::new(Fake { meta, act }) as Arc<dyn Tool>]);
    });
    let failed = fixture.call("file.raed", json!({})).await.result.to_failure().unwrap();
    assert_eq!(
        (failed.code.as_str(), failed.message.contains("did you mean file.read")),
        ("unknown_tool", true)
    );
    assert_eq!(fixture.code("second", json!({})).await, "missing_prerequisite");
    fixture.script.conditions.lock().unwrap().produced.insert("first".into());
    let done = fixture.call("second", json!({"why": "because"})).await.result;
    assert!(done.ok && done.explanations.iter().any(|line| line == "unknown_field: why left out"));
}

#[tokio::test]
async fn an_open_breaker_refuses_and_records_no_observation() {
    let fixture = Fixture::new();
    fixture.script.conditions.lock().unwrap().breaker_open_ms = Some(12_000);
    assert_eq!(fixture.code("file.list", json!({})).await, "breaker_open");
    assert!(fixture.script.log().is_empty());
}

#[tokio::test]
async fn a_filter_applies_regardless_of_the_rules() {
    let fixture = Fixture::new();
    fixture.allow([PermissionRule::allow("file.write", RuleMatcher::Any)]);
    let mut call = fixture.a_call("file.write", json!({"path": "a", "content": "x"}));
    call.filter = ToolFilter::for_exploring();
    let failed = fixture.toolbox.invoke(call).await.result.to_failure().unwrap();
    assert_eq!(failed.code, "not_allowed_here");
}

#[tokio::test]
async fn answers_are_reused_until_something_they_depend_on_changes() {
    let fixture = Fixture::new();
    fixture.allow([PermissionRule::allow("file.write", RuleMatcher::Any)]);
    fixture.file("a", "one");
    fixture.file("b", "one");
    let read = |path: &'static str| fixture.call("file.read", json!({ "path": path }));
    assert!(!read("a").await.cache_hit && !read("b").await.cache_hit);
    assert!(read("a").await.cache_hit && read("b").await.cache_hit);
    assert!(fixture.call("file.write", json!({"path": "a", "content": "two"})).await.result.ok);
    let again = read("a").await;
    assert!(!again.cache_hit && again.result.data["text"] == "two");
    assert!(read("b").await.cache_hit);
    // A change by someone else is noticed too.
    fixture.file("b", "longer than before");
    let changed = read("b").await;
    assert!(!changed.cache_hit && changed.result.data["text"] == "longer than before");
    // A failure is tried again.
    assert!(!read("missing").await.result.ok);
    fixture.file("missing", "here");
    assert!(read("missing").await.result.ok);
}

#[tokio::test]
async fn calls_update_the_tool_profile_and_wrong_arguments_do_not() {
    let fixture = Fixture::new();
    fixture.file("a", "x");
    fixture.call("file.read", json!({"path": "a"})).await;
    fixture.call("file.read", json!({"path": "a", "start_line": 99})).await;
    fixture.call("file.read", json!({"path": 3})).await;
    let writes = fixture.script.writes.lock().unwrap().clone();
    let seen: Vec<_> = writes
        .iter()
        .filter_map(|write| match write {
            StoreWrite::History(seen) => Some((seen.tool.as_str(), seen.ok)),
            _ => None,
        })
        .collect();
    assert_eq!(seen, [("file.read", true)]);
}

#[tokio::test]
async fn a_rule_of_the_session_comes_from_the_offer() {
    let fixture = Fixture::new();
    let rule = PermissionRule::allow("file.write", RuleMatcher::Path { glob: "docs/**".into() });
    fixture.answer([PermissionAnswer::Session { rule: rule.clone() }]);
    assert!(fixture.call("file.write", json!({"path": "docs/a", "content": "x"})).await.result.ok);
    fixture.script.conditions.lock().unwrap().grants.push(rule);
    let second = fixture.call("file.write", json!({"path": "docs/b", "content": "x"})).await;
    assert!(matches!(
        second.verdict,
        Some(PermissionVerdict::Allow { because: GrantBasis::Grant { .. } })
    ));
}

#[tokio::test]
async fn a_retry_must_change_something() {
    let fixture = Fixture::new();
    let args = json!({"path": "missing"});
    let mut call = fixture.a_call("file.read", args.clone());
    call.failed_args = Some(planwright_model::Digest::from_json(&args));
    let failed = fixture.toolbox.invoke(call).await.result.to_failure().unwrap();
    assert_eq!(failed.code, "same_args");
}

#[test]
fn the_disk_shows_whether_a_write_happened() {
    let fixture = Fixture::new();
    let hash = |text: &str| Some(super::workspace::content_hash(text.as_bytes()));
    let workspace = fixture.toolbox.workspace();
    let mut resolved = ResolvedCall::new(ToolEffect::Write, json!({}))
        .with_path(workspace.resolve_touched("a").unwrap());
    resolved.before_hash = hash("old");
    resolved.after_hash = hash("new");
    let mut change = resolved.file_change().unwrap();
    for (text, expected) in [
        ("old", WriteVerification::NotYet),
        ("new", WriteVerification::Happened),
        ("other", WriteVerification::Unknown),
    ] {
        fixture.file("a", text);
        assert_eq!(verify_write(&change, workspace), expected, "{text}");
    }
    change.before = None;
    std::fs::remove_file(fixture.root().join("a")).unwrap();
    assert_eq!(verify_write(&change, workspace), WriteVerification::NotYet);
}

#[tokio::test]
async fn a_workspace_that_contains_our_own_files_is_unconfined() {
    let fixture = Fixture::with(|parts| {
        let root = parts.workspace.root().to_owned();
        parts.workspace =
            Arc::new(super::Workspace::open(&root, &[], &[root.join("data")]).unwrap());
    });
    let super::permission::SandboxState::NotEnforced { why } = fixture.toolbox.sandbox_state()
    else {
        panic!()
    };
    assert!(why.contains("Planwright itself"));
}
