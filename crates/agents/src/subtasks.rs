//! Subtasks with a model: what `explore_context` and `parallel_execute` hand on is done by a small loop of its own.
//!
//! A subtask sees only the tools that its filter lets pass, calls them through the call it is part of, and cannot
//! start what started it.

use std::fmt::Write as _;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::PromptLibrary;
use super::event_sink::{AgentEventSink, StepDraft};
use super::framing::{RULE, frame_data, render_result};
use super::model_requests::{ModelQuestion, ModelRequester};
use super::request_pace::RequestPace;
use super::tool_selection::{DONE, is_tool_configured};
use crate::clock::Clock;
use planwright_drafting::executor::recipe::compact_text;
use planwright_drafting::executor::{Recipe, RecipeLibrary, rules::call_identity};
use planwright_llm::cost::tokens::estimate_text_tokens;
use planwright_llm::protocol::ModelDialogue;
use planwright_llm::{GenerateRequest, Message, ToolCall, ToolSpec};
use planwright_model::agent_work::CallPurpose;
use planwright_model::event::AgentEvent;
use planwright_model::{Category, Digest, ExecutionFailure, PrdvPhase, StepMetadata, ToolResult};
use planwright_state::AgentProgress;
use planwright_tools::{SubtaskRequest, SubtaskRunner, ToolContext};

/// How often a subtask may act before it must answer.
const ROUNDS: u32 = 6;
/// How many calls are taken from one answer.
const CALLS: usize = 4;

/// Where subtasks say what happens; it outlives any single task.
pub type SharedEventCallback = Arc<dyn Fn(AgentEvent) + Send + Sync>;

/// Runs subtasks with the executor's model.
pub struct AgentSubtaskRunner {
    pub(super) dialogue: Arc<ModelDialogue>,
    prompts: Arc<PromptLibrary>,
    recipes: Arc<RecipeLibrary>,
    pub(super) clock: Clock,
    pub(super) next_ask: Arc<AtomicU32>,
    pub(super) asking: Arc<Mutex<()>>,
    pub(super) emit: SharedEventCallback,
    model: String,
}

impl std::fmt::Debug for AgentSubtaskRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentSubtasks").field("model", &self.model).finish_non_exhaustive()
    }
}

/// What a subtask is made with, apart from the toolbox: that one is made with the subtasks.
#[derive(Clone)]
pub struct SubtaskParts {
    pub dialogue: Arc<ModelDialogue>,
    pub prompts: Arc<PromptLibrary>,
    pub recipes: Arc<RecipeLibrary>,
    pub clock: Clock,
    pub next_ask: Arc<AtomicU32>,
    pub asking: Arc<Mutex<()>>,
    pub emit: SharedEventCallback,
}

impl std::fmt::Debug for SubtaskParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SubtaskParts").finish_non_exhaustive()
    }
}

impl AgentSubtaskRunner {
    pub fn new(parts: SubtaskParts) -> Self {
        let info = parts.dialogue.model().info();
        let model = format!("{}/{}", info.provider, info.model);
        let SubtaskParts { dialogue, prompts, recipes, clock, next_ask, asking, emit } = parts;
        Self { dialogue, prompts, recipes, clock, next_ask, asking, emit, model }
    }

    async fn run_subtask_rounds(
        &self,
        request: &SubtaskRequest,
        context: &ToolContext,
    ) -> ToolResult {
        let call = &context.call;
        let say = |event: AgentEvent| (self.emit)(event);
        let sink = AgentEventSink::new(
            (call.task.clone(), call.attempt),
            "subtask",
            &say,
            self.clock.clone(),
            context.toolbox.redactor().clone(),
            AgentProgress::default(),
        );
        let asker = ModelRequester {
            events: &sink,
            next_ask: &self.next_ask,
            asking: &self.asking,
            cancel: &context.cancel,
            unread: Mutex::default(),
            // Its own rounds bound it.
            pace: RequestPace::new(u32::MAX),
        };
        let recipe = self.recipes.get_or_default("subtask");
        let tools = subtask_tool_specs(context);
        let mut seen: Vec<(String, String)> = Vec::new();
        let mut failed: Vec<Digest> = Vec::new();
        for round in 1..=ROUNDS {
            let last = round == ROUNDS;
            let asked =
                self.subtask_prompt(recipe, request, &seen, if last { &[] } else { &tools });
            let question =
                ModelQuestion { dialogue: &self.dialogue, purpose: "subtask", request: &asked };
            let answered = match asker.ask_for_reply(question).await {
                Ok(answered) => answered,
                Err(error) => return ToolResult::failure(&(&error).into()),
            };
            let done = answered.calls.iter().find(|call| call.name == DONE);
            if done.is_some() || answered.calls.is_empty() {
                let said = done.and_then(|call| call.arguments.get("answer")?.as_str());
                return subtask_result(said.unwrap_or(&answered.text), &seen, &sink);
            }
            for call in answered.calls.iter().take(CALLS) {
                let nested = self.run_nested_call(call, context, &sink, (&mut seen, &mut failed));
                Box::pin(nested).await;
            }
        }
        unanswered_result()
    }

