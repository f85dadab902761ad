//! One attempt at a task by an agent of the person's own: prompts go out, what it does comes back, and its claim to be
//! done is checked like anybody's.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::bounded_lines::LineBounds;
use super::connection::RequestError;
use super::live_agent::{AgentLaunch, LiveAgent, SessionFault};
use super::permission::GrantedActions;
use super::prompts::{
    CONTINUED, GO_ON, INTERRUPTED, RESULT_TOKENS, claimed_unmet, closing_question,
};
use super::prompts::{refusal_prompt, rejection_prompt};
use super::terminals::AgentTerminals;
use super::tool_calls::CallTracker;
use super::turn::{TurnEnd, TurnStop};
use super::turn_text::TurnText;
use crate::attempt::{AgentAttempt, cap_failure};
use crate::conversation::WorkClock;
use crate::executor::cancelled_failure;
use crate::own_agent::OwnAgent;
use planwright_model::agent_conversation::{ConversationOpening, PromptSource};
use planwright_model::event::AgentEvent;
use planwright_model::requests::{AgentInquiry, session_lost_request};
use planwright_model::{CallId, Category, ChoiceAction, ExecutionFailure, RequestId, ToolResult};
use planwright_state::agent_progress::ReportedUsage;
use planwright_tools::agent_process::{ExitReport, UnconfinedAgent};
use planwright_tools::permission::SandboxState;
use planwright_tools::workspace::{ProtectedState, scan_protected_files};
use planwright_tools::{ActionTarget, AgentAction, ToolInvocation};

/// A task that is handed in so often against its criteria has failed; a retry continues from there.
const MOST_REJECTIONS: usize = 3;
/// So many turns in a row that bring nothing end the attempt.
const MOST_EMPTY_TURNS: u32 = 3;

/// How an attempt ended: with a result in words, or with why there is none.
pub(super) type OwnAgentEnd = Result<String, ExecutionFailure>;

/// An attempt while it is under way.
pub(super) struct OwnAgentAttempt<'a> {
    pub(super) run: &'a AgentAttempt<'a>,
    pub(super) agent: &'a OwnAgent,
    pub(super) calls: Mutex<CallTracker>,
    pub(super) text: TurnText,
    /// What was not allowed since the last prompt, in words for the next one.
    pub(super) refusals: Mutex<Vec<String>>,
    pub(super) granted: Mutex<GrantedActions>,
    pub(super) terminals: AgentTerminals,
    /// Why the attempt is to end, whatever the agent does next.
    pub(super) stop: Mutex<Option<ExecutionFailure>>,
    pub(super) usage: Mutex<UsageCount>,
    /// How many lines were told to be no messages.
    pub(super) left_out: Mutex<u32>,
    clock: WorkClock,
}

/// What the agent has said it used.
#[derive(Debug, Default)]
pub(super) struct UsageCount {
    /// The tokens of turns that are over.
    pub(super) tokens: Option<u64>,
    pub(super) reported: ReportedUsage,
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> OwnAgentAttempt<'a> {
    pub(super) fn new(run: &'a AgentAttempt<'a>, agent: &'a OwnAgent) -> Self {
        let usage = run.events.progress().usage;
        let root = run.services.toolbox.workspace().root().to_owned();
        Self {
            run,
            agent,
            calls: Mutex::new(CallTracker::new(root)),
            text: TurnText::new(run.services.toolbox.redactor()),
            refusals: Mutex::default(),
            granted: Mutex::default(),
            terminals: AgentTerminals::default(),
            stop: Mutex::default(),
            usage: Mutex::new(UsageCount { tokens: usage.tokens, reported: usage }),
            left_out: Mutex::default(),
            clock: run.start_clock(),
        }
    }

