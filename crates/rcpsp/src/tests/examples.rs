//! Small plans whose result can be computed by hand.

use super::super::problem::{LeafLinkKind, RcpspError, RcpspProblem};
use super::super::{RcpspViolation, lower_bound, solve_rcpsp};
use super::{effort, leaves, link};
use crate::verify_starts;

fn starts(problem: &RcpspProblem) -> Vec<u32> {
    let solution = solve_rcpsp(problem, effort(200)).unwrap();
    verify_starts(problem, &solution.starts).unwrap();
    solution.starts
}

fn linked(durations: &[u32], kind: LeafLinkKind, lag: i32) -> Vec<u32> {
    starts(&RcpspProblem { links: vec![link(0, kind, 1, lag)], ..leaves(durations) })
}

#[test]
fn finish_to_start_follows_the_finish() {
    assert_eq!(linked(&[480, 60], LeafLinkKind::Fs, 0), [0, 480]);
    assert_eq!(linked(&[480, 60], LeafLinkKind::Fs, 480), [0, 960]);
}

#[test]
fn a_lead_overlaps_its_predecessor() {
    assert_eq!(linked(&[180, 60], LeafLinkKind::Fs, -60), [0, 120]);
}

#[test]
fn a_lead_longer_than_its_predecessor_stops_at_the_horizon_start() {
    assert_eq!(linked(&[30, 60], LeafLinkKind::Fs, -90), [0, 0]);
}

#[test]
fn start_to_start_follows_the_start() {
    assert_eq!(linked(&[600, 60], LeafLinkKind::Ss, 240), [0, 240]);
}

#[test]
fn finish_to_finish_pushes_later_without_stretching() {
    assert_eq!(linked(&[180, 120], LeafLinkKind::Ff, 60), [0, 120]);
    assert_eq!(linked(&[60, 120], LeafLinkKind::Ff, 0), [0, 0]);
}

#[test]
fn start_to_finish_lets_the_successor_end_when_the_predecessor_starts() {
    let mut problem =
        RcpspProblem { links: vec![link(0, LeafLinkKind::Sf, 1, 0)], ..leaves(&[60, 240]) };
    problem.release = vec![960, 720];
    assert_eq!(starts(&problem), [960, 720]);
    problem.release = vec![1200, 720];
    assert_eq!(starts(&problem), [1200, 960]);
}

#[test]
fn several_links_combine_by_maximum() {
    let links = vec![
        link(0, LeafLinkKind::Fs, 2, 0),
        link(1, LeafLinkKind::Ss, 2, 50),
        link(0, LeafLinkKind::Fs, 2, 15),
    ];
    assert_eq!(starts(&RcpspProblem { links, ..leaves(&[30, 10, 5]) }), [0, 0, 50]);
}

#[test]
fn a_leaf_waits_for_its_release() {
    assert_eq!(starts(&RcpspProblem { release: vec![45, 0], ..leaves(&[30, 30]) }), [45, 0]);
}

#[test]
fn capacity_one_serializes_leaves() {
    let problem = RcpspProblem {
        capacities: vec![1],
        demands: vec![vec![(0, 1)]; 3],
        ..leaves(&[20, 30, 50])
    };
    let solution = solve_rcpsp(&problem, effort(50)).unwrap();
    assert_eq!((solution.makespan, solution.lower_bound), (100, 100));
    verify_starts(&problem, &solution.starts).unwrap();
}

#[test]
fn leaves_run_in_parallel_within_the_capacity() {
    let demands = [2, 2, 1, 3].map(|units| vec![(0, units)]).to_vec();
    let problem = RcpspProblem { capacities: vec![4], demands, ..leaves(&[3, 3, 4, 4]) };
    let solution = solve_rcpsp(&problem, effort(200)).unwrap();
    assert_eq!(solution.makespan, 7);
    assert!(solution.is_optimal());
}

#[test]
fn the_search_improves_on_the_rule() {
    // By latest finish the long chain starts first and the wide leaf waits for it; in parallel they would end at 6.
    let links = vec![link(0, LeafLinkKind::Fs, 1, 0)];
    let demands = vec![vec![(0, 1)], vec![(0, 1)], vec![(0, 2)], vec![(0, 1)]];
    let problem = RcpspProblem { links, demands, capacities: vec![2], ..leaves(&[2, 2, 2, 4]) };
    assert_eq!(solve_rcpsp(&problem, effort(300)).unwrap().makespan, 6);
}

#[test]
fn a_milestone_takes_no_capacity() {
    let problem =
        RcpspProblem { capacities: vec![1], demands: vec![vec![(0, 1)]; 2], ..leaves(&[10, 0]) };
    assert_eq!(starts(&problem), [0, 0]);
}

