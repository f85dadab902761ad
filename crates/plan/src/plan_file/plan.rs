//! Decodes an entire plan: its own fields, ids, links and resources.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::decoder::{FieldNames, PlanFileDecoder};
use super::matrix::TaskSource;
use super::task::{self, LocatedTask, SANDBOX};
use super::template::{self, TemplateScope};
use super::value_tree::{TreeValue, ValuePath, ValueTree, escape_for_message};
use super::{
    MAX_LINKS, MAX_TASKS, PlanFileInputs, calendar, candidates, conditions, matrix, plan_options,
    run_rules, run_settings,
};
use crate::graph::{TaskCycle, prune_missing, resolve_graph};
use planwright_model::{
    NormalizationChange, Plan, RunKind, SandboxChoice, Severity, TaskId, TaskLink, Violation,
};
use planwright_text::nearest_name;

/// The fields of a plan.
pub(super) const PLAN_FIELDS: &[FieldNames] = &[
    ("version", &[]),
    ("title", &[]),
    ("goal", &[]),
    ("rationale", &[]),
    ("resources", &[]),
    ("calendar", &[]),
    ("sandbox", &[]),
    ("defaults", &[]),
    ("fail_fast", &[]),
    ("include", &[]),
    ("pools", &[]),
    ("notify", &[]),
    ("vars", &[]),
    ("params", &[]),
    ("tasks", &["nodes"]),
    ("$schema", &[]),
];

/// The longest rationale, in characters.
const MAX_RATIONALE: usize = 4000;

/// How many resources a plan may declare.
const MAX_RESOURCES: usize = 1000;

/// A plan as far as it could be read, with all of its violations.
#[derive(Debug, Default)]
pub(crate) struct DecodedPlan {
    pub(crate) plan: Plan,
    pub(crate) violations: Vec<Violation>,
    pub(crate) normalization: Vec<NormalizationChange>,
    /// Line and column of the calendar.
    pub(crate) calendar_place: Option<(u32, u32)>,
    /// Line and column of each task.
    pub(crate) task_places: Vec<(u32, u32)>,
    /// Each link that was read, with its line and column, by task.
    pub(crate) link_places: Vec<Vec<(TaskLink, (u32, u32))>>,
}

pub(super) fn decode_plan(
    mut decoder: PlanFileDecoder<'_>,
    tree: &mut ValueTree,
    title: &str,
    inputs: &PlanFileInputs<'_>,
) -> DecodedPlan {
    let mut plan = Plan { title: title.to_owned(), ..Plan::default() };
    let (mut placed, mut calendar_at) = (Vec::new(), None);
    let values = template::decode_declarations(&mut decoder, tree, inputs);
    plan.params =
        values.parameters.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
    let scope = TemplateScope::new(values, inputs);
    if decoder.has_templates {
        template::expand_plan(&mut decoder, tree, &scope);
    }
    let tree = &*tree;
    if matches!(tree.value, TreeValue::List(_)) {
        placed = decode_tasks(&mut decoder, tree, ValuePath::Root, &[], &scope);
    } else if let Some(fields) = decoder.read_fields(tree, ValuePath::Root, PLAN_FIELDS) {
        let at = |name| fields.get(name).map(|entry| &entry.tree);
        let path = |name| ValuePath::Field(&ValuePath::Root, name);
        decode_own_fields(&mut decoder, &mut plan, at);
        calendar_at = decode_own_calendar(&mut decoder, &mut plan, at);
        let shell = at("defaults").map(template::default_shell).unwrap_or_default();
        match fields.get("tasks") {
            Some(entry) => {
                placed = decode_tasks(&mut decoder, &entry.tree, path(&entry.key), &shell, &scope);
            }
            None => decoder.report_bad_value(
                tree,
                ValuePath::Root,
                "has no tasks",
                "Add at least one task.",
            ),
        }
        if let Some(sandbox) = at("sandbox") {
            let choice = decoder.read_choice(sandbox, path("sandbox"), SANDBOX);
            apply_sandbox(&mut placed, choice.unwrap_or_default());
        }
        if let Some(defaults) = at("defaults") {
            run_settings::apply_defaults(&mut decoder, defaults, &mut placed);
        }
        if decode_version(&mut decoder, at("version")) == 2 {
            run_settings::apply_strict_shell(&mut placed);
        }
        if let Some(tree) = at("pools") {
            plan_options::decode_pools(&mut decoder, tree, path("pools"), &mut plan);
        }
        if let Some(tree) = at("notify") {
            plan.notify = plan_options::decode_notify(&mut decoder, tree, path("notify"));
        }
        if let Some(tree) = at("fail_fast") {
            plan.fail_fast = decoder.read_boolean(tree, path("fail_fast")).unwrap_or_default();
        }
    }
    template::bind_outputs(&mut decoder, &mut placed);
    conditions::check_conditions(&mut decoder, &placed);
    check_resources(&mut decoder, &plan, &placed);
    run_rules::check_run_rules(&mut decoder, &plan, &placed);
    let placed = candidates::expand_candidates(&mut decoder, placed);
    let calendar_place = calendar_at.map(|at| decoder.lines.line_and_column(at));
    DecodedPlan { calendar_place, ..assemble_plan(decoder, plan, &placed, inputs.allow_missing) }
}

