//! What agents are doing in their tasks: enough to show it, and to take a task up again at any of its steps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::agent_conversation::{AgentConversation, BudgetMark, ConversationEntry};
use super::worktree_slice::TaskWorktree;
use crate::task_words::describe_action;
use planwright_model::agent_conversation::{PromptSource, TURN_PURPOSE};
use planwright_model::agent_decision::{AgentDecision, TaskDecision};
use planwright_model::event::{
    AgentEvent, AnsweredCall, CallEvent, CallOutcome, DiscardCause, RepeatClass, WorktreeEvent,
};
use planwright_model::{
    AgentSession, AgentTodo, Category, ExecutionFailure, MicroDollars, ReActStep, StepAction,
    StepMetadata, TaskId, ToolResult,
};
use planwright_model::{
    agent_work::{AgentWork, CallPurpose, ChildState, PlannedCall},
    task_state::TaskState,
};

/// The code of a failure whose changes were taken out of the workspace again.
pub const CHANGES_UNDONE: &str = "changes_undone";

/// How much of a result is kept.
pub const MAX_RESULT_CHARS: usize = 1_500;
/// How much is kept of the newest results, which the next decision is made from.
pub const MAX_FRESH_RESULT_CHARS: usize = 12_000;
/// How many results count as new.
const FRESH_RESULTS: usize = 2;
/// How many results are kept at all; the journal has all of them.
const MAX_KEPT_RESULTS: usize = 48;
/// How much of a result is kept once a task is over.
const MAX_FINISHED_RESULT_CHARS: usize = 200;

/// One call that was made, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentStep {
    /// The number of the call within the attempt.
    pub number: u32,
    /// The step of the task's pattern it was made for.
    pub step: String,
    pub tool: String,
    pub input: Value,
    pub output: String,
    pub ok: bool,
}

/// A call that was decided and of which nothing was heard yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenAction {
    pub number: u32,
    pub planned: PlannedCall,
    /// What is kept of the arguments is not what was to be called: they held a secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// The call was started, and whether it may simply be made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intended: Option<RepeatClass>,
    /// It ended, but what came of it was not said any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CallOutcome>,
}

/// What is known about a call that was open when its process left.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenCallState {
    /// It did not start, or it may simply be made again.
    Free,
    /// It may have done its work, or part of it.
    InDoubt,
    /// It came to this end.
    Ended(ToolResult),
}

impl OpenAction {
    /// Where the call stands. One that was ended half-way is in doubt like one that nobody saw the end of.
    pub fn call_state(&self) -> OpenCallState {
        match (self.intended, &self.outcome) {
            (None | Some(RepeatClass::Safe), _) => OpenCallState::Free,
            (Some(RepeatClass::Unsafe), None | Some(CallOutcome::Cancelled)) => {
                OpenCallState::InDoubt
            }
            (Some(RepeatClass::Unsafe), Some(CallOutcome::Errored { failure })) => {
                OpenCallState::Ended(ToolResult::failure(failure))
            }
            (Some(RepeatClass::Unsafe), Some(CallOutcome::Exited { code: 0 })) => {
                OpenCallState::Ended(unseen_success("it ended well before the interruption"))
            }
            (Some(RepeatClass::Unsafe), Some(_)) => OpenCallState::Ended(ToolResult::error(
                "ended_unseen",
                Category::Recoverable,
                "it did not end well before the interruption",
            )),
        }
    }

    /// What is observed of the call where its own words are lost.
    pub fn observation_event(
        &self,
        task: &TaskId,
        attempt: u32,
        result: &ToolResult,
        at: jiff::Timestamp,
    ) -> AgentEvent {
        let content = match result.to_failure() {
            Some(failure) => format!("failed ({}): {}", failure.code, failure.message),
            None => result.explanations.join("\n"),
        };
        let metadata = StepMetadata {
            call: Some(self.number),
            step: Some(self.planned.step.clone()),
            ok: Some(result.ok),
            output_lost: Some(true),
            ..StepMetadata::default()
        };
        let step = ReActStep {
            timestamp: at,
            task_id: task.clone(),
            action: StepAction::Observation,
            content,
            tool_used: Some(self.planned.tool.clone()),
            tool_input: None,
            tool_output: serde_json::to_value(result).ok(),
            confidence_score: Some(result.confidence),
            metadata,
        };
        AgentEvent::Observed { task: task.clone(), attempt, step: Box::new(step) }
    }
}

