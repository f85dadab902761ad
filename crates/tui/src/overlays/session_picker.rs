//! Asks which session to compare with: all of them by title and time, the one that this was forked from first. What is
//! typed narrows the list.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::OverlayOutcome;
use super::filter_list::{FilterList, FilterListEvent};
use crate::clock::format_day_and_time;
use crate::pane_context::PaneContext;
use crate::panes::trace::find_match;
use crate::session_actions::ComparableSession;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, capitalize_title, styled_piece};
use planwright_text::clean_line;

/// The open list.
#[derive(Clone, Debug)]
pub(crate) struct SessionPicker {
    list: FilterList<ComparableSession>,
}

impl SessionPicker {
    pub(crate) fn new(items: Vec<ComparableSession>) -> Self {
        let has_text = |item: &ComparableSession, typed: &str| {
            item.id.as_str().starts_with(typed) || find_match(&item.title, typed).is_some()
        };
        Self { list: FilterList::new(items, 0, has_text) }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> OverlayOutcome {
        match self.list.on_key(event) {
            FilterListEvent::Stays => OverlayOutcome::Stay,
            FilterListEvent::Closed => OverlayOutcome::Close,
            FilterListEvent::Chosen(item) => OverlayOutcome::Compare(item.id.clone()),
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.list.on_paste(text);
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let words = ("compare with which run?", "Enter compare  Up Down choose  Esc close");
        self.list.draw(screen, words, buf, cx, |item, line| draw_item(item, line, cx));
    }
}

fn draw_item(item: &ComparableSession, line: &mut ScreenLine<'_>, cx: &PaneContext<'_>) {
    let when = format_day_and_time(item.at, cx.wall_clock, cx.time_zone);
    let origin = if item.is_parent { "forked from it · " } else { "" };
    line.put_right(&[styled_piece(format!("  {origin}{when} "), cx.style(ThemeRole::Dim))]);
    line.put(&capitalize_title(&clean_line(&item.title)), cx.style(ThemeRole::Text));
}
