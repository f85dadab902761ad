//! A stretch of a timeline as bytes, so that a long session opens without looking at each of its events.
//!
//! The head holds what a first screen needs: names, landmarks, how busy it was, and what the fold must know to go on.
//! The steps are behind it and are decoded when somebody looks at them. Numbers are variable-length, seven bits a byte.

use std::sync::OnceLock;

use jiff::Timestamp;

use super::{
    IdleGap, LandmarkKind, TimelineActivity, TimelineLandmark, TimelineStep, TraceEntryKind,
};
use planwright_model::{Seq, TaskId};

const VERSION: u64 = 2;
/// How many moments of activity a stretch keeps; more than a wide scrub bar can show of it.
const MAX_ACTIVITY_MOMENTS: usize = 64;

/// A stretch of a timeline in its stored form.
#[derive(Clone, Debug)]
pub struct StoredStretch {
    pub head: Vec<u8>,
    /// As it was stored; `unpack` gives the bytes back.
    pub steps: Vec<u8>,
    pub unpack: fn(&[u8]) -> Option<Vec<u8>>,
}

/// The steps of a stretch, decoded on the first look.
#[derive(Clone, Debug)]
pub(super) struct PackedSteps {
    pub(super) count: usize,
    pub(super) first: Seq,
    pub(super) last: Seq,
    stored: Vec<u8>,
    unpack: fn(&[u8]) -> Option<Vec<u8>>,
    decoded: OnceLock<Vec<TimelineStep>>,
}

impl PackedSteps {
    /// The steps. Bytes that cannot be read give steps of an unknown kind, so that numbers stay right.
    pub(super) fn steps(&self) -> &[TimelineStep] {
        self.decoded.get_or_init(|| {
            let bytes = (self.unpack)(&self.stored).unwrap_or_default();
            let mut steps = decode_steps(&bytes, self.first).unwrap_or_default();
            let filler = TimelineStep {
                seq: self.last,
                task: super::NO_TASK,
                kind: TraceEntryKind::Unknown,
            };
            steps.resize(self.count, filler);
            steps
        })
    }
}

/// What the fold knows at the end of a stretch and what happened in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StretchHead {
    pub(super) after: Seq,
    pub(super) upto: Seq,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) last_work: Option<i64>,
    pub(super) plans: u32,
    pub(super) approvals: u32,
    pub(super) open_requests: u32,
    pub(super) steps: usize,
    /// Names that were not known before.
    pub(super) names: Vec<TaskId>,
    /// Running tasks, by the place of their name.
    pub(super) running: Vec<u32>,
    pub(super) landmarks: Vec<TimelineLandmark>,
    pub(super) activity: Vec<(Timestamp, TimelineActivity)>,
    pub(super) gaps: Vec<IdleGap>,
}

impl StretchHead {
    pub(super) fn encode(&self, place_of: impl Fn(&TaskId) -> Option<u32>) -> Vec<u8> {
        let mut out = Vec::new();
        for number in [VERSION, self.after.0, self.upto.0] {
            put_varint(&mut out, number);
        }
        put_signed_varint(&mut out, self.first);
        put_signed_varint(&mut out, self.last);
        put_varint(&mut out, u64::from(self.last_work.is_some()));
        put_signed_varint(&mut out, self.last_work.unwrap_or_default());
        let counts = [self.plans, self.approvals, self.open_requests];
        for count in counts {
            put_varint(&mut out, count.into());
        }
        put_varint(&mut out, self.steps as u64);
        put_varint(&mut out, self.names.len() as u64);
        for name in &self.names {
            put_varint(&mut out, name.as_str().len() as u64);
            out.extend_from_slice(name.as_str().as_bytes());
        }
        put_varint(&mut out, self.running.len() as u64);
        self.running.iter().for_each(|task| put_varint(&mut out, (*task).into()));
        put_varint(&mut out, self.landmarks.len() as u64);
        let (mut seq, mut at) = (self.after.0, self.first);
        for mark in &self.landmarks {
            put_varint(&mut out, mark.seq.0 - seq);
            put_signed_varint(&mut out, mark.at.as_microsecond() - at);
            out.push(mark.kind as u8);
            let task = mark.task.as_ref().and_then(&place_of);
            put_varint(&mut out, task.map_or(0, |task| u64::from(task) + 1));
            (seq, at) = (mark.seq.0, mark.at.as_microsecond());
        }
        put_varint(&mut out, self.activity.len() as u64);
        let mut at = self.first;
        for (moment, activity) in &self.activity {
            put_signed_varint(&mut out, moment.as_microsecond() - at);
            at = moment.as_microsecond();
            put_varint(
                &mut out,
                match activity {
                    TimelineActivity::Waiting => 0,
                    TimelineActivity::Planning => 1,
                    TimelineActivity::Tasks(count) => u64::from(*count) + 1,
                },
            );
        }
        put_varint(&mut out, self.gaps.len() as u64);
        let mut at = self.first;
        for moment in self.gaps.iter().flat_map(|gap| [gap.start, gap.end]) {
            put_signed_varint(&mut out, moment.as_microsecond() - at);
            at = moment.as_microsecond();
        }
        out
    }

