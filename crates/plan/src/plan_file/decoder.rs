//! Shared parts of decoding a plan file: typed access to values, and reports with positions.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::include::TextSegment;
use super::value_tree::{
    LineIndex, TreeEntry, TreeValue, ValuePath, ValueTree, escape_for_message,
};
use crate::graph::TaskVocabulary;
use crate::graph::text_lists::{self, ListSeparators};
use planwright_model::{NormalizationChange, Severity, TaskId, Violation};
use planwright_text::nearest_name;

/// The maximum number of collected violations; nobody reads more.
const MAX_VIOLATIONS: usize = 1000;

/// What other programs call a field, which field that is here, and how it is written.
const FIELDS_ELSEWHERE: [(&[&str], &str, &str); 15] = [
    (&["needs", "deps", "requires", "after"], "depends_on", "Write depends_on = [\"…\"]."),
    (
        &["cmd", "cmds", "command", "commands", "script", "exec"],
        "run",
        "Write run = { shell = \"…\" }.",
    ),
    (
        &["if", "condition"],
        "when",
        "Write when = { if = \"…\" }; for failure() or always(), when = \"failed\" or when = \"always\".",
    ),
    (
        &["env", "environment", "shell", "timeout", "retries", "cwd", "secrets", "env_file"],
        "defaults",
        "Write it under [defaults], for all commands.",
    ),
    (
        &["schedule", "cron"],
        "not_before",
        "A plan runs when it is started; write not_before = \"2026-12-01T09:00\" for a task that waits for its time.",
    ),
    (&["finally", "always"], "when", "Write when = \"always\"."),
    (&["dir", "directory", "working-directory", "workdir"], "cwd", "Write cwd = \"…\"."),
    (&["environment", "variables"], "env", "Write env = { NAME = \"…\" }."),
    (
        &["continue-on-error", "ignore_error", "allow_failure"],
        "continue_on_error",
        "Write continue_on_error = true.",
    ),
    (&["sources"], "inputs", "Write inputs = [\"…\"] and cache = true."),
    (&["timeout-minutes", "timeout_minutes"], "timeout", "Write timeout = \"5m\"."),
    (
        &["steps", "uses", "recipe"],
        "run",
        "Write run = { shell = \"…\" }, and a task for each step that others wait for.",
    ),
    (&["strategy", "foreach", "for"], "matrix", "Write matrix = { os = [\"…\", \"…\"] }."),
    (
        &["concurrency", "mutex", "lock"],
        "pool",
        "Write pool = \"NAME\", and NAME = 1 under [resources].",
    ),
    (&["retry", "attempts"], "retries", "Write retries = 2, or a table with `max`."),
];

/// How fields are written whose kind is easily taken for another one.
const FIELD_EXAMPLES: [(&str, &str); 9] = [
    ("service", "{ ready = \"curl -sf localhost:8080\" }"),
    ("outputs", "{ version = \"last_line\" }"),
    ("artifacts", "[\"dist/**\"]"),
    ("inputs", "[\"src/**\"]"),
    ("tags", "[\"slow\"]"),
    ("matrix", "{ os = [\"linux\", \"macos\"] }"),
    ("exclude", "[{ os = \"macos\", version = 2 }]"),
    ("include", "[\"lib.toml\"]"),
    ("env", "{ CI = \"1\" }"),
];

