//! The time that an attempt of a task is worked on. Waiting for the person is no work: no limit of a task counts it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::PersonChannel;
use planwright_model::TaskId;

/// How long it sleeps at least, so that a limit that is almost reached is not looked at without end while the person takes
/// their time.
const LEAST_SLEEP: Duration = Duration::from_millis(100);

/// Counts from the begin of an attempt, without waits for the person.
#[derive(Clone)]
pub struct WorkClock {
    person: Arc<dyn PersonChannel>,
    task: TaskId,
    begun: Instant,
    waited_before: Duration,
}

impl std::fmt::Debug for WorkClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkClock").field("task", &self.task).finish_non_exhaustive()
    }
}

impl WorkClock {
    pub fn start(person: Arc<dyn PersonChannel>, task: &TaskId) -> Self {
        let waited_before = person.waited(task);
        Self { person, task: task.clone(), begun: Instant::now(), waited_before }
    }

    /// The work so far.
    pub fn worked(&self) -> Duration {
        let waited = self.person.waited(&self.task).saturating_sub(self.waited_before);
        self.begun.elapsed().saturating_sub(waited)
    }

    /// Returns once so much time was worked, however long the person takes in between.
    pub async fn reach(&self, limit: Duration) {
        while let Some(left) = limit.checked_sub(self.worked()).filter(|left| !left.is_zero()) {
            tokio::time::sleep(left.max(LEAST_SLEEP)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::future::BoxFuture;

    use super::*;
    use planwright_model::{Answer, Request};
    use planwright_state::PersonMessage;

    /// Somebody who has been waited for since a moment, and for some time before.
    #[derive(Default)]
    struct SlowPerson {
        waits: Mutex<(Option<Instant>, Duration)>,
        looks: Mutex<usize>,
    }

    impl SlowPerson {
        fn ask(&self) {
            self.waits.lock().unwrap().0 = Some(Instant::now());
        }

        fn answer(&self) {
            let mut waits = self.waits.lock().unwrap();
            let since = waits.0.take().unwrap();
            waits.1 += since.elapsed();
        }
    }

    impl PersonChannel for SlowPerson {
        fn ask_person(&self, _: Request) -> BoxFuture<'_, Option<Answer>> {
            Box::pin(std::future::ready(None))
        }

        fn undelivered_messages<'a>(&'a self, _: &'a TaskId) -> BoxFuture<'a, Vec<PersonMessage>> {
            Box::pin(std::future::ready(Vec::new()))
        }

        fn waited(&self, _: &TaskId) -> Duration {
            *self.looks.lock().unwrap() += 1;
            let waits = self.waits.lock().unwrap();
            waits.1 + waits.0.map(|since| since.elapsed()).unwrap_or_default()
        }
    }

    const fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_is_reached_by_work_alone() {
        let person = Arc::new(SlowPerson::default());
        person.ask();
        tokio::time::advance(seconds(500)).await;
        person.answer();
        let clock = WorkClock::start(Arc::clone(&person) as Arc<dyn PersonChannel>, &"t".into());
        tokio::time::advance(seconds(10)).await;
        person.ask();
        let limit = clock.reach(seconds(60));
        tokio::pin!(limit);
        tokio::select! {
            () = &mut limit => panic!("the person may take their time"),
            () = tokio::time::sleep(seconds(3_000)) => person.answer(),
        }
        assert_eq!(clock.worked(), seconds(10));
        limit.await;
        assert_eq!(clock.worked(), seconds(60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_that_is_almost_reached_is_looked_at_seldom_while_the_person_is_asked() {
        let person = Arc::new(SlowPerson::default());
        let clock = WorkClock::start(Arc::clone(&person) as Arc<dyn PersonChannel>, &"t".into());
        tokio::time::advance(Duration::from_micros(59_999_999)).await;
        person.ask();
        let limit = clock.reach(seconds(60));
        tokio::pin!(limit);
        tokio::select! {
            () = &mut limit => panic!("the person may take their time"),
            () = tokio::time::sleep(seconds(600)) => {}
        }
        assert!(*person.looks.lock().unwrap() < 6_100);
    }
}
