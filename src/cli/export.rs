//! `planwright export`: the plan of a session for other programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::plan::write_whole;
use super::{Exit, Out, Problem, Shared};
use crate::app::{self, App};
use crate::planning::export;
use crate::planning::schedule::schedule_plan_file;

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// How the plan is written
    #[arg(long, value_name = "FORMAT")]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Json,
    Markdown,
    /// A Mermaid flowchart
    Mermaid,
    /// A Mermaid Gantt chart, for plans with durations
    Gantt,
    Dot,
    /// A plan file
    Toml,
}

pub(super) fn export(shared: &Shared, args: &ExportArgs) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::no_session(&args.session)) };
    let id = app::find(&store, &args.session)?;
    let mut history = app::history(&store, &id)?;
    let head = history.head()?;
    let state = history.state_at(head)?;
    let Some(current) = &state.plan.current else {
        return Err(Problem::failed(format!("session {} has no plan yet", id.short())).into());
    };
    let (plan, schedule) = (&current.plan, schedule_plan_file(&current.plan)?);
    let text = match args.format {
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&**plan)?),
        Format::Markdown => export::graph_markdown(plan, schedule.as_ref()),
        Format::Mermaid => export::graph_flowchart(plan),
        Format::Gantt => match &schedule {
            Some(schedule) => export::graph_gantt(plan, schedule),
            None => {
                return Err(Problem::failed("a Gantt chart needs durations, and no task has one")
                    .remedy("give tasks a duration, or use --format mermaid")
                    .into());
            }
        },
        Format::Dot => export::graph_dot(plan),
        Format::Toml => crate::planning::plan_file::write_toml(plan),
    };
    match &args.output {
        Some(path) => write_whole(path, &text)?,
        None => Out::new().text(&text)?,
    }
    Ok(Exit::Success)
}
