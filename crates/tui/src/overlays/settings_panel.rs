//! The settings: one row each, with its value and what it affects. Changes are written at once and can be undone.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame::{OverlayRoom, draw_framed_area};
use crate::settings_store::{SettingItem, SettingsStore};
use crate::theme::{Palette, ThemeRole};
use crate::widgets::{ScreenLine, TextField, styled_piece};

const LABEL_COLUMN: usize = 18;

/// What a key in the settings led to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SettingsOutcome {
    Stay,
    Close,
    /// The person wants the file itself.
    EditFile,
}

/// A change that can be undone: the name of a setting and what the file had before.
type SettingChange = (&'static str, Option<String>);

/// The open settings.
#[derive(Clone, Debug)]
pub(crate) struct SettingsPanel {
    store: Arc<dyn SettingsStore>,
    items: Vec<SettingItem>,
    cursor: usize,
    /// The value that is being typed.
    typing: Option<TextField>,
    /// Words that rows must have.
    filter: Option<TextField>,
    changes: Vec<SettingChange>,
    /// What became of the last key.
    message: Option<(String, ThemeRole)>,
}

impl SettingsPanel {
    pub(crate) fn new(store: Arc<dyn SettingsStore>) -> Self {
        let mut panel = Self {
            store,
            items: Vec::new(),
            cursor: 0,
            typing: None,
            filter: None,
            changes: Vec::new(),
            message: None,
        };
        panel.load();
        panel
    }

    fn load(&mut self) {
        match self.store.items() {
            Ok(items) => self.items = items,
            Err(why) => self.message = Some((why, ThemeRole::Failed)),
        }
    }

    /// Whether letters are text here.
    pub(crate) fn is_typing(&self) -> bool {
        self.typing.is_some() || self.filter.is_some()
    }

    /// The rows that have the typed words.
    fn shown_items(&self) -> Vec<&SettingItem> {
        let words = self.filter.as_ref().map(|filter| filter.text().to_lowercase());
        let fits = |item: &&SettingItem| {
            let text = format!("{} {} {} {}", item.group, item.label, item.shown, item.effect);
            let text = text.to_lowercase();
            words
                .as_deref()
                .is_none_or(|words| words.split_whitespace().all(|word| text.contains(word)))
        };
        self.items.iter().filter(fits).collect()
    }

    fn selected_item(&self) -> Option<SettingItem> {
        self.shown_items().get(self.cursor).map(|item| (*item).clone())
    }

    pub(crate) fn on_key(&mut self, event: &KeyEvent) -> SettingsOutcome {
        self.message = None;
        if self.typing.is_some() {
            return self.on_value_key(event);
        }
        let last = self.shown_items().len().saturating_sub(1);
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Char('g') if ctrl => return SettingsOutcome::EditFile,
            KeyCode::Down => self.cursor = (self.cursor + 1).min(last),
            KeyCode::Up => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Esc if self.filter.is_some() => self.set_filter(None),
            KeyCode::Esc => return SettingsOutcome::Close,
            KeyCode::Enter if self.selected_item().is_some_and(|item| item.name == "keys") => {
                return SettingsOutcome::EditFile;
            }
            KeyCode::Enter => self.change_selected(true),
            KeyCode::Right if self.filter.is_none() => self.change_selected(true),
            KeyCode::Left if self.filter.is_none() => self.change_selected(false),
            _ => match &mut self.filter {
                Some(filter) => {
                    if filter.on_key(event) {
                        self.cursor = 0;
                    }
                }
                None => return self.on_letter(event.code, last),
            },
        }
        SettingsOutcome::Stay
    }

    fn on_letter(&mut self, code: KeyCode, last: usize) -> SettingsOutcome {
        match code {
            KeyCode::Char('j') => self.cursor = (self.cursor + 1).min(last),
            KeyCode::Char('k') => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Char('l') => self.change_selected(true),
            KeyCode::Char('h') => self.change_selected(false),
            KeyCode::Char('u') => self.undo_change(),
            KeyCode::Char('/') => self.set_filter(Some(TextField::default())),
            KeyCode::Char('q') => return SettingsOutcome::Close,
            _ => {}
        }
        SettingsOutcome::Stay
    }

    fn set_filter(&mut self, filter: Option<TextField>) {
        self.filter = filter;
        self.cursor = 0;
    }

    fn on_value_key(&mut self, event: &KeyEvent) -> SettingsOutcome {
        match event.code {
            KeyCode::Esc => self.typing = None,
            KeyCode::Enter => {
                let typed = self.typing.take().map(|field| field.text().trim().to_owned());
                if let (Some(item), Some(typed)) = (self.selected_item(), typed) {
                    let value = Some(typed.as_str()).filter(|value| !value.is_empty());
                    if !self.write(item.name, value) {
                        self.typing = Some(TextField::new(&typed));
                    }
                }
            }
            _ => {
                if let Some(field) = &mut self.typing {
                    field.on_key(event);
                }
            }
        }
        SettingsOutcome::Stay
    }

    pub(crate) fn on_paste(&mut self, text: &str) {
        if let Some(field) = self.typing.as_mut().or(self.filter.as_mut()) {
            field.on_paste(text);
        }
    }

    /// The next or previous value of the row, or a box for a value that is typed.
    fn change_selected(&mut self, forward: bool) {
        let Some(item) = self.selected_item() else { return };
        if item.choices.is_empty() {
            self.typing = Some(TextField::new(&item.value));
            return;
        }
        let count = item.choices.len();
        let at = item.choices.iter().position(|choice| *choice == item.value);
        let next = match (at, forward) {
            (None, _) => 0,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        };
        self.write(item.name, Some(&item.choices[next]));
    }

    /// Writes a value; says whether it was taken.
    fn write(&mut self, name: &'static str, value: Option<&str>) -> bool {
        match self.store.change(name, value) {
            Ok(before) => {
                self.changes.push((name, before));
                self.message = Some(("saved; u undoes it".to_owned(), ThemeRole::Dim));
                self.load();
                true
            }
            Err(why) => {
                self.message = Some((why, ThemeRole::Failed));
                false
            }
        }
    }

    fn undo_change(&mut self) {
        let Some((name, before)) = self.changes.pop() else {
            self.message = Some(("Nothing to undo".to_owned(), ThemeRole::Warn));
            return;
        };
        match self.store.change(name, before.as_deref()) {
            Ok(_) => self.message = Some(("undone".to_owned(), ThemeRole::Dim)),
            Err(why) => self.message = Some((why, ThemeRole::Failed)),
        }
        self.load();
    }

    /// Takes an edited config file, or says why it cannot be used.
    pub(crate) fn replace_file(&mut self, text: &str) {
        match self.store.replace_file(text) {
            Ok(()) => {
                self.message = Some(("the config file was saved".to_owned(), ThemeRole::Dim));
                self.changes.clear();
            }
            Err(why) => self.message = Some((why, ThemeRole::Failed)),
        }
        self.load();
    }

    /// The text that the editor opens with.
    pub(crate) fn file_text(&mut self) -> Option<String> {
        match self.store.file_text() {
            Ok(text) => Some(text),
            Err(why) => {
                self.message = Some((why, ThemeRole::Failed));
                None
            }
        }
    }

    pub(crate) fn draw(&self, room: OverlayRoom, theme: &Palette, buf: &mut Buffer) {
        let items = self.shown_items();
        let lines = setting_lines(&items);
        let style = theme.style(ThemeRole::Focus);
        let size = (100, lines.len() as u16 + 3);
        let hint = if self.typing.is_some() { "Enter save  Esc cancel" } else { "Esc close" };
        let inner = draw_framed_area(room, size, "settings", hint, style, buf);
        if inner.height < 2 {
            return;
        }
        let note = "Enter change  u undo  / find  Ctrl-G config file";
        if self.typing.is_none() {
            super::frame::draw_note(inner, note, style, buf);
        }
        let room = usize::from(inner.height - 1);
        let cursor_line = lines.iter().position(|line| *line == SettingLine::Item(self.cursor));
        let top = (cursor_line.unwrap_or(0) + 2).saturating_sub(room);
        for (line, y) in lines.iter().skip(top).take(room).zip(inner.y..) {
            let row = Rect { y, height: 1, ..inner };
            match line {
                SettingLine::Group(group) => {
                    let mut line = ScreenLine::new(buf, row);
                    if y == inner.y {
                        let scope = "saved for all plans ";
                        line.put_right(&[styled_piece(scope, theme.style(ThemeRole::Dim))]);
                    }
                    line.skip(1).put(group, theme.bold_style(ThemeRole::Text));
                }
                SettingLine::Item(at) => self.draw_item(items[*at], *at, row, theme, buf),
            }
        }
        self.draw_foot(Rect { y: inner.bottom() - 1, height: 1, ..inner }, theme, buf);
    }

    fn draw_item(
        &self,
        item: &SettingItem,
        at: usize,
        row: Rect,
        theme: &Palette,
        buf: &mut Buffer,
    ) {
        let under = at == self.cursor;
        if under {
            buf.set_style(row, theme.style(ThemeRole::Selection));
        }
        let (text, dim) = (theme.style(ThemeRole::Text), theme.style(ThemeRole::Dim));
        let mut line = ScreenLine::new(buf, row);
        line.put_right(&[styled_piece(format!("{} ", item.effect), dim)]);
        line.skip(1).put(if under { "► " } else { "  " }, theme.style(ThemeRole::Focus)).skip(1);
        line.put_column(item.label, LABEL_COLUMN, text);
        match self.typing.as_ref().filter(|_| under) {
            Some(field) => {
                let x = row.x + 4 + LABEL_COLUMN as u16;
                let width = row.right().saturating_sub(x + 1).min(40);
                field.draw(Rect { x, width, ..row }, text, buf);
            }
            None => {
                line.put(&item.shown, text);
            }
        }
    }

    fn draw_foot(&self, row: Rect, theme: &Palette, buf: &mut Buffer) {
        let mut line = ScreenLine::new(buf, row);
        match (&self.message, &self.filter) {
            (Some((message, role)), _) => {
                line.skip(1).put(message, theme.style(*role));
            }
            (None, Some(filter)) => {
                line.skip(1).put("/", theme.style(ThemeRole::Key));
                let field = Rect { x: row.x + 2, width: row.width.saturating_sub(3), ..row };
                filter.draw(field, theme.style(ThemeRole::Text), buf);
            }
            (None, None) => {}
        }
    }
}

/// A line of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingLine {
    Group(&'static str),
    Item(usize),
}

/// Rows under their headings.
fn setting_lines(items: &[&SettingItem]) -> Vec<SettingLine> {
    let mut lines = Vec::new();
    let mut group = "";
    for (at, item) in items.iter().enumerate() {
        if item.group != group {
            group = item.group;
            lines.push(SettingLine::Group(group));
        }
        lines.push(SettingLine::Item(at));
    }
    lines
}
