//! Two runs side by side: how the plans differ, what became of each task, and where they first went apart.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{History, SourceError};
use crate::event::{ApprovalEvent, CallEvent, Event, PlanEvent, Record, TaskEvent};
use crate::model::{Digest, Seq, SessionId, TaskId};
use crate::planning::content_key::content_keys;
use crate::state::trace::TraceEntry;
use crate::state::{SessionState, TaskRow};

/// One of the two runs as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    pub session: SessionId,
    pub title: String,
    pub revision: Option<u32>,
    pub hash: Option<Digest>,
    pub done: u32,
    pub total: u32,
    pub time_ms: u64,
    pub tokens: u64,
    pub cost_micro: u64,
    /// How often the person was asked.
    pub asked: u32,
    pub events: u64,
}

/// How a task of one plan stands to the other plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kinship {
    Same,
    Changed,
    OnlyInA,
    OnlyInB,
}

/// What became of a task in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    pub status: String,
    pub attempt: u32,
    pub time_ms: u64,
    pub tokens: u64,
    pub cost_micro: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A task in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskComparison {
    pub task: TaskId,
    /// Its name in the second run, where only the content is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_in_b: Option<TaskId>,
    pub plan: Kinship,
    pub a: Option<Outcome>,
    pub b: Option<Outcome>,
    /// Which fields of the task differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Whether the second run took the result over instead of working.
    pub reused: bool,
}

/// The first thing that one run did and the other did not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Divergence {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq_a: Option<Seq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq_b: Option<Seq>,
    pub a: String,
    pub b: String,
}

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub a: Side,
    pub b: Side,
    pub added: u32,
    pub removed: u32,
    pub changed: u32,
    pub same: u32,
    /// In the order of the first plan, then those only the second has.
    pub tasks: Vec<TaskComparison>,
    pub first_divergence: Option<Divergence>,
}

/// Compares two sessions as they stand.
pub fn compare(
    (a, past_of_a): (&SessionId, &mut History),
    (b, past_of_b): (&SessionId, &mut History),
) -> Result<Comparison, SourceError> {
    let (left, right) = (Run::read(a, past_of_a)?, Run::read(b, past_of_b)?);
    let tasks = tasks(&left, &right);
    let count = |kin: Kinship| tasks.iter().filter(|task| task.plan == kin).count() as u32;
    Ok(Comparison {
        added: count(Kinship::OnlyInB),
        removed: count(Kinship::OnlyInA),
        changed: count(Kinship::Changed),
        same: count(Kinship::Same),
        first_divergence: divergence(&left.deeds, &right.deeds),
        a: left.side,
        b: right.side,
        tasks,
    })
}

/// Something that a run did, without when.
#[derive(Clone, Debug, PartialEq)]
struct Deed {
    seq: Seq,
    task: Option<TaskId>,
    /// Equal for equal deeds.
    mark: String,
    words: String,
}

struct Run {
    side: Side,
    state: std::sync::Arc<SessionState>,
    keys: HashMap<TaskId, Digest>,
    deeds: Vec<Deed>,
    /// Events from before a fork, whose results were taken over.
    shared: Seq,
}

impl Run {
    fn read(id: &SessionId, history: &mut History) -> Result<Self, SourceError> {
        let head = history.head()?;
        let (mut deeds, mut asked, mut shared) = (Vec::new(), 0, Seq::START);
        for number in 1..=head.0 {
            let Some(record) = history.record(Seq(number))? else { break };
            match &record.event {
                Event::Approval(ApprovalEvent::Asked { .. }) => asked += 1,
                Event::Session(crate::event::SessionEvent::Forked { at, .. }) => shared = *at,
                _ => {}
            }
            deeds.extend(deed(&record));
        }
        let state = history.state_at(head)?;
        let current = state.plan.current.as_ref();
        let keys = current.map_or_else(HashMap::new, |current| {
            let ids = current.plan.tasks.iter().map(|task| task.id.clone());
            ids.zip(content_keys(&current.plan, &current.facts)).collect()
        });
        let counts = state.tasks.counts();
        let ended = state.run.finished_at.or(state.at).unwrap_or_default();
        let side = Side {
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
        };
        Ok(Self { side, state, keys, deeds, shared })
    }

