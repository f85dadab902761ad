//! Tasks that may start: which they are, when they do, and what holds them back.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use super::{Driver, Start};
use crate::coordinator::adapt::{Pressure, load_per_core, next_jobs};
use crate::coordinator::queue::ReadyQueue;
use crate::{Durability, Job, TaskRef, caps, controller, coordinator};
use planwright_model::event::{
    ApprovalEvent, CallEvent, PauseCause, RepeatClass, RiskClass, RunEvent, TaskEvent,
};
use planwright_model::{CallId, Category, Digest, Failure, Repeat, RunKind, TaskNode};
use planwright_state::RunPhase;

impl Driver {
    pub(super) fn rebuild_queue(&mut self) {
        self.held.clear();
        let Some(current) = &self.state.plan.current else { return };
        let available = |tool: &str| {
            self.options.runner.has_tool(tool) && !self.refused.iter().any(|it| it == tool)
        };
        self.queue =
            ReadyQueue::new(&current.plan, &current.facts, self.options.features, available);
        for task in 0..self.state.tasks.len() {
            self.enqueue(task);
        }
    }

    /// Ranks anew when a tool's breaker has opened or lets calls through again: the key counts available tools alone.
    pub(super) fn follow_breakers(&mut self) {
        if !self.queue.goes_by_tools() {
            return;
        }
        let now = (self.options.clock)();
        let refused: Vec<String> = self.state.breakers.refusing(now).map(str::to_owned).collect();
        if refused != self.refused {
            self.refused = refused;
            self.rebuild_queue();
        }
    }

