//! What a transcript contains, whichever program wrote it.

use jiff::Timestamp;
use serde_json::Value;

use planwright_model::AgentTodo;

/// One thing that happened.
#[derive(Clone, Debug)]
pub(super) struct TranscriptItem {
    pub at: Option<Timestamp>,
    /// Names the subagent that it is about; None for the agent itself.
    pub subagent: Option<String>,
    pub content: ItemContent,
}

#[derive(Clone, Debug)]
pub(super) enum ItemContent {
    /// What the person asked for; a turn begins.
    Prompt(String),
    /// A turn begins whose prompt is not in the file.
    TurnStarted,
    /// A subagent begins, with this title.
    SubagentStarted(String),
    /// What the program told the model: instructions, the environment, a summary.
    Context {
        role: String,
        text: String,
    },
    Reply(String),
    Thought(String),
    Call {
        id: Option<String>,
        tool: String,
        input: Value,
    },
    Outcome {
        id: Option<String>,
        output: Value,
        is_error: bool,
    },
    Todo(Vec<AgentTodo>),
    /// Tokens and dollars of one request, or of what the file has no requests for.
    Usage {
        tokens: u64,
        dollars: f64,
    },
    /// The turn could not go on, unless something follows.
    Error(String),
    /// A record of this kind that no version known to this program wrote.
    Unknown {
        kind: String,
        record: Value,
    },
}

/// A transcript as far as its format tells.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadTranscript {
    pub title: Option<String>,
    pub workspace: Option<String>,
    pub items: Vec<TranscriptItem>,
    /// Who does and when it is that the next items are about.
    subagent: Option<String>,
    at: Option<Timestamp>,
}

impl ReadTranscript {
    /// Sets the time and the subagent of the items that follow.
    pub(super) fn begin_record(&mut self, at: Option<Timestamp>, subagent: Option<String>) {
        self.at = at.or(self.at);
        self.subagent = subagent;
    }

    pub(super) fn add(&mut self, content: ItemContent) {
        self.items.push(TranscriptItem { at: self.at, subagent: self.subagent.clone(), content });
    }

    /// Adds a text unless it is empty.
    pub(super) fn add_text(&mut self, content: fn(String) -> ItemContent, text: &str) {
        if !text.trim().is_empty() {
            self.add(content(text.to_owned()));
        }
    }

    pub(super) fn add_context(&mut self, role: &str, text: &str) {
        if !text.trim().is_empty() {
            self.add(ItemContent::Context { role: role.to_owned(), text: text.to_owned() });
        }
    }

    /// Adds an error: its words, if the provider wrapped them in JSON. One that is told twice is one.
    pub(super) fn add_error(&mut self, text: &str) {
        let body = serde_json::from_str::<Value>(text).ok();
        let message = body.as_ref().and_then(|body| text_at(body, "/error/message"));
        let text = message.unwrap_or(text);
        let again = self
            .items
            .last()
            .is_some_and(|last| matches!(&last.content, ItemContent::Error(said) if said == text));
        if !again {
            self.add_text(ItemContent::Error, text);
        }
    }

    pub(super) fn add_call(&mut self, id: Option<&str>, tool: &str, input: Value) {
        let id = id.map(str::to_owned);
        self.add(ItemContent::Call { id, tool: tool.to_owned(), input });
    }

    pub(super) fn add_outcome(&mut self, id: Option<&str>, output: Value, is_error: bool) {
        self.add(ItemContent::Outcome { id: id.map(str::to_owned), output, is_error });
    }

    pub(super) fn add_usage(&mut self, tokens: u64, dollars: f64) {
        if tokens > 0 || dollars > 0.0 {
            self.add(ItemContent::Usage { tokens, dollars });
        }
    }

    pub(super) fn add_unknown(&mut self, kind: &str, record: &Value) {
        self.add(ItemContent::Unknown { kind: kind.to_owned(), record: record.clone() });
    }

    /// Adds the transcript of a subagent, in the order of time.
    pub(super) fn merge(&mut self, other: Self) {
        self.items.extend(other.items);
        // The sort is stable: what has no time of its own has that of the record before it.
        self.items.sort_by_key(|item| item.at);
    }
}

pub(super) fn text_field<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

pub(super) fn text_at<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

pub(super) fn number_at(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

pub(super) fn dollars_at(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_default()
}

pub(super) fn is_true(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool) == Some(true)
}

/// The items of a list, none if it is no list.
pub(super) fn list_at<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The time in a field `timestamp`: as text, or in milliseconds.
pub(super) fn timestamp_field(value: &Value) -> Option<Timestamp> {
    match value.get("timestamp")? {
        Value::String(text) => text.parse().ok(),
        number => millis(number),
    }
}

pub(super) fn millis(value: &Value) -> Option<Timestamp> {
    Timestamp::from_millisecond(value.as_i64()?).ok()
}

/// The text of a message: a string, or a list of parts with texts.
pub(super) fn message_text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| text_field(part, "text")).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// The first line of what a person wrote, as a title.
pub(super) fn title_of(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with('<'))?;
    // One program quotes what it is started with.
    let line = line.trim_matches('"');
    Some(line.chars().take(80).collect()).filter(|title: &String| !title.is_empty())
}
