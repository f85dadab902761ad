//! Watching a run: its output, what ran when, what needs the person, and its end.

use super::fixture::{Fixture, Shown, release_plan};
use crate::panes::plan::PlanView;
use crate::session::ExternalAction;
use crate::ui_state::PaneFocus;
use planwright_model::SkipReason;
use planwright_model::event::{CallEvent, Command, OutputStream};
use planwright_model::{CallId, RunKind, TaskLink};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn shown(fixture: &Fixture, keys: &[&str], (width, height): (u16, u16)) -> Shown {
    let mut shown = fixture.live();
    shown.draw(width, height);
    for key in keys {
        shown.press(&[key]);
        shown.draw(width, height);
    }
    shown
}

/// Output of both streams, with colors.
fn noisy() -> Fixture {
    let call = CallId { task: "port".into(), attempt: 1, step: 1 };
    let error = "\u{1b}[1m\u{1b}[33mwarning\u{1b}[0m: unused variable: `at`\u{1b}[2J\n";
    Fixture::running()
        .output("port", "running 214 tests\ntest errors::unexpected_eof ... ok\n")
        .with(CallEvent::Output { call, stream: OutputStream::Stderr, text: error.to_owned() })
        .output("port", "test recovery::deeply_nested ... ok\ntest result: ok. 214 passed\n")
}

#[test]
fn the_output_of_a_task_has_the_full_width() {
    for size in SIZES {
        let fixture = Fixture::recorded_run("14:32:10");
        let mut live = fixture.live();
        live.screen.ui.select_task("tests".into());
        live.draw(size.0, size.1);
        live.press(&["o"]);
        let mut shown = live;
        insta::assert_snapshot!(
            format!("output_{}x{}", size.0, size.1),
            shown.panned_frame(size.0, size.1)
        );
    }
    let mut shown = shown(&noisy(), &["o", "z"], (120, 40));
    let text = shown.text(120, 40);
    assert!(text.contains("output · Port the error enum · agent · attempt 1"), "{text}");
    assert!(!text.contains("graph"), "the log has the whole screen:\n{text}");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains('│')).collect();
    assert!(lines.iter().any(|line| line.contains("! │ warning: unused variable")), "{text}");
    let at = |words: &str| lines.iter().position(|line| line.contains(words)).unwrap();
    assert!(at("unexpected_eof") < at("warning"), "both streams are in one order:\n{text}");
    assert!(at("warning") < at("deeply_nested"), "{text}");
    shown.press(&["/", "r", "e", "s", "u", "l", "t"]);
    assert!(shown.text(120, 40).contains("line 7 of 7, 1 match"), "{}", shown.text(120, 40));
    shown.press(&["Esc", "Esc"]);
    assert!(shown.text(120, 40).contains("graph"), "the others have their room back");
    shown.press(&["Esc"]);
    assert_eq!(shown.screen.ui.focus, PaneFocus::Graph);
}

#[test]
fn a_search_in_the_log_of_a_recorded_run() {
    let mut shown = Fixture::recorded_run("14:37:27").live();
    shown.screen.ui.select_task("tests".into());
    shown.draw(120, 40);
    shown.press(&["o", "z", "/"]);
    shown.type_text("result");
    insta::assert_snapshot!("output_search_120x40", shown.frame(120, 40));
}

#[test]
fn the_output_is_searched_followed_and_copied() {
    let mut many = Fixture::running();
    for number in 0..200 {
        many = many.output("port", &format!("line {number}\n"));
    }
    let mut shown = shown(&many, &["o"], (120, 40));
    assert!(shown.text(120, 40).contains("line 199"));
    shown.press(&["/", "l", "i", "n", "e", "Space", "4", "2", "Enter"]);
    let text = shown.text(120, 40);
    assert!(text.contains("│ line 42") && !text.contains("│ line 199"), "{text}");
    shown.press(&["f"]);
    assert!(shown.text(120, 40).contains("line 199"));
    shown.press(&["Home"]);
    assert!(shown.text(120, 40).contains("Compiling parser"));
    shown.press(&["T"]);
    let text = shown.text(120, 40);
    assert!(text.contains("output · all tasks"), "{text}");
    shown.press(&["y"]);
    assert!(shown.screen.next_external_action().is_some());
}

