//! Progress on a terminal without a screen: a line for each task that ended, how long it took, and a bar for the whole.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

use super::readable_lines::ReadableLines;
use planwright_model::TaskId;
use planwright_model::event::{CallEvent, Event, Record, TaskEvent};
use planwright_state::trace::{TraceEntry, TraceEntryKind};
use planwright_state::{SessionState, TaskStatus};
use planwright_text::{clean_line, units};

/// The cells of the bar.
const CELLS: u32 = 24;
/// The last lines of output that are shown of a task that failed.
const TAIL: usize = 5;

/// What is kept between records.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeadlessProgress {
    /// The last lines of output of tasks that run.
    tails: BTreeMap<TaskId, VecDeque<String>>,
}

impl HeadlessProgress {
    /// The lines that a record gives: none for single steps.
    pub(crate) fn record_lines(
        &mut self,
        record: &Record,
        state: &SessionState,
        readable: &ReadableLines,
    ) -> Vec<String> {
        match &record.event {
            Event::Call(
                CallEvent::Output { call, text, .. } | CallEvent::Spooled { call, tail: text, .. },
            ) => {
                let tail = self.tails.entry(call.task.clone()).or_default();
                for line in text.lines().filter(|line| !line.trim().is_empty()) {
                    tail.push_back(clean_line(line).into_owned());
                    if tail.len() > TAIL {
                        tail.pop_front();
                    }
                }
            }
            Event::Task(TaskEvent::Failed { task, .. }) => {
                let tail = self.tails.remove(task).unwrap_or_default();
                let mut lines: Vec<String> =
                    tail.iter().map(|line| readable.body_line(line)).collect();
                lines.extend(
                    TraceEntry::from_record_in(record, state)
                        .map(|entry| readable.entry_line(&entry)),
                );
                return lines;
            }
            Event::Task(TaskEvent::Completed { task, .. }) => {
                self.tails.remove(task);
            }
            _ => {}
        }
        let told = TraceEntry::from_record_in(record, state).filter(|entry| {
            !matches!(
                entry.kind,
                TraceEntryKind::Thought | TraceEntryKind::Action | TraceEntryKind::Observed
            )
        });
        told.map(|entry| readable.entry_line(&entry)).into_iter().collect()
    }
}

/// How far the run is: `[######------] 3/11 done, 2 running: api 12 s, docs 3 s`. Empty before it began.
pub(crate) fn progress_bar(state: &SessionState, now: Timestamp) -> String {
    let counts = state.tasks.work_counts();
    if state.run.started_at.is_none() || counts.total() == 0 {
        return String::new();
    }
    let settled = counts.done + counts.failed + counts.skipped;
    let full = CELLS * settled / counts.total();
    let bar: String = (0..CELLS).map(|cell| if cell < full { '#' } else { '-' }).collect();
    let time = |millis: u64| units::format_elapsed(Duration::from_millis(millis));
    let mut text = format!("[{bar}] {}/{} done", counts.done, counts.total());
    if counts.failed > 0 {
        text = format!("{text}, {} failed", counts.failed);
    }
    text = format!("{text}  {}", time(state.run.worked_ms(now)));
    let running: Vec<String> = state
        .tasks
        .iter()
        .filter(|(_, row)| row.status == TaskStatus::Running)
        .map(|(id, row)| {
            let took = row.elapsed_ms(now).map(time).unwrap_or_default();
            format!("{} {took}", clean_line(id.as_str()))
        })
        .collect();
    if !running.is_empty() {
        text = format!("{text}  {}", running.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_store::exchange::demo_run;

    #[test]
    fn a_run_is_one_line_a_task_and_a_bar_that_fills() {
        let (_, records) = demo_run::load_demo_run().unwrap();
        let (mut progress, mut state) = (HeadlessProgress::default(), SessionState::default());
        let readable = ReadableLines::new(jiff::tz::TimeZone::UTC);
        let (mut lines, mut longest) = (Vec::new(), 0);
        for record in &records {
            state.apply(record);
            lines.extend(progress.record_lines(record, &state, &readable));
            let bar = progress_bar(&state, record.at);
            let full = bar.matches('#').count();
            longest = longest.max(full);
        }
        assert_eq!(longest, CELLS as usize);
        for (id, _) in state.tasks.iter() {
            let done =
                |line: &&String| line.contains(&format!(" {id} ")) && line.contains(" done ");
            assert!(lines.iter().any(|line| done(&line)), "{id} in {lines:#?}");
        }
        assert!(!lines.iter().any(|line| line.contains("318 tests passed")), "steps are left out");
        let failed = lines.iter().position(|line| line.contains("failed ")).unwrap();
        assert!(lines[failed - 1].contains("index out of bounds"), "{}", lines[failed - 1]);
        assert_eq!(progress_bar(&SessionState::default(), Timestamp::UNIX_EPOCH), "");
    }
}
