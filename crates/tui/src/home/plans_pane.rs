//! Plans and runs beside today, grouped by what they need.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::plan_groups::{HomePlanRow, PlanGroup, PlanListRow};
use super::{HomeFocus, HomeScreen};
use crate::glyphs::session_glyph;
use crate::keymap::KeyAction;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, fit_clauses, short_plan_name, styled_piece};
use planwright_text::{display_width, truncate_end, units};

impl HomeScreen {
    pub(super) fn draw_plans(&mut self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let focus = matches!(self.focus, HomeFocus::Plans | HomeFocus::Filter | HomeFocus::Remove);
        let hint = if self.areas.plans_short {
            format!("{} opens", self.keymap.key_hint(KeyAction::FocusNext))
        } else if focus {
            self.keymap.key_hint(KeyAction::Search)
        } else {
            self.keymap.key_hint(KeyAction::FocusNext)
        };
        self.draw_rule_above(area, focus, "plans and runs", &hint, buf);
        if self.areas.plans_short {
            self.draw_groups_in_short(area, buf);
            return;
        }
        let lines = self.plans.lines(self.areas.plan_details, self.areas.plan_gaps);
        let room = usize::from(area.height);
        if focus {
            self.plans.scroll_to_selection(&lines, room);
        } else {
            self.plans.top = 0;
        }
        if lines.is_empty() {
            let text = "No plan has these words. Enter searches all steps.";
            let row = Rect { height: 1, ..area };
            ScreenLine::new(buf, row).skip(1).put(text, self.style(ThemeRole::Dim));
        }
        for (line, y) in lines.iter().skip(self.plans.top).zip(area.y..area.bottom()) {
            self.draw_plan_line(*line, focus, Rect { y, height: 1, ..area }, buf);
        }
        let below = lines.iter().skip(self.plans.top + room);
        let hidden = below.filter(|line| matches!(line, PlanListRow::Item(_))).count();
        if hidden > 0 {
            let last = Rect { y: area.bottom() - 1, height: 1, ..area };
            let covered = lines.get(self.plans.top + room - 1);
            let more = hidden + usize::from(matches!(covered, Some(PlanListRow::Item(_))));
            // A heading without a row under it says nothing.
            let above = room.checked_sub(2).and_then(|row| lines.get(self.plans.top + row));
            if matches!(above, Some(PlanListRow::Heading(..) | PlanListRow::Gap)) {
                super::draw::clear_area(Rect { y: last.y - 1, ..last }, buf);
            }
            super::draw::clear_area(last, buf);
            let key = self.keymap.key_hint(KeyAction::Search);
            let text = format!("… {} more, {key} finds them", units::format_count(more as u64));
            ScreenLine::new(buf, last).skip(3).put(&text, self.style(ThemeRole::Dim));
        }
    }

    fn draw_plan_line(&self, line: PlanListRow, focus: bool, row: Rect, buf: &mut Buffer) {
        let dim = self.style(ThemeRole::Dim);
        match line {
            PlanListRow::Gap => {}
            PlanListRow::Heading(group, count) => {
                let role =
                    if group == PlanGroup::Failed { ThemeRole::Failed } else { ThemeRole::Dim };
                let text = format!("{} {}", group.label(), units::format_count(count as u64));
                ScreenLine::new(buf, row).skip(1).put(&text, self.style(role));
            }
            PlanListRow::Item(index) => {
                let under = focus && index == self.plans.selected;
                self.draw_plan(&self.plans.rows[index], under, row, buf);
            }
            PlanListRow::Detail(index) => {
                let plan = &self.plans.rows[index];
                let text = if self.areas.plan_details { &plan.detail } else { &plan.next };
                let text = text.as_deref().unwrap_or_default();
                let room = usize::from(row.width).saturating_sub(6);
                // When the next task is comes first; of its title there is as much as fits.
                let fitting = match plan.group {
                    PlanGroup::Active => truncate_end(text, room).into_owned(),
                    _ => fit_clauses(text, room),
                };
                ScreenLine::new(buf, row).skip(5).put(&fitting, dim);
            }
        }
    }

    fn draw_plan(&self, plan: &HomePlanRow, under: bool, row: Rect, buf: &mut Buffer) {
        if under {
            buf.set_style(row, self.style(ThemeRole::Selection));
        }
        let marked = self.marks.contains(&plan.item.id);
        let mut line = ScreenLine::new(buf, row);
        line.put_right(&[styled_piece(format!("{} ", plan.fact), self.style(ThemeRole::Dim))]);
        line.skip(1).put(if under { "►" } else { " " }, self.style(ThemeRole::Focus));
        line.put(if marked { "*" } else { " " }, self.style(ThemeRole::Focus));
        if plan.group == PlanGroup::Done {
            let (glyph, role) = session_glyph(plan.item.status);
            line.put(&format!("{glyph} "), self.style(role));
        }
        line.put(&short_plan_name(&plan.item.title), self.style(ThemeRole::Text));
    }

    /// One line for each group that is worked on: its name and as many of its plans as fit. The others are counted.
    fn draw_groups_in_short(&self, area: Rect, buf: &mut Buffer) {
        let groups = self.plans.groups();
        let mut lines: Vec<(&str, String)> = Vec::new();
        let mut counted = Vec::new();
        for (group, members) in &groups {
            if matches!(group, PlanGroup::Running | PlanGroup::Drafts | PlanGroup::Active) {
                let room = usize::from(area.width).saturating_sub(14);
                lines.push((group.label(), self.names_within(members, room)));
            } else {
                counted.push(format!(
                    "{} {}",
                    group.label(),
                    units::format_count(members.len() as u64)
                ));
            }
        }
        if !counted.is_empty() {
            lines.push(("others", counted.join(", ")));
        }
        for ((label, text), y) in lines.iter().zip(area.y..area.bottom()) {
            let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..area });
            line.skip(3).put_column(label, 10, self.style(ThemeRole::Dim));
            line.put(text, self.style(ThemeRole::Text));
        }
    }

    /// As many plans as fit whole, and how many more there are.
    fn names_within(&self, members: &[usize], cells: usize) -> String {
        let name = |member: &usize| {
            let plan = &self.plans.rows[*member];
            if plan.fact.contains('/') {
                return format!("{} {}", short_plan_name(&plan.item.title), plan.fact);
            }
            short_plan_name(&plan.item.title)
        };
        let names: Vec<String> = members.iter().map(name).collect();
        let shown = |count: usize| match names.len() - count {
            0 => names.join(", "),
            more => format!("{} and {more} more", names[..count].join(", ")),
        };
        let fits = |text: &String| display_width(text) <= cells;
        (1..=names.len()).rev().map(shown).find(fits).unwrap_or_else(|| shown(names.len().min(1)))
    }
}
