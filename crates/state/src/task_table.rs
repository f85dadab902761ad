//! The tasks of the current plan: what became of each, and which may start.
//!
//! How many dependencies of a task are still unmet is kept up to date at every change, so that asking what is ready
//! never looks at the whole graph.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use planwright_model::event::{
    CallEvent, CallOutcome, FileChange, RepeatClass, SpoolRange, TaskEvent,
};
use planwright_model::{
    Actor, CallId, Category, ExecutionFailure, LinkKind, MicroDollars, Plan, ProgressReport,
    ReportedTaskState, RunCondition, RunKind, SkipReason, TaskHold, TaskId, TaskLink, TaskNode,
    TaskResults,
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
        matches!(
            self,
            Self::Done
                | Self::Skipped(
                    SkipReason::ByPerson
                        | SkipReason::NotNeeded
                        | SkipReason::ConditionFalse
                        | SkipReason::ByAgent
                )
        )
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
    /// Where its output spool ends as far as the journal knows; 0 before it printed anything.
    #[serde(default)]
    pub spooled: u64,
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

/// How many failed attempts of a task the state keeps; the journal has all of them.
const MAX_FAILED_ATTEMPTS: usize = 16;

/// How far the checks of a command's exit criteria have come. They follow the command's own success.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionChecks {
    /// How long the command and its checks took so far.
    pub elapsed_ms: u64,
    /// Whether each criterion that was checked is met, by its position.
    pub findings: BTreeMap<usize, bool>,
}

/// The step of the call that checks an exit criterion. The command itself is step 1.
pub fn check_step(criterion: usize) -> u32 {
    criterion as u32 + 2
}

/// When an attempt that failed ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTaskAttempt {
    pub started_at: Timestamp,
    pub took_ms: u64,
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
    /// How long the attempt took, as whoever ran it measured; the moments of the events are a little apart from that.
    #[serde(skip_serializing_if = "is_default")]
    pub took_ms: u64,
    /// The attempts that failed, oldest first, up to a limit. A retry does not undo them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_attempts: Vec<FailedTaskAttempt>,
    /// The last word of the process that was at this attempt, once another one took the session up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_at: Option<Timestamp>,
    /// When a retry may start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// What keeps it from starting although all it depends on is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Box<TaskHold>>,
    /// Set once its work is done and its end waits for another task: how long the attempt took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awaiting_close: Option<u64>,
    /// Set once its command succeeded and its exit criteria are being checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Box<CriterionChecks>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Arc<ExecutionFailure>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Box<CallInFlight>>,
    /// Calls that are in flight beside it. All of them may simply be repeated, but for those of a person's own agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<CallInFlight>,
    /// The last call, if it was ended before its time and nothing came after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<Box<CallInFlight>>,
    /// Calls that the call in flight makes on its own, with their tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<(CallId, String)>,
    /// The end of what its command wrote, for the tasks that build on it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output_tail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_outcome: Option<CallOutcome>,
    /// How its command exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What its command left behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Box<TaskResults>>,
    /// A service that those that need it may use.
    #[serde(skip_serializing_if = "is_default")]
    pub is_ready: bool,
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
        self.beside.clear();
        self.nested.clear();
    }

    pub(crate) fn is_awaiting_close(&self) -> bool {
        self.status == TaskStatus::Running && self.awaiting_close.is_some()
    }

    /// Whether somebody or something is at it: it runs and does not only wait for its end.
    pub fn is_at_work(&self) -> bool {
        self.status == TaskStatus::Running && self.awaiting_close.is_none()
    }

    /// Remembers that the attempt failed.
    fn add_failed_attempt(&mut self, at: Timestamp) {
        let Some((started_at, took_ms)) = self.started_at.zip(self.elapsed_ms(at)) else { return };
        if self.failed_attempts.len() >= MAX_FAILED_ATTEMPTS {
            self.failed_attempts.remove(0);
        }
        self.failed_attempts.push(FailedTaskAttempt { started_at, took_ms });
    }

    /// The failed attempts before the one that the row is about.
    pub fn earlier_failed_attempts(&self) -> impl Iterator<Item = &FailedTaskAttempt> {
        let current = self.started_at;
        self.failed_attempts.iter().filter(move |attempt| Some(attempt.started_at) != current)
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
        if self.finished_at.is_some() && self.took_ms > 0 {
            return Some(self.took_ms);
        }
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

    fn without(self, other: Self) -> Self {
        Self {
            pending: self.pending - other.pending,
            running: self.running - other.running,
            yours: self.yours - other.yours,
            done: self.done - other.done,
            failed: self.failed - other.failed,
            skipped: self.skipped - other.skipped,
        }
    }

    pub fn total(&self) -> u32 {
        self.pending + self.running + self.yours + self.done + self.failed + self.skipped
    }
}

