//! What the tests share: plans, stores, sessions, and scripted runners.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use planwright_engine::{self as engine, EngineFeatures, EngineOptions, SessionHandle};
use planwright_model::event::{
    ApprovalEvent, CallOutcome, Command, Event, OutputStream, PlanEvent, Record, SessionEvent,
    Usage,
};
use planwright_model::{
    Actor, Answer, ChoiceAction, GraphFacts, Plan, RequestId, RunKind, Seq, SessionId, TaskId,
    TaskLink, TaskNode,
};
use planwright_state::SessionState;
use planwright_state::replay::History;
use planwright_store::journal_source::JournalSource;
use planwright_store::{NewSession, OpenMode, SessionSummary, Store};
use planwright_tools::{AttemptEvent, AttemptEventSink, AttemptOutcome, TaskAttempt, TaskExecutor};
use tokio_util::sync::CancellationToken;

/// A plan of shell tasks: ids and their dependencies.
pub fn plan(tasks: &[(&str, &[&str])]) -> Plan {
    let tasks = tasks
        .iter()
        .map(|(id, on)| {
            let mut task = TaskNode::new(*id, format!("Task {id}"));
            task.run = RunKind::Shell("true".into());
            task.dependencies = on.iter().map(|on| TaskLink::finish_to_start(*on)).collect();
            task
        })
        .collect();
    Plan { title: "A plan for a test".into(), tasks, ..Plan::default() }
}

/// The first events of a session with this plan, approved and running at once.
pub fn approved(plan: Plan) -> Vec<Event> {
    let depth = vec![0; plan.tasks.len()];
    let hash = plan.digest().unwrap();
    vec![
        SessionEvent::Created {
            format: planwright_model::event::FORMAT,
            program: "test".into(),
            title: plan.title.clone(),
            goal: None,
            workspace: std::env::temp_dir().to_string_lossy().into_owned(),
            plan_file: None,
        }
        .into(),
        PlanEvent::Proposed {
            revision: 1,
            hash: hash.clone(),
            plan: Arc::new(plan),
            facts: Arc::new(GraphFacts { depth, ..GraphFacts::default() }),
            normalization: Vec::new(),
        }
        .into(),
        PlanEvent::Approved { hash, by: Actor::Person }.into(),
    ]
}

/// What a fake task does.
#[derive(Clone)]
pub enum Act {
    Succeed,
    /// Ends with these outcomes, one per attempt; the last one repeats.
    End(Vec<CallOutcome>),
    /// Runs until it is cancelled.
    Hang,
    Panic,
    /// Succeeds, prints something, and uses this many tokens.
    Use(u64),
    /// Prints this many lines, one after the other, and runs until it is cancelled.
    Chat(u32),
}

/// Does what the test asks for, and records in which order tasks started and how many were running at once.
#[derive(Default)]
pub struct Script {
    acts: HashMap<TaskId, Act>,
    log: Arc<Mutex<Vec<String>>>,
    busy: Arc<Mutex<(usize, usize)>>,
    time: Duration,
}

impl Script {
    pub fn new(acts: &[(&str, Act)]) -> Self {
        let acts = acts.iter().map(|(id, act)| (TaskId::from(*id), act.clone())).collect();
        Self { acts, time: Duration::from_millis(5), ..Self::default() }
    }

    pub fn log(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.log)
    }

    /// The largest number of tasks that ran at once.
    pub fn busiest(&self) -> Arc<Mutex<(usize, usize)>> {
        Arc::clone(&self.busy)
    }
}

async fn print(events: &AttemptEventSink, text: String) {
    // A session that is over takes nothing any more.
    let _ = events.send(AttemptEvent::Output { stream: OutputStream::Stdout, text }).await;
}

