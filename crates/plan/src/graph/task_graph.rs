//! The task graph as seen by exports, prompts and imports.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::resolve::{ResolvedGraph, ids_at_indices};
use super::selection::SelectionKey;
use planwright_model::{CriticalPathMeasure, GraphFacts, Plan, TaskId, TaskNode};

/// The longest rationale that is kept, in characters.
const MAX_RATIONALE: usize = 4000;

/// A resolved graph with its tasks by id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskGraph {
    pub nodes: BTreeMap<TaskId, TaskNode>,
    pub root_tasks: Vec<TaskId>,
    pub execution_order: Vec<TaskId>,
    pub estimated_total_tokens: u64,
    pub critical_path: Vec<TaskId>,
    pub critical_path_by: CriticalPathMeasure,
    /// The longest chain of predecessors of each task.
    pub depth: BTreeMap<TaskId, u32>,
    /// Shown on request, never parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

impl TaskGraph {
    /// Combines the results of resolving. `tasks` is the resolved list.
    pub fn new(tasks: &[TaskNode], resolved: &ResolvedGraph, rationale: Option<&str>) -> Self {
        let depth =
            |(index, task): (usize, &TaskNode)| (task.id.clone(), resolved.depth(index as u32));
        Self {
            nodes: tasks.iter().map(|task| (task.id.clone(), task.clone())).collect(),
            root_tasks: ids_at_indices(tasks, &resolved.roots),
            execution_order: ids_at_indices(tasks, &resolved.order),
            estimated_total_tokens: resolved.estimated_total_tokens,
            critical_path: ids_at_indices(tasks, &resolved.critical_path),
            critical_path_by: resolved.critical_path_by,
            depth: tasks.iter().enumerate().map(depth).collect(),
            rationale: rationale.map(shorten_rationale),
        }
    }

    /// Returns the graph of a plan whose facts are known, without resolving it again.
    pub fn from_plan(plan: &Plan, facts: &GraphFacts) -> Self {
        let depth = |(index, task): (usize, &TaskNode)| {
            (task.id.clone(), facts.depth.get(index).copied().unwrap_or(0))
        };
        Self {
            nodes: plan.tasks.iter().map(|task| (task.id.clone(), task.clone())).collect(),
            root_tasks: facts.root_tasks.clone(),
            execution_order: facts.execution_order.clone(),
            estimated_total_tokens: facts.estimated_total_tokens,
            critical_path: facts.critical_path.clone(),
            critical_path_by: facts.critical_path_by,
            depth: plan.tasks.iter().enumerate().map(depth).collect(),
            rationale: plan.rationale.as_deref().map(shorten_rationale),
        }
    }

    /// Returns whether a task is not completed and nothing blocks it. Links that only affect the schedule are ignored.
    pub fn is_ready(&self, id: &str, completed: &BTreeSet<TaskId>) -> bool {
        !completed.contains(id)
            && self.nodes.get(id).is_some_and(|task| {
                let mut links = task.dependencies.iter().filter(|link| link.blocks_execution());
                links.all(|link| completed.contains(&link.task))
            })
    }

    /// Returns the tasks that may start, by the selection key with every tool available.
    pub fn get_ready_tasks(&self, completed: &BTreeSet<TaskId>) -> Vec<&TaskNode> {
        let mut ready: Vec<&TaskNode> =
            self.nodes.values().filter(|task| self.is_ready(task.id.as_str(), completed)).collect();
        ready.sort_by_cached_key(|task| self.selection_key(task, |_| true));
        ready
    }

    /// Returns the task to start next.
    pub fn get_next_task(
        &self,
        completed: &BTreeSet<TaskId>,
        available_tools: &BTreeSet<String>,
    ) -> Option<&TaskNode> {
        self.nodes
            .values()
            .filter(|task| self.is_ready(task.id.as_str(), completed))
            .min_by_key(|task| self.selection_key(task, |tool| available_tools.contains(tool)))
    }

    /// Returns whether a task may use a tool: its affinity is high enough.
    pub fn can_use_tool(&self, id: &str, tool: &str) -> bool {
        self.nodes.get(id).is_some_and(|task| task.can_use_tool(tool))
    }

    fn selection_key<'a>(
        &self,
        task: &'a TaskNode,
        available: impl Fn(&str) -> bool,
    ) -> SelectionKey<'a> {
        SelectionKey::new(task, self.depth.get(&task.id).copied().unwrap_or(0), available)
    }
}

fn shorten_rationale(rationale: &str) -> String {
    rationale.chars().take(MAX_RATIONALE).collect()
}

#[cfg(test)]
mod tests {
    use crate::graph::resolve_graph;
    use serde_json::json;

    use super::*;

    use planwright_model::{LinkKind, TaskLink};

    fn graph() -> TaskGraph {
        let mut tasks = ["a", "b", "c", "d"].map(|id| TaskNode::new(id, "x"));
        tasks[1].dependencies = vec![TaskLink::finish_to_start("a")];
        tasks[2].tool_affinity.insert("web.fetch".into(), 0.9);
        tasks[3].dependencies =
            vec![TaskLink { kind: LinkKind::FF, ..TaskLink::finish_to_start("b") }];
        let resolved = resolve_graph(&tasks, |_| true).unwrap();
        TaskGraph::new(&tasks, &resolved, Some(&"é".repeat(5000)))
    }

    fn set<T: Ord + From<&'static str>>(items: &[&'static str]) -> BTreeSet<T> {
        items.iter().map(|item| T::from(item)).collect()
    }

    fn ready(completed: &[&'static str]) -> Vec<String> {
        let graph = graph();
        graph.get_ready_tasks(&set(completed)).iter().map(|task| task.id.to_string()).collect()
    }

    #[test]
    fn serializes_with_the_documented_fields() {
        let mut graph = graph();
        assert_eq!(graph.rationale.take().unwrap().chars().count(), MAX_RATIONALE);
        let value = serde_json::to_value(&graph).unwrap();
        assert_eq!(value["root_tasks"], json!(["c", "a"]));
        assert_eq!(value["execution_order"], json!(["c", "a", "b", "d"]));
        assert_eq!(value["critical_path"], json!(["a", "b", "d"]));
        assert_eq!(value["critical_path_by"], json!("tokens"));
        assert_eq!(value["estimated_total_tokens"], json!(2000));
        assert_eq!(value["depth"], json!({"a": 0, "b": 1, "c": 0, "d": 2}));
        assert_eq!(value["nodes"]["b"]["dependencies"], json!(["a"]));
        assert_eq!(serde_json::from_value::<TaskGraph>(value).unwrap(), graph);
    }

    #[test]
    fn ready_tasks_are_pending_and_not_blocked() {
        assert_eq!(ready(&[]), ["c", "a", "d"]);
        assert_eq!(ready(&["a", "c"]), ["b", "d"]);
        assert_eq!(ready(&["a", "b", "c", "d"]), [""; 0]);
    }

    #[test]
    fn the_next_task_depends_on_the_available_tools() {
        let graph = graph();
        let next = |tools: &[&'static str]| {
            graph.get_next_task(&set(&[]), &set(tools)).map(|task| task.id.to_string())
        };
        assert_eq!(next(&["web.fetch"]), Some("c".into()));
        assert_eq!(next(&[]), Some("a".into()));
        assert!(graph.can_use_tool("c", "web.fetch") && !graph.can_use_tool("a", "web.fetch"));
    }
}
