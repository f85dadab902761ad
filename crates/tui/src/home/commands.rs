//! The commands and the settings of the home screen, and clicks on keys that are drawn.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::help::action_text;
use super::keys::ACTIONS;
use super::{HomeCover, HomeScreen};
use crate::clock::{add_duration, duration_between};
use crate::frame_keys::key_at;
use crate::keymap::{ActionGroup, KeyAction, KeyContext, TABLE};
use crate::overlays::{
    CommandPalette, PaletteCommand, PaletteItem, PaletteOutcome, SettingsOutcome, SettingsPanel,
};
use crate::session::{EditPurpose, ExternalAction, ScreenEffect, settings_items, theme_title};
use crate::theme::ThemeRole;
use crate::widgets::TextField;
use crate::{HomeRequest, SessionExport};

/// How long a line for the person stays if no key is pressed.
const MESSAGE_TIME: Duration = Duration::from_secs(4);

impl HomeScreen {
    /// Opens the commands: everything that can be done here, the settings and the themes.
    pub(super) fn open_commands(&mut self) -> ScreenEffect {
        let entries = ACTIONS.iter().filter(|action| **action != KeyAction::Palette);
        let entries = entries.filter_map(|action| TABLE.iter().find(|row| row.action == *action));
        let mut items: Vec<PaletteItem> = entries
            .map(|entry| {
                let keys = self.keymap.key_hint(entry.action);
                let today = entry.place == KeyContext::Today;
                PaletteItem {
                    detail: if today { "the task under the cursor" } else { "" }.to_owned(),
                    moves: entry.group == ActionGroup::Move,
                    ..PaletteItem::from_action(entry.action, action_text(entry), keys)
                }
            })
            .collect();
        items.extend(self.export_items());
        if let Some(store) = &self.store {
            items.extend(settings_items(&store.theme_names()));
        }
        let palette = CommandPalette::new(items, &self.recent);
        self.cover = Some(HomeCover::Commands(Box::new(palette)));
        ScreenEffect::Draw
    }

    /// The files that can be written of the plan under the cursor.
    fn export_items(&self) -> Vec<PaletteItem> {
        let plan = self.focused_plan();
        let item = |export: SessionExport| {
            let what = plan.as_ref().map_or("", |(_, name)| name);
            PaletteItem {
                impossible: plan.is_none().then(|| "there is no plan here yet".to_owned()),
                ..PaletteItem::from_words(PaletteCommand::Export(export), export.title(), what)
            }
        };
        SessionExport::ALL.into_iter().map(item).collect()
    }

    fn export_focused(&mut self, export: SessionExport) -> ScreenEffect {
        match self.focused_plan() {
            Some((session, _)) => self.send_request(HomeRequest::Export { session, export }),
            None => self.say("There is no plan here yet"),
        }
    }

    pub(super) fn on_palette_outcome(&mut self, outcome: PaletteOutcome) -> ScreenEffect {
        match outcome {
            PaletteOutcome::Stay => {}
            PaletteOutcome::Close => self.cover = None,
            PaletteOutcome::Search(words) => {
                self.cover = None;
                self.filter = TextField::new(&words);
                self.plans.apply_filter(&words);
                self.focus = super::HomeFocus::Filter;
            }
            PaletteOutcome::Run(command) => {
                self.cover = None;
                self.recent.retain(|used| *used != command);
                self.recent.insert(0, command.clone());
                return self.run_command(&command);
            }
        }
        ScreenEffect::Draw
    }

    fn run_command(&mut self, command: &PaletteCommand) -> ScreenEffect {
        match command {
            PaletteCommand::Action(action) => self.perform_action(*action),
            PaletteCommand::Settings => self.open_settings(),
            PaletteCommand::UseTheme(name) => {
                let changed = self.store.as_ref().map(|store| store.change("theme", Some(name)));
                match changed {
                    Some(Err(why)) => self.say(why),
                    _ => self.say(format!("Theme: {}", theme_title(name))),
                }
            }
            PaletteCommand::Export(export) => self.export_focused(*export),
            // What explains, or writes what is seen, is about a plan that is open.
            PaletteCommand::ExportView(_)
            | PaletteCommand::ExplainConfidence
            | PaletteCommand::ExplainSkip => ScreenEffect::Idle,
        }
    }

    fn open_settings(&mut self) -> ScreenEffect {
        let Some(store) = self.store.clone() else {
            return self.say("there is no config file here");
        };
        self.cover = Some(HomeCover::Settings(Box::new(SettingsPanel::new(store))));
        ScreenEffect::Draw
    }

    pub(super) fn on_settings_outcome(&mut self, outcome: &SettingsOutcome) -> ScreenEffect {
        match outcome {
            SettingsOutcome::Stay => {}
            SettingsOutcome::Close => self.cover = None,
            SettingsOutcome::EditFile => {
                if let Some(HomeCover::Settings(panel)) = &mut self.cover
                    && let Some(text) = panel.file_text()
                {
                    let purpose = EditPurpose::Config;
                    self.outside = Some(ExternalAction::Edit { text, ending: ".toml", purpose });
                }
            }
        }
        ScreenEffect::Draw
    }

    /// Pastes into the commands or the settings, if they are open.
    pub(super) fn paste_into_cover(&mut self, text: &str) -> Option<ScreenEffect> {
        match &mut self.cover {
            Some(HomeCover::Help(help)) => help.on_paste(text),
            Some(HomeCover::Commands(palette)) => palette.on_paste(text),
            Some(HomeCover::Settings(panel)) => panel.on_paste(text),
            _ => return None,
        }
        Some(ScreenEffect::Draw)
    }

    /// Presses the key that is drawn under the pointer, in the footer or in what stands over the screen.
    pub(super) fn press_key_at(&mut self, at: Position) -> Option<ScreenEffect> {
        let foot = self.areas.footer;
        let screen = Rect::new(0, 0, foot.right(), foot.bottom());
        let footer = at.y + 1 == screen.bottom();
        if !screen.contains(at) || !(footer || self.cover.is_some()) {
            return None;
        }
        let mut frame = Buffer::empty(screen);
        self.render(&mut frame);
        let styles = [self.style(ThemeRole::Key), self.style(ThemeRole::Focus)];
        let styles = if self.cover.is_some() { &styles[..] } else { &styles[..1] };
        let key = key_at(&frame, at, styles)?;
        // Removing is a yes.
        if key.code == KeyCode::Char('y') && self.focus == super::HomeFocus::Remove {
            return None;
        }
        let modifiers = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        Some(self.on_key(&KeyEvent::new(key.code, modifiers)))
    }

    /// A line that a key left goes by itself.
    pub(super) fn time_message(&mut self) {
        let now = (self.clock)();
        self.message_until = self.message.is_some().then(|| add_duration(now, MESSAGE_TIME));
    }

    pub(super) fn expire_message(&mut self) {
        let over = |until| duration_between((self.clock)(), until).is_zero();
        if self.message_until.is_some_and(over) {
            self.message = None;
            self.message_until = None;
        }
    }
}
