//! The heuristics of each stage, term by term.

use std::collections::BTreeSet;

use super::{ConfidenceTerm, build_term, clamp_to_unit};
use crate::grammar::{PlanArtifacts, Stage, total_capacity};
use planwright_model::{
    AssumptionOrigin, NodeType, PatternType, PlanContext, PlanNode, Roadmap, Role, Schedule,
    TaskId, Weekday, WeeklyHours,
};
use planwright_schedule::calendar::{WorkCalendar, WorkHours};

/// Inputs of the heuristics that the artifacts do not contain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfidenceFacts {
    /// The roles that the template requires; empty is treated as all present.
    pub required_roles: Vec<Role>,
}

pub(super) fn stage_terms(
    stage: Stage,
    plan: &PlanArtifacts,
    facts: &ConfidenceFacts,
) -> Vec<ConfidenceTerm> {
    match (stage, &plan.roadmap, &plan.schedule) {
        (Stage::Outline, ..) => outline_terms(plan, facts),
        (Stage::Roadmap, Some(roadmap), _) => roadmap_terms(plan.context(), roadmap),
        (Stage::Schedule, Some(roadmap), Some(schedule)) => {
            schedule_terms(plan.context(), roadmap, schedule)
        }
        // Without the artifact there is nothing to measure.
        (Stage::Roadmap | Stage::Schedule, ..) => Vec::new(),
    }
}

/// Returns a fraction, or 1 if the total is zero.
fn share_or_one(part: f64, total: f64) -> f64 {
    if total > 0.0 { clamp_to_unit(part / total) } else { 1.0 }
}

fn outline_terms(plan: &PlanArtifacts, facts: &ConfidenceFacts) -> Vec<ConfidenceTerm> {
    let nodes = &plan.outline.nodes;
    let present = |role: &&Role| nodes.iter().any(|node| node.role == **role);
    let roles = share_or_one(
        facts.required_roles.iter().filter(present).count() as f64,
        facts.required_roles.len() as f64,
    );
    let tasks: Vec<&PlanNode> =
        nodes.iter().filter(|node| node.node_type == NodeType::Task).collect();
    let checked = tasks.iter().filter(|task| !task.done_when.trim().is_empty()).count();
    vec![
        build_term("template roles", 0.30, roles),
        build_term("tasks with done_when", 0.25, share_or_one(checked as f64, tasks.len() as f64)),
        build_term("balance", 0.25, phase_balance(plan)),
        build_term(
            "context",
            0.20,
            known_context(
                plan.context(),
                plan.outline.pattern.as_ref().map(|spec| spec.pattern_type),
            ),
        ),
    ]
}

/// Returns how far the largest phase stays within half of the plan: by minutes if there are any, else by leaves.
fn phase_balance(plan: &PlanArtifacts) -> f64 {
    let tree = plan.outline.node_tree();
    let root = &plan.outline.root_id;
    let parts: Vec<&PlanNode> =
        tree.children(root).filter(|node| node.node_type == NodeType::Phase).collect();
    let by_minutes = tree.total_minutes(root) > 0;
    let size = |node: &&PlanNode| {
        if by_minutes {
            f64::from(tree.total_minutes(&node.id))
        } else {
            tree.leaves(&node.id).len() as f64
        }
    };
    let total: f64 = parts.iter().map(size).sum();
    // With fewer than two phases nothing can be unbalanced.
    if parts.len() < 2 || total <= 0.0 {
        return 1.0;
    }
    let largest = parts.iter().map(size).fold(0.0, f64::max);
    1.0 - ((largest / total - 0.5) / 0.5).max(0.0)
}

/// Returns the facts that a pattern needs, by their keys.
pub fn needed_facts(pattern: Option<PatternType>) -> Vec<&'static str> {
    let mut facts = vec!["horizon", "weekly_minutes"];
    match pattern {
        Some(PatternType::RecurringCycle | PatternType::HybridProjectCycle) => {
            facts.push("cadence");
        }
        Some(PatternType::ProgressiveAccumulationArc) => facts.push("level"),
        _ => {}
    }
    facts.push("tz");
    facts
}

fn known_context(context: &PlanContext, pattern: Option<PatternType>) -> f64 {
    let facts = needed_facts(pattern);
    facts.iter().map(|fact| fact_certainty(context, fact)).sum::<f64>() / facts.len() as f64
}

/// Returns 1 if the fact was stated by the person or known from memory, 0.5 if it is assumed, 0 if it is unknown.
fn fact_certainty(context: &PlanContext, fact: &str) -> f64 {
    let keys: &[&str] =
        if fact == "horizon" { &["deadline", "horizon_weeks", "horizon"] } else { &[fact] };
    let assumed = keys.iter().find_map(|key| context.find_assumption(key));
    let limits = &context.constraints;
    let stated = match fact {
        "horizon" => limits.deadline.is_some() || limits.horizon_weeks.is_some(),
        "weekly_minutes" => limits.weekly_minutes.is_some(),
        "tz" => !context.calendar.tz.is_empty(),
        _ => false,
    };
    match assumed.map(|assumption| assumption.origin) {
        Some(AssumptionOrigin::Template) => 0.5,
        Some(AssumptionOrigin::User | AssumptionOrigin::Memory) => 1.0,
        None => f64::from(u8::from(stated)),
    }
}

/// Returns how much of the effort the capacity covers.
pub(super) fn effort_fit(effort: f64, capacity: f64) -> f64 {
    if effort > 0.0 { clamp_to_unit(capacity / effort) } else { 1.0 }
}

