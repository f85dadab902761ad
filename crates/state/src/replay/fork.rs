//! A new session that goes on from a moment of another: what it takes over and what it does again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::{History, RecordSourceError};
use crate::{PlanRevision, SessionState, TaskStatus};
use planwright_model::event::{AgentEvent, Event, PlanEvent, SessionEvent, TaskEvent};
use planwright_model::{GraphFacts, NormalizationChange, Plan, Seq, SessionId, TaskId};
use planwright_plan::content_key::content_keys;

/// What a fork would do, stated before it starts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForkPlan {
    pub parent: SessionId,
    pub at: Seq,
    /// Tasks whose results are taken over.
    pub reuses: Vec<TaskId>,
    /// Tasks that run, again or for the first time.
    pub reruns: Vec<TaskId>,
    /// Tasks that were done the same and run again all the same, because a file they wrote is no longer what it was.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stale: BTreeMap<TaskId, String>,
    /// The revision that the person has to approve; approvals are not inherited.
    #[serde(skip)]
    pub revision: Arc<PlanRevision>,
    /// The first events of the fork, but for the question whether to run it.
    #[serde(skip)]
    pub events: Vec<Event>,
}

/// Why a moment cannot be forked from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    #[error("there is no plan yet at event {0}")]
    NoPlan(Seq),
    #[error("the plan cannot be hashed")]
    Hash,
}

/// A plan that takes the place of the one at the fork point.
#[derive(Clone, Debug)]
pub struct ReplacementPlan {
    pub plan: Plan,
    pub facts: GraphFacts,
    pub normalization: Vec<NormalizationChange>,
}

impl ForkPlan {
    /// Works out what a fork after `state` takes over. A task is reused where it was done and does the same after the
    /// same, told by its content key, and no file it wrote is among `changed`; everything else is done again.
    pub fn new(
        parent: &SessionId,
        state: &SessionState,
        new_plan: Option<ReplacementPlan>,
        changed: &BTreeMap<TaskId, String>,
    ) -> Result<Self, ForkError> {
        let old = state.plan.current.as_ref().ok_or(ForkError::NoPlan(state.seq))?;
        let old_keys = content_keys(&old.plan, &old.facts);
        let met: HashMap<&TaskId, usize> = (0..state.tasks.len())
            .filter(|task| state.tasks.row(*task).status.is_met())
            .map(|task| (state.tasks.id(task), task))
            .collect();
        let revision = match new_plan {
            Some(new) => Arc::new(PlanRevision {
                revision: old.revision + 1,
                hash: new.plan.digest().map_err(|_| ForkError::Hash)?,
                plan: Arc::new(new.plan),
                facts: Arc::new(new.facts),
                normalization: new.normalization,
            }),
            None => Arc::clone(old),
        };
        let keys = content_keys(&revision.plan, &revision.facts);
        let mut stale = BTreeMap::new();
        // Results are kept by id, so that a task under another name starts over.
        for (task, key) in revision.plan.tasks.iter().zip(&keys) {
            let same = met.get(&task.id).is_some_and(|old| old_keys.get(*old) == Some(key));
            if let Some(path) = changed.get(&task.id).filter(|_| same) {
                stale.insert(task.id.clone(), path.clone());
            }
        }
        let again = collect_with_dependents(&revision.plan, stale.keys());
        let (mut reuses, mut reruns) = (Vec::new(), Vec::new());
        for (task, key) in revision.plan.tasks.iter().zip(&keys) {
            let same = met.get(&task.id).is_some_and(|old| old_keys.get(*old) == Some(key));
            let kept = same && !again.contains(&task.id);
            if kept { reuses.push(task.id.clone()) } else { reruns.push(task.id.clone()) }
        }
        let mut plan = Self {
            parent: parent.clone(),
            at: state.seq,
            reuses,
            reruns,
            stale,
            revision,
            events: Vec::new(),
        };
        plan.events = plan.first_events(state, old);
        Ok(plan)
    }

    /// The session came from elsewhere: nothing but its plan counts here, and every call is asked about.
    #[must_use]
    pub fn mark_imported(mut self) -> Self {
        if let Some(Event::Session(SessionEvent::Forked { imported, .. })) = self.events.first_mut()
        {
            *imported = true;
        }
        self
    }

    fn first_events(&self, state: &SessionState, old: &Arc<PlanRevision>) -> Vec<Event> {
        let mut events: Vec<Event> = vec![
            SessionEvent::Forked {
                parent: self.parent.to_string(),
                at: self.at,
                reuses: self.reuses.len() as u32,
                reruns: self.reruns.len() as u32,
                imported: false,
            }
            .into(),
        ];
        if !Arc::ptr_eq(&self.revision, old) {
            events.push(
                PlanEvent::Proposed {
                    revision: self.revision.revision,
                    hash: self.revision.hash.clone(),
                    plan: Arc::clone(&self.revision.plan),
                    facts: Arc::clone(&self.revision.facts),
                    normalization: self.revision.normalization.clone(),
                }
                .into(),
            );
        }
        // What was under way is put back to waiting by the fork itself.
        let settled = |task: &&TaskId| {
            let waits = [TaskStatus::Pending, TaskStatus::Running, TaskStatus::Yours];
            state.tasks.get(task).is_some_and(|row| !waits.contains(&row.status))
        };
        events.extend(self.reruns.iter().filter(settled).map(|task| {
            let why = "it is done again in this fork".to_owned();
            TaskEvent::Reset { task: task.clone(), why }.into()
        }));
        events
    }

    /// One sentence that says what would happen.
    pub fn summary_sentence(&self) -> String {
        let total = self.reruns.len() + self.reuses.len();
        let noun = if total == 1 { "task" } else { "tasks" };
        format!("reruns {} of {total} {noun}, reuses {}", self.reruns.len(), self.reuses.len())
    }
}

