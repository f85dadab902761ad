//! Depth, earliest and latest times, and the critical path of a graph in compressed form.
//!
//! Every kind of link says "the successor starts no sooner than the predecessor's start plus an offset", so that one
//! pass forward and one backward answer for all of them.

use super::adjacency::Adjacency;

/// How far after its predecessor's start a successor may start.
#[derive(Clone, Debug)]
pub(super) enum Offsets {
    /// Every link waits for the predecessor's whole weight: finish to start without lag.
    Weights,
    /// One offset a link, in the order of the predecessors and in that of the dependents.
    PerLink { by_successor: Vec<i64>, by_predecessor: Vec<i64> },
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) earliest: i64,
    pub(super) depth: u32,
    /// How many predecessors the forward pass has not passed yet.
    waiting: u32,
}

/// What the forward pass found.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) places: Vec<Place>,
    /// Some topological order, unless the list itself is one.
    queue: Option<Vec<u32>>,
    /// When the last task finishes.
    pub(super) length: i64,
}

/// Walks the graph from its roots; nothing is returned if there is a cycle.
pub(super) fn forward(graph: &Graph<'_>) -> Option<Forward> {
    match (graph.in_order, graph.offsets) {
        (true, Offsets::Weights) => Some(along_list(graph, |from, _| graph.weights[from])),
        (true, Offsets::PerLink { by_successor, .. }) => {
            Some(along_list(graph, |_, edge| by_successor[edge]))
        }
        (false, Offsets::Weights) => walk(graph, |from, _| graph.weights[from]),
        (false, Offsets::PerLink { by_predecessor, .. }) => {
            walk(graph, |_, edge| by_predecessor[edge])
        }
    }
}

/// The graph in compressed form.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pub(super) predecessors: &'a Adjacency,
    pub(super) dependents: &'a Adjacency,
    /// The successor of each link, in the order of the predecessors.
    pub(super) successors: &'a [u32],
    pub(super) weights: &'a [i64],
    pub(super) offsets: &'a Offsets,
    /// Whether every link points from an earlier task of the list to a later one.
    pub(super) in_order: bool,
}

/// One flat loop over the links, where the list is a topological order.
#[inline]
fn along_list(graph: &Graph<'_>, offset: impl Fn(usize, usize) -> i64) -> Forward {
    let mut places = vec![Place::default(); graph.weights.len()];
    let links = graph.predecessors.items().iter().zip(graph.successors);
    for (edge, (&from, &to)) in links.enumerate() {
        let Place { earliest, depth, .. } = places[from as usize];
        let place = &mut places[to as usize];
        place.earliest = place.earliest.max(earliest.saturating_add(offset(from as usize, edge)));
        place.depth = place.depth.max(depth + 1);
    }
    Forward { length: last_finish(&places, graph.weights), places, queue: None }
}

/// Kahn's algorithm with a plain queue.
#[inline]
fn walk(graph: &Graph<'_>, offset: impl Fn(usize, usize) -> i64) -> Option<Forward> {
    let count = graph.weights.len();
    let mut places = vec![Place::default(); count];
    // Every ready task is written behind the last one; whether it stays is a sum, not a branch.
    let mut queue = vec![0u32; count + 1];
    let mut filled = 0;
    for (index, place) in places.iter_mut().enumerate() {
        place.waiting = graph.predecessors.range(index as u32).len() as u32;
        queue[filled] = index as u32;
        filled += usize::from(place.waiting == 0);
    }
    let mut at = 0;
    while at < filled {
        let from = queue[at];
        at += 1;
        let edges = graph.dependents.range(from);
        let Place { earliest, depth, .. } = places[from as usize];
        for (&to, edge) in graph.dependents.items()[edges.clone()].iter().zip(edges) {
            let place = &mut places[to as usize];
            let bound = earliest.saturating_add(offset(from as usize, edge));
            place.earliest = place.earliest.max(bound);
            place.depth = place.depth.max(depth + 1);
            place.waiting -= 1;
            queue[filled] = to;
            filled += usize::from(place.waiting == 0);
        }
    }
    queue.pop();
    let length = last_finish(&places, graph.weights);
    (filled == count).then_some(Forward { places, queue: Some(queue), length })
}

