//! Tasks as to-dos (VTODO): when they are due and how far they are.

use std::collections::BTreeMap;

use super::content_lines::IcalLineWriter;
use super::time_zones;
use super::write::IcalEvents;
use crate::export::{ExportedRun, ExportedStatus, ExportedTask, PlanExport};
use planwright_model::{
    DateField, NodeDates, NodeStatus, OffsetDateTime, Plan, PlanDate, PlanNode, RunKind, TaskId,
    TaskNode,
};

/// One to-do.
struct ExportedTodo<'a> {
    id: &'a TaskId,
    title: &'a str,
    description: String,
    /// The parameters and value of its times.
    start: Option<String>,
    due: Option<String>,
    ran: Option<ExportedTask>,
    is_done: bool,
}

/// Writes the leaves of a drafted plan. What repeats is in the calendar as a series and has no one end.
pub(super) fn write_node_todos(
    plan: &PlanExport<'_>,
    events: &IcalEvents<'_>,
    lines: &mut IcalLineWriter,
) {
    let tree = plan.tree();
    let leaves = tree.leaves(&plan.roadmap.root_id);
    for node in leaves.into_iter().filter(|node| node.id != plan.roadmap.root_id) {
        let repeats = node.recurrence.is_some()
            || tree.ancestors(&node.id).iter().any(|above| above.recurrence.is_some());
        if repeats {
            continue;
        }
        let blocks =
            || plan.schedule.iter().flat_map(|schedule| schedule.blocks_for_node(&node.id));
        let span =
            blocks().map(|block| block.start).min().zip(blocks().map(|block| block.end).max());
        let (start, due) = todo_times(span, &node.dates(), events);
        let todo = ExportedTodo {
            id: &node.id,
            title: &node.title,
            description: describe_node(node),
            start,
            due,
            ran: plan.run.and_then(|run| run.get(&node.id)).copied(),
            is_done: node.status == NodeStatus::Done,
        };
        write_todo(&todo, events, lines);
    }
}

fn describe_node(node: &PlanNode) -> String {
    let mut parts = vec![node.description.clone()];
    parts.extend(node.other_owner().map(|owner| format!("Done by: {owner}")));
    if !node.done_when.is_empty() {
        parts.push(format!("Done when: {}", node.done_when));
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n")
}

/// Writes the tasks of a plan file that have a date: scheduled, or set by hand.
pub(super) fn write_task_todos(
    plan: &Plan,
    times: &BTreeMap<&TaskId, (OffsetDateTime, OffsetDateTime)>,
    run: &ExportedRun,
    events: &IcalEvents<'_>,
    lines: &mut IcalLineWriter,
) {
    for task in &plan.tasks {
        let (start, due) = todo_times(times.get(&task.id).copied(), &task.dates(), events);
        if start.is_none() && due.is_none() {
            continue;
        }
        let todo = ExportedTodo {
            id: &task.id,
            title: &task.description,
            description: describe_task(task),
            start,
            due,
            ran: run.get(&task.id).copied(),
            is_done: false,
        };
        write_todo(&todo, events, lines);
    }
}

/// Who does a task, and what it runs.
pub(super) fn describe_task(task: &TaskNode) -> String {
    let mut parts: Vec<String> =
        task.other_owner().map(|owner| format!("Done by: {owner}")).into_iter().collect();
    if let RunKind::Shell(command) = &task.run {
        parts.push(format!("Runs: {command}"));
    }
    parts.join("\n")
}

/// When a to-do starts and is due: as scheduled, else as somebody set it, in the local time of whoever reads it.
fn todo_times(
    span: Option<(OffsetDateTime, OffsetDateTime)>,
    dates: &NodeDates,
    events: &IcalEvents<'_>,
) -> (Option<String>, Option<String>) {
    if let Some((start, end)) = span {
        // Programs refuse a to-do that is due when it starts.
        let start = (start.at < end.at).then(|| events.format_time(start));
        return (start, Some(events.format_time(end)));
    }
    let due = dates.get(DateField::Due).or_else(|| dates.get(DateField::FixedEnd));
    (None, due.or_else(|| dates.get(DateField::FixedStart)).map(format_plan_date))
}

fn format_plan_date(date: PlanDate) -> String {
    match date.time {
        Some(time) => format!(":{}", time_zones::format_local(date.day.to_datetime(time))),
        None => format!(";VALUE=DATE:{}", date.day.strftime("%Y%m%d")),
    }
}

fn write_todo(todo: &ExportedTodo<'_>, events: &IcalEvents<'_>, lines: &mut IcalLineWriter) {
    lines.push("BEGIN:VTODO");
    events.write_identity(&format!("{}!todo", todo.id), lines);
    if let Some(start) = &todo.start {
        lines.push(&format!("DTSTART{start}"));
    }
    if let Some(due) = &todo.due {
        lines.push(&format!("DUE{due}"));
    }
    lines.push_text("SUMMARY", todo.title);
    lines.push_text("DESCRIPTION", &todo.description);
    let status = todo.ran.map_or(ExportedStatus::Open, |ran| ran.status);
    let is_done = todo.is_done || status == ExportedStatus::Done;
    let word = match status {
        _ if is_done => "COMPLETED",
        ExportedStatus::Running => "IN-PROCESS",
        ExportedStatus::Skipped => "CANCELLED",
        ExportedStatus::Open | ExportedStatus::Failed | ExportedStatus::Done => "NEEDS-ACTION",
    };
    lines.push(&format!("STATUS:{word}"));
    if is_done {
        lines.push("PERCENT-COMPLETE:100");
        if let Some(ended) = todo.ran.and_then(|ran| ran.ended) {
            lines.push(&format!("COMPLETED:{}", time_zones::format_utc(ended)));
        }
    }
    lines.push("END:VTODO");
}
