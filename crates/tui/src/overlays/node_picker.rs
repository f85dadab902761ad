//! Asks which node a request is about, where none is marked and the plan does not have the focus: nothing happens to a
//! node that the person may not even see.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{OverlayOutcome, frame};
use crate::pane_context::PaneContext;
use crate::panes::trace::find_match;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, TextField};
use planwright_model::TaskId;

/// What is to be done with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PickerPurpose {
    Comment,
    Lock,
    Edit,
}

impl PickerPurpose {
    fn title(self) -> &'static str {
        match self {
            Self::Comment => "comment on which row?",
            Self::Lock => "lock or unlock which row?",
            Self::Edit => "edit which row?",
        }
    }
}

/// A node as the list shows it.
#[derive(Clone, Debug)]
pub(crate) struct NodeItem {
    pub(crate) id: TaskId,
    pub(crate) title: String,
    pub(crate) depth: usize,
    pub(crate) locked: bool,
}

/// The open list.
#[derive(Clone, Debug)]
pub(crate) struct NodePicker {
    purpose: PickerPurpose,
    field: TextField,
    items: Vec<NodeItem>,
    found: Vec<usize>,
    cursor: usize,
}

impl NodePicker {
    /// All nodes, with the cursor on the one that is selected in the plan.
    pub(crate) fn new(
        request: PickerPurpose,
        items: Vec<NodeItem>,
        selected: Option<&TaskId>,
    ) -> Self {
        let cursor = items.iter().position(|item| Some(&item.id) == selected).unwrap_or(0);
        let found = (0..items.len()).collect();
        Self { purpose: request, field: TextField::default(), items, found, cursor }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> OverlayOutcome {
        let last = self.found.len().saturating_sub(1);
        match event.code {
            KeyCode::Esc => return OverlayOutcome::Close,
            KeyCode::Up => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Down => self.cursor = (self.cursor + 1).min(last),
            KeyCode::PageUp => self.cursor = self.cursor.saturating_sub(10),
            KeyCode::PageDown => self.cursor = (self.cursor + 10).min(last),
            KeyCode::Enter => {
                return match self.found.get(self.cursor) {
                    Some(at) => OverlayOutcome::Picked {
                        purpose: self.purpose,
                        node: self.items[*at].id.clone(),
                    },
                    None => OverlayOutcome::Stay,
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

    /// Keeps the nodes whose id or title has what was typed.
    fn filter_items(&mut self) {
        let typed = self.field.text().trim().to_lowercase();
        let fits = |item: &NodeItem| {
            typed.is_empty()
                || find_match(item.id.as_str(), &typed).is_some()
                || find_match(&item.title, &typed).is_some()
        };
        self.found = (0..self.items.len()).filter(|at| fits(&self.items[*at])).collect();
        self.cursor = 0;
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let height = (self.items.len() as u16).saturating_add(4).min(18);
        let hint = "Enter take it  Up Down choose  Esc close";
        let inner =
            frame::draw_overlay_frame(screen, (100, height), self.purpose.title(), hint, buf, cx);
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
            let item = &self.items[*at];
            let mut line = ScreenLine::new(buf, area);
            line.skip(1).put(if under { "► " } else { "  " }, cx.style(ThemeRole::Focus));
            line.skip(2 * item.depth.min(4));
            line.put_column(if item.locked { "#" } else { "" }, 2, cx.style(ThemeRole::Warn));
            line.put(&item.title, cx.style(ThemeRole::Text));
        }
        let count = format!("{} of {}", self.found.len(), self.items.len());
        frame::draw_frame_note(inner, &count, buf, cx);
    }
}
