//! The past of one session: records by number, states by number, both cached around where one looks.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{PrintedOutput, PrintedPiece, RecordSource, RecordSourceError};
use crate::timeline::Timeline;
use crate::{Checkpoint, SessionState};
use planwright_model::event::{CallEvent, Record, SpoolRange};
use planwright_model::{CallId, Seq};

/// A fold of a small plan is stored this often, so that a seek folds about this many records at most.
const CHECKPOINT_INTERVAL: u64 = 64;

/// How many events pass between two stored folds. A fold is as large as its plan, so a larger plan is folded less often:
/// storing costs two tasks' rows an event at most, and a seek folds about half as much as it decodes.
pub fn checkpoint_interval(tasks: usize) -> u64 {
    CHECKPOINT_INTERVAL.max(tasks as u64 / 2)
}

/// Records are fetched in runs of this many.
const PAGE: u64 = 256;
/// How many pages are kept; enough for a screen, its surroundings and a jump back.
const PAGES: usize = 24;
/// How many states are kept.
const STATES: usize = 8;

/// The page that an event is on.
fn page_of(seq: Seq) -> u64 {
    seq.0.saturating_sub(1) / PAGE
}

/// What a call printed, in order.
type PrintedPieces = Arc<[PrintedPiece]>;

/// A stretch of the output of a call as it was read.
type SpooledStretch = (CallId, SpoolRange, PrintedPieces);

/// Reads any moment of a session.
pub struct History {
    source: Box<dyn RecordSource>,
    pages: VecDeque<(u64, Vec<Record>)>,
    /// The stretch of output that was read last: its lines are asked for one after the other.
    output: Option<SpooledStretch>,
    states: VecDeque<Arc<SessionState>>,
}

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("History").field("pages", &self.pages.len()).finish_non_exhaustive()
    }
}

impl History {
    pub fn new(source: impl RecordSource + 'static) -> Self {
        Self {
            source: Box::new(source),
            pages: VecDeque::new(),
            output: None,
            states: VecDeque::new(),
        }
    }

    /// The number of the last record.
    pub fn head_seq(&mut self) -> Result<Seq, RecordSourceError> {
        self.source.head_seq()
    }

    /// One record, or `None` past the end.
    pub fn record_at(&mut self, seq: Seq) -> Result<Option<Record>, RecordSourceError> {
        if seq == Seq::START {
            return Ok(None);
        }
        let number = page_of(seq);
        let offset = ((seq.0 - 1) % PAGE) as usize;
        let page = self.load_page(number, offset)?;
        Ok(page.get(offset).cloned())
    }

    /// What a call printed in a stretch of its output spool, in order. `None` if there is no spool.
    fn read_output(
        &mut self,
        call: &CallId,
        range: SpoolRange,
    ) -> Result<Option<PrintedPieces>, RecordSourceError> {
        if let Some((known, at, pieces)) = &self.output
            && known == call
            && *at == range
        {
            return Ok(Some(Arc::clone(pieces)));
        }
        let Some(pieces) = self.source.read_output(call, range)? else { return Ok(None) };
        let pieces: PrintedPieces = pieces.into();
        self.output = Some((call.clone(), range, Arc::clone(&pieces)));
        Ok(Some(pieces))
    }

    /// All that an event about a call adds to its output: from its spool where the journal has only the last lines. Where the
    /// spool dropped it, how much that was; where there is no spool any more, what the journal has.
    pub fn printed_output(
        &mut self,
        event: &CallEvent,
    ) -> Result<Option<PrintedOutput>, RecordSourceError> {
        if let CallEvent::Spooled { call, stream, range, .. } = event
            && let Some(pieces) = self.read_output(call, *range)?
        {
            return Ok(Some(PrintedOutput::from_pieces(*stream, &pieces)));
        }
        let printed = event.printed_text();
        Ok(printed.map(|(stream, text)| PrintedOutput::from_text(stream, text.to_owned())))
    }

    /// The records that follow `seq` up to `head`, at most a page of them and none of them kept: for whoever reads a
    /// session once, as it is written. Empty at the end.
    pub fn records_after(&mut self, seq: Seq, head: Seq) -> Result<Vec<Record>, RecordSourceError> {
        let last = head.min(Seq(seq.0 + PAGE));
        if last <= seq { Ok(Vec::new()) } else { self.source.read_records(seq.next()..=last) }
    }

    fn has_page(&self, seq: Seq) -> bool {
        self.pages.iter().any(|(number, _)| *number == page_of(seq))
    }

