//! What the person is asked to do: one line at the end of a message, as replies or as keys.

use std::fmt;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
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

impl Ask {
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
pub enum Form {
    /// By typing: in a pipe, in plain mode, from another process.
    Replies,
    /// By the actions of the panel.
    Keys,
}

/// A request in one of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cta {
    pub ask: Ask,
    pub form: Form,
}

impl fmt::Display for Cta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.form {
            Form::Replies => replies(self.ask),
            Form::Keys => keys(self.ask),
        })
    }
}

fn replies(ask: Ask) -> &'static str {
    match ask {
        Ask::Approval => "Reply 'approve' or 'propose changes: …'.",
        Ask::Rfc => "Reply 'approve', 'decline' or 'propose changes: …'.",
        Ask::Escalation => "Reply 'use <n>', 'accept late', 'propose changes: …' or 'stop'.",
        Ask::Cap | Ask::Limit => "Reply 'continue' or 'stop'.",
        Ask::Budget => "Reply 'raise once', 'raise for the session', 'go on offline' or 'stop'.",
        Ask::Questions => "Reply with your answer, or 'skip'.",
        Ask::Goal => "Reply with your goal in one sentence.",
        Ask::Validation => "Reply with what should be different, or 'stop'.",
        Ask::LowConfidence => "Reply with what is missing, or 'stop'.",
        Ask::Model => "Reply 'retry', 'go on offline' or 'stop'.",
    }
}

/// The panel's keys: `a` is the narrow yes, `s` the wider one, `r` asks for something else, `x` is the no.
fn keys(ask: Ask) -> &'static str {
    match ask {
        Ask::Approval => "Press a to approve and run, s to approve and stop, r to request changes.",
        Ask::Rfc => "Press a to approve, x to decline, r to request changes.",
        Ask::Escalation => {
            "Choose a way and press a, or press s to accept it late, r to request changes, x to stop."
        }
        Ask::Cap => "Press a to go on, x to stop.",
        Ask::Limit => "Press a to go on, e to edit by hand, s to keep the plan and stop.",
        Ask::Budget => {
            "Press a to raise once, s to raise for the session, r to go on offline, x to stop."
        }
        Ask::Questions => "Type your answer, or press s to skip.",
        Ask::Goal => "Type your goal in one sentence.",
        Ask::Validation => "Press r to say what should be different, e to edit by hand.",
        Ask::LowConfidence => "Type what is missing, or press x to stop.",
        Ask::Model => "Press R to retry, o to use the offline planner, x to stop.",
    }
}
