//! What becomes of a run when nobody does anything.

use crate::{RunPhase, SessionState};
use planwright_model::TaskNode;

impl SessionState {
    /// Whether work goes on without the person: something is under way, or starts once its time has come or what it waits
    /// for is free.
    pub fn goes_on_by_itself(&self) -> bool {
        let tasks = &self.tasks;
        let is_under_way = tasks.status_counts().running > 0;
        match self.run.phase {
            RunPhase::Running => {
                let starts = |task: usize| tasks.is_ready(task) && !tasks.is_human(task);
                is_under_way || (0..tasks.len()).any(starts)
            }
            RunPhase::Paused => is_under_way,
            RunPhase::Idle | RunPhase::Interrupted | RunPhase::Finished { .. } => false,
        }
    }

    /// The first task that still needs the person's terminal.
    pub fn waiting_for_terminal(&self) -> Option<&TaskNode> {
        let current = self.plan.current.as_ref()?;
        let mut tasks = current.plan.tasks.iter().enumerate();
        let found = tasks.find(|(task, node)| {
            node.options.interactive
                && *task < self.tasks.len()
                && !self.tasks.row(*task).status.is_settled()
        });
        found.map(|(_, node)| node)
    }
}
