//! Every possible schedule of tiny plans, against which the search and the bound must hold.

use super::super::bound;
use super::super::network::Network;
use super::super::problem::{Link, LinkKind, Problem};
use super::super::rng::Rng;
use super::super::{solve, verify};
use super::{effort, leaves};

const KINDS: [LinkKind; 4] = [LinkKind::Fs, LinkKind::Ss, LinkKind::Ff, LinkKind::Sf];

/// Whether some schedule ends by `end`, trying every start of every leaf.
fn can_end_by(problem: &Problem, starts: &mut Vec<u32>, end: u32) -> bool {
    let leaf = starts.len();
    if leaf == problem.durations.len() {
        return verify(problem, starts).is_ok();
    }
    let Some(last) = end.checked_sub(problem.durations[leaf]) else {
        return false;
    };
    for start in problem.release[leaf]..=last {
        starts.push(start);
        let found = verify(&first_leaves(problem, starts.len()), starts).is_ok()
            && can_end_by(problem, starts, end);
        starts.pop();
        if found {
            return true;
        }
    }
    false
}

/// The plan without the leaves from `count` on, so that dead ends are left early.
fn first_leaves(problem: &Problem, count: usize) -> Problem {
    Problem {
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

fn draw(rng: &mut Rng, most: usize, kinds: &[LinkKind], lags: std::ops::Range<i32>) -> Problem {
    let count = 2 + rng.below(most - 1);
    let durations: Vec<u32> = (0..count).map(|_| rng.below(5) as u32).collect();
    let capacities = vec![2 + rng.below(2) as u32, 3];
    let mut problem = Problem { capacities, ..leaves(&durations) };
    for leaf in 0..count {
        let demand = [0, 1].map(|r| (r, rng.below(problem.capacities[r] as usize + 1) as u32));
        problem.demands.push(demand.to_vec());
        problem.release.push(if rng.below(4) == 0 { rng.below(4) as u32 } else { 0 });
        for from in 0..leaf {
            if rng.below(3) == 0 {
                let lag = lags.start + rng.below(lags.len()) as i32;
                problem.links.push(Link {
                    from,
                    to: leaf,
                    kind: kinds[rng.below(kinds.len())],
                    lag,
                });
            }
        }
    }
    problem
}

#[test]
fn tiny_plans_are_solved_to_the_optimum() {
    let mut rng = Rng::new(11);
    for round in 0..150 {
        let problem = draw(&mut rng, 6, &KINDS[..2], 0..3);
        let solution = solve(&problem, effort(2000)).unwrap();
        verify(&problem, &solution.starts).unwrap();
        if let Some(shorter) = solution.makespan.checked_sub(1) {
            assert!(
                !can_end_by(&problem, &mut Vec::new(), shorter),
                "round {round}: {problem:?} {solution:?}"
            );
        }
    }
}

#[test]
fn the_bound_never_passes_the_optimum_for_any_kind_of_link() {
    let mut rng = Rng::new(5);
    for round in 0..150 {
        let problem = draw(&mut rng, 5, &KINDS, -3..4);
        let network = Network::new(&problem).unwrap();
        let reached = solve(&problem, effort(500)).unwrap().makespan;
        let optimum =
            (0..reached).find(|&end| can_end_by(&problem, &mut Vec::new(), end)).unwrap_or(reached);
        let units = (reached / network.unit) as i32;
        let simple = bound::simple(&network);
        let improved = bound::improved(&network, simple, units);
        let (shaved, _) = bound::shaved(&network, improved, units, 5000);
        let bounds = [simple, improved, shaved].map(|bound| bound as u32 * network.unit);
        assert!(
            bounds.is_sorted() && bounds[2] <= optimum,
            "round {round}: {bounds:?} {optimum} {problem:?}"
        );
    }
}
