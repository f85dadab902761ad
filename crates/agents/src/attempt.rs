//! One attempt at a task: the planner above, the executor below, and what is said at the end.

use planwright_drafting::executor::{start_next_work, start_work};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::event_sink::{AgentEventSink, StepDraft, redact_value};
use super::executor::RoundEnd;
use super::model_requests::{AgentModelRole, ModelAnswer, ModelQuestion, ModelRequester};
use super::prompt_docs::PromptDocs;
use super::request_pace::RequestPace;
use super::scout::ScoutedTask;
use super::{AgentEnd, AgentEventCallback, AgentJob, AgentServices, ReasoningMode};
use planwright_drafting::executor::TaskType;
use planwright_drafting::executor::criteria::{self, CriteriaVerdict};
use planwright_llm::{GenerateRequest, ModelError};
use planwright_model::agent_decision::{
    DecisionAction, ExecutorAction, ExecutorDecision, PlannerAction, PlannerDecision, TaskDecision,
};
use planwright_model::agent_work::{AgentWork, ExecutorConclusion};
use planwright_model::event::AgentEvent;
use planwright_model::task::DEFAULT_TYPE;
use planwright_model::{AgentProfile, Category, ExecutionFailure, PrdvPhase, StepMetadata};
use planwright_state::AgentProgress;

/// The code of a failure at a limit that the person may raise.
pub const TASK_CAP: &str = "task_cap";

/// A task waits so long at most where a provider asks not to be called; for more the person decides.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// An attempt while it is under way.
pub(super) struct AgentAttempt<'a> {
    pub(super) services: &'a AgentServices,
    pub(super) job: &'a AgentJob,
    pub(super) events: &'a AgentEventSink<'a>,
    pub(super) requester: ModelRequester<'a>,
    pub(super) cancel: &'a CancellationToken,
    /// The tools that the role is limited to.
    pub(super) role_tools: Option<Vec<String>>,
    pub(super) reported_compactions: Mutex<std::collections::BTreeSet<String>>,
    /// Arguments as the model wrote them, by the number of the call; the journal may not hold all of them.
    pub(super) live_arguments: Mutex<std::collections::BTreeMap<u32, Value>>,
    /// How the exit criteria stand in a conversation.
    pub(super) findings: Mutex<planwright_model::agent_work::CriterionFindings>,
}

impl AgentServices {
    /// Works on a task until it is done, fails, or is cancelled.
    pub async fn run_attempt(
        &self,
        job: &AgentJob,
        say: AgentEventCallback<'_>,
        cancel: &CancellationToken,
    ) -> AgentEnd {
        if self.is_attempt_profile_unproven(job) {
            self.find_profile(job, say, cancel).await;
        }
        let profile = self.attempt_profile(job);
        let past = Self::resumable_past(job, profile);
        let sink = self.open_sink(job, past.as_ref(), say);
        let run = self.open_attempt(job, &sink, past.as_ref(), cancel);
        let result = match profile {
            AgentProfile::Large => Box::pin(run.run_conversation()).await,
            AgentProfile::Small => Box::pin(run.run_rounds()).await,
        };
        let criteria_met = run.are_criteria_met(profile);
        run.record_end(result, criteria_met)
    }

    /// Where an attempt says what happens, with what an earlier one left.
    pub(super) fn open_sink<'a>(
        &self,
        job: &AgentJob,
        past: Option<&AgentProgress>,
        say: AgentEventCallback<'a>,
    ) -> AgentEventSink<'a> {
        let (role, _) = self.prompts.role_prompt(&job.task.agent_role);
        AgentEventSink::new(
            (job.task.id.clone(), job.attempt),
            role,
            say,
            self.clock.clone(),
            self.toolbox.redactor().clone(),
            past.cloned().unwrap_or_default(),
        )
    }

    /// An attempt that begins now, or continues what an earlier one left.
    pub(super) fn open_attempt<'a>(
        &'a self,
        job: &'a AgentJob,
        sink: &'a AgentEventSink<'a>,
        past: Option<&AgentProgress>,
        cancel: &'a CancellationToken,
    ) -> AgentAttempt<'a> {
        let (_, prompt) = self.prompts.role_prompt(&job.task.agent_role);
        let unread = past.and_then(|past| past.kept.clone());
        let findings = past.and_then(|past| past.work.as_ref()).map(|work| work.findings.clone());
        let next = past.and_then(|past| past.task_state()?.next_step().map(str::to_owned));
        sink.record_decision(TaskDecision::task_begun(past.is_some(), next));
        AgentAttempt {
            services: self,
            job,
            events: sink,
            requester: self.model_requester(sink, unread, cancel),
            cancel,
            role_tools: prompt.tools.clone(),
            reported_compactions: Mutex::default(),
            live_arguments: Mutex::default(),
            findings: Mutex::new(findings.unwrap_or_default()),
        }
    }
}

