//! The profile for long horizons: one row for each time at which free capacity changes.

use super::network::LeafNetwork;
use super::profile::CapacityProfile;

/// Row `k` applies from `times[k]` until `times[k + 1]`; the last row has no end and is always entirely free.
#[derive(Clone, Debug)]
pub(super) struct StepProfile {
    times: Vec<i32>,
    /// `capacities.len()` numbers per row.
    free: Vec<u32>,
    capacities: Vec<u32>,
    needs: Vec<(Vec<u32>, i32)>,
}

impl StepProfile {
    pub(super) fn new(network: &LeafNetwork) -> Self {
        let needs =
            network.demands.iter().cloned().zip(network.durations.iter().copied()).collect();
        let capacities = network.capacities.clone();
        let mut steps = Self { times: Vec::new(), free: Vec::new(), capacities, needs };
        steps.clear();
        steps
    }

    fn free_row(&self, step: usize) -> &[u32] {
        let width = self.capacities.len();
        &self.free[step * width..(step + 1) * width]
    }

    /// Returns the row that applies at a time.
    fn step_at(&self, time: i32) -> usize {
        self.times.partition_point(|&at| at <= time) - 1
    }

    /// Returns the earliest start at or after `earliest` at which the leaf fits, and the row that applies there.
    fn find_start(&self, leaf: usize, earliest: i32) -> (i32, usize) {
        let (need, length) = &self.needs[leaf];
        let mut start = earliest;
        let mut first = self.step_at(earliest);
        let mut step = first;
        while step < self.times.len() && self.times[step] < start.saturating_add(*length) {
            let clash = self.free_row(step).iter().zip(need).any(|(free, need)| free < need);
            step += 1;
            // The last row is free, so a conflict always has a row after it.
            if clash {
                start = self.times[step];
                first = step;
            }
        }
        (start, first)
    }

    /// Makes a row start at `time`, given the row that applies there.
    fn split_step(&mut self, step: usize, time: i32) -> usize {
        if self.times[step] == time {
            return step;
        }
        let width = self.capacities.len();
        let at = (step + 1) * width;
        self.times.insert(step + 1, time);
        let old = self.free.len();
        self.free.resize(old + width, 0);
        self.free.copy_within(at - width..old, at);
        step + 1
    }
}

impl CapacityProfile for StepProfile {
    fn clear(&mut self) {
        self.times.clear();
        self.times.push(0);
        self.free.clear();
        self.free.extend_from_slice(&self.capacities);
    }

    fn place_leaf(&mut self, leaf: usize, earliest: i32) -> i32 {
        let (start, step) = self.find_start(leaf, earliest);
        let length = self.needs[leaf].1;
        if length > 0 {
            let first = self.split_step(step, start);
            let end = start + length;
            let mut last = first;
            while last + 1 < self.times.len() && self.times[last + 1] <= end {
                last += 1;
            }
            let last = self.split_step(last, end);
            let width = self.capacities.len();
            for row in self.free[first * width..last * width].chunks_exact_mut(width.max(1)) {
                for (free, need) in row.iter_mut().zip(&self.needs[leaf].0) {
                    *free -= need;
                }
            }
        }
        start
    }
}
