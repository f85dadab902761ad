//! The operational tier: makes one call, through the toolbox and no other way, and takes notice of what came of it.

use planwright_drafting::executor::ExecutorRules as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::attempt::AgentAttempt;
use super::event_sink::{StepDraft, redact_value};
use super::executor::{RoundEnd, cancelled_failure};
use super::framing::{found_sources, render_result, render_result_within};
use super::tool_selection::DecisionTools;
use planwright_drafting::executor::{ObservedCall, TaskType, TaskTypeStep, ToolFacts};
use planwright_model::agent_work::{AgentWork, CallPurpose, PlannedCall};
use planwright_model::{CallId, Category, ExecutionFailure, PrdvPhase, StepMetadata, ToolResult};
use planwright_state::agent_progress::{
    MAX_FRESH_RESULT_CHARS, MAX_RESULT_CHARS, OpenAction, UnprocessedResult, truncate_text,
};
use planwright_tools::text_limit::last_chars;
use planwright_tools::{FinishedCall, ToolInvocation};

/// How often a call that may well work the next time is made again, and how long is waited before.
const RETRIES: u32 = 2;
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// What a command among the exit criteria is called for, in the place of a step.
pub(super) const CRITERIA: &str = "criteria";

/// Failures that end the attempt, whatever the model would do next.
const FINAL: [&str; 5] =
    ["stopped", "needs_person", "cancelled", "not_journaled", "protected_changed"];

