//! What a terminal is told when a run needs somebody who looks elsewhere.

use std::time::{Duration, Instant};

use crate::program::Place;
use crate::screen::Terminal;

/// What a terminal sends when its window loses the focus.
const FOCUS_OUT: &str = "\x1b[O";

/// Waits until the terminal was told something, by both sequences that terminals know.
fn is_told(terminal: &mut Terminal, words: &str) {
    let begun = Instant::now();
    for start in ["\x1b]9;", "\x1b]777;notify;Planwright;"] {
        loop {
            terminal.skim();
            let written = terminal.written();
            let mut told = written.split(start).skip(1).filter_map(|it| it.split('\x1b').next());
            if told.any(|text| text.contains(words)) {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(40), "{words}:\n{written}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_question_a_failure_a_task_and_the_end_are_told_while_the_person_looks_elsewhere() {
    let place = Place::new();
    let plan = place.plan(
        "version = 2\n[[tasks]]\nid = \"a\"\ndescription = \"Break it\"\nrun = { shell = \"until [ -e go ]; do sleep 0.02; done; false\" }\n\
         [[tasks]]\nid = \"b\"\ndescription = \"Look at it\"\nrun = { human = {} }\ndepends_on = [\"c\"]\n\
         [[tasks]]\nid = \"c\"\ndescription = \"Begin\"\nrun = { shell = \"until [ -e go ]; do sleep 0.02; done\" }\n",
    );
    let mut terminal = Terminal::start(&place, &["run", &plan, "--yes"], 30, 100);
    terminal.shows("Break it");
    terminal.keys(FOCUS_OUT);
    // A key that is read after it shows that it was read.
    terminal.press_until("?", "┌── help");
    terminal.keys("\x1b");
    terminal.until("the run again", |text| !text.contains("┌── help"));
    assert!(!terminal.written().contains("\x1b]9;"), "nothing has happened yet");
    std::fs::write(place.work().join("go"), "").unwrap();
    is_told(&mut terminal, "Break it failed");
    is_told(&mut terminal, "yours to do: Look at it");
    let id = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    let skipped = place.run(&["skip", &id, "b"]);
    assert_eq!(skipped.status.code(), Some(0), "{}", String::from_utf8_lossy(&skipped.stderr));
    is_told(&mut terminal, "1 of 3 tasks done, 1 failed");
    // The screen shows the end as it does for somebody who looks.
    terminal.shows("finished: 1 of 3 done");
    terminal.keys("q");
    terminal.end();
}

#[test]
fn nothing_is_told_to_somebody_who_looks() {
    let place = Place::new();
    let plan = place.plan("version = 2\n[[tasks]]\nid = \"a\"\nrun = { shell = \"false\" }\n");
    let mut terminal = Terminal::start(&place, &["run", &plan, "--yes"], 30, 100);
    terminal.shows("1 failed");
    terminal.keys("q");
    let (_, raw) = terminal.end();
    assert!(!raw.contains("\x1b]9;") && !raw.contains("\x1b]777;"), "{raw}");
}
