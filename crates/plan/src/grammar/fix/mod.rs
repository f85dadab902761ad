//! Mechanical fixes: one for each rule that has one, logged like any other change.
//!
//! A fix checks the plan again before it acts, so that it does nothing if an earlier fix already helped. Rules that
//! only a person or a planner can resolve (G101, G103, G106, G201, G305, G401, G402) have no fix here.

mod links;
mod pattern;
mod placement;
mod roadmap;
mod rounds;
mod schedule;
mod shapes;
mod structure;
mod working_copy;

use jiff::Timestamp;

use super::{PlanArtifacts, Stage, validate_stage};
use planwright_model::{
    AdaptationAction, AdaptationLogEntry, NodeOrigin, Severity, TaskId, Violation,
};

/// The maximum number of repair rounds: a fix may uncover a violation that another one fixes.
const MAX_REPAIR_ROUNDS: usize = 8;

/// The result of a fix.
struct AppliedFix {
    action: AdaptationAction,
    node_ids: Vec<TaskId>,
    what: String,
}

impl AppliedFix {
    fn new(action: AdaptationAction, node_ids: Vec<TaskId>, what: impl Into<String>) -> Self {
        Self { action, node_ids, what: what.into() }
    }
}

/// Fixes one violation if that can be done mechanically, and logs it. The plan's version does not change: it counts
/// accepted changes, and a repair is part of a draft.
pub fn fix_violation(
    plan: &mut PlanArtifacts,
    violation: &Violation,
    now: Timestamp,
) -> Option<AdaptationLogEntry> {
    let change = apply_fix(plan, violation)?;
    let entry = AdaptationLogEntry {
        id: format!("a{}", plan.adaptation_log.len() + 1),
        timestamp: now,
        node_ids: change.node_ids,
        action: change.action,
        reason: format!("{}: {}", violation.rule, change.what),
        origin: NodeOrigin::System,
        strategy_applied: None,
        portfolio_impact: None,
        from_version: plan.outline.version,
        to_version: plan.outline.version,
    };
    plan.adaptation_log.push(entry.clone());
    Some(entry)
}

/// Applies all possible fixes at a stage, and returns what was done. A schedule that the fixes leave no better than it
/// was stays as it was: moving one task often only pushes another off its date.
pub fn repair_stage(
    plan: &mut PlanArtifacts,
    stage: Stage,
    now: Timestamp,
) -> Vec<AdaptationLogEntry> {
    let mut entries = Vec::new();
    let kept = plan.schedule.clone().filter(|_| stage == Stage::Schedule);
    let broken = kept.is_some().then(|| count_broken(&validate_stage(stage, plan)));
    let logged = plan.adaptation_log.len();
    for _ in 0..MAX_REPAIR_ROUNDS {
        let found = validate_stage(stage, plan);
        let before = entries.len();
        entries.extend(found.iter().filter_map(|violation| fix_violation(plan, violation, now)));
        if entries.len() == before {
            break;
        }
    }
    let left = || count_broken(&validate_stage(stage, plan));
    if !entries.is_empty() && broken.is_some_and(|broken| left() >= broken) {
        plan.schedule = kept;
        plan.adaptation_log.truncate(logged);
        entries.clear();
    }
    entries
}

/// Counts what a plan must not break, the fatal rules first.
fn count_broken(violations: &[Violation]) -> (usize, usize) {
    let count = |severity| violations.iter().filter(|found| found.severity == severity).count();
    (count(Severity::Fatal), count(Severity::Repairable))
}

fn apply_fix(plan: &mut PlanArtifacts, violation: &Violation) -> Option<AppliedFix> {
    let ids = violation.node_ids.as_slice();
    match (violation.rule.as_str(), ids) {
        ("G102", _) => structure::set_root(plan),
        ("G104", [id, ..]) => structure::place_goal(plan, id),
        ("G105", [id, ..]) => structure::attach_node(plan, id),
        ("G107", [id, ..]) => structure::fix_levels(plan, id),
        ("G108", [id, ..]) => structure::convert_kind(plan, id),
        ("G109", [id, ..]) => structure::add_action(plan, id),
        ("G110", [from, to, ..]) => links::remove_impossible_link(plan, from, to),
        ("G111", ids) => links::break_loop(plan, ids),
        ("G112", [to, from, ..]) => links::remove_blocking_link(plan, from, to),
        ("G202", _) => pattern::fall_back_to_source(plan),
        ("G203", _) => pattern::copy_selected_pattern(plan),
        ("G204", [id, ..]) => pattern::add_review(plan, id),
        ("G211", _) => shapes::order_project(plan),
        ("G212", _) => shapes::define_finish(plan),
        ("G221", _) => rounds::make_routine(plan),
        ("G231", _) => shapes::chain_phases(plan),
        ("G232", [id, ..]) => shapes::add_practice(plan, id),
        ("G233", _) => shapes::cap_growth(plan),
        ("G241", _) => rounds::complete_rounds(plan),
        ("G251", _) => rounds::add_streams(plan),
        ("G301", [id, ..]) => roadmap::add_estimate(plan, id),
        ("G302", [id, ..]) => roadmap::reconcile_with_outline(plan, id),
        ("G303", [from, to, ..]) => roadmap::clip_offset(plan, from, to),
        ("G304", _) => roadmap::compare_options(plan),
        ("G306", [id, ..]) => roadmap::split_leaf(plan, id),
        ("G403", [from, to, ..]) => schedule::delay_early_leaves(plan, from, to),
        ("G404", [id, ..]) => schedule::move_aside(plan, id),
        ("G405", [id, ..]) => schedule::move_into_hours(plan, id),
        ("G406", [id, ..]) => schedule::recompute_times(plan, id),
        ("G407", [id, ..]) => schedule::resplit_leaf(plan, id),
        ("G408", [id, ..]) => schedule::regenerate_occurrences(plan, id),
        ("G409", _) => schedule::shift_optional(plan, violation),
        ("G410", [id, ..]) => schedule::apply_suggested_shift(plan, id),
        _ => None,
    }
}
