//! What is due today, and a few facts about the selected session.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{HomeFocus, HomeScreen, TodayItem};
use crate::theme::ThemeRole;
use crate::widgets::{RuleKind, ScreenLine, draw_pane_rule, styled_piece};
use planwright_state::TaskStatus;
use planwright_text::{clean_text, units, wrap_words};

impl HomeScreen {
    /// Today, then the selected session below it; with the focus Today has the full height.
    pub(super) fn draw_side(&mut self, area: Rect, buf: &mut Buffer) {
        if matches!(self.focus, HomeFocus::Today | HomeFocus::Later) {
            self.draw_today(area, buf);
            return;
        }
        let items = (self.view.today.len() as u16 * 2).max(u16::from(self.view.next.is_some()));
        let wanted = items + 3 + u16::from(self.view.week.is_some()) * 2;
        let today = Rect { height: wanted.clamp(3, area.height / 2), ..area };
        self.draw_today(today, buf);
        let below = Rect { y: today.bottom(), height: area.height - today.height, ..area };
        self.draw_selected(below, buf);
    }

    pub(super) fn draw_today(&mut self, area: Rect, buf: &mut Buffer) {
        let open = |item: &&TodayItem| !item.due.status.is_settled();
        let due = self.view.today.iter().filter(open).count();
        let late = self.view.today.iter().filter(|item| item.due.late).count();
        let name = match late {
            0 => format!("today, {due} due"),
            _ => format!("today, {due} due, {late} late"),
        };
        let focus = matches!(self.focus, HomeFocus::Today | HomeFocus::Later);
        let style = self.style(if focus { ThemeRole::Focus } else { ThemeRole::Rule });
        draw_pane_rule(
            buf,
            area,
            RuleKind { focus, past: false },
            style,
            &[styled_piece(name, style)],
            &[],
        );
        let mut body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        if self.view.week.is_some() && body.height >= 5 {
            body.height -= 2;
            self.draw_week(Rect { y: body.bottom(), height: 2, ..body }, buf);
        }
        if self.view.today.is_empty() {
            for (text, y) in self.empty_day_lines().iter().zip(body.y..body.bottom()) {
                let row = Rect { y, height: 1, ..body };
                ScreenLine::new(buf, row).skip(1).put(text, self.style(ThemeRole::Dim));
            }
            return;
        }
        self.today_area = body;
        let fit = usize::from(body.height / 2).max(1);
        let top = if focus { (self.today_at + 1).saturating_sub(fit) } else { 0 };
        let items: Vec<(usize, TodayItem)> =
            self.view.today.iter().cloned().enumerate().skip(top).take(fit).collect();
        for ((index, item), row) in items.iter().zip(0_u16..) {
            let y = body.y + 2 * row;
            let under = focus && *index == self.today_at;
            let rows = Rect { y, height: 2.min(body.bottom() - y), ..body };
            self.draw_due(item, under, rows, buf);
        }
        let hidden = self.view.today.len().saturating_sub(top + items.len());
        if hidden > 0 && body.height % 2 == 1 {
            let last = Rect { y: body.bottom() - 1, height: 1, ..body };
            let text = format!("… {hidden} more");
            ScreenLine::new(buf, last).skip(1).put(&text, self.style(ThemeRole::Dim));
        }
    }

    /// That nothing is due, and what is next, or how something comes to be due.
    fn empty_day_lines(&self) -> Vec<String> {
        let mut lines = vec!["nothing is due today".to_owned()];
        match &self.view.next {
            Some(next) => {
                let start = next.due.start.to_zoned(self.time_zone.clone());
                lines.push(format!("next {}", start.strftime("%a %-d %B, %H:%M")));
                lines.push(next.due.title.clone());
            }
            None => lines.push("approved plans show up here".to_owned()),
        }
        lines
    }

