//! Crossing reduction: sweeps from a few fixed initial orders, then refinement of the best by reinsertion.

use super::crossings::{CrossingCounter, for_each_crossed};
use super::layered_graph::LayeredGraph;
use super::reinsertion::NodeReinserter;
use super::sweeping::{LayerSweeper, SweepDirection};
use std::collections::VecDeque;

/// The order of the items in every layer.
#[derive(Clone, Debug)]
pub(super) struct LayerOrder {
    pub(super) layers: Vec<Vec<u32>>,
    pub(super) position: Vec<u32>,
    pub(super) crossings: u64,
    /// Crossings between each layer and the next, as of the last count.
    pub(super) between: Vec<u64>,
}

impl LayerOrder {
    /// Lists the items of each layer as created: nodes in input order, then dummies.
    pub(super) fn new(proper: &LayeredGraph) -> Self {
        let layers = proper.layers.clone();
        let mut order = Self {
            layers,
            position: vec![0; proper.item_count()],
            crossings: u64::MAX,
            between: Vec::new(),
        };
        order.renumber_layers();
        order
    }

    pub(super) fn renumber_layer(&mut self, layer: usize) {
        for (at, &item) in self.layers[layer].iter().enumerate() {
            self.position[item as usize] = at as u32;
        }
    }

    fn renumber_layers(&mut self) {
        for layer in 0..self.layers.len() {
            self.renumber_layer(layer);
        }
    }

    /// Counts all crossings and stores the numbers.
    pub(super) fn count_crossings(
        &mut self,
        proper: &LayeredGraph,
        counter: &mut CrossingCounter,
    ) -> u64 {
        self.between.clear();
        for pair in self.layers.windows(2) {
            self.between.push(counter.count_between(
                &pair[0],
                &proper.down,
                &self.position,
                pair[1].len(),
            ));
        }
        self.crossings = self.between.iter().sum();
        self.crossings
    }

    /// Mirrors the drawing if that puts more nodes of a layer into input order.
    pub(super) fn restore_input_direction(&mut self, proper: &LayeredGraph) {
        let mut balance = 0_i64;
        for items in &self.layers {
            let nodes: Vec<u32> =
                items.iter().copied().filter(|&item| !proper.is_dummy(item)).collect();
            balance +=
                nodes.windows(2).map(|pair| if pair[0] < pair[1] { 1 } else { -1 }).sum::<i64>();
        }
        if balance < 0 {
            self.layers.iter_mut().for_each(|items| items.reverse());
            self.renumber_layers();
        }
    }
}

/// What to do if two choices are equally good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderTieBreak {
    Keep,
    Turn,
}

impl OrderTieBreak {
    pub(super) fn opposite(self) -> Self {
        if self == Self::Keep { Self::Turn } else { Self::Keep }
    }
}

/// How much work is spent on a graph: small ones cost next to nothing, and large ones must not make the user wait.
#[derive(Clone, Copy, Debug)]
struct OrderingEffort {
    /// The number of initial orders that are swept.
    starts: usize,
    sweeps: u32,
    /// The number of orders that are refined, best first.
    refined: usize,
    trips: u32,
    /// The amount of work after which no further attempt is made.
    tries: u64,
}

impl OrderingEffort {
    /// `tries` is in units of work, each roughly a nanosecond: no retry starts after that much work in total, and
    /// graphs of 700 items or more get none. With these limits a graph of 1,000 nodes takes about 27 ms (see `layout`
    /// in `benches/README.md`).
    fn for_items(items: usize) -> Self {
        match items {
            0..160 => Self { starts: 3, sweeps: 10, refined: 2, trips: 6, tries: 1_500_000 },
            160..700 => Self { starts: 4, sweeps: 10, refined: 3, trips: 6, tries: 2_000_000 },
            700..2_500 => Self { starts: 2, sweeps: 10, refined: 1, trips: 3, tries: 0 },
            2_500..20_000 => Self { starts: 1, sweeps: 5, refined: 1, trips: 1, tries: 0 },
            _ => Self { starts: 1, sweeps: 3, refined: 1, trips: 0, tries: 0 },
        }
    }
}

/// How an initial order is built: by traversing the graph, so that related items start next to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WalkOrder {
    Deep,
    Wide,
}

/// The most promising first.
const STARTS: [(SweepDirection, WalkOrder); 4] = [
    (SweepDirection::Up, WalkOrder::Wide),
    (SweepDirection::Down, WalkOrder::Deep),
    (SweepDirection::Up, WalkOrder::Deep),
    (SweepDirection::Down, WalkOrder::Wide),
];

/// Finds an order with few crossings. The same graph always gives the same order.
pub(super) fn minimize_crossings(proper: &LayeredGraph) -> LayerOrder {
    let mut order = LayerOrder::new(proper);
    let mut search = OrderSearch::new(proper);
    if order.count_crossings(proper, &mut search.counter) == 0 {
        return order;
    }
    let mut settled: Vec<LayerOrder> = Vec::new();
    for (sweep, walk) in STARTS.into_iter().take(search.effort.starts) {
        let mut candidate = initial_order(proper, sweep, walk);
        search.sweeper.sweep_until_stable(
            &mut candidate,
            search.effort.sweeps,
            &mut search.counter,
        );
        settled.push(candidate);
    }
    // The orders with the fewest crossings nearly always stay ahead.
    settled.sort_by_key(|candidate| candidate.crossings);
    for mut candidate in settled.into_iter().take(search.effort.refined) {
        search.refine_order(&mut candidate);
        if candidate.crossings < order.crossings {
            order = candidate;
        }
    }
    search.retry_perturbed(&mut order);
    order
}

