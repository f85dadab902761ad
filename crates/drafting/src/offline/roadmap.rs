//! Builds a roadmap from an outline: estimates, links, the options that were compared, and the critical path.

use std::collections::BTreeSet;

use planwright_model::{
    NodeDependency, NodeTree, NodeType, PatternSpec, PatternType, PlanContext, PlanNode,
    PlanOutline, Roadmap, RoadmapContext, RoadmapOption, TaskId,
};

use planwright_text::units::format_planned;

use super::blueprint::{Blueprint, BlueprintSizing, EffortRange, TemplateLibrary};
use super::draft::{self, DraftError};
use super::goal::Goal;
use super::instance::{self, BlueprintInstance, InstanceInputs, InstanceLink, bridge_links};
use super::options::{self, OptionInputs, PlanApproach};
use super::span::{self, PlanSpan};
use super::{estimate, extra_steps, facts, stated_days, two_halves};
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
    /// Steps that the thorough approach added.
    pub added: Vec<TaskId>,
    /// Optional tasks that the lean approach omitted.
    pub removed: Vec<TaskId>,
}

/// One computed approach.
struct RoadmapVariant {
    approach: PlanApproach,
    nodes: Vec<PlanNode>,
    links: Vec<NodeDependency>,
    /// The least, likely and most minutes over the entire span.
    effort: EffortRange,
    added: Vec<TaskId>,
    removed: Vec<TaskId>,
    /// What is left out or added, in words.
    tasks: String,
}

/// What all approaches of a roadmap share.
struct RoadmapBasis<'a> {
    outline: &'a PlanOutline,
    spec: &'a PatternSpec,
    /// The blueprint of a plan that was drafted from one.
    file: Option<&'a Blueprint>,
    span: PlanSpan,
    plan: BlueprintInstance,
    /// How much waiting times shrink.
    scale: f64,
}

/// Builds the roadmap of an outline, which the person may have changed since it was drafted.
pub fn build_roadmap(
    outline: &PlanOutline,
    library: &TemplateLibrary,
    preferences: RoadmapPreferences,
) -> Result<RoadmapDraft, DraftError> {
    let goal = draft::parse_outline_goal(outline);
    let context = &outline.plan_context;
    let spec = outline.pattern.clone().or_else(|| context.pattern.clone());
    let spec = spec.ok_or(DraftError::NoKind)?;
    let fallback = two_halves::find_blueprint(&spec, &goal, library).ok_or(DraftError::NoKind)?;
    let fallback = &*fallback;
    let file = Some(fallback).filter(|file| spec.kind_name() == Some(file.name.as_str()));
    let size = span::measure_span(context, fallback);
    let inputs = InstanceInputs { goal: &goal, context, blueprint: fallback, library, span: size };
    // A plan that was not drafted from a blueprint has only its own nodes.
    let plan = match file {
        Some(_) => instance::build_instance(inputs),
        None => BlueprintInstance::default(),
    };
    let scale = file.map_or(1.0, |_| draft::lead_scale(inputs, &plan));
    let basis = RoadmapBasis { outline, spec: &spec, file, span: size, plan, scale };
    let variants = build_variants(&basis);
    let chosen =
        preferences.approach.unwrap_or_else(|| choose_approach(&variants, day_room(context, size)));
    let chosen = if variants.iter().any(|variant| variant.approach == chosen) {
        chosen
    } else {
        PlanApproach::Balanced
    };
    let options = compare_variants(&variants, &basis, chosen, preferences);
    let mut variants = variants.into_iter();
    let Some(taken) = variants.find(|variant| variant.approach == chosen) else {
        return Err(DraftError::NoKind);
    };
    Ok(assemble_draft(&basis, &goal, fallback, taken, options))
}

/// Builds the approaches that differ in their tasks; balanced is always the first.
fn build_variants(basis: &RoadmapBasis<'_>) -> Vec<RoadmapVariant> {
    let all = PlanApproach::ALL.map(|approach| build_variant(basis, approach));
    let differs = |variant: &RoadmapVariant| {
        variant.approach == PlanApproach::Balanced
            || !variant.added.is_empty()
            || !variant.removed.is_empty()
    };
    all.into_iter().filter(differs).collect()
}

/// The work of a day that is long, but not longer than a person has.
const LONG_DAY: u32 = 8 * 60;
/// A plan of more days has its usual hours.
const OPENED_SPAN: u32 = 2;

