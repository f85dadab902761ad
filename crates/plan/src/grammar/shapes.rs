//! Rules about the structure that each pattern requires (G211 to G251).

use std::collections::BTreeMap;

use super::artifacts::{RuleScope, display_title};
use super::rule_table::rule_violation;
use planwright_model::{LinkKind, NodeType, PatternType, PlanNode, Role, Violation};

pub(super) fn check_shape(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let Some(spec) = scope.pattern.as_ref() else { return };
    let Some(root) = scope.tree.get(scope.root_id) else { return };
    match spec.pattern_type {
        PatternType::MilestoneProject => {
            if is_unordered_project(scope) {
                found.push(rule_violation("G211", [root.id.clone()], &[]));
            }
            // Steps that the person writes end with the last of them.
            let unfinished = finish_marker(scope).is_none() && !spec.is_own_steps();
            if unfinished || lacks_horizon(scope) {
                let missing = describe_missing_finish(scope, unfinished);
                found.push(rule_violation("G212", [root.id.clone()], &[("missing", &missing)]));
            }
        }
        PatternType::RecurringCycle => {
            if !is_routine(scope) {
                found.push(rule_violation("G221", [root.id.clone()], &[]));
            }
        }
        PatternType::ProgressiveAccumulationArc => check_arc(scope, root, found),
        PatternType::HybridProjectCycle => {
            let lacking = rounds_without_result(scope);
            if cycle_nodes(scope).is_empty() || !lacking.is_empty() {
                let ids = lacking.iter().map(|node| node.id.clone());
                found.push(rule_violation("G241", ids, &[]));
            }
        }
        PatternType::StrategicTransformation => {
            let bare = streams_without_sub_goal(scope);
            if work_streams(scope).len() < 2 || !bare.is_empty() {
                found.push(rule_violation("G251", bare.iter().map(|node| node.id.clone()), &[]));
            }
        }
    }
}

/// G211. A quick goal has no phases, and a person's own steps have those that the person makes.
pub(super) fn is_unordered_project(scope: &RuleScope<'_>) -> bool {
    let plain =
        scope.pattern.as_ref().is_some_and(|spec| spec.is_subtype("quick") || spec.is_own_steps());
    !plain
        && (scope.root_children(NodeType::Phase).len() < 2
            || !scope.root_children(NodeType::Cycle).is_empty())
}

/// Returns the end of a project: its last phase, or else its last task before any milestone.
pub(super) fn last_part<'a>(scope: &RuleScope<'a>) -> Option<&'a PlanNode> {
    let phases = scope.root_children(NodeType::Phase);
    phases.last().copied().or_else(|| {
        let work = scope.tree.children(scope.root_id).filter(|node| !node.milestone);
        work.last()
    })
}

/// What G212 asks for: the milestone, the span, or both.
fn describe_missing_finish(scope: &RuleScope<'_>, unfinished: bool) -> String {
    let mut missing = Vec::new();
    if unfinished {
        let last = last_part(scope).map(|node| format!(" that needs \"{}\"", display_title(node)));
        missing.push(format!("add a milestone at the end{}", last.unwrap_or_default()));
    }
    if lacks_horizon(scope) {
        missing.push("give it a deadline or a number of weeks".to_owned());
    }
    let mut text = missing.join("; ");
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    text
}

/// G212: returns the milestone that ends a project. While there are no links, one that comes last is enough.
pub(super) fn finish_marker<'a>(scope: &RuleScope<'a>) -> Option<&'a PlanNode> {
    let last = last_part(scope)?;
    let ends = |node: &&PlanNode| match scope.links {
        Some(_) => scope.is_reached(&last.id, &node.id),
        None => is_in_final_place(scope, last, node),
    };
    let leaves = scope.tree.leaves(scope.root_id);
    leaves.into_iter().rev().filter(|node| node.milestone).find(ends)
}