/// Returns the items in the order in which a traversal along `sweep` visits them.
fn initial_order(proper: &LayeredGraph, sweep: SweepDirection, walk: WalkOrder) -> LayerOrder {
    let (along, back) = match sweep {
        SweepDirection::Down => (&proper.down, &proper.up),
        SweepDirection::Up => (&proper.up, &proper.down),
    };
    let mut order = LayerOrder::new(proper);
    order.layers.iter_mut().for_each(Vec::clear);
    let mut seen = vec![false; proper.item_count()];
    let mut open: VecDeque<u32> =
        (0..proper.real as u32).filter(|&node| back.neighbors(node).is_empty()).collect();
    while let Some(item) = open.pop_front() {
        if std::mem::replace(&mut seen[item as usize], true) {
            continue;
        }
        order.layers[proper.layer[item as usize] as usize].push(item);
        let fresh = along.neighbors(item).iter().filter(|&&next| !seen[next as usize]);
        match walk {
            WalkOrder::Wide => open.extend(fresh),
            WalkOrder::Deep => fresh.rev().for_each(|&next| open.push_front(next)),
        }
    }
    order.renumber_layers();
    order
}

struct OrderSearch<'a> {
    proper: &'a LayeredGraph,
    effort: OrderingEffort,
    counter: CrossingCounter,
    sweeper: LayerSweeper<'a>,
    reinserter: NodeReinserter<'a>,
    /// Nodes with an edge that is crossed.
    crossed: Vec<bool>,
}

impl<'a> OrderSearch<'a> {
    fn new(proper: &'a LayeredGraph) -> Self {
        Self {
            proper,
            effort: OrderingEffort::for_items(proper.item_count()),
            counter: CrossingCounter::default(),
            sweeper: LayerSweeper::new(proper),
            reinserter: NodeReinserter::new(proper),
            crossed: Vec::new(),
        }
    }

    /// Reinserts the nodes whose edges are crossed, round by round, as long as that helps.
    fn refine_order(&mut self, order: &mut LayerOrder) {
        // Tie-breaks alternate between trips, so both kinds are tried before giving up.
        const PATIENCE: u32 = 1;
        order.count_crossings(self.proper, &mut self.counter);
        let mut best = order.clone();
        let mut idle = 0;
        for trip in 0..self.effort.trips {
            let tie_break = if trip % 2 == 0 { OrderTieBreak::Keep } else { OrderTieBreak::Turn };
            self.mark_crossed_nodes(order);
            for node in (0..self.proper.real as u32).filter(|&node| self.crossed[node as usize]) {
                self.reinserter.reinsert_node(order, node, tie_break);
            }
            order.count_crossings(self.proper, &mut self.counter);
            idle += 1;
            if order.crossings < best.crossings {
                best.clone_from(order);
                idle = 0;
            }
            if best.crossings == 0 || idle > PATIENCE {
                break;
            }
        }
        *order = best;
    }

    /// Marks the nodes that have a crossed edge: only those can improve the order.
    fn mark_crossed_nodes(&mut self, order: &LayerOrder) {
        self.crossed.clear();
        self.crossed.resize(self.proper.real, false);
        for (layer, _) in order.between.iter().enumerate().filter(|(_, count)| **count > 0) {
            for_each_crossed(&order.layers[layer], &self.proper.down, &order.position, |piece| {
                let chain = &self.proper.chains[self.proper.chain_of[piece] as usize];
                self.crossed[chain[0] as usize] = true;
                self.crossed[chain[chain.len() - 1] as usize] = true;
            });
        }
    }

    /// Tries other orders while the effort lasts, alternating between a slightly perturbed best order and a random one.
    fn retry_perturbed(&mut self, order: &mut LayerOrder) {
        const TRIES: u32 = 40;
        let mut random = FixedSeedRng(0x9E37_79B9_7F4A_7C15);
        for turn in 0..TRIES {
            let spent = self.reinserter.work + self.sweeper.work;
            if order.crossings == 0 || spent > self.effort.tries {
                return;
            }
            let mut candidate = order.clone();
            if turn % 2 == 0 {
                reverse_random_stretches(&mut candidate, &mut random);
            } else {
                shuffle_layers(&mut candidate, &mut random);
                self.sweeper.sweep_layers(
                    &mut candidate,
                    SweepDirection::Down,
                    OrderTieBreak::Keep,
                );
                self.sweeper.sweep_layers(&mut candidate, SweepDirection::Up, OrderTieBreak::Keep);
            }
            self.refine_order(&mut candidate);
            // Equally good orders are accepted, so that later perturbations start from a different one.
            if candidate.crossings <= order.crossings {
                *order = candidate;
            }
        }
    }
}

/// Reverses stretches of a few layers.
fn reverse_random_stretches(order: &mut LayerOrder, random: &mut FixedSeedRng) {
    let depth = order.layers.len();
    for _ in 0..=depth / 3 {
        let layer = random.next_below(depth);
        let width = order.layers[layer].len();
        let (a, b) = (random.next_below(width), random.next_below(width));
        order.layers[layer][a.min(b)..=a.max(b)].reverse();
        order.renumber_layer(layer);
    }
}

/// Shuffles every layer.
fn shuffle_layers(order: &mut LayerOrder, random: &mut FixedSeedRng) {
    for layer in 0..order.layers.len() {
        for at in (1..order.layers[layer].len()).rev() {
            let other = random.next_below(at + 1);
            order.layers[layer].swap(at, other);
        }
        order.renumber_layer(layer);
    }
}

/// A small generator with a fixed seed: a layout must be the same on every run.
struct FixedSeedRng(u64);

impl FixedSeedRng {
    fn next_below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}
