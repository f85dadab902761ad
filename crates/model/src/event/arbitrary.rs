//! Arbitrary events for property tests: every kind, about a handful of tasks, in any order.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::sync::Arc;

use proptest::prelude::*;

use super::arbitrary_agent::{agent_event, planning_event};
use super::{
    ApprovalEvent, CallEvent, CallOutcome, CloseReason, CommandRefusal, DiscardCause, Event,
    FactEvent, OutputStream, PauseCause, PlanEvent, Record, RepeatClass, RiskClass, RunCounts,
    RunEvent, SessionEvent, TaskEvent, Usage, WorktreeEvent,
};
use crate::breaker::BreakerState;
use crate::requests::samples::every_request;
use crate::requests::{CallEvidence, CallInDoubt, InDoubtAction, in_doubt_request};
use crate::{
    Actor, AppliedFile, ApplyConflict, CallId, Category, ChangeProposal, ChoiceAction, Digest,
    ExecutionFailure, ExecutionLimits, Fact, FactLength, FactReading, FactSource, FactStatus,
    FactSubject, FailedCheck, GraphFacts, KeptArtifact, LinkKind, Plan, ProposedFile,
    ProposedFileKind, Request, RequestId, RunCap, RunKind, Seq, SkipReason, StartTimeCause,
    TaskHold, TaskId, TaskLink, TaskNode, TaskResults, WorktreeOverlap,
};

/// Task ids from a small set, so that events meet the same tasks again; `ghost` is in no plan.
pub(super) fn task_id() -> impl Strategy<Value = TaskId> {
    prop::sample::select(vec!["a", "b", "c", "d", "ghost"]).prop_map(TaskId::from)
}

fn call_id() -> impl Strategy<Value = CallId> {
    (task_id(), 1..3u32, 1..3u32).prop_map(|(task, attempt, step)| CallId { task, attempt, step })
}

fn actor() -> impl Strategy<Value = Actor> {
    prop_oneof![Just(Actor::Person), Just(Actor::Flag)]
}

fn action() -> impl Strategy<Value = ChoiceAction> {
    prop::sample::select(vec![
        ChoiceAction::ApproveAndRun,
        ChoiceAction::ApproveAndStop,
        ChoiceAction::Abandon,
        ChoiceAction::Happened,
        ChoiceAction::RunAgain,
        ChoiceAction::KeepWaiting,
        ChoiceAction::SkipAlone,
        ChoiceAction::Stop,
    ])
}

/// Plans over `a` to `d`, with any links, loops included: the fold must survive what the engine would refuse.
pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let names = ["a", "b", "c", "d"];
    prop::collection::vec((prop::collection::vec((0..4usize, any::<bool>()), 0..3), 0..3u8), 0..=4)
        .prop_map(move |shapes| {
            let tasks = shapes.into_iter().enumerate().map(|(position, (links, run))| {
                let mut task = TaskNode::new(names[position], format!("Task {position}"));
                task.run = match run {
                    0 => RunKind::agent(),
                    1 => RunKind::Shell("true".into()),
                    _ => RunKind::Human {},
                };
                task.dependencies = links
                    .into_iter()
                    .map(|(to, started)| TaskLink {
                        kind: if started { LinkKind::SS } else { LinkKind::FS },
                        ..TaskLink::finish_to_start(names[to])
                    })
                    .collect();
                task
            });
            Plan { title: "Any plan".into(), tasks: tasks.collect(), ..Plan::default() }
        })
}

fn session_event() -> impl Strategy<Value = SessionEvent> {
    prop_oneof![
        ("[ -~]{0,20}", prop::option::of("[ -~]{0,20}")).prop_map(|(title, goal)| {
            SessionEvent::Created {
                format: super::FORMAT,
                program: "planwright 0".into(),
                title,
                goal,
                workspace: "/tmp".into(),
                plan_file: None,
            }
        }),
        any::<u32>().prop_map(|pid| SessionEvent::Opened { program: "planwright 0".into(), pid }),
        prop_oneof![
            Just(CloseReason::Quit),
            Just(CloseReason::Finished),
            Just(CloseReason::NeedsPerson),
            Just(CloseReason::Signal { signal: "SIGTERM".into() })
        ]
        .prop_map(SessionEvent::Closed),
        "[ -~]{0,20}".prop_map(|what| SessionEvent::AnomalyNoted { what }),
        Just(SessionEvent::WorkspaceMoved { workspace: "/srv".into() }),
        "[a-z]{1,8}".prop_map(|name| SessionEvent::AgentsDescribed {
            agents: vec![crate::AgentDescription {
                name,
                hosts: vec!["api.example.org".into()],
                ..crate::AgentDescription::default()
            }],
        }),
        (1..9u64).prop_map(|at| SessionEvent::Forked {
            parent: "aaaa".into(),
            at: Seq(at),
            reuses: 1,
            reruns: 2,
            imported: at > 4,
        }),
    ]
}

