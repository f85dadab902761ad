//! The palette: type a few letters of an action, Enter does it.

use crossterm::event::{KeyCode, KeyEvent};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Outcome, frame};
use crate::context::PaneContext;
use crate::keymap::Action;
use crate::theme::Role;
use crate::widgets::{Field, Line, piece};

/// One action in the palette.
#[derive(Clone, Debug)]
pub(crate) struct PaletteItem {
    pub(crate) action: Action,
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
pub(crate) struct Palette {
    field: Field,
    items: Vec<PaletteItem>,
    /// The items that match, best first.
    found: Vec<usize>,
    cursor: usize,
}

impl Palette {
    /// All actions, those used last at the top, those that move the cursor and those that can do nothing at the end.
    pub(crate) fn new(mut items: Vec<PaletteItem>, recent: &[Action]) -> Self {
        items.sort_by_key(|item| {
            let used = recent.iter().position(|used| *used == item.action);
            (used.unwrap_or(usize::MAX), item.impossible.is_some(), item.moves)
        });
        let found = (0..items.len()).collect();
        Self { field: Field::default(), items, found, cursor: 0 }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> Outcome {
        match event.code {
            KeyCode::Esc => return Outcome::Close,
            KeyCode::Up => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Down => {
                self.cursor = (self.cursor + 1).min(self.found.len().saturating_sub(1));
            }
            KeyCode::Tab => {
                if let Some(item) = self.current() {
                    self.field = Field::new(item.words);
                    self.narrow();
                }
            }
            KeyCode::Enter => {
                return match self.current() {
                    Some(item) if item.impossible.is_none() => Outcome::Run(item.action),
                    _ => Outcome::Stay,
                };
            }
            _ => {
                if self.field.on_key(event) {
                    self.narrow();
                }
            }
        }
        Outcome::Stay
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.field.on_paste(text);
        self.narrow();
    }

    fn current(&self) -> Option<&PaletteItem> {
        self.found.get(self.cursor).map(|index| &self.items[*index])
    }

    /// Keeps what matches, best first; equal ones stay in the order of last use.
    fn narrow(&mut self) {
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
        let inner = frame::draw(screen, (100, height), "commands", hint, buf, cx);
        if inner.height < 3 {
            return;
        }
        let row = |y: u16| Rect { y: inner.y + y, height: 1, ..inner };
        Line::new(buf, row(0)).skip(1).put(": ", cx.style(Role::Key));
        let typed = Rect { x: inner.x + 3, width: inner.width.saturating_sub(4), ..row(0) };
        self.field.draw(typed, cx.style(Role::Text), buf);
        frame::divider(row(1), buf, cx);
        let room = usize::from(inner.height - 2);
        let top = (self.cursor + 1).saturating_sub(room);
        for (place, index) in self.found.iter().enumerate().skip(top).take(room) {
            let area = row(2 + (place - top) as u16);
            if place == self.cursor {
                buf.set_style(area, cx.style(Role::Selection));
            }
            draw_item(&self.items[*index], place == self.cursor, area, buf, cx);
        }
        let count = format!("{} of {}", self.found.len(), self.items.len());
        frame::note(inner, &count, buf, cx);
    }
}

fn draw_item(item: &PaletteItem, under: bool, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(Role::Dim);
    let possible = item.impossible.is_none();
    let own = |role| if possible { cx.style(role) } else { dim };
    let mut line = Line::new(buf, area);
    line.right(&[piece(item.keys.clone(), own(Role::Key)), piece("  ", dim)]);
    line.skip(1).put(if under { "► " } else { "  " }, cx.style(Role::Focus));
    line.column(item.words, 30, own(Role::Text)).skip(2);
    match &item.impossible {
        Some(why) => line.put(&format!("no effect here: {why}"), dim),
        None => line.put(&item.detail, dim),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(action: Action, words: &'static str) -> PaletteItem {
        let (keys, detail) = (String::new(), String::new());
        PaletteItem { action, words, keys, detail, moves: false, impossible: None }
    }

    fn palette(recent: &[Action]) -> Palette {
        let items = vec![
            item(Action::Retry, "retry"),
            item(Action::RetryWithDependents, "retry with dependents"),
            item(Action::Live, "return to live"),
            item(Action::Zoom, "zoom"),
        ];
        Palette::new(items, recent)
    }

    fn typed(palette: &mut Palette, text: &str) -> Vec<&'static str> {
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
        let palette = palette(&[Action::Zoom, Action::Live]);
        assert_eq!(palette.current().unwrap().action, Action::Zoom);
        assert_eq!(palette.items[1].action, Action::Live);
    }

    #[test]
    fn what_is_impossible_does_nothing() {
        let mut palette = palette(&[]);
        palette.items[0].impossible = Some("nothing failed".into());
        let enter = KeyEvent::from(KeyCode::Enter);
        assert!(matches!(palette.on_key(&enter), Outcome::Stay));
        palette.on_key(&KeyEvent::from(KeyCode::Down));
        assert!(matches!(palette.on_key(&enter), Outcome::Run(Action::RetryWithDependents)));
    }
}
