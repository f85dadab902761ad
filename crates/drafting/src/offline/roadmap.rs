//! Builds a roadmap from an outline: estimates, links, the options that were compared, and the critical path.

use std::collections::BTreeSet;

use planwright_model::requests::describe_option_difference;
use planwright_model::{
    NodeDependency, NodeTree, NodeType, PatternSpec, PatternType, PlanNode, PlanOutline, Roadmap,
    RoadmapContext, RoadmapOption, TaskId,
};

use planwright_text::units::format_planned;

use super::blueprint::{self, Blueprint, BlueprintInputs, BlueprintLink};
use super::draft::{self, DraftError};
use super::estimate;
use super::facts::{self, PlanSize};
use super::goal::Goal;
use super::options::{self, PlanApproach};
use super::template::{Template, TemplateLibrary, TemplateSizing};
use planwright_plan::{critical_path as critical, sizing};

/// The caller's preferences for the roadmap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoadmapPreferences {
    /// The option that the person chose; without one the rule decides.
    pub approach: Option<PlanApproach>,
    /// Minutes that conflict with other plans.
    pub conflict_minutes: u32,
}

/// A roadmap and its differences from the outline, so that the caller can log them.
#[derive(Clone, Debug, PartialEq)]
pub struct RoadmapDraft {
    pub roadmap: Roadmap,
    /// Checks that the thorough approach added.
    pub added: Vec<TaskId>,
    /// Optional tasks that the lean approach omitted.
    pub removed: Vec<TaskId>,
}

/// One computed approach.
struct RoadmapVariant {
    approach: PlanApproach,
    nodes: Vec<PlanNode>,
    links: Vec<NodeDependency>,
    effort: u32,
    added: Vec<TaskId>,
    removed: Vec<TaskId>,
}

/// Builds the roadmap of an outline, which the person may have changed since it was drafted.
pub fn build_roadmap(
    outline: &PlanOutline,
    library: &TemplateLibrary,
    preferences: RoadmapPreferences,
) -> Result<RoadmapDraft, DraftError> {
    let goal = draft::parse_outline_goal(outline);
    let context = &outline.plan_context;
    let picked =
        || super::pattern::select_pattern(&goal, library, super::SubtypeProposals::Off).pattern;
    let spec = outline.pattern.clone().or_else(|| context.pattern.clone()).unwrap_or_else(picked);
    let template = draft::find_template(library, &spec)?;
    let size = facts::measure_plan(context, &goal, template);
    let inputs = BlueprintInputs { goal: &goal, context, template, library, size };
    let variants = PlanApproach::ALL
        .map(|approach| build_variant(outline, inputs, spec.pattern_type, approach));
    let chosen = preferences.approach.unwrap_or_else(|| choose_approach(&variants, size));
    let options = compare_variants(&variants, inputs, chosen, preferences);
    let mut variants = variants.into_iter();
    let Some(taken) = variants.find(|variant| variant.approach == chosen) else {
        return Err(DraftError::NoGoal);
    };
    Ok(assemble_draft(outline, &goal, template, &spec, size, taken, options))
}

/// Returns balanced unless its effort exceeds the capacity of the horizon.
fn choose_approach(variants: &[RoadmapVariant; 3], size: PlanSize) -> PlanApproach {
    if variants[0].effort > size.capacity { PlanApproach::Lean } else { PlanApproach::Balanced }
}

fn build_variant(
    outline: &PlanOutline,
    inputs: BlueprintInputs<'_>,
    pattern: PatternType,
    approach: PlanApproach,
) -> RoadmapVariant {
    let root = &outline.root_id;
    let mut plan = blueprint::build_blueprint(inputs, approach.effort_percent());
    let mut nodes = outline.nodes.clone();
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    match approach {
        PlanApproach::Balanced => {}
        PlanApproach::Lean => {
            removed = options::optional_leaves(&nodes, root);
            nodes.retain(|node| !removed.contains(&node.id));
        }
        PlanApproach::Thorough => added = options::add_checks(&mut nodes, root, &mut plan),
    }
    let effort = u64::from(inputs.size.effort) * u64::from(approach.effort_percent()) / 100;
    let effort = sizing::round_down_to_unit(u32::try_from(effort).unwrap_or(u32::MAX));
    estimate::estimate_nodes(&mut nodes, root, &plan, inputs, effort);
    let links = build_links(&nodes, root, &plan, pattern);
    let effort = estimate::total_effort(&nodes, root, inputs.size.weeks());
    RoadmapVariant { approach, nodes, links, effort, added, removed }
}

