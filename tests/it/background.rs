//! Runs in processes of their own: started, seen, followed and controlled from other processes.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Place, json_lines};

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(40);

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// A run in the background that is stopped when the test ends, however it ends.
struct BackgroundRun<'a> {
    place: &'a Place,
    id: String,
}

impl<'a> BackgroundRun<'a> {
    fn start(place: &'a Place, plan: &str, more: &[&str]) -> Self {
        let plan = place.plan(plan);
        let mut args = vec!["run", plan.as_str(), "--detach"];
        args.extend(more);
        let output = place.run(&args);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        let id = text(&output.stdout).trim().to_owned();
        assert!(text(&output.stderr).contains("planwright attach"), "{}", text(&output.stderr));
        Self { place, id }
    }

    fn process(&self) -> Option<Value> {
        let listed = json_lines(&self.place.run(&["ps", "--json"]));
        listed.into_iter().find(|row| row["session"] == self.id.as_str())
    }

    fn status(&self) -> String {
        let sessions = self.place.sessions();
        let own = sessions.iter().find(|row| row["id"] == self.id.as_str());
        own.map(|row| row["status"].as_str().unwrap().to_owned()).unwrap_or_default()
    }

    fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < PATIENCE, "{what}: {}", self.status());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn task_status(&self, task: &str) -> String {
        let shown = self.place.run(&["sessions", "show", &self.id, "--json"]);
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        let tasks = shown["tasks"].as_array().cloned().unwrap_or_default();
        let own = tasks.iter().find(|row| row["id"] == task);
        own.map(|row| row["status"].to_string()).unwrap_or_default()
    }

    /// Follows the run as lines from another process.
    fn attach(&self) -> Child {
        Command::new(assert_cmd::cargo::cargo_bin("planwright"))
            .args(["attach", &self.id, "--headless", "--json"])
            .env("PLANWRIGHT_DATA_DIR", self.place.data())
            .env("PLANWRIGHT_CONFIG", self.place.dir.path().join("config.toml"))
            .current_dir(self.place.work())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }
}

impl Drop for BackgroundRun<'_> {
    fn drop(&mut self) {
        self.place.run(&["stop", &self.id]);
    }
}

/// One task that waits for a file, and one after it.
const WAITING: &str = "title = \"Waits\"\n[[tasks]]\nid = \"wait\"\ndescription = \"Wait\"\n\
    run = { shell = \"echo up; until [ -e go ]; do sleep 0.05; done; echo went\" }\n\
    [[tasks]]\nid = \"after\"\ndescription = \"After\"\ndepends_on = [\"wait\"]\n\
    run = { shell = \"echo after\" }\n";

#[test]
fn a_detached_run_goes_on_by_itself_and_is_listed_until_it_ends() {
    let place = Place::new();
    let run = BackgroundRun::start(&place, WAITING, &["--yes"]);
    let process = run.process().expect("it is listed");
    assert!(process["pid"].as_u64().unwrap() > 1, "{process}");
    run.wait_until("its first output", || {
        text(&place.run(&["logs", &run.id, "wait"]).stdout).contains("up")
    });
    std::fs::write(place.work().join("go"), "").unwrap();
    run.wait_until("its end", || run.process().is_none());
    assert_eq!(run.status(), "done");
    let log = text(&place.run(&["logs", &run.id]).stdout);
    assert_eq!(log, "wait | up\nwait | went\nafter | after\n");
}

#[test]
fn two_processes_follow_a_run_and_one_that_is_killed_does_it_no_harm() {
    let place = Place::new();
    let run = BackgroundRun::start(&place, WAITING, &["--yes"]);
    let (mut one, two) = (run.attach(), run.attach());
    run.wait_until("its first output", || {
        text(&place.run(&["logs", &run.id]).stdout).contains("up")
    });
    one.kill().unwrap();
    one.wait().unwrap();
    std::fs::write(place.work().join("go"), "").unwrap();
    let followed = two.wait_with_output().unwrap();
    assert_eq!(code(&followed), 0, "{}", text(&followed.stdout));
    let records = json_lines(&followed);
    assert!(records.iter().all(|record| record["session"] == run.id.as_str()), "{records:?}");
    let ended = records.iter().any(|record| {
        record["event"]["topic"] == "task" && record["event"]["body"]["task"] == "after"
    });
    assert!(ended, "{records:?}");
    run.wait_until("its end", || run.process().is_none());
    assert_eq!(run.status(), "done");
}

