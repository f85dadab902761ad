//! Destructive bounds: assume that the project ends by a given time and narrow every leaf's window accordingly. If a
//! window closes or an interval contains too much work, the assumption was wrong. Shaving goes further: it tries the
//! edges of single windows and cuts off those that lead to a contradiction.

use super::network::LeafNetwork;
use super::priority_rules::{compute_heads, compute_tails};

/// The maximum number of narrowing rounds; each one is sound by itself, so stopping early only weakens the bound.
const MAX_ROUNDS: usize = 40;
/// The parts of a window that shaving tries to cut off: half, an eighth, a single start.
const PARTS: [i32; 3] = [2, 8, i32::MAX];

/// The edge of a window that shaving tests.
#[derive(Clone, Copy, Debug)]
enum WindowEdge {
    Early,
    Late,
}

/// Windows of starts under an assumed end. A closed window refutes the assumption.
#[derive(Debug)]
pub(super) struct BoundRefuter<'a> {
    network: &'a LeafNetwork,
    heads: Vec<i32>,
    tails: Vec<i32>,
    /// Pairs that together exceed a capacity, so one of them must come first.
    exclusive: Vec<(u32, u32)>,
    earliest: Vec<i32>,
    latest: Vec<i32>,
    changed: bool,
    saved: Vec<(i32, i32)>,
}

/// The windows contradict each other.
struct ClosedWindow;

