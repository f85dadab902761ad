//! `planwright resume`: go on after a quit or a crash.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::going_on::{Wishes, go_on};
use super::guard::require_person;
use super::run::directory;
use super::session::needs_screen;
use super::{Exit, Shared};
use crate::app::App;
use crate::headless::Answers;
use planwright_model::ChoiceAction;

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// Run in another directory from now on
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// What to do about calls whose outcome is not known
    #[arg(long, value_name = "ANSWER")]
    in_doubt: Option<InDoubt>,
    /// Change the rest of the plan to that of a file; what is done stays done, and approval is asked again
    #[arg(long, value_name = "PLAN-FILE")]
    plan: Option<PathBuf>,
    /// Run failed tasks again
    #[arg(long, value_name = "WHICH")]
    retry: Option<Retry>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum InDoubt {
    /// Run them again
    Run,
    /// They took place
    Done,
    /// Go on without them
    Skip,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Retry {
    Failed,
}

pub(super) fn resume(shared: &Shared, args: &ResumeArgs) -> anyhow::Result<Exit> {
    require_person("resume a session")?;
    needs_screen(shared)?;
    let app = App::settings_only(shared)?;
    app.check_screen(shared)?;
    let workspace = args.workspace.as_deref().map(directory).transpose()?;
    let revision = args
        .plan
        .as_deref()
        .map(|path| super::run::runnable_plan(&app, path, false))
        .transpose()?;
    let in_doubt = args.in_doubt.map(|answer| match answer {
        InDoubt::Run => ChoiceAction::RunAgain,
        InDoubt::Done => ChoiceAction::Happened,
        InDoubt::Skip => ChoiceAction::SkipAlone,
    });
    let offline_fallback = app.settings.models.offline_fallback.value;
    let approve_plans = shared.yes;
    let answers = Answers { approve_plans, in_doubt, offline_fallback, ..Answers::default() };
    let retries_failed = args.retry.is_some();
    go_on(shared, &app, &args.session, Wishes { workspace, revision, retries_failed, answers })
}
