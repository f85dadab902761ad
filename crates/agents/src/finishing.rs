//! Whether a task is done by what its author wrote, and the answer it ends with.

use serde_json::{Value, json};

use super::acting::{CRITERIA, may_change};
use super::asking::Who;
use super::executor::{RoundEnd, cancelled};
use super::offline::NEEDS_MODEL;
use super::run::Run;
use planwright_drafting::executor::criteria::{self, Verdict};
use planwright_drafting::executor::{TaskType, ToolFacts};
use planwright_llm::OutputSchema;
use planwright_model::agent_work::CriterionFindings;
use planwright_model::agent_work::{Planned, Purpose, Work};
use planwright_model::{Category, ExitCriterion, Failure, ToolResult};

/// When criteria are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// After a call: what is cheap, and the rest now and then.
    Between,
    AtTheEnd,
}

impl Run<'_> {
    /// After each observation: a condition of failure ends the task; so does success where nothing else is to be done.
    pub(super) async fn look_at_criteria(
        &self,
        kind: &TaskType,
        work: &mut Work,
        planned: &Planned,
        facts: ToolFacts,
        result: &ToolResult,
    ) -> Option<RoundEnd> {
        let criteria = &self.job.task.exit_criteria;
        if criteria.is_empty() {
            return None;
        }
        let data = Value::Object(result.data.clone());
        work.findings.extend(self.plain(criteria, &[&data]));
        if may_change(facts) && result.ok {
            self.commands(criteria, work).await;
            self.judged(criteria, work, When::Between).await;
        }
        match criteria::verdict(criteria, &work.findings) {
            Verdict::Failed(at) => Some(RoundEnd::Failed(failed_by(&criteria[at]))),
            Verdict::Met if kind.until_done && may_change(facts) && result.ok => {
                let step = planned.step.as_str();
                self.executor_says(
                    planwright_drafting::executor::ExecutorAction::Done,
                    work,
                    &format!("{step}: all exit criteria are met"),
                );
                Some(RoundEnd::done(""))
            }
            Verdict::Met | Verdict::Open(_) => None,
        }
    }

    fn plain(&self, criteria: &[ExitCriterion], outputs: &[&Value]) -> CriterionFindings {
        let workspace = self.kit.toolbox.workspace();
        let exists = |path: &str| workspace.open_file(path).is_ok() || workspace.list(path).is_ok();
        criteria::plain(criteria, exists, outputs)
    }

    /// Runs the commands among the criteria like any other command: asked for, confined, journaled.
    async fn commands(&self, criteria: &[ExitCriterion], work: &mut Work) {
        for (at, criterion) in criteria.iter().enumerate() {
            let ExitCriterion::Command { command, .. } = criterion else { continue };
            if self.cancel.is_cancelled() {
                return;
            }
            let planned = Planned {
                step: CRITERIA.to_owned(),
                tool: "shell.run".to_owned(),
                args: json!({ "command": command }),
                purpose: Purpose::Lookup,
            };
            let result = self.call_for_criteria(&planned).await.result;
            let ran = result.ok || result.failed().is_some_and(|why| why.code == "exit_status");
            if ran {
                work.findings.insert(at, result.ok);
            } else {
                work.findings.remove(&at);
            }
        }
    }

    /// Asks a model about criteria that only judgement can tell, not too often.
    async fn judged(&self, criteria: &[ExitCriterion], work: &mut Work, when: When) {
        let due =
            work.judged_in.is_none_or(|last| work.iteration >= last + self.kit.limits.judge_every);
        let any = criteria.iter().any(|one| matches!(one, ExitCriterion::Judged { .. }));
        if !any || (when == When::Between && !due) {
            return;
        }
        work.judged_in = Some(work.iteration);
        for (at, criterion) in criteria.iter().enumerate() {
            let ExitCriterion::Judged { text, .. } = criterion else { continue };
            let kind = self.kit.types.or_generic(&work.state.task_type);
            let mut state = json!({ "ask": "judge", "criterion": text });
            state["task_type"] = json!(work.state.task_type);
            let (mut request, _) = self.prompt(kind, work, &state);
            let words = format!(
                "Does this hold, by what the results show: {text}\nSay `met` only if they show it. Give the evidence in `why`."
            );
            request.messages.push(planwright_llm::Message::user(words));
            request.output_schema = Some(shape(
                "verdict",
                &json!({"met": {"type": "boolean"}, "why": {"type": "string"}}),
                &["met", "why"],
            ));
            match self.ask_json(Who::Judge, "judge", &request).await {
                Ok(value) => {
                    work.findings.insert(at, value.get("met") == Some(&Value::Bool(true)));
                }
                Err(_) => {
                    work.findings.remove(&at);
                }
            }
        }
    }

    /// The end of a task: all criteria once more, then the answer.
    pub(super) async fn finish(
        &self,
        kind: &TaskType,
        work: &mut Work,
        answer: &str,
    ) -> Result<String, Failure> {
        if self.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let criteria = &self.job.task.exit_criteria;
        let claims = criteria.iter().any(|one| matches!(one, ExitCriterion::Text { .. }));
        let answer = if claims || answer.trim().is_empty() {
            self.final_answer(kind, work, answer, claims).await?
        } else {
            answer.to_owned()
        };
        if !criteria.is_empty() {
            work.findings.extend(self.plain(criteria, &[]));
            self.commands(criteria, work).await;
            self.judged(criteria, work, When::AtTheEnd).await;
            self.save(work);
        }
        match criteria::verdict(criteria, &work.findings) {
            Verdict::Met => Ok(self.hide(&answer)),
            Verdict::Failed(at) => Err(failed_by(&criteria[at])),
            Verdict::Open(open) => {
                let words: Vec<String> =
                    open.iter().map(|at| criteria::words(&criteria[*at])).collect();
                let message = format!("not shown to hold: {}", words.join("; "));
                Err(Failure::new("criteria_unmet", Category::Recoverable, message))
            }
        }
    }

    /// Asks for the answer, and with it which of the criteria in plain words hold.
    async fn final_answer(
        &self,
        kind: &TaskType,
        work: &mut Work,
        draft: &str,
        claims: bool,
    ) -> Result<String, Failure> {
        let tools = super::choosing::Tools::of(self.kit, self.job, kind, None);
        let ask = if claims { "criteria" } else { "final" };
        let mut state = self.state_value(kind, work, &tools, ask);
        if !draft.trim().is_empty() {
            state["draft"] = json!(draft);
            state["words"] = json!(draft);
        }
        if state["words"].is_null() && self.is_offline(Who::Executor) {
            state["words"] = json!(plain_account(work));
        }
        let (mut request, fragments) = self.prompt(kind, work, &state);
        let words = "The work is over. Give the final answer to the task: what was done or found, with paths and lines or addresses, only what the results show.";
        if !claims {
            request.messages.push(planwright_llm::Message::user(words));
            let answered = self
                .ask(Who::Executor, "final_answer", &request)
                .await
                .map_err(|error| self.failed(&error))?;
            let prdv = planwright_drafting::executor::Prdv::Validate;
            self.think_aloud(&answered.text, &answered, &fragments, prdv);
            return Ok(answered.text);
        }
        let words = format!(
            "{words} For each criterion in plain words say by its number whether the results show that it holds."
        );
        request.messages.push(planwright_llm::Message::user(words));
        request.output_schema = Some(answer_shape());
        let value = self
            .ask_json(Who::Executor, "final_answer", &request)
            .await
            .map_err(|error| self.failed(&error))?;
        self.claim(&value, work);
        let answer = value.get("answer").and_then(Value::as_str).unwrap_or_default();
        // Claims about criteria are no answer to the task.
        if answer.trim().is_empty() {
            let message = "the final answer of the model is empty".to_owned();
            return Err(Failure::new("empty_answer", Category::Recoverable, message));
        }
        Ok(answer.to_owned())
    }

    /// Takes down which criteria in plain words are said to hold.
    fn claim(&self, value: &Value, work: &mut Work) {
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

/// What was done, by the books alone.
fn plain_account(work: &Work) -> String {
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

fn failed_by(criterion: &ExitCriterion) -> Failure {
    let message = format!("a condition of failure holds: {}", criteria::words(criterion));
    Failure::new("criteria_failed", Category::Critical, message)
}

fn answer_shape() -> OutputSchema {
    let criterion = json!({
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "met": {"type": "boolean"},
            "evidence": {"type": "string"},
        },
        "required": ["number", "met"],
    });
    shape(
        "final_answer",
        &json!({"answer": {"type": "string"}, "criteria": {"type": "array", "items": criterion}}),
        &["answer", "criteria"],
    )
}

/// A shape that an answer must have.
pub(super) fn shape(name: &str, properties: &Value, required: &[&str]) -> OutputSchema {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    OutputSchema { name: name.to_owned(), schema }
}

/// Whether a failure only says that a model is missing.
pub fn needs_model(failure: &Failure) -> bool {
    failure.code == NEEDS_MODEL
}
