//! The command line: one file per subcommand, shared flags, the final error and the exit code.

mod agents;
mod answer;
mod attach;
mod catch_up;
mod changes;
mod check;
mod comment;
mod config;
mod control;
mod deferred_args;
mod demo;
mod descriptors;
mod detach;
mod detached_runs;
mod diff;
mod doctor;
mod documents;
mod executors;
mod export;
mod facts;
mod fork;
mod graph;
mod graph_canvas;
mod guard;
mod help;
mod help_examples;
mod home;
mod hook;
mod import;
mod logs;
#[cfg(feature = "mcp")]
mod mcp;
mod message;
mod plan;
mod plan_text;
mod replay;
mod resume;
mod resume_screen;
mod run;
mod run_outputs;
mod screen_process;
mod session;
mod sessions;
mod template;
mod themes;
mod today;
mod tools;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{Parser, Subcommand};

pub use crate::app::OFFLINE_HELP;
use crate::app::options::SharedArgs;
use crate::console::{CliExit, CliProblem, StdoutWriter, eprint_line};
use deferred_args::DeferredArgs;

/// Plan with an agent in the terminal: approve or revise, watch it run, scrub through everything that happened.
#[derive(Debug, Parser)]
#[command(name = "planwright", version, about, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub shared: SharedArgs,
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Plan a goal
    Plan(DeferredArgs<plan::PlanArgs>),
    /// Approve and run a plan file or a saved session
    Run(DeferredArgs<run::RunArgs>),
    /// Resume a session after a quit or a crash
    Resume(DeferredArgs<resume::ResumeArgs>),
    /// Follow and control a run that is in progress elsewhere
    Attach(DeferredArgs<attach::AttachArgs>),
    /// Print the output of tasks
    Logs(DeferredArgs<logs::LogsArgs>),
    /// List the runs in progress
    Ps(DeferredArgs<control::PsArgs>),
    /// Stop a run, or one task of it
    Stop(DeferredArgs<control::StopArgs>),
    /// Run a failed or skipped task again
    Retry(DeferredArgs<control::TaskControlArgs>),
    /// Skip a task
    Skip(DeferredArgs<control::TaskControlArgs>),
    /// Step through a saved run (read-only)
    Replay(DeferredArgs<replay::ReplayArgs>),
    /// List saved sessions, or show one
    Sessions(DeferredArgs<sessions::SessionsArgs>),
    /// Validate a plan file and show its schedule
    Check(DeferredArgs<check::CheckArgs>),
    /// Draw a plan as a graph
    Graph(DeferredArgs<graph::GraphArgs>),
    /// List, inspect and call agent tools; manage permission rules
    Tools(DeferredArgs<tools::ToolsArgs>),
    /// Export a session for other programs or people
    Export(DeferredArgs<export::ExportArgs>),
    /// Import an export or another program's transcript (read-only)
    Import(DeferredArgs<import::ImportArgs>),
    /// Start a new session from any point in another session
    Fork(DeferredArgs<fork::ForkArgs>),
    /// Compare two sessions
    Diff(DeferredArgs<diff::DiffArgs>),
    /// Show and change settings
    Config(DeferredArgs<config::ConfigArgs>),
    /// Check the environment and suggest fixes
    Doctor(DeferredArgs<doctor::DoctorArgs>),
    /// List, correct or withdraw what Planwright read from your goal
    Facts(DeferredArgs<facts::FactsArgs>),
    /// Show what is due today in all active plans
    Today(DeferredArgs<today::TodayArgs>),
    /// Watch a recorded run, or run its plan
    Demo(DeferredArgs<demo::DemoArgs>),
    /// Answer an open request of a session from another terminal
    Answer(DeferredArgs<answer::AnswerArgs>),
    /// List kinds of plan, show one, or save a plan as a new kind
    Template(DeferredArgs<template::TemplateArgs>),
    /// Write to the agent that works on a task
    Message(DeferredArgs<message::MessageArgs>),
    /// List file changes made by agents, or undo them
    Changes(DeferredArgs<changes::ChangesArgs>),
    /// Comment on a plan that an agent submitted
    Comment(DeferredArgs<comment::CommentArgs>),
    /// Run an MCP server through which agents submit plans for approval
    #[cfg(feature = "mcp")]
    Mcp(DeferredArgs<mcp::McpArgs>),
    /// Answer what coding agents ask through their hooks in Planwright
    Hook(DeferredArgs<hook::HookArgs>),
    /// List and test your own coding agents; turn them on or off
    Agents(DeferredArgs<agents::AgentsArgs>),
    /// List and test the hosts and containers that run commands
    Executors(DeferredArgs<executors::ExecutorsArgs>),
    /// List the themes
    Themes,
    /// Print shell completions
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Print the page of this command
        command: Vec<String>,
        /// Write a page for each command to this directory instead
        #[arg(long, value_name = "DIR")]
        dir: Option<std::path::PathBuf>,
    },
    /// Anything else is a goal
    #[command(external_subcommand)]
    Goal(Vec<String>),
}

