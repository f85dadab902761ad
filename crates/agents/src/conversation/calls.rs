//! The calls of one answer: all of them are dealt with, looks beside each other, everything else in order, and each gets
//! a result of its own, be it why it was not made.

use std::sync::PoisonError;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;

use super::super::attempt::AgentAttempt;
use super::super::event_sink::StepDraft;
use super::super::executor::cancelled_failure;
use super::super::tool_calls::{
    call_headline, call_metadata, is_final_failure, is_retryable, journaled_result, was_cancelled,
};
use super::super::tool_selection::DONE;
use super::messages::read_item;
use super::report::{ASK, READ_RESULT};
use super::{ConversationEnd, guards};
use planwright_drafting::executor::TaskType;
use planwright_llm::protocol::TurnCall;
use planwright_model::agent_decision::{DecisionAction, TaskDecision, ToolUse};
use planwright_model::agent_work::{CallPurpose, PlannedCall};
use planwright_model::{CallId, Category, ExecutionFailure, PrdvPhase, StepMetadata};
use planwright_state::ConversationCall;
use planwright_tools::{FinishedCall, ToolInvocation};

/// How many looks of one answer run at once.
const LOOKS_AT_ONCE: usize = 8;
/// How often a call that may well work the next time is made again, and how long is waited before.
const RETRIES: u32 = 2;
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// How the result of a call that was not made begins.
pub(super) const NOT_RUN: &str = "Not run, because";

