//! Services: they run while others need them, and end when the last of those has ended.

use super::Driver;
use planwright_model::event::{CallOutcome, TaskEvent};
use planwright_model::{CallId, Category, ExecutionFailure};
use planwright_state::TaskStatus;
use planwright_state::trace::outcome_text;

impl Driver {
    /// Follows a change of a task: services that nobody needs any more are ended, and one that is needed again starts.
    pub(super) fn sync_services(&mut self, event: &TaskEvent, task: usize) {
        if self.services.is_empty() {
            return;
        }
        if matches!(event, TaskEvent::Reset { .. }) {
            self.reset_services_of(task);
        }
        for service in self.services.clone() {
            if self.is_service_idle(service) {
                self.stop_service(service);
            }
        }
    }

    /// How many services run. They take no place of those that need them.
    pub(super) fn serving_count(&self) -> usize {
        if self.services.is_empty() {
            return 0;
        }
        let is_service = |call: &&CallId| {
            let task = self.state.tasks.position(&call.task);
            task.is_some_and(|task| self.services.contains(&task))
        };
        self.running.keys().filter(is_service).count()
    }

    /// Whether a service runs and all that need it have ended.
    fn is_service_idle(&self, service: usize) -> bool {
        let tasks = &self.state.tasks;
        tasks.row(service).status == TaskStatus::Running
            && tasks.dependents(service).all(|other| tasks.row(other).status.is_settled())
    }

    fn stop_service(&mut self, service: usize) {
        let id = self.state.tasks.id(service);
        let own = self.running.iter().find(|(call, _)| call.task == *id && call.step == 1);
        if let Some((call, cancel)) = own {
            cancel.cancel();
            self.stopping.insert(call.clone());
        }
    }

    /// A service that has ended is there again for a task that is run again.
    fn reset_services_of(&mut self, task: usize) {
        let tasks = &self.state.tasks;
        let ended: Vec<usize> = tasks
            .dependencies(task)
            .filter(|on| self.services.contains(on) && tasks.row(*on).status == TaskStatus::Done)
            .collect();
        for service in ended {
            let task = self.state.tasks.id(service).clone();
            let why = "a task that needs it runs again".to_owned();
            self.record(TaskEvent::Reset { task, why });
        }
    }

    /// Settles a service that has ended. `false` if the call is none of a service.
    pub(super) fn end_service(
        &mut self,
        call: &CallId,
        outcome: &CallOutcome,
        elapsed_ms: u64,
    ) -> bool {
        let Some(task) = self.state.tasks.position(&call.task) else { return false };
        if !self.services.contains(&task) || call.step != 1 {
            return false;
        }
        let verdict = if self.stopping.remove(call) {
            Ok(())
        } else if *outcome == CallOutcome::Cancelled {
            return false;
        } else {
            let ready =
                if self.state.tasks.row(task).is_ready { "" } else { " before it was ready" };
            let message = format!("the service ended{ready}: {}", outcome_text(outcome));
            Err(ExecutionFailure::new("service_ended", Category::Critical, message))
        };
        let ended = if verdict.is_ok() { CallOutcome::Exited { code: 0 } } else { outcome.clone() };
        self.apply_verdict(call, verdict, &ended, elapsed_ms);
        true
    }
}
