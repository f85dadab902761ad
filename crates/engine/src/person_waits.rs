//! How long tasks wait for answers of the person: time that nobody works and that no limit of a task counts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use planwright_model::{Plan, TaskId};

/// The waits of a task so far. Questions that are open at once count once.
#[derive(Debug, Default)]
struct TaskWaits {
    open: usize,
    since: Option<Instant>,
    over: Duration,
}

/// The waits of all tasks of a session. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct PersonWaits(Arc<Mutex<BTreeMap<TaskId, TaskWaits>>>);

impl PersonWaits {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<TaskId, TaskWaits>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a wait of a task, and of the task of the plan that it is a part of. It ends when the guards go.
    pub(crate) fn begin(&self, task: &TaskId, plan: Option<&Plan>) -> [Option<PersonWait>; 2] {
        let find = |id: &str| plan?.tasks.iter().find(|node| node.id.as_str() == id);
        let owner = task.find_owner(find).filter(|owner| owner.id != *task);
        [Some(self.begin_one(task)), owner.map(|owner| self.begin_one(&owner.id))]
    }

    fn begin_one(&self, task: &TaskId) -> PersonWait {
        let mut all = self.lock();
        let waits = all.entry(task.clone()).or_default();
        waits.open += 1;
        waits.since.get_or_insert_with(Instant::now);
        PersonWait { waits: self.clone(), task: task.clone() }
    }

    /// How long a task has waited so far, a wait under way included.
    pub(crate) fn total(&self, task: &TaskId) -> Duration {
        let all = self.lock();
        let Some(waits) = all.get(task) else { return Duration::ZERO };
        waits.over + waits.since.map(|since| since.elapsed()).unwrap_or_default()
    }
}

/// A wait under way.
#[derive(Debug)]
pub(crate) struct PersonWait {
    waits: PersonWaits,
    task: TaskId,
}

impl Drop for PersonWait {
    fn drop(&mut self) {
        let mut all = self.waits.lock();
        let Some(waits) = all.get_mut(&self.task) else { return };
        waits.open = waits.open.saturating_sub(1);
        if waits.open == 0
            && let Some(since) = waits.since.take()
        {
            waits.over += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::TaskNode;

    const fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[tokio::test(start_paused = true)]
    async fn waits_count_once_however_many_questions_are_open() {
        let (waits, task) = (PersonWaits::default(), TaskId::from("t"));
        let first = waits.begin(&task, None);
        tokio::time::advance(seconds(5)).await;
        let second = waits.begin(&task, None);
        tokio::time::advance(seconds(5)).await;
        drop(first);
        assert_eq!(waits.total(&task), seconds(10), "one question is open still");
        tokio::time::advance(seconds(5)).await;
        drop(second);
        tokio::time::advance(seconds(1)).await;
        assert_eq!(waits.total(&task), seconds(15));
        assert_eq!(waits.total(&TaskId::from("other")), Duration::ZERO);
    }
    #[tokio::test(start_paused = true)]
    async fn a_task_waits_while_a_part_of_it_does_and_no_other_task_does() {
        let waits = PersonWaits::default();
        let tasks = ["a", "a.1", "b"].map(|id| TaskNode::new(id, "A task"));
        let plan = Plan { tasks: tasks.to_vec(), ..Plan::default() };
        let total = |id: &str| waits.total(&TaskId::from(id));
        let part = waits.begin(&TaskId::from("b.2"), Some(&plan));
        let dotted = waits.begin(&TaskId::from("a.1"), Some(&plan));
        tokio::time::advance(seconds(5)).await;
        drop((part, dotted));
        assert_eq!([total("b.2"), total("b"), total("a.1")], [seconds(5); 3]);
        assert_eq!(total("a"), Duration::ZERO, "a dotted task of the plan is a task of its own");
    }
}
