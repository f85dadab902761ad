//! The tasks of the current plan: what became of each, and which may start.
//!
//! How many dependencies of a task are still unmet is kept up to date at every change, so that asking what is ready
//! never looks at the whole graph.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use planwright_model::event::{CallEvent, CallOutcome, FileChange, RepeatClass, TaskEvent};
use planwright_model::{
    Actor, CallId, ExecutionFailure, LinkKind, MicroDollars, Plan, RunKind, SkipReason, TaskId,
};

/// What became of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    #[default]
    Pending,
    Running,
    /// The person has to do it now.
    Yours,
    Done,
    Failed,
    Skipped(SkipReason),
}

impl TaskStatus {
    /// Whether nothing more will happen to it by itself.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Skipped(_))
    }

    /// Whether tasks that wait for its end may start.
    pub fn is_met(self) -> bool {
        matches!(self, Self::Done | Self::Skipped(SkipReason::ByPerson))
    }

    fn has_started(self) -> bool {
        matches!(self, Self::Running | Self::Yours) || self.is_met()
    }

    /// The word for it in sentences.
    pub fn label(self) -> &'static str {
        match self {
            Self::Pending => "waiting",
            Self::Running => "running",
            Self::Yours => "yours",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped(_) => "skipped",
        }
    }
}

/// A call whose outcome is not known yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallInFlight {
    pub call: CallId,
    pub tool: String,
    /// What it was asked to do, in one line.
    pub summary: Arc<str>,
    pub intended_at: Timestamp,
    pub repeat: RepeatClass,
    /// The file it changes, where that is all it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileChange>,
    /// Process id and start time, once it is known.
    pub process: Option<(u32, u64)>,
    pub output_lines: u64,
    pub last_line: Arc<str>,
}

/// How many notes of a task the state keeps; the journal has all of them.
const MAX_NOTES: usize = 32;

/// What somebody wrote down about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNote {
    pub at: Timestamp,
    pub text: Arc<str>,
}

/// What is known about one task. What is not known yet is not stored: most rows of a large plan are empty for long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskRow {
    #[serde(skip_serializing_if = "is_default")]
    pub status: TaskStatus,
    #[serde(skip_serializing_if = "is_default")]
    pub attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// The last word of the process that was at this attempt, once another one took the session up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_at: Option<Timestamp>,
    /// When a retry may start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Arc<ExecutionFailure>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Box<CallInFlight>>,
    /// The last call, if it was ended before its time and nothing came after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<Box<CallInFlight>>,
    /// Calls that the call in flight makes on its own, with their tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<(CallId, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_outcome: Option<CallOutcome>,
    #[serde(skip_serializing_if = "is_default")]
    pub steps: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub tokens: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub cost: MicroDollars,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Arc<str>>,
    /// What was written down about it, oldest first, up to a limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<TaskNote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_by: Option<Actor>,
    /// Occurrences of a repeating task that are settled, and whether they were done.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub occurrences: BTreeMap<u32, bool>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl TaskRow {
    /// Forgets calls that no longer matter.
    fn clear_calls(&mut self) {
        (self.call, self.cut_short) = (None, None);
        self.nested.clear();
    }

    fn add_note(&mut self, text: &str, at: Timestamp) {
        if self.notes.len() >= MAX_NOTES {
            self.notes.remove(0);
        }
        self.notes.push(TaskNote { at, text: Arc::from(text) });
    }

    /// The call of which it is not known what it did: one without an outcome, or one that was ended half-way.
    pub fn doubtful_call(&self) -> Option<&CallInFlight> {
        self.call.as_deref().or(self.cut_short.as_deref())
    }

    /// How long the task has taken up to `now`, or took. What passed after its process left does not count.
    pub fn elapsed_ms(&self, now: Timestamp) -> Option<u64> {
        let started = self.started_at?;
        let end = self.left_at.or(self.finished_at).unwrap_or(now);
        Some(end.duration_since(started).as_millis().try_into().unwrap_or(0))
    }
}