#[test]
fn a_log_is_narrowed_unwrapped_and_read_in_the_pager() {
    let mut long = Fixture::running();
    for number in 0..60 {
        long = long.output("port", &format!("line {number} {}\n", "x".repeat(150)));
    }
    let long = long.output("port", "error: no row 7\nnote: after it\n");
    let mut shown = shown(&long, &["o"], (120, 40));
    // Without a search the key for the next thing goes to an error.
    shown.press(&["Home", "n"]);
    let text = shown.text(120, 40);
    let error = text.lines().find(|line| line.contains("error: no row 7")).unwrap();
    assert!(error.starts_with('►'), "{text}");
    shown.press(&["Home", "Z"]);
    let text = shown.text(120, 40);
    let rows = |text: &str| text.lines().filter(|line| line.contains("│ line ")).count();
    assert!(rows(&text) > 10 && text.contains("xx…"), "one row for a line:\n{text}");
    assert_eq!(text.lines().filter(|line| line.contains("│ xxx")).count(), 0, "{text}");
    shown.press(&["l"]);
    assert_eq!(rows(&shown.text(120, 40)), 0, "the beginning is out of sight");
    shown.press(&["h", "="]);
    assert!(shown.text(120, 40).contains("Search first with /"));
    shown.press(&["/"]);
    shown.type_text("line 4");
    shown.press(&["Enter", "="]);
    let text = shown.text(120, 40);
    assert!(text.contains("11 with \"line 4\"") && rows(&text) == 11, "{text}");
    insta::assert_snapshot!("output_matches_120x40", shown.frame(120, 40));
    shown.press(&["="]);
    assert!(shown.text(120, 40).contains("│ line 5 "), "all lines are back");
    shown.press(&["Ctrl-g"]);
    let Some(ExternalAction::Page { text }) = shown.screen.next_external_action() else {
        panic!("the pager is asked for");
    };
    assert!(text.contains("line 0 xx") && text.contains("note: after it"));
}

#[test]
fn matches_of_one_log_are_not_shown_in_another() {
    let mut both = Fixture::running();
    for number in 0..80 {
        both = both.output("docs", &format!("row {number}\n"));
    }
    let mut shown = shown(&both, &["o"], (120, 40));
    shown.press(&["/"]);
    shown.type_text("compiling");
    shown.press(&["Enter", "="]);
    assert!(shown.text(120, 40).contains("│    Compiling parser"), "{}", shown.text(120, 40));
    shown.screen.ui.output.task = Some("docs".into());
    let text = shown.text(120, 40);
    assert!(text.contains("0 with \"compiling\"") && !text.contains("│ row"), "{text}");
}

#[test]
fn the_failure_of_a_recorded_run_is_a_card_with_cause_and_exit_code() {
    for size in SIZES {
        let mut shown = shown(&Fixture::recorded_run("14:17:00"), &["n"], size);
        insta::assert_snapshot!(
            format!("failure_{}x{}", size.0, size.1),
            shown.panned_frame(size.0, size.1)
        );
    }
}

#[test]
fn the_timeline_shows_what_ran_when() {
    for size in SIZES {
        let mut shown = shown(&Fixture::recorded_run("15:20:00"), &["4"], size);
        assert_eq!(shown.screen.ui.view.kind, PlanView::Timeline);
        insta::assert_snapshot!(
            format!("timeline_{}x{}", size.0, size.1),
            shown.panned_frame(size.0, size.1)
        );
    }
    let mut shown = shown(&Fixture::failed(), &["4"], (120, 40));
    let text = shown.text(120, 40);
    let fuzz = text.lines().find(|line| line.contains("✗ Fuzz for 2 minutes")).unwrap();
    assert!(fuzz.contains("▓✗"), "{text}");
    assert!(text.contains("at once") && text.contains("at most 2 at once"), "{text}");
}