/// Returns the minutes that there are: of one or two days that were opened from morning to night no more than a person
/// works on a long day.
fn day_room(context: &PlanContext, size: PlanSpan) -> u32 {
    let opened = context.find_assumption(stated_days::OPENED_DAYS).is_some();
    if opened && size.days <= OPENED_SPAN {
        size.capacity.min(size.days * LONG_DAY)
    } else {
        size.capacity
    }
}

/// Returns balanced unless its effort exceeds the minutes that there are and there is a lean way.
fn choose_approach(variants: &[RoadmapVariant], room: u32) -> PlanApproach {
    let too_much = variants.first().is_some_and(|first| {
        first.effort.likely().saturating_sub(own_day_minutes(&first.nodes)) > room
    });
    if too_much { PlanApproach::Lean } else { PlanApproach::Balanced }
}

/// Returns the minutes on days of their own, which take nothing of the hours of a week.
fn own_day_minutes(nodes: &[PlanNode]) -> u32 {
    nodes.iter().filter(|node| node.has_own_day()).map(PlanNode::work_minutes).sum()
}

fn build_variant(basis: &RoadmapBasis<'_>, approach: PlanApproach) -> RoadmapVariant {
    let root = &basis.outline.root_id;
    let mut nodes = basis.outline.nodes.clone();
    let mut links = basis.plan.links.clone();
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    let mut tasks = String::new();
    match approach {
        PlanApproach::Balanced => {}
        PlanApproach::Lean => {
            removed = options::spare_leaves(&nodes, root);
            tasks = options::describe_titles("leaves out", &nodes, &removed);
            nodes.retain(|node| !removed.contains(&node.id));
        }
        PlanApproach::Thorough => {
            added = extra_steps::add_extra_steps(&mut nodes, root, &mut links, basis.spec);
            tasks = options::describe_titles("adds", &nodes, &added);
        }
    }
    estimate::estimate_nodes(&mut nodes, root, &basis.plan);
    let links = build_links(basis, &nodes, links);
    let effort = estimate::effort_range(&nodes, root, &basis.plan, basis.span.weeks());
    RoadmapVariant { approach, nodes, links, effort, added, removed, tasks }
}

/// Returns the links of the instance between existing nodes; chains close over missing ones.
fn build_links(
    basis: &RoadmapBasis<'_>,
    nodes: &[PlanNode],
    planned: Vec<InstanceLink>,
) -> Vec<NodeDependency> {
    let present: BTreeSet<&TaskId> = nodes.iter().map(|node| &node.id).collect();
    let mut planned = planned;
    let known = basis.plan.nodes.iter().map(|node| &node.id);
    for gone in known.filter(|id| !present.contains(id)) {
        planned = bridge_links(planned, gone);
    }
    planned.extend(added_node_links(basis, nodes, &planned));
    let tree = NodeTree::new(nodes);
    let mut links: Vec<NodeDependency> = Vec::new();
    planned.retain(|link| present.contains(&link.from) && present.contains(&link.to));
    for link in &planned {
        let dependency = link.to_dependency(tree.total_minutes(&link.from), basis.scale);
        if !links.contains(&dependency) {
            links.push(dependency);
        }
    }
    links
}

/// Nodes that a person added depend on the previous one in their stream.
fn added_node_links(
    basis: &RoadmapBasis<'_>,
    nodes: &[PlanNode],
    planned: &[InstanceLink],
) -> Vec<InstanceLink> {
    let root = &basis.outline.root_id;
    let linked: BTreeSet<&TaskId> = planned.iter().map(|link| &link.to).collect();
    let known: BTreeSet<&TaskId> =
        basis.plan.nodes.iter().map(|node| &node.id).chain(linked).collect();
    let tree = NodeTree::new(nodes);
    let mut links = Vec::new();
    for parent in nodes.iter().filter(|node| !tree.is_leaf(&node.id)) {
        let siblings: Vec<&PlanNode> =
            tree.children(&parent.id).filter(|node| node.recurrence.is_none()).collect();
        for pair in siblings.windows(2) {
            let parallel = parent.id == *root
                && basis.spec.pattern_type == PatternType::StrategicTransformation;
            if !known.contains(&pair[1].id) && pair[0].stream == pair[1].stream && !parallel {
                links.push(InstanceLink::finish_to_start(&pair[0].id, &pair[1].id));
            }
        }
    }
    links
}

