//! Ten minutes of work in one process: memory, the write-ahead log and open files after it, compared with those after its
//! first minute.
//!
//! Sessions of 200 tasks run four at a time with 3, 16 and 64 jobs, on a store that all of them share; a screen follows
//! one of them and is redrawn, other readers list and read, and old sessions are removed. `PLANWRIGHT_SOAK=60` sets the duration in seconds.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first failure"
)]
#![expect(unreachable_pub, dead_code, reason = "it shares its parts with the coordinator")]

#[path = "coordinator/engine_run.rs"]
mod engine_run;
#[path = "coordinator/plans.rs"]
mod plans;

use std::path::Path;
use std::time::{Duration, Instant};

use planwright_engine::CallDurability;
use planwright_model::{Seq, SessionId};
use planwright_state::replay::History;
use planwright_store::journal_source::JournalSource;
use planwright_store::{CheckDepth, Store};
use planwright_tui::{ColorDepth, KeyOverrides, SessionPreview, SessionView, Theme, UiSettings};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const TASKS: usize = 200;
const AT_ONCE: usize = 4;
/// How many rounds a session is kept, as if pruned regularly: what is listed and read stays at one size.
const KEPT: usize = 50;
/// Memory after the soak may be at most this multiple of the memory after the first minute.
const GOAL: f64 = 1.10;
const LOG_GOAL: u64 = 64 << 20;

/// The resources of the process.
#[derive(Clone, Copy, Debug)]
struct ProcessResources {
    resident_kib: u64,
    log: u64,
    files: usize,
}

impl ProcessResources {
    fn now(dir: &Path) -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        Self {
            resident_kib: line.trim().trim_end_matches("kB").trim().parse().unwrap(),
            log: std::fs::metadata(dir.join("planwright.db-wal")).map_or(0, |file| file.len()),
            files: std::fs::read_dir("/proc/self/fd").unwrap().count(),
        }
    }

    fn print(self, when: &str) {
        println!(
            "{when}: {:.1} MB resident, log {:.1} MB, {} open files",
            self.resident_kib as f64 / 1024.0,
            self.log as f64 / f64::from(1 << 20),
            self.files
        );
    }
}

fn main() {
    let seconds = std::env::var("PLANWRIGHT_SOAK").ok().and_then(|text| text.parse().ok());
    let duration = Duration::from_secs(seconds.unwrap_or(600));
    let first = duration / 10;
    let dir = tempfile::tempdir().unwrap();
    let store = engine_run::open(dir.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let began = Instant::now();
    let (mut early, mut most_log, mut rounds) = (None, 0, 0);
    while began.elapsed() < duration {
        round(&runtime, &store, rounds);
        rounds += 1;
        let resources = ProcessResources::now(dir.path());
        most_log = most_log.max(resources.log);
        if early.is_none() && began.elapsed() >= first {
            resources.print(&format!("after {:.0} s", began.elapsed().as_secs_f64()));
            early = Some(resources);
        }
    }
    let late = ProcessResources::now(dir.path());
    late.print(&format!("after {:.0} s", began.elapsed().as_secs_f64()));
    let early = early.unwrap_or(late);
    let ratio = late.resident_kib as f64 / early.resident_kib as f64;
    let verdict = |resources: bool| if resources { "held" } else { "MISSED" };
    println!("{} sessions of {TASKS} tasks", rounds * AT_ONCE);
    println!("memory ratio {ratio:.3}, goal {GOAL}: {}", verdict(ratio <= GOAL));
    println!(
        "largest log {:.1} MB, goal 64: {}",
        most_log as f64 / f64::from(1 << 20),
        verdict(most_log <= LOG_GOAL)
    );
    println!(
        "open files {} and {}: {}",
        early.files,
        late.files,
        verdict(late.files <= early.files + 2)
    );
    let found = store.check_integrity(CheckDepth::Quick).unwrap();
    println!("integrity: {} problems in {} sessions", found.problems.len(), found.sessions);
}

/// Runs a few sessions at once, follows one of them, and reads them as other readers would.
fn round(runtime: &tokio::runtime::Runtime, store: &Store, number: usize) {
    let plan = plans::layered(TASKS);
    let jobs = [3, 16, 64][number % 3];
    let of_round = |number: usize| (0..AT_ONCE).map(move |nth| format!("soak-{number:06}-{nth}"));
    let names: Vec<String> = of_round(number).collect();
    runtime.block_on(async {
        let runs = names
            .iter()
            .map(|name| engine_run::run(store, name, &plan, jobs, CallDurability::Grouped));
        futures_util::future::join_all(runs).await;
    });
    watch(store, &names[0]);
    assert!(!store.list_sessions().unwrap().is_empty());
    let state = engine_run::state(store, &names[AT_ONCE - 1]);
    assert_eq!(state.tasks.status_counts().done as usize, TASKS);
    if let Some(old) = number.checked_sub(KEPT) {
        for name in of_round(old) {
            store.remove_session(&SessionId::new(name)).unwrap();
        }
    }
}

/// Draws the session at several moments, as a screen does during scrubbing.
fn watch(store: &Store, name: &str) {
    let id = SessionId::new(name);
    let mut history = History::new(JournalSource::new(store.reader().unwrap(), id.clone()));
    let last = history.head_seq().unwrap();
    let (_keep, head) = tokio::sync::watch::channel(last);
    let view =
        SessionView { start_at: Some(Seq(last.0 / 2)), ..SessionView::new(id, history, head) };
    let settings = UiSettings {
        theme: Theme::default(),
        keys: KeyOverrides::default(),
        ascii: false,
        reduced_motion: false,
        opened_from_home: false,
        color: ColorDepth::True,
        session_budget: planwright_model::MicroDollars::ZERO,
        changes: None,
        store: None,
        now: jiff::Timestamp::now,
        time_zone: jiff::tz::TimeZone::UTC,
    };
    let mut screen = SessionPreview::open(view, &settings).unwrap();
    for key in ["1", "]", "2", "]", "3", "[", "5", "End"] {
        screen.press_key(key).unwrap();
        screen.draw(&mut Buffer::empty(Rect::new(0, 0, 120, 40))).unwrap();
    }
}
