//! Takes a node out together with all its edges and puts it back where they cross the fewest others.
//!
//! For each edge of the node the best way through the layers is found by dynamic programming over the gaps between items,
//! so a long edge moves as a whole. The old place is among the choices: taking the best never adds crossings, apart
//! from crossings of the node's edges with each other, which share an end and need not cross.

use super::ordering::{Order, Ties};
use super::proper::{Neighbours, Proper};

mod field;

use field::{LANES, Step, Sums, Window};

/// Position of an item that is taken out.
const OUT: u32 = u32::MAX;

/// Reinserts nodes, keeping its working memory between calls.
#[derive(Debug)]
pub(super) struct Reinserter<'a> {
    proper: &'a Proper,
    /// The chains that start or end at each node.
    chains: Neighbours,
    /// For items that are taken out: the gap they stood in.
    gap: Vec<u32>,
    ways: Vec<Way>,
    guests: Vec<Guest>,
    merged: Vec<u32>,
    /// Counts what was done, about in nanoseconds, so that effort can be limited the same way on every machine.
    pub(super) work: u64,
}

/// The search for one edge.
#[derive(Debug, Default)]
struct Way {
    chain: u32,
    /// For every step from the far end: the least crossings up to each gap, and the prices from there to the next.
    steps: Vec<(Sums, [Sums; LANES])>,
}

/// An item to be seated in a gap of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Guest {
    layer: u32,
    gap: u32,
    /// Its neighbour on the side away from the node.
    away: u32,
    item: u32,
}

impl<'a> Reinserter<'a> {
    pub(super) fn new(proper: &'a Proper) -> Self {
        let ends = |(index, chain): (usize, &Vec<u32>)| {
            [(chain[0], index as u32), (chain[chain.len() - 1], index as u32)]
        };
        let pairs = proper.chains.iter().enumerate().flat_map(ends);
        Self {
            proper,
            chains: Neighbours::new(proper.real, pairs),
            gap: vec![0; proper.items()],
            ways: Vec::new(),
            guests: Vec::new(),
            merged: Vec::new(),
            work: 0,
        }
    }

    /// The layers between which the edges of a node run.
    pub(super) fn reach(&self, node: u32) -> std::ops::Range<usize> {
        let home = self.proper.layer[node as usize] as usize;
        let (mut first, mut last) = (home, home);
        for &chain in self.chains.of(node) {
            let items = &self.proper.chains[chain as usize];
            first = first.min(self.proper.layer[items[0] as usize] as usize);
            last = last.max(self.proper.layer[items[items.len() - 1] as usize] as usize);
        }
        first..last
    }

    /// Reinserts one node. Of equally good places it takes the first, or the last with `Ties::Turn`: to move where nothing
    /// is gained opens ways for others.
    pub(super) fn reinsert(&mut self, order: &mut Order, node: u32, ties: Ties) {
        let home = self.proper.layer[node as usize] as usize;
        self.take_out(order, node);
        let window = Window::around(self.gap[node as usize], order.layers[home].len());
        let mut totals = [0_i32; LANES];
        for index in 0..self.chains.of(node).len() {
            let sums = self.search(order, node, index);
            for (total, sum) in totals.iter_mut().zip(sums) {
                *total += i32::from(sum);
            }
        }
        let mut best = 0;
        for (at, &total) in totals[..window.len()].iter().enumerate() {
            if total < totals[best] || (ties == Ties::Turn && total == totals[best]) {
                best = at;
            }
        }
        self.put_back(order, node, window.first + best as u32, ties);
    }

    /// The layers that hold the node or a dummy of its edges.
    fn touched(&self, node: u32) -> std::ops::RangeInclusive<usize> {
        let home = self.proper.layer[node as usize] as usize;
        let reach = self.reach(node);
        (reach.start + 1).min(home)..=reach.end.saturating_sub(1).max(home)
    }

    /// Removes the node and the dummies of its edges, noting the gaps they leave.
    fn take_out(&mut self, order: &mut Order, node: u32) {
        order.position[node as usize] = OUT;
        for &chain in self.chains.of(node) {
            let chain = &self.proper.chains[chain as usize];
            for &dummy in &chain[1..chain.len() - 1] {
                order.position[dummy as usize] = OUT;
            }
        }
        let touched = self.touched(node);
        let Order { layers, position, .. } = order;
        for items in &mut layers[touched] {
            let mut stay = 0;
            items.retain(|&item| {
                let stays = position[item as usize] != OUT;
                let place =
                    if stays { &mut position[item as usize] } else { &mut self.gap[item as usize] };
                *place = stay;
                stay += u32::from(stays);
                stays
            });
        }
    }

