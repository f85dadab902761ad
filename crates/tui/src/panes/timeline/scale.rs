//! From moments to columns. Time in which nothing ran takes a fixed width, however long it was.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::clock::format_time_of_day;
use planwright_text::units;

/// Columns of a fold, its two lines included.
pub(super) const FOLD_COLUMNS: usize = 9;
/// Cells between two labels, at least.
const LABEL_GAP: usize = 9;
/// A gap this short is not worth a fold, in milliseconds.
const SHORTEST_FOLD: i64 = 2_000;

/// Distances between labels, in milliseconds.
const STEPS: [i64; 27] = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    15_000,
    30_000,
    60_000,
    120_000,
    300_000,
    600_000,
    900_000,
    1_800_000,
    3_600_000,
    7_200_000,
    14_400_000,
    43_200_000,
    86_400_000,
    604_800_000,
];

/// A span of time in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RanSpan {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// A stretch of the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct AxisStretch {
    span: RanSpan,
    first: usize,
    columns: usize,
    folded: bool,
}

/// A folded stretch as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AxisFold {
    pub(super) first: usize,
    pub(super) idle_ms: u64,
}

/// The axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TimeScale {
    stretches: Vec<AxisStretch>,
    columns: usize,
}

impl TimeScale {
    /// Lays out the spans in which something ran over so many columns; they are sorted and do not touch.
    pub(crate) fn new(busy: &[RanSpan], columns: usize) -> Self {
        let (Some(first), Some(last)) = (busy.first(), busy.last()) else {
            return Self { stretches: Vec::new(), columns };
        };
        let worked: i64 = busy.iter().map(|span| span.to - span.from).sum();
        // Folds may take half of the axis; the longest gaps are folded first.
        let most = columns / 2 / FOLD_COLUMNS;
        let mut gaps: Vec<RanSpan> = busy
            .windows(2)
            .map(|pair| RanSpan { from: pair[0].to, to: pair[1].from })
            .filter(|gap| gap.to - gap.from > SHORTEST_FOLD.max(worked / 8))
            .collect();
        gaps.sort_by_key(|gap| gap.from - gap.to);
        gaps.truncate(most);
        gaps.sort_by_key(|gap| gap.from);
        let folded: i64 = gaps.iter().map(|gap| gap.to - gap.from).sum();
        let shown = (last.to - first.from - folded).max(1);
        let room = columns.saturating_sub(gaps.len() * FOLD_COLUMNS).max(1);
        let share = |ms: i64| (i128::from(ms) * room as i128 / i128::from(shown)) as usize;
        let (mut stretches, mut at, mut column, mut done) = (Vec::new(), first.from, 0, 0_i64);
        let ends = gaps.iter().map(|gap| gap.from).chain([last.to]);
        for (index, end) in ends.enumerate() {
            done += end - at;
            let stop = share(done) + index * FOLD_COLUMNS;
            stretches.push(AxisStretch {
                span: RanSpan { from: at, to: end },
                first: column,
                columns: stop.saturating_sub(column),
                folded: false,
            });
            column = stop;
            if let Some(gap) = gaps.get(index) {
                stretches.push(AxisStretch {
                    span: *gap,
                    first: column,
                    columns: FOLD_COLUMNS,
                    folded: true,
                });
                column += FOLD_COLUMNS;
                at = gap.to;
            }
        }
        Self { stretches, columns }
    }

    /// The column of a moment.
    pub(super) fn column(&self, at: i64) -> usize {
        let Some(stretch) =
            self.stretches.iter().find(|stretch| at < stretch.span.to).or(self.stretches.last())
        else {
            return 0;
        };
        let inside = (at - stretch.span.from).clamp(0, stretch.span.to - stretch.span.from);
        let length = (stretch.span.to - stretch.span.from).max(1);
        let offset = (i128::from(inside) * stretch.columns as i128 / i128::from(length)) as usize;
        (stretch.first + offset).min(self.columns.saturating_sub(1))
    }

