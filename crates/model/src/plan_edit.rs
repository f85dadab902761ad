//! The operations that change a plan: by hand, by words, from a model or a file. Each names the nodes it changes by id;
//! what no operation names stays as it is.

use serde::{Deserialize, Serialize};

use super::task::is_default;
use super::{
    DateField, ExitCriterion, LinkKind, NodeDates, NodeType, PlanDate, Recurrence, Role, RunKind,
    TaskCost, TaskId,
};

/// Who does a task.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TaskAssignee {
    Human,
    Agent,
    Shell,
}

/// Where a new node goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodePlace {
    /// Right before a node, on its level.
    Before(TaskId),
    /// Right after a node, on its level.
    After(TaskId),
    /// After the last task below a node.
    Under(TaskId),
}

impl NodePlace {
    /// The node that the place is named by.
    pub fn node(&self) -> &TaskId {
        match self {
            Self::Before(node) | Self::After(node) | Self::Under(node) => node,
        }
    }
}

/// Values for the fields of a node. What is not given stays as it is; an empty text or list clears the field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct NodeFields {
    #[serde(skip_serializing_if = "is_default")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub done_when: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub minutes: Option<u32>,
    #[serde(skip_serializing_if = "is_default")]
    pub owner: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub why: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub risks: Option<Vec<String>>,
    #[serde(skip_serializing_if = "is_default")]
    pub assumptions: Option<Vec<String>>,
    #[serde(skip_serializing_if = "is_default")]
    pub evidence: Option<Vec<String>>,
    #[serde(skip_serializing_if = "is_default")]
    pub exit_criteria: Option<Vec<ExitCriterion>>,
    #[serde(skip_serializing_if = "is_default")]
    pub task_type: Option<String>,
    /// An amount of 0 clears it.
    #[serde(skip_serializing_if = "is_default")]
    pub cost: Option<TaskCost>,
    #[serde(skip_serializing_if = "is_default")]
    pub optional: Option<bool>,
    #[serde(skip_serializing_if = "is_default")]
    pub tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "is_default")]
    pub recurrence: Option<Recurrence>,
    /// How it is carried out.
    #[serde(skip_serializing_if = "is_default")]
    pub run: Option<RunKind>,
    #[serde(skip_serializing_if = "is_default")]
    pub fixed_start: Option<PlanDate>,
    #[serde(skip_serializing_if = "is_default")]
    pub fixed_end: Option<PlanDate>,
    #[serde(skip_serializing_if = "is_default")]
    pub not_before: Option<PlanDate>,
    #[serde(skip_serializing_if = "is_default")]
    pub due: Option<PlanDate>,
    /// The id of a new node; without one it gets a number. A node that exists keeps its own.
    #[serde(skip_serializing_if = "is_default")]
    pub id: Option<TaskId>,
    /// What a new node is; without it the place decides. A node that exists stays what it is.
    #[serde(skip_serializing_if = "is_default")]
    pub node_type: Option<NodeType>,
    #[serde(skip_serializing_if = "is_default")]
    pub role: Option<Role>,
    /// A task that marks a point and takes no time.
    #[serde(skip_serializing_if = "is_default")]
    pub milestone: Option<bool>,
    /// The parallel lane that a new node joins.
    #[serde(skip_serializing_if = "is_default")]
    pub stream: Option<String>,
    /// From 1 to 5.
    #[serde(skip_serializing_if = "is_default")]
    pub intensity: Option<u8>,
    #[serde(skip_serializing_if = "is_default")]
    pub in_one_piece: Option<bool>,
}

impl NodeFields {
    /// Fields with a title and nothing else.
    pub fn titled(title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..Self::default() }
    }

    /// Whether it has what only a new node can be given.
    pub fn is_for_new_node(&self) -> bool {
        self.id.is_some() || self.node_type.is_some() || self.stream.is_some()
    }

    /// The dates that are given; the others stay as they are.
    pub fn dates(&self) -> NodeDates {
        NodeDates {
            fixed_start: self.fixed_start,
            fixed_end: self.fixed_end,
            not_before: self.not_before,
            due: self.due,
        }
    }
}

/// One part of a task that is split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SplitPart {
    pub title: String,
    /// Parts without a time share what the others leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
}

