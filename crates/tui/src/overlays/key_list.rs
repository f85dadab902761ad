//! The keys of a screen that is not a session, in a list over it. Typing narrows it.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame::{OverlayRoom, draw_divider, draw_framed_area};
use crate::keymap::{KeyAction, Keymap};
use crate::theme::{Palette, ThemeRole};
use crate::widgets::{ScreenLine, TextField, styled_piece};

/// One key and what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyListRow {
    pub(crate) action: KeyAction,
    pub(crate) words: &'static str,
    /// Where it works, if not everywhere on the screen.
    pub(crate) note: &'static str,
    /// Whether it works where the list was opened.
    pub(crate) works: bool,
}

/// The open list.
#[derive(Clone, Debug)]
pub(crate) struct KeyListHelp {
    /// What the screen is called.
    screen_name: &'static str,
    rows: Vec<KeyListRow>,
    /// Words that narrow it.
    filter: TextField,
    /// The first row that is shown.
    top: usize,
}

/// What a key in the list led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyListOutcome {
    Stay,
    Close,
}

impl KeyListHelp {
    pub(crate) fn new(screen_name: &'static str, rows: Vec<KeyListRow>) -> Self {
        Self { screen_name, rows, filter: TextField::default(), top: 0 }
    }

    fn matching_rows(&self) -> Vec<&KeyListRow> {
        let words = self.filter.text().to_lowercase();
        let fits = |row: &&KeyListRow| {
            let name = row.words.to_lowercase();
            words.split_whitespace().all(|word| name.contains(word))
        };
        self.rows.iter().filter(fits).collect()
    }

    pub(crate) fn on_key(&mut self, event: &KeyEvent) -> KeyListOutcome {
        let empty = self.filter.text().is_empty();
        match event.code {
            KeyCode::Esc | KeyCode::Enter => return KeyListOutcome::Close,
            KeyCode::Char('?' | 'q') if empty => return KeyListOutcome::Close,
            KeyCode::Char('/') if empty => {}
            KeyCode::Down => self.top += 1,
            KeyCode::Up => self.top = self.top.saturating_sub(1),
            KeyCode::Char('j') if empty => self.top += 1,
            KeyCode::Char('k') if empty => self.top = self.top.saturating_sub(1),
            _ => {
                if self.filter.on_key(event) {
                    self.top = 0;
                }
            }
        }
        KeyListOutcome::Stay
    }

    pub(crate) fn on_paste(&mut self, text: &str) {
        self.filter.on_paste(text);
        self.top = 0;
    }

    pub(crate) fn draw(&self, screen: Rect, keymap: &Keymap, palette: &Palette, buf: &mut Buffer) {
        let found = self.matching_rows();
        let columns = if screen.width >= 80 { 2 } else { 1 };
        let rows = found.len().div_ceil(columns).max(1);
        let room = OverlayRoom { screen, header: 1 };
        let size = (100, rows as u16 + 4);
        let style = palette.style(ThemeRole::Focus);
        let inner = draw_framed_area(room, size, "help", "Esc close", style, buf);
        if inner.height < 3 {
            return;
        }
        self.draw_filter(inner, palette, buf);
        let room = usize::from(inner.height - 2);
        let top = self.top.min(rows.saturating_sub(room));
        let width = inner.width / columns as u16;
        for (line, y) in (top..rows).zip(inner.y + 2..inner.bottom()) {
            for column in 0..columns {
                let Some(row) = found.get(column * rows + line) else { continue };
                let x = inner.x + column as u16 * width;
                row.draw(Rect { x, y, width, height: 1 }, keymap, palette, buf);
            }
        }
        if found.is_empty() {
            let text = format!("No key for \"{}\"", self.filter.text().trim());
            let row = Rect { y: inner.y + 2, height: 1, ..inner };
            ScreenLine::new(buf, row).skip(1).put(&text, palette.style(ThemeRole::Warn));
        }
    }

    fn draw_filter(&self, inner: Rect, palette: &Palette, buf: &mut Buffer) {
        let dim = palette.style(ThemeRole::Dim);
        let row = Rect { height: 1, ..inner };
        let empty = self.filter.text().is_empty();
        let mut line = ScreenLine::new(buf, row);
        line.put_right(&[styled_piece(format!("{} ", self.screen_name), dim)]);
        line.skip(1).put("/", palette.style(ThemeRole::Key));
        if empty {
            line.skip(3).put("type to filter", dim);
        }
        let width = if empty { 1 } else { 40.min(inner.width.saturating_sub(3)) };
        let field = Rect { x: inner.x + 2, width, ..row };
        self.filter.draw(field, palette.style(ThemeRole::Text), buf);
        draw_divider(Rect { y: inner.y + 1, ..row }, palette.style(ThemeRole::Focus), buf);
    }
}

impl KeyListRow {
    fn draw(&self, row: Rect, keymap: &Keymap, palette: &Palette, buf: &mut Buffer) {
        let role = |role| if self.works { role } else { ThemeRole::Dim };
        let mut line = ScreenLine::new(buf, row);
        let key = keymap.key_hint(self.action);
        line.skip(1).put_column(&key, 10, palette.style(role(ThemeRole::Key)));
        line.put(self.words, palette.style(role(ThemeRole::Text)));
        if !self.note.is_empty() {
            line.put(&format!(", {}", self.note), palette.style(ThemeRole::Dim));
        }
    }
}
