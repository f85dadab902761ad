//! The last words of a failed task and the cause in them, read once for each failure.

use std::collections::HashMap;
use std::rc::Rc;

use planwright_model::event::{CallEvent, Event, OutputStream};
use planwright_model::{Seq, TaskId};
use planwright_state::replay::{History, RecordSourceError};
use planwright_state::timeline::{LandmarkKind, Timeline};
use planwright_state::trace::{TraceEntryKind, outcome_text};
use planwright_state::{FailureCause, SessionState, find_failure_cause};
use planwright_text::clean_line;

/// How many lines are looked at for the cause, and how many steps of other tasks may lie between them.
const MAX_LINES: usize = 2_000;
const MAX_STEPS: usize = 50_000;
/// How many lines a card shows.
const TAIL_LINES: usize = 15;

/// What a failed attempt left behind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FailureTail {
    pub(crate) cause: FailureCause,
    /// The last lines, as they were journaled.
    pub(crate) lines: Vec<(OutputStream, String)>,
    /// How many lines the attempt wrote, if all of them were looked at.
    pub(crate) total: Option<usize>,
    /// How the last call ended, such as "exit 101".
    pub(crate) ended: Option<String>,
}

/// The tails of failures that were looked at, by the event that is the failure.
#[derive(Debug, Default)]
pub(crate) struct FailureTails {
    known: HashMap<Seq, Rc<FailureTail>>,
}

impl FailureTails {
    /// Reads the tail of a failed task unless it is at hand.
    pub(crate) fn load(
        &mut self,
        task: &TaskId,
        state: &SessionState,
        timeline: &Timeline,
        history: &mut History,
    ) -> Result<(), RecordSourceError> {
        let Some(failed) = failure_seq(task, state, timeline) else { return Ok(()) };
        let recorded = recorded_message(task, state);
        self.load_at(task, failed, &recorded, timeline, history)?;
        Ok(())
    }

    /// The tail of the attempt that failed by an event. `recorded` is what that says without the output.
    pub(crate) fn load_at(
        &mut self,
        task: &TaskId,
        failed: Seq,
        recorded: &str,
        timeline: &Timeline,
        history: &mut History,
    ) -> Result<Rc<FailureTail>, RecordSourceError> {
        if let Some(known) = self.known.get(&failed) {
            return Ok(Rc::clone(known));
        }
        let tail = Rc::new(read_tail(task, failed, recorded, timeline, history)?);
        self.known.insert(failed, Rc::clone(&tail));
        Ok(tail)
    }

    /// The tail of a failed task that was loaded.
    pub(crate) fn get(
        &self,
        task: &TaskId,
        state: &SessionState,
        timeline: &Timeline,
    ) -> Option<&Rc<FailureTail>> {
        self.known.get(&failure_seq(task, state, timeline)?)
    }

    /// What went wrong, in a few words: the cause where it was read, else what was recorded.
    pub(crate) fn short_cause(
        &self,
        task: &TaskId,
        state: &SessionState,
        timeline: &Timeline,
    ) -> String {
        match self.get(task, state, timeline) {
            Some(tail) => tail.cause.short.clone(),
            None => recorded_message(task, state),
        }
    }

    /// The same with the exit code of the command beside it, where the cause is something else.
    pub(crate) fn cause_with_exit(
        &self,
        task: &TaskId,
        state: &SessionState,
        timeline: &Timeline,
    ) -> String {
        let cause = self.short_cause(task, state, timeline);
        let recorded = recorded_message(task, state);
        match recorded.strip_prefix("exit ").map(str::parse::<i32>) {
            Some(Ok(_)) if recorded != cause => format!("{cause} ({recorded})"),
            _ => cause,
        }
    }
}

/// The event by which a task failed last, at the shown moment.
fn failure_seq(task: &TaskId, state: &SessionState, timeline: &Timeline) -> Option<Seq> {
    let upto = timeline.landmarks().partition_point(|mark| mark.seq <= state.seq);
    let marks = timeline.landmarks()[..upto].iter().rev();
    let mut own = marks.filter(|mark| mark.kind == LandmarkKind::Failure);
    own.find(|mark| mark.task.as_ref() == Some(task)).map(|mark| mark.seq)
}

/// What the task's failure says without its output.
fn recorded_message(task: &TaskId, state: &SessionState) -> String {
    let failure = state.tasks.get(task).and_then(|row| row.failure.as_ref());
    failure.map_or_else(|| "no reason was recorded".to_owned(), |failure| failure.message.clone())
}

/// Reads back from the failure to the start of its last call.
fn read_tail(
    task: &TaskId,
    failed: Seq,
    recorded: &str,
    timeline: &Timeline,
    history: &mut History,
) -> Result<FailureTail, RecordSourceError> {
    let mut lines: Vec<(OutputStream, String)> = Vec::new();
    let (mut ended, mut is_whole) = (None, false);
    let end = timeline.steps_up_to(failed);
    for index in (end.saturating_sub(MAX_STEPS)..end).rev() {
        let Some(step) = timeline.step_at(index) else { break };
        if !timeline.is_about(&step, task) {
            continue;
        }
        if step.kind == TraceEntryKind::Action {
            is_whole = true;
            break;
        }
        if step.kind != TraceEntryKind::Observed {
            continue;
        }
        let Some(record) = history.record_at(step.seq)? else { break };
        match &record.event {
            Event::Call(
                CallEvent::Output { stream, text, .. }
                | CallEvent::Spooled { stream, tail: text, .. },
            ) => {
                lines.extend(text.lines().rev().map(|line| (*stream, line.to_owned())));
            }
            Event::Call(CallEvent::Concluded { outcome, .. }) if ended.is_none() => {
                ended = Some(outcome_text(outcome));
            }
            _ => {}
        }
        if lines.len() >= MAX_LINES {
            break;
        }
    }
    lines.reverse();
    let clean: Vec<(OutputStream, String)> =
        lines.iter().map(|(stream, line)| (*stream, clean_line(line).into_owned())).collect();
    let cause = find_failure_cause(&clean)
        .unwrap_or_else(|| FailureCause { line: recorded.to_owned(), short: recorded.to_owned() });
    let total = is_whole.then_some(lines.len());
    let tail = lines.split_off(lines.len().saturating_sub(TAIL_LINES));
    Ok(FailureTail { cause, lines: tail, total, ended })
}
