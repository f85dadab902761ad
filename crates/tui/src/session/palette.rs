//! The command palette: every action of the table, with what it would do here or why it cannot.

use super::app_actions::NOT_SAVED;
use super::{ScreenEffect, SessionScreen, active_key_places};
use crate::keymap::{ActionEntry, ActionGroup, KeyAction, KeyContext, TABLE};
use crate::overlays::{CommandPalette, Overlay, PaletteItem};
use crate::panes::plan::PlanView;
use crate::ui_state::PaneFocus;
use planwright_model::TaskId;
use planwright_state::TaskStatus;
use planwright_state::replay::RecordSourceError;

impl SessionScreen {
    pub(super) fn open_palette(&mut self) -> ScreenEffect {
        let here = |entry: &&ActionEntry| {
            entry.action != KeyAction::Palette
                && !entry.place.is_home()
                && entry.place != KeyContext::Compare
        };
        let items = TABLE.iter().filter(here);
        let items = items.map(|entry| self.palette_item(entry)).collect();
        let palette = CommandPalette::new(items, &self.ui.recent);
        self.ui.overlay = Some(Overlay::Palette(Box::new(palette)));
        ScreenEffect::Draw
    }

    /// Does what was chosen in the palette, unless it cannot be done here.
    pub(super) fn run_from_palette(
        &mut self,
        action: KeyAction,
    ) -> Result<ScreenEffect, RecordSourceError> {
        self.ui.recent.retain(|used| *used != action);
        self.ui.recent.insert(0, action);
        self.perform_action(action)
    }

    fn palette_item(&self, entry: &'static ActionEntry) -> PaletteItem {
        let impossible = self.why_impossible(entry);
        let detail = if impossible.is_none() { self.action_subject(entry) } else { None };
        PaletteItem {
            action: entry.action,
            words: entry.words,
            keys: self.keymap.key_hint(entry.action),
            detail: detail.unwrap_or_default(),
            moves: entry.group == ActionGroup::Move,
            impossible,
        }
    }

    /// What an action would be about.
    fn action_subject(&self, entry: &ActionEntry) -> Option<String> {
        let about_task = matches!(
            entry.action,
            KeyAction::Done
                | KeyAction::Retry
                | KeyAction::RetryWithDependents
                | KeyAction::Skip
                | KeyAction::StopTask
                | KeyAction::Mark
        );
        let selected = self.ui.graph.selected.as_ref();
        if entry.action == KeyAction::RetryWithDependents {
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
            KeyAction::Jobs => Some(format!("now up to {}", self.latest.run.jobs)),
            KeyAction::RequestChanges | KeyAction::Comment | KeyAction::Lock
                if !self.ui.marks.is_empty() =>
            {
                let names: Vec<&str> = self.ui.marks.iter().map(TaskId::as_str).collect();
                Some(names.join(", "))
            }
            KeyAction::Comment | KeyAction::Lock | KeyAction::Edit
                if self.ui.focus == PaneFocus::Graph =>
            {
                selected.map(ToString::to_string)
            }
            KeyAction::Comment | KeyAction::Lock | KeyAction::Edit => {
                Some("asks which node".to_owned())
            }
            _ => None,
        }
    }

    /// Why an action can do nothing here, if so.
    fn why_impossible(&self, entry: &ActionEntry) -> Option<String> {
        let here = active_key_places(&self.ui, self.state(), self.mode());
        match entry.place {
            // Only a key in the panel answers, so that nothing is approved from a list of words.
            KeyContext::Card if is_answer(entry.action) => {
                let key = self.keymap.key_hint(entry.action);
                return Some(format!("only {key} in the panel of a request gives an answer"));
            }
            KeyContext::Failed if !here.contains(&KeyContext::Failed) => {
                return Some("no failed task is in the panel".to_owned());
            }
            KeyContext::OpenCard if here.contains(&KeyContext::Failed) => {}
            KeyContext::Card | KeyContext::OpenCard if !here.contains(&KeyContext::Card) => {
                return Some("no request has the focus".to_owned());
            }
            KeyContext::Replay if !self.mode().is_past() => return Some(self.live_notice()),
            KeyContext::Table if self.ui.view.kind != PlanView::Table => {
                let key = self.keymap.key_hint(KeyAction::ViewTable);
                return Some(format!("{key} shows the table"));
            }
            _ => {}
        }
        match entry.action {
            KeyAction::Play | KeyAction::Slower | KeyAction::Faster if !self.mode().is_past() => {
                Some(self.live_notice())
            }
            KeyAction::Live if !self.mode().is_past() => Some("already live".to_owned()),
            KeyAction::Live if self.is_saved() => Some("this is a saved run".to_owned()),
            KeyAction::Follow if self.ui.focus == PaneFocus::Graph && self.ui.graph.following => {
                Some("already following".to_owned())
            }
            KeyAction::Fork | KeyAction::CompareWith if self.actions.is_none() => {
                Some(NOT_SAVED.to_owned())
            }
            KeyAction::Fork if self.state().plan.current.is_none() => {
                Some("there is no plan yet at this moment".to_owned())
            }
            KeyAction::Pause => self.why_cannot_act(),
            KeyAction::Jobs => self
                .why_cannot_act()
                .or_else(|| (!self.latest.run.is_active()).then(|| "nothing runs now".to_owned())),
            KeyAction::Done
            | KeyAction::Retry
            | KeyAction::RetryWithDependents
            | KeyAction::Skip
            | KeyAction::StopTask => {
                self.why_cannot_act().or_else(|| self.why_task_unfit(entry.action))
            }
            _ => None,
        }
    }

    fn live_notice(&self) -> String {
        format!(
            "this is live, {} goes back in time",
            self.keymap.key_hint(KeyAction::PreviousEvent)
        )
    }

    /// Why the selected task is not one that the action is for.
    fn why_task_unfit(&self, action: KeyAction) -> Option<String> {
        let Some(id) = &self.ui.graph.selected else {
            return Some("no task is selected".to_owned());
        };
        let status = self.latest.tasks.get(id)?.status;
        let fits = match action {
            KeyAction::Done => status == TaskStatus::Yours,
            KeyAction::Retry => matches!(status, TaskStatus::Failed | TaskStatus::Skipped(_)),
            KeyAction::RetryWithDependents => status.is_settled(),
            KeyAction::Skip => !matches!(status, TaskStatus::Done | TaskStatus::Skipped(_)),
            _ => status == TaskStatus::Running,
        };
        (!fits).then(|| format!("{id} is {}", status.label()))
    }
}

/// Whether an action answers a request.
pub(super) fn is_answer(action: KeyAction) -> bool {
    matches!(
        action,
        KeyAction::Yes
            | KeyAction::YesWider
            | KeyAction::Options
            | KeyAction::Reply
            | KeyAction::No
            | KeyAction::StopIt
            | KeyAction::TakeOver
            | KeyAction::Again
            | KeyAction::PassOver
            | KeyAction::Ideas
    )
}
