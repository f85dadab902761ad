//! The engine on a real store, with scripted tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use planwright_engine::resume::{ResumeMode, RunLeftovers, resume_events};
use planwright_engine::{self as engine, EngineFeatures};
use planwright_model::event::{
    CallOutcome, CloseReason, Command, Event, PlanningEvent, SessionEvent, TaskEvent,
};
use planwright_model::{
    Actor, Category, ChoiceAction, ExecutionFailure, PlanLimits, PolicyOverride, RepeatPolicy,
    RequestId, RequestKind, RunKind, SkipReason, TaskId,
};
use planwright_state::execution_result::ExecutionResult;
use planwright_state::{RunPhase, SessionState, TaskStatus};

use crate::support::{Act, Bench, Script, answer, approved, asked, plan};

fn is_over(state: &SessionState) -> bool {
    matches!(state.run.phase, RunPhase::Finished { .. })
}

fn status(state: &SessionState, task: &str) -> TaskStatus {
    state.tasks.get(&TaskId::from(task)).map_or(TaskStatus::Pending, |row| row.status)
}

const RUN: Command = Command::Run { by: Actor::Person };

#[tokio::test]
async fn a_plan_runs_to_its_end_in_the_order_of_its_dependencies() {
    let bench = Bench::new();
    let script = Script::new(&[]);
    let (log, busy) = (script.log(), script.busiest());
    let tasks: &[(&str, &[&str])] = &[("d", &["b", "c"]), ("b", &["a"]), ("c", &["a"]), ("a", &[])];
    let handle = bench.start(script, 3, approved(plan(tasks)));
    handle.commands.send(RUN).await.unwrap();
    let state = bench.until(&handle, is_over).await;
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
    assert_eq!(*log.lock().unwrap(), ["a", "b", "c", "d"]);
    assert_eq!(busy.lock().unwrap().1, 2, "independent tasks overlap");
    assert_eq!(state.totals.anomalies, 0);
    handle.wait_until_closed().await.unwrap();
    assert_eq!(bench.state().session.closed, Some(CloseReason::Quit));
}

#[tokio::test]
async fn a_command_sent_before_the_driver_starts_is_decided() {
    let bench = Bench::new();
    let handle = bench.start(Script::new(&[]), 3, approved(plan(&[("a", &[]), ("b", &["a"])])));
    handle.wait_until_closed().await.unwrap();
    let state = bench.state();
    // A subscriber is already watching, with fewer events than exist by now.
    let line = engine::SessionChannel::new(planwright_model::Seq(1));
    let (commands, mut head) = (line.commands(), line.head());
    commands.try_send(RUN).unwrap();
    let journal = bench.store.acquire_session(&bench.id).unwrap();
    let options = engine::EngineOptions::with_executor(Arc::new(Script::new(&[])));
    let first = resume_events(&state, &RunLeftovers::new(), ResumeMode::View, 3, "a test");
    let begun = state.seq;
    let handle = engine::start_on_channel(line, journal, state, first, options);
    assert!(*head.borrow_and_update() >= begun, "whoever looks learns what is there");
    let state = bench.until(&handle, is_over).await;
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
    drop(commands);
    handle.wait_until_closed().await.unwrap();
}

#[tokio::test]
async fn a_failure_skips_its_descendants_and_nothing_else() {
    let bench = Bench::new();
    let script = Script::new(&[("a", Act::End(vec![CallOutcome::Exited { code: 7 }]))]);
    let handle = bench.start(
        script,
        2,
        approved(plan(&[("a", &[]), ("b", &["a"]), ("c", &["b"]), ("x", &[]), ("y", &["x"])])),
    );
    handle.commands.send(RUN).await.unwrap();
    let state = bench.until(&handle, is_over).await;
    assert_eq!(status(&state, "a"), TaskStatus::Failed);
    assert_eq!(status(&state, "b"), TaskStatus::Skipped(SkipReason::DependencyFailed));
    assert_eq!(status(&state, "c"), TaskStatus::Skipped(SkipReason::DependencyFailed));
    assert_eq!(status(&state, "y"), TaskStatus::Done);
    assert_eq!(state.run.phase, RunPhase::Finished { success: false });
}

