//! `planwright sessions`: what is saved.

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Exit, Out, Shared};
use crate::app::{self, App};
use crate::model::Seq;
use crate::state::result::ExecutionResult;
use crate::state::{AgentProgress, SessionState, TaskStatus};
use crate::store::SessionInfo;
use crate::text;

#[derive(Debug, Args)]
pub struct SessionsArgs {
    #[command(subcommand)]
    what: Option<SessionsCommand>,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// All saved sessions, the last used first
    List,
    /// One session: its tasks and what became of them
    Show {
        /// The session: its id, a unique prefix, or `last`
        session: String,
        /// The result of the run with the traces of all attempts, as JSON
        #[arg(long)]
        result: bool,
    },
}

pub(super) fn sessions(shared: &Shared, args: &SessionsArgs) -> anyhow::Result<Exit> {
    match &args.what {
        None | Some(SessionsCommand::List) => list(shared),
        Some(SessionsCommand::Show { session, result: false }) => show(shared, session),
        Some(SessionsCommand::Show { session, result: true }) => result(shared, session),
    }
}

pub(super) fn list(shared: &Shared) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let mut out = Out::new();
    let Some(store) = app.read_store()? else {
        if !shared.json {
            out.line("no saved sessions yet; planwright run plan.toml makes one")?;
        }
        return Ok(Exit::Success);
    };
    for info in store.list_sessions()? {
        out.line(&if shared.json { list_json(&info).to_string() } else { list_line(&info) })?;
    }
    Ok(Exit::Success)
}

fn list_json(info: &SessionInfo) -> serde_json::Value {
    json!({
        "id": info.id,
        "title": info.summary.title,
        "status": info.summary.status,
        "done": info.summary.done,
        "total": info.summary.total,
        "tokens": info.summary.tokens,
        "cost_usd": info.summary.cost.0 as f64 / 1e6,
        "open_requests": info.summary.open_requests,
        "events": info.head,
        "workspace": info.summary.workspace,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
    })
}

fn list_line(info: &SessionInfo) -> String {
    let summary = &info.summary;
    let when = info.updated_at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M");
    format!(
        "{}  {:<11}  {:>9}  {when}  {}",
        info.id.short(),
        summary.status,
        format!("{}/{}", summary.done, summary.total),
        text::clean_line(&summary.title),
    )
}

fn show(shared: &Shared, name: &str) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::no_session(name)) };
    let id = app::find(&store, name)?;
    let info = store.session(&id)?;
    let mut history = app::history(&store, &id)?;
    let head = history.head()?;
    let state = history.state_at(head)?;
    let mut out = Out::new();
    if shared.json {
        out.line(&show_json(&info, &state).to_string())?;
    } else {
        for line in show_lines(&info, &state) {
            out.line(&line)?;
        }
    }
    Ok(Exit::Success)
}

fn result(shared: &Shared, name: &str) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::no_session(name)) };
    let id = app::find(&store, name)?;
    let mut history = app::history(&store, &id)?;
    let mut records = Vec::new();
    while let Some(record) = history.record(Seq(records.len() as u64 + 1))? {
        records.push(record);
    }
    Out::new().line(&serde_json::to_string(&ExecutionResult::of(&records))?)?;
    Ok(Exit::Success)
}

fn show_json(info: &SessionInfo, state: &SessionState) -> serde_json::Value {
    let now = state.at.unwrap_or_default();
    let tasks: Vec<serde_json::Value> = state
        .tasks
        .iter()
        .map(|(id, row)| {
            json!({
                "id": id,
                "status": row.status,
                "attempt": row.attempt,
                "elapsed_ms": row.elapsed_ms(now),
                "started_at": row.started_at,
                "finished_at": row.finished_at,
                "failure": row.failure,
                "note": row.note,
                "agent": state.agents.get(id).map(|agent| json!({
                    "state": agent.state(),
                    "iteration": agent.iteration(),
                    "calls": agent.calls,
                    "tokens": agent.tokens,
                    "doing": agent.doing,
                    "answer": agent.answer,
                })),
            })
        })
        .collect();
    let mut object = list_json(info);
    object["plan"] = json!(state.plan.revisions.last());
    object["approval"] = json!(state.plan.approval);
    object["requests"] = json!(state.requests.open.values().collect::<Vec<_>>());
    object["tasks"] = json!(tasks);
    object["anomalies"] = json!(state.totals.anomalies);
    object
}

fn show_lines(info: &SessionInfo, state: &SessionState) -> Vec<String> {
    let now = state.at.unwrap_or_default();
    let mut lines = vec![
        text::clean_line(&info.summary.title).into_owned(),
        format!("session {}  {}  {} events", info.id, info.summary.status, info.head),
        format!("workspace {}", text::clean_line(&info.summary.workspace)),
    ];
    if let Some(current) = &state.plan.current {
        lines.push(format!("plan r{} {}", current.revision, current.hash.short()));
        lines.push(String::new());
        let widest = current
            .plan
            .tasks
            .iter()
            .map(|task| text::display_width(task.id.as_str()))
            .max()
            .unwrap_or(0)
            .min(24);
        for (node, (id, row)) in current.plan.tasks.iter().zip(state.tasks.iter()) {
            let id = text::pad_right(&text::clean_line(id.as_str()), widest).into_owned();
            let time = row
                .elapsed_ms(now)
                .map(|ms| text::units::elapsed(std::time::Duration::from_millis(ms)))
                .unwrap_or_default();
            let why = match (row.status, &row.failure) {
                (TaskStatus::Skipped(reason), _) => format!("  {}", reason.as_str()),
                (TaskStatus::Failed, Some(failure)) => {
                    format!("  {}", text::clean_line(&failure.message))
                }
                _ => String::new(),
            };
            lines.push(format!(
                "{id}  {:<8} {time:>7}  {}{why}",
                row.status.word(),
                text::clean_line(&node.description)
            ));
            if let Some(steps) = state.agents.get(&node.id).and_then(AgentProgress::words) {
                lines.push(format!("{:widest$}  {}", "", text::clean_line(&steps)));
            }
        }
    }
    let questions = crate::headless::open_questions(state);
    if !questions.is_empty() {
        lines.push(String::new());
        lines.extend(questions);
    }
    lines
}
