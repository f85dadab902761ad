//! `planwright answer`: answers an open request from another terminal or a script.

use clap::Args;

use super::guard::require_person;
use super::session::open_session;
use super::{CliExit, CliProblem, SharedArgs};
use crate::app::inbox::{self, AnswerDelivery};
use crate::app::{self, App};
use crate::headless::drafted_commands::{
    approval_command, approves_drafted, command_lines, names_revision,
};
use crate::headless::reply;
use planwright_model::event::AnsweredLine;
use planwright_model::{Answer, ChoiceAction, Request, RequestId, RequestKind, SessionId};
use planwright_state::SessionState;
use planwright_store::Store;

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// The request, such as `q2`; `next` is the one that waits longest
    request: String,
    /// The reply, such as `approve`, `skip`, `ideas`, `use 1` or `propose changes: …`
    #[arg(required = true, num_args = 1..)]
    reply: Vec<String>,
    /// The revision of the plan that is approved, needed where a model wrote commands of it
    #[arg(long, value_name = "HASH")]
    revision: Option<String>,
}

pub(super) fn execute_answer(shared: &SharedArgs, args: &AnswerArgs) -> anyhow::Result<CliExit> {
    require_person("answer for you")?;
    let app = App::settings_only(shared)?;
    let (store, id) = open_session(&app, &args.session)?;
    let ResolvedAnswer { request, mut answer, unseen, is_ticket } =
        resolve_answer(&store, &id, args)?;
    if is_ticket {
        super::guard::refuse_desk_agent(&app)?;
    }
    if let Some(unseen) = unseen {
        return Ok(show_unseen_commands(&unseen));
    }
    // What is typed may wait in the database for a moment, and nothing secret is kept there.
    if let Some(text) = &mut answer.text {
        *text = app.redactor().redact(text).into_owned();
    }
    for text in answer.answers.values_mut() {
        *text = app.redactor().redact(text).into_owned();
    }
    if store.lease_holder(&id)?.is_some() {
        match inbox::deliver_answer(&store, &id, request, &answer)? {
            AnswerDelivery::Taken => return report_answered(shared, &id, request),
            AnswerDelivery::Refused(why) => {
                return Err(CliProblem::failed(format!("the answer was turned down: {why}"))
                    .with_remedy(format!(
                        "look at it with: planwright sessions show {}",
                        id.short_id()
                    ))
                    .into());
            }
            AnswerDelivery::NoReaction => {
                return Err(CliProblem::failed("the process that works on it does not react")
                    .with_remedy("try again, or answer on its own screen")
                    .into());
            }
            // It left in the meantime: the answer waits for the next.
            AnswerDelivery::NobodyThere => {}
        }
    }
    // A run here is one that somebody has to start.
    if is_ticket && answer.action != ChoiceAction::ApproveAndRunHere {
        inbox::leave_answer(&store, &id, request, &answer)?;
        store.close();
        return report_to_agent(shared, &id, request);
    }
    leave_answer(shared, &store, &id, request, &answer)
}

/// What the command line asks for.
struct ResolvedAnswer {
    request: RequestId,
    answer: Answer,
    /// What must be shown before the answer is given.
    unseen: Option<Vec<String>>,
    /// Whether an agent of another program waits for it.
    is_ticket: bool,
}

/// Shows commands that were not named as seen, and how to approve them.
fn show_unseen_commands(lines: &[String]) -> CliExit {
    for line in lines {
        super::eprint_line(line);
    }
    CliExit::NeedsPerson
}

/// Approving a plan allows its commands: those that a model wrote have to be seen, and the revision proves it.
fn unseen_commands(
    id: &SessionId,
    request: &Request,
    answer: &Answer,
    state: &SessionState,
    args: &AnswerArgs,
) -> Option<Vec<String>> {
    let RequestKind::FinalPlan { hash, .. } = &request.kind else { return None };
    if !approves_drafted(request, answer.action, state) {
        return None;
    }
    let named = args.revision.as_deref();
    if named.is_some_and(|given| names_revision(given, hash)) {
        return None;
    }
    let mut lines = vec![match named {
        Some(given) => {
            format!(
                "nothing is approved: the plan is at revision {}, not {given}",
                hash.short_hex()
            )
        }
        None => "nothing is approved yet: a model wrote these commands of the plan".to_owned(),
    }];
    lines.extend(
        command_lines(&state.drafted_commands()).into_iter().map(|line| format!("  {line}")),
    );
    let reply = args.reply.join(" ");
    lines.extend(
        approval_command(id, request, &reply)
            .map(|command| format!("approve them with: {command}")),
    );
    Some(lines)
}

