//! An index over all records of a session: which of them are steps, where the landmarks are, how busy it was when.
//!
//! It belongs to whoever looks at a session and covers the whole of it. A replay at an earlier moment shows a prefix:
//! nothing in it depends on the cursor, so scrubbing never rebuilds it. About sixteen bytes a step.

use std::collections::HashMap;

use jiff::Timestamp;

use super::trace::{EntryKind, TraceEntry, subject};
use crate::event::{ApprovalEvent, Event, PlanEvent, Record, RunEvent, TaskEvent};
use crate::model::{Seq, TaskId};

/// Marks an entry that belongs to no task.
const NO_TASK: u32 = u32::MAX;

/// Where a readable step stands in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub seq: Seq,
    task: u32,
    pub kind: EntryKind,
}

/// What a mark on the scrub bar stands for, the most important last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LandmarkKind {
    Replan,
    Approval,
    Failure,
}

impl LandmarkKind {
    pub fn glyph(self) -> char {
        match self {
            Self::Replan => 'R',
            Self::Approval => 'A',
            Self::Failure => '✗',
        }
    }
}

/// A moment worth jumping to.
#[derive(Clone, Debug, PartialEq)]
pub struct Landmark {
    pub seq: Seq,
    pub at: Timestamp,
    pub kind: LandmarkKind,
    pub task: Option<TaskId>,
}

/// What was going on from one moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Activity {
    /// Nothing, or everything waits for the person.
    Waiting,
    Planning,
    /// So many tasks at once.
    Tasks(u16),
}

/// The index.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    steps: Vec<Step>,
    landmarks: Vec<Landmark>,
    activity: Vec<(Timestamp, Activity)>,
    names: Vec<TaskId>,
    index: HashMap<TaskId, u32>,
    running: std::collections::HashSet<TaskId>,
    open_requests: u32,
    plans: u32,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    head: Seq,
}

