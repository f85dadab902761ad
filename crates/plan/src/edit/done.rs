//! Work that was done before the plan: it stays in the plan, takes no time of it, and counts as done once it is approved.

use planwright_model::{AdaptationAction, NodeStatus, PlanNode, TaskId};
use planwright_text::units::format_planned;

use super::draft::PlanEditDraft;
use super::{EditError, EditSummary};

/// Marks everything at or below a node as done, or as open again.
pub(super) fn set_done(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    done: bool,
) -> Result<EditSummary, EditError> {
    let title = work.title(id);
    let status = if done { NodeStatus::Done } else { NodeStatus::Pending };
    let tree = work.tree();
    let repeats = |node: &&PlanNode| {
        node.recurrence.is_some()
            || tree.ancestors(&node.id).iter().any(|above| above.recurrence.is_some())
    };
    let leaves = tree.leaves(id);
    if let Some(node) = leaves.iter().copied().find(repeats) {
        return Err(EditError::Repeats { title: node.title.clone() });
    }
    let changed: Vec<TaskId> =
        leaves.iter().filter(|leaf| leaf.status != status).map(|leaf| leaf.id.clone()).collect();
    if changed.is_empty() {
        return Err(EditError::NothingChanges);
    }
    for leaf in &changed {
        work.require_unlocked(leaf)?;
    }
    for leaf in &changed {
        work.update_node(leaf, |node| {
            node.status = status;
            node.progress = if done { 1.0 } else { 0.0 };
        });
    }
    let (left, all) = (open_minutes(work), work.minutes_of(&work.outline.root_id));
    let [left, all] = [left, all].map(|minutes| format_planned(minutes.into()));
    let what = if done { "is done" } else { "is open again" };
    let reason = format!("\"{title}\" {what}; {left} of {all} of work left");
    // The closed list of actions has no separate name for a new state of the same task.
    Ok(EditSummary { action: AdaptationAction::Reschedule, node_ids: changed, reason })
}

/// Returns the minutes of what is not done.
fn open_minutes(work: &PlanEditDraft<'_>) -> u32 {
    let leaves = work.tree().leaves(&work.outline.root_id);
    let open = leaves.into_iter().filter(|leaf| leaf.status != NodeStatus::Done);
    open.fold(0, |sum, leaf| sum.saturating_add(leaf.work_minutes()))
}