/// Returns the links of the blueprint between existing nodes; chains close over missing ones.
fn build_links(
    nodes: &[PlanNode],
    root: &TaskId,
    plan: &Blueprint,
    pattern: PatternType,
) -> Vec<NodeDependency> {
    let present: BTreeSet<&TaskId> = nodes.iter().map(|node| &node.id).collect();
    let mut planned = plan.links.clone();
    for gone in plan.nodes.iter().map(|node| &node.id).filter(|id| !present.contains(id)) {
        planned = bridge_links(planned, gone);
    }
    planned.extend(added_node_links(nodes, root, plan, pattern));
    let tree = NodeTree::new(nodes);
    let mut links: Vec<NodeDependency> = Vec::new();
    planned.retain(|link| present.contains(&link.from) && present.contains(&link.to));
    for link in &planned {
        let dependency = link.to_dependency(tree.total_minutes(&link.from));
        if !links.contains(&dependency) {
            links.push(dependency);
        }
    }
    links
}

fn bridge_links(links: Vec<BlueprintLink>, gone: &TaskId) -> Vec<BlueprintLink> {
    let (touching, mut kept): (Vec<BlueprintLink>, Vec<BlueprintLink>) =
        links.into_iter().partition(|link| link.from == *gone || link.to == *gone);
    for before in touching.iter().filter(|link| link.to == *gone) {
        for after in touching.iter().filter(|link| link.from == *gone) {
            kept.push(BlueprintLink { from: before.from.clone(), ..after.clone() });
        }
    }
    kept
}

/// Nodes that a person added depend on the previous one in their stream.
fn added_node_links(
    nodes: &[PlanNode],
    root: &TaskId,
    plan: &Blueprint,
    pattern: PatternType,
) -> Vec<BlueprintLink> {
    let known: BTreeSet<&TaskId> =
        plan.nodes.iter().map(|node| &node.id).chain(plan.weights.keys()).collect();
    let tree = NodeTree::new(nodes);
    let mut links = Vec::new();
    for parent in nodes.iter().filter(|node| !tree.is_leaf(&node.id)) {
        let siblings: Vec<&PlanNode> =
            tree.children(&parent.id).filter(|node| node.recurrence.is_none()).collect();
        for pair in siblings.windows(2) {
            let parallel = parent.id == *root && pattern == PatternType::StrategicTransformation;
            if !known.contains(&pair[1].id) && pair[0].stream == pair[1].stream && !parallel {
                links.push(BlueprintLink::finish_to_start(&pair[0].id, &pair[1].id));
            }
        }
    }
    links
}

fn compare_variants(
    variants: &[RoadmapVariant; 3],
    inputs: BlueprintInputs<'_>,
    chosen: PlanApproach,
    preferences: RoadmapPreferences,
) -> Vec<RoadmapOption> {
    let balanced = variants[0].effort;
    let mut list: Vec<RoadmapOption> = variants
        .iter()
        .map(|variant| {
            options::build_option(
                variant.approach,
                variant.effort,
                balanced,
                inputs,
                preferences.conflict_minutes,
            )
        })
        .collect();
    let first = list[0].clone();
    let sessions = weekly_sessions(inputs.template, inputs.size);
    for (option, variant) in list.iter_mut().zip(variants) {
        option.summary = match variant.approach {
            PlanApproach::Balanced => options::describe_option(&first, sessions),
            _ => describe_option_difference(option, &first),
        };
        option.chosen = variant.approach == chosen;
        option.rationale =
            variant_rationale(variant, inputs, preferences.approach.is_some(), option.chosen);
    }
    list
}

/// Study is divided into sessions; training has its own, and projects run as the days allow.
fn weekly_sessions(template: &Template, size: PlanSize) -> Option<(u32, u32)> {
    let arc = template.pattern == PatternType::ProgressiveAccumulationArc
        && template.sizing == TemplateSizing::Shares;
    arc.then(|| sizing::weekly_sessions(size.weekly_minutes))
}

