//! The coordinator compared with bare floors: what running a task costs when the task itself costs nothing.
//!
//! Two modes are measured, and every line names its mode:
//! * grouped: tasks that may be repeated start before their intent is durable, so many steps share one sync. The floor
//!   is bare tokio and `SQLite` that write the same rows with group commit and a full sync.
//! * strict: a step is durable before the next starts. The floor is one `fdatasync` per step on the same file system.
//!
//! The engine and the floor take turns in one process; the medians are compared. Then 64 sessions at once, and the memory of
//! the program on 1,000 real commands.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first failure"
)]
#![expect(unreachable_pub, reason = "a benchmark has no outside")]

#[path = "coordinator/engine_run.rs"]
mod engine_run;
#[path = "coordinator/floor.rs"]
mod floor;
#[path = "coordinator/memory.rs"]
mod memory;
#[path = "coordinator/plans.rs"]
mod plans;
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use planwright_engine::CallDurability;
use planwright_model::Plan;
use planwright_state::{RunPhase, SessionState};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use support::Kept;

/// The engine's time may be at most this multiple of the floor's, in both modes.
const GOAL: f64 = 1.5;
const MEMORY_GOAL_MB: f64 = 25.0;
const STRICT_STEPS: usize = 1_000;
const SESSIONS: usize = 64;
const SESSION_TASKS: usize = 100;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let only = std::env::args().nth(1).filter(|word| !word.starts_with('-'));
    let wanted = |part: &str| only.as_deref().is_none_or(|only| part.contains(only));
    let mut kept = Kept::of("coordinator");
    if wanted("grouped") {
        grouped(&runtime, &mut kept);
    }
    if wanted("strict") {
        strict(&runtime, &mut kept);
    }
    if wanted("sessions") {
        sessions(&runtime, &mut kept);
    }
    if wanted("memory") {
        memory(&mut kept);
    }
    println!("{}", kept.verdict());
}

fn grouped(runtime: &Runtime, kept: &mut Kept) {
    println!(
        "grouped: {} events a task (a real command adds one: spawned), group commit, FULL",
        engine_run::EVENTS_PER_TASK
    );
    println!("tasks    jobs       ours      floor   ours/floor   floor of 3 events   ours/that");
    for (count, rounds) in [(1_000, 15), (10_000, 5)] {
        let plan = plans::layered(count);
        for jobs in [3, 16] {
            let [own, same, three] = grouped_medians(runtime, &plan, jobs, rounds);
            let [ratio, of_three] =
                [same, three].map(|floor| own.as_secs_f64() / floor.as_secs_f64());
            let [own, same, three] = [own, same, three].map(|time| per(time, count));
            println!(
                "{count:<8} {jobs:>4} {own:>7.1} µs {same:>7.1} µs {ratio:>12.2} {three:>16.1} µs {of_three:>11.2}"
            );
            kept.compare(&format!("grouped-{count}-jobs-{jobs}"), ratio);
        }
    }
    println!("goal: ours/floor at most {GOAL}");
}

/// The engine, the floor with as many events, and the floor with three.
fn grouped_medians(runtime: &Runtime, plan: &Plan, jobs: u32, rounds: usize) -> [Duration; 3] {
    let mut times: [Vec<Duration>; 3] = Default::default();
    for round in 0..=rounds {
        let dir = scratch();
        let store = engine_run::open(dir.path());
        let own =
            runtime.block_on(engine_run::run(&store, "bench", plan, jobs, CallDurability::Grouped));
        require_finished(&engine_run::state(&store, "bench"), plan);
        let steps = floor::steps(plan, &engine_run::task_rows(&store, "bench"));
        store.close();
        let three = floor::of_three(&steps);
        let (dirs, jobs) = ([scratch(), scratch()], jobs as usize);
        let same = runtime.block_on(floor::grouped(dirs[0].path(), plan, steps, jobs));
        let three = runtime.block_on(floor::grouped(dirs[1].path(), plan, three, jobs));
        // The first round warms up.
        if round > 0 {
            for (times, time) in times.iter_mut().zip([own, same, three]) {
                times.push(time);
            }
        }
    }
    times.map(median)
}

