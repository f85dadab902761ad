//! Rules about the roadmap: estimates, consistency with the outline, offsets, options, effort and size (G301 to G306).

use std::collections::BTreeSet;

use super::artifacts::{RuleScope, display_title, display_title_of};
use super::pattern::plan_weeks;
use super::rule_table::rule_violation;
use planwright_model::{
    LinkKind, NodeDependency, PlanContext, PlanNode, Roadmap, Role, TaskId, Violation,
};

/// The longest duration at which a leaf is still easy to track.
const MAX_LEAF_MINUTES: u32 = 960;

pub(super) fn check_roadmap(scope: &RuleScope<'_>, roadmap: &Roadmap, found: &mut Vec<Violation>) {
    check_estimates(scope, found);
    check_outline_match(scope, found);
    check_offsets(scope, found);
    if !has_compared_options(roadmap) {
        found.push(rule_violation("G304", [], &[]));
    }
    check_capacity(scope, found);
    check_leaf_sizes(scope, found);
}

/// Returns whether a node violates G301. An empty container is covered by G109.
pub(super) fn lacks_estimate(scope: &RuleScope<'_>, node: &PlanNode) -> bool {
    let exempt = node.milestone || node.role == Role::Gate || node.node_type.is_container();
    !exempt && scope.tree.is_leaf(&node.id) && node.estimate_minutes.unwrap_or(0) == 0
}

/// G301.
fn check_estimates(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    for node in scope.nodes.iter().filter(|node| lacks_estimate(scope, node)) {
        found.push(rule_violation("G301", [node.id.clone()], &[("title", &display_title(node))]));
    }
}

/// Returns the nodes that exist only in the outline or only in the roadmap and that no log entry names.
pub(super) fn outline_differences(scope: &RuleScope<'_>) -> Vec<TaskId> {
    let ids = |nodes: &[PlanNode]| -> BTreeSet<TaskId> {
        nodes.iter().map(|node| node.id.clone()).collect()
    };
    let (before, now) = (ids(&scope.plan.outline.nodes), ids(scope.nodes));
    before.symmetric_difference(&now).filter(|id| !scope.plan.is_logged(id)).cloned().collect()
}

/// G302.
fn check_outline_match(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    found
        .extend(outline_differences(scope).into_iter().map(|id| rule_violation("G302", [id], &[])));
}

/// Returns the leaves that end a container.
fn closing_leaves<'a>(scope: &RuleScope<'a>, container: &TaskId) -> Vec<&'a PlanNode> {
    let leaves = scope.tree.leaves(container);
    let inside: BTreeSet<&TaskId> = leaves.iter().map(|leaf| &leaf.id).collect();
    let mut followed: BTreeSet<&TaskId> = BTreeSet::new();
    for link in scope.links() {
        let to_inside = scope.tree.leaves(&link.to).iter().any(|leaf| inside.contains(&leaf.id));
        if to_inside
            && (inside.contains(&link.from) || scope.tree.is_ancestor(container, &link.from))
        {
            followed.extend(scope.tree.leaves(&link.from).into_iter().map(|leaf| &leaf.id));
        }
    }
    leaves.into_iter().filter(|leaf| !followed.contains(&leaf.id)).collect()
}

/// Returns the link as G303 requires it; `None` if it is already valid.
pub(super) fn corrected_offset(
    scope: &RuleScope<'_>,
    link: &NodeDependency,
) -> Option<NodeDependency> {
    let mut mended = link.clone();
    let range = -NodeDependency::MAX_LAG_MINUTES..=NodeDependency::MAX_LAG_MINUTES;
    mended.lag_minutes = link.lag_minutes.clamp(*range.start(), *range.end());
    if link.kind == LinkKind::FS && scope.tree.contains(&link.from) {
        let longest = i32::try_from(scope.tree.total_minutes(&link.from)).unwrap_or(i32::MAX);
        mended.lag_minutes = mended.lag_minutes.max(longest.saturating_neg());
    }
    let binds_finish = matches!(link.kind, LinkKind::FF | LinkKind::SF);
    if binds_finish && !scope.tree.is_leaf(&link.to) {
        let closing = closing_leaves(scope, &link.to);
        if let (false, Some(last)) = (closing.len() == 1, scope.tree.leaves(&link.to).last()) {
            mended.to = closing.last().unwrap_or(last).id.clone();
        }
    }
    (mended != *link).then_some(mended)
}

