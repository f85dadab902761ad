//! `planwright demo`: a recorded run to look at, and its plan to run oneself.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use anyhow::Context;
use clap::Args;

use super::guard::refuse_model;
use super::plan;
use super::session::{block_on, require_screen, show_or_follow};
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::{App, ReadyPlan};
use crate::headless::PresetAnswers;
use planwright_model::Seq;
use planwright_model::event::{Event, PlanEvent, Record};
use planwright_plan::{graph, plan_file};
use planwright_state::replay::{History, MemorySource};
use planwright_store::exchange::demo_run;
use planwright_tui::{self as tui, ExitReason, SessionView, UiSettings};

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Run the plan of the demo instead of watching it; its commands only wait and print
    #[arg(long)]
    run: bool,
    /// Start at this event
    #[arg(long, value_name = "N")]
    at: Option<u64>,
    /// Print the plan file
    #[arg(long, conflicts_with = "run")]
    plan: bool,
}

pub(super) fn execute_demo(shared: &SharedArgs, args: &DemoArgs) -> anyhow::Result<CliExit> {
    refuse_model("start a session")?;
    if args.plan {
        StdoutWriter::new().write_text(demo_run::PLAN)?;
        return Ok(CliExit::Success);
    }
    require_screen(shared)?;
    let app = App::settings_only(shared)?;
    app.check_screen(shared)?;
    if args.run {
        return block_on(run_demo_plan(shared, &app));
    }
    let (id, records) = demo_run::load_demo_run()?;
    let head = records.last().map_or(Seq::START, |record| record.seq);
    let at = args.at.unwrap_or_else(|| first_plan_seq(&records).0);
    if at == 0 || at > head.0 {
        return Err(CliProblem::usage(format!("the demo has events 1 to {head}, not {at}"))
            .with_remedy("name one of those with --at, or leave it out to begin with the plan")
            .into());
    }
    let mut history = History::new(MemorySource::new(records));
    if shared.headless {
        return super::replay::print_records(shared, &id, &mut history, args.at.map_or(head, Seq));
    }
    block_on(async {
        let settings = app.watched_settings(shared)?;
        let view = SessionView {
            start_at: Some(Seq(at)),
            // Whoever names an event wants to look at it.
            plays: args.at.is_none(),
            ..SessionView::new(id, history, tokio::sync::watch::channel(head).1)
        };
        match show_recorded_run(view, &settings).await? {
            CliExit::Success if ask_to_run()? => run_demo_plan(shared, &app).await,
            exit => Ok(exit),
        }
    })
}

/// Where the recorded run is opened: at the first moment at which there is a plan to see.
pub(super) fn first_plan_seq(records: &[Record]) -> Seq {
    let shows = |record: &&Record| matches!(record.event, Event::Plan(PlanEvent::Proposed { .. }));
    records.iter().find(shows).map_or(Seq(1), |record| record.seq)
}

/// Shows the recorded run until the person leaves it.
pub(super) async fn show_recorded_run(
    view: SessionView,
    settings: &UiSettings,
) -> anyhow::Result<CliExit> {
    let exit = tui::run_session(view, settings).await?;
    // It has no id here: it is not among the person's sessions.
    StdoutWriter::new()
        .write_line("That was a recorded run; nothing was run and nothing is kept.")?;
    Ok(match exit.reason {
        ExitReason::Signal(signal) => CliExit::for_signal(signal),
        ExitReason::TerminalGone => CliExit::for_signal("SIGHUP"),
        _ => CliExit::Success,
    })
}

/// Offers to run the plan that was shown.
#[expect(clippy::print_stdout, reason = "a question at a prompt, which stays on its line")]
fn ask_to_run() -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Ok(false);
    }
    print!("Run this plan yourself? Its commands only wait and print. [y/N] ");
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let yes = matches!(line.trim().to_lowercase().as_str(), "y" | "yes");
    if !yes {
        StdoutWriter::new().write_line("Later: planwright demo --run")?;
    }
    Ok(yes)
}

/// Runs the plan in a directory of its own.
async fn run_demo_plan(shared: &SharedArgs, app: &App) -> anyhow::Result<CliExit> {
    let read =
        plan_file::parse_plan_file(demo_run::PLAN, plan_file::PlanFileFormat::Toml, "demo.toml")?;
    let resolved = graph::resolve_graph(&read.plan.tasks, |_| true)
        .map_err(|cycle| CliProblem::failed(format!("tasks wait for each other: {cycle}")))?;
    let facts = resolved.to_facts(&read.plan.tasks);
    let (plan, normalization) = (read.plan, read.normalization);
    let ready = ReadyPlan { plan, facts, normalization, file: None };
    let workspace = app.require_data_dir()?.join("demo");
    std::fs::create_dir_all(&workspace)
        .with_context(|| format!("making {}", workspace.display()))?;
    // Its first fuzzing run fails once, each time the demo is begun. Usually there is no such file.
    let _ = std::fs::remove_file(workspace.join("fuzzed"));
    let store = app.open_store()?;
    let policy = plan::parse_policy(&shared.policy)?;
    let handle = app.start_plan(&store, ready, &workspace, &policy, !shared.headless).await?;
    let answers = PresetAnswers { approve_plans: shared.yes, ..PresetAnswers::default() };
    show_or_follow(shared, app, &store, handle, answers.into()).await
}
