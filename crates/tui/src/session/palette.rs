//! The command palette: every action of the table, with what it would do here or why it cannot.

use super::{ScreenEffect, SessionScreen};
use crate::action_situation::is_answer;
use crate::keymap::{ActionEntry, ActionGroup, KeyAction, KeyContext, TABLE};
use crate::overlays::{CommandPalette, Overlay, PaletteItem};
use crate::ui_state::PaneFocus;
use planwright_model::TaskId;
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
        // Only a key on the card answers, so that nothing is approved from a list of words.
        if is_answer(entry.action) {
            let key = self.keymap.key_hint(entry.action);
            return Some(format!("only {key} on the card gives an answer"));
        }
        self.situation().why_unavailable(entry.action)
    }
}
