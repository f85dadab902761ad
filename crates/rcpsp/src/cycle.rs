//! Finds the cycle to report when links contradict each other.

use std::collections::VecDeque;

/// Returns a shortest cycle among `links`, starting at its smallest leaf, or `None` if there is none.
///
/// Runs one breadth-first search from every leaf on a cycle, each limited to the best length so far. Called only after
/// ordering has failed, so a valid plan never pays for it.
pub(super) fn shortest_cycle(leaves: usize, links: &[(usize, usize)]) -> Option<Vec<usize>> {
    let mut successors = vec![Vec::new(); leaves];
    for &(from, to) in links {
        successors[from].push(to);
    }
    for row in &mut successors {
        row.sort_unstable();
        row.dedup();
    }
    let mut best: Option<Vec<usize>> = None;
    for start in 0..leaves {
        let limit = best.as_ref().map_or(usize::MAX, Vec::len);
        if let Some(found) = cycle_through(start, &successors, limit) {
            best = Some(found);
        }
        if best.as_ref().is_some_and(|found| found.len() == 1) {
            break;
        }
    }
    best
}

/// Returns the shortest cycle through `start` that has fewer than `limit` leaves and none below `start`.
///
/// Cycles through a smaller leaf were found from that leaf.
fn cycle_through(start: usize, successors: &[Vec<usize>], limit: usize) -> Option<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut parent = vec![UNSEEN; successors.len()];
    let mut queue = VecDeque::from([(start, 1)]);
    while let Some((leaf, length)) = queue.pop_front() {
        if length >= limit {
            return None;
        }
        for &next in &successors[leaf] {
            if next == start {
                return Some(path_back(start, leaf, &parent));
            }
            if next > start && parent[next] == UNSEEN {
                parent[next] = leaf;
                queue.push_back((next, length + 1));
            }
        }
    }
    None
}

fn path_back(start: usize, end: usize, parent: &[usize]) -> Vec<usize> {
    let mut path = vec![end];
    let mut leaf = end;
    while leaf != start {
        leaf = parent[leaf];
        path.push(leaf);
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::shortest_cycle;

    #[test]
    fn reports_the_shortest_of_several_cycles() {
        let links = [(0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 1)];
        assert_eq!(shortest_cycle(5, &links), Some(vec![1, 2, 4]));
    }

    #[test]
    fn a_leaf_linked_to_itself_is_a_cycle_of_one() {
        assert_eq!(shortest_cycle(3, &[(0, 1), (1, 0), (2, 2)]), Some(vec![2]));
    }

    #[test]
    fn an_acyclic_graph_has_none() {
        assert_eq!(shortest_cycle(3, &[(0, 1), (0, 2), (1, 2)]), None);
    }
}