impl AgentAttempt<'_> {
    /// Makes a call. Something comes back only if the attempt is over.
    pub(super) async fn perform_call(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        tools: &DecisionTools,
        planned: PlannedCall,
    ) -> Option<RoundEnd> {
        let mut finished = Box::pin(self.call_tool(kind, work, tools, &planned, 0)).await;
        for retry in 1..=RETRIES {
            if !is_retryable(&finished.result) || self.cancel.is_cancelled() {
                break;
            }
            let wait = FIRST_WAIT * 2u32.pow(retry - 1);
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.cancel.cancelled() => break,
            }
            finished = Box::pin(self.call_tool(kind, work, tools, &planned, retry)).await;
        }
        Box::pin(self.observe_result(kind, work, tools, &planned, &finished)).await
    }

    /// Says the call, makes it, says what came of it.
    async fn call_tool(
        &self,
        kind: &TaskType,
        work: &AgentWork,
        tools: &DecisionTools,
        planned: &PlannedCall,
        retry: u32,
    ) -> FinishedCall {
        let number = self.events.progress().calls + 1;
        let choice = tools.explain_choice(&planned.tool, &self.job.affinity);
        let shown = redact_value(planned.args.clone(), &self.events.redactor);
        let altered = shown != planned.args;
        let prdv = prdv_phase(kind, planned);
        let mut words = StepDraft::new(call_headline(planned), prdv).with_metadata(StepMetadata {
            affinity_delta: Some(tools.affinity_gap(&planned.tool, &self.job.affinity)),
            iteration: Some(work.iteration),
            work: self.redacted_work(work),
            choice: choice.clone().map(Box::new),
            retry: Some(retry).filter(|retry| *retry > 0),
            redacted: altered.then_some(true),
            ..call_metadata(number, planned)
        });
        (words.tool, words.input) = (Some(planned.tool.clone()), Some(shown));
        self.events.record_action(words);
        self.invoke_tool(planned, number, choice, prdv).await
    }

    /// A command among the exit criteria, called like any other.
    pub(super) async fn call_criterion_command(&self, planned: &PlannedCall) -> FinishedCall {
        let number = self.events.progress().calls + 1;
        let mut words = StepDraft::new(call_headline(planned), PrdvPhase::Validate)
            .with_metadata(call_metadata(number, planned));
        (words.tool, words.input) = (Some(planned.tool.clone()), Some(planned.args.clone()));
        self.events.record_action(words);
        self.invoke_tool(planned, number, None, PrdvPhase::Validate).await
    }

    async fn invoke_tool(
        &self,
        planned: &PlannedCall,
        number: u32,
        choice: Option<planwright_model::tool_choice::ToolSelection>,
        prdv: PrdvPhase,
    ) -> FinishedCall {
        let id = CallId { task: self.job.task.id.clone(), attempt: self.job.attempt, step: number };
        let mut call = ToolInvocation::new(id, &planned.tool, planned.args.clone());
        call.choice = choice;
        call.cancel = self.cancel.clone();
        call.held = self.job.held.clone();
        self.wait_for_paused_tool(&call, prdv).await;
        let finished = self.services.toolbox.invoke(call).await;
        let result = &finished.result;
        // Nothing came of a call that was ended from outside: it stays open, for whoever takes the task up.
        if self.cancel.is_cancelled() && was_cancelled(result) {
            return finished;
        }
        let text = render_result_within(result, MAX_FRESH_RESULT_CHARS);
        let mut words = StepDraft::new(text, prdv).with_metadata(StepMetadata {
            ok: Some(result.ok),
            cache_hit: Some(finished.cache_hit),
            verdict: finished.verdict.clone().map(Box::new),
            purpose: None,
            ..call_metadata(number, planned)
        });
        words.tool = Some(planned.tool.clone());
        words.output = serde_json::to_value(journaled_result(result)).ok();
        words.confidence = Some(result.confidence);
        self.events.record_observation(words);
        finished
    }

    /// A call that was decided before an interruption: the toolbox knows whether it may simply be made.
    pub(super) async fn resume_open_call(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        tools: &DecisionTools,
        open: OpenAction,
    ) -> Option<RoundEnd> {
        let OpenAction { number, planned, redacted, .. } = open;
        let prdv = prdv_phase(kind, &planned);
        let finished = if redacted {
            let failure = ExecutionFailure::new(
                "secret_in_arguments",
                Category::Critical,
                "the call held a secret and cannot be made again from the journal",
            );
            let mut words = StepDraft::new(failure.message.clone(), prdv)
                .with_metadata(StepMetadata { ok: Some(false), ..StepMetadata::default() });
            words.tool = Some(planned.tool.clone());
            self.events.record_observation(words);
            FinishedCall {
                result: ToolResult::failure(&failure),
                cache_hit: false,
                verdict: None,
                protected_changes: Vec::new(),
            }
        } else {
            let choice = tools.explain_choice(&planned.tool, &self.job.affinity);
            self.invoke_tool(&planned, number, choice, prdv).await
        };
        if planned.step == CRITERIA {
            return None;
        }
        let end = Box::pin(self.observe_result(kind, work, tools, &planned, &finished)).await;
        self.save_work(work);
        end
    }

    /// A call that came to its end right before an interruption.
    pub(super) async fn resume_unobserved_result(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        tools: &DecisionTools,
        UnprocessedResult { planned, result }: UnprocessedResult,
    ) -> Option<RoundEnd> {
        if planned.step == CRITERIA {
            return None;
        }
        let finished =
            FinishedCall { result, cache_hit: false, verdict: None, protected_changes: Vec::new() };
        let end = Box::pin(self.observe_result(kind, work, tools, &planned, &finished)).await;
        self.save_work(work);
        end
    }

    async fn observe_result(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        tools: &DecisionTools,
        planned: &PlannedCall,
        finished: &FinishedCall,
    ) -> Option<RoundEnd> {
        let result = &finished.result;
        if self.cancel.is_cancelled() && was_cancelled(result) {
            return Some(RoundEnd::Failed(cancelled_failure()));
        }
        let failure = result.to_failure();
        let facts = tools.tool_facts(&planned.tool).unwrap_or_default();
        work.observe_call(
            kind,
            planned,
            facts,
            observation_from_result(&planned.tool, result, failure.as_ref()),
        );
        if let Some(failure) = failure.filter(is_final_failure) {
            return Some(RoundEnd::Failed(failure));
        }
        if let [changed, ..] = finished.protected_changes.as_slice() {
            let message = format!("{changed} was changed by {}", planned.tool);
            let failure = ExecutionFailure::new("protected_changed", Category::Critical, message);
            return Some(RoundEnd::Failed(failure));
        }
        Box::pin(self.check_criteria(kind, work, planned, facts, result)).await
    }

    /// A check that needs no tool: whether the skill that was written is one.
    pub(super) fn check_written_skill(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        step: &TaskTypeStep,
    ) {
        let path = self
            .events
            .progress()
            .steps
            .iter()
            .rev()
            .find(|done| done.ok && done.tool == "skill.generator")
            .and_then(|done| {
                let name = done.input.get("name").and_then(Value::as_str)?;
                Some(format!("skills/{name}/SKILL.md"))
            });
        let outcome = path.ok_or_else(|| "no skill was written".to_owned()).and_then(|path| {
            let bytes = self
                .services
                .toolbox
                .workspace()
                .read(&path, 1 << 20)
                .map_err(|error| error.message)?;
            let text = String::from_utf8(bytes).map_err(|_| format!("{path} is not text"))?;
            planwright_tools::builtin::check_skill(&text)
                .map_err(|why| format!("{path}: {why}"))?;
            Ok(json!({ "path": path, "verified": true }))
        });
        let words = match &outcome {
            Ok(result) => format!("{}: {}", step.name, result["path"].as_str().unwrap_or_default()),
            Err(why) => format!("{}: {why}", step.name),
        };
        let ok = outcome.is_ok();
        self.events.record_thought(StepDraft::new(words, step.prdv).with_metadata(StepMetadata {
            step: Some(step.name.clone()),
            ok: Some(ok),
            ..StepMetadata::default()
        }));
        work.record_check(kind, &step.name, outcome);
    }
}

