//! Making several tasks of one, and one of several: the time is shared or summed, and every link keeps its meaning.

use std::collections::BTreeSet;

use planwright_model::{
    AdaptationAction, LinkKind, LinkOrigin, NodeDates, NodeDependency, NodeOrigin, PlanNode,
    Roadmap, SplitPart, TaskCost, TaskId,
};

use super::draft::PlanEditDraft;
use super::{EditError, EditSummary, clean_title, tree};

/// The most parts of one task.
const MAX_PARTS: usize = 20;

/// Splits a task. The first part keeps the id and what must come before it; the last keeps "done when", its checks and
/// what waits for it.
pub(super) fn split_node(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    parts: &[SplitPart],
) -> Result<EditSummary, EditError> {
    let node = single_task(work, id)?;
    if !(2..=MAX_PARTS).contains(&parts.len()) {
        return Err(EditError::PartCount { most: MAX_PARTS });
    }
    let titles: Vec<String> =
        parts.iter().map(|part| clean_title(&part.title)).collect::<Result<_, _>>()?;
    let shares = share_time(node.estimate_minutes, parts)?;
    let parent = node.parent_id.clone().ok_or(EditError::Root)?;
    work.require_parts_editable(&parent)?;
    let above = work.find_node(&parent)?.clone();
    let mut ids = vec![id.clone()];
    for (place, (title, minutes)) in titles.iter().zip(shares).enumerate() {
        let (first, last) = (place == 0, place + 1 == titles.len());
        if first {
            work.update_node(id, |node| shape_part(node, title, minutes, (true, false)));
            continue;
        }
        let part_id = tree::fresh_id(work, &above);
        let before = ids[place - 1].clone();
        work.update_node_lists(|nodes| {
            let Some(beside) = nodes.iter().find(|node| node.id == before).cloned() else { return };
            let mut part = PlanNode { id: part_id.clone(), ..node.clone() };
            part.stream.clone_from(&beside.stream);
            part.cost = None;
            shape_part(&mut part, title, minutes, (false, last));
            let place = tree::place_in_lane(nodes, &beside) + 1;
            tree::insert_at(nodes, part, place);
        });
        ids.push(part_id);
    }
    if let Some(roadmap) = &mut work.roadmap {
        relink_split(roadmap, &ids);
    }
    let reason = format!("split \"{}\" into {}", node.title, quote_list(&titles));
    Ok(EditSummary { action: AdaptationAction::Add, node_ids: ids, reason })
}

/// Returns a task that can be split or merged: unlocked, a leaf, not a point, not repeating.
fn single_task(work: &PlanEditDraft<'_>, id: &TaskId) -> Result<PlanNode, EditError> {
    let node = work.find_node(id)?.clone();
    let title = node.title.clone();
    work.require_unlocked(id)?;
    if tree::is_point(&node) {
        return Err(EditError::Milestone { title });
    }
    if node.node_type.is_container() || !work.tree().is_leaf(id) {
        return Err(EditError::Container { title });
    }
    if node.recurrence.is_some() {
        return Err(EditError::Repeats { title });
    }
    Ok(node)
}

/// Parts without a time share what the others leave, in quarter hours where that works out.
fn share_time(total: Option<u32>, parts: &[SplitPart]) -> Result<Vec<Option<u32>>, EditError> {
    let stated: u32 = parts.iter().filter_map(|part| part.minutes).sum();
    let open = parts.iter().filter(|part| part.minutes.is_none()).count();
    let Some(total) = total else { return Ok(parts.iter().map(|part| part.minutes).collect()) };
    let rest = total.saturating_sub(stated);
    if parts.iter().any(|part| part.minutes == Some(0)) || (open > 0 && (rest as usize) < open) {
        return Err(EditError::TooFewMinutes { minutes: rest, tasks: open.max(1) });
    }
    let leaves: Vec<(TaskId, u32)> =
        (0..open).map(|part| (TaskId::from(format!("{part:04}")), 1)).collect();
    let mut shares = tree::share_minutes(rest, &leaves).into_values();
    Ok(parts.iter().map(|part| part.minutes.or_else(|| shares.next())).collect())
}

/// Gives a part its share. What leads to the task stays with its first part, what follows from it with its last.
fn shape_part(node: &mut PlanNode, title: &str, minutes: Option<u32>, (first, last): (bool, bool)) {
    title.clone_into(&mut node.title);
    node.estimate_minutes = minutes;
    node.origin = NodeOrigin::UserFeedback;
    let dates = node.dates();
    node.set_dates(NodeDates {
        fixed_start: dates.fixed_start.filter(|_| first),
        fixed_end: dates.fixed_end.filter(|_| last),
        not_before: dates.not_before,
        due: dates.due,
    });
    if !last {
        node.done_when.clear();
        node.exit_criteria.clear();
    }
}

/// What is tied to the start of the task stays with its first part; what is tied to its end moves to its last.
fn relink_split(roadmap: &mut Roadmap, parts: &[TaskId]) {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return };
    for link in &mut roadmap.dependencies {
        if link.from == *first && matches!(link.kind, LinkKind::FS | LinkKind::FF) {
            link.from.clone_from(last);
        }
        if link.to == *first && matches!(link.kind, LinkKind::FF | LinkKind::SF) {
            link.to.clone_from(last);
        }
    }
    roadmap.dependencies.extend(parts.windows(2).map(|pair| NodeDependency {
        origin: LinkOrigin::UserFeedback,
        ..NodeDependency::finish_to_start(pair[0].clone(), pair[1].clone())
    }));
}

