//! Depth, earliest and latest starts, and the critical path of a graph in compressed form.
//!
//! Every kind of link means "the successor starts no earlier than the predecessor's start plus an offset", so one pass
//! forward and one backward handle all of them.

use super::adjacency::TaskAdjacency;
use super::gather::{GatheredGraph, GraphPosition};
use planwright_model::{LinkKind, TaskLink, TaskNode};

/// How far after its predecessor's start a successor may start.
#[derive(Clone, Debug)]
pub(super) enum LinkOffsets {
    /// Every link waits for the predecessor's full weight: finish to start without lag.
    Weights,
    /// One offset per link, in the order of the predecessors and in that of the dependents.
    PerLink { by_successor: Vec<i64>, by_predecessor: Vec<i64> },
}

impl LinkOffsets {
    pub(super) fn from_tasks(
        tasks: &[TaskNode],
        gathered: &GatheredGraph,
        dependents: &TaskAdjacency,
    ) -> Self {
        if gathered.waits_for_weights() {
            return Self::Weights;
        }
        let by_successor = offsets_by_successor(tasks, gathered);
        let by_predecessor = gathered.predecessors.transpose_values(dependents, &by_successor);
        Self::PerLink { by_successor, by_predecessor }
    }
}

/// Returns the offset of each link, in the order of the predecessors. Links to unknown tasks are skipped.
fn offsets_by_successor(tasks: &[TaskNode], gathered: &GatheredGraph) -> Vec<i64> {
    let mut offsets = Vec::with_capacity(gathered.predecessors.edge_count());
    let weight = |index: usize| gathered.places[index].weight;
    for (index, task) in tasks.iter().enumerate() {
        let mut known = gathered.predecessors.neighbors(index as u32).iter().peekable();
        for link in &task.dependencies {
            let names = |from: &&u32| tasks[**from as usize].id == link.task;
            if let Some(from) = known.next_if(names) {
                offsets.push(link_offset(link, weight(*from as usize), weight(index)));
            }
        }
    }
    offsets
}

/// Returns how long after the predecessor's start the successor may start.
fn link_offset(link: &TaskLink, predecessor: i64, successor: i64) -> i64 {
    let lag = i64::from(link.lag_minutes);
    match link.kind {
        LinkKind::FS => lag + predecessor,
        LinkKind::SS => lag,
        LinkKind::FF => lag + predecessor - successor,
        LinkKind::SF => lag - successor,
    }
}

/// The extent of a graph in time and depth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GraphExtent {
    /// When the last task finishes.
    pub(super) length: i64,
    pub(super) layers: u32,
}

pub(super) fn graph_extent(places: &[GraphPosition]) -> GraphExtent {
    places.iter().fold(GraphExtent::default(), |extent, place| GraphExtent {
        length: extent.length.max(place.earliest + place.weight),
        layers: extent.layers.max(place.depth + 1),
    })
}

/// Builds the lists of dependents and computes the latest starts in one backward loop over the links. Valid only if the
/// list is a topological order and links wait for weights.
pub(super) fn lay_out_dependents_and_latest(
    gathered: &mut GatheredGraph,
    length: i64,
) -> TaskAdjacency {
    let mut end = 0;
    for place in &mut gathered.places {
        end += place.links;
        place.links = end;
        place.latest = length - place.weight;
    }
    let places = &mut gathered.places;
    let mut items = vec![0u32; gathered.successors.len()];
    for (&from, &to) in gathered.predecessors.items().iter().zip(&gathered.successors).rev() {
        let latest = places[to as usize].latest;
        let place = &mut places[from as usize];
        place.latest = place.latest.min(latest - place.weight);
        // Starts at the end of its slice and moves down to its start.
        place.links -= 1;
        items[place.links as usize] = to;
    }
    TaskAdjacency::from_parts(places.iter().map(|place| place.links), items)
}

/// Builds only the lists of dependents.
pub(super) fn lay_out_dependents(gathered: &mut GatheredGraph) -> TaskAdjacency {
    lay_out_dependents_and_latest(gathered, 0)
}

