//! The log of what planner and coordinator decided: plans drawn up, corrections, tasks unlocked, tools chosen.

use serde::{Deserialize, Serialize};

use super::SessionState;
use planwright_model::agent_decision::{AgentDecision, TaskDecision};
use planwright_model::event::{
    AgentEvent, CallEvent, Event, PlanEvent, PlanningEvent, Record, TaskEvent,
};
use planwright_model::{Digest, NormalizationChange, ReactLogEntry, Seq, TaskId};
use planwright_plan::graph::TaskGraph;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DecisionLogKind {
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
pub struct DecisionLogEntry {
    pub seq: Seq,
    pub kind: DecisionLogKind,
    /// The stored prompt, where a model was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_ref: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_response: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_graph: Option<TaskGraph>,
    pub warnings: Vec<String>,
    /// What was corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalization: Option<NormalizationChange>,
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

impl DecisionLogEntry {
    fn new(seq: Seq, kind: DecisionLogKind) -> Self {
        Self {
            seq,
            kind,
            prompt_ref: None,
            prompt: None,
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
pub(super) struct DecisionLog {
    pub(super) entries: Vec<DecisionLogEntry>,
    /// Dependents of the task that is about to end which cannot start yet.
    locked: Vec<usize>,
    /// How much better the best tool would have been than the one an agent is about to call, by the agent's own scores.
    acted_gap: Option<(TaskId, f64)>,
}

impl DecisionLog {
    /// Looks at a record before it is folded.
    pub(super) fn observe_before(&mut self, state: &SessionState, record: &Record) {
        let Event::Task(TaskEvent::Completed { task, .. }) = &record.event else { return };
        if let Some(position) = state.tasks.position(task) {
            let dependents = state.tasks.dependents(position);
            self.locked = dependents.filter(|task| !state.tasks.is_unlocked(*task)).collect();
        }
    }

    /// Looks at a record after it was folded.
    pub(super) fn observe_after(&mut self, state: &SessionState, record: &Record) {
        match &record.event {
            Event::Plan(event) => self.log_plan(event, record.seq),
            Event::Planning(PlanningEvent::Logged { entry }) => {
                self.log_model_answer(entry, record.seq);
            }
            Event::Task(TaskEvent::Completed { task, .. }) => {
                self.log_unlock(state, task, record.seq);
            }
            Event::Agent(AgentEvent::Acted { task, step, .. }) => {
                self.acted_gap = step.metadata.affinity_delta.map(|gap| (task.clone(), gap));
            }
            Event::Call(CallEvent::Intended { call, tool, .. }) => {
                self.log_tool_choice(state, &call.task, tool, record.seq);
            }
            Event::Agent(AgentEvent::Decided { task, decision, .. }) => {
                self.log_normalization(task, decision, record.seq);
            }
            _ => {}
        }
    }

    fn log_plan(&mut self, event: &PlanEvent, seq: Seq) {
        let PlanEvent::Proposed { plan, facts, normalization, .. } = event else { return };
        let warnings = normalization.iter().map(|entry| entry.detail.clone()).collect();
        self.entries.push(DecisionLogEntry {
            task_graph: Some(TaskGraph::from_plan(plan, facts)),
            warnings,
            ..DecisionLogEntry::new(seq, DecisionLogKind::PlannerTrace)
        });
        self.entries.extend(normalization.iter().map(|entry| DecisionLogEntry {
            task_id: entry.task_id.clone(),
            normalization: Some(entry.clone()),
            ..DecisionLogEntry::new(seq, DecisionLogKind::PlannerNormalization)
        }));
    }

    /// What a model that plans was asked and what it answered.
    fn log_model_answer(&mut self, entry: &ReactLogEntry, seq: Seq) {
        self.entries.push(DecisionLogEntry {
            prompt_ref: entry.prompt_ref.clone(),
            prompt: entry.prompt.clone(),
            raw_response: entry.raw_response.clone(),
            warnings: entry.warnings.clone(),
            ..DecisionLogEntry::new(seq, DecisionLogKind::PlannerTrace)
        });
    }

    /// What an agent corrected in its task before it began.
    fn log_normalization(&mut self, task: &TaskId, decision: &AgentDecision, seq: Seq) {
        let AgentDecision::Task(TaskDecision::Normalization { code, detail, .. }) = decision else {
            return;
        };
        let normalization = NormalizationChange {
            code: code.clone(),
            task_id: Some(task.clone()),
            detail: detail.clone(),
        };
        self.entries.push(DecisionLogEntry {
            task_id: Some(task.clone()),
            normalization: Some(normalization),
            ..DecisionLogEntry::new(seq, DecisionLogKind::PlannerNormalization)
        });
    }

    /// Those dependents that may start now and could not before.
    fn log_unlock(&mut self, state: &SessionState, task: &TaskId, seq: Seq) {
        let locked = std::mem::take(&mut self.locked);
        let unlocked: Vec<usize> =
            locked.into_iter().filter(|task| state.tasks.is_unlocked(*task)).collect();
        if !unlocked.is_empty() {
            self.entries.push(DecisionLogEntry {
                task_id: Some(task.clone()),
                unlocked: state.in_selection_order(unlocked).into_iter().cloned().collect(),
                ..DecisionLogEntry::new(seq, DecisionLogKind::CoordinatorUnlock)
            });
        }
    }

    fn log_tool_choice(&mut self, state: &SessionState, task: &TaskId, tool: &str, seq: Seq) {
        let acted = self.acted_gap.take().filter(|(by, _)| by == task).map(|(_, gap)| gap);
        let delta = acted.or_else(|| {
            let current = state.plan.current.as_ref()?;
            Some(current.plan.tasks.get(state.tasks.position(task)?)?.affinity_gap(tool))
        });
        self.entries.push(DecisionLogEntry {
            task_id: Some(task.clone()),
            tool: Some(tool.to_owned()),
            affinity_delta: Some(delta.unwrap_or(0.0)),
            ..DecisionLogEntry::new(seq, DecisionLogKind::AffinityDecision)
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;

    use super::*;
    use crate::execution_result::ExecutionResult;
    use planwright_model::{Plan, TaskLink, TaskNode};
    use planwright_plan::graph::resolve_graph;

    #[test]
    fn plans_corrections_unlocks_and_choices_are_logged() {
        let mut tasks = ["a", "b", "c"].map(|id| TaskNode::new(id, id)).to_vec();
        tasks[1].dependencies = vec![TaskLink::finish_to_start("a")];
        tasks[2].dependencies =
            vec![TaskLink::finish_to_start("a"), TaskLink::finish_to_start("b")];
        let facts = resolve_graph(&tasks, |_| true).unwrap().to_facts(&tasks);
        let plan =
            Plan { title: "Log".into(), rationale: Some("why".into()), tasks, ..Plan::default() };
        let note = NormalizationChange {
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
            PlanningEvent::Logged {
                entry: ReactLogEntry {
                    seq: 1,
                    kind: "planner.trace".into(),
                    prompt_ref: None,
                    prompt: Some("Draft it".into()),
                    raw_response: Some("[]".into()),
                    warnings: Vec::new(),
                },
            }
            .into(),
        ];
        let records: Vec<Record> = events
            .into_iter()
            .zip(1..)
            .map(|(event, seq)| Record::new(Seq(seq), Timestamp::UNIX_EPOCH, event))
            .collect();
        let log = ExecutionResult::from_records(&records).react_log;
        let kinds: Vec<DecisionLogKind> = log.iter().map(|entry| entry.kind).collect();
        assert_eq!(
            kinds,
            [
                DecisionLogKind::PlannerTrace,
                DecisionLogKind::PlannerNormalization,
                DecisionLogKind::CoordinatorUnlock,
                DecisionLogKind::CoordinatorUnlock,
                DecisionLogKind::PlannerTrace,
            ]
        );
        let graph = log[0].task_graph.as_ref().unwrap();
        assert_eq!((graph.rationale.as_deref(), graph.execution_order.len()), (Some("why"), 3));
        assert_eq!(log[1].normalization.as_ref(), Some(&note));
        assert_eq!(log[2].unlocked, [TaskId::from("b")]);
        assert_eq!(log[3].unlocked, [TaskId::from("c")]);
        let answered = (log[4].prompt.as_deref(), log[4].raw_response.as_deref());
        assert_eq!(answered, (Some("Draft it"), Some("[]")), "what a model was asked and said");
        let text = serde_json::to_value(&log[2]).unwrap();
        assert_eq!(text["kind"], "coordinator.unlock");
    }
}
