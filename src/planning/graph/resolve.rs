//! Puts a plan's tasks in order and finds depth, critical path and slack.

use super::adjacency::Adjacency;
use super::cycle::{self, Cycle};
use super::intern::IdTable;
use super::order::{self, Keys, StaticKey};
use super::timing::{self, Offsets};
use crate::model::{CriticalPathBy, GraphFacts, Link, LinkKind, TaskId, TaskNode};

/// What resolving found. Tasks are named by their index in the list that was resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// Topological order by the selection key.
    pub order: Vec<u32>,
    /// The place of each task by the selection key alone. Ready tasks are started by rising rank.
    pub rank: Vec<u32>,
    /// The longest chain of predecessors of each task; roots have 0.
    pub depth: Vec<u32>,
    /// Tasks without predecessors, in execution order.
    pub roots: Vec<u32>,
    pub critical_path: Vec<u32>,
    pub critical_path_by: CriticalPathBy,
    /// The length of the critical path, in minutes or tokens.
    pub length: u64,
    /// How much later than its earliest start each task may start without moving the end, in the same unit.
    pub slack: Vec<u64>,
    /// The earliest start of each task, in the same unit.
    pub earliest: Vec<u64>,
    pub layers: u32,
    /// What each task waits for: one entry for each of its links, in their order, that names a task of the list.
    pub predecessors: Adjacency,
    /// Which tasks wait for each task, in the order of the list.
    pub dependents: Adjacency,
    pub estimated_total_tokens: u64,
}

/// Resolves tasks in O((n + e) log n). All kinds of links count for cycles and depth. A link to an unknown task is
/// passed over, since pruning reports it; of equal ids the first is meant.
pub fn resolve(tasks: &[TaskNode], available: impl Fn(&str) -> bool) -> Result<Resolved, Cycle> {
    let gathered = gather(tasks, available);
    let (predecessors, offsets) = link_up(tasks, &gathered);
    let (dependents, by_predecessor) = predecessors.reversed(&offsets);
    let offsets = if offsets.is_empty() {
        Offsets::Weights
    } else {
        Offsets::PerLink { by_successor: offsets, by_predecessor }
    };
    let weights = &gathered.weights;
    let forward = timing::forward(&predecessors, &dependents, weights, &offsets);
    if forward.queue.len() < tasks.len() {
        return Err(cycle::shortest(tasks, &dependents));
    }
    let id_at = |index: u32| tasks[index as usize].id.as_str();
    let layers = forward.places.iter().map(|place| place.depth + 1).max().unwrap_or(0);
    let by_layer = order::by_layer(&gathered.keys, &forward.places, layers, id_at);
    let (lowest, highest) = order::bounds(&gathered.keys.priorities);
    let (order, rank) = if lowest >= highest {
        let rank = order::ranks(&by_layer);
        (by_layer, rank)
    } else {
        let by_rank = order::by_priority(&by_layer, &gathered.keys.priorities);
        let rank = order::ranks(&by_rank);
        (order::execution_order(&by_rank, &rank, &predecessors, &dependents), rank)
    };
    Ok(Resolved {
        roots: order.iter().copied().filter(|&index| predecessors.of(index).is_empty()).collect(),
        order,
        rank,
        critical_path: timing::critical_path(&forward, &predecessors, weights, &offsets, id_at),
        critical_path_by: gathered.by,
        length: forward.length as u64,
        slack: timing::slack(&forward, &dependents, weights, &offsets),
        depth: forward.places.iter().map(|place| place.depth).collect(),
        earliest: forward.places.iter().map(|place| place.earliest as u64).collect(),
        layers,
        predecessors,
        dependents,
        estimated_total_tokens: gathered.total_tokens,
    })
}

/// What one pass over the tasks collects, so that the wide structs are not walked again.
struct Gathered<'a> {
    ids: IdTable,
    id_texts: Vec<&'a str>,
    keys: Keys,
    weights: Vec<i64>,
    by: CriticalPathBy,
    links: usize,
    total_tokens: u64,
}

