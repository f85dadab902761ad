//! A few labelled lines to fill in: the answers to questions.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::ComposerOutcome;
use crate::widgets::TextField;
use planwright_model::RequestId;

/// What a form is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FormPurpose {
    Questions { request: RequestId },
}

impl FormPurpose {
    /// What the text of a line is kept under.
    pub(crate) fn draft_key(&self, row: &str) -> String {
        let Self::Questions { request } = self;
        format!("{request} {row}")
    }
}

/// One line of a form.
#[derive(Clone, Debug)]
pub(crate) struct FormRow {
    pub(crate) key: String,
    pub(crate) label: String,
    /// What an empty line means.
    pub(crate) hint: String,
    pub(crate) field: TextField,
}

impl FormRow {
    pub(crate) fn new(key: &str, label: &str, hint: &str, text: &str) -> Self {
        Self {
            key: key.to_owned(),
            label: label.to_owned(),
            hint: hint.to_owned(),
            field: TextField::new(text),
        }
    }
}

/// An open form.
#[derive(Clone, Debug)]
pub(crate) struct ComposerForm {
    pub(crate) purpose: FormPurpose,
    pub(crate) title: String,
    pub(crate) rows: Vec<FormRow>,
    pub(crate) at: usize,
}

impl ComposerForm {
    pub(crate) fn new(purpose: FormPurpose, title: impl Into<String>, rows: Vec<FormRow>) -> Self {
        Self { purpose, title: title.into(), rows, at: 0 }
    }

    /// What stands in its lines, each with what it is kept under.
    pub(crate) fn unsent_texts(&self) -> Vec<(String, String)> {
        let text =
            |row: &FormRow| (self.purpose.draft_key(&row.key), row.field.text().trim().to_owned());
        self.rows.iter().map(text).collect()
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> ComposerOutcome {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let last = self.rows.len().saturating_sub(1);
        match event.code {
            KeyCode::Esc => return ComposerOutcome::Close,
            KeyCode::Char('s') if ctrl => return ComposerOutcome::Send,
            KeyCode::Enter if self.at >= last => return ComposerOutcome::Send,
            KeyCode::Enter | KeyCode::Down | KeyCode::Tab => self.at = (self.at + 1).min(last),
            KeyCode::Up | KeyCode::BackTab => self.at = self.at.saturating_sub(1),
            _ => {
                if let Some(row) = self.rows.get_mut(self.at) {
                    row.field.on_key(event);
                }
            }
        }
        ComposerOutcome::Stay
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        if let Some(row) = self.rows.get_mut(self.at) {
            row.field.on_paste(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_goes_to_the_next_line_and_sends_from_the_last() {
        let rows = vec![FormRow::new("a", "A", "", "one"), FormRow::new("b", "B", "", "")];
        let purpose = FormPurpose::Questions { request: RequestId(1) };
        let mut form = ComposerForm::new(purpose, "two", rows);
        let enter = KeyEvent::from(KeyCode::Enter);
        assert_eq!(form.on_key(&enter), ComposerOutcome::Stay);
        assert_eq!(form.at, 1);
        form.on_key(&KeyEvent::from(KeyCode::Char('x')));
        assert_eq!(form.on_key(&enter), ComposerOutcome::Send);
        let texts: Vec<&str> = form.rows.iter().map(|row| row.field.text()).collect();
        assert_eq!(texts, ["one", "x"]);
    }
}
