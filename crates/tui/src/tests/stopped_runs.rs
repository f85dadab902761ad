//! Runs that were stopped in the middle, as home and their own screen show them.

use super::fixture::{Fixture, pass, text_of};
use super::home_views::view_of;
use super::sessions::stage;
use crate::ExitReason;
use crate::session::{ScreenEffect, ScreenMessage};

#[test]
fn a_stopped_run_that_asks_needs_the_person_once_and_is_not_running() {
    let asks = Fixture::in_doubt().state();
    let stopped = Fixture::recorded_work().interrupted().state();
    for (name, state, need) in
        [("asks", asks, "Did this command finish?"), ("stopped", stopped, "Stopped before the end")]
    {
        let mut home = stage(view_of(vec![("aaaaaa000000", state)]));
        let text = text_of(&home.draw(120, 40));
        assert_eq!(text.matches(need).count(), 1, "{name}\n{text}");
        let both = text.contains("Did this command") && text.contains("Stopped before");
        assert!(!both, "{name}\n{text}");
        assert!(!text.contains("running 1"), "{name}\n{text}");
    }
}

#[test]
fn a_run_whose_changes_cannot_be_saved_is_not_shown_as_running() {
    let mut shown = Fixture::recorded_work().live();
    assert!(shown.text(120, 40).contains(" LIVE "));
    shown.screen.update(ScreenMessage::Over).unwrap();
    let text = shown.text(120, 40);
    assert!(text.contains("Can't save: the last change is not stored"), "{text}");
    assert!(!text.contains(" LIVE ") && text.contains("nothing is running"), "{text}");
    pass(400);
    // There is nothing to leave in the background.
    shown.press(&["D"]);
    let text = shown.text(120, 40);
    assert!(!text.contains("keep it running"), "{text}");
    assert_eq!(shown.press(&["q"]), ScreenEffect::Exit(ExitReason::BackToList));
}
