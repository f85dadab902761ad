//! Fixes for links (G110 to G112).

use super::super::PlanArtifacts;
use super::super::artifacts::RuleScope;
use super::super::links::{find_loops, is_impossible, least_trusted, never_starts};
use super::AppliedFix;
use super::working_copy::edit_plan;
use planwright_model::AdaptationAction::Relink;
use planwright_model::{LinkOrigin, NodeDependency, NodeStatus, TaskId};

/// Removes the links from one node to another that satisfy `wrong`.
fn remove_links_where(
    plan: &mut PlanArtifacts,
    ends: (&TaskId, &TaskId),
    wrong: impl Fn(&RuleScope<'_>, &NodeDependency) -> bool,
) -> Option<AppliedFix> {
    let scope = plan.scope();
    let gone: Vec<NodeDependency> = scope
        .links()
        .iter()
        .filter(|link| (&link.from, &link.to) == ends && wrong(&scope, link))
        .cloned()
        .collect();
    drop_links(plan, &gone)
}

fn drop_links(plan: &mut PlanArtifacts, gone: &[NodeDependency]) -> Option<AppliedFix> {
    let first = gone.first()?;
    edit_plan(plan, |sketch| {
        sketch.links.retain(|link| !gone.contains(link));
        let what = format!("removed the link {}→{}", first.from, first.to);
        Some(AppliedFix::new(Relink, vec![first.from.clone(), first.to.clone()], what))
    })
}

/// G110.
pub(super) fn remove_impossible_link(
    plan: &mut PlanArtifacts,
    from: &TaskId,
    to: &TaskId,
) -> Option<AppliedFix> {
    remove_links_where(plan, (from, to), is_impossible)
}

/// G111: removes the least trusted link of the cycle.
pub(super) fn break_loop(plan: &mut PlanArtifacts, ids: &[TaskId]) -> Option<AppliedFix> {
    let scope = plan.scope();
    let found = find_loops(&scope).into_iter().find(|one| one.ids == ids)?;
    let link = scope.links()[least_trusted(&scope, &found)?].clone();
    drop_links(plan, &[link])
}

/// G112. A person's link to a blocked node stays: only they know what would unblock it.
pub(super) fn remove_blocking_link(
    plan: &mut PlanArtifacts,
    from: &TaskId,
    to: &TaskId,
) -> Option<AppliedFix> {
    remove_links_where(plan, (from, to), |scope, link| {
        let blocked =
            scope.tree.get(&link.from).is_some_and(|node| node.status == NodeStatus::Blocked);
        never_starts(scope, &scope.reachable_ids(), link)
            && !(blocked && link.origin == LinkOrigin::UserFeedback)
    })
}
