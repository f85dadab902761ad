//! What a tool may use while it runs: the workspace, permits, services of the program, and progress reports.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::call::{CallObserver, FinishedCall, ToolInvocation};
use super::invoke::Toolbox;
use super::meta::{ToolEffect, ToolMeta};
use super::subtasks::SubtaskRunner;
use super::todo::TodoList;
use planwright_model::agent_work::ChildState;
use planwright_model::event::OutputStream;
use planwright_model::{CallId, TaskId};

/// Which tools a caller may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these, if any are named.
    pub only: Option<BTreeSet<String>>,
    pub without: BTreeSet<String>,
    /// Only reading, in the workspace or on the network.
    pub read_only: bool,
}

/// The tools that start others.
pub const EXPLORE: &str = "explore_context";
pub const PARALLEL: &str = "parallel_execute";

impl ToolFilter {
    /// What a question of `explore_context` may use: read-only tools, and no nesting.
    pub fn for_exploring() -> Self {
        Self { read_only: true, ..Self::for_executing() }.without_tool(EXPLORE)
    }

    /// What a subtask of `parallel_execute` may use: everything but itself.
    pub fn for_executing() -> Self {
        Self::default().without_tool(PARALLEL)
    }

    /// Removes one more tool.
    pub fn without_tool(mut self, name: &str) -> Self {
        self.without.insert(name.to_owned());
        self
    }

    /// The tools that both filters allow.
    pub fn intersect(mut self, other: &Self) -> Self {
        self.only = match (self.only, &other.only) {
            (Some(mine), Some(theirs)) => Some(mine.intersection(theirs).cloned().collect()),
            (mine, theirs) => mine.or_else(|| theirs.clone()),
        };
        self.without.extend(other.without.iter().cloned());
        self.read_only |= other.read_only;
        self
    }

    pub fn admits(&self, meta: &ToolMeta) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&meta.name))
            && !self.without.contains(&meta.name)
            && (!self.read_only || meta.read_only)
    }
}

/// A progress report of a running call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "progress", rename_all = "snake_case")]
pub enum CallProgress {
    Spawned {
        pid: u32,
        started_ticks: u64,
    },
    Output {
        stream: OutputStream,
        text: String,
    },
    /// A subtask of the call, shown as a child of the calling task.
    Child {
        child: TaskId,
        title: String,
        state: ChildState,
    },
}

/// The permits of a session (`--jobs`), shared by the coordinator and the tools that start others.
#[derive(Clone, Debug)]
pub struct PermitPool(Arc<Semaphore>);

/// A permit that is returned when it is dropped.
#[derive(Debug)]
pub struct JobPermit {
    _permit: Option<OwnedSemaphorePermit>,
}

impl PermitPool {
    pub fn new(jobs: usize) -> Self {
        Self(Arc::new(Semaphore::new(jobs.max(1))))
    }

    /// Shares existing permits.
    pub fn from_semaphore(semaphore: Arc<Semaphore>) -> Self {
        Self(semaphore)
    }

    pub async fn acquire(&self) -> JobPermit {
        // The semaphore is never closed; if it were, work would continue without a limit rather than stop.
        JobPermit { _permit: Arc::clone(&self.0).acquire_owned().await.ok() }
    }

    /// Waits for a permit unless the task is canceled: ending a task needs no permit.
    pub async fn acquire_unless_cancelled(&self, cancel: &CancellationToken) -> Option<JobPermit> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            permit = self.acquire() => Some(permit),
        }
    }

    pub fn available(&self) -> usize {
        self.0.available_permits()
    }
}

/// The permit that a caller holds while it runs, so that it can be released for nested work.
#[derive(Clone, Debug, Default)]
pub struct HeldPermit(Arc<Mutex<Option<JobPermit>>>);

impl HeldPermit {
    pub fn new(permit: JobPermit) -> Self {
        Self(Arc::new(Mutex::new(Some(permit))))
    }

    /// Returns the permit while awaiting something that needs none, and acquires one again afterward. After a
    /// cancellation none is acquired: the caller may only end, and must not wait for others.
    pub async fn release_while<T>(
        &self,
        permits: &PermitPool,
        cancel: &CancellationToken,
        work: impl Future<Output = T>,
    ) -> T {
        let lent = self.take().is_some();
        let value = work.await;
        if lent && let Some(permit) = permits.acquire_unless_cancelled(cancel).await {
            self.put(permit);
        }
        value
    }

    fn take(&self) -> Option<JobPermit> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, permit: JobPermit) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
    }
}

/// Searches memory for `memory.search`.
pub trait MemoryIndex: Send + Sync {
    /// The best hits for some words, best first.
    fn search(&self, query: &str, limit: usize) -> Result<Vec<MemoryHit>, String>;
}

/// A memory entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryHit {
    pub key: Option<String>,
    pub text: String,
    pub tags: Vec<String>,
    /// From 0 to 1, the first hit being 1.
    pub score: f64,
}

