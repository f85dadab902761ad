//! Fixes for the structure of projects and arcs (G211, G212, G231 to G233).

use super::super::PlanArtifacts;
use super::super::artifacts::RuleScope;
use super::super::shapes::{
    are_chained, finish_marker, has_practice, is_unordered_project, lacks_horizon, last_part,
    load_jumps, phase_intensity,
};
use super::AppliedFix;
use super::working_copy::{PlanWorkingCopy, edit_plan};
use planwright_model::AdaptationAction::{Add, Move, ReEstimate, Relink};
use planwright_model::{Assumption, AssumptionOrigin, NodeType, PlanNode, Role, TaskId};

pub(super) fn collect_ids(nodes: &[&PlanNode]) -> Vec<TaskId> {
    nodes.iter().map(|node| node.id.clone()).collect()
}

/// G211: ensures at least two phases, and no cycle next to them.
pub(super) fn order_project(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let scope = plan.scope();
    if !is_unordered_project(&scope) {
        return None;
    }
    let cycles = collect_ids(&scope.root_children(NodeType::Cycle));
    edit_plan(plan, |sketch| {
        let mut changed = split_into_phases(sketch)?;
        for cycle in cycles {
            let phase = phase_before(sketch, &cycle)?;
            sketch.move_under(&cycle, &phase);
            changed.push(cycle);
        }
        Some(AppliedFix::new(Move, changed, "ordered the project in phases"))
    })
}

fn top_phases(sketch: &PlanWorkingCopy) -> Vec<TaskId> {
    let tree = sketch.tree();
    let phases = tree.children(&sketch.root_id).filter(|node| node.node_type == NodeType::Phase);
    phases.map(|node| node.id.clone()).collect()
}

/// Returns the phase before a child of the root, or else the first.
fn phase_before(sketch: &PlanWorkingCopy, id: &TaskId) -> Option<TaskId> {
    let tree = sketch.tree();
    let before = tree.children(&sketch.root_id).take_while(|node| node.id != *id);
    let phase = before.filter(|node| node.node_type == NodeType::Phase).last();
    phase.map(|node| node.id.clone()).or_else(|| top_phases(sketch).into_iter().next())
}

/// Gives the root two phases if it has fewer, split at the first deliverable, or else in the middle.
fn split_into_phases(sketch: &mut PlanWorkingCopy) -> Option<Vec<TaskId>> {
    let phases = top_phases(sketch);
    if phases.len() >= 2 {
        return Some(Vec::new());
    }
    let root = sketch.root_id.clone();
    let mut changed = Vec::new();
    let first = if let Some(first) = phases.into_iter().next() {
        first
    } else {
        let first = add_first_phase(sketch, &root)?;
        changed.push(first.clone());
        first
    };
    let second = sketch.add_node(&root, NodeType::Phase, &format!("{root}.p2"), "Finish")?;
    let tree = sketch.tree();
    let parts: Vec<&PlanNode> = tree.children(&first).collect();
    let deliverable =
        parts.iter().position(|node| node.role == Role::Deliverable || node.milestone);
    let cut = deliverable.map_or(parts.len().div_ceil(2), |place| place + 1);
    let later: Vec<TaskId> = collect_ids(parts.get(cut..).unwrap_or_default());
    for id in &later {
        sketch.move_under(id, &second);
    }
    if later.is_empty() {
        add_task(sketch, &second, "Check the result", Role::Review)?;
    }
    // The last phase is inserted before the node that marks the finish.
    let marker = finish_marker_position(sketch);
    if let (Some(marker), Some(place)) =
        (marker, sketch.nodes.iter().position(|node| node.id == second))
    {
        let position = sketch.nodes[place].position;
        sketch.nodes[place].position = sketch.nodes[marker].position;
        sketch.nodes[marker].position = position;
    }
    sketch.link_nodes(&first, &second);
    changed.push(second);
    Some(changed)
}

