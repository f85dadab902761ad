//! Today as the main list: what is late, what is due, what comes, and how full the week is.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::agenda::{AgendaFact, AgendaRow};
use super::needs_pane::split_columns;
use super::{HomeFocus, HomeScreen, TodayItem};
use crate::keymap::KeyAction;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, styled_piece};
use planwright_state::TaskStatus;
use planwright_text::{clean_line, dates, shorten_titles, truncate_end, units, wrap_words};

/// Cells between the indent and the title: the cursor, when, and the glyph.
const BEFORE_TITLE: u16 = 1 + 10 + 2;
/// Cells at the right: how long it takes, and air before it.
const AFTER_TITLE: u16 = 12 + 2;

/// Whose titles take two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TitleWrap {
    All,
    /// Those of what is late and of today: later days give way.
    Due,
    /// That of the row under the cursor.
    Selected,
}

impl HomeScreen {
    pub(super) fn draw_today(&mut self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let focus = self.has_today_focus();
        let today = (self.clock)().to_zoned(self.time_zone.clone()).date();
        let name = format!("today · {}", dates::format_date(today, today));
        self.draw_rule_above(area, focus, &name, &self.day_sums(), buf);
        let rows = self.agenda_rows(area.height);
        if rows.is_empty() || self.agenda.late + self.agenda.today == 0 {
            let used = self.draw_empty_day(area, buf);
            let rest = Rect { y: area.y + used, height: area.height.saturating_sub(used), ..area };
            self.draw_agenda(&rows, focus, rest, buf);
            return;
        }
        self.draw_agenda(&rows, focus, area, buf);
    }

    /// The rows of the list in so many rows of the screen. Whoever is in the list sees all of it.
    pub(super) fn agenda_rows(&self, height: u16) -> Vec<AgendaRow> {
        let focus = self.has_today_focus();
        let most_late = if focus { usize::MAX } else { usize::from(height / 3).max(2) };
        self.agenda.rows(&self.time_zone, self.areas.compact, most_late)
    }

    fn has_today_focus(&self) -> bool {
        matches!(self.focus, HomeFocus::Today | HomeFocus::When | HomeFocus::Note)
    }

    /// `3 h 25 min left · 45 min done`
    fn day_sums(&self) -> String {
        let (left, done) = (self.agenda.left_minutes, self.agenda.done_minutes);
        let sum = |minutes: u32, word: &str| match minutes {
            0 => None,
            minutes => Some(format!("{} {word}", units::format_planned(minutes.into()))),
        };
        let sums: Vec<String> =
            [sum(left, "left"), sum(done, "done")].into_iter().flatten().collect();
        sums.join(if self.areas.compact { ", " } else { " · " })
    }

    /// That nothing is planned today and what is next. Returns how many rows that took.
    fn draw_empty_day(&self, area: Rect, buf: &mut Buffer) -> u16 {
        let text = match self.agenda.next_item() {
            Some(next) => {
                let now = (self.clock)().to_zoned(self.time_zone.clone());
                let start = next.due.start.to_zoned(self.time_zone.clone());
                let when = dates::format_date_time(start.datetime(), now.date());
                format!("Nothing planned today. Next: {when}, {}.", next.due.title)
            }
            None => "Nothing planned. Plans that you approve show up here.".to_owned(),
        };
        let room = usize::from(area.width.saturating_sub(4)).max(8);
        let text = clean_line(&text);
        let lines = wrap_words(&text, room, 0);
        for (line, y) in lines.iter().zip(area.y..area.bottom()) {
            let row = Rect { y, height: 1, ..area };
            ScreenLine::new(buf, row).skip(3).put(line, self.style(ThemeRole::Dim));
        }
        (lines.len() as u16 + 1).min(area.height)
    }

