//! The total order of the selection key, found without a heap.
//!
//! Tasks are laid out by depth with a counting sort and sorted only within their layer. Under one priority this is
//! already the execution order, since everything a layer waits for lies in earlier layers. Under several, the order
//! gives each task a rank, and the queue of ready tasks becomes a set of small numbers.

use super::adjacency::Adjacency;
use super::keys::Keys;
use super::rank_set::RankSet;
use super::timing::Place;

/// All tasks by depth, affinity, tokens and id.
pub(super) fn by_layer<'a>(
    keys: &Keys,
    places: &[Place],
    layers: u32,
    id_at: impl Fn(u32) -> &'a str,
) -> Vec<u32> {
    let mut ends = vec![0u32; layers as usize + 1];
    for place in places {
        ends[place.depth as usize + 1] += 1;
    }
    for layer in 1..ends.len() {
        ends[layer] += ends[layer - 1];
    }
    // From here on an entry is the start of its layer and moves up to the end while the layer fills.
    let mut order = vec![0u32; places.len()];
    for (index, place) in places.iter().enumerate() {
        let at = &mut ends[place.depth as usize];
        order[*at as usize] = index as u32;
        *at += 1;
    }
    if !keys.follow_the_list() {
        let mut sorter = Sorter::new(keys, &id_at, places.len() as u32);
        let mut start = 0;
        for &end in &ends[..layers as usize] {
            sorter.sort(&mut order[start..end as usize]);
            start = end as usize;
        }
    }
    order
}

/// Sorts the tasks of a layer by affinity, tokens and id.
struct Sorter<'k, F> {
    keys: &'k Keys,
    id_at: F,
    /// How many bytes all ids share at their start.
    shared: usize,
    by_key: Vec<(u128, u32)>,
    by_id: Vec<(u64, u32)>,
}

impl<'k, 'a, F: Fn(u32) -> &'a str> Sorter<'k, F> {
    fn new(keys: &'k Keys, id_at: F, count: u32) -> Self {
        let shared = if keys.ids_rise() { 0 } else { shared_prefix(count, &id_at) };
        Self { keys, id_at, shared, by_key: Vec::new(), by_id: Vec::new() }
    }

    fn sort(&mut self, layer: &mut [u32]) {
        if layer.len() < 2 {
            return;
        }
        if self.keys.are_alike() {
            self.sort_by_id(layer);
            return;
        }
        self.by_key.clear();
        self.by_key.extend(layer.iter().map(|&index| (self.keys.key(index), index)));
        self.by_key.sort_unstable();
        for (place, entry) in layer.iter_mut().zip(&self.by_key) {
            *place = entry.1;
        }
        if !self.keys.ids_rise() {
            self.sort_ties(layer);
        }
    }

    /// Sorts runs of equal keys by id. Few tasks are equal in affinity and tokens, so that few ids are looked at.
    fn sort_ties(&mut self, layer: &mut [u32]) {
        let mut start = 0;
        for end in 1..=layer.len() {
            if end == layer.len() || self.by_key[end].0 != self.by_key[start].0 {
                if end - start > 1 {
                    self.sort_by_id(&mut layer[start..end]);
                }
                start = end;
            }
        }
    }

    fn sort_by_id(&mut self, run: &mut [u32]) {
        let prefixes = run.iter().map(|&index| (prefix((self.id_at)(index), self.shared), index));
        self.by_id.clear();
        self.by_id.extend(prefixes);
        self.by_id.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| (self.id_at)(a.1).cmp((self.id_at)(b.1))).then(a.1.cmp(&b.1))
        });
        for (place, entry) in run.iter_mut().zip(&self.by_id) {
            *place = entry.1;
        }
    }
}

/// How many bytes all ids share at their start.
fn shared_prefix<'a>(count: u32, id_at: &impl Fn(u32) -> &'a str) -> usize {
    let mut shared = if count == 0 { "" } else { id_at(0) }.as_bytes();
    for index in 1..count {
        let id = id_at(index).as_bytes();
        if !id.starts_with(shared) {
            let same = shared.iter().zip(id).take_while(|(a, b)| a == b).count();
            shared = &shared[..same];
        }
    }
    shared.len()
}

/// Eight bytes of an id as a number that compares as they do; a short id is padded with zeros.
fn prefix(id: &str, skip: usize) -> u64 {
    let rest = id.as_bytes().get(skip..).unwrap_or_default();
    let byte = |at: usize| u64::from(rest.get(at).copied().unwrap_or(0));
    match rest.first_chunk() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => (0..8).fold(0, |word, at| (word << 8) | byte(at)),
    }
}

/// Moves higher priorities to the front and keeps the order within each.
pub(super) fn by_priority(order: &[u32], keys: &Keys) -> Vec<u32> {
    let (lowest, highest) = keys.priority_bounds();
    let span = highest.wrapping_sub(lowest).cast_unsigned();
    if span >= 4096 {
        let mut sorted = order.to_vec();
        sorted.sort_by_key(|&index| std::cmp::Reverse(keys.priority(index)));
        return sorted;
    }
    let class = |index: u32| (highest - keys.priority(index)) as usize;
    let mut cursor = vec![0u32; span as usize + 2];
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

/// The rank of each task in an order.
pub(super) fn ranks(order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0u32; order.len()];
    for (rank, &index) in order.iter().enumerate() {
        ranks[index as usize] = rank as u32;
    }
    ranks
}

/// Kahn's algorithm: of the ready tasks always the first by the key.
pub(super) fn execution_order(
    by_key: &[u32],
    predecessors: &Adjacency,
    dependents: &Adjacency,
) -> Vec<u32> {
    // What a task waits for and its rank, together because a link touches both.
    let mut tasks = vec![(0u32, 0u32); by_key.len()];
    let mut ready = RankSet::new(by_key.len());
    for (rank, &index) in by_key.iter().enumerate() {
        let waiting = predecessors.range(index).len() as u32;
        tasks[index as usize] = (waiting, rank as u32);
        if waiting == 0 {
            ready.insert(rank as u32);
        }
    }
    let mut order = Vec::with_capacity(by_key.len());
    while let Some(rank) = ready.pop_first() {
        let index = by_key[rank as usize];
        order.push(index);
        for &to in dependents.of(index) {
            let (waiting, rank) = &mut tasks[to as usize];
            *waiting -= 1;
            if *waiting == 0 {
                ready.insert(*rank);
            }
        }
    }
    order
}
