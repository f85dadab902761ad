//! The open loop: one conversation per task, until the model hands in.
//!
//! What comes next follows from the last entry of the conversation, which is folded from the journal. An attempt that is
//! interrupted anywhere therefore continues with the very request that it would have sent.

mod calls;
mod context_share;
mod guards;
mod handover;
mod messages;
mod opening;
mod person;
mod report;
mod summary;
mod words;
mod work_clock;

pub use context_share::{due_compaction, render_result, result_share};
pub use messages::{answer_room, conversation_request, read_item};
pub use opening::project_instructions;
pub(super) use opening::task_digest;
#[cfg(feature = "acp")]
pub(crate) use person::handed_over;
pub use person::{NobodyThere, PersonChannel};
pub use summary::{due_summary, plain_summary, summary_request};
pub use work_clock::WorkClock;

use std::sync::Arc;
use std::time::Duration;

use super::attempt::{AgentAttempt, cap_failure};
use super::event_sink::StepDraft;
use super::executor::cancelled_failure;
use super::model_requests::ModelQuestion;
use super::tool_selection::DONE;
use planwright_drafting::executor::TaskType;
use planwright_model::agent_conversation::{PromptSource, TURN_PURPOSE};
use planwright_model::event::AgentEvent;
use planwright_model::{Category, ExecutionFailure, PrdvPhase, StepMetadata};
use planwright_state::{AgentConversation, ConversationCall, ConversationEntry};

/// The code of an end at which the person takes the task over.
pub const HANDED_OVER: &str = "handed_over";

/// So many answers in a row without a call that could be run end the attempt.
const MOST_IDLE_TURNS: u32 = 5;

/// How an attempt ended: with a result in words, or with why there is none.
type ConversationEnd = Result<String, ExecutionFailure>;

/// What the conversation wants next.
enum NextMove {
    /// Calls of the last answer have no result yet.
    RunCalls(Vec<ConversationCall>),
    /// The last answer has no call.
    AnswerWords,
    AskModel,
}

