//! The strategic tier: what the executor is to do, before it begins, after it is done, and when it is stuck.

use planwright_drafting::executor::begin_work;
use serde_json::{Value, json};

use super::asking::Who;
use super::docs::{context_doc, results_doc, room, room_beside, state_doc, task_doc};
use super::finishing::shape;
use super::framing::{RULE, framed};
use super::mouth::StepWords;
use super::run::{Run, docs};
use planwright_drafting::executor::{PlannerAction, PlannerDecision, Prdv, TaskType};
use planwright_llm::{GenerateRequest, OutputSchema};
use planwright_model::Failure;
use planwright_model::agent_work::Work;

/// What a critique looks for.
const FAULTS: [&str; 3] = ["contradictions", "missing_facts", "broken_constraints"];

impl Run<'_> {
    /// The planner sees state and results and decides again.
    pub(super) async fn planner_decides(
        &self,
        work: &Work,
        why: &str,
    ) -> Result<PlannerDecision, Failure> {
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
        let (mut request, fragments) = self.planner_prompt(work, &state, "", "worker");
        request.output_schema = Some(decision_shape());
        let value = self
            .ask_json(Who::Planner, "planner", &request)
            .await
            .map_err(|error| self.failed(&error))?;
        let decision = self.read_decision(value, &work.state.task_type);
        let words = StepWords::new(decision.reasoning.clone(), Prdv::Plan)
            .with("agent_role", "planner")
            .with("fragments", fragments);
        self.mouth.thought(words);
        self.mouth.decided(json!(decision));
        Ok(decision)
    }

    /// Proposal, critique and synthesis, until the critique finds nothing or the rounds are used up.
    pub(super) async fn deliberate(
        &self,
        kind: &TaskType,
        scouted: &Value,
    ) -> Result<PlannerDecision, Failure> {
        let work = begin_work(kind, vec![self.job.task.description.clone()], false);
        let mut said = String::new();
        let mut decision = None;
        for round in 1..=self.kit.limits.loops.max(1) {
            let proposal = self.propose(&work, &said, scouted, round).await?;
            said = format!("{said}\n{}", framed("proposal", &proposal));
            let faults = self.criticise(&work, &said, round).await?;
            said = format!("{said}\n{}", framed("critique", &faults.join("\n")));
            decision = Some(self.synthesise(&work, &said, round).await?);
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

    async fn propose(
        &self,
        work: &Work,
        said: &str,
        scouted: &Value,
        round: u32,
    ) -> Result<String, Failure> {
        let mut state =
            json!({ "ask": "proposal", "task_type": work.state.task_type, "round": round });
        // What the scout saw is where the full run begins.
        if !scouted.is_null() {
            state["scout"] = scouted.clone();
        }
        let (mut request, _) = self.planner_prompt(work, &state, said, "proposer");
        request.messages.push(planwright_llm::Message::user("Propose an approach, in words."));
        let answered = self
            .ask(Who::Planner, "proposal", &request)
            .await
            .map_err(|error| self.failed(&error))?;
        let words = StepWords::new(answered.text.clone(), Prdv::Plan)
            .with("agent_role", "proposer")
            .with("prompt_ref", answered.prompt.hash.as_str())
            .with("prompt", answered.prompt.text.as_str())
            .with("loop", round);
        self.mouth.thought(words);
        Ok(answered.text)
    }

    async fn criticise(&self, work: &Work, said: &str, round: u32) -> Result<Vec<String>, Failure> {
        let state = json!({ "ask": "critique", "task_type": work.state.task_type, "round": round });
        let (mut request, _) = self.planner_prompt(work, &state, said, "critic");
        request
            .messages
            .push(planwright_llm::Message::user("Name the faults of the last proposal."));
        let list = json!({"type": "array", "items": {"type": "string"}});
        let properties: serde_json::Map<String, Value> =
            FAULTS.iter().map(|name| ((*name).to_owned(), list.clone())).collect();
        request.output_schema = Some(shape("critique", &Value::Object(properties), &FAULTS));
        let value = self
            .ask_json(Who::Judge, "critique", &request)
            .await
            .map_err(|error| self.failed(&error))?;
        let faults: Vec<String> = FAULTS
            .iter()
            .flat_map(|name| {
                let found = value.get(*name).and_then(Value::as_array).into_iter().flatten();
                found.filter_map(Value::as_str).map(move |fault| format!("{name}: {fault}"))
            })
            .collect();
        let words = if faults.is_empty() { "no faults".to_owned() } else { faults.join("\n") };
        let words =
            StepWords::new(words, Prdv::Debate).with("agent_role", "critic").with("loop", round);
        self.mouth.thought(words);
        Ok(faults)
    }

    async fn synthesise(
        &self,
        work: &Work,
        said: &str,
        round: u32,
    ) -> Result<PlannerDecision, Failure> {
        let state =
            json!({ "ask": "synthesis", "task_type": work.state.task_type, "round": round });
        let (mut request, _) = self.planner_prompt(work, &state, said, "synthesizer");
        request.output_schema = Some(decision_shape());
        let value = self
            .ask_json(Who::Planner, "synthesis", &request)
            .await
            .map_err(|error| self.failed(&error))?;
        let decision = self.read_decision(value, &work.state.task_type);
        let words = StepWords::new(decision.reasoning.clone(), Prdv::Validate)
            .with("agent_role", "synthesizer")
            .with("loop", round);
        self.mouth.thought(words);
        Ok(decision)
    }

    /// The shape is checked where the model is asked; what is left out falls back on the task as it is.
    fn read_decision(&self, value: Value, task_type: &str) -> PlannerDecision {
        PlannerDecision::read(value).unwrap_or_else(|why| {
            let goals = vec![self.job.task.description.clone()];
            PlannerDecision::new(PlannerAction::Complete, task_type, goals, &why)
        })
    }

    fn planner_prompt(
        &self,
        work: &Work,
        state: &Value,
        said: &str,
        role: &str,
    ) -> (GenerateRequest, Vec<String>) {
        let recipe = self.kit.recipes.or_usual("task_planner");
        let types: Vec<String> = self
            .kit
            .types
            .iter()
            .map(|kind| format!("- {}: {}", kind.name, kind.description))
            .collect();
        let deliberation = match said.trim() {
            "" => String::new(),
            said => format!("## Deliberation\n{RULE}\n{said}"),
        };
        let summary = work.context_summary.as_deref();
        let mut parts = docs([
            ("task", task_doc(self.job, &work.goals)),
            ("types", format!("## Types of tasks\n{}", types.join("\n"))),
            ("state", state_doc(state)),
            ("context", context_doc(self.job, summary, room(recipe, "context"))),
            ("deliberation", deliberation),
        ]);
        let left = room_beside(recipe, "results", &parts);
        let older = self.kit.limits.result_char_limit;
        parts.insert("results", results_doc(&self.mouth.progress(), left, older));
        let assembled = self.kit.assemble(recipe, role, &parts);
        self.tell_short(&assembled.compacted);
        (assembled.request, assembled.fragments)
    }
}

fn decision_shape() -> OutputSchema {
    shape(
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
