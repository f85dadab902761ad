//! The operations of a model: read from the arguments of its calls, and applied to the draft one by one.
//!
//! They become the same edits that people make. What no operation names stays as it is; one that cannot be made is told,
//! and the others count.

use std::collections::BTreeSet;

use jiff::civil::Time;
use serde::Deserialize;
use serde_json::Value;

use super::operation_fields::unused_fields;
use planwright_model::{
    DateField, ExitCriterion, LagBasis, LinkKind, LinkOrigin, NodeDependency, NodeFields,
    NodeOrigin, NodePlace, NodeType, PlanContext, PlanDate, PlanEdit, PlanNode, PlanOutline,
    Recurrence, RecurrenceFrequency, Roadmap, Role, RunKind, SplitPart, TaskCost, TaskId, Weekday,
};
use planwright_plan::edit::{EditError, EditStep, apply_draft_edit};

/// The longest id of a node, in characters.
const MAX_ID_CHARS: usize = 40;

/// The kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OperationKind {
    Add,
    Change,
    Move,
    Remove,
    Split,
    Merge,
    Link,
    Unlink,
    Assign,
    Date,
    Lock,
}

/// An operation as a model writes it; which fields it needs depends on its kind.
#[derive(Clone, Debug, Deserialize)]
struct PlanOperation {
    op: OperationKind,
    id: Option<String>,
    ids: Option<Vec<String>>,
    under: Option<String>,
    after: Option<String>,
    before: Option<String>,
    kind: Option<String>,
    title: Option<String>,
    description: Option<String>,
    done_when: Option<String>,
    minutes: Option<u32>,
    owner: Option<String>,
    doer: Option<String>,
    command: Option<String>,
    task_type: Option<String>,
    role: Option<Role>,
    stream: Option<String>,
    intensity: Option<u8>,
    optional: Option<bool>,
    one_sitting: Option<bool>,
    needs: Option<Vec<String>>,
    needed_by: Option<Vec<String>>,
    fixed_start: Option<String>,
    fixed_end: Option<String>,
    not_before: Option<String>,
    due: Option<String>,
    repeat: Option<Value>,
    exit_criteria: Option<Vec<Value>>,
    why: Option<String>,
    risks: Option<Vec<String>>,
    assumptions: Option<Vec<String>>,
    evidence: Option<Vec<String>>,
    cost: Option<String>,
    tags: Option<Vec<String>>,
    into: Option<Value>,
    from: Option<String>,
    to: Option<String>,
    link: Option<String>,
    lag_minutes: Option<i32>,
    lag_days: Option<i32>,
    field: Option<DateField>,
    date: Option<String>,
}

/// The plan while operations are applied to it.
#[derive(Clone, Debug)]
pub(in crate::planner) struct WorkingDraft {
    pub(in crate::planner) outline: PlanOutline,
    pub(in crate::planner) roadmap: Roadmap,
    pub(in crate::planner) locked: BTreeSet<TaskId>,
}

/// What a list of operations came to.
#[derive(Debug, Default)]
pub(in crate::planner) struct AppliedOperations {
    pub(super) steps: Vec<EditStep>,
    /// What could not be done, each with its number.
    pub(in crate::planner) refused: Vec<String>,
    /// What was done otherwise than it was written, or not used, each with its number.
    pub(in crate::planner) notes: Vec<String>,
    /// Nodes that were added by these operations.
    added: BTreeSet<TaskId>,
    /// Nodes that are locked from now on.
    pub(super) newly_locked: Vec<TaskId>,
}

impl WorkingDraft {
    /// A plan that has nothing but its goal.
    pub(in crate::planner) fn new_for_goal(context: PlanContext) -> Self {
        let outline = PlanOutline::new("goal", context);
        let roadmap = Roadmap::new(&outline, Vec::new());
        Self { outline, roadmap, locked: BTreeSet::new() }
    }

    /// Applies operations in their order. Those that cannot be made are named; the others count.
    pub(in crate::planner) fn apply_operations(
        &mut self,
        operations: &[Value],
    ) -> AppliedOperations {
        let before = self.clone();
        let mut applied = AppliedOperations::default();
        for (number, value) in (1..).zip(operations) {
            let op = value.get("op").and_then(Value::as_str).unwrap_or("?");
            let id = value.get("id").and_then(Value::as_str).unwrap_or_default();
            let name = format!("operation {number} ({})", format!("{op} {id}").trim_end());
            match self.apply_operation(value, &mut applied) {
                Ok(notes) => {
                    applied.notes.extend(notes.iter().map(|note| format!("{name}: {note}")));
                }
                Err(why) => applied.refused.push(format!("{name}: {why}")),
            }
        }
        self.finish_changes(&before);
        applied
    }

