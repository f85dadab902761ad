//! One attempt at a task: the planner above, the executor below, and what is said at the end.

use planwright_drafting::executor::{begin_next_work, begin_work};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::asking::{Answered, Asker, Question, Who};
use super::docs::Docs;
use super::executor::RoundEnd;
use super::mouth::{Mouth, StepWords};
use super::pace::RequestPace;
use super::{AgentEnd, AgentJob, AgentKit, ReasoningMode, Say};
use planwright_drafting::executor::{
    ExecutorAction, ExecutorDecision, PlannerAction, PlannerDecision, Prdv, TaskType,
};
use planwright_drafting::gate::{self};
use planwright_llm::{GenerateRequest, ModelError};
use planwright_model::agent_work::{Ended, Work};
use planwright_model::event::AgentEvent;
use planwright_model::gate::GateSignals;
use planwright_model::task::DEFAULT_TYPE;
use planwright_model::{Category, Failure};
use planwright_state::agents::BEGUN;

/// The code of a failure at a limit that the person may raise.
pub const TASK_CAP: &str = "task_cap";

/// A task waits so long at most where a provider asks not to be called; for more the person decides.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// An attempt while it is under way.
pub(super) struct Run<'a> {
    pub(super) kit: &'a AgentKit,
    pub(super) job: &'a AgentJob,
    pub(super) mouth: &'a Mouth<'a>,
    pub(super) asker: Asker<'a>,
    pub(super) cancel: &'a CancellationToken,
    /// The tools that the role is limited to.
    pub(super) role_tools: Option<Vec<String>>,
    pub(super) told_short: Mutex<std::collections::BTreeSet<String>>,
}

impl AgentKit {
    /// Works on a task until it is done, fails, or is cancelled.
    pub async fn run(&self, job: &AgentJob, say: Say<'_>, cancel: &CancellationToken) -> AgentEnd {
        let past = job.past.clone().filter(|past| past.answer.is_none());
        let (role, prompt) = self.prompts.role(&job.task.agent_role);
        let unread = past.as_ref().and_then(|past| past.kept.clone());
        let mouth = Mouth::new(
            (job.task.id.clone(), job.attempt),
            role,
            say,
            self.clock.clone(),
            self.toolbox.redactor().clone(),
            past.clone().unwrap_or_default(),
        );
        let run = Run {
            kit: self,
            job,
            mouth: &mouth,
            asker: Asker {
                mouth: &mouth,
                next_ask: &self.next_ask,
                asking: &self.asking,
                cancel,
                unread: Mutex::new(unread),
                pace: RequestPace::new(self.limits.max_requests),
            },
            cancel,
            role_tools: prompt.tools.clone(),
            told_short: Mutex::default(),
        };
        mouth.decided(json!({
            "_type": BEGUN, "action": if past.is_some() { "resume" } else { "begin" },
            "resumed": past.is_some(), "step": past.as_ref().and_then(|past| past.state()?.next()),
        }));
        let result = Box::pin(run.attempt()).await;
        let tokens = mouth.progress().tokens;
        if let Ok(answer) = &result {
            mouth.tell(AgentEvent::Concluded {
                task: job.task.id.clone(),
                attempt: job.attempt,
                answer: answer.clone(),
                tokens,
            });
        }
        AgentEnd { result, tokens }
    }
}

