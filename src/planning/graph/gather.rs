//! One pass over the tasks that collects all that resolving needs in narrow arrays.
//!
//! Tasks are wide and lie far apart, so that walking them is most of the work. Ids are given indices and links are
//! looked up in the same pass; a link to a task further down is looked up again at the end.

use super::adjacency::Adjacency;
use super::intern::IdTable;
use super::keys::Keys;
use crate::model::{CriticalPathBy, Link, LinkKind, TaskNode};

#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) predecessors: Adjacency,
    /// The successor of each link, in the order of the predecessors.
    pub(super) successors: Vec<u32>,
    /// How many links start at each task.
    pub(super) out_degrees: Vec<u32>,
    pub(super) keys: Keys,
    pub(super) weights: Vec<i64>,
    pub(super) by: CriticalPathBy,
    /// Whether every link is finish to start without lag.
    pub(super) plain: bool,
    /// Whether every link points from an earlier task of the list to a later one.
    pub(super) in_order: bool,
    pub(super) total_tokens: u64,
}

pub(super) fn gather(tasks: &[TaskNode], available: impl Fn(&str) -> bool) -> Gathered {
    let count = tasks.len();
    let mut ids = IdTable::with_capacity(count);
    let id_at = |index: usize| tasks[index].id.as_str();
    let mut gathered = Gathered {
        predecessors: Adjacency::with_capacity(count, count * 3),
        successors: Vec::with_capacity(count * 3),
        out_degrees: vec![0; count],
        keys: Keys::with_capacity(count),
        weights: Vec::with_capacity(count),
        by: CriticalPathBy::Tokens,
        plain: true,
        in_order: true,
        total_tokens: 0,
    };
    let mut previous = "";
    let mut linked = 0;
    let mut timed = count > 0;
    for (index, task) in tasks.iter().enumerate() {
        let id = task.id.as_str();
        if gathered.in_order && gathered.link(task, index as u32, &ids, id_at) {
            linked = index + 1;
        }
        ids.push(id, id_at);
        if gathered.keys.ids_rise() && previous > id {
            gathered.keys.ids_fall();
        }
        previous = id;
        gathered.key(task, &available);
        timed = timed && task.duration_minutes.is_some();
    }
    for (index, task) in tasks.iter().enumerate().skip(linked) {
        gathered.link(task, index as u32, &ids, id_at);
    }
    if timed {
        gathered.weights.clear();
        let minutes = tasks.iter().map(|task| task.duration_minutes.map_or(0, i64::from));
        gathered.weights.extend(minutes);
        gathered.by = CriticalPathBy::Minutes;
    }
    gathered
}

impl Gathered {
    /// Looks up what a task waits for. While all links point back, one to a task that is not known yet undoes the
    /// task's links, to be looked up again when all ids are known.
    #[inline]
    fn link<'a>(
        &mut self,
        task: &TaskNode,
        index: u32,
        ids: &IdTable,
        id_at: impl Fn(usize) -> &'a str,
    ) -> bool {
        let start = self.predecessors.edges();
        for link in &task.dependencies {
            self.plain = self.plain && link.kind == LinkKind::FS && link.lag_minutes == 0;
            if let Some(from) = ids.get(link.task.as_str(), &id_at) {
                self.out_degrees[from as usize] += 1;
                self.predecessors.push(from);
                self.successors.push(index);
            } else if self.in_order {
                self.in_order = false;
                for from in self.predecessors.cut(start) {
                    self.out_degrees[from as usize] -= 1;
                }
                self.successors.truncate(start);
                return false;
            }
        }
        self.predecessors.close();
        true
    }

    #[inline]
    fn key(&mut self, task: &TaskNode, available: impl Fn(&str) -> bool) {
        let tokens = task.estimated_tokens;
        let affinity =
            if task.tool_affinity.is_empty() { 0.0 } else { task.best_affinity(available) };
        // Adding zero turns a negative zero into the positive one.
        self.keys.push(task.priority, affinity + 0.0, tokens);
        self.weights.push(i64::try_from(tokens).unwrap_or(i64::MAX));
        self.total_tokens = self.total_tokens.saturating_add(tokens);
    }
}

/// The offset of each link, in the order of the predecessors. Unknown tasks have no link.
pub(super) fn offsets(tasks: &[TaskNode], gathered: &Gathered) -> Vec<i64> {
    let mut offsets = Vec::with_capacity(gathered.predecessors.edges());
    for (index, task) in tasks.iter().enumerate() {
        let successor = gathered.weights[index];
        let mut known = gathered.predecessors.of(index as u32).iter().peekable();
        for link in &task.dependencies {
            let names = |from: &&u32| tasks[**from as usize].id == link.task;
            if let Some(from) = known.next_if(names) {
                offsets.push(offset(link, gathered.weights[*from as usize], successor));
            }
        }
    }
    offsets
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
