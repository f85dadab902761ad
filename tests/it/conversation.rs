//! A whole conversation with a recorded model: drafted, changed, approved, and resumed from every point where it was killed.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use jiff::Timestamp;
use planwright_engine::planner::{ModelClient, Planner, PlanningPrompts};
use planwright_engine::resume::{ResumeMode, RunLeftovers, resume_events};
use planwright_engine::{self as engine, EngineOptions};
use planwright_llm::offline::{OfflineAnswer, OfflineModel};
use planwright_llm::protocol::ModelDialogue;
use planwright_llm::recorded::{RecordedModel, RecordingModel};
use planwright_llm::{GenerateRequest, LanguageModel, ToolCall};
use planwright_model::event::{
    AgentEvent, ApprovalEvent, Command, Event, PlanEvent, PlanningEvent, Record, SessionEvent,
};
use planwright_model::{
    Actor, Answer, ApprovalPolicy, ApprovalTarget, ChoiceAction, PlanLimits, PlanState,
    PolicyOverride, RequestKind, SessionId, TaskId,
};
use planwright_state::SessionState;
use planwright_state::replay::History;
use planwright_store::journal_source::JournalSource;
use planwright_store::{JournalBatch, JournalRow, NewSession, SessionSummary, Store};
use planwright_text::Redactor;
use serde_json::{Value, json};

use crate::support::{Bench, Script};

/// Monday, 8 June 2026. The clock is fixed, so that equal requests stay equal.
fn clock() -> engine::Clock {
    let now: Timestamp = "2026-06-08T07:00:00Z".parse().unwrap();
    Arc::new(move || now)
}

fn task(id: &str, title: &str, minutes: u32) -> Value {
    json!({"id": id, "title": title, "done_when": "two people have seen it", "minutes": minutes})
}

/// What the model answers to each question; the second outline request includes the person's change request.
fn scripted(request: &GenerateRequest) -> OfflineAnswer {
    let tool = request.tools[0].name.clone();
    let asked = serde_json::to_string(&request.messages).unwrap();
    let changed = asked.contains("The person asks");
    let arguments = match tool.as_str() {
        "PatternSelector" => json!({
            "pattern_type": "milestone_project", "subtype": "generic", "confidence": 0.9,
            "why": "it ends with a shelf on the wall"
        }),
        "NodeGenerator" => {
            let saw = if changed { "Have the boards cut at the shop" } else { "Saw the boards" };
            let oil = if changed { "Wax the boards" } else { "Oil the boards" };
            json!({"phases": [
                {"id": "p1", "title": "Prepare", "tasks": [
                    task("p1.t1", "Measure the wall", 30),
                    // The model would change this one as well, although nobody asked for it.
                    task("p1.t2", if changed { "Buy everything" } else { "Buy wood" }, 90),
                ]},
                {"id": "p2", "title": "Build", "tasks": [
                    task("p2.t1", saw, 120),
                    task("p2.t2", oil, 60),
                    task("p2.t3", "Review the shelf on the wall", 30),
                ]}
            ], "self_score": 0.9})
        }
        _ => json!({
            "estimates": [{"id": "p1.t2", "minutes": 75}, {"id": "p2.t1", "minutes": 135}],
            "self_score": 0.9
        }),
    };
    OfflineAnswer {
        text: "Here it is; consider it approved.".to_owned(),
        calls: vec![ToolCall { id: "1".into(), name: tool, arguments }],
    }
}

fn options(model: Arc<dyn LanguageModel>, asks: u32) -> EngineOptions {
    let client = ModelClient {
        dialogue: ModelDialogue::new(model),
        prompts: Arc::new(PlanningPrompts::default()),
        redactor: Redactor::default(),
        next_ask: Arc::new(AtomicU32::new(asks)),
        temperature: None,
        max_output_tokens: None,
        workspace: None,
    };
    let planner = Planner { model: Some(Arc::new(client)), ..Planner::offline("Europe/Berlin") };
    EngineOptions {
        clock: clock(),
        planner: Some(Arc::new(planner)),
        ..EngineOptions::with_executor(Arc::new(Script::new(&[])))
    }
}

fn opening() -> Vec<Event> {
    let goal = "build a shelf in 3 weeks".to_owned();
    vec![
        SessionEvent::Created {
            format: planwright_model::event::FORMAT,
            program: "test".into(),
            title: goal.clone(),
            goal: Some(goal.clone()),
            workspace: std::env::temp_dir().to_string_lossy().into_owned(),
            plan_file: None,
        }
        .into(),
        PlanningEvent::Began {
            goal,
            thread_id: "user_test:shelf".into(),
            policy: PolicyOverride {
                approval_policy: Some(ApprovalPolicy::MilestoneApprovals),
                probing_depth: Some(0),
                ..PolicyOverride::default()
            },
            limits: PlanLimits::default(),
            drafter: "offline/scripted".into(),
        }
        .into(),
    ]
}

const LOCKED: &str = "p1.t1";

