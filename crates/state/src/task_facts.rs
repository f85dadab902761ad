//! What the plan contains about one task, wherever it stands: in the task graph or in the outline it was made from.

use super::SessionState;
use planwright_model::{PlanNode, TaskId, TaskNode};

impl SessionState {
    /// A task of the current plan, by its position.
    pub fn task_node(&self, task: usize) -> Option<&TaskNode> {
        self.plan.current.as_ref()?.plan.tasks.get(task)
    }

    /// The title of a task, or its id if the plan has none.
    pub fn task_title(&self, task: usize) -> &str {
        match self.task_node(task) {
            Some(node) if !node.description.trim().is_empty() => &node.description,
            _ => self.tasks.id(task).as_str(),
        }
    }

    /// The node of the outline that a task was made from; a task of a plan file has none.
    pub fn outline_node(&self, id: &TaskId) -> Option<&PlanNode> {
        self.planning.outline.as_ref()?.find_node(id)
    }

    /// The titles of what a task stands in, from the outside in, without the goal itself.
    pub fn containing_titles(&self, id: &TaskId) -> Vec<&str> {
        let mut titles = Vec::new();
        let mut at = self.outline_node(id).and_then(|node| node.parent_id.as_ref());
        // A damaged outline may go round in circles; no tree is deeper than its number of nodes.
        while let Some(node) = at.and_then(|id| self.outline_node(id)).filter(|_| titles.len() < 32)
        {
            if node.parent_id.is_some() {
                titles.push(node.title.as_str());
            }
            at = node.parent_id.as_ref();
        }
        titles.reverse();
        titles
    }

    /// Whether every task of the plan is the person's own: nothing in it runs by itself.
    pub fn is_only_for_people(&self) -> bool {
        !self.tasks.is_empty() && (0..self.tasks.len()).all(|task| self.tasks.is_human(task))
    }
}
