//! Looking over all sessions: finding steps by their words and what they were.

use std::ops::ControlFlow;

use jiff::Timestamp;

use crate::{Reader, WordQuery};
use planwright_model::event::{AgentEvent, CallEvent, CallOutcome, Event, Record, TaskEvent};
use planwright_model::{MicroDollars, SessionId};
use planwright_state::replay::{SearchHit, SourceError};
use planwright_state::trace::{EntryKind, TraceEntry, prdv, searchable};

/// Whether something went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    Well,
    Wrong,
}

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    pub words: WordQuery,
    /// The task's id, or a pattern with `*`.
    pub task: Option<String>,
    pub kind: Option<EntryKind>,
    pub tool: Option<String>,
    /// The part of a loop that a step belongs to: plan, research, debate or validate.
    pub role: Option<String>,
    pub outcome: Option<Went>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Steps that cost at least this.
    pub min_cost: Option<MicroDollars>,
    /// How many hits are enough.
    pub limit: usize,
}

impl Search {
    /// The hits, the newest first.
    pub fn run(&self, reader: &Reader) -> Result<Vec<SearchHit>, SourceError> {
        let mut hits = Vec::new();
        let found = reader.find(&self.words, |session, row| {
            if let Ok(event) = Event::decode(&row.payload) {
                let record = Record { seq: row.seq, at: row.at, event };
                hits.extend(self.hit(session, &record));
            }
            if hits.len() < self.limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        found.map_err(|error| SourceError(Box::new(error)))?;
        Ok(hits)
    }

    fn hit(&self, session: &SessionId, record: &Record) -> Option<SearchHit> {
        let entry = TraceEntry::of(record)?;
        let fits = self.since.is_none_or(|since| record.at >= since)
            && self.until.is_none_or(|until| record.at < until)
            && self.kind.is_none_or(|kind| kind == entry.kind)
            && self.task.as_deref().is_none_or(|pattern| {
                entry.task.as_ref().is_some_and(|task| fits_pattern(pattern, task.as_str()))
            })
            && self.tool.as_deref().is_none_or(|tool| tool_of(&record.event) == Some(tool))
            && self.role.as_deref().is_none_or(|role| prdv(&record.event) == Some(role))
            && self.outcome.is_none_or(|went| went_of(&record.event) == Some(went))
            && self.min_cost.is_none_or(|least| cost_of(&record.event) >= Some(least));
        if !fits || !self.words.matches(&searchable(record)?) {
            return None;
        }
        Some(SearchHit {
            session: session.clone(),
            seq: record.seq,
            at: record.at,
            task: entry.task,
            kind: entry.kind.word(),
            text: entry.text,
        })
    }
}

fn tool_of(event: &Event) -> Option<&str> {
    match event {
        Event::Call(CallEvent::Intended { tool, .. }) => Some(tool),
        Event::Agent(event) => event.step().and_then(|step| step.tool_used.as_deref()),
        _ => None,
    }
}

fn went_of(event: &Event) -> Option<Went> {
    match event {
        Event::Task(TaskEvent::Completed { .. })
        | Event::Call(CallEvent::Concluded { outcome: CallOutcome::Exited { code: 0 }, .. }) => {
            Some(Went::Well)
        }
        Event::Task(TaskEvent::Failed { .. } | TaskEvent::Skipped { .. })
        | Event::Call(CallEvent::Concluded { .. })
        | Event::Agent(AgentEvent::ModelFailed { .. }) => Some(Went::Wrong),
        _ => None,
    }
}

fn cost_of(event: &Event) -> Option<MicroDollars> {
    match event {
        Event::Call(CallEvent::Concluded { usage, .. }) => Some(usage.cost),
        Event::Agent(
            AgentEvent::ModelAnswered { cost, .. } | AgentEvent::ModelFailed { cost, .. },
        ) => *cost,
        _ => None,
    }
}

/// Whether a name fits a pattern in which `*` stands for anything.
pub fn fits_pattern(pattern: &str, name: &str) -> bool {
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
    fn a_star_stands_for_anything() {
        for (pattern, name, fits) in [
            ("build", "build", true),
            ("build", "builder", false),
            ("build*", "builder", true),
            ("*er", "builder", true),
            ("b*ld*r", "builder", true),
            ("b*x*r", "builder", false),
            ("*", "", true),
        ] {
            assert_eq!(fits_pattern(pattern, name), fits, "{pattern} {name}");
        }
    }
}
