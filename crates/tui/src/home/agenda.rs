//! Today over all plans: what is late, what is due today, what comes in the days after.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::widgets::short_plan_name;
use crate::{HomeView, TodayItem};
use planwright_state::TaskStatus;
use planwright_text::{dates, display_width, shorten_titles, units};

/// Cells that the name of a plan keeps where titles are cut.
pub(super) const SHORT_PLAN: usize = 17;

/// How much is planned on a day, and how much of it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DayLoad {
    pub(super) minutes: u32,
    pub(super) done_minutes: u32,
}

/// One row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AgendaRow {
    /// A day or a group, with a fact at the right.
    Heading {
        text: String,
        fact: AgendaFact,
    },
    Item(usize),
    /// So many late items that are not listed.
    MoreLate(usize),
    /// Air between two groups.
    Gap,
}

/// What stands at the right of a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AgendaFact {
    None,
    /// The key that catches up.
    CatchUp,
    Minutes(u32),
}

/// What is due, in order, and the sums over it.
#[derive(Clone, Debug, Default)]
pub(super) struct DayAgenda {
    /// Late items first, then those of today, then those of the days after.
    pub(super) items: Vec<TodayItem>,
    /// How many are late, and how many are of today.
    pub(super) late: usize,
    pub(super) today: usize,
    pub(super) left_minutes: u32,
    pub(super) done_minutes: u32,
    /// The widest title and the widest name of a plan, in cells.
    pub(super) widths: (usize, usize),
    /// The widest name of a plan where names are shortened.
    short_plan: usize,
    /// From Monday to Sunday of this week.
    pub(super) week: [DayLoad; 7],
    date: Date,
}

fn day_of(at: Timestamp, zone: &TimeZone) -> Date {
    at.to_zoned(zone.clone()).date()
}

impl DayAgenda {
    /// What all open plans have to do, seen from `now`.
    pub(super) fn collect(view: &HomeView, now: Timestamp, zone: &TimeZone) -> Self {
        let date = day_of(now, zone);
        let mut agenda = Self { date, ..Self::default() };
        let until = agenda.next_week_start().checked_add(Span::new().days(6)).unwrap_or(date);
        let (mut late, mut today, mut coming) = (Vec::new(), Vec::new(), Vec::new());
        for open in &view.open {
            let plan = short_plan_name(&open.state.session.title);
            let item = |due| TodayItem { session: open.id.clone(), plan: plan.clone(), due };
            for due in open.state.due_tasks(now, zone) {
                let earlier = day_of(due.start, zone) < date;
                if earlier && due.block.is_some() {
                    late.push(item(due));
                } else {
                    today.push(item(due));
                }
            }
            coming.extend(open.state.coming_tasks(now, until, zone).into_iter().map(item));
            agenda.add_week(&open.state, zone);
        }
        late.sort_by_key(|item| item.due.start);
        // What has no time of its own comes after what has one.
        today.sort_by_key(|item| (item.due.block.is_none(), item.due.start));
        coming.sort_by_key(|item| item.due.start);
        for item in &today {
            match item.due.status {
                TaskStatus::Done => agenda.done_minutes += item.due.minutes,
                TaskStatus::Skipped(_) => {}
                _ => agenda.left_minutes += item.due.minutes,
            }
        }
        (agenda.late, agenda.today) = (late.len(), today.len());
        agenda.items = late;
        agenda.items.append(&mut today);
        agenda.items.append(&mut coming);
        let widest = |text: &dyn Fn(&TodayItem) -> usize| agenda.items.iter().map(text).max();
        agenda.widths = (
            widest(&|item| display_width(&item.due.title)).unwrap_or(0),
            widest(&|item| display_width(&item.plan)).unwrap_or(0),
        );
        let short = |item: &TodayItem| {
            let names = shorten_titles(&[item.plan.as_str()], SHORT_PLAN);
            names.first().map_or(0, |name| display_width(name))
        };
        agenda.short_plan = widest(&short).unwrap_or(0);
        agenda
    }

    /// The widest title and name of a plan, the name shortened where both have no room.
    pub(super) fn column_widths(&self, room: usize) -> (usize, usize) {
        let (title, plan) = self.widths;
        let fits = title + plan + 2 <= room;
        (title, if fits { plan } else { self.short_plan })
    }

