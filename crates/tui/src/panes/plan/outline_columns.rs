//! The columns of the outline: what, who, time, when. They give way in one order, the title last.

use jiff::civil::Date;

use crate::plan_text::{DraftComparison, PlanRowKind, PlanTextRow};
use planwright_text::{display_width, units};

/// Titles get at least so many cells before another column is shown.
const LEAST_TITLE: usize = 40;
/// Where there is room, titles up to so many cells are not cut before the other columns are short.
const ROOMY_TITLE: usize = 64;
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
        // Signs of a row at the top need a cell between them and its glyph.
        let flat = rows.iter().all(|row| row.depth == 0);
        let signs = changes.is_some() || rows.iter().any(|row| row.is_locked && row.depth == 0);
        let indent = match width {
            ROOMY.. => 5,
            _ if flat && signs => 4,
            _ => 3,
        };
        let widths = ColumnWidths::measure(rows, changes, today);
        let room = width.saturating_sub(1);
        let shapes = widths.shapes(changes.is_some());
        let gap = if width >= ROOMY { 3 } else { 2 };
        let fit_shape = |(who, time, form)| {
            let when = match form {
                WhenForm::Hidden => 0,
                WhenForm::Short => widths.short,
                WhenForm::Full => widths.full,
            };
            let form = if when == 0 { WhenForm::Hidden } else { form };
            let taken = [who, time].into_iter().filter(|cells| *cells > 0).map(|cells| cells + 2);
            let taken = taken.sum::<usize>() + if when > 0 { when + gap } else { 0 };
            Self { indent, title_end: room.saturating_sub(taken), who, time, when, form }
        };
        let fitted: Vec<Self> = shapes.into_iter().map(fit_shape).collect();
        let fits =
            |columns: &Self, most: usize| columns.title_end >= indent + 4 + most.min(widths.title);
        let roomy = |columns: &&Self| {
            width >= ROOMY && (columns.time > 0 || widths.time == 0) && fits(columns, ROOMY_TITLE)
        };
        let found = fitted.iter().find(roomy);
        let found = found.or_else(|| fitted.iter().find(|columns| fits(columns, LEAST_TITLE)));
        found.or(fitted.last()).copied().unwrap_or_default()
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
    /// With what a row took in the draft before.
    time: usize,
    /// With the new time alone.
    short_time: usize,
    short: usize,
    full: usize,
}

impl ColumnWidths {
    /// Who, time and when, as they give way.
    fn shapes(&self, is_compared: bool) -> Vec<(usize, usize, WhenForm)> {
        let Self { who, time, short_time, .. } = *self;
        let mut shapes = vec![(who, time, WhenForm::Full), (who, short_time, WhenForm::Full)];
        if is_compared {
            shapes.extend([(0, time, WhenForm::Full), (0, short_time, WhenForm::Full)]);
            shapes.extend([(0, time, WhenForm::Short), (0, short_time, WhenForm::Short)]);
            shapes.push((0, 0, WhenForm::Short));
        } else {
            shapes.extend([(who, time, WhenForm::Short), (0, time, WhenForm::Short)]);
        }
        shapes.push((0, 0, WhenForm::Hidden));
        shapes
    }

    fn measure(rows: &[PlanTextRow], changes: Option<&DraftComparison>, today: Date) -> Self {
        let mut widths = Self::default();
        let removed = changes.iter().flat_map(|changes| &changes.removed).map(|(_, row)| row);
        for row in rows.iter().chain(removed) {
            let is_task = row.kind == PlanRowKind::Task;
            widths.title = widths.title.max(display_width(&row.title) + 2 * row.depth);
            widths.who = widths.who.max(display_width(&row.who)).min(14);
            widths.short_time = widths.short_time.max(display_width(&new_time_text(row, changes)));
            if is_task {
                widths.time = widths.time.max(display_width(&time_text(row, changes)));
            }
            widths.short =
                widths.short.max(display_width(&when_text(row, changes, WhenForm::Short, today)));
            widths.full =
                widths.full.max(display_width(&when_text(row, changes, WhenForm::Full, today)));
        }
        if rows.iter().any(|row| row.minutes.is_some()) {
            widths.short_time = widths.short_time.max(10);
        }
        widths.time = widths.time.max(widths.short_time);
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

/// How long a row takes now, with a sign if that changed.
fn new_time_text(row: &PlanTextRow, changes: Option<&DraftComparison>) -> String {
    let has_changed = time_text(row, changes).contains('→');
    if has_changed { format!("→ {}", row.time_text()) } else { row.time_text() }
}

/// The time of a row in at most so many cells: what it took before is left out first.
pub(crate) fn fit_time_text(
    row: &PlanTextRow,
    changes: Option<&DraftComparison>,
    room: usize,
) -> String {
    let text = time_text(row, changes);
    if display_width(&text) <= room { text } else { new_time_text(row, changes) }
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

    /// Every row took a long time in the draft before, and was on other days.
    fn moved_rows() -> (Vec<PlanTextRow>, DraftComparison) {
        let rows = plan_rows(&planned::scheduled().state(), &jiff::tz::TimeZone::UTC);
        let mut before = rows.clone();
        for row in &mut before {
            row.minutes = row.minutes.map(|minutes| minutes + 635);
        }
        for at in 1..before.len() {
            before[at - 1].days = before[at].days;
        }
        let before = before.into_iter().map(|row| (row.id.clone(), row)).collect();
        (rows, DraftComparison { before, ..DraftComparison::default() })
    }

    #[test]
    fn columns_of_a_revision_never_touch() {
        let (rows, changes) = moved_rows();
        let today = jiff::civil::date(2026, 6, 8);
        for width in [40, 60, 80, 100, 120, 160, 200] {
            let columns = OutlineColumns::fit(width, &rows, Some(&changes), today);
            let taken: usize = [columns.who, columns.time, columns.when]
                .into_iter()
                .filter(|cells| *cells > 0)
                .map(|cells| cells + 1)
                .sum();
            assert!(columns.title_end + taken < width, "{width}: {columns:?}");
            for row in rows.iter().filter(|_| columns.time > 0) {
                let time = fit_time_text(row, Some(&changes), columns.time);
                assert!(display_width(&time) <= columns.time, "{width}: {time}");
            }
            for row in &rows {
                let when = when_text(row, Some(&changes), columns.form, today);
                assert!(display_width(&when) <= columns.when, "{width}: {when}");
            }
        }
    }

    #[test]
    fn a_revision_keeps_titles_and_times_where_there_is_room() {
        let (rows, changes) = moved_rows();
        let today = jiff::civil::date(2026, 6, 8);
        let columns = OutlineColumns::fit(120, &rows, Some(&changes), today);
        assert!(columns.time > 0 && columns.when > 0, "{columns:?}");
        for row in &rows {
            let end = columns.title_start(row) + display_width(&row.title);
            assert!(end <= columns.title_end, "{}: {columns:?}", row.title);
        }
    }
}
