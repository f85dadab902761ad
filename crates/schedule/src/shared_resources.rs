//! Plans with shared resources: leaves run in parallel within capacities, each uninterrupted in working time.

use std::collections::{BTreeMap, HashMap};

use super::axis::WorkAxis;
use super::generate::{ScheduleLayout, item_bounds};
use super::horizon::Horizon;
use super::layout_search::try_count;
use super::network::{ItemNetwork, ScheduleItem};
use super::{ScheduleError, ScheduleRequest};
use crate::calendar::WorkSpan;
use planwright_model::{LagBasis, LinkKind};
use planwright_rcpsp::{
    LeafLink, LeafLinkKind as Kind, RcpspError, RcpspProblem, RcpspSolution, SearchEffort,
    solve_rcpsp,
};

/// The number of schedules of the resource search per schedule of the one-person search, which is that much more
/// expensive.
const EFFORT_FACTOR: u64 = 5;
/// The maximum number of rounds in which an elapsed lag is raised until the calendar satisfies it.
pub const LAG_ROUNDS: usize = 8;

/// The minimum waiting time, in working minutes, of the links whose lag is elapsed time.
pub type RaisedLags = HashMap<usize, i32>;

/// Places the items of a network within the roadmap's capacities.
pub(super) fn layout_shared(
    request: &ScheduleRequest<'_>,
    network: &ItemNetwork,
    axis: &WorkAxis,
    taken: &[(i64, i64)],
    horizon: Horizon,
    iterations: u64,
) -> Result<ScheduleLayout, ScheduleError> {
    let locked = network.items.iter().flat_map(|item| item.locked.iter().copied());
    let blocked = super::schedule_run::merge_spans(taken.iter().copied().chain(locked));
    // Events and locks are not working time here, so a leaf may pause over them but never overlap them.
    let free = axis.without_spans(&blocked);
    let mut raised = RaisedLags::new();
    let mut round = 0;
    loop {
        let problem = rcpsp_problem(request, network, &free, !blocked.is_empty(), &raised)?;
        let effort = SearchEffort {
            iterations: try_count(iterations, network.items.len()) * EFFORT_FACTOR,
            seed: request.seed,
        };
        let solution =
            solve_rcpsp(&problem, effort).map_err(|error| name_error(request, network, error))?;
        let layout = layout_from_solution(network, axis, &free, &solution, horizon);
        round += 1;
        if round > LAG_ROUNDS
            || !raise_lags(network, axis, &layout, &mut raised, round == LAG_ROUNDS)
        {
            return Ok(layout);
        }
    }
}

fn rcpsp_problem(
    request: &ScheduleRequest<'_>,
    network: &ItemNetwork,
    free: &WorkAxis,
    has_gaps: bool,
    raised: &RaisedLags,
) -> Result<RcpspProblem, ScheduleError> {
    let names: Vec<&String> = request.roadmap.resources.keys().collect();
    let durations = network.items.iter().map(ScheduleItem::open_minutes).collect();
    let release = network.items.iter().map(|item| {
        let first = item.fixed.unwrap_or(item.release);
        u32::try_from(free.working_minutes(first)).unwrap_or(u32::MAX)
    });
    let mut demands = Vec::with_capacity(network.items.len());
    for item in &network.items {
        let node = request.roadmap.nodes.get(item.node);
        let mut demand = Vec::new();
        for (name, &units) in node.into_iter().flat_map(|node| &node.resources) {
            let Ok(resource) = names.binary_search(&name) else {
                let leaf = node.map_or_else(String::new, |node| node.id.to_string());
                return Err(ScheduleError::UnknownResource { leaf, resource: name.clone() });
            };
            demand.push((resource, units));
        }
        // Everybody who is named does one thing at a time.
        if item.owner > 0 {
            demand.push((names.len() + item.owner - 1, 1));
        }
        demands.push(demand);
    }
    let mut links = Vec::new();
    for (index, link) in network.links.iter().enumerate() {
        let lag = match link.basis {
            LagBasis::Working => link.lag,
            LagBasis::Elapsed => raised.get(&index).copied().unwrap_or(link.lag.min(0)),
        };
        // A lead reaches further back if part of the time between is not ours.
        let lag = if has_gaps { lag.max(0) } else { lag };
        // One opening leaf is enough for a link from the start of a container.
        let count = if matches!(link.kind, LinkKind::FS | LinkKind::FF) { usize::MAX } else { 1 };
        let from = link.from.iter().take(count);
        links.extend(from.map(|&from| LeafLink {
            from,
            to: link.to,
            kind: rcpsp_link_kind(link.kind),
            lag,
        }));
    }
    let owners = std::iter::repeat_n(1, network.owner_count() - 1);
    let capacities = request.roadmap.resources.values().copied().chain(owners).collect();
    Ok(RcpspProblem { durations, links, capacities, demands, release: release.collect() })
}

