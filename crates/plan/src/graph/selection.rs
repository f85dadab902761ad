//! The key that determines the order of ready tasks.

use std::cmp::{Ordering, Reverse};

use planwright_model::TaskNode;

/// Orders ready tasks: priority descending, depth ascending, best affinity descending, tokens ascending, id ascending
/// by bytes. The smallest comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectionKey<'a> {
    pub priority: i64,
    pub depth: u32,
    pub affinity: f64,
    pub estimated_tokens: u64,
    pub id: &'a str,
}

impl<'a> SelectionKey<'a> {
    /// Creates the key of a task at a depth, with its best affinity over the tools that `available` accepts.
    pub fn new(task: &'a TaskNode, depth: u32, available: impl Fn(&str) -> bool) -> Self {
        Self {
            priority: task.priority,
            depth,
            // Adding zero turns a negative zero into the positive one, which `total_cmp` distinguishes.
            affinity: task.best_affinity(available) + 0.0,
            estimated_tokens: task.estimated_tokens,
            id: task.id.as_str(),
        }
    }
}

impl Eq for SelectionKey<'_> {}

impl Ord for SelectionKey<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        Reverse(self.priority)
            .cmp(&Reverse(other.priority))
            .then(self.depth.cmp(&other.depth))
            .then_with(|| other.affinity.total_cmp(&self.affinity))
            .then(self.estimated_tokens.cmp(&other.estimated_tokens))
            .then_with(|| self.id.cmp(other.id))
    }
}

impl PartialOrd for SelectionKey<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_16_ready_tasks_are_ordered_by_priority_then_depth_then_affinity() {
        let key = |id, priority, depth, affinity| SelectionKey {
            priority,
            depth,
            affinity,
            estimated_tokens: 500,
            id,
        };
        let mut ready =
            [key("a", 0, 1, 0.9), key("b", 0, 0, 0.4), key("c", 0, 0, 0.7), key("d", 1, 2, 0.1)];
        ready.sort();
        assert_eq!(ready.map(|key| key.id), ["d", "c", "b", "a"]);
    }

    #[test]
    fn fewer_tokens_and_then_the_smaller_id_break_ties() {
        let key = |id, estimated_tokens| SelectionKey {
            priority: 0,
            depth: 0,
            affinity: 0.0,
            estimated_tokens,
            id,
        };
        let mut ready = [key("b", 10), key("Z", 10), key("a", 20)];
        ready.sort();
        assert_eq!(ready.map(|key| key.id), ["Z", "b", "a"]);
    }
}
