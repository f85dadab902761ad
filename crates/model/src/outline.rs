//! The outline of a plan: a tree of nodes (depth is vertical, streams are horizontal) and the links between them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::task::is_default;
use super::{
    ExitCriterion, LagBasis, LinkKind, LinkOrigin, NodeDates, NodeOrigin, NodeTree, PatternSpec,
    PlanContext, PlanDate, PreferredTime, Recurrence, RunKind, StartSource, TaskCost, TaskId,
    other_person,
};

/// What a node is in the tree.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NodeType {
    Goal,
    Phase,
    Cycle,
    SubGoal,
    Task,
    SubTask,
    MicroGoal,
}

impl NodeType {
    pub const ALL: [Self; 7] = [
        Self::Goal,
        Self::Phase,
        Self::Cycle,
        Self::SubGoal,
        Self::Task,
        Self::SubTask,
        Self::MicroGoal,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Phase => "phase",
            Self::Cycle => "cycle",
            Self::SubGoal => "sub_goal",
            Self::Task => "task",
            Self::SubTask => "sub_task",
            Self::MicroGoal => "micro_goal",
        }
    }

    /// Whether it only holds others: it has no work of its own.
    pub fn is_container(self) -> bool {
        matches!(self, Self::Goal | Self::Phase | Self::Cycle | Self::SubGoal)
    }

    /// Whether a node of this type may hold one of type `child`.
    pub fn can_contain(self, child: Self) -> bool {
        use NodeType::{Cycle, Goal, MicroGoal, Phase, SubGoal, SubTask, Task};
        match self {
            Goal => matches!(child, Phase | Cycle | SubGoal | Task),
            Phase => matches!(child, Cycle | SubGoal | Task | MicroGoal),
            Cycle => matches!(child, Phase | SubGoal | Task | MicroGoal),
            SubGoal => matches!(child, Task | MicroGoal),
            Task => matches!(child, SubTask | MicroGoal),
            SubTask => child == MicroGoal,
            MicroGoal => false,
        }
    }
}

/// What part a node plays in its pattern.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    #[default]
    Work,
    Practice,
    Reflection,
    Review,
    Deliverable,
    Gate,
    Setup,
    Habit,
}

impl Role {
    /// Whether it is a moment to look back.
    pub fn is_retrospective(self) -> bool {
        matches!(self, Self::Reflection | Self::Review)
    }
}

/// How far a node has come.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NodeStatus {
    #[default]
    Pending,
    InProgress,
    Done,
    Blocked,
}

/// The stream of nodes that name none.
pub const MAIN_STREAM: &str = "main";
/// How demanding work is where nobody said so.
pub const DEFAULT_INTENSITY: u8 = 1;

/// One node of the plan's tree. Its id is the same in outline, roadmap and schedule, and never reused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanNode {
    pub id: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<TaskId>,
    /// 1 for the goal, otherwise the parent's plus 1.
    pub level: u8,
    pub node_type: NodeType,
    /// Names a parallel lane among siblings.
    #[serde(default = "default_stream")]
    pub stream: String,
    /// Unique within parent and stream.
    #[serde(default)]
    pub position: u16,
    #[schemars(length(max = 120))]
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How to tell that it is done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub done_when: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub role: Role,
    /// A task of 0 minutes that marks a point reached.
    #[serde(default, skip_serializing_if = "is_default")]
    pub milestone: bool,
    /// Whether it may be dropped when time is short.
    #[serde(default, skip_serializing_if = "is_default")]
    pub optional: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<Recurrence>,
    /// Only on leaves; the roadmap fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_minutes: Option<u32>,
    /// From 1 to 5.
    #[serde(default = "default_intensity")]
    #[schemars(range(min = 1, max = 5))]
    pub intensity: u8,
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: NodeStatus,
    /// From 0 to 1.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub progress: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub origin: NodeOrigin,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How many units of each shared resource it takes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u32>,
    /// Who does it, on leaves; nobody named means the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunKind>,
    /// The name or role of whoever answers for it; empty means that `run` says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// The task starts then, whatever else moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_start: Option<PlanDate>,
    /// Who chose `fixed_start`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_source: StartSource,
    /// The task ends then, whatever else moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_end: Option<PlanDate>,
    /// The task starts then at the earliest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<PlanDate>,
    /// The task ends then at the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<PlanDate>,
    /// Why it is in the plan, in one sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What may go wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<String>,
    /// What was taken for granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Where it comes from: what the person said, or files with lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Checks that say whether it is done, besides `done_when`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exit_criteria: Vec<ExitCriterion>,
    /// The kind of work for an agent; empty means that the title decides.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task_type: String,
    /// What it costs, apart from time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<TaskCost>,
    /// When it is best done; a group's applies to everything in it that has none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_time: Option<PreferredTime>,
    /// Whether it is done in one go on one day, whatever hours that day has: the party itself, a long run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_one_piece: bool,
}

