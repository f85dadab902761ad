//! Network simplex (Gansner, Koutsofios, North and Vo 1993): moves groups of nodes until the edges are shortest.
//!
//! A spanning tree of tight edges represents a set of ranks. A tree edge with a negative cut value, whose removal
//! leaves a part that should move, is replaced by the tightest edge between the two parts, until there is none.

/// Minimizes the total length of the edges of a connected graph.
pub(super) fn minimize_edge_lengths(ranks: &mut [u32], edges: &[(u32, u32)]) {
    if ranks.len() < 3 {
        return;
    }
    let mut tree = TightTree::new(ranks, edges);
    for _ in 0..max_pivots(ranks.len(), edges.len()) {
        let Some(leaving) = tree.find_leaving_node() else { break };
        tree.pivot_edge(leaving);
    }
    let first = tree.ranks.iter().min().copied().unwrap_or(0);
    for (rank, &new) in ranks.iter_mut().zip(&tree.ranks) {
        *rank = (new - first) as u32;
    }
}

/// The maximum number of steps over nodes and edges. Graphs of up to two thousand nodes never come close; ten thousand
/// took half a minute without it, for edges that were hardly shorter.
const MAX_STEPS: usize = 100_000_000;

/// Returns the maximum number of pivots. Every pivot renumbers the entire tree, and the ranks are usable after each
/// one.
fn max_pivots(nodes: usize, edges: usize) -> usize {
    let steps = nodes + 2 * edges;
    // Pivots that change nothing can repeat; far more than are ever needed means such a cycle.
    (8 * nodes).min(MAX_STEPS / steps.max(1))
}

struct TightTree<'a> {
    edges: &'a [(u32, u32)],
    ranks: Vec<i32>,
    chosen: Vec<bool>,
    /// The edge to the parent and the parent, by node; the root has none.
    parent: Vec<Option<(u32, u32)>>,
    /// Nodes with parents before children.
    order: Vec<u32>,
    /// The nodes below `n` have positions from `place[n]` to `last[n]` in `order`.
    place: Vec<u32>,
    last: Vec<u32>,
    /// By node, for the edge to its parent: the length saved when that edge grows by one.
    cut: Vec<i32>,
    around: Vec<Vec<u32>>,
    search: usize,
}

impl<'a> TightTree<'a> {
    fn new(ranks: &[u32], edges: &'a [(u32, u32)]) -> Self {
        let nodes = ranks.len();
        let mut around = vec![Vec::new(); nodes];
        for (index, &(source, target)) in edges.iter().enumerate() {
            around[source as usize].push(index as u32);
            around[target as usize].push(index as u32);
        }
        let mut tree = Self {
            edges,
            ranks: ranks.iter().map(|rank| rank.cast_signed()).collect(),
            chosen: vec![false; edges.len()],
            parent: vec![None; nodes],
            order: Vec::with_capacity(nodes),
            place: vec![0; nodes],
            last: vec![0; nodes],
            cut: vec![0; nodes],
            around,
            search: 0,
        };
        tree.grow_tight_tree();
        tree.index_tree();
        tree
    }

    fn edge_slack(&self, edge: u32) -> i32 {
        let (source, target) = self.edges[edge as usize];
        self.ranks[target as usize] - self.ranks[source as usize] - 1
    }

    fn other_end(&self, edge: u32, node: u32) -> u32 {
        let (source, target) = self.edges[edge as usize];
        if source == node { target } else { source }
    }

    /// Grows a tight tree over all nodes, moving it toward the nearest node whenever it cannot grow.
    fn grow_tight_tree(&mut self) {
        let mut inside = vec![false; self.ranks.len()];
        let mut members = vec![0_u32];
        inside[0] = true;
        let mut next = 0;
        loop {
            while next < members.len() {
                let node = members[next];
                next += 1;
                for at in 0..self.around[node as usize].len() {
                    let edge = self.around[node as usize][at];
                    let near = self.other_end(edge, node);
                    if !inside[near as usize] && self.edge_slack(edge) == 0 {
                        inside[near as usize] = true;
                        self.chosen[edge as usize] = true;
                        members.push(near);
                    }
                }
            }
            let crossing = |&edge: &u32| {
                let (source, target) = self.edges[edge as usize];
                inside[source as usize] != inside[target as usize]
            };
            let nearest = (0..self.edges.len() as u32)
                .filter(crossing)
                .min_by_key(|&edge| self.edge_slack(edge));
            let Some(edge) = nearest else { return };
            let slack = self.edge_slack(edge);
            let shift = if inside[self.edges[edge as usize].0 as usize] { slack } else { -slack };
            for &node in &members {
                self.ranks[node as usize] += shift;
            }
            // Every member is visited again: the shift made new edges tight.
            next = 0;
        }
    }

