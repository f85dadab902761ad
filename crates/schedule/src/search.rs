//! Keeps the best of several generations, and improves it for a counted number of tries.

use std::cmp::Reverse;

use super::generate::{Layout, PlaceOf, Problem, Scheme, Windows, generate};
use super::network::{Item, ItemLink, Network};
use super::passes::{Clock, Timing};
use super::rules::{Rule, positions, ranked};
use planwright_model::LinkKind;

/// How good a layout is; the least is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    pub lateness: u64,
    pub unplaced: u64,
    pub preferred: Reverse<u64>,
    pub finish: i64,
    pub blocks: usize,
}

/// Above this many items the passes cost more than they could gain.
const JUSTIFY_BELOW: usize = 2_000;

/// How many leaves the usual number of tries is meant for.
const USUAL_LEAVES: u64 = 120;
/// So many tries are made however large a plan is.
const LEAST_TRIES: u64 = 16;

/// The tries that a plan of so many leaves gets: a try costs as much more as there are more leaves.
pub fn tries(iterations: u64, leaves: usize) -> u64 {
    let leaves = (leaves as u64).max(USUAL_LEAVES);
    (iterations.saturating_mul(USUAL_LEAVES) / leaves).max(LEAST_TRIES).min(iterations)
}

/// Finds a good layout. The same problem, count and seed give the same layout.
pub(super) fn search(problem: &Problem<'_>, iterations: u64, seed: u64) -> (Layout, Score) {
    let timing = Timing::new(problem.network, Clock::Working(problem.axis));
    let mut search = Search { problem, best: None, seed, floor: floor(problem, &timing) };
    search.first(&timing);
    search.justify();
    search.improve(tries(iterations, problem.network.items.len()));
    search.best.map_or_else(
        || (Layout::default(), score(problem, &Layout::default())),
        |best| (best.layout, best.score),
    )
}

struct Best {
    layout: Layout,
    score: Score,
    ranks: Vec<u32>,
    windows: Windows,
}

struct Search<'a, 'b> {
    problem: &'b Problem<'a>,
    best: Option<Best>,
    seed: u64,
    /// A finish that is not worth searching below.
    floor: i64,
}

impl Search<'_, '_> {
    fn first(&mut self, timing: &Timing) {
        let windows: &[Windows] = if self.problem.axis.preferred.is_empty() {
            &[Windows::Any]
        } else {
            &[Windows::Preferred, Windows::Any]
        };
        for &windows in windows {
            for rule in Rule::ALL {
                let ranks = rule.ranks(self.problem.network, timing);
                self.attempt(&ranks, Scheme::Serial, windows);
                if rule == Rule::LatestFinish {
                    self.attempt(&ranks, Scheme::Parallel, windows);
                }
            }
        }
    }

    fn attempt(&mut self, ranks: &[u32], scheme: Scheme, windows: Windows) {
        let layout = generate(self.problem, ranks, scheme, windows);
        let score = score(self.problem, &layout);
        // A later find must be better by more than nothing, so that rules keep their order.
        if self.best.as_ref().is_none_or(|best| score < best.score) {
            self.best = Some(Best { layout, score, ranks: ranks.to_vec(), windows });
        }
    }

    /// Forward-backward passes: what the backward pass starts last, the forward pass places last.
    fn justify(&mut self) {
        let Some(end) = self.best.as_ref().map(|best| best.score.finish) else { return };
        if self.is_done() || self.problem.network.items.len() > JUSTIFY_BELOW {
            return;
        }
        let axis = self.problem.axis.reversed();
        let network = reversed_network(self.problem.network, end);
        let taken: Vec<(i64, i64)> =
            self.problem.taken.iter().rev().map(|span| (-span.1, -span.0)).collect();
        let place_of = Reversed(self.problem.place_of);
        let backward = Problem {
            network: &network,
            axis: &axis,
            taken: &taken,
            place_of: &place_of,
            aim: i64::MAX,
            ..*self.problem
        };
        for _ in 0..2 {
            let Some(best) = &self.best else { return };
            let windows = best.windows;
            let finish = |item: usize| best.layout.blocks[item].iter().map(|block| block.1).max();
            let ranks =
                ranked(self.problem.network, |item| Reverse(finish(item).unwrap_or(i64::MIN)));
            let turned = generate(&backward, &ranks, Scheme::Serial, windows);
            // Minutes are negated: the last block backwards is the first one forwards.
            let start = |item: usize| turned.blocks[item].iter().map(|block| -block.1).min();
            let ranks = ranked(self.problem.network, |item| start(item).unwrap_or(i64::MAX));
            self.attempt(&ranks, Scheme::Serial, windows);
        }
    }

