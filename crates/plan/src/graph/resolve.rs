//! Orders a plan's tasks and computes depth, critical path and slack.

use super::adjacency::TaskAdjacency;
use super::cycle::{self, TaskCycle};
use super::gather::{self, GatheredGraph, GraphPosition};
use super::order;
use super::timing::{self, GraphExtent, LinkOffsets};
use planwright_model::{CriticalPathMeasure, GraphFacts, TaskId, TaskNode};

/// The result of resolving. Tasks are identified by their index in the resolved list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedGraph {
    /// Topological order by the selection key.
    pub order: Vec<u32>,
    /// Tasks without predecessors, in execution order.
    pub roots: Vec<u32>,
    pub critical_path: Vec<u32>,
    pub critical_path_by: CriticalPathMeasure,
    /// The length of the critical path, in minutes or tokens.
    pub length: u64,
    pub layers: u32,
    /// The predecessors of each task: one entry for each of its links, in their order, that refers to a task of the
    /// list.
    pub predecessors: TaskAdjacency,
    /// The dependents of each task, in the order of the list.
    pub dependents: TaskAdjacency,
    pub estimated_total_tokens: u64,
    places: Vec<GraphPosition>,
    /// All tasks by the selection key alone, if that is not the execution order.
    by_key: Option<Vec<u32>>,
}

/// Resolves tasks in O((n + e) log n). All kinds of links are considered for cycles and depth. A link to an unknown
/// task is skipped, since pruning reports it; of equal ids the first is used.
pub fn resolve_graph(
    tasks: &[TaskNode],
    available: impl Fn(&str) -> bool,
) -> Result<ResolvedGraph, TaskCycle> {
    let mut gathered = gather::gather_graph(tasks, &available);
    let (dependents, offsets, GraphExtent { length, layers }) =
        if gathered.timed && gathered.waits_for_weights() {
            let extent = timing::graph_extent(&gathered.places);
            let dependents = timing::lay_out_dependents_and_latest(&mut gathered, extent.length);
            (dependents, LinkOffsets::Weights, extent)
        } else {
            time_unlisted_order(tasks, &mut gathered)?
        };
    let GatheredGraph { predecessors, places, keys, .. } = gathered;
    let id_at = |index: u32| tasks[index as usize].id.as_str();
    let critical_path = timing::critical_path(&places, &predecessors, &offsets, length, id_at);
    let exact = |index: u32| {
        let task = &tasks[index as usize];
        (!gather::task_affinity(task, &available).to_bits(), task.estimated_tokens)
    };
    let by_layer = order::order_by_layer(&keys, &places, layers, id_at, exact);
    let (order, by_key) = if keys.has_one_priority() {
        (by_layer, None)
    } else {
        let by_key = order::order_by_priority(&by_layer, &keys);
        (order::execution_order(&by_key, &predecessors, &dependents), Some(by_key))
    };
    Ok(ResolvedGraph {
        roots: find_roots(&order, &places, by_key.is_none()),
        order,
        critical_path,
        critical_path_by: gathered.by,
        length: length.cast_unsigned(),
        layers,
        predecessors,
        dependents,
        estimated_total_tokens: gathered.total_tokens,
        places,
        by_key,
    })
}

/// Computes the times of tasks that are not listed in a topological order, or whose links have kinds and lags.
fn time_unlisted_order(
    tasks: &[TaskNode],
    gathered: &mut GatheredGraph,
) -> Result<(TaskAdjacency, LinkOffsets, GraphExtent), TaskCycle> {
    let dependents = timing::lay_out_dependents(gathered);
    let offsets = LinkOffsets::from_tasks(tasks, gathered, &dependents);
    let GatheredGraph { places, predecessors, .. } = gathered;
    let Some(queue) = timing::forward_pass(places, predecessors, &dependents, &offsets) else {
        return Err(cycle::find_shortest_cycle(tasks, &dependents));
    };
    let extent = timing::graph_extent(places);
    timing::backward_pass(places, &queue, &dependents, &offsets, extent.length);
    Ok((dependents, offsets, extent))
}

/// Returns the tasks of depth 0. With a single priority they are the first layer and at the front.
fn find_roots(order: &[u32], places: &[GraphPosition], at_front: bool) -> Vec<u32> {
    let is_root = |index: &&u32| places[**index as usize].depth == 0;
    if at_front {
        order.iter().take_while(is_root).copied().collect()
    } else {
        order.iter().filter(is_root).copied().collect()
    }
}

impl ResolvedGraph {
    /// Returns the longest chain of predecessors of a task; roots have 0.
    pub fn depth(&self, index: u32) -> u32 {
        self.places[index as usize].depth
    }

    /// Returns the earliest start of a task, in minutes or tokens.
    pub fn earliest_start(&self, index: u32) -> u64 {
        self.places[index as usize].earliest.cast_unsigned()
    }

    /// Returns how much later than its earliest start a task may start without moving the end, in the same unit.
    pub fn slack(&self, index: u32) -> u64 {
        let place = &self.places[index as usize];
        (place.latest - place.earliest).cast_unsigned()
    }

    /// Returns the position of each task by the selection key alone. Ready tasks are started by increasing rank.
    pub fn selection_ranks(&self) -> Vec<u32> {
        order::ranks_of_order(self.by_key.as_ref().unwrap_or(&self.order))
    }

    /// Returns the facts that are stored with a plan. `tasks` is the resolved list.
    pub fn to_facts(&self, tasks: &[TaskNode]) -> GraphFacts {
        GraphFacts {
            root_tasks: ids_at_indices(tasks, &self.roots),
            execution_order: ids_at_indices(tasks, &self.order),
            critical_path: ids_at_indices(tasks, &self.critical_path),
            critical_path_by: self.critical_path_by,
            depth: self.places.iter().map(|place| place.depth).collect(),
            layers: self.layers,
            estimated_total_tokens: self.estimated_total_tokens,
            ..GraphFacts::default()
        }
    }
}

pub(super) fn ids_at_indices(tasks: &[TaskNode], indices: &[u32]) -> Vec<TaskId> {
    indices.iter().map(|&index| tasks[index as usize].id.clone()).collect()
}