/// The newest version of the format.
const NEWEST_VERSION: i64 = 2;

/// The version that a file states; the first one where it states none.
fn decode_version(decoder: &mut PlanFileDecoder<'_>, tree: Option<&ValueTree>) -> i64 {
    let Some(tree) = tree else { return 1 };
    let path = ValuePath::Field(&ValuePath::Root, "version");
    if let TreeValue::Integer(version) = tree.value
        && version > NEWEST_VERSION
    {
        let message = format!("is {version}, which is newer than this program can read");
        let fix = "Update Planwright, or write version = 2 if the file needs nothing newer.";
        decoder.report_bad_value(tree, path, message, fix);
        return NEWEST_VERSION;
    }
    decoder.read_integer(tree, path, 1..=NEWEST_VERSION).unwrap_or(1)
}

fn decode_own_fields<'t>(
    decoder: &mut PlanFileDecoder<'_>,
    plan: &mut Plan,
    at: impl Fn(&'static str) -> Option<&'t ValueTree>,
) {
    let mut text = |name| {
        decoder.read_text(at(name)?, ValuePath::Field(&ValuePath::Root, name)).map(str::to_owned)
    };
    if let Some(title) = text("title").filter(|title| !title.trim().is_empty()) {
        plan.title = title;
    }
    plan.goal = text("goal");
    plan.rationale = text("rationale");
    if let (Some(rationale), Some(tree)) = (&plan.rationale, at("rationale"))
        && rationale.chars().count() > MAX_RATIONALE
    {
        let path = ValuePath::Field(&ValuePath::Root, "rationale");
        decoder.report_bad_value(tree, path, "is longer than 4,000 characters", "Shorten it.");
    }
    if let Some(tree) = at("resources") {
        let path = ValuePath::Field(&ValuePath::Root, "resources");
        // An invalid capacity is reported once; treating it as unlimited avoids follow-up errors.
        if let TreeValue::Table(entries) = &tree.value {
            if entries.len() > MAX_RESOURCES {
                let message = format!("has more than {MAX_RESOURCES} entries");
                decoder.report_bad_value(tree, path, message, "Declare fewer resources.");
                return;
            }
            plan.resources = entries.iter().map(|entry| (entry.key.clone(), u32::MAX)).collect();
        }
        let units = task::decode_units(decoder, tree, path, 1);
        plan.resources.extend(units.into_iter().map(|(name, units, _)| (name, units)));
    }
}

/// Decodes the calendar, and returns its position.
fn decode_own_calendar<'t>(
    decoder: &mut PlanFileDecoder<'_>,
    plan: &mut Plan,
    at: impl Fn(&'static str) -> Option<&'t ValueTree>,
) -> Option<usize> {
    let tree = at("calendar")?;
    plan.calendar =
        calendar::decode_calendar(decoder, tree, ValuePath::Field(&ValuePath::Root, "calendar"));
    Some(tree.span.start)
}

