//! Forward and backward pass without capacity: earliest and latest times, slack, the critical path.

use super::axis::Axis;
use super::network::{ItemLink, Network};
use crate::calendar::{Bound, Span};
use planwright_model::{LagBasis, LinkKind};

/// How lags count.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock<'a> {
    /// All time is working time.
    Plain,
    Working(&'a Axis),
}

/// What the passes found, in working minutes.
#[derive(Clone, Debug, Default)]
pub(super) struct Timing {
    pub earliest: Vec<Span>,
    pub latest: Vec<Span>,
    /// Every item after its predecessors; without those in or behind a cycle.
    pub order: Vec<usize>,
    /// The chain that decides the finish, first item first.
    pub critical: Vec<usize>,
}

impl Timing {
    pub(super) fn new(network: &Network, clock: Clock<'_>) -> Self {
        let order = topological(network);
        let (earliest, binding) = forward(network, clock, &order);
        let end = order.iter().map(|&item| earliest[item].finish).max().unwrap_or(0);
        let latest = backward(network, clock, &order, &earliest, end);
        let critical = chain(&order, &earliest, &binding, end);
        Self { earliest, latest, order, critical }
    }

    /// How much later an item may start without moving the end.
    pub(super) fn slack(&self, item: usize) -> u64 {
        self.latest[item].start.saturating_sub(self.earliest[item].start)
    }
}

fn topological(network: &Network) -> Vec<usize> {
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

fn forward(
    network: &Network,
    clock: Clock<'_>,
    order: &[usize],
) -> (Vec<Span>, Vec<Option<usize>>) {
    let mut earliest = vec![Span::default(); network.items.len()];
    let mut binding = vec![None; network.items.len()];
    for &index in order {
        let item = &network.items[index];
        let minutes = u64::from(if item.done { 0 } else { item.minutes });
        let mut start = clock.released(item.fixed.unwrap_or(item.release));
        for link in network.into[index].iter().map(|&link| &network.links[link]) {
            let Some((from, decisive)) = source(link, &earliest) else { continue };
            let bound = clock.bound(link, from).earliest_start(minutes);
            if bound > start || (bound == start && binding[index].is_none()) {
                start = bound;
                binding[index] = Some(decisive);
            }
        }
        earliest[index] = Span { start, finish: start.saturating_add(minutes) };
    }
    (earliest, binding)
}

/// The span that a link starts from, and the item that decides it.
fn source(link: &ItemLink, earliest: &[Span]) -> Option<(Span, usize)> {
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

fn backward(
    network: &Network,
    clock: Clock<'_>,
    order: &[usize],
    earliest: &[Span],
    end: u64,
) -> Vec<Span> {
    let minutes = |index: usize| earliest[index].finish - earliest[index].start;
    let mut finish = vec![end; earliest.len()];
    for &index in order.iter().rev() {
        let to =
            Span { start: finish[index].saturating_sub(minutes(index)), finish: finish[index] };
        for link in network.into[index].iter().map(|&link| &network.links[link]) {
            let at_start = matches!(link.kind, LinkKind::SS | LinkKind::SF);
            let limit = clock.latest(link, to);
            // Only the leaf that opens a container is held by a link from its start.
            let held: &[usize] = &link.from;
            let opening = source(link, earliest).map(|(_, decisive)| decisive);
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
        .map(|index| Span {
            start: finish[index].saturating_sub(minutes(index)),
            finish: finish[index],
        })
        .collect()
}

fn chain(order: &[usize], earliest: &[Span], binding: &[Option<usize>], end: u64) -> Vec<usize> {
    let last = order.iter().copied().filter(|&item| earliest[item].finish == end).max();
    let mut chain: Vec<usize> = std::iter::successors(last, |&item| binding[item]).collect();
    chain.reverse();
    chain
}

impl Clock<'_> {
    fn released(self, minute: i64) -> u64 {
        match self {
            Clock::Plain => 0,
            Clock::Working(axis) => axis.working(minute),
        }
    }

    fn bound(self, link: &ItemLink, from: Span) -> Bound {
        match self {
            Clock::Working(axis) => axis.bound(link.kind, link.lag, link.basis, from),
            Clock::Plain => plain_bound(link.kind, link.lag, from),
        }
    }

    /// The latest working minute of the predecessor's end of a link.
    fn latest(self, link: &ItemLink, to: Span) -> u64 {
        let at = match link.kind {
            LinkKind::FS | LinkKind::SS => to.start,
            LinkKind::FF | LinkKind::SF => to.finish,
        };
        match (self, link.basis) {
            (Clock::Working(axis), LagBasis::Elapsed) => {
                let minute = axis.start_minute(at).unwrap_or_else(|| axis.end());
                axis.working(minute.saturating_sub(i64::from(link.lag)))
            }
            _ => at.saturating_add_signed(-i64::from(link.lag)),
        }
    }
}

fn plain_bound(kind: LinkKind, lag: i32, from: Span) -> Bound {
    let lag = i64::from(lag);
    match kind {
        LinkKind::FS => Bound::Start(from.finish.saturating_add_signed(lag)),
        LinkKind::SS => Bound::Start(from.start.saturating_add_signed(lag)),
        LinkKind::FF => Bound::Finish(from.finish.saturating_add_signed(lag)),
        LinkKind::SF => Bound::Finish(from.start.saturating_add_signed(lag)),
    }
}
