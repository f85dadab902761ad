//! What the keys of the home screen do, for its help and its commands.

use super::keys::ACTIONS;
use crate::keymap::{ActionEntry, KeyAction, KeyContext, TABLE};
use crate::overlays::{KeyListHelp, KeyListRow};

/// The keys of the home screen; those of Today work where it has the focus.
pub(super) fn home_help(today: bool) -> KeyListHelp {
    // What one does comes before how one moves.
    let of = |action: &KeyAction| TABLE.iter().find(|entry| entry.action == *action);
    let row = |entry: &ActionEntry| {
        let of_today = entry.place == KeyContext::Today;
        KeyListRow {
            action: entry.action,
            words: action_text(entry),
            note: if of_today { "in today" } else { "" },
            works: today || !of_today,
        }
    };
    KeyListHelp::new("home", ACTIONS.iter().filter_map(of).map(row).collect())
}

/// What an action does here; some have another word on this screen.
pub(super) fn action_text(entry: &ActionEntry) -> &'static str {
    match entry.action {
        KeyAction::Search => "find a plan or a step",
        KeyAction::Comment => "note for the task",
        KeyAction::FocusNext => "next pane",
        KeyAction::Fork => "fork the run",
        KeyAction::Start => "first",
        KeyAction::Latest => "last",
        _ => entry.words,
    }
}
