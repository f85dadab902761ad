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
    #[error("keys.{name}: {text:?} is no key; write for instance \"R\", \"Ctrl-G\" or \"Space\"")]
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
        let key = KeyChord::parse("s").unwrap();
        assert_eq!(
            map.action_for(key, &[KeyContext::Card, KeyContext::Replay]),
            Some(KeyAction::YesWider)
        );
        assert_eq!(
            map.action_for(key, &[KeyContext::Replay, KeyContext::Screen]),
            Some(KeyAction::SkipWaits)
        );
        assert_eq!(map.action_for(key, &[KeyContext::Screen]), None);
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
            "keys.help: \"banana\" is no key; write for instance \"R\", \"Ctrl-G\" or \"Space\""
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
