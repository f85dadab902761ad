//! The columns of the outline: what, who, time, when. They give way in one order, the title last.

use jiff::civil::Date;

use crate::plan_text::{DraftComparison, PlanRowKind, PlanTextRow};
use planwright_text::{display_width, units};

/// Titles get at least so many cells before another column is shown.
const LEAST_TITLE: usize = 40;
/// From this width on rows are indented further, with a column of their own for locks.
const ROOMY: usize = 100;

/// How much of the days is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WhenForm {
    #[default]
    Hidden,
    /// `19 Nov`, `19 → 21 Nov`.
    Short,
    /// `Tue 24 – Sat 28 Nov`.
    Full,
}

/// Where the columns of the outline are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutlineColumns {
    /// Where the glyph of a row at the top stands.
    pub(crate) indent: usize,
    /// Where the title column ends.
    pub(crate) title_end: usize,
    /// Cells of each column; 0 if it is not shown.
    pub(crate) who: usize,
    pub(crate) time: usize,
    pub(crate) when: usize,
    pub(crate) form: WhenForm,
}

impl OutlineColumns {
    /// Fits the columns of some rows into a width.
    pub(crate) fn fit(
        width: usize,
        rows: &[PlanTextRow],
        changes: Option<&DraftComparison>,
        today: Date,
    ) -> Self {
        let indent = if width >= ROOMY { 5 } else { 3 };
        let widths = ColumnWidths::measure(rows, changes, today);
        let room = width.saturating_sub(1);
        let shapes = if changes.is_some() {
            [
                (widths.who, widths.time, WhenForm::Full),
                (0, widths.time, WhenForm::Full),
                (0, 0, WhenForm::Short),
                (0, 0, WhenForm::Hidden),
            ]
        } else {
            [
                (widths.who, widths.time, WhenForm::Full),
                (widths.who, widths.time, WhenForm::Short),
                (0, widths.time, WhenForm::Short),
                (0, 0, WhenForm::Hidden),
            ]
        };
        let least = LEAST_TITLE.min(widths.title);
        let gap = if width >= ROOMY { 3 } else { 2 };
        let fitted = shapes.map(|(who, time, form)| {
            let when = match form {
                WhenForm::Hidden => 0,
                WhenForm::Short => widths.short,
                WhenForm::Full => widths.full,
            };
            let form = if when == 0 { WhenForm::Hidden } else { form };
            let taken = [who, time].into_iter().filter(|cells| *cells > 0).map(|cells| cells + 2);
            let taken = taken.sum::<usize>() + if when > 0 { when + gap } else { 0 };
            Self { indent, title_end: room.saturating_sub(taken), who, time, when, form }
        });
        let fits = |columns: &&Self| columns.title_end >= indent + 4 + least;
        *fitted.iter().find(fits).unwrap_or(&fitted[3])
    }

    /// Where the title of a row begins.
    pub(crate) fn title_start(&self, row: &PlanTextRow) -> usize {
        self.indent + 2 * row.depth + 2
    }

    /// Where the days begin.
    pub(crate) fn when_start(&self, width: usize) -> usize {
        width.saturating_sub(1 + self.when)
    }
}

/// How wide each column would like to be.
#[derive(Default)]
struct ColumnWidths {
    title: usize,
    who: usize,
    time: usize,
    short: usize,
    full: usize,
}

impl ColumnWidths {
    fn measure(rows: &[PlanTextRow], changes: Option<&DraftComparison>, today: Date) -> Self {
        let mut widths = Self::default();
        for row in rows {
            let is_task = row.kind == PlanRowKind::Task;
            widths.title = widths.title.max(display_width(&row.title) + 2 * row.depth);
            widths.who = widths.who.max(display_width(&row.who)).min(14);
            if is_task {
                widths.time = widths.time.max(display_width(&time_text(row, changes)));
            }
            widths.short =
                widths.short.max(display_width(&when_text(row, changes, WhenForm::Short, today)));
            widths.full =
                widths.full.max(display_width(&when_text(row, changes, WhenForm::Full, today)));
        }
        widths.time = widths
            .time
            .clamp(if rows.iter().any(|row| row.minutes.is_some()) { 10 } else { 0 }, 18);
        widths
    }
}

/// How long a row takes, and took in the draft before.
pub(crate) fn time_text(row: &PlanTextRow, changes: Option<&DraftComparison>) -> String {
    let was = changes.and_then(|changes| changes.before.get(&row.id)).and_then(|was| was.minutes);
    match (was, row.minutes) {
        (Some(was), Some(now)) if was != now => {
            format!("{} → {}", units::format_planned(was.into()), units::format_planned(now.into()))
        }
        _ => row.time_text(),
    }
}

/// When a row is planned, and was in the draft before. Of a phase that moved only its end is said.
pub(crate) fn when_text(
    row: &PlanTextRow,
    changes: Option<&DraftComparison>,
    form: WhenForm,
    today: Date,
) -> String {
    let Some(days) = row.days else { return String::new() };
    let was = changes.and_then(|changes| changes.before.get(&row.id)).and_then(|was| was.days);
    let is_phase = row.kind == PlanRowKind::Phase;
    let moved = was.filter(|was| if is_phase { was.last != days.last } else { *was != days });
    match (moved, form) {
        (_, WhenForm::Hidden) => String::new(),
        (None, WhenForm::Short) => days.short_text(),
        (None, WhenForm::Full) => days.text(today),
        (Some(was), form) => {
            let (was, now) = if is_phase { (was.end_day(), days.end_day()) } else { (was, days) };
            let text = match form {
                WhenForm::Full => was.change_text(now, today),
                _ => was.short_change_text(now),
            };
            if is_phase { format!("ends {text}") } else { text }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_text::plan_rows;
    use crate::tests::planned;

    #[test]
    fn columns_give_way_before_the_title_does() {
        let rows = plan_rows(&planned::scheduled().state(), &jiff::tz::TimeZone::UTC);
        let today = jiff::civil::date(2026, 6, 8);
        let at = |width| OutlineColumns::fit(width, &rows, None, today);
        assert_eq!(at(120).form, WhenForm::Full);
        assert!(at(120).who > 0 && at(120).time > 0);
        assert_eq!(at(80).form, WhenForm::Short);
        assert!(at(80).time > 0);
        assert_eq!((at(40).form, at(40).time, at(40).who), (WhenForm::Hidden, 0, 0));
        for width in [40, 60, 80, 100, 120, 200] {
            assert!(at(width).title_end < width);
        }
    }
}
