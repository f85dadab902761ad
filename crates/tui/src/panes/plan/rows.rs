//! The plan as rows of a tree: containers with their tasks below them, each row with what the list views show of it.

use std::collections::HashMap;

use crate::plan_text::{PlanFileRow, file_rows, group_row_id};
use planwright_model::{NodeTree, Plan, PlanNode, TaskId};
use planwright_state::{TaskCounts, TaskStatus, TaskTable};

/// One row of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlanTreeRow {
    pub(crate) id: TaskId,
    pub(crate) title: String,
    /// How many rows stand above it on the way to the top.
    pub(crate) depth: usize,
    /// Its place in the plan that runs; containers and nodes that are not planned to run have none.
    pub(crate) task: Option<usize>,
    pub(crate) parent: Option<usize>,
    /// The row after the last one below it.
    pub(crate) end: usize,
    pub(crate) minutes: Option<u32>,
    pub(crate) milestone: bool,
}

/// All rows, parents before what is below them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlanTreeRows {
    pub(crate) all: Vec<PlanTreeRow>,
    by_id: HashMap<TaskId, usize>,
}

impl PlanTreeRows {
    /// A plan without an outline: its tasks in the order in which they would be started, under the groups they name.
    pub(crate) fn from_plan(plan: &Plan, order: &[TaskId]) -> Self {
        let mut rows: Vec<PlanTreeRow> = Vec::with_capacity(plan.tasks.len());
        let mut group = None;
        for row in file_rows(plan, order) {
            let at = rows.len();
            match row {
                PlanFileRow::Group(name) => {
                    rows.push(PlanTreeRow { end: at + 1, ..group_row(name) });
                    group = Some(at);
                }
                PlanFileRow::Task { at: task, grouped } => {
                    let parent = group.filter(|_| grouped);
                    let depth = usize::from(grouped);
                    rows.push(PlanTreeRow { end: at + 1, parent, depth, ..leaf_row(plan, task) });
                    if let Some(parent) = parent {
                        rows[parent].end = at + 1;
                        rows[parent].minutes = sum_minutes(&rows, parent);
                    }
                }
            }
        }
        Self::new(rows)
    }

    /// An outline with the tasks of the plan that came of it. The goal itself is the title of the screen, not a row.
    pub(crate) fn from_outline(nodes: &[PlanNode], root: &TaskId, plan: Option<&Plan>) -> Self {
        let tasks: HashMap<&TaskId, usize> = plan
            .iter()
            .flat_map(|plan| plan.tasks.iter().enumerate())
            .map(|(at, task)| (&task.id, at))
            .collect();
        let tree = NodeTree::new(nodes);
        let mut rows: Vec<PlanTreeRow> = Vec::with_capacity(nodes.len());
        let mut open: Vec<usize> = Vec::new();
        for node in tree.subtree(root).into_iter().filter(|node| node.id != *root) {
            let depth = tree.ancestors(&node.id).len().saturating_sub(1);
            while open.len() > depth {
                open.pop();
            }
            let at = rows.len();
            rows.push(PlanTreeRow {
                id: node.id.clone(),
                title: node.title.clone(),
                depth,
                task: tasks.get(&node.id).copied(),
                parent: open.last().copied(),
                end: at + 1,
                minutes: Some(tree.total_minutes(&node.id)).filter(|minutes| *minutes > 0),
                milestone: node.milestone,
            });
            for above in &open {
                rows[*above].end = at + 1;
            }
            open.push(at);
        }
        Self::new(rows)
    }

    fn new(all: Vec<PlanTreeRow>) -> Self {
        let by_id = all.iter().enumerate().map(|(at, row)| (row.id.clone(), at)).collect();
        Self { all, by_id }
    }

