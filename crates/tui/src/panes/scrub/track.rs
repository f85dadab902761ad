//! From moments to cells and back. Pure.

use std::time::Duration;

use jiff::Timestamp;

use crate::clock::{add_duration, duration_between};
use planwright_state::timeline::{LandmarkKind, Timeline, TimelineActivity};

/// A span of time on so many cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScrubTrack {
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
    pub(crate) width: u16,
}

impl ScrubTrack {
    /// The whole of a session; `None` before its first event.
    pub(crate) fn from_timeline(timeline: &Timeline, width: u16) -> Option<Self> {
        let (start, end) = timeline.time_span()?;
        Some(Self { start, end, width: width.max(1) })
    }

    /// The cell in which a moment falls. The last moment falls into the last cell.
    pub(crate) fn cell_at(&self, at: Timestamp) -> u16 {
        let whole = duration_between(self.start, self.end).as_micros();
        if whole == 0 {
            return 0;
        }
        let here = duration_between(self.start, at).as_micros();
        let cell = here * u128::from(self.width) / whole;
        cell.min(u128::from(self.width - 1)) as u16
    }

    /// The moment at which a cell begins.
    pub(crate) fn cell_start(&self, cell: u16) -> Timestamp {
        let whole = duration_between(self.start, self.end).as_micros();
        let here = whole * u128::from(cell.min(self.width)) / u128::from(self.width);
        add_duration(self.start, Duration::from_micros(here.try_into().unwrap_or(u64::MAX)))
    }

    /// The last moment of a cell: where a click on it goes.
    pub(crate) fn cell_end(&self, cell: u16) -> Timestamp {
        if cell + 1 >= self.width { self.end } else { self.cell_start(cell + 1) }
    }

    /// What was going on in each cell: the most tasks at once.
    pub(crate) fn activity_glyphs(&self, timeline: &Timeline) -> String {
        let glyph = |cell| match timeline
            .busiest_activity(self.cell_start(cell), self.cell_start(cell + 1))
        {
            TimelineActivity::Waiting => ' ',
            TimelineActivity::Planning => '░',
            TimelineActivity::Tasks(1) => '▒',
            TimelineActivity::Tasks(2) => '▓',
            TimelineActivity::Tasks(_) => '█',
        };
        (0..self.width).map(glyph).collect()
    }

    /// The most important mark of each cell that has one.
    pub(crate) fn landmark_cells(&self, timeline: &Timeline) -> Vec<(u16, LandmarkKind)> {
        let mut cells: Vec<Option<LandmarkKind>> = vec![None; usize::from(self.width)];
        for landmark in timeline.landmarks() {
            let cell = &mut cells[usize::from(self.cell_at(landmark.at))];
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
        let lane = ScrubTrack { start: at(0), end: at(100), width: 10 };
        assert_eq!(lane.cell_at(at(0)), 0);
        assert_eq!(lane.cell_at(at(9)), 0);
        assert_eq!(lane.cell_at(at(10)), 1);
        assert_eq!(lane.cell_at(at(100)), 9);
        assert_eq!(lane.cell_at(at(500)), 9);
        assert_eq!(lane.cell_end(9), at(100));
        assert_eq!(lane.cell_start(5), at(50));
    }

    #[test]
    fn a_run_of_one_moment_has_a_lane_too() {
        let lane = ScrubTrack { start: at(0), end: at(0), width: 10 };
        assert_eq!(lane.cell_at(at(0)), 0);
        assert_eq!(lane.cell_end(3), at(0));
    }

    proptest! {
        #[test]
        fn a_click_on_a_cell_lands_in_it(length in 1..1_000_000_i64, width in 1..300_u16, cell in 0..300_u16) {
            let lane = ScrubTrack { start: at(0), end: at(length), width };
            let cell = cell.min(width - 1);
            let begin = lane.cell_start(cell);
            prop_assert!(begin <= lane.cell_end(cell));
            prop_assert!(lane.cell_at(begin) <= cell);
            prop_assert!(lane.cell_at(lane.cell_end(cell)) >= cell);
        }
    }
}
