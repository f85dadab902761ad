//! Forward and backward pass without capacity: earliest and latest times, slack, the critical path.

use super::axis::WorkAxis;
use super::network::{ItemLink, ItemNetwork};
use crate::calendar::{LinkBound, WorkSpan};
use planwright_model::{LagBasis, LinkKind};

/// How lags are measured.
#[derive(Clone, Copy, Debug)]
pub(super) enum PassClock<'a> {
    /// All time is working time.
    Plain,
    Working(&'a WorkAxis),
}

/// The result of the passes, in working minutes.
#[derive(Clone, Debug, Default)]
pub(super) struct NetworkTiming {
    pub earliest: Vec<WorkSpan>,
    pub latest: Vec<WorkSpan>,
    /// Every item after its predecessors, excluding those in or behind a cycle.
    pub order: Vec<usize>,
    /// The chain that determines the finish, first item first.
    pub critical: Vec<usize>,
}

impl NetworkTiming {
    pub(super) fn new(network: &ItemNetwork, clock: PassClock<'_>) -> Self {
        let order = topological_order(network);
        let (earliest, binding) = forward_pass(network, clock, &order);
        let end = order.iter().map(|&item| earliest[item].finish).max().unwrap_or(0);
        let latest = backward_pass(network, clock, &order, &earliest, end);
        let critical = critical_chain(&order, &earliest, &binding, end);
        Self { earliest, latest, order, critical }
    }

    /// Returns how much later an item may start without moving the end.
    pub(super) fn slack(&self, item: usize) -> u64 {
        self.latest[item].start.saturating_sub(self.earliest[item].start)
    }
}

fn topological_order(network: &ItemNetwork) -> Vec<usize> {
    let mut waiting = vec![0usize; network.items.len()];
    for list in &network.successors {
        for &to in list {
            waiting[to] += 1;
        }
    }
    let mut order: Vec<usize> = (0..waiting.len()).filter(|&item| waiting[item] == 0).collect();
    let mut next = 0;
    while let Some(&item) = order.get(next) {
        next += 1;
        for &to in &network.successors[item] {
            waiting[to] -= 1;
            if waiting[to] == 0 {
                order.push(to);
            }
        }
    }
    order
}

fn forward_pass(
    network: &ItemNetwork,
    clock: PassClock<'_>,
    order: &[usize],
) -> (Vec<WorkSpan>, Vec<Option<usize>>) {
    let mut earliest = vec![WorkSpan::default(); network.items.len()];
    let mut binding = vec![None; network.items.len()];
    for &index in order {
        let item = &network.items[index];
        let minutes = u64::from(if item.done { 0 } else { item.minutes });
        let mut start = clock.release_minutes(item.fixed.unwrap_or(item.release));
        for link in network.into[index].iter().map(|&link| &network.links[link]) {
            let Some((from, decisive)) = link_source(link, &earliest) else { continue };
            let bound = clock.link_bound(link, from).earliest_start(minutes);
            if bound > start || (bound == start && binding[index].is_none()) {
                start = bound;
                binding[index] = Some(decisive);
            }
        }
        earliest[index] = WorkSpan { start, finish: start.saturating_add(minutes) };
    }
    (earliest, binding)
}

/// Returns the span that a link starts from, and the item that determines it.
fn link_source(link: &ItemLink, earliest: &[WorkSpan]) -> Option<(WorkSpan, usize)> {
    let by_finish = matches!(link.kind, LinkKind::FS | LinkKind::FF);
    let decisive = if by_finish {
        link.from
            .iter()
            .copied()
            .max_by_key(|&from| (earliest[from].finish, std::cmp::Reverse(from)))
    } else {
        link.from.iter().copied().min_by_key(|&from| (earliest[from].start, from))
    }?;
    Some((earliest[decisive], decisive))
}

fn backward_pass(
    network: &ItemNetwork,
    clock: PassClock<'_>,
    order: &[usize],
    earliest: &[WorkSpan],
    end: u64,
) -> Vec<WorkSpan> {
    let minutes = |index: usize| earliest[index].finish - earliest[index].start;
    let mut finish = vec![end; earliest.len()];
    for &index in order.iter().rev() {
        let to =
            WorkSpan { start: finish[index].saturating_sub(minutes(index)), finish: finish[index] };
        for link in network.into[index].iter().map(|&link| &network.links[link]) {
            let at_start = matches!(link.kind, LinkKind::SS | LinkKind::SF);
            let limit = clock.latest_predecessor_end(link, to);
            // A link from the start of a container constrains only its opening leaf.
            let held: &[usize] = &link.from;
            let opening = link_source(link, earliest).map(|(_, decisive)| decisive);
            for &from in held {
                if at_start && Some(from) == opening {
                    finish[from] = finish[from].min(limit.saturating_add(minutes(from)));
                } else if !at_start {
                    finish[from] = finish[from].min(limit);
                }
            }
        }
    }
    (0..earliest.len())
        .map(|index| WorkSpan {
            start: finish[index].saturating_sub(minutes(index)),
            finish: finish[index],
        })
        .collect()
}

fn critical_chain(
    order: &[usize],
    earliest: &[WorkSpan],
    binding: &[Option<usize>],
    end: u64,
) -> Vec<usize> {
    let last = order.iter().copied().filter(|&item| earliest[item].finish == end).max();
    let mut chain: Vec<usize> = std::iter::successors(last, |&item| binding[item]).collect();
    chain.reverse();
    chain
}

impl PassClock<'_> {
    fn release_minutes(self, minute: i64) -> u64 {
        match self {
            PassClock::Plain => 0,
            PassClock::Working(axis) => axis.working_minutes(minute),
        }
    }

    fn link_bound(self, link: &ItemLink, from: WorkSpan) -> LinkBound {
        match self {
            PassClock::Working(axis) => axis.link_bound(link.kind, link.lag, link.basis, from),
            PassClock::Plain => plain_bound(link.kind, link.lag, from),
        }
    }

    /// Returns the latest working minute of the predecessor's end of a link.
    fn latest_predecessor_end(self, link: &ItemLink, to: WorkSpan) -> u64 {
        let at = match link.kind {
            LinkKind::FS | LinkKind::SS => to.start,
            LinkKind::FF | LinkKind::SF => to.finish,
        };
        match (self, link.basis) {
            (PassClock::Working(axis), LagBasis::Elapsed) => {
                let minute = axis.start_minute(at).unwrap_or_else(|| axis.end());
                axis.working_minutes(minute.saturating_sub(i64::from(link.lag)))
            }
            _ => at.saturating_add_signed(-i64::from(link.lag)),
        }
    }
}

fn plain_bound(kind: LinkKind, lag: i32, from: WorkSpan) -> LinkBound {
    let lag = i64::from(lag);
    match kind {
        LinkKind::FS => LinkBound::Start(from.finish.saturating_add_signed(lag)),
        LinkKind::SS => LinkBound::Start(from.start.saturating_add_signed(lag)),
        LinkKind::FF => LinkBound::Finish(from.finish.saturating_add_signed(lag)),
        LinkKind::SF => LinkBound::Finish(from.start.saturating_add_signed(lag)),
    }
}
