//! From keys to actions and back. The footer and the help screen are generated from the same table, so that they
//! never name a key that does something else.

mod action_table;
mod key;

pub(crate) use action_table::{ActionEntry, ActionGroup, KeyAction, KeyContext, TABLE};
pub(crate) use key::KeyChord;

use super::KeyOverrides;
use planwright_text::nearest_name;

/// Why the keys of the config cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("keys.{name}: there is no such action{}", suggestion_suffix(nearest.as_deref()))]
    UnknownAction { name: String, nearest: Option<String> },
    #[error(
        "keys.{name}: {text:?} is not a key; write for instance \"R\", \"Ctrl-G\" or \"Space\""
    )]
    NoKey { name: String, text: String },
    #[error("keys.{name}: {key} already means {other}; give that another key too")]
    Conflict { name: String, key: String, other: String },
}

fn suggestion_suffix(nearest: Option<&str>) -> String {
    nearest.map(|near| format!(", did you mean {near}")).unwrap_or_default()
}

/// Checks the keys of the config without opening a screen.
pub fn check_keys(overrides: &KeyOverrides) -> Result<(), KeyError> {
    // Those that are built in are right, which a test checks.
    if overrides.0.is_empty() { Ok(()) } else { Keymap::new(overrides).map(|_| ()) }
}

/// Every action with its default keys and what it does, as the config names them.
pub fn default_keys() -> Vec<(&'static str, String, &'static str)> {
    TABLE.iter().map(|entry| (entry.name, entry.keys.join(" "), entry.words)).collect()
}

#[derive(Clone, Debug)]
struct KeyBinding {
    entry: &'static ActionEntry,
    keys: Vec<KeyChord>,
}

/// The keys in force.
#[derive(Clone, Debug)]
pub(crate) struct Keymap {
    bindings: Vec<KeyBinding>,
}

impl Keymap {
    /// The default keys with some replaced. Two actions of one place may not share a key.
    pub(crate) fn new(overrides: &KeyOverrides) -> Result<Self, KeyError> {
        let mut bindings: Vec<KeyBinding> = TABLE.iter().map(default_binding).collect();
        for (name, text) in &overrides.0 {
            let Some(binding) = bindings.iter_mut().find(|binding| binding.entry.name == name)
            else {
                let nearest =
                    nearest_name(name, TABLE.iter().map(|entry| entry.name)).map(str::to_owned);
                return Err(KeyError::UnknownAction { name: name.clone(), nearest });
            };
            let keys: Option<Vec<KeyChord>> =
                text.split_whitespace().map(KeyChord::parse).collect();
            binding.keys = keys
                .filter(|keys| !keys.is_empty())
                .ok_or_else(|| KeyError::NoKey { name: name.clone(), text: text.clone() })?;
        }
        let map = Self { bindings };
        map.find_conflict(overrides).map_or(Ok(map), Err)
    }

    fn find_conflict(&self, overrides: &KeyOverrides) -> Option<KeyError> {
        for (index, one) in self.bindings.iter().enumerate() {
            for other in &self.bindings[index + 1..] {
                let shared = one.keys.iter().find(|key| other.keys.contains(key));
                if let Some(key) = shared.filter(|_| one.entry.place == other.entry.place) {
                    // The one the person changed is the one to name.
                    let changed = overrides.0.contains_key(one.entry.name);
                    let (name, meaning) = if changed { (one, other) } else { (other, one) };
                    return Some(KeyError::Conflict {
                        name: name.entry.name.to_owned(),
                        key: key.to_string(),
                        other: meaning.entry.name.to_owned(),
                    });
                }
            }
        }
        None
    }

    /// What a key means, the first place being the most special.
    pub(crate) fn action_for(&self, key: KeyChord, places: &[KeyContext]) -> Option<KeyAction> {
        places.iter().find_map(|place| {
            self.bindings
                .iter()
                .find(|binding| binding.entry.place == *place && binding.keys.contains(&key))
                .map(|binding| binding.entry.action)
        })
    }

    /// Everything a key means on any screen.
    pub(crate) fn actions_of(&self, key: KeyChord) -> Vec<KeyAction> {
        let bound = self.bindings.iter().filter(|binding| binding.keys.contains(&key));
        bound.map(|binding| binding.entry.action).collect()
    }

    /// The key to show for an action: its first one.
    pub(crate) fn key_hint(&self, action: KeyAction) -> String {
        self.bindings
            .iter()
            .find(|binding| binding.entry.action == action)
            .and_then(|binding| binding.keys.first())
            .map_or_else(String::new, KeyChord::to_string)
    }

