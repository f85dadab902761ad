//! Tasks that several agents try: each try becomes a task of its own, and the task picks one of their results.

use std::collections::HashSet;

use super::decoder::PlanFileDecoder;
use super::task::LocatedTask;
use planwright_model::{
    AgentRun, Plan, RunCondition, RunKind, Severity, TaskId, TaskLink, TaskNode, Violation,
    agent_title,
};

/// The most agents that may try one task.
pub(super) const MOST_CANDIDATES: usize = 5;

/// Puts the tries of each task before it. The task itself then waits for them and takes no time of its own.
pub(super) fn expand_candidates(
    decoder: &mut PlanFileDecoder<'_>,
    placed: Vec<LocatedTask>,
) -> Vec<LocatedTask> {
    if !placed.iter().any(|placed| placed.task.run.is_pick()) {
        return placed;
    }
    let mut taken: HashSet<TaskId> = placed.iter().map(|placed| placed.task.id.clone()).collect();
    let mut expanded = Vec::with_capacity(placed.len());
    for mut pick in placed {
        let RunKind::Agent(AgentRun { best_of, .. }) = &pick.task.run else {
            expanded.push(pick);
            continue;
        };
        let mut tries = Vec::new();
        for (number, agent) in best_of.iter().enumerate() {
            let earlier = best_of[..number].iter().filter(|other| *other == agent).count();
            let task = candidate_task(&pick.task, agent, earlier + 1);
            if !taken.insert(task.id.clone()) {
                report_taken_id(decoder, &pick, &task.id);
            }
            let (links, resources) = (pick.links.clone(), pick.resources.clone());
            tries.push(LocatedTask {
                task,
                at: pick.at,
                links,
                resources,
                places: pick.places.clone(),
            });
        }
        if !tries.is_empty() {
            pick.resources.clear();
            let link =
                |one: &LocatedTask| (TaskLink::finish_to_start(one.task.id.clone()), pick.at);
            pick.links = tries.iter().map(link).collect();
            wait_for_candidates(&mut pick.task, pick.links.iter().map(|(link, _)| link.clone()));
        }
        expanded.extend(tries);
        expanded.push(pick);
    }
    expanded
}

/// One try at a task. A second one of the same agent has a number.
fn candidate_task(pick: &TaskNode, agent: &str, number: usize) -> TaskNode {
    let (suffix, counted) = match number {
        1 => (String::new(), String::new()),
        number => (format!("-{number}"), format!(", try {number}")),
    };
    let run = AgentRun { candidate_of: Some(pick.id.clone()), ..AgentRun::with_agent(agent) };
    TaskNode {
        id: TaskId::from(format!("{}.{agent}{suffix}", pick.id)),
        description: format!("{} ({}{counted})", pick.description, agent_title(agent)),
        run: RunKind::Agent(run),
        // One that fails leaves the choice to the others.
        continue_on_error: true,
        ..pick.clone()
    }
}

/// What is about doing the work is said of the tries.
fn wait_for_candidates(pick: &mut TaskNode, links: impl Iterator<Item = TaskLink>) {
    pick.dependencies = links.collect();
    pick.resources.clear();
    pick.duration_minutes = pick.duration_minutes.map(|_| 0);
    (pick.timeout_seconds, pick.when) = (None, RunCondition::Success);
    pick.options.run_if.clear();
    (pick.fixed_start, pick.not_before, pick.at_scheduled_time) = (None, None, false);
}

fn report_taken_id(decoder: &mut PlanFileDecoder<'_>, pick: &LocatedTask, id: &TaskId) {
    let message =
        format!("the id `{id}` is needed for a try at `{}`, and another task has it", pick.task.id);
    let fix = format!("Rename the other task `{id}`.");
    let violation = Violation::new("duplicate_id", Severity::Fatal, message, fix);
    decoder.report_violation(violation.with_nodes([id.clone()]), pick.place("run"));
}

/// The tasks of a plan as a file has them: a task with its tries is one task again.
pub(super) fn collapse_candidates(plan: &Plan) -> Vec<TaskNode> {
    let is_pick = |id: &TaskId| plan.tasks.iter().any(|task| task.id == *id && task.run.is_pick());
    let own_try = |task: &TaskNode| task.run.candidate_of().is_some_and(is_pick);
    let stated = plan.tasks.iter().filter(|task| !own_try(task));
    stated.map(|task| collapse_task(plan, task)).collect()
}

fn collapse_task(plan: &Plan, task: &TaskNode) -> TaskNode {
    let tries = |other: &&TaskNode| other.run.candidate_of() == Some(&task.id);
    match plan.tasks.iter().find(tries) {
        Some(first) if task.run.is_pick() => TaskNode {
            id: task.id.clone(),
            description: task.description.clone(),
            run: task.run.clone(),
            continue_on_error: task.continue_on_error,
            ..first.clone()
        },
        _ => task.clone(),
    }
}
