//! G201 to G251.

use super::fixture::*;
use crate::grammar::Stage::{Outline, Roadmap};
use crate::grammar::{check_pattern_name, nearest_pattern, validate_outline, validate_roadmap};
use planwright_model::{NodeType, PatternSpec, PatternType, Role};

#[test]
fn g201_names_the_nearest_pattern() {
    let violation = check_pattern_name("milestone_projekt").unwrap();
    assert_eq!(violation.message, "\"milestone_projekt\" is not a known kind of plan.");
    assert_eq!(
        violation.suggested_fix,
        "Use milestone_project; a new kind of plan needs your approval."
    );
    assert_eq!(check_pattern_name("recurring_cycle"), None);
    assert_eq!(nearest_pattern("habit loop"), PatternType::RecurringCycle);
    assert_eq!(nearest_pattern("Learning Path"), PatternType::ProgressiveAccumulationArc);
    assert_eq!(nearest_pattern(""), PatternType::MilestoneProject);
}

#[test]
fn g201_accepts_the_older_name_of_a_roadmap() {
    let mut plan = with_roadmap(project());
    let roadmap = plan.roadmap.as_mut().unwrap();
    roadmap.pattern = None;
    roadmap.context.pattern = None;
    roadmap.context.pattern_type = Some("spiral".to_owned());
    assert!(rules(&validate_roadmap(&plan)).contains(&"G201"));
}

#[test]
fn g202_requires_a_reason_or_falls_back() {
    let mut plan = routine();
    let spec = PatternSpec {
        source_pattern: Some("protocol_routine".to_owned()),
        ..PatternSpec::with_subtype(PatternType::RecurringCycle, "proposed:daily_health")
    };
    plan.outline.plan_context.pattern = Some(spec.clone());
    plan.outline.pattern = Some(spec.clone());
    assert_eq!(
        first_violation(Outline, &plan, "G202").suggested_fix,
        "Write the reason, or use protocol_routine."
    );
    let mut reasoned = plan.clone();
    let with_reason =
        PatternSpec { rfc: Some("Two checks a day with records.".to_owned()), ..spec };
    reasoned.outline.plan_context.pattern = Some(with_reason.clone());
    reasoned.outline.pattern = Some(with_reason);
    assert_eq!(validate_outline(&reasoned), []);
    reasoned.surroundings.allow_proposals = false;
    fix_first(Outline, &mut reasoned, "G202");
    fix_first(Outline, &mut plan, "G202");
    assert!(plan.outline.pattern.unwrap().is_subtype("protocol_routine"));
}

#[test]
fn g203_copies_the_selected_pattern() {
    let mut plan = with_roadmap(project());
    plan.roadmap.as_mut().unwrap().pattern = Some(PatternSpec::new(PatternType::RecurringCycle));
    fix_first(Roadmap, &mut plan, "G203");
    assert_eq!(plan.roadmap.unwrap().pattern, plan.outline.plan_context.pattern);
}

#[test]
fn g204_adds_a_review() {
    let mut plan = arc();
    node(&mut plan, "p1.c").role = Role::Work;
    assert_eq!(
        first_violation(Outline, &plan, "G204").message,
        "No point to look back in \"Title p1\"."
    );
    fix_first(Outline, &mut plan, "G204");
    assert_eq!(node(&mut plan, "p1.review").estimate_minutes, Some(15));
    let mut long = transformation();
    node(&mut long, "look").role = Role::Work;
    long.outline.plan_context.constraints.horizon_weeks = Some(52);
    fix_first(Outline, &mut long, "G204");
    let mut cycle = routine();
    node(&mut cycle, "c.t").role = Role::Work;
    fix_first(Outline, &mut cycle, "G204");
}