/// A call that took place and whose output nobody has.
pub fn unseen_success(why: &str) -> ToolResult {
    ToolResult::success(Value::Null)
        .with_confidence(0.5)
        .with_explanation(format!("{why}; its output is lost, so look at what it left behind"))
}

/// What came of a call, as it was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnprocessedResult {
    pub planned: PlannedCall,
    pub result: ToolResult,
}

/// What a model said that nothing came of yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingModelAnswer {
    pub purpose: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<AnsweredCall>>,
}

/// What the person wrote to the agent of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonMessage {
    pub number: u32,
    pub text: String,
    pub delivered: bool,
    /// The agent's turn ends for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupt: bool,
}

/// What an agent handed in and nobody has applied yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedInWork {
    pub answer: String,
    pub criteria_met: bool,
}

/// How far an agent is with a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentProgress {
    pub attempt: u32,
    /// The ledger of the executor, its [`TaskState`] among them.
    pub work: Option<AgentWork>,
    pub steps: Vec<AgentStep>,
    /// Calls made in this attempt, those that are no longer kept included.
    pub calls: u32,
    pub open: Option<OpenAction>,
    /// A call that came to its end and that the ledger do not know of yet.
    pub unnoticed: Option<UnprocessedResult>,
    /// What the model is being asked for.
    pub asked: Option<String>,
    pub kept: Option<PendingModelAnswer>,
    pub answer: Option<String>,
    /// What the agent handed in; it becomes the answer once its changes are applied.
    pub handed_in: Option<HandedInWork>,
    pub tokens: u64,
    pub cost: MicroDollars,
    /// One line for the screen.
    pub doing: String,
    /// What the agent thought last, in one line.
    pub said: String,
    /// The attempt failed in a way that going on would not mend; another one begins anew.
    pub over: bool,
    /// The open conversation with the model, where it works in one.
    pub conversation: Option<Box<AgentConversation>>,
    /// What the person wrote to the agent, oldest first.
    pub messages: Vec<PersonMessage>,
    /// The session of an agent of the person's own, where one does the task.
    pub session: Option<Box<AgentSession>>,
    /// Calls of such an agent that can do something and of which nothing was heard yet, by their number.
    pub under_way: BTreeMap<u32, PlannedCall>,
    /// Its own to-do list.
    pub todo: Vec<AgentTodo>,
    /// What it has done at once beside its own work: title and state, by the id of the subtask.
    pub children: BTreeMap<TaskId, (String, ChildState)>,
    /// What it says it has used in its session.
    pub usage: ReportedUsage,
    /// The agent whose result was picked, where several tried the task: from then on it does the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked: Option<String>,
}

/// What an agent of the person's own says its session has used; what it does not say is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedUsage {
    pub tokens: Option<u64>,
    pub cost: Option<MicroDollars>,
}

impl ReportedUsage {
    /// What was used since an earlier report of the same session.
    pub(super) fn since(self, before: Self) -> (u64, MicroDollars) {
        let tokens = self.tokens.unwrap_or(0).saturating_sub(before.tokens.unwrap_or(0));
        let cost =
            self.cost.unwrap_or_default().0.saturating_sub(before.cost.unwrap_or_default().0);
        (tokens, MicroDollars(cost))
    }
}

impl AgentProgress {
    /// Messages of the person that the model has not read yet.
    pub fn undelivered_messages(&self) -> impl Iterator<Item = &PersonMessage> {
        self.messages.iter().filter(|message| !message.delivered)
    }

