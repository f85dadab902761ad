//! What was said: every fact with what was understood of it; one key corrects it, one withdraws it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;
use tui_textarea::{CursorMove, TextArea};

use super::{OverlayOutcome, frame};
use crate::keymap::{KeyAction, KeyChord, KeyContext, Keymap};
use crate::pane_context::PaneContext;
use crate::plan_text::FactRow;
use crate::theme::ThemeRole;
use crate::widgets::ScreenLine;
use planwright_model::Actor;
use planwright_model::event::Command;
use planwright_text::{clean_text, display_width, truncate_end, units};

/// The widest that the words of a fact are drawn before what was understood.
const WORDS: usize = 44;
/// The longest correction.
const LIMIT: usize = 2_000;

/// The open panel.
#[derive(Clone, Debug)]
pub(crate) struct FactsPanel {
    rows: Vec<FactRow>,
    cursor: usize,
    /// The words of a correction, while they are typed.
    typing: Option<TextArea<'static>>,
    /// Why nothing can be changed here, if it cannot.
    locked: Option<String>,
    remark: Option<String>,
}

impl FactsPanel {
    pub(crate) fn new(rows: Vec<FactRow>, locked: Option<String>) -> Self {
        let broken = rows.iter().position(|row| row.is_broken);
        Self { cursor: broken.unwrap_or(0), rows, typing: None, locked, remark: None }
    }