impl PlanNode {
    /// The longest title, in characters.
    pub const MAX_TITLE_CHARS: usize = 120;

    /// The node at the top of a plan.
    pub fn new_goal(id: impl Into<TaskId>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            parent_id: None,
            level: 1,
            node_type: NodeType::Goal,
            stream: default_stream(),
            position: 0,
            title: title.into(),
            description: String::new(),
            done_when: String::new(),
            role: Role::default(),
            milestone: false,
            optional: false,
            recurrence: None,
            estimate_minutes: None,
            intensity: default_intensity(),
            status: NodeStatus::default(),
            progress: 0.0,
            origin: NodeOrigin::default(),
            tags: Vec::new(),
            resources: BTreeMap::new(),
            run: None,
            owner: String::new(),
            fixed_start: None,
            start_source: StartSource::default(),
            fixed_end: None,
            not_before: None,
            due: None,
            why: String::new(),
            risks: Vec::new(),
            assumptions: Vec::new(),
            evidence: Vec::new(),
            exit_criteria: Vec::new(),
            task_type: String::new(),
            cost: None,
            preferred_time: None,
            in_one_piece: false,
        }
    }

    /// A node below `parent` with every other field at its default.
    pub fn new_child(
        parent: &Self,
        id: impl Into<TaskId>,
        node_type: NodeType,
        title: impl Into<String>,
    ) -> Self {
        Self {
            parent_id: Some(parent.id.clone()),
            level: parent.level.saturating_add(1),
            node_type,
            ..Self::new_goal(id, title)
        }
    }

    /// Minutes of work; a milestone has none.
    pub fn work_minutes(&self) -> u32 {
        if self.milestone { 0 } else { self.estimate_minutes.unwrap_or(0) }
    }

    /// The owner, where that is somebody other than the person.
    pub fn other_owner(&self) -> Option<&str> {
        other_person(&self.owner)
    }

    /// Whether it repeats from a day of its own on. Links of its group do not move it.
    pub fn repeats_from_own_day(&self) -> bool {
        self.recurrence.as_ref().is_some_and(|recurrence| recurrence.from.is_some())
    }

    /// Whether it happens on a day of its own, which the hours of a week do not limit.
    pub fn has_own_day(&self) -> bool {
        self.in_one_piece && self.fixed_start.is_some()
    }

    /// Whether the person stated on which day it starts or ends.
    pub fn has_stated_day(&self) -> bool {
        self.fixed_end.is_some() || self.fixed_start.is_some() && self.start_source.has_stated_day()
    }

    /// Whether it takes of the hours of a week although it has a day of its own: the day is only proposed.
    pub fn has_proposed_day(&self) -> bool {
        self.has_own_day() && self.start_source == StartSource::Proposed
    }

    /// The dates that were set by hand.
    pub fn dates(&self) -> NodeDates {
        NodeDates {
            fixed_start: self.fixed_start,
            fixed_end: self.fixed_end,
            not_before: self.not_before,
            due: self.due,
        }
    }

    pub fn set_dates(&mut self, dates: NodeDates) {
        let NodeDates { fixed_start, fixed_end, not_before, due } = dates;
        if self.fixed_start != fixed_start {
            self.start_source = StartSource::Stated;
        }
        (self.fixed_start, self.fixed_end) = (fixed_start, fixed_end);
        (self.not_before, self.due) = (not_before, due);
    }
}

fn default_stream() -> String {
    MAIN_STREAM.to_owned()
}
fn default_intensity() -> u8 {
    DEFAULT_INTENSITY
}
fn default_version() -> u32 {
    1
}

