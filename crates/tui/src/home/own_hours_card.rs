//! The question of the first start: when there is time for one's own plans. The answer goes into the config file at
//! once, can be undone, and is changed later in the settings. Skipping it costs nothing.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{HomeFocus, HomeScreen};
use crate::session::ScreenEffect;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, TextField};
use planwright_drafting::own_hours::{
    HOURS_EXAMPLE, describe_hours_briefly, describe_weekly_hours, parse_own_hours,
};

/// The rows of the question, without its rule.
pub(super) const ROWS: u16 = 3;
const QUESTION: &str = "when do you have time for your own plans?";
const SETTING: &str = "me.hours";
/// Where the hours begin in a row.
const LABEL_COLUMN: usize = 31;

/// What can be chosen without typing.
const CHOICES: [&str; 2] = ["weekdays", "evenings and Saturdays"];
const OTHER: usize = CHOICES.len();

/// How far the question is.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnHoursCard {
    /// The row under the cursor.
    at: usize,
    /// The hours in the config file, as written there.
    kept: Option<String>,
    typing: Option<TextField>,
    /// What the file had before each answer.
    undo: Vec<Option<String>>,
}

impl OwnHoursCard {
    pub(super) fn new(kept: Option<String>) -> Self {
        let mut card = Self { kept, ..Self::default() };
        card.at = card.chosen().unwrap_or(0);
        card
    }

    /// The row that the config file agrees with.
    fn chosen(&self) -> Option<usize> {
        let kept = parse_own_hours(self.kept.as_deref()?).ok()?;
        let same = |text: &&str| parse_own_hours(text).as_ref() == Ok(&kept);
        Some(CHOICES.iter().position(same).unwrap_or(OTHER))
    }

    pub(super) fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    /// What stands beside a row, in fewer words where there is less room.
    fn row_hours(&self, row: usize, room: usize) -> String {
        match CHOICES.get(row) {
            Some(text) => hours_text(text),
            None if self.chosen() == Some(OTHER) => {
                let kept = self.kept.as_deref().unwrap_or_default();
                let exact = hours_text(kept);
                match parse_own_hours(kept) {
                    Ok(hours) if exact.chars().count() > room => describe_hours_briefly(&hours),
                    _ => exact,
                }
            }
            None => "such as \"Tue and Thu evening, Sundays\"".to_owned(),
        }
    }
}

fn hours_text(text: &str) -> String {
    parse_own_hours(text).map_or_else(|_| String::new(), |hours| describe_weekly_hours(&hours))
}

impl HomeScreen {
    pub(super) fn draw_own_hours(&mut self, area: Rect, buf: &mut Buffer) {
        let focus = self.focus == HomeFocus::OwnHours;
        let rule = Rect { y: area.y + 1, ..area };
        self.draw_rule_above(rule, focus, QUESTION, "asked once, kept", buf);
        let rows = Rect { y: area.y + 1, height: ROWS.min(area.height.saturating_sub(1)), ..area };
        self.areas.own_hours = rows;
        let card = &self.own_hours;
        let (text, dim) = (self.style(ThemeRole::Text), self.style(ThemeRole::Dim));
        for (row, y) in (0..=OTHER).zip(rows.y..rows.bottom()) {
            let line_area = Rect { y, height: 1, ..rows };
            let under = focus && card.at == row;
            if under {
                buf.set_style(line_area, self.style(ThemeRole::Selection));
            }
            let mark = if card.chosen() == Some(row) { "(x) " } else { "( ) " };
            let label = CHOICES.get(row).copied().unwrap_or("something else");
            let mut line = ScreenLine::new(buf, line_area);
            line.skip(3).put(mark, text).put_column(label, LABEL_COLUMN, text);
            if let Some(field) = card.typing.as_ref().filter(|_| row == OTHER) {
                let x = line_area.x + 7 + LABEL_COLUMN as u16;
                let width = line_area.right().saturating_sub(x + 1);
                field.draw(Rect { x, width, ..line_area }, text, buf);
            } else {
                let style = if row == OTHER && card.chosen() != Some(OTHER) { dim } else { text };
                let room = line.cells_left();
                line.put(&card.row_hours(row, room), style);
            }
        }
    }