impl Timeline {
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut timeline = Self::default();
        records.into_iter().for_each(|record| timeline.apply(record));
        timeline
    }

    /// Adds one record. Records come in the order of their numbers; one that is already there changes nothing.
    pub fn apply(&mut self, record: &Record) {
        if record.seq <= self.head {
            return;
        }
        self.head = record.seq;
        self.first.get_or_insert(record.at);
        // The clock may have been set back between two processes; the bar only ever moves on.
        self.last = Some(self.last.map_or(record.at, |last| last.max(record.at)));
        if let Some(kind) = TraceEntry::kind_of(&record.event) {
            let task = subject(&record.event).map_or(NO_TASK, |task| self.intern(task));
            self.steps.push(Step { seq: record.seq, task, kind });
        }
        self.note_landmark(record);
        self.note_activity(record);
    }

    fn intern(&mut self, task: &TaskId) -> u32 {
        if let Some(&known) = self.index.get(task) {
            return known;
        }
        let number = self.names.len() as u32;
        self.names.push(task.clone());
        self.index.insert(task.clone(), number);
        number
    }

    fn note_landmark(&mut self, record: &Record) {
        let kind = match &record.event {
            Event::Approval(ApprovalEvent::Asked { .. } | ApprovalEvent::Answered { .. }) => {
                LandmarkKind::Approval
            }
            Event::Task(TaskEvent::Failed { retry_in_ms: None, .. }) => LandmarkKind::Failure,
            Event::Plan(PlanEvent::Proposed { .. }) => {
                self.plans += 1;
                if self.plans == 1 {
                    return;
                }
                LandmarkKind::Replan
            }
            _ => return,
        };
        let task = subject(&record.event).cloned();
        self.landmarks.push(Landmark { seq: record.seq, at: record.at, kind, task });
    }

    fn note_activity(&mut self, record: &Record) {
        match &record.event {
            Event::Task(TaskEvent::Started { task, .. }) => {
                self.running.insert(task.clone());
            }
            Event::Task(
                TaskEvent::Completed { task, .. }
                | TaskEvent::Failed { task, .. }
                | TaskEvent::Skipped { task, .. }
                | TaskEvent::Reset { task, .. },
            ) => {
                self.running.remove(task);
            }
            Event::Approval(ApprovalEvent::Asked { .. }) => self.open_requests += 1,
            Event::Approval(ApprovalEvent::Answered { .. } | ApprovalEvent::Withdrawn { .. }) => {
                self.open_requests = self.open_requests.saturating_sub(1);
            }
            Event::Run(RunEvent::Interrupted { .. } | RunEvent::Finished { .. }) => {
                self.running.clear();
            }
            _ => {}
        }
        let now = if self.running.is_empty() {
            if self.plans == 0 { Activity::Planning } else { Activity::Waiting }
        } else {
            Activity::Tasks(self.running.len().try_into().unwrap_or(u16::MAX))
        };
        if self.activity.last().is_none_or(|(_, before)| *before != now) {
            self.activity.push((self.last.unwrap_or(record.at), now));
        }
    }

    /// The number of the last record.
    pub fn head(&self) -> Seq {
        self.head
    }

    /// All steps, oldest first.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How many steps there are up to and including an event.
    pub fn steps_up_to(&self, seq: Seq) -> usize {
        self.steps.partition_point(|step| step.seq <= seq)
    }

    /// The task a step belongs to.
    pub fn task_of(&self, step: &Step) -> Option<&TaskId> {
        self.names.get(step.task as usize)
    }

    /// Whether a step belongs to the task.
    pub fn is_about(&self, step: &Step, task: &TaskId) -> bool {
        self.index.get(task).is_some_and(|number| *number == step.task)
    }

    pub fn landmarks(&self) -> &[Landmark] {
        &self.landmarks
    }

    /// The next landmark after an event.
    pub fn landmark_after(&self, seq: Seq) -> Option<&Landmark> {
        self.landmarks.get(self.landmarks.partition_point(|mark| mark.seq <= seq))
    }

    /// The last landmark before an event.
    pub fn landmark_before(&self, seq: Seq) -> Option<&Landmark> {
        self.landmarks
            .partition_point(|mark| mark.seq < seq)
            .checked_sub(1)
            .map(|last| &self.landmarks[last])
    }

    /// When the session began and when its last event happened.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        Some((self.first?, self.last?))
    }

    /// The busiest moment between two times.
    pub fn busiest(&self, from: Timestamp, to: Timestamp) -> Activity {
        let first = self.activity.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        self.activity[first.min(self.activity.len())..]
            .iter()
            .take_while(|(at, _)| *at < to || *at <= from)
            .map(|(_, activity)| *activity)
            .max()
            .unwrap_or(Activity::Waiting)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::arbitrary::journal;

    proptest! {
        #[test]
        fn every_readable_record_is_one_step(records in journal(60)) {
            let timeline = Timeline::of(&records);
            let readable: Vec<Seq> =
                records.iter().filter_map(TraceEntry::of).map(|entry| entry.seq).collect();
            prop_assert_eq!(timeline.steps().iter().map(|step| step.seq).collect::<Vec<_>>(), readable);
            for record in &records {
                prop_assert_eq!(TraceEntry::of(record).map(|entry| entry.kind), TraceEntry::kind_of(&record.event));
            }
        }

        #[test]
        fn landmarks_can_be_walked_both_ways(records in journal(60)) {
            let timeline = Timeline::of(&records);
            let mut forward = Vec::new();
            let mut at = Seq::START;
            while let Some(mark) = timeline.landmark_after(at) {
                at = mark.seq;
                forward.push(at);
            }
            let mut backward = Vec::new();
            let mut at = Seq(u64::MAX);
            while let Some(mark) = timeline.landmark_before(at) {
                at = mark.seq;
                backward.push(at);
            }
            backward.reverse();
            prop_assert_eq!(forward, backward);
        }

        #[test]
        fn any_span_has_a_busiest_moment(records in journal(60), from in 0..100_000i64, width in 0..100_000i64) {
            let timeline = Timeline::of(&records);
            let start = 1_780_000_000_000_000 + from;
            let at = |micros| Timestamp::from_microsecond(micros).unwrap();
            let _ = timeline.busiest(at(start), at(start + width));
        }
    }
}
