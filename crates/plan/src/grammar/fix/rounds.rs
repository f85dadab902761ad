//! Fixes for the structure of routines, rounds and transformations (G221, G241, G251).

use super::super::PlanArtifacts;
use super::super::shapes::{
    cycle_nodes, rounds_without_result, streams_without_sub_goal, work_streams,
};
use super::AppliedFix;
use super::shapes::{add_task, collect_ids};
use super::working_copy::{PlanWorkingCopy, edit_plan};
use planwright_model::AdaptationAction::{Add, Repair};
use planwright_model::{NodeType, Recurrence, RecurrenceFrequency, Role, TaskId};

/// Returns the cadence given by the roadmap's context or an assumption; weekly if there is none.
fn stated_cadence(plan: &PlanArtifacts) -> Recurrence {
    let stated = plan.roadmap.as_ref().and_then(|roadmap| roadmap.context.cadence.clone());
    let assumed =
        || plan.context().find_assumption("cadence").map(|assumption| assumption.value.clone());
    let text = stated.or_else(assumed).unwrap_or_default().to_lowercase();
    let words = [
        (["daily", "day"], RecurrenceFrequency::Daily),
        (["monthly", "month"], RecurrenceFrequency::Monthly),
        (["quarterly", "quarter"], RecurrenceFrequency::Quarterly),
        (["yearly", "year"], RecurrenceFrequency::Yearly),
    ];
    let hit = words.iter().find(|(names, _)| names.iter().any(|name| text.contains(name)));
    Recurrence::every(hit.map_or(RecurrenceFrequency::Weekly, |(_, freq)| *freq))
}

/// G221: turns phases into tasks, all in one recurring cycle.
pub(super) fn make_routine(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let rhythm = stated_cadence(plan);
    let scope = plan.scope();
    let has_cycle = cycle_nodes(&scope).first().map(|node| node.id.clone());
    let repeating = cycle_nodes(&scope).iter().any(|cycle| cycle.recurrence.is_some());
    edit_plan(plan, |sketch| {
        let mut changed = flatten_phases(sketch);
        let root = sketch.root_id.clone();
        let cycle = match has_cycle {
            Some(cycle) => cycle,
            None => add_cycle(sketch, &root, &mut changed)?,
        };
        if !repeating {
            sketch.node_mut(&cycle)?.recurrence = Some(rhythm);
            changed.push(cycle);
        }
        (!changed.is_empty())
            .then(|| AppliedFix::new(Repair, changed, "made it one repeating cycle"))
    })
}

fn flatten_phases(sketch: &mut PlanWorkingCopy) -> Vec<TaskId> {
    let mut changed = Vec::new();
    for node in sketch.nodes.iter_mut().filter(|node| node.node_type == NodeType::Phase) {
        node.node_type = NodeType::Task;
        changed.push(node.id.clone());
    }
    for node in &mut sketch.nodes {
        let below = node.parent_id.as_ref().is_some_and(|parent| changed.contains(parent));
        if below && node.node_type == NodeType::Task {
            node.node_type = NodeType::SubTask;
        }
    }
    changed
}

fn add_cycle(
    sketch: &mut PlanWorkingCopy,
    root: &TaskId,
    changed: &mut Vec<TaskId>,
) -> Option<TaskId> {
    let tree = sketch.tree();
    let tasks = tree.children(root).filter(|node| {
        matches!(node.node_type, NodeType::Task | NodeType::SubGoal)
            && node.recurrence.is_none()
            && !node.milestone
    });
    let tasks: Vec<TaskId> = tasks.map(|node| node.id.clone()).collect();
    let title = tree.get(root)?.title.clone();
    let cycle = sketch.add_node(
        root,
        NodeType::Cycle,
        &format!("{root}.c1"),
        &format!("Each round of {title}"),
    )?;
    for task in &tasks {
        sketch.move_under(task, &cycle);
    }
    changed.extend(tasks);
    Some(cycle)
}

/// G241: adds stages and a result to every round.
pub(super) fn complete_rounds(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let rhythm = stated_cadence(plan);
    let scope = plan.scope();
    let none = cycle_nodes(&scope).is_empty();
    let mut lacking = collect_ids(&rounds_without_result(&scope));
    edit_plan(plan, |sketch| {
        let mut changed = Vec::new();
        if none {
            let root = sketch.root_id.clone();
            let cycle = add_cycle(sketch, &root, &mut changed)?;
            sketch.node_mut(&cycle)?.recurrence = Some(rhythm);
            lacking.push(cycle);
        }
        for cycle in &lacking {
            complete_round(sketch, cycle)?;
        }
        changed.extend(lacking);
        (!changed.is_empty())
            .then(|| AppliedFix::new(Add, changed, "gave each round stages and a result"))
    })
}

