//! Output of commands through the whole program: kept in full, in order, and shown again.

use std::path::{Path, PathBuf};

use crate::program::{Place, json_lines};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
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

fn plan(shell: &str) -> String {
    format!(
        "title = \"Talks\"\n[[tasks]]\nid = \"talk\"\ndescription = \"Talk\"\nrun = {{ shell = '''{shell}''' }}\n"
    )
}

#[test]
fn three_megabytes_are_kept_in_order_and_the_journal_stays_small() {
    let place = Place::new();
    let numbers = "i=0; while [ $i -lt 30000 ]; do echo \"line $i ................................................................................\"; i=$((i+1)); done";
    let output = place.run(&["run", &place.plan(&plan(numbers)), "--headless", "--yes", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let records = json_lines(&output);
    let journaled: usize = records
        .iter()
        .map(|record| &record["event"]["body"])
        .filter(|body| body["kind"] == "output" || body["kind"] == "spooled")
        .map(|body| body.to_string().len())
        .sum();
    assert!(journaled < 700_000, "{journaled} bytes of output in the journal");
    let spooled = records.iter().any(|record| record["event"]["body"]["kind"] == "spooled");
    assert!(spooled, "the rest is in the spool");
    let ended = records.iter().find(|record| record["event"]["body"]["kind"] == "concluded");
    assert_eq!(ended.unwrap()["event"]["body"]["dropped_bytes"], 0);
    let log = text(&place.run(&["logs", "last", "talk"]).stdout);
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 30_000);
    for (number, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("line {number} ")), "{number}: {line}");
    }
    assert!(!files(&place.data().join("output")).is_empty());
    let removed = place.run(&["sessions", "rm", "last", "--yes"]);
    assert_eq!(removed.status.code(), Some(0), "{}", text(&removed.stderr));
    assert_eq!(files(&place.data().join("output")), Vec::<PathBuf>::new());
}

#[test]
fn beyond_the_cap_the_beginning_and_the_end_are_kept_and_the_rest_is_counted() {
    let place = Place::new();
    std::fs::write(place.dir.path().join("config.toml"), "output_cap_mb = 1\n").unwrap();
    let numbers = "i=0; while [ $i -lt 30000 ]; do echo \"line $i ................................................................................\"; i=$((i+1)); done";
    let output = place.run(&["run", &place.plan(&plan(numbers)), "--headless", "--yes", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let records = json_lines(&output);
    let ended = records.iter().find(|record| record["event"]["body"]["kind"] == "concluded");
    let body = &ended.unwrap()["event"]["body"];
    let (all, dropped) = (&body["output_bytes"], &body["dropped_bytes"]);
    assert!(dropped.as_u64().unwrap() > 1_500_000, "{body}");
    assert!(all.as_u64().unwrap() - dropped.as_u64().unwrap() <= 1024 * 1024, "{body}");
    let log = text(&place.run(&["logs", "last", "talk"]).stdout);
    assert!(log.contains("line 0 ") && log.contains("line 29999 "), "beginning and end");
}

#[test]
fn streams_attempts_and_secrets_are_told_apart_in_the_log() {
    let place = Place::new();
    let shell = "echo out; echo err >&2; printf '10 %%\\r100 %%\\n'; printf 'token=ghp_%s\\n' abcdefghijklmnopqrstuvwxyz0123456789; exit 3";
    let mut plan = plan(shell);
    plan.push_str("retries = { max = 1, backoff = \"1s\" }\n");
    let output = place.run(&["run", &place.plan(&plan), "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let logs = |more: &[&str]| {
        let mut args = vec!["logs", "last", "talk"];
        args.extend(more);
        text(&place.run(&args).stdout)
    };
    assert_eq!(logs(&["--stderr"]), "err\nerr\n");
    assert_eq!(logs(&["--stderr", "--attempt", "2"]), "err\n");
    assert_eq!(logs(&["--failed", "--attempt", "1"]).lines().count(), 4);
    assert_eq!(logs(&["--since", "2020-01-01T00:00:00Z", "--stderr"]), "err\nerr\n");
    assert!(logs(&[]).contains("\n100 %\n"), "{}", logs(&[]));
    assert!(!logs(&[]).contains("ghp_abcdef"), "{}", logs(&[]));
    for file in files(&place.data().join("output")) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!text(&bytes).contains("ghp_abcdef"), "{}", file.display());
    }
    let unknown = place.run(&["logs", "last", "nothing"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", text(&unknown.stderr));
}

#[test]
fn a_fork_shows_the_output_that_its_past_has_in_spools() {
    let place = Place::new();
    let numbers = "i=0; while [ $i -lt 9000 ]; do echo \"line $i ................................................................................\"; i=$((i+1)); done";
    let mut plan = plan(numbers);
    plan.push_str(
        "[[tasks]]\nid = \"more\"\ndepends_on = [\"talk\"]\nrun = { shell = \"echo more\" }\n",
    );
    let output = place.run(&["run", &place.plan(&plan), "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let whole = text(&place.run(&["logs", "last", "talk"]).stdout);
    assert_eq!(whole.lines().count(), 9_000);
    let parent = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    let made = json_lines(&place.run(&["fork", &parent, "--json"])).remove(0);
    let fork = made["id"].as_str().unwrap().to_owned();
    assert_eq!(text(&place.run(&["logs", &fork, "talk"]).stdout), whole);
    // A fork of the fork, after the first session was removed.
    let made = json_lines(&place.run(&["fork", &fork, "--json"])).remove(0);
    let second = made["id"].as_str().unwrap().to_owned();
    let removed = place.run(&["sessions", "rm", &parent, "--yes"]);
    assert_eq!(removed.status.code(), Some(0), "{}", text(&removed.stderr));
    assert_eq!(text(&place.run(&["logs", &second, "talk"]).stdout), whole);
    for last in [&second, &fork] {
        place.run(&["sessions", "rm", last, "--yes"]);
    }
    assert_eq!(files(&place.data().join("output")), Vec::<PathBuf>::new());
}

#[test]
fn what_is_written_to_a_pipe_goes_through_it_and_leaves_it_in_its_place() {
    use std::os::unix::fs::FileTypeExt as _;
    let place = Place::new();
    let output = place.run(&["run", &place.plan(&plan("echo hello")), "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let pipe = place.work().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let own = pipe.clone();
    let reading = std::thread::spawn(move || std::fs::read_to_string(own).unwrap());
    let written = place.run(&["export", "last", "--format", "markdown", "-o", "pipe"]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    assert!(reading.join().unwrap().contains("Talk"));
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo(), "it was replaced");
}
