//! One text for a bug report: versions, machine, settings, checks, the end of the log and the last errors.
//!
//! Everything is redacted once more on the way out. Sessions appear with their ids, states and codes of failures alone.
//! Checks may quote the error of a server or of a config file.

use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;

use super::DoctorCheck;
use crate::config::SettingRow;
use crate::diagnostics::leave_out_quotes;
use planwright_files::{FileLimit, read_text};
use planwright_model::event::{AgentEvent, Event, FORMAT, Record, SessionEvent, TaskEvent};
use planwright_model::{ExecutionFailure, Seq, SessionId};
use planwright_state::replay::History;
use planwright_store::journal_source::JournalSource;
use planwright_store::{OpenMode, SCHEMA_VERSION, Store, StoreError};
use planwright_text::{Redactor, clean_line};

/// How many lines of the log are shown.
const LOG_LINES: usize = 200;
/// How many errors and warnings of the log are shown.
const LOG_ERRORS: usize = 20;
/// How many sessions are looked at for failures.
const SESSIONS: usize = 5;
/// How many failures of a session are shown.
const FAILURES: usize = 5;
/// Variables that say which terminal this is. None of them is private.
const TERMINAL_VARIABLES: [&str; 9] = [
    "TERM",
    "COLORTERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "VTE_VERSION",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "NO_COLOR",
];

/// What goes into the report, gathered by the caller.
#[derive(Debug)]
pub(crate) struct ReportParts<'a> {
    pub now: Timestamp,
    pub settings: &'a [SettingRow],
    pub checks: &'a [DoctorCheck],
    pub terminal_size: Option<(u16, u16)>,
    pub data_dir: Option<&'a Path>,
    pub home: Option<&'a Path>,
    pub redactor: &'a Redactor,
}

impl ReportParts<'_> {
    /// The whole text, redacted line by line, with the home directory as `~`.
    pub(crate) fn to_text(&self) -> String {
        let log = self.data_dir.map(read_log_lines).unwrap_or_default();
        let sections = [
            ("Versions", versions()),
            ("Machine and terminal", self.machine()),
            ("Settings", self.setting_lines()),
            ("Checks", self.checks.iter().flat_map(|check| check.to_lines(16)).collect()),
            ("Last errors", last_errors(&log)),
            ("Last sessions", self.data_dir.map(session_lines).unwrap_or_default()),
            ("Last log lines", last_lines(&log, LOG_LINES)),
        ];
        let mut text =
            format!("Planwright bug report, {}\n", self.now.strftime("%Y-%m-%d %H:%M UTC"));
        text.push_str("Secrets are redacted. Read it before you send it.\n");
        for (title, lines) in sections {
            let _ = writeln!(text, "\n== {title} ==");
            for line in lines {
                let _ = writeln!(text, "{}", self.clean(&line));
            }
        }
        text
    }

    fn clean(&self, line: &str) -> String {
        let line = self.redactor.redact(&clean_line(&self.redactor.redact(line))).into_owned();
        match self.home.and_then(Path::to_str).filter(|home| home.len() > 1) {
            Some(home) => shorten_home(&line, home),
            None => line,
        }
    }

    fn machine(&self) -> Vec<String> {
        let mut lines = vec![format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)];
        lines.extend(system_name());
        lines.extend(kernel_release().map(|release| format!("kernel {release}")));
        lines.push(match self.terminal_size {
            Some((wide, high)) => format!("terminal {wide}x{high}"),
            None => "no terminal".to_owned(),
        });
        let set = TERMINAL_VARIABLES.iter().filter_map(|name| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
            Some(format!("{name}={value}"))
        });
        lines.extend(set);
        lines
    }

    fn setting_lines(&self) -> Vec<String> {
        let rows = self.settings.iter();
        rows.map(|row| format!("{} = {}  ({})", row.name, row.value, row.origin)).collect()
    }
}

/// Writes `~` for the home directory, wherever it stands as a whole path or as the beginning of one.
fn shorten_home(line: &str, home: &str) -> String {
    let (mut short, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(home) {
        let (before, after) = (&rest[..at], &rest[at + home.len()..]);
        let is_name = |char: char| char.is_alphanumeric() || "_-.".contains(char);
        let begins = !before.ends_with(is_name) && !before.ends_with('/');
        short.push_str(before);
        short.push_str(if begins && !after.starts_with(is_name) { "~" } else { home });
        rest = after;
    }
    short + rest
}

fn versions() -> Vec<String> {
    vec![
        crate::console::PROGRAM.to_owned(),
        format!("journal format {FORMAT}, store schema {SCHEMA_VERSION}"),
        format!("SQLite {}", rusqlite::version()),
    ]
}

/// What the distribution calls itself. A system without the file has no name, which is no error.
fn system_name() -> Option<String> {
    let text = read_text(Path::new("/etc/os-release"), FileLimit::PROMPT).ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

/// Only Linux has this file.
fn kernel_release() -> Option<String> {
    Some(std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?.trim().to_owned())
}

/// All lines of the log, oldest first. What cannot be read is said in its place.
fn read_log_lines(data_dir: &Path) -> Vec<String> {
    let path = crate::diagnostics::log_file(data_dir);
    let mut lines = Vec::new();
    for file in crate::diagnostics::log_files(&path) {
        match std::fs::read(&file) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                lines.extend(text.lines().map(str::to_owned));
            }
            Err(error) => lines.push(format!("{}: {error}", file.display())),
        }
    }
    lines
}

fn last_lines(lines: &[String], most: usize) -> Vec<String> {
    if lines.is_empty() {
        return vec![format!(
            "none: there is no log; run the failing command again with {}=debug",
            crate::diagnostics::LOG_VARIABLE
        )];
    }
    lines[lines.len().saturating_sub(most)..].to_vec()
}

