//! A session as one self-contained HTML page: no network, no script.

use std::collections::HashMap;
use std::fmt::Write;

use jiff::tz::TimeZone;

use planwright_model::TaskId;
use planwright_model::event::Record;
use planwright_state::trace::TraceEntry;
use planwright_state::{SessionState, TaskStatus};
use planwright_text::{self as text, units};

/// How many steps the page contains; the export as `jsonl` has all of them.
const STEPS: usize = 20_000;
const BOX: (i64, i64) = (180, 44);
const GAP: (i64, i64) = (60, 18);

const STYLE: &str = ":root{--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--bg:#fff;--soft:#f6f8fa;--wait:#6e7781;--run:#0969da;--yours:#8250df;--done:#1a7f37;--fail:#cf222e;--skip:#9a6700}\
@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--dim:#9198a1;--line:#30363d;--bg:#0d1117;--soft:#161b22;--wait:#8b949e;--run:#58a6ff;--yours:#bc8cff;--done:#3fb950;--fail:#ff7b72;--skip:#d29922}}\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem;color:var(--fg);background:var(--bg)}\
h1{font-size:1.6rem;margin:0 0 .3rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--line);padding-bottom:.25rem}\
p{margin:.2rem 0}table{border-collapse:collapse;width:100%}td,th{padding:.3rem .9rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}\
th{color:var(--dim);font-weight:500}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
.graph{overflow-x:auto}svg{display:block}svg text{font:12px system-ui,sans-serif}svg .d,.d{fill:var(--dim);color:var(--dim)}svg path{fill:none;stroke:var(--dim)}\
.wait{--c:var(--wait)}.run{--c:var(--run)}.yours{--c:var(--yours)}.done{--c:var(--done)}.fail{--c:var(--fail)}.skip{--c:var(--skip)}\
svg rect{fill:var(--soft);stroke:var(--c)}svg .m{fill:var(--c)}b.m{color:var(--c);font-weight:600}\
.s{display:grid;grid-template-columns:9rem 6rem 8rem 1fr;gap:0 .6rem;padding:.12rem 0;font-size:14px}.s>*{overflow-wrap:anywhere}\
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
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
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
    write_graph(state, &mut out);
    write_tasks(state, &mut out);
    write_trace(records, zone, &mut out);
    out.push_str("</body>\n</html>\n");
    out
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

/// Draws the graph: one column per layer, links as curves.
fn write_graph(state: &SessionState, out: &mut String) {
    let Some(current) = &state.plan.current else { return };
    let mut filled: HashMap<u32, i64> = HashMap::new();
    let mut positions: HashMap<&TaskId, (i64, i64)> = HashMap::new();
    for (index, task) in current.plan.tasks.iter().enumerate() {
        let layer = current.facts.depth.get(index).copied().unwrap_or(0);
        let row = filled.entry(layer).or_default();
        positions.insert(&task.id, (i64::from(layer) * (BOX.0 + GAP.0), *row * (BOX.1 + GAP.1)));
        *row += 1;
    }
    let width = (filled.keys().max().map_or(0, |layer| i64::from(*layer)) + 1) * (BOX.0 + GAP.0);
    let height = filled.values().max().copied().unwrap_or(1) * (BOX.1 + GAP.1);
    let _ = writeln!(
        out,
        "<h2>Graph</h2>\n<div class=\"graph\"><svg viewBox=\"-4 -4 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"task graph\">",
        width + 8,
        height + 8
    );
    for task in &current.plan.tasks {
        let Some(&(x, y)) = positions.get(&task.id) else { continue };
        for link in &task.dependencies {
            let Some(&(from_x, from_y)) = positions.get(&link.task) else { continue };
            let (x1, y1) = (from_x + BOX.0, from_y + BOX.1 / 2);
            let (x2, y2) = (x, y + BOX.1 / 2);
            let _ = writeln!(
                out,
                "<path d=\"M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}\"/>",
                x1 + GAP.0 / 2,
                x2 - GAP.0 / 2
            );
        }
    }
    for (task, (_, row)) in current.plan.tasks.iter().zip(state.tasks.iter()) {
        let Some(&(x, y)) = positions.get(&task.id) else { continue };
        let (mark, class) = status_glyph(row.status);
        let thick = if current.facts.critical_path.contains(&task.id) { 3 } else { 1 };
        let label = |text: &str| escape_html(&text::truncate_end(text, 26));
        let _ = writeln!(
            out,
            "<g class=\"{class}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" stroke-width=\"{thick}\"/>\
             <text x=\"{}\" y=\"{}\" class=\"m\">{mark} {}</text><text x=\"{}\" y=\"{}\" class=\"d\">{}</text></g>",
            escape_html(&text::clean_line(&task.description)),
            BOX.0,
            BOX.1,
            x + 8,
            y + 18,
            label(&text::clean_line(task.id.as_str())),
            x + 8,
            y + 35,
            label(&text::clean_line(&task.description)),
        );
    }
    out.push_str("</svg></div>\n");
}

fn write_tasks(state: &SessionState, out: &mut String) {
    let Some(current) = &state.plan.current else { return };
    let now = state.at.unwrap_or_default();
    out.push_str("<h2>Tasks</h2>\n<table>\n<tr><th>task</th><th>what</th><th>outcome</th><th class=\"n\">tries</th><th class=\"n\">tokens</th><th class=\"n\">time</th></tr>\n");
    for (node, (id, row)) in current.plan.tasks.iter().zip(state.tasks.iter()) {
        let (mark, class) = status_glyph(row.status);
        let time = row
            .elapsed_ms(now)
            .map(|ms| units::format_elapsed(std::time::Duration::from_millis(ms)));
        let reason = row.failure.as_ref().map(|failure| format!(", {}", failure.message));
        let _ = writeln!(
            out,
            "<tr class=\"{class}\"><td>{}</td><td>{}</td><td><b class=\"m\">{mark} {}</b>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape_html(&text::clean_line(id.as_str())),
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
    out.push_str("<h2>Trace</h2>\n");
    let mut entries = records.iter().filter_map(TraceEntry::from_record);
    for entry in entries.by_ref().take(STEPS) {
        let at = entry.at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string();
        let task = entry
            .task
            .map(|task| format!("<b>{}</b>", escape_html(&text::clean_line(task.as_str()))));
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
                    "<details><summary class=\"s\">{head}</summary><pre>{body}</pre></details>"
                );
            }
            None => {
                let _ = writeln!(out, "<div class=\"s\">{head}</div>");
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
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
        assert!(
            !page.contains('\u{1b}') && !page.contains("http://") && !page.contains("https://")
        );
    }
}
