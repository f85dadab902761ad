//! Markdown for people: outline, options, links, schedule by week, assumptions.

use std::fmt::Write;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{PlanExport, format_duration, link_label, to_one_line};
use crate::diff::format_plan_date;
use planwright_model::requests::describe_assumption;
use planwright_model::{
    AssumptionOrigin, IsoWeek, NodeStatus, NodeTree, PlanNode, Schedule, TaskId,
};
use planwright_schedule::calendar::find_zone;

/// The deepest indent of a list.
const MAX_DEPTH: usize = 12;

/// Renders the plan as a Markdown document.
pub fn render_markdown(plan: &PlanExport<'_>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "# {}\n", escape_markdown(plan.title()));
    write_facts(plan, &mut text);
    write_options(plan, &mut text);
    text.push_str("## Outline\n\n");
    let tree = plan.tree();
    for child in tree.children(&plan.roadmap.root_id) {
        write_outline_node(plan, &tree, child, 0, &mut text);
    }
    text.push('\n');
    write_links(plan, &mut text);
    if let Some(schedule) = plan.schedule {
        write_weeks(schedule, &mut text);
        write_infeasibility(plan, schedule, &mut text);
    }
    write_assumptions(plan, &mut text);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn write_facts(plan: &PlanExport<'_>, text: &mut String) {
    if plan.context.goal_text != plan.title() {
        let _ = writeln!(text, "- Goal: {}", escape_markdown(&plan.context.goal_text));
    }
    let _ = writeln!(text, "- Effort: {}", format_duration(plan.roadmap.total_minutes));
    let _ = writeln!(text, "- First day: {}", plan.context.constraints.start);
    if let Some(deadline) = plan.context.constraints.deadline {
        let _ = writeln!(text, "- Deadline: {deadline}");
    }
    if let Some(finish) = plan.schedule.and_then(Schedule::finish_time) {
        let _ = writeln!(text, "- Ends: {} ({})", finish.local_date(), plan.context.calendar.tz);
    }
    let path: Vec<String> = plan
        .roadmap
        .critical_path
        .iter()
        .map(|id| escape_markdown(&node_title(plan, id)))
        .collect();
    if !path.is_empty() {
        let _ = writeln!(text, "- Critical path: {}", path.join(" → "));
    }
    text.push('\n');
}

fn write_options(plan: &PlanExport<'_>, text: &mut String) {
    if plan.roadmap.options_tried.is_empty() {
        return;
    }
    text.push_str("## Options\n\n| Option | Effort | Weeks | Risk | Score | Why |\n| --- | ---: | ---: | --- | ---: | --- |\n");
    for option in &plan.roadmap.options_tried {
        let chosen = if option.chosen { " ✓" } else { "" };
        let risk = format!("{:?}", option.risk).to_lowercase();
        let _ = writeln!(
            text,
            "| {}{chosen} | {} | {} | {risk} | {:.2} | {} |",
            escape_markdown(&option.label),
            format_duration(option.effort_minutes),
            option.span_weeks,
            option.score,
            escape_markdown(&option.rationale),
        );
    }
    text.push('\n');
}

fn write_outline_node(
    plan: &PlanExport<'_>,
    tree: &NodeTree<'_>,
    node: &PlanNode,
    depth: usize,
    text: &mut String,
) {
    let mark = if node.status == NodeStatus::Done { "x" } else { " " };
    let mut notes = Vec::new();
    let minutes = tree.total_minutes(&node.id);
    if node.milestone {
        notes.push("milestone".to_owned());
    } else if minutes > 0 {
        notes.push(format_duration(minutes));
    }
    if let Some(owner) = node.other_owner() {
        notes.push(escape_markdown(owner));
    }
    for (field, date) in node.dates().stated() {
        notes.push(format!(
            "{} {}",
            field.words(),
            format_plan_date(date, plan.context.constraints.start)
        ));
    }
    notes.extend(node.cost.iter().map(ToString::to_string));
    if node.optional {
        notes.push("optional".to_owned());
    }
    if plan.is_critical(&node.id) {
        notes.push("critical".to_owned());
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    let _ =
        writeln!(text, "{}- [{mark}] {}{notes}", "  ".repeat(depth), escape_markdown(&node.title));
    if !node.done_when.is_empty() {
        let _ = writeln!(
            text,
            "{}  Done when: {}",
            "  ".repeat(depth),
            escape_markdown(&node.done_when)
        );
    }
    write_grounds(node, depth, text);
    if depth < MAX_DEPTH {
        for child in tree.children(&node.id) {
            write_outline_node(plan, tree, child, depth + 1, text);
        }
    }
}

/// Writes why a node is in the plan and what it rests on.
fn write_grounds(node: &PlanNode, depth: usize, text: &mut String) {
    let why = std::slice::from_ref(&node.why);
    let parts = [
        ("Why", why),
        ("Risks", &node.risks),
        ("Assumptions", &node.assumptions),
        ("Based on", &node.evidence),
    ];
    for (label, items) in parts {
        let items: Vec<String> = items
            .iter()
            .filter(|item| !item.is_empty())
            .map(|item| escape_markdown(item))
            .collect();
        if !items.is_empty() {
            let _ = writeln!(text, "{}  {label}: {}", "  ".repeat(depth), items.join("; "));
        }
    }
}

fn write_links(plan: &PlanExport<'_>, text: &mut String) {
    if plan.roadmap.dependencies.is_empty() {
        return;
    }
    text.push_str("## Links\n\n");
    for link in &plan.roadmap.dependencies {
        let label = link_label(link);
        let label = if label.is_empty() { String::new() } else { format!(" ({label})") };
        let (from, to) = (node_title(plan, &link.from), node_title(plan, &link.to));
        let _ = writeln!(text, "- {} → {}{label}", escape_markdown(&from), escape_markdown(&to));
    }
    text.push('\n');
}

fn write_weeks(schedule: &Schedule, text: &mut String) {
    text.push_str("## Schedule\n\n");
    let _ = writeln!(text, "All times are in {}.\n", escape_markdown(&schedule.tz));
    let zone = find_zone(&schedule.tz).unwrap_or(TimeZone::UTC);
    let mut current = None;
    for block in &schedule.blocks {
        let (start, end) = (zone.to_datetime(block.start.at), zone.to_datetime(block.end.at));
        let week = IsoWeek::from_date(start.date());
        if current != Some(week) {
            let gap = if current.is_some() { "\n" } else { "" };
            let _ = writeln!(text, "{gap}### {}\n", week_heading(schedule, week));
            current = Some(week);
        }
        let lock = if block.locked { " (locked)" } else { "" };
        let _ = writeln!(
            text,
            "- {} {}{lock}",
            format_time_span(start, end),
            escape_markdown(&block.title)
        );
    }
    text.push('\n');
}

fn week_heading(schedule: &Schedule, week: IsoWeek) -> String {
    match schedule.capacity.iter().find(|row| row.week == week) {
        Some(row) => format!(
            "{week}: {} of {} ({:.0} %)",
            format_duration(row.planned_minutes),
            format_duration(row.available_minutes),
            row.utilization
        ),
        None => week.to_string(),
    }
}

fn format_time_span(start: DateTime, end: DateTime) -> String {
    let day = start.strftime("%a %Y-%m-%d %H:%M");
    if start.date() == end.date() {
        format!("{day}–{}", end.strftime("%H:%M"))
    } else {
        format!("{day} – {}", end.strftime("%a %Y-%m-%d %H:%M"))
    }
}

fn write_infeasibility(plan: &PlanExport<'_>, schedule: &Schedule, text: &mut String) {
    if schedule.is_feasible() {
        return;
    }
    text.push_str("## Does not fit\n\n");
    if schedule.lateness_minutes > 0 {
        let _ = writeln!(
            text,
            "- Late by {} of working time",
            format_duration(schedule.lateness_minutes)
        );
    }
    for unplaced in &schedule.unplaced {
        let name = escape_markdown(&node_title(plan, &unplaced.plan_node_id));
        let _ = writeln!(text, "- No room for {} of {name}", format_duration(unplaced.minutes));
    }
    for answer in &schedule.relaxations {
        let _ = writeln!(text, "- Would help: {}", escape_markdown(&answer.summary));
    }
    text.push('\n');
}

fn write_assumptions(plan: &PlanExport<'_>, text: &mut String) {
    if plan.context.assumptions.is_empty() {
        return;
    }
    text.push_str("## Assumptions\n\n");
    for assumption in &plan.context.assumptions {
        let words =
            describe_assumption(&assumption.key, &assumption.value, plan.context.constraints.start);
        let origin = match assumption.origin {
            AssumptionOrigin::User => " (you said so)",
            _ => "",
        };
        let _ = writeln!(text, "- {}{origin}", escape_markdown(&words));
    }
}

fn node_title(plan: &PlanExport<'_>, id: &TaskId) -> String {
    plan.roadmap.find_node(id).map_or_else(|| id.to_string(), |node| node.title.clone())
}

/// Escapes text so that Markdown displays it unchanged.
pub fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in to_one_line(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
