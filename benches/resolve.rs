//! Resolving beside petgraph, on the same random graphs with three links a task on average.
//!
//! Timed, medians of many runs in one process, interleaved so that noise strikes all alike:
//! * `resolve`: our whole contract. In: tasks with string ids and links that name ids. Out: order by the selection
//!   key, rank, depth, roots, critical path, slack, both adjacencies. Nothing is prepared outside.
//! * `petgraph`: `toposort`, then the longest path by a plain recursion over its order. In: a `Graph` that is already
//!   built, so it hashes no ids and sorts by no key; weights lie in a flat array. Out: an order and the path.
//! * `floor`: Kahn with a binary heap over whole numbers on a compressed graph that is already built. Out: an order.
//!
//! `plain` graphs have one priority, equal estimates and ids that rise; `mixed` ones have four priorities, many
//! estimates and affinities, and shuffled ids.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use planwright::model::{Link, TaskNode};
use planwright::planning::graph::resolve;

/// The share of petgraph's time that resolving may take from 1,000 tasks on.
const TARGET: f64 = 1.0;

#[derive(Clone, Copy, PartialEq)]
enum Keys {
    Plain,
    Mixed,
}

fn main() {
    println!(
        "tasks    keys   links     resolve   petgraph      floor   resolve/petgraph   resolve/floor"
    );
    let mut missed = false;
    for count in [100, 1_000, 10_000, 100_000] {
        for keys in [Keys::Plain, Keys::Mixed] {
            let graph = Sample::new(count, keys);
            let [own, peer, floor] = graph.measure();
            let ratio = own.as_secs_f64() / peer.as_secs_f64();
            missed |= count >= 1_000 && ratio > TARGET;
            println!(
                "{count:<8} {}  {:>6} {:>8.1} µs {:>7.1} µs {:>7.1} µs {ratio:>15.2} {:>15.2}",
                if keys == Keys::Plain { "plain" } else { "mixed" },
                graph.links,
                micros(own),
                micros(peer),
                micros(floor),
                own.as_secs_f64() / floor.as_secs_f64(),
            );
        }
    }
    println!(
        "target: resolve/petgraph ≤ {TARGET} from 1,000 tasks on: {}",
        if missed { "missed" } else { "met" }
    );
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// One graph in the three forms.
struct Sample {
    tasks: Vec<TaskNode>,
    links: usize,
    petgraph: DiGraph<(), ()>,
    weights: Vec<u64>,
    starts: Vec<u32>,
    dependents: Vec<u32>,
    waiting: Vec<u32>,
}

impl Sample {
    fn new(count: usize, keys: Keys) -> Self {
        let mut random = Random(count as u64);
        // Where a task stands in the list says nothing about its id in a mixed graph.
        let mut numbers: Vec<usize> = (0..count).collect();
        if keys == Keys::Mixed {
            for at in (1..count).rev() {
                numbers.swap(at, random.below(at + 1));
            }
        }
        let id = |index: usize| format!("task-{:05}-build", numbers[index]);
        let mut tasks: Vec<TaskNode> =
            (0..count).map(|index| TaskNode::new(id(index), "Build a part")).collect();
        let mut edges = Vec::new();
        for to in 1..count {
            for _ in 0..random.below(7).min(to) {
                let from = random.below(to);
                if !edges.contains_recent(from, to) {
                    edges.push((from, to));
                    tasks[to].dependencies.push(Link::finish_to_start(id(from)));
                }
            }
        }
        if keys == Keys::Mixed {
            for task in &mut tasks {
                task.priority = random.below(4) as i64;
                task.estimated_tokens = 100 + random.below(2_000) as u64;
                if random.below(2) == 0 {
                    task.tool_affinity.insert("file.read".into(), random.below(100) as f64 / 100.0);
                }
            }
        }
        Self::with_twins(tasks, &edges)
    }

    fn with_twins(tasks: Vec<TaskNode>, edges: &[(usize, usize)]) -> Self {
        let mut petgraph = DiGraph::with_capacity(tasks.len(), edges.len());
        let nodes: Vec<NodeIndex> = tasks.iter().map(|_| petgraph.add_node(())).collect();
        let (mut starts, mut waiting) = (vec![0u32; tasks.len() + 1], vec![0u32; tasks.len()]);
        for &(from, to) in edges {
            petgraph.add_edge(nodes[from], nodes[to], ());
            starts[from + 1] += 1;
            waiting[to] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut dependents = vec![0u32; edges.len()];
        let mut cursor = starts.clone();
        for &(from, to) in edges {
            dependents[cursor[from] as usize] = to as u32;
            cursor[from] += 1;
        }
        let weights = tasks.iter().map(|task| task.estimated_tokens).collect();
        Self { links: edges.len(), tasks, petgraph, weights, starts, dependents, waiting }
    }

    /// Medians of resolving, petgraph and the floor.
    fn measure(&self) -> [Duration; 3] {
        let mut times: [Vec<Duration>; 3] = [vec![], vec![], vec![]];
        let begin = Instant::now();
        while times[0].len() < 15
            || (begin.elapsed() < Duration::from_secs(2) && times[0].len() < 2_000)
        {
            times[0].push(time(|| resolve(black_box(&self.tasks), |_| true)));
            times[1].push(time(|| self.longest_path()));
            times[2].push(time(|| self.bare_kahn()));
        }
        times.map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2]
        })
    }

    /// A topological order and the longest path, as one writes it with petgraph.
    fn longest_path(&self) -> (Vec<NodeIndex>, Vec<NodeIndex>) {
        let order = toposort(black_box(&self.petgraph), None).expect("the sample has no cycle");
        let mut best = vec![0u64; order.len()];
        let mut before = vec![NodeIndex::end(); order.len()];
        let (mut end, mut length) = (NodeIndex::end(), 0);
        for &node in &order {
            let own = best[node.index()] + self.weights[node.index()];
            if own > length {
                (end, length) = (node, own);
            }
            for edge in self.petgraph.edges(node) {
                let to = edge.target();
                if own > best[to.index()] {
                    best[to.index()] = own;
                    before[to.index()] = node;
                }
            }
        }
        let mut path = Vec::new();
        while end != NodeIndex::end() {
            path.push(end);
            end = before[end.index()];
        }
        path.reverse();
        (order, path)
    }

    /// Kahn with a heap of indices on flat arrays.
    fn bare_kahn(&self) -> Vec<u32> {
        let mut waiting = self.waiting.clone();
        let ready = (0..waiting.len() as u32).filter(|&node| waiting[node as usize] == 0);
        let mut heap: BinaryHeap<Reverse<u32>> = ready.map(Reverse).collect();
        let mut order = Vec::with_capacity(waiting.len());
        while let Some(Reverse(node)) = heap.pop() {
            order.push(node);
            let range =
                self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize;
            for &to in &self.dependents[range] {
                waiting[to as usize] -= 1;
                if waiting[to as usize] == 0 {
                    heap.push(Reverse(to));
                }
            }
        }
        order
    }
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let elapsed = start.elapsed();
    // Freed outside the clock, for all three alike.
    drop(result);
    elapsed
}

trait Recent {
    /// Whether the link is already among those of its successor.
    fn contains_recent(&self, from: usize, to: usize) -> bool;
}

impl Recent for Vec<(usize, usize)> {
    fn contains_recent(&self, from: usize, to: usize) -> bool {
        self.iter().rev().take_while(|edge| edge.1 == to).any(|edge| edge.0 == from)
    }
}

/// The generator of Steele and others (`SplitMix64`), so that every run measures the same graphs.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % bound as u64) as usize
    }
}
