//! A blueprint instantiated for one goal: the nodes with their texts, efforts and dates, and the links between them.
//!
//! The outline uses the nodes, the roadmap the links and the ranges of effort. Ids depend on the blueprint alone, so
//! both stages and every option use the same id for the same node.

mod amounts;
mod answers;
mod dates;
mod day_times;
mod effort;
mod event_days;
mod late_looks;
mod link;
mod nodes;
mod opening_hours;
mod recurrence;
mod rounds;
mod topic;
mod training;

use std::collections::BTreeMap;

use planwright_model::outline::MAIN_STREAM;
use planwright_model::{LinkKind, NodeType, PlanContext, PlanNode, PreferredTime, Role, TaskId};

use super::blueprint::{Blueprint, BlueprintLink, EffortRange, TemplateLibrary};
use super::goal::Goal;
use super::span::PlanSpan;
use super::wording::BlueprintWording;

pub(super) use dates::{AnchorCalendar, add_days, days_between, usual_lead};
pub(super) use effort::count_value;
pub(super) use event_days::event_length;
pub(super) use link::{InstanceLag, InstanceLink, bridge_links};
pub(super) use opening_hours::has_office_errands;
pub(super) use recurrence::{count_occurrences, count_open_dates};
pub(super) use topic::PhaseTopic;

/// A plan of fewer days can't wait for weekends.
const SHORT_SPAN: u32 = 13;

/// The id of the top node.
pub(super) const ROOT: &str = "goal";

/// An instantiated blueprint.
#[derive(Clone, Debug, Default)]
pub(super) struct BlueprintInstance {
    pub(super) nodes: Vec<PlanNode>,
    pub(super) links: Vec<InstanceLink>,
    /// The least, likely and most minutes of every leaf that takes time.
    pub(super) efforts: BTreeMap<TaskId, EffortRange>,
    pub(super) notes: Vec<String>,
}

/// The inputs of an instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct InstanceInputs<'a> {
    pub(super) goal: &'a Goal,
    pub(super) context: &'a PlanContext,
    pub(super) blueprint: &'a Blueprint,
    pub(super) library: &'a TemplateLibrary,
    pub(super) span: PlanSpan,
}

/// Makes the nodes and links of a plan.
pub(super) fn build_instance(inputs: InstanceInputs<'_>) -> BlueprintInstance {
    let pack = inputs.library.find_pack(&inputs.goal.subject.name);
    let wording = BlueprintWording::new(inputs.goal, inputs.context, inputs.blueprint, pack);
    let words: Vec<&str> = inputs.goal.text.split_whitespace().collect();
    let mut root = PlanNode::new_goal(ROOT, super::wording::fit_title(&words.join(" ")));
    root.why = wording.fill_text(inputs.blueprint.why.get_ref());
    root.risks.clone_from(&inputs.blueprint.risks);
    // What needs no office stays out of the hours that are only there for offices.
    let evenings = opening_hours::has_office_errands(inputs.blueprint)
        .then_some(PreferredTime::EveningsAndWeekends);
    let wanted = inputs.blueprint.prefer.to_preferred_time().or(evenings);
    // A week that is stated has evenings besides its weekend.
    let short = inputs.span.days < SHORT_SPAN && inputs.goal.working_times.is_empty();
    root.preferred_time = match wanted {
        Some(PreferredTime::Weekends) if short => Some(PreferredTime::EveningsAndWeekends),
        wanted => wanted,
    };
    let mut builder = InstanceBuilder {
        inputs,
        topics: pack.map(|pack| pack.topics.as_slice()).unwrap_or_default(),
        anchors: AnchorCalendar::new(inputs),
        wording,
        plan: BlueprintInstance {
            nodes: vec![root.clone()],
            links: Vec::new(),
            efforts: BTreeMap::new(),
            notes: Vec::new(),
        },
        keys: BTreeMap::new(),
        waiting: Vec::new(),
        session_starts: Vec::new(),
    };
    builder.add_all_nodes(&root);
    builder.note_assumed_day();
    builder.plan
}

/// The weeks up to which a kind has nothing to do long before its day.
const SHORT_WEEKS: u16 = 4;

