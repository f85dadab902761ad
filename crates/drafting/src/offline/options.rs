//! The approaches to a plan that are compared: balanced, lean and thorough.

use planwright_model::{
    NodeTree, NodeType, PlanContext, PlanNode, Risk, RoadmapOption, Role, TaskId,
};

use planwright_text::units::format_planned;

use super::blueprint::{Blueprint, BlueprintInputs, BlueprintLink, BlueprintWeight};
use super::template::TemplateSizing;

/// An approach to the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanApproach {
    /// As defined by the template.
    Balanced,
    /// Without optional tasks, three quarters of the effort.
    Lean,
    /// With a check in every phase, a quarter more effort.
    Thorough,
}

impl PlanApproach {
    pub const ALL: [Self; 3] = [Self::Balanced, Self::Lean, Self::Thorough];

    pub fn id(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Lean => "lean",
            Self::Thorough => "thorough",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Balanced => "Balanced",
            Self::Lean => "Lean",
            Self::Thorough => "Thorough",
        }
    }

    /// Returns the effort in percent of the balanced approach.
    pub fn effort_percent(self) -> u32 {
        match self {
            Self::Balanced => 100,
            Self::Lean => 75,
            Self::Thorough => 125,
        }
    }
}

/// Returns the ids of the optional leaves that the lean approach omits; a container keeps its last task.
pub(super) fn optional_leaves(nodes: &[PlanNode], root: &TaskId) -> Vec<TaskId> {
    let tree = NodeTree::new(nodes);
    let droppable = |leaf: &&PlanNode| {
        let siblings =
            leaf.parent_id.as_ref().map(|parent| tree.children(parent).count()).unwrap_or_default();
        leaf.optional && siblings > 1
    };
    tree.leaves(root).into_iter().filter(droppable).map(|leaf| leaf.id.clone()).collect()
}

/// Adds a check to every phase, or else to every cycle, or else to the goal itself.
pub(super) fn add_checks(
    nodes: &mut Vec<PlanNode>,
    root: &TaskId,
    plan: &mut Blueprint,
) -> Vec<TaskId> {
    let of = |kind: NodeType| -> Vec<PlanNode> {
        nodes.iter().filter(|node| node.node_type == kind).cloned().collect()
    };
    let found = [NodeType::Phase, NodeType::Cycle, NodeType::Goal]
        .into_iter()
        .map(of)
        .find(|list| !list.is_empty());
    let mut added = Vec::new();
    for parent in found.unwrap_or_default() {
        let check = build_check(&parent, nodes, root, plan);
        added.push(check.id.clone());
        nodes.push(check);
    }
    added
}

fn build_check(
    parent: &PlanNode,
    nodes: &[PlanNode],
    root: &TaskId,
    plan: &mut Blueprint,
) -> PlanNode {
    let id = if parent.id == *root { "check".to_owned() } else { format!("{}.check", parent.id) };
    let title: String = format!("Check the result of: {}", parent.title)
        .chars()
        .take(PlanNode::MAX_TITLE_CHARS)
        .collect();
    let mut check = PlanNode::new_child(parent, id, NodeType::Task, title);
    "what it was to bring is there, and what is missing has a date"
        .clone_into(&mut check.done_when);
    check.role = Role::Review;
    check.intensity = parent.intensity;
    let tree = NodeTree::new(nodes);
    let siblings: Vec<&PlanNode> =
        tree.children(&parent.id).filter(|node| node.stream == check.stream).collect();
    check.position = siblings.iter().map(|node| node.position + 1).max().unwrap_or(0);
    if let Some(last) = siblings.iter().rev().find(|node| node.recurrence.is_none()) {
        plan.links.push(BlueprintLink::finish_to_start(&last.id, &check.id));
    }
    let weight = check_weight(&siblings, &tree, plan);
    plan.weights.insert(check.id.clone(), weight);
    check
}

