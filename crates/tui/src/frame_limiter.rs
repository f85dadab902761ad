//! Joins redraw requests: at most twenty frames a second for what happens by itself, one at once for what the person
//! does, none without a reason.

use std::time::{Duration, Instant};

/// The least time between two frames that nobody asked for. A key that comes while one is drawn waits for it, so there are no
/// more of them than the eye follows.
pub(crate) const FRAME: Duration = Duration::from_millis(50);

/// Decides when to draw. Pure: the time comes in as an argument.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameLimiter {
    wanted: bool,
    /// The person did something and looks for it on the screen.
    at_once: bool,
    last: Option<Instant>,
}

impl FrameLimiter {
    /// Something changed that a frame would show.
    pub(crate) fn request_frame(&mut self) {
        self.wanted = true;
    }

    /// A key or the mouse changed it. Whatever is typed faster than frames are drawn still shares one, since input that is
    /// there already is taken before the frame.
    pub(crate) fn request_immediate_frame(&mut self) {
        (self.wanted, self.at_once) = (true, true);
    }

    /// When the next frame is due; `None` while nothing changed.
    pub(crate) fn next_frame_at(&self, now: Instant) -> Option<Instant> {
        let soonest = self.last.filter(|_| !self.at_once).map(|last| last + FRAME);
        self.wanted.then(|| soonest.map_or(now, |at| at.max(now)))
    }

    /// Whether a frame should be drawn now. If so, it counts as drawn.
    pub(crate) fn take_frame(&mut self, now: Instant) -> bool {
        let due = self.next_frame_at(now).is_some_and(|at| at <= now);
        if due {
            (self.wanted, self.at_once) = (false, false);
            self.last = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_drawn_without_a_reason() {
        let mut limiter = FrameLimiter::default();
        let now = Instant::now();
        assert_eq!(limiter.next_frame_at(now), None);
        assert!(!limiter.take_frame(now));
    }

    #[test]
    fn the_first_change_is_drawn_at_once() {
        let mut limiter = FrameLimiter::default();
        let now = Instant::now();
        limiter.request_frame();
        assert_eq!(limiter.next_frame_at(now), Some(now));
        assert!(limiter.take_frame(now));
        assert_eq!(limiter.next_frame_at(now), None);
    }

    #[test]
    fn a_burst_of_changes_is_one_frame_at_the_end_of_the_interval() {
        let mut limiter = FrameLimiter::default();
        let start = Instant::now();
        limiter.request_frame();
        assert!(limiter.take_frame(start));
        for step in 0..10 {
            limiter.request_frame();
            assert!(!limiter.take_frame(start + Duration::from_millis(step)));
        }
        assert_eq!(limiter.next_frame_at(start), Some(start + FRAME));
        assert!(limiter.take_frame(start + FRAME));
        assert_eq!(limiter.next_frame_at(start + FRAME), None);
    }

    #[test]
    fn what_the_person_does_is_drawn_at_once() {
        let mut limiter = FrameLimiter::default();
        let now = Instant::now();
        limiter.request_frame();
        assert!(limiter.take_frame(now));
        limiter.request_frame();
        assert!(!limiter.take_frame(now));
        limiter.request_immediate_frame();
        assert!(limiter.take_frame(now));
        assert_eq!(limiter.next_frame_at(now), None);
    }

    #[test]
    fn at_most_twenty_frames_fit_into_a_second() {
        let mut limiter = FrameLimiter::default();
        let start = Instant::now();
        let drawn = (0..1000)
            .filter(|step| {
                limiter.request_frame();
                limiter.take_frame(start + Duration::from_millis(*step))
            })
            .count();
        assert!(drawn <= 20, "{drawn} frames");
    }
}
