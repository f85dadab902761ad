//! The floors: the minimum cost when tasks run concurrently and everything about them is kept.
//!
//! Grouped: counters of unmet dependencies, one tokio task per task, one channel back, and a thread that writes whatever
//! is waiting as one `SQLite` transaction with a full sync. No ids are looked up, nothing is decided, encoded, folded
//! or published; the rows are those that the engine's own run wrote, prepared in advance.
//! Strict: one write and one `fdatasync` per step.

use std::collections::{HashMap, VecDeque};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc as threads;
use std::time::{Duration, Instant};

use planwright_model::Plan;
use planwright_store::JournalRow;
use rusqlite::{Connection, params};
use tokio::sync::mpsc;

/// What is written when a task starts and when it ends.
#[derive(Clone, Debug)]
pub struct Step {
    begin: Vec<JournalRow>,
    end: Vec<JournalRow>,
}

/// The rows of each task, by its position in the plan.
pub fn steps(plan: &Plan, rows: &[JournalRow]) -> Vec<Step> {
    let mut by_task: HashMap<&str, Vec<JournalRow>> = HashMap::new();
    for row in rows {
        by_task.entry(row.task.as_deref().unwrap_or("")).or_default().push(row.clone());
    }
    plan.tasks
        .iter()
        .map(|task| {
            let mut begin = by_task.remove(task.id.as_str()).expect("every task was run");
            let end = begin.split_off(begin.len() / 2);
            Step { begin, end }
        })
        .collect()
}

/// The same with three rows per task.
pub fn of_three(steps: &[Step]) -> Vec<Step> {
    let shorter = |step: &Step| Step { begin: step.begin[1..].to_vec(), end: step.end.clone() };
    steps.iter().map(shorter).collect()
}

struct Graph {
    unmet: Vec<usize>,
    dependents: Vec<Vec<usize>>,
}

impl Graph {
    fn of(plan: &Plan) -> Self {
        let index: HashMap<&str, usize> =
            plan.tasks.iter().enumerate().map(|(at, task)| (task.id.as_str(), at)).collect();
        let unmet = plan.tasks.iter().map(|task| task.dependencies.len()).collect();
        let mut dependents = vec![Vec::new(); plan.tasks.len()];
        for (at, task) in plan.tasks.iter().enumerate() {
            for link in &task.dependencies {
                dependents[index[link.task.as_str()]].push(at);
            }
        }
        Self { unmet, dependents }
    }
}

/// Runs the plan with group commit; returns the time until the last row is durable.
pub async fn grouped(dir: &Path, plan: &Plan, steps: Vec<Step>, jobs: usize) -> Duration {
    let connection = open(&dir.join("floor.db"));
    let (rows, inbox) = threads::channel::<Vec<JournalRow>>();
    let writer = std::thread::spawn(move || write_groups(&connection, &inbox));
    let Graph { mut unmet, dependents } = Graph::of(plan);
    let (ended_in, mut ended) = mpsc::channel::<usize>(256);
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let mut ends: Vec<Vec<JournalRow>> = vec![Vec::new(); steps.len()];

    let begin = Instant::now();
    let mut ready: VecDeque<usize> = (0..unmet.len()).filter(|task| unmet[*task] == 0).collect();
    let mut running = 0;
    loop {
        while running < jobs
            && let Some(task) = ready.pop_front()
        {
            let step = steps[task].take().expect("a task starts once");
            ends[task] = step.end;
            rows.send(step.begin).expect("the writer lives until the channel closes");
            let ended = ended_in.clone();
            tokio::spawn(async move { ended.send(task).await });
            running += 1;
        }
        if running == 0 {
            break;
        }
        let task = ended.recv().await.expect("this side holds a sender");
        running -= 1;
        rows.send(std::mem::take(&mut ends[task])).expect("as above");
        for &dependent in &dependents[task] {
            unmet[dependent] -= 1;
            if unmet[dependent] == 0 {
                ready.push_back(dependent);
            }
        }
    }
    drop(rows);
    writer.join().expect("the writer does not panic");
    begin.elapsed()
}

fn open(file: &Path) -> Connection {
    let connection = Connection::open(file).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;
             CREATE TABLE event (session INTEGER, seq INTEGER, at INTEGER, kind TEXT, task TEXT, payload BLOB,
                 PRIMARY KEY (session, seq)) WITHOUT ROWID;",
        )
        .unwrap();
    connection
}

fn write_groups(connection: &Connection, inbox: &threads::Receiver<Vec<JournalRow>>) {
    let mut insert = connection.prepare("INSERT INTO event VALUES (1, ?, ?, ?, ?, ?)").unwrap();
    let mut seq = 0_i64;
    while let Ok(first) = inbox.recv() {
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        for row in std::iter::once(first).chain(inbox.try_iter()).flatten() {
            seq += 1;
            let at = row.at.as_microsecond();
            insert.execute(params![seq, at, row.kind, row.task, row.payload]).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
    }
}

/// Appends the rows of one task after the other to a file, each made durable before the next.
pub fn strict(dir: &Path, steps: &[Step]) -> Duration {
    let path = dir.join("floor.log");
    let mut file = OpenOptions::new().create_new(true).append(true).open(path).unwrap();
    let payloads: Vec<Vec<u8>> = steps
        .iter()
        .map(|step| {
            step.begin.iter().chain(&step.end).flat_map(|row| row.payload.clone()).collect()
        })
        .collect();
    let begin = Instant::now();
    for payload in &payloads {
        file.write_all(payload).unwrap();
        file.sync_data().unwrap();
    }
    begin.elapsed()
}
