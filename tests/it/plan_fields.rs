//! Fields of a plan that a run obeys: one test each, by a clock that stands still unless somebody waits. Each of them
//! fails when its field is ignored.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use planwright_engine::resume::{ResumeMode, RunLeftovers, resume_events};
use planwright_engine::{self as engine, EngineOptions, SessionHandle};
use planwright_model::event::{
    CallOutcome, Command, Event, OutputStream, PlanEvent, SessionEvent, TaskEvent,
};
use planwright_model::task::CriterionEffect;
use planwright_model::{
    Actor, ExitCriterion, FileCalendar, LagBasis, LinkKind, LocalTimeInterval, Plan, RepeatPolicy,
    RetryCause, RunCondition, RunKind, SkipReason, StartTimeCause, TaskHold, TaskId, TaskLink,
    TaskNode, TaskRetryPolicy, Weekday,
};
use planwright_state::{RunPhase, SessionState, TaskStatus};
use planwright_tools::{
    AttemptEvent, AttemptEventSink, AttemptOutcome, AttemptWork, LocalProcessExecutor, TaskAttempt,
    TaskExecutor,
};
use tokio_util::sync::CancellationToken;

use crate::support::{Bench, approved, plan};

/// A Tuesday, 10:00 in UTC.
const START: &str = "2026-11-17T10:00:00Z";

fn start() -> Timestamp {
    START.parse().unwrap()
}

/// The time of the paused runtime, as a wall clock would show it.
fn paused_clock() -> engine::Clock {
    let begun = tokio::time::Instant::now();
    Arc::new(move || {
        let passed = SignedDuration::try_from(begun.elapsed()).unwrap();
        start().saturating_add(passed).unwrap()
    })
}

/// When a job ran, by the seconds since the start.
#[derive(Clone, Debug, PartialEq)]
struct Ran {
    what: String,
    from: i64,
    to: i64,
}

/// As many seconds as nobody waits.
const FOREVER: u64 = u64::MAX;

/// How a job ends, and what it prints.
type Script = Arc<dyn Fn(&TaskAttempt) -> (CallOutcome, &'static str) + Send + Sync>;

/// Runs jobs that take as long as the test says, and writes down when.
struct Recorder {
    clock: engine::Clock,
    log: Arc<Mutex<Vec<Ran>>>,
    /// By what the log calls a job; ten where nothing is said.
    seconds: HashMap<&'static str, u64>,
    script: Script,
}

impl TaskExecutor for Recorder {
    fn start(
        &self,
        job: TaskAttempt,
        events: AttemptEventSink,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, AttemptOutcome> {
        let what = match &job.work {
            AttemptWork::Task => job.task.id.to_string(),
            AttemptWork::CheckCommand(command) => format!("{}: {command}", job.task.id),
            AttemptWork::CheckFile(path) => format!("{}: file {path}", job.task.id),
        };
        let (clock, log) = (Arc::clone(&self.clock), Arc::clone(&self.log));
        let seconds = self.seconds.get(what.as_str()).copied().unwrap_or(10);
        let (outcome, output) = (self.script)(&job);
        Box::pin(async move {
            let now = || clock().duration_since(start()).as_secs();
            let from = now();
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(seconds)), if seconds != FOREVER => {}
                () = cancel.cancelled() => {}
            }
            if !output.is_empty() {
                let (stream, text) = (OutputStream::Stdout, output.to_owned());
                events.send(AttemptEvent::Output { stream, text }).await.unwrap();
            }
            log.lock().unwrap().push(Ran { what, from, to: now() });
            let outcome = if cancel.is_cancelled() { CallOutcome::Cancelled } else { outcome };
            AttemptOutcome {
                elapsed: Duration::from_secs(seconds.min(60)),
                output_bytes: output.len() as u64,
                ..AttemptOutcome::without_output(outcome)
            }
        })
    }

    fn tool_identity(&self, _task: &TaskNode) -> (&'static str, &'static str) {
        ("shell", "1")
    }
}

/// A run of a plan by the paused clock.
struct FieldRun {
    bench: Bench,
    log: Arc<Mutex<Vec<Ran>>>,
    handle: SessionHandle,
}

