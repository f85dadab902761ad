//! Events on their way into the store: each is decoded, checked against the earlier ones, and folded.

use jiff::Timestamp;

use super::import_limits::ImportError;
use super::jsonl::ExportReader;
use crate::{ImportedEvent, JournalRow, SessionEventSource, SessionSummary};
use planwright_model::event::{Event, PlanEvent, Record};
use planwright_plan::plan_file::{MAX_LINKS, MAX_TASKS};
use planwright_state::replay::checkpoint_interval;
use planwright_state::{Checkpoint, SessionState};

/// The events of an export, checked as they are read.
#[derive(Debug)]
pub struct CheckedExport {
    export: ExportReader,
    fold: ImportFold,
}

impl CheckedExport {
    pub(super) fn new(export: ExportReader) -> Self {
        Self { export, fold: ImportFold::default() }
    }
}

impl SessionEventSource for CheckedExport {
    type Error = ImportError;

    fn next_event(&mut self) -> Result<Option<ImportedEvent>, ImportError> {
        let Some(row) = self.export.next_row()? else { return Ok(None) };
        let fold = self.fold.apply_row(&row)?;
        Ok(Some(ImportedEvent { row, fold }))
    }

    fn summary(&self) -> SessionSummary {
        self.fold.session_summary()
    }
}

/// Events converted from another program's file.
#[derive(Debug)]
pub struct ImportedSession {
    records: std::vec::IntoIter<Record>,
    fold: ImportFold,
}

impl ImportedSession {
    pub fn new(records: Vec<Record>) -> Self {
        Self { records: records.into_iter(), fold: ImportFold::default() }
    }
}

impl SessionEventSource for ImportedSession {
    type Error = ImportError;

    fn next_event(&mut self) -> Result<Option<ImportedEvent>, ImportError> {
        let Some(record) = self.records.next() else { return Ok(None) };
        let payload = record
            .event
            .encode()
            .map_err(|error| ImportError::Other(format!("an event cannot be written: {error}")))?;
        let row = JournalRow {
            seq: record.seq,
            at: record.at,
            kind: record.event.kind(),
            task: record.event.task_id().map(ToString::to_string),
            payload,
        };
        let fold = self.fold.apply_row(&row)?;
        Ok(Some(ImportedEvent { row, fold }))
    }

    fn summary(&self) -> SessionSummary {
        self.fold.session_summary()
    }
}

/// The fold of the events so far, for checkpoints and the list of sessions.
#[derive(Debug, Default)]
struct ImportFold {
    state: SessionState,
    last: Option<Timestamp>,
    since_checkpoint: u64,
}

impl ImportFold {
    fn apply_row(&mut self, row: &JournalRow) -> Result<Option<Vec<u8>>, ImportError> {
        let event_error =
            |problem: String| ImportError::Other(format!("event {}: {problem}", row.seq));
        if self.last.is_some_and(|last| row.at < last) {
            return Err(event_error("is earlier than the one before it".to_owned()));
        }
        self.last = Some(row.at);
        let event = Event::decode(&row.payload).map_err(|error| event_error(error.to_string()))?;
        if event.kind() != row.kind {
            return Err(event_error(format!("says to be {} and is {}", row.kind, event.kind())));
        }
        if event.task_id().map(planwright_model::TaskId::as_str) != row.task.as_deref() {
            return Err(event_error("is about another task than it says".to_owned()));
        }
        if let Event::Plan(PlanEvent::Proposed { plan, .. }) = &event {
            let links: usize = plan.tasks.iter().map(|task| task.dependencies.len()).sum();
            if plan.tasks.len() > MAX_TASKS || links > MAX_LINKS {
                return Err(event_error("holds a plan larger than any may be".to_owned()));
            }
        }
        self.state.apply(&Record { seq: row.seq, at: row.at, event });
        self.since_checkpoint += 1;
        if self.since_checkpoint < checkpoint_interval(self.state.tasks.len()) {
            return Ok(None);
        }
        self.since_checkpoint = 0;
        let bytes = Checkpoint::encode_state(&self.state);
        bytes.map(Some).map_err(|error| event_error(error.to_string()))
    }

    fn session_summary(&self) -> SessionSummary {
        let state = &self.state;
        let counts = state.tasks.status_counts();
        SessionSummary {
            title: state.session.title.clone(),
            goal: state.session.goal.clone().unwrap_or_default(),
            workspace: state.session.workspace.clone(),
            status: state.status().label().to_owned(),
            pattern: String::new(),
            done: counts.done,
            total: counts.total(),
            cost: state.totals.cost,
            tokens: state.totals.tokens,
            // Requests of an imported session cannot be answered here.
            open_requests: 0,
        }
    }
}
