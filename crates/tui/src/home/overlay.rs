//! Help of the home screen, from the one table of actions. Typing narrows it.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::HomeScreen;
use super::keys::ACTIONS;
use crate::keymap::{ActionEntry, KeyAction, KeyContext, TABLE};
use crate::overlays::OverlayRoom;
use crate::overlays::frame::{draw_divider, draw_framed_area};
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, TextField, styled_piece};

/// The keys of the home screen, over it.
pub(super) struct HomeOverlay {
    /// Words that narrow it.
    filter: TextField,
    /// The first row that is shown.
    top: usize,
    /// Whether the keys of Today work where it was opened.
    today: bool,
}

/// What a key in it led to.
pub(super) enum HomeOverlayOutcome {
    Stay,
    Close,
}

impl HomeOverlay {
    pub(super) fn new_help(today: bool) -> Self {
        Self { filter: TextField::default(), top: 0, today }
    }

    fn matching_entries(&self) -> Vec<&'static ActionEntry> {
        let words = self.filter.text().to_lowercase();
        let fits = |entry: &&ActionEntry| {
            let name = action_text(entry).to_lowercase();
            words.split_whitespace().all(|word| name.contains(word))
        };
        // What one does comes before how one moves.
        let of = |action: &KeyAction| TABLE.iter().find(|entry| entry.action == *action);
        ACTIONS.iter().filter_map(of).filter(fits).collect()
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> HomeOverlayOutcome {
        let empty = self.filter.text().is_empty();
        match event.code {
            KeyCode::Esc | KeyCode::Enter => return HomeOverlayOutcome::Close,
            KeyCode::Char('?' | 'q') if empty => return HomeOverlayOutcome::Close,
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
        HomeOverlayOutcome::Stay
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.filter.on_paste(text);
        self.top = 0;
    }
}

/// What an action does here; some have another word on this screen.
pub(super) fn action_text(entry: &ActionEntry) -> &'static str {
    match entry.action {
        KeyAction::Search => "find a plan or a step",
        KeyAction::Comment => "note for the task",
        KeyAction::FocusNext => "next pane",
        KeyAction::Fork => "fork the run",
        KeyAction::Start => "first",
        KeyAction::Latest => "last",
        _ => entry.words,
    }
}

impl HomeScreen {
    pub(super) fn draw_overlay(&self, overlay: &HomeOverlay, screen: Rect, buf: &mut Buffer) {
        let entries = overlay.matching_entries();
        let columns = if screen.width >= 80 { 2 } else { 1 };
        let rows = entries.len().div_ceil(columns).max(1);
        let style = self.style(ThemeRole::Focus);
        let room = OverlayRoom { screen, header: 1 };
        let size = (100, rows as u16 + 4);
        let inner = draw_framed_area(room, size, "help", "Esc close", style, buf);
        if inner.height < 3 {
            return;
        }
        self.draw_help_filter(overlay, inner, buf);
        let room = usize::from(inner.height - 2);
        let top = overlay.top.min(rows.saturating_sub(room));
        let width = inner.width / columns as u16;
        for (line, y) in (top..rows).zip(inner.y + 2..inner.bottom()) {
            for column in 0..columns {
                let Some(entry) = entries.get(column * rows + line) else { continue };
                let x = inner.x + column as u16 * width;
                self.draw_help_entry(entry, overlay.today, Rect { x, y, width, height: 1 }, buf);
            }
        }
        if entries.is_empty() {
            let text = format!("No key for \"{}\"", overlay.filter.text().trim());
            let row = Rect { y: inner.y + 2, height: 1, ..inner };
            ScreenLine::new(buf, row).skip(1).put(&text, self.style(ThemeRole::Warn));
        }
    }

    fn draw_help_filter(&self, overlay: &HomeOverlay, inner: Rect, buf: &mut Buffer) {
        let dim = self.style(ThemeRole::Dim);
        let row = Rect { height: 1, ..inner };
        let empty = overlay.filter.text().is_empty();
        let mut line = ScreenLine::new(buf, row);
        line.put_right(&[styled_piece("home ", dim)]);
        line.skip(1).put("/", self.style(ThemeRole::Key));
        if empty {
            line.skip(3).put("type to filter", dim);
        }
        let width = if empty { 1 } else { 40.min(inner.width.saturating_sub(3)) };
        let field = Rect { x: inner.x + 2, width, ..row };
        overlay.filter.draw(field, self.style(ThemeRole::Text), buf);
        draw_divider(Rect { y: inner.y + 1, ..row }, self.style(ThemeRole::Focus), buf);
    }

    fn draw_help_entry(&self, entry: &ActionEntry, today: bool, row: Rect, buf: &mut Buffer) {
        let works = today || entry.place != KeyContext::Today;
        let role = |role| if works { role } else { ThemeRole::Dim };
        let mut line = ScreenLine::new(buf, row);
        let key = self.keymap.key_hint(entry.action);
        line.skip(1).put_column(&key, 10, self.style(role(ThemeRole::Key)));
        line.put(action_text(entry), self.style(role(ThemeRole::Text)));
        if entry.place == KeyContext::Today {
            line.put(", in today", self.style(ThemeRole::Dim));
        }
    }
}
