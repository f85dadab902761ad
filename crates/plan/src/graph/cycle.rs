//! Finds one shortest cycle. Runs only if there is one, so it may be slow, but not unbounded.

use std::collections::VecDeque;
use std::fmt;

use super::adjacency::TaskAdjacency;
use planwright_model::{TaskId, TaskNode};

/// Tasks that depend on each other, each before the one that depends on it; the first is repeated at the end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TaskCycle {
    pub path: Vec<TaskId>,
}

impl fmt::Display for TaskCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, id) in self.path.iter().enumerate() {
            if position > 0 {
                f.write_str(" → ")?;
            }
            write!(f, "{id}")?;
        }
        Ok(())
    }
}

/// Finds one shortest cycle. Tasks are tried by increasing id, so that shuffled input gives the same cycle.
pub(super) fn find_shortest_cycle(tasks: &[TaskNode], dependents: &TaskAdjacency) -> TaskCycle {
    let mut by_id: Vec<u32> = (0..tasks.len() as u32).collect();
    by_id.sort_by(|a, b| tasks[*a as usize].id.cmp(&tasks[*b as usize].id));
    let mut search = CycleSearch::new(&by_id, dependents);
    let found = search.run();
    let path = found.iter().map(|&place| tasks[by_id[place] as usize].id.clone()).collect();
    TaskCycle { path }
}

/// The part of the graph that can still contain a cycle, its tasks numbered by increasing id.
struct CycleSearch {
    after: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
    alive: Vec<bool>,
    /// The number of remaining tasks after and before each task.
    degrees: Vec<[usize; 2]>,
    /// Where a search came from, with the number of that search, so that it need not be cleared.
    came_from: Vec<(usize, usize)>,
}

impl CycleSearch {
    fn new(by_id: &[u32], dependents: &TaskAdjacency) -> Self {
        let mut place = vec![0; by_id.len()];
        for (at, &index) in by_id.iter().enumerate() {
            place[index as usize] = at;
        }
        let mut after = vec![Vec::new(); by_id.len()];
        let mut before = vec![Vec::new(); by_id.len()];
        for (at, &index) in by_id.iter().enumerate() {
            after[at] = dependents.neighbors(index).iter().map(|&to| place[to as usize]).collect();
            after[at].sort_unstable();
            after[at].dedup();
            for &to in &after[at] {
                before[to].push(at);
            }
        }
        let degrees = after.iter().zip(&before).map(|(a, b)| [a.len(), b.len()]).collect();
        let (alive, came_from) = (vec![true; by_id.len()], vec![(0, usize::MAX); by_id.len()]);
        Self { after, before, alive, degrees, came_from }
    }

    /// Searches from each task in turn and then removes it, since all cycles through it are known by then.
    fn run(&mut self) -> Vec<usize> {
        for at in 0..self.alive.len() {
            if self.alive[at] && self.degrees[at].contains(&0) {
                self.remove_task(at);
            }
        }
        let mut best: Vec<usize> = Vec::new();
        for start in 0..self.alive.len() {
            if !self.alive[start] {
                continue;
            }
            let longest = if best.is_empty() { usize::MAX } else { best.len() - 2 };
            if let Some(path) = self.shortest_through(start, longest) {
                best = path;
            }
            if best.len() == 2 {
                break;
            }
            self.remove_task(start);
        }
        best
    }

    /// Removes a task, and with it all tasks that are left without predecessors or successors.
    fn remove_task(&mut self, task: usize) {
        self.alive[task] = false;
        let mut removed = vec![task];
        while let Some(at) = removed.pop() {
            for (side, list) in [&self.before[at], &self.after[at]].into_iter().enumerate() {
                for &other in list {
                    self.degrees[other][side] -= 1;
                    if self.alive[other] && self.degrees[other][side] == 0 {
                        self.alive[other] = false;
                        removed.push(other);
                    }
                }
            }
        }
    }

    /// Returns the shortest cycle through a task, if it has at most `longest` links.
    fn shortest_through(&mut self, start: usize, longest: usize) -> Option<Vec<usize>> {
        let mut queue = VecDeque::from([(start, 1)]);
        while let Some((at, links)) = queue.pop_front() {
            if links > longest {
                return None;
            }
            for &to in &self.after[at] {
                if to == start {
                    return Some(self.walk_back(start, at));
                }
                if self.alive[to] && self.came_from[to].1 != start {
                    self.came_from[to] = (at, start);
                    queue.push_back((to, links + 1));
                }
            }
        }
        None
    }

    fn walk_back(&self, start: usize, last: usize) -> Vec<usize> {
        let mut path = vec![start];
        let mut at = last;
        while at != start {
            path.push(at);
            at = self.came_from[at].0;
        }
        path.push(start);
        path.reverse();
        path
    }
}