/// These tasks and everything that waits for one of them.
fn collect_with_dependents<'a>(
    plan: &Plan,
    first: impl Iterator<Item = &'a TaskId>,
) -> HashSet<TaskId> {
    let mut dependents: HashMap<&TaskId, Vec<&TaskId>> = HashMap::new();
    for task in &plan.tasks {
        for link in task.dependencies.iter().filter(|link| link.blocks_execution()) {
            dependents.entry(&link.task).or_default().push(&task.id);
        }
    }
    let mut found = HashSet::new();
    let mut open: Vec<TaskId> = first.cloned().collect();
    while let Some(task) = open.pop() {
        if found.insert(task.clone()) {
            open.extend(dependents.get(&task).into_iter().flatten().map(|next| (*next).clone()));
        }
    }
    found
}

/// The files that tasks wrote up to an event, each with who wrote it last and what it held then.
pub fn written_files(
    history: &mut History,
    upto: Seq,
) -> Result<BTreeMap<String, (TaskId, String)>, RecordSourceError> {
    let mut files = BTreeMap::new();
    for number in 1..=upto.0 {
        let Some(record) = history.record_at(Seq(number))? else { break };
        let Event::Agent(AgentEvent::Observed { task, step, .. }) = &record.event else { continue };
        let data = step.tool_output.as_ref().and_then(|output| output.get("data"));
        let text = |name: &str| data.and_then(|data| data.get(name)).and_then(|text| text.as_str());
        if let (Some(path), Some(hash)) = (text("path"), text("file_hash")) {
            files.insert(path.to_owned(), (task.clone(), hash.to_owned()));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::replay::MemorySource;
    use planwright_model::event::Record;
    use planwright_model::{Digest, ReActStep, StepAction, TaskLink, TaskNode};
    use planwright_plan::graph::resolve_graph;

    /// A session in which `a` and `c` are done, `b` waits for `a`, and `d` for both `b` and `c`.
    fn session() -> Vec<Record> {
        let mut tasks =
            ["a", "b", "c", "d"].map(|id| TaskNode::new(id, format!("Do {id}"))).to_vec();
        tasks[1].dependencies = vec![TaskLink::finish_to_start("a")];
        tasks[3].dependencies =
            vec![TaskLink::finish_to_start("b"), TaskLink::finish_to_start("c")];
        let facts = resolve_graph(&tasks, |_| true).unwrap().to_facts(&tasks);
        let plan = Plan { title: "Fork".into(), tasks, ..Plan::default() };
        let mut events: Vec<Event> = vec![
            PlanEvent::Proposed {
                revision: 1,
                hash: plan.digest().unwrap(),
                plan: plan.into(),
                facts: facts.into(),
                normalization: Vec::new(),
            }
            .into(),
        ];
        for id in ["a", "b", "c"] {
            let task = TaskId::from(id);
            events.push(
                TaskEvent::Started {
                    task: task.clone(),
                    attempt: 1,
                    depth: 0,
                    affinity_delta: 0.0,
                }
                .into(),
            );
            let output = serde_json::json!({ "ok": true, "data": {
                "path": format!("{id}.md"), "file_hash": Digest::from_value(&id).unwrap(),
            }});
            let step = ReActStep {
                timestamp: Timestamp::UNIX_EPOCH,
                task_id: task.clone(),
                action: StepAction::Observation,
                content: "written".into(),
                tool_used: Some("file.write".into()),
                tool_input: None,
                tool_output: Some(output),
                confidence_score: None,
                metadata: planwright_model::StepMetadata::default(),
            };
            events.push(AgentEvent::from_step(task.clone(), 1, step).into());
            events.push(
                TaskEvent::Completed { task, attempt: 1, elapsed_ms: 1, by: None, note: None }
                    .into(),
            );
        }
        let numbered = events.into_iter().zip(1..);
        numbered.map(|(event, seq)| Record::new(Seq(seq), Timestamp::UNIX_EPOCH, event)).collect()
    }

    fn names(tasks: &[TaskId]) -> Vec<&str> {
        tasks.iter().map(TaskId::as_str).collect()
    }

    #[test]
    fn what_is_done_is_reused_unless_its_file_is_no_longer_what_it_wrote() {
        let records = session();
        let state = SessionState::from_records(&records);
        let id = SessionId::new("aaaa");
        let plan = ForkPlan::new(&id, &state, None, &BTreeMap::new()).unwrap();
        assert_eq!((names(&plan.reuses), names(&plan.reruns)), (vec!["a", "b", "c"], vec!["d"]));
        let changed = BTreeMap::from([("a".into(), "a.md".to_owned())]);
        let plan = ForkPlan::new(&id, &state, None, &changed).unwrap();
        assert_eq!(names(&plan.reuses), ["c"], "what waits for it is done again as well");
        assert_eq!(plan.stale, changed);
        assert_eq!(plan.summary_sentence(), "reruns 3 of 4 tasks, reuses 1");
        let mut forked = state.clone();
        for event in &plan.events {
            forked.apply(&Record::new(forked.seq.next(), Timestamp::UNIX_EPOCH, event.clone()));
        }
        let counts = forked.tasks.status_counts();
        assert_eq!((counts.done, forked.totals.anomalies), (1, state.totals.anomalies));
    }

    #[test]
    fn the_files_of_a_run_are_known_with_their_last_writer() {
        let mut history = History::new(MemorySource::new(session()));
        let files = written_files(&mut history, Seq(4)).unwrap();
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(
            files["a.md"],
            (TaskId::from("a"), Digest::from_value(&"a").unwrap().to_string())
        );
        assert_eq!(written_files(&mut history, Seq(99)).unwrap().len(), 3);
    }
}
