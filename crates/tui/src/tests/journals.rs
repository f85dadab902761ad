//! Sessions that the engine recorded, as they are kept under `tests/fixtures`: the cards under test are the cards it asks.

use std::path::Path;
use std::sync::Arc;

use super::fixture::Fixture;
use planwright_model::event::{ApprovalEvent, Event, Record};
use planwright_model::{ApprovalTarget, Request, RequestKind};

/// Every card: its name, the journal it is in, and which of the requests there it is.
const CARDS: [(&str, &str, usize); 38] = [
    ("questions", "questions", 1),
    ("question", "question", 1),
    ("kind", "kind", 1),
    ("goal", "goal", 1),
    ("pattern", "drafts", 1),
    ("outline", "drafts", 3),
    ("roadmap", "drafts", 4),
    ("planned", "drafts", 5),
    ("moved", "moved", 2),
    ("rfc", "rfc", 1),
    ("rfc_pattern", "rfc_pattern", 1),
    ("low_confidence", "low_confidence", 1),
    ("validation", "validation", 1),
    ("planning_cap", "planning_cap", 3),
    ("planning_budget", "planning_budget", 1),
    ("escalation", "escalation", 1),
    ("permission", "permission", 2),
    ("permission_file", "permission_file", 2),
    ("command", "command", 2),
    ("task_cap", "task_cap", 2),
    ("agent_question", "agent_question", 2),
    ("partly_done", "partly_done", 2),
    ("change_review", "change_review", 2),
    ("change_conflict", "change_conflict", 3),
    ("applied_check", "applied_check", 3),
    ("own_agents_plan", "own_agents", 1),
    ("own_agent_permission", "own_agents", 2),
    ("own_agent_review", "own_agents", 4),
    ("candidate_choice", "candidate_choice", 2),
    ("consent", "consent", 1),
    ("model_trouble", "model_trouble", 1),
    ("cap", "cap", 2),
    ("cap_agents", "cap", 3),
    ("in_doubt", "in_doubt", 2),
    ("corrections", "corrections", 1),
    ("submitted", "ticket", 1),
    ("desk_question", "desk_question", 1),
    ("desk_permission", "desk_permission", 1),
];

/// All records of a kept journal.
pub(crate) fn recorded_journal(name: &str) -> Vec<Record> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures")
        .join(format!("{name}.jsonl"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let decode = |line: &str| {
        let record: Record = serde_json::from_str(line).unwrap();
        assert!(!matches!(record.event, Event::Unknown(_)), "{name}: {line}");
        record
    };
    text.lines().map(decode).collect()
}

fn asked_request(record: &Record) -> Option<&Arc<Request>> {
    match &record.event {
        Event::Approval(ApprovalEvent::Asked { request }) => Some(request),
        _ => None,
    }
}

/// A kept journal up to its so many-th request.
pub(crate) fn recorded_request(name: &str, number: usize) -> Fixture {
    let mut records = recorded_journal(name);
    let asked = (1..).zip(&records).filter(|(_, record)| asked_request(record).is_some());
    let length = asked.map(|(at, _)| at).nth(number - 1).unwrap();
    records.truncate(length);
    Fixture::from_records(records)
}

/// The request by which a plan file is approved, as the engine asks it.
pub(crate) fn plan_request() -> Request {
    let records = recorded_journal("release");
    records.iter().find_map(asked_request).map(|request| Request::clone(request)).unwrap()
}

/// A session for every card, by name.
pub(crate) fn every_request() -> Vec<(&'static str, Fixture)> {
    CARDS.iter().map(|(name, file, number)| (*name, recorded_request(file, *number))).collect()
}

/// The request that a card is about.
pub(crate) fn card_request(name: &str) -> Request {
    let (_, file, number) = CARDS.iter().find(|(known, ..)| *known == name).unwrap();
    let records = recorded_request(file, *number).records;
    records.last().and_then(asked_request).map(|request| Request::clone(request)).unwrap()
}

/// Every kind of request that the engine can ask; drafts by what they are a draft of.
const KINDS: [&str; 24] = [
    "final_plan",
    "cap",
    "in_doubt",
    "questions",
    "goal",
    "draft_pattern",
    "draft_outline",
    "draft_roadmap",
    "rfc",
    "low_confidence",
    "validation",
    "planning_cap",
    "escalation",
    "permission",
    "task_cap",
    "consent",
    "model_trouble",
    "agent_question",
    "partly_done",
    "change_review",
    "desk_question",
    "desk_permission",
    "applied_check",
    "candidate_choice",
];

/// A new kind does not compile until it stands here, and fails the test below until the engine was recorded asking it.
fn kind_name(kind: &RequestKind) -> &'static str {
    match kind {
        // The plan as a whole is asked about by its hash; the draft of it is in no journal.
        RequestKind::FinalPlan { .. }
        | RequestKind::Draft { target: ApprovalTarget::Final, .. } => KINDS[0],
        RequestKind::Cap { .. } => KINDS[1],
        RequestKind::InDoubt { .. } => KINDS[2],
        RequestKind::Questions { .. } => KINDS[3],
        RequestKind::Goal => KINDS[4],
        RequestKind::Draft { target: ApprovalTarget::Pattern, .. } => KINDS[5],
        RequestKind::Draft { target: ApprovalTarget::Outline, .. } => KINDS[6],
        RequestKind::Draft { target: ApprovalTarget::Roadmap, .. } => KINDS[7],
        RequestKind::Rfc { .. } => KINDS[8],
        RequestKind::LowConfidence { .. } => KINDS[9],
        RequestKind::Validation { .. } => KINDS[10],
        RequestKind::PlanningCap { .. } => KINDS[11],
        RequestKind::Escalation => KINDS[12],
        RequestKind::Permission { .. } => KINDS[13],
        RequestKind::TaskCap { .. } => KINDS[14],
        RequestKind::Consent { .. } => KINDS[15],
        RequestKind::ModelTrouble { .. } => KINDS[16],
        RequestKind::AgentQuestion { .. } => KINDS[17],
        RequestKind::PartlyDone { .. } => KINDS[18],
        RequestKind::ChangeReview { .. } => KINDS[19],
        RequestKind::DeskQuestion { .. } => KINDS[20],
        RequestKind::DeskPermission { .. } => KINDS[21],
        RequestKind::AppliedCheck { .. } => KINDS[22],
        RequestKind::CandidateChoice { .. } => KINDS[23],
    }
}

#[test]
fn every_kind_of_request_was_recorded() {
    let cards: Vec<Request> = CARDS.iter().map(|(name, ..)| card_request(name)).collect();
    for name in KINDS {
        let is_there = cards.iter().any(|request| kind_name(&request.kind) == name);
        assert!(is_there, "no journal under tests/fixtures has a request of the kind {name}");
    }
}

#[test]
fn every_card_is_an_open_request_of_its_session() {
    for (name, fixture) in every_request() {
        let state = fixture.state();
        assert_eq!(state.totals.anomalies, 0, "{name}");
        let asked = card_request(name);
        let mut open = state.requests.open.values();
        assert!(open.any(|open| *open.request == asked), "{name}: {asked:?}");
    }
}
