//! `planwright replay`: scrub through a saved run. Nothing is run.

use std::path::Path;

use clap::Args;

use super::import::{self, ImportedFile};
use super::session::{block_on, require_screen};
use super::{CliExit, SharedArgs};
use crate::app::{self, App};
use crate::headless::readable_lines::ReadableLines;
use planwright_model::event::{Event, Record};
use planwright_model::{Seq, SessionId};
use planwright_state::replay::{History, MemorySource};
use planwright_state::trace::TraceEntry;
use planwright_store::{ImportedEvent, SessionEventSource as _};
use planwright_tui::{EventBookmark, ExitReason, SessionView};

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The session: its id, a unique prefix, or `last`; or a file that could be imported
    #[arg(value_name = "SESSION|FILE")]
    session: String,
    /// Start at this event
    #[arg(long, value_name = "N")]
    at: Option<u64>,
}

pub(super) fn execute_replay(shared: &SharedArgs, args: &ReplayArgs) -> anyhow::Result<CliExit> {
    require_screen(shared)?;
    let app = App::settings_only(shared)?;
    app.check_screen(shared)?;
    let file = Path::new(&args.session);
    let mut header_marks = Vec::new();
    let (id, mut history, live) = if file.exists() {
        let (id, records, marks) = file_records(&app, file)?;
        header_marks = marks;
        (id, History::new(MemorySource::new(records)), None)
    } else {
        let Some(store) = app.read_store()? else {
            return Err(app::unknown_session_error(&args.session));
        };
        let id = app::find_session(&store, &args.session)?;
        (id.clone(), app::session_history(&store, &id)?, Some(store))
    };
    let head = history.head_seq()?;
    if let Some(at) = args.at
        && (at == 0 || at > head.0)
    {
        return Err(app::unknown_event_error(&id, head, at));
    }
    if shared.headless {
        return print_records(shared, &id, &mut history, args.at.map_or(head, Seq));
    }
    let marks = match &live {
        Some(store) => app::session_actions::session_bookmarks(store, &id)?,
        None => header_marks,
    };
    let made = block_on(async {
        let settings = app.watched_settings(shared)?;
        let (head, note, sign_of_life) = match &live {
            Some(store) => {
                let followed = app::follow_session(store, &id)?;
                (followed.head, app::watch_note(store, &id)?, followed.sign_of_life)
            }
            // A file does not grow; the sender may go.
            None => (tokio::sync::watch::channel(head).1, None, None),
        };
        let view = SessionView {
            bookmarks: marks,
            actions: live.is_some().then(|| app.session_actions()).transpose()?,
            start_at: args.at.map(Seq),
            note,
            sign_of_life,
            ..SessionView::new(id, history, head)
        };
        let exit = app::show_session(view, &settings).await?;
        match exit.reason {
            ExitReason::Signal(signal) => Ok(Err(CliExit::for_signal(signal))),
            _ => Ok(Ok(exit.open)),
        }
    })?;
    match made {
        Err(exit) => Ok(exit),
        Ok(None) => Ok(CliExit::Success),
        // A fork that was made there is looked at next.
        Ok(Some(made)) => super::run::open_saved_session(shared, &app, made.as_str()),
    }
}

/// The records of a file, read as an import would and kept nowhere.
fn file_records(
    app: &App,
    file: &Path,
) -> anyhow::Result<(SessionId, Vec<Record>, Vec<EventBookmark>)> {
    let (mut records, mut marks) = (Vec::new(), Vec::new());
    let id = match import::read_import(file, app).map_err(|error| import::import_problem(&error))? {
        ImportedFile::Records { records: told, .. } => {
            records = told;
            SessionId::new("file")
        }
        ImportedFile::Export(export) => {
            let id = SessionId::new(&*export.header.session);
            let (_, _, kept, mut incoming) = export.into_parts(id.clone());
            marks.extend(
                kept.into_iter().map(|mark| EventBookmark { seq: mark.seq, note: mark.note }),
            );
            while let Some(ImportedEvent { row, .. }) =
                incoming.next_event().map_err(|error| import::import_problem(&error))?
            {
                let event = Event::decode(&row.payload)?;
                records.push(Record { seq: row.seq, at: row.at, event });
            }
            id
        }
    };
    Ok((id, records, marks))
}

/// The same as lines, up to an event.
pub(super) fn print_records(
    shared: &SharedArgs,
    session: &SessionId,
    history: &mut History,
    upto: Seq,
) -> anyhow::Result<CliExit> {
    let mut out = super::StdoutWriter::new();
    let mut readable = ReadableLines::new(crate::config::time_zone());
    readable.fit_plan(&*history.state_at(upto)?);
    for number in 1..=upto.0 {
        let Some(record) = history.record_at(Seq(number))? else { break };
        if shared.json {
            out.write_line(&crate::headless::record_json(session, &record)?)?;
        } else if let Some(entry) = TraceEntry::from_record(&record) {
            out.write_line(&readable.entry_line(&entry))?;
        }
    }
    Ok(CliExit::Success)
}