/// Decodes the tasks, given as a list or as a table from id to task.
fn decode_tasks(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    shell: &[String],
    scope: &TemplateScope<'_>,
) -> Vec<LocatedTask> {
    let named: Vec<(Option<&str>, &ValueTree)> = match &tree.value {
        TreeValue::Table(entries) => {
            entries.iter().map(|entry| (Some(entry.key.as_str()), &entry.tree)).collect()
        }
        _ => decoder
            .read_list(tree, path)
            .unwrap_or_default()
            .iter()
            .map(|item| (None, item))
            .collect(),
    };
    if named.is_empty() {
        decoder.report_bad_value(tree, path, "has no tasks", "Add at least one task.");
    }
    let mut sources = matrix::expand_matrices(decoder, named, path);
    if sources.len() > MAX_TASKS {
        let message =
            format!("has {} tasks, more than the {MAX_TASKS} a plan may hold", sources.len());
        decoder.report_bad_value(tree, path, message, "Split the plan into several files.");
        return Vec::new();
    }
    for source in &mut sources {
        if decoder.has_templates || template::has_condition(&source.tree) {
            let scope = TemplateScope { cell: source.cell.clone(), ..scope.clone() };
            let path = ValuePath::Item(&path, source.index);
            template::expand_task(decoder, source.tree.to_mut(), path, shell, &scope);
        }
    }
    let ids = assign_ids(decoder, &sources, path);
    let mut placed = decode_each(decoder, &sources, &ids, path);
    let made = sources.iter().zip(&ids);
    let origins: Vec<(TaskId, TaskId)> =
        made.filter_map(|(source, id)| Some((source.origin.clone()?, id.clone()))).collect();
    matrix::link_matrices(&mut placed, &origins);
    placed
}

