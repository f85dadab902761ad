//! Where the time comes from.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

/// Says what time it is.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The wall clock, which never runs backwards: where somebody sets it back, it goes on at the pace of time from what it
/// said last, so that nothing waits for an hour to come round again.
pub fn wall_clock() -> Clock {
    static LAST: Mutex<Option<(Timestamp, Instant)>> = Mutex::new(None);
    Arc::new(|| {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let now = monotonic_time(*last, Timestamp::now(), Instant::now());
        *last = Some((now, Instant::now()));
        now
    })
}

/// What the clock says, or what it said last and the time since, whichever is later.
fn monotonic_time(
    last: Option<(Timestamp, Instant)>,
    wall: Timestamp,
    instant: Instant,
) -> Timestamp {
    let expected = last.and_then(|(at, then)| {
        let since = SignedDuration::try_from(instant.saturating_duration_since(then)).ok()?;
        at.checked_add(since).ok()
    });
    expected.map_or(wall, |expected| wall.max(expected))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_is_set_back_goes_on_from_where_it_was() {
        let wall: Timestamp = "2026-06-08T14:00:00Z".parse().unwrap();
        let then = Instant::now();
        let later = then + Duration::from_secs(2);
        let hour = SignedDuration::from_hours(1);
        let expected = wall + SignedDuration::from_secs(2);
        assert_eq!(monotonic_time(None, wall, then), wall);
        assert_eq!(monotonic_time(Some((wall, then)), wall - hour, later), expected);
        assert_eq!(monotonic_time(Some((wall, then)), expected, later), expected);
        assert_eq!(
            monotonic_time(Some((wall, then)), wall + hour, later),
            wall + hour,
            "or forward"
        );
    }
}
