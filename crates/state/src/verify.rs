//! Whether a journal is whole: numbers without gaps, time that does not run back, outcomes that have their intent.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use super::SessionState;
use super::result::ExecutionResult;
use planwright_model::event::{AgentEvent, CallEvent, Event, Record};
use planwright_model::{CallId, Digest, Seq};

/// How many problems are named before the rest is only counted.
const NAMED: usize = 50;

/// What a check of one session found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verification {
    pub events: u64,
    /// One sentence each; empty if all is well.
    pub problems: Vec<String>,
    /// The content hash of every trace, by its id.
    pub traces: BTreeMap<String, Digest>,
}

impl Verification {
    /// Checks all records of a session, in their order.
    pub fn of(records: &[Record]) -> Self {
        let mut checking = Checking::default();
        for record in records {
            checking.apply(record);
        }
        let mut problems = checking.finish();
        if problems.len() > NAMED {
            let more = problems.len() - NAMED;
            problems.truncate(NAMED);
            problems.push(format!("… and {more} more"));
        }
        let traces = ExecutionResult::of(records).react_traces;
        Self {
            events: records.len() as u64,
            problems,
            traces: traces
                .iter()
                .filter_map(|trace| Some((trace.trace_id.clone(), Digest::of(trace).ok()?)))
                .collect(),
        }
    }
}

#[derive(Default)]
struct Checking {
    state: SessionState,
    last: Option<(Seq, Timestamp)>,
    open: BTreeSet<CallId>,
    closed: BTreeSet<CallId>,
    tokens: u64,
    problems: Vec<String>,
}

impl Checking {
    fn apply(&mut self, record: &Record) {
        let expected = self.last.map_or(Seq(1), |(seq, _)| seq.next());
        if record.seq != expected {
            self.problem(format!("expected event {expected}, found {}", record.seq));
        }
        if let Some((_, before)) = self.last
            && record.at < before
        {
            self.problem(format!("event {} is earlier than the one before it", record.seq));
        }
        self.last = Some((record.seq, record.at));
        match &record.event {
            Event::Call(event) => self.call(event, record.seq),
            Event::Agent(
                AgentEvent::ModelAnswered { tokens, .. } | AgentEvent::ModelFailed { tokens, .. },
            ) => self.tokens = self.tokens.saturating_add(*tokens),
            _ => {}
        }
        self.state.apply(record);
    }

    fn call(&mut self, event: &CallEvent, seq: Seq) {
        let call = event.call();
        match event {
            CallEvent::Intended { .. } => {
                if !self.open.insert(call.clone()) {
                    self.problem(format!("event {seq} announces {call} a second time"));
                }
            }
            CallEvent::Spawned { .. } | CallEvent::Output { .. } => {
                if !self.open.contains(call) {
                    self.problem(format!("event {seq} is about {call}, which was not under way"));
                }
            }
            CallEvent::Concluded { usage, .. } => {
                if self.open.remove(call) {
                    self.closed.insert(call.clone());
                    self.tokens = self.tokens.saturating_add(usage.tokens);
                } else if self.closed.contains(call) {
                    self.problem(format!("event {seq} is a second outcome of {call}"));
                } else {
                    self.problem(format!(
                        "event {seq} is the outcome of {call}, which never began"
                    ));
                }
            }
        }
    }

    fn problem(&mut self, words: String) {
        self.problems.push(words);
    }

    fn finish(mut self) -> Vec<String> {
        if self.tokens != self.state.totals.tokens {
            let (sum, total) = (self.tokens, self.state.totals.tokens);
            self.problem(format!("the steps add up to {sum} tokens, the total is {total}"));
        }
        self.problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::event::{CallOutcome, RunEvent, SessionEvent};

    fn record(seq: u64, second: i64, event: impl Into<Event>) -> Record {
        Record::new(Seq(seq), Timestamp::from_second(second).unwrap(), event)
    }

    #[test]
    fn gaps_time_and_orphans_are_named() {
        let call = CallId { task: "a".into(), attempt: 1, step: 1 };
        let records = [
            record(1, 9, SessionEvent::AnomalyNoted { what: "x".into() }),
            record(3, 8, RunEvent::Continued),
            record(4, 8, CallEvent::closed(call, CallOutcome::Cancelled)),
        ];
        let found = Verification::of(&records).problems;
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0], "expected event 2, found 3");
        assert!(found[1].contains("earlier") && found[2].contains("never began"));
        assert!(Verification::of(&[]).problems.is_empty());
    }
}
