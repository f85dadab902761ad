//! The commands of a plan that the person did not write, so that they are shown before they are approved.

use super::SessionState;
use planwright_model::{ExitCriterion, NodeOrigin, RunKind, TaskId};

/// A command of the current plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedCommand<'a> {
    pub task: &'a TaskId,
    /// Byte for byte as it would run.
    pub command: &'a str,
    /// A model wrote it, or it came from elsewhere.
    pub is_drafted: bool,
}

impl SessionState {
    /// Every command of the current plan, in its order.
    pub fn planned_commands(&self) -> Vec<PlannedCommand<'_>> {
        let tasks = self.plan.current.iter().flat_map(|revision| &revision.plan.tasks);
        let foreign = self.session.foreign;
        tasks
            .flat_map(|task| {
                let own = match &task.run {
                    RunKind::Shell(command) => Some(command.as_str()),
                    RunKind::Agent(_) | RunKind::Human {} => None,
                };
                // Those that check an agent's work run without another question.
                let checks = task.exit_criteria.iter().filter_map(|criterion| match criterion {
                    ExitCriterion::Command { command, .. } => Some(command.as_str()),
                    _ => None,
                });
                own.into_iter().chain(checks).map(move |command| PlannedCommand {
                    task: &task.id,
                    command,
                    is_drafted: foreign || task.origin == NodeOrigin::AiAdaptation,
                })
            })
            .collect()
    }

    /// Those of them that the person did not write.
    pub fn drafted_commands(&self) -> Vec<PlannedCommand<'_>> {
        self.planned_commands().into_iter().filter(|planned| planned.is_drafted).collect()
    }
}
