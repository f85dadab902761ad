//! When a row is planned, in words: its days, the time of day that was set for it, and how it repeats.

use jiff::civil::{Date, DateTime, Time};

use super::{DaySpan, PlanRowKind, PlanTextRow};
use planwright_model::{NodeTree, PlanDate, PlanNode, Recurrence, RecurrenceByDay, TaskId};
use planwright_state::SessionState;
use planwright_text::dates::format_time;
use planwright_text::display_width;

/// The longest rhythm that stands in a narrow column.
const NARROW_RHYTHM: usize = 9;

/// A time of day that somebody set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowClock {
    StartsAt(Time),
    EndsAt(Time),
}

impl RowClock {
    /// The time of a row whose start or end was set, as it is planned by the reader's clock.
    pub(super) fn from_dates(
        start: Option<PlanDate>,
        end: Option<PlanDate>,
        planned: Option<(DateTime, DateTime)>,
    ) -> Option<Self> {
        let starts = start.and_then(|date| date.time);
        let ends = end.and_then(|date| date.time);
        let starts = starts.map(|set| Self::StartsAt(planned.map_or(set, |(from, _)| from.time())));
        starts.or_else(|| {
            ends.map(|set| Self::EndsAt(planned.map_or(set, |(_, until)| until.time())))
        })
    }

    /// `14:00`, `until 18:00`.
    pub fn text(self) -> String {
        match self {
            Self::StartsAt(time) => format_time(time),
            Self::EndsAt(time) => format!("until {}", format_time(time)),
        }
    }
}

/// How a node repeats: by its own rhythm, or that of the nearest node that holds it.
pub(super) fn node_rhythm(node: &PlanNode, tree: &NodeTree<'_>) -> String {
    let above = || tree.ancestors(&node.id).into_iter().find_map(|above| above.recurrence.as_ref());
    node.recurrence.as_ref().or_else(above).map(describe_rhythm).unwrap_or_default()
}

/// How a task repeats: by its own rhythm, or that of the nearest phase that holds it; empty for what is done once.
pub(crate) fn task_rhythm(state: &SessionState, id: &TaskId) -> String {
    let planning = &state.planning;
    let drafted = planning.roadmap.as_ref().map(|roadmap| roadmap.nodes.as_slice());
    let outlined = planning.outline.as_ref().map(|outline| outline.nodes.as_slice());
    let nodes = drafted.or(outlined).unwrap_or_default();
    let node = nodes.iter().find(|node| node.id == *id);
    node.map(|node| node_rhythm(node, &NodeTree::new(nodes))).unwrap_or_default()
}

/// How often something is done, as short as a column needs it: `every Fri`, `every Tue, Thu 18:00`, `every 2 weeks, Mon`.
fn describe_rhythm(recurrence: &Recurrence) -> String {
    use planwright_model::RecurrenceFrequency::{Daily, Monthly, Quarterly, Weekly, Yearly};
    let unit = match recurrence.freq {
        Daily => "day",
        Weekly => "week",
        Monthly => "month",
        Quarterly => "quarter",
        Yearly => "year",
    };
    let day = |day: &RecurrenceByDay| match day {
        RecurrenceByDay::Weekday(day) => format!("{day:?}"),
        RecurrenceByDay::MonthDay(day) => format!("day {day}"),
    };
    let days: Vec<String> = recurrence.by_day.iter().map(day).collect();
    let only_weekdays =
        recurrence.by_day.iter().all(|day| matches!(day, RecurrenceByDay::Weekday(_)));
    let mut words = match (recurrence.interval, days.is_empty()) {
        (0 | 1, false) if recurrence.freq == Weekly && only_weekdays => {
            format!("every {}", days.join(", "))
        }
        (0 | 1, true) => format!("every {unit}"),
        (0 | 1, false) => format!("every {unit}, {}", days.join(", ")),
        (count, true) => format!("every {count} {unit}s"),
        (count, false) => format!("every {count} {unit}s, {}", days.join(", ")),
    };
    if let Some(at) = recurrence.at_local {
        words = format!("{words} {}", format_time(at));
    }
    words
}

impl PlanTextRow {
    /// When it is planned: `Sat 21 Nov 14:00`, `every Fri, Fri 20 Nov – Fri 18 Dec`.
    pub fn when_text(&self, today: Date) -> String {
        self.days.map(|days| self.describe_days(days, &days.text(today))).unwrap_or_default()
    }

    /// The same in as few cells as say what matters: `21 Nov 14:00`, `every Fri`.
    pub(crate) fn short_when_text(&self, range: impl Fn(DaySpan) -> String) -> String {
        let Some(days) = self.days else { return String::new() };
        if self.repeats() {
            return self.rhythm.clone();
        }
        self.describe_days(days, &range(days))
    }

    /// The same for a column that has room for a day and no more: `21 Nov`, `every Fri`. What it leaves out is a note.
    pub(crate) fn narrow_when_text(&self) -> String {
        let Some(days) = self.days else { return String::new() };
        let has_room = self.repeats() && display_width(&self.rhythm) <= NARROW_RHYTHM;
        if has_room { self.rhythm.clone() } else { days.short_text() }
    }