/// Kahn's algorithm with a plain queue, for depth and earliest starts. Returns a topological order, or `None` if there
/// is a cycle.
pub(super) fn forward_pass(
    places: &mut [GraphPosition],
    predecessors: &TaskAdjacency,
    dependents: &TaskAdjacency,
    offsets: &LinkOffsets,
) -> Option<Vec<u32>> {
    match offsets {
        LinkOffsets::Weights => {
            walk_forward(places, predecessors, dependents, |from, _| from.weight)
        }
        LinkOffsets::PerLink { by_predecessor, .. } => {
            walk_forward(places, predecessors, dependents, |_, edge| by_predecessor[edge])
        }
    }
}

#[inline]
fn walk_forward(
    places: &mut [GraphPosition],
    predecessors: &TaskAdjacency,
    dependents: &TaskAdjacency,
    offset: impl Fn(&GraphPosition, usize) -> i64,
) -> Option<Vec<u32>> {
    let count = places.len();
    // Every task is written after the last ready one; a sum instead of a branch decides whether it stays.
    let mut queue = vec![0u32; count + 1];
    let mut filled = 0;
    for (index, place) in places.iter_mut().enumerate() {
        (place.earliest, place.depth) = (0, 0);
        place.links = predecessors.range(index as u32).len() as u32;
        queue[filled] = index as u32;
        filled += usize::from(place.links == 0);
    }
    let mut at = 0;
    while at < filled {
        let edges = dependents.range(queue[at]);
        let from = places[queue[at] as usize];
        at += 1;
        for (&to, edge) in dependents.items()[edges.clone()].iter().zip(edges) {
            let place = &mut places[to as usize];
            place.earliest = place.earliest.max(from.earliest + offset(&from, edge));
            place.depth = place.depth.max(from.depth + 1);
            place.links -= 1;
            queue[filled] = to;
            filled += usize::from(place.links == 0);
        }
    }
    queue.pop();
    (filled == count).then_some(queue)
}

/// Finds the latest starts, from the last task of a topological order to the first.
pub(super) fn backward_pass(
    places: &mut [GraphPosition],
    queue: &[u32],
    dependents: &TaskAdjacency,
    offsets: &LinkOffsets,
    length: i64,
) {
    for &from in queue.iter().rev() {
        let weight = places[from as usize].weight;
        let mut latest = length - weight;
        for edge in dependents.range(from) {
            let offset = match offsets {
                LinkOffsets::Weights => weight,
                LinkOffsets::PerLink { by_predecessor, .. } => by_predecessor[edge],
            };
            latest = latest.min(places[dependents.items()[edge] as usize].latest - offset);
        }
        places[from as usize].latest = latest;
    }
}

/// Returns one chain of binding links that ends at the task that finishes last. Ties go to the smaller id.
pub(super) fn critical_path<'a>(
    places: &[GraphPosition],
    predecessors: &TaskAdjacency,
    offsets: &LinkOffsets,
    length: i64,
    id_at: impl Fn(u32) -> &'a str,
) -> Vec<u32> {
    let smallest = |best: Option<u32>, index: u32| match best {
        Some(best) if id_at(best) <= id_at(index) => Some(best),
        _ => Some(index),
    };
    let mut end = None;
    for (index, place) in places.iter().enumerate() {
        if place.earliest + place.weight == length {
            end = smallest(end, index as u32);
        }
    }
    let mut path = Vec::new();
    while let Some(index) = end {
        path.push(index);
        end = None;
        for edge in predecessors.range(index) {
            let from = predecessors.items()[edge];
            let before = &places[from as usize];
            let offset = match offsets {
                LinkOffsets::Weights => before.weight,
                LinkOffsets::PerLink { by_successor, .. } => by_successor[edge],
            };
            if before.earliest + offset == places[index as usize].earliest {
                end = smallest(end, from);
            }
        }
    }
    path.reverse();
    path
}