impl AgentAttempt<'_> {
    /// Works on the task in one conversation until it is done, fails or is cancelled.
    pub(super) async fn run_conversation(&self) -> ConversationEnd {
        let kind = self.resolve_task_type(&self.job.task.task_type);
        if self.events.progress().conversation.is_none() {
            self.open_conversation(kind);
        }
        self.explain_last_end();
        let clock = self.start_clock();
        loop {
            if self.cancel.is_cancelled() {
                return Err(cancelled_failure());
            }
            match self.next_move() {
                NextMove::RunCalls(calls) => {
                    if let Some(end) = Box::pin(self.run_calls(kind, &calls)).await {
                        return end;
                    }
                    self.save_visible_state(kind);
                }
                NextMove::AnswerWords => self.answer_words().await?,
                NextMove::AskModel => {
                    self.deliver_messages().await;
                    self.check_idle_turns()?;
                    self.check_task_budget(clock.worked())?;
                    self.compact_results();
                    self.ask_next_turn().await?;
                }
            }
        }
    }

    /// A clock for the work that begins now.
    pub(crate) fn start_clock(&self) -> WorkClock {
        WorkClock::start(Arc::clone(&self.services.person), &self.job.task.id)
    }

    /// Looks at the conversation.
    fn with_talk<T>(&self, look: impl FnOnce(&AgentConversation) -> T) -> Option<T> {
        self.events.progress().conversation.as_deref().map(look)
    }

    fn next_move(&self) -> NextMove {
        self.with_talk(|talk| {
            let waiting: Vec<ConversationCall> = talk.waiting_calls().cloned().collect();
            match talk.entries.last() {
                _ if !waiting.is_empty() => NextMove::RunCalls(waiting),
                Some(ConversationEntry::Turn { .. }) => NextMove::AnswerWords,
                _ => NextMove::AskModel,
            }
        })
        .unwrap_or(NextMove::AskModel)
    }

    pub(crate) fn record_prompt(&self, source: PromptSource, text: &str, message: Option<u32>) {
        self.events.record(AgentEvent::Prompted {
            task: self.job.task.id.clone(),
            attempt: self.job.attempt,
            source,
            text: self.redact_text(text),
            message,
        });
    }

    /// An attempt that follows a failed one tells the model why that one ended. Calls that were under way then are
    /// closed first: what they did is not known.
    fn explain_last_end(&self) {
        let ended = self.with_talk(|talk| {
            let waiting: Vec<ConversationCall> = talk.waiting_calls().cloned().collect();
            Some((talk.ended.clone()?, waiting))
        });
        let Some((failure, waiting)) = ended.flatten() else { return };
        for call in waiting {
            if call.tool == DONE {
                self.record_own_result(&call, true, "Handed in; what came of it follows.");
                continue;
            }
            let why = "the attempt ended before it did; look at what it may have left behind";
            self.record_unrun(&call, why);
        }
        let next = if failure.code == "stopped" || failure.code == "cancelled" {
            "Continue now: repeat the calls that were not run, as far as they are still needed, then call task.done."
        } else {
            "Continue from here: fix what is named, then call task.done."
        };
        let mut text = format!(
            "The attempt so far ended: {}. Everything that was done is still there. {next}",
            failure.message.trim_end_matches('.')
        );
        let conflicts = self.job.worktree.iter().flat_map(|notice| &notice.conflicts);
        let conflicts: Vec<&str> = conflicts.map(String::as_str).collect();
        if !conflicts.is_empty() {
            text.extend(["\nConflicts to resolve: ", &conflicts.join(", "), "."]);
        }
        self.record_prompt(PromptSource::Retry, &text, None);
    }

    /// Limits are budgets: at one of them the person is asked whether the task may have as much again.
    pub(crate) fn check_task_budget(&self, worked: Duration) -> Result<(), ExecutionFailure> {
        let limits = &self.services.limits;
        let progress = self.events.progress();
        let Some(talk) = progress.conversation.as_deref() else { return Ok(()) };
        let from = talk.budget_from;
        let turns = talk.turns().saturating_sub(from.turns);
        let tokens = progress.tokens.saturating_sub(from.tokens);
        let cost = progress.cost.0.saturating_sub(from.cost.0);
        let minutes = worked.as_secs() / 60;
        let reached = if turns >= limits.task_budget.turns.saturating_add(self.job.granted) {
            format!("it has taken {turns} turns (react_max_iterations)")
        } else if tokens >= limits.task_budget.tokens {
            let used = planwright_text::units::format_tokens(tokens);
            format!("it has used {used} tokens (task_token_limit)")
        } else if cost > 0 && cost >= limits.task_budget.cost.0 {
            format!("it has cost {} (task_budget_usd)", planwright_model::MicroDollars(cost))
        } else if minutes >= limits.task_budget.wall_time_min {
            format!("it has worked for {minutes} min (task_wall_time_min)")
        } else {
            return Ok(());
        };
        Err(cap_failure(&reached))
    }

    /// A model that only asks for what cannot be run, answer after answer, does not get further by itself.
    fn check_idle_turns(&self) -> Result<(), ExecutionFailure> {
        let Some((count, why)) = self.with_talk(guards::idle_turns) else { return Ok(()) };
        if count < MOST_IDLE_TURNS {
            return Ok(());
        }
        let message = format!(
            "{} asked for nothing that could be run in {count} answers in a row; the last: {why}",
            self.model_label()
        );
        Err(ExecutionFailure::new("no_progress", Category::Recoverable, self.redact_text(&message)))
    }

    /// The model and its provider, for messages about what it did.
    fn model_label(&self) -> String {
        let info = self.services.dialogue.model().info();
        format!("{} ({})", info.model, info.provider)
    }

    async fn ask_next_turn(&self) -> Result<(), ExecutionFailure> {
        let request =
            self.with_talk(|talk| messages::conversation_request(talk, &report::is_own_tool));
        let Some(request) = request else {
            return Err(cancelled_failure());
        };
        let question = ModelQuestion {
            dialogue: &self.services.dialogue,
            purpose: TURN_PURPOSE,
            request: &request,
        };
        let turn = match self.requester.ask_for_turn(question).await {
            Ok(turn) => turn,
            Err(error) if error.is_cancelled() => return Err(cancelled_failure()),
            Err(error) => return Err(self.failure_from_error(&error)),
        };
        self.keep_secret_arguments(&turn.calls);
        if !turn.text.trim().is_empty() {
            let metadata = StepMetadata {
                prompt_ref: Some(turn.prompt),
                answer_tokens: Some(turn.tokens),
                ..StepMetadata::default()
            };
            let words = StepDraft::new(turn.text, PrdvPhase::Plan).with_metadata(metadata);
            self.events.record_thought(words);
        }
        Ok(())
    }

    /// Saves which steps of the task's type are done, for whoever looks. In a conversation they only advise.
    fn save_visible_state(&self, kind: &TaskType) {
        let has_context = !self.job.context.is_empty();
        let goals = vec![self.job.task.description.clone()];
        let findings = self.criterion_findings();
        let work = self.with_talk(|talk| {
            let mut work = guards::visible_work(kind, talk, goals, has_context);
            work.findings = findings;
            work
        });
        if let Some(work) = work {
            self.save_work(&work);
        }
    }
}
