//! Searches all sessions for steps by their words and attributes.

use std::ops::ControlFlow;

use jiff::Timestamp;

use super::index::decode_event;
use crate::{StoreReader, WordQuery};
use planwright_model::event::{AgentEvent, CallEvent, CallOutcome, Event, Record, TaskEvent};
use planwright_model::{MicroDollars, SessionId};
use planwright_state::replay::{RecordSourceError, SearchHit};
use planwright_state::trace::{TraceEntry, TraceEntryKind, prdv_phase, searchable_text};

/// Filters by success or failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcomeFilter {
    Succeeded,
    Failed,
}

/// The criteria of a search.
#[derive(Clone, Debug, Default)]
pub struct StepSearch {
    pub words: WordQuery,
    /// The task's id, or a pattern with `*`.
    pub task: Option<String>,
    pub kind: Option<TraceEntryKind>,
    pub tool: Option<String>,
    /// The phase of the loop a step belongs to: plan, research, debate or validate.
    pub role: Option<String>,
    pub outcome: Option<StepOutcomeFilter>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Steps that cost at least this much.
    pub min_cost: Option<MicroDollars>,
    /// The most hits to return.
    pub limit: usize,
}

impl StepSearch {
    /// Returns the hits, newest first.
    pub fn run(&self, reader: &StoreReader) -> Result<Vec<SearchHit>, RecordSourceError> {
        let mut hits = Vec::new();
        let found = reader.find_events(&self.words, |session, row| {
            if let Some(event) = decode_event(&row) {
                let record = Record { seq: row.seq, at: row.at, event };
                hits.extend(self.match_record(session, &record));
            }
            if hits.len() < self.limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        found.map_err(|error| RecordSourceError(Box::new(error)))?;
        Ok(hits)
    }

    fn match_record(&self, session: &SessionId, record: &Record) -> Option<SearchHit> {
        let entry = TraceEntry::from_record(record)?;
        let fits = self.since.is_none_or(|since| record.at >= since)
            && self.until.is_none_or(|until| record.at < until)
            && self.kind.is_none_or(|kind| kind == entry.kind)
            && self.task.as_deref().is_none_or(|pattern| {
                entry.task.as_ref().is_some_and(|task| matches_pattern(pattern, task.as_str()))
            })
            && self.tool.as_deref().is_none_or(|tool| event_tool(&record.event) == Some(tool))
            && self.role.as_deref().is_none_or(|role| {
                prdv_phase(&record.event).is_some_and(|phase| phase.as_str() == role)
            })
            && self.outcome.is_none_or(|went| event_outcome(&record.event) == Some(went))
            && self.min_cost.is_none_or(|least| event_cost(&record.event) >= Some(least));
        if !fits || !self.words.matches(&searchable_text(record)?) {
            return None;
        }
        Some(SearchHit {
            session: session.clone(),
            seq: record.seq,
            at: record.at,
            task: entry.task,
            kind: entry.kind.label(),
            text: entry.text,
        })
    }
}

fn event_tool(event: &Event) -> Option<&str> {
    match event {
        Event::Call(CallEvent::Intended { tool, .. }) => Some(tool),
        Event::Agent(event) => event.react_step().and_then(|step| step.tool_used.as_deref()),
        _ => None,
    }
}

fn event_outcome(event: &Event) -> Option<StepOutcomeFilter> {
    match event {
        Event::Task(TaskEvent::Completed { .. })
        | Event::Call(CallEvent::Concluded { outcome: CallOutcome::Exited { code: 0 }, .. }) => {
            Some(StepOutcomeFilter::Succeeded)
        }
        Event::Task(TaskEvent::Failed { .. } | TaskEvent::Skipped { .. })
        | Event::Call(CallEvent::Concluded { .. })
        | Event::Agent(AgentEvent::ModelFailed { .. }) => Some(StepOutcomeFilter::Failed),
        _ => None,
    }
}

fn event_cost(event: &Event) -> Option<MicroDollars> {
    match event {
        Event::Call(CallEvent::Concluded { usage, .. }) => Some(usage.cost),
        Event::Agent(
            AgentEvent::ModelAnswered { cost, .. } | AgentEvent::ModelFailed { cost, .. },
        ) => *cost,
        _ => None,
    }
}

/// Whether a name matches a pattern in which `*` stands for any text.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_anything() {
        for (pattern, name, fits) in [
            ("build", "build", true),
            ("build", "builder", false),
            ("build*", "builder", true),
            ("*er", "builder", true),
            ("b*ld*r", "builder", true),
            ("b*x*r", "builder", false),
            ("*", "", true),
        ] {
            assert_eq!(matches_pattern(pattern, name), fits, "{pattern} {name}");
        }
    }
}
