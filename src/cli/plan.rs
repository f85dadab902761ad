//! `planwright plan`: from a goal to a plan, with the planner that needs no model.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Exit, Out, Problem, Shared, plan_text};
use crate::app::App;
use crate::model::FixedEvent;
use crate::planning::export::{self, PlanExport};
use crate::planning::goal_plan::{GoalPlan, GoalRequest, plan_goal};
use crate::planning::offline::{Library, Source};

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// What you want to get done, in one sentence
    goal: String,
    /// How the plan is printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Plan around the events of a calendar file
    #[arg(long, value_name = "FILE.ics")]
    calendar: Option<PathBuf>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
    /// A Mermaid flowchart
    Mermaid,
    /// A Mermaid Gantt chart
    Gantt,
    Dot,
    /// iCalendar, one event a block
    Ics,
}

pub(super) fn plan(shared: &Shared, args: &PlanArgs) -> anyhow::Result<Exit> {
    if !shared.headless {
        return Err(Problem::usage("planning has no screen yet")
            .remedy("add --headless to have the plan printed")
            .into());
    }
    let app = App::settings_only(shared)?;
    let zone = zone();
    let zone_name = zone.iana_name().unwrap_or("UTC");
    let now = Timestamp::now();
    let (library, events) = (library(&app)?, events(args.calendar.as_deref(), zone_name, now)?);
    let plan = plan_goal(&GoalRequest {
        goal: &args.goal,
        today: now.to_zoned(zone.clone()).date(),
        time_zone: zone_name,
        now,
        library: &library,
        events: &events,
        confidence: app.confidence_settings(),
    })
    .map_err(|error| Problem::failed(error.to_string()).remedy(error.hint()))?;
    let format = if shared.json { Format::Json } else { args.format };
    let text = written(&plan, format, now)?;
    match &args.output {
        Some(path) => write_whole(path, &text)?,
        None => Out::new().text(&text)?,
    }
    // The flag is the person's yes; a plan that does not fit is never approved by it.
    Ok(if shared.yes && plan.is_feasible() { Exit::Success } else { Exit::NeedsPerson })
}

/// The person's zone. One that is set and does not exist is told, and the plan is made in UTC.
#[expect(
    clippy::print_stderr,
    reason = "the plan on standard output must stay readable by programs"
)]
fn zone() -> TimeZone {
    let named = std::env::var("TZ").ok().filter(|name| !name.is_empty());
    if let Some(name) = named
        && TimeZone::get(name.trim_start_matches(':')).is_err()
        && TimeZone::posix(&name).is_err()
        && !std::path::Path::new(name.trim_start_matches(':')).is_file()
    {
        let name = crate::text::clean_line(&name);
        eprintln!("planwright: there is no time zone `{name}`; the plan is made in UTC");
        eprintln!("  set TZ to a name such as Europe/Berlin");
        return TimeZone::UTC;
    }
    TimeZone::system()
}

fn written(plan: &GoalPlan, format: Format, now: Timestamp) -> anyhow::Result<String> {
    let artifacts = &plan.artifacts;
    let Some(roadmap) = &artifacts.roadmap else { return Ok(String::new()) };
    let exported =
        PlanExport { context: artifacts.context(), roadmap, schedule: artifacts.schedule.as_ref() };
    Ok(match format {
        Format::Text => plan_text::text(plan),
        Format::Json => plan_text::json(plan)?,
        Format::Markdown => export::markdown(&exported),
        Format::Mermaid => export::flowchart(&exported),
        Format::Gantt => export::gantt(&exported),
        Format::Dot => export::dot(&exported),
        Format::Ics => export::ical(&exported, &artifacts.context().goal_text, now)?,
    })
}

/// The built-in templates and those in the config directory. One with an error is told and left out.
#[expect(
    clippy::print_stderr,
    reason = "a broken template must not spoil the plan on standard output"
)]
fn library(app: &App) -> anyhow::Result<Library> {
    let templates = own_files(&app.config_dir().join("templates"))?;
    let topics = own_files(&app.config_dir().join("topics"))?;
    let (library, errors) = Library::with(&sources(&templates), &sources(&topics));
    for error in errors {
        eprintln!("planwright: {}", crate::text::clean_line(&error.to_string()));
        eprintln!("  {}", crate::text::clean_line(&error.remedy));
    }
    Ok(library)
}

fn sources(files: &[(String, String)]) -> Vec<Source<'_>> {
    files.iter().map(|(name, text)| Source { name, text }).collect()
}

fn own_files(dir: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let mut paths: Vec<PathBuf> = match std::fs::read_dir(dir) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => return Ok(Vec::new()),
    };
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("reading {}", path.display()))?;
        Ok((path.display().to_string(), text))
    };
    paths.into_iter().map(read).collect()
}

fn events(path: Option<&Path>, zone: &str, now: Timestamp) -> anyhow::Result<Vec<FixedEvent>> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problem::usage(format!("could not read the calendar {}: {error}", path.display()))
    })?;
    let far = now.saturating_add(jiff::SignedDuration::from_hours(24 * 366 * 2)).unwrap_or(now);
    Ok(export::read_ical(&text, zone, now, far)?.events)
}

/// Writes a file whole or not at all.
pub(super) fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, path))
        .with_context(|| format!("writing {}", path.display()))
}