#[test]
fn g211_orders_a_project_in_phases() {
    let mut plan = project();
    plan.outline.nodes.retain(|node| !node.id.as_str().starts_with("p2"));
    plan.draft_links
        .retain(|link| !link.from.as_str().starts_with("p2") && link.to.as_str() != "p2");
    assert_eq!(
        first_violation(Outline, &plan, "G211").message,
        "A one-off project needs ordered phases."
    );
    fix_first(Outline, &mut plan, "G211");
    assert_eq!(node(&mut plan, "p1.t2").parent_id, Some("g.p2".into()));

    let mut plan = project();
    add(&mut plan, "g", "c", NodeType::Cycle);
    task(&mut plan, "c", "c.t", Role::Review);
    fix_first(Outline, &mut plan, "G211");
    assert_eq!(node(&mut plan, "c").parent_id, Some("p2".into()));
}

#[test]
fn g211_makes_phases_of_bare_tasks_and_leaves_quick_goals_alone() {
    let mut plan = empty(PatternSpec::with_subtype(PatternType::MilestoneProject, "generic"));
    for id in ["a", "b", "c"] {
        task(&mut plan, "g", id, Role::Work);
    }
    fix_first(Outline, &mut plan, "G211");
    assert_eq!(node(&mut plan, "b").parent_id, Some("g.p1".into()));
    assert_eq!(node(&mut plan, "c").parent_id, Some("g.p2".into()));

    let mut quick = empty(PatternSpec::with_subtype(PatternType::MilestoneProject, "quick"));
    task(&mut quick, "g", "do", Role::Work);
    task(&mut quick, "g", "done", Role::Work);
    node(&mut quick, "done").milestone = true;
    assert_eq!(validate_outline(&quick), []);
}

#[test]
fn g212_defines_the_finish() {
    let mut plan = project();
    plan.outline.nodes.pop();
    plan.draft_links.pop();
    let violation = first_violation(Outline, &plan, "G212");
    assert_eq!(violation.suggested_fix, "Add a milestone at the end that needs \"Title p2\".");
    fix_first(Outline, &mut plan, "G212");
    assert!(plan.draft_links.contains(&link("p2", "g.done")));

    let mut plan = project();
    plan.outline.plan_context.constraints.horizon_weeks = None;
    let violation = first_violation(Outline, &plan, "G212");
    assert_eq!(violation.suggested_fix, "Give it a deadline or a number of weeks.");
    fix_first(Outline, &mut plan, "G212");
    assert_eq!(plan.context().constraints.horizon_weeks, Some(8));
    assert_eq!(plan.context().find_assumption("horizon_weeks").unwrap().value, "8");

    let mut plan = project();
    plan.draft_links.pop();
    fix_first(Outline, &mut plan, "G212");
    assert_eq!(plan.draft_links, project().draft_links);
}

#[test]
fn g212_follows_links_to_the_milestone_and_takes_its_day_for_an_end() {
    let mut plan = empty(PatternSpec::with_subtype(PatternType::MilestoneProject, "quick"));
    for id in ["do", "review", "check", "done"] {
        task(&mut plan, "g", id, Role::Work);
    }
    node(&mut plan, "done").milestone = true;
    // The last row is not the last step: the review comes after it.
    plan.draft_links = vec![link("do", "check"), link("check", "review"), link("review", "done")];
    assert!(!rules(&validate_outline(&plan)).contains(&"G212"));

    let mut plan = project();
    plan.outline.plan_context.constraints.horizon_weeks = None;
    node(&mut plan, "done").due = Some("2026-09-01".parse().unwrap());
    assert!(!rules(&validate_outline(&plan)).contains(&"G212"));
    node(&mut plan, "done").due = None;
    assert!(rules(&validate_outline(&plan)).contains(&"G212"));
}

#[test]
fn g221_makes_one_repeating_cycle() {
    let mut plan = routine();
    node(&mut plan, "c").recurrence = None;
    fix_first(Outline, &mut plan, "G221");
    let mut plan = routine();
    add(&mut plan, "g", "p", NodeType::Phase);
    task(&mut plan, "p", "p.t", Role::Work);
    fix_first(Outline, &mut plan, "G221");
    assert_eq!(node(&mut plan, "p.t").node_type, NodeType::SubTask);
    let mut bare = empty(PatternSpec::new(PatternType::RecurringCycle));
    task(&mut bare, "g", "t", Role::Review);
    fix_first(Outline, &mut bare, "G221");
    assert_eq!(node(&mut bare, "t").parent_id, Some("g.c1".into()));
}

