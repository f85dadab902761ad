//! The columns of the outline: what, who, time, when. They give way in one order, the title last.

use jiff::civil::Date;

use super::outline_when::{WhenForm, range_text, when_text};
use crate::plan_text::{DraftComparison, PlanTextRow};
use planwright_text::{display_width, units};

/// Titles get at least so many cells before another column is shown.
const LEAST_TITLE: usize = 40;
/// Titles up to so many cells are not cut before the other columns are short.
const ROOMY_TITLE: usize = 64;
/// From this width on rows are indented further, with a column of their own for locks.
const ROOMY: usize = 100;

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
        let gap = if width >= ROOMY { 3 } else { 2 };
        let fit_shape = |(who, time, form): (usize, usize, WhenForm), most: usize| {
            let title = indent + 4 + most.min(widths.title);
            let taken = [who, time].into_iter().filter(|cells| *cells > 0).map(|cells| cells + 2);
            let left = room.saturating_sub(title + taken.clone().sum::<usize>() + gap);
            let when = match form {
                WhenForm::Hidden => 0,
                WhenForm::Short => widths.short,
                WhenForm::Full => widths.full.min(left).max(widths.least_full),
            };
            let form = if when == 0 { WhenForm::Hidden } else { form };
            let taken = taken.sum::<usize>() + if when > 0 { when + gap } else { 0 };
            let title_end = room.saturating_sub(taken);
            (title_end >= title).then_some(Self { indent, title_end, who, time, when, form })
        };
        let shapes = widths.shapes(changes.is_some());
        let is_dated = |(_, time, form): &&(usize, usize, WhenForm)| {
            let has_time = *time > 0 || widths.time == 0;
            has_time && (*form != WhenForm::Hidden || widths.short == 0)
        };
        let whole = shapes.iter().filter(is_dated).find_map(|shape| fit_shape(*shape, ROOMY_TITLE));
        // What a revision moved says more than times that are as before; one that changed stands under its row.
        let moved = || {
            let is_compared = changes.is_some() && widths.short > 0;
            let short = (0, 0, WhenForm::Short);
            is_compared.then(|| fit_shape(short, ROOMY_TITLE)).flatten()
        };
        // A name that stands in every row says nothing that titles should be cut for.
        let tells = |(who, ..): &&(usize, usize, WhenForm)| *who == 0 || !widths.is_one_person;
        let cut = || shapes.iter().filter(tells).find_map(|shape| fit_shape(*shape, LEAST_TITLE));
        let nothing = (0, 0, WhenForm::Hidden);
        whole.or_else(moved).or_else(cut).or_else(|| fit_shape(nothing, 0)).unwrap_or_default()
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
    /// Every row fits without its weekdays, and most of them with.
    least_full: usize,
    /// The same name stands in every row that has one.
    is_one_person: bool,
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
        let mut widths = Self { is_one_person: true, ..Self::default() };
        let mut full_texts = Vec::with_capacity(rows.len());
        let name = rows.iter().map(|row| &row.who).find(|who| !who.is_empty());
        let removed = changes.iter().flat_map(|changes| &changes.removed).map(|(_, row)| row);
        for row in rows.iter().chain(removed) {
            widths.title = widths.title.max(display_width(&row.title) + 2 * row.depth);
            widths.who = widths.who.max(display_width(&row.who)).min(14);
            widths.is_one_person &= row.who.is_empty() || Some(&row.who) == name;
            widths.short_time = widths.short_time.max(display_width(&new_time_text(row, changes)));
            widths.time = widths.time.max(display_width(&time_text(row, changes)));
            widths.short =
                widths.short.max(display_width(&when_text(row, changes, WhenForm::Short, today)));
            full_texts.push(display_width(&when_text(row, changes, WhenForm::Full, today)));
            widths.least_full =
                widths.least_full.max(display_width(&range_text(row, changes, today)));
        }
        full_texts.sort_unstable();
        widths.full = full_texts.last().copied().unwrap_or(0);
        let most = full_texts.get(full_texts.len() * 7 / 10).copied().unwrap_or(0);
        widths.least_full = widths.least_full.max(most).min(widths.full);
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

/// When a row is planned, in a column: all of it, else without weekdays.
pub(crate) fn fit_when_text(
    row: &PlanTextRow,
    changes: Option<&DraftComparison>,
    columns: OutlineColumns,
    today: Date,
) -> String {
    let text = when_text(row, changes, columns.form, today);
    let is_short = columns.form != WhenForm::Full || display_width(&text) <= columns.when;
    if is_short { text } else { range_text(row, changes, today) }
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
                let when = fit_when_text(row, Some(&changes), columns, today);
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
