//! Handing in: only `done` with met exit criteria completes a task.

use std::sync::PoisonError;

use serde_json::{Value, json};

use super::super::attempt::AgentAttempt;
use super::super::completion::criterion_failure;
use super::super::executor::cancelled_failure;
use super::super::tool_calls::CRITERIA;
use super::person::handed_over;
use super::report::{ReportStatus, TaskReport};
use super::{ConversationEnd, guards};
use planwright_drafting::executor::TaskType;
use planwright_drafting::executor::criteria::{self, CriteriaVerdict};
use planwright_model::agent_conversation::PromptSource;
use planwright_model::agent_work::{CallPurpose, CriterionFindings, PlannedCall};
use planwright_model::requests::{PartialWork, partly_done_request};
use planwright_model::{
    Answer, Category, ChoiceAction, ExecutionFailure, ExitCriterion, RequestId, ToolResult,
};
use planwright_state::{ConversationCall, ConversationEntry};
use planwright_tools::text_limit::last_chars;

/// A task that is handed in so often against its criteria has failed; a retry continues from there.
const MOST_REJECTIONS: usize = 3;
/// How much of a failing command's output the model is shown.
const FAILING_OUTPUT: usize = 4_000;

impl AgentAttempt<'_> {
    /// Takes a report. Nothing comes back if the model has to continue.
    pub(super) async fn run_handover(
        &self,
        kind: &TaskType,
        call: &ConversationCall,
    ) -> Option<ConversationEnd> {
        // What the person wrote meanwhile is read before the task can end.
        let waiting = self.services.person.undelivered_messages(&self.job.task.id).await;
        if !waiting.is_empty() {
            self.record_unrun(call, "the person wrote to you meanwhile; read it first");
            self.record_messages(&waiting);
            return None;
        }
        let report = match TaskReport::from_arguments(&call.arguments) {
            Ok(report) => report,
            Err(why) => {
                self.record_unrun(call, &why);
                return None;
            }
        };
        match report.status {
            ReportStatus::Done => Box::pin(self.accept_done(kind, call, &report)).await,
            ReportStatus::Partly => self.ask_about_part(call, &report).await,
            ReportStatus::Failed => {
                let message = self.redact_text(&report.answer());
                Some(Err(ExecutionFailure::new("failed_by_agent", Category::Critical, message)))
            }
        }
    }

    async fn accept_done(
        &self,
        kind: &TaskType,
        call: &ConversationCall,
        report: &TaskReport,
    ) -> Option<ConversationEnd> {
        let unmet = match Box::pin(self.check_report(kind, report)).await {
            Ok(unmet) => unmet,
            Err(failure) => return Some(Err(failure)),
        };
        if unmet.is_empty() {
            return Some(Ok(self.redact_text(&report.answer())));
        }
        let text = unmet.join("\n");
        let rejected = format!(
            "Not accepted. Not shown to hold:\n{text}\nFix it and call task.done again, or hand in partly with what is left."
        );
        let before = self.rejections();
        self.record_own_result(call, false, &rejected);
        if before + 1 < MOST_REJECTIONS {
            return None;
        }
        let message = self.redact_text(&format!("not shown to hold: {text}"));
        Some(Err(ExecutionFailure::new("criteria_unmet", Category::Recoverable, message)))
    }

    /// How often the task was handed in against its criteria since the attempt began.
    fn rejections(&self) -> usize {
        let count = self.with_talk(|talk| {
            let since = talk.entries.iter().rposition(|entry| {
                matches!(entry, ConversationEntry::Prompt { source: PromptSource::Retry, .. })
            });
            let own = &talk.entries[since.unwrap_or(0)..];
            let rejected = |entry: &&ConversationEntry| {
                matches!(entry, ConversationEntry::Result { tool, ok: false, text, .. }
                    if tool == super::super::tool_selection::DONE && text.starts_with("Not accepted"))
            };
            own.iter().filter(rejected).count()
        });
        count.unwrap_or(0)
    }

    /// The same for an agent of the person's own, which only says that it is done. `unmet` are the numbers of criteria in
    /// plain words that it says are not. What only a judge could tell is left to the person where there is no judge.
    #[cfg(feature = "acp")]
    pub(crate) async fn check_claim(
        &self,
        words: &str,
        unmet: &[usize],
    ) -> Result<Vec<String>, ExecutionFailure> {
        let kind = self.resolve_task_type(&self.job.task.task_type);
        let count = self.job.task.exit_criteria.len();
        let report = TaskReport {
            status: ReportStatus::Done,
            summary: words.to_owned(),
            changed_files: Vec::new(),
            left: Vec::new(),
            met: (1..=count).filter(|number| !unmet.contains(number)).collect(),
        };
        Box::pin(self.check_report(kind, &report)).await
    }

    /// Whether nobody is there to judge a criterion that only judgment can tell.
    fn lacks_judge(&self, at: usize, findings: &CriterionFindings) -> bool {
        let judged = matches!(self.job.task.exit_criteria[at], ExitCriterion::Judged { .. });
        judged && !findings.contains_key(&at) && self.events.progress().is_own_agent()
    }

    /// Which criteria are not met, each with what shows it.
    async fn check_report(
        &self,
        kind: &TaskType,
        report: &TaskReport,
    ) -> Result<Vec<String>, ExecutionFailure> {
        let criteria = &self.job.task.exit_criteria;
        if criteria.is_empty() {
            return Ok(Vec::new());
        }
        let mut findings = self.criterion_findings();
        findings.extend(self.plain_findings(criteria, &[]));
        for (at, criterion) in criteria.iter().enumerate() {
            if matches!(criterion, ExitCriterion::Text { .. }) {
                findings.insert(at, report.met.contains(&(at + 1)));
            }
        }
        let outputs = Box::pin(self.run_criterion_commands(&mut findings)).await;
        if self.cancel.is_cancelled() {
            return Err(cancelled_failure());
        }
        let reasons = self.judge_in_conversation(kind, report, &mut findings).await;
        self.set_findings(findings.clone());
        match criteria::criteria_verdict(criteria, &findings) {
            CriteriaVerdict::Met => Ok(Vec::new()),
            CriteriaVerdict::Failed(at) => Err(criterion_failure(&criteria[at])),
            CriteriaVerdict::Open(open) => Ok(open
                .into_iter()
                .filter(|at| !self.lacks_judge(*at, &findings))
                .map(|at| {
                    let named = criteria::describe_criterion(&criteria[at]);
                    let mut line = format!("- criterion {}: {named}", at + 1);
                    for shown in [outputs.get(&at), reasons.get(&at)].into_iter().flatten() {
                        line.extend(["\n", shown.as_str()]);
                    }
                    line
                })
                .collect()),
        }
    }

    /// Runs the commands among the criteria; what failing ones wrote comes back by their position.
    async fn run_criterion_commands(
        &self,
        findings: &mut CriterionFindings,
    ) -> std::collections::BTreeMap<usize, String> {
        let mut outputs = std::collections::BTreeMap::new();
        for (at, criterion) in self.job.task.exit_criteria.iter().enumerate() {
            let ExitCriterion::Command { command, .. } = criterion else { continue };
            if self.cancel.is_cancelled() {
                break;
            }
            let planned = PlannedCall {
                step: CRITERIA.to_owned(),
                tool: "shell.run".to_owned(),
                args: json!({ "command": command }),
                purpose: CallPurpose::Step,
            };
            let result = self.call_criterion_command(&planned).await.result;
            let ran = result.ok || result.to_failure().is_some_and(|why| why.code == "exit_status");
            if ran {
                findings.insert(at, result.ok);
            } else {
                findings.remove(&at);
            }
            if !result.ok {
                let text = self.model_text("shell.run", &result);
                outputs.insert(at, last_chars(&text, FAILING_OUTPUT).to_owned());
            }
        }
        outputs
    }

    /// Has criteria that only judgement can tell judged; the judge's reasons come back by their position.
    async fn judge_in_conversation(
        &self,
        kind: &TaskType,
        report: &TaskReport,
        findings: &mut CriterionFindings,
    ) -> std::collections::BTreeMap<usize, String> {
        let mut reasons = std::collections::BTreeMap::new();
        let goals = vec![self.job.task.description.clone()];
        let has_context = !self.job.context.is_empty();
        let Some(work) =
            self.with_talk(|talk| guards::visible_work(kind, talk, goals, has_context))
        else {
            return reasons;
        };
        for (at, criterion) in self.job.task.exit_criteria.iter().enumerate() {
            let ExitCriterion::Judged { text, .. } = criterion else { continue };
            match self.judge_criterion(kind, &work, text, Some(&report.answer())).await {
                Ok((met, why)) => {
                    findings.insert(at, met);
                    reasons.insert(at, format!("The judge: {why}"));
                }
                Err(error) => {
                    tracing::debug!(code = %error.code, "the judge gave no verdict on a criterion");
                    findings.remove(&at);
                    reasons.insert(at, format!("The judge gave no verdict: {}", error.message));
                }
            }
        }
        reasons
    }

    /// A task that is done in part is the person's to decide about.
    async fn ask_about_part(
        &self,
        call: &ConversationCall,
        report: &TaskReport,
    ) -> Option<ConversationEnd> {
        let redact = |items: &[String]| -> Vec<String> {
            items.iter().map(|item| self.redact_text(item)).collect()
        };
        let (summary, files, left) = (
            self.redact_text(&report.summary),
            redact(&report.changed_files),
            redact(&report.left),
        );
        let work = PartialWork { summary: &summary, changed_files: &files, left: &left };
        let request = partly_done_request(RequestId::UNASSIGNED, &self.job.task, work);
        let answer = match self.ask_and_wait(request).await {
            Ok(answer) => answer,
            Err(failure) => return Some(Err(failure)),
        };
        let Some(Answer { action, text, .. }) = answer else {
            return Some(Err(partly_failure(&summary, &left)));
        };
        let words = match action {
            ChoiceAction::GoOn => "continue with what is left".to_owned(),
            ChoiceAction::RequestChanges => text.unwrap_or_default(),
            ChoiceAction::AcceptPart => {
                // The person accepts it; that is not to say that its criteria are met.
                self.set_findings(CriterionFindings::new());
                return Some(Ok(self.redact_text(&report.answer())));
            }
            ChoiceAction::HandToMe => return Some(Err(handed_over())),
            _ => return Some(Err(partly_failure(&summary, &left))),
        };
        self.record_own_result(call, false, &format!("The person says: {words}"));
        None
    }

    /// What is known about the criteria so far.
    pub(super) fn criterion_findings(&self) -> CriterionFindings {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_findings(&self, findings: CriterionFindings) {
        *self.findings.lock().unwrap_or_else(PoisonError::into_inner) = findings;
    }

    /// Criteria about what calls answer are looked at with every result.
    pub(super) fn note_findings(&self, result: &ToolResult) {
        let criteria = &self.job.task.exit_criteria;
        if criteria.is_empty() {
            return;
        }
        let data = Value::Object(result.data.clone());
        let found = self.plain_findings(criteria, &[&data]);
        self.findings.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
    }
}

fn partly_failure(summary: &str, left: &[String]) -> ExecutionFailure {
    let left = if left.is_empty() { String::new() } else { format!("; left: {}", left.join("; ")) };
    let message = format!("done in part: {}{left}", summary.trim_end_matches('.'));
    ExecutionFailure::new("partly_done", Category::Critical, message)
}