    /// Applies edits that were made for the model, such as estimates. What changes nothing is fine.
    pub(super) fn apply_edit(
        &mut self,
        edit: &PlanEdit,
        applied: &mut AppliedOperations,
    ) -> Result<(), String> {
        let edited = match apply_draft_edit(&self.outline, Some(&self.roadmap), edit, &self.locked)
        {
            Ok(edited) => edited,
            Err(EditError::NothingChanges) => return Ok(()),
            Err(error) => return Err(format!("{error}; {}", error.hint())),
        };
        self.outline = edited.outline;
        if let Some(roadmap) = edited.roadmap {
            self.roadmap = roadmap;
        }
        applied.newly_locked.extend(edited.locked.difference(&self.locked).cloned());
        self.locked = edited.locked;
        applied.steps.extend(edited.steps);
        Ok(())
    }

    /// Applies one operation; what comes back is what the model should know about it.
    fn apply_operation(
        &mut self,
        value: &Value,
        applied: &mut AppliedOperations,
    ) -> Result<Vec<String>, String> {
        let mut operation: PlanOperation = serde_json::from_value(value.clone())
            .map_err(|error| format!("it cannot be read: {error}"))?;
        let unused = unused_fields(value).into_iter();
        let mut notes: Vec<String> =
            unused.map(|field| format!("`{field}` is not used by this operation")).collect();
        if operation.role == Some(Role::Gate) && self.has_work(&operation) {
            operation.role = Some(Role::Review);
            notes.push("a gate has no work of its own, so its role is review".to_owned());
        }
        let edit = self.read_edit(&operation, &applied.added)?;
        self.apply_edit(&edit, applied)?;
        match operation.op {
            OperationKind::Add => applied.added.extend(operation.id.as_deref().map(TaskId::from)),
            OperationKind::Change => self.replace_links(&operation, applied)?,
            OperationKind::Link => self.complete_link(&operation)?,
            _ => {}
        }
        Ok(notes)
    }

    /// Whether a node is, or becomes, something that takes time.
    fn has_work(&self, operation: &PlanOperation) -> bool {
        let known = operation.id.as_deref().and_then(|id| self.outline.find_node(&id.into()));
        let point = operation.kind.as_deref() == Some("milestone")
            || known.is_some_and(|node| node.milestone);
        let works = matches!(operation.doer.as_deref(), Some("agent" | "shell"))
            || operation.minutes.is_some_and(|minutes| minutes > 0)
            || known.is_some_and(|node| node.work_minutes() > 0);
        works && !point
    }

    /// Gives a node exactly the links that `needs` and `needed_by` name; those that stay keep their lags.
    fn replace_links(
        &mut self,
        operation: &PlanOperation,
        applied: &mut AppliedOperations,
    ) -> Result<(), String> {
        let node = named(operation.id.as_ref(), "id")?;
        for (listed, into) in [(&operation.needs, true), (&operation.needed_by, false)] {
            let Some(listed) = listed else { continue };
            let listed = ids(listed);
            let ends = |link: &NodeDependency| {
                if into {
                    (link.to.clone(), link.from.clone())
                } else {
                    (link.from.clone(), link.to.clone())
                }
            };
            let now: Vec<TaskId> = self
                .roadmap
                .dependencies
                .iter()
                .map(ends)
                .filter(|(own, _)| *own == node)
                .map(|(_, other)| other)
                .collect();
            let pair = |other: &TaskId| {
                if into { (other.clone(), node.clone()) } else { (node.clone(), other.clone()) }
            };
            for (from, to) in now.iter().filter(|other| !listed.contains(other)).map(pair) {
                self.apply_edit(&PlanEdit::Unlink { from, to }, applied)?;
            }
            for (from, to) in listed.iter().filter(|other| !now.contains(other)).map(pair) {
                let link = PlanEdit::Link { from, to, kind: LinkKind::FS, lag_minutes: 0 };
                self.apply_edit(&link, applied)?;
            }
        }
        Ok(())
    }

