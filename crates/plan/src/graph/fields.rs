//! Reads the fields of one loosely structured task.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::normalize::{normalization_entry, parse_link};
use super::text_lists::{self, ListSeparators};
use super::vocabulary::TaskVocabulary;
use planwright_model::task::{CriterionEffect, DEFAULT_ROLE, DEFAULT_TYPE};
use planwright_model::{
    DateField, ExitCriterion, NormalizationChange, RunKind, TaskId, TaskLink, TaskNode,
};

/// The longest duration in minutes: ten years.
const MAX_MINUTES: u64 = 10 * 366 * 1440;

/// Takes fields out of a task; whatever remains at the end is unknown.
pub(super) struct TaskFieldReader<'a> {
    fields: Map<String, Value>,
    id: TaskId,
    vocabulary: &'a TaskVocabulary,
    report: &'a mut Vec<NormalizationChange>,
}

impl<'a> TaskFieldReader<'a> {
    pub(super) fn new(
        mut fields: Map<String, Value>,
        id: TaskId,
        vocabulary: &'a TaskVocabulary,
        report: &'a mut Vec<NormalizationChange>,
    ) -> Self {
        // The id is already assigned, and the payload does not decide the origin.
        fields.remove("id");
        fields.remove("origin");
        Self { fields, id, vocabulary, report }
    }

    pub(super) fn fill_task(&mut self, task: &mut TaskNode) {
        task.tools = self.take_tools();
        task.tool_affinity = self.take_affinity();
        task.exit_criteria = self.take_criteria();
        task.dependencies = self.take_links();
        task.priority = self.take_typed("priority", parse_whole_number).unwrap_or(0);
        if let Some(tokens) = self
            .take_typed("estimated_tokens", |value| u64::try_from(parse_whole_number(value)?).ok())
        {
            task.estimated_tokens = tokens;
        }
        task.agent_role = self.take_role();
        task.task_type = self.take_task_type();
        if let Some(metadata) = self.take_typed("metadata", |value| value.as_object().cloned()) {
            task.metadata = metadata;
        }
        if let Some(run) = self.take_typed("run", parse_value::<RunKind>) {
            task.run = run;
        }
        self.fill_settings(task);
        self.fill_details(task);
        task.description = self.take_description(task);
        self.drop_unknown();
    }

    fn fill_settings(&mut self, task: &mut TaskNode) {
        let least = u64::from(!task.marks_point());
        let minutes = |value: &Value| {
            value.as_u64().filter(|minutes| (least..=MAX_MINUTES).contains(minutes))
        };
        task.duration_minutes =
            self.take_typed("duration_minutes", minutes).map(|minutes| minutes as u32);
        task.timeout_seconds = self.take_typed("timeout_seconds", Value::as_u64);
        task.resources = self.take_typed("resources", parse_value).unwrap_or_default();
        task.repeat = self.take_typed("repeat", parse_value).unwrap_or_default();
        task.sandbox = self.take_typed("sandbox", parse_value).unwrap_or_default();
        task.at_scheduled_time =
            self.take_typed("at_scheduled_time", Value::as_bool).unwrap_or_default();
    }

    fn fill_details(&mut self, task: &mut TaskNode) {
        let line = |value: &Value| value.as_str().map(|text| text.trim().to_owned());
        task.owner = self.take_typed("owner", line).unwrap_or_default();
        task.why = self.take_typed("why", line).unwrap_or_default();
        task.cost = self.take_typed("cost", parse_value);
        for field in DateField::ALL {
            let mut dates = task.dates();
            dates.set(field, self.take_typed(field.as_str(), parse_value));
            if dates.contradiction().is_some() {
                self.note_change(
                    "bad_value",
                    format!("{} contradicts another date and was dropped", field.as_str()),
                );
            } else {
                task.set_dates(dates);
            }
        }
        let [risks, assumptions, evidence] = ["risks", "assumptions", "evidence"].map(|name| {
            let stated = self.take_field(&[name]);
            stated
                .map(|value| self.read_texts(value, name, ListSeparators::Plain))
                .unwrap_or_default()
        });
        (task.risks, task.assumptions, task.evidence) = (risks, assumptions, evidence);
    }

