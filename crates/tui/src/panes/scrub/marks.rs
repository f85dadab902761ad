//! The moments of bookmarks and of search hits, read from the journal once each.

use std::collections::BTreeMap;

use jiff::Timestamp;

use planwright_model::Seq;
use planwright_state::replay::{History, RecordSourceError};

/// Moments to be marked on the bar.
#[derive(Debug, Default)]
pub(crate) struct ScrubMarks {
    known: BTreeMap<Seq, Timestamp>,
    pub(crate) bookmarks: Vec<Timestamp>,
    pub(crate) hits: Vec<Timestamp>,
    /// What the hits were made from.
    counted: usize,
    first: Option<Seq>,
}

impl ScrubMarks {
    /// Takes in what is new.
    pub(crate) fn update_marks(
        &mut self,
        history: &mut History,
        bookmarks: &BTreeMap<Seq, String>,
        hits: &[Seq],
    ) -> Result<(), RecordSourceError> {
        self.bookmarks.clear();
        for seq in bookmarks.keys() {
            let at = self.event_time(history, *seq)?;
            self.bookmarks.extend(at);
        }
        if self.first != hits.first().copied() || hits.len() < self.counted {
            self.hits.clear();
            self.counted = 0;
            self.first = hits.first().copied();
        }
        for seq in &hits[self.counted..] {
            let at = self.event_time(history, *seq)?;
            self.hits.extend(at);
        }
        self.counted = hits.len();
        Ok(())
    }

    fn event_time(
        &mut self,
        history: &mut History,
        seq: Seq,
    ) -> Result<Option<Timestamp>, RecordSourceError> {
        if let Some(at) = self.known.get(&seq) {
            return Ok(Some(*at));
        }
        let at = history.record_at(seq)?.map(|record| record.at);
        if let Some(at) = at {
            self.known.insert(seq, at);
        }
        Ok(at)
    }
}