/// How many tasks are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCounts {
    pub pending: u32,
    pub running: u32,
    pub yours: u32,
    pub done: u32,
    pub failed: u32,
    pub skipped: u32,
}

impl TaskCounts {
    fn slot_mut(&mut self, status: TaskStatus) -> &mut u32 {
        match status {
            TaskStatus::Pending => &mut self.pending,
            TaskStatus::Running => &mut self.running,
            TaskStatus::Yours => &mut self.yours,
            TaskStatus::Done => &mut self.done,
            TaskStatus::Failed => &mut self.failed,
            TaskStatus::Skipped(_) => &mut self.skipped,
        }
    }

    /// Counts one more task.
    pub fn add_task(&mut self, status: TaskStatus) {
        *self.slot_mut(status) += 1;
    }

    pub fn total(&self) -> u32 {
        self.pending + self.running + self.yours + self.done + self.failed + self.skipped
    }
}

/// Who waits for whom, by position in the plan. Rebuilt from the plan, never stored.
#[derive(Debug, Default)]
struct TaskDependencies {
    index: HashMap<TaskId, u32>,
    ids: Vec<TaskId>,
    human: Vec<bool>,
    /// For each task the tasks that wait for it; `true` means for its start only.
    dependents: Vec<Vec<(u32, bool)>>,
    dependencies: Vec<Vec<(u32, bool)>>,
}

/// All tasks of the current plan, in its order.
#[derive(Clone, Debug, Default)]
pub struct TaskTable {
    rows: Vec<TaskRow>,
    unmet: Vec<u32>,
    counts: TaskCounts,
    links: Arc<TaskDependencies>,
}

/// Equality is about what happened; the wiring and the counters follow from it.
impl PartialEq for TaskTable {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
            && self.links.ids == other.links.ids
            && self.unmet == other.unmet
            && self.counts == other.counts
    }
}

impl TaskTable {
    /// Nobody has worked on what runs since `last`.
    pub(super) fn add_unattended(&mut self, last: Timestamp) {
        for row in self.rows.iter_mut().filter(|row| row.status == TaskStatus::Running) {
            row.left_at.get_or_insert(last);
        }
    }

    /// Takes over the tasks of a new revision. What already happened to a task stays with its id.
    pub(super) fn adopt_plan(&mut self, plan: &Plan) {
        let mut rows: Vec<TaskRow> = vec![TaskRow::default(); plan.tasks.len()];
        for (row, task) in rows.iter_mut().zip(&plan.tasks) {
            if let Some(old) = self.position(&task.id) {
                *row = std::mem::take(&mut self.rows[old]);
            }
        }
        *self = Self::from_rows(rows, plan);
    }

    /// Rebuilds everything that follows from the rows and the plan.
    pub(super) fn from_rows(mut rows: Vec<TaskRow>, plan: &Plan) -> Self {
        rows.resize(plan.tasks.len(), TaskRow::default());
        let mut index = HashMap::with_capacity(plan.tasks.len());
        for (position, task) in plan.tasks.iter().enumerate() {
            index.entry(task.id.clone()).or_insert(position as u32);
        }
        let mut dependents = vec![Vec::new(); rows.len()];
        let mut dependencies = vec![Vec::new(); rows.len()];
        for (position, task) in plan.tasks.iter().enumerate() {
            for link in task.dependencies.iter().filter(|link| link.blocks_execution()) {
                if let Some(&on) = index.get(&link.task) {
                    let start_only = link.kind == LinkKind::SS;
                    dependents[on as usize].push((position as u32, start_only));
                    dependencies[position].push((on, start_only));
                }
            }
        }
        let wiring = TaskDependencies {
            index,
            ids: plan.tasks.iter().map(|task| task.id.clone()).collect(),
            human: plan.tasks.iter().map(|task| matches!(task.run, RunKind::Human {})).collect(),
            dependents,
            dependencies,
        };
        Self::with_dependencies(rows, Arc::new(wiring))
    }

