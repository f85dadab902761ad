//! One turn of the planning conversation: the request as the conversation gives it, and its answer as the journal keeps it.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::super::model::{detect_capability, record_demotion, record_failed};
use super::StageConversation;
use super::tool_schemas::is_own_tool;
use planwright_agents::{
    AnswerWatch, answer_room, conversation_request, journaled_reasoning, redact_value,
};
use planwright_llm::protocol::{ModelTurn, PROTOCOL_CHANGED, ProtocolDemotion};
use planwright_llm::{GenerateRequest, ModelError};
use planwright_model::agent_conversation::TURN_PURPOSE;
use planwright_model::event::{AgentEvent, AnsweredCall, PlanningEvent};
use planwright_model::{Digest, ReactLogEntry};
use planwright_state::AgentConversation;
use planwright_text::Redactor;

/// The request for the next turn. A pure function of the conversation and the options of the role.
pub(in crate::planner) fn planning_request(
    talk: &AgentConversation,
    temperature: Option<f64>,
    max_output_tokens: Option<u32>,
) -> GenerateRequest {
    let mut request = conversation_request(talk, &is_own_tool);
    request.temperature = temperature;
    request.max_output_tokens = Some(answer_room(talk).max(max_output_tokens.unwrap_or(0)));
    request
}

/// Names a request by all its bytes, secrets left out.
pub(in crate::planner) fn request_digest(request: &GenerateRequest, redactor: &Redactor) -> Digest {
    let sent = serde_json::to_value(request).unwrap_or_default();
    Digest::from_json(&redact_value(sent, redactor))
}

impl StageConversation<'_> {
    /// Asks for the next turn and records it.
    pub(super) async fn ask_turn(&mut self) -> Result<(), ModelError> {
        let client = self.client;
        let Some(talk) = self.talk.conversation.as_deref() else { return Ok(()) };
        let request = planning_request(talk, client.temperature, client.max_output_tokens);
        let prompt = request_digest(&request, &client.redactor);
        detect_capability(client, &request, &prompt, self.say, self.cancel).await?;
        let ask = self.record_question(&request, &prompt);
        self.flush();
        let begun = Instant::now();
        let say = self.say;
        let emit = |event: AgentEvent| say(vec![event.into()]);
        let info = client.dialogue.model().info();
        let watch = AnswerWatch::begin(None, ask, info, &client.redactor, &emit);
        let sink = |delta| watch.push_delta(delta);
        let answering = client.dialogue.ask_turn(&request, &sink, self.cancel);
        let turn = match watch.watch(answering).await {
            Ok(turn) => turn,
            Err(error) => return Err(record_failed(client, ask, error, say)),
        };
        let words_shown = watch.words_shown();
        drop(watch);
        if turn.notes.iter().any(|note| note.code == PROTOCOL_CHANGED) {
            let known = client.dialogue.known_capability();
            record_demotion(client, ask, known.and_then(ProtocolDemotion::from_capability), say);
        }
        self.record_turn(ask, &turn, begun);
        self.record_log(ask, prompt, &turn);
        let words = client.redactor.redact(turn.text.trim()).into_owned();
        if !words.is_empty() && !words_shown {
            self.record(PlanningEvent::Remarked { text: words });
        }
        Ok(())
    }

    fn record_question(&mut self, request: &GenerateRequest, prompt: &Digest) -> u32 {
        let client = self.client;
        let info = client.dialogue.model().info();
        let estimate = client.dialogue.estimate_cost(request);
        let ask = client.next_ask.fetch_add(1, Ordering::Relaxed) + 1;
        self.record(AgentEvent::ModelAsked {
            task: None,
            ask,
            purpose: TURN_PURPOSE.to_owned(),
            provider: info.provider.clone(),
            model: info.model.clone(),
            prompt_ref: prompt.clone(),
            estimated_tokens: estimate.total_tokens(),
            estimated_cost: estimate.cost,
        });
        ask
    }

    fn record_turn(&mut self, ask: u32, turn: &ModelTurn, begun: Instant) {
        let redactor = &self.client.redactor;
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
        self.record(AgentEvent::ModelAnswered {
            task: None,
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

    fn record_log(&mut self, ask: u32, prompt: Digest, turn: &ModelTurn) {
        let warnings = turn.notes.iter().map(|note| format!("{}: {}", note.code, note.detail));
        let entry = ReactLogEntry {
            seq: ask,
            kind: "planner.trace".to_owned(),
            prompt_ref: Some(prompt),
            prompt: None,
            raw_response: None,
            warnings: warnings.collect(),
        };
        self.record(PlanningEvent::Logged { entry });
    }
}
