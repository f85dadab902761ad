//! G110 to G112.

use super::fixture::*;
use crate::grammar::Stage::Outline;
use crate::grammar::fix_violation;
use crate::grammar::validation_outcome;
use crate::grammar::{ValidationOutcome, validate_outline};
use planwright_model::{LinkOrigin, NodeDependency, NodeStatus, NodeType, Severity};

fn drawn(from: &str, to: &str, origin: LinkOrigin) -> NodeDependency {
    NodeDependency { origin, ..link(from, to) }
}

#[test]
fn g110_removes_impossible_links() {
    for (from, to) in [("p1.t1", "gone"), ("p1.t1", "p1.t1"), ("p1", "p1.t1")] {
        let mut plan = project();
        plan.draft_links.push(link(from, to));
        let violation = first_violation(Outline, &plan, "G110");
        assert!(violation.message.contains("can't wait for"), "{}", violation.message);
        fix_first(Outline, &mut plan, "G110");
        assert_eq!(plan.draft_links, project().draft_links);
    }
}

/// Three tasks in two phases, as example 8 links them.
fn three(origins: [LinkOrigin; 3]) -> crate::grammar::PlanArtifacts {
    let mut plan = project();
    for id in ["A", "B", "C"] {
        add(&mut plan, "p1", id, NodeType::Task);
    }
    let ends = [("A", "B"), ("B", "C"), ("C", "A")];
    let links = ends.iter().zip(origins).map(|(&(from, to), origin)| drawn(from, to, origin));
    plan.draft_links.extend(links);
    plan
}

#[test]
fn example_8_the_inferred_link_of_a_cycle_is_removed_and_a_cycle_of_user_links_is_fatal() {
    let system = LinkOrigin::System;
    let mut plan = three([system, system, LinkOrigin::Inferred]);
    let violation = first_violation(Outline, &plan, "G111");
    assert_eq!(violation.severity, Severity::Repairable);
    assert_eq!(violation.message, "A → B → C → A wait for each other.");
    fix_first(Outline, &mut plan, "G111");
    assert!(!plan.draft_links.iter().any(|link| link.from.as_str() == "C"));
    assert_eq!(validate_outline(&plan), []);

    let mut own = three([LinkOrigin::UserFeedback; 3]);
    let violation = first_violation(Outline, &own, "G111");
    assert_eq!(violation.severity, Severity::Fatal);
    assert_eq!(fix_violation(&mut own, &violation, now()), None);
    assert_eq!(
        validation_outcome(Outline, &validate_outline(&own)),
        ValidationOutcome::InvalidFatal
    );
}

#[test]
fn g111_finds_cycles_through_containers() {
    let mut plan = project();
    plan.draft_links.push(drawn("p2.t1", "p1", LinkOrigin::AiAdaptation));
    let violation = first_violation(Outline, &plan, "G111");
    assert_eq!(violation.message, "p2.t1 → p1 → p2.t1 wait for each other.");
    // The template's link is trusted less than the adaptation.
    fix_first(Outline, &mut plan, "G111");
    assert!(!plan.draft_links.contains(&link("p1", "p2")));
}

#[test]
fn g111_removes_the_newest_of_equally_trusted_links() {
    let mut plan = three([LinkOrigin::System; 3]);
    fix_first(Outline, &mut plan, "G111");
    assert!(!plan.draft_links.contains(&link("C", "A")));
}

#[test]
fn g111_finds_a_mixed_cycle_next_to_one_of_user_links() {
    let mut plan = three([LinkOrigin::UserFeedback; 3]);
    plan.draft_links.push(drawn("B", "A", LinkOrigin::System));
    let found = validate_outline(&plan);
    let loops: Vec<_> =
        found.iter().filter(|one| one.rule == "G111").map(|one| one.severity).collect();
    assert_eq!(loops, [Severity::Fatal, Severity::Repairable]);
}

#[test]
fn g112_removes_links_that_can_never_start() {
    let mut plan = project();
    node(&mut plan, "p1.t1").status = NodeStatus::Blocked;
    let violation = first_violation(Outline, &plan, "G112");
    assert_eq!(violation.message, "\"Title p1.t2\" can never start because of \"Title p1.t1\".");
    assert_eq!(violation.suggested_fix, "Remove the link or restore \"Title p1.t1\".");
    fix_first(Outline, &mut plan, "G112");
}

#[test]
fn g112_detects_dropped_predecessors() {
    let mut plan = project();
    plan.draft_links.push(link("old", "p1.t1"));
    let mut entry = fix_first(Outline, &mut { plan.clone() }, "G110");
    entry.action = planwright_model::AdaptationAction::Remove;
    entry.node_ids = vec!["old".into()];
    plan.adaptation_log.push(entry);
    fix_first(Outline, &mut plan, "G112");
    assert_eq!(plan.draft_links, project().draft_links);
}

#[test]
fn g112_keeps_a_user_link_to_a_blocked_node() {
    let mut plan = project();
    node(&mut plan, "p1.t1").status = NodeStatus::Blocked;
    plan.draft_links[0].origin = LinkOrigin::UserFeedback;
    let violation = first_violation(Outline, &plan, "G112");
    assert_eq!(fix_violation(&mut plan, &violation, now()), None);
}