    fn outcome(&self, task: &TaskId) -> Option<Outcome> {
        let row: &TaskRow = self.state.tasks.get(task)?;
        Some(Outcome {
            status: row.status.word().to_owned(),
            attempt: row.attempt,
            time_ms: row.elapsed_ms(self.state.at.unwrap_or_default()).unwrap_or(0),
            tokens: row.tokens,
            cost_micro: row.cost.0,
            failure: row.failure.as_ref().map(|failure| failure.message.clone()),
        })
    }

    fn is_reused(&self, task: &TaskId) -> bool {
        let deeds = self.deeds.iter().filter(|deed| deed.task.as_ref() == Some(task));
        self.shared > Seq::START && deeds.map(|deed| deed.seq).max() <= Some(self.shared)
    }

    fn fields(&self, task: &TaskId) -> BTreeMap<String, serde_json::Value> {
        let current = self.state.plan.current.as_ref();
        let node =
            current.and_then(|current| current.plan.tasks.iter().find(|node| node.id == *task));
        match node.and_then(|node| serde_json::to_value(node).ok()) {
            Some(serde_json::Value::Object(fields)) => fields.into_iter().collect(),
            _ => BTreeMap::new(),
        }
    }
}

/// What counts as a deed: decisions, what was run with what, and how it ended.
fn deed(record: &Record) -> Option<Deed> {
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
            format!("outcome {}", crate::state::trace::outcome_words(outcome))
        }
        Event::Task(TaskEvent::Completed { .. }) => "completed".to_owned(),
        Event::Task(TaskEvent::Failed { failure, .. }) => format!("failed {}", failure.code),
        Event::Task(TaskEvent::Skipped { reason, .. }) => format!("skipped {}", reason.as_str()),
        Event::Agent(event) => {
            let step = event.step()?;
            format!("step {:?} {} {:?}", step.action, step.content, step.tool_input)
        }
        _ => return None,
    };
    let entry = TraceEntry::of(record);
    let words = entry
        .map_or_else(|| mark.clone(), |entry| format!("{}: {}", entry.kind.word(), entry.text));
    Some(Deed { seq: record.seq, task: record.event.task().cloned(), mark, words })
}

fn tasks(a: &Run, b: &Run) -> Vec<TaskComparison> {
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
                let (left, right) = (a.fields(id), b.fields(twin));
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
            task_in_b: twin.filter(|twin| *twin != id).cloned(),
            plan: match twin {
                None => Kinship::OnlyInA,
                Some(_) if same_key && changed.is_empty() => Kinship::Same,
                Some(_) => Kinship::Changed,
            },
            a: a.outcome(id),
            b: twin.and_then(|twin| b.outcome(twin)),
            changed,
            reused: twin.is_some_and(|twin| b.is_reused(twin)),
        });
    }
    for (id, _) in b.state.tasks.iter().filter(|(id, _)| !matched.contains(*id)) {
        rows.push(TaskComparison {
            task: id.clone(),
            task_in_b: None,
            plan: Kinship::OnlyInB,
            a: None,
            b: b.outcome(id),
            changed: Vec::new(),
            reused: b.is_reused(id),
        });
    }
    rows
}

/// Compares what each task did, one deed after the other: tasks run side by side, so that their order says nothing.
fn divergence(a: &[Deed], b: &[Deed]) -> Option<Divergence> {
    let mut of_b: HashMap<Option<&TaskId>, Vec<&Deed>> = HashMap::new();
    for deed in b {
        of_b.entry(deed.task.as_ref()).or_default().push(deed);
    }
    let mut place: HashMap<Option<&TaskId>, usize> = HashMap::new();
    let nothing = || "nothing more".to_owned();
    for deed in a {
        let task = deed.task.as_ref();
        let at = place.entry(task).or_default();
        let other = of_b.get(&task).and_then(|deeds| deeds.get(*at));
        *at += 1;
        if other.is_none_or(|other| other.mark != deed.mark) {
            return Some(Divergence {
                task: deed.task.clone(),
                seq_a: Some(deed.seq),
                seq_b: other.map(|other| other.seq),
                a: deed.words.clone(),
                b: other.map_or_else(nothing, |other| other.words.clone()),
            });
        }
    }
    let more = b.iter().find(|deed| {
        let known = place.get(&deed.task.as_ref()).copied().unwrap_or(0);
        let own = of_b.get(&deed.task.as_ref()).and_then(|deeds| deeds.get(known));
        own.is_some_and(|own| own.seq == deed.seq)
    })?;
    Some(Divergence {
        task: more.task.clone(),
        seq_a: None,
        seq_b: Some(more.seq),
        a: nothing(),
        b: more.words.clone(),
    })
}
