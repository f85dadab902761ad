//! Groups of tasks in the graph: phases of a draft and groups of a plan file. A folded group is one box; its links are those
//! of the tasks in it to everything outside.

use std::collections::{BTreeMap, BTreeSet};

use crate::panes::plan::PlanTreeRows;
use planwright_model::TaskId;

/// What holds tasks, and may be held itself.
#[derive(Clone, Debug, PartialEq)]
struct TaskGroup {
    id: TaskId,
    title: String,
    parent: Option<usize>,
}

/// The groups of a plan and the innermost one of each task.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TaskGroups {
    groups: Vec<TaskGroup>,
    by_task: BTreeMap<usize, usize>,
}

/// What a box of the graph stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GraphNode {
    Task(usize),
    /// A folded group and the tasks in it.
    Group {
        id: TaskId,
        title: String,
        tasks: Vec<usize>,
    },
}

impl GraphNode {
    /// Its first task: what it is taken for where one task is needed.
    pub(crate) fn first_task(&self) -> usize {
        match self {
            Self::Task(task) => *task,
            Self::Group { tasks, .. } => tasks.first().copied().unwrap_or(0),
        }
    }
}

/// The boxes of a graph, and which of them stands for a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FoldedNodes {
    pub(crate) nodes: Vec<GraphNode>,
    pub(crate) by_task: Vec<u32>,
}

impl TaskGroups {
    /// Every row that holds more than one task.
    pub(crate) fn from_rows(rows: &PlanTreeRows) -> Self {
        let mut found = Self::default();
        let mut group_of_row: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, row) in rows.all.iter().enumerate() {
            let parent = row.parent.and_then(|parent| group_of_row.get(&parent).copied());
            let held = rows.all[at + 1..row.end].iter().filter(|row| row.task.is_some());
            if held.count() > 1 {
                group_of_row.insert(at, found.groups.len());
                let (id, title) = (row.id.clone(), row.title.clone());
                found.groups.push(TaskGroup { id, title, parent });
            } else if let Some(parent) = parent {
                group_of_row.insert(at, parent);
            }
            if let (Some(task), Some(group)) = (row.task, parent) {
                found.by_task.insert(task, group);
            }
        }
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &TaskId> {
        self.groups.iter().map(|group| &group.id)
    }

    /// The innermost group of a task, or the group itself.
    pub(crate) fn group_of(&self, id: &TaskId, task: Option<usize>) -> Option<&TaskId> {
        let own = self.groups.iter().position(|group| group.id == *id);
        let group = own.or_else(|| self.by_task.get(&task?).copied())?;
        Some(&self.groups[group].id)
    }

    /// The boxes of a plan with some groups folded. A group stays open where a task outside comes between two of its own:
    /// one box for it would wait for itself.
    pub(super) fn fold_nodes(
        &self,
        tasks: usize,
        edges: &[(u32, u32)],
        folded: &BTreeSet<TaskId>,
    ) -> FoldedNodes {
        let is_folded = |group: &usize| folded.contains(&self.groups[*group].id);
        let mut folded: BTreeSet<usize> = (0..self.groups.len()).filter(is_folded).collect();
        loop {
            let found = self.nodes_with(tasks, &folded);
            let waiting = nodes_in_cycles(&found, edges);
            let stuck: Vec<usize> = folded
                .iter()
                .copied()
                .filter(|group| waiting.contains(&self.groups[*group].id))
                .collect();
            if stuck.is_empty() {
                return found;
            }
            for group in stuck {
                folded.remove(&group);
            }
        }
    }

    fn nodes_with(&self, tasks: usize, folded: &BTreeSet<usize>) -> FoldedNodes {
        let mut found = FoldedNodes::default();
        let mut boxes: BTreeMap<usize, u32> = BTreeMap::new();
        for task in 0..tasks {
            let Some(group) = self.outermost(task, folded) else {
                found.by_task.push(found.nodes.len() as u32);
                found.nodes.push(GraphNode::Task(task));
                continue;
            };
            let node = *boxes.entry(group).or_insert_with(|| {
                let TaskGroup { id, title, .. } = self.groups[group].clone();
                found.nodes.push(GraphNode::Group { id, title, tasks: Vec::new() });
                found.nodes.len() as u32 - 1
            });
            if let GraphNode::Group { tasks, .. } = &mut found.nodes[node as usize] {
                tasks.push(task);
            }
            found.by_task.push(node);
        }
        found
    }