impl AgentAttempt<'_> {
    /// Runs the calls of an answer. Something comes back only if the attempt is over; then what was not run says so.
    pub(super) async fn run_calls(
        &self,
        kind: &TaskType,
        calls: &[ConversationCall],
    ) -> Option<ConversationEnd> {
        let mut rest = calls;
        let mut trouble: Option<u32> = None;
        while let Some(first) = rest.first() {
            if self.cancel.is_cancelled() {
                return Some(Err(cancelled_failure()));
            }
            let looks = rest.iter().take_while(|call| self.is_look(call)).count();
            let count = looks.max(1);
            let end = if looks > 0 {
                self.run_looks(kind, &rest[..looks]).await
            } else if let (DONE, Some(failed)) = (first.tool.as_str(), trouble) {
                let why = format!(
                    "call_{failed} of the same answer did not succeed; look at its result first"
                );
                self.record_unrun(first, &why);
                None
            } else {
                Box::pin(self.run_in_order(kind, first)).await
            };
            trouble = trouble.or_else(|| self.first_failure(&rest[..count]));
            rest = &rest[count..];
            if end.is_some() {
                // A cancelled attempt may be resumed: its calls stay open.
                if !self.cancel.is_cancelled() {
                    for call in rest {
                        self.record_unrun(call, "the attempt ended before it");
                    }
                }
                return end;
            }
        }
        None
    }

    /// Whether a call only looks, so that it may run beside others.
    fn is_look(&self, call: &ConversationCall) -> bool {
        let read_only = self.with_talk(|talk| {
            talk.opening.tools.iter().any(|tool| tool.name == call.tool && tool.read_only)
        });
        call.problem.is_none() && read_only == Some(true)
    }

    /// The first of some calls whose result is a failure.
    fn first_failure(&self, calls: &[ConversationCall]) -> Option<u32> {
        self.with_talk(|talk| {
            let numbers: Vec<u32> = calls.iter().map(|call| call.number).collect();
            let failed =
                talk.finished_calls().filter(|(call, ok, _)| !ok && numbers.contains(&call.number));
            failed.map(|(call, ..)| call.number).min()
        })
        .flatten()
    }

    async fn run_looks(
        &self,
        kind: &TaskType,
        calls: &[ConversationCall],
    ) -> Option<ConversationEnd> {
        // What came before decides on all of them; a search is counted among its own.
        let mut allowed = Vec::new();
        for call in calls {
            if !self.refuse_by_guard(kind, call) {
                allowed.push(call);
            }
        }
        let made: Vec<BoxFuture<'_, Option<ConversationEnd>>> = allowed
            .into_iter()
            .map(|call| self.make_call(call, CallPurpose::Lookup).boxed())
            .collect();
        let ends: Vec<Option<ConversationEnd>> =
            stream::iter(made).buffered(LOOKS_AT_ONCE).collect().await;
        ends.into_iter().flatten().next()
    }

    async fn run_in_order(
        &self,
        kind: &TaskType,
        call: &ConversationCall,
    ) -> Option<ConversationEnd> {
        if let Some(problem) = &call.problem {
            self.record_unrun(call, problem);
            return None;
        }
        match call.tool.as_str() {
            DONE => return Box::pin(self.run_handover(kind, call)).await,
            ASK => return Box::pin(self.run_question(call)).await,
            READ_RESULT => {
                self.read_result_again(call);
                return None;
            }
            _ => {}
        }
        if self.refuse_by_guard(kind, call) {
            return None;
        }
        Box::pin(self.make_call(call, CallPurpose::Step)).await
    }

    /// Whether a guard keeps a call from being made; the model is told why.
    fn refuse_by_guard(&self, kind: &TaskType, call: &ConversationCall) -> bool {
        let reason = self.with_talk(|talk| guards::refusal_reason(kind, talk, call)).flatten();
        let Some(why) = reason else { return false };
        self.events.record_decision(TaskDecision::LoopGuard {
            action: DecisionAction::LoopGuard,
            step: None,
            reasoning: why.clone(),
            replaced: Some(ToolUse { name: call.tool.clone(), args: call.arguments.clone() }),
        });
        self.record_unrun(call, &why);
        true
    }

    /// Makes one call and says what came of it.
    async fn make_call(
        &self,
        call: &ConversationCall,
        purpose: CallPurpose,
    ) -> Option<ConversationEnd> {
        let Some(args) = self.call_arguments(call) else {
            let why =
                "its arguments held a secret and cannot be had from the journal; write it again";
            self.record_unrun(call, why);
            return None;
        };
        let planned =
            PlannedCall { step: call.tool.clone(), tool: call.tool.clone(), args, purpose };
        self.record_started(call, &planned);
        let mut finished = self.invoke_planned(&planned, call.number).await;
        for retry in 1..=RETRIES {
            if !is_retryable(&finished.result) || self.cancel.is_cancelled() {
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(FIRST_WAIT * 2u32.pow(retry - 1)) => {}
                () = self.cancel.cancelled() => break,
            }
            finished = self.invoke_planned(&planned, call.number).await;
        }
        self.observe_call(call, &planned, &finished)
    }

    fn record_started(&self, call: &ConversationCall, planned: &PlannedCall) {
        let mut words = StepDraft::new(call_headline(planned), call_phase(planned.purpose))
            .with_metadata(StepMetadata {
                redacted: call.redacted.then_some(true),
                ..call_metadata(call.number, planned)
            });
        (words.tool, words.input) = (Some(call.tool.clone()), Some(call.arguments.clone()));
        self.events.record_action(words);
    }

    async fn invoke_planned(&self, planned: &PlannedCall, number: u32) -> FinishedCall {
        let id = CallId { task: self.job.task.id.clone(), attempt: self.job.attempt, step: number };
        let mut call = ToolInvocation::new(id, &planned.tool, planned.args.clone());
        call.cancel = self.cancel.clone();
        call.held = self.job.held.clone();
        self.wait_for_paused_tool(&call, call_phase(planned.purpose)).await;
        self.services.toolbox.invoke(call).await
    }

    fn observe_call(
        &self,
        call: &ConversationCall,
        planned: &PlannedCall,
        finished: &FinishedCall,
    ) -> Option<ConversationEnd> {
        let result = &finished.result;
        // Nothing came of a call that was ended from outside: it stays open, for whoever resumes the task.
        if self.cancel.is_cancelled() && was_cancelled(result) {
            return Some(Err(cancelled_failure()));
        }
        self.note_findings(result);
        let mut text = self.model_text(&call.tool, result);
        if let Some(note) = &call.note {
            text.extend(["\n(", note.as_str(), ")"]);
        }
        let metadata = StepMetadata {
            ok: Some(result.ok),
            cache_hit: Some(finished.cache_hit),
            verdict: finished.verdict.clone().map(Box::new),
            ..call_metadata(call.number, planned)
        };
        let mut words = StepDraft::new(text, call_phase(planned.purpose)).with_metadata(metadata);
        words.tool = Some(call.tool.clone());
        words.output = serde_json::to_value(journaled_result(result)).ok();
        words.confidence = Some(result.confidence);
        self.events.record_observation(words);
        if let Some(failure) = result.to_failure().filter(is_final_failure) {
            return Some(Err(failure));
        }
        let changed = finished.protected_changes.first()?;
        let message = format!("{changed} was changed by {}", call.tool);
        Some(Err(ExecutionFailure::new("protected_changed", Category::Critical, message)))
    }

    /// The result of a call that was not made.
    pub(super) fn record_unrun(&self, call: &ConversationCall, why: &str) {
        self.record_own_result(call, false, &format!("{NOT_RUN} {why}."));
    }

    /// A result that no tool gave.
    pub(super) fn record_own_result(&self, call: &ConversationCall, ok: bool, text: &str) {
        let metadata = StepMetadata {
            call: Some(call.number),
            step: Some(call.tool.clone()),
            ok: Some(ok),
            ..StepMetadata::default()
        };
        let mut words = StepDraft::new(text, PrdvPhase::Validate).with_metadata(metadata);
        words.tool = Some(call.tool.clone());
        self.events.record_observation(words);
    }

    fn read_result_again(&self, call: &ConversationCall) {
        let id = call.arguments.get("id").and_then(Value::as_str).unwrap_or_default();
        let text = self.with_talk(|talk| read_item(talk, id)).flatten();
        match text {
            Some(text) => self.record_own_result(call, true, &text),
            None => self.record_unrun(call, &format!("there is no result `{id}`")),
        }
    }

    /// Keeps arguments that the journal must not have, for as long as this process runs.
    pub(super) fn keep_secret_arguments(&self, calls: &[TurnCall]) {
        let numbers: Vec<u32> = self
            .with_talk(|talk| talk.waiting_calls().map(|call| call.number).collect())
            .unwrap_or_default();
        let mut kept = self.live_arguments.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = numbers.into_iter().zip(calls.iter().map(|call| call.arguments.clone())).collect();
    }

    /// The arguments to call with: those that the model wrote, not what the journal may hold of them.
    fn call_arguments(&self, call: &ConversationCall) -> Option<Value> {
        if !call.redacted {
            return Some(call.arguments.clone());
        }
        let kept = self.live_arguments.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&call.number).cloned()
    }
}

fn call_phase(purpose: CallPurpose) -> PrdvPhase {
    match purpose {
        CallPurpose::Lookup => PrdvPhase::Research,
        CallPurpose::Step => PrdvPhase::Debate,
    }
}
