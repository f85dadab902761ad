//! `planwright sessions`: what is saved.

mod retention;
mod search;
mod traces;

use std::collections::BTreeSet;

use clap::{Args, Subcommand};
use serde_json::json;

use super::guard::refuse_model;
use super::{CliExit, SharedArgs, StdoutWriter};
use crate::app::{self, App};
use planwright_engine::plan_rows::collect_plan_rows;
use planwright_model::{Seq, SessionId};
pub(super) use traces::session_records;

use planwright_state::execution_result::ExecutionResult;
use planwright_state::{AgentProgress, SessionState, SessionStatus, SkipRoots, TaskStatus};
use planwright_store::{SessionInfo, Store};
use planwright_text as text;

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    what: Option<SessionsCommand>,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// List all sessions, the last used first
    List {
        /// Only plans of this pattern: its type, its subtype, `type/subtype` or its variant
        #[arg(long, value_name = "PATTERN")]
        pattern: Option<String>,
    },
    /// Show a session: its tasks and their results
    Show {
        /// The session: its id, a unique prefix, or `last`
        session: String,
        /// The result of the run with the traces of all attempts, as JSON
        #[arg(long)]
        result: bool,
        /// Where the time went: slowest tasks and tools, waiting, and the chain that took longest
        #[arg(long)]
        profile: bool,
        /// One trace by its id
        #[arg(long, value_name = "TRACE")]
        trace: Option<String>,
        /// Only the steps of a trace that plan, research, debate or validate
        #[arg(long = "role", alias = "prdv", value_name = "ROLE", requires = "trace",
            value_parser = ["plan", "research", "debate", "validate"])]
        prdv: Option<String>,
    },
    /// List the traces of attempts, of one session or of all
    Traces {
        /// The session: its id, a unique prefix, or `last`
        session: Option<String>,
        /// Only tasks whose id matches; `*` matches anything
        #[arg(long, value_name = "PATTERN")]
        task: Option<String>,
    },
    /// Find steps by their words in all sessions
    Search(search::SessionSearchArgs),
    /// Check every event against its checksum
    Verify {
        /// The session [default: all of them]
        session: Option<String>,
    },
    /// Bookmark an event of a session, or remove a bookmark
    Bookmark {
        /// The session: its id, a unique prefix, or `last`
        session: String,
        /// The number of the event; without it the bookmarks are listed
        event: Option<u64>,
        /// What to remember about it
        note: Option<String>,
        /// Remove the bookmark
        #[arg(long)]
        remove: bool,
    },
    /// Delete sessions for good
    Rm {
        /// The sessions: their ids, or unique prefixes
        #[arg(required = true)]
        sessions: Vec<String>,
        /// Also free the disk space
        #[arg(long)]
        vacuum: bool,
    },
    /// Delete old sessions
    Prune {
        /// How long, such as 30d, 8w or 6mo
        #[arg(long, value_name = "AGE")]
        older_than: String,
        /// Also free the disk space
        #[arg(long)]
        vacuum: bool,
    },
}

pub(super) fn execute_sessions(
    shared: &SharedArgs,
    args: &SessionsArgs,
) -> anyhow::Result<CliExit> {
    match &args.what {
        None => list_sessions(shared, None),
        Some(SessionsCommand::List { pattern }) => list_sessions(shared, pattern.as_deref()),
        Some(SessionsCommand::Show { session, trace: Some(id), prdv, .. }) => {
            traces::show_trace(shared, session, id, prdv.as_deref())
        }
        Some(SessionsCommand::Show { session, profile: true, .. }) => {
            traces::show_profile(shared, session)
        }
        Some(SessionsCommand::Show { session, result: true, .. }) => print_result(shared, session),
        Some(SessionsCommand::Show { session, .. }) => show_session_details(shared, session),
        Some(SessionsCommand::Traces { session, task }) => {
            traces::list_traces(shared, session.as_deref(), task.as_deref())
        }
        Some(SessionsCommand::Search(args)) => search::execute_search(shared, args),
        Some(SessionsCommand::Verify { session }) => {
            traces::verify_sessions(shared, session.as_deref())
        }
        Some(SessionsCommand::Bookmark { session, event, note, remove }) => {
            edit_bookmarks(shared, session, *event, note.as_deref(), *remove)
        }
        Some(SessionsCommand::Rm { sessions, vacuum }) => {
            refuse_model("delete sessions")?;
            retention::remove_sessions(shared, sessions, *vacuum)
        }
        Some(SessionsCommand::Prune { older_than, vacuum }) => {
            refuse_model("delete sessions")?;
            retention::prune_sessions(shared, older_than, *vacuum)
        }
    }
}

