//! A text box: a note to a finished task, or where to go in time. All letters are text here.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;
use tui_textarea::TextArea;

use super::{OverlayOutcome, frame};
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::widgets::ScreenLine;
use planwright_model::Seq;
use planwright_text::clean_text;

/// The longest text a box takes.
const LIMIT: usize = 2_000;

/// What a text is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputPurpose {
    /// An event number, a time of day, or a span from the start.
    GoTo,
    /// What to remember about an event.
    Bookmark { at: Seq },
    /// How many tasks may run at once.
    Jobs,
}

/// An open text box.
#[derive(Clone, Debug)]
pub(crate) struct InputDialog {
    purpose: InputPurpose,
    area: TextArea<'static>,
}

impl InputDialog {
    pub(crate) fn new(purpose: InputPurpose) -> Self {
        let mut area = TextArea::default();
        area.set_cursor_line_style(Style::default());
        Self { purpose, area }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> OverlayOutcome {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Esc => return OverlayOutcome::Close,
            KeyCode::Enter => {
                let text = self.area.lines().join("\n").trim().to_owned();
                return OverlayOutcome::Submit { purpose: self.purpose.clone(), text };
            }
            KeyCode::Tab => {}
            KeyCode::Char('u') if ctrl => {
                self.area.delete_line_by_head();
            }
            KeyCode::Char(_) if !ctrl && self.text_length() >= LIMIT => {}
            _ => {
                self.area.input(*event);
            }
        }
        OverlayOutcome::Stay
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        let line = clean_text(text).replace('\n', " ");
        let room = LIMIT.saturating_sub(self.text_length());
        self.area.insert_str(line.chars().take(room).collect::<String>());
    }

    fn text_length(&self) -> usize {
        self.area.lines().iter().map(|line| line.chars().count() + 1).sum::<usize>() - 1
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let (title, lead, hint, height) = match &self.purpose {
            InputPurpose::Bookmark { at } => (
                format!("bookmark at event {at}"),
                "A note to find it by, or nothing:",
                "Enter mark it  Esc close",
                4,
            ),
            InputPurpose::Jobs => (
                format!("at once, now up to {}", cx.latest.run.jobs),
                "How many at once, 1 to 64, or auto by load; what runs already continues:",
                "Enter set  Esc close",
                4,
            ),
            InputPurpose::GoTo => (
                "go to".to_owned(),
                "An event number, a time such as 14:20, or a span from the start such as +6m:",
                "Enter go  Esc close",
                4,
            ),
        };
        let inner = frame::draw_overlay_frame(screen, (86, height), &title, hint, buf, cx);
        if inner.height < 2 {
            return;
        }
        ScreenLine::new(buf, Rect { height: 1, ..inner })
            .skip(1)
            .put(lead, cx.style(ThemeRole::Dim));
        let text = Rect {
            x: inner.x + 1,
            y: inner.y + 1,
            width: inner.width.saturating_sub(2),
            height: inner.height - 1,
        };
        let mut area = self.area.clone();
        area.set_style(cx.style(ThemeRole::Text));
        area.set_cursor_style(Style::default().add_modifier(Modifier::REVERSED));
        (&area).render(text, buf);
    }
}
