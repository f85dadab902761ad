//! What lists show of a session, written with its events.

use crate::model::PatternType;
use crate::state::SessionState;
use crate::store::SessionSummary;

/// Sums a session up.
pub fn summary(state: &SessionState) -> SessionSummary {
    let counts = state.tasks.counts();
    SessionSummary {
        title: state.session.title.clone(),
        goal: state.session.goal.clone().unwrap_or_default(),
        workspace: state.session.workspace.clone(),
        status: state.status().word().to_owned(),
        pattern: pattern(state),
        done: counts.done,
        total: counts.total(),
        cost: state.totals.cost,
        tokens: state.totals.tokens,
        open_requests: state.requests.open.len() as u32,
    }
}

/// The pattern of the plan in one word, as lists show it.
fn pattern(state: &SessionState) -> String {
    let Some(choice) = &state.planning.pattern else { return String::new() };
    match choice.pattern.pattern_type {
        PatternType::MilestoneProject => "milestone",
        PatternType::RecurringCycle => "cycle",
        PatternType::ProgressiveAccumulationArc => "arc",
        PatternType::HybridProjectCycle => "hybrid",
        PatternType::StrategicTransformation => "strategic",
    }
    .to_owned()
}
