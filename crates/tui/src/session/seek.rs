//! Moving in time: to an event, a landmark, a moment, and back to live.

use std::ops::Bound;

use jiff::Timestamp;

use super::{ScreenEffect, SessionScreen};
use crate::clock;
use crate::panes::approval;
use crate::ui_state::PaneFocus;
use planwright_model::{Seq, TaskId, TaskNode};
use planwright_state::replay::RecordSourceError;

impl SessionScreen {
    /// Looks at the state after an event. Viewing never runs anything.
    pub(crate) fn seek_event(&mut self, seq: Seq) -> Result<ScreenEffect, RecordSourceError> {
        let seq = seq.clamp(Seq::START, self.latest.seq);
        self.ui.time.touched |= self.ui.time.cursor.is_some();
        self.ui.time.cursor = Some(seq);
        self.ui.time.clock = None;
        self.shown = Some(self.history.state_at(seq)?);
        // An answered request leaves nothing to look at in its pane.
        if self.ui.focus == PaneFocus::Approval && approval::card_count(self.state()) == 0 {
            self.ui.focus = PaneFocus::Graph;
        }
        self.follow_running();
        Ok(ScreenEffect::Draw)
    }

    /// The event that is shown.
    pub(super) fn cursor_seq(&self) -> Seq {
        self.ui.time.cursor.unwrap_or(self.latest.seq)
    }

    /// One event back or on.
    pub(super) fn step_event(&mut self, by: i64) -> Result<ScreenEffect, RecordSourceError> {
        self.ui.time.playing = false;
        if by > 0 && self.ui.time.cursor.is_none() {
            self.ui.message = Some("this is the latest event".to_owned());
            return Ok(ScreenEffect::Draw);
        }
        self.seek_event(Seq(self.cursor_seq().0.saturating_add_signed(by)))
    }

    /// The landmark before or after the cursor; the ends of the run where there is none.
    pub(super) fn step_landmark(
        &mut self,
        forward: bool,
    ) -> Result<ScreenEffect, RecordSourceError> {
        self.ui.time.playing = false;
        let here = self.cursor_seq();
        let landmark = if forward {
            self.timeline.landmark_after(here)
        } else {
            self.timeline.landmark_before(here)
        };
        let landmark = landmark.map(|found| (found.seq, found.task.clone()));
        // Bookmarks are landmarks of the person's own.
        let marks = &self.ui.bookmarks;
        let marked = if forward {
            let after = (Bound::Excluded(here), Bound::Unbounded);
            marks.range(after).next().map(|(seq, _)| (*seq, None))
        } else {
            marks.range(..here).next_back().map(|(seq, _)| (*seq, None))
        };
        let both = landmark.into_iter().chain(marked);
        let found =
            if forward { both.min_by_key(|mark| mark.0) } else { both.max_by_key(|mark| mark.0) };
        match found {
            Some((seq, task)) => self.seek_landmark(seq, task),
            None if forward => self.seek_latest(),
            None => self.seek_event(Seq(1)),
        }
    }

    /// Goes to a landmark and turns every pane to its task: selected and in sight in the plan, its step in the activity.
    fn seek_landmark(
        &mut self,
        seq: Seq,
        task: Option<TaskId>,
    ) -> Result<ScreenEffect, RecordSourceError> {
        self.seek_event(seq)?;
        self.ui.trace.following = true;
        self.ui.trace.top = None;
        let task = task.filter(|task| self.state().tasks.position(task).is_some());
        if let Some(task) = task {
            self.ui.select_task(task);
            self.ui.graph.center = true;
        }
        Ok(ScreenEffect::Draw)
    }

    /// The latest event: live again, or the end of a saved run.
    pub(super) fn seek_latest(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        self.ui.time.playing = false;
        if self.is_saved() {
            return self.seek_event(self.latest.seq);
        }
        self.shown = None;
        if matches!(self.ui.focus, PaneFocus::Files | PaneFocus::Scrub) {
            self.ui.focus = PaneFocus::Graph;
        }
        self.ui.time.cursor = None;
        self.ui.time.clock = None;
        self.focus_new_request();
        self.follow_running();
        Ok(ScreenEffect::Draw)
    }

