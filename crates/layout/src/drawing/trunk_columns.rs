//! Orders the trunks of a channel: lines must not overlap, and few should cross.

use super::channel_routing::{ChannelPiece, ChannelTrunk, split_by_target_row};
use std::collections::{BTreeMap, BTreeSet};

/// Trunks with their columns.
#[derive(Debug, Default)]
pub(super) struct PlacedTrunks {
    pub(super) trunks: Vec<ChannelTrunk>,
    pub(super) columns: Vec<i32>,
    pub(super) count: i32,
    /// Rows used by doglegs.
    pub(super) doglegs: Vec<i32>,
}

/// Assigns every trunk a column; splits trunks whose rows allow no order.
pub(super) fn assign_columns(
    mut trunks: Vec<ChannelTrunk>,
    pieces: &[ChannelPiece],
) -> PlacedTrunks {
    let mut doglegs = Vec::new();
    // Every round splits a trunk that has several target rows, or adds a dogleg in a row that nothing else uses.
    let order = loop {
        match order_trunks(&trunks, &doglegs) {
            Ok(order) => break order,
            Err(blocked) => break_cycle(&mut trunks, blocked, pieces, &mut doglegs),
        }
    };
    let trunks: Vec<ChannelTrunk> = order.into_iter().map(|at| trunks[at].clone()).collect();
    let mut columns: Vec<i32> = Vec::with_capacity(trunks.len());
    for (at, trunk) in trunks.iter().enumerate() {
        let (low, high) = trunk.row_span();
        // Trunks whose rows do not overlap may share a column.
        let meets = |other: &ChannelTrunk| {
            let (first, last) = other.row_span();
            first <= high && low <= last
        };
        let column = (0..at)
            .filter(|&other| meets(&trunks[other]))
            .map(|other| columns[other] + 1)
            .max()
            .unwrap_or(0);
        columns.push(column);
    }
    let count = columns.iter().max().map_or(0, |last| last + 1);
    PlacedTrunks { trunks, columns, count, doglegs }
}

/// Breaks a cycle of trunks that each must be left of the next: the blocking one is split, or takes a detour over a
/// free row.
fn break_cycle(
    trunks: &mut Vec<ChannelTrunk>,
    blocked: usize,
    pieces: &[ChannelPiece],
    doglegs: &mut Vec<i32>,
) {
    if trunks[blocked].rights.len() > 1 {
        let split = split_by_target_row(pieces, &trunks[blocked]);
        trunks.splice(blocked..=blocked, split);
        return;
    }
    let taken: BTreeSet<i32> =
        pieces.iter().flat_map(|p| [p.left, p.right]).chain(doglegs.iter().copied()).collect();
    let (low, high) = trunks[blocked].row_span();
    let middle = i32::midpoint(low, high);
    let detour = (0..=i32::MAX - high)
        .flat_map(|distance| [middle - distance, middle + distance])
        .find(|row| *row >= 0 && !taken.contains(row))
        .expect("rows below the drawing are free");
    doglegs.push(detour);
    let second = ChannelTrunk { lefts: vec![detour], ..trunks[blocked].clone() };
    trunks[blocked].rights = vec![detour];
    trunks.insert(blocked + 1, second);
}

/// Returns an order of the trunks with few crossings, or a trunk that is part of a cycle.
fn order_trunks(trunks: &[ChannelTrunk], doglegs: &[i32]) -> Result<Vec<usize>, usize> {
    let before = left_constraints(trunks, doglegs);
    let base = sort_topologically(&before)?;
    Ok(reduce_trunk_crossings(trunks, &before, base))
}

