//! A small valid plan for each pattern, and helpers that break one rule.

use crate::grammar::fix_violation;
use jiff::Timestamp;

use crate::grammar::{PlanArtifacts, Stage, validate_stage};
use planwright_model::{
    AdaptationLogEntry, NodeDependency, NodeType, OffsetDateTime, PatternSpec, PatternType,
    PlanContext, PlanNode, PlanOutline, Recurrence, Risk, Roadmap, RoadmapOption, Role, Schedule,
    ScheduledBlock, TaskId, Violation,
};

pub(super) fn now() -> Timestamp {
    "2026-06-01T08:00:00Z".parse().unwrap()
}

pub(super) fn moment(text: &str) -> OffsetDateTime {
    text.parse().unwrap()
}

/// Adds a node below another; positions follow the order of adding.
pub(super) fn add(plan: &mut PlanArtifacts, parent: &str, id: &str, kind: NodeType) -> usize {
    let nodes = &mut plan.outline.nodes;
    let above = nodes.iter().find(|node| node.id.as_str() == parent).unwrap().clone();
    let mut node = PlanNode::new_child(&above, id, kind, format!("Title {id}"));
    node.position = nodes.iter().filter(|other| other.parent_id == node.parent_id).count() as u16;
    nodes.push(node);
    nodes.len() - 1
}

pub(super) fn task(plan: &mut PlanArtifacts, parent: &str, id: &str, role: Role) {
    let index = add(plan, parent, id, NodeType::Task);
    plan.outline.nodes[index].role = role;
}

pub(super) fn node<'a>(plan: &'a mut PlanArtifacts, id: &str) -> &'a mut PlanNode {
    plan.outline.nodes.iter_mut().find(|node| node.id.as_str() == id).unwrap()
}

pub(super) fn road_node<'a>(plan: &'a mut PlanArtifacts, id: &str) -> &'a mut PlanNode {
    let nodes = &mut plan.roadmap.as_mut().unwrap().nodes;
    nodes.iter_mut().find(|node| node.id.as_str() == id).unwrap()
}

pub(super) fn empty(pattern: PatternSpec) -> PlanArtifacts {
    let mut context =
        PlanContext::new("Move house", jiff::civil::date(2026, 6, 1), "Europe/Berlin");
    context.pattern = Some(pattern);
    context.constraints.horizon_weeks = Some(4);
    PlanArtifacts::new(PlanOutline::new("g", context))
}

pub(super) fn link(from: &str, to: &str) -> NodeDependency {
    NodeDependency::finish_to_start(from, to)
}

/// Two phases with two tasks each, and a milestone at the end.
pub(super) fn project() -> PlanArtifacts {
    let mut plan = empty(PatternSpec::with_subtype(PatternType::MilestoneProject, "generic"));
    for phase in ["p1", "p2"] {
        add(&mut plan, "g", phase, NodeType::Phase);
        for part in ["t1", "t2"] {
            task(&mut plan, phase, &format!("{phase}.{part}"), Role::Work);
        }
    }
    task(&mut plan, "g", "done", Role::Work);
    node(&mut plan, "done").milestone = true;
    plan.draft_links =
        vec![link("p1.t1", "p1.t2"), link("p1", "p2"), link("p2.t1", "p2.t2"), link("p2", "done")];
    plan
}

/// Two phases with study, practice and reflection.
pub(super) fn arc() -> PlanArtifacts {
    let mut plan =
        empty(PatternSpec::with_subtype(PatternType::ProgressiveAccumulationArc, "learning_arc"));
    for phase in ["p1", "p2", "p3"] {
        add(&mut plan, "g", phase, NodeType::Phase);
        for (part, role) in [("a", Role::Work), ("b", Role::Practice), ("c", Role::Reflection)] {
            task(&mut plan, phase, &format!("{phase}.{part}"), role);
        }
    }
    plan.draft_links = vec![link("p1", "p2"), link("p2", "p3")];
    plan
}

/// A weekly cycle with a review.
pub(super) fn routine() -> PlanArtifacts {
    let mut plan = empty(PatternSpec::with_subtype(PatternType::RecurringCycle, "review_routine"));
    add(&mut plan, "g", "c", NodeType::Cycle);
    node(&mut plan, "c").recurrence =
        Some(Recurrence::every(planwright_model::RecurrenceFrequency::Weekly));
    task(&mut plan, "c", "c.t", Role::Review);
    plan
}

