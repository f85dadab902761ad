//! Reports of a run for other programs: `JUnit` XML, a summary in Markdown, and annotations of GitHub Actions.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use planwright_model::{Severity, Violation};
use planwright_plan::plan_file::PlanFileError;
use planwright_state::{SessionState, SkipRoots, TaskRow, TaskStatus};
use planwright_text::{clean_line, clean_text, units};

/// How many of the last lines of a task that failed are reported.
const TAIL_LINES: usize = 15;

// The reports that are wanted. (A doc comment here would become the description of the command that has them.)
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReportArgs {
    /// Write a JUnit XML report when the run has ended
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a summary in Markdown when the run has ended
    #[arg(long, value_name = "FILE.md")]
    summary: Option<PathBuf>,
    /// Print annotations for GitHub Actions, and add the summary to the page of the job
    #[arg(long)]
    github: bool,
    /// Send OpenTelemetry spans to a collector while it runs, such as `http://localhost:4318`
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
}

impl ReportArgs {
    pub(crate) fn is_empty(&self) -> bool {
        self.junit.is_none() && self.summary.is_none() && !self.github && self.otlp.is_none()
    }

    /// The address of the collector that spans are sent to.
    pub(crate) fn collector_address(&self) -> Option<&str> {
        self.otlp.as_deref()
    }

    /// Writes what is wanted about a run as it stands. Returns the annotations that are to be printed.
    pub(crate) fn write_reports(&self, state: &SessionState) -> anyhow::Result<Vec<String>> {
        if let Some(path) = &self.junit {
            write_file(path, &junit_report(state))?;
        }
        if let Some(path) = &self.summary {
            write_file(path, &markdown_summary(state))?;
        }
        let page = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|page| !page.is_empty());
        if let Some(page) = page.filter(|_| self.github).map(PathBuf::from) {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(&page);
            let written =
                file.and_then(|mut file| file.write_all(markdown_summary(state).as_bytes()));
            written.with_context(|| format!("writing to {}", page.display()))?;
        }
        Ok(if self.github { github_annotations(state) } else { Vec::new() })
    }

    /// The annotations for a plan file that cannot run, where they are wanted: one at each of its mistakes.
    pub(crate) fn refusal_annotations(&self, path: &Path, error: &PlanFileError) -> Vec<String> {
        if !self.github {
            return Vec::new();
        }
        let file = annotation_property(&path.to_string_lossy());
        let at = |violation: &Violation| {
            let file = annotation_property(&violation.path(&path.to_string_lossy()));
            let line = violation.line.map_or(String::new(), |line| format!(",line={line}"));
            let column = violation.column.map_or(String::new(), |column| format!(",col={column}"));
            let text = format!("{}\n{}", violation.message, violation.suggested_fix);
            format!("::error file={file}{line}{column}::{}", annotation_text(text.trim_end()))
        };
        match error.violations() {
            [] => vec![format!("::error file={file}::{}", annotation_text(&error.to_string()))],
            violations => {
                violations.iter().filter(|one| one.severity != Severity::Warning).map(at).collect()
            }
        }
    }
}

fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

/// The last lines of what a task printed.
fn output_tail(row: &TaskRow) -> String {
    let lines: Vec<&str> = row.output_tail.lines().collect();
    clean_text(&lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")).into_owned()
}

fn failure_message(row: &TaskRow) -> &str {
    row.failure.as_ref().map_or("failed", |failure| failure.message.as_str())
}

/// A text inside XML. What XML cannot hold is left out.
fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(letter),
            _ if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            _ => escaped.push(letter),
        }
    }
    escaped
}

fn seconds(millis: u64) -> String {
    format!("{}.{:03}", millis / 1000, millis % 1000)
}

/// Whether a task failed and the plan allows it to: the run is no failure because of it, and no report says so.
fn is_allowed_failure(state: &SessionState, task: usize) -> bool {
    state.tasks.row(task).status == TaskStatus::Failed && state.tasks.is_tolerated(task)
}

/// One suite with one case for each task.
pub(crate) fn junit_report(state: &SessionState) -> String {
    let counts = state.tasks.status_counts();
    let failed = (0..state.tasks.len())
        .filter(|task| state.tasks.row(*task).status == TaskStatus::Failed)
        .filter(|task| !is_allowed_failure(state, *task))
        .count() as u32;
    let unrun = counts.total() - counts.done - failed;
    let skips = SkipRoots::from_tasks(&state.tasks);
    let (mut cases, mut total) = (String::new(), 0);
    for task in 0..state.tasks.len() {
        let row = state.tasks.row(task);
        total += row.took_ms;
        let node = state.task_node(task);
        let group = node.map_or("", |node| node.group.as_str());
        let group = if group.is_empty() { state.session.title.as_str() } else { group };
        let inside = match row.status {
            TaskStatus::Done => String::new(),
            TaskStatus::Failed if state.tasks.is_tolerated(task) => format!(
                "<skipped message=\"failed, as the plan allows: {}\"/><system-out>{}</system-out>",
                escape_xml(failure_message(row)),
                escape_xml(&output_tail(row))
            ),
            TaskStatus::Failed => format!(
                "<failure message=\"{}\">{}</failure>",
                escape_xml(failure_message(row)),
                escape_xml(&output_tail(row))
            ),
            TaskStatus::Skipped(reason) => {
                let why = state.describe_skip(&skips, task, reason);
                format!("<skipped message=\"{}\"/>", escape_xml(&why))
            }
            status => format!("<skipped message=\"{}\"/>", status.label()),
        };
        let piece = format!(
            "    <testcase name=\"{}\" classname=\"{}\" time=\"{}\">{inside}</testcase>\n",
            escape_xml(state.task_title(task)),
            escape_xml(group),
            seconds(row.took_ms)
        );
        cases.push_str(&piece);
    }
    let name = escape_xml(&state.session.title);
    let figures = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{unrun}\" time=\"{}\"",
        counts.total(),
        failed,
        seconds(total)
    );
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{name}\" {figures}>\n  \
         <testsuite name=\"{name}\" {figures}>\n{cases}  </testsuite>\n</testsuites>\n"
    )
}