#[test]
fn the_end_of_a_run_is_summed_up_until_it_is_closed() {
    for (width, height) in SIZES {
        let mut shown = Fixture::recorded_run("15:19:40").live();
        shown.draw(width, height);
        shown.grow(&Fixture::recorded_run("15:20:00"));
        shown.settle_files();
        insta::assert_snapshot!(
            format!("finished_{width}x{height}"),
            shown.panned_frame(width, height)
        );
    }
    let mut shown = Fixture::running().live();
    shown.draw(120, 40);
    shown.grow(&Fixture::failed());
    let text = shown.text(120, 40);
    for words in
        ["finished: 5 of 11 done, 1 failed, 1 skipped", "index out of bounds at src/lexer.rs:88"]
    {
        assert!(text.contains(words), "{words:?} in\n{text}");
    }
    let parting = shown.screen.exit_summary(crate::ExitReason::Quit);
    assert!(
        parting.contains("✗ Fuzz for 2 minutes: index out of bounds at src/lexer.rs:88"),
        "{parting}"
    );
    super::fixture::pass(400);
    shown.press(&["R"]);
    let retry = Command::RetryTask { task: "fuzz".into(), with_dependents: false };
    assert_eq!(shown.sent(), Some(retry));
    let mut closed = Fixture::running().live();
    closed.draw(120, 40);
    closed.grow(&Fixture::failed());
    closed.draw(120, 40);
    closed.press(&["Esc"]);
    assert!(!closed.text(120, 40).contains("finished: 5 of 11"));
}

/// Three hundred tasks in chains of ten; the first of three chains fails.
fn three_hundred() -> Fixture {
    let mut plan = release_plan();
    let first = plan.tasks[0].clone();
    plan.tasks.clear();
    for number in 0..300_usize {
        let mut task = first.clone();
        task.id = format!("t{number:04}").as_str().into();
        task.description = format!("Check part {number}");
        task.run = RunKind::Shell(format!("./check {number}"));
        task.dependencies = match number {
            0..30 => Vec::new(),
            _ => vec![TaskLink::finish_to_start(format!("t{:04}", number - 30).as_str())],
        };
        plan.tasks.push(task);
    }
    let mut fixture = Fixture::new("Nightly").propose(plan, vec![]).approved();
    for number in [3, 7, 21] {
        let id = format!("t{number:04}");
        fixture = fixture
            .start(&id)
            .output(&id, "checking\n")
            .output(&id, &format!("error: row {number} has no key\nmake: *** [check] Error 2\n"))
            .fail(&id, 4, "exit 2");
        for after in (number + 30..300).step_by(30) {
            fixture = fixture.skip(&format!("t{after:04}"), SkipReason::DependencyFailed);
        }
    }
    fixture
}

#[test]
fn the_cause_of_a_failure_among_three_hundred_tasks_takes_one_key() {
    let fixture = three_hundred();
    let mut watching = shown(&fixture, &[], (120, 40));
    let text = watching.text(120, 40);
    assert!(text.contains("needs you 3"), "skips are counted under their failures:\n{text}");
    assert!(
        text.contains(
            "Check part 3 failed: error: row 3 has no key. 9 tasks skipped because of it."
        ),
        "{text}"
    );
    watching.press(&["n"]);
    let card = watching.text(120, 40);
    for words in [
        "Check part 3 failed ━",
        "error: row 3 has no key",
        "3 lines of output",
        "9 skipped: Check part 33,",
    ] {
        assert!(card.contains(words), "{words:?} in\n{card}");
    }
    watching.press(&["n"]);
    assert!(watching.text(120, 40).contains("Check part 7 failed ━"));
    watching.press(&["o"]);
    let log = watching.text(120, 40);
    assert!(log.contains("output · Check part 7"), "{log}");
}

