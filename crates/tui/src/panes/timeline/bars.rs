//! When each task ran, from the state alone.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::scale::RanSpan;
use planwright_state::{SessionState, TaskStatus};

/// The bar of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunBar {
    pub(super) span: RanSpan,
    pub(super) yours: bool,
    pub(super) failed: bool,
}

/// What ran when, and what decided how long it took.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunBars {
    /// When something ran that was not the person's, joined.
    pub(super) busy: Vec<RanSpan>,
    /// Tasks that nothing could have started without, from the last one back.
    path: BTreeSet<usize>,
    /// Where the number of running tasks changes, and to what.
    at_once: Vec<(i64, u32)>,
}

impl RunBars {
    /// Looks at all tasks once.
    pub(crate) fn from_state(state: &SessionState, now: Timestamp) -> Self {
        let mut spans: Vec<RanSpan> = Vec::new();
        let mut own: Vec<RanSpan> = Vec::new();
        for task in 0..state.tasks.len() {
            for bar in run_bars(state, task, now) {
                if bar.yours { &mut own } else { &mut spans }.push(bar.span);
            }
        }
        // Where only people worked, their time is what there is to see.
        let shown = if spans.is_empty() { &own } else { &spans };
        Self {
            busy: join_spans(shown.clone()),
            path: longest_path(state),
            at_once: count_at_once(&spans),
        }
    }

    pub(super) fn is_on_path(&self, task: usize) -> bool {
        self.path.contains(&task)
    }

    /// The most tasks that ran at once between two moments.
    pub(super) fn most_between(&self, from: i64, to: i64) -> u32 {
        let first = self.at_once.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        let inside = self.at_once[first.min(self.at_once.len())..].iter();
        inside
            .take_while(|(at, _)| *at < to.max(from + 1))
            .map(|(_, count)| *count)
            .max()
            .unwrap_or(0)
    }

    pub(super) fn most_at_once(&self) -> u32 {
        self.at_once.iter().map(|(_, count)| *count).max().unwrap_or(0)
    }
}

/// Tasks by when they started; those that have not come last, in the order of the plan.
pub(crate) fn ran_order(state: &SessionState, tasks: &mut [(usize, usize)]) {
    let started = |task: usize| state.tasks.row(task).started_at;
    tasks.sort_by_key(|(_, task)| (started(*task).is_none(), started(*task)));
}

/// The bars of a task: one of each attempt that failed before, then that of the last one.
pub(super) fn run_bars(state: &SessionState, task: usize, now: Timestamp) -> Vec<RunBar> {
    let yours = state.tasks.is_human(task);
    let earlier = state.tasks.row(task).earlier_failed_attempts().map(|attempt| {
        let from = attempt.started_at.as_millisecond();
        let to = from + i64::try_from(attempt.took_ms).unwrap_or(0);
        RunBar { span: RanSpan { from, to }, yours, failed: true }
    });
    earlier.chain(run_bar(state, task, now)).collect()
}

/// The bar of the last attempt at a task that ran or runs.
pub(super) fn run_bar(state: &SessionState, task: usize, now: Timestamp) -> Option<RunBar> {
    let row = state.tasks.row(task);
    let from = row.started_at?.as_millisecond();
    let took = i64::try_from(row.elapsed_ms(now)?).unwrap_or(0);
    Some(RunBar {
        span: RanSpan { from, to: from + took },
        yours: state.tasks.is_human(task),
        failed: row.status == TaskStatus::Failed,
    })
}

fn join_spans(mut spans: Vec<RanSpan>) -> Vec<RanSpan> {
    spans.sort_by_key(|span| span.from);
    let mut joined: Vec<RanSpan> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
            _ => joined.push(span),
        }
    }
    joined
}

/// From the task that ended last back along what each waited for longest.
fn longest_path(state: &SessionState) -> BTreeSet<usize> {
    let tasks = &state.tasks;
    let ended = |task: &usize| tasks.row(*task).started_at.and(tasks.row(*task).finished_at);
    let mut path = BTreeSet::new();
    let mut at = (0..tasks.len()).filter(|task| ended(task).is_some()).max_by_key(ended);
    while let Some(task) = at {
        // A loop cannot be approved, but an imported journal may claim one.
        if !path.insert(task) {
            break;
        }
        at = tasks.dependencies(task).filter(|on| ended(on).is_some()).max_by_key(ended);
    }
    path
}

fn count_at_once(spans: &[RanSpan]) -> Vec<(i64, u32)> {
    let mut changes: Vec<(i64, i32)> =
        spans.iter().flat_map(|span| [(span.from, 1), (span.to, -1)]).collect();
    // At one moment what ends goes before what starts.
    changes.sort_unstable();
    let mut count = 0;
    let mut found: Vec<(i64, u32)> = Vec::new();
    for (at, by) in changes {
        count += by;
        let now = count.max(0).unsigned_abs();
        match found.last_mut() {
            Some(last) if last.0 == at => last.1 = now,
            _ => found.push((at, now)),
        }
    }
    found
}
