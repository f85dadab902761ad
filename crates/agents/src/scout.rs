//! The scout: a look at the task before it is worked on. Where its words alone do not tell whether a debate is worth it,
//! a model answers it twice in a few steps; how far the two agree, and what they cannot meet, decides.

use std::time::Instant;

use serde_json::{Value, json};

use super::attempt::AgentAttempt;
use super::completion::object_output_schema;
use super::model_requests::{AgentModelRole, ModelQuestion};
use planwright_drafting::executor::{TaskType, start_work};
use planwright_drafting::gate::{self, GatePolicy};
use planwright_model::agent_decision::{DecisionAction, TaskDecision};
use planwright_model::gate::GateSignals;

/// How many answers are compared.
const SAMPLES: usize = 2;
/// From this share of the threshold for complexity on, words alone do not decide.
const DOUBT_FROM: f64 = 0.5;
/// The most steps of an answer.
const MOST_STEPS: usize = 8;

/// What the scout brought back.
#[derive(Debug, Default)]
pub(super) struct ScoutedTask {
    /// Whether the task is worth a debate.
    pub(super) full: bool,
    /// What the debate is told.
    pub(super) seen: Value,
    /// The steps that it would take; none where nobody was asked.
    pub(super) steps: Vec<String>,
}

/// A quick answer to the task.
#[derive(Debug, Default)]
struct ScoutAnswer {
    steps: Vec<String>,
    /// Criteria that it says it cannot meet.
    unmet: Vec<String>,
    tokens: u64,
}

impl AgentAttempt<'_> {
    pub(super) async fn scout_task(&self, kind: &TaskType) -> ScoutedTask {
        let begun = Instant::now();
        let policy = self.job.gate.as_ref().unwrap_or(&self.services.gate);
        let complexity = gate::score_complexity(gate::count_features(&self.job.task.description));
        let mut signals = GateSignals { complexity: Some(complexity), ..GateSignals::default() };
        let answers = if self.is_doubtful(policy, complexity) {
            self.sample_answers(kind).await
        } else {
            Vec::new()
        };
        let steps: Vec<Vec<String>> = answers.iter().map(|answer| answer.steps.clone()).collect();
        signals.overlap = gate::sample_overlap(&steps);
        signals.conflict = self.conflict_of(&answers);
        self.events.record_decision(TaskDecision::ScoutCompleted {
            action: DecisionAction::Scout,
            tokens: answers.iter().map(|answer| answer.tokens).sum(),
            cost: 0,
            elapsed_ms: begun.elapsed().as_millis() as u64,
            signals,
        });
        let loops = u64::from(self.services.limits.loops);
        let decision =
            gate::decide_gate(policy, signals, loops, Some(self.job.task.estimated_tokens));
        let first = steps.into_iter().next().unwrap_or_default();
        let mut seen = json!({ "signals": decision.heuristics, "reason": decision.reason });
        if !first.is_empty() {
            seen["answer"] = json!(first);
        }
        // Without a model there is nobody to debate with.
        let full = decision.should_escalate && !self.is_offline(AgentModelRole::Planner);
        self.events.record_decision(TaskDecision::GateDecision(decision.into()));
        ScoutedTask { full, seen, steps: first }
    }

    /// Whether the gate hangs on answers: nothing is decided already, and the words are neither plain nor plainly complex.
    fn is_doubtful(&self, policy: &GatePolicy, complexity: f64) -> bool {
        let decided = !policy.enabled
            || policy.overrides.decision.is_some()
            || policy.overrides.signals.contains_key("overlap");
        let threshold = policy.thresholds.complexity;
        let between = (threshold * DOUBT_FROM..threshold).contains(&complexity);
        !decided && between && !self.is_offline(AgentModelRole::Planner)
    }

    /// Asks for quick answers, each without the other. A model that gives none is no reason to fail: then words decide.
    async fn sample_answers(&self, kind: &TaskType) -> Vec<ScoutAnswer> {
        let work = start_work(kind, vec![self.job.task.description.clone()], false);
        let mut answers = Vec::new();
        for sample in 1..=SAMPLES {
            let state = json!({ "ask": "scout", "task_type": kind.name, "sample": sample });
            let (mut request, _) = self.planner_prompt(&work, &state, "", "proposer");
            request.messages.push(planwright_llm::Message::user(
                "Give the few steps that you would take, each in a few words, and name the criteria that they can't meet.",
            ));
            let list = json!({"type": "array", "items": {"type": "string"}});
            let properties = json!({ "steps": list, "unmet": list });
            request.output_schema =
                Some(object_output_schema("scout", &properties, &["steps", "unmet"]));
            let dialogue = self.services.dialogue_for(AgentModelRole::Planner);
            let question = ModelQuestion { dialogue, purpose: "scout", request: &request };
            let Ok((value, tokens)) = self.requester.ask_for_json(question).await else { break };
            let texts = |name: &str| -> Vec<String> {
                let items = value.get(name).and_then(Value::as_array).into_iter().flatten();
                let texts = items.filter_map(Value::as_str).map(|text| self.redact_text(text));
                texts.filter(|text| !text.trim().is_empty()).take(MOST_STEPS).collect()
            };
            answers.push(ScoutAnswer { steps: texts("steps"), unmet: texts("unmet"), tokens });
        }
        answers.retain(|answer| !answer.steps.is_empty());
        answers
    }

    /// The share of the exit criteria that the answers cannot meet, by the worst of them.
    fn conflict_of(&self, answers: &[ScoutAnswer]) -> Option<f64> {
        let stated = self.job.task.exit_criteria.len();
        if answers.is_empty() || stated == 0 {
            return None;
        }
        let worst = answers.iter().map(|answer| answer.unmet.len().min(stated)).max()?;
        Some(worst as f64 / stated as f64)
    }
}
