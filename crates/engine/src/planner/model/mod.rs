//! Drafting with a model: it fills in the arguments of the planning tools, and the same rules decide whether they count.

mod nodes;
mod pattern_choice;
mod prompt;
mod roadmap;
mod weak_draft;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::tools::{
    PlanTool, ideas_schema, outline_schema, pattern_schema, roadmap_schema, tools_for_state,
};
use super::{Planner, StageResult, trace};
use planwright_agents::{ABILITIES, AnswerWatch, journaled_reasoning, redact_value};
use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::offline::KindVerdict;
use planwright_llm::cost::CostEstimate;
use planwright_llm::protocol::{ModelDialogue, ModelReply, PROTOCOL_CHANGED, ProtocolDemotion};
use planwright_llm::{GenerateRequest, Message, ModelError, ToolCall, ToolChoice, ToolSpec};
use planwright_model::event::{AgentEvent, Event, PlanningEvent};
use planwright_model::{
    AgentProfile, Category, Digest, ExecutionFailure, PlanDrafter, PlanState, PlanningToolName,
    ReactLogEntry, RunCap, Stage,
};
use planwright_state::PlanningSlice;
use planwright_text::Redactor;

/// A model that drafts, and what it is told.
#[derive(Debug)]
pub struct ModelClient {
    pub dialogue: ModelDialogue,
    /// The agent's system prompt, and those of its tools by name.
    pub prompts: Arc<super::PlanningPrompts>,
    pub redactor: Redactor,
    /// Counts the questions of the session, planning and execution together.
    pub next_ask: Arc<AtomicU32>,
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u32>,
    /// What the model may look at while it plans, if there is a workspace.
    pub workspace: Option<super::PlanningWorkspace>,
}

impl ModelClient {
    /// Who drafts, as traces name it.
    pub fn name(&self) -> String {
        let info = self.dialogue.model().info();
        format!("{}/{}", info.provider, info.model)
    }

    /// How the model is worked with: a conversation that has begun goes on, unless the person wants strict steps.
    pub fn planning_profile(&self, talk: &PlanningSlice) -> AgentProfile {
        let begun = talk.conversation.is_some();
        let by_model = if begun { AgentProfile::Large } else { self.dialogue.profile() };
        self.dialogue.profile_choice().resolve_profile(by_model)
    }

    /// Whether planning begins with a model that was never tried, so that nobody knows how to work with it.
    pub fn is_profile_unproven(&self, talk: &PlanningSlice) -> bool {
        talk.conversation.is_none() && self.dialogue.is_profile_unproven()
    }
}

/// Where events go while a stage is under way: those of one call are journaled together or not at all.
pub(crate) type PlanningEventSink<'a> = &'a (dyn Fn(Vec<Event>) + Send + Sync);

/// Why a model's draft does not count.
pub(super) enum UnusableDraft {
    /// The provider failed, or the money is used up.
    Model(ModelError),
    /// It answered, but with nothing that can be used.
    Answer(String),
}

/// How often a tool is offered again after arguments that do not fit.
const TRIES: usize = 2;

/// Ideas should differ from each other.
const BRAINSTORMER_TEMPERATURE: f64 = 0.8;

impl Planner {
    /// Does the work of a drafting state with a model.
    pub async fn run_stage_with_model(
        &self,
        client: &ModelClient,
        talk: &PlanningSlice,
        now: Timestamp,
        say: PlanningEventSink<'_>,
        cancel: &CancellationToken,
    ) -> StageResult {
        let found = if client.is_profile_unproven(talk) {
            find_profile(client, say, cancel).await.map_err(UnusableDraft::Model)
        } else {
            Ok(())
        };
        let large = client.planning_profile(talk) == AgentProfile::Large;
        let drafted = match talk.place.state {
            _ if found.is_err() => found.map(|()| StageResult::new(ControllerOutcome::FatalError)),
            _ if large => self.run_conversation_stage(client, talk, now, say, cancel).await,
            PlanState::DraftOutline => {
                self.draft_outline_with_model(client, talk, now, say, cancel).await
            }
            PlanState::DraftRoadmap => {
                self.draft_roadmap_with_model(client, talk, now, say, cancel).await
            }
            _ => Ok(self.run_stage(talk, now)),
        };
        drafted.unwrap_or_else(|unusable| {
            let mut cap = None;
            let (outcome, what) = match unusable {
                UnusableDraft::Model(error) => {
                    cap = RunCap::find_in_message(&error.message);
                    let what = format!("{}; {}", error.message, error.next_step);
                    let outcome = match error.code.as_str() {
                        "cap_reached" => ControllerOutcome::Budget,
                        "invalid_output" => ControllerOutcome::InvalidOutput,
                        // A form of request that the provider does not accept may pass in another.
                        _ if error.category == Category::Recoverable => {
                            ControllerOutcome::ToolError
                        }
                        // It was tried as often and waited for as long as the settings say.
                        _ => ControllerOutcome::ModelUnavailable,
                    };
                    (outcome, what)
                }
                UnusableDraft::Answer(what) => (ControllerOutcome::InvalidOutput, what),
            };
            let what = client.redactor.redact(&what).into_owned();
            StageResult::new(outcome).with_event(PlanningEvent::Troubled { what, cap })
        })
    }