fn is_in_final_place(scope: &RuleScope<'_>, last: &PlanNode, node: &PlanNode) -> bool {
    let leaves = scope.tree.leaves(scope.root_id);
    scope.tree.is_ancestor(&last.id, &node.id)
        || leaves.last().is_some_and(|leaf| leaf.id == node.id)
}

/// G212: a project ends by a deadline, after so many weeks, or on the day of its last milestone.
pub(super) fn lacks_horizon(scope: &RuleScope<'_>) -> bool {
    let limits = &scope.context().constraints;
    let dated = finish_marker(scope).is_some_and(|marker| !marker.dates().is_empty());
    limits.deadline.is_none() && limits.horizon_weeks.is_none() && !dated
}

pub(super) fn cycle_nodes<'a>(scope: &RuleScope<'a>) -> Vec<&'a PlanNode> {
    scope.nodes.iter().filter(|node| node.node_type == NodeType::Cycle).collect()
}

/// G221.
fn is_routine(scope: &RuleScope<'_>) -> bool {
    let cycles = cycle_nodes(scope);
    let has_task = |cycle: &&PlanNode| {
        scope.tree.subtree(&cycle.id).iter().any(|node| node.node_type == NodeType::Task)
    };
    cycles.iter().any(|cycle| cycle.recurrence.is_some())
        && cycles.iter().all(has_task)
        && !scope.nodes.iter().any(|node| node.node_type == NodeType::Phase)
}

/// Returns the intensity of a phase: that of its most demanding node.
pub(super) fn phase_intensity(scope: &RuleScope<'_>, phase: &PlanNode) -> u8 {
    scope.tree.subtree(&phase.id).iter().map(|node| node.intensity).max().unwrap_or(1)
}

/// Returns whether a finish-to-start link leads from one phase into the next.
pub(super) fn are_chained(scope: &RuleScope<'_>, from: &PlanNode, to: &PlanNode) -> bool {
    let within = |id, top| id == top || scope.tree.is_ancestor(top, id);
    scope.links().iter().any(|link| {
        link.kind == LinkKind::FS && within(&link.from, &from.id) && within(&link.to, &to.id)
    })
}

fn check_arc(scope: &RuleScope<'_>, root: &PlanNode, found: &mut Vec<Violation>) {
    let phases = scope.root_children(NodeType::Phase);
    let falls = phases.split_last().is_some_and(|(_, before)| {
        before
            .windows(2)
            .any(|pair| phase_intensity(scope, pair[1]) < phase_intensity(scope, pair[0]))
    });
    let loose = scope.links.is_some()
        && phases.windows(2).any(|pair| !are_chained(scope, pair[0], pair[1]));
    if phases.len() < 2 || loose || falls {
        found.push(rule_violation("G231", [root.id.clone()], &[]));
    }
    for phase in phases.into_iter().filter(|phase| !has_practice(scope, phase)) {
        found.push(rule_violation("G232", [phase.id.clone()], &[("phase", &display_title(phase))]));
    }
    if scope.pattern.as_ref().is_some_and(|spec| spec.is_subtype("training_arc")) {
        found.extend(load_jumps(scope).into_iter().map(|jump| jump.to_violation()));
    }
}

/// G232.
pub(super) fn has_practice(scope: &RuleScope<'_>, phase: &PlanNode) -> bool {
    let below = scope.tree.subtree(&phase.id);
    below.iter().any(|node| node.role == Role::Practice && node.node_type == NodeType::Task)
}

/// A week whose load exceeds that of the previous one by too much.
pub(super) struct LoadJump<'a> {
    week: u32,
    load: u32,
    before: u32,
    /// The maximum load of the week.
    pub(super) limit: u32,
    pub(super) leaves: Vec<&'a PlanNode>,
}