#[tokio::test]
async fn a_retry_that_succeeds_brings_its_descendants_back() {
    let bench = Bench::new();
    let outcomes = vec![CallOutcome::Exited { code: 1 }, CallOutcome::Exited { code: 0 }];
    let script = Script::new(&[("a", Act::End(outcomes))]);
    let handle =
        bench.start(script, 2, approved(plan(&[("a", &[]), ("b", &["a"]), ("c", &["b"])])));
    handle.commands.send(RUN).await.unwrap();
    bench.until(&handle, is_over).await;
    handle
        .commands
        .send(Command::RetryTask { task: "a".into(), with_dependents: false })
        .await
        .unwrap();
    let state =
        bench.until(&handle, |state| state.run.phase == RunPhase::Finished { success: true }).await;
    assert_eq!(state.tasks.status_counts().done, 3);
}

#[tokio::test]
async fn a_panic_in_the_coordinator_ends_the_run_and_is_journaled() {
    let bench = Bench::new();
    let broken = Arc::new(AtomicBool::new(false));
    let clock: engine::Clock = {
        let broken = Arc::clone(&broken);
        Arc::new(move || {
            assert!(!broken.load(Ordering::SeqCst), "the clock stopped");
            jiff::Timestamp::now()
        })
    };
    let script = Script::new(&[("b", Act::Hang)]);
    let first = approved(plan(&[("a", &[]), ("b", &["a"])]));
    let handle = bench.start_by_clock(script, 2, EngineFeatures::default(), first, clock);
    handle.commands.send(RUN).await.unwrap();
    bench.until(&handle, |state| status(state, "b") == TaskStatus::Running).await;
    broken.store(true, Ordering::SeqCst);
    let _ = handle.commands.send(Command::Pause).await;
    let error = handle.wait_until_closed().await.unwrap_err();
    assert!(error.to_string().contains("the clock stopped"), "{error}");

    let result = ExecutionResult::from_records(&bench.records());
    assert!(!result.success && result.completed_tasks.contains("a"));
    assert_eq!(result.react_traces.len(), 2, "the attempt that was cut off has its trace");
    assert!(result.execution_log.iter().any(|line| line.contains("the clock stopped")));
    assert_eq!(bench.state().run.phase, RunPhase::Interrupted);
}

#[tokio::test]
async fn a_panicking_task_fails_alone() {
    let bench = Bench::new();
    let script = Script::new(&[("a", Act::Panic)]);
    let handle = bench.start(script, 2, approved(plan(&[("a", &[]), ("b", &[])])));
    handle.commands.send(RUN).await.unwrap();
    let state = bench.until(&handle, is_over).await;
    let row = state.tasks.get(&"a".into()).unwrap();
    assert_eq!(row.failure.as_ref().unwrap().code, "internal_error");
    assert!(row.failure.as_ref().unwrap().message.contains("as the test asked"));
    assert_eq!(status(&state, "b"), TaskStatus::Done);
}

