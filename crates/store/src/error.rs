//! Errors of the store, named for what the caller can do about them.
//!
//! `Display` describes what happened; [`StoreError::hint`] what to do. Errors are `Clone` because one failed commit is
//! reported to everyone who waited for it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::ErrorCode;

use planwright_model::{Seq, SessionId};

/// The process that has a session open for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    pub pid: u32,
    pub host: String,
    pub since: Timestamp,
}

impl std::fmt::Display for LeaseHolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let since = self.since.to_zoned(TimeZone::system());
        write!(f, "process {} on {} since {}", self.pid, self.host, since.strftime("%F %H:%M"))
    }
}

/// Why an operation of the store failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no session store in {}", .dir.display())]
    Missing { dir: PathBuf },
    #[error("could not create {}", .path.display())]
    CannotCreate { path: PathBuf, source: Arc<io::Error> },
    #[error("the data directory {} is a file", .path.display())]
    NotADirectory { path: PathBuf },
    #[error("the data directory {} cannot be looked into", .path.display())]
    Unreachable { path: PathBuf, source: Arc<io::Error> },
    #[error("{} may not be {wanted} (its mode is {mode:03o})", .path.display())]
    NotPermitted { path: PathBuf, wanted: &'static str, mode: u32 },
    #[error("the database {} has schema version {found}, but this program knows versions up to {known}", .path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("the database {} still has schema version {found}, this program reads version {known}", .path.display())]
    Older { path: PathBuf, found: i64, known: i64 },
    #[error("{} is a database of another program", .path.display())]
    NotOurs { path: PathBuf },
    #[error("the database {} is damaged: {detail}", .path.display())]
    Damaged { path: PathBuf, detail: String },
    #[error("the database {} is empty (0 bytes): it has lost its content", .path.display())]
    Emptied { path: PathBuf },
    #[error("the database {} is missing, but its log {}-wal is there", .path.display(), .path.display())]
    LogAlone { path: PathBuf },
    #[error("the database {} is a symbolic link whose target does not exist", .path.display())]
    DanglingLink { path: PathBuf },
    #[error("{} cannot be opened for writing", .path.display())]
    ReadOnlyFiles { path: PathBuf },
    #[error("another process kept the database busy while {doing}")]
    Busy { doing: &'static str },
    #[error("the disk is full while {doing}")]
    Full { doing: &'static str },
    #[error("session {session} is open for writing in {}", describe_holder(.holder.as_ref()))]
    Held { session: SessionId, holder: Option<LeaseHolder> },
    #[error("session {session} was taken over by another process")]
    Fenced { session: SessionId },
    #[error("appending to session {session}: expected event {expected}, got {found}")]
    Gap { session: SessionId, expected: Seq, found: Seq },
    #[error("session {session} accepts no more events after a failed write")]
    Poisoned { session: SessionId, source: Arc<StoreError> },
    #[error("there is no session {session}")]
    NoSession { session: SessionId },
    #[error("session {session} exists already")]
    SessionExists { session: SessionId },
    #[error(
        "`{session}` cannot name a session: 1 to 64 letters, digits, `-` and `_`, and not `last`"
    )]
    BadSessionId { session: SessionId },
    #[error("session {session} has no event {seq} to fork from: its last one is {head}")]
    BadForkPoint { session: SessionId, seq: Seq, head: Seq },
    #[error("an event or checkpoint of {bytes} bytes is above the limit of {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the session store was opened for reading only")]
    ReadOnly,
    #[error("the session store is closed")]
    Closed,
    #[error("SQLite {found} is too old: 3.51.3 or newer is needed")]
    OldSqlite { found: &'static str },
    #[error("{doing} {}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: Arc<io::Error> },
    #[error("{doing}")]
    Sqlite { doing: &'static str, source: Arc<rusqlite::Error> },
}

impl StoreError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { .. } => "run a plan first, or name another directory with --data-dir".into(),
            Self::CannotCreate { .. } => "make the directory writable, or name another one with --data-dir".into(),
            Self::NotADirectory { .. } => "name a directory with --data-dir; it is made if it is not there".into(),
            Self::Unreachable { .. } => "make it and what it lies in readable, or name another one with --data-dir".into(),
            Self::NotPermitted { path, .. } => format!("run `chmod u+rwX {}`, or name another directory with --data-dir", path.display()),
            Self::Newer { .. } => "use the newer Planwright that wrote it, or name another directory with --data-dir; nothing was changed".into(),
            Self::Older { .. } => "open it once for writing, which brings it up to date".into(),
            Self::NotOurs { .. } => "name another directory with --data-dir; nothing was changed".into(),
            Self::Damaged { path, .. } => format!("put back a copy of {0}, or move it away to start empty; `sqlite3 {0} .recover` may save what is left", path.display()),
            Self::Emptied { path } => format!("put back a copy of it, or move {0} and {0}-wal away to start empty; nothing was changed", path.display()),
            Self::LogAlone { path } => format!("put the database back beside its log, or move {}-wal away to start empty; nothing was changed", path.display()),
            Self::DanglingLink { path } => format!("put the target back, or remove the link {} to start empty; nothing was changed", path.display()),
            Self::Busy { .. } => "end other Planwright processes that use this data directory, then try again".into(),
            Self::ReadOnlyFiles { .. } => "make its file system writable, or name another directory with --data-dir".into(),
            Self::Full { .. } => "free some space on the disk, then resume the session".into(),
            Self::Held { .. } => "watch it read-only, or end that process first".into(),
            Self::Fenced { .. } => "it runs in the other process; open it here to watch".into(),
            Self::Gap { .. } | Self::Poisoned { .. } => "resume the session: everything acknowledged is kept".into(),
            Self::NoSession { .. } => "`planwright sessions list` shows the saved ones".into(),
            Self::SessionExists { .. } | Self::BadSessionId { .. } => "choose another id".into(),
            Self::BadForkPoint { .. } => "choose an event that the session has".into(),
            Self::TooLarge { .. } => "let the task write large output to a file".into(),
            Self::ReadOnly => "open it for writing".into(),
            Self::Closed => "start Planwright again and resume the session".into(),
            Self::OldSqlite { .. } => "build with the bundled SQLite".into(),
            Self::Io { .. } | Self::Sqlite { .. } => "check the disk and the data directory, then resume the session".into(),
        }
    }

    pub(super) fn from_io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::StorageFull {
            return Self::Full { doing };
        }
        Self::Io { doing, path: path.to_owned(), source: Arc::new(source) }
    }

    pub(super) fn damaged(path: &Path, detail: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), detail: detail.into() }
    }

    /// Whether a short wait may help.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }
}