    fn draw_agenda(&mut self, rows: &[AgendaRow], focus: bool, area: Rect, buf: &mut Buffer) {
        let at = rows.iter().position(|row| *row == AgendaRow::Item(self.today_at)).unwrap_or(0);
        let wraps = self.wrapping(rows, area);
        let heights = self.row_heights(wraps, focus.then_some(at), rows, area);
        let room = usize::from(area.height);
        self.today_top = if focus { first_shown(self.today_top, at, &heights, room) } else { 0 };
        self.areas.today = area;
        // A day without a task under it says nothing.
        let count = rows_within(&heights[self.today_top.min(heights.len())..], room);
        let mut shown: Vec<&AgendaRow> = rows.iter().skip(self.today_top).take(count).collect();
        let says = |row: &&AgendaRow| matches!(row, AgendaRow::Item(_) | AgendaRow::MoreLate(_));
        while shown.last().is_some_and(|row| !says(row)) {
            shown.pop();
        }
        let mut lines = Vec::with_capacity(room);
        for (row, height) in shown.into_iter().zip(&heights[self.today_top..]) {
            let y = area.y + lines.len() as u16;
            let line = Rect { y, height: *height as u16, ..area }.intersection(area);
            lines.push(match row {
                AgendaRow::Item(index) => Some(*index),
                _ => None,
            });
            match row {
                AgendaRow::Gap => {}
                AgendaRow::MoreLate(count) => {
                    let key = self.keymap.key_hint(KeyAction::Today);
                    let text = format!("… {count} more late, {key} lists them");
                    let skip = if self.areas.compact { 3 } else { 5 };
                    ScreenLine::new(buf, line).skip(skip).put(&text, self.style(ThemeRole::Dim));
                }
                AgendaRow::Heading { text, fact } => self.draw_day(text, fact, line, buf),
                AgendaRow::Item(index) => {
                    let under = focus && *index == self.today_at;
                    self.draw_due(&self.agenda.items[*index], under, line, buf);
                    lines.extend((1..line.height).map(|_| Some(*index)));
                }
            }
        }
        self.today_lines = lines;
    }

    /// Whose titles take a second line rather than lose words: all of them where there is room for it, else those of what
    /// is late and of today, as long as all of that stays in sight.
    fn wrapping(&self, rows: &[AgendaRow], area: Rect) -> TitleWrap {
        let height = |row: &AgendaRow| match row {
            AgendaRow::Item(index) => self.title_lines(&self.agenda.items[*index], area).len(),
            _ => 1,
        };
        let sum = |rows: &[AgendaRow]| rows.iter().map(height).sum::<usize>();
        let is_due = |row: &AgendaRow| matches!(row, AgendaRow::Item(index) if self.is_due(*index));
        let due = rows.iter().rposition(is_due).map_or(0, |last| last + 1);
        let room = usize::from(area.height);
        match sum(rows) <= room {
            true => TitleWrap::All,
            false if sum(&rows[..due]) <= room => TitleWrap::Due,
            false => TitleWrap::Selected,
        }
    }

    /// Whether an item is late or of today.
    fn is_due(&self, index: usize) -> bool {
        index < self.agenda.late + self.agenda.today
    }

    fn is_wrapped(&self, wraps: TitleWrap, index: usize) -> bool {
        match wraps {
            TitleWrap::All => true,
            TitleWrap::Due => self.is_due(index),
            TitleWrap::Selected => false,
        }
    }

    /// How many lines of the screen each row takes; the title under the cursor is never cut.
    fn row_heights(
        &self,
        wraps: TitleWrap,
        under: Option<usize>,
        rows: &[AgendaRow],
        area: Rect,
    ) -> Vec<usize> {
        let height = |(place, row): (usize, &AgendaRow)| match row {
            AgendaRow::Item(index) if self.is_wrapped(wraps, *index) || under == Some(place) => {
                self.title_lines(&self.agenda.items[*index], area).len()
            }
            _ => 1,
        };
        rows.iter().enumerate().map(height).collect()
    }

    /// The title of an item in its column, on two lines at most.
    fn title_lines(&self, item: &TodayItem, area: Rect) -> Vec<String> {
        let beside = self.item_indent() + BEFORE_TITLE + AFTER_TITLE;
        let room = usize::from(area.width.saturating_sub(beside));
        let (title, _) = split_columns(room, self.agenda.column_widths(room));
        let clean = clean_line(&item.due.title);
        let wrapped = wrap_words(&clean, title.max(8), 0);
        let mut lines: Vec<String> = wrapped.into_iter().map(Cow::into_owned).collect();
        if lines.len() > 2 {
            let rest = lines.drain(1..).collect::<Vec<_>>().join(" ");
            lines.push(truncate_end(&rest, title).into_owned());
        }
        lines
    }

    fn item_indent(&self) -> u16 {
        if self.areas.compact { 2 } else { 4 }
    }

    fn draw_day(&self, text: &str, fact: &AgendaFact, row: Rect, buf: &mut Buffer) {
        let dim = self.style(ThemeRole::Dim);
        let right = match fact {
            AgendaFact::None => String::new(),
            AgendaFact::Minutes(minutes) => units::format_planned((*minutes).into()),
            AgendaFact::CatchUp => {
                format!("{} catch up", self.keymap.key_hint(KeyAction::CatchUp))
            }
        };
        let role = if text == "late" { ThemeRole::Failed } else { ThemeRole::Dim };
        let mut line = ScreenLine::new(buf, row);
        line.put_right(&[styled_piece(format!("{right} "), dim)]);
        line.skip(3).put(text, self.style(role));
    }

