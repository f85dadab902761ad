//! The log of what planner and coordinator decided: plans drawn up, corrections, tasks unlocked, tools chosen.

use serde::{Deserialize, Serialize};

use super::SessionState;
use planwright_model::event::{AgentEvent, CallEvent, Event, PlanEvent, Record, TaskEvent};
use planwright_model::{Digest, Normalization, Seq, TaskId};
use planwright_plan::graph::TaskGraph;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReactLogKind {
    /// A revision of the plan was drawn up.
    #[serde(rename = "planner.trace")]
    PlannerTrace,
    /// Something in what was given was corrected.
    #[serde(rename = "planner.normalization")]
    PlannerNormalization,
    /// Tasks may start because another one ended.
    #[serde(rename = "coordinator.unlock")]
    CoordinatorUnlock,
    /// A tool was chosen for a task.
    #[serde(rename = "affinity.decision")]
    AffinityDecision,
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReactLogEntry {
    pub seq: Seq,
    pub kind: ReactLogKind,
    /// The stored prompt, where a model was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_ref: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_response: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_graph: Option<TaskGraph>,
    pub warnings: Vec<String>,
    /// What was corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalization: Option<Normalization>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The tasks that were unlocked, by the order in which they would start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlocked: Vec<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity_delta: Option<f64>,
}

impl ReactLogEntry {
    fn new(seq: Seq, kind: ReactLogKind) -> Self {
        Self {
            seq,
            kind,
            prompt_ref: None,
            raw_response: None,
            task_graph: None,
            warnings: Vec::new(),
            normalization: None,
            task_id: None,
            unlocked: Vec::new(),
            tool: None,
            affinity_delta: None,
        }
    }
}

/// Collects the decisions of a session.
#[derive(Debug, Default)]
pub(super) struct ReactLog {
    pub(super) entries: Vec<ReactLogEntry>,
    /// Dependents of the task that is about to end which cannot start yet.
    locked: Vec<usize>,
}

impl ReactLog {
    /// Looks at a record before it is folded.
    pub(super) fn before(&mut self, state: &SessionState, record: &Record) {
        let Event::Task(TaskEvent::Completed { task, .. }) = &record.event else { return };
        if let Some(position) = state.tasks.position(task) {
            let dependents = state.tasks.dependents(position);
            self.locked = dependents.filter(|task| !state.tasks.is_unlocked(*task)).collect();
        }
    }

    /// Looks at a record after it was folded.
    pub(super) fn after(&mut self, state: &SessionState, record: &Record) {
        match &record.event {
            Event::Plan(event) => self.plan(event, record.seq),
            Event::Task(TaskEvent::Completed { task, .. }) => self.unlock(state, task, record.seq),
            Event::Call(CallEvent::Intended { call, tool, .. }) => {
                self.choice(state, &call.task, tool, record.seq);
            }
            Event::Agent(AgentEvent::Decided { task, decision, .. }) => {
                self.normalised(task, decision, record.seq);
            }
            _ => {}
        }
    }

    fn plan(&mut self, event: &PlanEvent, seq: Seq) {
        let PlanEvent::Proposed { plan, facts, normalization, .. } = event else { return };
        let warnings = normalization.iter().map(|entry| entry.detail.clone()).collect();
        self.entries.push(ReactLogEntry {
            task_graph: Some(TaskGraph::of_plan(plan, facts)),
            warnings,
            ..ReactLogEntry::new(seq, ReactLogKind::PlannerTrace)
        });
        self.entries.extend(normalization.iter().map(|entry| ReactLogEntry {
            task_id: entry.task_id.clone(),
            normalization: Some(entry.clone()),
            ..ReactLogEntry::new(seq, ReactLogKind::PlannerNormalization)
        }));
    }

    /// What an agent corrected in its task before it began.
    fn normalised(&mut self, task: &TaskId, decision: &serde_json::Value, seq: Seq) {
        let word = |name: &str| decision.get(name).and_then(serde_json::Value::as_str);
        let (Some("NORMALIZATION"), Some(code)) = (word("_type"), word("code")) else { return };
        let normalization = Normalization {
            code: code.to_owned(),
            task_id: Some(task.clone()),
            detail: word("detail").unwrap_or_default().to_owned(),
        };
        self.entries.push(ReactLogEntry {
            task_id: Some(task.clone()),
            normalization: Some(normalization),
            ..ReactLogEntry::new(seq, ReactLogKind::PlannerNormalization)
        });
    }

    /// Those dependents that may start now and could not before.
    fn unlock(&mut self, state: &SessionState, task: &TaskId, seq: Seq) {
        let locked = std::mem::take(&mut self.locked);
        let unlocked: Vec<usize> =
            locked.into_iter().filter(|task| state.tasks.is_unlocked(*task)).collect();
        if !unlocked.is_empty() {
            self.entries.push(ReactLogEntry {
                task_id: Some(task.clone()),
                unlocked: state.in_key_order(unlocked).into_iter().cloned().collect(),
                ..ReactLogEntry::new(seq, ReactLogKind::CoordinatorUnlock)
            });
        }
    }

    fn choice(&mut self, state: &SessionState, task: &TaskId, tool: &str, seq: Seq) {
        let delta = state.plan.current.as_ref().and_then(|current| {
            let node = current.plan.tasks.get(state.tasks.position(task)?)?;
            let used = node.tool_affinity.get(tool).copied().unwrap_or(0.0);
            (!node.tool_affinity.is_empty()).then(|| (node.best_affinity(|_| true) - used).max(0.0))
        });
        self.entries.push(ReactLogEntry {
            task_id: Some(task.clone()),
            tool: Some(tool.to_owned()),
            affinity_delta: Some(delta.unwrap_or(0.0)),
            ..ReactLogEntry::new(seq, ReactLogKind::AffinityDecision)
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;

    use super::*;
    use crate::result::ExecutionResult;
    use planwright_model::{Link, Plan, TaskNode};
    use planwright_plan::graph::resolve;

    #[test]
    fn plans_corrections_unlocks_and_choices_are_logged() {
        let mut tasks = ["a", "b", "c"].map(|id| TaskNode::new(id, id)).to_vec();
        tasks[1].dependencies = vec![Link::finish_to_start("a")];
        tasks[2].dependencies = vec![Link::finish_to_start("a"), Link::finish_to_start("b")];
        let facts = resolve(&tasks, |_| true).unwrap().facts(&tasks);
        let plan =
            Plan { title: "Log".into(), rationale: Some("why".into()), tasks, ..Plan::default() };
        let note = Normalization {
            code: "dependency_missing".into(),
            task_id: Some("c".into()),
            detail: "there is no task x".into(),
        };
        let started = |task: &str| TaskEvent::Started {
            task: task.into(),
            attempt: 1,
            depth: 0,
            affinity_delta: 0.0,
        };
        let done = |task: &str| TaskEvent::Completed {
            task: task.into(),
            attempt: 1,
            elapsed_ms: 1,
            by: None,
            note: None,
        };
        let events: Vec<Event> = vec![
            PlanEvent::Proposed {
                revision: 1,
                hash: plan.digest().unwrap(),
                plan: Arc::new(plan),
                facts: Arc::new(facts),
                normalization: vec![note.clone()],
            }
            .into(),
            started("a").into(),
            done("a").into(),
            started("b").into(),
            done("b").into(),
        ];
        let records: Vec<Record> = events
            .into_iter()
            .zip(1..)
            .map(|(event, seq)| Record::new(Seq(seq), Timestamp::UNIX_EPOCH, event))
            .collect();
        let log = ExecutionResult::of(&records).react_log;
        let kinds: Vec<ReactLogKind> = log.iter().map(|entry| entry.kind).collect();
        assert_eq!(
            kinds,
            [
                ReactLogKind::PlannerTrace,
                ReactLogKind::PlannerNormalization,
                ReactLogKind::CoordinatorUnlock,
                ReactLogKind::CoordinatorUnlock
            ]
        );
        let graph = log[0].task_graph.as_ref().unwrap();
        assert_eq!((graph.rationale.as_deref(), graph.execution_order.len()), (Some("why"), 3));
        assert_eq!(log[1].normalization.as_ref(), Some(&note));
        assert_eq!(log[2].unlocked, [TaskId::from("b")]);
        assert_eq!(log[3].unlocked, [TaskId::from("c")]);
        let text = serde_json::to_value(&log[2]).unwrap();
        assert_eq!(text["kind"], "coordinator.unlock");
    }
}
