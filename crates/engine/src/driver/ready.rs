//! Tasks that may start: which they are, when they do, and what holds them back.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use super::{DeferredAction, Driver};
use crate::coordinator::adapt::{JobPressure, load_per_core, next_jobs, processor_count};
use crate::coordinator::queue::ReadyQueue;
use crate::coordinator::values::computed_variables;
use crate::{CallDurability, caps, controller, coordinator};
use planwright_model::event::{
    ApprovalEvent, CallEvent, PauseCause, RepeatClass, RiskClass, RunEvent, TaskEvent,
};
use planwright_model::{
    CallId, Category, Digest, ExecutionFailure, RepeatPolicy, RunKind, TaskNode,
};
use planwright_state::RunPhase;
use planwright_tools::{AttemptWork, TaskAttempt, TaskRef};

impl Driver {
    pub(super) fn rebuild_queue(&mut self) {
        self.held.clear();
        let Some(current) = &self.state.plan.current else { return };
        let available = |tool: &str| {
            self.options.executor.has_tool(tool) && !self.refused.iter().any(|it| it == tool)
        };
        let computed = |task: &TaskNode| self.options.executor.computed_affinity(task, &available);
        let (plan, facts) = (&current.plan, &current.facts);
        self.queue = ReadyQueue::new(plan, facts, self.options.features, available, computed);
        self.rebuild_holds();
        for task in 0..self.state.tasks.len() {
            self.enqueue(task);
        }
    }

    /// Says of breakers that opened, try their tool again or closed.
    pub(super) fn announce_breakers(&mut self) {
        let now = (self.options.clock)();
        for (tool, state) in self.state.breakers.unannounced_changes(now) {
            let wait = self.state.breakers.open_for_ms(&tool, now);
            let retry_in_ms = (wait > 0).then_some(wait);
            self.record(RunEvent::BreakerChanged { tool, state, retry_in_ms });
        }
    }

    /// Ranks anew when a tool's breaker has opened or lets calls through again: the key counts available tools alone.
    pub(super) fn sync_breakers(&mut self) {
        if !self.queue.depends_on_tools() {
            return;
        }
        let now = (self.options.clock)();
        let refused: Vec<String> =
            self.state.breakers.refusing_tools(now).map(str::to_owned).collect();
        if refused != self.refused {
            self.refused = refused;
            self.rebuild_queue();
        }
    }

    /// Keeps the ready queue true after a task changed: only the task and its direct dependents can be affected.
    pub(super) fn on_task_changed(&mut self, event: &TaskEvent) {
        if matches!(event, TaskEvent::Held { .. }) {
            return;
        }
        let Some(task) = self.state.tasks.position(event.task_id()) else { return };
        self.sync_holds(task);
        self.sync_services(event, task);
        self.enqueue(task);
        for nth in 0.. {
            let Some(dependent) = self.state.tasks.nth_dependent(task, nth) else { break };
            self.enqueue(dependent);
        }
    }

    pub(super) fn enqueue(&mut self, task: usize) {
        if !self.state.tasks.is_ready(task) {
            return;
        }
        match self.state.tasks.row(task).not_before {
            Some(at) if at > (self.options.clock)() => self.timers.push(Reverse((at, task))),
            _ if self.is_human_task(task) => self.handovers.push(task),
            _ => self.queue.push(task),
        }
    }

    pub(super) fn on_timer(&mut self) {
        let now = (self.options.clock)();
        while let Some(Reverse((at, task))) = self.timers.peek().copied() {
            if at > now {
                return;
            }
            self.timers.pop();
            if task >= self.state.tasks.len() {
                continue;
            }
            if self.state.tasks.is_ready(task) {
                self.queue.push(task);
            } else if self.state.tasks.row(task).awaiting_close.is_some() {
                self.closable.push(task);
            }
        }
    }

    pub(super) fn is_human_task(&self, task: usize) -> bool {
        self.task_node(task).is_some_and(|node| matches!(node.run, RunKind::Human {}))
    }

