//! Runs that leave their screen, and screens of runs that are elsewhere, in real terminals.

use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::program::{Place, json_lines};
use crate::screen::{Terminal, assert_restored};

const PATIENCE: Duration = Duration::from_secs(40);

/// Waits for a file, and then one more task.
const WAITING: &str = "version = 2\ntitle = \"Waits\"\n[[tasks]]\nid = \"wait\"\ndescription = \"Wait for it\"\n\
    run = { shell = \"echo up; until [ -e go ]; do sleep 0.05; done; echo went\" }\n\
    [[tasks]]\nid = \"after\"\ndescription = \"Then this\"\ndepends_on = [\"wait\"]\n\
    run = { shell = \"echo after\" }\n";

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// Stops what a test leaves behind, however it ends.
struct RunGuard<'a>(&'a Place);

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        self.0.run(&["stop", "last"]);
    }
}

fn running(place: &Place) -> Vec<Value> {
    json_lines(&place.run(&["ps", "--json"]))
}

fn log(place: &Place) -> String {
    String::from_utf8_lossy(&place.run(&["logs", "last"]).stdout).into_owned()
}

/// When the process that works on the only session last gave a sign of life.
fn last_sign(place: &Place) -> SystemTime {
    let mut locks = std::fs::read_dir(place.data().join("locks")).unwrap();
    let lock = locks.next().expect("the run has the lock of its session").unwrap();
    lock.metadata().unwrap().modified().unwrap()
}