    pub fn task_state(&self) -> Option<&TaskState> {
        self.work.as_ref().map(|work| &work.state)
    }

    pub fn iteration(&self) -> u32 {
        self.work.as_ref().map_or(0, |work| work.iteration)
    }

    /// Where the task stands, in one line; none before it has steps.
    pub fn summary_line(&self) -> Option<String> {
        let state = self.task_state()?;
        let list = |steps: &[String], word: &str| match steps {
            [] => None,
            steps => Some(format!("{} {word}", steps.join(", "))),
        };
        let parts = [
            list(&state.completed_steps, "done"),
            list(&state.pending_steps, "to do"),
            Some(format!("{} iterations, {} calls", self.iteration(), self.calls)),
        ];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    /// Folds one event of this task. False if it makes no sense here.
    pub fn apply(&mut self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::ModelAsked { purpose, ask, .. } => {
                (self.asked, self.kept) = (Some(purpose.clone()), None);
                self.doing = format!("asks for {}", purpose.replace('_', " "));
                if purpose == TURN_PURPOSE
                    && let Some(talk) = &mut self.conversation
                {
                    talk.awaited = Some(*ask);
                }
            }
            AgentEvent::ModelAnswered {
                text,
                calls,
                reasoning,
                tokens,
                cost,
                ask,
                cut_off,
                fault,
                ..
            } => {
                self.add_usage(*tokens, *cost);
                if let Some(talk) = &mut self.conversation
                    && talk.awaited == Some(*ask)
                {
                    talk.awaited = None;
                    let calls = calls.as_deref().unwrap_or_default();
                    let ending = (*cut_off, fault.as_deref());
                    self.calls = talk.append_turn((text, reasoning), calls, ending, self.calls);
                    self.asked = None;
                    return true;
                }
                self.kept = self.asked.take().map(|purpose| PendingModelAnswer {
                    purpose,
                    text: text.clone(),
                    calls: calls.clone(),
                });
            }
            AgentEvent::ModelFailed { tokens, cost, failure, .. } => {
                self.add_usage(*tokens, *cost);
                self.asked = None;
                if let Some(talk) = &mut self.conversation {
                    talk.awaited = None;
                }
                self.doing.clone_from(&failure.message);
            }
            AgentEvent::Partial { text, .. } | AgentEvent::ProtocolDemoted { what: text, .. } => {
                self.doing = first_line(text);
            }
            AgentEvent::ModelDelayed { why, .. } => self.doing = first_line(why),
            // How long an answer takes is for whoever looks.
            AgentEvent::ModelWaiting { .. } => {}
            AgentEvent::Thought { step, .. } => {
                self.doing = first_line(&step.content);
                self.said.clone_from(&self.doing);
            }
            AgentEvent::Acted { attempt, step, .. } => return self.apply_action(*attempt, step),
            AgentEvent::Observed { step, .. } => return self.apply_observation(step),
            AgentEvent::StateSaved { attempt, state, .. } => {
                (self.attempt, self.kept, self.unnoticed) = (*attempt, None, None);
                self.work = Some((**state).clone());
            }
            AgentEvent::Decided { attempt, decision, .. } => {
                self.apply_decision(*attempt, decision);
            }
            AgentEvent::HandedIn { attempt, answer, tokens, criteria_met, .. } => {
                self.attempt = *attempt;
                self.tokens = self.tokens.max(*tokens);
                self.doing = first_line(answer);
                let (answer, criteria_met) = (answer.clone(), *criteria_met);
                self.handed_in = Some(HandedInWork { answer, criteria_met });
            }
            AgentEvent::Concluded { answer, tokens, .. } => self.apply_conclusion(answer, *tokens),
            AgentEvent::ChildMoved { child, title, state, .. } => {
                self.children.insert(child.clone(), (title.clone(), state.clone()));
                self.doing = first_line(&format!("{child}: {title}"));
            }
            AgentEvent::ConversationOpened { attempt, opening, .. } => {
                self.attempt = *attempt;
                self.conversation = Some(Box::new(AgentConversation::new((**opening).clone())));
            }
            AgentEvent::Prompted { source, text, message, .. } => {
                return self.apply_prompt(*source, text, *message);
            }
            AgentEvent::ResultsCompacted { through, .. } => {
                let Some(talk) = &mut self.conversation else { return false };
                talk.compacted_through = talk.compacted_through.max(*through);
            }
            AgentEvent::BudgetRenewed { .. } => return self.renew_budget(),
            AgentEvent::MessageSent { number, text, interrupt, .. } => {
                let (number, text, interrupt) = (*number, text.clone(), *interrupt);
                self.messages.push(PersonMessage { number, text, delivered: false, interrupt });
            }
            AgentEvent::SessionOpened { attempt, session, .. } => {
                self.attempt = *attempt;
                if !session.loaded {
                    self.usage = ReportedUsage::default();
                }
                // They belonged to a process that is gone.
                self.under_way.clear();
                self.session = Some(session.clone());
            }
            AgentEvent::TodoListed { items, .. } => self.todo.clone_from(items),
            AgentEvent::UsageReported { tokens, cost, .. } => self.apply_usage(*tokens, *cost),
            // Two tasks are concerned; whoever has both of them folds it.
            AgentEvent::CandidatePicked { .. } => return false,
            // About the session, not about a task.
            AgentEvent::Gated { .. } | AgentEvent::Granted { .. } | AgentEvent::Revoked { .. } => {
                return false;
            }
        }
        true
    }

