//! Every possible schedule of tiny plans, to check the search and the bound against.

use super::super::bound;
use super::super::network::LeafNetwork;
use super::super::problem::{LeafLink, LeafLinkKind, RcpspProblem};
use super::super::rng::SplitMixRng;
use super::super::solve_rcpsp;
use super::{effort, leaves};
use crate::verify_starts;

const KINDS: [LeafLinkKind; 4] =
    [LeafLinkKind::Fs, LeafLinkKind::Ss, LeafLinkKind::Ff, LeafLinkKind::Sf];

/// Returns whether some schedule ends by `end`, trying every start of every leaf.
fn can_end_by(problem: &RcpspProblem, starts: &mut Vec<u32>, end: u32) -> bool {
    let leaf = starts.len();
    if leaf == problem.durations.len() {
        return verify_starts(problem, starts).is_ok();
    }
    let Some(last) = end.checked_sub(problem.durations[leaf]) else {
        return false;
    };
    for start in problem.release[leaf]..=last {
        starts.push(start);
        let found = verify_starts(&first_leaves(problem, starts.len()), starts).is_ok()
            && can_end_by(problem, starts, end);
        starts.pop();
        if found {
            return true;
        }
    }
    false
}

/// Returns the plan without the leaves from `count` on, so that dead ends are abandoned early.
fn first_leaves(problem: &RcpspProblem, count: usize) -> RcpspProblem {
    RcpspProblem {
        durations: problem.durations[..count].to_vec(),
        links: problem
            .links
            .iter()
            .copied()
            .filter(|link| link.from < count && link.to < count)
            .collect(),
        capacities: problem.capacities.clone(),
        demands: problem.demands[..count].to_vec(),
        release: problem.release[..count].to_vec(),
    }
}

fn draw(
    rng: &mut SplitMixRng,
    most: usize,
    kinds: &[LeafLinkKind],
    lags: std::ops::Range<i32>,
) -> RcpspProblem {
    let count = 2 + rng.draw_below(most - 1);
    let durations: Vec<u32> = (0..count).map(|_| rng.draw_below(5) as u32).collect();
    let capacities = vec![2 + rng.draw_below(2) as u32, 3];
    let mut problem = RcpspProblem { capacities, ..leaves(&durations) };
    for leaf in 0..count {
        let demand = [0, 1].map(|r| (r, rng.draw_below(problem.capacities[r] as usize + 1) as u32));
        problem.demands.push(demand.to_vec());
        problem.release.push(if rng.draw_below(4) == 0 { rng.draw_below(4) as u32 } else { 0 });
        for from in 0..leaf {
            if rng.draw_below(3) == 0 {
                let lag = lags.start + rng.draw_below(lags.len()) as i32;
                problem.links.push(LeafLink {
                    from,
                    to: leaf,
                    kind: kinds[rng.draw_below(kinds.len())],
                    lag,
                });
            }
        }
    }
    problem
}

#[test]
fn tiny_plans_are_solved_to_the_optimum() {
    let mut rng = SplitMixRng::new(11);
    for round in 0..150 {
        let problem = draw(&mut rng, 6, &KINDS[..2], 0..3);
        let solution = solve_rcpsp(&problem, effort(2000)).unwrap();
        verify_starts(&problem, &solution.starts).unwrap();
        if let Some(shorter) = solution.makespan.checked_sub(1) {
            assert!(
                !can_end_by(&problem, &mut Vec::new(), shorter),
                "round {round}: {problem:?} {solution:?}"
            );
        }
    }
}

#[test]
fn the_bound_never_exceeds_the_optimum_for_any_kind_of_link() {
    let mut rng = SplitMixRng::new(5);
    for round in 0..150 {
        let problem = draw(&mut rng, 5, &KINDS, -3..4);
        let network = LeafNetwork::new(&problem).unwrap();
        let reached = solve_rcpsp(&problem, effort(500)).unwrap().makespan;
        let optimum =
            (0..reached).find(|&end| can_end_by(&problem, &mut Vec::new(), end)).unwrap_or(reached);
        let units = (reached / network.unit) as i32;
        let simple = bound::basic_bound(&network);
        let improved = bound::raise_by_refutation(&network, simple, units);
        let (shaved, _) = bound::raise_by_shaving(&network, improved, units, 5000);
        let bounds = [simple, improved, shaved].map(|bound| bound as u32 * network.unit);
        assert!(
            bounds.is_sorted() && bounds[2] <= optimum,
            "round {round}: {bounds:?} {optimum} {problem:?}"
        );
    }
}
