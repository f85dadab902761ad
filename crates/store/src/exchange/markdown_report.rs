//! A session as a Markdown report, for readers who did not follow it.

use std::fmt::Write;

use jiff::tz::TimeZone;

use planwright_model::event::Record;
use planwright_plan::export::markdown_escape as escape_markdown;
use planwright_state::run_profile::RunProfile;
use planwright_state::trace::TraceEntry;
use planwright_state::{SessionState, TaskStatus};
use planwright_text::{self as text, units};

/// How many steps of a task are listed; the rest is only counted.
const STEPS: usize = 40;

/// Renders the report. `records` are all records of the session, `state` is their fold.
pub fn render_report(state: &SessionState, records: &[Record], zone: &TimeZone) -> String {
    let mut out = format!("# {}\n\n", escape_line(&state.session.title));
    if let Some(goal) = &state.session.goal {
        let _ = writeln!(out, "{}\n", escape_line(goal));
    }
    write_overview(state, records, zone, &mut out);
    write_tasks(state, &mut out);
    write_notes(state, zone, &mut out);
    write_time_profile(records, &mut out);
    for (id, row) in state.tasks.iter() {
        if row.steps > 0 || row.attempt > 0 {
            write_steps(id.as_str(), records, zone, &mut out);
        }
    }
    out
}

fn escape_line(text: &str) -> String {
    escape_markdown(&text::clean_line(text))
}

fn write_overview(state: &SessionState, records: &[Record], zone: &TimeZone, out: &mut String) {
    let counts = state.tasks.status_counts();
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
        let _ = writeln!(out, "| plan | r{} {} |", current.revision, current.hash.short_hex());
    }
    out.push('\n');
}

fn write_tasks(state: &SessionState, out: &mut String) {
    let Some(current) = &state.plan.current else { return };
    let now = state.at.unwrap_or_default();
    out.push_str(
        "## Tasks\n\n| Task | What | Outcome | Tries | Time |\n| --- | --- | --- | ---: | ---: |\n",
    );
    for (at, (node, (id, row))) in current.plan.tasks.iter().zip(state.tasks.iter()).enumerate() {
        let reason = match (row.status, &row.failure) {
            (TaskStatus::Skipped(reason), _) => {
                format!(" {}", escape_line(&state.describe_skip(at, reason)))
            }
            (TaskStatus::Failed, Some(failure)) => format!(", {}", escape_line(&failure.message)),
            _ => String::new(),
        };
        let _ = writeln!(
            out,
            "| {} | {} | {}{reason} | {} | {} |",
            escape_line(id.as_str()),
            escape_line(&node.description),
            row.status.label(),
            row.attempt,
            row.elapsed_ms(now).map(format_elapsed).unwrap_or_default(),
        );
    }
    out.push('\n');
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

fn write_steps(task: &str, records: &[Record], zone: &TimeZone, out: &mut String) {
    let entries: Vec<TraceEntry> = records
        .iter()
        .filter_map(TraceEntry::from_record)
        .filter(|entry| entry.task.as_ref().is_some_and(|own| own.as_str() == task))
        .collect();
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(out, "## {}\n", escape_line(task));
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