    fn add_usage(&mut self, tokens: u64, cost: Option<MicroDollars>) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost = self.cost.saturating_add(cost.unwrap_or_default());
    }

    /// What a session has used only grows; a report without a figure keeps the last one.
    fn apply_usage(&mut self, tokens: Option<u64>, cost: Option<MicroDollars>) {
        let before = self.usage;
        self.usage.tokens = tokens.max(before.tokens);
        self.usage.cost = cost.max(before.cost);
        let (more, cost) = self.usage.since(before);
        self.add_usage(more, Some(cost));
    }

    /// Whether an agent of the person's own does the task, and not a model of ours.
    pub fn is_own_agent(&self) -> bool {
        self.conversation.as_ref().is_some_and(|talk| talk.opening.agent.is_some())
    }

    /// Something was said to the model. What explains the end of an attempt begins a new one, with limits of its own.
    fn apply_prompt(&mut self, source: PromptSource, text: &str, message: Option<u32>) -> bool {
        let delivered = self.messages.iter_mut().filter(|known| Some(known.number) == message);
        delivered.for_each(|known| known.delivered = true);
        let Some(talk) = &mut self.conversation else { return false };
        talk.entries.push(ConversationEntry::Prompt { source, text: text.to_owned() });
        if source == PromptSource::Retry {
            talk.ended = None;
            self.renew_budget();
        }
        true
    }

    fn renew_budget(&mut self) -> bool {
        let (tokens, cost) = (self.tokens, self.cost);
        let Some(talk) = &mut self.conversation else { return false };
        talk.budget_from = BudgetMark { turns: talk.turns(), tokens, cost };
        true
    }

    /// What was handed in is not used; the agent continues and is told why.
    fn continue_after(&mut self, code: &str, words: String) {
        self.handed_in = None;
        let failure = ExecutionFailure::new(code, Category::Recoverable, words);
        match &mut self.conversation {
            Some(talk) => talk.ended = Some(failure),
            None => self.over = true,
        }
    }

    /// What the person said with an answer was told to the agent; it counts as a message for whoever begins anew.
    fn keep_told_words(&mut self, text: &str) {
        let number = self.messages.last().map_or(0, |message| message.number) + 1;
        let text = text.to_owned();
        self.messages.push(PersonMessage { number, text, delivered: true, interrupt: false });
    }

    /// The work and its conversation are gone. What the person wrote in it stays: the next agent reads it first.
    fn give_up_conversation(&mut self) {
        (self.handed_in, self.conversation) = (None, None);
        self.over = true;
        for message in &mut self.messages {
            (message.delivered, message.interrupt) = (false, false);
        }
    }

    /// What is forgotten when work begins anew: everything but what the person wrote and nobody read yet.
    fn start_over(&mut self) {
        let mut messages = std::mem::take(&mut self.messages);
        messages.retain(|message| !message.delivered);
        *self = Self { messages, picked: self.picked.take(), ..Self::default() };
    }

    /// A task that begins anew forgets what was before; one that is taken up again does not.
    fn apply_decision(&mut self, attempt: u32, decision: &AgentDecision) {
        let AgentDecision::Task(TaskDecision::TaskBegun { resumed, .. }) = decision else {
            return;
        };
        if !resumed {
            self.start_over();
        }
        self.attempt = attempt;
        self.over = false;
    }

    /// Takes notice of the call that is open: whether it started, and whether it ended.
    fn apply_call(&mut self, event: &CallEvent) {
        let number = event.call_id().step;
        let Some(open) = self.open.as_mut().filter(|open| open.number == number) else { return };
        match event {
            CallEvent::Intended { repeat, .. } => {
                (open.intended, open.outcome) = (Some(*repeat), None);
            }
            // The person gave it up: it stands where it stood before it started.
            CallEvent::Concluded { outcome: CallOutcome::GivenUp, .. } => {
                (open.intended, open.outcome) = (None, None);
            }
            CallEvent::Concluded { outcome, .. } => open.outcome = Some(outcome.clone()),
            CallEvent::Spawned { .. } | CallEvent::Output { .. } | CallEvent::Spooled { .. } => {}
        }
    }

    fn apply_action(&mut self, attempt: u32, step: &ReActStep) -> bool {
        let (Some(tool), Some(input)) = (&step.tool_used, &step.tool_input) else { return false };
        let metadata = &step.metadata;
        // A ledger that cannot be read would leave the call with an older one.
        if metadata.foreign.contains_key("work") {
            return false;
        }
        let number = metadata.call.unwrap_or(0);
        let planned = PlannedCall {
            step: metadata.step.clone().unwrap_or_default(),
            tool: tool.clone(),
            args: input.clone(),
            purpose: metadata.purpose.unwrap_or(CallPurpose::Step),
        };
        // The ledger as they were when it was decided, so that decision and call cannot come apart.
        if let Some(work) = &metadata.work {
            self.work = Some((**work).clone());
        }
        self.attempt = attempt;
        self.doing = first_line(&describe_action(&step.content));
        self.unnoticed = None;
        self.calls = self.calls.max(number);
        self.kept = None;
        // A mark that cannot be read counts as set: repeating a call with placeholders would be wrong.
        let redacted = metadata.redacted == Some(true) || metadata.foreign.contains_key("redacted");
        // An agent of the person's own makes its calls itself, several at once if it likes.
        if self.is_own_agent() {
            if planned.purpose == CallPurpose::Step {
                self.under_way.insert(number, planned);
            }
            return true;
        }
        // Looks of a conversation run beside each other and may simply be repeated: none of them is the open call.
        if self.conversation.is_some() && planned.purpose == CallPurpose::Lookup {
            return true;
        }
        self.open = Some(OpenAction { number, planned, redacted, intended: None, outcome: None });
        true
    }

    /// What came of a call of a conversation, which need not have been made: then the reason is its result.
    fn observe_in_conversation(&mut self, step: &ReActStep) -> bool {
        let Some(number) = step.metadata.call else { return false };
        let ok = step.metadata.ok.unwrap_or(false);
        let open = self.open.take_if(|open| open.number == number).map(|open| open.planned);
        let open = open.or_else(|| self.under_way.remove(&number));
        let Some(talk) = &mut self.conversation else { return false };
        let input = match (open, talk.find_call(number)) {
            (Some(planned), _) => planned.args,
            (None, Some(call)) => call.arguments.clone(),
            (None, None) => Value::Null,
        };
        let tool = step.tool_used.clone().unwrap_or_default();
        talk.append_result(number, &tool, ok, &step.content);
        self.push_step(AgentStep {
            number,
            step: step.metadata.step.clone().unwrap_or_default(),
            tool,
            input,
            output: truncate_text(&step.content, MAX_FRESH_RESULT_CHARS),
            ok,
        });
        true
    }

    fn apply_observation(&mut self, step: &ReActStep) -> bool {
        if self.conversation.is_some() {
            return self.observe_in_conversation(step);
        }
        let Some(OpenAction { number, planned, .. }) = self.open.take() else { return false };
        let ok = step.metadata.ok.unwrap_or(false);
        let result = step.tool_output.clone().map(serde_json::from_value::<ToolResult>);
        self.unnoticed = match result {
            Some(Ok(result)) => Some(UnprocessedResult { planned: planned.clone(), result }),
            _ => None,
        };
        self.push_step(AgentStep {
            number,
            step: planned.step,
            tool: planned.tool,
            input: planned.args,
            output: truncate_text(&step.content, MAX_FRESH_RESULT_CHARS),
            ok,
        });
        true
    }

    fn push_step(&mut self, step: AgentStep) {
        self.steps.push(step);
        if let Some(older) = self.steps.len().checked_sub(FRESH_RESULTS + 1) {
            self.steps[older].output = truncate_text(&self.steps[older].output, MAX_RESULT_CHARS);
        }
        let extra = self.steps.len().saturating_sub(MAX_KEPT_RESULTS);
        self.steps.drain(..extra);
    }

    fn apply_conclusion(&mut self, answer: &str, tokens: u64) {
        self.answer = Some(answer.to_owned());
        self.handed_in = None;
        self.tokens = self.tokens.max(tokens);
        (self.open, self.asked, self.kept, self.unnoticed) = (None, None, None, None);
        self.under_way.clear();
        // A task that is over is never resumed; the journal has its conversation.
        self.conversation = None;
        self.doing = first_line(answer);
        for step in &mut self.steps {
            step.output = truncate_text(&step.output, MAX_FINISHED_RESULT_CHARS);
        }
    }
}

