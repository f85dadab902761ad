//! The command palette: every action of the table, with what it would do here or why it cannot.

use super::wishes::NOT_SAVED;
use super::{Flow, Screen, places};
use crate::keymap::{Action, Entry, Group, Place, TABLE};
use crate::overlays::{Overlay, Palette, PaletteItem};
use crate::panes::plan::View;
use crate::ui_state::Focus;
use planwright_model::TaskId;
use planwright_state::TaskStatus;
use planwright_state::replay::SourceError;

impl Screen {
    pub(super) fn open_palette(&mut self) -> Flow {
        let here = |entry: &&Entry| {
            entry.action != Action::Palette
                && !entry.place.is_home()
                && entry.place != Place::Compare
        };
        let items = TABLE.iter().filter(here);
        let items = items.map(|entry| self.palette_item(entry)).collect();
        let palette = Palette::new(items, &self.ui.recent);
        self.ui.overlay = Some(Overlay::Palette(Box::new(palette)));
        Flow::Draw
    }

    /// Does what was chosen in the palette, unless it cannot be done here.
    pub(super) fn run_from_palette(&mut self, action: Action) -> Result<Flow, SourceError> {
        self.ui.recent.retain(|used| *used != action);
        self.ui.recent.insert(0, action);
        self.perform(action)
    }

    fn palette_item(&self, entry: &'static Entry) -> PaletteItem {
        let impossible = self.impossible(entry);
        let detail = if impossible.is_none() { self.subject(entry) } else { None };
        PaletteItem {
            action: entry.action,
            words: entry.words,
            keys: self.keymap.key(entry.action),
            detail: detail.unwrap_or_default(),
            moves: entry.group == Group::Move,
            impossible,
        }
    }

    /// What an action would be about.
    fn subject(&self, entry: &Entry) -> Option<String> {
        let about_task = matches!(
            entry.action,
            Action::Done
                | Action::Retry
                | Action::RetryWithDependents
                | Action::Skip
                | Action::StopTask
                | Action::Mark
        );
        let selected = self.ui.graph.selected.as_ref();
        if entry.action == Action::RetryWithDependents {
            let tasks = &self.latest.tasks;
            let task = tasks.position(selected?)?;
            let mut names = vec![tasks.id(task).to_string()];
            names.extend(tasks.descendants(task).iter().map(|task| tasks.id(*task).to_string()));
            return Some(names.join(", "));
        }
        if about_task {
            return selected.map(ToString::to_string);
        }
        match entry.action {
            Action::Jobs => Some(format!("now up to {}", self.latest.run.jobs)),
            Action::RequestChanges | Action::Comment | Action::Lock
                if !self.ui.marks.is_empty() =>
            {
                let names: Vec<&str> = self.ui.marks.iter().map(TaskId::as_str).collect();
                Some(names.join(", "))
            }
            Action::Comment | Action::Lock | Action::Edit if self.ui.focus == Focus::Graph => {
                selected.map(ToString::to_string)
            }
            Action::Comment | Action::Lock | Action::Edit => Some("asks which node".to_owned()),
            _ => None,
        }
    }

    /// Why an action can do nothing here, if so.
    fn impossible(&self, entry: &Entry) -> Option<String> {
        let here = places(&self.ui, self.state(), self.mode());
        match entry.place {
            // Only a key in the panel answers, so that nothing is approved from a list of words.
            Place::Card if is_answer(entry.action) => {
                let key = self.keymap.key(entry.action);
                return Some(format!("only {key} in the panel of a request gives an answer"));
            }
            Place::Failed if !here.contains(&Place::Failed) => {
                return Some("no failed task is in the panel".to_owned());
            }
            Place::OpenCard if here.contains(&Place::Failed) => {}
            Place::Card | Place::OpenCard if !here.contains(&Place::Card) => {
                return Some("no request has the focus".to_owned());
            }
            Place::Replay if !self.mode().is_past() => return Some(self.is_live()),
            Place::Table if self.ui.view.kind != View::Table => {
                let key = self.keymap.key(Action::ViewTable);
                return Some(format!("{key} shows the table"));
            }
            _ => {}
        }
        match entry.action {
            Action::Play | Action::Slower | Action::Faster if !self.mode().is_past() => {
                Some(self.is_live())
            }
            Action::Live if !self.mode().is_past() => Some("already live".to_owned()),
            Action::Live if self.is_saved() => Some("this is a saved run".to_owned()),
            Action::Follow if self.ui.focus == Focus::Graph && self.ui.graph.following => {
                Some("already following".to_owned())
            }
            Action::Fork | Action::CompareWith if self.desk.is_none() => Some(NOT_SAVED.to_owned()),
            Action::Fork if self.state().plan.current.is_none() => {
                Some("there is no plan yet at this moment".to_owned())
            }
            Action::Pause => self.cannot_act(),
            Action::Jobs => self
                .cannot_act()
                .or_else(|| (!self.latest.run.is_active()).then(|| "nothing runs now".to_owned())),
            Action::Done
            | Action::Retry
            | Action::RetryWithDependents
            | Action::Skip
            | Action::StopTask => self.cannot_act().or_else(|| self.unfit(entry.action)),
            _ => None,
        }
    }

    fn is_live(&self) -> String {
        format!("this is live, {} goes back in time", self.keymap.key(Action::PreviousEvent))
    }

    /// Why the selected task is not one that the action is for.
    fn unfit(&self, action: Action) -> Option<String> {
        let Some(id) = &self.ui.graph.selected else {
            return Some("no task is selected".to_owned());
        };
        let status = self.latest.tasks.get(id)?.status;
        let fits = match action {
            Action::Done => status == TaskStatus::Yours,
            Action::Retry => matches!(status, TaskStatus::Failed | TaskStatus::Skipped(_)),
            Action::RetryWithDependents => status.is_settled(),
            Action::Skip => !matches!(status, TaskStatus::Done | TaskStatus::Skipped(_)),
            _ => status == TaskStatus::Running,
        };
        (!fits).then(|| format!("{id} is {}", status.word()))
    }
}

/// Whether an action answers a request.
fn is_answer(action: Action) -> bool {
    matches!(
        action,
        Action::Yes
            | Action::YesWider
            | Action::Always
            | Action::Options
            | Action::Reply
            | Action::No
            | Action::Reject
            | Action::StopIt
            | Action::TakeOver
            | Action::Again
            | Action::PassOver
            | Action::Ideas
    )
}