    pub(crate) fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent, keymap: &Keymap) -> OverlayOutcome {
        if self.typing.is_some() {
            return self.on_typed_key(event);
        }
        self.remark = None;
        let key = KeyChord::from_event(event);
        match keymap.action_for(key, &[KeyContext::Graph, KeyContext::Screen]) {
            Some(KeyAction::Down) => {
                self.cursor = (self.cursor + 1).min(self.rows.len().saturating_sub(1));
            }
            Some(KeyAction::Up) => self.cursor = self.cursor.saturating_sub(1),
            Some(KeyAction::Start) => self.cursor = 0,
            Some(KeyAction::Latest) => self.cursor = self.rows.len().saturating_sub(1),
            Some(KeyAction::Open | KeyAction::Edit) => self.begin_correction(),
            Some(KeyAction::RemoveNode) => return self.withdraw(),
            Some(KeyAction::Back | KeyAction::Quit | KeyAction::Facts) => {
                return OverlayOutcome::Close;
            }
            _ => {}
        }
        OverlayOutcome::Stay
    }

    fn begin_correction(&mut self) {
        if let Some(why) = &self.locked {
            self.remark = Some(why.clone());
            return;
        }
        let Some(row) = self.rows.get(self.cursor) else { return };
        let mut area = TextArea::new(vec![row.text.clone()]);
        area.set_cursor_line_style(Style::default());
        area.move_cursor(CursorMove::End);
        self.typing = Some(area);
    }

    fn withdraw(&mut self) -> OverlayOutcome {
        let Some(row) = self.rows.get(self.cursor) else { return OverlayOutcome::Stay };
        if let Some(why) = &self.locked {
            self.remark = Some(why.clone());
            return OverlayOutcome::Stay;
        }
        if row.is_goal {
            self.remark = Some("this is the goal itself; correct it instead".to_owned());
            return OverlayOutcome::Stay;
        }
        let command = Command::WithdrawFact { id: row.id, by: Actor::Person };
        OverlayOutcome::Send { command, words: format!("withdraw \"{}\"", row.text) }
    }

    fn on_typed_key(&mut self, event: &KeyEvent) -> OverlayOutcome {
        let Some(area) = &mut self.typing else { return OverlayOutcome::Stay };
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let length: usize = area.lines().iter().map(|line| line.chars().count()).sum();
        match event.code {
            KeyCode::Esc => self.typing = None,
            KeyCode::Enter => return self.correct(),
            KeyCode::Tab => {}
            KeyCode::Char('u') if ctrl => {
                area.delete_line_by_head();
            }
            KeyCode::Char(_) if !ctrl && length >= LIMIT => {}
            _ => {
                area.input(*event);
            }
        }
        OverlayOutcome::Stay
    }

    fn correct(&mut self) -> OverlayOutcome {
        let text = self.typing.take().map(|area| area.lines().join(" ").trim().to_owned());
        let (Some(text), Some(row)) = (text, self.rows.get(self.cursor)) else {
            return OverlayOutcome::Stay;
        };
        if text.is_empty() || text == row.text {
            self.remark = Some("nothing changed".to_owned());
            return OverlayOutcome::Stay;
        }
        let words = format!("\"{text}\" instead of \"{}\"", row.text);
        let command = Command::CorrectFact { id: row.id, text, by: Actor::Person };
        OverlayOutcome::Send { command, words }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        if let Some(area) = &mut self.typing {
            let line = clean_text(text).replace('\n', " ");
            area.insert_str(line.chars().take(LIMIT).collect::<String>());
        }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let key = |action| cx.keymap.key_hint(action);
        let hint = match self.typing {
            Some(_) => "Enter correct it   Esc back".to_owned(),
            None => format!(
                "j k choose   {} correct   {} withdraw   Esc close",
                key(KeyAction::Edit),
                key(KeyAction::RemoveNode)
            ),
        };
        let height = (self.rows.len() as u16).saturating_add(5).clamp(7, 24);
        let title = "what you said";
        let inner = frame::draw_overlay_frame(screen, (104, height), title, &hint, buf, cx);
        if self.rows.is_empty() {
            let lead = "Nothing was said yet that a plan has to respect.";
            ScreenLine::new(buf, inner).skip(1).put(lead, cx.style(ThemeRole::Dim));
            return;
        }
        let list = Rect { height: inner.height.saturating_sub(2), ..inner };
        self.draw_rows(list, buf, cx);
        let last =
            Rect { y: inner.bottom().saturating_sub(1), height: 1.min(inner.height), ..inner };
        self.draw_last_line(last, buf, cx);
    }

    fn draw_rows(&self, list: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let room = usize::from(list.height);
        let first = self.cursor.saturating_sub(room.saturating_sub(1));
        let widest = self.rows.iter().map(|row| display_width(&row.text) + 2).max().unwrap_or(0);
        let words = widest.clamp(12, WORDS);
        for ((index, row), y) in self.rows.iter().enumerate().skip(first).zip(list.y..list.bottom())
        {
            let area = Rect { y, height: 1, ..list };
            let chosen = index == self.cursor;
            if chosen {
                buf.set_style(area, cx.style(ThemeRole::Selection));
            }
            let note = if row.is_broken { ThemeRole::Warn } else { ThemeRole::Dim };
            let mut line = ScreenLine::new(buf, area);
            line.skip(1).put(if chosen { "► " } else { "  " }, cx.style(ThemeRole::Focus));
            line.put_column(&row.id.to_string(), 4, cx.style(ThemeRole::Dim));
            let indent = if row.is_part { "  " } else { "" };
            let text = truncate_end(&row.text, words - indent.len()).into_owned();
            line.put_column(&format!("{indent}{text}"), words + 1, cx.style(ThemeRole::Text));
            line.put(&row.note(), cx.style(note));
        }
    }

    fn draw_last_line(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if let Some(typing) = &self.typing {
            let mut text = typing.clone();
            text.set_style(cx.style(ThemeRole::Text));
            text.set_cursor_style(Style::default().add_modifier(Modifier::REVERSED));
            (&text)
                .render(Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }, buf);
            return;
        }
        let said = match &self.remark {
            Some(remark) => remark.clone(),
            None => format!(
                "{} apply. A plan that breaks one says so first.",
                units::format_counted(self.rows.len(), "fact")
            ),
        };
        ScreenLine::new(buf, area).skip(1).put(&said, cx.style(ThemeRole::Dim));
    }
}
