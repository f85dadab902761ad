//! An index over all records of a session: which of them are steps, where the landmarks are, how busy it was when.
//!
//! It belongs to whoever looks at a session and covers the whole of it. A replay at an earlier moment shows a prefix:
//! nothing in it depends on the cursor, so scrubbing never rebuilds it. It needs little more of an event than its kind,
//! its task and its time, and long stretches of it are stored; see [`StoredStretch`]. About sixteen bytes a step.

mod packed_stretch;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::trace::{TraceEntry, TraceEntryKind, WireNameKind, subject_task};
use planwright_model::event::{Event, Record, TaskEvent};
use planwright_model::{Seq, TaskId};

pub use packed_stretch::StoredStretch;
use packed_stretch::{PackedSteps, StretchHead};

/// How many events a stored stretch covers.
pub const STRETCH_EVENTS: u64 = 4_096;

/// Marks an entry that belongs to no task.
const NO_TASK: u32 = u32::MAX;

/// What is known of an event without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventOutline<'a> {
    pub seq: Seq,
    pub at: Timestamp,
    /// The wire name, such as `task.started`.
    pub kind: &'a str,
    pub task: Option<&'a str>,
}

impl EventOutline<'_> {
    /// Whether the index must look into the event itself: where its name does not tell the kind of step, and for
    /// requests and failures, which say inside which task they are about and whether they are final.
    pub fn needs_event(&self) -> bool {
        TraceEntryKind::from_wire_name(self.kind) == WireNameKind::NeedsEvent
    }
}

/// Where a readable step stands in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineStep {
    pub seq: Seq,
    task: u32,
    pub kind: TraceEntryKind,
}

/// What a mark on the scrub bar stands for, the most important last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LandmarkKind {
    /// A changed plan was approved and took the place of the one before.
    Applied,
    /// The plan was approved.
    Approval,
    /// Something was asked.
    Question,
    Failure,
}

impl LandmarkKind {
    pub fn glyph(self) -> char {
        match self {
            Self::Applied => '✓',
            Self::Approval => 'A',
            Self::Question => '?',
            Self::Failure => '✗',
        }
    }

    /// What happened, in one word.
    pub fn label(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Approval => "approved",
            Self::Question => "asked",
            Self::Failure => "failed",
        }
    }
}

/// A stretch of time in which nothing ran and nothing was journaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleGap {
    pub start: Timestamp,
    pub end: Timestamp,
}

/// Idle time that is longer than this is folded.
const LONGEST_IDLE: jiff::SignedDuration = jiff::SignedDuration::from_mins(2);
/// Waiting for the person that is longer than this is folded where it is most of the time.
const LONGEST_WAIT: jiff::SignedDuration = jiff::SignedDuration::from_secs(5);

/// A moment worth jumping to.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineLandmark {
    pub seq: Seq,
    pub at: Timestamp,
    pub kind: LandmarkKind,
    pub task: Option<TaskId>,
}

/// What was going on from one moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimelineActivity {
    /// Nothing, or everything waits for the person.
    Waiting,
    Planning,
    /// So many tasks at once.
    Tasks(u16),
}

/// The index.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Stretches from the front that were read from where they are stored.
    packed: Vec<PackedSteps>,
    /// How many steps they have together.
    packed_steps: usize,
    /// The steps after them.
    steps: Vec<TimelineStep>,
    landmarks: Vec<TimelineLandmark>,
    activity: Vec<(Timestamp, TimelineActivity)>,
    /// Idle time worth folding, in order.
    gaps: Vec<IdleGap>,
    names: Vec<TaskId>,
    index: HashMap<TaskId, u32>,
    running: HashSet<u32>,
    open_requests: u32,
    plans: u32,
    /// How many plans were approved.
    approvals: u32,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// When something happened for the last time that is more than a process coming or going.
    last_work: Option<Timestamp>,
    head: Seq,
    /// Where the stretch that is being filled began.
    stretch_start: StretchStart,
}

/// How much there was when a stretch began.
#[derive(Clone, Copy, Debug, Default)]
struct StretchStart {
    seq: Seq,
    steps: usize,
    landmarks: usize,
    activity: usize,
    gaps: usize,
    names: usize,
}

