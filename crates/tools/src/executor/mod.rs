//! Executors: whoever carries out attempts at tasks. Local processes are here, the built-in agent is in `engine`; the
//! driver cannot tell them apart, and every executor passes the same `conformance` suite.

mod attempt;
mod attempt_setup;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod environment_file;
mod launcher;
mod launcher_probe;
mod local_process;
mod results;
mod secret_vault;
mod service;
mod task_cache;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

pub use attempt::{
    AttemptEvent, AttemptEventSink, AttemptHasEnded, AttemptOutcome, AttemptReport, AttemptWork,
    TaskAttempt, TaskRef,
};
pub use environment_file::read_environment_file;
pub use launcher::CommandLauncher;
pub use launcher_probe::{ExecutorProbe, probe_launcher};
pub use local_process::{LocalProcessExecutor, NO_TERMINAL};
pub use results::{OUTPUT_VARIABLE, ResultStore};
pub use task_cache::TaskCache;

use crate::permission::SandboxState;
use planwright_model::{CallId, SessionId, TaskNode};

/// Runs one attempt of a task somewhere and reports what happens.
pub trait TaskExecutor: Send + Sync {
    /// The whole attempt. What happens meanwhile goes to `events`, before the end. Cancelling leads to a prompt end. It
    /// never fails: an error is an outcome. A panic fails this attempt and nothing else.
    fn start(
        &self,
        attempt: TaskAttempt,
        events: AttemptEventSink,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, AttemptOutcome>;

    /// Name and version of the tool that carries the task out.
    fn tool_identity(&self, task: &TaskNode) -> (&'static str, &'static str);

    /// Whether tasks of agents can be carried out.
    fn runs_agents(&self) -> bool {
        false
    }

    /// Whether commands can be confined here.
    fn sandbox_state(&self) -> SandboxState {
        SandboxState::Enforced
    }

    /// Whether an agent could be given the tool here: it is registered and set up.
    fn has_tool(&self, _name: &str) -> bool {
        true
    }

    /// How well the best tool among the available ones fits the task of an agent; none where no tool is chosen.
    fn computed_affinity(
        &self,
        _task: &TaskNode,
        _available: &dyn Fn(&str) -> bool,
    ) -> Option<f64> {
        None
    }

    /// The exit criteria of an attempt are met: it may be used again where it would only be repeated.
    fn confirm_attempt(&self, _session: &SessionId, _call: &CallId) {}

    /// Reads on what an attempt prints that outlived the process that started it, until it has ended. The events are those of
    /// the attempt, from `journaled` bytes of its spool on. An executor whose attempts end with it has nothing to read.
    fn collect_leftover_output<'a>(
        &'a self,
        _session: &'a SessionId,
        _call: &'a CallId,
        _task: &'a TaskNode,
        _journaled: u64,
        _events: AttemptEventSink,
    ) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Ends what outlives single attempts, once the session is over.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
