//! The strategic tier: what the executor is to do, before it begins, after it is done, and when it is stuck.

use planwright_drafting::executor::start_work;
use serde_json::{Value, json};

use super::attempt::{AgentAttempt, non_empty_docs};
use super::completion::object_output_schema;
use super::event_sink::StepDraft;
use super::framing::{RULE, frame_data};
use super::model_requests::AgentModelRole;
use super::prompt_docs::{
    context_doc, part_token_limit, remaining_part_tokens, results_doc, state_doc, task_doc,
};
use planwright_drafting::executor::recipe::compact_text;
use planwright_drafting::executor::{TaskType, parse_planner_decision};
use planwright_drafting::token_budget::loop_token_budget;
use planwright_llm::cost::tokens::estimate_text_tokens;
use planwright_llm::{GenerateRequest, OutputSchema};
use planwright_model::agent_decision::{PlannerAction, PlannerDecision};
use planwright_model::agent_work::AgentWork;
use planwright_model::{ExecutionFailure, PrdvPhase, StepMetadata, StepRole};

/// What a critique looks for.
const FAULTS: [&str; 3] = ["contradictions", "missing_facts", "broken_constraints"];

impl AgentAttempt<'_> {
    /// The planner sees state and results and decides again.
    pub(super) async fn ask_planner(
        &self,
        work: &AgentWork,
        why: &str,
        answer: Option<&str>,
    ) -> Result<PlannerDecision, ExecutionFailure> {
        // What the executor says is material to judge, like any result.
        let said = answer.map(|answer| frame_data("answer of the executor", answer));
        let state = json!({
            "ask": "planner",
            "task_type": work.state.task_type,
            "completed_steps": work.state.completed_steps,
            "pending_steps": work.state.pending_steps,
            "step_results": work.state.step_results,
            "goals": work.goals,
            "round": work.round,
            "why": why,
        });
        let said = said.unwrap_or_default();
        let (mut request, fragments) = self.planner_prompt(work, &state, &said, "worker");
        request.output_schema = Some(decision_schema());
        let value = self
            .ask_json(AgentModelRole::Planner, "planner", &request)
            .await
            .map_err(|error| self.failure_from_error(&error))?;
        let decision = self.parse_decision(value, &work.state.task_type);
        let words = StepDraft::new(decision.reasoning.clone(), PrdvPhase::Plan).with_metadata(
            StepMetadata {
                agent_role: Some(StepRole::Planner),
                fragments: Some(fragments),
                ..StepMetadata::default()
            },
        );
        self.events.record_thought(words);
        self.events.record_decision(decision.clone());
        Ok(decision)
    }

    /// Proposal, critique and synthesis, until the critique finds nothing or the rounds are used up.
    pub(super) async fn deliberate(
        &self,
        kind: &TaskType,
        scouted: &Value,
    ) -> Result<PlannerDecision, ExecutionFailure> {
        let work = start_work(kind, vec![self.job.task.description.clone()], false);
        let mut said = String::new();
        let mut decision = None;
        for round in 1..=self.services.limits.loops.max(1) {
            let proposal = self.propose_approach(&work, &said, scouted, round).await?;
            let proposal = self.within_loop_budget(proposal);
            said = format!("{said}\n{}", frame_data("proposal", &proposal));
            let faults = self.criticize_proposal(&work, &said, round).await?;
            said = format!("{said}\n{}", frame_data("critique", &faults.join("\n")));
            decision = Some(self.synthesize_decision(&work, &said, round).await?);
            if faults.is_empty() {
                break;
            }
        }
        let fallback = || {
            let goals = vec![self.job.task.description.clone()];
            PlannerDecision::new(PlannerAction::Execute, &kind.name, goals, "as the plan says")
        };
        // Before anything was done there is nothing that could be complete.
        let mut decision = decision.unwrap_or_else(fallback);
        decision.action = PlannerAction::Execute;
        if decision.goals.is_empty() {
            decision.goals = vec![self.job.task.description.clone()];
        }
        Ok(decision)
    }

    /// The tokens that one round of a debate may carry on, by the estimate of the task.
    fn loop_budget(&self) -> u64 {
        let (task, limits) = (&self.job.task, &self.services.limits);
        let query = estimate_text_tokens(&task.description);
        let (budget, loops) = (Some(task.estimated_tokens), u64::from(limits.loops));
        loop_token_budget(budget, loops, query, limits.token_budget).unwrap_or(u64::MAX)
    }

    /// What goes on from a round: no more than its budget.
    fn within_loop_budget(&self, proposal: String) -> String {
        let cut = compact_text(&proposal, self.loop_budget(), estimate_text_tokens);
        cut.filter(|cut| !cut.is_empty()).unwrap_or(proposal)
    }

    async fn propose_approach(
        &self,
        work: &AgentWork,
        said: &str,
        scouted: &Value,
        round: u32,
    ) -> Result<String, ExecutionFailure> {
        let mut state =
            json!({ "ask": "proposal", "task_type": work.state.task_type, "round": round });
        // What the scout saw is where the full run begins.
        if !scouted.is_null() {
            state["scout"] = scouted.clone();
        }
        let (mut request, _) = self.planner_prompt(work, &state, said, "proposer");
        let ask = format!(
            "Propose an approach, in words. At most {} tokens of it are read.",
            self.loop_budget()
        );
        request.messages.push(planwright_llm::Message::user(ask));
        let answered = self
            .ask_model(AgentModelRole::Planner, "proposal", &request)
            .await
            .map_err(|error| self.failure_from_error(&error))?;
        let words =
            StepDraft::new(answered.text.clone(), PrdvPhase::Plan).with_metadata(StepMetadata {
                prompt_ref: Some(answered.prompt.hash.clone()),
                prompt: Some(answered.prompt.text.clone()),
                ..debate_metadata(StepRole::Proposer, round)
            });
        self.events.record_thought(words);
        Ok(answered.text)
    }

    async fn criticize_proposal(
        &self,
        work: &AgentWork,
        said: &str,
        round: u32,
    ) -> Result<Vec<String>, ExecutionFailure> {
        let state = json!({ "ask": "critique", "task_type": work.state.task_type, "round": round });
        let (mut request, _) = self.planner_prompt(work, &state, said, "critic");
        request
            .messages
            .push(planwright_llm::Message::user("Name the faults of the last proposal."));
        let list = json!({"type": "array", "items": {"type": "string"}});
        let properties: serde_json::Map<String, Value> =
            FAULTS.iter().map(|name| ((*name).to_owned(), list.clone())).collect();
        request.output_schema =
            Some(object_output_schema("critique", &Value::Object(properties), &FAULTS));
        let value = self
            .ask_json(AgentModelRole::Judge, "critique", &request)
            .await
            .map_err(|error| self.failure_from_error(&error))?;
        let faults: Vec<String> = FAULTS
            .iter()
            .flat_map(|name| {
                let found = value.get(*name).and_then(Value::as_array).into_iter().flatten();
                found.filter_map(Value::as_str).map(move |fault| format!("{name}: {fault}"))
            })
            .collect();
        let words = if faults.is_empty() { "no faults".to_owned() } else { faults.join("\n") };
        let words = StepDraft::new(words, PrdvPhase::Debate)
            .with_metadata(debate_metadata(StepRole::Critic, round));
        self.events.record_thought(words);
        Ok(faults)
    }

    async fn synthesize_decision(
        &self,
        work: &AgentWork,
        said: &str,
        round: u32,
    ) -> Result<PlannerDecision, ExecutionFailure> {
        let state =
            json!({ "ask": "synthesis", "task_type": work.state.task_type, "round": round });
        let (mut request, _) = self.planner_prompt(work, &state, said, "synthesizer");
        request.output_schema = Some(decision_schema());
        let value = self
            .ask_json(AgentModelRole::Planner, "synthesis", &request)
            .await
            .map_err(|error| self.failure_from_error(&error))?;
        let decision = self.parse_decision(value, &work.state.task_type);
        let words = StepDraft::new(decision.reasoning.clone(), PrdvPhase::Validate)
            .with_metadata(debate_metadata(StepRole::Synthesizer, round));
        self.events.record_thought(words);
        Ok(decision)
    }

    /// The shape is checked where the model is asked; what is left out falls back on the task as it is.
    fn parse_decision(&self, value: Value, task_type: &str) -> PlannerDecision {
        parse_planner_decision(value).unwrap_or_else(|why| {
            let goals = vec![self.job.task.description.clone()];
            PlannerDecision::new(PlannerAction::Complete, task_type, goals, &why)
        })
    }

    pub(super) fn planner_prompt(
        &self,
        work: &AgentWork,
        state: &Value,
        said: &str,
        role: &str,
    ) -> (GenerateRequest, Vec<String>) {
        let recipe = self.services.recipes.get_or_default("task_planner");
        let types: Vec<String> = self
            .services
            .types
            .iter()
            .map(|kind| format!("- {}: {}", kind.name, kind.description))
            .collect();
        let deliberation = match said.trim() {
            "" => String::new(),
            said => format!("## Deliberation\n{RULE}\n{said}"),
        };
        let summary = work.context_summary.as_deref();
        let mut parts = non_empty_docs([
            ("task", task_doc(self.job, &work.goals)),
            ("types", format!("## Types of tasks\n{}", types.join("\n"))),
            ("state", state_doc(state)),
            ("context", context_doc(self.job, summary, part_token_limit(recipe, "context"))),
            ("deliberation", deliberation),
        ]);
        let left = remaining_part_tokens(recipe, "results", &parts);
        let older = self.services.limits.result_char_limit;
        parts.insert("results", results_doc(&self.events.progress(), left, older));
        let assembled = self.services.assemble_prompt(recipe, role, &parts);
        self.record_compacted(&assembled.compacted);
        (assembled.request, assembled.fragments)
    }
}

fn decision_schema() -> OutputSchema {
    object_output_schema(
        "planner_decision",
        &json!({
            "_type": {"type": "string"},
            "action": {"type": "string", "enum": ["EXECUTE", "COMPLETE"]},
            "task_type": {"type": "string"},
            "goals": {"type": "array", "items": {"type": "string"}},
            "reasoning": {"type": "string"},
        }),
        &["action", "task_type", "goals", "reasoning"],
    )
}

/// The metadata of a step in a debate.
fn debate_metadata(role: StepRole, round: u32) -> StepMetadata {
    StepMetadata { agent_role: Some(role), debate_round: Some(round), ..StepMetadata::default() }
}