/// Sets, removes or lists the marks of a session.
fn edit_bookmarks(
    shared: &SharedArgs,
    session: &str,
    event: Option<u64>,
    note: Option<&str>,
    remove: bool,
) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let store = app.open_store()?;
    let id = app::find_session(&store, session)?;
    if let Some(event) = event {
        refuse_model("change bookmarks")?;
        let head = store.session_info(&id)?.head;
        if event == 0 || event > head.0 {
            return Err(app::unknown_event_error(&id, head, event));
        }
        let note = app.redactor().redact(note.unwrap_or_default()).into_owned();
        store.set_bookmark(&id, Seq(event), (!remove).then_some(note.as_str()))?;
    }
    let mut out = StdoutWriter::new();
    for mark in store.reader()?.bookmarks(&id)? {
        out.write_line(&if shared.json {
            serde_json::to_string(&mark)?
        } else {
            format!("{:>8}  {}", mark.seq.to_string(), text::clean_line(&mark.note))
                .trim_end()
                .to_owned()
        })?;
    }
    Ok(CliExit::Success)
}

pub(super) fn list_sessions(shared: &SharedArgs, pattern: Option<&str>) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let mut out = StdoutWriter::new();
    let Some(store) = app.read_store()? else {
        if !shared.json {
            out.write_line("no saved sessions yet; start one with planwright run plan.toml")?;
        }
        return Ok(CliExit::Success);
    };
    let fitting = match pattern {
        Some(pattern) => Some(sessions_by_pattern(&app, &store, pattern)?),
        None => None,
    };
    for mut info in store.list_sessions()? {
        info.summary.status = shown_status(&store, &info);
        if fitting.as_ref().is_some_and(|fitting| !fitting.contains(&info.id)) {
            continue;
        }
        out.write_line(&if shared.json {
            session_json(&info).to_string()
        } else {
            session_line(&info)
        })?;
    }
    Ok(CliExit::Success)
}

/// The status as it is called now. What a killed process left is stopped, not running.
fn shown_status(store: &Store, info: &SessionInfo) -> String {
    let Some(status) = SessionStatus::from_label(&info.summary.status) else {
        return info.summary.status.clone();
    };
    // A lease that cannot be read says nothing against the process.
    let alone = matches!(store.lease_holder(&info.id), Ok(None));
    let status = if alone { status.without_process() } else { status };
    status.label().to_owned()
}

/// Sessions by the pattern of their plan. Plans that are not in the table yet are made from the journal first.
fn sessions_by_pattern(
    app: &App,
    store: &Store,
    pattern: &str,
) -> anyhow::Result<BTreeSet<SessionId>> {
    let missing = store.reader()?.unprojected_sessions()?;
    if !missing.is_empty() {
        let writing = app.open_store()?;
        for id in missing {
            let rows = collect_plan_rows(&session_records(&writing, &id)?);
            writing.rebuild_plans(&id, rows)?;
        }
        writing.close();
    }
    Ok(store.reader()?.sessions_by_pattern(pattern)?.into_iter().collect())
}

fn session_json(info: &SessionInfo) -> serde_json::Value {
    json!({
        "id": info.id,
        "title": info.summary.title,
        "status": info.summary.status,
        "pattern": info.summary.pattern,
        "done": info.summary.done,
        "total": info.summary.total,
        "tokens": info.summary.tokens,
        "cost_usd": info.summary.cost.0 as f64 / 1e6,
        "open_requests": info.summary.open_requests,
        "events": info.head,
        "workspace": info.summary.workspace,
        "parent": info.parent.as_ref().map(|point| json!({"session": point.session, "event": point.seq})),
        "imported_from": info.imported,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
    })
}

fn session_line(info: &SessionInfo) -> String {
    let summary = &info.summary;
    let when = info.updated_at.to_zoned(crate::config::time_zone()).strftime("%Y-%m-%d %H:%M");
    format!(
        "{}  {:<11}  {:>9}  {when}  {}",
        info.id.short_id(),
        summary.status,
        format!("{}/{}", summary.done, summary.total),
        text::clean_line(&summary.title),
    )
}

fn show_session_details(shared: &SharedArgs, name: &str) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::unknown_session_error(name)) };
    let id = app::find_session(&store, name)?;
    let mut info = store.session_info(&id)?;
    info.summary.status = shown_status(&store, &info);
    let mut history = app::session_history(&store, &id)?;
    let head = history.head_seq()?;
    let state = history.state_at(head)?;
    let result = ExecutionResult::from_records(&session_records(&store, &id)?);
    let mut out = StdoutWriter::new();
    if shared.json {
        let mut object = session_details_json(&info, &state);
        object["success_rate"] = json!(result.success_rate);
        object["average_task_time_ms"] = json!(result.average_task_time_ms);
        object["trace_confidence"] = json!(result.trace_confidence);
        out.write_line(&object.to_string())?;
    } else {
        for line in session_details_lines(&info, &state) {
            out.write_line(&line)?;
        }
        for line in result_lines(&result).into_iter().chain(week_lines(&state)) {
            out.write_line(&line)?;
        }
    }
    Ok(CliExit::Success)
}

