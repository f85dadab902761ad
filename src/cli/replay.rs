//! `planwright replay`: scrub through a saved run. Nothing is run.

use clap::Args;

use super::session::{block_on, needs_screen};
use super::{Exit, Problem, Shared};
use crate::app::{self, App};
use crate::headless::readable;
use crate::model::Seq;
use crate::state::trace::TraceEntry;
use crate::tui::{ExitReason, SessionView};

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// Start at this event
    #[arg(long, value_name = "N")]
    at: Option<u64>,
}

pub(super) fn replay(shared: &Shared, args: &ReplayArgs) -> anyhow::Result<Exit> {
    needs_screen(shared)?;
    let app = App::settings_only(shared)?;
    app.check_screen(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::no_session(&args.session)) };
    let id = app::find(&store, &args.session)?;
    let mut history = app::history(&store, &id)?;
    let head = history.head()?;
    if let Some(at) = args.at
        && (at == 0 || at > head.0)
    {
        return Err(Problem::usage(format!(
            "session {} has events 1 to {head}, not {at}",
            id.short()
        ))
        .into());
    }
    if shared.headless {
        return print(shared, &mut history, args.at.map_or(head, Seq));
    }
    let settings = app.ui_settings()?;
    block_on(async {
        let view = SessionView {
            head: app::follow(&store, &id)?,
            id,
            history,
            bookmarks: Vec::new(),
            commands: None,
            start_at: args.at.map(Seq),
            note: None,
        };
        let exit = app::show(view, &settings).await?;
        Ok(match exit.reason {
            ExitReason::Signal(signal) => Exit::for_signal(signal),
            _ => Exit::Success,
        })
    })
}

/// The same as lines, up to an event.
fn print(shared: &Shared, history: &mut crate::replay::History, upto: Seq) -> anyhow::Result<Exit> {
    let mut out = super::Out::new();
    let zone = jiff::tz::TimeZone::system();
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
