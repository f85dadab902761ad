//! The grammar of plans: the rules for an outline, a roadmap and a schedule, and the fixes for broken rules.
//!
//! The rules are data in [`RULES`]; each has one small function that finds violations, and a mechanical
//! [`fix_violation`] if the remedy needs no judgment. Nothing here drafts a plan, and a fix changes no more than its
//! rule requires.

mod artifacts;
mod facts;
mod fix;
mod links;
mod outcome;
mod pattern;
mod roadmap;
mod rule_table;
mod schedule;
mod shapes;
mod structure;
#[cfg(test)]
mod tests;

pub use artifacts::{PlanArtifacts, PlanSurroundings};
pub use facts::BROKEN_FACT_RULE;
pub use fix::{fix_violation, repair_stage};
pub use outcome::{Stage, ValidationOutcome, validation_outcome};
pub use pattern::{check_pattern_name, nearest_pattern};
pub use roadmap::{total_capacity, weekly_capacity};
pub use rule_table::{GrammarRule, RULES, RuleSeverity, explain_rule, find_rule, is_infeasible};
pub use shapes::WEEK_TAG;

use artifacts::RuleScope;

use planwright_model::Violation;

/// Checks the rules of an outline: its tree, its links if there are any, and its pattern.
pub fn validate_outline(plan: &PlanArtifacts) -> Vec<Violation> {
    check_tree_rules(&plan.outline_scope())
}

/// Checks the rules of a roadmap, and those of the outline on its nodes. Without a roadmap, only those of the outline.
pub fn validate_roadmap(plan: &PlanArtifacts) -> Vec<Violation> {
    let (Some(scope), Some(roadmap)) = (plan.roadmap_scope(), plan.roadmap.as_ref()) else {
        return validate_outline(plan);
    };
    let mut found = check_tree_rules(&scope);
    roadmap::check_roadmap(&scope, roadmap, &mut found);
    found
}

/// Checks the rules of a schedule, and whether the plan respects what was said. Those of outline and roadmap are not checked again.
pub fn validate_schedule(plan: &PlanArtifacts) -> Vec<Violation> {
    let mut found = Vec::new();
    if let (Some(scope), Some(schedule)) = (plan.roadmap_scope(), plan.schedule.as_ref()) {
        schedule::check_schedule(&scope, schedule, &mut found);
        facts::check_facts(&scope, schedule, &mut found);
    }
    found
}

/// Checks the rules of one stage.
pub fn validate_stage(stage: Stage, plan: &PlanArtifacts) -> Vec<Violation> {
    match stage {
        Stage::Outline => validate_outline(plan),
        Stage::Roadmap => validate_roadmap(plan),
        Stage::Schedule => validate_schedule(plan),
    }
}

fn check_tree_rules(scope: &RuleScope<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    structure::check_structure(scope, &mut found);
    if !scope.nodes.is_empty() {
        links::check_links(scope, &mut found);
        pattern::check_pattern(scope, &mut found);
        shapes::check_shape(scope, &mut found);
    }
    found
}
