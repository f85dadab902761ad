//! The parts of the selection key that do not depend on the graph.

/// Affinity, tokens and priority of all tasks, in their order.
#[derive(Debug)]
pub(super) struct SelectionKeyColumns {
    /// Affinity and tokens, rounded. Empty as long as all are equal, which is common and saves memory and time.
    rounded: Vec<u64>,
    /// Priorities; likewise empty as long as all are equal.
    priorities: Vec<i64>,
    first: (f64, u64, i64),
    count: usize,
    capacity: usize,
    ids_rise: bool,
}

impl SelectionKeyColumns {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        let (rounded, priorities) = (Vec::new(), Vec::new());
        Self { rounded, priorities, first: (0.0, 0, 0), count: 0, capacity, ids_rise: true }
    }

    /// Adds a task.
    #[inline]
    pub(super) fn push(&mut self, priority: i64, affinity: f64, tokens: u64) {
        if self.count == 0 {
            self.first = (affinity, tokens, priority);
        }
        let alike = affinity.to_bits() == self.first.0.to_bits() && tokens == self.first.1;
        if !(alike && self.rounded.is_empty()) {
            let first = round_key(self.first.0, self.first.1);
            push_after_first(
                &mut self.rounded,
                round_key(affinity, tokens),
                first,
                self.count,
                self.capacity,
            );
        }
        if !(priority == self.first.2 && self.priorities.is_empty()) {
            push_after_first(
                &mut self.priorities,
                priority,
                self.first.2,
                self.count,
                self.capacity,
            );
        }
        self.count += 1;
    }

    /// Sets whether the ids increase from task to task, as generated ones do.
    pub(super) fn set_ids_rise(&mut self, ids_rise: bool) {
        self.ids_rise = ids_rise;
    }

    #[inline]
    pub(super) fn ids_rise(&self) -> bool {
        self.ids_rise
    }

    /// Returns the number of tasks.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Returns whether all tasks have the same affinity and tokens.
    pub(super) fn are_alike(&self) -> bool {
        self.rounded.is_empty()
    }

    /// Returns whether tasks of the same depth and priority keep the order of the list.
    pub(super) fn keep_list_order(&self) -> bool {
        self.are_alike() && self.ids_rise
    }

    pub(super) fn has_one_priority(&self) -> bool {
        self.priorities.is_empty()
    }

    /// Returns affinity and tokens as a number below 2⁴⁰ that never orders two tasks incorrectly, but may be equal for
    /// different ones.
    #[inline]
    pub(super) fn rounded_key(&self, index: u32) -> u64 {
        self.rounded.get(index as usize).copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn priority(&self, index: u32) -> i64 {
        self.priorities.get(index as usize).copied().unwrap_or(self.first.2)
    }

    /// Returns the lowest and the highest priority.
    pub(super) fn priority_bounds(&self) -> (i64, i64) {
        let bounds = (self.first.2, self.first.2);
        self.priorities.iter().fold(bounds, |(lowest, highest), &priority| {
            (lowest.min(priority), highest.max(priority))
        })
    }
}

/// Twenty bits for the affinity, the highest first, and twenty for the tokens.
#[inline]
fn round_key(affinity: f64, tokens: u64) -> u64 {
    const STEPS: u64 = (1 << 20) - 1;
    let affinity = ((1.0 - affinity.min(1.0)) * STEPS as f64) as u64;
    affinity << 20 | tokens.min(STEPS)
}

/// Adds a value to a list that stayed empty while all values equaled the first.
#[inline]
fn push_after_first<T: Copy>(list: &mut Vec<T>, value: T, first: T, count: usize, capacity: usize) {
    if list.is_empty() {
        list.reserve_exact(capacity);
        list.resize(count, first);
    }
    list.push(value);
}
