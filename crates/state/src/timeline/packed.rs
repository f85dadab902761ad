//! A stretch of a timeline as bytes, so that a long session opens without looking at each of its events.
//!
//! The head holds what a first screen needs: names, landmarks, how busy it was, and what the fold must know to go on.
//! The steps are behind it and are decoded when somebody looks at them. Numbers are variable-length, seven bits a byte.

use std::sync::OnceLock;

use jiff::Timestamp;

use super::{Activity, EntryKind, Landmark, LandmarkKind, Step};
use planwright_model::{Seq, TaskId};

const VERSION: u64 = 1;
/// How many moments of activity a stretch keeps; more than a wide scrub bar can show of it.
const MOMENTS: usize = 64;

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
    decoded: OnceLock<Vec<Step>>,
}

impl PackedSteps {
    /// The steps. Bytes that cannot be read give steps of an unknown kind, so that numbers stay right.
    pub(super) fn get(&self) -> &[Step] {
        self.decoded.get_or_init(|| {
            let bytes = (self.unpack)(&self.stored).unwrap_or_default();
            let mut steps = decode_steps(&bytes, self.first).unwrap_or_default();
            let filler = Step { seq: self.last, task: super::NO_TASK, kind: EntryKind::Unknown };
            steps.resize(self.count, filler);
            steps
        })
    }
}

/// What the fold knows at the end of a stretch and what happened in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Head {
    pub(super) after: Seq,
    pub(super) upto: Seq,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) plans: u32,
    pub(super) open_requests: u32,
    pub(super) steps: usize,
    /// Names that were not known before.
    pub(super) names: Vec<TaskId>,
    /// Running tasks, by the place of their name.
    pub(super) running: Vec<u32>,
    pub(super) landmarks: Vec<Landmark>,
    pub(super) activity: Vec<(Timestamp, Activity)>,
}

impl Head {
    pub(super) fn encode(&self, place_of: impl Fn(&TaskId) -> Option<u32>) -> Vec<u8> {
        let mut out = Vec::new();
        for number in [VERSION, self.after.0, self.upto.0] {
            put(&mut out, number);
        }
        put_signed(&mut out, self.first);
        put_signed(&mut out, self.last);
        for number in [u64::from(self.plans), self.open_requests.into(), self.steps as u64] {
            put(&mut out, number);
        }
        put(&mut out, self.names.len() as u64);
        for name in &self.names {
            put(&mut out, name.as_str().len() as u64);
            out.extend_from_slice(name.as_str().as_bytes());
        }
        put(&mut out, self.running.len() as u64);
        self.running.iter().for_each(|task| put(&mut out, (*task).into()));
        put(&mut out, self.landmarks.len() as u64);
        let (mut seq, mut at) = (self.after.0, self.first);
        for mark in &self.landmarks {
            put(&mut out, mark.seq.0 - seq);
            put_signed(&mut out, mark.at.as_microsecond() - at);
            out.push(mark.kind as u8);
            let task = mark.task.as_ref().and_then(&place_of);
            put(&mut out, task.map_or(0, |task| u64::from(task) + 1));
            (seq, at) = (mark.seq.0, mark.at.as_microsecond());
        }
        put(&mut out, self.activity.len() as u64);
        let mut at = self.first;
        for (moment, activity) in &self.activity {
            put_signed(&mut out, moment.as_microsecond() - at);
            at = moment.as_microsecond();
            put(
                &mut out,
                match activity {
                    Activity::Waiting => 0,
                    Activity::Planning => 1,
                    Activity::Tasks(count) => u64::from(*count) + 1,
                },
            );
        }
        out
    }

    /// Reads a head; `known` are the names from before. `None` if it is not one of this version.
    pub(super) fn decode(bytes: &[u8], known: &[TaskId]) -> Option<Self> {
        let mut from = Bytes(bytes);
        if from.number()? != VERSION {
            return None;
        }
        let mut head = Self {
            after: Seq(from.number()?),
            upto: Seq(from.number()?),
            first: from.signed()?,
            last: from.signed()?,
            plans: from.small()?,
            open_requests: from.small()?,
            steps: from.number()? as usize,
            ..Self::default()
        };
        for _ in 0..from.count()? {
            let length = from.count()?;
            let name = std::str::from_utf8(from.take(length)?).ok()?;
            head.names.push(TaskId::from(name));
        }
        for _ in 0..from.count()? {
            head.running.push(from.small()?);
        }
        let name = |place: u64, names: &[TaskId]| {
            let place = usize::try_from(place).ok()?.checked_sub(1)?;
            known.get(place).or_else(|| names.get(place.checked_sub(known.len())?)).cloned()
        };
        let (mut seq, mut at) = (head.after.0, head.first);
        for _ in 0..from.count()? {
            seq = seq.checked_add(from.number()?)?;
            at = at.checked_add(from.signed()?)?;
            let kind = match from.take(1)? {
                [0] => LandmarkKind::Replan,
                [1] => LandmarkKind::Approval,
                [2] => LandmarkKind::Failure,
                _ => return None,
            };
            let task = name(from.number()?, &head.names);
            let at = Timestamp::from_microsecond(at).ok()?;
            head.landmarks.push(Landmark { seq: Seq(seq), at, kind, task });
        }
        let mut at = head.first;
        for _ in 0..from.count()? {
            at = at.checked_add(from.signed()?)?;
            let activity = match from.number()? {
                0 => Activity::Waiting,
                1 => Activity::Planning,
                count => Activity::Tasks(u16::try_from(count - 1).ok()?),
            };
            head.activity.push((Timestamp::from_microsecond(at).ok()?, activity));
        }
        Some(head)
    }
}

pub(super) fn stretch(stored: StoredStretch, head: &Head) -> PackedSteps {
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
pub(super) fn encode_steps(steps: &[Step], after: Seq) -> Vec<u8> {
    let mut out = Vec::with_capacity(steps.len() * 3);
    let mut seq = after.0;
    for step in steps {
        put(&mut out, step.seq.0 - seq);
        seq = step.seq.0;
        out.push(step.kind as u8);
        put(&mut out, u64::from(step.task.wrapping_add(1)));
    }
    out
}

fn decode_steps(bytes: &[u8], after: Seq) -> Option<Vec<Step>> {
    let mut from = Bytes(bytes);
    let (mut steps, mut seq) = (Vec::new(), after.0);
    while !from.0.is_empty() {
        seq = seq.checked_add(from.number()?)?;
        let kind = EntryKind::from_byte(from.take(1)?[0])?;
        let task = from.small()?.wrapping_sub(1);
        steps.push(Step { seq: Seq(seq), task, kind });
    }
    Some(steps)
}

/// Keeps the busiest moment of each slice of time, so that a stretch stays small however busy it was.
pub(super) fn thinned(activity: &[(Timestamp, Activity)]) -> Vec<(Timestamp, Activity)> {
    let (Some((first, _)), Some((last, _))) = (activity.first(), activity.last()) else {
        return Vec::new();
    };
    if activity.len() <= MOMENTS {
        return activity.to_vec();
    }
    let (start, end) = (first.as_microsecond(), last.as_microsecond());
    let width = (end - start) / MOMENTS as i64 + 1;
    let mut kept: Vec<(Timestamp, Activity)> = Vec::with_capacity(MOMENTS + 1);
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

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned());
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// A number of things that each take at least a byte, so that no claim allocates more than there is.
    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len())
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}
