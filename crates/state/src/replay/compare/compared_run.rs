//! What each of two runs did, task by task.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{ComparisonSide, Divergence, PlanRelation, TaskComparison, TaskRunOutcome};
use crate::replay::{History, RecordSourceError};
use crate::trace::TraceEntry;
use crate::{PlanRevision, SessionState, TaskRow};
use planwright_model::event::{ApprovalEvent, CallEvent, Event, PlanEvent, Record, TaskEvent};
use planwright_model::{Digest, Seq, SessionId, TaskId};
use planwright_plan::content_key::content_keys;

/// Something that a run did, without when.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ComparedStep {
    seq: Seq,
    task: Option<TaskId>,
    /// Equal for equal steps.
    mark: String,
    /// Whether it is about the leave to run.
    grants: bool,
    text: String,
}

pub(super) struct ComparedRun {
    pub(super) side: ComparisonSide,
    state: std::sync::Arc<SessionState>,
    keys: HashMap<TaskId, Digest>,
    pub(super) steps: Vec<ComparedStep>,
    /// Events from before a fork, whose results were taken over.
    shared: Seq,
    /// How often each task was begun, in a fork since it began.
    tries: HashMap<TaskId, u32>,
}

impl ComparedRun {
    pub(super) fn read_session(
        id: &SessionId,
        history: &mut History,
    ) -> Result<Self, RecordSourceError> {
        let head = history.head_seq()?;
        let (mut steps, mut asked, mut shared, mut fork_of) = (Vec::new(), 0, Seq::START, None);
        let mut tries: HashMap<TaskId, u32> = HashMap::new();
        for number in 1..=head.0 {
            let Some(record) = history.record_at(Seq(number))? else { break };
            match &record.event {
                Event::Approval(ApprovalEvent::Asked { .. }) => asked += 1,
                Event::Session(planwright_model::event::SessionEvent::Forked {
                    parent,
                    at,
                    ..
                }) => {
                    shared = *at;
                    tries.clear();
                    fork_of = Some((SessionId::new(parent.as_str()), *at));
                }
                Event::Task(TaskEvent::Started { task, .. }) => {
                    *tries.entry(task.clone()).or_default() += 1;
                }
                _ => {}
            }
            steps.extend(compared_step(&record));
        }
        let state = history.state_at(head)?;
        let current = state.plan.current.as_ref();
        let keys = current.map_or_else(HashMap::new, |current| {
            let ids = current.plan.tasks.iter().map(|task| task.id.clone());
            ids.zip(content_keys(&current.plan, &current.facts)).collect()
        });
        let counts = state.tasks.status_counts();
        let ended = state.run.finished_at.or(state.at).unwrap_or_default();
        let side = ComparisonSide {
            session: id.clone(),
            title: state.session.title.clone(),
            revision: current.map(|current| current.revision),
            hash: current.map(|current| current.hash.clone()),
            done: counts.done,
            total: counts.total(),
            time_ms: state.run.worked_ms(ended),
            tokens: state.totals.tokens,
            cost_micro: state.totals.cost.0,
            asked,
            events: head.0,
            critical_minutes: current.and_then(|current| critical_minutes(current)),
            created_at: state.session.created_at,
            fork_of,
        };
        Ok(Self { side, state, keys, steps, shared, tries })
    }

    /// Beside what it was forked from, a run is what it did itself: a task that it did again counts from its new
    /// beginning, and that it asked anew whether to run is no difference.
    pub(super) fn drop_shared_steps(&mut self, other: &SessionId) {
        if self.side.fork_of.as_ref().is_none_or(|(parent, _)| parent != other) {
            return;
        }
        let shared = self.shared;
        self.steps.retain(|step| step.seq <= shared || !step.grants);
        let again: HashSet<Option<TaskId>> = self
            .steps
            .iter()
            .filter(|step| step.seq > shared)
            .map(|step| step.task.clone())
            .collect();
        self.steps.retain(|step| step.seq > shared || !again.contains(&step.task));
    }

    fn task_outcome(&self, task: &TaskId) -> Option<TaskRunOutcome> {
        let row: &TaskRow = self.state.tasks.get(task)?;
        // What an agent's model used is counted with the agent and not with its calls.
        let agent = self.state.agents.get(task);
        let tokens = agent.map_or(0, |agent| agent.tokens);
        let cost = agent.map_or(0, |agent| agent.cost.0);
        Some(TaskRunOutcome {
            status: row.status.label().to_owned(),
            attempt: self.tries.get(task).copied().unwrap_or(row.attempt),
            time_ms: row.elapsed_ms(self.state.at.unwrap_or_default()).unwrap_or(0),
            tokens: row.tokens.max(tokens),
            cost_micro: row.cost.0.max(cost),
            failure: row.failure.as_ref().map(|failure| failure.message.clone()),
        })
    }

