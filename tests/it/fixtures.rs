//! The journals under `tests/fixtures`: the engine is driven to every kind of request, and its requests must match those in
//! the kept journals. `PLANWRIGHT_RECORD_FIXTURES=1 cargo test --test it fixtures` writes them again.
//!
//! A kept journal is what the engine wrote, one record per line in the wire format, up to its last request. Only what differs
//! from run to run is replaced: times, process numbers, durations, the ids of sessions and the directory of the workspace.

mod commands;
mod desk;
mod own_agents;
mod planning;
mod program;
mod running;
mod second_run;

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use planwright_model::event::{ApprovalEvent, Event, Record};
use planwright_model::{Request, SessionId};
use planwright_store::journal_source::JournalSource;
use planwright_store::{OpenMode, Store};
use serde_json::Value;

use crate::program::Place;

/// The workspace in the kept journals.
pub const WORKSPACE: &str = "/tmp/planwright-example";
/// The session id in the kept journals.
pub const SESSION: &str = "7f3a9c0d1e2f";
/// The time of the first record of every kept journal; records are one second apart.
const BEGUN: &str = "2026-06-08T14:08:23Z";

/// Where the kept journals are.
pub fn fixture_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format!("{name}.jsonl"))
}

/// What is replaced in the texts of a journal, and by what.
pub type Replacement = (String, &'static str);

/// Keeps a journal, or compares what is asked in it with what is asked in the kept one.
pub fn check_journal(name: &str, records: &[Record], replacements: &[Replacement]) {
    let asked =
        |record: &Record| matches!(record.event, Event::Approval(ApprovalEvent::Asked { .. }));
    let last = records.iter().rposition(asked).expect("something is asked");
    let lines: Vec<Value> = (0..)
        .zip(&records[..=last])
        .map(|(number, record)| normalize_record(number, record, replacements))
        .collect();
    let path = fixture_file(name);
    if records_anew() {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let text = lines.join("\n") + "\n";
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let kept = kept_lines(name);
    let (now, before) = (requests_in(&lines), requests_in(&kept));
    assert_eq!(now.len(), before.len(), "{name}: as many requests as were kept");
    for (now, before) in now.iter().zip(&before) {
        assert_eq!(
            serde_json::to_string_pretty(now).unwrap(),
            serde_json::to_string_pretty(before).unwrap(),
            "{name}: the engine asks something else now; if that is meant, record the journals anew"
        );
    }
}

/// Keeps the whole journal of a run with its times, or compares it with the kept one. What the program wrote before the engine
/// had the clock of the test is dated `opened`; everything else is `shift` earlier.
pub fn check_run(
    name: &str,
    records: &[Record],
    (opened, shift): (Timestamp, SignedDuration),
    replacements: &[Replacement],
) {
    let asked =
        |record: &Record| matches!(record.event, Event::Approval(ApprovalEvent::Asked { .. }));
    let first = records.iter().position(asked).expect("the plan is asked about");
    let line = |(number, record): (usize, &Record)| {
        let mut value = serde_json::to_value(record).unwrap();
        normalize_value(&mut value["event"], None, replacements);
        let early = number <= first || record.at < opened + shift;
        let at = if early { opened } else { record.at - shift };
        value["at"] = serde_json::to_value(at).unwrap();
        value
    };
    let lines: Vec<Value> = records.iter().enumerate().map(line).collect();
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    let path = fixture_file(name);
    if records_anew() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    for (now, before) in text.lines().zip(kept.lines()) {
        assert_eq!(now, before, "{name}: the engine writes another run now; record it anew");
    }
    assert_eq!(text.lines().count(), kept.lines().count(), "{name}");
}

/// Whether the journals are to be written.
fn records_anew() -> bool {
    std::env::var("PLANWRIGHT_RECORD_FIXTURES").is_ok_and(|value| value == "1")
}

fn kept_lines(name: &str) -> Vec<Value> {
    let path = fixture_file(name);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; record it", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn requests_in(lines: &[Value]) -> Vec<Value> {
    lines
        .iter()
        .map(|line| &line["event"])
        .filter(|event| event["topic"] == "approval" && event["body"]["kind"] == "asked")
        .map(|event| event["body"]["request"].clone())
        .collect()
}

fn normalize_record(number: i64, record: &Record, replacements: &[Replacement]) -> Value {
    let begun: Timestamp = BEGUN.parse().unwrap();
    let at = begun.checked_add(SignedDuration::from_secs(number)).unwrap();
    let mut value = serde_json::to_value(record).unwrap();
    let at = serde_json::to_value(at).unwrap();
    normalize_value(&mut value["event"], Some(&at), replacements);
    value["at"] = at;
    value
}

/// Replaces what differs from run to run. Times are kept where `at` does not replace them.
fn normalize_value(value: &mut Value, at: Option<&Value>, replacements: &[Replacement]) {
    match value {
        Value::String(text) => {
            for (from, to) in replacements {
                if text.contains(from.as_str()) {
                    *text = text.replace(from.as_str(), to);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                normalize_value(item, at, replacements);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                match key.as_str() {
                    "pid" => *field = 4711.into(),
                    "elapsed_ms" | "duration_ms" if field.is_number() && at.is_some() => {
                        *field = 0.into();
                    }
                    "timestamp" if at.is_some() => *field = at.cloned().unwrap_or_default(),
                    // The digest of a command and the directory it runs in.
                    "input" if field.is_string() => *field = "0".repeat(64).into(),
                    _ => normalize_value(field, at, replacements),
                }
            }
        }
        _ => {}
    }
}

/// The journal of the newest session in the store of a place.
pub fn newest_session(place: &Place) -> (SessionId, Vec<Record>) {
    let store = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    let id = store.find_session("last").unwrap();
    let records = session_records(&store, &id);
    (id, records)
}

pub fn session_records(store: &Store, id: &SessionId) -> Vec<Record> {
    let source = JournalSource::new(store.reader().unwrap(), id.clone());
    let mut history = planwright_state::replay::History::new(source);
    let head = history.head_seq().unwrap();
    history.records_after(planwright_model::Seq::START, head).unwrap()
}

/// What a journal of the whole program tells of where and by whom it was written.
pub fn place_replacements(place: &Place, id: &SessionId) -> Vec<Replacement> {
    let path = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    vec![
        (path(place.work().canonicalize().unwrap()), WORKSPACE),
        (path(place.work()), WORKSPACE),
        (path(place.dir.path().to_owned()), "/tmp"),
        (id.to_string(), SESSION),
    ]
}

/// All requests of the kept journals.
fn kept_requests() -> Vec<(String, Request)> {
    let directory = fixture_file("any").parent().unwrap().to_owned();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for request in requests_in(&kept_lines(&name)) {
            found.push((name.clone(), serde_json::from_value(request).unwrap()));
        }
    }
    found
}

#[test]
fn kept_journals_decode_to_what_they_were_and_name_no_machine() {
    if records_anew() {
        // Other tests are writing them at this moment.
        return;
    }
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default().trim().to_owned();
    let home = std::env::var("HOME").unwrap_or_default();
    let mut names: Vec<String> = kept_requests().into_iter().map(|(name, _)| name).collect();
    names.dedup();
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        let mut state = planwright_state::SessionState::default();
        for line in kept_lines(&name) {
            let record: Record = serde_json::from_value(line.clone()).unwrap();
            assert!(!matches!(record.event, Event::Unknown(_)), "{name}: {line}");
            assert_eq!(serde_json::to_value(&record).unwrap(), line, "{name}");
            state.apply(&record);
        }
        assert_eq!(state.totals.anomalies, 0, "{name}");
        // A whole run ends with its end, everything else with what is asked.
        let over = matches!(state.run.phase, planwright_state::RunPhase::Finished { .. });
        assert!(over || state.requests.oldest_open().is_some(), "{name} ends with an open request");
        let text = std::fs::read_to_string(fixture_file(&name)).unwrap();
        for word in [host.as_str(), home.as_str(), env!("CARGO_MANIFEST_DIR"), "/home/", "/tmp/."] {
            assert!(word.len() < 4 || !text.contains(word), "{name} names {word}");
        }
    }
}
