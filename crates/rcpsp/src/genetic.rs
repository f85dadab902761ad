//! The search: a steady-state genetic algorithm over activity lists, every child improved by a forward-backward pass.
//!
//! Measured on the PSPLIB samples, the forward-backward pass, shifting a few leaves in every child, and a population
//! that grows with the effort make the difference. Peak-seeking crossover, other replacement rules and other tie-breaks
//! between equally long schedules made no difference beyond noise and are left out.

use super::bound;
use super::builder::{CandidateSchedule, ScheduleBuilder};
use super::generation::{LeafChoice, list_order, parallel_order};
use super::network::LeafNetwork;
use super::priority_rules;
use super::profile::CapacityProfile;
use super::rng::SplitMixRng;

/// The samples per choice in the first generation: greedy enough to start well, random enough to differ.
const DRAWS: usize = 3;
/// Per thousand positions in a child's list, the number at which one leaf is shifted.
const SHIFTS_PER_MILLE: usize = 30;
/// The number of consecutive children that do not improve the population, as a multiple of its size, before a restart.
const MAX_IDLE_FACTOR: usize = 20;
const MIN_POPULATION: usize = 16;
const MAX_POPULATION: usize = 500;
/// Forward-backward passes for the schedules built from priority rules; they are few, so each may run until it stops
/// improving.
const RULE_PASSES: usize = 8;
/// At most one part in this many of the effort is spent on raising the bound, after as much was spent on the schedule.
const BOUND_SHARE: u64 = 8;
/// The number of schedules that could be generated in the time of one trial of the bound, measured on the PSPLIB
/// samples.
const TRIAL_COST: u64 = 25;

/// Searches until the effort is spent or a schedule as short as `bound` is found.
#[derive(Debug)]
pub(super) struct GeneticSearch<'a, P> {
    builder: ScheduleBuilder<'a, P>,
    rng: SplitMixRng,
    bound: i32,
    bound_is_final: bool,
    best: CandidateSchedule,
    listed: Vec<bool>,
}

impl<'a, P: CapacityProfile> GeneticSearch<'a, P> {
    pub(super) fn new(network: &'a LeafNetwork, profile: P, limit: u64, seed: u64) -> Self {
        let builder = ScheduleBuilder::new(network, profile, limit);
        let (best, listed) = (CandidateSchedule::new(network.leaves), vec![false; network.leaves]);
        Self { builder, rng: SplitMixRng::new(seed), bound: 0, bound_is_final: false, best, listed }
    }

    /// Builds the baseline schedule: serial generation by latest finish and one forward-backward pass. No result is
    /// longer.
    pub(super) fn build_first(&mut self) -> i32 {
        let priorities = priority_rules::latest_finish(self.builder.network);
        let mut plan = CandidateSchedule::new(self.builder.network.leaves);
        list_order(
            self.builder.network,
            &priorities,
            LeafChoice::Best,
            &mut self.rng,
            &mut plan.order,
        );
        self.builder.build(&mut plan, 1);
        self.keep_if_better(&plan);
        self.best.makespan
    }

    /// Searches from the first schedule and returns the best schedule, the bound, and the effort used.
    pub(super) fn run(mut self, bound: i32) -> (CandidateSchedule, i32, u64) {
        self.bound = bound;
        // Only the first population contains the rule schedules. After a restart it is built by randomized generation
        // alone; the best schedule is kept outside of the population.
        let mut seeds = self.rule_schedules();
        while !self.is_done() {
            let population = self.build_population(std::mem::take(&mut seeds));
            self.evolve_population(population);
        }
        (self.best, self.bound, self.builder.used)
    }

    fn is_done(&self) -> bool {
        self.best.makespan <= self.bound || self.builder.is_spent()
    }

    fn keep_if_better(&mut self, plan: &CandidateSchedule) {
        if plan.cost() < self.best.cost() {
            self.best.clone_from(plan);
        }
    }

    /// Builds a schedule for every rule with both generation schemes.
    fn rule_schedules(&mut self) -> Vec<CandidateSchedule> {
        let network = self.builder.network;
        let rules = [
            priority_rules::latest_finish,
            priority_rules::most_total_successors,
            priority_rules::longest_remaining_path,
            priority_rules::greatest_resource_work,
        ];
        let mut plans = Vec::new();
        for rule in rules {
            let priorities = rule(network);
            for generate in [list_order, parallel_order] {
                if self.is_done() {
                    return plans;
                }
                let mut plan = CandidateSchedule::new(network.leaves);
                generate(network, &priorities, LeafChoice::Best, &mut self.rng, &mut plan.order);
                self.builder.build(&mut plan, RULE_PASSES);
                self.keep_if_better(&plan);
                plans.push(plan);
            }
        }
        plans
    }

    /// Builds a population around the given plans, filled with randomized parallel generation.
    fn build_population(&mut self, mut plans: Vec<CandidateSchedule>) -> Vec<CandidateSchedule> {
        let network = self.builder.network;
        let priorities = priority_rules::latest_finish(network);
        let size = population_size(self.builder.limit);
        plans.truncate(size);
        while plans.len() < size && !self.is_done() {
            let mut plan = CandidateSchedule::new(network.leaves);
            parallel_order(
                network,
                &priorities,
                LeafChoice::Drawn(DRAWS),
                &mut self.rng,
                &mut plan.order,
            );
            self.builder.build(&mut plan, 1);
            self.keep_if_better(&plan);
            plans.push(plan);
        }
        plans
    }

