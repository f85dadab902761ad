//! What the person types into the panel: changes to a plan, an answer, a reason, a comment, the fields of a node.
//!
//! While it is open, all letters are text. `Esc` closes it and keeps what was typed.

mod after;
mod draw;
mod form;

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Style;
use tui_textarea::TextArea;

pub(crate) use draw::draw;
pub(crate) use form::{Form, FormRow, Purpose as FormPurpose};

use planwright_model::{ChoiceAction, RequestId, Stage, TaskId};
use planwright_text::{clean, wrap};

/// The longest text a box takes.
pub(crate) const LIMIT: usize = 2_000;

/// What a text is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Changes of the plan; as an answer where a request offers it.
    Changes { request: Option<RequestId> },
    /// An answer that takes words.
    Answer { request: RequestId, action: ChoiceAction, label: String },
    /// A remark on nodes.
    Comment { nodes: Vec<TaskId> },
}

impl Topic {
    /// What a draft is kept under.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Changes { .. } => "changes".to_owned(),
            Self::Answer { request, action, .. } => format!("{request} {action:?}"),
            Self::Comment { nodes } => {
                nodes.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// What an open composer is.
#[derive(Clone, Debug)]
pub(crate) enum Composer {
    Text(Box<TextBox>),
    Form(Box<Form>),
}

/// What a key in a composer leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Stay,
    Close,
    Send,
    /// Between the whole plan and the marked nodes.
    TurnScope,
    /// The stage that changes start from.
    TurnStage,
    /// The text goes to `$EDITOR`.
    Editor,
}

/// A box for a few lines of text.
#[derive(Clone, Debug)]
pub(crate) struct TextBox {
    pub(crate) topic: Topic,
    area: TextArea<'static>,
    /// Whether changes are asked of the marked nodes only.
    pub(crate) marked_only: bool,
    /// The stage that the person wants changes to start from; none leaves it to the words.
    pub(crate) stage: Option<Stage>,
}

impl TextBox {
    pub(crate) fn new(topic: Topic, text: &str, marked_only: bool) -> Self {
        let mut area = TextArea::new(clean(text).lines().map(str::to_owned).collect());
        area.set_cursor_line_style(Style::default());
        area.set_wrap_mode(tui_textarea::WrapMode::Word);
        area.move_cursor(tui_textarea::CursorMove::Bottom);
        area.move_cursor(tui_textarea::CursorMove::End);
        Self { topic, area, marked_only, stage: None }
    }

    pub(crate) fn text(&self) -> String {
        self.area.lines().join("\n").trim().to_owned()
    }

    /// How many rows the text takes in a box of this width.
    fn rows(&self, width: usize) -> usize {
        self.area.lines().iter().map(|line| wrap(line, width, 0).len().max(1)).sum()
    }

    fn length(&self) -> usize {
        self.area.lines().iter().map(|line| line.chars().count() + 1).sum::<usize>() - 1
    }

    fn on_key(&mut self, event: &KeyEvent) -> Typed {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Esc => return Typed::Close,
            KeyCode::Char('j') if ctrl => self.area.insert_newline(),
            KeyCode::Char('g') if ctrl => return Typed::Editor,
            KeyCode::Char('t') if ctrl => return Typed::TurnStage,
            // As in a shell; the widget would take back the last change.
            KeyCode::Char('u') if ctrl => {
                self.area.delete_line_by_head();
            }
            KeyCode::Enter => return Typed::Send,
            KeyCode::Tab => return Typed::TurnScope,
            KeyCode::Char(_) if !ctrl && self.length() >= LIMIT => {}
            _ => {
                self.area.input(*event);
            }
        }
        Typed::Stay
    }

    /// From the words to each stage in turn.
    pub(crate) fn turn_stage(&mut self) {
        self.stage = match self.stage {
            None => Some(Stage::Outline),
            Some(Stage::Outline) => Some(Stage::Roadmap),
            Some(Stage::Roadmap) => Some(Stage::Schedule),
            Some(Stage::Schedule) => None,
        };
    }

    fn on_paste(&mut self, text: &str) {
        let room = LIMIT.saturating_sub(self.length());
        self.area.insert_str(clean(text).chars().take(room).collect::<String>());
    }

    /// Puts other text into the box, as an editor left it.
    pub(crate) fn replace(&mut self, text: &str) {
        let text: String = text.chars().take(LIMIT).collect();
        let stage = self.stage;
        *self = Self::new(self.topic.clone(), text.trim_end(), self.marked_only);
        self.stage = stage;
    }
}

impl Composer {
    pub(crate) fn on_key(&mut self, event: &KeyEvent) -> Typed {
        match self {
            Self::Text(text) => text.on_key(event),
            Self::Form(form) => form.on_key(event),
        }
    }

    /// Takes pasted text, which never does anything but stand in the box.
    pub(crate) fn on_paste(&mut self, text: &str) {
        match self {
            Self::Text(area) => area.on_paste(text),
            Self::Form(form) => form.on_paste(text),
        }
    }
}

/// Drafts that were closed without being sent, by what they are about.
pub(crate) type Drafts = BTreeMap<String, String>;

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &mut TextBox, letters: &str) {
        for letter in letters.chars() {
            text.on_key(&KeyEvent::from(KeyCode::Char(letter)));
        }
    }

    #[test]
    fn all_letters_are_text_and_enter_sends() {
        let mut text = TextBox::new(Topic::Changes { request: None }, "", false);
        typed(&mut text, "q?ax");
        assert_eq!(text.text(), "q?ax");
        let newline = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL);
        assert_eq!(text.on_key(&newline), Typed::Stay);
        typed(&mut text, "b");
        assert_eq!(text.text(), "q?ax\nb");
        assert_eq!(text.on_key(&KeyEvent::from(KeyCode::Enter)), Typed::Send);
        assert_eq!(text.on_key(&KeyEvent::from(KeyCode::Esc)), Typed::Close);
    }

    #[test]
    fn a_box_takes_so_much_and_no_more_and_only_clean_text() {
        let mut text = TextBox::new(Topic::Changes { request: None }, "", false);
        text.on_paste(&"a\u{1b}[31m".repeat(4_000));
        assert_eq!(text.length(), LIMIT);
        typed(&mut text, "zzz");
        assert!(!text.text().contains('z') && !text.text().contains('\u{1b}'));
    }
}
