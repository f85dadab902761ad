//! Finding saved sessions, reading their past, and following one that another process writes.

use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

use crate::console::CliProblem;
use planwright_model::{Seq, SessionId};
use planwright_state::replay::History;
use planwright_store::journal_source::JournalSource;
use planwright_store::{FindError, LeaseHolder, Store};

/// The past of a saved session.
pub(crate) fn session_history(store: &Store, id: &SessionId) -> anyhow::Result<History> {
    Ok(History::new(JournalSource::new(store.reader()?, id.clone())))
}

/// Finds the session a person named.
pub(crate) fn find_session(store: &Store, name: &str) -> anyhow::Result<SessionId> {
    match store.find_session(name) {
        Ok(id) => Ok(id),
        Err(FindError::None { name }) => Err(unknown_session_error(&name)),
        Err(FindError::Several { name, matches }) => {
            let ids: Vec<&str> = matches.iter().map(SessionId::as_str).collect();
            Err(CliProblem::usage(format!("{} sessions begin with `{name}`", ids.len()))
                .with_remedy(format!("name more of the id: {}", ids.join(", ")))
                .into())
        }
        Err(FindError::Store(error)) => Err(error.into()),
    }
}

/// The answer to a name that no session has.
pub(crate) fn unknown_session_error(name: &str) -> anyhow::Error {
    let problem = if name == "last" {
        CliProblem::usage("there is no saved session yet")
            .with_remedy("start one with planwright \"your goal\" or planwright run plan.toml")
    } else {
        let what = if name.contains(['.', '/']) {
            format!("there is no file `{name}`, and no session whose id begins like that")
        } else {
            format!("no session begins with `{name}`")
        };
        CliProblem::usage(what).with_remedy("planwright sessions list lists all sessions")
    };
    problem.into()
}

/// The answer to the number of an event that a session does not have.
pub(crate) fn unknown_event_error(id: &SessionId, head: Seq, number: u64) -> anyhow::Error {
    CliProblem::usage(format!("session {} has events 1 to {head}, not {number}", id.short_id()))
        .with_remedy(format!("planwright replay {} shows them with their numbers", id.short_id()))
        .into()
}

/// Who runs a session that is watched.
fn watched_words(holder: &LeaseHolder) -> String {
    format!("running in process {} on {}; read-only", holder.pid, holder.host)
}

/// What to say of a session that another process works on; `None` if nobody does.
pub(crate) fn watch_note(store: &Store, id: &SessionId) -> anyhow::Result<Option<String>> {
    Ok(store.lease_holder(id)?.map(|holder| watched_words(&holder)))
}

/// A session that is followed, whoever works on it.
#[derive(Debug)]
pub(crate) struct FollowedSession {
    /// The number of its last durable event. Closed once nobody works on it any more.
    pub(crate) head: watch::Receiver<Seq>,
    /// When the process that works on it was last at work, where one does; `None` while it has not told.
    pub(crate) sign_of_life: Option<watch::Receiver<Option<Timestamp>>>,
}

/// How often it is looked whether there is more: so often that output is on an attached screen within 50 ms of being written.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(30);

/// Follows a session that another process may write. A look costs a page of the database.
pub(crate) fn follow_session(store: &Store, id: &SessionId) -> anyhow::Result<FollowedSession> {
    let (head_in, head) = watch::channel(store.session_info(id)?.head);
    let Some(holder) = store.lease_holder(id)? else {
        // Nobody writes it: a saved run costs nothing while it is looked at.
        return Ok(FollowedSession { head, sign_of_life: None });
    };
    let (life_in, sign_of_life) = watch::channel(store.last_sign_of_life(id, &holder));
    let mut session = store.reader()?.watch_session(id.clone());
    let (store, id) = (store.clone(), id.clone());
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(FOLLOW_INTERVAL);
        let mut is_written = true;
        // The last look comes after the writer has left, so that nothing it wrote is missed.
        while is_written && !head_in.is_closed() {
            ticks.tick().await;
            let polled = session.writer().and_then(|writer| {
                is_written = writer.is_some();
                let seen = writer.and_then(|writer| store.last_sign_of_life(&id, &writer));
                life_in.send_if_modified(|known| std::mem::replace(known, seen) != seen);
                session.poll_head()
            });
            match polled {
                Ok(Some(head)) => {
                    head_in.send_replace(head);
                }
                Ok(None) => {}
                // The screen keeps what it shows; the log tells why it no longer moves.
                Err(error) => {
                    tracing::error!(%error, "following the session ended");
                    return;
                }
            }
        }
    });
    Ok(FollowedSession { head, sign_of_life: Some(sign_of_life) })
}