    /// Works on the task until it is done, fails or is cancelled.
    pub(super) async fn work(&self) -> OwnAgentEnd {
        let before = self.scan_protected().await;
        let first = self.first_prompt();
        let (mut live, prompt) = self.open_session(first).await?;
        let ended = self.start_conversing(&mut live, prompt).await;
        let ended = match ended {
            Err(LoopEnd::Broken(error)) => Err(live.end_broken(self.agent, &error).await),
            Err(LoopEnd::Failed(failure)) => {
                live.end().await;
                Err(failure)
            }
            Ok(answer) => {
                live.end().await;
                Ok(answer)
            }
        };
        self.close_open_calls();
        if self.run.cancel.is_cancelled() && ended.is_err() {
            return Err(cancelled_failure());
        }
        self.check_protected(before).await?;
        ended
    }

    /// What the agent is told first, and by whom.
    fn first_prompt(&self) -> (PromptSource, String) {
        let (is_open, ended) = {
            let progress = self.run.events.progress();
            let talk = progress.conversation.as_deref();
            (talk.is_some(), talk.and_then(|talk| talk.ended.clone()))
        };
        if !is_open {
            let briefing = self.run.redact_text(&self.briefing());
            self.run.events.record(AgentEvent::ConversationOpened {
                task: self.run.job.task.id.clone(),
                attempt: self.run.job.attempt,
                opening: Box::new(ConversationOpening {
                    task: crate::conversation::task_digest(self.run.job),
                    system: String::new(),
                    briefing,
                    tools: Vec::new(),
                    result_tokens: RESULT_TOKENS,
                    agent: Some(self.agent.name.clone()),
                }),
            });
        }
        match ended {
            Some(ended) => (PromptSource::Retry, self.retry_prompt(&ended)),
            None => (PromptSource::Loop, INTERRUPTED.to_owned()),
        }
    }

    /// Starts the agent with its session: the one it had, if it can load that, else a new one that is told everything.
    async fn open_session(
        &self,
        (source, words): (PromptSource, String),
    ) -> Result<(LiveAgent, String), ExecutionFailure> {
        let (earlier, acted) = {
            let progress = self.run.events.progress();
            let own = progress.session.as_ref().filter(|own| own.agent == self.agent.name);
            (own.map(|own| (own.id.clone(), own.can_load)), progress.calls > 0)
        };
        let unconfined = self.ask_unconfined().await?;
        if let Some((id, can_load)) = &earlier {
            match self.launch_earlier(id, *can_load, unconfined).await {
                Ok(live) => {
                    self.record_session(&live);
                    if self.asked_before(&live).is_none() {
                        self.run.record_prompt(source, &words, None);
                    }
                    return Ok((live, words));
                }
                Err(SessionFault::Failed(failure)) => return Err(failure),
                Err(SessionFault::NotLoaded { why }) => {
                    if acted && source != PromptSource::Retry {
                        self.ask_about_lost_session(&why).await?;
                    }
                }
            }
        }
        let live = match self.launch(None, unconfined).await {
            Ok(live) => live,
            Err(SessionFault::Failed(failure)) => return Err(failure),
            Err(SessionFault::NotLoaded { why }) => {
                return Err(ExecutionFailure::new("agent_error", Category::Recoverable, why));
            }
        };
        self.record_session(&live);
        let mut prompt = self.briefing();
        if earlier.is_some() || source == PromptSource::Retry {
            prompt.extend(["\n\n", CONTINUED, "\n", &words]);
            self.run.record_prompt(source, &words, None);
        }
        Ok((live, prompt))
    }

    /// Starts the agent with the session that it had.
    async fn launch_earlier(
        &self,
        id: &str,
        can_load: bool,
        unconfined: UnconfinedAgent,
    ) -> Result<LiveAgent, SessionFault> {
        if !can_load {
            let why = "it does not load sessions reliably".to_owned();
            return Err(SessionFault::NotLoaded { why });
        }
        self.launch(Some(id), unconfined).await
    }