    /// What operations must not leave behind: a version for each of them, and the person's name on what a model wrote.
    pub(super) fn finish_changes(&mut self, before: &Self) {
        let same = before.outline.nodes == self.outline.nodes
            && before.roadmap.dependencies == self.roadmap.dependencies;
        let first = before.outline.nodes.len() <= 1;
        self.outline.version = before.outline.version + u32::from(!same && !first);
        restore_origins(&before.outline.nodes, &mut self.outline.nodes);
        restore_origins(&before.roadmap.nodes, &mut self.roadmap.nodes);
        for link in &mut self.roadmap.dependencies {
            let known = before.roadmap.dependencies.iter().any(|old| old == link);
            if !known {
                let by_person = before.roadmap.dependencies.iter().any(|old| {
                    old.origin == LinkOrigin::UserFeedback
                        && (&old.from, &old.to) == (&link.from, &link.to)
                });
                link.origin =
                    if by_person { LinkOrigin::UserFeedback } else { LinkOrigin::AiAdaptation };
            }
        }
    }

    fn read_edit(
        &self,
        operation: &PlanOperation,
        added: &BTreeSet<TaskId>,
    ) -> Result<PlanEdit, String> {
        let node = || named(operation.id.as_ref(), "id");
        Ok(match operation.op {
            OperationKind::Add => self.read_insert(operation, added)?,
            OperationKind::Change => {
                PlanEdit::Change { node: node()?, fields: read_fields(operation)? }
            }
            OperationKind::Move => self.read_move(operation)?,
            OperationKind::Remove => PlanEdit::Remove { node: node()? },
            OperationKind::Split => PlanEdit::Split {
                node: node()?,
                into: serde_json::from_value::<Vec<SplitPart>>(
                    operation.into.clone().unwrap_or_default(),
                )
                .map_err(|error| format!("`into` must be a list of titles and minutes: {error}"))?,
            },
            OperationKind::Merge => PlanEdit::Merge {
                nodes: ids(operation.ids.as_deref().unwrap_or_default()),
                into: operation
                    .into
                    .as_ref()
                    .and_then(Value::as_str)
                    .or(operation.title.as_deref())
                    .ok_or("`into` must be the title of the merged task")?
                    .to_owned(),
            },
            OperationKind::Link => PlanEdit::Link {
                from: named(operation.from.as_ref(), "from")?,
                to: named(operation.to.as_ref(), "to")?,
                kind: link_kind(operation.link.as_deref())?,
                lag_minutes: read_lag(operation).0,
            },
            OperationKind::Unlink => PlanEdit::Unlink {
                from: named(operation.from.as_ref(), "from")?,
                to: named(operation.to.as_ref(), "to")?,
            },
            OperationKind::Assign => PlanEdit::Assign {
                node: node()?,
                owner: operation.owner.clone().ok_or("`owner` is missing")?,
            },
            OperationKind::Date => PlanEdit::SetDate {
                node: node()?,
                field: operation.field.ok_or("`field` is missing")?,
                date: operation.date.as_deref().map(read_date).transpose()?,
            },
            OperationKind::Lock => PlanEdit::Lock { node: node()? },
        })
    }

    /// Where a new node goes. Nodes of one call stand in the order of the call; else one that is added goes before the
    /// milestone that ends its parent.
    fn read_place(&self, operation: &PlanOperation, added: &BTreeSet<TaskId>) -> NodePlace {
        let parent = match (&operation.under, &operation.after, &operation.before) {
            (_, Some(id), _) => return NodePlace::After(id.trim().into()),
            (_, None, Some(id)) => return NodePlace::Before(id.trim().into()),
            (Some(id), ..) => id.trim().into(),
            _ => self.outline.root_id.clone(),
        };
        let stream = operation.stream.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let stream = stream.unwrap_or(planwright_model::outline::MAIN_STREAM);
        let tree = self.outline.node_tree();
        let last = tree.children(&parent).filter(|child| child.stream == stream).last();
        match last.filter(|last| added.contains(&last.id)) {
            Some(last) => NodePlace::After(last.id.clone()),
            None => NodePlace::Under(parent),
        }
    }

    fn read_insert(
        &self,
        operation: &PlanOperation,
        added: &BTreeSet<TaskId>,
    ) -> Result<PlanEdit, String> {
        let place = self.read_place(operation, added);
        let mut fields = read_fields(operation)?;
        fields.id = operation.id.as_deref().map(read_new_id).transpose()?;
        fields.stream = operation.stream.clone().filter(|stream| !stream.trim().is_empty());
        let beside = operation.after.is_some() || operation.before.is_some();
        if !beside && fields.stream.is_none() {
            fields.stream = Some(planwright_model::outline::MAIN_STREAM.to_owned());
        }
        let kind = operation.kind.as_deref().unwrap_or("task");
        fields.node_type = match kind {
            "milestone" => {
                (fields.milestone, fields.minutes) = (Some(true), None);
                None
            }
            "task" => None,
            other => Some(node_type(other)?),
        };
        Ok(PlanEdit::Insert {
            place,
            fields,
            group: false,
            needs: ids(operation.needs.as_deref().unwrap_or_default()),
            needed_by: ids(operation.needed_by.as_deref().unwrap_or_default()),
        })
    }

