//! The common representation of JSON and TOML: a tree of values with their positions in the file.

use std::fmt;
use std::ops::Range;

/// The maximum nesting depth of lists and tables.
pub(super) const MAX_DEPTH: usize = 128;

/// A value and the bytes it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueTree {
    pub(super) span: Range<usize>,
    pub(super) value: TreeValue,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TreeValue {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<ValueTree>),
    Table(Vec<TreeEntry>),
}

/// A field of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TreeEntry {
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    pub(super) tree: ValueTree,
}

impl ValueTree {
    /// Returns the kind of the value, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            TreeValue::Null => "null",
            TreeValue::Bool(_) => "true or false",
            TreeValue::Integer(_) => "a whole number",
            TreeValue::Float(_) => "a number",
            TreeValue::Text(_) => "text",
            TreeValue::List(_) => "a list",
            TreeValue::Table(_) => "a table",
        }
    }

    /// Returns the same value without its position.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            TreeValue::Null => serde_json::Value::Null,
            TreeValue::Bool(value) => (*value).into(),
            TreeValue::Integer(value) => (*value).into(),
            TreeValue::Float(value) => (*value).into(),
            TreeValue::Text(value) => value.as_str().into(),
            TreeValue::List(items) => items.iter().map(Self::to_json).collect(),
            TreeValue::Table(entries) => serde_json::Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.tree.to_json())).collect(),
            ),
        }
    }
}

/// The path of a value, such as `tasks[3].depends_on[0]`, built on the stack while decoding.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValuePath<'a> {
    Root,
    Field(&'a ValuePath<'a>, &'a str),
    Item(&'a ValuePath<'a>, usize),
}

impl fmt::Display for ValuePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => f.write_str(&escape_for_message(name)),
            Self::Field(parent, name) => write!(f, "{parent}.{}", escape_for_message(name)),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Makes untrusted text suitable for a message: control characters are escaped, long text is truncated.
pub(crate) fn escape_for_message(text: &str) -> String {
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
/// The cost of a lookup does not depend on the position: characters are counted once per block, because a
/// machine-written plan may be one line of several megabytes, and every task and link in it has a position.
#[derive(Debug)]
pub(super) struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// The number of characters that start before each block of the text.
    begun: Vec<usize>,
}

/// The number of bytes per block.
const BLOCK: usize = 128;

impl<'a> LineIndex<'a> {
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

    pub(super) fn line_and_column(&self, offset: usize) -> (u32, u32) {
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

    /// Returns the number of characters that start before a byte of the text.
    fn characters_before(&self, offset: usize) -> usize {
        let block = (offset / BLOCK).min(self.begun.len().saturating_sub(1));
        let begun = self.begun.get(block).copied().unwrap_or(0);
        begun + characters_in(&self.text.as_bytes()[(block * BLOCK).min(offset)..offset])
    }
}

/// Returns the number of characters that start in some bytes: continuation bytes are skipped.
fn characters_in(bytes: &[u8]) -> usize {
    #[cfg(test)]
    tests::SCANNED.with(|scanned| scanned.set(scanned.get() + bytes.len()));
    bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    thread_local! {
        /// The number of bytes scanned for columns, in this thread.
        pub static SCANNED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    #[test]
    fn paths_are_displayed_as_written_in_code() {
        let tasks = ValuePath::Field(&ValuePath::Root, "tasks");
        let task = ValuePath::Item(&tasks, 3);
        let links = ValuePath::Field(&task, "depends_on");
        assert_eq!(ValuePath::Item(&links, 0).to_string(), "tasks[3].depends_on[0]");
        assert_eq!(ValuePath::Field(&ValuePath::Root, "\u{1b}[31m").to_string(), "\\u{1b}[31m");
    }

    #[test]
    fn positions_are_counted_from_one_in_lines_and_characters() {
        let lines = LineIndex::new("é=1\nb=2\n");
        assert_eq!(lines.line_and_column(0), (1, 1));
        assert_eq!(lines.line_and_column(2), (1, 2));
        assert_eq!(lines.line_and_column(5), (2, 1));
        assert_eq!(lines.line_and_column(99), (3, 1));
        assert_eq!(LineIndex::new("").line_and_column(0), (1, 1));
    }

    #[test]
    fn a_position_far_along_a_line_is_counted_from_the_nearest_block() {
        let text = format!("{}\n{}", "é".repeat(1_000), "aß".repeat(5_000));
        let lines = LineIndex::new(&text);
        for (offset, _) in text.char_indices() {
            let line = text[..offset].matches('\n').count();
            let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
            let column = text[start..offset].chars().count();
            SCANNED.set(0);
            assert_eq!(
                lines.line_and_column(offset),
                (line as u32 + 1, column as u32 + 1),
                "{offset}"
            );
            assert!(SCANNED.get() <= 2 * BLOCK, "{} bytes for {offset}", SCANNED.get());
        }
        assert_eq!(lines.line_and_column(text.len()), (2, 10_001));
    }
}
