//! Fixes for the tree (G102 to G109).

use std::collections::BTreeSet;

use super::super::PlanArtifacts;
use super::super::structure::{is_detached, is_idle, is_kind_allowed, is_misplaced, top_nodes};
use super::AppliedFix;
use super::working_copy::{PlanWorkingCopy, edit_plan};
use planwright_model::AdaptationAction::{Add, Repair};
use planwright_model::{NodeType, PatternType, PlanNode, Role, TaskId};

/// G102: uses the only top-level node, or else adds a goal with the goal's text.
pub(super) fn set_root(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let goal_text = plan.context().goal_text.clone();
    edit_plan(plan, |sketch| {
        if sketch.tree().contains(&sketch.root_id) {
            return None;
        }
        let top: Vec<TaskId> =
            top_nodes(&sketch.nodes).iter().map(|node| node.id.clone()).collect();
        match top.as_slice() {
            [only] => {
                sketch.root_id = only.clone();
                Some(AppliedFix::new(Repair, vec![only.clone()], format!("{only} is the goal")))
            }
            [] => Some(add_root(sketch, &goal_text)),
            _ => None,
        }
    })
}

fn add_root(sketch: &mut PlanWorkingCopy, goal_text: &str) -> AppliedFix {
    let base = sketch.root_id.as_str();
    let id = sketch.fresh_id(if base.is_empty() { "goal" } else { base });
    let title: String = goal_text.chars().take(PlanNode::MAX_TITLE_CHARS).collect();
    sketch.root_id = id.clone();
    sketch.nodes.insert(0, PlanNode::new_goal(id.clone(), title));
    let loose: Vec<TaskId> = sketch
        .nodes
        .iter()
        .skip(1)
        .filter(|node| node.parent_id.is_none())
        .map(|node| node.id.clone())
        .collect();
    for node in &loose {
        sketch.move_under(node, &id);
    }
    AppliedFix::new(Add, vec![id], "added the goal from its text")
}

/// G104: the root becomes the goal, lower goals become sub-goals.
pub(super) fn place_goal(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let id = id.clone();
    edit_plan(plan, |sketch| {
        let root_id = sketch.root_id.clone();
        let node = sketch.node_mut(&id).filter(|node| is_misplaced(node, &root_id))?;
        if node.id == root_id {
            (node.node_type, node.parent_id, node.level) = (NodeType::Goal, None, 1);
        } else {
            node.parent_id.as_ref()?;
            if node.node_type == NodeType::Goal {
                node.node_type = NodeType::SubGoal;
            }
        }
        sketch.recompute_levels();
        Some(AppliedFix::new(Repair, vec![id], "put the goal on top"))
    })
}

/// G105: renames the later of two nodes with the same id, and attaches detached nodes.
pub(super) fn attach_node(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.scope();
    let detached = scope.nodes.iter().any(|node| node.id == *id && is_detached(&scope, node));
    let id = id.clone();
    edit_plan(plan, |sketch| {
        let mut changed = rename_duplicates(sketch, &id);
        if detached {
            let parent = parent_for(sketch, &id)?;
            sketch.move_under(&id, &parent);
            changed.push(id);
        }
        (!changed.is_empty()).then(|| AppliedFix::new(Repair, changed, "attached to the plan"))
    })
}

fn rename_duplicates(sketch: &mut PlanWorkingCopy, id: &TaskId) -> Vec<TaskId> {
    let same = sketch.nodes.iter().enumerate().filter(|(_, node)| node.id == *id);
    let later: Vec<usize> = same.skip(1).map(|(index, _)| index).collect();
    let mut renamed = Vec::new();
    for index in later {
        let fresh = sketch.fresh_id(id.as_str());
        sketch.nodes[index].id = fresh.clone();
        renamed.push(fresh);
    }
    renamed
}

