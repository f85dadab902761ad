//! Decodes one task of a plan file.

use std::collections::BTreeMap;

use super::decoder::{Decoder, FieldNames, Fields, number, whole};
use super::duration::{self, Day};
use super::tree::{Entry, Path, Tree, Value, is_invisible, shown};
use crate::graph::lists::Separators;
use planwright_model::task::{DEFAULT_ROLE, DEFAULT_TOKENS, DEFAULT_TYPE};
use planwright_model::{Link, Origin, Repeat, RunKind, SandboxChoice, TaskId, TaskNode};
use planwright_text::nearest;

/// The fields of a task, each with the other names it goes by.
pub(super) const TASK_FIELDS: &[FieldNames] = &[
    ("id", &[]),
    ("description", &["question", "goal", "prompt"]),
    ("run", &[]),
    ("depends_on", &["dependencies"]),
    ("duration", &["duration_minutes"]),
    ("resources", &[]),
    ("priority", &[]),
    ("tools", &[]),
    ("tool_affinity", &["affinity"]),
    ("exit_criteria", &["criteria"]),
    ("estimated_tokens", &[]),
    ("agent_role", &[]),
    ("task_type", &[]),
    ("metadata", &[]),
    ("timeout", &["timeout_seconds"]),
    ("repeat", &[]),
    ("sandbox", &[]),
    ("at_scheduled_time", &[]),
    ("origin", &[]),
];

pub(super) const SANDBOX: &[(&str, SandboxChoice)] =
    &[("none", SandboxChoice::None), ("workspace", SandboxChoice::Workspace)];
const REPEAT: &[(&str, Repeat)] = &[("ask", Repeat::Ask), ("safe", Repeat::Safe)];
const ORIGIN: &[(&str, Origin)] = &[
    ("system", Origin::System),
    ("user_feedback", Origin::UserFeedback),
    ("ai_adaptation", Origin::AiAdaptation),
];

/// How long an id may be, in characters.
const MAX_ID: usize = 80;
const TEN_YEARS_MINUTES: i64 = 10 * 366 * 1440;
const TEN_YEARS_SECONDS: i64 = TEN_YEARS_MINUTES * 60;

/// A task and where its parts stand in the file.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) task: TaskNode,
    pub(super) at: usize,
    pub(super) links: Vec<(Link, usize)>,
    pub(super) resources: Vec<(String, u32, usize)>,
    pub(super) states_sandbox: bool,
}

/// The id a task states, with its place. `Err` stands for a stated id that cannot be used.
pub(super) fn stated_id(
    decoder: &mut Decoder<'_>,
    tree: &Tree,
    path: Path<'_>,
) -> Result<Option<TaskId>, ()> {
    let Value::Table(entries) = &tree.value else { return Ok(None) };
    let Some(entry) = entries.iter().find(|entry| entry.key == "id") else { return Ok(None) };
    let path = Path::Field(&path, "id");
    let id = decoder.text(&entry.tree, path).ok_or(())?;
    check_id(decoder, id, &entry.tree, path).ok_or(())?;
    Ok(Some(TaskId::from(id)))
}

/// Whether text can be an id: printable, not blank, not too long.
pub(super) fn check_id(
    decoder: &mut Decoder<'_>,
    id: &str,
    tree: &Tree,
    path: Path<'_>,
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
    decoder.bad(tree, path, fault, "Write a short printable id, such as \"build\".");
    None
}

/// Decodes a task whose id is settled. Reports what is wrong and keeps the rest.
pub(super) fn decode(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>, id: TaskId) -> Placed {
    let mut placed = Placed {
        task: TaskNode::new(id, ""),
        at: tree.span.start,
        links: Vec::new(),
        resources: Vec::new(),
        states_sandbox: false,
    };
    if let Some(fields) = decoder.fields(tree, path, TASK_FIELDS) {
        // A table of TOML starts at its header; the id is what a person looks for.
        if let Some(entry) = fields.get("id") {
            placed.at = entry.tree.span.start;
        }
        Task { decoder, path, fields, placed: &mut placed }.decode();
    }
    placed
}

struct Task<'d, 'a, 'p, 't> {
    decoder: &'d mut Decoder<'a>,
    path: Path<'p>,
    fields: Fields<'t>,
    placed: &'d mut Placed,
}

