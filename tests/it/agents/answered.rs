//! A process that ends after an agent submitted its answer: the task is completed with it and never started again.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use planwright_engine::resume::{ResumeMode, RunLeftovers, resume_events};
use planwright_engine::{self as engine, AgentPort, AgentPortReceiver, EngineOptions};
use planwright_model::agent_decision::TaskDecision;
use planwright_model::event::{
    AgentEvent, ApprovalEvent, CallOutcome, CloseReason, Command, Event, Record, TaskEvent,
};
use planwright_model::requests::task_limit_request;
use planwright_model::{Plan, RequestId, RunKind, SessionId, TaskId, TaskNode};
use planwright_state::{RunPhase, SessionState, TaskStatus};
use planwright_store::{JournalBatch, JournalRow};
use planwright_tools::{AttemptEventSink, AttemptOutcome, TaskAttempt, TaskExecutor};
use tokio_util::sync::CancellationToken;

use crate::support::{Bench, approved, plan};

/// Tasks and their attempt numbers, in the order of the attempts.
type Attempts = Arc<Mutex<Vec<(String, u32)>>>;

/// Starts each task, answers for it, and records which attempts it made.
struct Answering {
    port: AgentPort,
    attempts: Attempts,
}

impl TaskExecutor for Answering {
    fn start(
        &self,
        job: TaskAttempt,
        _: AttemptEventSink,
        _: CancellationToken,
    ) -> BoxFuture<'_, AttemptOutcome> {
        let (port, task, attempt) = (self.port.clone(), job.task.id.clone(), job.call.attempt);
        self.attempts.lock().unwrap().push((task.to_string(), attempt));
        Box::pin(async move {
            let decision = Box::new(TaskDecision::task_begun(false, None).into());
            port.record(AgentEvent::Decided { task: task.clone(), attempt, decision });
            let answer = format!("{task} in attempt {attempt}");
            port.record(AgentEvent::Concluded { task, attempt, answer, tokens: 1 });
            port.flush().await;
            AttemptOutcome::without_output(CallOutcome::Exited { code: 0 })
        })
    }

    fn runs_agents(&self) -> bool {
        true
    }

    fn tool_identity(&self, _: &TaskNode) -> (&'static str, &'static str) {
        ("agent", "1")
    }
}

/// Three tasks for agents, one after the other.
fn chain() -> Plan {
    let mut plan = plan(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]);
    for task in &mut plan.tasks {
        task.run = RunKind::agent();
    }
    plan
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

fn options(bench: &Bench) -> (EngineOptions, Attempts) {
    let clock = engine::wall_clock();
    let (port, receiver): (AgentPort, AgentPortReceiver) =
        engine::open_agent_port(SessionId::clone(&bench.id), Vec::new(), clock, Arc::new(|_| {}));
    let attempts = Attempts::default();
    let runner = Answering { port, attempts: Arc::clone(&attempts) };
    let options = EngineOptions {
        jobs: 1,
        agent_receiver: Some(receiver),
        ..EngineOptions::with_executor(Arc::new(runner))
    };
    (options, attempts)
}

/// Resumes a session with these records; returns the attempts made and the final state.
async fn resumed(records: &[Record]) -> (Vec<(String, u32)>, SessionState) {
    let bench = Bench::new();
    let journal = bench.store.acquire_session(&bench.id).unwrap();
    let batch = JournalBatch::from_rows(records.iter().map(row).collect());
    journal.append(batch).await.unwrap().await.unwrap();
    journal.release().unwrap();
    let state = bench.state();
    let first = resume_events(&state, &RunLeftovers::new(), ResumeMode::Continue, 1, "test");
    let (options, attempts) = options(&bench);
    let handle = engine::start_session(
        bench.store.acquire_session(&bench.id).unwrap(),
        state,
        first,
        options,
    );
    let done = |state: &SessionState| matches!(state.run.phase, RunPhase::Finished { .. });
    bench.until(&handle, done).await;
    let close = Command::Close { why: CloseReason::Finished };
    handle.commands.send(close).await.unwrap();
    handle.wait_until_closed().await.unwrap();
    let attempts = attempts.lock().unwrap().clone();
    (attempts, bench.state())
}

