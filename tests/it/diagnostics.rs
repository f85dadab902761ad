//! The diagnostic log and the bug report: off by default, bounded, for the owner alone, without secrets and contents.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::program::Place;

const SECRET: &str = "correct-horse-battery-9";

const PLAN: &str = r#"
title = "Title that stays private"
[[tasks]]
id = "speak"
description = "Description that stays private"
run = { shell = "echo output that stays private; echo $DEMO_API_TOKEN" }
"#;

fn run_logged(place: &Place, level: &str, args: &[&str]) -> Output {
    let mut command = place.command(args);
    command.env("PLANWRIGHT_LOG", level).env("DEMO_API_TOKEN", SECRET).output().unwrap()
}

fn log_path(place: &Place) -> PathBuf {
    place.data().join("logs/planwright.log")
}

fn log_text(place: &Place) -> String {
    fs::read_to_string(log_path(place)).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn nothing_is_logged_unless_it_is_asked_for() {
    let place = Place::new();
    let plan = place.plan(PLAN);
    for level in ["", "off"] {
        let output = run_logged(&place, level, &["run", &plan, "--headless", "--yes"]);
        assert!(output.status.success(), "{output:?}");
    }
    assert!(!place.data().join("logs").exists());
}

#[test]
fn a_run_is_logged_for_the_owner_without_secrets_and_contents() {
    let place = Place::new();
    let plan = place.plan(PLAN);
    let output = run_logged(&place, "debug", &["run", &plan, "--headless", "--yes"]);
    assert!(output.status.success(), "{output:?}");
    let text = log_text(&place);
    let session = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    for part in [
        "Planwright started",
        "command=\"run\"",
        "store opened",
        "session started",
        "task.completed",
        "Planwright ended exit=Success",
        &session,
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(!text.contains("stays private") && !text.contains(SECRET), "{text}");
    assert!(text.lines().all(|line| line.contains(" planwright")), "only our own lines:\n{text}");
    assert_eq!((mode(&place.data().join("logs")), mode(&log_path(&place))), (0o700, 0o600));
    let printed = [output.stdout, output.stderr].concat();
    assert!(!String::from_utf8_lossy(&printed).contains("DEBUG"), "the log is a file");
}

#[test]
fn errors_are_logged_without_the_secrets_and_texts_they_name() {
    let place = Place::new();
    let file = format!("no-such-{SECRET}.toml");
    let output = run_logged(&place, "error", &["check", &file]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = run_logged(&place, "error", &["replay", "quoted-name"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = log_text(&place);
    assert_eq!(text.matches("ERROR planwright::cli: the command failed").count(), 2, "{text}");
    assert!(text.contains("no-such-[redacted:loaded_key].toml"), "{text}");
    assert!(!text.contains(SECRET) && !text.contains("quoted-name"), "{text}");
}

#[test]
fn flags_switch_the_log_on_and_directives_choose_its_parts() {
    let check = |args: &[&str], level: &str| {
        let place = Place::new();
        let plan = place.plan(PLAN);
        let all = [&["run", &plan, "--headless", "--yes"], args].concat();
        let output = run_logged(&place, level, &all);
        assert!(output.status.success(), "{output:?}");
        log_text(&place)
    };
    let info = check(&["-v"], "");
    assert!(info.contains(" INFO planwright") && !info.contains("DEBUG"), "{info}");
    assert!(check(&["-vv"], "").contains("DEBUG planwright"));
    assert!(check(&["-v"], "debug").contains("DEBUG planwright"), "a flag only raises");
    let store = check(&[], "store=debug");
    assert!(!store.is_empty() && store.lines().all(|line| line.contains(" planwright_store")));
}

#[test]
fn a_filter_that_means_nothing_is_refused() {
    let place = Place::new();
    for (filter, named) in [("debgu", "`debgu` is not a log level"), ("hyper=debug", "`hyper`")] {
        let output = run_logged(&place, filter, &["themes"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("PLANWRIGHT_LOG") && told.contains(named), "{told}");
        assert!(told.contains("error, warn, info or debug"), "what to do: {told}");
    }
    assert!(!place.data().exists());
}

#[test]
fn a_log_that_cannot_be_written_is_a_warning() {
    let place = Place::new();
    fs::create_dir_all(place.data()).unwrap();
    fs::write(place.data().join("logs"), "in the way").unwrap();
    let output = run_logged(&place, "debug", &["themes"]);
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("warning: no log is written"));
}

#[test]
fn log_files_are_bounded_in_number_and_size() {
    let place = Place::new();
    let log = log_path(&place);
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::set_permissions(place.data(), fs::Permissions::from_mode(0o700)).unwrap();
    let full = 2 * 1024 * 1024;
    for name in ["log", "log.1", "log.2", "log.3", "log.4"] {
        fs::write(log.with_extension(name), format!("{name}\n{}", "x".repeat(full - 20))).unwrap();
    }
    let output = run_logged(&place, "debug", &["sessions", "list"]);
    assert!(output.status.success(), "{output:?}");
    let files: Vec<PathBuf> =
        fs::read_dir(log.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 5, "{files:?}");
    assert!(files.iter().all(|file| fs::metadata(file).unwrap().len() <= full as u64));
    let oldest = fs::read_to_string(log.with_extension("log.4")).unwrap();
    assert!(oldest.starts_with("log.3\n"), "every file moved on by one");
    assert!(log_text(&place).contains("Planwright started"));
}

/// Ends in a panic with a log; only the next test starts it.
#[test]
#[ignore = "a child of the next test"]
fn panic_with_a_log() {
    let data = std::env::var_os("PLANWRIGHT_DATA_DIR").unwrap();
    planwright::start_logging(1, Some(data.as_ref()), "test").unwrap();
    panic!("it broke at `what a file said` near {SECRET}");
}

#[test]
fn a_panic_is_logged_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["diagnostics::panic_with_a_log", "--exact", "--ignored", "--test-threads=1"])
        .env("PLANWRIGHT_DATA_DIR", dir.path())
        .env("DEMO_API_TOKEN", SECRET)
        .env_remove("PLANWRIGHT_LOG")
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
    let text = fs::read_to_string(dir.path().join("logs/planwright.log")).unwrap();
    let line = text.lines().find(|line| line.contains("ERROR")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("panic") && line.contains("tests/it/diagnostics.rs:"), "{line}");
    assert!(line.contains("it broke at `…` near [redacted:loaded_key]"), "{line}");
}

#[test]
fn the_report_has_everything_but_secrets_and_contents() {
    let place = Place::new();
    let plan = place.plan(&PLAN.replace("echo $DEMO", "exit 3 # $DEMO"));
    let output = run_logged(&place, "debug", &["run", &plan, "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let name = format!("no-such-{SECRET}.toml");
    run_logged(&place, "debug", &["check", &name]);
    let output = run_logged(&place, "", &["doctor", "--report", "report.txt", "--theme", SECRET]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let path = place.work().join("report.txt");
    assert!(told.contains("report.txt") && told.lines().count() == 1, "{told}");
    let text = fs::read_to_string(&path).unwrap();
    for part in [
        concat!("planwright ", env!("CARGO_PKG_VERSION")),
        "SQLite 3.",
        "== Machine and terminal ==\nlinux ",
        "theme = \"[redacted:loaded_key]\"  (command line, --theme)",
        "jobs = ",
        "(built in)",
        "ok    store ",
        "== Last errors ==\n",
        "ERROR planwright::cli: the command failed",
        "task failed: exit_status",
        "== Last log lines ==\n",
        "DEBUG planwright",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(!text.contains(SECRET) && !text.contains("stays private"), "{text}");
    assert_eq!(mode(&path), 0o600);
    let again = run_logged(&place, "", &["doctor", "--report", "report.txt"]);
    assert_eq!(again.status.code(), Some(2), "nothing is written over");
    let named = run_logged(&place, "", &["doctor", "--report"]);
    let told = String::from_utf8_lossy(&named.stdout).into_owned();
    assert!(told.contains("planwright-report-"), "{told}");
}

#[test]
fn doctor_help_and_man_page_say_where_the_log_is() {
    let place = Place::new();
    let doctor = run_logged(&place, "", &["doctor"]);
    let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(told.contains("off; it would be") && told.contains("logs/planwright.log"), "{told}");
    for args in ["--help", "man"] {
        let told = String::from_utf8_lossy(&run_logged(&place, "", &[args]).stdout).into_owned();
        assert!(told.contains("PLANWRIGHT_LOG") && told.contains("logs/planwright.log"), "{told}");
    }
}
