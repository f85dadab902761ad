//! Tasks as people read them: titles instead of ids, and why a task was skipped.

use planwright_model::{SkipReason, TaskId};

use crate::{SessionState, TaskStatus};

impl SessionState {
    /// The title of the task with this id; the id where the plan does not know it.
    pub fn title_by_id<'a>(&'a self, task: &'a TaskId) -> &'a str {
        let position = self.tasks.position(task);
        let title = position.map_or("", |at| self.task_title(at).trim());
        if title.is_empty() { task.as_str() } else { title }
    }

    /// The task because of which another was skipped: the nearest one before it that failed or was skipped by hand.
    pub fn skip_cause(&self, task: usize) -> Option<usize> {
        let mut seen = vec![false; self.tasks.len()];
        let mut next = std::collections::VecDeque::from([task]);
        while let Some(at) = next.pop_front() {
            for before in self.tasks.dependencies(at) {
                if std::mem::replace(&mut seen[before], true) {
                    continue;
                }
                match self.tasks.row(before).status {
                    TaskStatus::Failed | TaskStatus::Skipped(SkipReason::ByPerson) => {
                        return Some(before);
                    }
                    TaskStatus::Skipped(_) => next.push_back(before),
                    _ => {}
                }
            }
        }
        None
    }

    /// Why a task was skipped: "because Fuzz for 2 minutes failed".
    pub fn describe_skip(&self, task: usize, reason: SkipReason) -> String {
        let cause = match reason {
            SkipReason::DependencyFailed | SkipReason::DependencySkipped => self.skip_cause(task),
            _ => None,
        };
        match cause {
            Some(cause) => {
                let title = self.task_title(cause);
                let what = match self.tasks.row(cause).status {
                    TaskStatus::Failed => "failed",
                    _ => "was skipped",
                };
                format!("because {title} {what}")
            }
            None => reason.describe().to_owned(),
        }
    }
}