/// What is to be done, before dates and estimates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanOutline {
    pub root_id: TaskId,
    pub plan_context: PlanContext,
    /// Mirrors the session's selected pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternSpec>,
    #[serde(default)]
    pub nodes: Vec<PlanNode>,
    /// One more for every accepted change.
    #[serde(default = "default_version")]
    pub version: u32,
}

impl PlanOutline {
    /// An outline that holds only the goal, titled with the goal's text.
    pub fn new(root_id: impl Into<TaskId>, plan_context: PlanContext) -> Self {
        let title: String =
            plan_context.goal_text.chars().take(PlanNode::MAX_TITLE_CHARS).collect();
        let root = PlanNode::new_goal(root_id, title);
        Self {
            root_id: root.id.clone(),
            pattern: plan_context.pattern.clone(),
            plan_context,
            nodes: vec![root],
            version: default_version(),
        }
    }

    pub fn find_node(&self, id: &TaskId) -> Option<&PlanNode> {
        self.nodes.iter().find(|node| node.id == *id)
    }

    /// The nodes as a tree that can be asked for children, leaves and parents.
    pub fn node_tree(&self) -> NodeTree<'_> {
        NodeTree::new(&self.nodes)
    }
}

/// A link between two nodes of a plan: `to` waits for `from`.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct NodeDependency {
    pub from: TaskId,
    pub to: TaskId,
    #[serde(default)]
    pub kind: LinkKind,
    /// Negative means a lead.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lag_minutes: i32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub lag_basis: LagBasis,
    #[serde(default, skip_serializing_if = "is_default")]
    pub origin: LinkOrigin,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rationale: String,
}

impl NodeDependency {
    /// The longest lag or lead, in minutes.
    pub const MAX_LAG_MINUTES: i32 = 86_400;

    pub fn new(from: impl Into<TaskId>, to: impl Into<TaskId>, kind: LinkKind) -> Self {
        Self {
            from: from.into(),
            to: to.into(),
            kind,
            lag_minutes: 0,
            lag_basis: LagBasis::default(),
            origin: LinkOrigin::default(),
            rationale: String::new(),
        }
    }

    /// A plain finish-to-start link.
    pub fn finish_to_start(from: impl Into<TaskId>, to: impl Into<TaskId>) -> Self {
        Self::new(from, to, LinkKind::FS)
    }

    pub fn with_lag(self, lag_minutes: i32) -> Self {
        Self { lag_minutes, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_round_trips() {
        let context =
            PlanContext::new("learn Rust", jiff::civil::date(2026, 6, 8), "Europe/Berlin");
        let mut outline = PlanOutline::new("goal", context);
        let phase = PlanNode::new_child(&outline.nodes[0], "p1", NodeType::Phase, "Foundations");
        outline.nodes.push(phase);
        let json = serde_json::to_string(&outline).unwrap();
        assert_eq!(serde_json::from_str::<PlanOutline>(&json).unwrap(), outline);
        assert_eq!(outline.nodes[1].level, 2);
    }

    #[test]
    fn a_node_and_a_link_fill_in_their_defaults() {
        let node: PlanNode = serde_json::from_str(
            r#"{"id":"p1","parent_id":"goal","level":2,"node_type":"sub_goal","title":"x"}"#,
        )
        .unwrap();
        assert_eq!(
            node,
            PlanNode::new_child(&PlanNode::new_goal("goal", ""), "p1", NodeType::SubGoal, "x")
        );
        let link: NodeDependency =
            serde_json::from_str(r#"{"from":"a","to":"b","kind":"start_to_start"}"#).unwrap();
        assert_eq!(link, NodeDependency::new("a", "b", LinkKind::SS));
    }

    #[test]
    fn phases_hold_cycles_but_tasks_hold_only_parts_of_themselves() {
        assert!(NodeType::Phase.can_contain(NodeType::Cycle));
        assert!(NodeType::Task.can_contain(NodeType::SubTask));
        assert!(!NodeType::Task.can_contain(NodeType::Task));
        assert!(!NodeType::Goal.can_contain(NodeType::MicroGoal));
        assert!(NodeType::ALL.iter().all(|child| !NodeType::MicroGoal.can_contain(*child)));
    }
}
