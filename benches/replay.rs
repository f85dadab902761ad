//! Reading long sessions: opening, seeking, searching, listing, and the bytes they take.
//!
//! Sessions of 100,000 and 1,000,000 steps are made of a plan of 200 tasks whose calls produce output, sealed and indexed as
//! the store does in the background. Every figure is printed next to its target. `-- --quick` leaves the million
//! out.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first failure"
)]
#![expect(unreachable_pub, reason = "a benchmark has no outside")]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use planwright_model::event::{
    CallEvent, CallOutcome, Event, FORMAT, OutputStream, PlanEvent, Record, RepeatClass, RiskClass,
    RunEvent, SessionEvent, TaskEvent, Usage,
};
use planwright_model::{CallId, Digest, Plan, RunKind, Seq, SessionId, TaskId, TaskLink, TaskNode};
use planwright_plan::graph::resolve_graph;
use planwright_state::replay::History;
use planwright_state::{Checkpoint, SessionState};
use planwright_store::exchange::event_source::ImportedSession;
use planwright_store::journal_source::JournalSource;
use planwright_store::step_search::StepSearch;
use planwright_store::{NewSession, OpenMode, SessionProvenance, SessionSummary, Store, WordQuery};
use planwright_tui::{ColorDepth, KeyOverrides, SessionPreview, SessionView, Theme, UiSettings};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rusqlite::{Connection, params};
use support::Kept;

const TASKS: usize = 200;

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let mut kept = Kept::of("replay");
    let small = Measured::of(100_000, &mut kept);
    println!(
        "open 100,000: {:.2} ms, its first screen drawn {:.2} ms (goal 30)",
        millis(small.open),
        millis(small.screen)
    );
    if !quick {
        let large = Measured::of(1_000_000, &mut kept);
        let ratio = large.open.as_secs_f64() / small.open.as_secs_f64();
        println!(
            "open 1,000,000: {:.2} ms = {ratio:.2}x of 100,000 (goal 1.5x), its first screen drawn {:.2} ms",
            millis(large.open),
            millis(large.screen)
        );
        kept.compare("open-a-million-beside-a-hundred-thousand", ratio);
    }
    list(10_000);
    println!("memory in use at most, benchmark and all: {} MB", peak_mb());
    println!("{}", kept.verdict());
}

struct Measured {
    open: Duration,
    screen: Duration,
}

impl Measured {
    fn of(steps: usize, kept: &mut Kept) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let id = SessionId::new("bench");
        let records = session(steps);
        let plain = plain_bytes(&dir.path().join("plain.db"), &records);
        make(dir.path(), &id, records);
        let open = median((0..15).map(|_| open(dir.path(), &id)));
        println!("{steps} steps");
        sizes(dir.path(), plain, steps, kept);
        seek(dir.path(), &id, kept);
        let screen = median((0..15).map(|_| first_screen(dir.path(), &id).1));
        scrub(dir.path(), &id, steps);
        search(dir.path());
        Self { open, screen }
    }
}

/// From a cold start to the first frame, drawn.
fn first_screen(dir: &Path, id: &SessionId) -> (SessionPreview, Duration) {
    let begin = Instant::now();
    let store = Store::open(dir, OpenMode::ReadOnly).unwrap();
    let mut history = History::new(JournalSource::new(store.reader().unwrap(), id.clone()));
    let head = history.head_seq().unwrap();
    let view = SessionView::new(id.clone(), history, tokio::sync::watch::channel(head).1);
    let mut preview = SessionPreview::open(view, &settings()).unwrap();
    preview.draw(&mut buffer()).unwrap();
    (preview, begin.elapsed())
}

fn buffer() -> Buffer {
    Buffer::empty(Rect::new(0, 0, 120, 40))
}

