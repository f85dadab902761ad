//! A list that narrows to what is typed, with a cursor: the part that lists of rows and of sessions share.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame;
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, TextField};

/// How many rows a page has.
const PAGE_ROWS: usize = 10;

/// What a key did to the list.
pub(super) enum FilterListEvent<'a, T> {
    /// It moved the cursor or the text.
    Stays,
    Closed,
    Chosen(&'a T),
}

/// Items, those of them that have what was typed, and the one under the cursor.
#[derive(Clone, Debug)]
pub(super) struct FilterList<T> {
    field: TextField,
    items: Vec<T>,
    found: Vec<usize>,
    cursor: usize,
    /// Whether an item has what was typed, which comes in lower case and is not empty.
    has_text: fn(&T, &str) -> bool,
}

impl<T> FilterList<T> {
    pub(super) fn new(items: Vec<T>, cursor: usize, has_text: fn(&T, &str) -> bool) -> Self {
        let found = (0..items.len()).collect();
        Self { field: TextField::default(), items, found, cursor, has_text }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> FilterListEvent<'_, T> {
        let last = self.found.len().saturating_sub(1);
        match event.code {
            KeyCode::Esc => return FilterListEvent::Closed,
            KeyCode::Up => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Down => self.cursor = (self.cursor + 1).min(last),
            KeyCode::PageUp => self.cursor = self.cursor.saturating_sub(PAGE_ROWS),
            KeyCode::PageDown => self.cursor = (self.cursor + PAGE_ROWS).min(last),
            KeyCode::Enter => {
                if let Some(at) = self.found.get(self.cursor) {
                    return FilterListEvent::Chosen(&self.items[*at]);
                }
            }
            _ => {
                if self.field.on_key(event) {
                    self.filter_items();
                }
            }
        }
        FilterListEvent::Stays
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.field.on_paste(text);
        self.filter_items();
    }

    fn filter_items(&mut self) {
        let typed = self.field.text().trim().to_lowercase();
        let fits = |at: &usize| typed.is_empty() || (self.has_text)(&self.items[*at], &typed);
        self.found = (0..self.items.len()).filter(fits).collect();
        self.cursor = 0;
    }

    /// Draws the frame, the box for text and the rows; `draw_item` puts an item into a line that has its mark already.
    pub(super) fn draw(
        &self,
        screen: Rect,
        (title, hint): (&str, &str),
        buf: &mut Buffer,
        cx: &PaneContext<'_>,
        draw_item: impl Fn(&T, &mut ScreenLine<'_>),
    ) {
        let height = (self.items.len() as u16).saturating_add(4).clamp(5, 18);
        let inner = frame::draw_overlay_frame(screen, (100, height), title, hint, buf, cx);
        if inner.height < 3 {
            return;
        }
        let row = |y: u16| Rect { y: inner.y + y, height: 1, ..inner };
        ScreenLine::new(buf, row(0)).skip(1).put("/ ", cx.style(ThemeRole::Key));
        let typed = Rect { x: inner.x + 3, width: inner.width.saturating_sub(4), ..row(0) };
        self.field.draw(typed, cx.style(ThemeRole::Text), buf);
        frame::draw_frame_divider(row(1), buf, cx);
        let room = usize::from(inner.height - 2);
        let top = (self.cursor + 1).saturating_sub(room);
        for (place, at) in self.found.iter().enumerate().skip(top).take(room) {
            let area = row(2 + (place - top) as u16);
            let under = place == self.cursor;
            if under {
                buf.set_style(area, cx.style(ThemeRole::Selection));
            }
            let mut line = ScreenLine::new(buf, area);
            line.skip(1).put(if under { "► " } else { "  " }, cx.style(ThemeRole::Focus));
            draw_item(&self.items[*at], &mut line);
        }
        let count = format!("{} of {}", self.found.len(), self.items.len());
        frame::draw_frame_fact(inner, &count, buf, cx);
    }
}
