//! A run with three causes of failure among three hundred tasks, as somebody finds it who has to know why.

use std::fmt::Write as _;

use crate::program::Place;
use crate::screen::Terminal;

/// Three tasks panic, each after some output; sixty-four others need each of them.
fn failing_plan() -> String {
    let mut plan = "version = 2\ntitle = \"Nightly\"\n".to_owned();
    for task in 0..300 {
        let (root, needs) = (task % 100 == 37, task % 100 > 35 && task % 100 != 37);
        let command = if root {
            format!(
                "i=0; while [ $i -lt 40 ]; do echo frame_$i; i=$((i+1)); done; \
                 echo \"thread 'main' panicked at src/lexer_{task}.rs:88:22:\" >&2; \
                 echo 'index out of bounds: the len is 3 but the index is 3' >&2; \
                 echo 'note: run with RUST_BACKTRACE=1' >&2; exit 101"
            )
        } else {
            "true".to_owned()
        };
        let _ = write!(
            plan,
            "[[tasks]]\nid = \"t{task:04}\"\ndescription = \"Step {task}\"\nrun = {{ shell = '''{command}''' }}\n"
        );
        if needs {
            let _ = writeln!(plan, "depends_on = [\"t{:04}\"]", task / 100 * 100 + 37);
        }
    }
    plan
}

#[test]
fn without_a_screen_the_run_ends_with_the_three_causes() {
    let place = Place::new();
    let plan = place.plan(&failing_plan());
    let output = place.run(&["run", &plan, "--headless", "--yes", "--jobs", "8"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    for task in [37, 137, 237] {
        let cause = format!("Step {task} failed: ");
        let at = lines.iter().position(|line| line.starts_with(&cause));
        let at = at.unwrap_or_else(|| panic!("{cause} is not in\n{said}"));
        assert!(lines[at].contains("index out of bounds"), "{}", lines[at]);
        assert!(lines[at].ends_with("63 tasks skipped because of it"), "{}", lines[at]);
        let tail = &lines[at + 1..at + 16];
        assert!(tail.iter().all(|line| line.starts_with("  ")), "{tail:?}");
        assert!(tail[14].contains("RUST_BACKTRACE"), "the last 15 lines: {tail:?}");
    }
    // Nothing but where it stands and how to go on comes after them.
    let last = lines.iter().rposition(|line| line.contains(" failed: ")).unwrap();
    assert!(lines.len() - last < 22, "{said}");
    assert!(said.contains("resume") && said.contains("108 of 300 done"), "{said}");
    // On standard output a skip is told once for each cause, and not 189 times.
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let skips = printed.lines().filter(|line| line.contains("skipped")).count();
    assert!(skips <= 12, "{skips} lines about skips");
}

#[test]
fn on_the_screen_the_message_is_at_most_four_keys_away() {
    for (rows, cols) in [(24, 80), (40, 120)] {
        let place = Place::new();
        let plan = place.plan(&failing_plan());
        let args = ["run", plan.as_str(), "--yes", "--jobs", "8"];
        let mut terminal = Terminal::start(&place, &args, rows, cols);
        terminal.until("the end of the run", |text| text.contains("3 failed"));
        let mut keys = 0;
        let message = "index out of bounds: the len is 3";
        while !terminal.text().contains(message) {
            assert!(keys < 4, "after {keys} keys:\n{}", terminal.text());
            let before = terminal.text();
            terminal.keys("n");
            keys += 1;
            terminal.until("another screen", |text| *text != before);
        }
        // The frames before it are there as well, and the other two failures are one key further each.
        terminal.press_until("n", "lexer_137");
        terminal.press_until("n", "lexer_237");
        terminal.keys("q");
        let (code, _) = terminal.end();
        assert_eq!(code, 1);
    }
}

/// With `fail_fast` what runs is ended: it says because of what, and a service is just ended.
#[test]
fn what_is_cancelled_because_another_task_failed_says_so() {
    let place = Place::new();
    let plan = place.plan(
        "version = 2\nfail_fast = true\n\
         [[tasks]]\nid = \"web\"\nrun = { shell = \"exec sleep 600\" }\nservice = { ready = \"true\" }\n\
         [[tasks]]\nid = \"a\"\nrun = { shell = \"until [ -e up ]; do sleep 0.02; done; exit 3\" }\ndepends_on = [\"web\"]\n\
         [[tasks]]\nid = \"b\"\nrun = { shell = \"touch up; sleep 600\" }\ndepends_on = [\"web\"]\n",
    );
    let output = place.run(&["run", &plan, "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    let end = String::from_utf8(output.stderr).unwrap();
    assert!(end.contains("a failed: exit 3"), "{end}");
    assert!(end.contains("b failed: cancelled because a failed"), "{end}");
    assert!(!end.contains("web failed"), "{end}");
    assert!(end.contains("failed, 1 of 3 done"), "{end}");
}
