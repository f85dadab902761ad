//! A session as one self-contained HTML page: failures first, then graph, tasks, the log of each task, and the trace. It needs no
//! network; its one script moves the slider, and without it the page shows the end.

mod graph;
mod scrubber;
mod terminal_text;

use std::collections::HashMap;
use std::fmt::Write;

use jiff::tz::TimeZone;

use graph::write_graph;
use planwright_model::TaskId;
use planwright_model::event::{CallEvent, Event, OutputStream, Record};
use planwright_state::trace::TraceEntry;
use planwright_state::{SessionState, SkipRoots, TaskStatus, find_failure_cause};
use planwright_text::{self as text, units};

/// How many steps the page contains; the export as `jsonl` has all of them.
const STEPS: usize = 20_000;

/// How many of its last lines stand with a failure; the rest is in its log.
const FAILURE_LINES: usize = 30;

/// How much of what a task printed the page contains, and of what all of them did.
const TASK_LOG: usize = 64 << 10;
const ALL_LOGS: usize = 8 << 20;

const STYLE: &str = ":root{--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--bg:#fff;--soft:#f6f8fa;--wait:#6e7781;--run:#0969da;--yours:#8250df;--done:#1a7f37;--fail:#cf222e;--skip:#9a6700}\
@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--dim:#9198a1;--line:#30363d;--bg:#0d1117;--soft:#161b22;--wait:#8b949e;--run:#58a6ff;--yours:#bc8cff;--done:#3fb950;--fail:#ff7b72;--skip:#d29922}}\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem;color:var(--fg);background:var(--bg)}\
h1{font-size:1.6rem;margin:0 0 .3rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--line);padding-bottom:.25rem}\
p{margin:.2rem 0}table{border-collapse:collapse;width:100%}td,th{padding:.3rem .9rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}\
th{color:var(--dim);font-weight:500}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
.graph{overflow-x:auto}svg{display:block}svg text{font:12px system-ui,sans-serif}svg .d,.d{fill:var(--dim);color:var(--dim)}svg path{fill:none;stroke:var(--dim)}\
.wait{--c:var(--wait)}.run{--c:var(--run)}.yours{--c:var(--yours)}.done{--c:var(--done)}.fail{--c:var(--fail)}.skip{--c:var(--skip)}\
svg rect{fill:var(--soft);stroke:var(--c)}svg .m{fill:var(--c)}b.m{color:var(--c);font-weight:600}\
[hidden]{display:none!important}a{color:inherit}h3{font-size:1rem;margin:1.2rem 0 .2rem;color:var(--fail)}#at{width:min(40rem,60vw);vertical-align:middle}.s{display:grid;grid-template-columns:9rem 6rem 8rem 1fr;gap:0 .6rem;padding:.12rem 0;font-size:14px}.s>*{overflow-wrap:anywhere}\
.t{color:var(--dim);font-variant-numeric:tabular-nums}.k{color:var(--dim)}details>summary{list-style:none;cursor:pointer}details>summary .x::after{content:\" ▸\";color:var(--dim)}\
details[open]>summary .x::after{content:\" ▾\"}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);border:1px solid var(--line);border-radius:4px;padding:.6rem;margin:.2rem 0 .6rem;font-size:13px}\
@media(max-width:50rem){.s{grid-template-columns:1fr}}";

/// Renders the page. `records` are all records of the session, `state` is their fold.
pub fn render_page(state: &SessionState, records: &[Record], zone: &TimeZone) -> String {
    let title = escape_html(&text::clean_line(&state.session.title));
    let counts = state.tasks.work_counts();
    let ended = state.run.finished_at.or(state.at).unwrap_or_default();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src '{}'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}{}</style>\n</head>\n<body>\n<h1>{title}</h1>\n",
        scrubber::SCRIPT_HASH,
        terminal_text::STYLE,
    );
    let _ = writeln!(
        out,
        "<p>{}, {} of {} tasks done, {} failed, {} skipped; {} at work, {} tokens, {}; {} events</p>",
        state.status().label(),
        counts.done,
        counts.total(),
        counts.failed,
        counts.skipped,
        units::format_elapsed(std::time::Duration::from_millis(state.run.worked_ms(ended))),
        units::format_tokens(state.totals.tokens),
        state.totals.cost,
        records.len(),
    );
    out.push_str(
        "<p><a href=\"#graph\">Graph</a> · <a href=\"#tasks\">Tasks</a> · <a href=\"#logs\">Logs</a> · <a href=\"#trace\">Trace</a></p>\n",
    );
    let logs = task_logs(records);
    write_failures(state, &logs, &mut out);
    scrubber::write_scrubber(state, records, &mut out);
    write_graph(state, &mut out);
    write_tasks(state, &logs, &mut out);
    write_logs(state, &logs, &mut out);
    write_trace(records, zone, &mut out);
    let _ = writeln!(out, "<script>{}</script>", scrubber::SCRIPT);
    out.push_str("</body>\n</html>\n");
    out
}

