//! The output of a task at full width: both streams in the order in which they were journaled, with times and colors.

mod draw;
mod failure_tail;
mod line_filter;
mod log;

pub(crate) use draw::OutputPane;
pub(crate) use failure_tail::{FailureTail, FailureTails};

use line_filter::LineFilter;
use log::{LogLine, LogLineKind, OutputLog};

use crate::panes::trace::find_match;
use crate::ui_state::OutputUi;
use planwright_model::{Seq, TaskId};
use planwright_state::is_error_line;
use planwright_state::replay::{History, RecordSourceError};
use planwright_state::timeline::Timeline;
use planwright_text::{OutputColor, clean_line, display_width, split_colors, truncate_end};

/// How many lines a copy has at most.
const MOST_COPIED: usize = 5_000;

/// A row of the pane: a line, or a further part of one that was wrapped.
#[derive(Clone, Debug)]
pub(super) struct OutputRow {
    pub(super) line: LogLine,
    /// Which line of the log it is.
    pub(super) number: usize,
    /// The first row of its line, which carries the time.
    pub(super) is_first: bool,
    pub(super) pieces: Vec<(OutputColor, String)>,
}

/// The rows on the screen and what they were made from.
#[derive(Debug, Default)]
pub(crate) struct OutputCache {
    log: OutputLog,
    filter: LineFilter,
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
        if self.task.as_ref() != task {
            self.forget_lines(ui);
        }
        self.task = task.cloned();
        self.log.update(task, source.timeline, source.history)?;
        self.total = self.log.lines_up_to(source.cursor);
        let query = ui.search.as_ref().filter(|_| ui.only_matches).map(|(query, _)| query.as_str());
        self.filter.update(query, &self.log, self.total, source.history)?;
        self.rows.clear();
        let (columns, height) = (usize::from(columns).max(8), usize::from(height));
        let shown = self.shown_lines();
        if height == 0 || shown == 0 {
            return Ok(());
        }
        if ui.following {
            ui.top = self.top_for_end(source, ui, (columns, height))?;
        }
        ui.top = ui.top.min(shown - 1);
        for index in ui.top..shown {
            let number = self.line_number(index);
            let Some(line) = self.log.line(number, source.history)? else { break };
            self.rows.extend(line_rows(&line, number, ui, columns));
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

    /// Line numbers of one log mean nothing in another; what was searched for stays.
    fn forget_lines(&mut self, ui: &mut OutputUi) {
        self.filter = LineFilter::default();
        ui.error = None;
        if let Some((_, at)) = &mut ui.search {
            *at = None;
        }
    }

    /// How many lines can be scrolled to: all of them, or those that match.
    pub(crate) fn shown_lines(&self) -> usize {
        self.filter.shown_lines(self.total)
    }

    /// The number in the log of the so many-th shown line.
    fn line_number(&self, index: usize) -> usize {
        self.filter.line_number(index)
    }

    /// Where a line of the log stands among the shown ones.
    pub(crate) fn shown_index(&self, number: usize) -> usize {
        self.filter.shown_index(number)
    }

    /// The first line so that the last one is at the bottom.
    fn top_for_end(
        &self,
        source: &mut OutputSource<'_>,
        ui: &OutputUi,
        (columns, height): (usize, usize),
    ) -> Result<usize, RecordSourceError> {
        let (mut index, mut rows) = (self.shown_lines(), 0);
        while index > 0 && rows < height {
            index -= 1;
            let number = self.line_number(index);
            let line = self.log.line(number, source.history)?;
            rows += line.map_or(1, |line| line_rows(&line, number, ui, columns).len());
        }
        Ok(index)
    }

    /// Whether lines are still being picked out.
    pub(crate) fn is_behind(&self, timeline: &Timeline) -> bool {
        self.log.is_behind(timeline) || self.filter.is_behind(self.total)
    }

    /// The next line with a text, after or before one; the search goes round the ends.
    pub(crate) fn find_line(
        &self,
        history: &mut History,
        query: &str,
        from: Option<usize>,
        forward: bool,
    ) -> Result<Option<usize>, RecordSourceError> {
        for number in self.searched_numbers(from, forward) {
            let line = self.log.line(number, history)?;
            if line.is_some_and(|line| find_match(&clean_line(&line.text), query).is_some()) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// The next line that calls itself an error; where none does, the next one on standard error.
    pub(crate) fn find_error(
        &self,
        history: &mut History,
        from: Option<usize>,
        forward: bool,
    ) -> Result<Option<usize>, RecordSourceError> {
        let mut complaint = None;
        for number in self.searched_numbers(from, forward) {
            let Some(line) = self.log.line(number, history)? else { continue };
            let is_printed = line.kind != LogLineKind::Mark;
            if is_printed && is_error_line(&clean_line(&line.text)) {
                return Ok(Some(number));
            }
            if line.kind == LogLineKind::Stderr && !line.text.trim().is_empty() {
                complaint = complaint.or(Some(number));
            }
        }
        Ok(complaint)
    }

    /// All line numbers in the order in which a search goes through them.
    fn searched_numbers(
        &self,
        from: Option<usize>,
        forward: bool,
    ) -> impl Iterator<Item = usize> + use<> {
        let total = self.total;
        (0..total).map(move |step| match (from, forward) {
            (Some(from), true) => (from + 1 + step) % total,
            (Some(from), false) => (from + total - 1 - step % total) % total,
            (None, true) => step,
            (None, false) => total - 1 - step,
        })
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
        self.text_from(self.total.saturating_sub(MOST_COPIED), history)
    }

    /// The whole log, for the pager.
    pub(crate) fn whole_text(&self, history: &mut History) -> Result<String, RecordSourceError> {
        self.text_from(0, history)
    }

    fn text_from(&self, first: usize, history: &mut History) -> Result<String, RecordSourceError> {
        let mut text = String::new();
        for line in self.log.texts(first..self.total, history)? {
            text.push_str(&clean_line(&line));
            text.push('\n');
        }
        Ok(text)
    }
}

/// A line as rows: wrapped, or the part of it that is in view.
fn line_rows(line: &LogLine, number: usize, ui: &OutputUi, columns: usize) -> Vec<OutputRow> {
    let pieces = match line.kind {
        LogLineKind::Mark => vec![(OutputColor::Dim, clean_line(&line.text).into_owned())],
        LogLineKind::Stdout | LogLineKind::Stderr => split_colors(&line.text),
    };
    let rows = match ui.unwrapped_from {
        Some(left) => vec![cut_pieces(pieces, left, columns)],
        None => wrap_pieces(pieces, columns),
    };
    let row =
        |(index, pieces)| OutputRow { line: line.clone(), number, is_first: index == 0, pieces };
    rows.into_iter().enumerate().map(row).collect()
}

/// The cells of a line from a column on, with a sign where more of it is.
fn cut_pieces(
    pieces: Vec<(OutputColor, String)>,
    left: usize,
    columns: usize,
) -> Vec<(OutputColor, String)> {
    let mut at = 0;
    let mut cut = Vec::new();
    for (color, text) in pieces {
        let mut part = String::new();
        for letter in text.chars() {
            let width = display_width(letter.encode_utf8(&mut [0; 4]));
            at += width;
            if at > left + columns {
                part.push('…');
                cut.push((color, part));
                return shorten_last(cut, columns);
            }
            if at > left {
                part.push(letter);
            }
        }
        cut.push((color, part));
    }
    cut
}

/// Makes room for the sign at the end of a line that was cut.
fn shorten_last(
    mut pieces: Vec<(OutputColor, String)>,
    columns: usize,
) -> Vec<(OutputColor, String)> {
    let before: usize = pieces.iter().rev().skip(1).map(|(_, text)| display_width(text)).sum();
    if let Some((_, text)) = pieces.last_mut() {
        *text = truncate_end(text, columns.saturating_sub(before)).into_owned();
    }
    pieces
}

/// Rows of at most so many cells; spaces stay, as tables need them.
fn wrap_pieces(
    pieces: Vec<(OutputColor, String)>,
    columns: usize,
) -> Vec<Vec<(OutputColor, String)>> {
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
    rows
}