fn first_line(text: &str) -> String {
    truncate_text(
        text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim(),
        MAX_FINISHED_RESULT_CHARS,
    )
}

/// The beginning of a text, with a mark where it was cut, which counts.
pub fn truncate_text(text: &str, most: usize) -> String {
    const MARK: &str = "… [truncated]";
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let keep = most.saturating_sub(MARK.chars().count());
    text.chars().take(keep).chain(MARK.chars()).collect()
}

/// The agents of a session, by task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentSlice(BTreeMap<TaskId, AgentProgress>);

impl AgentSlice {
    pub fn get(&self, task: &TaskId) -> Option<&AgentProgress> {
        self.0.get(task)
    }

    /// What came of a task in words.
    pub fn final_answer(&self, task: &TaskId) -> Option<&str> {
        self.get(task)?.answer.as_deref()
    }

    /// Whether the agent of this attempt has handed in its answer. An answer of an earlier attempt does not count.
    pub fn has_answered(&self, task: &TaskId, attempt: u32) -> bool {
        self.get(task)
            .is_some_and(|progress| progress.attempt == attempt && progress.answer.is_some())
    }

    /// Whether the agent of this attempt has handed in changes that wait to be applied.
    pub fn has_handed_in(&self, task: &TaskId, attempt: u32) -> bool {
        self.get(task)
            .is_some_and(|progress| progress.attempt == attempt && progress.handed_in.is_some())
    }

