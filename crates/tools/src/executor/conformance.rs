//! What every executor must do, as a suite that runs against any of them.
//!
//! An executor comes with [`ConformanceTasks`]: a task for each case, in its own terms. The suite starts them as the driver
//! does and panics with the case and what was seen instead.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    AttemptEvent, AttemptEventSink, AttemptHasEnded, AttemptOutcome, AttemptReport, AttemptWork,
    TaskAttempt, TaskExecutor, TaskRef,
};
use planwright_model::event::{CallOutcome, OutputStream};
use planwright_model::{CallId, Plan, RunKind, SessionId, TaskNode};

/// How soon a cancelled attempt has ended.
const CANCEL_BOUND: Duration = Duration::from_secs(5);
/// How long any other attempt of the suite may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the suite asks an executor to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConformanceCase {
    /// Ends well.
    Succeed,
    /// Ends badly: with the exit code 3 where there is one.
    Fail,
    /// Goes on until it is cancelled, and does not react to polite requests to stop.
    Hang,
    /// Goes on beyond its time limit of one second.
    Overrun,
    /// Prints the numbers from 0 to 49, a line each, the even ones to standard output and the odd ones to standard error.
    PrintInOrder,
    /// Prints more than is kept.
    PrintTooMuch,
    /// Panics inside the executor.
    Panic,
}

/// The tasks of one kind of executor for the cases. A case that cannot occur there has none.
pub trait ConformanceTasks {
    fn task_for(&self, case: ConformanceCase) -> Option<TaskNode>;
}

/// What one attempt reported.
#[derive(Debug)]
struct ObservedAttempt {
    events: Vec<AttemptEvent>,
    /// `Err` if the executor panicked.
    outcome: Result<AttemptOutcome, String>,
    late: Result<(), AttemptHasEnded>,
}

/// Runs all cases that the executor has a task for.
pub async fn check_executor(
    executor: Arc<dyn TaskExecutor>,
    tasks: &dyn ConformanceTasks,
    workspace: &Path,
) {
    let suite = ConformanceSuite { executor, tasks, workspace };
    suite.check_endings().await;
    suite.check_cancellation().await;
    suite.check_time_limit().await;
    suite.check_output().await;
    suite.check_panic().await;
}

struct ConformanceSuite<'a> {
    executor: Arc<dyn TaskExecutor>,
    tasks: &'a dyn ConformanceTasks,
    workspace: &'a Path,
}

