//! Resource-constrained project scheduling on plain minutes.
//!
//! Owns the search for a short schedule of leaves under links, releases and shared capacities, the lower bound shown
//! next to it, and an independent check. The same problem and effort always give the same result, every result passes
//! [`verify_starts()`], and none is longer than serial generation by latest finish with one forward-backward pass.
//! Calendars, deadlines and names are the responsibility of the caller, who maps working time to minutes first.
#![expect(
    clippy::cast_possible_wrap,
    reason = "times are checked against 2^29 on the way in, counts are far below it"
)]

mod bound;
mod builder;
mod cycle;
mod generation;
mod genetic;
mod network;
mod order;
mod priority_rules;
mod problem;
mod profile;
mod refute;
mod rng;
mod step_profile;
#[cfg(test)]
mod tests;
mod verify;

pub use problem::{LeafLink, LeafLinkKind, RcpspError, RcpspProblem, RcpspSolution, SearchEffort};
pub use verify::{RcpspViolation, verify_starts};

use genetic::GeneticSearch;
use network::LeafNetwork;
use profile::{CapacityProfile, PackedProfile};
use step_profile::StepProfile;

/// Finds a short schedule, or returns why there is none.
///
/// Leaves are placed as single blocks; a link pushes its successor later and never stretches it. Stops early when the
/// makespan reaches the lower bound.
pub fn solve_rcpsp(
    problem: &RcpspProblem,
    effort: SearchEffort,
) -> Result<RcpspSolution, RcpspError> {
    let network = LeafNetwork::new(problem)?;
    Ok(if PackedProfile::<1>::is_efficient_for(&network) {
        search_network(&network, PackedProfile::<1>::new(&network), effort)
    } else if PackedProfile::<2>::is_efficient_for(&network) {
        search_network(&network, PackedProfile::<2>::new(&network), effort)
    } else {
        search_network(&network, StepProfile::new(&network), effort)
    })
}

/// Returns a makespan that no schedule can beat.
pub fn lower_bound(problem: &RcpspProblem) -> Result<u32, RcpspError> {
    let network = LeafNetwork::new(problem)?;
    Ok(bound::raise_by_refutation(&network, bound::basic_bound(&network), network.horizon) as u32
        * network.unit)
}

fn search_network<P: CapacityProfile>(
    network: &LeafNetwork,
    profile: P,
    effort: SearchEffort,
) -> RcpspSolution {
    let mut search = GeneticSearch::new(network, profile, effort.iterations, effort.seed);
    let first = search.build_first();
    let bound = bound::raise_by_refutation(network, bound::basic_bound(network), first);
    let (plan, bound, used) = search.run(bound);
    RcpspSolution {
        starts: network.to_minutes(&plan.starts),
        makespan: plan.makespan as u32 * network.unit,
        lower_bound: bound as u32 * network.unit,
        iterations_used: used,
    }
}
