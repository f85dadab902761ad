//! The last row: what was said, what is typed, or the keys that work now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{HomeCover, HomeFocus, HomeScreen, TaskInput};
use crate::keymap::KeyAction;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, styled_piece};

type HomeKeyHint = (String, &'static str);

impl HomeScreen {
    pub(super) fn draw_footer(&self, area: Rect, buf: &mut Buffer) {
        if let Some(message) = &self.message {
            ScreenLine::new(buf, area).skip(1).put(message, self.style(ThemeRole::Warn));
            return;
        }
        if self.focus == HomeFocus::Remove {
            self.draw_remove_question(area, buf);
            return;
        }
        if self.draw_typed(area, buf) {
            return;
        }
        let (left, right) = self.hints();
        self.draw_hints(&left, &right, ScreenLine::new(buf, area));
    }

    fn draw_remove_question(&self, area: Rect, buf: &mut Buffer) {
        let title = self.selected_session().map_or("", |item| item.title.as_str());
        let (key, dim) = (self.style(ThemeRole::Key), self.style(ThemeRole::Dim));
        let mut line = ScreenLine::new(buf, area);
        line.put_right(&[
            styled_piece("y", key),
            styled_piece(" remove  ", dim),
            styled_piece("Esc", key),
            styled_piece(" keep ", dim),
        ]);
        let text = format!("Remove \"{title}\"? Its plan and history are deleted for good.");
        line.skip(1).put(&text, self.style(ThemeRole::Warn));
    }

    /// What is being typed in this row. Says whether something is.
    fn draw_typed(&self, area: Rect, buf: &mut Buffer) -> bool {
        let text = self.style(ThemeRole::Text);
        let label = match (self.focus, &self.task_input) {
            (HomeFocus::Filter, _) => "/ ",
            (HomeFocus::When, TaskInput::When { .. }) => "When  ",
            (HomeFocus::Note, TaskInput::Note { .. }) => "Note  ",
            _ => return false,
        };
        ScreenLine::new(buf, area).skip(1).put(label, self.style(ThemeRole::Key));
        let at = 1 + label.len() as u16;
        let room =
            Rect { x: area.x + at.min(area.width), width: area.width.saturating_sub(at), ..area };
        match &self.task_input {
            TaskInput::When { input, .. } if self.focus == HomeFocus::When => {
                let now = (self.clock)().to_zoned(self.time_zone.clone());
                let styles = (text, self.style(ThemeRole::Selection), self.style(ThemeRole::Dim));
                input.draw(room, &now, styles, buf);
            }
            TaskInput::Note { field, .. } if self.focus == HomeFocus::Note => {
                field.draw(room, text, buf);
            }
            _ => {
                self.filter.draw(room, text, buf);
                if !self.filter.text().is_empty() {
                    let (key, dim) = (self.style(ThemeRole::Key), self.style(ThemeRole::Dim));
                    ScreenLine::new(buf, area).put_right(&[
                        styled_piece("Tab", key),
                        styled_piece(" searches all steps ", dim),
                    ]);
                }
            }
        }
        true
    }

    /// The keys that work with this focus: what one does, and what is always there.
    fn hints(&self) -> (Vec<HomeKeyHint>, Vec<HomeKeyHint>) {
        let key = |action| self.keymap.key_hint(action);
        let hint = |action, words: &'static str| (key(action), words);
        let plain = |keys: &str, words: &'static str| (keys.to_owned(), words);
        if self.focus == HomeFocus::Goal {
            let mut left = vec![plain("Enter", "plan it")];
            if self.is_first_start() {
                left.extend([plain("↓", "examples"), plain("Tab", "times, agents")]);
                left.push(plain("Ctrl-G", "editor"));
            } else {
                left.extend([plain("Ctrl-J", "new line"), plain("↑", "earlier goals")]);
                left.extend([plain("Ctrl-G", "editor"), plain("Tab", "lists")]);
            }
            return (left, vec![plain("Esc", "leave the box")]);
        }
        if self.focus == HomeFocus::OwnHours && self.own_hours.is_typing() {
            return (vec![plain("Enter", "keep")], vec![plain("Esc", "close the line")]);
        }
        if self.focus == HomeFocus::OwnHours {
            let left = vec![plain("Enter", "choose"), plain("↑ ↓", "move"), plain("u", "undo")];
            return (left, vec![plain("Tab", "goal"), plain("Esc", "skip")]);
        }
        if self.focus == HomeFocus::Found {
            let left =
                vec![hint(KeyAction::Open, "open there"), hint(KeyAction::Search, "other words")];
            return (left, vec![hint(KeyAction::Back, "back")]);
        }
        if let Some(HomeCover::Task { card, .. }) = &self.cover
            && card.is_typing()
        {
            return (vec![plain("Enter", "keep")], vec![plain("Esc", "close the line")]);
        }
        if matches!(self.cover, Some(HomeCover::CatchUp(_))) {
            let left = vec![
                plain("j k", "choose"),
                hint(KeyAction::Yes, "apply"),
                plain("+ -", "keep or leave out a row"),
            ];
            return (left, vec![plain("Esc", "leave it")]);
        }
        let mut left = vec![hint(KeyAction::Open, "open")];
        if self.agenda.late > 0 {
            left.push(hint(KeyAction::CatchUp, "catch up"));
        }
        match self.focus {
            HomeFocus::Today => left.extend([
                hint(KeyAction::TodayDone, "done"),
                hint(KeyAction::TodayLater, "when"),
                hint(KeyAction::TodaySkip, "skip"),
                hint(KeyAction::Comment, "note"),
            ]),
            HomeFocus::Plans => left.extend([
                hint(KeyAction::Search, "find"),
                hint(KeyAction::Fork, "fork"),
                hint(KeyAction::Compare, "compare"),
            ]),
            _ => {}
        }
        if self.selected_failed_run().is_some() {
            left.push(hint(KeyAction::RemoveSession, "dismiss"));
        } else if self.focus == HomeFocus::Plans {
            left.push(hint(KeyAction::RemoveSession, "remove"));
        }
        if !self.undo.is_empty() {
            left.push(hint(KeyAction::Undo, "undo"));
        }
        if !self.needs.is_empty() {
            left.push(hint(KeyAction::NextNeed, "next"));
        }
        left.push(hint(KeyAction::GoalBox, "new goal"));
        if self.focus != HomeFocus::Plans {
            left.push(hint(KeyAction::Search, "find"));
        }
        left.push(hint(KeyAction::FocusNext, "pane"));
        let right = vec![
            hint(KeyAction::Palette, "commands"),
            hint(KeyAction::Help, "help"),
            hint(KeyAction::Quit, "quit"),
        ];
        (left, right)
    }

    /// Whole hints only: those on the left go first where there is no room.
    fn draw_hints(&self, left: &[HomeKeyHint], right: &[HomeKeyHint], mut line: ScreenLine<'_>) {
        let (key, dim) = (self.style(ThemeRole::Key), self.style(ThemeRole::Dim));
        let mut pieces = Vec::new();
        for (at, (keys, words)) in right.iter().enumerate() {
            let gap = if at == 0 { "" } else { "  " };
            pieces.extend([
                styled_piece(format!("{gap}{keys}"), key),
                styled_piece(format!(" {words}"), dim),
            ]);
        }
        pieces.push(styled_piece(" ", dim));
        line.put_right(&pieces);
        line.skip(1);
        for (keys, words) in left {
            if line.cells_left() < keys.chars().count() + words.len() + 1 {
                break;
            }
            line.put(keys, key).put(&format!(" {words}"), dim).skip(2);
        }
    }
}
