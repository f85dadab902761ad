//! `planwright logs`: what tasks printed, from the journal and the output spools.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;

use clap::Args;
use jiff::{SignedDuration, Timestamp};

use super::session::block_on;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::{self, App};
use planwright_model::event::{CallEvent, Event, OutputStream, Record};
use planwright_model::{Seq, SessionId, TaskId};
use planwright_state::replay::{History, MissingOutput};
use planwright_state::{SessionState, TaskStatus};
use planwright_store::Store;
use planwright_text::{OutputColor, clean_line, split_colors};

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// Only this task
    task: Option<String>,
    /// Keep printing while the run continues
    #[arg(short, long)]
    follow: bool,
    /// Only tasks that failed
    #[arg(long)]
    failed: bool,
    /// Only this attempt; the first is 1
    #[arg(long, value_name = "N")]
    attempt: Option<u32>,
    /// Only what was printed since then: a time such as 2026-01-31T09:30, or how long ago, such as 10m
    #[arg(long, value_name = "TIME|DURATION")]
    since: Option<String>,
    /// Only standard error
    #[arg(long)]
    stderr: bool,
}

/// Which output is printed, and how.
struct OutputSelection {
    task: Option<TaskId>,
    failed: Option<BTreeSet<TaskId>>,
    attempt: Option<u32>,
    since: Option<Timestamp>,
    stderr_only: bool,
    json: bool,
    /// Colors as escape sequences, for a terminal.
    colors: bool,
}

pub(super) fn execute_logs(shared: &SharedArgs, args: &LogsArgs) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else {
        return Err(app::unknown_session_error(&args.session));
    };
    let id = app::find_session(&store, &args.session)?;
    let mut history = app::session_history(&store, &id)?;
    let head = history.head_seq()?;
    let state = history.state_at(head)?;
    let filter = OutputSelection::new(shared, args, &state, &id)?;
    let mut out = StdoutWriter::new();
    let seen = print_output(&mut out, &mut history, &filter, Seq::START, head)?;
    if args.follow {
        block_on(follow_output(&mut out, &store, &id, &mut history, &filter, seen))?;
    }
    Ok(CliExit::Success)
}

impl OutputSelection {
    fn new(
        shared: &SharedArgs,
        args: &LogsArgs,
        state: &SessionState,
        id: &SessionId,
    ) -> anyhow::Result<Self> {
        let task = args.task.as_deref().map(TaskId::from);
        if let Some(task) = &task
            && state.tasks.position(task).is_none()
        {
            return Err(CliProblem::usage(format!("session {} has no task {task}", id.short_id()))
                .with_remedy(format!("planwright sessions show {} lists them", id.short_id()))
                .into());
        }
        let failed = args.failed.then(|| {
            let failed = state.tasks.iter().filter(|(_, row)| row.status == TaskStatus::Failed);
            failed.map(|(id, _)| id.clone()).collect()
        });
        let since = args.since.as_deref().map(|text| parse_since(text, Timestamp::now()));
        Ok(Self {
            task,
            failed,
            attempt: args.attempt,
            since: since.transpose()?,
            stderr_only: args.stderr,
            json: shared.json,
            colors: std::io::stdout().is_terminal() && !shared.no_color,
        })
    }

    fn includes(&self, record: &Record, event: &CallEvent) -> bool {
        let call = event.call_id();
        self.task.as_ref().is_none_or(|task| *task == call.task)
            && self.failed.as_ref().is_none_or(|failed| failed.contains(&call.task))
            && self.attempt.is_none_or(|attempt| attempt == call.attempt)
            && self.since.is_none_or(|since| record.at >= since)
            && event
                .printed_text()
                .is_some_and(|(stream, _)| !self.stderr_only || stream == OutputStream::Stderr)
    }

    fn format_line(
        &self,
        at: Timestamp,
        task: &TaskId,
        stream: OutputStream,
        line: &str,
    ) -> String {
        if self.json {
            let line = clean_line(line);
            return serde_json::json!({ "at": at, "task": task, "stream": stream, "line": line })
                .to_string();
        }
        let text = if self.colors { colored_line(line) } else { plain_line(line) };
        if self.task.is_some() { text } else { format!("{} | {text}", clean_line(task.as_str())) }
    }
}