const RUN: Command = Command::Run { by: Actor::Person };

fn succeed(_: &TaskAttempt) -> (CallOutcome, &'static str) {
    (CallOutcome::Exited { code: 0 }, "")
}

fn make_repeatable(plan: &mut Plan) {
    plan.tasks.iter_mut().for_each(|task| task.repeat = RepeatPolicy::Safe);
}

impl FieldRun {
    /// Commands that may simply be repeated start before their intent is durable, so that no time passes in between.
    async fn start(mut plan: Plan, seconds: &[(&'static str, u64)]) -> Self {
        make_repeatable(&mut plan);
        Self::start_with(approved(plan), seconds, Arc::new(succeed)).await
    }

    async fn start_with(
        first: Vec<Event>,
        seconds: &[(&'static str, u64)],
        script: Script,
    ) -> Self {
        let run = Self::open(Bench::new(), first, seconds, script);
        run.handle.commands.send(RUN).await.unwrap();
        run
    }

    fn open(
        bench: Bench,
        first: Vec<Event>,
        seconds: &[(&'static str, u64)],
        script: Script,
    ) -> Self {
        let (clock, log) = (paused_clock(), Arc::new(Mutex::new(Vec::new())));
        let runner = Recorder {
            clock: Arc::clone(&clock),
            log: Arc::clone(&log),
            seconds: seconds.iter().copied().collect(),
            script,
        };
        let journal = bench.store.acquire_session(&bench.id).unwrap();
        let options =
            EngineOptions { jobs: 4, clock, ..EngineOptions::with_executor(Arc::new(runner)) };
        let handle = engine::start_session(journal, bench.state(), first, options);
        Self { bench, log, handle }
    }

    /// The state at the first record after which a condition holds. There is no time limit: time only passes when all
    /// wait, and then it leaps.
    async fn until(&mut self, condition: impl Fn(&SessionState) -> bool) -> SessionState {
        loop {
            self.handle.head.borrow_and_update();
            let mut state = SessionState::default();
            for record in self.bench.records() {
                state.apply(&record);
                if condition(&state) {
                    return state;
                }
            }
            self.handle.head.changed().await.expect("the session lasts until then");
        }
    }

    async fn finish(&mut self) -> (SessionState, Vec<Ran>) {
        let state = self.until(|state| matches!(state.run.phase, RunPhase::Finished { .. })).await;
        assert_eq!(state.totals.anomalies, 0);
        let mut log = self.log.lock().unwrap().clone();
        log.sort_by(|a, b| (a.from, &a.what).cmp(&(b.from, &b.what)));
        (state, log)
    }

    fn holds(&self) -> Vec<TaskHold> {
        let records = self.bench.records();
        let holds = records.iter().filter_map(|record| match &record.event {
            Event::Task(TaskEvent::Held { hold, .. }) => Some(hold.clone()),
            _ => None,
        });
        holds.collect()
    }
}

fn ran(what: &str, from: i64, to: i64) -> Ran {
    Ran { what: what.to_owned(), from, to }
}

fn status(state: &SessionState, task: &str) -> TaskStatus {
    state.tasks.get(&TaskId::from(task)).map_or(TaskStatus::Pending, |row| row.status)
}

fn link(task: &str, kind: LinkKind, lag_minutes: i32) -> TaskLink {
    let lag_basis = LagBasis::Elapsed;
    TaskLink { kind, lag_minutes, lag_basis, ..TaskLink::finish_to_start(task) }
}

#[tokio::test(start_paused = true)]
async fn a_resource_of_capacity_one_is_never_used_twice_at_once() {
    let mut plan = plan(&[("a", &[]), ("b", &[]), ("c", &[]), ("free", &[])]);
    plan.resources = [("db".to_owned(), 1)].into();
    for task in &mut plan.tasks[..3] {
        task.resources = [("db".to_owned(), 1)].into();
    }
    let mut run = FieldRun::start(plan, &[]).await;
    let (state, log) = run.finish().await;
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
    assert_eq!(
        log,
        [ran("a", 0, 10), ran("free", 0, 10), ran("b", 10, 20), ran("c", 20, 30)],
        "one after the other, and what needs nothing beside them"
    );
    let hold =
        TaskHold::Resource { name: "db".into(), capacity: 1, used: 1, users: vec!["a".into()] };
    assert_eq!(run.holds(), [hold.clone(), hold], "each is told once what it waits for");
    let words = state.describe_hold(&"b".into(), &run.holds()[0], start(), &state.plan_zone());
    assert_eq!(words, "waiting for db: 1 of 1 used by Task a");
}

#[tokio::test(start_paused = true)]
async fn units_of_a_resource_are_counted_and_a_task_in_doubt_keeps_its_own() {
    let mut plan = plan(&[("a", &[]), ("b", &[]), ("c", &[])]);
    plan.resources = [("slot".to_owned(), 3)].into();
    for (task, units) in plan.tasks.iter_mut().zip([2, 2, 1]) {
        task.resources = [("slot".to_owned(), units)].into();
    }
    let mut run = FieldRun::start(plan, &[]).await;
    let (_, log) = run.finish().await;
    assert_eq!(log, [ran("a", 0, 10), ran("c", 0, 10), ran("b", 10, 20)]);
}

#[tokio::test(start_paused = true)]
async fn a_lag_is_waited_for_after_an_end_and_after_a_start() {
    let mut plan = plan(&[("a", &[]), ("after-end", &[]), ("after-start", &[]), ("at-once", &[])]);
    plan.tasks[1].dependencies = vec![link("a", LinkKind::FS, 2)];
    plan.tasks[2].dependencies = vec![link("a", LinkKind::SS, 1)];
    plan.tasks[3].dependencies = vec![link("a", LinkKind::FS, -5)];
    let mut run = FieldRun::start(plan, &[("a", 30)]).await;
    let (_, log) = run.finish().await;
    let expected = [
        ran("a", 0, 30),
        ran("at-once", 30, 40),
        ran("after-start", 60, 70),
        ran("after-end", 150, 160),
    ];
    assert_eq!(log, expected);
    let causes: Vec<StartTimeCause> = (run.holds().into_iter())
        .filter_map(|hold| match hold {
            TaskHold::Until { cause, .. } => Some(cause),
            TaskHold::Resource { .. } => None,
        })
        .collect();
    let task = TaskId::from("a");
    let expected = [
        StartTimeCause::LagAfterStart { task: task.clone() },
        StartTimeCause::LagAfterEnd { task },
    ];
    assert_eq!(causes, expected);
}

#[tokio::test(start_paused = true)]
async fn a_lag_in_working_time_goes_by_the_hours_of_the_plan() {
    let mut plan = plan(&[("a", &[]), ("b", &[])]);
    plan.tasks[1].dependencies =
        vec![TaskLink { lag_basis: LagBasis::Working, ..link("a", LinkKind::FS, 120) }];
    let mut calendar = FileCalendar::default();
    "UTC".clone_into(&mut calendar.hours.tz);
    // Work ends at 11:00 and begins at 9:00 the next day.
    let hours =
        LocalTimeInterval::new(jiff::civil::time(9, 0, 0, 0), jiff::civil::time(11, 0, 0, 0));
    calendar.hours.working = Weekday::ALL.into_iter().map(|day| (day, vec![hours])).collect();
    plan.calendar = Some(calendar);
    let mut run = FieldRun::start(plan, &[("a", 1800)]).await;
    let (_, log) = run.finish().await;
    // At 10:30 half an hour is left of the day; an hour and a half is left for the next one, until 10:30.
    assert_eq!(log[1].from, 24 * 3600 + 1800, "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn dates_and_the_scheduled_time_are_waited_for() {
    let mut plan = plan(&[("a", &[]), ("b", &[]), ("c", &[]), ("past", &[])]);
    plan.tasks[0].not_before = Some("2026-11-17T12:05".parse().unwrap());
    plan.tasks[1].fixed_start = Some("2026-11-17T12:10".parse().unwrap());
    plan.tasks[2].at_scheduled_time = true;
    plan.tasks[3].not_before = Some("2026-11-16".parse().unwrap());
    make_repeatable(&mut plan);
    let mut first = approved(plan);
    for event in &mut first {
        if let Event::Plan(PlanEvent::Proposed { facts, .. }) = event {
            let facts = Arc::make_mut(facts);
            "Europe/Berlin".clone_into(&mut facts.time_zone);
            let at = start().saturating_add(SignedDuration::from_mins(90)).unwrap();
            facts.scheduled_starts = [(TaskId::from("c"), at)].into();
        }
    }
    let mut run = FieldRun::start_with(first, &[], Arc::new(succeed)).await;
    let waiting = run.until(|state| status(state, "past") == TaskStatus::Done).await;
    let zone = waiting.plan_zone();
    let words = |task: usize| waiting.describe_wait(task, start(), &zone);
    assert_eq!(words(0).as_deref(), Some("starts 12:05, not before"));
    assert_eq!(words(1).as_deref(), Some("starts 12:10, as its date is fixed"));
    assert_eq!(words(2).as_deref(), Some("starts 12:30, its scheduled time"));
    assert_eq!(words(3), None);
    let (_, log) = run.finish().await;
    let starts: Vec<(&str, i64)> = log.iter().map(|ran| (ran.what.as_str(), ran.from)).collect();
    // 12:05 in Berlin is 11:05 in UTC.
    assert_eq!(starts, [("past", 0), ("a", 3900), ("b", 4200), ("c", 5400)]);
}

// By a clock that goes on, since one that leaps would reach the date.
#[tokio::test]
async fn a_task_that_is_skipped_while_it_waits_for_its_time_does_not_hold_the_run() {
    let mut plan = plan(&[("a", &[]), ("b", &[])]);
    plan.tasks[1].not_before = Some("2999-01-01".parse().unwrap());
    let mut run = FieldRun::start(plan, &[("a", 0)]).await;
    let holds =
        |state: &SessionState| state.tasks.get(&"b".into()).is_some_and(|row| row.hold.is_some());
    run.until(holds).await;
    let skip = Command::SkipTask { task: "b".into(), with_dependents: false };
    run.handle.commands.send(skip).await.unwrap();
    let (_, log) = run.finish().await;
    assert_eq!(log.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn finish_to_finish_and_start_to_finish_hold_the_end() {
    let mut plan =
        plan(&[("a", &[]), ("ff", &[]), ("sf", &[]), ("late", &["a"]), ("then", &["ff"])]);
    plan.tasks[1].dependencies = vec![link("a", LinkKind::FF, 1)];
    plan.tasks[2].dependencies = vec![link("late", LinkKind::SF, 0)];
    let mut run = FieldRun::start(plan, &[("a", 40)]).await;
    let held = run.until(|state| state.tasks.awaiting_close_count() == 2).await;
    let zone = held.plan_zone();
    let words = |task: usize| held.describe_wait(task, start(), &zone).unwrap();
    assert_eq!(words(1), "finished, waiting for Task a to end");
    assert_eq!(words(2), "finished, waiting for Task late to start");
    let (state, log) = run.finish().await;
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
    let end = |task: &str| {
        let at = state.tasks.get(&TaskId::from(task)).unwrap().finished_at.unwrap();
        at.duration_since(start()).as_secs()
    };
    assert_eq!((end("ff"), end("sf")), (100, 40), "a lag after the end at 40, and a start at 40");
    let then = log.iter().find(|ran| ran.what == "then").unwrap();
    assert_eq!(then.from, 100, "what needs the end waits for it");
    assert_eq!(state.tasks.get(&"ff".into()).unwrap().took_ms, 10_000, "waiting is no work");
}

#[tokio::test(start_paused = true)]
async fn an_end_that_waits_survives_another_process_and_a_failure_it_waits_for() {
    let mut plan = plan(&[("a", &[]), ("ff", &[])]);
    plan.tasks[1].dependencies = vec![link("a", LinkKind::FF, 0)];
    let fail: Script = Arc::new(|job: &TaskAttempt| match job.task.id.as_str() {
        "a" => (CallOutcome::Exited { code: 1 }, ""),
        _ => succeed(job),
    });
    let mut run = FieldRun::start_with(approved(plan), &[("a", FOREVER)], Arc::clone(&fail)).await;
    run.until(|state| state.tasks.awaiting_close_count() == 1).await;
    let FieldRun { bench, handle, .. } = run;
    handle.wait_until_closed().await.unwrap();
    let state = bench.state();
    let first = resume_events(&state, &RunLeftovers::new(), ResumeMode::Continue, 4, "test");
    let mut run = FieldRun::open(bench, first, &[], fail);
    let state = run.until(|state| !state.requests.open.is_empty()).await;
    assert_eq!(state.requests.open.len(), 1, "only the command that was cut off is in doubt");
    let id = *state.requests.open.keys().next().unwrap();
    let answer = planwright_model::Answer::from(planwright_model::ChoiceAction::RunAgain);
    let again = Command::Answer { id, answer, by: Actor::Person };
    run.handle.commands.send(again).await.unwrap();
    let (state, log) = run.finish().await;
    assert_eq!(log.len(), 1, "what was finished is not run again: {log:?}");
    assert_eq!((status(&state, "a"), status(&state, "ff")), (TaskStatus::Failed, TaskStatus::Done));
}

fn criteria_plan() -> Plan {
    let mut plan = plan(&[("a", &[]), ("b", &["a"])]);
    let on = CriterionEffect::Success;
    plan.tasks[0].exit_criteria = vec![
        ExitCriterion::Text { text: "it looks good".into(), on },
        ExitCriterion::FileExists { path: "out.txt".into(), on },
        ExitCriterion::Command { command: "grep -q fine out.txt".into(), on },
        ExitCriterion::JsonPath { path: "$.passed".into(), equals: 3.into(), on },
        ExitCriterion::Command { command: "test -e core".into(), on: CriterionEffect::Failure },
    ];
    plan
}

/// What each check of the plan finds; the command itself prints how many passed.
fn criteria_script(bad: &'static str) -> Script {
    Arc::new(move |job: &TaskAttempt| {
        let exit = |code| CallOutcome::Exited { code };
        match &job.work {
            AttemptWork::Task if bad == "json" => (exit(0), "{\"passed\": 2}\n"),
            AttemptWork::Task => (exit(0), "{\"passed\": 3}\n"),
            AttemptWork::CheckCommand(command) if command == "test -e core" => {
                (exit(i32::from(bad != "core")), "")
            }
            AttemptWork::CheckCommand(command) => (exit(i32::from(command == bad)), ""),
            AttemptWork::CheckFile(path) => (exit(i32::from(path == bad)), ""),
        }
    })
}

#[tokio::test(start_paused = true)]
async fn exit_criteria_are_checked_after_the_command_and_decide() {
    let cases = [
        ("", None, 4),
        ("out.txt", Some("its check found no file out.txt"), 2),
        (
            "grep -q fine out.txt",
            Some("its check `grep -q fine out.txt` did not succeed: exit 1"),
            3,
        ),
        ("json", Some("its check found that $.passed in its output is not 3"), 3),
        ("core", Some("counts as failed: `test -e core` succeeds"), 4),
    ];
    for (bad, message, jobs) in cases {
        let first = approved(criteria_plan());
        let mut run = FieldRun::start_with(first, &[], criteria_script(bad)).await;
        let (state, log) = run.finish().await;
        let row = state.tasks.get(&"a".into()).unwrap();
        let failure = row.failure.as_ref().map(|failure| failure.message.as_str());
        assert_eq!(failure, message, "{bad}");
        let own = log.iter().filter(|ran| ran.what.starts_with('a')).count();
        assert_eq!(own, jobs, "{bad}: {log:?}");
        let expected = match message {
            None => TaskStatus::Done,
            Some(_) => TaskStatus::Skipped(SkipReason::DependencyFailed),
        };
        assert_eq!(status(&state, "b"), expected, "{bad}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_check_that_was_cut_off_is_repeated_and_the_command_is_not() {
    let first = approved(criteria_plan());
    let slow = [("a: grep -q fine out.txt", FOREVER)];
    let mut run = FieldRun::start_with(first, &slow, criteria_script("")).await;
    let at_check = |state: &SessionState| {
        let row = state.tasks.get(&"a".into());
        let call = row.and_then(|row| row.call.as_ref());
        call.is_some_and(|open| open.call.step == 4)
    };
    run.until(at_check).await;
    let FieldRun { bench, handle, .. } = run;
    handle.wait_until_closed().await.unwrap();
    let state = bench.state();
    let first = resume_events(&state, &RunLeftovers::new(), ResumeMode::Continue, 4, "test");
    let mut run = FieldRun::open(bench, first, &[], criteria_script(""));
    let (state, log) = run.finish().await;
    let whats: Vec<&str> = log.iter().map(|ran| ran.what.as_str()).collect();
    assert_eq!(whats, ["a: grep -q fine out.txt", "a: test -e core", "b"]);
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
}

#[test]
fn a_task_of_the_persons_is_handed_over_whatever_its_date_is() {
    let mut task = TaskNode::new("a", "Sign it");
    task.run = RunKind::Human {};
    task.not_before = Some("2099-01-01".parse().unwrap());
    let events = approved(Plan { tasks: vec![task], ..Plan::default() });
    let mut state = SessionState::default();
    for event in events {
        let record = planwright_model::event::Record::new(state.seq.next(), start(), event);
        state.apply(&record);
    }
    assert_eq!(state.start_time(0), None);
}

/// How often each task ends with a bad exit before it succeeds.
fn flaky(times: &'static [(&'static str, u32)]) -> Script {
    Arc::new(move |job: &TaskAttempt| {
        let own = times.iter().find(|(id, _)| *id == job.task.id.as_str());
        let fails = own.is_some_and(|(_, times)| job.call.attempt <= *times);
        (CallOutcome::Exited { code: i32::from(fails) }, "")
    })
}

async fn run_flaky(
    mut plan: Plan,
    times: &'static [(&'static str, u32)],
) -> (SessionState, Vec<Ran>) {
    make_repeatable(&mut plan);
    FieldRun::start_with(approved(plan), &[], flaky(times)).await.finish().await
}

#[tokio::test(start_paused = true)]
async fn a_command_is_tried_again_after_its_back_off_and_as_often_as_stated() {
    let mut plan = plan(&[("a", &[]), ("b", &["a"])]);
    let policy = TaskRetryPolicy { backoff: 60, factor: 3.0, ..TaskRetryPolicy::with_max(2) };
    plan.tasks[0].retries = Some(policy.clone());
    let (state, log) = run_flaky(plan.clone(), &[("a", 2)]).await;
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
    // 60 s after the first end, 180 s after the second.
    let expected = [ran("a", 0, 10), ran("a", 70, 80), ran("a", 260, 270), ran("b", 270, 280)];
    assert_eq!(log, expected);
    let (state, log) = run_flaky(plan.clone(), &[("a", 3)]).await;
    assert_eq!((status(&state, "a"), log.len()), (TaskStatus::Failed, 3));
    plan.tasks[0].retries = Some(TaskRetryPolicy { on: [RetryCause::Timeout].into(), ..policy });
    let (_, log) = run_flaky(plan, &[("a", 1)]).await;
    assert_eq!(log, [ran("a", 0, 10)], "an exit is no reason for it");
}

#[tokio::test(start_paused = true)]
async fn tasks_run_on_the_condition_they_state() {
    let mut plan = plan(&[
        ("a", &[]),
        ("b", &["a"]),
        ("clean", &["b"]),
        ("alarm", &["b"]),
        ("after", &["alarm"]),
    ]);
    plan.tasks[2].when = RunCondition::Always;
    plan.tasks[3].when = RunCondition::Failed;
    let whats = |log: &[Ran]| log.iter().map(|ran| ran.what.clone()).collect::<Vec<_>>();
    let (state, log) = run_flaky(plan.clone(), &[]).await;
    assert_eq!(whats(&log), ["a", "b", "after", "clean"]);
    assert_eq!(status(&state, "alarm"), TaskStatus::Skipped(SkipReason::NotNeeded));
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
    let (state, log) = run_flaky(plan.clone(), &[("a", 9)]).await;
    assert_eq!(whats(&log), ["a", "alarm", "clean", "after"]);
    assert_eq!(status(&state, "b"), TaskStatus::Skipped(SkipReason::DependencyFailed));
    assert_eq!(state.run.phase, RunPhase::Finished { success: false });
    plan.fail_fast = true;
    let (_, log) = run_flaky(plan, &[("a", 9)]).await;
    assert!(whats(&log).contains(&"clean".to_owned()), "what cleans up runs all the same: {log:?}");
}

#[tokio::test(start_paused = true)]
async fn tasks_run_only_if_their_condition_is_true() {
    let mut plan = plan(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])]);
    plan.tasks[0].continue_on_error = true;
    "tasks.a.exit_code == 1 and tasks.a.status == 'failed'"
        .clone_into(&mut plan.tasks[1].options.run_if);
    "not (tasks.a.exit_code == 1)".clone_into(&mut plan.tasks[2].options.run_if);
    let (state, log) = run_flaky(plan.clone(), &[("a", 9)]).await;
    let whats = |log: &[Ran]| log.iter().map(|ran| ran.what.clone()).collect::<Vec<_>>();
    assert_eq!(whats(&log), ["a", "b", "d"], "what is left out counts as met");
    assert_eq!(status(&state, "c"), TaskStatus::Skipped(SkipReason::ConditionFalse));
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
    let (state, log) = run_flaky(plan, &[]).await;
    assert_eq!(whats(&log), ["a", "c", "d"]);
    assert_eq!(status(&state, "b"), TaskStatus::Skipped(SkipReason::ConditionFalse));
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_put_up_with_or_ends_the_run_as_stated() {
    let mut tolerant = plan(&[("a", &[]), ("b", &["a"])]);
    tolerant.tasks[0].continue_on_error = true;
    let (state, log) = run_flaky(tolerant, &[("a", 9)]).await;
    assert_eq!((status(&state, "a"), status(&state, "b")), (TaskStatus::Failed, TaskStatus::Done));
    assert_eq!((state.run.phase, log.len()), (RunPhase::Finished { success: true }, 2));
    let mut strict = plan(&[("a", &[]), ("x", &[]), ("y", &["x"])]);
    let (state, _) = run_flaky(strict.clone(), &[("a", 9)]).await;
    assert_eq!(status(&state, "y"), TaskStatus::Done, "what does not depend on it goes on");
    strict.fail_fast = true;
    let (state, _) = run_flaky(strict, &[("a", 9)]).await;
    assert_eq!(status(&state, "y"), TaskStatus::Skipped(SkipReason::Aborted));
}

/// What a real command prints, run as a task states it.
async fn printed(task: impl FnOnce(&mut TaskNode), command: &str) -> (TaskStatus, String) {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(directory.path().join("web")).unwrap();
    std::os::unix::fs::symlink("/", directory.path().join("out")).unwrap();
    let mut plan = plan(&[("a", &[])]);
    plan.tasks[0].run = RunKind::Shell(command.to_owned());
    task(&mut plan.tasks[0]);
    let mut first = approved(plan);
    if let Event::Session(SessionEvent::Created { workspace, .. }) = &mut first[0] {
        *workspace = directory.path().canonicalize().unwrap().to_string_lossy().into_owned();
    }
    let bench = Bench::new();
    let runner = LocalProcessExecutor::new(planwright_text::Redactor::default(), Vec::new());
    let options = EngineOptions::with_executor(Arc::new(runner));
    let journal = bench.store.acquire_session(&bench.id).unwrap();
    let handle = engine::start_session(journal, bench.state(), first, options);
    handle.commands.send(RUN).await.unwrap();
    let over = |state: &SessionState| matches!(state.run.phase, RunPhase::Finished { .. });
    let state = bench.until(&handle, over).await;
    let row = state.tasks.row(0);
    let text = row.failure.as_ref().map_or(row.output_tail.clone(), |one| one.message.clone());
    (row.status, text.trim().to_owned())
}

#[tokio::test]
async fn a_command_runs_with_its_shell_its_variables_and_in_its_directory() {
    let (_, plain) = printed(|_| {}, "echo ${NAME:-none} $(basename $PWD) $0").await;
    assert!(plain.starts_with("none ") && !plain.contains("web"), "{plain}");
    let settings = |task: &mut TaskNode| {
        task.env = [("NAME".to_owned(), "a b".to_owned())].into();
        task.cwd = "web".to_owned();
        task.shell = ["/bin/sh", "-euc"].map(str::to_owned).to_vec();
    };
    let (status, text) = printed(settings, "echo \"$NAME\" $(basename $PWD)").await;
    assert_eq!((status, text.as_str()), (TaskStatus::Done, "a b web"));
    let strict = |task: &mut TaskNode| task.shell = ["/bin/sh", "-euc"].map(str::to_owned).to_vec();
    let (status, _) = printed(strict, "false; true").await;
    assert_eq!(status, TaskStatus::Failed, "the shell's flags apply");
    for (cwd, message) in [
        ("nowhere", "there is no directory nowhere"),
        ("out", "the directory out leads out of the workspace"),
    ] {
        let (status, text) = printed(|task| cwd.clone_into(&mut task.cwd), "true").await;
        assert_eq!((status, text.as_str()), (TaskStatus::Failed, message));
    }
}

/// What a task does in a run that is only observed: its id says it.
fn act_by_id(attempt: &TaskAttempt) -> (CallOutcome, &'static str) {
    let code = match (&attempt.work, attempt.task.id.as_str()) {
        (AttemptWork::CheckCommand(command), _) => i32::from(command == "false"),
        (AttemptWork::CheckFile(_), _) | (AttemptWork::Task, "exit") => 1,
        (AttemptWork::Task, "flaky") => i32::from(attempt.call.attempt == 1),
        (AttemptWork::Task, _) => 0,
    };
    (CallOutcome::Exited { code }, "")
}

/// The first events of a session with a plan file that was approved on a machine in UTC, the day of `START`.
fn approved_file(text: &str) -> Vec<Event> {
    let format = planwright_plan::plan_file::PlanFileFormat::Toml;
    let read = planwright_plan::plan_file::parse_plan_file(text, format, "plan.toml");
    let plan = read.unwrap_or_else(|error| panic!("{error}\n{text}")).plan;
    let local = planwright_plan::plan_file_schedule::LocalContext {
        tz: "UTC".to_owned(),
        first_day: "2026-11-18".parse().unwrap(),
    };
    let mut first = approved(plan.clone());
    for event in &mut first {
        if let Event::Plan(PlanEvent::Proposed { facts, .. }) = event {
            let facts = Arc::make_mut(facts);
            planwright_plan::plan_file_schedule::add_start_times(facts, &plan, &local).unwrap();
        }
    }
    first
}

/// Runs a plan file by the paused clock, and tells what ran when and how it ended. A task with the id `long` takes half
/// an hour, every other one ten seconds.
pub(crate) async fn observe_paused(text: &str) -> String {
    let first = approved_file(text);
    let mut run = FieldRun::start_with(first, &[("long", 1800)], Arc::new(act_by_id)).await;
    let (state, log) = run.finish().await;
    let end = |task: usize| {
        let at = state.tasks.row(task).finished_at;
        at.map(|at| at.duration_since(start()).as_secs())
    };
    let statuses: Vec<String> = (0..state.tasks.len())
        .map(|task| {
            let row = state.tasks.row(task);
            format!("{} {:?} {:?}", state.tasks.id(task), row.status, end(task))
        })
        .collect();
    format!("{log:#?}\n{statuses:#?}\n{:?}", state.run.phase)
}

/// Interrupts a run of a plan file, and tells what a resume begins with.
pub(crate) async fn observe_resumed(text: &str) -> String {
    let first = approved_file(text);
    let mut run = FieldRun::start_with(first, &[("a", FOREVER)], Arc::new(act_by_id)).await;
    let state = run.until(|state| status(state, "a") == TaskStatus::Running).await;
    let events = resume_events(&state, &RunLeftovers::default(), ResumeMode::Continue, 4, "a test");
    let kinds: Vec<String> = events.iter().map(|event| event.kind().into_owned()).collect();
    format!("{kinds:?}")
}
