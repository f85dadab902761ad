//! From moments to cells and back, with idle time folded away. Pure.

use std::time::Duration;

use jiff::Timestamp;

use crate::clock::{add_duration, duration_between};
use planwright_state::timeline::{IdleGap, Timeline};
use planwright_text::{display_width, units};

/// A part of the bar: time in which something happened, or a fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrackSegment {
    start: Timestamp,
    end: Timestamp,
    /// Its first cell and how many it has; a fold may have none.
    pub(crate) first: u16,
    pub(crate) cells: u16,
    /// The words of a fold, as many as it has room for; `None` where time runs.
    pub(crate) fold: Option<String>,
}

/// The time of a run on so many cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScrubTrack {
    pub(crate) segments: Vec<TrackSegment>,
    pub(crate) width: u16,
}

impl ScrubTrack {
    /// The whole of a run; `None` before its first event.
    pub(crate) fn from_timeline(timeline: &Timeline, width: u16) -> Option<Self> {
        let (start, end) = timeline.work_span()?;
        Some(Self::new(start, end, &timeline.folded_gaps(), width.max(1)))
    }

    fn new(start: Timestamp, end: Timestamp, gaps: &[IdleGap], width: u16) -> Self {
        let inside = |gap: &&IdleGap| gap.start >= start && gap.end <= end;
        let gaps: Vec<IdleGap> = gaps.iter().filter(inside).copied().collect();
        let labels = fold_labels(&gaps, usize::from(width));
        let mut segments = Vec::with_capacity(2 * gaps.len() + 1);
        let mut from = start;
        for (gap, label) in gaps.iter().zip(labels) {
            segments.push(TrackSegment {
                start: from,
                end: gap.start,
                first: 0,
                cells: 0,
                fold: None,
            });
            let cells = display_width(&label) as u16;
            let (start, end) = (gap.start, gap.end);
            segments.push(TrackSegment { start, end, first: 0, cells, fold: Some(label) });
            from = gap.end;
        }
        segments.push(TrackSegment { start: from, end, first: 0, cells: 0, fold: None });
        share_cells(&mut segments, width);
        Self { segments, width }
    }

    /// When the bar begins and ends.
    pub(crate) fn span(&self) -> (Timestamp, Timestamp) {
        let first = self.segments.first().map_or(Timestamp::UNIX_EPOCH, |segment| segment.start);
        (first, self.segments.last().map_or(first, |segment| segment.end))
    }

    /// The cell in which a moment falls. What is after the end falls into the last cell.
    pub(crate) fn cell_at(&self, at: Timestamp) -> u16 {
        // The event that ends a fold belongs to what follows it.
        let after = |segment: &TrackSegment| {
            if segment.fold.is_some() { segment.end <= at } else { segment.end < at }
        };
        let index = self.segments.partition_point(after).min(self.segments.len() - 1);
        let segment = &self.segments[index];
        let cell = if segment.fold.is_some() { 0 } else { segment.offset_at(at) };
        (segment.first + cell).min(self.width - 1)
    }

    /// The moment at which a cell begins.
    pub(crate) fn cell_start(&self, cell: u16) -> Timestamp {
        let Some(segment) = self.segment_at(cell) else { return self.span().1 };
        if segment.fold.is_some() { segment.start } else { segment.moment_at(cell - segment.first) }
    }

    /// The last moment of a cell: where a click on it goes. A fold leads to what is before it.
    pub(crate) fn cell_end(&self, cell: u16) -> Timestamp {
        let Some(segment) = self.segment_at(cell) else { return self.span().1 };
        match &segment.fold {
            Some(_) => segment.start,
            None => segment.moment_at(cell - segment.first + 1),
        }
    }

    fn segment_at(&self, cell: u16) -> Option<&TrackSegment> {
        self.segments
            .iter()
            .find(|segment| (segment.first..segment.first + segment.cells).contains(&cell))
    }
}

impl TrackSegment {
    /// The cell of a moment, counted from the first of the segment.
    fn offset_at(&self, at: Timestamp) -> u16 {
        let whole = duration_between(self.start, self.end).as_micros();
        if whole == 0 || self.cells == 0 {
            return 0;
        }
        let here = duration_between(self.start, at).as_micros();
        (here * u128::from(self.cells) / whole).min(u128::from(self.cells - 1)) as u16
    }

    fn moment_at(&self, offset: u16) -> Timestamp {
        if offset >= self.cells {
            return self.end;
        }
        let whole = duration_between(self.start, self.end).as_micros();
        let here = whole * u128::from(offset) / u128::from(self.cells);
        add_duration(self.start, Duration::from_micros(here.try_into().unwrap_or(u64::MAX)))
    }
}

