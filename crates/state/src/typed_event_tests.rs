//! The fold of rows as version 0.3 wrote them, and of rows that do not fit.

use jiff::Timestamp;

use super::SessionState;
use planwright_model::event::{Event, Record};
use planwright_model::permission::{PermissionRule, RuleMatcher};
use planwright_model::{PlanDrafter, Seq};

const ROWS: &str = include_str!("../../model/fixtures/rows-0.3.jsonl");

fn fold<'a>(rows: impl IntoIterator<Item = &'a str>) -> SessionState {
    let records: Vec<Record> = rows
        .into_iter()
        .zip(1..)
        .map(|(row, seq)| {
            let event = Event::decode(row.as_bytes()).unwrap();
            Record::new(Seq(seq), Timestamp::UNIX_EPOCH, event)
        })
        .collect();
    SessionState::from_records(&records)
}

fn rows_with(part: &'static str) -> impl Iterator<Item = &'static str> {
    ROWS.lines().filter(move |row| row.contains(part))
}

#[test]
fn no_row_of_version_0_3_is_unknown_to_the_fold() {
    let state = fold(ROWS.lines());
    assert_eq!(state.totals.unknown, 0);
    assert_eq!(state.planning.drafter, PlanDrafter::Model("ollama/qwen3".into()));
    assert!(!state.planning.offline);
    assert_eq!(state.planning.notes, ["n"], "only the trace of ContextElicitor brings notes");
}

#[test]
fn a_grant_stands_until_it_is_revoked() {
    let granted = fold(rows_with(r#""kind":"granted""#));
    assert_eq!(granted.grants.len(), 5);
    let command = RuleMatcher::Command { command: "cargo test".into() };
    assert_eq!(granted.grants[0], PermissionRule::allow("shell.run", command));
    let both = rows_with(r#""kind":"granted""#).chain(rows_with(r#""kind":"revoked""#));
    let revoked = fold(both);
    assert_eq!(revoked.grants, granted.grants[1..]);
    assert_eq!(revoked.totals.anomalies, 0);
}

#[test]
fn a_grant_that_does_not_fit_grants_nothing_and_is_counted() {
    let row = r#"{"topic":"agent","body":{"kind":"granted","rule":{"tool":"grep"},"words":"w"}}"#;
    let state = fold([row]);
    assert_eq!((state.grants.len(), state.totals.unknown), (0, 1));
}

#[test]
fn the_gate_tells_a_small_goal_by_its_decision() {
    let state = fold(rows_with(r#""kind":"gated""#));
    assert!(state.planning.small_goal);
    assert_eq!(state.planning.gate.unwrap().reason, "no_signal");
    let full = r#"{"topic":"agent","body":{"kind":"gated","decision":{"should_escalate":true}}}"#;
    assert!(!fold([full]).planning.small_goal);
}

#[test]
fn a_task_that_begins_anew_forgets_its_work_and_a_resumed_one_does_not() {
    let saved = || rows_with(r#""kind":"state_saved""#);
    let task = "t".into();
    let resumed = fold(saved().chain(rows_with(r#""resumed":true,"step":"edit""#)));
    assert!(resumed.agents.get(&task).unwrap().work.is_some());
    let begun = fold(saved().chain(rows_with(r#""resumed":false"#)));
    assert!(begun.agents.get(&task).unwrap().work.is_none());
}