    fn note_change(&mut self, code: &str, detail: String) {
        self.report.push(normalization_entry(code, Some(&self.id), detail));
    }

    /// Takes a field by the first of its names that is present. Null is treated as absent.
    fn take_field(&mut self, names: &[&str]) -> Option<Value> {
        let found = names.iter().find_map(|name| self.fields.shift_remove(*name));
        found.filter(|value| !value.is_null())
    }

    /// Takes a field of one kind; other kinds are dropped and reported.
    fn take_typed<T>(&mut self, name: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.take_field(&[name])?;
        let read = read(&value);
        if read.is_none() {
            self.note_change("bad_value", format!("{name} cannot be used and was dropped"));
        }
        read
    }

    fn take_description(&mut self, task: &TaskNode) -> String {
        let stated = self.take_field(&["description", "question", "goal", "prompt"]);
        match stated {
            Some(Value::String(text)) if !text.trim().is_empty() => return text,
            Some(value @ (Value::Number(_) | Value::Bool(_))) => {
                self.note_change("coerced", "the description became text".to_owned());
                return value.to_string();
            }
            _ => {}
        }
        self.note_change(
            "description_missing",
            format!("{} has no description; its id stands in", task.id),
        );
        task.id.to_string()
    }

    /// Reads a list of texts from text or a list.
    fn read_texts(&mut self, value: Value, name: &str, separators: ListSeparators) -> Vec<String> {
        match value {
            Value::String(text) => {
                let items = text_lists::split_list(&text, separators);
                self.note_change(
                    "text_split",
                    format!("{name} was text and became a list of {}", items.len()),
                );
                items
            }
            Value::Array(items) => {
                items.into_iter().filter_map(|item| self.read_text(item, name)).collect()
            }
            _ => {
                self.note_change("bad_value", format!("{name} is not a list and was dropped"));
                Vec::new()
            }
        }
    }

    fn read_text(&mut self, item: Value, name: &str) -> Option<String> {
        match item {
            Value::String(text) => {
                let trimmed = text.trim();
                if trimmed.is_empty() {
                    self.note_change(
                        "blank_dropped",
                        format!("a blank item of {name} was dropped"),
                    );
                    return None;
                }
                if trimmed != text {
                    self.note_change(
                        "trimmed",
                        format!("an item of {name} lost blanks at its ends"),
                    );
                }
                Some(trimmed.to_owned())
            }
            Value::Number(_) | Value::Bool(_) => {
                self.note_change("coerced", format!("an item of {name} became text"));
                Some(item.to_string())
            }
            _ => {
                self.note_change(
                    "bad_value",
                    format!("an item of {name} is not text and was dropped"),
                );
                None
            }
        }
    }

    fn take_tools(&mut self) -> Vec<String> {
        let tools = self.take_field(&["tools"]);
        tools
            .map(|tools| self.read_texts(tools, "tools", ListSeparators::Tools))
            .unwrap_or_default()
    }

    fn take_affinity(&mut self) -> BTreeMap<String, f64> {
        let mut scores = BTreeMap::new();
        match self.take_field(&["tool_affinity", "affinity"]) {
            None => {}
            Some(Value::Object(fields)) => {
                for (tool, value) in fields {
                    if let Some(score) = self.read_score(&tool, &value) {
                        scores.insert(tool, score);
                    }
                }
            }
            Some(_) => {
                self.note_change("affinity_dropped", "the affinity is not a table".to_owned());
            }
        }
        scores
    }

    fn read_score(&mut self, tool: &str, value: &Value) -> Option<f64> {
        let Some(score) = value.as_f64() else {
            self.note_change(
                "affinity_dropped",
                format!("the affinity for {tool} is not a number"),
            );
            return None;
        };
        let clamped = score.clamp(0.0, 1.0) + 0.0;
        if (clamped - score).abs() > 0.0 {
            self.note_change(
                "affinity_clamped",
                format!("the affinity for {tool} was {score} and became {clamped}"),
            );
        }
        Some(clamped)
    }

