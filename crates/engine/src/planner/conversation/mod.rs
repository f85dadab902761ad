//! Planning in one conversation: for strong models the plan is theirs, grounded in what was said and in what is there.
//!
//! The controller stays the outer loop: it decides the stage and what follows. Inside a stage the model works with that
//! stage's tools until it hands in. What comes next follows from the last entry of the conversation, which is folded from
//! the journal; a session that is interrupted anywhere continues with the very request that it would have sent.

mod assumed_limits;
mod calls;
mod draft_changes;
mod hand_in;
mod operation_fields;
mod operations;
mod plan_words;
mod portfolio;
mod proposals;
mod readings;
mod reports;
mod stage_prompts;
mod summaries;
mod tool_schemas;
mod turns;
mod words;
mod workspace;

#[cfg(test)]
pub(super) use operations::WorkingDraft;
pub(super) use reports::report_events;
pub(super) use stage_prompts::policy_words;
#[cfg(test)]
pub(super) use turns::{planning_request, request_digest};
pub use workspace::{LookOnlyHost, PlanningWorkspace};

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::model::{ModelClient, PlanningEventSink, UnusableDraft};
use super::{Planner, StageResult};
use planwright_agents::due_compaction;
use planwright_drafting::controller::ControllerOutcome;
use planwright_model::agent_conversation::PromptSource;
use planwright_model::event::{Event, PlanningEvent};
use planwright_model::{PlanState, Severity, Stage, Violation};
use planwright_plan::grammar::is_infeasible;
use planwright_state::{ConversationCall, ConversationEntry, PlanningSlice};

/// So many answers without a hand-in end a stage: the person is asked what to do.
const MOST_TURNS: u32 = 16;

/// One stage of the conversation under way.
pub(super) struct StageConversation<'a> {
    pub(super) planner: &'a Planner,
    pub(super) client: &'a ModelClient,
    pub(super) now: Timestamp,
    say: PlanningEventSink<'a>,
    pub(super) cancel: &'a CancellationToken,
    /// The state of planning, with everything that was recorded since.
    pub(super) talk: PlanningSlice,
    /// What is folded and not yet journaled.
    unsaid: Vec<Event>,
}

/// What the conversation wants next.
enum StageMove {
    RunCalls(Vec<ConversationCall>),
    AnswerWords,
    AskModel,
}

impl Planner {
    /// Does the work of a state in the conversation.
    pub(super) async fn run_conversation_stage(
        &self,
        client: &ModelClient,
        talk: &PlanningSlice,
        now: Timestamp,
        say: PlanningEventSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<StageResult, UnusableDraft> {
        let (talk, unsaid) = (talk.clone(), Vec::new());
        let mut stage = StageConversation { planner: self, client, now, say, cancel, talk, unsaid };
        let mut done = if stage.is_open() { None } else { stage.open_stage() };
        while done.is_none() {
            stage.flush();
            done = match stage.next_move() {
                StageMove::RunCalls(calls) => stage.run_calls(&calls).await,
                StageMove::AnswerWords => stage.answer_words(),
                StageMove::AskModel => {
                    let ended = stage.give_up_after(MOST_TURNS);
                    if ended.is_none() {
                        stage.compact_results();
                        stage.summarize_if_due().await.map_err(UnusableDraft::Model)?;
                        stage.ask_turn().await.map_err(UnusableDraft::Model)?;
                    }
                    ended
                }
            };
        }
        let mut done = done.unwrap_or_else(|| StageResult::new(ControllerOutcome::FatalError));
        done.events.splice(0..0, stage.unsaid);
        Ok(done)
    }
}

impl StageConversation<'_> {
    /// Records an event and folds it, so that what follows sees it.
    pub(super) fn record(&mut self, event: impl Into<Event>) {
        let event = event.into();
        match &event {
            Event::Planning(event) => {
                self.talk.apply(event, self.now);
            }
            Event::Fact(event) => {
                self.talk.facts.apply(event);
            }
            Event::Agent(event) => self.talk.apply_model_event(event),
            _ => {}
        }
        self.unsaid.push(event);
    }

    /// Has what was recorded journaled, all of it together.
    pub(super) fn flush(&mut self) {
        if !self.unsaid.is_empty() {
            (self.say)(std::mem::take(&mut self.unsaid));
        }
    }

    /// Whether this visit of the state has begun, before an interruption.
    fn is_open(&self) -> bool {
        self.talk.conversation.is_some() && self.talk.open_stage == Some(self.talk.place.state)
    }