impl TaskExecutor for Script {
    fn start(
        &self,
        job: TaskAttempt,
        events: AttemptEventSink,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, AttemptOutcome> {
        let act = self.acts.get(&job.task.id).cloned().unwrap_or(Act::Succeed);
        let (log, busy, time) = (Arc::clone(&self.log), Arc::clone(&self.busy), self.time);
        Box::pin(async move {
            let mut usage = Usage::default();
            log.lock().unwrap().push(job.task.id.to_string());
            {
                let mut busy = busy.lock().unwrap();
                busy.0 += 1;
                busy.1 = busy.1.max(busy.0);
            }
            let outcome = match act {
                Act::Panic => panic!("as the test asked"),
                Act::Hang => {
                    cancel.cancelled().await;
                    CallOutcome::Cancelled
                }
                Act::Use(tokens) => {
                    let text = "thinking\n".to_owned();
                    print(&events, text).await;
                    usage.tokens = tokens;
                    CallOutcome::Exited { code: 0 }
                }
                Act::Chat(lines) => {
                    for line in 0..lines {
                        let text = format!("line {line}\n");
                        print(&events, text).await;
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    cancel.cancelled().await;
                    CallOutcome::Cancelled
                }
                Act::Succeed => {
                    tokio::time::sleep(time).await;
                    CallOutcome::Exited { code: 0 }
                }
                Act::End(outcomes) => {
                    outcomes[(job.call.attempt as usize - 1).min(outcomes.len() - 1)].clone()
                }
            };
            busy.lock().unwrap().0 -= 1;
            AttemptOutcome { usage, ..AttemptOutcome::without_output(outcome) }
        })
    }

    /// Tasks whose id asks for it use another tool.
    fn tool_identity(&self, task: &TaskNode) -> (&'static str, &'static str) {
        if task.id.as_str().starts_with("other") { ("other", "1") } else { ("script", "1") }
    }
}

/// A session in its own store.
pub struct Bench {
    pub store: Store,
    pub id: SessionId,
    dir: Option<tempfile::TempDir>,
}

impl Bench {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), OpenMode::ReadWrite).unwrap();
        let id = SessionId::new("aaaaaaaaaaaa");
        store
            .create_session(NewSession {
                id: id.clone(),
                created_at: Timestamp::now(),
                format: 1,
                parent: None,
                summary: SessionSummary::default(),
            })
            .unwrap();
        Self { store, id, dir: Some(dir) }
    }

    /// An existing session in a store that belongs to another owner.
    pub fn of_session(store: Store, id: SessionId) -> Self {
        Self { store, id, dir: None }
    }

    pub fn start(&self, runner: Script, jobs: u32, first: Vec<Event>) -> SessionHandle {
        self.start_with(runner, jobs, EngineFeatures::default(), first)
    }

    pub fn start_with(
        &self,
        runner: Script,
        jobs: u32,
        features: EngineFeatures,
        first: Vec<Event>,
    ) -> SessionHandle {
        self.start_by_clock(runner, jobs, features, first, engine::wall_clock())
    }

    pub fn start_by_clock(
        &self,
        runner: Script,
        jobs: u32,
        features: EngineFeatures,
        first: Vec<Event>,
        clock: engine::Clock,
    ) -> SessionHandle {
        let state = self.state();
        let journal = self.store.acquire_session(&self.id).unwrap();
        let options = EngineOptions {
            jobs,
            clock,
            features,
            ..EngineOptions::with_executor(Arc::new(runner))
        };
        engine::start_session(journal, state, first, options)
    }

    /// The file that says who holds the session.
    pub fn lock_file(&self) -> std::path::PathBuf {
        let dir = self.dir.as_ref().expect("the store is the bench's own");
        dir.path().join("locks").join(format!("{}.lock", self.id))
    }

    pub fn history(&self) -> History {
        History::new(JournalSource::new(self.store.reader().unwrap(), self.id.clone()))
    }

    /// The fold of what is durable.
    pub fn state(&self) -> SessionState {
        let mut history = self.history();
        let head = history.head_seq().unwrap();
        SessionState::clone(&*history.state_at(head).unwrap())
    }

    pub fn records(&self) -> Vec<Record> {
        let mut history = self.history();
        (1..=history.head_seq().unwrap().0)
            .map(|seq| history.record_at(Seq(seq)).unwrap().unwrap())
            .collect()
    }

    /// Waits until the durable state satisfies a condition.
    pub async fn until(
        &self,
        handle: &SessionHandle,
        condition: impl Fn(&SessionState) -> bool,
    ) -> SessionState {
        let mut head = handle.head.clone();
        let waiting = async {
            loop {
                head.borrow_and_update();
                let state = self.state();
                if condition(&state) {
                    return state;
                }
                head.changed().await.expect("the session goes on until the condition holds");
            }
        };
        tokio::time::timeout(Duration::from_secs(60), waiting)
            .await
            .expect("the condition holds in time")
    }
}

/// An answer as a command.
pub fn answer(id: u32, action: ChoiceAction) -> Command {
    Command::Answer { id: RequestId(id), answer: Answer::from(action), by: Actor::Person }
}

/// The kinds of all requests that are open.
pub fn asked(records: &[Record]) -> usize {
    records
        .iter()
        .filter(|record| matches!(&record.event, Event::Approval(ApprovalEvent::Asked { .. })))
        .count()
}
