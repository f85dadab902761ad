//! `planwright replay`: scrub through a saved run. Nothing is run.

use std::path::Path;

use clap::Args;

use super::import::{self, Read};
use super::session::{block_on, needs_screen};
use super::{Exit, Shared};
use crate::app::{self, App};
use crate::headless::readable;
use planwright_model::event::{Event, Record};
use planwright_model::{Seq, SessionId};
use planwright_state::replay::{History, MemorySource};
use planwright_state::trace::TraceEntry;
use planwright_store::{Arrival, Incoming as _};
use planwright_tui::{Bookmark, ExitReason, SessionView};

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The session: its id, a unique prefix, or `last`; or a file that could be imported
    #[arg(value_name = "SESSION|FILE")]
    session: String,
    /// Start at this event
    #[arg(long, value_name = "N")]
    at: Option<u64>,
}

pub(super) fn replay(shared: &Shared, args: &ReplayArgs) -> anyhow::Result<Exit> {
    needs_screen(shared)?;
    let app = App::settings_only(shared)?;
    app.check_screen(shared)?;
    let file = Path::new(&args.session);
    let mut header_marks = Vec::new();
    let (id, mut history, live) = if file.exists() {
        let (id, records, marks) = file_records(&app, file)?;
        header_marks = marks;
        (id, History::new(MemorySource::new(records)), None)
    } else {
        let Some(store) = app.read_store()? else { return Err(app::no_session(&args.session)) };
        let id = app::find(&store, &args.session)?;
        (id.clone(), app::history(&store, &id)?, Some(store))
    };
    let head = history.head()?;
    if let Some(at) = args.at
        && (at == 0 || at > head.0)
    {
        return Err(app::no_event(&id, head, at));
    }
    if shared.headless {
        return print(shared, &mut history, args.at.map_or(head, Seq));
    }
    let marks = match &live {
        Some(store) => app::desk::bookmarks(store, &id)?,
        None => header_marks,
    };
    let made = block_on(async {
        let settings = app.watched_settings(shared)?;
        let view = SessionView {
            head: match &live {
                Some(store) => app::follow(store, &id)?,
                // A file does not grow; the sender may go.
                None => tokio::sync::watch::channel(head).1,
            },
            id,
            history,
            bookmarks: marks,
            desk: live.is_some().then(|| app.desk()).transpose()?,
            asks_fork: false,
            commands: None,
            start_at: args.at.map(Seq),
            note: None,
        };
        let exit = app::show(view, &settings).await?;
        match exit.reason {
            ExitReason::Signal(signal) => Ok(Err(Exit::for_signal(signal))),
            _ => Ok(Ok(exit.open)),
        }
    })?;
    match made {
        Err(exit) => Ok(exit),
        Ok(None) => Ok(Exit::Success),
        // A fork that was made there is looked at next.
        Ok(Some(made)) => super::run::open_saved(shared, &app, made.as_str()),
    }
}

/// The records of a file, read as an import would and kept nowhere.
fn file_records(app: &App, file: &Path) -> anyhow::Result<(SessionId, Vec<Record>, Vec<Bookmark>)> {
    let (mut records, mut marks) = (Vec::new(), Vec::new());
    let id = match import::read(file, app).map_err(|error| import::problem(&error))? {
        Read::Told { records: told, .. } => {
            records = told;
            SessionId::new("file")
        }
        Read::Export(export) => {
            let id = SessionId::new(&*export.header.session);
            let (_, _, kept, mut incoming) = export.into_parts(id.clone());
            marks.extend(kept.into_iter().map(|mark| Bookmark { seq: mark.seq, note: mark.note }));
            while let Some(Arrival { row, .. }) =
                incoming.next().map_err(|error| import::problem(&error))?
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
pub(super) fn print(shared: &Shared, history: &mut History, upto: Seq) -> anyhow::Result<Exit> {
    let mut out = super::Out::new();
    let zone = crate::config::time_zone();
    for number in 1..=upto.0 {
        let Some(record) = history.record(Seq(number))? else { break };
        if shared.json {
            out.line(&serde_json::to_string(&record)?)?;
        } else if let Some(entry) = TraceEntry::of(&record) {
            out.line(&readable(&entry, &zone))?;
        }
    }
    Ok(Exit::Success)
}
