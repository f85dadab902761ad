//! The engine's side: plans run by the engine itself on a real store.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use planwright_engine::{self as engine, CallDurability, EngineOptions, SessionHandle};
use planwright_model::event::{CallOutcome, Command, Event, FORMAT, PlanEvent, SessionEvent};
use planwright_model::{Actor, Plan, Seq, SessionId, TaskNode};
use planwright_plan::graph;
use planwright_state::SessionState;
use planwright_state::replay::History;
use planwright_store::journal_source::JournalSource;
use planwright_store::{JournalRow, NewSession, OpenMode, SessionSummary, Store};
use planwright_tools::{AttemptEventSink, AttemptOutcome, TaskAttempt, TaskExecutor};
use tokio_util::sync::CancellationToken;

/// What the engine journals for a task that does nothing: started, intended, concluded, completed.
pub const EVENTS_PER_TASK: u64 = 4;
/// Created, proposed and approved; the run's own start and end come with the run.
const BEFORE_RUN: u64 = 3;
const AROUND_RUN: u64 = 2;
/// The time between two checks of a run, and how many events before its end it is followed closely.
const LOOK: Duration = Duration::from_millis(1);
const NEAR: u64 = 1_000;
/// Far longer than any run takes; a run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Does nothing and reports success.
#[derive(Debug)]
struct Nothing;

impl TaskExecutor for Nothing {
    fn start(
        &self,
        _attempt: TaskAttempt,
        _events: AttemptEventSink,
        _cancel: CancellationToken,
    ) -> BoxFuture<'_, AttemptOutcome> {
        let done = AttemptOutcome::without_output(CallOutcome::Exited { code: 0 });
        Box::pin(std::future::ready(done))
    }

    fn tool_identity(&self, _task: &TaskNode) -> (&'static str, &'static str) {
        ("shell", "1")
    }
}

pub fn open(dir: &Path) -> Store {
    Store::open(dir, OpenMode::ReadWrite).unwrap()
}

/// Runs a plan to its end; returns the time from the command to run it until its last event is durable.
pub async fn run(
    store: &Store,
    id: &str,
    plan: &Plan,
    jobs: u32,
    mode: CallDurability,
) -> Duration {
    let count = plan.tasks.len() as u64;
    let handle = start(store, id, plan, jobs, mode);
    until(&handle, BEFORE_RUN).await;
    let begin = Instant::now();
    handle.commands.send(Command::Run { by: Actor::Person }).await.unwrap();
    until(&handle, BEFORE_RUN + AROUND_RUN + count * EVENTS_PER_TASK).await;
    let elapsed = begin.elapsed();
    tokio::time::timeout(PATIENCE, handle.wait_until_closed())
        .await
        .expect("the session ends")
        .unwrap();
    elapsed
}

fn start(store: &Store, id: &str, plan: &Plan, jobs: u32, mode: CallDurability) -> SessionHandle {
    let id = SessionId::new(id);
    store
        .create_session(NewSession {
            id: id.clone(),
            created_at: Timestamp::now(),
            format: FORMAT,
            parent: None,
            summary: SessionSummary::default(),
        })
        .unwrap();
    let options =
        EngineOptions { jobs, durability: mode, ..EngineOptions::with_executor(Arc::new(Nothing)) };
    engine::start_session(
        store.acquire_session(&id).unwrap(),
        SessionState::default(),
        opening(plan),
        options,
    )
}

fn opening(plan: &Plan) -> Vec<Event> {
    let facts =
        graph::resolve_graph(&plan.tasks, |_| true).expect("no cycle").to_facts(&plan.tasks);
    let hash = plan.digest().unwrap();
    vec![
        SessionEvent::Created {
            format: FORMAT,
            program: "bench".into(),
            title: plan.title.clone(),
            goal: None,
            workspace: std::env::temp_dir().to_string_lossy().into_owned(),
            plan_file: None,
        }
        .into(),
        PlanEvent::Proposed {
            revision: 1,
            hash: hash.clone(),
            plan: Arc::new(plan.clone()),
            facts: Arc::new(facts),
            normalization: Vec::new(),
        }
        .into(),
        PlanEvent::Approved { hash, by: Actor::Person }.into(),
    ]
}

/// Follows the run as a screen does, which reads once per frame and is not woken by every commit; near the end it waits for
/// the exact event.
async fn until(handle: &SessionHandle, seq: u64) {
    let mut head = handle.head.clone();
    let reached = async {
        while head.borrow_and_update().0 + NEAR < seq {
            tokio::time::sleep(LOOK).await;
        }
        head.wait_for(|head| head.0 >= seq).await.map(drop)
    };
    tokio::time::timeout(PATIENCE, reached)
        .await
        .expect("the run goes on")
        .expect("the engine lives until the run is over");
}

/// The fold of what is durable, read back from the disk.
pub fn state(store: &Store, id: &str) -> SessionState {
    let source = JournalSource::new(store.reader().unwrap(), SessionId::new(id));
    let mut history = History::new(source);
    let head = history.head_seq().unwrap();
    SessionState::clone(&*history.state_at(head).unwrap())
}

/// The rows of the tasks of a run, for the floor to write the same.
pub fn task_rows(store: &Store, id: &str) -> Vec<JournalRow> {
    let mut rows = Vec::new();
    let reader = store.reader().unwrap();
    let (id, all) = (SessionId::new(id), Seq(1)..=Seq(u64::MAX >> 1));
    reader
        .scan_rows(&id, all, None, |row| {
            rows.extend(row.task.is_some().then_some(row));
            ControlFlow::Continue(())
        })
        .unwrap();
    rows
}
