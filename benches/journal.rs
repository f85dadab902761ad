//! The journal compared with bare `SQLite`: events per second, bytes per step, and the time of a seek.
//!
//! Both sides run in this process, on the same disk, one after the other; only the ratios matter.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first failure"
)]
#![expect(unreachable_pub, reason = "a benchmark has no outside")]

mod support;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use planwright_model::{Seq, SessionId};
use planwright_store::{
    AppendAck, Journal, JournalBatch, JournalRow, NewSession, OpenMode, SessionSummary, Store,
    StoreSizes,
};
use rusqlite::{Connection, params};
use support::Kept;

const STEPS: u64 = 100_000;
const CHECKPOINT_EVERY: u64 = 500;
const ROUNDS: usize = 3;

fn main() {
    let rows: Vec<JournalRow> = (1..=STEPS).map(step).collect();
    let bytes: usize = rows.iter().map(|row| row.payload.len()).sum();
    println!("{STEPS} steps of {} bytes on average", bytes / rows.len());
    let mut kept = Kept::of("journal");
    for batch in [16, 128, 1024] {
        throughput(&rows, batch, &mut kept);
    }
    single_events(&rows);
    space_and_seek(&rows, &mut kept);
    println!("{}", kept.verdict());
}

/// The journal and `SQLite` in turn, the best time of each.
fn throughput(rows: &[JournalRow], batch: usize, kept: &mut Kept) {
    let [mut raw, mut strict, mut flowing] = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        raw = raw.min(raw_sqlite(rows, batch));
        strict = strict.min(journal(rows, batch, 1));
        flowing = flowing.min(journal(rows, batch, 16));
    }
    println!(
        "batches of {batch:4}: raw {} | one at a time {} = {:.2}x | 16 under way {} = {:.2}x (goal 0.7x)",
        rate(raw),
        rate(strict),
        raw.as_secs_f64() / strict.as_secs_f64(),
        rate(flowing),
        raw.as_secs_f64() / flowing.as_secs_f64(),
    );
    for (name, own) in [("one-at-a-time", strict), ("16-under-way", flowing)] {
        let cost = own.as_secs_f64() / raw.as_secs_f64();
        kept.compare(&format!("time-of-batches-of-{batch}-{name}"), cost);
    }
}

fn rate(time: Duration) -> String {
    format!("{:7.0}/s", STEPS as f64 / time.as_secs_f64())
}

/// One event per append, as a run makes them, with many in progress.
fn single_events(rows: &[JournalRow]) {
    let time = (0..ROUNDS).map(|_| journal(rows, 1, 2048)).min().unwrap();
    println!("single events, 2048 under way: {}", rate(time));
}

fn journal(rows: &[JournalRow], batch: usize, under_way: usize) -> Duration {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), OpenMode::ReadWrite).unwrap();
    let journal = new_session(&store);
    let batches: Vec<_> =
        rows.chunks(batch).map(|chunk| JournalBatch::from_rows(chunk.to_vec())).collect();
    let start = Instant::now();
    let mut waiting: VecDeque<AppendAck> = VecDeque::new();
    for batch in batches {
        waiting.push_back(journal.append_blocking(batch).unwrap());
        if waiting.len() >= under_way {
            waiting.pop_front().unwrap().wait().unwrap();
        }
    }
    for ack in waiting {
        ack.wait().unwrap();
    }
    start.elapsed()
}

fn new_session(store: &Store) -> Journal {
    let id = SessionId::new("bench");
    store
        .create_session(NewSession {
            id: id.clone(),
            created_at: Timestamp::UNIX_EPOCH,
            format: 1,
            parent: None,
            summary: SessionSummary::default(),
        })
        .unwrap();
    store.acquire_session(&id).unwrap()
}

/// The floor: one prepared insert, a transaction per batch, the same sync.
fn raw_sqlite(rows: &[JournalRow], batch: usize) -> Duration {
    let dir = tempfile::tempdir().unwrap();
    let connection = raw(&dir.path().join("raw.db"));
    let start = Instant::now();
    insert_raw(&connection, rows, batch);
    start.elapsed()
}

