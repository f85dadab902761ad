//! Keeps the best of several generated layouts, and improves it within a fixed number of tries.

use std::cmp::Reverse;

use super::axis::WorkPiece;
use super::generate::{
    DayLocator, GenerationScheme, PlacementProblem, ScheduleLayout, WindowPreference,
    generate_layout,
};
use super::network::{ItemLink, ItemNetwork, ScheduleItem};
use super::passes::{NetworkTiming, PassClock};
use super::priority_rules::{PriorityRule, rank_by_key, ranks_in_order};
use planwright_model::LinkKind;

/// The quality of a layout; the smallest is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LayoutScore {
    pub lateness: u64,
    pub unplaced: u64,
    /// Minutes by which tasks end after the date they should end by.
    pub overdue: u64,
    pub preferred: Reverse<u64>,
    pub finish: i64,
    pub blocks: usize,
}

/// Above this many items the passes cost more than they could gain.
const JUSTIFY_BELOW: usize = 2_000;

/// The number of leaves for which the default number of tries is intended.
const TYPICAL_LEAVES: u64 = 120;
/// The minimum number of tries, regardless of the size of a plan.
const MIN_TRIES: u64 = 16;

/// Returns the number of tries for a plan of this many leaves: the cost of a try grows with the number of leaves.
pub fn try_count(iterations: u64, leaves: usize) -> u64 {
    let leaves = (leaves as u64).max(TYPICAL_LEAVES);
    (iterations.saturating_mul(TYPICAL_LEAVES) / leaves).max(MIN_TRIES).min(iterations)
}

/// Finds a good layout. The same problem, count and seed always give the same layout. `earlier` has the minute at which
/// each item began in the version before.
pub(super) fn search_layout(
    problem: &PlacementProblem<'_>,
    earlier: &[Option<i64>],
    iterations: u64,
    seed: u64,
) -> (ScheduleLayout, LayoutScore) {
    let timing = NetworkTiming::new(problem.network, PassClock::Working(problem.axis));
    let mut search =
        LayoutSearch { problem, best: None, seed, floor: finish_floor(problem, &timing) };
    search.try_rules(&timing);
    search.justify_best();
    // Work that is spread over the week gains nothing from an end some hours earlier, and the same plan should get the
    // same dates after a change that is undone.
    if problem.sessions.is_none() {
        search.improve_best(try_count(iterations, problem.network.items.len()));
    }
    search.keep_earlier_order(earlier);
    search.best.map_or_else(
        || (ScheduleLayout::default(), score_layout(problem, &ScheduleLayout::default())),
        |best| (best.layout, best.score),
    )
}

struct BestLayout {
    layout: ScheduleLayout,
    score: LayoutScore,
    ranks: Vec<u32>,
    windows: WindowPreference,
}

struct LayoutSearch<'a, 'b> {
    problem: &'b PlacementProblem<'a>,
    best: Option<BestLayout>,
    seed: u64,
    /// A finish below which searching is not worthwhile.
    floor: i64,
}

impl LayoutSearch<'_, '_> {
    fn try_rules(&mut self, timing: &NetworkTiming) {
        let windows: &[WindowPreference] = if has_preferences(self.problem) {
            &[WindowPreference::Preferred, WindowPreference::Any]
        } else {
            &[WindowPreference::Any]
        };
        for &windows in windows {
            for rule in PriorityRule::ALL {
                let ranks = rule.item_ranks(self.problem.network, timing);
                self.attempt_layout(&ranks, GenerationScheme::Serial, windows);
                if rule == PriorityRule::LatestFinish {
                    self.attempt_layout(&ranks, GenerationScheme::Parallel, windows);
                }
            }
        }
    }

    fn attempt_layout(
        &mut self,
        ranks: &[u32],
        scheme: GenerationScheme,
        windows: WindowPreference,
    ) {
        let layout = generate_layout(self.problem, ranks, scheme, windows);
        let score = score_layout(self.problem, &layout);
        // A later layout must be strictly better, so that the rules keep their order.
        if self.best.as_ref().is_none_or(|best| score < best.score) {
            self.best = Some(BestLayout { layout, score, ranks: ranks.to_vec(), windows });
        }
    }

