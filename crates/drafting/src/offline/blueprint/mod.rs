//! A template laid out for one goal: the nodes with their words, what each weighs, and the links between them.
//!
//! The outline takes the nodes, the roadmap the weights and links. Ids depend on the template alone, so both stages and
//! every option name the same node alike.

mod recur;
mod tie;
mod topic;
mod training;

use std::collections::BTreeMap;

use planwright_model::outline::MAIN_STREAM;
use planwright_model::{LinkKind, NodeType, PlanContext, PlanNode, Role, TaskId};

use super::facts::Size;
use super::goal::Goal;
use super::template::{Group, Library, LinkSpec, Sizing, TaskSpec, Template, Topic};
use super::wording::Wording;
use planwright_plan::sizing::{self, UNIT};

pub(super) use recur::occurrences;
pub(super) use tie::{Lag, Tie, Weight};

use topic::PhaseTopic;

/// The id of the node at the top.
pub(super) const ROOT: &str = "goal";

/// A template laid out.
#[derive(Clone, Debug)]
pub(super) struct Blueprint {
    pub(super) nodes: Vec<PlanNode>,
    pub(super) weights: BTreeMap<TaskId, Weight>,
    pub(super) ties: Vec<Tie>,
    pub(super) notes: Vec<String>,
}

/// What a blueprint is drawn from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground<'a> {
    pub(super) goal: &'a Goal,
    pub(super) context: &'a PlanContext,
    pub(super) template: &'a Template,
    pub(super) library: &'a Library,
    pub(super) size: Size,
}

/// Draws the blueprint; `percent` scales what has fixed minutes.
pub(super) fn draw(ground: Ground<'_>, percent: u32) -> Blueprint {
    let pack = ground.library.pack(&ground.goal.subject.name);
    let topics = pack.map(|pack| pack.topics.as_slice()).unwrap_or_default();
    let wording = Wording::new(ground.goal, ground.template, pack);
    let title = wording.title(&ground.goal.text.split_whitespace().collect::<Vec<_>>().join(" "));
    let root = PlanNode::goal(ROOT, title);
    let plan = Blueprint {
        nodes: vec![root.clone()],
        weights: BTreeMap::new(),
        ties: Vec::new(),
        notes: Vec::new(),
    };
    let mut artist = Artist {
        ground,
        percent,
        topics,
        wording,
        plan,
        keys: BTreeMap::new(),
        waiting: Vec::new(),
    };
    artist.whole(&root);
    artist.plan
}

struct Artist<'a> {
    ground: Ground<'a>,
    percent: u32,
    topics: &'a [Topic],
    wording: Wording,
    plan: Blueprint,
    keys: BTreeMap<String, TaskId>,
    /// Links to parts that may come later in the file.
    waiting: Vec<(TaskId, LinkSpec)>,
}

/// The siblings drawn so far: the one of each stream that the next waits for, and the last position.
#[derive(Default)]
struct Lanes {
    last: BTreeMap<String, (Option<TaskId>, u16)>,
}

