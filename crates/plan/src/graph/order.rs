//! The total order of the selection key, computed without a heap.
//!
//! Tasks are grouped by depth with a counting sort and sorted only within their layer. With a single priority this is
//! already the execution order, since all predecessors of a layer are in earlier layers. With several, the order gives
//! each task a rank, and the queue of ready tasks becomes a set of small numbers.

use super::adjacency::TaskAdjacency;
use super::gather::GraphPosition;
use super::rank_set::RankSet;
use super::selection_columns::SelectionKeyColumns;

/// The key that tasks are compared by if their rounded keys are equal: affinity, inverted so that the highest comes
/// first, and tokens.
pub(super) type ExactKey = (u64, u64);

/// Returns all tasks by depth, affinity, tokens and id.
pub(super) fn order_by_layer<'a>(
    keys: &SelectionKeyColumns,
    places: &[GraphPosition],
    layers: u32,
    id_at: impl Fn(u32) -> &'a str,
    exact: impl Fn(u32) -> ExactKey,
) -> Vec<u32> {
    let mut ends = vec![0u32; layers as usize + 1];
    for place in places {
        ends[place.depth as usize + 1] += 1;
    }
    for layer in 1..ends.len() {
        ends[layer] += ends[layer - 1];
    }
    // From here on an entry is the start of its layer and moves to the end while the layer is filled.
    let mut order = vec![0u32; places.len()];
    for (index, place) in places.iter().enumerate() {
        let at = &mut ends[place.depth as usize];
        order[*at as usize] = index as u32;
        *at += 1;
    }
    if !keys.keep_list_order() {
        let mut sorter =
            LayerSorter { keys, id_at, exact, shared: None, sorted: vec![], layer: vec![] };
        let mut start = 0;
        for &end in &ends[..layers as usize] {
            sorter.sort_layer(&mut order[start..end as usize]);
            start = end as usize;
        }
    }
    order
}

/// How many bits of a sort entry store the position in the layer. Layers with more tasks than that are compared in
/// full.
const PLACE_BITS: u32 = 24;

/// Sorts the tasks of a layer by affinity, tokens and id.
struct LayerSorter<'k, I, E> {
    keys: &'k SelectionKeyColumns,
    id_at: I,
    exact: E,
    /// The number of bytes that all ids share at their start, computed on first use.
    shared: Option<usize>,
    /// Rounded key and position in the layer in one word, since words sort fastest.
    sorted: Vec<u64>,
    layer: Vec<u32>,
}

impl<'a, I: Fn(u32) -> &'a str, E: Fn(u32) -> ExactKey> LayerSorter<'_, I, E> {
    fn sort_layer(&mut self, layer: &mut [u32]) {
        if self.keys.are_alike() || layer.len() >> PLACE_BITS > 0 {
            self.sort_run(layer);
            return;
        }
        self.layer.clear();
        self.layer.extend_from_slice(layer);
        self.sorted.clear();
        let entries = layer.iter().enumerate();
        self.sorted.extend(
            entries.map(|(at, &index)| self.keys.rounded_key(index) << PLACE_BITS | at as u64),
        );
        self.sorted.sort_unstable();
        for (place, entry) in layer.iter_mut().zip(&self.sorted) {
            *place = self.layer[(entry & ((1 << PLACE_BITS) - 1)) as usize];
        }
        self.sort_ties(layer);
    }

    /// Sorts runs of equal rounded keys in full. Few tasks are equal in affinity and tokens, so few ids are compared.
    fn sort_ties(&mut self, layer: &mut [u32]) {
        let mut start = 0;
        for end in 1..=layer.len() {
            let ends = end == layer.len()
                || self.sorted[end] >> PLACE_BITS != self.sorted[start] >> PLACE_BITS;
            if ends {
                self.sort_run(&mut layer[start..end]);
                start = end;
            }
        }
    }

    fn sort_run(&mut self, run: &mut [u32]) {
        if run.len() < 2 {
            return;
        }
        if self.keys.ids_rise() {
            run.sort_by_cached_key(|&index| ((self.exact)(index), index));
            return;
        }
        let id_at = &self.id_at;
        // Long runs are worth a pass over all ids, so that eight bytes distinguish most of them.
        let shared = match self.shared {
            Some(shared) => shared,
            None if run.len() > 16 => {
                *self.shared.insert(shared_prefix(self.keys.len() as u32, id_at))
            }
            None => 0,
        };
        let mut entries: Vec<(ExactKey, u64, u32)> = run
            .iter()
            .map(|&index| ((self.exact)(index), id_prefix(id_at(index), shared), index))
            .collect();
        entries.sort_unstable_by(|a, b| {
            (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| (id_at(a.2), a.2).cmp(&(id_at(b.2), b.2)))
        });
        for (place, entry) in run.iter_mut().zip(entries) {
            *place = entry.2;
        }
    }
}

/// Returns the number of bytes that all ids share at their start.
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

/// Returns eight bytes of an id as a number that compares as they do; a short id is padded with zeros.
fn id_prefix(id: &str, skip: usize) -> u64 {
    let rest = id.as_bytes().get(skip..).unwrap_or_default();
    let byte = |at: usize| u64::from(rest.get(at).copied().unwrap_or(0));
    match rest.first_chunk() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => (0..8).fold(0, |word, at| (word << 8) | byte(at)),
    }
}

/// Moves higher priorities to the front and keeps the order within each.
pub(super) fn order_by_priority(order: &[u32], keys: &SelectionKeyColumns) -> Vec<u32> {
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

/// Returns the rank of each task in an order.
pub(super) fn ranks_of_order(order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0u32; order.len()];
    for (rank, &index) in order.iter().enumerate() {
        ranks[index as usize] = rank as u32;
    }
    ranks
}

/// Kahn's algorithm: always takes the first of the ready tasks by the key.
pub(super) fn execution_order(
    by_key: &[u32],
    predecessors: &TaskAdjacency,
    dependents: &TaskAdjacency,
) -> Vec<u32> {
    // The number of open predecessors of a task and its rank, together because a link touches both.
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
        for &to in dependents.neighbors(index) {
            let (waiting, rank) = &mut tasks[to as usize];
            *waiting -= 1;
            if *waiting == 0 {
                ready.insert(*rank);
            }
        }
    }
    order
}