    /// Moves one item at a time to another rank and keeps what is not worse.
    fn improve(&mut self, iterations: u64) {
        let count = self.problem.network.items.len();
        let Some(best) = &self.best else { return };
        let windows = best.windows;
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&item| (best.ranks[item], item));
        let mut current = best.score;
        for _ in 0..iterations {
            if count < 2 || self.is_done() {
                return;
            }
            let (from, to) = (self.draw(count), self.draw(count));
            let mut candidate = order.clone();
            let item = candidate.remove(from);
            candidate.insert(to, item);
            let ranks = positions(&candidate);
            let layout = generate(self.problem, &ranks, Scheme::Serial, windows);
            let score = score(self.problem, &layout);
            if score <= current {
                (order, current) = (candidate, score);
            }
            if self.best.as_ref().is_none_or(|best| score < best.score) {
                self.best = Some(Best { layout, score, ranks, windows });
            }
        }
    }

    /// Whether nothing that matters can get better.
    fn is_done(&self) -> bool {
        let preferred = self.problem.axis.preferred.is_empty();
        self.best.as_ref().is_some_and(|best| {
            let score = best.score;
            score.lateness == 0 && score.unplaced == 0 && preferred && score.finish <= self.floor
        })
    }

    /// A number below a bound, by `SplitMix64`.
    fn draw(&mut self, bound: usize) -> usize {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * bound as u128) >> 64) as usize
    }
}

/// Rates a layout.
pub(super) fn score(problem: &Problem<'_>, layout: &Layout) -> Score {
    let items = &problem.network.items;
    let mut unplaced = 0;
    for (index, item) in items.iter().enumerate() {
        if layout.spans.get(index).copied().flatten().is_none() {
            // Items without minutes count too, or a lost milestone would look like a gain.
            unplaced += u64::from(item.open_minutes()).max(1);
        }
    }
    let blocks = || layout.blocks.iter().flatten();
    let points = items.iter().zip(&layout.spans).filter(|(item, _)| item.minutes == 0);
    let points = points.filter_map(|(_, span)| problem.axis.finish_minute((*span)?.finish));
    let last = blocks().map(|block| block.1).chain(points).max();
    let finish = last.unwrap_or(problem.axis.start());
    let preferred = blocks().map(|block| inside(problem, *block)).sum();
    let late = problem.axis.working(finish).saturating_sub(problem.axis.working(problem.aim));
    let spilled = u64::try_from(finish.saturating_sub(problem.aim)).unwrap_or(0).min(1);
    Score {
        // Work outside working hours can be late without a working minute in between.
        lateness: late.max(spilled),
        unplaced,
        preferred: Reverse(preferred),
        finish,
        blocks: blocks().count(),
    }
}

fn inside(problem: &Problem<'_>, (from, to): (i64, i64)) -> u64 {
    let pieces = &problem.axis.preferred;
    let first = pieces.partition_point(|piece| piece.to <= from);
    let overlaps = pieces[first..].iter().take_while(|piece| piece.from < to);
    overlaps.map(|piece| piece.to.min(to).abs_diff(piece.from.max(from))).sum()
}

/// The finish of all minutes as one leaf, or of the longest chain: a layout that ends there needs no search.
fn floor(problem: &Problem<'_>, timing: &Timing) -> i64 {
    let items = &problem.network.items;
    let chain = timing.earliest.iter().map(|span| span.finish).max().unwrap_or(0);
    let chain = problem.axis.finish_minute(chain).unwrap_or(i64::MAX);
    let total = items.iter().fold(0u32, |sum, item| sum.saturating_add(item.open_minutes()));
    let whole = Item {
        node: 0,
        minutes: total,
        phase: None,
        occurrence: None,
        series: None,
        release: i64::MIN,
        due: i64::MAX,
        fixed: None,
        locked: Vec::new(),
        done: false,
    };
    let network = Network::from_parts(vec![whole], Vec::new());
    let alone = Problem { network: &network, ..*problem };
    let layout = generate(&alone, &[0], Scheme::Serial, Windows::Any);
    let packed = layout.blocks.iter().flatten().map(|block| block.1).max().unwrap_or(0);
    chain.max(packed)
}

fn reversed_network(network: &Network, end: i64) -> Network {
    let items = network.items.iter().map(|item| Item {
        // What needs no more room backwards than forwards: the end of the best layout comes first.
        release: (-item.due).max(-end),
        due: item.release.checked_neg().unwrap_or(i64::MAX),
        fixed: None,
        locked: item.locked.iter().map(|block| (-block.1, -block.0)).collect(),
        ..item.clone()
    });
    let mut links = Vec::new();
    for link in &network.links {
        let kind = match link.kind {
            LinkKind::SS => LinkKind::FF,
            LinkKind::FF => LinkKind::SS,
            kind => kind,
        };
        for &from in link.from.iter() {
            let source = [link.to].into();
            links.push(ItemLink { from: source, to: from, kind, lag: link.lag, basis: link.basis });
        }
    }
    Network::from_parts(items.collect(), links)
}

#[derive(Debug)]
struct Reversed<'a>(&'a dyn PlaceOf);

impl PlaceOf for Reversed<'_> {
    fn place_of(&self, minute: i64) -> (usize, usize) {
        self.0.place_of(-minute)
    }

    fn day_end(&self, minute: i64) -> i64 {
        -minute
    }
}