    fn draw_due(&self, item: &TodayItem, under: bool, row: Rect, buf: &mut Buffer) {
        if under {
            buf.set_style(row, self.style(ThemeRole::Selection));
        }
        let due = &item.due;
        let (glyph, role) = due_glyph(item);
        let dim = self.style(ThemeRole::Dim);
        let settled = due.status.is_settled() && due.status != TaskStatus::Failed;
        let text = if settled { dim } else { self.style(ThemeRole::Text) };
        let minutes = match due.minutes {
            0 => String::new(),
            minutes => units::format_planned(minutes.into()),
        };
        let late = due.late && !settled;
        let when_role = if late { ThemeRole::Failed } else { ThemeRole::Dim };
        let indent = self.item_indent();
        let lines = self.title_lines(item, row);
        let first = Rect { height: row.height.min(1), ..row };
        let mut line = ScreenLine::new(buf, first);
        line.put_right(&[styled_piece(format!("{minutes:>11} "), dim)]);
        line.skip(1).put(if under { "►" } else { " " }, self.style(ThemeRole::Focus));
        line.skip(usize::from(indent) - 1);
        line.put_column(&self.agenda.item_when(item, &self.time_zone), 10, self.style(when_role));
        line.put(&format!("{glyph} "), self.style(role));
        let (title, plan) =
            split_columns(line.cells_left(), self.agenda.column_widths(line.cells_left()));
        let shown = if row.height > 1 { lines.first() } else { None };
        line.put_column(shown.unwrap_or(&due.title), title, text).skip(2);
        // A name that is too long loses the words that it can do without.
        let names = shorten_titles(&[item.plan.as_str()], plan);
        line.put_column(names.first().map_or("", |name| name), plan, dim);
        for (part, y) in lines.iter().skip(1).zip(row.y + 1..row.bottom()) {
            let start = (indent + BEFORE_TITLE).min(row.width);
            let below = Rect { x: row.x + start, y, width: row.width - start, height: 1 };
            ScreenLine::new(buf, below).put_column(part, title, text);
        }
    }

    /// A bar for each day of the week: done heavy, planned light.
    pub(super) fn draw_week(&self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let total: u32 = self.agenda.week.iter().map(|day| day.minutes).sum();
        self.draw_rule_above(area, false, "this week", &units::format_planned(total.into()), buf);
        let most = self.agenda.week.iter().map(|day| day.minutes).max().unwrap_or(0).max(1);
        let today = (self.clock)().to_zoned(self.time_zone.clone()).weekday();
        let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        let cells = u32::from(area.width.saturating_sub(21));
        for ((name, load), y) in days.iter().zip(&self.agenda.week).zip(area.y..area.bottom()) {
            let row = Rect { y, height: 1, ..area };
            let now = today.to_monday_zero_offset() == (y - area.y) as i8;
            let role = if now { ThemeRole::Text } else { ThemeRole::Dim };
            let right = match load.minutes {
                0 => "free".to_owned(),
                minutes => units::format_planned(minutes.into()),
            };
            let all = (load.minutes * cells).div_ceil(most) as usize;
            let done = (load.done_minutes * cells / most) as usize;
            let mut line = ScreenLine::new(buf, row);
            line.put_right(&[styled_piece(format!("{right:>12} "), self.style(role))]);
            line.skip(1).put(name, self.style(role)).skip(1);
            line.put(&"━".repeat(done.min(all)), self.style(ThemeRole::Done));
            line.put(&"─".repeat(all.saturating_sub(done)), self.style(ThemeRole::Rule));
        }
    }
}

/// How many rows from the first one on fit into so many lines.
fn rows_within(heights: &[usize], room: usize) -> usize {
    let mut used = 0;
    heights
        .iter()
        .take_while(|height| {
            used += **height;
            used <= room
        })
        .count()
}

/// The first row in sight, so that the row `at` is, with the heading above it, and no line stays free without need.
fn first_shown(top: usize, at: usize, heights: &[usize], room: usize) -> usize {
    let lines = |from: usize, to: usize| heights[from.min(to)..to].iter().sum::<usize>();
    let mut top = top.min(at.saturating_sub(1));
    while top < at && lines(top, (at + 1).min(heights.len())) > room {
        top += 1;
    }
    while top > 0 && lines(top - 1, heights.len()) <= room {
        top -= 1;
    }
    top
}

fn due_glyph(item: &TodayItem) -> (char, ThemeRole) {
    let due = &item.due;
    match due.status {
        TaskStatus::Done => ('✓', ThemeRole::Done),
        TaskStatus::Skipped(_) => ('»', ThemeRole::Skipped),
        TaskStatus::Running => ('►', ThemeRole::Running),
        TaskStatus::Failed => ('✗', ThemeRole::Failed),
        _ if due.yours && due.ready => ('@', ThemeRole::Yours),
        _ => ('·', ThemeRole::Waiting),
    }
}