    fn is_reused(&self, task: &TaskId) -> bool {
        if !self.state.tasks.get(task).is_some_and(|row| row.status.is_met()) {
            return false;
        }
        let steps = self.steps.iter().filter(|step| step.task.as_ref() == Some(task));
        self.shared > Seq::START && steps.map(|step| step.seq).max() <= Some(self.shared)
    }

    /// How long the plan gives a task.
    fn planned_minutes(&self, task: &TaskId) -> Option<u32> {
        let plan = &self.state.plan.current.as_ref()?.plan;
        plan.tasks.iter().find(|node| node.id == *task)?.duration_minutes
    }

    /// What people call a task.
    fn task_title(&self, task: &TaskId) -> String {
        let plan = self.state.plan.current.as_ref().map(|current| &current.plan.tasks);
        let node = plan.and_then(|tasks| tasks.iter().find(|node| node.id == *task));
        node.map_or_else(|| task.to_string(), |node| node.description.clone())
    }

    /// What a task did, in order.
    fn steps_of(&self, task: &TaskId) -> Vec<&ComparedStep> {
        self.steps.iter().filter(|step| step.task.as_ref() == Some(task)).collect()
    }

    fn task_fields(&self, task: &TaskId) -> BTreeMap<String, serde_json::Value> {
        let current = self.state.plan.current.as_ref();
        let node =
            current.and_then(|current| current.plan.tasks.iter().find(|node| node.id == *task));
        match node.and_then(|node| serde_json::to_value(node).ok()) {
            Some(serde_json::Value::Object(fields)) => fields.into_iter().collect(),
            _ => BTreeMap::new(),
        }
    }
}

/// The planned length of the critical path.
fn critical_minutes(revision: &PlanRevision) -> Option<u64> {
    let minutes = |id: &TaskId| {
        let task = revision.plan.tasks.iter().find(|task| task.id == *id)?;
        task.duration_minutes.map(u64::from)
    };
    let path = &revision.facts.critical_path;
    if path.is_empty() { None } else { path.iter().map(minutes).sum() }
}

/// What counts as a step: decisions, what was run with what, and how it ended.
fn compared_step(record: &Record) -> Option<ComparedStep> {
    let mark = match &record.event {
        Event::Plan(PlanEvent::Proposed { hash, .. }) => format!("plan {hash}"),
        Event::Plan(_) => record.event.kind().into_owned(),
        Event::Approval(ApprovalEvent::Answered { answer, .. }) => {
            format!("answer {:?}", answer.action)
        }
        Event::Call(CallEvent::Intended { tool, input_hash, .. }) => {
            format!("call {tool} {input_hash}")
        }
        Event::Call(CallEvent::Concluded { outcome, .. }) => {
            format!("outcome {}", crate::trace::outcome_text(outcome))
        }
        Event::Task(TaskEvent::Completed { .. }) => "completed".to_owned(),
        Event::Task(TaskEvent::Failed { failure, .. }) => format!("failed {}", failure.code),
        Event::Task(TaskEvent::Skipped { reason, .. }) => format!("skipped {}", reason.as_str()),
        Event::Agent(event) => {
            let step = event.react_step()?;
            format!("step {:?} {} {:?}", step.action, step.content, step.tool_input)
        }
        _ => return None,
    };
    let entry = TraceEntry::from_record(record);
    let text = entry.map_or_else(|| mark.clone(), |entry| describe_entry(entry.kind, &entry.text));
    let grants = match &record.event {
        Event::Plan(event) => !matches!(event, PlanEvent::Proposed { .. }),
        event => matches!(event, Event::Approval(_)),
    };
    Some(ComparedStep {
        seq: record.seq,
        task: record.event.task_id().cloned(),
        mark,
        grants,
        text,
    })
}

