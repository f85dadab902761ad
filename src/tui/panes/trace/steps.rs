//! Which steps there are to show: all of them, or those of one task.

use crate::model::{Seq, TaskId};
use crate::state::timeline::{Step, Timeline};

/// The positions of one task's steps, extended as the session grows.
#[derive(Debug, Default)]
pub(super) struct Filter {
    task: Option<TaskId>,
    positions: Vec<u32>,
    scanned: usize,
}

impl Filter {
    /// Takes in what is new. A change of task starts over.
    pub(super) fn update(&mut self, task: Option<&TaskId>, timeline: &Timeline) {
        if self.task.as_ref() != task || self.scanned > timeline.len() {
            *self = Self { task: task.cloned(), ..Self::default() };
        }
        let Some(task) = &self.task else { return };
        for (position, step) in (self.scanned..).zip(timeline.steps_from(self.scanned)) {
            if timeline.is_about(&step, task) {
                self.positions.push(position as u32);
            }
        }
        self.scanned = timeline.len();
    }

    /// How many steps there are to show.
    pub(super) fn len(&self, timeline: &Timeline) -> usize {
        if self.task.is_some() { self.positions.len() } else { timeline.len() }
    }

    /// One of them.
    pub(super) fn step(&self, index: usize, timeline: &Timeline) -> Option<Step> {
        let position = match &self.task {
            Some(_) => *self.positions.get(index)? as usize,
            None => index,
        };
        timeline.step(position)
    }

    /// How many of them are at or before an event.
    pub(super) fn up_to(&self, seq: Seq, timeline: &Timeline) -> usize {
        let steps = timeline.steps_up_to(seq);
        match &self.task {
            Some(_) => self.positions.partition_point(|position| (*position as usize) < steps),
            None => steps,
        }
    }
}
