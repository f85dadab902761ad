//! A session as a Markdown report, for readers who did not follow it.

use std::collections::HashMap;
use std::fmt::Write;

use jiff::tz::TimeZone;

use planwright_model::event::{OutputStream, Record};
use planwright_model::{OffsetDateTime, PlanNode, Schedule, TaskId};
use planwright_plan::export::markdown_escape as escape_markdown;
use planwright_state::run_profile::RunProfile;
use planwright_state::trace::TraceEntry;
use planwright_state::{SessionState, SkipRoots, TaskStatus, find_failure_cause};
use planwright_text::{self as text, dates, units};

/// How many steps of a task are listed; the rest is only counted.
const STEPS: usize = 40;
/// How many of the last lines of a failed task are shown.
const OUTPUT_LINES: usize = 15;

/// Renders the report: what failed comes first, then the tasks, then step by step what happened. `records` are all
/// records of the session, `state` is their fold.
pub fn render_report(state: &SessionState, records: &[Record], zone: &TimeZone) -> String {
    let mut out = format!("# {}\n\n", escape_line(&state.session.title));
    if let Some(goal) = &state.session.goal {
        let _ = writeln!(out, "{}\n", escape_line(goal));
    }
    let rationale = state.plan.current.as_ref().and_then(|plan| plan.plan.rationale.as_ref());
    if let Some(rationale) = rationale {
        let _ = writeln!(out, "Why it is planned this way: {}\n", escape_line(rationale));
    }
    write_overview(state, records, zone, &mut out);
    write_failures(state, &mut out);
    match state.planning.schedule.as_deref() {
        Some(schedule) => write_planned_tasks(state, schedule, zone, &mut out),
        None => write_tasks(state, &mut out),
    }
    write_task_words(state, &mut out);
    write_notes(state, zone, &mut out);
    if state.run.started_at.is_some() && state.planning.schedule.is_none() {
        write_time_profile(records, &mut out);
    }
    write_all_steps(state, records, zone, &mut out);
    out
}

fn escape_line(text: &str) -> String {
    escape_markdown(&text::clean_line(text))
}

fn write_overview(state: &SessionState, records: &[Record], zone: &TimeZone, out: &mut String) {
    let counts = state.tasks.work_counts();
    let when = |record: Option<&Record>| {
        record.map_or_else(String::new, |record| {
            record.at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
        })
    };
    let ended = state.run.finished_at.or(state.at).unwrap_or_default();
    let _ = writeln!(out, "| | |\n| --- | --- |");
    for (name, value) in [
        ("status", state.status().label().to_owned()),
        (
            "tasks",
            format!(
                "{} of {} done, {} failed, {} skipped",
                counts.done,
                counts.total(),
                counts.failed,
                counts.skipped
            ),
        ),
        ("began", when(records.first())),
        ("last event", when(records.last())),
        ("time at work", format_elapsed(state.run.worked_ms(ended))),
        ("tokens", units::format_tokens(state.totals.tokens)),
        ("cost", state.totals.cost.to_string()),
        ("events", units::format_count(records.len() as u64)),
    ] {
        let _ = writeln!(out, "| {name} | {value} |");
    }
    if let Some(current) = &state.plan.current {
        // The number that the screens call it by.
        let draft = state.draft_number();
        let _ = writeln!(out, "| plan | draft {draft}, {} |", current.hash.short_hex());
    }
    out.push('\n');
}

/// Every failure with its cause, the end of its output, and what was skipped because of it.
fn write_failures(state: &SessionState, out: &mut String) {
    let skips = SkipRoots::from_tasks(&state.tasks);
    let failed = state.tasks.iter().enumerate();
    let failed = failed.filter(|(_, (_, row))| row.status == TaskStatus::Failed);
    for (place, (task, (_, row))) in failed.enumerate() {
        if place == 0 {
            out.push_str("## Failed\n\n");
        }
        let lines: Vec<(OutputStream, String)> = row
            .output_tail
            .lines()
            .map(|line| (OutputStream::Stderr, text::clean_line(line).into_owned()))
            .collect();
        let recorded = row.failure.as_ref().map(|failure| failure.message.as_str());
        let recorded = recorded.unwrap_or("no reason was recorded");
        let cause = find_failure_cause(&lines).map(|cause| cause.line);
        let _ = writeln!(out, "### {}\n", escape_line(state.task_title(task)));
        match cause {
            Some(cause) => {
                let _ = writeln!(out, "{} ({})\n", escape_line(&cause), escape_line(recorded));
            }
            None => {
                let _ = writeln!(out, "{}\n", escape_line(recorded));
            }
        }
        write_output_end(&lines, out);
        let skipped = skips.skipped_because_of(task);
        if !skipped.is_empty() {
            let titles: Vec<String> =
                skipped.iter().map(|task| escape_line(state.task_title(*task))).collect();
            let _ = writeln!(out, "Skipped because of it: {}.\n", titles.join(", "));
        }
    }
}

