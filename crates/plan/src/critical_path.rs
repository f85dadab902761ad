//! The longest chain through a roadmap, by minutes and with lags.

use std::collections::{BTreeMap, BTreeSet};

use planwright_model::{LinkKind, NodeDependency, NodeTree, PatternType, PlanNode, TaskId};

/// Finds the critical path: the chain of leaves that ends last. Work that only recurs alongside the phases is excluded.
pub fn critical_path(
    nodes: &[PlanNode],
    root: &TaskId,
    links: &[NodeDependency],
    pattern: PatternType,
) -> Vec<TaskId> {
    let tree = NodeTree::new(nodes);
    let leaves: Vec<&PlanNode> = tree
        .leaves(root)
        .into_iter()
        .filter(|leaf| is_path_candidate(leaf, &tree, pattern))
        .collect();
    let places: BTreeMap<&TaskId, usize> =
        leaves.iter().enumerate().map(|(place, leaf)| (&leaf.id, place)).collect();
    let below = |id: &TaskId| -> Vec<usize> {
        tree.leaves(id).iter().filter_map(|leaf| places.get(&leaf.id).copied()).collect()
    };
    let edges: Vec<CriticalPathEdge> = links
        .iter()
        .map(|link| CriticalPathEdge {
            from: below(&link.from),
            to: below(&link.to),
            kind: link.kind,
            lag: i64::from(link.lag_minutes),
        })
        .filter(|edge| !edge.from.is_empty() && !edge.to.is_empty())
        .collect();
    let mut times =
        LeafStartTimes::new(leaves.iter().map(|leaf| i64::from(leaf.work_minutes())).collect());
    // Every round settles at least one more leaf, so a network without a cycle needs no more rounds than leaves.
    for _ in 0..=leaves.len() {
        // Relax all links in every round: stopping at the first that moves something would waste the rest.
        let moved = edges.iter().filter(|edge| times.relax_edge(edge)).count();
        if moved == 0 {
            break;
        }
    }
    times.critical_chain().into_iter().map(|place| leaves[place].id.clone()).collect()
}

/// In a plan with phases, recurring work runs alongside them; in a routine or a series one round is the work itself.
fn is_path_candidate(leaf: &PlanNode, tree: &NodeTree<'_>, pattern: PatternType) -> bool {
    let rounds = matches!(pattern, PatternType::RecurringCycle | PatternType::HybridProjectCycle);
    leaf.recurrence.is_none()
        && (rounds || tree.ancestors(&leaf.id).iter().all(|node| node.recurrence.is_none()))
}

struct CriticalPathEdge {
    from: Vec<usize>,
    to: Vec<usize>,
    kind: LinkKind,
    lag: i64,
}

struct LeafStartTimes {
    minutes: Vec<i64>,
    start: Vec<i64>,
    cause: Vec<Option<usize>>,
}

impl LeafStartTimes {
    fn new(minutes: Vec<i64>) -> Self {
        let start = vec![0; minutes.len()];
        let cause = vec![None; minutes.len()];
        Self { minutes, start, cause }
    }

    fn finish_time(&self, place: usize) -> i64 {
        self.start[place] + self.minutes[place]
    }

    /// Moves the successors of a link as late as it requires; returns whether anything moved.
    fn relax_edge(&mut self, edge: &CriticalPathEdge) -> bool {
        let by_finish = matches!(edge.kind, LinkKind::FS | LinkKind::FF);
        // The first of equals, so that the path is deterministic.
        let driver = if by_finish {
            edge.from.iter().copied().rev().max_by_key(|place| self.finish_time(*place))
        } else {
            edge.from.iter().copied().min_by_key(|place| self.start[*place])
        };
        let Some(driver) = driver else { return false };
        let bound =
            edge.lag + if by_finish { self.finish_time(driver) } else { self.start[driver] };
        let on_start = matches!(edge.kind, LinkKind::FS | LinkKind::SS);
        let closing = edge.to.last().copied().into_iter();
        let targets: Vec<usize> = if on_start { edge.to.clone() } else { closing.collect() };
        let mut moved = false;
        for place in targets {
            let earliest = if on_start { bound } else { bound - self.minutes[place] };
            if earliest > self.start[place] {
                self.start[place] = earliest;
                self.cause[place] = Some(driver);
                moved = true;
            }
        }
        moved
    }

    fn critical_chain(&self) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let mut next = (0..self.minutes.len()).rev().max_by_key(|place| self.finish_time(*place));
        let mut chain = Vec::new();
        while let Some(place) = next.filter(|place| seen.insert(*place)) {
            chain.push(place);
            next = self.cause[place];
        }
        chain.reverse();
        chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::NodeType;

    fn plan(minutes: &[u32]) -> Vec<PlanNode> {
        let goal = PlanNode::new_goal("g", "Goal");
        let mut nodes = vec![goal.clone()];
        for (place, minutes) in minutes.iter().enumerate() {
            let mut task = PlanNode::new_child(&goal, format!("t{place}"), NodeType::Task, "Task");
            task.position = place as u16;
            task.estimate_minutes = Some(*minutes);
            nodes.push(task);
        }
        nodes
    }

    fn path(minutes: &[u32], links: &[NodeDependency]) -> Vec<String> {
        let found =
            critical_path(&plan(minutes), &"g".into(), links, PatternType::MilestoneProject);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_longest_chain_includes_lags() {
        let plain = [
            NodeDependency::finish_to_start("t0", "t1"),
            NodeDependency::finish_to_start("t0", "t2"),
        ];
        assert_eq!(path(&[60, 30, 45], &plain), ["t0", "t2"]);
        let lagged = [plain[0].clone().with_lag(60), plain[1].clone()];
        assert_eq!(path(&[60, 30, 45], &lagged), ["t0", "t1"]);
        assert_eq!(path(&[60, 30], &[]), ["t0"]);
    }

    #[test]
    fn a_cycle_ends_the_search() {
        let links = [
            NodeDependency::finish_to_start("t0", "t1"),
            NodeDependency::finish_to_start("t1", "t0"),
        ];
        assert!(!path(&[60, 30], &links).is_empty());
    }
}