    /// Keeps the ready queue true after a task changed: only the task and its direct dependents can be affected.
    pub(super) fn on_task_changed(&mut self, event: &TaskEvent) {
        let Some(task) = self.state.tasks.position(event.task()) else { return };
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
            _ if self.is_human(task) => self.handovers.push(task),
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
            if self.state.tasks.is_ready(task) {
                self.queue.push(task);
            }
        }
    }

    pub(super) fn is_human(&self, task: usize) -> bool {
        self.node(task).is_some_and(|node| matches!(node.run, RunKind::Human {}))
    }

    pub(super) fn node(&self, task: usize) -> Option<&TaskNode> {
        self.state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task))
    }

    pub(super) fn nothing_left(&self) -> bool {
        self.held.is_empty() && self.is_at_rest()
    }

    fn is_at_rest(&self) -> bool {
        let counts = self.state.tasks.counts();
        self.running.is_empty()
            && self.queue.is_empty()
            && self.timers.is_empty()
            && counts.yours == 0
            && counts.running == 0
            && self.state.requests.open.is_empty()
    }

    /// Ends being offline once nothing but tasks of agents is left: they start, or what holds them is asked about.
    pub(super) fn back_online(&mut self) -> bool {
        if self.held.is_empty() || !self.is_at_rest() {
            return false;
        }
        self.say(RunEvent::OfflineSet { on: false });
        self.rebuild_queue();
        true
    }

    /// Holds the run and asks when a limit is reached.
    pub(super) fn hold_at_cap(&mut self) -> bool {
        let now = (self.options.clock)();
        let Some((cap, used, limit)) = caps::reached(&self.state, &self.options.caps, now) else {
            return false;
        };
        let request =
            controller::requests::cap(self.state.requests.next_id(), &self.state, cap, used, limit);
        self.say(RunEvent::Paused(PauseCause::Cap { cap }));
        self.say(ApprovalEvent::Asked { request: Arc::new(request) });
        true
    }

    /// Looks at load, breakers and rate limits, and changes how many tasks may run at once.
    pub(super) fn adapt(&mut self) {
        let now = (self.options.clock)();
        let pressure = Pressure {
            load_per_core: load_per_core(),
            open_breakers: self.state.breakers.not_closed(now).count() as u32,
            rate_limited: std::mem::take(&mut self.rate_limited),
            waiting: self.queue.len() as u32,
        };
        let from = self.options.jobs;
        if self.state.run.phase == RunPhase::Running
            && let Some((to, why)) = next_jobs(from, pressure)
        {
            self.options.jobs = to;
            self.say(RunEvent::JobsChanged { from, to, why });
        }
    }

    /// Starts a task that may start. One whose tool is refused waits until the tool is tried again.
    pub(super) fn begin_if_ready(&mut self, task: usize) {
        if !self.state.tasks.is_ready(task) {
            return;
        }
        let is_agent = self.node(task).is_some_and(|node| matches!(node.run, RunKind::Agent {}));
        if is_agent && self.state.run.offline {
            self.held.push(task);
            return;
        }
        let now = (self.options.clock)();
        let refused_ms = match self.node(task) {
            Some(node) => self.state.breakers.open_for_ms(self.options.runner.tool(node).0, now),
            None => 0,
        };
        if refused_ms > 0 && !self.is_human(task) {
            let again = now.saturating_add(SignedDuration::from_millis(refused_ms as i64));
            self.timers.push(Reverse((again.unwrap_or(now), task)));
        } else {
            self.begin(task);
        }
    }

    pub(super) fn begin(&mut self, task: usize) {
        let current = self.state.plan.current.as_ref();
        let Some(node) = current.and_then(|current| TaskRef::new(current, task)) else { return };
        let attempt = self.state.tasks.row(task).attempt + 1;
        let depth =
            self.state.plan.current.as_ref().and_then(|now| now.facts.depth.get(task)).copied();
        let started = TaskEvent::Started {
            task: node.id.clone(),
            attempt,
            depth: depth.unwrap_or(0),
            affinity_delta: coordinator::affinity_delta(&node, self.options.runner.tool(&node).0),
        };
        match &node.run {
            RunKind::Human {} => self.say(TaskEvent::HandedOver { task: node.id.clone() }),
            RunKind::Agent {} if self.options.runner.does_agents() => {
                self.say(started);
                self.begin_agent(task, &node, attempt);
            }
            RunKind::Agent {} => {
                self.say(started);
                let failure = Failure::new(
                    "no_model",
                    Category::Critical,
                    "no model is set up to do agent tasks",
                );
                self.say(TaskEvent::Failed {
                    task: node.id.clone(),
                    attempt,
                    elapsed_ms: 0,
                    failure,
                    retry_in_ms: None,
                });
                self.after_failure(task);
            }
            RunKind::Shell(command) => {
                let call = CallId { task: node.id.clone(), attempt, step: 1 };
                if !self.has_leave(task, &node, &call, command) {
                    return;
                }
                self.say(started);
                let intent = self.intent(&call, &node, command);
                self.say(intent);
                self.running.insert(call.clone(), CancellationToken::new());
                let workspace = PathBuf::from(&self.state.session.workspace);
                let safe =
                    node.repeat == Repeat::Safe && self.options.durability == Durability::Grouped;
                let session = self.journal.session().clone();
                let confined = self.is_confined(&node);
                let job = Job { session, call, task: node, workspace, confined, brief: None };
                if safe {
                    self.early.push(job);
                } else {
                    self.starts.push(Start::Job(Box::new(job)));
                }
            }
        }
    }

    pub(super) fn intent(&self, call: &CallId, node: &TaskNode, command: &str) -> CallEvent {
        let (tool, version) = self.options.runner.tool(node);
        let input = serde_json::json!({ "command": command });
        CallEvent::Intended {
            call: call.clone(),
            tool: tool.to_owned(),
            version: version.to_owned(),
            input_hash: Digest::of_json(&input),
            input,
            class: RiskClass::Execute,
            repeat: match node.repeat {
                Repeat::Safe => RepeatClass::Safe,
                Repeat::Ask => RepeatClass::Unsafe,
            },
            file: None,
        }
    }
}
