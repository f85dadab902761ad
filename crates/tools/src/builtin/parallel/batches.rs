//! Which subtasks may run together: edges checked for range and loops before anything starts.

use std::collections::{BTreeMap, BTreeSet};

use crate::tool::{ToolError, ToolErrorCode};
use planwright_model::TaskNode;
use planwright_plan::graph::infer;

/// The confidence from which a model's edge is kept.
const MIN_CONFIDENCE: f64 = 0.6;

/// For each subtask, the positions of those it waits for.
pub(super) type SubtaskDependencies = Vec<BTreeSet<usize>>;

/// Reads the dependencies of a call. Every position is checked; a loop is named.
pub(super) fn parse_dependencies(
    count: usize,
    dependencies: &BTreeMap<String, Vec<usize>>,
) -> Result<SubtaskDependencies, ToolError> {
    let bad = |message: String| ToolError::new(ToolErrorCode::BadArgs, message);
    let mut needs = vec![BTreeSet::new(); count];
    for (position, on) in dependencies {
        let task: usize = position.parse().ok().filter(|task| *task < count).ok_or_else(|| {
            bad(format!("`dependencies` names task {position}; there are 0 to {}", count - 1))
        })?;
        for other in on {
            if *other >= count {
                return Err(bad(format!(
                    "task {task} depends on {other}; there are 0 to {}",
                    count - 1
                )));
            }
            needs[task].insert(*other);
        }
    }
    dependency_batches(&needs)?;
    Ok(needs)
}

/// The subtasks in batches, each batch depending on earlier ones only.
pub(super) fn dependency_batches(
    needs: &SubtaskDependencies,
) -> Result<Vec<Vec<usize>>, ToolError> {
    let mut done: BTreeSet<usize> = BTreeSet::new();
    let mut found = Vec::new();
    while done.len() < needs.len() {
        let ready: Vec<usize> = (0..needs.len())
            .filter(|task| !done.contains(task) && needs[*task].is_subset(&done))
            .collect();
        if ready.is_empty() {
            let path = describe_cycle(needs, &done);
            return Err(ToolError::new(
                ToolErrorCode::Cycle,
                format!("the tasks wait for each other: {path}"),
            ));
        }
        done.extend(&ready);
        found.push(ready);
    }
    Ok(found)
}

/// One loop among the tasks that are left, as `0 -> 2 -> 0`.
fn describe_cycle(needs: &SubtaskDependencies, done: &BTreeSet<usize>) -> String {
    let left = |task: usize| needs[task].iter().copied().find(|other| !done.contains(other));
    let Some(start) = (0..needs.len()).find(|task| !done.contains(task)) else {
        return String::new();
    };
    let mut path = vec![start];
    while let Some(next) = path.last().and_then(|last| left(*last)) {
        if let Some(at) = path.iter().position(|task| *task == next) {
            path.drain(..at);
            path.push(next);
            break;
        }
        path.push(next);
    }
    path.iter().map(ToString::to_string).collect::<Vec<_>>().join(" -> ")
}

/// Edges that the words of the tasks suggest (section 8.8), with their reasons.
pub fn infer_edges(descriptions: &[String]) -> Vec<(usize, usize, String)> {
    let tasks: Vec<TaskNode> = descriptions
        .iter()
        .enumerate()
        .map(|(position, text)| TaskNode::new(format!("{position}").as_str(), text.clone()))
        .collect();
    infer::infer_links(&tasks)
        .into_iter()
        .filter_map(|suggestion| {
            let to = suggestion.successor.as_str().parse().ok()?;
            let from = suggestion.link.task.as_str().parse().ok()?;
            Some((from, to, suggestion.reasons.join("; ")))
        })
        .collect()
}

/// Takes a model's edges that it is sure of and that close no loop, best first.
pub(super) fn accept_edges(
    count: usize,
    mut edges: Vec<(usize, usize, f64)>,
) -> Vec<(usize, usize, String)> {
    edges.retain(|(from, to, sure)| {
        *from < count && *to < count && from != to && *sure >= MIN_CONFIDENCE
    });
    edges.sort_by(|one, other| {
        other.2.total_cmp(&one.2).then((one.1, one.0).cmp(&(other.1, other.0)))
    });
    let mut needs: SubtaskDependencies = vec![BTreeSet::new(); count];
    let mut kept = Vec::new();
    for (from, to, sure) in edges {
        if needs[to].insert(from) {
            if dependency_batches(&needs).is_ok() {
                kept.push((from, to, format!("the model is {sure:.2} sure")));
            } else {
                needs[to].remove(&from);
            }
        }
    }
    kept
}
