//! What mends a broken rule without judgement: one fix for each rule that has one, logged like any other change.
//!
//! A fix looks at the plan again before it acts, so that it does nothing where an earlier fix already helped. What only
//! a person or a planner can decide (G101, G103, G106, G201, G305, G401, G402) has no fix here.

mod links;
mod pattern;
mod place;
mod roadmap;
mod rounds;
mod schedule;
mod shapes;
mod sketch;
mod structure;

use jiff::Timestamp;

use super::{PlanArtifacts, Stage, validate};
use planwright_model::{AdaptationAction, AdaptationLogEntry, Origin, TaskId, Violation};

/// How often repairing looks again: a fix may uncover what another one mends.
const ROUNDS: usize = 8;

/// What a fix did.
struct Change {
    action: AdaptationAction,
    node_ids: Vec<TaskId>,
    what: String,
}

impl Change {
    fn new(action: AdaptationAction, node_ids: Vec<TaskId>, what: impl Into<String>) -> Self {
        Self { action, node_ids, what: what.into() }
    }
}

/// Mends one violation if that can be done mechanically, and logs it. The plan's version stays: it counts accepted
/// changes, and a repair is part of a draft.
pub fn fix(
    plan: &mut PlanArtifacts,
    violation: &Violation,
    now: Timestamp,
) -> Option<AdaptationLogEntry> {
    let change = change(plan, violation)?;
    let entry = AdaptationLogEntry {
        id: format!("a{}", plan.adaptation_log.len() + 1),
        timestamp: now,
        node_ids: change.node_ids,
        action: change.action,
        reason: format!("{}: {}", violation.rule, change.what),
        origin: Origin::System,
        strategy_applied: None,
        portfolio_impact: None,
        from_version: plan.outline.version,
        to_version: plan.outline.version,
    };
    plan.adaptation_log.push(entry.clone());
    Some(entry)
}

/// Mends what can be mended at a stage, and says what was done.
pub fn repair(plan: &mut PlanArtifacts, stage: Stage, now: Timestamp) -> Vec<AdaptationLogEntry> {
    let mut entries = Vec::new();
    for _ in 0..ROUNDS {
        let found = validate(stage, plan);
        let before = entries.len();
        entries.extend(found.iter().filter_map(|violation| fix(plan, violation, now)));
        if entries.len() == before {
            break;
        }
    }
    entries
}

fn change(plan: &mut PlanArtifacts, violation: &Violation) -> Option<Change> {
    let ids = violation.node_ids.as_slice();
    match (violation.rule.as_str(), ids) {
        ("G102", _) => structure::set_root(plan),
        ("G104", [id, ..]) => structure::place_goal(plan, id),
        ("G105", [id, ..]) => structure::attach(plan, id),
        ("G107", [id, ..]) => structure::relevel(plan, id),
        ("G108", [id, ..]) => structure::convert(plan, id),
        ("G109", [id, ..]) => structure::add_action(plan, id),
        ("G110", [from, to, ..]) => links::remove_impossible(plan, from, to),
        ("G111", ids) => links::open_loop(plan, ids),
        ("G112", [to, from, ..]) => links::unhook(plan, from, to),
        ("G202", _) => pattern::fall_back(plan),
        ("G203", _) => pattern::copy_selected(plan),
        ("G204", [id, ..]) => pattern::add_review(plan, id),
        ("G211", _) => shapes::order_project(plan),
        ("G212", _) => shapes::define_finish(plan),
        ("G221", _) => rounds::make_routine(plan),
        ("G231", _) => shapes::chain_phases(plan),
        ("G232", [id, ..]) => shapes::add_practice(plan, id),
        ("G233", _) => shapes::cap_growth(plan),
        ("G241", _) => rounds::complete_rounds(plan),
        ("G251", _) => rounds::add_streams(plan),
        ("G301", [id, ..]) => roadmap::estimate(plan, id),
        ("G302", [id, ..]) => roadmap::reconcile(plan, id),
        ("G303", [from, to, ..]) => roadmap::clip_offset(plan, from, to),
        ("G304", _) => roadmap::compare_options(plan),
        ("G306", [id, ..]) => roadmap::split(plan, id),
        ("G403", [from, to, ..]) => schedule::delay(plan, from, to),
        ("G404", [id, ..]) => schedule::move_aside(plan, id),
        ("G405", [id, ..]) => schedule::move_into_hours(plan, id),
        ("G406", [id, ..]) => schedule::recompute_times(plan, id),
        ("G407", [id, ..]) => schedule::split_again(plan, id),
        ("G408", [id, ..]) => schedule::repeat_again(plan, id),
        ("G409", _) => schedule::shift_optional(plan, violation),
        ("G410", [id, ..]) => schedule::shift_as_suggested(plan, id),
        _ => None,
    }
}