/// What stands for each fold: how long it was for the longest ones while a third of the bar has room for that, a line for
/// the others while half of it has, and nothing for the rest.
fn fold_labels(gaps: &[IdleGap], width: usize) -> Vec<String> {
    let mut order: Vec<usize> = (0..gaps.len()).collect();
    order.sort_by_key(|gap| std::cmp::Reverse(duration_between(gaps[*gap].start, gaps[*gap].end)));
    let mut labels = vec![String::new(); gaps.len()];
    let mut used = 0;
    for gap in order {
        let time = units::format_clock(duration_between(gaps[gap].start, gaps[gap].end));
        let label = format!("┊ {time} ┊");
        let cells = display_width(&label);
        if used + cells <= width / 3 {
            used += cells;
            labels[gap] = label;
        } else if used < width / 2 {
            used += 1;
            "┊".clone_into(&mut labels[gap]);
        }
    }
    labels
}

/// Gives the cells that folds leave to the time in between, by its length, and at least one to each if there are enough.
fn share_cells(segments: &mut [TrackSegment], width: u16) {
    let folded: u16 = segments.iter().map(|segment| segment.cells).sum();
    let room = u128::from(width.saturating_sub(folded));
    let runs = segments.iter().filter(|segment| segment.fold.is_none()).count() as u128;
    let least = u128::from(room >= runs);
    let spare = room.saturating_sub(least * runs);
    let time = |segment: &TrackSegment| duration_between(segment.start, segment.end).as_micros();
    let running = |segment: &&TrackSegment| segment.fold.is_none();
    let whole: u128 = segments.iter().filter(running).map(time).sum();
    let (mut passed, mut seen, mut first) = (0_u128, 0_u128, 0_u16);
    for segment in segments {
        if segment.fold.is_none() {
            // Without any time in between all are equal.
            let share = |passed: u128, seen: u128| {
                (spare * passed).checked_div(whole).unwrap_or(spare * seen / runs.max(1))
            };
            let before = share(passed, seen);
            passed += time(segment);
            seen += 1;
            segment.cells = (least + share(passed, seen) - before) as u16;
        }
        segment.first = first;
        first += segment.cells;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_780_000_000 + second).unwrap()
    }

    fn gap(from: i64, to: i64) -> IdleGap {
        IdleGap { start: at(from), end: at(to) }
    }

    #[test]
    fn the_ends_of_a_run_are_the_ends_of_its_lane() {
        let lane = ScrubTrack::new(at(0), at(100), &[], 10);
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
        let lane = ScrubTrack::new(at(0), at(0), &[], 10);
        assert_eq!(lane.cell_at(at(0)), 0);
        assert_eq!(lane.cell_end(3), at(0));
    }

    #[test]
    fn idle_time_takes_the_room_of_its_words() {
        let lane = ScrubTrack::new(at(0), at(2_600), &[gap(100, 2_560)], 60);
        let fold = &lane.segments[1];
        assert_eq!((fold.fold.as_deref(), fold.cells), (Some("┊ 41 min ┊"), 10));
        assert_eq!(lane.cell_at(at(100)) + 1, fold.first, "what is before the fold ends there");
        assert_eq!(lane.cell_at(at(2_560)), fold.first + 10, "what ends it comes after it");
        assert_eq!(lane.cell_at(at(2_600)), 59);
        assert_eq!(lane.cell_end(fold.first + 3), at(100));
    }

    proptest! {
        #[test]
        fn moments_and_cells_agree(
            lengths in prop::collection::vec((0..5_000_i64, 121..90_000_i64), 0..30),
            tail in 0..500_i64, width in 1..200_u16, share in 0..=100_i64,
        ) {
            let (mut now, mut gaps) = (0, Vec::new());
            for (work, idle) in lengths {
                gaps.push(gap(now + work, now + work + idle));
                now += work + idle;
            }
            let end = now + tail;
            let lane = ScrubTrack::new(at(0), at(end), &gaps, width);
            let cells: u16 = lane.segments.iter().map(|segment| segment.cells).sum();
            prop_assert!(cells <= width, "{cells} of {width}");
            let (mut last, mut start) = (0, at(0));
            for second in 0..=100 {
                let cell = lane.cell_at(at(end * second / 100));
                prop_assert!(cell >= last && cell < width);
                last = cell;
            }
            for cell in 0..width {
                prop_assert!(lane.cell_start(cell) >= start && lane.cell_end(cell) >= start);
                start = lane.cell_start(cell);
            }
            // With more pieces than cells some share theirs with what follows.
            if lane.segments.iter().all(|segment| segment.cells > 0) {
                let cell = lane.cell_at(at(end * share / 100));
                prop_assert!(lane.cell_start(cell) <= at(end * share / 100));
            }
        }
    }
}
