//! What is due: the blocks of a day, what was left over from earlier ones, and tasks that wait for the person without
//! a time of their own.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{RunPhase, SessionState, TaskStatus};
use planwright_model::catch_up::{OpenWork, TaskOccurrence};
use planwright_model::{ScheduledBlock, SkipReason, TaskId};

/// A block of a plan, or a task without one, as it stands on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueTask {
    pub task: TaskId,
    pub title: String,
    /// The block of the schedule; a task of a plan file has none.
    pub block: Option<String>,
    pub occurrence: Option<u32>,
    pub start: Timestamp,
    pub minutes: u32,
    /// Of the occurrence, where the task repeats.
    pub status: TaskStatus,
    /// Its time is over and it is neither done nor left out.
    pub late: bool,
    /// The person does it, not an agent or a command.
    pub yours: bool,
    /// What it waits for is done.
    pub ready: bool,
}

impl SessionState {
    /// The occurrences of a repeating task that are neither done nor left out.
    pub fn open_occurrences(&self, task: &TaskId) -> BTreeSet<u32> {
        let Some(row) = self.tasks.get(task) else { return BTreeSet::new() };
        let blocks =
            self.planning.schedule.iter().flat_map(|schedule| schedule.blocks_for_node(task));
        blocks
            .filter_map(|block| block.occurrence)
            .filter(|occurrence| !row.occurrences.contains_key(occurrence))
            .collect()
    }

    /// The tasks that a task still waits for. Of tasks that repeat together only the same time counts: this week's second
    /// step waits for this week's first, and not for that of all weeks.
    pub fn unmet_dependencies(&self, task: usize, occurrence: Option<u32>) -> Vec<usize> {
        if self.tasks.is_ready(task) || self.tasks.row(task).status == TaskStatus::Yours {
            return Vec::new();
        }
        let met = |on: usize| {
            let row = self.tasks.row(on);
            row.status.is_met()
                || occurrence.is_some_and(|time| row.occurrences.contains_key(&time))
        };
        self.tasks.dependencies(task).filter(|on| !met(*on)).collect()
    }

    /// What is due on the day of `now`, by time, and what is late, at the end. Nothing unless the plan was approved.
    pub fn due_tasks(&self, now: Timestamp, zone: &TimeZone) -> Vec<DueTask> {
        if !self.is_runnable() || matches!(self.run.phase, RunPhase::Finished { .. }) {
            return Vec::new();
        }
        let today = now.to_zoned(zone.clone()).date();
        let mut due = self.due_blocks(now, today, zone);
        due.extend(self.due_without_time(today, zone));
        due.sort_by_key(|due| {
            let earlier = due.start.to_zoned(zone.clone()).date() < today;
            (earlier, due.start, self.tasks.position(&due.task))
        });
        due
    }

    /// The first thing to do after the day of `now`.
    pub fn next_due_task(&self, now: Timestamp, zone: &TimeZone) -> Option<DueTask> {
        if !self.is_runnable() || matches!(self.run.phase, RunPhase::Finished { .. }) {
            return None;
        }
        let today = now.to_zoned(zone.clone()).date();
        let later = self.scheduled_due_tasks(now, |date, _| date > today, zone);
        later.into_iter().filter(|due| !due.status.is_settled()).min_by_key(|due| due.start)
    }

    /// The blocks after the day of `now` up to and with another day, by time. Nothing unless the plan was approved.
    pub fn coming_tasks(&self, now: Timestamp, until: Date, zone: &TimeZone) -> Vec<DueTask> {
        if !self.is_runnable() || matches!(self.run.phase, RunPhase::Finished { .. }) {
            return Vec::new();
        }
        let today = now.to_zoned(zone.clone()).date();
        let wanted = |date: Date, _| date > today && date <= until;
        let mut coming = self.scheduled_due_tasks(now, wanted, zone);
        coming.sort_by(|a, b| (a.start, &a.task).cmp(&(b.start, &b.task)));
        coming
    }

    /// What is done and what is late at a moment, for planning the rest again. Only blocks can be late.
    pub fn open_work(&self, now: Timestamp, zone: &TimeZone) -> OpenWork {
        let mut work = OpenWork::default();
        for (id, row) in self.tasks.iter() {
            if row.status.is_settled() && row.status != TaskStatus::Failed {
                work.settled_tasks.insert(id.clone());
            }
            let times = row.occurrences.keys();
            work.settled_times
                .extend(times.map(|time| TaskOccurrence::new(id.clone(), Some(*time))));
        }
        let late = self.scheduled_due_tasks(now, |_, late| late, zone);
        work.late =
            late.into_iter().map(|due| TaskOccurrence::new(due.task, due.occurrence)).collect();
        work
    }

