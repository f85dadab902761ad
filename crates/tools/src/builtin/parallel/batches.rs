//! Which subtasks may run together: edges are checked for range and cycles before anything starts.

use std::collections::{BTreeMap, BTreeSet};

use crate::tool::{ToolError, ToolErrorCode};
use planwright_model::TaskNode;
use planwright_plan::graph::infer;

/// The lowest confidence at which an edge suggested by a model is kept.
const MIN_CONFIDENCE: f64 = 0.6;

/// For each subtask, the positions of its dependencies.
pub(super) type SubtaskDependencies = Vec<BTreeSet<usize>>;

/// Parses the dependencies of a call. Every position is checked; a cycle is named in the error.
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

/// The subtasks in batches, each of which depends only on earlier ones.
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

/// One cycle among the remaining tasks, as `0 -> 2 -> 0`.
fn describe_cycle(needs: &SubtaskDependencies, done: &BTreeSet<usize>) -> String {
    let open_dependency =
        |task: usize| needs[task].iter().copied().find(|other| !done.contains(other));
    let Some(start) = (0..needs.len()).find(|task| !done.contains(task)) else {
        return String::new();
    };
    let mut path = vec![start];
    while let Some(next) = path.last().and_then(|last| open_dependency(*last)) {
        if let Some(at) = path.iter().position(|task| *task == next) {
            path.drain(..at);
            path.push(next);
            break;
        }
        path.push(next);
    }
    path.iter().map(ToString::to_string).collect::<Vec<_>>().join(" -> ")
}

/// Edges suggested by the descriptions of the tasks (section 8.8), with their reasons.
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

/// Accepts a model's edges that have enough confidence and create no cycle, best first.
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