    /// Forward-backward passes: items that the backward pass starts last are placed last by the forward pass.
    fn justify_best(&mut self) {
        let Some(end) = self.best.as_ref().map(|best| best.score.finish) else { return };
        if self.is_done() || self.problem.network.items.len() > JUSTIFY_BELOW {
            return;
        }
        let axis = self.problem.axis.reversed();
        let network = reversed_network(self.problem.network, end);
        let taken: Vec<(i64, i64)> =
            self.problem.taken.iter().rev().map(|span| (-span.1, -span.0)).collect();
        let place_of = ReversedDayLocator(self.problem.locator);
        let backward = PlacementProblem {
            network: &network,
            axis: &axis,
            taken: &taken,
            locator: &place_of,
            aim: i64::MAX,
            ..*self.problem
        };
        for _ in 0..2 {
            let Some(best) = &self.best else { return };
            let windows = best.windows;
            let finish = |item: usize| best.layout.blocks[item].iter().map(|block| block.1).max();
            let ranks =
                rank_by_key(self.problem.network, |item| Reverse(finish(item).unwrap_or(i64::MIN)));
            let turned = generate_layout(&backward, &ranks, GenerationScheme::Serial, windows);
            // Minutes are negated: the last block backward is the first one forward.
            let start = |item: usize| turned.blocks[item].iter().map(|block| -block.1).min();
            let ranks = rank_by_key(self.problem.network, |item| start(item).unwrap_or(i64::MAX));
            self.attempt_layout(&ranks, GenerationScheme::Serial, windows);
        }
    }

    /// Moves one item at a time to another rank and keeps results that are not worse.
    fn improve_best(&mut self, iterations: u64) {
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
            let (from, to) = (self.draw_below(count), self.draw_below(count));
            let mut candidate = order.clone();
            let item = candidate.remove(from);
            candidate.insert(to, item);
            let ranks = ranks_in_order(&candidate);
            let layout = generate_layout(self.problem, &ranks, GenerationScheme::Serial, windows);
            let score = score_layout(self.problem, &layout);
            if score <= current {
                (order, current) = (candidate, score);
            }
            if self.best.as_ref().is_none_or(|best| score < best.score) {
                self.best = Some(BestLayout { layout, score, ranks, windows });
            }
        }
    }

    /// Takes the order of the version before if it is as good: after a small change the tasks that have nothing to do
    /// with it keep their dates. What is new goes where there is room.
    fn keep_earlier_order(&mut self, earlier: &[Option<i64>]) {
        let Some(best) = &self.best else { return };
        if earlier.iter().all(Option::is_none) {
            return;
        }
        let start = |item: usize| earlier.get(item).copied().flatten().unwrap_or(i64::MAX);
        let ranks = rank_by_key(self.problem.network, start);
        let windows = best.windows;
        let layout = generate_layout(self.problem, &ranks, GenerationScheme::Serial, windows);
        let score = score_layout(self.problem, &layout);
        // In how many blocks the work is cut is worth less than dates that stay.
        if (LayoutScore { blocks: best.score.blocks, ..score }) <= best.score {
            self.best = Some(BestLayout { layout, score, ranks, windows });
        }
    }

    /// Returns whether nothing significant can improve.
    fn is_done(&self) -> bool {
        let preferred = !has_preferences(self.problem);
        self.best.as_ref().is_some_and(|best| {
            let score = best.score;
            score.lateness == 0 && score.unplaced == 0 && preferred && score.finish <= self.floor
        })
    }

    /// Returns a number below a bound, using `SplitMix64`.
    fn draw_below(&mut self, bound: usize) -> usize {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * bound as u128) >> 64) as usize
    }
}