#[tokio::test]
async fn transient_errors_are_retried_twice_and_recoverable_ones_once() {
    let bench = Bench::new();
    let error = |category| CallOutcome::Errored {
        failure: ExecutionFailure::new("busy", category, "busy"),
    };
    let ok = CallOutcome::Exited { code: 0 };
    // Two tools, so that no breaker opens and delays a retry.
    let script = Script::new(&[
        ("once", Act::End(vec![error(Category::Transient), ok.clone()])),
        ("mended", Act::End(vec![error(Category::Recoverable), ok])),
        ("other-broken", Act::End(vec![error(Category::Recoverable)])),
        ("other-fatal", Act::End(vec![error(Category::Critical)])),
    ]);
    let handle = bench.start(
        script,
        4,
        approved(plan(&[
            ("once", &[]),
            ("mended", &[]),
            ("other-broken", &[]),
            ("other-fatal", &[]),
        ])),
    );
    handle.commands.send(RUN).await.unwrap();
    let state = bench.until(&handle, is_over).await;
    let attempts = |task: &str| state.tasks.get(&TaskId::from(task)).unwrap().attempt;
    assert_eq!((status(&state, "once"), attempts("once")), (TaskStatus::Done, 2));
    assert_eq!((status(&state, "mended"), attempts("mended")), (TaskStatus::Done, 2));
    assert_eq!((status(&state, "other-broken"), attempts("other-broken")), (TaskStatus::Failed, 2));
    assert_eq!((status(&state, "other-fatal"), attempts("other-fatal")), (TaskStatus::Failed, 1));
}

#[tokio::test]
async fn abort_on_failure_ends_the_whole_run() {
    let bench = Bench::new();
    let mut plan = plan(&[("a", &[]), ("long", &[]), ("later", &["long"])]);
    plan.tasks[0].metadata.insert("abort_on_failure".into(), true.into());
    let script =
        Script::new(&[("a", Act::End(vec![CallOutcome::Exited { code: 1 }])), ("long", Act::Hang)]);
    let handle = bench.start(script, 2, approved(plan));
    handle.commands.send(RUN).await.unwrap();
    let state = bench.until(&handle, is_over).await;
    assert_eq!(status(&state, "long"), TaskStatus::Failed);
    assert_eq!(status(&state, "later"), TaskStatus::Skipped(SkipReason::Aborted));
}

#[tokio::test]
async fn a_paused_run_starts_nothing_new() {
    let bench = Bench::new();
    let script = Script::new(&[]);
    let log = script.log();
    let handle = bench.start(script, 1, approved(plan(&[("a", &[]), ("b", &["a"])])));
    handle.commands.send(RUN).await.unwrap();
    handle.commands.send(Command::Pause).await.unwrap();
    bench.until(&handle, |state| status(state, "a") == TaskStatus::Done).await;
    assert_eq!(*log.lock().unwrap(), ["a"]);
    handle.commands.send(Command::Continue).await.unwrap();
    bench.until(&handle, is_over).await;
    assert_eq!(*log.lock().unwrap(), ["a", "b"]);
}

#[tokio::test]
async fn a_task_for_the_person_waits_without_a_permit_and_can_be_marked_as_done() {
    let bench = Bench::new();
    let mut plan = plan(&[("mine", &[]), ("a", &[]), ("after", &["mine"])]);
    plan.tasks[0].run = RunKind::Human {};
    let handle = bench.start(Script::new(&[]), 1, approved(plan));
    handle.commands.send(RUN).await.unwrap();
    let state = bench
        .until(&handle, |state| {
            status(state, "a") == TaskStatus::Done && status(state, "mine") == TaskStatus::Yours
        })
        .await;
    assert_eq!(state.run.phase, RunPhase::Running, "waiting for the person is not a deadlock");
    // It survives a restart.
    handle.wait_until_closed().await.unwrap();
    assert_eq!(status(&bench.state(), "mine"), TaskStatus::Yours);
    let first =
        resume_events(&bench.state(), &RunLeftovers::new(), ResumeMode::Continue, 1, "test");
    let handle = bench.start(Script::new(&[]), 1, first);
    let done = Command::CompleteTask {
        task: "mine".into(),
        note: Some("took a while".into()),
        by: Actor::Person,
    };
    handle.commands.send(done).await.unwrap();
    let state = bench.until(&handle, is_over).await;
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
    assert_eq!(state.tasks.get(&"mine".into()).unwrap().note.as_deref(), Some("took a while"));
}

