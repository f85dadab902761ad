//! What waits for the person in one session: questions, failures, late tasks, and tasks of theirs that others wait for.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{DueTask, RunPhase, SessionState, SkipRoots, TaskStatus};
use planwright_model::{RequestId, TaskId};

/// How many failures of one session are told one by one. More than that are one entry.
const SINGLE_FAILURES: usize = 3;

/// Why something waits for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttentionCause {
    /// A question is open.
    Asked(RequestId),
    /// A task failed, and so many were skipped because of it.
    Failed { task: TaskId, skipped: usize },
    /// More tasks failed than are told one by one.
    ManyFailed { first: TaskId, count: usize, skipped: usize },
    /// Tasks of the person's that were planned for earlier days, the oldest first.
    Late(Vec<DueTask>),
    /// A task of the person's that something else waits for.
    Awaited { task: TaskId, waiting: TaskId },
    /// The process that ran it went away with work left.
    Stopped,
}

/// Something that waits for the person, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttentionItem {
    pub cause: AttentionCause,
    pub since: Timestamp,
}

impl SessionState {
    /// What waits for the person, the oldest first.
    pub fn attention_items(&self, now: Timestamp, zone: &TimeZone) -> Vec<AttentionItem> {
        let mut items: Vec<AttentionItem> = self
            .requests
            .open
            .values()
            .map(|open| AttentionItem {
                cause: AttentionCause::Asked(open.request.id),
                since: open.asked_at,
            })
            .collect();
        if !self.plan.abandoned {
            items.extend(self.failures());
            items.extend(self.late_tasks(now, zone));
            items.extend(self.awaited_tasks());
        }
        // A question stands for its plan: whoever answers it goes on there.
        let asks = !self.requests.open.is_empty();
        let stopped = self.run.phase == RunPhase::Interrupted;
        if stopped && !asks && !self.tasks.is_waiting_for_person() {
            let since = self.at.unwrap_or(now);
            items.push(AttentionItem { cause: AttentionCause::Stopped, since });
        }
        items.sort_by_key(|item| item.since);
        items
    }

    fn failures(&self) -> Vec<AttentionItem> {
        if self.tasks.status_counts().failed == 0 || self.run.dismissed {
            return Vec::new();
        }
        let failed: Vec<usize> = (0..self.tasks.len())
            .filter(|task| self.tasks.row(*task).status == TaskStatus::Failed)
            .filter(|task| !self.tasks.is_tolerated(*task))
            .collect();
        let skips = SkipRoots::from_tasks(&self.tasks);
        let skipped = |task: &usize| skips.skipped_because_of(*task).len();
        let since = |task: usize| self.tasks.row(task).finished_at.or(self.at).unwrap_or_default();
        if failed.len() <= SINGLE_FAILURES {
            let item = |task: &usize| AttentionItem {
                cause: AttentionCause::Failed {
                    task: self.tasks.id(*task).clone(),
                    skipped: skipped(task),
                },
                since: since(*task),
            };
            return failed.iter().map(item).collect();
        }
        let Some(first) = failed.iter().copied().min_by_key(|task| since(*task)) else {
            return Vec::new();
        };
        let cause = AttentionCause::ManyFailed {
            first: self.tasks.id(first).clone(),
            count: failed.len(),
            skipped: failed.iter().map(skipped).sum(),
        };
        vec![AttentionItem { cause, since: since(first) }]
    }

    /// Late tasks of the person's, once one of them is from a day before that of `now`: what is late today alone may
    /// still be done today.
    fn late_tasks(&self, now: Timestamp, zone: &TimeZone) -> Option<AttentionItem> {
        let today = now.to_zoned(zone.clone()).date();
        let is_late = |due: &DueTask| due.late && due.yours && due.block.is_some();
        let mut late: Vec<DueTask> =
            self.due_tasks(now, zone).into_iter().filter(is_late).collect();
        late.sort_by_key(|due| due.start);
        let since = late.first()?.start;
        if since.to_zoned(zone.clone()).date() >= today {
            return None;
        }
        Some(AttentionItem { cause: AttentionCause::Late(late), since })
    }

    /// Tasks of the person's that are ready and that an agent or a command waits for, in a run that has begun.
    fn awaited_tasks(&self) -> Vec<AttentionItem> {
        let Some(begun) = self.run.started_at else { return Vec::new() };
        if !self.is_runnable() || matches!(self.run.phase, RunPhase::Finished { .. }) {
            return Vec::new();
        }
        let ready = |task: &usize| {
            self.tasks.is_human(*task)
                && (self.tasks.row(*task).status == TaskStatus::Yours || self.tasks.is_ready(*task))
        };
        let item = |task: usize| {
            let waiting = self.tasks.dependents(task).find(|other| {
                !self.tasks.is_human(*other) && self.tasks.row(*other).status == TaskStatus::Pending
            })?;
            Some(AttentionItem {
                cause: AttentionCause::Awaited {
                    task: self.tasks.id(task).clone(),
                    waiting: self.tasks.id(waiting).clone(),
                },
                since: self.tasks.row(task).started_at.unwrap_or(begun),
            })
        };
        (0..self.tasks.len()).filter(ready).filter_map(item).collect()
    }
}
