//! Counts crossings between adjacent layers in O(e log v).

use super::Layout;
use super::layered_graph::AdjacencyLists;

/// Counts inversions with an accumulator tree that is reused between calls (Barth, Jünger and Mutzel 2002).
#[derive(Clone, Debug, Default)]
pub(super) struct CrossingCounter {
    tree: Vec<u32>,
    ends: Vec<u32>,
}

impl CrossingCounter {
    /// Returns the crossings of the pieces that go down from `upper`, whose lower ends are at `position` among `width`
    /// items.
    pub(super) fn count_between(
        &mut self,
        upper: &[u32],
        down: &AdjacencyLists,
        position: &[u32],
        width: usize,
    ) -> u64 {
        self.tree.clear();
        self.tree.resize(width + 1, 0);
        let (mut total, mut seen) = (0_u64, 0_u32);
        for &item in upper {
            self.ends.clear();
            self.ends.extend(down.neighbors(item).iter().map(|&to| position[to as usize]));
            // All ends of one item are queried before any is added: pieces that share an end do not cross.
            for &end in &self.ends {
                total += u64::from(seen - prefix_sum(&self.tree, end as usize + 1));
            }
            for &end in &self.ends {
                increment_tree(&mut self.tree, end as usize + 1);
                seen += 1;
            }
        }
        total
    }
}

/// Calls `found` for every crossed piece that goes down from `upper`, with its index in the list of neighbors.
pub(super) fn for_each_crossed(
    upper: &[u32],
    down: &AdjacencyLists,
    position: &[u32],
    mut found: impl FnMut(usize),
) {
    // A piece is crossed if an earlier item has an end after it, or a later item an end before it.
    let mut furthest = 0;
    for &item in upper {
        let mut reach = furthest;
        for at in down.neighbor_range(item) {
            let end = position[down.neighbor_at(at) as usize];
            if end < furthest {
                found(at);
            }
            reach = reach.max(end);
        }
        furthest = reach;
    }
    let mut nearest = u32::MAX;
    for &item in upper.iter().rev() {
        let mut reach = nearest;
        for at in down.neighbor_range(item) {
            let end = position[down.neighbor_at(at) as usize];
            if end > nearest {
                found(at);
            }
            reach = reach.min(end);
        }
        nearest = reach;
    }
}

/// Counts the crossings of a finished layout, by the order of its items.
pub(super) fn count_layout_crossings(layout: &Layout) -> u64 {
    let mut pieces: Vec<Vec<(u32, u32)>> = vec![Vec::new(); layout.layers.len()];
    for route in layout.edges.iter().filter(|route| route.drawn) {
        let mut from = layout.nodes[route.source as usize];
        for to in route.dummies.iter().copied().chain([layout.nodes[route.target as usize]]) {
            pieces[from.layer as usize].push((from.order, to.order));
            from = to;
        }
    }
    pieces.into_iter().map(count_inversions).sum()
}

/// Counts the pairs in strictly opposite order.
fn count_inversions(mut pieces: Vec<(u32, u32)>) -> u64 {
    pieces.sort_unstable();
    let width = pieces.iter().map(|piece| piece.1 as usize + 1).max().unwrap_or(0);
    let mut tree = vec![0; width + 1];
    let mut total = 0;
    // Sorted by both ends, a piece never counts one that shares its upper end: those come first with smaller ends.
    for (seen, &(_, lower)) in pieces.iter().enumerate() {
        total += seen as u64 - u64::from(prefix_sum(&tree, lower as usize + 1));
        increment_tree(&mut tree, lower as usize + 1);
    }
    total
}

/// Returns how many entries were added at positions up to `at`.
fn prefix_sum(tree: &[u32], mut at: usize) -> u32 {
    let mut sum = 0;
    while at > 0 {
        sum += tree[at];
        at &= at - 1;
    }
    sum
}

fn increment_tree(tree: &mut [u32], mut at: usize) {
    while at < tree.len() {
        tree[at] += 1;
        at += at & at.wrapping_neg();
    }
}