    /// Reads a head; `known` are the names from before. `None` if it is not one of this version.
    pub(super) fn decode(bytes: &[u8], known: &[TaskId]) -> Option<Self> {
        let mut from = VarintReader(bytes);
        if from.read_varint()? != VERSION {
            return None;
        }
        let mut head = Self {
            after: Seq(from.read_varint()?),
            upto: Seq(from.read_varint()?),
            first: from.read_signed()?,
            last: from.read_signed()?,
            last_work: {
                let known = from.read_varint()? != 0;
                Some(from.read_signed()?).filter(|_| known)
            },
            plans: from.read_u32()?,
            approvals: from.read_u32()?,
            open_requests: from.read_u32()?,
            steps: from.read_varint()? as usize,
            ..Self::default()
        };
        for _ in 0..from.read_count()? {
            let length = from.read_count()?;
            let name = std::str::from_utf8(from.take_bytes(length)?).ok()?;
            head.names.push(TaskId::from(name));
        }
        for _ in 0..from.read_count()? {
            head.running.push(from.read_u32()?);
        }
        let name = |place: u64, names: &[TaskId]| {
            let place = usize::try_from(place).ok()?.checked_sub(1)?;
            known.get(place).or_else(|| names.get(place.checked_sub(known.len())?)).cloned()
        };
        let (mut seq, mut at) = (head.after.0, head.first);
        for _ in 0..from.read_count()? {
            seq = seq.checked_add(from.read_varint()?)?;
            at = at.checked_add(from.read_signed()?)?;
            let kind = match from.take_bytes(1)? {
                [0] => LandmarkKind::Applied,
                [1] => LandmarkKind::Approval,
                [2] => LandmarkKind::Question,
                [3] => LandmarkKind::Failure,
                _ => return None,
            };
            let task = name(from.read_varint()?, &head.names);
            let at = Timestamp::from_microsecond(at).ok()?;
            head.landmarks.push(TimelineLandmark { seq: Seq(seq), at, kind, task });
        }
        let mut at = head.first;
        for _ in 0..from.read_count()? {
            at = at.checked_add(from.read_signed()?)?;
            let activity = match from.read_varint()? {
                0 => TimelineActivity::Waiting,
                1 => TimelineActivity::Planning,
                count => TimelineActivity::Tasks(u16::try_from(count - 1).ok()?),
            };
            head.activity.push((Timestamp::from_microsecond(at).ok()?, activity));
        }
        let mut at = head.first;
        for _ in 0..from.read_count()? {
            at = at.checked_add(from.read_signed()?)?;
            let start = Timestamp::from_microsecond(at).ok()?;
            at = at.checked_add(from.read_signed()?)?;
            head.gaps.push(IdleGap { start, end: Timestamp::from_microsecond(at).ok()? });
        }
        Some(head)
    }
}

pub(super) fn build_packed_steps(stored: StoredStretch, head: &StretchHead) -> PackedSteps {
    PackedSteps {
        count: head.steps,
        first: head.after,
        last: head.upto,
        stored: stored.steps,
        unpack: stored.unpack,
        decoded: OnceLock::new(),
    }
}

/// Each step as the distance from the one before, its kind and its task.
pub(super) fn encode_steps(steps: &[TimelineStep], after: Seq) -> Vec<u8> {
    let mut out = Vec::with_capacity(steps.len() * 3);
    let mut seq = after.0;
    for step in steps {
        put_varint(&mut out, step.seq.0 - seq);
        seq = step.seq.0;
        out.push(step.kind as u8);
        put_varint(&mut out, u64::from(step.task.wrapping_add(1)));
    }
    out
}

fn decode_steps(bytes: &[u8], after: Seq) -> Option<Vec<TimelineStep>> {
    let mut from = VarintReader(bytes);
    let (mut steps, mut seq) = (Vec::new(), after.0);
    while !from.0.is_empty() {
        seq = seq.checked_add(from.read_varint()?)?;
        let kind = TraceEntryKind::from_byte(from.take_bytes(1)?[0])?;
        let task = from.read_u32()?.wrapping_sub(1);
        steps.push(TimelineStep { seq: Seq(seq), task, kind });
    }
    Some(steps)
}

/// Keeps the busiest moment of each slice of time, so that a stretch stays small however busy it was.
pub(super) fn thin_activity(
    activity: &[(Timestamp, TimelineActivity)],
) -> Vec<(Timestamp, TimelineActivity)> {
    let (Some((first, _)), Some((last, _))) = (activity.first(), activity.last()) else {
        return Vec::new();
    };
    if activity.len() <= MAX_ACTIVITY_MOMENTS {
        return activity.to_vec();
    }
    let (start, end) = (first.as_microsecond(), last.as_microsecond());
    let width = (end - start) / MAX_ACTIVITY_MOMENTS as i64 + 1;
    let mut kept: Vec<(Timestamp, TimelineActivity)> = Vec::with_capacity(MAX_ACTIVITY_MOMENTS + 1);
    let mut slice = -1;
    for (at, activity) in &activity[..activity.len() - 1] {
        let own = (at.as_microsecond() - start) / width;
        match kept.last_mut() {
            Some((_, busiest)) if own == slice => *busiest = (*busiest).max(*activity),
            _ => kept.push((*at, *activity)),
        }
        slice = own;
    }
    // What goes on at the end goes on beyond it, and must not be made busier than it is.
    kept.extend(activity.last().copied());
    kept
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_signed_varint(out: &mut Vec<u8>, number: i64) {
    put_varint(out, (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned());
}

struct VarintReader<'a>(&'a [u8]);

impl<'a> VarintReader<'a> {
    fn take_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn read_varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take_bytes(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn read_u32(&mut self) -> Option<u32> {
        u32::try_from(self.read_varint()?).ok()
    }

    /// A number of things that each take at least a byte, so that no claim allocates more than there is.
    fn read_count(&mut self) -> Option<usize> {
        usize::try_from(self.read_varint()?).ok().filter(|count| *count <= self.0.len())
    }

    fn read_signed(&mut self) -> Option<i64> {
        let number = self.read_varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}