/// Returns half an average task, or five minutes if tasks have fixed minutes.
fn check_weight(
    siblings: &[&PlanNode],
    tree: &NodeTree<'_>,
    plan: &mut Blueprint,
) -> BlueprintWeight {
    let mut sum = 0;
    let mut count = 0;
    for sibling in siblings.iter().filter(|node| !node.milestone) {
        let leaves = tree.leaves(&sibling.id);
        // Weeks of training have fixed minutes, regardless of how they are distributed above.
        if leaves.len() > 1
            && leaves
                .iter()
                .any(|leaf| matches!(plan.weights.get(&leaf.id), Some(BlueprintWeight::Minutes(_))))
        {
            return BlueprintWeight::Minutes(30);
        }
        let tasks = leaves.len() as u32;
        // Equal shares become explicit, so that the check does not weigh as much as an entire sub-goal.
        let weight =
            plan.weights.entry(sibling.id.clone()).or_insert(BlueprintWeight::Share(100 * tasks));
        match weight {
            BlueprintWeight::Minutes(_) => return BlueprintWeight::Minutes(5),
            BlueprintWeight::Share(share) => sum += *share,
        }
        count += tasks;
    }
    BlueprintWeight::Share((sum / count.max(1) / 2).max(1))
}

/// Describes and scores one approach.
pub(super) fn build_option(
    approach: PlanApproach,
    effort: u32,
    balanced: u32,
    inputs: BlueprintInputs<'_>,
    conflicts: u32,
) -> RoadmapOption {
    let size = inputs.size;
    RoadmapOption {
        id: approach.id().to_owned(),
        label: approach.label().to_owned(),
        summary: String::new(),
        effort_minutes: effort,
        span_weeks: estimate_span_weeks(effort, balanced, inputs),
        risk: assess_risk(approach, effort, size.capacity),
        score: score_option(inputs.context, effort, size.capacity, conflicts),
        chosen: false,
        rationale: String::new(),
    }
}

/// Uses the pace of the balanced approach; deadlines, training weeks, rounds and routines have the same length in all
/// approaches.
fn estimate_span_weeks(effort: u32, balanced: u32, inputs: BlueprintInputs<'_>) -> u16 {
    let stretches =
        inputs.template.sizing == TemplateSizing::Shares && inputs.template.total_minutes.is_none();
    let weeks = inputs.size.weeks();
    if !stretches || inputs.context.constraints.deadline.is_some() || balanced == 0 {
        return weeks;
    }
    let weeks = u64::from(weeks) * u64::from(effort);
    u16::try_from(weeks.div_ceil(u64::from(balanced))).unwrap_or(u16::MAX).max(1)
}

/// A full week is a risk, and so is omitting what catches mistakes.
fn assess_risk(approach: PlanApproach, effort: u32, capacity: u32) -> Risk {
    let load = f64::from(effort) / f64::from(capacity.max(1));
    match (approach, load) {
        (_, load) if load > 1.0 => Risk::High,
        (PlanApproach::Lean, _) => Risk::Medium,
        (_, load) if load > 0.8 + 1e-9 => Risk::Medium,
        _ => Risk::Low,
    }
}

/// achievement·min(1, capacity/effort) + wellbeing·(1 − peak utilization, ≥ 0) + portfolio·(1 − conflicts/planned).
fn score_option(context: &PlanContext, effort: u32, capacity: u32, conflicts: u32) -> f64 {
    let weights = context.strategy_profile.weights.normalized();
    let planned = f64::from(effort.max(1));
    let capacity = f64::from(capacity);
    let peak = if capacity > 0.0 { planned / capacity } else { 1.0 };
    let sum = weights.achievement * (capacity / planned).min(1.0)
        + weights.wellbeing * (1.0 - peak).max(0.0)
        + weights.portfolio * (1.0 - f64::from(conflicts) / planned).max(0.0);
    (sum * 1000.0).round() / 1000.0
}

fn format_weeks(count: u32) -> String {
    if count == 1 { "1 week".to_owned() } else { format!("{count} weeks") }
}

/// Returns the line under the first option.
pub(super) fn describe_option(option: &RoadmapOption, sessions: Option<(u32, u32)>) -> String {
    let rhythm = sessions
        .map(|(count, each)| format!(", {count} × {} a week", format_planned(each.into())))
        .unwrap_or_default();
    format!(
        "{} over {}{rhythm}, {} risk",
        format_planned(option.effort_minutes.into()),
        format_weeks(option.span_weeks.into()),
        option.risk.as_str()
    )
}
