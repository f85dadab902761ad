//! The commands of a session: every action of the table, exports, themes, settings, each with what it would do here or
//! why it cannot.

use super::{ScreenEffect, SessionScreen};
use crate::SessionExport;
use crate::action_situation::is_answer;
use crate::keymap::{ActionEntry, ActionGroup, KeyAction, KeyContext, TABLE};
use crate::overlays::{
    CommandPalette, Overlay, PaletteCommand, PaletteItem, SettingsPanel, ViewFormat,
};
use crate::panes::approval::{current_request, request_judgment};
use crate::ui_state::PaneFocus;
use planwright_model::TaskId;
use planwright_state::replay::RecordSourceError;
use planwright_state::{TaskRow, TaskStatus};

impl SessionScreen {
    pub(super) fn open_palette(&mut self) -> ScreenEffect {
        let here = |entry: &&ActionEntry| {
            entry.action != KeyAction::Palette
                && !entry.place.is_home()
                && entry.place != KeyContext::Compare
        };
        let mut items: Vec<PaletteItem> =
            TABLE.iter().filter(here).map(|entry| self.action_item(entry)).collect();
        items.extend(self.explain_items());
        items.extend(self.export_items());
        if let Some(store) = &self.settings.store {
            items.extend(settings_items(&store.theme_names()));
        }
        let palette = CommandPalette::new(items, &self.ui.recent);
        self.ui.overlay = Some(Overlay::Palette(Box::new(palette)));
        ScreenEffect::Draw
    }

    /// Does what was chosen among the commands.
    pub(super) fn run_command(
        &mut self,
        command: PaletteCommand,
    ) -> Result<ScreenEffect, RecordSourceError> {
        self.ui.recent.retain(|used| *used != command);
        self.ui.recent.insert(0, command.clone());
        match command {
            PaletteCommand::Action(action) => self.perform_action(action),
            PaletteCommand::Export(export) => Ok(self.export_session(export)),
            PaletteCommand::UseTheme(name) => Ok(self.use_theme(&name)),
            PaletteCommand::Settings => Ok(self.open_settings()),
            PaletteCommand::ExplainConfidence => Ok(self.explain_confidence()),
            PaletteCommand::ExplainSkip => Ok(self.explain_skip()),
            PaletteCommand::ExportView(format) => self.export_view(format),
        }
    }

    /// Opens the figures behind the confidence on the card.
    fn explain_confidence(&mut self) -> ScreenEffect {
        self.ui.focus = PaneFocus::Approval;
        if self.ui.card.terms { ScreenEffect::Draw } else { self.toggle_terms() }
    }

    /// Opens the first task that was skipped, which names the failure behind it.
    fn explain_skip(&mut self) -> ScreenEffect {
        let Some(task) = self.skipped_task() else { return ScreenEffect::Idle };
        self.ui.select_task(task.clone());
        self.ui.focus = PaneFocus::Graph;
        self.open_task_card(task);
        ScreenEffect::Draw
    }

    fn skipped_task(&self) -> Option<TaskId> {
        let is_skipped =
            |(_, row): &(&TaskId, &TaskRow)| matches!(row.status, TaskStatus::Skipped(_));
        self.state().tasks.iter().find(is_skipped).map(|(id, _)| id.clone())
    }

    /// Writes what is on the screen to a file.
    fn export_view(&mut self, format: ViewFormat) -> Result<ScreenEffect, RecordSourceError> {
        let Some(actions) = self.actions.clone() else {
            return Ok(self.show_message("this is a file; import it first"));
        };
        let frame = self.current_frame()?;
        let text = match format {
            ViewFormat::Text => crate::frame_text(&frame),
            ViewFormat::Svg => crate::frame_picture(&frame),
        };
        let said = actions.export_view(&self.id, format, &text);
        Ok(self.show_message(said.unwrap_or_else(|why| why)))
    }

    /// The commands that explain something.
    fn explain_items(&self) -> Vec<PaletteItem> {
        let judged = current_request(self.state(), &self.ui)
            .is_some_and(|request| request_judgment(request, self.state()).is_some());
        let confidence = PaletteItem {
            keys: self.keymap.key_hint(KeyAction::Terms),
            impossible: (!judged).then(|| "nothing that is asked was judged".to_owned()),
            ..PaletteItem::from_words(
                PaletteCommand::ExplainConfidence,
                "Explain the confidence",
                "the figures behind \"sure\"",
            )
        };
        let skip = PaletteItem {
            impossible: self.skipped_task().is_none().then(|| "no task is skipped".to_owned()),
            ..PaletteItem::from_words(
                PaletteCommand::ExplainSkip,
                "Explain why a task was skipped",
                "the failure behind it",
            )
        };
        vec![confidence, skip]
    }

