//! The palette: type a few letters of an action, Enter does it.

use crossterm::event::{KeyCode, KeyEvent};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{OverlayOutcome, frame};
use crate::keymap::KeyAction;
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, TextField, styled_piece};

/// One action in the palette.
#[derive(Clone, Debug)]
pub(crate) struct PaletteItem {
    pub(crate) action: KeyAction,
    pub(crate) words: &'static str,
    pub(crate) keys: String,
    /// What it would be about.
    pub(crate) detail: String,
    /// Whether it only moves the cursor or the focus, which nobody looks up.
    pub(crate) moves: bool,
    /// Why it can do nothing here; the row stays, dim.
    pub(crate) impossible: Option<String>,
}

/// The open palette.
#[derive(Clone, Debug)]
pub(crate) struct CommandPalette {
    field: TextField,
    items: Vec<PaletteItem>,
    /// The items that match, best first.
    found: Vec<usize>,
    cursor: usize,
}

impl CommandPalette {
    /// All actions, those used last at the top, those that move the cursor and those that can do nothing at the end.
    pub(crate) fn new(mut items: Vec<PaletteItem>, recent: &[KeyAction]) -> Self {
        items.sort_by_key(|item| {
            let used = recent.iter().position(|used| *used == item.action);
            (used.unwrap_or(usize::MAX), item.impossible.is_some(), item.moves)
        });
        let found = (0..items.len()).collect();
        Self { field: TextField::default(), items, found, cursor: 0 }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> OverlayOutcome {
        match event.code {
            KeyCode::Esc => return OverlayOutcome::Close,
            KeyCode::Up => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Down => {
                self.cursor = (self.cursor + 1).min(self.found.len().saturating_sub(1));
            }
            KeyCode::Tab => {
                if let Some(item) = self.current_item() {
                    self.field = TextField::new(item.words);
                    self.filter_items();
                }
            }
            KeyCode::Enter => {
                return match self.current_item() {
                    Some(item) if item.impossible.is_none() => OverlayOutcome::Run(item.action),
                    _ => OverlayOutcome::Stay,
                };
            }
            _ => {
                if self.field.on_key(event) {
                    self.filter_items();
                }
            }
        }
        OverlayOutcome::Stay
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.field.on_paste(text);
        self.filter_items();
    }

    fn current_item(&self) -> Option<&PaletteItem> {
        self.found.get(self.cursor).map(|index| &self.items[*index])
    }

    /// Keeps what matches, best first; equal ones stay in the order of last use.
    fn filter_items(&mut self) {
        let pattern = Pattern::parse(self.field.text(), CaseMatching::Ignore, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut letters = Vec::new();
        let mut scored: Vec<(u32, usize)> = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            let text = format!("{} {}", item.words, item.detail);
            if let Some(score) = pattern.score(Utf32Str::new(&text, &mut letters), &mut matcher) {
                scored.push((score, index));
            }
        }
        scored.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
        self.found = scored.into_iter().map(|(_, index)| index).collect();
        self.cursor = 0;
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let height = (self.items.len() as u16).saturating_add(4).min(18);
        let hint = "Enter run  Tab fill  Esc close";
        let inner = frame::draw_overlay_frame(screen, (100, height), "commands", hint, buf, cx);
        if inner.height < 3 {
            return;
        }
        let row = |y: u16| Rect { y: inner.y + y, height: 1, ..inner };
        ScreenLine::new(buf, row(0)).skip(1).put(": ", cx.style(ThemeRole::Key));
        let typed = Rect { x: inner.x + 3, width: inner.width.saturating_sub(4), ..row(0) };
        self.field.draw(typed, cx.style(ThemeRole::Text), buf);
        frame::draw_frame_divider(row(1), buf, cx);
        let room = usize::from(inner.height - 2);
        let top = (self.cursor + 1).saturating_sub(room);
        for (place, index) in self.found.iter().enumerate().skip(top).take(room) {
            let area = row(2 + (place - top) as u16);
            if place == self.cursor {
                buf.set_style(area, cx.style(ThemeRole::Selection));
            }
            draw_item(&self.items[*index], place == self.cursor, area, buf, cx);
        }
        let count = format!("{} of {}", self.found.len(), self.items.len());
        frame::draw_frame_note(inner, &count, buf, cx);
    }
}

fn draw_item(item: &PaletteItem, under: bool, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    let possible = item.impossible.is_none();
    let own = |role| if possible { cx.style(role) } else { dim };
    let mut line = ScreenLine::new(buf, area);
    line.put_right(&[
        styled_piece(item.keys.clone(), own(ThemeRole::Key)),
        styled_piece("  ", dim),
    ]);
    line.skip(1).put(if under { "► " } else { "  " }, cx.style(ThemeRole::Focus));
    line.put_column(item.words, 30, own(ThemeRole::Text)).skip(2);
    match &item.impossible {
        Some(why) => line.put(&format!("no effect here: {why}"), dim),
        None => line.put(&item.detail, dim),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(action: KeyAction, words: &'static str) -> PaletteItem {
        let (keys, detail) = (String::new(), String::new());
        PaletteItem { action, words, keys, detail, moves: false, impossible: None }
    }

    fn palette(recent: &[KeyAction]) -> CommandPalette {
        let items = vec![
            item(KeyAction::Retry, "retry"),
            item(KeyAction::RetryWithDependents, "retry with dependents"),
            item(KeyAction::Live, "return to live"),
            item(KeyAction::Zoom, "zoom"),
        ];
        CommandPalette::new(items, recent)
    }

    fn typed(palette: &mut CommandPalette, text: &str) -> Vec<&'static str> {
        for letter in text.chars() {
            palette.on_key(&KeyEvent::from(KeyCode::Char(letter)));
        }
        palette.found.iter().map(|index| palette.items[*index].words).collect()
    }

    #[test]
    fn words_match_anywhere_best_first() {
        assert_eq!(
            typed(&mut palette(&[]), "ret"),
            ["retry", "retry with dependents", "return to live"]
        );
        assert_eq!(typed(&mut palette(&[]), "live"), ["return to live"]);
        assert_eq!(typed(&mut palette(&[]), "dep ret"), ["retry with dependents"]);
        assert!(typed(&mut palette(&[]), "xyz").is_empty());
    }

    #[test]
    fn what_was_used_last_stands_first() {
        let palette = palette(&[KeyAction::Zoom, KeyAction::Live]);
        assert_eq!(palette.current_item().unwrap().action, KeyAction::Zoom);
        assert_eq!(palette.items[1].action, KeyAction::Live);
    }

    #[test]
    fn what_is_impossible_does_nothing() {
        let mut palette = palette(&[]);
        palette.items[0].impossible = Some("nothing failed".into());
        let enter = KeyEvent::from(KeyCode::Enter);
        assert!(matches!(palette.on_key(&enter), OverlayOutcome::Stay));
        palette.on_key(&KeyEvent::from(KeyCode::Down));
        assert!(matches!(
            palette.on_key(&enter),
            OverlayOutcome::Run(KeyAction::RetryWithDependents)
        ));
    }
}