impl Timeline {
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut timeline = Self::default();
        records.into_iter().for_each(|record| timeline.apply(record));
        timeline
    }

    /// Adds one record. Records come in the order of their numbers; one that is already there changes nothing.
    pub fn apply(&mut self, record: &Record) {
        let kind = record.event.kind();
        let task = record.event.task_id().map(TaskId::as_str);
        let outline = EventOutline { seq: record.seq, at: record.at, kind: &kind, task };
        self.apply_outline(&outline, Some(&record.event));
    }

    /// Adds one event by what is known of it. Those that [need it](EventOutline::needs_event) come with the event itself.
    pub fn apply_outline(&mut self, outline: &EventOutline<'_>, event: Option<&Event>) {
        if outline.seq <= self.head {
            return;
        }
        self.head = outline.seq;
        self.first.get_or_insert(outline.at);
        self.record_gap(outline);
        // The clock may have been set back between two processes; the bar only ever moves on.
        self.last = Some(self.last.map_or(outline.at, |last| last.max(outline.at)));
        let asked = event.and_then(subject_task).filter(|_| outline.task.is_none());
        let task = match (outline.task, asked) {
            (Some(task), _) => self.intern_task(task),
            (None, Some(task)) => self.intern_task(task.as_str()),
            (None, None) => NO_TASK,
        };
        let kind = match (event, TraceEntryKind::from_wire_name(outline.kind)) {
            (Some(event), _) => TraceEntry::entry_kind(event),
            (None, WireNameKind::Known(kind)) => kind,
            (None, WireNameKind::NeedsEvent) => Some(TraceEntryKind::Unknown),
        };
        if let Some(kind) = kind {
            self.steps.push(TimelineStep { seq: outline.seq, task, kind });
        }
        self.record_landmark(outline, task, event);
        self.record_activity(outline, task);
    }

    /// Notes the time since the last event where nothing ran in it. What a process that died left running did not run.
    fn record_gap(&mut self, outline: &EventOutline<'_>) {
        let visit = matches!(outline.kind, "session.opened" | "session.closed");
        if let Some(last) = self.last
            && outline.at.duration_since(last) > LONGEST_IDLE
            && (self.running.is_empty() || outline.kind == "session.opened")
        {
            self.gaps.push(IdleGap { start: last, end: outline.at });
        }
        if !visit {
            self.last_work = self.last_work.max(Some(outline.at));
        }
    }

    fn intern_task(&mut self, task: &str) -> u32 {
        if let Some(&known) = self.index.get(task) {
            return known;
        }
        let number = self.names.len() as u32;
        self.names.push(TaskId::from(task));
        self.index.insert(TaskId::from(task), number);
        number
    }

    fn record_landmark(&mut self, outline: &EventOutline<'_>, task: u32, event: Option<&Event>) {
        let kind = match outline.kind {
            "approval.asked" => LandmarkKind::Question,
            "task.failed" => match event {
                Some(Event::Task(TaskEvent::Failed { retry_in_ms: None, .. })) => {
                    LandmarkKind::Failure
                }
                _ => return,
            },
            "plan.proposed" => {
                self.plans += 1;
                return;
            }
            "plan.approved" => {
                self.approvals += 1;
                if self.approvals == 1 { LandmarkKind::Approval } else { LandmarkKind::Applied }
            }
            _ => return,
        };
        let task = self.names.get(task as usize).cloned();
        self.landmarks.push(TimelineLandmark { seq: outline.seq, at: outline.at, kind, task });
    }

    fn record_activity(&mut self, outline: &EventOutline<'_>, task: u32) {
        match outline.kind {
            "task.started" => {
                self.running.insert(task);
            }
            "task.completed" | "task.failed" | "task.skipped" | "task.reset" => {
                self.running.remove(&task);
            }
            "approval.asked" => self.open_requests += 1,
            "approval.answered" | "approval.withdrawn" => {
                self.open_requests = self.open_requests.saturating_sub(1);
            }
            "run.interrupted" | "run.finished" | "session.closed" => self.running.clear(),
            _ => {}
        }
        let now = if self.running.is_empty() {
            if self.plans == 0 { TimelineActivity::Planning } else { TimelineActivity::Waiting }
        } else {
            TimelineActivity::Tasks(self.running.len().try_into().unwrap_or(u16::MAX))
        };
        if self.activity.last().is_none_or(|(_, before)| *before != now) {
            self.activity.push((self.last.unwrap_or(outline.at), now));
        }
    }

    /// Takes over a stored stretch that follows what is here. Returns whether it did.
    pub fn append_stored(&mut self, stored: StoredStretch) -> bool {
        let Some(head) = StretchHead::decode(&stored.head, &self.names) else { return false };
        if head.after != self.head || !self.steps.is_empty() {
            return false;
        }
        let at = |micros| Timestamp::from_microsecond(micros).ok();
        for name in &head.names {
            self.intern_task(name.as_str());
        }
        self.packed_steps += head.steps;
        self.first = self.first.or(at(head.first));
        self.last = at(head.last);
        self.last_work = head.last_work.and_then(at);
        self.head = head.upto;
        self.plans = head.plans;
        self.approvals = head.approvals;
        self.open_requests = head.open_requests;
        self.running = head.running.iter().copied().collect();
        self.packed.push(packed_stretch::build_packed_steps(stored, &head));
        self.landmarks.extend(head.landmarks);
        self.activity.extend(head.activity);
        self.gaps.extend(head.gaps);
        self.begin_stretch();
        true
    }

    /// The stretch since the last one, in its stored form: head and steps. The next begins here.
    pub fn pack_stretch(&mut self) -> (Vec<u8>, Vec<u8>) {
        let begun = self.stretch_start;
        let steps = &self.steps[begun.steps.saturating_sub(self.packed_steps)..];
        let micros = |at: Option<Timestamp>| at.map_or(0, Timestamp::as_microsecond);
        let head = StretchHead {
            after: begun.seq,
            upto: self.head,
            first: micros(self.first),
            last: micros(self.last),
            last_work: self.last_work.map(Timestamp::as_microsecond),
            plans: self.plans,
            approvals: self.approvals,
            open_requests: self.open_requests,
            steps: steps.len(),
            names: self.names[begun.names..].to_vec(),
            running: self.running.iter().copied().collect(),
            landmarks: self.landmarks[begun.landmarks..].to_vec(),
            activity: packed_stretch::thin_activity(&self.activity[begun.activity..]),
            gaps: self.gaps[begun.gaps..].to_vec(),
        };
        let bytes = head.encode(|task| self.index.get(task).copied());
        let steps = packed_stretch::encode_steps(steps, begun.seq);
        self.begin_stretch();
        (bytes, steps)
    }

    fn begin_stretch(&mut self) {
        self.stretch_start = StretchStart {
            seq: self.head,
            steps: self.len(),
            landmarks: self.landmarks.len(),
            activity: self.activity.len(),
            gaps: self.gaps.len(),
            names: self.names.len(),
        };
    }

    /// The number of the last record.
    pub fn head_seq(&self) -> Seq {
        self.head
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.packed_steps + self.steps.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A step by its place, the oldest first.
    pub fn step_at(&self, index: usize) -> Option<TimelineStep> {
        let mut index = index;
        if index >= self.packed_steps {
            return self.steps.get(index - self.packed_steps).copied();
        }
        for stretch in &self.packed {
            if index < stretch.count {
                return stretch.steps().get(index).copied();
            }
            index -= stretch.count;
        }
        None
    }

    /// All steps from a place on.
    pub fn steps_from(&self, index: usize) -> impl Iterator<Item = TimelineStep> + '_ {
        let mut before = 0;
        let packed = self.packed.iter().filter_map(move |stretch| {
            let skipped = index.saturating_sub(before).min(stretch.count);
            before += stretch.count;
            // A stretch that is not asked for stays packed.
            (skipped < stretch.count).then(|| stretch.steps().get(skipped..)).flatten()
        });
        let skipped = index.saturating_sub(self.packed_steps).min(self.steps.len());
        packed.flatten().chain(&self.steps[skipped..]).copied()
    }

    /// How many steps there are up to and including an event.
    pub fn steps_up_to(&self, seq: Seq) -> usize {
        let mut before = 0;
        for stretch in &self.packed {
            if seq < stretch.last {
                let within = stretch.steps().partition_point(|step| step.seq <= seq);
                return before + within;
            }
            before += stretch.count;
        }
        before + self.steps.partition_point(|step| step.seq <= seq)
    }

    /// The task a step belongs to.
    pub fn task_of(&self, step: &TimelineStep) -> Option<&TaskId> {
        self.names.get(step.task as usize)
    }

    /// Whether a step belongs to the task.
    pub fn is_about(&self, step: &TimelineStep, task: &TaskId) -> bool {
        self.index.get(task).is_some_and(|number| *number == step.task)
    }

    /// The steps from a place on, each with its place: those of one task, or all. A task that no step is about costs
    /// nothing, and no stretch is unpacked for it.
    pub fn steps_of(
        &self,
        task: Option<&TaskId>,
        from: usize,
    ) -> impl Iterator<Item = (usize, TimelineStep)> + '_ {
        let number = task.map(|task| self.index.get(task).copied());
        let from = if number == Some(None) { self.len() } else { from };
        let wanted = number.flatten();
        let steps = (from..).zip(self.steps_from(from));
        steps.filter(move |(_, step)| wanted.is_none_or(|task| step.task == task))
    }

    pub fn landmarks(&self) -> &[TimelineLandmark] {
        &self.landmarks
    }

    /// The next landmark after an event.
    pub fn landmark_after(&self, seq: Seq) -> Option<&TimelineLandmark> {
        self.landmarks.get(self.landmarks.partition_point(|mark| mark.seq <= seq))
    }

    /// The last landmark before an event.
    pub fn landmark_before(&self, seq: Seq) -> Option<&TimelineLandmark> {
        self.landmarks
            .partition_point(|mark| mark.seq < seq)
            .checked_sub(1)
            .map(|last| &self.landmarks[last])
    }

    /// When the session began and when its last event happened.
    pub fn time_span(&self) -> Option<(Timestamp, Timestamp)> {
        Some((self.first?, self.last?))
    }

    /// What a bar over the run covers: up to the last thing that happened in it, without the time that a screen stayed
    /// open afterwards.
    pub fn work_span(&self) -> Option<(Timestamp, Timestamp)> {
        let (first, last) = self.time_span()?;
        Some((first, self.last_work.unwrap_or(last)))
    }

    /// Idle time worth folding, in order.
    pub fn idle_gaps(&self) -> &[IdleGap] {
        &self.gaps
    }

    /// The stretches that a bar over the whole time folds: the idle ones, and waiting for the person where that would
    /// take more than half of what is left.
    pub fn folded_gaps(&self) -> Vec<IdleGap> {
        let Some((start, end)) = self.work_span() else { return Vec::new() };
        let seconds = |gaps: &[IdleGap]| -> f64 {
            gaps.iter().map(|gap| gap.end.duration_since(gap.start).as_secs_f64()).sum()
        };
        let left = end.duration_since(start).as_secs_f64() - seconds(&self.gaps);
        let waits = self.waits();
        let mut folded = self.gaps.clone();
        if seconds(&waits) * 2.0 > left {
            folded.extend(waits);
            folded.sort_by_key(|gap| gap.start);
        }
        folded
    }

    /// When everything waited for the person, beside what is folded as idle.
    fn waits(&self) -> Vec<IdleGap> {
        let until = self.activity.iter().skip(1).map(|(at, _)| *at);
        let apart = |wait: &IdleGap| {
            self.gaps.iter().all(|gap| gap.end <= wait.start || gap.start >= wait.end)
        };
        self.activity
            .iter()
            .zip(until)
            .filter(|((_, activity), _)| *activity == TimelineActivity::Waiting)
            .map(|((start, _), end)| IdleGap { start: *start, end })
            .filter(|wait| wait.end.duration_since(wait.start) > LONGEST_WAIT && apart(wait))
            .collect()
    }

    /// The busiest moment between two times.
    pub fn busiest_activity(&self, from: Timestamp, to: Timestamp) -> TimelineActivity {
        let first = self.activity.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        self.activity[first.min(self.activity.len())..]
            .iter()
            .take_while(|(at, _)| *at < to || *at <= from)
            .map(|(_, activity)| *activity)
            .max()
            .unwrap_or(TimelineActivity::Waiting)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use planwright_model::event::arbitrary::journal;

    proptest! {
        #[test]
        fn every_readable_record_is_one_step(records in journal(60)) {
            let timeline = Timeline::from_records(&records);
            let readable: Vec<(Seq, TraceEntryKind)> =
                records.iter().filter_map(TraceEntry::from_record).map(|entry| (entry.seq, entry.kind)).collect();
            let steps: Vec<_> = timeline.steps_from(0).map(|step| (step.seq, step.kind)).collect();
            prop_assert_eq!(steps, readable);
            for record in &records {
                let kind = TraceEntry::from_record(record).map(|entry| entry.kind);
                prop_assert_eq!(kind, TraceEntry::entry_kind(&record.event));
                if let WireNameKind::Known(told) = TraceEntryKind::from_wire_name(&record.event.kind()) {
                    prop_assert_eq!(told, kind);
                }
            }
        }

        #[test]
        fn stored_stretches_read_as_what_they_were_made_of(records in journal(120), width in 1..40usize) {
            let whole = Timeline::from_records(&records);
            let (mut maker, mut read) = (Timeline::default(), Timeline::default());
            let mut chunks = records.chunks_exact(width);
            for chunk in &mut chunks {
                for record in chunk {
                    maker.apply(record);
                }
                let (head, steps) = maker.pack_stretch();
                let stored = StoredStretch { head, steps, unpack: |bytes| Some(bytes.to_vec()) };
                prop_assert!(read.append_stored(stored));
            }
            chunks.remainder().iter().for_each(|record| read.apply(record));
            let steps = |timeline: &Timeline| -> Vec<_> {
                timeline.steps_from(0).map(|step| (step, timeline.task_of(&step).cloned())).collect()
            };
            for from in 0..=whole.len() {
                prop_assert!(read.steps_from(from).eq(whole.steps_from(from)), "from {}", from);
                for task in &whole.names {
                    let about = |(_, step): &(usize, TimelineStep)| whole.is_about(step, task);
                    let filtered = whole.steps_of(None, from).filter(about);
                    prop_assert!(read.steps_of(Some(task), from).eq(filtered), "{} from {}", task, from);
                }
            }
            prop_assert_eq!(read.steps_of(Some(&"nobody-did-this".into()), 0).count(), 0);
            prop_assert_eq!(steps(&read), steps(&whole));
            prop_assert_eq!(read.landmarks(), whole.landmarks());
            prop_assert_eq!((read.time_span(), read.head_seq(), read.len()), (whole.time_span(), whole.head_seq(), whole.len()));
            for seq in 0..=records.len() as u64 {
                prop_assert_eq!(read.steps_up_to(Seq(seq)), whole.steps_up_to(Seq(seq)));
            }
            if let Some((start, end)) = whole.time_span() {
                prop_assert_eq!(read.busiest_activity(start, end), whole.busiest_activity(start, end));
            }
        }

        #[test]
        fn no_bytes_are_taken_for_a_stretch_or_panic(head in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut timeline = Timeline::default();
            let stored = StoredStretch { head, steps: vec![1, 2, 3], unpack: |bytes| Some(bytes.to_vec()) };
            if timeline.append_stored(stored) && timeline.len() < 1_000_000 {
                let _ = timeline.steps_from(0).count();
            }
        }

        #[test]
        fn landmarks_can_be_walked_both_ways(records in journal(60)) {
            let timeline = Timeline::from_records(&records);
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
            let timeline = Timeline::from_records(&records);
            let start = 1_780_000_000_000_000 + from;
            let at = |micros| Timestamp::from_microsecond(micros).unwrap();
            let _ = timeline.busiest_activity(at(start), at(start + width));
        }
    }
}
