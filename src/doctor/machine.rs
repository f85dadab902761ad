//! The terminal, the config, the store and the clock.

use std::path::Path;

use jiff::Timestamp;

use super::DoctorCheck;
use crate::diagnostics::LogFilter;
use planwright_store::{CheckDepth, OpenMode, SCHEMA_VERSION, Store, StoreError};
use planwright_text::units;

/// What is known about the terminal, gathered by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TerminalFacts {
    pub is_terminal: bool,
    pub size: Option<(u16, u16)>,
    pub term: Option<String>,
    pub true_color: bool,
    pub no_color: bool,
    pub utf8: bool,
    /// How many cells a box-drawing line takes, where the terminal said so.
    pub line_width: Option<u16>,
}

/// Whether the store can be opened and is whole, how large it is, and of which version. Reads only.
pub(crate) fn check_store(dir: &Path) -> Vec<DoctorCheck> {
    let failed =
        |error: StoreError| vec![DoctorCheck::fail("store", error.to_string(), error.hint())];
    let store = match Store::open(dir, OpenMode::ReadOnly) {
        Ok(store) => store,
        Err(StoreError::Missing { .. }) => return vec![check_missing_store(dir)],
        Err(StoreError::Older { found, known, .. }) => {
            let what = format!("{} has version {found}, this program {known}", dir.display());
            let next = "the next plan brings it up to date; nothing is lost";
            return vec![DoctorCheck::warn("store", what, next)];
        }
        Err(error) => return failed(error),
    };
    let sessions = match store.list_sessions() {
        Ok(sessions) => sessions.len(),
        Err(error) => return failed(error),
    };
    let mut checks = match store.check_integrity(CheckDepth::Quick) {
        Ok(report) if report.problems.is_empty() => {
            let what = format!("{}, no damage found", dir.display());
            vec![DoctorCheck::ok("store", what)]
        }
        Ok(report) => {
            let what = format!("{}: {}", dir.display(), report.problems.join("; "));
            let next = "copy the directory away before anything else, then export what can be read";
            return vec![DoctorCheck::fail("store", what, next)];
        }
        Err(error) => return failed(error),
    };
    let sizes = store
        .storage_sizes()
        .inspect_err(|error| tracing::debug!(%error, "the size of the store is unknown"));
    if let Ok(sizes) = sizes {
        let what = format!(
            "{sessions} sessions, {} and {} in its log, version {SCHEMA_VERSION}",
            units::format_bytes(sizes.database),
            units::format_bytes(sizes.log),
        );
        let mut check = DoctorCheck::ok("store size", what);
        if sizes.database > 1 << 30 {
            check = DoctorCheck::warn(
                "store size",
                check.what,
                "planwright sessions prune --older-than 6mo --vacuum makes it smaller",
            );
        }
        checks.push(check);
    }
    checks
}

fn check_missing_store(dir: &Path) -> DoctorCheck {
    let what = format!("nothing saved yet; it will be in {}", dir.display());
    let place = dir.ancestors().find(|place| place.exists());
    let writable = place.is_some_and(|place| {
        rustix::fs::access(place, rustix::fs::Access::WRITE_OK).is_ok() && place.is_dir()
    });
    if writable {
        return DoctorCheck::ok("store", what);
    }
    let next = "make it writable, or name another directory with --data-dir";
    DoctorCheck::fail("store", format!("{} cannot be made", dir.display()), next)
}

/// Whether every event of the last sessions is there and in order.
pub(crate) fn check_journals(problems: &[(String, String)], checked: usize) -> DoctorCheck {
    match problems.first() {
        None => DoctorCheck::ok("journals", format!("the last {checked} sessions are in order")),
        Some((session, problem)) => DoctorCheck::fail(
            "journals",
            format!("session {session}: {problem}"),
            "planwright sessions verify lists all of it; what was exported before can be imported",
        ),
    }
}