fn settings() -> UiSettings {
    UiSettings {
        theme: Theme::default(),
        keys: KeyOverrides::default(),
        ascii: false,
        color: ColorDepth::True,
        session_budget: planwright_model::MicroDollars(2_000_000),
        now: || Timestamp::UNIX_EPOCH,
        time_zone: jiff::tz::TimeZone::UTC,
        changes: None,
        store: None,
        reduced_motion: false,
        opened_from_home: false,
    }
}

/// Seeks to moments all over a session as a person does, each with the frame that shows it.
fn scrub(dir: &Path, id: &SessionId, steps: usize) {
    let (mut preview, _) = first_screen(dir, id);
    let before = resident_mb();
    let mut times: Vec<Duration> = (0..400_usize)
        .map(|number| {
            let to = (number * 7_919 * 31) % steps + 1;
            let mut buf = buffer();
            for key in
                std::iter::once("g".to_owned()).chain(to.to_string().chars().map(String::from))
            {
                preview.press_key(&key).unwrap();
            }
            let begin = Instant::now();
            preview.press_key("Enter").unwrap();
            preview.draw(&mut buf).unwrap();
            begin.elapsed()
        })
        .collect();
    let (p50, p95) = (quantile(&mut times, 0.5), quantile(&mut times, 0.95));
    let worst = quantile(&mut times, 1.0);
    println!(
        "  seek and frame: p50 {:.2} ms, p95 {:.2} ms, max {:.2} ms (never above 16); 400 of them took {} MB more",
        millis(p50),
        millis(p95),
        millis(worst),
        resident_mb().saturating_sub(before)
    );
}

/// What the system reports about this process; 0 where it reports nothing.
fn from_status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}

fn resident_mb() -> u64 {
    from_status("VmRSS:")
}

fn peak_mb() -> u64 {
    from_status("VmHWM:")
}

/// From a cold start to what a first screen needs: the store, the newest state, the index, and a page of steps.
fn open(dir: &Path, id: &SessionId) -> Duration {
    let begin = Instant::now();
    let store = Store::open(dir, OpenMode::ReadOnly).unwrap();
    let mut history = History::new(JournalSource::new(store.reader().unwrap(), id.clone()));
    let head = history.head_seq().unwrap();
    let state = history.state_at(head).unwrap();
    let timeline = history.build_timeline().unwrap();
    for step in timeline.steps_from(timeline.len() - 40) {
        history.record_at(step.seq).unwrap().unwrap();
    }
    let elapsed = begin.elapsed();
    assert_eq!((state.seq, timeline.head_seq()), (head, head));
    elapsed
}

fn seek(dir: &Path, id: &SessionId, kept: &mut Kept) {
    let store = Store::open(dir, OpenMode::ReadOnly).unwrap();
    let reader = store.reader().unwrap();
    let head = reader.head(id).unwrap().0;
    let mut random = 7u64;
    let mut places: Vec<Seq> = Vec::new();
    for _ in 0..400 {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        places.push(Seq(1 + (random >> 33) % head));
    }
    let mut history = History::new(JournalSource::new(store.reader().unwrap(), id.clone()));
    let (mut rows, mut seeks) = (Vec::new(), Vec::new());
    for place in places {
        let begin = Instant::now();
        let (_, bytes) = reader.nearest_checkpoint(id, place).unwrap().unwrap_or_default();
        let checkpoint = Checkpoint::decode(&bytes);
        rows.push(begin.elapsed());
        drop(checkpoint);
        let begin = Instant::now();
        let state = history.state_at(place).unwrap();
        seeks.push(begin.elapsed());
        assert_eq!(state.seq, place);
    }
    let (row, seek) = (quantile(&mut rows, 0.95), quantile(&mut seeks, 0.95));
    let ratio = seek.as_secs_f64() / row.as_secs_f64();
    println!(
        "  seek p95 {:.3} ms, a checkpoint row read and decoded p95 {:.3} ms: {ratio:.2}x (goal 3x); p50 {:.3} and {:.3} ms",
        millis(seek),
        millis(row),
        millis(quantile(&mut seeks, 0.5)),
        millis(quantile(&mut rows, 0.5)),
    );
    kept.compare("seek-beside-a-checkpoint-row", ratio);
}