    /// Takes notice of what the person says about the changes of a task: the agent continues, or its work is gone.
    /// `copy` is its copy of the workspace before the event.
    pub(super) fn apply_worktree(&mut self, event: &WorktreeEvent, copy: Option<&TaskWorktree>) {
        let Some(progress) = self.0.get_mut(event.task_id()) else { return };
        match event {
            WorktreeEvent::ChangesRequested { text, merge, .. } => {
                let words = format!("the person looked at the changes and asks for others: {text}");
                progress.continue_after("changes_requested", words);
                if !merge {
                    progress.keep_told_words(text);
                }
            }
            WorktreeEvent::Undone { .. } if copy.is_some_and(|copy| copy.retry) => {
                let words = copy.and_then(|copy| copy.hint.clone()).unwrap_or_default();
                progress.continue_after("check_failed", words);
            }
            WorktreeEvent::Discarded {
                cause: DiscardCause::Person | DiscardCause::NotPicked,
                ..
            } => {
                progress.give_up_conversation();
            }
            _ => {}
        }
    }

    /// A new attempt starts. What an earlier one answered or handed in must not be taken for its own.
    pub(super) fn apply_start(&mut self, task: &TaskId) {
        let is_over = |progress: &&mut AgentProgress| {
            progress.answer.is_some() || progress.handed_in.is_some()
        };
        if let Some(progress) = self.0.get_mut(task).filter(is_over) {
            progress.start_over();
        }
    }

