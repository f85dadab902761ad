//! Runs Graphviz `dot` and reads its layers, dummies and crossings back.

use super::corpus::Sample;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The result of dot for a graph.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) layers: usize,
    pub(crate) crossings: u64,
    pub(crate) time: Duration,
}

/// Whether dot is installed.
pub(crate) fn installed() -> bool {
    Command::new("dot")
        .arg("-V")
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// How often the start is measured.
pub(crate) const STARTS: u32 = 20;

/// The time dot takes to start, read a graph of one node and draw it: the least of several runs.
pub(crate) fn start_time() -> Duration {
    (0..STARTS).map(|_| run("digraph { a }").1).min().unwrap_or_default()
}

/// Draws one graph: the least time of `runs` runs, net of `start`.
pub(crate) fn draw(sample: &Sample, start: Duration, runs: u32) -> Drawn {
    let mut text = String::from("digraph {\n");
    for node in 0..sample.nodes {
        writeln!(text, "{node};").expect("a string takes everything");
    }
    for (from, to) in &sample.edges {
        writeln!(text, "{from}->{to};").expect("a string takes everything");
    }
    text.push('}');
    let results: Vec<_> = (0..runs).map(|_| run(&text)).collect();
    let time = results.iter().map(|r| r.1).min().unwrap_or_default().saturating_sub(start);
    let (layers, crossings) = measure(sample, &results[0].0);
    Drawn { layers, crossings, time }
}

fn run(text: &str) -> (String, Duration) {
    let begin = Instant::now();
    let mut child = Command::new("dot")
        .arg("-Tplain")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("dot starts");
    let mut input = child.stdin.take().expect("dot has an input");
    input.write_all(text.as_bytes()).expect("dot reads");
    drop(input);
    let output = child.wait_with_output().expect("dot ends");
    (String::from_utf8_lossy(&output.stdout).into_owned(), begin.elapsed())
}

/// An edge of dot's drawing.
struct Line {
    ends: (usize, usize),
    spline: Vec<(f64, f64)>,
}

/// Layers by the height of the nodes; dummies where the splines cross the heights in between.
fn measure(sample: &Sample, plain: &str) -> (usize, u64) {
    let mut place = vec![(0.0, 0.0); sample.nodes as usize];
    let mut lines = Vec::new();
    for words in plain.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()) {
        let number = |at: usize| words[at].parse::<f64>().expect("a number");
        match words.first() {
            Some(&"node") => {
                place[words[1].parse::<usize>().expect("a node")] = (number(2), number(3));
            }
            Some(&"edge") => {
                let count = words[3].parse::<usize>().expect("a count");
                let spline = (0..count).map(|i| (number(4 + 2 * i), number(5 + 2 * i))).collect();
                lines.push(Line {
                    ends: (words[1].parse().expect("a node"), words[2].parse().expect("a node")),
                    spline,
                });
            }
            _ => {}
        }
    }
    let mut heights: Vec<f64> = place.iter().map(|p| p.1).collect();
    heights.sort_by(|a, b| b.total_cmp(a));
    heights.dedup_by(|a, b| (*a - *b).abs() < 1e-3);
    let rank = |y: f64| {
        heights.iter().position(|h| (h - y).abs() < 1e-3).expect("a node stands on a layer")
    };
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new(); heights.len()];
    for line in &lines {
        let (from, to) = (rank(place[line.ends.0].1), rank(place[line.ends.1].1));
        let mut x = place[line.ends.0].0;
        for layer in from..to {
            let next = if layer + 1 == to {
                place[line.ends.1].0
            } else {
                x_at(&line.spline, heights[layer + 1])
            };
            pieces[layer].push((x, next));
            x = next;
        }
    }
    (heights.len(), pieces.iter().map(|between| opposite(between)).sum())
}

/// Where a spline of cubic parts crosses a height.
fn x_at(spline: &[(f64, f64)], y: f64) -> f64 {
    for part in spline.windows(4).step_by(3) {
        let at = |t: f64, c: fn(&(f64, f64)) -> f64| {
            let s = 1.0 - t;
            s * s * s * c(&part[0])
                + 3.0 * s * s * t * c(&part[1])
                + 3.0 * s * t * t * c(&part[2])
                + t * t * t * c(&part[3])
        };
        if part[0].1 >= y && part[3].1 <= y {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..40 {
                let middle = f64::midpoint(low, high);
                if at(middle, |p| p.1) > y { low = middle } else { high = middle }
            }
            return at(low, |p| p.0);
        }
    }
    spline.last().map_or(0.0, |p| p.0)
}

/// Pairs of pieces whose ends are in strictly opposite order. Positions that are almost equal are treated as one.
fn opposite(pieces: &[(f64, f64)]) -> u64 {
    const HAIR: f64 = 1e-6;
    let mut count = 0;
    for (index, a) in pieces.iter().enumerate() {
        for b in &pieces[index + 1..] {
            let (upper, lower) = (a.0 - b.0, a.1 - b.1);
            count += u64::from(
                upper.abs() > HAIR && lower.abs() > HAIR && (upper > 0.0) != (lower > 0.0),
            );
        }
    }
    count
}