fn search(dir: &Path) {
    let store = Store::open(dir, OpenMode::ReadOnly).unwrap();
    let reader = store.reader().unwrap();
    for words in ["needle", "compiling module", "compiling 4711", "nowhere"] {
        let find = || {
            let search =
                StepSearch { words: WordQuery::parse(words), limit: 50, ..StepSearch::default() };
            let begin = Instant::now();
            let hits = search.run(&reader).unwrap();
            (begin.elapsed(), hits.len())
        };
        let (_, hits) = find();
        let time = median((0..5).map(|_| find().0));
        println!("  search \"{words}\": {:.1} ms, {hits} hits (goal 200)", millis(time));
    }
}

fn sizes(dir: &Path, plain: u64, steps: usize, kept: &mut Kept) {
    let store = Store::open(dir, OpenMode::ReadOnly).unwrap();
    let sizes = store.storage_sizes().unwrap();
    let per = |bytes: u64| bytes as f64 / steps as f64;
    let own = sizes.segment_bytes + sizes.checkpoint_bytes;
    let (journal, index) = (own as f64 / plain as f64, sizes.index_bytes as f64 / plain as f64);
    println!(
        "  bytes a step: plain row {:.1}, journal and checkpoints {:.1} = {journal:.3}x (goal 0.3x), index {:.1} = {index:.3}x (goal 0.5x)",
        per(plain),
        per(own),
        per(sizes.index_bytes),
    );
    kept.compare("bytes-a-step", journal);
    kept.compare("index-bytes-a-step", index);
}

fn list(count: usize) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = Store::open(dir.path(), OpenMode::ReadWrite).unwrap();
    for number in 0..count {
        let title = format!("Session number {number}");
        store
            .create_session(NewSession {
                id: SessionId::new(format!("session-{number:05}")),
                created_at: Timestamp::UNIX_EPOCH,
                format: FORMAT,
                parent: None,
                summary: SessionSummary { title, ..SessionSummary::default() },
            })
            .unwrap();
    }
    store.close();
    let time = median((0..9).map(|_| {
        let begin = Instant::now();
        let store = Store::open(dir.path(), OpenMode::ReadOnly).unwrap();
        assert_eq!(store.list_sessions().unwrap().len(), count);
        begin.elapsed()
    }));
    println!("list {count} sessions: {:.1} ms (goal 100)", millis(time));
}

/// One row per step in a plain table, the baseline of the target.
fn plain_bytes(file: &Path, records: &[Record]) -> u64 {
    let connection = Connection::open(file).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             CREATE TABLE event (session INTEGER, seq INTEGER, at INTEGER, kind TEXT, task TEXT, payload BLOB,
                 PRIMARY KEY (session, seq)) WITHOUT ROWID; BEGIN;",
        )
        .unwrap();
    let mut insert = connection.prepare("INSERT INTO event VALUES (1, ?, ?, ?, ?, ?)").unwrap();
    for record in records {
        let task = record.event.task_id().map(TaskId::as_str);
        let payload = record.event.encode().unwrap();
        let at = record.at.as_microsecond();
        insert
            .execute(params![record.seq.0.cast_signed(), at, record.event.kind(), task, payload])
            .unwrap();
    }
    drop(insert);
    connection.execute_batch("COMMIT").unwrap();
    drop(connection);
    let bytes = std::fs::metadata(file).unwrap().len();
    std::fs::remove_file(file).unwrap();
    bytes
}

fn make(dir: &Path, id: &SessionId, records: Vec<Record>) {
    let store = Store::open(dir, OpenMode::ReadWrite).unwrap();
    let new = NewSession {
        id: id.clone(),
        created_at: records[0].at,
        format: FORMAT,
        parent: None,
        summary: SessionSummary::default(),
    };
    let from = SessionProvenance { source: "bench".into(), header: String::new() };
    store.import_session(new, from, Vec::new(), ImportedSession::new(records)).unwrap().unwrap();
    store.index_session(id).unwrap();
    store.close();
}

