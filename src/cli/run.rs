//! `planwright run`: approve and execute a plan file or a saved session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context;
use clap::Args;

use super::detach::start_in_background;
use super::guard::{refuse_model, require_person};
use super::plan;
use super::resume_screen::{ResumeChanges, resume_named_session};
use super::session::{ResumeRequest, block_on, require_screen, show_or_follow};
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::otlp_feed::SpanCollector;
use crate::app::{App, ReadyPlan, session_history};
use crate::headless::PresetAnswers;
use crate::headless::run_reports::ReportArgs;
use crate::plan_source::{describe_secret, read_plan_file, split_params};
use planwright_model::{
    ExitCriterion, NormalizationChange, Plan, PlanNotification, RunKind, SandboxChoice,
};
use planwright_plan::graph;
use planwright_plan::plan_file::PlanFileError;
use planwright_plan::plan_file_schedule::{LocalContext, add_start_times};
use planwright_plan::task_selection::{TaskSelection, select_tasks};
use planwright_state::TaskStatus;
use planwright_store::Store;
use planwright_text::Redactor;
use planwright_tools::permission::SandboxState;
use planwright_tools::sandbox::Sandbox;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A plan file (TOML, JSON or a Markdown checklist), `-` for standard input, or a session: its id, a unique prefix,
    /// or `last`
    #[arg(value_name = "PLAN-FILE|SESSION")]
    what: String,
    /// Values for parameters of the file, and the tasks or groups to run, with all they depend on
    #[arg(value_name = "PARAM=VALUE|TASK|GROUP")]
    words: Vec<String>,
    /// Run the tasks with this tag, with all they depend on (repeatable)
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Run this task and what depends on it, without what comes before
    #[arg(long, value_name = "TASK")]
    from: Option<String>,
    /// Run this task and what it depends on, without what comes after
    #[arg(long, value_name = "TASK")]
    until: Option<String>,
    /// Run only the tasks that failed or were skipped in the last run of this file
    #[arg(long, conflicts_with_all = ["from", "until", "tag"])]
    only_failed: bool,
    /// Run commands with `cache` although nothing they depend on has changed
    #[arg(long)]
    no_cache: bool,
    /// Directory the tasks run in [default: the current one]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Infer dependencies from task descriptions if the file has none; they are listed before you approve
    #[arg(long)]
    infer: bool,
    /// Ignore dependencies on tasks that don't exist
    #[arg(long)]
    allow_missing: bool,
    /// Run it in the background, in a process of its own, and print the id of its session
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    reports: ReportArgs,
}

impl RunArgs {
    /// Whether the run is to go to the background at once.
    pub(super) fn starts_detached(&self) -> bool {
        self.detach
    }

    fn selection(&self) -> TaskSelection {
        TaskSelection {
            targets: split_params(&self.words).1,
            tags: self.tag.clone(),
            from: self.from.clone(),
            until: self.until.clone(),
            only: None,
        }
    }
}