fn raw(file: &Path) -> Connection {
    let connection = Connection::open(file).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2000;
             CREATE TABLE event (session INTEGER, seq INTEGER, at INTEGER, kind TEXT, task TEXT, payload BLOB,
                 PRIMARY KEY (session, seq)) WITHOUT ROWID;",
        )
        .unwrap();
    connection
}

fn insert_raw(connection: &Connection, rows: &[JournalRow], batch: usize) {
    let mut insert = connection.prepare("INSERT INTO event VALUES (1, ?, ?, ?, ?, ?)").unwrap();
    for chunk in rows.chunks(batch) {
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        for row in chunk {
            let at = row.at.as_microsecond();
            insert
                .execute(params![row.seq.0.cast_signed(), at, row.kind, row.task, row.payload])
                .unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
    }
}

fn space_and_seek(rows: &[JournalRow], kept: &mut Kept) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("raw.db");
    let connection = raw(&file);
    insert_raw(&connection, rows, 1024);
    connection.close().unwrap();
    let plain = fs::metadata(&file).unwrap().len();

    let store = Store::open(dir.path(), OpenMode::ReadWrite).unwrap();
    let journal = new_session(&store);
    for chunk in rows.chunks(CHECKPOINT_EVERY as usize) {
        let checkpoint = Some(state(chunk.last().unwrap().seq.0));
        let batch = JournalBatch { checkpoint, ..JournalBatch::from_rows(chunk.to_vec()) };
        journal.append_blocking(batch).unwrap().wait().unwrap();
    }
    let start = Instant::now();
    store.seal_session(journal.session()).unwrap();
    println!("sealing: {:.2} ms a run", millis(start.elapsed()) / (STEPS as f64 / 256.0));
    let session = journal.session().clone();
    drop(journal);
    let sizes = settled_sizes(&store);
    let sealed = sizes.segment_bytes + sizes.checkpoint_bytes;
    println!(
        "bytes a step: plain {:.1} | sealed {:.1} (of which checkpoints {:.1}) = {:.3}x (goal 0.3x); index {:.1} = {:.3}x (goal 0.5x)",
        per_step(plain),
        per_step(sealed),
        per_step(sizes.checkpoint_bytes),
        sealed as f64 / plain as f64,
        per_step(sizes.index_bytes),
        sizes.index_bytes as f64 / plain as f64,
    );
    kept.compare("bytes-a-step", sealed as f64 / plain as f64);
    seek(&store, &session, kept);
}

/// Waits until the writer has no maintenance left to do.
fn settled_sizes(store: &Store) -> StoreSizes {
    let mut sizes = store.storage_sizes().unwrap();
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let before = std::mem::replace(&mut sizes, store.storage_sizes().unwrap());
        if before == sizes {
            return sizes;
        }
    }
}

fn per_step(bytes: u64) -> f64 {
    bytes as f64 / STEPS as f64
}

fn seek(store: &Store, session: &SessionId, kept: &mut Kept) {
    let reader = store.reader().unwrap();
    let mut random = Random(7);
    let (mut floor, mut full_seek, mut single) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..2_000 {
        let seq = Seq(1 + random.next() % STEPS);
        let start = Instant::now();
        let (at, _) = reader.nearest_checkpoint(session, seq).unwrap().unwrap_or_default();
        floor.push(start.elapsed());
        let mut count = 0;
        reader
            .scan_rows(session, at.next()..=seq, None, |_| {
                count += 1;
                ControlFlow::Continue(())
            })
            .unwrap();
        full_seek.push(start.elapsed());
        assert_eq!(count, seq.0 - at.0);
        let seq = Seq(1 + random.next() % STEPS);
        let start = Instant::now();
        assert!(reader.read_row(session, seq).unwrap().is_some());
        single.push(start.elapsed());
    }
    kept.compare("seek-p95-beside-checkpoint-row", p95(&mut full_seek) / p95(&mut floor));
    println!("checkpoint row: {}", quantiles(floor));
    println!("seek, checkpoint and up to {CHECKPOINT_EVERY} events: {}", quantiles(full_seek));
    println!("one event out of a sealed run: {}", quantiles(single));
    let start = Instant::now();
    reader.scan_rows(session, Seq(1)..=Seq(STEPS), None, |_| ControlFlow::Continue(())).unwrap();
    println!("reading all {STEPS} events: {:.0} ms", millis(start.elapsed()));
}