/// Adds a phase for the root's direct children, except those that run alongside the work.
fn add_first_phase(sketch: &mut PlanWorkingCopy, root: &TaskId) -> Option<TaskId> {
    let first = sketch.add_node(root, NodeType::Phase, &format!("{root}.p1"), "Prepare")?;
    let tree = sketch.tree();
    let inside = tree.children(root).filter(|node| {
        let aside = node.milestone || node.role.is_retrospective();
        NodeType::Phase.can_contain(node.node_type) && !aside
    });
    let inside: Vec<TaskId> = inside.map(|node| node.id.clone()).collect();
    for id in &inside {
        sketch.move_under(id, &first);
    }
    Some(first)
}

fn finish_marker_position(sketch: &PlanWorkingCopy) -> Option<usize> {
    let root = Some(&sketch.root_id);
    sketch.nodes.iter().rposition(|node| node.milestone && node.parent_id.as_ref() == root)
}

pub(super) fn add_task(
    sketch: &mut PlanWorkingCopy,
    parent: &TaskId,
    title: &str,
    role: Role,
) -> Option<TaskId> {
    let id = sketch.add_node(parent, NodeType::Task, &format!("{parent}.t1"), title)?;
    let estimate = sketch.estimated.then_some(60);
    let node = sketch.node_mut(&id)?;
    node.role = role;
    node.estimate_minutes = estimate;
    "There is a result to show.".clone_into(&mut node.done_when);
    Some(id)
}

/// Returns the number of weeks that a template assumes if none is stated.
fn template_weeks(scope: &RuleScope<'_>) -> u16 {
    match scope.pattern.as_ref().and_then(|spec| spec.subtype.as_deref()) {
        Some("launch") => 6,
        Some("migration") => 10,
        Some("quick") => 1,
        _ => 8,
    }
}

/// G212: adds a milestone after the last phase, and a horizon.
pub(super) fn define_finish(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let scope = plan.scope();
    let (unmarked, endless) = (finish_marker(&scope).is_none(), lacks_horizon(&scope));
    let weeks = template_weeks(&scope);
    let last = last_part(&scope).map(|node| node.id.clone());
    let root = scope.root_id.clone();
    let loose = scope.tree.children(&root).filter(|node| node.milestone).last();
    let loose = loose.map(|node| node.id.clone());
    let goal = scope.tree.get(&root).map(super::super::artifacts::display_title)?;
    let mut changed = Vec::new();
    if unmarked {
        changed.push(edit_plan(plan, |sketch| mark_finish(sketch, &goal, last.as_ref()?, loose))?);
    }
    if endless {
        assume_horizon(plan, weeks);
    }
    (unmarked || endless).then(|| AppliedFix::new(Add, changed, "defined the finish"))
}

fn mark_finish(
    sketch: &mut PlanWorkingCopy,
    goal: &str,
    last: &TaskId,
    loose: Option<TaskId>,
) -> Option<TaskId> {
    let root = sketch.root_id.clone();
    let id = match loose {
        Some(id) => id,
        None => sketch.add_node(
            &root,
            NodeType::Task,
            &format!("{root}.done"),
            &format!("{goal} done"),
        )?,
    };
    let position = sketch.next_position(&root, &sketch.tree().get(&id)?.stream.clone());
    let node = sketch.node_mut(&id)?;
    node.milestone = true;
    node.position = position;
    if node.done_when.is_empty() {
        "Every phase is finished.".clone_into(&mut node.done_when);
    }
    sketch.link_nodes(last, &id);
    Some(id)
}

fn assume_horizon(plan: &mut PlanArtifacts, weeks: u16) {
    let context = &mut plan.outline.plan_context;
    context.constraints.horizon_weeks = Some(weeks);
    context.assumptions.retain(|assumption| assumption.key != "horizon_weeks");
    context.assumptions.push(Assumption {
        key: "horizon_weeks".to_owned(),
        value: weeks.to_string(),
        origin: AssumptionOrigin::Template,
        question: Some("How many weeks do you have?".to_owned()),
    });
}

