//! Destructive bounds: assume the project ends by a given time, narrow every leaf's window by what follows, and when a
//! window closes or too much work crowds an interval, the assumption was wrong. Shaving goes further: it tries out the
//! edges of single windows and cuts off those that lead to a contradiction.

use super::network::Network;
use super::rules::{heads, tails};

/// Rounds of narrowing before giving up; each is sound by itself, so stopping early only weakens the bound.
const MAX_ROUNDS: usize = 40;
/// Which shares of a window shaving tries to cut off: half, an eighth, a single start.
const PARTS: [i32; 3] = [2, 8, i32::MAX];

/// The edge of a window that shaving tries.
#[derive(Clone, Copy, Debug)]
enum Edge {
    Early,
    Late,
}

/// Windows of starts under an assumed end. A closed window refutes the assumption.
#[derive(Debug)]
pub(super) struct Refuter<'a> {
    network: &'a Network,
    heads: Vec<i32>,
    tails: Vec<i32>,
    /// Pairs that together exceed a capacity, so one must come first.
    exclusive: Vec<(u32, u32)>,
    earliest: Vec<i32>,
    latest: Vec<i32>,
    changed: bool,
    saved: Vec<(i32, i32)>,
}

/// The windows contradict each other.
struct Closed;

impl<'a> Refuter<'a> {
    pub(super) fn new(network: &'a Network) -> Self {
        let (earliest, latest) = (vec![0; network.leaves], vec![0; network.leaves]);
        let (heads, tails) = (heads(network), tails(network));
        Self {
            network,
            heads,
            tails,
            exclusive: exclusive_pairs(network),
            earliest,
            latest,
            changed: false,
            saved: Vec::new(),
        }
    }

    /// Whether no schedule can end by `end`. `false` says nothing.
    pub(super) fn refutes(&mut self, end: i32) -> bool {
        self.earliest.copy_from_slice(&self.heads);
        for (latest, tail) in self.latest.iter_mut().zip(&self.tails) {
            *latest = end - tail;
        }
        self.narrow().is_err()
    }

    /// As [`Self::refutes`], with up to `trials` assumptions about single leaves; counts them down.
    pub(super) fn refutes_by_shaving(&mut self, end: i32, trials: &mut u64) -> bool {
        self.refutes(end) || self.shave(trials).is_err()
    }

    fn shave(&mut self, trials: &mut u64) -> Result<(), Closed> {
        let mut moved = true;
        while moved && *trials > 0 {
            moved = false;
            for leaf in 0..self.network.leaves {
                for part in PARTS {
                    moved |= self.trim(leaf, part, Edge::Early, trials)?;
                    moved |= self.trim(leaf, part, Edge::Late, trials)?;
                }
            }
        }
        Ok(())
    }

    /// Cuts parts off one edge of a window for as long as starting there is contradictory.
    fn trim(
        &mut self,
        leaf: usize,
        part: i32,
        edge: Edge,
        trials: &mut u64,
    ) -> Result<bool, Closed> {
        let mut moved = false;
        loop {
            let width = self.latest[leaf] - self.earliest[leaf];
            if width == 0 || *trials == 0 {
                return Ok(moved);
            }
            *trials -= 1;
            let step = width / part;
            if !self.contradicts(leaf, step, edge) {
                return Ok(moved);
            }
            match edge {
                Edge::Early => self.earliest[leaf] += step + 1,
                Edge::Late => self.latest[leaf] -= step + 1,
            }
            self.narrow()?;
            moved = true;
        }
    }

    /// Whether a start within `step` of an edge closes some window. Leaves the windows as they were.
    fn contradicts(&mut self, leaf: usize, step: i32, edge: Edge) -> bool {
        self.saved.clear();
        self.saved.extend(self.earliest.iter().copied().zip(self.latest.iter().copied()));
        match edge {
            Edge::Early => self.latest[leaf] = self.earliest[leaf] + step,
            Edge::Late => self.earliest[leaf] = self.latest[leaf] - step,
        }
        let closed = self.narrow().is_err();
        for (place, &(earliest, latest)) in self.saved.iter().enumerate() {
            self.earliest[place] = earliest;
            self.latest[place] = latest;
        }
        closed
    }

    fn narrow(&mut self) -> Result<(), Closed> {
        for _ in 0..MAX_ROUNDS {
            self.changed = false;
            self.follow_links()?;
            self.order_pairs()?;
            for resource in 0..self.network.capacities.len() {
                self.avoid_certain_use(resource)?;
            }
            if !self.changed {
                break;
            }
        }
        (0..self.network.capacities.len()).try_for_each(|resource| self.weigh_intervals(resource))
    }

    fn not_before(&mut self, leaf: usize, time: i32) -> Result<(), Closed> {
        if time > self.earliest[leaf] {
            self.earliest[leaf] = time;
            self.changed = true;
        }
        if self.earliest[leaf] > self.latest[leaf] { Err(Closed) } else { Ok(()) }
    }

    fn not_after(&mut self, leaf: usize, time: i32) -> Result<(), Closed> {
        if time < self.latest[leaf] {
            self.latest[leaf] = time;
            self.changed = true;
        }
        if self.earliest[leaf] > self.latest[leaf] { Err(Closed) } else { Ok(()) }
    }

