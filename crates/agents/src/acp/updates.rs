//! What an agent tells about its work, as steps of the trace: thoughts, actions, what came of them, its own list, and
//! what it used.

use serde_json::{Value, json};

use super::attempt::{OwnAgentAttempt, lock};
use super::tool_calls::{CallDecision, CallStatus, TrackedCall, outcome_data};
use crate::event_sink::{AnswerPiece, StepDraft};
use planwright_model::agent_work::CallPurpose;
use planwright_model::event::{AgentEvent, CallOutcome};
use planwright_model::{
    AgentTodo, AgentTodoStatus, MicroDollars, PrdvPhase, StepMetadata, ToolResult,
};
use planwright_tools::AgentAction;

/// The most items of an agent's list that are kept.
const MOST_TODOS: usize = 100;
/// The largest file whose content is hashed after a change.
const MOST_HASHED: u64 = 16 * 1024 * 1024;

impl OwnAgentAttempt<'_> {
    pub(super) fn on_update(&self, update: &Value) {
        match update.get("sessionUpdate").and_then(Value::as_str) {
            Some("agent_message_chunk") => self.on_text(update, false),
            Some("agent_thought_chunk") => self.on_text(update, true),
            Some("tool_call" | "tool_call_update") => self.on_call_update(update),
            Some("plan") => self.on_plan(update),
            Some("usage_update") => self.on_usage(update),
            // What it could be asked for, its title and its mode say nothing about the task.
            _ => {}
        }
    }

    fn on_text(&self, update: &Value, thought: bool) {
        let Some(text) = update.pointer("/content/text").and_then(Value::as_str) else { return };
        let clean = planwright_text::clean_text(text);
        self.record_pieces(self.text.push(&clean, thought));
    }

    pub(super) fn record_pieces(&self, pieces: Vec<AnswerPiece>) {
        for piece in pieces {
            self.run.events.record_thought(StepDraft::new(piece.text, PrdvPhase::Plan));
        }
    }

    /// Hosts that the agent may not reach, each told once.
    pub(super) fn record_refused_hosts(&self) {
        let hosts = std::mem::take(&mut *lock(&self.text.refused_hosts()));
        for host in hosts {
            let words = format!("{} tried to reach {host}: not allowed", self.agent.title());
            let category = planwright_model::Category::Recoverable;
            self.record_note(&words, &ToolResult::error("host_refused", category, &words));
        }
    }

    /// Lines that the agent wrote and that are no messages, told once they have become more.
    pub(super) fn record_left_out(&self, (count, first): (u32, String)) {
        let before = std::mem::replace(&mut *lock(&self.left_out), count);
        if count == before {
            return;
        }
        let words = format!(
            "{} wrote {count} lines that are not messages of the protocol; the first: {first}",
            self.agent.title()
        );
        let category = planwright_model::Category::Recoverable;
        self.record_note(&words, &ToolResult::error("not_a_message", category, &words));
    }

    /// Something that was observed about the agent, not by it.
    pub(super) fn record_note(&self, words: &str, result: &ToolResult) {
        let mut note = StepDraft::new(words, PrdvPhase::Validate).with_metadata(StepMetadata {
            call: Some(0),
            ok: Some(result.ok),
            ..StepMetadata::default()
        });
        note.output = serde_json::to_value(result).ok();
        self.run.events.record_observation(note);
    }

    fn on_call_update(&self, update: &Value) {
        let mut calls = lock(&self.calls);
        let Some(call) = calls.update(update) else { return };
        if call.can_be_announced() {
            self.announce(call);
        }
        if call.status.is_over() && call.announced && !call.observed {
            self.observe(call);
        }
    }

    /// Journals what a call does.
    pub(super) fn announce(&self, call: &mut TrackedCall) {
        call.announced = true;
        call.number = self.run.events.progress().calls + 1;
        // What it said before is about this call, not about how the task ended.
        self.record_pieces(self.text.finish());
        self.text.forget_words();
        let action = AgentAction::new(
            &self.agent.name,
            &call.tool_word(),
            call.target(),
            call.input.clone(),
        );
        let tool = action.tool_name().to_owned();
        let shown = crate::redact_value(action.arguments(), self.run.services.toolbox.redactor());
        let mut words =
            StepDraft::new(call.headline(&tool), PrdvPhase::Debate).with_metadata(StepMetadata {
                call: Some(call.number),
                step: Some(call.tool_word()),
                purpose: Some(call.purpose()),
                ..StepMetadata::default()
            });
        (words.tool, words.input) = (Some(tool), Some(shown));
        self.run.events.record_action(words);
    }

    /// Journals what came of a call, as the agent tells it.
    pub(super) fn observe(&self, call: &mut TrackedCall) {
        call.observed = true;
        let ok = call.status == CallStatus::Completed && call.decision != CallDecision::Denied;
        let mut text = call.outcome_text();
        if call.decision == CallDecision::NotAsked && call.purpose() == CallPurpose::Step {
            text.push_str("\n(it did not ask)");
        }
        self.record_outcome(call, ok, &text);
        if call.decision == CallDecision::Allowed {
            let outcome = CallOutcome::Exited { code: i32::from(!ok) };
            self.end_allowed(call, outcome);
        }
    }

    fn record_outcome(&self, call: &TrackedCall, ok: bool, text: &str) {
        let action =
            AgentAction::new(&self.agent.name, &call.tool_word(), call.target(), Value::Null);
        let workspace = self.run.services.toolbox.workspace();
        let hash = |path: &str| {
            let hash = workspace.hash_file(path, MOST_HASHED).ok().flatten();
            (path.to_owned(), hash.map(|hash| hash.as_str().to_owned()))
        };
        let files: Vec<_> =
            if ok { call.diffs.iter().map(|diff| hash(&diff.path)).collect() } else { Vec::new() };
        let result = ToolResult { ok, ..ToolResult::success(outcome_data(call, &files)) };
        let mut words = StepDraft::new(planwright_text::clean_text(text), PrdvPhase::Debate)
            .with_metadata(StepMetadata {
                call: Some(call.number),
                step: Some(call.tool_word()),
                ok: Some(ok),
                ..StepMetadata::default()
            });
        words.tool = Some(action.tool_name().to_owned());
        words.output = serde_json::to_value(result).ok();
        self.run.events.record_observation(words);
    }

    /// Journals the end of a call that was allowed.
    pub(super) fn end_allowed(&self, call: &TrackedCall, outcome: CallOutcome) {
        let id = self.call_id(call.number);
        let host = self.run.services.toolbox.call_host();
        host.record_outside_end(&id, outcome, call.begun.elapsed());
    }

    /// A call that was not allowed is over: not every agent says so.
    pub(super) fn record_denial(&self, number: u32, why: &str) {
        let mut calls = lock(&self.calls);
        let Some(call) = calls.by_number(number) else { return };
        call.decision = CallDecision::Denied;
        if !call.observed {
            call.observed = true;
            self.record_outcome(call, false, &format!("not allowed: {why}"));
        }
    }

    /// Calls that nothing more was heard of are over with the agent. A cancelled attempt leaves them open: they are in
    /// doubt for whoever continues.
    pub(super) fn close_open_calls(&self) {
        if self.run.cancel.is_cancelled() {
            return;
        }
        let mut calls = lock(&self.calls);
        for call in calls.unobserved() {
            call.observed = true;
            self.record_outcome(call, false, "the agent did not say what came of it");
            if call.decision == CallDecision::Allowed {
                self.end_allowed(call, CallOutcome::GivenUp);
            }
        }
    }

    fn on_plan(&self, update: &Value) {
        let entries = update.get("entries").and_then(Value::as_array);
        let item = |entry: &Value| {
            let text = planwright_text::clean_line(entry.get("content")?.as_str()?).into_owned();
            let status = match entry.get("status").and_then(Value::as_str) {
                Some("completed") => AgentTodoStatus::Done,
                Some("in_progress") => AgentTodoStatus::UnderWay,
                _ => AgentTodoStatus::Open,
            };
            let text =
                self.run.redact_text(&planwright_tools::text_limit::truncate_chars(&text, 300));
            Some(AgentTodo { text, status })
        };
        let items: Vec<AgentTodo> =
            entries.into_iter().flatten().take(MOST_TODOS).filter_map(item).collect();
        if items == self.run.events.progress().todo {
            return;
        }
        self.run.events.record(AgentEvent::TodoListed {
            task: self.run.job.task.id.clone(),
            attempt: self.run.job.attempt,
            items,
        });
    }

    /// What the session costs so far, where the agent says so in dollars. Another currency is not known.
    fn on_usage(&self, update: &Value) {
        let cost = update.get("cost").filter(|cost| cost.get("currency") == Some(&json!("USD")));
        let cost = cost.and_then(|cost| cost.get("amount")?.as_f64());
        let cost = cost.filter(|amount| amount.is_finite() && *amount >= 0.0);
        let used = update.get("used").and_then(Value::as_u64);
        self.report_usage(used, cost.map(MicroDollars::from_dollars));
    }

    /// What a turn used, as its answer says.
    pub(super) fn record_turn_usage(&self, answer: &Value) {
        let total = answer.pointer("/usage/totalTokens").and_then(Value::as_u64);
        let quota = || {
            let count = answer.pointer("/_meta/quota/token_count")?;
            let part = |name: &str| count.get(name).and_then(Value::as_u64);
            Some(part("input_tokens")?.saturating_add(part("output_tokens")?))
        };
        let Some(tokens) = total.or_else(quota) else { return };
        let sum = {
            let mut usage = lock(&self.usage);
            let sum = usage.tokens.unwrap_or(0).saturating_add(tokens);
            usage.tokens = Some(sum);
            sum
        };
        self.report_usage(Some(sum), None);
    }

    fn report_usage(&self, tokens: Option<u64>, cost: Option<MicroDollars>) {
        let (tokens, cost) = {
            let mut usage = lock(&self.usage);
            // What is in the context now is the least that was used.
            let before = usage.reported;
            usage.reported.tokens = tokens.max(before.tokens);
            usage.reported.cost = cost.max(before.cost);
            if usage.reported == before {
                return;
            }
            (usage.reported.tokens, usage.reported.cost)
        };
        self.run.events.record(AgentEvent::UsageReported {
            task: self.run.job.task.id.clone(),
            attempt: self.run.job.attempt,
            tokens,
            cost,
        });
    }
}
