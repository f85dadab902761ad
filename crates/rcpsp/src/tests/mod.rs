//! Hand-solved plans, an exhaustive comparison on tiny ones, and properties of all.

mod examples;
mod exhaustive;
mod properties;

use super::{Effort, Link, LinkKind, Problem};

fn effort(iterations: u64) -> Effort {
    Effort { iterations, seed: 7 }
}

fn link(from: usize, kind: LinkKind, to: usize, lag: i32) -> Link {
    Link { from, to, kind, lag }
}

/// Leaves with nothing but durations.
fn leaves(durations: &[u32]) -> Problem {
    Problem { durations: durations.to_vec(), ..Problem::default() }
}