    async fn launch(
        &self,
        earlier: Option<&str>,
        unconfined: UnconfinedAgent,
    ) -> Result<LiveAgent, SessionFault> {
        let toolbox = &self.run.services.toolbox;
        let call = CallId { step: 0, ..self.call_id(0) };
        let launch = AgentLaunch {
            agent: self.agent,
            sandbox: toolbox.sandbox(),
            directory: toolbox.workspace().root().to_owned(),
            readable: toolbox.settings().readable.clone(),
            mark: toolbox.process_mark(&call),
            unconfined,
            report: self.exit_report(),
            bounds: LineBounds::default(),
        };
        tokio::select! {
            started = LiveAgent::start(launch, earlier) => started,
            () = self.run.cancel.cancelled() => Err(cancelled_failure().into()),
        }
    }

    /// Keeps hosts that the agent tried to reach and may not, for the next observation.
    fn exit_report(&self) -> ExitReport {
        let refused = self.text.refused_hosts();
        std::sync::Arc::new(move |host: &str| lock(&refused).push(host.to_owned()))
    }

    fn record_session(&self, live: &LiveAgent) {
        self.run.events.record(AgentEvent::SessionOpened {
            task: self.run.job.task.id.clone(),
            attempt: self.run.job.attempt,
            session: Box::new(live.session.clone()),
        });
        tracing::debug!(agent = %self.agent.name, pid = live.process().0, "an agent is at work");
    }

    pub(super) fn call_id(&self, step: u32) -> CallId {
        CallId { task: self.run.job.task.id.clone(), attempt: self.run.job.attempt, step }
    }

    /// A call on behalf of the agent.
    pub(super) fn invocation(
        &self,
        step: u32,
        tool: &str,
        args: serde_json::Value,
    ) -> ToolInvocation {
        let mut call = ToolInvocation::new(self.call_id(step), tool, args);
        call.cancel = self.run.cancel.clone();
        call.held = self.run.job.held.clone();
        call.asked_by = Some(self.agent.title().to_owned());
        call
    }

