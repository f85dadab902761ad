//! Tasks whose ids contain dots: a question belongs to the task that asked it, not to a task whose id is a prefix of it.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use planwright_engine::{self as engine, AgentPort, AgentPortReceiver, EngineOptions};
use planwright_model::event::{CallOutcome, CloseReason, Command, RunEvent};
use planwright_model::requests::task_limit_request;
use planwright_model::{ChoiceAction, Plan, Request, RequestId, RunKind, SessionId, TaskNode};
use planwright_state::{RunPhase, SessionState, TaskStatus};
use planwright_tools::{AttemptEventSink, AttemptOutcome, TaskAttempt, TaskExecutor};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::support::{Bench, answer, approved, plan};

/// The task `a.1` asks; the test decides when each other task ends.
struct Asking {
    port: AgentPort,
    may_end: Arc<Semaphore>,
}

fn question(task: &TaskNode) -> Request {
    task_limit_request(RequestId::UNASSIGNED, task, "its iterations are used up")
}

impl TaskExecutor for Asking {
    fn start(
        &self,
        job: TaskAttempt,
        _: AttemptEventSink,
        _: CancellationToken,
    ) -> BoxFuture<'_, AttemptOutcome> {
        let (port, may_end) = (self.port.clone(), Arc::clone(&self.may_end));
        Box::pin(async move {
            let answered = if job.task.id.as_str() == "a.1" {
                port.ask_person(question(&job.task)).await.is_some()
            } else {
                may_end.acquire().await.unwrap().forget();
                true
            };
            let code = i32::from(!answered);
            AttemptOutcome::without_output(CallOutcome::Exited { code })
        })
    }

    fn runs_agents(&self) -> bool {
        true
    }

    fn tool_identity(&self, _: &TaskNode) -> (&'static str, &'static str) {
        ("agent", "1")
    }
}

fn independent() -> Plan {
    let mut plan = plan(&[("a", &[]), ("a.1", &[]), ("b", &[]), ("c", &[])]);
    for task in &mut plan.tasks {
        task.run = RunKind::agent();
    }
    plan
}

fn is(state: &SessionState, task: &str, status: TaskStatus) -> bool {
    state.tasks.get(&task.into()).unwrap().status == status
}

#[tokio::test]
async fn a_question_of_a_dotted_task_belongs_to_it_alone() {
    let bench = Bench::new();
    let (port, receiver): (AgentPort, AgentPortReceiver) = engine::open_agent_port(
        SessionId::clone(&bench.id),
        Vec::new(),
        engine::wall_clock(),
        Arc::new(|_| {}),
    );
    let may_end = Arc::new(Semaphore::new(0));
    let runner = Asking { port, may_end: Arc::clone(&may_end) };
    let options = EngineOptions {
        jobs: 2,
        agent_receiver: Some(receiver),
        ..EngineOptions::with_executor(Arc::new(runner))
    };
    let mut first = approved(independent());
    first.push(RunEvent::Started { hash: independent().digest().unwrap(), jobs: 2 }.into());
    let journal = bench.store.acquire_session(&bench.id).unwrap();
    let handle = engine::start_session(journal, SessionState::default(), first, options);

    let asked = |state: &SessionState| {
        state.requests.open.len() == 1 && is(state, "b", TaskStatus::Running)
    };
    let state = bench.until(&handle, asked).await;
    assert!(is(&state, "a", TaskStatus::Running));
    assert!(!is(&state, "c", TaskStatus::Running), "only the task that asked frees its slot");

    may_end.add_permits(3);
    let others_done = |state: &SessionState| {
        ["a", "b", "c"].into_iter().all(|task| is(state, task, TaskStatus::Done))
    };
    let state = bench.until(&handle, others_done).await;
    assert!(is(&state, "a.1", TaskStatus::Running), "its question is still open");
    let id = state.requests.open.values().next().unwrap().request.id;
    handle.commands.send(answer(id.0, ChoiceAction::GoOn)).await.unwrap();
    let finished = |state: &SessionState| matches!(state.run.phase, RunPhase::Finished { .. });
    let state = bench.until(&handle, finished).await;
    assert!(is(&state, "a.1", TaskStatus::Done), "the answer reached it");
    handle.commands.send(Command::Close { why: CloseReason::Finished }).await.unwrap();
    handle.wait_until_closed().await.unwrap();
}
