//! G101 to G109.

use super::fixture::*;
use crate::grammar::Stage::Outline;
use crate::grammar::fix_violation;
use crate::grammar::validate_outline;
use planwright_model::{AdaptationAction, NodeType, PlanNode, Severity};

#[test]
fn the_fixtures_break_no_rule() {
    for plan in [project(), arc(), routine(), hybrid(), transformation()] {
        assert_eq!(validate_outline(&plan), []);
    }
}

#[test]
fn g101_requires_a_goal_and_nodes() {
    let mut plan = project();
    plan.outline.plan_context.goal_text = "  ".to_owned();
    let violation = first_violation(Outline, &plan, "G101");
    assert_eq!(
        (violation.severity, &*violation.message),
        (Severity::Fatal, "There is nothing to plan yet.")
    );
    assert_eq!(fix_violation(&mut plan, &violation, now()), None);
    plan.outline.nodes.clear();
    assert_eq!(rules(&validate_outline(&plan)), ["G101"]);
}

#[test]
fn g102_selects_the_only_goal() {
    let mut plan = project();
    plan.outline.root_id = "nowhere".into();
    fix_first(Outline, &mut plan, "G102");
    assert_eq!(plan.outline.root_id.as_str(), "g");
}

#[test]
fn g102_adds_a_missing_goal() {
    let mut plan = project();
    plan.outline.nodes.remove(0);
    for node in plan.outline.nodes.iter_mut().filter(|node| node.level == 2) {
        node.parent_id = None;
    }
    fix_first(Outline, &mut plan, "G102");
    assert_eq!(validate_outline(&plan), []);
    assert_eq!(plan.outline.nodes[0].title, "Move house");
}

#[test]
fn g103_counts_goals() {
    let mut plan = project();
    plan.outline.nodes.push(PlanNode::new_goal("h", "Other"));
    let violation = first_violation(Outline, &plan, "G103");
    assert_eq!(violation.message, "Found 2 separate goals; a plan holds one.");
    assert_eq!(violation.suggested_fix, "Keep \"Move house\" and plan the others separately.");
    assert_eq!(violation.severity, Severity::Fatal);
}

#[test]
fn g104_moves_the_goal_to_the_top() {
    let mut plan = project();
    plan.outline.nodes[0].node_type = NodeType::Phase;
    fix_first(Outline, &mut plan, "G104");
    let mut lower = project();
    let index = add(&mut lower, "p1", "x", NodeType::Goal);
    lower.outline.nodes[index].title = "Inner".to_owned();
    assert_eq!(
        first_violation(Outline, &lower, "G104").message,
        "\"Inner\" is misplaced as a goal."
    );
    fix_first(Outline, &mut lower, "G104");
    assert_eq!(node(&mut lower, "x").node_type, NodeType::SubGoal);
}

#[test]
fn g105_renames_and_attaches() {
    let mut plan = project();
    let mut twin = node(&mut plan, "p1.t1").clone();
    twin.position = 9;
    plan.outline.nodes.push(twin);
    fix_first(Outline, &mut plan, "G105");
    assert_eq!(plan.outline.nodes.last().unwrap().id.as_str(), "p1.t1-2");

    let mut plan = project();
    node(&mut plan, "p2.t1").parent_id = Some("gone".into());
    assert_eq!(
        first_violation(Outline, &plan, "G105").message,
        "\"Title p2.t1\" is not attached to the plan."
    );
    fix_first(Outline, &mut plan, "G105");
    assert_eq!(node(&mut plan, "p2.t1").parent_id, Some("p2".into()));
}

#[test]
fn g106_reports_the_cycle_and_leaves_it_to_the_person() {
    let mut plan = project();
    node(&mut plan, "p1").parent_id = Some("p2".into());
    node(&mut plan, "p2").parent_id = Some("p1".into());
    let violation = first_violation(Outline, &plan, "G106");
    assert_eq!(violation.message, "p1, p2 contain each other.");
    assert_eq!(fix_violation(&mut plan, &violation, now()), None);
}

#[test]
fn g107_recomputes_levels_and_positions() {
    let mut plan = project();
    node(&mut plan, "p1.t1").level = 7;
    assert_eq!(
        first_violation(Outline, &plan, "G107").message,
        "\"Title p1.t1\" is at level 7, expected 3."
    );
    fix_first(Outline, &mut plan, "G107");
    node(&mut plan, "p1.t2").position = 0;
    assert_eq!(
        first_violation(Outline, &plan, "G107").message,
        "\"Title p1.t2\" shares position 0."
    );
    fix_first(Outline, &mut plan, "G107");
    assert_eq!(node(&mut plan, "p1.t2").position, 1);
}

#[test]
fn g108_converts_to_the_nearest_kind() {
    let mut plan = project();
    add(&mut plan, "p1.t1", "x", NodeType::Task);
    assert_eq!(first_violation(Outline, &plan, "G108").message, "A task cannot sit under a task.");
    fix_first(Outline, &mut plan, "G108");
    assert_eq!(node(&mut plan, "x").node_type, NodeType::SubTask);
}

#[test]
fn g108_allows_phases_and_cycles_to_alternate_once() {
    let mut plan = project();
    add(&mut plan, "p1", "c", NodeType::Cycle);
    add(&mut plan, "c", "pp", NodeType::Phase);
    task(&mut plan, "pp", "pp.t", planwright_model::Role::Review);
    assert_eq!(
        first_violation(Outline, &plan, "G108").message,
        "A phase cannot sit under a cycle."
    );
    fix_first(Outline, &mut plan, "G108");
    assert_eq!(node(&mut plan, "pp").node_type, NodeType::SubGoal);
}

#[test]
fn g108_moves_children_out_of_a_micro_goal() {
    let mut plan = project();
    add(&mut plan, "p1", "m", NodeType::MicroGoal);
    add(&mut plan, "m", "x", NodeType::Task);
    fix_first(Outline, &mut plan, "G108");
    assert_eq!(node(&mut plan, "x").parent_id, Some("p1".into()));
}

#[test]
fn g109_adds_an_action() {
    let mut plan = project();
    add(&mut plan, "g", "p3", NodeType::Phase);
    assert_eq!(
        first_violation(Outline, &plan, "G109").message,
        "\"Title p3\" has no action in it."
    );
    let entry = fix_first(Outline, &mut plan, "G109");
    assert_eq!(entry.action, AdaptationAction::Add);
    assert_eq!(node(&mut plan, "p3.t1").node_type, NodeType::Task);
}
