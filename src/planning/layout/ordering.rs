//! Crossing reduction: barycentre sweeps from several fixed starts, polished by sifting, the best kept.

use super::crossings::Counter;
use super::proper::{Neighbours, Proper};
use super::sifting::Sifter;

/// The order of the items in every layer.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) layers: Vec<Vec<u32>>,
    pub(super) position: Vec<u32>,
    pub(super) crossings: u64,
}

impl Order {
    /// The items of each layer as they were made: nodes in input order, then dummies.
    pub(super) fn new(proper: &Proper) -> Self {
        let mut order = Self {
            layers: proper.layers.clone(),
            position: vec![0; proper.items()],
            crossings: u64::MAX,
        };
        order.renumber_all();
        order
    }

    pub(super) fn renumber(&mut self, layer: usize) {
        for (at, &item) in self.layers[layer].iter().enumerate() {
            self.position[item as usize] = at as u32;
        }
    }

    fn renumber_all(&mut self) {
        for layer in 0..self.layers.len() {
            self.renumber(layer);
        }
    }

    /// Counts all crossings and remembers the number.
    pub(super) fn count(&mut self, proper: &Proper, counter: &mut Counter) -> u64 {
        let pairs = self.layers.windows(2);
        self.crossings = pairs
            .map(|pair| counter.between(&pair[0], &proper.down, &self.position, pair[1].len()))
            .sum();
        self.crossings
    }
}

/// Turns the drawing over if that brings more nodes of a layer into input order.
pub(super) fn face_up(proper: &Proper, order: &mut Order) {
    let mut balance = 0_i64;
    for items in &order.layers {
        let nodes: Vec<u32> =
            items.iter().copied().filter(|&item| !proper.is_dummy(item)).collect();
        balance += nodes.windows(2).map(|pair| if pair[0] < pair[1] { 1 } else { -1 }).sum::<i64>();
    }
    if balance < 0 {
        order.layers.iter_mut().for_each(|items| items.reverse());
        order.renumber_all();
    }
}

/// Which way a sweep goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sweep {
    Down,
    Up,
}

/// What to do with items that a sweep cannot tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ties {
    Keep,
    Turn,
}

/// Finds an order with few crossings. The same graph always gives the same order.
pub(super) fn minimise(proper: &Proper, order: &mut Order) {
    let mut search = Search {
        proper,
        counter: Counter::default(),
        keyed: Vec::new(),
        sifter: Sifter::new(proper),
    };
    order.count(proper, &mut search.counter);
    if order.crossings == 0 {
        return;
    }
    for start in [Start::FromTop, Start::FromBottom] {
        let mut candidate = start.order(proper);
        search.settle(&mut candidate);
        if candidate.crossings < order.crossings {
            *order = candidate;
        }
    }
    search.improve(order);
}

/// Where a first order comes from.
#[derive(Clone, Copy, Debug)]
enum Start {
    FromTop,
    FromBottom,
}

impl Start {
    /// Visits the graph depth first, so that what belongs together starts together.
    fn order(self, proper: &Proper) -> Order {
        let (along, back) = match self {
            Self::FromTop => (&proper.down, &proper.up),
            Self::FromBottom => (&proper.up, &proper.down),
        };
        let mut order = Order::new(proper);
        order.layers.iter_mut().for_each(Vec::clear);
        let mut seen = vec![false; proper.items()];
        let roots = (0..proper.real as u32).filter(|&node| back.of(node).is_empty());
        let mut stack = Vec::new();
        for root in roots {
            stack.push(root);
            while let Some(item) = stack.pop() {
                if std::mem::replace(&mut seen[item as usize], true) {
                    continue;
                }
                order.layers[proper.layer[item as usize] as usize].push(item);
                stack.extend(along.of(item).iter().rev().filter(|&&next| !seen[next as usize]));
            }
        }
        order.renumber_all();
        order
    }
}

struct Search<'a> {
    proper: &'a Proper,
    counter: Counter,
    keyed: Vec<(f32, u32)>,
    sifter: Sifter<'a>,
}

impl Search<'_> {
    /// Sweeps to and fro until it no longer helps, then sifts; leaves the best order met.
    fn settle(&mut self, order: &mut Order) {
        const ROUNDS: u32 = 16;
        const PATIENCE: u32 = 4;
        order.count(self.proper, &mut self.counter);
        let mut best = order.clone();
        let mut idle = 0;
        for round in 0..ROUNDS {
            let ties = if round % 4 < 2 { Ties::Keep } else { Ties::Turn };
            self.sweep(order, if round % 2 == 0 { Sweep::Down } else { Sweep::Up }, ties);
            idle += 1;
            if order.count(self.proper, &mut self.counter) < best.crossings {
                best.clone_from(order);
                idle = 0;
            }
            if best.crossings == 0 || idle > PATIENCE {
                break;
            }
        }
        *order = best;
        self.sifter.settle(order);
        order.count(self.proper, &mut self.counter);
    }

    fn sweep(&mut self, order: &mut Order, sweep: Sweep, ties: Ties) {
        let depth = order.layers.len();
        match sweep {
            Sweep::Down => {
                (1..depth).for_each(|layer| self.arrange(order, layer, &self.proper.up, ties));
            }
            Sweep::Up => (0..depth - 1)
                .rev()
                .for_each(|layer| self.arrange(order, layer, &self.proper.down, ties)),
        }
    }

    /// Sorts one layer by the mean position of its neighbours; items without neighbours keep their places.
    fn arrange(&mut self, order: &mut Order, layer: usize, neighbours: &Neighbours, ties: Ties) {
        self.keyed.clear();
        let position = &order.position;
        let items = &mut order.layers[layer];
        for &item in items.iter() {
            let near = neighbours.of(item);
            if !near.is_empty() {
                let sum: u32 = near.iter().map(|&n| position[n as usize]).sum();
                self.keyed.push((sum as f32 / near.len() as f32, item));
            }
        }
        if ties == Ties::Turn {
            self.keyed.reverse();
        }
        self.keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sorted = self.keyed.iter().map(|&(_, item)| item);
        for slot in items.iter_mut() {
            if !neighbours.of(*slot).is_empty() {
                *slot = sorted.next().expect("one key for each item with neighbours");
            }
        }
        order.renumber(layer);
    }

    /// Shakes the best order a little and settles it again, for as long as the graph's size is worth.
    fn improve(&mut self, order: &mut Order) {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let rounds = 6;
        for _ in 0..rounds {
            if order.crossings == 0 {
                return;
            }
            let mut candidate = order.clone();
            Self::shake(&mut candidate, &mut random);
            self.sifter.settle(&mut candidate);
            candidate.count(self.proper, &mut self.counter);
            if candidate.crossings <= order.crossings {
                *order = candidate;
            }
        }
    }

    fn shake(order: &mut Order, random: &mut Random) {
        let depth = order.layers.len();
        for _ in 0..2 {
            let layer = random.below(depth);
            let width = order.layers[layer].len();
            let (a, b) = (random.below(width), random.below(width));
            order.layers[layer][a.min(b)..=a.max(b)].reverse();
            order.renumber(layer);
        }
    }
}

/// A small generator with a fixed seed: shaking must be the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}
