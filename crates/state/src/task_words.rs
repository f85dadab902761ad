//! Tasks as people read them: titles instead of ids, and why a task was skipped.

use planwright_model::{SkipReason, TaskId};

use crate::{SessionState, TaskStatus};

/// What a tool call does, without the tool's own name: a command as it is, `read src/error.rs`, `edit src/error.rs`.
pub(crate) fn describe_tool_call(tool: &str, what: &str) -> String {
    let verb = match tool {
        "shell.run" => return what.to_owned(),
        "file.read" => "read",
        "file.write" => "write",
        "file.edit" => "edit",
        _ => return format!("{}  {what}", tool.replace('.', " ")),
    };
    format!("{verb} {what}")
}

/// The words of an action of an agent, which begin with the name of its tool.
pub(crate) fn describe_action(content: &str) -> String {
    match content.split_once("  ") {
        Some((tool, what)) if tool.contains('.') && !tool.contains(' ') => {
            describe_tool_call(tool, what)
        }
        _ => content.to_owned(),
    }
}

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