    /// What a narrow column leaves out: `at 14:00`, `every Mon, Wed 18:00`.
    pub(crate) fn when_note(&self) -> Option<String> {
        let days = self.days?;
        if self.repeats() {
            return (display_width(&self.rhythm) > NARROW_RHYTHM).then(|| self.rhythm.clone());
        }
        let clock = self.clock.filter(|_| days.first == days.last)?;
        Some(match clock {
            RowClock::StartsAt(_) => format!("at {}", clock.text()),
            RowClock::EndsAt(_) => clock.text(),
        })
    }

    /// Days in words, with the time of day and the rhythm that belong to them.
    pub(crate) fn describe_days(&self, days: DaySpan, text: &str) -> String {
        let text = self.with_clock(days, text);
        if self.repeats() { format!("{}, {text}", self.rhythm) } else { text }
    }

    /// Days in words, with the time of day that was set.
    pub(crate) fn with_clock(&self, days: DaySpan, text: &str) -> String {
        match self.clock.filter(|_| days.first == days.last) {
            Some(clock) => format!("{text} {}", clock.text()),
            None => text.to_owned(),
        }
    }

    /// Whether it is done again and again; a phase spans what it holds.
    fn repeats(&self) -> bool {
        self.kind != PlanRowKind::Phase && !self.rhythm.is_empty()
    }

    /// Whether it is planned for another time than another row.
    pub(crate) fn has_same_time(&self, other: &Self) -> bool {
        self.days == other.days && self.clock == other.clock && self.rhythm == other.rhythm
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{date, time};
    use planwright_model::{RecurrenceFrequency, Weekday};

    const TODAY: Date = date(2026, 11, 17);

    fn row() -> PlanTextRow {
        let state = crate::tests::planned::scheduled().state();
        let rows = crate::plan_text::plan_rows(&state, &jiff::tz::TimeZone::UTC);
        let mut row = rows.into_iter().find(|row| row.kind == PlanRowKind::Task).unwrap();
        let day = date(2026, 11, 21);
        row.days = Some(DaySpan { first: day, last: day });
        row
    }

    #[test]
    fn a_time_that_was_set_stands_with_its_day() {
        let mut row = row();
        assert_eq!(row.when_text(TODAY), "Sat 21 Nov");
        row.clock = Some(RowClock::StartsAt(time(14, 0, 0, 0)));
        assert_eq!(row.when_text(TODAY), "Sat 21 Nov 14:00");
        assert_eq!(row.short_when_text(DaySpan::short_text), "21 Nov 14:00");
        assert_eq!(row.narrow_when_text(), "21 Nov");
        assert_eq!(row.when_note().as_deref(), Some("at 14:00"));
        row.clock = Some(RowClock::EndsAt(time(18, 30, 0, 0)));
        assert_eq!(row.when_text(TODAY), "Sat 21 Nov until 18:30");
    }

    #[test]
    fn the_time_is_that_of_the_reader() {
        let set = PlanDate { day: date(2026, 11, 21), time: Some(time(14, 0, 0, 0)) };
        let at = |hour| date(2026, 11, 21).at(hour, 0, 0, 0);
        let clock = RowClock::from_dates(Some(set), None, Some((at(13), at(15))));
        assert_eq!(clock, Some(RowClock::StartsAt(time(13, 0, 0, 0))));
        let end = RowClock::from_dates(None, Some(set), None);
        assert_eq!(end, Some(RowClock::EndsAt(time(14, 0, 0, 0))));
        assert_eq!(RowClock::from_dates(Some(PlanDate::on_day(set.day)), None, None), None);
    }

    #[test]
    fn what_repeats_says_how_often() {
        let mut weekly = Recurrence::every(RecurrenceFrequency::Weekly);
        assert_eq!(describe_rhythm(&weekly), "every week");
        weekly.by_day = vec![RecurrenceByDay::Weekday(Weekday::Fri)];
        assert_eq!(describe_rhythm(&weekly), "every Fri");
        weekly.at_local = Some(time(18, 0, 0, 0));
        assert_eq!(describe_rhythm(&weekly), "every Fri 18:00");
        weekly.interval = 2;
        assert_eq!(describe_rhythm(&weekly), "every 2 weeks, Fri 18:00");
        let mut monthly = Recurrence::every(RecurrenceFrequency::Monthly);
        monthly.by_day = vec![RecurrenceByDay::MonthDay(1)];
        assert_eq!(describe_rhythm(&monthly), "every month, day 1");

        let mut row = row();
        row.rhythm = "every Fri".to_owned();
        row.days = row.days.map(|days| DaySpan { last: date(2026, 12, 18), ..days });
        assert_eq!(row.when_text(TODAY), "every Fri, Sat 21 Nov – Fri 18 Dec");
        assert_eq!(row.short_when_text(DaySpan::short_text), "every Fri");
        assert_eq!((row.narrow_when_text().as_str(), row.when_note()), ("every Fri", None));
        row.rhythm = "every Mon, Wed 18:00".to_owned();
        assert_eq!(row.narrow_when_text(), "21 Nov");
        assert_eq!(row.when_note().as_deref(), Some("every Mon, Wed 18:00"));
        row.kind = PlanRowKind::Phase;
        assert_eq!(row.when_text(TODAY), "Sat 21 Nov – Fri 18 Dec");
    }
}