pub(super) fn execute_run(shared: &SharedArgs, args: &RunArgs) -> anyhow::Result<CliExit> {
    let is_file = looks_like_file(&args.what);
    if is_file {
        refuse_model("run a plan")?;
    } else {
        require_person("run a saved session")?;
    }
    let mut selection = args.selection();
    let chooses = !args.words.is_empty()
        || !selection.is_everything()
        || !args.reports.is_empty()
        || args.only_failed
        || args.no_cache;
    if !is_file && chooses {
        return Err(CliProblem::usage(
            "tasks and reports can be chosen for a plan file, not for a session",
        )
        .with_remedy("name the plan file; a session goes on with `planwright resume`")
        .into());
    }
    if let Some(address) = args.reports.collector_address() {
        SpanCollector::new(address)?;
    }
    if args.detach {
        let input = if args.what == "-" { Stdio::inherit() } else { Stdio::null() };
        return start_in_background(shared, input);
    }
    require_screen(shared)?;
    let mut app = App::settings_only(shared)?;
    app.ignore_cache = args.no_cache;
    app.check_screen(shared)?;
    if is_file {
        if args.only_failed {
            selection.only = Some(failed_tasks(&app.open_store()?, &args.what)?);
        }
        let (params, _) = split_params(&args.words);
        let path = Path::new(&args.what);
        let ready = runnable_part(&app, path, args.infer, args.allow_missing, &selection, &params)
            .inspect_err(|_| print_refusal(&app, args, &params))?;
        refuse_missing_terminal(shared, &ready)?;
        let workspace = match &args.workspace {
            Some(named) => existing_directory(named)?,
            None => current_workspace()?,
        };
        let store = app.open_store()?;
        return block_on(async {
            let policy = plan::parse_policy(&shared.policy)?;
            let interactive = !shared.headless;
            let handle = app.start_plan(&store, ready, &workspace, &policy, interactive).await?;
            let answers = PresetAnswers { approve_plans: shared.yes, ..PresetAnswers::default() };
            let reports = args.reports.clone();
            let request = ResumeRequest { reports, ..ResumeRequest::from(answers) };
            show_or_follow(shared, &app, &store, handle, request).await
        });
    }
    run_saved_session(shared, &app, args)
}

/// A path is a file if there is one, or if it looks like nothing else.
fn looks_like_file(what: &str) -> bool {
    let path = Path::new(what);
    what == "-"
        || path.exists()
        || what.contains(std::path::MAIN_SEPARATOR)
        || path.extension().is_some()
}

/// The tasks that failed when a file was last run, and those that were skipped because of them.
fn failed_tasks(store: &Store, file: &str) -> anyhow::Result<Vec<String>> {
    for info in store.list_sessions()? {
        let state = session_history(store, &info.id)?.state_at(info.head)?;
        if state.session.plan_file.as_deref() != Some(file) {
            continue;
        }
        let tasks = &state.tasks;
        let is_open = |task: &usize| {
            matches!(tasks.row(*task).status, TaskStatus::Failed | TaskStatus::Skipped(_))
                && !tasks.row(*task).status.is_met()
        };
        let failed: Vec<String> =
            (0..tasks.len()).filter(is_open).map(|task| tasks.id(task).to_string()).collect();
        if failed.is_empty() {
            let id = info.id.short_id();
            return Err(CliProblem::usage(format!(
                "nothing failed in session {id}, the last run of {file}"
            ))
            .with_remedy("run it without --only-failed")
            .into());
        }
        return Ok(failed);
    }
    Err(CliProblem::usage(format!("{file} was not run before"))
        .with_remedy("run it without --only-failed; the file must be named as it was then")
        .into())
}

/// Reads a plan and refuses what could not run or must not be kept.
pub(super) fn runnable_plan(app: &App, path: &Path, infer: bool) -> anyhow::Result<ReadyPlan> {
    runnable_part(app, path, infer, false, &TaskSelection::default(), &BTreeMap::new())
}

/// Prints where a plan file is wrong, for those who asked for annotations.
fn print_refusal(app: &App, args: &RunArgs, params: &BTreeMap<String, String>) {
    let path = Path::new(&args.what);
    // Standard input can be read once only, and has no lines that a page could show.
    if args.what == "-" {
        return;
    }
    let (names, redactor) = (app.plan_file_names(), app.redactor());
    let read = read_plan_file(path, params, names, &redactor, args.allow_missing);
    if let Err(error) = read {
        let mut out = StdoutWriter::new();
        for line in args.reports.refusal_annotations(path, &error) {
            // Who closed the output wants nothing more; the error itself comes after.
            if out.write_line(&line).is_err() {
                return;
            }
        }
    }
}

/// The same for the tasks of it that were chosen.
fn runnable_part(
    app: &App,
    path: &Path,
    infer: bool,
    allow_missing: bool,
    selection: &TaskSelection,
    params: &BTreeMap<String, String>,
) -> anyhow::Result<ReadyPlan> {
    let mut ready = read_plan(app, path, infer, allow_missing, selection, params)?;
    refuse_missing_sandbox(&ready)?;
    if let Some(notify) = &ready.plan.notify {
        ready.normalization.push(notify_note(notify));
    }
    refuse_secrets(app, &ready)?;
    redact_plan_text(&app.redactor(), &mut ready.plan);
    Ok(ready)
}

