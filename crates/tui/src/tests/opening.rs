//! A large plan: the first frame has everything but its graph, the next one has that too.

use super::fixture::{Fixture, Shown, pass, release_plan};
use crate::event_loop::InteractiveScreen as _;
use crate::session::{ScreenEffect, ScreenMessage};
use planwright_model::{ChoiceAction, Plan, TaskId, TaskLink};

/// So many tasks, each after one of the layer before it.
fn layered(count: usize, layer: usize) -> Plan {
    let mut plan = release_plan();
    let node = plan.tasks[0].clone();
    let id = |number: usize| TaskId::from(format!("t{number}").as_str());
    plan.tasks = (0..count)
        .map(|number| {
            let mut task = node.clone();
            task.id = id(number);
            task.dependencies = number
                .checked_sub(layer)
                .map(|before| TaskLink::finish_to_start(id(before)))
                .into_iter()
                .collect();
            task
        })
        .collect();
    plan
}

fn whole(count: usize, layer: usize) -> Shown {
    Fixture::new("Large").propose(layered(count, layer), vec![]).ask_plan().live()
}

fn opened(count: usize, layer: usize) -> Shown {
    let mut shown = whole(count, layer);
    shown.screen.defer_layout();
    shown
}

#[test]
fn the_graph_of_a_large_plan_follows_the_first_frame_at_once() {
    let mut shown = opened(64, 8);
    let first = shown.text(200, 60);
    assert!(first.contains("laying it out") && first.contains("approve and run"), "{first}");
    assert!(shown.screen.tick_delay().is_some_and(|wait| wait.is_zero()));
    assert_eq!(shown.screen.update(ScreenMessage::Tick).unwrap(), ScreenEffect::DrawAtOnce);
    let second = shown.text(200, 60);
    assert!(
        !second.contains("laying it out") && second.contains("Sort the open issues"),
        "{second}"
    );
    assert_eq!(shown.screen.tick_delay(), None);
    // Nothing else moves.
    let rule = |text: &str| text.lines().position(|line| line.contains("run this plan?"));
    assert_eq!(rule(&first), rule(&second));
    assert_eq!(second, whole(64, 8).text(200, 60));
}

#[test]
fn a_plan_that_is_small_or_narrow_is_there_at_once() {
    for (count, layer) in [(63, 8), (200, 1)] {
        let mut shown = opened(count, layer);
        assert!(!shown.text(120, 40).contains("laying it out"));
        assert_eq!(shown.screen.tick_delay(), None);
    }
}

#[test]
fn a_key_before_the_second_frame_means_what_it_does_after_it() {
    let mut shown = opened(64, 8);
    shown.draw(120, 40);
    shown.press(&["Tab", "Right"]);
    let mut whole = whole(64, 8);
    whole.draw(120, 40);
    whole.press(&["Tab", "Right"]);
    assert_eq!(shown.text(120, 40), whole.text(120, 40));

    let mut shown = opened(64, 8);
    shown.draw(120, 40);
    pass(300);
    shown.press(&["a"]);
    assert!(matches!(shown.sent(), Some(planwright_model::event::Command::Answer { answer, .. })
            if answer.action == ChoiceAction::ApproveAndRun));
}