/// G231: chains phases finish to start, none easier than the previous one except the last.
pub(super) fn chain_phases(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let mut changed = edit_plan(plan, split_into_phases).unwrap_or_default();
    let scope = plan.scope();
    let phases = scope.root_children(NodeType::Phase);
    let pairs: Vec<(TaskId, TaskId)> = phases
        .windows(2)
        .filter(|pair| scope.links.is_some() && !are_chained(&scope, pair[0], pair[1]))
        .map(|pair| (pair[0].id.clone(), pair[1].id.clone()))
        .collect();
    let mut least = 1;
    let mut raised: Vec<(TaskId, u8)> = Vec::new();
    for phase in phases.split_last().map_or(&[][..], |(_, before)| before) {
        let own = phase_intensity(&scope, phase);
        if own < least {
            let leaves = scope.tree.leaves(&phase.id);
            raised.extend(leaves.iter().map(|leaf| (leaf.id.clone(), least)));
        }
        least = least.max(own);
    }
    edit_plan(plan, |sketch| {
        for (from, to) in &pairs {
            sketch.link_nodes(from, to);
            changed.extend([from.clone(), to.clone()]);
        }
        for (id, level) in raised {
            sketch.node_mut(&id)?.intensity = level;
            changed.push(id);
        }
        (!changed.is_empty()).then(|| AppliedFix::new(Relink, changed, "chained the phases"))
    })
}

/// G232: adds a practice task that takes 40 % of the phase, reducing the rest.
pub(super) fn add_practice(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.scope();
    let phase = scope.tree.get(id).filter(|phase| !has_practice(&scope, phase))?;
    if !phase.node_type.can_contain(NodeType::Task) {
        return None;
    }
    let title = format!("Practise {}", super::super::artifacts::display_title(phase));
    let id = id.clone();
    edit_plan(plan, |sketch| {
        let leaves: Vec<TaskId> = collect_ids(&sketch.tree().leaves(&id));
        let total = sketch.tree().total_minutes(&id);
        let mut left = 0_u32;
        for leaf in leaves.iter().filter(|leaf| **leaf != id) {
            if let Some(minutes) =
                sketch.node_mut(leaf)?.estimate_minutes.as_mut().filter(|one| **one > 0)
            {
                *minutes = (*minutes / 25 * 15 + *minutes % 25 * 3 / 5).max(1);
                left = left.saturating_add(*minutes);
            }
        }
        let practice = add_task(sketch, &id, &title, Role::Practice)?;
        let minutes = total.saturating_sub(left);
        if minutes > 0 {
            sketch.node_mut(&practice)?.estimate_minutes = Some(minutes);
        }
        Some(AppliedFix::new(Add, vec![practice], "added practice"))
    })
}

/// G233: limits the first week that grows too fast, in steps of 5 minutes.
pub(super) fn cap_growth(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let scope = plan.scope();
    let jumps = load_jumps(&scope);
    let jump = jumps.first()?;
    let load = u64::from(
        jump.leaves.iter().fold(0_u32, |sum, leaf| sum.saturating_add(leaf.work_minutes())),
    );
    let limit = u64::from(jump.limit);
    let cut: Vec<(TaskId, u32)> = jump
        .leaves
        .iter()
        .map(|leaf| {
            let minutes = u64::from(leaf.work_minutes()) * limit / load.max(1);
            (leaf.id.clone(), u32::try_from(minutes).unwrap_or(u32::MAX).max(1))
        })
        .map(|(id, minutes)| (id, if minutes > 5 { minutes / 5 * 5 } else { minutes }))
        .collect();
    edit_plan(plan, |sketch| {
        for (id, minutes) in &cut {
            sketch.node_mut(id)?.estimate_minutes = Some(*minutes);
        }
        let ids = cut.into_iter().map(|(id, _)| id).collect();
        Some(AppliedFix::new(ReEstimate, ids, "capped the growth at 10 %"))
    })
}