struct InstanceBuilder<'a> {
    inputs: InstanceInputs<'a>,
    topics: &'a [super::blueprint::Topic],
    anchors: AnchorCalendar,
    wording: BlueprintWording,
    plan: BlueprintInstance,
    keys: BTreeMap<&'a str, KeyedPart<'a>>,
    /// Links to parts that may come later in the file.
    waiting: Vec<(TaskId, &'a BlueprintLink)>,
    /// Times of day that repeated sessions on days without working hours already have.
    session_starts: Vec<(planwright_model::Weekday, jiff::civil::Time)>,
}

/// What a key of the file stands for.
#[derive(Clone, Debug)]
enum KeyedPart<'a> {
    Node(TaskId),
    /// Left out of this plan: whatever waits for it waits for its predecessors.
    LeftOut {
        after: &'a [BlueprintLink],
        last: Option<TaskId>,
    },
}

/// The siblings added so far: per stream the one that the next depends on, and the last position.
#[derive(Default)]
struct SiblingLanes {
    last: BTreeMap<String, (Option<TaskId>, u16)>,
}

impl SiblingLanes {
    /// Lets the next sibling of the main stream depend on none before it.
    fn forget_last(&mut self) {
        if let Some((link, _)) = self.last.get_mut(MAIN_STREAM) {
            *link = None;
        }
    }

    fn last_linked(&self, stream: &str) -> Option<TaskId> {
        self.last.get(stream).and_then(|(id, _)| id.clone())
    }
}

impl<'a> InstanceBuilder<'a> {
    fn add_all_nodes(&mut self, root: &PlanNode) {
        let file = self.inputs.blueprint;
        let mut lanes = SiblingLanes::default();
        let (before, after): (Vec<_>, Vec<_>) =
            file.tasks.iter().enumerate().partition(|(_, task)| task.role == Role::Setup);
        for (index, task) in before {
            self.add_file_task(root, index, task, &mut lanes);
        }
        for (index, phase) in file.phases.iter().enumerate() {
            if file.sizing == super::blueprint::BlueprintSizing::Training {
                self.add_training_phase(root, index, phase, &mut lanes);
            } else {
                self.add_group(root, format!("p{}", index + 1), NodeType::Phase, phase, &mut lanes);
            }
        }
        for (index, cycle) in file.cycles.iter().enumerate() {
            self.add_group(root, format!("c{}", index + 1), NodeType::Cycle, cycle, &mut lanes);
        }
        for (index, task) in after {
            self.add_file_task(root, index, task, &mut lanes);
        }
        self.remove_empty_groups();
        self.resolve_links();
        self.leave_out_late_looks();
        self.arrange_rounds();
        self.add_finish_milestone(root, &mut lanes);
        self.hold_back_early_work();
        self.set_times_of_day();
        self.use_stated_amounts();
        let InstanceInputs { goal, blueprint, .. } = self.inputs;
        super::side_remarks::add_remarks(&mut self.plan.nodes, goal, blueprint);
    }

    /// Says that every date counts from a day that nobody stated, and how to state it.
    fn note_assumed_day(&mut self) {
        let InstanceInputs { goal, context, blueprint, span, .. } = self.inputs;
        let assumed = context
            .find_assumption(super::facts::DAY)
            .is_some_and(|found| found.origin == planwright_model::AssumptionOrigin::Template);
        let (Some(day), Some(question)) = (span.day, &blueprint.day_question) else { return };
        if !assumed || goal.deadline.is_some() {
            return;
        }
        let day = planwright_text::dates::format_date(day, span.start);
        let question = question.get_ref();
        let is_open = goal.last_day().is_none() && goal.horizon_weeks.is_none();
        self.plan.notes.push(if is_open {
            format!(
                "{question} The goal does not say, so {day} is only an example: write the day into the goal and \
                 every date moves with it."
            )
        } else {
            format!("{question} {day} is assumed; write another day into the goal and every date moves with it.")
        });
    }

