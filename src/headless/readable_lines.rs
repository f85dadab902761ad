//! Records as lines for people, in columns.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use planwright_model::event::{Event, Record, TaskEvent};
use planwright_model::{CallId, SkipReason, TaskId};
use planwright_state::replay::{MissingOutput, PrintedOutput};
use planwright_state::trace::{TraceEntry, TraceEntryKind};
use planwright_state::{SessionState, SkipRoots};
use planwright_text::{clean_line, clean_text, units};

/// The narrowest and the widest column of tasks; longer ids move the rest of their line.
const TASK_COLUMN: (usize, usize) = (10, 24);
/// The widest word for the kind of a record.
const LABEL_COLUMN: usize = 11;
/// How many tasks that were skipped for one reason are named.
const NAMED_SKIPS: usize = 3;

/// Writes records in columns that fit the tasks of the plan, and tasks that are skipped for one reason in one line.
#[derive(Clone, Debug)]
pub(crate) struct ReadableLines {
    zone: TimeZone,
    task_width: usize,
    /// Tasks that were skipped because of others, until something else happens.
    skipped: Vec<(TaskId, SkipReason)>,
    skipped_at: Timestamp,
    /// What was not kept of the output of calls, until one prints something that was.
    missing: MissingOutput,
}

impl ReadableLines {
    pub(crate) fn new(zone: TimeZone) -> Self {
        let task_width = TASK_COLUMN.0;
        let (skipped, missing) = (Vec::new(), MissingOutput::default());
        Self { zone, task_width, skipped, skipped_at: Timestamp::default(), missing }
    }

    /// Makes the column of tasks as wide as their ids.
    pub(crate) fn fit_plan(&mut self, state: &SessionState) {
        let ids = state.tasks.iter().map(|(id, _)| planwright_text::display_width(id.as_str()));
        let widest = ids.max().unwrap_or(0);
        self.task_width = widest.clamp(TASK_COLUMN.0, TASK_COLUMN.1);
    }

    /// Where the body of a line begins.
    pub(crate) fn body_column(&self) -> usize {
        8 + 2 + self.task_width + 1 + 1 + 1 + LABEL_COLUMN + 1
    }

    /// A further line of a body.
    pub(crate) fn body_line(&self, text: &str) -> String {
        format!("{:1$}{2}", "", self.body_column(), clean_line(text))
    }

    /// The lines of a piece of output. What was not kept before it is one line, however many pieces that were.
    pub(crate) fn output_lines(&mut self, call: &CallId, printed: &PrintedOutput) -> Vec<String> {
        self.missing.add(call, printed.missing_bytes);
        if printed.text.is_empty() {
            return Vec::new();
        }
        let counted = self.take_missing(call);
        counted.into_iter().chain(printed.text.lines().map(|line| self.body_line(line))).collect()
    }

    /// The line for what a call printed last and was not kept.
    pub(crate) fn take_missing(&mut self, call: &CallId) -> Option<String> {
        let counted = self.missing.take_line(call)?;
        Some(self.body_line(&counted))
    }

    /// One entry.
    pub(crate) fn entry_line(&self, entry: &TraceEntry) -> String {
        let task = entry.task.as_ref().map(ToString::to_string).unwrap_or_default();
        let glyph = match entry.kind {
            TraceEntryKind::Thought => '~',
            TraceEntryKind::Action => '>',
            TraceEntryKind::Observed => '<',
            _ => ' ',
        };
        let body = match (&entry.body, entry.kind) {
            // Output is shown whole: it is what a script's reader came for.
            (Some(body), TraceEntryKind::Observed) => {
                let next = format!("\n{:1$}", "", self.body_column());
                clean_text(body).replace('\n', &next)
            }
            // The word of its kind stands before it.
            _ => clean_line(entry.text_after_label()).into_owned(),
        };
        self.columns(entry.at, &task, (glyph, entry.kind.label()), &body)
    }

    fn columns(
        &self,
        at: Timestamp,
        task: &str,
        (glyph, label): (char, &str),
        body: &str,
    ) -> String {
        let time = at.to_zoned(self.zone.clone()).strftime("%H:%M:%S").to_string();
        let (task, width) = (clean_line(task), self.task_width);
        format!("{time}  {task:<width$} {glyph} {label:<LABEL_COLUMN$} {body}")
            .trim_end()
            .to_owned()
    }

    /// Keeps a task that is skipped because of another for a line with others. `false` for every other record.
    pub(crate) fn keep_skip(&mut self, record: &Record) -> bool {
        let Event::Task(TaskEvent::Skipped { task, reason }) = &record.event else { return false };
        if !matches!(reason, SkipReason::DependencyFailed | SkipReason::DependencySkipped) {
            return false;
        }
        self.skipped.push((task.clone(), *reason));
        self.skipped_at = record.at;
        true
    }

    /// The lines of the tasks that were skipped, one for each cause.
    pub(crate) fn take_skips(&mut self, state: &SessionState) -> Vec<String> {
        let skipped = std::mem::take(&mut self.skipped);
        if skipped.is_empty() {
            return Vec::new();
        }
        let roots = SkipRoots::from_tasks(&state.tasks);
        let mut causes: BTreeMap<(Option<usize>, String), Vec<String>> = BTreeMap::new();
        for (id, reason) in &skipped {
            let Some(task) = state.tasks.position(id) else { continue };
            let why = state.describe_skip(&roots, task, *reason);
            let title = clean_line(state.task_title(task)).into_owned();
            causes.entry((roots.root_of(task), why)).or_default().push(title);
        }
        let lines = causes.into_iter().map(|((_, why), titles)| {
            let named = titles.iter().take(NAMED_SKIPS).cloned().collect::<Vec<_>>().join(", ");
            let more = match titles.len().saturating_sub(NAMED_SKIPS) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let tasks = units::format_counted(titles.len(), "task");
            let body = format!("{tasks} {why}: {named}{more}");
            self.columns(self.skipped_at, "", (' ', "skipped"), &body)
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use planwright_model::event::OutputStream;

    use super::*;

    #[test]
    fn what_is_missing_in_a_row_is_one_line_before_what_was_kept() {
        let mut readable = ReadableLines::new(TimeZone::UTC);
        let call = CallId { task: "a".into(), attempt: 1, step: 1 };
        let piece = |text: &str, missing_bytes| PrintedOutput {
            stream: OutputStream::Stdout,
            text: text.to_owned(),
            missing_bytes,
        };
        let mut lines = Vec::new();
        for printed in [piece("one\n", 0), piece("", 600), piece("", 400), piece("two\n", 0)] {
            lines.extend(readable.output_lines(&call, &printed));
        }
        assert!(readable.output_lines(&call, &piece("", 7)).is_empty());
        lines.extend(readable.take_missing(&call));
        let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        assert_eq!(lines, ["one", "… [1 kB not kept]", "two", "… [7 B not kept]"]);
        assert_eq!(readable.take_missing(&call), None);
    }
}
