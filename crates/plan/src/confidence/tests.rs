//! The worked examples of confidence, and its heuristics.

use super::*;
use crate::grammar::{ValidationOutcome, validation_outcome};
use planwright_model::{
    Assumption, AssumptionOrigin, NodeType, PatternSpec, PatternType, PlanContext, PlanNode,
    PlanOutline, Roadmap, Role, Schedule, ScheduledBlock, TaskId, UnplacedWork, WeekCapacity,
};

fn violation(rule: &str, severity: Severity, node: &str) -> Violation {
    Violation::new(rule, severity, "", "").with_nodes([TaskId::from(node)])
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

#[test]
fn example_9_one_repairable_and_two_warnings() {
    let found = [
        violation("G105", Severity::Repairable, "a"),
        violation("G204", Severity::Warning, "b"),
        violation("G204", Severity::Warning, "c"),
    ];
    let settings = ConfidenceSettings::default();
    let confidence = combine_scores(Stage::Outline, Some(0.80), &found, 0.70, &settings);
    assert!(close(confidence.rules, 0.79));
    assert!(close(confidence.value, 0.777));
    assert_eq!(confidence.verdict, ConfidenceVerdict::Continue);
    assert!(!confidence.may_advance, "a repairable violation remains");
    assert_eq!(validation_outcome(Stage::Outline, &found), ValidationOutcome::InvalidRetryable);
}

#[test]
fn example_10_offline_and_the_edges_of_the_bands() {
    let settings = ConfidenceSettings::default();
    let confidence = combine_scores(Stage::Outline, None, &[], 0.60, &settings);
    assert!(close(confidence.value, 0.84));
    assert!(confidence.may_advance);
    let verdicts = [0.700, 0.699, 0.400, 0.399].map(|value| confidence_verdict(value, &settings));
    let expected = [
        ConfidenceVerdict::Continue,
        ConfidenceVerdict::Retry,
        ConfidenceVerdict::Retry,
        ConfidenceVerdict::Escalate,
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(
        confidence_verdict(0.6995, &settings),
        ConfidenceVerdict::Continue,
        "rounding comes first"
    );
}

#[test]
fn the_rule_score_counts_each_rule_and_node_once() {
    let warning = |node: &str| violation("G409", Severity::Warning, node);
    assert!(close(rule_score(&[]), 1.0));
    assert!(close(rule_score(&[warning("a"), warning("a")]), 0.97));
    let many: Vec<Violation> = (0..20).map(|node| warning(&node.to_string())).collect();
    assert!(close(rule_score(&many), 0.85));
    let broken: Vec<Violation> =
        (0..20).map(|node| violation("G301", Severity::Repairable, &node.to_string())).collect();
    assert!(close(rule_score(&broken), 0.0));
    assert!(close(rule_score(&[violation("G401", Severity::Fatal, "a")]), 0.0));
}

fn plan() -> PlanArtifacts {
    let mut context = PlanContext::new("Move", jiff::civil::date(2026, 6, 1), "Europe/Berlin");
    context.constraints.horizon_weeks = Some(1);
    context.constraints.weekly_minutes = Some(600);
    context.assumptions.push(Assumption {
        key: "weekly_minutes".to_owned(),
        value: "600".to_owned(),
        origin: AssumptionOrigin::Template,
        question: None,
    });
    context.pattern = Some(PatternSpec::new(PatternType::MilestoneProject));
    let mut outline = PlanOutline::new("g", context);
    let root = outline.nodes[0].clone();
    for (phase, tasks) in [("p", 3_u16), ("q", 1)] {
        let container = PlanNode::new_child(&root, phase, NodeType::Phase, phase);
        for position in 0..tasks {
            let mut task =
                PlanNode::new_child(&container, format!("{phase}{position}"), NodeType::Task, "t");
            task.position = position;
            outline.nodes.push(task);
        }
        outline.nodes.push(container);
    }
    outline.nodes[1].done_when = "seen".to_owned();
    PlanArtifacts::new(outline)
}

fn values(stage: Stage, plan: &PlanArtifacts, facts: &ConfidenceFacts) -> Vec<f64> {
    let judged = judge_stage(stage, plan, facts, &[], None, &ConfidenceSettings::default());
    let weights: f64 = judged.terms.iter().map(|term| term.weight).sum();
    assert!(close(weights, 1.0));
    judged.terms.iter().map(|term| round_to_thousandth(term.value)).collect()
}

#[test]
fn the_terms_of_an_outline() {
    let facts = ConfidenceFacts { required_roles: vec![Role::Work, Role::Review] };
    // One role of two; one task of four; the larger phase has three leaves of four; one fact of three is assumed.
    assert_eq!(values(Stage::Outline, &plan(), &facts), [0.5, 0.25, 0.5, 0.833]);
}

#[test]
fn the_terms_of_a_roadmap() {
    let mut plan = plan();
    let mut roadmap = Roadmap::new(&plan.outline, Vec::new());
    for node in roadmap.nodes.iter_mut().filter(|node| node.id.as_str() != "p2") {
        node.estimate_minutes = Some(400);
    }
    plan.roadmap = Some(roadmap);
    // Three leaves of four have an estimate, two are first in their stream, no options, 600 of 1200 minutes.
    assert_eq!(values(Stage::Roadmap, &plan, &ConfidenceFacts::default()), [0.75, 0.5, 0.0, 0.5]);
}

#[test]
fn the_terms_of_a_schedule() {
    let mut plan = plan();
    plan.roadmap = Some(Roadmap::new(&plan.outline, Vec::new()));
    let at = |text: &str| text.parse().unwrap();
    let start = at("2026-06-01T00:00:00+02:00");
    let mut schedule = Schedule::new("Europe/Berlin", start, at("2026-06-08T00:00:00+02:00"));
    let (nine, ten) = (at("2026-06-01T09:00:00+02:00"), at("2026-06-01T10:00:00+02:00"));
    schedule.blocks.push(ScheduledBlock::new("p0", "t", nine, ten, "Europe/Berlin"));
    schedule.unplaced.push(UnplacedWork { plan_node_id: "p1".into(), minutes: 60 });
    schedule.capacity.push(WeekCapacity::new("2026-W23".parse().unwrap(), 100, 90, 0));
    plan.schedule = Some(schedule);
    let constraints = &mut plan.outline.plan_context.constraints;
    // 24 of the wanted 48 minutes are free before the deadline: 480 minutes of horizon, a tenth of them.
    constraints.deadline = Some(at("2026-06-01T17:00:00+02:00"));
    let schedule = plan.schedule.as_mut().unwrap();
    schedule.blocks[0].start = at("2026-06-01T15:36:00+02:00");
    schedule.blocks[0].end = at("2026-06-01T16:36:00+02:00");
    assert_eq!(values(Stage::Schedule, &plan, &ConfidenceFacts::default()), [0.5, 0.5, 0.5, 1.0]);
}

#[test]
fn an_option_is_scored_by_what_it_achieves_and_leaves_free() {
    let weights = StrategyWeights::default();
    assert!(close(option_score(&weights, 0.0, 600.0, 0.0), 1.0));
    assert!(close(option_score(&weights, 1200.0, 600.0, 1.0), 0.25));
}
