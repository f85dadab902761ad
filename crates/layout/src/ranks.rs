//! Assigns each node a layer: no more layers than the longest path needs, and edges as short as possible.

use super::layered_graph::AdjacencyLists;

mod network_simplex;
mod rank_balancing;

/// Returns the layers of a connected acyclic graph, starting at 0.
///
/// Short edges mean few dummies, and few dummies mean few crossings and few bends.
pub(super) fn assign_ranks(nodes: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let out = AdjacencyLists::new(nodes, edges.iter().copied());
    let into = AdjacencyLists::new(nodes, edges.iter().map(|&(source, target)| (target, source)));
    // Every step keeps each edge pointing to a later layer, so the result is valid even if the network simplex stops at
    // its limit.
    let mut ranks = longest_path_ranks(nodes, &out, &into);
    shorten_edges(&mut ranks, &out, &into);
    network_simplex::minimize_edge_lengths(&mut ranks, edges);
    rank_balancing::balance_ranks(&mut ranks, &out, &into);
    let first = ranks.iter().min().copied().unwrap_or(0);
    ranks.into_iter().map(|rank| rank - first).collect()
}

fn longest_path_ranks(nodes: usize, out: &AdjacencyLists, into: &AdjacencyLists) -> Vec<u32> {
    let mut waiting: Vec<usize> = (0..nodes as u32).map(|n| into.neighbors(n).len()).collect();
    let mut ready: Vec<u32> = (0..nodes as u32).filter(|&n| waiting[n as usize] == 0).collect();
    let mut ranks = vec![0; nodes];
    while let Some(node) = ready.pop() {
        for &target in out.neighbors(node) {
            let at = target as usize;
            ranks[at] = u32::max(ranks[at], ranks[node as usize] + 1);
            waiting[at] -= 1;
            if waiting[at] == 0 {
                ready.push(target);
            }
        }
    }
    ranks
}

/// Moves single nodes within their slack while that shortens edges: a fast starting point for the exact method.
fn shorten_edges(ranks: &mut [u32], out: &AdjacencyLists, into: &AdjacencyLists) {
    const ROUNDS: usize = 50;
    let last = ranks.iter().max().copied().unwrap_or(0);
    for _ in 0..ROUNDS {
        let mut moved = false;
        for node in (0..ranks.len() as u32).rev() {
            let (sources, targets) = (into.neighbors(node), out.neighbors(node));
            let low = sources.iter().map(|&s| ranks[s as usize] + 1).max().unwrap_or(0);
            let high = targets.iter().map(|&t| ranks[t as usize] - 1).min().unwrap_or(last);
            // With more edges on one side, moving toward that side shortens the total; with equally many it stays the
            // same.
            let wanted = match sources.len().cmp(&targets.len()) {
                std::cmp::Ordering::Greater => low,
                std::cmp::Ordering::Less => high,
                std::cmp::Ordering::Equal => continue,
            };
            moved |= ranks[node as usize] != wanted;
            ranks[node as usize] = wanted;
        }
        if !moved {
            break;
        }
    }
}