    /// Several keys as one hint: `hjkl` for four letters, `[ ]` for a pair.
    pub(crate) fn keys_hint(&self, actions: &[KeyAction]) -> String {
        let keys: Vec<String> = actions.iter().map(|action| self.key_hint(*action)).collect();
        let letters = keys.iter().all(|key| key.chars().count() == 1);
        keys.join(if letters && keys.len() > 2 { "" } else { " " })
    }
}

impl Default for Keymap {
    fn default() -> Self {
        Self { bindings: TABLE.iter().map(default_binding).collect() }
    }
}

fn default_binding(entry: &'static ActionEntry) -> KeyBinding {
    let keys = entry.keys.iter().filter_map(|text| KeyChord::parse(text)).collect();
    KeyBinding { entry, keys }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn overrides(pairs: &[(&str, &str)]) -> KeyOverrides {
        KeyOverrides(
            pairs.iter().map(|(name, key)| ((*name).to_owned(), (*key).to_owned())).collect(),
        )
    }

    #[test]
    fn the_default_keys_can_be_read_and_do_not_conflict() {
        let map = Keymap::new(&KeyOverrides(BTreeMap::new())).unwrap();
        for (entry, binding) in TABLE.iter().zip(&map.bindings) {
            assert_eq!(binding.keys.len(), entry.keys.len(), "{}", entry.name);
        }
        let names: std::collections::BTreeSet<_> = TABLE.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), TABLE.len());
    }

    #[test]
    fn the_special_place_goes_before_the_general_one() {
        let map = Keymap::default();
        let key = KeyChord::parse("S").unwrap();
        assert_eq!(
            map.action_for(key, &[KeyContext::Card, KeyContext::Graph]),
            Some(KeyAction::PassOver)
        );
        assert_eq!(
            map.action_for(key, &[KeyContext::Graph, KeyContext::Screen]),
            Some(KeyAction::Skip)
        );
        assert_eq!(map.action_for(key, &[KeyContext::Screen]), None);
    }

    /// What each key means, on every screen, and the actions that are this meaning somewhere.
    const MEANINGS: &[(&str, &str, &[&str])] = &[
        ("h", "left", &["left"]),
        ("Left", "left", &["left"]),
        ("j", "down", &["down"]),
        ("Down", "down", &["down"]),
        ("k", "up", &["up"]),
        ("Up", "up", &["up"]),
        ("l", "right", &["right"]),
        ("Right", "right", &["right"]),
        ("PageUp", "a page up", &["page_up"]),
        ("PageDown", "a page down", &["page_down"]),
        ("Home", "first in the pane", &["start", "card_start"]),
        ("End", "last in the pane", &["latest", "card_end"]),
        ("Tab", "next pane or field", &["focus_next", "reply"]),
        ("Shift-Tab", "previous pane or field", &["focus_previous"]),
        ("Enter", "open", &["open"]),
        ("Esc", "close", &["back"]),
        ("q", "back, quit from home", &["quit"]),
        ("n", "next", &["next_hit", "next_request", "next_failed", "next_divergence", "next_need"]),
        (
            "N",
            "previous",
            &["previous_hit", "previous_request", "previous_failed", "previous_divergence"],
        ),
        ("/", "search", &["search"]),
        ("g", "go to", &["go_to"]),
        (":", "commands", &["palette"]),
        ("?", "help", &["help"]),
        ("!", "inbox", &["inbox"]),
        ("C", "catch up", &["catch_up"]),
        ("1", "plan", &["view_outline"]),
        ("2", "graph", &["view_graph"]),
        ("3", "calendar", &["view_gantt"]),
        ("4", "timeline", &["view_timeline"]),
        ("5", "table", &["view_table"]),
        ("o", "output", &["output", "compare_outputs"]),
        ("z", "full screen", &["full_screen"]),
        ("O", "files", &["files"]),
        ("v", "details", &["terms", "why"]),
        ("V", "versions, compare", &["options", "compare", "compare_with"]),
        ("Z", "scale", &["zoom", "wrap_output"]),
        ("f", "follow", &["follow"]),
        ("T", "only this task", &["only_task", "all_output"]),
        ("=", "unchanged rows", &["fold_same", "hide_unchanged", "only_matches"]),
        (",", "sort", &["sort_next"]),
        ("a", "the narrow yes", &["yes"]),
        ("A", "a wider yes", &["yes_wider"]),
        ("x", "the no", &["no"]),
        ("r", "request changes", &["request_changes"]),
        ("b", "ideas", &["ideas"]),
        ("e", "edit", &["edit", "take_over", "edit_failed"]),
        ("i", "add", &["add_node", "goal_box"]),
        ("Delete", "remove", &["remove_node", "remove_session"]),
        ("J", "move the row down", &["move_down"]),
        ("K", "move the row up", &["move_up"]),
        ("&", "link", &["link_nodes"]),
        ("*", "mark", &["mark", "mark_session"]),
        ("#", "lock", &["lock"]),
        ("c", "comment", &["comment"]),
        ("u", "undo", &["undo"]),
        ("U", "redo", &["redo"]),
        ("Ctrl-G", "editor", &["editor", "page_output"]),
        ("d", "done", &["done", "today_done"]),
        ("w", "when", &["today_later", "when"]),
        ("S", "skip", &["skip", "pass_over", "skip_failed", "today_skip"]),
        ("P", "pause, resume", &["pause"]),
        ("D", "detach", &["detach"]),
        ("R", "retry, run again", &["retry", "again", "retry_failed", "retry_all_failed"]),
        ("X", "stop", &["stop_task", "stop_it"]),
        ("[", "previous event", &["previous_event"]),
        ("]", "next event", &["next_event"]),
        ("{", "previous landmark", &["previous_landmark"]),
        ("}", "next landmark", &["next_landmark"]),
        ("Space", "play, pause playback", &["play"]),
        ("<", "slower", &["slower"]),
        (">", "faster", &["faster"]),
        ("m", "bookmark", &["bookmark"]),
        ("F", "fork", &["fork"]),
        ("L", "live", &["live"]),
        ("t", "today", &["today", "due_task"]),
        ("p", "policy", &["policy"]),
        ("W", "what you said", &["facts"]),
        ("y", "copy", &["copy", "copy_path", "copy_output", "copy_failed"]),
        ("s", "split", &["split_row"]),
        ("M", "merge marked", &["merge_rows"]),
        ("+", "keep a change", &["keep_change"]),
        ("-", "put a change back", &["put_back_change"]),
    ];

    #[test]
    fn every_key_has_one_meaning_on_every_screen() {
        for entry in TABLE {
            for key in entry.keys {
                let Some((_, meaning, actions)) = MEANINGS.iter().find(|known| known.0 == *key)
                else {
                    panic!("{key} of {} has no meaning in the table of keys", entry.name)
                };
                assert!(
                    actions.contains(&entry.name),
                    "{key} means {meaning}, not {}; add the action to that meaning or give it another key",
                    entry.name
                );
            }
        }
        for (key, meaning, actions) in MEANINGS {
            for name in *actions {
                let has = |entry: &&ActionEntry| entry.name == *name && entry.keys.contains(key);
                assert!(TABLE.iter().any(|entry| has(&entry)), "{key} ({meaning}) is not {name}");
            }
        }
        let keys: std::collections::BTreeSet<_> = MEANINGS.iter().map(|known| known.0).collect();
        assert_eq!(keys.len(), MEANINGS.len(), "a key is in the table twice");
    }

    #[test]
    fn a_key_can_be_moved() {
        let map = Keymap::new(&overrides(&[("help", "F1 Ctrl-H")])).unwrap();
        assert_eq!(map.key_hint(KeyAction::Help), "F1");
        assert_eq!(map.action_for(KeyChord::parse("?").unwrap(), &[KeyContext::Screen]), None);
        assert_eq!(
            map.action_for(KeyChord::parse("Ctrl-H").unwrap(), &[KeyContext::Screen]),
            Some(KeyAction::Help)
        );
    }

    #[test]
    fn mistakes_are_reported_in_a_sentence() {
        let error =
            |pairs: &[(&str, &str)]| Keymap::new(&overrides(pairs)).unwrap_err().to_string();
        assert_eq!(
            error(&[("halp", "x")]),
            "keys.halp: there is no such action, did you mean help"
        );
        assert_eq!(
            error(&[("help", "banana")]),
            "keys.help: \"banana\" is not a key; write for instance \"R\", \"Ctrl-G\" or \"Space\""
        );
        assert_eq!(
            error(&[("help", "q")]),
            "keys.help: q already means quit; give that another key too"
        );
        assert!(Keymap::new(&overrides(&[("help", "a")])).is_ok());
    }

    #[test]
    fn keys_of_a_pair_stand_apart_and_four_letters_together() {
        let map = Keymap::default();
        assert_eq!(
            map.keys_hint(&[KeyAction::Left, KeyAction::Down, KeyAction::Up, KeyAction::Right]),
            "hjkl"
        );
        assert_eq!(map.keys_hint(&[KeyAction::PreviousEvent, KeyAction::NextEvent]), "[ ]");
    }
}