    /// A plan that lies far back is read alone; one on the page that is looked at comes with it.
    fn plan_record(&mut self, plan: Seq, seq: Seq) -> Result<Option<Record>, RecordSourceError> {
        if self.has_page(plan) || page_of(plan) == page_of(seq) {
            return self.record_at(plan);
        }
        Ok(self.source.read_records(plan..=plan)?.pop())
    }

    /// A page that holds `offset` if the journal does. One that was cut off by the end of a live journal is continued.
    fn load_page(&mut self, number: u64, offset: usize) -> Result<&[Record], RecordSourceError> {
        let kept = self.pages.iter().position(|(kept, _)| *kept == number);
        let kept = kept.and_then(|at| self.pages.remove(at));
        let mut page = kept.map_or_else(Vec::new, |(_, page)| page);
        if page.len() <= offset {
            let next = Seq(number * PAGE + 1 + page.len() as u64);
            page.extend(self.source.read_records(next..=Seq((number + 1) * PAGE))?);
        }
        self.pages.push_front((number, page));
        self.pages.truncate(PAGES);
        Ok(self.pages.front().map_or(&[], |(_, page)| page))
    }

    /// The state after an event: the nearest fold at hand plus the records since.
    pub fn state_at(&mut self, seq: Seq) -> Result<Arc<SessionState>, RecordSourceError> {
        if let Some(known) = self.states.iter().find(|state| state.seq == seq) {
            return Ok(Arc::clone(known));
        }
        let near = self.states.iter().filter(|state| state.seq < seq).max_by_key(|state| state.seq);
        let mut state = match near {
            Some(near) if seq.0 - near.seq.0 <= CHECKPOINT_INTERVAL => SessionState::clone(near),
            _ => self.restore_checkpoint(seq)?,
        };
        // A jump folds only what it needs; a page around it is read when somebody looks at the steps there. Whoever asks
        // for the end of a short journal does look, and a plan takes longest to decode.
        let alone = page_of(state.seq.next()) != page_of(seq) || state.seq > Seq::START;
        if state.seq < seq && alone && !self.has_page(state.seq.next()) {
            for record in self.source.read_records(state.seq.next()..=seq)? {
                state.apply(&record);
            }
        }
        while state.seq < seq {
            let Some(record) = self.record_at(state.seq.next())? else { break };
            state.apply(&record);
        }
        let state = Arc::new(state);
        self.states.push_front(Arc::clone(&state));
        self.states.truncate(STATES);
        Ok(state)
    }

