//! Which failure each skipped task is skipped for.

use std::collections::BTreeMap;

use super::{TaskStatus, TaskTable};

/// The skipped tasks by what they were skipped for: a failed task, or one that the person skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkipRoots {
    under: BTreeMap<usize, Vec<usize>>,
    root: BTreeMap<usize, usize>,
}

impl SkipRoots {
    /// Looks at all tasks once. A task that several failures hold up counts under the first of them in the plan.
    pub fn from_tasks(tasks: &TaskTable) -> Self {
        let mut found = Self::default();
        let counts = tasks.status_counts();
        if counts.skipped == 0 {
            return found;
        }
        let is_root = |task: &usize| {
            let status = tasks.row(*task).status;
            status == TaskStatus::Failed || status.is_met() && status != TaskStatus::Done
        };
        for root in (0..tasks.len()).filter(is_root) {
            let mut stack = vec![root];
            while let Some(task) = stack.pop() {
                for next in tasks.dependents(task) {
                    let status = tasks.row(next).status;
                    let skipped = matches!(status, TaskStatus::Skipped(_)) && !status.is_met();
                    if skipped && !found.root.contains_key(&next) {
                        found.root.insert(next, root);
                        stack.push(next);
                    }
                }
            }
        }
        for (task, root) in &found.root {
            found.under.entry(*root).or_default().push(*task);
        }
        found
    }

    /// The tasks skipped because of this one, in the order of the plan.
    pub fn skipped_because_of(&self, task: usize) -> &[usize] {
        self.under.get(&task).map_or(&[], Vec::as_slice)
    }

    /// The task because of which this one is skipped.
    pub fn root_of(&self, task: usize) -> Option<usize> {
        self.root.get(&task).copied()
    }
}
