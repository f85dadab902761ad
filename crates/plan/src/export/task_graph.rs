//! The same formats for a task graph, which has tasks and links but neither phases nor a calendar.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::markdown::escape_markdown;
use super::mermaid::{escape_label, strip_punctuation};
use super::{dot, format_duration, format_link_label};
use crate::check::ScheduleReport;
use crate::diff::format_plan_date;
use jiff::civil::Date;
use planwright_model::{Plan, RunKind, TaskId, TaskLink};

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

/// Renders the tasks and their links as a Mermaid flowchart.
pub fn render_graph_flowchart(plan: &Plan) -> String {
    let mut text = String::from("flowchart TD\n");
    let mut names: HashMap<&TaskId, String> = HashMap::new();
    for (index, task) in plan.tasks.iter().enumerate() {
        let name = names.entry(&task.id).or_insert_with(|| format!("n{index}"));
        let _ = writeln!(text, "    {name}[\"{}\"]", escape_label(&task.description));
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
    text
}

/// Renders the tasks and their links as a DOT graph.
pub fn render_graph_dot(plan: &Plan) -> String {
    let mut text = format!(
        "digraph plan {{\n    label={};\n    node [shape=box];\n",
        dot::quote_dot(&plan.title)
    );
    let known: HashSet<&TaskId> = plan.tasks.iter().map(|task| &task.id).collect();
    for task in &plan.tasks {
        let (id, title) = (dot::quote_dot(task.id.as_str()), dot::quote_dot(&task.description));
        let _ = writeln!(text, "    {id} [label={title}];");
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

/// Renders the schedule of a task graph as a Mermaid Gantt chart that starts at minute 0.
pub fn render_graph_gantt(plan: &Plan, schedule: &ScheduleReport) -> String {
    let mut text = format!(
        "gantt\n    title {}\n    dateFormat X\n    axisFormat %j %H:%M\n",
        strip_punctuation(&plan.title)
    );
    let titles: HashMap<&TaskId, &str> =
        plan.tasks.iter().rev().map(|task| (&task.id, task.description.as_str())).collect();
    for block in &schedule.blocks {
        let title =
            strip_punctuation(titles.get(&block.task).copied().unwrap_or(block.task.as_str()));
        let (start, finish) = (block.start.saturating_mul(60), block.finish.saturating_mul(60));
        let _ = writeln!(text, "    {title} :{start}, {finish}");
    }
    text
}
