//! Which steps there are to show: all of them, those of one task, those of some kinds.

use super::kinds::Kinds;
use crate::model::{Seq, TaskId};
use crate::state::timeline::{Step, Timeline};

/// The positions of the steps that pass, extended as the session grows.
#[derive(Debug, Default)]
pub(super) struct Filter {
    task: Option<TaskId>,
    kinds: Kinds,
    positions: Vec<u32>,
    scanned: usize,
}

impl Filter {
    /// Takes in what is new. A change of task or kinds starts over.
    pub(super) fn update(&mut self, task: Option<&TaskId>, kinds: Kinds, timeline: &Timeline) {
        let same = self.task.as_ref() == task && self.kinds == kinds;
        if !same || self.scanned > timeline.len() {
            *self = Self { task: task.cloned(), kinds, ..Self::default() };
        }
        if !self.is_on() {
            return;
        }
        for (position, step) in (self.scanned..).zip(timeline.steps_from(self.scanned)) {
            let about = self.task.as_ref().is_none_or(|task| timeline.is_about(&step, task));
            if about && self.kinds.has(step.kind) {
                self.positions.push(position as u32);
            }
        }
        self.scanned = timeline.len();
    }

    fn is_on(&self) -> bool {
        self.task.is_some() || self.kinds != Kinds::All
    }

    /// How many steps there are to show.
    pub(super) fn len(&self, timeline: &Timeline) -> usize {
        if self.is_on() { self.positions.len() } else { timeline.len() }
    }

    /// One of them.
    pub(super) fn step(&self, index: usize, timeline: &Timeline) -> Option<Step> {
        let position = if self.is_on() { *self.positions.get(index)? as usize } else { index };
        timeline.step(position)
    }

    /// How many of them are at or before an event.
    pub(super) fn up_to(&self, seq: Seq, timeline: &Timeline) -> usize {
        let steps = timeline.steps_up_to(seq);
        if self.is_on() {
            self.positions.partition_point(|position| (*position as usize) < steps)
        } else {
            steps
        }
    }
}
