//! Sifting: each item tries every place of its layer and takes the one with the fewest crossings.

use super::ordering::Order;
use super::proper::{Neighbours, Proper};

/// Sifts layers, keeping its working memory between calls.
#[derive(Debug)]
pub(super) struct Sifter<'a> {
    proper: &'a Proper,
    up: Vec<u32>,
    down: Vec<u32>,
    queue: Vec<u32>,
}

impl<'a> Sifter<'a> {
    pub(super) fn new(proper: &'a Proper) -> Self {
        Self {
            proper,
            up: vec![0; proper.up.len()],
            down: vec![0; proper.down.len()],
            queue: Vec::new(),
        }
    }

    /// Sifts all layers to and fro until nothing improves.
    pub(super) fn settle(&mut self, order: &mut Order) {
        const PASSES: usize = 8;
        let depth = order.layers.len();
        for pass in 0..PASSES {
            let mut gained = 0;
            for step in 0..depth {
                let layer = if pass % 2 == 0 { step } else { depth - 1 - step };
                gained += self.sift_layer(order, layer);
            }
            if gained == 0 {
                break;
            }
        }
    }

    /// Sifts every item of one layer once; returns how many crossings are gone.
    fn sift_layer(&mut self, order: &mut Order, layer: usize) -> i64 {
        sorted_ends(&self.proper.up, &mut self.up, order, layer);
        sorted_ends(&self.proper.down, &mut self.down, order, layer);
        self.queue.clear();
        self.queue.extend_from_slice(&order.layers[layer]);
        let mut gained = 0;
        for index in 0..self.queue.len() {
            gained += self.sift(&mut order.layers[layer], &mut order.position, self.queue[index]);
        }
        gained
    }

    fn sift(&self, items: &mut [u32], position: &mut [u32], item: u32) -> i64 {
        let from = position[item as usize] as usize;
        let (mut best, mut to) = (0, from);
        let mut change = 0;
        for at in (0..from).rev() {
            change += self.balance(item, items[at]);
            if change < best {
                (best, to) = (change, at);
            }
        }
        change = 0;
        for (at, &other) in items.iter().enumerate().skip(from + 1) {
            change -= self.balance(item, other);
            if change < best {
                (best, to) = (change, at);
            }
        }
        if to < from {
            items[to..=from].rotate_right(1);
        } else {
            items[from..=to].rotate_left(1);
        }
        for at in from.min(to)..=from.max(to) {
            position[items[at] as usize] = at as u32;
        }
        -best
    }

    /// Crossings of the two items with `first` before `second`, less those with `second` before `first`.
    fn balance(&self, first: u32, second: u32) -> i64 {
        let up = &self.proper.up;
        let down = &self.proper.down;
        inversions(&self.up[up.span(first)], &self.up[up.span(second)])
            + inversions(&self.down[down.span(first)], &self.down[down.span(second)])
    }
}

/// Fills `ends` with the sorted positions of each item's neighbours.
fn sorted_ends(neighbours: &Neighbours, ends: &mut [u32], order: &Order, layer: usize) {
    for &item in &order.layers[layer] {
        let span = &mut ends[neighbours.span(item)];
        for (slot, &near) in span.iter_mut().zip(neighbours.of(item)) {
            *slot = order.position[near as usize];
        }
        span.sort_unstable();
    }
}

/// Pairs with the first end greater, less pairs with the first end smaller. Both lists are sorted.
fn inversions(first: &[u32], second: &[u32]) -> i64 {
    if let ([a], [b]) = (first, second) {
        return a.cmp(b) as i64;
    }
    let (mut below, mut through, mut sum) = (0, 0, 0);
    for &end in first {
        while below < second.len() && second[below] < end {
            below += 1;
        }
        while through < second.len() && second[through] <= end {
            through += 1;
        }
        sum += (below + through) as i64 - second.len() as i64;
    }
    sum
}
