//! Clicks on what looks like a button: a key that is drawn in a footer, a card or the frame of an overlay is pressed, a
//! row of a list is selected, a dial is turned. Keys that say yes are left to the keyboard.
//!
//! What is under the pointer is read from the frame itself, drawn once more for the click: no pane has to keep the
//! places of its words, and whatever shows a key can be clicked.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::{Modifier, Style};

use super::{ScreenEffect, SessionScreen};
use crate::action_situation::is_yes;
use crate::keymap::KeyChord;
use crate::overlays::Overlay;
use crate::theme::ThemeRole;
use planwright_state::replay::RecordSourceError;

/// How many rows a click may be away from the selected one.
const MOST_STEPS: usize = 60;

/// A run of characters between gaps of two spaces.
struct RowEntry {
    start: usize,
    text: Vec<char>,
}

impl SessionScreen {
    /// The frame as it is on the screen.
    fn current_frame(&mut self) -> Result<Buffer, RecordSourceError> {
        let mut buf = Buffer::empty(self.size);
        self.draw(&mut buf)?;
        Ok(buf)
    }

    /// Presses the key that is drawn under the pointer, unless it says yes.
    pub(super) fn press_key_at(
        &mut self,
        at: Position,
    ) -> Result<Option<ScreenEffect>, RecordSourceError> {
        let panes = [self.areas.footer, self.areas.approval];
        if self.ui.overlay.is_none() && !panes.iter().any(|area| area.contains(at)) {
            return Ok(None);
        }
        let frame = self.current_frame()?;
        if !frame.area.contains(at) {
            return Ok(None);
        }
        let key_style = self.palette.style(ThemeRole::Key);
        let styles = [key_style, self.palette.style(ThemeRole::Focus)];
        // The frame of an overlay names its keys in its own color.
        let styles = if self.ui.overlay.is_some() { &styles[..] } else { &styles[..1] };
        let Some(key) = key_at(&frame, at, styles) else { return Ok(None) };
        if self.is_yes_key(key) {
            return Ok(None);
        }
        self.press_chord(key).map(Some)
    }

    fn is_yes_key(&self, key: KeyChord) -> bool {
        match &self.ui.overlay {
            Some(overlay) if overlay.asks_yes() => key.code != KeyCode::Esc,
            Some(_) => false,
            None => self.ui.composer.is_none() && self.action_of_key(key).is_some_and(is_yes),
        }
    }

    fn press_chord(&mut self, key: KeyChord) -> Result<ScreenEffect, RecordSourceError> {
        let modifiers = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        self.on_key(&KeyEvent::new(key.code, modifiers))
    }

    fn press_code(&mut self, code: KeyCode) -> Result<ScreenEffect, RecordSourceError> {
        self.press_chord(KeyChord::without_modifiers(code))
    }

    /// The mouse over a text box or an overlay: the wheel scrolls it, a click presses a key or selects a row.
    pub(super) fn on_overlay_mouse(
        &mut self,
        kind: MouseEventKind,
        at: Position,
    ) -> Result<ScreenEffect, RecordSourceError> {
        match kind {
            MouseEventKind::ScrollUp if self.ui.overlay.is_some() => self.press_code(KeyCode::Up),
            MouseEventKind::ScrollDown if self.ui.overlay.is_some() => {
                self.press_code(KeyCode::Down)
            }
            MouseEventKind::Down(MouseButton::Left) => match self.press_key_at(at)? {
                Some(flow) => Ok(flow),
                None if self.ui.overlay.is_some() => self.click_overlay_row(at),
                None => Ok(ScreenEffect::Idle),
            },
            _ => Ok(ScreenEffect::Idle),
        }
    }

    /// Selects the row of an overlay under the pointer; a second click opens it, and the ends of a dial turn it.
    fn click_overlay_row(&mut self, at: Position) -> Result<ScreenEffect, RecordSourceError> {
        let mut frame = self.current_frame()?;
        if !frame.area.contains(at) || !is_inside_frame(&frame, at) {
            return Ok(ScreenEffect::Idle);
        }
        let symbol = frame[at].symbol().to_owned();
        let before = self.selected_row(&frame);
        for _ in 0..MOST_STEPS {
            let row = self.selected_row(&frame);
            let code = match row {
                Some(row) if row == at.y => break,
                Some(row) if row > at.y => KeyCode::Up,
                _ => KeyCode::Down,
            };
            self.press_code(code)?;
            frame = self.current_frame()?;
            // At the end of the list there is nothing more to go to.
            if self.selected_row(&frame) == row {
                break;
            }
        }
        match symbol.as_str() {
            "‹" => self.press_code(KeyCode::Left),
            "›" => self.press_code(KeyCode::Right),
            _ if before == Some(at.y) && self.opens_on_second_click() => {
                self.press_code(KeyCode::Enter)
            }
            _ => Ok(ScreenEffect::Draw),
        }
    }