/// What must have become of a task before one that depends on it may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DependencyNeed {
    Done,
    Started,
    /// It has ended, whichever way.
    Settled,
    /// It is a service that is ready.
    Serving,
}

impl DependencyNeed {
    fn from_link(link: &TaskLink, when: RunCondition, on_service: bool) -> Self {
        match (when, link.kind) {
            _ if on_service => Self::Serving,
            (RunCondition::Failed | RunCondition::Always, _) => Self::Settled,
            (RunCondition::Success, LinkKind::SS) => Self::Started,
            (RunCondition::Success, _) => Self::Done,
        }
    }

    /// Whether a status is enough. A failure that the plan tolerates counts as done.
    fn is_met_by(self, status: TaskStatus, is_tolerated: bool) -> bool {
        let tolerated = is_tolerated && status == TaskStatus::Failed;
        match self {
            // Whether a service is ready is looked at beside its status.
            Self::Done | Self::Serving => status.is_met() || tolerated,
            Self::Started => status.has_started() || tolerated,
            Self::Settled => status.is_settled(),
        }
    }

    /// The same for a row.
    fn is_met_by_row(self, row: &TaskRow, is_tolerated: bool) -> bool {
        let serves = self == Self::Serving && row.status == TaskStatus::Running && row.is_ready;
        serves || self.is_met_by(row.status, is_tolerated)
    }
}

/// Who waits for whom, by position in the plan. Rebuilt from the plan, never stored.
#[derive(Debug, Default)]
struct TaskDependencies {
    index: HashMap<TaskId, u32>,
    ids: Vec<TaskId>,
    human: Vec<bool>,
    /// Milestones and gates: they take no time and are no tasks to whoever counts them.
    points: Vec<bool>,
    shell: Vec<bool>,
    /// Those that an agent of the person's own does.
    own_agent: Vec<bool>,
    /// Those whose command is followed by checks.
    checked: Vec<bool>,
    /// Those whose failure counts as done.
    tolerated: Vec<bool>,
    conditions: Vec<RunCondition>,
    /// For each task the tasks that wait for it, and for what.
    dependents: Vec<Vec<(u32, DependencyNeed)>>,
    dependencies: Vec<Vec<(u32, DependencyNeed)>>,
    /// For each task those whose end waits for it.
    end_dependents: Vec<Vec<u32>>,
}

