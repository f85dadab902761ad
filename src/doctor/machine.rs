//! The store, the terminal and the clock.

use std::path::Path;

use jiff::Timestamp;

use super::Check;
use crate::store::{Depth, OpenMode, Store, StoreError};
use crate::text::units;

/// What is known about the terminal, gathered by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalFacts {
    pub is_terminal: bool,
    pub size: Option<(u16, u16)>,
    pub term: Option<String>,
    pub true_color: bool,
    pub utf8: bool,
}

/// Whether the store can be opened and is whole. Reads only.
pub fn store(dir: &Path) -> Check {
    let store = match Store::open(dir, OpenMode::ReadOnly) {
        Ok(store) => store,
        Err(StoreError::Missing { .. }) => {
            return Check::ok(
                "store",
                format!("nothing saved yet; it will be in {}", dir.display()),
            );
        }
        Err(error) => return Check::fail("store", error.to_string(), error.hint()),
    };
    let sessions = match store.list_sessions() {
        Ok(sessions) => sessions.len(),
        Err(error) => return Check::fail("store", error.to_string(), error.hint()),
    };
    match store.integrity(Depth::Quick) {
        Ok(report) if report.problems.is_empty() => {
            Check::ok("store", format!("{sessions} sessions in {}, no damage found", dir.display()))
        }
        Ok(report) => Check::fail(
            "store",
            format!("{}: {}", dir.display(), report.problems.join("; ")),
            "copy the directory away before anything else, then export what can be read",
        ),
        Err(error) => Check::fail("store", error.to_string(), error.hint()),
    }
}

/// Whether the screens will look right.
pub fn terminal(facts: &TerminalFacts) -> Check {
    if !facts.is_terminal {
        let next = "run it in a terminal for the screens, or with --headless";
        return Check::warn("terminal", "standard output is not a terminal", next);
    }
    let size = facts
        .size
        .map_or_else(|| "unknown size".to_owned(), |(wide, high)| format!("{wide}x{high}"));
    let colors = if facts.true_color { "true colour" } else { "16 colours" };
    let term = facts.term.as_deref().unwrap_or("TERM is not set");
    let what = format!("{size}, {colors}, {term}");
    if facts.size.is_some_and(|(wide, high)| wide < 60 || high < 16) {
        return Check::warn("terminal", what, "make the window at least 60x16, better 80x24");
    }
    if !facts.utf8 {
        let what = format!("{what}; the locale is not UTF-8, boxes are drawn in ASCII");
        return Check::warn("terminal", what, "set LANG to a UTF-8 locale");
    }
    Check::ok("terminal", what)
}

/// Whether the clock can be believed: nothing saved lies in its future.
pub fn clock(dir: &Path, now: Timestamp, zone: &str) -> Check {
    let newest = Store::open(dir, OpenMode::ReadOnly)
        .ok()
        .and_then(|store| store.list_sessions().ok())
        .and_then(|sessions| sessions.iter().map(|session| session.updated_at).max());
    match newest {
        Some(newest) if newest > now => {
            let ahead = newest.duration_since(now).unsigned_abs().as_secs();
            let what = format!(
                "the newest session was saved {} in the future",
                units::elapsed(std::time::Duration::from_secs(ahead))
            );
            Check::warn("clock", what, "check date and time of this machine")
        }
        _ => {
            Check::ok("clock", format!("{}, time zone {zone}", now.strftime("%Y-%m-%d %H:%M UTC")))
        }
    }
}
