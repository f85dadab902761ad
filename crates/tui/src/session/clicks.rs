//! Clicks on what looks like a button: a key that is drawn in a footer, a card or the frame of an overlay is pressed, a
//! row of a list is selected, a dial is turned. Keys that say yes are left to the keyboard.
//!
//! What is under the pointer is read from the frame itself, drawn once more for the click: no pane has to keep the
//! places of its words, and whatever shows a key can be clicked.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::Modifier;

use super::{ScreenEffect, SessionScreen};
use crate::action_situation::is_yes;
use crate::frame_keys::key_at;
use crate::keymap::KeyChord;
use crate::overlays::Overlay;
use crate::theme::ThemeRole;
use planwright_state::replay::RecordSourceError;

/// How many rows a click may be away from the selected one.
const MOST_STEPS: usize = 60;

impl SessionScreen {
    /// The frame as it is on the screen.
    pub(super) fn current_frame(&mut self) -> Result<Buffer, RecordSourceError> {
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
            Some(
                Overlay::Palette(_) | Overlay::Nodes(_) | Overlay::Lines(_) | Overlay::Settings(_)
            )
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
