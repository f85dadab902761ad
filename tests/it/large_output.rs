//! Commands that print a lot, fast and for long: everything is kept or counted, in order, and the screen goes on.
//!
//! The suite prints a little; `PLANWRIGHT_OUTPUT_MB=100` sets how many megabytes are printed at full speed and a hundred lines
//! a second.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::program::{Place, json_lines};
use crate::screen::Terminal;

fn megabytes(default: usize) -> usize {
    let stated = std::env::var("PLANWRIGHT_OUTPUT_MB").ok().and_then(|text| text.parse().ok());
    stated.unwrap_or(default)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn plan(shell: &str) -> String {
    format!(
        "version = 2\ntitle = \"Loud\"\n[[tasks]]\nid = \"loud\"\ndescription = \"Print\"\nrun = {{ shell = '''{shell}''' }}\n"
    )
}

/// Runs a plan that may take as long as it prints.
fn run(place: &Place, shell: &str) -> Vec<serde_json::Value> {
    let plan = place.plan(&plan(shell));
    let mut command = place.command(&["run", &plan, "--headless", "--yes", "--json"]);
    let output = command.timeout(std::time::Duration::from_secs(3_600)).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    json_lines(&output)
}

/// The numbers of the lines with a word, as the log has them.
fn numbers(log: &str, word: &str) -> Vec<usize> {
    let number = |line: &str| line.split_whitespace().nth(1).and_then(|it| it.parse().ok());
    log.lines().filter(|line| line.starts_with(word)).filter_map(number).collect()
}

/// So many lines of about a hundred bytes with a word before them.
fn printing(word: &str, lines: usize) -> String {
    let dots = ".".repeat(85);
    format!("awk 'BEGIN {{ for (i = 0; i < {lines}; i++) print \"{word} \" i \" {dots}\" }}'")
}

#[test]
fn at_full_speed_everything_is_kept_in_order() {
    let lines = megabytes(6) * 10_000;
    let place = Place::new();
    let records = run(&place, &printing("line", lines));
    let ended = records.iter().find(|record| record["event"]["body"]["kind"] == "concluded");
    let body = &ended.unwrap()["event"]["body"];
    assert_eq!(body["dropped_bytes"], 0, "{body}");
    let log = text(&place.run(&["logs", "last", "loud"]).stdout);
    assert_eq!(numbers(&log, "line"), (0..lines).collect::<Vec<_>>());
}

#[test]
fn of_more_than_the_cap_beginning_and_end_are_kept_and_one_line_counts_the_rest() {
    let place = Place::new();
    std::fs::write(place.dir.path().join("config.toml"), "output_cap_mb = 1\n").unwrap();
    let lines = 60_000;
    let records = run(&place, &printing("line", lines));
    let ended = records.iter().find(|record| record["event"]["body"]["kind"] == "concluded");
    let body = &ended.unwrap()["event"]["body"];
    let log = text(&place.run(&["logs", "last", "loud"]).stdout);
    let gaps: Vec<&str> = log.lines().filter(|line| line.contains("not kept")).collect();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    let kept: usize =
        log.lines().filter(|line| line.starts_with("line ")).map(|it| it.len() + 1).sum();
    let printed = body["output_bytes"].as_u64().unwrap();
    let counted = body["dropped_bytes"].as_u64().unwrap();
    assert!(counted > 0, "{body}");
    assert_eq!(kept as u64 + counted, printed, "{kept} kept: {body}");
    let found = numbers(&log, "line");
    assert_eq!((found.first(), found.last()), (Some(&0), Some(&(lines - 1))));
    assert!(found.is_sorted() && found.len() < lines, "{}", found.len());
}

#[test]
fn without_a_screen_what_is_not_kept_in_a_row_is_one_line() {
    let place = Place::new();
    std::fs::write(place.dir.path().join("config.toml"), "output_cap_mb = 1\n").unwrap();
    let path = place.plan(&plan(&printing("line", 200_000)));
    let printed = place.run(&["run", &path, "--headless", "--yes", "--progress", "lines"]);
    assert_eq!(printed.status.code(), Some(0), "{}", text(&printed.stderr));
    let shown = text(&printed.stdout);
    let shown: Vec<&str> = shown.lines().map(str::trim).collect();
    let is_gap = |line: &&str| line.contains("not kept");
    let in_a_row = shown.windows(2).filter(|pair| is_gap(&pair[0]) && is_gap(&pair[1])).count();
    assert_eq!(in_a_row, 0);
    assert!(shown.iter().any(|line| line.starts_with("line 199999")), "the end is there");
}

#[test]
fn both_streams_at_full_speed_keep_the_order_of_each_and_one_stream_that_of_both() {
    let lines = megabytes(4) * 5_000;
    let place = Place::new();
    let (out, err) = (printing("out", lines), printing("err", lines));
    run(&place, &format!("{out} & {err} >&2; wait"));
    let log = text(&place.run(&["logs", "last", "loud"]).stdout);
    assert_eq!(numbers(&log, "out"), (0..lines).collect::<Vec<_>>());
    assert_eq!(numbers(&log, "err"), (0..lines).collect::<Vec<_>>());
    let only = text(&place.run(&["logs", "last", "loud", "--stderr"]).stdout);
    assert_eq!(only.lines().count(), lines);
    // A command that joins its streams has one order.
    let place = Place::new();
    run(
        &place,
        "i=0; while [ $i -lt 4000 ]; do echo \"both $i\"; i=$((i+1)); echo \"both $i\" >&2; i=$((i+1)); done 2>&1",
    );
    let log = text(&place.run(&["logs", "last", "loud"]).stdout);
    assert_eq!(numbers(&log, "both"), (0..4_000).collect::<Vec<_>>());
}

#[test]
fn lines_of_both_streams_come_in_the_order_in_which_they_were_written() {
    const LINES: usize = 60;
    let place = Place::new();
    // Each line is written once the one before it has arrived, so that no pause has to be long enough.
    let shell = format!(
        "i=0; while [ $i -lt {LINES} ]; do until [ -e go$i ]; do sleep 0.01; done; \
         if [ $((i % 3)) = 0 ]; then echo \"line $i.\" >&2; else echo \"line $i.\"; fi; i=$((i+1)); done"
    );
    let plan = place.plan(&plan(&shell));
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("planwright"));
    command
        .args(["run", &plan, "--headless", "--yes", "--json"])
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .current_dir(place.work())
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    std::fs::write(place.dir.path().join("config.toml"), "").unwrap();
    let mut child = command.spawn().unwrap();
    let mut next = 0;
    std::fs::write(place.work().join("go0"), "").unwrap();
    for record in BufReader::new(child.stdout.take().unwrap()).lines() {
        if record.unwrap().contains(&format!("\"line {next}.\\n\"")) {
            next += 1;
            std::fs::write(place.work().join(format!("go{next}")), "").unwrap();
        }
    }
    assert!(child.wait().unwrap().success());
    let log = text(&place.run(&["logs", "last", "loud"]).stdout);
    let expected: Vec<String> = (0..LINES).map(|line| format!("line {line}.")).collect();
    assert_eq!(log.lines().collect::<Vec<_>>(), expected);
    let errors = text(&place.run(&["logs", "last", "loud", "--stderr"]).stdout);
    assert_eq!(errors.lines().count(), LINES / 3);
}