fn roadmap_terms(context: &PlanContext, roadmap: &Roadmap) -> Vec<ConfidenceTerm> {
    let tree = roadmap.node_tree();
    let leaves = tree.leaves(&roadmap.root_id);
    let count = leaves.len() as f64;
    let estimated = leaves
        .iter()
        .filter(|leaf| leaf.milestone || leaf.role == Role::Gate || leaf.work_minutes() > 0)
        .count();
    let linked = linked_ids(roadmap);
    let connected = leaves.iter().filter(|leaf| {
        let chain = tree.ancestors(&leaf.id);
        let above = chain.iter().any(|node| linked.contains(&node.id));
        linked.contains(&leaf.id) || above || is_first(roadmap, leaf)
    });
    let effort = f64::from(tree.total_minutes(&roadmap.root_id));
    let fit = total_capacity(context).map_or(1.0, |capacity| effort_fit(effort, capacity));
    vec![
        build_term("leaves with estimate", 0.35, share_or_one(estimated as f64, count)),
        build_term("leaves linked or first", 0.25, share_or_one(connected.count() as f64, count)),
        build_term("option margin", 0.20, option_margin(roadmap)),
        build_term("effort fit", 0.20, fit),
    ]
}

fn linked_ids(roadmap: &Roadmap) -> BTreeSet<&TaskId> {
    roadmap.dependencies.iter().flat_map(|link| [&link.from, &link.to]).collect()
}

/// Returns whether no sibling of the same stream precedes a leaf.
fn is_first(roadmap: &Roadmap, leaf: &PlanNode) -> bool {
    let mut siblings = roadmap.nodes.iter().filter(|node| {
        node.parent_id == leaf.parent_id && node.stream == leaf.stream && node.id != leaf.id
    });
    !siblings.any(|node| node.position < leaf.position)
}

/// Returns how clearly the best option leads the second.
fn option_margin(roadmap: &Roadmap) -> f64 {
    let mut scores: Vec<f64> = roadmap.options_tried.iter().map(|option| option.score).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    match scores.as_slice() {
        [best, second, ..] => clamp_to_unit((best - second) / 0.10),
        _ => 0.0,
    }
}

fn schedule_terms(
    context: &PlanContext,
    roadmap: &Roadmap,
    schedule: &Schedule,
) -> Vec<ConfidenceTerm> {
    let minutes = |block: &planwright_model::ScheduledBlock| {
        f64::from(u32::try_from(block.start.minutes_until(block.end)).unwrap_or(0))
    };
    let placed: f64 = schedule.blocks.iter().map(minutes).sum();
    let left: f64 = schedule.unplaced.iter().map(|one| f64::from(one.minutes)).sum();
    // Recurring work is placed more often than it is estimated, so the total is what had to be placed.
    let total = (placed + left).max(f64::from(roadmap.total_minutes));
    let target = context.strategy_profile.target_utilization;
    let peak = schedule.capacity.iter().map(|row| row.utilization / 100.0).fold(0.0, f64::max);
    let over = (peak - target).max(0.0);
    let fit = if over <= 0.0 { 1.0 } else { 1.0 - over / (1.0 - target).max(f64::EPSILON) };
    let windows = &context.user_prefs.preferred_windows;
    let preferred = if windows.is_empty() {
        1.0
    } else {
        share_or_one(preferred_minutes(context, windows, schedule), placed)
    };
    vec![
        build_term("placed", 0.40, share_or_one(placed, total)),
        build_term("slack", 0.25, deadline_slack(context, schedule)),
        build_term("utilization fit", 0.20, fit),
        build_term("preferred windows", 0.15, preferred),
    ]
}

/// Returns how much of the desired free time before the deadline exists; 1 without a deadline.
fn deadline_slack(context: &PlanContext, schedule: &Schedule) -> f64 {
    let Some(deadline) = context.constraints.deadline else { return 1.0 };
    let Some(finish) = schedule.finish_time() else { return 1.0 };
    let calendar = WorkCalendar::new((&context.calendar).into(), schedule.horizon_start.at);
    let Ok(calendar) = calendar else { return 0.0 };
    let horizon = calendar.working_between(schedule.horizon_start.at, deadline.at) as f64;
    let free = calendar.working_between(finish.at, deadline.at) as f64;
    let wanted = context.strategy_profile.buffer_ratio * horizon;
    if finish.at > deadline.at { 0.0 } else { share_or_one(free, wanted) }
}

/// Returns the minutes of the blocks that lie in the preferred windows.
fn preferred_minutes(context: &PlanContext, windows: &WeeklyHours, schedule: &Schedule) -> f64 {
    let calendar = planwright_model::PlanCalendar {
        working: Weekday::ALL
            .into_iter()
            .filter_map(|day| Some((day, windows.get(&day)?.clone())))
            .collect(),
        ..planwright_model::PlanCalendar::new(context.calendar.tz.clone())
    };
    let first = schedule.blocks.iter().map(|block| block.start.at).min();
    let Some(first) = first else { return 0.0 };
    let Ok(calendar) = WorkCalendar::new(WorkHours::from(&calendar), first) else { return 0.0 };
    let minutes = |block: &planwright_model::ScheduledBlock| {
        calendar.working_between(block.start.at, block.end.at) as f64
    };
    schedule.blocks.iter().map(minutes).sum()
}
