//! The tactical tier: asks for one decision at a time, rules on it, has it done, and takes notice of what came of it.

use planwright_drafting::executor::ExecutorRules as _;
use serde_json::{Value, json};

use super::attempt::{AgentAttempt, cap_failure};
use super::model_requests::{AgentModelRole, ModelAnswer};
use super::offline_evidence::TaskEvidence;
use super::prompt_docs::{
    self, context_doc, part_token_limit, remaining_part_tokens, results_doc, state_doc, task_doc,
};
use super::tool_selection::{DONE, DecisionTools, ESCALATE};
use planwright_drafting::executor::{
    ExecutorLimits, ExecutorRuling, LocalStep, ModelProposal, TaskType, TaskTypeStep,
    find_executor_decision,
};
use planwright_llm::{GenerateRequest, ToolChoice};
use planwright_model::agent_decision::{
    DecisionAction, ExecutorAction, ExecutorDecision, TaskDecision, ToolUse,
};
use planwright_model::agent_work::{AgentWork, CallPurpose, ExecutorConclusion, PlannedCall};
use planwright_model::{Category, ExecutionFailure, PrdvPhase};

/// How a round of the executor ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RoundEnd {
    Concluded(ExecutorConclusion),
    Failed(ExecutionFailure),
}

impl RoundEnd {
    pub(super) fn done(answer: impl Into<String>) -> Self {
        Self::Concluded(ExecutorConclusion::Done { answer: answer.into() })
    }

    pub(super) fn escalated(why: impl Into<String>) -> Self {
        Self::Concluded(ExecutorConclusion::Escalated { why: why.into() })
    }
}

/// The most calls that are taken from one answer.
const CALLS: usize = 32;

