//! The column that says when: days, the time of day that was set, how a row repeats, and what all that was before.

use jiff::civil::Date;

use crate::plan_text::{DaySpan, DraftComparison, PlanRowKind, PlanTextRow, RowClock};

/// How much of the days is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WhenForm {
    #[default]
    Hidden,
    /// `19 Nov`, `19 → 21 Nov`, `every Fri`. A time of day stands with the title.
    Short,
    /// `Tue 24 – Sat 28 Nov`; without weekdays where a row has more to say than the column holds.
    Full,
}

/// When a row is planned, and was in the draft before. Of a phase that moved only its end is said.
pub(crate) fn when_text(
    row: &PlanTextRow,
    changes: Option<&DraftComparison>,
    form: WhenForm,
    today: Date,
) -> String {
    let was = changes.and_then(|changes| changes.before.get(&row.id));
    match (was.and_then(|was| moved_text(was, row, form, today)), form) {
        (_, WhenForm::Hidden) => String::new(),
        (Some(text), _) => text,
        (None, WhenForm::Short) => row.narrow_when_text(),
        (None, WhenForm::Full) => row.when_text(today),
    }
}

/// When a row is planned without weekdays, and was in the draft before.
pub(super) fn range_text(
    row: &PlanTextRow,
    changes: Option<&DraftComparison>,
    today: Date,
) -> String {
    let was = changes.and_then(|changes| changes.before.get(&row.id));
    let moved = was.and_then(|was| moved_text(was, row, WhenForm::Short, today));
    moved.unwrap_or_else(|| row.short_when_text(DaySpan::short_range))
}

/// How the time of a row differs from the draft before; of a phase how its last day does.
fn moved_text(was: &PlanTextRow, row: &PlanTextRow, form: WhenForm, today: Date) -> Option<String> {
    let (old, new) = (was.days?, row.days?);
    let change = |old: DaySpan, new: DaySpan| match form {
        WhenForm::Full => old.change_text(new, today),
        _ => old.short_change_text(new),
    };
    if row.kind == PlanRowKind::Phase {
        let (old, new) = (old.end_day(), new.end_day());
        return (old != new).then(|| format!("ends {}", change(old, new)));
    }
    if was.has_same_time(row) {
        return None;
    }
    if was.rhythm != row.rhythm {
        let rhythm = |row: &PlanTextRow| match row.rhythm.as_str() {
            "" => "once".to_owned(),
            rhythm => rhythm.to_owned(),
        };
        return Some(format!("{} → {}", rhythm(was), rhythm(row)));
    }
    if old != new {
        let text = change(old, new);
        let has_room = form == WhenForm::Full;
        return Some(if has_room { row.describe_days(new, &text) } else { text });
    }
    let clock = |row: &PlanTextRow| row.clock.map_or("any time".to_owned(), RowClock::text);
    let change = format!("{} → {}", clock(was), clock(row));
    Some(if form == WhenForm::Full { format!("{} {change}", new.text(today)) } else { change })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_text::{compare_rows, plan_rows};
    use jiff::civil::{date, time};

    const TODAY: Date = date(2026, 11, 17);

    fn row_on(day: i8) -> PlanTextRow {
        let state = crate::tests::planned::scheduled().state();
        let rows = plan_rows(&state, &jiff::tz::TimeZone::UTC);
        let mut row = rows.into_iter().find(|row| row.kind == PlanRowKind::Task).unwrap();
        let day = date(2026, 11, day);
        row.days = Some(DaySpan { first: day, last: day });
        row
    }

    fn texts(was: &PlanTextRow, row: &PlanTextRow) -> (String, String) {
        let changes = compare_rows(std::slice::from_ref(was), std::slice::from_ref(row));
        let text = |form| when_text(row, Some(&changes), form, TODAY);
        (text(WhenForm::Short), text(WhenForm::Full))
    }

    #[test]
    fn a_time_that_was_set_is_in_the_column_and_its_change_too() {
        let (was, mut row) = (row_on(21), row_on(21));
        assert_eq!(when_text(&row, None, WhenForm::Short, TODAY), "21 Nov");
        row.clock = Some(RowClock::StartsAt(time(14, 0, 0, 0)));
        assert_eq!(when_text(&row, None, WhenForm::Full, TODAY), "Sat 21 Nov 14:00");
        let set = texts(&was, &row);
        assert_eq!(set.1, "Sat 21 Nov any time → 14:00");
        let later =
            PlanTextRow { clock: Some(RowClock::StartsAt(time(16, 0, 0, 0))), ..row.clone() };
        assert_eq!(texts(&row, &later).0, "14:00 → 16:00");
        let moved = PlanTextRow { days: row_on(28).days, ..row.clone() };
        assert_eq!(texts(&row, &moved).1, "Sat 21 → Sat 28 Nov 14:00");
    }

    #[test]
    fn a_rhythm_is_in_the_column_and_its_change_too() {
        let (was, mut row) = (row_on(20), row_on(20));
        row.rhythm = "every Fri".to_owned();
        assert_eq!(when_text(&row, None, WhenForm::Short, TODAY), "every Fri");
        assert_eq!(when_text(&row, None, WhenForm::Full, TODAY), "every Fri, Fri 20 Nov");
        assert_eq!(texts(&was, &row).0, "once → every Fri");
    }
}