    fn due_blocks(&self, now: Timestamp, today: Date, zone: &TimeZone) -> Vec<DueTask> {
        self.scheduled_due_tasks(now, |date, late| date == today || (date < today && late), zone)
    }

    /// The blocks that are wanted by the day they begin on and by whether they are late.
    fn scheduled_due_tasks(
        &self,
        now: Timestamp,
        wanted: impl Fn(Date, bool) -> bool,
        zone: &TimeZone,
    ) -> Vec<DueTask> {
        let Some(schedule) = self.planning.schedule.as_deref() else { return Vec::new() };
        let today = now.to_zoned(zone.clone()).date();
        // Work that is cut into blocks is late only after its last one, and then all of it is.
        let mut last: BTreeMap<(&TaskId, Option<u32>), (Timestamp, u32)> = BTreeMap::new();
        for block in &schedule.blocks {
            let (end, minutes) =
                last.entry((&block.plan_node_id, block.occurrence)).or_insert((block.end.at, 0));
            *end = (*end).max(block.end.at);
            *minutes += block.estimated_minutes;
        }
        let of_block = |block: &ScheduledBlock| {
            let task = self.tasks.position(&block.plan_node_id)?;
            let status = self.occurrence_status(task, block.occurrence);
            let open = !status.is_settled() || status == TaskStatus::Failed;
            let (end, minutes) = last.get(&(&block.plan_node_id, block.occurrence))?;
            let late = open && *end == block.end.at && block.end.at <= now;
            let date = block.start.at.to_zoned(zone.clone()).date();
            wanted(date, late).then(|| DueTask {
                task: block.plan_node_id.clone(),
                title: block.title.clone(),
                block: Some(block.id.clone()),
                occurrence: block.occurrence,
                start: block.start.at,
                // Of a day that is over only the last block is listed, for all of the task.
                minutes: if late && date < today { *minutes } else { block.estimated_minutes },
                status,
                late,
                yours: self.tasks.is_human(task),
                ready: self.unmet_dependencies(task, block.occurrence).is_empty(),
            })
        };
        schedule.blocks.iter().filter_map(of_block).collect()
    }

    /// Tasks of the person's that wait for them and have no block: due since they were handed over.
    fn due_without_time(&self, today: Date, zone: &TimeZone) -> Vec<DueTask> {
        let Some(current) = &self.plan.current else { return Vec::new() };
        let scheduled: BTreeSet<&TaskId> = self
            .planning
            .schedule
            .iter()
            .flat_map(|schedule| schedule.blocks.iter().map(|block| &block.plan_node_id))
            .collect();
        let begun = self.run.started_at.is_some();
        let waits = |(task, node): (usize, &planwright_model::TaskNode)| {
            let row = self.tasks.row(task);
            let waiting = row.status == TaskStatus::Yours
                || (begun && self.tasks.is_human(task) && self.tasks.is_ready(task));
            if !waiting || scheduled.contains(&node.id) {
                return None;
            }
            // A lag keeps it out of the days before; whoever does it earlier may.
            let lag_ends = self.lags_end(node);
            if lag_ends.is_some_and(|at| at.to_zoned(zone.clone()).date() > today) {
                return None;
            }
            let start = lag_ends.or(row.started_at).or(self.run.started_at).or(self.at)?;
            Some(DueTask {
                task: node.id.clone(),
                title: node.description.clone(),
                block: None,
                occurrence: None,
                start,
                minutes: node.duration_minutes.unwrap_or(0),
                status: row.status,
                late: start.to_zoned(zone.clone()).date() < today,
                yours: true,
                ready: true,
            })
        };
        current.plan.tasks.iter().enumerate().filter_map(waits).collect()
    }

    fn occurrence_status(&self, task: usize, occurrence: Option<u32>) -> TaskStatus {
        let row = self.tasks.row(task);
        match occurrence.and_then(|occurrence| row.occurrences.get(&occurrence)) {
            Some(true) => TaskStatus::Done,
            Some(false) => TaskStatus::Skipped(SkipReason::ByPerson),
            // A repeating task that is settled as a whole has nothing left that is due.
            None => row.status,
        }
    }
}