impl AgentAttempt<'_> {
    /// Goes on until the steps are done, the executor is stuck, or the attempt is over.
    pub(super) async fn run_round(&self, kind: &TaskType, work: &mut AgentWork) -> RoundEnd {
        let (open, unnoticed) = {
            let mut progress = self.events.progress();
            (progress.open.clone(), progress.unnoticed.take())
        };
        if let Some(open) = open {
            let tools = self.decision_tools(kind);
            // On the heap: it is the largest future of an attempt, and needed once at most.
            let resuming = Box::pin(self.resume_open_call(kind, work, &tools, open));
            if let Some(end) = resuming.await {
                return end;
            }
        } else if let Some(unnoticed) = unnoticed {
            let tools = self.decision_tools(kind);
            if let Some(end) = self.resume_unobserved_result(kind, work, &tools, unnoticed).await {
                return end;
            }
        }
        loop {
            if self.cancel.is_cancelled() {
                return RoundEnd::Failed(cancelled_failure());
            }
            if let Some(step) = work.next_check(kind) {
                self.check_written_skill(kind, work, step);
                self.save_work(work);
                if work.next_check(kind) == Some(step) {
                    return RoundEnd::escalated(format!("the step {} failed", step.name));
                }
                continue;
            }
            if work.state.is_complete() {
                let words = kind.steps.last().filter(|step| step.local == Some(LocalStep::Think));
                let answer = words
                    .and_then(|step| work.state.step_results.get(&step.name)?.as_str())
                    .unwrap_or_default()
                    .to_owned();
                self.record_executor_decision(ExecutorAction::Done, work, "all steps are done");
                return RoundEnd::done(answer);
            }
            let tools = self.decision_tools(kind);
            if let Some(end) = self.end_without_tool(kind, work, &tools) {
                return end;
            }
            if let Some(end) = self.run_turn(kind, work, &tools).await {
                return end;
            }
            self.save_work(work);
        }
    }

    /// Tools that can do a step, best first.
    fn step_tools(&self, step: &TaskTypeStep, tools: &DecisionTools) -> Vec<String> {
        let progress = self.events.progress();
        let failures = |tool: &str| {
            progress.steps.iter().filter(|done| !done.ok && done.tool == tool).count() as u32
        };
        tools.tools_for_step(step, &self.job.affinity, failures)
    }

    fn decision_tools(&self, kind: &TaskType) -> DecisionTools {
        DecisionTools::for_job(self.services, self.job, kind, self.role_tools.as_deref())
    }

    /// A step that no tool can do leads nowhere.
    fn end_without_tool(
        &self,
        kind: &TaskType,
        work: &AgentWork,
        tools: &DecisionTools,
    ) -> Option<RoundEnd> {
        let step = kind.find_step(work.state.next_step()?)?;
        if step.local.is_some() || !self.step_tools(step, tools).is_empty() {
            return None;
        }
        let left_out: Vec<String> = tools
            .left_out
            .iter()
            .filter(|(tool, _)| step.accepts_tool(tool))
            .map(|(tool, why)| format!("{tool}: {why}"))
            .collect();
        let why = if left_out.is_empty() {
            format!("no tool is there for the step {}", step.name)
        } else {
            format!("no tool for the step {}: {}", step.name, left_out.join(", "))
        };
        if self.job.task.tool_affinity.is_empty() && !self.is_offline(AgentModelRole::Planner) {
            self.record_executor_decision(ExecutorAction::Escalate, work, &why);
            return Some(RoundEnd::escalated(why));
        }
        Some(RoundEnd::Failed(ExecutionFailure::new("no_suitable_tool", Category::Critical, why)))
    }

    /// One decision and what follows from it.
    async fn run_turn(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        tools: &DecisionTools,
    ) -> Option<RoundEnd> {
        let (words, requests) = match self.ask_decision(kind, work, tools).await {
            Ok(decided) => decided,
            Err(failure) => return Some(RoundEnd::Failed(failure)),
        };
        for request in requests {
            let bounds = self.rule_bounds();
            let ruling =
                work.rule_on_proposal(kind, &request, |name| tools.tool_facts(name), &bounds);
            self.record_ruling(work, &request, &ruling, &words);
            self.note_usability(&request, &ruling);
            match ruling {
                ExecutorRuling::Run(planned) => {
                    let looks = planned.purpose == CallPurpose::Lookup;
                    let thoughts = work.leading_thought_steps(kind);
                    if !looks
                        && !words.trim().is_empty()
                        && thoughts_precede_call(kind, &thoughts, &planned)
                    {
                        work.record_thoughts(&thoughts, &words);
                    }
                    if let Some(end) = self.perform_call(kind, work, tools, planned).await {
                        return Some(end);
                    }
                    if !looks {
                        return None;
                    }
                    self.save_work(work);
                }
                ExecutorRuling::Instead { step, .. } => {
                    return self.force_step(kind, work, tools, &step).await;
                }
                ExecutorRuling::Thought { steps } => {
                    work.record_thoughts(&steps, &words);
                    return None;
                }
                ExecutorRuling::Reject { .. } => return None,
                ExecutorRuling::Done { answer } => {
                    let thoughts = work.leading_thought_steps(kind);
                    work.record_thoughts(&thoughts, &answer);
                    return Some(RoundEnd::done(answer));
                }
                ExecutorRuling::Escalate { why } => return Some(RoundEnd::escalated(why)),
                ExecutorRuling::Cap { cap: "max_steps", why } if !kind.until_done => {
                    return Some(RoundEnd::escalated(why));
                }
                ExecutorRuling::Cap { why, .. } => {
                    return Some(RoundEnd::Failed(cap_failure(&why)));
                }
            }
        }
        None
    }

    /// Whether an answer led somewhere. Being sent back to the planner against the model's own request is no progress.
    fn note_usability(&self, request: &ModelProposal, ruling: &ExecutorRuling) {
        match ruling {
            ExecutorRuling::Reject { .. } => self.requester.pace.note_unusable(),
            ExecutorRuling::Escalate { .. }
                if !matches!(request, ModelProposal::Escalate { .. }) =>
            {
                self.requester.pace.note_unusable();
            }
            _ => self.requester.pace.note_usable(),
        }
    }

    pub(super) fn rule_bounds(&self) -> ExecutorLimits {
        ExecutorLimits {
            react_max_iterations: self.services.limits.react_max_iterations,
            lookups_per_step: self.services.limits.lookups_per_step,
            granted: self.job.granted,
        }
    }

    /// Asks the model what comes next: its words, and what it wants.
    async fn ask_decision(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        tools: &DecisionTools,
    ) -> Result<(String, Vec<ModelProposal>), ExecutionFailure> {
        self.summarize_context(kind, work).await;
        let state = self.state_value(kind, work, tools, "decision");
        let (mut request, fragments) = self.executor_prompt(kind, work, &state);
        request.tools = tools.offered_specs();
        let answered = match self.ask_model(AgentModelRole::Executor, "decision", &request).await {
            Ok(answered) => answered,
            Err(error) if error.code == "invalid_output" => {
                return Ok((String::new(), vec![ModelProposal::Unusable { why: error.message }]));
            }
            Err(error) if error.is_cancelled() => return Err(cancelled_failure()),
            Err(error) => return Err(self.failure_from_error(&error)),
        };
        let prdv = work
            .state
            .next_step()
            .and_then(|step| kind.find_step(step))
            .map_or(PrdvPhase::Plan, |s| s.prdv);
        let requests = moves_from_answer(&answered);
        let aloud = if answered.text.trim().is_empty() { "(no words)" } else { &answered.text };
        self.record_answer_thought(aloud, &answered, &fragments, prdv);
        Ok((answered.text, requests))
    }

    /// The prompt of one decision, with what had to be shortened said.
    pub(super) fn executor_prompt(
        &self,
        kind: &TaskType,
        work: &AgentWork,
        state: &Value,
    ) -> (GenerateRequest, Vec<String>) {
        let recipe = self.services.recipes.get_or_default(&kind.recipe);
        let context_room = part_token_limit(recipe, "context");
        let mut parts = super::attempt::non_empty_docs([
            ("task", task_doc(self.job, &work.goals)),
            ("state", state_doc(state)),
            ("context", context_doc(self.job, work.context_summary.as_deref(), context_room)),
        ]);
        let left = remaining_part_tokens(recipe, "results", &parts);
        let older = self.services.limits.result_char_limit;
        parts.insert("results", results_doc(&self.events.progress(), left, older));
        let assembled = self.services.assemble_prompt(recipe, &self.events.role, &parts);
        self.record_compacted(&assembled.compacted);
        (assembled.request, assembled.fragments)
    }

    /// What earlier tasks brought is shortened by a model once, where it would not fit.
    async fn summarize_context(&self, kind: &TaskType, work: &mut AgentWork) {
        let most = part_token_limit(self.services.recipes.get_or_default(&kind.recipe), "context");
        let size = prompt_docs::context_tokens(self.job);
        if size <= most
            || work.context_summary.is_some()
            || self.is_offline(AgentModelRole::Summarizer)
        {
            return;
        }
        let Some(prompt) = self.services.prompts.get("summarizer.md") else { return };
        let whole = context_doc(self.job, None, size + 200);
        let wanted = format!("Shorten this to {} tokens.\n{whole}", most.saturating_sub(80));
        let mut request = GenerateRequest::new(vec![
            planwright_llm::Message::system(prompt.text.clone()),
            planwright_llm::Message::user(wanted),
        ]);
        request.max_output_tokens = u32::try_from(most).ok();
        // Where nobody can shorten it well, it is cut instead.
        let answered = self.ask_model(AgentModelRole::Summarizer, "summary", &request).await;
        if let Err(error) = &answered {
            tracing::debug!(code = %error.code, "no summary by the model");
        }
        if let Ok(answered) = answered {
            work.context_summary = Some(answered.text);
            self.record_compacted(&[planwright_drafting::executor::recipe::CompactedPart {
                part: "context".to_owned(),
                tokens: size,
                kept: most,
            }]);
            self.save_work(work);
        }
    }

    /// The state as the model reads it. Without a model it also says what could be done by rule.
    pub(super) fn state_value(
        &self,
        kind: &TaskType,
        work: &AgentWork,
        tools: &DecisionTools,
        ask: &str,
    ) -> Value {
        let next = work.state.next_step().and_then(|step| kind.find_step(step));
        let bounds = self.rule_bounds();
        let mut state = json!({
            "ask": ask,
            "task_type": work.state.task_type,
            "current_step": work.state.current_step,
            "completed_steps": work.state.completed_steps,
            "pending_steps": work.state.pending_steps,
            "next": next.map(|step| json!({
                "step": step.name,
                "tools": if step.tools.is_empty() { Vec::new() } else { self.step_tools(step, tools) },
                "local": step.local,
            })),
            "calls_left": (work.state.max_steps + bounds.granted).saturating_sub(work.calls),
            "iterations_left":
                (bounds.react_max_iterations + bounds.granted).saturating_sub(work.iteration),
            "feedback": work.feedback,
        });
        if self.is_offline(AgentModelRole::Executor) {
            let evidence = TaskEvidence::from_progress(self.job, work, &self.events.progress());
            state["words"] = json!(evidence.search_summary());
            state["searched"] = json!(work.calls > 0);
            state["offer"] =
                json!(next.and_then(|step| self.offline_offer(step, tools, &evidence)));
        }
        state
    }

    /// The first tool for a step whose arguments are known without a model.
    fn offline_offer(
        &self,
        step: &TaskTypeStep,
        tools: &DecisionTools,
        evidence: &TaskEvidence,
    ) -> Option<Value> {
        self.step_tools(step, tools).into_iter().find_map(|tool| {
            let args = evidence.fill_args(step, &tool)?;
            Some(json!({ "tool": tool, "args": args }))
        })
    }

    /// The loop guard at work: the model is asked for this step alone.
    async fn force_step(
        &self,
        kind: &TaskType,
        work: &mut AgentWork,
        tools: &DecisionTools,
        name: &str,
    ) -> Option<RoundEnd> {
        let step = kind.find_step(name)?;
        work.feedback = Some(format!("Enough was searched for; do the step {name} now."));
        if step.local == Some(LocalStep::Think) {
            work.finish_search_steps(kind);
            let state = self.state_value(kind, work, tools, "words");
            let (request, fragments) = self.executor_prompt(kind, work, &state);
            let answered = match self.ask_model(AgentModelRole::Executor, "instead", &request).await
            {
                Ok(answered) => answered,
                Err(error) => return Some(RoundEnd::Failed(self.failure_from_error(&error))),
            };
            self.record_answer_thought(&answered.text, &answered, &fragments, step.prdv);
            let thoughts = work.leading_thought_steps(kind);
            work.record_thoughts(&thoughts, &answered.text);
            return None;
        }
        let Some((tool, args)) = self.forced_call(kind, work, tools, step).await else {
            let why = format!("the step {name} is due and its arguments could not be had");
            self.record_executor_decision(ExecutorAction::Escalate, work, &why);
            return Some(RoundEnd::escalated(why));
        };
        if work.calls >= work.state.max_steps + self.job.granted {
            return Some(RoundEnd::escalated(format!("no call is left for {name}")));
        }
        let planned = PlannedCall { step: name.to_owned(), tool, args, purpose: CallPurpose::Step };
        self.perform_call(kind, work, tools, planned).await
    }

    /// Tool and arguments for a step that must be done now: from the model, else from what is known.
    async fn forced_call(
        &self,
        kind: &TaskType,
        work: &AgentWork,
        tools: &DecisionTools,
        step: &TaskTypeStep,
    ) -> Option<(String, Value)> {
        let usable = self.step_tools(step, tools);
        let tool = usable.first()?;
        let mut state = self.state_value(kind, work, tools, "decision");
        state["next"] = json!({ "step": step.name, "tools": [tool], "local": null });
        let (mut request, fragments) = self.executor_prompt(kind, work, &state);
        request.tools = tools.tool_spec(tool).cloned().into_iter().collect();
        request.tool_choice = ToolChoice::Named(tool.clone());
        let answered = self.ask_model(AgentModelRole::Executor, "instead", &request).await;
        if let Err(error) = &answered {
            tracing::debug!(code = %error.code, "no other call by the model");
        }
        if let Ok(answered) = answered
            && let Some(call) = answered.calls.iter().find(|call| call.name == *tool)
        {
            let args = call.arguments.clone();
            let aloud = format!("{} {}", step.name, answered.text);
            self.record_answer_thought(aloud.trim(), &answered, &fragments, step.prdv);
            return Some((tool.clone(), args));
        }
        let evidence = TaskEvidence::from_progress(self.job, work, &self.events.progress());
        usable.iter().find_map(|tool| Some((tool.clone(), evidence.fill_args(step, tool)?)))
    }

    fn record_ruling(
        &self,
        work: &AgentWork,
        request: &ModelProposal,
        ruling: &ExecutorRuling,
        words: &str,
    ) {
        let reasoning = words.trim();
        let decision = match ruling {
            ExecutorRuling::Run(PlannedCall { step, tool, args, .. }) => {
                let tool = ToolUse { name: tool.clone(), args: args.clone() };
                ExecutorDecision::call_tool(step, tool, reasoning)
            }
            ExecutorRuling::Instead { step, why } => {
                return self.events.record_decision(TaskDecision::LoopGuard {
                    action: DecisionAction::LoopGuard,
                    step: Some(step.clone()),
                    reasoning: why.clone(),
                    replaced: proposed_call(request),
                });
            }
            ExecutorRuling::Reject { code, why } => {
                return self.events.record_decision(TaskDecision::Rejected {
                    action: DecisionAction::Reject,
                    code: (*code).to_owned(),
                    reasoning: why.clone(),
                });
            }
            ExecutorRuling::Thought { .. } => return,
            ExecutorRuling::Done { .. } => ExecutorDecision::new(ExecutorAction::Done, reasoning),
            ExecutorRuling::Escalate { why } | ExecutorRuling::Cap { why, .. } => {
                ExecutorDecision::new(ExecutorAction::Escalate, why)
            }
        };
        self.events.record_decision(decision.with_state(&work.state));
    }
}

