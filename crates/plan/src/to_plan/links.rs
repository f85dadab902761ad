//! Links between containers become links between their leaves, with as few of them as say the same.
//!
//! What ends a container are the leaves that nothing inside it waits for, what begins it those that wait for nothing
//! inside it. A container starts with the first of its leaves, so a start-to-start link leaves from that one alone.

use std::collections::{BTreeMap, BTreeSet};

use planwright_model::{Dependency, Link, LinkKind, NodeTree, PlanNode, Roadmap, TaskId};

use super::{Starts, recurrence_of};

/// Expands the links of a roadmap.
pub(super) struct Expander<'a> {
    roadmap: &'a Roadmap,
    tree: NodeTree<'a>,
    starts: &'a Starts<'a>,
}

impl<'a> Expander<'a> {
    pub(super) fn new(roadmap: &'a Roadmap, starts: &'a Starts<'a>) -> Self {
        Self { roadmap, tree: roadmap.tree(), starts }
    }

    /// For each leaf what it waits for, in the order of the roadmap's links.
    pub(super) fn expand(&self) -> BTreeMap<TaskId, Vec<Link>> {
        let mut found: BTreeMap<TaskId, Vec<Link>> = BTreeMap::new();
        for link in &self.roadmap.dependencies {
            let known = self.tree.contains(&link.from) && self.tree.contains(&link.to);
            if !known || self.related(&link.from, &link.to) {
                continue;
            }
            let (from, to) = self.ends(link);
            for target in to {
                let list = found.entry(target.id.clone()).or_default();
                for source in &from {
                    join(list, self.between(source, target, link));
                }
            }
        }
        found
    }

    fn related(&self, a: &TaskId, b: &TaskId) -> bool {
        a == b || self.tree.is_ancestor(a, b) || self.tree.is_ancestor(b, a)
    }

    /// The leaves that a link leaves from and those that it leads to.
    fn ends(&self, link: &Dependency) -> (Vec<&'a PlanNode>, Vec<&'a PlanNode>) {
        let from = match link.kind {
            LinkKind::FS | LinkKind::FF => self.sinks(&link.from),
            LinkKind::SS | LinkKind::SF => self.first(&link.from).into_iter().collect(),
        };
        let to = match link.kind {
            LinkKind::FS | LinkKind::SS => self.sources(&link.to),
            LinkKind::FF | LinkKind::SF => self.sinks(&link.to).pop().into_iter().collect(),
        };
        (from, to)
    }

    fn between(&self, from: &PlanNode, to: &PlanNode, link: &Dependency) -> Link {
        // In a round that repeats, each step follows the step before it in the same round. As a task it completes after
        // its last round, so waiting for that would turn the rounds inside out.
        let kind = match link.kind {
            LinkKind::FS if self.same_round(from, to) => LinkKind::SS,
            kind => kind,
        };
        Link {
            task: from.id.clone(),
            kind,
            lag_minutes: if kind == link.kind { link.lag_minutes } else { 0 },
            lag_basis: link.lag_basis,
            origin: link.origin,
        }
    }

    fn same_round(&self, a: &PlanNode, b: &PlanNode) -> bool {
        let rounds = |node: &PlanNode| -> Vec<TaskId> {
            let above = self.tree.ancestors(&node.id);
            let rounds = above.iter().filter(|node| node.recurrence.is_some());
            rounds.map(|node| node.id.clone()).collect()
        };
        let own = rounds(a);
        rounds(b).iter().any(|round| own.contains(round))
    }

    /// Links with both ends strictly inside a container.
    fn inside(&self, container: &TaskId) -> impl Iterator<Item = &'a Dependency> {
        let below: BTreeSet<&TaskId> =
            self.tree.subtree(container).into_iter().map(|node| &node.id).collect();
        let container = container.clone();
        self.roadmap.dependencies.iter().filter(move |link| {
            let strictly = |id: &TaskId| *id != container && below.contains(id);
            strictly(&link.from) && strictly(&link.to)
        })
    }

    fn leaves_of<'s>(&'s self, ids: impl Iterator<Item = &'a TaskId> + 's) -> BTreeSet<&'a TaskId> {
        ids.flat_map(|id| self.tree.leaves(id)).map(|leaf| &leaf.id).collect()
    }

    fn sinks(&self, id: &TaskId) -> Vec<&'a PlanNode> {
        let holds = |link: &&Dependency| link.kind == LinkKind::FS && link.lag_minutes >= 0;
        let followed = self.leaves_of(self.inside(id).filter(holds).map(|link| &link.from));
        self.left(id, &followed, End::Last)
    }

    fn sources(&self, id: &TaskId) -> Vec<&'a PlanNode> {
        let holds = |link: &&Dependency| {
            matches!(link.kind, LinkKind::FS | LinkKind::SS) && link.lag_minutes >= 0
        };
        let waiting = self.leaves_of(self.inside(id).filter(holds).map(|link| &link.to));
        self.left(id, &waiting, End::First)
    }

    /// The leaves that are not among `covered`. What repeats beside the work does not hold up what comes after it.
    fn left(&self, id: &TaskId, covered: &BTreeSet<&TaskId>, end: End) -> Vec<&'a PlanNode> {
        let leaves = self.tree.leaves(id);
        let repeats = |leaf: &&PlanNode| recurrence_of(leaf, &self.tree).is_some();
        let beside = end == End::Last && !leaves.iter().all(&repeats);
        leaves
            .into_iter()
            .filter(|leaf| !covered.contains(&leaf.id))
            .filter(|leaf| !(beside && repeats(leaf)))
            .collect()
    }

    /// The leaf that a container starts with: the earliest in the schedule, else the first in the outline.
    fn first(&self, id: &TaskId) -> Option<&'a PlanNode> {
        let sources = self.sources(id);
        let start = |leaf: &&&PlanNode| self.starts.first(&leaf.id).map(|block| block.start);
        let timed = sources.iter().filter(|leaf| start(leaf).is_some()).min_by_key(start);
        timed.or_else(|| sources.first()).copied()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

/// Of links between the same tasks that say the same, the one with the longer lag counts.
fn join(list: &mut Vec<Link>, link: Link) {
    let same = |old: &&mut Link| {
        old.task == link.task && old.kind == link.kind && old.lag_basis == link.lag_basis
    };
    match list.iter_mut().find(same) {
        Some(old) if old.lag_minutes >= link.lag_minutes => {}
        Some(old) => *old = link,
        None => list.push(link),
    }
}