    fn follow_links(&mut self) -> Result<(), Closed> {
        let network = self.network;
        for leaf in 0..network.leaves {
            for &(before, distance) in network.forward.before.of(leaf) {
                self.not_before(leaf, self.earliest[before as usize] + distance)?;
            }
        }
        for leaf in (0..network.leaves).rev() {
            for &(before, distance) in network.forward.before.of(leaf) {
                self.not_after(before as usize, self.latest[leaf] - distance)?;
            }
        }
        Ok(())
    }

    fn order_pairs(&mut self) -> Result<(), Closed> {
        for pair in 0..self.exclusive.len() {
            let (one, other) = (self.exclusive[pair].0 as usize, self.exclusive[pair].1 as usize);
            if !self.may_precede(one, other) {
                self.precede(other, one)?;
            }
            if !self.may_precede(other, one) {
                self.precede(one, other)?;
            }
        }
        Ok(())
    }

    fn may_precede(&self, first: usize, second: usize) -> bool {
        self.earliest[first] + self.network.durations[first] <= self.latest[second]
    }

    fn precede(&mut self, first: usize, second: usize) -> Result<(), Closed> {
        let length = self.network.durations[first];
        self.not_before(second, self.earliest[first] + length)?;
        self.not_after(first, self.latest[second] - length)
    }

    /// Where a leaf must run whatever its start, others cannot have what it holds.
    fn avoid_certain_use(&mut self, resource: usize) -> Result<(), Closed> {
        let spans = self.certain_use(resource)?;
        let network = self.network;
        let capacity = i64::from(network.capacities[resource]);
        for leaf in 0..network.leaves {
            let units = i64::from(network.demands[leaf][resource]);
            if units == 0 {
                continue;
            }
            let length = network.durations[leaf];
            let first = spans.partition_point(|span| span.end <= self.earliest[leaf]);
            for span in spans[first..].iter().filter(|span| span.used + units > capacity) {
                // Its own certain part is in the span as well, and does not stand in its way.
                if span.start >= (self.earliest[leaf] + length).min(self.latest[leaf]) {
                    break;
                }
                if span.end > self.earliest[leaf] {
                    self.not_before(leaf, span.end)?;
                }
            }
            let last = spans.partition_point(|span| span.start < self.latest[leaf] + length);
            for span in spans[..last].iter().rev().filter(|span| span.used + units > capacity) {
                if span.end <= (self.earliest[leaf] + length).max(self.latest[leaf]) {
                    break;
                }
                if span.start < self.latest[leaf] + length {
                    self.not_after(leaf, span.start - length)?;
                }
            }
        }
        Ok(())
    }

    /// Spans in time order over which some of a resource is certainly in use.
    fn certain_use(&self, resource: usize) -> Result<Vec<Span>, Closed> {
        let network = self.network;
        let mut changes: Vec<(i32, i64)> = Vec::new();
        for leaf in 0..network.leaves {
            let units = i64::from(network.demands[leaf][resource]);
            let (from, to) = (self.latest[leaf], self.earliest[leaf] + network.durations[leaf]);
            if units > 0 && from < to {
                changes.push((from, units));
                changes.push((to, -units));
            }
        }
        changes.sort_unstable();
        let mut spans = Vec::new();
        let mut used = 0;
        for (place, &(start, change)) in changes.iter().enumerate() {
            used += change;
            let end = changes.get(place + 1).map_or(start, |next| next.0);
            if start < end && used > 0 {
                if used > i64::from(network.capacities[resource]) {
                    return Err(Closed);
                }
                spans.push(Span { start, end, used });
            }
        }
        Ok(spans)
    }

    /// Leaves confined to an interval must find room for all their work in it.
    fn weigh_intervals(&self, resource: usize) -> Result<(), Closed> {
        let network = self.network;
        let mut inside: Vec<(i32, i32, i64)> = Vec::new();
        for leaf in 0..network.leaves {
            let (units, length) =
                (i64::from(network.demands[leaf][resource]), network.durations[leaf]);
            if units > 0 {
                inside.push((
                    self.latest[leaf] + length,
                    self.earliest[leaf],
                    units * i64::from(length),
                ));
            }
        }
        inside.sort_unstable();
        let capacity = i64::from(network.capacities[resource]);
        for from in inside.iter().map(|&(_, earliest, _)| earliest) {
            let mut work = 0;
            for &(by, _, amount) in inside.iter().filter(|&&(_, earliest, _)| earliest >= from) {
                work += amount;
                if work > capacity * i64::from(by - from) {
                    return Err(Closed);
                }
            }
        }
        Ok(())
    }
}

/// A stretch of time with the same certain use throughout.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: i32,
    end: i32,
    used: i64,
}

fn exclusive_pairs(network: &Network) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for one in 0..network.leaves {
        for other in one + 1..network.leaves {
            let rows =
                network.demands[one].iter().zip(&network.demands[other]).zip(&network.capacities);
            let clash =
                rows.clone().any(|((&a, &b), &c)| u64::from(a) + u64::from(b) > u64::from(c));
            if clash {
                pairs.push((one as u32, other as u32));
            }
        }
    }
    pairs
}
