//! Moves chains of nodes to earlier layers where the fullest layer gets emptier by it, so that a drawing is lower.
//!
//! The shortest edges can crowd one layer: a side branch that could begin earlier stands beside what it has nothing to do
//! with. One step to the left costs little and saves a whole row of boxes.

use crate::layered_graph::AdjacencyLists;

/// Larger graphs are left as they are: a row more or less does not show in them, and the search is quadratic.
const MOST_NODES: usize = 64;
/// How much longer all edges together may become for one row less.
const MOST_LONGER: i64 = 1;

/// Balances the layers. Every edge still points to a later one.
pub(super) fn balance_ranks(ranks: &mut [u32], out: &AdjacencyLists, into: &AdjacencyLists) {
    if ranks.len() > MOST_NODES {
        return;
    }
    // Each round makes the fullest layers fewer or emptier, so that it ends.
    while let Some(moved) = best_move(ranks, out, into) {
        for node in moved {
            ranks[node as usize] -= 1;
        }
    }
}

/// How full the fullest layer is, and how many are as full.
fn fullness(ranks: &[u32]) -> (usize, usize) {
    let last = ranks.iter().max().copied().unwrap_or(0) as usize;
    let mut counts = vec![0; last + 1];
    for &rank in ranks {
        counts[rank as usize] += 1;
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    (most, counts.iter().filter(|&&count| count == most).count())
}

/// The nodes that go one layer to the left together, if that makes the fullest layer emptier at a low price.
fn best_move(ranks: &[u32], out: &AdjacencyLists, into: &AdjacencyLists) -> Option<Vec<u32>> {
    let before = fullness(ranks);
    let mut best: Option<((usize, usize), i64, Vec<u32>)> = None;
    for node in 0..ranks.len() as u32 {
        let Some(moved) = moved_together(node, ranks, into) else { continue };
        let longer = added_length(&moved, out, into);
        if longer > MOST_LONGER {
            continue;
        }
        let mut after = ranks.to_vec();
        for &node in &moved {
            after[node as usize] -= 1;
        }
        let full = fullness(&after);
        let better = best.as_ref().is_none_or(|(least, cost, _)| (full, longer) < (*least, *cost));
        if full < before && better {
            best = Some((full, longer, moved));
        }
    }
    best.map(|(_, _, moved)| moved)
}

/// A node and all before it that have to move with it; none if one of them stands in the first layer.
fn moved_together(node: u32, ranks: &[u32], into: &AdjacencyLists) -> Option<Vec<u32>> {
    let mut moved = vec![node];
    let mut at = 0;
    while let Some(&next) = moved.get(at) {
        let rank = ranks[next as usize].checked_sub(1)?;
        for &source in into.neighbors(next) {
            if ranks[source as usize] == rank && !moved.contains(&source) {
                moved.push(source);
            }
        }
        at += 1;
    }
    Some(moved)
}

/// By how much all edges together get longer.
fn added_length(moved: &[u32], out: &AdjacencyLists, into: &AdjacencyLists) -> i64 {
    let outside = |nodes: &[u32]| nodes.iter().filter(|node| !moved.contains(node)).count() as i64;
    moved.iter().map(|&node| outside(out.neighbors(node)) - outside(into.neighbors(node))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_branch_makes_room_where_a_layer_is_crowded() {
        // 0 → 1 → 2 → 3 → 4, 5 → 2, 5 → 6 → 7, 8 → 4
        let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 2), (5, 6), (6, 7), (8, 4)];
        let out = AdjacencyLists::new(9, edges.iter().copied());
        let into = AdjacencyLists::new(9, edges.iter().map(|&(from, to)| (to, from)));
        let mut ranks = vec![0, 1, 2, 3, 4, 1, 2, 3, 3];
        balance_ranks(&mut ranks, &out, &into);
        assert_eq!(fullness(&ranks), (2, 4));
        assert!(edges.iter().all(|&(from, to)| ranks[from as usize] < ranks[to as usize]));
        assert_eq!(ranks[..5], [0, 1, 2, 3, 4], "the longest path stays");
    }
}
