//! Compares the layout with Graphviz `dot` on the fixed corpus, and times a graph of 1,000 nodes.
//!
//! Prints a table; the last lines hold the ratios that the targets name.
#![allow(clippy::print_stdout, reason = "the table is the result")]

#[path = "layout/corpus.rs"]
mod corpus;
#[path = "layout/dot.rs"]
mod dot;

use planwright::planning::layout::{Graph, Layout, layout, relayout};
use std::time::{Duration, Instant};

fn main() {
    let compared = dot::installed();
    if !compared {
        println!("skipped: dot not installed");
    }
    let start = if compared { dot::start_time() } else { Duration::ZERO };
    let mut sums = Sums::default();
    println!(
        "{:<13}{:>6}{:>7}{:>8}{:>8}{:>9}{:>9}{:>7}{:>10}{:>10}",
        "graph", "nodes", "edges", "layers", "dot", "cross", "dot", "ratio", "ms", "dot ms"
    );
    for sample in corpus::corpus() {
        let (ours, time) = timed(&sample, 5);
        let theirs = compared.then(|| dot::draw(&sample, start, 5));
        sums.add(&sample, &ours, time, theirs.as_ref());
    }
    if compared {
        sums.print();
    }
    stability();
    let large = corpus::project_of(1_000);
    let (ours, time) = timed(&large, 5);
    println!(
        "1,000 nodes, {} edges: {:.1} ms, {} layers, {} crossings",
        large.edges.len(),
        ms(time),
        ours.layers.len(),
        ours.crossings
    );
}

/// Adds one node to every graph of the corpus and tells how many nodes stay where they were.
fn stability() {
    let (mut kept, mut nodes, mut worst) = (0, 0, 1.0_f64);
    for sample in corpus::corpus() {
        let mut random = corpus::Random::new(u64::from(sample.nodes));
        let before = layout(&Graph::new(sample.nodes, sample.edges.iter().copied()));
        let edges =
            sample.edges.iter().copied().chain([(random.below(sample.nodes), sample.nodes)]);
        let was: Vec<Option<u32>> = (0..sample.nodes).map(Some).chain([None]).collect();
        let after = relayout(&before, &Graph::new(sample.nodes + 1, edges), &was);
        let pairs = before.nodes.iter().zip(&after.nodes);
        let same = pairs.filter(|(a, b)| (a.layer, a.row) == (b.layer, b.row)).count();
        kept += same;
        nodes += before.nodes.len();
        worst = worst.min(same as f64 / before.nodes.len() as f64);
    }
    let share = 100.0 * kept as f64 / nodes as f64;
    println!(
        "one node added: {share:.1} % of the nodes unmoved, {:.1} % in the worst graph",
        100.0 * worst
    );
}

/// Lays a sample out `runs` times; the least time counts, as it does for dot.
fn timed(sample: &corpus::Sample, runs: u32) -> (Layout, Duration) {
    let graph = Graph::new(sample.nodes, sample.edges.iter().copied());
    let mut least = Duration::MAX;
    let mut result = Layout::default();
    for _ in 0..runs {
        let begin = Instant::now();
        result = layout(&graph);
        least = least.min(begin.elapsed());
    }
    (result, least)
}

#[derive(Default)]
struct Sums {
    crossings: (u64, u64),
    time: (Duration, Duration),
    worst: f64,
    extra_layers: f64,
}

impl Sums {
    fn add(
        &mut self,
        sample: &corpus::Sample,
        ours: &Layout,
        time: Duration,
        theirs: Option<&dot::Drawn>,
    ) {
        let cells = theirs.map_or([const { String::new() }; 4], |t| {
            [
                t.layers.to_string(),
                t.crossings.to_string(),
                format!("{:.2}", ratio(ours.crossings, t.crossings)),
                format!("{:.2}", ms(t.time)),
            ]
        });
        println!(
            "{:<13}{:>6}{:>7}{:>8}{:>8}{:>9}{:>9}{:>7}{:>10.2}{:>10}",
            sample.name,
            sample.nodes,
            sample.edges.len(),
            ours.layers.len(),
            cells[0],
            ours.crossings,
            cells[1],
            cells[2],
            ms(time),
            cells[3]
        );
        self.crossings.0 += ours.crossings;
        self.time.0 += time;
        if let Some(theirs) = theirs {
            self.crossings.1 += theirs.crossings;
            self.time.1 += theirs.time;
            self.worst = self.worst.max(ratio(ours.crossings, theirs.crossings));
            self.extra_layers =
                self.extra_layers.max(ours.layers.len() as f64 / theirs.layers as f64 - 1.0);
        }
    }

    fn print(&self) {
        println!(
            "crossings {} against {}: {:.3}",
            self.crossings.0,
            self.crossings.1,
            ratio(self.crossings.0, self.crossings.1)
        );
        println!("worst single graph: {:.3}", self.worst);
        println!("most extra layers: {:.0} %", self.extra_layers * 100.0);
        let share = self.time.0.as_secs_f64() / self.time.1.as_secs_f64();
        println!("time {:.1} ms against {:.1} ms: {share:.3}", ms(self.time.0), ms(self.time.1));
    }
}

/// Ours over theirs; nothing against nothing is even.
fn ratio(ours: u64, theirs: u64) -> f64 {
    if ours == theirs { 1.0 } else { ours as f64 / theirs as f64 }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