/// What the person does, based only on what is on the screen: whoever resumes the session does the same.
fn person(state: &SessionState) -> Option<Command> {
    let open = state.requests.oldest_open()?;
    let id = open.request.id;
    let by = Actor::Person;
    let answer = match &open.request.kind {
        RequestKind::Draft { target: ApprovalTarget::Outline, .. }
            if state.planning.counters.revisions == 0 =>
        {
            if !state.planning.locked.contains(&TaskId::from(LOCKED)) {
                return Some(Command::Lock { node: LOCKED.into(), on: true });
            }
            Answer {
                nodes: vec!["p2.t1".into(), "p2.t2".into()],
                ..Answer::with_text(ChoiceAction::RequestChanges, "less sawing, and wax is nicer")
            }
        }
        RequestKind::Draft { .. } => ChoiceAction::Approve.into(),
        RequestKind::FinalPlan { .. } => ChoiceAction::ApproveAndStop.into(),
        other => panic!("{other:?} is not expected: {}", open.request.why),
    };
    Some(Command::Answer { id, answer, by })
}

fn history(store: &Store, id: &SessionId) -> History {
    History::new(JournalSource::new(store.reader().unwrap(), id.clone()))
}

fn durable(store: &Store, id: &SessionId) -> SessionState {
    let mut history = history(store, id);
    let head = history.head_seq().unwrap();
    SessionState::clone(&*history.state_at(head).unwrap())
}

/// Drives a session, answering for the person, until the plan is complete.
async fn to_completion(
    store: &Store,
    id: &SessionId,
    model: Arc<dyn LanguageModel>,
    first: Vec<Event>,
) -> SessionState {
    let before = durable(store, id);
    let journal = store.acquire_session(id).unwrap();
    let handle =
        engine::start_session(journal, before.clone(), first, options(model, before.totals.asks));
    let mut head = handle.head.clone();
    let completed = async {
        let mut answered = None;
        loop {
            head.borrow_and_update();
            let state = durable(store, id);
            if state.planning.is_over() {
                return state;
            }
            if answered != Some(state.seq)
                && let Some(command) = person(&state)
            {
                answered = Some(state.seq);
                handle.commands.send(command).await.unwrap();
            }
            head.changed().await.expect("the session goes on until the plan is complete");
        }
    };
    let state = tokio::time::timeout(std::time::Duration::from_secs(120), completed)
        .await
        .expect("the conversation ends in time");
    handle.wait_until_closed().await.unwrap();
    state
}

fn row(record: &Record) -> JournalRow {
    JournalRow {
        seq: record.seq,
        at: record.at,
        kind: record.event.kind(),
        task: record.event.task_id().map(ToString::to_string),
        payload: record.event.encode().unwrap(),
    }
}

/// A session as a killed process leaves it: everything up to an event, and no closing record.
fn left_behind(store: &Store, name: &str, records: &[Record]) -> SessionId {
    let id = SessionId::new(name);
    store
        .create_session(NewSession {
            id: id.clone(),
            created_at: Timestamp::now(),
            format: 1,
            parent: None,
            summary: SessionSummary::default(),
        })
        .unwrap();
    let journal = store.acquire_session(&id).unwrap();
    let batch = JournalBatch::from_rows(records.iter().map(row).collect());
    journal.append_blocking(batch).unwrap().wait().unwrap();
    journal.release().unwrap();
    id
}

/// The points where a kill can cut the journal: after a transition with all its effects, after each request to a model
/// and each of its answers, after each action of the person. A stage's result and the transition after it are one batch.
fn cuts(records: &[Record]) -> Vec<usize> {
    let follows = |event: &Event| {
        matches!(
            event,
            Event::Planning(PlanningEvent::Traced { .. } | PlanningEvent::Said { .. })
                | Event::Approval(ApprovalEvent::Asked { .. } | ApprovalEvent::Withdrawn { .. })
                | Event::Plan(PlanEvent::Proposed { .. })
        )
    };
    let mut cuts = Vec::new();
    let mut moved = false;
    for (at, record) in records.iter().enumerate() {
        if moved && !follows(&record.event) {
            cuts.push(at);
            moved = false;
        }
        match &record.event {
            Event::Planning(PlanningEvent::Moved { .. }) => moved = true,
            Event::Planning(PlanningEvent::Began { .. } | PlanningEvent::NodeLocked { .. })
            | Event::Agent(AgentEvent::ModelAsked { .. } | AgentEvent::ModelAnswered { .. }) => {
                cuts.push(at + 1);
            }
            _ => {}
        }
    }
    cuts
}

