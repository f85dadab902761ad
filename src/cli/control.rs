//! `planwright ps`, `stop`, `retry` and `skip`: runs of other processes, seen and controlled from any terminal.

use std::time::{Duration, Instant};

use clap::Args;
use jiff::Timestamp;

use super::guard::require_person;
use super::session::{block_on, open_session};
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::App;
use crate::app::inbox::{self, AnswerDelivery};
use planwright_model::event::{CloseReason, Command};
use planwright_model::{SessionId, TaskId};
use planwright_store::Store;
use planwright_text::clean_line;
use planwright_text::units::format_clock;
use planwright_tui::SILENCE;

/// How long a run may take to stop its tasks; they have two seconds to end by themselves.
const STOP_PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
pub(crate) struct PsArgs {}

#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// Stop only this task; the run goes on with the others
    task: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TaskControlArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// The task
    task: String,
    /// The tasks that depend on it as well
    #[arg(long)]
    with_dependents: bool,
}

/// Lists the sessions that processes work on.
pub(super) fn execute_ps(shared: &SharedArgs, _args: &PsArgs) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let mut out = StdoutWriter::new();
    let mut any = false;
    if let Some(store) = app.read_store()? {
        for info in store.list_sessions()? {
            let Some(holder) = store.lease_holder(&info.id)? else { continue };
            any = true;
            let summary = &info.summary;
            let life = store.last_sign_of_life(&info.id, &holder);
            let silent = life.map(|at| Timestamp::now().duration_since(at).unsigned_abs());
            let silent = silent.filter(|silent| *silent >= SILENCE).map(|silent| silent.as_secs());
            out.write_line(&if shared.json {
                serde_json::json!({
                    "session": info.id,
                    "pid": holder.pid,
                    "host": holder.host,
                    "since": holder.since,
                    "silent_seconds": silent,
                    "status": summary.status,
                    "done": summary.done,
                    "total": summary.total,
                    "open_requests": summary.open_requests,
                    "title": summary.title,
                })
                .to_string()
            } else {
                let note = silent.map_or(String::new(), |seconds| {
                    let ago = format_clock(Duration::from_secs(seconds));
                    format!("  (stopped responding {ago} ago)")
                });
                format!(
                    "{}  {:>7}  {:<10}  {:>9}  {}{note}",
                    info.id.short_id(),
                    holder.pid,
                    summary.status,
                    format!("{}/{}", summary.done, summary.total),
                    clean_line(&summary.title),
                )
            })?;
        }
    }
    if !any && !shared.json {
        out.write_line("no run is in progress")?;
    }
    Ok(CliExit::Success)
}

/// Stops a task of a run, or the run.
pub(super) fn execute_stop(shared: &SharedArgs, args: &StopArgs) -> anyhow::Result<CliExit> {
    require_person("stop a run")?;
    let app = App::settings_only(shared)?;
    let (store, id) = open_session(&app, &args.session)?;
    let short = id.short_id().to_owned();
    require_holder(&store, &id, &format!("nothing of session {short} runs"))?;
    let Some(task) = &args.task else {
        let close = Command::Close { why: CloseReason::Quit };
        inbox::post_command(&store, &id, &close)?;
        wait_until_left(&store, &id)?;
        return report_done(&format!(
            "session {short} is stopped; go on: planwright resume {short}"
        ));
    };
    let task = TaskId::from(task.as_str());
    let done = format!("{task} of session {short} is told to stop");
    deliver(&store, &id, &Command::CancelTask { task }, &done)
}

/// Runs a failed or skipped task again in a run that goes on.
pub(super) fn execute_retry(
    shared: &SharedArgs,
    args: &TaskControlArgs,
) -> anyhow::Result<CliExit> {
    require_person("retry a task")?;
    let app = App::settings_only(shared)?;
    let (store, id) = open_session(&app, &args.session)?;
    let short = id.short_id().to_owned();
    if store.lease_holder(&id)?.is_none() {
        return Err(CliProblem::failed(format!("no process works on session {short} now"))
            .with_remedy(format!("planwright resume {short} --retry failed runs what failed again"))
            .into());
    }
    let task = TaskId::from(args.task.as_str());
    let done = format!("{task} of session {short} runs again");
    let command = Command::RetryTask { task, with_dependents: args.with_dependents };
    deliver(&store, &id, &command, &done)
}

/// Gives up on a task.
pub(super) fn execute_skip(shared: &SharedArgs, args: &TaskControlArgs) -> anyhow::Result<CliExit> {
    require_person("skip a task")?;
    let app = App::settings_only(shared)?;
    let (store, id) = open_session(&app, &args.session)?;
    let task = TaskId::from(args.task.as_str());
    let done = format!("{task} of session {} is skipped", id.short_id());
    let command = Command::SkipTask { task, with_dependents: args.with_dependents };
    if store.lease_holder(&id)?.is_some() {
        return deliver(&store, &id, &command, &done);
    }
    block_on(async { app.send_command(&store, &id, command).await })?;
    report_done(&done)
}

fn require_holder(store: &Store, id: &SessionId, what: &str) -> anyhow::Result<()> {
    if store.lease_holder(id)?.is_some() {
        return Ok(());
    }
    Err(CliProblem::failed(what).with_remedy("planwright ps lists what runs").into())
}

fn deliver(
    store: &Store,
    id: &SessionId,
    command: &Command,
    done: &str,
) -> anyhow::Result<CliExit> {
    match inbox::deliver_command(store, id, command)? {
        AnswerDelivery::Taken => report_done(done),
        AnswerDelivery::Refused(why) => Err(CliProblem::failed(why)
            .with_remedy(format!("planwright sessions show {} lists its tasks", id.short_id()))
            .into()),
        AnswerDelivery::NobodyThere => Err(CliProblem::failed("the run has ended").into()),
        AnswerDelivery::NoReaction => {
            Err(CliProblem::failed("the process that works on it does not react")
                .with_remedy("planwright ps names the process")
                .into())
        }
    }
}

fn report_done(text: &str) -> anyhow::Result<CliExit> {
    StdoutWriter::new().write_line(text)?;
    Ok(CliExit::Success)
}

/// Waits until the process of a run has closed it in good order.
fn wait_until_left(store: &Store, id: &SessionId) -> anyhow::Result<()> {
    let begun = Instant::now();
    while let Some(holder) = store.lease_holder(id)? {
        if begun.elapsed() > STOP_PATIENCE {
            return Err(CliProblem::failed(format!("{holder} does not stop"))
                .with_remedy(format!("end it with: kill {}", holder.pid))
                .into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
