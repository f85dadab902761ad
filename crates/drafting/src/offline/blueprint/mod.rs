//! A template instantiated for one goal: the nodes with their texts, their weights, and the links between them.
//!
//! The outline uses the nodes, the roadmap the weights and links. Ids depend on the template alone, so both stages and
//! every option use the same id for the same node.

mod link;
mod recurrence;
mod topic;
mod training;

use std::collections::BTreeMap;

use planwright_model::outline::MAIN_STREAM;
use planwright_model::{LinkKind, NodeType, PlanContext, PlanNode, Role, TaskId};

use super::facts::PlanSize;
use super::goal::Goal;
use super::template::{
    LinkSpec, TaskSpec, Template, TemplateGroup, TemplateLibrary, TemplateSizing, Topic,
};
use super::wording::TemplateWording;
use planwright_plan::sizing::{self, EFFORT_UNIT_MINUTES};

pub(super) use link::{BlueprintLag, BlueprintLink, BlueprintWeight};
pub(super) use recurrence::count_occurrences;

use topic::PhaseTopic;

/// The id of the top node.
pub(super) const ROOT: &str = "goal";

/// An instantiated template.
#[derive(Clone, Debug)]
pub(super) struct Blueprint {
    pub(super) nodes: Vec<PlanNode>,
    pub(super) weights: BTreeMap<TaskId, BlueprintWeight>,
    pub(super) links: Vec<BlueprintLink>,
    pub(super) notes: Vec<String>,
}

/// The inputs of a blueprint.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlueprintInputs<'a> {
    pub(super) goal: &'a Goal,
    pub(super) context: &'a PlanContext,
    pub(super) template: &'a Template,
    pub(super) library: &'a TemplateLibrary,
    pub(super) size: PlanSize,
}

/// Builds the blueprint; `percent` scales fixed minutes.
pub(super) fn build_blueprint(inputs: BlueprintInputs<'_>, percent: u32) -> Blueprint {
    let pack = inputs.library.find_pack(&inputs.goal.subject.name);
    let topics = pack.map(|pack| pack.topics.as_slice()).unwrap_or_default();
    let wording = TemplateWording::new(inputs.goal, inputs.template, pack);
    let title =
        wording.fill_title(&inputs.goal.text.split_whitespace().collect::<Vec<_>>().join(" "));
    let root = PlanNode::new_goal(ROOT, title);
    let plan = Blueprint {
        nodes: vec![root.clone()],
        weights: BTreeMap::new(),
        links: Vec::new(),
        notes: Vec::new(),
    };
    let mut artist = BlueprintBuilder {
        inputs,
        percent,
        topics,
        wording,
        plan,
        keys: BTreeMap::new(),
        waiting: Vec::new(),
    };
    artist.add_all_nodes(&root);
    artist.plan
}

struct BlueprintBuilder<'a> {
    inputs: BlueprintInputs<'a>,
    percent: u32,
    topics: &'a [Topic],
    wording: TemplateWording,
    plan: Blueprint,
    keys: BTreeMap<String, TaskId>,
    /// Links to parts that may come later in the file.
    waiting: Vec<(TaskId, LinkSpec)>,
}

/// The siblings added so far: per stream the one that the next depends on, and the last position.
#[derive(Default)]
struct SiblingLanes {
    last: BTreeMap<String, (Option<TaskId>, u16)>,
}

