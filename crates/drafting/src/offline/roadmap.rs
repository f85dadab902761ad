//! Outline in, roadmap out: estimates, links, the options that were compared, and the critical path.

use std::collections::BTreeSet;

use planwright_model::{
    Dependency, NodeTree, NodeType, PatternSpec, PatternType, PlanNode, PlanOutline, Roadmap,
    RoadmapContext, RoadmapOption, TaskId,
};

use planwright_text::units::planned;

use super::blueprint::{self, Blueprint, Ground, Tie};
use super::draft::{self, DraftError};
use super::estimate;
use super::facts::{self, Size};
use super::goal::Goal;
use super::options::{self, Way};
use super::template::{Library, Sizing, Template};
use planwright_plan::{critical_path as critical, sizing};

/// What the caller wishes for the roadmap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The option that the person picked; without one the rule decides.
    pub way: Option<Way>,
    /// Minutes that collide with other plans.
    pub conflict_minutes: u32,
}

/// A roadmap and how it departs from the outline, so that the caller can log it.
#[derive(Clone, Debug, PartialEq)]
pub struct RoadmapDraft {
    pub roadmap: Roadmap,
    /// Checks that the thorough way added.
    pub added: Vec<TaskId>,
    /// Optional tasks that the lean way left out.
    pub removed: Vec<TaskId>,
}

/// One way worked out.
struct Variant {
    way: Way,
    nodes: Vec<PlanNode>,
    links: Vec<Dependency>,
    effort: u32,
    added: Vec<TaskId>,
    removed: Vec<TaskId>,
}

/// Builds the roadmap of an outline, which the person may have changed since it was drafted.
pub fn build(
    outline: &PlanOutline,
    library: &Library,
    wish: Wish,
) -> Result<RoadmapDraft, DraftError> {
    let goal = draft::goal_of(outline);
    let context = &outline.plan_context;
    let picked = || super::pattern::select(&goal, library, super::Proposals::Off).pattern;
    let spec = outline.pattern.clone().or_else(|| context.pattern.clone()).unwrap_or_else(picked);
    let template = draft::template_of(library, &spec)?;
    let size = facts::size(context, &goal, template);
    let ground = Ground { goal: &goal, context, template, library, size };
    let variants = Way::ALL.map(|way| variant(outline, ground, spec.pattern_type, way));
    let chosen = wish.way.unwrap_or_else(|| choose(&variants, size));
    let options = compare(&variants, ground, chosen, wish);
    let mut variants = variants.into_iter();
    let Some(taken) = variants.find(|variant| variant.way == chosen) else {
        return Err(DraftError::NoGoal);
    };
    Ok(assemble(outline, &goal, template, &spec, size, taken, options))
}

/// Balanced unless its effort exceeds what the horizon holds.
fn choose(variants: &[Variant; 3], size: Size) -> Way {
    if variants[0].effort > size.capacity { Way::Lean } else { Way::Balanced }
}

fn variant(outline: &PlanOutline, ground: Ground<'_>, pattern: PatternType, way: Way) -> Variant {
    let root = &outline.root_id;
    let mut plan = blueprint::draw(ground, way.percent());
    let mut nodes = outline.nodes.clone();
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    match way {
        Way::Balanced => {}
        Way::Lean => {
            removed = options::optional_leaves(&nodes, root);
            nodes.retain(|node| !removed.contains(&node.id));
        }
        Way::Thorough => added = options::add_checks(&mut nodes, root, &mut plan),
    }
    let effort = u64::from(ground.size.effort) * u64::from(way.percent()) / 100;
    let effort = sizing::cut(u32::try_from(effort).unwrap_or(u32::MAX));
    estimate::estimate(&mut nodes, root, &plan, ground, effort);
    let links = links(&nodes, root, &plan, pattern);
    let effort = estimate::whole_effort(&nodes, root, ground.size.weeks());
    Variant { way, nodes, links, effort, added, removed }
}

/// The links of the blueprint between nodes that are there; a chain closes over those that are not.
fn links(
    nodes: &[PlanNode],
    root: &TaskId,
    plan: &Blueprint,
    pattern: PatternType,
) -> Vec<Dependency> {
    let present: BTreeSet<&TaskId> = nodes.iter().map(|node| &node.id).collect();
    let mut ties = plan.ties.clone();
    for gone in plan.nodes.iter().map(|node| &node.id).filter(|id| !present.contains(id)) {
        ties = bridge(ties, gone);
    }
    ties.extend(own_ties(nodes, root, plan, pattern));
    let tree = NodeTree::new(nodes);
    let mut links: Vec<Dependency> = Vec::new();
    for tie in ties.iter().filter(|tie| present.contains(&tie.from) && present.contains(&tie.to)) {
        let link = tie.dependency(tree.minutes(&tie.from));
        if !links.contains(&link) {
            links.push(link);
        }
    }
    links
}

fn bridge(ties: Vec<Tie>, gone: &TaskId) -> Vec<Tie> {
    let (touching, mut kept): (Vec<Tie>, Vec<Tie>) =
        ties.into_iter().partition(|tie| tie.from == *gone || tie.to == *gone);
    for before in touching.iter().filter(|tie| tie.to == *gone) {
        for after in touching.iter().filter(|tie| tie.from == *gone) {
            kept.push(Tie { from: before.from.clone(), ..after.clone() });
        }
    }
    kept
}