    async fn draft_outline_with_model(
        &self,
        client: &ModelClient,
        talk: &PlanningSlice,
        now: Timestamp,
        say: PlanningEventSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<StageResult, UnusableDraft> {
        // The first retry mends mechanically; no model is asked.
        if talk.counters.stage_retries(Stage::Outline) == 1
            && talk.outline.is_some()
            && talk.change_requests.is_empty()
        {
            return Ok(self.run_stage(talk, now));
        }
        if let Some(before) = talk.outline.as_deref()
            && !talk.change_requests.is_empty()
            && self.reads_all_requests(talk, before, now)
        {
            return Ok(self.run_stage(talk, now));
        }
        let mut work = StageResult::new(ControllerOutcome::Success);
        if talk.outline.is_none() && Self::should_offer_ideas(talk, None, None) {
            work = self.add_model_ideas(client, work, talk, now, say, cancel).await;
        }
        let choice = if let Some(choice) = self.settled_pattern(talk) {
            choice.clone()
        } else if self.answered_kind(talk).is_some() {
            let choice = self.choose_kind(talk, now);
            work = work.with_event(PlanningEvent::KindChosen { choice: choice.clone() });
            choice
        } else if self.pick_kind(talk, now).verdict == KindVerdict::Sure {
            // A weak model guesses the kind; the words of a clear goal say it.
            let choice = self.choose_kind(talk, now);
            work = work.with_event(PlanningEvent::PatternPicked { choice: choice.clone() });
            choice
        } else {
            let watch = trace::ToolTraceTimer::start(
                talk,
                PlanningToolName::PatternSelector,
                &self.session,
            );
            let context = prompt::context_prompt(talk, &self.plan_context(talk, now));
            let choice = self
                .request_tool_arguments(
                    client,
                    talk,
                    "PatternSelector",
                    pattern_schema(),
                    &context,
                    say,
                    cancel,
                    |args| self.read_pattern_choice(args).map_err(|why| vec![why]),
                )
                .await?;
            let (confidence, told) = (choice.confidence, choice.explanations.clone());
            work = work.with_event(PlanningEvent::PatternPicked { choice: choice.clone() });
            work = watch.finish(work, Some(confidence), told);
            choice
        };
        if let Some(stop) = self.pattern_gate(talk, &choice) {
            work.outcome = stop;
            return Ok(work);
        }
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::NodeGenerator, &self.session);
        let mut context = self.plan_context(talk, now);
        context.pattern = Some(choice.pattern.clone());
        let question = prompt::outline_prompt(talk, &context, &choice);
        let before = talk.outline.as_deref();
        let marked: Vec<_> =
            talk.change_requests.iter().flat_map(|request| request.nodes.iter().cloned()).collect();
        let (mut outline, score) = self
            .request_tool_arguments(
                client,
                talk,
                "NodeGenerator",
                outline_schema(),
                &question,
                say,
                cancel,
                |args| {
                    let mut outline =
                        nodes::build_outline(args, &context, &choice.pattern, before)?;
                    if let Some(before) = before {
                        nodes::restore_unmarked(before, &mut outline, &marked);
                        let broken =
                            super::preservation::broken_locks(before, &outline, &talk.locked);
                        if !broken.is_empty() {
                            let ids: Vec<&str> =
                                broken.iter().map(planwright_model::ids::TaskId::as_str).collect();
                            return Err(vec![format!(
                                "locked nodes must stay exactly as they are: {}",
                                ids.join(", ")
                            )]);
                        }
                    }
                    Ok((outline, nodes::self_score(args)))
                },
            )
            .await?;
        outline.version = before.map_or(1, |before| before.version + 1);
        self.correct_weak_outline(talk, &mut outline, now);
        for entry in self.repair_weak_outline(talk, &mut outline, now) {
            work = work.with_event(PlanningEvent::Adapted { entry });
        }
        let count = outline.nodes.len();
        let reports = before.map(|before| weak_draft::redraft_events(talk, before, &outline));
        work = work.with_event(PlanningEvent::OutlineDrafted {
            outline: Arc::new(outline),
            by: PlanDrafter::Model(client.name()),
            self_score: Some(score),
        });
        for event in reports.unwrap_or_default() {
            work = work.with_event(event);
        }
        Ok(watch.finish(work, Some(score), vec![format!("{count} nodes")]))
    }