fn compare_variants(
    variants: &[RoadmapVariant],
    basis: &RoadmapBasis<'_>,
    chosen: PlanApproach,
    preferences: RoadmapPreferences,
) -> Vec<RoadmapOption> {
    let Some(first) = variants.first() else { return Vec::new() };
    let inputs = OptionInputs {
        context: &basis.outline.plan_context,
        file: basis.file,
        span: basis.span,
        balanced: first.effort,
        own_days: own_day_minutes(&first.nodes),
        conflict_minutes: preferences.conflict_minutes,
    };
    let mut list: Vec<RoadmapOption> = variants
        .iter()
        .map(|variant| options::build_option(variant.approach, variant.effort, &inputs))
        .collect();
    for (option, variant) in list.iter_mut().zip(variants) {
        option.tasks.clone_from(&variant.tasks);
        option.summary = options::describe_option(option, variant.effort);
        option.chosen = variant.approach == chosen;
        option.rationale =
            variant_rationale(variant, basis, preferences.approach.is_some(), option.chosen);
    }
    list
}

fn variant_rationale(
    variant: &RoadmapVariant,
    basis: &RoadmapBasis<'_>,
    picked: bool,
    chosen: bool,
) -> String {
    let capacity = basis.span.capacity;
    let room = format_planned(capacity.into());
    let what = match (variant.approach, basis.file) {
        (PlanApproach::Balanced, Some(file)) => file.why.get_ref().clone(),
        (PlanApproach::Balanced, None) => "Everything as drafted.".to_owned(),
        (PlanApproach::Lean, _) => format!("It {}.", variant.tasks),
        (PlanApproach::Thorough, _) => {
            "Others look at the work while it can still be changed.".to_owned()
        }
    };
    let fits = variant.effort.likely() <= capacity;
    let why = match (chosen, picked, variant.approach) {
        (true, true, _) => format!("You picked it. The time you have holds {room}."),
        (true, false, PlanApproach::Lean) if fits => {
            format!("Everything would take more than the {room} you have.")
        }
        (true, false, _) => format!("The time you have holds {room}."),
        (false, _, _) if fits => format!("It fits into the {room} you have."),
        (false, _, _) => format!("It takes more than the {room} you have."),
    };
    format!("{what} {why}")
}

fn assemble_draft(
    basis: &RoadmapBasis<'_>,
    goal: &Goal,
    fallback: &Blueprint,
    taken: RoadmapVariant,
    options: Vec<RoadmapOption>,
) -> RoadmapDraft {
    let outline = basis.outline;
    let path = critical::critical_path(
        &taken.nodes,
        &outline.root_id,
        &taken.links,
        basis.spec.pattern_type,
    );
    let filled = PlanOutline { nodes: taken.nodes, ..outline.clone() };
    let mut roadmap = Roadmap::new(&filled, taken.links);
    roadmap.options_tried = options;
    roadmap.critical_path = path;
    roadmap.context = RoadmapContext {
        scope: Some(goal.subject.name.clone()).filter(|subject| !subject.is_empty()),
        cadence: cadence_text(goal, fallback, basis.span, &roadmap.nodes),
        time_horizon: Some(horizon_text(outline, fallback, basis.span)),
        budget: outline.plan_context.constraints.budget_text.clone(),
        ..roadmap.context
    };
    RoadmapDraft { roadmap, added: taken.added, removed: taken.removed }
}

fn cadence_text(
    goal: &Goal,
    file: &Blueprint,
    span: PlanSpan,
    nodes: &[PlanNode],
) -> Option<String> {
    let studies = file.pattern == PatternType::ProgressiveAccumulationArc
        && file.weekly.is_some()
        && file.sizing == BlueprintSizing::Tasks;
    if studies {
        let (count, each) = sizing::weekly_sessions(span.weekly_minutes);
        return Some(format!("{count} × {} a week", format_planned(each.into())));
    }
    let cycle = nodes.iter().find(|node| node.node_type == NodeType::Cycle)?;
    let repeats =
        matches!(file.pattern, PatternType::RecurringCycle | PatternType::HybridProjectCycle);
    let at = cycle.recurrence.as_ref().and_then(|found| found.at_local);
    let at = at.map(|at| format!(" at {:02}:{:02}", at.hour(), at.minute())).unwrap_or_default();
    repeats.then(|| format!("{}{at}", facts::goal_cadence(goal, file).describe()))
}

fn horizon_text(outline: &PlanOutline, file: &Blueprint, span: PlanSpan) -> String {
    match outline.plan_context.constraints.deadline {
        Some(deadline) => format!("until {}", deadline.local_date()),
        None if file.is_routine() => format!("{} weeks, rolling", span.weeks()),
        None => format!("{} weeks", span.weeks()),
    }
}
