//! G301 to G306.

use super::fixture::*;
use crate::grammar::Stage::Roadmap;
use crate::grammar::fix_violation;
use crate::grammar::validate_roadmap;
use planwright_model::{AdaptationAction, LinkKind, NodeDependency};

#[test]
fn the_fixtures_break_no_rule_of_a_roadmap() {
    for plan in [project(), arc(), routine(), hybrid(), transformation()] {
        assert_eq!(validate_roadmap(&with_roadmap(plan)), []);
    }
}

#[test]
fn g301_estimates_by_the_siblings() {
    let mut plan = with_roadmap(project());
    road_node(&mut plan, "p1.t1").estimate_minutes = None;
    road_node(&mut plan, "p1.t2").estimate_minutes = Some(45);
    assert_eq!(
        first_violation(Roadmap, &plan, "G301").message,
        "No time estimate for \"Title p1.t1\"."
    );
    fix_first(Roadmap, &mut plan, "G301");
    assert_eq!(road_node(&mut plan, "p1.t1").estimate_minutes, Some(45));
    assert_eq!(plan.roadmap.as_ref().unwrap().total_minutes, 210);
    for id in ["p2.t1", "p2.t2"] {
        road_node(&mut plan, id).estimate_minutes = Some(0);
    }
    let violation = first_violation(Roadmap, &plan, "G301");
    fix_violation(&mut plan, &violation, now()).unwrap();
    assert_eq!(road_node(&mut plan, "p2.t1").estimate_minutes, Some(60));
}

#[test]
fn g302_restores_lost_nodes_and_logs_added_ones() {
    let mut plan = with_roadmap(project());
    let roadmap = plan.roadmap.as_mut().unwrap();
    let lost = roadmap.nodes.iter().position(|node| node.id.as_str() == "p1.t2").unwrap();
    roadmap.nodes.remove(lost);
    fix_first(Roadmap, &mut plan, "G302");
    assert!(plan.roadmap.as_ref().unwrap().find_node(&"p1.t2".into()).is_some());

    let mut plan = with_roadmap(project());
    let mut extra = road_node(&mut plan, "p1.t2").clone();
    extra.id = "p1.t3".into();
    extra.position = 2;
    plan.roadmap.as_mut().unwrap().nodes.push(extra);
    let entry = fix_first(Roadmap, &mut plan, "G302");
    assert_eq!(entry.action, AdaptationAction::Add);
}

#[test]
fn g303_clips_leads_and_repoints_finishes() {
    let mut plan = with_roadmap(project());
    plan.roadmap.as_mut().unwrap().dependencies[0].lag_minutes = -90;
    assert_eq!(
        first_violation(Roadmap, &plan, "G303").message,
        "The time between \"Title p1.t1\" and \"Title p1.t2\" is not possible."
    );
    fix_first(Roadmap, &mut plan, "G303");
    assert_eq!(plan.roadmap.as_ref().unwrap().dependencies[0].lag_minutes, -60);

    plan.roadmap.as_mut().unwrap().dependencies[0].lag_minutes = 1_000_000;
    fix_first(Roadmap, &mut plan, "G303");
    assert_eq!(plan.roadmap.as_ref().unwrap().dependencies[0].lag_minutes, 86_400);

    let mut plan = with_roadmap(project());
    let links = &mut plan.roadmap.as_mut().unwrap().dependencies;
    links.retain(|link| link.from.as_str() != "p2.t1");
    links.push(NodeDependency::new("p1", "p2", LinkKind::FF));
    fix_first(Roadmap, &mut plan, "G303");
    let links = &plan.roadmap.as_ref().unwrap().dependencies;
    assert_eq!(links.last().unwrap().to.as_str(), "p2.t2");
}

#[test]
fn g304_compares_options() {
    let mut plan = with_roadmap(project());
    plan.roadmap.as_mut().unwrap().options_tried[1].chosen = true;
    assert_eq!(first_violation(Roadmap, &plan, "G304").message, "Alternatives were not compared.");
    fix_first(Roadmap, &mut plan, "G304");
    assert_eq!(plan.roadmap.as_ref().unwrap().chosen_option().unwrap().id, "balanced");
    plan.roadmap.as_mut().unwrap().options_tried.clear();
    fix_first(Roadmap, &mut plan, "G304");
    assert_eq!(plan.roadmap.as_ref().unwrap().options_tried.len(), 3);
}

#[test]
fn g305_compares_effort_with_capacity() {
    let mut plan = with_roadmap(project());
    plan.outline.plan_context.constraints.weekly_minutes = Some(45);
    let violation = first_violation(Roadmap, &plan, "G305");
    assert_eq!(violation.message, "The work takes 4 h, and there are 3 h for it.");
    assert_eq!(fix_violation(&mut plan, &violation, now()), None);
}

#[test]
fn g306_splits_oversized_leaves() {
    let mut plan = with_roadmap(project());
    road_node(&mut plan, "p1.t1").estimate_minutes = Some(1000);
    assert_eq!(
        first_violation(Roadmap, &plan, "G306").message,
        "\"Title p1.t1\" is too big to track."
    );
    fix_first(Roadmap, &mut plan, "G306");
    let roadmap = plan.roadmap.as_ref().unwrap();
    let parts: Vec<u32> = roadmap
        .node_tree()
        .leaves(&"p1.t1".into())
        .iter()
        .map(|leaf| leaf.work_minutes())
        .collect();
    assert_eq!(parts, [334, 333, 333]);
    let left = validate_roadmap(&plan);
    assert_eq!(left, [], "the outline has the parts too");
}
