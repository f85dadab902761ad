//! The same formats for a task graph, which has tasks and links but neither phases nor a calendar.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::markdown::escape;
use super::mermaid::{plain, quoted};
use super::{dot, duration, label};
use crate::check::ScheduleReport;
use planwright_model::{Link, Plan, RunKind, TaskId};

/// The tasks as a Markdown list in the author's order.
pub fn graph_markdown(plan: &Plan, schedule: Option<&ScheduleReport>) -> String {
    let mut text = format!("# {}\n\n", escape(&plan.title));
    if let Some(goal) = &plan.goal {
        let _ = writeln!(text, "{}\n", escape(goal));
    }
    for task in &plan.tasks {
        let minutes = task
            .duration_minutes
            .map_or_else(String::new, |minutes| format!(" ({})", duration(minutes)));
        let _ = writeln!(
            text,
            "- [ ] **{}** {}{minutes}",
            escape(task.id.as_str()),
            escape(&task.description)
        );
        if let RunKind::Shell(command) = &task.run {
            let _ = writeln!(text, "  Runs: {}", escape(command));
        }
        if !task.dependencies.is_empty() {
            let after: Vec<String> = task.dependencies.iter().map(after).collect();
            let _ = writeln!(text, "  After: {}", after.join(", "));
        }
    }
    if let Some(schedule) = schedule {
        let _ = writeln!(
            text,
            "\n## Schedule\n\nEnds after {} (at least {}).\n\n| Task | Start | End |\n| --- | ---: | ---: |",
            minutes(schedule.makespan_minutes),
            minutes(schedule.lower_bound_minutes),
        );
        for block in &schedule.blocks {
            let task = escape(block.task.as_str());
            let _ =
                writeln!(text, "| {task} | {} | {} |", minutes(block.start), minutes(block.finish));
        }
    }
    text
}

fn after(link: &Link) -> String {
    let label = label_of(link);
    let id = escape(link.task.as_str());
    if label.is_empty() { id } else { format!("{id} ({label})") }
}

fn minutes(minutes: u64) -> String {
    duration(u32::try_from(minutes).unwrap_or(u32::MAX))
}

fn label_of(link: &Link) -> String {
    label(link.kind, link.lag_minutes, link.lag_basis)
}

/// The tasks and their links as a Mermaid flowchart.
pub fn graph_flowchart(plan: &Plan) -> String {
    let mut text = String::from("flowchart TD\n");
    let mut names: HashMap<&TaskId, String> = HashMap::new();
    for (index, task) in plan.tasks.iter().enumerate() {
        let name = names.entry(&task.id).or_insert_with(|| format!("n{index}"));
        let _ = writeln!(text, "    {name}[\"{}\"]", quoted(&task.description));
    }
    for task in &plan.tasks {
        for link in &task.dependencies {
            let (Some(from), Some(to)) = (names.get(&link.task), names.get(&task.id)) else {
                continue;
            };
            let label = label_of(link);
            let arrow =
                if label.is_empty() { "-->".to_owned() } else { format!("-- \"{label}\" -->") };
            let _ = writeln!(text, "    {from} {arrow} {to}");
        }
    }
    text
}

/// The tasks and their links as a DOT graph.
pub fn graph_dot(plan: &Plan) -> String {
    let mut text = format!(
        "digraph plan {{\n    label={};\n    node [shape=box];\n",
        dot::quoted(&plan.title)
    );
    let known: HashSet<&TaskId> = plan.tasks.iter().map(|task| &task.id).collect();
    for task in &plan.tasks {
        let (id, title) = (dot::quoted(task.id.as_str()), dot::quoted(&task.description));
        let _ = writeln!(text, "    {id} [label={title}];");
    }
    for task in &plan.tasks {
        for link in task.dependencies.iter().filter(|link| known.contains(&link.task)) {
            let label = label_of(link);
            let label = if label.is_empty() {
                String::new()
            } else {
                format!(" [label={}]", dot::quoted(&label))
            };
            let (from, to) = (dot::quoted(link.task.as_str()), dot::quoted(task.id.as_str()));
            let _ = writeln!(text, "    {from} -> {to}{label};");
        }
    }
    text.push_str("}\n");
    text
}

/// The schedule of a task graph as a Mermaid gantt chart that begins at minute 0.
pub fn graph_gantt(plan: &Plan, schedule: &ScheduleReport) -> String {
    let mut text = format!(
        "gantt\n    title {}\n    dateFormat X\n    axisFormat %j %H:%M\n",
        plain(&plan.title)
    );
    let titles: HashMap<&TaskId, &str> =
        plan.tasks.iter().rev().map(|task| (&task.id, task.description.as_str())).collect();
    for block in &schedule.blocks {
        let title = plain(titles.get(&block.task).copied().unwrap_or(block.task.as_str()));
        let (start, finish) = (block.start.saturating_mul(60), block.finish.saturating_mul(60));
        let _ = writeln!(text, "    {title} :{start}, {finish}");
    }
    text
}
