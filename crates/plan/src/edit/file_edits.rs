//! Reads a plan that was edited as a file as operations on the draft it was written from, so that the draft, its dates
//! and its history follow. What no operation can express is refused by name.

use planwright_model::task::CriterionEffect;
use planwright_model::{
    DateField, ExitCriterion, NodeFields, NodePlace, Plan, PlanEdit, PlanNode, Roadmap, RunKind,
    TaskAssignee, TaskId, TaskLink, TaskNode,
};

/// Why an edited file cannot be read as operations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileEditError {
    #[error("`{field}` of \"{task}\" cannot be changed in a plan that was made from a goal")]
    OtherField { task: String, field: &'static str },
    #[error("`{field}` cannot be changed in a plan that was made from a goal")]
    PlanField { field: &'static str },
    #[error("\"{to}\" waits for \"{from}\" because of the order of their groups; move it instead")]
    DerivedLink { from: String, to: String },
    #[error("\"{task}\" waits for \"{needs}\", which is new too; add one of them first")]
    NewNeedsNew { task: String, needs: String },
}

/// Returns the operations that lead from the plan that was written to the one that was read back.
pub fn edits_from_file(
    before: &Plan,
    after: &Plan,
    roadmap: &Roadmap,
) -> Result<Vec<PlanEdit>, FileEditError> {
    let mut edits = Vec::new();
    compare_plans(before, after, roadmap, &mut edits)?;
    let known = |id: &TaskId| before.tasks.iter().any(|task| task.id == *id);
    for task in &after.tasks {
        let Some(old) = before.tasks.iter().find(|old| old.id == task.id) else { continue };
        require_same_settings(old, task)?;
        let node = roadmap.find_node(&task.id);
        push_field_edits(old, task, node, &mut edits);
        push_link_edits(old, task, (roadmap, &known), &mut edits)?;
    }
    let mut place: Option<&TaskId> = None;
    for task in &after.tasks {
        if known(&task.id) {
            place = Some(&task.id);
        } else {
            edits.push(insert_task(task, place, after, (roadmap, &known))?);
        }
    }
    let gone = before.tasks.iter().filter(|old| !after.tasks.iter().any(|new| new.id == old.id));
    edits.extend(gone.map(|task| PlanEdit::Remove { node: task.id.clone() }));
    Ok(edits)
}

fn compare_plans(
    before: &Plan,
    after: &Plan,
    roadmap: &Roadmap,
    edits: &mut Vec<PlanEdit>,
) -> Result<(), FileEditError> {
    let fields = [
        ("goal", before.goal == after.goal),
        ("rationale", before.rationale == after.rationale),
        ("resources", before.resources == after.resources),
        ("calendar", before.calendar == after.calendar),
    ];
    if let Some((field, _)) = fields.into_iter().find(|(_, same)| !same) {
        return Err(FileEditError::PlanField { field });
    }
    if before.title != after.title {
        let (node, title) = (roadmap.root_id.clone(), after.title.clone());
        edits.push(PlanEdit::Rename { node, title });
    }
    Ok(())
}

/// Refuses what a draft does not keep: it would be lost with the next draft.
fn require_same_settings(old: &TaskNode, new: &TaskNode) -> Result<(), FileEditError> {
    let fields = [
        ("tools", old.tools == new.tools),
        ("tool_affinity", old.tool_affinity == new.tool_affinity),
        ("estimated_tokens", old.estimated_tokens == new.estimated_tokens),
        ("priority", old.priority == new.priority),
        ("agent_role", old.agent_role == new.agent_role),
        ("metadata", old.metadata == new.metadata),
        ("resources", old.resources == new.resources),
        ("timeout", old.timeout_seconds == new.timeout_seconds),
        ("repeat", old.repeat == new.repeat),
        ("sandbox", old.sandbox == new.sandbox),
        ("at_scheduled_time", old.at_scheduled_time == new.at_scheduled_time),
    ];
    match fields.into_iter().find(|(_, same)| !same) {
        Some((field, _)) => Err(FileEditError::OtherField { task: new.description.clone(), field }),
        None => Ok(()),
    }
}

fn push_field_edits(
    old: &TaskNode,
    new: &TaskNode,
    node: Option<&PlanNode>,
    edits: &mut Vec<PlanEdit>,
) {
    let id = || new.id.clone();
    if old.run != new.run {
        edits.push(doer_edit(id(), &new.run));
    }
    if let Some(minutes) =
        new.duration_minutes.filter(|_| old.duration_minutes != new.duration_minutes)
    {
        edits.push(PlanEdit::SetEstimate { node: id(), minutes });
    }
    if old.owner != new.owner {
        edits.push(PlanEdit::Assign { node: id(), owner: new.owner.clone() });
    }
    for field in DateField::ALL {
        let date = new.dates().get(field);
        if old.dates().get(field) != date {
            edits.push(PlanEdit::SetDate { node: id(), field, date });
        }
    }
    let says_done = node.is_some_and(|node| !node.done_when.trim().is_empty());
    let fields = changed_words(old, new, says_done);
    if fields != NodeFields::default() {
        edits.push(PlanEdit::Change { node: id(), fields });
    }
}

fn changed_words(old: &TaskNode, new: &TaskNode, says_done: bool) -> NodeFields {
    let text = |old: &String, new: &String| (old != new).then(|| new.clone());
    let list = |old: &Vec<String>, new: &Vec<String>| (old != new).then(|| new.clone());
    let mut fields = NodeFields {
        title: text(&old.description, &new.description),
        why: text(&old.why, &new.why),
        risks: list(&old.risks, &new.risks),
        assumptions: list(&old.assumptions, &new.assumptions),
        evidence: list(&old.evidence, &new.evidence),
        task_type: text(&old.task_type, &new.task_type),
        ..NodeFields::default()
    };
    if old.cost != new.cost {
        let none =
            || old.cost.clone().map(|cost| planwright_model::TaskCost { hundredths: 0, ..cost });
        fields.cost = new.cost.clone().or_else(none);
    }
    if old.exit_criteria != new.exit_criteria {
        let (done_when, checks) = split_criteria(&new.exit_criteria, says_done);
        fields.done_when = Some(done_when);
        fields.exit_criteria = Some(checks);
    }
    fields
}

/// The first plain text of the criteria is what "done when" says; the others are checks.
fn split_criteria(criteria: &[ExitCriterion], says_done: bool) -> (String, Vec<ExitCriterion>) {
    match criteria.split_first() {
        Some((ExitCriterion::Text { text, on: CriterionEffect::Success }, rest))
            if says_done || rest.is_empty() =>
        {
            (text.clone(), rest.to_vec())
        }
        _ => (String::new(), criteria.to_vec()),
    }
}

/// The edit that has a task done as a way of running says.
fn doer_edit(node: TaskId, run: &RunKind) -> PlanEdit {
    let (doer, command, agent) = match run {
        RunKind::Human {} => (TaskAssignee::Human, None, None),
        RunKind::Agent(run) => (TaskAssignee::Agent, None, run.own_agent().map(str::to_owned)),
        RunKind::Shell(command) => (TaskAssignee::Shell, Some(command.clone()), None),
    };
    PlanEdit::SetDoer { node, doer, command, agent }
}

fn push_link_edits(
    old: &TaskNode,
    new: &TaskNode,
    (roadmap, known): (&Roadmap, &dyn Fn(&TaskId) -> bool),
    edits: &mut Vec<PlanEdit>,
) -> Result<(), FileEditError> {
    let same = |one: &TaskLink, other: &TaskLink| {
        (&one.task, one.kind, one.lag_minutes) == (&other.task, other.kind, other.lag_minutes)
    };
    for link in
        old.dependencies.iter().filter(|link| !new.dependencies.iter().any(|n| same(link, n)))
    {
        let drawn =
            roadmap.dependencies.iter().any(|own| own.from == link.task && own.to == new.id);
        // A new kind or lag replaces the link below.
        if new.dependencies.iter().any(|n| (&n.task, n.kind) == (&link.task, link.kind)) {
            continue;
        }
        if !drawn {
            let title = |id: &TaskId| {
                roadmap.find_node(id).map_or_else(|| id.to_string(), |node| node.title.clone())
            };
            return Err(FileEditError::DerivedLink { from: title(&link.task), to: title(&new.id) });
        }
        edits.push(PlanEdit::Unlink { from: link.task.clone(), to: new.id.clone() });
    }
    let added =
        new.dependencies.iter().filter(|link| !old.dependencies.iter().any(|o| same(link, o)));
    edits.extend(added.filter(|link| known(&link.task)).map(|link| PlanEdit::Link {
        from: link.task.clone(),
        to: new.id.clone(),
        kind: link.kind,
        lag_minutes: link.lag_minutes,
    }));
    Ok(())
}

/// A task that was written into the file goes after the one above it.
fn insert_task(
    task: &TaskNode,
    place: Option<&TaskId>,
    after: &Plan,
    (roadmap, known): (&Roadmap, &dyn Fn(&TaskId) -> bool),
) -> Result<PlanEdit, FileEditError> {
    if let Some(link) = task.dependencies.iter().find(|link| !known(&link.task)) {
        let (task, needs) = (task.description.clone(), link.task.to_string());
        return Err(FileEditError::NewNeedsNew { task, needs });
    }
    let mut fields = changed_words(&TaskNode::new(task.id.clone(), ""), task, false);
    fields.minutes = task.duration_minutes;
    fields.run = Some(task.run.clone());
    (fields.fixed_start, fields.fixed_end) = (task.fixed_start, task.fixed_end);
    (fields.not_before, fields.due) = (task.not_before, task.due);
    fields.owner = Some(task.owner.clone()).filter(|owner| !owner.is_empty());
    let waits = after.tasks.iter().filter(|other| {
        known(&other.id) && other.dependencies.iter().any(|link| link.task == task.id)
    });
    Ok(PlanEdit::Insert {
        place: place.map_or_else(
            || NodePlace::Under(roadmap.root_id.clone()),
            |id| NodePlace::After(id.clone()),
        ),
        fields,
        group: false,
        needs: task.dependencies.iter().map(|link| link.task.clone()).collect(),
        needed_by: waits.map(|other| other.id.clone()).collect(),
    })
}
