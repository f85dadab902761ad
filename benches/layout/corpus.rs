//! The 40 graphs of the layout benchmark, from a fixed generator: the same on every machine, permanently.

/// One graph of the corpus.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) nodes: u32,
    pub(crate) edges: Vec<(u32, u32)>,
}

/// Makes the edges of a graph with this many nodes.
type Build = fn(u32, &mut Random) -> Vec<(u32, u32)>;

/// Ten sizes of each of four kinds.
pub(crate) fn corpus() -> Vec<Sample> {
    const SIZES: [u32; 10] = [10, 16, 24, 36, 50, 75, 110, 160, 220, 300];
    let kinds: [(&str, Build); 4] =
        [("layered", layered), ("series", series_parallel), ("tree", tree), ("project", project)];
    let mut samples = Vec::new();
    for (kind, (name, build)) in kinds.into_iter().enumerate() {
        for nodes in SIZES {
            let mut random = Random::new(u64::from(nodes) * 31 + kind as u64 * 7_919 + 17);
            samples.push(Sample {
                name: format!("{name}-{nodes}"),
                nodes,
                edges: sort_edges(build(nodes, &mut random)),
            });
        }
    }
    samples
}

/// A project-like graph of any size.
pub(crate) fn project_of(nodes: u32) -> Sample {
    let edges = sort_edges(project(nodes, &mut Random::new(u64::from(nodes))));
    Sample { name: format!("project-{nodes}"), nodes, edges }
}

/// Sorts the edges and drops repeats, so that only the graph matters and not how it was built.
fn sort_edges(mut edges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    edges.retain(|&(a, b)| a < b);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Nodes in layers; each takes one to three inputs, mostly from the previous layer.
fn layered(nodes: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let width = (f64::from(nodes).sqrt() * 0.9).ceil() as u32;
    let mut edges = Vec::new();
    for node in width..nodes {
        let layer = node / width;
        for _ in 0..=random.below(3) {
            let back = if random.below(6) == 0 { 2 + random.below(3) } else { 1 };
            let from = layer.saturating_sub(back) * width + random.below(width);
            edges.push((from, node));
        }
    }
    edges
}

/// Edges replaced again and again by a chain or by a fork, with a few shortcuts.
fn series_parallel(nodes: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let mut links = vec![(0, 1)];
    let mut count = 2;
    while count < nodes {
        let at = random.below(links.len() as u32) as usize;
        let (a, b) = links[at];
        links.push((a, count));
        links.push((count, b));
        if random.below(3) > 0 {
            links.swap_remove(at);
        }
        count += 1;
    }
    let order = topological(nodes, &links);
    let mut edges: Vec<_> =
        links.iter().map(|&(a, b)| (order[a as usize], order[b as usize])).collect();
    for _ in 0..nodes / 10 {
        let a = random.below(nodes - 1);
        edges.push((a, (a + 1 + random.below(nodes / 5 + 1)).min(nodes - 1)));
    }
    edges
}

/// A tree with cross links.
fn tree(nodes: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let mut edges: Vec<_> =
        (1..nodes).map(|node| (random.below(node).max(node / 3).min(node - 1), node)).collect();
    for _ in 0..nodes / 4 {
        let a = random.below(nodes - 1);
        edges.push((a, a + 1 + random.below(nodes - a - 1)));
    }
    edges
}

/// Work packages of chained tasks with links between packages and a closing milestone, as plans have them.
fn project(nodes: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    let mut start = 0;
    let mut ends: Vec<u32> = Vec::new();
    while start < nodes - 1 {
        let size = (3 + random.below(6)).min(nodes - 1 - start);
        for node in start + 1..start + size {
            edges.push((start + random.below(node - start), node));
            if random.below(3) == 0 {
                edges.push((node - 1, node));
            }
        }
        for _ in 0..=random.below(2) {
            if start > 0 {
                edges.push((random.below(start), start + random.below(size)));
            }
        }
        if let Some(&end) = ends.last().filter(|_| random.below(2) == 0) {
            edges.push((end, start));
        }
        start += size;
        ends.push(start - 1);
    }
    edges.extend(ends.iter().filter(|_| nodes > 12).map(|&end| (end, nodes - 1)));
    edges
}

/// Renumbers the nodes so that every link goes up.
fn topological(nodes: u32, links: &[(u32, u32)]) -> Vec<u32> {
    let mut waiting = vec![0; nodes as usize];
    for &(_, b) in links {
        waiting[b as usize] += 1;
    }
    let mut ready: Vec<u32> = (0..nodes).filter(|&n| waiting[n as usize] == 0).collect();
    let mut number = vec![0; nodes as usize];
    let mut next = 0;
    while let Some(node) = ready.pop() {
        number[node as usize] = next;
        next += 1;
        for &(a, b) in links {
            if a == node {
                waiting[b as usize] -= 1;
                if waiting[b as usize] == 0 {
                    ready.push(b);
                }
            }
        }
    }
    number
}

/// A fixed generator (splitmix64), so that the corpus does not depend on a library's version.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % u64::from(bound.max(1))) as u32
    }
}
