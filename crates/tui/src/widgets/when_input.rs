//! One line for a date or a time, with what was read from it beside it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::civil::Time;
use jiff::{Timestamp, Zoned};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::TextField;
use super::line::ScreenLine;
use planwright_schedule::calendar::parse_when;
use planwright_text::dates;

/// What a line that cannot be read says.
pub(crate) const NOT_A_TIME: &str =
    "not a date or time; such as tomorrow, next week, Fri 9:00, +2h";

/// A date that is being typed. It opens with a date selected as a whole, so that typing replaces it.
#[derive(Clone, Debug)]
pub(crate) struct WhenInput {
    field: TextField,
    /// The whole text is selected: the first letter replaces it.
    selected: bool,
    /// The time of day of a date without one.
    usual: Time,
}

impl WhenInput {
    /// Opens with the moment that is in force now.
    pub(crate) fn new(current: &Zoned, today: jiff::civil::Date) -> Self {
        let text = dates::format_date_time(current.datetime(), today);
        Self { field: TextField::new(&text), selected: true, usual: current.time() }
    }

    /// Opens with what was typed before and not sent.
    pub(crate) fn with_text(self, text: &str) -> Self {
        if text.is_empty() {
            return self;
        }
        Self { field: TextField::new(text), selected: false, ..self }
    }

    /// What was typed; empty as long as that is nothing.
    pub(crate) fn typed(&self) -> &str {
        if self.selected { "" } else { self.field.text().trim() }
    }

    pub(crate) fn on_key(&mut self, event: &KeyEvent) {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let replaces =
            matches!(event.code, KeyCode::Char(_) | KeyCode::Backspace | KeyCode::Delete);
        if self.selected && replaces && !ctrl {
            self.field = TextField::default();
            self.selected = false;
            if !matches!(event.code, KeyCode::Char(_)) {
                return;
            }
        }
        self.selected = false;
        self.field.on_key(event);
    }

    pub(crate) fn on_paste(&mut self, text: &str) {
        if std::mem::take(&mut self.selected) {
            self.field = TextField::default();
        }
        self.field.on_paste(text);
    }

    /// The moment that is typed. `None` while it is no date, or as long as nothing was typed.
    pub(crate) fn read(&self, now: &Zoned) -> Option<Timestamp> {
        let typed = !self.selected && !self.field.text().trim().is_empty();
        let read = typed.then(|| parse_when(self.field.text(), now, self.usual)).flatten();
        read.map(|at| at.timestamp())
    }

    /// What was read, in words.
    pub(crate) fn describe(&self, now: &Zoned) -> String {
        if self.selected || self.field.text().trim().is_empty() {
            return "type now, tomorrow, next week, Fri 9:00 or +2h".to_owned();
        }
        match self.read(now) {
            Some(at) => {
                let at = at.to_zoned(now.time_zone().clone());
                format!("→ {}", dates::format_date_time(at.datetime(), now.date()))
            }
            None => NOT_A_TIME.to_owned(),
        }
    }

    /// Draws the field and what was read from it.
    pub(crate) fn draw(
        &self,
        area: Rect,
        now: &Zoned,
        (text, selection, dim): (Style, Style, Style),
        buf: &mut Buffer,
    ) {
        let width = area.width.min(26);
        let field = Rect { width, height: 1, ..area };
        if self.selected {
            ScreenLine::new(buf, field).put(self.field.text(), selection);
        } else {
            self.field.draw(field, text, buf);
        }
        let beside = Rect { x: field.right(), width: area.width - width, height: 1, ..area };
        ScreenLine::new(buf, beside).skip(1).put(&self.describe(now), dim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(input: &mut WhenInput, keys: &str) {
        for letter in keys.chars() {
            input.on_key(&KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
        }
    }

    #[test]
    fn typing_replaces_the_date_it_opens_with() {
        let now: Zoned = "2026-11-17T14:22[UTC]".parse().unwrap();
        let mut input = WhenInput::new(&now, now.date());
        assert_eq!((input.field.text(), input.read(&now)), ("Tue 17 Nov 14:22", None));
        press(&mut input, "tomorrow");
        assert_eq!(input.field.text(), "tomorrow");
        assert_eq!(input.describe(&now), "→ Wed 18 Nov 14:22");
        press(&mut input, " at noonish");
        assert_eq!((input.read(&now), input.describe(&now).as_str()), (None, NOT_A_TIME));
    }
}