/// The records of a complete run.
async fn complete_run_records() -> Vec<Record> {
    let bench = Bench::new();
    let (options, _) = options(&bench);
    let mut first = approved(chain());
    let hash = chain().digest().unwrap();
    first.push(planwright_model::event::RunEvent::Started { hash, jobs: 1 }.into());
    let journal = bench.store.acquire_session(&bench.id).unwrap();
    let handle = engine::start_session(journal, SessionState::default(), first, options);
    let done = |state: &SessionState| matches!(state.run.phase, RunPhase::Finished { .. });
    bench.until(&handle, done).await;
    drop(handle);
    bench.records()
}

fn position(records: &[Record], wanted: impl Fn(&Event) -> bool) -> usize {
    records.iter().position(|record| wanted(&record.event)).unwrap()
}

#[tokio::test]
async fn an_answered_task_is_completed_from_whichever_event_on_the_journal_ends() {
    let records = complete_run_records().await;
    let concluded =
        position(&records, |event| matches!(event, Event::Agent(AgentEvent::Concluded { .. })));
    let finished = position(&records, |event| {
        matches!(event, Event::Run(planwright_model::event::RunEvent::Finished { .. }))
    });
    for cut in concluded + 1..=finished {
        let last = &records[cut - 1].event;
        let (attempts, state) = resumed(&records[..cut]).await;
        let answered = |task: &str| {
            records[..cut].iter().any(|record| match &record.event {
                Event::Agent(AgentEvent::Concluded { task: whose, .. }) => whose.as_str() == task,
                _ => false,
            })
        };
        for task in ["a", "b", "c"] {
            let id = TaskId::from(task);
            let made: Vec<u32> =
                attempts.iter().filter(|(whose, _)| whose == task).map(|(_, no)| *no).collect();
            assert_eq!(made.is_empty(), answered(task), "{task} {made:?}, cut after {last:?}");
            let row = state.tasks.get(&id).unwrap();
            assert_eq!(row.status, TaskStatus::Done, "{task}, cut after {last:?}");
            let answer = format!("{task} in attempt {}", row.attempt);
            assert_eq!(state.agents.final_answer(&id), Some(answer.as_str()), "cut after {last:?}");
        }
        assert_eq!(state.totals.anomalies, 0, "cut after {last:?}");
    }
}

#[tokio::test]
async fn the_answer_of_an_earlier_attempt_does_not_complete_a_later_one() {
    let records = complete_run_records().await;
    let completed =
        position(&records, |event| matches!(event, Event::Task(TaskEvent::Completed { .. })));
    let mut cut = records[..=completed].to_vec();
    let again: [Event; 2] = [
        TaskEvent::Reset { task: "a".into(), why: "once more".to_owned() }.into(),
        TaskEvent::Started { task: "a".into(), attempt: 2, depth: 0, affinity_delta: 0.0 }.into(),
    ];
    for event in again {
        let seq = cut.last().unwrap().seq.next();
        cut.push(Record::new(seq, Timestamp::now(), event));
    }
    let (attempts, state) = resumed(&cut).await;
    assert_eq!(attempts[0], ("a".to_owned(), 3), "{attempts:?}");
    assert_eq!(state.agents.final_answer(&"a".into()), Some("a in attempt 3"));
}

#[tokio::test]
async fn a_question_of_an_answered_task_is_withdrawn_as_in_a_run() {
    let records = complete_run_records().await;
    let concluded =
        position(&records, |event| matches!(event, Event::Agent(AgentEvent::Concluded { .. })));
    let mut cut = records[..=concluded].to_vec();
    let task = TaskNode::new("a", "a");
    let request = task_limit_request(RequestId(7), &task, "its iterations are used up");
    let asked = ApprovalEvent::Asked { request: Arc::new(request) };
    cut.push(Record::new(cut.last().unwrap().seq.next(), Timestamp::now(), asked));
    let (attempts, state) = resumed(&cut).await;
    assert!(attempts.iter().all(|(task, _)| task != "a"), "{attempts:?}");
    assert!(state.requests.open.is_empty(), "{:?}", state.requests.open);
}
