//! A run that is killed: what was acknowledged is there, what was done is not done again, what is in doubt is asked.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Place, json_lines};

/// Layers of tasks that each append their name to a file when they are done.
fn plan(safe: bool) -> String {
    let mut text = String::from("title = \"To be killed\"\n");
    let repeat = if safe { "repeat = \"safe\"\n" } else { "" };
    for layer in 0..4 {
        for number in 0..3 {
            let on = if layer == 0 {
                String::new()
            } else {
                format!("depends_on = [\"t{}{number}\"]\n", layer - 1)
            };
            let task =
                format!("[[tasks]]\nid = \"t{layer}{number}\"\ndescription = \"x\"\n{on}{repeat}");
            text += &task;
            let run =
                format!("run = {{ shell = \"sleep 0.05; echo t{layer}{number} >> done.txt\" }}\n");
            text += &run;
        }
    }
    text
}

/// Far longer than any run of a test takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a run, kills it after this many lines of output, and returns the printed events: those are acknowledged.
fn killed_after(place: &Place, plan: &str, lines: usize) -> Vec<Value> {
    killed(place, &["run", plan], lines, Duration::ZERO)
}

/// The same for any command that runs a session, killed a moment after the line.
pub fn killed(place: &Place, args: &[&str], lines: usize, pause: Duration) -> Vec<Value> {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(args)
        .args(["--headless", "--yes", "--json"])
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .current_dir(place.work())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let printed = printed(child.stdout.take().unwrap());
    let deadline = Instant::now() + PATIENCE;
    let mut seen = Vec::new();
    while seen.len() < lines {
        // Either the line, the end of the run, or a timeout; the kill ends that as well.
        match printed.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => seen.push(serde_json::from_str(&line).unwrap()),
            Err(_) => break,
        }
    }
    thread::sleep(pause);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(Instant::now() < deadline, "the run prints {lines} lines or ends");
    // A line that was cut off by the kill is not acknowledged.
    seen.extend(printed.iter().filter_map(|line| serde_json::from_str(&line).ok()));
    seen
}

/// The lines as they come, from a thread that ends with the output.
fn printed(output: ChildStdout) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

pub fn effects(work: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(work.join("done.txt")).unwrap_or_default().lines() {
        *counts.entry(line.to_owned()).or_insert(0) += 1;
    }
    counts
}

pub fn journal(place: &Place) -> Vec<Value> {
    json_lines(&place.run(&["replay", "last", "--headless", "--json"]))
}

#[test]
fn every_acknowledged_event_survives_a_kill_and_no_effect_is_repeated() {
    for lines in [5, 9, 14, 20, 27, 33] {
        let place = Place::new();
        let plan = place.plan(&plan(false));
        let acknowledged = killed_after(&place, &plan, lines);
        let kept = journal(&place);
        assert!(
            kept.starts_with(&acknowledged),
            "after {lines} lines: what was printed is in the journal"
        );
        assert!(kept.iter().zip(1..).all(|(record, seq)| record["seq"] == seq), "without a gap");

        let output = place.run(&["resume", "last", "--headless", "--yes", "--json"]);
        match output.status.code() {
            Some(0) => {}
            Some(3) => {
                let words = String::from_utf8_lossy(&output.stderr).into_owned();
                let doubtful: Vec<String> = in_doubt(&journal(&place));
                assert!(!doubtful.is_empty());
                for task in &doubtful {
                    assert!(words.contains(task.as_str()), "{task} is not named in: {words}");
                }
                // The person looks at the file and answers; here the test does, so that every effect is there once.
                let done = effects(&place.work());
                let answer = if doubtful.iter().all(|task| done.contains_key(task)) {
                    "done"
                } else {
                    "run"
                };
                let output =
                    place.run(&["resume", "last", "--headless", "--yes", "--in-doubt", answer]);
                assert_eq!(
                    output.status.code(),
                    Some(0),
                    "{}",
                    String::from_utf8_lossy(&output.stderr)
                );
                if answer == "run" {
                    let effects = effects(&place.work());
                    assert_eq!(effects.len(), 12, "{effects:?}");
                    let twice = effects.iter().filter(|(_, count)| **count > 1);
                    assert!(twice.clone().all(|(task, _)| doubtful.contains(task)), "{effects:?}");
                    continue;
                }
            }
            other => panic!("exit {other:?}: {}", String::from_utf8_lossy(&output.stderr)),
        }
        let effects = effects(&place.work());
        assert_eq!(effects.len(), 12, "{effects:?}");
        assert!(effects.values().all(|count| *count == 1), "{effects:?}");
        assert_eq!(place.sessions()[0]["done"], 12);
    }
}