    fn take_criteria(&mut self) -> Vec<ExitCriterion> {
        match self.take_field(&["exit_criteria", "criteria"]) {
            None => Vec::new(),
            Some(Value::Object(fields)) => self.read_criterion(fields),
            Some(Value::Array(items)) => {
                let mut criteria = Vec::new();
                for item in items {
                    match item {
                        Value::Object(fields) => criteria.extend(self.read_criterion(fields)),
                        other => criteria
                            .extend(self.read_text(other, "exit_criteria").map(text_criterion)),
                    }
                }
                criteria
            }
            Some(other) => {
                let texts = self.read_texts(other, "exit_criteria", ListSeparators::Plain);
                texts.into_iter().map(text_criterion).collect()
            }
        }
    }

    /// Reads a typed criterion, or one per key.
    fn read_criterion(&mut self, fields: Map<String, Value>) -> Vec<ExitCriterion> {
        if let Some(criterion) = parse_value(&Value::Object(fields.clone())) {
            return vec![criterion];
        }
        self.note_change("criteria_split", format!("a table became {} criteria", fields.len()));
        let text = |(key, value): (String, Value)| match value {
            Value::String(text) => text_criterion(format!("{key}={text}")),
            other => text_criterion(format!("{key}={other}")),
        };
        fields.into_iter().map(text).collect()
    }

    fn take_links(&mut self) -> Vec<TaskLink> {
        match self.take_field(&["dependencies", "depends_on"]) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                items.iter().filter_map(|item| self.read_link(item)).collect()
            }
            Some(text @ Value::String(_)) => {
                let ids = self.read_texts(text, "depends_on", ListSeparators::Plain);
                ids.into_iter().map(TaskLink::finish_to_start).collect()
            }
            Some(_) => {
                self.note_change(
                    "bad_value",
                    "depends_on is not a list and was dropped".to_owned(),
                );
                Vec::new()
            }
        }
    }

    fn read_link(&mut self, item: &Value) -> Option<TaskLink> {
        let found = parse_link(item).filter(|link| !link.task.as_str().is_empty());
        match &found {
            None => self.note_change(
                "bad_value",
                "an item of depends_on is no link and was dropped".to_owned(),
            ),
            // Unless something was dropped, serializing the link again gives the original value.
            Some(link) if serde_json::to_value(link).ok().as_ref() != Some(item) => {
                if !item.is_object()
                    || serde_json::from_value::<TaskLink>(item.clone()).ok().as_ref() != Some(link)
                {
                    self.note_change(
                        "coerced",
                        format!("the link to {} was made regular", link.task),
                    );
                }
            }
            Some(_) => {}
        }
        found
    }

    fn take_role(&mut self) -> String {
        let stated = self.take_typed("agent_role", |value| value.as_str().map(str::to_owned));
        let Some(role) = stated.filter(|role| !role.trim().is_empty()) else {
            return DEFAULT_ROLE.to_owned();
        };
        if self.vocabulary.agent_roles.as_ref().is_some_and(|roles| !roles.contains(&role)) {
            self.note_change(
                "unknown_role",
                format!("the role is not known; {DEFAULT_ROLE} is used"),
            );
            return DEFAULT_ROLE.to_owned();
        }
        role
    }

    fn take_task_type(&mut self) -> String {
        let stated = self.take_typed("task_type", |value| value.as_str().map(str::to_owned));
        let Some(kind) = stated else { return DEFAULT_TYPE.to_owned() };
        if self.vocabulary.task_types.contains(&kind) {
            return kind;
        }
        self.note_change(
            "unknown_task_type",
            format!("the task type is not known; {DEFAULT_TYPE} is used"),
        );
        DEFAULT_TYPE.to_owned()
    }

    fn drop_unknown(&mut self) {
        for (name, value) in std::mem::take(&mut self.fields) {
            if !value.is_null() {
                let name: String = name.chars().take(60).flat_map(char::escape_debug).collect();
                self.note_change(
                    "unknown_field",
                    format!("the field {name} is not known and was dropped"),
                );
            }
        }
    }
}

fn text_criterion(text: String) -> ExitCriterion {
    ExitCriterion::Text { text, on: CriterionEffect::Success }
}

fn parse_value<T: serde::de::DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// Parses an integer, also one written as text or with a fraction.
fn parse_whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        _ => value.as_i64().or_else(|| value.as_f64().map(|number| number.round() as i64)),
    }
}
