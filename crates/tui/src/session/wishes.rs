//! What the person wishes of the application and not of the session: bookmarks, forks, comparisons.

use crossterm::event::Event;

use super::{Flow, Screen};
use crate::compare::Compare;
use crate::event_loop::App as _;
use crate::overlays::{ForkCard, Input, Overlay, Purpose};
use crate::{Desk, ExitReason};
use planwright_model::Seq;
use planwright_state::replay::SourceError;

/// Said where there is nothing to keep something beside.
pub(super) const NOT_SAVED: &str = "this is a file and no saved session, import it first";

impl Screen {
    /// Takes the mark of the shown event away, or opens the box for the note of a new one.
    pub(super) fn turn_bookmark(&mut self) -> Flow {
        let at = self.cursor();
        if at == Seq::START {
            return self.say("there is no event to mark yet");
        }
        if self.ui.bookmarks.contains_key(&at) {
            return self.set_bookmark(at, None);
        }
        self.ui.overlay = Some(Overlay::Input(Box::new(Input::new(Purpose::Bookmark { at }))));
        Flow::Draw
    }

    /// Keeps a mark with its note, or takes it away.
    pub(super) fn set_bookmark(&mut self, at: Seq, note: Option<String>) -> Flow {
        if let Some(desk) = &self.desk
            && let Err(why) = desk.bookmark(&self.id, at, note.as_deref())
        {
            return self.say(format!("the bookmark was not kept: {why}"));
        }
        let unkept = if self.desk.is_none() { ", until you leave: this is a file" } else { "" };
        if let Some(note) = note {
            self.ui.bookmarks.insert(at, note);
            self.say(format!("bookmark at event {at}{unkept}"))
        } else {
            self.ui.bookmarks.remove(&at);
            self.say(format!("bookmark at event {at} removed"))
        }
    }

    /// States what a fork of the shown moment would do again and take over, and asks.
    pub(super) fn open_fork(&mut self) -> Flow {
        // The moment that is asked about stands still while it is.
        self.ui.time.playing = false;
        let Some(desk) = &self.desk else { return self.say(NOT_SAVED) };
        match desk.plan_fork(&self.id, self.cursor()) {
            Ok(plan) => {
                let goes_on = self.works();
                let card = ForkCard::new(&plan, self.state(), goes_on);
                self.ui.overlay = Some(Overlay::Fork(Box::new(card)));
                Flow::Draw
            }
            Err(why) => self.say(format!("no fork from here: {why}")),
        }
    }

    /// Whether this process carries the session on, so that leaving it would interrupt it.
    fn works(&self) -> bool {
        self.commands.is_some() && self.latest.run.is_active()
    }

    /// Makes the fork that was stated and opens it; what runs here is not left for it.
    pub(super) fn fork(&mut self) -> Flow {
        let Some(desk) = &self.desk else { return self.say(NOT_SAVED) };
        match desk.fork(&self.id, self.cursor()) {
            Ok(id) if self.works() => {
                self.say(format!("fork {} is made; the list of sessions opens it", id.short()))
            }
            Ok(id) => {
                self.made = Some(id);
                Flow::Exit(ExitReason::BackToList)
            }
            Err(why) => self.say(format!("the fork was not made: {why}")),
        }
    }

    /// Asks which run to compare with.
    pub(super) fn ask_compare(&mut self) -> Flow {
        if self.desk.is_none() {
            return self.say(NOT_SAVED);
        }
        self.ui.overlay = Some(Overlay::Input(Box::new(Input::new(Purpose::Compare))));
        Flow::Draw
    }

    /// Opens the comparison with a run that the person named, or with the one this was forked from.
    pub(super) fn compare_with(&mut self, name: &str) -> Flow {
        let Some(desk) = self.desk.clone() else { return self.say(NOT_SAVED) };
        match self.comparison(&*desk, name) {
            Ok(compare) => {
                self.compare = Some(Box::new(compare));
                Flow::Draw
            }
            Err(why) => self.say(why),
        }
    }

    fn comparison(&self, desk: &dyn Desk, name: &str) -> Result<Compare, String> {
        let found = if name.is_empty() {
            // Compared with itself, a session says what it goes on from.
            let own = desk.compare(&self.id, self.id.as_str())?;
            let parent = own.comparison.a.fork_of.map(|(parent, _)| parent);
            let parent = parent.ok_or("this run was not forked from another one, name one")?;
            desk.compare(&parent, self.id.as_str())?
        } else {
            desk.compare(&self.id, name)?
        };
        Compare::new(found, self.desk.clone(), &self.settings).map_err(|error| error.to_string())
    }

    /// Input while two runs are looked at; leaving them leads back here.
    pub(super) fn compare_input(&mut self, event: Event) -> Result<Flow, SourceError> {
        let Some(compare) = &mut self.compare else { return Ok(Flow::Idle) };
        Ok(match compare.update(super::Message::Input(event))? {
            Flow::Exit(_) => {
                self.compare = None;
                Flow::Redraw
            }
            flow => flow,
        })
    }
}
