//! A plan of hundreds of tasks before it is approved, and one of which a part is done already.

use super::fixture::{Fixture, Shown, pass, release_plan};
use planwright_model::event::Command;
use planwright_model::{Answer, ChoiceAction, Plan, RunKind, TaskNode};

/// Tasks that all start at once, each with a command.
fn wide_plan(count: usize) -> Plan {
    let mut plan = release_plan();
    let first: TaskNode = plan.tasks[0].clone();
    plan.tasks = (1..=count)
        .map(|number| TaskNode {
            id: format!("build{number}").as_str().into(),
            description: format!("Build package {number}"),
            dependencies: Vec::new(),
            run: RunKind::Shell(format!("make package-{number}")),
            ..first.clone()
        })
        .collect();
    plan
}

fn asked(fixture: &Fixture) -> Shown {
    let mut shown = fixture.live();
    shown.draw(120, 40);
    pass(300);
    shown
}

#[test]
fn three_hundred_commands_are_read_page_by_page() {
    let fixture = Fixture::new("Wide").propose(wide_plan(300), vec![]).ask_plan();
    let mut shown = asked(&fixture);
    let first = shown.text(120, 40);
    assert!(first.contains("commands not seen, a shows more"), "{first}");
    assert!(first.contains("PgDn next page"), "{first}");
    assert!(
        first.contains(
            "300 can start: Build package 1, Build package 2, Build package 3 and 297 more"
        ),
        "{first}"
    );
    let mut seen = first;
    for press in 0..40 {
        shown.press(&["a"]);
        if let Some(sent) = shown.sent() {
            let approved = Answer::from(ChoiceAction::ApproveAndRun);
            assert!(matches!(sent, Command::Answer { answer, .. } if answer == approved));
            assert!(press >= 2, "{press}");
            for number in 1..=300 {
                assert!(seen.contains(&format!("make package-{number}")), "{number}");
            }
            return;
        }
        seen.push_str(&shown.text(120, 40));
    }
    panic!("40 pages were not enough:\n{}", shown.text(120, 40));
}

#[test]
fn unread_commands_are_approved_only_after_that_was_asked() {
    let fixture = Fixture::new("Wide").propose(wide_plan(300), vec![]).ask_plan();
    let mut shown = asked(&fixture);
    let text = shown.text(120, 40);
    assert!(text.contains("commands unread; asks"), "{text}");
    shown.press(&["A"]);
    let text = shown.text(120, 40);
    assert!(text.contains("commands that were not on the screen?"), "{text}");
    shown.press(&["Enter"]);
    assert_eq!(shown.sent(), None, "Enter approves nothing");
    shown.press(&["u"]);
    let approved = Answer::from(ChoiceAction::ApproveAndRun);
    assert!(matches!(shown.sent(), Some(Command::Answer { answer, .. }) if answer == approved));
}

#[test]
fn what_is_done_already_neither_starts_nor_runs_again() {
    // A fork asks about the plan again after what it reuses.
    let fixture = Fixture::running().wait(5).ask_plan();
    let mut shown = asked(&fixture);
    let text = shown.text(120, 40);
    let starts = text.lines().find(|line| line.contains("Starts ")).unwrap_or_default();
    assert!(!starts.contains("Sort the open issues"), "{text}");
    let runs = text.lines().find(|line| line.contains("Runs ")).unwrap_or_default();
    assert!(runs.contains("not run again"), "{text}");
}
