//! `planwright resume`: go on after a quit or a crash.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::guard::require_person;
use super::resume_screen::{ResumeChanges, resume_named_session};
use super::run::existing_directory;
use super::session::require_screen;
use super::{CliExit, SharedArgs};
use crate::app::App;
use crate::headless::PresetAnswers;
use planwright_model::ChoiceAction;

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// Run in another directory from now on
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// What to do about commands whose outcome is unknown
    #[arg(long, value_name = "ANSWER")]
    in_doubt: Option<InDoubtArg>,
    /// Replace the remaining tasks with those of a plan file; asks for approval again
    #[arg(long, value_name = "PLAN-FILE")]
    plan: Option<PathBuf>,
    /// Run failed tasks again
    #[arg(long, value_name = "WHICH")]
    retry: Option<RetryArg>,
    /// Continue in the background, in a process of its own
    #[arg(long)]
    detach: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum InDoubtArg {
    /// Run them again
    Run,
    /// They took place
    Done,
    /// Go on without them
    Skip,
    /// Wait for commands that are still running; those that ended are asked about
    Wait,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RetryArg {
    Failed,
}

impl ResumeArgs {
    /// Whether the run is to go to the background at once.
    pub(super) fn starts_detached(&self) -> bool {
        self.detach
    }
}

pub(super) fn execute_resume(shared: &SharedArgs, args: &ResumeArgs) -> anyhow::Result<CliExit> {
    require_person("resume a session")?;
    if args.detach {
        return super::detach::start_in_background(shared, std::process::Stdio::null());
    }
    require_screen(shared)?;
    let app = App::settings_only(shared)?;
    app.check_screen(shared)?;
    let workspace = args.workspace.as_deref().map(existing_directory).transpose()?;
    let revision = args
        .plan
        .as_deref()
        .map(|path| super::run::runnable_plan(&app, path, false))
        .transpose()?;
    let in_doubt = args.in_doubt.map(|answer| match answer {
        InDoubtArg::Run => ChoiceAction::RunAgain,
        InDoubtArg::Done => ChoiceAction::Happened,
        InDoubtArg::Skip => ChoiceAction::SkipAlone,
        InDoubtArg::Wait => ChoiceAction::KeepWaiting,
    });
    let offline_fallback = app.settings.models.offline_fallback.value;
    let approve_plans = shared.yes;
    let answers =
        PresetAnswers { approve_plans, in_doubt, offline_fallback, ..PresetAnswers::default() };
    let retries_failed = args.retry.is_some();
    resume_named_session(
        shared,
        &app,
        &args.session,
        ResumeChanges { workspace, revision, retries_failed, answers },
    )
}