/// The outcome, a table of the tasks, and what failed with its last lines.
pub(crate) fn markdown_summary(state: &SessionState) -> String {
    let cell = |text: &str| clean_line(text).replace('|', "\\|");
    let counts = state.tasks.work_counts();
    let mut text = format!(
        "## {}: {}, {} of {} done\n\n| task | result | time |\n| --- | --- | --- |\n",
        cell(&state.session.title),
        state.status().label(),
        counts.done,
        counts.total()
    );
    let skips = SkipRoots::from_tasks(&state.tasks);
    for task in 0..state.tasks.len() {
        let row = state.tasks.row(task);
        let result = match row.status {
            TaskStatus::Skipped(reason) => {
                format!("skipped {}", state.describe_skip(&skips, task, reason))
            }
            TaskStatus::Failed if state.tasks.is_tolerated(task) => {
                "failed, as the plan allows".to_owned()
            }
            status => status.label().to_owned(),
        };
        let took = std::time::Duration::from_millis(row.took_ms);
        let took = if row.took_ms > 0 { units::format_elapsed(took) } else { String::new() };
        let title = cell(state.task_title(task));
        let piece = format!("| {title} | {} | {took} |\n", cell(&result));
        text.push_str(&piece);
    }
    for (id, row) in state.tasks.iter().filter(|(_, row)| row.status == TaskStatus::Failed) {
        let message = clean_line(failure_message(row)).into_owned();
        let piece = format!("\n### {}: {message}\n", cell(state.title_by_id(id)));
        text.push_str(&piece);
        let tail = output_tail(row);
        if !tail.is_empty() {
            // A fence that the output cannot end.
            let fence = "`".repeat(3 + tail.matches('`').count().min(60));
            let piece = format!("\n{fence}text\n{tail}\n{fence}\n");
            text.push_str(&piece);
        }
    }
    text
}

/// The text of an annotation, in one line.
fn annotation_text(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of an annotation, such as its title.
fn annotation_property(text: &str) -> String {
    annotation_text(text).replace(':', "%3A").replace(',', "%2C")
}

/// A line for each task that failed, as GitHub Actions reads it from the output of a step. What the plan allows to fail is
/// a warning.
pub(crate) fn github_annotations(state: &SessionState) -> Vec<String> {
    let failed = (0..state.tasks.len())
        .filter(|task| state.tasks.row(*task).status == TaskStatus::Failed)
        .map(|task| {
            let row = state.tasks.row(task);
            let level = if is_allowed_failure(state, task) { "warning" } else { "error" };
            let title = format!("{} failed", clean_line(state.task_title(task)));
            let message = clean_line(failure_message(row)).into_owned();
            let text = format!("{message}\n{}", output_tail(row));
            let text = annotation_text(text.trim_end());
            format!("::{level} title={}::{text}", annotation_property(&title))
        });
    failed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_store::exchange::demo_run;

    /// The bundled run when its fuzzing task has failed.
    fn failed_run() -> SessionState {
        let (_, records) = demo_run::load_demo_run().unwrap();
        let mut state = SessionState::default();
        for record in &records {
            state.apply(record);
            if state.tasks.status_counts().failed > 0 {
                return state;
            }
        }
        panic!("the bundled run has a failure");
    }

    #[test]
    fn junit_has_a_case_for_each_task_and_the_output_of_a_failure() {
        let state = failed_run();
        let text = junit_report(&state);
        let cases = text.matches("<testcase ").count();
        assert_eq!((cases, text.matches("</testcase>").count()), (state.tasks.len(), cases));
        assert!(text.contains("failures=\"1\""), "{text}");
        assert!(text.contains("<failure message=\"exit 101\">run 1,207: panicked"), "{text}");
        assert_eq!(escape_xml("a<b>&\"\u{1b}c"), "a&lt;b&gt;&amp;&quot;c");
    }

    #[test]
    fn a_summary_and_annotations_name_the_failure() {
        let state = failed_run();
        let text = markdown_summary(&state);
        assert!(text.starts_with("## ") && text.contains("| failed |"), "{text}");
        assert!(text.contains("```text\nrun 1,207: panicked"), "{text}");
        let lines = github_annotations(&state);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("::error title="), "{}", lines[0]);
        assert!(lines[0].contains("exit 101%0Arun 1,207"), "{}", lines[0]);
    }
}