fn variant_rationale(
    variant: &RoadmapVariant,
    inputs: BlueprintInputs<'_>,
    picked: bool,
    chosen: bool,
) -> String {
    let fits = variant.effort <= inputs.size.capacity;
    let room = format!(
        "{} of the {} that the horizon holds",
        format_planned(variant.effort.into()),
        format_planned(inputs.size.capacity.into())
    );
    let what = match variant.approach {
        PlanApproach::Balanced => inputs.template.why.clone(),
        PlanApproach::Lean => describe_lean(variant, inputs),
        PlanApproach::Thorough => {
            "Ends every part with a check, so that mistakes are found where they are made."
                .to_owned()
        }
    };
    let why = match (chosen, picked, variant.approach) {
        (true, true, _) => format!("You picked it; it takes {room}."),
        (true, false, PlanApproach::Balanced) => format!("It takes {room}."),
        (true, false, _) => format!("The balanced way does not fit, this one takes {room}."),
        (false, _, _) if fits => format!("It would take {room}."),
        (false, _, _) => format!("It would take {room}, which is too much."),
    };
    format!("{what} {why}")
}

fn describe_lean(variant: &RoadmapVariant, inputs: BlueprintInputs<'_>) -> String {
    let plan = blueprint::build_blueprint(inputs, PlanApproach::Balanced.effort_percent());
    let titles: Vec<&str> = plan
        .nodes
        .iter()
        .filter(|node| variant.removed.contains(&node.id))
        .map(|node| node.title.as_str())
        .collect();
    if titles.is_empty() {
        return "Does every step in less time, so nothing may go wrong.".to_owned();
    }
    format!("Does every step in less time and leaves out: {}.", titles.join("; "))
}

fn assemble_draft(
    outline: &PlanOutline,
    goal: &Goal,
    template: &Template,
    spec: &PatternSpec,
    size: PlanSize,
    taken: RoadmapVariant,
    options: Vec<RoadmapOption>,
) -> RoadmapDraft {
    let path =
        critical::critical_path(&taken.nodes, &outline.root_id, &taken.links, spec.pattern_type);
    let filled = PlanOutline { nodes: taken.nodes, ..outline.clone() };
    let mut roadmap = Roadmap::new(&filled, taken.links);
    roadmap.options_tried = options;
    roadmap.critical_path = path;
    roadmap.context = RoadmapContext {
        scope: Some(goal.subject.name.clone()).filter(|subject| !subject.is_empty()),
        cadence: cadence_text(goal, template, size, &roadmap.nodes),
        time_horizon: Some(horizon_text(outline, template, size)),
        budget: outline.plan_context.constraints.budget_text.clone(),
        ..roadmap.context
    };
    RoadmapDraft { roadmap, added: taken.added, removed: taken.removed }
}

fn cadence_text(
    goal: &Goal,
    template: &Template,
    size: PlanSize,
    nodes: &[PlanNode],
) -> Option<String> {
    if let Some((count, each)) = weekly_sessions(template, size) {
        return Some(format!("{count} × {} a week", format_planned(each.into())));
    }
    let cycle = nodes.iter().find(|node| node.node_type == NodeType::Cycle)?;
    let repeats =
        matches!(template.pattern, PatternType::RecurringCycle | PatternType::HybridProjectCycle);
    let at = cycle.recurrence.as_ref().and_then(|found| found.at_local);
    let at = at.map(|at| format!(" at {:02}:{:02}", at.hour(), at.minute())).unwrap_or_default();
    repeats.then(|| format!("{}{at}", facts::goal_cadence(goal, template).describe()))
}

fn horizon_text(outline: &PlanOutline, template: &Template, size: PlanSize) -> String {
    match outline.plan_context.constraints.deadline {
        Some(deadline) => format!("until {}", deadline.local_date()),
        None if template.sizing == TemplateSizing::ByTasks => {
            format!("{} weeks, rolling", size.weeks())
        }
        None => format!("{} weeks", size.weeks()),
    }
}