    /// The newest stored fold at or before an event. One that cannot be used is passed over: the journal has it all.
    fn restore_checkpoint(&mut self, seq: Seq) -> Result<SessionState, RecordSourceError> {
        let Some(bytes) = self.source.latest_checkpoint(seq)? else {
            return Ok(SessionState::default());
        };
        let Ok(checkpoint) = Checkpoint::decode(&bytes) else { return Ok(SessionState::default()) };
        let mut failed = None;
        let beside = self.states.front().cloned();
        let restored = checkpoint.restore_state_sharing(beside.as_deref(), |plan| {
            self.plan_record(plan, seq).unwrap_or_else(|error| {
                failed = Some(error);
                None
            })
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(restored.unwrap_or_default()),
        }
    }

    /// The index over everything that is journaled so far.
    pub fn build_timeline(&mut self) -> Result<Timeline, RecordSourceError> {
        let head = self.head_seq()?;
        self.source.build_timeline(head)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::MemorySource;
    use super::*;
    use planwright_model::event::arbitrary::journal;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_moment_equals_the_fold_up_to_it(
            records in journal(600),
            every in 5..90usize,
            jumps in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
        ) {
            let stored = (every..records.len())
                .step_by(every)
                .map(|cut| (records[cut - 1].seq, Checkpoint::encode_state(&SessionState::from_records(&records[..cut])).unwrap()))
                .collect();
            let mut history = History::new(MemorySource::new(records.clone()).with_checkpoints(stored));
            for jump in jumps {
                let cut = jump.index(records.len() + 1);
                let state = history.state_at(Seq(cut as u64)).unwrap();
                prop_assert_eq!(&*state, &SessionState::from_records(&records[..cut]));
            }
        }
    }

    /// Counts how often each record is read.
    struct Counting(MemorySource, std::sync::Arc<std::sync::Mutex<Vec<u32>>>);

    impl RecordSource for Counting {
        fn head_seq(&mut self) -> Result<Seq, RecordSourceError> {
            self.0.head_seq()
        }

        fn read_records(
            &mut self,
            range: std::ops::RangeInclusive<Seq>,
        ) -> Result<Vec<Record>, RecordSourceError> {
            let records = self.0.read_records(range)?;
            let mut counts = self.1.lock().unwrap();
            for record in &records {
                counts[record.seq.0 as usize] += 1;
            }
            Ok(records)
        }

        fn latest_checkpoint(&mut self, at: Seq) -> Result<Option<Vec<u8>>, RecordSourceError> {
            self.0.latest_checkpoint(at)
        }
    }

    #[test]
    fn the_end_of_a_short_journal_and_its_steps_are_read_once() {
        let anomaly = |seq| {
            let event = planwright_model::event::SessionEvent::AnomalyNoted {
                what: format!("event {seq}"),
            };
            Record::new(Seq(seq), jiff::Timestamp::UNIX_EPOCH, event)
        };
        for length in [1, 200, PAGE] {
            let records: Vec<Record> = (1..=length).map(anomaly).collect();
            let counts = Arc::new(std::sync::Mutex::new(vec![0; length as usize + 1]));
            let source = Counting(MemorySource::new(records.clone()), Arc::clone(&counts));
            let mut history = History::new(source);
            assert_eq!(
                *history.state_at(Seq(length)).unwrap(),
                SessionState::from_records(&records)
            );
            assert_eq!(history.record_at(Seq(length)).unwrap().as_ref(), records.last());
            assert!(counts.lock().unwrap()[1..].iter().all(|count| *count == 1));
        }
    }

    /// A journal that somebody writes to; counts the records that are read.
    #[derive(Clone, Default)]
    struct Growing(Arc<std::sync::Mutex<(Vec<Record>, usize)>>);

    impl RecordSource for Growing {
        fn head_seq(&mut self) -> Result<Seq, RecordSourceError> {
            Ok(Seq(self.0.lock().unwrap().0.len() as u64))
        }

        fn read_records(
            &mut self,
            range: std::ops::RangeInclusive<Seq>,
        ) -> Result<Vec<Record>, RecordSourceError> {
            let mut inner = self.0.lock().unwrap();
            let found: Vec<Record> =
                inner.0.iter().filter(|record| range.contains(&record.seq)).cloned().collect();
            inner.1 += found.len();
            Ok(found)
        }

        fn latest_checkpoint(&mut self, _at: Seq) -> Result<Option<Vec<u8>>, RecordSourceError> {
            Ok(None)
        }
    }

    #[test]
    fn a_growing_journal_is_read_once_however_often_one_looks() {
        let source = Growing::default();
        let mut history = History::new(source.clone());
        for seq in 1..=3 * PAGE / 2 {
            let event = planwright_model::event::SessionEvent::AnomalyNoted {
                what: format!("event {seq}"),
            };
            let record = Record::new(Seq(seq), jiff::Timestamp::UNIX_EPOCH, event);
            assert_eq!(history.record_at(Seq(seq)).unwrap(), None, "not written yet");
            source.0.lock().unwrap().0.push(record.clone());
            assert_eq!(history.record_at(Seq(seq)).unwrap(), Some(record));
        }
        assert_eq!(source.0.lock().unwrap().1 as u64, 3 * PAGE / 2);
        assert!(
            (1..=3 * PAGE / 2)
                .all(|seq| history.record_at(Seq(seq)).unwrap().unwrap().seq.0 == seq)
        );
    }

    #[test]
    fn reading_along_gives_every_record_once_and_keeps_none() {
        let record = |number| {
            let event =
                planwright_model::event::SessionEvent::AnomalyNoted { what: format!("{number}") };
            Record::new(Seq(number), jiff::Timestamp::UNIX_EPOCH, event)
        };
        let all: Vec<Record> = (1..=700).map(record).collect();
        let mut history = History::new(MemorySource::new(all.clone()));
        let mut read = Vec::new();
        for head in [3, 3, 290, 700] {
            loop {
                let more = history.records_after(Seq(read.len() as u64), Seq(head)).unwrap();
                if more.is_empty() {
                    break;
                }
                read.extend(more);
            }
            assert_eq!(read, all[..head as usize]);
        }
        assert_eq!(history.records_after(Seq(700), Seq(u64::MAX)).unwrap(), []);
        assert!(history.pages.is_empty() && history.states.is_empty());
    }

    #[test]
    fn an_unusable_checkpoint_is_passed_over() {
        let records = vec![];
        let source = MemorySource::new(records)
            .with_checkpoints(vec![(Seq(0), b"{\"version\":99}".to_vec())]);
        assert_eq!(*History::new(source).state_at(Seq(0)).unwrap(), SessionState::default());
    }
}
