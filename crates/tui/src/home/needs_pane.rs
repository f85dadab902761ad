//! The list of what needs the person, as a pane and over the screen.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::agenda::SHORT_PLAN;
use super::needs::NeedRow;
use super::{HomeFocus, HomeScreen};
use crate::clock::duration_between;
use crate::keymap::KeyAction;
use crate::overlays::frame::{CardFrame, draw_divider};
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, fit_clauses, styled_piece};
use planwright_model::{Actor, ChoiceAction};
use planwright_state::AttentionCause;
use planwright_text::{clean_line, display_width, shorten_titles, units};

impl HomeScreen {
    pub(super) fn draw_needs(&self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let focus = self.focus == HomeFocus::Needs;
        let name = format!("needs you {}", self.needs.iter().filter(|row| !row.settled).count());
        let next = self.keymap.key_hint(KeyAction::NextNeed);
        let facts = if self.areas.compact {
            "oldest first".to_owned()
        } else {
            format!("oldest first · {next} opens the next")
        };
        self.draw_rule_above(area, focus, &name, &facts, buf);
        let per = self.areas.need_rows.max(1);
        let room = usize::from(area.height / per).max(1);
        let top = if focus { (self.need_at + 1).saturating_sub(room) } else { 0 };
        for (index, row) in self.needs.iter().enumerate().skip(top).take(room) {
            let y = area.y + (index - top) as u16 * per;
            let rows = Rect { y, height: per.min(area.bottom() - y), ..area };
            self.draw_need(row, focus && index == self.need_at, rows, buf);
        }
        let hidden = self.needs.len().saturating_sub(top + room);
        if hidden > 0 {
            let last = Rect { y: area.bottom() - 1, height: 1, ..area };
            super::draw::clear_area(last, buf);
            let key = self.keymap.key_hint(KeyAction::Inbox);
            let text = format!("… {} more, {key} shows them", hidden + usize::from(per == 1));
            ScreenLine::new(buf, last).skip(5).put(&text, self.style(ThemeRole::Dim));
        }
    }

    fn draw_need(&self, row: &NeedRow, under: bool, rows: Rect, buf: &mut Buffer) {
        let first = Rect { height: 1, ..rows };
        if under {
            buf.set_style(rows, self.style(ThemeRole::Selection));
        }
        let (glyph, role) = row.glyph();
        let dim = self.style(ThemeRole::Dim);
        let text = if row.settled { dim } else { self.style(ThemeRole::Text) };
        let glyph_style = if row.settled { dim } else { self.style(role) };
        let age = units::format_age(duration_between(row.item.since, (self.clock)()));
        let mut line = ScreenLine::new(buf, first);
        line.put_right(&[styled_piece(format!("{age:>7} "), dim)]);
        line.skip(1).put(if under { "► " } else { "  " }, self.style(ThemeRole::Focus));
        line.put(&format!("{glyph} "), glyph_style);
        let widths = (
            self.needs.iter().map(|row| display_width(&row.title)).max().unwrap_or(0),
            self.needs.iter().map(|row| display_width(&row.plan)).max().unwrap_or(0),
        );
        let (title, plan) = split_columns(line.cells_left(), widths);
        line.put_column(&row.title, title, text).skip(2);
        line.put_column(&plan_name(row, plan), plan, dim);
        if rows.height > 1 {
            let below = Rect { y: rows.y + 1, height: 1, ..rows };
            let room = usize::from(below.width).saturating_sub(8);
            let detail = fit_clauses(&clean_line(&self.need_detail(row)), room);
            ScreenLine::new(buf, below).skip(7).put(&detail, dim);
        }
    }

    /// What is behind it, and the key that helps.
    fn need_detail(&self, row: &NeedRow) -> String {
        match row.item.cause {
            AttentionCause::Late(_) => {
                let key = self.keymap.key_hint(KeyAction::CatchUp);
                format!("{}; {key} catches up", row.detail)
            }
            _ => row.detail.clone(),
        }
    }