impl AgentServices {
    fn model_requester<'a>(
        &'a self,
        sink: &'a AgentEventSink<'a>,
        unread: Option<planwright_state::agent_progress::PendingModelAnswer>,
        cancel: &'a CancellationToken,
    ) -> ModelRequester<'a> {
        ModelRequester {
            events: sink,
            next_ask: &self.next_ask,
            asking: &self.asking,
            cancel,
            unread: Mutex::new(unread),
            pace: RequestPace::new(self.limits.max_requests),
        }
    }

    /// Whether a task begins whose model was never tried, so that nobody knows how to work with it.
    fn is_attempt_profile_unproven(&self, job: &AgentJob) -> bool {
        let is_new = job.past.as_ref().is_none_or(|past| {
            past.answer.is_some() || (past.work.is_none() && past.conversation.is_none())
        });
        is_new && self.dialogue.is_profile_unproven()
    }

    /// Tries the model first. One that cannot be reached says so again when the task asks it.
    async fn find_profile(
        &self,
        job: &AgentJob,
        say: AgentEventCallback<'_>,
        cancel: &CancellationToken,
    ) {
        let sink = self.open_sink(job, None, say);
        let requester = self.model_requester(&sink, None, cancel);
        if let Err(error) = requester.probe_profile(&self.dialogue).await {
            tracing::debug!(code = %error.code, "the model could not be tried");
        }
    }

    /// Whether a task is done in one open conversation or in strict steps. What was begun in one way is continued in it,
    /// whatever has been learned about the model since, unless the person asked for the other.
    pub fn attempt_profile(&self, job: &AgentJob) -> AgentProfile {
        let own = |past: &&AgentProgress| past.answer.is_none() && !past.is_own_agent();
        let begun = job.past.as_ref().filter(own).and_then(|past| {
            let strict = past.work.as_ref().map(|_| AgentProfile::Small);
            past.conversation.as_ref().map(|_| AgentProfile::Large).or(strict)
        });
        let choice = self.dialogue.profile_choice();
        begun.map_or_else(|| self.dialogue.profile(), |begun| choice.resolve_profile(begun))
    }

    /// What an earlier attempt left that this one can continue: work in the same profile, and a conversation only about
    /// the task as it is now.
    fn resumable_past(job: &AgentJob, profile: AgentProfile) -> Option<AgentProgress> {
        let past = job.past.as_ref().filter(|past| past.answer.is_none())?;
        let fits = match (&past.conversation, profile) {
            (Some(talk), AgentProfile::Large) => {
                talk.opening.agent.is_none()
                    && talk.opening.task == super::conversation::task_digest(job)
            }
            (None, AgentProfile::Small) => true,
            // Nothing was begun yet: what the person wrote before is all there is.
            (None, AgentProfile::Large) | (Some(_), AgentProfile::Small) => false,
        };
        fits.then(|| past.clone())
    }
}