pub fn in_doubt(records: &[Value]) -> Vec<String> {
    records
        .iter()
        .filter(|record| record["event"]["body"]["kind"] == "asked")
        .filter_map(|record| record["event"]["body"]["request"]["task"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn tasks_that_are_safe_to_repeat_resume_without_a_question() {
    for lines in [6, 13, 22] {
        let place = Place::new();
        let plan = place.plan(&plan(true));
        killed_after(&place, &plan, lines);
        let output = place.run(&["resume", "last", "--headless", "--yes"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(place.sessions()[0]["done"], 12);
        assert_eq!(effects(&place.work()).len(), 12);
    }
}

#[test]
fn a_command_that_outlived_the_crash_is_asked_about_before_it_is_ended() {
    let place = Place::new();
    let plan = place.plan("title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\nrun = { shell = \"echo up; sleep 600\" }\n");
    let seen = killed_after(&place, &plan, 11);
    let pid = seen
        .iter()
        .find(|record| record["event"]["body"]["kind"] == "spawned")
        .and_then(|record| record["event"]["body"]["pid"].as_u64())
        .unwrap();
    assert!(Path::new(&format!("/proc/{pid}")).exists(), "a kill leaves the command behind");
    let is_alive = || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    let output = place.run(&["resume", "last", "--headless"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(is_alive(), "it is asked about first");
    let question = String::from_utf8(output.stderr).unwrap();
    assert!(question.contains("This command is still running. Wait for it?"), "{question}");
    assert!(question.contains("are still running; 1 line of output"), "{question}");
    // Skipping the task stops its command.
    let output = place.run(&["resume", "last", "--headless", "--in-doubt", "skip"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!is_alive(), "still there: {said}");
}

#[test]
fn a_command_that_is_waited_for_after_a_crash_is_asked_about_when_it_has_ended() {
    let place = Place::new();
    let plan = place.plan(
        "title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\n\
         run = { shell = \"echo up; until [ -e go ]; do sleep 0.05; echo still here; done; echo went >&2; touch went\" }\n",
    );
    killed_after(&place, &plan, 11);
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
    assert!(waiting.try_wait().unwrap().is_none(), "it waits for the command");
    std::fs::write(place.work().join("go"), "").unwrap();
    let asked: Vec<String> = lines.filter(|line| line.contains("\"asked\"")).collect();
    assert!(asked.iter().any(|line| line.contains("Did this command finish?")), "{asked:?}");
    assert_eq!(waiting.wait().unwrap().code(), Some(3));
    assert!(place.work().join("went").exists(), "its output did not end it");
    let log = place.run(&["logs", "last", "a"]).stdout;
    let log = String::from_utf8_lossy(&log).into_owned();
    assert!(log.starts_with("up\n") && log.contains("still here\n"), "{log}");
    assert!(log.contains("went\n"), "what it printed since the crash is kept: {log}");
    let output = place.run(&["resume", "last", "--headless", "--in-doubt", "done"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_signal_ends_a_run_cleanly() {
    for (signal, exit) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let place = Place::new();
        let plan = place.plan("title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\nrun = { shell = \"echo up; sleep 600\" }\n");
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
            .args(["run", &plan, "--headless", "--yes", "--json"])
            .env("PLANWRIGHT_DATA_DIR", place.data())
            .current_dir(place.work())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let started =
            lines.by_ref().map_while(Result::ok).any(|line| line.contains("\"kind\":\"output\""));
        assert!(started);
        Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        lines.map_while(Result::ok).for_each(drop);
        assert_eq!(child.wait().unwrap().code(), Some(exit));
        assert_eq!(place.sessions()[0]["status"], "stopped");
        // What it had printed until it was stopped is part of what is known about it.
        let asked = place.run(&["resume", "last", "--headless"]);
        assert_eq!(asked.status.code(), Some(3));
        let question = String::from_utf8(asked.stderr).unwrap();
        assert!(question.contains("1 line of output, the last one: up"), "{question}");
    }
}
