//! The groups of a plan that was read from a file: tasks that name the same group stand together under it.

use std::collections::{HashMap, HashSet};

use planwright_model::{Plan, TaskId};

/// The rows of a plan file in order: a group before its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanFileRow<'a> {
    /// The group with this name; its tasks follow.
    Group(&'a str),
    /// The task at this place of the plan, and whether it stands in the group before it.
    Task { at: usize, grouped: bool },
}

/// The id of the row of a group. Ids of tasks have no space, so that none is taken for it.
pub(crate) fn group_row_id(name: &str) -> TaskId {
    TaskId::from(format!("group {name}").as_str())
}

/// Whether a row is a group of a plan file: it can be folded, and nothing else can be done with it.
pub(crate) fn is_group_row(id: &TaskId) -> bool {
    id.as_str().starts_with("group ")
}

/// The rows of a plan without an outline, in the order in which its tasks would be started. A group stands where the first
/// of its tasks would; one that has a single task is not worth a row.
pub(crate) fn file_rows<'a>(plan: &'a Plan, order: &[TaskId]) -> Vec<PlanFileRow<'a>> {
    let mut places = task_order(plan, order);
    list_as_written(plan, &mut places);
    let mut members: HashMap<&str, Vec<usize>> = HashMap::new();
    for at in &places {
        members.entry(plan.tasks[*at].group.as_str()).or_default().push(*at);
    }
    members.retain(|name, tasks| !name.is_empty() && tasks.len() > 1);
    let mut rows = Vec::with_capacity(places.len());
    let mut given: HashSet<&str> = HashSet::new();
    for at in places {
        let name = plan.tasks[at].group.as_str();
        let Some(tasks) = members.get(name) else {
            rows.push(PlanFileRow::Task { at, grouped: false });
            continue;
        };
        if given.insert(name) {
            rows.push(PlanFileRow::Group(name));
            rows.extend(tasks.iter().map(|at| PlanFileRow::Task { at: *at, grouped: true }));
        }
    }
    rows
}

/// The places of all tasks, those that the order names first.
fn task_order(plan: &Plan, order: &[TaskId]) -> Vec<usize> {
    let index: HashMap<&TaskId, usize> =
        plan.tasks.iter().enumerate().map(|(at, task)| (&task.id, at)).collect();
    let mut given = vec![false; plan.tasks.len()];
    let ordered = order.iter().filter_map(|id| index.get(id).copied());
    ordered
        .chain(0..plan.tasks.len())
        .filter(|at| !std::mem::replace(&mut given[*at], true))
        .collect()
}

/// Puts tasks between which nothing decides, be it a link or a priority, into the order in which the file has them: by
/// their ids `step10` would come before `step2`.
fn list_as_written(plan: &Plan, places: &mut [usize]) {
    let mut start = 0;
    let mut run: HashSet<&TaskId> = HashSet::new();
    for end in 0..=places.len() {
        let next = places.get(end).map(|at| &plan.tasks[*at]);
        let belongs = next.is_some_and(|task| {
            plan.tasks[places[start]].priority == task.priority
                && !task.dependencies.iter().any(|link| run.contains(&link.task))
        });
        if !belongs {
            places[start..end].sort_unstable();
            run.clear();
            start = end;
        }
        run.extend(next.map(|task| &task.id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::TaskNode;

    #[test]
    fn tasks_between_which_nothing_decides_stand_as_the_file_has_them() {
        let ids: Vec<String> = (1..=11).map(|number| format!("step{number}")).collect();
        let named: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "")).collect();
        let mut written = plan(&named);
        written.tasks[0].dependencies.push(planwright_model::TaskLink::finish_to_start("step3"));
        written.tasks[8].priority += 1;
        let order: Vec<TaskId> = [9, 10, 11, 2, 3, 4, 5, 6, 7, 8, 1]
            .map(|number| TaskId::from(format!("step{number}").as_str()))
            .to_vec();
        let shown: Vec<usize> = file_rows(&written, &order)
            .into_iter()
            .filter_map(|row| match row {
                PlanFileRow::Task { at, .. } => Some(at + 1),
                PlanFileRow::Group(_) => None,
            })
            .collect();
        assert_eq!(shown, [9, 2, 3, 4, 5, 6, 7, 8, 10, 11, 1]);
    }

    fn plan(tasks: &[(&str, &str)]) -> Plan {
        let mut plan = crate::tests::fixture::release_plan();
        plan.tasks = tasks
            .iter()
            .map(|(id, group)| TaskNode { group: (*group).into(), ..TaskNode::new(*id, *id) })
            .collect();
        plan
    }

    #[test]
    fn a_group_stands_where_its_first_task_would() {
        let mut plan = plan(&[("a", ""), ("b1", "b"), ("c", "alone"), ("b2", "b")]);
        let task = |at, grouped| PlanFileRow::Task { at, grouped };
        assert_eq!(
            file_rows(&plan, &[]),
            [task(0, false), PlanFileRow::Group("b"), task(1, true), task(3, true), task(2, false)]
        );
        for (task, on) in [(0, "c"), (1, "b2")] {
            plan.tasks[task].dependencies.push(planwright_model::TaskLink::finish_to_start(on));
        }
        let order: Vec<TaskId> = ["b2", "c", "a", "b1"].map(TaskId::from).to_vec();
        assert_eq!(
            file_rows(&plan, &order),
            [task(2, false), PlanFileRow::Group("b"), task(3, true), task(1, true), task(0, false)]
        );
    }

    #[test]
    fn the_row_of_a_group_is_no_task() {
        assert!(is_group_row(&group_row_id("backend")));
        assert!(!is_group_row(&TaskId::from("group-a")));
    }
}