fn gather(tasks: &[TaskNode], available: impl Fn(&str) -> bool) -> Gathered<'_> {
    let mut ids = IdTable::with_capacity(tasks.len());
    let mut statics = Vec::with_capacity(tasks.len());
    let mut priorities = Vec::with_capacity(tasks.len());
    let mut minutes = Vec::with_capacity(tasks.len());
    let mut id_texts: Vec<&str> = Vec::with_capacity(tasks.len());
    let (mut links, mut total_tokens) = (0, 0u64);
    let first = tasks.first().map_or("", |task| task.id.as_str());
    let (mut previous, mut ids_rise, mut shared_prefix) = ("", true, first.len());
    for task in tasks {
        let id = task.id.as_str();
        ids.push(id, |index| tasks[index].id.as_str());
        id_texts.push(id);
        ids_rise = ids_rise && previous <= id;
        previous = id;
        shared_prefix = common_prefix(&first.as_bytes()[..shared_prefix], id.as_bytes());
        let affinity =
            if task.tool_affinity.is_empty() { 0.0 } else { task.best_affinity(&available) + 0.0 };
        statics.push(StaticKey { affinity: !affinity.to_bits(), tokens: task.estimated_tokens });
        priorities.push(task.priority);
        if let Some(duration) = task.duration_minutes {
            minutes.push(i64::from(duration));
        }
        links += task.dependencies.len();
        total_tokens = total_tokens.saturating_add(task.estimated_tokens);
    }
    let timed = minutes.len() == tasks.len() && !tasks.is_empty();
    let tokens = |key: &StaticKey| i64::try_from(key.tokens).unwrap_or(i64::MAX);
    let weights = if timed { minutes } else { statics.iter().map(tokens).collect() };
    let by = if timed { CriticalPathBy::Minutes } else { CriticalPathBy::Tokens };
    let keys = Keys { statics, priorities, ids_rise, shared_prefix };
    Gathered { ids, id_texts, keys, weights, by, links, total_tokens }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Predecessors of each task and, unless every link is plain, the offset of each link.
fn link_up(tasks: &[TaskNode], gathered: &Gathered<'_>) -> (Adjacency, Vec<i64>) {
    let plain = gathered.by == CriticalPathBy::Tokens
        || tasks.iter().flat_map(|task| &task.dependencies).all(is_plain);
    let mut predecessors = Adjacency::with_capacity(tasks.len(), gathered.links);
    let mut offsets = Vec::with_capacity(if plain { 0 } else { gathered.links });
    let id_at = |index: usize| gathered.id_texts[index];
    for (task, weight) in tasks.iter().zip(&gathered.weights) {
        for link in &task.dependencies {
            if let Some(from) = gathered.ids.get(link.task.as_str(), id_at) {
                predecessors.push(from);
                if !plain {
                    offsets.push(offset(link, gathered.weights[from as usize], *weight));
                }
            }
        }
        predecessors.close();
    }
    (predecessors, offsets)
}

fn is_plain(link: &Link) -> bool {
    link.kind == LinkKind::FS && link.lag_minutes == 0
}

/// How long after the predecessor's start the successor may start.
fn offset(link: &Link, predecessor: i64, successor: i64) -> i64 {
    let lag = i64::from(link.lag_minutes);
    match link.kind {
        LinkKind::FS => lag + predecessor,
        LinkKind::SS => lag,
        LinkKind::FF => lag + predecessor - successor,
        LinkKind::SF => lag - successor,
    }
}

impl Resolved {
    /// The facts that travel with a plan. `tasks` is the list that was resolved.
    pub fn facts(&self, tasks: &[TaskNode]) -> GraphFacts {
        GraphFacts {
            root_tasks: ids(tasks, &self.roots),
            execution_order: ids(tasks, &self.order),
            critical_path: ids(tasks, &self.critical_path),
            critical_path_by: self.critical_path_by,
            depth: self.depth.clone(),
            layers: self.layers,
            estimated_total_tokens: self.estimated_total_tokens,
        }
    }
}

pub(super) fn ids(tasks: &[TaskNode], indices: &[u32]) -> Vec<TaskId> {
    indices.iter().map(|&index| tasks[index as usize].id.clone()).collect()
}