/// Takes secrets out of what is only read: titles, descriptions, notes. Commands are not touched; see above.
fn redact_plan_text(redactor: &Redactor, plan: &mut Plan) {
    let clean = |text: &mut String| *text = redactor.redact(text).into_owned();
    clean(&mut plan.title);
    plan.goal.iter_mut().chain(&mut plan.rationale).for_each(clean);
    for task in &mut plan.tasks {
        clean(&mut task.description);
        task.metadata.values_mut().for_each(|value| redact_value(redactor, value));
    }
}

fn redact_value(redactor: &Redactor, value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => *text = redactor.redact(text).into_owned(),
        serde_json::Value::Array(items) => {
            for item in items {
                redact_value(redactor, item);
            }
        }
        serde_json::Value::Object(fields) => {
            for field in fields.values_mut() {
                redact_value(redactor, field);
            }
        }
        _ => {}
    }
}

fn read_plan(
    app: &App,
    path: &Path,
    infer: bool,
    allow_missing: bool,
    selection: &TaskSelection,
    params: &BTreeMap<String, String>,
) -> anyhow::Result<ReadyPlan> {
    let read = read_plan_file(path, params, app.plan_file_names(), &app.redactor(), allow_missing);
    let mut read = read.map_err(|error| plan_problem(&error))?;
    read.plan = select_tasks(&read.plan, selection)
        .map_err(|error| CliProblem::usage(error.to_string()).with_remedy(error.hint()))?;
    if infer {
        let suggestions = graph::infer::infer_links(&read.plan.tasks);
        graph::infer::accept_suggestions(&mut read.plan.tasks, &suggestions);
        read.normalization.extend(suggestions.iter().map(inferred_note));
    }
    let resolved = graph::resolve_graph(&read.plan.tasks, |_| true).map_err(|cycle| {
        let name = path.display();
        CliProblem::usage(format!("{name}: tasks wait for each other: {cycle}"))
            .with_remedy(format!("take one of these out; planwright check {name} names the lines"))
    })?;
    let mut facts = resolved.to_facts(&read.plan.tasks);
    let local = LocalContext::from_clock(&jiff::Zoned::now());
    add_start_times(&mut facts, &read.plan, &local).map_err(|error| {
        CliProblem::usage(format!("{}: {error}", path.display()))
            .with_remedy(format!("planwright check {} says more", path.display()))
    })?;
    Ok(ReadyPlan {
        facts,
        plan: read.plan,
        normalization: read.normalization,
        file: Some(path.to_string_lossy().into_owned()).filter(|name| name != "-"),
    })
}

/// A command of the plan that is no task is shown with it.
fn notify_note(notify: &PlanNotification) -> NormalizationChange {
    let on: Vec<&str> = notify.on.iter().map(|cause| cause.name()).collect();
    NormalizationChange {
        code: "notify".to_owned(),
        task_id: None,
        detail: format!("runs `{}` on: {}", notify.command.join(" "), on.join(", ")),
    }
}

fn inferred_note(suggestion: &graph::infer::LinkSuggestion) -> NormalizationChange {
    NormalizationChange {
        code: "inferred".to_owned(),
        task_id: Some(suggestion.successor.clone()),
        detail: format!("waits for {}: {}", suggestion.link.task, suggestion.reasons.join(", ")),
    }
}

