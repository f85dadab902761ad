//! Fixes of links (G110 to G112).

use super::super::PlanArtifacts;
use super::super::artifacts::Scope;
use super::super::links::{is_impossible, least_trusted, loops, never_starts};
use super::Change;
use super::sketch::edit;
use planwright_model::AdaptationAction::Relink;
use planwright_model::{Dependency, LinkOrigin, NodeStatus, TaskId};

/// Removes the links from one node to another of which `wrong` holds.
fn remove(
    plan: &mut PlanArtifacts,
    ends: (&TaskId, &TaskId),
    wrong: impl Fn(&Scope<'_>, &Dependency) -> bool,
) -> Option<Change> {
    let scope = plan.scope();
    let gone: Vec<Dependency> = scope
        .links()
        .iter()
        .filter(|link| (&link.from, &link.to) == ends && wrong(&scope, link))
        .cloned()
        .collect();
    drop_links(plan, &gone)
}

fn drop_links(plan: &mut PlanArtifacts, gone: &[Dependency]) -> Option<Change> {
    let first = gone.first()?;
    edit(plan, |sketch| {
        sketch.links.retain(|link| !gone.contains(link));
        let what = format!("removed the link {}→{}", first.from, first.to);
        Some(Change::new(Relink, vec![first.from.clone(), first.to.clone()], what))
    })
}

/// G110.
pub(super) fn remove_impossible(
    plan: &mut PlanArtifacts,
    from: &TaskId,
    to: &TaskId,
) -> Option<Change> {
    remove(plan, (from, to), is_impossible)
}

/// G111: the least trusted link of the loop goes.
pub(super) fn open_loop(plan: &mut PlanArtifacts, ids: &[TaskId]) -> Option<Change> {
    let scope = plan.scope();
    let found = loops(&scope).into_iter().find(|one| one.ids == ids)?;
    let link = scope.links()[least_trusted(&scope, &found)?].clone();
    drop_links(plan, &[link])
}

/// G112. A link of the person's onto something blocked stays: only they know what would unblock it.
pub(super) fn unhook(plan: &mut PlanArtifacts, from: &TaskId, to: &TaskId) -> Option<Change> {
    remove(plan, (from, to), |scope, link| {
        let blocked =
            scope.tree.get(&link.from).is_some_and(|node| node.status == NodeStatus::Blocked);
        never_starts(scope, &scope.reachable(), link)
            && !(blocked && link.origin == LinkOrigin::UserFeedback)
    })
}
