//! What attempts leave behind, and who is told about the run.

use std::path::PathBuf;

use super::{DeferredAction, Driver};
use crate::RunNotice;
use planwright_model::event::{CallOutcome, TaskEvent};
use planwright_model::{CallId, Category, ExecutionFailure, NotifyCause};
use planwright_state::RunPhase;

impl Driver {
    /// Records what an attempt left behind. What it should have left and did not fails it.
    pub(super) fn record_results(&mut self, call: &CallId, outcome: &mut CallOutcome) {
        let left = self.results.remove(call);
        let node = self.state.tasks.position(&call.task).and_then(|task| self.task_node(task));
        let Some(node) = node.filter(|node| node.options.leaves_results() || left.is_some()) else {
            return;
        };
        if call.step != 1 || *outcome != (CallOutcome::Exited { code: 0 }) {
            return;
        }
        let (results, reused) = left.unwrap_or_default();
        let missing = node.options.outputs.keys().find(|name| !results.outputs.contains_key(*name));
        if let Some(name) = missing {
            let message = format!("it left no output {name}");
            let failure = ExecutionFailure::new("results_missing", Category::Critical, message);
            *outcome = CallOutcome::Errored { failure };
            return;
        }
        let CallId { task, attempt, .. } = call.clone();
        if reused.is_some() {
            self.up_to_date.insert(task.clone());
        } else {
            self.up_to_date.remove(&task);
        }
        self.record(TaskEvent::ResultsKept { task, attempt, results, reused });
    }

    /// Has somebody told, if the plan wants that, once what happened is durable.
    pub(super) fn queue_notice(&mut self, cause: NotifyCause, text: &str) {
        let is_running =
            matches!(self.state.run.phase, RunPhase::Running | RunPhase::Finished { .. });
        let notify = self.state.plan.current.as_ref().and_then(|plan| plan.plan.notify.as_ref());
        let Some(notify) = notify.filter(|it| is_running && it.on.contains(&cause)) else { return };
        let notice = RunNotice {
            session: self.journal.session().clone(),
            cause,
            text: planwright_text::clean_line(text).into_owned(),
            command: notify.command.clone(),
            workspace: PathBuf::from(&self.state.session.workspace),
        };
        self.starts.push(DeferredAction::Notify(Box::new(notice)));
    }

    pub(super) fn queue_end_notices(&mut self, success: bool) {
        let title = self.state.session.title.clone();
        let words = if success { "finished" } else { "failed" };
        let text = format!("{title}: {words}");
        if !success {
            self.queue_notice(NotifyCause::Failed, &text);
        }
        self.queue_notice(NotifyCause::End, &text);
    }
}
