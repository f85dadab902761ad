//! Neighbors of every task in two flat arrays.

/// For each task a slice of other tasks, all slices in one array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskAdjacency {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl TaskAdjacency {
    pub(super) fn with_capacity(nodes: usize, edges: usize) -> Self {
        let mut starts = Vec::with_capacity(nodes + 1);
        starts.push(0);
        Self { starts, items: Vec::with_capacity(edges) }
    }

    #[inline]
    pub(super) fn push(&mut self, item: u32) {
        self.items.push(item);
    }

    /// Ends the slice of the current task.
    #[inline]
    pub(super) fn end_slice(&mut self) {
        self.starts.push(self.items.len() as u32);
    }

    /// Removes and returns the items from `start` on, which belong to a slice that is not ended yet.
    pub(super) fn split_off_items(&mut self, start: usize) -> Vec<u32> {
        self.items.split_off(start)
    }

    /// Combines the start of each task's slice with the items of all slices.
    pub(super) fn from_parts(starts: impl ExactSizeIterator<Item = u32>, items: Vec<u32>) -> Self {
        let mut all = Vec::with_capacity(starts.len() + 1);
        all.extend(starts);
        all.push(items.len() as u32);
        Self { starts: all, items }
    }

    /// Returns the neighbors of a task.
    #[inline]
    pub fn neighbors(&self, index: u32) -> &[u32] {
        &self.items[self.range(index)]
    }

    /// Returns the range of the neighbors of a task in the flat array.
    #[inline]
    pub(super) fn range(&self, index: u32) -> std::ops::Range<usize> {
        self.starts[index as usize] as usize..self.starts[index as usize + 1] as usize
    }

    pub(super) fn items(&self) -> &[u32] {
        &self.items
    }

    /// Returns the number of tasks.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of links.
    pub fn edge_count(&self) -> usize {
        self.items.len()
    }

    /// Reorders one value per link from this order to that of `reversed`.
    pub(super) fn transpose_values(&self, reversed: &Self, values: &[i64]) -> Vec<i64> {
        let mut cursor = reversed.starts.clone();
        let mut moved = vec![0; values.len()];
        for (item, value) in self.items.iter().zip(values) {
            let place = &mut cursor[*item as usize];
            moved[*place as usize] = *value;
            *place += 1;
        }
        moved
    }
}
