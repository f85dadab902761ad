//! Taking single changes of a draft back: each row is as it was in the draft before, or as it is in the new one.

use std::collections::{BTreeMap, BTreeSet};

use planwright_model::{
    DateField, NodeDependency, PlanDate, PlanEdit, PlanNode, PlanOutline, Roadmap, TaskId,
};

use super::{EditError, require_rules_kept, update_derived_fields};
use crate::diff::DraftView;

/// A draft put together from two, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct CombinedDraft {
    pub outline: PlanOutline,
    pub roadmap: Option<Roadmap>,
    /// The rows that are as before: those that were named, and those that only make sense with them.
    pub put_back: BTreeSet<TaskId>,
}

/// Why a change cannot be put back or taken again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PutBackError {
    #[error("\"{title}\" is as it was before; its dates follow from other changes")]
    NotChanged { title: String },
    #[error("there is no earlier draft to compare with")]
    NothingBefore,
    #[error("\"{title}\" was not put back")]
    NotPutBack { title: String },
    #[error(transparent)]
    Refused(#[from] EditError),
}

/// Combines two drafts: the rows of `put_back` as in `before`, every other row as in `after`. A row that is the same in both
/// and only moved is fixed to the day it had.
///
/// A row needs its group. Where a row is put back whose group is gone, the group is put back too; where a group that is
/// new is put back, so is everything that stands in it. `keeping` prefers the new draft in the same way.
pub fn combine_drafts(
    before: &DraftView<'_>,
    after: &DraftView<'_>,
    put_back: &BTreeSet<TaskId>,
    keeping: bool,
) -> Result<CombinedDraft, EditError> {
    let (old, new) = (RowsById::new(before), RowsById::new(after));
    let put_back = close_over_groups(&old, &new, put_back.clone(), keeping);
    let changed = changed_rows(before, after);
    let everything = changed.iter().all(|id| put_back.contains(id));
    let pick = |old: &[PlanNode], new: &[PlanNode]| {
        if everything { old.to_vec() } else { pick_nodes(old, new, &put_back) }
    };
    let mut outline = after.outline.clone();
    outline.nodes = pick(&before.outline.nodes, &after.outline.nodes);
    outline.version = outline.version.max(before.outline.version).saturating_add(1);
    let roadmap = match (before.roadmap, after.roadmap) {
        (Some(old), Some(new)) => {
            let mut roadmap = new.clone();
            roadmap.nodes = pick(&old.nodes, &new.nodes);
            let there: BTreeSet<&TaskId> = roadmap.nodes.iter().map(|node| &node.id).collect();
            roadmap.dependencies = if everything {
                old.dependencies.clone()
            } else {
                pick_links(&old.dependencies, &new.dependencies, &put_back, &there)
            };
            update_derived_fields(&mut roadmap, &outline);
            Some(roadmap)
        }
        (_, new) => new.cloned(),
    };
    require_rules_kept((after.outline, after.roadmap), (&outline, roadmap.as_ref())).or_else(
        |error| {
            // What the draft before broke already may be broken again.
            let kept =
                require_rules_kept((before.outline, before.roadmap), (&outline, roadmap.as_ref()));
            kept.map_err(|_| error)
        },
    )?;
    let moved = put_back.iter().filter(|id| !changed.contains(*id));
    let edits: Vec<PlanEdit> = moved
        .filter_map(|id| {
            let day = before.first_day(id)?;
            let (node, date) = (id.clone(), Some(PlanDate::on_day(day)));
            Some(PlanEdit::SetDate { node, field: DateField::FixedStart, date })
        })
        .collect();
    if edits.is_empty() {
        return Ok(CombinedDraft { outline, roadmap, put_back });
    }
    let edited = super::apply_edits(&outline, roadmap.as_ref(), &edits, &BTreeSet::new())?;
    Ok(CombinedDraft { outline: edited.outline, roadmap: edited.roadmap, put_back })
}

/// The rows of one draft and their groups, of outline and roadmap together.
struct RowsById<'a> {
    parents: BTreeMap<&'a TaskId, Option<&'a TaskId>>,
}

impl<'a> RowsById<'a> {
    fn new(view: &DraftView<'a>) -> Self {
        let roadmap = view.roadmap.map(|roadmap| roadmap.nodes.as_slice()).unwrap_or_default();
        let nodes = view.outline.nodes.iter().chain(roadmap);
        Self { parents: nodes.map(|node| (&node.id, node.parent_id.as_ref())).collect() }
    }

    fn contains(&self, id: &TaskId) -> bool {
        self.parents.contains_key(id)
    }

    fn parent(&self, id: &TaskId) -> Option<&'a TaskId> {
        self.parents.get(id).copied().flatten()
    }
}