#[tokio::test]
async fn cancelling_a_task_fails_it_and_skips_what_follows() {
    let bench = Bench::new();
    let handle = bench.start(
        Script::new(&[("a", Act::Hang)]),
        1,
        approved(plan(&[("a", &[]), ("b", &["a"])])),
    );
    handle.commands.send(RUN).await.unwrap();
    bench.until(&handle, |state| status(state, "a") == TaskStatus::Running).await;
    handle.commands.send(Command::CancelTask { task: "a".into() }).await.unwrap();
    let state = bench.until(&handle, is_over).await;
    assert_eq!(state.tasks.get(&"a".into()).unwrap().failure.as_ref().unwrap().code, "cancelled");
    assert_eq!(status(&state, "b"), TaskStatus::Skipped(SkipReason::DependencyFailed));
}

/// Starts a run in which `a` hangs, closes it, and returns the remaining state.
async fn left_running(bench: &Bench, repeat: RepeatPolicy) -> SessionState {
    let mut plan = plan(&[("a", &[]), ("b", &["a"]), ("c", &[])]);
    plan.tasks[0].repeat = repeat;
    let handle = bench.start(Script::new(&[("a", Act::Hang)]), 2, approved(plan));
    handle.commands.send(RUN).await.unwrap();
    bench.until(&handle, |state| status(state, "c") == TaskStatus::Done).await;
    handle.commands.send(Command::Close { why: CloseReason::Quit }).await.unwrap();
    handle.wait_until_closed().await.unwrap();
    let state = bench.state();
    assert_eq!(state.run.phase, RunPhase::Interrupted);
    assert_eq!(status(&state, "a"), TaskStatus::Running);
    state
}

#[tokio::test]
async fn an_interrupted_attempt_that_is_safe_to_repeat_is_repeated() {
    let bench = Bench::new();
    let state = left_running(&bench, RepeatPolicy::Safe).await;
    let script = Script::new(&[]);
    let log = script.log();
    let handle = bench.start(
        script,
        2,
        resume_events(&state, &RunLeftovers::new(), ResumeMode::Continue, 2, "test"),
    );
    let state = bench.until(&handle, is_over).await;
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
    assert_eq!(*log.lock().unwrap(), ["a", "b"], "what was done is not done again");
    assert_eq!(asked(&bench.records()), 0);
}

#[tokio::test]
async fn an_interrupted_attempt_of_another_kind_is_asked_about_once() {
    for (action, expected, log_expected) in [
        (ChoiceAction::RunAgain, TaskStatus::Done, vec!["a", "b"]),
        (ChoiceAction::Happened, TaskStatus::Done, vec!["b"]),
        (ChoiceAction::SkipAlone, TaskStatus::Skipped(SkipReason::ByPerson), vec!["b"]),
    ] {
        let bench = Bench::new();
        let state = left_running(&bench, RepeatPolicy::Ask).await;
        // Closing without an answer keeps the question, and resuming does not ask twice.
        let handle = bench.start(
            Script::new(&[]),
            2,
            resume_events(&state, &RunLeftovers::new(), ResumeMode::Continue, 2, "test"),
        );
        bench.until(&handle, |state| state.requests.open.len() == 1).await;
        handle.commands.send(answer(1, ChoiceAction::Stop)).await.unwrap();
        handle.wait_until_closed().await.unwrap();

        let script = Script::new(&[]);
        let log = script.log();
        let handle = bench.start(
            script,
            2,
            resume_events(&bench.state(), &RunLeftovers::new(), ResumeMode::Continue, 2, "test"),
        );
        bench.until(&handle, |state| state.requests.open.len() == 1).await;
        handle.commands.send(answer(1, action)).await.unwrap();
        let state = bench.until(&handle, is_over).await;
        assert_eq!(status(&state, "a"), expected, "{action:?}");
        assert_eq!(*log.lock().unwrap(), log_expected, "{action:?}");
        assert_eq!(asked(&bench.records()), 1);
    }
}