fn plan_event() -> impl Strategy<Value = PlanEvent> {
    prop_oneof![
        (1..4u32, plan()).prop_map(|(revision, plan)| PlanEvent::Proposed {
            revision,
            hash: plan.digest().unwrap(),
            facts: Arc::new(GraphFacts {
                depth: vec![0; plan.tasks.len()],
                ..GraphFacts::default()
            }),
            plan: Arc::new(plan),
            normalization: Vec::new(),
        }),
        (plan(), actor())
            .prop_map(|(plan, by)| PlanEvent::Approved { hash: plan.digest().unwrap(), by }),
        (plan(), plan()).prop_map(|(from, to)| PlanEvent::ApprovalCarried {
            from_hash: from.digest().unwrap(),
            to_hash: to.digest().unwrap(),
            why: "1 task fewer".into(),
        }),
        actor().prop_map(|by| PlanEvent::Abandoned { by }),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    let any_kind = (prop::sample::select(every_request()), prop::option::of(task_id()))
        .prop_map(|(request, task)| Request { task, ..request });
    let in_doubt = call_id().prop_map(|call| {
        let doubt = CallInDoubt {
            call: &call,
            task: &call.task,
            title: "Build",
            tool: "shell",
            by_agent: false,
            action: InDoubtAction::Command("true"),
            evidence: CallEvidence::NoProcess,
            output_lines: 0,
            last_line: "",
            dependents: 1,
        };
        in_doubt_request(RequestId(1), &doubt)
    });
    (1..5u32, prop_oneof![any_kind, in_doubt])
        .prop_map(|(id, request)| Request { id: RequestId(id), ..request })
}

fn approval_event() -> impl Strategy<Value = ApprovalEvent> {
    let id = || (1..5u32).prop_map(RequestId);
    prop_oneof![
        request().prop_map(|request| ApprovalEvent::Asked { request: Arc::new(request) }),
        (id(), action(), actor()).prop_map(|(id, action, by)| ApprovalEvent::Answered {
            id,
            answer: action.into(),
            by
        }),
        request().prop_map(|request| ApprovalEvent::Amended { request: Arc::new(request) }),
        id().prop_map(|id| ApprovalEvent::Withdrawn { id, why: "gone".into() }),
        id().prop_map(|id| ApprovalEvent::Refused {
            command: "answer".into(),
            why: CommandRefusal::NotPending { id }
        }),
    ]
}

fn run_event() -> impl Strategy<Value = RunEvent> {
    prop_oneof![
        (1..9u32)
            .prop_map(|jobs| RunEvent::Started { hash: Digest::from_value(&1).unwrap(), jobs }),
        prop_oneof![Just(PauseCause::Person), Just(PauseCause::Cap { cap: RunCap::RunTokenLimit })]
            .prop_map(RunEvent::Paused),
        Just(RunEvent::Continued),
        any::<bool>().prop_map(|on| RunEvent::OfflineSet { on }),
        any::<bool>().prop_map(|on| RunEvent::Dismissed { on }),
        prop::option::of(1..9u64)
            .prop_map(|to| RunEvent::CapRaised { cap: RunCap::RunWallTimeMin, to }),
        (1..9u32, 1..9u32).prop_map(|(from, to)| RunEvent::JobsChanged {
            from,
            to,
            why: "load".into()
        }),
        prop::option::of(1..9u64).prop_map(|retry_in_ms| RunEvent::BreakerChanged {
            tool: "web.search".into(),
            state: if retry_in_ms.is_some() { BreakerState::Open } else { BreakerState::Closed },
            retry_in_ms,
        }),
        (1..5u32, 1..60u64).prop_map(|(breaker_threshold, breaker_cooldown_sec)| {
            RunEvent::LimitsSet {
                limits: ExecutionLimits {
                    breaker_threshold,
                    breaker_cooldown_sec,
                    ..ExecutionLimits::default()
                },
            }
        }),
        Just(RunEvent::Interrupted { why: "quit".into() }),
        (any::<bool>(), any::<u32>()).prop_map(|(success, elapsed)| RunEvent::Finished {
            success,
            counts: RunCounts { completed: 1, failed: 0, skipped: 0 },
            elapsed_ms: u64::from(elapsed),
        }),
    ]
}

pub(super) fn failure() -> impl Strategy<Value = ExecutionFailure> {
    prop::sample::select(vec![Category::Critical, Category::Recoverable, Category::Transient])
        .prop_map(|category| ExecutionFailure::new("exit_status", category, "exit 1"))
}

fn task_hold() -> impl Strategy<Value = TaskHold> {
    let causes = [
        StartTimeCause::LagAfterEnd { task: "a".into() },
        StartTimeCause::LagAfterStart { task: "b".into() },
        StartTimeCause::NotBefore,
        StartTimeCause::FixedStart,
        StartTimeCause::ScheduledTime,
    ];
    prop_oneof![
        prop::sample::select(causes.to_vec())
            .prop_map(|cause| TaskHold::Until { at: jiff::Timestamp::UNIX_EPOCH, cause }),
        (1..4u32, task_id()).prop_map(|(used, user)| TaskHold::Resource {
            name: "db".into(),
            capacity: used,
            used,
            users: vec![user],
        }),
    ]
}

fn task_event() -> impl Strategy<Value = TaskEvent> {
    prop_oneof![
        (task_id(), 1..3u32, 0..4u32, 0..100u32).prop_map(|(task, attempt, depth, delta)| {
            TaskEvent::Started { task, attempt, depth, affinity_delta: f64::from(delta) / 100.0 }
        }),
        task_id().prop_map(|task| TaskEvent::HandedOver { task }),
        (task_id(), task_hold()).prop_map(|(task, hold)| TaskEvent::Held { task, hold }),
        (task_id(), 1..3u32, any::<u32>()).prop_map(|(task, attempt, elapsed)| {
            TaskEvent::AwaitingClose { task, attempt, elapsed_ms: elapsed.into() }
        }),
        (task_id(), 1..3u32, any::<u32>(), prop::option::of(actor())).prop_map(
            |(task, attempt, elapsed, by)| {
                TaskEvent::Completed { task, attempt, elapsed_ms: elapsed.into(), by, note: None }
            }
        ),
        (task_id(), 1..3u32, failure(), prop::option::of(0..900u64)).prop_map(
            |(task, attempt, failure, retry_in_ms)| TaskEvent::Failed {
                task,
                attempt,
                elapsed_ms: 1,
                failure,
                retry_in_ms
            }
        ),
        (task_id(), prop::sample::select(vec![SkipReason::DependencyFailed, SkipReason::ByPerson]))
            .prop_map(|(task, reason)| TaskEvent::Skipped { task, reason }),
        (task_id(), 1..5u32, any::<bool>(), actor()).prop_map(|(task, occurrence, done, by)| {
            TaskEvent::OccurrenceSettled { task, occurrence, done, by, note: None }
        }),
        (task_id(), prop::option::of(1..5u32), actor())
            .prop_map(|(task, occurrence, by)| TaskEvent::Reopened { task, occurrence, by }),
        (task_id(), 1..4u32, "[a-z]{1,6}").prop_map(|(task, attempt, name)| {
            let artifact =
                KeptArtifact { path: format!("dist/{name}"), bytes: 7, sha256: "00ff".to_owned() };
            let outputs = [(name, "a b".to_owned())].into();
            let results = TaskResults { outputs, artifacts: vec![artifact] };
            let reused = (attempt > 2).then(|| "session 1a2b3c".to_owned());
            TaskEvent::ResultsKept { task, attempt, results, reused }
        }),
        (task_id(), 1..4u32).prop_map(|(task, attempt)| TaskEvent::Ready { task, attempt }),
        (task_id(), actor()).prop_map(|(task, by)| TaskEvent::Noted {
            task,
            text: "half of it".into(),
            by
        }),
        task_id().prop_map(|task| TaskEvent::Reset { task, why: "again".into() }),
    ]
}

fn call_event() -> impl Strategy<Value = CallEvent> {
    let outcome = prop_oneof![
        (0..3i32).prop_map(|code| CallOutcome::Exited { code }),
        Just(CallOutcome::Signalled { signal: 9 }),
        Just(CallOutcome::TimedOut { limit_seconds: 5 }),
        Just(CallOutcome::Cancelled),
        failure().prop_map(|failure| CallOutcome::Errored { failure }),
        Just(CallOutcome::SaidToHaveHappened),
        Just(CallOutcome::Verified),
        Just(CallOutcome::GivenUp),
    ];
    prop_oneof![
        (call_id(), any::<bool>()).prop_map(|(call, safe)| CallEvent::Intended {
            call,
            tool: "shell".into(),
            version: "1".into(),
            input: serde_json::json!({"command": "true"}),
            input_hash: Digest::from_value(&"true").unwrap(),
            class: RiskClass::Execute,
            repeat: if safe { RepeatClass::Safe } else { RepeatClass::Unsafe },
            file: (!safe).then(|| crate::event::FileChange {
                path: "a.txt".into(),
                before: None,
                after: Digest::from_value(&"a").unwrap(),
            }),
        }),
        (call_id(), any::<u32>()).prop_map(|(call, pid)| CallEvent::Spawned {
            call,
            pid,
            started_ticks: 7
        }),
        (call_id(), ".{0,40}").prop_map(|(call, text)| CallEvent::Output {
            call,
            stream: OutputStream::Stdout,
            text
        }),
        (call_id(), ".{0,40}", 0..9_000u64).prop_map(|(call, tail, from)| CallEvent::Spooled {
            call,
            stream: OutputStream::Stderr,
            range: crate::event::SpoolRange { from, to: from + 70 },
            lines: 3,
            tail,
        }),
        (call_id(), outcome).prop_map(|(call, outcome)| CallEvent::Concluded {
            call,
            outcome,
            elapsed_ms: 3,
            output_bytes: 9,
            dropped_bytes: 0,
            usage: Usage { tokens: 7, cost: crate::MicroDollars(3) },
        }),
    ]
}

fn fact_reading() -> impl Strategy<Value = FactReading> {
    let on = jiff::civil::date(2027, 6, 12);
    let node = || FactSubject::Words("venue".into());
    prop::sample::select(vec![
        FactReading::Deadline { on },
        FactReading::Start { on },
        FactReading::FixedDate { subject: FactSubject::Plan, on },
        FactReading::Window { subject: FactSubject::Node("a".into()), from: on, to: on },
        FactReading::Absence { person: Some("Anna".into()), from: on, to: on },
        FactReading::Capacity { person: None, weekly_minutes: 300 },
        FactReading::DailyCapacity { minutes: 180 },
        FactReading::WeekdaysOff { person: Some("Ana".into()), days: vec![crate::Weekday::Fri] },
        FactReading::WorkingTimes { person: Some("Ben".into()), times: Vec::new() },
        FactReading::Person { name: "Anna".into(), role: None },
        FactReading::Budget { subject: None, amount: 20_000, currency: None },
        FactReading::Duration { subject: node(), length: FactLength::Minutes(90) },
        FactReading::Duration { subject: FactSubject::Plan, length: FactLength::Days(42) },
        FactReading::Order { first: node(), then: FactSubject::Plan },
        FactReading::Count { noun: "guest".into(), amount: 80 },
        FactReading::Place { name: "Lisbon".into() },
        FactReading::EventDays { days: 3 },
    ])
}

fn fact_event() -> impl Strategy<Value = FactEvent> {
    let source = prop::sample::select(vec![
        FactSource::Goal,
        FactSource::Answer("level".into()),
        FactSource::ChangeRequest,
        FactSource::Comment("a".into()),
        FactSource::Edit,
        FactSource::Workspace("src/main.rs:3".into()),
        FactSource::Calendar,
        FactSource::Plan("aaaa".into()),
    ]);
    let recorded = (1..9u32, source, "[ -~]{0,20}", prop::option::of(fact_reading()));
    prop_oneof![
        3 => recorded.prop_map(|(id, source, text, reading)| FactEvent::Recorded {
            fact: Fact {
                id,
                source,
                text,
                part_of: Some(1).filter(|whole| *whole < id),
                reading,
                status: FactStatus::Active,
                replaced_by: None,
            },
        }),
        1 => (1..9u32, "[ -~]{0,20}", prop::option::of(fact_reading()), actor()).prop_map(
            |(id, text, reading, by)| FactEvent::Corrected { id, text, reading, by }
        ),
        1 => (1..9u32, prop::option::of(1..9u32), actor())
            .prop_map(|(id, replaced_by, by)| FactEvent::Withdrawn { id, by, replaced_by }),
    ]
}

fn worktree_event() -> impl Strategy<Value = WorktreeEvent> {
    let hash = || prop::option::of(Just(Digest::from_json(&serde_json::json!(1))));
    let file = (hash(), hash()).prop_map(|(before, after)| AppliedFile {
        path: "src/lib.rs".into(),
        before,
        after,
    });
    let conflict = ("[ -~]{0,12}", prop::collection::vec("[ -~]{0,9}", 0..2))
        .prop_map(|(why, hunks)| ApplyConflict { hunks, ..ApplyConflict::new("src/lib.rs", why) });
    let failed_check = (task_id(), "[ -~]{0,12}").prop_map(|(task, output)| FailedCheck {
        task,
        check: "make test".into(),
        outcome: "exit 2".into(),
        output,
    });
    let overlap =
        task_id().prop_map(|task| WorktreeOverlap { task, files: vec!["src/lib.rs".into()] });
    let proposed = (any::<bool>(), 0..9usize).prop_map(|(protected, added)| ProposedFile {
        path: "src/lib.rs".into(),
        change: ProposedFileKind::Modified,
        added,
        removed: 1,
        protected,
    });
    prop_oneof![
        4 => (task_id(), prop::collection::vec(overlap, 0..2)).prop_map(|(task, overlaps)| {
            WorktreeEvent::Opened {
                task,
                directory: "d".into(),
                files: 3,
                left_out: vec!["target/".into()],
                overlaps,
            }
        }),
        3 => (task_id(), 1..3u32, prop::collection::vec(proposed, 0..3)).prop_map(
            |(task, attempt, files)| WorktreeEvent::Proposed {
                task,
                attempt,
                proposal: Box::new(ChangeProposal { files, left_out: Vec::new() }),
                elapsed_ms: 4,
            }
        ),
        2 => (task_id(), prop::option::of(actor()))
            .prop_map(|(task, by)| WorktreeEvent::ApplyRequested { task, by }),
        1 => (task_id(), prop::collection::vec(file, 0..3), any::<bool>())
            .prop_map(|(task, files, moved)| WorktreeEvent::ApplyIntended { task, files, moved }),
        1 => task_id().prop_map(|task| WorktreeEvent::Applied { task }),
        1 => (task_id(), 1..3u32, prop::collection::vec(failed_check, 0..2)).prop_map(
            |(task, attempt, failures)| WorktreeEvent::Checked { task, attempt, failures }
        ),
        1 => (task_id(), actor()).prop_map(|(task, by)| WorktreeEvent::CheckAccepted { task, by }),
        1 => (task_id(), prop::collection::vec(conflict, 0..2), prop::option::of("[ -~]{0,12}")).prop_map(
            |(task, conflicts, error)| WorktreeEvent::ApplyFailed { task, conflicts, error }
        ),
        1 => (task_id(), "[ -~]{0,12}", actor(), any::<bool>()).prop_map(|(task, text, by, merge)| {
            WorktreeEvent::ChangesRequested { task, text, by, merge }
        }),
        1 => task_id().prop_map(|task| WorktreeEvent::Merged {
            task,
            files: vec!["a".into()],
            conflicts: vec!["a".into()],
        }),
        1 => (task_id(), any::<bool>()).prop_map(|(task, person)| WorktreeEvent::Discarded {
            task,
            cause: if person { DiscardCause::Person } else { DiscardCause::NoChanges },
        }),
        1 => (task_id(), actor(), prop::option::of("[ -~]{0,12}"))
            .prop_map(|(task, by, retry)| WorktreeEvent::UndoRequested { task, by, retry }),
        1 => task_id().prop_map(|task| WorktreeEvent::Undone { task }),
        1 => task_id()
            .prop_map(|task| WorktreeEvent::UndoFailed { task, conflicts: Vec::new() }),
    ]
}

/// Any event of a known kind.
pub(crate) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => session_event().prop_map(Event::from),
        1 => plan_event().prop_map(Event::from),
        1 => approval_event().prop_map(Event::from),
        1 => run_event().prop_map(Event::from),
        4 => task_event().prop_map(Event::from),
        3 => call_event().prop_map(Event::from),
        4 => agent_event().prop_map(Event::from).boxed(),
        1 => planning_event().prop_map(Event::from),
        1 => fact_event().prop_map(Event::from).boxed(),
        2 => worktree_event().prop_map(Event::from).boxed(),
        1 => super::arbitrary_desk::desk_event().prop_map(Event::from).boxed(),
    ]
}

/// A journal: numbered without gaps, times that do not go back, any events in any order.
pub fn journal(most: usize) -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec((event(), 0..5_000i64), 0..most).prop_map(|events| {
        let mut at = 1_780_000_000_000_000;
        events
            .into_iter()
            .zip(1..)
            .map(|((event, pause), seq)| {
                at += pause;
                Record::new(Seq(seq), jiff::Timestamp::from_microsecond(at).unwrap(), event)
            })
            .collect()
    })
}
