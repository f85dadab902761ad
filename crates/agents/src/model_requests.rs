//! Putting a question to a model, with everything said that the journal must know.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::answer_watch::AnswerWatch;
use super::event_sink::{AgentEventSink, redact_value};
use super::request_pace::RequestPace;
use planwright_llm::cost::{CallCost, CostEstimate};
use planwright_llm::protocol::{
    AnswerNote, ModelDialogue, ModelTurn, PROTOCOL_CHANGED, ProtocolDemotion, TurnCall,
    USAGE_CLAMPED,
};
use planwright_llm::{GenerateRequest, Message, ModelError, ToolCall};
use planwright_model::agent_decision::TaskDecision;
use planwright_model::event::{AgentEvent, AnsweredCall};
use planwright_model::{Digest, ReasoningItem};
use planwright_state::agent_progress::PendingModelAnswer;
use planwright_text::Redactor;

/// What a model is asked for before its first question: what it can do.
pub const ABILITIES: &str = "its_abilities";

/// A question.
pub(super) struct ModelQuestion<'q> {
    pub(super) dialogue: &'q ModelDialogue,
    /// What it is for; a resumed task finds its answer by this.
    pub(super) purpose: &'static str,
    pub(super) request: &'q GenerateRequest,
}

/// An answer of whichever kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelAnswer {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) prompt: PromptRecord,
    pub(super) tokens: u64,
}

/// A turn of a conversation as it came, secrets included.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AnsweredTurn {
    pub(super) text: String,
    pub(super) calls: Vec<TurnCall>,
    pub(super) prompt: Digest,
    pub(super) tokens: u64,
}

/// A prompt as it is kept: its hash, and what it said beyond the part that is always the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PromptRecord {
    pub(super) hash: Digest,
    pub(super) text: String,
}

/// Asks models on behalf of one attempt.
pub(super) struct ModelRequester<'a> {
    pub(super) events: &'a AgentEventSink<'a>,
    pub(super) next_ask: &'a AtomicU32,
    pub(super) asking: &'a Mutex<()>,
    pub(super) cancel: &'a CancellationToken,
    /// What a model said before the interruption and nothing came of.
    pub(super) unread: Mutex<Option<PendingModelAnswer>>,
    pub(super) pace: RequestPace,
}

