//! `planwright answer`: answers an open request from another terminal or a script.

use std::collections::BTreeSet;

use clap::Args;

use super::session::{Errand, block_on, follow, open_session, take_up};
use super::{Exit, Problem, Shared};
use crate::app::{self, App};
use crate::event::Command;
use crate::headless::{Answers, reply};
use crate::model::{Actor, RequestId};
use crate::tools::process::CALL_VARIABLE;

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// The request, such as `q2`; `next` is the one that waits longest
    request: String,
    /// The reply, such as `approve`, `skip`, `use 1` or `propose changes: …`
    #[arg(required = true, num_args = 1..)]
    reply: Vec<String>,
}

pub(super) fn answer(shared: &Shared, args: &AnswerArgs) -> anyhow::Result<Exit> {
    // An approval is a person's act: nothing that Planwright itself started may answer for them.
    if std::env::var_os(CALL_VARIABLE).is_some() {
        return Err(Problem::usage("a command that Planwright runs cannot answer for you")
            .remedy("answer from a terminal of your own")
            .into());
    }
    let app = App::settings_only(shared)?;
    let (store, id) = open_session(&app, &args.session)?;
    let state = {
        let mut history = app::history(&store, &id)?;
        let head = history.head()?;
        history.state_at(head)?
    };
    let wanted = match args.request.as_str() {
        "next" => state.requests.oldest().map(|open| open.request.id),
        other => Some(other.parse::<RequestId>().map_err(|_| {
            Problem::usage(format!("`{other}` is no request"))
                .remedy("name one such as q2, or `next`")
        })?),
    };
    let open = wanted.and_then(|wanted| state.requests.open.get(&wanted));
    let Some(open) = open else {
        let waiting: Vec<String> = state.requests.open.keys().map(ToString::to_string).collect();
        let what = format!("request {} of session {} is not open", args.request, id.short());
        let remedy = match waiting.len() {
            0 => "nothing waits for an answer there".to_owned(),
            _ => format!("open are: {}", waiting.join(", ")),
        };
        return Err(Problem::usage(what).remedy(remedy).into());
    };
    let text = args.reply.join(" ");
    let answer = reply::answer(&open.request, &text).map_err(|takes| {
        Problem::usage(format!("\"{text}\" does not answer {}", open.request.id)).remedy(takes)
    })?;
    let request = open.request.id;
    let shared = &Shared { headless: true, ..shared.clone() };
    block_on(async {
        let handle = take_up(shared, &app, &store, &id, None).await?;
        let command = Command::Answer { id: request, answer, by: Actor::Person };
        let _ = handle.commands.send(command).await;
        let answers = Answers {
            approve_plans: shared.yes,
            answered: BTreeSet::from([request]),
            ..Answers::default()
        };
        let exit = follow(shared, &store, handle, Errand { answers, restarts: false }).await;
        store.close();
        exit
    })
}
