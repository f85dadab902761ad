//! The same formats for a task graph, which has tasks and links but no phases, and for its run.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::markdown::escape_markdown;
use super::mermaid::{escape_label, strip_punctuation};
use super::run_progress::{ExportedRun, ExportedStatus, ExportedTask};
use super::{dot, format_duration, format_link_label, to_one_line};
use crate::check::ScheduleReport;
use crate::diff::format_plan_date;
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use planwright_model::{OffsetDateTime, Plan, RunKind, TaskId, TaskLink, TaskNode};
use planwright_schedule::calendar::find_zone;

/// Renders the tasks as a Markdown list in the author's order.
pub fn render_graph_markdown(plan: &Plan, schedule: Option<&ScheduleReport>) -> String {
    let mut text = format!("# {}\n\n", escape_markdown(&plan.title));
    if let Some(goal) = &plan.goal {
        let _ = writeln!(text, "{}\n", escape_markdown(goal));
    }
    for task in &plan.tasks {
        let minutes = task
            .duration_minutes
            .map_or_else(String::new, |minutes| format!(" ({})", format_duration(minutes)));
        let _ = writeln!(
            text,
            "- [ ] **{}** {}{minutes}",
            escape_markdown(task.id.as_str()),
            escape_markdown(&task.description)
        );
        if let Some(owner) = task.other_owner() {
            let _ = writeln!(text, "  Done by: {}", escape_markdown(owner));
        }
        for (field, date) in task.dates().stated() {
            let _ =
                writeln!(text, "  Date: {} {}", field.words(), format_plan_date(date, Date::MIN));
        }
        if let RunKind::Shell(command) = &task.run {
            let _ = writeln!(text, "  Runs: {}", escape_markdown(command));
        }
        if !task.dependencies.is_empty() {
            let after: Vec<String> = task.dependencies.iter().map(predecessor_text).collect();
            let _ = writeln!(text, "  After: {}", after.join(", "));
        }
    }
    if let Some(schedule) = schedule {
        let _ = writeln!(
            text,
            "\n## Schedule\n\nEnds after {} (at least {}).\n\n| Task | Start | End |\n| --- | ---: | ---: |",
            format_minutes(schedule.makespan_minutes),
            format_minutes(schedule.lower_bound_minutes),
        );
        for block in &schedule.blocks {
            let task = escape_markdown(block.task.as_str());
            let _ = writeln!(
                text,
                "| {task} | {} | {} |",
                format_minutes(block.start),
                format_minutes(block.finish)
            );
        }
    }
    text
}

fn predecessor_text(link: &TaskLink) -> String {
    let label = task_link_label(link);
    let id = escape_markdown(link.task.as_str());
    if label.is_empty() { id } else { format!("{id} ({label})") }
}

fn format_minutes(minutes: u64) -> String {
    format_duration(u32::try_from(minutes).unwrap_or(u32::MAX))
}

fn task_link_label(link: &TaskLink) -> String {
    format_link_label(link.kind, link.lag_minutes, link.lag_basis)
}

/// Renders the tasks and their links as a Mermaid flowchart, with what became of them in a run.
pub fn render_graph_flowchart(plan: &Plan, run: &ExportedRun) -> String {
    let mut text = String::from("flowchart TD\n");
    let mut names: HashMap<&TaskId, String> = HashMap::new();
    for (index, task) in plan.tasks.iter().enumerate() {
        let name = names.entry(&task.id).or_insert_with(|| format!("n{index}"));
        let mut label = escape_label(&task.description);
        for line in label_lines(task, run) {
            let _ = write!(label, "<br/>{}", escape_label(&line));
        }
        let _ = writeln!(text, "    {name}[\"{label}\"]");
    }
    for task in &plan.tasks {
        for link in &task.dependencies {
            let (Some(from), Some(to)) = (names.get(&link.task), names.get(&task.id)) else {
                continue;
            };
            let label = task_link_label(link);
            let arrow =
                if label.is_empty() { "-->".to_owned() } else { format!("-- \"{label}\" -->") };
            let _ = writeln!(text, "    {from} {arrow} {to}");
        }
    }
    write_status_classes(&names, run, &mut text);
    text
}

/// Who does a task if somebody is named, and what became of it.
fn label_lines(task: &TaskNode, run: &ExportedRun) -> Vec<String> {
    let owner = task.other_owner().map(str::to_owned);
    let became = run.get(&task.id).and_then(ExportedTask::describe);
    owner.into_iter().chain(became).collect()
}

/// Gives the tasks of each status its colors.
pub(super) fn write_status_classes(
    names: &HashMap<&TaskId, String>,
    run: &ExportedRun,
    text: &mut String,
) {
    for status in ExportedStatus::STYLED {
        let with_status = run.iter().filter(|(_, task)| task.status == status);
        let members: Vec<&str> =
            with_status.filter_map(|(id, _)| names.get(id)).map(String::as_str).collect();
        if !members.is_empty() {
            let (word, (fill, stroke)) = (status.word(), status.colors());
            let _ = writeln!(text, "    classDef {word} fill:{fill},stroke:{stroke},color:#1f2328");
            let _ = writeln!(text, "    class {} {word}", members.join(","));
        }
    }
}