    /// Numbers the tree and sums up the cut values from the leaves.
    fn index_tree(&mut self) {
        self.order.clear();
        self.parent[0] = None;
        let mut stack = vec![0_u32];
        while let Some(node) = stack.pop() {
            self.place[node as usize] = self.order.len() as u32;
            self.order.push(node);
            for &edge in &self.around[node as usize] {
                let near = self.other_end(edge, node);
                if self.chosen[edge as usize]
                    && self.parent[node as usize].is_none_or(|(up, _)| up != edge)
                {
                    self.parent[near as usize] = Some((edge, node));
                    stack.push(near);
                }
            }
        }
        for &node in &self.order {
            self.last[node as usize] = self.place[node as usize];
        }
        // The pull of a part is the number of edges that leave it minus those that enter it.
        let mut pull = vec![0_i32; self.ranks.len()];
        for &(source, target) in self.edges {
            pull[source as usize] += 1;
            pull[target as usize] -= 1;
        }
        for &node in self.order.iter().rev() {
            if let Some((edge, up)) = self.parent[node as usize] {
                pull[up as usize] += pull[node as usize];
                self.last[up as usize] = self.last[up as usize].max(self.last[node as usize]);
                let source_below = self.edges[edge as usize].0 == node;
                self.cut[node as usize] =
                    if source_below { pull[node as usize] } else { -pull[node as usize] };
            }
        }
    }

    fn is_below(&self, top: u32, node: u32) -> bool {
        (self.place[top as usize]..=self.last[top as usize]).contains(&self.place[node as usize])
    }

    /// Returns the node whose edge to its parent should leave the tree.
    fn find_leaving_node(&mut self) -> Option<u32> {
        let nodes = self.ranks.len();
        let found = (0..nodes)
            .map(|step| (self.search + step) % nodes)
            .find(|&node| self.parent[node].is_some() && self.cut[node] < 0)?;
        self.search = (found + 1) % nodes;
        Some(found as u32)
    }

    /// Replaces the edge above `top` with the tightest edge in the opposite direction between the two parts.
    fn pivot_edge(&mut self, top: u32) {
        let Some((old, _)) = self.parent[top as usize] else { return };
        let source_below = self.edges[old as usize].0 == top;
        let span = self.place[top as usize] as usize..=self.last[top as usize] as usize;
        let mut best: Option<(i32, u32)> = None;
        for &node in &self.order[span.clone()] {
            for &edge in &self.around[node as usize] {
                let (source, target) = self.edges[edge as usize];
                let inner = if source_below { target } else { source };
                if inner == node && !self.is_below(top, self.other_end(edge, node)) {
                    let found = (self.edge_slack(edge), edge);
                    best = Some(best.map_or(found, |best| best.min(found)));
                }
            }
        }
        // A part with a negative cut value always has an edge in the opposite direction.
        let Some((slack, new)) = best else {
            self.cut[top as usize] = 0;
            return;
        };
        let shift = if source_below { -slack } else { slack };
        for &node in &self.order[span] {
            self.ranks[node as usize] += shift;
        }
        self.chosen[old as usize] = false;
        self.chosen[new as usize] = true;
        self.index_tree();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_bounded_for_any_graph_size() {
        assert_eq!(max_pivots(1_000, 3_000), 8_000, "what people draw is searched to the end");
        for nodes in [2_500, 10_000, 20_000] {
            for edges in [nodes, 3 * nodes, 200_000] {
                let steps = max_pivots(nodes, edges) * (nodes + 2 * edges);
                assert!(steps <= MAX_STEPS, "{nodes} nodes, {edges} edges: {steps}");
            }
        }
    }
}
