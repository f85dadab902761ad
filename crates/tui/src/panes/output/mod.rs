//! The output of a task at full width: both streams in the order in which they were journaled, with times and colors.

mod draw;
mod failure_tail;
mod log;

pub(crate) use draw::OutputPane;
pub(crate) use failure_tail::{FailureTail, FailureTails};

use log::{LogLine, LogLineKind, OutputLog};

use crate::panes::trace::find_match;
use crate::ui_state::OutputUi;
use planwright_model::{Seq, TaskId};
use planwright_state::replay::{History, RecordSourceError};
use planwright_state::timeline::Timeline;
use planwright_text::{OutputColor, clean_line, display_width, split_colors};

/// How many lines a copy has at most.
const MOST_COPIED: usize = 5_000;

/// A row of the pane: a line, or a further part of one that was wrapped.
#[derive(Clone, Debug)]
pub(super) struct OutputRow {
    pub(super) line: LogLine,
    /// The first row of its line, which carries the time.
    pub(super) is_first: bool,
    pub(super) pieces: Vec<(OutputColor, String)>,
}

/// The rows on the screen and what they were made from.
#[derive(Debug, Default)]
pub(crate) struct OutputCache {
    log: OutputLog,
    pub(super) rows: Vec<OutputRow>,
    /// How many lines there are at the moment that is shown.
    pub(crate) total: usize,
    /// The task whose output is shown; none for all of them.
    pub(crate) task: Option<TaskId>,
}

/// What the rows are made from.
pub(crate) struct OutputSource<'a> {
    pub(crate) history: &'a mut History,
    pub(crate) timeline: &'a Timeline,
    /// The cursor of a replay; `None` while live.
    pub(crate) cursor: Option<Seq>,
}

impl OutputCache {
    /// Builds the rows for an area of so many text columns and rows.
    pub(crate) fn update_rows(
        &mut self,
        source: &mut OutputSource<'_>,
        ui: &mut OutputUi,
        task: Option<&TaskId>,
        (columns, height): (u16, u16),
    ) -> Result<(), RecordSourceError> {
        self.task = task.cloned();
        self.log.update(task, source.timeline, source.history)?;
        self.total = self.log.lines_up_to(source.cursor);
        self.rows.clear();
        let (columns, height) = (usize::from(columns).max(8), usize::from(height));
        if height == 0 || self.total == 0 {
            return Ok(());
        }
        if ui.following {
            ui.top = self.top_for_end(source, columns, height)?;
        }
        ui.top = ui.top.min(self.total - 1);
        for number in ui.top..self.total {
            let Some(line) = self.log.line(number, source.history)? else { break };
            self.rows.extend(wrap_line(&line, columns));
            if self.rows.len() >= height {
                break;
            }
        }
        // The end of the log is what following is about, even where a long line is cut for it.
        let surplus = self.rows.len().saturating_sub(height);
        if ui.following {
            self.rows.drain(..surplus);
        }
        self.rows.truncate(height);
        Ok(())
    }

    /// The first line so that the last one is at the bottom.
    fn top_for_end(
        &self,
        source: &mut OutputSource<'_>,
        columns: usize,
        height: usize,
    ) -> Result<usize, RecordSourceError> {
        let (mut number, mut rows) = (self.total, 0);
        while number > 0 && rows < height {
            number -= 1;
            let line = self.log.line(number, source.history)?;
            rows += line.map_or(1, |line| wrap_line(&line, columns).len());
        }
        Ok(number)
    }

    /// Whether lines are still being picked out.
    pub(crate) fn is_behind(&self, timeline: &Timeline) -> bool {
        self.log.is_behind(timeline)
    }

    /// The next line with a text, after or before one; the search goes round the ends.
    pub(crate) fn find_line(
        &self,
        history: &mut History,
        query: &str,
        from: Option<usize>,
        forward: bool,
    ) -> Result<Option<usize>, RecordSourceError> {
        let total = self.total;
        for step in 0..total {
            let number = match (from, forward) {
                (Some(from), true) => (from + 1 + step) % total,
                (Some(from), false) => (from + total - 1 - step % total) % total,
                (None, true) => step,
                (None, false) => total - 1 - step,
            };
            let line = self.log.line(number, history)?;
            if line.is_some_and(|line| find_match(&clean_line(&line.text), query).is_some()) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// How many lines have a text.
    pub(crate) fn count_matches(
        &self,
        history: &mut History,
        query: &str,
    ) -> Result<usize, RecordSourceError> {
        let mut found = 0;
        for number in 0..self.total {
            let line = self.log.line(number, history)?;
            let matches =
                line.is_some_and(|line| find_match(&clean_line(&line.text), query).is_some());
            found += usize::from(matches);
        }
        Ok(found)
    }

    /// The lines as they were written, for the clipboard; the last ones of a long log.
    pub(crate) fn copied_text(&self, history: &mut History) -> Result<String, RecordSourceError> {
        let mut text = String::new();
        for number in self.total.saturating_sub(MOST_COPIED)..self.total {
            if let Some(line) = self.log.line(number, history)? {
                text.push_str(&clean_line(&line.text));
                text.push('\n');
            }
        }
        Ok(text)
    }
}

/// A line in rows of at most so many cells; spaces stay, as tables need them.
fn wrap_line(line: &LogLine, columns: usize) -> Vec<OutputRow> {
    let pieces = match line.kind {
        LogLineKind::Mark => vec![(OutputColor::Dim, clean_line(&line.text).into_owned())],
        LogLineKind::Stdout | LogLineKind::Stderr => split_colors(&line.text),
    };
    let mut rows: Vec<Vec<(OutputColor, String)>> = vec![Vec::new()];
    let mut used = 0;
    for (color, text) in pieces {
        for letter in text.chars() {
            let width = display_width(letter.encode_utf8(&mut [0; 4]));
            if used + width > columns {
                rows.push(Vec::new());
                used = 0;
            }
            used += width;
            if let Some(row) = rows.last_mut() {
                match row.last_mut() {
                    Some((last, text)) if *last == color => text.push(letter),
                    _ => row.push((color, letter.to_string())),
                }
            }
        }
    }
    let row = |(index, pieces)| OutputRow { line: line.clone(), is_first: index == 0, pieces };
    rows.into_iter().enumerate().map(row).collect()
}
