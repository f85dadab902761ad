//! What lists show of a session, written with its events.

use planwright_state::SessionState;
use planwright_store::SessionSummary;

/// Sums a session up.
pub fn summarize_session(state: &SessionState) -> SessionSummary {
    let counts = state.tasks.work_counts();
    SessionSummary {
        title: state.session.title.clone(),
        goal: state.session.goal.clone().unwrap_or_default(),
        workspace: state.session.workspace.clone(),
        status: state.status().label().to_owned(),
        pattern: pattern_name(state),
        done: counts.done,
        total: counts.total(),
        cost: state.totals.cost,
        tokens: state.totals.tokens,
        open_requests: state.requests.open.len() as u32,
    }
}

/// The subtype of the pattern, which says more than its type, once it is chosen.
fn pattern_name(state: &SessionState) -> String {
    let Some(choice) = &state.planning.pattern else { return String::new() };
    let spec = &choice.pattern;
    spec.subtype.clone().unwrap_or_else(|| spec.pattern_type.to_string())
}