/// The last lines of an output as a block that nothing in it can end.
fn write_output_end(lines: &[(OutputStream, String)], out: &mut String) {
    if lines.is_empty() {
        return;
    }
    let shown = &lines[lines.len().saturating_sub(OUTPUT_LINES)..];
    let longest = shown.iter().map(|(_, line)| longest_run(line, '`')).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{fence}text");
    for (_, line) in shown {
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(out, "{fence}\n");
}

/// How often a character stands in a row at most.
fn longest_run(line: &str, wanted: char) -> usize {
    line.split(|found| found != wanted).map(|run| run.chars().count()).max().unwrap_or(0)
}

fn write_tasks(state: &SessionState, out: &mut String) {
    let Some(current) = &state.plan.current else { return };
    let now = state.at.unwrap_or_default();
    let skips = SkipRoots::from_tasks(&state.tasks);
    out.push_str("## Tasks\n\n| Task | Outcome | Tries | Time |\n| --- | --- | ---: | ---: |\n");
    for (at, (node, (_, row))) in current.plan.tasks.iter().zip(state.tasks.iter()).enumerate() {
        let reason = match (row.status, &row.failure) {
            (TaskStatus::Skipped(reason), _) => {
                format!(" {}", escape_line(&state.describe_skip(&skips, at, reason)))
            }
            (TaskStatus::Failed, Some(failure)) => format!(", {}", escape_line(&failure.message)),
            _ => String::new(),
        };
        let _ = writeln!(
            out,
            "| {} | {}{reason} | {} | {} |",
            escape_line(&node.description),
            row.status.label(),
            row.attempt,
            row.elapsed_ms(now).map(format_elapsed).unwrap_or_default(),
        );
    }
    out.push('\n');
}

/// The tasks of a plan with dates: when, how long, who, and when they count as done.
fn write_planned_tasks(
    state: &SessionState,
    schedule: &Schedule,
    zone: &TimeZone,
    out: &mut String,
) {
    let Some(current) = &state.plan.current else { return };
    let today = state.at.unwrap_or_default().to_zoned(zone.clone()).date();
    let mut spans: HashMap<&TaskId, (OffsetDateTime, OffsetDateTime)> = HashMap::new();
    for block in &schedule.blocks {
        let span = spans.entry(&block.plan_node_id).or_insert((block.start, block.end));
        *span = (span.0.min(block.start), span.1.max(block.end));
    }
    let roadmap = state.planning.roadmap.as_deref();
    let nodes: HashMap<&TaskId, &PlanNode> = roadmap
        .map(|roadmap| roadmap.nodes.iter().map(|node| (&node.id, node)).collect())
        .unwrap_or_default();
    out.push_str("## Tasks\n\n| Task | When | Time | Who | Outcome | Done when |\n");
    out.push_str("| --- | --- | ---: | --- | --- | --- |\n");
    for (task, (id, row)) in current.plan.tasks.iter().zip(state.tasks.iter()) {
        let local = |at: OffsetDateTime| zone.to_datetime(at.at);
        let when = spans
            .get(id)
            .map(|(start, end)| dates::format_date_time_range(local(*start), local(*end), today));
        let minutes = task.duration_minutes.filter(|minutes| *minutes > 0);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            escape_line(&task.description),
            when.unwrap_or_default(),
            minutes.map(|minutes| units::format_planned(minutes.into())).unwrap_or_default(),
            escape_line(task.other_owner().unwrap_or("you")),
            row.status.label(),
            nodes.get(id).map(|node| escape_line(&node.done_when)).unwrap_or_default(),
        );
    }
    out.push('\n');
}

