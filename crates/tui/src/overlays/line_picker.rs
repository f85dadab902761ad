//! The text of a plan as its agent submitted it, line by line. Enter comments on a line.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::OverlayOutcome;
use super::filter_list::{FilterList, FilterListEvent};
use crate::pane_context::PaneContext;
use crate::panes::trace::find_match;
use crate::theme::ThemeRole;
use crate::widgets::{format_counted, styled_piece};
use planwright_model::TaskId;
use planwright_state::DeskSlice;
use planwright_text::reveal_hidden;

/// A line as the list shows it.
#[derive(Clone, Debug)]
struct LineItem {
    /// Counted from 1.
    number: u32,
    text: String,
    /// How many comments nobody has addressed.
    comments: usize,
}

/// The open list.
#[derive(Clone, Debug)]
pub(crate) struct LinePicker {
    list: FilterList<LineItem>,
}

impl LinePicker {
    /// The lines of the last revision, with the cursor on the first line of the selected row; none without a submission.
    pub(crate) fn new(desk: &DeskSlice, selected: Option<&TaskId>) -> Option<Self> {
        let submission = desk.submission.as_deref()?;
        let open = |number: u32| {
            let comments = desk.line_comments.iter();
            comments.filter(|comment| comment.line == number && comment.outcome.is_none()).count()
        };
        let items: Vec<LineItem> = (1u32..)
            .zip(submission.text.lines())
            .map(|(number, text)| LineItem {
                number,
                text: reveal_hidden(text),
                comments: open(number),
            })
            .collect();
        let line = selected.and_then(|node| submission.line_of_node(node));
        let cursor = items.iter().position(|item| Some(item.number) == line).unwrap_or(0);
        let has_text = |item: &LineItem, typed: &str| find_match(&item.text, typed).is_some();
        Some(Self { list: FilterList::new(items, cursor, has_text) })
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> OverlayOutcome {
        match self.list.on_key(event) {
            FilterListEvent::Stays => OverlayOutcome::Stay,
            FilterListEvent::Closed => OverlayOutcome::Close,
            FilterListEvent::Chosen(item) => OverlayOutcome::PickedLine(item.number),
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.list.on_paste(text);
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let agent = planwright_text::clean_line(cx.state.desk.agent_name());
        let title = format!("the plan as {agent} submitted it");
        let words = (title.as_str(), "Enter comment on the line  Up Down move  Esc close");
        self.list.draw(screen, words, buf, cx, |item, line| {
            let dim = cx.style(ThemeRole::Dim);
            line.put_column(&format!("{:>4}", item.number), 6, dim);
            if item.comments > 0 {
                let count = format!("{} ", format_counted(item.comments, "comment"));
                line.put_right(&[styled_piece(count, dim)]);
            }
            line.put(&item.text, cx.style(ThemeRole::Untrusted));
        });
    }
}
