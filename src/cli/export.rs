//! `planwright export`: a session for other programs and other people.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::plan::{is_special_file, write_atomically};
use super::session::block_on;
use super::sessions::session_records;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::exports::{export_chrome_trace, export_text, export_workspace_patch};
use crate::app::otlp_feed::SpanCollector;
use crate::app::replay_film::film_session;
use crate::app::{self, App};
use planwright_model::SessionId;
use planwright_state::execution_result::ExecutionResult;
use planwright_store::Store;
use planwright_store::exchange::{jsonl, seed_traces};
use planwright_tui::{ColorDepth, SessionExport, UiSettings, frame_animation, frame_cast};

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// How it is written
    #[arg(long, value_name = "FORMAT", required_unless_present = "files")]
    format: Option<ExportFormat>,
    /// Write what agents changed in the workspace, as a patch for `git apply`
    #[arg(long, conflicts_with = "format")]
    files: bool,
    /// Up to this event; up to the last one if it is not given
    #[arg(long, value_name = "N", requires = "files")]
    at: Option<u64>,
    /// Write to a file instead of standard output; `json` to a directory writes one file per trace
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Send the spans of `otlp` to a collector, such as `http://localhost:4318`
    #[arg(long, value_name = "URL", conflicts_with_all = ["output", "files"])]
    endpoint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// The traces of all attempts
    Json,
    /// Everything, one event per line; can be imported again
    Jsonl,
    /// The same, compressed
    #[value(name = "jsonl.zst", alias = "jsonl-zst")]
    JsonlZst,
    /// A report
    Markdown,
    /// A Mermaid flowchart of the plan, with the status of its tasks
    Mermaid,
    /// A Mermaid Gantt chart: what really ran, else the planned dates
    Gantt,
    /// The plan for Graphviz, with the status of its tasks
    Dot,
    /// The tasks with status and times as a table for spreadsheets
    Csv,
    /// The schedule as iCalendar
    Ics,
    /// One page with graph and trace that needs nothing else
    Html,
    /// OpenTelemetry spans as OTLP JSON
    Otlp,
    /// A timeline for Perfetto and the tracing page of Chrome
    ChromeTrace,
    /// A replay as a recording for terminal players (asciicast)
    Cast,
    /// A replay as an animated picture
    Svg,
    /// The result of the run as JSON, with traces and log
    Result,
    /// The plan as JSON
    PlanJson,
    /// The plan as a plan file
    Toml,
}

impl ExportFormat {
    /// The form that it stands for; packed or not, events are events. None for what only the command line writes.
    fn session_export(self) -> Option<SessionExport> {
        Some(match self {
            Self::ChromeTrace | Self::Cast | Self::Svg => return None,
            Self::Json => SessionExport::RunTraces,
            Self::Jsonl | Self::JsonlZst => SessionExport::RunEvents,
            Self::Markdown => SessionExport::RunReport,
            Self::Mermaid => SessionExport::PlanFlowchart,
            Self::Gantt => SessionExport::PlanGantt,
            Self::Dot => SessionExport::PlanDot,
            Self::Csv => SessionExport::TaskTable,
            Self::Ics => SessionExport::PlanCalendar,
            Self::Html => SessionExport::RunPage,
            Self::Otlp => SessionExport::RunSpans,
            Self::Result => SessionExport::RunResult,
            Self::PlanJson => SessionExport::PlanJson,
            Self::Toml => SessionExport::PlanFile,
        })
    }
}

