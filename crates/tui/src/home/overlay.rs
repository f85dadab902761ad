//! Help and commands of the home screen, from the one table of actions.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::HomeScreen;
use super::keys::ACTIONS;
use crate::keymap::{ActionEntry, KeyAction, KeyContext, TABLE};
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, TextField, draw_frame, styled_piece};

/// A list of actions over the screen.
pub(super) struct HomeOverlay {
    /// Words that narrow it; help has none.
    filter: Option<TextField>,
    selected: usize,
    /// Whether the keys of Today work where it was opened.
    today: bool,
}

/// What a key in it led to.
pub(super) enum HomeOverlayOutcome {
    Nothing,
    Close,
    Action(KeyAction),
}

impl HomeOverlay {
    pub(super) fn new_help(today: bool) -> Self {
        Self { filter: None, selected: 0, today }
    }

    pub(super) fn new_commands() -> Self {
        Self { filter: Some(TextField::default()), selected: 0, today: true }
    }

    fn matching_entries(&self) -> Vec<&'static ActionEntry> {
        let words = self.filter.as_ref().map(|filter| filter.text().to_lowercase());
        let fits = |entry: &&ActionEntry| {
            let name = format!("{} {}", action_text(entry), entry.name.replace('_', " "));
            words
                .as_deref()
                .is_none_or(|words| words.split_whitespace().all(|word| name.contains(word)))
        };
        // What one does comes before how one moves.
        let of = |action: &KeyAction| TABLE.iter().find(|entry| entry.action == *action);
        ACTIONS.iter().filter_map(of).filter(fits).collect()
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> HomeOverlayOutcome {
        let last = self.matching_entries().len().saturating_sub(1);
        match (event.code, &mut self.filter) {
            (KeyCode::Esc, _) | (KeyCode::Char('?' | 'q'), None) => {
                return HomeOverlayOutcome::Close;
            }
            (KeyCode::Down, _) => self.selected = (self.selected + 1).min(last),
            (KeyCode::Up, _) => self.selected = self.selected.saturating_sub(1),
            (KeyCode::Enter, Some(_)) => {
                let entries = self.matching_entries();
                return entries.get(self.selected).map_or(HomeOverlayOutcome::Nothing, |entry| {
                    HomeOverlayOutcome::Action(entry.action)
                });
            }
            // Other words find other entries.
            (_, Some(filter)) => self.selected *= usize::from(!filter.on_key(event)),
            _ => {}
        }
        HomeOverlayOutcome::Nothing
    }
}

/// What an action does here; some have another word on this screen.
fn action_text(entry: &ActionEntry) -> &'static str {
    match entry.action {
        KeyAction::Search => "find a plan, or search all steps",
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
        let head = if overlay.filter.is_some() { 2 } else { 0 };
        let width = screen.width.min(84);
        // Help has room for two columns; a list to pick from has one.
        let columns = if overlay.filter.is_none() && width >= 60 { 2 } else { 1 };
        let rows = ACTIONS.len().div_ceil(columns);
        let height = (rows as u16 + 2 + head).min(screen.height.saturating_sub(1));
        if width < 20 || height < 4 {
            return;
        }
        let x = screen.x + (screen.width - width) / 2;
        let area = Rect { x, y: screen.y + 1, width, height };
        super::draw::clear_area(area, buf);
        let style = self.style(ThemeRole::Focus);
        draw_frame(buf, area, style);
        let (title, hint) = match overlay.filter {
            Some(_) => (" commands ", " Enter run  Esc close "),
            None => (" help · home ", " Esc close "),
        };
        let edge = |y: u16| Rect { x: area.x + 3, y, width: width - 6, height: 1 };
        ScreenLine::new(buf, edge(area.y)).put(title, style);
        let mut foot = ScreenLine::new(buf, edge(area.bottom() - 1));
        foot.put_right(&[styled_piece(hint, style)]);
        if overlay.filter.is_some() {
            foot.put(&format!(" {} of {} ", entries.len(), ACTIONS.len()), style);
        }
        let mut inner = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: width.saturating_sub(4),
            height: height - 2,
        };
        if let Some(filter) = &overlay.filter {
            ScreenLine::new(buf, Rect { height: 1, ..inner }).put(": ", self.style(ThemeRole::Key));
            let field = Rect { x: inner.x + 2, width: inner.width - 2, height: 1, ..inner };
            filter.draw(field, self.style(ThemeRole::Text), buf);
            inner.y += head;
            inner.height -= head;
        }
        let top = (overlay.selected + 1).saturating_sub(usize::from(inner.height));
        let wide = inner.width / columns as u16;
        for (line, y) in (top..rows).zip(inner.y..inner.bottom()) {
            for column in 0..columns {
                let index = column * rows + line;
                let Some(entry) = entries.get(index) else { continue };
                let x = inner.x + column as u16 * wide;
                let row = Rect { x, y, width: wide, height: 1 };
                if overlay.filter.is_some() && index == overlay.selected {
                    buf.set_style(row, self.style(ThemeRole::Selection));
                }
                let works = overlay.today || entry.place != KeyContext::Today;
                let role = |role| if works { role } else { ThemeRole::Dim };
                let mut line = ScreenLine::new(buf, row);
                line.put_column(
                    &self.keymap.key_hint(entry.action),
                    10,
                    self.style(role(ThemeRole::Key)),
                );
                line.put(action_text(entry), self.style(role(ThemeRole::Text)));
                if entry.place == KeyContext::Today {
                    line.put(", in today", self.style(ThemeRole::Dim));
                }
            }
        }
    }
}
