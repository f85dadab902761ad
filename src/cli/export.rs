//! `planwright export`: a session for other programs and other people.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::plan::write_whole;
use super::session::block_on;
use super::sessions::records;
use super::{Exit, Out, Problem, Shared};
use crate::app::{self, App};
use planwright_model::SessionId;
use planwright_plan::export::{self, PlanExport};
use planwright_plan::plan_schedule::{Here, schedule_plan_file};
use planwright_state::SessionState;
use planwright_state::result::ExecutionResult;
use planwright_store::Store;
use planwright_store::exchange::{html, jsonl, otlp, report, traces};

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// How it is written
    #[arg(long, value_name = "FORMAT")]
    format: Format,
    /// Write to a file instead of standard output; `json` to a directory writes one file a trace
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Send the spans of `otlp` to a collector, such as `http://localhost:4318`
    #[arg(long, value_name = "URL", conflicts_with = "output")]
    endpoint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The traces of all attempts
    Json,
    /// Everything, one event a line; can be imported again
    Jsonl,
    /// The same, compressed
    #[value(name = "jsonl.zst", alias = "jsonl-zst")]
    JsonlZst,
    /// A report
    Markdown,
    /// A Mermaid flowchart of the plan
    Mermaid,
    /// A Mermaid Gantt chart, for plans with durations
    Gantt,
    /// The plan for Graphviz
    Dot,
    /// The schedule as iCalendar
    Ics,
    /// One page with graph and trace that needs nothing else
    Html,
    /// OpenTelemetry spans as OTLP JSON
    Otlp,
    /// The result of the run as JSON, with traces and log
    Result,
    /// The plan as JSON
    PlanJson,
    /// The plan as a plan file
    Toml,
}

pub(super) fn export(shared: &Shared, args: &ExportArgs) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::no_session(&args.session)) };
    let id = app::find(&store, &args.session)?;
    let output = args.output.as_deref();
    if let Some(endpoint) = &args.endpoint {
        if args.format != Format::Otlp {
            return Err(Problem::usage("only spans are sent to a collector")
                .remedy("add --format otlp, or name a file with -o")
                .into());
        }
        let spans = text(&store, &id, Format::Otlp)?;
        return block_on(send(endpoint, spans));
    }
    match args.format {
        Format::Jsonl | Format::JsonlZst => lines(&store, &id, args.format, output)?,
        Format::Json if output.is_some_and(wants_directory) => {
            directory(&store, &id, output.unwrap_or(Path::new("")))?;
        }
        format => {
            let text = text(&store, &id, format)?;
            match output {
                Some(path) => write_whole(path, &text)?,
                None => Out::new().text(&text)?,
            }
        }
    }
    Ok(Exit::Success)
}

/// Sends spans to a collector by OTLP over HTTP.
async fn send(endpoint: &str, spans: String) -> anyhow::Result<Exit> {
    /// How long a collector may take.
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);
    let base = endpoint.trim_end_matches('/');
    let url =
        if base.ends_with("/v1/traces") { base.to_owned() } else { format!("{base}/v1/traces") };
    let unsent = |what: String| {
        Problem::failed(format!("the spans were not taken by {url}: {what}"))
            .remedy("check the address, or write them to a file with -o")
    };
    let client = reqwest::Client::builder()
        .timeout(PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .context("preparing the connection")?;
    let request = client
        .post(&url)
        .header(reqwest::header::CONTENT_TYPE, "application/json")
        .body(spans.trim_end().to_owned());
    let answer = request.send().await.map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        unsent(format!("{}{}", error.without_url(), cause.unwrap_or_default()))
    })?;
    let status = answer.status();
    if !status.is_success() {
        return Err(unsent(format!("it answered {status}")).into());
    }
    Out::new().line(&format!("the spans were taken by {}", planwright_text::clean_line(&url)))?;
    Ok(Exit::Success)
}

fn wants_directory(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR)
}

