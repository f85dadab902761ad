//! What was said, on the screen: the list over the plan, and what the card says first when the plan breaks it.

use super::fixture::{Fixture, Shown, pass};
use super::journals::recorded_request;
use planwright_model::event::{Command, FactEvent, PlanningEvent};
use planwright_model::{
    Actor, Fact, FactLength, FactReading, FactSource, FactSubject, Severity, Stage, Violation,
};

/// A plan that waits for approval, with facts, one of which it breaks.
fn broken_plan() -> Fixture {
    let mut fixture = recorded_request("drafts", 5);
    let weeks = FactReading::Duration { subject: FactSubject::Plan, length: FactLength::Days(42) };
    let state = fixture.state();
    let first = state.planning.facts.next_id();
    let until = FactReading::Deadline { on: jiff::civil::date(2026, 6, 12) };
    for (text, part_of, reading) in [
        ("launch a newsletter in 6 weeks, we have a designer", None, None),
        ("in 6 weeks", Some(first), Some(weeks)),
        ("we have a designer", Some(first), None),
        ("finish by 12 June", None, Some(until)),
    ] {
        let id = fixture.state().planning.facts.next_id();
        let source = if id < first + 3 { FactSource::Goal } else { FactSource::ChangeRequest };
        let fact = Fact { part_of, reading, ..Fact::new(id, source, text) };
        fixture.push(FactEvent::Recorded { fact });
    }
    let mut judgement = state.planning.judgements[&Stage::Schedule].clone();
    judgement.violations.push(Violation::new(
        "G501",
        Severity::Repairable,
        "This breaks what you said, \"finish by 12 June\": \"Send the first issue\" ends Fri 17 Jul.",
        "Change the plan, or correct or withdraw what you said.",
    ));
    fixture.push(PlanningEvent::Judged { stage: Stage::Schedule, judgement });
    fixture
}

fn shown(keys: &[&str]) -> Shown {
    let mut shown = broken_plan().live();
    shown.draw(120, 40);
    pass(1000);
    shown.press(keys);
    shown
}

#[test]
fn the_card_says_first_what_the_plan_breaks() {
    let text = shown(&[]).text(120, 40);
    let said = text.lines().position(|line| line.contains("This breaks what you said")).unwrap();
    let time = text.lines().position(|line| line.contains("Your time")).unwrap();
    assert!(said < time, "{text}");
    assert!(text.contains("Unsure: it breaks what you said."), "{text}");
    assert!(!text.contains("G501"), "{text}");
}

#[test]
fn facts_open_over_the_plan() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut open = shown(&["W"]);
        insta::assert_snapshot!(format!("facts_{width}x{height}"), open.frame(width, height));
    }
}

#[test]
fn a_fact_is_corrected_and_withdrawn_where_it_is_listed() {
    let first = recorded_request("drafts", 5).state().planning.facts.next_id();
    let by = Actor::Person;
    // The fact that is broken is selected.
    let mut withdrawn = shown(&["W", "Delete"]);
    assert_eq!(withdrawn.sent(), Some(Command::WithdrawFact { id: first + 3, by }));
    let mut corrected = shown(&["W", "e", "Ctrl-U"]);
    corrected.type_text("by 31 July");
    corrected.press(&["Enter"]);
    let text = "by 31 July".to_owned();
    assert_eq!(corrected.sent(), Some(Command::CorrectFact { id: first + 3, text, by }));
    let mut goal = shown(&["W", "Home", "Delete"]);
    assert_eq!(goal.sent(), None);
    assert!(goal.text(120, 40).contains("this is the goal itself"), "{}", goal.text(120, 40));
}