    fn add_week(&mut self, state: &planwright_state::SessionState, zone: &TimeZone) {
        let back = i64::from(self.date.weekday().to_monday_zero_offset());
        let Ok(monday) = self.date.checked_sub(Span::new().days(back)) else { return };
        let schedule = state.planning.schedule.as_deref().filter(|_| state.is_runnable());
        for block in schedule.iter().flat_map(|schedule| &schedule.blocks) {
            let Ok(span) = day_of(block.start.at, zone).since(monday) else { continue };
            let Some(load) =
                usize::try_from(span.get_days()).ok().and_then(|day| self.week.get_mut(day))
            else {
                continue;
            };
            load.minutes += block.estimated_minutes;
            let row = state.tasks.get(&block.plan_node_id);
            let done = row.is_some_and(|row| match block.occurrence {
                Some(time) => row.occurrences.get(&time) == Some(&true),
                None => row.status == TaskStatus::Done,
            });
            load.done_minutes += if done { block.estimated_minutes } else { 0 };
        }
    }

    /// The rows with their headings. Where there is little room the days of late and today have none. Of more late items
    /// than `most_late` the rest is counted, so that today is in sight.
    pub(super) fn rows(&self, zone: &TimeZone, compact: bool, most_late: usize) -> Vec<AgendaRow> {
        let mut rows = Vec::with_capacity(self.items.len() + 16);
        let heading = |text: &str, fact| AgendaRow::Heading { text: text.to_owned(), fact };
        let due = self.late + self.today;
        if !compact && self.late > 0 {
            rows.push(heading("late", AgendaFact::CatchUp));
        }
        let listed = if self.late > most_late { most_late } else { self.late };
        rows.extend((0..listed).map(AgendaRow::Item));
        rows.extend((listed < self.late).then(|| AgendaRow::MoreLate(self.late - listed)));
        if !compact && self.late > 0 {
            rows.push(AgendaRow::Gap);
        }
        if !compact && self.today > 0 {
            rows.push(heading("today", AgendaFact::None));
        }
        rows.extend((self.late..due).map(AgendaRow::Item));
        let mut day = None;
        let next_week = self.next_week_start();
        let mut in_next_week = false;
        for (index, item) in self.items.iter().enumerate().skip(due) {
            let date = day_of(item.due.start, zone);
            if date >= next_week && !in_next_week {
                in_next_week = true;
                rows.extend((!compact && !rows.is_empty()).then_some(AgendaRow::Gap));
                rows.push(self.next_week_heading(next_week, zone));
            } else if !in_next_week && day != Some(date) {
                rows.extend((!compact && !rows.is_empty()).then_some(AgendaRow::Gap));
                rows.push(heading(&self.day_heading(date), AgendaFact::None));
            }
            day = Some(date);
            rows.push(AgendaRow::Item(index));
        }
        rows
    }

    /// The Monday after this week.
    fn next_week_start(&self) -> Date {
        let ahead = 7 - i64::from(self.date.weekday().to_monday_zero_offset());
        self.date.checked_add(Span::new().days(ahead)).unwrap_or(self.date)
    }

    fn next_week_heading(&self, from: Date, zone: &TimeZone) -> AgendaRow {
        let to = from.checked_add(Span::new().days(6)).unwrap_or(from);
        let within = |item: &&TodayItem| (from..=to).contains(&day_of(item.due.start, zone));
        let of_week: Vec<&TodayItem> =
            self.items[self.late + self.today..].iter().filter(within).collect();
        let minutes = of_week.iter().map(|item| item.due.minutes).sum();
        // A task that is cut into blocks is one task.
        let task = |item: &&TodayItem| {
            let due = &item.due;
            (item.session.clone(), due.task.clone(), due.occurrence)
        };
        let tasks: std::collections::BTreeSet<_> = of_week.iter().map(task).collect();
        let text = format!("next week   {}", units::format_counted(tasks.len(), "task"));
        AgendaRow::Heading { text, fact: AgendaFact::Minutes(minutes) }
    }

    fn day_heading(&self, date: Date) -> String {
        let day = dates::format_date(date, self.date);
        match date.since(self.date).map(|span| span.get_days()) {
            Ok(1) => format!("tomorrow · {day}"),
            _ => day,
        }
    }

    /// When an item is, in one short column: its time today, its day when it is another one.
    pub(super) fn item_when(&self, item: &TodayItem, zone: &TimeZone) -> String {
        if item.due.block.is_none() {
            return "any time".to_owned();
        }
        let start = item.due.start.to_zoned(zone.clone());
        if start.date() < self.date || start.date() >= self.next_week_start() {
            return dates::format_short_date(start.date());
        }
        dates::format_time(start.time())
    }

    /// The first item after today that is still to be done.
    pub(super) fn next_item(&self) -> Option<&TodayItem> {
        self.items[self.late + self.today..].iter().find(|item| !item.due.status.is_settled())
    }
}
