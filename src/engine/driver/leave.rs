//! Commands of a plan that the person is asked about once more before they run.
//!
//! A command in a plan of the person's own is theirs, and approving the plan is enough. It is not where their policy has
//! every step asked, where a model wrote the command, or where the plan came from elsewhere.

use std::sync::Arc;

use super::Driver;
use crate::engine::controller;
use crate::event::ApprovalEvent;
use crate::model::{
    ApprovalPolicy, Autonomy, CallId, ChoiceAction, Origin, RequestId, RequestKind, RunKind,
    SandboxChoice, TaskId, TaskNode,
};
use crate::tools::permission::{SandboxState, danger};

impl Driver {
    /// Whether the command may start. If it may not, the person is being asked.
    pub(super) fn has_leave(
        &mut self,
        task: usize,
        node: &TaskNode,
        call: &CallId,
        command: &str,
    ) -> bool {
        let Some(why) = self.asks_first(node, command) else { return true };
        let about = |kind: &RequestKind| matches!(kind, RequestKind::Permission { call: own, .. } if own == call);
        let answered = &self.state.requests.answered;
        if answered.iter().any(|past| about(&past.kind) && past.action == ChoiceAction::AllowOnce) {
            return true;
        }
        if !self.state.requests.open.values().any(|open| about(&open.request.kind)) {
            let id = self.state.requests.next_id();
            let confined = self.is_confined(node);
            let request = controller::requests::command(
                id,
                &self.state,
                task,
                call,
                command,
                (&why, confined),
            );
            self.say(ApprovalEvent::Asked { request: Arc::new(request) });
        }
        false
    }

    /// Why a command is asked about before it runs, if it is.
    fn asks_first(&self, node: &TaskNode, command: &str) -> Option<String> {
        let policy = self.state.planning.policy();
        if policy.approval_policy == ApprovalPolicy::StrictEveryStep {
            return Some("your policy has every step asked".to_owned());
        }
        if policy.autonomy == Autonomy::Low {
            return Some("your policy gives low autonomy: every command is asked".to_owned());
        }
        if self.state.session.foreign {
            return Some("the plan came from elsewhere; each of its commands is asked".to_owned());
        }
        if node.origin != Origin::AiAdaptation {
            return None;
        }
        if let Some(what) = danger(command) {
            return Some(format!("a model wrote it: {what}, so it always asks"));
        }
        match self.options.runner.sandbox() {
            SandboxState::Enforced => None,
            SandboxState::NotEnforced { why } => {
                Some(format!("a model wrote it, and it would run unconfined: {why}"))
            }
        }
    }

    /// Whether the command runs as a model's does.
    pub(super) fn is_confined(&self, node: &TaskNode) -> bool {
        node.sandbox == SandboxChoice::Workspace
            || node.origin == Origin::AiAdaptation
            || self.state.session.foreign
    }

    /// The command that a request asks about, if it is one of the plan's.
    pub(super) fn command_asked_in(&self, id: RequestId) -> Option<TaskId> {
        match &self.state.requests.open.get(&id)?.request.kind {
            RequestKind::Permission { call, .. } if self.is_command(&call.task) => {
                Some(call.task.clone())
            }
            _ => None,
        }
    }

    pub(super) fn is_command(&self, task: &TaskId) -> bool {
        let node = self.state.tasks.position(task).and_then(|task| self.node(task));
        node.is_some_and(|node| matches!(node.run, RunKind::Shell(_)))
    }

    /// Goes on with a command whose question is settled, and takes questions back that no longer make sense.
    pub(super) fn follow_leave(&mut self, task: &TaskId) {
        let Some(position) = self.state.tasks.position(task) else { return };
        if self.state.tasks.row(position).status.is_settled() {
            self.withdraw_stale(task, "the task is settled");
        } else {
            self.enqueue(position);
        }
    }
}
