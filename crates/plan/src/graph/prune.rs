//! Removes invalid links: to unknown tasks, to the task itself, or stated twice.

use std::collections::HashSet;

use super::id_table::{IdSignature, IdTable};
use planwright_model::{NormalizationChange, TaskLink, TaskNode};
use planwright_text::nearest_name;

/// How many missing ids get a suggestion. A file with more of them does not merely contain typos.
const SUGGESTIONS: usize = 20;

/// Prunes the links of tasks and reports each one, with the nearest id if there is one.
pub fn prune_missing(tasks: &mut [TaskNode]) -> Vec<NormalizationChange> {
    let mut report = Vec::new();
    let known: Vec<bool> = known_links(tasks);
    let mut next = known.into_iter();
    let mut missing: Vec<(usize, TaskLink)> = Vec::new();
    for (index, task) in tasks.iter_mut().enumerate() {
        let own = task.id.clone();
        let mut seen = HashSet::new();
        task.dependencies.retain(|link| {
            let known = next.next().unwrap_or(false);
            let entry = |code: &str, detail: String| NormalizationChange {
                code: code.to_owned(),
                task_id: Some(own.clone()),
                detail,
            };
            if link.task == own {
                report.push(entry("self_dependency", format!("{own} cannot wait for itself")));
            } else if !known {
                missing.push((index, link.clone()));
            } else if !seen.insert((link.task.clone(), link.kind)) {
                report.push(entry(
                    "dependency_repeated",
                    format!("the link to {} is stated twice", link.task),
                ));
            } else {
                return true;
            }
            false
        });
    }
    report.extend(missing.iter().enumerate().map(|(position, (index, link))| {
        let near = (position < SUGGESTIONS)
            .then(|| {
                // A link to the task itself would be no repair.
                let others = tasks.iter().filter(|task| task.id != tasks[*index].id);
                nearest_name(link.task.as_str(), others.map(|task| task.id.as_str()))
            })
            .flatten();
        NormalizationChange {
            code: "dependency_missing".to_owned(),
            task_id: Some(tasks[*index].id.clone()),
            detail: missing_detail(link.task.as_str(), near),
        }
    }));
    report
}

/// Describes a pruned link, for reports and the approval card.
fn missing_detail(id: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("there is no task {id}; the nearest is {near}"),
        None => format!("there is no task {id}"),
    }
}

/// Returns for every link in order whether it refers to a task of the list.
fn known_links(tasks: &[TaskNode]) -> Vec<bool> {
    let id_at = |index: usize| tasks[index].id.as_str();
    let mut ids = IdTable::with_capacity(tasks.len());
    for task in tasks {
        ids.push(task.id.as_str(), IdSignature::from_id(task.id.as_str()), id_at);
    }
    let links = tasks.iter().flat_map(|task| &task.dependencies);
    links
        .map(|link| link.task.as_str())
        .map(|id| ids.get(id, IdSignature::from_id(id), id_at).is_some())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_links_are_pruned_and_reported() {
        let mut tasks = [TaskNode::new("build", "x"), TaskNode::new("docs", "x")];
        tasks[1].dependencies =
            ["biuld", "docs", "build", "build", "elsewhere"].map(TaskLink::finish_to_start).into();
        let report = prune_missing(&mut tasks);
        let entries: Vec<_> =
            report.iter().map(|entry| (entry.code.as_str(), entry.detail.as_str())).collect();
        assert_eq!(
            entries,
            [
                ("self_dependency", "docs cannot wait for itself"),
                ("dependency_repeated", "the link to build is stated twice"),
                ("dependency_missing", "there is no task biuld; the nearest is build"),
                ("dependency_missing", "there is no task elsewhere"),
            ]
        );
        assert_eq!(tasks[1].dependencies, [TaskLink::finish_to_start("build")]);
        assert!(prune_missing(&mut tasks).is_empty());
    }
}
