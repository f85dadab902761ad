//! A toolbox over a temporary directory, models that say what they are told to, and a memory of what was said.

use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{AgentEnd, AgentJob, AgentKit, AgentLimits, Assets, ReasoningMode, offline_model};
use planwright_drafting::gate::GatePolicy;
use planwright_llm::protocol::Dialogue;
use planwright_llm::recorded::{Cassette, Entry, Outcome, Recorded};
use planwright_llm::{
    Capability, DeltaSink, Finish, GenerateRequest, Generated, LanguageModel, ModelError,
    ModelInfo, RawCall, Usage,
};
use planwright_model::event::AgentEvent;
use planwright_model::{Autonomy, CallId, TaskNode, ToolResult};
use planwright_state::AgentProgress;
use planwright_text::Redactor;
use planwright_tools::mcp::Servers;
use planwright_tools::sandbox::Sandbox;
use planwright_tools::{
    Answer, Bracket, Conclusion, Effect, Intent, Parts, PermissionAnswer, PermissionAsk, Permits,
    Progress, Registry, Resolved, Services, Standing, Tool, ToolCall, ToolContext, ToolError,
    ToolMeta, ToolSettings, Toolbox, Workspace, builtin,
};

/// A person who answers every question alike, and a journal that only remembers.
#[derive(Default)]
pub(super) struct Person {
    pub(super) denies: Option<String>,
    /// Tools that are allowed all the same.
    pub(super) allows: Vec<String>,
    pub(super) broken: Vec<String>,
    pub(super) intents: Mutex<Vec<Intent>>,
    pub(super) asked: Mutex<Vec<String>>,
}

impl Bracket for Person {
    fn standing(&self, call: &ToolCall) -> Standing {
        Standing {
            autonomy: Autonomy::Medium,
            breaker_open_ms: self.broken.contains(&call.tool).then_some(9_000),
            ..Standing::default()
        }
    }

    fn ask<'a>(&'a self, ask: &'a PermissionAsk) -> BoxFuture<'a, PermissionAnswer> {
        self.asked.lock().unwrap().push(ask.tool.clone());
        let answer = match &self.denies {
            Some(reason) if !self.allows.contains(&ask.tool) => {
                PermissionAnswer::Deny { reason: reason.clone() }
            }
            _ => PermissionAnswer::Once,
        };
        Box::pin(async move { answer })
    }

    fn intend<'a>(&'a self, intent: &'a Intent) -> BoxFuture<'a, Result<(), String>> {
        self.intents.lock().unwrap().push(intent.clone());
        Box::pin(async { Ok(()) })
    }

    fn conclude<'a>(&'a self, _: &'a Conclusion) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    fn progress(&self, _: &CallId, _: Progress) {}
}

/// Any arguments at all.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Anything {}

/// A tool that answers as it is told to.
pub(super) struct Fake {
    meta: ToolMeta,
    answer: Box<dyn Fn(&Value) -> ToolResult + Send + Sync>,
}

impl Fake {
    pub(super) fn tool(
        name: &str,
        effect: Effect,
        answer: impl Fn(&Value) -> ToolResult + Send + Sync + 'static,
    ) -> Arc<dyn Tool> {
        let mut meta = ToolMeta::built_in::<Anything>(name, effect, "made up");
        meta.schema = json!({ "type": "object" });
        meta.idempotent = false;
        Arc::new(Self { meta, answer: Box::new(answer) })
    }
}

impl Tool for Fake {
    fn meta(&self) -> &ToolMeta {
        &self.meta
    }

    fn resolve(&self, args: &Value, _: &ToolContext) -> Result<Resolved, ToolError> {
        Ok(Resolved::new(self.meta.effect, args.clone()))
    }

    fn call<'a>(&'a self, resolved: &'a Resolved, _: &'a ToolContext) -> BoxFuture<'a, Answer> {
        let answer = (self.answer)(&resolved.args);
        Box::pin(async move { answer.into() })
    }
}