    /// Assigns a node its stream and position, and links it to its predecessors.
    fn place_node(
        &mut self,
        node: &mut PlanNode,
        stream: Option<&str>,
        after: Option<&'a [BlueprintLink]>,
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
                self.waiting.extend(links.iter().map(|link| (node.id.clone(), link)));
            }
            (None, Some((Some(last), _))) if chained => {
                self.plan.links.push(InstanceLink::finish_to_start(&last, &node.id));
            }
            _ => {}
        }
    }

    /// Turns the links of the file into links between nodes, over parts that were left out.
    fn resolve_links(&mut self) {
        let waits = self.wait_policy();
        for (to, link) in std::mem::take(&mut self.waiting) {
            for from in self.linked_nodes(&link.on, 0) {
                if from != to {
                    self.plan.links.push(InstanceLink::from_file(&from, &to, link, waits));
                }
            }
        }
        let known: std::collections::BTreeSet<&TaskId> =
            self.plan.nodes.iter().map(|node| &node.id).collect();
        self.plan.links.retain(|link| known.contains(&link.from) && known.contains(&link.to));
        self.wait_for_answers();
    }

    /// Returns the nodes that a key stands for. The depth ends files in which parts that are left out refer in circles.
    fn linked_nodes(&self, key: &str, depth: usize) -> Vec<TaskId> {
        match self.keys.get(key) {
            Some(KeyedPart::Node(id)) => vec![id.clone()],
            Some(KeyedPart::LeftOut { after, last }) if depth < 32 => {
                let named = after.iter().flat_map(|link| self.linked_nodes(&link.on, depth + 1));
                named.chain(last.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A phase whose tasks were all left out is left out too; the next one follows the one before it.
    fn remove_empty_groups(&mut self) {
        loop {
            let holds = |id: &TaskId| {
                self.plan.nodes.iter().any(|node| node.parent_id.as_ref() == Some(id))
            };
            let empty =
                self.plan.nodes.iter().find(|node| {
                    node.node_type.is_container() && node.level > 1 && !holds(&node.id)
                });
            let Some(gone) = empty.map(|node| node.id.clone()) else { return };
            self.plan.nodes.retain(|node| node.id != gone);
            let links = std::mem::take(&mut self.plan.links);
            self.plan.links = link::bridge_links(links, &gone);
            self.waiting.retain(|(to, _)| *to != gone);
            self.keys.retain(|_, part| !matches!(part, KeyedPart::Node(id) if *id == gone));
        }
    }

    /// Adds the milestone that depends on every node without a successor.
    fn add_finish_milestone(&mut self, root: &PlanNode, lanes: &mut SiblingLanes) {
        let file = self.inputs.blueprint;
        let (title, done_when) = match &file.finish {
            Some(finish) => (finish.title.get_ref().as_str(), finish.done_when.as_str()),
            // A project ends somewhere; a small task is its own end.
            None if file.pattern == planwright_model::PatternType::MilestoneProject => {
                ("{It} is done", "everything in the plan is done, and nothing of it is left over")
            }
            None => return,
        };
        let mut node =
            PlanNode::new_child(root, "m1", NodeType::Task, self.wording.fill_title(title));
        node.done_when = self.wording.fill_text(done_when);
        node.role = Role::Deliverable;
        node.milestone = true;
        let open = |top: &&PlanNode| {
            let leads = |link: &InstanceLink| link.from == top.id && link.kind == LinkKind::FS;
            top.parent_id.as_ref() == Some(&root.id)
                && top.recurrence.is_none()
                && !self.plan.links.iter().any(leads)
        };
        let ties: Vec<InstanceLink> = self
            .plan
            .nodes
            .iter()
            .filter(open)
            .map(|top| InstanceLink::finish_to_start(&top.id, &node.id))
            .collect();
        // It comes last in the tree, so it stands in the stream of the last part.
        let stream = planwright_model::NodeTree::new(&self.plan.nodes)
            .children(&root.id)
            .last()
            .map(|node| node.stream.clone());
        self.place_node(&mut node, stream.as_deref(), Some(&[]), true, lanes);
        self.plan.links.extend(ties);
        self.plan.nodes.push(node);
    }

    /// With a day far ahead, the first part begins now, and the rest when the kind's own span begins.
    fn hold_back_early_work(&mut self) {
        // A rhythm fills all the weeks there are.
        let Some(first) =
            self.anchors.first_useful_day().filter(|_| self.inputs.blueprint.weekly.is_none())
        else {
            return;
        };
        // A weekend's work waits for its weekend; what takes months has something to decide and to book now.
        let begins_now = usize::from(*self.inputs.blueprint.weeks.get_ref() > SHORT_WEEKS);
        for node in self.plan.nodes.iter_mut().filter(|node| node.level == 2).skip(begins_now) {
            node.not_before = Some(planwright_model::PlanDate::on_day(first));
        }
    }
}
