//! Compares the layout with Graphviz `dot` on the fixed corpus, and times a graph of 1,000 nodes.
//!
//! Prints a table; the last lines contain the ratios that the targets name.
#![allow(clippy::print_stdout, reason = "the table is the result")]

#[path = "layout/corpus.rs"]
mod corpus;
#[path = "layout/cpu.rs"]
mod cpu;
#[path = "layout/dot.rs"]
mod dot;

use planwright_layout::{Layout, LayoutGraph, layout_graph, relayout_graph};
use std::time::{Duration, Instant};

/// How often each graph is laid out and drawn; the least time of a graph is used.
const RUNS: u32 = 5;

fn main() {
    let samples = corpus::corpus();
    let begin = cpu::own();
    let planwright: Vec<(Layout, Duration)> =
        samples.iter().map(|sample| timed(sample, RUNS)).collect();
    let busy = cpu::own().zip(begin).map(|(end, begin)| end.saturating_sub(begin));
    if dot::installed() {
        compare(&samples, &planwright, busy);
    } else {
        println!("skipped: dot not installed");
    }
    stability();
    let large = corpus::project_of(1_000);
    let (result, time) = timed(&large, RUNS);
    println!(
        "1,000 nodes, {} edges: {:.1} ms, {} layers, {} crossings",
        large.edges.len(),
        ms(time),
        result.layers.len(),
        result.crossings
    );
}

/// Draws the samples with dot and prints the table. `busy` is the processor time of this process for all runs.
fn compare(samples: &[corpus::Sample], planwright: &[(Layout, Duration)], busy: Option<Duration>) {
    let start = dot::start_time();
    let idle = cpu::children().map(|begin| {
        dot::start_time();
        (cpu::children().unwrap_or(begin).saturating_sub(begin)) / dot::STARTS
    });
    println!("{HEADER}");
    let mut sums = Sums::default();
    let begin = cpu::children();
    for (sample, (layout, time)) in samples.iter().zip(planwright) {
        sums.add(sample, layout, *time, &dot::draw(sample, start, RUNS));
    }
    sums.print();
    if let (Some(end), Some(begin), Some(idle), Some(busy)) = (cpu::children(), begin, idle, busy) {
        let graphviz =
            (end.saturating_sub(begin)).saturating_sub(idle * RUNS * samples.len() as u32);
        let share = busy.as_secs_f64() / graphviz.as_secs_f64();
        println!(
            "processor time {:.0} ms against {:.0} ms: {share:.3}",
            ms(busy) / f64::from(RUNS),
            ms(graphviz) / f64::from(RUNS)
        );
    }
}

/// Adds one node to every graph of the corpus and reports how many nodes stay where they were.
fn stability() {
    let (mut kept, mut nodes, mut worst) = (0, 0, 1.0_f64);
    for sample in corpus::corpus() {
        let mut random = corpus::Random::new(u64::from(sample.nodes));
        let before = layout_graph(&LayoutGraph::new(sample.nodes, sample.edges.iter().copied()));
        let edges =
            sample.edges.iter().copied().chain([(random.below(sample.nodes), sample.nodes)]);
        let was: Vec<Option<u32>> = (0..sample.nodes).map(Some).chain([None]).collect();
        let after = relayout_graph(&before, &LayoutGraph::new(sample.nodes + 1, edges), &was);
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

/// Lays a sample out `runs` times; the least time is used, as for dot.
fn timed(sample: &corpus::Sample, runs: u32) -> (Layout, Duration) {
    let graph = LayoutGraph::new(sample.nodes, sample.edges.iter().copied());
    let mut least = Duration::MAX;
    let mut result = Layout::default();
    for _ in 0..runs {
        let begin = Instant::now();
        result = layout_graph(&graph);
        least = least.min(begin.elapsed());
    }
    (result, least)
}

const HEADER: &str =
    "graph         nodes  edges  layers     dot    cross      dot  ratio        ms    dot ms";

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
        planwright: &Layout,
        time: Duration,
        graphviz: &dot::Drawn,
    ) {
        let share = ratio(planwright.crossings, graphviz.crossings);
        println!(
            "{:<13}{:>6}{:>7}{:>8}{:>8}{:>9}{:>9}{share:>7.2}{:>10.2}{:>10.2}",
            sample.name,
            sample.nodes,
            sample.edges.len(),
            planwright.layers.len(),
            graphviz.layers,
            planwright.crossings,
            graphviz.crossings,
            ms(time),
            ms(graphviz.time)
        );
        self.crossings.0 += planwright.crossings;
        self.crossings.1 += graphviz.crossings;
        self.time.0 += time;
        self.time.1 += graphviz.time;
        self.worst = self.worst.max(share);
        self.extra_layers =
            self.extra_layers.max(planwright.layers.len() as f64 / graphviz.layers as f64 - 1.0);
    }

    fn print(&self) {
        let (planwright, graphviz) = self.crossings;
        println!("crossings {planwright} against {graphviz}: {:.3}", ratio(planwright, graphviz));
        println!("worst single graph: {:.3}", self.worst);
        println!("most extra layers: {:.0} %", self.extra_layers * 100.0);
        let share = self.time.0.as_secs_f64() / self.time.1.as_secs_f64();
        println!("time {:.1} ms against {:.1} ms: {share:.3}", ms(self.time.0), ms(self.time.1));
    }
}

/// The layout's value over dot's; zero over zero is even.
fn ratio(planwright: u64, graphviz: u64) -> f64 {
    if planwright == graphviz { 1.0 } else { planwright as f64 / graphviz as f64 }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
