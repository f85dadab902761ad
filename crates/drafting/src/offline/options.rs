//! The approaches to a plan that are compared: balanced, lean and thorough.

use planwright_model::{
    NodeTree, NodeType, PlanContext, PlanNode, Risk, RoadmapOption, Role, TaskId,
};

use planwright_text::units::{format_planned, format_planned_range};

use super::blueprint::{Blueprint, BlueprintSizing, EffortRange};
use super::instance::InstanceLink;
use super::span::PlanSpan;

/// An approach to the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanApproach {
    /// As the blueprint describes it.
    Balanced,
    /// Without the tasks that can be spared.
    Lean,
    /// With a check at the end of every phase.
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
}

/// Returns the ids of the leaves that the lean approach leaves out: the optional ones, or else looks back. A container
/// keeps its last task.
pub(super) fn spare_leaves(nodes: &[PlanNode], root: &TaskId) -> Vec<TaskId> {
    let tree = NodeTree::new(nodes);
    let droppable = |leaf: &&PlanNode| {
        let siblings =
            leaf.parent_id.as_ref().map(|parent| tree.children(parent).count()).unwrap_or_default();
        siblings > 1 && !leaf.milestone
    };
    let leaves: Vec<&PlanNode> = tree.leaves(root).into_iter().filter(droppable).collect();
    leaves.iter().filter(|leaf| leaf.optional).map(|leaf| leaf.id.clone()).collect()
}

/// Names tasks by their titles: "leaves out "A" and 3 others".
pub(super) fn describe_titles(verb: &str, nodes: &[PlanNode], ids: &[TaskId]) -> String {
    let titles: Vec<String> = nodes
        .iter()
        .filter(|node| ids.contains(&node.id))
        .map(|node| format!("\"{}\"", node.title))
        .collect();
    match titles.as_slice() {
        [] => String::new(),
        [one] => format!("{verb} {one}"),
        [one, two] => format!("{verb} {one} and {two}"),
        [one, two, rest @ ..] => format!("{verb} {one}, {two} and {} more", rest.len()),
    }
}

/// The minutes of a check: reading a result takes about as long whatever it took to make.
const CHECK_MINUTES: u32 = 20;
/// The minutes of a check of a routine.
const SHORT_CHECK_MINUTES: u32 = 5;

/// Adds a check to every phase, or else to every cycle, or else to the goal itself.
pub(super) fn add_checks(
    nodes: &mut Vec<PlanNode>,
    root: &TaskId,
    links: &mut Vec<InstanceLink>,
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
        let check = build_check(&parent, nodes, root, links);
        added.push(check.id.clone());
        nodes.push(check);
    }
    added
}

fn build_check(
    parent: &PlanNode,
    nodes: &[PlanNode],
    root: &TaskId,
    links: &mut Vec<InstanceLink>,
) -> PlanNode {
    let id = if parent.id == *root { "check".to_owned() } else { format!("{}.check", parent.id) };
    let title: String = format!("Check the result of: {}", parent.title)
        .chars()
        .take(PlanNode::MAX_TITLE_CHARS)
        .collect();
    let mut check = PlanNode::new_child(parent, id, NodeType::Task, title);
    "What is found here is cheaper to fix than later.".clone_into(&mut check.why);
    "every task above meets its own description, and what does not has a date"
        .clone_into(&mut check.done_when);
    check.role = Role::Review;
    check.intensity = parent.intensity;
    let short = parent.recurrence.is_some();
    check.estimate_minutes = Some(if short { SHORT_CHECK_MINUTES } else { CHECK_MINUTES });
    let tree = NodeTree::new(nodes);
    let siblings: Vec<&PlanNode> =
        tree.children(&parent.id).filter(|node| node.stream == check.stream).collect();
    check.position = siblings.iter().map(|node| node.position + 1).max().unwrap_or(0);
    if let Some(last) = siblings.iter().rev().find(|node| node.recurrence.is_none()) {
        links.push(InstanceLink::finish_to_start(&last.id, &check.id));
    }
    check
}

/// What options are compared by.
pub(super) struct OptionInputs<'a> {
    pub(super) context: &'a PlanContext,
    pub(super) file: Option<&'a Blueprint>,
    pub(super) span: PlanSpan,
    /// The effort of the balanced approach.
    pub(super) balanced: u32,
    pub(super) conflict_minutes: u32,
}

/// Describes and scores one approach.
pub(super) fn build_option(
    approach: PlanApproach,
    effort: u32,
    inputs: &OptionInputs<'_>,
) -> RoadmapOption {
    let capacity = inputs.span.capacity;
    let balanced = assess_load(inputs.balanced, capacity);
    RoadmapOption {
        id: approach.id().to_owned(),
        label: approach.label().to_owned(),
        summary: String::new(),
        tasks: String::new(),
        effort_minutes: effort,
        span_weeks: estimate_span_weeks(effort, inputs),
        risk: match approach {
            // Leaving out checks and spare tasks never makes a plan safer.
            PlanApproach::Lean => balanced.max(Risk::Medium),
            PlanApproach::Balanced => balanced,
            PlanApproach::Thorough => assess_load(effort, capacity),
        },
        score: score_option(inputs.context, effort, capacity, inputs.conflict_minutes),
        chosen: false,
        rationale: String::new(),
    }
}

/// Uses the pace of the balanced approach; what ends on a date, trains by weeks or repeats is as long in all approaches.
fn estimate_span_weeks(effort: u32, inputs: &OptionInputs<'_>) -> u16 {
    let stretches = inputs.file.is_some_and(|file| {
        file.sizing == BlueprintSizing::Tasks
            && file.day.is_none()
            && !file.small
            && file.phases.iter().all(|phase| phase.tasks.iter().all(|task| task.every.is_none()))
            && file.cycles.is_empty()
    });
    let weeks = inputs.span.weeks();
    if !stretches || inputs.context.constraints.deadline.is_some() || inputs.balanced == 0 {
        return weeks;
    }
    let weeks = u64::from(weeks) * u64::from(effort);
    u16::try_from(weeks.div_ceil(u64::from(inputs.balanced))).unwrap_or(u16::MAX).max(1)
}

/// A full week is a risk.
fn assess_load(effort: u32, capacity: u32) -> Risk {
    match f64::from(effort) / f64::from(capacity.max(1)) {
        load if load > 1.0 => Risk::High,
        load if load > 0.8 + 1e-9 => Risk::Medium,
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

/// Returns the line under the first option, with the range of its effort.
pub(super) fn describe_option(option: &RoadmapOption, effort: EffortRange) -> String {
    let range = if effort.low() < effort.high() {
        format!(" ({})", format_planned_range(effort.low().into(), effort.high().into()))
    } else {
        String::new()
    };
    format!(
        "{}{range} over {}, {} risk",
        format_planned(option.effort_minutes.into()),
        format_weeks(option.span_weeks.into()),
        option.risk.as_str()
    )
}
