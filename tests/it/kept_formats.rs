//! What released versions wrote stays readable: their stores open, replay, are searched and resumed, their exports are
//! imported and exported again unchanged.

use std::path::{Path, PathBuf};

use planwright_model::Seq;
use planwright_model::event::{Event, Record};
use planwright_state::SessionState;
use planwright_state::replay::{History, MemorySource};
use planwright_store::journal_source::JournalSource;
use planwright_store::{OpenMode, Store};
use serde_json::Value;

use crate::agents::{code, words};
use crate::program::{Place, json_lines};

/// The sessions of the kept store of 0.3, by how they ended.
const PLANNED: &str = "31b1702808f9";
const DONE: &str = "c4f008ce0f94";
const FAILED: &str = "d4456d2e733a";
const FORKED: &str = "17491baf1096";
const KILLED: &str = "30cbd562800f";
const ALL: [&str; 5] = [PLANNED, DONE, FAILED, FORKED, KILLED];

fn kept_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-0.3").join(name)
}

/// A test environment whose store is a copy of the kept one.
fn place_with_store() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.data()).unwrap();
    std::fs::copy(kept_file("planwright.db"), place.data().join("planwright.db")).unwrap();
    place
}

fn records_of(store: &Store, name: &str) -> Vec<Record> {
    let id = store.find_session(name).unwrap();
    let mut history = History::new(JournalSource::new(store.reader().unwrap(), id));
    let head = history.head_seq().unwrap();
    history.records_after(Seq::START, head).unwrap()
}

/// Every record is known, and seeking to any of them gives the same state as folding up to it.
fn require_replay(name: &str, records: &[Record]) -> SessionState {
    let mut folded = SessionState::default();
    let mut history = History::new(MemorySource::new(records.to_vec()));
    for record in records {
        assert!(!matches!(record.event, Event::Unknown(_)), "{name}: {record:?}");
        folded.apply(record);
        assert_eq!(*history.state_at(record.seq).unwrap(), folded, "{name} at {:?}", record.seq);
    }
    assert_eq!(folded.totals.anomalies, 0, "{name}");
    folded
}

#[test]
fn a_store_of_0_3_opens_and_every_moment_of_its_sessions_replays() {
    let place = place_with_store();
    let store = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    for name in ALL {
        let records = records_of(&store, name);
        let folded = require_replay(name, &records);
        let id = store.find_session(name).unwrap();
        let mut history = History::new(JournalSource::new(store.reader().unwrap(), id));
        assert_eq!(*history.state_at(folded.seq).unwrap(), folded, "{name}, by its checkpoints");
    }
    drop(store);
    for name in ALL {
        let verified = place.run(&["sessions", "verify", name]);
        assert_eq!(code(&verified), 0, "{}", words(&verified));
    }
    let statuses: Vec<(String, String)> = place
        .sessions()
        .iter()
        .map(|row| (row["id"].as_str().unwrap().into(), row["status"].as_str().unwrap().into()))
        .collect();
    let status = |id: &str| {
        statuses.iter().find(|(known, _)| known == id).map(|(_, status)| status.as_str())
    };
    assert_eq!(statuses.len(), ALL.len(), "{statuses:?}");
    assert_eq!(status(DONE), Some("done"));
    assert_eq!(status(FAILED), Some("failed"));
    assert_eq!(status(PLANNED), Some("not started"));
}

#[test]
fn a_store_of_0_3_that_may_only_be_read_is_read() {
    let place = place_with_store();
    let store = Store::open(&place.data(), OpenMode::ReadOnly).unwrap();
    assert_eq!(records_of(&store, DONE).len(), 27);
}

#[test]
fn words_of_sessions_of_0_3_are_found() {
    let place = place_with_store();
    let found = json_lines(&place.run(&["sessions", "search", "quince", "--json"]));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|row| row["session"] == FAILED), "{found:?}");
}

/// The effects of the killed session's commands in the meantime.
fn effects(place: &Place) -> Vec<String> {
    let text = std::fs::read_to_string(place.work().join("done.txt")).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn a_killed_session_of_0_3_is_resumed_to_its_end() {
    let place = place_with_store();
    std::fs::write(place.work().join("hurry"), "").unwrap();
    let work = place.work().to_string_lossy().into_owned();
    let resume = ["resume", KILLED, "--headless", "--workspace", work.as_str()];
    let output = place.run(&resume);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let printed = words(&output);
    assert!(printed.contains("Did this command finish?") && printed.contains("load"), "{printed}");
    assert_eq!(effects(&place), ["fetch"], "what may be repeated is, the rest is asked about");
    let output = place.answer_and_resume(&["answer", KILLED, "next", "run it", "--headless"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(effects(&place), ["fetch", "load", "report"], "what was done is not done again");
    let shown: Value = json_lines(&place.run(&["sessions", "show", KILLED, "--json"])).remove(0);
    assert_eq!((shown["status"].as_str(), shown["anomalies"].as_u64()), (Some("done"), Some(0)));
    let verified = place.run(&["sessions", "verify", KILLED]);
    assert_eq!(code(&verified), 0, "{}", words(&verified));
}

#[test]
fn a_fork_and_a_failed_run_of_0_3_resume() {
    let place = place_with_store();
    let work = place.work().to_string_lossy().into_owned();
    let resume = |session: &str, more: &[&str]| {
        let args = [&["resume", session, "--headless", "--workspace", &work], more].concat();
        place.run(&args)
    };
    let output = resume(FORKED, &["--yes"]);
    assert_eq!(code(&output), 1, "the slow tests fail here as well: {}", words(&output));
    let output = resume(FAILED, &["--retry", "failed"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    let store = Store::open(&place.data(), OpenMode::ReadOnly).unwrap();
    let state = SessionState::from_records(&records_of(&store, FAILED));
    assert_eq!(state.tasks.get(&"slow".into()).unwrap().attempt, 2);
    assert_eq!(state.totals.anomalies, 0);
}

fn decode_line(line: &str) -> Record {
    let line: Value = serde_json::from_str(line).unwrap();
    let record: Record = serde_json::from_value(line.clone()).unwrap();
    let event = serde_json::to_value(&record.event).unwrap();
    assert_eq!(event, line["event"], "it is written as it was read");
    record
}

#[test]
fn a_journal_of_0_3_is_imported_and_exported_unchanged() {
    let kept = std::fs::read_to_string(kept_file("journal.jsonl")).unwrap();
    // The first line is the header, each of the others is a record.
    let records: Vec<Record> = kept.lines().skip(1).map(decode_line).collect();
    let state = require_replay("journal", &records);
    assert!(state.is_runnable());

    let place = Place::new();
    let file = kept_file("journal.jsonl").to_string_lossy().into_owned();
    let output = place.run(&["import", &file]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    let output = place.run(&["export", PLANNED, "--format", "jsonl"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), kept);
}
