//! The commands: every verb with its key, those used last first. Words match anywhere; what cannot be done now stays, dim,
//! with the reason.

use std::cmp::Reverse;

use crossterm::event::{KeyCode, KeyEvent};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame::{OverlayRoom, draw_divider, draw_framed_area, draw_note};
use crate::SessionExport;
use crate::keymap::KeyAction;
use crate::theme::{Palette, ThemeRole};
use crate::widgets::{ScreenLine, TextField, styled_piece};

/// The form in which a screen is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewFormat {
    Text,
    Svg,
}

impl ViewFormat {
    /// How the name of its file ends.
    pub fn file_ending(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Svg => "svg",
        }
    }
}

/// What a row of the commands does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PaletteCommand {
    /// What its key does.
    Action(KeyAction),
    Export(SessionExport),
    UseTheme(String),
    Settings,
    /// What the confidence of the plan is made of.
    ExplainConfidence,
    /// Why a task was skipped: the card of the first one.
    ExplainSkip,
    /// What is on the screen.
    ExportView(ViewFormat),
}

/// One command.
#[derive(Clone, Debug)]
pub(crate) struct PaletteItem {
    pub(crate) command: PaletteCommand,
    pub(crate) title: String,
    pub(crate) keys: String,
    /// What it would be about.
    pub(crate) detail: String,
    /// Whether it only moves the cursor or the focus, which nobody looks up.
    pub(crate) moves: bool,
    /// Why it can do nothing here; the row stays, dim.
    pub(crate) impossible: Option<String>,
}

impl PaletteItem {
    /// The command of a key, in sentence case.
    pub(crate) fn from_action(action: KeyAction, words: &str, keys: String) -> Self {
        let mut title = words.to_owned();
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let command = PaletteCommand::Action(action);
        Self { command, title, keys, detail: String::new(), moves: false, impossible: None }
    }

    /// A command without a key.
    pub(crate) fn from_words(command: PaletteCommand, title: &str, detail: &str) -> Self {
        Self {
            command,
            title: title.to_owned(),
            keys: String::new(),
            detail: detail.to_owned(),
            moves: false,
            impossible: None,
        }
    }
}

/// What a key in the commands led to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PaletteOutcome {
    Stay,
    Close,
    Run(PaletteCommand),
    /// No command has these words; they are searched for instead.
    Search(String),
}

/// The open commands.
#[derive(Clone, Debug)]
pub(crate) struct CommandPalette {
    field: TextField,
    items: Vec<PaletteItem>,
    /// How many of the items, from the top, were used lately.
    recent: usize,
    /// The items that match, best first.
    found: Vec<usize>,
    cursor: usize,
}

impl CommandPalette {
    /// All commands, those used last at the top, those that move the cursor and those that can do nothing at the end.
    pub(crate) fn new(mut items: Vec<PaletteItem>, used: &[PaletteCommand]) -> Self {
        let rank = |item: &PaletteItem| {
            used.iter().position(|used| *used == item.command).unwrap_or(usize::MAX)
        };
        items.sort_by_key(|item| (rank(item), item.impossible.is_some(), item.moves));
        let recent = items.iter().filter(|item| rank(item) != usize::MAX).count();
        let found = (0..items.len()).collect();
        Self { field: TextField::default(), items, recent, found, cursor: 0 }
    }

    pub(crate) fn on_key(&mut self, event: &KeyEvent) -> PaletteOutcome {
        let last = self.found.len().saturating_sub(1);
        match event.code {
            KeyCode::Esc => return PaletteOutcome::Close,
            KeyCode::Up => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Down => self.cursor = (self.cursor + 1).min(last),
            KeyCode::PageUp => self.cursor = self.cursor.saturating_sub(10),
            KeyCode::PageDown => self.cursor = (self.cursor + 10).min(last),
            KeyCode::Tab => {
                if let Some(item) = self.current_item() {
                    self.field = TextField::new(&item.title);
                    self.filter_items();
                }
            }
            KeyCode::Enter => {
                return match self.current_item() {
                    Some(item) if item.impossible.is_none() => {
                        PaletteOutcome::Run(item.command.clone())
                    }
                    Some(_) => PaletteOutcome::Stay,
                    None => PaletteOutcome::Search(self.field.text().trim().to_owned()),
                };
            }
            _ => {
                if self.field.on_key(event) {
                    self.filter_items();
                }
            }
        }
        PaletteOutcome::Stay
    }

    pub(crate) fn on_paste(&mut self, text: &str) {
        self.field.on_paste(text);
        self.filter_items();
    }

    fn current_item(&self) -> Option<&PaletteItem> {
        self.found.get(self.cursor).map(|index| &self.items[*index])
    }