    fn read_move(&self, operation: &PlanOperation) -> Result<PlanEdit, String> {
        let node = named(operation.id.as_ref(), "id")?;
        let beside = operation.after.as_ref().or(operation.before.as_ref());
        let Some(beside) = beside else {
            let parent = named(operation.under.as_ref(), "under, after or before")?;
            return Ok(PlanEdit::Move { node, parent, position: u16::MAX });
        };
        let beside = TaskId::from(beside.trim());
        let other = self.outline.find_node(&beside);
        let other = other.ok_or_else(|| format!("the plan has no node \"{beside}\""))?;
        let parent = other.parent_id.clone().ok_or("nothing stands beside the goal")?;
        let tree = self.outline.node_tree();
        let mut lane =
            tree.children(&parent).filter(|child| child.stream == other.stream && child.id != node);
        let at = lane.position(|child| child.id == beside).unwrap_or(0);
        let position = at + usize::from(operation.after.is_some());
        Ok(PlanEdit::Move { node, parent, position: u16::try_from(position).unwrap_or(u16::MAX) })
    }

    /// Gives a link what an edit cannot say: that its lag is elapsed time, and why it is there.
    fn complete_link(&mut self, operation: &PlanOperation) -> Result<(), String> {
        let kind = link_kind(operation.link.as_deref())?;
        let (lag, basis) = read_lag(operation);
        let of = |text: &Option<String>| TaskId::from(text.as_deref().unwrap_or_default().trim());
        let (from, to) = (of(&operation.from), of(&operation.to));
        let same = |link: &&mut NodeDependency| {
            link.from == from && link.to == to && link.kind == kind && link.lag_minutes == lag
        };
        for link in self.roadmap.dependencies.iter_mut().filter(same) {
            link.lag_basis = basis;
            if let Some(why) = &operation.why {
                why.trim().clone_into(&mut link.rationale);
            }
        }
        Ok(())
    }
}

/// Keeps the origin of what was there; what is new or changed is the model's, unless the person had a hand in it.
fn restore_origins(before: &[PlanNode], after: &mut [PlanNode]) {
    for node in after {
        let Some(old) = before.iter().find(|old| old.id == node.id) else {
            node.origin = NodeOrigin::AiAdaptation;
            continue;
        };
        node.origin = old.origin;
        if *node != *old && old.origin != NodeOrigin::UserFeedback {
            node.origin = NodeOrigin::AiAdaptation;
        }
    }
}

fn named(text: Option<&String>, field: &str) -> Result<TaskId, String> {
    let id = text.map(|text| text.trim()).filter(|text| !text.is_empty());
    id.map(TaskId::from).ok_or_else(|| format!("`{field}` is missing"))
}

fn ids(list: &[String]) -> Vec<TaskId> {
    list.iter().map(|id| TaskId::from(id.trim())).collect()
}

fn read_new_id(text: &str) -> Result<TaskId, String> {
    let text = text.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if text.is_empty() || text.len() > MAX_ID_CHARS || !text.chars().all(plain) {
        return Err(format!("an id has 1 to {MAX_ID_CHARS} letters, digits, `.`, `_` or `-`"));
    }
    Ok(text.into())
}

fn node_type(name: &str) -> Result<NodeType, String> {
    NodeType::ALL
        .into_iter()
        .find(|kind| kind.as_str() == name && *kind != NodeType::Goal)
        .ok_or_else(|| format!("\"{name}\" is not a kind of node"))
}

fn link_kind(name: Option<&str>) -> Result<LinkKind, String> {
    Ok(match name.unwrap_or("FS") {
        "FS" => LinkKind::FS,
        "SS" => LinkKind::SS,
        "FF" => LinkKind::FF,
        "SF" => LinkKind::SF,
        other => return Err(format!("\"{other}\" is not one of FS, SS, FF, SF")),
    })
}

/// The lag of a link: working minutes, or days that pass.
fn read_lag(operation: &PlanOperation) -> (i32, LagBasis) {
    match (operation.lag_days, operation.lag_minutes) {
        (Some(days), _) => (days.saturating_mul(24 * 60), LagBasis::Elapsed),
        (None, minutes) => (minutes.unwrap_or(0), LagBasis::Working),
    }
}