    pub(super) fn task_node(&self, task: usize) -> Option<&TaskNode> {
        self.state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task))
    }

    pub(super) fn is_run_over(&self) -> bool {
        self.held.is_empty() && self.is_idle()
    }

    fn is_idle(&self) -> bool {
        let counts = self.state.tasks.status_counts();
        self.running.is_empty()
            && self.queue.is_empty()
            && self.timers.is_empty()
            && counts.yours == 0
            && counts.running == self.state.tasks.awaiting_close_count()
            && self.state.requests.open.is_empty()
    }

    /// Ends being offline once nothing but tasks of agents is left: they start, or what holds them is asked about.
    pub(super) fn resume_online(&mut self) -> bool {
        if self.held.is_empty() || !self.is_idle() {
            return false;
        }
        self.record(RunEvent::OfflineSet { on: false });
        self.rebuild_queue();
        true
    }

    /// Holds the run and asks when a limit is reached.
    pub(super) fn pause_at_cap(&mut self) -> bool {
        let now = (self.options.clock)();
        let Some(reached @ (cap, ..)) = caps::reached_cap(&self.state, &self.options.caps, now)
        else {
            return false;
        };
        let id = self.state.requests.next_id();
        let request = controller::requests::session_cap_request(id, &self.state, reached, None);
        self.record(RunEvent::Paused(PauseCause::Cap { cap }));
        self.record(ApprovalEvent::Asked { request: Arc::new(request) });
        true
    }

    /// How long it is until the run reaches its limit of time, while something runs that would not notice.
    pub(super) fn wall_time_left(&self) -> Option<std::time::Duration> {
        if self.state.run.phase != RunPhase::Running || self.closing.is_some() {
            return None;
        }
        caps::wall_time_left(&self.state, &self.options.caps, (self.options.clock)())
    }

    /// Looks at load, breakers and rate limits, and changes how many tasks may run at once.
    pub(super) fn adapt_jobs(&mut self) {
        let now = (self.options.clock)();
        let pressure = JobPressure {
            load_per_core: load_per_core(),
            open_breakers: self.state.breakers.unclosed_breakers(now).count() as u32,
            rate_limited: std::mem::take(&mut self.rate_limited),
            waiting: self.queue.len() as u32,
        };
        let from = self.options.jobs;
        if self.state.run.phase == RunPhase::Running
            && let Some((to, why)) = next_jobs(from, processor_count(), pressure)
        {
            self.options.jobs = to;
            self.record(RunEvent::JobsChanged { from, to, why });
        }
    }

    /// Starts a task that may start. One whose tool is refused waits until the tool is tried again.
    pub(super) fn start_if_ready(&mut self, task: usize) {
        if !self.state.tasks.is_ready(task) || self.skip_unneeded(task) {
            return;
        }
        let is_agent =
            self.task_node(task).is_some_and(|node| matches!(node.run, RunKind::Agent(_)));
        if is_agent && self.state.run.offline {
            self.held.push(task);
            return;
        }
        let now = (self.options.clock)();
        let refused_ms = match self.task_node(task) {
            Some(node) => {
                self.state.breakers.open_for_ms(self.options.executor.tool_identity(node).0, now)
            }
            None => 0,
        };
        if refused_ms > 0 && !self.is_human_task(task) {
            let again = now.saturating_add(SignedDuration::from_millis(refused_ms as i64));
            self.timers.push(Reverse((again.unwrap_or(now), task)));
        } else if !self.is_held(task) {
            self.start_task(task);
        }
    }

    pub(super) fn start_task(&mut self, task: usize) {
        let current = self.state.plan.current.as_ref();
        let Some(node) = current.and_then(|current| TaskRef::new(&current.plan, task)) else {
            return;
        };
        let attempt = self.state.tasks.row(task).attempt + 1;
        let depth =
            self.state.plan.current.as_ref().and_then(|now| now.facts.depth.get(task)).copied();
        let started = TaskEvent::Started {
            task: node.id.clone(),
            attempt,
            depth: depth.unwrap_or(0),
            affinity_delta: coordinator::affinity_delta(
                &node,
                self.options.executor.tool_identity(&node).0,
            ),
        };
        match &node.run {
            RunKind::Human {} => self.record(TaskEvent::HandedOver { task: node.id.clone() }),
            RunKind::Agent(_) if self.options.executor.runs_agents() => {
                self.record(started);
                self.start_agent(&node, attempt);
            }
            RunKind::Agent(_) => {
                self.record(started);
                let failure = ExecutionFailure::new(
                    "no_model",
                    Category::Critical,
                    "no model is set up to do agent tasks",
                );
                self.fail_start(task, attempt, failure);
            }
            RunKind::Shell(command) => {
                let call = CallId { task: node.id.clone(), attempt, step: 1 };
                if !self.is_permitted(task, &node, &call, command) {
                    return;
                }
                self.record(started);
                let variables = match computed_variables(&self.state, &node) {
                    Ok(variables) => variables,
                    Err(failure) => return self.fail_start(task, attempt, failure),
                };
                let intent = self.call_intent(&call, &node, command);
                self.record(intent);
                self.running.insert(call.clone(), CancellationToken::new());
                let workspace = PathBuf::from(&self.state.session.workspace);
                let safe = node.repeat == RepeatPolicy::Safe
                    && self.options.durability == CallDurability::Grouped;
                let session = self.journal.session().clone();
                let confined = self.is_confined(&node);
                let work = AttemptWork::Task;
                let attempt =
                    TaskAttempt { session, call, task: node, work, workspace, confined, variables };
                if safe {
                    self.early.push(attempt);
                } else {
                    self.starts.push(DeferredAction::Attempt(Box::new(attempt)));
                }
            }
        }
    }

    /// Ends an attempt that cannot begin.
    fn fail_start(&mut self, task: usize, attempt: u32, failure: ExecutionFailure) {
        let id = self.state.tasks.id(task).clone();
        self.record(TaskEvent::Failed {
            task: id,
            attempt,
            elapsed_ms: 0,
            failure,
            retry_in_ms: None,
        });
        if !self.task_node(task).is_some_and(|node| node.continue_on_error) {
            self.skip_after_failure(task);
        }
    }

    pub(super) fn call_intent(&self, call: &CallId, node: &TaskNode, command: &str) -> CallEvent {
        let (tool, version) = self.options.executor.tool_identity(node);
        let input = serde_json::json!({ "command": command });
        CallEvent::Intended {
            call: call.clone(),
            tool: tool.to_owned(),
            version: version.to_owned(),
            input_hash: Digest::from_json(&input),
            input,
            class: RiskClass::Execute,
            repeat: match node.repeat {
                // A service is there for others, and may always be started again.
                _ if node.options.service.is_some() => RepeatClass::Safe,
                RepeatPolicy::Safe => RepeatClass::Safe,
                RepeatPolicy::Ask => RepeatClass::Unsafe,
            },
            file: None,
        }
    }
}
