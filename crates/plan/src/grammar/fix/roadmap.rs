//! Fixes for the roadmap (G301 to G306).

use super::super::PlanArtifacts;
use super::super::roadmap::{
    corrected_offset, has_compared_options, is_too_big, lacks_estimate, outline_differences,
    weekly_capacity,
};
use super::AppliedFix;
use super::working_copy::edit_plan;
use crate::confidence::option_score;
use planwright_model::AdaptationAction::{Add, ReEstimate, Relink, Repair};
use planwright_model::{NodeDependency, NodeType, Risk, RoadmapOption, TaskId};

/// The assumed duration of a leaf without siblings to derive it from.
const DEFAULT_MINUTES: u32 = 60;
/// The maximum length of a part when a leaf is split.
const PART_MINUTES: u32 = 480;
/// The maximum number of parts into which a leaf is split.
const MAX_PARTS: u32 = 200;

/// G301: uses the median of the siblings, or else an hour. Template shares are the planner's responsibility.
pub(super) fn add_estimate(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.scope();
    let node = scope.tree.get(id).filter(|node| lacks_estimate(&scope, node))?;
    let siblings = node.parent_id.iter().flat_map(|parent| scope.tree.children(parent));
    let mut known: Vec<u32> =
        siblings.filter_map(|node| node.estimate_minutes).filter(|minutes| *minutes > 0).collect();
    known.sort_unstable();
    let middle = known.get(known.len() / 2).zip(known.get(known.len().saturating_sub(1) / 2));
    let minutes = middle.map_or(DEFAULT_MINUTES, |(upper, lower)| lower + (upper - lower) / 2);
    let id = id.clone();
    edit_plan(plan, |sketch| {
        sketch.node_mut(&id)?.estimate_minutes = Some(minutes);
        Some(AppliedFix::new(
            ReEstimate,
            vec![id],
            format!("estimated {}", planwright_text::units::format_planned(minutes.into())),
        ))
    })
}

/// G302: restores lost nodes; logs added ones.
pub(super) fn reconcile_with_outline(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let differs = outline_differences(&plan.roadmap_scope()?).contains(id);
    let lost = plan.outline.find_node(id).cloned();
    let roadmap = plan.roadmap.as_mut().filter(|_| differs)?;
    if let Some(node) = lost {
        roadmap.nodes.push(node);
        return Some(AppliedFix::new(Repair, vec![id.clone()], "restored from the outline"));
    }
    Some(AppliedFix::new(Add, vec![id.clone()], "added since the outline"))
}

/// G303.
pub(super) fn clip_offset(
    plan: &mut PlanArtifacts,
    from: &TaskId,
    to: &TaskId,
) -> Option<AppliedFix> {
    let scope = plan.scope();
    let correct = |link: &NodeDependency| {
        let wanted = link.from == *from && link.to == *to;
        corrected_offset(&scope, link).filter(|_| wanted)
    };
    let corrected: Vec<Option<NodeDependency>> = scope.links().iter().map(correct).collect();
    corrected.iter().flatten().next()?;
    let ids = vec![from.clone(), to.clone()];
    edit_plan(plan, |sketch| {
        for (link, corrected) in sketch.links.iter_mut().zip(corrected) {
            *link = corrected.unwrap_or_else(|| link.clone());
        }
        Some(AppliedFix::new(Relink, ids, "brought the offset into range"))
    })
}

/// G304: ensures one chosen option with a reason; if there are too few or too many, they are rebuilt.
pub(super) fn compare_options(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let context = plan.context().clone();
    let roadmap = plan.roadmap.as_mut().filter(|roadmap| !has_compared_options(roadmap))?;
    if !(2..=3).contains(&roadmap.options_tried.len()) {
        let weeks = super::super::pattern::plan_weeks(&context).unwrap_or(1.0).max(1.0);
        let effort = f64::from(roadmap.total_minutes);
        let weekly = f64::from(weekly_capacity(&context));
        let option =
            |id: &str, label: &str, summary: &str, factor: f64, risk: Risk| RoadmapOption {
                id: id.to_owned(),
                label: label.to_owned(),
                summary: summary.to_owned(),
                tasks: String::new(),
                effort_minutes: (effort * factor) as u32,
                span_weeks: weeks.ceil() as u16,
                risk,
                score: option_score(
                    &context.strategy_profile.weights,
                    effort * factor,
                    weeks * weekly,
                    0.0,
                ),
                chosen: false,
                rationale: String::new(),
            };
        roadmap.options_tried = vec![
            option("balanced", "Balanced", "Everything as drafted.", 1.0, Risk::Medium),
            option("lean", "Lean", "Optional tasks dropped.", 0.75, Risk::High),
            option(
                "thorough",
                "Thorough",
                "A look by somebody else in every phase.",
                1.25,
                Risk::Medium,
            ),
        ];
    }
    choose_one_option(&mut roadmap.options_tried);
    Some(AppliedFix::new(Repair, Vec::new(), "compared the options"))
}

/// Keeps the first chosen option, or else the balanced one, or else the first.
fn choose_one_option(options: &mut [RoadmapOption]) {
    let chosen = options.iter().position(|option| option.chosen);
    let balanced = || options.iter().position(|option| option.id == "balanced");
    let kept = chosen.or_else(balanced).unwrap_or(0);
    for (index, option) in options.iter_mut().enumerate() {
        option.chosen = index == kept;
        if option.chosen && option.rationale.trim().is_empty() {
            option.rationale = format!("{} fits the stated limits best.", option.label);
        }
    }
}

/// G306: splits a leaf into equal parts of at most 8 hours, one after the other. Only a task can contain parts.
pub(super) fn split_leaf(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.scope();
    let node = scope.tree.get(id).filter(|node| is_too_big(&scope, node))?;
    let (minutes, title) = (node.work_minutes(), node.title.clone());
    if node.node_type != NodeType::Task {
        return None;
    }
    let parts = minutes.div_ceil(PART_MINUTES);
    // A longer list of parts is useless; the planner must revise the task.
    if parts > MAX_PARTS {
        return None;
    }
    let id = id.clone();
    edit_plan(plan, |sketch| {
        let mut before: Option<TaskId> = None;
        for part in 0..parts {
            let label = format!("{title} ({} of {parts})", part + 1);
            let part_id =
                sketch.add_node(&id, NodeType::SubTask, &format!("{id}.{}", part + 1), &label)?;
            let share = minutes / parts + u32::from(part < minutes % parts);
            sketch.node_mut(&part_id)?.estimate_minutes = Some(share);
            if let Some(before) = before.replace(part_id.clone()) {
                sketch.link_nodes(&before, &part_id);
            }
        }
        sketch.node_mut(&id)?.estimate_minutes = None;
        Some(AppliedFix::new(Add, vec![id], format!("split into {parts} parts")))
    })
}
