//! Which lines of a log are shown: all of them, or only those with the words that were searched for.
//!
//! Only numbers are kept. A long log is looked through a part at a time, so that keys stay quick.

use super::log::OutputLog;
use crate::panes::trace::find_match;
use planwright_state::replay::{History, RecordSourceError};
use planwright_text::clean_line;

/// How many lines are looked at before keys are looked at again.
const MAX_LINES_PER_UPDATE: usize = 20_000;

/// The lines that match, as far as the log was looked through.
#[derive(Debug, Default)]
pub(super) struct LineFilter {
    /// The words, while only lines with them are shown.
    query: Option<String>,
    scanned: usize,
    numbers: Vec<usize>,
}

impl LineFilter {
    /// Takes in lines that are new. Other words, and a log that became shorter, start over.
    pub(super) fn update(
        &mut self,
        query: Option<&str>,
        log: &OutputLog,
        total: usize,
        history: &mut History,
    ) -> Result<(), RecordSourceError> {
        if self.query.as_deref() != query || self.scanned > total {
            *self = Self { query: query.map(str::to_owned), ..Self::default() };
        }
        let Some(query) = &self.query else { return Ok(()) };
        for number in self.scanned..total.min(self.scanned + MAX_LINES_PER_UPDATE) {
            let line = log.line(number, history)?;
            if line.is_some_and(|line| find_match(&clean_line(&line.text), query).is_some()) {
                self.numbers.push(number);
            }
            self.scanned = number + 1;
        }
        Ok(())
    }

    /// Whether there are lines that have not been looked at.
    pub(super) fn is_behind(&self, total: usize) -> bool {
        self.query.is_some() && self.scanned < total
    }

    pub(super) fn shown_lines(&self, total: usize) -> usize {
        if self.query.is_some() { self.numbers.len() } else { total }
    }

    /// The number in the log of the so many-th shown line.
    pub(super) fn line_number(&self, index: usize) -> usize {
        match self.query {
            Some(_) => self.numbers.get(index).copied().unwrap_or_default(),
            None => index,
        }
    }

    /// Where a line of the log stands among the shown ones, or the next one that does.
    pub(super) fn shown_index(&self, number: usize) -> usize {
        match self.query {
            Some(_) => self.numbers.partition_point(|shown| *shown < number),
            None => number,
        }
    }
}
