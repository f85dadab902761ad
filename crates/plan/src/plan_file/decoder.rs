//! What decoding every part of a plan file shares: typed access to values, and reports with places.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::tree::{Entry, Lines, Path, Tree, Value, shown};
use crate::graph::Vocabulary;
use crate::graph::lists::{self, Separators};
use planwright_model::{Normalization, Severity, TaskId, Violation};
use planwright_text::nearest;

/// How many violations are collected; nobody reads more.
const MAX_VIOLATIONS: usize = 1000;

/// A field's name in plan files and the other names it goes by.
pub(super) type FieldNames = (&'static str, &'static [&'static str]);

/// The fields of a table by their first names.
pub(super) type Fields<'t> = BTreeMap<&'static str, &'t Entry>;

pub(super) struct Decoder<'a> {
    pub(super) lines: Lines<'a>,
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) violations: Vec<Violation>,
    pub(super) normalization: Vec<Normalization>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(text: &'a str, vocabulary: &'a Vocabulary) -> Self {
        let lines = Lines::new(text);
        Self { lines, vocabulary, violations: Vec::new(), normalization: Vec::new() }
    }

    /// Whether so much is wrong that nothing more is collected.
    pub(super) fn is_full(&self) -> bool {
        self.violations.len() >= MAX_VIOLATIONS
    }

    /// Reports a violation at a byte of the file.
    pub(super) fn report(&mut self, mut violation: Violation, at: usize) {
        if !self.is_full() {
            let (line, column) = self.lines.place(at);
            (violation.line, violation.column) = (Some(line), Some(column));
            self.violations.push(violation);
        }
    }

    /// Reports a value that cannot be used.
    pub(super) fn bad(
        &mut self,
        tree: &Tree,
        path: Path<'_>,
        message: impl AsRef<str>,
        suggested_fix: impl Into<String>,
    ) {
        let place = match path {
            Path::Root => "the file".to_owned(),
            path => format!("`{path}`"),
        };
        let message = format!("{place} {}", message.as_ref());
        let violation = Violation::new("bad_value", Severity::Fatal, message, suggested_fix);
        self.report(violation, tree.span.start);
    }

    fn wrong_kind(&mut self, tree: &Tree, path: Path<'_>, expected: &str) {
        let message = format!("must be {expected}, not {}", tree.kind());
        self.bad(tree, path, message, format!("Write {expected}."));
    }

    /// Records a change that was made to what the person wrote.
    pub(super) fn note(&mut self, code: &str, task_id: Option<&TaskId>, detail: impl Into<String>) {
        let (code, task_id) = (code.to_owned(), task_id.cloned());
        self.normalization.push(Normalization { code, task_id, detail: detail.into() });
    }

    /// The fields of a table. Unknown names and names given twice are reported.
    pub(super) fn fields<'t>(
        &mut self,
        tree: &'t Tree,
        path: Path<'_>,
        known: &[FieldNames],
    ) -> Option<Fields<'t>> {
        let entries = self.table(tree, path)?;
        let mut fields = Fields::new();
        for entry in entries {
            let named = |(name, aliases): &&FieldNames| {
                *name == entry.key || aliases.contains(&entry.key.as_str())
            };
            // Null means "not given", as JSON writers have it; only a value to compare with may be null.
            let absent = matches!(entry.tree.value, Value::Null) && entry.key != "equals";
            match known.iter().find(named) {
                Some(_) if absent => {}
                None => self.unknown_field(entry, path, known),
                Some((name, _)) if fields.contains_key(name) => {
                    let path = Path::Field(&path, &entry.key);
                    let message = "is given twice, once by another name";
                    self.bad(&entry.tree, path, message, format!("Keep one `{name}`."));
                }
                Some((name, _)) => {
                    fields.insert(name, entry);
                }
            }
        }
        Some(fields)
    }

    fn unknown_field(&mut self, entry: &Entry, path: Path<'_>, known: &[FieldNames]) {
        if self.is_full() {
            return;
        }
        let names = known.iter().flat_map(|(name, aliases)| std::iter::once(name).chain(*aliases));
        let fix = if let Some(name) = nearest(&entry.key, names.copied()) {
            format!("Did you mean `{name}`?")
        } else {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            format!("Remove it; the fields here are {}.", names.join(", "))
        };
        let place = Path::Field(&path, &entry.key);
        let message = format!("`{place}` is not a field of a plan file");
        let violation = Violation::new("unknown_field", Severity::Fatal, message, fix);
        self.report(violation, entry.key_span.start);
    }

    pub(super) fn table<'t>(&mut self, tree: &'t Tree, path: Path<'_>) -> Option<&'t [Entry]> {
        let Value::Table(entries) = &tree.value else {
            self.wrong_kind(tree, path, "a table");
            return None;
        };
        Some(entries)
    }

    pub(super) fn text<'t>(&mut self, tree: &'t Tree, path: Path<'_>) -> Option<&'t str> {
        let Value::Text(text) = &tree.value else {
            self.wrong_kind(tree, path, "text");
            return None;
        };
        Some(text)
    }

    pub(super) fn boolean(&mut self, tree: &Tree, path: Path<'_>) -> Option<bool> {
        let Value::Bool(value) = tree.value else {
            self.wrong_kind(tree, path, "true or false");
            return None;
        };
        Some(value)
    }

    /// A whole number within bounds.
    pub(super) fn integer(
        &mut self,
        tree: &Tree,
        path: Path<'_>,
        bounds: RangeInclusive<i64>,
    ) -> Option<i64> {
        let Some(number) = whole(tree) else {
            self.wrong_kind(tree, path, "a whole number");
            return None;
        };
        if bounds.contains(&number) {
            return Some(number);
        }
        let (low, high) = (*bounds.start(), *bounds.end());
        let allowed = match (low == i64::MIN, high == i64::MAX) {
            (_, true) => format!("at least {low}"),
            (true, _) => format!("at most {high}"),
            _ => format!("from {low} to {high}"),
        };
        let message = format!("is {number}, out of range");
        self.bad(tree, path, message, format!("Write a whole number {allowed}."));
        None
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        tree: &Tree,
        path: Path<'_>,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.text(tree, path)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let fix = if let Some(word) = nearest(text, words.iter().map(|(word, _)| *word)) {
            format!("Did you mean \"{word}\"?")
        } else {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            format!("Write one of {}.", words.join(", "))
        };
        self.bad(tree, path, format!("cannot be \"{}\"", shown(text)), fix);
        None
    }

    /// A list of texts. Text is split, blanks are dropped, and both are noted.
    pub(super) fn texts(
        &mut self,
        tree: &Tree,
        path: Path<'_>,
        separators: Separators,
        task: &TaskId,
    ) -> Vec<String> {
        match &tree.value {
            Value::Text(text) => self.split(text, path, separators, task),
            Value::List(items) => items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| self.text(item, Path::Item(&path, index)))
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(str::to_owned)
                .collect(),
            _ => {
                self.wrong_kind(tree, path, "a list");
                Vec::new()
            }
        }
    }

    /// Splits text where a list is expected, and notes it.
    pub(super) fn split(
        &mut self,
        text: &str,
        path: Path<'_>,
        separators: Separators,
        task: &TaskId,
    ) -> Vec<String> {
        let items = lists::split(text, separators);
        let detail = format!("`{path}` was text and became a list of {}", items.len());
        self.note("text_split", Some(task), detail);
        items
    }

    /// A list, or a report that it is none.
    pub(super) fn list<'t>(&mut self, tree: &'t Tree, path: Path<'_>) -> Option<&'t [Tree]> {
        let Value::List(items) = &tree.value else {
            self.wrong_kind(tree, path, "a list");
            return None;
        };
        Some(items)
    }
}

/// A whole number, also one written as `2.0`.
pub(super) fn whole(tree: &Tree) -> Option<i64> {
    match tree.value {
        Value::Integer(number) => Some(number),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(number as i64),
        _ => None,
    }
}

/// Any number.
pub(super) fn number(tree: &Tree) -> Option<f64> {
    match tree.value {
        Value::Integer(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    }
}