/// Adds to or removes from the rows that are put back until every row that is left has its group.
fn close_over_groups(
    old: &RowsById<'_>,
    new: &RowsById<'_>,
    mut put_back: BTreeSet<TaskId>,
    keeping: bool,
) -> BTreeSet<TaskId> {
    put_back.retain(|id| old.contains(id) || new.contains(id));
    loop {
        let side = |id: &TaskId| if put_back.contains(id) { old } else { new };
        let all = old.parents.keys().chain(new.parents.keys());
        let orphan = all.copied().find(|id| {
            let own = side(id);
            let parent = own.parent(id).filter(|_| own.contains(id));
            parent.is_some_and(|parent| !side(parent).contains(parent))
        });
        let Some(orphan) = orphan.cloned() else { return put_back };
        let from_before = put_back.contains(&orphan);
        let parent = side(&orphan).parent(&orphan).cloned();
        match (keeping, from_before, parent) {
            // The row was put back, its group is gone: the group comes back too.
            (false, true, Some(parent)) => put_back.insert(parent),
            // The row is new, its group was put back and is gone: the row goes too.
            (false, false, _) => put_back.insert(orphan),
            (true, true, _) => put_back.remove(&orphan),
            (true, false, Some(parent)) => put_back.remove(&parent),
            (_, _, None) => return put_back,
        };
    }
}

/// Returns the rows that are not the same in both drafts: nodes, or what they wait for.
pub(super) fn changed_rows(before: &DraftView<'_>, after: &DraftView<'_>) -> BTreeSet<TaskId> {
    let diff = crate::diff::diff_drafts(
        &DraftView { schedule: None, ..*before },
        &DraftView { schedule: None, ..*after },
    );
    diff.own_changes().map(|row| row.node.clone()).collect()
}

/// Picks each node from its side. The order is that of the new draft; what comes back stands after its old neighbor.
fn pick_nodes(old: &[PlanNode], new: &[PlanNode], put_back: &BTreeSet<TaskId>) -> Vec<PlanNode> {
    let before: BTreeMap<&TaskId, &PlanNode> = old.iter().map(|node| (&node.id, node)).collect();
    let known: BTreeSet<&TaskId> = new.iter().map(|node| &node.id).collect();
    let mut nodes: Vec<PlanNode> = Vec::new();
    for node in new {
        match (put_back.contains(&node.id), before.get(&node.id)) {
            (false, _) => nodes.push(node.clone()),
            (true, Some(earlier)) => nodes.push((*earlier).clone()),
            (true, None) => {}
        }
    }
    for (place, node) in old.iter().enumerate() {
        if !known.contains(&node.id) && put_back.contains(&node.id) {
            let neighbor = old[..place]
                .iter()
                .rev()
                .find_map(|earlier| nodes.iter().position(|node| node.id == earlier.id));
            nodes.insert(neighbor.map_or(nodes.len(), |place| place + 1), node.clone());
        }
    }
    settle_levels(&mut nodes);
    settle_positions(&mut nodes);
    nodes
}

/// The level of a node follows from its parent's.
fn settle_levels(nodes: &mut [PlanNode]) {
    for _ in 0..nodes.len() {
        let levels: BTreeMap<TaskId, u8> =
            nodes.iter().map(|node| (node.id.clone(), node.level)).collect();
        let mut settled = true;
        for node in nodes.iter_mut() {
            let above = node.parent_id.as_ref().and_then(|parent| levels.get(parent));
            if let Some(wanted) = above.map(|level| level.saturating_add(1))
                && node.level != wanted
            {
                node.level = wanted;
                settled = false;
            }
        }
        if settled {
            return;
        }
    }
}

/// Two rows of a lane may claim one place; then the lane is numbered anew, in the order of its rows.
fn settle_positions(nodes: &mut [PlanNode]) {
    let mut lanes: BTreeMap<(Option<TaskId>, String), Vec<usize>> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        lanes.entry((node.parent_id.clone(), node.stream.clone())).or_default().push(index);
    }
    for mut lane in lanes.into_values() {
        lane.sort_by_key(|index| (nodes[*index].position, *index));
        let crowded =
            lane.windows(2).any(|pair| nodes[pair[0]].position == nodes[pair[1]].position);
        if crowded {
            for (position, index) in lane.into_iter().enumerate() {
                nodes[index].position = u16::try_from(position).unwrap_or(u16::MAX);
            }
        }
    }
}

/// A link that is new is gone where either end was put back; one that was removed is back there.
fn pick_links(
    old: &[NodeDependency],
    new: &[NodeDependency],
    put_back: &BTreeSet<TaskId>,
    there: &BTreeSet<&TaskId>,
) -> Vec<NodeDependency> {
    let key = |link: &NodeDependency| {
        (link.from.clone(), link.to.clone(), link.kind, link.lag_minutes, link.lag_basis)
    };
    let (before, after): (BTreeSet<_>, BTreeSet<_>) =
        (old.iter().map(key).collect(), new.iter().map(key).collect());
    let touched =
        |link: &NodeDependency| put_back.contains(&link.from) || put_back.contains(&link.to);
    let kept = new.iter().filter(|link| before.contains(&key(link)) || !touched(link));
    let back = old.iter().filter(|link| !after.contains(&key(link)) && touched(link));
    let complete = |link: &&NodeDependency| there.contains(&link.from) && there.contains(&link.to);
    kept.chain(back).filter(complete).cloned().collect()
}