/// A moment, or a duration before now.
fn parse_since(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    if let Ok(ago) = text.parse::<SignedDuration>() {
        return Ok(now.saturating_sub(ago)?);
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    if let Ok(local) = text.parse::<jiff::civil::DateTime>() {
        return Ok(local.to_zoned(crate::config::time_zone())?.timestamp());
    }
    Err(CliProblem::usage(format!("`{text}` is neither a time nor a duration"))
        .with_remedy("write it as 2026-01-31T09:30, or as 10m, 2h or 1d")
        .into())
}

/// Prints the output among the records after `seen` up to `head`; returns the last one that was looked at.
fn print_output(
    out: &mut StdoutWriter,
    history: &mut History,
    filter: &OutputSelection,
    mut seen: Seq,
    head: Seq,
) -> anyhow::Result<Seq> {
    let mut missing = MissingOutput::default();
    let mut at = Timestamp::UNIX_EPOCH;
    loop {
        let records = history.records_after(seen, head)?;
        let Some(last) = records.last() else { break };
        (seen, at) = (last.seq, last.at);
        for record in &records {
            let Event::Call(event) = &record.event else { continue };
            if !filter.includes(record, event) {
                continue;
            }
            let Some(printed) = history.printed_output(event)? else { continue };
            let call = event.call_id();
            missing.add(call, printed.missing_bytes);
            if printed.text.is_empty() {
                continue;
            }
            let mut print = |stream, line: &str| {
                out.write_line(&filter.format_line(record.at, &call.task, stream, line))
            };
            if let Some(counted) = missing.take_line(call) {
                print(OutputStream::Stderr, &counted)?;
            }
            printed.text.lines().try_for_each(|line| print(printed.stream, line))?;
        }
    }
    // Whoever follows is told now, and of what is missing after it then.
    for (call, counted) in missing.take_lines() {
        out.write_line(&filter.format_line(at, &call.task, OutputStream::Stderr, &counted))?;
    }
    Ok(seen)
}

async fn follow_output(
    out: &mut StdoutWriter,
    store: &Store,
    id: &SessionId,
    history: &mut History,
    filter: &OutputSelection,
    mut seen: Seq,
) -> anyhow::Result<()> {
    let mut head = app::follow_session(store, id)?.head;
    loop {
        let is_over = head.changed().await.is_err();
        let last = if is_over { history.head_seq()? } else { *head.borrow_and_update() };
        seen = print_output(out, history, filter, seen, last)?;
        if is_over {
            return Ok(());
        }
    }
}

fn plain_line(line: &str) -> String {
    split_colors(line).into_iter().map(|(_, text)| text).collect()
}

/// The line with its colors, and nothing else that a terminal would obey.
fn colored_line(line: &str) -> String {
    let mut text = String::new();
    for (color, piece) in split_colors(line) {
        match color_code(color) {
            Some(code) => text.extend(["\u{1B}[", code, "m", &piece, "\u{1B}[0m"]),
            None => text.push_str(&piece),
        }
    }
    text
}

fn color_code(color: OutputColor) -> Option<&'static str> {
    Some(match color {
        OutputColor::Plain => return None,
        OutputColor::Bold => "1",
        OutputColor::Dim => "2",
        OutputColor::Red => "31",
        OutputColor::Green => "32",
        OutputColor::Yellow => "33",
        OutputColor::Blue => "34",
        OutputColor::Magenta => "35",
        OutputColor::Cyan => "36",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_moment_or_how_long_ago() {
        let now: Timestamp = "2026-03-04T10:00:00Z".parse().unwrap();
        let ago = parse_since("90m", now).unwrap();
        assert_eq!(ago.to_string(), "2026-03-04T08:30:00Z");
        let at = parse_since("2026-03-01T00:00:00Z", now).unwrap();
        assert_eq!(at.to_string(), "2026-03-01T00:00:00Z");
        assert!(parse_since("2026-03-01T09:30", now).is_ok());
        assert!(parse_since("yesterday", now).is_err());
    }

    #[test]
    fn colors_stay_and_everything_else_that_a_terminal_obeys_goes() {
        let line = "\u{1B}[31mred\u{1B}[0m \u{1B}]0;title\u{7}10 %\rdone";
        assert_eq!(colored_line("\u{1B}[31mred\u{1B}[0m ok"), "\u{1B}[31mred\u{1B}[0m ok");
        assert_eq!(plain_line(line), "done");
    }
}
