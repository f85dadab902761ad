//! Standard streams that are closed, full or gone.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::program::{DIAMOND, Place};

/// Whether a process has this working directory.
pub fn is_used(work: &Path) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes
        .filter_map(Result::ok)
        .filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok())
        .any(|cwd| cwd == work)
}

/// Runs the program from a shell, which can close and redirect any stream.
fn in_shell(place: &Place, args: &str, redirections: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin("planwright");
    Command::new("sh")
        .arg("-c")
        .arg(format!("exec '{}' {args} {redirections}", program.display()))
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .current_dir(place.work())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn closed_streams_do_not_stop_or_disturb_the_work() {
    let cases = ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"];
    for redirections in cases {
        let place = Place::new();
        place.plan(DIAMOND);
        let output = in_shell(&place, "run ../plan.toml --headless --yes --json", redirections);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!words.contains("panicked"), "{redirections}: {words}");
        assert_eq!(output.status.code(), Some(0), "{redirections}: {words}");
        assert_eq!(place.sessions()[0]["status"], "done", "{redirections}");
        let done = std::fs::read_to_string(place.work().join("done.txt")).unwrap();
        assert_eq!(done.lines().count(), 4, "{redirections}: {done}");
    }
}

#[test]
fn a_full_standard_output_ends_the_run_cleanly() {
    let place = Place::new();
    place.plan(DIAMOND);
    let output = in_shell(&place, "run ../plan.toml --headless --yes --json", ">/dev/full");
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("standard output") && words.contains("No space left"), "{words}");
    assert!(!words.contains("panicked"), "{words}");
    let resumed = place.run(&["resume", "last", "--headless", "--yes", "--in-doubt", "run"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert_eq!(place.sessions()[0]["status"], "done");
}

#[test]
fn every_command_survives_closed_and_full_streams() {
    let place = Place::new();
    place.plan(DIAMOND);
    assert_eq!(in_shell(&place, "run ../plan.toml --headless --yes", "").status.code(), Some(0));
    for args in [
        "sessions list",
        "sessions show last",
        "replay last --headless",
        "export last --format jsonl",
        "graph ../plan.toml",
        "config show",
        "doctor",
        "plan 'weekly review routine' --headless --yes",
        "--help",
        "--nonsense",
        "run nowhere.toml --headless",
    ] {
        for redirections in [">/dev/full", "2>/dev/full", "<&- >&- 2>&-"] {
            let output = in_shell(&place, args, redirections);
            let code = output.status.code();
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!words.contains("panicked"), "{args} {redirections}: {words}");
            assert!(matches!(code, Some(0..=3)), "{args} {redirections}: {code:?} {words}");
        }
    }
}

#[test]
fn a_screen_without_a_terminal_is_refused_in_a_sentence() {
    for redirections in ["<&-", "</dev/null >/dev/null", ">&-"] {
        let place = Place::new();
        let output = in_shell(&place, "demo", redirections);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{redirections}: {words}");
        assert!(words.contains("--headless"), "{redirections}: {words}");
    }
}