/// Everything, event by event, so that a large session needs little memory.
fn lines(
    store: &Store,
    id: &SessionId,
    format: Format,
    output: Option<&Path>,
) -> anyhow::Result<()> {
    let reader = store.reader()?;
    let Some(path) = output else {
        return pack(&reader, id, format, BufWriter::new(Out::new()));
    };
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let file = File::create(&beside).with_context(|| format!("writing {}", beside.display()))?;
    let written = pack(&reader, id, format, BufWriter::new(file));
    if written.is_err() {
        // What was begun is no export.
        let _ = std::fs::remove_file(&beside);
    }
    written?;
    std::fs::rename(&beside, path).with_context(|| format!("writing {}", path.display()))
}

fn pack(
    reader: &planwright_store::Reader,
    id: &SessionId,
    format: Format,
    mut out: impl Write,
) -> anyhow::Result<()> {
    if format == Format::JsonlZst {
        let mut packed = zstd::stream::write::Encoder::new(out, 6)?;
        packed.include_checksum(true)?;
        jsonl::write(reader, id, &mut packed)?;
        packed.finish()?.flush()?;
    } else {
        jsonl::write(reader, id, &mut out)?;
    }
    Ok(())
}

fn directory(store: &Store, id: &SessionId, dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
    for trace in ExecutionResult::of(&records(store, id)?).react_traces {
        let text = format!("{}\n", serde_json::to_string_pretty(&traces::to_json(&trace))?);
        write_whole(&dir.join(traces::file_name(&trace.trace_id)), &text)?;
    }
    Ok(())
}

fn text(store: &Store, id: &SessionId, format: Format) -> anyhow::Result<String> {
    let mut history = app::history(store, id)?;
    let head = history.head()?;
    let state = history.state_at(head)?;
    let zone = crate::config::time_zone();
    Ok(match format {
        Format::Json => {
            let found = ExecutionResult::of(&records(store, id)?).react_traces;
            let all: Vec<_> = found.iter().map(traces::to_json).collect();
            format!("{}\n", serde_json::to_string_pretty(&all)?)
        }
        Format::Result => {
            let found = ExecutionResult::of(&records(store, id)?);
            format!("{}\n", serde_json::to_string_pretty(&found)?)
        }
        Format::Markdown => report::markdown(&state, &records(store, id)?, &zone),
        Format::Html => html::page(&state, &records(store, id)?, &zone),
        Format::Otlp => {
            let spans = otlp::spans(id, &state.session.title, &records(store, id)?);
            format!("{spans}\n")
        }
        Format::Ics => calendar(id, &state)?,
        plan => of_plan(id, &state, plan)?,
    })
}

fn of_plan(id: &SessionId, state: &SessionState, format: Format) -> anyhow::Result<String> {
    let Some(current) = &state.plan.current else {
        return Err(Problem::failed(format!("session {} has no plan yet", id.short()))
            .remedy(format!("go on with it: planwright resume {}", id.short()))
            .into());
    };
    let plan = &current.plan;
    Ok(match format {
        Format::Mermaid => export::graph_flowchart(plan),
        Format::Gantt => match schedule_plan_file(plan, &Here::of(&jiff::Zoned::now()))? {
            Some(schedule) => export::graph_gantt(plan, &schedule),
            None => {
                return Err(Problem::failed("a Gantt chart needs durations, and no task has one")
                    .remedy("give tasks a duration, or use --format mermaid")
                    .into());
            }
        },
        Format::Dot => export::graph_dot(plan),
        Format::Toml => planwright_plan::plan_file::write_toml(plan),
        _ => format!("{}\n", serde_json::to_string_pretty(&**plan)?),
    })
}

/// The schedule of a session that was planned from a goal.
fn calendar(id: &SessionId, state: &SessionState) -> anyhow::Result<String> {
    let planning = &state.planning;
    let (Some(context), Some(roadmap), Some(schedule)) =
        (&planning.context, &planning.roadmap, &planning.schedule)
    else {
        return Err(Problem::failed(format!("session {} has no schedule", id.short()))
            .remedy("a calendar needs a session that was planned from a goal")
            .into());
    };
    let plan = PlanExport { context, roadmap, schedule: Some(schedule) };
    Ok(export::ical(&plan, id.as_str(), Timestamp::now())?)
}