/// G303.
fn check_offsets(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let broken_links = scope.links().iter().filter(|link| corrected_offset(scope, link).is_some());
    for link in broken_links {
        let (a, b) = (display_title_of(scope, &link.from), display_title_of(scope, &link.to));
        let values = [("a", &*a), ("b", &*b)];
        found.push(rule_violation("G303", [link.from.clone(), link.to.clone()], &values));
    }
}

/// Returns whether G304 is satisfied: two or three options, one of them chosen for a reason.
pub(super) fn has_compared_options(roadmap: &Roadmap) -> bool {
    let options = &roadmap.options_tried;
    let chosen: Vec<_> = options.iter().filter(|option| option.chosen).collect();
    (2..=3).contains(&options.len())
        && chosen.len() == 1
        && chosen.iter().all(|option| !option.rationale.trim().is_empty())
}

/// Returns the minutes available per week: the stated or assumed ones, at most those of the calendar.
pub fn weekly_capacity(context: &PlanContext) -> u32 {
    let calendar = context.calendar.weekly_minutes();
    context.constraints.weekly_minutes.map_or(calendar, |minutes| minutes.min(calendar))
}

/// Returns the minutes available over the entire plan; `None` without deadline and horizon.
pub fn total_capacity(context: &PlanContext) -> Option<f64> {
    let weeks = plan_weeks(context)?;
    let by_weeks = weeks * f64::from(weekly_capacity(context));
    if weeks >= 1.0 {
        return Some(by_weeks);
    }
    // In some days there are the hours of these days, and not a share of the week.
    let days = (weeks * 7.0).round() as i32;
    let dates = context.constraints.start.series(jiff::Span::new().days(1));
    let hours = dates.take(usize::try_from(days).unwrap_or(0)).map(|date| {
        context.calendar.hours_on(date).iter().map(|span| span.duration_minutes()).sum::<u32>()
    });
    Some(f64::from(hours.sum::<u32>()).max(by_weeks))
}

/// G305. Recurring work takes its time every round and is not part of the effort over the horizon.
fn check_capacity(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let repeats = |leaf: &PlanNode| {
        leaf.recurrence.is_some()
            || scope.tree.ancestors(&leaf.id).iter().any(|node| node.recurrence.is_some())
    };
    let leaves = scope.tree.leaves(scope.root_id);
    let effort: f64 = leaves
        .iter()
        .filter(|leaf| !repeats(leaf))
        .map(|leaf| f64::from(leaf.work_minutes()))
        .sum();
    let Some(capacity) = total_capacity(scope.context()).filter(|capacity| effort > *capacity)
    else {
        return;
    };
    let values = [("h", &*format_hours(effort)), ("c", &*format_hours(capacity))];
    found.push(rule_violation("G305", [scope.root_id.clone()], &values));
}

/// Formats hours with one decimal, omitted if it is 0.
fn format_hours(minutes: f64) -> String {
    let text = format!("{:.1}", minutes / 60.0);
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Returns whether a node violates G306.
pub(super) fn is_too_big(scope: &RuleScope<'_>, node: &PlanNode) -> bool {
    scope.tree.is_leaf(&node.id) && node.work_minutes() > MAX_LEAF_MINUTES
}

/// G306.
fn check_leaf_sizes(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    for node in scope.nodes.iter().filter(|node| is_too_big(scope, node)) {
        found.push(rule_violation("G306", [node.id.clone()], &[("title", &display_title(node))]));
    }
}
