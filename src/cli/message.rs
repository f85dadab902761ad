//! `planwright message`: writes to the agent that works on a task, from another terminal.

use clap::Args;

use super::guard::require_person;
use super::session::open_session;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::App;
use crate::app::inbox::{self, AnswerDelivery};
use planwright_model::TaskId;

#[derive(Debug, Args)]
pub(crate) struct MessageArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// The task whose agent reads it
    task: String,
    /// What to tell the agent; it reads it before its next step
    #[arg(required = true, num_args = 1..)]
    text: Vec<String>,
    /// End what one of your own agents is doing, so that it reads the message now
    #[arg(long)]
    interrupt: bool,
}

pub(super) fn execute_message(shared: &SharedArgs, args: &MessageArgs) -> anyhow::Result<CliExit> {
    require_person("write to an agent for you")?;
    let app = App::settings_only(shared)?;
    let (store, id) = open_session(&app, &args.session)?;
    let task = TaskId::from(args.task.as_str());
    // What is typed may wait in the database for a moment, and nothing secret is kept there.
    let text = app.redactor().redact(&args.text.join(" ")).into_owned();
    let remedy = format!("look at it with: planwright sessions show {}", id.short_id());
    if store.lease_holder(&id)?.is_none() {
        return Err(CliProblem::failed("no process works on this session now")
            .with_remedy(format!("start it with: planwright resume {}", id.short_id()))
            .into());
    }
    match inbox::deliver_message(&store, &id, &task, &text, args.interrupt)? {
        AnswerDelivery::Taken => {
            StdoutWriter::new().write_line(&format!(
                "Message left for the agent of {task}; it reads it before its next step."
            ))?;
            Ok(CliExit::Success)
        }
        AnswerDelivery::Refused(why) => {
            Err(CliProblem::failed(format!("the message was not taken: {why}"))
                .with_remedy(remedy)
                .into())
        }
        AnswerDelivery::NobodyThere | AnswerDelivery::NoReaction => {
            Err(CliProblem::failed("the process that works on it does not react")
                .with_remedy(remedy)
                .into())
        }
    }
}