/// Computes the score of a layout.
pub(super) fn score_layout(problem: &PlacementProblem<'_>, layout: &ScheduleLayout) -> LayoutScore {
    let items = &problem.network.items;
    let mut unplaced = 0;
    for (index, item) in items.iter().enumerate() {
        if layout.spans.get(index).copied().flatten().is_none() {
            // Items without minutes are included, or a lost milestone would look like an improvement.
            unplaced += u64::from(item.open_minutes()).max(1);
        }
    }
    let blocks = || layout.blocks.iter().flatten();
    let points = items.iter().zip(&layout.spans).filter(|(item, _)| item.minutes == 0);
    let points = points.filter_map(|(_, span)| problem.axis.finish_minute((*span)?.finish));
    let last = blocks().map(|block| block.1).chain(points).max();
    let finish = last.unwrap_or(problem.axis.start());
    let axis = problem.axis;
    let windows = blocks().map(|block| preferred_minutes(&axis.preferred, *block)).sum::<u64>();
    let timed = items.iter().zip(&layout.blocks).filter_map(|(item, blocks)| {
        let pieces = axis.by_time.get(&item.preferred_time?)?;
        Some(blocks.iter().map(|block| preferred_minutes(pieces, *block)).sum::<u64>())
    });
    let preferred = windows + timed.sum::<u64>();
    let late = problem
        .axis
        .working_minutes(finish)
        .saturating_sub(problem.axis.working_minutes(problem.aim));
    let ends = items.iter().zip(&layout.blocks).filter_map(|(item, blocks)| {
        let end = blocks.iter().map(|block| block.1).max()?;
        u64::try_from(end.saturating_sub(item.wanted_by)).ok()
    });
    let overdue = ends.sum();
    let spilled = u64::try_from(finish.saturating_sub(problem.aim)).unwrap_or(0).min(1);
    LayoutScore {
        // Work outside working hours can be late without a working minute in between.
        lateness: late.max(spilled),
        unplaced,
        overdue,
        preferred: Reverse(preferred),
        finish,
        blocks: blocks().count(),
    }
}

/// Returns whether anything is better done at some times than at others.
fn has_preferences(problem: &PlacementProblem<'_>) -> bool {
    !problem.axis.preferred.is_empty() || problem.axis.by_time.values().any(|time| !time.is_empty())
}

fn preferred_minutes(pieces: &[WorkPiece], (from, to): (i64, i64)) -> u64 {
    let first = pieces.partition_point(|piece| piece.to <= from);
    let overlaps = pieces[first..].iter().take_while(|piece| piece.from < to);
    overlaps.map(|piece| piece.to.min(to).abs_diff(piece.from.max(from))).sum()
}

/// Returns the finish of all minutes as one leaf, or of the longest chain: a layout that ends there needs no search.
fn finish_floor(problem: &PlacementProblem<'_>, timing: &NetworkTiming) -> i64 {
    let items = &problem.network.items;
    let chain = timing.earliest.iter().map(|span| span.finish).max().unwrap_or(0);
    let chain = problem.axis.finish_minute(chain).unwrap_or(i64::MAX);
    let own = items.iter().filter(|item| item.owner == 0);
    let total = own.fold(0u32, |sum, item| sum.saturating_add(item.open_minutes()));
    let single = ScheduleItem {
        node: 0,
        minutes: total,
        phase: None,
        occurrence: None,
        series: None,
        release: i64::MIN,
        due: i64::MAX,
        wanted_by: i64::MAX,
        own_day_end: i64::MAX,
        owner: 0,
        fixed: None,
        locked: Vec::new(),
        done: false,
        preferred_time: None,
        in_one_piece: false,
        has_own_day: false,
        keeps_time: false,
    };
    let network = ItemNetwork::from_parts(vec![single], Vec::new());
    let alone = PlacementProblem { network: &network, ..*problem };
    let layout = generate_layout(&alone, &[0], GenerationScheme::Serial, WindowPreference::Any);
    let packed = layout.blocks.iter().flatten().map(|block| block.1).max().unwrap_or(0);
    chain.max(packed)
}

fn reversed_network(network: &ItemNetwork, end: i64) -> ItemNetwork {
    let items = network.items.iter().map(|item| ScheduleItem {
        // The reversed layout starts at the end of the best one: it must not become longer.
        release: (-item.due).max(-end),
        due: item.release.checked_neg().unwrap_or(i64::MAX),
        wanted_by: i64::MAX,
        own_day_end: i64::MAX,
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
    let (other_weekly, other_away) = (network.other_weekly.clone(), network.other_away.clone());
    ItemNetwork { other_weekly, other_away, ..ItemNetwork::from_parts(items.collect(), links) }
}

#[derive(Debug)]
struct ReversedDayLocator<'a>(&'a dyn DayLocator);

impl DayLocator for ReversedDayLocator<'_> {
    fn day_and_week(&self, minute: i64) -> (usize, usize) {
        self.0.day_and_week(-minute)
    }

    fn day_end(&self, minute: i64) -> i64 {
        -minute
    }
}