impl CliCommand {
    /// The name of the command, without what was given to it.
    fn name(&self) -> &'static str {
        match self {
            Self::Plan(_) => "plan",
            Self::Run(_) => "run",
            Self::Resume(_) => "resume",
            Self::Attach(_) => "attach",
            Self::Logs(_) => "logs",
            Self::Ps(_) => "ps",
            Self::Stop(_) => "stop",
            Self::Retry(_) => "retry",
            Self::Skip(_) => "skip",
            Self::Replay(_) => "replay",
            Self::Sessions(_) => "sessions",
            Self::Check(_) => "check",
            Self::Graph(_) => "graph",
            Self::Tools(_) => "tools",
            Self::Export(_) => "export",
            Self::Import(_) => "import",
            Self::Fork(_) => "fork",
            Self::Diff(_) => "diff",
            Self::Config(_) => "config",
            Self::Doctor(_) => "doctor",
            Self::Facts(_) => "facts",
            Self::Today(_) => "today",
            Self::Demo(_) => "demo",
            Self::Answer(_) => "answer",
            Self::Template(_) => "template",
            Self::Message(_) => "message",
            Self::Changes(_) => "changes",
            Self::Comment(_) => "comment",
            #[cfg(feature = "mcp")]
            Self::Mcp(_) => "mcp",
            Self::Hook(_) => "hook",
            Self::Agents(_) => "agents",
            Self::Executors(_) => "executors",
            Self::Themes => "themes",
            Self::Completions { .. } => "completions",
            Self::Man { .. } => "man",
            Self::Goal(_) => "goal",
        }
    }
}

