//! The same formats for a task graph, which has tasks and links but no phases, and for its run.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::diagram_parts::{FlowBox, FlowGraph, FlowLink, render_gantt_parts};
use super::markdown::escape_markdown;
use super::mermaid::{escape_gantt, escape_label, flow_arrow};
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

/// Renders the tasks and their links as a Mermaid flowchart, with what became of them in a run, times in a zone. A large
/// graph is several diagrams.
pub fn render_graph_flowchart(plan: &Plan, run: &ExportedRun, zone: &TimeZone) -> String {
    let mut places: HashMap<&TaskId, usize> = HashMap::new();
    let mut boxes = Vec::new();
    for (index, task) in plan.tasks.iter().enumerate() {
        let name = format!("n{}", places.entry(&task.id).or_insert(index));
        let title = escape_label(&task.description);
        let mut label = title.clone();
        for line in label_lines(task, run, zone) {
            let _ = write!(label, "<br/>{}", escape_label(&line));
        }
        boxes.push(FlowBox { declaration: format!("{name}[\"{label}\"]"), name, title });
    }
    let mut links = Vec::new();
    for task in &plan.tasks {
        for link in &task.dependencies {
            let (Some(from), Some(to)) = (places.get(&link.task), places.get(&task.id)) else {
                continue;
            };
            links.push(FlowLink {
                from: *from,
                to: *to,
                arrow: flow_arrow(&task_link_label(link)),
            });
        }
    }
    let names: HashMap<&TaskId, String> =
        places.iter().map(|(id, place)| (*id, format!("n{place}"))).collect();
    let graph = FlowGraph { title: &plan.title, head: "flowchart TD", boxes, links };
    graph.render(&|own| {
        let mut text = String::new();
        let takes = |id: &TaskId| places.get(id).is_some_and(|place| own.contains(place));
        write_status_classes(&names, run, &takes, &mut text);
        text
    })
}

/// Who does a task if somebody is named, and what became of it.
fn label_lines(task: &TaskNode, run: &ExportedRun, zone: &TimeZone) -> Vec<String> {
    let owner = task.other_owner().map(str::to_owned);
    let became = run.get(&task.id).map(|ran| ran.describe_lines(zone)).unwrap_or_default();
    owner.into_iter().chain(became).collect()
}

/// Gives the tasks of each status its colors.
pub(super) fn write_status_classes(
    names: &HashMap<&TaskId, String>,
    run: &ExportedRun,
    takes: &dyn Fn(&TaskId) -> bool,
    text: &mut String,
) {
    for status in ExportedStatus::STYLED {
        let with_status = run.iter().filter(|(id, task)| task.status == status && takes(id));
        let members: Vec<&str> =
            with_status.filter_map(|(id, _)| names.get(id)).map(String::as_str).collect();
        if !members.is_empty() {
            let (word, (fill, stroke)) = (status.word(), status.colors());
            let _ = writeln!(text, "    classDef {word} fill:{fill},stroke:{stroke},color:#1f2328");
            let _ = writeln!(text, "    class {} {word}", members.join(","));
        }
    }
}

/// Renders the tasks and their links as a DOT graph, with what became of them in a run, times in a zone.
pub fn render_graph_dot(plan: &Plan, run: &ExportedRun, zone: &TimeZone) -> String {
    let mut text = format!(
        "digraph plan {{\n    label={};\n    node [shape=box];\n",
        dot::quote_dot(&plan.title)
    );
    let known: HashSet<&TaskId> = plan.tasks.iter().map(|task| &task.id).collect();
    for task in &plan.tasks {
        let mut label = to_one_line(&task.description);
        for line in label_lines(task, run, zone) {
            let _ = write!(label, "\n{}", to_one_line(&line));
        }
        let (id, label) = (dot::quote_dot(task.id.as_str()), dot::quote_dot(&label));
        let style = dot::node_style(false, run.get(&task.id).map(|task| task.status));
        let _ = writeln!(text, "    {id} [label={label}{style}];");
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
    let head = gantt_head(&plan.title, "YYYY-MM-DDTHH:mm", "%d %b %H:%M");
    let mut text = String::new();
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
        let title = escape_gantt(titles.get(&block.task).copied().unwrap_or(block.task.as_str()));
        let start = moment(block.start_at, block.start);
        let finish = moment(block.finish_at, block.finish);
        let _ = writeln!(text, "    {title} :{start}, {finish}");
    }
    render_gantt_parts(&plan.title, &head, &text)
}

/// Renders what really ran, and when, as a Mermaid Gantt chart. A task that still runs ends `now`.
pub fn render_run_gantt(plan: &Plan, run: &ExportedRun, zone: &TimeZone, now: Timestamp) -> String {
    let head = gantt_head(&plan.title, "YYYY-MM-DDTHH:mm:ss.SSS", "%H:%M:%S");
    let mut text = String::new();
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
        let title = escape_gantt(&task.description);
        let _ = writeln!(text, "    {title} :{mark}{}, {}", local(started), local(ended));
    }
    render_gantt_parts(&plan.title, &head, &text)
}

fn gantt_head(title: &str, date_format: &str, axis_format: &str) -> String {
    let title = escape_gantt(title);
    format!(
        "gantt\n    title {title}\n    dateFormat {date_format}\n    axisFormat {axis_format}\n"
    )
}