    async fn run_nested_call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
        sink: &AgentEventSink<'_>,
        (seen, failed): (&mut Vec<(String, String)>, &mut Vec<Digest>),
    ) {
        let label = format!("{} {}", call.name, call.arguments);
        let same = call_identity(&call.name, &call.arguments);
        if failed.contains(&same) {
            seen.push((label, "not made: it failed with the same arguments before".to_owned()));
            return;
        }
        let mut words =
            StepDraft::new(label.clone(), PrdvPhase::Research).with_metadata(StepMetadata {
                call: Some(seen.len() as u32 + 1),
                purpose: Some(CallPurpose::Lookup),
                ..StepMetadata::default()
            });
        (words.tool, words.input) = (Some(call.name.clone()), Some(call.arguments.clone()));
        sink.record_action(words);
        let finished = context.call_nested(&call.name, call.arguments.clone()).await;
        let text = render_result(&finished.result);
        if !finished.result.ok {
            failed.push(same);
        }
        let mut words = StepDraft::new(
            planwright_state::agent_progress::truncate_text(&text, 1500),
            PrdvPhase::Research,
        )
        .with_metadata(StepMetadata { ok: Some(finished.result.ok), ..StepMetadata::default() });
        words.tool = Some(call.name.clone());
        words.confidence = Some(finished.result.confidence);
        sink.record_observation(words);
        seen.push((label, text));
    }

    fn subtask_prompt(
        &self,
        recipe: &Recipe,
        request: &SubtaskRequest,
        seen: &[(String, String)],
        tools: &[ToolSpec],
    ) -> GenerateRequest {
        let system = self.prompts.get("executor/subtask.md").map_or("", |prompt| &prompt.text);
        let room = recipe.token_budget.input_docs;
        let mut text = format!("## Task\n{}\n\n{RULE}", request.description);
        for (at, input) in request.inputs.iter().enumerate() {
            let most = room / 3 / request.inputs.len() as u64;
            let input =
                compact_text(input, most, estimate_text_tokens).unwrap_or_else(|| input.clone());
            let _ = write!(text, "\n{}", frame_data(&format!("from subtask {}", at + 1), &input));
        }
        for (label, found) in seen {
            let most = room / 2 / seen.len() as u64;
            let found =
                compact_text(found, most, estimate_text_tokens).unwrap_or_else(|| found.clone());
            let label = planwright_text::clean_line(label);
            let label = planwright_state::agent_progress::truncate_text(&label, 200);
            let _ = write!(text, "\n{}", frame_data(&label, &found));
        }
        if tools.is_empty() {
            text.push_str("\n\nNo calls are left: answer now with what you have.");
        }
        let mut asked = GenerateRequest::new(vec![Message::system(system), Message::user(text)]);
        asked.tools = tools.to_vec();
        asked.cacheable_prefix = 1;
        asked.max_output_tokens = u32::try_from(recipe.token_budget.output).ok();
        asked
    }
}

/// The tools that the subtask's filter lets pass, and the way to end.
fn subtask_tool_specs(context: &ToolContext) -> Vec<ToolSpec> {
    let mut specs: Vec<ToolSpec> = context
        .toolbox
        .registry()
        .describe_tools(&context.filter)
        .into_iter()
        .filter(|tool| is_tool_configured(&context.toolbox, &tool.name))
        .map(|tool| ToolSpec {
            name: tool.name,
            description: tool.description,
            schema: tool.schema,
        })
        .collect();
    specs.push(ToolSpec {
        name: DONE.to_owned(),
        description: "Say that the subtask is done, with the answer.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
        }),
    });
    specs
}

fn subtask_result(text: &str, seen: &[(String, String)], sink: &AgentEventSink<'_>) -> ToolResult {
    if text.trim().is_empty() {
        return unanswered_result();
    }
    let text = sink.redactor.redact(text).into_owned();
    let sources: Vec<Value> = seen.iter().map(|(label, _)| json!(label)).collect();
    // Words that rest on nothing that was looked at are worth less.
    let sure = if seen.is_empty() { 0.4 } else { 0.8 };
    ToolResult::success(json!({ "answer": text, "looked_at": sources })).with_confidence(sure)
}

fn unanswered_result() -> ToolResult {
    let message = format!("no answer after {ROUNDS} rounds");
    ToolResult::failure(&ExecutionFailure::new("no_answer", Category::Recoverable, message))
}

impl SubtaskRunner for AgentSubtaskRunner {
    fn run_subtask<'a>(
        &'a self,
        request: &'a SubtaskRequest,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.run_subtask_rounds(request, context))
    }

    fn model_name(&self) -> &str {
        &self.model
    }
}