/// Runs the program and says how it ends.
pub fn main() -> ExitCode {
    let cli = match parse_arguments(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(mut error) => {
            // A flag that is not known is a slip, and hardly meant as a value.
            let tip = error.get(ContextKind::Suggested).map(ToString::to_string);
            if tip.is_some_and(|tip| tip.contains("as a value")) {
                error.remove(ContextKind::Suggested);
            }
            // Help and version go to standard output and are no error. A mistake repeats what was typed.
            if error.kind() == ErrorKind::DisplayHelp {
                help::print_help(&std::env::args_os().collect::<Vec<_>>());
            } else if error.use_stderr() {
                eprint_line(error.render().to_string().trim_end());
            } else {
                // Standard output may be closed, as by `| head`.
                let _ = error.print();
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    if let Some(exit) = screen_process::run_in_screen_process(&cli) {
        return exit.into();
    }
    crate::app::spare_reader::allow_spare_reader();
    let exit = match run_command(cli) {
        Ok(exit) => exit,
        Err(error) => report_error(&error),
    };
    tracing::info!(?exit, "Planwright ended");
    exit.into()
}

fn run_command(cli: Cli) -> anyhow::Result<CliExit> {
    let command = cli.command.as_ref().map_or("home", CliCommand::name);
    crate::diagnostics::start_logging(cli.shared.verbose, cli.shared.data_dir.as_deref(), command)?;
    dispatch_command(cli)
}

/// Reads the arguments. `planwright GOAL FLAGS` is read as `planwright plan GOAL FLAGS`, so that flags may stand on
/// either side of a goal.
fn parse_arguments(mut arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let cli = Cli::try_parse_from(&arguments)?;
    let Some(CliCommand::Goal(words)) = &cli.command else { return Ok(cli) };
    if help::is_asked_for(words) {
        return Err(clap::Error::new(ErrorKind::DisplayHelp));
    }
    if plan::nearest_command(words).is_some() {
        return Ok(cli);
    }
    arguments.insert(arguments.len().saturating_sub(words.len()), "plan".into());
    Cli::try_parse_from(arguments)
}

/// Whether a command that has a form without a screen takes it by itself: JSON is for programs, and without a terminal
/// there is no screen.
fn is_headless_by_itself(command: Option<&CliCommand>, shared: &SharedArgs) -> bool {
    let has_lines = matches!(
        command,
        Some(
            CliCommand::Plan(_)
                | CliCommand::Run(_)
                | CliCommand::Resume(_)
                | CliCommand::Attach(_)
        )
    );
    let has_terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    has_lines && !shared.plain && (shared.json || !has_terminal)
}

fn dispatch_command(cli: Cli) -> anyhow::Result<CliExit> {
    let mut shared = cli.shared;
    shared.headless |= shared.background || is_headless_by_itself(cli.command.as_ref(), &shared);
    if shared.background {
        detach::leave_terminal();
    }
    match cli.command {
        None => home::execute_home(&shared),
        Some(CliCommand::Plan(DeferredArgs(args))) => plan::execute_plan(&shared, &args),
        Some(CliCommand::Run(DeferredArgs(args))) => run::execute_run(&shared, &args),
        Some(CliCommand::Resume(DeferredArgs(args))) => resume::execute_resume(&shared, &args),
        Some(CliCommand::Attach(DeferredArgs(args))) => attach::execute_attach(&shared, &args),
        Some(CliCommand::Logs(DeferredArgs(args))) => logs::execute_logs(&shared, &args),
        Some(CliCommand::Ps(DeferredArgs(args))) => control::execute_ps(&shared, &args),
        Some(CliCommand::Stop(DeferredArgs(args))) => control::execute_stop(&shared, &args),
        Some(CliCommand::Retry(DeferredArgs(args))) => control::execute_retry(&shared, &args),
        Some(CliCommand::Skip(DeferredArgs(args))) => control::execute_skip(&shared, &args),
        Some(CliCommand::Replay(DeferredArgs(args))) => replay::execute_replay(&shared, &args),
        Some(CliCommand::Sessions(DeferredArgs(args))) => {
            sessions::execute_sessions(&shared, &args)
        }
        Some(CliCommand::Check(DeferredArgs(args))) => check::execute_check(&shared, &args),
        Some(CliCommand::Graph(DeferredArgs(args))) => graph::execute_graph(&shared, &args),
        Some(CliCommand::Export(DeferredArgs(args))) => export::execute_export(&shared, &args),
        Some(CliCommand::Tools(DeferredArgs(args))) => tools::execute_tools(&shared, &args),
        Some(CliCommand::Import(DeferredArgs(args))) => import::execute_import(&shared, &args),
        Some(CliCommand::Fork(DeferredArgs(args))) => fork::execute_fork(&shared, &args),
        Some(CliCommand::Diff(DeferredArgs(args))) => diff::execute_diff(&shared, &args),
        Some(CliCommand::Config(DeferredArgs(args))) => config::execute_config(&shared, &args),
        Some(CliCommand::Doctor(DeferredArgs(args))) => doctor::execute_doctor(&shared, &args),
        Some(CliCommand::Facts(DeferredArgs(args))) => facts::execute_facts(&shared, &args),
        Some(CliCommand::Today(DeferredArgs(args))) => today::execute_today(&shared, &args),
        Some(CliCommand::Demo(DeferredArgs(args))) => demo::execute_demo(&shared, &args),
        Some(CliCommand::Answer(DeferredArgs(args))) => answer::execute_answer(&shared, &args),
        Some(CliCommand::Message(DeferredArgs(args))) => message::execute_message(&shared, &args),
        Some(CliCommand::Changes(DeferredArgs(args))) => changes::execute_changes(&shared, &args),
        Some(CliCommand::Goal(words)) => Err(plan::unknown_command_error(&words)),
        Some(CliCommand::Template(DeferredArgs(args))) => {
            template::execute_template(&shared, &args)
        }
        Some(CliCommand::Comment(DeferredArgs(args))) => comment::execute_comment(&shared, &args),
        #[cfg(feature = "mcp")]
        Some(CliCommand::Mcp(DeferredArgs(args))) => mcp::execute_mcp(&shared, &args),
        Some(CliCommand::Hook(DeferredArgs(args))) => hook::execute_hook(&shared, &args),
        Some(CliCommand::Agents(DeferredArgs(args))) => agents::execute_agents(&shared, &args),
        Some(CliCommand::Executors(DeferredArgs(args))) => {
            executors::execute_executors(&shared, &args)
        }
        Some(CliCommand::Themes) => themes::execute_themes(&shared),
        Some(CliCommand::Completions { shell }) => documents::print_completions(shell),
        Some(CliCommand::Man { command, dir }) => {
            documents::print_man_page(&command, dir.as_deref())
        }
    }
}

/// Prints the final error, what it means and what to do, and gives its exit code.
fn report_error(error: &anyhow::Error) -> CliExit {
    let mut exit = CliExit::Failed;
    let mut hint = None;
    let mut lines: Vec<String> = Vec::new();
    for cause in error.chain() {
        if let Some(problem) = cause.downcast_ref::<CliProblem>() {
            exit = problem.exit;
            hint.clone_from(&problem.remedy);
            lines.push(problem.what.clone());
            continue;
        }
        hint = error_hint(cause).or(hint);
        let text = cause.to_string();
        if !lines.iter().any(|line| line.contains(&text)) {
            lines.push(text);
        }
    }
    let text = lines.join(": ");
    let logged = crate::diagnostics::leave_out_quotes(&text);
    tracing::error!(error = logged, ?exit, "the command failed");
    eprint_line(&format!("planwright: {text}"));
    if let Some(hint) = hint {
        eprint_line(&format!("  {hint}"));
    }
    exit
}

/// What to do about an error that does not say so itself.
fn error_hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    use crate::config::ConfigError;
    use planwright_state::replay::RecordSourceError;
    use planwright_store::StoreError;
    use planwright_tui::{KeyError, ThemeError, TuiError};
    if let Some(store) = cause.downcast_ref::<StoreError>() {
        return Some(store.hint());
    }
    let words = if let Some(error) = cause.downcast_ref::<ConfigError>() {
        match error {
            ConfigError::Unreadable { .. } => "make it readable, or name another one with --config",
            _ => "fix that line; planwright config init --print shows every setting",
        }
    } else if cause.is::<KeyError>() {
        "fix [keys] in the config; planwright config init --print lists every action with its key"
    } else if cause.is::<ThemeError>() {
        "fix the theme's file, or use another one with --theme; planwright themes lists them"
    } else if matches!(cause.downcast_ref::<TuiError>(), Some(TuiError::Terminal(_))) {
        "run it in a terminal, or add --headless or --plain"
    } else if cause.is::<RecordSourceError>() {
        "planwright sessions verify says what is there and what is not"
    } else {
        return None;
    };
    Some(words.to_owned())
}