impl ModelRequester<'_> {
    /// Asks for words and calls.
    pub(super) async fn ask_for_reply(
        &self,
        question: ModelQuestion<'_>,
    ) -> Result<ModelAnswer, ModelError> {
        let prompt = self.prompt_record(question.request);
        if let Some(kept) = self.take_kept_answer(question.purpose) {
            let calls = kept.calls.unwrap_or_default().into_iter().map(kept_call).collect();
            return Ok(ModelAnswer { text: kept.text, calls, prompt, tokens: 0 });
        }
        self.detect_capability(&question, &prompt.hash).await?;
        self.pace.admit(question.dialogue.model().info()).await?;
        let estimate = question.dialogue.estimate_cost(question.request);
        let ask = self.record_asked(question.dialogue, question.purpose, estimate, &prompt.hash);
        let begun = Instant::now();
        let emit = |event| self.events.record(event);
        let watch = self.watch_answer(ask, question.dialogue, &emit);
        let sink = |delta| watch.push_delta(delta);
        let answering = question.dialogue.ask_reply(question.request, &sink, self.cancel);
        let result = watch.watch(answering).await;
        self.count_answer_requests(result.as_ref().map(|reply| reply.notes.as_slice()));
        match result {
            Ok(reply) => {
                let tokens = reply.cost.usage.total();
                self.note_demotion(ask, question.dialogue, &reply.notes);
                self.record_answered(ask, &reply.text, &reply.calls, &reply.cost, begun);
                Ok(ModelAnswer { text: reply.text, calls: reply.calls, prompt, tokens })
            }
            Err(error) => Err(self.record_failed(ask, question.dialogue, error)),
        }
    }

    /// Asks for the next turn of a conversation. The request is named by the hash of all its bytes.
    pub(super) async fn ask_for_turn(
        &self,
        question: ModelQuestion<'_>,
    ) -> Result<AnsweredTurn, ModelError> {
        let sent = serde_json::to_value(question.request).unwrap_or_default();
        let prompt = Digest::from_json(&redact_value(sent, &self.events.redactor));
        self.detect_capability(&question, &prompt).await?;
        self.pace.admit(question.dialogue.model().info()).await?;
        let estimate = question.dialogue.estimate_cost(question.request);
        let ask = self.record_asked(question.dialogue, question.purpose, estimate, &prompt);
        let begun = Instant::now();
        let emit = |event| self.events.record(event);
        let watch = self.watch_answer(ask, question.dialogue, &emit);
        let sink = |delta| watch.push_delta(delta);
        let answering = question.dialogue.ask_turn(question.request, &sink, self.cancel);
        let result = watch.watch(answering).await;
        self.count_answer_requests(result.as_ref().map(|turn| turn.notes.as_slice()));
        let turn = result.map_err(|error| self.record_failed(ask, question.dialogue, error))?;
        let tokens = turn.cost.usage.total();
        self.note_demotion(ask, question.dialogue, &turn.notes);
        self.record_turn(ask, &turn, begun);
        Ok(AnsweredTurn { text: turn.text, calls: turn.calls, prompt, tokens })
    }

    fn record_turn(&self, ask: u32, turn: &ModelTurn, begun: Instant) {
        let redactor = &self.events.redactor;
        let redact = |text: &String| redactor.redact(text).into_owned();
        let calls: Vec<AnsweredCall> = turn
            .calls
            .iter()
            .map(|call| {
                let arguments = redact_value(call.arguments.clone(), redactor);
                AnsweredCall {
                    id: None,
                    name: redact(&call.name),
                    redacted: arguments != call.arguments,
                    arguments,
                    problem: call.problem.as_ref().map(redact),
                    note: call.note.as_ref().map(redact),
                }
            })
            .collect();
        self.events.record(AgentEvent::ModelAnswered {
            task: Some(self.events.task.clone()),
            ask,
            text: redact(&turn.text),
            calls: Some(calls).filter(|calls| !calls.is_empty()),
            reasoning: journaled_reasoning(&turn.reasoning, redactor),
            cut_off: turn.cut_off,
            fault: turn.fault.as_ref().map(redact),
            tokens: turn.cost.usage.total(),
            cost: turn.cost.money,
            elapsed_ms: begun.elapsed().as_millis() as u64,
        });
    }

    /// Asks for a value of the shape that the request names.
    pub(super) async fn ask_for_json(
        &self,
        question: ModelQuestion<'_>,
    ) -> Result<(Value, u64), ModelError> {
        let prompt = self.prompt_record(question.request);
        if let Some(value) = self
            .take_kept_answer(question.purpose)
            .and_then(|kept| serde_json::from_str::<Value>(&kept.text).ok())
        {
            return Ok((value, 0));
        }
        self.pace.admit(question.dialogue.model().info()).await?;
        let estimate = question.dialogue.estimate_cost(question.request);
        let ask = self.record_asked(question.dialogue, question.purpose, estimate, &prompt.hash);
        let begun = Instant::now();
        let emit = |event| {
            // Half a JSON value is nothing to read.
            if !matches!(event, AgentEvent::Partial { thought: false, .. }) {
                self.events.record(event);
            }
        };
        let watch = self.watch_answer(ask, question.dialogue, &emit);
        let sink = |delta| watch.push_delta(delta);
        let answering = question.dialogue.ask_json(question.request, &sink, self.cancel);
        let result = watch.watch(answering).await;
        self.count_answer_requests(result.as_ref().map(|answer| answer.notes.as_slice()));
        match result {
            Ok(answer) => {
                let tokens = answer.cost.usage.total();
                self.record_answered(ask, &answer.value.to_string(), &[], &answer.cost, begun);
                Ok((answer.value, tokens))
            }
            Err(error) => Err(self.record_failed(ask, question.dialogue, error)),
        }
    }

    fn watch_answer<'w>(
        &'w self,
        ask: u32,
        dialogue: &ModelDialogue,
        emit: &'w (dyn Fn(AgentEvent) + Send + Sync),
    ) -> AnswerWatch<'w> {
        let task = Some(self.events.task.clone());
        AnswerWatch::begin(task, ask, dialogue.model().info(), &self.events.redactor, emit)
    }

    /// Says when a model turned out not to call tools natively.
    fn note_demotion(&self, ask: u32, dialogue: &ModelDialogue, notes: &[AnswerNote]) {
        let refused = notes.iter().any(|note| note.code == PROTOCOL_CHANGED);
        let known = dialogue.known_capability().filter(|_| refused);
        self.record_demotion(ask, dialogue, known.and_then(ProtocolDemotion::from_capability));
    }

    fn record_demotion(
        &self,
        ask: u32,
        dialogue: &ModelDialogue,
        demotion: Option<ProtocolDemotion>,
    ) {
        if let Some(demotion) = demotion {
            let what = demotion.describe(dialogue.model().info().label());
            let task = Some(self.events.task.clone());
            self.events.record(AgentEvent::ProtocolDemoted { task, ask, what });
        }
    }

    /// Counts the requests of a question, and says what is odd about the answer.
    fn count_answer_requests(&self, answered: Result<&[AnswerNote], &ModelError>) {
        let again = match answered {
            Ok(notes) => {
                for note in notes.iter().filter(|note| note.code == USAGE_CLAMPED) {
                    let (code, detail) = (&note.code, &note.detail);
                    self.events.record_decision(TaskDecision::normalization(code, detail, None));
                }
                notes.iter().any(|note| note.code == "asked_again")
            }
            Err(error) => error.code == "invalid_output",
        };
        self.pace.count_requests(1 + u32::from(again));
    }

    /// What is left from before the interruption, if it was said to this purpose. It is used once.
    fn take_kept_answer(&self, purpose: &str) -> Option<PendingModelAnswer> {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        unread.take().filter(|kept| kept.purpose == purpose)
    }

    fn prompt_record(&self, request: &GenerateRequest) -> PromptRecord {
        let text = |messages: &[Message]| {
            messages.iter().map(Message::text).collect::<Vec<_>>().join("\n")
        };
        let (same, own) =
            request.messages.split_at(request.cacheable_prefix.min(request.messages.len()));
        let own = self.events.redactor.redact(&text(own)).into_owned();
        PromptRecord { hash: Digest::from_json(&json!([text(same), own])), text: own }
    }

    /// Finds out what a model can do before its first question. That is paid for, so that the journal knows of it.
    async fn detect_capability(
        &self,
        question: &ModelQuestion<'_>,
        prompt_ref: &Digest,
    ) -> Result<(), ModelError> {
        let dialogue = question.dialogue;
        match dialogue.detection_estimate(question.request) {
            Some(estimate) => self.probe_model(dialogue, estimate, prompt_ref).await,
            None => Ok(()),
        }
    }

    /// Finds out how a model is worked with, where only a probe can tell, and says so if it is in strict steps.
    pub(super) async fn probe_profile(&self, dialogue: &ModelDialogue) -> Result<(), ModelError> {
        let digest = ModelDialogue::probe_digest();
        self.probe_model(dialogue, dialogue.probe_estimate(), &digest).await?;
        if let Some(what) = dialogue.describe_small_profile() {
            let (task, ask) =
                (Some(self.events.task.clone()), self.next_ask.load(Ordering::SeqCst));
            self.events.record(AgentEvent::ProtocolDemoted { task, ask, what });
        }
        Ok(())
    }

    async fn probe_model(
        &self,
        dialogue: &ModelDialogue,
        estimate: CostEstimate,
        prompt_ref: &Digest,
    ) -> Result<(), ModelError> {
        let ask = self.record_asked(dialogue, ABILITIES, estimate, prompt_ref);
        let begun = Instant::now();
        self.pace.count_requests(2);
        let emit = |event| self.events.record(event);
        let watch = self.watch_answer(ask, dialogue, &emit);
        match watch.watch(dialogue.detect_capability(self.cancel)).await {
            Ok(found) => {
                self.record_demotion(ask, dialogue, found.demotion);
                let words = found.capability.to_string();
                self.record_answered(ask, &words, &[], &found.cost, begun);
                Ok(())
            }
            Err(error) => Err(self.record_failed(ask, dialogue, error)),
        }
    }

    fn record_asked(
        &self,
        dialogue: &ModelDialogue,
        purpose: &str,
        estimate: CostEstimate,
        prompt_ref: &Digest,
    ) -> u32 {
        let info = dialogue.model().info();
        let in_order = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let ask = 1 + self.next_ask.fetch_add(1, Ordering::SeqCst);
        self.events.record(AgentEvent::ModelAsked {
            task: Some(self.events.task.clone()),
            ask,
            purpose: purpose.to_owned(),
            provider: info.provider.clone(),
            model: info.model.clone(),
            prompt_ref: prompt_ref.clone(),
            estimated_tokens: estimate.total_tokens(),
            estimated_cost: estimate.cost,
        });
        drop(in_order);
        ask
    }

    fn record_answered(
        &self,
        ask: u32,
        text: &str,
        calls: &[ToolCall],
        cost: &CallCost,
        begun: Instant,
    ) {
        let redactor = &self.events.redactor;
        let calls: Vec<_> = calls.iter().map(|call| answered_call(call, redactor)).collect();
        self.events.record(AgentEvent::ModelAnswered {
            task: Some(self.events.task.clone()),
            ask,
            text: redactor.redact(text).into_owned(),
            calls: Some(calls).filter(|calls| !calls.is_empty()),
            reasoning: Vec::new(),
            cut_off: false,
            fault: None,
            tokens: cost.usage.total(),
            cost: cost.money,
            elapsed_ms: begun.elapsed().as_millis() as u64,
        });
    }

    fn record_failed(&self, ask: u32, dialogue: &ModelDialogue, error: ModelError) -> ModelError {
        let cost = dialogue.failure_cost(&error);
        let mut failure: planwright_model::ExecutionFailure = (&error).into();
        failure.message = self.events.redactor.redact(&failure.message).into_owned();
        self.events.record(AgentEvent::ModelFailed {
            task: Some(self.events.task.clone()),
            ask,
            failure,
            tokens: cost.usage.total(),
            cost: cost.money,
        });
        error
    }
}

