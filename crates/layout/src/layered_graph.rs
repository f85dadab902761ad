//! The proper layered graph: long edges are cut into pieces between adjacent layers by dummies.

use super::LayoutGraph;

/// An edge that takes part in the layout, with its index in the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct UsableEdge {
    pub(super) edge: u32,
    pub(super) source: u32,
    pub(super) target: u32,
    pub(super) straight: bool,
}

/// Selects the edges that can be laid out: known ends, no loops, no repeats, and no cycle among them.
pub(super) fn usable_edges(graph: &LayoutGraph) -> Vec<UsableEdge> {
    let mut seen = std::collections::HashSet::new();
    let mut usable: Vec<UsableEdge> = Vec::new();
    for (index, &(source, target)) in graph.edges.iter().enumerate() {
        let known = source < graph.nodes && target < graph.nodes && source != target;
        if known && seen.insert((source, target)) {
            usable.push(UsableEdge {
                edge: index as u32,
                source,
                target,
                straight: graph.straight[index],
            });
        }
    }
    let rank = topological_rank(graph.nodes as usize, &usable);
    usable.retain(|e| rank[e.source as usize] < rank[e.target as usize]);
    usable
}

/// Returns the position of each node in a topological order. A cycle is cut at its first node in input order.
pub(super) fn topological_rank(nodes: usize, edges: &[UsableEdge]) -> Vec<u32> {
    let out = AdjacencyLists::new(nodes, edges.iter().map(|e| (e.source, e.target)));
    let mut waiting = vec![0_u32; nodes];
    for edge in edges {
        waiting[edge.target as usize] += 1;
    }
    let mut ready: Vec<u32> = (0..nodes as u32).filter(|&n| waiting[n as usize] == 0).collect();
    let mut rank = vec![u32::MAX; nodes];
    let (mut next, mut done, mut scan) = (0, 0, 0);
    loop {
        while next < ready.len() {
            let node = ready[next];
            next += 1;
            if rank[node as usize] != u32::MAX {
                continue;
            }
            rank[node as usize] = done;
            done += 1;
            for &target in out.neighbors(node) {
                let left = &mut waiting[target as usize];
                *left -= 1;
                if *left == 0 {
                    ready.push(target);
                }
            }
        }
        while scan < nodes && rank[scan] != u32::MAX {
            scan += 1;
        }
        if scan == nodes {
            return rank;
        }
        ready.push(scan as u32);
    }
}

/// Adjacency lists in one allocation.
#[derive(Clone, Debug, Default)]
pub(super) struct AdjacencyLists {
    start: Vec<u32>,
    list: Vec<u32>,
}

impl AdjacencyLists {
    pub(super) fn new(nodes: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut start = vec![0_u32; nodes + 1];
        for (from, _) in pairs.clone() {
            start[from as usize + 1] += 1;
        }
        for index in 0..nodes {
            start[index + 1] += start[index];
        }
        let mut fill = start.clone();
        let mut list = vec![0; start[nodes] as usize];
        for (from, to) in pairs {
            let slot = &mut fill[from as usize];
            list[*slot as usize] = to;
            *slot += 1;
        }
        Self { start, list }
    }

    pub(super) fn neighbors(&self, node: u32) -> &[u32] {
        &self.list[self.neighbor_range(node)]
    }

    /// Returns the index range of the neighbors of `node` in the flat list.
    pub(super) fn neighbor_range(&self, node: u32) -> std::ops::Range<usize> {
        self.start[node as usize] as usize..self.start[node as usize + 1] as usize
    }

    /// Returns the neighbor at one index of the flat list.
    pub(super) fn neighbor_at(&self, place: usize) -> u32 {
        self.list[place]
    }

    /// Returns the total number of neighbors.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}

/// One connected component, cut into pieces. Items below `real` are nodes, the others dummies.
#[derive(Clone, Debug)]
pub(super) struct LayeredGraph {
    pub(super) real: usize,
    pub(super) layer: Vec<u32>,
    pub(super) layers: Vec<Vec<u32>>,
    pub(super) up: AdjacencyLists,
    pub(super) down: AdjacencyLists,
    /// The items of each edge, both ends included.
    pub(super) chains: Vec<Vec<u32>>,
    /// The chain of each piece, by index in `down`.
    pub(super) chain_of: Vec<u32>,
    /// Edges that should be straight, by index in `chains`.
    pub(super) straight: Vec<bool>,
}

impl LayeredGraph {
    /// Cuts `edges` (source, target) given the layer of each node.
    pub(super) fn new(ranks: &[u32], edges: &[(u32, u32)], straight: Vec<bool>) -> Self {
        let mut layer = ranks.to_vec();
        let mut chains = Vec::with_capacity(edges.len());
        for &(source, target) in edges {
            let mut chain = vec![source];
            for between in ranks[source as usize] + 1..ranks[target as usize] {
                chain.push(layer.len() as u32);
                layer.push(between);
            }
            chain.push(target);
            chains.push(chain);
        }
        let depth = layer.iter().max().map_or(0, |&last| last as usize + 1);
        let mut layers = vec![Vec::new(); depth];
        for (item, &at) in layer.iter().enumerate() {
            layers[at as usize].push(item as u32);
        }
        let pieces =
            || chains.iter().flat_map(|chain| chain.windows(2).map(|pair| (pair[0], pair[1])));
        let down = AdjacencyLists::new(layer.len(), pieces());
        let up = AdjacencyLists::new(layer.len(), pieces().map(|(from, to)| (to, from)));
        // The lists were filled in the order of the chains, so a second pass visits the same indices.
        let mut next: Vec<usize> =
            (0..layer.len() as u32).map(|item| down.neighbor_range(item).start).collect();
        let mut chain_of = vec![0; down.len()];
        for (index, chain) in chains.iter().enumerate() {
            for &item in &chain[..chain.len() - 1] {
                chain_of[next[item as usize]] = index as u32;
                next[item as usize] += 1;
            }
        }
        Self { real: ranks.len(), layer, layers, up, down, chains, chain_of, straight }
    }

    pub(super) fn item_count(&self) -> usize {
        self.layer.len()
    }

    pub(super) fn is_dummy(&self, item: u32) -> bool {
        item as usize >= self.real
    }
}
