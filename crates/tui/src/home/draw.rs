//! Draws the home screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::session_list::{SessionGroup, SessionListRow};
use super::{HomeFocus, HomeScreen};
use crate::clock::duration_between;
use crate::glyphs::session_glyph;
use crate::keymap::KeyAction;
use crate::theme::ThemeRole;
use crate::widgets::{
    RuleKind, ScreenLine, draw_frame, draw_pane_divider, draw_pane_rule, styled_piece,
};
use planwright_model::SessionId;
use planwright_text::units;

/// From here on Today stands beside the list.
const WIDE: u16 = 100;
/// Columns of Today and the selected session.
const SIDE: u16 = 39;
/// With so few sessions the person is new here, and one more line says where to look.
const FEW: usize = 3;
/// The most lines of a goal that are shown.
const GOAL_ROWS: u16 = 5;

/// Empties the cells of an area, as far as it lies on the screen.
pub(super) fn clear_area(area: Rect, buf: &mut Buffer) {
    for position in area.intersection(buf.area).positions() {
        if let Some(cell) = buf.cell_mut(position) {
            cell.reset();
        }
    }
}

impl HomeScreen {
    pub(super) fn style(&self, role: ThemeRole) -> Style {
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
        self.today_area = Rect::default();
        if area.height >= 12 {
            // A rule above the keys, and the box for a goal below the header.
            body.height -= 1;
            let style = self.style(ThemeRole::Rule);
            let kind = RuleKind { focus: false, past: false };
            draw_pane_rule(buf, Rect { y: footer.y - 1, ..footer }, kind, style, &[], &[]);
            body = self.draw_top(body, buf);
        }
        if self.list.items.is_empty() && self.view.today.is_empty() {
            self.draw_first_start(body, buf);
        } else if self.focus == HomeFocus::Found {
            self.draw_results(body, buf);
        } else if area.width < WIDE && matches!(self.focus, HomeFocus::Today | HomeFocus::Later) {
            self.draw_today(body, buf);
        } else if area.width >= WIDE && body.height >= 8 {
            let list = Rect { width: body.width - SIDE - 1, ..body };
            self.side = Rect { x: list.right() + 1, width: SIDE, ..body };
            self.draw_list(list, buf);
            self.draw_side(self.side, buf);
            self.draw_divider(list.right(), body, buf);
        } else {
            self.draw_list(body, buf);
        }
        self.draw_footer(footer, buf);
        if let Some(overlay) = &self.overlay {
            self.draw_overlay(overlay, area, buf);
        }
    }

    /// The box for a goal and the line below it. Returns what is left.
    fn draw_top(&mut self, body: Rect, buf: &mut Buffer) -> Rect {
        let rows = u16::try_from(self.goal.line_count()).unwrap_or(GOAL_ROWS).clamp(1, GOAL_ROWS);
        let goal = Rect {
            x: body.x + 1,
            y: body.y + 1,
            width: body.width.saturating_sub(2),
            height: 2 + rows,
        };
        self.goal_area = goal;
        self.draw_goal(goal, buf);
        let mut used = 1 + goal.height;
        let count = self.list.items.len();
        let hint = match (self.focus, count) {
            (HomeFocus::Goal, 1..) if body.width >= WIDE => Some(
                "Enter plan it   Ctrl-J new line   Ctrl-G editor   or give a file: planwright run plan.toml"
                    .to_owned(),
            ),
            (_, 1..FEW) => Some(format!(
                "New here? {} shows the keys, {} finds every command, {} what is due today.",
                self.keymap.key_hint(KeyAction::Help),
                self.keymap.key_hint(KeyAction::Palette),
                self.keymap.key_hint(KeyAction::Today),
            )),
            _ => None,
        };
        if let Some(hint) = hint {
            let row = Rect { y: body.y + used, height: 1, ..body };
            ScreenLine::new(buf, row).skip(3).put(&hint, self.style(ThemeRole::Dim));
            used += 1;
        }
        // One row of air, where there is room for it.
        used += u16::from(body.height >= 20);
        let used = used.min(body.height);
        Rect { y: body.y + used, height: body.height - used, ..body }
    }

