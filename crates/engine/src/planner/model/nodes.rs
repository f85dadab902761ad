//! From a model's phases and tasks to an outline in the shape of its pattern.

use std::collections::BTreeSet;

use serde_json::Value;

use planwright_model::{
    NodeOrigin, NodeTree, NodeType, PatternSpec, PatternType, PlanContext, PlanNode, PlanOutline,
    Recurrence, RecurrenceFrequency, Role, RunKind, TaskId,
};

/// What a model thinks of its own draft; it must not be sure of nothing.
pub(super) fn self_score(args: &Value) -> f64 {
    args.get("self_score").and_then(Value::as_f64).unwrap_or(0.7).clamp(0.0, 1.0)
}

/// Builds the outline. What cannot be used is named, so that the model can be asked again.
pub(super) fn build_outline(
    args: &Value,
    context: &PlanContext,
    pattern: &PatternSpec,
    before: Option<&PlanOutline>,
) -> Result<PlanOutline, Vec<String>> {
    let phases =
        args.get("phases").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut outline = PlanOutline::new("goal", context.clone());
    outline.pattern = Some(pattern.clone());
    outline.plan_context.pattern = Some(pattern.clone());
    let mut builder =
        OutlineBuilder { outline, before, used: BTreeSet::from([TaskId::from("goal")]) };
    let root = builder.outline.nodes[0].clone();
    match pattern.pattern_type {
        PatternType::MilestoneProject | PatternType::ProgressiveAccumulationArc => {
            builder.add_phases(&root, phases);
        }
        PatternType::HybridProjectCycle => {
            let cycle = builder.add_cycle(&root, RecurrenceFrequency::Monthly);
            builder.add_phases(&cycle, phases);
        }
        PatternType::RecurringCycle => {
            let cycle = builder.add_cycle(&root, RecurrenceFrequency::Weekly);
            let tasks: Vec<Value> =
                phases.iter().flat_map(|phase| phase_tasks(phase).to_vec()).collect();
            builder.add_tasks(&cycle, &tasks);
        }
        PatternType::StrategicTransformation => builder.add_streams(&root, phases),
    }
    let leaves =
        builder.outline.nodes.iter().filter(|node| node.node_type == NodeType::Task).count();
    if leaves == 0 {
        return Err(vec!["there is no task in it".to_owned()]);
    }
    Ok(builder.outline)
}

fn text_field<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).map(str::trim).unwrap_or_default()
}

fn node_title(value: &Value) -> String {
    let text: String = text_field(value, "title").chars().take(PlanNode::MAX_TITLE_CHARS).collect();
    planwright_text::clean_line(&text).into_owned()
}