/// The built-in tools with others in the place of some.
pub(super) fn tools_with(others: &[Arc<dyn Tool>]) -> Registry {
    let built_in = builtin::registry();
    let mut registry = Registry::default();
    for tool in others {
        registry.register(Arc::clone(tool)).unwrap();
    }
    for name in built_in.names() {
        if registry.get(name).is_none() {
            registry.register(Arc::clone(built_in.get(name).unwrap())).unwrap();
        }
    }
    registry
}

pub(super) struct Setup {
    pub(super) registry: Registry,
    pub(super) settings: ToolSettings,
    pub(super) services: Services,
    pub(super) person: Arc<Person>,
}

impl Default for Setup {
    fn default() -> Self {
        let mut settings = ToolSettings::default();
        settings.web.search_endpoint = Some("http://127.0.0.1:9/search".to_owned());
        Self {
            registry: builtin::registry(),
            settings,
            services: Services::default(),
            person: Arc::default(),
        }
    }
}

impl Setup {
    pub(super) fn toolbox(self, directory: &Path) -> Toolbox {
        Toolbox::new(Parts {
            registry: self.registry,
            servers: Servers::default(),
            workspace: Arc::new(Workspace::open(directory, &[], &[]).unwrap()),
            settings: self.settings,
            sandbox: Sandbox::none("tests run without it"),
            services: self.services,
            permits: Permits::new(3),
            redactor: Redactor::new(["the-secret-of-this-test-0123456789"]),
            bracket: self.person,
            session: "test".to_owned(),
        })
    }
}

pub(super) fn kit(model: Arc<dyn LanguageModel>, toolbox: Toolbox) -> AgentKit {
    kit_of(model, toolbox, &Assets::built_in())
}

pub(super) fn kit_of(model: Arc<dyn LanguageModel>, toolbox: Toolbox, assets: &Assets) -> AgentKit {
    let dialogue = Arc::new(Dialogue::new(model));
    AgentKit {
        planner: Arc::clone(&dialogue),
        judge: Arc::clone(&dialogue),
        summarizer: Arc::clone(&dialogue),
        dialogue,
        toolbox,
        types: Arc::clone(&assets.types),
        prompts: Arc::clone(&assets.prompts),
        recipes: Arc::clone(&assets.recipes),
        limits: AgentLimits::default(),
        reasoning_mode: ReasoningMode::Direct,
        gate: GatePolicy::default(),
        clock: Arc::new(|| Timestamp::UNIX_EPOCH),
        next_ask: Arc::new(AtomicU32::new(0)),
        asking: Arc::default(),
    }
}

pub(super) fn offline_kit(toolbox: Toolbox) -> AgentKit {
    kit(offline_model(), toolbox)
}

pub(super) fn info(provider: &str) -> ModelInfo {
    ModelInfo {
        provider: provider.to_owned(),
        model: "small".to_owned(),
        host: String::new(),
        local: true,
        context_window: None,
        capability: Some(Capability::FULL),
    }
}

/// An answer with words and at most one call.
pub(super) fn says(text: &str, call: Option<(&str, Value)>) -> Generated {
    let calls = call.into_iter().map(|(name, args)| RawCall {
        id: "c".to_owned(),
        name: name.to_owned(),
        arguments: args.to_string(),
    });
    let tool_calls: Vec<RawCall> = calls.collect();
    Generated {
        text: text.to_owned(),
        finish: if tool_calls.is_empty() { Finish::Stop } else { Finish::ToolCalls },
        tool_calls,
        usage: Usage::of(100, 20),
        model: "small".to_owned(),
        spent_on_retries: Usage::default(),
    }
}

/// The recorded model, from answers written by hand: each is given to whatever is asked next.
pub(super) fn recorded(answers: Vec<Generated>) -> Arc<Recorded> {
    let entries = answers
        .into_iter()
        .map(|answer| Entry { digest: None, request: None, outcome: Outcome::Answer(answer) })
        .collect();
    Arc::new(Recorded::new(Cassette { info: info("recorded"), entries }, Redactor::default()))
}

