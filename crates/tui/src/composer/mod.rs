//! What the person types into the panel: changes to a plan, an answer, a reason, a comment, the fields of a node.
//!
//! While it is open, all letters are text. `Esc` closes it and keeps what was typed.

mod draw;
mod form;
mod request_reading;

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Style;
use tui_textarea::TextArea;

pub(crate) use draw::draw_composer;
pub(crate) use form::{ComposerForm, FormPurpose, FormRow};
pub(crate) use request_reading::{RequestReadSource, RequestReadingLine, read_request};

use planwright_model::{ChoiceAction, RequestId, Stage, TaskId};
use planwright_text::{clean_text, wrap_words};

/// The longest text a box takes.
pub(crate) const LIMIT: usize = 2_000;

/// What a text is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ComposerTopic {
    /// Changes of the plan; as an answer where a request offers it.
    Changes { request: Option<RequestId> },
    /// An answer that takes words.
    Answer { request: RequestId, action: ChoiceAction, label: String },
    /// A remark on nodes.
    Comment { nodes: Vec<TaskId> },
    /// A remark on a line of a submitted plan, counted from 1.
    CommentLine { line: u32, quote: String },
    /// A message to the agent of a task that runs.
    Message { task: TaskId },
}

impl ComposerTopic {
    /// What a draft is kept under.
    pub(crate) fn draft_key(&self) -> String {
        match self {
            Self::Changes { .. } => "changes".to_owned(),
            Self::Answer { request, action, .. } => format!("{request} {action:?}"),
            Self::Message { task } => format!("message {task}"),
            Self::CommentLine { line, .. } => format!("line {line}"),
            Self::Comment { nodes } => {
                nodes.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// What an open composer is.
#[derive(Clone, Debug)]
pub(crate) enum Composer {
    Text(Box<ComposerTextBox>),
    Form(Box<ComposerForm>),
}

/// What a key in a composer leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ComposerOutcome {
    Stay,
    Close,
    Send,
    /// Between the whole plan and the marked nodes, or to the lines of a submitted plan.
    ToggleScope,
    /// The stage that changes start from.
    CycleStage,
    /// The text goes to `$EDITOR`.
    Editor,
}

/// A box for a few lines of text.
#[derive(Clone, Debug)]
pub(crate) struct ComposerTextBox {
    pub(crate) topic: ComposerTopic,
    area: TextArea<'static>,
    /// Whether changes are asked of the marked nodes only.
    pub(crate) marked_only: bool,
    /// The stage that the person wants changes to start from; none leaves it to the words.
    pub(crate) stage: Option<Stage>,
    /// What was read from a request for changes so far.
    pub(crate) reading: Vec<RequestReadingLine>,
}

impl ComposerTextBox {
    pub(crate) fn new(topic: ComposerTopic, text: &str, marked_only: bool) -> Self {
        let mut area = TextArea::new(clean_text(text).lines().map(str::to_owned).collect());
        area.set_cursor_line_style(Style::default());
        area.set_wrap_mode(tui_textarea::WrapMode::Word);
        area.move_cursor(tui_textarea::CursorMove::Bottom);
        area.move_cursor(tui_textarea::CursorMove::End);
        Self { topic, area, marked_only, stage: None, reading: Vec::new() }
    }

    pub(crate) fn text(&self) -> String {
        self.area.lines().join("\n").trim().to_owned()
    }

    /// How many rows the text takes in a box of this width.
    fn row_count(&self, width: usize) -> usize {
        self.area.lines().iter().map(|line| wrap_words(line, width, 0).len().max(1)).sum()
    }

    fn char_count(&self) -> usize {
        self.area.lines().iter().map(|line| line.chars().count() + 1).sum::<usize>() - 1
    }

    fn on_key(&mut self, event: &KeyEvent) -> ComposerOutcome {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Esc => return ComposerOutcome::Close,
            KeyCode::Char('j') if ctrl => self.area.insert_newline(),
            KeyCode::Char('g') if ctrl => return ComposerOutcome::Editor,
            KeyCode::Char('t') if ctrl => return ComposerOutcome::CycleStage,
            // As in a shell; the widget would take back the last change.
            KeyCode::Char('u') if ctrl => {
                self.area.delete_line_by_head();
            }
            KeyCode::Enter => return ComposerOutcome::Send,
            KeyCode::Tab => return ComposerOutcome::ToggleScope,
            KeyCode::Char(_) if !ctrl && self.char_count() >= LIMIT => {}
            _ => {
                self.area.input(*event);
            }
        }
        ComposerOutcome::Stay
    }

    /// From the words to each stage in turn.
    pub(crate) fn cycle_stage(&mut self) {
        self.stage = match self.stage {
            None => Some(Stage::Outline),
            Some(Stage::Outline) => Some(Stage::Roadmap),
            Some(Stage::Roadmap) => Some(Stage::Schedule),
            Some(Stage::Schedule) => None,
        };
    }

    fn on_paste(&mut self, text: &str) {
        let room = LIMIT.saturating_sub(self.char_count());
        self.area.insert_str(clean_text(text).chars().take(room).collect::<String>());
    }

    /// Puts other text into the box, as an editor left it.
    pub(crate) fn replace_text(&mut self, text: &str) {
        let text: String = text.chars().take(LIMIT).collect();
        let (stage, reading) = (self.stage, std::mem::take(&mut self.reading));
        *self = Self::new(self.topic.clone(), text.trim_end(), self.marked_only);
        (self.stage, self.reading) = (stage, reading);
    }
}

impl Composer {
    pub(crate) fn on_key(&mut self, event: &KeyEvent) -> ComposerOutcome {
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
pub(crate) type UnsentDrafts = BTreeMap<String, String>;

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &mut ComposerTextBox, letters: &str) {
        for letter in letters.chars() {
            text.on_key(&KeyEvent::from(KeyCode::Char(letter)));
        }
    }

    #[test]
    fn all_letters_are_text_and_enter_sends() {
        let mut text = ComposerTextBox::new(ComposerTopic::Changes { request: None }, "", false);
        typed(&mut text, "q?ax");
        assert_eq!(text.text(), "q?ax");
        let newline = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL);
        assert_eq!(text.on_key(&newline), ComposerOutcome::Stay);
        typed(&mut text, "b");
        assert_eq!(text.text(), "q?ax\nb");
        assert_eq!(text.on_key(&KeyEvent::from(KeyCode::Enter)), ComposerOutcome::Send);
        assert_eq!(text.on_key(&KeyEvent::from(KeyCode::Esc)), ComposerOutcome::Close);
    }

    #[test]
    fn a_box_takes_so_much_and_no_more_and_only_clean_text() {
        let mut text = ComposerTextBox::new(ComposerTopic::Changes { request: None }, "", false);
        text.on_paste(&"a\u{1b}[31m".repeat(4_000));
        assert_eq!(text.char_count(), LIMIT);
        typed(&mut text, "zzz");
        assert!(!text.text().contains('z') && !text.text().contains('\u{1b}'));
    }
}