    fn draw_divider(&self, x: u16, body: Rect, buf: &mut Buffer) {
        let style = self.style(ThemeRole::Rule);
        draw_pane_divider(buf, x, body, style);
        let symbol = |buf: &Buffer, x, y| buf.cell((x, y)).map(|cell| cell.symbol().to_owned());
        let heavy = x > 0 && symbol(buf, x - 1, body.y).as_deref() == Some("━");
        if heavy && let Some(cell) = buf.cell_mut((x, body.y)) {
            cell.set_symbol("┭");
        }
        if symbol(buf, x, body.bottom()).as_deref() == Some("─")
            && let Some(cell) = buf.cell_mut((x, body.bottom()))
        {
            cell.set_symbol("┴").set_style(style);
        }
    }

    fn draw_header(&self, area: Rect, buf: &mut Buffer) {
        let dim = self.style(ThemeRole::Dim);
        let mut facts = self.view.provider.clone();
        if area.width >= WIDE {
            if let Some((spent, cap)) = self.view.spent {
                facts = format!("{facts}   today {spent} of {cap}");
            }
            let now = (self.clock)().to_zoned(self.time_zone.clone());
            facts = format!("{facts}   {}", now.strftime("%a %-d %B, %H:%M"));
        }
        ScreenLine::new(buf, area)
            .put_right(&[styled_piece(facts, dim), styled_piece(" ", dim)])
            .skip(1)
            .put("Planwright", self.palette.bold_style(ThemeRole::Text));
    }