    pub(super) fn on_own_hours_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        if self.own_hours.is_typing() {
            return self.on_typed_hours_key(event);
        }
        let card = &mut self.own_hours;
        match event.code {
            KeyCode::Down | KeyCode::Char('j') => card.at = (card.at + 1).min(OTHER),
            KeyCode::Up | KeyCode::Char('k') if card.at > 0 => card.at -= 1,
            KeyCode::Enter | KeyCode::Char(' ') => self.choose_own_hours(),
            KeyCode::Char('u') => self.undo_own_hours(),
            KeyCode::Up | KeyCode::Esc | KeyCode::Tab | KeyCode::BackTab => {
                self.set_focus(HomeFocus::Goal);
            }
            KeyCode::Char('i') => self.set_focus(HomeFocus::Goal),
            _ => return ScreenEffect::Idle,
        }
        ScreenEffect::Draw
    }

    fn on_typed_hours_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        match event.code {
            KeyCode::Esc => self.own_hours.typing = None,
            KeyCode::Enter => {
                let typed = self.own_hours.typing.as_ref().map(|field| field.text().to_owned());
                match parse_own_hours(typed.as_deref().unwrap_or_default()) {
                    Ok(hours) => {
                        self.own_hours.typing = None;
                        self.keep_own_hours(&describe_weekly_hours(&hours));
                    }
                    Err(why) => self.message = Some(format!("{why}; write hours {HOURS_EXAMPLE}")),
                }
            }
            _ => {
                if let Some(field) = &mut self.own_hours.typing {
                    field.on_key(event);
                }
            }
        }
        ScreenEffect::Draw
    }

    pub(super) fn paste_own_hours(&mut self, text: &str) -> ScreenEffect {
        match &mut self.own_hours.typing {
            Some(field) => field.on_paste(text),
            None => return ScreenEffect::Idle,
        }
        ScreenEffect::Draw
    }

    pub(super) fn click_own_hours(&mut self, at: Position) -> ScreenEffect {
        self.set_focus(HomeFocus::OwnHours);
        self.own_hours.at = usize::from(at.y - self.areas.own_hours.y).min(OTHER);
        self.choose_own_hours();
        ScreenEffect::Draw
    }

    fn choose_own_hours(&mut self) {
        if let Some(text) = CHOICES.get(self.own_hours.at) {
            return self.keep_own_hours(&hours_text(text));
        }
        let card = &mut self.own_hours;
        let own = card.kept.clone().filter(|_| card.chosen() == Some(OTHER));
        card.typing = Some(TextField::new(own.as_deref().unwrap_or_default()));
    }

    /// Writes the hours into the config file.
    fn keep_own_hours(&mut self, hours: &str) {
        let Some(store) = self.store.clone() else {
            self.message = Some("Settings can't be changed here".to_owned());
            return;
        };
        self.message = Some(match store.change(SETTING, Some(hours)) {
            Ok(before) => {
                self.own_hours.undo.push(before);
                self.own_hours.kept = Some(hours.to_owned());
                // What was asked is answered: whoever types now means the goal.
                self.set_focus(HomeFocus::Goal);
                format!("Kept: {hours}. Tab, then u undoes it.")
            }
            Err(why) => why,
        });
    }

    fn undo_own_hours(&mut self) {
        let Some(store) = self.store.clone() else { return };
        let Some(before) = self.own_hours.undo.pop() else {
            self.message = Some("Nothing to undo".to_owned());
            return;
        };
        self.message = Some(match store.change(SETTING, before.as_deref()) {
            Ok(_) => {
                self.own_hours.kept = before;
                "Undone".to_owned()
            }
            Err(why) => why,
        });
    }
}
