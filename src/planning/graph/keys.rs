//! The parts of the selection key that do not depend on the graph.

/// Affinity, tokens and priority of all tasks, in their order.
#[derive(Debug)]
pub(super) struct Keys {
    /// Empty as long as all are alike, which is common and saves memory and time.
    statics: Vec<u128>,
    /// Likewise.
    priorities: Vec<i64>,
    first: (u128, i64),
    count: usize,
    capacity: usize,
    ids_rise: bool,
}

impl Keys {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        let first = (0, 0);
        let (statics, priorities) = (Vec::new(), Vec::new());
        Self { statics, priorities, first, count: 0, capacity, ids_rise: true }
    }

    /// Adds a task. Its affinity is not negative.
    #[inline]
    pub(super) fn push(&mut self, priority: i64, affinity: f64, tokens: u64) {
        // The bits of a positive number order as it does; inverted, the highest comes first.
        let key = u128::from(!affinity.to_bits()) << 64 | u128::from(tokens);
        if self.count == 0 {
            self.first = (key, priority);
        }
        push_unless_alike(&mut self.statics, key, self.first.0, self.count, self.capacity);
        push_unless_alike(&mut self.priorities, priority, self.first.1, self.count, self.capacity);
        self.count += 1;
    }

    pub(super) fn ids_fall(&mut self) {
        self.ids_rise = false;
    }

    /// Whether the ids rise from task to task, as generated ones do.
    #[inline]
    pub(super) fn ids_rise(&self) -> bool {
        self.ids_rise
    }

    /// Whether all tasks have the same affinity and tokens.
    pub(super) fn are_alike(&self) -> bool {
        self.statics.is_empty()
    }

    /// Whether tasks of the same depth and priority go in the order of the list.
    pub(super) fn follow_the_list(&self) -> bool {
        self.are_alike() && self.ids_rise
    }

    pub(super) fn has_one_priority(&self) -> bool {
        self.priorities.is_empty()
    }

    /// Affinity and tokens as one number; the smallest goes first.
    #[inline]
    pub(super) fn key(&self, index: u32) -> u128 {
        self.statics.get(index as usize).copied().unwrap_or(self.first.0)
    }

    #[inline]
    pub(super) fn priority(&self, index: u32) -> i64 {
        self.priorities.get(index as usize).copied().unwrap_or(self.first.1)
    }

    /// The lowest and the highest priority.
    pub(super) fn priority_bounds(&self) -> (i64, i64) {
        let first = (self.first.1, self.first.1);
        self.priorities.iter().fold(first, |(lowest, highest), &priority| {
            (lowest.min(priority), highest.max(priority))
        })
    }
}

/// Keeps a list empty until a value differs from the first, then fills it up.
#[inline]
fn push_unless_alike<T: Copy + PartialEq>(
    list: &mut Vec<T>,
    value: T,
    first: T,
    count: usize,
    capacity: usize,
) {
    if list.is_empty() {
        if value == first {
            return;
        }
        list.reserve_exact(capacity);
        list.resize(count, first);
    }
    list.push(value);
}