/// Merges tasks into the first of them in the order of the plan.
pub(super) fn merge_nodes(
    work: &mut PlanEditDraft<'_>,
    ids: &[TaskId],
    title: &str,
) -> Result<EditSummary, EditError> {
    let title = clean_title(title)?;
    let wanted: BTreeSet<&TaskId> = ids.iter().collect();
    if wanted.len() < 2 {
        return Err(EditError::PartCount { most: MAX_PARTS });
    }
    let merged: Vec<PlanNode> =
        wanted.iter().map(|id| single_task(work, id)).collect::<Result<_, _>>()?;
    for node in &merged {
        node.parent_id.iter().try_for_each(|parent| work.require_parts_editable(parent))?;
    }
    let order = work.tree();
    let order = order.subtree(&work.outline.root_id);
    let mut merged: Vec<PlanNode> = order
        .iter()
        .filter_map(|node| merged.iter().find(|found| found.id == node.id).cloned())
        .collect();
    let sum = merge_fields(&merged, &title)?;
    let kept = sum.id.clone();
    let gone: BTreeSet<TaskId> = merged.iter().skip(1).map(|node| node.id.clone()).collect();
    // Each side keeps its own place and level; the sum is the same on both.
    work.update_node_lists(|nodes| {
        let minutes: u32 = nodes
            .iter()
            .filter(|node| node.id == kept || gone.contains(&node.id))
            .filter_map(|node| node.estimate_minutes)
            .sum();
        for node in nodes.iter_mut().filter(|node| node.id == kept) {
            *node = PlanNode {
                estimate_minutes: Some(minutes).filter(|minutes| *minutes > 0),
                stream: node.stream.clone(),
                position: node.position,
                ..sum.clone()
            };
        }
        nodes.retain(|node| !gone.contains(&node.id));
    });
    if let Some(roadmap) = &mut work.roadmap {
        relink_merged(roadmap, &kept, &gone);
    }
    let titles: Vec<String> = merged.iter().map(|node| node.title.clone()).collect();
    let reason = format!("merged {} into \"{title}\"", quote_list(&titles));
    let node_ids = merged.drain(..).map(|node| node.id).collect();
    Ok(EditSummary { action: AdaptationAction::Remove, node_ids, reason })
}

/// Returns the first task with what the others add to it.
fn merge_fields(merged: &[PlanNode], title: &str) -> Result<PlanNode, EditError> {
    let (Some(first), Some(last)) = (merged.first(), merged.last()) else {
        return Err(EditError::PartCount { most: MAX_PARTS });
    };
    if let Some(other) = merged.iter().find(|node| tree::doer_of(node) != tree::doer_of(first)) {
        let (first, other) = (first.title.clone(), other.title.clone());
        return Err(EditError::DifferentDoers { first, other });
    }
    let mut sum = first.clone();
    title.clone_into(&mut sum.title);
    sum.origin = NodeOrigin::UserFeedback;
    let texts = |of: fn(&PlanNode) -> &str| {
        let mut found: Vec<&str> = Vec::new();
        for text in merged.iter().map(of).filter(|text| !text.trim().is_empty()) {
            if !found.contains(&text) {
                found.push(text);
            }
        }
        found.join("; ")
    };
    sum.done_when = texts(|node| &node.done_when);
    sum.description = texts(|node| &node.description);
    sum.why = texts(|node| &node.why);
    let lists = |of: fn(&PlanNode) -> &Vec<String>| {
        let mut found: Vec<String> = Vec::new();
        for item in merged.iter().flat_map(of) {
            if !found.contains(item) {
                found.push(item.clone());
            }
        }
        found
    };
    sum.risks = lists(|node| &node.risks);
    sum.assumptions = lists(|node| &node.assumptions);
    sum.evidence = lists(|node| &node.evidence);
    sum.tags = lists(|node| &node.tags);
    sum.exit_criteria = merged.iter().flat_map(|node| node.exit_criteria.clone()).collect();
    sum.optional = merged.iter().all(|node| node.optional);
    sum.cost = sum_costs(merged);
    for (name, units) in merged.iter().flat_map(|node| &node.resources) {
        let most = sum.resources.entry(name.clone()).or_default();
        *most = (*most).max(*units);
    }
    sum.set_dates(NodeDates {
        fixed_start: first.fixed_start,
        fixed_end: last.fixed_end,
        not_before: merged.iter().filter_map(|node| node.not_before).min(),
        due: merged.iter().filter_map(|node| node.due).max(),
    });
    Ok(sum)
}

/// Amounts of one currency add up; of several, the first is kept.
fn sum_costs(merged: &[PlanNode]) -> Option<TaskCost> {
    let mut costs = merged.iter().filter_map(|node| node.cost.clone());
    let first = costs.next()?;
    Some(costs.filter(|cost| cost.currency == first.currency).fold(first.clone(), |sum, cost| {
        TaskCost { hundredths: sum.hundredths.saturating_add(cost.hundredths), ..sum }
    }))
}

/// Links of the merged tasks lead to or from the one that is left; links among them are gone.
fn relink_merged(roadmap: &mut Roadmap, kept: &TaskId, gone: &BTreeSet<TaskId>) {
    let mut seen = BTreeSet::new();
    let mut links = Vec::with_capacity(roadmap.dependencies.len());
    for mut link in std::mem::take(&mut roadmap.dependencies) {
        for end in [&mut link.from, &mut link.to] {
            if gone.contains(end) {
                end.clone_from(kept);
            }
        }
        let touched = link.from == *kept || link.to == *kept;
        let new = seen.insert((link.from.clone(), link.to.clone(), link.kind));
        if link.from != link.to && (new || !touched) {
            links.push(link);
        }
    }
    roadmap.dependencies = links;
}

fn quote_list(titles: &[String]) -> String {
    titles.iter().map(|title| format!("\"{title}\"")).collect::<Vec<_>>().join(", ")
}
