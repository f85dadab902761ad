//! The log of a task: opening and closing it, moving and searching in it, copying it.

use super::external_actions::ExternalAction;
use super::{ScreenEffect, SessionScreen};
use crate::panes::approval;
use crate::panes::output::{OutputPane, OutputSource};
use crate::panes::running;
use crate::screen_areas::SizeClass;
use crate::ui_state::{OutputUi, PaneFocus};
use crate::widgets::format_counted;
use planwright_model::TaskId;
use planwright_state::replay::RecordSourceError;

/// How many columns a key moves along lines that are not wrapped.
const COLUMN_STEP: usize = 20;

impl SessionScreen {
    /// Opens the output of the task that is looked at; pressed again, it closes.
    pub(super) fn open_output(&mut self) -> ScreenEffect {
        if self.ui.focus == PaneFocus::Output {
            return self.close_output();
        }
        let task = match self.ui.focus {
            PaneFocus::Approval => approval::shown_failed_task(self.state(), &self.ui).cloned(),
            PaneFocus::Running => running::selected_active_task(self.state(), &self.ui)
                .map(|task| self.state().tasks.id(task).clone()),
            PaneFocus::Trace => self.trace.task_at(self.ui.trace.cursor),
            PaneFocus::Graph | PaneFocus::Output | PaneFocus::Files | PaneFocus::Scrub => None,
        };
        self.ui.output = OutputUi {
            open: true,
            task: task.or_else(|| self.ui.graph.selected.clone()),
            opened_from: self.ui.focus,
            ..OutputUi::default()
        };
        self.ui.focus = PaneFocus::Output;
        ScreenEffect::Draw
    }

    pub(super) fn close_output(&mut self) -> ScreenEffect {
        self.ui.focus = self.ui.output.opened_from;
        self.ui.output = OutputUi::default();
        ScreenEffect::Draw
    }

    /// Goes from a task that was skipped to the failure because of which it was.
    pub(super) fn open_failure_behind_output(&mut self) -> ScreenEffect {
        let state = self.state();
        let task = self.output_task().and_then(|task| state.tasks.position(&task));
        let failed = task.and_then(|task| state.failure_behind(task));
        match failed.map(|failed| state.tasks.id(failed).clone()) {
            Some(failed) => {
                self.close_output();
                self.open_failure(&failed)
            }
            None => ScreenEffect::Idle,
        }
    }

    /// The task whose output is shown; none for all of them.
    fn output_task(&self) -> Option<TaskId> {
        let ui = &self.ui.output;
        if ui.all_tasks {
            return None;
        }
        let chosen = ui.task.clone().filter(|_| ui.open);
        chosen.or_else(|| self.ui.graph.selected.clone())
    }

    /// Builds the rows of the log that are on the screen.
    pub(super) fn update_output_view(&mut self, class: SizeClass) -> Result<(), RecordSourceError> {
        if self.areas.output.is_empty() {
            return Ok(());
        }
        let size = OutputPane::text_size(self.areas.output, class, self.ui.output.all_tasks);
        let task = self.output_task();
        let cursor = self.shown.as_ref().map(|state| state.seq);
        let mut source =
            OutputSource { history: &mut self.history, timeline: &self.timeline, cursor };
        self.output.update_rows(&mut source, &mut self.ui.output, task.as_ref(), size)
    }

    /// Moves by lines. At the end it follows again.
    pub(super) fn move_in_output(&mut self, by: isize) {
        let rows = usize::from(self.areas.output.height.saturating_sub(1)).max(1);
        let last = self.output.shown_lines().saturating_sub(rows);
        let ui = &mut self.ui.output;
        ui.top = ui.top.saturating_add_signed(by).min(last);
        ui.following = by > 0 && ui.top >= last;
    }

    /// Moves along lines that are not wrapped.
    pub(super) fn move_aside_in_output(&mut self, forward: bool) -> ScreenEffect {
        let Some(left) = &mut self.ui.output.unwrapped_from else {
            let key = self.keymap.key_hint(crate::keymap::KeyAction::WrapOutput);
            return self.show_message(format!("Lines are wrapped here; {key} changes that"));
        };
        let step = COLUMN_STEP as isize;
        *left = left.saturating_add_signed(if forward { step } else { -step });
        ScreenEffect::Draw
    }

