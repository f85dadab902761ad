//! What the person is asked to do: one line at the end of a message, as replies or as keys.

use std::fmt;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallToActionKind {
    Approval,
    Rfc,
    Escalation,
    /// A limit on time or turns was reached.
    Cap,
    /// A limit on revisions, escalations or continuations was reached.
    Limit,
    Budget,
    Questions,
    Goal,
    Validation,
    LowConfidence,
    /// The model that drafts failed.
    Model,
}

impl CallToActionKind {
    pub const ALL: [Self; 11] = [
        Self::Approval,
        Self::Rfc,
        Self::Escalation,
        Self::Cap,
        Self::Limit,
        Self::Budget,
        Self::Questions,
        Self::Goal,
        Self::Validation,
        Self::LowConfidence,
        Self::Model,
    ];

    /// The request that a line of a message makes, if it is one for replies. Two kinds share a line; the keys for the
    /// more common one are right for both.
    pub fn of_reply_prompt(line: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ask| reply_prompt(*ask) == line)
    }

    /// The request for keys, with the keys that are bound.
    pub fn key_prompt(self, bound: &dyn Fn(char) -> String) -> String {
        let word = |word: &str| {
            let (key, rest) = word.split_at(word.trim_end_matches(',').len());
            match key.chars().next() {
                Some(letter) if key.len() == 1 => format!("{}{rest}", bound(letter)),
                _ => word.to_owned(),
            }
        };
        key_prompt(self).split(' ').map(word).collect::<Vec<_>>().join(" ")
    }
}

/// How the person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallToActionForm {
    /// By typing: in a pipe, in plain mode, from another process.
    Replies,
    /// By the actions of the panel.
    Keys,
}

/// A request in one of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallToAction {
    pub ask: CallToActionKind,
    pub form: CallToActionForm,
}

impl fmt::Display for CallToAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.form {
            CallToActionForm::Replies => reply_prompt(self.ask),
            CallToActionForm::Keys => key_prompt(self.ask),
        })
    }
}

fn reply_prompt(ask: CallToActionKind) -> &'static str {
    match ask {
        CallToActionKind::Approval => "Reply 'approve' or 'propose changes: …'.",
        CallToActionKind::Rfc => "Reply 'approve', 'decline' or 'propose changes: …'.",
        CallToActionKind::Escalation => {
            "Reply 'use <n>', 'keep it as it is', 'propose changes: …' or 'stop'."
        }
        CallToActionKind::Cap | CallToActionKind::Limit => "Reply 'continue' or 'stop'.",
        CallToActionKind::Budget => {
            "Reply 'raise once', 'raise for this plan', 'continue without paid calls' or 'stop'."
        }
        CallToActionKind::Questions => "Reply with your answer, or 'skip'.",
        CallToActionKind::Goal => "Reply with your goal in one sentence.",
        CallToActionKind::Validation => "Reply with what should be different, or 'stop'.",
        CallToActionKind::LowConfidence => "Reply with what is missing, or 'stop'.",
        CallToActionKind::Model => "Reply 'retry', 'use the built-in planner' or 'stop'.",
    }
}

/// The keys of the panel: `a` is the narrow yes, `A` the wider one, `r` asks for something else, `x` is the no.
fn key_prompt(ask: CallToActionKind) -> &'static str {
    match ask {
        CallToActionKind::Approval => "Press a to approve, A to start later, r to request changes.",
        CallToActionKind::Rfc => "Press a to approve, x to decline, r to request changes.",
        CallToActionKind::Escalation => {
            "Press A to choose what changes, r to request changes, x to discard."
        }
        CallToActionKind::Cap => "Press a to continue, x to stop.",
        CallToActionKind::Limit => "Press a to continue, e to edit, x to keep the draft and stop.",
        CallToActionKind::Budget => {
            "Press a to raise it once, A for this plan, S to continue without paid calls, x to stop."
        }
        CallToActionKind::Questions => "Type your answer, or press S to skip.",
        CallToActionKind::Goal => "Type your goal in one sentence.",
        CallToActionKind::Validation => "Press r to say what should be different, e to edit.",
        CallToActionKind::LowConfidence => "Type what is missing, or press x to stop.",
        CallToActionKind::Model => "Press R to retry, S to use the built-in planner, x to stop.",
    }
}
