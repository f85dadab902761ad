//! Orders the trunks of a channel: lines must not run over each other, and few should cross.

use super::channel_routing::{ChannelPiece, ChannelTrunk, split_by_target_row};
use std::collections::{BTreeMap, BTreeSet};

/// Trunks with their columns.
#[derive(Debug, Default)]
pub(super) struct PlacedTrunks {
    pub(super) trunks: Vec<ChannelTrunk>,
    pub(super) columns: Vec<i32>,
    pub(super) count: i32,
    /// Rows that doglegs took.
    pub(super) doglegs: Vec<i32>,
}

/// Gives every trunk a column; splits trunks where their rows leave no order.
pub(super) fn assign_columns(
    mut trunks: Vec<ChannelTrunk>,
    pieces: &[ChannelPiece],
) -> PlacedTrunks {
    let mut doglegs = Vec::new();
    let order = loop {
        match order_trunks(&trunks, &doglegs) {
            Ok(order) => break order,
            Err(stuck) => break_cycle(&mut trunks, stuck, pieces, &mut doglegs),
        }
    };
    let trunks: Vec<ChannelTrunk> = order.into_iter().map(|at| trunks[at].clone()).collect();
    let mut columns: Vec<i32> = Vec::with_capacity(trunks.len());
    for (at, trunk) in trunks.iter().enumerate() {
        let (low, high) = trunk.row_span();
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

/// Breaks a ring of trunks that each must be left of the next: the stuck one is split, or makes a detour by a free row.
fn break_cycle(
    trunks: &mut Vec<ChannelTrunk>,
    stuck: usize,
    pieces: &[ChannelPiece],
    doglegs: &mut Vec<i32>,
) {
    if trunks[stuck].rights.len() > 1 {
        let split = split_by_target_row(pieces, &trunks[stuck]);
        trunks.splice(stuck..=stuck, split);
        return;
    }
    let taken: BTreeSet<i32> =
        pieces.iter().flat_map(|p| [p.left, p.right]).chain(doglegs.iter().copied()).collect();
    let (low, high) = trunks[stuck].row_span();
    let middle = i32::midpoint(low, high);
    let detour = (0..=i32::MAX - high)
        .flat_map(|distance| [middle - distance, middle + distance])
        .find(|row| *row >= 0 && !taken.contains(row))
        .expect("rows below the drawing are free");
    doglegs.push(detour);
    let second = ChannelTrunk { lefts: vec![detour], ..trunks[stuck].clone() };
    trunks[stuck].rights = vec![detour];
    trunks.insert(stuck + 1, second);
}

/// An order of the trunks with few crossings, or a trunk that is part of a ring.
fn order_trunks(trunks: &[ChannelTrunk], doglegs: &[i32]) -> Result<Vec<usize>, usize> {
    let before = left_constraints(trunks, doglegs);
    let base = sort_topologically(&before)?;
    Ok(reduce_trunk_crossings(trunks, &before, base))
}

/// For each trunk the trunks that must stand left of it: those whose left row it reaches on the right.
///
/// This holds for straight rows too: a line that leaves one must do so before another joins it, or it would seem to
/// belong to both. The row of a dogleg is the other way round: it runs from the trunk that reaches it to the trunk that leaves it.
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

/// Walks back over unplaced trunks until one comes up again.
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

/// Crossings that arise when `left` stands left of `right`.
fn count_trunk_crossings(left: &ChannelTrunk, right: &ChannelTrunk) -> i32 {
    let inside = |rows: &[i32], (low, high): (i32, i32)| {
        rows.iter().map(|&row| i32::from(low < row && row < high)).sum::<i32>()
    };
    inside(&right.lefts, left.row_span()) + inside(&left.rights, right.row_span())
}

/// Moves trunks one at a time to the place with the fewest crossings that their constraints allow.
fn reduce_trunk_crossings(
    trunks: &[ChannelTrunk],
    before: &[Vec<usize>],
    mut order: Vec<usize>,
) -> Vec<usize> {
    const ROUNDS: usize = 4;
    const MOST: usize = 120;
    if order.len() > MOST {
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
