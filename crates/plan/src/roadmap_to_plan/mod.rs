//! Converts an approved plan to executable tasks: every leaf becomes one task, in the order of the outline.
//!
//! Ids are kept, so that outline, schedule and run refer to the same things. Nothing is added that the person did not
//! approve: the text, the assignee and the dependencies of a task follow from the roadmap alone.

mod link_expansion;
mod task_kind;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use link_expansion::LinkExpander;
use planwright_model::{
    ExitCriterion, NodeTree, Plan, PlanContext, PlanNode, Recurrence, Roadmap, Role, RunKind,
    Schedule, ScheduledBlock, TaskId, TaskNode,
};
pub use task_kind::task_type_of;

/// Creates the executable plan of a roadmap, with the starts of its schedule if there is one.
pub fn plan_from_roadmap(
    context: &PlanContext,
    roadmap: &Roadmap,
    schedule: Option<&Schedule>,
) -> Plan {
    let tree = roadmap.node_tree();
    let starts = LeafStarts::from_schedule(schedule);
    let mut dependencies = LinkExpander::new(roadmap, &starts).expand();
    let leaves =
        tree.leaves(&roadmap.root_id).into_iter().filter(|leaf| leaf.id != roadmap.root_id);
    let tasks = leaves
        .map(|leaf| {
            let links = dependencies.remove(&leaf.id).unwrap_or_default();
            TaskNode { dependencies: links, ..task_from_leaf(leaf, &tree, roadmap, &starts) }
        })
        .collect();
    let title = tree.get(&roadmap.root_id).map(|root| root.title.clone());
    Plan {
        title: title.unwrap_or_else(|| context.goal_text.clone()),
        goal: Some(context.goal_text.clone()),
        rationale: roadmap.chosen_option().map(|option| option.rationale.clone()),
        resources: roadmap.resources.clone(),
        // The times of a plan created from a schedule are in the schedule.
        calendar: None,
        fail_fast: false,
        params: BTreeMap::new(),
        machine_pools: BTreeSet::new(),
        notify: None,
        tasks,
    }
}

fn task_from_leaf(
    leaf: &PlanNode,
    tree: &NodeTree<'_>,
    roadmap: &Roadmap,
    starts: &LeafStarts<'_>,
) -> TaskNode {
    let mut task = TaskNode::new(leaf.id.clone(), leaf.title.clone());
    let gate = leaf.role == Role::Gate;
    let point = leaf.milestone || gate;
    task.run = match &leaf.run {
        Some(run) if !point => run.clone(),
        _ => RunKind::Human {},
    };
    task.duration_minutes = Some(if point { 0 } else { leaf.work_minutes() });
    task.resources.clone_from(&leaf.resources);
    task.origin = leaf.origin;
    if !leaf.done_when.trim().is_empty() {
        let on = planwright_model::task::CriterionEffect::default();
        task.exit_criteria = vec![ExitCriterion::Text { text: leaf.done_when.clone(), on }];
    }
    task.exit_criteria.extend(leaf.exit_criteria.iter().cloned());
    if matches!(task.run, RunKind::Agent(_)) {
        task_kind::fill_task_kind(&mut task, leaf);
    }
    fill_details(&mut task, leaf);
    let recurrence = recurrence_of(leaf, tree);
    task.at_scheduled_time = recurrence.is_some() && !matches!(task.run, RunKind::Human {});
    task.metadata = leaf_metadata(leaf, tree, roadmap, starts);
    if let Some(recurrence) = recurrence {
        task.metadata.insert("recurrence".into(), json!(recurrence));
        if let Some(count) = starts.occurrence_count(&leaf.id) {
            task.metadata.insert("occurrences".into(), count.into());
        }
    }
    if gate {
        task.metadata.insert("gate".into(), true.into());
    } else if point {
        task.metadata.insert("milestone".into(), true.into());
    }
    task
}

/// Who answers for a task, its dates, and what it rests on, as the leaf has them.
fn fill_details(task: &mut TaskNode, leaf: &PlanNode) {
    if !leaf.task_type.is_empty() {
        task.task_type.clone_from(&leaf.task_type);
    }
    task.owner.clone_from(&leaf.owner);
    task.set_dates(leaf.dates());
    task.why.clone_from(&leaf.why);
    task.risks.clone_from(&leaf.risks);
    task.assumptions.clone_from(&leaf.assumptions);
    task.evidence.clone_from(&leaf.evidence);
    task.cost.clone_from(&leaf.cost);
}

fn leaf_metadata(
    leaf: &PlanNode,
    tree: &NodeTree<'_>,
    roadmap: &Roadmap,
    starts: &LeafStarts<'_>,
) -> Map<String, Value> {
    let mut found = Map::new();
    let above = tree.ancestors(&leaf.id);
    if let Some(phase) = above.iter().rev().find(|node| node.id != roadmap.root_id) {
        found.insert("phase".into(), json!(phase.id));
        found.insert("phase_title".into(), phase.title.clone().into());
    }
    if !leaf.description.trim().is_empty() {
        found.insert("details".into(), leaf.description.clone().into());
    }
    if leaf.optional {
        found.insert("optional".into(), true.into());
    }
    if let Some(block) = starts.first_block(&leaf.id) {
        found.insert("first_start".into(), json!(block.start));
    }
    found
}

/// Returns how a leaf recurs: by itself, or with its container.
pub fn recurrence_of<'a>(leaf: &'a PlanNode, tree: &NodeTree<'a>) -> Option<&'a Recurrence> {
    let above = || tree.ancestors(&leaf.id).into_iter().find_map(|node| node.recurrence.as_ref());
    leaf.recurrence.as_ref().or_else(above)
}

/// When each leaf starts, and how often it occurs.
struct LeafStarts<'a> {
    blocks: BTreeMap<&'a TaskId, (&'a ScheduledBlock, BTreeSet<u32>)>,
}

impl<'a> LeafStarts<'a> {
    fn from_schedule(schedule: Option<&'a Schedule>) -> Self {
        let mut blocks: BTreeMap<&TaskId, (&ScheduledBlock, BTreeSet<u32>)> = BTreeMap::new();
        for block in schedule.into_iter().flat_map(|schedule| &schedule.blocks) {
            let (first, occurrences) =
                blocks.entry(&block.plan_node_id).or_insert((block, BTreeSet::new()));
            if block.start < first.start {
                *first = block;
            }
            occurrences.extend(block.occurrence);
        }
        Self { blocks }
    }

    fn first_block(&self, id: &TaskId) -> Option<&'a ScheduledBlock> {
        self.blocks.get(id).map(|(block, _)| *block)
    }

    fn occurrence_count(&self, id: &TaskId) -> Option<usize> {
        self.blocks.get(id).map(|(_, found)| found.len()).filter(|count| *count > 0)
    }
}