    /// Where nothing confines an agent, the person decides whether it starts.
    async fn ask_unconfined(&self) -> Result<UnconfinedAgent, ExecutionFailure> {
        let toolbox = &self.run.services.toolbox;
        let probing = toolbox.clone();
        let state = tokio::task::spawn_blocking(move || probing.sandbox_state()).await;
        if matches!(state, Ok(SandboxState::Enforced)) {
            return Ok(UnconfinedAgent::Refused);
        }
        let words: Vec<&str> = self.agent.command.iter().map(String::as_str).collect();
        let command = super::tool_calls::join_words(&words);
        let target = ActionTarget::Command { command, directory: ".".to_owned() };
        let action = AgentAction::new(&self.agent.name, "start", target, serde_json::json!({}));
        let number = lock(&self.calls).nameless_number();
        let call = self.invocation(number, action.tool_name(), action.arguments());
        match toolbox.authorize(&call, action).await {
            Ok(_) => {
                let outcome = planwright_model::event::CallOutcome::Exited { code: 0 };
                toolbox.call_host().record_outside_end(&call.id, outcome, Duration::ZERO);
                Ok(UnconfinedAgent::Allowed)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The agent had done something in a session that cannot be loaded: the person decides whether it begins anew.
    async fn ask_about_lost_session(&self, why: &str) -> Result<(), ExecutionFailure> {
        let request = session_lost_request(
            RequestId::UNASSIGNED,
            &self.run.job.task,
            self.agent.title(),
            why,
        );
        let answer = self.run.ask_and_wait(request).await?;
        match answer.map(|answer| answer.action) {
            Some(ChoiceAction::GoOn) => Ok(()),
            Some(ChoiceAction::HandToMe) => Err(crate::conversation::handed_over()),
            Some(_) => {
                let message = "the person stopped the task";
                Err(ExecutionFailure::new("stopped", Category::Critical, message))
            }
            None => {
                let message = format!(
                    "{} cannot load its session, and nobody is there to say how to continue: {why}",
                    self.agent.title()
                );
                Err(ExecutionFailure::new("needs_person", Category::Critical, message))
            }
        }
    }

    /// The question that the agent ended its last turn with, where its session is the same.
    fn asked_before(&self, live: &LiveAgent) -> Option<&str> {
        let interrupted = self.run.events.progress().conversation.as_ref()?.ended.is_none();
        let question = self.run.job.open_question.as_deref();
        question.filter(|_| live.session.loaded && interrupted)
    }

    /// Begins with the answer to a question that was asked before an interruption, if there is one.
    async fn start_conversing(
        &self,
        live: &mut LiveAgent,
        first: String,
    ) -> Result<String, LoopEnd> {
        let Some(question) = self.asked_before(live).map(str::to_owned) else {
            let first = match self.next_words().await {
                Some(words) => format!("{first}\n\n{words}"),
                None => first,
            };
            return self.converse(live, first).await;
        };
        match self.ask_question(&question).await? {
            Claim::Accepted(answer) => Ok(answer),
            Claim::Continue(next) => {
                self.run.record_prompt(PromptSource::Person, &next, None);
                self.converse(live, next).await
            }
        }
    }

    /// Prompt after prompt, until the agent is done.
    async fn converse(&self, live: &mut LiveAgent, first: String) -> Result<String, LoopEnd> {
        let mut prompt = first;
        let (mut rejections, mut empty) = (0, 0);
        loop {
            let (stop, words) = match self.run_turn(live, &prompt).await {
                TurnEnd::Over { stop, words } => (stop, words),
                TurnEnd::Cancelled => return Err(cancelled_failure().into()),
                TurnEnd::Stopped(failure) => return Err(failure.into()),
                TurnEnd::Broken(error) => return Err(LoopEnd::Broken(error)),
            };
            self.check_budget()?;
            empty = if words.trim().is_empty() { empty + 1 } else { 0 };
            if empty >= MOST_EMPTY_TURNS {
                let message = format!(
                    "{} ended {empty} turns in a row without saying anything",
                    self.agent.title()
                );
                return Err(
                    ExecutionFailure::new("no_progress", Category::Recoverable, message).into()
                );
            }
            if let Some(next) = self.next_words().await {
                prompt = next;
                continue;
            }
            prompt = match stop {
                TurnStop::Refused => return Err(self.refused_failure(&words).into()),
                TurnStop::AtLimit => return Err(self.limit_failure().into()),
                TurnStop::Cancelled => GO_ON.to_owned(),
                TurnStop::Done => match self.judge_claim(&words, &mut rejections).await? {
                    Claim::Accepted(answer) => return Ok(answer),
                    Claim::Continue(next) => next,
                },
            };
            self.run.record_prompt(PromptSource::Loop, &prompt, None);
        }
    }

    /// What the next prompt must say first: why something was not allowed, and what the person wrote.
    async fn next_words(&self) -> Option<String> {
        let mut parts = Vec::new();
        let refusals = std::mem::take(&mut *lock(&self.refusals));
        if !refusals.is_empty() {
            let text = refusal_prompt(&refusals);
            self.run.record_prompt(PromptSource::Loop, &text, None);
            parts.push(text);
        }
        let task = &self.run.job.task.id;
        let messages = self.run.services.person.undelivered_messages(task).await;
        self.run.record_messages(&messages);
        parts.extend(
            messages.iter().map(|message| format!("The person writes to you: {}", message.text)),
        );
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// A claim to be done counts once the exit criteria are met. A question goes to the person.
    async fn judge_claim(&self, words: &str, rejections: &mut usize) -> Result<Claim, LoopEnd> {
        let criteria = &self.run.job.task.exit_criteria;
        let unmet = self.run.check_claim(words, &claimed_unmet(words)).await?;
        let is_shown = !criteria.is_empty() && unmet.is_empty();
        if let Some(question) = closing_question(words).filter(|_| !is_shown) {
            return self.ask_question(question).await;
        }
        if unmet.is_empty() {
            return Ok(Claim::Accepted(self.answer(words)));
        }
        *rejections += 1;
        if *rejections >= MOST_REJECTIONS {
            let message = format!("not shown to hold: {}", unmet.join("\n"));
            let message = self.run.redact_text(&message);
            return Err(
                ExecutionFailure::new("criteria_unmet", Category::Recoverable, message).into()
            );
        }
        Ok(Claim::Continue(rejection_prompt(&unmet)))
    }

    async fn ask_question(&self, question: &str) -> Result<Claim, LoopEnd> {
        let taken = "take the work as it is".to_owned();
        let shown = planwright_state::agent_progress::truncate_text(question, 2_000);
        let inquiry =
            AgentInquiry { question: &shown, choices: std::slice::from_ref(&taken), call: None };
        let said = self.run.ask_question(inquiry).await?;
        if said == taken {
            return Ok(Claim::Accepted(self.answer(question)));
        }
        Ok(Claim::Continue(format!("The person answers: {said}")))
    }

    /// The result in words: what the agent said last.
    fn answer(&self, words: &str) -> String {
        let words = words.trim();
        let words = if words.is_empty() { "It says nothing about its work." } else { words };
        self.run.redact_text(&planwright_state::agent_progress::truncate_text(words, 8_000))
    }

    fn refused_failure(&self, words: &str) -> ExecutionFailure {
        let said = planwright_text::clean_line(words.trim());
        let said = planwright_text::truncate_end(&said, 300);
        let message = format!("{} refused to continue: {said}", self.agent.title());
        ExecutionFailure::new("refused_by_agent", Category::Recoverable, message)
    }

    /// An agent that stopped at a limit of its own goes on if the person says so.
    fn limit_failure(&self) -> ExecutionFailure {
        cap_failure(&format!("{} stopped at a limit of its own turn", self.agent.title()))
    }

    /// Limits are budgets: at one of them the person is asked whether the task may have as much again.
    fn check_budget(&self) -> Result<(), LoopEnd> {
        self.run.check_task_budget(self.clock.worked()).map_err(LoopEnd::Failed)
    }

    /// The protected files of the copy, as they are now.
    async fn scan_protected(&self) -> Option<ProtectedState> {
        let root = self.run.services.toolbox.workspace().root().to_owned();
        let scan = move || scan_protected_files([root.as_path()]);
        let scanned = tokio::task::spawn_blocking(scan).await;
        scanned
            .inspect_err(|error| tracing::error!(%error, "protected files are not compared"))
            .ok()
    }

    /// Changes to protected files are told. What belongs to git itself is never to be changed by an agent: commands that
    /// check its work would act on it.
    async fn check_protected(
        &self,
        before: Option<ProtectedState>,
    ) -> Result<(), ExecutionFailure> {
        let (Some(before), Some(after)) = (before, self.scan_protected().await) else {
            return Ok(());
        };
        let changed = after.changed_since(&before);
        if changed.is_empty() {
            return Ok(());
        }
        let words =
            format!("{} changed protected files: {}", self.agent.title(), changed.join(", "));
        let is_git = |path: &String| path.split('/').any(|name| name == ".git");
        if changed.iter().any(is_git) {
            return Err(ExecutionFailure::new("protected_changed", Category::Critical, words));
        }
        let result = ToolResult::error("protected_changed", Category::Recoverable, &words);
        self.record_note(&words, &result);
        Ok(())
    }
}

/// What a claim to be done comes to.
enum Claim {
    Accepted(String),
    Continue(String),
}

/// Why the loop of prompts ends without a result.
pub(super) enum LoopEnd {
    Failed(ExecutionFailure),
    /// The connection is over, and with it the agent.
    Broken(RequestError),
}

impl From<ExecutionFailure> for LoopEnd {
    fn from(failure: ExecutionFailure) -> Self {
        Self::Failed(failure)
    }
}
