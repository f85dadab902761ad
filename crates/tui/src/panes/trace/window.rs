//! The rows of the trace that are on the screen.

use std::collections::HashMap;
use std::rc::Rc;

use super::folding::{failure_lines, is_housekeeping};
use super::kind_filter::TraceKindFilter;
use super::lines::{StepLine, step_lines, why_lines};
use super::step_filter::StepFilter;
use crate::panes::output::FailureTails;
use crate::ui_state::TraceUi;
use planwright_model::{Seq, TaskId};
use planwright_state::replay::{History, RecordSourceError};
use planwright_state::timeline::{LandmarkKind, Timeline};
use planwright_state::trace::{TraceEntry, TraceEntryKind, explain_tool_choice};
use planwright_state::{SessionState, SkipRoots};

/// How many wrapped steps are kept before starting over.
const KEPT: usize = 2_000;

/// A step with its text wrapped to the width of the pane.
#[derive(Debug)]
pub(crate) struct WrappedStep {
    pub(crate) entry: TraceEntry,
    pub(crate) lines: Vec<StepLine>,
}

/// One row of the window.
#[derive(Clone, Debug)]
pub(crate) enum WindowRow {
    /// A line of a step; the first one carries time, task and glyph.
    Step { step: Rc<WrappedStep>, line: usize, later: bool },
    /// Where the cursor of a replay stands among the steps.
    Cursor,
}

/// What a step is wrapped for: unfolded, explained, and how many steps or tasks are folded into it.
type WrapKey = (Seq, bool, bool, usize);

/// The window and what it was made from.
#[derive(Debug, Default)]
pub(crate) struct TraceCache {
    width: usize,
    wrapped: HashMap<WrapKey, Rc<WrappedStep>>,
    filter: StepFilter,
    pub(crate) rows: Vec<WindowRow>,
    /// The last step that is not after the cursor.
    pub(crate) last: Option<Rc<WrappedStep>>,
    /// How many steps there are to show, and how many of them are not after the cursor.
    pub(crate) total: usize,
    pub(crate) so_far: usize,
    /// The step into which all of the planning before it is folded, once the plan is approved.
    planning_end: Option<usize>,
}

/// What the window is made from.
pub(crate) struct TraceSource<'a> {
    pub(crate) history: &'a mut History,
    pub(crate) timeline: &'a Timeline,
    /// The cursor of a replay; `None` while live.
    pub(crate) cursor: Option<Seq>,
    /// The state at the moment that is shown, with the causes of failures and what was skipped for them.
    pub(crate) state: &'a SessionState,
    pub(crate) tails: &'a mut FailureTails,
    pub(crate) skips: &'a SkipRoots,
}

impl TraceCache {
    /// Builds the window. Settles cursor and top where following or the end of the trace decides them.
    pub(crate) fn update_window(
        &mut self,
        source: &mut TraceSource<'_>,
        ui: &mut TraceUi,
        width: u16,
        height: u16,
    ) -> Result<(), RecordSourceError> {
        self.filter.update(ui, source.timeline, source.history)?;
        if self.width != usize::from(width) || self.wrapped.len() > KEPT {
            self.wrapped.clear();
            self.width = usize::from(width);
        }
        self.total = self.filter.len(source.timeline);
        self.so_far = match source.cursor {
            Some(cursor) => self.filter.steps_up_to(cursor, source.timeline),
            None => self.total,
        };
        self.rows.clear();
        self.planning_end = self.find_planning_end(source, ui);
        self.last = match self.so_far.checked_sub(1) {
            Some(index) => self.wrap_step(source, ui, index)?,
            None => None,
        };
        if height == 0 {
            return Ok(());
        }
        if ui.following {
            ui.cursor = self.seq_at(self.so_far.checked_sub(1), source);
            ui.top = None;
            return self.fill_around(source, ui, self.so_far, usize::from(height));
        }
        self.fill_from_top(source, ui, usize::from(height))
    }

    /// The step before or after the one under the cursor.
    pub(crate) fn neighbor_step(
        &self,
        timeline: &Timeline,
        ui: &TraceUi,
        by: isize,
    ) -> Option<Seq> {
        let at = match ui.cursor {
            Some(seq) => self.filter.steps_up_to(seq, timeline).checked_sub(1)?,
            None => self.so_far.checked_sub(1)?,
        };
        let last = self.total.checked_sub(1)?;
        let to = at.saturating_add_signed(by).min(last);
        let seen = |index: &usize| !self.is_hidden(*index, timeline, ui);
        let found = if by < 0 {
            (0..=to).rev().find(seen).or_else(|| (to..=last).find(seen))
        } else {
            (to..=last).find(seen).or_else(|| (0..=to).rev().find(seen))
        };
        self.filter.step_at(found?, timeline).map(|step| step.seq)
    }

