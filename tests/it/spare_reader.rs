//! What commands print when nobody of Planwright is left to read it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::Place;

const PATIENCE: Duration = Duration::from_secs(40);

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// Starts a plan with one task and waits for its first output.
fn start(place: &Place, shell: &str, more: &str) -> Child {
    let plan = place.plan(&format!(
        "version = 2\ntitle = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"Prints\"\nrun = {{ shell = '''{shell}''' }}\n{more}"
    ));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(["run", &plan, "--headless", "--yes", "--json"])
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .current_dir(place.work())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("\"kind\":\"output\"")), "it printed nothing");
    child
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The process that reads on, of the program with this id.
fn reader_of(parent: u32) -> u32 {
    let list = format!("/proc/{parent}/task");
    let children = |thread: PathBuf| std::fs::read_to_string(thread.join("children"));
    for thread in std::fs::read_dir(list).unwrap().flatten() {
        for child in children(thread.path()).unwrap_or_default().split_whitespace() {
            let name = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            if name.starts_with(b"planwright-output") {
                return child.parse().unwrap();
            }
        }
    }
    panic!("there is no spare reader")
}

fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

/// Prints much more than a pipe holds once the program is gone, then ends.
const LOUD: &str = "echo up; until [ -e go ]; do sleep 0.02; done; \
    i=0; while [ $i -lt 4000 ]; do echo \"line $i ........................................\"; i=$((i+1)); done; \
    echo last >&2; touch ended";

