//! Low limits on open files: at any limit, every command works or reports in a sentence that it cannot.

use std::process::{Command, Output};

use crate::program::Place;
use crate::screen::Terminal;

const PLAN: &str = "title = \"Small\"\n[[tasks]]\nid = \"a\"\ndescription = \"Say hi\"\nrun = { shell = \"echo hi\" }\n";
const LIMITS: [u32; 9] = [8, 10, 12, 14, 16, 20, 25, 32, 40];

/// The program, started by a shell that lowers the limit first.
fn limited(limit: u32) -> [String; 3] {
    let program = assert_cmd::cargo::cargo_bin("planwright");
    let script = format!("ulimit -n {limit} && exec \"$0\" \"$@\"");
    ["-c".to_owned(), script, program.to_string_lossy().into_owned()]
}

fn run(place: &Place, limit: u32, args: &[&str]) -> Output {
    std::fs::write(place.dir.path().join("config.toml"), "").unwrap();
    Command::new("/bin/sh")
        .args(limited(limit))
        .args(args)
        .current_dir(place.work())
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .output()
        .unwrap()
}

#[test]
fn few_descriptors_are_a_sentence_and_never_a_panic() {
    for limit in LIMITS {
        let place = Place::new();
        let plan = place.plan(PLAN);
        let goal = ["--provider", "offline", "plan", "--headless", "--yes", "launch a newsletter"];
        let commands: [&[&str]; 3] =
            [&goal, &["run", &plan, "--headless", "--yes"], &["sessions", "list"]];
        for args in commands {
            let output = run(&place, limit, args);
            let printed = String::from_utf8_lossy(&output.stderr).into_owned();
            let what = format!("{args:?} with {limit}: {printed}");
            assert!(!printed.contains("panicked"), "{what}");
            match output.status.code() {
                Some(0) => {}
                Some(1) => assert!(!printed.trim().is_empty(), "{what}"),
                other => panic!("exit {other:?}: {what}"),
            }
            if limit <= 16 && args.contains(&"--headless") {
                assert!(printed.contains("raise the limit on open files"), "{what}");
            }
            assert!(limit < 40 || output.status.success(), "{what}");
        }
    }
}

#[test]
fn a_screen_with_few_descriptors_reports_it_on_a_restored_terminal() {
    for limit in LIMITS {
        let place = Place::new();
        let words = limited(limit);
        let args: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut terminal = Terminal::program(&place, "/bin/sh", &args, (24, 80), &[]);
        terminal.until("home, or the reason why not", |text| {
            text.contains("What do you want to get done?") || text.contains("open files")
        });
        let shown = terminal.text();
        if shown.contains("What do you want to get done?") {
            terminal.press_until("\x1b", "q quit");
            terminal.keys("q");
        }
        let (code, raw) = terminal.end();
        assert!(!raw.contains("panicked"), "{limit}: {raw}");
        assert!(code <= 1, "{limit}: {code}");
    }
}
