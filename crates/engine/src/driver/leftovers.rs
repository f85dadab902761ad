//! Commands that an earlier process of Planwright started and that are still running.

use std::sync::Arc;
use std::time::Duration;

use super::Driver;
use crate::controller::requests::session_in_doubt_request;
use planwright_model::CallId;
use planwright_model::event::{ApprovalEvent, CallEvent, CallOutcome};
use planwright_model::requests::CallEvidence;
use planwright_tools::{AttemptEventSink, process};

/// How often it is looked whether a command has ended. It is not our child, so that nothing tells.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What is known about the end of a command that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeftoverEnd {
    Unknown,
    /// The person stopped it.
    Stopped,
}

impl Driver {
    fn process_mark(&self, call: &CallId) -> String {
        format!("{}/{call}", self.journal.session())
    }

    /// Ends what is left of a call. This waits: what takes its place must not run beside it.
    pub(super) fn end_leftovers(&self, call: &CallId) {
        let ended = process::end_leftovers(&self.process_mark(call));
        tracing::info!(%call, ?ended, "the processes of an earlier run were ended");
    }

    /// Waits until the command of a call has ended by itself. What it prints meanwhile is read.
    pub(super) fn await_leftovers(&mut self, call: CallId) {
        let mark = self.process_mark(&call);
        let session = self.journal.session().clone();
        let executor = Arc::clone(&self.options.executor);
        let events = AttemptEventSink::new(call.clone(), self.reports_in.clone());
        self.leftover_calls.insert(call.clone(), LeftoverEnd::Unknown);
        let ended = call.clone();
        let Some(place) = self.state.tasks.position(&call.task) else { return };
        let Some(task) = self.task_node(place).cloned() else { return };
        let open = self.state.tasks.row(place).call.as_ref().filter(|open| open.call == call);
        let journaled = open.map_or(0, |open| open.spooled);
        self.awaited.spawn(async move {
            let gone = async {
                wait_until_gone(mark).await;
                // What it left in its pipes is there at once.
                tokio::time::sleep(LOOK_EVERY).await;
            };
            let reading =
                executor.collect_leftover_output(&session, &call, &task, journaled, events);
            tokio::pin!(gone, reading);
            // Whoever has no pipes to read is done at once; the command may go on.
            tokio::select! {
                () = &mut reading => gone.await,
                () = &mut gone => {}
            }
            ended
        });
    }

    /// Ends a command that is waited for, if this is one. What it printed is still read, and its task is settled then.
    pub(super) fn stop_leftover(&mut self, call: &CallId) {
        if let Some(end) = self.leftover_calls.get_mut(call) {
            *end = LeftoverEnd::Stopped;
            self.end_leftovers(call);
        }
    }

    /// Ends all commands that are waited for, as this process ends its own when somebody stops the run.
    pub(super) fn end_all_leftovers(&mut self) {
        let waited: Vec<CallId> = self.leftover_calls.keys().cloned().collect();
        for call in &waited {
            self.end_leftovers(call);
        }
    }

    /// A command that was waited for has ended. How is not known unless it was stopped: the person decides what that means.
    pub(super) fn settle_leftover(&mut self, call: &CallId) {
        let end = self.leftover_calls.remove(call);
        let Some(task) = self.state.tasks.position(&call.task) else { return };
        let Some(open) = self.state.tasks.row(task).call.clone().filter(|open| open.call == *call)
        else {
            return;
        };
        if end == Some(LeftoverEnd::Stopped) {
            let outcome = CallOutcome::Cancelled;
            let started = self.state.tasks.row(task).started_at;
            let took =
                started.map_or(0, |at| (self.options.clock)().duration_since(at).as_millis());
            self.record(CallEvent::concluded_without_output(call.clone(), outcome.clone()));
            return self.end_attempt(call, &outcome, u64::try_from(took).unwrap_or_default());
        }
        let evidence = match open.process {
            Some((pid, _)) => CallEvidence::ProcessGone(pid),
            None => CallEvidence::NoProcess,
        };
        let id = self.state.requests.next_id();
        let request = session_in_doubt_request(id, &self.state, task, &open, evidence);
        self.record(ApprovalEvent::Asked { request: Arc::new(request) });
    }
}

/// Looks for the processes with a mark until there are none.
async fn wait_until_gone(mark: String) {
    loop {
        let own = mark.clone();
        let found = tokio::task::spawn_blocking(move || process::find_leftovers(&own)).await;
        if found.is_ok_and(|found| found.is_empty()) {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
