//! A line to type into, with the usual editing keys.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;
use tui_textarea::TextArea;

use planwright_text::{clean_line, clean_text, wrap_words};

/// The longest line a field takes.
const LIMIT: usize = 2_000;

/// What is said about pasted text that was cut.
pub(crate) fn cut_message(limit: usize) -> String {
    let limit = planwright_text::units::format_count(limit as u64);
    format!("the text was cut: at most {limit} characters fit here")
}

/// One line of text that is being typed.
#[derive(Clone, Debug)]
pub(crate) struct TextField {
    area: TextArea<'static>,
}

impl Default for TextField {
    fn default() -> Self {
        Self::new("")
    }
}

impl TextField {
    pub(crate) fn new(text: &str) -> Self {
        let mut area = TextArea::new(vec![clean_line(text).into_owned()]);
        area.set_cursor_line_style(Style::default());
        area.move_cursor(tui_textarea::CursorMove::End);
        Self { area }
    }

    /// Selects the whole text, so that typing replaces it.
    pub(crate) fn select_all(&mut self) {
        self.area.select_all();
    }

    pub(crate) fn text(&self) -> &str {
        self.area.lines().first().map_or("", String::as_str)
    }

    /// All lines, where the owner lets it have several.
    pub(crate) fn full_text(&self) -> String {
        self.area.lines().join("\n")
    }

    pub(crate) fn line_count(&self) -> usize {
        self.area.lines().len()
    }

    pub(crate) fn is_on_first_line(&self) -> bool {
        self.area.cursor().0 == 0
    }

    /// Begins another line.
    pub(crate) fn new_line(&mut self) {
        if self.full_text().chars().count() < LIMIT {
            self.area.insert_newline();
        }
    }

    /// Several lines, as an editor left them.
    pub(crate) fn from_lines(text: &str) -> Self {
        let text: String = clean_text(text.trim_end()).chars().take(LIMIT).collect();
        let mut area = TextArea::new(text.lines().map(str::to_owned).collect());
        area.set_cursor_line_style(Style::default());
        area.move_cursor(tui_textarea::CursorMove::Bottom);
        area.move_cursor(tui_textarea::CursorMove::End);
        Self { area }
    }

    /// Takes a key that the owner has no other use for. Says whether the text changed.
    pub(crate) fn on_key(&mut self, event: &KeyEvent) -> bool {
        if self.text().chars().count() >= LIMIT
            && matches!(event.code, crossterm::event::KeyCode::Char(_))
        {
            return false;
        }
        // A field has one line: the keys that would make another one are its owner's.
        let ctrl = event.modifiers.contains(crossterm::event::KeyModifiers::CONTROL);
        let new_line = matches!(event.code, crossterm::event::KeyCode::Enter)
            || ctrl && matches!(event.code, crossterm::event::KeyCode::Char('m' | 'j'));
        if ctrl && event.code == crossterm::event::KeyCode::Char('u') {
            return self.area.delete_line_by_head();
        }
        !new_line && self.area.input(*event)
    }

    pub(crate) fn on_paste(&mut self, text: &str) {
        let room = LIMIT.saturating_sub(self.text().chars().count());
        let line = clean_line(text).replace('\n', " ");
        self.area.insert_str(line.chars().take(room).collect::<String>());
    }

    /// What is said when a text does not fit as a whole.
    pub(crate) fn cut_message(&self, pasted: &str) -> Option<String> {
        let room = LIMIT.saturating_sub(self.text().chars().count());
        (pasted.chars().count() > room).then(|| cut_message(LIMIT))
    }

    /// How many rows the text takes where its lines are wrapped.
    pub(crate) fn wrapped_rows(&self, width: usize) -> usize {
        // The cursor stands behind the last word.
        let rows = |line: &String| wrap_words(&format!("{line}_"), width.max(1), 0).len().max(1);
        self.area.lines().iter().map(rows).sum()
    }

    /// Draws the text with its lines wrapped, so that the beginning of a long one stays in sight.
    pub(crate) fn draw_wrapped(&self, area: Rect, style: Style, buf: &mut Buffer) {
        let mut text = self.area.clone();
        text.set_wrap_mode(tui_textarea::WrapMode::Word);
        draw_text_area(text, area, style, buf);
    }

    pub(crate) fn draw(&self, area: Rect, style: Style, buf: &mut Buffer) {
        draw_text_area(self.area.clone(), area, style, buf);
    }
}

fn draw_text_area(mut text: TextArea<'_>, area: Rect, style: Style, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    text.set_style(style);
    text.set_cursor_style(Style::default().add_modifier(Modifier::REVERSED));
    text.set_selection_style(style.add_modifier(Modifier::REVERSED));
    (&text).render(area, buf);
}
