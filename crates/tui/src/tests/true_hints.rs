//! What a screen names can be done, clocks move while something runs, and text is not cut where there is room.

use std::time::Duration;

use super::fixture::{Fixture, Shown, pass, release_plan, settings};
use crate::event_loop::InteractiveScreen as _;
use crate::overlays::Overlay;
use crate::ui_state::PaneFocus;
use planwright_state::timeline::Timeline;

fn opened(fixture: &Fixture) -> Shown {
    let mut shown = fixture.live();
    shown.draw(120, 40);
    pass(300);
    shown
}

fn footer(text: &str) -> String {
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn the_clock_moves_while_a_task_waits_for_the_person() {
    let fixture = Fixture::for_person();
    let mut shown = fixture.live();
    assert_eq!(shown.screen.tick_delay(), Some(Duration::from_secs(30)));
    let mut running = Fixture::running().live();
    assert_eq!(running.screen.tick_delay(), Some(Duration::from_secs(1)));
    shown.draw(120, 40);
}

#[test]
fn a_plan_of_a_person_has_no_time_of_day_at_which_it_ends() {
    let text = opened(&Fixture::for_person()).text(160, 50);
    assert!(!text.contains("longest path: ") && !text.contains("done about"), "{text}");
}

#[test]
fn answers_of_the_past_are_not_offered() {
    let fixture = Fixture::running();
    let asked =
        fixture.records.iter().position(|record| record.event.kind() == "approval.asked").unwrap();
    let mut shown = fixture.replay(asked as u64 + 1);
    let text = shown.text(120, 40);
    assert!(text.contains("run this plan?"), "{text}");
    assert!(!text.contains("approve and run"), "{text}");
    // A run that is not saved anywhere cannot be forked.
    assert!(!text.contains("F fork"), "{text}");
}

#[test]
fn a_dialog_names_enter_once_it_takes_something() {
    let mut shown = opened(&Fixture::running());
    shown.screen.ui.focus = PaneFocus::Graph;
    shown.screen.ui.select_task("port".into());
    shown.press(&["X"]);
    assert!(matches!(shown.screen.ui.overlay, Some(Overlay::Choose(_))));
    assert!(!shown.text(120, 40).contains("Enter take it"));
    shown.press(&["j"]);
    assert!(shown.text(120, 40).contains("Enter take it"));
}

#[test]
fn the_card_of_a_done_task_does_not_offer_a_retry() {
    let mut shown = opened(&Fixture::running());
    shown.screen.ui.focus = PaneFocus::Graph;
    shown.screen.ui.select_task("bench".into());
    shown.press(&["Enter"]);
    let text = shown.text(120, 40);
    assert!(text.contains("done") && !text.contains("R retry"), "{text}");
    shown.press(&["c"]);
    let typing = footer(&shown.text(120, 40));
    assert!(typing.contains("Enter keep") && !typing.contains("help"), "{typing}");
}

#[test]
fn the_end_of_a_run_names_the_commands_once() {
    let fixture = Fixture::failed();
    let mut shown = opened(&fixture);
    shown.screen.ui.finished_open = true;
    shown.screen.ui.focus = PaneFocus::Approval;
    let last = footer(&shown.text(160, 50));
    assert_eq!(last.matches(": commands").count(), 1, "{last}");
}

#[test]
fn leaving_a_plan_that_was_opened_from_home_leads_there() {
    let mut shown = opened(&Fixture::running());
    assert!(footer(&shown.text(160, 50)).contains("q quit"));
    shown.screen.ui.opened_from_home = true;
    assert!(footer(&shown.text(160, 50)).contains("q home"));
    assert!(!settings().opened_from_home);
}

#[test]
fn a_wider_yes_is_named_whole() {
    let mut shown = opened(&Fixture::new("x").propose(release_plan(), vec![]).ask_plan());
    shown.press(&["A"]);
    assert!(shown.text(120, 40).contains("approve and start at a task  what comes"));
}

#[test]
fn waiting_for_approval_folds_where_it_is_most_of_the_time() {
    let short = |wait: i64, work: i64| {
        let fixture = Fixture::new("Short")
            .propose(release_plan(), vec![])
            .ask_plan()
            .wait(wait)
            .approved()
            .start("audit")
            .wait(work)
            .done("audit", work.unsigned_abs());
        Timeline::from_records(&fixture.records).folded_gaps().len()
    };
    assert_eq!(short(38, 2), 1);
    assert_eq!(short(38, 300), 0);
}