impl<'a> BoundRefuter<'a> {
    pub(super) fn new(network: &'a LeafNetwork) -> Self {
        let (earliest, latest) = (vec![0; network.leaves], vec![0; network.leaves]);
        let (heads, tails) = (compute_heads(network), compute_tails(network));
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

    /// Returns whether no schedule can end by `end`. `false` proves nothing.
    pub(super) fn refutes_end(&mut self, end: i32) -> bool {
        self.earliest.copy_from_slice(&self.heads);
        for (latest, tail) in self.latest.iter_mut().zip(&self.tails) {
            *latest = end - tail;
        }
        self.narrow_windows().is_err()
    }

    /// Like [`Self::refutes_end`], with up to `trials` assumptions about single leaves; decrements `trials` for each.
    pub(super) fn refutes_by_shaving(&mut self, end: i32, trials: &mut u64) -> bool {
        self.refutes_end(end) || self.shave_windows(trials).is_err()
    }

    fn shave_windows(&mut self, trials: &mut u64) -> Result<(), ClosedWindow> {
        let mut moved = true;
        while moved && *trials > 0 {
            moved = false;
            for leaf in 0..self.network.leaves {
                for part in PARTS {
                    moved |= self.trim_window(leaf, part, WindowEdge::Early, trials)?;
                    moved |= self.trim_window(leaf, part, WindowEdge::Late, trials)?;
                }
            }
        }
        Ok(())
    }

    /// Cuts parts off one edge of a window as long as starting there leads to a contradiction.
    fn trim_window(
        &mut self,
        leaf: usize,
        part: i32,
        edge: WindowEdge,
        trials: &mut u64,
    ) -> Result<bool, ClosedWindow> {
        let mut moved = false;
        loop {
            let width = self.latest[leaf] - self.earliest[leaf];
            if width == 0 || *trials == 0 {
                return Ok(moved);
            }
            *trials -= 1;
            let step = width / part;
            if !self.is_contradictory(leaf, step, edge) {
                return Ok(moved);
            }
            match edge {
                WindowEdge::Early => self.earliest[leaf] += step + 1,
                WindowEdge::Late => self.latest[leaf] -= step + 1,
            }
            self.narrow_windows()?;
            moved = true;
        }
    }

    /// Returns whether a start within `step` of an edge closes some window. Restores the windows.
    fn is_contradictory(&mut self, leaf: usize, step: i32, edge: WindowEdge) -> bool {
        self.saved.clear();
        self.saved.extend(self.earliest.iter().copied().zip(self.latest.iter().copied()));
        match edge {
            WindowEdge::Early => self.latest[leaf] = self.earliest[leaf] + step,
            WindowEdge::Late => self.earliest[leaf] = self.latest[leaf] - step,
        }
        let closed = self.narrow_windows().is_err();
        for (place, &(earliest, latest)) in self.saved.iter().enumerate() {
            self.earliest[place] = earliest;
            self.latest[place] = latest;
        }
        closed
    }

    /// Repeats all rules until nothing changes or the limit is reached. Every rule only removes starts that no schedule
    /// ending in time can use, so a closed window is a proof regardless of the order of the rules.
    fn narrow_windows(&mut self) -> Result<(), ClosedWindow> {
        for _ in 0..MAX_ROUNDS {
            self.changed = false;
            self.propagate_links()?;
            self.order_pairs()?;
            for resource in 0..self.network.capacities.len() {
                self.avoid_certain_use(resource)?;
            }
            if !self.changed {
                break;
            }
        }
        (0..self.network.capacities.len()).try_for_each(|resource| self.check_intervals(resource))
    }

    fn raise_earliest(&mut self, leaf: usize, time: i32) -> Result<(), ClosedWindow> {
        if time > self.earliest[leaf] {
            self.earliest[leaf] = time;
            self.changed = true;
        }
        if self.earliest[leaf] > self.latest[leaf] { Err(ClosedWindow) } else { Ok(()) }
    }

    fn lower_latest(&mut self, leaf: usize, time: i32) -> Result<(), ClosedWindow> {
        if time < self.latest[leaf] {
            self.latest[leaf] = time;
            self.changed = true;
        }
        if self.earliest[leaf] > self.latest[leaf] { Err(ClosedWindow) } else { Ok(()) }
    }

    /// Leaves are numbered in link order, so one pass up and one pass down reach the fixed point of the links.
    fn propagate_links(&mut self) -> Result<(), ClosedWindow> {
        let network = self.network;
        for leaf in 0..network.leaves {
            for &(before, distance) in network.forward.before.neighbors_of(leaf) {
                self.raise_earliest(leaf, self.earliest[before as usize] + distance)?;
            }
        }
        for leaf in (0..network.leaves).rev() {
            for &(before, distance) in network.forward.before.neighbors_of(leaf) {
                self.lower_latest(before as usize, self.latest[leaf] - distance)?;
            }
        }
        Ok(())
    }

    /// Of two leaves that cannot run at the same time one must precede the other. If neither can, enforcing both orders
    /// closes a window.
    fn order_pairs(&mut self) -> Result<(), ClosedWindow> {
        for pair in 0..self.exclusive.len() {
            let (one, other) = (self.exclusive[pair].0 as usize, self.exclusive[pair].1 as usize);
            if !self.can_precede(one, other) {
                self.enforce_precedence(other, one)?;
            }
            if !self.can_precede(other, one) {
                self.enforce_precedence(one, other)?;
            }
        }
        Ok(())
    }

    fn can_precede(&self, first: usize, second: usize) -> bool {
        self.earliest[first] + self.network.durations[first] <= self.latest[second]
    }

    fn enforce_precedence(&mut self, first: usize, second: usize) -> Result<(), ClosedWindow> {
        let length = self.network.durations[first];
        self.raise_earliest(second, self.earliest[first] + length)?;
        self.lower_latest(first, self.latest[second] - length)
    }

    /// Where a leaf must run for every possible start, other leaves cannot use its capacity.
    fn avoid_certain_use(&mut self, resource: usize) -> Result<(), ClosedWindow> {
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
                // The span includes the leaf's own certain part, which does not block it.
                if span.start >= (self.earliest[leaf] + length).min(self.latest[leaf]) {
                    break;
                }
                if span.end > self.earliest[leaf] {
                    self.raise_earliest(leaf, span.end)?;
                }
            }
            let last = spans.partition_point(|span| span.start < self.latest[leaf] + length);
            for span in spans[..last].iter().rev().filter(|span| span.used + units > capacity) {
                if span.end <= (self.earliest[leaf] + length).max(self.latest[leaf]) {
                    break;
                }
                if span.start < self.latest[leaf] + length {
                    self.lower_latest(leaf, span.start - length)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the spans, in time order, during which a resource is certainly in use.
    fn certain_use(&self, resource: usize) -> Result<Vec<CertainUseSpan>, ClosedWindow> {
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
                    return Err(ClosedWindow);
                }
                spans.push(CertainUseSpan { start, end, used });
            }
        }
        Ok(spans)
    }

    /// Checks that leaves confined to an interval have room for all their work in it.
    fn check_intervals(&self, resource: usize) -> Result<(), ClosedWindow> {
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
                    return Err(ClosedWindow);
                }
            }
        }
        Ok(())
    }
}

/// A span of time with constant certain use.
#[derive(Clone, Copy, Debug)]
struct CertainUseSpan {
    start: i32,
    end: i32,
    used: i64,
}

fn exclusive_pairs(network: &LeafNetwork) -> Vec<(u32, u32)> {
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
