//! One step trace for every tool call.

use std::time::Instant;

use super::StageResult;
use planwright_model::event::{Event, PlanningEvent};
use planwright_model::{PlanningToolName, StepTrace};
use planwright_state::PlanningSlice;

/// A running tool call of planning.
#[derive(Debug)]
pub(super) struct ToolTraceTimer {
    begun: Instant,
    tool: PlanningToolName,
    stage: &'static str,
    session: String,
    traces: u32,
}

impl ToolTraceTimer {
    pub(super) fn start(talk: &PlanningSlice, tool: PlanningToolName, session: &str) -> Self {
        Self {
            begun: Instant::now(),
            tool,
            stage: talk.place.state.as_str(),
            session: session.to_owned(),
            traces: talk.traces,
        }
    }

    /// Adds the trace of the call to its work.
    pub(super) fn finish(
        self,
        mut work: StageResult,
        confidence: Option<f64>,
        explanations: Vec<String>,
    ) -> StageResult {
        let mut violations = Vec::new();
        let mut adaptations = Vec::new();
        let mut before = 0;
        for event in &work.events {
            match event {
                Event::Planning(PlanningEvent::Judged { judgement, .. }) => {
                    violations.extend(judgement.violations.iter().map(|found| found.rule.clone()));
                }
                Event::Planning(PlanningEvent::Adapted { entry }) => {
                    adaptations.push(entry.id.clone());
                }
                Event::Planning(PlanningEvent::Traced { .. }) => before += 1,
                _ => {}
            }
        }
        violations.dedup();
        let step = StepTrace {
            seq: self.traces + before + 1,
            session_id: self.session,
            stage: self.stage.to_owned(),
            tool: self.tool,
            duration_ms: self.begun.elapsed().as_millis() as u64,
            confidence,
            cost_delta: 0,
            violations,
            adaptations,
            outcome: work.outcome.as_str().to_owned(),
            cache_hit: false,
            explanations,
            why: Vec::new(),
        };
        work.events.push(PlanningEvent::Traced { step }.into());
        work
    }
}
