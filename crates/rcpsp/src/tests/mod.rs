//! Hand-solved plans, an exhaustive comparison on tiny ones, and properties of all plans.

mod examples;
mod exhaustive;
mod properties;

use super::{LeafLink, LeafLinkKind, RcpspProblem, SearchEffort};

fn effort(iterations: u64) -> SearchEffort {
    SearchEffort { iterations, seed: 7 }
}

fn link(from: usize, kind: LeafLinkKind, to: usize, lag: i32) -> LeafLink {
    LeafLink { from, to, kind, lag }
}

/// Leaves with only durations.
fn leaves(durations: &[u32]) -> RcpspProblem {
    RcpspProblem { durations: durations.to_vec(), ..RcpspProblem::default() }
}