    /// How a plan came about is of no interest while it is carried out, unless the person looks at it: the last step of
    /// the approval stands for all of it.
    fn find_planning_end(&self, source: &TraceSource<'_>, ui: &TraceUi) -> Option<usize> {
        let state = source.state;
        let filtered = ui.kinds != TraceKindFilter::All || ui.role.is_some() || ui.only.is_some();
        if filtered || !state.planning.begun || !state.plan.is_approved() {
            return None;
        }
        let timeline = source.timeline;
        let mut marks = timeline.landmarks().iter();
        let approval = marks.find(|mark| mark.kind == LandmarkKind::Approval)?.seq;
        if !ui.following && ui.cursor.is_some_and(|cursor| cursor < approval) {
            return None;
        }
        let step = |index: usize| self.filter.step_at(index, timeline);
        let mut end = self.filter.steps_up_to(approval, timeline).checked_sub(1)?;
        while step(end + 1).is_some_and(|next| is_housekeeping(next.kind)) {
            end += 1;
        }
        step(end).is_some_and(|last| !ui.unfolded.contains(&last.seq)).then_some(end)
    }

    /// Whether a step is folded into another one: a skip into its failure, housekeeping into the last step of it.
    fn is_hidden(&self, index: usize, timeline: &Timeline, ui: &TraceUi) -> bool {
        if ui.kinds != TraceKindFilter::All || ui.role.is_some() {
            return false;
        }
        if self.planning_end.is_some_and(|end| index < end) {
            return true;
        }
        let Some(step) = self.filter.step_at(index, timeline) else { return false };
        if step.kind == TraceEntryKind::Skipped {
            return ui.only.is_none();
        }
        if !is_housekeeping(step.kind) {
            return false;
        }
        let next = self.filter.step_at(index + 1, timeline);
        if next.is_none_or(|next| !is_housekeeping(next.kind)) {
            return false;
        }
        let rest = (index + 1..).map_while(|index| self.filter.step_at(index, timeline));
        let last = rest.take_while(|step| is_housekeeping(step.kind)).last();
        last.is_none_or(|last| !ui.unfolded.contains(&last.seq))
    }

    /// How many steps before this one are folded into it.
    fn folded_before(&self, index: usize, timeline: &Timeline, ui: &TraceUi) -> usize {
        if self.planning_end == Some(index) {
            return index;
        }
        let kind = self.filter.step_at(index, timeline).map(|step| step.kind);
        if !kind.is_some_and(is_housekeeping) {
            return 0;
        }
        (0..index).rev().take_while(|before| self.is_hidden(*before, timeline, ui)).count()
    }

    /// The number of a step that passes the filter.
    pub(crate) fn step_seq(&self, index: usize, timeline: &Timeline) -> Option<Seq> {
        self.filter.step_at(index, timeline).map(|step| step.seq)
    }

    /// Where a step stands among those that pass the filter.
    pub(crate) fn step_index(&self, seq: Seq, timeline: &Timeline) -> usize {
        self.filter.steps_up_to(seq, timeline).saturating_sub(1)
    }

    /// The step at the top of the window and which of its rows.
    pub(crate) fn top_row(&self) -> Option<(Seq, usize)> {
        self.rows.iter().find_map(|row| match row {
            WindowRow::Step { step, line, .. } => Some((step.entry.seq, *line)),
            WindowRow::Cursor => None,
        })
    }

    /// The task of a step that is on the screen.
    pub(crate) fn task_at(&self, seq: Option<Seq>) -> Option<TaskId> {
        self.rows.iter().find_map(|row| match row {
            WindowRow::Step { step, .. } if Some(step.entry.seq) == seq => step.entry.task.clone(),
            WindowRow::Step { .. } | WindowRow::Cursor => None,
        })
    }

    /// Whether a step is the last one that is not after the cursor of a replay.
    pub(crate) fn is_last(&self, timeline: &Timeline, seq: Seq) -> bool {
        self.filter.steps_up_to(seq, timeline) >= self.so_far
    }

    /// Whether steps are still being picked out.
    pub(crate) fn is_behind(&self, timeline: &Timeline) -> bool {
        self.filter.is_behind(timeline)
    }

    fn seq_at(&self, index: Option<usize>, source: &TraceSource<'_>) -> Option<Seq> {
        self.filter.step_at(index?, source.timeline).map(|step| step.seq)
    }

    /// Ends the window with step `end`, leaving a third of it for what comes after the cursor of a replay.
    fn fill_around(
        &mut self,
        source: &mut TraceSource<'_>,
        ui: &TraceUi,
        end: usize,
        height: usize,
    ) -> Result<(), RecordSourceError> {
        let mut after = Vec::new();
        let room = if source.cursor.is_some() { (height / 3).max(1) } else { 0 };
        if source.cursor.is_some() {
            self.extend_rows(source, ui, end, room, &mut after)?;
        }
        let mark = usize::from(source.cursor.is_some());
        let mut before =
            self.rows_before(source, ui, end, height.saturating_sub(mark + after.len()))?;
        before.reverse();
        if source.cursor.is_some() {
            let left = height.saturating_sub(mark + before.len());
            if left > after.len() {
                after.clear();
                self.extend_rows(source, ui, end, left, &mut after)?;
            }
            before.push(WindowRow::Cursor);
        }
        self.rows = before;
        self.rows.append(&mut after);
        self.rows.truncate(height);
        Ok(())
    }