    /// The outermost folded group that holds a task.
    fn outermost(&self, task: usize, folded: &BTreeSet<usize>) -> Option<usize> {
        let mut at = self.by_task.get(&task).copied();
        let mut found = None;
        while let Some(group) = at {
            if folded.contains(&group) {
                found = Some(group);
            }
            at = self.groups[group].parent;
        }
        found
    }
}

impl FoldedNodes {
    /// The links between boxes, each once, with the places of the links of tasks that it stands for.
    pub(super) fn fold_edges(&self, edges: &[(u32, u32)]) -> Vec<((u32, u32), Vec<usize>)> {
        let mut places: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let mut found: Vec<((u32, u32), Vec<usize>)> = Vec::new();
        for (at, (from, to)) in edges.iter().enumerate() {
            let edge = (self.by_task[*from as usize], self.by_task[*to as usize]);
            if edge.0 == edge.1 {
                continue;
            }
            let place = *places.entry(edge).or_insert_with(|| {
                found.push((edge, Vec::new()));
                found.len() - 1
            });
            found[place].1.push(at);
        }
        found
    }
}

/// The ids of groups that wait for themselves, directly or not: what is left when everything that can start has started.
fn nodes_in_cycles(found: &FoldedNodes, edges: &[(u32, u32)]) -> BTreeSet<TaskId> {
    let edges = found.fold_edges(edges);
    let mut waits = vec![0_usize; found.nodes.len()];
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); found.nodes.len()];
    for ((from, to), _) in &edges {
        waits[*to as usize] += 1;
        next[*from as usize].push(*to);
    }
    let mut ready: Vec<u32> =
        (0..).zip(&waits).filter(|(_, count)| **count == 0).map(|(node, _)| node).collect();
    let mut started = vec![false; found.nodes.len()];
    while let Some(node) = ready.pop() {
        started[node as usize] = true;
        for to in &next[node as usize] {
            waits[*to as usize] -= 1;
            if waits[*to as usize] == 0 {
                ready.push(*to);
            }
        }
    }
    let stuck = found.nodes.iter().zip(started).filter(|(_, started)| !started);
    stuck
        .filter_map(|(node, _)| match node {
            GraphNode::Group { id, .. } => Some(id.clone()),
            GraphNode::Task(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks 0 to 5; 1, 2 and 3 are in "a", of which 2 and 3 also in "a1"; 4 and 5 in "b".
    fn groups() -> TaskGroups {
        let group = |id: &str, parent| TaskGroup { id: id.into(), title: id.into(), parent };
        TaskGroups {
            groups: vec![group("a", None), group("a1", Some(0)), group("b", None)],
            by_task: [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2)].into(),
        }
    }

    fn fold(edges: &[(u32, u32)], folded: &[&str]) -> FoldedNodes {
        let folded = folded.iter().map(|id| TaskId::from(*id)).collect();
        groups().fold_nodes(6, edges, &folded)
    }

    #[test]
    fn a_folded_group_is_one_box_and_hides_what_is_inside_it() {
        let edges = [(0, 1), (1, 2), (2, 4), (3, 4), (4, 5)];
        let found = fold(&edges, &["a"]);
        assert_eq!(found.by_task, [0, 1, 1, 1, 2, 3]);
        let edges: Vec<_> = found.fold_edges(&edges).into_iter().map(|(edge, _)| edge).collect();
        assert_eq!(edges, [(0, 1), (1, 2), (2, 3)]);
        // The inner group alone; then the outer one, whatever the inner one is.
        assert_eq!(fold(&[], &["a1"]).by_task, [0, 1, 2, 2, 3, 4]);
        assert_eq!(fold(&[], &["a", "a1"]).by_task, [0, 1, 1, 1, 2, 3]);
    }

    #[test]
    fn a_group_that_would_wait_for_itself_stays_open() {
        // 1 → 4 → 3: a task of "b" comes between two of "a".
        let edges = [(1, 4), (4, 3)];
        assert_eq!(fold(&edges, &["a"]).by_task, [0, 1, 2, 3, 4, 5]);
        assert_eq!(fold(&edges, &["b"]).by_task, [0, 1, 2, 3, 4, 4]);
        // The inner group does not have the task before, so that it can be one box.
        assert_eq!(fold(&edges, &["a1"]).by_task, [0, 1, 2, 2, 3, 4]);
    }
}