    /// Finds the best way of one edge to every gap of the node's window; returns their crossings.
    fn search(&mut self, order: &Order, node: u32, index: usize) -> Sums {
        if self.ways.len() <= index {
            self.ways.push(Way::default());
        }
        let way = &mut self.ways[index];
        way.chain = self.chains.of(node)[index];
        let trail = Trail::new(self.proper, &self.gap, order, way.chain, node);
        let mut sums = trail.step(0).leave(order.position[trail.item(0) as usize] as usize);
        way.steps.resize(way.steps.len().max(trail.steps()), ([0; LANES], [[0; LANES]; LANES]));
        for step in 1..trail.steps() {
            let (kept, prices) = &mut way.steps[step];
            *kept = sums;
            sums = trail.step(step).advance(trail.window(step), kept, prices);
            self.work += 300 + 4 * trail.layer(step).len() as u64;
        }
        self.work += 100 + 4 * trail.layer(0).len() as u64;
        sums
    }

    /// Puts the node in a gap of its layer and its dummies in the gaps that lead there best.
    fn put_back(&mut self, order: &mut Order, node: u32, gap: u32, ties: Ties) {
        let mut guests = std::mem::take(&mut self.guests);
        guests.clear();
        for way in &self.ways[..self.chains.of(node).len()] {
            let trail = Trail::new(self.proper, &self.gap, order, way.chain, node);
            let mut at = gap;
            for step in (1..trail.steps()).rev() {
                let (sums, prices) = &way.steps[step];
                let (here, gap) = (trail.window(step), at - trail.window(step + 1).first);
                at = here.first + field::origin(here, sums, prices, gap as usize, ties);
                let item = trail.item(step);
                guests.push(Guest {
                    layer: self.proper.layer[item as usize],
                    gap: at,
                    away: trail.item(step - 1),
                    item,
                });
            }
        }
        let home = self.proper.layer[node as usize];
        guests.push(Guest { layer: home, gap, away: node, item: node });
        guests.sort_unstable();
        // From the far ends towards the node: dummies in one gap stand in the order of their neighbours on the far side.
        let (first, last) = self.touched(node).into_inner();
        for layer in (first as u32..home).chain((home..=last as u32).rev()) {
            let start = guests.partition_point(|guest| guest.layer < layer);
            let end = guests.partition_point(|guest| guest.layer <= layer);
            guests[start..end]
                .sort_unstable_by_key(|guest| (guest.gap, order.position[guest.away as usize]));
            self.seat(order, layer as usize, &guests[start..end]);
        }
        self.guests = guests;
    }

    /// Merges guests into a layer.
    fn seat(&mut self, order: &mut Order, layer: usize, guests: &[Guest]) {
        self.merged.clear();
        let mut from = 0;
        for guest in guests {
            self.merged.extend_from_slice(&order.layers[layer][from..guest.gap as usize]);
            self.merged.push(guest.item);
            from = guest.gap as usize;
        }
        self.merged.extend_from_slice(&order.layers[layer][from..]);
        std::mem::swap(&mut order.layers[layer], &mut self.merged);
        order.renumber(layer);
    }
}

/// A chain seen from its far end towards the node that is taken out.
struct Trail<'a> {
    proper: &'a Proper,
    gap: &'a [u32],
    order: &'a Order,
    items: &'a [u32],
    ends_here: bool,
}

impl<'a> Trail<'a> {
    fn new(proper: &'a Proper, gap: &'a [u32], order: &'a Order, chain: u32, node: u32) -> Self {
        let items = proper.chains[chain as usize].as_slice();
        Self { proper, gap, order, items, ends_here: items[items.len() - 1] == node }
    }

    fn steps(&self) -> usize {
        self.items.len() - 1
    }

    fn item(&self, step: usize) -> u32 {
        if self.ends_here { self.items[step] } else { self.items[self.items.len() - 1 - step] }
    }

    fn layer(&self, step: usize) -> &'a [u32] {
        &self.order.layers[self.proper.layer[self.item(step) as usize] as usize]
    }

    fn window(&self, step: usize) -> Window {
        Window::around(self.gap[self.item(step) as usize], self.layer(step).len())
    }

    /// From the layer of a step to the layer of the next.
    fn step(&self, step: usize) -> Step<'a> {
        let near = if self.ends_here { &self.proper.down } else { &self.proper.up };
        Step {
            items: self.layer(step),
            near,
            positions: &self.order.position,
            to: self.window(step + 1),
        }
    }
}