    async fn draft_roadmap_with_model(
        &self,
        client: &ModelClient,
        talk: &PlanningSlice,
        now: Timestamp,
        say: PlanningEventSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<StageResult, UnusableDraft> {
        // The built-in builder drafts the base: options, links of the pattern, and the mechanical first retry.
        let mut work = self.draft_roadmap(talk, now);
        let base = work.events.iter().rev().find_map(|event| match event {
            Event::Planning(PlanningEvent::RoadmapDrafted { roadmap, .. }) => Some(roadmap.clone()),
            _ => None,
        });
        let mends = talk.counters.stage_retries(Stage::Roadmap) == 1;
        // A weak model would give new estimates to all tasks, also to those that nobody asked to change.
        let redrafts = talk.compared.is_some() || !talk.change_requests.is_empty();
        let (Some(base), false) = (base, mends || redrafts) else {
            return Ok(work);
        };
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::RoadmapBuilder, &self.session);
        let question = prompt::roadmap_prompt(talk, &base);
        let (roadmap, score, notes) = self
            .request_tool_arguments(
                client,
                talk,
                "RoadmapBuilder",
                roadmap_schema(),
                &question,
                say,
                cancel,
                |args| Ok(roadmap::refine_roadmap(&base, args, &talk.locked)),
            )
            .await?;
        let (roadmap, log) = self.repair_weak_roadmap(talk, roadmap, now);
        for entry in log {
            work = work.with_event(PlanningEvent::Adapted { entry });
        }
        work = work.with_event(PlanningEvent::RoadmapDrafted {
            roadmap: Arc::new(roadmap),
            by: PlanDrafter::Model(client.name()),
            self_score: Some(score),
        });
        Ok(watch.finish(work, Some(score), notes))
    }

    /// Ideas of the model's; nothing if it has none to offer.
    pub(super) async fn request_ideas(
        &self,
        client: &ModelClient,
        talk: &PlanningSlice,
        now: Timestamp,
        say: PlanningEventSink<'_>,
        cancel: &CancellationToken,
        take: impl Fn(&Value) -> Result<Vec<String>, Vec<String>>,
    ) -> Option<Vec<String>> {
        let mut question = prompt::context_prompt(talk, &self.plan_context(talk, now));
        question.push_str("Offer ideas by calling Brainstormer.\n");
        let tool = "Brainstormer";
        let told = self.request_tool_arguments(
            client,
            talk,
            tool,
            ideas_schema(),
            &question,
            say,
            cancel,
            take,
        );
        told.await.ok()
    }

