//! Looks back that a short plan has no time for: "Talk after four weeks about what to change" comes after a day that is a
//! week away, so it is left out, and the plan says so.

use std::collections::BTreeSet;

use planwright_model::{LinkKind, NodeType, Role, TaskId};
use planwright_text::units;

use super::InstanceBuilder;
use super::link::InstanceLag;

/// The share of a kind's own time below which what waits at its end is left out.
const SHORT_SHARE: f64 = 0.6;
/// Waits from this many minutes on are those of a look back.
const LONG_WAIT: i32 = 5 * 24 * 60;
/// The tasks behind such a wait that belong to it.
const MOST_BEHIND: usize = 1;

/// What the title of a look back begins with.
const LOOKS: [&str; 10] = [
    "Look ",
    "Compare ",
    "Talk ",
    "Review ",
    "Ask ",
    "Note ",
    "Check ",
    "Measure ",
    "Decide what ",
    "Count ",
];

impl InstanceBuilder<'_> {
    /// Leaves out what waits at the end of a plan that is far too short for it.
    pub(super) fn leave_out_late_looks(&mut self) {
        let goal = self.inputs.goal;
        let dated = goal.deadline.is_some() || goal.day.is_some() && self.inputs.span.day.is_none();
        if !dated || self.anchors.lead_ratio() >= SHORT_SHARE || self.inputs.blueprint.is_routine()
        {
            return;
        }
        let mut gone: BTreeSet<TaskId> = BTreeSet::new();
        for link in &self.plan.links {
            let waits = link.kind == LinkKind::FS
                && matches!(link.lag, InstanceLag::Elapsed { minutes, .. } if minutes >= LONG_WAIT);
            if !waits || !self.looks_back(&link.to) || !self.is_in_last_part(&link.to) {
                continue;
            }
            let behind = self.tasks_behind(&link.to);
            if behind.len() <= MOST_BEHIND && behind.iter().all(|id| self.is_plain_task(id)) {
                gone.insert(link.to.clone());
                gone.extend(behind);
            }
        }
        let left = self.plan.nodes.iter().filter(|node| node.node_type == NodeType::Task).count();
        if gone.is_empty() || left <= gone.len() + 2 {
            return;
        }
        let titles: Vec<String> = self
            .plan
            .nodes
            .iter()
            .filter(|node| gone.contains(&node.id))
            .map(|node| format!("\"{}\"", node.title))
            .collect();
        let steps = units::format_counted(titles.len(), "step");
        self.plan.notes.push(format!(
            "{steps} would come after the day and {} left out: {}.",
            if titles.len() == 1 { "is" } else { "are" },
            titles.join(", ")
        ));
        self.plan.nodes.retain(|node| !gone.contains(&node.id));
        self.plan.links.retain(|link| !gone.contains(&link.from) && !gone.contains(&link.to));
        self.plan.efforts.retain(|id, _| !gone.contains(id));
        self.remove_empty_groups();
    }

    /// Returns whether a task only looks at what was done.
    fn looks_back(&self, id: &TaskId) -> bool {
        let node = self.plan.nodes.iter().find(|node| node.id == *id);
        let looks = node.is_some_and(|node| {
            matches!(node.role, Role::Reflection | Role::Review)
                || LOOKS.iter().any(|verb| node.title.starts_with(verb))
        });
        looks && self.is_plain_task(id)
    }

    /// Returns whether nothing waits for the part of the plan that a task belongs to.
    fn is_in_last_part(&self, id: &TaskId) -> bool {
        let node = self.plan.nodes.iter().find(|node| node.id == *id);
        let parent = node.and_then(|node| node.parent_id.clone());
        let leads = |id: &TaskId| self.plan.links.iter().any(|link| link.from == *id);
        parent.is_none_or(|parent| !leads(&parent))
    }

    fn is_plain_task(&self, id: &TaskId) -> bool {
        let node = self.plan.nodes.iter().find(|node| node.id == *id);
        node.is_some_and(|node| {
            node.node_type == NodeType::Task
                && node.fixed_start.is_none()
                && !node.milestone
                && node.role != Role::Deliverable
                && node.recurrence.is_none()
        })
    }

    /// Returns what directly or indirectly waits for a task.
    fn tasks_behind(&self, id: &TaskId) -> Vec<TaskId> {
        let mut found: Vec<TaskId> = Vec::new();
        let mut open = vec![id.clone()];
        while let Some(from) = open.pop() {
            for link in self.plan.links.iter().filter(|link| link.from == from) {
                if !found.contains(&link.to) && link.to != *id {
                    found.push(link.to.clone());
                    open.push(link.to.clone());
                }
            }
        }
        found
    }
}