/// Adds what was being done when `SQLite` failed, and classifies the failure by its remedy.
pub(super) trait SqliteResultExt<T> {
    fn during(self, doing: &'static str, database: &Path) -> Result<T, StoreError>;
}

impl<T> SqliteResultExt<T> for Result<T, rusqlite::Error> {
    fn during(self, doing: &'static str, database: &Path) -> Result<T, StoreError> {
        self.map_err(|error| match error.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed,
            ) => StoreError::Busy { doing },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::damaged(database, error.to_string())
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { doing },
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnlyFiles { path: database.to_owned() },
            _ => StoreError::Sqlite { doing, source: Arc::new(error) },
        })
    }
}

/// Why a name does not identify exactly one session.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FindError {
    #[error("no session matches `{name}`")]
    None { name: String },
    #[error("`{name}` matches {} sessions: {}", .matches.len(), list_session_ids(.matches))]
    Several { name: String, matches: Vec<SessionId> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FindError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::None { .. } => "`planwright sessions list` shows the saved ones".into(),
            Self::Several { .. } => "give more of the id".into(),
            Self::Store(error) => error.hint(),
        }
    }
}

fn describe_holder(holder: Option<&LeaseHolder>) -> String {
    holder.map_or_else(|| "another process".into(), LeaseHolder::to_string)
}

fn list_session_ids(ids: &[SessionId]) -> String {
    const SHOWN: usize = 5;
    let mut text = ids.iter().take(SHOWN).map(SessionId::as_str).collect::<Vec<_>>().join(", ");
    if ids.len() > SHOWN {
        text.push_str(", …");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_matches_are_listed_but_not_all_of_them() {
        let matches = (0..7).map(|n| SessionId::new(format!("ab{n}"))).collect();
        let error = FindError::Several { name: "ab".into(), matches };
        assert_eq!(error.to_string(), "`ab` matches 7 sessions: ab0, ab1, ab2, ab3, ab4, …");
    }

    #[test]
    fn a_newer_database_is_refused_in_a_sentence_with_a_remedy() {
        let error = StoreError::Newer { path: "/d/planwright.db".into(), found: 9, known: 1 };
        assert_eq!(
            error.to_string(),
            "the database /d/planwright.db has schema version 9, but this program knows versions up to 1"
        );
        assert!(error.hint().contains("nothing was changed"));
    }
}