fn complete_round(sketch: &mut PlanWorkingCopy, cycle: &TaskId) -> Option<()> {
    let tree = sketch.tree();
    let phases = tree.children(cycle).filter(|node| node.node_type == NodeType::Phase);
    let mut phases = collect_ids(&phases.collect::<Vec<_>>());
    let has_result = tree.subtree(cycle).iter().any(|node| node.role == Role::Deliverable);
    if phases.len() < 2 {
        let loose = tree
            .children(cycle)
            .filter(|node| matches!(node.node_type, NodeType::Task | NodeType::SubGoal));
        let loose: Vec<TaskId> = collect_ids(&loose.collect::<Vec<_>>());
        let stages = [
            ("Plan", Role::Work),
            ("Build", Role::Work),
            ("Ship", Role::Work),
            ("Reflect", Role::Reflection),
        ];
        let mut added = Vec::new();
        for (name, role) in stages {
            let phase = sketch.add_node(
                cycle,
                NodeType::Phase,
                &format!("{cycle}.{}", name.to_lowercase()),
                name,
            )?;
            if name == "Build" && !loose.is_empty() {
                for task in &loose {
                    sketch.move_under(task, &phase);
                }
            } else {
                add_task(sketch, &phase, &format!("{name} this round"), role)?;
            }
            added.push(phase);
        }
        added.windows(2).for_each(|pair| sketch.link_nodes(&pair[0], &pair[1]));
        phases = added;
    }
    if !has_result {
        let ship = phases.len().checked_sub(2).and_then(|index| phases.get(index))?;
        let id = sketch.add_node(
            ship,
            NodeType::Task,
            &format!("{ship}.result"),
            "Result of this round",
        )?;
        let node = sketch.node_mut(&id)?;
        (node.role, node.milestone) = (Role::Deliverable, true);
        "The result is out.".clone_into(&mut node.done_when);
    }
    Some(())
}

/// G251: adds a sub-goal to every stream, and ensures at least two streams.
pub(super) fn add_streams(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let scope = plan.scope();
    let names: Vec<String> = work_streams(&scope).keys().map(|name| (*name).to_owned()).collect();
    let bare: Vec<(TaskId, String, bool)> = streams_without_sub_goal(&scope)
        .iter()
        .map(|node| {
            (node.id.clone(), node.stream.clone(), node.node_type.can_contain(NodeType::SubGoal))
        })
        .collect();
    edit_plan(plan, |sketch| {
        let root = sketch.root_id.clone();
        let mut changed = Vec::new();
        for (id, stream, holds) in bare {
            changed.push(if holds {
                add_sub_goal(sketch, &id, None)?
            } else {
                wrap_in_sub_goal(sketch, &root, &id, &stream)?
            });
        }
        if names.len() < 2 {
            for name in ["Capability", "Transition"] {
                if !names.iter().any(|own| own.eq_ignore_ascii_case(name)) {
                    changed.push(add_sub_goal(sketch, &root, Some(name))?);
                }
            }
        }
        (!changed.is_empty()).then(|| AppliedFix::new(Add, changed, "gave it parallel streams"))
    })
}

fn add_sub_goal(
    sketch: &mut PlanWorkingCopy,
    parent: &TaskId,
    stream: Option<&str>,
) -> Option<TaskId> {
    let title =
        stream.map_or_else(|| "First result".to_owned(), |name| format!("{name}: first result"));
    let base = format!("{parent}.{}", stream.unwrap_or("s1").to_lowercase());
    let id = sketch.add_node(parent, NodeType::SubGoal, &base, &title)?;
    if let Some(stream) = stream {
        sketch.node_mut(&id)?.stream = stream.to_lowercase();
    }
    add_task(sketch, &id, "Take the first step", Role::Work)?;
    Some(id)
}

/// Moves a bare task of a stream into a sub-goal of the same stream.
fn wrap_in_sub_goal(
    sketch: &mut PlanWorkingCopy,
    root: &TaskId,
    id: &TaskId,
    stream: &str,
) -> Option<TaskId> {
    let title = sketch.tree().get(id)?.title.clone();
    let goal = sketch.add_node(root, NodeType::SubGoal, &format!("{id}.goal"), &title)?;
    stream.clone_into(&mut sketch.node_mut(&goal)?.stream);
    sketch.move_under(id, &goal);
    Some(goal)
}