    fn export_session(&mut self, export: SessionExport) -> ScreenEffect {
        let Some(actions) = &self.actions else {
            return self.show_message("this is a file; import it first");
        };
        let said = actions.export_session(&self.id, export);
        self.show_message(said.unwrap_or_else(|why| why))
    }

    fn use_theme(&mut self, name: &str) -> ScreenEffect {
        let Some(store) = &self.settings.store else { return ScreenEffect::Idle };
        let said = store.change("theme", Some(name));
        self.show_message(match said {
            Ok(_) => format!("Theme: {}", theme_title(name)),
            Err(why) => why,
        })
    }

    /// Opens the settings.
    pub(super) fn open_settings(&mut self) -> ScreenEffect {
        let Some(store) = self.settings.store.clone() else {
            return self.show_message("there is no config file here");
        };
        self.ui.overlay = Some(Overlay::Settings(Box::new(SettingsPanel::new(store))));
        ScreenEffect::Draw
    }

    fn action_item(&self, entry: &'static ActionEntry) -> PaletteItem {
        let impossible = self.why_impossible(entry);
        let detail = if impossible.is_none() { self.action_subject(entry) } else { None };
        PaletteItem {
            detail: detail.unwrap_or_default(),
            moves: entry.group == ActionGroup::Move,
            impossible,
            ..PaletteItem::from_action(
                entry.action,
                entry.words,
                self.keymap.key_hint(entry.action),
            )
        }
    }

    fn export_items(&self) -> Vec<PaletteItem> {
        let impossible = |export: SessionExport| {
            if self.actions.is_none() {
                return Some("this is a file; import it first".to_owned());
            }
            let planless = export.is_about_plan() && self.latest.plan.current.is_none();
            planless.then(|| "there is no plan yet".to_owned())
        };
        let item = |export: SessionExport| PaletteItem {
            impossible: impossible(export),
            ..PaletteItem::from_words(
                PaletteCommand::Export(export),
                export.title(),
                export.explanation(),
            )
        };
        let views = [(ViewFormat::Text, "as text"), (ViewFormat::Svg, "as a picture (SVG)")];
        let views = views.into_iter().map(|(format, what)| PaletteItem {
            impossible: self
                .actions
                .is_none()
                .then(|| "this is a file; import it first".to_owned()),
            ..PaletteItem::from_words(
                PaletteCommand::ExportView(format),
                "Export what you see",
                &format!("this screen {what}"),
            )
        });
        SessionExport::ALL.into_iter().map(item).chain(views).collect()
    }

    /// What an action would be about.
    fn action_subject(&self, entry: &ActionEntry) -> Option<String> {
        let about_task = matches!(
            entry.action,
            KeyAction::Done
                | KeyAction::When
                | KeyAction::Retry
                | KeyAction::RetryWithDependents
                | KeyAction::Skip
                | KeyAction::StopTask
                | KeyAction::Mark
        );
        let selected = self.ui.graph.selected.as_ref();
        if about_task {
            return selected.map(|id| self.row_title(id));
        }
        match entry.action {
            KeyAction::Jobs => Some(format!("now up to {}", self.latest.run.jobs)),
            KeyAction::RequestChanges | KeyAction::Comment | KeyAction::Lock
                if !self.ui.marks.is_empty() =>
            {
                let names: Vec<String> =
                    self.ui.marks.iter().map(|id| self.row_title(id)).collect();
                Some(names.join(", "))
            }
            KeyAction::Comment | KeyAction::Lock | KeyAction::Edit
                if self.ui.focus == PaneFocus::Graph =>
            {
                selected.map(|id| self.row_title(id))
            }
            KeyAction::Comment | KeyAction::Lock | KeyAction::Edit => {
                Some("asks which row".to_owned())
            }
            _ => None,
        }
    }

    /// Why an action can do nothing here, if so.
    fn why_impossible(&self, entry: &ActionEntry) -> Option<String> {
        // Only a key on the card answers, so that nothing is approved from a list of words.
        if is_answer(entry.action) {
            let key = self.keymap.key_hint(entry.action);
            return Some(format!("answer with {key} on the card"));
        }
        self.situation().why_unavailable(entry.action)
    }
}

/// The name of a theme as people read it.
pub(crate) fn theme_title(name: &str) -> String {
    match name {
        "colorblind" => "color-blind safe".to_owned(),
        other => other.replace('_', " "),
    }
}

/// The settings, and one command for each theme.
pub(crate) fn settings_items(themes: &[String]) -> Vec<PaletteItem> {
    let settings = PaletteItem::from_words(
        PaletteCommand::Settings,
        "Settings",
        "hours, provider, agents, limits, keys, motion",
    );
    let themes = themes.iter().map(|name| {
        let title = format!("Theme: {}", theme_title(name));
        PaletteItem::from_words(PaletteCommand::UseTheme(name.clone()), &title, "changes at once")
    });
    std::iter::once(settings).chain(themes).collect()
}
