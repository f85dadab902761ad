//! Turns orders into schedules and improves them by forward-backward passes (double justification, Valls, Ballestín and
//! Quintanilla 2005): shifting every leaf as late as possible and then as early as possible often shortens the
//! schedule.

use super::generation::generate_serial;
use super::network::LeafNetwork;
use super::order::{LeafSorter, TieBreak, respect_links};
use super::profile::CapacityProfile;

/// A schedule and the order of its starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CandidateSchedule {
    pub(super) order: Vec<u32>,
    pub(super) starts: Vec<i32>,
    pub(super) makespan: i32,
    /// Sum of all finishes: of two schedules with equal makespan, the denser one is the better parent.
    pub(super) finishes: i64,
}

impl CandidateSchedule {
    pub(super) fn new(leaves: usize) -> Self {
        Self {
            order: vec![0; leaves],
            starts: vec![0; leaves],
            makespan: i32::MAX,
            finishes: i64::MAX,
        }
    }

    pub(super) fn cost(&self) -> (i32, i64) {
        (self.makespan, self.finishes)
    }
}

/// Generates schedules and counts them.
#[derive(Debug)]
pub(super) struct ScheduleBuilder<'a, P> {
    pub(super) network: &'a LeafNetwork,
    pub(super) used: u64,
    pub(super) limit: u64,
    profile: P,
    sorter: LeafSorter,
    keys: Vec<i32>,
    order: Vec<u32>,
}

impl<'a, P: CapacityProfile> ScheduleBuilder<'a, P> {
    pub(super) fn new(network: &'a LeafNetwork, profile: P, limit: u64) -> Self {
        let (keys, order) = (vec![0; network.leaves], vec![0; network.leaves]);
        Self { network, used: 0, limit, profile, sorter: LeafSorter::default(), keys, order }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.used >= self.limit
    }

    /// Schedules the plan's order, then makes up to `passes` forward-backward passes while they shorten it.
    pub(super) fn build(&mut self, plan: &mut CandidateSchedule, passes: usize) {
        let network = self.network;
        plan.makespan = generate_serial(
            network,
            &network.forward,
            &plan.order,
            &mut self.profile,
            &mut plan.starts,
        );
        self.used += 1;
        for pass in 0..passes {
            let before = plan.makespan;
            // The first pass is part of building the schedule; only further passes require remaining effort.
            if pass > 0 && self.used + 2 > self.limit {
                break;
            }
            self.justify_schedule(plan);
            if plan.makespan >= before {
                break;
            }
        }
        self.list_by_start(plan);
        let ends = plan
            .starts
            .iter()
            .zip(&network.durations)
            .map(|(&start, &units)| i64::from(start) + i64::from(units));
        plan.finishes = ends.sum();
    }

    /// Runs one backward and one forward generation, each taking the leaves in the order in which the other one ended.
    fn justify_schedule(&mut self, plan: &mut CandidateSchedule) {
        let network = self.network;
        for (key, (&start, &units)) in
            self.keys.iter_mut().zip(plan.starts.iter().zip(&network.durations))
        {
            *key = start + units;
        }
        self.list_from_end(plan.makespan, TieBreak::LargerFirst);
        let length = generate_serial(
            network,
            &network.mirror,
            &self.order,
            &mut self.profile,
            &mut self.keys,
        );
        for (key, &units) in self.keys.iter_mut().zip(&network.durations) {
            *key += units;
        }
        self.list_from_end(length, TieBreak::SmallerFirst);
        plan.makespan = generate_serial(
            network,
            &network.forward,
            &self.order,
            &mut self.profile,
            &mut plan.starts,
        );
        self.used += 2;
    }

    /// Lists the leaves by decreasing finish, ready for generation in the opposite direction of time.
    fn list_from_end(&mut self, highest: i32, tie_break: TieBreak) {
        let network = self.network;
        if network.overlapping {
            let side =
                if tie_break == TieBreak::LargerFirst { &network.mirror } else { &network.forward };
            respect_links(side, tie_break, &mut self.keys);
        }
        self.sorter.sort_falling(&self.keys, highest, tie_break, &mut self.order);
    }

    fn list_by_start(&mut self, plan: &mut CandidateSchedule) {
        for (key, &start) in self.keys.iter_mut().zip(&plan.starts) {
            *key = plan.makespan - start;
        }
        self.list_from_end(plan.makespan, TieBreak::SmallerFirst);
        plan.order.copy_from_slice(&self.order);
    }
}
