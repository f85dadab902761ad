//! Every kind of request in the panel, and what its keys send.

use super::fixture::{Fixture, Shown, pass};
use super::journals::every_request;
use super::planned::{discussed, outlined, scheduled};
use crate::panes::plan::PlanView;
use planwright_model::event::Command;
use planwright_model::{
    Actor, ApprovalPolicy, ChoiceAction, PlanEdit, ScoutGateMode, TaskAssignee, TaskId,
};

fn settled(fixture: &Fixture) -> Shown {
    let mut shown = fixture.live();
    shown.draw(120, 40);
    pass(300);
    shown
}

fn request(name: &str) -> Shown {
    let (_, fixture) = every_request().into_iter().find(|(known, _)| *known == name).unwrap();
    settled(&fixture)
}

fn type_text(shown: &mut Shown, text: &str) {
    for letter in text.chars() {
        let key = if letter == ' ' { "Space".to_owned() } else { letter.to_string() };
        shown.press(&[&key]);
    }
}

fn answered(shown: &mut Shown) -> planwright_model::Answer {
    match shown.sent() {
        Some(Command::Answer { answer, by: Actor::Person, .. }) => answer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_kind_of_request_is_drawn() {
    for (name, fixture) in every_request() {
        insta::assert_snapshot!(format!("{name}_120x40"), fixture.live().frame(120, 40));
        insta::assert_snapshot!(format!("{name}_80x24"), fixture.live().frame(80, 24));
        if ["kind", "question"].contains(&name) {
            insta::assert_snapshot!(format!("{name}_200x60"), fixture.live().frame(200, 60));
        }
    }
}

#[test]
fn questions_are_answered_one_line_each() {
    let mut shown = request("questions");
    shown.press(&["Enter"]);
    type_text(&mut shown, "10 weeks");
    insta::assert_snapshot!("questions_typing_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("questions_typing_80x24", shown.frame(80, 24));
    shown.press(&["Enter", "Enter"]);
    let answer = answered(&mut shown);
    assert_eq!(answer.action, ChoiceAction::Reply);
    assert_eq!(answer.answers["horizon_weeks"], "10 weeks");
    assert_eq!(answer.answers["weekly_minutes"], "");
}

#[test]
fn changes_are_requested_for_marked_nodes() {
    let mut shown = request("outline");
    shown.press(&["1", "*", "j", "*", "Tab", "Tab"]);
    shown.screen.ui.focus = crate::ui_state::PaneFocus::Approval;
    shown.draw(120, 40);
    pass(300);
    shown.press(&["r"]);
    type_text(&mut shown, "split it in two, q a x");
    insta::assert_snapshot!("changes_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("changes_80x24", shown.frame(80, 24));
    shown.press(&["Enter"]);
    let answer = answered(&mut shown);
    assert_eq!(answer.action, ChoiceAction::RequestChanges);
    assert_eq!(answer.text.as_deref(), Some("split it in two, q a x"));
    assert_eq!(answer.nodes.len(), 2);
    assert!(shown.screen.ui.marks.is_empty());
}

#[test]
fn what_was_understood_of_a_request_is_shown_before_it_is_sent() {
    let mut shown = request("planned");
    shown.press(&["r"]);
    type_text(&mut shown, "only on weekends, make it more fun");
    let text = shown.text(120, 40);
    assert!(text.contains("Understood"), "{text}");
    insta::assert_snapshot!("understood_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("understood_80x24", shown.frame(80, 24));
}

#[test]
fn a_text_that_was_not_sent_is_kept() {
    let mut shown = request("outline");
    shown.press(&["r"]);
    type_text(&mut shown, "later");
    shown.press(&["Esc", "r"]);
    assert!(shown.text(120, 40).contains("later"));
    shown.press(&["Enter"]);
    assert_eq!(answered(&mut shown).text.as_deref(), Some("later"));
}

#[test]
fn without_an_open_request_changes_are_a_command_of_their_own() {
    let mut shown = scheduled().live();
    shown.draw(120, 40);
    shown.press(&["r"]);
    type_text(&mut shown, "drop the blog");
    shown.press(&["Enter"]);
    let request =
        Command::RequestChanges { text: "drop the blog".into(), nodes: vec![], stage: None };
    assert_eq!(shown.sent(), Some(request));
}

#[test]
fn options_and_relaxations_are_chosen_from_a_list() {
    let mut shown = request("roadmap");
    shown.press(&["End"]);
    shown.draw(120, 40);
    // The list is shown first, and closing it leaves the plan as it is.
    shown.press(&["V"]);
    assert_eq!(shown.sent(), None);
    insta::assert_snapshot!("options_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("options_80x24", shown.frame(80, 24));
    shown.press(&["Esc"]);
    assert_eq!(shown.sent(), None);
    shown.press(&["V", "j", "Enter"]);
    assert_eq!(answered(&mut shown).action, ChoiceAction::PickOption(3));
    let mut shown = request("escalation");
    shown.press(&["End"]);
    shown.draw(120, 40);
    // The cursor starts on the first way out; the plan shows its dates, against those of the draft.
    let first = shown.text(120, 40);
    assert!(first.contains("►   ") && first.contains(" → "), "{first}");
    shown.press(&["j"]);
    let second = shown.text(120, 40);
    assert_ne!(first, second);
    insta::assert_snapshot!("lever_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("lever_80x24", shown.frame(80, 24));
    shown.press(&["Enter"]);
    assert_eq!(answered(&mut shown).action, ChoiceAction::UseRelaxation(2));
}

#[test]
fn a_denial_can_say_why_and_needs_no_reason() {
    let mut shown = request("permission");
    shown.press(&["x"]);
    type_text(&mut shown, "use test.run");
    shown.press(&["Enter"]);
    let answer = answered(&mut shown);
    assert_eq!((answer.action, answer.text.as_deref()), (ChoiceAction::Deny, Some("use test.run")));
    let mut shown = request("permission");
    shown.press(&["x", "Enter"]);
    assert_eq!(answered(&mut shown).action, ChoiceAction::Deny);
}

#[test]
fn a_rule_is_the_command_or_the_first_words_that_are_typed() {
    let mut shown = request("permission");
    let (_, fixture) = every_request().into_iter().find(|(name, _)| *name == "permission").unwrap();
    let command =
        fixture.state().requests.oldest_open().unwrap().request.asked_command().unwrap().to_owned();
    shown.press(&["A", "w"]);
    assert_eq!(shown.sent(), None);
    assert!(shown.text(120, 40).contains("or its first words and *"));
    insta::assert_snapshot!("rule_120x40", shown.frame(120, 40));
    shown.press(&["Enter"]);
    let answer = answered(&mut shown);
    assert_eq!((answer.action, answer.text), (ChoiceAction::AllowAlways, Some(command)));

    let mut shown = request("permission");
    shown.press(&["A", "w"]);
    type_text(&mut shown, " and more *");
    shown.press(&["Enter"]);
    assert_eq!(shown.sent(), None);
    assert!(shown.text(120, 40).contains("does not begin with"));
}

#[test]
fn discarding_a_draft_asks_first_in_the_list_too() {
    for name in ["outline", "planned", "rfc"] {
        let mut shown = request(name);
        shown.press(&["x", "d"]);
        assert_eq!(shown.sent(), None, "{name}");
        assert!(shown.text(120, 40).contains("Discard this plan?"), "{name}");
        shown.press(&["Enter"]);
        assert_eq!(shown.sent(), None, "{name}");
        shown.press(&["x"]);
        assert_eq!(answered(&mut shown).action, ChoiceAction::Abandon, "{name}");
    }
}

#[test]
fn an_answer_that_cannot_be_given_says_why() {
    let mut shown = request("cap_agents");
    shown.press(&["S"]);
    assert_eq!(shown.sent(), None);
    assert!(shown.text(120, 40).contains("only tasks for agents are left"));
}

#[test]
fn every_answer_has_a_key_that_gives_it() {
    for (name, fixture) in every_request() {
        let state = fixture.state();
        let open = state.requests.oldest_open().unwrap();
        let rows = crate::panes::approval::answer_rows(&open.request);
        for row in rows.iter().filter(|row| row.unavailable.is_none()) {
            let mut shown = settled(&fixture);
            for _ in 0..40 {
                shown.press(&["PageDown"]);
                shown.draw(120, 40);
            }
            pass(300);
            shown.screen.perform_action(row.action).unwrap();
            let opened = shown.screen.ui.composer.is_some()
                || shown.screen.ui.overlay.is_some()
                || shown.screen.ui.row_editor.is_some();
            // Without a draft there is nothing to edit yet, and that is said.
            let refused = row.action == crate::keymap::KeyAction::Edit
                && state.planning.outline.is_none()
                && shown.screen.ui.message.is_some();
            assert!(opened || refused || shown.sent().is_some(), "{name}: {}", row.label);
        }
    }
}

#[test]
fn comments_and_locks_are_about_the_marked_nodes() {
    let node = |shown: &Shown| shown.screen.ui.graph.selected.clone().unwrap();
    let mut shown = settled(&outlined());
    shown.press(&["1", "j"]);
    let selected = node(&shown);
    shown.press(&["c"]);
    type_text(&mut shown, "shorter");
    shown.press(&["Enter"]);
    assert_eq!(
        shown.sent(),
        Some(Command::Comment { node: selected.clone(), text: "shorter".into() })
    );
    shown.press(&["#"]);
    assert_eq!(shown.sent(), Some(Command::Lock { node: selected, on: true }));
    let locked = discussed().state().planning.locked.iter().next().unwrap().clone();
    let mut shown = settled(&discussed());
    shown.screen.ui.select_task(locked.clone());
    shown.press(&["#"]);
    assert_eq!(shown.sent(), Some(Command::Lock { node: locked, on: false }));
}

#[test]
fn the_policy_is_turned_and_kept() {
    let mut shown = settled(&outlined());
    shown.press(&["p"]);
    insta::assert_snapshot!("policy_80x24", shown.frame(80, 24));
    insta::assert_snapshot!("policy_120x40", shown.frame(120, 40));
    shown.press(&["l"]);
    match shown.sent() {
        Some(Command::SetPolicy { set, save: false, .. }) => {
            assert_eq!(set.approval_policy, Some(ApprovalPolicy::StrictEveryStep));
            assert_eq!(set.tone, None);
        }
        other => panic!("{other:?}"),
    }
    // At the end of a dial nothing is sent.
    shown.press(&["l"]);
    assert_eq!(shown.sent(), None);
    shown.press(&["d"]);
    assert!(matches!(shown.sent(), Some(Command::SetPolicy { save: true, .. })));
    // Below the dials: when something small skips ceremony.
    shown.press(&["j", "j", "j", "j", "j", "j", "j", "h"]);
    assert_eq!(shown.sent(), None);
    shown.press(&["l"]);
    assert_eq!(shown.sent(), Some(Command::SetGate { when: ScoutGateMode::ForceExit }));
    insta::assert_snapshot!("policy_gate_80x24", shown.frame(80, 24));
    insta::assert_snapshot!("policy_gate_120x40", shown.frame(120, 40));
    shown.press(&["Esc"]);
    assert!(shown.screen.ui.overlay.is_none());
}

#[test]
fn a_node_is_edited_field_by_field() {
    let mut shown = settled(&scheduled());
    shown.press(&["1", "j"]);
    let state = scheduled().state();
    let leaf = state
        .planning
        .roadmap
        .as_ref()
        .unwrap()
        .nodes
        .iter()
        .find(|node| node.estimate_minutes.is_some())
        .unwrap();
    shown.screen.ui.select_task(leaf.id.clone());
    shown.press(&["e"]);
    insta::assert_snapshot!("edit_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("edit_80x24", shown.frame(80, 24));
    type_text(&mut shown, "!");
    shown.press(&["Enter"]);
    let edit = PlanEdit::Rename { node: leaf.id.clone(), title: format!("{}!", leaf.title) };
    assert_eq!(shown.sent(), Some(Command::Edit { edits: vec![edit] }));
    assert_eq!(shown.sent(), None);
    // Who does it is the next field: a command after a dollar sign.
    shown.press(&["e", "Tab", "Ctrl-U"]);
    type_text(&mut shown, "$ make it");
    shown.press(&["Enter"]);
    let command = Some("make it".to_owned());
    let edit = PlanEdit::SetDoer {
        node: leaf.id.clone(),
        doer: TaskAssignee::Shell,
        command,
        agent: None,
    };
    assert_eq!(shown.sent(), Some(Command::Edit { edits: vec![edit] }));
    // A name gives the person's own task to somebody else.
    shown.press(&["e", "Tab", "Ctrl-U"]);
    type_text(&mut shown, "Ben");
    assert!(shown.text(120, 40).contains("done by Ben"), "{}", shown.text(120, 40));
    shown.press(&["Enter"]);
    let edit = PlanEdit::Assign { node: leaf.id.clone(), owner: "Ben".to_owned() };
    assert_eq!(shown.sent(), Some(Command::Edit { edits: vec![edit] }));
}

#[test]
fn nodes_are_added_removed_moved_and_linked() {
    let mut shown = settled(&scheduled());
    shown.press(&["1"]);
    let state = scheduled().state();
    let leaves: Vec<TaskId> = state
        .planning
        .roadmap
        .as_ref()
        .unwrap()
        .nodes
        .iter()
        .filter(|node| node.estimate_minutes.is_some())
        .map(|node| node.id.clone())
        .collect();
    shown.screen.ui.select_task(leaves[0].clone());
    shown.press(&["i"]);
    type_text(&mut shown, "More");
    insta::assert_snapshot!("adding_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("adding_80x24", shown.frame(80, 24));
    shown.press(&["Enter"]);
    assert!(
        matches!(shown.sent(), Some(Command::Edit { edits }) if matches!(&edits[..], [PlanEdit::Insert { fields, .. }] if fields.title.as_deref() == Some("More")))
    );
    // Rows are added until the person is done.
    assert!(shown.screen.ui.row_editor.is_some());
    shown.press(&["Esc", "Delete"]);
    assert_eq!(
        shown.sent(),
        Some(Command::Edit { edits: vec![PlanEdit::Remove { node: leaves[0].clone() }] })
    );
    assert_eq!(shown.screen.ui.graph.selected, Some(leaves[1].clone()), "the cursor stays near");
    shown.press(&["J"]);
    assert!(
        matches!(shown.sent(), Some(Command::Edit { edits }) if matches!(edits[..], [PlanEdit::Move { .. }]))
    );
    shown.screen.ui.select_task(leaves[0].clone());
    shown.press(&["*"]);
    shown.screen.ui.select_task(leaves[1].clone());
    shown.press(&["&"]);
    assert!(
        matches!(shown.sent(), Some(Command::Edit { edits }) if matches!(&edits[..], [PlanEdit::Link { from, to, .. }] if *from == leaves[0] && *to == leaves[1]))
    );
}

#[test]
fn a_draft_is_shown_as_its_outline_before_there_is_a_graph() {
    let mut shown = settled(&outlined());
    assert_eq!(shown.screen.ui.view.kind, PlanView::Outline);
    insta::assert_snapshot!("draft_outline_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("draft_outline_80x24", shown.frame(80, 24));
    let mut shown = settled(&scheduled());
    shown.press(&["3"]);
    insta::assert_snapshot!("draft_gantt_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("draft_gantt_80x24", shown.frame(80, 24));
}