#[test]
fn an_empty_plan_ends_at_zero() {
    let solution = solve_rcpsp(&RcpspProblem::default(), effort(100)).unwrap();
    assert_eq!((solution.makespan, solution.lower_bound, solution.starts), (0, 0, Vec::new()));
}

#[test]
fn ten_years_in_minutes_are_supported() {
    const TEN_YEARS: u32 = 5_256_000;
    let links = (1..8).map(|leaf| link(0, LeafLinkKind::Fs, leaf, 7)).collect();
    let demands = (0..8).map(|leaf| vec![(0, leaf % 3 + 1)]).collect();
    let durations: Vec<u32> = (0..8).map(|leaf| TEN_YEARS - leaf).collect();
    let problem = RcpspProblem { links, demands, capacities: vec![3], ..leaves(&durations) };
    let solution = solve_rcpsp(&problem, effort(300)).unwrap();
    verify_starts(&problem, &solution.starts).unwrap();
    assert!(solution.lower_bound > 4 * TEN_YEARS);
}

#[test]
fn reports_the_shortest_cycle() {
    let links = vec![
        link(0, LeafLinkKind::Fs, 1, 0),
        link(1, LeafLinkKind::Ss, 2, 0),
        link(2, LeafLinkKind::Ff, 0, -5),
        link(2, LeafLinkKind::Fs, 1, 0),
    ];
    let error = solve_rcpsp(&RcpspProblem { links, ..leaves(&[1, 1, 1]) }, effort(1)).unwrap_err();
    assert_eq!(error, RcpspError::Cycle { leaves: vec![1, 2] });
    assert_eq!(error.to_string(), "links form a cycle: 1 -> 2 -> 1");
}

#[test]
fn demand_over_capacity_names_leaf_resource_demand_and_capacity() {
    let demands = vec![vec![], vec![(1, 2), (1, 2)]];
    let error = solve_rcpsp(
        &RcpspProblem { demands, capacities: vec![9, 3], ..leaves(&[1, 1]) },
        effort(1),
    )
    .unwrap_err();
    assert_eq!(
        error,
        RcpspError::DemandOverCapacity { leaf: 1, resource: 1, demand: 4, capacity: 3 }
    );
}

#[test]
fn rejects_a_plan_past_the_end_of_time() {
    let error = lower_bound(&leaves(&[u32::MAX, u32::MAX])).unwrap_err();
    assert_eq!(error, RcpspError::TooLong { minutes: 2 * u64::from(u32::MAX) });
}

#[test]
fn rejects_wrong_lengths_and_unknown_indices() {
    let short = RcpspProblem { release: vec![0], ..leaves(&[1, 1]) };
    assert_eq!(
        solve_rcpsp(&short, effort(1)),
        Err(RcpspError::Shape { field: "release", expected: 2, found: 1 })
    );
    let astray = RcpspProblem { links: vec![link(0, LeafLinkKind::Fs, 5, 0)], ..leaves(&[1, 1]) };
    assert_eq!(solve_rcpsp(&astray, effort(1)), Err(RcpspError::UnknownLeaf { link: 0, leaf: 5 }));
    let unknown = RcpspProblem { demands: vec![vec![(3, 1)]], ..leaves(&[1]) };
    assert_eq!(
        solve_rcpsp(&unknown, effort(1)),
        Err(RcpspError::UnknownResource { leaf: 0, resource: 3 })
    );
}

#[test]
fn verification_finds_each_kind_of_violation() {
    let mut problem =
        RcpspProblem { capacities: vec![1], demands: vec![vec![(0, 1)]; 2], ..leaves(&[4, 4]) };
    assert_eq!(verify_starts(&problem, &[0]), Err(RcpspViolation::Shape { expected: 2, found: 1 }));
    assert_eq!(
        verify_starts(&problem, &[0, 3]),
        Err(RcpspViolation::Capacity { resource: 0, at: 3, used: 2, capacity: 1 })
    );
    assert_eq!(verify_starts(&problem, &[0, 4]), Ok(()));
    problem.release = vec![1, 0];
    assert_eq!(
        verify_starts(&problem, &[0, 4]),
        Err(RcpspViolation::Release { leaf: 0, start: 0, release: 1 })
    );
    problem.links = vec![link(0, LeafLinkKind::Fs, 1, 2)];
    let short = RcpspViolation::Link { index: 0, link: problem.links[0], short_by: 1 };
    assert_eq!(verify_starts(&problem, &[1, 6]), Err(short));
}