/// The level is the second word of a line.
fn last_errors(log: &[String]) -> Vec<String> {
    let is_error =
        |line: &&String| matches!(line.split_whitespace().nth(1), Some("ERROR" | "WARN"));
    let found: Vec<String> = log.iter().filter(is_error).cloned().collect();
    if found.is_empty() {
        vec!["none in the log".to_owned()]
    } else {
        last_lines(&found, LOG_ERRORS)
    }
}

/// The last sessions with their states and how their tasks failed, without anything that was said in them.
fn session_lines(data_dir: &Path) -> Vec<String> {
    let store = match Store::open(data_dir, OpenMode::ReadOnly) {
        Ok(store) => store,
        Err(StoreError::Missing { .. }) => return vec!["none".to_owned()],
        Err(error) => return vec![error.to_string()],
    };
    let sessions = match store.list_sessions() {
        Ok(sessions) => sessions,
        Err(error) => return vec![error.to_string()],
    };
    let mut lines = Vec::new();
    for info in sessions.iter().take(SESSIONS) {
        let summary = &info.summary;
        lines.push(format!(
            "{}  {}, {} of {} tasks done, {} events, {} open requests, updated {}",
            info.id.short_id(),
            summary.status,
            summary.done,
            summary.total,
            info.head,
            summary.open_requests,
            info.updated_at.strftime("%Y-%m-%d %H:%M UTC"),
        ));
        lines.extend(session_failures(&store, &info.id));
    }
    lines
}

fn session_records(store: &Store, id: &SessionId) -> anyhow::Result<Vec<Record>> {
    let mut history = History::new(JournalSource::new(store.reader()?, id.clone()));
    let mut records = Vec::new();
    while let Some(record) = history.record_at(Seq(records.len() as u64 + 1))? {
        records.push(record);
    }
    Ok(records)
}

fn session_failures(store: &Store, id: &SessionId) -> Vec<String> {
    let records = match session_records(store, id) {
        Ok(records) => records,
        Err(error) => {
            return vec![format!("  cannot be read: {}", leave_out_quotes(&format!("{error:#}")))];
        }
    };
    let describe = |what: &str, failure: &ExecutionFailure| {
        format!("{what}: {}, {}", failure.code, failure.category)
    };
    let failures = records.iter().rev().filter_map(|record| {
        let what = match &record.event {
            Event::Task(TaskEvent::Failed { failure, .. }) => describe("task failed", failure),
            Event::Agent(AgentEvent::ModelFailed { failure, .. }) => {
                describe("model call failed", failure)
            }
            Event::Session(SessionEvent::AnomalyNoted { .. }) => "anomaly".to_owned(),
            _ => return None,
        };
        Some(format!("  event {}: {what}", record.seq))
    });
    failures.take(FAILURES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(
        redactor: &'a Redactor,
        data_dir: &'a Path,
        settings: &'a [SettingRow],
        checks: &'a [DoctorCheck],
    ) -> String {
        ReportParts {
            now: Timestamp::UNIX_EPOCH,
            settings,
            checks,
            terminal_size: Some((80, 24)),
            data_dir: Some(data_dir),
            home: Some(Path::new("/home/somebody")),
            redactor,
        }
        .to_text()
    }

    #[test]
    fn the_home_directory_is_shortened_at_the_ends_of_names_only() {
        for (line, short) in [
            ("/home/al/plans and /home/al", "~/plans and ~"),
            ("/home/alice", "/home/alice"),
            ("/srv/home/al", "/srv/home/al"),
        ] {
            assert_eq!(shorten_home(line, "/home/al"), short);
        }
    }

    #[test]
    fn every_section_is_there_and_secrets_and_the_home_directory_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let log = crate::diagnostics::log_file(dir.path());
        std::fs::create_dir_all(log.parent().unwrap()).unwrap();
        let noise = "2026-01-01T00:00:00Z DEBUG planwright: nothing\n".repeat(300);
        let lines = format!("2026-01-01T00:00:00Z  WARN planwright: key tr0ub4dor-x\n{noise}");
        std::fs::write(&log, lines).unwrap();
        let settings = [SettingRow {
            name: "theme".into(),
            value: "tr0ub4dor-x".into(),
            origin: "/home/somebody/config.toml".into(),
        }];
        let checks = [DoctorCheck::warn("store", "with tr0ub4dor-x", "look")];
        let text = parts(&Redactor::new(["tr0ub4dor-x"]), dir.path(), &settings, &checks);
        let sections: Vec<&str> = text.lines().filter(|line| line.starts_with("==")).collect();
        insta::assert_snapshot!(sections.join("\n"), @r"
        == Versions ==
        == Machine and terminal ==
        == Settings ==
        == Checks ==
        == Last errors ==
        == Last sessions ==
        == Last log lines ==
        ");
        assert!(!text.contains("tr0ub4dor") && !text.contains("somebody"), "{text}");
        assert!(text.contains("theme = \"[redacted:loaded_key]\"  (~/config.toml)"), "{text}");
        assert!(text.contains("WARN planwright: key [redacted:loaded_key]"), "{text}");
        assert_eq!(text.matches("DEBUG planwright: nothing").count(), LOG_LINES);
    }

    #[test]
    fn without_a_log_the_report_says_how_to_get_one() {
        let dir = tempfile::tempdir().unwrap();
        let text = parts(&Redactor::default(), dir.path(), &[], &[]);
        assert!(text.contains("with PLANWRIGHT_LOG=debug"), "{text}");
    }
}
