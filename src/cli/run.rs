//! `planwright run`: approve and execute a plan file or a saved session.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::session::{attend, block_on, needs_screen};
use super::{Exit, Problem, Shared};
use crate::app::{self, App, ReadyPlan};
use crate::engine::resume::TakeUp;
use crate::event::Command;
use crate::headless::Answers;
use crate::model::{Actor, Normalization, RunKind};
use crate::planning::graph;
use crate::planning::plan_file::{self, PlanFileError};

#[derive(Debug, Args)]
pub struct RunArgs {
    /// A plan file (TOML, JSON or a Markdown checklist), or a session: its id, a unique prefix, or `last`
    #[arg(value_name = "PLAN-FILE|SESSION")]
    what: String,
    /// Directory the tasks run in; the current one unless named
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Where no task states a dependency, add those that the descriptions suggest; the card lists them
    #[arg(long)]
    infer: bool,
    /// Run although some dependencies name tasks that are not there
    #[arg(long)]
    allow_missing: bool,
}

pub(super) fn run(shared: &Shared, args: &RunArgs) -> anyhow::Result<Exit> {
    needs_screen(shared)?;
    let app = App::settings_only(shared)?;
    if looks_like_file(&args.what) {
        let ready = runnable_plan(&app, Path::new(&args.what), args.infer)?;
        refuse_missing(shared, args, &ready)?;
        let workspace = workspace(args.workspace.as_deref())?;
        let store = app.open_store()?;
        return block_on(async {
            let handle = app.start_plan(&store, ready, &workspace)?;
            let answers = Answers { approve_plans: shared.yes, in_doubt: None };
            attend(shared, &app, &store, handle, answers.into()).await
        });
    }
    run_session(shared, &app, &args.what)
}

/// A path is a file if there is one, or if it looks like nothing else.
fn looks_like_file(what: &str) -> bool {
    let path = Path::new(what);
    path.exists() || what.contains(std::path::MAIN_SEPARATOR) || path.extension().is_some()
}

/// Reads a plan and refuses what could not run or must not be kept.
pub(super) fn runnable_plan(app: &App, path: &Path, infer: bool) -> anyhow::Result<ReadyPlan> {
    let ready = read_plan(path, infer)?;
    refuse_what_cannot_run(&ready)?;
    refuse_secrets(app, &ready)?;
    Ok(ready)
}

fn read_plan(path: &Path, infer: bool) -> anyhow::Result<ReadyPlan> {
    let mut read = plan_file::read(path).map_err(|error| plan_problem(&error))?;
    if infer {
        let suggestions = graph::infer::infer(&read.plan.tasks);
        graph::infer::accept(&mut read.plan.tasks, &suggestions);
        read.normalization.extend(suggestions.iter().map(suggested));
    }
    let resolved = graph::resolve(&read.plan.tasks, |_| true).map_err(|cycle| {
        Problem::failed(format!("{}: tasks wait for each other: {cycle}", path.display()))
    })?;
    Ok(ReadyPlan {
        facts: resolved.facts(&read.plan.tasks),
        plan: read.plan,
        normalization: read.normalization,
        file: Some(path.to_string_lossy().into_owned()),
    })
}

fn suggested(suggestion: &graph::infer::Suggestion) -> Normalization {
    Normalization {
        code: "inferred".to_owned(),
        task_id: Some(suggestion.successor.clone()),
        detail: format!("waits for {}: {}", suggestion.link.task, suggestion.reasons.join(", ")),
    }
}

/// A file that cannot be read is a mistake in the command; one with wrong content is a failure.
pub(super) fn plan_problem(error: &PlanFileError) -> Problem {
    let what = match error {
        PlanFileError::Unreadable { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    };
    let problem = match error {
        PlanFileError::Unreadable { .. } => Problem::usage(what),
        _ => Problem::failed(what),
    };
    problem.remedy(error.hint())
}

fn refuse_what_cannot_run(ready: &ReadyPlan) -> anyhow::Result<()> {
    let Some(agent) = ready.plan.tasks.iter().find(|task| matches!(task.run, RunKind::Agent {}))
    else {
        return Ok(());
    };
    Err(Problem::failed(format!(
        "task `{}` is for an agent, and no model can be set up in this version",
        agent.id
    ))
    .remedy("give it run = { shell = \"…\" } or run = { human = {} }")
    .into())
}

/// Redaction never changes what runs: a command it would change is refused instead.
fn refuse_secrets(app: &App, ready: &ReadyPlan) -> anyhow::Result<()> {
    let redactor = app.redactor();
    for task in &ready.plan.tasks {
        if let RunKind::Shell(command) = &task.run
            && redactor.would_change(command)
        {
            return Err(Problem::failed(format!(
                "the command of task `{}` holds what looks like a secret",
                task.id
            ))
            .remedy("keep it out of the plan: put it in an environment variable and name that")
            .into());
        }
    }
    Ok(())
}

fn refuse_missing(shared: &Shared, args: &RunArgs, ready: &ReadyPlan) -> anyhow::Result<()> {
    let missing: Vec<&str> = ready
        .normalization
        .iter()
        .filter(|note| note.code == "dependency_missing")
        .map(|note| note.detail.as_str())
        .collect();
    if missing.is_empty() || args.allow_missing || !shared.yes {
        return Ok(());
    }
    Err(Problem::failed(format!(
        "the plan depends on tasks that are not there: {}",
        missing.join("; ")
    ))
    .remedy("mend the plan, or add --allow-missing to run it all the same")
    .into())
}

fn workspace(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => std::env::current_dir().context("finding the current directory")?,
    };
    path.canonicalize().map_err(|error| {
        Problem::usage(format!("the workspace {} cannot be used: {error}", path.display()))
            .remedy("name an existing directory with --workspace")
            .into()
    })
}

fn run_session(shared: &Shared, app: &App, name: &str) -> anyhow::Result<Exit> {
    let Some(store) = app.read_store()? else { return Err(app::no_session(name)) };
    let id = app::find(&store, name)?;
    drop(store);
    let store = app.open_store()?;
    block_on(async {
        let handle = app.take_up(&store, &id, TakeUp::GoOn)?;
        // Approved and kept for later: this is later. Anything else is told by the events.
        let mut history = app::history(&store, &id)?;
        let state = history.state_at(handle.begun)?;
        if state.may_run() && state.run.phase == crate::state::RunPhase::Idle {
            let _ = handle.commands.send(Command::Run { by: Actor::Person }).await;
        }
        let answers = Answers { approve_plans: shared.yes, in_doubt: None };
        attend(shared, app, &store, handle, answers.into()).await
    })
}