impl Artist<'_> {
    fn whole(&mut self, root: &PlanNode) {
        let template = self.ground.template;
        let mut lanes = Lanes::default();
        let (before, after): (Vec<_>, Vec<_>) =
            template.tasks.iter().partition(|task| task.role == Role::Setup);
        let mut number = 0;
        for task in before {
            number += 1;
            self.task(root, format!("t{number}"), task, &mut lanes);
        }
        for (index, phase) in template.phases.iter().enumerate() {
            if template.sizing == Sizing::Training {
                self.training_phase(root, index, phase, &mut lanes);
            } else {
                self.group(root, format!("p{}", index + 1), NodeType::Phase, phase, &mut lanes);
            }
        }
        for (index, cycle) in template.cycles.iter().enumerate() {
            self.group(root, format!("c{}", index + 1), NodeType::Cycle, cycle, &mut lanes);
        }
        for task in after {
            number += 1;
            self.task(root, format!("t{number}"), task, &mut lanes);
        }
        self.settle_links();
        self.finish(root, &mut lanes);
    }

    /// Draws a container and all that is in it.
    fn group(
        &mut self,
        parent: &PlanNode,
        id: String,
        kind: NodeType,
        group: &Group,
        lanes: &mut Lanes,
    ) {
        let node = self.container(parent, id, kind, group, lanes);
        let mut inner = Lanes::default();
        for (index, phase) in group.phases.iter().enumerate() {
            self.group(
                &node,
                format!("{}.p{}", node.id, index + 1),
                NodeType::Phase,
                phase,
                &mut inner,
            );
        }
        for (index, goal) in group.sub_goals.iter().enumerate() {
            self.group(
                &node,
                format!("{}.s{}", node.id, index + 1),
                NodeType::SubGoal,
                goal,
                &mut inner,
            );
        }
        self.tasks(&node, group, &mut inner);
    }

    fn container(
        &mut self,
        parent: &PlanNode,
        id: String,
        kind: NodeType,
        group: &Group,
        lanes: &mut Lanes,
    ) -> PlanNode {
        let mut node = PlanNode::under(parent, id, kind, self.wording.title(group.title.get_ref()));
        node.description = self.wording.text(&group.description);
        node.done_when = self.wording.text(&group.done_when);
        node.intensity = group.intensity.clamp(1, 5);
        node.recurrence = group.every.map(|every| self.recurrence(every, group.when));
        if let Some(share) = group.share {
            self.plan.weights.insert(node.id.clone(), Weight::Share(share));
        }
        self.remember(group.key.as_ref(), &node.id);
        // A cycle repeats beside the phases; only phases and sub-goals wait for the one before.
        let chained = kind != NodeType::Cycle;
        self.place(&mut node, group.stream.as_deref(), group.after.as_deref(), chained, lanes);
        self.plan.nodes.push(node.clone());
        node
    }

    /// Draws the tasks of a group, those for topics once for each topic in turn.
    fn tasks(&mut self, node: &PlanNode, group: &Group, lanes: &mut Lanes) {
        let (each, rest): (Vec<_>, Vec<_>) = group.tasks.iter().partition(|task| task.per_topic);
        let mut number = 0;
        let topics = if each.is_empty() { Vec::new() } else { self.phase_topics(group) };
        for (place, topic) in topics.iter().enumerate() {
            for spec in &each {
                number += 1;
                self.topic_task(node, number, (place + 1, topics.len()), topic, spec, lanes);
            }
        }
        for spec in rest {
            number += 1;
            self.task(node, format!("{}.t{number}", node.id), spec, lanes);
        }
    }

    /// The topics of a phase: from the pack, else numbered units.
    fn phase_topics(&self, group: &Group) -> Vec<PhaseTopic> {
        let key = group.key.as_deref().unwrap_or_default();
        let known: Vec<PhaseTopic> =
            self.topics.iter().filter(|topic| topic.phase == key).map(PhaseTopic::of).collect();
        if !known.is_empty() {
            return known;
        }
        let first = if key == "foundations" { 1 } else { 4 };
        let last = if key == "foundations" { 3 } else { 7 };
        (first..=last).map(|unit| PhaseTopic::unit(unit, &self.ground.goal.subject.name)).collect()
    }

    fn topic_task(
        &mut self,
        node: &PlanNode,
        number: usize,
        place: (usize, usize),
        topic: &PhaseTopic,
        spec: &TaskSpec,
        lanes: &mut Lanes,
    ) {
        let worded = self.wording.with_topic(&topic.name, place.0);
        let plain = std::mem::replace(&mut self.wording, worded);
        let id = format!("{}.t{number}", node.id);
        self.task(node, id.clone(), spec, lanes);
        self.wording = plain;
        // The share of the kind of task is split over the topics; hundredths keep the split exact enough.
        let share = spec.share.unwrap_or(1) * 100 / u32::try_from(place.1).unwrap_or(1).max(1);
        self.plan.weights.insert(TaskId::from(id.as_str()), Weight::Share(share.max(1)));
        let (description, done_when) = topic.texts(spec.role);
        if let Some(drawn) = self.plan.nodes.last_mut()
            && !description.is_empty()
        {
            description.clone_into(&mut drawn.description);
            done_when.clone_into(&mut drawn.done_when);
        }
    }

    fn task(&mut self, parent: &PlanNode, id: String, spec: &TaskSpec, lanes: &mut Lanes) {
        let mut node =
            PlanNode::under(parent, id, NodeType::Task, self.wording.title(spec.title.get_ref()));
        node.description = self.wording.text(&spec.description);
        node.done_when = self.wording.text(&spec.done_when);
        node.role = spec.role;
        node.milestone = spec.is_instant();
        node.optional = spec.optional;
        node.intensity = parent.intensity;
        node.recurrence = spec.every.map(|every| self.recurrence(every, spec.when));
        if let Some(weight) = self.task_weight(spec) {
            self.plan.weights.insert(node.id.clone(), weight);
        }
        self.remember(spec.key.as_ref(), &node.id);
        let chained = spec.every.is_none();
        self.place(&mut node, spec.stream.as_deref(), spec.after.as_deref(), chained, lanes);
        self.plan.nodes.push(node);
    }

    fn task_weight(&self, spec: &TaskSpec) -> Option<Weight> {
        if spec.is_instant() {
            return None;
        }
        if let Some(percent) = spec.weekly_percent {
            let minutes = u64::from(self.ground.size.weekly_minutes) * u64::from(percent) / 100;
            return Some(Weight::Minutes(
                sizing::cut(u32::try_from(minutes).unwrap_or(0)).max(UNIT),
            ));
        }
        let Some(minutes) = spec.minutes else {
            // Shares that a phase splits over topics are in hundredths, so the others of the phase are, too.
            return spec.share.map(|share| Weight::Share(share * 100));
        };
        let minutes = if spec.stated {
            self.ground.goal.occurrence_minutes.unwrap_or(minutes)
        } else {
            minutes
        };
        let minutes = if spec.half { minutes / 2 } else { minutes };
        Some(Weight::Minutes(match self.percent {
            100 => minutes.max(1),
            percent => sizing::scale_routine(minutes, percent),
        }))
    }

    fn remember(&mut self, key: Option<&String>, id: &TaskId) {
        if let Some(key) = key {
            self.keys.insert(key.clone(), id.clone());
        }
    }

    /// Gives a node its stream and position, and ties it to what it waits for.
    fn place(
        &mut self,
        node: &mut PlanNode,
        stream: Option<&str>,
        after: Option<&[LinkSpec]>,
        chained: bool,
        lanes: &mut Lanes,
    ) {
        stream.unwrap_or(MAIN_STREAM).clone_into(&mut node.stream);
        let last = lanes.last.get(&node.stream).cloned();
        node.position = last.as_ref().map_or(0, |(_, position)| position + 1);
        // What repeats runs beside its siblings: the next of them waits for the one before it.
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
                self.plan.ties.push(Tie::chain(&last, &node.id));
            }
            _ => {}
        }
    }

    fn settle_links(&mut self) {
        for (to, link) in std::mem::take(&mut self.waiting) {
            let Some(from) = self.keys.get(&link.on).cloned() else { continue };
            let lag = if link.percent == 0 { Lag::None } else { Lag::Percent(link.percent) };
            self.plan.ties.push(Tie { from, to, kind: link.kind, lag, why: link.why });
        }
    }

    /// The milestone that waits for everything nothing else waits for.
    fn finish(&mut self, root: &PlanNode, lanes: &mut Lanes) {
        let Some(finish) = &self.ground.template.finish else { return };
        let mut node =
            PlanNode::under(root, "m1", NodeType::Task, self.wording.title(finish.title.get_ref()));
        node.done_when = self.wording.text(&finish.done_when);
        node.role = Role::Deliverable;
        node.milestone = true;
        let open = |top: &&PlanNode| {
            top.parent_id.as_ref() == Some(&root.id)
                && top.recurrence.is_none()
                && !self.plan.ties.iter().any(|tie| tie.from == top.id && tie.kind == LinkKind::FS)
        };
        let ties: Vec<Tie> =
            self.plan.nodes.iter().filter(open).map(|top| Tie::chain(&top.id, &node.id)).collect();
        self.place(&mut node, None, Some(&[]), true, lanes);
        self.plan.ties.extend(ties);
        self.plan.nodes.push(node);
    }
}
