//! What a screen lets others do: the person's editor and pager, the clipboard, a notice on the desktop.

use super::{ScreenEffect, SessionScreen};
use crate::composer::Composer;
use crate::overlays::Overlay;

/// What is asked of the terminal or of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExternalAction {
    /// Opens text in the person's editor; what is left of it comes back.
    Edit { text: String, ending: &'static str, purpose: EditPurpose },
    /// Shows text in the person's pager.
    Page { text: String },
    /// Puts text on the clipboard.
    Copy { text: String },
    /// Tells the person, who looks elsewhere.
    Notify { text: String },
}

/// What edited text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditPurpose {
    /// It goes into the open box.
    Box,
    /// It is a plan file.
    Plan,
    /// It is the config file.
    Config,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) enum ExternalOutcome {
    Edited { text: String, purpose: EditPurpose },
    Unchanged,
    Failed { why: String },
}

impl SessionScreen {
    /// The next thing that somebody else is to do.
    pub(crate) fn next_external_action(&mut self) -> Option<ExternalAction> {
        self.external_actions.pop_front()
    }

    pub(super) fn request_external_action(&mut self, what: ExternalAction) -> ScreenEffect {
        self.external_actions.push_back(what);
        ScreenEffect::Draw
    }

    /// Opens what is being typed in the editor.
    pub(super) fn edit_text_externally(&mut self) -> ScreenEffect {
        let Some(Composer::Text(text)) = &self.ui.composer else { return ScreenEffect::Idle };
        let text = text.text();
        self.request_external_action(ExternalAction::Edit {
            text,
            ending: ".md",
            purpose: EditPurpose::Box,
        })
    }

    /// Opens the config file in the editor.
    pub(super) fn edit_config_externally(&mut self) -> ScreenEffect {
        let Some(Overlay::Settings(panel)) = &mut self.ui.overlay else {
            return ScreenEffect::Idle;
        };
        let Some(text) = panel.file_text() else { return ScreenEffect::Draw };
        self.request_external_action(ExternalAction::Edit {
            text,
            ending: ".toml",
            purpose: EditPurpose::Config,
        })
    }

    pub(super) fn on_external_outcome(&mut self, returned: ExternalOutcome) -> ScreenEffect {
        match returned {
            ExternalOutcome::Unchanged => return ScreenEffect::Redraw,
            ExternalOutcome::Failed { why } => {
                self.show_message(why);
            }
            ExternalOutcome::Edited { text, purpose: EditPurpose::Box } => {
                if let Some(Composer::Text(area)) = &mut self.ui.composer {
                    area.replace_text(&text);
                }
                self.read_composed();
            }
            ExternalOutcome::Edited { text, purpose: EditPurpose::Plan } => {
                self.revise_plan(&text);
            }
            ExternalOutcome::Edited { text, purpose: EditPurpose::Config } => {
                if let Some(Overlay::Settings(panel)) = &mut self.ui.overlay {
                    panel.replace_file(&text);
                }
            }
        }
        ScreenEffect::Redraw
    }
}
