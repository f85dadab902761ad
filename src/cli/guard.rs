//! Who may use which command: what decides for the person, or changes what they keep, is not for commands that
//! Planwright itself runs. Reading commands are open to all.

use super::CliProblem;
use crate::app::App;
use planwright_tools::process::{CallOwner, enclosing_call};

/// Refuses to decide something inside any command that Planwright runs: an approval is a person's act.
pub(super) fn require_person(act: &str) -> anyhow::Result<()> {
    match enclosing_call() {
        None => Ok(()),
        Some(_) => Err(CliProblem::usage(format!("a command that Planwright runs cannot {act}"))
            .with_remedy("do it from a terminal of your own")
            .into()),
    }
}

/// Refuses to decide on what an agent of another program submitted from inside that agent.
pub(super) fn refuse_desk_agent(app: &App) -> anyhow::Result<()> {
    match app.agent_above() {
        None => Ok(()),
        Some(why) => Err(CliProblem::usage(format!("an agent can't answer what it asks: {why}"))
            .with_remedy("answer from a terminal of your own")
            .into()),
    }
}

/// Refuses to change anything inside a model's command. A `shell` task of the person's own plan may, as a line of a
/// Makefile could.
pub(super) fn refuse_model(act: &str) -> anyhow::Result<()> {
    match enclosing_call() {
        None | Some(CallOwner::Person) => Ok(()),
        Some(CallOwner::Model) => {
            Err(CliProblem::usage(format!("a command that a model runs cannot {act}"))
                .with_remedy("do it from a terminal of your own")
                .into())
        }
    }
}