fn read_date(text: &str) -> Result<PlanDate, String> {
    let wrong = |_| format!("\"{text}\" is not a date such as 2027-03-18 or 2027-03-18T09:00");
    text.parse().map_err(wrong)
}

fn read_fields(operation: &PlanOperation) -> Result<NodeFields, String> {
    let date = |text: &Option<String>| text.as_deref().map(read_date).transpose();
    let criteria = operation.exit_criteria.as_ref();
    Ok(NodeFields {
        title: operation.title.clone(),
        description: operation.description.clone(),
        done_when: operation.done_when.clone(),
        minutes: operation.minutes,
        owner: operation.owner.clone(),
        why: operation.why.clone(),
        risks: operation.risks.clone(),
        assumptions: operation.assumptions.clone(),
        evidence: operation.evidence.clone(),
        exit_criteria: criteria
            .map(|list| list.iter().map(read_criterion).collect::<Result<_, _>>())
            .transpose()?,
        task_type: operation.task_type.clone(),
        cost: operation.cost.as_deref().map(str::parse::<TaskCost>).transpose()?,
        optional: operation.optional,
        tags: operation.tags.clone(),
        recurrence: operation.repeat.as_ref().map(read_recurrence).transpose()?,
        run: read_run(operation)?,
        fixed_start: date(&operation.fixed_start)?,
        fixed_end: date(&operation.fixed_end)?,
        not_before: date(&operation.not_before)?,
        due: date(&operation.due)?,
        role: operation.role,
        intensity: operation.intensity,
        in_one_piece: operation.one_sitting,
        ..NodeFields::default()
    })
}

fn read_run(operation: &PlanOperation) -> Result<Option<RunKind>, String> {
    let command = operation.command.as_deref().map(str::trim).filter(|text| !text.is_empty());
    Ok(match operation.doer.as_deref() {
        Some("shell") => {
            Some(RunKind::Shell(command.ok_or("a shell task needs a `command`")?.to_owned()))
        }
        Some("agent") => Some(RunKind::agent()),
        Some("human") => Some(RunKind::Human {}),
        Some(other) => return Err(format!("`doer` is human, agent or shell, not \"{other}\"")),
        None => None,
    })
}

fn read_criterion(value: &Value) -> Result<ExitCriterion, String> {
    let text = |name: &str| {
        let found = value.get(name).and_then(Value::as_str).map(str::trim);
        let found = found.filter(|text| !text.is_empty()).map(str::to_owned);
        found.ok_or_else(|| format!("an exit criterion lacks `{name}`"))
    };
    let on = planwright_model::task::CriterionEffect::Success;
    Ok(match value.get("kind").and_then(Value::as_str).unwrap_or("text") {
        "command" => ExitCriterion::Command { command: text("command")?, on },
        "file_exists" => ExitCriterion::FileExists { path: text("path")?, on },
        "json_path" => ExitCriterion::JsonPath {
            path: text("path")?,
            equals: value.get("equals").cloned().unwrap_or_default(),
            on,
        },
        "judged" => ExitCriterion::Judged { text: text("text")?, on },
        "text" => ExitCriterion::Text { text: text("text")?, on },
        other => return Err(format!("\"{other}\" is not a kind of exit criterion")),
    })
}

/// How often something repeats, as a model writes it.
#[derive(Deserialize)]
struct WrittenRecurrence {
    freq: RecurrenceFrequency,
    interval: Option<u16>,
    days: Option<Vec<Weekday>>,
    at: Option<String>,
    count: Option<u32>,
    from: Option<jiff::civil::Date>,
    until: Option<jiff::civil::Date>,
}

fn read_recurrence(value: &Value) -> Result<Recurrence, String> {
    let written: WrittenRecurrence = serde_json::from_value(value.clone())
        .map_err(|error| format!("`repeat` cannot be read: {error}"))?;
    let time = |text: &String| {
        let full = if text.len() == 5 { format!("{text}:00") } else { text.clone() };
        full.parse::<Time>().map_err(|_| format!("\"{text}\" is not a time such as 07:30"))
    };
    let day = planwright_model::RecurrenceByDay::Weekday;
    Ok(Recurrence {
        freq: written.freq,
        interval: written.interval.unwrap_or(1).max(1),
        by_day: written.days.unwrap_or_default().into_iter().map(day).collect(),
        at_local: written.at.as_ref().map(time).transpose()?,
        count: written.count,
        from: written.from,
        until: written.until,
    })
}