pub(super) fn compare_tasks(a: &ComparedRun, b: &ComparedRun) -> Vec<TaskComparison> {
    let by_key: HashMap<&Digest, &TaskId> = b.keys.iter().map(|(id, key)| (key, id)).collect();
    let mut matched = std::collections::HashSet::new();
    let mut rows = Vec::new();
    for (id, _) in a.state.tasks.iter() {
        let twin = b.keys.contains_key(id).then_some(id).or_else(|| {
            let other = *by_key.get(a.keys.get(id)?)?;
            (!a.keys.contains_key(other)).then_some(other)
        });
        matched.extend(twin.cloned());
        let same_key = twin.is_some_and(|twin| a.keys.get(id) == b.keys.get(twin));
        let changed = match twin {
            Some(twin) if twin == id => {
                let (left, right) = (a.task_fields(id), b.task_fields(twin));
                let names = left.keys().chain(right.keys());
                let mut names: Vec<String> =
                    names.filter(|name| left.get(*name) != right.get(*name)).cloned().collect();
                names.sort();
                names.dedup();
                names
            }
            _ => Vec::new(),
        };
        rows.push(TaskComparison {
            task: id.clone(),
            title: a.task_title(id),
            task_in_b: twin.filter(|twin| *twin != id).cloned(),
            plan: match twin {
                None => PlanRelation::OnlyInA,
                Some(_) if same_key && changed.is_empty() => PlanRelation::Same,
                Some(_) => PlanRelation::Changed,
            },
            a: a.task_outcome(id),
            b: twin.and_then(|twin| b.task_outcome(twin)),
            changed,
            reused: twin.is_some_and(|twin| b.is_reused(twin)),
            divergence: twin
                .and_then(|twin| find_task_divergence(id, &a.steps_of(id), &b.steps_of(twin))),
            minutes: twin
                .and_then(|twin| a.planned_minutes(id).zip(b.planned_minutes(twin)))
                .filter(|(a, b)| a != b),
        });
    }
    for (id, _) in b.state.tasks.iter().filter(|(id, _)| !matched.contains(*id)) {
        rows.push(TaskComparison {
            task: id.clone(),
            title: b.task_title(id),
            task_in_b: None,
            plan: PlanRelation::OnlyInB,
            a: None,
            b: b.task_outcome(id),
            changed: Vec::new(),
            reused: b.is_reused(id),
            divergence: None,
            minutes: None,
        });
    }
    rows
}

/// Where two runs of one task went apart.
fn find_task_divergence(
    task: &TaskId,
    a: &[&ComparedStep],
    b: &[&ComparedStep],
) -> Option<Divergence> {
    let same = a.iter().zip(b).take_while(|(a, b)| a.mark == b.mark).count();
    let (left, right) = (a.get(same), b.get(same));
    if left.is_none() && right.is_none() {
        return None;
    }
    let words = |step: Option<&&ComparedStep>| {
        step.map_or_else(|| "nothing more".to_owned(), |step| step.text.clone())
    };
    Some(Divergence {
        task: Some(task.clone()),
        seq_a: left.map(|step| step.seq),
        seq_b: right.map(|step| step.seq),
        a: words(left),
        b: words(right),
    })
}

/// Where the runs first did something else. What a task did says more than that the plans differ, which is said apart.
/// A step with its kind before it, unless its text says that itself: `done in 38 s`, `action: make bench`.
fn describe_entry(kind: crate::trace::TraceEntryKind, text: &str) -> String {
    if text.starts_with(kind.label()) {
        return text.to_owned();
    }
    format!("{}: {text}", kind.label())
}

pub(super) fn find_first_divergence(a: &[ComparedStep], b: &[ComparedStep]) -> Option<Divergence> {
    let of_tasks = |steps: &[ComparedStep]| -> Vec<ComparedStep> {
        steps.iter().filter(|step| step.task.is_some()).cloned().collect()
    };
    find_divergence(&of_tasks(a), &of_tasks(b)).or_else(|| find_divergence(a, b))
}

/// Compares what each task did, one step after the other: tasks run side by side, so that their order says nothing.
fn find_divergence(a: &[ComparedStep], b: &[ComparedStep]) -> Option<Divergence> {
    let mut of_b: HashMap<Option<&TaskId>, Vec<&ComparedStep>> = HashMap::new();
    for step in b {
        of_b.entry(step.task.as_ref()).or_default().push(step);
    }
    let mut place: HashMap<Option<&TaskId>, usize> = HashMap::new();
    let nothing = || "nothing more".to_owned();
    for step in a {
        let task = step.task.as_ref();
        let at = place.entry(task).or_default();
        let other = of_b.get(&task).and_then(|steps| steps.get(*at));
        *at += 1;
        if other.is_none_or(|other| other.mark != step.mark) {
            return Some(Divergence {
                task: step.task.clone(),
                seq_a: Some(step.seq),
                seq_b: other.map(|other| other.seq),
                a: step.text.clone(),
                b: other.map_or_else(nothing, |other| other.text.clone()),
            });
        }
    }
    let more = b.iter().find(|step| {
        let known = place.get(&step.task.as_ref()).copied().unwrap_or(0);
        let own = of_b.get(&step.task.as_ref()).and_then(|steps| steps.get(known));
        own.is_some_and(|own| own.seq == step.seq)
    })?;
    Some(Divergence {
        task: more.task.clone(),
        seq_a: None,
        seq_b: Some(more.seq),
        a: nothing(),
        b: more.text.clone(),
    })
}
