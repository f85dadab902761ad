//! What a screen lets others do: the person's editor and pager, the clipboard, a notice on the desktop.

use super::{ScreenEffect, SessionScreen};
use crate::composer::Composer;
use crate::overlays::Overlay;
use planwright_model::event::Command;
use planwright_plan::graph::resolve_graph;
use planwright_plan::plan_file::{PlanFileFormat, parse_plan_file, write_toml};
use planwright_text::clean_line;

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

    /// Opens the plan as a file in the editor.
    pub(super) fn edit_plan_externally(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let Some(current) = &self.latest.plan.current else {
            return self.show_message("there is no plan to edit yet");
        };
        let text = write_toml(&current.plan);
        self.request_external_action(ExternalAction::Edit {
            text,
            ending: ".toml",
            purpose: EditPurpose::Plan,
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

    /// Puts an edited plan in the place of the old one, or says what is wrong with it.
    fn revise_plan(&mut self, text: &str) -> ScreenEffect {
        let read = match parse_plan_file(text, PlanFileFormat::Toml, "plan.toml") {
            Ok(read) => read,
            Err(error) => {
                let first = error.violations().first().map(|found| match found.line {
                    Some(line) => format!("line {line}: {}", found.message),
                    None => found.message.clone(),
                });
                let why = first.unwrap_or_else(|| error.to_string());
                return self
                    .show_message(format!("the plan was not changed; {}", clean_line(&why)));
            }
        };
        if self.latest.plan.current.as_ref().is_some_and(|now| *now.plan == read.plan) {
            return self.show_message("nothing was changed");
        }
        match resolve_graph(&read.plan.tasks, |_| true) {
            Ok(resolved) => {
                let facts = resolved.to_facts(&read.plan.tasks).into();
                let normalization = read.normalization;
                let command = Command::Revise { plan: read.plan.into(), facts, normalization };
                self.send_command(command, "the edited plan")
            }
            Err(cycle) => self.show_message(format!("the plan was not changed; {cycle}")),
        }
    }
}
