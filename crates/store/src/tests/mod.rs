//! Tests of the store as a whole, each with its own directory.

mod child;
mod crash;
mod damage;
mod failing;
mod inbox;
mod journal;
mod moving;
mod opening;
mod own_thread;
mod sealing;
mod sessions;
mod sharing;

use jiff::Timestamp;
use tempfile::TempDir;

use super::{
    CheckDepth, Journal, JournalBatch, JournalRow, NewSession, OpenMode, SessionSummary, Store,
};
use planwright_model::{Seq, SessionId};

fn temporary() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn open(dir: &TempDir) -> Store {
    Store::open(dir.path(), OpenMode::ReadWrite).unwrap()
}

fn id(text: &str) -> SessionId {
    SessionId::new(text)
}

fn plain(name: &str) -> NewSession {
    let created_at = Timestamp::from_microsecond(1_700_000_000_000_000).unwrap();
    let summary = SessionSummary { title: name.to_uppercase(), ..SessionSummary::default() };
    NewSession { id: id(name), created_at, format: 1, parent: None, summary }
}

/// Creates a session and opens it for writing.
fn start(store: &Store, name: &str) -> Journal {
    store.create_session(plain(name)).unwrap();
    store.acquire_session(&id(name)).unwrap()
}

fn row(seq: u64) -> JournalRow {
    let at =
        Timestamp::from_microsecond(1_700_000_000_000_000 + seq.cast_signed() * 1_537).unwrap();
    let task = (!seq.is_multiple_of(3)).then(|| format!("task-{}", seq % 4));
    // Every seventeenth is large enough to be compressed.
    let text = "words of an observation ".repeat(if seq.is_multiple_of(17) { 90 } else { 3 });
    let payload = format!(r#"{{"seq":{seq},"text":"{text}"}}"#).into_bytes();
    JournalRow { seq: Seq(seq), at, kind: "task_progressed".into(), task, payload }
}

fn rows(range: std::ops::RangeInclusive<u64>) -> Vec<JournalRow> {
    range.map(row).collect()
}

fn append(journal: &Journal, range: std::ops::RangeInclusive<u64>) -> Seq {
    journal.append_blocking(JournalBatch::from_rows(rows(range))).unwrap().wait().unwrap()
}
