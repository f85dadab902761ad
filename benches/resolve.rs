//! Resolving compared with petgraph, on the same random graphs with three links per task on average.
//!
//! Timed, medians of many runs in one process. The three take turns, and each turn takes another of several graphs of
//! the same size, so that neither noise nor a cache warmed by one graph favors anyone:
//! * `resolve`: the complete contract. In: tasks with string ids and links that name ids. Out: order by the selection
//!   key, depth, roots, critical path, slack, both adjacencies. Nothing is prepared outside.
//! * `petgraph`: `toposort`, then the longest path by a plain recursion over its order. In: a `Graph` that is already
//!   built, so it hashes no ids and sorts by no key; weights are in a flat array. Out: an order and the path.
//! * `floor`: Kahn with a binary heap over integers on a compressed graph that is already built. Out: an order.
//!
//! The target applies to `listed` graphs: tasks in an order in which they could be done, as people and planners list
//! them, with one priority and equal estimates. `shuffled` ones come in random order. `keyed` ones are listed in order
//! with four priorities, many estimates and affinities, and ids in no order, so that every part of the key decides.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(unreachable_pub, reason = "a benchmark has no outside")]

mod support;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use planwright_model::{TaskLink, TaskNode};
use planwright_plan::graph::resolve_graph;
use support::Kept;

/// The share of petgraph's time that resolving may take from 1,000 tasks on.
const TARGET: f64 = 1.0;
/// How long one row is measured.
const SPAN: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Listed,
    Shuffled,
    Keyed,
}

fn main() {
    println!(
        "tasks    kind        links     resolve    petgraph       floor   resolve/petgraph   resolve/floor"
    );
    // Freeing one large block makes malloc keep memory between runs. Otherwise it is returned to the system each
    // time, and page faults are most of what is measured.
    drop(black_box(vec![1u8; 30 << 20]));
    let mut missed = false;
    let mut kept = Kept::of("resolve");
    for count in [100, 1_000, 10_000, 100_000] {
        for kind in [Kind::Listed, Kind::Shuffled, Kind::Keyed] {
            let samples: Vec<Sample> = (0..(20_000 / count).clamp(2, 16))
                .map(|seed| Sample::new(count, kind, seed))
                .collect();
            let [own, peer, floor] = measure(&samples);
            let ratio = own.as_secs_f64() / peer.as_secs_f64();
            missed |= count >= 1_000 && kind == Kind::Listed && ratio > TARGET;
            let kind = format!("{kind:?}").to_lowercase();
            kept.compare(&format!("{kind}-{count}-beside-petgraph"), ratio);
            println!(
                "{count:<8} {kind:<9} {:>7} {:>8.1} µs {:>8.1} µs {:>8.1} µs {ratio:>18.2} {:>15.2}",
                samples[0].dependents.len(),
                micros(own),
                micros(peer),
                micros(floor),
                own.as_secs_f64() / floor.as_secs_f64(),
            );
        }
    }
    let verdict = if missed { "missed" } else { "met" };
    println!(
        "target, listed graphs from 1,000 tasks on: resolve/petgraph at most {TARGET}: {verdict}"
    );
    println!("{}", kept.verdict());
}

/// Medians of resolving, petgraph and the floor.
fn measure(samples: &[Sample]) -> [Duration; 3] {
    let mut times: [Vec<Duration>; 3] = [vec![], vec![], vec![]];
    let begin = Instant::now();
    while times[0].len() < 20 || (begin.elapsed() < SPAN && times[0].len() < 4_000) {
        for sample in samples {
            times[0].push(time(|| resolve_graph(black_box(&sample.tasks), |_| true)));
            times[1].push(time(|| sample.longest_path()));
            times[2].push(time(|| sample.bare_kahn()));
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// One graph in the three forms.
struct Sample {
    tasks: Vec<TaskNode>,
    petgraph: DiGraph<(), ()>,
    weights: Vec<u64>,
    starts: Vec<u32>,
    dependents: Vec<u32>,
    waiting: Vec<u32>,
}

impl Sample {
    fn new(count: usize, kind: Kind, seed: usize) -> Self {
        let mut random = Random((count + seed) as u64);
        let unchanged: Vec<usize> = (0..count).collect();
        let shuffled = random.shuffled(count);
        // The position of a task in the list, and the number in its id.
        let (places, numbers) = match kind {
            Kind::Listed => (&unchanged, &unchanged),
            Kind::Shuffled => (&shuffled, &unchanged),
            Kind::Keyed => (&unchanged, &shuffled),
        };
        let id = |task: usize| format!("task-{:05}-build", numbers[task]);
        let mut tasks = vec![TaskNode::new("", "Build a part"); count];
        let mut edges = Vec::new();
        for to in 0..count {
            let mut before: Vec<usize> =
                (0..random.below(7).min(to)).map(|_| random.below(to)).collect();
            before.sort_unstable();
            before.dedup();
            let task = &mut tasks[places[to]];
            task.id = id(to).into();
            task.dependencies =
                before.iter().map(|&from| TaskLink::finish_to_start(id(from))).collect();
            edges.extend(before.iter().map(|&from| (places[from], places[to])));
        }
        if kind == Kind::Keyed {
            for task in &mut tasks {
                task.priority = i64::from(random.below(4) as u32);
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
        Self { tasks, petgraph, weights, starts, dependents, waiting }
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
    // Freed outside the timing, for all three alike.
    drop(result);
    elapsed
}

/// The generator of Steele and others (`SplitMix64`), so that every run measures the same graphs.
struct Random(u64);

impl Random {
    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            numbers.swap(at, self.below(at + 1));
        }
        numbers
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % bound as u64) as usize
    }
}
