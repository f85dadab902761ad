//! The content of a task as a key: two tasks with the same key do the same work after the same predecessors.

use std::collections::HashMap;

use serde_json::{Value, json};

use planwright_model::{Digest, GraphFacts, Plan, TaskId, TaskNode};

/// Fields that describe when a task runs or how it is prioritized, not what it does.
const EXCLUDED_FIELDS: [&str; 17] = [
    "id",
    "dependencies",
    "priority",
    "estimated_tokens",
    "tool_affinity",
    "duration_minutes",
    "at_scheduled_time",
    "origin",
    "fixed_start",
    "fixed_end",
    "not_before",
    "due",
    "cost",
    "retries",
    "group",
    "tags",
    "continue_on_error",
];

/// Returns the key of every task, in the plan's order. The predecessors of a task are part of its key, so that a change
/// affects everything after it; its id is not, so that a new name changes nothing.
pub fn content_keys(plan: &Plan, facts: &GraphFacts) -> Vec<Digest> {
    let places: HashMap<&TaskId, usize> =
        plan.tasks.iter().enumerate().rev().map(|(place, task)| (&task.id, place)).collect();
    let mut keys: Vec<Option<Digest>> = vec![None; plan.tasks.len()];
    let ordered = facts.execution_order.iter().filter_map(|id| places.get(id).copied());
    // Tasks that the facts omit come last, in their own order.
    for place in ordered.chain(0..plan.tasks.len()) {
        if keys[place].is_none() {
            keys[place] = Some(task_content_key(&plan.tasks[place], &places, &keys));
        }
    }
    keys.into_iter().flatten().collect()
}

fn task_content_key(
    task: &TaskNode,
    places: &HashMap<&TaskId, usize>,
    keys: &[Option<Digest>],
) -> Digest {
    let mut content = serde_json::to_value(task).unwrap_or_default();
    if let Value::Object(fields) = &mut content {
        fields.retain(|name, _| !EXCLUDED_FIELDS.contains(&name.as_str()));
    }
    let mut after: Vec<(String, &str)> = task
        .dependencies
        .iter()
        .filter(|link| link.blocks_execution())
        .filter_map(|link| {
            let known = places.get(&link.task).and_then(|place| keys[*place].as_ref())?;
            Some((format!("{:?}", link.kind), known.as_str()))
        })
        .collect();
    after.sort();
    Digest::from_json(&json!({ "task": content, "after": after }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::resolve_graph;
    use planwright_model::{RunKind, TaskLink};

    fn keys(tasks: Vec<TaskNode>) -> Vec<Digest> {
        let facts = resolve_graph(&tasks, |_| true).unwrap().to_facts(&tasks);
        content_keys(&Plan { tasks, ..Plan::default() }, &facts)
    }

    fn chain() -> Vec<TaskNode> {
        let mut tasks = ["a", "b", "c"].map(|id| TaskNode::new(id, format!("Do {id}"))).to_vec();
        for place in [1, 2] {
            tasks[place].dependencies =
                vec![TaskLink::finish_to_start(tasks[place - 1].id.clone())];
        }
        tasks
    }

    #[test]
    fn a_change_affects_everything_after_it_and_nothing_before() {
        let (before, mut tasks) = (keys(chain()), chain());
        tasks[1].run = RunKind::Shell("make".into());
        let after = keys(tasks);
        assert_eq!(before[0], after[0]);
        assert!(before[1] != after[1] && before[2] != after[2]);
    }

    #[test]
    fn names_and_estimates_are_not_content() {
        let (before, mut tasks) = (keys(chain()), chain());
        tasks[0].id = "first".into();
        tasks[1].dependencies = vec![TaskLink::finish_to_start("first")];
        tasks[2].estimated_tokens = 9;
        tasks[2].priority = 4;
        assert_eq!(before, keys(tasks));
    }
}