/// What the plan states about tasks beside what they do: why, for whom, at what cost, and what is uncertain.
fn write_task_words(state: &SessionState, out: &mut String) {
    let tasks = state.plan.current.iter().flat_map(|current| &current.plan.tasks);
    let mut lines = String::new();
    for task in tasks {
        let cost = task.cost.as_ref().map(ToString::to_string).unwrap_or_default();
        let facts = [
            ("", task.why.clone()),
            ("owner ", task.owner.clone()),
            ("cost ", cost),
            ("risks: ", task.risks.join("; ")),
            ("assumes: ", task.assumptions.join("; ")),
            ("from: ", task.evidence.join("; ")),
        ];
        let stated = facts.iter().filter(|(_, text)| !text.trim().is_empty());
        let stated: Vec<String> =
            stated.map(|(label, text)| format!("{label}{}", escape_line(text))).collect();
        if !stated.is_empty() {
            let title = escape_line(&task.description);
            let _ = writeln!(lines, "- **{title}**: {}", stated.join(" · "));
        }
    }
    if !lines.is_empty() {
        let _ = writeln!(out, "## About the tasks\n\n{lines}");
    }
}

/// What the person wrote down about tasks.
fn write_notes(state: &SessionState, zone: &TimeZone, out: &mut String) {
    let mut lines = String::new();
    for (task, (_, row)) in state.tasks.iter().enumerate() {
        for note in &row.notes {
            let day = note.at.to_zoned(zone.clone()).strftime("%Y-%m-%d").to_string();
            let title = escape_line(state.task_title(task));
            let _ = writeln!(lines, "- {day} **{title}**: {}", escape_line(&note.text));
        }
    }
    if !lines.is_empty() {
        let _ = writeln!(out, "## Notes\n\n{lines}");
    }
}

fn write_time_profile(records: &[Record], out: &mut String) {
    let profile = RunProfile::from_records(records);
    let path: Vec<String> =
        profile.critical_path.iter().map(|share| escape_line(&share.name)).collect();
    let _ = writeln!(
        out,
        "## Where the time went\n\n- in tools {}\n- in models {}\n- waiting for a permit {}\n- waiting for you {}\n- on retries {}",
        format_elapsed(profile.tool_ms),
        format_elapsed(profile.model_ms),
        format_elapsed(profile.queue_ms),
        format_elapsed(profile.approval_ms),
        format_elapsed(profile.retry_ms),
    );
    if !path.is_empty() {
        let _ = writeln!(out, "- the chain that took longest: {}", path.join(" › "));
    }
    out.push('\n');
}

/// What happened in each task that began, in the order of the plan.
fn write_all_steps(state: &SessionState, records: &[Record], zone: &TimeZone, out: &mut String) {
    let mut by_task: HashMap<TaskId, Vec<TraceEntry>> = HashMap::new();
    for entry in records.iter().filter_map(TraceEntry::from_record) {
        if let Some(task) = entry.task.clone() {
            by_task.entry(task).or_default().push(entry);
        }
    }
    for (task, (id, row)) in state.tasks.iter().enumerate() {
        if (row.steps > 0 || row.attempt > 0)
            && let Some(entries) = by_task.get(id)
        {
            write_steps(state.task_title(task), entries, zone, out);
        }
    }
}

fn write_steps(title: &str, entries: &[TraceEntry], zone: &TimeZone, out: &mut String) {
    let _ = writeln!(out, "## {}\n", escape_line(title));
    for entry in entries.iter().take(STEPS) {
        let at = entry.at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string();
        let _ = writeln!(out, "- {at} **{}** {}", entry.kind.label(), escape_line(&entry.text));
    }
    if let Some(more) = entries.len().checked_sub(STEPS).filter(|more| *more > 0) {
        let _ = writeln!(out, "- … {more} more");
    }
    out.push('\n');
}

fn format_elapsed(ms: u64) -> String {
    units::format_elapsed(std::time::Duration::from_millis(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_output_ends_its_block() {
        let lines = ["a ``` b", "````"].map(|line| (OutputStream::Stderr, line.to_owned()));
        let mut out = String::new();
        write_output_end(&lines, &mut out);
        assert_eq!(out, "`````text\na ``` b\n````\n`````\n\n");
    }
}