/// With `PLANWRIGHT_OUTPUT_MB=100` this prints a hundred megabytes and takes two minutes.
#[test]
fn a_hundred_lines_a_second_are_all_kept() {
    // Ten kilobytes a line, in turns to both streams.
    let lines = megabytes(1) * 100;
    let place = Place::new();
    let shell = format!(
        "dots=$(printf '%9980s' | tr ' ' .); i=0; while [ $i -lt {lines} ]; do echo \"line $i $dots\"; i=$((i+1)); sleep 0.01; \
         echo \"line $i $dots\" >&2; i=$((i+1)); sleep 0.01; done"
    );
    let records = run(&place, &shell);
    let ended = records.iter().find(|record| record["event"]["body"]["kind"] == "concluded");
    assert_eq!(ended.unwrap()["event"]["body"]["dropped_bytes"], 0);
    let log = text(&place.run(&["logs", "last", "loud"]).stdout);
    assert!(log.lines().all(|line| line.len() > 9_980), "whole lines");
    // Two lines of different streams change places where the machine did not let us look in between.
    let mut found = numbers(&log, "line");
    let moved = found.iter().zip(0..).filter(|(found, line)| *found != line).count();
    println!("{moved} of {lines} lines were not at their place");
    found.sort_unstable();
    assert_eq!(found, (0..lines).collect::<Vec<_>>());
}

#[test]
fn the_screen_follows_beyond_what_the_journal_and_the_spool_hold() {
    let place = Place::new();
    // Prints more than the journal holds and more than the spool keeps, and waits in between.
    let part = |number: usize| {
        format!(
            "{}; echo; echo \"part {number} is out\"; until [ -e go{number} ]; do sleep 0.02; done",
            printing("line", 8_000)
        )
    };
    let shell: Vec<String> = (1..=4).map(part).collect();
    let plan = place.plan(&plan(&shell.join("; ")));
    let settings = "output_cap_mb = 1\n";
    let mut terminal = Terminal::start(&place, &["run", &plan], 30, 100);
    terminal.shows("run this plan?");
    std::fs::write(place.dir.path().join("config.toml"), settings).unwrap();
    terminal.press_until("a", "this terminal");
    for number in 1..=4 {
        terminal.shows(&format!("part {number} is out"));
        std::fs::write(place.work().join(format!("go{number}")), "").unwrap();
    }
    terminal.shows("1 of 1 done");
    terminal.keys("q");
    terminal.end();
}

#[test]
fn colors_of_commands_are_shown_on_the_screen_and_nothing_else_of_their_escapes() {
    let place = Place::new();
    let shell = "printf '\\033[31mred words\\033[0m plain words\\n\\033]0;a title\\007\\033[2Jafter\\n'; until [ -e go ]; do sleep 0.02; done";
    let plan = place.plan(&plan(shell));
    let mut terminal = Terminal::start(&place, &["run", &plan, "--yes"], 30, 100);
    terminal.shows("after");
    terminal.press_until("o", "red words plain words");
    let color = |terminal: &Terminal, words: &str| {
        let lines: Vec<String> = terminal.text().lines().map(str::to_owned).collect();
        let row = lines.iter().position(|line| line.contains("red words plain words")).unwrap();
        let column = lines[row].split(words).next().unwrap().chars().count();
        let cell =
            terminal.parser.screen().cell(row.try_into().unwrap(), column.try_into().unwrap());
        cell.unwrap().fgcolor()
    };
    let (red, plain) = (color(&terminal, "red words"), color(&terminal, "plain words"));
    assert_ne!(red, plain, "{}", terminal.text());
    assert!(!terminal.written().contains("\x1b]0;"), "a title is not for our terminal");
    std::fs::write(place.work().join("go"), "").unwrap();
    terminal.keys("\x1b");
    terminal.shows("1 of 1 done");
    terminal.keys("q");
    terminal.end();
}
