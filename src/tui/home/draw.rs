//! Draws the home screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::list::{Group, Row};
use super::{Home, HomeFocus};
use crate::model::SessionId;
use crate::text::units;
use crate::tui::clock::between;
use crate::tui::glyphs::session_glyph;
use crate::tui::keymap::Action;
use crate::tui::theme::Role;
use crate::tui::widgets::{Line, RuleKind, divider, frame, piece, rule};

/// From here on Today stands beside the list.
const WIDE: u16 = 100;
/// Columns of Today and the selected session.
const SIDE: u16 = 40;

impl Home {
    pub(super) fn style(&self, role: Role) -> Style {
        self.palette.style(role)
    }

    pub(super) fn render(&mut self, buf: &mut Buffer) {
        let area = buf.area;
        if area.height < 3 {
            return;
        }
        self.draw_header(Rect { height: 1, ..area }, buf);
        let footer = Rect { y: area.bottom() - 1, height: 1, ..area };
        let mut body = Rect { y: area.y + 1, height: area.height - 2, ..area };
        self.goal_area = Rect::default();
        self.side = Rect::default();
        if area.height >= 12 {
            body.y += 1;
            body.height -= 1;
            let goal =
                Rect { x: body.x + 1, width: body.width.saturating_sub(2), height: 3, ..body };
            self.goal_area = goal;
            self.draw_goal(goal, buf);
            body.y += 4;
            body.height = body.height.saturating_sub(4);
        }
        if self.list.items.is_empty() {
            self.draw_first(body, buf);
        } else if self.focus == HomeFocus::Found {
            self.draw_found(body, buf);
        } else if self.focus == HomeFocus::Today {
            self.draw_today(body, buf);
        } else if area.width >= WIDE && body.height >= 8 {
            let list = Rect { width: body.width - SIDE - 1, ..body };
            self.side = Rect { x: list.right() + 1, width: SIDE, ..body };
            self.draw_list(list, buf);
            self.draw_side(self.side, buf);
            divider(buf, list.right(), body, self.style(Role::Rule));
        } else {
            self.draw_list(body, buf);
        }
        self.draw_footer(footer, buf);
    }

    fn draw_header(&self, area: Rect, buf: &mut Buffer) {
        let dim = self.style(Role::Dim);
        let count = match (self.list.items.len(), self.list.is_narrowed()) {
            (0, _) => String::new(),
            (1, false) => "   1 session".to_owned(),
            (count, false) => format!("   {} sessions", units::count(count as u64)),
            (count, true) => format!("   {} of {count} sessions", self.list.count()),
        };
        Line::new(buf, area)
            .right(&[piece(format!("{}{count}", self.provider), dim), piece(" ", dim)])
            .skip(1)
            .put("Planwright", self.palette.bold(Role::Text));
    }

    fn draw_goal(&self, area: Rect, buf: &mut Buffer) {
        let open = self.focus == HomeFocus::Goal;
        let style = self.style(if open { Role::Focus } else { Role::Rule });
        frame(buf, area, style);
        let title = Rect { x: area.x + 2, width: area.width.saturating_sub(4), height: 1, ..area };
        Line::new(buf, title).put(" goal ", style);
        let inner =
            Rect { x: area.x + 2, y: area.y + 1, width: area.width.saturating_sub(4), height: 1 };
        if open && !self.goal.text().is_empty() {
            self.goal.draw(inner, self.style(Role::Text), buf);
        } else if self.goal.text().is_empty() {
            Line::new(buf, inner).put("What do you want to get done?", self.style(Role::Dim));
        } else {
            Line::new(buf, inner).put(self.goal.text(), self.style(Role::Text));
        }
    }

    fn draw_list(&mut self, area: Rect, buf: &mut Buffer) {
        self.list_area = area;
        let rows = self.list.rows();
        self.list.settle(&rows, usize::from(area.height));
        if rows.is_empty() {
            let row = Rect { height: area.height.min(1), ..area };
            let words = "no session has these words in its title, Enter looks at all steps";
            Line::new(buf, row).skip(2).put(words, self.style(Role::Dim));
        }
        for (row, y) in rows.iter().skip(self.list.top).zip(area.y..area.bottom()) {
            let area = Rect { y, height: 1, ..area };
            match row {
                Row::Heading(group, count) => self.draw_heading(*group, *count, area, buf),
                Row::Item(item) => self.draw_item(*item, area, buf),
                Row::Detail(item) => {
                    let text = self.list.items[*item].detail.as_deref().unwrap_or_default();
                    Line::new(buf, area).skip(7).put(text, self.style(Role::Asks));
                }
            }
        }
        let below = rows.len().saturating_sub(self.list.top + usize::from(area.height));
        if below > 0 {
            let last = Rect { y: area.bottom() - 1, height: 1, ..area };
            Line::new(buf, last)
                .right(&[piece(format!(" … {below} more rows "), self.style(Role::Dim))]);
        }
    }