    /// The moment at which a column begins.
    pub(super) fn moment(&self, column: usize) -> i64 {
        let found = self.stretches.iter().rev().find(|stretch| stretch.first <= column);
        found.map_or(0, |stretch| {
            let length = stretch.span.to - stretch.span.from;
            let inside = (column - stretch.first) as i128 * i128::from(length);
            stretch.span.from + (inside / stretch.columns.max(1) as i128) as i64
        })
    }

    pub(super) fn folds(&self) -> impl Iterator<Item = AxisFold> + '_ {
        self.stretches.iter().filter(|stretch| stretch.folded).map(|stretch| AxisFold {
            first: stretch.first,
            idle_ms: (stretch.span.to - stretch.span.from).unsigned_abs(),
        })
    }

    /// The labels of the axis with their columns: times of day, or the time since the start of a short run.
    pub(super) fn labels(&self, zone: &TimeZone) -> Vec<(usize, String)> {
        let Some(first) = self.stretches.first().map(|stretch| stretch.span.from) else {
            return Vec::new();
        };
        let work = self.stretches.iter().filter(|stretch| !stretch.folded);
        let (ms, columns) = work.fold((0, 0), |(ms, columns), stretch| {
            (ms + stretch.span.to - stretch.span.from, columns + stretch.columns)
        });
        let per_label = (i128::from(ms) * LABEL_GAP as i128 / columns.max(1) as i128) as i64;
        let step = STEPS.into_iter().find(|step| *step >= per_label.max(1)).unwrap_or(STEPS[26]);
        let mut labels: Vec<(usize, String)> = Vec::new();
        for stretch in self.stretches.iter().filter(|stretch| !stretch.folded) {
            let origin = if step < 1_000 { first } else { 0 };
            let mut at = origin + (stretch.span.from - origin).div_euclid(step) * step;
            if at < stretch.span.from {
                at += step;
            }
            while at < stretch.span.to {
                let text = label_text(at, first, step, zone);
                let column = self.column(at);
                let free = labels.last().is_none_or(|(last, text)| last + text.len() + 2 <= column);
                if free && column + text.len() <= self.columns {
                    labels.push((column, text));
                }
                at += step;
            }
        }
        labels
    }
}

fn label_text(at: i64, first: i64, step: i64, zone: &TimeZone) -> String {
    if step < 1_000 {
        let since = std::time::Duration::from_millis((at - first).unsigned_abs());
        return format!("+{}", units::format_elapsed(since));
    }
    let time =
        Timestamp::from_millisecond(at).map(|at| format_time_of_day(at, zone)).unwrap_or_default();
    if step < 60_000 {
        return time;
    }
    // On the minute the seconds say nothing.
    time.rsplit_once(':')
        .filter(|_| time.len() > 5)
        .map_or(time.clone(), |(minutes, _)| minutes.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: i64, to: i64) -> RanSpan {
        RanSpan { from, to }
    }

    #[test]
    fn a_long_wait_takes_a_fixed_width() {
        let minute = 60_000;
        let busy = [span(0, 25 * minute), span(66 * minute, 67 * minute)];
        let scale = TimeScale::new(&busy, 60);
        assert_eq!(scale.column(0), 0);
        let folds: Vec<AxisFold> = scale.folds().collect();
        assert_eq!(folds.len(), 1);
        assert_eq!(folds[0].idle_ms, 41 * 60_000);
        assert_eq!(scale.column(66 * minute), folds[0].first + FOLD_COLUMNS);
        assert!(scale.column(67 * minute) < 60);
        for column in 0..60 {
            let at = scale.moment(column);
            assert!(scale.column(at) <= column, "{column}");
        }
    }

    #[test]
    fn a_run_of_less_than_a_second_has_labels() {
        let scale = TimeScale::new(&[span(1_000, 1_400)], 60);
        let labels = scale.labels(&TimeZone::UTC);
        assert!(labels.len() >= 3, "{labels:?}");
        assert!(labels.iter().all(|(_, text)| text.starts_with('+')), "{labels:?}");
    }
}
