//! What is folded into one step: housekeeping, and what was skipped because of a failure.

use std::time::Duration;

use super::lines::{StepLine, StepLineStyle};
use super::window::TraceSource;
use crate::panes::graph::title_of;
use planwright_model::event::{Event, Record, TaskEvent};
use planwright_state::TaskStatus;
use planwright_state::replay::RecordSourceError;
use planwright_state::trace::{TraceEntry, TraceEntryKind};
use planwright_text::{clean_line, truncate_end, units, wrap_words};

/// Whether a step says what the program does for itself.
pub(super) fn is_housekeeping(kind: TraceEntryKind) -> bool {
    matches!(kind, TraceEntryKind::Plan | TraceEntryKind::Run | TraceEntryKind::Session)
}

/// A failure: its cause as the output says it, then what was skipped because of it. What a retry made of the task
/// later does not change what happened.
pub(super) fn failure_lines(
    record: &Record,
    entry: &TraceEntry,
    task: usize,
    width: usize,
    source: &mut TraceSource<'_>,
) -> Result<Vec<StepLine>, RecordSourceError> {
    let state = source.state;
    let row = state.tasks.row(task);
    let id = state.tasks.id(task);
    let is_last = row.status == TaskStatus::Failed && row.finished_at == Some(entry.at);
    let text = match &record.event {
        Event::Task(TaskEvent::Failed { elapsed_ms, failure, retry_in_ms: None, .. }) => {
            let recorded = &failure.message;
            let tail =
                source.tails.load_at(id, entry.seq, recorded, source.timeline, source.history)?;
            let took = units::format_elapsed(Duration::from_millis(*elapsed_ms));
            format!("failed after {took}: {}", tail.cause.short)
        }
        _ => entry.text.clone(),
    };
    let mut lines: Vec<StepLine> = wrap_words(&clean_line(&text), width, 0)
        .into_iter()
        .map(|line| (line.into_owned(), StepLineStyle::Plain))
        .collect();
    let skipped = source.skips.skipped_because_of(task);
    let words = match skipped {
        _ if !is_last => return Ok(lines),
        [] => return Ok(lines),
        [only] => format!("{} is skipped because of it", title_of(state, *only)),
        all => format!("{} tasks are skipped because of it", all.len()),
    };
    let words = truncate_end(&clean_line(&words), width).into_owned();
    lines.push((words, StepLineStyle::Skipped));
    Ok(lines)
}