    fn draw_heading(&self, group: Group, count: usize, area: Rect, buf: &mut Buffer) {
        let focus = self.focus == HomeFocus::List
            && self.list.current().is_some_and(|item| Group::of(item.status) == group);
        let style = self.style(if focus { Role::Focus } else { Role::Rule });
        let name = format!("{} {count}", group.word());
        rule(buf, area, RuleKind { focus, past: false }, style, &[piece(name, style)], &[]);
    }

    /// Title gives way first, then pattern, then cost; done and age stay.
    fn draw_item(&self, index: usize, area: Rect, buf: &mut Buffer) {
        let item = &self.list.items[index];
        let (glyph, role) = session_glyph(item.status);
        let under = index == self.list.selected && self.focus != HomeFocus::Goal;
        if under {
            buf.set_style(area, self.style(Role::Selection));
        }
        let age = units::age(between(item.updated_at, (self.clock)()));
        let done = format!("{}/{}", item.done, item.total);
        let dim = self.style(Role::Dim);
        let mut line = Line::new(buf, area);
        line.right(&[piece(format!("{age:>8}"), dim), piece("  ", dim)]);
        if area.width >= 64 {
            line.right(&[piece(format!("{:>8}", item.cost.to_string()), dim)]);
        }
        line.right(&[piece(format!("{done:>8}"), dim)]);
        if area.width >= 70 && !item.pattern.is_empty() {
            let short = crate::text::truncate_end(&item.pattern, 10);
            line.right(&[piece(format!("{short:<10}"), dim)]);
        }
        let marked = self.marks.contains(&item.id);
        line.skip(1).put(if under { "►" } else { " " }, self.style(Role::Focus));
        line.put(if marked { "*" } else { " " }, self.style(Role::Focus));
        line.put(&format!("{glyph} "), self.style(role));
        // Beside the list the id stands with the rest of the selected session.
        if self.side.is_empty() {
            line.column(item.id.short(), SessionId::SHORT + 2, dim);
        }
        if item.fork_of.is_some() {
            line.skip(2 * self.list.depth(index).saturating_sub(1)).put("└ ", dim);
        }
        line.put(&item.title, self.style(Role::Text));
    }

    fn draw_footer(&self, area: Rect, buf: &mut Buffer) {
        let key = |action| self.keymap.key(action);
        let mut line = Line::new(buf, area);
        if let Some(message) = &self.message {
            line.skip(1).put(message, self.style(Role::Warn));
            return;
        }
        if self.focus == HomeFocus::Filter {
            line.skip(1).put("/ ", self.style(Role::Key));
            let field = Rect { x: area.x + 3, width: area.width.saturating_sub(3), ..area };
            self.filter.draw(field, self.style(Role::Text), buf);
            if !self.filter.text().is_empty() && area.width >= 60 {
                let (key, dim) = (self.style(Role::Key), self.style(Role::Dim));
                let words = " search all steps ";
                Line::new(buf, area).right(&[piece("Tab", key), piece(words, dim)]);
            }
            return;
        }
        let hints: Vec<(String, &str)> = match self.focus {
            HomeFocus::Remove => {
                let title = self.list.current().map(|item| item.title.clone()).unwrap_or_default();
                let size = self.list.current().and_then(|item| item.bytes).map(units::bytes);
                let size = size.map(|size| format!(", {size}")).unwrap_or_default();
                let text = format!("Remove {title}{size}? It cannot be taken back.  ");
                line.skip(1).put(&text, self.style(Role::Warn));
                vec![("y".to_owned(), "remove"), ("Esc".to_owned(), "keep")]
            }
            HomeFocus::Found => vec![
                (key(Action::Open), "open there"),
                (self.keymap.keys(&[Action::Down, Action::Up]), "move"),
                (key(Action::Search), "search again"),
                (key(Action::Back), "back"),
            ],
            HomeFocus::Goal if self.list.items.is_empty() => vec![
                ("Enter".to_owned(), "plan it"),
                ("Down".to_owned(), "examples"),
                ("Esc".to_owned(), "leave the box"),
            ],
            HomeFocus::Goal => {
                vec![("Enter".to_owned(), "plan it"), ("Esc".to_owned(), "to the list")]
            }
            _ => vec![
                (key(Action::Open), "open"),
                (self.keymap.keys(&[Action::Down, Action::Up]), "move"),
                (key(Action::GoalBox), "goal"),
                (key(Action::Search), "filter"),
                (key(Action::Fork), "fork"),
                (key(Action::MarkSession), "mark"),
                (key(Action::Compare), "compare"),
                (key(Action::RemoveSession), "remove"),
                (key(Action::Today), "today"),
                (key(Action::Quit), "quit"),
            ],
        };
        if self.focus != HomeFocus::Remove {
            line.skip(1);
        }
        for (keys, words) in hints {
            line.put(&keys, self.style(Role::Key))
                .put(&format!(" {words}  "), self.style(Role::Dim));
        }
    }
}
