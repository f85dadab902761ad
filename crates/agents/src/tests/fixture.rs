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

use crate::{
    AgentAssets, AgentEnd, AgentJob, AgentLimits, AgentServices, NobodyThere, ReasoningMode,
    offline_model,
};
use planwright_drafting::gate::GatePolicy;
use planwright_llm::protocol::ModelDialogue;
use planwright_llm::recorded::{Cassette, CassetteEntry, ExchangeOutcome, RecordedModel};
use planwright_llm::{
    DeltaSink, FinishReason, GenerateRequest, GeneratedAnswer, LanguageModel, ModelCapability,
    ModelError, ModelInfo, RawToolCall, TokenUsage,
};
use planwright_model::event::AgentEvent;
use planwright_model::{Autonomy, CallId, ProfileChoice, TaskNode, ToolResult};
use planwright_state::AgentProgress;
use planwright_text::Redactor;
use planwright_tools::mcp::McpServers;
use planwright_tools::sandbox::Sandbox;
use planwright_tools::{
    CallConclusion, CallConditions, CallHost, CallIntent, CallProgress, PermissionAnswer,
    PermissionRequest, PermitPool, ResolvedCall, Tool, ToolAnswer, ToolContext, ToolEffect,
    ToolError, ToolInvocation, ToolMeta, ToolRegistry, ToolSettings, Toolbox, ToolboxParts,
    ToolboxServices, Workspace, builtin,
};

/// A person who answers every question alike, and a journal that only remembers.
#[derive(Default)]
pub(super) struct Person {
    pub(super) denies: Option<String>,
    /// Tools that are allowed all the same.
    pub(super) allows: Vec<String>,
    pub(super) broken: Vec<String>,
    /// A tool whose breaker is open until then.
    pub(super) paused: Option<(String, tokio::time::Instant)>,
    pub(super) intents: Mutex<Vec<CallIntent>>,
    pub(super) asked: Mutex<Vec<String>>,
}

impl CallHost for Person {
    fn call_conditions(&self, call: &ToolInvocation) -> CallConditions {
        CallConditions {
            autonomy: Autonomy::Medium,
            breaker_open_ms: self.broken.contains(&call.tool).then_some(9_000).or_else(|| {
                let (_, until) = self.paused.as_ref().filter(|(tool, _)| *tool == call.tool)?;
                let left = until.saturating_duration_since(tokio::time::Instant::now());
                u64::try_from(left.as_millis()).ok().filter(|left| *left > 0)
            }),
            ..CallConditions::default()
        }
    }

    fn ask_permission<'a>(&'a self, ask: &'a PermissionRequest) -> BoxFuture<'a, PermissionAnswer> {
        self.asked.lock().unwrap().push(ask.tool.clone());
        let answer = match &self.denies {
            Some(reason) if !self.allows.contains(&ask.tool) => {
                PermissionAnswer::Deny { reason: reason.clone() }
            }
            _ => PermissionAnswer::Once,
        };
        Box::pin(async move { answer })
    }

    fn record_intent<'a>(&'a self, intent: &'a CallIntent) -> BoxFuture<'a, Result<(), String>> {
        self.intents.lock().unwrap().push(intent.clone());
        Box::pin(async { Ok(()) })
    }

    fn record_conclusion<'a>(&'a self, _: &'a CallConclusion) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    fn record_progress(&self, _: &CallId, _: CallProgress) {}
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
        effect: ToolEffect,
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

