//! One pass over the tasks that collects everything that resolving needs in narrow arrays.
//!
//! Tasks are large and far apart in memory, so visiting them is most of the work. Ids are mapped to indices and links
//! are looked up in the same pass. If the tasks are listed in a topological order, as people usually write them, the
//! pass also computes depth and earliest starts. At the first link to a later task it stops looking up links, and looks
//! them up after all ids are known.

use super::adjacency::TaskAdjacency;
use super::id_table::{IdSignature, IdTable};
use super::selection_columns::SelectionKeyColumns;
use planwright_model::{CriticalPathMeasure, LinkKind, TaskNode};

/// The position of a task. Kept together because a link touches all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GraphPosition {
    pub(super) earliest: i64,
    pub(super) latest: i64,
    /// Minutes or tokens.
    pub(super) weight: i64,
    pub(super) depth: u32,
    /// The number of links that start here; while the dependents are laid out, where the next one goes.
    pub(super) links: u32,
}

#[derive(Debug)]
pub(super) struct GatheredGraph {
    pub(super) predecessors: TaskAdjacency,
    /// The successor of each link, in the order of the predecessors.
    pub(super) successors: Vec<u32>,
    pub(super) places: Vec<GraphPosition>,
    pub(super) keys: SelectionKeyColumns,
    pub(super) by: CriticalPathMeasure,
    /// Whether every link is finish to start without lag.
    pub(super) plain: bool,
    /// Whether depth and earliest starts are computed, so that the list is known to be a topological order.
    pub(super) timed: bool,
    pub(super) total_tokens: u64,
}

pub(super) fn gather_graph(tasks: &[TaskNode], available: impl Fn(&str) -> bool) -> GatheredGraph {
    let count = tasks.len();
    let minutes = tasks.first().is_some_and(|task| task.duration_minutes.is_some());
    let mut gathered = GatheredGraph {
        predecessors: TaskAdjacency::with_capacity(count, count * 4),
        successors: Vec::with_capacity(count * 4),
        places: Vec::with_capacity(count),
        keys: SelectionKeyColumns::with_capacity(count),
        by: if minutes { CriticalPathMeasure::Minutes } else { CriticalPathMeasure::Tokens },
        plain: true,
        timed: true,
        total_tokens: 0,
    };
    let mut ids = IdTable::with_capacity(count);
    let id_at = |index: usize| tasks[index].id.as_str();
    let heaviest = max_task_weight(count);
    let (mut linked, mut all_minutes) = (0, true);
    for (index, task) in tasks.iter().enumerate() {
        all_minutes &= task.duration_minutes.is_some();
        let mut place = GraphPosition {
            weight: match task.duration_minutes {
                Some(duration) if minutes => duration.into(),
                _ => i64::try_from(task.estimated_tokens).unwrap_or(heaviest).min(heaviest),
            },
            ..GraphPosition::default()
        };
        if gathered.timed && gathered.link_to_earlier(task, index as u32, &mut place, &ids, id_at) {
            linked = index + 1;
        }
        gathered.places.push(place);
        let id = task.id.as_str();
        ids.push(id, IdSignature::from_id(id), id_at);
        gathered.push_key(task, &available);
    }
    gathered.keys.set_ids_rise(ids.ids_rise());
    for (index, task) in tasks.iter().enumerate().skip(linked) {
        gathered.link_task(task, index as u32, &ids, id_at);
    }
    if minutes && !all_minutes {
        gathered.fall_back_to_tokens(tasks);
    }
    gathered
}

/// Returns the maximum weight of a task, so that sums along any path, including lags, cannot overflow.
fn max_task_weight(count: usize) -> i64 {
    i64::MAX / (4 * i64::try_from(count + 1).unwrap_or(i64::MAX / 4))
}

/// Returns the best affinity of a task. It is never negative, so its bits sort in the same order.
#[inline]
pub(super) fn task_affinity(task: &TaskNode, available: impl Fn(&str) -> bool) -> f64 {
    // Adding zero turns a negative zero into the positive one.
    if task.tool_affinity.is_empty() { 0.0 } else { task.best_affinity(available) + 0.0 }
}

impl GatheredGraph {
    /// Looks up the predecessors of a task among the tasks before it. If one is not there, removes the task's links
    /// again.
    #[inline]
    fn link_to_earlier<'a>(
        &mut self,
        task: &TaskNode,
        index: u32,
        place: &mut GraphPosition,
        ids: &IdTable,
        id_at: impl Fn(usize) -> &'a str,
    ) -> bool {
        for link in &task.dependencies {
            let id = link.task.as_str();
            let Some(from) = ids.get(id, IdSignature::from_id(id), &id_at) else {
                self.undo_links(index);
                return false;
            };
            self.plain &= link.kind == LinkKind::FS && link.lag_minutes == 0;
            let before = &mut self.places[from as usize];
            before.links += 1;
            place.earliest = place.earliest.max(before.earliest + before.weight);
            place.depth = place.depth.max(before.depth + 1);
            self.predecessors.push(from);
            self.successors.push(index);
        }
        self.predecessors.end_slice();
        true
    }

    #[cold]
    fn undo_links(&mut self, index: u32) {
        self.timed = false;
        let kept = self.successors.partition_point(|successor| *successor < index);
        self.successors.truncate(kept);
        for from in self.predecessors.split_off_items(kept) {
            self.places[from as usize].links -= 1;
        }
    }

    /// Looks up the predecessors of a task when all ids are known.
    fn link_task<'a>(
        &mut self,
        task: &TaskNode,
        index: u32,
        ids: &IdTable,
        id_at: impl Fn(usize) -> &'a str,
    ) {
        for link in &task.dependencies {
            let id = link.task.as_str();
            if let Some(from) = ids.get(id, IdSignature::from_id(id), &id_at) {
                self.plain &= link.kind == LinkKind::FS && link.lag_minutes == 0;
                self.places[from as usize].links += 1;
                self.predecessors.push(from);
                self.successors.push(index);
            }
        }
        self.predecessors.end_slice();
    }

    #[inline]
    fn push_key(&mut self, task: &TaskNode, available: impl Fn(&str) -> bool) {
        self.keys.push(task.priority, task_affinity(task, available), task.estimated_tokens);
        self.total_tokens = self.total_tokens.saturating_add(task.estimated_tokens);
    }

    /// Uses tokens as weights, because only some of the tasks have a duration.
    #[cold]
    fn fall_back_to_tokens(&mut self, tasks: &[TaskNode]) {
        let heaviest = max_task_weight(tasks.len());
        for (place, task) in self.places.iter_mut().zip(tasks) {
            place.weight = i64::try_from(task.estimated_tokens).unwrap_or(heaviest).min(heaviest);
        }
        self.by = CriticalPathMeasure::Tokens;
        self.timed = false;
    }

    /// Returns whether every link's successor waits for the predecessor's full weight.
    pub(super) fn waits_for_weights(&self) -> bool {
        self.plain || self.by == CriticalPathMeasure::Tokens
    }
}
