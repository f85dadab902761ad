//! What the person requests of the application and not of the session: bookmarks, forks, comparisons.

use crossterm::event::Event;

use super::{ScreenEffect, SessionScreen};
use crate::compare::CompareScreen;
use crate::event_loop::InteractiveScreen as _;
use crate::overlays::{ForkCard, InputDialog, InputPurpose, Overlay, SessionPicker};
use crate::{ExitReason, SessionActions};
use planwright_model::{Seq, SessionId};
use planwright_state::replay::RecordSourceError;

/// Said where there is nothing to keep something beside.
pub(super) const NOT_SAVED: &str = "This is a file, not a saved run. Import it first.";

impl SessionScreen {
    /// Takes the mark of the shown event away, or opens the box for the note of a new one.
    pub(super) fn toggle_bookmark(&mut self) -> ScreenEffect {
        let at = self.cursor_seq();
        if at == Seq::START {
            return self.show_message("there is no event to mark yet");
        }
        if self.ui.bookmarks.contains_key(&at) {
            return self.set_bookmark(at, None);
        }
        self.ui.overlay =
            Some(Overlay::Input(Box::new(InputDialog::new(InputPurpose::Bookmark { at }))));
        ScreenEffect::Draw
    }

    /// Keeps a mark with its note, or takes it away.
    pub(super) fn set_bookmark(&mut self, at: Seq, note: Option<String>) -> ScreenEffect {
        if let Some(actions) = &self.actions
            && let Err(why) = actions.set_bookmark(&self.id, at, note.as_deref())
        {
            return self.show_message(format!("the bookmark was not kept: {why}"));
        }
        let unkept = if self.actions.is_none() { ", until you leave: this is a file" } else { "" };
        if let Some(note) = note {
            self.ui.bookmarks.insert(at, note);
            self.show_message(format!("bookmark at event {at}{unkept}"))
        } else {
            self.ui.bookmarks.remove(&at);
            self.show_message(format!("bookmark at event {at} removed"))
        }
    }

    /// States what a fork of the shown moment would do again and take over, and asks.
    pub(super) fn open_fork_card(&mut self) -> ScreenEffect {
        // The moment that is asked about stands still while it is.
        self.ui.time.playing = false;
        let Some(actions) = &self.actions else { return self.show_message(NOT_SAVED) };
        match actions.plan_fork(&self.id, self.cursor_seq()) {
            Ok(plan) => {
                let goes_on = self.is_running_here();
                let card = ForkCard::new(&plan, self.state(), goes_on);
                self.ui.overlay = Some(Overlay::Fork(Box::new(card)));
                ScreenEffect::Draw
            }
            Err(why) => self.show_message(format!("Can't fork here: {why}")),
        }
    }

    /// Makes the fork that was stated and opens it; what runs here is not left for it.
    pub(super) fn create_fork(&mut self) -> ScreenEffect {
        let Some(actions) = &self.actions else { return self.show_message(NOT_SAVED) };
        match actions.create_fork(&self.id, self.cursor_seq()) {
            Ok(id) if self.is_running_here() => self.show_message(format!(
                "The fork {} is made. It waits on the home screen.",
                id.short_id()
            )),
            Ok(id) => {
                self.created_fork = Some(id);
                ScreenEffect::Exit(ExitReason::BackToList)
            }
            Err(why) => self.show_message(format!("The fork was not made: {why}")),
        }
    }

    /// Asks which run to compare with.
    pub(super) fn ask_compare(&mut self) -> ScreenEffect {
        let Some(actions) = self.actions.clone() else { return self.show_message(NOT_SAVED) };
        match actions.comparable_sessions(&self.id) {
            Ok(sessions) if sessions.is_empty() => {
                self.show_message("there is no other session to compare with")
            }
            Ok(sessions) => {
                self.ui.overlay = Some(Overlay::Sessions(Box::new(SessionPicker::new(sessions))));
                ScreenEffect::Draw
            }
            Err(why) => self.show_message(why),
        }
    }

    /// Opens the comparison with a run that the person chose.
    pub(super) fn compare_with(&mut self, other: &SessionId) -> ScreenEffect {
        let Some(actions) = self.actions.clone() else { return self.show_message(NOT_SAVED) };
        match self.load_comparison(&*actions, other) {
            Ok(compare) => {
                self.compare = Some(Box::new(compare));
                ScreenEffect::Draw
            }
            Err(why) => self.show_message(why),
        }
    }

    fn load_comparison(
        &self,
        actions: &dyn SessionActions,
        other: &SessionId,
    ) -> Result<CompareScreen, String> {
        let found = actions.compare_sessions(&self.id, other.as_str())?;
        // Of a fork and what it continues, the earlier run stands on the left.
        let parent = found.comparison.a.fork_of.as_ref().map(|(parent, _)| parent);
        let found = if parent == Some(other) {
            actions.compare_sessions(other, self.id.as_str())?
        } else {
            found
        };
        CompareScreen::new(found, self.actions.clone(), &self.settings)
            .map_err(|error| error.to_string())
    }

    /// Input while two runs are looked at; leaving them leads back here.
    pub(super) fn on_compare_input(
        &mut self,
        event: Event,
    ) -> Result<ScreenEffect, RecordSourceError> {
        let Some(compare) = &mut self.compare else { return Ok(ScreenEffect::Idle) };
        Ok(match compare.update(super::ScreenMessage::Input(event))? {
            ScreenEffect::Exit(_) => {
                self.compare = None;
                ScreenEffect::Redraw
            }
            flow => flow,
        })
    }
}
