//! Shared fixtures for tests of tools: a workspace, a toolbox, and a scripted call host that records everything.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::Value;
use tempfile::TempDir;

use super::call::{
    CallConclusion, CallConditions, CallHost, CallIntent, FinishedCall, PermissionAnswer,
    PermissionRequest,
};
use super::context::CallProgress;
use super::invoke::ToolboxParts;
use super::mcp::McpServers;
use super::offline_subtasks::OfflineSubtaskRunner;
use super::registry::ToolRegistry;
use super::sandbox::Sandbox;
use super::todo::TodoList;
use super::tool::StoreWrite;
use super::{
    PermitPool, ToolInvocation, ToolSettings, Toolbox, ToolboxServices, Workspace, builtin,
};
use planwright_model::CallId;
use planwright_model::permission::PermissionRule;
use planwright_text::Redactor;

/// Answers as scripted, and records everything in order.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) conditions: Mutex<CallConditions>,
    pub(crate) answers: Mutex<VecDeque<PermissionAnswer>>,
    pub(crate) log: Mutex<Vec<String>>,
    pub(crate) writes: Mutex<Vec<StoreWrite>>,
    pub(crate) intents_fail: Mutex<bool>,
    pub(crate) while_asking: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Script {
    pub(crate) fn note(&self, line: impl Into<String>) {
        self.log.lock().unwrap().push(line.into());
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

impl CallHost for Script {
    fn call_conditions(&self, _: &ToolInvocation) -> CallConditions {
        self.conditions.lock().unwrap().clone()
    }

    fn ask_permission<'a>(&'a self, ask: &'a PermissionRequest) -> BoxFuture<'a, PermissionAnswer> {
        self.note(format!("ask {}", ask.tool));
        if let Some(act) = self.while_asking.lock().unwrap().take() {
            act();
        }
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(std::future::ready(answer.unwrap_or(PermissionAnswer::Nobody)))
    }

    fn record_intent<'a>(&'a self, intent: &'a CallIntent) -> BoxFuture<'a, Result<(), String>> {
        self.note(format!("intend {}", intent.tool));
        let fails = *self.intents_fail.lock().unwrap();
        Box::pin(std::future::ready(if fails { Err("the disk is full".into()) } else { Ok(()) }))
    }

    fn record_conclusion<'a>(
        &'a self,
        conclusion: &'a CallConclusion,
    ) -> BoxFuture<'a, Result<(), String>> {
        self.note(format!("conclude {} {}", conclusion.tool, conclusion.result.ok));
        self.writes.lock().unwrap().extend(conclusion.writes.clone());
        Box::pin(std::future::ready(Ok(())))
    }

    fn record_progress(&self, _: &CallId, progress: CallProgress) {
        if let CallProgress::Child { child, state, .. } = progress {
            self.note(format!("child {child} {}", state.as_str()));
        }
    }
}

/// A toolbox in a fresh directory.
pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) script: Arc<Script>,
    pub(crate) toolbox: Toolbox,
    step: std::sync::atomic::AtomicU32,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    /// Lets a test change the parts before the toolbox is built.
    pub(crate) fn with(change: impl FnOnce(&mut ToolboxParts)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let script = Arc::new(Script::default());
        let todo = {
            let script = Arc::clone(&script);
            move || {
                let writes = script.writes.lock().unwrap();
                writes
                    .iter()
                    .rev()
                    .find_map(|write| match write {
                        StoreWrite::Todo { list } => Some(list.clone()),
                        _ => None,
                    })
                    .unwrap_or_else(TodoList::default)
            }
        };
        let mut parts = ToolboxParts {
            registry: builtin::builtin_registry(),
            servers: McpServers::default(),
            workspace: Arc::new(Workspace::open(directory.path(), &[], &[]).unwrap()),
            settings: ToolSettings::default(),
            sandbox: Sandbox::unavailable("tests have no helper"),
            services: ToolboxServices {
                todo: Some(Arc::new(todo)),
                subtasks: Some(Arc::new(OfflineSubtaskRunner)),
                ..ToolboxServices::default()
            },
            permits: PermitPool::new(3),
            redactor: Redactor::with_variables(
                vec![("SHOP_PASSWORD".to_owned(), "p4ss\"word-of-the-shop".to_owned())],
                ["hunter2-the-loaded-key"],
            ),
            call_host: Arc::clone(&script) as Arc<dyn CallHost>,
            // Processes are found by this mark, and tests run in parallel.
            session: format!("test-{}", uuid::Uuid::now_v7().simple()),
        };
        change(&mut parts);
        Self { directory, script, toolbox: Toolbox::new(parts), step: 0.into() }
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(crate) fn allow(&self, rules: impl IntoIterator<Item = PermissionRule>) {
        self.script.conditions.lock().unwrap().rules.extend(rules);
    }

    pub(crate) fn answer(&self, answers: impl IntoIterator<Item = PermissionAnswer>) {
        self.script.answers.lock().unwrap().extend(answers);
    }

    pub(crate) fn a_call(&self, tool: &str, args: Value) -> ToolInvocation {
        let step = 1 + self.step.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        ToolInvocation::new(CallId { task: "t".into(), attempt: 1, step }, tool, args)
    }

    pub(crate) async fn call(&self, tool: &str, args: Value) -> FinishedCall {
        self.toolbox.invoke(self.a_call(tool, args)).await
    }

    /// The code of the error, or an empty string.
    pub(crate) async fn code(&self, tool: &str, args: Value) -> String {
        self.call(tool, args)
            .await
            .result
            .to_failure()
            .map(|failure| failure.code)
            .unwrap_or_default()
    }
}

/// A registry with the built-in tools and some of the test's own.
pub(crate) fn registry_with(tools: impl IntoIterator<Item = Arc<dyn super::Tool>>) -> ToolRegistry {
    let mut registry = builtin::builtin_registry();
    for tool in tools {
        registry.register(tool).unwrap();
    }
    registry
}
