//! What is due today, and a few facts about the selected session.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Home, HomeFocus};
use crate::text::{clean, units, wrap};
use crate::tui::theme::Role;
use crate::tui::widgets::{Line, RuleKind, piece, rule};

impl Home {
    /// The list of today, then the selected session below it.
    pub(super) fn draw_side(&self, area: Rect, buf: &mut Buffer) {
        let rows = (self.today.len() as u16 * 2 + 1).clamp(2, area.height / 2);
        let today = Rect { height: rows, ..area };
        self.draw_today(today, buf);
        let below = Rect { y: area.y + rows, height: area.height - rows, ..area };
        self.draw_selected(below, buf);
    }

    pub(super) fn draw_today(&self, area: Rect, buf: &mut Buffer) {
        let late = self.today.iter().filter(|item| item.late).count();
        let due = self.today.iter().filter(|item| !item.done).count();
        let name = match late {
            0 => format!("today, {due} due"),
            _ => format!("today, {due} due, {late} late"),
        };
        let focus = self.focus == HomeFocus::Today;
        let style = self.style(if focus { Role::Focus } else { Role::Rule });
        rule(buf, area, RuleKind { focus, past: false }, style, &[piece(name, style)], &[]);
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        if self.today.is_empty() {
            let row = Rect { height: body.height.min(1), ..body };
            Line::new(buf, row).skip(1).put("nothing is due today", self.style(Role::Dim));
            return;
        }
        for (item, index) in self.today.iter().zip(0_u16..) {
            let y = body.y + 2 * index;
            if y >= body.bottom() {
                return;
            }
            let (glyph, role) = match (item.done, item.late) {
                (true, _) => ('✓', Role::Done),
                (false, true) => ('@', Role::Failed),
                (false, false) => ('@', Role::Yours),
            };
            let at = item.at.to_zoned(self.time_zone.clone());
            let mut line = Line::new(buf, Rect { y, height: 1, ..body });
            let minutes = units::planned(item.minutes.into());
            line.right(&[piece(minutes, self.style(Role::Dim)), piece(" ", self.style(Role::Dim))]);
            line.skip(1)
                .put(&format!("{:02}:{:02}  ", at.hour(), at.minute()), self.style(Role::Dim));
            line.put(&format!("{glyph} "), self.style(role))
                .put(&item.title, self.style(Role::Text));
            let below = Rect { y: y + 1, height: u16::from(y + 1 < body.bottom()), ..body };
            Line::new(buf, below).skip(10).put(&item.plan, self.style(Role::Dim));
        }
    }

    fn draw_selected(&self, area: Rect, buf: &mut Buffer) {
        let style = self.style(Role::Rule);
        let kind = RuleKind { focus: false, past: false };
        rule(buf, area, kind, style, &[piece("selected", style)], &[]);
        let Some(item) = self.list.current() else { return };
        let width = usize::from(area.width.saturating_sub(2)).max(8);
        let mut lines: Vec<(String, Role)> = Vec::new();
        let title = clean(&item.title).replace('\n', " ");
        lines
            .extend(wrap(&title, width, 0).into_iter().map(|line| (line.into_owned(), Role::Text)));
        lines.push((format!("session {}", item.id.short()), Role::Dim));
        lines.push((
            format!("{}, {}/{} done, {}", item.status.word(), item.done, item.total, item.cost),
            Role::Dim,
        ));
        if let Some(bytes) = item.bytes {
            lines.push((format!("{} on disk", units::bytes(bytes)), Role::Dim));
        }
        if let Some((parent, seq)) = &item.fork_of {
            lines.push((format!("fork of {} at event {seq}", parent.short()), Role::Dim));
        }
        let forks =
            self.list.items.iter().filter(|other| {
                other.fork_of.as_ref().is_some_and(|(parent, _)| *parent == item.id)
            });
        for fork in forks.take(5) {
            lines.push((format!("└ {} {}", fork.id.short(), fork.title), Role::Dim));
        }
        if let Some(detail) = &item.detail {
            lines.push((String::new(), Role::Dim));
            let detail = clean(detail).replace('\n', " ");
            lines.extend(
                wrap(&detail, width, 0).into_iter().map(|line| (line.into_owned(), Role::Asks)),
            );
        }
        for ((text, role), y) in lines.iter().zip(area.y + 1..area.bottom()) {
            Line::new(buf, Rect { y, height: 1, ..area }).skip(1).put(text, self.style(*role));
        }
    }
}
