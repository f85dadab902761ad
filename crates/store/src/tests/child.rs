//! Other processes: the test binary runs itself again, and one test plays the role named in the environment.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{env, io};

use super::*;

const ROLE: &str = "PLANWRIGHT_TEST_STORE_ROLE";
const DIR: &str = "PLANWRIGHT_TEST_STORE_DIR";

/// Another process using the store in `dir`.
pub(super) struct Other {
    process: Child,
    lines: io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Other {
    pub(super) fn start(role: &str, dir: &Path) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "tests::child::plays_its_role", "--nocapture", "--quiet"])
            .env(ROLE, role)
            .env(DIR, dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// The next line it prints, without the output of the test harness.
    pub(super) fn next_line(&mut self) -> Option<String> {
        let spoken = |line: String| line.strip_prefix("> ").map(String::from);
        self.lines.by_ref().find_map(|line| spoken(line.ok()?))
    }

    /// Sends SIGKILL.
    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Closes its input, which ends a waiting role, and waits for its exit.
    pub(super) fn close_and_wait(mut self) -> bool {
        drop(self.process.stdin.take());
        self.process.wait().unwrap().success()
    }
}

#[test]
fn plays_its_role() {
    let Ok(role) = env::var(ROLE) else { return };
    let dir = env::var_os(DIR).unwrap();
    let store = Store::open(Path::new(&dir), OpenMode::ReadWrite).unwrap();
    match role.as_str() {
        "append" => appends_until_killed(&store),
        "hold" => hold_until_input_closes(&store),
        "rest" => append_then_idle(&store),
        name => creates_a_session(&store, name),
    }
}

fn appends_until_killed(store: &Store) {
    let journal = store.acquire_session(&id("a1")).unwrap();
    let mut head = journal.head().0;
    let mut waiting = std::collections::VecDeque::new();
    for step in 0.. {
        let length = 1 + step % 7;
        let checkpoint = (step % 5 == 0).then(|| format!("state at {}", head + length).into());
        let batch =
            JournalBatch { checkpoint, ..JournalBatch::from_rows(rows(head + 1..=head + length)) };
        waiting.push_back(journal.append_blocking(batch).unwrap());
        head += length;
        // Several batches are in flight at once, as in a real run.
        while waiting.len() > 3 {
            println!("> {}", waiting.pop_front().unwrap().wait().unwrap());
        }
    }
}

/// Leaves a long tail and then idles, so that the writer begins to seal.
fn append_then_idle(store: &Store) {
    let journal = store.acquire_session(&id("a1")).unwrap();
    let head = journal.head().0;
    println!("> {}", append(&journal, head + 1..=head + 2_000));
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn hold_until_input_closes(store: &Store) {
    let journal = store.acquire_session(&id("a1")).unwrap();
    println!("> held at {}", journal.head());
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn creates_a_session(store: &Store, name: &str) {
    let journal = start(store, name);
    append(&journal, 1..=5);
    println!("> {}", store.list_sessions().unwrap().len());
}
