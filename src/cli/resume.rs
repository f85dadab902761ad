//! `planwright resume`: go on after a quit or a crash.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::run::directory;
use super::session::{Errand, attend, block_on, needs_screen, open_session, take_up};
use super::{Exit, Shared};
use crate::app::{self, App};
use crate::event::Command;
use crate::headless::Answers;
use crate::model::ChoiceAction;
use crate::state::TaskStatus;

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
    needs_screen(shared)?;
    let app = App::settings_only(shared)?;
    app.check_screen(shared)?;
    let (store, id) = open_session(&app, &args.session)?;
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
    block_on(async {
        let handle = take_up(shared, &app, &store, &id, workspace.as_deref()).await?;
        let (mut restarts, mut replaces) = (false, None);
        if let Some(ready) = revision {
            let _ = handle
                .commands
                .send(Command::Revise {
                    plan: ready.plan.into(),
                    facts: ready.facts.into(),
                    normalization: ready.normalization,
                })
                .await;
            replaces = Some(shared.yes);
        }
        if args.retry.is_some() {
            let mut history = app::history(&store, &id)?;
            let state = history.state_at(handle.begun)?;
            for (task, _) in state.tasks.iter().filter(|(_, row)| row.status == TaskStatus::Failed)
            {
                restarts = true;
                let again = Command::RetryTask { task: task.clone(), with_dependents: false };
                let _ = handle.commands.send(again).await;
            }
        }
        let answers = Answers { approve_plans: shared.yes, in_doubt, ..Answers::default() };
        attend(shared, &app, &store, handle, Errand { answers, restarts, replaces }).await
    })
}