fn strict(runtime: &Runtime, kept: &mut Kept) {
    let plan = plans::chain(STRICT_STEPS);
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..5 {
        let dir = scratch();
        let store = engine_run::open(dir.path());
        let own =
            runtime.block_on(engine_run::run(&store, "bench", &plan, 1, CallDurability::Strict));
        let steps = floor::steps(&plan, &engine_run::task_rows(&store, "bench"));
        store.close();
        times[0].push(own);
        times[1].push(floor::strict(dir.path(), &steps));
    }
    let [own, floor] = times.map(median);
    let ratio = own.as_secs_f64() / floor.as_secs_f64();
    let [own, floor] = [own, floor].map(|time| per(time, STRICT_STEPS));
    println!(
        "strict: a chain of {STRICT_STEPS}, jobs 1: ours {own:.0} µs, one fdatasync a step {floor:.0} µs, ratio {ratio:.2} (goal {GOAL})"
    );
    kept.compare("strict-chain", ratio);
}

/// Many sessions in one process on one store: each must end as it would have ended alone.
fn sessions(runtime: &Runtime, kept: &mut Kept) {
    let plan = Arc::new(plans::layered(SESSION_TASKS));
    let dir = scratch();
    let store = engine_run::open(dir.path());
    let alone =
        runtime.block_on(engine_run::run(&store, "alone", &plan, 3, CallDurability::Grouped));
    let expected = outcome(&engine_run::state(&store, "alone"));
    let begin = Instant::now();
    runtime.block_on(async {
        let mut all = tokio::task::JoinSet::new();
        for number in 0..SESSIONS {
            let (store, plan) = (store.clone(), Arc::clone(&plan));
            all.spawn(async move {
                engine_run::run(&store, &session(number), &plan, 3, CallDurability::Grouped).await
            });
        }
        while let Some(ended) = all.join_next().await {
            ended.unwrap();
        }
    });
    let elapsed = begin.elapsed();
    let right = (0..SESSIONS)
        .filter(|number| outcome(&engine_run::state(&store, &session(*number))) == expected)
        .count();
    let each = per(elapsed, SESSIONS * SESSION_TASKS);
    println!(
        "sessions: {SESSIONS} at once, {SESSION_TASKS} tasks each, grouped, start and end included: {each:.1} µs a task \
         (one alone: {:.1} µs), {right} of {SESSIONS} ended in the right state",
        per(alone, SESSION_TASKS)
    );
    assert_eq!(right, SESSIONS, "sessions do not disturb each other");
    kept.compare("sessions-64-beside-one", each / per(alone, SESSION_TASKS));
}

fn session(number: usize) -> String {
    format!("session-{number:02}")
}

/// The outcome of every task, without the times.
fn outcome(state: &SessionState) -> impl PartialEq + use<> {
    let tasks: Vec<_> = state
        .tasks
        .iter()
        .map(|(id, row)| (id.clone(), row.status, row.attempt, row.last_outcome.clone()))
        .collect();
    (tasks, state.run.phase == RunPhase::Finished { success: true }, state.totals, state.seq)
}

fn require_finished(state: &SessionState, plan: &Plan) {
    assert_eq!(state.run.phase, RunPhase::Finished { success: true });
    assert_eq!(state.tasks.status_counts().done as usize, plan.tasks.len());
    assert_eq!(state.totals.anomalies, 0);
}

fn memory(kept: &mut Kept) {
    let dir = scratch();
    let usage = memory::headless(dir.path(), &plans::as_file(&plans::layered(1_000)));
    let peak = usage.peak_kib as f64 / 1024.0;
    println!(
        "memory: 1,000 commands `true`, headless, grouped but not to be repeated, so each waits for its intent: \
         peak {peak:.1} MB (goal {MEMORY_GOAL_MB} MB), {:.0} µs a task",
        per(usage.elapsed, 1_000)
    );
    kept.compare("memory-beside-goal", peak / MEMORY_GOAL_MB);
}

/// A directory on the same disk as the build; the system's temporary directory may be in memory.
fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn per(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e6 / count as f64
}