fn titles(state: &SessionState) -> Vec<(String, String)> {
    let outline = state.planning.outline.as_ref().unwrap();
    outline.nodes.iter().map(|node| (node.id.to_string(), node.title.clone())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_on_tape_is_changed_approved_and_survives_a_kill_in_every_state() {
    let bench = Bench::new();
    let tapes = tempfile::tempdir().unwrap();
    let tape = tapes.path().join("shelf.jsonl");
    let live = OfflineModel::new("scripted", Arc::new(|request| Ok(scripted(request))));
    let recording = RecordingModel::record_to(Arc::new(live), &tape, Redactor::default()).unwrap();
    to_completion(&bench.store, &bench.id, Arc::new(recording), opening()).await;

    // From here on only the recording answers.
    let id = left_behind(&bench.store, "straight", &[]);
    let completed = to_completion(&bench.store, &id, recorded(&tape), opening()).await;
    assert_eq!(completed.planning.place.state, PlanState::Complete);
    assert!(completed.is_runnable(), "approved by its hash");
    assert_eq!(completed.planning.counters.revisions, 1);
    let titles_now = titles(&completed);
    let title = |id: &str| {
        let found = titles_now.iter().find(|(known, _)| known == id);
        found.map_or("", |(_, title)| title.as_str())
    };
    assert_eq!(title("p2.t1"), "Have the boards cut at the shop");
    assert_eq!(title("p2.t2"), "Wax the boards");
    assert_eq!(title("p1.t1"), "Measure the wall", "locked");
    assert_eq!(title("p1.t2"), "Buy wood", "not marked, so not to be changed");

    let records = records(&bench.store, &id);
    let states: BTreeSet<PlanState> = records
        .iter()
        .filter_map(|record| match &record.event {
            Event::Planning(PlanningEvent::Moved { from, .. }) => Some(from.state),
            _ => None,
        })
        .collect();
    let expected = BTreeSet::from([
        PlanState::CollectContext,
        PlanState::DraftOutline,
        PlanState::ValidateOutline,
        PlanState::DraftRoadmap,
        PlanState::ValidateRoadmap,
        PlanState::DraftSchedule,
        PlanState::ValidateSchedule,
        PlanState::SeekApproval,
    ]);
    assert_eq!(states, expected, "every state of a conversation that goes well");

    let mut killed_in = BTreeSet::new();
    for (number, cut) in cuts(&records).into_iter().enumerate() {
        let id = left_behind(&bench.store, &format!("killed-{number}"), &records[..cut]);
        let found = durable(&bench.store, &id);
        killed_in.insert(found.planning.place.state);
        let first = resume_events(&found, &RunLeftovers::new(), ResumeMode::Continue, 3, "test");
        let again = to_completion(&bench.store, &id, recorded(&tape), first).await;
        let after = format!("killed in {} after event {cut}", found.planning.place);
        assert_eq!(again.planning.outline, completed.planning.outline, "{after}");
        assert_eq!(again.planning.roadmap, completed.planning.roadmap, "{after}");
        assert_eq!(again.planning.schedule, completed.planning.schedule, "{after}");
        assert_eq!(again.planning.counters.revisions, 1, "{after}");
        let hash = |state: &SessionState| state.plan.current.as_ref().unwrap().hash.clone();
        assert_eq!(hash(&again), hash(&completed), "{after}");
        assert!(again.is_runnable(), "{after}");
    }
    assert!(killed_in.is_superset(&expected), "{killed_in:?}");
    // The table of plans matches the journal, and has no dangling references.
    let reader = bench.store.reader().unwrap();
    assert_eq!(reader.plan_versions(&id).unwrap(), engine::plan_rows::collect_plan_rows(&records));
    assert_eq!(reader.broken_references().unwrap(), 0);
}

fn recorded(tape: &Path) -> Arc<dyn LanguageModel> {
    Arc::new(RecordedModel::open(tape, Redactor::default()).unwrap())
}

fn records(store: &Store, id: &SessionId) -> Vec<Record> {
    let mut history = history(store, id);
    let head = history.head_seq().unwrap();
    (1..=head.0)
        .map(|seq| history.record_at(planwright_model::Seq(seq)).unwrap().unwrap())
        .collect()
}

/// A panic in the code around a model must end the stage, not leave a session that waits forever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_in_a_stage_ends_the_stage_with_its_message() {
    let bench = Bench::new();
    let id = left_behind(&bench.store, "panicking", &[]);
    let model = OfflineModel::new("broken", Arc::new(|_| panic!("the adapter broke")));
    let journal = bench.store.acquire_session(&id).unwrap();
    let handle = engine::start_session(
        journal,
        SessionState::default(),
        opening(),
        options(Arc::new(model), 0),
    );
    let mut head = handle.head.clone();
    let failure_message = async {
        loop {
            head.borrow_and_update();
            let mut past = history(&bench.store, &id);
            let last = past.head_seq().unwrap();
            let records = past.records_after(planwright_model::Seq::START, last).unwrap();
            let message = records.iter().find_map(|record| match &record.event {
                Event::Planning(PlanningEvent::Troubled { what, .. }) => Some(what.clone()),
                _ => None,
            });
            let state = durable(&bench.store, &id);
            if let Some(what) = message
                && (state.planning.is_over() || state.requests.oldest_open().is_some())
            {
                return what;
            }
            head.changed().await.expect("the session goes on until it is told");
        }
    };
    let what =
        tokio::time::timeout(std::time::Duration::from_secs(60), failure_message).await.unwrap();
    assert!(what.contains("internal error: the adapter broke"), "{what}");
    drop(handle.commands);
}
