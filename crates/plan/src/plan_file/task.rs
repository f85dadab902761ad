//! Decodes one task of a plan file.

use std::collections::BTreeMap;

use super::decoder::{FieldNames, PlanFileDecoder, TableFields, as_number, as_whole_number};
use super::duration::{self, DayLength};
use super::value_tree::{
    TreeEntry, TreeValue, ValuePath, ValueTree, escape_for_message, is_invisible,
};
use super::{command_options, conditions, results, run_settings};
use crate::graph::text_lists::ListSeparators;
use planwright_model::task::{DEFAULT_ROLE, DEFAULT_TOKENS, DEFAULT_TYPE};
use planwright_model::{
    DateField, NodeDates, NodeOrigin, PlanDate, RepeatPolicy, RunKind, SandboxChoice, Severity,
    TaskCost, TaskId, TaskLink, TaskNode, Violation,
};
use planwright_text::nearest_name;

/// The fields of a task, each with its aliases.
pub(super) const TASK_FIELDS: &[FieldNames] = &[
    ("id", &[]),
    ("description", &["question", "goal", "prompt"]),
    ("run", &[]),
    ("depends_on", &["dependencies"]),
    ("duration", &["duration_minutes"]),
    ("resources", &[]),
    ("pool", &[]),
    ("priority", &[]),
    ("tools", &[]),
    ("tool_affinity", &["affinity"]),
    ("exit_criteria", &["criteria"]),
    ("estimated_tokens", &[]),
    ("agent_role", &[]),
    ("task_type", &[]),
    ("metadata", &[]),
    ("timeout", &["timeout_seconds"]),
    ("shell", &[]),
    ("env", &[]),
    ("cwd", &[]),
    ("retries", &[]),
    ("when", &[]),
    ("continue_on_error", &[]),
    ("group", &[]),
    ("tags", &[]),
    ("matrix", &[]),
    ("outputs", &[]),
    ("artifacts", &[]),
    ("env_file", &[]),
    ("pass_env", &[]),
    ("secrets", &[]),
    ("inputs", &[]),
    ("cache", &[]),
    ("service", &[]),
    ("interactive", &[]),
    ("on", &[]),
    ("repeat", &[]),
    ("sandbox", &[]),
    ("at_scheduled_time", &[]),
    ("origin", &[]),
    ("owner", &[]),
    ("fixed_start", &[]),
    ("fixed_end", &[]),
    ("not_before", &[]),
    ("due", &[]),
    ("why", &[]),
    ("risks", &[]),
    ("assumptions", &[]),
    ("evidence", &[]),
    ("cost", &[]),
];

pub(super) const SANDBOX: &[(&str, SandboxChoice)] =
    &[("none", SandboxChoice::None), ("workspace", SandboxChoice::Workspace)];
const REPEAT: &[(&str, RepeatPolicy)] = &[("ask", RepeatPolicy::Ask), ("safe", RepeatPolicy::Safe)];
const ORIGIN: &[(&str, NodeOrigin)] = &[
    ("system", NodeOrigin::System),
    ("user_feedback", NodeOrigin::UserFeedback),
    ("ai_adaptation", NodeOrigin::AiAdaptation),
];

/// The maximum length of an id, in characters.
const MAX_ID: usize = 80;
const TEN_YEARS_MINUTES: i64 = 10 * 366 * 1440;
const TEN_YEARS_SECONDS: i64 = TEN_YEARS_MINUTES * 60;

/// A task and the positions of its parts in the file.
#[derive(Debug)]
pub(super) struct LocatedTask {
    pub(super) task: TaskNode,
    pub(super) at: usize,
    pub(super) links: Vec<(TaskLink, usize)>,
    pub(super) resources: Vec<(String, u32, usize)>,
    /// Where the file has each of its fields.
    pub(super) places: BTreeMap<&'static str, usize>,
}

impl LocatedTask {
    /// Whether the file has a field of the task.
    pub(super) fn states(&self, field: &str) -> bool {
        self.places.contains_key(field)
    }

    /// Where the file has a field, or else the task.
    pub(super) fn place(&self, field: &str) -> usize {
        self.places.get(field).copied().unwrap_or(self.at)
    }
}