/// A file that cannot be read or run is a mistake in what was asked for: nothing ran, and nothing failed.
pub(super) fn plan_problem(error: &PlanFileError) -> CliProblem {
    let what = match error {
        PlanFileError::Unreadable { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    };
    CliProblem::usage(what).with_remedy(error.hint())
}

fn refuse_missing_sandbox(ready: &ReadyPlan) -> anyhow::Result<()> {
    if let Some(confined) =
        ready.plan.tasks.iter().find(|task| task.sandbox == SandboxChoice::Workspace)
        && let SandboxState::NotEnforced { why } = Sandbox::with_current_program().state()
    {
        return Err(CliProblem::usage(format!(
            "task `{}` asks for a sandbox, and there is none here: {why}",
            confined.id
        ))
        .with_remedy("take out `sandbox`, if the command may run unconfined")
        .into());
    }
    Ok(())
}

/// A task that has the terminal can only run where there is a screen to step aside.
fn refuse_missing_terminal(shared: &SharedArgs, ready: &ReadyPlan) -> anyhow::Result<()> {
    let mut tasks = ready.plan.tasks.iter();
    let Some(task) = tasks.find(|task| task.options.interactive) else { return Ok(()) };
    if !shared.headless && !shared.plain {
        return Ok(());
    }
    Err(CliProblem::usage(format!(
        "task `{}` has the terminal while it runs (`interactive`), and this run has no screen",
        task.id
    ))
    .with_remedy(
        "run it on a terminal without --headless, --plain and --detach, or name other tasks to run",
    )
    .into())
}

/// Redaction never changes what runs: a command it would change is refused instead, also where its secret came from a
/// parameter.
fn refuse_secrets(app: &App, ready: &ReadyPlan) -> anyhow::Result<()> {
    let redactor = app.redactor();
    for task in &ready.plan.tasks {
        let own = match &task.run {
            RunKind::Shell(command) => Some(command),
            RunKind::Agent(_) | RunKind::Human {} => None,
        };
        let checks = task.exit_criteria.iter().filter_map(|criterion| match criterion {
            ExitCriterion::Command { command, .. } => Some(command),
            _ => None,
        });
        let mut commands = own.into_iter().chain(checks).chain(task.env.values());
        if let Some((problem, fix)) = commands.find_map(|text| describe_secret(text, &redactor)) {
            let what = format!("the command of task `{}` {problem}", task.id);
            return Err(CliProblem::usage(what).with_remedy(fix).into());
        }
    }
    Ok(())
}

/// A directory that exists, in full.
pub(super) fn existing_directory(path: &Path) -> anyhow::Result<PathBuf> {
    let found = path.canonicalize().ok().filter(|path| path.is_dir());
    found.ok_or_else(|| {
        CliProblem::usage(format!("the workspace {} is not a directory", path.display()))
            .with_remedy("name an existing directory with --workspace")
            .into()
    })
}

/// The current directory, unless commands there could hit everything the person has: that has to be said.
pub(super) fn current_workspace() -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir().context("finding the current directory")?;
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
    if here == Path::new("/") || Some(&here) == home.as_ref() {
        return Err(CliProblem::usage(format!("the tasks would run in {}", here.display()))
            .with_remedy(
                "if that is meant, say so with --workspace; else go to the project's directory",
            )
            .into());
    }
    Ok(here)
}

/// What flags and settings answer in a saved session.
fn flag_answers(shared: &SharedArgs, app: &App) -> PresetAnswers {
    PresetAnswers {
        approve_plans: shared.yes,
        offline_fallback: app.settings.models.offline_fallback.value,
        ..PresetAnswers::default()
    }
}

/// Opens a saved session on the screen; what it asks is answered there.
pub(super) fn open_saved_session(
    shared: &SharedArgs,
    app: &App,
    session: &str,
) -> anyhow::Result<CliExit> {
    let answers = flag_answers(shared, app);
    resume_named_session(
        shared,
        app,
        session,
        ResumeChanges { answers, ..ResumeChanges::default() },
    )
}

fn run_saved_session(shared: &SharedArgs, app: &App, args: &RunArgs) -> anyhow::Result<CliExit> {
    let workspace = args.workspace.as_deref().map(existing_directory).transpose()?;
    let answers = flag_answers(shared, app);
    resume_named_session(
        shared,
        app,
        &args.what,
        ResumeChanges { workspace, answers, ..ResumeChanges::default() },
    )
}