    pub(super) fn toggle_output_wrapping(&mut self) -> ScreenEffect {
        let ui = &mut self.ui.output;
        ui.unwrapped_from = match ui.unwrapped_from {
            Some(_) => None,
            None => Some(0),
        };
        ScreenEffect::Draw
    }

    /// Shows only lines with what was searched for, or all of them again around the same place.
    pub(super) fn toggle_only_matches(&mut self) -> ScreenEffect {
        let Some((_, at)) = self.ui.output.search.clone() else {
            let key = self.keymap.key_hint(crate::keymap::KeyAction::Search);
            return self.show_message(format!("Search first with {key}"));
        };
        let ui = &mut self.ui.output;
        ui.only_matches = !ui.only_matches;
        let before = usize::from(self.areas.output.height) / 3;
        ui.top = match (ui.only_matches, at) {
            (false, Some(at)) => at.saturating_sub(before),
            _ => 0,
        };
        ui.following = false;
        ScreenEffect::Draw
    }

    pub(super) fn toggle_all_output(&mut self) -> ScreenEffect {
        let ui = &mut self.ui.output;
        (ui.all_tasks, ui.following) = (!ui.all_tasks, true);
        (ui.search, ui.only_matches, ui.error) = (None, false, None);
        ScreenEffect::Draw
    }

    /// The start or the end of the log.
    pub(super) fn jump_in_output(&mut self, to_end: bool) -> ScreenEffect {
        let ui = &mut self.ui.output;
        (ui.following, ui.top) = (to_end, 0);
        ScreenEffect::Draw
    }

    /// The next or previous match while one types; nothing where nothing is searched for.
    pub(super) fn go_to_output_match(&mut self, forward: bool) {
        if self.ui.output.search.is_some()
            && let Err(error) = self.next_output_match(forward)
        {
            tracing::warn!(%error, "the output could not be searched");
            self.report_search("the output could not be read".to_owned());
        }
    }

    /// The next or previous line with what was searched for.
    pub(super) fn next_output_match(
        &mut self,
        forward: bool,
    ) -> Result<ScreenEffect, RecordSourceError> {
        let Some((query, at)) = self.ui.output.search.clone() else {
            return self.next_output_error(self.ui.output.error, forward);
        };
        let found = self.output.find_line(&mut self.history, &query, at, forward)?;
        let Some(found) = found else {
            return Ok(self.report_search(format!("No match for \"{query}\"")));
        };
        let matches = self.output.count_matches(&mut self.history, &query)?;
        self.ui.output.search = Some((query, Some(found)));
        self.show_output_line(found);
        let lines = format_counted(matches, "match");
        let lines = lines.replace("matchs", "matches");
        Ok(self.report_search(format!("line {} of {}, {lines}", found + 1, self.output.total)))
    }

    /// The next or previous line that calls itself an error.
    pub(super) fn next_output_error(
        &mut self,
        from: Option<usize>,
        forward: bool,
    ) -> Result<ScreenEffect, RecordSourceError> {
        let Some(found) = self.output.find_error(&mut self.history, from, forward)? else {
            let key = self.keymap.key_hint(crate::keymap::KeyAction::Search);
            return Ok(self.show_message(format!("No line looks like an error; {key} searches")));
        };
        self.ui.output.error = Some(found);
        self.show_output_line(found);
        Ok(self.show_message(format!("error in line {} of {}", found + 1, self.output.total)))
    }

    /// Brings a line of the log into view, a third of the pane from the top.
    fn show_output_line(&mut self, number: usize) {
        let index = self.output.shown_index(number);
        let ui = &mut self.ui.output;
        ui.following = false;
        ui.top = index.saturating_sub(usize::from(self.areas.output.height) / 3);
    }

    /// Opens the whole log in the pager.
    pub(super) fn page_output(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        let text = self.output.whole_text(&mut self.history)?;
        if text.is_empty() {
            return Ok(self.show_message("There is no output to show yet".to_owned()));
        }
        Ok(self.request_external_action(ExternalAction::Page { text }))
    }

    /// Copies the log without wrapping it.
    pub(super) fn copy_output(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        let text = self.output.copied_text(&mut self.history)?;
        let lines = format_counted(text.lines().count(), "line");
        self.request_external_action(ExternalAction::Copy { text });
        Ok(self.show_message(format!("{lines} copied, if this terminal has a clipboard")))
    }
}