    fn opens_on_second_click(&self) -> bool {
        matches!(
            self.ui.overlay,
            Some(Overlay::Palette(_) | Overlay::Nodes(_) | Overlay::Settings(_))
        )
    }

    /// The row that the overlay draws as selected.
    fn selected_row(&self, frame: &Buffer) -> Option<u16> {
        let selection = self.palette.style(ThemeRole::Selection);
        let is_selected = |at: Position| match selection.bg {
            Some(bg) => frame[at].bg == bg,
            None => frame[at].modifier.contains(Modifier::REVERSED),
        };
        (frame.area.y..frame.area.bottom()).find(|y| {
            // A cursor in a text box is one cell; a selected row is wide.
            let row = (frame.area.x..frame.area.right()).filter(|x| is_selected((*x, *y).into()));
            row.count() > 8
        })
    }
}

/// Whether a cell is between the sides of an overlay.
fn is_inside_frame(frame: &Buffer, at: Position) -> bool {
    let side = |x: u16| matches!(frame[(x, at.y)].symbol(), "│" | "|");
    (frame.area.x..at.x).any(side) && (at.x + 1..frame.area.right()).any(side)
}

/// The key that is drawn at a cell, or in front of the words at it.
fn key_at(frame: &Buffer, at: Position, styles: &[Style]) -> Option<KeyChord> {
    let entries = row_entries(frame, at.y);
    let column = usize::from(at.x - frame.area.x);
    let index = entries
        .iter()
        .position(|entry| (entry.start..entry.start + entry.text.len()).contains(&column))?;
    let is_key_style = |start: usize| {
        let cell = &frame[(frame.area.x + start as u16, at.y)];
        styles.iter().any(|style| {
            style.fg.is_none_or(|fg| fg == cell.fg) && cell.modifier == style.add_modifier
        })
    };
    let keys = |entry: &RowEntry| {
        let found = leading_keys(entry);
        let first = found.first().map(|(start, _)| *start);
        first.filter(|start| is_key_style(*start)).map(|_| found)
    };
    let found = match keys(&entries[index]) {
        Some(found) => found,
        // A label beside its key, a column apart.
        None => {
            let before = entries.get(index.checked_sub(1)?)?;
            let near = entries[index].start - (before.start + before.text.len()) <= 6;
            let found = keys(before).filter(|_| near)?;
            let alone = found.len() == words(before).count();
            Some(found).filter(|_| alone)?
        }
    };
    let under = found.iter().rev().find(|(start, _)| *start <= column);
    let single = found
        .iter()
        .any(|(start, key)| (*start..*start + key.to_string().chars().count()).contains(&column));
    let chosen = if single { under } else { found.first() };
    chosen.map(|(_, key)| *key)
}

fn words(entry: &RowEntry) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut at = entry.start;
    entry.text.split(|letter| *letter == ' ').map(move |word| {
        let start = at;
        at += word.len() + 1;
        (start, word.iter().collect())
    })
}

/// The keys that an entry begins with, before the first word that is not one, and where they stand.
fn leading_keys(entry: &RowEntry) -> Vec<(usize, KeyChord)> {
    let keys = words(entry).map_while(|(start, word)| Some((start, KeyChord::parse(&word)?)));
    keys.collect()
}

/// What stands in a row, apart by two spaces or by the lines of a frame.
fn row_entries(frame: &Buffer, y: u16) -> Vec<RowEntry> {
    let letters: Vec<char> = (frame.area.x..frame.area.right())
        .map(|x| frame[(x, y)].symbol().chars().next().unwrap_or(' '))
        .map(|letter| if ('\u{2500}'..='\u{257f}').contains(&letter) { ' ' } else { letter })
        .collect();
    let mut entries: Vec<RowEntry> = Vec::new();
    let mut blanks = 2;
    for (index, letter) in letters.into_iter().enumerate() {
        if letter == ' ' {
            blanks += 1;
            continue;
        }
        match entries.last_mut().filter(|_| blanks < 2) {
            Some(entry) => {
                entry.text.extend(std::iter::repeat_n(' ', blanks));
                entry.text.push(letter);
            }
            None => entries.push(RowEntry { start: index, text: vec![letter] }),
        }
        blanks = 0;
    }
    entries
}
