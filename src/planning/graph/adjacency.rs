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

    /// The same links seen from the other end, with `carried` (one value a link, or none) moved along.
    pub(super) fn reversed(&self, carried: &[i64]) -> (Self, Vec<i64>) {
        let mut starts = vec![0u32; self.len() + 1];
        for item in &self.items {
            starts[*item as usize + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut cursor = starts.clone();
        let mut items = vec![0u32; self.items.len()];
        let mut moved = vec![0i64; carried.len()];
        for index in 0..self.len() as u32 {
            for edge in self.range(index) {
                let place = &mut cursor[self.items[edge] as usize];
                items[*place as usize] = index;
                if let Some(value) = carried.get(edge) {
                    moved[*place as usize] = *value;
                }
                *place += 1;
            }
        }
        (Self { starts, items }, moved)
    }
}
