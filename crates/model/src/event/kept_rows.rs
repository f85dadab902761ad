//! Rows as version 0.3 wrote them stay readable, and are written back as they were.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{AgentEvent, Event};
use crate::agent_decision::AgentDecision;

/// At least one row of every kind of agent event, taken from sessions of version 0.3, and of the planning events whose
/// fields were strings then.
const ROWS: &str = include_str!("../../fixtures/rows-0.3.jsonl");

fn decode(row: &str) -> Event {
    Event::decode(row.as_bytes()).unwrap()
}

fn to_json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn every_row_is_understood_and_written_back_as_it_was() {
    for row in ROWS.lines() {
        let event = decode(row);
        assert!(!matches!(event, Event::Unknown(_)), "not understood: {row}");
        assert_eq!(to_json(&event.encode().unwrap()), to_json(row.as_bytes()), "{row}");
        assert_eq!(Event::decode(&event.encode().unwrap()).unwrap(), event);
    }
}

#[test]
fn the_order_of_fields_is_kept_where_it_was_fixed() {
    // Metadata of steps had the order in which it was collected, and the gate's row its type at the end.
    for row in ROWS.lines().filter(|row| !row.contains("metadata") && !row.contains("GATE_")) {
        assert_eq!(String::from_utf8(decode(row).encode().unwrap()).unwrap(), row);
    }
}

#[test]
fn no_decision_of_version_0_3_is_kept_as_mere_text() {
    for row in ROWS.lines() {
        if let Event::Agent(AgentEvent::Decided { decision, .. }) = decode(row) {
            assert!(!matches!(*decision, AgentDecision::Other(_)), "{row}");
        }
    }
}

#[test]
fn there_is_a_row_of_every_kind() {
    let kinds: BTreeSet<String> = ROWS.lines().map(|row| decode(row).kind().into_owned()).collect();
    let agent = kinds.iter().filter(|kind| kind.starts_with("agent."));
    let expected = [
        "acted",
        "child_moved",
        "concluded",
        "decided",
        "gated",
        "granted",
        "model_answered",
        "model_asked",
        "model_failed",
        "observed",
        "partial",
        "revoked",
        "state_saved",
        "thought",
    ];
    assert!(agent.eq(expected.map(|kind| format!("agent.{kind}")).iter()));
}

#[test]
fn a_row_that_does_not_fit_is_kept_verbatim() {
    for body in [
        r#"{"kind":"state_saved","task":"a","attempt":1,"state":{"state":7}}"#,
        r#"{"kind":"gated","decision":{"should_escalate":"perhaps"}}"#,
        r#"{"kind":"granted","rule":{"tool":"grep"},"words":"w"}"#,
        r#"{"kind":"granted","rule":{"effect":"allow","tool":"grep","matching":{"match":"moon"}},"words":"w"}"#,
        r#"{"kind":"revoked","rule":"all"}"#,
        r#"{"kind":"child_moved","task":"a","child":"a.1","title":"t","state":{"state":"lost"}}"#,
        r#"{"kind":"model_answered","ask":1,"text":"","calls":{"name":"grep"},"tokens":1,"elapsed_ms":1}"#,
    ] {
        let row = format!(r#"{{"topic":"agent","body":{body}}}"#);
        let event = decode(&row);
        assert!(matches!(event, Event::Unknown(_)), "{row}");
        assert_eq!(event.encode().unwrap(), row.as_bytes());
    }
}

#[test]
fn a_decision_of_another_version_is_an_event_all_the_same() {
    let row = r#"{"topic":"agent","body":{"kind":"decided","task":"a","attempt":1,"decision":{"_type":"OMEN","depth":3}}}"#;
    let Event::Agent(AgentEvent::Decided { decision, .. }) = decode(row) else { panic!() };
    let AgentDecision::Other(raw) = *decision else { panic!() };
    assert_eq!(raw.as_str(), r#"{"_type":"OMEN","depth":3}"#);
    assert_eq!(decode(row).encode().unwrap(), row.as_bytes());
}

#[test]
fn missing_fields_are_defaults_and_extra_fields_are_ignored() {
    let row = r#"{"topic":"agent","body":{"kind":"gated","decision":{"should_escalate":false,"mood":"good"}}}"#;
    let Event::Agent(AgentEvent::Gated { decision }) = decode(row) else { panic!() };
    assert!(!decision.should_escalate);
    let row = r#"{"topic":"agent","body":{"kind":"gated","decision":{}}}"#;
    let Event::Agent(AgentEvent::Gated { decision }) = decode(row) else { panic!() };
    assert!(decision.should_escalate, "what is not said skips nothing");
}