    fn draw_due(&self, item: &TodayItem, under: bool, rows: Rect, buf: &mut Buffer) {
        let due = &item.due;
        if under {
            buf.set_style(rows, self.style(ThemeRole::Selection));
        }
        let (glyph, role) = match (due.status, due.late) {
            (TaskStatus::Done, _) => ('✓', ThemeRole::Done),
            (TaskStatus::Skipped(_), _) => ('»', ThemeRole::Skipped),
            (TaskStatus::Running, _) => ('►', ThemeRole::Running),
            (TaskStatus::Failed, _) => ('✗', ThemeRole::Failed),
            (_, true) => ('@', ThemeRole::Failed),
            _ if due.yours && due.ready => ('@', ThemeRole::Yours),
            _ => ('·', ThemeRole::Waiting),
        };
        let dim = self.style(ThemeRole::Dim);
        let start = due.start.to_zoned(self.time_zone.clone());
        let today = (self.clock)().to_zoned(self.time_zone.clone()).date();
        let (when, right) = if start.date() < today {
            ("late ".to_owned(), start.strftime("%-d %b").to_string())
        } else {
            let minutes = if due.minutes == 0 {
                String::new()
            } else {
                units::format_planned(due.minutes.into())
            };
            (format!("{:02}:{:02}", start.hour(), start.minute()), minutes)
        };
        let mut line = ScreenLine::new(buf, Rect { height: rows.height.min(1), ..rows });
        line.put_right(&[styled_piece(right, dim), styled_piece(" ", dim)]);
        let when_role = if due.late { ThemeRole::Failed } else { ThemeRole::Dim };
        line.skip(1).put(&when, self.style(when_role)).skip(2);
        line.put(&format!("{glyph} "), self.style(role))
            .put(&due.title, self.style(ThemeRole::Text));
        let below = Rect { y: rows.y + 1, height: rows.height.saturating_sub(1), ..rows };
        ScreenLine::new(buf, below).skip(10).put(&item.plan, dim);
    }

    fn draw_week(&self, area: Rect, buf: &mut Buffer) {
        let Some(load) = self.view.week else { return };
        let (planned, available) = (load.planned_minutes, load.available_minutes);
        let dim = self.style(ThemeRole::Dim);
        let right = format!(
            "{} of {} min  {}",
            units::format_count(planned.into()),
            units::format_count(available.into()),
            units::format_percent(planned.into(), available.into())
        );
        let mut line = ScreenLine::new(buf, Rect { height: 1, ..area });
        line.put_right(&[styled_piece(right, dim), styled_piece(" ", dim)]);
        line.skip(1).put(&format!("week {}", load.week), dim);
        let cells = usize::from(area.width.saturating_sub(2));
        let full = (cells as u64 * u64::from(planned) / u64::from(available.max(1))) as usize;
        let full = full.min(cells);
        let over = planned > available;
        let bar = Rect { y: area.y + 1, height: 1, ..area };
        let role = if over { ThemeRole::Failed } else { ThemeRole::Done };
        ScreenLine::new(buf, bar)
            .skip(1)
            .put(&"━".repeat(full), self.style(role))
            .put(&"─".repeat(cells - full), self.style(ThemeRole::Rule));
    }

    fn draw_selected(&self, area: Rect, buf: &mut Buffer) {
        self.draw_section("selected", area, buf);
        let Some(item) = self.list.selected_item() else { return };
        let width = usize::from(area.width.saturating_sub(2)).max(8);
        let mut lines: Vec<(String, ThemeRole)> = Vec::new();
        let wrapped = |text: &str, role: ThemeRole| -> Vec<(String, ThemeRole)> {
            let text = clean_text(text).replace('\n', " ");
            wrap_words(&text, width, 0).into_iter().map(|line| (line.into_owned(), role)).collect()
        };
        lines.extend(wrapped(&item.title, ThemeRole::Text));
        lines.push((format!("session {}", item.id.short_id()), ThemeRole::Dim));
        for fact in &item.facts {
            lines.extend(wrapped(fact, ThemeRole::Dim));
        }
        if let Some(bytes) = item.bytes {
            lines.push((format!("{} on disk", units::format_bytes(bytes)), ThemeRole::Dim));
        }
        if let Some((parent, seq)) = &item.fork_of {
            lines.push((format!("fork of {} at event {seq}", parent.short_id()), ThemeRole::Dim));
        }
        let forks =
            self.list.items.iter().filter(|other| {
                other.fork_of.as_ref().is_some_and(|(parent, _)| *parent == item.id)
            });
        for fork in forks.take(5) {
            lines.push((format!("└ {} {}", fork.id.short_id(), fork.title), ThemeRole::Dim));
        }
        if let Some(detail) = &item.detail {
            lines.push((String::new(), ThemeRole::Dim));
            lines.extend(wrapped(detail, ThemeRole::Asks));
        }
        lines.push((String::new(), ThemeRole::Dim));
        let opens = match item.status {
            planwright_state::SessionStatus::Done | planwright_state::SessionStatus::Abandoned => {
                "Enter opens it in replay"
            }
            _ => "Enter opens it live",
        };
        lines.push((opens.to_owned(), ThemeRole::Dim));
        for ((text, role), y) in lines.iter().zip(area.y + 1..area.bottom()) {
            ScreenLine::new(buf, Rect { y, height: 1, ..area })
                .skip(1)
                .put(text, self.style(*role));
        }
    }
}
