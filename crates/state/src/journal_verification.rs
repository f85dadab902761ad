//! Whether a journal is whole: numbers without gaps, time that does not run back, outcomes that have their intent.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use serde::Serialize;

use super::SessionState;
use super::execution_result::ExecutionResult;
use planwright_model::event::{AgentEvent, CallEvent, Event, Record};
use planwright_model::{CallId, Digest, Seq, TaskId};

/// How many problems are named before the rest is only counted.
const MAX_NAMED_PROBLEMS: usize = 50;

/// What a check of one session found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JournalVerification {
    pub events: u64,
    /// One sentence each; empty if all is well.
    pub problems: Vec<String>,
    /// The content hash of every trace, by its id.
    pub traces: BTreeMap<String, Digest>,
}

impl JournalVerification {
    /// Checks all records of a session, in their order.
    pub fn verify_records(records: &[Record]) -> Self {
        let mut checking = JournalCheck::default();
        for record in records {
            checking.apply(record);
        }
        let mut problems = checking.into_problems();
        if problems.len() > MAX_NAMED_PROBLEMS {
            let more = problems.len() - MAX_NAMED_PROBLEMS;
            problems.truncate(MAX_NAMED_PROBLEMS);
            problems.push(format!("… and {more} more"));
        }
        let traces = ExecutionResult::from_records(records).react_traces;
        Self {
            events: records.len() as u64,
            problems,
            traces: traces
                .iter()
                .filter_map(|trace| Some((trace.trace_id.clone(), Digest::from_value(trace).ok()?)))
                .collect(),
        }
    }
}

#[derive(Default)]
struct JournalCheck {
    state: SessionState,
    last: Option<(Seq, Timestamp)>,
    open: BTreeSet<CallId>,
    closed: BTreeSet<CallId>,
    tokens: u64,
    /// What the sessions of the person's own agents have reported, by task.
    reported: HashMap<TaskId, u64>,
    problems: Vec<String>,
}

impl JournalCheck {
    fn apply(&mut self, record: &Record) {
        let expected = self.last.map_or(Seq(1), |(seq, _)| seq.next());
        if record.seq != expected {
            self.add_problem(format!("expected event {expected}, found {}", record.seq));
        }
        if let Some((_, before)) = self.last
            && record.at < before
        {
            self.add_problem(format!("event {} is earlier than the one before it", record.seq));
        }
        self.last = Some((record.seq, record.at));
        match &record.event {
            Event::Call(event) => self.check_call(event, record.seq),
            Event::Agent(
                AgentEvent::ModelAnswered { tokens, .. } | AgentEvent::ModelFailed { tokens, .. },
            ) => self.tokens = self.tokens.saturating_add(*tokens),
            // A session reports what it has used in all; a new session begins at nothing.
            Event::Agent(AgentEvent::SessionOpened { task, session, .. }) if !session.loaded => {
                self.reported.remove(task);
            }
            // The task continues the session of the try that was picked.
            Event::Agent(AgentEvent::CandidatePicked { task, candidate, .. }) => {
                let before = self.reported.get(candidate).copied().unwrap_or_default();
                self.reported.insert(task.clone(), before);
            }
            Event::Agent(AgentEvent::UsageReported { task, tokens: Some(tokens), .. }) => {
                let before = self.reported.entry(task.clone()).or_default();
                self.tokens = self.tokens.saturating_add(tokens.saturating_sub(*before));
                *before = (*before).max(*tokens);
            }
            _ => {}
        }
        self.state.apply(record);
    }

    fn check_call(&mut self, event: &CallEvent, seq: Seq) {
        let call = event.call_id();
        match event {
            CallEvent::Intended { .. } => {
                if !self.open.insert(call.clone()) {
                    self.add_problem(format!("event {seq} announces {call} a second time"));
                }
            }
            CallEvent::Spawned { .. } | CallEvent::Output { .. } | CallEvent::Spooled { .. } => {
                if !self.open.contains(call) {
                    self.add_problem(format!(
                        "event {seq} is about {call}, which was not under way"
                    ));
                }
            }
            CallEvent::Concluded { usage, .. } => {
                if self.open.remove(call) {
                    self.closed.insert(call.clone());
                    self.tokens = self.tokens.saturating_add(usage.tokens);
                } else if self.closed.contains(call) {
                    self.add_problem(format!("event {seq} is a second outcome of {call}"));
                } else {
                    self.add_problem(format!(
                        "event {seq} is the outcome of {call}, which never began"
                    ));
                }
            }
        }
    }

    fn add_problem(&mut self, words: String) {
        self.problems.push(words);
    }

    fn into_problems(mut self) -> Vec<String> {
        if self.tokens != self.state.totals.tokens {
            let (sum, total) = (self.tokens, self.state.totals.tokens);
            self.add_problem(format!("the steps add up to {sum} tokens, the total is {total}"));
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
            record(4, 8, CallEvent::concluded_without_output(call, CallOutcome::Cancelled)),
        ];
        let found = JournalVerification::verify_records(&records).problems;
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0], "expected event 2, found 3");
        assert!(found[1].contains("earlier") && found[2].contains("never began"));
        assert!(JournalVerification::verify_records(&[]).problems.is_empty());
    }
}
