//! Reads the fields of one loose task.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::lists::{self, Separators};
use super::normalise::{entry, link};
use super::vocabulary::Vocabulary;
use planwright_model::task::{CriterionOn, DEFAULT_ROLE, DEFAULT_TYPE};
use planwright_model::{ExitCriterion, Link, Normalization, RunKind, TaskId, TaskNode};

/// The longest duration in minutes: ten years.
const MAX_MINUTES: u64 = 10 * 366 * 1440;

/// Takes fields out of a task; what is left at the end is unknown.
pub(super) struct Reader<'a> {
    fields: Map<String, Value>,
    id: TaskId,
    vocabulary: &'a Vocabulary,
    report: &'a mut Vec<Normalization>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        mut fields: Map<String, Value>,
        id: TaskId,
        vocabulary: &'a Vocabulary,
        report: &'a mut Vec<Normalization>,
    ) -> Self {
        // The id is settled, and the origin is not for the payload to say.
        fields.remove("id");
        fields.remove("origin");
        Self { fields, id, vocabulary, report }
    }

    pub(super) fn fill(&mut self, task: &mut TaskNode) {
        task.tools = self.tools();
        task.tool_affinity = self.affinity();
        task.exit_criteria = self.criteria();
        task.dependencies = self.links();
        task.priority = self.typed("priority", whole).unwrap_or(0);
        if let Some(tokens) =
            self.typed("estimated_tokens", |value| u64::try_from(whole(value)?).ok())
        {
            task.estimated_tokens = tokens;
        }
        task.agent_role = self.role();
        task.task_type = self.task_type();
        if let Some(metadata) = self.typed("metadata", |value| value.as_object().cloned()) {
            task.metadata = metadata;
        }
        if let Some(run) = self.typed("run", parse::<RunKind>) {
            task.run = run;
        }
        self.fill_settings(task);
        task.description = self.description(task);
        self.drop_unknown();
    }

    fn fill_settings(&mut self, task: &mut TaskNode) {
        let minutes =
            |value: &Value| value.as_u64().filter(|minutes| (1..=MAX_MINUTES).contains(minutes));
        task.duration_minutes =
            self.typed("duration_minutes", minutes).map(|minutes| minutes as u32);
        task.timeout_seconds = self.typed("timeout_seconds", Value::as_u64);
        task.resources = self.typed("resources", parse).unwrap_or_default();
        task.repeat = self.typed("repeat", parse).unwrap_or_default();
        task.sandbox = self.typed("sandbox", parse).unwrap_or_default();
        task.at_scheduled_time =
            self.typed("at_scheduled_time", Value::as_bool).unwrap_or_default();
    }

    fn note(&mut self, code: &str, detail: String) {
        self.report.push(entry(code, Some(&self.id), detail));
    }

    /// Takes a field by the first of its names that is there. Null counts as absent.
    fn take(&mut self, names: &[&str]) -> Option<Value> {
        let found = names.iter().find_map(|name| self.fields.shift_remove(*name));
        found.filter(|value| !value.is_null())
    }

    /// Takes a field of one kind; another kind is dropped and noted.
    fn typed<T>(&mut self, name: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.take(&[name])?;
        let read = read(&value);
        if read.is_none() {
            self.note("bad_value", format!("{name} cannot be used and was dropped"));
        }
        read
    }

    fn description(&mut self, task: &TaskNode) -> String {
        let stated = self.take(&["description", "question", "goal", "prompt"]);
        match stated {
            Some(Value::String(text)) if !text.trim().is_empty() => return text,
            Some(value @ (Value::Number(_) | Value::Bool(_))) => {
                self.note("coerced", "the description became text".to_owned());
                return value.to_string();
            }
            _ => {}
        }
        self.note(
            "description_missing",
            format!("{} has no description; its id stands in", task.id),
        );
        task.id.to_string()
    }

    /// A list of texts from text or a list.
    fn texts(&mut self, value: Value, name: &str, separators: Separators) -> Vec<String> {
        match value {
            Value::String(text) => {
                let items = lists::split(&text, separators);
                self.note(
                    "text_split",
                    format!("{name} was text and became a list of {}", items.len()),
                );
                items
            }
            Value::Array(items) => {
                items.into_iter().filter_map(|item| self.text(item, name)).collect()
            }
            _ => {
                self.note("bad_value", format!("{name} is not a list and was dropped"));
                Vec::new()
            }
        }
    }

    fn text(&mut self, item: Value, name: &str) -> Option<String> {
        match item {
            Value::String(text) => {
                let trimmed = text.trim();
                if trimmed.is_empty() {
                    self.note("blank_dropped", format!("a blank item of {name} was dropped"));
                    return None;
                }
                if trimmed != text {
                    self.note("trimmed", format!("an item of {name} lost blanks at its ends"));
                }
                Some(trimmed.to_owned())
            }
            Value::Number(_) | Value::Bool(_) => {
                self.note("coerced", format!("an item of {name} became text"));
                Some(item.to_string())
            }
            _ => {
                self.note("bad_value", format!("an item of {name} is not text and was dropped"));
                None
            }
        }
    }

    fn tools(&mut self) -> Vec<String> {
        let tools = self.take(&["tools"]);
        tools.map(|tools| self.texts(tools, "tools", Separators::Tools)).unwrap_or_default()
    }

    fn affinity(&mut self) -> BTreeMap<String, f64> {
        let mut scores = BTreeMap::new();
        match self.take(&["tool_affinity", "affinity"]) {
            None => {}
            Some(Value::Object(fields)) => {
                for (tool, value) in fields {
                    if let Some(score) = self.score(&tool, &value) {
                        scores.insert(tool, score);
                    }
                }
            }
            Some(_) => self.note("affinity_dropped", "the affinity is not a table".to_owned()),
        }
        scores
    }

    fn score(&mut self, tool: &str, value: &Value) -> Option<f64> {
        let Some(score) = value.as_f64() else {
            self.note("affinity_dropped", format!("the affinity for {tool} is not a number"));
            return None;
        };
        let clamped = score.clamp(0.0, 1.0) + 0.0;
        if (clamped - score).abs() > 0.0 {
            self.note(
                "affinity_clamped",
                format!("the affinity for {tool} was {score} and became {clamped}"),
            );
        }
        Some(clamped)
    }

    fn criteria(&mut self) -> Vec<ExitCriterion> {
        match self.take(&["exit_criteria", "criteria"]) {
            None => Vec::new(),
            Some(Value::Object(fields)) => self.criterion(fields),
            Some(Value::Array(items)) => {
                let mut criteria = Vec::new();
                for item in items {
                    match item {
                        Value::Object(fields) => criteria.extend(self.criterion(fields)),
                        other => criteria.extend(self.text(other, "exit_criteria").map(plain)),
                    }
                }
                criteria
            }
            Some(other) => {
                let texts = self.texts(other, "exit_criteria", Separators::Plain);
                texts.into_iter().map(plain).collect()
            }
        }
    }

    /// A typed criterion, or one for each key.
    fn criterion(&mut self, fields: Map<String, Value>) -> Vec<ExitCriterion> {
        if let Some(criterion) = parse(&Value::Object(fields.clone())) {
            return vec![criterion];
        }
        self.note("criteria_split", format!("a table became {} criteria", fields.len()));
        let text = |(key, value): (String, Value)| match value {
            Value::String(text) => plain(format!("{key}={text}")),
            other => plain(format!("{key}={other}")),
        };
        fields.into_iter().map(text).collect()
    }

    fn links(&mut self) -> Vec<Link> {
        match self.take(&["dependencies", "depends_on"]) {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().filter_map(|item| self.link(item)).collect(),
            Some(text @ Value::String(_)) => {
                let ids = self.texts(text, "depends_on", Separators::Plain);
                ids.into_iter().map(Link::finish_to_start).collect()
            }
            Some(_) => {
                self.note("bad_value", "depends_on is not a list and was dropped".to_owned());
                Vec::new()
            }
        }
    }

    fn link(&mut self, item: &Value) -> Option<Link> {
        let found = link(item).filter(|link| !link.task.as_str().is_empty());
        match &found {
            None => self
                .note("bad_value", "an item of depends_on is no link and was dropped".to_owned()),
            // What a link reads back as is what it was, unless something in it was dropped.
            Some(link) if serde_json::to_value(link).ok().as_ref() != Some(item) => {
                if !item.is_object()
                    || serde_json::from_value::<Link>(item.clone()).ok().as_ref() != Some(link)
                {
                    self.note("coerced", format!("the link to {} was made regular", link.task));
                }
            }
            Some(_) => {}
        }
        found
    }

    fn role(&mut self) -> String {
        let stated = self.typed("agent_role", |value| value.as_str().map(str::to_owned));
        let Some(role) = stated.filter(|role| !role.trim().is_empty()) else {
            return DEFAULT_ROLE.to_owned();
        };
        if self.vocabulary.agent_roles.as_ref().is_some_and(|roles| !roles.contains(&role)) {
            self.note("unknown_role", format!("the role is not known; {DEFAULT_ROLE} is used"));
            return DEFAULT_ROLE.to_owned();
        }
        role
    }

    fn task_type(&mut self) -> String {
        let stated = self.typed("task_type", |value| value.as_str().map(str::to_owned));
        let Some(kind) = stated else { return DEFAULT_TYPE.to_owned() };
        if self.vocabulary.task_types.contains(&kind) {
            return kind;
        }
        self.note(
            "unknown_task_type",
            format!("the task type is not known; {DEFAULT_TYPE} is used"),
        );
        DEFAULT_TYPE.to_owned()
    }

    fn drop_unknown(&mut self) {
        for (name, value) in std::mem::take(&mut self.fields) {
            if !value.is_null() {
                let name: String = name.chars().take(60).flat_map(char::escape_debug).collect();
                self.note(
                    "unknown_field",
                    format!("the field {name} is not known and was dropped"),
                );
            }
        }
    }
}

fn plain(text: String) -> ExitCriterion {
    ExitCriterion::Text { text, on: CriterionOn::Success }
}

fn parse<T: serde::de::DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// A whole number, also one that is written as text or with a fraction.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        _ => value.as_i64().or_else(|| value.as_f64().map(|number| number.round() as i64)),
    }
}
