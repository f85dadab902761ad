//! Puts a plan's tasks in order and finds depth, critical path and slack.

use super::adjacency::Adjacency;
use super::cycle::{self, Cycle};
use super::gather::{self, Gathered};
use super::order;
use super::timing::{self, Graph, Offsets, Place};
use crate::model::{CriticalPathBy, GraphFacts, TaskId, TaskNode};

/// What resolving found. Tasks are named by their index in the list that was resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// Topological order by the selection key.
    pub order: Vec<u32>,
    /// Tasks without predecessors, in execution order.
    pub roots: Vec<u32>,
    pub critical_path: Vec<u32>,
    pub critical_path_by: CriticalPathBy,
    /// The length of the critical path, in minutes or tokens.
    pub length: u64,
    /// How much later than its earliest start each task may start without moving the end, in the same unit.
    pub slack: Vec<u64>,
    pub layers: u32,
    /// What each task waits for: one entry for each of its links, in their order, that names a task of the list.
    pub predecessors: Adjacency,
    /// Which tasks wait for each task, in the order of the list.
    pub dependents: Adjacency,
    pub estimated_total_tokens: u64,
    places: Vec<Place>,
    /// All tasks by the selection key alone, where that is not the execution order.
    by_key: Option<Vec<u32>>,
}

/// Resolves tasks in O((n + e) log n). All kinds of links count for cycles and depth. A link to an unknown task is
/// passed over, since pruning reports it; of equal ids the first is meant.
pub fn resolve(tasks: &[TaskNode], available: impl Fn(&str) -> bool) -> Result<Resolved, Cycle> {
    let mut gathered = gather::gather(tasks, available);
    let out_degrees = std::mem::take(&mut gathered.out_degrees);
    let dependents = gathered.predecessors.reversed(&gathered.successors, out_degrees);
    let offsets = offsets(tasks, &gathered, &dependents);
    let graph = Graph {
        predecessors: &gathered.predecessors,
        dependents: &dependents,
        successors: &gathered.successors,
        weights: &gathered.weights,
        offsets: &offsets,
        in_order: gathered.in_order,
    };
    let Some(forward) = timing::forward(&graph) else {
        return Err(cycle::shortest(tasks, &dependents));
    };
    let id_at = |index: u32| tasks[index as usize].id.as_str();
    let critical_path = timing::critical_path(&graph, &forward, id_at);
    let slack = timing::slack(&graph, &forward);
    let Gathered { predecessors, keys, .. } = gathered;
    let layers = forward.places.iter().map(|place| place.depth + 1).max().unwrap_or(0);
    let by_layer = order::by_layer(&keys, &forward.places, layers, id_at);
    let (order, by_key) = if keys.has_one_priority() {
        (by_layer, None)
    } else {
        let by_key = order::by_priority(&by_layer, &keys);
        (order::execution_order(&by_key, &predecessors, &dependents), Some(by_key))
    };
    Ok(Resolved {
        roots: order.iter().copied().filter(|&index| predecessors.of(index).is_empty()).collect(),
        order,
        critical_path,
        critical_path_by: gathered.by,
        length: forward.length.cast_unsigned(),
        slack,
        layers,
        predecessors,
        dependents,
        estimated_total_tokens: gathered.total_tokens,
        places: forward.places,
        by_key,
    })
}

fn offsets(tasks: &[TaskNode], gathered: &Gathered, dependents: &Adjacency) -> Offsets {
    if gathered.plain || gathered.by == CriticalPathBy::Tokens {
        return Offsets::Weights;
    }
    let by_successor = gather::offsets(tasks, gathered);
    let by_predecessor = gathered.predecessors.carry(dependents, &by_successor);
    Offsets::PerLink { by_successor, by_predecessor }
}

impl Resolved {
    /// The longest chain of predecessors of a task; roots have 0.
    pub fn depth(&self, index: u32) -> u32 {
        self.places[index as usize].depth
    }

    /// The earliest start of a task, in minutes or tokens.
    pub fn earliest(&self, index: u32) -> u64 {
        self.places[index as usize].earliest.cast_unsigned()
    }

    /// The place of each task by the selection key alone. Ready tasks are started by rising rank.
    pub fn ranks(&self) -> Vec<u32> {
        order::ranks(self.by_key.as_ref().unwrap_or(&self.order))
    }

    /// The facts that travel with a plan. `tasks` is the list that was resolved.
    pub fn facts(&self, tasks: &[TaskNode]) -> GraphFacts {
        GraphFacts {
            root_tasks: ids(tasks, &self.roots),
            execution_order: ids(tasks, &self.order),
            critical_path: ids(tasks, &self.critical_path),
            critical_path_by: self.critical_path_by,
            depth: self.places.iter().map(|place| place.depth).collect(),
            layers: self.layers,
            estimated_total_tokens: self.estimated_total_tokens,
        }
    }
}

pub(super) fn ids(tasks: &[TaskNode], indices: &[u32]) -> Vec<TaskId> {
    indices.iter().map(|&index| tasks[index as usize].id.clone()).collect()
}