/// The request that is meant, and what the reply means for it.
fn resolve_answer(
    store: &Store,
    id: &SessionId,
    args: &AnswerArgs,
) -> anyhow::Result<ResolvedAnswer> {
    let state = {
        let mut history = app::session_history(store, id)?;
        let head = history.head_seq()?;
        history.state_at(head)?
    };
    let answered = store.answered_requests(id)?;
    let wanted = match args.request.as_str() {
        "next" => {
            let open = state.requests.open.keys().find(|id| !answered.contains(id));
            open.copied()
        }
        other => Some(other.parse::<RequestId>().map_err(|_| {
            CliProblem::usage(format!("`{other}` is not a question of this session"))
                .with_remedy("name one such as q2, or `next`")
        })?),
    };
    if let Some(request) = wanted.filter(|wanted| answered.contains(wanted)) {
        let short = id.short_id();
        let what = format!("request {request} of session {short} is answered already");
        let remedy = format!("continue with: planwright resume {short}");
        return Err(CliProblem::usage(what).with_remedy(remedy).into());
    }
    let open = wanted.and_then(|wanted| state.requests.open.get(&wanted));
    let Some(open) = open else {
        let open = state.requests.open.keys().filter(|id| !answered.contains(id));
        let waiting: Vec<String> = open.map(ToString::to_string).collect();
        let what = format!("request {} of session {} is not open", args.request, id.short_id());
        let remedy = match waiting.len() {
            0 => "nothing waits for an answer there".to_owned(),
            _ => format!("open are: {}", waiting.join(", ")),
        };
        return Err(CliProblem::usage(what).with_remedy(remedy).into());
    };
    let text = args.reply.join(" ");
    let answer = reply::parse_answer(&open.request, &text).map_err(|takes| {
        CliProblem::usage(format!("\"{text}\" does not answer {}", open.request.id))
            .with_remedy(takes)
    })?;
    if is_agent_request(&open.request.kind) && needs_words(&answer) {
        let what = format!("\"{text}\" does not answer {}", open.request.id);
        return Err(CliProblem::usage(what).with_remedy("say it in your own words").into());
    }
    let unseen = unseen_commands(id, &open.request, &answer, &state, args);
    let is_ticket = state.desk.is_ticket();
    Ok(ResolvedAnswer { request: open.request.id, answer, unseen, is_ticket })
}

/// Whether an agent waits for words of the person.
fn is_agent_request(kind: &RequestKind) -> bool {
    matches!(
        kind,
        RequestKind::AgentQuestion { .. }
            | RequestKind::PartlyDone { .. }
            | RequestKind::DeskQuestion { .. }
    )
}

/// Whether only the label of an answer in words was typed.
fn needs_words(answer: &Answer) -> bool {
    matches!(answer.action, ChoiceAction::Reply | ChoiceAction::RequestChanges)
        && answer.text.as_deref().unwrap_or_default().trim().is_empty()
}

/// The process that holds the session has the answer and goes on.
fn report_answered(
    shared: &SharedArgs,
    id: &SessionId,
    request: RequestId,
) -> anyhow::Result<CliExit> {
    let line = if shared.json {
        let line = AnsweredLine { session: id.clone(), answered: request, next: None };
        serde_json::to_string(&line)?
    } else {
        format!(
            "session {}: {request} is answered; the process that works on it continues",
            id.short_id()
        )
    };
    super::StdoutWriter::new().write_line(&line)?;
    Ok(CliExit::Success)
}

/// An agent of another program waits for it, or asks for it again.
fn report_to_agent(
    shared: &SharedArgs,
    id: &SessionId,
    request: RequestId,
) -> anyhow::Result<CliExit> {
    let line = if shared.json {
        let line = AnsweredLine { session: id.clone(), answered: request, next: None };
        serde_json::to_string(&line)?
    } else {
        format!("session {}: {request} is answered; its agent gets the answer", id.short_id())
    };
    super::StdoutWriter::new().write_line(&line)?;
    Ok(CliExit::Success)
}

/// Nobody works on the session: the answer waits for whoever resumes it.
fn leave_answer(
    shared: &SharedArgs,
    store: &Store,
    id: &SessionId,
    request: RequestId,
    answer: &Answer,
) -> anyhow::Result<CliExit> {
    inbox::leave_answer(store, id, request, answer)?;
    let short = id.short_id();
    let resume = format!("planwright resume {short}");
    let line = if shared.json {
        let (session, next) = (id.clone(), Some(resume));
        serde_json::to_string(&AnsweredLine { session, answered: request, next })?
    } else {
        format!(
            "session {short}: {request} is answered; no process runs this session, continue with: {resume}"
        )
    };
    super::StdoutWriter::new().write_line(&line)?;
    store.close();
    Ok(CliExit::Success)
}