    /// Has a model fill in the arguments of one tool. What it says besides is shown and changes nothing.
    #[expect(clippy::too_many_arguments, reason = "one question with all that surrounds it")]
    async fn request_tool_arguments<T>(
        &self,
        client: &ModelClient,
        talk: &PlanningSlice,
        tool: &str,
        schema: Value,
        question: &str,
        say: PlanningEventSink<'_>,
        cancel: &CancellationToken,
        take: impl Fn(&Value) -> Result<T, Vec<String>>,
    ) -> Result<T, UnusableDraft> {
        let spec = tools_for_state(talk.place.state).find(|known| known.name == tool);
        let description = spec.map_or("", |tool: &PlanTool| tool.description);
        let mut request = GenerateRequest::new(vec![
            Message::system(client.prompts.system_prompt(tool)),
            Message::user(client.redactor.redact(question).into_owned()),
        ]);
        request.tools =
            vec![ToolSpec { name: tool.to_owned(), description: description.to_owned(), schema }];
        request.tool_choice = ToolChoice::Named(tool.to_owned());
        request.temperature = if tool == "Brainstormer" {
            client.temperature.map(|_| BRAINSTORMER_TEMPERATURE)
        } else {
            client.temperature
        };
        request.max_output_tokens = client.max_output_tokens;
        request.cacheable_prefix = 1;
        let mut wrong = Vec::new();
        for _ in 0..TRIES {
            let (reply, words_shown) = ask_model(client, &request, tool, say, cancel)
                .await
                .map_err(UnusableDraft::Model)?;
            let words = client.redactor.redact(reply.text.trim()).into_owned();
            if !words.is_empty() && !words_shown {
                say(vec![PlanningEvent::Remarked { text: words.clone() }.into()]);
            }
            let call: Option<ToolCall> = reply.calls.into_iter().find(|call| call.name == tool);
            let Some(call) = call else {
                wrong = vec![format!("{tool} was not called")];
                request.messages.push(Message::assistant(words));
                request.messages.push(Message::user(format!("Call {tool}; words change nothing.")));
                continue;
            };
            match take(&call.arguments) {
                Ok(taken) => return Ok(taken),
                Err(why) => {
                    let answer = Message::tool_error(&call, why.join("; "));
                    request.messages.push(Message::assistant_turn(words, reply.reasoning, [call]));
                    request.messages.push(answer);
                    wrong = why;
                }
            }
        }
        Err(UnusableDraft::Answer(format!(
            "{} gave no usable {tool}: {}",
            client.name(),
            wrong.join("; ")
        )))
    }
}

/// One question to the model, with its ledger as events. Also says whether its words were shown while they came.
pub(super) async fn ask_model(
    client: &ModelClient,
    request: &GenerateRequest,
    purpose: &str,
    say: PlanningEventSink<'_>,
    cancel: &CancellationToken,
) -> Result<(ModelReply, bool), ModelError> {
    let prompt = Digest::from_json(&serde_json::to_value(&request.messages).unwrap_or_default());
    detect_capability(client, request, &prompt, say, cancel).await?;
    let ask = record_asked(client, purpose, client.dialogue.estimate_cost(request), &prompt, say);
    let begun = Instant::now();
    let emit = |event: AgentEvent| say(vec![event.into()]);
    let info = client.dialogue.model().info();
    let watch = AnswerWatch::begin(None, ask, info, &client.redactor, &emit);
    let sink = |delta| watch.push_delta(delta);
    let mut reply = match watch.watch(client.dialogue.ask_reply(request, &sink, cancel)).await {
        Ok(reply) => reply,
        Err(error) => return Err(record_failed(client, ask, error, say)),
    };
    // What a model puts into a draft is stored, printed and exported.
    for call in &mut reply.calls {
        call.arguments = redact_value(std::mem::take(&mut call.arguments), &client.redactor);
    }
    if reply.notes.iter().any(|note| note.code == PROTOCOL_CHANGED) {
        let known = client.dialogue.known_capability();
        record_demotion(client, ask, known.and_then(ProtocolDemotion::from_capability), say);
    }
    let calls: Vec<Value> = reply
        .calls
        .iter()
        .map(|call| serde_json::json!({ "name": call.name, "arguments": call.arguments }))
        .collect();
    let raw = client.redactor.redact(&Value::from(calls).to_string()).into_owned();
    let event = AgentEvent::ModelAnswered {
        task: None,
        ask,
        text: client.redactor.redact(&reply.text).into_owned(),
        calls: serde_json::from_str(&raw)
            .inspect_err(|_| {
                tracing::warn!(bytes = raw.len(), "redacted calls are not JSON, left out");
            })
            .ok(),
        reasoning: journaled_reasoning(&reply.reasoning, &client.redactor),
        cut_off: false,
        fault: None,
        tokens: reply.cost.usage.total(),
        cost: reply.cost.money,
        elapsed_ms: begun.elapsed().as_millis() as u64,
    };
    say(vec![event.into()]);
    let warnings = reply.notes.iter().map(|note| format!("{}: {}", note.code, note.detail));
    let entry = ReactLogEntry {
        seq: ask,
        kind: "planner.trace".to_owned(),
        prompt_ref: Some(prompt),
        prompt: Some(client.redactor.redact(&prompt_text(request)).into_owned()),
        raw_response: Some(raw),
        warnings: warnings.collect(),
    };
    say(vec![PlanningEvent::Logged { entry }.into()]);
    Ok((reply, watch.words_shown()))
}

