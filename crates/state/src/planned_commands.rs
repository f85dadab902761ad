//! The commands of a plan that the person did not write, so that they are shown before they are approved.

use super::SessionState;
use planwright_model::{NodeOrigin, RunKind, TaskId};

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
            .filter_map(|task| match &task.run {
                RunKind::Shell(command) => Some(PlannedCommand {
                    task: &task.id,
                    command,
                    is_drafted: foreign || task.origin == NodeOrigin::AiAdaptation,
                }),
                RunKind::Agent {} | RunKind::Human {} => None,
            })
            .collect()
    }

    /// Those of them that the person did not write.
    pub fn drafted_commands(&self) -> Vec<PlannedCommand<'_>> {
        self.planned_commands().into_iter().filter(|planned| planned.is_drafted).collect()
    }
}
