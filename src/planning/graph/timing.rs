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

/// What the forward pass found.
#[derive(Debug)]
pub(super) struct Forward {
    /// Some topological order; shorter than the graph if there is a cycle.
    pub(super) queue: Vec<u32>,
    pub(super) places: Vec<Place>,
    /// When the last task finishes.
    pub(super) length: i64,
}

/// A task while the forward pass runs. Kept together because a link touches all of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) earliest: i64,
    pub(super) depth: u32,
    waiting: u32,
}

/// Walks the graph from its roots.
pub(super) fn forward(
    predecessors: &Adjacency,
    dependents: &Adjacency,
    weights: &[i64],
    offsets: &Offsets,
) -> Forward {
    match offsets {
        Offsets::Weights => walk(predecessors, dependents, weights, |from, _| weights[from]),
        Offsets::PerLink { by_predecessor, .. } => {
            walk(predecessors, dependents, weights, |_, edge| by_predecessor[edge])
        }
    }
}

#[inline]
fn walk(
    predecessors: &Adjacency,
    dependents: &Adjacency,
    weights: &[i64],
    offset: impl Fn(usize, usize) -> i64,
) -> Forward {
    let count = predecessors.len();
    let mut places = vec![Place::default(); count];
    let mut queue = Vec::with_capacity(count);
    for index in 0..count as u32 {
        let waiting = predecessors.range(index).len() as u32;
        places[index as usize].waiting = waiting;
        if waiting == 0 {
            queue.push(index);
        }
    }
    let (mut at, mut length) = (0, 0);
    while let Some(&from) = queue.get(at) {
        at += 1;
        let from = from as usize;
        let Place { earliest, depth, .. } = places[from];
        length = length.max(earliest.saturating_add(weights[from]));
        for edge in dependents.range(from as u32) {
            let to = dependents.items()[edge];
            let place = &mut places[to as usize];
            place.earliest = place.earliest.max(earliest.saturating_add(offset(from, edge)));
            place.depth = place.depth.max(depth + 1);
            place.waiting -= 1;
            if place.waiting == 0 {
                queue.push(to);
            }
        }
    }
    Forward { queue, places, length }
}

/// How much later than its earliest start each task may start without moving the end.
pub(super) fn slack(
    forward: &Forward,
    dependents: &Adjacency,
    weights: &[i64],
    offsets: &Offsets,
) -> Vec<u64> {
    let latest = match offsets {
        Offsets::Weights => latest(forward, dependents, weights, |from, _| weights[from]),
        Offsets::PerLink { by_predecessor, .. } => {
            latest(forward, dependents, weights, |_, edge| by_predecessor[edge])
        }
    };
    latest
        .iter()
        .zip(&forward.places)
        .map(|(latest, place)| latest.saturating_sub(place.earliest).max(0) as u64)
        .collect()
}

#[inline]
fn latest(
    forward: &Forward,
    dependents: &Adjacency,
    weights: &[i64],
    offset: impl Fn(usize, usize) -> i64,
) -> Vec<i64> {
    let mut latest = vec![0i64; weights.len()];
    for &from in forward.queue.iter().rev() {
        let from = from as usize;
        let mut bound = forward.length.saturating_sub(weights[from]);
        for edge in dependents.range(from as u32) {
            let to = dependents.items()[edge] as usize;
            bound = bound.min(latest[to].saturating_sub(offset(from, edge)));
        }
        latest[from] = bound;
    }
    latest
}

/// One chain of links that each bind, ending at the task that finishes last. Ties go to the smaller id.
pub(super) fn critical_path<'a>(
    forward: &Forward,
    predecessors: &Adjacency,
    weights: &[i64],
    offsets: &Offsets,
    id_at: impl Fn(u32) -> &'a str,
) -> Vec<u32> {
    let smallest = |best: Option<u32>, index: u32| match best {
        Some(best) if id_at(best) <= id_at(index) => Some(best),
        _ => Some(index),
    };
    let earliest = |index: u32| forward.places[index as usize].earliest;
    let mut end = None;
    for index in 0..weights.len() as u32 {
        if earliest(index).saturating_add(weights[index as usize]) == forward.length {
            end = smallest(end, index);
        }
    }
    let mut path = Vec::new();
    while let Some(index) = end {
        path.push(index);
        end = None;
        for edge in predecessors.range(index) {
            let from = predecessors.items()[edge];
            let offset = match offsets {
                Offsets::Weights => weights[from as usize],
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
