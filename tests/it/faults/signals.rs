//! Signals, while waiting and in the middle of a run, on a screen, in linear mode and without one: the program ends, its
//! commands end, the terminal is restored, and the session can be resumed.
//!
//! The suite tries each once; `PLANWRIGHT_SIGNALS=50` sets the number of tries, and prints how long the shutdowns took.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::times;
use crate::program::Place;
use crate::screen::{Terminal, assert_restored};

const SIGNALS: [(&str, u32); 4] = [("HUP", 129), ("INT", 130), ("QUIT", 131), ("TERM", 143)];
const LONG: &str = "title = \"Long\"\n[[tasks]]\nid = \"a\"\ndescription = \"Wait\"\n\
                    run = { shell = \"echo $$ > pid; sleep 600 & wait\" }\n";

fn send(signal: &str, pid: u32) {
    let sent = Command::new("kill").args(["-s", signal, &pid.to_string()]).status().unwrap();
    assert!(sent.success(), "{signal} to {pid}");
}

/// Waits until no process works in the workspace any more.
fn everybody_is_gone(place: &Place, what: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while super::outside::is_used(&place.work()) {
        assert!(Instant::now() < deadline, "{what}: a process goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn can_be_resumed(place: &Place, running: bool, what: &str) {
    let expected = if running { "stopped" } else { "needs you" };
    assert_eq!(place.sessions()[0]["status"], expected, "{what}");
    let verified = place.run(&["sessions", "verify"]);
    assert_eq!(verified.status.code(), Some(0), "{what}");
}

fn waits_for(terminal: &mut Terminal, place: &Place) {
    let file = place.work().join("pid");
    terminal.until("the command", |_| {
        std::fs::read_to_string(&file).is_ok_and(|pid| !pid.trim().is_empty())
    });
}

#[test]
fn a_signal_to_a_screen_restores_the_terminal_and_leaves_no_process_behind() {
    let mut longest = Duration::ZERO;
    for _ in 0..times("PLANWRIGHT_SIGNALS", 1) {
        for (signal, exit) in SIGNALS {
            for running in [false, true] {
                let what = format!("{signal}, running: {running}");
                let place = Place::new();
                let plan = place.plan(LONG);
                let mut terminal = Terminal::start(&place, &["run", &plan], 40, 120);
                terminal.shows("run this plan?");
                if running {
                    terminal.press_until("a", "this terminal");
                    waits_for(&mut terminal, &place);
                }
                let began = Instant::now();
                send(signal, terminal.child.process_id().unwrap());
                let (code, raw) = terminal.end();
                longest = longest.max(began.elapsed());
                assert_eq!(code, exit, "{what}");
                assert_restored(&raw);
                assert!(!raw.contains("panicked"), "{what}");
                everybody_is_gone(&place, &what);
                can_be_resumed(&place, running, &what);
            }
        }
    }
    println!("the longest end of a screen took {longest:?}");
}

#[test]
fn a_signal_in_linear_mode_ends_cleanly() {
    for (signal, exit) in SIGNALS {
        let place = Place::new();
        let plan = place.plan(LONG);
        let mut terminal = Terminal::start(&place, &["--plain", "run", &plan], 40, 80);
        terminal.shows("Run this plan?");
        // A request accepts no answer at the moment it appears.
        terminal.press_until("what\n", "Not one of the choices");
        terminal.keys("approve\n");
        waits_for(&mut terminal, &place);
        send(signal, terminal.child.process_id().unwrap());
        let (code, _) = terminal.end();
        assert_eq!(code, exit, "{signal}");
        everybody_is_gone(&place, signal);
        can_be_resumed(&place, true, signal);
    }
}

#[test]
fn a_signal_without_a_screen_ends_cleanly() {
    let mut longest = Duration::ZERO;
    for _ in 0..times("PLANWRIGHT_SIGNALS", 1) {
        for (signal, exit) in SIGNALS {
            let place = Place::new();
            let plan = place.plan(LONG);
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
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let spawned = |line: &String| line.contains("\"kind\":\"spawned\"");
            assert!(lines.by_ref().map_while(Result::ok).any(|line| spawned(&line)));
            let began = Instant::now();
            send(signal, child.id());
            lines.map_while(Result::ok).for_each(drop);
            assert_eq!(child.wait().unwrap().code(), Some(exit.cast_signed()), "{signal}");
            longest = longest.max(began.elapsed());
            everybody_is_gone(&place, signal);
            can_be_resumed(&place, true, signal);
        }
    }
    println!("the longest end without a screen took {longest:?}");
}

#[test]
fn a_stopped_and_continued_job_releases_the_terminal_and_takes_it_again() {
    for running in [false, true] {
        let place = Place::new();
        place.plan(LONG);
        let program = assert_cmd::cargo::cargo_bin("planwright");
        let mut terminal = Terminal::program(
            &place,
            "bash",
            &["--norc", "--noprofile", "-i"],
            (40, 120),
            &[("PS1", "ready$ ")],
        );
        terminal.shows("ready$");
        terminal.keys(&format!("'{}' run ../plan.toml\n", program.display()));
        terminal.shows("run this plan?");
        if running {
            terminal.press_until("a", "this terminal");
            waits_for(&mut terminal, &place);
        }
        let shell = terminal.child.process_id().unwrap();
        let job = child_of(shell);
        send("TSTP", job);
        terminal.shows("Stopped");
        assert_restored(&terminal.written());
        terminal.keys("fg\n");
        terminal.until("the screen again", |text| text.contains("Long"));
        terminal.keys("q");
        if running {
            // Quitting during a run needs one confirmation: stop now.
            terminal.shows("leave while it runs?");
            terminal.keys("jj\r");
        }
        terminal.shows("ready$");
        assert_restored(&terminal.written());
        terminal.keys("\x15exit\n");
        terminal.end();
        everybody_is_gone(&place, "stopped");
    }
}

fn child_of(parent: u32) -> u32 {
    let list = format!("/proc/{parent}/task/{parent}/children");
    let children = std::fs::read_to_string(list).unwrap();
    children.split_whitespace().next().unwrap().parse().unwrap()
}

/// An editor that reports where its file is, then waits, and ignores requests to end.
fn waiting_editor(place: &Place) -> String {
    let editor = place.work().join("editor.sh");
    let script = "#!/bin/sh\ntrap '' TERM INT\ngrep -q edited \"$1\" || echo edited >> \"$1\"\necho \"$1\" > file\n\
                  while [ ! -e leave ]; do sleep 0.05; done\n";
    std::fs::write(&editor, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&editor, mode).unwrap();
    editor.to_string_lossy().into_owned()
}

fn edited_file(terminal: &mut Terminal, place: &Place) -> std::path::PathBuf {
    let named = place.work().join("file");
    terminal.until("the editor", |_| {
        std::fs::read_to_string(&named).is_ok_and(|path| path.ends_with('\n'))
    });
    std::fs::read_to_string(&named).unwrap().trim_end().into()
}

#[test]
fn a_signal_while_an_editor_is_open_ends_both_and_keeps_what_was_edited() {
    for (signal, exit) in [("HUP", 129), ("TERM", 143)] {
        let place = Place::new();
        let plan = place.plan(LONG);
        let editor = waiting_editor(&place);
        let environment = [("VISUAL", editor.as_str())];
        let mut terminal = Terminal::start_with(&place, &["run", &plan], 40, 120, &environment);
        terminal.shows("run this plan?");
        terminal.keys("\x07");
        let file = edited_file(&mut terminal, &place);
        send(signal, terminal.child.process_id().unwrap());
        let (code, raw) = terminal.end();
        assert_eq!(code, exit, "{signal}: {raw}");
        assert_restored(&raw);
        assert!(raw.contains(&format!("what it had saved is in {}", file.display())), "{raw}");
        assert!(std::fs::read_to_string(&file).unwrap().ends_with("edited\n"));
        std::fs::remove_file(&file).unwrap();
        everybody_is_gone(&place, signal);
        can_be_resumed(&place, false, signal);
    }
}

#[test]
fn an_interrupt_while_an_editor_is_open_is_the_editors() {
    let place = Place::new();
    let plan = place.plan(LONG);
    let editor = waiting_editor(&place);
    let environment = [("VISUAL", editor.as_str())];
    let mut terminal = Terminal::start_with(&place, &["run", &plan], 40, 120, &environment);
    terminal.shows("run this plan?");
    terminal.keys("\x07");
    let file = edited_file(&mut terminal, &place);
    for signal in ["INT", "QUIT"] {
        send(signal, terminal.child.process_id().unwrap());
    }
    std::fs::write(place.work().join("leave"), "").unwrap();
    // The screen is back, and the editor left a plan that cannot be read.
    terminal.press_until("?", "┌── help");
    assert!(!file.exists());
    terminal.keys("qq");
    let (code, raw) = terminal.end();
    assert_eq!(code, 3, "{raw}");
    assert_restored(&raw);
}
