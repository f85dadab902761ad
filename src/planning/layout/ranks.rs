//! Gives each node a layer: the fewest layers possible, then edges made short.

use super::proper::{Neighbours, Usable};

/// Longest-path ranks, tightened so that the total length of the edges is small.
pub(super) fn assign(nodes: usize, edges: &[Usable]) -> Vec<u32> {
    let out = Neighbours::new(nodes, edges.iter().map(|e| (e.source, e.target)));
    let into = Neighbours::new(nodes, edges.iter().map(|e| (e.target, e.source)));
    let mut ranks = longest_path(nodes, &out, &into);
    shorten(&mut ranks, &out, &into);
    ranks
}

fn longest_path(nodes: usize, out: &Neighbours, into: &Neighbours) -> Vec<u32> {
    let mut waiting: Vec<usize> = (0..nodes as u32).map(|n| into.of(n).len()).collect();
    let mut ready: Vec<u32> = (0..nodes as u32).filter(|&n| waiting[n as usize] == 0).collect();
    let mut ranks = vec![0; nodes];
    while let Some(node) = ready.pop() {
        for &target in out.of(node) {
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

/// Moves single nodes inside their slack while that shortens edges.
fn shorten(ranks: &mut [u32], out: &Neighbours, into: &Neighbours) {
    const ROUNDS: usize = 50;
    let last = ranks.iter().max().copied().unwrap_or(0);
    for _ in 0..ROUNDS {
        let mut moved = false;
        for node in (0..ranks.len() as u32).rev() {
            let (sources, targets) = (into.of(node), out.of(node));
            let low = sources.iter().map(|&s| ranks[s as usize] + 1).max().unwrap_or(0);
            let high = targets.iter().map(|&t| ranks[t as usize] - 1).min().unwrap_or(last);
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
