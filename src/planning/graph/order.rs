//! The total order of the selection key, found without a heap.
//!
//! Tasks are laid out by depth with a counting sort and sorted only within their layer. Under one priority this is
//! already the execution order, since everything a layer waits for lies in earlier layers. Under several, the order
//! gives each task a rank, and the queue of ready tasks becomes a set of small numbers.

use super::adjacency::Adjacency;
use super::rank_set::RankSet;
use super::timing::Place;

/// The parts of the selection key that do not depend on the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StaticKey {
    /// The bits of the best affinity, inverted, so that the highest sorts first.
    pub(super) affinity: u64,
    pub(super) tokens: u64,
}

/// What ordering needs to know of the tasks, gathered in one pass over them.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) statics: Vec<StaticKey>,
    pub(super) priorities: Vec<i64>,
    /// Whether the ids rise from task to task, as generated ones do.
    pub(super) ids_rise: bool,
    /// How many bytes all ids share at their start.
    pub(super) shared_prefix: usize,
}

/// One task while its layer is sorted.
#[derive(Clone, Copy)]
struct Entry {
    key: StaticKey,
    /// Eight bytes of the id after the shared prefix, or zero where the index decides.
    prefix: u64,
    index: u32,
}

/// All tasks by depth, affinity, tokens and id.
pub(super) fn by_layer<'a>(
    keys: &Keys,
    places: &[Place],
    layers: u32,
    id_at: impl Fn(u32) -> &'a str,
) -> Vec<u32> {
    let mut starts = vec![0u32; layers as usize + 1];
    for place in places {
        starts[place.depth as usize + 1] += 1;
    }
    for layer in 1..starts.len() {
        starts[layer] += starts[layer - 1];
    }
    let mut cursor = starts.clone();
    let mut order = vec![0u32; places.len()];
    for (index, place) in places.iter().enumerate() {
        let at = &mut cursor[place.depth as usize];
        order[*at as usize] = index as u32;
        *at += 1;
    }
    let alike = keys.statics.windows(2).all(|pair| pair[0] == pair[1]);
    if !(alike && keys.ids_rise) {
        let mut entries = Vec::new();
        for bounds in starts.windows(2) {
            sort_layer(
                &mut order[bounds[0] as usize..bounds[1] as usize],
                keys,
                &mut entries,
                &id_at,
            );
        }
    }
    order
}

fn sort_layer<'a>(
    layer: &mut [u32],
    keys: &Keys,
    entries: &mut Vec<Entry>,
    id_at: &impl Fn(u32) -> &'a str,
) {
    if layer.len() < 2 {
        return;
    }
    entries.clear();
    entries.extend(layer.iter().map(|&index| Entry {
        key: keys.statics[index as usize],
        prefix: if keys.ids_rise { 0 } else { prefix(id_at(index), keys.shared_prefix) },
        index,
    }));
    if keys.ids_rise {
        entries.sort_unstable_by_key(|entry| (entry.key, entry.index));
    } else {
        entries.sort_unstable_by(|a, b| {
            (a.key, a.prefix)
                .cmp(&(b.key, b.prefix))
                .then_with(|| id_at(a.index).cmp(id_at(b.index)))
                .then(a.index.cmp(&b.index))
        });
    }
    for (place, entry) in layer.iter_mut().zip(entries.iter()) {
        *place = entry.index;
    }
}

/// Eight bytes of an id as a number that compares as they do; a short id is padded with zeros.
fn prefix(id: &str, skip: usize) -> u64 {
    let rest = id.as_bytes().get(skip..).unwrap_or_default();
    match rest.first_chunk() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => {
            (0..8).fold(0, |word, at| (word << 8) | u64::from(rest.get(at).copied().unwrap_or(0)))
        }
    }
}

/// Moves higher priorities to the front and keeps the order within each.
pub(super) fn by_priority(order: &[u32], priorities: &[i64]) -> Vec<u32> {
    let (lowest, highest) = bounds(priorities);
    let span = highest.wrapping_sub(lowest) as u64;
    if span < 4096 {
        return by_small_priority(order, priorities, highest, span as usize + 1);
    }
    let mut sorted = order.to_vec();
    sorted.sort_by_key(|&index| std::cmp::Reverse(priorities[index as usize]));
    sorted
}

fn by_small_priority(order: &[u32], priorities: &[i64], highest: i64, classes: usize) -> Vec<u32> {
    let class = |index: u32| (highest - priorities[index as usize]) as usize;
    let mut cursor = vec![0u32; classes + 1];
    for &index in order {
        cursor[class(index) + 1] += 1;
    }
    for at in 1..cursor.len() {
        cursor[at] += cursor[at - 1];
    }
    let mut sorted = vec![0u32; order.len()];
    for &index in order {
        let at = &mut cursor[class(index)];
        sorted[*at as usize] = index;
        *at += 1;
    }
    sorted
}

/// The lowest and the highest priority.
pub(super) fn bounds(priorities: &[i64]) -> (i64, i64) {
    priorities.iter().fold((i64::MAX, i64::MIN), |(lowest, highest), priority| {
        (lowest.min(*priority), highest.max(*priority))
    })
}

/// The rank of each task in an order.
pub(super) fn ranks(order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0u32; order.len()];
    for (rank, &index) in order.iter().enumerate() {
        ranks[index as usize] = rank as u32;
    }
    ranks
}

/// Kahn's algorithm: of the ready tasks always the one of the lowest rank.
pub(super) fn execution_order(
    by_rank: &[u32],
    ranks: &[u32],
    predecessors: &Adjacency,
    dependents: &Adjacency,
) -> Vec<u32> {
    let mut waiting: Vec<u32> =
        (0..ranks.len() as u32).map(|index| predecessors.range(index).len() as u32).collect();
    let mut ready = RankSet::new(ranks.len());
    for (index, waiting) in waiting.iter().enumerate() {
        if *waiting == 0 {
            ready.insert(ranks[index]);
        }
    }
    let mut order = Vec::with_capacity(ranks.len());
    while let Some(rank) = ready.pop_first() {
        let index = by_rank[rank as usize];
        order.push(index);
        for &to in dependents.of(index) {
            waiting[to as usize] -= 1;
            if waiting[to as usize] == 0 {
                ready.insert(ranks[to as usize]);
            }
        }
    }
    order
}