fn last_finish(places: &[Place], weights: &[i64]) -> i64 {
    let finishes = places.iter().zip(weights);
    finishes.map(|(place, weight)| place.earliest.saturating_add(*weight)).max().unwrap_or(0)
}

/// How much later than its earliest start each task may start without moving the end.
pub(super) fn slack(graph: &Graph<'_>, forward: &Forward) -> Vec<u64> {
    let weight = |from: usize, _: usize| graph.weights[from];
    let mut latest = match (&forward.queue, graph.offsets) {
        (None, Offsets::Weights) => back_along_list(graph, forward.length, weight),
        (None, Offsets::PerLink { by_successor, .. }) => {
            back_along_list(graph, forward.length, |_, edge| by_successor[edge])
        }
        (Some(queue), Offsets::Weights) => back(graph, queue, forward.length, weight),
        (Some(queue), Offsets::PerLink { by_predecessor, .. }) => {
            back(graph, queue, forward.length, |_, edge| by_predecessor[edge])
        }
    };
    for (latest, place) in latest.iter_mut().zip(&forward.places) {
        *latest = latest.saturating_sub(place.earliest).max(0);
    }
    latest.into_iter().map(i64::cast_unsigned).collect()
}

#[inline]
fn back_along_list(
    graph: &Graph<'_>,
    length: i64,
    offset: impl Fn(usize, usize) -> i64,
) -> Vec<i64> {
    let mut latest: Vec<i64> =
        graph.weights.iter().map(|weight| length.saturating_sub(*weight)).collect();
    let links = graph.predecessors.items().iter().zip(graph.successors);
    for (edge, (&from, &to)) in links.enumerate().rev() {
        let bound = latest[to as usize].saturating_sub(offset(from as usize, edge));
        let latest = &mut latest[from as usize];
        *latest = bound.min(*latest);
    }
    latest
}

#[inline]
fn back(
    graph: &Graph<'_>,
    queue: &[u32],
    length: i64,
    offset: impl Fn(usize, usize) -> i64,
) -> Vec<i64> {
    let mut latest = vec![0i64; graph.weights.len()];
    for &from in queue.iter().rev() {
        let edges = graph.dependents.range(from);
        let from = from as usize;
        let mut bound = length.saturating_sub(graph.weights[from]);
        for (&to, edge) in graph.dependents.items()[edges.clone()].iter().zip(edges) {
            bound = bound.min(latest[to as usize].saturating_sub(offset(from, edge)));
        }
        latest[from] = bound;
    }
    latest
}

/// One chain of links that each bind, ending at the task that finishes last. Ties go to the smaller id.
pub(super) fn critical_path<'a>(
    graph: &Graph<'_>,
    forward: &Forward,
    id_at: impl Fn(u32) -> &'a str,
) -> Vec<u32> {
    let smallest = |best: Option<u32>, index: u32| match best {
        Some(best) if id_at(best) <= id_at(index) => Some(best),
        _ => Some(index),
    };
    let earliest = |index: u32| forward.places[index as usize].earliest;
    let mut end = None;
    for (index, (place, weight)) in forward.places.iter().zip(graph.weights).enumerate() {
        if place.earliest.saturating_add(*weight) == forward.length {
            end = smallest(end, index as u32);
        }
    }
    let mut path = Vec::new();
    while let Some(index) = end {
        path.push(index);
        end = None;
        for edge in graph.predecessors.range(index) {
            let from = graph.predecessors.items()[edge];
            let offset = match graph.offsets {
                Offsets::Weights => graph.weights[from as usize],
                Offsets::PerLink { by_successor, .. } => by_successor[edge],
            };
            if earliest(from).saturating_add(offset) == earliest(index) {
                end = smallest(end, from);
            }
        }
    }
    path.reverse();
    path
}
