//! Help and commands of the home screen, from the one table of actions.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::Home;
use super::keys::ACTIONS;
use crate::keymap::{Action, Entry, Place, TABLE};
use crate::theme::Role;
use crate::widgets::{Field, Line, frame, piece};

/// A list of actions over the screen.
pub(super) struct Overlay {
    /// Words that narrow it; help has none.
    filter: Option<Field>,
    selected: usize,
    /// Whether the keys of Today work where it was opened.
    today: bool,
}

/// What a key in it led to.
pub(super) enum Picked {
    Nothing,
    Close,
    Action(Action),
}

impl Overlay {
    pub(super) fn help(today: bool) -> Self {
        Self { filter: None, selected: 0, today }
    }

    pub(super) fn commands() -> Self {
        Self { filter: Some(Field::default()), selected: 0, today: true }
    }

    fn entries(&self) -> Vec<&'static Entry> {
        let words = self.filter.as_ref().map(|filter| filter.text().to_lowercase());
        let fits = |entry: &&Entry| {
            let name = format!("{} {}", words_of(entry), entry.name.replace('_', " "));
            words
                .as_deref()
                .is_none_or(|words| words.split_whitespace().all(|word| name.contains(word)))
        };
        // What one does comes before how one moves.
        let of = |action: &Action| TABLE.iter().find(|entry| entry.action == *action);
        ACTIONS.iter().filter_map(of).filter(fits).collect()
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> Picked {
        let last = self.entries().len().saturating_sub(1);
        match (event.code, &mut self.filter) {
            (KeyCode::Esc, _) | (KeyCode::Char('?' | 'q'), None) => return Picked::Close,
            (KeyCode::Down, _) => self.selected = (self.selected + 1).min(last),
            (KeyCode::Up, _) => self.selected = self.selected.saturating_sub(1),
            (KeyCode::Enter, Some(_)) => {
                let entries = self.entries();
                return entries
                    .get(self.selected)
                    .map_or(Picked::Nothing, |entry| Picked::Action(entry.action));
            }
            // Other words find other entries.
            (_, Some(filter)) => self.selected *= usize::from(!filter.on_key(event)),
            _ => {}
        }
        Picked::Nothing
    }
}

/// What an action does here; some have another word on this screen.
fn words_of(entry: &Entry) -> &'static str {
    match entry.action {
        Action::Open => "open, or start what is due",
        Action::Search => "filter the sessions",
        Action::FocusNext => "next pane",
        Action::Fork => "fork the session",
        Action::Start => "first",
        Action::Latest => "last",
        _ => entry.words,
    }
}

impl Home {
    pub(super) fn draw_overlay(&self, overlay: &Overlay, screen: Rect, buf: &mut Buffer) {
        let dim = self.style(Role::Dim);
        for cell in &mut buf.content {
            let style = Style { bg: None, ..dim };
            cell.set_style(style.remove_modifier(Modifier::BOLD | Modifier::ITALIC));
        }
        let entries = overlay.entries();
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
        super::draw::clear(area, buf);
        let style = self.style(Role::Focus);
        frame(buf, area, style);
        let (title, hint) = match overlay.filter {
            Some(_) => (" commands ", " Enter run  Esc close "),
            None => (" help · home ", " Esc close "),
        };
        let edge = |y: u16| Rect { x: area.x + 3, y, width: width - 6, height: 1 };
        Line::new(buf, edge(area.y)).put(title, style);
        let mut foot = Line::new(buf, edge(area.bottom() - 1));
        foot.right(&[piece(hint, style)]);
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
            Line::new(buf, Rect { height: 1, ..inner }).put(": ", self.style(Role::Key));
            let field = Rect { x: inner.x + 2, width: inner.width - 2, height: 1, ..inner };
            filter.draw(field, self.style(Role::Text), buf);
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
                    buf.set_style(row, self.style(Role::Selection));
                }
                let works = overlay.today || entry.place != Place::Today;
                let role = |role| if works { role } else { Role::Dim };
                let mut line = Line::new(buf, row);
                line.column(&self.keymap.key(entry.action), 10, self.style(role(Role::Key)));
                line.put(words_of(entry), self.style(role(Role::Text)));
                if entry.place == Place::Today {
                    line.put(", in today", self.style(Role::Dim));
                }
            }
        }
    }
}