impl<'a, 't> Task<'_, 'a, '_, 't> {
    /// Decodes one field, if it is there.
    fn field<T>(
        &mut self,
        name: &'static str,
        decode: impl FnOnce(&mut Decoder<'a>, &'t Tree, Path<'_>) -> Option<T>,
    ) -> Option<T> {
        let entry: &'t Entry = self.fields.get(name)?;
        decode(self.decoder, &entry.tree, Path::Field(&self.path, &entry.key))
    }

    fn decode(mut self) {
        self.what();
        self.how();
        self.limits();
        self.links();
        self.placed.task.dependencies =
            self.placed.links.iter().map(|(link, _)| link.clone()).collect();
        self.placed.task.resources =
            self.placed.resources.iter().map(|(name, units, _)| (name.clone(), *units)).collect();
    }

    /// What is to be done and when it counts as done.
    fn what(&mut self) {
        let id = self.placed.task.id.clone();
        self.placed.task.run = self.field("run", run).unwrap_or_default();
        let description = self.field("description", Decoder::text).unwrap_or_default();
        description.clone_into(&mut self.placed.task.description);
        if description.is_empty() && !self.fields.contains_key("description") {
            self.placed.task.description = id.to_string();
            let detail = format!("{id} has no description; its id stands in");
            self.decoder.note("description_missing", Some(&id), detail);
        }
        self.placed.task.exit_criteria = self
            .field("exit_criteria", |decoder, tree, path| {
                Some(super::criteria::decode(decoder, tree, path, &id))
            })
            .unwrap_or_default();
        self.placed.task.metadata = self.field("metadata", metadata).unwrap_or_default();
    }

    /// With what it is done.
    fn how(&mut self) {
        let id = self.placed.task.id.clone();
        self.placed.task.tools = self
            .field("tools", |decoder, tree, path| {
                Some(decoder.texts(tree, path, Separators::Tools, &id))
            })
            .unwrap_or_default();
        self.placed.task.tool_affinity = self
            .field("tool_affinity", |decoder, tree, path| affinity(decoder, tree, path, &id))
            .unwrap_or_default();
        if let Some(role) = self.field("agent_role", Decoder::text) {
            self.placed.task.agent_role = self.known_role(role);
        }
        if let Some(kind) = self.field("task_type", Decoder::text) {
            self.placed.task.task_type = self.known_type(kind);
        }
        self.placed.task.origin =
            self.field("origin", |d, tree, path| d.choice(tree, path, ORIGIN)).unwrap_or_default();
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
        let detail = format!("\"{}\" is not a known role; worker is used", shown(role));
        self.decoder.note("unknown_role", Some(&self.placed.task.id), detail);
        DEFAULT_ROLE.to_owned()
    }

    fn known_type(&mut self, kind: &str) -> String {
        let types = &self.decoder.vocabulary.task_types;
        if types.iter().any(|known| known == kind) {
            return kind.to_owned();
        }
        let near = nearest(kind, types.iter().map(String::as_str));
        let near = near.map(|near| format!("; the nearest is {near}")).unwrap_or_default();
        let detail = format!("\"{}\" is not a known task type; generic is used{near}", shown(kind));
        self.decoder.note("unknown_task_type", Some(&self.placed.task.id), detail);
        DEFAULT_TYPE.to_owned()
    }

    /// What bounds it: estimates, times, resources.
    fn limits(&mut self) {
        let tokens =
            self.field("estimated_tokens", |d, tree, path| d.integer(tree, path, 0..=i64::MAX));
        let priority =
            self.field("priority", |d, tree, path| d.integer(tree, path, i64::MIN..=i64::MAX));
        let duration = self.field("duration", minutes);
        let timeout = self.field("timeout", timeout);
        let repeat = self.field("repeat", |d, tree, path| d.choice(tree, path, REPEAT));
        let sandbox = self.field("sandbox", |d, tree, path| d.choice(tree, path, SANDBOX));
        let scheduled = self.field("at_scheduled_time", Decoder::boolean);
        let resources = self.field("resources", |d, tree, path| Some(units(d, tree, path, 0)));
        let task = &mut self.placed.task;
        task.estimated_tokens = tokens.map_or(DEFAULT_TOKENS, |tokens| tokens as u64);
        task.priority = priority.unwrap_or(0);
        task.duration_minutes = duration.map(|minutes| minutes as u32);
        task.timeout_seconds = timeout.map(|seconds| seconds as u64);
        task.repeat = repeat.unwrap_or_default();
        task.sandbox = sandbox.unwrap_or_default();
        task.at_scheduled_time = scheduled.unwrap_or_default();
        self.placed.resources = resources.unwrap_or_default();
        self.placed.states_sandbox = sandbox.is_some();
    }

    fn links(&mut self) {
        let id = self.placed.task.id.clone();
        self.placed.links = self
            .field("depends_on", |decoder, tree, path| {
                Some(super::link::decode(decoder, tree, path, &id))
            })
            .unwrap_or_default();
    }
}

fn run(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>) -> Option<RunKind> {
    const FIX: &str = "Write { shell = \"…\" }, { agent = {} } or { human = {} }.";
    let entry = match &tree.value {
        Value::Table(entries) if entries.len() == 1 => &entries[0],
        _ => {
            decoder.bad(tree, path, "must name exactly one way to run the task", FIX);
            return None;
        }
    };
    let inner = Path::Field(&path, &entry.key);
    match entry.key.as_str() {
        "shell" => {
            let command = decoder.text(&entry.tree, inner)?;
            if command.trim().is_empty() || command.contains('\0') {
                decoder.bad(&entry.tree, inner, "is not a command", "Write the command to run.");
                return None;
            }
            Some(RunKind::Shell(command.to_owned()))
        }
        kind @ ("agent" | "human") => {
            if !decoder.table(&entry.tree, inner)?.is_empty() {
                decoder.bad(
                    &entry.tree,
                    inner,
                    "takes no settings",
                    format!("Write {kind} = {{}}."),
                );
                return None;
            }
            Some(if kind == "agent" { RunKind::Agent {} } else { RunKind::Human {} })
        }
        _ => {
            decoder.bad(tree, path, "names no known way to run the task", FIX);
            None
        }
    }
}

fn metadata(
    decoder: &mut Decoder<'_>,
    tree: &Tree,
    path: Path<'_>,
) -> Option<serde_json::Map<String, serde_json::Value>> {
    decoder.table(tree, path)?;
    match tree.to_json() {
        serde_json::Value::Object(fields) => Some(fields),
        _ => None,
    }
}

fn affinity(
    decoder: &mut Decoder<'_>,
    tree: &Tree,
    path: Path<'_>,
    id: &TaskId,
) -> Option<BTreeMap<String, f64>> {
    let mut scores = BTreeMap::new();
    for entry in decoder.table(tree, path)? {
        let path = Path::Field(&path, &entry.key);
        match number(&entry.tree).filter(|score| !score.is_nan()) {
            Some(score) => {
                let clamped = score.clamp(0.0, 1.0);
                if (clamped - score).abs() > 0.0 {
                    let detail = format!("`{path}` was {score} and became {clamped}");
                    decoder.note("affinity_clamped", Some(id), detail);
                }
                // Adding zero drops the sign of a negative zero.
                scores.insert(entry.key.clone(), clamped + 0.0);
            }
            None => {
                decoder.bad(&entry.tree, path, "must be a number", "Write a score from 0 to 1.");
            }
        }
    }
    Some(scores)
}

/// Names with whole numbers, as resources and demands are written.
pub(super) fn units(
    decoder: &mut Decoder<'_>,
    tree: &Tree,
    path: Path<'_>,
    least: i64,
) -> Vec<(String, u32, usize)> {
    let mut found = Vec::new();
    for entry in decoder.table(tree, path).unwrap_or_default() {
        let path = Path::Field(&path, &entry.key);
        if let Some(units) = decoder.integer(&entry.tree, path, least..=i64::from(u32::MAX)) {
            found.push((entry.key.clone(), units as u32, entry.tree.span.start));
        }
    }
    found
}

fn minutes(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>) -> Option<i64> {
    const FIX: &str =
        "Write minutes as a number, or \"45m\", \"2h\", \"1d\" (8 hours) or \"1w\" (5 days).";
    let read = |text: &str| duration::minutes(text, Day::Working);
    span(decoder, tree, path, read, 1..=TEN_YEARS_MINUTES, ("1 minute to 10 years", FIX))
}

fn timeout(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>) -> Option<i64> {
    const FIX: &str = "Write seconds as a number, or \"90s\", \"5m\" or \"1h\".";
    span(
        decoder,
        tree,
        path,
        duration::seconds,
        1..=TEN_YEARS_SECONDS,
        ("1 second to 10 years", FIX),
    )
}

/// A duration as text or a bare number, within bounds.
fn span(
    decoder: &mut Decoder<'_>,
    tree: &Tree,
    path: Path<'_>,
    read: impl Fn(&str) -> Option<i64>,
    bounds: std::ops::RangeInclusive<i64>,
    (allowed, fix): (&str, &str),
) -> Option<i64> {
    let amount = match &tree.value {
        Value::Text(text) => read(text),
        _ => whole(tree),
    };
    match amount {
        Some(amount) if bounds.contains(&amount) => return Some(amount),
        Some(_) => decoder.bad(tree, path, format!("is out of range: {allowed}"), fix),
        None => decoder.bad(tree, path, "is not a duration", fix),
    }
    None
}