impl AgentAttempt<'_> {
    /// Says what came of the attempt.
    pub(super) fn record_end(
        &self,
        result: Result<String, ExecutionFailure>,
        criteria_met: bool,
    ) -> AgentEnd {
        let (job, tokens) = (self.job, self.events.progress().tokens);
        if let Ok(answer) = &result {
            let (task, attempt, answer) = (job.task.id.clone(), job.attempt, answer.clone());
            self.events.record(match &job.worktree {
                Some(_) => AgentEvent::HandedIn { task, attempt, answer, tokens, criteria_met },
                None => AgentEvent::Concluded { task, attempt, answer, tokens },
            });
        }
        AgentEnd { result, tokens }
    }

    /// Whether the task has exit criteria and they were found to be met at its end. Strict steps end well only then.
    pub(super) fn are_criteria_met(&self, profile: AgentProfile) -> bool {
        let criteria = &self.job.task.exit_criteria;
        let findings = self.findings.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let met = || criteria::criteria_verdict(criteria, &findings) == CriteriaVerdict::Met;
        !criteria.is_empty() && (profile == AgentProfile::Small || met())
    }

    async fn run_rounds(&self) -> Result<String, ExecutionFailure> {
        let kept = self.events.progress().work.clone();
        let mut work = match kept {
            Some(work) => work,
            None => self.plan_first_work().await?,
        };
        loop {
            let kind = self.services.types.get_or_generic(&work.state.task_type);
            if work.ended.is_none() {
                let end = Box::pin(self.run_round(kind, &mut work)).await;
                // What was ended from outside is taken up from what was said, not from half a step.
                if self.cancel.is_cancelled()
                    && let RoundEnd::Failed(failure) = end
                {
                    return Err(failure);
                }
                if let RoundEnd::Concluded(ended) = &end {
                    work.ended = Some(ended.clone());
                }
                self.save_work(&work);
                if let RoundEnd::Failed(failure) = end {
                    return Err(failure);
                }
            }
            let (answer, why) = match work.ended.clone() {
                Some(ExecutorConclusion::Done { answer }) => {
                    (Some(answer), "the executor is done".to_owned())
                }
                Some(ExecutorConclusion::Escalated { why }) => (None, why),
                None => continue,
            };
            if let (Some(answer), false) = (&answer, work.full) {
                return Box::pin(self.finish_task(kind, &mut work, answer)).await;
            }
            if work.round >= self.services.limits.planner_rounds {
                let message = format!("the planner was asked {} times; last: {why}", work.round);
                return Err(ExecutionFailure::new("escalated", Category::Recoverable, message));
            }
            work.round += 1;
            let decision = self.ask_planner(&work, &why, answer.as_deref()).await?;
            match decision.action {
                PlannerAction::Complete => match answer {
                    Some(answer) => {
                        return Box::pin(self.finish_task(kind, &mut work, &answer)).await;
                    }
                    None => {
                        return Box::pin(
                            self.conclude_stuck_task(kind, &mut work, &decision, &why),
                        )
                        .await;
                    }
                },
                PlannerAction::Execute => {
                    self.apply_planner_decision(&mut work, &decision, answer.is_some(), &why)?;
                    work.ended = None;
                }
            }
            self.save_work(&work);
        }
    }

    /// What the planner wants now: a new task, or more of the one that got stuck.
    fn apply_planner_decision(
        &self,
        work: &mut AgentWork,
        decision: &PlannerDecision,
        was_done: bool,
        why: &str,
    ) -> Result<(), ExecutionFailure> {
        let kind = self.resolve_task_type(&decision.task_type);
        let same = kind.name == work.state.task_type;
        if same && !was_done && work.calls >= work.state.max_steps + self.job.granted {
            return Err(cap_failure(why));
        }
        let goals =
            if decision.goals.is_empty() { work.goals.clone() } else { decision.goals.clone() };
        if same && !was_done {
            (work.goals, work.rejected) = (goals, false);
            work.feedback = Some(format!("The planner: {}", decision.reasoning));
        } else {
            *work = start_next_work(work, kind, goals);
        }
        Ok(())
    }

    /// The first decision: by rule for what is small, after a debate for what is not.
    async fn plan_first_work(&self) -> Result<AgentWork, ExecutionFailure> {
        let task = &self.job.task;
        let kind = self.resolve_task_type(&task.task_type);
        let (known, _) = self.services.prompts.role_prompt(&task.agent_role);
        if known != task.agent_role {
            self.record_normalization(
                "unknown_role",
                &format!("{} works as {known}", task.agent_role),
            );
        }
        let scouted = match self.services.reasoning_mode {
            ReasoningMode::Direct => ScoutedTask::default(),
            // Without a model there is nobody to debate with.
            ReasoningMode::Dialectical => ScoutedTask {
                full: !self.is_offline(AgentModelRole::Planner),
                ..ScoutedTask::default()
            },
            ReasoningMode::Auto => self.scout_task(kind).await,
        };
        let full = scouted.full;
        let decision = if full {
            self.deliberate(kind, &scouted.seen).await?
        } else if !scouted.steps.is_empty() {
            // The scout has answered already: its steps are what is done.
            let goals = scouted.steps;
            PlannerDecision::new(PlannerAction::Execute, &kind.name, goals, "as the scout proposed")
        } else {
            let goals = vec![task.description.clone()];
            PlannerDecision::new(PlannerAction::Execute, &kind.name, goals, "as the plan says")
        };
        self.events.record_decision(decision.clone());
        let kind = self.resolve_task_type(&decision.task_type);
        let mut work = start_work(kind, decision.goals, !self.job.context.is_empty());
        work.full = full;
        self.save_work(&work);
        Ok(work)
    }

    /// A type by its name; one that nobody knows is `generic`, and that is said.
    pub(super) fn resolve_task_type(&self, name: &str) -> &TaskType {
        if self.services.types.get(name).is_none() {
            self.record_normalization(
                "unknown_task_type",
                &format!("{name} is done as {DEFAULT_TYPE}"),
            );
        }
        self.services.types.get_or_generic(name)
    }

    fn record_normalization(&self, code: &str, detail: &str) {
        let task = Some(self.job.task.id.clone());
        self.events.record_decision(TaskDecision::normalization(code, detail, task));
    }

    pub(super) fn is_offline(&self, who: AgentModelRole) -> bool {
        self.services.dialogue_for(who).model().info().provider == planwright_llm::provider::OFFLINE
    }

    /// The end that the executor did not come to: what was asked for may hold all the same.
    async fn conclude_stuck_task(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        decision: &PlannerDecision,
        why: &str,
    ) -> Result<String, ExecutionFailure> {
        let complete = work.state.is_complete();
        let proven = !self.job.task.exit_criteria.is_empty();
        if complete || proven {
            return Box::pin(self.finish_task(kind, work, "")).await;
        }
        let message = format!("{why}; the planner: {}", decision.reasoning);
        Err(ExecutionFailure::new("escalated", Category::Recoverable, self.redact_text(&message)))
    }

    pub(super) fn save_work(&self, work: &AgentWork) {
        let Some(state) = self.redacted_work(work) else { return };
        self.events.record(AgentEvent::StateSaved {
            task: self.job.task.id.clone(),
            attempt: self.job.attempt,
            state,
        });
    }

    /// The ledger without what must not be written down. None where what is left is no ledger any more: then nothing
    /// is written rather than a secret, and the last ledger that was written stands.
    pub(super) fn redacted_work(&self, work: &AgentWork) -> Option<Box<AgentWork>> {
        let written = serde_json::to_value(work).ok()?;
        serde_json::from_value(redact_value(written, &self.events.redactor)).ok()
    }

    pub(super) fn redact_text(&self, text: &str) -> String {
        self.events.redactor.redact(text).into_owned()
    }

    /// Says which parts of a prompt had to be shortened, once for each part.
    pub(super) fn record_compacted(
        &self,
        compacted: &[planwright_drafting::executor::recipe::CompactedPart],
    ) {
        let mut told =
            self.reported_compactions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for part in compacted.iter().filter(|part| told.insert(part.part.clone())) {
            let reasoning = format!("{} of {} tokens of {}", part.kept, part.tokens, part.part);
            self.events.record_decision(TaskDecision::Compacted {
                action: DecisionAction::Shorten,
                part: part.part.clone(),
                tokens: part.tokens,
                kept: part.kept,
                reasoning,
            });
        }
    }

    pub(super) async fn ask_model(
        &self,
        who: AgentModelRole,
        purpose: &'static str,
        request: &GenerateRequest,
    ) -> Result<ModelAnswer, ModelError> {
        self.requester
            .ask_for_reply(ModelQuestion {
                dialogue: self.services.dialogue_for(who),
                purpose,
                request,
            })
            .await
    }

    pub(super) async fn ask_json(
        &self,
        who: AgentModelRole,
        purpose: &'static str,
        request: &GenerateRequest,
    ) -> Result<Value, ModelError> {
        let question =
            ModelQuestion { dialogue: self.services.dialogue_for(who), purpose, request };
        Ok(self.requester.ask_for_json(question).await?.0)
    }

    /// A thought with the prompt it answers, so that a replay can show both.
    pub(super) fn record_answer_thought(
        &self,
        text: &str,
        answered: &ModelAnswer,
        fragments: &[String],
        prdv: PrdvPhase,
    ) {
        let metadata = StepMetadata {
            prompt_ref: Some(answered.prompt.hash.clone()),
            prompt: Some(answered.prompt.text.clone()),
            fragments: Some(fragments.to_vec()),
            answer_tokens: Some(answered.tokens),
            ..StepMetadata::default()
        };
        self.events.record_thought(StepDraft::new(text, prdv).with_metadata(metadata));
    }

    pub(super) fn failure_from_error(&self, error: &ModelError) -> ExecutionFailure {
        let mut failure: ExecutionFailure = error.into();
        failure.message = self.redact_text(&failure.message);
        // The same prompt is too long the next time as well.
        if failure.code == "context_length_exceeded" {
            failure.category = Category::Critical;
        }
        // An open breaker is our own matter; what a provider asks for is kept to.
        if let Some(wait) = error.retry_after.filter(|_| error.code != "breaker_open") {
            if wait > LONGEST_WAIT {
                failure.category = Category::Critical;
            } else {
                failure.retry_after_ms = u64::try_from(wait.as_millis()).ok();
            }
        }
        failure
    }

    pub(super) fn record_executor_decision(
        &self,
        action: ExecutorAction,
        work: &AgentWork,
        why: &str,
    ) {
        self.events.record_decision(ExecutorDecision::new(action, why).with_state(&work.state));
    }
}

/// A limit is reached; headless runs fail, others may ask the person and go on with more.
pub(super) fn cap_failure(why: &str) -> ExecutionFailure {
    ExecutionFailure::new(TASK_CAP, Category::Critical, format!("stopped at a limit: {why}"))
}

/// Docs by name, without the empty ones.
pub(super) fn non_empty_docs(
    parts: impl IntoIterator<Item = (&'static str, String)>,
) -> PromptDocs {
    parts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}
