//! Draws the home screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::layout::{HomeAreas, HomeContent, MIN_SIZE};
use super::{HomeCover, HomeFocus, HomeScreen};
use crate::overlays::OverlayRoom;
use crate::theme::ThemeRole;
use crate::widgets::{RuleKind, ScreenLine, draw_pane_divider, draw_pane_rule, styled_piece};
use planwright_text::{dates, units};

/// Empties the cells of an area, as far as it lies on the screen.
pub(super) fn clear_area(area: Rect, buf: &mut Buffer) {
    for position in area.intersection(buf.area).positions() {
        if let Some(cell) = buf.cell_mut(position) {
            cell.reset();
        }
    }
}

/// Joins the rule of the pane with focus to the line between the columns.
fn join_heavy_rules(x: u16, body: Rect, buf: &mut Buffer) {
    for y in body.y..body.bottom() {
        let heavy =
            |buf: &Buffer, x: u16| buf.cell((x, y)).is_some_and(|cell| cell.symbol() == "━");
        let glyph = match (heavy(buf, x.saturating_sub(1)), heavy(buf, x + 1), y == body.y) {
            (true, true, true) => "┯",
            (true, false, true) => "┭",
            (false, true, true) => "┮",
            (true, true, false) => "┿",
            (true, false, false) => "┥",
            (false, true, false) => "┝",
            (false, false, _) => continue,
        };
        if let Some(cell) = buf.cell_mut((x, y)) {
            cell.set_symbol(glyph);
        }
    }
}

impl HomeScreen {
    pub(super) fn style(&self, role: ThemeRole) -> Style {
        self.palette.style(role)
    }

    pub(super) fn render(&mut self, buf: &mut Buffer) {
        let area = buf.area;
        if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
            self.draw_too_small(area, buf);
            return;
        }
        let plans_open =
            matches!(self.focus, HomeFocus::Plans | HomeFocus::Filter | HomeFocus::Remove);
        let content = HomeContent {
            goal_rows: self.goal_rows(area),
            needs: self.needs.len(),
            group_lines: self.plans.short_line_count(),
            plans_open,
            has_week: self.agenda.week.iter().any(|day| day.minutes > 0),
        };
        self.areas = HomeAreas::new(area, content);
        let areas = self.areas;
        self.draw_header(areas.header, buf);
        self.draw_goal(areas.goal, buf);
        if self.is_first_start() {
            self.draw_first_start(areas.body, buf);
        } else if self.focus == HomeFocus::Found {
            self.areas = HomeAreas { needs: Rect::default(), today: Rect::default(), ..areas };
            self.draw_results(areas.body, buf);
        } else {
            self.draw_needs(areas.needs, buf);
            self.draw_today(areas.today, buf);
            self.draw_plans(areas.plans, buf);
            self.draw_week(areas.week, buf);
            self.draw_task(areas.task, buf);
            for x in areas.dividers.into_iter().flatten() {
                draw_pane_divider(buf, x, areas.body, self.style(ThemeRole::Rule));
                join_heavy_rules(x, areas.body, buf);
            }
        }
        self.draw_footer(areas.footer, buf);
        self.draw_cover(area, buf);
    }

    fn draw_cover(&mut self, area: Rect, buf: &mut Buffer) {
        let Some(cover) = self.cover.take() else { return };
        let room = Rect { y: area.y + 1, height: area.height - 1, ..area };
        self.dim_background(buf);
        match &cover {
            HomeCover::Help(help) => help.draw(area, &self.keymap, &self.palette, buf),
            HomeCover::Commands(palette) => {
                palette.draw(OverlayRoom { screen: area, header: 1 }, &self.palette, buf);
            }
            HomeCover::Settings(panel) => {
                panel.draw(OverlayRoom { screen: area, header: 1 }, &self.palette, buf);
            }
            HomeCover::Task { session, card } => {
                if let Some(state) = self.open_state(session) {
                    card.draw(room, buf, &self.card_context(state));
                }
            }
            HomeCover::Inbox => self.draw_inbox(room, buf),
            HomeCover::CatchUp(cover) => self.draw_catch_up(cover, room, buf),
        }
        self.cover = Some(cover);
    }

    fn dim_background(&self, buf: &mut Buffer) {
        let dim = Style { bg: None, ..self.style(ThemeRole::Dim) };
        let plain = ratatui::style::Modifier::BOLD | ratatui::style::Modifier::ITALIC;
        for cell in &mut buf.content {
            cell.set_style(dim.remove_modifier(plain));
        }
    }

    /// A screen that is too small says so, and what waits longest.
    fn draw_too_small(&self, area: Rect, buf: &mut Buffer) {
        let (width, height) = MIN_SIZE;
        let size =
            format!("Planwright needs {width}x{height}, this is {}x{}.", area.width, area.height);
        let first = self.needs.first().map(|row| format!("{}: {}", row.plan, row.title));
        for (text, y) in [Some(size), first].into_iter().flatten().zip(area.y..area.bottom()) {
            let row = Rect { y, height: 1, ..area };
            ScreenLine::new(buf, row).put(&text, self.style(ThemeRole::Text));
        }
    }

    fn draw_header(&self, area: Rect, buf: &mut Buffer) {
        let dim = self.style(ThemeRole::Dim);
        let now = (self.clock)().to_zoned(self.time_zone.clone());
        let clock = format!(
            "{}, {}",
            dates::format_date(now.date(), now.date()),
            dates::format_time(now.time())
        );
        let money = self
            .view
            .spent
            .map(|(spent, cap)| format!("{} today", units::format_money_part(spent.0, cap.0)));
        // A narrow screen has room for the planner or for what it cost.
        let who = match &money {
            Some(money) if area.width < 100 => money.clone(),
            Some(money) => format!("{} · {money}", self.view.provider),
            None => self.view.provider.clone(),
        };
        // Nothing has a date yet on the first start.
        let right =
            if self.is_first_start() { format!("{who} ") } else { format!("{who}   {clock} ") };
        ScreenLine::new(buf, area)
            .put_right(&[styled_piece(right, dim)])
            .skip(1)
            .put("Planwright", self.palette.bold_style(ThemeRole::Text));
    }

    /// The rule above an area, heavy while it has the focus.
    pub(super) fn draw_rule_above(
        &self,
        area: Rect,
        focus: bool,
        name: &str,
        facts: &str,
        buf: &mut Buffer,
    ) {
        let style = self.style(if focus { ThemeRole::Focus } else { ThemeRole::Rule });
        let row = Rect { y: area.y.saturating_sub(1), height: 1, ..area };
        let facts: &[_] = if facts.is_empty() { &[] } else { &[styled_piece(facts, style)] };
        let kind = RuleKind { focus, past: false };
        draw_pane_rule(buf, row, kind, style, &[styled_piece(name, style)], facts);
    }
}