fn p95(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    millis(times[(times.len() - 1) * 95 / 100])
}

fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: f64| millis(times[((times.len() - 1) as f64 * share) as usize]);
    format!("p50 {:.3} ms, p95 {:.3} ms, max {:.3} ms", at(0.5), at(0.95), at(1.0))
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn words(&mut self, count: u64, into: &mut String) {
        for _ in 0..count {
            let word = WORDS[self.next() as usize % WORDS.len()];
            into.push_str(word);
            into.push(' ');
        }
    }
}

/// A step like those of a run: a thought, an action with arguments, the result.
fn step(seq: u64) -> JournalRow {
    let mut random = Random(seq.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    random.next();
    let task = format!("phase-{}.task-{}", seq / 20_000, seq / 40 % 300);
    let mut text = String::new();
    let kind = match seq % 3 {
        0 => {
            let count = 12 + random.next() % 20;
            random.words(count, &mut text);
            "step_thought"
        }
        1 => {
            let line = random.next() % 4000;
            write!(
                text,
                "grep -n fn_{:04x} src/{}/mod.rs:{line}",
                random.next() % 65_536,
                seq % 17
            )
            .unwrap();
            "step_action"
        }
        _ => {
            let count = 20 + random.next() % 40;
            random.words(count, &mut text);
            write!(text, "exit 0 after {} ms, digest {:016x}", random.next() % 9000, random.next())
                .unwrap();
            "step_observation"
        }
    };
    let attempt = 1 + seq % 2;
    let payload = format!(
        r#"{{"topic":"step","body":{{"kind":"{kind}","task":"{task}","attempt":{attempt},"step":{},"text":"{text}","confidence":0.{},"tokens":{}}}}}"#,
        seq % 40,
        random.next() % 100,
        random.next() % 5000,
    );
    let at = Timestamp::from_microsecond(
        1_700_000_000_000_000 + seq.cast_signed() * 40_000 + (random.next() % 30_000).cast_signed(),
    );
    JournalRow {
        seq: Seq(seq),
        at: at.unwrap(),
        kind: kind.into(),
        task: Some(task),
        payload: payload.into(),
    }
}

/// A fold of 300 tasks, which is small because it points at the steps instead of containing them.
fn state(seq: u64) -> Vec<u8> {
    let mut text = format!(r#"{{"seq":{seq},"tasks":["#);
    for task in 0..300 {
        let last = seq.saturating_sub(task * 40 % 12_000);
        write!(text, r#"{{"id":"task-{task}","status":"done","attempt":1,"last_step":{last},"first_step":{}}},"#, last / 2).unwrap();
    }
    text.push_str("{}]}");
    text.into()
}

const WORDS: [&str; 96] = [
    "the",
    "a",
    "to",
    "of",
    "and",
    "in",
    "is",
    "that",
    "file",
    "function",
    "test",
    "error",
    "line",
    "module",
    "because",
    "which",
    "should",
    "would",
    "before",
    "after",
    "change",
    "read",
    "write",
    "check",
    "return",
    "value",
    "result",
    "option",
    "string",
    "number",
    "list",
    "index",
    "table",
    "row",
    "query",
    "cache",
    "thread",
    "lock",
    "message",
    "handler",
    "request",
    "response",
    "client",
    "server",
    "state",
    "event",
    "task",
    "graph",
    "node",
    "edge",
    "depends",
    "ready",
    "failed",
    "passed",
    "skipped",
    "running",
    "build",
    "compile",
    "warning",
    "unused",
    "variable",
    "parameter",
    "argument",
    "default",
    "config",
    "option",
    "path",
    "directory",
    "permission",
    "denied",
    "missing",
    "found",
    "expected",
    "actual",
    "panicked",
    "assertion",
    "left",
    "right",
    "equal",
    "not",
    "with",
    "without",
    "first",
    "last",
    "next",
    "previous",
    "parser",
    "token",
    "syntax",
    "trait",
    "implement",
    "generic",
    "lifetime",
    "borrow",
    "mutable",
    "reference",
];