    fn draw_goal(&self, area: Rect, buf: &mut Buffer) {
        let open = self.focus == HomeFocus::Goal;
        let style = self.style(if open { ThemeRole::Focus } else { ThemeRole::Rule });
        draw_frame(buf, area, style);
        let title = Rect { x: area.x + 3, width: area.width.saturating_sub(4), height: 1, ..area };
        ScreenLine::new(buf, title).put(" goal ", style);
        let inner = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(2),
        };
        if self.goal.full_text().is_empty() {
            let row = Rect { height: 1, ..inner };
            ScreenLine::new(buf, row)
                .put("What do you want to get done?", self.style(ThemeRole::Dim));
            if open {
                let style = Style::default().add_modifier(ratatui::style::Modifier::REVERSED);
                if let Some(cell) = buf.cell_mut((row.x, row.y)) {
                    cell.set_style(style);
                }
            }
        } else if open {
            self.goal.draw(inner, self.style(ThemeRole::Text), buf);
        } else {
            for (text, y) in self.goal.full_text().lines().zip(inner.y..inner.bottom()) {
                let row = Rect { y, height: 1, ..inner };
                ScreenLine::new(buf, row).put(text, self.style(ThemeRole::Text));
            }
        }
    }

    fn draw_list(&mut self, area: Rect, buf: &mut Buffer) {
        self.list_area = area;
        let rows = self.list.visible_rows();
        self.list.scroll_to_selection(&rows, usize::from(area.height));
        if rows.is_empty() {
            let row = Rect { height: area.height.min(1), ..area };
            let text = if self.list.items.is_empty() {
                "no session yet"
            } else {
                "no session has these words in its title, Enter looks at all steps"
            };
            ScreenLine::new(buf, row).skip(2).put(text, self.style(ThemeRole::Dim));
        }
        for (row, y) in rows.iter().skip(self.list.top).zip(area.y..area.bottom()) {
            let area = Rect { y, height: 1, ..area };
            match row {
                SessionListRow::Heading(group, count) => {
                    self.draw_heading(*group, *count, area, buf);
                }
                SessionListRow::Columns => self.draw_columns(area, buf),
                SessionListRow::Item(item) => self.draw_item(*item, area, buf),
                SessionListRow::Detail(item) => {
                    let item = &self.list.items[*item];
                    let asks = SessionGroup::from_status(item.status) == SessionGroup::NeedsYou;
                    let role = if asks { ThemeRole::Asks } else { ThemeRole::Dim };
                    let text = item.detail.as_deref().unwrap_or_default();
                    ScreenLine::new(buf, area).skip(7).put(text, self.style(role));
                }
            }
        }
        let hidden = rows.iter().skip(self.list.top + usize::from(area.height));
        let below = hidden.filter(|row| matches!(row, SessionListRow::Item(_))).count();
        if below > 0 {
            let last = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
            clear_area(last, buf);
            let key = self.keymap.key_hint(KeyAction::Search);
            ScreenLine::new(buf, last)
                .skip(5)
                .put(&format!("… {} more, {key} filters", below + 1), self.style(ThemeRole::Dim));
        }
    }

    fn draw_heading(&self, group: SessionGroup, count: usize, area: Rect, buf: &mut Buffer) {
        let focus = matches!(self.focus, HomeFocus::List | HomeFocus::Filter | HomeFocus::Remove)
            && self
                .list
                .selected_item()
                .is_some_and(|item| SessionGroup::from_status(item.status) == group);
        let style = self.style(if focus { ThemeRole::Focus } else { ThemeRole::Rule });
        let name = format!("{} {}", group.label(), units::format_count(count as u64));
        draw_pane_rule(
            buf,
            area,
            RuleKind { focus, past: false },
            style,
            &[styled_piece(name, style)],
            &[],
        );
    }

    fn draw_columns(&self, area: Rect, buf: &mut Buffer) {
        self.draw_row(["age", "cost", "done", "pattern"], area, buf).skip(5).put(
            if self.side.is_empty() { "session  title" } else { "title" },
            self.style(ThemeRole::Dim),
        );
    }

    /// Figures of a row, from the right: title gives way first, then pattern, then cost; done and age stay.
    fn draw_row<'b>(
        &self,
        [age, cost, done, pattern]: [&str; 4],
        area: Rect,
        buf: &'b mut Buffer,
    ) -> ScreenLine<'b> {
        let dim = self.style(ThemeRole::Dim);
        let mut line = ScreenLine::new(buf, area);
        line.put_right(&[styled_piece(format!("{age:>7}"), dim), styled_piece("  ", dim)]);
        if area.width >= 64 {
            line.put_right(&[styled_piece(format!("{cost:>6}"), dim)]);
        }
        line.put_right(&[styled_piece(format!("{done:>7}"), dim)]);
        if area.width >= 70 {
            let short = planwright_text::truncate_end(pattern, 10);
            line.put_right(&[styled_piece(format!("{short:<10}"), dim)]);
        }
        line
    }

    fn draw_item(&self, index: usize, area: Rect, buf: &mut Buffer) {
        let item = &self.list.items[index];
        let (glyph, role) = session_glyph(item.status);
        let under = index == self.list.selected && self.focus != HomeFocus::Goal;
        if under {
            buf.set_style(area, self.style(ThemeRole::Selection));
        }
        let age = units::format_age(duration_between(item.updated_at, (self.clock)()));
        let done = format!("{}/{}", item.done, item.total);
        let dim = self.style(ThemeRole::Dim);
        let figures = [&age, &item.cost.to_string(), &done, item.pattern.as_str()];
        let mut line = self.draw_row(figures, area, buf);
        let marked = self.marks.contains(&item.id);
        line.skip(1).put(if under { "►" } else { " " }, self.style(ThemeRole::Focus));
        line.put(if marked { "*" } else { " " }, self.style(ThemeRole::Focus));
        line.put(&format!("{glyph} "), self.style(role));
        // Beside the list the id stands with the rest of the selected session.
        if self.side.is_empty() {
            line.put_column(item.id.short_id(), SessionId::SHORT + 2, dim);
        }
        if item.fork_of.is_some() {
            line.skip(2 * self.list.fork_depth(index).saturating_sub(1)).put("└ ", dim);
        }
        line.put(&item.title, self.style(ThemeRole::Text));
    }

    fn draw_footer(&self, area: Rect, buf: &mut Buffer) {
        let key = |action| self.keymap.key_hint(action);
        let mut line = ScreenLine::new(buf, area);
        if let Some(message) = &self.message {
            line.skip(1).put(message, self.style(ThemeRole::Warn));
            return;
        }
        let typed = match self.focus {
            HomeFocus::Filter => Some(("/ ", &self.filter)),
            HomeFocus::Later => Some(("move to (tomorrow, 14:30, fri 9:00, +2h): ", &self.later)),
            _ => None,
        };
        if let Some((label, field)) = typed {
            line.skip(1).put(label, self.style(ThemeRole::Key));
            let at = 1 + label.len() as u16;
            let room = Rect {
                x: area.x + at.min(area.width),
                width: area.width.saturating_sub(at),
                ..area
            };
            field.draw(room, self.style(ThemeRole::Text), buf);
            if self.focus == HomeFocus::Filter && !field.text().is_empty() && area.width >= 60 {
                let (key, dim) = (self.style(ThemeRole::Key), self.style(ThemeRole::Dim));
                ScreenLine::new(buf, area).put_right(&[
                    styled_piece("Tab", key),
                    styled_piece(" search all steps ", dim),
                ]);
            }
            return;
        }
        let fixed = |key: &str, words| (key.to_owned(), words);
        let mut right = vec![(key(KeyAction::Help), "help"), (key(KeyAction::Quit), "quit")];
        let left: Vec<(String, &str)> = match self.focus {
            HomeFocus::Remove => {
                let title =
                    self.list.selected_item().map(|item| item.title.clone()).unwrap_or_default();
                let title = planwright_text::truncate_end(&title, 34).into_owned();
                let size =
                    self.list.selected_item().and_then(|item| item.bytes).map(units::format_bytes);
                let size = size.map(|size| format!(", {size}")).unwrap_or_default();
                let text = format!("Remove {title}{size}? It cannot be taken back.");
                let hints = [(fixed("y", "remove")), (fixed("Esc", "keep"))];
                let hints = hints.map(|(key, words)| format!("  {key} {words}")).concat();
                line.put_right(&[styled_piece(format!("{hints} "), self.style(ThemeRole::Key))]);
                line.skip(1).put(&text, self.style(ThemeRole::Warn));
                return;
            }
            HomeFocus::Goal if self.list.items.is_empty() => {
                right = vec![fixed("Esc", "leave the box, then ? q")];
                vec![
                    fixed("Enter", "plan it"),
                    fixed("Down", "examples"),
                    fixed("Ctrl-G", "editor"),
                ]
            }
            HomeFocus::Goal => {
                right = vec![fixed("Esc", "to the list, then ? q")];
                vec![
                    fixed("Enter", "plan it"),
                    fixed("Ctrl-J", "new line"),
                    fixed("Ctrl-G", "editor"),
                ]
            }
            HomeFocus::Found => vec![
                (key(KeyAction::Open), "open there"),
                (self.keymap.keys_hint(&[KeyAction::Down, KeyAction::Up]), "move"),
                (key(KeyAction::Search), "search again"),
                (key(KeyAction::Back), "back"),
            ],
            HomeFocus::Today => {
                right.insert(0, (key(KeyAction::Today), "sessions"));
                vec![
                    (key(KeyAction::TodayDone), "done"),
                    (key(KeyAction::TodaySkip), "skip"),
                    (key(KeyAction::TodayLater), "later"),
                    (key(KeyAction::Open), "start"),
                    (self.keymap.keys_hint(&[KeyAction::Down, KeyAction::Up]), "move"),
                ]
            }
            _ => {
                right.splice(
                    0..0,
                    [(key(KeyAction::Today), "today"), (key(KeyAction::Palette), "commands")],
                );
                vec![
                    (key(KeyAction::Open), "open"),
                    (self.keymap.keys_hint(&[KeyAction::Down, KeyAction::Up]), "move"),
                    (key(KeyAction::GoalBox), "goal"),
                    (key(KeyAction::Search), "filter"),
                    (key(KeyAction::Fork), "fork"),
                    (key(KeyAction::Compare), "compare"),
                    (key(KeyAction::RemoveSession), "remove"),
                ]
            }
        };
        self.draw_hints(&left, &right, line);
    }

    /// Whole hints only: those on the left go first where there is no room.
    fn draw_hints(
        &self,
        left: &[(String, &str)],
        right: &[(String, &str)],
        mut line: ScreenLine<'_>,
    ) {
        let (key, dim) = (self.style(ThemeRole::Key), self.style(ThemeRole::Dim));
        let mut pieces = Vec::new();
        for (keys, words) in right {
            pieces.extend([
                styled_piece(format!("  {keys}"), key),
                styled_piece(format!(" {words}"), dim),
            ]);
        }
        pieces.push(styled_piece(" ", dim));
        line.put_right(&pieces);
        line.skip(1);
        for (keys, words) in left {
            if line.cells_left() < keys.len() + words.len() + 3 {
                break;
            }
            line.put(keys, key).put(&format!(" {words}  "), dim);
        }
    }
}