/// Returns the phase before the node, if it may contain it and is not below it; otherwise the root.
fn parent_for(sketch: &PlanWorkingCopy, id: &TaskId) -> Option<TaskId> {
    let tree = sketch.tree();
    let node = tree.get(id)?;
    let below: BTreeSet<&TaskId> = tree.subtree(id).into_iter().map(|node| &node.id).collect();
    let before = sketch.nodes.iter().take_while(|other| other.id != *id);
    let phase = before.filter(|other| other.node_type == NodeType::Phase).last();
    let fits = |phase: &&PlanNode| {
        phase.node_type.can_contain(node.node_type) && !below.contains(&phase.id)
    };
    let parent = phase.filter(fits).map(|phase| phase.id.clone());
    let root = Some(&sketch.root_id).filter(|root| tree.contains(root) && !below.contains(root));
    parent.or_else(|| root.cloned())
}

/// G107: recomputes levels and positions from the root.
pub(super) fn fix_levels(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let id = id.clone();
    edit_plan(plan, |sketch| {
        let before = sketch.nodes.clone();
        sketch.recompute_levels();
        (before != sketch.nodes)
            .then(|| AppliedFix::new(Repair, vec![id], "recomputed levels and positions"))
    })
}

/// Returns the kinds that a misplaced kind is converted to, nearest first. Nothing becomes a cycle: that needs a
/// cadence.
fn fallback_kinds(kind: NodeType) -> &'static [NodeType] {
    use NodeType::{Cycle, Goal, MicroGoal, Phase, SubGoal, SubTask, Task};
    match kind {
        Goal | Phase | Cycle => &[SubGoal, Task, SubTask, MicroGoal],
        SubGoal => &[Task, SubTask, MicroGoal],
        Task => &[SubTask, MicroGoal],
        SubTask => &[Task, MicroGoal],
        MicroGoal => &[Task, SubTask],
    }
}

/// G108: converts to the nearest allowed kind. Children of a micro-goal, which cannot have any, become its siblings.
pub(super) fn convert_kind(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.scope();
    let node = scope.tree.get(id).filter(|node| !is_kind_allowed(&scope, node))?;
    let parent = scope.tree.parent(node)?;
    let above = scope.tree.parent(parent).map(|above| above.id.clone());
    let stand_in =
        fallback_kinds(node.node_type).iter().find(|kind| parent.node_type.can_contain(**kind));
    let (id, stand_in) = (id.clone(), stand_in.copied());
    edit_plan(plan, |sketch| {
        let what = if let Some(kind) = stand_in {
            sketch.node_mut(&id)?.node_type = kind;
            format!("turned into a {}", kind.as_str())
        } else {
            sketch.move_under(&id, &above?);
            "moved up beside its parent".to_owned()
        };
        Some(AppliedFix::new(Repair, vec![id], what))
    })
}

/// G109: adds an action. A container that contains containers is skipped, because actions are added to those.
pub(super) fn add_action(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.scope();
    let node = scope.tree.get(id).filter(|node| is_idle(&scope, node))?;
    let holds_container = scope.tree.children(id).any(|child| child.node_type.is_container());
    if holds_container || !node.node_type.can_contain(NodeType::Task) {
        return None;
    }
    let arc = scope
        .pattern
        .as_ref()
        .is_some_and(|spec| spec.pattern_type == PatternType::ProgressiveAccumulationArc);
    let title = format!("Work on {}", super::super::artifacts::display_title(node));
    let id = id.clone();
    edit_plan(plan, |sketch| {
        let task = sketch.add_node(&id, NodeType::Task, &format!("{id}.t1"), &title)?;
        let estimated = sketch.estimated;
        let node = sketch.node_mut(&task)?;
        "There is a result to show.".clone_into(&mut node.done_when);
        node.estimate_minutes = estimated.then_some(60);
        if arc {
            node.role = Role::Practice;
        }
        Some(AppliedFix::new(Add, vec![task], "added something to do"))
    })
}
