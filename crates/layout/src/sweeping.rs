//! Sweeps over the layers: each layer is sorted by the layer before, to and fro, and neighbours are exchanged.

use super::crossings::Counter;
use super::ordering::{Order, Ties};
use super::proper::{Neighbours, Proper};
use super::transposing::Transposer;

/// Which way a sweep goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sweep {
    Down,
    Up,
}

/// Sweeps, keeping its working memory between calls.
#[derive(Debug)]
pub(super) struct Sweeper<'a> {
    proper: &'a Proper,
    transposer: Transposer<'a>,
    keyed: Vec<(f32, u32)>,
    /// Counts what was done, so that effort can be limited the same way on every machine.
    pub(super) work: u64,
}

impl<'a> Sweeper<'a> {
    pub(super) fn new(proper: &'a Proper) -> Self {
        Self { proper, transposer: Transposer::new(proper), keyed: Vec::new(), work: 0 }
    }

    /// Sweeps to and fro until it no longer helps, at most `rounds` times; leaves the best order met.
    pub(super) fn settle(&mut self, order: &mut Order, rounds: u32, counter: &mut Counter) {
        const PATIENCE: u32 = 4;
        order.count(self.proper, counter);
        let mut best = order.clone();
        let mut idle = 0;
        for round in 0..rounds {
            let ties = if round % 4 < 2 { Ties::Keep } else { Ties::Turn };
            self.sweep(order, if round % 2 == 0 { Sweep::Down } else { Sweep::Up }, ties);
            order.count(self.proper, counter);
            self.work += self.transposer.transpose(order, ties.other());
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

    /// One sweep over all layers.
    pub(super) fn sweep(&mut self, order: &mut Order, sweep: Sweep, ties: Ties) {
        let depth = order.layers.len();
        self.work += 50 * self.proper.items() as u64;
        match sweep {
            Sweep::Down => {
                (1..depth).for_each(|layer| self.arrange(order, layer, &self.proper.up, ties));
            }
            Sweep::Up => (0..depth - 1)
                .rev()
                .for_each(|layer| self.arrange(order, layer, &self.proper.down, ties)),
        }
    }

    /// Sorts one layer by the mean position of the neighbours; items without neighbours keep their places.
    fn arrange(&mut self, order: &mut Order, layer: usize, neighbours: &Neighbours, ties: Ties) {
        self.keyed.clear();
        let items = &mut order.layers[layer];
        for &item in items.iter() {
            let near = neighbours.of(item);
            if !near.is_empty() {
                let sum: u32 = near.iter().map(|&near| order.position[near as usize]).sum();
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
}