/// Whether steps of thought lead up to the step that is called for.
fn thoughts_precede_call(kind: &TaskType, thoughts: &[String], planned: &PlannedCall) -> bool {
    let place = |name: &str| kind.steps.iter().position(|step| step.name == name);
    thoughts.iter().all(|thought| place(thought) < place(&planned.step))
}

/// The call that a model proposed, if it proposed one.
fn proposed_call(proposal: &ModelProposal) -> Option<ToolUse> {
    let ModelProposal::Call { tool, args, .. } = proposal else { return None };
    Some(ToolUse { name: tool.clone(), args: args.clone() })
}

/// What an answer wants.
fn moves_from_answer(answered: &ModelAnswer) -> Vec<ModelProposal> {
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    if !answered.calls.is_empty() {
        let request = |call: &planwright_llm::ToolCall| match call.name.as_str() {
            DONE => ModelProposal::Done { answer: text(&call.arguments, "answer") },
            ESCALATE => ModelProposal::Escalate { why: text(&call.arguments, "issue") },
            tool => ModelProposal::Call {
                step: None,
                tool: tool.to_owned(),
                args: call.arguments.clone(),
            },
        };
        return answered.calls.iter().take(CALLS).map(request).collect();
    }
    let Some(decision) = find_executor_decision(&answered.text) else {
        return vec![ModelProposal::Text { text: answered.text.clone() }];
    };
    vec![match (decision.action, decision.tool) {
        (ExecutorAction::CallTool, Some(tool)) => {
            ModelProposal::Call { step: decision.step, tool: tool.name, args: tool.args }
        }
        (ExecutorAction::CallTool, None) => {
            ModelProposal::Unusable { why: "CALL_TOOL without a tool".to_owned() }
        }
        (ExecutorAction::Done, _) => ModelProposal::Done { answer: decision.reasoning },
        (ExecutorAction::Escalate, _) => ModelProposal::Escalate { why: decision.reasoning },
    }]
}

pub(super) fn cancelled_failure() -> ExecutionFailure {
    ExecutionFailure::new("cancelled", Category::Critical, "the task was cancelled")
}