/// Returns the stated id of a task, with its position. `Err` means that the stated id is invalid.
pub(super) fn stated_id(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Result<Option<TaskId>, ()> {
    let TreeValue::Table(entries) = &tree.value else { return Ok(None) };
    let Some(entry) = entries.iter().find(|entry| entry.key == "id") else { return Ok(None) };
    let path = ValuePath::Field(&path, "id");
    let id = decoder.read_text(&entry.tree, path).ok_or(())?;
    check_id(decoder, id, &entry.tree, path).ok_or(())?;
    Ok(Some(TaskId::from(id)))
}

/// Checks that text can be an id: printable, not blank, not too long.
pub(super) fn check_id(
    decoder: &mut PlanFileDecoder<'_>,
    id: &str,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<()> {
    let fault = if id.trim().is_empty() {
        "is blank"
    } else if id.chars().count() > MAX_ID {
        "is longer than 80 characters"
    } else if id.chars().any(|c| c.is_control() || is_invisible(c)) {
        "contains control or invisible characters"
    } else if id.trim() != id {
        "begins or ends with a space"
    } else {
        return Some(());
    };
    decoder.report_bad_value(tree, path, fault, "Write a short printable id, such as \"build\".");
    None
}

/// Decodes a task whose id is assigned. Reports violations and keeps the rest.
pub(super) fn decode_task(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    id: TaskId,
) -> LocatedTask {
    let mut placed = LocatedTask {
        task: TaskNode::new(id, ""),
        at: tree.span.start,
        links: Vec::new(),
        resources: Vec::new(),
        places: BTreeMap::new(),
    };
    if let Some(fields) = decoder.read_fields(tree, path, TASK_FIELDS) {
        // A TOML table starts at its header; the id is what a person looks for.
        if let Some(entry) = fields.get("id") {
            placed.at = entry.tree.span.start;
        }
        let places = fields.iter().map(|(name, entry)| (*name, entry.tree.span.start));
        placed.places = places.collect();
        TaskDecoder { decoder, path, fields, placed: &mut placed }.decode_all();
    }
    placed
}

struct TaskDecoder<'d, 'a, 'p, 't> {
    decoder: &'d mut PlanFileDecoder<'a>,
    path: ValuePath<'p>,
    fields: TableFields<'t>,
    placed: &'d mut LocatedTask,
}

impl<'a, 't> TaskDecoder<'_, 'a, '_, 't> {
    /// Decodes one field, if it is present.
    fn decode_field<T>(
        &mut self,
        name: &'static str,
        decode: impl FnOnce(&mut PlanFileDecoder<'a>, &'t ValueTree, ValuePath<'_>) -> Option<T>,
    ) -> Option<T> {
        let entry: &'t TreeEntry = self.fields.get(name)?;
        decode(self.decoder, &entry.tree, ValuePath::Field(&self.path, &entry.key))
    }

    fn decode_all(mut self) {
        self.decode_work();
        self.decode_means();
        self.decode_limits();
        self.decode_run_settings();
        self.decode_results();
        self.decode_command_options();
        self.decode_details();
        self.decode_dependencies();
        self.placed.task.dependencies =
            self.placed.links.iter().map(|(link, _)| link.clone()).collect();
        self.placed.task.resources =
            self.placed.resources.iter().map(|(name, units, _)| (name.clone(), *units)).collect();
    }

    /// Decodes what to do and when the task is complete.
    fn decode_work(&mut self) {
        let id = self.placed.task.id.clone();
        self.placed.task.run =
            self.decode_field("run", super::run_kind::decode_run).unwrap_or_default();
        let description =
            self.decode_field("description", PlanFileDecoder::read_text).unwrap_or_default();
        description.clone_into(&mut self.placed.task.description);
        if description.is_empty() && !self.fields.contains_key("description") {
            self.placed.task.description = id.to_string();
            // A command says itself what it does, as a line in a Makefile.
            if !matches!(self.placed.task.run, RunKind::Shell(_)) {
                let detail = format!("{id} has no description; its id stands in");
                self.decoder.note_change("description_missing", Some(&id), detail);
            }
        }
        self.placed.task.exit_criteria = self
            .decode_field("exit_criteria", |decoder, tree, path| {
                Some(super::criteria::decode_criteria(decoder, tree, path, &id))
            })
            .unwrap_or_default();
        self.placed.task.metadata =
            self.decode_field("metadata", decode_metadata).unwrap_or_default();
    }

    /// Decodes tools and other means.
    fn decode_means(&mut self) {
        let id = self.placed.task.id.clone();
        self.placed.task.tools = self
            .decode_field("tools", |decoder, tree, path| {
                Some(decoder.read_texts(tree, path, ListSeparators::Tools, &id))
            })
            .unwrap_or_default();
        self.placed.task.tool_affinity = self
            .decode_field("tool_affinity", |decoder, tree, path| {
                decode_affinity(decoder, tree, path, &id)
            })
            .unwrap_or_default();
        if let Some(role) = self.decode_field("agent_role", PlanFileDecoder::read_text) {
            self.placed.task.agent_role = self.known_role(role);
        }
        if let Some(kind) = self.decode_field("task_type", PlanFileDecoder::read_text) {
            self.placed.task.task_type = self.known_type(kind);
        }
        self.placed.task.origin = self
            .decode_field("origin", |d, tree, path| d.read_choice(tree, path, ORIGIN))
            .unwrap_or_default();
    }

    fn known_role(&mut self, role: &str) -> String {
        let unknown = self
            .decoder
            .vocabulary
            .agent_roles
            .as_ref()
            .filter(|roles| !roles.iter().any(|known| known == role));
        if unknown.is_none() {
            return role.to_owned();
        }
        let detail =
            format!("\"{}\" is not a known role; worker is used", escape_for_message(role));
        self.decoder.note_change("unknown_role", Some(&self.placed.task.id), detail);
        DEFAULT_ROLE.to_owned()
    }

    fn known_type(&mut self, kind: &str) -> String {
        let types = &self.decoder.vocabulary.task_types;
        if types.iter().any(|known| known == kind) {
            return kind.to_owned();
        }
        let near = nearest_name(kind, types.iter().map(String::as_str));
        let near = near.map(|near| format!("; the nearest is {near}")).unwrap_or_default();
        let detail = format!(
            "\"{}\" is not a known task type; generic is used{near}",
            escape_for_message(kind)
        );
        self.decoder.note_change("unknown_task_type", Some(&self.placed.task.id), detail);
        DEFAULT_TYPE.to_owned()
    }

    /// Decodes limits: estimates, times, resources.
    fn decode_limits(&mut self) {
        let tokens = self.decode_field("estimated_tokens", |d, tree, path| {
            d.read_integer(tree, path, 0..=i64::MAX)
        });
        let priority = self.decode_field("priority", |d, tree, path| {
            d.read_integer(tree, path, i64::MIN..=i64::MAX)
        });
        let marks_point = self.placed.task.marks_point();
        let duration = self.decode_field("duration", |decoder, tree, path| {
            decode_duration(decoder, tree, path, marks_point)
        });
        let timeout = self.decode_field("timeout", decode_timeout);
        let repeat = self.decode_field("repeat", |d, tree, path| d.read_choice(tree, path, REPEAT));
        let sandbox =
            self.decode_field("sandbox", |d, tree, path| d.read_choice(tree, path, SANDBOX));
        let scheduled = self.decode_field("at_scheduled_time", PlanFileDecoder::read_boolean);
        let mut resources = self
            .decode_field("resources", |d, tree, path| Some(decode_units(d, tree, path, 0)))
            .unwrap_or_default();
        let pool = self.decode_field("pool", |decoder, tree, path| {
            Some((decode_line(decoder, tree, path)?, 1, tree.span.start))
        });
        if let Some((name, units, at)) = pool {
            if resources.iter().any(|(stated, ..)| *stated == name) {
                let shown = escape_for_message(&name);
                let message = format!(
                    "`{}` names `{shown}` as its pool and under `resources`",
                    self.placed.task.id
                );
                let fix = "Keep one of them.";
                let violation = Violation::new("bad_value", Severity::Fatal, message, fix);
                self.decoder.report_violation(violation, at);
            } else {
                resources.push((name, units, at));
            }
        }
        let task = &mut self.placed.task;
        task.estimated_tokens = tokens.map_or(DEFAULT_TOKENS, |tokens| tokens as u64);
        task.priority = priority.unwrap_or(0);
        task.duration_minutes = duration.map(|minutes| minutes as u32);
        task.timeout_seconds = timeout.map(|seconds| seconds as u64);
        task.repeat = repeat.unwrap_or_default();
        task.sandbox = sandbox.unwrap_or_default();
        task.at_scheduled_time = scheduled.unwrap_or_default();
        self.placed.resources = resources;
    }

    /// Decodes how it is run beside what it does.
    fn decode_run_settings(&mut self) {
        let id = self.placed.task.id.clone();
        let shell = self.decode_field("shell", run_settings::decode_shell);
        let env = self.decode_field("env", run_settings::decode_env);
        let cwd = self.decode_field("cwd", run_settings::decode_cwd);
        let retries = self.decode_field("retries", run_settings::decode_retries);
        let when = self.decode_field("when", conditions::decode_when);
        let tolerated = self.decode_field("continue_on_error", PlanFileDecoder::read_boolean);
        let group = self.decode_field("group", decode_line);
        let tags = self.decode_field("tags", |decoder, tree, path| {
            Some(decoder.read_texts(tree, path, ListSeparators::Plain, &id))
        });
        let task = &mut self.placed.task;
        task.shell = shell.unwrap_or_default();
        task.env = env.unwrap_or_default();
        task.cwd = cwd.unwrap_or_default();
        task.retries = retries;
        (task.when, task.options.run_if) = when.unwrap_or_default();
        task.continue_on_error = tolerated.unwrap_or_default();
        task.group = group.unwrap_or_default();
        task.tags = tags.unwrap_or_default();
    }

    /// Decodes what its command leaves behind.
    fn decode_results(&mut self) {
        let outputs = self.decode_field("outputs", results::decode_outputs);
        let artifacts = self.decode_field("artifacts", results::decode_patterns);
        let inputs = self.decode_field("inputs", results::decode_patterns);
        let cache = self.decode_field("cache", PlanFileDecoder::read_boolean);
        let options = &mut self.placed.task.options;
        options.outputs = outputs.unwrap_or_default();
        options.artifacts = artifacts.unwrap_or_default();
        options.inputs = inputs.unwrap_or_default();
        options.cache = cache.unwrap_or_default();
    }

    /// Decodes what its command may see, and whether it is a service.
    fn decode_command_options(&mut self) {
        let files = self.decode_field("env_file", command_options::decode_env_files);
        let passed = self.decode_field("pass_env", command_options::decode_pass_env);
        let secrets = self.decode_field("secrets", command_options::decode_secrets);
        let service = self.decode_field("service", command_options::decode_service);
        let interactive = self.decode_field("interactive", PlanFileDecoder::read_boolean);
        let executor = self.decode_field("on", command_options::decode_executor);
        let options = &mut self.placed.task.options;
        options.executor = executor.unwrap_or_default();
        options.env_files = files.unwrap_or_default();
        options.pass_env = passed.unwrap_or_default();
        options.secrets = secrets.unwrap_or_default();
        options.service = service;
        options.interactive = interactive.unwrap_or_default();
    }

    /// Decodes who answers for it, its dates, and what it rests on.
    fn decode_details(&mut self) {
        let id = self.placed.task.id.clone();
        let owner = self.decode_field("owner", decode_line).unwrap_or_default();
        let why = self.decode_field("why", decode_line).unwrap_or_default();
        let cost = self.decode_field("cost", decode_cost);
        let mut dates = NodeDates::default();
        for field in DateField::ALL {
            dates.set(field, self.decode_field(field.as_str(), decode_plan_date));
        }
        let [risks, assumptions, evidence] = ["risks", "assumptions", "evidence"].map(|name| {
            self.decode_field(name, |decoder, tree, path| {
                Some(decoder.read_texts(tree, path, ListSeparators::Plain, &id))
            })
            .unwrap_or_default()
        });
        if let Some((first, second)) = dates.contradiction() {
            self.report_contradiction(first, second);
        }
        let task = &mut self.placed.task;
        (task.owner, task.why, task.cost) = (owner, why, cost);
        (task.risks, task.assumptions, task.evidence) = (risks, assumptions, evidence);
        task.set_dates(dates);
    }

    fn report_contradiction(&mut self, first: DateField, second: DateField) {
        let Some(entry) = self.fields.get(second.as_str()) else { return };
        let path = ValuePath::Field(&self.path, &entry.key);
        let message = format!("is before `{}`", first.as_str());
        let fix = format!("Write a later date, or remove `{}`.", first.as_str());
        self.decoder.report_bad_value(&entry.tree, path, message, fix);
    }

    fn decode_dependencies(&mut self) {
        let id = self.placed.task.id.clone();
        self.placed.links = self
            .decode_field("depends_on", |decoder, tree, path| {
                Some(super::link::decode_links(decoder, tree, path, &id))
            })
            .unwrap_or_default();
    }
}

fn decode_metadata(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<serde_json::Map<String, serde_json::Value>> {
    decoder.read_table(tree, path)?;
    match tree.to_json() {
        serde_json::Value::Object(fields) => Some(fields),
        _ => None,
    }
}

fn decode_affinity(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    id: &TaskId,
) -> Option<BTreeMap<String, f64>> {
    let mut scores = BTreeMap::new();
    for entry in decoder.read_table(tree, path)? {
        let path = ValuePath::Field(&path, &entry.key);
        match as_number(&entry.tree).filter(|score| !score.is_nan()) {
            Some(score) => {
                let clamped = score.clamp(0.0, 1.0);
                if (clamped - score).abs() > 0.0 {
                    let detail = format!("`{path}` was {score} and became {clamped}");
                    decoder.note_change("affinity_clamped", Some(id), detail);
                }
                // Adding zero drops the sign of a negative zero.
                scores.insert(entry.key.clone(), clamped + 0.0);
            }
            None => {
                decoder.report_bad_value(
                    &entry.tree,
                    path,
                    "must be a number",
                    "Write a score from 0 to 1.",
                );
            }
        }
    }
    Some(scores)
}

/// Decodes names with integers, as used for resources and demands.
pub(super) fn decode_units(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    least: i64,
) -> Vec<(String, u32, usize)> {
    let mut found = Vec::new();
    for entry in decoder.read_table(tree, path).unwrap_or_default() {
        let path = ValuePath::Field(&path, &entry.key);
        if let Some(units) = decoder.read_integer(&entry.tree, path, least..=i64::from(u32::MAX)) {
            found.push((entry.key.clone(), units as u32, entry.tree.span.start));
        }
    }
    found
}

fn decode_duration(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    marks_point: bool,
) -> Option<i64> {
    const FIX: &str =
        "Write minutes as a number, or \"45m\", \"2h\", \"1d\" (8 hours) or \"1w\" (5 days).";
    let read = |text: &str| duration::parse_minutes(text, DayLength::Working);
    let (least, allowed) =
        if marks_point { (0, "0 minutes to 10 years") } else { (1, "1 minute to 10 years") };
    decode_bounded_span(decoder, tree, path, read, least..=TEN_YEARS_MINUTES, (allowed, FIX))
}

/// Decodes a line of text that must contain something.
pub(super) fn decode_line(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<String> {
    let text = decoder.read_text(tree, path)?.trim();
    let fault = if text.is_empty() {
        "is blank"
    } else if text.chars().any(|c| c.is_control() || is_invisible(c)) {
        "contains control or invisible characters"
    } else {
        return Some(text.to_owned());
    };
    decoder.report_bad_value(tree, path, fault, "Write one line of text, or remove the field.");
    None
}

fn decode_plan_date(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<PlanDate> {
    let text = decoder.read_text(tree, path)?;
    let date = text.parse().ok();
    if date.is_none() {
        let message = format!("is \"{}\", which is not a valid date", escape_for_message(text));
        let fix = "Write a date or a local time, such as 2026-06-05 or 2026-06-05T17:00.";
        decoder.report_bad_value(tree, path, message, fix);
    }
    date
}

fn decode_cost(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<TaskCost> {
    let text = decoder.read_text(tree, path)?;
    let cost = text.parse().ok();
    if cost.is_none() {
        let message = format!("is \"{}\", which is not an amount", escape_for_message(text));
        let fix = "Write an amount and a currency, such as \"120 EUR\" or \"12.50 USD\".";
        decoder.report_bad_value(tree, path, message, fix);
    }
    cost
}

pub(super) fn decode_timeout(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<i64> {
    const FIX: &str = "Write seconds as a number, or \"90s\", \"5m\" or \"1h\".";
    decode_bounded_span(
        decoder,
        tree,
        path,
        duration::parse_seconds,
        1..=TEN_YEARS_SECONDS,
        ("1 second to 10 years", FIX),
    )
}

/// Decodes a duration given as text or a bare number, within bounds.
pub(super) fn decode_bounded_span(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    read: impl Fn(&str) -> Option<i64>,
    bounds: std::ops::RangeInclusive<i64>,
    (allowed, fix): (&str, &str),
) -> Option<i64> {
    let amount = match &tree.value {
        TreeValue::Text(text) => read(text),
        _ => as_whole_number(tree),
    };
    match amount {
        Some(amount) if bounds.contains(&amount) => return Some(amount),
        Some(_) => decoder.report_bad_value(tree, path, format!("is out of range: {allowed}"), fix),
        None => decoder.report_bad_value(tree, path, "is not a duration", fix),
    }
    None
}
