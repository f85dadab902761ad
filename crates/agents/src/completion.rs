//! Whether a task is done by what its author wrote, and the answer it ends with.

use serde_json::{Value, json};

use super::attempt::AgentAttempt;
use super::executor::{RoundEnd, cancelled_failure};
use super::model_requests::AgentModelRole;
use super::tool_calls::{CRITERIA, may_affect_criteria};
use planwright_drafting::executor::criteria::{self, CriteriaVerdict};
use planwright_drafting::executor::{TaskType, ToolFacts};
use planwright_llm::OutputSchema;
use planwright_model::agent_work::CriterionFindings;
use planwright_model::agent_work::{AgentWork, CallPurpose, PlannedCall};
use planwright_model::{Category, ExecutionFailure, ExitCriterion, ToolResult};

/// When criteria are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CriteriaTiming {
    /// After a call: what is cheap, and the rest now and then.
    AfterCall,
    AtEnd,
}

impl AgentAttempt<'_> {
    /// After each observation: a condition of failure ends the task; so does success where nothing else is to be done.
    pub(super) async fn check_criteria(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        planned: &PlannedCall,
        facts: ToolFacts,
        result: &ToolResult,
    ) -> Option<RoundEnd> {
        let criteria = &self.job.task.exit_criteria;
        if criteria.is_empty() {
            return None;
        }
        let data = Value::Object(result.data.clone());
        work.findings.extend(self.plain_findings(criteria, &[&data]));
        if may_affect_criteria(facts) && result.ok {
            Box::pin(self.run_criteria_commands(criteria, work)).await;
            self.judge_criteria(criteria, work, CriteriaTiming::AfterCall).await;
        }
        match criteria::criteria_verdict(criteria, &work.findings) {
            CriteriaVerdict::Failed(at) => Some(RoundEnd::Failed(criterion_failure(&criteria[at]))),
            CriteriaVerdict::Met if kind.until_done && may_affect_criteria(facts) && result.ok => {
                let step = planned.step.as_str();
                self.record_executor_decision(
                    planwright_model::agent_decision::ExecutorAction::Done,
                    work,
                    &format!("{step}: all exit criteria are met"),
                );
                Some(RoundEnd::done(""))
            }
            CriteriaVerdict::Met | CriteriaVerdict::Open(_) => None,
        }
    }

    pub(super) fn plain_findings(
        &self,
        criteria: &[ExitCriterion],
        outputs: &[&Value],
    ) -> CriterionFindings {
        let workspace = self.services.toolbox.workspace();
        let exists = |path: &str| {
            workspace.open_file(path).is_ok() || workspace.list_directory(path).is_ok()
        };
        criteria::evaluate_local_criteria(criteria, exists, outputs)
    }

    /// Runs the commands among the criteria like any other command: asked for, confined, journaled.
    async fn run_criteria_commands(&self, criteria: &[ExitCriterion], work: &mut AgentWork) {
        for (at, criterion) in criteria.iter().enumerate() {
            let ExitCriterion::Command { command, .. } = criterion else { continue };
            if self.cancel.is_cancelled() {
                return;
            }
            let planned = PlannedCall {
                step: CRITERIA.to_owned(),
                tool: "shell.run".to_owned(),
                args: json!({ "command": command }),
                purpose: CallPurpose::Lookup,
            };
            let result = self.call_criterion_command(&planned).await.result;
            let ran = result.ok || result.to_failure().is_some_and(|why| why.code == "exit_status");
            if ran {
                work.findings.insert(at, result.ok);
            } else {
                work.findings.remove(&at);
            }
        }
    }

    /// Asks a model about criteria that only judgement can tell, not too often.
    async fn judge_criteria(
        &self,
        criteria: &[ExitCriterion],
        work: &mut AgentWork,
        when: CriteriaTiming,
    ) {
        let due = work
            .judged_in
            .is_none_or(|last| work.iteration >= last + self.services.limits.judge_every);
        let any = criteria.iter().any(|one| matches!(one, ExitCriterion::Judged { .. }));
        if !any || (when == CriteriaTiming::AfterCall && !due) {
            return;
        }
        work.judged_in = Some(work.iteration);
        for (at, criterion) in criteria.iter().enumerate() {
            let ExitCriterion::Judged { text, .. } = criterion else { continue };
            let kind = self.services.types.get_or_generic(&work.state.task_type);
            match self.judge_criterion(kind, work, text, None).await {
                Ok((met, _)) => {
                    work.findings.insert(at, met);
                }
                Err(error) => {
                    tracing::debug!(code = %error.code, "the judge gave no verdict on a criterion");
                    work.findings.remove(&at);
                }
            }
        }
    }

    /// Asks a model whether one criterion holds, and why.
    pub(super) async fn judge_criterion(
        &self,
        kind: &TaskType,
        work: &AgentWork,
        text: &str,
        report: Option<&str>,
    ) -> Result<(bool, String), planwright_llm::ModelError> {
        let mut state = json!({ "ask": "judge", "criterion": text });
        state["task_type"] = json!(work.state.task_type);
        if let Some(report) = report {
            state["report"] = json!(report);
        }
        let (mut request, _) = self.executor_prompt(kind, work, &state);
        let words = format!(
            "Does this hold, by what the results show: {text}\nSay `met` only if they show it. Give the evidence in `why`."
        );
        request.messages.push(planwright_llm::Message::user(words));
        request.output_schema = Some(object_output_schema(
            "verdict",
            &json!({"met": {"type": "boolean"}, "why": {"type": "string"}}),
            &["met", "why"],
        ));
        let value = self.ask_json(AgentModelRole::Judge, "judge", &request).await?;
        let why = value.get("why").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok((value.get("met") == Some(&Value::Bool(true)), why))
    }

    /// The end of a task: all criteria once more, then the answer.
    pub(super) async fn finish_task(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        answer: &str,
    ) -> Result<String, ExecutionFailure> {
        if self.cancel.is_cancelled() {
            return Err(cancelled_failure());
        }
        let criteria = &self.job.task.exit_criteria;
        let claims = criteria.iter().any(|one| matches!(one, ExitCriterion::Text { .. }));
        let answer = if claims || answer.trim().is_empty() {
            self.ask_final_answer(kind, work, answer, claims).await?
        } else {
            answer.to_owned()
        };
        if !criteria.is_empty() {
            work.findings.extend(self.plain_findings(criteria, &[]));
            Box::pin(self.run_criteria_commands(criteria, work)).await;
            self.judge_criteria(criteria, work, CriteriaTiming::AtEnd).await;
            self.save_work(work);
        }
        match criteria::criteria_verdict(criteria, &work.findings) {
            CriteriaVerdict::Met => Ok(self.redact_text(&answer)),
            CriteriaVerdict::Failed(at) => Err(criterion_failure(&criteria[at])),
            CriteriaVerdict::Open(open) => {
                let words: Vec<String> =
                    open.iter().map(|at| criteria::describe_criterion(&criteria[*at])).collect();
                let message = format!("not shown to hold: {}", words.join("; "));
                Err(ExecutionFailure::new("criteria_unmet", Category::Recoverable, message))
            }
        }
    }

    /// Asks for the answer, and with it which of the criteria in plain words hold.
    async fn ask_final_answer(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        draft: &str,
        claims: bool,
    ) -> Result<String, ExecutionFailure> {
        let tools =
            super::tool_selection::DecisionTools::for_job(self.services, self.job, kind, None);
        let ask = if claims { "criteria" } else { "final" };
        let mut state = self.state_value(kind, work, &tools, ask);
        if !draft.trim().is_empty() {
            state["draft"] = json!(draft);
            state["words"] = json!(draft);
        }
        if state["words"].is_null() && self.is_offline(AgentModelRole::Executor) {
            state["words"] = json!(completed_steps_summary(work));
        }
        let (mut request, fragments) = self.executor_prompt(kind, work, &state);
        let words = "The work is over. Give the final answer to the task: what was done or found, with paths and lines or addresses, only what the results show.";
        if !claims {
            request.messages.push(planwright_llm::Message::user(words));
            let answered = self
                .ask_model(AgentModelRole::Executor, "final_answer", &request)
                .await
                .map_err(|error| self.failure_from_error(&error))?;
            let prdv = planwright_model::PrdvPhase::Validate;
            self.record_answer_thought(&answered.text, &answered, &fragments, prdv);
            return Ok(answered.text);
        }
        let words = format!(
            "{words} For each criterion in plain words say by its number whether the results show that it holds."
        );
        request.messages.push(planwright_llm::Message::user(words));
        request.output_schema = Some(final_answer_schema());
        let value = self
            .ask_json(AgentModelRole::Executor, "final_answer", &request)
            .await
            .map_err(|error| self.failure_from_error(&error))?;
        self.record_claims(&value, work);
        let answer = value.get("answer").and_then(Value::as_str).unwrap_or_default();
        // Claims about criteria are no answer to the task.
        if answer.trim().is_empty() {
            let message = "the final answer of the model is empty".to_owned();
            return Err(ExecutionFailure::new("empty_answer", Category::Recoverable, message));
        }
        Ok(answer.to_owned())
    }

    /// Takes down which criteria in plain words are said to hold.
    fn record_claims(&self, value: &Value, work: &mut AgentWork) {
        let claims = value.get("criteria").and_then(Value::as_array);
        for claim in claims.into_iter().flatten() {
            let number = claim.get("number").and_then(Value::as_u64).unwrap_or(0) as usize;
            let Some(at) = number.checked_sub(1) else { continue };
            let criterion = self.job.task.exit_criteria.get(at);
            if matches!(criterion, Some(ExitCriterion::Text { .. })) {
                work.findings.insert(at, claim.get("met") == Some(&Value::Bool(true)));
            }
        }
    }
}

