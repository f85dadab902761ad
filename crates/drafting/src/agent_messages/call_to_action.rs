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
            "Reply 'use <n>', 'accept late', 'propose changes: …' or 'stop'."
        }
        CallToActionKind::Cap | CallToActionKind::Limit => "Reply 'continue' or 'stop'.",
        CallToActionKind::Budget => {
            "Reply 'raise once', 'raise for the session', 'go on offline' or 'stop'."
        }
        CallToActionKind::Questions => "Reply with your answer, or 'skip'.",
        CallToActionKind::Goal => "Reply with your goal in one sentence.",
        CallToActionKind::Validation => "Reply with what should be different, or 'stop'.",
        CallToActionKind::LowConfidence => "Reply with what is missing, or 'stop'.",
        CallToActionKind::Model => "Reply 'retry', 'go on offline' or 'stop'.",
    }
}

/// The keys of the panel: `a` is the narrow yes, `s` the wider one, `r` asks for something else, `x` is the no.
fn key_prompt(ask: CallToActionKind) -> &'static str {
    match ask {
        CallToActionKind::Approval => {
            "Press a to approve and run, s to approve and stop, r to request changes."
        }
        CallToActionKind::Rfc => "Press a to approve, x to decline, r to request changes.",
        CallToActionKind::Escalation => {
            "Choose a way and press a, or press s to accept it late, r to request changes, x to stop."
        }
        CallToActionKind::Cap => "Press a to go on, x to stop.",
        CallToActionKind::Limit => {
            "Press a to go on, e to edit by hand, s to keep the plan and stop."
        }
        CallToActionKind::Budget => {
            "Press a to raise once, s to raise for the session, r to go on offline, x to stop."
        }
        CallToActionKind::Questions => "Type your answer, or press s to skip.",
        CallToActionKind::Goal => "Type your goal in one sentence.",
        CallToActionKind::Validation => {
            "Press r to say what should be different, e to edit by hand."
        }
        CallToActionKind::LowConfidence => "Type what is missing, or press x to stop.",
        CallToActionKind::Model => "Press R to retry, o to use the offline planner, x to stop.",
    }
}
