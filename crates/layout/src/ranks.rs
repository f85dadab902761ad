//! Gives each node a layer: no more layers than the longest path needs, and the edges as short as can be.

use super::proper::Neighbours;

mod simplex;

/// Layers of a connected graph without cycles, starting at 0.
///
/// Short edges mean few dummies, and few dummies mean few crossings and few bends.
pub(super) fn assign(nodes: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let out = Neighbours::new(nodes, edges.iter().copied());
    let into = Neighbours::new(nodes, edges.iter().map(|&(source, target)| (target, source)));
    let mut ranks = longest_path(nodes, &out, &into);
    shorten(&mut ranks, &out, &into);
    simplex::tighten(&mut ranks, edges);
    let first = ranks.iter().min().copied().unwrap_or(0);
    ranks.into_iter().map(|rank| rank - first).collect()
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

/// Moves single nodes inside their slack while that shortens edges: a quick start for the exact method.
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