#[test]
fn what_a_command_prints_between_a_crash_and_the_resume_is_kept_and_shown() {
    let place = Place::new();
    let mut child = start(&place, LOUD, "");
    let reader = reader_of(child.id());
    kill(&mut child);
    std::fs::write(place.work().join("go"), "").unwrap();
    wait_until("the command did not stand still", || place.work().join("ended").exists());
    wait_until("the spare reader has ended", || !is_running(reader));
    let asked = place.run(&["resume", "last", "--headless"]);
    assert_eq!(asked.status.code(), Some(3), "{}", text(&asked.stderr));
    let said = text(&asked.stderr);
    assert!(said.contains("4,002 lines of output, the last one: last"), "{said}");
    let log = text(&place.run(&["logs", "last", "a"]).stdout);
    assert_eq!(log.lines().count(), 4_002);
    assert!(log.starts_with("up\nline 0 ") && log.ends_with("last\n"), "order and end");
    // Opening it again adds nothing.
    let done = place.run(&["resume", "last", "--headless", "--in-doubt", "done"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(text(&place.run(&["logs", "last", "a"]).stdout).lines().count(), 4_002);
}

#[test]
fn a_command_that_is_waited_for_is_followed_while_the_spare_reader_reads_it() {
    let place = Place::new();
    let mut child = start(&place, LOUD, "");
    let reader = reader_of(child.id());
    kill(&mut child);
    let mut waiting = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(["resume", "last", "--headless", "--json", "--in-doubt", "wait"])
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .current_dir(place.work())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(waiting.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("\"keep_waiting\"") && line.contains("\"answered\"")));
    assert!(is_running(reader), "it goes on reading");
    std::fs::write(place.work().join("go"), "").unwrap();
    assert!(lines.any(|line| line.contains("Did this command finish?")));
    drop(lines);
    waiting.wait().unwrap();
    let log = text(&place.run(&["logs", "last", "a"]).stdout);
    assert_eq!(log.lines().count(), 4_002);
    wait_until("the spare reader has ended", || !is_running(reader));
}

#[test]
fn a_command_that_is_waited_for_ends_when_its_task_or_its_run_is_stopped() {
    for whole_run in [false, true] {
        let place = Place::new();
        let mut child = start(&place, "echo $$ > pid; echo up; sleep 300", "");
        kill(&mut child);
        let resumed = place.run(&["resume", "last", "--detach", "--in-doubt", "wait"]);
        assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
        let pid = std::fs::read_to_string(place.work().join("pid")).unwrap();
        let pid = pid.trim().parse().unwrap();
        assert!(is_running(pid), "nobody ended it yet");
        let stop: &[&str] = if whole_run { &["stop", "last"] } else { &["stop", "last", "a"] };
        let stopped = place.run(stop);
        assert_eq!(stopped.status.code(), Some(0), "{}", text(&stopped.stderr));
        wait_until("the command has ended", || !is_running(pid));
        wait_until("the run has ended", || place.run(&["ps", "--json"]).stdout.is_empty());
        let shown = text(&place.run(&["sessions", "show", "last"]).stdout);
        if !whole_run {
            assert!(shown.contains("cancelled"), "{shown}");
        }
        let log = text(&place.run(&["logs", "last", "a"]).stdout);
        assert_eq!(log, "up\n");
    }
}

#[test]
fn after_both_were_killed_a_command_stands_still_and_goes_on_when_it_is_waited_for() {
    let place = Place::new();
    let mut child = start(&place, LOUD, "");
    let reader = reader_of(child.id());
    Command::new("kill").args(["-s", "KILL", &reader.to_string()]).status().unwrap();
    kill(&mut child);
    std::fs::write(place.work().join("go"), "").unwrap();
    let asked = place.run(&["resume", "last", "--headless"]);
    assert!(text(&asked.stderr).contains("This command is still running"), "it is asked about");
    let waited = place.run(&["resume", "last", "--headless", "--in-doubt", "wait"]);
    assert_eq!(waited.status.code(), Some(3), "{}", text(&waited.stderr));
    assert!(place.work().join("ended").exists());
    assert_eq!(text(&place.run(&["logs", "last", "a"]).stdout).lines().count(), 4_002);
}

#[test]
fn secrets_of_commands_are_covered_in_what_is_printed_after_a_crash() {
    const VALUE: &str = "correct-horse-battery";
    let shell = "echo up; until [ -e go ]; do sleep 0.02; done; echo \"the password is $PASSWORD\"; touch ended";
    let source =
        "secrets = { PASSWORD = { command = [\"printf\", \"correct-horse-%s\", \"battery\"] } }\n";
    for kills_reader in [false, true] {
        let place = Place::new();
        let mut child = start(&place, shell, source);
        let reader = reader_of(child.id());
        if kills_reader {
            Command::new("kill").args(["-s", "KILL", &reader.to_string()]).status().unwrap();
        }
        kill(&mut child);
        let mut waiting = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
            .args(["resume", "last", "--headless", "--in-doubt", "wait"])
            .env("PLANWRIGHT_DATA_DIR", place.data())
            .current_dir(place.work())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::fs::write(place.work().join("go"), "").unwrap();
        waiting.wait().unwrap();
        assert!(place.work().join("ended").exists(), "it did not stand still");
        let log = text(&place.run(&["logs", "last", "a"]).stdout);
        assert!(!log.contains(VALUE), "{log}");
        // Who covers the value is the one who knows it; without it nothing of this is kept.
        assert_eq!(log.contains("the password is"), !kills_reader, "{log}");
        place.run(&["export", "last", "--format", "jsonl", "-o", "export.jsonl"]);
        let mut kept = files(&place.data());
        let pipes = kept.iter().filter(|file| file.extension().is_some_and(|end| end == "out"));
        assert_eq!(pipes.count(), 0, "{kept:?}");
        kept.push(place.work().join("export.jsonl"));
        for file in kept {
            let bytes = std::fs::read(&file).unwrap_or_default();
            assert!(!text(&bytes).contains(VALUE), "{}", file.display());
        }
    }
}

#[test]
fn a_process_that_outlives_its_command_and_keeps_its_output_open_does_not_stand_still() {
    let place = Place::new();
    let plan = place.plan(
        "version = 2\ntitle = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"Starts something\"\n\
         run = { shell = \"setsid sh -c 'until [ -e go ]; do sleep 0.02; done; head -c 300000 /dev/zero; touch ended' & echo started\" }\n",
    );
    let output = place.run(&["run", &plan, "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    std::fs::write(place.work().join("go"), "").unwrap();
    wait_until("what it started goes on", || place.work().join("ended").exists());
    assert_eq!(text(&place.run(&["logs", "last"]).stdout), "a | started\n");
    let left: Vec<PathBuf> = files(&place.data().join("output"));
    assert!(left.iter().all(|file| file.extension().is_some_and(|end| end == "spool")), "{left:?}");
}
