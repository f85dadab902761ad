//! The end of a session in this process.

use tokio_util::sync::CancellationToken;

use super::commit::journal_row;
use super::{Driver, EngineError};
use planwright_model::event::{CloseReason, Event, Record, RunEvent, SessionEvent};
use planwright_state::RunPhase;
use planwright_store::JournalBatch;

impl Driver {
    /// Writes what ended a run that panicked. What was decided and not yet sent to the journal never happened.
    pub(super) async fn record_crash(&mut self, message: &str) -> Result<(), EngineError> {
        let at = self.state.at.unwrap_or_default();
        let why = format!("the coordinator panicked: {message}");
        let events: [Event; 2] = [
            SessionEvent::AnomalyNoted { what: why.clone() }.into(),
            RunEvent::Interrupted { why }.into(),
        ];
        let mut seq = self.sent;
        let rows = events.into_iter().map(|event| {
            seq = seq.next();
            journal_row(&Record::new(seq, at, event))
        });
        let batch = JournalBatch::from_rows(rows.collect::<Result<Vec<_>, _>>()?);
        let head = self.journal.append(batch).await?.await?;
        self.published.send_replace(head);
        Ok(())
    }

    pub(super) fn close(&mut self, why: CloseReason) {
        if self.closing.is_none() {
            if matches!(why, CloseReason::Quit | CloseReason::Signal { .. }) {
                self.end_all_leftovers();
            }
            self.closing = Some(why);
            self.running.values().for_each(CancellationToken::cancel);
            self.cancel_stage();
        }
    }

    /// Whether the session is to be closed and nothing stands in the way any more.
    pub(super) fn is_ready_to_close(&self) -> bool {
        self.closing.is_some() && self.running.is_empty() && self.state.session.closed.is_none()
    }

    pub(super) fn record_close(&mut self) {
        if !self.is_ready_to_close() {
            return;
        }
        let Some(why) = self.closing.clone() else { return };
        if why == CloseReason::NeedsPerson {
            self.note_no_response();
        }
        // A run that the person paused stays paused.
        if self.state.run.phase == RunPhase::Running {
            let words = match &why {
                CloseReason::Quit => "you quit".to_owned(),
                CloseReason::Finished => "nothing more to do here".to_owned(),
                CloseReason::NeedsPerson => "it waits for you".to_owned(),
                CloseReason::Signal { signal } => signal.clone(),
            };
            self.record(RunEvent::Interrupted { why: words });
        }
        self.record(SessionEvent::Closed(why));
    }

    pub(super) fn is_done(&self) -> bool {
        self.closing.is_some()
            && self.running.is_empty()
            && self.outbox.is_empty()
            && self.unacknowledged.is_empty()
            && self.state.session.closed.is_some()
    }
}
