//! `planwright attach`: follows a run that another process works on, and controls it.

use clap::Args;
use tokio::sync::watch;

use super::guard::require_person;
use super::session::{block_on, open_session, print_summary, require_screen, session_exit};
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::session_actions::session_bookmarks;
use crate::app::{self, App, inbox};
use crate::headless::readable_lines::ReadableLines;
use crate::headless::record_json;
use planwright_model::{Seq, SessionId};
use planwright_state::SessionState;
use planwright_state::trace::TraceEntry;
use planwright_store::{LeaseHolder, Store};
use planwright_tui::{self as tui, ExitReason, SessionTarget, SessionView, UiSettings};

#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
}

pub(super) fn execute_attach(shared: &SharedArgs, args: &AttachArgs) -> anyhow::Result<CliExit> {
    require_person("attach to a run")?;
    require_screen(shared)?;
    let app = App::settings_only(shared)?;
    app.check_screen(shared)?;
    let (store, id) = open_session(&app, &args.session)?;
    let Some(holder) = store.lease_holder(&id)? else {
        let short = id.short_id();
        return Err(CliProblem::failed(format!("no process works on session {short} now"))
            .with_remedy(format!(
                "planwright resume {short} continues it, planwright replay {short} shows it"
            ))
            .into());
    };
    block_on(async {
        let exit = if shared.headless {
            print_new_records(shared, &store, &id).await
        } else {
            show_attached(shared, &app, &store, &id, &holder).await
        };
        store.close();
        exit
    })
}

/// The screen of a run elsewhere, and what its end means for the exit code.
async fn show_attached(
    shared: &SharedArgs,
    app: &App,
    store: &Store,
    id: &SessionId,
    holder: &LeaseHolder,
) -> anyhow::Result<CliExit> {
    let settings = app.watched_settings(shared)?;
    let exit = run_attached_screen(shared, app, store, (id, holder), &settings, None).await?;
    match exit.reason {
        ExitReason::Signal(signal) => Ok(CliExit::for_signal(signal)),
        _ if store.lease_holder(id)?.is_some() => Ok(CliExit::Success),
        _ => ended_exit(store, id),
    }
}

/// Shows a run elsewhere until its screen is left. What is done on it goes to the process that works on the run.
pub(super) async fn run_attached_screen(
    shared: &SharedArgs,
    app: &App,
    store: &Store,
    (id, holder): (&SessionId, &LeaseHolder),
    settings: &UiSettings,
    target: Option<SessionTarget>,
) -> anyhow::Result<tui::SessionExit> {
    let (commands, forwarding) = inbox::open_command_channel(store, id);
    let followed = app::follow_session(store, id)?;
    let history = app::session_history(store, id)?;
    let view = SessionView {
        bookmarks: session_bookmarks(store, id)?,
        actions: Some(app.session_actions()?),
        target,
        commands: Some(commands),
        note: Some(format!("running in process {} on {}", holder.pid, holder.host)),
        sign_of_life: followed.sign_of_life,
        ..SessionView::new(id.clone(), history, followed.head)
    };
    let shown = if shared.plain {
        tui::run_plain(view, settings.time_zone.clone()).await
    } else {
        tui::run_session(view, settings).await
    };
    // The last command, such as the one that stops the run, is on its way before this process ends.
    forwarding.await?;
    print_summary(&shown);
    Ok(shown?)
}

fn ended_exit(store: &Store, id: &SessionId) -> anyhow::Result<CliExit> {
    let mut history = app::session_history(store, id)?;
    let head = history.head_seq()?;
    Ok(session_exit(&*history.state_at(head)?))
}

/// The same as lines, from now on until the process that works on the run has ended.
async fn print_new_records(
    shared: &SharedArgs,
    store: &Store,
    id: &SessionId,
) -> anyhow::Result<CliExit> {
    let mut head: watch::Receiver<Seq> = app::follow_session(store, id)?.head;
    let mut history = app::session_history(store, id)?;
    let seen = *head.borrow_and_update();
    let mut state = SessionState::clone(&*history.state_at(seen)?);
    let mut readable = ReadableLines::new(crate::config::time_zone());
    readable.fit_plan(&state);
    let mut out = StdoutWriter::new();
    loop {
        let is_over = head.changed().await.is_err();
        let last = if is_over { history.head_seq()? } else { *head.borrow_and_update() };
        loop {
            let records = history.records_after(state.seq, last)?;
            if records.is_empty() {
                break;
            }
            for record in &records {
                state.apply(record);
                if shared.json {
                    out.write_line(&record_json(id, record)?)?;
                    continue;
                }
                if readable.keep_skip(record) {
                    continue;
                }
                readable.take_skips(&state).iter().try_for_each(|line| out.write_line(line))?;
                if let Some(entry) = TraceEntry::from_record_in(record, &state) {
                    out.write_line(&readable.entry_line(&entry))?;
                }
            }
        }
        readable.take_skips(&state).iter().try_for_each(|line| out.write_line(line))?;
        if is_over {
            return ended_exit(store, id);
        }
    }
}