#[test]
fn a_task_is_stopped_and_retried_and_the_run_stopped_from_other_processes() {
    let place = Place::new();
    let plan = format!(
        "{WAITING}[[tasks]]\nid = \"keeps\"\ndescription = \"Keeps it open\"\n\
         run = {{ shell = \"until [ -e end ]; do sleep 0.05; done\" }}\n"
    );
    let run = BackgroundRun::start(&place, &plan, &["--yes"]);
    run.wait_until("a running task", || run.task_status("wait").contains("running"));
    let refused = place.run(&["retry", &run.id, "wait"]);
    assert_eq!(code(&refused), 1, "{}", text(&refused.stdout));
    let unknown = place.run(&["stop", &run.id, "nothing"]);
    assert_eq!(code(&unknown), 1, "{}", text(&unknown.stdout));
    let stopped = place.run(&["stop", &run.id, "wait"]);
    assert_eq!(code(&stopped), 0, "{}", text(&stopped.stderr));
    run.wait_until("the stopped task", || run.task_status("wait").contains("failed"));
    std::fs::write(place.work().join("go"), "").unwrap();
    let retried = place.run(&["retry", &run.id, "wait", "--with-dependents"]);
    assert_eq!(code(&retried), 0, "{}", text(&retried.stderr));
    run.wait_until("the retried task", || run.task_status("after").contains("done"));
    let ended = place.run(&["stop", &run.id]);
    assert_eq!(code(&ended), 0, "{}", text(&ended.stderr));
    assert!(run.process().is_none());
    assert_eq!(run.status(), "stopped");
    let nothing = place.run(&["stop", &run.id]);
    assert_eq!(code(&nothing), 1, "nothing of it runs");
}

#[test]
fn a_detached_run_waits_for_the_approval_that_another_process_gives() {
    let place = Place::new();
    let run = BackgroundRun::start(&place, WAITING, &[]);
    std::fs::write(place.work().join("go"), "").unwrap();
    run.wait_until("the question", || {
        run.process().is_some_and(|process| process["open_requests"] == 1)
    });
    let answered = place.run(&["answer", &run.id, "next", "approve and run"]);
    assert_eq!(code(&answered), 0, "{}", text(&answered.stderr));
    run.wait_until("its end", || run.process().is_none());
    assert_eq!(run.status(), "done");
}

#[test]
fn what_keeps_a_detached_run_from_starting_is_reported_at_once() {
    let place = Place::new();
    let missing = place.run(&["run", "nowhere.toml", "--detach"]);
    assert_eq!(code(&missing), 2);
    assert!(text(&missing.stderr).contains("nowhere.toml"), "{}", text(&missing.stderr));
    assert!(place.sessions().is_empty());
    let nobody = place.run(&["attach", "last", "--headless"]);
    assert_eq!(code(&nobody), 2, "{}", text(&nobody.stderr));
}

#[test]
fn a_hang_up_that_was_ignored_stays_ignored() {
    let place = Place::new();
    let plan = place.plan(WAITING);
    let program = assert_cmd::cargo::cargo_bin("planwright");
    let mut child = Command::new("/bin/sh")
        .args(["-c", "trap '' HUP; exec \"$0\" run \"$1\" --headless --yes --json"])
        .args([program.as_os_str(), plan.as_ref()])
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .current_dir(place.work())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("\"kind\":\"output\"")));
    Command::new("kill").args(["-s", "HUP", &child.id().to_string()]).status().unwrap();
    std::fs::write(place.work().join("go"), "").unwrap();
    lines.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_run_without_a_screen_prints_as_much_as_it_is_told_to() {
    let place = Place::new();
    let plan = place.plan(
        "title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"First\"\nrun = { shell = \"echo hello; test -n \\\"$TRACEPARENT\\\"\" }\n",
    );
    let run = |how: &[&str]| {
        let mut args = vec!["run", plan.as_str(), "--headless", "--yes"];
        args.extend(how);
        let output = place.run(&args);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let (out, err) = run(&["--quiet"]);
    assert!(out.is_empty() && err.is_empty(), "{out}{err}");
    let (out, err) = run(&["--progress", "none"]);
    assert!(out.is_empty() && err.contains("done"), "{out}{err}");
    // The plan itself is printed with its command; the output is a line of its own.
    let prints_output = |out: &str| out.lines().any(|line| line.ends_with(" hello"));
    let (out, _) = run(&["--progress", "plain"]);
    assert!(!prints_output(&out) && out.contains("done") && !out.contains("[#"), "{out}");
    let (out, _) = run(&["--progress", "lines"]);
    assert!(prints_output(&out), "{out}");
}