    /// The list over the screen, with what is behind each row.
    pub(super) fn draw_inbox(&self, room: Rect, buf: &mut Buffer) {
        let answered = self.answered_today();
        let below = if answered.is_some() { 2 } else { 0 };
        let rows = self.needs.len().max(1) as u16 + below;
        let open = self.needs.iter().filter(|row| !row.settled).count();
        let title = format!("inbox {open} · everything that waits for you, oldest first");
        let frame = CardFrame { title: &title, note: "Enter open  n next", hint: "Esc close" };
        let size = (room.width.min(100), rows.saturating_add(2).max(4));
        let inner = frame.draw(room, size, self.style(ThemeRole::Focus), buf);
        if self.needs.is_empty() {
            let row = Rect { height: inner.height.min(1), ..inner };
            ScreenLine::new(buf, row).skip(2).put("Nothing needs you.", self.style(ThemeRole::Dim));
        }
        let end = inner.bottom().saturating_sub(below).max(inner.y);
        if let Some(text) = answered.filter(|_| inner.height > below) {
            draw_divider(Rect { y: end, height: 1, ..inner }, self.style(ThemeRole::Focus), buf);
            let row = Rect { y: end + 1, height: 1, ..inner };
            ScreenLine::new(buf, row).skip(1).put(&text, self.style(ThemeRole::Dim));
        }
        let room = usize::from(end - inner.y).max(1);
        let top = (self.need_at + 1).saturating_sub(room);
        for ((index, row), y) in self.needs.iter().enumerate().skip(top).zip(inner.y..end) {
            let area = Rect { y, height: 1, ..inner };
            self.draw_inbox_row(row, index == self.need_at, area, buf);
        }
    }

    /// What the person answered today in plans that are still open: `answered today 4: 2 allowed, 2 approved`.
    fn answered_today(&self) -> Option<String> {
        let day = |at: jiff::Timestamp| at.to_zoned(self.time_zone.clone()).date();
        let today = day((self.clock)());
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for past in self.view.open.iter().flat_map(|open| &open.state.requests.answered) {
            if past.by != Actor::Person || day(past.at) != today {
                continue;
            }
            let word = answer_word(past.action);
            match counts.iter_mut().find(|(known, _)| *known == word) {
                Some((_, count)) => *count += 1,
                None => counts.push((word, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let all: usize = counts.iter().map(|(_, count)| count).sum();
        let words: Vec<String> =
            counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
        (all > 0).then(|| format!("answered today {all}: {}", words.join(", ")))
    }

    fn draw_inbox_row(&self, row: &NeedRow, under: bool, area: Rect, buf: &mut Buffer) {
        if under {
            buf.set_style(area, self.style(ThemeRole::Selection));
        }
        let dim = self.style(ThemeRole::Dim);
        let (glyph, role) = row.glyph();
        let age = units::format_age(duration_between(row.item.since, (self.clock)()));
        let mut line = ScreenLine::new(buf, area);
        line.put_right(&[styled_piece(format!("{age:>7} "), dim)]);
        line.skip(1).put(if under { "► " } else { "  " }, self.style(ThemeRole::Focus));
        // What was settled meanwhile stays to be seen until the list is left.
        let settled = |style| if row.settled { dim } else { style };
        line.put(&format!("{glyph} "), settled(self.style(role)));
        let left = line.cells_left();
        let title = settled(self.style(ThemeRole::Text));
        line.put_column(&row.title, left * 36 / 100, title).skip(2);
        let plan = left * 24 / 100;
        line.put_column(&plan_name(row, plan), plan, dim).skip(2);
        line.put(&self.need_detail(row), dim);
    }
}

/// The name of the plan in its column: one that is too long loses the words that it can do without.
fn plan_name(row: &NeedRow, cells: usize) -> String {
    shorten_titles(&[row.plan.as_str()], cells).pop().map_or_else(String::new, Cow::into_owned)
}

/// What an answer came to, in a word.
fn answer_word(action: ChoiceAction) -> &'static str {
    use ChoiceAction as Choice;
    match action {
        Choice::AllowOnce | Choice::AllowForSession | Choice::AllowAlways => "allowed",
        Choice::ApproveAndRun
        | Choice::ApproveAndStop
        | Choice::ApproveFromToday
        | Choice::ApproveFromTask
        | Choice::Approve => "approved",
        Choice::Deny => "denied",
        Choice::RaiseOnce | Choice::RaiseForSession | Choice::RaiseForGood => "raised",
        _ => "answered",
    }
}

/// Cells for a title and for the name of its plan: the title is cut last, and the name keeps a few.
pub(super) fn split_columns(room: usize, (titles, plans): (usize, usize)) -> (usize, usize) {
    let room = room.saturating_sub(2);
    let least = SHORT_PLAN.min(plans).min(room * 2 / 5);
    let plan = room.saturating_sub(titles).clamp(least, plans.max(least));
    (room - plan, plan)
}
