//! Tasks that have the terminal while they run: the screen steps aside, and what they print is kept.

use std::time::{Duration, Instant};

use crate::program::Place;
use crate::screen::Terminal;

const ASKS: &str = r#"
title = "Asks"
[[tasks]]
id = "ask"
description = "Ask for a name"
interactive = true
run = { shell = "test -t 0 && test -t 1 && stty size; printf 'your name? '; read name; echo \"hello $name\"; echo $name > name.txt" }
[[tasks]]
id = "again"
description = "Ask once more"
interactive = true
run = { shell = "printf 'your age? '; read age; echo $age > age.txt" }
[[tasks]]
id = "after"
description = "After both"
depends_on = ["ask", "again"]
run = { shell = "cat name.txt age.txt > all.txt" }
"#;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_task_has_the_terminal_and_the_screen_comes_back_after_it() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", &place.plan(ASKS), "--yes"], 30, 100);
    terminal.shows("Ask for a name has the terminal until it ends.");
    terminal.shows("your name?");
    terminal.keys("Ann\r");
    // One at a time: the second has it once the first has ended.
    terminal.shows("your age?");
    terminal.keys("42\r");
    // What is typed at the very moment in which the terminal changes hands may be lost.
    let typed = Instant::now();
    while !terminal.text().contains("3 of 3") && typed.elapsed() < Duration::from_secs(15) {
        terminal.look();
    }
    if !terminal.text().contains("3 of 3") {
        terminal.keys("42\r");
    }
    terminal.until("the end of the run", |shown| shown.contains("3 of 3"));
    terminal.keys("q");
    terminal.end();
    let all = std::fs::read_to_string(place.work().join("all.txt")).unwrap();
    assert_eq!(all, "Ann\n42\n");
    let log = text(&place.run(&["logs", "last", "ask"]).stdout);
    assert!(log.contains("30 100"), "a terminal of the same size: {log}");
    assert!(log.contains("hello Ann"), "what it printed is kept: {log}");
}

#[test]
fn without_a_screen_such_a_plan_is_refused_before_anything_runs() {
    let place = Place::new();
    let plan = place.plan(ASKS);
    for more in [&["--headless"][..], &["--plain"], &["--detach"], &["--json"]] {
        let mut args = vec!["run", plan.as_str(), "--yes"];
        args.extend(more);
        let output = place.run(&args);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", text(&output.stderr));
        let said = text(&output.stderr);
        assert!(said.contains("task `ask` has the terminal while it runs"), "{more:?}: {said}");
    }
    assert!(place.sessions().is_empty());
    let other = place
        .plan(&format!("{ASKS}[[tasks]]\nid = \"other\"\nrun = {{ shell = \"touch other\" }}\n"));
    let output = place.run(&["run", &other, "other", "--yes", "--headless"]);
    assert_eq!(output.status.code(), Some(0), "tasks that need none run: {}", text(&output.stderr));
}