    pub(crate) fn position(&self, id: &TaskId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Whether other rows stand below it.
    pub(crate) fn is_group(&self, row: usize) -> bool {
        self.all.get(row).is_some_and(|found| found.end > row + 1)
    }

    /// The rows that are not inside a folded one, in order.
    pub(crate) fn visible_rows(&self, is_folded: impl Fn(&TaskId) -> bool) -> Vec<usize> {
        let mut rows = Vec::with_capacity(self.all.len());
        let mut at = 0;
        while let Some(row) = self.all.get(at) {
            rows.push(at);
            at = if is_folded(&row.id) { row.end } else { at + 1 };
        }
        rows
    }

    /// What became of a row; of a container, what became of the tasks below it.
    pub(crate) fn row_status(&self, row: usize, tasks: &TaskTable) -> TaskStatus {
        if let Some(task) = self.all[row].task.filter(|task| *task < tasks.len()) {
            return tasks.row(task).status;
        }
        let counts = self.task_counts(row, tasks);
        if counts.running > 0 {
            TaskStatus::Running
        } else if counts.yours > 0 {
            TaskStatus::Yours
        } else if counts.failed > 0 {
            TaskStatus::Failed
        } else if counts.total() > 0 && counts.pending == 0 {
            TaskStatus::Done
        } else {
            TaskStatus::Pending
        }
    }

    /// How many of the tasks at or below a row are in which state.
    pub(crate) fn task_counts(&self, row: usize, tasks: &TaskTable) -> TaskCounts {
        let mut counts = TaskCounts::default();
        for below in &self.all[row..self.all[row].end] {
            if let Some(task) = below.task.filter(|task| *task < tasks.len()) {
                counts.add_task(tasks.row(task).status);
            }
        }
        counts
    }
}

/// The time of all that a group holds so far.
fn sum_minutes(rows: &[PlanTreeRow], parent: usize) -> Option<u32> {
    let minutes = rows[parent + 1..].iter().filter_map(|row| row.minutes);
    Some(minutes.sum()).filter(|minutes| *minutes > 0)
}

fn group_row(name: &str) -> PlanTreeRow {
    PlanTreeRow {
        id: group_row_id(name),
        title: name.to_owned(),
        depth: 0,
        task: None,
        parent: None,
        end: 0,
        minutes: None,
        milestone: false,
    }
}

fn leaf_row(plan: &Plan, at: usize) -> PlanTreeRow {
    let task = &plan.tasks[at];
    PlanTreeRow {
        id: task.id.clone(),
        title: task.description.clone(),
        depth: 0,
        task: Some(at),
        parent: None,
        end: 0,
        minutes: task.duration_minutes,
        milestone: task.duration_minutes == Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::{facts, release_plan};
    use planwright_model::NodeType;

    fn outline() -> Vec<PlanNode> {
        let goal = PlanNode::new_goal("g", "Goal");
        let write = PlanNode::new_child(&goal, "write", NodeType::Phase, "Write");
        let mut first = PlanNode::new_child(&write, "first", NodeType::Task, "First draft");
        first.estimate_minutes = Some(300);
        let mut second = PlanNode::new_child(&write, "second", NodeType::Task, "Second draft");
        second.position = 1;
        second.estimate_minutes = Some(405);
        let mut build = PlanNode::new_child(&goal, "build", NodeType::Phase, "Build");
        build.position = 1;
        let list = PlanNode::new_child(&build, "list", NodeType::Task, "Set up the list");
        vec![goal, write, first, second, build, list]
    }

    fn ids(rows: &PlanTreeRows, shown: &[usize]) -> Vec<String> {
        shown.iter().map(|row| rows.all[*row].id.to_string()).collect()
    }

    #[test]
    fn a_plan_without_an_outline_is_listed_as_it_would_start() {
        let plan = release_plan();
        let rows = PlanTreeRows::from_plan(&plan, &facts(&plan).execution_order);
        assert_eq!(rows.all.len(), plan.tasks.len());
        assert_eq!(rows.all[0].id.as_str(), "audit");
        assert!((0..rows.all.len()).all(|row| !rows.is_group(row)));
        let unordered = PlanTreeRows::from_plan(&plan, &[]);
        assert_eq!(unordered.all.len(), plan.tasks.len());
    }

    #[test]
    fn containers_hold_what_is_below_them() {
        let nodes = outline();
        let rows = PlanTreeRows::from_outline(&nodes, &"g".into(), None);
        let all = rows.visible_rows(|_| false);
        assert_eq!(ids(&rows, &all), ["write", "first", "second", "build", "list"]);
        assert_eq!(rows.all[0].minutes, Some(705));
        assert_eq!((rows.all[0].end, rows.all[3].end), (3, 5));
        assert_eq!(rows.all[2].parent, Some(0));
        assert_eq!(rows.all[2].depth, 1);
    }

    #[test]
    fn what_is_folded_takes_its_rows_with_it() {
        let nodes = outline();
        let rows = PlanTreeRows::from_outline(&nodes, &"g".into(), None);
        let shown = rows.visible_rows(|id| id.as_str() == "write");
        assert_eq!(ids(&rows, &shown), ["write", "build", "list"]);
    }

    #[test]
    fn a_container_says_what_became_of_its_tasks() {
        let state = crate::tests::fixture::Fixture::running().state();
        let goal = PlanNode::new_goal("g", "Goal");
        let all = PlanNode::new_child(&goal, "all", NodeType::Phase, "All");
        let under = |id: &str| PlanNode::new_child(&all, id, NodeType::Task, id);
        let nodes = vec![goal.clone(), all.clone(), under("audit"), under("bench"), under("port")];
        let plan = state.plan.current.clone().unwrap();
        let rows = PlanTreeRows::from_outline(&nodes, &"g".into(), Some(&plan.plan));
        assert_eq!(rows.row_status(0, &state.tasks), TaskStatus::Running);
        assert_eq!(rows.task_counts(0, &state.tasks).done, 2);
        let done = PlanTreeRows::from_outline(&nodes[..4], &"g".into(), Some(&plan.plan));
        assert_eq!(done.row_status(0, &state.tasks), TaskStatus::Done);
    }
}