#[tokio::test]
async fn without_task_graphs_tasks_run_one_by_one_in_the_planners_order() {
    let bench = Bench::new();
    let script = Script::new(&[]);
    let (log, busy) = (script.log(), script.busiest());
    let features = EngineFeatures { task_graphs: false, ..EngineFeatures::default() };
    let handle = bench.start_with(
        script,
        8,
        features,
        approved(plan(&[("z", &[]), ("m", &[]), ("a", &[])])),
    );
    handle.commands.send(RUN).await.unwrap();
    bench.until(&handle, is_over).await;
    assert_eq!(*log.lock().unwrap(), ["z", "m", "a"]);
    assert_eq!(busy.lock().unwrap().1, 1);
}

#[tokio::test]
async fn published_events_are_durable_and_gapless() {
    let bench = Bench::new();
    let tasks: Vec<(String, Vec<&str>)> =
        (0..200).map(|number| (format!("t{number:03}"), Vec::new())).collect();
    let borrowed: Vec<(&str, &[&str])> =
        tasks.iter().map(|(id, on)| (id.as_str(), on.as_slice())).collect();
    let handle = bench.start(Script::new(&[]), 16, approved(plan(&borrowed)));
    handle.commands.send(RUN).await.unwrap();
    let mut head = handle.head.clone();
    let watcher = async {
        let mut history = bench.history();
        loop {
            let seen = *head.borrow_and_update();
            assert!(history.head_seq().unwrap() >= seen, "nobody is told of what is not durable");
            if head.changed().await.is_err() {
                return;
            }
        }
    };
    tokio::join!(watcher, async {
        bench.until(&handle, is_over).await;
        handle.wait_until_closed().await.unwrap();
    });
    let records = bench.records();
    assert!(records.iter().zip(1..).all(|(record, number)| record.seq.0 == number));
    assert!(records.is_sorted_by_key(|record| record.at));
    let done = records
        .iter()
        .filter(|record| matches!(&record.event, Event::Task(TaskEvent::Completed { .. })));
    assert_eq!(done.count(), 200);
}

#[tokio::test]
async fn a_cap_pauses_the_run_and_asks() {
    let bench = Bench::new();
    let script = Script::new(&[("a", Act::Use(2_500_000))]);
    let log = script.log();
    let handle = bench.start(script, 1, approved(plan(&[("a", &[]), ("b", &["a"])])));
    handle.commands.send(RUN).await.unwrap();
    let state = bench.until(&handle, |state| state.requests.open.len() == 1).await;
    assert_eq!(state.run.phase, RunPhase::Paused);
    assert_eq!(state.totals.tokens, 2_500_000);
    assert!(state.requests.oldest_open().unwrap().request.question.contains("tokens"));
    assert_eq!(*log.lock().unwrap(), ["a"]);
    handle.commands.send(answer(1, ChoiceAction::RaiseOnce)).await.unwrap();
    let state = bench.until(&handle, is_over).await;
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
}

