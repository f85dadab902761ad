//! The box for a goal. Letters go into it only while it has the cursor; leaving it keeps the text.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::layout::has_goal_box;
use super::{HomeFocus, HomeScreen};
use crate::HomeExit;
use crate::keymap::KeyAction;
use crate::session::{EditPurpose, ExternalAction, ScreenEffect};
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, TextField, draw_frame, draw_heavy_frame};
use planwright_drafting::goal_reading::read_goal;

/// The most lines of a goal that are shown.
const GOAL_ROWS: u16 = 5;
/// Cells beside the text of the goal: the frame, and air inside and outside of it.
const BESIDE_GOAL: u16 = 6;
/// The rows from which on the first start has room for everything.
const FIRST_START_ROWS: u16 = 24;
const QUESTION: &str = "What do you want to get done?";

impl HomeScreen {
    /// How many rows the box takes: a frame where there is room or while it is typed in, else one line.
    pub(super) fn goal_rows(&self, area: Rect) -> u16 {
        let open = self.focus == HomeFocus::Goal;
        // The first start keeps its shape while its question is answered.
        let kept = self.is_first_start() && area.height >= FIRST_START_ROWS;
        if !open && !kept && !has_goal_box(area) {
            return 1;
        }
        let lines = if open {
            self.goal.wrapped_rows(usize::from(area.width.saturating_sub(BESIDE_GOAL)))
        } else {
            self.goal.line_count()
        };
        let lines = u16::try_from(lines).unwrap_or(GOAL_ROWS);
        let read = if open { self.reading_lines().len() as u16 } else { 0 };
        2 + lines.clamp(1, GOAL_ROWS) + u16::from(self.is_first_start()) + read
    }

    /// What was read from the goal as it stands, and what was not.
    fn reading_lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = self.reading.labeled_lines();
        // The box has room for one note.
        let notes = lines.iter().filter(|(label, _)| label.is_empty()).count();
        lines.truncate(lines.len() - notes.saturating_sub(1));
        lines
    }

    /// Reads the goal again after its text changed.
    pub(super) fn read_goal_text(&mut self) {
        let text = self.goal.full_text();
        if text == self.read_text {
            return;
        }
        let today = (self.clock)().to_zoned(self.time_zone.clone()).date();
        self.reading = read_goal(&text, today);
        self.read_text = text;
    }

    pub(super) fn draw_goal(&self, area: Rect, buf: &mut Buffer) {
        if area.height < 3 {
            self.draw_goal_line(area, buf);
            return;
        }
        let open = self.focus == HomeFocus::Goal;
        let lines = if open { self.reading_lines() } else { Vec::new() };
        let below = (lines.len() as u16).min(area.height.saturating_sub(3));
        let rows = area.height - u16::from(self.is_first_start()) - below;
        for ((label, text), y) in lines.iter().zip(area.bottom() - below..area.bottom()) {
            let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..area });
            line.skip(3).put_column(label, 10, self.style(ThemeRole::Dim));
            line.put(text, self.style(ThemeRole::Text));
        }
        let area = Rect {
            x: area.x + 1,
            y: area.y + u16::from(self.is_first_start()),
            width: area.width.saturating_sub(2),
            height: rows,
        };
        let style = self.style(if open { ThemeRole::Focus } else { ThemeRole::Rule });
        if open {
            draw_heavy_frame(buf, area, style);
        } else {
            draw_frame(buf, area, style);
        }
        let title = Rect { x: area.x + 2, width: area.width.saturating_sub(4), height: 1, ..area };
        let key = self.keymap.key_hint(KeyAction::GoalBox);
        let name = if open { format!(" {QUESTION} ") } else { format!(" {QUESTION}  {key} ") };
        ScreenLine::new(buf, title).put(&name, style);
        let inner = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(BESIDE_GOAL - 2),
            height: area.height.saturating_sub(2),
        };
        if open {
            self.goal.draw_wrapped(inner, self.style(ThemeRole::Text), buf);
            if let Some(cell) = buf.cell_mut((inner.x, inner.y))
                && self.goal.full_text().is_empty()
            {
                cell.set_style(cell.style().add_modifier(Modifier::REVERSED));
            }
            return;
        }
        for (text, y) in self.goal.full_text().lines().zip(inner.y..inner.bottom()) {
            let row = Rect { y, height: 1, ..inner };
            ScreenLine::new(buf, row).put(text, self.style(ThemeRole::Text));
        }
    }

    /// The closed box on a small screen: the question, or what was typed.
    fn draw_goal_line(&self, area: Rect, buf: &mut Buffer) {
        let key = self.keymap.key_hint(KeyAction::GoalBox);
        let typed = self.goal.full_text();
        let mut line = ScreenLine::new(buf, area);
        line.skip(1).put(&key, self.style(ThemeRole::Key)).skip(2);
        match typed.lines().next().filter(|text| !text.is_empty()) {
            Some(text) => line.put(text, self.style(ThemeRole::Text)),
            None => line.put(QUESTION, self.style(ThemeRole::Dim)),
        };
    }

    pub(super) fn on_goal_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        let first_start = self.is_first_start();
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Char('j') if ctrl => self.goal.new_line(),
            KeyCode::Char('g') if ctrl => {
                let (text, ending, back) = (self.goal.full_text(), ".txt", EditPurpose::Box);
                self.outside = Some(ExternalAction::Edit { text, ending, purpose: back });
            }
            KeyCode::Enter => return self.plan_goal(),
            KeyCode::Down if first_start => self.move_example(1),
            KeyCode::Up if self.example.is_some() => self.move_example(-1),
            KeyCode::Up if self.goal.is_on_first_line() => self.recall_goal(1),
            KeyCode::Down if self.recalled.is_some() => self.recall_goal(-1),
            KeyCode::Tab | KeyCode::BackTab if first_start => {
                self.example = None;
                self.set_focus(HomeFocus::OwnHours);
            }
            KeyCode::Esc if first_start => {
                self.example = None;
                let quit = self.keymap.key_hint(KeyAction::Quit);
                self.set_focus(HomeFocus::Plans);
                self.message = Some(format!("{quit} quits, i types a goal"));
            }
            KeyCode::Esc | KeyCode::Tab => {
                let next = self.starting_focus();
                self.set_focus(next);
            }
            _ => {
                self.example = None;
                if self.goal.on_key(event) {
                    self.recalled = None;
                }
            }
        }
        ScreenEffect::Draw
    }

    /// Puts an earlier goal into the box, or a later one again; the last step brings back what was typed.
    fn recall_goal(&mut self, by: isize) {
        let (at, typed) = match self.recalled.take() {
            Some((at, typed)) => (at.checked_add_signed(by), typed),
            None => (Some(0), self.goal.full_text()),
        };
        let Some(at) = at else {
            self.goal = TextField::from_lines(&typed);
            return;
        };
        let at = at.min(self.view.goals.len().saturating_sub(1));
        match self.view.goals.get(at) {
            Some(goal) => {
                self.goal = TextField::from_lines(goal);
                self.recalled = Some((at, typed));
            }
            None => self.message = Some("No earlier goals yet".to_owned()),
        }
    }

    /// Plans what was typed, or takes the example under the cursor.
    fn plan_goal(&mut self) -> ScreenEffect {
        if let Some(at) = self.example {
            return self.take_example(at);
        }
        let goal = self.goal.full_text().trim().to_owned();
        if goal.is_empty() {
            self.message = Some("Type what you want to get done".to_owned());
            return ScreenEffect::Draw;
        }
        self.exit_with(HomeExit::Plan(goal))
    }
}