    /// Breeds until the population stops improving.
    fn evolve_population(&mut self, mut population: Vec<CandidateSchedule>) {
        let mut child = CandidateSchedule::new(self.builder.network.leaves);
        let mut idle = 0;
        while !self.is_done() && idle < MAX_IDLE_FACTOR * population.len() {
            self.raise_bound();
            self.breed_child(&population, &mut child);
            self.builder.build(&mut child, 1);
            self.keep_if_better(&child);
            idle += 1;
            // A duplicate would only reduce diversity. An equally good child does replace the worst plan, so that the
            // population keeps changing on a plateau, but only a strictly better one resets the idle count.
            let twin = population
                .iter()
                .any(|plan| plan.finishes == child.finishes && plan.starts == child.starts);
            let Some(worst) = (0..population.len()).max_by_key(|&place| population[place].cost())
            else {
                return;
            };
            if twin || child.cost() > population[worst].cost() {
                continue;
            }
            if child.cost() < population[worst].cost() {
                idle = 0;
            }
            population[worst].clone_from(&child);
        }
    }

    /// Spends a share of the effort on the bound, once: early enough to end the search when it proves the best schedule
    /// optimal, late enough for that schedule to be good. The cost is charged as effort, so that effort stays
    /// proportional to time.
    fn raise_bound(&mut self) {
        let share = self.builder.limit / BOUND_SHARE;
        if self.bound_is_final || self.builder.used < share {
            return;
        }
        // Shaving tests both edges of every window. With fewer than two trials per edge it is skipped and the bound
        // stays as it is.
        self.bound_is_final = true;
        let trials = share / TRIAL_COST;
        if trials >= 4 * self.builder.network.leaves as u64 {
            let (bound, made) = bound::raise_by_shaving(
                self.builder.network,
                self.bound,
                self.best.makespan,
                trials,
            );
            self.bound = bound;
            self.builder.used += made * TRIAL_COST;
        }
    }

    fn breed_child(&mut self, population: &[CandidateSchedule], child: &mut CandidateSchedule) {
        let mother = self.draw_parent(population);
        let mut father = self.draw_parent(population);
        if father == mother {
            father = (mother + 1) % population.len();
        }
        self.cross_orders(&population[mother].order, &population[father].order, &mut child.order);
        let network = self.builder.network;
        for _ in 0..network.leaves {
            if self.rng.draw_below(1000) < SHIFTS_PER_MILLE {
                shift_leaf(network, &mut child.order, &mut self.rng);
            }
        }
    }

    /// Returns the better of two randomly selected plans.
    fn draw_parent(&mut self, population: &[CandidateSchedule]) -> usize {
        let (one, other) =
            (self.rng.draw_below(population.len()), self.rng.draw_below(population.len()));
        if population[one].cost() <= population[other].cost() { one } else { other }
    }

    /// Two-point crossover: the mother's list, with one stretch in the father's order. Preserves link order, because
    /// both parents do.
    fn cross_orders(&mut self, mother: &[u32], father: &[u32], child: &mut Vec<u32>) {
        let leaves = mother.len();
        let (one, other) = (self.rng.draw_below(leaves + 1), self.rng.draw_below(leaves + 1));
        let (from, to) = (one.min(other), one.max(other));
        self.listed.fill(false);
        child.clear();
        child.extend_from_slice(&mother[..from]);
        for &leaf in &mother[..from] {
            self.listed[leaf as usize] = true;
        }
        for &leaf in father {
            if child.len() == to {
                break;
            }
            if !self.listed[leaf as usize] {
                self.listed[leaf as usize] = true;
                child.push(leaf);
            }
        }
        child.extend(mother.iter().copied().filter(|&leaf| !self.listed[leaf as usize]));
    }
}

/// Grows with the square root of the effort, so that a longer search gets both a larger population and more
/// generations.
fn population_size(limit: u64) -> usize {
    (limit.isqrt() as usize * 4 / 5).clamp(MIN_POPULATION, MAX_POPULATION)
}

/// Moves one leaf to a random position between the leaves it is linked to.
fn shift_leaf(network: &LeafNetwork, order: &mut [u32], rng: &mut SplitMixRng) {
    let at = rng.draw_below(order.len());
    let leaf = order[at] as usize;
    let linked = |row: &[(u32, i32)], other: u32| row.iter().any(|&(linked, _)| linked == other);
    let before = network.forward.before.neighbors_of(leaf);
    let after = network.mirror.before.neighbors_of(leaf);
    let first =
        order[..at].iter().rposition(|&other| linked(before, other)).map_or(0, |place| place + 1);
    let last = order[at + 1..]
        .iter()
        .position(|&other| linked(after, other))
        .map_or(order.len() - 1, |gap| at + gap);
    let to = first + rng.draw_below(last - first + 1);
    if to < at {
        order[to..=at].rotate_right(1);
    } else {
        order[at..=to].rotate_left(1);
    }
}