/// A field's name in plan files and its aliases.
pub(super) type FieldNames = (&'static str, &'static [&'static str]);

/// The fields of a table by their main names.
pub(super) type TableFields<'t> = BTreeMap<&'static str, &'t TreeEntry>;

pub(super) struct PlanFileDecoder<'a> {
    pub(super) lines: LineIndex<'a>,
    pub(super) vocabulary: &'a TaskVocabulary,
    pub(super) violations: Vec<Violation>,
    pub(super) normalization: Vec<NormalizationChange>,
    /// Whether anything in the file may be a template.
    pub(super) has_templates: bool,
    /// Where the texts of included files begin.
    pub(super) segments: Vec<TextSegment>,
    /// The names of the person's own agents, where they are known.
    pub(super) agents: Option<&'a [String]>,
    /// The names of executors that are set up, where they are known.
    pub(super) executors: Option<&'a [String]>,
}

impl<'a> PlanFileDecoder<'a> {
    pub(super) fn new(text: &'a str, vocabulary: &'a TaskVocabulary) -> Self {
        let lines = LineIndex::new(text);
        let has_templates = super::template::has_template(text);
        Self {
            lines,
            vocabulary,
            violations: Vec::new(),
            normalization: Vec::new(),
            has_templates,
            segments: Vec::new(),
            agents: None,
            executors: None,
        }
    }

    /// Returns whether the maximum number of violations is reached.
    pub(super) fn is_full(&self) -> bool {
        self.violations.len() >= MAX_VIOLATIONS
    }

    /// Reports a violation at a byte of the file.
    pub(super) fn report_violation(&mut self, mut violation: Violation, at: usize) {
        if !self.is_full() {
            let (mut line, column) = self.lines.line_and_column(at);
            if let Some(segment) = self.segments.iter().rev().find(|it| it.start <= at) {
                line -= self.lines.line_and_column(segment.start).0 - 1;
                violation.file = Some(planwright_text::clean_line(&segment.name).into_owned());
            }
            (violation.line, violation.column) = (Some(line), Some(column));
            self.violations.push(violation);
        }
    }

    /// Reports a value that cannot be used.
    pub(super) fn report_bad_value(
        &mut self,
        tree: &ValueTree,
        path: ValuePath<'_>,
        message: impl AsRef<str>,
        suggested_fix: impl Into<String>,
    ) {
        let place = match path {
            ValuePath::Root => "the file".to_owned(),
            path => format!("`{path}`"),
        };
        let message = format!("{place} {}", message.as_ref());
        let violation = Violation::new("bad_value", Severity::Fatal, message, suggested_fix);
        self.report_violation(violation, tree.span.start);
    }

    fn report_wrong_kind(&mut self, tree: &ValueTree, path: ValuePath<'_>, expected: &str) {
        let message = format!("must be {expected}, not {}", tree.kind());
        let example = match path {
            ValuePath::Field(_, name) => FIELD_EXAMPLES.iter().find(|(field, _)| *field == name),
            _ => None,
        };
        let fix = match example {
            Some((name, example)) => format!("Write {expected}, such as {name} = {example}."),
            None => format!("Write {expected}."),
        };
        self.report_bad_value(tree, path, message, fix);
    }

    /// Records a change that was made to the person's input.
    pub(super) fn note_change(
        &mut self,
        code: &str,
        task_id: Option<&TaskId>,
        detail: impl Into<String>,
    ) {
        let (code, task_id) = (code.to_owned(), task_id.cloned());
        self.normalization.push(NormalizationChange { code, task_id, detail: detail.into() });
    }

    /// Returns the fields of a table. Unknown names and duplicate names are reported.
    pub(super) fn read_fields<'t>(
        &mut self,
        tree: &'t ValueTree,
        path: ValuePath<'_>,
        known: &[FieldNames],
    ) -> Option<TableFields<'t>> {
        let entries = self.read_table(tree, path)?;
        let mut fields = TableFields::new();
        for entry in entries {
            let named = |(name, aliases): &&FieldNames| {
                *name == entry.key || aliases.contains(&entry.key.as_str())
            };
            // Null means "not given", as JSON writers use it; only a value to compare with may be null.
            let absent = matches!(entry.tree.value, TreeValue::Null) && entry.key != "equals";
            match known.iter().find(named) {
                Some(_) if absent => {}
                None => self.report_unknown_field(entry, path, known),
                Some((name, _)) if fields.contains_key(name) => {
                    let path = ValuePath::Field(&path, &entry.key);
                    let message = "is given twice, once by another name";
                    self.report_bad_value(
                        &entry.tree,
                        path,
                        message,
                        format!("Keep one `{name}`."),
                    );
                }
                Some((name, _)) => {
                    fields.insert(name, entry);
                }
            }
        }
        Some(fields)
    }

    fn report_unknown_field(
        &mut self,
        entry: &TreeEntry,
        path: ValuePath<'_>,
        known: &[FieldNames],
    ) {
        if self.is_full() {
            return;
        }
        let names = known.iter().flat_map(|(name, aliases)| std::iter::once(name).chain(*aliases));
        let elsewhere = FIELDS_ELSEWHERE.iter().find(|(names, field, _)| {
            names.contains(&entry.key.as_str()) && known.iter().any(|(known, _)| known == field)
        });
        let fix = if let Some((.., fix)) = elsewhere {
            (*fix).to_owned()
        } else if let Some(name) = nearest_name(&entry.key, names.copied()) {
            format!("Did you mean `{name}`?")
        } else {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            format!("Remove it; the fields here are {}.", names.join(", "))
        };
        let place = ValuePath::Field(&path, &entry.key);
        let message = format!("`{place}` is not a field of a plan file");
        let violation = Violation::new("unknown_field", Severity::Fatal, message, fix);
        self.report_violation(violation, entry.key_span.start);
    }

    pub(super) fn read_table<'t>(
        &mut self,
        tree: &'t ValueTree,
        path: ValuePath<'_>,
    ) -> Option<&'t [TreeEntry]> {
        let TreeValue::Table(entries) = &tree.value else {
            self.report_wrong_kind(tree, path, "a table");
            return None;
        };
        Some(entries)
    }

    pub(super) fn read_text<'t>(
        &mut self,
        tree: &'t ValueTree,
        path: ValuePath<'_>,
    ) -> Option<&'t str> {
        let TreeValue::Text(text) = &tree.value else {
            self.report_wrong_kind(tree, path, "text");
            return None;
        };
        Some(text)
    }

    pub(super) fn read_boolean(&mut self, tree: &ValueTree, path: ValuePath<'_>) -> Option<bool> {
        let TreeValue::Bool(value) = tree.value else {
            self.report_wrong_kind(tree, path, "true or false");
            return None;
        };
        Some(value)
    }

    /// Reads an integer within bounds.
    pub(super) fn read_integer(
        &mut self,
        tree: &ValueTree,
        path: ValuePath<'_>,
        bounds: RangeInclusive<i64>,
    ) -> Option<i64> {
        let Some(number) = as_whole_number(tree) else {
            self.report_wrong_kind(tree, path, "a whole number");
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
        self.report_bad_value(tree, path, message, format!("Write a whole number {allowed}."));
        None
    }

    /// Reads one of a few keywords.
    pub(super) fn read_choice<T: Copy>(
        &mut self,
        tree: &ValueTree,
        path: ValuePath<'_>,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.read_text(tree, path)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let fix = if let Some(word) = nearest_name(text, words.iter().map(|(word, _)| *word)) {
            format!("Did you mean \"{word}\"?")
        } else {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            format!("Write one of {}.", words.join(", "))
        };
        self.report_bad_value(
            tree,
            path,
            format!("cannot be \"{}\"", escape_for_message(text)),
            fix,
        );
        None
    }

    /// Reads a list of texts. Text is split, blanks are dropped, and both are reported.
    pub(super) fn read_texts(
        &mut self,
        tree: &ValueTree,
        path: ValuePath<'_>,
        separators: ListSeparators,
        task: &TaskId,
    ) -> Vec<String> {
        match &tree.value {
            TreeValue::Text(text) => self.split_text(text, path, separators, task),
            TreeValue::List(items) => items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| self.read_text(item, ValuePath::Item(&path, index)))
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(str::to_owned)
                .collect(),
            _ => {
                self.report_wrong_kind(tree, path, "a list");
                Vec::new()
            }
        }
    }

    /// Splits text where a list is expected, and reports it.
    pub(super) fn split_text(
        &mut self,
        text: &str,
        path: ValuePath<'_>,
        separators: ListSeparators,
        task: &TaskId,
    ) -> Vec<String> {
        let items = text_lists::split_list(text, separators);
        let detail = format!("`{path}` was text and became a list of {}", items.len());
        self.note_change("text_split", Some(task), detail);
        items
    }

    /// Returns a list, or reports that the value is not one.
    pub(super) fn read_list<'t>(
        &mut self,
        tree: &'t ValueTree,
        path: ValuePath<'_>,
    ) -> Option<&'t [ValueTree]> {
        let TreeValue::List(items) = &tree.value else {
            self.report_wrong_kind(tree, path, "a list");
            return None;
        };
        Some(items)
    }
}

/// Returns an integer, also one written as `2.0`.
pub(super) fn as_whole_number(tree: &ValueTree) -> Option<i64> {
    match tree.value {
        TreeValue::Integer(number) => Some(number),
        TreeValue::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Some(number as i64)
        }
        _ => None,
    }
}

/// Returns any number.
pub(super) fn as_number(tree: &ValueTree) -> Option<f64> {
    match tree.value {
        TreeValue::Integer(number) => Some(number as f64),
        TreeValue::Float(number) => Some(number),
        _ => None,
    }
}
