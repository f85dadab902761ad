//! Sessions from elsewhere: exports, transcripts and traces with mistakes in them are refused, or can be viewed, drawn
//! and exported like any other.

use std::path::Path;
use std::sync::OnceLock;

use planwright_model::event::Record;
use planwright_model::{MicroDollars, PlanOutline, Seq, SessionId};
use planwright_state::SessionState;
use planwright_state::execution_result::ExecutionResult;
use planwright_state::journal_verification::JournalVerification;
use planwright_state::replay::{History, MemorySource};
use planwright_store::SessionEventSource;
use planwright_store::exchange::{
    html_page, jsonl, markdown_report, otlp, seed_traces, transcript_import,
};
use planwright_text::Redactor;
use planwright_tui::{ColorDepth, KeyOverrides, SessionPreview, SessionView, Theme, UiSettings};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::mutate::mutated;
use crate::exchange::{CLAUDE, CODEX};
use crate::program::{DIAMOND, Place};

/// A session that ran and one that was planned: as exports, event by event, and folded.
struct Base {
    exports: Vec<String>,
    events: Vec<String>,
    traces: Vec<String>,
    outline: PlanOutline,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let text = |output: std::process::Output| String::from_utf8(output.stdout).unwrap();
        let ran = Place::new();
        let plan = ran.plan(&DIAMOND.replace("echo d", "exit 4; echo d"));
        assert_eq!(ran.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(1));
        let planned = Place::new();
        let args = ["plan", "learn conversational Spanish in 6 weeks", "--headless", "--yes"];
        assert_eq!(planned.run(&args).status.code(), Some(0));
        let mut events = Vec::new();
        let mut outline = None;
        for place in [&ran, &planned] {
            let mut state = SessionState::default();
            for line in text(place.run(&["replay", "last", "--headless", "--json"])).lines() {
                let record: Record = serde_json::from_str(line).unwrap();
                state.apply(&record);
                events.push(String::from_utf8(record.event.encode().unwrap()).unwrap());
            }
            outline = state.planning.outline.clone().or(outline);
        }
        let exported = |place: &Place| text(place.run(&["export", "last", "--format", "jsonl"]));
        Base {
            // Without the hash of all lines, which any mistake would break.
            exports: [exported(&ran), exported(&planned)].map(|text| unchained(&text)).to_vec(),
            events,
            traces: vec![text(ran.run(&["export", "last", "--format", "json"]))],
            outline: PlanOutline::clone(&outline.unwrap()),
        }
    })
}

fn unchained(export: &str) -> String {
    let (header, rest) = export.split_once('\n').unwrap();
    let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
    header.as_object_mut().unwrap().remove("chain");
    format!("{header}\n{rest}")
}

pub fn events() -> &'static [String] {
    &base().events
}

pub fn outline() -> &'static PlanOutline {
    &base().outline
}

fn written(text: &str, name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    (dir, path)
}

/// Does everything with a session that is possible without running it.
fn look_at(records: &[Record]) {
    let mut state = SessionState::default();
    for record in records {
        state.apply(record);
    }
    let zone = jiff::tz::TimeZone::UTC;
    let _ = (ExecutionResult::from_records(records), JournalVerification::verify_records(records));
    let _ = markdown_report::render_report(&state, records, &zone);
    let _ = html_page::render_page(&state, records, &zone);
    let _ = otlp::session_spans(&SessionId::new("x"), &state.session.title, records);
    let settings = UiSettings {
        theme: Theme::default(),
        keys: KeyOverrides::default(),
        ascii: false,
        reduced_motion: false,
        opened_from_home: false,
        color: ColorDepth::True,
        session_budget: MicroDollars::ZERO,
        now: || "2026-06-08T14:22:31Z".parse().unwrap(),
        time_zone: zone,
        changes: None,
        store: None,
    };
    let (_keep, head) = tokio::sync::watch::channel(Seq(records.len() as u64));
    let history = History::new(MemorySource::new(records.to_vec()));
    let view = SessionView::new(SessionId::new("x"), history, head);
    let Ok(mut preview) = SessionPreview::open(view, &settings) else { return };
    for key in ["1", "2", "3", "4", "Home", "]", "End", "Enter", "Esc", "?"] {
        let _ = preview.press_key(key);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 100, 30));
        let _ = preview.draw(&mut buffer);
    }
}

/// Reads an export as an import would, event by event.
fn imported_records(path: &Path) -> Option<Vec<Record>> {
    let export = jsonl::ExportReader::open(path).ok()??;
    let (_, _, _, mut incoming) = export.into_parts(SessionId::new("x"));
    let mut records = Vec::new();
    while let Some(arrival) = incoming.next_event().ok()? {
        let row = arrival.row;
        let event = planwright_model::event::Event::decode(&row.payload).ok()?;
        records.push(Record { seq: row.seq, at: row.at, event });
    }
    let _ = incoming.summary();
    Some(records)
}

/// Transcripts in every format that is read: what other programs wrote.
fn transcripts() -> Vec<String> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    let kept = std::fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = kept
        .filter(|file| file.extension().is_some_and(|end| end == "jsonl" || end == "json"))
        .collect();
    files.sort();
    let kept = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    [CODEX.to_owned(), CLAUDE.to_owned()].into_iter().chain(kept).collect()
}

proptest! {
    #[test]
    fn exports_of_sessions(text in mutated(base().exports.clone())) {
        let (_dir, path) = written(&text, "export.jsonl");
        if let Some(records) = imported_records(&path) {
            look_at(&records);
        }
    }

    /// One event is changed and still an event: records that no version wrote are folded, drawn and exported all the same.
    #[test]
    fn forged_sessions(
        which in 0..2_usize,
        at in any::<usize>(),
        event in mutated(base().events.clone()),
    ) {
        let mut lines: Vec<String> = base().exports[which].lines().map(str::to_owned).collect();
        let at = 1 + at % (lines.len() - 1);
        let mut line: serde_json::Value = serde_json::from_str(&lines[at]).unwrap();
        if let Ok(event) = serde_json::from_str::<serde_json::Value>(&event) {
            line["event"] = event;
        }
        lines[at] = line.to_string();
        let (_dir, path) = written(&(lines.join("\n") + "\n"), "export.jsonl");
        if let Some(records) = imported_records(&path) {
            look_at(&records);
        }
    }

    #[test]
    fn transcripts_of_other_programs(text in mutated(transcripts())) {
        let (_dir, path) = written(&text, "rollout.jsonl");
        if let Ok((_, records)) = transcript_import::read_transcript(&path, &Redactor::default()) {
            look_at(&records);
        }
        if let Ok(Some((_, records))) =
            transcript_import::read_transcript_document(&path, &Redactor::default())
        {
            look_at(&records);
        }
    }

    #[test]
    fn traces_of_attempts(text in mutated(base().traces.clone())) {
        let (_dir, path) = written(&text, "traces.json");
        if let Ok(found) = seed_traces::read_traces(&path, &Redactor::default())
            && let Ok(records) = seed_traces::session_from_traces(&found, "fuzz")
        {
            look_at(&records);
        }
    }
}