    /// Keeps what has all the typed words somewhere: what was used lately first, then what can be done, then the best.
    fn filter_items(&mut self) {
        let typed = self.field.text();
        let pattern =
            Pattern::new(typed, CaseMatching::Ignore, Normalization::Smart, AtomKind::Substring);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut letters = Vec::new();
        let mut scored = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            let title = pattern.score(Utf32Str::new(&item.title, &mut letters), &mut matcher);
            let text = format!("{} {}", item.title, item.detail);
            if let Some(score) = pattern.score(Utf32Str::new(&text, &mut letters), &mut matcher) {
                let used = if index < self.recent { index } else { usize::MAX };
                let off = item.impossible.is_some();
                scored.push(((off, used, title.is_none(), Reverse(score), index), index));
            }
        }
        scored.sort_by_key(|(key, _)| *key);
        self.found = scored.into_iter().map(|(_, index)| index).collect();
        self.cursor = 0;
    }

    pub(crate) fn draw(&self, room: OverlayRoom, theme: &Palette, buf: &mut Buffer) {
        let height = (self.found.len().max(1) as u16).saturating_add(5).min(19);
        let style = theme.style(ThemeRole::Focus);
        let inner = draw_framed_area(room, (100, height), "commands", "Esc close", style, buf);
        if inner.height < 4 {
            return;
        }
        draw_note(inner, "Enter run  Tab complete", style, buf);
        let row = |y: u16| Rect { y: inner.y + y, height: 1, ..inner };
        ScreenLine::new(buf, row(0)).skip(1).put(": ", theme.style(ThemeRole::Key));
        let typed = Rect { x: inner.x + 3, width: inner.width.saturating_sub(4), ..row(0) };
        self.field.draw(typed, theme.style(ThemeRole::Text), buf);
        draw_divider(row(1), style, buf);
        let room = usize::from(inner.height - 3);
        let top = (self.cursor + 1).saturating_sub(room);
        for (place, index) in self.found.iter().enumerate().skip(top).take(room) {
            let area = row(2 + (place - top) as u16);
            let under = place == self.cursor;
            if under {
                buf.set_style(area, theme.style(ThemeRole::Selection));
            }
            draw_item(&self.items[*index], under, *index < self.recent, area, theme, buf);
        }
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        let mut line = ScreenLine::new(buf, foot);
        if self.found.is_empty() {
            let typed = self.field.text().trim();
            line.skip(1).put(&format!("No command for \"{typed}\"."), theme.style(ThemeRole::Warn));
            line.put(" Enter searches tasks and steps for it.", theme.style(ThemeRole::Dim));
        } else {
            let count = format!(
                "{} of {} commands, recent first. Nothing found? / searches tasks and steps.",
                self.found.len(),
                self.items.len()
            );
            line.skip(1).put(&count, theme.style(ThemeRole::Dim));
        }
    }
}

fn draw_item(
    item: &PaletteItem,
    under: bool,
    recent: bool,
    area: Rect,
    theme: &Palette,
    buf: &mut Buffer,
) {
    let dim = theme.style(ThemeRole::Dim);
    let possible = item.impossible.is_none();
    let own = |role| if possible { theme.style(role) } else { dim };
    let mut line = ScreenLine::new(buf, area);
    let right =
        if recent && item.keys.is_empty() { "recent".to_owned() } else { item.keys.clone() };
    let right_role = if item.keys.is_empty() { dim } else { own(ThemeRole::Key) };
    line.put_right(&[styled_piece(right, right_role), styled_piece(" ", dim)]);
    line.skip(1).put(if under { "► " } else { "  " }, theme.style(ThemeRole::Focus));
    // A long title takes the room that is free beside it.
    let most = (line.cells_left() / 2).max(33);
    let title = planwright_text::display_width(&item.title).clamp(33, most);
    line.put_column(&item.title, title, own(ThemeRole::Text)).skip(2);
    match &item.impossible {
        Some(why) => line.put(&format!("not now: {why}"), dim),
        None => line.put(&item.detail, dim),
    };
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;

    fn item(action: KeyAction, words: &str) -> PaletteItem {
        PaletteItem::from_action(action, words, String::new())
    }

    fn palette(used: &[PaletteCommand]) -> CommandPalette {
        let items = vec![
            item(KeyAction::ViewTable, "show the table"),
            item(KeyAction::RetryWithDependents, "retry with what depends on it"),
            PaletteItem { impossible: Some("it is done".into()), ..item(KeyAction::Skip, "skip") },
            item(KeyAction::ViewGraph, "show the graph"),
        ];
        CommandPalette::new(items, used)
    }

    fn typed(palette: &mut CommandPalette, text: &str) {
        for letter in text.chars() {
            press(palette, KeyCode::Char(letter));
        }
    }

    fn press(palette: &mut CommandPalette, code: KeyCode) -> PaletteOutcome {
        palette.on_key(&KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn titles(palette: &CommandPalette) -> Vec<&str> {
        palette.found.iter().map(|at| palette.items[*at].title.as_str()).collect()
    }

    #[test]
    fn words_match_anywhere_and_in_any_order() {
        let mut palette = palette(&[]);
        typed(&mut palette, "depends RETRY");
        assert_eq!(titles(&palette), ["Retry with what depends on it"]);
        assert_eq!(
            press(&mut palette, KeyCode::Enter),
            PaletteOutcome::Run(PaletteCommand::Action(KeyAction::RetryWithDependents))
        );
    }

    #[test]
    fn what_was_used_last_comes_first() {
        let mut palette = palette(&[PaletteCommand::Action(KeyAction::ViewGraph)]);
        assert_eq!(titles(&palette)[0], "Show the graph");
        typed(&mut palette, "show");
        assert_eq!(titles(&palette), ["Show the graph", "Show the table"]);
    }

    #[test]
    fn what_cannot_be_done_stays_and_does_nothing() {
        let mut palette = palette(&[]);
        typed(&mut palette, "skip");
        assert_eq!(titles(&palette), ["Skip"]);
        assert_eq!(press(&mut palette, KeyCode::Enter), PaletteOutcome::Stay);
    }

    #[test]
    fn tab_completes_and_no_match_searches() {
        let mut palette = palette(&[]);
        typed(&mut palette, "table");
        press(&mut palette, KeyCode::Tab);
        assert_eq!(palette.field.text(), "Show the table");
        typed(&mut palette, " nowhere");
        assert_eq!(
            press(&mut palette, KeyCode::Enter),
            PaletteOutcome::Search("Show the table nowhere".to_owned())
        );
    }
}
