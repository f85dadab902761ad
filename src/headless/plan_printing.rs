//! Prints the plan that an open request asks about: whole at first, later what changed, moved dates first.

use jiff::tz::TimeZone;

use planwright_model::{ApprovalTarget, RequestId, RequestKind};
use planwright_state::SessionState;
use planwright_tui::plan_text::{PlanTextRow, plan_rows, printed_plan};

/// What was printed of the plans of a session.
#[derive(Debug, Default)]
pub(crate) struct PlanPrinting {
    asked: Option<RequestId>,
    rows: Vec<PlanTextRow>,
}

impl PlanPrinting {
    /// The lines of the plan that is asked about; none if they were given already.
    pub(crate) fn new_lines(&mut self, state: &SessionState, zone: &TimeZone) -> Vec<String> {
        let open = state.requests.open.values().map(|open| &open.request);
        let Some(request) = open.clone().find(|request| is_about_rows(&request.kind)) else {
            return Vec::new();
        };
        if self.asked == Some(request.id) {
            return Vec::new();
        }
        self.asked = Some(request.id);
        let today = state.at.unwrap_or_default().to_zoned(zone.clone()).date();
        let before = Some(self.rows.as_slice()).filter(|rows| !rows.is_empty());
        let lines = printed_plan(state, before, zone, today);
        self.rows = plan_rows(state, zone);
        lines.iter().map(|line| line.as_str().to_owned()).collect()
    }
}

/// Whether the rows of a plan are what a request asks about.
fn is_about_rows(kind: &RequestKind) -> bool {
    match kind {
        RequestKind::FinalPlan { .. } | RequestKind::Escalation => true,
        RequestKind::Draft { target, .. } => *target != ApprovalTarget::Pattern,
        _ => false,
    }
}
