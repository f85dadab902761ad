//! From moments to cells and back. Pure.

use std::time::Duration;

use jiff::Timestamp;

use crate::clock::{after, between};
use planwright_state::timeline::{Activity, LandmarkKind, Timeline};

/// A span of time on so many cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
    pub(crate) width: u16,
}

impl Lane {
    /// The whole of a session; `None` before its first event.
    pub(crate) fn of(timeline: &Timeline, width: u16) -> Option<Self> {
        let (start, end) = timeline.span()?;
        Some(Self { start, end, width: width.max(1) })
    }

    /// The cell in which a moment falls. The last moment falls into the last cell.
    pub(crate) fn cell(&self, at: Timestamp) -> u16 {
        let whole = between(self.start, self.end).as_micros();
        if whole == 0 {
            return 0;
        }
        let here = between(self.start, at).as_micros();
        let cell = here * u128::from(self.width) / whole;
        cell.min(u128::from(self.width - 1)) as u16
    }

    /// The moment at which a cell begins.
    pub(crate) fn begin(&self, cell: u16) -> Timestamp {
        let whole = between(self.start, self.end).as_micros();
        let here = whole * u128::from(cell.min(self.width)) / u128::from(self.width);
        after(self.start, Duration::from_micros(here.try_into().unwrap_or(u64::MAX)))
    }

    /// The last moment of a cell: where a click on it goes.
    pub(crate) fn last(&self, cell: u16) -> Timestamp {
        if cell + 1 >= self.width { self.end } else { self.begin(cell + 1) }
    }

    /// What was going on in each cell: the most tasks at once.
    pub(crate) fn glyphs(&self, timeline: &Timeline) -> String {
        let glyph = |cell| match timeline.busiest(self.begin(cell), self.begin(cell + 1)) {
            Activity::Waiting => ' ',
            Activity::Planning => '░',
            Activity::Tasks(1) => '▒',
            Activity::Tasks(2) => '▓',
            Activity::Tasks(_) => '█',
        };
        (0..self.width).map(glyph).collect()
    }

    /// The most important mark of each cell that has one.
    pub(crate) fn marks(&self, timeline: &Timeline) -> Vec<(u16, LandmarkKind)> {
        let mut cells: Vec<Option<LandmarkKind>> = vec![None; usize::from(self.width)];
        for landmark in timeline.landmarks() {
            let cell = &mut cells[usize::from(self.cell(landmark.at))];
            *cell = (*cell).max(Some(landmark.kind));
        }
        (0..).zip(cells).filter_map(|(cell, kind)| Some((cell, kind?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_780_000_000 + second).unwrap()
    }

    #[test]
    fn the_ends_of_a_run_are_the_ends_of_its_lane() {
        let lane = Lane { start: at(0), end: at(100), width: 10 };
        assert_eq!(lane.cell(at(0)), 0);
        assert_eq!(lane.cell(at(9)), 0);
        assert_eq!(lane.cell(at(10)), 1);
        assert_eq!(lane.cell(at(100)), 9);
        assert_eq!(lane.cell(at(500)), 9);
        assert_eq!(lane.last(9), at(100));
        assert_eq!(lane.begin(5), at(50));
    }

    #[test]
    fn a_run_of_one_moment_has_a_lane_too() {
        let lane = Lane { start: at(0), end: at(0), width: 10 };
        assert_eq!(lane.cell(at(0)), 0);
        assert_eq!(lane.last(3), at(0));
    }

    proptest! {
        #[test]
        fn a_click_on_a_cell_lands_in_it(length in 1..1_000_000_i64, width in 1..300_u16, cell in 0..300_u16) {
            let lane = Lane { start: at(0), end: at(length), width };
            let cell = cell.min(width - 1);
            let begin = lane.begin(cell);
            prop_assert!(begin <= lane.last(cell));
            prop_assert!(lane.cell(begin) <= cell);
            prop_assert!(lane.cell(lane.last(cell)) >= cell);
        }
    }
}
