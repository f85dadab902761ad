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
///
/// A place costs the same wherever it is: characters are counted once per block, because a plan that a program wrote may be
/// one line of megabytes, and every task and link of it has a place.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// How many characters begin before each block of the text.
    begun: Vec<usize>,
}

/// How many bytes are counted at once.
const BLOCK: usize = 128;

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        let begun = text.as_bytes().chunks(BLOCK).scan(0, |begun, block| {
            let before = *begun;
            *begun += characters_in(block);
            Some(before)
        });
        Self { text, starts, begun: begun.collect() }
    }

    pub(super) fn place(&self, offset: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let start = self.starts[line];
        let is_inside = offset <= self.text.len();
        let column = if is_inside {
            self.characters_before(offset) - self.characters_before(start)
        } else {
            0
        };
        (line as u32 + 1, column as u32 + 1)
    }

    /// How many characters begin before a byte of the text.
    fn characters_before(&self, offset: usize) -> usize {
        let block = (offset / BLOCK).min(self.begun.len().saturating_sub(1));
        let begun = self.begun.get(block).copied().unwrap_or(0);
        begun + characters_in(&self.text.as_bytes()[(block * BLOCK).min(offset)..offset])
    }
}

/// How many characters begin in some bytes: those that continue one are left out.
fn characters_in(bytes: &[u8]) -> usize {
    #[cfg(test)]
    tests::SCANNED.with(|scanned| scanned.set(scanned.get() + bytes.len()));
    bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    thread_local! {
        /// How many bytes were looked at for columns, in this thread.
        pub static SCANNED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

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
        assert_eq!(Lines::new("").place(0), (1, 1));
    }

    #[test]
    fn a_place_far_along_a_line_is_counted_from_the_nearest_block() {
        let text = format!("{}\n{}", "é".repeat(1_000), "aß".repeat(5_000));
        let lines = Lines::new(&text);
        for (offset, _) in text.char_indices() {
            let line = text[..offset].matches('\n').count();
            let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
            let column = text[start..offset].chars().count();
            SCANNED.set(0);
            assert_eq!(lines.place(offset), (line as u32 + 1, column as u32 + 1), "{offset}");
            assert!(SCANNED.get() <= 2 * BLOCK, "{} bytes for {offset}", SCANNED.get());
        }
        assert_eq!(lines.place(text.len()), (2, 10_001));
    }
}
