//! What must hold for every plan, drawn by proptest.

use super::super::builder::{CandidateSchedule, ScheduleBuilder};
use super::super::generation::{LeafChoice, list_order};
use super::super::network::LeafNetwork;
use super::super::problem::{LeafLink, LeafLinkKind, RcpspProblem, SearchEffort};
use super::super::profile::PackedProfile;
use super::super::rng::SplitMixRng;
use super::super::step_profile::StepProfile;
use super::super::{priority_rules, search_network, solve_rcpsp};
use super::effort;
use crate::verify_starts;
use proptest::collection::vec;
use proptest::prelude::*;

fn kind() -> impl Strategy<Value = LeafLinkKind> {
    prop_oneof![
        Just(LeafLinkKind::Fs),
        Just(LeafLinkKind::Ss),
        Just(LeafLinkKind::Ff),
        Just(LeafLinkKind::Sf)
    ]
}

/// Plans that have a schedule: links lead from lower to higher places of a shuffled list, demands fit.
fn feasible() -> impl Strategy<Value = RcpspProblem> {
    (1..16usize, 0..6usize, prop_oneof![Just(1u32), Just(15), Just(9001)]).prop_flat_map(
        |(count, resources, unit)| {
            let links = vec((0..count, 0..count, kind(), -12..20i32), 0..count * 2);
            let demands = vec(vec((0..resources.max(1), 0..5u32), 0..3), count);
            (
                vec(0..12u32, count),
                links,
                vec(2..9u32, resources),
                demands,
                vec(0..9u32, count),
                Just((0..count).collect::<Vec<_>>()).prop_shuffle(),
            )
                .prop_map(
                    move |(durations, links, capacities, demands, release, place)| {
                        let scale = |units: u32| units * unit;
                        RcpspProblem {
                            durations: durations.into_iter().map(scale).collect(),
                            links: links
                                .into_iter()
                                .filter(|(a, b, _, _)| a != b)
                                .map(|(a, b, kind, lag)| {
                                    let (a, b) = (a.min(b), a.max(b));
                                    LeafLink {
                                        from: place[a],
                                        to: place[b],
                                        kind,
                                        lag: lag * unit as i32,
                                    }
                                })
                                .collect(),
                            demands: demands
                                .into_iter()
                                .map(|row| fitting(row, &capacities))
                                .collect(),
                            capacities,
                            release: release.into_iter().map(scale).collect(),
                        }
                    },
                )
        },
    )
}

/// Keeps the part of a demand that capacities allow.
fn fitting(row: Vec<(usize, u32)>, capacities: &[u32]) -> Vec<(usize, u32)> {
    let mut left = capacities.to_vec();
    let mut kept = Vec::new();
    for (resource, units) in row {
        if left.get(resource).is_some_and(|&free| free >= units) {
            left[resource] -= units;
            kept.push((resource, units));
        }
    }
    kept
}

/// Anything at all, sensible or not.
fn arbitrary() -> impl Strategy<Value = RcpspProblem> {
    let leaf = 0..7usize;
    let minutes = || prop_oneof![0..100u32, 0..600_000_000u32, any::<u32>()];
    let lag = prop_oneof![-50..50i32, any::<i32>()];
    (
        vec(minutes(), 0..7),
        vec((leaf.clone(), leaf, kind(), lag), 0..6),
        vec(prop_oneof![0..4u32, any::<u32>()], 0..6),
        vec(vec((0..6usize, prop_oneof![0..3u32, any::<u32>()]), 0..3), 0..7),
        vec(minutes(), 0..7),
    )
        .prop_map(|(durations, links, capacities, demands, release)| {
            let links = links
                .into_iter()
                .map(|(from, to, kind, lag)| LeafLink { from, to, kind, lag })
                .collect();
            RcpspProblem { durations, links, capacities, demands, release }
        })
}

/// The simple rule: serial generation by latest finish, one forward-backward pass, no search.
fn simple_rule(problem: &RcpspProblem) -> u32 {
    let network = LeafNetwork::new(problem).unwrap();
    let mut plan = CandidateSchedule::new(network.leaves);
    list_order(
        &network,
        &priority_rules::latest_finish(&network),
        LeafChoice::Best,
        &mut SplitMixRng::new(0),
        &mut plan.order,
    );
    ScheduleBuilder::new(&network, StepProfile::new(&network), 0).build(&mut plan, 1);
    plan.makespan as u32 * network.unit
}

proptest! {
    #[test]
    fn every_schedule_is_verified_and_between_its_bound_and_the_simple_rule(
        problem in feasible(), iterations in 0..300u64, seed in any::<u64>(),
    ) {
        let effort = SearchEffort { iterations, seed };
        let solution = solve_rcpsp(&problem, effort).unwrap();
        prop_assert_eq!(verify_starts(&problem, &solution.starts), Ok(()));
        let ends = solution.starts.iter().zip(&problem.durations).map(|(start, minutes)| start + minutes);
        prop_assert_eq!(solution.makespan, ends.max().unwrap_or(0));
        prop_assert!(solution.lower_bound <= solution.makespan);
        prop_assert!(solution.makespan <= simple_rule(&problem));
        prop_assert!(solution.iterations_used <= iterations + 3);
        prop_assert_eq!(solve_rcpsp(&problem, effort).unwrap(), solution);
    }

    #[test]
    fn packed_and_stepped_profiles_give_the_same_schedule(problem in feasible(), seed in any::<u64>()) {
        let effort = SearchEffort { iterations: 120, seed };
        let network = LeafNetwork::new(&problem).unwrap();
        let stepped = search_network(&network, StepProfile::new(&network), effort);
        prop_assert!(PackedProfile::<2>::can_represent(&network));
        prop_assert_eq!(&search_network(&network, PackedProfile::<2>::new(&network), effort), &stepped);
        if PackedProfile::<1>::can_represent(&network) {
            prop_assert_eq!(&search_network(&network, PackedProfile::<1>::new(&network), effort), &stepped);
        }
    }

    #[test]
    fn scaling_all_times_scales_the_schedule(problem in feasible()) {
        let mut longer = problem.clone();
        longer.durations.iter_mut().chain(&mut longer.release).for_each(|minutes| *minutes *= 3);
        longer.links.iter_mut().for_each(|link| link.lag *= 3);
        let (plain, scaled) = (solve_rcpsp(&problem, effort(60)).unwrap(), solve_rcpsp(&longer, effort(60)).unwrap());
        prop_assert_eq!(scaled.starts, plain.starts.iter().map(|start| start * 3).collect::<Vec<_>>());
        prop_assert_eq!(scaled.lower_bound, plain.lower_bound * 3);
    }

    #[test]
    fn no_input_panics(problem in arbitrary()) {
        if let Ok(solution) = solve_rcpsp(&problem, effort(40)) {
            prop_assert_eq!(verify_starts(&problem, &solution.starts), Ok(()));
            prop_assert!(solution.lower_bound <= solution.makespan);
        }
    }
}
