//! `planwright comment`: comments on a plan that an agent submitted, from any terminal.

use clap::Args;

use super::guard::{refuse_desk_agent, require_person};
use super::session::open_session;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::App;
use planwright_desk::{CommentPlace, DeskError};
use planwright_model::TaskId;

#[derive(Debug, Args)]
pub(crate) struct CommentArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// A line of the text as it was submitted, such as 12, or the id of a row
    place: String,
    /// The comment; the agent gets it when you request changes
    #[arg(required = true, num_args = 1..)]
    text: Vec<String>,
}

pub(super) fn execute_comment(shared: &SharedArgs, args: &CommentArgs) -> anyhow::Result<CliExit> {
    require_person("comment for you")?;
    let app = App::settings_only(shared)?;
    refuse_desk_agent(&app)?;
    let (store, id) = open_session(&app, &args.session)?;
    store.close();
    let place = match args.place.parse() {
        Ok(line) => CommentPlace::Line(line),
        Err(_) => CommentPlace::Row(TaskId::from(args.place.as_str())),
    };
    let desk = app.ticket_desk();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let left = runtime.block_on(desk.comment(&id, &place, &args.text.join(" ")));
    desk.close();
    let short = id.short_id();
    match left {
        Ok(()) => {
            let about = match place {
                CommentPlace::Line(line) => format!("line {line}"),
                CommentPlace::Row(node) => node.to_string(),
            };
            StdoutWriter::new().write_line(&format!(
                "Comment on {about} kept; the agent gets it with: planwright answer {short} next request changes"
            ))?;
            Ok(CliExit::Success)
        }
        Err(DeskError::NoTicket(_)) => {
            Err(CliProblem::usage(format!("no agent submitted session {short}"))
                .with_remedy("comment on your own plans on their screen, with `c`")
                .into())
        }
        Err(error) => Err(CliProblem::failed(error.to_string())
            .with_remedy(format!("look at it with: planwright sessions show {short}"))
            .into()),
    }
}
