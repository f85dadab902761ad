//! Events on their way into the store: each is decoded, checked against the ones before it, and folded.

use jiff::Timestamp;

use super::jsonl::Export;
use super::limits::ImportError;
use crate::{Arrival, Incoming, Row, SessionSummary};
use planwright_model::event::{Event, PlanEvent, Record};
use planwright_plan::plan_file::{MAX_LINKS, MAX_TASKS};
use planwright_state::replay::checkpoint_interval;
use planwright_state::{Checkpoint, SessionState};

/// The events of an export, checked as they come.
#[derive(Debug)]
pub struct Checked {
    export: Export,
    fold: Fold,
}

impl Checked {
    pub(super) fn new(export: Export) -> Self {
        Self { export, fold: Fold::default() }
    }
}

impl Incoming for Checked {
    type Error = ImportError;

    fn next(&mut self) -> Result<Option<Arrival>, ImportError> {
        let Some(row) = self.export.next_row()? else { return Ok(None) };
        let fold = self.fold.take(&row)?;
        Ok(Some(Arrival { row, fold }))
    }

    fn summary(&self) -> SessionSummary {
        self.fold.summary()
    }
}

/// Events that were made of another program's file.
#[derive(Debug)]
pub struct Made {
    records: std::vec::IntoIter<Record>,
    fold: Fold,
}

impl Made {
    pub fn new(records: Vec<Record>) -> Self {
        Self { records: records.into_iter(), fold: Fold::default() }
    }
}

impl Incoming for Made {
    type Error = ImportError;

    fn next(&mut self) -> Result<Option<Arrival>, ImportError> {
        let Some(record) = self.records.next() else { return Ok(None) };
        let payload = record
            .event
            .encode()
            .map_err(|error| ImportError::Other(format!("an event cannot be written: {error}")))?;
        let row = Row {
            seq: record.seq,
            at: record.at,
            kind: record.event.kind(),
            task: record.event.task().map(ToString::to_string),
            payload,
        };
        let fold = self.fold.take(&row)?;
        Ok(Some(Arrival { row, fold }))
    }

    fn summary(&self) -> SessionSummary {
        self.fold.summary()
    }
}

/// The fold of what has come so far, for checkpoints and the list of sessions.
#[derive(Debug, Default)]
struct Fold {
    state: SessionState,
    last: Option<Timestamp>,
    since_checkpoint: u64,
}

impl Fold {
    fn take(&mut self, row: &Row) -> Result<Option<Vec<u8>>, ImportError> {
        let refuse = |what: String| ImportError::Other(format!("event {}: {what}", row.seq));
        if self.last.is_some_and(|last| row.at < last) {
            return Err(refuse("is earlier than the one before it".to_owned()));
        }
        self.last = Some(row.at);
        let event = Event::decode(&row.payload).map_err(|error| refuse(error.to_string()))?;
        if event.kind() != row.kind {
            return Err(refuse(format!("says to be {} and is {}", row.kind, event.kind())));
        }
        if event.task().map(planwright_model::TaskId::as_str) != row.task.as_deref() {
            return Err(refuse("is about another task than it says".to_owned()));
        }
        if let Event::Plan(PlanEvent::Proposed { plan, .. }) = &event {
            let links: usize = plan.tasks.iter().map(|task| task.dependencies.len()).sum();
            if plan.tasks.len() > MAX_TASKS || links > MAX_LINKS {
                return Err(refuse("holds a plan larger than any may be".to_owned()));
            }
        }
        self.state.apply(&Record { seq: row.seq, at: row.at, event });
        self.since_checkpoint += 1;
        if self.since_checkpoint < checkpoint_interval(self.state.tasks.len()) {
            return Ok(None);
        }
        self.since_checkpoint = 0;
        let bytes = Checkpoint::encode(&self.state);
        bytes.map(Some).map_err(|error| refuse(error.to_string()))
    }

    fn summary(&self) -> SessionSummary {
        let state = &self.state;
        let counts = state.tasks.counts();
        SessionSummary {
            title: state.session.title.clone(),
            goal: state.session.goal.clone().unwrap_or_default(),
            workspace: state.session.workspace.clone(),
            status: state.status().word().to_owned(),
            pattern: String::new(),
            done: counts.done,
            total: counts.total(),
            cost: state.totals.cost,
            tokens: state.totals.tokens,
            // Nobody can answer here what was asked elsewhere.
            open_requests: 0,
        }
    }
}
