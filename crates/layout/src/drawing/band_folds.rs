//! The turn from one row of layers to the next: lines leave at the right, run back between the rows and enter at the
//! left.
//!
//! Each line of the last layer gets one track between the rows. The lowest line takes the upper track and the inner
//! column on the right, and the upper track the outer column on the left: lines whose order stays the same never cross.

use std::collections::{BTreeMap, BTreeSet};

use super::channel_routing::ChannelPiece;
use super::drawing_metrics::Zoom;

/// Free cells between the last layer and the first column at its right.
const LEAD: i32 = 1;
/// Cells after the last column at the left, the arrow included.
const TAIL: i32 = 2;
/// From so many columns on they stand side by side.
const ROOMY: usize = 8;

/// The columns and tracks of one turn.
pub(super) struct BandFold {
    /// The lines that leave, by row, with their track.
    tracks: BTreeMap<i32, i32>,
    /// The column of each line into the next band, by the row it left and the row it enters.
    columns: BTreeMap<(i32, i32), i32>,
    end: i32,
    right_pitch: i32,
    left_pitch: i32,
    /// Free rows above and below the tracks.
    above: i32,
    below: i32,
}

impl BandFold {
    /// Plans the turn of `pieces` after a band whose last layer ends before cell `end`.
    pub(super) fn new(pieces: &[ChannelPiece], end: i32, zoom: Zoom) -> Self {
        let rows: BTreeSet<i32> = pieces.iter().map(|piece| piece.left).collect();
        let tracks: BTreeMap<i32, i32> = rows.into_iter().rev().zip(0..).collect();
        let mut users: BTreeMap<i32, BTreeSet<i32>> = BTreeMap::new();
        for piece in pieces {
            users.entry(piece.right).or_default().insert(piece.left);
        }
        let mut columns = BTreeMap::new();
        let mut next = 0;
        for left in tracks.keys().rev() {
            let targets: BTreeSet<i32> = pieces
                .iter()
                .filter(|piece| piece.left == *left)
                .map(|piece| piece.right)
                .collect();
            // A column that goes on below a row where another line joins would look like a crossing there.
            let (shared, own): (Vec<i32>, Vec<i32>) =
                targets.into_iter().rev().partition(|row| users[row].len() > 1);
            for row in shared {
                columns.insert((*left, row), next);
                next += 1;
            }
            next += i32::from(!own.is_empty());
            columns.extend(own.into_iter().map(|row| ((*left, row), next - 1)));
        }
        let pitch = |count: usize| if count > ROOMY { 1 } else { 2 };
        Self {
            end,
            right_pitch: pitch(tracks.len()),
            left_pitch: pitch(next as usize),
            above: 1,
            below: i32::from(zoom == Zoom::Boxes && !tracks.is_empty()),
            tracks,
            columns,
        }
    }

    fn column_count(&self) -> i32 {
        self.columns.values().max().map_or(0, |last| last + 1)
    }

    /// Cells at the left of the next band.
    pub(super) fn left_width(&self) -> i32 {
        match self.column_count() {
            0 => 0,
            count => (count - 1) * self.left_pitch + 1 + TAIL,
        }
    }

    /// The first row of the next band, `below` being the row below this one.
    pub(super) fn next_top(&self, below: i32) -> i32 {
        below + self.above + self.tracks.len() as i32 + self.below
    }

    /// The cell after the last column at the right.
    pub(super) fn right_end(&self) -> i32 {
        match self.tracks.len() as i32 {
            0 => self.end,
            count => self.end + LEAD + (count - 1) * self.right_pitch + 1,
        }
    }

    /// The way of one line: column and row of every turn.
    pub(super) fn piece_turns(
        &self,
        piece: &ChannelPiece,
        below: i32,
        next_top: i32,
    ) -> [(i32, i32); 2] {
        let track = self.tracks.get(&piece.left).copied().unwrap_or(0);
        let column = self.columns.get(&(piece.left, piece.right)).copied().unwrap_or(0);
        [
            (self.end + LEAD + track * self.right_pitch, below + self.above + track),
            (column * self.left_pitch, next_top + piece.right),
        ]
    }
}
