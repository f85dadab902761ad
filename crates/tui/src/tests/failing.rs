//! A failed task as a card in the panel.

use super::fixture::{Fixture, Shown, pass};
use crate::ui_state::PaneFocus;
use planwright_model::SkipReason;
use planwright_model::event::Command;

fn opened(fixture: &Fixture) -> Shown {
    let mut shown = fixture.live();
    shown.screen.ui.focus = PaneFocus::Approval;
    shown.draw(120, 40);
    pass(300);
    shown
}

fn two_failed() -> Fixture {
    Fixture::running()
        .wait(40)
        .fail("port", 100, "exit 2")
        .skip("tests", SkipReason::DependencyFailed)
}

#[test]
fn what_failed_is_told_with_its_effect_and_what_can_be_done() {
    for (name, fixture) in [("one", Fixture::recorded_work()), ("two", two_failed())] {
        insta::assert_snapshot!(format!("{name}_120x40"), opened(&fixture).panned_frame(120, 40));
        insta::assert_snapshot!(format!("{name}_80x24"), opened(&fixture).frame(80, 24));
    }
    let text = opened(&Fixture::failed()).text(120, 40);
    for words in [
        "Fuzz for 2 minutes failed ━",
        "panicked at src/lexer.rs:88: index out of bounds: the len is 3",
        "3 lines of output",
        "1 skipped: Minimize the crash cases. 9 other tasks are not affected.",
    ] {
        assert!(text.contains(words), "{words:?} in\n{text}");
    }
}

#[test]
fn the_keys_of_the_card_act_on_its_task() {
    let sent = |keys: &[&str]| {
        let mut shown = opened(&Fixture::failed());
        shown.press(keys);
        shown.sent()
    };
    let retry = Command::RetryTask { task: "fuzz".into(), with_dependents: false };
    assert_eq!(sent(&["R"]), Some(retry));
    let skip = Command::SkipTask { task: "fuzz".into(), with_dependents: false };
    assert_eq!(sent(&["S", "a"]), Some(skip));
}

#[test]
fn keys_act_on_the_card_that_was_seen_and_on_no_other() {
    // Both come before a frame: the second was not meant for a card that nobody saw.
    let mut shown = opened(&two_failed());
    shown.press(&["n", "R", "R", "S"]);
    assert_eq!(shown.sent(), None);
    assert!(shown.screen.ui.overlay.is_none());
    // The selection in the graph is about the graph.
    shown.screen.ui.select_task("bench".into());
    shown.draw(120, 40);
    pass(300);
    shown.press(&["R"]);
    let fuzz = Command::RetryTask { task: "fuzz".into(), with_dependents: false };
    assert_eq!(shown.sent(), Some(fuzz));
    // Pressed twice is meant once.
    shown.press(&["R", "R"]);
    assert_eq!(shown.sent(), None);
}

#[test]
fn another_failure_does_not_push_the_card_aside() {
    let mut shown = opened(&Fixture::running());
    shown.grow(&two_failed());
    assert!(shown.text(120, 40).contains("Fuzz for 2 minutes failed ━"));
    shown.press(&["R"]);
    let fuzz = Command::RetryTask { task: "fuzz".into(), with_dependents: false };
    assert_eq!(shown.sent(), Some(fuzz));
}

#[test]
fn a_plan_from_a_file_is_changed_in_the_file() {
    let mut shown = opened(&Fixture::failed());
    shown.press(&["r"]);
    assert!(shown.screen.ui.composer.is_none());
    assert!(shown.text(120, 40).contains("--plan FILE"));
}

#[test]
fn requests_come_first_and_a_new_one_takes_over() {
    let mut shown = opened(&two_failed().ask_plan());
    assert!(shown.text(120, 40).contains("run this plan?"));
    shown.press(&["n"]);
    assert!(shown.text(120, 40).contains("Port the error enum failed ━"));
    shown.press(&["n"]);
    assert!(shown.text(120, 40).contains("Fuzz for 2 minutes failed ━"));
    shown.press(&["n", "N"]);
    assert!(shown.text(120, 40).contains("Fuzz for 2 minutes failed ━"));
    let mut late = opened(&two_failed());
    assert!(late.text(120, 40).contains("Port the error enum failed ━"));
    late.grow(&two_failed().ask_plan());
    assert!(late.text(120, 40).contains("run this plan?"));
}

#[test]
fn a_failure_never_takes_the_focus_and_is_named_where_no_card_is_open() {
    let mut shown = Fixture::running().live();
    shown.grow(&two_failed());
    assert_eq!(shown.screen.ui.focus, PaneFocus::Graph);
    assert!(
        shown
            .text(120, 40)
            .contains("✗ Port the error enum failed: exit 2. 1 task skipped because of it.")
    );
}

#[test]
fn a_task_that_is_retried_leaves_the_panel() {
    let mut shown = opened(&Fixture::running());
    assert!(shown.text(120, 40).contains("Fuzz for 2 minutes failed ━"));
    shown.grow(&Fixture::running().start("fuzz"));
    assert!(!shown.text(120, 40).contains("failed ━"));
    assert_eq!(shown.screen.ui.focus, PaneFocus::Graph);
}

#[test]
fn in_the_past_the_card_is_read_only() {
    let fixture = Fixture::failed();
    let mut shown = fixture.replay(fixture.records.len() as u64);
    shown.screen.ui.focus = PaneFocus::Approval;
    assert!(shown.text(120, 40).contains("Fuzz for 2 minutes failed ┅"));
    shown.press(&["R"]);
    assert_eq!(shown.sent(), None);
}