/// What each task printed, the end of it.
fn task_logs(records: &[Record]) -> HashMap<&TaskId, String> {
    let mut logs: HashMap<&TaskId, String> = HashMap::new();
    for record in records {
        let Event::Call(event) = &record.event else { continue };
        let (CallEvent::Output { text, .. } | CallEvent::Spooled { tail: text, .. }) = event else {
            continue;
        };
        let log = logs.entry(&event.call_id().task).or_default();
        log.push_str(text);
        if log.len() > 2 * TASK_LOG {
            keep_end(log);
        }
    }
    logs.values_mut().for_each(keep_end);
    logs
}

/// Shortens a log to its last lines.
fn keep_end(log: &mut String) {
    let from = log.len().saturating_sub(TASK_LOG);
    if from > 0 {
        let from = (from..=log.len()).find(|at| log.is_char_boundary(*at)).unwrap_or(0);
        let line = log[from..].find('\n').map_or(from, |end| from + end + 1);
        log.drain(..line);
    }
}

/// Every failure with its cause, its output, and what was skipped because of it.
fn write_failures(state: &SessionState, logs: &HashMap<&TaskId, String>, out: &mut String) {
    let skips = SkipRoots::from_tasks(&state.tasks);
    let rows = state.tasks.iter().enumerate();
    let failed: Vec<_> = rows.filter(|(_, (_, row))| row.status == TaskStatus::Failed).collect();
    if failed.is_empty() {
        return;
    }
    out.push_str("<h2 id=\"failed\">Failed</h2>\n");
    for (place, (id, row)) in failed {
        let title = escape_html(&text::clean_line(state.task_title(place)));
        let _ = writeln!(out, "<h3><a href=\"#task-{place}\">✗ {title}</a></h3>");
        let lines: Vec<(OutputStream, String)> = row
            .output_tail
            .lines()
            .map(|line| (OutputStream::Stderr, text::clean_line(line).into_owned()))
            .collect();
        let recorded = row.failure.as_ref().map(|failure| failure.message.as_str());
        let recorded = escape_html(&text::clean_line(recorded.unwrap_or("no reason was recorded")));
        match find_failure_cause(&lines) {
            Some(cause) => {
                let _ = writeln!(out, "<p>{} ({recorded})</p>", escape_html(&cause.line));
            }
            None => {
                let _ = writeln!(out, "<p>{recorded}</p>");
            }
        }
        let printed = logs.get(id).map_or(row.output_tail.as_str(), String::as_str);
        let end: Vec<&str> = printed.lines().rev().take(FAILURE_LINES).collect();
        let end: Vec<&str> = end.into_iter().rev().collect();
        if !end.is_empty() {
            let html = terminal_text::render_terminal_text(&end.join("\n"));
            let _ = writeln!(out, "<pre>{html}</pre>");
        }
        let skipped: Vec<String> = skips
            .skipped_because_of(place)
            .iter()
            .map(|task| {
                let title = escape_html(&text::clean_line(state.task_title(*task)));
                format!("<a href=\"#task-{task}\">{title}</a>")
            })
            .collect();
        if !skipped.is_empty() {
            let _ = writeln!(out, "<p>Skipped because of it: {}.</p>", skipped.join(", "));
        }
    }
}

/// What each task printed, folded.
fn write_logs(state: &SessionState, logs: &HashMap<&TaskId, String>, out: &mut String) {
    out.push_str("<h2 id=\"logs\">Logs</h2>\n");
    let mut room = ALL_LOGS;
    for (place, (id, row)) in state.tasks.iter().enumerate() {
        let Some(log) = logs.get(id).filter(|log| !log.is_empty()) else { continue };
        let title = escape_html(&text::clean_line(state.task_title(place)));
        if log.len() > room {
            let _ =
                writeln!(out, "<p id=\"log-{place}\">{title}: the log is in the jsonl export</p>");
            continue;
        }
        room -= log.len();
        let (mark, class) = status_glyph(row.status);
        let open = if row.status == TaskStatus::Failed { " open" } else { "" };
        let html = terminal_text::render_terminal_text(log);
        let _ = writeln!(
            out,
            "<details id=\"log-{place}\"{open}><summary><span class=\"{class}\"><b class=\"m\">{mark}</b></span> <span class=\"x\">{title}</span></summary><pre>{html}</pre></details>"
        );
    }
}

fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// The glyph of a status, and the CSS class of its color. Shapes differ, so that color is never required.
fn status_glyph(status: TaskStatus) -> (&'static str, &'static str) {
    match status {
        TaskStatus::Pending => ("·", "wait"),
        TaskStatus::Running => ("►", "run"),
        TaskStatus::Yours => ("@", "yours"),
        TaskStatus::Done => ("✓", "done"),
        TaskStatus::Failed => ("✗", "fail"),
        TaskStatus::Skipped(_) => ("»", "skip"),
    }
}

fn write_tasks(state: &SessionState, logs: &HashMap<&TaskId, String>, out: &mut String) {
    let Some(current) = &state.plan.current else { return };
    let now = state.at.unwrap_or_default();
    out.push_str("<h2 id=\"tasks\">Tasks</h2>\n<table>\n<tr><th>task</th><th>what</th><th>outcome</th><th class=\"n\">tries</th><th class=\"n\">tokens</th><th class=\"n\">time</th></tr>\n");
    for (place, (node, (id, row))) in current.plan.tasks.iter().zip(state.tasks.iter()).enumerate()
    {
        let (mark, class) = status_glyph(row.status);
        let name = escape_html(&text::clean_line(id.as_str()));
        let name = match logs.get(id).filter(|log| !log.is_empty()) {
            Some(_) => format!("<a href=\"#log-{place}\">{name}</a>"),
            None => name,
        };
        let time = row
            .elapsed_ms(now)
            .map(|ms| units::format_elapsed(std::time::Duration::from_millis(ms)));
        let reason = row.failure.as_ref().map(|failure| format!(", {}", failure.message));
        let _ = writeln!(
            out,
            "<tr id=\"task-{place}\" class=\"{class}\" data-task=\"{place}\"><td>{}</td><td>{}</td><td><b class=\"m\"><span class=\"g\">{mark}</span> <span class=\"w\">{}</span></b>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            name,
            escape_html(&text::clean_line(&node.description)),
            row.status.label(),
            escape_html(&text::clean_line(&reason.unwrap_or_default())),
            row.attempt,
            units::format_tokens(row.tokens),
            time.unwrap_or_default(),
        );
    }
    out.push_str("</table>\n");
}

fn write_trace(records: &[Record], zone: &TimeZone, out: &mut String) {
    out.push_str("<h2 id=\"trace\">Trace</h2>\n");
    let mut entries = records.iter().filter_map(TraceEntry::from_record);
    for entry in entries.by_ref().take(STEPS) {
        let at = entry.at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string();
        let task = entry
            .task
            .map(|task| format!("<b>{}</b>", escape_html(&text::clean_line(task.as_str()))));
        let seq = entry.seq;
        let folds = if entry.body.is_some() { " x" } else { "" };
        let head = format!(
            "<span class=\"t\">{at} · {}</span><span class=\"k\">{}</span><span>{}</span><span class=\"w{folds}\">{}</span>",
            entry.seq,
            entry.kind.label(),
            task.unwrap_or_default(),
            escape_html(&text::clean_line(&entry.text)),
        );
        match entry.body {
            Some(body) => {
                let body = escape_html(&text::clean_text(&body));
                let _ = writeln!(
                    out,
                    "<details data-n=\"{seq}\"><summary class=\"s\">{head}</summary><pre>{body}</pre></details>"
                );
            }
            None => {
                let _ = writeln!(out, "<div class=\"s\" data-n=\"{seq}\">{head}</div>");
            }
        }
    }
    let more = entries.count();
    if more > 0 {
        let _ = writeln!(out, "<p>… {more} more steps are in the jsonl export</p>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_untrusted_becomes_markup() {
        let mut state = SessionState::default();
        state.session.title = "<script>alert(1)</script>\u{1b}[31m".to_owned();
        let page = render_page(&state, &[], &TimeZone::UTC);
        assert_eq!(page.matches("<script").count(), 1, "its own and no other");
        assert!(page.contains("&lt;script&gt;alert(1)"));
        assert!(
            !page.contains('\u{1b}') && !page.contains("http://") && !page.contains("https://")
        );
    }
}