/// A run of tasks that each call a tool once and get a long result.
fn session(steps: usize) -> Vec<Record> {
    let mut tasks = Vec::new();
    for number in 0..TASKS {
        let mut task = TaskNode::new(name(number), format!("Build part {number} of the whole"));
        task.run = RunKind::Shell(format!("make part-{number}"));
        task.dependencies = number
            .checked_sub(3)
            .map(|on| TaskLink::finish_to_start(name(on)))
            .into_iter()
            .collect();
        tasks.push(task);
    }
    let facts = resolve_graph(&tasks, |_| true).unwrap().to_facts(&tasks);
    let plan = Plan { title: "A long run".into(), tasks, ..Plan::default() };
    let hash = plan.digest().unwrap();
    let mut session =
        SessionRecords { at: 1_780_000_000_000_000, records: Vec::with_capacity(steps) };
    session.push_event(SessionEvent::Created {
        format: FORMAT,
        program: "bench".into(),
        title: "A long run".into(),
        goal: None,
        workspace: "/srv".into(),
        plan_file: None,
    });
    session.push_event(PlanEvent::Proposed {
        revision: 1,
        hash: hash.clone(),
        plan: Arc::new(plan),
        facts: Arc::new(facts),
        normalization: Vec::new(),
    });
    session.push_event(RunEvent::Started { hash, jobs: 1 });
    let each = (steps - 4) / TASKS;
    for number in 0..TASKS {
        let task = TaskId::from(name(number));
        let call = CallId { task: task.clone(), attempt: 1, step: 1 };
        let input = serde_json::json!({ "command": format!("make part-{number}") });
        session.push_event(TaskEvent::Started {
            task: task.clone(),
            attempt: 1,
            depth: 0,
            affinity_delta: 0.0,
        });
        session.push_event(CallEvent::Intended {
            call: call.clone(),
            tool: "shell".into(),
            version: "1".into(),
            input_hash: Digest::from_json(&input),
            input,
            class: RiskClass::Execute,
            repeat: RepeatClass::Unsafe,
            file: None,
        });
        for line in 0..each.saturating_sub(4) {
            let word = if number == TASKS / 2 && line == 17 { " needle" } else { "" };
            let text = format!(
                "[{:5}] compiling module {} of part {number}, {} warnings, object at /srv/build/{:x}.o{word}\n",
                line * 7,
                line * 31 % 9973,
                line % 5,
                (line as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24,
            );
            session.push_event(CallEvent::Output {
                call: call.clone(),
                stream: OutputStream::Stdout,
                text,
            });
        }
        session.push_event(CallEvent::Concluded {
            call,
            outcome: CallOutcome::Exited { code: 0 },
            elapsed_ms: 900,
            output_bytes: 1 << 20,
            dropped_bytes: 0,
            usage: Usage::default(),
        });
        session.push_event(TaskEvent::Completed {
            task,
            attempt: 1,
            elapsed_ms: 901,
            by: None,
            note: None,
        });
    }
    let state = SessionState::from_records(&session.records);
    assert_eq!(state.totals.anomalies, 0);
    session.records
}

struct SessionRecords {
    at: i64,
    records: Vec<Record>,
}

impl SessionRecords {
    fn push_event(&mut self, event: impl Into<Event>) {
        self.at += 1_700;
        let seq = Seq(self.records.len() as u64 + 1);
        self.records.push(Record::new(seq, Timestamp::from_microsecond(self.at).unwrap(), event));
    }
}

fn name(number: usize) -> String {
    format!("part-{number:03}")
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    quantile(&mut times.collect::<Vec<_>>(), 0.5)
}

fn quantile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * share) as usize]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