    /// Goes where a cell of the track points to.
    pub(super) fn seek_cell(
        &mut self,
        cell: u16,
        width: u16,
    ) -> Result<ScreenEffect, RecordSourceError> {
        self.lane.update(&self.timeline, width);
        let Some(end) = self.lane.lane().map(|lane| lane.track.cell_end(cell)) else {
            return Ok(ScreenEffect::Idle);
        };
        let seq = self.event_at(end)?;
        if Some(seq) == self.ui.time.cursor {
            return Ok(ScreenEffect::Idle);
        }
        self.seek_event(seq)
    }

    /// One cell of the bar to the left or right, to the next one in which something happened.
    pub(super) fn step_cell(&mut self, forward: bool) -> Result<ScreenEffect, RecordSourceError> {
        self.ui.time.playing = false;
        let track = crate::panes::scrub::track_area(self.areas.scrub);
        self.lane.update(&self.timeline, track.width.max(1));
        let Some(lane) = self.lane.lane().map(|lane| lane.track.clone()) else {
            return Ok(ScreenEffect::Idle);
        };
        let here = self.cursor_seq();
        let mut cell = self.state().at.map_or(0, |at| lane.cell_at(at));
        loop {
            let next = if forward { cell.checked_add(1) } else { cell.checked_sub(1) };
            let Some(next) = next.filter(|next| *next < lane.width) else {
                return self.seek_event(if forward { self.latest.seq } else { Seq(1) });
            };
            cell = next;
            let seq = self.event_at(lane.cell_end(cell))?;
            if seq != here && (forward || seq < here) {
                return self.seek_event(seq);
            }
        }
    }

    /// The last event at or before a moment, found by halving.
    pub(super) fn event_at(&mut self, at: Timestamp) -> Result<Seq, RecordSourceError> {
        let (mut low, mut high) = (0, self.latest.seq.0);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match self.history.record_at(Seq(middle))? {
                Some(record) if record.at <= at => low = middle,
                _ => high = middle - 1,
            }
        }
        Ok(Seq(low))
    }

    /// Goes where the person typed: an event number, a time of day, an offset from the start, or where a task began.
    pub(super) fn seek_typed(&mut self, text: &str) -> Result<ScreenEffect, RecordSourceError> {
        self.ui.time.playing = false;
        let text = text.trim();
        let Some((start, _)) = self.timeline.time_span() else { return Ok(ScreenEffect::Draw) };
        if let Ok(number) = text.replace(',', "").parse::<u64>() {
            return self.seek_event(Seq(number));
        }
        let at = match text.strip_prefix('+') {
            Some(span) => clock::parse_span(span).map(|span| clock::add_duration(start, span)),
            None => clock::parse_time_of_day(text, start, &self.time_zone),
        };
        if let Some(at) = at {
            let seq = self.event_at(at)?;
            return self.seek_event(seq);
        }
        match self.first_step_of(text) {
            Some((seq, task)) => self.seek_landmark(seq, Some(task)),
            None => Ok(self.show_message(
                "Enter an event number, a time, an offset (+6 min) or the name of a task that ran.",
            )),
        }
    }

    /// The first step of the task whose title or id has these words in it; one that begins with them goes first.
    fn first_step_of(&self, words: &str) -> Option<(Seq, TaskId)> {
        let current = self.latest.plan.current.as_ref()?;
        let words = words.to_lowercase();
        let rank = |task: &TaskNode| {
            let (title, id) = (task.description.to_lowercase(), task.id.as_str().to_lowercase());
            match () {
                () if id == words || title == words => Some(0),
                () if title.starts_with(&words) => Some(1),
                () if title.contains(&words) || id.contains(&words) => Some(2),
                () => None,
            }
        };
        let ranked = current.plan.tasks.iter().filter_map(|task| Some((rank(task)?, task)));
        let (_, task) = ranked.min_by_key(|(rank, _)| *rank)?;
        let (_, step) = self.timeline.steps_of(Some(&task.id), 0).next()?;
        Some((step.seq, task.id.clone()))
    }
}