    fn resolve(&self, args: &Value, _: &ToolContext) -> Result<ResolvedCall, ToolError> {
        Ok(ResolvedCall::new(self.meta.effect, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        let answer = (self.answer)(&resolved.args);
        Box::pin(async move { answer.into() })
    }
}

/// The built-in tools with others in the place of some.
pub(super) fn tools_with(others: &[Arc<dyn Tool>]) -> ToolRegistry {
    let built_in = builtin::builtin_registry();
    let mut registry = ToolRegistry::default();
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
    pub(super) registry: ToolRegistry,
    pub(super) settings: ToolSettings,
    pub(super) services: ToolboxServices,
    pub(super) person: Arc<Person>,
}

impl Default for Setup {
    fn default() -> Self {
        let mut settings = ToolSettings::default();
        settings.web.search_endpoint = Some("http://127.0.0.1:9/search".to_owned());
        Self {
            registry: builtin::builtin_registry(),
            settings,
            services: ToolboxServices::default(),
            person: Arc::default(),
        }
    }
}

impl Setup {
    pub(super) fn toolbox(self, directory: &Path) -> Toolbox {
        Toolbox::new(ToolboxParts {
            registry: self.registry,
            servers: McpServers::default(),
            workspace: Arc::new(Workspace::open(directory, &[], &[]).unwrap()),
            settings: self.settings,
            sandbox: Sandbox::unavailable("tests run without it"),
            services: self.services,
            permits: PermitPool::new(3),
            redactor: Redactor::new(["the-secret-of-this-test-0123456789"]),
            call_host: self.person,
            session: "test".to_owned(),
        })
    }
}

pub(super) fn build_services(model: Arc<dyn LanguageModel>, toolbox: Toolbox) -> AgentServices {
    services_for(model, toolbox, &AgentAssets::built_in())
}

/// The same for a model that works in one open conversation.
pub(super) fn open_services(model: Arc<dyn LanguageModel>, toolbox: Toolbox) -> AgentServices {
    let dialogue = ModelDialogue::new(Arc::clone(&model)).with_profile(ProfileChoice::Large);
    AgentServices { dialogue: Arc::new(dialogue), ..build_services(model, toolbox) }
}

pub(super) fn services_for(
    model: Arc<dyn LanguageModel>,
    toolbox: Toolbox,
    assets: &AgentAssets,
) -> AgentServices {
    let dialogue = Arc::new(ModelDialogue::new(model).with_profile(ProfileChoice::Small));
    AgentServices {
        planner: Arc::clone(&dialogue),
        judge: Arc::clone(&dialogue),
        summarizer: Arc::clone(&dialogue),
        dialogue,
        toolbox,
        types: Arc::clone(&assets.types),
        prompts: Arc::clone(&assets.prompts),
        recipes: Arc::clone(&assets.recipes),
        limits: AgentLimits::default(),
        person: Arc::new(NobodyThere),
        reasoning_mode: ReasoningMode::Direct,
        gate: GatePolicy::default(),
        clock: Arc::new(|| Timestamp::UNIX_EPOCH),
        next_ask: Arc::new(AtomicU32::new(0)),
        asking: Arc::default(),
    }
}

pub(super) fn offline_services(toolbox: Toolbox) -> AgentServices {
    build_services(offline_model(), toolbox)
}

pub(super) fn info(provider: &str) -> ModelInfo {
    ModelInfo {
        provider: provider.to_owned(),
        model: "small".to_owned(),
        host: String::new(),
        local: true,
        context_window: None,
        capability: Some(ModelCapability::FULL),
        facts: planwright_llm::ModelFacts::default(),
    }
}

/// An answer with words and at most one call.
pub(super) fn says(text: &str, call: Option<(&str, Value)>) -> GeneratedAnswer {
    let calls = call.into_iter().map(|(name, args)| RawToolCall {
        id: "c".to_owned(),
        name: name.to_owned(),
        arguments: args.to_string(),
    });
    let tool_calls: Vec<RawToolCall> = calls.collect();
    GeneratedAnswer {
        text: text.to_owned(),
        finish: if tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls },
        tool_calls,
        usage: TokenUsage::from_counts(100, 20),
        reasoning: Vec::new(),
        model: "small".to_owned(),
        spent_on_retries: TokenUsage::default(),
    }
}

/// The recorded model, from answers written by hand: each is given to whatever is asked next.
pub(super) fn recorded(answers: Vec<GeneratedAnswer>) -> Arc<RecordedModel> {
    let entries = answers
        .into_iter()
        .map(|answer| CassetteEntry {
            digest: None,
            request: None,
            outcome: ExchangeOutcome::Answer(answer),
        })
        .collect();
    Arc::new(RecordedModel::new(Cassette { info: info("recorded"), entries }, Redactor::default()))
}

type Rule = dyn Fn(&GenerateRequest) -> Result<GeneratedAnswer, Box<ModelError>> + Send + Sync;

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
        rule: impl Fn(&GenerateRequest) -> Result<GeneratedAnswer, Box<ModelError>>
        + Send
        + Sync
        + 'static,
    ) -> Arc<Self> {
        let requests = Mutex::default();
        Arc::new(Self { info: info("rule"), rule: Box::new(rule), requests })
    }

    /// Gives these answers one after the other.
    pub(super) fn in_order(answers: Vec<GeneratedAnswer>) -> Arc<Self> {
        let left = Mutex::new(answers.into_iter());
        Self::new(move |_| Ok(left.lock().unwrap().next().expect("another answer")))
    }

    /// The same for a model with a window of so many tokens.
    pub(super) fn with_window(window: u32, answers: Vec<GeneratedAnswer>) -> Arc<Self> {
        let left = Mutex::new(answers.into_iter());
        let rule =
            move |_: &GenerateRequest| Ok(left.lock().unwrap().next().expect("another answer"));
        let info = ModelInfo { context_window: Some(window), ..info("rule") };
        Arc::new(Self { info, rule: Box::new(rule), requests: Mutex::default() })
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
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>> {
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(ModelError::cancelled("rule"));
            }
            self.requests.lock().unwrap().push(request.clone());
            let answer = (self.rule)(request).map_err(|error| *error)?;
            for piece in answer.text.split_inclusive(' ') {
                deltas(planwright_llm::AnswerDelta::Text { text: piece.to_owned() });
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

pub(super) async fn run(services: &AgentServices, job: &AgentJob) -> Told {
    let events = Mutex::new(Vec::new());
    let say = |event: AgentEvent| events.lock().unwrap().push(event);
    let end = services.run_attempt(job, &say, &CancellationToken::new()).await;
    Told { end, events: events.into_inner().unwrap() }
}

pub(super) async fn run_task(services: &AgentServices, task: TaskNode) -> Told {
    run(services, &AgentJob::new(Arc::new(task), 1)).await
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

    /// The decisions of one `_type`, as they are journaled.
    pub(super) fn decisions(&self, kind: &str) -> Vec<Value> {
        self.events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Decided { decision, .. } => {
                    Some(serde_json::to_value(decision).unwrap())
                }
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
        assert!(progress.apply(event), "{event:?}");
    }
    progress
}

/// A search that finds something.
pub(super) fn fake_research() -> Arc<dyn Tool> {
    Fake::tool("internet.research", ToolEffect::Look, |_| {
        ToolResult::success(
            json!({"answer": "joins combine rows", "sources": ["http://a.example"]}),
        )
        .with_confidence(0.8)
    })
}
