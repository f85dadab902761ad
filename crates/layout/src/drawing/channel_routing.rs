//! The space between two layers: which pieces share a trunk, and in which columns the trunks are.

use super::trunk_columns;
use std::collections::BTreeMap;

/// A piece of an edge between two layers, from a line on the left to a line on the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChannelPiece {
    pub(super) edge: u32,
    pub(super) left: i32,
    pub(super) right: i32,
}

/// A vertical line with all the pieces that join it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChannelTrunk {
    pub(super) lefts: Vec<i32>,
    pub(super) rights: Vec<i32>,
    /// The pieces that run here, by index.
    pub(super) pieces: Vec<usize>,
}

impl ChannelTrunk {
    fn from_members(pieces: &[ChannelPiece], members: Vec<usize>) -> Self {
        let mut lefts: Vec<i32> = members.iter().map(|&at| pieces[at].left).collect();
        let mut rights: Vec<i32> = members.iter().map(|&at| pieces[at].right).collect();
        for ends in [&mut lefts, &mut rights] {
            ends.sort_unstable();
            ends.dedup();
        }
        Self { lefts, rights, pieces: members }
    }

    /// First and last row.
    pub(super) fn row_span(&self) -> (i32, i32) {
        // Both lists are sorted, and this is called for every pair of trunks.
        let ends = [&self.lefts, &self.rights];
        (
            ends.iter().filter_map(|rows| rows.first()).min().copied().unwrap_or(i32::MAX),
            ends.iter().filter_map(|rows| rows.last()).max().copied().unwrap_or(i32::MIN),
        )
    }

    /// Returns whether the trunk continues both above and below a row.
    fn passes_row(&self, row: i32) -> bool {
        let (low, high) = self.row_span();
        low < row && row < high
    }
}

/// The path of one piece: rows and columns alternating, as `left row, column, row, column, …, right row`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChannelPath {
    /// Column and the row that the line follows from there; empty for a straight piece.
    pub(super) turns: Vec<(i32, i32)>,
}

/// A routed channel.
#[derive(Clone, Debug, Default)]
pub(super) struct RoutedChannel {
    /// One path per piece.
    pub(super) paths: Vec<ChannelPath>,
    /// Number of trunk columns.
    pub(super) columns: i32,
    /// The last row in use.
    pub(super) last_row: i32,
}

/// Routes all pieces of a channel.
pub(super) fn route_channel(pieces: &[ChannelPiece]) -> RoutedChannel {
    let trunks = group_into_trunks(pieces);
    let placed = trunk_columns::assign_columns(trunks, pieces);
    let mut paths = vec![ChannelPath::default(); pieces.len()];
    let last_row = pieces
        .iter()
        .map(|p| p.left.max(p.right))
        .chain(placed.doglegs.iter().copied())
        .max()
        .unwrap_or(0);
    for (trunk, column) in placed.trunks.iter().zip(&placed.columns) {
        for &piece in &trunk.pieces {
            // A dogleg's first trunk ends in a row of its own, which only that trunk contains.
            let row = if trunk.rights.contains(&pieces[piece].right) {
                pieces[piece].right
            } else {
                trunk.rights[0]
            };
            paths[piece].turns.push((*column, row));
        }
    }
    for path in &mut paths {
        path.turns.sort_unstable_by_key(|turn| turn.0);
    }
    RoutedChannel { paths, columns: placed.count, last_row }
}

/// Groups the pieces that bend into trunks in which no four lines meet.
/// A source with several edges gets one trunk for its bent pieces. The other pieces share a trunk if they have the same
/// target. Each bent piece is in exactly one trunk, and lines share a trunk only if they share an end.
fn group_into_trunks(pieces: &[ChannelPiece]) -> Vec<ChannelTrunk> {
    let mut by_left: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    let mut straight = std::collections::BTreeSet::new();
    for (at, piece) in pieces.iter().enumerate() {
        by_left.entry(piece.left).or_default().push(at);
        if piece.left == piece.right {
            straight.insert(piece.left);
        }
    }
    let mut joined: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    let mut trunks = Vec::new();
    for (left, members) in by_left {
        let bent: Vec<usize> =
            members.iter().copied().filter(|&at| pieces[at].right != left).collect();
        match bent.as_slice() {
            [] => {}
            [only] if members.len() == 1 => {
                joined.entry(pieces[*only].right).or_default().push(*only);
            }
            // A straight line continues past the trunk in the same row. A trunk on both sides of it would form a `┼`,
            // which always means a crossing, so each side gets a trunk of its own.
            _ if straight.contains(&left) => {
                trunks.extend(split_by_side(pieces, bent, |piece| piece.right < left));
            }
            _ => trunks.push(ChannelTrunk::from_members(pieces, bent)),
        }
    }
    trunks.extend(joined.into_values().map(|members| ChannelTrunk::from_members(pieces, members)));
    separate_joins(pieces, trunks, &straight)
}

/// Splits a trunk in two: the members that satisfy `above`, and the others.
fn split_by_side(
    pieces: &[ChannelPiece],
    members: Vec<usize>,
    above: impl Fn(&ChannelPiece) -> bool,
) -> impl Iterator<Item = ChannelTrunk> {
    let (first, second): (Vec<usize>, Vec<usize>) =
        members.into_iter().partition(|&at| above(&pieces[at]));
    [first, second]
        .into_iter()
        .filter(|side| !side.is_empty())
        .map(|side| ChannelTrunk::from_members(pieces, side))
}

/// Splits trunks that would pass a row where other lines join: such a join would look like a crossing.
fn separate_joins(
    pieces: &[ChannelPiece],
    trunks: Vec<ChannelTrunk>,
    straight: &std::collections::BTreeSet<i32>,
) -> Vec<ChannelTrunk> {
    let mut users: BTreeMap<i32, usize> = straight.iter().map(|&row| (row, 1)).collect();
    for right in trunks.iter().flat_map(|trunk| &trunk.rights) {
        *users.entry(*right).or_default() += 1;
    }
    let mut result = Vec::new();
    for trunk in trunks {
        let crowded = |row: i32| users[&row] > 1 && trunk.passes_row(row);
        if !trunk.rights.iter().any(|&row| crowded(row)) {
            result.push(trunk);
        } else if trunk.rights.len() == 1 {
            let row = trunk.rights[0];
            result.extend(split_by_side(pieces, trunk.pieces, |piece| piece.left < row));
        } else {
            let (own, shared): (Vec<usize>, Vec<usize>) =
                trunk.pieces.iter().copied().partition(|&at| crowded(pieces[at].right));
            let left = trunk.lefts[0];
            result.extend(own.into_iter().map(|at| ChannelTrunk::from_members(pieces, vec![at])));
            // The source's line now continues past this trunk, so the trunk may leave it on one side only.
            result.extend(split_by_side(pieces, shared, |piece| piece.right < left));
        }
    }
    result
}

/// Splits a trunk into one per row on its right.
pub(super) fn split_by_target_row(
    pieces: &[ChannelPiece],
    trunk: &ChannelTrunk,
) -> Vec<ChannelTrunk> {
    trunk
        .rights
        .iter()
        .map(|&right| {
            let members =
                trunk.pieces.iter().copied().filter(|&at| pieces[at].right == right).collect();
            ChannelTrunk::from_members(pieces, members)
        })
        .collect()
}