/// Stores the approved definitions of foreign tools.
pub trait PinStore: Send + Sync {
    /// The approved hash of a tool.
    fn approved_hash(&self, tool: &str) -> Option<planwright_model::Digest>;

    /// The definition that was stored with the approval, if any.
    fn approved_definition(&self, _tool: &str) -> Option<String> {
        None
    }
}

/// What the program provides to tools. A tool reports that it is not available if a service is missing.
#[derive(Clone, Default)]
pub struct ToolboxServices {
    pub memory: Option<Arc<dyn MemoryIndex>>,
    pub todo: Option<Arc<dyn Fn() -> TodoList + Send + Sync>>,
    pub subtasks: Option<Arc<dyn SubtaskRunner>>,
    pub pins: Option<Arc<dyn PinStore>>,
    /// Asks a model once for edges between tasks: pairs of positions, from and to, with a confidence.
    pub edges: Option<Arc<dyn super::subtasks::EdgeInference>>,
}

impl std::fmt::Debug for ToolboxServices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolboxServices").finish_non_exhaustive()
    }
}

/// What one call may use.
#[derive(Clone, Debug)]
pub struct ToolContext {
    pub toolbox: Toolbox,
    pub call: CallId,
    pub cancel: CancellationToken,
    /// What nested calls may use.
    pub filter: ToolFilter,
    pub held: HeldPermit,
    /// Is told what the call reports.
    pub observer: Option<CallObserver>,
    /// Variables that a command sees besides.
    pub variables: Vec<(String, String)>,
    /// What was done inside this call.
    pub(super) nested_usage: Arc<NestedUsage>,
}

/// What a call did through nested calls.
#[derive(Debug, Default)]
pub(super) struct NestedUsage {
    steps: AtomicU32,
    network: AtomicBool,
}

impl ToolContext {
    pub fn report_progress(&self, progress: CallProgress) {
        if let Some(CallObserver(observe)) = &self.observer {
            observe(&progress);
        }
        self.toolbox.call_host().record_progress(&self.call, progress);
    }

    /// Makes a nested call on behalf of this one, with the same checks as any call.
    pub async fn call_nested(&self, tool: &str, args: Value) -> FinishedCall {
        let step = 1 + self.nested_usage.steps.fetch_add(1, Ordering::Relaxed);
        let effect = self.toolbox.registry().get(tool).map(|tool| tool.meta().effect);
        if effect == Some(ToolEffect::Network) {
            self.nested_usage.network.store(true, Ordering::Relaxed);
        }
        let mut call = ToolInvocation::new(self.nested_id(step), tool, args);
        call.filter = self.filter.clone();
        call.cancel = self.cancel.clone();
        call.held = self.held.clone();
        self.toolbox.invoke(call).await
    }

    /// Whether a nested call used the network.
    pub fn used_network(&self) -> bool {
        self.nested_usage.network.load(Ordering::Relaxed)
    }

    fn nested_id(&self, step: u32) -> CallId {
        let CallId { task, attempt, step: own } = &self.call;
        CallId { task: TaskId::from(format!("{task}.{own}")), attempt: *attempt, step }
    }

    /// The context of a subtask, which is a child of the calling task.
    pub fn child_context(&self, position: usize, filter: ToolFilter, held: HeldPermit) -> Self {
        let CallId { task, attempt, step } = &self.call;
        let task = TaskId::from(format!("{task}.{step}.{}", position + 1));
        Self {
            toolbox: self.toolbox.clone(),
            call: CallId { task, attempt: *attempt, step: 0 },
            cancel: self.cancel.clone(),
            filter: filter.intersect(&self.filter),
            held,
            observer: None,
            variables: Vec::new(),
            nested_usage: Arc::default(),
        }
    }

    /// Returns the caller's permit while awaiting nested work, and acquires one again afterward.
    pub async fn release_permit_while<T>(&self, work: impl Future<Output = T>) -> T {
        self.held.release_while(self.toolbox.permits(), &self.cancel, work).await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_canceled_task_ends_without_a_free_permit() {
        let (permits, cancel) = (PermitPool::new(1), CancellationToken::new());
        let held = HeldPermit::new(permits.acquire().await);
        let work = async {
            let other = permits.acquire().await;
            cancel.cancel();
            other
        };
        let other = held.release_while(&permits, &cancel, work).now_or_never();
        assert!(other.is_some(), "it waits for the permit of another task");
        drop(other);
        assert_eq!(permits.available(), 1, "it took none");
    }

    #[tokio::test]
    async fn a_cancellation_ends_the_wait_for_a_permit() {
        let (permits, cancel) = (PermitPool::new(1), CancellationToken::new());
        let held = HeldPermit::new(permits.acquire().await);
        let mut lent = Box::pin(held.release_while(&permits, &cancel, permits.acquire()));
        assert!((&mut lent).now_or_never().is_none(), "the other task has the only permit");
        cancel.cancel();
        assert!(lent.now_or_never().is_some());
    }
}