impl LoadJump<'_> {
    fn to_violation(&self) -> Violation {
        let percent = (f64::from(self.load) / f64::from(self.before.max(1)) - 1.0) * 100.0;
        let values = [("n", &*self.week.to_string()), ("p", &*format!("{percent:.0}"))];
        rule_violation("G233", self.leaves.iter().map(|leaf| leaf.id.clone()), &values)
    }
}

/// The tag that assigns a leaf to a week of a training plan, as in `week:3`.
pub const WEEK_TAG: &str = "week:";

fn week_of(scope: &RuleScope<'_>, leaf: &PlanNode) -> Option<u32> {
    let tagged =
        |node: &PlanNode| node.tags.iter().find_map(|tag| tag.strip_prefix(WEEK_TAG)?.parse().ok());
    tagged(leaf).or_else(|| scope.tree.ancestors(&leaf.id).into_iter().find_map(tagged))
}

/// G233. A week below the last full one is recovery or taper and does not become the new reference.
pub(super) fn load_jumps<'a>(scope: &RuleScope<'a>) -> Vec<LoadJump<'a>> {
    let mut weeks: BTreeMap<u32, Vec<&PlanNode>> = BTreeMap::new();
    for leaf in scope.tree.leaves(scope.root_id) {
        if let Some(week) = week_of(scope, leaf).filter(|_| leaf.work_minutes() > 0) {
            weeks.entry(week).or_default().push(leaf);
        }
    }
    let mut before: Option<u32> = None;
    let mut jumps = Vec::new();
    for (week, leaves) in weeks {
        let load = leaves.iter().fold(0_u32, |sum, leaf| sum.saturating_add(leaf.work_minutes()));
        if let Some(before) = before {
            let limit = allowed_load(before);
            if load > limit {
                jumps.push(LoadJump { week, load, before, limit, leaves });
            }
        }
        before = Some(before.map_or(load, |before| before.max(load)));
    }
    jumps
}

/// Returns ten percent more, rounded up to 5 minutes.
fn allowed_load(before: u32) -> u32 {
    let limit = (u64::from(before) * 11).div_ceil(50) * 5;
    u32::try_from(limit).unwrap_or(u32::MAX)
}

/// G241: returns cycles without two phases or without a deliverable.
pub(super) fn rounds_without_result<'a>(scope: &RuleScope<'a>) -> Vec<&'a PlanNode> {
    let complete = |cycle: &&PlanNode| {
        let phases =
            scope.tree.children(&cycle.id).filter(|node| node.node_type == NodeType::Phase);
        let below = scope.tree.subtree(&cycle.id);
        phases.count() >= 2 && below.iter().any(|node| node.role == Role::Deliverable)
    };
    cycle_nodes(scope).into_iter().filter(|cycle| !complete(cycle)).collect()
}

/// Returns the parallel streams below the goal. A stream of only reviews or milestones is not a work stream.
pub(super) fn work_streams<'a>(scope: &RuleScope<'a>) -> BTreeMap<&'a str, Vec<&'a PlanNode>> {
    let mut streams: BTreeMap<&str, Vec<&PlanNode>> = BTreeMap::new();
    for node in scope.tree.children(scope.root_id) {
        streams.entry(node.stream.as_str()).or_default().push(node);
    }
    let aside = |node: &PlanNode| node.role.is_retrospective() || node.milestone;
    streams.retain(|_, nodes| !nodes.iter().all(|node| aside(node)));
    streams
}

/// G251: returns the first node of every stream that has no sub-goal.
pub(super) fn streams_without_sub_goal<'a>(scope: &RuleScope<'a>) -> Vec<&'a PlanNode> {
    let has_sub_goal = |nodes: &[&PlanNode]| {
        nodes.iter().any(|node| {
            let below = scope.tree.subtree(&node.id);
            below.iter().any(|node| node.node_type == NodeType::SubGoal)
        })
    };
    let streams = work_streams(scope).into_values();
    streams
        .filter(|nodes| !has_sub_goal(nodes))
        .filter_map(|nodes| nodes.first().copied())
        .collect()
}