/// Returns for each trunk the trunks that must be left of it: those whose left row it reaches on the right.
///
/// This applies to straight rows too: a line that leaves one must do so before another joins it, or it would appear to
/// belong to both. The row of a dogleg is reversed: it runs from the trunk that reaches it to the trunk that leaves it.
fn left_constraints(trunks: &[ChannelTrunk], doglegs: &[i32]) -> Vec<Vec<usize>> {
    let mut by_left: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for (at, trunk) in trunks.iter().enumerate() {
        for &row in &trunk.lefts {
            by_left.entry(row).or_default().push(at);
        }
    }
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); trunks.len()];
    for (at, trunk) in trunks.iter().enumerate() {
        for row in &trunk.rights {
            for &other in by_left.get(row).into_iter().flatten().filter(|&&other| other != at) {
                let (first, second) = if doglegs.contains(row) { (at, other) } else { (other, at) };
                if !before[second].contains(&first) {
                    before[second].push(first);
                }
            }
        }
    }
    before
}

fn sort_topologically(before: &[Vec<usize>]) -> Result<Vec<usize>, usize> {
    let mut waiting: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); before.len()];
    for (at, earlier) in before.iter().enumerate() {
        for &other in earlier {
            after[other].push(at);
        }
    }
    let mut order: Vec<usize> = (0..before.len()).filter(|&at| waiting[at] == 0).collect();
    let mut next = 0;
    while next < order.len() {
        for &at in &after[order[next]] {
            waiting[at] -= 1;
            if waiting[at] == 0 {
                order.push(at);
            }
        }
        next += 1;
    }
    match (0..before.len()).find(|&at| waiting[at] > 0) {
        None => Ok(order),
        Some(first) => Err(find_cycle_member(before, &waiting, first)),
    }
}

/// Follows the constraints back over unplaced trunks until one repeats.
fn find_cycle_member(before: &[Vec<usize>], waiting: &[usize], first: usize) -> usize {
    let mut seen = BTreeSet::new();
    let mut at = first;
    while seen.insert(at) {
        match before[at].iter().find(|&&other| waiting[other] > 0) {
            Some(&other) => at = other,
            None => break,
        }
    }
    at
}

/// Counts the crossings that arise when `left` is left of `right`.
fn count_trunk_crossings(left: &ChannelTrunk, right: &ChannelTrunk) -> i32 {
    let inside = |rows: &[i32], (low, high): (i32, i32)| {
        rows.iter().map(|&row| i32::from(low < row && row < high)).sum::<i32>()
    };
    inside(&right.lefts, left.row_span()) + inside(&left.rights, right.row_span())
}

/// Moves trunks one at a time to the column with the fewest crossings that their constraints allow.
fn reduce_trunk_crossings(
    trunks: &[ChannelTrunk],
    before: &[Vec<usize>],
    mut order: Vec<usize>,
) -> Vec<usize> {
    // A round compares all pairs of trunks, so channels with many trunks keep the order of the constraints.
    const ROUNDS: usize = 4;
    const MAX_REORDERED: usize = 120;
    if order.len() > MAX_REORDERED {
        return order;
    }
    for _ in 0..ROUNDS {
        let mut moved = false;
        for trunk in 0..trunks.len() {
            let from =
                order.iter().position(|&at| at == trunk).expect("every trunk is in the order");
            let to = best_trunk_place(trunks, before, &order, from);
            if to != from {
                order.remove(from);
                order.insert(to, trunk);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    order
}

fn best_trunk_place(
    trunks: &[ChannelTrunk],
    before: &[Vec<usize>],
    order: &[usize],
    from: usize,
) -> usize {
    let trunk = order[from];
    // Moving past one trunk changes only the crossings of that pair, so the sum of the changes gives the effect of
    // every possible move in one pass. A constraint ends the pass.
    let change = |other: usize| {
        count_trunk_crossings(&trunks[trunk], &trunks[other])
            - count_trunk_crossings(&trunks[other], &trunks[trunk])
    };
    let (mut best, mut to, mut sum) = (0, from, 0);
    for at in (0..from).rev() {
        if before[trunk].contains(&order[at]) {
            break;
        }
        sum += change(order[at]);
        if sum < best {
            (best, to) = (sum, at);
        }
    }
    sum = 0;
    for (at, &other) in order.iter().enumerate().skip(from + 1) {
        if before[other].contains(&trunk) {
            break;
        }
        sum -= change(other);
        if sum < best {
            (best, to) = (sum, at);
        }
    }
    to
}