fn phase_tasks(phase: &Value) -> &[Value] {
    phase.get("tasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

struct OutlineBuilder<'a> {
    outline: PlanOutline,
    before: Option<&'a PlanOutline>,
    used: BTreeSet<TaskId>,
}

impl OutlineBuilder<'_> {
    /// The id a model names if that node exists already, the id of a node with the same title, else a new one.
    fn choose_id(&mut self, value: &Value, wanted: &str) -> TaskId {
        let named = TaskId::from(text_field(value, "id"));
        let known = self.before.and_then(|before| {
            before.find_node(&named).or_else(|| {
                let title = node_title(value);
                before.nodes.iter().find(|node| node.title == title)
            })
        });
        let mut id = known.map_or_else(|| TaskId::from(wanted), |node| node.id.clone());
        // A new node never takes the id of one that was there before.
        let taken = |id: &TaskId, used: &BTreeSet<TaskId>| {
            used.contains(id)
                || (known.is_none()
                    && self.before.is_some_and(|before| before.find_node(id).is_some()))
        };
        let mut number = 2;
        while taken(&id, &self.used) {
            id = TaskId::from(format!("{wanted}-{number}"));
            number += 1;
        }
        self.used.insert(id.clone());
        id
    }

    fn push(&mut self, node: PlanNode) -> PlanNode {
        self.outline.nodes.push(node.clone());
        node
    }

    fn add_phases(&mut self, parent: &PlanNode, phases: &[Value]) {
        for (number, phase) in (1u16..).zip(phases) {
            let id = self.choose_id(phase, &format!("p{number}"));
            let mut node = PlanNode::new_child(parent, id, NodeType::Phase, node_title(phase));
            node.position = number - 1;
            node.intensity = u8::try_from(number.min(5)).unwrap_or(5);
            node.origin = NodeOrigin::AiAdaptation;
            let node = self.push(node);
            self.add_tasks(&node, phase_tasks(phase));
        }
    }

    fn add_streams(&mut self, parent: &PlanNode, phases: &[Value]) {
        for (number, phase) in (1u16..).zip(phases) {
            let id = self.choose_id(phase, &format!("s{number}"));
            let mut node = PlanNode::new_child(parent, id, NodeType::SubGoal, node_title(phase));
            node.stream = format!("stream{number}");
            node.origin = NodeOrigin::AiAdaptation;
            let node = self.push(node);
            self.add_tasks(&node, phase_tasks(phase));
        }
    }

    fn add_cycle(&mut self, parent: &PlanNode, freq: RecurrenceFrequency) -> PlanNode {
        let kept = self
            .before
            .and_then(|before| before.nodes.iter().find(|node| node.node_type == NodeType::Cycle));
        if let Some(cycle) = kept.cloned() {
            self.used.insert(cycle.id.clone());
            return self.push(cycle);
        }
        let mut node = PlanNode::new_child(parent, "c1", NodeType::Cycle, "Each round");
        node.origin = NodeOrigin::AiAdaptation;
        node.recurrence = Some(Recurrence::every(freq));
        self.used.insert(node.id.clone());
        self.push(node)
    }

    /// A task that was there before keeps what the model has no field for: owner, dates, evidence.
    fn known_task(&self, parent: &PlanNode, id: TaskId, title: String) -> PlanNode {
        let known = self.before.and_then(|before| before.find_node(&id));
        let known = known.filter(|node| node.node_type == NodeType::Task).cloned();
        let mut node = PlanNode::new_child(parent, id, NodeType::Task, title);
        node.origin = NodeOrigin::AiAdaptation;
        match known {
            None => node,
            Some(old) => PlanNode {
                title: node.title,
                parent_id: node.parent_id,
                level: node.level,
                stream: node.stream,
                ..old
            },
        }
    }

    fn add_tasks(&mut self, parent: &PlanNode, tasks: &[Value]) {
        for (number, task) in (1u16..).zip(tasks) {
            let id = self.choose_id(task, &format!("{}.t{number}", parent.id));
            let mut node = self.known_task(parent, id, node_title(task));
            node.position = number - 1;
            let done_when = planwright_text::clean_line(text_field(task, "done_when"));
            if !done_when.is_empty() {
                node.done_when = done_when.into_owned();
            }
            if let Some(optional) = task.get("optional").and_then(Value::as_bool) {
                node.optional = optional;
            }
            let minutes = task.get("minutes").and_then(Value::as_u64);
            if let Some(minutes) = minutes.and_then(|minutes| u32::try_from(minutes).ok()) {
                node.estimate_minutes = Some(minutes);
            }
            node.intensity = parent.intensity;
            node.role = infer_role(&node.title);
            match (text_field(task, "doer"), text_field(task, "command")) {
                ("shell", command) if !command.is_empty() => {
                    // Whose words a command is decides what it may do.
                    node.origin = NodeOrigin::AiAdaptation;
                    node.run = Some(RunKind::Shell(command.to_owned()));
                }
                ("agent", _) => node.run = Some(RunKind::agent()),
                ("human", _) => node.run = None,
                _ => {}
            }
            self.push(node);
        }
    }
}

/// The part a task plays, by its words.
fn infer_role(title: &str) -> Role {
    let lower = title.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["review", "retrospective", "look back"]) {
        Role::Review
    } else if says(&["reflect", "lessons"]) {
        Role::Reflection
    } else if says(&["practice", "practise", "exercise"]) {
        Role::Practice
    } else if says(&["set up", "install", "prepare the"]) {
        Role::Setup
    } else {
        Role::Work
    }
}

/// Limits a redraft to the marked nodes and what is below them; everything else stays as it was.
pub(super) fn restore_unmarked(before: &PlanOutline, after: &mut PlanOutline, marked: &[TaskId]) {
    if marked.is_empty() {
        return;
    }
    let within = |tree: &NodeTree<'_>, id: &TaskId| {
        marked.iter().any(|top| top == id || tree.is_ancestor(top, id))
    };
    let old = before.node_tree();
    let changed: Vec<PlanNode> = {
        let new = after.node_tree();
        after
            .nodes
            .iter()
            .filter(|node| within(&new, &node.id) || within(&old, &node.id))
            .cloned()
            .collect()
    };
    let mut nodes: Vec<PlanNode> =
        before.nodes.iter().filter(|node| !within(&old, &node.id)).cloned().collect();
    for node in changed {
        let parent_stays = node
            .parent_id
            .as_ref()
            .is_none_or(|parent| nodes.iter().any(|kept| kept.id == *parent));
        if parent_stays {
            nodes.push(node);
        }
    }
    nodes.sort_by_key(|node| {
        let place =
            |outline: &PlanOutline| outline.nodes.iter().position(|other| other.id == node.id);
        place(before).or_else(|| place(after)).unwrap_or(usize::MAX)
    });
    after.nodes = nodes;
}