/// Which model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentModelRole {
    Executor,
    Planner,
    Judge,
    Summarizer,
}

impl super::AgentServices {
    pub(super) fn dialogue_for(&self, who: AgentModelRole) -> &Arc<ModelDialogue> {
        match who {
            AgentModelRole::Executor => &self.dialogue,
            AgentModelRole::Planner => &self.planner,
            AgentModelRole::Judge => &self.judge,
            AgentModelRole::Summarizer => &self.summarizer,
        }
    }
}

/// A call of an answer as it is journaled, without secrets.
fn answered_call(call: &ToolCall, redactor: &Redactor) -> AnsweredCall {
    AnsweredCall {
        id: Some(redactor.redact(&call.id).into_owned()),
        name: redactor.redact(&call.name).into_owned(),
        arguments: redact_value(call.arguments.clone(), redactor),
        problem: None,
        note: None,
        redacted: false,
    }
}

/// Reasoning as it may be kept. It can't be changed, since its provider refuses what it did not write: where it repeats a
/// secret, none of the answer's is kept.
pub fn journaled_reasoning(items: &[ReasoningItem], redactor: &Redactor) -> Vec<ReasoningItem> {
    let has_secret = |item: &ReasoningItem| {
        redactor.redact(&item.text) != item.text
            || redact_value(item.raw.clone(), redactor) != item.raw
    };
    if items.iter().any(has_secret) {
        tracing::warn!("what a model thought repeats a secret; it is not kept");
        return Vec::new();
    }
    items.to_vec()
}

/// A call of an answer that was given before an interruption.
fn kept_call(call: AnsweredCall) -> ToolCall {
    let AnsweredCall { id, name, arguments, .. } = call;
    ToolCall { id: id.unwrap_or_default(), name, arguments }
}
