//! What happened is told the same everywhere, and stays told: skips with their failure, counts, times, retries.

use super::fixture::{Fixture, Shown, now, pass};
use crate::panes::approval;
use crate::ui_state::PaneFocus;
use planwright_model::event::TaskEvent;
use planwright_state::{AttentionCause, SkipRoots};

fn opened(fixture: &Fixture) -> Shown {
    let mut shown = fixture.live();
    shown.draw(120, 40);
    pass(300);
    shown
}

fn retried() -> Fixture {
    let reset = TaskEvent::Reset { task: "fuzz".into(), why: "retried by you".into() };
    let started =
        TaskEvent::Started { task: "fuzz".into(), attempt: 2, depth: 0, affinity_delta: 0.0 };
    Fixture::running().wait(5).with(reset).with(started)
}

#[test]
fn a_skipped_task_names_the_failure_behind_it_and_leads_there() {
    let mut shown = opened(&Fixture::failed());
    shown.screen.ui.finished_open = false;
    shown.screen.ui.focus = PaneFocus::Graph;
    shown.screen.ui.select_task("corpus".into());
    shown.press(&["o"]);
    let text = shown.text(120, 40);
    assert!(
        text.contains("Skipped because Fuzz for 2 minutes failed. Enter goes there."),
        "{text}"
    );
    shown.press(&["Enter"]);
    assert_eq!(shown.screen.ui.card.failed, Some("fuzz".into()));
    assert_eq!(shown.screen.ui.graph.selected, Some("fuzz".into()));
    shown.screen.ui.focus = PaneFocus::Graph;
    shown.screen.ui.select_task("corpus".into());
    shown.press(&["Enter"]);
    let text = shown.text(120, 40);
    assert!(text.contains("because Fuzz for 2 minutes failed"), "{text}");
    assert!(text.contains("Enter go to the failure"), "{text}");
    shown.press(&["Enter"]);
    assert!(shown.screen.ui.overlay.is_none());
    assert_eq!(shown.screen.ui.card.failed, Some("fuzz".into()));
}

#[test]
fn home_and_the_run_count_the_same_skips_for_a_failure() {
    let state = Fixture::failed().state();
    let skips = SkipRoots::from_tasks(&state.tasks);
    let fuzz = state.tasks.position(&"fuzz".into()).unwrap();
    let items = state.attention_items(now(), &jiff::tz::TimeZone::UTC);
    let told: Vec<&AttentionCause> = items.iter().map(|item| &item.cause).collect();
    let skipped = skips.skipped_because_of(fuzz).len();
    assert_eq!(skipped, 1);
    assert!(told.contains(&&AttentionCause::Failed { task: "fuzz".into(), skipped }), "{told:?}");
}

#[test]
fn a_failure_took_as_long_as_its_command_everywhere() {
    let mut fixture = Fixture::running();
    for record in &mut fixture.records {
        if let planwright_model::event::Event::Task(TaskEvent::Failed { elapsed_ms, .. }) =
            &mut record.event
        {
            *elapsed_ms = 119_000;
        }
    }
    let state = fixture.state();
    assert_eq!(state.tasks.get(&"fuzz".into()).unwrap().elapsed_ms(now()), Some(119_000));
    let mut shown = opened(&fixture);
    shown.press(&["n"]);
    let text = shown.text(120, 40);
    assert!(text.contains("after 1 min 59 s") && !text.contains("after 2 min"), "{text}");
}

#[test]
fn the_next_card_selects_its_task_each_time() {
    let fixture = Fixture::running().wait(40).fail("port", 100, "exit 2");
    let mut shown = opened(&fixture);
    for _ in 0..3 {
        shown.press(&["n"]);
        let card = approval::shown_failed_task(shown.screen.state(), &shown.screen.ui).cloned();
        if let Some(card) = card {
            assert_eq!(shown.screen.ui.graph.selected, Some(card));
        }
        shown.draw(120, 40);
    }
}

#[test]
fn the_hint_of_the_list_says_what_the_key_does_during_a_search() {
    let mut shown = opened(&Fixture::running());
    assert!(shown.text(120, 40).contains("n opens the next"));
    shown.press(&["/"]);
    shown.type_text("api");
    shown.press(&["Enter"]);
    let text = shown.text(120, 40);
    assert!(!text.contains("opens the next") && text.contains("Esc ends the search"), "{text}");
    shown.press(&["Esc"]);
    assert!(shown.text(120, 40).contains("n opens the next"));
}

#[test]
fn a_run_that_failed_is_not_called_done() {
    let text = opened(&Fixture::failed()).text(120, 40);
    let header = text.lines().next().unwrap();
    assert!(header.contains("DONE") && header.contains("failed"), "{header}");
    assert_eq!(
        Fixture::failed().state().describe_failed_run().as_deref(),
        Some("1 failed, 5 of 11 done")
    );
}

#[test]
fn a_retry_leaves_the_failed_attempt_in_activity_and_timeline() {
    let before = "failed after 2 min: index out of bounds";
    let mut shown = opened(&Fixture::running());
    assert!(shown.text(160, 50).contains(before), "{}", shown.text(160, 50));
    shown.grow(&retried());
    let text = shown.text(160, 50);
    assert!(text.contains(before), "{text}");
    shown.press(&["4"]);
    let timeline = shown.text(160, 50);
    let row = timeline.lines().find(|line| line.contains("Fuzz for 2 minutes")).unwrap();
    assert!(row.contains('✗'), "{timeline}");
}