/// Renders the tasks and their links as a DOT graph, with what became of them in a run.
pub fn render_graph_dot(plan: &Plan, run: &ExportedRun) -> String {
    let mut text = format!(
        "digraph plan {{\n    label={};\n    node [shape=box];\n",
        dot::quote_dot(&plan.title)
    );
    let known: HashSet<&TaskId> = plan.tasks.iter().map(|task| &task.id).collect();
    for task in &plan.tasks {
        let mut label = to_one_line(&task.description);
        for line in label_lines(task, run) {
            let _ = write!(label, "\n{}", to_one_line(&line));
        }
        let (id, label) = (dot::quote_dot(task.id.as_str()), dot::quote_dot(&label));
        let _ = writeln!(text, "    {id} [label={label}{}];", dot::status_style(&task.id, run));
    }
    for task in &plan.tasks {
        for link in task.dependencies.iter().filter(|link| known.contains(&link.task)) {
            let label = task_link_label(link);
            let label = if label.is_empty() {
                String::new()
            } else {
                format!(" [label={}]", dot::quote_dot(&label))
            };
            let (from, to) = (dot::quote_dot(link.task.as_str()), dot::quote_dot(task.id.as_str()));
            let _ = writeln!(text, "    {from} -> {to}{label};");
        }
    }
    text.push_str("}\n");
    text
}

/// Renders the schedule of a task graph as a Mermaid Gantt chart: at its dates if the plan has a calendar, else from
/// midnight of `first_day` on.
pub fn render_graph_gantt(plan: &Plan, schedule: &ScheduleReport, first_day: Date) -> String {
    let mut text = gantt_head(&plan.title, "YYYY-MM-DDTHH:mm", "%d %b %H:%M");
    if schedule.tz.is_none() {
        text.push_str("    %% The plan has no calendar: times count from its start.\n");
    }
    let origin = first_day.to_datetime(Time::midnight());
    let moment = |at: Option<OffsetDateTime>, minutes: u64| {
        let zone = schedule.tz.as_deref().and_then(|tz| find_zone(tz).ok());
        let local = if let Some((at, zone)) = at.zip(zone) {
            zone.to_datetime(at.at)
        } else {
            let minutes = i64::try_from(minutes).unwrap_or(i64::MAX);
            let span = jiff::SignedDuration::from_secs(minutes.saturating_mul(60));
            origin.saturating_add(span)
        };
        local.strftime("%Y-%m-%dT%H:%M").to_string()
    };
    let titles: HashMap<&TaskId, &str> =
        plan.tasks.iter().rev().map(|task| (&task.id, task.description.as_str())).collect();
    for block in &schedule.blocks {
        let title =
            strip_punctuation(titles.get(&block.task).copied().unwrap_or(block.task.as_str()));
        let start = moment(block.start_at, block.start);
        let finish = moment(block.finish_at, block.finish);
        let _ = writeln!(text, "    {title} :{start}, {finish}");
    }
    text
}

/// Renders what really ran, and when, as a Mermaid Gantt chart. A task that still runs ends `now`.
pub fn render_run_gantt(plan: &Plan, run: &ExportedRun, zone: &TimeZone, now: Timestamp) -> String {
    let mut text = gantt_head(&plan.title, "YYYY-MM-DDTHH:mm:ss.SSS", "%H:%M:%S");
    let local = |at: Timestamp| zone.to_datetime(at).strftime("%Y-%m-%dT%H:%M:%S%.3f").to_string();
    let mut ran: Vec<(Timestamp, &TaskNode, &ExportedTask)> = plan
        .tasks
        .iter()
        .filter_map(|task| run.get(&task.id).map(|ran| (task, ran)))
        .filter_map(|(task, ran)| Some((ran.started?, task, ran)))
        .collect();
    ran.sort_by(|a, b| (a.0, &a.1.id).cmp(&(b.0, &b.1.id)));
    for (started, task, ran) in ran {
        let mark = match ran.status {
            ExportedStatus::Done => "done, ",
            ExportedStatus::Running => "active, ",
            ExportedStatus::Failed => "crit, ",
            ExportedStatus::Open | ExportedStatus::Skipped => "",
        };
        let ended = ran.ended.filter(|end| *end >= started).unwrap_or(now);
        let title = strip_punctuation(&task.description);
        let _ = writeln!(text, "    {title} :{mark}{}, {}", local(started), local(ended));
    }
    text
}

fn gantt_head(title: &str, date_format: &str, axis_format: &str) -> String {
    let title = strip_punctuation(title);
    format!(
        "gantt\n    title {title}\n    dateFormat {date_format}\n    axisFormat {axis_format}\n"
    )
}
