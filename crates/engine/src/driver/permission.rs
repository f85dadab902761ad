//! Commands of a plan that the person is asked about once more before they run.
//!
//! A command in a plan of the person's own is theirs, and approving the plan is enough. It is not where their policy has
//! every step asked, where a model wrote the command, or where the plan came from elsewhere.

use std::sync::Arc;

use super::Driver;
use planwright_model::event::ApprovalEvent;
use planwright_model::requests::{
    CommandAskReason, CommandPlacement, CommandQuestion, command_request,
};
use planwright_model::{
    ApprovalPolicy, Autonomy, CallId, ChoiceAction, Digest, NodeOrigin, RequestId, RequestKind,
    RunKind, SandboxChoice, TaskId, TaskNode,
};
use planwright_tools::permission::{SandboxState, find_danger};

impl Driver {
    /// Whether the command may start. If it may not, the person is being asked.
    pub(super) fn is_permitted(
        &mut self,
        task: usize,
        node: &TaskNode,
        call: &CallId,
        command: &str,
    ) -> bool {
        let Some(why) = self.permission_reason(node, command) else {
            self.withdraw_stale_requests(&call.task, "it is no longer asked about");
            return true;
        };
        // To run a call in doubt again is to allow this very call once.
        let own = |(task, step): &(TaskId, u32)| *task == call.task && *step == call.step;
        if let Some(at) = self.run_again.iter().position(own) {
            self.run_again.swap_remove(at);
            return true;
        }
        let place = &self.state.session.workspace;
        let input = Digest::from_json(&serde_json::json!({ "command": command, "place": place }));
        let about = |kind: &RequestKind| {
            matches!(kind, RequestKind::Permission { call: its, input: Some(asked), .. }
                if its == call && *asked == input)
        };
        let answered = &self.state.requests.answered;
        if answered.iter().any(|past| about(&past.kind) && past.action == ChoiceAction::AllowOnce) {
            return true;
        }
        if !self.state.requests.open.values().any(|open| about(&open.request.kind)) {
            self.withdraw_stale_requests(&call.task, "another command takes its place");
            let id = self.state.requests.next_id();
            let asked = CommandQuestion {
                call,
                description: &node.description,
                command,
                input,
                why,
                placement: self.command_placement(node),
                danger: find_danger(command),
                dependents: self.state.tasks.descendants(task).len(),
            };
            let request = command_request(id, &asked);
            self.record(ApprovalEvent::Asked { request: Arc::new(request) });
        }
        false
    }

    /// Where and how the command runs.
    fn command_placement(&self, node: &TaskNode) -> CommandPlacement {
        let workspace = self.state.session.workspace.clone();
        if !self.is_confined(node) {
            return CommandPlacement::Unconfined { workspace };
        }
        match self.options.executor.sandbox_state() {
            SandboxState::Enforced => CommandPlacement::Confined { workspace },
            SandboxState::NotEnforced { why } => {
                CommandPlacement::BareEnvironment { workspace, why }
            }
        }
    }

    /// A policy that no longer asks lets the commands go on that wait for an answer.
    pub(super) fn recheck_policy(&mut self) {
        let asked: Vec<TaskId> =
            self.state.requests.open.keys().filter_map(|id| self.asked_command(*id)).collect();
        for task in asked {
            self.recheck_permission(&task);
        }
    }

    /// Why a command is asked about before it runs, if it is.
    pub(super) fn permission_reason(
        &self,
        node: &TaskNode,
        command: &str,
    ) -> Option<CommandAskReason> {
        let policy = self.state.planning.interaction_policy();
        if policy.approval_policy == ApprovalPolicy::StrictEveryStep {
            return Some(CommandAskReason::EveryStep);
        }
        if policy.autonomy == Autonomy::Low {
            return Some(CommandAskReason::LowAutonomy);
        }
        if self.state.session.foreign {
            return Some(CommandAskReason::ForeignPlan);
        }
        if node.origin != NodeOrigin::AiAdaptation {
            return None;
        }
        if let Some(what) = find_danger(command) {
            return Some(CommandAskReason::Dangerous { what });
        }
        match self.options.executor.sandbox_state() {
            SandboxState::Enforced => None,
            SandboxState::NotEnforced { why } => Some(CommandAskReason::Unconfined { why }),
        }
    }

    /// Whether the command runs as a model's does.
    pub(super) fn is_confined(&self, node: &TaskNode) -> bool {
        node.sandbox == SandboxChoice::Workspace
            || node.origin == NodeOrigin::AiAdaptation
            || self.state.session.foreign
    }

    /// The command that a request asks about, if it is one of the plan's.
    pub(super) fn asked_command(&self, id: RequestId) -> Option<TaskId> {
        match &self.state.requests.open.get(&id)?.request.kind {
            RequestKind::Permission { call, .. } if self.is_shell_task(&call.task) => {
                Some(call.task.clone())
            }
            _ => None,
        }
    }

    pub(super) fn is_shell_task(&self, task: &TaskId) -> bool {
        let node = self.state.tasks.position(task).and_then(|task| self.task_node(task));
        node.is_some_and(|node| matches!(node.run, RunKind::Shell(_)))
    }

    /// Goes on with a command whose question is settled, and takes questions back that no longer make sense.
    pub(super) fn recheck_permission(&mut self, task: &TaskId) {
        let Some(position) = self.state.tasks.position(task) else { return };
        if self.state.tasks.row(position).status.is_settled() {
            self.withdraw_stale_requests(task, "the task is settled");
        } else if self.has_open_checks(position) {
            self.unchecked.push(position);
        } else {
            self.enqueue(position);
        }
    }
}