    /// The same for rows of a plan that another table is already wired for.
    pub(super) fn from_rows_sharing(mut rows: Vec<TaskRow>, like: &Self) -> Self {
        rows.resize(like.rows.len(), TaskRow::default());
        Self::with_dependencies(rows, Arc::clone(&like.links))
    }

    fn with_dependencies(rows: Vec<TaskRow>, links: Arc<TaskDependencies>) -> Self {
        let mut counts = TaskCounts::default();
        for row in &rows {
            *counts.slot_mut(row.status) += 1;
        }
        let unmet = links
            .dependencies
            .iter()
            .map(|on| {
                on.iter()
                    .filter(|(task, start)| !is_dependency_met(rows[*task as usize].status, *start))
                    .count() as u32
            })
            .collect();
        Self { rows, unmet, counts, links }
    }

    pub(super) fn apply(&mut self, event: &TaskEvent, at: Timestamp) -> bool {
        let Some(task) = self.position(event.task_id()) else { return false };
        match event {
            TaskEvent::Started { attempt, .. } => {
                let sensible = self.rows[task].status == TaskStatus::Pending;
                let row = &mut self.rows[task];
                *row = TaskRow {
                    attempt: *attempt,
                    started_at: Some(at),
                    status: row.status,
                    tokens: row.tokens,
                    cost: row.cost,
                    steps: row.steps,
                    notes: std::mem::take(&mut row.notes),
                    ..TaskRow::default()
                };
                self.set_status(task, TaskStatus::Running);
                sensible
            }
            TaskEvent::HandedOver { .. } => {
                self.rows[task].started_at = Some(at);
                self.rows[task].finished_at = None;
                self.rows[task].left_at = None;
                self.set_status(task, TaskStatus::Yours)
            }
            TaskEvent::Completed { attempt, by, note, .. } => {
                let row = &mut self.rows[task];
                if row.status == TaskStatus::Done || *attempt != row.attempt {
                    return false;
                }
                row.finished_at = Some(at);
                row.done_by = *by;
                row.note = note.as_deref().map(Arc::from);
                if let Some(note) = note {
                    row.add_note(note, at);
                }
                row.clear_calls();
                self.set_status(task, TaskStatus::Done)
            }
            TaskEvent::Failed { attempt, failure, retry_in_ms, .. } => {
                let row = &mut self.rows[task];
                if row.status.is_settled() || *attempt != row.attempt {
                    return false;
                }
                row.finished_at = Some(at);
                row.failure = Some(Arc::new(failure.clone()));
                row.clear_calls();
                row.not_before = retry_in_ms.map(|wait| add_millis(at, wait));
                let status =
                    if retry_in_ms.is_some() { TaskStatus::Pending } else { TaskStatus::Failed };
                self.set_status(task, status)
            }
            TaskEvent::Skipped { reason, .. } => {
                self.rows[task].finished_at = Some(at);
                self.rows[task].clear_calls();
                self.set_status(task, TaskStatus::Skipped(*reason))
            }
            TaskEvent::OccurrenceSettled { occurrence, done, note, .. } => {
                let row = &mut self.rows[task];
                if let Some(note) = note {
                    row.add_note(note, at);
                }
                row.occurrences.insert(*occurrence, *done).is_none()
            }
            TaskEvent::Noted { text, .. } => {
                self.rows[task].add_note(text, at);
                true
            }
            TaskEvent::Reopened { occurrence, .. } => self.reopen(task, *occurrence),
            TaskEvent::Reset { .. } => {
                let row = &mut self.rows[task];
                row.clear_calls();
                row.occurrences.clear();
                row.not_before = None;
                row.started_at = None;
                row.finished_at = None;
                // Forks of earlier versions reset what their beginning had put back already.
                self.set_status(task, TaskStatus::Pending);
                true
            }
        }
    }