/// One change. Its result is checked by the grammar before it counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "edit", rename_all = "snake_case")]
pub enum PlanEdit {
    Rename {
        node: TaskId,
        title: String,
    },
    SetDoneWhen {
        node: TaskId,
        done_when: String,
    },
    SetEstimate {
        node: TaskId,
        minutes: u32,
    },
    SetDoer {
        node: TaskId,
        doer: TaskAssignee,
        command: Option<String>,
        /// The person's own agent that does it, by its name; none means the built-in agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    Add {
        parent: TaskId,
        title: String,
        minutes: Option<u32>,
    },
    /// Adds a node at a place, with its fields and what it waits for.
    Insert {
        place: NodePlace,
        fields: NodeFields,
        /// A group that holds other nodes, in place of a task.
        #[serde(default, skip_serializing_if = "is_default")]
        group: bool,
        /// What it waits for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needs: Vec<TaskId>,
        /// What waits for it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needed_by: Vec<TaskId>,
    },
    /// Gives fields of a node other values.
    Change {
        node: TaskId,
        fields: NodeFields,
    },
    Remove {
        node: TaskId,
    },
    /// Under another parent, or to another place among its siblings.
    Move {
        node: TaskId,
        parent: TaskId,
        position: u16,
    },
    /// Makes several tasks of one, which share its time and follow each other.
    Split {
        node: TaskId,
        into: Vec<SplitPart>,
    },
    /// Makes one task of several, which has their time and their links.
    Merge {
        nodes: Vec<TaskId>,
        into: String,
    },
    Link {
        from: TaskId,
        to: TaskId,
        kind: LinkKind,
        lag_minutes: i32,
    },
    Unlink {
        from: TaskId,
        to: TaskId,
    },
    /// Gives a task to somebody; an empty name gives it back to the person.
    Assign {
        node: TaskId,
        owner: String,
    },
    /// Sets a date by hand, or clears it.
    SetDate {
        node: TaskId,
        field: DateField,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        date: Option<PlanDate>,
    },
    /// Clears every date that was set by hand.
    ClearDates {
        node: TaskId,
    },
    /// Marks the work of a node as done before it is planned, or as open again.
    SetDone {
        node: TaskId,
        done: bool,
    },
    /// Keeps words, owner, time and dates of a node as they are.
    Lock {
        node: TaskId,
    },
    Unlock {
        node: TaskId,
    },
    /// Leaves a remark on a node.
    Comment {
        node: TaskId,
        text: String,
    },
}

impl PlanEdit {
    /// The nodes it changes, which must not be locked.
    pub fn affected_nodes(&self) -> Vec<&TaskId> {
        match self {
            Self::Rename { node, .. }
            | Self::SetDoneWhen { node, .. }
            | Self::SetEstimate { node, .. }
            | Self::SetDoer { node, .. }
            | Self::Change { node, .. }
            | Self::Remove { node }
            | Self::Move { node, .. }
            | Self::Split { node, .. }
            | Self::Assign { node, .. }
            | Self::SetDate { node, .. }
            | Self::ClearDates { node }
            | Self::SetDone { node, .. } => vec![node],
            Self::Merge { nodes, .. } => nodes.iter().collect(),
            Self::Add { .. }
            | Self::Insert { .. }
            | Self::Lock { .. }
            | Self::Unlock { .. }
            | Self::Comment { .. } => Vec::new(),
            Self::Link { to, .. } | Self::Unlink { to, .. } => vec![to],
        }
    }

    /// Every node it names, whether it changes it or not.
    pub fn named_nodes(&self) -> Vec<&TaskId> {
        match self {
            Self::Add { parent, .. } => vec![parent],
            Self::Insert { place, needs, needed_by, .. } => {
                std::iter::once(place.node()).chain(needs).chain(needed_by).collect()
            }
            Self::Move { node, parent, .. } => vec![node, parent],
            Self::Link { from, to, .. } | Self::Unlink { from, to } => vec![from, to],
            Self::Lock { node } | Self::Unlock { node } | Self::Comment { node, .. } => vec![node],
            other => other.affected_nodes(),
        }
    }

    /// Whether it changes the plan itself, in contrast to what is kept beside it: locks and comments.
    pub fn changes_plan(&self) -> bool {
        !matches!(self, Self::Lock { .. } | Self::Unlock { .. } | Self::Comment { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_older_journals_are_read() {
        let old = [
            r#"{"edit":"rename","node":"a","title":"x"}"#,
            r#"{"edit":"set_doer","node":"a","doer":"shell","command":"make"}"#,
            r#"{"edit":"add","parent":"p","title":"x","minutes":null}"#,
            r#"{"edit":"move","node":"a","parent":"p","position":1}"#,
            r#"{"edit":"link","from":"a","to":"b","kind":"finish_to_start","lag_minutes":0}"#,
        ];
        for text in old {
            let edit: PlanEdit = serde_json::from_str(text).unwrap();
            assert!(edit.changes_plan());
        }
    }

    #[test]
    fn every_new_operation_round_trips() {
        let id = TaskId::from("a");
        let fields = NodeFields { owner: Some("Anna".into()), ..NodeFields::titled("Call") };
        let edits = [
            PlanEdit::Insert {
                place: NodePlace::After(id.clone()),
                fields: fields.clone(),
                group: false,
                needs: vec!["b".into()],
                needed_by: Vec::new(),
            },
            PlanEdit::Change { node: id.clone(), fields },
            PlanEdit::Split {
                node: id.clone(),
                into: vec![SplitPart { title: "x".into(), minutes: Some(30) }],
            },
            PlanEdit::Merge { nodes: vec![id.clone(), "b".into()], into: "both".into() },
            PlanEdit::Assign { node: id.clone(), owner: "Anna".into() },
            PlanEdit::SetDate {
                node: id.clone(),
                field: DateField::Due,
                date: Some("2026-12-01T08:00".parse().unwrap()),
            },
            PlanEdit::ClearDates { node: id.clone() },
            PlanEdit::SetDone { node: id.clone(), done: true },
            PlanEdit::Lock { node: id.clone() },
            PlanEdit::Comment { node: id, text: "why?".into() },
        ];
        let json = serde_json::to_string(&edits).unwrap();
        assert_eq!(serde_json::from_str::<Vec<PlanEdit>>(&json).unwrap(), edits);
    }
}