impl Run<'_> {
    async fn attempt(&self) -> Result<String, Failure> {
        let kept = self.mouth.progress().work.clone();
        let mut work = match kept {
            Some(work) => work,
            None => self.begin().await?,
        };
        loop {
            let kind = self.kit.types.or_generic(&work.state.task_type);
            if work.ended.is_none() {
                let end = Box::pin(self.round(kind, &mut work)).await;
                // What was ended from outside is taken up from what was said, not from half a step.
                if self.cancel.is_cancelled()
                    && let RoundEnd::Failed(failure) = end
                {
                    return Err(failure);
                }
                if let RoundEnd::Came(ended) = &end {
                    work.ended = Some(ended.clone());
                }
                self.save(&work);
                if let RoundEnd::Failed(failure) = end {
                    return Err(failure);
                }
            }
            let (answer, why) = match work.ended.clone() {
                Some(Ended::Done { answer }) => (Some(answer), "the executor is done".to_owned()),
                Some(Ended::Escalated { why }) => (None, why),
                None => continue,
            };
            if let (Some(answer), false) = (&answer, work.full) {
                return self.finish(kind, &mut work, answer).await;
            }
            if work.round >= self.kit.limits.planner_rounds {
                let message = format!("the planner was asked {} times; last: {why}", work.round);
                return Err(Failure::new("escalated", Category::Recoverable, message));
            }
            work.round += 1;
            let decision = self.planner_decides(&work, &why).await?;
            match decision.action {
                PlannerAction::Complete => match answer {
                    Some(answer) => return self.finish(kind, &mut work, &answer).await,
                    None => return self.give_up(kind, &mut work, &decision, &why).await,
                },
                PlannerAction::Execute => {
                    self.execute_again(&mut work, &decision, answer.is_some(), &why)?;
                    work.ended = None;
                }
            }
            self.save(&work);
        }
    }

    /// What the planner wants now: a new task, or more of the one that got stuck.
    fn execute_again(
        &self,
        work: &mut Work,
        decision: &PlannerDecision,
        was_done: bool,
        why: &str,
    ) -> Result<(), Failure> {
        let kind = self.known_type(&decision.task_type);
        let same = kind.name == work.state.task_type;
        if same && !was_done && work.calls >= work.state.max_steps + self.job.granted {
            return Err(capped(why));
        }
        let goals =
            if decision.goals.is_empty() { work.goals.clone() } else { decision.goals.clone() };
        if same && !was_done {
            (work.goals, work.rejected) = (goals, false);
            work.feedback = Some(format!("The planner: {}", decision.reasoning));
        } else {
            *work = begin_next_work(work, kind, goals);
        }
        Ok(())
    }

    /// The first decision: by rule for what is small, after a debate for what is not.
    async fn begin(&self) -> Result<Work, Failure> {
        let task = &self.job.task;
        let kind = self.known_type(&task.task_type);
        let (known, _) = self.kit.prompts.role(&task.agent_role);
        if known != task.agent_role {
            self.normalised("unknown_role", &format!("{} works as {known}", task.agent_role));
        }
        let (full, scouted) = match self.kit.reasoning_mode {
            ReasoningMode::Direct => (false, Value::Null),
            // Without a model there is nobody to debate with.
            ReasoningMode::Dialectical => (!self.is_offline(Who::Planner), Value::Null),
            ReasoningMode::Auto => self.scout(),
        };
        let decision = if full {
            self.deliberate(kind, &scouted).await?
        } else {
            let goals = vec![task.description.clone()];
            PlannerDecision::new(PlannerAction::Execute, &kind.name, goals, "as the plan says")
        };
        self.mouth.decided(json!(decision));
        let kind = self.known_type(&decision.task_type);
        let mut work = begin_work(kind, decision.goals, !self.job.context.is_empty());
        work.full = full;
        self.save(&work);
        Ok(work)
    }

    /// A type by its name; one that nobody knows is `generic`, and that is said.
    pub(super) fn known_type(&self, name: &str) -> &TaskType {
        if self.kit.types.get(name).is_none() {
            self.normalised("unknown_task_type", &format!("{name} is done as {DEFAULT_TYPE}"));
        }
        self.kit.types.or_generic(name)
    }

    fn normalised(&self, code: &str, detail: &str) {
        self.mouth.decided(json!({
            "_type": "NORMALIZATION", "action": "normalise", "code": code, "task_id": self.job.task.id, "detail": detail,
            "reasoning": detail,
        }));
    }

    /// One quick look at the task itself, which costs nothing, and what the gate makes of it.
    fn scout(&self) -> (bool, Value) {
        let begun = Instant::now();
        let signals = GateSignals {
            complexity: Some(gate::complexity(gate::features(&self.job.task.description))),
            ..GateSignals::default()
        };
        self.mouth.decided(json!({
            "_type": "SCOUT_COMPLETED", "action": "scout", "tokens": 0, "cost": 0,
            "elapsed_ms": begun.elapsed().as_millis() as u64, "signals": signals,
        }));
        let loops = u64::from(self.kit.limits.loops);
        let policy = self.job.gate.as_ref().unwrap_or(&self.kit.gate);
        let decision = gate::decide(policy, signals, loops, Some(self.job.task.estimated_tokens));
        let full = decision.should_escalate;
        let scouted = json!({ "signals": decision.heuristics, "reason": decision.reason });
        let mut said = json!(decision);
        said["_type"] = json!("GATE_DECISION");
        said["action"] = json!(if full { "full run" } else { "single pass" });
        said["reasoning"] = said["reason"].clone();
        self.mouth.decided(said);
        // Without a model there is nobody to debate with.
        (full && !self.is_offline(Who::Planner), scouted)
    }

    pub(super) fn is_offline(&self, who: Who) -> bool {
        self.kit.dialogue_of(who).model().info().provider == planwright_llm::provider::OFFLINE
    }

    /// The end that the executor did not come to: what was asked for may hold all the same.
    async fn give_up(
        &self,
        kind: &TaskType,
        work: &mut Work,
        decision: &PlannerDecision,
        why: &str,
    ) -> Result<String, Failure> {
        let complete = work.state.is_complete();
        let proven = !self.job.task.exit_criteria.is_empty();
        if complete || proven {
            return self.finish(kind, work, "").await;
        }
        let message = format!("{why}; the planner: {}", decision.reasoning);
        Err(Failure::new("escalated", Category::Recoverable, self.hide(&message)))
    }

    pub(super) fn save(&self, work: &Work) {
        self.mouth.tell(AgentEvent::StateSaved {
            task: self.job.task.id.clone(),
            attempt: self.job.attempt,
            state: self.hidden(work),
        });
    }

    /// The books without what must not be written down.
    pub(super) fn hidden(&self, work: &Work) -> Value {
        let state = serde_json::to_value(work).unwrap_or_default();
        super::mouth::redacted(state, &self.mouth.redactor)
    }

    pub(super) fn hide(&self, text: &str) -> String {
        self.mouth.redactor.redact(text).into_owned()
    }

    /// Says which parts of a prompt had to be shortened, once for each part.
    pub(super) fn tell_short(
        &self,
        compacted: &[planwright_drafting::executor::recipe::Compacted],
    ) {
        let mut told = self.told_short.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for part in compacted.iter().filter(|part| told.insert(part.part.clone())) {
            let reasoning = format!("{} of {} tokens of {}", part.kept, part.tokens, part.part);
            self.mouth.decided(json!({
                "_type": "COMPACTED", "action": "shorten", "part": part.part, "tokens": part.tokens,
                "kept": part.kept, "reasoning": reasoning,
            }));
        }
    }

    pub(super) async fn ask(
        &self,
        who: Who,
        purpose: &'static str,
        request: &GenerateRequest,
    ) -> Result<Answered, ModelError> {
        self.asker.reply(Question { dialogue: self.kit.dialogue_of(who), purpose, request }).await
    }

    pub(super) async fn ask_json(
        &self,
        who: Who,
        purpose: &'static str,
        request: &GenerateRequest,
    ) -> Result<Value, ModelError> {
        let question = Question { dialogue: self.kit.dialogue_of(who), purpose, request };
        Ok(self.asker.json(question).await?.0)
    }

    /// A thought with the prompt it answers, so that a replay can show both.
    pub(super) fn think_aloud(
        &self,
        text: &str,
        answered: &Answered,
        fragments: &[String],
        prdv: Prdv,
    ) {
        let words = StepWords::new(text, prdv)
            .with("prompt_ref", answered.prompt.hash.as_str())
            .with("prompt", answered.prompt.text.as_str())
            .with("fragments", fragments.to_vec())
            .with("answer_tokens", answered.tokens);
        self.mouth.thought(words);
    }

    pub(super) fn failed(&self, error: &ModelError) -> Failure {
        let mut failure: Failure = error.into();
        failure.message = self.hide(&failure.message);
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

    pub(super) fn executor_says(&self, action: ExecutorAction, work: &Work, why: &str) {
        self.mouth.decided(json!(ExecutorDecision::new(action, why).within(&work.state)));
    }
}

/// A limit is reached; headless runs fail, others may ask the person and go on with more.
pub(super) fn capped(why: &str) -> Failure {
    Failure::new(TASK_CAP, Category::Critical, format!("stopped at a limit: {why}"))
}

/// Docs by name, without the empty ones.
pub(super) fn docs(parts: impl IntoIterator<Item = (&'static str, String)>) -> Docs {
    parts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}