/// All tasks of the current plan, in its order.
#[derive(Clone, Debug, Default)]
pub struct TaskTable {
    rows: Vec<TaskRow>,
    unmet: Vec<u32>,
    counts: TaskCounts,
    /// Those of them that mark a point in time.
    point_counts: TaskCounts,
    /// How many of the running ones only wait for their end.
    awaiting_close: u32,
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
        let mut end_dependents = vec![Vec::new(); rows.len()];
        for (position, task) in plan.tasks.iter().enumerate() {
            for link in &task.dependencies {
                let Some(&on) = index.get(&link.task) else { continue };
                if link.blocks_execution() {
                    let service = plan.tasks[on as usize].options.service.is_some();
                    let need = DependencyNeed::from_link(link, task.when, service);
                    dependents[on as usize].push((position as u32, need));
                    dependencies[position].push((on, need));
                } else {
                    end_dependents[on as usize].push(position as u32);
                }
            }
        }
        let wiring = TaskDependencies {
            index,
            ids: plan.tasks.iter().map(|task| task.id.clone()).collect(),
            points: plan.tasks.iter().map(TaskNode::marks_point).collect(),
            human: plan.tasks.iter().map(|task| matches!(task.run, RunKind::Human {})).collect(),
            shell: plan.tasks.iter().map(|task| matches!(task.run, RunKind::Shell(_))).collect(),
            own_agent: plan
                .tasks
                .iter()
                .map(|task| task.run.own_agent().is_some() || task.run.is_pick())
                .collect(),
            checked: plan.tasks.iter().map(TaskNode::has_checks).collect(),
            tolerated: plan.tasks.iter().map(|task| task.continue_on_error).collect(),
            conditions: plan.tasks.iter().map(|task| task.when).collect(),
            dependents,
            dependencies,
            end_dependents,
        };
        Self::with_dependencies(rows, Arc::new(wiring))
    }

    /// The same for rows of a plan that another table is already wired for.
    pub(super) fn from_rows_sharing(mut rows: Vec<TaskRow>, like: &Self) -> Self {
        rows.resize(like.rows.len(), TaskRow::default());
        Self::with_dependencies(rows, Arc::clone(&like.links))
    }

    fn with_dependencies(rows: Vec<TaskRow>, links: Arc<TaskDependencies>) -> Self {
        let (mut counts, mut point_counts) = (TaskCounts::default(), TaskCounts::default());
        for (row, point) in rows.iter().zip(&links.points) {
            *counts.slot_mut(row.status) += 1;
            *point_counts.slot_mut(row.status) += u32::from(*point);
        }
        let unmet = links
            .dependencies
            .iter()
            .map(|on| {
                on.iter()
                    .filter(|(task, need)| {
                        let task = *task as usize;
                        !need.is_met_by_row(&rows[task], links.tolerated[task])
                    })
                    .count() as u32
            })
            .collect();
        let awaiting_close = rows.iter().filter(|row| row.is_awaiting_close()).count() as u32;
        Self { rows, unmet, counts, point_counts, awaiting_close, links }
    }

    pub(super) fn apply(&mut self, event: &TaskEvent, at: Timestamp) -> bool {
        let Some(task) = self.position(event.task_id()) else { return false };
        match event {
            TaskEvent::Started { attempt, .. } => {
                let sensible = self.rows[task].status == TaskStatus::Pending;
                let row = &mut self.rows[task];
                self.awaiting_close -= u32::from(row.is_awaiting_close());
                *row = TaskRow {
                    attempt: *attempt,
                    started_at: Some(at),
                    status: row.status,
                    tokens: row.tokens,
                    cost: row.cost,
                    steps: row.steps,
                    notes: std::mem::take(&mut row.notes),
                    failed_attempts: std::mem::take(&mut row.failed_attempts),
                    ..TaskRow::default()
                };
                self.set_status(task, TaskStatus::Running);
                sensible
            }
            TaskEvent::Held { hold, .. } => {
                let row = &mut self.rows[task];
                row.hold = Some(Box::new(hold.clone()));
                row.status == TaskStatus::Pending
            }
            TaskEvent::AwaitingClose { attempt, elapsed_ms, .. } => {
                let row = &mut self.rows[task];
                if row.status != TaskStatus::Running
                    || row.awaiting_close.is_some()
                    || *attempt != row.attempt
                {
                    return false;
                }
                row.clear_calls();
                row.checks = None;
                row.awaiting_close = Some(*elapsed_ms);
                self.awaiting_close += 1;
                true
            }
            TaskEvent::ResultsKept { attempt, results, .. } => {
                let row = &mut self.rows[task];
                row.results = Some(Box::new(results.clone()));
                row.status == TaskStatus::Running && *attempt == row.attempt
            }
            TaskEvent::Ready { attempt, .. } => self.set_ready(task, *attempt),
            TaskEvent::HandedOver { .. } => {
                self.rows[task].started_at = Some(at);
                self.rows[task].hold = None;
                self.rows[task].finished_at = None;
                self.rows[task].took_ms = 0;
                self.rows[task].left_at = None;
                self.set_status(task, TaskStatus::Yours)
            }
            TaskEvent::Completed { attempt, elapsed_ms, by, note, .. } => {
                let row = &mut self.rows[task];
                if row.status == TaskStatus::Done || *attempt != row.attempt {
                    return false;
                }
                row.finished_at = Some(at);
                row.took_ms = *elapsed_ms;
                row.done_by = *by;
                row.note = note.as_deref().map(Arc::from);
                if let Some(note) = note {
                    row.add_note(note, at);
                }
                row.clear_calls();
                self.set_status(task, TaskStatus::Done)
            }
            TaskEvent::Failed { attempt, elapsed_ms, failure, retry_in_ms, .. } => {
                let row = &mut self.rows[task];
                if row.status.is_settled() || *attempt != row.attempt {
                    return false;
                }
                row.finished_at = Some(at);
                row.took_ms = *elapsed_ms;
                row.add_failed_attempt(at);
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
                row.took_ms = 0;
                // Forks of earlier versions reset what their beginning had put back already.
                self.set_status(task, TaskStatus::Pending);
                true
            }
        }
    }

    /// A service is ready: those that need nothing else may start.
    fn set_ready(&mut self, task: usize, attempt: u32) -> bool {
        let row = &mut self.rows[task];
        if row.status != TaskStatus::Running || row.is_ready || row.attempt != attempt {
            return false;
        }
        row.is_ready = true;
        let wiring = Arc::clone(&self.links);
        for &(dependent, need) in &wiring.dependents[task] {
            if need == DependencyNeed::Serving {
                self.unmet[dependent as usize] -= 1;
            }
        }
        true
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
        row.took_ms = 0;
        let status = if self.unmet[task] == 0 { TaskStatus::Yours } else { TaskStatus::Pending };
        self.set_status(task, status) && known
    }

    /// What the agent that carries out the plan says about a task. Evidence is kept as notes.
    pub(super) fn apply_report(&mut self, report: &ProgressReport, at: Timestamp) -> bool {
        let Some(task) = self.position(&report.task) else { return false };
        let row = &mut self.rows[task];
        self.awaiting_close -= u32::from(row.is_awaiting_close());
        row.awaiting_close = None;
        row.clear_calls();
        for text in &report.evidence {
            row.add_note(text, at);
        }
        let status = match report.state {
            ReportedTaskState::Started => {
                if row.status != TaskStatus::Running {
                    row.attempt += 1;
                    row.started_at = Some(at);
                }
                (row.finished_at, row.failure) = (None, None);
                return self.set_status(task, TaskStatus::Running) || !report.evidence.is_empty();
            }
            ReportedTaskState::Done => TaskStatus::Done,
            ReportedTaskState::Failed => TaskStatus::Failed,
            ReportedTaskState::Skipped => TaskStatus::Skipped(SkipReason::ByAgent),
        };
        row.attempt = row.attempt.max(1);
        row.started_at.get_or_insert(at);
        row.finished_at = Some(at);
        row.took_ms = 0;
        row.failure = (status == TaskStatus::Failed).then(|| {
            let why = report.evidence.first().map_or("the agent says no more", String::as_str);
            Arc::new(ExecutionFailure::new("reported", Category::Critical, why))
        });
        self.set_status(task, status) || !report.evidence.is_empty()
    }

    pub(super) fn apply_call(&mut self, event: &CallEvent, at: Timestamp) -> bool {
        let Some(task) = self.position(&event.call_id().task) else {
            return self.apply_nested(event);
        };
        let keeps_output = self.links.shell[task];
        let is_checked = self.links.checked[task];
        let many_at_once = self.links.own_agent[task];
        let row = &mut self.rows[task];
        match event {
            CallEvent::Intended { call, tool, input, repeat, file, .. } => {
                row.cut_short = None;
                row.steps += 1;
                let started = CallInFlight {
                    call: call.clone(),
                    tool: tool.clone(),
                    summary: input_summary(input),
                    intended_at: at,
                    repeat: *repeat,
                    file: file.clone(),
                    process: None,
                    output_lines: 0,
                    spooled: 0,
                    last_line: Arc::from(""),
                };
                start_call(row, started, many_at_once)
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
            CallEvent::Output { call, text, .. } | CallEvent::Spooled { call, tail: text, .. } => {
                match call_in_flight_mut(row, call) {
                    Some(open) => {
                        open.output_lines += printed_lines(event);
                        open.spooled = spool_end(open.spooled, event);
                        if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty())
                        {
                            open.last_line = first_line_shortened(line);
                        }
                        if keeps_output {
                            push_tail(&mut row.output_tail, text);
                        }
                        true
                    }
                    None => false,
                }
            }
            // A second outcome for the same call finds nothing in flight: it is counted and changes nothing.
            CallEvent::Concluded { call, outcome, usage, elapsed_ms, .. } => {
                match end_call(row, call) {
                    Some(ended) => {
                        if is_checked {
                            add_check_result(row, call, outcome, *elapsed_ms);
                        }
                        row.cut_short = Some(ended).filter(|_| *outcome == CallOutcome::Cancelled);
                        if row.call.is_none() {
                            row.nested.clear();
                        }
                        row.tokens = row.tokens.saturating_add(usage.tokens);
                        row.cost = row.cost.saturating_add(usage.cost);
                        row.last_outcome = Some(outcome.clone());
                        if let (1, CallOutcome::Exited { code }) = (call.step, outcome) {
                            row.exit_code = Some(*code);
                        }
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
            let same = row.beside.iter().find(|open| open.call == *call);
            return same.or(row.call.as_deref()).map(|open| open.tool.as_str());
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
            CallEvent::Output { .. } | CallEvent::Spooled { .. } => {
                outer.output_lines += printed_lines(event);
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
                self.reset_task(task);
            }
            self.rows[task].not_before = None;
        }
    }

    /// Puts a task back to its beginning.
    pub(super) fn reset_task(&mut self, task: usize) {
        let row = &mut self.rows[task];
        row.clear_calls();
        (row.started_at, row.finished_at) = (None, None);
        self.set_status(task, TaskStatus::Pending);
    }

    /// Changes a status and tells the tasks that wait for it. Returns whether anything changed.
    fn set_status(&mut self, task: usize, status: TaskStatus) -> bool {
        let before = self.rows[task].status;
        if before == status {
            return false;
        }
        let row = &mut self.rows[task];
        self.awaiting_close -= u32::from(row.is_awaiting_close());
        let was_ready = before == TaskStatus::Running && std::mem::take(&mut row.is_ready);
        row.status = status;
        (row.hold, row.awaiting_close, row.checks) = (None, None, None);
        *self.counts.slot_mut(before) -= 1;
        *self.counts.slot_mut(status) += 1;
        let point = u32::from(self.links.points[task]);
        *self.point_counts.slot_mut(before) -= point;
        *self.point_counts.slot_mut(status) += point;
        let wiring = Arc::clone(&self.links);
        let tolerated = wiring.tolerated[task];
        for &(dependent, need) in &wiring.dependents[task] {
            let served = need == DependencyNeed::Serving && was_ready;
            match (served || need.is_met_by(before, tolerated), need.is_met_by(status, tolerated)) {
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

    /// How many rows have each status, milestones included.
    pub fn status_counts(&self) -> TaskCounts {
        self.counts
    }

    /// How many tasks have each status, as people count them: a milestone is none. A plan of milestones alone counts
    /// those.
    pub fn work_counts(&self) -> TaskCounts {
        if self.point_counts.total() == self.counts.total() {
            return self.counts;
        }
        self.counts.without(self.point_counts)
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
            && self.links.dependencies[task].iter().all(|(on, need)| {
                let on = *on as usize;
                need.is_met_by_row(&self.rows[on], self.links.tolerated[on])
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

    /// Tasks whose end waits for this one.
    pub fn end_dependents(&self, task: usize) -> &[u32] {
        &self.links.end_dependents[task]
    }

    /// How many tasks count as running and only wait for their end.
    pub fn awaiting_close_count(&self) -> u32 {
        self.awaiting_close
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

    /// All tasks that cannot start any more once this one has failed, in the plan's order. Those that run after a failure
    /// can, and so can what depends on them.
    pub fn blocked_descendants(&self, task: usize) -> Vec<usize> {
        let mut seen = vec![false; self.rows.len()];
        let mut stack = vec![task];
        while let Some(next) = stack.pop() {
            for (dependent, need) in &self.links.dependents[next] {
                let dependent = *dependent as usize;
                if *need != DependencyNeed::Settled
                    && !std::mem::replace(&mut seen[dependent], true)
                {
                    stack.push(dependent);
                }
            }
        }
        seen[task] = false;
        (0..self.rows.len()).filter(|task| seen[*task]).collect()
    }

    /// On which end of what it depends on a task runs.
    pub fn run_condition(&self, task: usize) -> RunCondition {
        self.links.conditions[task]
    }

    /// Whether something that a task depends on has failed, or never ran because of a failure.
    pub fn follows_failure(&self, task: usize) -> bool {
        let failed = |on: usize| {
            let status = self.rows[on].status;
            status.is_settled() && !status.is_met()
        };
        self.dependencies(task).any(failed)
    }

    /// Whether a task failed in a way that the plan does not put up with.
    pub fn has_failures(&self) -> bool {
        self.counts.failed > 0
            && (0..self.rows.len()).any(|task| {
                self.rows[task].status == TaskStatus::Failed && !self.links.tolerated[task]
            })
    }

    /// Whether a run that ends now did what the plan is for: all is done, or need not be.
    pub fn is_successful(&self) -> bool {
        self.counts.done == self.counts.total()
            || (0..self.rows.len()).all(|task| match self.rows[task].status {
                TaskStatus::Done
                | TaskStatus::Skipped(SkipReason::NotNeeded | SkipReason::ConditionFalse) => true,
                TaskStatus::Failed => self.links.tolerated[task],
                _ => false,
            })
    }

    /// Whether the plan lets the task fail: nothing waits for it or fails because of it.
    pub fn is_tolerated(&self, task: usize) -> bool {
        self.links.tolerated[task]
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
                (TaskStatus::Running, _) if self.rows[task].is_at_work() => return false,
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
        let serving = self.rows.iter().filter(|row| row.is_ready).count() as u32;
        self.counts.yours > 0
            && self.counts.running == self.awaiting_close + serving
            && !(0..self.rows.len()).any(|task| self.is_ready(task) && !self.links.human[task])
    }

    /// Whether nothing failed and all that was not done was left out by the person.
    pub fn is_done_but_person_skips(&self) -> bool {
        self.rows.iter().zip(&self.links.tolerated).all(|(row, tolerated)| match row.status {
            TaskStatus::Done => true,
            TaskStatus::Skipped(reason) => matches!(
                reason,
                SkipReason::ByPerson
                    | SkipReason::DependencySkipped
                    | SkipReason::NotNeeded
                    | SkipReason::ConditionFalse
            ),
            TaskStatus::Failed => *tolerated,
            _ => false,
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

/// Keeps what the end of a command or of a check of its exit criteria says. What was cut short says nothing.
fn add_check_result(row: &mut TaskRow, call: &CallId, outcome: &CallOutcome, elapsed_ms: u64) {
    let succeeded = matches!(outcome, CallOutcome::Exited { code: 0 });
    match (call.step.checked_sub(2), &mut row.checks) {
        (None, checks) if succeeded => {
            *checks = Some(Box::new(CriterionChecks { elapsed_ms, ..CriterionChecks::default() }));
        }
        (Some(criterion), Some(checks))
            if !matches!(outcome, CallOutcome::Cancelled | CallOutcome::GivenUp) =>
        {
            checks.elapsed_ms = checks.elapsed_ms.saturating_add(elapsed_ms);
            checks.findings.insert(criterion as usize, succeeded);
        }
        _ => {}
    }
}

fn call_in_flight_mut<'a>(row: &'a mut TaskRow, call: &CallId) -> Option<&'a mut CallInFlight> {
    let all = row.call.as_deref_mut().into_iter().chain(&mut row.beside);
    all.into_iter().find(|open| open.call == *call)
}

/// Takes notice of a call that starts. Looks of one answer run beside each other; anything else runs alone, unless the
/// agent is one of the person's own, which makes its calls as it likes.
fn start_call(row: &mut TaskRow, started: CallInFlight, many_at_once: bool) -> bool {
    let looks = |call: &CallInFlight| call.repeat == RepeatClass::Safe;
    match row.call.as_deref() {
        Some(open)
            if (many_at_once || (looks(open) && looks(&started))) && open.call != started.call =>
        {
            row.beside.push(started);
            true
        }
        open => {
            let free = open.is_none();
            row.call = Some(Box::new(started));
            free
        }
    }
}

/// Takes a call out of those in flight; another one takes its place.
fn end_call(row: &mut TaskRow, call: &CallId) -> Option<Box<CallInFlight>> {
    if row.call.as_ref().is_some_and(|open| open.call == *call) {
        let ended = row.call.take();
        if !row.beside.is_empty() {
            row.call = Some(Box::new(row.beside.remove(0)));
        }
        return ended;
    }
    let at = row.beside.iter().position(|open| open.call == *call)?;
    Some(Box::new(row.beside.remove(at)))
}

/// How much of a command's output is kept for the tasks that build on it.
const OUTPUT_TAIL_BYTES: usize = 4_000;

/// Where a spool ends after an event about it.
fn spool_end(before: u64, event: &CallEvent) -> u64 {
    match event {
        CallEvent::Output { text, .. } => SpoolRange::following(before, text).to,
        CallEvent::Spooled { range, .. } => range.to,
        _ => before,
    }
}

/// How many lines an event adds to the output of its call.
fn printed_lines(event: &CallEvent) -> u64 {
    match event {
        CallEvent::Output { text, .. } => text.matches('\n').count() as u64,
        CallEvent::Spooled { lines, .. } => *lines,
        _ => 0,
    }
}

/// Appends output and keeps its end, from the beginning of a line if it has several.
fn push_tail(tail: &mut String, text: &str) {
    tail.push_str(text);
    let Some(extra) = tail.len().checked_sub(OUTPUT_TAIL_BYTES).filter(|extra| *extra > 0) else {
        return;
    };
    let mut cut = extra;
    while !tail.is_char_boundary(cut) {
        cut += 1;
    }
    let line = tail[cut..].find('\n').map(|end| cut + end + 1).filter(|start| *start < tail.len());
    tail.drain(..line.unwrap_or(cut));
}

fn add_millis(at: Timestamp, wait_ms: u64) -> Timestamp {
    let wait = jiff::SignedDuration::from_millis(i64::try_from(wait_ms).unwrap_or(i64::MAX));
    at.checked_add(wait).unwrap_or(Timestamp::MAX)
}

fn input_summary(input: &serde_json::Value) -> Arc<str> {
    let words = input.get("command").or_else(|| input.get("criterion"));
    match words.and_then(serde_json::Value::as_str) {
        Some(command) => first_line_shortened(command),
        None => first_line_shortened(&input.to_string()),
    }
}

/// The first line, cut to what a row on the screen can show.
fn first_line_shortened(text: &str) -> Arc<str> {
    text.lines().next().unwrap_or("").chars().take(160).collect::<String>().into()
}