#[test]
fn failures_in_the_activity_are_three_and_not_thirty() {
    let fixture = three_hundred();
    let mut watching = shown(&fixture, &["Tab"], (120, 40));
    watching.screen.ui.trace.kinds = crate::panes::trace::TraceKindFilter::Failures;
    let text = watching.text(120, 40);
    assert_eq!(text.matches("✗ failed after").count(), 3, "{text}");
    assert_eq!(text.matches("9 tasks are skipped because of it").count(), 3, "{text}");
}

#[test]
fn nothing_that_happens_moves_a_box() {
    let boxes = |fixture: &Fixture| {
        let mut shown = fixture.live();
        shown.draw(120, 40);
        let text = shown.text(120, 40);
        let places: Vec<(usize, usize)> = ["Sort the open", "Publish the", "migration guide"]
            .iter()
            .map(|title| {
                let row = text.lines().position(|line| line.contains(title)).unwrap();
                let line = text.lines().nth(row).unwrap();
                (row, line[..line.find(title).unwrap()].chars().count())
            })
            .collect();
        places
    };
    let before = boxes(&Fixture::release().approved());
    assert_eq!(boxes(&Fixture::running()), before);
    assert_eq!(boxes(&Fixture::failed()), before);
}

#[test]
fn every_pane_can_have_the_whole_screen() {
    let fixture = Fixture::recorded_run("14:22:24");
    let whole = |keys: &[&str], size: (u16, u16)| {
        let mut shown = shown(&fixture, keys, size);
        shown.text(size.0, size.1)
    };
    for size in SIZES {
        let graph = whole(&["z"], size);
        assert!(!graph.contains("── now") && graph.contains("Port the error"), "{graph}");
        assert!(graph.lines().last().unwrap().contains("z leave full screen"), "{graph}");
        let trace = whole(&["Tab", "z"], size);
        assert!(trace.contains("The edit compiles only if"), "{trace}");
        assert!(!trace.contains("┏━ ✓"), "{trace}");
        // Moving on to another pane shows that one.
        let next = whole(&["z", "Tab"], size);
        assert_eq!(next, trace);
    }
    let mut shown = shown(&fixture, &["z", "Esc"], (120, 40));
    assert!(shown.text(120, 40).contains("── now"), "Esc gives the others their room back");
    let card = whole(&["n", "z"], (120, 40));
    assert!(card.contains("last 15 of") && !card.contains("graph ━"), "{card}");
}

#[test]
fn a_full_screen_of_a_draft_keeps_its_question_and_a_card_ends_it() {
    let mut shown = shown(&Fixture::release(), &["z"], (120, 40));
    let text = shown.text(120, 40);
    assert!(text.contains("run this plan?") && text.contains("a  approve"), "{text}");
    let fixture = Fixture::recorded_run("14:16:41");
    let mut run = fixture.live();
    run.draw(120, 40);
    run.press(&["z"]);
    run.screen.ui.focus = PaneFocus::Scrub;
    run.press(&["z"]);
    assert!(run.text(120, 40).contains("z: the scrub bar has one size"));
}

#[test]
fn a_link_that_is_not_simply_after_is_named() {
    let mut plan = super::fixture::release_plan();
    let docs = plan.tasks.iter_mut().find(|task| task.id.as_str() == "docs").unwrap();
    docs.dependencies[0].kind = planwright_model::LinkKind::SS;
    docs.dependencies[0].lag_minutes = 60;
    let fixture = Fixture::new("Release").propose(plan, vec![]).ask_plan().approved();
    for (width, height) in [(160, 44), (200, 60), (120, 60)] {
        let text = fixture.live().text(width, height);
        assert!(text.contains("starts with, +1 h"), "{width}x{height}:\n{text}");
    }
    insta::assert_snapshot!("named_link_160x44", fixture.live().frame(160, 44));
}