fn decode_each(
    decoder: &mut PlanFileDecoder<'_>,
    sources: &[TaskSource<'_>],
    ids: &[TaskId],
    path: ValuePath<'_>,
) -> Vec<LocatedTask> {
    let mut placed: Vec<LocatedTask> = Vec::new();
    let mut places: HashMap<TaskId, usize> = HashMap::new();
    for (source, id) in sources.iter().zip(ids) {
        let path = ValuePath::Item(&path, source.index);
        let task = task::decode_task(decoder, &source.tree, path, id.clone());
        if let Some(first) = places.get(id) {
            report_duplicate(decoder, id, *first, task.at);
        } else {
            places.insert(id.clone(), task.at);
            placed.push(task);
        }
    }
    placed
}

/// Assigns the id of every task: the stated one, or else its key in a table, or else `task-<n>`.
fn assign_ids(
    decoder: &mut PlanFileDecoder<'_>,
    sources: &[TaskSource<'_>],
    path: ValuePath<'_>,
) -> Vec<TaskId> {
    let stated: Vec<_> = sources
        .iter()
        .map(|source| {
            let (tree, path) = (&source.tree, ValuePath::Item(&path, source.index));
            let id = task::stated_id(decoder, tree, path);
            match (id, source.key) {
                (Ok(None), Some(key)) => {
                    let usable = task::check_id(decoder, key, tree, path);
                    usable.map(|()| Some(TaskId::from(key))).ok_or(())
                }
                (id, _) => id,
            }
        })
        .collect();
    let taken: HashSet<TaskId> = stated.iter().filter_map(|id| id.clone().ok().flatten()).collect();
    stated
        .into_iter()
        .enumerate()
        .map(|(index, id)| match id {
            Ok(Some(id)) => id,
            missing => {
                let free = free_id(&format!("task-{}", index + 1), |id| taken.contains(id));
                if missing.is_ok() {
                    decoder.note_change(
                        "id_missing",
                        Some(&free),
                        format!("a task without an id became {free}"),
                    );
                }
                free
            }
        })
        .collect()
}

/// Returns the id, or the first of `<id>-2`, `<id>-3` and so on that is free.
fn free_id(id: &str, taken: impl Fn(&str) -> bool) -> TaskId {
    let numbered = (2..).map(|number| format!("{id}-{number}"));
    let mut candidates = std::iter::once(id.to_owned()).chain(numbered);
    candidates.find(|id| !taken(id)).map_or_else(|| TaskId::from(id), TaskId::from)
}

fn report_duplicate(decoder: &mut PlanFileDecoder<'_>, id: &TaskId, first: usize, second: usize) {
    let (line, again) =
        (decoder.lines.line_and_column(first).0, decoder.lines.line_and_column(second).0);
    let message = format!("the id `{id}` is used twice: in line {line} and in line {again}");
    let fix = format!("Rename the later one, for example to `{id}-2`.");
    let violation = Violation::new("duplicate_id", Severity::Fatal, message, fix);
    decoder.report_violation(violation.with_nodes([id.clone()]), second);
}

/// A plan's own setting applies to its shell tasks that do not state one.
fn apply_sandbox(placed: &mut [LocatedTask], choice: SandboxChoice) {
    for placed in placed {
        if matches!(placed.task.run, RunKind::Shell(_)) && !placed.states("sandbox") {
            placed.task.sandbox = choice;
        }
    }
}

fn check_resources(decoder: &mut PlanFileDecoder<'_>, plan: &Plan, placed: &[LocatedTask]) {
    for placed in placed {
        for (name, demand, at) in &placed.resources {
            let id = &placed.task.id;
            if decoder.is_full() {
                return;
            }
            let (message, fix) = match plan.resources.get(name) {
                Some(capacity) if demand <= capacity => continue,
                Some(capacity) => (
                    format!(
                        "`{id}` needs {demand} of `{}`, but there are only {capacity}",
                        escape_for_message(name)
                    ),
                    format!("Lower the demand to {capacity}, or raise the capacity to {demand}."),
                ),
                None => (
                    format!(
                        "`{id}` needs {demand} of `{}`, which has no capacity",
                        escape_for_message(name)
                    ),
                    undeclared_resource_fix(name, &plan.resources),
                ),
            };
            let violation = Violation::new("over_capacity", Severity::Fatal, message, fix);
            decoder.report_violation(violation.with_nodes([id.clone()]), *at);
        }
    }
}

fn undeclared_resource_fix(name: &str, resources: &BTreeMap<String, u32>) -> String {
    match nearest_name(name, resources.keys().map(String::as_str)) {
        Some(near) => format!("Did you mean `{}`?", escape_for_message(near)),
        None => format!("Declare it under [resources], as in {} = 1.", escape_for_message(name)),
    }
}

/// Prunes links, checks for a cycle and assembles the plan.
fn assemble_plan(
    mut decoder: PlanFileDecoder<'_>,
    mut plan: Plan,
    placed: &[LocatedTask],
    allow_missing: bool,
) -> DecodedPlan {
    let links: usize = placed.iter().map(|placed| placed.links.len()).sum();
    if links > MAX_LINKS {
        let message = format!("the plan has {links} links, more than the {MAX_LINKS} it may hold");
        let fix = "Remove links that follow from others, or split the plan.";
        decoder.report_violation(Violation::new("bad_value", Severity::Fatal, message, fix), 0);
    }
    plan.tasks = placed.iter().map(|placed| placed.task.clone()).collect();
    share_ids(&mut plan);
    report_missing(&mut decoder, &mut plan, placed, allow_missing);
    if links <= MAX_LINKS
        && let Err(cycle) = resolve_graph(&plan.tasks, |_| true)
    {
        report_cycle(&mut decoder, &cycle, placed);
    }
    if plan.tasks.iter().all(|task| task.duration_minutes.is_none()) {
        demote_offset_violations(&mut decoder.violations);
    }
    let place = |at: &usize| decoder.lines.line_and_column(*at);
    DecodedPlan {
        task_places: placed.iter().map(|placed| place(&placed.at)).collect(),
        link_places: placed
            .iter()
            .map(|placed| placed.links.iter().map(|(link, at)| (link.clone(), place(at))).collect())
            .collect(),
        plan,
        violations: decoder.violations,
        normalization: decoder.normalization,
        calendar_place: None,
    }
}

/// Lets links share the memory of the ids they refer to.
fn share_ids(plan: &mut Plan) {
    let ids: HashSet<TaskId> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    for link in plan.tasks.iter_mut().flat_map(|task| &mut task.dependencies) {
        if let Some(id) = ids.get(&link.task) {
            link.task = id.clone();
        }
    }
}

/// Prunes links. What a file says about the order of its tasks is never dropped without a word: a link to a task that is
/// not there, or to the task itself, is an error at its place. Where missing tasks are allowed it is a warning.
fn report_missing(
    decoder: &mut PlanFileDecoder<'_>,
    plan: &mut Plan,
    placed: &[LocatedTask],
    allow_missing: bool,
) {
    let known: HashSet<_> = placed.iter().map(|placed| &placed.task.id).collect();
    let links = || placed.iter().flat_map(|task| task.links.iter().map(move |link| (task, link)));
    let places = |wanted: &dyn Fn(&LocatedTask, &TaskLink) -> bool| -> Vec<usize> {
        links().filter(|(task, (link, _))| wanted(task, link)).map(|(_, (_, at))| *at).collect()
    };
    let to_itself = places(&|task, link| link.task == task.task.id);
    let missing = places(&|_, link| !known.contains(&link.task));
    let pruned = prune_missing(&mut plan.tasks);
    let severity = if allow_missing { Severity::Warning } else { Severity::Fatal };
    let coded = |code| pruned.iter().filter(move |entry| entry.code == code);
    for (entry, at) in coded("dependency_missing").zip(missing) {
        let violation = missing_violation(entry, severity);
        decoder.report_violation(violation.with_nodes(entry.task_id.clone()), at);
    }
    for (entry, at) in coded("self_dependency").zip(to_itself) {
        let fix = "Name the task that it waits for, or remove the link.";
        let violation = Violation::new("cycle", severity, entry.detail.clone(), fix);
        decoder.report_violation(violation.with_nodes(entry.task_id.clone()), at);
    }
    decoder.normalization.extend(pruned);
}

/// A link to a task that is not in the file, with the nearest name where there is one.
fn missing_violation(entry: &NormalizationChange, severity: Severity) -> Violation {
    let name = entry.task_id.as_ref().map(ToString::to_string).unwrap_or_default();
    let (what, near) = match entry.detail.split_once("; the nearest is ") {
        Some((what, near)) => (what, Some(near)),
        None => (entry.detail.as_str(), None),
    };
    let message = format!("`{name}` waits for a missing task: {what}");
    let fix = match (near, severity) {
        (_, Severity::Warning) => "The link is left out.".to_owned(),
        (Some(near), _) => format!("Did you mean `{near}`?"),
        (None, _) => {
            "Correct the id, or add the task. `run --allow-missing` leaves the link out.".to_owned()
        }
    };
    Violation::new("dependency_missing", severity, message, fix)
}

fn report_cycle(decoder: &mut PlanFileDecoder<'_>, cycle: &TaskCycle, placed: &[LocatedTask]) {
    let [first, .., before_last, _] = cycle.path.as_slice() else { return };
    let task = placed.iter().find(|placed| placed.task.id == *first);
    let link = task.and_then(|task| task.links.iter().find(|(link, _)| link.task == *before_last));
    let at = link.map(|(_, at)| *at).or(task.map(|task| task.at)).unwrap_or(0);
    let message = format!("{cycle} wait for each other");
    let fix = format!("Remove one of these links, for example `{before_last}` from `{first}`.");
    let ids = cycle.path[..cycle.path.len() - 1].to_vec();
    decoder.report_violation(
        Violation::new("cycle", Severity::Fatal, message, fix).with_nodes(ids),
        at,
    );
}

/// Grammar rules about time apply only if there are durations; without them an offset is just an invalid value.
fn demote_offset_violations(violations: &mut [Violation]) {
    for violation in violations.iter_mut().filter(|violation| violation.rule == "G303") {
        "bad_value".clone_into(&mut violation.rule);
        violation.severity = Severity::Fatal;
    }
}