    /// Rows before step `end`, the last one first, as many as fit.
    fn rows_before(
        &mut self,
        source: &mut TraceSource<'_>,
        ui: &TraceUi,
        end: usize,
        height: usize,
    ) -> Result<Vec<WindowRow>, RecordSourceError> {
        let mut rows = Vec::with_capacity(height);
        let mut index = end;
        while rows.len() < height && index > 0 {
            index -= 1;
            if self.is_hidden(index, source.timeline, ui) {
                continue;
            }
            let Some(step) = self.wrap_step(source, ui, index)? else { continue };
            for line in (0..step.lines.len()).rev() {
                let later = index >= self.so_far;
                rows.push(WindowRow::Step { step: Rc::clone(&step), line, later });
            }
        }
        rows.truncate(height);
        Ok(rows)
    }

    /// Rows from step `from` on, as many as fit.
    fn extend_rows(
        &mut self,
        source: &mut TraceSource<'_>,
        ui: &TraceUi,
        from: usize,
        height: usize,
        rows: &mut Vec<WindowRow>,
    ) -> Result<(), RecordSourceError> {
        let mut index = from;
        while rows.len() < height && index < self.total {
            if source.cursor.is_some() && index == self.so_far && from < self.so_far {
                rows.push(WindowRow::Cursor);
            }
            if self.is_hidden(index, source.timeline, ui) {
                index += 1;
                continue;
            }
            if let Some(step) = self.wrap_step(source, ui, index)? {
                let later = index >= self.so_far;
                rows.extend((0..step.lines.len()).map(|line| WindowRow::Step {
                    step: Rc::clone(&step),
                    line,
                    later,
                }));
            }
            index += 1;
        }
        rows.truncate(height);
        Ok(())
    }

    /// Starts the window at the anchored step, or wherever the cursor needs it.
    fn fill_from_top(
        &mut self,
        source: &mut TraceSource<'_>,
        ui: &mut TraceUi,
        height: usize,
    ) -> Result<(), RecordSourceError> {
        let index = |cache: &Self, seq: Seq| {
            cache.filter.steps_up_to(seq, source.timeline).saturating_sub(1)
        };
        let cursor = ui.cursor.map_or(self.so_far.saturating_sub(1), |seq| index(self, seq));
        let (top, skipped) = match ui.top {
            Some((seq, line)) => (index(self, seq), line),
            None => (cursor.saturating_sub(height.saturating_sub(1)), 0),
        };
        let (top, skipped) = if cursor < top { (cursor, 0) } else { (top, skipped) };
        let mut rows = Vec::new();
        self.extend_rows(source, ui, top, height + skipped, &mut rows)?;
        rows.drain(..skipped.min(rows.len()));
        let seq = self.seq_at(Some(cursor), source);
        let shows = rows
            .iter()
            .any(|row| matches!(row, WindowRow::Step { step, .. } if Some(step.entry.seq) == seq));
        if !shows || rows.len() < height {
            // The cursor is below the window, or the trace ends above its bottom.
            let end = if shows { self.total } else { cursor + 1 };
            rows = self.rows_before(source, ui, end, height)?;
            rows.reverse();
        }
        self.rows = rows;
        ui.top = self.top_row();
        Ok(())
    }

    fn wrap_step(
        &mut self,
        source: &mut TraceSource<'_>,
        ui: &TraceUi,
        index: usize,
    ) -> Result<Option<Rc<WrappedStep>>, RecordSourceError> {
        let Some(step) = self.filter.step_at(index, source.timeline) else { return Ok(None) };
        let unfolded = ui.unfolded.contains(&step.seq);
        let explained = ui.explained.contains(&step.seq);
        let failed = source.timeline.task_of(&step).filter(|_| step.kind == TraceEntryKind::Failed);
        let failed = failed.and_then(|task| source.state.tasks.position(task));
        let folded = match failed {
            Some(task) => source.skips.skipped_because_of(task).len(),
            None => self.folded_before(index, source.timeline, ui),
        };
        let key = (step.seq, unfolded, explained, folded);
        if let Some(known) = self.wrapped.get(&key) {
            return Ok(Some(Rc::clone(known)));
        }
        let Some(record) = source.history.record_at(step.seq)? else { return Ok(None) };
        let Some(mut entry) = TraceEntry::from_record_in(&record, source.state) else {
            return Ok(None);
        };
        if folded > 0 && failed.is_none() {
            let steps = if folded == 1 { "step" } else { "steps" };
            entry.text = format!("{} · {folded} earlier {steps} folded", entry.text);
        }
        let mut lines = step_lines(&entry, self.width, unfolded);
        if let Some(task) = failed {
            lines = failure_lines(&record, &entry, task, self.width, source)?;
        }
        if explained && let Some(words) = explain_tool_choice(&record) {
            lines.extend(why_lines(&words, self.width));
        }
        let wrapped = Rc::new(WrappedStep { entry, lines });
        self.wrapped.insert(key, Rc::clone(&wrapped));
        Ok(Some(wrapped))
    }
}