type Rule = dyn Fn(&GenerateRequest) -> Result<Generated, Box<ModelError>> + Send + Sync;

/// A model that answers by rule and remembers what it was asked.
pub(super) struct ByRule {
    info: ModelInfo,
    rule: Box<Rule>,
    pub(super) requests: Mutex<Vec<GenerateRequest>>,
}

impl std::fmt::Debug for ByRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByRule").finish_non_exhaustive()
    }
}

impl ByRule {
    pub(super) fn new(
        rule: impl Fn(&GenerateRequest) -> Result<Generated, Box<ModelError>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let requests = Mutex::default();
        Arc::new(Self { info: info("rule"), rule: Box::new(rule), requests })
    }

    /// Gives these answers one after the other.
    pub(super) fn in_order(answers: Vec<Generated>) -> Arc<Self> {
        let left = Mutex::new(answers.into_iter());
        Self::new(move |_| Ok(left.lock().unwrap().next().expect("another answer")))
    }

    pub(super) fn prompts(&self) -> Vec<String> {
        let text = |request: &GenerateRequest| {
            request
                .messages
                .iter()
                .map(planwright_llm::Message::text)
                .collect::<Vec<_>>()
                .join("\n")
        };
        self.requests.lock().unwrap().iter().map(text).collect()
    }
}

impl LanguageModel for ByRule {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Generated, ModelError>> {
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(ModelError::cancelled("rule"));
            }
            self.requests.lock().unwrap().push(request.clone());
            let answer = (self.rule)(request).map_err(|error| *error)?;
            for piece in answer.text.split_inclusive(' ') {
                deltas(planwright_llm::Delta::Text { text: piece.to_owned() });
            }
            Ok(answer)
        })
    }
}

pub(super) fn task(kind: &str, description: &str) -> TaskNode {
    let mut task = TaskNode::new("t", description);
    task.task_type = kind.to_owned();
    task
}

/// Everything that was said in one attempt.
pub(super) struct Told {
    pub(super) end: AgentEnd,
    pub(super) events: Vec<AgentEvent>,
}

pub(super) async fn run(kit: &AgentKit, job: &AgentJob) -> Told {
    let events = Mutex::new(Vec::new());
    let say = |event: AgentEvent| events.lock().unwrap().push(event);
    let end = kit.run(job, &say, &CancellationToken::new()).await;
    Told { end, events: events.into_inner().unwrap() }
}

pub(super) async fn run_task(kit: &AgentKit, task: TaskNode) -> Told {
    run(kit, &AgentJob::new(Arc::new(task), 1)).await
}

impl Told {
    pub(super) fn progress(&self) -> AgentProgress {
        folded(&self.events)
    }

    /// The tools that were called, in order.
    pub(super) fn tools(&self) -> Vec<String> {
        self.events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Acted { step, .. } => step.tool_used.clone(),
                _ => None,
            })
            .collect()
    }

    /// The decisions of one `_type`.
    pub(super) fn decisions(&self, kind: &str) -> Vec<&Value> {
        self.events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Decided { decision, .. } => Some(decision),
                _ => None,
            })
            .filter(|decision| decision["_type"] == kind)
            .collect()
    }

    pub(super) fn asks(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, AgentEvent::ModelAsked { .. })).count()
    }

    pub(super) fn observations(&self) -> Vec<String> {
        self.events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Observed { step, .. } => Some(step.content.clone()),
                _ => None,
            })
            .collect()
    }
}

pub(super) fn folded(events: &[AgentEvent]) -> AgentProgress {
    let mut progress = AgentProgress::default();
    for event in events {
        assert!(progress.fold(event), "{event:?}");
    }
    progress
}

/// A search that finds something.
pub(super) fn fake_research() -> Arc<dyn Tool> {
    Fake::tool("internet.research", Effect::Look, |_| {
        ToolResult::success(
            json!({"answer": "joins combine rows", "sources": ["http://a.example"]}),
        )
        .sure(0.8)
    })
}