#[tokio::test]
async fn offline_tasks_without_a_model_continue_and_the_rest_is_asked_about_again() {
    let bench = Bench::new();
    let script = Script::new(&[("a", Act::Use(2_500_000)), ("c", Act::Use(10))]);
    let log = script.log();
    let mut tasks = plan(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b"])]);
    tasks.tasks[2].run = RunKind::agent();
    let handle = bench.start(script, 2, approved(tasks));
    handle.commands.send(RUN).await.unwrap();
    let state = bench.until(&handle, |state| state.requests.open.len() == 1).await;
    let request = &state.requests.oldest_open().unwrap().request;
    let RequestKind::Cap { used, limit, .. } = request.kind else { panic!("{request:?}") };
    assert_eq!((used, limit), (2_500_000, 2_000_000));
    let spent = request.details.iter().find(|detail| detail.label == "Most spent").unwrap();
    assert_eq!(spent.text, "Task a, 2.5M tokens");
    assert_eq!(
        request.available_choice(ChoiceAction::GoOffline).unwrap().consequence,
        "1 agent task waits, the others run"
    );
    handle.commands.send(answer(1, ChoiceAction::GoOffline)).await.unwrap();
    let state = bench
        .until(&handle, |state| {
            state.requests.oldest_open().is_some_and(|open| open.request.id == RequestId(2))
        })
        .await;
    assert_eq!(*log.lock().unwrap(), ["a", "b", "d"], "the agent waits");
    assert_eq!((state.run.phase, state.run.offline), (RunPhase::Paused, false));
    let request = &state.requests.oldest_open().unwrap().request;
    assert_eq!(request.available_choice(ChoiceAction::GoOffline), None, "it would help nothing");
    handle.commands.send(answer(2, ChoiceAction::RaiseForSession)).await.unwrap();
    // This test session has no agent, so the task is tried and fails.
    let state = bench.until(&handle, is_over).await;
    assert_eq!(state.tasks.get(&TaskId::from("c")).unwrap().attempt, 1);
    assert_eq!(state.totals.anomalies, 0);
}

#[tokio::test]
async fn an_open_breaker_delays_tasks_without_failing_them() {
    let bench = Bench::new();
    let broken = || {
        let failure = ExecutionFailure::new("down", Category::Critical, "the service is down");
        Act::End(vec![CallOutcome::Errored { failure }])
    };
    let script = Script::new(&[("a", broken()), ("b", broken()), ("c", broken())]);
    let log = script.log();
    let handle =
        bench.start(script, 1, approved(plan(&[("a", &[]), ("b", &[]), ("c", &[]), ("d", &[])])));
    handle.commands.send(RUN).await.unwrap();
    let state = bench.until(&handle, |state| state.tasks.status_counts().failed == 3).await;
    let now = state.at.unwrap();
    assert_eq!(
        state.breakers.unclosed_breakers(now).map(|(tool, _)| tool).collect::<Vec<_>>(),
        ["script"]
    );
    handle.wait_until_closed().await.unwrap();
    assert_eq!(*log.lock().unwrap(), ["a", "b", "c"], "the fourth waits for the probe");
    assert_eq!(status(&bench.state(), "d"), TaskStatus::Pending);
}

#[tokio::test]
async fn tasks_are_ranked_by_the_tools_that_are_not_refused() {
    let bench = Bench::new();
    let failure = ExecutionFailure::new("down", Category::Critical, "the service is down");
    let broken = Act::End(vec![CallOutcome::Errored { failure }]);
    let script = Script::new(&["a", "b", "c"].map(|id| (id, broken.clone())));
    let log = script.log();
    let mut plan = plan(&[("a", &[]), ("b", &[]), ("c", &[]), ("other-1", &[]), ("other-2", &[])]);
    let mut rate = |task: usize, tool: &str, score: f64| {
        plan.tasks[task].tool_affinity.insert(tool.to_owned(), score);
    };
    (0..3).for_each(|task| rate(task, "script", 1.0));
    rate(3, "script", 0.9);
    rate(3, "other", 0.1);
    rate(4, "other", 0.5);
    let handle = bench.start(script, 1, approved(plan));
    handle.commands.send(RUN).await.unwrap();
    bench.until(&handle, is_over).await;
    assert_eq!(*log.lock().unwrap(), ["a", "b", "c", "other-2", "other-1"]);
}

#[tokio::test]
async fn a_plan_can_be_changed_while_it_runs_and_what_is_done_stays_done() {
    let bench = Bench::new();
    let before = plan(&[("a", &[]), ("b", &["a"])]);
    let script = Script::new(&[("b", Act::Hang)]);
    let log = script.log();
    let handle = bench.start(script, 2, approved(before.clone()));
    handle.commands.send(RUN).await.unwrap();
    bench.until(&handle, |state| status(state, "b") == TaskStatus::Running).await;

    let without_a = plan(&[("b", &[])]);
    handle.commands.send(revise(without_a)).await.unwrap();
    let state = bench.until(&handle, |state| state.requests.last_refusal.is_some()).await;
    assert_eq!(state.plan.revisions.len(), 1, "a done task cannot be taken out");

    let mut after = before;
    after.tasks.extend(plan(&[("c", &["a"])]).tasks);
    handle.commands.send(revise(after)).await.unwrap();
    let state = bench.until(&handle, |state| state.requests.open.len() == 1).await;
    assert_eq!((status(&state, "a"), status(&state, "c")), (TaskStatus::Done, TaskStatus::Pending));
    handle.commands.send(answer(1, ChoiceAction::ApproveAndRun)).await.unwrap();
    bench.until(&handle, |state| status(state, "c") == TaskStatus::Done).await;
    assert_eq!(*log.lock().unwrap(), ["a", "b", "c"], "nothing is done twice");
}

fn revise(plan: planwright_model::Plan) -> Command {
    let depth = vec![0; plan.tasks.len()];
    let facts = planwright_model::GraphFacts { depth, ..Default::default() };
    Command::Revise { plan: plan.into(), facts: facts.into(), normalization: Vec::new() }
}

#[tokio::test]
async fn without_react_tracing_no_output_is_journaled() {
    for (react_tracing, expected) in [(true, 1), (false, 0)] {
        let bench = Bench::new();
        let features = EngineFeatures { react_tracing, ..EngineFeatures::default() };
        let script = Script::new(&[("a", Act::Use(1))]);
        let handle = bench.start_with(script, 1, features, approved(plan(&[("a", &[])])));
        handle.commands.send(RUN).await.unwrap();
        bench.until(&handle, is_over).await;
        let output =
            |record: &&planwright_model::event::Record| record.event.kind() == "call.output";
        assert_eq!(bench.records().iter().filter(output).count(), expected);
    }
}

#[tokio::test]
async fn output_without_a_pause_is_journaled_in_batches_and_to_its_last_line() {
    let bench = Bench::new();
    let script = Script::new(&[("a", Act::Chat(100))]);
    let handle = bench.start(script, 1, approved(plan(&[("a", &[])])));
    handle.commands.send(RUN).await.unwrap();
    let state = bench.until(&handle, |state| status(state, "a") == TaskStatus::Running).await;
    let (mut head, begun) = (handle.head.clone(), std::time::Instant::now());
    let lines = |records: &[planwright_model::event::Record]| {
        records.iter().filter(|one| one.event.kind() == "call.output").count()
    };
    let last = state.seq.0 + 100 - lines(&bench.records()[..state.seq.0 as usize]) as u64;
    let mut batches = 0;
    // No other event follows that would flush the last lines.
    let all = async {
        while head.borrow_and_update().0 < last {
            head.changed().await.unwrap();
            batches += 1;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), all).await.unwrap();
    let most = begun.elapsed().as_millis() / 20 + 3;
    assert!(batches <= most, "{batches} batches, at most {most}");
    assert_eq!(lines(&bench.records()), 100);
    handle.wait_until_closed().await.unwrap();
}

#[tokio::test]
async fn the_consequences_of_a_commit_are_published_at_once() {
    let bench = Bench::new();
    let goal = "learn to juggle";
    let first = vec![
        SessionEvent::Created {
            format: 1,
            program: "test".into(),
            title: goal.into(),
            goal: Some(goal.into()),
            workspace: "/".into(),
            plan_file: None,
        }
        .into(),
        PlanningEvent::Began {
            goal: goal.into(),
            thread_id: "user_test:1".into(),
            policy: PolicyOverride::default(),
            limits: PlanLimits::default(),
            drafter: "offline".into(),
        }
        .into(),
    ];
    // No planner is available: this is found out once the first events are durable, and nothing else happens afterwards.
    let handle = bench.start(Script::new(&[]), 1, first);
    let state = bench.until(&handle, |state| state.planning.last_trouble.is_some()).await;
    assert_eq!(state.planning.last_trouble.as_deref(), Some("nothing can plan here"));
    handle.wait_until_closed().await.unwrap();
}
