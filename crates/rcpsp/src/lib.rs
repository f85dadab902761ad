//! Resource-constrained project scheduling on plain minutes.
//!
//! Owns the search for a short schedule of leaves under links, releases and shared capacities, the lower bound shown
//! beside it, and an independent check. Promises that the same problem and effort give the same answer, that every
//! answer passes [`verify()`], and that none is longer than serial generation by latest finish with one forward-backward
//! pass. Calendars, deadlines and names are left to the caller, who maps working time to minutes first.
#![expect(
    clippy::cast_possible_wrap,
    reason = "times are checked against 2^29 on the way in, counts are far below it"
)]

mod bound;
mod builder;
mod cycle;
mod decode;
mod genetic;
mod network;
mod order;
mod problem;
mod profile;
mod refute;
mod rng;
mod rules;
mod steps;
#[cfg(test)]
mod tests;
mod verify;

pub use problem::{Effort, Link, LinkKind, Problem, RcpspError, Solution};
pub use verify::{Violation, verify};

use genetic::Search;
use network::Network;
use profile::{Packed, Profile};
use steps::Steps;

/// Finds a short schedule, or says why there is none.
///
/// Leaves are placed as single blocks; a link pushes its successor later and never stretches it. Stops early when the
/// makespan meets the lower bound.
pub fn solve(problem: &Problem, effort: Effort) -> Result<Solution, RcpspError> {
    let network = Network::new(problem)?;
    Ok(if Packed::<1>::suits(&network) {
        search(&network, Packed::<1>::new(&network), effort)
    } else if Packed::<2>::suits(&network) {
        search(&network, Packed::<2>::new(&network), effort)
    } else {
        search(&network, Steps::new(&network), effort)
    })
}

/// A makespan that no schedule can beat.
pub fn lower_bound(problem: &Problem) -> Result<u32, RcpspError> {
    let network = Network::new(problem)?;
    Ok(bound::improved(&network, bound::simple(&network), network.horizon) as u32 * network.unit)
}

fn search<P: Profile>(network: &Network, profile: P, effort: Effort) -> Solution {
    let mut search = Search::new(network, profile, effort.iterations, effort.seed);
    let first = search.first();
    let bound = bound::improved(network, bound::simple(network), first);
    let (plan, bound, used) = search.run(bound);
    Solution {
        starts: network.to_minutes(&plan.starts),
        makespan: plan.makespan as u32 * network.unit,
        lower_bound: bound as u32 * network.unit,
        iterations_used: used,
    }
}
