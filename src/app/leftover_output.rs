//! What commands printed after the process that worked on their session was gone: their spools have it, the journal does not.

use std::collections::BTreeMap;

use planwright_model::event::{CallEvent, Event, SpoolRange};
use planwright_model::{SessionId, TaskId};
use planwright_spool::{SpoolContent, SpoolDirectory, SpoolError};
use planwright_state::{CallInFlight, SessionState};
use planwright_text::{clean_line, truncate_end};

/// The output of commands whose end nobody saw.
#[derive(Debug, Default)]
pub(super) struct LeftoverOutput {
    /// How many lines each printed in all, and the last of them.
    pub(super) last_lines: BTreeMap<TaskId, (u64, String)>,
    /// What the journal lacks.
    pub(super) events: Vec<Event>,
}

impl LeftoverOutput {
    /// Reads the spools of all attempts that were at work.
    pub(super) fn read(spools: &SpoolDirectory, id: &SessionId, state: &SessionState) -> Self {
        let mut found = Self::default();
        for (task, row) in state.tasks.iter() {
            let Some(open) = row.call.as_deref().filter(|_| row.is_at_work()) else { continue };
            if let Err(error) = found.read_call(spools, id, task, open) {
                tracing::warn!(%error, "the output of a call in doubt cannot be read");
            }
        }
        found
    }

    fn read_call(
        &mut self,
        spools: &SpoolDirectory,
        id: &SessionId,
        task: &TaskId,
        open: &CallInFlight,
    ) -> Result<(), SpoolError> {
        let Some(mut reader) = spools.open(id, &open.call, 0)? else { return Ok(()) };
        let (mut lines, mut last) = (0, String::new());
        while let Some(piece) = reader.next_piece()? {
            let SpoolContent::Text { stream, text } = piece.content else { continue };
            lines += text.lines().count() as u64;
            if let Some(line) = text.lines().rfind(|line| !line.trim().is_empty()) {
                last = truncate_end(&clean_line(line), 200).into_owned();
            }
            if piece.offset >= open.spooled.max(SpoolRange::START) {
                let range = SpoolRange { from: piece.offset, to: reader.offset() };
                let event = CallEvent::spooled(open.call.clone(), stream, range, &text);
                self.events.push(event.into());
            }
        }
        if lines >= open.output_lines {
            self.last_lines.insert(task.clone(), (lines, last));
        }
        Ok(())
    }
}