/// What was done, by the ledger alone.
fn completed_steps_summary(work: &AgentWork) -> String {
    let done: Vec<String> =
        work.state
            .completed_steps
            .iter()
            .map(|step| {
                let result = work.state.step_results.get(step).map(|result| {
                    result.as_str().map_or_else(|| result.to_string(), str::to_owned)
                });
                format!("- {step}: {}", result.unwrap_or_default())
            })
            .collect();
    format!("Done without a model:\n{}", done.join("\n"))
}

pub(super) fn criterion_failure(criterion: &ExitCriterion) -> ExecutionFailure {
    let message =
        format!("a condition of failure holds: {}", criteria::describe_criterion(criterion));
    ExecutionFailure::new("criteria_failed", Category::Critical, message)
}

fn final_answer_schema() -> OutputSchema {
    let criterion = json!({
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "met": {"type": "boolean"},
            "evidence": {"type": "string"},
        },
        "required": ["number", "met"],
    });
    object_output_schema(
        "final_answer",
        &json!({"answer": {"type": "string"}, "criteria": {"type": "array", "items": criterion}}),
        &["answer", "criteria"],
    )
}

/// A shape that an answer must have.
pub(super) fn object_output_schema(
    name: &str,
    properties: &Value,
    required: &[&str],
) -> OutputSchema {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    OutputSchema::new(name, schema)
}