impl BlueprintBuilder<'_> {
    fn add_all_nodes(&mut self, root: &PlanNode) {
        let template = self.inputs.template;
        let mut lanes = SiblingLanes::default();
        let (before, after): (Vec<_>, Vec<_>) =
            template.tasks.iter().partition(|task| task.role == Role::Setup);
        let mut number = 0;
        for task in before {
            number += 1;
            self.add_task(root, format!("t{number}"), task, &mut lanes);
        }
        for (index, phase) in template.phases.iter().enumerate() {
            if template.sizing == TemplateSizing::Training {
                self.add_training_phase(root, index, phase, &mut lanes);
            } else {
                self.add_group(root, format!("p{}", index + 1), NodeType::Phase, phase, &mut lanes);
            }
        }
        for (index, cycle) in template.cycles.iter().enumerate() {
            self.add_group(root, format!("c{}", index + 1), NodeType::Cycle, cycle, &mut lanes);
        }
        for task in after {
            number += 1;
            self.add_task(root, format!("t{number}"), task, &mut lanes);
        }
        self.resolve_links();
        self.add_finish_milestone(root, &mut lanes);
    }

    /// Adds a container and its content.
    fn add_group(
        &mut self,
        parent: &PlanNode,
        id: String,
        kind: NodeType,
        group: &TemplateGroup,
        lanes: &mut SiblingLanes,
    ) {
        let node = self.add_container(parent, id, kind, group, lanes);
        let mut inner = SiblingLanes::default();
        for (index, phase) in group.phases.iter().enumerate() {
            self.add_group(
                &node,
                format!("{}.p{}", node.id, index + 1),
                NodeType::Phase,
                phase,
                &mut inner,
            );
        }
        for (index, goal) in group.sub_goals.iter().enumerate() {
            self.add_group(
                &node,
                format!("{}.s{}", node.id, index + 1),
                NodeType::SubGoal,
                goal,
                &mut inner,
            );
        }
        self.add_group_tasks(&node, group, &mut inner);
    }

    fn add_container(
        &mut self,
        parent: &PlanNode,
        id: String,
        kind: NodeType,
        group: &TemplateGroup,
        lanes: &mut SiblingLanes,
    ) -> PlanNode {
        let mut node =
            PlanNode::new_child(parent, id, kind, self.wording.fill_title(group.title.get_ref()));
        node.description = self.wording.fill_text(&group.description);
        node.done_when = self.wording.fill_text(&group.done_when);
        node.intensity = group.intensity.clamp(1, 5);
        node.recurrence = group.every.map(|every| self.build_recurrence(every, group.when));
        if let Some(share) = group.share {
            self.plan.weights.insert(node.id.clone(), BlueprintWeight::Share(share));
        }
        self.register_key(group.key.as_ref(), &node.id);
        // A cycle recurs alongside the phases; only phases and sub-goals depend on the previous one.
        let chained = kind != NodeType::Cycle;
        self.place_node(&mut node, group.stream.as_deref(), group.after.as_deref(), chained, lanes);
        self.plan.nodes.push(node.clone());
        node
    }

    /// Adds the tasks of a group; tasks per topic are repeated for each topic in turn.
    fn add_group_tasks(
        &mut self,
        node: &PlanNode,
        group: &TemplateGroup,
        lanes: &mut SiblingLanes,
    ) {
        let (each, rest): (Vec<_>, Vec<_>) = group.tasks.iter().partition(|task| task.per_topic);
        let mut number = 0;
        let topics = if each.is_empty() { Vec::new() } else { self.phase_topics(group) };
        for (place, topic) in topics.iter().enumerate() {
            for spec in &each {
                number += 1;
                self.add_topic_task(node, number, (place + 1, topics.len()), topic, spec, lanes);
            }
        }
        for spec in rest {
            number += 1;
            self.add_task(node, format!("{}.t{number}", node.id), spec, lanes);
        }
    }

    /// Returns the topics of a phase: from the pack, or else numbered units.
    fn phase_topics(&self, group: &TemplateGroup) -> Vec<PhaseTopic> {
        let key = group.key.as_deref().unwrap_or_default();
        let known: Vec<PhaseTopic> = self
            .topics
            .iter()
            .filter(|topic| topic.phase == key)
            .map(PhaseTopic::from_topic)
            .collect();
        if !known.is_empty() {
            return known;
        }
        let first = if key == "foundations" { 1 } else { 4 };
        let last = if key == "foundations" { 3 } else { 7 };
        (first..=last)
            .map(|unit| PhaseTopic::numbered_unit(unit, &self.inputs.goal.subject.name))
            .collect()
    }

    fn add_topic_task(
        &mut self,
        node: &PlanNode,
        number: usize,
        place: (usize, usize),
        topic: &PhaseTopic,
        spec: &TaskSpec,
        lanes: &mut SiblingLanes,
    ) {
        let worded = self.wording.with_topic(&topic.name, place.0);
        let plain = std::mem::replace(&mut self.wording, worded);
        let id = format!("{}.t{number}", node.id);
        self.add_task(node, id.clone(), spec, lanes);
        self.wording = plain;
        // The share of the kind of task is divided among the topics; hundredths keep the division exact enough.
        let share = spec.share.unwrap_or(1) * 100 / u32::try_from(place.1).unwrap_or(1).max(1);
        self.plan.weights.insert(TaskId::from(id.as_str()), BlueprintWeight::Share(share.max(1)));
        let (description, done_when) = topic.role_texts(spec.role);
        if let Some(drawn) = self.plan.nodes.last_mut()
            && !description.is_empty()
        {
            description.clone_into(&mut drawn.description);
            done_when.clone_into(&mut drawn.done_when);
        }
    }

    fn add_task(
        &mut self,
        parent: &PlanNode,
        id: String,
        spec: &TaskSpec,
        lanes: &mut SiblingLanes,
    ) {
        let mut node = PlanNode::new_child(
            parent,
            id,
            NodeType::Task,
            self.wording.fill_title(spec.title.get_ref()),
        );
        node.description = self.wording.fill_text(&spec.description);
        node.done_when = self.wording.fill_text(&spec.done_when);
        node.role = spec.role;
        node.milestone = spec.is_instant();
        node.optional = spec.optional;
        node.intensity = parent.intensity;
        node.recurrence = spec.every.map(|every| self.build_recurrence(every, spec.when));
        if let Some(weight) = self.task_weight(spec) {
            self.plan.weights.insert(node.id.clone(), weight);
        }
        self.register_key(spec.key.as_ref(), &node.id);
        let chained = spec.every.is_none();
        self.place_node(&mut node, spec.stream.as_deref(), spec.after.as_deref(), chained, lanes);
        self.plan.nodes.push(node);
    }

    fn task_weight(&self, spec: &TaskSpec) -> Option<BlueprintWeight> {
        if spec.is_instant() {
            return None;
        }
        if let Some(percent) = spec.weekly_percent {
            let minutes = u64::from(self.inputs.size.weekly_minutes) * u64::from(percent) / 100;
            return Some(BlueprintWeight::Minutes(
                sizing::round_down_to_unit(u32::try_from(minutes).unwrap_or(0))
                    .max(EFFORT_UNIT_MINUTES),
            ));
        }
        let Some(minutes) = spec.minutes else {
            // Shares that a phase divides among topics are in hundredths, so the others of the phase are as well.
            return spec.share.map(|share| BlueprintWeight::Share(share * 100));
        };
        let minutes = if spec.stated {
            self.inputs.goal.occurrence_minutes.unwrap_or(minutes)
        } else {
            minutes
        };
        let minutes = if spec.half { minutes / 2 } else { minutes };
        Some(BlueprintWeight::Minutes(match self.percent {
            100 => minutes.max(1),
            percent => sizing::scale_routine(minutes, percent),
        }))
    }

    fn register_key(&mut self, key: Option<&String>, id: &TaskId) {
        if let Some(key) = key {
            self.keys.insert(key.clone(), id.clone());
        }
    }

    /// Assigns a node its stream and position, and links it to its predecessors.
    fn place_node(
        &mut self,
        node: &mut PlanNode,
        stream: Option<&str>,
        after: Option<&[LinkSpec]>,
        chained: bool,
        lanes: &mut SiblingLanes,
    ) {
        stream.unwrap_or(MAIN_STREAM).clone_into(&mut node.stream);
        let last = lanes.last.get(&node.stream).cloned();
        node.position = last.as_ref().map_or(0, |(_, position)| position + 1);
        // Recurring work runs alongside its siblings: the next of them depends on the one before it.
        let link = if node.recurrence.is_some() {
            last.as_ref().and_then(|(id, _)| id.clone())
        } else {
            Some(node.id.clone())
        };
        lanes.last.insert(node.stream.clone(), (link, node.position));
        match (after, last) {
            (Some(links), _) => {
                self.waiting.extend(links.iter().map(|link| (node.id.clone(), link.clone())));
            }
            (None, Some((Some(last), _))) if chained => {
                self.plan.links.push(BlueprintLink::finish_to_start(&last, &node.id));
            }
            _ => {}
        }
    }

    fn resolve_links(&mut self) {
        for (to, link) in std::mem::take(&mut self.waiting) {
            let Some(from) = self.keys.get(&link.on).cloned() else { continue };
            let lag = if link.percent == 0 {
                BlueprintLag::None
            } else {
                BlueprintLag::Percent(link.percent)
            };
            self.plan.links.push(BlueprintLink { from, to, kind: link.kind, lag, why: link.why });
        }
    }

    /// Adds the milestone that depends on every node without a successor.
    fn add_finish_milestone(&mut self, root: &PlanNode, lanes: &mut SiblingLanes) {
        let Some(finish) = &self.inputs.template.finish else { return };
        let mut node = PlanNode::new_child(
            root,
            "m1",
            NodeType::Task,
            self.wording.fill_title(finish.title.get_ref()),
        );
        node.done_when = self.wording.fill_text(&finish.done_when);
        node.role = Role::Deliverable;
        node.milestone = true;
        let open = |top: &&PlanNode| {
            top.parent_id.as_ref() == Some(&root.id)
                && top.recurrence.is_none()
                && !self
                    .plan
                    .links
                    .iter()
                    .any(|link| link.from == top.id && link.kind == LinkKind::FS)
        };
        let ties: Vec<BlueprintLink> = self
            .plan
            .nodes
            .iter()
            .filter(open)
            .map(|top| BlueprintLink::finish_to_start(&top.id, &node.id))
            .collect();
        self.place_node(&mut node, None, Some(&[]), true, lanes);
        self.plan.links.extend(ties);
        self.plan.nodes.push(node);
    }
}