/// Whether the screens will look right, one check for each thing that can be wrong.
pub(crate) fn check_terminal(facts: &TerminalFacts) -> Vec<DoctorCheck> {
    if !facts.is_terminal {
        let next = "run it in a terminal for the screens, or with --headless";
        return vec![DoctorCheck::warn("terminal", "standard output is not a terminal", next)];
    }
    let term = facts.term.as_deref().unwrap_or("TERM is not set");
    let mut checks = vec![match facts.size {
        Some((wide, high)) if wide < 60 || high < 16 => DoctorCheck::warn(
            "terminal",
            format!("{wide}x{high}, {term}"),
            "make the window at least 60x16, better 80x24",
        ),
        Some((wide, high)) => DoctorCheck::ok("terminal", format!("{wide}x{high}, {term}")),
        None => DoctorCheck::warn("terminal", format!("unknown size, {term}"), "use --plain"),
    }];
    let dumb = matches!(facts.term.as_deref(), None | Some("dumb"));
    checks.push(match (facts.no_color, facts.true_color) {
        (true, _) => DoctorCheck::ok("colours", "none, as NO_COLOR or --no-color says"),
        (false, true) => DoctorCheck::ok("colours", "16 million"),
        (false, false) => DoctorCheck {
            next: Some("if the terminal has more, set COLORTERM=truecolor".to_owned()),
            ..DoctorCheck::ok("colours", "16")
        },
    });
    checks.push(match (facts.utf8, facts.line_width) {
        (false, _) => DoctorCheck::warn(
            "characters",
            "the locale is not UTF-8, boxes are drawn in ASCII",
            "set LANG to a UTF-8 locale, such as C.UTF-8",
        ),
        (true, Some(width)) if width > 1 => DoctorCheck::warn(
            "characters",
            format!("lines take {width} cells here"),
            "set ascii = true in the config, or make ambiguous characters narrow in the terminal",
        ),
        (true, Some(_)) => DoctorCheck::ok("characters", "UTF-8, lines take one cell"),
        (true, None) => DoctorCheck::ok("characters", "UTF-8"),
    });
    checks.push(if dumb {
        DoctorCheck::warn("mouse", "this terminal has none", "use --plain, or set TERM")
    } else {
        DoctorCheck::ok(
            "mouse",
            "click selects, the wheel scrolls; Shift and drag marks text as usual",
        )
    });
    checks
}

/// Where the diagnostic log is, and whether it is on.
pub(crate) fn check_log(dir: &Path, filter: Option<&LogFilter>) -> DoctorCheck {
    let path = crate::diagnostics::log_file(dir);
    let size: u64 = crate::diagnostics::log_files(&path)
        .iter()
        .filter_map(|file| std::fs::metadata(file).ok())
        .map(|found| found.len())
        .sum();
    let kept = if size == 0 { String::new() } else { format!(", {}", units::format_bytes(size)) };
    match filter.filter(|filter| !filter.is_off()) {
        Some(filter) => DoctorCheck::ok("log", format!("{} at {filter}{kept}", path.display())),
        None => DoctorCheck {
            next: Some(format!("{}=debug or -vv switches it on", crate::diagnostics::LOG_VARIABLE)),
            ..DoctorCheck::ok("log", format!("off; it would be {}{kept}", path.display()))
        },
    }
}

/// Whether the clock can be believed: nothing saved lies in its future.
pub(crate) fn check_clock(dir: &Path, now: Timestamp, zone: Option<&str>) -> DoctorCheck {
    // That the store cannot be read has a check of its own.
    let newest = Store::open(dir, OpenMode::ReadOnly)
        .ok()
        .and_then(|store| store.list_sessions().ok())
        .and_then(|sessions| sessions.iter().map(|session| session.updated_at).max());
    let time = now.strftime("%Y-%m-%d %H:%M UTC");
    match (newest, zone) {
        (Some(newest), _) if newest > now => {
            let ahead = newest.duration_since(now).unsigned_abs().as_secs();
            let what = format!(
                "the newest session was saved {} in the future",
                units::format_elapsed(std::time::Duration::from_secs(ahead))
            );
            DoctorCheck::warn("clock", what, "check date and time of this machine")
        }
        (_, Some(zone)) => DoctorCheck::ok("clock", format!("{time}, time zone {zone}")),
        (_, None) => {
            let next = "set TZ to a name such as Europe/Berlin, so that plans keep your hours";
            DoctorCheck::warn("clock", format!("{time}, the time zone has no name"), next)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::CheckStatus;

    fn facts() -> TerminalFacts {
        TerminalFacts {
            is_terminal: true,
            size: Some((80, 24)),
            term: Some("xterm".into()),
            true_color: true,
            no_color: false,
            utf8: true,
            line_width: Some(1),
        }
    }

    #[test]
    fn a_good_terminal_has_nothing_to_complain_of() {
        assert!(check_terminal(&facts()).iter().all(|check| check.status == CheckStatus::Ok));
    }

    #[test]
    fn what_is_wrong_with_a_terminal_comes_with_what_to_do() {
        let worst = |facts: TerminalFacts| {
            let checks = check_terminal(&facts);
            let found =
                checks.iter().find(|check| check.status != CheckStatus::Ok).unwrap().clone();
            assert!(found.next.is_some());
            found.name
        };
        assert_eq!(worst(TerminalFacts { size: Some((50, 10)), ..facts() }), "terminal");
        assert_eq!(worst(TerminalFacts { utf8: false, ..facts() }), "characters");
        assert_eq!(worst(TerminalFacts { line_width: Some(2), ..facts() }), "characters");
        assert_eq!(worst(TerminalFacts { term: Some("dumb".into()), ..facts() }), "mouse");
        assert_eq!(worst(TerminalFacts { is_terminal: false, ..facts() }), "terminal");
    }

    #[test]
    fn a_clock_without_a_zone_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(check_clock(dir.path(), now, None).status, CheckStatus::Warn);
        assert_eq!(check_clock(dir.path(), now, Some("Europe/Berlin")).status, CheckStatus::Ok);
        assert_eq!(check_store(dir.path())[0].status, CheckStatus::Ok);
    }
}
