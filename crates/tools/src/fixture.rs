//! What tests of tools share: a workspace, a toolbox, and a bracket that answers as it is told and remembers.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::Value;
use tempfile::TempDir;

use super::call::{
    Bracket, Conclusion, Finished, Intent, PermissionAnswer, PermissionAsk, Standing,
};
use super::context::Progress;
use super::invoke::Parts;
use super::mcp::Servers;
use super::offline::OfflineSubtasks;
use super::registry::Registry;
use super::sandbox::Sandbox;
use super::todo::TodoList;
use super::tool::StoreWrite;
use super::{Permits, Rule, Services, ToolCall, ToolSettings, Toolbox, Workspace, builtin};
use planwright_model::CallId;
use planwright_text::Redactor;

/// Answers as it is told, and writes down everything in order.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) standing: Mutex<Standing>,
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

impl Bracket for Script {
    fn standing(&self, _: &ToolCall) -> Standing {
        self.standing.lock().unwrap().clone()
    }

    fn ask<'a>(&'a self, ask: &'a PermissionAsk) -> BoxFuture<'a, PermissionAnswer> {
        self.note(format!("ask {}", ask.tool));
        if let Some(act) = self.while_asking.lock().unwrap().take() {
            act();
        }
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(std::future::ready(answer.unwrap_or(PermissionAnswer::Nobody)))
    }

    fn intend<'a>(&'a self, intent: &'a Intent) -> BoxFuture<'a, Result<(), String>> {
        self.note(format!("intend {}", intent.tool));
        let fails = *self.intents_fail.lock().unwrap();
        Box::pin(std::future::ready(if fails { Err("the disk is full".into()) } else { Ok(()) }))
    }

    fn conclude<'a>(&'a self, conclusion: &'a Conclusion) -> BoxFuture<'a, Result<(), String>> {
        self.note(format!("conclude {} {}", conclusion.tool, conclusion.result.ok));
        self.writes.lock().unwrap().extend(conclusion.writes.clone());
        Box::pin(std::future::ready(Ok(())))
    }

    fn progress(&self, _: &CallId, progress: Progress) {
        if let Progress::Child { child, state, .. } = progress {
            let state = serde_json::to_value(&state).unwrap();
            self.note(format!("child {child} {}", state["state"].as_str().unwrap()));
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

    /// Lets a test change the parts before they are put together.
    pub(crate) fn with(change: impl FnOnce(&mut Parts)) -> Self {
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
        let mut parts = Parts {
            registry: builtin::registry(),
            servers: Servers::default(),
            workspace: Arc::new(Workspace::open(directory.path(), &[], &[]).unwrap()),
            settings: ToolSettings::default(),
            sandbox: Sandbox::none("tests have no helper"),
            services: Services {
                todo: Some(Arc::new(todo)),
                subtasks: Some(Arc::new(OfflineSubtasks)),
                ..Services::default()
            },
            permits: Permits::new(3),
            redactor: Redactor::with_variables(
                vec![("SHOP_PASSWORD".to_owned(), "p4ss\"word-of-the-shop".to_owned())],
                ["hunter2-the-loaded-key"],
            ),
            bracket: Arc::clone(&script) as Arc<dyn Bracket>,
            // Processes are found by this mark, and tests run beside each other.
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

    pub(crate) fn allow(&self, rules: impl IntoIterator<Item = Rule>) {
        self.script.standing.lock().unwrap().rules.extend(rules);
    }

    pub(crate) fn answer(&self, answers: impl IntoIterator<Item = PermissionAnswer>) {
        self.script.answers.lock().unwrap().extend(answers);
    }

    pub(crate) fn a_call(&self, tool: &str, args: Value) -> ToolCall {
        let step = 1 + self.step.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        ToolCall::new(CallId { task: "t".into(), attempt: 1, step }, tool, args)
    }

    pub(crate) async fn call(&self, tool: &str, args: Value) -> Finished {
        self.toolbox.invoke(self.a_call(tool, args)).await
    }

    /// The code of the error, or an empty text.
    pub(crate) async fn code(&self, tool: &str, args: Value) -> String {
        self.call(tool, args).await.result.failed().map(|failure| failure.code).unwrap_or_default()
    }
}

/// A registry with the built-in tools and some of the test's own.
pub(crate) fn registry_with(tools: impl IntoIterator<Item = Arc<dyn super::Tool>>) -> Registry {
    let mut registry = builtin::registry();
    for tool in tools {
        registry.register(tool).unwrap();
    }
    registry
}
