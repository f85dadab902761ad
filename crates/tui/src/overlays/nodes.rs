//! Asks which node a wish is about, where none is marked and the plan does not have the focus: nothing happens to a
//! node that the person may not even see.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Outcome, frame};
use crate::context::PaneContext;
use crate::panes::trace::contains;
use crate::theme::Role;
use crate::widgets::{Field, Line};
use planwright_model::TaskId;

/// What is to be done with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeWish {
    Comment,
    Lock,
    Edit,
}

impl NodeWish {
    fn title(self) -> &'static str {
        match self {
            Self::Comment => "comment on which node?",
            Self::Lock => "lock or unlock which node?",
            Self::Edit => "edit which node?",
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
    wish: NodeWish,
    field: Field,
    items: Vec<NodeItem>,
    found: Vec<usize>,
    cursor: usize,
}

impl NodePicker {
    /// All nodes, with the cursor on the one that is selected in the plan.
    pub(crate) fn new(wish: NodeWish, items: Vec<NodeItem>, selected: Option<&TaskId>) -> Self {
        let cursor = items.iter().position(|item| Some(&item.id) == selected).unwrap_or(0);
        let found = (0..items.len()).collect();
        Self { wish, field: Field::default(), items, found, cursor }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> Outcome {
        let last = self.found.len().saturating_sub(1);
        match event.code {
            KeyCode::Esc => return Outcome::Close,
            KeyCode::Up => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Down => self.cursor = (self.cursor + 1).min(last),
            KeyCode::PageUp => self.cursor = self.cursor.saturating_sub(10),
            KeyCode::PageDown => self.cursor = (self.cursor + 10).min(last),
            KeyCode::Enter => {
                return match self.found.get(self.cursor) {
                    Some(at) => {
                        Outcome::Picked { wish: self.wish, node: self.items[*at].id.clone() }
                    }
                    None => Outcome::Stay,
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

    /// Keeps the nodes whose id or title has what was typed.
    fn narrow(&mut self) {
        let typed = self.field.text().trim().to_lowercase();
        let fits = |item: &NodeItem| {
            typed.is_empty()
                || contains(item.id.as_str(), &typed).is_some()
                || contains(&item.title, &typed).is_some()
        };
        self.found = (0..self.items.len()).filter(|at| fits(&self.items[*at])).collect();
        self.cursor = 0;
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let height = (self.items.len() as u16).saturating_add(4).min(18);
        let hint = "Enter take it  Up Down choose  Esc close";
        let inner = frame::draw(screen, (100, height), self.wish.title(), hint, buf, cx);
        if inner.height < 3 {
            return;
        }
        let row = |y: u16| Rect { y: inner.y + y, height: 1, ..inner };
        Line::new(buf, row(0)).skip(1).put("/ ", cx.style(Role::Key));
        let typed = Rect { x: inner.x + 3, width: inner.width.saturating_sub(4), ..row(0) };
        self.field.draw(typed, cx.style(Role::Text), buf);
        frame::divider(row(1), buf, cx);
        let room = usize::from(inner.height - 2);
        let top = (self.cursor + 1).saturating_sub(room);
        for (place, at) in self.found.iter().enumerate().skip(top).take(room) {
            let area = row(2 + (place - top) as u16);
            let under = place == self.cursor;
            if under {
                buf.set_style(area, cx.style(Role::Selection));
            }
            let item = &self.items[*at];
            let mut line = Line::new(buf, area);
            line.skip(1).put(if under { "► " } else { "  " }, cx.style(Role::Focus));
            line.skip(2 * item.depth.min(4));
            line.column(item.id.as_str(), 12, cx.style(Role::Text));
            line.column(if item.locked { "#" } else { "" }, 2, cx.style(Role::Warn));
            line.put(&item.title, cx.style(Role::Text));
        }
        let count = format!("{} of {}", self.found.len(), self.items.len());
        frame::note(inner, &count, buf, cx);
    }
}