    /// Opens a task, or one occurrence of it, again: it is the person's, or waits for what it needs.
    fn reopen(&mut self, task: usize, occurrence: Option<u32>) -> bool {
        let row = &mut self.rows[task];
        let known = match occurrence {
            Some(time) => row.occurrences.remove(&time).is_some(),
            None => row.status.is_met(),
        };
        if !row.status.is_met() {
            return known;
        }
        (row.finished_at, row.done_by, row.note) = (None, None, None);
        let status = if self.unmet[task] == 0 { TaskStatus::Yours } else { TaskStatus::Pending };
        self.set_status(task, status) && known
    }

    pub(super) fn apply_call(&mut self, event: &CallEvent, at: Timestamp) -> bool {
        let Some(task) = self.position(&event.call_id().task) else {
            return self.apply_nested(event);
        };
        let row = &mut self.rows[task];
        match event {
            CallEvent::Intended { call, tool, input, repeat, file, .. } => {
                let free = row.call.is_none();
                row.cut_short = None;
                row.steps += 1;
                row.call = Some(Box::new(CallInFlight {
                    call: call.clone(),
                    tool: tool.clone(),
                    summary: input_summary(input),
                    intended_at: at,
                    repeat: *repeat,
                    file: file.clone(),
                    process: None,
                    output_lines: 0,
                    last_line: Arc::from(""),
                }));
                free
            }
            CallEvent::Spawned { call, pid, started_ticks } => {
                match call_in_flight_mut(row, call) {
                    Some(open) => {
                        open.process = Some((*pid, *started_ticks));
                        true
                    }
                    None => false,
                }
            }
            CallEvent::Output { call, text, .. } => match call_in_flight_mut(row, call) {
                Some(open) => {
                    open.output_lines += text.matches('\n').count() as u64;
                    if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
                        open.last_line = first_line_shortened(line);
                    }
                    true
                }
                None => false,
            },
            // A second outcome for the same call finds nothing in flight: it is counted and changes nothing.
            CallEvent::Concluded { call, outcome, usage, .. } => {
                match call_in_flight_mut(row, call) {
                    Some(_) => {
                        let ended = row.call.take();
                        row.cut_short = ended.filter(|_| *outcome == CallOutcome::Cancelled);
                        row.nested.clear();
                        row.tokens = row.tokens.saturating_add(usage.tokens);
                        row.cost = row.cost.saturating_add(usage.cost);
                        row.last_outcome = Some(outcome.clone());
                        true
                    }
                    None => false,
                }
            }
        }
    }

    /// The task that a nested call is made for.
    fn calling_task(&self, call: &CallId) -> Option<usize> {
        let mut name = call.task.as_str();
        while let Some((outer, _)) = name.rsplit_once('.') {
            if let Some(task) = self.position(&TaskId::from(outer)) {
                return Some(task);
            }
            name = outer;
        }
        None
    }

    /// The tool of a call in flight, nested or not.
    pub(super) fn tool_in_flight(&self, call: &CallId) -> Option<&str> {
        if let Some(row) = self.get(&call.task) {
            return row.call.as_ref().map(|open| open.tool.as_str());
        }
        let row = self.row(self.calling_task(call)?);
        row.nested.iter().find(|(nested, _)| nested == call).map(|(_, tool)| tool.as_str())
    }

    /// A call that another call makes. What it does, the outer one does: repeating that is as safe as all within it.
    fn apply_nested(&mut self, event: &CallEvent) -> bool {
        let Some(task) = self.calling_task(event.call_id()) else { return false };
        let row = &mut self.rows[task];
        let Some(outer) = &mut row.call else { return false };
        match event {
            CallEvent::Intended { call, tool, repeat, .. } => {
                if *repeat == RepeatClass::Unsafe {
                    outer.repeat = RepeatClass::Unsafe;
                }
                row.nested.push((call.clone(), tool.clone()));
                true
            }
            CallEvent::Spawned { pid, started_ticks, .. } => {
                outer.process = Some((*pid, *started_ticks));
                true
            }
            CallEvent::Output { text, .. } => {
                outer.output_lines += text.matches('\n').count() as u64;
                true
            }
            CallEvent::Concluded { call, usage, .. } => {
                let before = row.nested.len();
                row.nested.retain(|(nested, _)| nested != call);
                let known = row.nested.len() < before;
                if known {
                    row.tokens = row.tokens.saturating_add(usage.tokens);
                    row.cost = row.cost.saturating_add(usage.cost);
                }
                known
            }
        }
    }

    /// Puts everything that was under way back to waiting.
    pub(super) fn reset_unfinished(&mut self) {
        for task in 0..self.rows.len() {
            if matches!(self.rows[task].status, TaskStatus::Running | TaskStatus::Yours) {
                let row = &mut self.rows[task];
                row.clear_calls();
                (row.started_at, row.finished_at) = (None, None);
                self.set_status(task, TaskStatus::Pending);
            }
            self.rows[task].not_before = None;
        }
    }

    /// Changes a status and tells the tasks that wait for it. Returns whether anything changed.
    fn set_status(&mut self, task: usize, status: TaskStatus) -> bool {
        let before = self.rows[task].status;
        if before == status {
            return false;
        }
        self.rows[task].status = status;
        *self.counts.slot_mut(before) -= 1;
        *self.counts.slot_mut(status) += 1;
        let wiring = Arc::clone(&self.links);
        for &(dependent, start_only) in &wiring.dependents[task] {
            match (is_dependency_met(before, start_only), is_dependency_met(status, start_only)) {
                (false, true) => self.unmet[dependent as usize] -= 1,
                (true, false) => self.unmet[dependent as usize] += 1,
                _ => {}
            }
        }
        true
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn status_counts(&self) -> TaskCounts {
        self.counts
    }

    /// Where a task stands in the plan.
    pub fn position(&self, id: &TaskId) -> Option<usize> {
        self.links.index.get(id).map(|position| *position as usize)
    }

    /// Where the task stands that an id belongs to, which may be the id of a subtask.
    pub fn owner_position(&self, id: &TaskId) -> Option<usize> {
        id.find_owner(|id| self.links.index.get(id).map(|position| *position as usize))
    }

    pub fn id(&self, task: usize) -> &TaskId {
        &self.links.ids[task]
    }

    pub fn row(&self, task: usize) -> &TaskRow {
        &self.rows[task]
    }

    pub fn get(&self, id: &TaskId) -> Option<&TaskRow> {
        self.position(id).map(|task| &self.rows[task])
    }

    /// All tasks with their rows, in the plan's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&TaskId, &TaskRow)> {
        self.links.ids.iter().zip(&self.rows)
    }

    pub(super) fn rows(&self) -> &[TaskRow] {
        &self.rows
    }

    /// Whether the task may start: it waits, and nothing it depends on is unmet.
    pub fn is_ready(&self, task: usize) -> bool {
        self.rows[task].status == TaskStatus::Pending && self.unmet[task] == 0
    }

    /// Whether nothing it depends on is unmet and it has not ended.
    pub fn is_unlocked(&self, task: usize) -> bool {
        self.unmet[task] == 0 && !self.rows[task].status.is_settled()
    }

    /// The same by definition, for the test that the kept count is right.
    #[cfg(test)]
    pub(super) fn is_ready_by_definition(&self, task: usize) -> bool {
        self.rows[task].status == TaskStatus::Pending
            && self.links.dependencies[task].iter().all(|(on, start_only)| {
                is_dependency_met(self.rows[*on as usize].status, *start_only)
            })
    }

    /// Tasks that wait directly for this one.
    pub fn dependents(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        self.links.dependents[task].iter().map(|(dependent, _)| *dependent as usize)
    }

    /// One of the tasks that wait directly for this one, for callers that change something while they walk over them.
    pub fn nth_dependent(&self, task: usize, nth: usize) -> Option<usize> {
        self.links.dependents[task].get(nth).map(|(dependent, _)| *dependent as usize)
    }

    /// Tasks that this one waits for directly.
    pub fn dependencies(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        self.links.dependencies[task].iter().map(|(on, _)| *on as usize)
    }

    /// All tasks that wait for this one, directly or not, in the plan's order.
    pub fn descendants(&self, task: usize) -> Vec<usize> {
        let mut seen = vec![false; self.rows.len()];
        let mut stack = vec![task];
        while let Some(next) = stack.pop() {
            for dependent in self.dependents(next) {
                if !std::mem::replace(&mut seen[dependent], true) {
                    stack.push(dependent);
                }
            }
        }
        seen[task] = false;
        (0..self.rows.len()).filter(|task| seen[*task]).collect()
    }

    /// Whether the task is the person's to do.
    pub fn is_human(&self, task: usize) -> bool {
        self.links.human[task]
    }

    /// Whether only the person could go on: a task of theirs is ready, and none of anybody else's is under way or ready.
    pub fn is_waiting_for_person(&self) -> bool {
        let mut theirs = false;
        for task in 0..self.rows.len() {
            match (self.rows[task].status, self.links.human[task]) {
                (TaskStatus::Running, _) => return false,
                (TaskStatus::Yours, _) => theirs = true,
                (TaskStatus::Pending, true) => theirs |= self.unmet[task] == 0,
                (TaskStatus::Pending, false) if self.unmet[task] == 0 => return false,
                _ => {}
            }
        }
        theirs
    }

    /// Whether every task of the plan is the person's.
    pub fn is_persons_plan(&self) -> bool {
        !self.rows.is_empty() && self.links.human.iter().all(|human| *human)
    }

    /// Whether something is done or skipped by the person.
    pub fn has_begun(&self) -> bool {
        self.rows.iter().any(|row| row.status.is_met() || !row.occurrences.is_empty())
    }

    /// Whether nothing can happen before the person does a task.
    pub fn is_only_person_left(&self) -> bool {
        self.counts.yours > 0
            && self.counts.running == 0
            && !(0..self.rows.len()).any(|task| self.is_ready(task) && !self.links.human[task])
    }

    /// Whether nothing failed and all that was not done was left out by the person.
    pub fn is_done_but_person_skips(&self) -> bool {
        self.rows.iter().all(|row| {
            matches!(
                row.status,
                TaskStatus::Done
                    | TaskStatus::Skipped(SkipReason::ByPerson | SkipReason::DependencySkipped)
            )
        })
    }

    /// Calls that were started and have no outcome.
    pub fn calls_in_flight(&self) -> impl Iterator<Item = (usize, &CallInFlight)> {
        self.rows
            .iter()
            .enumerate()
            .filter_map(|(task, row)| row.call.as_deref().map(|call| (task, call)))
    }
}

fn is_dependency_met(status: TaskStatus, start_only: bool) -> bool {
    if start_only { status.has_started() } else { status.is_met() }
}

fn call_in_flight_mut<'a>(row: &'a mut TaskRow, call: &CallId) -> Option<&'a mut CallInFlight> {
    row.call.as_deref_mut().filter(|open| open.call == *call)
}

fn add_millis(at: Timestamp, wait_ms: u64) -> Timestamp {
    let wait = jiff::SignedDuration::from_millis(i64::try_from(wait_ms).unwrap_or(i64::MAX));
    at.checked_add(wait).unwrap_or(Timestamp::MAX)
}

fn input_summary(input: &serde_json::Value) -> Arc<str> {
    match input.get("command").and_then(serde_json::Value::as_str) {
        Some(command) => first_line_shortened(command),
        None => first_line_shortened(&input.to_string()),
    }
}

/// The first line, cut to what a row on the screen can show.
fn first_line_shortened(text: &str) -> Arc<str> {
    text.lines().next().unwrap_or("").chars().take(160).collect::<String>().into()
}