pub(super) fn execute_export(shared: &SharedArgs, args: &ExportArgs) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else {
        return Err(app::unknown_session_error(&args.session));
    };
    let id = app::find_session(&store, &args.session)?;
    let output = args.output.as_deref();
    let Some(format) = args.format else {
        write_output(output, &export_workspace_patch(&store, &id, args.at)?)?;
        return Ok(CliExit::Success);
    };
    if let Some(endpoint) = &args.endpoint {
        if format != ExportFormat::Otlp {
            return Err(CliProblem::usage("only spans are sent to a collector")
                .with_remedy("add --format otlp, or name a file with -o")
                .into());
        }
        let collector = SpanCollector::new(endpoint)?;
        let spans = export_text(&store, &id, SessionExport::RunSpans)?;
        return block_on(send_spans(&collector, spans));
    }
    match format {
        ExportFormat::Jsonl | ExportFormat::JsonlZst => {
            export_lines(&store, &id, format, output)?;
        }
        ExportFormat::Json if output.is_some_and(wants_directory) => {
            export_traces(&store, &id, output.unwrap_or(Path::new("")))?;
        }
        format => {
            let text = match format.session_export() {
                Some(form) => export_text(&store, &id, form)?,
                None => export_for_viewer(&app, &store, &id, format)?,
            };
            write_output(output, &text)?;
        }
    }
    Ok(CliExit::Success)
}

fn write_output(output: Option<&Path>, text: &str) -> anyhow::Result<()> {
    match output {
        Some(path) => write_atomically(path, text),
        None => Ok(StdoutWriter::new().write_text(text)?),
    }
}

/// What only the command line writes: for viewers of timelines and players.
fn export_for_viewer(
    app: &App,
    store: &Store,
    id: &SessionId,
    format: ExportFormat,
) -> anyhow::Result<String> {
    if format == ExportFormat::ChromeTrace {
        return export_chrome_trace(store, id);
    }
    // A recording has the colors of the theme, whatever this terminal can show.
    let settings = UiSettings { color: ColorDepth::True, ..app.ui_settings()? };
    let (began, frames) = film_session(store, id, &settings)?;
    let title = store.session_info(id)?.summary.title;
    Ok(match format {
        ExportFormat::Cast => frame_cast(&planwright_text::clean_line(&title), began, &frames),
        _ => frame_animation(&frames),
    })
}

/// Sends spans to a collector.
async fn send_spans(collector: &SpanCollector, spans: String) -> anyhow::Result<CliExit> {
    collector.send(spans.trim_end().to_owned()).await?;
    let url = planwright_text::clean_line(collector.url());
    StdoutWriter::new().write_line(&format!("the spans were taken by {url}"))?;
    Ok(CliExit::Success)
}

fn wants_directory(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR)
}

/// Everything, event by event, so that a large session needs little memory.
fn export_lines(
    store: &Store,
    id: &SessionId,
    format: ExportFormat,
    output: Option<&Path>,
) -> anyhow::Result<()> {
    let reader = store.reader()?;
    let Some(path) = output else {
        return write_lines(&reader, id, format, BufWriter::new(StdoutWriter::new()));
    };
    if is_special_file(path) {
        let file = File::options().write(true).open(path);
        let file = file.with_context(|| format!("writing {}", path.display()))?;
        return write_lines(&reader, id, format, BufWriter::new(file));
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let file = File::create(&beside).with_context(|| format!("writing {}", beside.display()))?;
    let written = write_lines(&reader, id, format, BufWriter::new(file));
    if written.is_err() {
        // What was begun is no export.
        let _ = std::fs::remove_file(&beside);
    }
    written?;
    std::fs::rename(&beside, path).with_context(|| format!("writing {}", path.display()))
}

fn write_lines(
    reader: &planwright_store::StoreReader,
    id: &SessionId,
    format: ExportFormat,
    mut out: impl Write,
) -> anyhow::Result<()> {
    if format == ExportFormat::JsonlZst {
        let mut packed = zstd::stream::write::Encoder::new(out, 6)?;
        packed.include_checksum(true)?;
        jsonl::write_export(reader, id, &mut packed)?;
        packed.finish()?.flush()?;
    } else {
        jsonl::write_export(reader, id, &mut out)?;
    }
    Ok(())
}

fn export_traces(store: &Store, id: &SessionId, dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
    for trace in ExecutionResult::from_records(&session_records(store, id)?).react_traces {
        let text =
            format!("{}\n", serde_json::to_string_pretty(&seed_traces::trace_to_json(&trace))?);
        write_atomically(&dir.join(seed_traces::trace_file_name(&trace.trace_id)), &text)?;
    }
    Ok(())
}
