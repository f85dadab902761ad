//! Asks which node a request is about, where none is marked and the plan does not have the focus: nothing happens to a
//! node that the person may not even see.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::OverlayOutcome;
use super::filter_list::{FilterList, FilterListEvent};
use crate::pane_context::PaneContext;
use crate::panes::trace::find_match;
use crate::theme::ThemeRole;
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
    list: FilterList<NodeItem>,
}

impl NodePicker {
    /// All nodes, with the cursor on the one that is selected in the plan.
    pub(crate) fn new(
        purpose: PickerPurpose,
        items: Vec<NodeItem>,
        selected: Option<&TaskId>,
    ) -> Self {
        let cursor = items.iter().position(|item| Some(&item.id) == selected).unwrap_or(0);
        let has_text = |item: &NodeItem, typed: &str| {
            find_match(item.id.as_str(), typed).is_some()
                || find_match(&item.title, typed).is_some()
        };
        Self { purpose, list: FilterList::new(items, cursor, has_text) }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> OverlayOutcome {
        let purpose = self.purpose;
        match self.list.on_key(event) {
            FilterListEvent::Stays => OverlayOutcome::Stay,
            FilterListEvent::Closed => OverlayOutcome::Close,
            FilterListEvent::Chosen(item) => {
                OverlayOutcome::Picked { purpose, node: item.id.clone() }
            }
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.list.on_paste(text);
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let words = (self.purpose.title(), "Enter choose it  Up Down move  Esc close");
        self.list.draw(screen, words, buf, cx, |item, line| {
            line.skip(2 * item.depth.min(4));
            line.put_column(if item.locked { "#" } else { "" }, 2, cx.style(ThemeRole::Warn));
            line.put(&item.title, cx.style(ThemeRole::Text));
        });
    }
}
