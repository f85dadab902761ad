//! What a screen lets others do: the person's editor and pager, the clipboard, a notice on the desktop.

use super::{Flow, Screen};
use crate::composer::Composer;
use planwright_model::event::Command;
use planwright_plan::graph::resolve;
use planwright_plan::plan_file::{Format, parse, write_toml};
use planwright_text::clean_line;

/// What is asked of the terminal or of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    /// Opens text in the person's editor; what is left of it comes back.
    Edit { text: String, ending: &'static str, back: Back },
    /// Shows text in the person's pager.
    Page { text: String },
    /// Puts text on the clipboard.
    Copy { text: String },
    /// Tells the person, who looks elsewhere.
    Notify { text: String },
}

/// What edited text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Back {
    /// It goes into the open box.
    Box,
    /// It is a plan file.
    Plan,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) enum Returned {
    Edited { text: String, back: Back },
    Unchanged,
    Failed { why: String },
}

impl Screen {
    /// The next thing that somebody else is to do.
    pub(crate) fn take_outside(&mut self) -> Option<Outside> {
        self.outside.pop_front()
    }

    pub(super) fn ask_outside(&mut self, what: Outside) -> Flow {
        self.outside.push_back(what);
        Flow::Draw
    }

    /// Opens what is being typed in the editor.
    pub(super) fn edit_text_outside(&mut self) -> Flow {
        let Some(Composer::Text(text)) = &self.ui.composer else { return Flow::Idle };
        let text = text.text();
        self.ask_outside(Outside::Edit { text, ending: ".md", back: Back::Box })
    }

    /// Opens the plan as a file in the editor.
    pub(super) fn edit_outside(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        let Some(current) = &self.latest.plan.current else {
            return self.say("there is no plan to edit yet");
        };
        let text = write_toml(&current.plan);
        self.ask_outside(Outside::Edit { text, ending: ".toml", back: Back::Plan })
    }

    pub(super) fn returned(&mut self, returned: Returned) -> Flow {
        match returned {
            Returned::Unchanged => return Flow::Redraw,
            Returned::Failed { why } => {
                self.say(why);
            }
            Returned::Edited { text, back: Back::Box } => {
                if let Some(Composer::Text(area)) = &mut self.ui.composer {
                    area.replace(&text);
                }
            }
            Returned::Edited { text, back: Back::Plan } => {
                self.revise(&text);
            }
        }
        Flow::Redraw
    }

    /// Puts an edited plan in the place of the old one, or says what is wrong with it.
    fn revise(&mut self, text: &str) -> Flow {
        let read = match parse(text, Format::Toml, "plan.toml") {
            Ok(read) => read,
            Err(error) => {
                let first = error.violations().first().map(|found| match found.line {
                    Some(line) => format!("line {line}: {}", found.message),
                    None => found.message.clone(),
                });
                let why = first.unwrap_or_else(|| error.to_string());
                return self.say(format!("the plan was not changed; {}", clean_line(&why)));
            }
        };
        if self.latest.plan.current.as_ref().is_some_and(|now| *now.plan == read.plan) {
            return self.say("nothing was changed");
        }
        match resolve(&read.plan.tasks, |_| true) {
            Ok(resolved) => {
                let facts = resolved.facts(&read.plan.tasks).into();
                let normalization = read.normalization;
                let command = Command::Revise { plan: read.plan.into(), facts, normalization };
                self.send(command, "the edited plan")
            }
            Err(cycle) => self.say(format!("the plan was not changed; {cycle}")),
        }
    }
}
