//! The files at the cursor: reading them from the journal, moving among them, and showing them whole.

use super::{ExternalAction, ScreenEffect, SessionScreen};
use crate::panes::files::FilesPane;
use crate::panes::finished::is_finished_shown;
use crate::ui_state::PaneFocus;
use planwright_model::RunKind;
use planwright_state::replay::RecordSourceError;

impl SessionScreen {
    /// Whether edits are still being read: for the past, and for the card at the end of a run, which counts them. Only
    /// agents record theirs, so that a run of commands is not read through.
    pub(crate) fn is_reading_files(&self) -> bool {
        let wanted = self.mode().is_past() || is_finished_shown(&self.latest, &self.ui);
        wanted && self.has_agents() && self.files.is_behind(self.latest.seq)
    }

    fn has_agents(&self) -> bool {
        let current = self.latest.plan.current.as_ref();
        current.is_some_and(|current| {
            current.plan.tasks.iter().any(|task| matches!(task.run, RunKind::Agent(_)))
        })
    }

    /// Whether the files have rows of their own beside the activity: there are some, or the person asked for them.
    pub(super) fn wants_files(&self) -> bool {
        self.files.edit_count() > 0 || self.ui.focus == PaneFocus::Files
    }

    /// Reads on a little; draws once there is something new to see.
    pub(super) fn read_files(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        let before = self.files.edit_count();
        self.files.read_on(&mut self.history, self.latest.seq)?;
        // With the last page the sums are known, which the card at the end shows.
        let is_summed = !self.files.is_behind(self.latest.seq) && !self.mode().is_past();
        let news = is_summed || self.files.edit_count() != before;
        Ok(if news { ScreenEffect::Draw } else { ScreenEffect::Idle })
    }

    /// Settles what the pane shows.
    pub(super) fn update_files(&mut self) {
        if self.areas.files.is_empty() {
            return;
        }
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        self.files.update(state, &mut self.ui.files, &self.time_zone);
    }

    /// Turns to the files; where they have the focus already, shows the whole difference in the pager.
    pub(super) fn open_files(&mut self) -> ScreenEffect {
        if !self.mode().is_past() {
            let key = self.keymap.key_hint(crate::keymap::KeyAction::PreviousEvent);
            return self
                .show_message(format!("files are shown in the past, {key} goes back in time"));
        }
        if self.ui.focus != PaneFocus::Files {
            self.ui.focus = PaneFocus::Files;
            return ScreenEffect::Draw;
        }
        let text = self.files.whole_difference(self.cursor_seq(), &self.time_zone, self.state());
        if text.is_empty() {
            return self.show_message("no edits by agents up to here");
        }
        self.request_external_action(ExternalAction::Page { text })
    }

    /// Shows the selected file as it was, in the pager.
    pub(super) fn open_file(&mut self) -> ScreenEffect {
        match self.files.shown_text(self.cursor_seq(), &self.time_zone, self.state()) {
            Some(text) => self.request_external_action(ExternalAction::Page { text }),
            None => self.show_message("no edits by agents up to here"),
        }
    }

    pub(super) fn copy_file_path(&mut self) -> ScreenEffect {
        let Some(file) = self.files.files.get(self.files.shown) else {
            return self.show_message("no edits by agents up to here");
        };
        let text = file.path.clone();
        let words = format!("{text} is on the clipboard, if this terminal has one");
        self.request_external_action(ExternalAction::Copy { text });
        self.show_message(words)
    }

    /// Selects another file.
    pub(super) fn move_in_files(&mut self, by: isize) {
        let last = self.files.files.len().saturating_sub(1);
        let to = self.files.shown.saturating_add_signed(by).min(last);
        self.select_file(to);
    }

    pub(super) fn select_file(&mut self, index: usize) {
        if let Some(file) = self.files.files.get(index) {
            self.ui.files.selected = Some(file.path.clone());
            self.ui.files.scroll = 0;
        }
    }

    /// Scrolls the difference.
    pub(super) fn scroll_files(&mut self, by: isize) {
        let rows = usize::from(FilesPane::diff_rows(self.areas.files, &self.files));
        let most = self.files.diff.len().saturating_sub(rows);
        self.ui.files.scroll = self.ui.files.scroll.saturating_add_signed(by).min(most);
    }
}