impl ConformanceSuite<'_> {
    async fn check_endings(&self) {
        if let Some(seen) = self.observe(ConformanceCase::Succeed, None).await {
            assert_eq!(seen.ended().outcome, CallOutcome::Exited { code: 0 }, "succeed: {seen:?}");
            assert_eq!(seen.late, Err(AttemptHasEnded), "an event after the end was taken");
        }
        if let Some(seen) = self.observe(ConformanceCase::Fail, None).await {
            let outcome = &seen.ended().outcome;
            let failed = match outcome {
                CallOutcome::Exited { code } => *code == 3,
                CallOutcome::Errored { failure } => !failure.message.is_empty(),
                _ => false,
            };
            assert!(failed, "fail: {outcome:?}");
        }
    }

    /// A cancelled attempt ends in time, whether it had begun or not.
    async fn check_cancellation(&self) {
        for wait in [Duration::ZERO, Duration::from_millis(200)] {
            let begun = std::time::Instant::now();
            let Some(seen) = self.observe(ConformanceCase::Hang, Some(wait)).await else { return };
            assert_eq!(seen.ended().outcome, CallOutcome::Cancelled, "cancel after {wait:?}");
            assert!(begun.elapsed() < CANCEL_BOUND + wait, "cancel took {:?}", begun.elapsed());
        }
    }

    async fn check_time_limit(&self) {
        let Some(seen) = self.observe(ConformanceCase::Overrun, None).await else { return };
        let outcome = &seen.ended().outcome;
        let is_timed_out = match outcome {
            CallOutcome::TimedOut { limit_seconds } => *limit_seconds == 1,
            CallOutcome::Errored { failure } => failure.code == "timeout",
            _ => false,
        };
        assert!(is_timed_out, "overrun: {outcome:?}");
    }

    async fn check_output(&self) {
        if let Some(seen) = self.observe(ConformanceCase::PrintInOrder, None).await {
            for (stream, start) in [(OutputStream::Stdout, 0), (OutputStream::Stderr, 1)] {
                let printed = seen.printed(stream);
                let wanted: Vec<String> = (start..50).step_by(2).map(|n| n.to_string()).collect();
                assert_eq!(printed.lines().collect::<Vec<_>>(), wanted, "{stream:?}");
            }
        }
        if let Some(seen) = self.observe(ConformanceCase::PrintTooMuch, None).await {
            let ended = seen.ended();
            assert!(ended.dropped_bytes > 0, "too much: nothing was dropped of {ended:?}");
            assert!(ended.dropped_bytes < ended.output_bytes, "too much: nothing was kept");
            let kept = seen.printed(OutputStream::Stdout).len() as u64;
            assert!(kept < ended.output_bytes, "too much: {kept} of {}", ended.output_bytes);
        }
    }

    /// A panic ends its attempt and leaves the executor usable.
    async fn check_panic(&self) {
        let Some(seen) = self.observe(ConformanceCase::Panic, None).await else { return };
        match &seen.outcome {
            Err(_) => {}
            Ok(ended) => assert!(
                !matches!(ended.outcome, CallOutcome::Exited { code: 0 }),
                "a panic counts as success"
            ),
        }
        self.check_endings().await;
    }

    async fn observe(
        &self,
        case: ConformanceCase,
        cancel_after: Option<Duration>,
    ) -> Option<ObservedAttempt> {
        let attempt = self.attempt_for(case)?;
        let cancel = CancellationToken::new();
        let (sender, mut receiver) = mpsc::channel(4);
        let events = AttemptEventSink::new(attempt.call.clone(), sender);
        let late = events.clone();
        let (executor, own) = (Arc::clone(&self.executor), cancel.clone());
        let worker = tokio::spawn(async move {
            let outcome = executor.start(attempt, events.clone(), own).await;
            events.finish(outcome.clone()).await;
            outcome
        });
        if let Some(wait) = cancel_after {
            tokio::spawn(async move {
                tokio::time::sleep(wait).await;
                cancel.cancel();
            });
        }
        let collector = tokio::spawn(async move {
            let mut seen = Vec::new();
            while let Some((_, AttemptReport::Event(event))) = receiver.recv().await {
                seen.push(event);
            }
            seen
        });
        let joined = tokio::time::timeout(PATIENCE, worker).await;
        let outcome = joined.unwrap_or_else(|_| panic!("{case:?} does not end"));
        let line = AttemptEvent::Output { stream: OutputStream::Stdout, text: "late".to_owned() };
        let refusal = late.send(line).await;
        // A panic reports no end: the events end with the last sink.
        drop(late);
        let events = tokio::time::timeout(PATIENCE, collector).await;
        Some(ObservedAttempt {
            events: events.expect("the executor keeps the sink").expect("the collector panicked"),
            outcome: outcome.map_err(|error| error.to_string()),
            late: refusal,
        })
    }

    fn attempt_for(&self, case: ConformanceCase) -> Option<TaskAttempt> {
        let task = self.tasks.task_for(case)?;
        let step = u32::from(matches!(task.run, RunKind::Shell(_)));
        let call = CallId { task: task.id.clone(), attempt: 1, step };
        let plan = Arc::new(Plan { tasks: vec![task], ..Plan::default() });
        Some(TaskAttempt {
            session: SessionId::new("conformance"),
            call,
            task: TaskRef::new(&plan, 0)?,
            work: AttemptWork::Task,
            workspace: self.workspace.to_owned(),
            confined: false,
            variables: Vec::new(),
        })
    }
}

impl ObservedAttempt {
    fn ended(&self) -> &AttemptOutcome {
        self.outcome.as_ref().expect("the executor panicked")
    }

    fn printed(&self, wanted: OutputStream) -> String {
        let text = |event: &AttemptEvent| match event {
            AttemptEvent::Output { stream, text } | AttemptEvent::Spooled { stream, text, .. } => {
                (*stream == wanted).then(|| text.clone())
            }
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }
}