/// Nodes that a person added wait for the one before them in their stream.
fn own_ties(nodes: &[PlanNode], root: &TaskId, plan: &Blueprint, pattern: PatternType) -> Vec<Tie> {
    let known: BTreeSet<&TaskId> =
        plan.nodes.iter().map(|node| &node.id).chain(plan.weights.keys()).collect();
    let tree = NodeTree::new(nodes);
    let mut ties = Vec::new();
    for parent in nodes.iter().filter(|node| !tree.is_leaf(&node.id)) {
        let siblings: Vec<&PlanNode> =
            tree.children(&parent.id).filter(|node| node.recurrence.is_none()).collect();
        for pair in siblings.windows(2) {
            let parallel = parent.id == *root && pattern == PatternType::StrategicTransformation;
            if !known.contains(&pair[1].id) && pair[0].stream == pair[1].stream && !parallel {
                ties.push(Tie::chain(&pair[0].id, &pair[1].id));
            }
        }
    }
    ties
}

fn compare(
    variants: &[Variant; 3],
    ground: Ground<'_>,
    chosen: Way,
    wish: Wish,
) -> Vec<RoadmapOption> {
    let balanced = variants[0].effort;
    let mut list: Vec<RoadmapOption> = variants
        .iter()
        .map(|variant| {
            options::option(variant.way, variant.effort, balanced, ground, wish.conflict_minutes)
        })
        .collect();
    let first = list[0].clone();
    let sessions = sessions(ground.template, ground.size);
    for (option, variant) in list.iter_mut().zip(variants) {
        option.summary = match variant.way {
            Way::Balanced => options::whole(&first, sessions),
            _ => options::difference(option, &first),
        };
        option.chosen = variant.way == chosen;
        option.rationale = rationale(variant, ground, wish.way.is_some(), option.chosen);
    }
    list
}

/// Study is cut into sessions; training has its own, and projects run as the days allow.
fn sessions(template: &Template, size: Size) -> Option<(u32, u32)> {
    let arc = template.pattern == PatternType::ProgressiveAccumulationArc
        && template.sizing == Sizing::Shares;
    arc.then(|| sizing::sessions(size.weekly_minutes))
}

fn rationale(variant: &Variant, ground: Ground<'_>, picked: bool, chosen: bool) -> String {
    let fits = variant.effort <= ground.size.capacity;
    let room = format!(
        "{} of the {} that the horizon holds",
        planned(variant.effort.into()),
        planned(ground.size.capacity.into())
    );
    let what = match variant.way {
        Way::Balanced => ground.template.why.clone(),
        Way::Lean => lean_words(variant, ground),
        Way::Thorough => {
            "Ends every part with a check, so that mistakes are found where they are made."
                .to_owned()
        }
    };
    let why = match (chosen, picked, variant.way) {
        (true, true, _) => format!("You picked it; it takes {room}."),
        (true, false, Way::Balanced) => format!("It takes {room}."),
        (true, false, _) => format!("The balanced way does not fit, this one takes {room}."),
        (false, _, _) if fits => format!("It would take {room}."),
        (false, _, _) => format!("It would take {room}, which is too much."),
    };
    format!("{what} {why}")
}

fn lean_words(variant: &Variant, ground: Ground<'_>) -> String {
    let plan = blueprint::draw(ground, Way::Balanced.percent());
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

fn assemble(
    outline: &PlanOutline,
    goal: &Goal,
    template: &Template,
    spec: &PatternSpec,
    size: Size,
    taken: Variant,
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
        cadence: cadence_words(goal, template, size, &roadmap.nodes),
        time_horizon: Some(horizon_words(outline, template, size)),
        budget: outline.plan_context.constraints.budget_text.clone(),
        ..roadmap.context
    };
    RoadmapDraft { roadmap, added: taken.added, removed: taken.removed }
}

fn cadence_words(
    goal: &Goal,
    template: &Template,
    size: Size,
    nodes: &[PlanNode],
) -> Option<String> {
    if let Some((count, each)) = sessions(template, size) {
        return Some(format!("{count} × {each} min a week"));
    }
    let cycle = nodes.iter().find(|node| node.node_type == NodeType::Cycle)?;
    let repeats =
        matches!(template.pattern, PatternType::RecurringCycle | PatternType::HybridProjectCycle);
    let at = cycle.recurrence.as_ref().and_then(|found| found.at_local);
    let at = at.map(|at| format!(" at {:02}:{:02}", at.hour(), at.minute())).unwrap_or_default();
    repeats.then(|| format!("{}{at}", facts::rhythm(goal, template).words()))
}

fn horizon_words(outline: &PlanOutline, template: &Template, size: Size) -> String {
    match outline.plan_context.constraints.deadline {
        Some(deadline) => format!("until {}", deadline.date()),
        None if template.sizing == Sizing::ByTasks => format!("{} weeks, rolling", size.weeks()),
        None => format!("{} weeks", size.weeks()),
    }
}
