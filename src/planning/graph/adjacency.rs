//! Neighbours of every task in two flat arrays.

/// For each task a slice of other tasks, all slices in one array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjacency {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Adjacency {
    pub(super) fn with_capacity(nodes: usize, edges: usize) -> Self {
        let mut starts = Vec::with_capacity(nodes + 1);
        starts.push(0);
        Self { starts, items: Vec::with_capacity(edges) }
    }

    #[inline]
    pub(super) fn push(&mut self, item: u32) {
        self.items.push(item);
    }

    /// Takes back the items from `start` on, which belong to a slice that is not ended yet.
    pub(super) fn cut(&mut self, start: usize) -> Vec<u32> {
        self.items.split_off(start)
    }

    /// Ends the slice of the current task.
    #[inline]
    pub(super) fn close(&mut self) {
        self.starts.push(self.items.len() as u32);
    }

    /// The neighbours of a task.
    #[inline]
    pub fn of(&self, index: u32) -> &[u32] {
        &self.items[self.range(index)]
    }

    /// Where the neighbours of a task lie in the flat array.
    #[inline]
    pub(super) fn range(&self, index: u32) -> std::ops::Range<usize> {
        self.starts[index as usize] as usize..self.starts[index as usize + 1] as usize
    }

    pub(super) fn items(&self) -> &[u32] {
        &self.items
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many links there are.
    pub fn edges(&self) -> usize {
        self.items.len()
    }

    /// The same links seen from the other end. `successors` holds the task of each link; `counts` says how often each
    /// task is a neighbour.
    pub(super) fn reversed(&self, successors: &[u32], mut counts: Vec<u32>) -> Self {
        let mut end = 0;
        for count in &mut counts {
            end += *count;
            *count = end;
        }
        counts.push(end);
        // Filled from the back, each end moves down to become the start of its slice.
        let mut items = vec![0u32; self.items.len()];
        for (&item, &successor) in self.items.iter().zip(successors).rev() {
            let place = &mut counts[item as usize];
            *place -= 1;
            items[*place as usize] = successor;
        }
        Self { starts: counts, items }
    }

    /// Moves one value a link from this order to that of `reversed`.
    pub(super) fn carry(&self, reversed: &Self, values: &[i64]) -> Vec<i64> {
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