fn send(signal: &str, pid: u64) {
    let sent = Command::new("kill").args(["-s", signal, &pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A shell with job control, as a person has it.
fn shell(place: &Place) -> Terminal {
    let mut terminal = Terminal::program(
        place,
        "bash",
        &["--norc", "--noprofile", "-i"],
        (24, 80),
        &[("PS1", "ready$ ")],
    );
    terminal.shows("ready$");
    terminal
}

/// Starts a plan on the screen of a shell and approves it.
fn run_in_shell(place: &Place, plan: &str) -> Terminal {
    place.plan(plan);
    let mut terminal = shell(place);
    let program = assert_cmd::cargo::cargo_bin("planwright");
    terminal.keys(&format!("'{}' run ../plan.toml\n", program.display()));
    terminal.shows("run this plan?");
    terminal.press_until("a", "this terminal");
    terminal
}

/// Lets a run end that waits for the file.
fn let_go(place: &Place) {
    std::fs::write(place.work().join("go"), "").unwrap();
    wait_until("the end of the run", || running(place).is_empty());
    assert_eq!(place.sessions()[0]["status"], "done");
    assert_eq!(log(place), "wait | up\nwait | went\nafter | after\n");
}

#[test]
fn a_run_leaves_its_terminal_and_goes_on_after_that_is_closed() {
    for keys in ["D", "q\r", "qD"] {
        let place = Place::new();
        let _guard = RunGuard(&place);
        let mut terminal = run_in_shell(&place, WAITING);
        wait_until("its first output", || log(&place).contains("up"));
        let before = running(&place);
        terminal.keys(&keys[..1]);
        if keys.len() > 1 {
            terminal.shows("keep it running");
            terminal.keys(&keys[1..]);
        }
        terminal.until("the shell again", |text| {
            text.contains("running in the background") && text.trim_end().ends_with("ready$")
        });
        assert_restored(&terminal.written());
        assert!(terminal.text().contains("planwright attach"), "{}", terminal.text());
        assert_eq!(running(&place)[0]["pid"], before[0]["pid"], "the same process goes on");
        terminal.keys("exit\n");
        terminal.end();
        assert_eq!(running(&place).len(), 1, "{keys}: the run goes on without a terminal");
        let_go(&place);
    }
}

#[test]
fn two_screens_control_a_run_and_one_that_is_killed_does_it_no_harm() {
    let place = Place::new();
    let _guard = RunGuard(&place);
    // What goes on meanwhile keeps the run open.
    let plan = place.plan(&format!(
        "{WAITING}[[tasks]]\nid = \"open\"\ndescription = \"Stay open\"\n\
         run = {{ shell = \"until [ -e go ]; do sleep 0.05; done\" }}\n"
    ));
    let started = place.run(&["run", &plan, "--detach"]);
    assert_eq!(started.status.code(), Some(0));
    let mut one = Terminal::start(&place, &["attach", "last"], 24, 80);
    let mut two = Terminal::start(&place, &["attach", "last"], 40, 120);
    one.shows("run this plan?");
    two.shows("run this plan?");
    // The answer comes from the second.
    two.press_until("a", "Wait for it  command");
    one.shows("Wait for it  command");
    assert!(one.text().contains("running in process"), "{}", one.text());
    // The first stops the task and tries it again.
    one.press_until("k", "Wait for it   command: echo up");
    one.keys("X");
    one.shows("Stop Wait for it while it runs?");
    one.keys("y");
    two.shows("Wait for it failed");
    one.press_until("R", "Wait for it  command");
    wait_until("the second attempt", || log(&place).matches("up").count() == 2);
    // A screen is a viewer: what happens to it does not reach the run.
    send("KILL", u64::from(one.child.process_id().unwrap()));
    one.end();
    std::fs::write(place.work().join("go"), "").unwrap();
    two.shows("3 of 3 done");
    two.keys("q");
    two.end();
    wait_until("the end of the run", || running(&place).is_empty());
    assert_eq!(place.sessions()[0]["status"], "done");
}

#[test]
fn a_process_that_is_stopped_is_said_to_have_stopped_responding_until_it_goes_on() {
    let place = Place::new();
    let _guard = RunGuard(&place);
    let plan = place.plan(WAITING);
    assert_eq!(place.run(&["run", &plan, "--yes", "--detach"]).status.code(), Some(0));
    let holder = running(&place)[0]["pid"].as_u64().unwrap();
    let mut screen = Terminal::start(&place, &["attach", "last"], 24, 80);
    screen.shows("running in process");
    // Only a process that gives signs of life can stop giving them, however slowly the machine starts it.
    let first = last_sign(&place);
    wait_until("a sign of life", || last_sign(&place) > first);
    send("STOP", holder);
    screen.shows("stopped responding");
    assert!(running(&place)[0]["silent_seconds"].as_u64().unwrap() >= 5);
    send("CONT", holder);
    screen.shows("running in process");
    screen.keys("D");
    screen.end();
    let_go(&place);
}

#[test]
fn the_terminal_of_a_screen_that_was_killed_is_restored() {
    let place = Place::new();
    let _guard = RunGuard(&place);
    let mut terminal = run_in_shell(&place, WAITING);
    wait_until("its first output", || log(&place).contains("up"));
    send("KILL", running(&place)[0]["pid"].as_u64().unwrap());
    terminal.until("the shell again", |text| text.trim_end().ends_with("ready$"));
    assert_restored(&terminal.written());
    assert!(terminal.text().contains("planwright resume last"), "{}", terminal.text());
    terminal.keys("echo code $?\n");
    terminal.shows("code 137");
    terminal.keys("exit\n");
    terminal.end();
    let resumed = place.run(&["resume", "last", "--headless", "--in-doubt", "skip"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", String::from_utf8_lossy(&resumed.stderr));
}

#[test]
fn a_screen_of_a_run_elsewhere_that_was_killed_leaves_a_terminal_as_it_was() {
    let place = Place::new();
    let _guard = RunGuard(&place);
    let plan = place.plan(WAITING);
    assert_eq!(place.run(&["run", &plan, "--yes", "--detach"]).status.code(), Some(0));
    let program = assert_cmd::cargo::cargo_bin("planwright");
    // The process that shows the screen, and the one that waits for it.
    for victim in ["planwright-screen", "attach last"] {
        let mut terminal = shell(&place);
        terminal.keys("stty -a > before\n");
        terminal.keys(&format!("'{}' attach last\n", program.display()));
        terminal.shows("running in process");
        send("KILL", screen_process(&place, victim));
        terminal.until("the screen of the shell", |text| text.contains("stty -a > before"));
        if victim == "planwright-screen" {
            terminal.shows("planwright attach shows it again");
        } else {
            // The shell wrote its prompt to the other screen, which is gone.
            terminal.keys("\n");
        }
        terminal.until("the shell again", |text| text.trim_end().ends_with("ready$"));
        terminal.keys("echo code $?\n");
        terminal.shows("code 137");
        assert_restored(&terminal.written());
        terminal.keys("stty -a > after; cmp before after && echo same modes\n");
        terminal.until("the same modes", |text| text.lines().any(|line| line == "same modes"));
        terminal.keys("exit\n");
        terminal.end();
        assert_eq!(running(&place).len(), 1, "the run goes on");
    }
    let_go(&place);
}

/// The process of this place whose first words are these: the one that shows a screen, or the one that waits for it.
fn screen_process(place: &Place, words: &str) -> u64 {
    let work = place.work().canonicalize().unwrap();
    let is_ours = |pid: &u64| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        let shows = arguments.starts_with("planwright-screen");
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|own| own == work)
            && shows == words.starts_with("planwright-screen")
            && arguments.contains("attach last")
            && !arguments.starts_with("bash")
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.find(is_ours).unwrap_or_else(|| panic!("no process {words}"))
}

#[test]
fn a_run_that_is_left_from_home_goes_on_while_home_is_open_and_after_it() {
    let place = Place::new();
    let _guard = RunGuard(&place);
    std::fs::write(place.work().join("plan.toml"), WAITING).unwrap();
    let mut terminal = shell(&place);
    let program = assert_cmd::cargo::cargo_bin("planwright");
    terminal.keys(&format!("'{}'\n", program.display()));
    terminal.shows("What do you want to get done?");
    terminal.shows("run plan.toml");
    terminal.press_until("\x1b[B", "►");
    terminal.press_while("\x1b[B", |text| !text.contains("► run plan.toml"));
    terminal.keys("\r");
    terminal.shows("run this plan?");
    terminal.press_until("a", "this terminal");
    wait_until("its first output", || log(&place).contains("up"));
    terminal.keys("D");
    terminal.shows("What do you want to get done?");
    terminal.shows("Waits");
    assert_eq!(running(&place).len(), 1);
    terminal.press_while("q", |text| !text.trim_end().ends_with("ready$"));
    assert_restored(&terminal.written());
    terminal.keys("exit\n");
    terminal.end();
    assert_eq!(running(&place).len(), 1, "the run goes on without home");
    let_go(&place);
}

#[test]
fn a_run_that_still_needs_the_terminal_stays_there() {
    let place = Place::new();
    let _guard = RunGuard(&place);
    let plan = format!("{WAITING}interactive = true\n");
    let mut terminal = run_in_shell(&place, &plan);
    wait_until("its first output", || log(&place).contains("up"));
    terminal.keys("D");
    terminal.shows("Then this needs this terminal");
    terminal.keys("q");
    terminal.shows("leave while it runs?");
    assert!(!terminal.text().contains("keep it running"), "{}", terminal.text());
    terminal.keys("j\r");
    terminal.until("the shell again", |text| text.trim_end().ends_with("ready$"));
    terminal.keys("exit\n");
    terminal.end();
}

#[test]
fn linear_mode_leaves_a_run_to_itself_as_well() {
    let place = Place::new();
    let _guard = RunGuard(&place);
    let plan = place.plan(WAITING);
    let mut terminal = Terminal::start(&place, &["--plain", "run", &plan], 24, 100);
    terminal.shows("Run this plan?");
    terminal.press_until("what\n", "Not one of the choices");
    terminal.keys("approve\n");
    wait_until("its first output", || log(&place).contains("up"));
    terminal.keys("detach\n");
    let (code, _) = terminal.end();
    assert_eq!(code, 0);
    assert_eq!(running(&place).len(), 1);
    let_go(&place);
}
