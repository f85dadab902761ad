//! What an agent reports about the tasks of its approved plan.

use crate::ticket_desk::{DeskError, TicketDesk};
use planwright_model::event::Command;
use planwright_model::{ProgressReport, SessionId};

/// The most pieces of evidence of one report, and the longest of them in bytes.
const MAX_EVIDENCE: usize = 20;
const MAX_EVIDENCE_BYTES: usize = 4 * 1024;

/// How many tasks of a plan are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedProgress {
    pub done: u32,
    pub total: u32,
}

impl TicketDesk {
    /// The ticket that an agent names.
    pub fn ticket_id(&self, ticket: &str) -> Result<SessionId, DeskError> {
        Self::parse_ticket(&self.store()?, ticket)
    }

    /// Keeps a report. It is refused unless its hash is the one that the person approved.
    pub async fn report_progress(
        &self,
        ticket: &str,
        mut report: ProgressReport,
    ) -> Result<ReportedProgress, DeskError> {
        if report.evidence.len() > MAX_EVIDENCE {
            let what = format!("a report has at most {MAX_EVIDENCE} pieces of evidence");
            return Err(DeskError::BadArgument(what));
        }
        if report.evidence.iter().any(|text| text.len() > MAX_EVIDENCE_BYTES) {
            let what = "a piece of evidence is longer than 4 kB; name a file instead".to_owned();
            return Err(DeskError::BadArgument(what));
        }
        for text in &mut report.evidence {
            *text = self.redact(planwright_text::clean_text(text).trim());
        }
        report.evidence.retain(|text| !text.is_empty());
        let id = self.ticket_id(ticket)?;
        let state = self.apply(&id, &Command::ReportProgress { report }).await?;
        let counts = state.tasks.work_counts();
        Ok(ReportedProgress { done: counts.done, total: counts.total() })
    }
}