fn print_result(shared: &SharedArgs, name: &str) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::unknown_session_error(name)) };
    let id = app::find_session(&store, name)?;
    let records = session_records(&store, &id)?;
    StdoutWriter::new()
        .write_line(&serde_json::to_string(&ExecutionResult::from_records(&records))?)?;
    Ok(CliExit::Success)
}

/// How the run did: the share of tasks that succeeded, how long they took, how sure their results are.
fn result_lines(result: &ExecutionResult) -> Vec<String> {
    let ran = result.completed_tasks.len() + result.failed_tasks.len();
    if ran == 0 {
        return Vec::new();
    }
    let mean = std::time::Duration::from_secs_f64(result.average_task_time_ms.max(0.0) / 1e3);
    let sure: Vec<f64> = result.trace_confidence.values().copied().collect();
    let confidence = match sure.len() {
        0 => String::new(),
        count => format!(", confidence {:.2}", sure.iter().sum::<f64>() / count as f64),
    };
    vec![
        String::new(),
        format!(
            "{:.0} % of {} that ran succeeded, {} on average{confidence}",
            result.success_rate * 100.0,
            text::units::format_counted(ran, "task"),
            text::units::format_elapsed(mean),
        ),
    ]
}

fn session_details_json(info: &SessionInfo, state: &SessionState) -> serde_json::Value {
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
                    "state": agent.task_state(),
                    "iteration": agent.iteration(),
                    "calls": agent.calls,
                    "tokens": agent.tokens,
                    "doing": agent.doing,
                    "answer": agent.answer,
                })),
            })
        })
        .collect();
    let mut object = session_json(info);
    object["plan"] = json!(state.plan.revisions.last());
    object["approval"] = json!(state.plan.approval);
    object["requests"] = json!(state.requests.open.values().collect::<Vec<_>>());
    object["tasks"] = json!(tasks);
    object["drafted_commands"] = json!(crate::headless::drafted_commands(state));
    object["anomalies"] = json!(state.totals.anomalies);
    object["weeks"] = json!(state.planning.schedule.as_deref().map(|made| &made.capacity));
    object["overlaps"] = json!(state.planning.overlaps);
    object
}

/// How full the weeks of a plan are, with what the person's other plans took of them when it was drafted.
fn week_lines(state: &SessionState) -> Vec<String> {
    let planned = |minutes: u32| text::units::format_planned(minutes.into());
    let weeks = state.planning.schedule.iter().flat_map(|schedule| &schedule.capacity);
    let mut lines: Vec<String> = weeks
        .map(|week| {
            let others = match week.other_minutes {
                0 => String::new(),
                other => format!(", {} of other plans", planned(other)),
            };
            let (own, all) = (planned(week.planned_minutes), planned(week.available_minutes));
            format!("week {}  {own} of {all}{others}, {:.0} % full", week.week, week.utilization)
        })
        .collect();
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

fn session_details_lines(info: &SessionInfo, state: &SessionState) -> Vec<String> {
    let now = state.at.unwrap_or_default();
    let mut lines = vec![
        text::clean_line(&info.summary.title).into_owned(),
        format!("session {}  {}  {} events", info.id, info.summary.status, info.head),
        format!("workspace {}", text::clean_line(&info.summary.workspace)),
    ];
    if let Some(current) = &state.plan.current {
        let draft = state.draft_number();
        lines.push(format!("plan draft {draft}, {}", current.hash.short_hex()));
        if let Some(rationale) = &current.plan.rationale {
            lines.push(format!("rationale {}", text::clean_line(rationale)));
        }
        lines.push(String::new());
        let widest = current
            .plan
            .tasks
            .iter()
            .map(|task| text::display_width(task.id.as_str()))
            .max()
            .unwrap_or(0)
            .min(24);
        let skips = SkipRoots::from_tasks(&state.tasks);
        for (at, (node, (id, row))) in current.plan.tasks.iter().zip(state.tasks.iter()).enumerate()
        {
            let id = text::pad_right(&text::clean_line(id.as_str()), widest).into_owned();
            let time = row
                .elapsed_ms(now)
                .map(|ms| text::units::format_elapsed(std::time::Duration::from_millis(ms)))
                .unwrap_or_default();
            let why = match (row.status, &row.failure) {
                (TaskStatus::Skipped(reason), _) => {
                    format!("  {}", text::clean_line(&state.describe_skip(&skips, at, reason)))
                }
                (TaskStatus::Failed, Some(failure)) => {
                    format!("  {}", text::clean_line(&failure.message))
                }
                _ => String::new(),
            };
            lines.push(format!(
                "{id}  {:<8} {time:>7}  {}{why}",
                row.status.label(),
                text::clean_line(&node.description)
            ));
            if let Some(steps) = state.agents.get(&node.id).and_then(AgentProgress::summary_line) {
                lines.push(format!("{:widest$}  {}", "", text::clean_line(&steps)));
            }
        }
    }
    let questions = crate::headless::open_questions(&info.id, state);
    if !questions.is_empty() {
        lines.push(String::new());
        lines.extend(questions);
    }
    lines
}