/// What every call says of itself.
pub(super) fn call_metadata(number: u32, planned: &PlannedCall) -> StepMetadata {
    StepMetadata {
        call: Some(number),
        step: Some(planned.step.clone()),
        purpose: Some(planned.purpose),
        ..StepMetadata::default()
    }
}

/// A result as it is journaled with the step: whole, unless that would be too much.
pub(super) fn journaled_result(result: &ToolResult) -> ToolResult {
    let mut kept = result.clone();
    if Value::Object(kept.data.clone()).to_string().len() > MAX_FRESH_RESULT_CHARS {
        kept.data
            .retain(|name, value| name == "error" || value.to_string().len() <= MAX_RESULT_CHARS);
        kept.data
            .insert("text".to_owned(), json!(render_result_within(result, MAX_FRESH_RESULT_CHARS)));
    }
    kept
}

pub(super) fn was_cancelled(result: &ToolResult) -> bool {
    result.to_failure().is_some_and(|failure| failure.code == "cancelled")
}

/// Whether a failure ends the attempt, whatever the model would do next.
pub(super) fn is_final_failure(failure: &ExecutionFailure) -> bool {
    FINAL.contains(&failure.code.as_str())
}

/// Whether the same call may well work the next time.
pub(super) fn is_retryable(result: &ToolResult) -> bool {
    result.to_failure().is_some_and(|failure| {
        failure.category == Category::Transient
            && !matches!(failure.code.as_str(), "breaker_open" | "timeout")
    })
}

fn prdv_phase(kind: &TaskType, planned: &PlannedCall) -> PrdvPhase {
    match planned.purpose {
        CallPurpose::Lookup => PrdvPhase::Research,
        CallPurpose::Step => {
            kind.find_step(&planned.step).map_or(PrdvPhase::Research, |step| step.prdv)
        }
    }
}

/// One line that says what is done.
pub(super) fn call_headline(planned: &PlannedCall) -> String {
    let main = ["command", "path", "query", "pattern", "url", "name", "filter"];
    let said = main.iter().find_map(|name| planned.args.get(*name)?.as_str());
    let what = said.map_or_else(|| planned.args.to_string(), str::to_owned);
    format!("{}  {}", planned.tool, truncate_text(what.lines().next().unwrap_or_default(), 160))
}

/// What the rules need to know of a result.
fn observation_from_result(
    tool: &str,
    result: &ToolResult,
    failure: Option<&ExecutionFailure>,
) -> ObservedCall {
    let (sources, hits) = if result.ok { found_sources(tool, result) } else { Default::default() };
    let end = result.data.get("tail").and_then(Value::as_str);
    let feedback = failure.map(|failure| {
        let output =
            end.map(|end| format!("\n{}", last_chars(end, MAX_RESULT_CHARS))).unwrap_or_default();
        format!("{tool} failed ({}): {}{output}", failure.code, failure.message)
    });
    ObservedCall {
        ok: result.ok,
        result: Value::String(truncate_text(&render_result(result), 300)),
        sources,
        hits,
        feedback,
        transient: failure.is_some_and(|failure| failure.category == Category::Transient),
    }
}

/// Whether a call may have changed what the criteria look at.
pub(super) fn may_affect_criteria(facts: ToolFacts) -> bool {
    !facts.read_only
}
