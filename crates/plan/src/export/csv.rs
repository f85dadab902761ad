//! The tasks of a plan and what became of them as a table for spreadsheets (RFC 4180).

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::run_progress::{ExportedRun, ExportedStatus};
use super::to_one_line;
use planwright_model::{Plan, RunKind};

const COLUMNS: [&str; 10] = [
    "id",
    "title",
    "status",
    "who",
    "estimate_minutes",
    "started",
    "ended",
    "seconds",
    "after",
    "command",
];

/// Renders one line a task, in the order of the plan, times in a zone.
pub fn render_csv(plan: &Plan, run: &ExportedRun, zone: &TimeZone) -> String {
    let mut text = COLUMNS.join(",");
    text.push_str("\r\n");
    for task in &plan.tasks {
        let ran = run.get(&task.id);
        let started = ran.and_then(|ran| ran.started);
        let ended = ran.and_then(|ran| ran.ended);
        let seconds = started
            .zip(ended)
            .map(|(start, end)| format!("{:.3}", end.duration_since(start).as_secs_f64()));
        let (who, command) = match &task.run {
            RunKind::Shell(command) => ("command", command.as_str()),
            RunKind::Agent(run) => (run.worker_title(), ""),
            RunKind::Human {} => ("you", ""),
        };
        let after: Vec<&str> = task.dependencies.iter().map(|link| link.task.as_str()).collect();
        let fields = [
            task.id.to_string(),
            to_one_line(&task.description),
            ran.map_or(ExportedStatus::Open, |ran| ran.status).word().to_owned(),
            task.other_owner().unwrap_or(who).to_owned(),
            task.duration_minutes.map(|minutes| minutes.to_string()).unwrap_or_default(),
            format_moment(started, zone),
            format_moment(ended, zone),
            seconds.unwrap_or_default(),
            after.join(" "),
            command.to_owned(),
        ];
        let quoted: Vec<String> = fields.iter().map(|field| quote_field(field)).collect();
        text.push_str(&quoted.join(","));
        text.push_str("\r\n");
    }
    text
}

fn format_moment(at: Option<Timestamp>, zone: &TimeZone) -> String {
    let local =
        |at: Timestamp| at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string();
    at.map(local).unwrap_or_default()
}

/// Quotes a field that needs it. A text that a spreadsheet would run as a formula begins with an apostrophe.
fn quote_field(field: &str) -> String {
    let guarded = if field.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{field}")
    } else {
        field.to_owned()
    };
    if guarded.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_formulas_are_text() {
        assert_eq!(quote_field("plain"), "plain");
        assert_eq!(quote_field("a, \"b\"\nc"), "\"a, \"\"b\"\"\nc\"");
        assert_eq!(quote_field("=HYPERLINK(1)"), "'=HYPERLINK(1)");
    }
}