#[test]
fn g231_chains_phases_in_rising_intensity() {
    let mut plan = arc();
    plan.draft_links.pop();
    fix_first(Outline, &mut plan, "G231");
    assert_eq!(plan.draft_links, arc().draft_links);
    let mut plan = arc();
    node(&mut plan, "p1.a").intensity = 3;
    assert_eq!(
        first_violation(Outline, &plan, "G231").message,
        "The steps do not build on each other."
    );
    fix_first(Outline, &mut plan, "G231");
    assert_eq!(node(&mut plan, "p2.a").intensity, 3);
}

#[test]
fn g232_adds_practice_without_making_the_phase_longer() {
    let mut plan = with_roadmap(arc());
    road_node(&mut plan, "p1.b").role = Role::Work;
    assert_eq!(first_violation(Roadmap, &plan, "G232").message, "\"Title p1\" has no practice.");
    fix_first(Roadmap, &mut plan, "G232");
    let roadmap = plan.roadmap.as_ref().unwrap();
    assert_eq!(roadmap.node_tree().total_minutes(&"p1".into()), 180);
    assert_eq!(roadmap.find_node(&"p1.t1".into()).unwrap().estimate_minutes, Some(72));
    assert!(validate_roadmap(&plan).is_empty());
}

fn training(loads: &[u32]) -> crate::grammar::PlanArtifacts {
    let mut plan = arc();
    let spec = PatternSpec::with_subtype(PatternType::ProgressiveAccumulationArc, "training_arc");
    plan.outline.plan_context.pattern = Some(spec.clone());
    plan.outline.pattern = Some(spec);
    for (week, _) in loads.iter().enumerate() {
        task(&mut plan, "p1", &format!("w{week}"), Role::Practice);
    }
    let mut plan = with_roadmap(plan);
    for (week, load) in loads.iter().enumerate() {
        let node = road_node(&mut plan, &format!("w{week}"));
        node.tags.push(format!("week:{}", week + 1));
        node.estimate_minutes = Some(*load);
    }
    plan
}

#[test]
fn g233_accepts_example_18_and_caps_a_jump() {
    let loads = [115, 125, 140, 110, 155, 170, 185, 150, 205, 225, 250, 200, 275, 300, 225, 150];
    assert!(!rules(&validate_roadmap(&training(&loads))).contains(&"G233"));
    let mut plan = training(&[100, 90, 130]);
    assert_eq!(first_violation(Roadmap, &plan, "G233").message, "Week 3 grows by 30 %.");
    fix_first(Roadmap, &mut plan, "G233");
    assert_eq!(road_node(&mut plan, "w2").estimate_minutes, Some(110));
}

#[test]
fn g241_gives_each_round_stages_and_a_result() {
    let mut plan = hybrid();
    node(&mut plan, "make.t").role = Role::Work;
    fix_first(Outline, &mut plan, "G241");
    let mut bare = empty(PatternSpec::new(PatternType::HybridProjectCycle));
    task(&mut bare, "g", "t", Role::Work);
    assert_eq!(
        first_violation(Outline, &bare, "G241").message,
        "Each round needs stages and a result."
    );
    fix_first(Outline, &mut bare, "G241");
    assert_eq!(validate_outline(&bare), []);
}

#[test]
fn g251_gives_a_transformation_parallel_streams() {
    let mut plan = transformation();
    plan.outline.nodes.retain(|node| !node.id.as_str().starts_with("transition"));
    fix_first(Outline, &mut plan, "G251");
    let mut bare = transformation();
    node(&mut bare, "capability").node_type = NodeType::Task;
    node(&mut bare, "capability.t").node_type = NodeType::SubTask;
    fix_first(Outline, &mut bare, "G251");
    assert_eq!(validate_outline(&bare), []);
}
