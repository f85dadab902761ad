//! What keeps tasks from starting or ending although their dependencies are met: times, shared resources, and links that
//! tie their end to another task.

use std::cmp::Reverse;

use jiff::SignedDuration;

use super::Driver;
use crate::coordinator::resources::ResourceLedger;
use crate::coordinator::values::is_condition_met;
use planwright_model::event::TaskEvent;
use planwright_model::{RunCondition, SkipReason, TaskHold};
use planwright_state::CloseHold;

/// How soon a pool of the machine is asked for again.
const POOL_RETRY: SignedDuration = SignedDuration::from_millis(500);

impl Driver {
    /// Counts anew who uses what, and who only waits for its end or for its checks to be resumed.
    pub(super) fn rebuild_holds(&mut self) {
        let Some(current) = &self.state.plan.current else { return };
        self.resources = ResourceLedger::new(&current.plan);
        let tasks = current.plan.tasks.iter().enumerate();
        self.services = tasks
            .filter(|(_, node)| node.options.service.is_some())
            .map(|(task, _)| task)
            .collect();
        self.leases.clear();
        (self.closable, self.unchecked) = (Vec::new(), Vec::new());
        for task in 0..self.state.tasks.len() {
            let row = self.state.tasks.row(task);
            if row.is_at_work() {
                self.resources.sync_task(task, true);
            }
            if row.awaiting_close.is_some() {
                self.closable.push(task);
            }
            if row.checks.is_some() && row.call.is_none() {
                self.unchecked.push(task);
            }
        }
    }

    /// Follows a change of a task: what it used is free again, and ends that waited for it may come.
    pub(super) fn sync_holds(&mut self, task: usize) {
        let is_at_work = self.state.tasks.row(task).is_at_work();
        if !is_at_work {
            self.leases.remove(&task);
        }
        for woken in self.resources.sync_task(task, is_at_work) {
            self.enqueue(woken);
        }
        let waiting = self.state.tasks.end_dependents(task);
        self.closable.extend(waiting.iter().map(|dependent| *dependent as usize));
    }

    /// Whether a task that may start has to wait for its time or for a resource. It is told once.
    pub(super) fn is_held(&mut self, task: usize) -> bool {
        let now = (self.options.clock)();
        if let Some((at, cause)) = self.state.start_time(task).filter(|(at, _)| *at > now) {
            self.timers.push(Reverse((at, task)));
            self.record_hold(task, TaskHold::Until { at, cause });
            return true;
        }
        let Some(pool) = self.resources.missing_resource(task) else {
            return !self.take_machine_pools(task);
        };
        let tasks = &self.state.tasks;
        let hold = self.resources.describe_hold(pool, |user| tasks.id(user).clone());
        for woken in self.resources.park_task(task, self.queue.rank(task), pool) {
            self.enqueue(woken);
        }
        self.record_hold(task, hold);
        true
    }

    /// Takes what a task needs of the machine's pools, all or nothing. Another run may give it back at any time, so that
    /// it is tried again soon.
    fn take_machine_pools(&mut self, task: usize) -> bool {
        let current = self.state.plan.current.clone();
        let (Some(current), Some(pools)) = (current, &self.options.machine_pools) else {
            return true;
        };
        if current.plan.machine_pools.is_empty() || self.leases.contains_key(&task) {
            return true;
        }
        let Some(node) = current.plan.tasks.get(task) else { return true };
        let mut taken = Vec::new();
        for (name, units) in &node.resources {
            if *units == 0 || !current.plan.machine_pools.contains(name) {
                continue;
            }
            let capacity = current.plan.resources.get(name).copied().unwrap_or(*units);
            match pools.try_take(name, capacity, *units) {
                Ok(Some(lease)) => taken.push(lease),
                Ok(None) => return self.wait_for_pool(task, name, capacity),
                Err(error) => {
                    tracing::warn!(%error, pool = name, "a pool of the machine cannot be used");
                    return self.wait_for_pool(task, name, capacity);
                }
            }
        }
        if !taken.is_empty() {
            self.leases.insert(task, taken);
        }
        true
    }

    fn wait_for_pool(&mut self, task: usize, name: &str, capacity: u32) -> bool {
        let again = (self.options.clock)().saturating_add(POOL_RETRY);
        self.timers.push(Reverse((again.unwrap_or((self.options.clock)()), task)));
        let (name, users) = (name.to_owned(), Vec::new());
        self.record_hold(task, TaskHold::Resource { name, capacity, used: capacity, users });
        false
    }

    /// Leaves out a task that runs only after a failure, when nothing failed, one whose condition is false, and one that
    /// no agent was to try.
    pub(super) fn skip_unneeded(&mut self, task: usize) -> bool {
        let tasks = &self.state.tasks;
        let is_unneeded =
            tasks.run_condition(task) == RunCondition::Failed && !tasks.follows_failure(task);
        let reason = if is_unneeded {
            SkipReason::NotNeeded
        } else if self.task_node(task).is_some_and(|node| !is_condition_met(&self.state, node)) {
            SkipReason::ConditionFalse
        } else if let Some(reason) = self.skip_reason_of_tries(task) {
            reason
        } else {
            return false;
        };
        let task = tasks.id(task).clone();
        self.record(TaskEvent::Skipped { task, reason });
        true
    }

    fn record_hold(&mut self, task: usize, hold: TaskHold) {
        // Who else uses a resource by now is no news to whoever waits for it.
        let is_known = match (self.state.tasks.row(task).hold.as_deref(), &hold) {
            (Some(TaskHold::Resource { name, .. }), TaskHold::Resource { name: new, .. }) => {
                name == new
            }
            (known, new) => known == Some(new),
        };
        if !is_known {
            let task = self.state.tasks.id(task).clone();
            self.record(TaskEvent::Held { task, hold });
        }
    }

    /// Ends the tasks whose work is done and whose end nothing holds any more.
    pub(super) fn close_finished_tasks(&mut self) {
        while let Some(task) = self.closable.pop() {
            let row = self.state.tasks.row(task);
            let (Some(elapsed_ms), attempt) = (row.awaiting_close, row.attempt) else { continue };
            match self.state.close_hold(task, (self.options.clock)()) {
                None => {
                    let id = self.state.tasks.id(task).clone();
                    self.record_completion(task, TaskEvent::completed(id, attempt, elapsed_ms));
                }
                Some(CloseHold::Until { at, .. }) => self.timers.push(Reverse((at, task))),
                Some(CloseHold::Task(_)) => {}
            }
        }
    }

    /// Forgets times of tasks that wait for them no longer, so that they do not keep the run from ending.
    pub(super) fn prune_timers(&mut self) {
        if self.running.is_empty() && self.queue.is_empty() {
            let tasks = &self.state.tasks;
            self.timers.retain(|Reverse((_, task))| {
                *task < tasks.len()
                    && (tasks.is_ready(*task) || tasks.row(*task).awaiting_close.is_some())
            });
        }
    }
}