/// A monthly round with stages and a result.
pub(super) fn hybrid() -> PlanArtifacts {
    let mut plan =
        empty(PatternSpec::with_subtype(PatternType::HybridProjectCycle, "content_series"));
    add(&mut plan, "g", "c", NodeType::Cycle);
    node(&mut plan, "c").recurrence =
        Some(Recurrence::every(planwright_model::RecurrenceFrequency::Monthly));
    for (phase, role) in [("make", Role::Deliverable), ("reflect", Role::Reflection)] {
        add(&mut plan, "c", phase, NodeType::Phase);
        task(&mut plan, phase, &format!("{phase}.t"), role);
    }
    plan
}

/// Two streams with a sub-goal each, and a quarterly review.
pub(super) fn transformation() -> PlanArtifacts {
    let mut plan =
        empty(PatternSpec::with_subtype(PatternType::StrategicTransformation, "role_change"));
    for stream in ["capability", "transition"] {
        add(&mut plan, "g", stream, NodeType::SubGoal);
        node(&mut plan, stream).stream = stream.to_owned();
        task(&mut plan, stream, &format!("{stream}.t"), Role::Work);
    }
    task(&mut plan, "g", "look", Role::Review);
    node(&mut plan, "look").stream = "review".to_owned();
    plan
}

/// Gives a plan a roadmap: an hour for every leaf, its links, two options.
pub(super) fn with_roadmap(mut plan: PlanArtifacts) -> PlanArtifacts {
    let mut roadmap = Roadmap::new(&plan.outline, plan.draft_links.clone());
    let leaves: Vec<TaskId> =
        plan.outline.node_tree().leaves(&"g".into()).iter().map(|leaf| leaf.id.clone()).collect();
    for node in roadmap.nodes.iter_mut().filter(|node| leaves.contains(&node.id) && !node.milestone)
    {
        node.estimate_minutes = Some(60);
    }
    roadmap.total_minutes = roadmap.node_tree().total_minutes(&"g".into());
    for (id, chosen) in [("balanced", true), ("lean", false)] {
        roadmap.options_tried.push(RoadmapOption {
            id: id.to_owned(),
            label: id.to_owned(),
            summary: String::new(),
            tasks: String::new(),
            effort_minutes: 240,
            span_weeks: 4,
            risk: Risk::Low,
            score: 0.5,
            chosen,
            rationale: "it fits".to_owned(),
        });
    }
    plan.roadmap = Some(roadmap);
    plan
}

pub(super) fn block(id: &str, start: &str, minutes: i64) -> ScheduledBlock {
    let start = moment(start);
    ScheduledBlock::new(
        id,
        format!("Title {id}"),
        start,
        start.plus_minutes(minutes),
        "Europe/Berlin",
    )
}

/// The project with a roadmap and a schedule: one task an hour, Monday 2026-06-01 from nine.
pub(super) fn scheduled() -> PlanArtifacts {
    let mut plan = with_roadmap(project());
    let mut schedule = Schedule::new(
        "Europe/Berlin",
        moment("2026-06-01T00:00:00+02:00"),
        moment("2026-06-29T00:00:00+02:00"),
    );
    for (id, hour) in [("p1.t1", 9), ("p1.t2", 10), ("p2.t1", 11), ("p2.t2", 12)] {
        schedule.blocks.push(block(id, &format!("2026-06-01T{hour:02}:00:00+02:00"), 60));
    }
    plan.schedule = Some(schedule);
    plan
}

pub(super) fn rules(found: &[Violation]) -> Vec<&str> {
    found.iter().map(|violation| violation.rule.as_str()).collect()
}

/// Returns the first violation of a rule, which must exist.
pub(super) fn first_violation(stage: Stage, plan: &PlanArtifacts, rule: &str) -> Violation {
    let found = validate_stage(stage, plan);
    let hit = found.iter().find(|violation| violation.rule == rule);
    hit.unwrap_or_else(|| panic!("{rule} is not among {found:#?}")).clone()
}

/// Applies the fix for the first violation of a rule and checks that the rule is then satisfied.
pub(super) fn fix_first(stage: Stage, plan: &mut PlanArtifacts, rule: &str) -> AdaptationLogEntry {
    let violation = first_violation(stage, plan, rule);
    let entry =
        fix_violation(plan, &violation, now()).unwrap_or_else(|| panic!("{rule} has no fix here"));
    let left = validate_stage(stage, plan);
    assert!(!rules(&left).contains(&rule), "{rule} is still broken: {left:#?}");
    assert_eq!(plan.adaptation_log.last(), Some(&entry));
    entry
}
