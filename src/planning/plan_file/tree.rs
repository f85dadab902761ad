//! What JSON and TOML have in common: a tree of values that know their place in the file.

use std::fmt;
use std::ops::Range;

/// How deep lists and tables may be nested.
pub(super) const MAX_DEPTH: usize = 128;

/// A value and the bytes it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pub(super) span: Range<usize>,
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Tree>),
    Table(Vec<Entry>),
}

/// A field of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    pub(super) tree: Tree,
}

impl Tree {
    /// What the value is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The same value without its place.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Integer(value) => (*value).into(),
            Value::Float(value) => (*value).into(),
            Value::Text(value) => value.as_str().into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(entries) => serde_json::Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.tree.to_json())).collect(),
            ),
        }
    }
}

/// The path of a value, such as `tasks[3].depends_on[0]`, built on the stack while decoding.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => f.write_str(&shown(name)),
            Self::Field(parent, name) => write!(f, "{parent}.{}", shown(name)),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Foreign text made fit for a message: control characters escaped, long text cut.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::new();
    for (position, c) in text.chars().enumerate() {
        if position == 60 {
            out.push('…');
            break;
        }
        if c.is_control() || is_invisible(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Characters that reorder or hide text on a screen.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Line and column of a byte, both counted from 1, the column in characters.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    pub(super) fn place(&self, offset: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let start = self.starts[line];
        let before = self.text.as_bytes().get(start..offset).unwrap_or_default();
        // Bytes that continue a character do not count.
        let column = before.iter().filter(|byte| (**byte & 0xc0) != 0x80).count();
        (line as u32 + 1, column as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_they_are_written_in_code() {
        let tasks = Path::Field(&Path::Root, "tasks");
        let task = Path::Item(&tasks, 3);
        let links = Path::Field(&task, "depends_on");
        assert_eq!(Path::Item(&links, 0).to_string(), "tasks[3].depends_on[0]");
        assert_eq!(Path::Field(&Path::Root, "\u{1b}[31m").to_string(), "\\u{1b}[31m");
    }

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let lines = Lines::new("é=1\nb=2\n");
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(2), (1, 2));
        assert_eq!(lines.place(5), (2, 1));
        assert_eq!(lines.place(99), (3, 1));
    }
}
