//! Transcripts that coding agents wrote, imported: what was asked, called, answered and paid can be read, and nothing is
//! unknown. See `tests/fixtures/transcripts/README.md` for where they come from.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use planwright_model::event::{AgentEvent, Event, PlanEvent, Record, SessionEvent, TaskEvent};
use planwright_state::SessionState;
use planwright_store::exchange::transcript_import::{
    failure_bookmarks, read_transcript, read_transcript_document,
};
use planwright_text::Redactor;

use crate::program::{Place, json_lines};

/// Every kept transcript and the program that wrote it.
const TRANSCRIPTS: [(&str, &str); 14] = [
    ("claude_code.jsonl", "claude-code"),
    ("claude_stream.jsonl", "claude-code"),
    ("codex_error_rollout.jsonl", "codex"),
    ("codex_exec.jsonl", "codex"),
    ("codex_exec_error.jsonl", "codex"),
    ("codex_rollout.jsonl", "codex"),
    ("gemini_cli.jsonl", "gemini-cli"),
    ("gemini_stream.jsonl", "gemini-cli"),
    ("gemini_subagent.jsonl", "gemini-cli"),
    ("goose.json", "goose"),
    ("goose_run.jsonl", "goose"),
    ("opencode.json", "opencode"),
    ("opencode_run.jsonl", "opencode"),
    ("opencode_run_error.jsonl", "opencode"),
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts").join(name)
}

fn read_fixture(name: &str) -> (&'static str, Vec<Record>) {
    let (path, redactor) = (fixture(name), Redactor::default());
    let (program, records) = if path.extension().is_some_and(|ending| ending == "json") {
        read_transcript_document(&path, &redactor).unwrap().unwrap()
    } else {
        read_transcript(&path, &redactor).unwrap()
    };
    (program.name(), records)
}

/// A session as somebody reads it: its tasks, their steps and their ends, what it used, which steps are marked.
fn story(records: &[Record]) -> String {
    let mut text = String::new();
    let mut state = SessionState::default();
    for record in records {
        state.apply(record);
        let line = match &record.event {
            Event::Session(SessionEvent::Created { title, workspace, .. }) => {
                format!("{title} ({workspace})")
            }
            Event::Plan(PlanEvent::Proposed { plan, .. }) => plan
                .tasks
                .iter()
                .map(|task| {
                    let after: Vec<String> = task
                        .dependencies
                        .iter()
                        .map(|link| format!("{:?} {}", link.kind, link.task))
                        .collect();
                    format!("- {}: {} [{}]", task.id, task.description, after.join(", "))
                })
                .collect::<Vec<_>>()
                .join("\n"),
            Event::Task(TaskEvent::Started { task, .. }) => format!("{task} starts"),
            Event::Task(TaskEvent::Completed { task, .. }) => format!("{task} is done"),
            Event::Task(TaskEvent::Failed { task, failure, .. }) => {
                format!("{task} failed: {}", failure.message)
            }
            Event::Agent(AgentEvent::TodoListed { items, .. }) => {
                let items: Vec<String> =
                    items.iter().map(|item| format!("{:?} {}", item.status, item.text)).collect();
                format!("  to do: {}", items.join("; "))
            }
            Event::Agent(AgentEvent::UsageReported { task, tokens, cost, .. }) => {
                format!("  {task} used {tokens:?} tokens, {cost:?}")
            }
            Event::Agent(event) => match event.react_step() {
                Some(step) => {
                    let failed = step.metadata.foreign.contains_key("is_error");
                    let content: String = step.content.chars().take(110).collect();
                    let mark = if failed { " FAILED" } else { "" };
                    format!("  {} {:?}{mark} {content:?}", step.task_id, step.action)
                }
                None => continue,
            },
            Event::Unknown(_) => "UNKNOWN".to_owned(),
            _ => continue,
        };
        let _ = writeln!(text, "{line}");
    }
    for mark in failure_bookmarks(records) {
        let _ = writeln!(text, "bookmark at {}: {}", mark.seq.0, mark.note);
    }
    let _ = writeln!(text, "{} tokens, {}", state.totals.tokens, state.totals.cost);
    text
}

#[test]
fn every_transcript_reads_as_what_happened() {
    for (name, program) in TRANSCRIPTS {
        let (wrote, records) = read_fixture(name);
        assert_eq!(wrote, program, "{name}");
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name.replace('.', "_"), story(&records));
        });
    }
}

#[test]
fn no_record_of_a_known_kind_is_unknown() {
    for (name, _) in TRANSCRIPTS {
        let (_, records) = read_fixture(name);
        let unknown: Vec<&Record> =
            records.iter().filter(|record| matches!(record.event, Event::Unknown(_))).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
    }
}

/// What a person looks for after an import: the title, the arguments of a call, its output, what failed, what it cost.
#[test]
fn an_imported_transcript_is_searched_shown_and_exported() {
    for (name, program) in [
        ("claude_code.jsonl", "claude-code"),
        ("codex_rollout.jsonl", "codex"),
        ("gemini_cli.jsonl", "gemini-cli"),
        ("opencode.json", "opencode"),
        ("goose.json", "goose"),
    ] {
        let place = Place::new();
        let path = fixture(name).to_string_lossy().into_owned();
        let imported = place.run(&["import", &path, "--json"]);
        let said = String::from_utf8_lossy(&imported.stderr).into_owned();
        assert_eq!(imported.status.code(), Some(0), "{name}: {said}");
        let summary = json_lines(&imported).remove(0);
        assert_eq!(summary["source"], program);
        let title = summary["title"].as_str().unwrap();
        assert!(title.contains("Count the lines of the readme"), "{name}: {title}");
        for words in ["wc", "broken"] {
            let hits = json_lines(&place.run(&["sessions", "search", words, "--json"]));
            assert!(!hits.is_empty(), "{name}: {words}");
        }
        let unknown =
            json_lines(&place.run(&["sessions", "search", "--kind", "unknown", "--json"]));
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
        assert_eq!(place.run(&["sessions", "verify"]).status.code(), Some(0));
        let again = place.work().join("again.jsonl").to_string_lossy().into_owned();
        let exported = place.run(&["export", "last", "--format", "jsonl", "-o", &again]);
        assert_eq!(exported.status.code(), Some(0));
        let other = Place::new();
        assert_eq!(other.run(&["import", &again]).status.code(), Some(0), "{name}");
    }
}