/// What a request says, message by message.
fn prompt_text(request: &GenerateRequest) -> String {
    let texts = request.messages.iter().map(Message::text).filter(|text| !text.trim().is_empty());
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Finds out what the model can do before its first question. That is paid for, so that the journal knows of it.
pub(super) async fn detect_capability(
    client: &ModelClient,
    request: &GenerateRequest,
    prompt: &Digest,
    say: PlanningEventSink<'_>,
    cancel: &CancellationToken,
) -> Result<(), ModelError> {
    match client.dialogue.detection_estimate(request) {
        Some(estimate) => probe_model(client, estimate, prompt, say, cancel).await.map(|_| ()),
        None => Ok(()),
    }
}

/// Finds out how the model is worked with, where only a probe can tell, and says so if it is in strict steps.
async fn find_profile(
    client: &ModelClient,
    say: PlanningEventSink<'_>,
    cancel: &CancellationToken,
) -> Result<(), ModelError> {
    let digest = ModelDialogue::probe_digest();
    let estimate = client.dialogue.probe_estimate();
    let ask = probe_model(client, estimate, &digest, say, cancel).await?;
    if let Some(what) = client.dialogue.describe_small_profile() {
        say(vec![AgentEvent::ProtocolDemoted { task: None, ask, what }.into()]);
    }
    Ok(())
}

/// Probes the model; the number of the question comes back.
async fn probe_model(
    client: &ModelClient,
    estimate: CostEstimate,
    prompt: &Digest,
    say: PlanningEventSink<'_>,
    cancel: &CancellationToken,
) -> Result<u32, ModelError> {
    let ask = record_asked(client, ABILITIES, estimate, prompt, say);
    let begun = Instant::now();
    let emit = |event: AgentEvent| say(vec![event.into()]);
    let info = client.dialogue.model().info();
    let watch = AnswerWatch::begin(None, ask, info, &client.redactor, &emit);
    let found = match watch.watch(client.dialogue.detect_capability(cancel)).await {
        Ok(found) => found,
        Err(error) => return Err(record_failed(client, ask, error, say)),
    };
    record_demotion(client, ask, found.demotion, say);
    let event = AgentEvent::ModelAnswered {
        task: None,
        ask,
        text: found.capability.to_string(),
        calls: None,
        reasoning: Vec::new(),
        cut_off: false,
        fault: None,
        tokens: found.cost.usage.total(),
        cost: found.cost.money,
        elapsed_ms: begun.elapsed().as_millis() as u64,
    };
    say(vec![event.into()]);
    Ok(ask)
}

pub(super) fn record_demotion(
    client: &ModelClient,
    ask: u32,
    demotion: Option<ProtocolDemotion>,
    say: PlanningEventSink<'_>,
) {
    if let Some(demotion) = demotion {
        let what = demotion.describe(client.dialogue.model().info().label());
        say(vec![AgentEvent::ProtocolDemoted { task: None, ask, what }.into()]);
    }
}

fn record_asked(
    client: &ModelClient,
    purpose: &str,
    estimate: CostEstimate,
    prompt: &Digest,
    say: PlanningEventSink<'_>,
) -> u32 {
    let info = client.dialogue.model().info();
    let ask = client.next_ask.fetch_add(1, Ordering::Relaxed) + 1;
    let event = AgentEvent::ModelAsked {
        task: None,
        ask,
        purpose: purpose.to_owned(),
        provider: info.provider.clone(),
        model: info.model.clone(),
        prompt_ref: prompt.clone(),
        estimated_tokens: estimate.total_tokens(),
        estimated_cost: estimate.cost,
    };
    say(vec![event.into()]);
    ask
}

pub(super) fn record_failed(
    client: &ModelClient,
    ask: u32,
    error: ModelError,
    say: PlanningEventSink<'_>,
) -> ModelError {
    let cost = client.dialogue.failure_cost(&error);
    let mut failure = ExecutionFailure::from(&error);
    failure.message = client.redactor.redact(&failure.message).into_owned();
    let event = AgentEvent::ModelFailed {
        task: None,
        ask,
        failure,
        tokens: cost.usage.total(),
        cost: cost.money,
    };
    say(vec![event.into()]);
    error
}