    /// The agent whose result was picked for a task that several tried.
    pub fn picked(&self, task: &TaskId) -> Option<&str> {
        self.get(task)?.picked.as_deref()
    }

    /// The task goes on as the try that was picked: with its conversation, its session and what it handed in. What it
    /// used stays with the try.
    fn pick_candidate(
        &mut self,
        (task, attempt): (&TaskId, u32),
        candidate: &TaskId,
        agent: &str,
    ) -> bool {
        let Some(tried) = self.0.get(candidate) else { return false };
        let mut own = AgentProgress {
            attempt,
            picked: Some(agent.to_owned()),
            tokens: 0,
            cost: MicroDollars::default(),
            ..tried.clone()
        };
        own.messages.extend(self.0.remove(task).into_iter().flat_map(|before| before.messages));
        let has_result = own.handed_in.is_some();
        self.0.insert(task.clone(), own);
        has_result
    }

    /// The work of an attempt that did not come to its end and can be gone on with.
    pub fn resumable_progress(&self, task: &TaskId) -> Option<&AgentProgress> {
        self.get(task).filter(|progress| {
            let resumable = progress.conversation.is_some() || progress.work.is_some();
            progress.answer.is_none() && resumable && !progress.over
        })
    }

    /// A task failed. What may work the next time goes on where it was. Otherwise strict steps begin anew, and a
    /// conversation continues with the reason, unless it has grown too long to be sent.
    pub(super) fn apply_failure(&mut self, task: &TaskId, failure: &ExecutionFailure) {
        let Some(progress) = self.0.get_mut(task) else { return };
        progress.handed_in = None;
        if failure.code == CHANGES_UNDONE {
            return progress.give_up_conversation();
        }
        let lasting = failure.category != Category::Transient;
        match &mut progress.conversation {
            Some(talk) if failure.code != "context_length_exceeded" => {
                talk.ended = lasting.then(|| failure.clone());
            }
            _ => progress.over = lasting,
        }
    }

    pub(super) fn apply_call(&mut self, event: &CallEvent) {
        if let Some(progress) = self.0.get_mut(&event.call_id().task) {
            progress.apply_call(event);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&TaskId, &AgentProgress)> {
        self.0.iter()
    }

    /// Folds an event; one without a task is about planning.
    pub(super) fn apply(&mut self, event: &AgentEvent) -> bool {
        if let AgentEvent::CandidatePicked { task, attempt, candidate, agent, .. } = event {
            return self.pick_candidate((task, *attempt), candidate, agent);
        }
        match event.task_id() {
            Some(task) => self.0.entry(task.clone()).or_default().apply(event),
            None => true,
        }
    }
}