    /// Opens the stage, and the conversation with the first of them. Something comes back where the model has nothing to do.
    fn open_stage(&mut self) -> Option<StageResult> {
        if let Some(done) = self.prepare_stage() {
            return Some(done);
        }
        if self.talk.conversation.is_none() {
            let opening = self.planner.conversation_opening(self.client, &self.talk, self.now);
            self.record(PlanningEvent::ConversationOpened { opening: Box::new(opening) });
        }
        self.close_waiting_calls("the stage ended before it");
        let findings = self.stage_findings();
        let text = self.planner.stage_prompt(&self.talk, &findings, self.now);
        let text = self.client.redactor.redact(&text).into_owned();
        let looks = self.client.workspace.as_ref().map(PlanningWorkspace::looks);
        let state = self.talk.place.state;
        let policy = self.talk.interaction_policy();
        let tools = tool_schemas::stage_tools(state, &policy, looks.unwrap_or_default());
        self.record(PlanningEvent::StageOpened { state, text, tools });
        None
    }

    /// What a stage needs before the model is asked.
    fn prepare_stage(&mut self) -> Option<StageResult> {
        match self.talk.place.state {
            PlanState::CollectContext => self.prepare_context(),
            PlanState::DraftOutline => self.prepare_outline(),
            PlanState::DraftRoadmap if self.talk.outline.is_none() => {
                Some(StageResult::new(ControllerOutcome::MissingPrerequisite))
            }
            PlanState::DraftSchedule => self.prepare_schedule(),
            _ => None,
        }
    }

    /// What the rules find in the draft as the stage begins: after a retry, and in a schedule that was just made.
    fn stage_findings(&self) -> Vec<Violation> {
        let Some(stage) = self.talk.place.state.drafted_stage() else {
            return Vec::new();
        };
        let again = self.talk.counters.stage_retries(stage) > 0;
        if again || stage == Stage::Schedule {
            return self.findings(stage);
        }
        Vec::new()
    }

    fn next_move(&self) -> StageMove {
        let Some(talk) = self.talk.conversation.as_deref() else { return StageMove::AskModel };
        let waiting: Vec<ConversationCall> = talk.waiting_calls().cloned().collect();
        match talk.entries.last() {
            _ if !waiting.is_empty() => StageMove::RunCalls(waiting),
            Some(ConversationEntry::Turn { .. }) => StageMove::AnswerWords,
            _ => StageMove::AskModel,
        }
    }

    /// Entries since the stage began.
    pub(super) fn stage_entries(&self) -> &[ConversationEntry] {
        let talk = self.talk.conversation.as_deref();
        talk.map(|talk| talk.entries_since(PromptSource::Stage)).unwrap_or_default()
    }

    /// Calls that nobody answered get a result that says so; providers want one for each.
    pub(super) fn close_waiting_calls(&mut self, why: &str) {
        let talk = self.talk.conversation.as_deref();
        let waiting: Vec<ConversationCall> =
            talk.map(|talk| talk.waiting_calls().cloned().collect()).unwrap_or_default();
        for call in waiting {
            self.record_result(&call, false, &format!("Not run, because {why}."));
        }
    }

    pub(super) fn record_result(&mut self, call: &ConversationCall, ok: bool, text: &str) {
        let event = self.result_event(call, ok, text);
        self.record(event);
    }

    pub(super) fn result_event(
        &self,
        call: &ConversationCall,
        ok: bool,
        text: &str,
    ) -> PlanningEvent {
        let text = self.client.redactor.redact(text).into_owned();
        PlanningEvent::ToolAnswered { call: call.number, tool: call.tool.clone(), ok, text }
    }

    fn compact_results(&mut self) {
        let due = self.talk.conversation.as_deref().and_then(due_compaction);
        if let Some(through) = due {
            self.record(PlanningEvent::ResultsCompacted { through });
        }
    }

    /// Ends a stage that goes on and on: in words, with the built-in planner one key away.
    fn give_up_after(&mut self, most: u32) -> Option<StageResult> {
        let turns = self
            .stage_entries()
            .iter()
            .filter(|entry| matches!(entry, ConversationEntry::Turn { .. }))
            .count();
        if (turns as u64) < u64::from(most) {
            return None;
        }
        Some(self.give_up(&format!(
            "{} took {turns} turns without handing the stage in",
            self.client.name()
        )))
    }

    /// Ends the stage with what stands in the way; the person decides how planning continues.
    pub(super) fn give_up(&self, why: &str) -> StageResult {
        let what = self.client.redactor.redact(why).into_owned();
        StageResult::new(ControllerOutcome::ModelUnavailable)
            .with_event(PlanningEvent::Troubled { what, cap: None })
    }
}

/// Whether a finding keeps a draft from being handed in.
pub(super) fn is_serious(found: &Violation) -> bool {
    found.severity != Severity::Warning || is_infeasible(found)
}