pub fn rcpsp_link_kind(kind: LinkKind) -> Kind {
    match kind {
        LinkKind::FS => Kind::Fs,
        LinkKind::SS => Kind::Ss,
        LinkKind::FF => Kind::Ff,
        LinkKind::SF => Kind::Sf,
    }
}

fn layout_from_solution(
    network: &ItemNetwork,
    axis: &WorkAxis,
    free: &WorkAxis,
    solution: &RcpspSolution,
    horizon: Horizon,
) -> ScheduleLayout {
    let mut layout = ScheduleLayout::default();
    for (item, &start) in network.items.iter().zip(&solution.starts) {
        let minutes = item.open_minutes();
        let (from, to) = (u64::from(start), u64::from(start) + u64::from(minutes));
        let mut blocks = free.clock_spans(from, to);
        let placed: u64 = blocks.iter().map(|block| block.1.abs_diff(block.0)).sum();
        let inside = blocks.iter().all(|block| block.1 <= horizon.limit);
        if placed < u64::from(minutes) || !inside {
            layout.spans.push(None);
            layout.blocks.push(item.locked.clone());
            continue;
        }
        blocks.extend(&item.locked);
        blocks.sort_unstable();
        let point = free.finish_minute(from).unwrap_or(horizon.limit);
        let first = blocks.first().map_or(point, |block| block.0);
        let last = blocks.iter().map(|block| block.1).max().unwrap_or(point);
        layout.spans.push(Some(WorkSpan {
            start: axis.working_minutes(first),
            finish: axis.working_minutes(last),
        }));
        layout.blocks.push(blocks);
    }
    layout
}

/// Raises the elapsed lags that the calendar violates; returns whether any was raised.
fn raise_lags(
    network: &ItemNetwork,
    axis: &WorkAxis,
    layout: &ScheduleLayout,
    raised: &mut RaisedLags,
    last: bool,
) -> bool {
    let mut changed = false;
    for (index, link) in network.links.iter().enumerate() {
        if link.basis != LagBasis::Elapsed {
            continue;
        }
        let alone = ItemNetwork::from_parts(network.items.clone(), vec![link.clone()]);
        let Some(span) = layout.spans.get(link.to).copied().flatten() else { continue };
        let Some((start, finish)) = item_bounds(&alone, axis, &layout.spans, link.to) else {
            continue;
        };
        let short = start.saturating_sub(span.start).max(finish.saturating_sub(span.finish));
        if short > 0 {
            let lag = raised.entry(index).or_insert(link.lag.min(0));
            let short = i32::try_from(short).unwrap_or(i32::MAX);
            // There is never more working time than clock time.
            *lag =
                if last { link.lag.max(0) } else { lag.saturating_add(short).min(link.lag.max(0)) };
            changed = true;
        }
    }
    changed
}

fn name_error(
    request: &ScheduleRequest<'_>,
    network: &ItemNetwork,
    error: RcpspError,
) -> ScheduleError {
    let leaf = |index: usize| {
        let node = network.items.get(index).and_then(|item| request.roadmap.nodes.get(item.node));
        node.map_or_else(String::new, |node| node.id.to_string())
    };
    name_error_with(error, leaf, &request.roadmap.resources)
}

pub fn name_error_with(
    error: RcpspError,
    leaf: impl Fn(usize) -> String,
    resources: &BTreeMap<String, u32>,
) -> ScheduleError {
    let resource = |index: usize| resources.keys().nth(index).cloned().unwrap_or_default();
    match error {
        RcpspError::DemandOverCapacity { leaf: index, resource: at, demand, capacity } => {
            let (leaf, resource) = (leaf(index), resource(at));
            ScheduleError::DemandOverCapacity { leaf, resource, demand, capacity }
        }
        RcpspError::UnknownResource { leaf: index, resource: at } => {
            ScheduleError::UnknownResource { leaf: leaf(index), resource: resource(at) }
        }
        RcpspError::Cycle { leaves } => {
            ScheduleError::Cycle { leaves: leaves.into_iter().map(leaf).collect() }
        }
        RcpspError::TooLong { minutes } => ScheduleError::TooLong { minutes },
        // The shapes are built here and are always valid.
        RcpspError::Shape { .. } | RcpspError::UnknownLeaf { .. } => {
            ScheduleError::TooLong { minutes: 0 }
        }
    }
}
