//! Playing a run back at 1× to 64×, by the recorded times.

use std::time::Duration;

use jiff::Timestamp;

use super::{ScreenEffect, SessionScreen};
use crate::clock::{add_duration, duration_between};
use planwright_model::Seq;
use planwright_state::replay::RecordSourceError;

/// The fastest playback.
const FASTEST: u32 = 64;
/// The longest wait while waits are skipped, on the wall.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Playback is not drawn more often than this, and than that with reduced motion.
const SHORTEST_WAIT: (Duration, Duration) = (Duration::from_millis(33), Duration::from_secs(2));
/// How often elapsed times on the screen grow, and how often with reduced motion.
const TICK: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

impl SessionScreen {
    /// Starts or stops. At the end of a run it starts over.
    pub(super) fn toggle_play(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        self.ui.time.playing = !self.ui.time.playing;
        self.ui.time.clock = None;
        self.ui.time.touched = true;
        if self.ui.time.playing && self.cursor_seq() >= self.latest.seq {
            self.ui.time.cursor = Some(Seq(1));
        }
        if self.ui.time.playing {
            self.seek_event(self.cursor_seq())
        } else {
            Ok(ScreenEffect::Draw)
        }
    }

    /// How often elapsed times are drawn anew while nothing else happens.
    pub(crate) fn tick_interval(&self) -> Duration {
        // What waits for the person waits for minutes.
        let slow = self.reduced_motion || self.latest.tasks.is_only_person_left();
        if slow { TICK.1 } else { TICK.0 }
    }

    pub(super) fn change_speed(&mut self, faster: bool) -> ScreenEffect {
        let speed = self.ui.time.speed;
        self.ui.time.speed = if faster { (speed * 2).min(FASTEST) } else { (speed / 2).max(1) };
        ScreenEffect::Draw
    }

    /// Time passed: playback moves on, and elapsed times grow.
    pub(super) fn on_tick(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        let expired = self.expire_message();
        let flow = self.on_time_passed()?;
        Ok(if expired && flow == ScreenEffect::Idle { ScreenEffect::Draw } else { flow })
    }

    fn on_time_passed(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        if self.is_behind() {
            return self.apply_new_records(self.head);
        }
        if self.is_filtering() {
            return Ok(ScreenEffect::Draw);
        }
        if self.is_searching() {
            return self.continue_search();
        }
        if self.is_reading_files() && !self.ui.time.playing {
            return self.read_files();
        }
        if !self.ui.time.playing {
            return Ok(if self.is_ticking() { ScreenEffect::Draw } else { ScreenEffect::Idle });
        }
        let now = (self.clock)();
        let Some(here) = self.state().at else {
            return self.step_while_playing(now);
        };
        let (wall, position) = self.ui.time.clock.unwrap_or((now, here));
        let mut position = add_duration(position, duration_between(wall, now) * self.ui.time.speed);
        let mut cursor = self.cursor_seq();
        while let Some(next) = self.history.record_at(cursor.next())? {
            position = self.shorten_wait(position, next.at);
            if next.at > position {
                break;
            }
            cursor = next.seq;
        }
        if cursor != self.cursor_seq() {
            self.seek_event(cursor)?;
        }
        self.ui.time.clock = Some((now, position));
        if cursor >= self.latest.seq {
            self.ui.time.playing = false;
        }
        Ok(ScreenEffect::Draw)
    }

    /// Before the first event there is no time to start from.
    fn step_while_playing(&mut self, now: Timestamp) -> Result<ScreenEffect, RecordSourceError> {
        self.seek_event(self.cursor_seq().next())?;
        self.ui.time.clock = self.state().at.map(|at| (now, at));
        self.ui.time.playing = self.cursor_seq() < self.latest.seq;
        Ok(ScreenEffect::Draw)
    }

    fn shorten_wait(&self, position: Timestamp, next: Timestamp) -> Timestamp {
        let longest = LONGEST_WAIT * self.ui.time.speed;
        if self.ui.time.skip_waits && duration_between(position, next) > longest {
            return next.checked_sub(longest).unwrap_or(position);
        }
        position
    }

    /// How long until playback has something to show; `None` while it rests.
    pub(crate) fn time_until_next(&mut self) -> Option<Duration> {
        if !self.ui.time.playing {
            return None;
        }
        let next = self.history.record_at(self.cursor_seq().next());
        let next = next
            .inspect_err(|error| tracing::warn!(%error, "playback rests, the next event"))
            .ok()
            .flatten()?;
        let position = self.ui.time.clock.map_or(next.at, |(_, position)| position);
        let wait = duration_between(position, next.at) / self.ui.time.speed.max(1);
        let shortest = if self.reduced_motion { SHORTEST_WAIT.1 } else { SHORTEST_WAIT.0 };
        Some(wait.clamp(shortest, LONGEST_WAIT.max(shortest)))
    }
}
